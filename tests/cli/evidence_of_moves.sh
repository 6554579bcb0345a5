#!/usr/bin/env bash
# Moves beside the draws of one node at a time, in a sampler with powers: models of
# which each has one such move and an evidence that is a sum or an integral on a
# grid. Tempering and smc find it, with honest errors; full conditionals are right
# at the powers 1, 0.3 and 0, and so is the joint distribution; what a particle
# holds (indices, tables, sums) is that of its state after swaps and resampling.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm # waits for no disk
source "$GBM_ROOT/tests/cli/lib"
export PYTHONPATH=$GBM_ROOT/tests/cli

# one number with what stands beside it in its likelihood integrated out
cat >child.gbm <<'M'
model {
  for (i in 1:5) { x[i] ~ dbin(theta, n) }
  theta ~ dbeta(2, 2)
  n ~ dpois(30)
}
M
echo '{"x": [16, 18, 22, 25, 27]}' >child.json
# components of a mixture trade places
cat >trade.gbm <<'M'
model {
  for (i in 1:N) { z[i] ~ dcat(w[])  y[i] ~ dnorm(mu[z[i]], 1) }
  for (k in 1:2) { mu[k] ~ dnorm(m[k], t[k]) }
  w[1:2] ~ ddirch(a[])
}
M
echo '{"N": 6, "a": [1, 2], "m": [-0.6, 0.5], "t": [0.05, 0.1],
      "y": [-4, -5, -4.5, 3, 3.5, 4]}' >trade.json
# components trade places, split and join
cat >split.gbm <<'M'
model {
  for (i in 1:N) { z[i] ~ dcat(pi[])  y[i] ~ dnorm(mu[z[i]], 1) }
  for (k in 1:K) { mu[k] ~ dnorm(0, 0.1) }
  for (k in 1:(K - 1)) { v[k] ~ dbeta(a, alpha) }
  left[1] <- 1
  for (k in 1:(K - 1)) { pi[k] <- v[k] * left[k]  left[k+1] <- left[k] * (1 - v[k]) }
  pi[K] <- left[K]
  alpha ~ dgamma(2, 1)
}
M
echo '{"N": 6, "K": 3, "a": 1.5, "y": [-1.5, -0.8, -1.9, 1.4, 2.4, 1.1]}' >split.json
# neighbouring 0s and 1s exchange their values
cat >spikes.gbm <<'M'
model {
  for (t in 2:8) { s[t] ~ dbern(0.2)  c[t] <- 0.85 * c[t-1] + s[t] }
  c[1] <- 0
  for (t in 1:8) { y[t] ~ dnorm(c[t], 8) }
}
M
echo '{"y": [0.05, -0.1, 0.5, 0.9, 0.75, 0.7, 0.6, 0.5]}' >spikes.json
# a plate moves with the scale and the mean of its prior
cat >carried.gbm <<'M'
model {
  for (j in 1:3) { n[j] ~ dpois(exp(theta[j]))  theta[j] ~ dnorm(mu, 1 / sigma^2) }
  mu ~ dnorm(0, 1)
  sigma ~ dunif(0.1, 2)
}
M
echo '{"n": [4, 0, 2]}' >carried.json
# effects are drawn, and scaled, with their sums held
cat >held.gbm <<'M'
model {
  for (g in 1:3) {
    for (n in 1:2) { y[g,n] ~ dpois(exp(eps[g,n] + b[g]))  eps[g,n] ~ dnorm(0, gamma) }
    b[g] ~ dnorm(0, tau)
  }
  gamma ~ dgamma(4, 2)
  tau ~ dgamma(3, 2)
}
M
echo '{"y": [[1, 3], [0, 2], [4, 1]]}' >held.json
# a prior's parameter with the nodes integrated out
cat >inner.gbm <<'M'
model {
  for (i in 1:8) { y[i] ~ dbern(theta[g[i]]) }
  for (j in 1:4) { theta[j] ~ dbeta(0.3 * k, 0.7 * k) }
  k ~ dgamma(2, 0.2)
}
M
echo '{"g": [1, 1, 2, 2, 3, 3, 4, 4], "y": [1, 1, 0, 1, 0, 0, 0, 0]}' >inner.json
# a product stays while its parts are scaled
cat >opposite.gbm <<'M'
model {
  for (i in 1:4) { y[i] ~ dnorm(l * f[i], 4)  f[i] ~ dnorm(0, 1) }
  l ~ dnorm(0.5, 1)
}
M
echo '{"y": [0.8, -1.2, 0.5, 1.9]}' >opposite.json

