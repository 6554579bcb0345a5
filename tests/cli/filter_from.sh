#!/usr/bin/env bash
# --method filter --from FIT: filters with the parameters of an earlier run's
# draws. Likelihood and moments are those of Kalman's filter, averaged over the
# same draws; states that the run has draws of are filtered all the same.
source "$GBM_ROOT/tests/cli/lib"
cat >walk.gbm <<'END'
model {
  x[1] ~ dnorm(0, tau)
  for (t in 2:T) { x[t] ~ dnorm(phi * x[t-1], tau) }
  for (t in 1:T) { y[t] ~ dnorm(x[t], kappa) }
  phi ~ dunif(0, 1)
  tau ~ dgamma(3, 3)
  kappa ~ dgamma(3, 3)
}
END
echo '{"T": 12, "y": [0.4, 1.9, 2.3, 2.2, 0.3, -0.9, -1.2, 0.1, 0.8, 2.9, 3.1,
  1.4]}' >data.json
status 0 "$GBMC" -O 1 walk.gbm -o walk
run() { status 0 ./walk --data data.json --device cpu --quiet --no-check "$@"; }
run --draws 100 --chains 2 --out fit.nc
run --draws 100 --chains 2 --out fit.csv --digits 17
run --method filter --from fit.nc --particles 1000 --summary s.json \
    --threads 1
cat >kalman.py <<'E'
import csv, json, sys
import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm
y = np.array(json.load(open("data.json"))["y"])
T = len(y)
draws = []
for chain in 1, 2:
    with open(f"fit_{chain}.csv") as f:
        draws += list(csv.DictReader(l for l in f if l[0] != "#"))
logs, smoothed, filtered = [], [], []
for d in draws:
    phi, tau, kappa = (float(d[n]) for n in ("phi", "tau", "kappa"))
    back = np.linalg.inv(np.eye(T) - phi * np.eye(T, k=-1))
    prior = back @ back.T / tau
    def given(n):
        s = prior[:n, :n] + np.eye(n) / kappa
        gain = prior[:, :n] @ np.linalg.inv(s)
        cov = prior - gain @ prior[:n]
        log = -0.5 * (np.linalg.slogdet(2 * np.pi * s)[1] +
                      y[:n] @ np.linalg.solve(s, y[:n]))
        return gain @ y[:n], np.diag(cov) ** 0.5, log
    mean, sd, log = given(T)
    logs.append(log)
    smoothed.append((mean, sd))
    own = [given(t + 1) for t in range(T)]
    filtered.append(([o[0][t] for t, o in enumerate(own)],
                     [o[1][t] for t, o in enumerate(own)]))
r = json.load(open("s.json"))
bad = []
def near(what, a, b, most):
    if not abs(a - b) < most:
        bad.append((what, a, b))
assert r["filters"] == len(draws) == 200
near("likelihood", r["log_likelihood"]["value"], np.mean(logs), 0.08)
near("its sd", r["log_likelihood"]["sd_of_a_draw"], np.std(logs, ddof=1), 0.15)
near("its se", r["log_likelihood"]["se"], np.std(logs) / 200 ** 0.5, 0.02)
for t in range(T):
    p = r["parameters"][f"x[{t + 1}]"]
    for told, exact in (p, smoothed), (p["filtered"], filtered):
        m = np.array([e[0][t] for e in exact])
        s = np.array([e[1][t] for e in exact])
        sd = (np.mean(s ** 2) + np.var(m)) ** 0.5
        name = t + 1, exact is smoothed
        near(name + ("mean",), told["mean"], m.mean(), 0.04 * sd)
        near(name + ("sd",), told["sd"], sd, 0.05 * sd)
        for q, key in (0.05, "q5"), (0.5, "q50"), (0.95, "q95"):
            x = brentq(lambda v: norm.cdf(v, m, s).mean() - q, -30, 30)
            near(name + (key,), told[key], x, 0.08 * sd)
print(bad, r["log_likelihood"], np.mean(logs))
sys.exit(bool(bad))
E
/usr/bin/python3 kalman.py || fail "not Kalman's"

# Some of the draws, evenly; threads make no difference.
run --method filter --from fit.nc --particles 100 --chains 10 --summary a.json \
    --threads 1
run --method filter --from fit.nc --particles 100 --chains 10 --summary b.json \
    --threads 2
for s in a b; do sed -i '/load_s/d' $s.json; done
same a.json b.json

# What has no draws is named; what the run was of must be enough.
run --draws 10 --monitor phi,tau --out part.nc
status 1 ./walk --data data.json --method filter --from part.nc
says 'walk.gbm:7:3: kappa has no draws in part.nc'
echo '{"kappa": 2}' >init.json
run --method filter --from part.nc --init init.json --chains 4 --threads 1 \
    --particles 50
status 1 ./walk --data data.json --method filter --from fit.nc --chains 201
says 'fit.nc has 200 draws'
status 1 ./walk --data data.json --method filter --from fit.nc --out paths.nc
says 'no --out beside --from'
status 1 ./walk --data data.json --from fit.nc
says '--from is an option of simulate, and of --method filter'
