#!/usr/bin/env bash
# Times as a sum of a normal and an exponential part, each with a node of its own.
# Their density has no bound: where the effects explain each time to the last
# digit the normal part is nothing, and it grows as the room falls that is left
# to them. A chain there is no better than others, so none is sent there
# (start/score.c). And where all effects are small beside the normal part, as
# where times are in milliseconds and the rate begins at 1, they grow with their
# rate (sampler/carried.c).
source "$GBM_ROOT/tests/cli/lib"

cat >times.gbm <<'E'
model {
  mu ~ dnorm(0, 1.0E-6)
  lambda ~ dgamma(0.001, 0.001)
  tau ~ dgamma(0.001, 0.001)
  for (i in 1:N) {
    e[i] ~ dexp(lambda)
    rt[i] ~ dnorm(mu + e[i], tau)
  }
  sigma <- 1 / sqrt(tau)
}
E
# s.json, ms.json; what is exact in seconds, mean and deviation, by quadrature in
# mu and in the logarithms of 1 / lambda and sigma
python3 - >exact <<'E' || fail "no exact posterior"
import json
import numpy as np
from scipy.special import log_ndtr
r = np.random.RandomState(7)
rt = 0.4 + 0.05 * r.standard_normal(300) + r.exponential(0.2, 300)
for name, unit, digits in ("s", 1, 4), ("ms", 1000, 1):
    json.dump({"N": 300, "rt": list(np.round(unit * rt, digits))},
              open(f"{name}.json", "w"))
mu = np.linspace(0.34, 0.45, 45)[:, None, None]
mean = np.exp(np.linspace(-2.1, -1.1, 45))[None, :, None]
sigma = np.exp(np.linspace(-4.6, -2, 45))[None, None, :]
logp = -0.001 * (np.log(mean) + 2 * np.log(sigma)) + 0 * mu
for t in np.round(rt, 4):
    logp += (sigma ** 2 / (2 * mean ** 2) - (t - mu) / mean - np.log(mean)
             + log_ndtr((t - mu) / sigma - sigma / mean))
w = np.exp(logp - logp.max())
w /= w.sum()
for name, x in (("mu", mu), ("mean", mean), ("sigma", sigma)):
    m = (w * x).sum()
    print(name, m, np.sqrt((w * (x - m) ** 2).sum()))
E
arrived() { # UNIT: fit.json has what is exact, by 0.4 of the deviation
    python3 - "$1" <<'E' || fail "not there"
import json, sys
unit = float(sys.argv[1])
fit = json.load(open("fit.json"))["parameters"]
for line in open("exact"):
    name, mean, sd = line.split()
    mean, sd = unit * float(mean), unit * float(sd)
    row = fit["lambda" if name == "mean" else name]
    found = 1 / row["mean"] if name == "mean" else row["mean"]
    if abs(found - mean) > 0.4 * sd or not row["rhat"] < 1.15:
        sys.exit(f"{name}: {row}, not {mean} ({sd})")
E
}
status 0 "$GBMC" times.gbm -o times
status 0 ./times info
prints 'lambda, e .* scale with its plate, slice'
for unit in s=1 ms=1000; do
    for seed in 1 2 3 4; do
        status 0 ./times --data ${unit%=*}.json --seed $seed --draws 3000 \
            --monitor mu,lambda,sigma --summary fit.json --progress none
        grep 'after 300 sweeps' .err &&
            fail "$unit, seed $seed: a chain that has arrived was moved"
        arrived ${unit#*=}
    done
done
