#!/usr/bin/env bash
# The ends of loops and ranges: what summarises data, 1:max(group), and what a
# random variable is observed to be, 1:count[i], are numbers once data are
# loaded. What is missing there, or drawn, is told.
source "$GBM_ROOT/tests/cli/lib"

# Levels counted by the data, in a joint block and in a vector's range.
cat >levels.bug <<'E'
model {
  for (i in 1:length(y)) {
    y[i] ~ dpois(exp(b[1] + b[2] * x[i] + u[site[i]] + w[site[i]]))
  }
  for (s in 1:max(site)) { u[s] ~ dnorm(0, tau) }
  w[1:max(site)] ~ dmnorm(rep(0, max(site)), Q)
  for (k in min(site):max(site)) {
    for (l in 1:max(site)) { Q[k, l] <- 4 * equals(k, l) }
  }
  for (j in 1:2) { b[j] ~ dnorm(0, 0.1) }
  tau ~ dgamma(2, 1)
}
E
cat >levels.json <<'E'
{"y": [1, 0, 3, 2, 5, 1, 0, 2], "site": [1, 2, 3, 1, 3, 2, 2, 1],
 "x": [0.1, -1, 0.4, 1.2, 0.9, -0.3, -0.8, 0.2]}
E
agrees levels.bug levels.json
status 0 ./sampler check --data levels.json
# They are counted once, not again by each pass over them.
status 0 "$GBMC" --emit=c levels.bug
[ "$(grep -c 'gbm_max(s->site_v_n1' .out)" -le 4 ] || fail "counted again"

# An end of each row, which no table of constants holds: m[i] differs.
cat >rows.bug <<'E'
model {
  for (i in 1:3) {
    for (j in 1:m[i]) {
      for (k in 1:max(n[i, j:2])) { v[i, j, k] ~ dpois(lambda[k]) }
    }
  }
  for (k in 1:max(n)) { lambda[k] ~ dgamma(a, 1) }
  a ~ dexp(1)
}
E
cat >rows.json <<'E'
{"n": [[2, 1], [3, 2], [1, 1]], "m": [2, 1, 2],
 "v": [[[1, 2, null], [3, null, null]], [[0, 1, 4], [null, null, null]],
       [[2, null, null], [1, null, null]]]}
E
agrees rows.bug rows.json

# Counts with a distribution say how long rows are, as in JAGS.
cat >counts.bug <<'E'
model {
  for (i in 1:3) {
    n[i] ~ dpois(rate)
    for (j in 1:n[i]) { y[i, j] ~ dnorm(mu, 1) }
    class[i] ~ dcat(p[])
    z[i] ~ dnorm(level[class[i]], 1)
  }
  for (k in 1:max(class)) { level[k] ~ dnorm(mu, 1) }
  p[1:max(class)] ~ ddirch(rep(1, max(class)))
  rate ~ dgamma(1, 1)
  mu ~ dnorm(0, 0.1)
}
E
cat >counts.json <<'E'
{"n": [2, 3, 1], "class": [1, 2, 1], "z": [0.3, 1, 0.2],
 "y": [[1.1, 0.4, null], [0.3, 0.2, 1.4], [2, null, null]]}
E
agrees counts.bug counts.json
status 0 ./sampler check --data counts.json
sed 's/"n": .2, 3/"n": [2, null/' counts.json >missing.json
status 1 ./sampler check --data missing.json
says 'n\[2\] is missing in the data, but counts.bug:4:25 reads it'
sed 's/"class": .1, 2/"class": [1, null/' counts.json >missing.json
status 1 ./sampler --data missing.json
says 'class\[2\] is missing in the data'

# A data block reads what it is given, however it is read.
cat >block.bug <<'E'
data { total <- sum(n[]) }
model {
  for (i in 1:3) { n[i] ~ dpois(rate) }
  y ~ dnorm(total * mu, 1)
  rate ~ dgamma(1, 1)
  mu ~ dnorm(0, 1)
}
E
status 0 "$GBMC" -O 0 block.bug -o block
echo '{"n": [2, 3, 1], "y": 3}' >whole.json
status 0 ./block check --data whole.json
echo '{"n": [2, null, 1], "y": 3}' >missing.json
status 1 ./block check --data missing.json
says 'n\[2\] is missing in the data, but block.bug:1:8 reads it'

# What is drawn is no end.
cat >drawn.bug <<'E'
model {
  z ~ dpois(3)
  last <- z + 1
  for (k in 1:last) { u[k] ~ dnorm(0, 1) }
}
E
status 1 "$GBMC" drawn.bug -o drawn
says 'drawn.bug:4:23: error: how many elements of u'
says 'compute it in data'
sed 's/last <- z + 1/for (k in 1:2) { many[k] <- z + k }/; s/1:last/1:max(many)/' \
    drawn.bug >many.bug
status 1 "$GBMC" many.bug -o many
says 'many.bug:4:28: error: how many elements of u'
