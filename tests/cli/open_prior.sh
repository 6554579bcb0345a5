#!/usr/bin/env bash
# A prior that a mixture would only close what is above it of, the scale: it stays
# as it is, the posterior is that of quadrature, and its draws move.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'M'
model {
  for (i in 1:N) { x[i] ~ dnchisqr(2, amp[g[i]]^2) }
  for (j in 1:J) { amp[j] ~ dt(0, pow(k,-2), 4)T(0,) }
  k ~ dunif(0, 10)
}
M
echo '{"N": 12, "J": 3, "g": [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3],
  "x": [0.7, 1.9, 3.1, 0.4, 5.2, 2.8, 9.1, 6.6, 14, 22.5, 11.9, 30.2]}' >data.json
cat >compare.py <<'E'
import json
import sys
import numpy as np
from scipy.special import gammaln
from scipy.stats import ncx2

d = json.load(open("data.json"))
k, a = (np.arange(2000) + 0.5) / 200, (np.arange(3000) + 0.5) / 200
prior = np.exp(gammaln(2.5) - gammaln(2)) / np.sqrt(np.pi) / k[:, None] * (
    1 + (a / k[:, None]) ** 2 / 4) ** -2.5
posterior, parts = np.ones_like(k), []
for j in range(d["J"]):
    like = np.prod([ncx2.pdf(x, 2, a**2) for x, g in zip(d["x"], d["g"])
                    if g == j + 1], axis=0)
    parts.append(prior * like)
    posterior *= parts[-1].sum(1)
exact = {}


def moments(name, grid, w):
    w = w / w.sum()
    mean = (w * grid).sum()
    exact[name] = mean, ((w * (grid - mean) ** 2).sum()) ** 0.5


moments("k", k, posterior)
for j, part in enumerate(parts):
    moments(f"amp[{j+1}]", a,
            ((posterior / part.sum(1))[:, None] * part).sum(0))
fit = json.load(open("fit.json"))["parameters"]
bad = 0
for name, (mean, sd) in exact.items():
    p = fit[name]
    z = (p["mean"] - mean) / p["mcse"]
    if (not abs(z) < 4.5 or not 0.95 < p["sd"] / sd < 1.05
            or p["ess_bulk"] < 5000):
        print(name, p["mean"], mean, z, p["sd"], sd, p["ess_bulk"])
        bad += 1
sys.exit(bad > 0)
E
python3 -c 'import scipy' 2>/dev/null || { echo "SciPy is missing"; exit 77; }
status 0 "$GBMC" -O 1 model.gbm -o model
status 0 ./model check --data data.json
status 0 ./model --data data.json --quiet --draws 4000 --summary fit.json
python3 compare.py || fail "another posterior, or one that moves slowly"

# What is closed by a mixture has it still.
cat >closed.gbm <<'M'
model {
  for (i in 1:N) { y[i] ~ dnorm(u[g[i]], 1) }
  for (j in 1:J) { u[j] ~ dt(0, pow(k,-2), 4) }
  k ~ dunif(0, 10)
}
M
status 0 "$GBMC" --explain closed.gbm
prints 'augmented'
