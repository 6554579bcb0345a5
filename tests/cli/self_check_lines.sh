#!/usr/bin/env bash
# Moves along lines that warm-up learns are compared with the model's log density
# before the first draw: a runtime whose moves were broken draws nothing.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm # waits for no disk
source "$GBM_ROOT/tests/cli/lib"
cp "$GBM_ROOT"/tests/cli/lines/*.* .

# positive numbers, states that are kept in memory, subscripts by a place that
# moves along, effects of which one has no data, and counts
cat >ridge.gbm <<'E'
model {
  a ~ dgamma(2, 1)
  b ~ dgamma(3, 1)
  q[1] <- a / b
  for (i in 2:4) { q[i] <- sqrt(q[i-1]) + 0.1 * a / b }
  for (i in 1:4) { y[i] ~ dnorm(q[i], 200) }
}
E
echo '{"y": [1.4, 1.3, 1.2, 1.3]}' >ridge.json

export GBM_LINES=always # also where they do not pay
go() { # STATUS PROGRAM MODEL OPTION...
    status "$1" "./$2" --data "$3.json" --device cpu --warmup 400 --draws 20 \
        --out "$2.csv" "${@:4}"
}
for model in ridge place level catch; do
    status 0 "$GBMC" --emit=c $model.gbm
    mv .out $model.c
    compile_c $model.c $model
    for seed in 1 2 3 4; do go 0 $model $model --quiet --seed $seed; done
    # the check leaves chains and draws as they are
    go 0 $model $model --quiet
    grep -v '^#' ${model}_1.csv >checked
    go 0 $model $model --quiet --no-check
    grep -v '^#' ${model}_1.csv >free
    same checked free
done

# broken NAME MODEL FILE SED [SAYS]: with a file of the runtime that sed breaks
broken() {
    sed -E "$4" "$GBM_ROOT/runtime/host/$3.c" >"$1.c"
    cmp -s "$GBM_ROOT/runtime/host/$3.c" "$1.c" && fail "$1 breaks nothing"
    "${CC:-cc}" -std=c11 -O1 -w -D_GNU_SOURCE -I"$GBM_ROOT/runtime" \
        -I"$GBM_ROOT/stdlib/kernels" -c "$1.c" -o "$1.o" || fail "$1.c"
    compile_c "$2.c" "$1" "$1.o"
    go 2 "$1" "$2"
    says "^failed: ($2.gbm:[0-9]+:[0-9]+: )?this sampler is wrong: no draws"
    says "${5:-along lines that warm-up learnt\) does not belong to the model}"
    absent "$1_1.csv"
    go 0 "$1" "$2" --no-check --quiet
    exists "$1_1.csv"
}
broken jacobian ridge along 's/sum \+= t \* m->line\[k\];/;/'
broken counts catch along 's/sum \+= t \* m->line\[k\];/;/'
broken scale ridge along 's/from \* exp\(step\)/from * (1 + fabs(step))/'
broken term ridge along 's/i < a->nterms \&\&/i < a->nterms - 1 \&\&/'
broken effects level along_joint \
    's/if \(rt_counts_for_nothing\(.*/if (false)/'
broken states ridge along 's/i < a->nderived; i\+\+/i < 0; i++/' \
    'leave q behind'
broken rows place along 's/rt_index_latents\(.*/;/' 'leave behind which'
