#!/usr/bin/env bash
# Where a probability rounds to 1, the terms of a count's full conditional are
# infinite with either sign, and its density is none: there it is evaluated as
# the model has it. What is not so is found by check, which meets such points.
source "$GBM_ROOT/tests/cli/lib"

# Chains come to such points, as half of the posteriors lies there.
passes() {
    status 0 "$GBMC" -O 1 "$1.gbm" -o "$1"
    for seed in 1 2 3; do
        status 0 ./"$1" check --data "$1.json" --seed $seed
        status 0 ./"$1" --data "$1.json" --seed $seed --quiet --draws 50
    done
}

# Survivors of survivors, and what is seen of them.
cat >survivors.gbm <<'END'
model {
  b ~ dnorm(1, 0.25)
  cloglog(q) <- b
  N[1] ~ dpois(5)
  for (i in 2:4) { N[i] ~ dbin(q * q, N[i - 1]) }
  for (r in 1:4) { y[r] ~ dpois(0.7 * N[r] + 0.1) }
}
END
echo '{"y": [0, 0, 1, 0]}' >survivors.json
passes survivors
agrees survivors.gbm survivors.json

# A node of 0 and 1 that is a size; where both say 1, it is 1.
cat >present.gbm <<'END'
model {
  b ~ dnorm(1, 0.01)
  probit(q) <- b
  a ~ dnorm(1, 0.01)
  probit(w) <- a
  for (i in 1:5) {
    z[i] ~ dbern(q * q)
    y[i] ~ dbin(w * w, z[i])
    x[i] ~ dnorm(z[i], 2)
  }
}
END
echo '{"y": [1, 1, 1, 1, 1], "x": [0.5, 1, 0.2, 1.1, 0.8]}' >present.json
passes present

# Several counts of one size, whose terms are a loop over columns: with a
# prior that is open above, and with one that saturates, too.
cat >counted.gbm <<'END'
model {
  a ~ dnorm(1, 0.1)
  cloglog(q) <- a
  M ~ dbin(q * q, 6)
  N ~ dpois(4)
  for (j in 1:3) {
    x[j] ~ dbin(q * q, M)
    y[j] ~ dbin(q * q, N)
  }
}
END
echo '{"x": [6, 6, 6], "y": [3, 3, 3]}' >counted.json
passes counted
agrees counted.gbm counted.json

# A negative binomial size of a size of a size, with two links.
cat >sizes.gbm <<'END'
model {
  b ~ dnorm(0, 0.1)
  cloglog(q) <- b
  a ~ dnorm(5, 0.003)
  logit(w) <- a
  for (i in 1:4) {
    N[i] ~ dnegbin(q * q, 2)
    S[i] ~ dbin(w * w, N[i])
    y[i] ~ dbin(w * w, S[i])
    x[i] ~ dpois(N[i] + 0.3)
  }
}
END
echo '{"y": [0, 1, 0, 2], "x": [0, 2, 1, 3]}' >sizes.json
passes sizes
agrees sizes.gbm sizes.json
