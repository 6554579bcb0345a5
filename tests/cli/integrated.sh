#!/usr/bin/env bash
# Parameters of the priors of nodes that are drawn exactly, with these integrated
# out: posteriors by quadrature, where some nodes are data, data are missing and
# rows are grouped; the self-check; the joint distribution test; that they mix.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'M'
model {
  # counts of vectors, one base measure; row 3 is missing, p[2,] is data
  for (g in 1:G) {
    p[g, 1:K] ~ ddirch(c[])
    x[g, 1:K] ~ dmulti(p[g, 1:K], m[g])
  }
  for (k in 1:K) { c[k] <- alpha * base[k] }
  alpha ~ dgamma(2, 0.3)

  # rows in groups; theta[1] is data, some y are missing
  for (i in 1:N) { y[i] ~ dbern(theta[group[i]]) }
  for (j in 1:J) { theta[j] ~ dbeta(mu * kappa, (1 - mu) * kappa) }
  mu ~ dbeta(2, 2)
  kappa <- less + 2
  less ~ dgamma(2, 0.1)
  together <- kappa * theta[3]

  # a gamma's shape
  for (i in 1:M) {
    n[i] ~ dpois(lambda[i] * t[i])
    lambda[i] ~ dgamma(shape, shape / 1.5)
  }
  shape ~ dunif(0, 20)

  # categories drawn one by one
  pi[1:L] ~ ddirch(even[])
  for (l in 1:L) { even[l] <- spread / L }
  for (i in 1:S) { z[i] ~ dcat(pi[]) }
  spread ~ dexp(0.2)

  # inverse gammas
  for (i in 1:V) {
    v[i] ~ inverse_gamma(a, 3)
    r[i] ~ dnorm(0, 1 / v[i])
  }
  a ~ dgamma(4, 1)
}
M
cat >data.py <<'E'
import json
import numpy as np

r = np.random.default_rng(3)
base = np.array([0.2, 0.3, 0.5])
G, K, N, J, M, L, S, V = 12, 3, 90, 25, 20, 5, 30, 15
m = r.integers(1, 6, G)
x = [[int(k) for k in r.multinomial(m[g], r.dirichlet(5 * base))] for g in range(G)]
x[2] = [None] * K
p = [[None] * K for g in range(G)]
p[1] = [0.25, 0.25, 0.5]
group = r.integers(1, J + 1, N)
theta = r.beta(2, 5, J)
y = [int(k) for k in r.binomial(1, theta[group - 1])]
y[20:50] = [None] * 30
t = r.uniform(0.2, 2, M)
d = dict(
    G=G, K=K, m=m.tolist(), x=x, base=base.tolist(), p=p,
    N=N, J=J, group=group.tolist(), y=y, theta=[0.3] + [None] * (J - 1),
    M=M, t=t.tolist(), n=[int(k) for k in r.poisson(r.gamma(3, 0.5, M) * t)],
    L=L, S=S, z=[int(k) for k in r.integers(1, 4, S)],
    V=V, r=r.normal(size=V).tolist())
json.dump(d, open("data.json", "w"))
E
cat >compare.py <<'E'
# Posteriors by sums over fine grids, with the nodes integrated out by hand.
import json
import sys
from math import lgamma
import numpy as np

d = json.load(open("data.json"))
lg = np.vectorize(lgamma)
exact = {}


def moments(name, grid, logp):
    w = np.exp(logp - logp.max())
    w /= w.sum()
    mean = (w * grid).sum()
    exact[name] = mean, ((w * (grid - mean) ** 2).sum()) ** 0.5


def positive(to, n=6000):
    return (np.arange(n) + 0.5) * to / n


a = positive(80)
logp = np.log(a) - 0.3 * a
base = np.array(d["base"])
for g in range(d["G"]):
    if g == 1:
        logp += lg(a) + sum(-lg(a * b) + (a * b - 1) * np.log(q)
                            for b, q in zip(base, d["p"][1]))
    elif g != 2:
        logp += lg(a) - lg(a + d["m"][g]) + sum(
            lg(a * b + k) - lg(a * b) for b, k in zip(base, d["x"][g]))
