#!/usr/bin/env bash
# A joint ellipse that begins far out, in warm-up, where the data are
# impossible: what it draws from its normal fit instead must be possible, too.
source "$GBM_ROOT/tests/cli/lib"
cat >model.gbm <<'M'
model {
  r ~ dnorm(0, 1)
  cut[1] ~ dnorm(-0.5, 2)
  w[2] ~ dgamma(3, 3)
  cut[2] <- cut[1] + w[2]
  w[3] ~ dgamma(3, 3)
  cut[3] <- cut[2] + w[3]
  for (d in 1:9) {
    p[d,1] <- phi(cut[1] - r * r)
    p[d,2] <- phi(cut[2] - r * r) - phi(cut[1] - r * r)
    p[d,3] <- phi(cut[3] - r * r) - phi(cut[2] - r * r)
    p[d,4] <- 1 - phi(cut[3] - r * r)
    y[d] ~ dcat(p[d,1:4])
  }
  b ~ dnorm(0.28, 3)
  for (e in 1:4) { psi[e] ~ dnorm(b + inprod(cut[1:3], cut[1:3]), 1) }
}
M
echo '{"y": [2, 2, 3, 2, 2, 2, 3, 3, 3], "psi": [3.3, 3, 4, 2.6]}' >data.json
echo '{"r": -8.8632, "w": [null, 16.974, 9]}' >far.json
status 0 "$GBMC" -O0 model.gbm -o model
"$GBMC" --explain model.gbm | grep -q 'elliptical slice of a joint block' ||
    fail "the model tests another sampler"
for seed in 1 2 3; do
    status 0 ./model check --data data.json --init far.json --seed $seed
done
