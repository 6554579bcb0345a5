#!/usr/bin/env bash
# Scales and means that plates read by number, as sigma[2] (sampler/carried.c), and
# the scale of a random walk's steps (sampler/carried_walk.c): posteriors by
# quadrature, where something else reads several of the elements; and effects of
# which the data say little mix, which they do not by draws in turn.
source "$GBM_ROOT/tests/cli/lib"

cat >named.gbm <<'E'
model {
  for (j in 1:2) {
    n1[j] ~ dpois(exp(u[j]))
    u[j] ~ dnorm(mu[1], 1 / sigma[1]^2)
    n2[j] ~ dpois(exp(v[j]))
    v[j] ~ dnorm(mu[2], 1 / sigma[2]^2)
  }
  for (k in 1:2) {
    mu[k] ~ dunif(-2, 1)
    sigma[k] ~ dunif(0.05, 4)
    a[k] <- log(sigma[k])
    b[k] <- mu[k]
  }
  w ~ dnorm(mu[1] + mu[2], 1 / (sigma[1]^2 + 0.1 * sigma[2]))
}
E
echo '{"n1": [4, 0], "n2": [1, 5], "w": -1.5}' >named.json
cat >walk.gbm <<'E'
model {
  for (k in 1:2) {
    x[k,1] ~ dnorm(0, 1 / (0.5 + sigma[k]^2))
    for (t in 2:3) { x[k,t] ~ dnorm(x[k,t - 1], 1 / sigma[k]^2) }
    for (t in 1:3) { y[t,k] ~ dpois(exp(x[k,t])) }
    sigma[k] ~ dunif(0.02, 3)
    a[k] <- log(sigma[k])
    b[k] <- x[k,3]
  }
}
E
echo '{"y": [[1, 0], [3, 2], [9, 1]]}' >walk.json

cat >exact.py <<'E'
import sys
from math import erf
import numpy as np

phi = np.vectorize(lambda z: 0.5 + 0.5 * erf(z / 2 ** 0.5))


def pairs(seen, log_sigma, mu):
    """The effects' likelihood for each scale and mean."""
    z = np.linspace(-6, 6, 201)
    weight = np.exp(-z ** 2 / 2) / np.exp(-z ** 2 / 2).sum()
    theta = mu[None, :, None] + np.exp(log_sigma)[:, None, None] * z
    total = 0
    for n in seen:
        total = total + np.log(np.exp(n * theta - np.exp(theta)) @ weight)
    return total + log_sigma[:, None]


def named():
    s = np.log(0.05) + np.log(80) * (np.arange(60) + 0.5) / 60
    m = -2 + 3 * (np.arange(40) + 0.5) / 40
    one, two = pairs((4, 0), s, m), pairs((1, 5), s, m)
    var = np.exp(2 * s)[:, None] + 0.1 * np.exp(s)[None, :]
    sum_ = m[:, None] + m[None, :]
    logp = (one[:, :, None, None] + two[None, None] -
            np.log(var)[:, None, :, None] / 2 -
            (-1.5 - sum_)[None, :, None, :] ** 2 / 2 / var[:, None, :, None])
    p = np.exp(logp - logp.max())
    p /= p.sum()
    return {"a.1": (s, p.sum((1, 2, 3))), "b.1": (m, p.sum((0, 2, 3))),
            "a.2": (s, p.sum((0, 1, 3))), "b.2": (m, p.sum((0, 1, 2)))}


def walk():
    s = np.log(0.02) + np.log(150) * (np.arange(60) + 0.5) / 60
    x = np.linspace(-14, 8, 441)
    edge = np.append(x - 0.025, x[-1] + 0.025)
    out = {}
    for k, y in (("1", (1, 3, 9)), ("2", (0, 2, 1))):
        rows = []
        for sd in np.exp(s):
            v = 0.5 + sd ** 2
            f = np.exp(-x ** 2 / 2 / v) / v ** 0.5
            P = np.diff(phi((edge[None, :] - x[:, None]) / sd), axis=1)
            for t, n in enumerate(y):
                f = (f @ P if t else f) * np.exp(n * x - np.exp(x))
            rows.append(sd * f) # of log sigma
        p = np.array(rows) / np.sum(rows)
        out["a." + k], out["b." + k] = (s, p.sum(1)), (x, p.sum(0))
    return out


