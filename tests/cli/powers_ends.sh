#!/usr/bin/env bash
# Full conditionals at powers 1, 0.3 and 0, as a sampler with powers is checked by
# itself. At 0 nodes stand where their priors leave them, however far that is: an
# intrinsic autoregression's level anywhere, the scale of effects over hundreds of
# orders of magnitude.
source "$GBM_ROOT/tests/cli/lib"
checks() { # MODEL DATA SEED...
    local model=$1 data=$2 seed
    shift 2
    status 0 "$GBMC" -O 0 --with=powers "$model" -o sampler
    for seed in "$@"; do
        status 0 ./sampler check --data "$data" --seed "$seed"
        [ "$(grep -c "^power .* of the data" .out)" = 3 ] || fail "three powers"
        [ "$(awk '/^power/ { n++ } / pass$/ { seen[n] = 1 }
                  END { print length(seen) }' .out)" = 3 ] || fail "$model: pass"
    done
}
checks "$examples/seeds/seeds.gbm" "$examples/seeds/data.json" 1 3 5
# long moves of the scale: what the data say of it at power 0 is nothing
prints '^b, alpha0.* joint Gaussian block .* pass$'
models=$GBM_ROOT/tests/models
checks "$models/car_normal_counts/car_normal_counts.gbm" \
    "$models/car_normal_counts/data.R" 1 2

# A power that is lost, of the joint density here, shows where it is not 1.
cat >lost.gbm <<'E'
model {
  mu ~ dnorm(0, 1)
  for (i in 1:N) { y[i] ~ dnorm(mu, 1) }
}
E
echo '{"N": 3, "y": [2.5, 1.5, 3]}' >lost.json
"$GBMC" --with=powers --emit=c lost.gbm >lost.c || fail "lost.gbm"
sed -i '/^GBM_FN real logdensity_y_v/,/^}/s/\*s->power_v \* //' lost.c
compile_c lost.c lost
status 0 ./lost check --data lost.json --power 1
status 1 ./lost check --data lost.json
prints '^power 0.3 '
prints ' FAIL: conditional '
