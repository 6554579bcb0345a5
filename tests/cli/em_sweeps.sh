#!/usr/bin/env bash
# --method em where the algebra has weighted full conditionals: each iteration is
# a sweep, to the modes that the closed forms give; full covariances at n = 3000
# and p = 14; several families, labels that are known in part, rows that are
# missing; what has no closed form is left to gradients.
source "$GBM_ROOT/tests/cli/lib"

# em MODEL OPTION...: with data.json and init.json
em() {
    local model=$1
    shift
    status 0 "$GBMC" -O 1 --with=gradients,expectation "$model" \
        -o "${model%.gbm}"
    status 0 "./${model%.gbm}" --method em --data data.json --init init.json \
        --chains 1 --summary em.json --quiet "$@"
}

cat >vectors.gbm <<'E'
model {
  for (i in 1:N) {
    y[i, 1:P] ~ dmnorm(mu[z[i], 1:P], Q[z[i], 1:P, 1:P])
    z[i] ~ dcat(w[])
  }
  for (k in 1:K) {
    mu[k, 1:P] ~ dmnorm(zero[], Q0[,])
    Q[k, 1:P, 1:P] ~ dwish(R[,], P + 3)
  }
  w[1:K] ~ ddirch(two[])
}
E
cat >vectors.py <<'E'
import json, sys
from math import lgamma, log, pi
import numpy as np
n, p, K = 3000, 14, 3
Q0, R, nu = 0.01 * np.eye(p), 2.0 * np.eye(p), p + 3
def logdet(A): return np.linalg.slogdet(A)[1]
if sys.argv[1] == "make":
    rng = np.random.default_rng(5)
    z = rng.integers(0, K, n)
    A = np.eye(p) + rng.normal(size=(K, p, p)) / np.sqrt(p)
    y = np.einsum("nij,nj->ni", A[z], rng.normal(size=(n, p))) \
        + rng.normal(0, 0.4, (K, p))[z]
    json.dump({"N": n, "P": p, "K": K, "y": y.tolist(), "zero": [0] * p,
               "Q0": Q0.tolist(), "R": R.tolist(), "two": [2] * K},
              open("data.json", "w"))
    json.dump({"mu": rng.normal(0, 0.4, (K, p)).tolist(), "w": [1 / K] * K,
               "Q": [np.eye(p).tolist()] * K}, open("init.json", "w"))
    sys.exit()
y = np.array(json.load(open("data.json"))["y"])
start = json.load(open("init.json"))
mu, Q, w = (np.array(start[k]) for k in ("mu", "Q", "w"))
found = json.load(open("em.json"))
trace = found["trace"]
assert found["converged"] and found["sweeps"] == found["iterations"] > 10, \
    [found[k] for k in ("converged", "sweeps", "iterations")]
wishart = (nu * logdet(R) - nu * p * log(2)) / 2 - p * (p - 1) / 4 * log(pi) \
    - sum(lgamma((nu + 1 - j) / 2) for j in range(1, p + 1))
for it, value in enumerate(trace):
    L = np.empty((n, K))
    total = lgamma(2 * K) + np.log(w).sum()
    for k in range(K):
        d = y - mu[k]
        L[:, k] = np.log(w[k]) + (logdet(Q[k]) - p * log(2 * pi)
                                  - np.einsum("ni,ij,nj->n", d, Q[k], d)) / 2
        total += (logdet(Q0) - p * log(2 * pi) - mu[k] @ Q0 @ mu[k]) / 2 \
            + wishart + (nu - p - 1) / 2 * logdet(Q[k]) \
            - np.trace(R @ Q[k]) / 2
    top = L.max(1, keepdims=True)
    r = np.exp(L - top)
    total += (top[:, 0] + np.log(r.sum(1))).sum()
    r /= r.sum(1, keepdims=True)
    assert abs(total - value) < 1e-8 * abs(total), (it, total, value)
    assert it == 0 or value > trace[it - 1] - 1e-9 * abs(value), (it, trace)
    if it == len(trace) - 1:
        break
    w = (r.sum(0) + 1) / (n + K)
    for k in range(K):
        s = r[:, k].sum()
        mu[k] = np.linalg.solve(Q0 + s * Q[k], Q[k] @ (r[:, k] @ y))
        d = y - mu[k]
        Q[k] = (nu + s - p - 1) * np.linalg.inv(R + (r[:, k, None] * d).T @ d)
modes = found["parameters"]
for k in range(K):
    for j in range(p):
        m = modes["mu[%d,%d]" % (k + 1, j + 1)]["mode"]
        assert abs(m - mu[k, j]) < 1e-5, (k, j, m, mu[k, j])
E
python3 vectors.py make || fail "data"
em vectors.gbm
python3 vectors.py compare || fail "EM of normal vectors"
# the weighted sums are tables, which one pass fills for all components
status 0 "$GBMC" --with=gradients,expectation --emit=sweep vectors.gbm
[ "$(grep -c 'rows by group over value' .out)" = 4 ] || fail "no tables"
[ "$(grep -c '; *from tables\|from tables$' .out)" = 3 ] ||
    fail "not all go by tables"