moments("alpha", a, logp)

mu, less = np.meshgrid((np.arange(240) + 0.5) / 240, positive(160, 800),
                       indexing="ij")
kappa = less + 2
a, b = mu * kappa, (1 - mu) * kappa
logp = np.log(mu) + np.log(1 - mu) + np.log(less) - 0.1 * less
constant = lg(kappa[0])[None, :] - lg(a) - lg(b)
for j in range(d["J"]):
    rows = [y for y, g in zip(d["y"], d["group"]) if g == j + 1 and y is not None]
    s, n = sum(rows), len(rows)
    if j == 0:
        logp += constant + (a - 1) * np.log(0.3) + (b - 1) * np.log(0.7)
    else:
        for i in range(s):
            logp += np.log(a + i)
        for i in range(n - s):
            logp += np.log(b + i)
        for i in range(n):
            logp -= np.log(kappa + i)
    if j == 2: # kappa theta[3]: that of theta given the rest is a beta
        first = kappa * (a + s) / (kappa + n)
        second = kappa * first * (a + s + 1) / (kappa + n + 1)
w = np.exp(logp - logp.max()) / np.exp(logp - logp.max()).sum()
mean = (w * first).sum()
exact["together"] = mean, ((w * second).sum() - mean**2) ** 0.5
moments("mu", mu, logp)
moments("kappa", kappa, logp)

a = positive(20)
logp = np.zeros_like(a)
for n, t in zip(d["n"], d["t"]):
    b = a / 1.5
    logp += lg(a + n) - lg(a) + a * np.log(b) - (a + n) * np.log(b + t)
moments("shape", a, logp)

a = positive(150, 15000)
logp = -0.2 * a + lg(a) - lg(a + d["S"])
for l in range(d["L"]):
    logp += lg(a / d["L"] + d["z"].count(l + 1)) - lg(a / d["L"])
moments("spread", a, logp)

a = positive(40)
logp = 3 * np.log(a) - a
for r in d["r"]:
    logp += lg(a + 0.5) - lg(a) + a * np.log(3) - (a + 0.5) * np.log(3 + r * r / 2)
moments("a", a, logp)

found = json.load(open("summary.json"))["parameters"]
bad = 0
for name, (mean, sd) in exact.items():
    f = found[name]
    z = (f["mean"] - mean) / f["mcse"]
    print(f"{name:8} {mean:9.4f} {f['mean']:9.4f} z {z:5.2f} sd {sd:.4f} "
          f"{f['sd']:.4f} ess {f['ess_bulk']:.0f}")
    bad += not abs(z) < 4 or not abs(f["sd"] / sd - 1) < 0.08
    bad += not f["ess_bulk"] > 3000
sys.exit(bad > 0)
E
/usr/bin/env python3 data.py || fail "data.py"
status 0 "$GBMC" -O1 model.gbm -o model
status 0 "$GBMC" --explain model.gbm
for name in 'alpha .* p' 'mu .* theta' 'less .* theta' 'shape .* lambda' \
    'spread .* pi' 'a .* v'; do
    prints "${name%% *} +1 +slice, ${name##* } integrated out"
done
status 0 ./model check --data data.json --device cpu
status 0 ./model --data data.json --device cpu --draws 5000 --seed 4 \
    --summary summary.json --quiet
python3 compare.py >.out || fail "posteriors differ from quadrature"

# the nodes follow at once: other orders would fail here
status 0 ./model geweke --data data.json --device cpu --draws 4000 --seed 5

