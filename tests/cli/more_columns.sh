#!/usr/bin/env bash
# Coefficients that are fewer than the columns: the cells beyond are data, whose
# part of the predictor the block leaves to the response. Sums over rows are
# computed at load for both.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'E'
model {
  mu <- X %*% beta
  for (i in 1:N) { y[i] ~ dnorm(mu[i], tau) }
  beta[1:p] ~ dmnorm(b0, B0)
  tau ~ dgamma(1, 1)
}
E
cat >data.json <<'E'
{"N": 5, "p": 2, "b0": [0, 0], "B0": [[1, 0.2], [0.2, 1]],
 "beta": [null, null, 3], "y": [-2, 2.5, 1.7, 7, 2],
 "X": [[1, 0.5, -1], [1, -0.2, 0.4], [1, 1.1, 0.3], [1, 0.1, 2],
       [1, -1, 0.7]]}
E
status 0 "$GBMC" --explain model.gbm
prints '1 +beta .* over i at load'
status 0 "$GBMC" -O 0 model.gbm -o model
status 0 ./model check --data data.json
prints 'beta +Gaussian block .* pass'
