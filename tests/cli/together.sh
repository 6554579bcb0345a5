#!/usr/bin/env bash
# Labels of which no two may be the same, counts whose sum data give by a
# condition or that must be different or alike, 0s and 1s that are all or none:
# each alone has one value. The posterior against all states summed up.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'M'
model {
  for (i in 1:3) {
    a[i] ~ dcat(w[])
    u[i] ~ dnorm(mu[a[i]], 1)
    b[i] ~ dbern(0.4)
    v[i] ~ dnorm(b[i], 1)
  }
  for (i in 1:2) {
    x[i] ~ dpois(2.1)
    y[i] ~ dnorm(x[i], 0.7)
    k[i] ~ dbin(0.4, 4)
    l[i] ~ dnorm(k[i], 0.7)
    g[i] ~ dpois(1.43)
    h[i] ~ dnorm(g[i], 0.7)
  }
  one[1] ~ dbern(1 - equals(a[1], a[2]))
  one[2] ~ dbern(1 - equals(a[1], a[3]))
  one[3] ~ dbern(1 - equals(a[2], a[3]))
  one[4] ~ dbern(equals(sum(b[]), 0) + equals(sum(b[]), 3))
  one[5] ~ dbern(equals(x[1] + x[2], 4))
  one[6] ~ dbern(0.7 * equals(k[1], k[2]))
  one[7] ~ dbern(equals(g[1], 2 * g[2]))
}
M
cat >data.json <<'D'
{"w": [0.2, 0.3, 0.5], "mu": [0, 1.2, 2], "u": [0.1, 1, -0.5], "v": [0.9, 0.2, 0.7], "y": [1.1, 2.3],
 "l": [2.9, 0.8], "h": [2.48, -0.55], "one": [1, 1, 1, 1, 1, 1, 1]}
D
cat >compare.py <<'E'
import itertools
import json
import math

d = json.load(open("data.json"))
fit = json.load(open("fit.json"))["parameters"]


def normal(y, mean, precision):
    return math.exp(-precision * (y - mean) ** 2 / 2)


def means(name, states, weight):
    total, sums = 0, None
    for s in states:
        w = weight(s)
        total += w
        sums = [a + w * b for a, b in zip(sums or [0] * len(s), s)]
    for i, x in enumerate(sums):
        p = fit[f"{name}[{i + 1}]"]
        assert not p["rhat"] > 1.05, (name, p)
        assert abs(p["mean"] - x / total) < 5 * p["mcse"] + 1e-9, \
            f"{name}[{i + 1}] {p['mean']} with {p['mcse']}, not {x / total}"


means("a", itertools.permutations([1, 2, 3]), lambda s: math.prod(
    normal(y, d["mu"][k - 1], 1) for y, k in zip(d["u"], s)))
means("b", [(0, 0, 0), (1, 1, 1)], lambda s: math.prod(
    (0.4 if k else 0.6) * normal(y, k, 1) for y, k in zip(d["v"], s)))
means("x", [(k, 4 - k) for k in range(5)], lambda s: math.prod(
    normal(y, k, 0.7) / math.factorial(k) for y, k in zip(d["y"], s)))
means("k", [(k, k) for k in range(5)], lambda s: math.prod(
    math.comb(4, k) * (2 / 3) ** k * normal(y, k, 0.7)
    for y, k in zip(d["l"], s)))
means("g", [(2 * k, k) for k in range(9)], lambda s: math.prod(
    1.43**k * normal(y, k, 0.7) / math.factorial(k)
    for y, k in zip(d["h"], s)))
E
status 0 "$GBMC" -O1 model.gbm -o model
status 0 "$GBMC" --explain model.gbm
prints "a: one at a time, and some together"
status 0 ./model check --data data.json
status 0 ./model --data data.json --draws 4000 --summary fit.json --device cpu
python3 compare.py || fail "another posterior"
