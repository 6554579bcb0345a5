#!/usr/bin/env bash
# Precisions that an augmentation adds to logistic errors are drawn by what they
# are of, in which each datum and each mean counts: the draw is stated, so no
# density says whether its arguments are right, but the joint distribution does.
source "$GBM_ROOT/tests/cli/lib"

cat >errors.gbm <<'E'
model {
  for (i in 1:6) { y[i] ~ dlogis(mu + b * x[i], 1.5) }
  mu ~ dnorm(0, 1)
  b ~ dnorm(0, 1)
}
E
echo '{"x": [-1, -0.5, 0, 0.5, 1, 2], "y": [0.3, -0.4, 1.2, 2.5, -1, 3]}' >errors.json
status 0 "$GBMC" --emit=c errors.gbm
mv .out errors.c
compile_c errors.c errors
status 0 ./errors geweke --data errors.json --device cpu
# a mutant of what is drawn, which nothing else noticed
sed 's|_polya_gamma(rng, 2, REAL_C(1.5) \* y_v|_polya_gamma(rng, 2, REAL_C(1.5) / y_v|' \
    errors.c >wrong.c
cmp -s errors.c wrong.c && fail "the draw is not where it was"
compile_c wrong.c wrong
status 1 ./wrong geweke --data errors.json --device cpu
says 'do not have their distribution'
