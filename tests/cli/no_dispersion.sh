#!/usr/bin/env bash
# Counts without more spread than a Poisson has, under distributions that can
# have more: the size goes wherever its prior lets it, up to 1e30, and the
# density there is that of the limit, without noise to be caught by.
source "$GBM_ROOT/tests/cli/lib"

cat >data.json <<'E'
{"N": 24, "n": 9,
 "x": [0.3, 0.8, 0.3, -1.3, 0.9, 0.4, -0.5, 0.6, 0.4, 0.3, 0, 0.5,
       -0.7, -0.2, -0.5, 0.6, 0, -0.3, -0.8, -0.3, -0.1, 1.4, -0.7, 0.4],
 "y": [3, 4, 2, 1, 4, 3, 2, 4, 4, 3, 2, 4, 2, 3, 2, 3, 3, 2, 1, 2, 2, 5, 1, 4]}
E
head='model {
  b0 ~ dnorm(0, 0.1)
  b1 ~ dnorm(0, 0.1)
  lr ~ dnorm(20, 0.01)
  r <- exp(lr)
  for (i in 1:N) {
    log(mu[i]) <- b0 + b1 * x[i]'
cat >share.gbm <<E
$head
    p[i] <- r / (r + mu[i])
    y[i] ~ dnegbin(p[i], r)
  } }
E
cat >mean.gbm <<E
$head
    y[i] ~ neg_binomial_2(mu[i], r)
  } }
E
cat >binomial.gbm <<'E'
model {
  b0 ~ dnorm(0, 0.1)
  b1 ~ dnorm(0, 0.1)
  lr ~ dnorm(20, 0.01)
  for (i in 1:N) {
    y[i] ~ dbetabin(exp(lr + b0 + b1 * x[i]), exp(lr - b0), n)
  }
}
E
for m in share mean binomial; do
    agrees $m.gbm data.json
    python3 - $m <<'E' || fail "$m: not where the data are"
import json, sys
p = json.load(open("derived.json"))["parameters"]
# ybar is 2.75: of a Poisson, and of 9 trials
low, high = (-0.6, -0.2) if sys.argv[1] == "binomial" else (0.6, 1.2)
assert low < p["b0"]["mean"] < high, p["b0"]
assert p["lr"]["mean"] > 15 and p["lr"]["q95"] > 28, p["lr"]
E
done
exit 0
