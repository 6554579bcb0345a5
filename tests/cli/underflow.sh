#!/usr/bin/env bash
# What a model computes underflows or overflows far out, and the algebra of a
# full conditional does not: that is rounding, no wrong sampler. Here all that a
# moves of the shares cancels.
source "$GBM_ROOT/tests/cli/lib"

cat >shares.gbm <<'END'
model {
  for (j in 1:2) {
    for (c in 1:3) {
      q[j,c] <- exp(-a * b[j] + w[c])
      p[j,c] <- q[j,c] / sum(q[j,])
    }
    n[j,1:3] ~ dmulti(p[j,], 6)
    b[j] ~ dnorm(0, 0.01)
  }
  a ~ dnorm(0, 0.01)
}
END
echo '{"w": [0.1, -0.4, 0.6], "n": [[1, 3, 2], [2, 2, 2]]}' >shares.json
status 0 "$GBMC" shares.gbm -o shares
status 0 ./shares check --data shares.json
prints '^a +dnorm +[0-9]+ .*pass'

# Where a scale overflows, a truncated density is infinite or no number: no
# sampler takes either.
cat >scale.gbm <<'END'
model {
  eta ~ dnorm(0, 2.6)
  total <- exp(0.5 * eta^2)
  for (k in 1:2) {
    a[k] ~ dnorm(eta, 1 / total^2) T(-2.1, 2)
    b[k] ~ dnorm(-0.85, total)
  }
}
END
echo '{"a": [0.05652, 0.4611], "b": [1.177, -0.2979]}' >scale.json
status 0 "$GBMC" scale.gbm -o scale
status 0 ./scale check --data scale.json --seed 2
status 0 ./scale check --data scale.json --seed 3

# A count of 0 has no part of what overflows: (1 - z) exp(b^2) where z is 1.
cat >count.gbm <<'END'
model {
  a ~ dnorm(0, 0.01)
  b ~ dnorm(a, 0.1)
  cloglog(p) <- b * b
  z ~ dbern(p)
}
END
echo '{"z": 1, "b": 40}' >count.json
status 0 "$GBMC" count.gbm -o count
status 0 ./count --data count.json --quiet

# Nor have the counts of a plate, whose terms are a loop over columns.
cat >counts.gbm <<'EOF'
model {
  for (i in 1:4) {
    cloglog(p[i]) <- b * x[i] + b * b
    z[i] ~ dbern(p[i])
  }
  b ~ dnorm(0, 0.01)
}
EOF
echo '{"z": [1, 1, 1, 1], "x": [0.3, -0.2, 1.4, 0.8]}' >counts.json
echo '{"b": 40}' >far.json
status 0 "$GBMC" counts.gbm -o counts
status 0 ./counts check --data counts.json --init far.json
prints '^b +slice +[0-9]+ .*pass'

# From where exp() of what a density is of underflows, a sampler goes on by its
# logarithm, and what the plain density makes impossible there tells nothing of
# the other nodes. Rates below all normal numbers are rates, too.
cat >rates.gbm <<'END'
model {
  s ~ dgamma(2.5, 3.9)
  for (c in 1:3) {
    u[c] ~ ddexp(0, 1.1)
  }
  for (i in 1:5) {
    y[i] ~ dt(u[2], 1 / s^2, 5)
    x[i] ~ dweib(1.7, exp(0.36 * (u[k[i]] * u[1] + u[l[i]])))
    seen[i] ~ dinterval(x[i], limit[i])
  }
}
END
echo '{"y": [3.6, 1.1, 3.5, 2, 1], "k": [3, 1, 3, 3, 3], "l": [2, 3, 2, 3, 3],
  "seen": [1, 0, 1, 0, 1], "limit": [1.6, 1.8, 1.3, 1.4, 1.9],
  "x": [null, 0.3617, null, 1.091, null]}' >rates.json
echo '{"s": 7, "u": [24.4, -11, -12.4]}' >rates.init.json
status 0 "$GBMC" rates.gbm -o rates
for seed in 1 4 11 12; do
    status 0 timeout 60 ./rates check --data rates.json \
        --init rates.init.json --seed $seed
done

# Years as they are: at the start exp(b * year) is 0 or infinite. What a sum of
# exp(rest) has lost must not be missed where exp(rest + a) is an ordinary number;
# an effect of one row may go further in one draw than exp() reaches.
cat >years.gbm <<'M'
model {
  for (i in 1:n) {
    y[i] ~ dpois(lambda[i])
    log(lambda[i]) <- a + b * year[i] + c[g[i]]
    z[i] ~ dpois(mu[i])
    log(mu[i]) <- d * year[i] + e[i]
    e[i] ~ dnorm(0, tau)
  }
  a ~ dunif(-1000, 1000)
  b ~ dunif(-100, 100)
  d ~ dunif(-100, 100)
  for (k in 1:4) { c[k] ~ dt(0, 1.0E-3, 3) }
  tau ~ dgamma(0.001, 0.001)
}
M
cat >years.json <<'M'
{"n": 8, "year": [1980, 1985, 1990, 1995, 2000, 2005, 2010, 2015],
 "y": [4, 3, 6, 5, 9, 8, 12, 11], "z": [2, 5, 3, 7, 6, 6, 11, 9],
 "g": [1, 2, 3, 4, 1, 2, 3, 4]}
M
status 0 "$GBMC" -O1 years.gbm -o years
for seed in 1 2 3 4 5 6 7 8; do
    status 0 ./years --data years.json --seed $seed --warmup 200 --draws 10
    status 0 ./years check --data years.json --seed $seed
done
