#!/usr/bin/env bash
# Elements that no data reach: what keeps their full conditional proper is the
# prior alone, and it need not be of the family that the others' are of.
source "$GBM_ROOT/tests/cli/lib"

cat >groups.gbm <<'E'
model {
  for (j in 1:4) {
    m[j] ~ dexp(1.5)
    r[j] ~ dexp(0.5) T(0.2, 3)
    v[j] ~ dgamma(2, 1)
    s[j] ~ dunif(0, 2)
  }
  b ~ dexp(2)
  for (i in 1:6) {
    y[i] ~ dnorm(m[g[i]] + r[h[i]] + b * x[i], 1)
    z[i] ~ dnorm(s[h[i]], 1 / v[g[i]])
  }
}
E
echo '{"g": [1, 1, 2, 2, 4, 4], "h": [1, 2, 1, 2, 1, 2], "x": [0, 0, 0, 0, 0, 0],
"y": [1, 2, 0.5, 1.5, null, null], "z": [1, 2, 3, 2, null, 0.4]}' >groups.json
agrees groups.gbm groups.json
status 0 ./sampler check --data groups.json
