#!/usr/bin/env bash
# Scripts for rjags, R2jags, jagsUI and runjags (r/inst/scripts) run with their
# library line changed, and find what JAGS found in long runs. What docs/r.md
# shows runs.
source "$GBM_ROOT/tests/cli/lib"
source "$GBM_ROOT/tests/cli/r_lib"

r_install
cp -r "$GBM_ROOT/r/tests" .
cd tests || exit 1
R_LIBS=$scratch/library GBMR_SCRIPTS=all timeout 500 Rscript -e '
  library(testthat); library(gbmr)
  test_dir("testthat", filter = "scripts", package = "gbmr",
           reporter = "summary")' >../.out 2>../.err </dev/null ||
    fail "a script"
cd ..
prints '^scripts: [.]{40,}$' # none skipped

sed -n '/^```r$/,/^```$/p' "$GBM_ROOT/docs/r.md" | grep -v '^```' >page.R
grep -q gbm_check page.R || fail "docs/r.md has no code"
status 0 env R_LIBS=library Rscript page.R
prints '^mu\[trt2\] '
says "model.gbm:1:21: error: expected '\)' or ',' before '1'"
