#!/usr/bin/env bash
# A joint block whose precision has no factor, its rounding being larger than
# what the other terms add, stays where it is, and no scale moves with its
# plate: `check` must ask for what the update does.
source "$GBM_ROOT/tests/cli/lib"
cat >model.gbm <<'M'
model {
  x[1] ~ dnorm(0, 2.7)
  for (t in 2:4) { x[t] ~ dnorm(p * x[t - 1], exp(-2 * b)) }
  for (i in 1:12) { y[i] ~ dnorm(u[g[i]] + x[k[i]], 1) }
  for (j in 1:2) { u[j] ~ dnorm(0, tau) }
  b ~ dnorm(0, 0.0001)
  p ~ dunif(0, 1)
  tau ~ dgamma(2, 2)
}
M
cat >data.json <<'J'
{"g": [2,1,1,2,1,1,1,2,2,2,1,1], "k": [2,1,2,2,2,3,1,1,2,3,3,4],
 "y": [0.3,0.1,1,-0.4,0.2,-1,0.6,1.2,0.3,1.1,-0.2,0.8]}
J
echo '{"b": -49.8, "x": [3.1, 2.5, 1.7, 1.4], "tau": 11.5, "u": [-21, -30.7], "p": 0.5}' >far.json
status 0 "$GBMC" -O0 model.gbm -o model
"$GBMC" --emit=sweep model.gbm | grep -q 'moves tau with u' ||
    fail "the model tests another sampler"
status 0 ./model check --data data.json --init far.json --chains 1 --device cpu
prints 'joint Gaussian block .* pass'