# several statements by one index: three labels are known, one row has nothing
# that is observed
cat >several.gbm <<'E'
model {
  for (i in 1:N) {
    z[i] ~ dcat(p[])
    y[i] ~ dnorm(m[z[i]] + b * x[i], t)
    n[i] ~ dpois(l[z[i]])
    u[i] ~ dbern(q[z[i]])
  }
  for (k in 1:2) {
    m[k] ~ dnorm(0, 0.01)
    l[k] ~ dgamma(2, 0.5)
    q[k] ~ dbeta(2, 3)
  }
  b ~ dnorm(0, 0.1)
  t ~ dgamma(2, 1)
  p[1:2] ~ ddirch(a[])
}
E
cat >several.py <<'E'
import json, sys
import numpy as np
N = 60
if sys.argv[1] == "make":
    rng = np.random.default_rng(3)
    z = 1 + (rng.random(N) < 0.6)
    x = rng.normal(size=N)
    d = {"N": N, "x": x.tolist(), "a": [2, 2],
         "y": (2.0 * (z == 2) + 0.5 * x + rng.normal(0, 1, N)).tolist(),
         "n": rng.poisson(np.where(z == 1, 2, 4)).tolist(),
         "u": (rng.random(N) < np.where(z == 1, 0.3, 0.7)).astype(int).tolist()}
    d["z"] = [1, 2, 2] + [None] * (N - 3)
    d["y"][7] = d["n"][7] = d["u"][7] = None
    json.dump(d, open("data.json", "w"))
    json.dump({"m": [-0.5, 1.5], "l": [2, 3], "q": [0.4, 0.5], "b": 0, "t": 1,
               "p": [0.5, 0.5]}, open("init.json", "w"))
    sys.exit()
d = json.load(open("data.json"))
keep = [i for i in range(N) if d["y"][i] is not None]
x, y, n, u = (np.array([d[k][i] for i in keep]) for k in "xynu")
known = [d["z"][i] for i in keep]
m, l, q = np.array([-0.5, 1.5]), np.array([2, 3.]), np.array([0.4, 0.5])
b, t, p = 0, 1, np.array([0.5, 0.5])
for it in range(3000):
    L = np.log(p) - t / 2 * (y[:, None] - m - b * x[:, None]) ** 2 \
        + n[:, None] * np.log(l) - l + u[:, None] * np.log(q) \
        + (1 - u[:, None]) * np.log(1 - q)
    r = np.exp(L - L.max(1, keepdims=True))
    for i, k in enumerate(known):
        if k:
            r[i] = [k == 1, k == 2]
    r /= r.sum(1, keepdims=True)
    s = r.sum(0)
    m = t * (r * (y - b * x)[:, None]).sum(0) / (0.01 + t * s)
    b = t * (r * x[:, None] * (y[:, None] - m)).sum() / (0.1 + t * (x @ x))
    square = (r * (y[:, None] - m - b * x[:, None]) ** 2).sum()
    t = (1 + len(y) / 2) / (1 + square / 2)
    l = (1 + r.T @ n) / (0.5 + s)
    q = (1 + r.T @ u) / (1 + 2 + s)
    p = (s + 1) / (s + 1).sum()
found = json.load(open("em.json"))
trace = found["trace"]
assert found["converged"] and found["sweeps"] == found["iterations"] > 5, \
    [found[k] for k in ("converged", "sweeps", "iterations", "trace")]
assert all(b > a - 1e-9 for a, b in zip(trace, trace[1:])), trace
wanted = {"b": b, "t": t}
for k in (0, 1):
    wanted.update({"m[%d]" % (k + 1): m[k], "l[%d]" % (k + 1): l[k],
                   "q[%d]" % (k + 1): q[k], "p[%d]" % (k + 1): p[k]})
for name, value in wanted.items():
    mode = found["parameters"][name]["mode"]
    assert abs(mode - value) < 1e-4 * (1 + abs(value)), (name, mode, value)
E
python3 several.py make || fail "data"
em several.gbm
python3 several.py compare || fail "EM of several families"

# a prior that is not conjugate: sweeps go as far as they can
cat >rest.gbm <<'E'
model {
  for (i in 1:N) {
    z[i] ~ dbern(q)
    y[i] ~ dnorm(m[z[i] + 1], 1)
  }
  for (k in 1:2) { m[k] ~ dlogis(0, 1) }
  q ~ dbeta(2, 2)
}
E
echo '{"N": 6, "y": [-1.2, -0.4, -0.9, 1.8, 2.2, 0.9]}' >data.json
echo '{"m": [-0.5, 0.7], "q": 0.4}' >init.json
em rest.gbm
python3 - <<'E' || fail "EM with a step that has no closed form"
import json, math
y = [-1.2, -0.4, -0.9, 1.8, 2.2, 0.9]
def density(a, b, q):
    prior = sum(-m - 2 * math.log1p(math.exp(-m)) for m in (a, b))
    return prior + math.log(q * (1 - q)) + sum(
        math.log((1 - q) * math.exp(-(v - a) ** 2 / 2)
                 + q * math.exp(-(v - b) ** 2 / 2)) for v in y)
found = json.load(open("em.json"))
assert found["converged"] and 0 < found["sweeps"] < found["iterations"], found
x = [found["parameters"][k]["mode"] for k in ("m[1]", "m[2]", "q")]
best = density(*x)
for j in range(3):
    for step in (-1e-3, 1e-3):
        at = list(x)
        at[j] += step
        assert density(*at) < best, (x, j, step)
E

# so many components that who reads which cell is no list that memory holds
python3 - <<'E' || fail "data"
import json, random
random.seed(6)
n, p, K = 1000, 14, 256
mu = [[random.gauss(0, 1) for j in range(p)] for k in range(K)]
unit = [[float(a == b) for b in range(p)] for a in range(p)]
json.dump({"N": n, "P": p, "K": K, "zero": [0] * p, "Q0": unit, "R": unit,
           "two": [2] * K, "y": [[random.gauss(m, 0.4) for m in mu[i % K]]
                                 for i in range(n)]}, open("data.json", "w"))
json.dump({"mu": mu, "w": [1 / K] * K, "Q": [unit] * K}, open("init.json", "w"))
E
status 2 ./vectors --method em --data data.json --init init.json --chains 1 \
    --iterations 1 --quiet
says 'after 1 iterations'
