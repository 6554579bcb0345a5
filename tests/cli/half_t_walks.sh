#!/usr/bin/env bash
# Walks whose steps have half-t standard deviations, one for all or one each:
# the added nodes that these priors become hold nothing, as the walk moves with
# its scale.
source "$GBM_ROOT/tests/cli/lib"

cat >one.gbm <<'M1'
model {
  b[1] ~ dnorm(0, .1)
  for (t in 2:T) { b[t] ~ dnorm(b[t-1], pow(s, -2)) }
  for (t in 1:T) { y[t] ~ dnorm(b[t], 4) }
  s ~ dt(0, 4, 3)T(0,)
}
M1
cat >each.gbm <<'M2'
model {
  for (j in 1:2) {
    b[1,j] ~ dnorm(0, .1)
    for (t in 2:T) { b[t,j] ~ dnorm(b[t-1,j], 1 / (s[j] * s[j])) }
    s[j] ~ dt(0, 1, 1)T(0,)
  }
  for (t in 1:T) { y[t] ~ dnorm(b[t,1] + b[t,2] * x[t], 4) }
}
M2
awk 'BEGIN { srand(3); printf "{\"T\": 80, \"y\": ["
    for (t = 0; t < 80; t++) { e = 0; for (i = 0; i < 12; i++) e += rand()
        printf "%s%.4f", t ? ", " : "", (e - 6) * .5 + t / 80 }
    printf "], \"x\": ["
    for (t = 0; t < 80; t++) printf "%s%.3f", t ? ", " : "", 2 * rand() - 1
    print "]}" }' >data.json
for m in one each; do
    "$GBMC" $m.gbm -o $m || fail "$m is not compiled"
    "$GBMC" --explain $m.gbm | grep -q 's: moved with b' || fail "$m: the walk stays where its scale moves"
    ./$m check --data data.json >check || fail "$m: $(cat check)"
    ./$m geweke --data data.json --draws 200 --warmup 20 >geweke 2>&1 || fail "$m: $(cat geweke)"
    ./$m --data data.json --draws 4000 --monitor s --summary $m.json --quiet || fail "$m fails"
done
python3 - <<'P' || fail "scales are held"
import json
import sys
for m in "one", "each":
    for name, r in json.load(open(m + ".json"))["parameters"].items():
        print(m, name, r["ess_bulk"], r["rhat"])
        if r["ess_bulk"] < 300:
            sys.exit(1)
P
