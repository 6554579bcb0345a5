#!/usr/bin/env bash
# Two columns of a table of vectors in one mean (lines of animals, with a prior
# along the animals), beside other effects and coefficients: one block, whose
# draws are independent; the posterior, a normal one, against linear algebra.
source "$GBM_ROOT/tests/cli/lib"
python3 -c 'import numpy' 2>/dev/null || { echo "numpy is missing"; exit 77; }

cat >model.gbm <<'M'
model {
  for (i in 1:n) {
    for (t in 1:T) {
      y[i,t] ~ dnorm(b[1] + b[2] * x[t] + a[i,1] + a[i,2] * x[t] + e[i], 4)
    }
    e[i] ~ dnorm(0, 2)
  }
  for (k in 1:2) {
    a[1:n,k] ~ dmnorm(zero[], P[k,,])
    b[k] ~ dnorm(0, 0.1)
  }
}
M
cat >data.py <<'E'
import json
import numpy as np

r = np.random.default_rng(3)
n, T = 6, 4
A = np.eye(n) + 0.5 * np.diag(np.ones(n - 1), 1) + 0.5 * np.diag(np.ones(n - 1), -1)
P = np.array([np.linalg.inv(A), 3 * np.linalg.inv(A)])
y = np.round(r.normal(2, 1.5, (n, T)), 2).tolist()
y[1][2] = None
json.dump(dict(n=n, T=T, x=[-1, -0.2, 0.3, 1], y=y, zero=[0] * n,
               P=((P + P.transpose(0, 2, 1)) / 2).tolist()), open("data.json", "w"))
E
cat >compare.py <<'E'
import json
import sys
import numpy as np

d = json.load(open("data.json"))
n, x = d["n"], d["x"]
H = np.zeros((3 * n + 2, 3 * n + 2))  # a[,1], a[,2], e, b
h = np.zeros(3 * n + 2)
for k in range(2):
    H[k * n:(k + 1) * n, k * n:(k + 1) * n] = d["P"][k]
    H[3 * n + k, 3 * n + k] = 0.1
H[2 * n:3 * n, 2 * n:3 * n] = 2 * np.eye(n)
for i, row in enumerate(d["y"]):
    for t, y in enumerate(row):
        if y is not None:
            form = np.zeros(3 * n + 2)
            form[[i, 2 * n + i, 3 * n]] = 1
            form[[n + i, 3 * n + 1]] = x[t]
            H += 4 * np.outer(form, form)
            h += 4 * form * y
V = np.linalg.inv(H)
mean, sd = V @ h, np.sqrt(np.diag(V))
names = [f"a[{i+1},{k}]" for k in (1, 2) for i in range(n)]
names += [f"e[{i+1}]" for i in range(n)] + ["b[1]", "b[2]"]
fit = json.load(open("fit.json"))["parameters"]
bad = 0
for q, name in enumerate(names):
    p = fit[name]
    z = (p["mean"] - mean[q]) / p["mcse"]
    if (not abs(z) < 4.5 or not 0.95 < p["sd"] / sd[q] < 1.05
            or p["ess_bulk"] < 6000):
        print(name, p["mean"], mean[q], z, p["sd"], sd[q], p["ess_bulk"])
        bad += 1
sys.exit(bad > 0)
E
python3 data.py || fail "data"
status 0 "$GBMC" --explain model.gbm
prints '^[0-9]+ +b, e, a .*joint Gaussian block'
status 0 "$GBMC" -O 1 model.gbm -o model
status 0 ./model check --data data.json
status 0 ./model --data data.json --quiet --draws 2000 --summary fit.json
python3 compare.py || fail "another posterior, or draws that depend on each other"

device_draws_as_host model data.json