rows = [[r for r in open(f"draws_{c}.csv") if r[0] != "#"] for c in range(1, 5)]
names = rows[0][0].strip().split(",")
draws = np.array([np.loadtxt(r[1:], delimiter=",") for r in rows])
for v, (grid, p) in globals()[sys.argv[1]]().items():
    x = draws[:, :, names.index(v)]
    for name, f in (("mean", lambda u: u), ("square", lambda u: u * u)):
        exact, parts = (p * f(grid)).sum(), f(x).reshape(80, -1).mean(axis=1)
        error = parts.std(ddof=1) / 80 ** 0.5
        z = (parts.mean() - exact) / error
        print(sys.argv[1:], v, name, exact, parts.mean(), error, z)
        assert abs(z) < 4 and error < 0.02 * (1 + abs(exact))
E
for m in named walk; do
    status 0 "$GBMC" -O 1 $m.gbm -o $m
    status 0 ./$m info
    prints 'sigma, (u|x).* scale with its plate'
    status 0 ./$m check --data $m.json --quiet
    status 0 ./$m --data $m.json --monitor a,b --quiet --chains 4 \
        --warmup 1000 --seed 1 --draws 10000 --out draws.csv
    status 0 python3 exact.py $m
done
fake_device
status 0 ./named --data named.json --monitor a,b --quiet --chains 4 \
    --warmup 1000 --seed 1 --draws 5000 --out draws.csv --device cuda
status 0 python3 exact.py named

# Counts in crossed groups, and matches of players who learn, about which little is
# known: in turn 10 to 40 effective draws of 4,000
cat >crossed.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dpois(exp(m + a[g[i]] + b[h[i]])) }
  for (j in 1:30) { a[j] ~ dnorm(0, tau[1]) }
  for (j in 1:12) { b[j] ~ dnorm(0, tau[2]) }
  for (i in 1:M) {
    q[i,1] <- exp((x[one[i],t[i]] - x[two[i],t[i]]) / 2)
    q[i,2] <- exp(tie)
    q[i,3] <- exp((x[two[i],t[i]] - x[one[i],t[i]]) / 2)
    e[i] ~ dcat(q[i,])
  }
  for (k in 1:6) {
    x[k,1] ~ dnorm(0, 2)
    for (t in 2:8) { x[k,t] ~ dnorm(x[k,t - 1], tau[3]) }
  }
  for (k in 1:3) { tau[k] <- pow(sd[k], -2); sd[k] ~ dt(0, 1, 3)T(0,) }
  m ~ dnorm(0, 0.1)
  tie ~ dnorm(0, 1)
}
E
python3 - <<'E' >crossed.json
import json
import numpy as np
r = np.random.default_rng(1)
g, h = r.integers(0, 30, 150), r.integers(0, 12, 150)
e = -0.5 + 0.2 * r.normal(size=30)[g] + 0.3 * r.normal(size=12)[h]
players = np.array([r.choice(6, 2, replace=False) for _ in range(80)])
print(json.dumps({"N": 150, "g": (g + 1).tolist(), "h": (h + 1).tolist(),
                  "y": r.poisson(np.exp(e)).tolist(), "M": 80,
                  "one": (players[:, 0] + 1).tolist(),
                  "two": (players[:, 1] + 1).tolist(),
                  "t": np.repeat(np.arange(1, 9), 10).tolist(),
                  "e": (1 + r.choice(3, 80, p=[0.4, 0.3, 0.3])).tolist()}))
E
status 0 "$GBMC" -O 1 crossed.gbm -o crossed
status 0 ./crossed --data crossed.json --quiet --summary fit.json
python3 - <<'E' || fail "scales that are read by number do not mix"
import json, sys
p = json.load(open("fit.json"))["parameters"]
for k in "123":
    print("sd", k, p[f"sd[{k}]"]["ess_bulk"])
sys.exit(any(p[f"sd[{k}]"]["ess_bulk"] < 80 for k in "123"))
E
