#!/usr/bin/env bash
# A long chain of vectors on the device: eliminated in rounds, so that its tree
# is low; the draws are the host's in that order, and the posterior is that of
# the other. On stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

cat >chain.gbm <<'E'
model {
  x[1,1:2] ~ dmnorm(m0[], P0[,])
  for (t in 2:T) {
    mu[t,1:2] <- A[,] %*% x[t-1,]
    x[t,1:2] ~ dmnorm(mu[t,], Q[,])
  }
  for (t in 1:T) {
    y[t] ~ dnorm(x[t,1], tau)
  }
  tau ~ dgamma(1, 1)
}
E
python3 - <<'E'
import json, random
r = random.Random(3)
json.dump({"T": 150, "m0": [0, 0], "P0": [[1, 0], [0, 1]],
           "A": [[.9, .2], [-.2, .9]], "Q": [[11, 0], [0, 11]],
           "y": [round(r.gauss(0, 1), 3) for _ in range(150)]},
          open("data.json", "w"))
E
status 0 "$GBMC" -O1 chain.gbm -o chain
draw() { # FILE OPTION...
    local out=$1
    shift
    status 0 ./chain --data data.json --chains 2 --seed 1 --warmup 0 --draws 3 \
        --format csv --digits 12 --monitor tau,x --out "$out.csv" "$@"
    grep -v '^#' "${out}_2.csv" >"$out"
}
draw plain --device cpu
GBM_ORDER=rounds draw rounds --device cpu
near plain rounds 3 && fail "the host's orders give the same draws"
for chains in 0 8; do # by a step's kernels, and in one of whole sweeps
    GBM_CUDA_CHAINS=$chains draw device --device cuda
    near rounds device 3 || fail "the device's draws, GBM_CUDA_CHAINS=$chains"
done
# chosen after the model was laid out
GBM_GPU_LEAST=1000 draw device --device auto
near rounds device 3 || fail "the device's draws, --device auto"
# of a block of some hundred numbers a GPU makes nothing faster
draw device --device auto --chains 60
grep -q 'too small for a GPU' .err || fail 'a small block on a GPU'

for order in plain rounds; do
    GBM_ORDER=$order status 0 ./chain --data data.json --device cpu --seed 2 \
        --warmup 300 --draws 4000 --quiet --monitor tau --summary $order.json
done
python3 - <<'E' || fail "the posteriors of the two orders"
import json
a, b = (json.load(open(f))["parameters"]["tau"] for f in ("plain.json", "rounds.json"))
z = (a["mean"] - b["mean"]) / (a["mcse"] ** 2 + b["mcse"] ** 2) ** 0.5
assert abs(z) < 4 and abs(a["sd"] / b["sd"] - 1) < 0.1, (a, b)
E