# Pieces of a stick whose concentration is often so small that they are within
# rounding of 1: given them it has lost its digits, given the labels it has not.
# How many rows have each label tells all that they say of it.
cat >stick.gbm <<'M'
model {
  for (i in 1:N) { z[i] ~ dcat(pi[])  y[i] ~ dnorm(mu[z[i]], 1) }
  for (k in 1:K) { mu[k] ~ dnorm(0, 0.04) }
  for (k in 1:(K - 1)) { v[k] ~ dbeta(1, alpha) }
  pi[1] <- v[1]
  for (k in 2:(K - 1)) { pi[k] <- v[k] * prod(1 - v[1:(k-1)]) }
  pi[K] <- prod(1 - v[1:(K-1)])
  alpha ~ dgamma(0.5, 0.5)
}
M
echo '{"N": 6, "K": 4, "y": [-3, -2.5, 0.2, 3, 3.3, null]}' >stick.json
status 0 "$GBMC" -O1 stick.gbm -o stick
status 0 "$GBMC" --explain stick.gbm
prints 'alpha +1 +slice, v integrated out'
status 0 "$GBMC" --emit=sweep stick.gbm
prints 'sum +rows by group over r'
status 0 ./stick check --data stick.json --device cpu
status 0 ./stick geweke --data stick.json --device cpu

# methods set powers between sweeps: tables of what rows give hold none
cat >few.gbm <<'M'
model {
  for (i in 1:N) { y[i] ~ dbern(theta[g[i]]) }
  for (j in 1:J) { theta[j] ~ dbeta(0.3 * k, 0.7 * k) }
  k ~ dgamma(2, 0.2)
}
M
python3 - <<'E'
import json
d = dict(N=60, J=12, g=[1 + i % 12 for i in range(60)], y=[int(i % 12 < 4) if i % 7 else 1 for i in range(60)])
json.dump(d, open("few.json", "w"))
E
cat >tempered.py <<'E'
import json
import sys
from math import lgamma, log
import numpy as np

d = json.load(open("few.json"))
k = (np.arange(40000) + 0.5) * 200 / 40000
logp = 2 * log(0.2) + np.log(k) - 0.2 * k
for j in range(12):
    rows = [y for y, g in zip(d["y"], d["g"]) if g == j + 1]
    for i in range(sum(rows)):
        logp += np.log(0.3 * k + i)
    for i in range(len(rows) - sum(rows)):
        logp += np.log(0.7 * k + i)
    for i in range(len(rows)):
        logp -= np.log(k + i)
w = np.exp(logp)
found = json.load(open("tempered.json"))["parameters"]["k"]
z = (found["mean"] - (w * k).sum() / w.sum()) / found["mcse"]
print("k", z, found["ess_bulk"])
sys.exit(not abs(z) < 4 or not found["ess_bulk"] > 1000)
E
status 0 "$GBMC" -O1 few.gbm -o few
status 0 ./few --data few.json --device cpu --method tempering --chains 8 \
    --warmup 500 --draws 1500 --monitor k --summary tempered.json --quiet
python3 tempered.py >.out || fail "the tempered posterior is another"

# A rate beside the shape is drawn given the nodes: so is the shape.
cat >rate.gbm <<'M'
model {
  for (i in 1:M) {
    n[i] ~ dpois(lambda[i] * t[i])
    lambda[i] ~ dgamma(shape, rate)
  }
  shape ~ dunif(0, 20)
  rate ~ dgamma(1, 1)
}
M
status 0 "$GBMC" --explain rate.gbm
prints 'shape +1 +slice '
grep -q 'integrated out' .out && fail "the shape goes without its rate"

# Laplace errors and coefficients: their rates are gammas without the nodes of the
# mixtures, which are drawn directly behind.
cat >laplace.gbm <<'M'
model {
  for (i in 1:N) { y[i] ~ ddexp(mu + b[g[i]], tau[g[i]]) }
  for (j in 1:2) {
    tau[j] ~ dgamma(3, 2)
    b[j] ~ ddexp(0, lambda)
  }
  lambda ~ dgamma(3, 1)
  mu ~ dnorm(0, 0.1)
}
M
echo '{"N": 7, "g": [1, 2, 1, 2, 1, 1, 2], "y": [0.3, -1, 2, null, 0.1, -4, 1]}' \
    >laplace.json
