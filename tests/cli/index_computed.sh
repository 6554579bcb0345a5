#!/usr/bin/env bash
# Subscripts that are computed and stored, as ranks: the rows of a cell follow
# what these are computed of. Levels m by the rank of the row's group; ranks are
# as good as random, so each level is that of any group with the share of prior
# draws that have its rank.
source "$GBM_ROOT/tests/cli/lib"

ranks_model
status 0 "$GBMC" -O 0 ranks.gbm -o ranks
status 0 ./ranks --data ranks.json --device cpu --seed 1 --warmup 500 \
    --draws 5000 --monitor m --quiet --summary ranks.summary
python3 - >.out 2>&1 <<'E' || fail "not the posterior: $(cat .out)"
import json, random

groups = [[2, 1.5], [0.2], [-1, -2, -1.5]]
level = [sum(y) / (len(y) + 1) for y in groups]
draw, n = random.Random(1).gauss, 300000
want = [0] * 3
for _ in range(n):
    u = [draw((g + 1) / 3, 1) for g in range(3)]
    for k, g in enumerate(sorted(range(3), key=u.__getitem__)):
        want[k] += level[g] / n
fit = json.load(open("ranks.summary"))["parameters"]
for k in range(3):
    have = fit[f"m[{k + 1}]"]
    print(k + 1, want[k], have["mean"], have["mcse"])
    assert abs(have["mean"] - want[k]) < 5 * have["mcse"] + 0.01
    assert have["rhat"] < 1.02
E

# a sampler that leaves the rows behind does not run
status 0 "$GBMC" --emit=c ranks.gbm
number() {
    sed -n "/where $1\[.*hits/s/.*\*index\([0-9]*\)_start;.*/\1/p" .out | head -1
}
levels=$(number m) others=$(number n)
sed "/GBM_STEP_INDEX, .name = \"index$levels\"/,/inverse/s/inverse = $levels/inverse = $others/" \
    .out >behind.c
cmp -s .out behind.c && fail "nothing was broken"
status 0 cc -std=c11 -O0 -w -fopenmp -D_GNU_SOURCE -I"$GBM_ROOT/runtime" \
    -I"$GBM_ROOT/stdlib/kernels" behind.c -o behind \
    "$GBM_ROOT/$GBM_BUILD/libgbm.a" $(cat "$GBM_ROOT/$GBM_BUILD/link_flags")
status 2 ./behind --data ranks.json --device cpu --seed 1 --warmup 20000 \
    --quiet --out behind.nc
says '^failed: ranks.gbm:[0-9]+:[0-9]+: this sampler is wrong: no draws'
says 'A sweep leaves behind which elements of this statement'
absent behind.nc
