#!/usr/bin/env bash
# A label that makes values of the nodes of a plate impossible is drawn with these
# summed out (sampler/tried_nodes.c), also where another label holds it: posteriors
# are sums over all states. A node may be data, or have nothing observed below it.
source "$GBM_ROOT/tests/cli/lib"

cat >joint.gbm <<'M'
model {
  a ~ dcat(w[])
  b ~ dcat(W[a,])
  for (i in 1:n) {
    z[i] ~ dcat(P[b,])
    for (t in 1:T) { y[i,t] ~ dbern(q[z[i]]) }
    v[i] ~ dcat(R[z[i],])
  }
  there ~ dbern(share)
  share ~ dbeta(2, 3)
  for (i in 1:n) {
    s[i] ~ dbern(0.9 * there)
    u[i] ~ dbern(0.1 + more * s[i])
  }
  for (k in 1:4) { q[k] ~ dunif(0, 1) }
}
M
cat >joint.json <<'M'
{"n": 3, "T": 2, "more": 0.3, "w": [0.3, 0.7], "W": [[0.5, 0.5, 0], [0, 0, 1]],
 "P": [[0.5, 0.2, 0.3, 0], [0, 0.4, 0.6, 0], [1, 0, 0, 0]],
 "R": [[0.3, 0.7], [0, 1], [0.8, 0.2], [0.5, 0.5]],
 "y": [[1, 0], [1, null], [null, null]], "v": [2, null, null], "u": [0, 0, 1], "z": [null, null, null]}
M
sed 's/"z": \[null, null/"z": [null, 1/' joint.json >known.json
cat >exact.py <<'P'
import itertools
import json
import math
import sys

data = json.load(open(sys.argv[1]))
w, W, P, R = (data[n] for n in "wWPR")
sums, total = {}, 0


def add(weight, values):
    global total
    total += weight
    for name, x in values.items():
        sums[name] = sums.get(name, 0) + weight * x


# of q[k], uniform, given z: a beta function of its 1s and 0s
for a, b in itertools.product((1, 2), (1, 2, 3)):
    for z in itertools.product((1, 2, 3), repeat=3):
        if any(known not in (None, x) for known, x in zip(data["z"], z)):
            continue
        weight = w[a - 1] * W[a - 1][b - 1]
        ones, zeros = [0, 0, 0], [0, 0, 0]
        for x, y, v in zip(z, data["y"], data["v"]):
            weight *= P[b - 1][x - 1] * (R[x - 1][v - 1] if v else 1)
            ones[x - 1] += y.count(1)
            zeros[x - 1] += y.count(0)
        for n, m in zip(ones, zeros):
            weight *= math.gamma(n + 1) * math.gamma(m + 1) / math.gamma(n + m + 2)
        add(weight, {"a": a, "b": b, "z[1]": z[0], "z[2]": z[1], "z[3]": z[2]})
chains = {k: s / total for k, s in sums.items()}
sums, total = {}, 0
for there in (0, 1):
    for s in itertools.product((0, 1), repeat=3):
        weight = 0.4 if there else 0.6
        for x, u in zip(s, data["u"]):
            p = 0.1 + 0.3 * x
            weight *= (0.9 * there if x else 1 - 0.9 * there) * (p if u else 1 - p)
        add(weight, {"there": there, "s[1]": s[0], "s[2]": s[1], "s[3]": s[2]})
chains.update({k: s / total for k, s in sums.items()})
found = json.load(open(sys.argv[2]))["parameters"]
for name, mean in chains.items():
    if name not in found:
        continue
    v = found[name]
    if not v["sd"]:
        assert v["mean"] == mean, (name, mean, v)
        continue
    assert v["rhat"] < 1.02, (name, v)
    assert abs(v["mean"] - mean) < 5 * v["mcse"], (name, mean, v)
P
status 0 "$GBMC" --explain joint.gbm
prints '^[0-9]+ +b +1 +enumeration, 1 to extent\(W, 2\), z'
prints '^[0-9]+ +there +1 +enumeration, 0 to 1, s integrated out'
[ "$(grep -nE '^[0-9]+ +(a, b|z) ' .out | grep -oE 'a, b|z ' | tr -d '\n')" = "z a, b" ] ||
    fail "a and b move together before z is drawn"
status 0 "$GBMC" -O1 joint.gbm -o joint
for data in joint known; do
    status 0 ./joint check --data $data.json
    prints '^b .*pass'
    status 0 ./joint --data $data.json --device cpu --draws 10000 --seed 2 --summary $data.s --quiet
    python3 exact.py $data.json $data.s >.out 2>&1 || fail "$data is not what sums over states say"
done
device_draws_as_host joint joint.json
status 0 "$GBMC" -O1 --with=powers joint.gbm -o joint
status 0 ./joint check --data joint.json
prints '^b .*pass'
status 0 ./joint --data joint.json --device cpu --method tempering --draws 4000 --seed 2 --summary joint.s --quiet
python3 exact.py joint.json joint.s >.out 2>&1 || fail "tempered draws are not what sums over states say"

# no value is impossible: the label keeps its nodes
cat >apart.gbm <<'M'
model {
  a ~ dbern(0.5)
  for (i in 1:n) { z[i] ~ dbern(0.1 + 0.6 * a)  y[i] ~ dbern(0.2 + 0.3 * z[i]) }
}
M
status 0 "$GBMC" --explain apart.gbm
grep -q 'z integrated out' .out && fail "z is summed out though nothing holds a"
exit 0
