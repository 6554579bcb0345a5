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
#include "truncated_gamma.h"
#include "poisson.h"
#include "binomial.h"
#include "hypergeometric.h"
#include "inverse_gaussian.h"
#include "gig.h"
#include "polya_gamma.h"
#include "von_mises.h"
#include "dirichlet.h"
#include "wishart.h"
#include "multi_normal.h"

#endif
