#!/usr/bin/env bash
# A plate moves with the scale and the mean of its prior (sampler/carried.c):
# posteriors of few effects, where a wrong Jacobian or a term left out shows, by
# quadrature; normal data, of which one pass tells the line, and counts, which are
# evaluated along it, where the nodes are read elsewhere too; effects between
# bounds, where what these leave out of the prior counts; columns of effects,
# each with a mean and a scale of its own. And effects of which
# the data say little mix, which they do not by draws in turn.
source "$GBM_ROOT/tests/cli/lib"

cat >normal.gbm <<'E'
model {
  for (j in 1:J) {
    y[j] ~ dnorm(theta[j], 0.25)
    theta[j] ~ dnorm(mu + slope * x[j], tau)
  }
  mu ~ dnorm(0, 0.1)
  slope ~ dnorm(0, 0.5)
  tau ~ dgamma(1.5, 1)
  a <- log(tau)
  b <- mu
}
E
echo '{"J": 3, "y": [1.5, -2, 4], "x": [-1, 0.5, 1]}' >normal.json
cat >counts.gbm <<'E'
model {
  for (j in 1:J) {
    n[j] ~ dpois(exp(theta[j]))
    theta[j] ~ dnorm(mu, 1 / sigma^2)
  }
  w ~ dnorm(mu, 1 / (sigma^2 + 0.1))
  mu ~ dunif(-2, 1)
  sigma ~ dt(0, 1, 1)T(0,)
  a <- log(sigma)
  b <- mu
}
E
echo '{"J": 2, "n": [4, 0], "w": 0.3}' >counts.json
cat >bounds.gbm <<'E'
model {
  for (j in 1:J) {
    y[j] ~ dnorm(theta[j], 1)
    theta[j] ~ dnorm(mu, 1 / sigma^2) T(0, 4)
  }
  mu ~ dnorm(0, 0.25)
  sigma ~ dunif(0.1, 3)
  a <- log(sigma)
  b <- mu
}
E
echo '{"J": 3, "y": [0.5, -1, 4.5]}' >bounds.json

cat >columns.gbm <<'E'
model {
  for (k in 1:2) {
    for (j in 1:J) {
      n[j,k] ~ dpois(exp(theta[j,k]))
      theta[j,k] ~ dnorm(mu[k], 1 / sigma[k]^2)
    }
    w[k] ~ dnorm(mu[k], 1 / (sigma[k]^2 + 0.1))
    mu[k] ~ dunif(-2, 1)
    sigma[k] ~ dt(0, 1, 1)T(0,)
  }
  for (k in 1:2) { a[k] <- log(sigma[k]) }
  for (k in 1:2) { b[k] <- mu[k] }
}
E
echo '{"J": 2, "n": [[4, 1], [0, 5]], "w": [0.3, -0.8]}' >columns.json
# the index of the mean is the outer one, and the likelihood's loops have other
# names and another order
cat >rows.gbm <<'E'
model {
  for (k in 1:2) {
    for (j in 1:J) { theta[k,j] ~ dnorm(mu[k], 1 / sigma[k]^2) }
    w[k] ~ dnorm(mu[k], 1 / (sigma[k]^2 + 0.1))
    mu[k] ~ dunif(-2, 1)
  }
  for (i in 1:J) { for (r in 1:2) { n[i,r] ~ dpois(exp(theta[r,i])) } }
  for (k in 1:2) { sigma[k] ~ dt(0, 1, 1)T(0,) }
  for (k in 1:2) { a[k] <- log(sigma[k]) }
  for (k in 1:2) { b[k] <- mu[k] }
}
E
cp columns.json rows.json

cat >between.gbm <<'E'
model {
  for (k in 1:2) {
    for (j in 1:J) {
      y[j,k] ~ dnorm(theta[j,k], 1)
      theta[j,k] ~ dnorm(mu[k], 1 / sigma[k]^2) T(0, 4)
    }
    mu[k] ~ dnorm(0, 0.25)
    sigma[k] ~ dunif(0.1, 3)
  }
  a <- log(sigma[2])
  b <- mu[2]
}
E
echo '{"J": 3, "y": [[3, 0.5], [2, -1], [7, 4.5]]}' >between.json

cat >exact.py <<'E'
import sys
import numpy as np


def normal():
    y, x = np.array([1.5, -2, 4]), np.array([-1, 0.5, 1])
    t, m = np.linspace(-9, 6, 901), np.linspace(-16, 16, 801)
    T, M = np.meshgrid(t, m, indexing="ij")
    logp = 1.5 * T - np.exp(T) - 0.05 * M ** 2
    for i, tau in enumerate(np.exp(t)): # slope integrated out
        V = np.diag(np.full(3, 4 + 1 / tau)) + np.outer(x, x) / 0.5
        r = y[None, :] - m[:, None]
        logp[i] -= (r @ np.linalg.inv(V) * r).sum(1) / 2
        logp[i] -= np.linalg.slogdet(V)[1] / 2
    return T, M, logp


