#!/usr/bin/env bash
# Parameters of a joint Gaussian block move with the block integrated out where
# that gains more than it costs (runtime/load/price.c), which is counted: behind
# warm-up a precision of rats' weights, whose own draws are half as good as
# independent ones, does not, and the scale of a random walk with few data does.
source "$GBM_ROOT/tests/cli/lib"
rats="$GBM_ROOT/examples/rats_wishart"
cat >walk.gbm <<'M'
model {
  b[1] ~ dnorm(0, 1)
  for (t in 2:T) { b[t] ~ dnorm(b[t-1], pow(s, -2)) }
  for (t in 1:T) { y[t] ~ dnorm(b[t], 1.5) }
  s ~ dt(0, 1, 1)T(0,)
}
M
echo '{"T": 8, "y": [0.31, -0.62, 0.18, 0.55, -0.21, -0.44, 0.62, 0.27]}' >walk.json
cp "$rats/rats_wishart.gbm" rats.gbm
cp "$rats/data.json" rats.json

draws() { # NAME PROGRAM
    rm -f draws_*.csv
    GBM_LINES=off status 0 "./$2" --data "$1.json" --device cpu --quiet --no-check \
        --warmup 1000 --chains 4 --draws 20 --seed 1 --out draws.csv
    cat draws_?.csv | grep -v '^#'
}
# as it is, and with no such move behind warm-up
for name in rats walk; do
    "$GBMC" --emit=c $name.gbm >as.c
    sed 's/if (!gbm_marginal_pays(/if (!adapting || !gbm_marginal_pays(/' as.c >without.c
    if cmp -s as.c without.c; then fail "$name: nothing is left out"; fi
    compile_c as.c as
    compile_c without.c without
    draws $name as >$name.as
    draws $name without >$name.without
done
same rats.as rats.without
if cmp -s walk.as walk.without; then fail "the walk's scale does not move"; fi
exit 0
