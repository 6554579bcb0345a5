#!/usr/bin/env bash
# Programs for chains that fill the device are compact (stdlib/kernels/real.h):
# their draws are those of other programs, and of the host. On stand-ins for
# CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

example=$GBM_ROOT/examples/eight_schools
status 0 "$GBMC" -O1 "$example/eight_schools.gbm" -o schools
draw() { # NAME CHAINS OPTION...: 2 draws of each chain, and what was defined
    local name=$1 chains=$2
    shift 2
    GBM_FAKE_OPTIONS=$PWD/$name.options status 0 ./schools \
        --data "$example/data.json" --chains "$chains" --warmup 3 --draws 2 \
        --seed 7 --quiet --no-check --format csv --digits 10 \
        --out "$name.csv" "$@"
    for chain in 1 2; do
        grep -v '^#' "${name}_$chain.csv"
    done >"$name"
}
compact() { # NAME
    grep -q -- -DGBM_COMPACT "$1.options"
}
draw host 2 --device cpu
GBM_CUDA_CHAINS=0 draw few 2 --device cuda
compact few && fail "few chains, each step by itself: a compact program"
GBM_CUDA_CHAINS=0 GBM_CUDA_COMPACT=1 draw asked 2 --device cuda
compact asked || fail "not compact, though asked for"
GBM_FAKE_MULTIPROCESSORS=1 GBM_CUDA_CHAINS=0 draw many 256 --device cuda
compact many || fail "256 chains on one multiprocessor: not compact"
# one kernel, which all chains are to be in at once
GBM_FAKE_MULTIPROCESSORS=1 GBM_CUDA_CHAINS=1 draw crowded 700 --device cuda
grep -q -- -DGBM_CHAINS_BLOCKS=8 crowded.options || fail "700 chains: crowded"
for name in few asked many crowded; do
    python3 - host $name <<'P' || fail "draws of $name"
import csv, math, sys
a, b = (list(csv.reader(open(f))) for f in sys.argv[1:])
assert len(a) == len(b) == 6, (len(a), len(b))
for x, y in zip(sum(a, []), sum(b, [])):
    assert x == y or math.isclose(float(x), float(y), rel_tol=1e-8), (x, y)
P
done
