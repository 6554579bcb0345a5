#!/usr/bin/env bash
# Starts: a chain leaves a minor mode of discrete nodes for one that is far more
# probable, and modes that are alike keep their chains.
source "$GBM_ROOT/tests/cli/lib"

cat >pairs.gbm <<'E'
# Members of two groups agree within a group; the first member may be known.
model {
  same ~ dunif(0.5, 1)
  other ~ dunif(0, 0.5)
  for (i in 1:N) { g[i] ~ dbern(0.5) }
  for (i in 1:(N - 1)) {
    for (j in (i + 1):N) {
      a[i,j] ~ dbern(ifelse(equals(g[i], g[j]), same, other))
    }
  }
}
E
cat >data.py <<'E'
import json, sys
n = 12
g = [i % 2 for i in range(n)]
odd = {(0, 3), (1, 4), (2, 8), (5, 6), (3, 10)}  # answers out of line
a = [[None if j <= i else int((g[i] == g[j]) != ((i, j) in odd))
      for j in range(n)] for i in range(n)]
known = [g[0]] if sys.argv[1] == "known" else [None]
json.dump({"N": n, "a": a, "g": known + [None] * (n - 1)}, sys.stdout)
E
python3 data.py known >known.json
python3 data.py free >free.json
status 0 "$GBMC" pairs.gbm -o pairs

column() { # FILE NAME
    grep -v '^#' "$1" | head -1 | tr , '\n' | grep -nxF "$2" | cut -d: -f1
}
# modes DATA SEED: how many chains have member 2 in which group
modes() {
    status 0 ./pairs --data "$1" --seed "$2" --chains 12 --warmup 30 --draws 5 \
        --monitor g --quiet --out fit.csv
    for i in fit_*.csv; do
        grep -v '^#' "$i" | tail -1 | cut -d, -f"$(column "$i" g.2)"
    done | sort | uniq -c | tr -s ' \n' ' '
}
for seed in 1 2 3; do
    found=$(modes known.json $seed)
    [ "$found" = " 12 1 " ] || fail "known, seed $seed: $found"
    found=$(modes free.json $seed)
    [ "$(wc -w <<<"$found")" = 4 ] || fail "free, seed $seed: $found"
done
