#!/usr/bin/env bash
# Moves along lines that warm-up learns are compared with the model's log density
# before the first draw: a runtime whose moves were broken draws nothing.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm # waits for no disk
source "$GBM_ROOT/tests/cli/lib"

# positive numbers, states that are kept in memory, subscripts by a place that
# moves along, and effects of which one has no data
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
cat >place.gbm <<'E'
model {
  for (a in 1:A) {
    x[a] ~ dbin(p[a], 60)
    l[a] <- rho + lam[1 + step(age[a] - cut)]
    p[a] <- lam[1 + step(age[a] - cut)] / l[a] * (1 - exp(-l[a] * age[a]))
  }
  for (k in 1:2) { lam[k] ~ dgamma(0.5, 1) }
  rho ~ dgamma(0.5, 5)
  cut ~ dunif(2, 40)
}
E
echo '{"A": 11, "age": [1, 2, 3, 5, 8, 12, 17, 25, 35, 50, 65],
 "x": [7, 13, 15, 24, 31, 36, 46, 48, 42, 51, 47]}' >place.json
cat >level.gbm <<'E'
model {
  for (i in 1:n) { y[i] ~ dnorm(mu + u[g[i]], pow(sy, -2)) }
  for (j in 1:5) { u[j] ~ dt(0, pow(su, -2), nu) }
  nu ~ dgamma(2, 0.1)T(1,)
  su ~ dt(0, 0.5, 1)T(0,)
  sy ~ dt(0, 1, 1)T(0,)
  mu ~ dnorm(0, 0.1)
}
E
echo '{"n": 12, "g": [1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4],
 "y": [1.9, 0.4, 2.2, 0.7, 1.8, 0.1, 2.9, 1.1, 2.4, 3.0, 1.3, 2.6]}' >level.json

export GBM_LINES=always # also where they do not pay
go() { # STATUS PROGRAM MODEL OPTION...
    status "$1" "./$2" --data "$3.json" --device cpu --warmup 400 --draws 20 \
        --out "$2.csv" "${@:4}"
}
for model in ridge place level; do
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
broken scale ridge along 's/from \* exp\(step\)/from * (1 + fabs(step))/'
broken term ridge along 's/i < a->nterms \&\&/i < a->nterms - 1 \&\&/'
broken effects level along_joint \
    's/if \(rt_counts_for_nothing\(.*/if (false)/'
broken states ridge along 's/i < a->nderived; i\+\+/i < 0; i++/' \
    'A sweep leaves q behind'
broken rows place along 's/rt_index_latents\(.*/;/' 'leave behind which'
