#!/usr/bin/env bash
# A Gaussian process whose noise is tried so small that its covariance matrix
# has a root in one order of rounding and none in another: no density is
# compared there, and check passes.
source "$GBM_ROOT/tests/cli/lib"

cat >gp.gbm <<'E'
model {
  y ~ dmnorm.vcov(mu, K)
  for (i in 1:n) {
    mu[i] <- 0
    for (j in 1:n) {
      K[i,j] <- pow(eta, 2) * exp(-D2[i,j] / (2 * pow(rho, 2))) +
                equals(i, j) * pow(sigma, 2)
    }
  }
  rho ~ dgamma(5, 5)
  eta ~ dnorm(0, 1) T(0,)
  sigma ~ dnorm(0, 1) T(0,)
}
E
data() { # SEED: points at random
    /usr/bin/env python3 - "$1" >d.json <<'E'
import json, random, sys
n, r = 26, random.Random(int(sys.argv[1]))
x = sorted(round(r.uniform(0, 6), 2) for _ in range(n))
print(json.dumps({"n": n, "y": [round(r.gauss(a % 2, .3), 2) for a in x],
                  "D2": [[(a - b) ** 2 for b in x] for a in x]}))
E
}
status 0 "$GBMC" -O 2 gp.gbm -o gp
for points in 1 2 11; do
    data $points
    for seed in 2 3; do
        status 0 ./gp check --data d.json --seed $seed --threads 1
    done
done