cat >exact.py <<'E'
# exact.py NAME SUMMARY...: each within four stated errors of what is exact, and
# the mean square of these z is 1, by chi-square at 0.0001 on either side.
import itertools
import json
import sys
from math import comb, lgamma, log, pi

import numpy as np

import labellings

name = sys.argv[1]
d = json.load(open(name + ".json"))


def log_sum(x):
    x = np.asarray(x, float).ravel()
    return x.max() + log(np.exp(x - x.max()).sum())


def lbeta(a, b):
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def normals(x, m, t):
    """x ~ dnorm(mu, 1), mu ~ dnorm(m, t), mu integrated out"""
    n, p = len(x), t + len(x)
    centre = (t * m + sum(x)) / p
    squares = t * m * m + sum(v * v for v in x) - p * centre**2
    return 0.5 * (log(t / p) - n * log(2 * pi) - squares)


def counts(n, mean, sd):
    """n ~ dpois(exp(x)), x normal, integrated out by Gauss and Hermite"""
    at, w = np.polynomial.hermite_e.hermegauss(60)
    x = mean[..., None] + sd * at
    return np.log((w / w.sum() * np.exp(n * x - np.exp(x) - lgamma(n + 1))).sum(-1))


def child():
    x = d["x"]
    return log_sum([n * log(30) - 30 - lgamma(n + 1) - lbeta(2, 2)
                    + sum(log(comb(n, v)) for v in x)
                    + lbeta(2 + sum(x), 2 + 5 * n - sum(x))
                    for n in range(max(x), 400)])


def trade():
    a, terms = d["a"], []
    for z in itertools.product((0, 1), repeat=d["N"]):
        terms.append(lbeta(*(a[k] + z.count(k) for k in (0, 1))) - lbeta(*a))
        terms[-1] += sum(normals([v for v, c in zip(d["y"], z) if c == k],
                                 d["m"][k], d["t"][k]) for k in (0, 1))
    return log_sum(terms)


def split():
    n, terms = d["N"], []
    alpha = (np.arange(2000) + 0.5) * 20 / 2000
    sticks = labellings.sticks(d["a"], alpha, n)
    for z in itertools.product(range(d["K"]), repeat=n):
        members = [tuple(i for i in range(n) if z[i] == k) for k in range(d["K"])]
        terms.append(np.log(alpha) - alpha + sticks(members) + sum(
            normals([d["y"][i] for i in rows], 0, 0.1) for rows in members))
    return log_sum(terms) + log(20 / 2000)


def spikes():
    terms = []
    for s in itertools.product((0, 1), repeat=7):
        c, lp = 0, 0
        for t, y in enumerate(d["y"]):
            if t:
                c = 0.85 * c + s[t - 1]
                lp += log(0.2 if s[t - 1] else 0.8)
            lp += 0.5 * log(4 / pi) - 4 * (y - c)**2
        terms.append(lp)
    return log_sum(terms)


def carried():
    m, total = np.linspace(-6, 6, 201), []
    for sigma in 0.1 + 1.9 * (np.arange(100) + 0.5) / 100:
        total.append(-0.5 * m * m - 0.5 * log(2 * pi)
                     + sum(counts(n, m, sigma) for n in d["n"]))
    return log_sum(total) + log((m[1] - m[0]) / 100)


