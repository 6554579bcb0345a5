#!/usr/bin/env bash
# Elements that a sum ties to others are updated apart from them; those beyond
# what the sum runs over do not read it (condition.c): on the device, where
# elements of one colour move at the same time, what another one tries would
# reach them. On stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

cat >rows.gbm <<'E'
model {
  for (d in 1:4) {
    for (p in 1:N) { Phi[d,p] ~ dnorm(0, 1) }
  }
  for (d in 1:N) {
    for (s in 1:2) { mu[d,s] <- sum(Phi[s,] * v[s,]) + sum(Phi[s,] * Phi[s,]) }
    y[d,1:2] ~ dmt(mu[d,], Omega[,], 5)
  }
  for (x in 1:5) { f[x] ~ dnorm(Phi[3,g[x]], 2.9) }
}
E
cat >rows.json <<'E'
{"N": 3, "v": [[-1.43, 0.1, 3.46], [-1.05, 0.14, 0.76]], "g": [3, 1, 1, 1, 2],
 "Omega": [[3.01, 2.12], [2.12, 2.52]], "f": [1, 2, 0.5, 0.3, 0.1],
 "y": [[1.8, 7.8], [0.4, 11.0], [0.96, 12.0]]}
E
status 0 "$GBMC" rows.gbm -o rows
for device in cpu cuda; do
    GBM_CUDA_CHAINS=0 status 0 ./rows --data rows.json --device $device \
        --chains 2 --warmup 0 --draws 4 --format csv --digits 9 --seed 3 \
        --monitor Phi --no-check --out $device.csv
done
for chain in 1 2; do
    python3 - {cpu,cuda}_$chain.csv <<'P' || fail "other draws"
import csv, math, sys
a, b = (list(csv.reader(r for r in open(f) if r[0] != "#"))
        for f in sys.argv[1:])
assert len(a) == len(b) == 5 and a[0] == b[0]
for x, y in zip(sum(a[1:], []), sum(b[1:], [])):
    assert math.isclose(float(x), float(y), rel_tol=1e-6), (x, y)
P
done
