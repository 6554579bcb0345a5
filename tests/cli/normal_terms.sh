#!/usr/bin/env bash
# What of a vector's likelihood is normal in it is in the precision and mean that
# its ellipse is made of, and what is evaluated is the rest: products of its
# cells, its scale, a truncated normal, what reads it twice. The moments are
# those of the plain joint density, and `pcn` does the same.
source "$GBM_ROOT/tests/cli/lib"

cat >rows.gbm <<'E'
model {
  for (j in 1:J) {
    x[j,1:2] ~ dmnorm(zero[], P[,])
    n[j] ~ dpois(exp(x[j,1] * x[j,2]))
    w[j,1:2] ~ dmnorm(x[j,1:2], R[,])
    v[j] ~ dnorm(x[j,1], 1)T(0,)
  }
  for (i in 1:N) { y[i] ~ dnorm(x[g[i],1] + a * x[g[i],2], tau) }
  u ~ dnorm(x[1,1] * x[2,2], 1)
  r ~ dnorm(x[1,1], exp(x[1,2]))
  a ~ dnorm(0, 1)
  tau ~ dgamma(2, 1)
}
E
cat >rows.json <<'E'
{"J": 3, "N": 7, "zero": [0, 0], "P": [[1, 0.3], [0.3, 1]],
 "R": [[2, -0.5], [-0.5, 3]], "n": [1, 0, 4], "v": [0.4, 1.3, 0.2],
 "w": [[0.5, null], [-0.2, 0.7], [1.2, 1.9]], "g": [1, 1, 2, 2, 3, 3, 3],
 "y": [0.3, null, 1.5, -0.2, 0.8, 2.5, 1.9], "u": 0.3, "r": 0.9}
E
{ cat rows.gbm; echo 'samplers { x : pcn; }'; } >steps.gbm

for model in rows steps; do
    status 0 "$GBMC" --emit=c $model.gbm
    sed -n '/^GBM_FN_BIG real likelihood_update_x_v(/,/^}/p' .out >rest
    sed -n '/^GBM_FN void assemble_update_x_v(/,/^}/p' .out >normal
    for v in n v u r; do
        grep -q "${v}_v_seen" rest || fail "$model: $v is not evaluated"
        grep -q "${v}_v_seen" normal && fail "$model: $v is no normal term"
    done
    for v in w y; do
        grep -q "${v}_v_seen" rest && fail "$model: $v is evaluated"
        grep -q "${v}_v_seen" normal || fail "$model: $v is not in the normal"
    done
done
status 0 "$GBMC" --explain rows.gbm
tr -s '\n ' ' ' <.out >why
grep -q 'its prior is normal, as is that of w\[j,1:2\] .*, but the' why ||
    fail "it is not explained"
if grep -q ',,' why; then fail "two commas"; fi

status 0 "$GBMC" -O 1 rows.gbm -o rows
status 0 "$GBMC" -O 1 --with=powers steps.gbm -o steps
for model in rows steps; do
    status 0 ./$model check --data rows.json
    status 0 ./$model --data rows.json --quiet --seed 2 --draws 30000 \
        --summary of_$model.json
done
status 0 ./rows --data rows.json --plain --quiet --seed 3 --draws 10000 \
    --summary of_plain.json
python3 - <<'E' || fail "the moments differ"
import json, sys
plain, rows, steps = (json.load(open(f"of_{f}.json"))["parameters"]
                      for f in ("plain", "rows", "steps"))
bad = 0
for a in (rows, steps):
    for n, r in a.items():
        s = plain[n]
        z = (r["mean"] - s["mean"]) / (r["mcse"]**2 + s["mcse"]**2)**0.5
        if not abs(z) < 4 or not 0.95 < r["sd"] / s["sd"] < 1.05:
            print(n, r["mean"], s["mean"], r["sd"], s["sd"], z)
            bad += 1
sys.exit(bad > 0 or len(rows) < 8)
E
