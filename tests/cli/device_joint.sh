#!/usr/bin/env bash
# Chains that fill a device by themselves draw a small joint block by few lanes
# each, as every lane does what all have in common; fewer chains by a warp. On
# stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

cat >effects.gbm <<'E'
model {
  for (i in 1:N) {
    b[i] ~ dnorm(0, tau)
    for (j in 1:2) { y[i,j] ~ dnorm(m + b[i], w) }
  }
  m ~ dnorm(0, 0.01)
  w ~ dgamma(1, 1)
  tau ~ dgamma(1, 1)
}
E
python3 - <<'E'
import json
for name, n in (("effects", 12), ("many", 120)):
    json.dump({"N": n, "y": [[(3 * i + j) % 7 for j in range(2)] for i in range(n)]},
              open(name + ".json", "w"))
E
status 0 "$GBMC" -O 0 effects.gbm -o effects
lanes_of() { # CHAINS LANES
    rm -f options
    GBM_CACHE=off GBM_CUDA_CHAINS=0 GBM_FAKE_MULTIPROCESSORS=1 \
        GBM_FAKE_OPTIONS=options status 0 ./effects --data effects.json \
        --device cuda --no-check --chains "$1" --warmup 1 --draws 1 --quiet
    grep -q "^-DGBM_LANES_update_b_v_m_v=$2,1$" options ||
        fail "$1 chains are not drawn by $2 lanes each: $(cat options)"
}
# That is better than a lane of its own for a chain's whole sweep, if it would have
# no room for the block (cli/device_room).
GBM_FAKE_MULTIPROCESSORS=1 status 0 ./effects --data many.json \
    --device cuda --no-check --chains 1200 --warmup 1 --draws 1
says '1200 chains on'
grep 'in one kernel, 1 thread' .err && fail "a lane sweeps a chain"
lanes_of 400 4
lanes_of 100 8
lanes_of 20 32