def held():
    def gamma(shape, rate):
        g = np.exp(np.linspace(-5, 2.8, 80))
        return zip(g, shape * np.log(rate * g) - lgamma(shape) - rate * g)

    b, step, terms = np.linspace(-8, 8, 321), 7.8 / 79, []
    for precision, lp in gamma(4, 2):
        rows = [sum(counts(v, b, precision**-0.5) for v in row) for row in d["y"]]
        for tau, prior in gamma(3, 2):
            normal = 0.5 * log(tau / 2 / pi) - 0.5 * tau * b * b
            terms.append(lp + prior + sum(log_sum(row + normal) for row in rows))
    return log_sum(terms) + 2 * log(step) + 3 * log(b[1] - b[0])


def inner():
    k = (np.arange(40000) + 0.5) * 200 / 40000
    lp = 2 * log(0.2) + np.log(k) - 0.2 * k
    for j in range(1, 5):
        rows = [y for y, g in zip(d["y"], d["g"]) if g == j]
        for i in range(sum(rows)):
            lp += np.log(0.3 * k + i)
        for i in range(len(rows) - sum(rows)):
            lp += np.log(0.7 * k + i)
        for i in range(len(rows)):
            lp -= np.log(k + i)
    return log_sum(lp) + log(200 / 40000)


def opposite():
    l = np.linspace(-8, 9, 20001)
    v = 0.25 + l * l
    lp = -0.5 * (l - 0.5)**2 - 0.5 * log(2 * pi)
    for y in d["y"]:
        lp = lp - 0.5 * np.log(2 * pi * v) - 0.5 * y * y / v
    return log_sum(lp) + log(l[1] - l[0])


exact, zs = globals()[name](), []
for f in sys.argv[2:]:
    e = json.load(open(f))["log_evidence"]
    zs.append((e["value"] - exact) / e["se"])
    assert e["se"] < 0.25, e
n, square = len(zs), sum(z * z for z in zs) / len(zs)
low, high = (max(1 - 2 / 9 / n + x * (2 / 9 / n)**0.5, 0)**3
             for x in (-3.72, 3.72))  # Wilson and Hilferty
print(f"{name}: {exact:.4f}, largest z {max(map(abs, zs)):.2f}, mean square "
      f"{square:.2f} within {low:.2f} and {high:.2f}")
sys.exit(not (max(map(abs, zs)) < 4 and low < square < high))
E

# move NAME PATTERN: the sampler with powers has what PATTERN says; all of the above
move() {
    local name=$1 method run
    status 0 "$GBMC" --with=powers --explain "$name.gbm"
    "$GBMC" --with=powers --emit=c "$name.gbm" >>.out
    prints "$2"
    status 0 "$GBMC" -O1 --with=powers "$name.gbm" -o "$name"
    run=(--data "$name.json" --device cpu --threads 1)
    status 0 "./$name" check "${run[@]}"
    status 0 "./$name" geweke "${run[@]}" --draws 1000 --seed 2
    for method in 'tempering --replicas 6 --draws 800 --warmup 300' \
        'smc --particles 400'; do
        # shellcheck disable=SC2086 # words
        GBM_HELD=1 status 0 "./$name" "${run[@]}" --quiet --chains 2 \
            --method $method
        if grep -q behind .err; then fail "$name, $method: old values"; fi
        for seed in 1 2 3 4 5 6 7 8 9 10; do
            # shellcheck disable=SC2086 # words
            status 0 "./$name" "${run[@]}" --quiet --no-check --chains 2 \
                --method $method --seed $seed --summary "$seed.s"
        done
        python3 exact.py "$name" [0-9]*.s >.out || fail "$name, $method"
    done
}
move child 'n .* slice, theta integrated out'
move trade 'z, w, mu .* components trade places'
move split 'propose_split_mu'
move spikes 'cell_of_s'
move carried 'sigma, theta .* scale with its plate'
move held 'tau, b, eps .* scale, sums with eps held'
move inner 'k .* slice, theta integrated out'
move opposite 'f, l .* opposite scales'
