#!/usr/bin/env bash
# dcar_normal(adj, weights, num, tau, c = 2, zero_mean = 1), as NIMBLE has it:
# and car.normal(adj, weights, num, tau), as WinBUGS has it: areas whose mean is
# held at 0 beside an intercept with a flat prior, by quadrature over tau.
source "$GBM_ROOT/tests/cli/lib"

cat >areas.json <<'E'
{"N": 5, "L": 10, "adj": [2, 5, 1, 3, 2, 4, 3, 5, 4, 1], "num": [2, 2, 2, 2, 2],
 "weights": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1], "y": [3, 4.5, 2, 1, 2.5]}
E
cat >quadrature.py <<'E'
import json
import sys
import numpy as np

constraints = int(sys.argv[1])
y = np.array([3, 4.5, 2, 1, 2.5])
R = 2 * np.eye(5) - np.roll(np.eye(5), 1, 0) - np.roll(np.eye(5), -1, 0)
H = np.linalg.svd(np.eye(5) - 0.2)[0][:, :4] # the space of mean 0
A = np.hstack([np.ones((5, 1)), H])
weights, moments = [], []
for t in np.linspace(-9, 5, 800):
    tau = np.exp(t)
    Q = 4 * A.T @ A + 1e-6 * np.diag([1, 0, 0, 0, 0])
    Q[1:, 1:] += tau * H.T @ R @ H
    b = 4 * A.T @ y
    m, V = np.linalg.solve(Q, b), np.linalg.inv(Q)
    weights.append(2 * t - tau + 0.5 * (5 - constraints) * t + b @ m / 2
                   - np.linalg.slogdet(Q)[1] / 2)
    x, v = A @ m - m[0], H @ V[1:, 1:] @ H.T
    moments.append([m[0], V[0, 0] + m[0] ** 2, x[0], v[0, 0] + x[0] ** 2,
                    tau, tau ** 2])
w = np.exp(np.array(weights) - max(weights))
e = w @ np.array(moments) / w.sum()
found = json.load(open("found.json"))["parameters"]
for i, name in enumerate(("alpha", "s[1]", "tau")):
    f, sd = found[name], (e[2 * i + 1] - e[2 * i] ** 2) ** 0.5
    print(name, f["mean"], e[2 * i], f["sd"], sd)
    assert abs(f["mean"] - e[2 * i]) < 4.5 * f["mcse"]
    assert abs(f["sd"] - sd) < 0.1 * sd
E

# areas CONSTRAINTS DENSITY: their posterior, of this density
areas() {
    cat >areas.gbm <<E
model {
  s[1:N] ~ $2
  for (i in 1:N) { y[i] ~ dnorm(alpha + s[i], 4) }
  alpha ~ dnorm(0, 1.0E-6)
  tau ~ dgamma(2, 1)
}
E
    status 0 "$GBMC" -O 1 areas.gbm -o areas
    status 0 ./areas check --data areas.json
    status 0 ./areas --data areas.json --quiet --draws 4000 --summary found.json
    python3 quadrature.py "$1" || fail "not the posterior: $2"
}
areas 2 'dcar_normal(adj[1:L], weights[1:L], num[1:N], tau, c = 2, zero_mean = 1)'
areas 1 'car.normal(adj[], weights[], num[], tau)'
