#!/usr/bin/env bash
# Coefficients that are drawn as one dense block move with the nodes of their
# prior, where the data say little of them; those that an augmentation's nodes
# hold do not. A device draws what the host does.
source "$GBM_ROOT/tests/cli/lib"

cat >ridge.gbm <<'E'
model {
  tau ~ dpar(0.05, 0.1) T(, 1.0E100)
  for (j in 1:3) { beta[j] ~ dnorm(0, tau) }
  for (i in 1:4) { y[i] ~ dnorm(inprod(X[i,], beta[]), 2) }
  size <- log(tau)
}
E
echo '{"X": [[1, 0.5, -0.3], [0.2, 0.1, 0.4], [-0.5, 0.3, 1], [0.7, -0.6, 0.2]],
       "y": [0.1, 0.2, -0.3, 0.4]}' >data.json
status 0 "$GBMC" ridge.gbm -o ridge
status 0 ./ridge check --data data.json
status 0 ./ridge --data data.json --draws 4000 --seed 3 --monitor size \
    --summary s.json
python3 - <<'E' || fail "$(cat s.json)"
import json
p = json.load(open("s.json"))["parameters"]
print({n: (q["ess_bulk"], q["rhat"]) for n, q in p.items()})
assert all(q["ess_bulk"] > 400 and q["rhat"] < 1.02 for q in p.values())
E
device_draws_as_host ridge data.json

cat >probit.gbm <<'E'
model {
  tau ~ dgamma(1, 1)
  for (j in 1:3) { beta[j] ~ dnorm(0, tau) }
  for (i in 1:4) { z[i] ~ dbern(phi(inprod(X[i,], beta[]))) }
}
E
status 0 "$GBMC" --emit=plan probit.gbm
prints "Gaussian block, dense"
if grep -q "scale with its plate" .out; then
    fail "moved though it is held"
fi

# A scale that may be negative: the check's points on the other side of 0, too.
cat >signed.gbm <<'E'
model {
  s ~ dnorm(0, 1)
  for (j in 1:3) { beta[j] ~ dnorm(0, pow(s, -2)) }
  for (i in 1:4) { y[i] ~ dnorm(inprod(X[i,], beta[]), 2) }
  z ~ dnorm(s, 1)
}
E
echo '{"X": [[1, 0.5, -0.3], [0.2, 0.1, 0.4], [-0.5, 0.3, 1], [0.7, -0.6, 0.2]],
       "y": [0.1, 0.2, -0.3, 0.4], "z": 0.4}' >signed.json
status 0 "$GBMC" -O 1 signed.gbm -o signed
status 0 ./signed check --data signed.json --points 20
prints '^s, beta .* pass$'
