#!/usr/bin/env bash
# A model's own distributions and functions bring C of their own, in a header
# that is imported: it stands once in the program, so on devices, too.
source "$GBM_ROOT/tests/cli/lib"

cat >mine.h <<'M'
/* Laplace by an exponential and a sign. */
#ifndef MINE_H
#define MINE_H
#include "exponential.h"
GBM_FN real gbm_draw_two_sided(struct gbm_rng *rng, real mu, real rate)
{
    const real far = gbm_draw_exponential(rng) / rate;
    return gbm_uniform(rng) < REAL_C(0.5) ? mu - far : mu + far;
}
GBM_FN real kinked(real x) { return x < 0 ? -x : REAL_C(2) * x; }
#endif
M
cat >mine.gbm <<'M'
# two-sided exponential distribution.
distribution dtwo(mu, rate) {
  require rate > 0
  support real(-inf, inf)
  logdensity log(0.5 * rate) - rate * abs(x - mu)
  draw draw_two_sided(mu, rate)
}
# kinked line.
function kink(x) {
  code kinked
}
import "mine.h"
M
cat >own.gbm <<'M'
import "mine.gbm"
import "mine.h"
model {
  for (i in 1:N) { y[i] ~ dnorm(kink(m), 1) }
  m ~ dtwo(0, 2)
  free ~ dtwo(3, 2)
}
M
echo '{"N": 5, "y": [2.1, 1.8, 2.4, 2.0, 1.9]}' >own.json
status 0 "$GBMC" own.gbm -o own
"$GBMC" --emit=c own.gbm >own.c || fail "--emit=c"
[ "$(grep -c '^GBM_FN real kinked' own.c)" = 1 ] || fail "not once"
status 0 ./own --data own.json --quiet --draws 4000 --summary own.json.out
python3 - <<'PY' || fail "not what the header draws"
import json
free = json.load(open("own.json.out"))["parameters"]["free"]
assert abs(free["mean"] - 3) < 0.05 and abs(free["sd"] - 0.5 ** 0.5) < 0.05, free
PY
device_draws_as_host own own.json

sed 's/mine\.h/none.h/' mine.gbm >other.gbm
sed 's/mine\.gbm/other.gbm/; /mine\.h/d' own.gbm >without.gbm
status 1 "$GBMC" without.gbm -o without
says 'none\.h'
