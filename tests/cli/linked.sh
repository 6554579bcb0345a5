#!/usr/bin/env bash
# A link function before `~`, as NIMBLE has it, is a node under NIMBLE's name for
# it and its definition: the same model as when both are written out.
source "$GBM_ROOT/tests/cli/lib"

cat >short.gbm <<'M'
model {
  for (g in 1:G) {
    y[g] ~ dbin(p[g], 10)
    logit(p[g]) ~ dnorm(mu, sd = sigma)
  }
  logit(mid) ~ dlogis(0, 1)
  mu <- logit(mid)
  log(sigma) ~ dnorm(0, 1) T(-2, )
  log(r[1:3]) ~ dmnorm(zero[], Omega[,])
  for (k in 1:3) { n[k] ~ dpois(r[k]) }
}
M
cat >long.gbm <<'M'
model {
  for (g in 1:G) {
    y[g] ~ dbin(p[g], 10)
    logit_p[g] ~ dnorm(mu, sd = sigma)
    logit(p[g]) <- logit_p[g]
  }
  logit_mid ~ dlogis(0, 1)
  logit(mid) <- logit_mid
  mu <- logit(mid)
  log_sigma ~ dnorm(0, 1) T(-2, )
  log(sigma) <- log_sigma
  log_r[1:3] ~ dmnorm(zero[], Omega[,])
  log(r[1:3]) <- log_r[1:3]
  for (k in 1:3) { n[k] ~ dpois(r[k]) }
}
M
for pass in ast dag conditionals; do
    "$GBMC" --emit=$pass short.gbm >short.$pass || fail "short, $pass"
    "$GBMC" --emit=$pass long.gbm >long.$pass || fail "long, $pass"
done
cmp -s short.ast long.ast || fail "another model"
grep -q 'logit_p\[g\] ~ dnorm' short.ast || fail "no node logit_p"
# the passes behind it name the statement as it was written
for pass in dag conditionals; do
    [ "$(wc -l <short.$pass)" = "$(wc -l <long.$pass)" ] ||
        fail "another model, $pass"
done

echo 'model { abs(x) ~ dnorm(0, 1) }' >no_link.gbm
status 1 "$GBMC" no_link.gbm
says 'abs is not a link function'
