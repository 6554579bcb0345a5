#!/usr/bin/env bash
# Whatever the level, code with wide vectors clears their upper halves before it
# leaves: else Intel's processors run SSE code, as libm's, many times slower.
source "$GBM_ROOT/tests/cli/lib"

status 0 "$GBMC" --no-cache -O 1 "$GBM_ROOT/examples/pump/pump.gbm" -o pump
objdump -d pump >code
grep -q '%[yz]mm' code || {
    echo "no wide vectors on this processor"
    exit 77
}
grep -q vzeroupper code || fail "upper halves stay as they are"
