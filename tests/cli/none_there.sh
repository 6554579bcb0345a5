#!/usr/bin/env bash
# A negative binomial count whose mean an indicator, or an exposure of the data,
# makes 0: as a mixture of Poissons (stdlib/augmentations/poisson_gamma.gbm) it
# would hold the indicator, and that the mixture, for ever. Where the mean is a
# product of what is positive it is one.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'E'
model {
  for (i in 1:10) {
    y[i] ~ dnegbin(r / (r + z[i] * mu), r)
    z[i] ~ dbern(q)
    x[i] ~ dnegbin(s / (s + t[i] * nu), s)
  }
  q ~ dunif(0, 1)
  r ~ dgamma(2, 1)
  mu ~ dgamma(1, 1)
  s ~ dgamma(2, 1)
  nu ~ dgamma(1, 1)
}
E
cat >data.json <<'E'
{"y": [0, 3, 1, 0, 0, 0, 2, 0, 5, 0], "x": [0, 2, 1, 0, 0, 4, 3, 1, 0, 0],
 "t": [0, 1, 2, 1, 0.5, 1, 3, 1, 0, 1]}
E
agrees model.gbm data.json
status 0 ./sampler check --data data.json
prints 'z .* enumeration .* pass'
cat >positive.gbm <<'E'
model {
  for (i in 1:10) { y[i] ~ dnegbin(r / (r + lambda[g[i]] * mu), r) }
  for (k in 1:2) { lambda[k] ~ dgamma(1, 1) }
  r ~ dgamma(2, 1)
  mu ~ dgamma(1, 1)
}
E
status 0 "$GBMC" --explain positive.gbm
prints 'y.l .* gamma \(augmented\)'

# Of size 0 there are no failures, whatever else says so; the derivative is 0, too.
cat >size.gbm <<'E'
model {
  x ~ dnegbin(p, s)
  w ~ dnorm(x, 1.0E6)
  p ~ dbeta(2, 2)
  for (i in 1:4) { y[i] ~ dnegbin(p, z[i] * r) }
  r ~ dgamma(2, 1)
}
E
echo '{"w": 3, "s": 0, "y": [0, 2, 0, 1], "z": [0, 1, 0, 2]}' >size.json
status 0 "$GBMC" -O 1 size.gbm -o size
status 0 ./size --data size.json --quiet --monitor x --summary size.out
grep -q '"mean": 0,' size.out || fail "failures of size 0"
status 0 ./size check --gradients --data size.json
prints 'r .* pass'
