#!/usr/bin/env bash
# Single discrete nodes that make values of each other impossible are drawn
# together, by all their states (sampler/states.c): posteriors are sums over
# these, where all can be tried, where some of them are, and where one is data.
source "$GBM_ROOT/tests/cli/lib"
lacks() { if grep -qE -- "$1" .out; then fail "output like: $1"; fi; }

cat >few.gbm <<'M'
model {
  a ~ dcat(p[])
  b ~ dbin(0.5, a)
  c ~ dbin(q[b + 1], 3)
  d ~ dcat(p[])
  e[1] ~ dcat(p[])
  e[2] ~ dcat(P[e[1],])
  one ~ dbern(equals(a + d, 4))
  two ~ dbern(equals(d + e[1], 4))
  y ~ dnorm(a + b - c + e[1] + m, 1)
  m ~ dnorm(e[2], 1)
}
M
cat >few.json <<'M'
{"p": [0.2, 0.3, 0.5], "q": [1, 0, 1, 0], "one": 1, "two": 1, "y": 3,
 "P": [[0, 1, 0], [0.5, 0, 0.5], [0, 1, 0]]}
M
sed 's/"y"/"e": [null, 2], "y"/' few.json >known.json
cat >exact.py <<'P'
import itertools
import json
import math
import sys

data = json.load(open(sys.argv[1]))
p, q, P = data["p"], data["q"], data["P"]
known = data.get("e", [None, None])[1]
sums, total = {}, 0
for a, d, e, f in itertools.product((1, 2, 3), repeat=4):
    if a + d != 4 or d + e != 4 or (known and f != known):
        continue
    for b, c in itertools.product(range(a + 1), range(4)):
        r = q[b]
        w = p[a - 1] * p[d - 1] * p[e - 1] * P[e - 1][f - 1]
        w *= math.comb(a, b) * 0.5**a * math.comb(3, c)
        w *= r**c * (1 - r)**(3 - c)
        w *= math.exp(-(data["y"] - a - b + c - e - f)**2 / 4)
        total += w
        for name, x in zip(("a", "b", "c", "d", "e[1]", "e[2]"),
                           (a, b, c, d, e, f)):
            sums[name] = sums.get(name, 0) + w * x
found = json.load(open(sys.argv[2]))["parameters"]
for name, s in sums.items():
    if known and name == "e[2]":
        continue
    v = found[name]
    assert v["rhat"] < 1.05, (name, v)
    assert abs(v["mean"] - s / total) < 5 * v["mcse"], (name, s / total, v)
P
status 0 "$GBMC" --explain few.gbm
prints '^[0-9]+ +a, b, c, d, e\[1\], e\[2\] +6 +all states of a few nodes'
status 0 "$GBMC" -O1 few.gbm -o few
for data in few known; do
    status 0 ./few --data $data.json --device cpu --draws 20000 --seed 2 --summary $data.s --quiet
    python3 exact.py $data.json $data.s >.out 2>&1 || fail "$data is not what sums over states say"
done
device_draws_as_host few few.json

# a number of the data that no other node meets, and a node that is not whole
cat >apart.gbm <<'M'
model {
  a ~ dcat(p[])
  b ~ dcat(p[])
  y ~ dnorm(a + b, 1)
  z ~ dnorm(mu[a], 1)
}
M
status 0 "$GBMC" --explain apart.gbm
lacks 'all states'
