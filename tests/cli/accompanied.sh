#!/usr/bin/env bash
# Labels move with the nodes whose priors they settle (sampler/accompanied.c):
# probabilities of labels and means of nodes in closed form, where both would
# hold each other; the joint distribution test; and no such move where rows read
# each other.
source "$GBM_ROOT/tests/cli/lib"
lacks() { if grep -qE -- "$1" .out; then fail "output like: $1"; fi; }

cat >gaps.gbm <<'E'
model {
  for (i in 1:N) {
    z[i] ~ dcat(w[])
    for (j in 1:2) { x[i, j] ~ dnorm(m[z[i], j], 25) }
    y[i] ~ dnorm(b[z[i]] + x[i, 1] + x[i, 2], 4)
    first[i] <- equals(z[i], 1)
  }
}
E
echo '{"N": 4, "w": [0.5, 0.3, 0.2], "b": [0, 0.5, -2], "m": [[0, 0], [2, -2], [1.2, 0.9]],
  "x": [[null, 0.1], [null, null], [null, -0.7], [1.8, null]], "y": [0.4, 0.2, 0.1, 0.3]}' >gaps.json
status 0 "$GBMC" -O1 gaps.gbm -o gaps
status 0 ./gaps info
prints 'z, x: another label is proposed'
status 0 ./gaps check --data gaps.json --quiet
status 0 ./gaps --data gaps.json --device cpu --quiet --draws 20000 --seed 1 \
    --monitor first,x --summary gaps.s
cat >exact.py <<'E'
import json
from math import exp, pi, sqrt
d = json.load(open("gaps.json"))
found = json.load(open("gaps.s"))["parameters"]


def normal(x, mean, variance):
    return exp(-(x - mean)**2 / variance / 2) / sqrt(2 * pi * variance)


for i, (x, y) in enumerate(zip(d["x"], d["y"])):
    weights, means = [], []
    for w, b, m in zip(d["w"], d["b"], d["m"]):
        mean, variance = b, 0.25
        for v, centre in zip(x, m):
            if v is None:
                mean, variance = mean + centre, variance + 0.04
            else:
                mean, w = mean + v, w * normal(v, centre, 0.04)
        weights.append(w * normal(y, mean, variance))
        means.append([centre + 0.04 / variance * (y - mean) for centre in m])
    total = sum(weights)
    exact = {f"first[{i + 1}]": weights[0] / total}
    for j in range(2):
        if x[j] is None:
            exact[f"x[{i + 1},{j + 1}]"] = sum(
                w * m[j] for w, m in zip(weights, means)) / total
    for name, value in exact.items():
        f = found[name]
        print(name, value, f["mean"], f["mcse"], f["ess_bulk"])
        assert abs(f["mean"] - value) < 4 * (f["mcse"] or 0) + 1e-3, name
        assert not 0.01 < value < 0.99 or f["ess_bulk"] > 1000, name
E
status 0 python3 exact.py
device_draws_as_host gaps gaps.json

# nodes of two kinds, one with bounds, below rates; parameters that are random
cat >random.gbm <<'E'
model {
  for (t in 1:N) {
    late[t] ~ dbern(p)
    e[t] ~ dgamma(2, 1 + 4 * late[t])
    u[t] ~ dnorm(mu * late[t], 1) T(-2, 3)
    n[t] ~ dpois(e[t] * exp(u[t] / 2 + late[t]))
  }
  p ~ dbeta(2, 2)
  mu ~ dnorm(0, 1)
}
E
echo '{"N": 5, "n": [0, 2, 1, 5, 0]}' >random.json
status 0 "$GBMC" -O1 random.gbm -o random
status 0 ./random info
prints 'late, (e, u|u, e): another label is proposed'
status 0 ./random check --data random.json --quiet
status 0 ./random geweke --data random.json --device cpu --draws 4000

none() { # SED...
    sed "$@" random.gbm >other.gbm
    cmp -s random.gbm other.gbm && fail "nothing is other"
    status 0 "$GBMC" --explain other.gbm
    lacks 'another label'
}
none 's|exp(u\[t\] / 2|exp(u[1] / 2|'
none 's/u\[t\] ~ dnorm(mu \* late\[t\]/u[t] ~ dnorm(mu * late[t] * e[t]/'
none 's/1 + 4 \* late\[t\]/1 + 4 * late[N + 1 - t]/'
none 's/1 + 4 \* late\[t\]/1/; s/mu \* late\[t\]/mu/'

