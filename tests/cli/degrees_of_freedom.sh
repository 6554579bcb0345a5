#!/usr/bin/env bash
# Degrees of freedom of t densities are drawn with the weights of the scale
# mixture integrated out: by a slice, of a grid by trying all; where data are
# missing, or are latent themselves; the posterior by quadrature.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'M'
model {
  for (i in 1:N) { y[i] ~ dt(m, tau, nu) }
  m ~ dnorm(0, 0.1)
  tau ~ dgamma(2, 1)
  nu <- less + 1
  less ~ dexp(0.1)

  # a grid; two plates share it
  for (i in 1:N) { v[i] ~ dt(0, tv, grid[k]) }
  for (i in 1:M) { u[i] ~ dt(mu, 3, grid[k]) }
  tv ~ dgamma(2, 1)
  mu ~ dnorm(0, 1)
  k ~ dcat(even[])
  df <- grid[k]

  # of latent numbers, measured with error
  for (i in 1:M) {
    x[i] ~ dt(mx, 1, ex)
    w[i] ~ dnorm(x[i], 4)
  }
  mx ~ dnorm(0, 1)
  ex ~ dgamma(3, 0.5)

  # of vectors
  for (i in 1:N) { pair[i,1:2] ~ dmt(mp[], O[,], dp) }
  mp[1:2] ~ dmnorm(zero[], O[,])
  dp ~ dgamma(2, 0.2)
}
M
python3 - <<'E2'
import json
import numpy as np
r = np.random.default_rng(5)
O = [[2, 0.5], [0.5, 1]]
pair = np.random.default_rng(6).multivariate_normal([0, 0], np.linalg.inv(O), 30)
pair = (pair / np.random.default_rng(7).gamma(1.5, 1 / 1.5, (30, 1)) ** 0.5
        ).tolist()
pair[3] = [None, None]
y = list(1 + r.standard_t(3, 30))
y[4] = y[20] = None
json.dump(dict(N=30, M=12, y=y, v=list(r.standard_t(4, 30) / 2 ** 0.5),
               u=list(1 + r.standard_t(4, 12) / 3 ** 0.5),
               pair=pair, O=O, zero=[0, 0],
               grid=[1, 2, 4, 8, 30], even=[1] * 5,
               w=list(r.standard_t(4, 12) + r.normal(size=12) / 2)),
          open("data.json", "w"))
E2
status 0 "$GBMC" model.gbm --explain -o model
prints 'less +1 +slice, y.w integrated out'
prints 'k +1 +enumeration, 1 to length\(even\), v.w, u.w'
prints 'ex +1 +slice, x.w integrated out'
prints 'dp +1 +slice, pair.w integrated out'
status 0 ./model check --data data.json --points 20
status 0 ./model --data data.json --draws 4000 --quiet --summary fit.json
python3 - <<'E2' || fail "the posterior is not that by quadrature"
import json, sys
import numpy as np
from scipy import stats
d = json.load(open("data.json"))
fit = json.load(open("fit.json"))["parameters"]

def compare(name, values, logs):
    p = np.exp(logs - logs.max())
    p /= p.sum()
    mean = (p * values).sum()
    r = fit[name]
    z = (r["mean"] - mean) / r["mcse"]
    print(name, r["mean"], mean, z, r["ess_bulk"])
    return abs(z) < 4.5 and r["ess_bulk"] > 1500

y = np.array([v for v in d["y"] if v is not None])
nu, m, s = np.meshgrid(np.exp(np.linspace(-6, 5, 120)) + 1,
                       np.linspace(0, 2, 50), np.linspace(-3, 2.5, 60),
                       indexing="ij")
tau = np.exp(s)
logs = (stats.norm.logpdf(m, 0, 0.1 ** -0.5) + stats.gamma.logpdf(tau, 2)
        + s - 0.1 * (nu - 1) + np.log(nu - 1))
for v in y:
    logs = logs + stats.t.logpdf(v, nu, m, tau ** -0.5)
good = compare("nu", nu, logs) and compare("tau", tau, logs)

grid = np.array(d["grid"], float)
k, s = np.meshgrid(grid, np.linspace(-4, 4, 200), indexing="ij")
logs = stats.gamma.logpdf(np.exp(s), 2) + s
for v in d["v"]:
    logs = logs + stats.t.logpdf(v, k, 0, np.exp(-s / 2))
