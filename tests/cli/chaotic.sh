#!/usr/bin/env bash
# A recursion that is chaotic (Ricker's, of a fast population) keeps none of its
# digits: what a sweep holds of it is not what is computed of it in another order
# of rounding. The check before the first draw finds that to be no fault; a step
# that leaves early states behind is refused all the same.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'E'
model {
  x[1] <- exp(start)
  for (t in 2:T) { x[t] <- x[t-1] * exp(r * (1 - x[t-1])) }
  for (t in 1:T) { y[t] ~ dpois(phi * x[t]) }
  start ~ dnorm(0, 1)
  r ~ dunif(2.8, 2.9)
  phi ~ dgamma(2, 0.2)
}
E
/usr/bin/env python3 >data.json <<'E'
import json, math
x = [0.8]
for t in range(99):
    x.append(x[-1] * math.exp(2.85 * (1 - x[-1])))
print(json.dumps({"T": len(x), "y": [round(10 * v) for v in x]}))
E
status 0 "$GBMC" --emit=c model.gbm
mv .out right.c

# NAME [FACTOR]: what sweeps compute is rounded in another way than what the check
# computes, and FACTOR stands before it.
other() {
    sed "s/^        derive_x_v_2(s, team, element++);/\
        const int t = (int)element++ + 2;\n\
        const real at = x_v(t - 1), r = *s->r_v;\n\
        x_v(t) = ${2:-} at * real_exp(r - r * at);/" right.c >"$1.c"
    cmp -s right.c "$1.c" && fail "the recursion is written otherwise"
    # shellcheck disable=SC2046 # flags are words
    "${CC:-cc}" -std=c11 -O1 -fopenmp -D_GNU_SOURCE \
        -I"$GBM_ROOT/stdlib/kernels" -I"$GBM_ROOT/runtime" "$1.c" -o "$1" \
        "$GBM_ROOT/$GBM_BUILD/libgbm.a" \
        $(cat "$GBM_ROOT/$GBM_BUILD/link_flags") || fail "$1.c"
}
run() { # STATUS NAME
    status "$1" ./"$2" --data data.json --device cpu --threads 1 --chains 2 \
        --warmup 50 --draws 50 --seed 1
}
other rounded
run 0 rounded
other behind '1.001 *'
run 2 behind
says 'A sweep leaves x behind'
