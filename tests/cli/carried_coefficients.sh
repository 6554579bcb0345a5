#!/usr/bin/env bash
# Coefficients of groups move with the effects around their long sum
# (sampler/carried.c): the posterior of counts in two groups by quadrature, where
# effects that stay close to the sum would hold their coefficients (lines of
# warm-up, which would mend so small a model, are off).
source "$GBM_ROOT/tests/cli/lib"
lacks() { if grep -qE -- "$1" .out; then fail "output like: $1"; fi; }

cat >groups.gbm <<'E'
model {
  for (g in 1:G) {
    for (n in 1:N) {
      y[g,n] ~ dpois(exp(eta[g,n]))
      eta[g,n] ~ dnorm(inprod(X[n,], b[g,]), tau[g])
    }
    for (l in 1:L) { b[g,l] ~ dnorm(m[l], 1) }
  }
}
E
echo '{"G": 2, "N": 3, "L": 2, "X": [[1, 1], [1, 0.5], [1, -1]], "m": [0.5, 0],
       "tau": [400, 100], "y": [[3, 0, 1], [0, 2, 0]]}' >data.json

cat >exact.py <<'E'
import json
import math
import numpy as np
d = json.load(open("data.json"))
found = json.load(open("draws.json"))["parameters"]
x, y = np.array(d["X"]), np.array(d["y"])
grid = np.linspace(-5, 5, 201)
b = [grid[:, None] + 0 * grid, grid + 0 * grid[:, None]]
z = np.linspace(-5, 5, 41)
weight = np.exp(-z ** 2 / 2) / np.exp(-z ** 2 / 2).sum()
for g in range(2):
    logp = -sum((b[l] - d["m"][l]) ** 2 / 2 for l in range(2))
    for n in range(3):
        mean = x[n, 0] * b[0] + x[n, 1] * b[1]
        eta = mean[:, :, None] + z / d["tau"][g] ** 0.5
        logp = logp + np.log(np.exp(y[g, n] * eta - np.exp(eta)) @ weight)
    p = np.exp(logp - logp.max())
    p /= p.sum()
    for l in range(2):
        f = found[f"b[{g + 1},{l + 1}]"]
        exact = (p * b[l]).sum()
        sd = ((p * b[l] ** 2).sum() - exact ** 2) ** 0.5
        print(g, l, exact, f["mean"], sd, f["sd"], f["ess_bulk"])
        assert abs(f["mean"] - exact) < 4 * f["mcse"]
        assert abs(f["sd"] / sd - 1) < 4 * 0.75 / f["ess_bulk"] ** 0.5
        assert f["ess_bulk"] > 4000
E
status 0 "$GBMC" -O 1 groups.gbm -o groups
status 0 ./groups info
prints 'b, eta .* mean with its plate, slice'
status 0 ./groups check --data data.json --quiet
# coefficients of a group meet in its rows: the self-check takes them in turn
status 0 ./groups --data data.json --details --device cpu --draws 100
says 'self-check: [0-9]+ of [0-9]+ steps'
GBM_LINES=off status 0 ./groups --data data.json --monitor b --quiet --device cpu --chains 4 \
    --warmup 1000 --draws 5000 --seed 1 --summary draws.json
status 0 python3 exact.py
device_draws_as_host groups data.json

# not where all rows have the coefficients in common, or another density has them
none() { # SED...
    sed "$@" groups.gbm >other.gbm
    cmp -s groups.gbm other.gbm && fail "nothing is other"
    status 0 "$GBMC" --explain other.gbm
    lacks 'mean with its plate'
}
none -e 's/b\[g,\]/b[]/; s/for (l in 1:L) { b\[g,l\] ~ dnorm(m\[l\], 1) }//' \
    -e '$i for (l in 1:L) { b[l] ~ dnorm(m[l], 1) }'
none 's/for (l in 1:L) {/w[g] ~ dnorm(b[g,1]^2, 1)\nfor (l in 1:L) {/'
