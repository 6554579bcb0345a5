#!/usr/bin/env bash
# --method em where a value of a label rules an outcome out, as p[1,j] = 0 or z[i] *
# p: rows that are weighed together multiply a count of 0 by the log of 0, which is
# 0, and no density that is no number. The mode is the closed form's.
source "$GBM_ROOT/tests/cli/lib"

cat >never.gbm <<'M'
model {
  for (i in 1:N) {
    z[i] ~ dcat(w[])
    for (j in 1:J) { y[i,j] ~ dbern(p[z[i],j]) }
  }
  for (j in 1:J) { p[1,j] <- 0  p[2,j] ~ dbeta(2, 2)  p[3,j] <- 1 }
  w[1:3] ~ ddirch(two[])
}
M
cat >there.gbm <<'M'
model {
  for (i in 1:N) {
    z[i] ~ dbern(omega)
    for (j in 1:J) { y[i,j] ~ dbern(z[i] * p) }
  }
  omega ~ dbeta(2, 2)
  p ~ dbeta(2, 2)
}
M
cat >exact.py <<'E'
import json, sys
from math import log
import numpy as np
N, J = 40, 3
if sys.argv[1] == "make":
    r = np.random.default_rng(4)
    p = np.array([[0] * J, [0.3, 0.6, 0.4], [1] * J])[r.integers(0, 3, N)]
    json.dump({"N": N, "J": J, "two": [2] * 3,
               "y": r.binomial(1, p).tolist()}, open("data.json", "w"))
    sys.exit()
y = np.array(json.load(open("data.json"))["y"])
never = sys.argv[1] == "never"
p = np.array([[0.0] * J, [0.5] * J, [1.0] * J])[:3 if never else 2]
w = np.full(len(p), 1 / len(p))
for it in range(5000):
    like = np.prod(np.where(y[:, None], p, 1 - p), 2) * w
    t = like / like.sum(1)[:, None]
    w = (t.sum(0) + 1) / (t.sum() + len(w))
    ones, all = t[:, 1] @ y, t[:, 1].sum()
    p[1] = (ones + 1) / (all + 2) if never else (ones.sum() + 1) / (J * all + 2)
like = np.prod(np.where(y[:, None], p, 1 - p), 2) * w
beta = (np.log(6 * p[1] * (1 - p[1]))).sum() / (1 if never else J)
value = np.log(like.sum(1)).sum() + beta + log(120 if never else 6) + np.log(w).sum()
found = json.load(open("em.json"))
assert abs(found["log_density"] - value) < 1e-6, (found["log_density"], value)
at = found["parameters"]
for j in range(J if never else 0):
    assert abs(at[f"p[2,{j + 1}]"]["mode"] - p[1, j]) < 1e-4, (at, p)
if not never:
    assert abs(at["p"]["mode"] - p[1, 0]) < 1e-4, (at, p)
E
python3 exact.py make
for model in never there; do
    status 0 "$GBMC" -O 1 --with=gradients,expectation $model.gbm -o $model
    status 0 ./$model --method em --data data.json --device cpu --quiet \
        --summary em.json
    python3 exact.py $model >.out 2>&1 || fail "$model"
done
