#!/usr/bin/env bash
# Updates that try all values of an element take many elements at once
# (stdlib/kernels/rows.h). The draws are those of one element after the other:
# of vectors, some of whose rows nothing observes, in part or at all; of values
# that are impossible for all elements, or for some; of several children, of
# regressions, of counts, also by their logarithms; of more elements than a
# block, and fewer; of more values than a group.
source "$GBM_ROOT/tests/cli/lib"

python3 "$GBM_ROOT/tests/cli/trials/data.py"

for model in vectors sums links; do
    status 0 "$GBMC" --emit=c "$GBM_ROOT/tests/cli/trials/$model.gbm"
    mv .out $model.c
    grep -q "^GBM_HOST_RUN_ROWS" $model.c || fail "$model: one by one"
    for way in AT_ONCE ONE_BY_ONE; do
        # shellcheck disable=SC2046
        cc -O2 -DGBM_$way -march=native -fopenmp -I "$GBM_ROOT/runtime" \
            -I "$GBM_ROOT/stdlib/kernels" $model.c "$GBM_ROOT/build/libgbm.a" \
            $(cat "$GBM_ROOT/build/link_flags") -o $model.$way 2>.err || fail "cc"
        for data in many few crowd; do
            for threads in 1 3; do
                status 0 ./$model.$way --data $data.json --quiet --device cpu \
                    --threads $threads --chains 1 --warmup 10 --draws 30 \
                    --monitor z,mu,x --digits 9 --out $way.csv
                grep -v '^#' ${way}_1.csv >$model.$data.$threads.$way
            done
        done
    done
    for data in many few crowd; do
        for threads in 1 3; do
            cmp $model.$data.1.ONE_BY_ONE $model.$data.$threads.AT_ONCE ||
                fail "$model, $data: other draws"
        done
    done
done
