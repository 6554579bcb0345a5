#!/usr/bin/env bash
# The R package's own tests, as R CMD check runs them (r/tests).
source "$GBM_ROOT/tests/cli/lib"
source "$GBM_ROOT/tests/cli/r_lib"
patience=500

r_install
cp -r "$GBM_ROOT/r/tests" .
status 0 env R_LIBS="$scratch/library" GBMR_SCRIPTS=rjags_line \
    sh -c 'cd tests && Rscript testthat.R'
prints 'FAIL 0 .* PASS [0-9]{3}'
grep -A9 -i 'skipped tests' .out
exit 0
