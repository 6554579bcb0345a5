/* gbm.h: what any generated program may call, for host and device. Samplers
 * name headers of their own beside it. A program for the host includes those of
 * these that it calls, and defines GBM_STDLIB_H (compiler/emit/headers.c): so
 * each includes what it needs. */
#ifndef GBM_STDLIB_H
#define GBM_STDLIB_H

#include "real.h"
#include "rng.h"
#include "elementary.h"
#include "normal_function.h"
#include "gamma_function.h"
#include "incomplete_gamma.h"
#include "incomplete_beta.h"
#include "log_mass.h"
#include "bessel.h"
#include "normal.h"
#include "exponential.h"
#include "gamma.h"
#include "beta.h"
#include "truncated_normal.h"
#include "categorical.h"
#include "slice.h"
#include "shares.h"
#include "linear.h"
#include "statistics.h"
#include "matrix_exponential.h"
#include "truncated_gamma.h"
#include "between.h"
#include "poisson.h"
#include "binomial.h"
#include "hypergeometric.h"
#include "inverse_gaussian.h"
#include "gig.h"
#include "modified_half_normal.h"
#include "polya_gamma.h"
#include "von_mises.h"
#include "dirichlet.h"
#include "wishart.h"
#include "multi_normal.h"
#include "noncentral.h"
#include "choice.h"
#include "covariance.h"
#include "car.h"
#include "distributions.h"

#endif
