#!/usr/bin/env bash
# Log likelihoods of observations and their deviance, recomputed from the draws:
# of scalars, of which some are missing, of vectors (along either dimension of
# their array), of counts, of scalars by name; in each format, on a device, and
# after a resumed run.
source "$GBM_ROOT/tests/cli/lib"
export PYTHONPATH=$GBM_ROOT/tests/cli

cat >model.gbm <<'E'
data { for (j in 1:2) { z[j] ~ dnorm(0, 1) } }
model {
  for (i in 1:5) { y[i] ~ dnorm(mu[i], tau) T(0, ) }
  for (i in 1:5) { mu[i] <- a + b * x[i] }
  for (i in 1:3) { u[i,1:2] ~ dmnorm(m[], Q[,]) }
  for (i in 1:3) { w[1:2,i] ~ dmnorm(m[], Q[,]) }
  n[1:3] ~ dmulti(p[], 10)
  p[1:3] ~ ddirch(one[])
  k1 ~ dpois(exp(b))
  for (j in 1:2) { m[j] ~ dnorm(a, 1) }
  Q[1,1] <- tau  Q[2,2] <- tau  Q[1,2] <- 0  Q[2,1] <- 0
  a ~ dnorm(0, 0.1)
  b ~ dnorm(0, 0.1)
  tau ~ dgamma(2, 2)
  new ~ dpois(3)
}
E
cat >data.json <<'E'
{"x": [1, 2, 3, 4, 5], "y": [1.1, null, 2.7, 4.2, 0.3], "one": [1, 1, 1],
 "u": [[1, 2], [0, 1], [1, null]], "w": [[0, 1, null], [2, 1, null]],
 "n": [2, 5, 3], "k1": 2}
E
cat >check.py <<'E'
"""check(draws): draws is [{name: value or list}], with log likelihoods and the
deviance; those are what the model says."""
from math import erf, exp, lgamma, log, pi, sqrt

y, x = [1.1, None, 2.7, 4.2, 0.3], [1, 2, 3, 4, 5]
u, w = [[1, 2], [0, 1]], [[0, 2], [1, 1]]
n = [2, 5, 3]


def normal(v, mean, tau):
    return 0.5 * log(tau / (2 * pi)) - tau / 2 * (v - mean) ** 2


def truncated(v, mean, tau):
    return normal(v, mean, tau) - log(0.5 * (1 + erf(mean * sqrt(tau / 2))))


def log_lik(d):
    pair = lambda v: sum(normal(v[j], d["m"][j], d["tau"]) for j in (0, 1))
    return {
        "y": [truncated(y[i], d["a"] + d["b"] * x[i], d["tau"])
              for i in (0, 2, 3, 4)],
        "u": [pair(v) for v in u],
        "w": [pair(v) for v in w],
        "n": [lgamma(11) - sum(lgamma(c + 1) for c in n)
              + sum(c * log(q) for c, q in zip(n, d["p"]))],
        "k1": [2 * d["b"] - exp(d["b"]) - lgamma(3)]}


def near(a, b):
    return abs(a - b) <= 1e-6 * (1 + abs(b))


def deviance(d):
    return -2 * sum(map(sum, log_lik(d).values()))
E
status 0 "$GBMC" -O 0 model.gbm -o model
go() {
    status 0 ./model --data data.json --warmup 20 --thin 3 --draws 60 \
        --chains 2 --seed 4 --log-lik --monitor all,deviance "$@"
}
go --device cpu --out fit.nc --summary fit.json
says 'note: --monitor deviance leaves out 1 node .* \(u\[3,1:2\]\)'
python3 - <<'E' || fail "netCDF"
import netcdf
from check import *
f = netcdf.read("fit.nc")
p, l = f["posterior"], f["log_likelihood"]
own = {v: s for v, (s, _) in l.items() if v not in s}
both = {"chain": 2, "draw": 20}
assert own == {"y": dict(both, y_dim_0=4), "u": dict(both, u_dim_0=2),
               "w": dict(both, w_dim_0=2), "n": both, "k1": both}, own
