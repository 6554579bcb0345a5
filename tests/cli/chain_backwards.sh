#!/usr/bin/env bash
# A chain written from its last element to its first, or in an order that is
# data: its scale moves with it only where a row's earlier elements have their
# rows before it.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'E2'
model {
  for (t in 1:n) {
    y[t] ~ dnorm(0, exp(-h[t]))
    z[t] ~ dnorm(0, exp(-g[t]))
  }
  h[1] ~ dnorm(mu, tau)
  for (t in 2:n) { h[n + 2 - t] ~ dnorm(mu + phi * (h[n + 1 - t] - mu), tau) }
  g[1] ~ dnorm(mu, tau2)
  for (t in 2:n) { g[turn[t]] ~ dnorm(mu + phi * (g[turn[t] - 1] - mu), tau2) }
  mu ~ dnorm(0, 0.5)
  phi ~ dunif(0, 1)
  tau ~ dgamma(2.5, 0.1)
  tau2 ~ dgamma(2.5, 0.1)
}
E2
cat >data.json <<'E2'
{"n": 6, "turn": [1, 4, 3, 5, 2, 6],
 "y": [-0.08, 0.38, 0.15, -0.27, 0.21, -0.07],
 "z": [0.4, -0.7, 0.1, 0.9, -0.3, 0.2]}
E2
status 0 "$GBMC" -O 0 model.gbm -o sampler
status 0 ./sampler check --data data.json
prints 'joint elliptical slice .* pass'
