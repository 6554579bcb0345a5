#!/usr/bin/env bash
# A kernel may begin while the one before it on its stream is at work
# (runtime/cuda/launch.c), so each waits for that first: gbm_follow is the first
# statement of a fixed kernel, and is in what a generated one begins with.
source "$GBM_ROOT/tests/cli/lib"

for file in "$GBM_ROOT"/runtime/cuda/*.h; do
    awk '/^CUDA_KERNEL/ { kernel = $0 }
        kernel && /^\{/ {
            getline
            if ($0 !~ /^    gbm_follow\(\);$/) print FILENAME ": " kernel
            kernel = ""
        }' "$file"
done >found
for file in "$GBM_ROOT"/stdlib/kernels/*.h; do
    awk '/^ *GBM_(KERNEL_)?HEAD\(|__global__/ && !/define/ {
            if (head) print FILENAME ": " head
            head = $0
        }
        /GBM_WORKER\(|gbm_follow/ && !/define/ { head = "" }
        END { if (head) print FILENAME ": " head }' "$file"
done | grep -v 'GBM_HEAD(function, GBM_BLOCK_OF\|##_kernel' >>found
[ ! -s found ] || fail "kernels that do not wait: $(cat found)"