assert l["y_dim_0"][1] == [0, 2, 3, 4]
assert "log_lik" not in p and p["deviance"][0] == both
for i in range(40):
    at = lambda g, v: g[v][1][i * len(g[v][1]) // 40:(i + 1) *
                              len(g[v][1]) // 40]
    d = {v: at(p, v) if len(at(p, v)) > 1 else at(p, v)[0]
         for v in ("a", "b", "tau", "m", "p")}
    for v, values in log_lik(d).items():
        assert all(map(near, at(l, v), values)) and len(at(l, v)) == len(
            values), (v, at(l, v), values)
    assert near(at(p, "deviance")[0], deviance(d))

# DIC: the deviance at the means of the random nodes
import json
mean = lambda v, k, n: sum(p[v][1][k::n]) / 40
d = {v: [mean(v, k, n) for k in range(n)] if n > 1 else mean(v, 0, 1)
     for v, n in (("a", 1), ("b", 1), ("tau", 1), ("m", 2), ("p", 3))}
s = json.load(open("fit.json"))
assert near(s["dic"]["mean_deviance"], mean("deviance", 0, 1))
assert near(s["dic"]["pd"], mean("deviance", 0, 1) - deviance(d))
assert near(s["dic"]["dic"], s["dic"]["mean_deviance"] + s["dic"]["pd"])
seen = s["loo"]["observations"]
assert sorted(seen) == sorted(
    "y[1] y[3] y[4] y[5] u[1] u[2] w[1] w[2] n k1".split()), seen
assert near(s["loo"]["elpd"], sum(o["elpd"] for o in seen.values()))
E
prints '^Penalized deviance \(DIC\): '
prints '^elpd_loo '
status 0 ./model summary fit.nc --quiet --summary again.json
python3 - <<'E' || fail "read back"
import json
a, b = (json.load(open(f + ".json")) for f in ("fit", "again"))
assert all(a[k] == b[k] for k in ("dic", "loo", "waic", "parameters"))
E
go --device cpu --quiet --out fit.csv --digits 12
go --device cpu --quiet --out fit --format coda --digits 12
python3 - <<'E' || fail "text formats"
import netcdf
f = netcdf.read("fit.nc")
rows = [l.split(",") for l in open("fit_2.csv") if l[0] != "#"]
head, rows = [h.strip() for h in rows[0]], [list(map(float, r))
                                            for r in rows[1:]]
lik = [c for c in head if c.startswith("log_lik")]
assert lik == [f"log_lik.{i}" for i in range(1, 11)], lik
for i, r in enumerate(rows):
    d = r[head.index("deviance")]
    assert abs(d - f["posterior"]["deviance"][1][20 + i]) < 1e-6
    assert abs(d + 2 * sum(r[head.index(c)] for c in lik)) < 1e-6
place = [l.split() for l in open("fitindex.txt")]
assert not [p for p in place if p[0].startswith("log_lik")]
first, last = next((int(p[1]), int(p[2])) for p in place
                   if p[0] == "deviance")
coda = [float(l.split()[1]) for l in open("fitchain2.txt")][first - 1:last]
assert coda == [r[head.index("deviance")] for r in rows]
E

# Draws do not depend on it; a run that is resumed, and one by other threads,
# are the same.
go --device cpu --quiet --out whole.nc
status 0 ./model --data data.json --warmup 20 --thin 3 --draws 30 --chains 2 \
    --seed 4 --log-lik --monitor all,deviance --device cpu --quiet \
    --checkpoint half
status 0 ./model --data data.json --draws 60 --resume half --device cpu \
    --quiet --out rest.nc --threads 2 --summary rest.json
status 0 ./model --data data.json --warmup 20 --thin 3 --draws 60 --chains 2 \
    --seed 4 --monitor all --device cpu --quiet --out plain.nc
python3 - <<'E' || fail "resumed"
import netcdf
a, b, c = (netcdf.read(f + ".nc") for f in ("whole", "rest", "plain"))
kept = {"posterior", "log_likelihood"}
assert all(a[g] == b[g] for g in kept)
import json
assert json.load(open("rest.json"))["dic"] == json.load(open("fit.json"))["dic"]
assert all(a["posterior"][v] == x for v, x in c["posterior"].items())
assert "log_likelihood" not in c
E

# What cannot be.
status 1 ./model simulate --data data.json --monitor deviance
says '--monitor deviance is for run'
status 1 ./model simulate --data data.json --log-lik
says '--log-lik is an option of run'
echo '{"x": [1, 2, 3, 4, 5], "one": [1, 1, 1]}' >none.json
status 1 ./model --data none.json --log-lik
says '--log-lik: no node is observed'
status 1 ./model --data data.json --monitor deviant
says 'no such variable'

# What a sweep keeps up to date follows the means, too.
cat >kept.gbm <<'E'
model {
  v[1] <- a
  for (t in 2:6) { v[t] <- sin(a * v[t-1]) + b }
  for (t in 1:6) { y[t] ~ dnorm(v[t], 4) }
  a ~ dunif(0, 3)
  b ~ dnorm(0, 1)
}
E
echo '{"y": [0.9, 0.2, 0.4, 0.5, 0.4, 0.6]}' >v.json
status 0 "$GBMC" -O 0 kept.gbm -o kept
status 0 ./kept --data v.json --monitor all,deviance --quiet --draws 200 \
    --summary v_fit.json
python3 - <<'E' || fail "deviance at the means of what derived nodes follow"
import json
from math import log, pi, sin
s = json.load(open("v_fit.json"))
a, b = (s["parameters"][k]["mean"] for k in ("a", "b"))
v, d = a, 0
for y in json.load(open("v.json"))["y"]:
    d -= log(4 / (2 * pi)) - 4 * (y - v) ** 2
    v = sin(a * v) + b
assert abs(s["dic"]["mean_deviance"] - s["dic"]["pd"] - d) < 1e-6, (s["dic"], d)
E

# Scalars by name, which the compiler gathers into an array.
{
    echo 'model { mu ~ dnorm(0, 0.1)'
    for i in 1 2 3 4 5 6 7 8 9; do echo "  y$i ~ dnorm(mu, 1)"; done
    echo '}'
} >names.gbm
echo '{"y1": 1, "y2": 2, "y3": 0, "y5": 1, "y6": 3, "y7": 1, "y8": 2, "y9": 0}' \
    >names.json
status 0 "$GBMC" -O 0 names.gbm -o names
status 0 ./names --data names.json --log-lik --monitor deviance --quiet \
    --draws 50 --summary names_fit.json
python3 -c '
import json
s = json.load(open("names_fit.json"))
assert list(s["loo"]["observations"]) == ["y1", "y2", "y3", "y5", "y6", "y7",
                                          "y8", "y9"]' || fail "scalars"

# Discrete random nodes have no mean.
cat >mixed.gbm <<'E'
model {
  for (i in 1:3) { y[i] ~ dnorm(mu[z[i]], 1)  z[i] ~ dcat(p[]) }
  mu[1] <- 0  mu[2] <- 3  p[1] <- 0.5  p[2] <- 0.5
}
E
echo '{"y": [0, 1, 3]}' >y.json
status 0 "$GBMC" -O 0 mixed.gbm -o mixed
status 0 ./mixed --data y.json --monitor all,deviance --summary m.json
prints '^pD is not known: random nodes are discrete'
python3 -c '
import json
d = json.load(open("m.json"))["dic"]
assert d["pd"] is None and d["dic"] is None and d["pv"] > 0' || fail "discrete"

# A node of that name is a node.
echo 'model { y ~ dnorm(deviance, 1)  deviance ~ dnorm(0, 1) }' >own.gbm
echo '{"y": 100}' >y.json
status 0 "$GBMC" -O 0 own.gbm -o own
status 0 ./own --data y.json --monitor deviance --quiet --summary own.json
python3 -c '
import json
m = json.load(open("own.json"))["parameters"]["deviance"]["mean"]
assert 49 < m < 51, m' || fail "a node called deviance"