def counts(seen=(4, 0), w=0.3):
    s, m = np.linspace(-14, 10, 721), np.linspace(-2, 1, 301)
    T, M = np.meshgrid(s, m, indexing="ij")
    sd = np.exp(T)
    v = sd ** 2 + 0.1
    logp = T - np.log1p(sd ** 2) - np.log(v) / 2 - (w - M) ** 2 / (2 * v)
    z = np.linspace(-8.5, 8.5, 601)
    weight = np.exp(-z ** 2 / 2) / np.exp(-z ** 2 / 2).sum()
    for n in seen:
        like = np.zeros_like(M)
        for k in range(len(z)):
            theta = np.clip(M + sd * z[k], -700, 30)
            like += weight[k] * np.exp(n * theta - np.exp(theta))
        logp += np.log(like + 1e-300)
    return T, M, logp


def bounds():
    s = np.log(0.1) + np.log(30) * (np.arange(160) + 0.5) / 160
    m = np.linspace(-10, 10, 401)
    T, M = np.meshgrid(s, m, indexing="ij")
    logp = T - 0.125 * M ** 2
    theta = (np.arange(400) + 0.5) / 100
    like = np.exp(-(np.array([[0.5], [-1], [4.5]]) - theta) ** 2 / 2)
    for i, sd in enumerate(np.exp(s)):
        log_prior = -((theta - m[:, None]) / sd) ** 2 / 2
        prior = np.exp(log_prior - log_prior.max(1, keepdims=True))
        logp[i] += np.log(prior @ like.T / prior.sum(1, keepdims=True)).sum(1)
    return T, M, logp


column = sys.argv[3] if len(sys.argv) > 3 else ""
T, M, logp = {"normal": normal, "counts": counts, "bounds": bounds,
              "between": bounds,
              ".2": lambda: counts((1, 5), -0.8),
              ".1": counts}[column or sys.argv[1]]()
w = np.exp(logp - logp.max())
w[:, [0, -1]] /= 2 # trapezoids: mu of the counts ends where it has density
w /= w.sum()
draws = []
for c in range(1, 5):
    rows = [r for r in open(f"draws_{c}.csv") if r[0] != "#"]
    at = [rows[0].strip().split(",").index(v + column) for v in "ab"]
    draws.append(np.loadtxt(rows[1:], delimiter=",")[:, at])
draws = np.array(draws)
for v, grid in enumerate((T, M)):
    for name, f in (("mean", lambda u: u), ("square", lambda u: u * u),
                    ("below 0", lambda u: (u < 0) + 0.5 * (np.abs(u) < 1e-9))):
        exact, x = (w * f(grid)).sum(), f(draws[:, :, v])
        parts = x.reshape(80, -1).mean(axis=1)
        error = parts.std(ddof=1) / 80 ** 0.5
        z = (parts.mean() - exact) / error
        print(sys.argv[1:], "ab"[v], name, exact, parts.mean(), error, z)
        assert abs(z) < 4 and error < 0.02 * (1 + abs(exact))
E
compare() { # MODEL HOW OPTION...
    status 0 "./$1" --data "$1.json" --monitor a,b --quiet --chains 4 \
        --warmup 1000 --seed 1 --out draws.csv "${@:3}"
    local column
    for column in ${columns:-one}; do
        status 0 python3 exact.py "$1" "$2" ${columns:+"$column"}
    done
}
for m in normal counts bounds; do
    status 0 "$GBMC" -O 1 $m.gbm -o $m
    status 0 ./$m info
    prints '(tau|sigma), theta .* scale with its plate, slice'
    prints 'mu, theta .* mean with its plate, (normal|slice)'
    status 0 ./$m check --data $m.json --quiet
    compare $m host --device cpu --draws 100000
done
for m in columns rows between; do
    status 0 "$GBMC" -O 1 $m.gbm -o $m
    status 0 ./$m info
    prints 'sigma, theta +2 [+] .* scale with its plate, slice +k '
    prints 'mu, theta +2 [+] .* mean with its plate, slice +k '
    status 0 ./$m check --data $m.json --quiet
done
for m in columns rows; do
    columns=".1 .2" compare $m host --device cpu --draws 30000
done
compare between host --device cpu --draws 30000
fake_device
columns=".1 .2" compare columns device --device cuda --draws 20000
compare normal device --device cuda --draws 20000
compare counts device --device cuda --draws 20000
compare bounds device --device cuda --draws 20000

