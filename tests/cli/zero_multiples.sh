#!/usr/bin/env bash
# Rows of a joint block that a count multiplies, or a power or a sum of counts,
# say nothing where that is 0 (compiler/sampler/joint_term.c): nothing is divided
# by it. How many are counted, against the exact probabilities; and a block of a
# likelihood that is no normal one.
source "$GBM_ROOT/tests/cli/lib"

cat >sum.gbm <<'E'
model {
  for (j in 1:3) { w[j] ~ dbern(0.3) }
  n <- sum(w[])
  for (i in 1:N) {
    y[i] ~ dnorm(n * (mu + a[i]), 1)
    a[i] ~ dnorm(mu, 1)
  }
  mu ~ dnorm(0, 1)
}
E
cat >power.gbm <<'E'
model {
  k ~ dpois(0.5)
  for (i in 1:N) {
    y[i] ~ dnorm(k^2 * inprod(X[i,], b[]), 1)
    c[i] ~ dpois(exp(inprod(X[i,], b[])))
  }
  for (l in 1:2) { b[l] ~ dnorm(0, 1) }
}
E
echo '{"N": 4, "y": [0.8, 0.2, 1.4, 0.6], "X": [[1,1],[1,-1],[1,2],[1,0.5]],
       "c": [0, 1, 2, 0]}' >data.json

cat >exact.py <<'E'
import json
import numpy as np
y = np.array([0.8, 0.2, 1.4, 0.6])
weights = []
for n, p in enumerate((0.343, 0.441, 0.189, 0.027)):
    v = np.eye(4) + n * n * (4 * np.ones((4, 4)) + np.eye(4))
    weights.append(p * np.exp(-y @ np.linalg.solve(v, y) / 2)
                   / np.linalg.det(v) ** 0.5)
weights = np.array(weights) / sum(weights)
exact = weights @ range(4)
got = json.load(open("sum.json"))["parameters"]["n"]
print(weights, exact, got)
assert 0.2 < weights[0] < 0.9
assert abs(got["mean"] - exact) < 4 * got["mcse"] < 0.02
E
for m in sum power; do
    status 0 "$GBMC" -O1 $m.gbm -o $m
    status 0 ./$m info
    prints 'joint'
    status 0 ./$m check --data data.json --seed 2 --quiet
    status 0 ./$m --data data.json --device cpu --draws 20000 --seed 1 --quiet \
        --summary $m.json --out $m.csv
done
status 0 python3 exact.py
