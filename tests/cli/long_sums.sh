#!/usr/bin/env bash
# Coefficients of a sum of unknown length are drawn in one joint block with what
# else is in the predictor; where rows have very many of them, in a dense block
# of their own, and the joint block takes them as they are.
source "$GBM_ROOT/tests/cli/lib"
models=$GBM_ROOT/tests/models/mixed_by_inprod
cat >m.bug <<'M'
model {
  for (i in 1:n) {
    y[i] ~ dbern(p[i])
    logit(p[i]) <- b0 + inprod(b[], X[i,]) + u[g[i]]
  }
  for (j in 1:J) { u[j] ~ dnorm(0, tu) }
  for (k in 1:K) { b[k] ~ dnorm(0, tb) }
  tb ~ dgamma(2, 2)
  tu ~ dgamma(2, 1)
  b0 ~ dnorm(0, 0.1)
}
M
data() { # ROWS COLUMNS
    python3 - "$1" "$2" <<'P' >"$1.json"
import random, json, sys
n, k = int(sys.argv[1]), int(sys.argv[2])
random.seed(3)
print(json.dumps({
    "n": n, "K": k, "J": 5, "g": [i % 5 + 1 for i in range(n)],
    "y": [random.randrange(2) for i in range(n)],
    "X": [[round(random.gauss(0, 0.1), 2) for _ in range(k)]
          for _ in range(n)]}))
P
}
status 0 "$GBMC" -O 1 m.bug -o m --explain
prints 'b, u, b0 .*joint Gaussian block'
prints 'b: by itself instead'

data 60 4
status 0 ./m check --data 60.json
prints '^b, u, b0 +joint Gaussian block +[1-9][0-9]* .* pass'
prints '^b +dense Gaussian block +0 .* nothing to draw'

# all of the block is data
python3 - <<'P' >known.json
import json
d = json.load(open("60.json"))
d.update({"b": [0.5, -1, 0, 1], "u": [0, 1, 2, -1, 0], "b0": 0.5})
print(json.dumps(d))
P
status 0 ./m check --data known.json
prints '^b, u, b0 +joint Gaussian block +0 .* nothing to draw'
status 0 ./m --data known.json --quiet

data 1600 150
status 0 ./m check --data 1600.json --chains 1 --points 1
prints '^b, u, b0 +joint Gaussian block +[1-9][0-9]* .* pass'
prints '^b +dense Gaussian block +[1-9][0-9]* .* pass'
status 0 ./m --data 1600.json --chains 1 --warmup 10 --draws 40 --quiet \
    --out many.csv
python3 - <<'P' || fail 'something is never drawn'
import csv, sys
rows = list(csv.DictReader(l for l in open("many_1.csv") if l[0] != "#"))
stuck = [n for n in rows[0] if not n.endswith("__")
         and len({r[n] for r in rows}) < 30]
sys.exit(f"{len(rows)} rows, {stuck}" if stuck or len(rows) != 40 else 0)
P

# where the density is not normal: slices of their own
sed -e 's/dbern(p/dpois(p/' -e 's/logit(p/log(p/' m.bug >counts.bug
status 0 "$GBMC" -O 1 counts.bug -o counts
status 0 ./counts check --data 60.json --points 1
prints '^b, u, b0 +joint elliptical slice +[1-9][0-9]* .* pass'
prints '^b +slice +0 .* nothing to draw'
data 600 150
status 0 ./counts check --data 600.json --chains 1 --points 1
prints '^b, u, b0 +joint elliptical slice +[1-9][0-9]* .* pass'
prints '^b +slice +[1-9][0-9]* .* pass'

# the same on the device
fake_device
status 0 ./m --data 60.json --device cuda --quiet --warmup 20 --draws 5 \
    --out few.csv
