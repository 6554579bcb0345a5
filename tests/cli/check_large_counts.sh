#!/usr/bin/env bash
# Poisson counts of a million, with effects that move with their scales: `check`
# and the check at the start take what rounding does to a sum of large terms for
# rounding.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ dpois(exp(a + beta * x[i] + b[g[i]] + u[t[i]]))
  }
  for (j in 1:J) { b[j] ~ dnorm(0, tau) }
  for (k in 1:T) { u[k] ~ dnorm(0, tau_u) }
  a ~ dnorm(0, 0.001)
  beta ~ dnorm(0, 0.001)
  tau ~ dgamma(1, 0.1)
  tau_u ~ dgamma(1, 0.1)
}
E
python3 - >data.json <<'E'
import json
import math
import random

random.seed(1)
J, T = 20, 10
b = [random.gauss(0, 0.3) for _ in range(J)]
u = [random.gauss(0, 0.3) for _ in range(T)]
cells = [(j, t, round(random.gauss(0, 1), 3)) for j in range(J)
         for t in range(T)]
mean = [math.exp(13.8 + 0.2 * x + b[j] + u[t]) for j, t, x in cells]
print(json.dumps({
    "y": [round(m + random.gauss(0, m ** 0.5)) for m in mean],
    "g": [j + 1 for j, _, _ in cells], "t": [t + 1 for _, t, _ in cells],
    "x": [x for _, _, x in cells], "N": J * T, "J": J, "T": T}))
E
status 0 "$GBMC" --explain model.gbm
prints "moved with b, u, a, beta too, by one factor"
status 0 "$GBMC" -O 0 model.gbm -o model
for seed in 1 2 3; do
    status 0 ./model check --data data.json --seed "$seed"
    prints "joint elliptical slice +60 .* pass"
    status 0 ./model --data data.json --device cpu --quiet --seed "$seed" \
        --warmup 100 --draws 10 --out draws.csv
done
