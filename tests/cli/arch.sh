#!/usr/bin/env bash
# --arch compiles the CUDA program for an architecture, without a GPU.
source "$GBM_ROOT/tests/cli/lib"

echo 'model { mu ~ dnorm(0, 1); for (i in 1:N) { y[i] ~ dnorm(mu, 1) } }' >m.bug
status 1 "$GBMC" --arch=hopper m.bug -o m
says "gbmc: error: --arch takes an architecture as sm_90, not 'hopper'"
absent m

if ! (cd "$GBM_ROOT" && tools/cuda home) >/dev/null; then
    echo "no CUDA toolkit in reach"
    exit 77
fi
CUDA_HOME=$(cd "$GBM_ROOT" && tools/cuda home)
export CUDA_HOME
status 1 "$GBMC" --arch=sm_1 m.bug -o m
says 'does not know this architecture; it knows sm_.*sm_90'
absent m
status 0 "$GBMC" -O 0 --arch=sm_90 --save-temps m.bug -o m
exists m
exists m.cubin
[ "$(head -c 4 m.cubin)" = "$(printf '\177ELF')" ] || fail "m.cubin is no code"
