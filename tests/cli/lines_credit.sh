#!/usr/bin/env bash
# Lines that warm-up learns are judged by what they can do (credit in
# runtime/host/along_learn.c): effects that come from far are faster in its end
# than in its beginning, which is not due to a line of mu and sd.alpha, both
# drawn exactly, that moves none of them. There is no line then, and draws are
# those without lines.
source "$GBM_ROOT/tests/cli/lib"
model="$GBM_ROOT/tests/models/poisson_glmm_ess/poisson_glmm_ess.gbm"
data="$GBM_ROOT/tests/models/poisson_glmm_site_year/data.R"

status 0 "$GBMC" "$model" -o glmm
draws() {
    rm -f draws_*.csv
    status 0 ./glmm --data "$data" --device cpu --quiet --no-check --threads 1 \
        --warmup 1000 --chains 4 --draws 20 --seed 1 --out draws.csv
    cat draws_?.csv | grep -v '^#'
}
draws >with
GBM_LINES=off draws >without
same with without
exit 0
