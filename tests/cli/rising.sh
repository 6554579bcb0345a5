#!/usr/bin/env bash
# Differences of logarithms of gamma functions in a model's own text keep their
# digits where their arguments are far out: the density has no modes there.
source "$GBM_ROOT/tests/cli/lib"

cat >rising.gbm <<'E'
distribution counted(r, p) over x {
  support integer(0, inf)
  logdensity loggam(r + x) - loggam(r) - loggam(x + 1) + r * log(p)
    + x * log(1 - p)
}
model {
  for (k in 1:4) { l[k] ~ dunif(-5, 60)  r[k] <- exp(l[k]) }
  for (i in 1:4) { y[i] ~ counted(r[1], r[1] / (r[1] + 2)) }
  # the same by zeros
  for (i in 1:4) {
    zero[i] ~ dpois(phi[i])
    phi[i] <- 1000 - (lgamma(r[2] + n[i]) - lgamma(r[2]) - logfact(n[i])
      + r[2] * log(r[2] / (r[2] + 2)) + n[i] * log(2 / (r[2] + 2)))
  }
  # beta binomial, and more than two kinds
  one ~ dbern(exp(lbeta(r[3] + 3, r[3] + 17) - lbeta(r[3], r[3])))
  for (j in 1:3) { alpha[j] <- r[4] * w[j] }
  none ~ dpois(100 - (loggam(sum(alpha[])) - loggam(12 + sum(alpha[]))
    + sum(loggam(alpha[] + m[])) - sum(loggam(alpha[]))))
}
E
echo '{"y": [3, 1, 2, 0], "n": [3, 1, 2, 0], "zero": [0, 0, 0, 0], "one": 1,
  "w": [1, 2, 0.5], "m": [4, 0, 8], "none": 0}' >rising.json
status 0 "$GBMC" rising.gbm -o rising
status 0 ./rising run --data rising.json --draws 5000 --monitor l \
    --summary rising.out --quiet
cat >rising.py <<'E'
import json
from math import exp, log, log1p
found = json.load(open("rising.out"))["parameters"]
def up(a, n):
    return sum(log(a + k) for k in range(n))
def counted(r):
    return sum(up(r, y) - r * log1p(2 / r) + y * log(2 / (r + 2))
               for y in (3, 1, 2, 0))
def beta(r):
    return up(r, 3) + up(r, 17) - up(2 * r, 20)
def kinds(r):
    return up(r, 4) + up(0.5 * r, 8) - up(3.5 * r, 12)
for k, f in enumerate((counted, counted, beta, kinds)):
    grid = [-5 + 65 * (i + 0.5) / 4000 for i in range(4000)]
    w = [exp(f(exp(l)) + 20) for l in grid]
    want = sum(l * v for l, v in zip(grid, w)) / sum(w)
    r = found[f"l[{k + 1}]"]
    print(k, r["mean"], want, r["mcse"], r["rhat"])
    assert abs(r["mean"] - want) < 4.5 * r["mcse"]
E
status 0 python3 rising.py
