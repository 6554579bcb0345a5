#!/usr/bin/env bash
# The headers of stdlib compile with NVRTC without a warning, in both
# precisions; where there is a GPU, they compute on it what they do on the CPU.
set -uo pipefail
if ! tools/cuda home >/dev/null; then
    echo "no CUDA toolkit in reach"
    exit 77
fi
folder=${GBM_BUILD:-build}/tests/gpu
for precision in double single; do
    program=$folder/stdlib_device_$precision
    option=-DGBM_${precision^^}
    tools/cuda nvrtc "$program" "$option" tests/gpu/stdlib_device.c -lm ||
        exit 1
    "$program" tests/gpu stdlib/kernels || exit 1
done
