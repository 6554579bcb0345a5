#!/usr/bin/env bash
# Elements that are read sorted alone change places: chains agree about each,
# posteriors are those by quadrature, and the joint distribution test passes;
# where an order is told, or one is data, they stay.
source "$GBM_ROOT/tests/cli/lib"
lacks() { if grep -qE -- "$1" .out; then fail "output like: $1"; fi; }

cat >one.gbm <<'M'
model {
  for (k in 1:3) { x[k] ~ dnorm(1, 0.5) }
  s <- sort(x)
  for (k in 1:3) { y[k] ~ dnorm(s[k], 40) }
}
M
echo '{"y": [-0.5, 0.9, 1.6]}' >one.json
status 0 "$GBMC" -O1 one.gbm -o one
status 0 "$GBMC" --explain one.gbm
prints '^[0-9]+ +x +3 +elements change places'
lacks '^[0-9]+ +sort.1'
status 0 ./one --data one.json --device cpu --draws 20000 --seed 2 --summary one.s --quiet
cat >exact.py <<'P'
import json
import sys
from itertools import product
from math import exp

y = json.load(open("one.json"))["y"]
grid = [-2.5 + 0.05 * i for i in range(121)]
total, least, square, mean = 0, 0, 0, 0
near = [[t for t in grid if abs(t - v) < 1.2] for v in y]
for s in product(*near):
    if s[0] < s[1] < s[2]:
        w = exp(sum(-0.25 * (t - 1)**2 - 20 * (t - v)**2 for t, v in zip(s, y)))
        total += w
        least += w * s[0]
        mean += w * sum(s) / 3
        square += w * sum(t * t for t in s) / 3
exact = {"s[1]": (least / total, None)}
for k in (1, 2, 3):  # each element is any of the sorted ones
    m = mean / total
    exact[f"x[{k}]"] = (m, (square / total - m * m)**0.5)
found = json.load(open(sys.argv[1]))["parameters"]
for name, (m, sd) in exact.items():
    p = found[name]
    assert abs(p["mean"] - m) < 5 * p["mcse"] + 1e-3, (name, m, p)
    assert sd is None or abs(p["sd"] - sd) < 0.02, (name, sd, p)
    assert p["rhat"] < 1.01 and p["ess_bulk"] > 5000, (name, p)
P
python3 exact.py one.s >.out 2>&1 || fail "one is not what quadrature says"
device_draws_as_host one one.json

# groups, each in an order of its own
cat >groups.gbm <<'M'
model {
  m ~ dnorm(0, 1)
  for (i in 1:N) {
    for (k in 1:K) { x[i, k] ~ dnorm(m + b[i], 1) T(-3, 5) }
    s[i, 1:K] <- sort(x[i, ])
    for (k in 1:K) { y[i, k] ~ dnorm(s[i, k], 9) }
    z[i] ~ dnorm(max(x[i, 1:K]), 1)
  }
}
M
echo '{"N": 3, "K": 2, "b": [0, 0.5, -0.5], "y": [[-1, 1], [0, 2], [-2, 0.5]], "z": [1, 2, 0]}' >groups.json
status 0 "$GBMC" -O1 groups.gbm -o groups
status 0 "$GBMC" --explain groups.gbm
prints '^[0-9]+ +x +N x K +elements change places'
status 0 ./groups geweke --data groups.json --device cpu --draws 4000
status 0 ./groups --data groups.json --device cpu --draws 4000 --seed 3 --summary groups.s --quiet
python3 - <<'P' >.out 2>&1 || fail "groups: chains are apart"
import json
p = json.load(open("groups.s"))["parameters"]
for i in (1, 2, 3):
    a, b = p[f"x[{i},1]"], p[f"x[{i},2]"]
    assert max(a["rhat"], b["rhat"]) < 1.01, (i, a, b)
    assert abs(a["mean"] - b["mean"]) < 5 * (a["mcse"] + b["mcse"]), (i, a, b)
P
device_draws_as_host groups groups.json

# One that is data holds the others of its group, and no other group.
sed 's/"y"/"x": [[-1.1, null], [null, null], [null, null]], "y"/' groups.json >held.json
status 0 ./groups --data held.json --device cpu --draws 4000 --seed 3 --summary held.s --quiet
python3 - <<'P' >.out 2>&1 || fail "data do not hold"
import json
p = json.load(open("held.s"))["parameters"]
assert p["x[1,2]"]["mean"] > 0.5 and p["x[1,2]"]["sd"] < 0.6, p["x[1,2]"]
assert abs(p["x[3,1]"]["mean"] - p["x[3,2]"]["mean"]) < 0.3, p
P

none() { # SED...
    sed "$@" groups.gbm >other.gbm
    cmp -s groups.gbm other.gbm && fail "nothing is other"
    status 0 "$GBMC" --explain other.gbm
    lacks 'change places'
}
none 's/m + b\[i\]/m + b[k]/'
none 's/dnorm(m + b\[i\], 1) T(-3, 5)/dnorm(m, 1) T(k - 4,)/'
none 's/max(x\[i, 1:K\])/x[i, 1]/'
none 's/max(x\[i, 1:K\])/max(x[i, 2:K])/'
none 's/max(x\[i, 1:K\])/max(x[1:N, 1])/'
none 's/sort(x\[i, \])/order(x[i, ])/'
none 's/^}/}\nsamplers { x : slice }/'
