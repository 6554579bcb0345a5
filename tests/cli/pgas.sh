#!/usr/bin/env bash
# Particle Gibbs with ancestor sampling, with so few particles that a wrong
# weight shows: against the exact moments of a linear and normal model, and all
# paths of a hidden Markov chain; first states with the others and given,
# observed states, missing observations.
source "$GBM_ROOT/tests/cli/lib"

# draws MODEL DATA: moments as JSON, four chains of 20,000 draws
draws() {
    status 0 "$GBMC" -O 1 "$1" -o sampler
    status 0 ./sampler check --data "$2"
    status 0 ./sampler --data "$2" --device cpu --quiet --warmup 200 \
        --draws 20000 --summary moments.json
}

cat >exact.py <<'E'
import json, sys
def judge(exact):
    """name -> mean, sd"""
    p = json.load(open("moments.json"))["parameters"]
    bad, squares = [], 0
    for name, (mean, sd) in exact.items():
        z = (p[name]["mean"] - mean) / p[name]["mcse"]
        squares += z * z / len(exact)
        if not abs(z) < 4.5 or not abs(p[name]["sd"] / sd - 1) < 0.03:
            bad.append((name, p[name], mean, sd, z))
    print(squares, bad)
    sys.exit(bool(bad or squares > 3))
E

cat >linear.gbm <<'END'
model {
  x[1] ~ dnorm(0, 0.25)
  for (t in 2:T) { x[t] ~ dnorm(0.9 * x[t-1] + 0.2, 1.25) }
  for (t in 1:T) { y[t] ~ dnorm(x[t] + 0.5, 2) }
  for (t in 2:T) { two[t] <- x[t] + x[t-1] }
}
samplers { x : pgas(particles = 4); }
END
echo '{"T": 6, "y": [0.4, 1.9, null, 2.2, 0.3, null],
  "x": [null, null, null, null, -0.7, null]}' >linear.json
draws linear.gbm linear.json
python3 - <<'E' || fail "the moments are not those of the normal model"
import json
import numpy as np
from exact import judge
d = json.load(open("linear.json"))
T = d["T"]
mean, cov = np.zeros(T), np.zeros((T, T))
cov[0, 0] = 4
for t in range(1, T):
    mean[t] = 0.9 * mean[t-1] + 0.2
    cov[t, :t] = cov[:t, t] = 0.9 * cov[t-1, :t]
    cov[t, t] = 0.81 * cov[t-1, t-1] + 0.8
rows, values, noise = [], [], []
for t in range(T):
    for v, r, shift in ((d["y"][t], 0.5, 0.5), (d["x"][t], 0, 0)):
        if v is not None:
            rows.append(np.eye(T)[t]); values.append(v - shift); noise.append(r)
A = np.array(rows)
gain = cov @ A.T @ np.linalg.inv(A @ cov @ A.T + np.diag(noise))
mean = mean + gain @ (np.array(values) - A @ mean)
cov = cov - gain @ A @ cov
exact = {}
for t in range(T):
    if d["x"][t] is None:
        exact[f"x[{t+1}]"] = mean[t], cov[t, t] ** 0.5
    if t > 0:
        pair = cov[t-1, t-1] + cov[t, t] + 2 * cov[t, t-1]
        exact[f"two[{t+1}]"] = mean[t-1] + mean[t], pair ** 0.5
judge(exact)
E

cat >hidden.gbm <<'END'
model {
  for (i in 1:2) {
    z[i,1] ~ dcat(P[2,])
    for (t in 2:T) { z[i,t] ~ dcat(P[z[i,t-1],]) }
    for (t in 1:T) { y[i,t] ~ dnorm(z[i,t], 2) }
    for (t in 2:T) { same[i,t] <- equals(z[i,t], z[i,t-1]) }
  }
}
samplers { z : pgas(particles = 3); }
END
echo '{"T": 5, "P": [[0.7, 0.2, 0.1], [0.3, 0.4, 0.3], [0.1, 0.1, 0.8]],
  "y": [[1.5, null, 2.2, 0.8, 2.5], [1, 3, 2, null, null]],
  "z": [[2, null, null, null, null], [2, null, null, null, 3]]}' >hidden.json
draws hidden.gbm hidden.json
python3 - <<'E' || fail "the moments are not those of all paths"
import itertools, json, math
from exact import judge
d = json.load(open("hidden.json"))
P, T, exact = d["P"], d["T"], {}
for i in range(2):
    paths = []
    for z in itertools.product((1, 2, 3), repeat=T):
        if any(k not in (None, a) for k, a in zip(d["z"][i], z)):
            continue
        w = math.prod(P[a-1][b-1] for a, b in zip(z, z[1:]))
        w *= math.exp(-sum((y - a) ** 2 for y, a in zip(d["y"][i], z)
                           if y is not None))
        paths.append((w, z))
    total = sum(w for w, z in paths)
    def moments(f):
        mean = sum(w * f(z) for w, z in paths) / total
        return mean, (sum(w * f(z) ** 2 for w, z in paths) / total
                      - mean ** 2) ** 0.5
    for t in range(1, T):
        if d["z"][i][t] is None:
            exact[f"z[{i+1},{t+1}]"] = moments(lambda z: z[t])
        exact[f"same[{i+1},{t+1}]"] = moments(lambda z: z[t] == z[t-1])
judge(exact)
E
