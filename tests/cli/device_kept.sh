#!/usr/bin/env bash
# A device keeps what the rows of a slice need at each trial, a lane its own rows,
# as the host does (GBM_KEPT_ROWS of stdlib/kernels/skeleton.h); not where a lane
# has too many rows, nor where sweeps are one kernel. It draws what the host draws.
# On stand-ins for CUDA's libraries.
source "$GBM_ROOT/tests/cli/lib"
fake_device
patience=500
cat >rows.gbm <<'E'
model {
  for (g in 1:G) {
    for (n in 1:N) { y[g,n] ~ dpois(exp(h[n] + inprod(X[n,], beta[g,]))) }
    for (l in 1:2) { beta[g,l] ~ dnorm(0, 1) }
  }
}
E
# data FILE N: counts of five genes, one of them missing here and there.
data() {
    python3 - "$@" <<'P'
import json, random, sys
rng = random.Random(4)
n = int(sys.argv[2])
json.dump({"G": 5, "N": n, "h": [rng.gauss(0, 0.3) for _ in range(n)],
           "X": [[1, rng.gauss(0, 1)] for _ in range(n)],
           "y": [[None if g == 2 and k % 7 == 3 and k < 20 else rng.randrange(6)
                  for k in range(n)] for g in range(5)]}, open(sys.argv[1], "w"))
P
}
status 0 "$GBMC" --emit=c rows.gbm
mv .out rows.c
sed 's/GBM_LANES_END(total, team)/total += 1e9 * x; &/' rows.c >wrong.c
cmp -s rows.c wrong.c && fail "nothing is kept"
compile_c rows.c rows
compile_c wrong.c wrong
# Whether rows that are kept are read.
kept() { # DATA
    for name in rows wrong; do
        status 0 "./$name" --data "$1" --device cuda --quiet --no-check \
            --format csv --warmup 2 --draws 4 --chains 2 --out "$name.csv"
    done
    ! cmp -s <(grep -v '^#' rows_1.csv) <(grep -v '^#' wrong_1.csv)
}
data few.json 20
data many.json 9000
device_draws_as_host rows few.json
GBM_CUDA_CHAINS=0 kept few.json || fail "no rows are kept"
GBM_CUDA_CHAINS=0 kept many.json && fail "more rows are kept than there is room"
GBM_CUDA_CHAINS=4 kept few.json && fail "one kernel for all keeps rows"
exit 0
