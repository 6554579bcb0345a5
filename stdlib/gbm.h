/* gbm.h: everything that generated programs call, for host and device. */
#ifndef GBM_STDLIB_H
#define GBM_STDLIB_H

#include "real.h"
#include "rng.h"
#include "elementary.h"
#include "normal_function.h"
#include "gamma_function.h"
#include "incomplete_gamma.h"
#include "incomplete_beta.h"
#include "normal.h"
#include "exponential.h"
#include "gamma.h"
#include "beta.h"
#include "truncated_normal.h"
#include "categorical.h"
#include "slice.h"
#include "linear.h"

#endif
