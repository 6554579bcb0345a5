#!/usr/bin/env bash
# The methods of a sampler: which there are, and what gbmc is asked for them.
source "$GBM_ROOT/tests/cli/lib"
sampler pump
data=$examples/pump/data.json
status 0 ./pump --help
prints '^  --method NAME'
prints '^ +mcmc +draws by Markov chains'
run() { status 0 ./pump --data "$data" --quiet --draws 50 --device cpu "$@"; }
run --out plain.csv
for name in mcmc gibbs; do
    run --out named.csv --method "$name"
    for chain in 1 2 3 4; do
        cmp <(grep -v '^#' "plain_$chain.csv") \
            <(grep -v '^#' "named_$chain.csv") || fail "--method $name"
    done
done
status 1 ./pump --data "$data" --method mcmk
says "unknown method 'mcmk': did you mean mcmc"
status 1 "$GBMC" --with=power "$examples/pump/pump.gbm" -o never
says "takes powers, gradients.*, not 'power'"
absent never