# where a species is at all, and in which parts, or how many there are: hardly
# seen, both hold each other
cat >parts.gbm <<'E'
model {
  for (i in 1:N) {
    z[i] ~ dbern(psi)
    for (j in 1:J) {
      a[i, j] ~ dbern(z[i] * theta)
      y[i, j] ~ dbin(a[i, j] * p, K)
    }
    w[i] ~ dbern(psi)
    n[i] ~ dpois(lambda * w[i])
    c[i] ~ dbin(p, n[i])
  }
}
E
echo '{"N": 3, "J": 4, "K": 2, "psi": 0.6, "theta": 0.97, "lambda": 9, "p": 0.1,
  "y": [[0, 0, 0, 0], [0, null, 0, null], [0, 1, 0, 0]], "c": [0, null, 1]}' >parts.json
status 0 "$GBMC" -O1 parts.gbm -o parts
status 0 ./parts info
prints 'z, a: another label is proposed'
prints 'w, n: another label is proposed'
status 0 ./parts check --data parts.json --quiet
status 0 ./parts --data parts.json --device cpu --quiet --draws 10000 --seed 1 \
    --monitor z,w --summary parts.s
cat >parts.py <<'E'
import json
from math import exp
d = json.load(open("parts.json"))
found = json.load(open("parts.s"))["parameters"]
psi, p = d["psi"], d["p"]
unseen = (1 - p)**d["K"]
for i in range(2):
    there = psi
    for y in d["y"][i]:
        there *= 1 if y is None else 1 - d["theta"] * (1 - unseen)
    many = psi * (exp(-d["lambda"] * p) if d["c"][i] == 0 else 1)
    for name, w in (f"z[{i + 1}]", there), (f"w[{i + 1}]", many):
        value = w / (w + 1 - psi)
        f = found[name]
        print(name, value, f["mean"], f["mcse"], f["ess_bulk"])
        assert abs(f["mean"] - value) < 4 * f["mcse"], name
        assert f["ess_bulk"] > 2000, name
E
status 0 python3 parts.py
device_draws_as_host parts parts.json

# of kinds, members that data leave no choice; of labels, labels that choose data
cat >kinds.gbm <<'E'
model {
  for (j in 1:N) {
    g[j] ~ dbern(0.4)
    for (i in 1:2) {
      z[j, i] ~ dbern(share[g[j] + 1])
      y[j, i] ~ dbern(0.2 + 0.5 * z[j, i])
    }
    a[j] ~ dcat(w[])
    b[j] ~ dcat(P[a[j], ])
    u[j] ~ dbern(r[b[j]])
    one[j] <- equals(a[j], 1)
  }
}
E
echo '{"N": 2, "share": [0, 1], "y": [[0, 1], [0, 0]], "w": [0.5, 0.3, 0.2],
  "P": [[0, 0.5, 0.5], [1, 0, 0], [0.5, 0.5, 0]], "r": [0.6, 0.3, 0.4], "u": [1, 0]}' >kinds.json
status 0 "$GBMC" -O1 kinds.gbm -o kinds
status 0 ./kinds check --data kinds.json --quiet
status 0 ./kinds --data kinds.json --device cpu --quiet --draws 10000 --seed 1 --monitor g,one --summary kinds.s
cat >kinds.py <<'E'
import json
from math import prod
d = json.load(open("kinds.json"))
found = json.load(open("kinds.s"))["parameters"]


def near(name, value):
    f = found[name]
    print(name, value, f["mean"], f["mcse"])
    assert abs(f["mean"] - value) < 4 * f["mcse"], name
    assert f["ess_bulk"] > 1000, name


for j in range(2):
    no, yes = (prod(p if y else 1 - p for y in d["y"][j]) for p in (0.2, 0.7))
    near(f"g[{j + 1}]", 0.4 * yes / (0.4 * yes + 0.6 * no))
    of = [w * sum(p * (r if d["u"][j] else 1 - r) for p, r in zip(row, d["r"]))
          for w, row in zip(d["w"], d["P"])]
    near(f"one[{j + 1}]", of[0] / sum(of))
E
status 0 python3 kinds.py
