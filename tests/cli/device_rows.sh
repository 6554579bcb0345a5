#!/usr/bin/env bash
# Updates that try all values of an element, as rows of a thread on the device:
# the draws are the host's, to rounding of sums, with one row a thread, several, or none so. On
# stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

python3 "$GBM_ROOT/tests/cli/trials/data.py"
draw() { # FILE OPTION...
    local out=$1
    shift
    status 0 ./sampler --data many.json --chains 2 --warmup 0 --draws 8 \
        --format csv --digits 9 --monitor z,mu --out "$out.csv" "$@"
    for chain in 1 2; do
        grep -v '^#' "${out}_$chain.csv" >"$out.$chain"
    done
}
for model in vectors sums; do
    status 0 "$GBMC" -O1 "$GBM_ROOT/tests/cli/trials/$model.gbm" -o sampler
    draw cpu --device cpu
    for rows in 0 1 2 4; do
        GBM_CUDA_CHAINS=0 GBM_CUDA_ROWS=$rows draw cuda --device cuda
        for chain in 1 2; do
            python3 - cpu.$chain cuda.$chain <<'END' || fail "$model, $rows"
import csv, math, sys
a, b = (list(csv.reader(open(f))) for f in sys.argv[1:])
assert len(a) == len(b) > 5 and a[0] == b[0]
for x, y in zip(sum(a[1:], []), sum(b[1:], [])):
    assert math.isclose(float(x), float(y), rel_tol=1e-6, abs_tol=1e-9), (x, y)
END
        done
    done
done
