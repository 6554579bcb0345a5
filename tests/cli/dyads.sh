#!/usr/bin/env bash
# Two rows of a table of vectors in one mean, a node's own earlier elements in
# its mean: one block, which moves with the scale of these elements; the posterior
# against linear algebra, for each value of the scale.
source "$GBM_ROOT/tests/cli/lib"

# The second round of a pair is an observation of two components; ab[2,] is seen
# and y[3] missing. Of a trial the arms lean on each other, as those of a
# comparison of treatments do.
cat >model.gbm <<'M'
model {
  for (d in 1:D) {
    y[d] ~ dnorm(mu + ab[i[d],1] + ab[j[d],2], 2)
    m[d,1] <- mu + ab[i[d],1] - 0.5 * ab[j[d],2]
    m[d,2] <- ab[j[d],1] + ab[i[d],2]
    v[d,1:2] ~ dmnorm(m[d,1:2], Q[,])
  }
  for (k in 1:K) { ab[k,1:2] ~ dmnorm(zero[], P[,]) }
  mu ~ dnorm(1, 0.3)
  for (s in 1:S) {
    w[s,1] <- 0
    base[s] ~ dnorm(0, 0.5)
    for (k in 1:A) { z[s,k] ~ dnorm(base[s] + arm[s,k], 1.5) }
    arm[s,1] <- 0
    for (k in 2:A) {
      arm[s,k] ~ dnorm(c[k] + sum(w[s,1:(k-1)]) / (k - 1), tau * 2 * (k - 1) / k)
      w[s,k] <- arm[s,k] - c[k]
    }
  }
  tau <- pow(sd, -2)
  sd ~ dunif(0, 1.5)
  c[1] <- 0
  for (k in 2:A) { c[k] ~ dnorm(0, 0.2) }
}
M
cat >data.py <<'E'
import json
import numpy as np

r = np.random.default_rng(5)
D, K, S, A = 14, 5, 5, 4
pairs = [(a, b) for a in range(K) for b in range(K) if a != b]
pairs = [pairs[q] for q in r.permutation(len(pairs))[:D]]
y = np.round(r.normal(1, 1.5, D), 2).tolist()
y[2] = None
json.dump(dict(D=D, K=K, S=S, A=A, i=[p[0] + 1 for p in pairs],
               j=[p[1] + 1 for p in pairs], y=y,
               v=np.round(r.normal(0, 1.5, (D, 2)), 2).tolist(),
               ab=[[None] * 2, [0.4, -0.7]] + [[None] * 2] * (K - 2),
               z=np.round(r.normal(0, 1.5, (S, A)), 2).tolist(),
               zero=[0, 0], P=[[1.5, 0.4], [0.4, 0.8]], Q=[[2, -0.6], [-0.6, 1]]),
          open("data.json", "w"))
E
cat >compare.py <<'E'
# All is normal: precision and its product with the mean, summed by hand.
import json
import sys
import numpy as np

d = json.load(open("data.json"))
K, S, A = d["K"], d["S"], d["A"]
names = [f"ab[{k+1},{c}]" for k in range(K) for c in (1, 2)] + ["mu"]
names += [f"base[{s+1}]" for s in range(S)]
names += [f"arm[{s+1},{k+1}]" for s in range(S) for k in range(1, A)]
names += [f"c[{k+1}]" for k in range(1, A)]
at = {n: q for q, n in enumerate(names)}
n = len(names)


def form(*terms):
    x = np.zeros(n)
    for name, value in terms:
        if name in at:
            x[at[name]] += value
    return x


def given(tau):
    """Precision, its product with the mean."""
    H, h = np.zeros((n, n)), np.zeros(n)

    def add(rows, weight, values):
        nonlocal H, h
        rows, values = np.atleast_2d(rows), np.atleast_1d(values)
        weight = np.atleast_2d(weight)
        H += rows.T @ weight @ rows
        h += rows.T @ weight @ values

    for a, b, y, v in zip(d["i"], d["j"], d["y"], d["v"]):
        if y is not None:
            add(form(("mu", 1), (f"ab[{a},1]", 1), (f"ab[{b},2]", 1)), 2, y)
        add([form(("mu", 1), (f"ab[{a},1]", 1), (f"ab[{b},2]", -0.5)),
             form((f"ab[{b},1]", 1), (f"ab[{a},2]", 1))], d["Q"], v)
    for k in range(1, K + 1):
        add([form((f"ab[{k},{c}]", 1)) for c in (1, 2)], d["P"], [0, 0])
    add(form(("mu", 1)), 0.3, 1)
    for s in range(1, S + 1):
        add(form((f"base[{s}]", 1)), 0.5, 0)
        for k in range(1, A + 1):
            add(form((f"base[{s}]", 1), (f"arm[{s},{k}]", 1)), 1.5,
                d["z"][s - 1][k - 1])
            if k > 1:
                earlier = [(x, -q / (k - 1)) for l in range(2, k)
                           for x, q in ((f"arm[{s},{l}]", 1), (f"c[{l}]", -1))]
                add(form((f"arm[{s},{k}]", 1), (f"c[{k}]", -1), *earlier),
                    tau * 2 * (k - 1) / k, 0)
    for k in range(2, A + 1):
        add(form((f"c[{k}]", 1)), 0.2, 0)
    return H, h


known = {at["ab[2,1]"]: 0.4, at["ab[2,2]"]: -0.7}
free = [q for q in range(n) if q not in known]
held = list(known)
scales, logs, means, squares = (np.arange(600) + 0.5) / 400, [], [], []
for scale in scales:
    H, h = given(scale**-2)
    V = np.linalg.inv(H[np.ix_(free, free)])
    b = h[free] - H[np.ix_(free, held)] @ [known[q] for q in held]
    logs.append(0.5 * np.linalg.slogdet(V)[1] + 0.5 * b @ V @ b
                - S * (A - 1) * np.log(scale))
    means.append(np.append(V @ b, scale))
    squares.append(np.append(np.diag(V), 0) + means[-1] ** 2)
weight = np.exp(np.array(logs) - max(logs))
weight /= weight.sum()
mean = weight @ np.array(means)
sds = np.sqrt(weight @ np.array(squares) - mean**2)
fit = json.load(open("fit.json"))["parameters"]
bad = 0
for name, e, sd in zip([names[q] for q in free] + ["sd"], mean, sds):
    p = fit[name]
    z = (p["mean"] - e) / p["mcse"]
    if (not abs(z) < 4.5 or not 0.95 < p["sd"] / sd < 1.05
            or p["ess_bulk"] < (2000 if name == "sd" else 4000)):
        print(name, p["mean"], e, z, p["sd"], sd, p["ess_bulk"])
        bad += 1
sys.exit(bad > 0)
E
python3 -c 'import numpy' 2>/dev/null || { echo "numpy is missing"; exit 77; }
python3 data.py || fail "data"
status 0 "$GBMC" --explain model.gbm
prints '^[0-9]+ +ab, mu .*joint Gaussian'
prints '^[0-9]+ +arm\[s,k\], c\[k\],.*joint Gaussian'
prints 'sd: moved with arm\[s,k\], '
status 0 "$GBMC" -O 1 model.gbm -o model
status 0 ./model check --data data.json
status 0 ./model --data data.json --quiet --draws 4000 --summary fit.json
python3 compare.py || fail "another posterior"

device_draws_as_host model data.json
