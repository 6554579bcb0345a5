/* test_draws_single: test_draws in single precision. */
#define GBM_SINGLE
#include "test_draws.c"
