#!/usr/bin/env bash
# Censored times whose shape has a prior with a mean of 1000, as the kidney data
# of WinBUGS have it without initial values: at the start rates are 0 and powers
# infinite, and draws between bounds are no numbers (sampler/confined.c stays
# where it is, in warm-up).
source "$GBM_ROOT/tests/cli/lib"

cat >frailty.gbm <<'M'
model {
  for (i in 1:N) {
    for (j in 1:2) {
      t[i, j] ~ dweib(r, mu[i, j]) C(seen[i, j],)
      log(mu[i, j]) <- alpha + beta * age[i, j] + b[i]
    }
    b[i] ~ dnorm(0, tau)
  }
  alpha ~ dnorm(0, 0.0001)
  beta ~ dnorm(0, 0.0001)
  tau ~ dgamma(0.001, 0.001)
  r ~ dgamma(1, 0.001)
}
M
awk 'BEGIN {
  srand(5); N = 30
  for (i = 1; i <= N; i++) {
    age = 10 + int(60 * rand())
    for (j = 1; j <= 2; j++) {
      x = int(-150 * log(rand())) + 2; c = 30 + int(400 * rand())
      from = j == 1 ? (i > 1 ? ",[" : "[") : ","; to = j == 2 ? "]" : ""
      t = t from (x < c ? x : "null") to
      s = s from (x < c ? 0 : c) to
      a = a from age to
    }
  }
  printf "{\"N\": %d, \"t\": [%s], \"seen\": [%s], \"age\": [%s]}\n", N, t, s, a
}' >frailty.json
status 0 "$GBMC" -O 1 frailty.gbm -o frailty
for seed in 1 2 3 4 5 6; do
    status 0 ./frailty --data frailty.json --seed $seed --draws 50 --warmup 100 --quiet
done
