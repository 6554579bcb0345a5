#!/usr/bin/env bash
# The density in which a group moves has the terms alone that its moves change:
# beside them no logarithm of a datum and no factorial, so that rows go by the
# vector unit; and its differences are those of the joint density, with powers
# and of values that follow the group, too.
source "$GBM_ROOT/tests/cli/lib"

cat >counts.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ dpois(e[i] * exp(a + phi[i] + s * x[i]))
    m[i] <- phi[i] * s
  }
  for (i in 1:N) { w[i] ~ dnorm(c * (m[i] + a), 2) }
  phi[1:N] ~ dmnorm(zero[], Q[,])
  a ~ dnorm(0, 1)
  s ~ dnorm(0, 1)
  c ~ dnorm(0, 1)
}
samplers {
  phi : ess;
  a, s : am;
}
E
echo '{"N": 3, "y": [3, 0, 7], "e": [1.5, 2, 0.7], "x": [0.3, -1, 0.5],
  "w": [0.2, null, 1], "zero": [0, 0, 0],
  "Q": [[2, 0.5, 0], [0.5, 2, 0.5], [0, 0.5, 2]]}' >counts.json

status 0 "$GBMC" --emit=c counts.gbm
cp .out text
for what in likelihood_update_phi_v density_update_a_v_s_v; do
    sed -n "/^GBM_FN_BIG real $what(/,/^}/p" text >body
    grep -qE '(real|row)_exp' body || fail "no density $what"
    if grep -q 'lgamma\|log_factorial\|real_log\|row_log' body; then
        cat body
        fail "$what has terms that no move changes"
    fi
done
for with in "" --with=powers; do
    # shellcheck disable=SC2086 # none or one
    status 0 "$GBMC" -O 0 $with counts.gbm -o sampler
    status 0 ./sampler check --data counts.json
done
