#!/usr/bin/env bash
# Effects that move with the scale of their prior to where that is 10^-8 of what it
# was (sampler/carried.c). Where their mean is 0 they keep all digits; where it is
# not, what rounding leaves of them is no fault of the sampler, and `check` says so
# (runtime/check/check_rounding.c: each way of rounding moves from where the first one did).
source "$GBM_ROOT/tests/cli/lib"

echo '{"N": 1, "y": [0], "n": [1]}' >m.json
echo '{"s": 0.1, "beta": [-4.01]}' >far.json
for mean in 0 0.25; do
    cat >m.gbm <<E
model {
  s ~ dgamma(2, 1)
  for (i in 1:N) {
    beta[i] ~ dnorm($mean, pow(s, -2))
    y[i] ~ dnorm(beta[i], 0.001)
    n[i] ~ dpois(exp(0.01 * beta[i]))
  }
}
E
    status 0 "$GBMC" -O 0 m.gbm -o m
    for seed in 1 13 51 57; do
        status 0 ./m check --data m.json --init far.json --seed $seed
        prints 's, beta .* plate with a node of its prior .* pass'
        [ $mean != 0 ] || prints 's, beta .* [0-9.]+e-1[0-9]  pass'
    done
done
