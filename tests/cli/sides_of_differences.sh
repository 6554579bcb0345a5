#!/usr/bin/env bash
# Ranks by step(x[i] - x[j]), where x is computed: an element is at least itself,
# whatever the processor rounds, and where functions that compute x are compiled
# otherwise (algebra/call.c); they are those of rank().
source "$GBM_ROOT/tests/cli/lib"

cat >ranks.gbm <<'E'
model {
  for (j in 1:J) {
    y[j] ~ dnorm(x[j], 1)
    x[j] <- mu + tau * e[j]
    e[j] ~ dnorm(0, 1)
    for (k in 1:J) { g[j,k] <- step(x[j] - x[k]) }
    off[j] <- sum(g[j,]) - known[j]
  }
  known[1:J] <- rank(x[])
  for (k in 1:J) {
    a[k] <- step(2 * x[k] + 1 - 2 * x[3] - 1)
    b[k] <- x[3] - x[k] < 0
    d[k] <- equals(x[3] - x[k], 0)
    h[k] <- step(exp(x[1]) - exp(x[k]))
  }
  off[J + 1] <- sum(a[]) - (J + 1 - known[3])
  off[J + 2] <- sum(b[]) - (J - known[3])
  off[J + 3] <- sum(d[]) - 1
  off[J + 4] <- step(min(x[]) - x[2]) - equals(known[2], 1)
  off[J + 5] <- sum(h[]) - known[1]
  mu ~ dnorm(0, 1)
  tau ~ dexp(1)
}
E
echo '{"J": 5, "y": [0.1, 1.3, -0.4, 0.6, 0.2]}' >data.json
status 0 "$GBMC" ranks.gbm -o ranks
status 0 ./ranks --data data.json --draws 300 --monitor off --seed 1 --quiet \
    --out draws.csv
status 0 python3 -c '
import glob
rows = [r.split(",") for f in glob.glob("draws*.csv") for r in open(f)
        if r.strip() and r[0] != "#"]
at = [i for i, name in enumerate(rows[0]) if name.startswith("off")]
draws = [[float(r[i]) for i in at] for r in rows if r[0] != rows[0][0]]
assert len(at) == 10 and len(draws) >= 300, (len(at), len(draws))
assert not any(map(any, draws)), [sum(map(bool, x)) for x in zip(*draws)]'
