#!/usr/bin/env bash
# Rows whose densities are bounded first, by products of matrices, and computed
# where that leaves more than one value (stdlib/kernels/rows_forms.h): the draws
# are the same, to the last bit, in both precisions. Densities with all products
# of columns, with squares, linear ones, and a regression by group; rows that
# miss values, weights of 0, densities that are no number. On stand-ins for
# CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

python3 "$GBM_ROOT/tests/cli/forms/data.py"
export GBM_CUDA_CHAINS=0 GBM_CUDA_ROWS=1
draw() { # FORMS OPTION...
    local forms=$1
    shift
    GBM_CUDA_FORMS=$forms status 0 ./sampler --chains 2 --warmup 0 --draws 8 \
        --no-check --format csv --digits 9 --out "with$forms.csv" \
        --device cuda "$@"
    for chain in 1 2; do
        grep -v '^#' "with${forms}_$chain.csv" >"with$forms.$chain"
    done
}
# Narrow groups whose matrices single precision does not invert are for double.
compare() { # MODEL DATA PRECISION
    status 0 "$GBMC" -O1 "$GBM_ROOT/tests/cli/forms/$1.gbm" -o sampler
    draw 0 --data "$2.json" --precision "$3"
    grep -q 'bounded first' .err && fail "bounds that were not wanted"
    draw 1 --data "$2.json" --precision "$3"
    says 'z bounded first'
    for chain in 1 2; do
        [ "$(wc -l <with1.$chain)" -gt 5 ] || fail "no draws"
        same with0.$chain with1.$chain
    done
}
compare full far double
compare full near single
compare squares far double
compare counts near single
compare lines far double

# For a GPU (NVRTC itself, not its stand-in), where rows of 128 features are a
# warp's in one go or in two.
check=$GBM_ROOT/build/tests/gpu/nvrtc_check
[ -x "$check" ] || exit 0
status 0 "$GBMC" --emit=cuda "$GBM_ROOT/tests/cli/forms/full.gbm"
cp .out full.cu
bytes() { # PRECISION SIZES
    status 0 env -u LD_LIBRARY_PATH "$check" full.cu sm_90 --std=c++17 \
        --fmad=false -DGBM_CHOSEN "-D$1" -I"$GBM_ROOT/stdlib/kernels" \
        -DGBM_ROWS=1 -DGBM_LANES_update_z_v=1,1 \
        -DGBM_LANES_update_z_v_values=32,1 "-DGBM_SIZES_update_z_v=$2"
    sed -n 's/.*: \([0-9]*\) bytes of .*/\1/p' .out
}
for precision in GBM_SINGLE GBM_DOUBLE; do
    [ "$(bytes $precision 4_3_11_40_10_3)" -gt \
        "$(bytes $precision 4_3_11_40_0_3)" ] || fail "no bounds for a GPU"
done
bytes GBM_SINGLE 17_16_154_40_153_16 >/dev/null