k, mu = np.meshgrid(grid, np.linspace(-3, 4, 200), indexing="ij")
more = stats.norm.logpdf(mu)
for u in d["u"]:
    more = more + stats.t.logpdf(u, k, mu, 3 ** -0.5)
logs = np.logaddexp.reduce(logs, 1) + np.logaddexp.reduce(more, 1)
good = compare("df", grid, logs) and good

dp, a, b = np.meshgrid(np.exp(np.linspace(-6, 6, 150)), np.linspace(-2, 2, 60),
                       np.linspace(-2, 2, 60), indexing="ij")
O = np.array(d["O"])
square = lambda x, y: (O[0, 0] * x * x + 2 * O[0, 1] * x * y
                       + O[1, 1] * y * y)
logs = stats.gamma.logpdf(dp, 2, scale=5) + np.log(dp) - square(a, b) / 2
for v in d["pair"]:
    if v[0] is not None:
        logs -= (dp / 2 + 1) * np.log1p(square(v[0] - a, v[1] - b) / dp)
# gamma(dp / 2 + 1) / (gamma(dp / 2) dp) is 1 / 2
good = compare("dp", dp, logs) and good
sys.exit(not good)
E2
status 0 ./model --data data.json --draws 4000 --quiet --plain --summary plain.json
python3 - <<'E2' || fail "not as drawn plainly"
import json, sys
a, b = (json.load(open(f))["parameters"] for f in ("fit.json", "plain.json"))
z = {n: (a[n]["mean"] - b[n]["mean"]) /
        (a[n]["mcse"] ** 2 + b[n]["mcse"] ** 2) ** 0.5
     for n in ("ex", "mx", "df", "nu", "tau", "m", "dp")}
print(z)
sys.exit(max(map(abs, z.values())) > 4.5)
E2

# nothing with powers: the density to a power is not the joint one without it
status 0 "$GBMC" model.gbm --with=powers --explain
grep -q '[.]w integrated out' .out && fail "integrated out beside powers"

# Far out, where a t is a normal and an F a chi-squared variable, densities keep
# their digits: rounding makes no modes there, which wide steps find.
cat >far.gbm <<'M'
model {
  z ~ dnorm(0, 1)
  y ~ dnorm(z, 1)
  for (j in 2:5) {
    k[j] <- 10^(6 * j) * exp(z / 9)
    d[1,j] <- logdensity.t(1.5, 0.2, 0.8, k[j]) - logdensity.norm(1.5, 0.2, 0.8)
    d[2,j] <- logdensity.f(1.5, 3, k[j]) - log(3) - logdensity.chisqr(4.5, 3)
    d[3,j] <- logdensity.f(1.5, k[j], 3) - log(3 / 1.5^2) - logdensity.chisqr(2, 3)
    d[4,j] <- lbeta(2.5, k[j]) + 2.5 * log(k[j]) - loggam(2.5)
    d[5,j] <- logdensity.scaled.gamma(1.5, 0.8, k[j]) + 1.5 * log(1.5)
      - logdensity.norm(1 / sqrt(1.5), 0, 1 / 0.8^2)
  }
}
M
echo '{"y": 1}' >far.json
status 0 "$GBMC" -O1 far.gbm -o far
status 0 ./far --data far.json --quiet --draws 20 --monitor d --summary far.out
python3 - <<'E' || fail "densities far out"
import json
rows = json.load(open("far.out"))["parameters"]
assert len(rows) == 20
for name, row in rows.items():
    print(name, row["mean"])
    assert abs(row["mean"]) + row["sd"] < 1e-10, name
E

# so that chains move freely there
cat >free.gbm <<'M'
model {
  l ~ dunif(-5, 60)
  k <- exp(l)
  s ~ half_t(k, 1)
  for (i in 1:4) { y[i] ~ dnorm(0, 1 / s^2) }
}
M
echo '{"y": [0.3, -1, 2, 0.5]}' >free.json
status 0 "$GBMC" -O1 free.gbm -o free
status 0 ./free --data free.json --quiet --draws 2000 --monitor l --summary free.out
python3 - <<'E' || fail "modes by rounding"
import json
row = json.load(open("free.out"))["parameters"]["l"]
print(row)
assert 27.5 < row["mean"] < 31 and row["sd"] > 16 and row["rhat"] < 1.02
E
exit 0
