#!/usr/bin/env bash
# Cells of a simplex that has no full conditional of a known family trade mass
# by the logarithm of their ratio: they may be smaller than what others are
# rounded to, and than any number; structural zeros stay, starts at 0 do not.
source "$GBM_ROOT/tests/cli/lib"

cat >least.gbm <<'E'
model {
  pi[1:2] ~ ddirch(al[])
  y ~ dnorm(3 * pi[1], 1)
  least <- step(1e-300 - pi[1])
  less <- step(1e-10 - pi[1])
}
E
echo '{"al": [0.002, 1], "y": 2}' >least.json
cat >among.gbm <<'E'
model {
  pi[1:4] ~ ddirch(al[])
  x ~ dunif(0, pi[3])
  y ~ dnorm(3 * pi[2], 4)
  less <- step(1e-10 - pi[2])
}
E
echo '{"al": [0, 0.05, 1, 2], "x": 0.2, "y": 1}' >among.json
cat >flat.gbm <<'E'
model {
  pi[1:3] ~ ddirch(al[])
  y ~ dnorm(3 * pi[1], 1)
}
E
echo '{"al": [1, 1, 1], "y": 3}' >flat.json
# a model's own simplex, which nothing says how to draw
cat >own.gbm <<'E'
distribution ratios(m, t) over x[K] {
  support simplex
  logdensity -0.5 * t * (log(x[1]) - log(x[3]) - m)^2
    - 0.5 * t * (log(x[2]) - log(x[3]) + m)^2 - log(x[1]) - log(x[2]) - log(x[3])
}
model {
  pi[1:3] ~ ratios(0.5, 0.25)
  y ~ dnorm(pi[1] - pi[2], 2)
}
E
echo '{"y": 0.5}' >own.json
cat >zeros.gbm <<'E'
model {
  pi[1:4] ~ ddirch(al[])
  y ~ dnorm(3 * pi[2], 4)
}
E
echo '{"al": [0, 0.01, 0.01, 1], "y": 1}' >zeros.json
echo '{"pi": [0, 0, 1]}' >edge.json
status 0 "$GBMC" least.gbm -o least
status 0 ./least run --data least.json --draws 5000 --summary least.out --quiet
status 0 "$GBMC" among.gbm -o among
status 0 ./among check --data among.json
status 0 ./among run --data among.json --draws 5000 --summary among.out --quiet
status 0 "$GBMC" flat.gbm -o flat
status 0 ./flat run --data flat.json --init edge.json --draws 5000 \
    --summary flat.out --quiet
status 0 "$GBMC" -O1 own.gbm -o own
status 0 ./own run --data own.json --draws 4000 --summary own.out --quiet
status 0 "$GBMC" -O1 zeros.gbm -o zeros
status 0 ./zeros run --data zeros.json --warmup 300 --draws 300 \
    --summary zeros.out --quiet
status 0 ./zeros geweke --data zeros.json --quiet

cat >shares.py <<'E'
# sums over grids, of small cells in logarithms u
import json
from math import exp
def grid(lo, hi, n):
    return [lo + (hi - lo) * (i + 0.5) / n for i in range(n)]
def mean(points):
    total, sums = 0, {}
    for w, values in points:
        total += w
        for k, v in values.items():
            sums[k] = sums.get(k, 0) + w * v
    return {k: v / total for k, v in sums.items()}
def least():
    for u in grid(-15000, 0, 600000):
        p = exp(u)
        yield (exp(0.002 * u - 0.5 * (2 - 3 * p) ** 2),
               {"pi[1]": p, "least": p <= 1e-300, "less": p <= 1e-10})
def among():
    for u in grid(-600, 0, 12000):
        p = exp(u)
        for q in grid(0, 1, 40) if p < 0.8 else ():
            r = 0.2 + q * (0.8 - p)
            yield (exp(0.05 * u - 2 * (1 - 3 * p) ** 2) * (1 - p - r) / r
                   * (0.8 - p),
                   {"pi[1]": 0, "pi[2]": p, "pi[3]": r, "less": p <= 1e-10})
def flat():
    for p in grid(0, 1, 1000):
        yield (1 - p) * exp(-0.5 * (3 - 3 * p) ** 2), {"pi[1]": p}
# a structural zero stays where it is, whatever cells are smaller
zero = json.load(open("zeros.out"))["parameters"]["pi[1]"]
print(zero)
assert zero["q5"] == zero["q95"] == 1e-30
def own():
    for u in grid(-20, 20, 160):
        for v in grid(-20, 20, 160):
            a, b = exp(u), exp(v)
            p, q = a / (1 + a + b), b / (1 + a + b)
            yield (exp(-0.125 * (u - 0.5) ** 2 - 0.125 * (v + 0.5) ** 2
                       - (0.5 - p + q) ** 2), {"pi[1]": p, "pi[2]": q})
for model in (least, among, flat, own):
    found = json.load(open(model.__name__ + ".out"))["parameters"]
    for name, want in mean(model()).items():
        r = found[name]
        print(name, r["mean"], want, r["mcse"])
        assert abs(r["mean"] - want) < 4.5 * (r["mcse"] or 0) + 1e-4
E
status 0 python3 shares.py
