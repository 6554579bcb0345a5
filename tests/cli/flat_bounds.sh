#!/usr/bin/env bash
# A flat prior between bounds is a uniform one, also where a bound is drawn, and
# on a half line it is as flat as before: draws are the same but for rounding. Where
# the library does not say how likely bounds are, one error says so.
source "$GBM_ROOT/tests/cli/lib"

cat >flat.gbm <<'E'
model {
  a ~ dflat() T(0, 3)
  b ~ dflat() T(0, )
  c ~ dflat() T(, 2)
  h ~ dunif(1, 4)
  k ~ dhalfflat() T(, h)
  l ~ dhalfflat() T(-1, h)
  m ~ dflat() T(-1, h)
  for (i in 1:5) { y[i] ~ dnorm(a + m, b) }
  z[1] ~ dnorm(k, 1)
  z[2] ~ dnorm(l, 1)
  z[3] ~ dnorm(c, 1)
}
E
sed 's/dflat() T(0, 3)/dunif(0, 3)/; s/dflat() T(0, )/dhalfflat()/
  s/dhalfflat() T(.*, h)/dunif(0, h)/; s/dflat() T(-1, h)/dunif(-1, h)/
  s/dflat() T(, 2)/dflat() I(, 2)/' flat.gbm >same.gbm
echo '{"y": [1, 2, 0.4, 1.1, 2.2], "z": [1.5, 0.7, 2.5]}' >d.json
for m in flat same; do
    "$GBMC" $m.gbm -o $m || fail "$m does not compile"
    ./$m check --data d.json >checked || fail "self-check of $m"
    ./$m --data d.json --seed 3 --draws 500 --warmup 200 --out $m.csv
    sed -i '/^#/d' ${m}_1.csv
done
paste -d, flat_1.csv same_1.csv | awk -F, 'NR == 1 { n = NF / 2; next }
    { for (i = 1; i <= n; i++) if (($i - $(i + n))^2 > 1e-12) bad++ }
    END { exit bad > 0 || NR < 500 }' ||
    fail "a flat prior between bounds is not uniform"

echo 'model { mu ~ von_mises(0, 1) T(-1, 1); y ~ dnorm(mu, 1) }' >v.gbm
"$GBMC" --emit=c v.gbm >v.c 2>v.err && fail "truncated without a cdf"
grep -q "truncation of von_mises, whose library entry states no cdf" v.err ||
    fail "no word of the missing cdf"
[ "$(grep -c 'error:' v.err)" = 1 ] || fail "one error told more than once"
