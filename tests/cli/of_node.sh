#!/usr/bin/env bash
# OpenBUGS's cumulative(x, v), density(x, v) and deviance(x, v) are the functions
# of x's distribution at v: the draws are those of a model that writes these out.
source "$GBM_ROOT/tests/cli/lib"
cat >of.bug <<'E2'
model {
  for (g in 1:G) {
    b[g] ~ dnorm(m, tau)
    for (i in 2:N) {
      y[g, i - 1] ~ dpois(exp(b[g] + x[i] * slope))
      at[g, i] <- cumulative(y[g, i - 1], y[g, i - 1])
      first[g, i] <- density(y[1, i - 1], g) + deviance(b[2], x[i])
    }
  }
  m ~ dnorm(sd = 2, mean = 0)
  above <- 1 - cumulative(m, 1) * cumulative(slope, x[cumulative(K, 9)])
  K ~ dbin(0.5, 2)
  slope ~ dunif(-3, 3)
  tau ~ dgamma(2, 1)
}
E2
sed -e 's/cumulative(y\[g, i - 1\], y\[g, i - 1\])/ppois(y[g, i - 1], exp(b[g] + x[i] * slope))/' \
    -e 's/density(y\[1, i - 1\], g)/dpois(g, exp(b[1] + x[i] * slope))/' \
    -e 's/deviance(b\[2\], x\[i\])/-2 * logdensity.norm(x[i], m, tau)/' \
    -e 's/cumulative(m, 1)/pnorm(1, 0, 1 \/ 2^2)/' \
    -e 's/cumulative(slope, x\[cumulative(K, 9)\])/punif(x[pbin(9, 0.5, 2)], -3, 3)/' \
    of.bug >written.bug
if grep 'cumulative\|density(y\|deviance' written.bug; then fail 'not written out'; fi
echo '{"G": 3, "N": 4, "x": [0.3, -1, 0.5, 1.2], "K": 1,
       "y": [[1, 0, 4], [2, 3, 3], [0, 2, 1]]}' >data.json
for model in of written; do
    status 0 "$GBMC" -O0 $model.bug -o $model
    status 0 ./$model --data data.json --seed 3 --warmup 100 --draws 200 --quiet \
        --device cpu --monitor at,first,above,m,slope --out $model.csv
done
for chain in 1 2 3 4; do
    grep -v '^#' of_$chain.csv >a
    grep -v '^#' written_$chain.csv >b
    same a b
done

# What has no such function says why.
refused() { # MODEL REASON
    echo "model { $1 }" >bad.bug
    status 1 "$GBMC" bad.bug -o bad
    says "$2"
}
refused 'a <- cumulative(b, 1); b <- 2' 'cumulative\(\) of b: it has no distribution'
refused 'a <- density(b[1], 1); b[1] ~ dexp(1); b[2] ~ dexp(2)' \
    'density\(\) of b\[1\]: more than one statement'
refused 'a <- deviance(b, 1); b ~ dnorm(0, 1) T(0,)' 'its distribution has bounds'
refused 'for (i in 1:2) { b[i] ~ dexp(i) }; a <- cumulative(b[1:2], 1)' \
    'its subscripts are not'
refused 'a <- cumulative(b, 1); b ~ half_cauchy(1)' 'half_cauchy has no such function'
refused 'b ~ dnorm(cumulative(b, 1), 1)' 'depends on such a function'
