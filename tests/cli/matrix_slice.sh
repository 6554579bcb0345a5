#!/usr/bin/env bash
# A matrix node whose family is not seen is sliced cell by cell, each cell with
# its mirror image: on a model whose posterior is known all the same, an inverse
# Wishart with the data's cross products added, the inverse written out.
source "$GBM_ROOT/tests/cli/lib"

cat >covariance.gbm <<'E'
model {
  for (i in 1:6) { y[i, 1:2] ~ dmnorm(zero[], Q[,]) }
  S[1:2, 1:2] ~ dinvwish(R[,], 7)
  det <- S[1,1] * S[2,2] - S[1,2] * S[2,1]
  Q[1,1] <- S[2,2] / det
  Q[2,2] <- S[1,1] / det
  Q[1,2] <- -S[1,2] / det
  Q[2,1] <- -S[2,1] / det
}
E
cat >data.json <<'E'
{"zero": [0, 0], "R": [[2, 0.5], [0.5, 1]],
 "y": [[1, 0.2], [0.3, 1.5], [-0.5, 0.1], [2, 1.1], [-1.2, 0.4], [0, -0.6]]}
E
status 0 "$GBMC" -O 1 covariance.gbm -o covariance --explain
prints "slice, cells of a 2 x 2 matrix in turn"
status 0 ./covariance check --data data.json
status 0 ./covariance --data data.json --quiet --draws 10000 --summary s.json
python3 - <<'E' || fail "not the inverse Wishart posterior"
import json, sys
data = json.load(open("data.json"))
s = json.load(open("s.json"))["parameters"]
df, bad = 7 + 6, 0
for i in range(2):
    for j in range(2):
        # mean of an inverse Wishart: scale / (df - K - 1)
        exact = (data["R"][i][j] + sum(y[i] * y[j] for y in data["y"])) / (
            df - 3)
        r = s["S[%d,%d]" % (i + 1, j + 1)]
        z = (r["mean"] - exact) / r["mcse"]
        print(i, j, exact, r["mean"], z, r["ess_bulk"])
        bad += not abs(z) < 4 or not r["ess_bulk"] > 1000
sys.exit(bad > 0)
E

# Where the determinant's power is 0 (df = K + 1, written out), the density says
# nothing of which matrices are positive definite.
cat >flat.gbm <<'E2'
data {
  R[1,1] <- 1
  R[2,2] <- 1
  R[1,2] <- 0
  R[2,1] <- 0
}
model {
  Omega[1:2,1:2] ~ dwish(R[,], 3)
  y ~ dnorm(Omega[1,2]^3, 1)
}
E2
echo '{"y": 0.7}' >flat.json
agrees flat.gbm flat.json
