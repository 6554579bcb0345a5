#!/usr/bin/env bash
# The R package: R CMD check has nothing to say. Its own tests are r_tests.
source "$GBM_ROOT/tests/cli/lib"
source "$GBM_ROOT/tests/cli/r_lib"
patience=500

r_build
status 0 R CMD check --no-manual --no-tests gbmr_*.tar.gz
prints '^Status: OK$'
exit 0
