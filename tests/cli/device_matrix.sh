#!/usr/bin/env bash
# Wishart and normal blocks whose matrix a warp shares on the device (linear.h):
# the draws are the host's. On stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

cat >groups.gbm <<'E'
model {
  for (i in 1:N) { x[i,1:P] ~ dmnorm(mu[g[i],], Q[g[i],,]) }
  for (k in 1:K) {
    mu[k,1:P] ~ dmnorm(m[], B[,])
    Q[k,1:P,1:P] ~ dwish(R[,], 12)
  }
}
E
python3 - <<'P'
import json, random
random.seed(5)
N, K, P = 60, 2, 9
eye = lambda v: [[v if a == b else 0 for b in range(P)] for a in range(P)]
json.dump({"N": N, "K": K, "P": P, "m": [0] * P, "B": eye(0.1), "R": eye(2),
           "g": [1 + i % K for i in range(N)],
           "x": [[a + random.gauss(0, 1) for a in range(P)]
                 for i in range(N)]}, open("data.json", "w"))
json.dump({"mu": [[0] * P] * K, "Q": [eye(1)] * K}, open("init.json", "w"))
P
status 0 "$GBMC" -O1 groups.gbm -o groups
for device in cpu cuda; do
    GBM_CUDA_CHAINS=0 status 0 ./groups --data data.json --init init.json \
        --chains 2 --warmup 0 --draws 4 --format csv --digits 15 \
        --monitor mu,Q --device $device --out $device.csv
    for chain in 1 2; do
        grep -v '^#' "${device}_$chain.csv" >"$device.$chain"
    done
done
for chain in 1 2; do
    python3 - cpu.$chain cuda.$chain <<'E' || fail "chain $chain"
import csv, math, sys
a, b = (list(csv.DictReader(open(f))) for f in sys.argv[1:])
assert len(a) == len(b) == 4
for s, t in zip(a, b):
    for n, u in s.items():
        u, v = float(u), float(t[n])
        assert n.endswith("__") or abs(u - v) < 1e-7 * (1 + abs(u)), (n, u, v)
E
done
