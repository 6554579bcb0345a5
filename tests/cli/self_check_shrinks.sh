#!/usr/bin/env bash
# A move along a scale that shrinks its plate to where its effects have few digits
# left is no fault of the sampler, though from there the conditional tells little
# of where they came from (runtime/check/self_check_back.c). It is one if the
# density is not that of where they go, or if they do not come back.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(LI[g[i]] * (1 - exp(-K * (t[i] - t0))), pow(sigma, -2)) T(0,)
  }
  for (j in 1:G) { LI[j] ~ dnorm(m, pow(sd, -2)) }
  m ~ dnorm(0, 1.0E-4) T(0,)
  sd ~ dunif(1.0E-9, 100)
  K ~ dnorm(0, 1) T(0,)
  t0 ~ dnorm(0, 0.1)
  sigma ~ dunif(0, 50)
}
E
cat >data.json <<'E'
{"N": 9, "G": 3, "g": [1, 1, 1, 2, 2, 2, 3, 3, 3],
 "t": [0.6, 2, 8, 1.1, 3.2, 6.5, 1.6, 2.7, 9],
 "y": [14, 30, 51, 24, 37, 55, 20, 30, 44]}
E
cat >init.json <<'E'
{"LI": [10, 500, 30], "sd": 80, "m": 55.3, "K": 0.4, "t0": -0.3, "sigma": 1}
E
status 0 "$GBMC" --emit=c model.gbm
mv .out model.c
run() { # STATUS NAME SEED
    status "$1" "./$2" --data data.json --init init.json --seed "$3" --chains 4 \
        --warmup 1000 --draws 1 --threads 1 --device cpu --quiet
}
compile_c model.c model
for seed in 69 131 251; do run 0 model $seed; done

# broken NAME SED: what sed changes in the move and in its density is refused, from
# where it shrinks the plate, too
broken() {
    sed "1,/^static const char program/{$2}" model.c >"$1.c"
    cmp -s model.c "$1.c" && fail "$1: nothing was broken"
    compile_c "$1.c" "$1"
    for seed in 69 131 251; do
        run 2 "$1" $seed
        says '^The update of sd, LI '
    done
}
line='/carried_carry_sd.*_LI/,/^}/'
move='/void move_carry_sd.*_LI/,/^}/'
broken moves "${move}s/ = real_exp(t) - 1/ = 0.999 * (real_exp(t) - 1)/"
broken density "${line}s/ = grown_ - 1/ = 0.999 * (grown_ - 1)/"
# the density is that of where it goes, which is not where it comes back from
prior='for (long long j = 1; j <= *s->G_v; j++) total += 0.5 * gbm_square('
prior+='(LI_v(j) - *s->m_v) \/ o_->now) * (1 - gbm_square((1 + by_) \/ grown_));'
broken return "${move}s/ = real_exp(t) - 1/ = 0.9 * (real_exp(t) - 1)/
    ${line}{s/ = grown_ - 1/ = 0.9 * (grown_ - 1)/
        s/total += 1 \* t_;.*/&$prior/}"