status 0 "$GBMC" -O 1 "$examples/eight_schools/eight_schools.gbm" -o schools
status 0 ./schools --data "$examples/eight_schools/data.json" --quiet \
    --draws 2000 --summary schools.json
python3 - <<'E' || fail "little known effects do not mix"
import json, sys
p = json.load(open("schools.json"))["parameters"]
for n in ("tau", "mu", "theta[1]"):
    print(n, p[n]["ess_bulk"])
sys.exit(any(p[n]["ess_bulk"] < 600 for n in ("tau", "mu", "theta[1]")))
E

# Means of columns whose effects hardly leave them: by draws in turn 4 effective
# of 4,000
cat >tight.gbm <<'E'
model {
  for (e in 1:2) { mu[e] ~ dnorm(0, 1) }
  for (i in 1:n) {
    for (e in 1:2) {
      theta[i,e] ~ dnorm(mu[e], 10000)
      y[i,e] ~ dnorm(theta[i,e], 1)
    }
  }
}
E
echo '{"n": 4, "y": [[1, -2], [0, 1], [0.5, 0], [2.5, 0.5]]}' >tight.json
status 0 "$GBMC" -O 1 tight.gbm -o tight
status 0 ./tight info
prints 'mean with its plate, normal +e '
status 0 ./tight --data tight.json --quiet --draws 2000 --summary fit.json
python3 - <<'E' || fail "means whose plate is tight do not mix"
import json, sys
p = json.load(open("fit.json"))["parameters"]
bad = 0
for n, total in (("mu[1]", 4), ("mu[2]", -0.5)):
    v = 1 / (1 + 4 / 1.0001)
    z = (p[n]["mean"] - v * total / 1.0001) / p[n]["mcse"]
    print(n, z, p[n]["sd"] / v ** 0.5, p[n]["ess_bulk"])
    bad += not (abs(z) < 4 and abs(p[n]["sd"] / v ** 0.5 - 1) < 0.05 and
                p[n]["ess_bulk"] > 4000)
sys.exit(bad)
E

# What reads two means at once ties them: neither moves by itself
cat >tied.gbm <<'E'
model {
  for (k in 1:K) {
    mu[k] ~ dnorm(0, 1)
    for (j in 1:J) { theta[k,j] ~ dnorm(mu[k], 4) }
    for (j in 1:J) { for (l in 1:K) { y[k,l,j] ~ dnorm(theta[k,j] * mu[l], 1) } }
  }
}
E
status 0 "$GBMC" -O 0 tied.gbm -o tied
status 0 ./tied info
grep -q 'mu, theta .*mean with its plate' .out && fail "a mean moves though others are read beside it"

# A scale that was drawn near 0: its plate has lost digits there, and is compared
# from where it stood before.
cat >near.gbm <<'END'
model {
  sd ~ dunif(0, 2)
  mu ~ dnorm(0, 1)
  for (i in 1:N) {
    a[i] ~ dnorm(mu, pow(sd, -2))
    y[i] ~ dpois(exp(a[i]))
  }
}
END
cat >near.json <<'END'
{"N": 60, "y": [0, 2, 3, 3, 2, 0, 2, 3, 3, 2, 0, 2, 3, 3, 2, 0, 2, 3, 3, 2,
                0, 2, 3, 3, 2, 0, 2, 3, 3, 2, 0, 2, 3, 3, 2, 0, 2, 3, 3, 2,
                0, 2, 3, 3, 2, 0, 2, 3, 3, 2, 0, 2, 3, 3, 2, 0, 2, 3, 3, 2]}
END
status 0 "$GBMC" -O 1 near.gbm -o near
for seed in 11 12 13 25 28; do
    status 0 ./near check --data near.json --seed $seed
    prints 'plate with a node of its prior .* pass'
done

# Ranks that are counted by comparisons: along the move an element is no less
# than itself, whatever rounding makes of the difference.
cat >counted.gbm <<'END'
model {
  sd ~ exponential(1)
  for (s in 1:4) { x[s] ~ normal(0.49, sd) }
  for (g in 1:4) {
    r[g] <- step(x[g] - x[1]) + step(x[g] - x[2]) + step(x[g] - x[3]) +
      step(x[g] - x[4])
  }
  for (i in 1:4) { rate[i] ~ dgamma(2.8, 2) }
  for (i in 1:N) { y[i] ~ dnorm(0.3, rate[r[group[i]]]) }
}
END
echo '{"N": 6, "group": [2, 4, 4, 3, 2, 4],
    "y": [-0.5681, -0.2981, 0.2486, 0.02623, 0.4422, 0.3224]}' >counted.json
status 0 "$GBMC" -O 0 counted.gbm -o counted
status 0 ./counted check --data counted.json --seed 1