status 0 "$GBMC" -O1 laplace.gbm -o laplace
status 0 "$GBMC" --explain laplace.gbm
prints 'lambda +1 +gamma, b.v integrated out'
prints 'tau +2 +gamma, y.v integrated out'
status 0 ./laplace check --data laplace.json --device cpu
status 0 ./laplace geweke --data laplace.json --device cpu --draws 20000 --seed 3

# Scales of the same plate that several statements define: a node of the mixture
# that belongs to another statement's scale is none of this one's. One that
# belongs to it, and is forgotten, is told of.
cat >scales.gbm <<'M'
model {
  s[1] ~ half_t(6, 0.5)
  for (j in 2:2) { s[j] ~ inv_chi_square(9) }
  for (i in 1:N) {
    x[i] ~ laplace(0.2, s[g[i]])
    y[i] ~ dnorm(x[i], 1.1)
  }
}
M
echo '{"N": 5, "g": [2, 1, 2, 1, 1], "y": [-0.4, 0.3, -0.1, -0.9, 1]}' \
    >scales.json
status 0 "$GBMC" -O1 scales.gbm -o scales
status 0 "$GBMC" --explain scales.gbm
prints 's\[j\] +1 +inverse gamma, x.v integrated out'
status 0 ./scales check --data scales.json --device cpu
status 0 ./scales --data scales.json --device cpu --draws 100 --quiet
"$GBMC" --emit=c scales.gbm |
    sed '/^static double integrated_/,/^}/s/sum += /sum += 0 * /' >forgotten.c
# shellcheck disable=SC2046 # flags are words
"${CC:-cc}" -std=c11 -O0 -w -fopenmp -D_GNU_SOURCE \
    -I"$GBM_ROOT/stdlib/kernels" -I"$GBM_ROOT/runtime" forgotten.c -o forgotten \
    "$GBM_ROOT/$GBM_BUILD/libgbm.a" $(cat "$GBM_ROOT/$GBM_BUILD/link_flags") ||
    fail "forgotten.c"
status 1 ./forgotten check --data scales.json --device cpu
prints 's +power_gamma .*FAIL'
status 2 ./forgotten --data scales.json --device cpu --draws 100 --quiet

# Of two tables of the same rows and groups one moves with m: that pass must be
# made whenever m moves, though the other stays.
cat >groups.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dnorm(m, z[g[i]]) }
  for (k in 1:G) { z[k] ~ dgamma(a, a / 2) }
  m ~ dnorm(0, 0.01)
  a ~ dgamma(3, 1)
}
E
cat >groups.json <<'E'
{"N": 9, "G": 3, "g": [1, 1, 2, 2, 2, 3, 3, 1, 3],
 "y": [3.1, 5.2, 2.2, 4.1, 3.3, 9.0, 1.2, 4.4, 4.0]}
E
agrees groups.gbm groups.json

# A precision that has p integrated out, and moves with the block of its plate,
# too: there p is given.
cat >plate.gbm <<'E'
model {
  for (j in 1:3) {
    for (l in 1:3) {
      y[j,l] ~ dbern(ilogit(x[j,1] + x[j,l]))
      x[j,l] ~ dnorm(mu, tau)
    }
  }
  mu ~ dnorm(0, 1.1)
  tau ~ dexp(1)
  p ~ dbeta(tau + 1, 2.1)
  for (k in 1:3) { v[k] ~ dbern(p) }
}
E
echo '{"v": [1, 0, 1], "y": [[1, 1, 0], [0, 0, 0], [1, 0, 0]]}' >plate.json
status 0 "$GBMC" -O1 plate.gbm -o plate
status 0 ./plate info
prints 'p integrated out'
prints 'moved with x, mu too'
status 0 ./plate check --data plate.json --device cpu

# as a device computes it
device_draws_as_host model data.json
device_draws_as_host laplace laplace.json
