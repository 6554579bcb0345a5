#!/usr/bin/env bash
# run --plain: the sampler of the plain joint density has the moments of the
# derived one, on nodes of every kind that it moves in a way of its own.
source "$GBM_ROOT/tests/cli/lib"

cat >kinds.gbm <<'E'
model {
  # symmetric matrices, vectors partly seen
  Omega[1:2, 1:2] ~ dwish(R[,], 4)
  for (i in 1:8) { y[i, 1:2] ~ dmnorm(m[], Omega[,]) }
  for (k in 1:2) { m[k] ~ dnorm(0, 0.1) }
  # a simplex, latent counts of a given sum, a latent index
  p[1:3] ~ ddirch(a[])
  n[1:3] ~ dmulti(p[], 20)
  seen ~ dbin(0.6, n[1])
  for (i in 1:6) { z[i] ~ dcat(p[]); x[i] ~ dnorm(3 * z[i], 1) }
  # truncation, counts without an end, a sum, what an interval confines
  t ~ dgamma(2, 1) T(0.5, 2)
  c ~ dpois(40 * t)
  caught ~ dbin(0.5, c)
  total ~ dsum(u, v)
  u ~ dnorm(t, 1)
  v ~ dnorm(0, 1)
  cut ~ dinterval(w, 1.5)
  w ~ dnorm(u, 1)
}
E
cat >data.json <<'E'
{"R": [[2, 0.3], [0.3, 1]], "a": [1, 2, 0.7], "seen": 5, "caught": 27,
 "x": [3.5, 8.2, 5.1, 4.4, 9.9, 2.2], "total": 2.5, "cut": 1,
 "y": [[1, 0.2], [0.3, null], [-0.5, 0.1], [2, 1.1], [1.2, 0.4], [0, -0.6],
       [null, 0.5], [0.7, 0.9]]}
E
status 0 "$GBMC" -O 1 kinds.gbm -o kinds
status 0 ./kinds check --data data.json
status 0 ./kinds --data data.json --quiet --draws 4000 --summary derived.json
status 0 ./kinds --data data.json --plain --quiet --draws 4000 \
    --summary plain.json --out plain.nc --device cpu
exists plain.nc
python3 - <<'E' || fail "the moments differ"
import json, sys
a, b = (json.load(open(f))["parameters"] for f in ("derived.json",
                                                   "plain.json"))
bad, moved = 0, 0
for n, r in a.items():
    s = b[n]
    if not r["sd"]:
        continue
    moved += 1
    z = (r["mean"] - s["mean"]) / (r["mcse"] ** 2 + s["mcse"] ** 2) ** 0.5
    # rare values, outside the 90 % interval, have no spread to compare
    same = s["q5"] == s["q95"] or 0.9 < r["sd"] / s["sd"] < 1.1
    if not abs(z) < 4 or not same or not s["ess_bulk"] > 400:
        print(n, r["mean"], s["mean"], r["sd"], s["sd"], z, s["ess_bulk"])
        bad += 1
sys.exit(bad > 0 or set(a) != set(b) or moved < 20)
E

status 1 ./kinds --data data.json --plain --device cuda
says 'plain runs on the CPU'
status 1 ./kinds check --data data.json --plain
says 'plain is an option of run'

# the same seed, the same draws
for k in 1 2; do
    status 0 ./kinds --data data.json --plain --quiet --warmup 20 --draws 50 \
        --out $k.csv --threads $k
done
for f in 1*.csv; do
    diff <(grep -v '^#' "$f") <(grep -v '^#' "2${f#1}") ||
        fail "draws depend on the threads"
done
