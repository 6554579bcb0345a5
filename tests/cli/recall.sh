#!/usr/bin/env bash
# Sums over rows that are known from the update before are not computed again
# (compiler/sweep/recall.c): the draws are what they are without, bit by bit,
# and a walk computes one for each of its moves.
source "$GBM_ROOT/tests/cli/lib"

python3 - <<'P'
import json, random
rng = random.Random(3)
y = [round(rng.gauss(rng.choice([-2, 1, 4]), 0.8), 3) for _ in range(60)]
json.dump({"N": 60, "y": y, "w": [0.3, 0.3, 0.4]}, open("data.json", "w"))
json.dump({"N": 60, "y": y[:-1] + [None], "w": [0.3, 0.3, 0.4]},
          open("missing.json", "w"))
P
mixture='for (i in 1:N) { y[i] ~ dnormmix(mu[], tau[], w[]) }
  for (k in 1:3) { mu[k] ~ dnorm(0, 0.05) tau[k] <- 1 / s^2 }'
curve='for (i in 1:N) { y[i] ~ dt(a + b * (i / N) ^ c, 1, 4) }
  a ~ dnorm(0, 0.1) b ~ dnorm(0, 0.1) c ~ dunif(0, 3)'

# model NAME SAMPLERS TEXT
model() { printf 'samplers { %s }\nmodel {\n  %s\n}\n' "$2" "$3" >"$1.gbm"; }
model walk 'mu : rw;' "$mixture s <- 0.8"
model slice 'mu : slice;' "$mixture s <- 0.8"
model scale 'mu : rw; s : rw;' "$mixture s ~ dunif(0.1, 4)"
model group 'a, b, c : rw_block;' "$curve"
model learnt 'a, b, c : am;' "$curve"

# build NAME OPTION...: NAME.with; NAME.without, that computes every sum anew
build() {
    local name=$1 way
    shift
    "$GBMC" "$@" --emit=c "$name.gbm" >"$name.c" 2>.err || fail "$name.gbm"
    grep -q gbm_recall_keep "$name.c" || fail "$name: nothing is kept"
    # prints at the end how many sums were computed
    sed -i 's/^\( *\)gbm_recall_keep(/\1__atomic_add_fetch(\&computed, 1, 0), gbm_recall_keep(/
        /^#include "model.h"/a #include <stdio.h>\nstatic long computed;\n__attribute__((destructor)) static void tell(void)\n{\n    FILE *f = fopen("computed", "w");\n    fprintf(f, "%ld\\n", computed);\n    fclose(f);\n}' "$name.c"
    sed 's/if (!gbm_recall(/if (1 || !gbm_recall(/' "$name.c" >"$name.anew.c"
    for way in "" .anew; do
        compile_c "$name$way.c" "$name$way.run"
    done
}
# alike NAME MOST DATA OPTION...: the same draws; at most so many sums
alike() {
    local name=$1 most=$2 data=$3
    shift 3
    status 0 "./$name.anew.run" --data "$data" --device cpu --quiet --no-check \
        --out anew.csv "$@"
    local all=$(cat computed)
    status 0 "./$name.run" --data "$data" --device cpu --quiet --no-check \
        --out kept.csv "$@"
    local kept=$(cat computed)
    grep -v '^#' anew_1.csv >anew && grep -v '^#' kept_1.csv >kept && same anew kept
    [ "$kept" -le "$most" ] || fail "$name $*: $kept sums of $all, not $most"
    [ "$kept" -lt "$all" ] || [ "$most" = "$all" ] ||
        fail "$name $*: nothing was known"
    status 0 "./$name.run" check --data "$data" --quiet
}
plain=(--chains 2 --warmup 300 --draws 200)
build walk
alike walk 6050 data.json "${plain[@]}" # 2 chains x 500 sweeps x 3 elements x 2 moves
alike walk 9000 missing.json "${plain[@]}" # y is of a chain, and too long
build slice
alike slice 20000 data.json "${plain[@]}"
build scale # where s has moved, the sum of mu[1] begins anew
alike scale 6750 data.json "${plain[@]}"
build group
alike group 3050 data.json "${plain[@]}"
build learnt
alike learnt 1050 data.json "${plain[@]}"

# With powers the log likelihood is known after a sweep, whatever the power is
# then; that of a draw from the prior, one for each sweep, is not.
build walk --with=powers
alike walk 24510 data.json --method tempering --replicas 8 --chains 1 \
    --warmup 300 --draws 200
alike walk 60000 data.json --method smc --particles 200 --chains 1
