#!/usr/bin/env bash
# LOO and WAIC are the package loo's to 1e-8, whatever is observed.
source "$GBM_ROOT/tests/cli/lib"
source "$GBM_ROOT/tests/cli/r_lib"

mkdir library
status 0 R CMD INSTALL --no-docs -l library "$GBM_ROOT/r"
cp -r "$GBM_ROOT/r/tests" .
cd tests || exit 1
R_LIBS=$scratch/library GBMR_SCRIPTS=all timeout 500 Rscript -e '
  library(testthat); library(gbmr)
  test_dir("testthat", filter = "observed", package = "gbmr",
           reporter = "summary")' >../.out 2>../.err </dev/null ||
    fail "another LOO"
cd ..
prints '^observed: [.]{50,}$' # none skipped
