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

# Factors of which one reads the other, with scales of their own in one array:
# neither moves with the other's scale.
cat >model.gbm <<'E2'
model {
  for (i in 1:n) {
    for (j in 1:2) { y[i,j] ~ dnorm(f[i,j] + a, 1) }
    f[i,1] ~ dnorm(0, tau[1])
    f[i,2] ~ dnorm(g * f[i,1], tau[2])
  }
  g ~ dnorm(0, 1)
  for (k in 1:2) { tau[k] ~ dgamma(2, 2) }
  a ~ dnorm(0, 4)
}
E2
cat >data.json <<'E2'
{"n": 8, "y": [[0.32, -0.15], [-1.1, -1.81], [2.46, 2.28], [0.11, -0.56],
  [0.85, 0.87], [0.6, 0.87], [0.68, 0.15], [-2.89, -2.11]]}
E2
status 0 "$GBMC" -O 0 model.gbm -o sampler
status 0 ./sampler check --data data.json
prints 'joint Gaussian block .* pass'
