#!/usr/bin/env bash
# Precision matrices with a scaled Wishart prior: drawn exactly given a number
# for each cell of the diagonal that is added; the posterior by quadrature, and
# as drawn plainly; a plate of them, of which some scales are parameters; the
# joint distribution test.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'M'
model {
  for (i in 1:N) { y[i,1:2] ~ dmnorm(zero[], Omega[,]) }
  Omega[1:2,1:2] ~ dscaled.wishart(s[], 2)
  V[1:2,1:2] <- inverse(Omega[,])
  sd1 <- sqrt(V[1,1])
  sd2 <- sqrt(V[2,2])
  cor <- V[1,2] / (sd1 * sd2)

  for (g in 1:G) {
    for (i in 1:n) { x[g,i,1:K] ~ dmnorm(mu[g,], Q[g,,]) }
    mu[g,1:K] ~ dmnorm(m[], Q0[,])
    Q[g,1:K,1:K] ~ dscaled.wishart(size[], df[g])
  }
  for (j in 1:K) { size[j] ~ dgamma(3, 2) }
}
M
python3 - <<'P'
import json
import numpy as np
r = np.random.default_rng(2)
L = np.array([[1, 0, 0], [.6, .7, 0], [-.3, .2, 2]])
json.dump(dict(N=6, s=[1, 2.5], zero=[0, 0],
               y=(r.normal(size=(6, 2)) @ [[1, 0.8], [0, 0.7]]).tolist(),
               G=3, n=8, K=3, x=(r.normal(size=(3, 8, 3)) @ L.T).tolist(),
               m=[0] * 3, Q0=(np.eye(3) * 0.1).tolist(), df=[2, 3, 2.5]),
          open("data.json", "w"))
P
status 0 "$GBMC" model.gbm --explain -o model
prints 'Omega +2 x 2 +Wishart, 2 x 2'
prints 'Omega.a +2 +inverse gamma \(augmented\)'
prints 'Q.a +G x K +inverse gamma \(augmented\)'
status 0 ./model check --data data.json --points 20
status 0 ./model --data data.json --draws 8000 --quiet --summary fit.json
python3 - <<'P' || fail "the posterior is not that by quadrature"
import json, sys
import numpy as np
d = json.load(open("data.json"))
fit = json.load(open("fit.json"))["parameters"]
y, s, nu, K = np.array(d["y"]), d["s"], 2, 2
a, b, r = np.meshgrid(np.exp(np.linspace(-2.5, 3, 150)),
                      np.exp(np.linspace(-2.5, 3, 150)),
                      np.linspace(-0.9995, 0.9995, 301), indexing="ij")
det = (a * b) ** 2 * (1 - r * r)  # of the covariance
O = np.array([[b * b / det, -r * a * b / det], [-r * a * b / det, a * a / det]])
# Huang and Wand (2013), eq. 2, of the covariance: |V|^-(nu + 2 K)/2
# prod (nu (V^-1)_kk + 1 / s_k^2)^-(nu + K) / 2; and V by a, b, r: (a b)^2
logs = -(nu + 2 * K) / 2 * np.log(det) + 2 * np.log(a * b) + np.log(a * b)
for k in range(K):
    logs -= (nu + K) / 2 * np.log(nu * O[k, k] + 1 / s[k] ** 2)
S = y.T @ y
logs -= len(y) / 2 * np.log(det) + 0.5 * sum(
    S[j, k] * O[j, k] for j in range(K) for k in range(K))
p = np.exp(logs - logs.max())
p /= p.sum()
worst = 0
for name, value in (("sd1", a), ("sd2", b), ("cor", r)):
    q = fit[name]
    z = (q["mean"] - (p * value).sum()) / q["mcse"]
    print(name, q["mean"], (p * value).sum(), z, q["ess_bulk"])
    worst = max(worst, abs(z))
    if q["ess_bulk"] < 16000:
        sys.exit(name + " is drawn in small steps")
sys.exit(int(worst > 4.5))
P
status 0 ./model --data data.json --draws 1500 --quiet --plain --summary plain.json
python3 - <<'P' || fail "not as drawn plainly"
import json, sys
a, b = (json.load(open(f))["parameters"] for f in ("fit.json", "plain.json"))
z = {n: (a[n]["mean"] - b[n]["mean"]) /
        (a[n]["mcse"] ** 2 + b[n]["mcse"] ** 2) ** 0.5
     for n in a if n[:2] in ("Q[", "mu", "si")}
print(len(z), max(map(abs, z.values())))
sys.exit(int(len(z) < 30 or max(map(abs, z.values())) > 4.5))
P
status 0 ./model geweke --data data.json --draws 4000 --quiet
exit 0
