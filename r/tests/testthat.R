library(testthat)
library(gbmr)
test_check("gbmr")
