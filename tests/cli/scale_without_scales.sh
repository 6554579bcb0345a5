#!/usr/bin/env bash
# A scale of normals that stands beside a scale of each, as tau of b[j] ~ normal(0,
# lambda[j] * tau), is drawn with these integrated out: explained; its posterior by
# quadrature, where some are data and some have no child; the self-check; the
# joint distribution test; it mixes better than given them.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'M'
model {
  for (j in 1:K) { lambda[j] ~ half_cauchy(1) }
  for (j in 1:P) { b[j] ~ dnorm(0, 1 / (lambda[j] * tau)^2) }
  tau ~ half_cauchy(0.5)
  for (i in 1:P) { y[i] ~ dnorm(inprod(X[i,], b[]), 400) }
}
M
cat >data.py <<'E'
import json
import numpy as np
P = 24
y = np.round(np.random.default_rng(5).normal(0, 0.06, P), 3)
y[:3] = [1.4, -2.1, 0.9]
json.dump(dict(P=P, K=P + 2, X=np.eye(P).tolist(), y=y.tolist(),
               **{"lambda": [None] * 3 + [0.5, 1.5] + [None] * (P - 3)}),
          open("data.json", "w"))
E
python3 data.py || fail "data.py"
"$GBMC" -O 1 --explain model.gbm -o new >explained || fail "gbmc"
grep -qE "tau +1 +slice, lambda integrated out" explained ||
    fail "tau is drawn given lambda"
{
    cat model.gbm
    echo 'samplers { tau: gibbs; }'
} >asked.gbm
"$GBMC" -O 1 asked.gbm -o old || fail "gbmc of asked.gbm"
for name in new old; do
    ./$name --data data.json --device cpu --quiet --chains 4 --warmup 500 \
        --draws 4000 --monitor tau --summary $name.json >/dev/null ||
        fail "$name"
done
./new check --data data.json --device cpu >.out 2>&1 || fail "check"
./new geweke --data data.json --device cpu >.out 2>&1 || fail "geweke"

cat >exact.py <<'E'
import json
import numpy as np
d = json.load(open("data.json"))
log_tau = np.linspace(-10, 2, 401)
tau = np.exp(log_tau)
scales = np.tan((np.arange(1000) + 0.5) / 1000 * np.pi / 2)  # equally likely
total = log_tau - np.log(1 + (tau / 0.5) ** 2)
for y, known in zip(d["y"], d["lambda"]):
    s = np.array([known]) if known else scales
    v = 1 / 400 + np.outer(tau, s) ** 2
    total += np.log((np.exp(-0.5 * y * y / v) / np.sqrt(v)).mean(1))
w = np.exp(total - total.max())
w /= w.sum()
mean = w @ tau
sd = (w @ tau**2 - mean**2) ** 0.5
found = {k: json.load(open(k + ".json"))["parameters"]["tau"]
         for k in ("new", "old")}
for k, f in found.items():
    assert abs(f["mean"] - mean) < 4 * f["mcse"], (k, f, mean)
    assert abs(f["sd"] / sd - 1) < 0.1, (k, f, sd)
gain = found["new"]["ess_bulk"] / found["old"]["ess_bulk"]
print(gain, mean, sd, found)
assert gain > 1.5, found
E
python3 exact.py >.out || fail "tau"
cat .out
