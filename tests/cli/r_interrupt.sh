#!/usr/bin/env bash
# An interrupt of R gives back what was drawn.
source "$GBM_ROOT/tests/cli/lib"
source "$GBM_ROOT/tests/cli/r_lib"

r_install

# An interrupt that R alone gets, and one that the sampler gets as well, as at a
# terminal.
cat >long.R <<'E2'
library(gbmr)
fit <- gbm_sample("model { y ~ dnorm(m, 1); m ~ dnorm(0, 1) }", list(y = 1),
                  draws = 2e9, thin = 20000, monitor = "m", seed = 1,
                  options = c("--device", "cpu"), progress = "lines")
cat("kept", dim(fit$draws)[1] > 0, fit$complete, "\n")
E2
interrupt() { # WHOM: "" R alone, "-" its process group
    R_LIBS=$scratch/library setsid Rscript long.R >.out 2>.err </dev/null &
    local id=$! found
    for _ in $(seq 200); do
        grep -q '^warm-up' .err && break
        sleep 0.2
    done
    sleep 0.5
    kill -INT -- "$1$id"
    (sleep 30 && kill -KILL -- "-$id") 2>/dev/null &
    local killer=$!
    wait $id
    found=$?
    kill $killer 2>/dev/null
    [ $found = 0 ] || fail "status $found"
    prints '^kept TRUE FALSE $'
    says 'draws a chain were kept'
}
interrupt ""
interrupt -
exit 0
