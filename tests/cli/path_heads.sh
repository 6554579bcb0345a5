#!/usr/bin/env bash
# What a path of states comes from has a statement of its own, at times that
# differ by row, and states that never, hardly and often change: both are drawn at once.
# Posteriors against sums over all paths.
source "$GBM_ROOT/tests/cli/lib"

cat >rows.gbm <<'E'
model {
  for (i in 1:N) {
    z[i, first[i]] ~ dcat(start[])
    y[i, first[i]] ~ dbern(p[z[i, first[i]]])
    for (t in (first[i] + 1):T) {
      z[i, t] ~ dcat(go[z[i, t - 1], ])
      y[i, t] ~ dbern(p[z[i, t]])
    }
  }
  start[1] ~ dunif(0, 1)
  start[2] <- 1 - start[1]
}
E
# in loops of their own, the head behind, one time for all, 0s and 1s
cat >apart.gbm <<'E'
model {
  for (k in 1:N) {
    for (t in 2:T) { z[k, t] ~ dbern(go[z[k, t - 1] + 1, 2]) }
  }
  for (i in 1:N) {
    z[i, 1] ~ dbern(1 - start)
    for (t in first[i]:T) { y[i, t] ~ dbern(p[z[i, t] + 1]) }
  }
  start ~ dunif(0, 1)
}
E
# the head as a factor of a probability, of which the rest counts, too
cat >deaths.gbm <<'E'
model {
  r ~ dunif(0, 1)
  for (k in 1:N) {
    z[k, 1] ~ dbern(1 - start)
    for (t in 2:T) { z[k, t] ~ dbern(r * z[k, t - 1]) }
  }
  for (i in 1:N) {
    for (t in first[i]:T) { y[i, t] ~ dbern(p[z[i, t] + 1]) }
  }
  start ~ dunif(0, 1)
}
E
# probabilities that are products with data, which could be above 1
sed '/r ~ dunif/d; s/p\[z\[i, t\] + 1\]/p[2] * z[i, t] + p[1] * (1 - z[i, t])/' \
    deaths.gbm >lives.gbm
cat >exact.py <<'E'
# exact.py DATA FIRST SUMMARY NAME: the mean of the share that starts in 1.
import itertools
import json
import sys

d = json.load(open(sys.argv[1]))
at, summary, name = sys.argv[2:]


def weights(i):
    """Of a row, what all paths from each first state say."""
    first = d["first"][i] - 1
    begin = first if at == "rows" else 0
    out = [0, 0]
    for path in itertools.product(range(2), repeat=d["T"] - begin):
        w = 1
        for a, b in zip(path, path[1:]):
            w *= d["go"][a][b]
        for t in range(first, d["T"]):
            p = d["p"][path[t - begin]]
            w *= p if d["y"][i][t] else 1 - p
        out[path[0]] += w
    return out


rows = [weights(i) for i in range(d["N"])]
total = mean = 0
for k in range(2000):
    share = (k + 0.5) / 2000
    w = 1
    for a, b in rows:
        w *= share * a + (1 - share) * b
    total += w
    mean += w * share
mean /= total
got = json.load(open(summary))["parameters"][name]
if abs(got["mean"] - mean) > 5 * got["mcse"] or got["ess_bulk"] < 2000:
    sys.exit(f"{at}: {got['mean']} with {got['mcse']}, not {mean}")
E
for model in rows apart deaths lives; do
    status 0 "$GBMC" --explain $model.gbm
    prints 'path along t'
    "$GBMC" $model.gbm -o $model || fail "$model is not compiled"
done
for go in '[[1, 0], [0, 1]]' '[[1, 0], [0.3, 0.7]]' '[[0.995, 0.005], [0.002, 0.998]]' '[[0.98, 0.02], [0.4, 0.6]]'; do
    r=$(sed 's/.*, \([0-9.]*\)\]\]/\1/' <<<"$go")
    echo '{"N": 7, "T": 6, "p": [0.85, 0.2], "first": [2, 1, 3, 1, 6, 2, 1], "go": '"$go"', "r": '"$r"',
      "y": [[null,1,1,0,1,1], [0,0,1,0,0,0], [null,null,1,1,1,1], [0,1,1,1,0,1], [null,null,null,null,null,1],
            [null,0,0,0,1,0], [1,1,0,1,1,1]]}' >data.json
    case $go in '[[1, 0]'*) models="rows apart deaths lives" ;; *) models="rows apart" ;; esac
    for model in $models; do
        ./$model check --data data.json >check || fail "$model: $(cat check)"
        name="start[1]"
        [ $model = rows ] || name=start
        ./$model --data data.json --draws 4000 --monitor start --summary s.json --quiet || fail "$model fails"
        python3 exact.py data.json $model s.json "$name" || fail "$model: a head holds its path"
    done
done
