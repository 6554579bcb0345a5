#!/usr/bin/env bash
# Full conditionals at powers 0, 0.3 and 1. At 0 nodes stand where their priors
# leave them, however far that is: an intrinsic autoregression's level anywhere,
# the scale of effects over hundreds of orders of magnitude.
source "$GBM_ROOT/tests/cli/lib"
checks() { # MODEL DATA SEED...
    local model=$1 data=$2 seed power
    shift 2
    status 0 "$GBMC" -O 0 --with=powers "$model" -o sampler
    for seed in "$@"; do
        for power in 0 0.3 1; do
            status 0 ./sampler check --data "$data" --power $power \
                --seed "$seed"
            prints ' pass$'
        done
    done
}
checks "$examples/seeds/seeds.gbm" "$examples/seeds/data.json" 1 3 5
# long moves of the scale: what the data say of it at power 0 is nothing
prints '^b, alpha0.* joint Gaussian block .* pass$'
models=$GBM_ROOT/tests/models
checks "$models/car_normal_counts/car_normal_counts.gbm" \
    "$models/car_normal_counts/data.R" 1 2
