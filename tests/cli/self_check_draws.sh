#!/usr/bin/env bash
# A draw that is wrong though its full conditional's density is right: every run
# compares draws of a step with that density before it begins.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'E'
model {
  for (i in 1:5) {
    y[i] ~ dnorm(mu, tau)
    u[i] ~ dunif(0, p)
    e[i] ~ dnorm(0, 1 / sigma^2)
  }
  mu ~ dnorm(0, 0.01)
  tau ~ dgamma(3, 1)
  p ~ dbeta(2, 3)
  k ~ dbin(q, 9)
  q ~ dunif(0.2, 1)
  m ~ dnorm(0, 1)T(0.5, 2)
  w ~ dnorm(m, 1)
  sigma ~ dunif(0, 10)
  a ~ dgamma(0.01, 1)
  z ~ dpois(a)
  over ~ dinterval(life, 1.5)
  life ~ dweib(shape, 0.4)
  shape ~ dexp(1)
}
E
cat >data.json <<'E'
{"y": [1, 2, 0.5, 1.1, 1.9], "u": [0.1, 0.2, 0.05, 0.3, 0.11], "k": 4,
 "e": [1, -0.3, 0.5, -0.7, 2], "w": 1, "z": 0, "over": 1}
E
status 0 "$GBMC" --emit=c model.gbm
mv .out model.c
compile_c model.c model
run() { # STATUS PROGRAM WARMUP: what the check takes goes by the latter
    status "$1" "./$2" --data data.json --device cpu --threads 1 --warmup "$3" \
        --draws 10 --details --out "$2.csv"
}
run 0 model 100000
says "draws of [45678] with their full conditionals"

# broken NAME SED: a draw is what is refused, and nothing is written
broken() {
    sed -E "$2" model.c >"$1.c"
    cmp -s model.c "$1.c" && fail "$1 breaks nothing"
    compile_c "$1.c" "$1"
    run 2 "$1" 10000000
    says "this sampler is wrong: no draws were made"
    says "is not of its full conditional"
    absent "$1_1.csv"
}
broken gamma 's/gbm_draw_gamma\(rng, r_v\)/1.1 * &/'
broken normal 's/gbm_draw_normal\(rng\)/2 * &/'
broken between 's/gbm_draw_truncated_normal\(rng, mu_v, /&3 * /'
broken quantile 's/gbm_beta_quantile\(a_v, b_v, p\)/lower + (upper - lower) * p/'
broken scale 's/gbm_draw_gamma_between\(rng, [^,]*,/gbm_draw_gamma_between(rng, 9,/'
broken confined 's/gbm_draw_weibull_between\(rng, v_v,/gbm_draw_weibull_between(rng, 2 * v_v,/'
# where there is no member of the family, one is taken
broken member 's/if \(\(a_v > 0\) \&\& \(b_v > 0\)\)/if (true)/; s/return \(a_v > 0\) \&\& \(b_v > 0\)/return 1/'

# a draw that is off by little is looked at longer, however short the check
refused=0
for seed in 1 2 3 4 5 6 7 8; do
    ./gamma --data data.json --device cpu --threads 1 --quiet --warmup 1000 \
        --draws 10 --seed "$seed" --out gamma.csv >.out 2>&1 ||
        refused=$((refused + 1))
done
((refused > 2)) || fail "a wrong draw is refused by $refused runs of 8"
