#!/usr/bin/env bash
# Where a lane of a device sweeps a chain, it has the work space of a small joint
# block as an array of its own, which the device lays out so that neighbours read
# together, and a few columns that all small trees share in registers
# (stdlib/kernels/chains_cuda.h). It draws what the host draws. On stand-ins for
# CUDA's libraries.
source "$GBM_ROOT/tests/cli/lib"
fake_device
patience=500
cat >effects.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(a + c * x[i] + b[i], tau)
    b[i] ~ dnorm(0, tb)
  }
  a ~ dnorm(0, 0.1)
  c ~ dnorm(0, 0.1)
  tau ~ dgamma(2, 1)
  tb ~ dgamma(2, 1)
}
E
data() { # FILE N
    python3 - "$@" <<'E'
import json, random, sys
rng = random.Random(5)
n = int(sys.argv[2])
json.dump({"N": n, "x": [rng.gauss(0, 1) for _ in range(n)],
           "y": [rng.gauss(1, 2) for _ in range(n)]}, open(sys.argv[1], "w"))
E
}
data few.json 12
data many.json 200
status 0 "$GBMC" --emit=c effects.gbm
mv .out effects.c
# An array in another's place, where there is one.
sed 's/GBM_CHAIN_STEP_IN(joint[0-9]*_work,/GBM_CHAIN_STEP_IN(tb_v,/' \
    effects.c >lost.c
cmp -s effects.c lost.c && fail "no step has a work space"
compile_c effects.c effects
compile_c lost.c lost
device_draws_as_host effects few.json

draw() { # NAME DATA OUT
    status 0 "./$1" --data "$2" --device cuda --quiet --no-check --format csv \
        --warmup 2 --draws 4 --chains 1100 --out "$3"
}
same() { # OUT OUT
    python3 - "$1" "$2" <<'E'
import sys
def rows(name):
    return [r for c in (1, 2, 700, 1100) for r in open(f"{name}_{c}.csv")
            if r[0] in "-.0123456789"]
a, b = rows(sys.argv[1]), rows(sys.argv[2])
assert len(a) == len(b) == 16
sys.exit(any(abs(float(x) - float(y)) > 1e-6 * max(1, abs(float(y)))
             for r, s in zip(a, b) for x, y in zip(r.split(","), s.split(","))))
E
}
# Of many chains the block has its border where a lane has a chain, and by steps
# it has not.
for lanes in 0 1 4; do
    GBM_CUDA_CHAINS=$lanes draw effects few.json "few$lanes"
done
same few1 few0 || fail "a lane draws otherwise"
same few4 few0 || fail "four lanes draw otherwise"
for data in few many; do
    GBM_CUDA_CHAINS=1 draw lost $data.json "lost_$data"
done
GBM_CUDA_CHAINS=1 draw effects many.json many1
same lost_few few1 && fail "a lane has no array"
same lost_many many1 || fail "a large block is an array of a lane"

# A full device has a lane for each of such chains.
GBM_FAKE_MULTIPROCESSORS=1 status 0 ./effects --data few.json --device cuda \
    --no-check --chains 1100 --warmup 1 --draws 1
says 'sweeps in one kernel, 1 thread a chain'
exit 0
