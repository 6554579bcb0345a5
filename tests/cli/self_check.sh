#!/usr/bin/env bash
# Every run compares its steps with the model's log density before it draws: a
# sampler whose C text was broken is refused, with the statement and the step.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'E'
model {
  for (i in 1:N) {
    theta[i] ~ dgamma(alpha, beta)
    y[i] ~ dpois(theta[i] * t[i])
    x[i] ~ dnorm(a + b * t[i], tau)
    z[i] ~ dcat(p[])
    w[i] ~ dnorm(m[z[i]], 1)
  }
  alpha ~ dexp(1)
  beta ~ dgamma(0.1, 1)
  a ~ dnorm(0, 0.01)
  b ~ dnorm(0, 0.01)
  tau ~ dgamma(1, 1)
  for (k in 1:2) { m[k] ~ dnorm(0, 0.1) }
}
E
cat >data.json <<'E'
{"N": 8, "p": [0.4, 0.6], "t": [1, 2, 0.5, 1.5, 3, 0.7, 1.2, 2.2],
 "y": [2, 5, 0, 3, 4, 2, 1, 6], "x": [1, 2.1, 0.2, 1.3, 3.3, 0.9, 1, 2],
 "w": [-1, -1.4, 2, 1.8, 2.2, -0.7, -1.2, 1.5]}
E
status 0 "$GBMC" --emit=c model.gbm
mv .out model.c
# shellcheck disable=SC2046 # flags are words
compile() { # NAME, from NAME.c
    "${CC:-cc}" -std=c11 -O0 -fopenmp -D_GNU_SOURCE -I"$GBM_ROOT/stdlib/kernels" \
        -I"$GBM_ROOT/runtime" "$1.c" -o "$1" \
        "$GBM_ROOT/$GBM_BUILD/libgbm.a" \
        $(cat "$GBM_ROOT/$GBM_BUILD/link_flags") || fail "$1.c"
}
cat >run <<'E'
#!/bin/sh
exec ./"$@" --data data.json --device cpu --warmup 100 --draws 100
E
chmod +x run

# The right one draws, and as it does without the check.
compile model
status 0 ./run model --details --out checked.nc --summary checked.json
says 'self-check: 8 of 9 steps, [0-9]+ moves in [1-9]'
grep -q '"checked": true' checked.json || fail "no word of the check"
status 0 ./run model --out checked.csv --quiet
grep -q 'no-check' checked_1.csv && fail "a warning for nothing"
status 0 ./run model --no-check --quiet --out free.nc
status 0 ./model summary free.nc
prints 'Warning: drawn without self-check'
status 0 ./model summary checked.nc
grep -q 'no-check' .out && fail "a warning for nothing"
status 0 ./run model --no-check --out free.csv --summary free.json
says 'warning: .*--no-check'
grep -q '^# warning = drawn without self-check' free_1.csv || fail "free_1.csv"
grep -q '"checked": false' free.json || fail "free.json"
status 0 ./run model --no-check --out free --format coda
grep -q '^# warning = drawn without self-check' freeindex.txt || fail "freeindex.txt"

# Where it has no time, the run goes on and says so in what it writes: a clock
# that is far too fast.
cat >hurry.c <<'E'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *t)
{
    static int (*own)(clockid_t, struct timespec *);
    if (!own)
        *(void **)&own = dlsym(RTLD_NEXT, "clock_gettime");
    int status = own(id, t);
    t->tv_sec = t->tv_sec % 1000 * 100000 + t->tv_nsec / 10000;
    return status;
}
E
cc -shared -fPIC -o hurry.so hurry.c -ldl || fail "hurry.c"
status 0 env LD_PRELOAD="$scratch/hurry.so" \
    ASAN_OPTIONS=verify_asan_link_order=0 ./run model --out late.csv \
    --summary late.json
says 'note: no self-check: the log density alone takes too long'
grep -q '^# warning = drawn without self-check' late_1.csv || fail "late_1.csv"
grep -q '"checked": false' late.json || fail "late.json"
for k in 1 2 3 4; do
    cmp <(grep -v '^#' checked_$k.csv) <(grep -v '^#' free_$k.csv) ||
        fail "the check changes the draws"
done

# broken NAME SED STEP ELEMENT [SAYS]: what sed changes in the host's text is
# found
broken() {
    sed "1,/^static const char program/{$2}" model.c >"$1.c"
    cmp -s model.c "$1.c" && fail "$1: nothing was broken"
    compile "$1"
    status 2 ./run "$1" --out "$1.nc" --summary "$1.json"
    says "^failed: model.gbm:[0-9]+:[0-9]+: this sampler is wrong: no draws"
    says "The update of $3 \(.*where $4 ${5:-moves, its full conditional changes}"
    absent "$1.nc"
    absent "$1.json"
    status 1 ./"$1" check --data data.json
    status 0 ./run "$1" --no-check --out "$1.nc" --quiet
    exists "$1.nc"
}
broken likelihood '/^GBM_FN void prepare_theta/,/^}/s/c2 += -t/c2 += -0.9 * t/' \
    theta 'theta\[[1-8]\]'
broken row '/^GBM_FN void assemble_.*a.*b/,/^}/s/real value = /&0.9 * /' \
    'a, b' 'a.*'
broken index '/real density_z/,/^}/s/m_v(z_v(i_v))/m_v(1)/' \
    z 'z\[[1-8]\]'
broken prior '/^GBM_FN void prepare_tau/,/^}/s/c1 += -1;/c1 += -2;/' tau 'tau'
# a conditional that is NaN where it stands: a slice that never moves
broken nowhere '/^GBM_INLINE real density_alpha/,/^}/s/return /&NAN + /' \
    alpha alpha 'stands, its full conditional is not a number'

# A table that the sweep forgets: what reads it agrees with what reads it.
cat >model.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dnorm(m, v[g[i]]) }
  for (k in 1:3) { v[k] ~ dgamma(a, 1) }
  m ~ dnorm(0, 0.01)
  a ~ dgamma(3, 1)
}
E
mv data.json first.json
echo '{"N": 6, "g": [1, 1, 2, 2, 3, 3], "y": [3.1, 5.2, 2.2, 4.1, 9, 1.2]}' \
    >data.json
status 0 "$GBMC" --emit=c model.gbm
sed '/GBM_STEP_DERIVE, .name = "derive_table_2/,/\.family/s/family = 5/family = 4/' \
    .out >forgets.c
cmp -s .out forgets.c && fail "forgets: nothing was broken"
compile forgets
status 2 ./run forgets
says '^failed: this sampler is wrong: no draws'
says 'leaves table.2 behind: it holds .* where the model computes'
mv first.json data.json

# What rounding makes of a precision of exp(52) is known of each chain: the first
# begins where there is none.
cat >sharp.gbm <<'EOF'
model {
  v ~ dnorm(52, 1)
  b ~ dnorm(0.24, exp(v))
  y ~ dnorm(b, 1)
}
EOF
echo '{"y": 1}' >sharp.json
echo '{"v": 0, "b": 0.5}' >flat.json
echo '{"v": 52, "b": 0.24}' >steep.json
status 0 "$GBMC" -O 0 sharp.gbm -o sharp
status 0 ./sharp --data sharp.json --init flat.json --init steep.json --quiet \
    --warmup 10 --draws 10 --device cpu
