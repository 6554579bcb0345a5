#!/usr/bin/env bash
# 0s and 1s that hold each other exchange their values: a spike may be a step
# earlier, an effect that of another covariate, where both and neither are
# improbable. Who is there once, up to when, has no state between that is possible
# one way, where there is one the other way. Of sets of two out of six both ways
# are impossible. The posterior against all states summed up; what data give stays.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'M'
model {
  for (t in 2:T) {
    s[t] ~ dbern(0.1)
    c[t] <- 0.85 * c[t-1] + s[t]
  }
  c[1] <- 0
  for (t in 1:T) { y[t] ~ dnorm(c[t], 60) }
  for (i in 1:n) { z[i] ~ dnorm(inprod(X[i,], g[]), 50) }
  for (j in 1:p) { g[j] ~ dbern(q) }
  q ~ dbeta(2, 3)
  a[1] ~ dbern(come[1])
  for (t in 2:5) {
    not[t-1] <- 1 - a[t-1]
    a[t] ~ dbern(0.6 * a[t-1] + come[t] * prod(not[1:(t-1)]))
  }
  for (t in 1:5) { u[t] ~ dnorm(a[t], 0.5) }
  for (b in 1:3) {
    for (j in 1:6) { e[b,j] ~ dbern(share[j]) }
    two[b] ~ dbern(equals(sum(e[b,]), 2))
    for (i in 1:2) { v[b,i] ~ dnorm(inprod(e[b,], X[i,1:6]), 2) }
  }
}
M
cat >data.py <<'E2'
import json
import random

random.seed(3)
X = [[random.gauss(0, 1) for _ in range(7)] for _ in range(12)]
for x in X:
    x[6] = x[1] + 0.02 * random.gauss(0, 1)
    x[3] = x[1] + 0.02 * random.gauss(0, 1)
z = [x[1] + x[2] + 0.1 * random.gauss(0, 1) for x in X]
json.dump(dict(T=8, y=[0.05, -0.1, 0.5, 0.9, 0.75, 0.7, 0.6, 0.5],
               s=[None] * 7 + [0], n=12, p=7, X=X, z=z,
               g=[None] * 3 + [0] + [None] * 3, u=[0.2, 0.4, 0.5, 0.7, 0.6],
               come=[0.3, 0.4, 0.4, 0.5, 1],
               share=[0.2, 0.3, 0.4, 0.5, 0.6, 0.3], two=[1, 1, 1],
               v=[[0.5, -1.2], [0.9, 0.1], [None, 0.6]]), open("data.json", "w"))
E2
cat >compare.py <<'E2'
import itertools
import json
import math

d = json.load(open("data.json"))
fit = json.load(open("fit.json"))["parameters"]


def marginals(n, given, log_density):
    total, mean = 0, [0] * n
    for v in itertools.product([0, 1], repeat=n):
        if all(v[i] == x for i, x in given.items()):
            w = math.exp(log_density(v))
            total += w
            mean = [m + w * x for m, x in zip(mean, v)]
    return [m / total for m in mean]


def spikes(s):
    c, lp = 0, 0
    for t in range(d["T"]):
        if t:
            c = 0.85 * c + s[t - 1]
            lp += math.log(0.1 if s[t - 1] else 0.9)
        lp -= 30 * (d["y"][t] - c) ** 2
    return lp


def effects(g):
    k = sum(g)  # q is integrated out
    lp = math.lgamma(2 + k) + math.lgamma(3 + len(g) - k)
    for x, z in zip(d["X"], d["z"]):
        lp -= 25 * (z - sum(a * b for a, b in zip(x, g))) ** 2
    return lp


def stays(a):
    lp, come = 0, 1
    for t in range(5):
        p = (0.6 if t and a[t - 1] else 0) + d["come"][t] * come
        p = p if a[t] else 1 - p
        lp += math.log(p) if p > 0 else -math.inf
        come *= 1 - a[t]
        lp -= 0.25 * (d["u"][t] - a[t]) ** 2
    return lp


def pair(b):
    def log_density(e):
        if sum(e) != 2:
            return -math.inf
        lp = sum(math.log(p if x else 1 - p) for p, x in zip(d["share"], e))
        for v, x in zip(d["v"][b], d["X"]):
            if v is not None:
                lp -= (v - sum(x[j] * e[j] for j in range(6))) ** 2
        return lp
    return log_density


want = {f"s[{t + 2}]": m
        for t, m in enumerate(marginals(7, {6: 0}, spikes))}
want.update({f"g[{j + 1}]": m
             for j, m in enumerate(marginals(7, {3: 0}, effects))})
apart = [name for name, m in want.items() if 0.2 < m < 0.8]
assert len(apart) == 4, want
want.update({f"a[{t + 1}]": m for t, m in enumerate(marginals(5, {}, stays))})
for b in range(3):
    want.update({f"e[{b + 1},{j + 1}]": m
                 for j, m in enumerate(marginals(6, {}, pair(b)))})
for name, m in want.items():
    if name not in fit:  # what data give
        continue
    f = fit[name]
    if abs(f["mean"] - m) > (0.02 if name[0] in "ae" else 0.06):
        print(f"{name}: {f['mean']} and not {m}")
    if name in apart and not (f["rhat"] or 2) <= 1.02:
        print(f"{name}: R-hat {f['rhat']}")
E2
python3 data.py || fail data
status 0 "$GBMC" model.gbm -o model
status 0 ./model check --data data.json
status 0 ./model --data data.json --monitor s,g,a,e --quiet --draws 4000 \
    --summary fit.json
python3 compare.py >log || fail compare
[ ! -s log ] || fail "$(cat log)"

# the same condition by two
sed 's/equals(sum(e\[b,\]), 2)/step(sum(e[b,]) - 2) * step(2 - sum(e[b,]))/' \
    model.gbm >steps.gbm
cmp -s model.gbm steps.gbm && fail "nothing is other"
status 0 "$GBMC" -O1 steps.gbm -o steps
status 0 ./steps --data data.json --monitor s,g,a,e --quiet --draws 4000 \
    --summary fit.json
python3 compare.py >log || fail compare
[ ! -s log ] || fail "$(cat log)"

device_draws_as_host model data.json
