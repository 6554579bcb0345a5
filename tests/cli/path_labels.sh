#!/usr/bin/env bash
# A label settles a whole path of states, so that each would hold the other: the
# label is drawn with all paths summed out. Posteriors against sums over all
# labels and paths, where emissions and heads read the label, too, and where
# some labels, heads and states are observed.
source "$GBM_ROOT/tests/cli/lib"

cat >classes.gbm <<'E'
model {
  for (i in 1:N) {
    c[i] ~ dcat(share[])
    x[i] ~ dbern(u[c[i]])
    z[i, 1] ~ dcat(start[c[i], ])
    y[i, 1] ~ dbern(p[c[i], z[i, 1]])
    for (t in 2:T) {
      z[i, t] ~ dcat(go[c[i], z[i, t - 1], ])
      y[i, t] ~ dbern(p[c[i], z[i, t]])
    }
  }
  share[1] <- 1 - q
  share[2] <- q
  q ~ dunif(0, 1)
}
E
# the head is observed, and in no statement; loops apart, subscripts turned round
cat >begun.gbm <<'E'
model {
  for (i in 1:N) {
    for (t in 2:T) { z[t, i] ~ dcat(go[c[i], z[t - 1, i], ]) }
  }
  for (k in 1:N) {
    c[k] ~ dcat(share[])
    x[k] ~ dbern(u[c[k]])
    for (t in 2:T) { y[k, t] ~ dbern(p[c[k], z[t, k]]) }
  }
  share[1:2] <- c(1 - q, q)
  q ~ dunif(0, 1)
}
E
# sites that are never occupied
cat >sites.gbm <<'E'
model {
  for (i in 1:N) {
    w[i] ~ dbern(q)
    z[i, 1] ~ dbern(0.8 * w[i])
    for (t in 2:T) { z[i, t] ~ dbern(w[i] * (0.97 * z[i, t - 1] + 0.9 * (1 - z[i, t - 1]))) }
    for (t in 1:T) { y[i, t] ~ dbern(0.15 * z[i, t]) }
  }
  q ~ dunif(0, 1)
}
E
cat >exact.py <<'E'
# exact.py DATA MODEL SUMMARY: the mean of q.
import itertools
import json
import sys

d = json.load(open(sys.argv[1]))
model, summary = sys.argv[2:]
sites = model == "sites"


def of_path(i, c, path):
    if sites:
        first = [1 - 0.8 * c, 0.8 * c]
        go = [[1 - c * 0.9, c * 0.9], [1 - c * 0.97, c * 0.97]]
        p = [0, 0.15]
    else:
        first, go, p = d["start"][c], d["go"][c], d["p"][c]
    w = 1
    for t, k in enumerate(path):
        seen = d["z"][i][t] if "z" in d else None
        if seen is not None and seen != k + 1:
            return 0
        if t > 0:
            w *= go[path[t - 1]][k]
        elif model != "begun":
            w *= first[k]
        y = d["y"][i][t]
        if y is not None and (t > 0 or model != "begun"):
            w *= p[k] if y else 1 - p[k]
    return w


def of_label(i, c):
    if not sites and d["c"][i] is not None and d["c"][i] != c + 1:
        return 0
    w = sum(of_path(i, c, path) for path in itertools.product(range(2), repeat=d["T"]))
    if not sites:
        w *= d["u"][c] if d["x"][i] else 1 - d["u"][c]
    return w


rows = [[of_label(i, c) for c in range(2)] for i in range(d["N"])]
total = mean = 0
for k in range(2000):
    q = (k + 0.5) / 2000
    w = 1
    for a, b in rows:
        w *= (1 - q) * a + q * b
    total += w
    mean += w * q
mean /= total
got = json.load(open(summary))["parameters"]["q"]
if abs(got["mean"] - mean) > 5 * got["mcse"] or got["ess_bulk"] < 2500:
    sys.exit(f"{model}: {got['mean']} with {got['mcse']} ({got['ess_bulk']}), not {mean}")
E
y='[[1,1,0,1,1], [0,0,1,0,0], [1,1,null,1,1], [0,1,1,0,1], [1,0,1,0,1], [0,0,0,1,0], [1,1,0,1,1], [0,0,null,null,0]]'
u='"N": 8, "T": 5, "u": [0.4, 0.55], "x": [1, 0, 1, 1, 0, 1, 0, 0],
   "go": [[[0.99, 0.01], [0.97, 0.03]], [[0.02, 0.98], [0.004, 0.996]]], "p": [[0.6, 0.3], [0.4, 0.55]],
   "start": [[0.95, 0.05], [0.02, 0.98]]'
echo "{$u, \"y\": $y, \"c\": [null, null, 2, null, null, null, null, null],
  \"z\": [[null,null,null,null,null], [1,null,null,null,null], [null,null,null,null,null], [2,null,1,null,null],
          [null,null,null,2,null], [null,null,null,null,null], [null,null,null,null,null], [null,null,null,null,null]]}" >classes.json
echo "{$u, \"y\": $y, \"c\": [null, null, 1, null, null, null, null, null],
  \"z\": [[1,null,null,null,null], [1,null,null,null,null], [2,null,null,null,null], [2,null,1,null,null],
          [1,null,null,2,null], [2,null,null,null,null], [1,null,null,null,null], [2,null,null,null,null]]}" >begun_rows.json
python3 -c 'import json
d = json.load(open("begun_rows.json"))
d["z"] = [list(column) for column in zip(*d["z"])]
json.dump(d, open("begun.json", "w"))'
echo '{"N": 8, "T": 5, "y": [[1,0,0,0,0], [0,0,0,0,0], [0,0,0,0,0], [0,0,0,0,0], [0,0,1,0,0], [0,0,0,0,0], [0,0,0,0,0],
  [0,0,0,0,0]]}' >sites.json
for model in classes begun sites; do
    status 0 "$GBMC" --explain $model.gbm
    prints 'with all paths summed'
    "$GBMC" $model.gbm -o $model || fail "$model is not compiled"
    ./$model check --data $model.json >check || fail "$model: $(cat check)"
    ./$model --data $model.json --draws 4000 --monitor q --summary s.json --quiet || fail "$model fails"
    rows=$model.json
    [ $model = begun ] && rows=begun_rows.json
    python3 exact.py $rows $model s.json || fail "$model: a label holds its path"
done
