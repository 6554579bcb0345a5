#include "model.h"

/* What it calls of gbm.h, in place of all of it. */
#define GBM_STDLIB_H
#include "real.h"
#include "rng.h"
#include "normal_function.h"
#include "log_factorial.h"
#include "gamma_function.h"
#include "normal.h"
#include "exponential.h"
#include "gamma.h"
#include "team.h"
#include "between_rows.h"
#include "slice.h"
#include "ahead.h"
#include "normals.h"
#include "linear.h"
#include "row_terms.h"
#include "poisson.h"

/* gamma_poisson: written by gbmc from gamma_poisson.gbm. */
#include "gbm.h"
#include "team.h"
#include "carried.h"

/* All nodes of one chain. Arrays are row-major; macros give them
 * the model's subscripts, from 1. */
struct state {
    int *N_v; /* N */
    int *x_v; /* x[x_v_n1] */
    int x_v_n1;
    const unsigned char *x_v_seen;
    long long x_v_stride;
    real *theta_v; /* theta[theta_v_n1] */
    int theta_v_n1;
    const unsigned char *theta_v_seen;
    long long theta_v_stride;
    real *t_v; /* t[t_v_n1] */
    int t_v_n1;
    real *a_v; /* a */
    const unsigned char *a_v_seen;
    long long a_v_stride;
    real *b_v; /* b */
    const unsigned char *b_v_seen;
    long long b_v_stride;
    real *a_v_width; /* tuned in warm-up */
    long long a_v_width_stride;
    real *carry_b_v_theta_v_tuning; /* whether the move pays, from warm-up */
    long long carry_b_v_theta_v_tuning_stride;
};

#include "skeleton.h"

#define x_v(at1) s->x_v[(at1) - 1]
#define x_v_seen(at1) (s->x_v_seen ? s->x_v_seen[(at1) - 1] == 1 : s->x_v_stride == 0)
#define theta_v(at1) s->theta_v[(at1) - 1]
#define theta_v_seen(at1) (s->theta_v_seen ? s->theta_v_seen[(at1) - 1] == 1 : s->theta_v_stride == 0)
#define theta_v_live(at1) (!s->theta_v_seen || s->theta_v_seen[(at1) - 1] != 2)
#define t_v(at1) s->t_v[(at1) - 1]
#define a_v_seen() (s->a_v_seen ? s->a_v_seen[0] == 1 : s->a_v_stride == 0)
#define b_v_seen() (s->b_v_seen ? s->b_v_seen[0] == 1 : s->b_v_stride == 0)

/* From chain 0 to another. */
GBM_FN void shift_state(struct state *s, int chain)
{
    s->x_v += chain * s->x_v_stride;
    s->theta_v += chain * s->theta_v_stride;
    s->a_v += chain * s->a_v_stride;
    s->b_v += chain * s->b_v_stride;
    s->a_v_width += chain * s->a_v_width_stride;
    s->carry_b_v_theta_v_tuning += chain * s->carry_b_v_theta_v_tuning_stride;
}

#ifdef GBM_KNOWN
/* Of arrays, so that loops over few cells are written out. */
GBM_FN void know_state(struct state *s)
{
    GBM_KNOW_NUMBER(2, s->N_v)
    GBM_KNOW(3, s->x_v_seen, 0)
    GBM_KNOW(4, s->x_v_stride, known - 1)
    GBM_KNOW(5, s->x_v_n1, known - 1)
    GBM_KNOW(6, s->theta_v_seen, 0)
    GBM_KNOW(7, s->theta_v_stride, known - 1)
    GBM_KNOW(8, s->theta_v_n1, known - 1)
    GBM_KNOW(11, s->t_v_n1, known - 1)
    GBM_KNOW(12, s->a_v_seen, 0)
    GBM_KNOW(13, s->a_v_stride, known - 1)
    GBM_KNOW(15, s->b_v_seen, 0)
    GBM_KNOW(16, s->b_v_stride, known - 1)
    GBM_KNOW(19, s->a_v_width_stride, known - 1)
    GBM_KNOW(22, s->carry_b_v_theta_v_tuning_stride, known - 1)
}
#endif

/* a ~ dexp(1)    gamma_poisson.gbm:7:3 */

GBM_FN real logdensity_a_v(const struct state *s, long long element)
{
    if (!(*s->a_v >= 0))
        return -GBM_INF;
    return -*s->a_v;
}
#ifndef __CUDACC__
GBM_HOST_LOGDENSITY(logdensity_a_v)
#endif

GBM_FN void simulate_a_v(const struct state *s, struct gbm_rng *rng, long long element)
{
    const real lambda_v = 1;
    const real exponential = gbm_draw_exponential(rng);
    *s->a_v = (exponential / lambda_v);
}
#ifndef __CUDACC__
GBM_HOST_SIMULATE(simulate_a_v)
#endif

#ifndef __CUDACC__
static int64_t cells_a_v_in(const struct state *s, int64_t element, int64_t *out)
{
    int64_t count = 0;
    if (out)
        out[count] = 0;
    count++;
    return count;
}
static int64_t cells_a_v(const void *state, int64_t element, int64_t *out)
{
    return cells_a_v_in((const struct state *)state, element, out);
}

static void subscripts_a_v_in(const struct state *s, int64_t element, int *out)
{
}
static void subscripts_a_v(const void *state, int64_t element, int *out)
{
    subscripts_a_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_a_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    count++;
    return count;
}

static void start_a_v(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    real lower = 0, upper = GBM_INF;
    const real lambda_v = 1;
    *s->a_v = gbm_start(rng, 1 / lambda_v, lower, upper, (real)spread);
}
GBM_HOST_START(start_a_v)

static void bounds_a_v(const struct state *s, int64_t element, real *lower, real *upper)
{
    *lower = 0;
    *upper = GBM_INF;
}
GBM_HOST_BOUNDS(bounds_a_v)

static bool check_a_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    if (a_v_seen() && (*s->a_v < 0))
        return gbm_problem_text(problem, "a = %g is outside the support real [0, inf] of dexp", (double)*s->a_v);
    return true;
}
static bool check_a_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_a_v_in((const struct state *)state, element, problem);
}

#endif

/* b ~ dgamma(0.1, 1)    gamma_poisson.gbm:8:3 */

GBM_FN real logdensity_b_v(const struct state *s, long long element)
{
    if (!(*s->b_v >= 0))
        return -GBM_INF;
    return -REAL_C(0.9) * real_log(*s->b_v) - *s->b_v - REAL_C(2.2527126517342055);
}
#ifndef __CUDACC__
GBM_HOST_LOGDENSITY(logdensity_b_v)
#endif

GBM_FN void simulate_b_v(const struct state *s, struct gbm_rng *rng, long long element)
{
    const real r_v = REAL_C(0.1);
    const real lambda_v = 1;
    const real gamma = gbm_draw_gamma(rng, r_v);
    *s->b_v = (gamma / lambda_v);
}
#ifndef __CUDACC__
GBM_HOST_SIMULATE(simulate_b_v)
#endif

#ifndef __CUDACC__
static int64_t cells_b_v_in(const struct state *s, int64_t element, int64_t *out)
{
    int64_t count = 0;
    if (out)
        out[count] = 0;
    count++;
    return count;
}
static int64_t cells_b_v(const void *state, int64_t element, int64_t *out)
{
    return cells_b_v_in((const struct state *)state, element, out);
}

static void subscripts_b_v_in(const struct state *s, int64_t element, int *out)
{
}
static void subscripts_b_v(const void *state, int64_t element, int *out)
{
    subscripts_b_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_b_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    count++;
    return count;
}

static void start_b_v(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    real lower = 0, upper = GBM_INF;
    const real r_v = REAL_C(0.1);
    const real lambda_v = 1;
    *s->b_v = gbm_start(rng, r_v / lambda_v, lower, upper, (real)spread);
}
GBM_HOST_START(start_b_v)

static void bounds_b_v(const struct state *s, int64_t element, real *lower, real *upper)
{
    *lower = 0;
    *upper = GBM_INF;
}
GBM_HOST_BOUNDS(bounds_b_v)

static bool check_b_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    if (b_v_seen() && (*s->b_v < 0))
        return gbm_problem_text(problem, "b = %g is outside the support real [0, inf] of dgamma", (double)*s->b_v);
    return true;
}
static bool check_b_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_b_v_in((const struct state *)state, element, problem);
}

#endif

/* theta[i] ~ dgamma(a, b)    gamma_poisson.gbm:5:5 */

GBM_FN real logdensity_theta_v(const struct state *s, long long element)
{
    const int i_v = (int)(element) + 1;
    if (!(theta_v(i_v) >= 0))
        return -GBM_INF;
    return *s->a_v * real_log(*s->b_v) - gbm_lgamma(*s->a_v) + gbm_xlogy(*s->a_v - 1, theta_v(i_v)) - *s->b_v * theta_v(i_v);
}
#ifndef __CUDACC__
GBM_HOST_LOGDENSITY(logdensity_theta_v)
#endif

GBM_FN void simulate_theta_v(const struct state *s, struct gbm_rng *rng, long long element)
{
    const int i_v = (int)(element) + 1;
    const real r_v = *s->a_v;
    const real lambda_v = *s->b_v;
    const real gamma = gbm_draw_gamma(rng, r_v);
    theta_v(i_v) = (gamma / lambda_v);
}
#ifndef __CUDACC__
GBM_HOST_SIMULATE(simulate_theta_v)
#endif

#ifndef __CUDACC__
static int64_t cells_theta_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int i_v = (int)(element) + 1;
    int64_t count = 0;
    if (out)
        out[count] = (i_v) - 1;
    count++;
    return count;
}
static int64_t cells_theta_v(const void *state, int64_t element, int64_t *out)
{
    return cells_theta_v_in((const struct state *)state, element, out);
}

static void subscripts_theta_v_in(const struct state *s, int64_t element, int *out)
{
    const int i_v = (int)(element) + 1;
    out[0] = i_v;
}
static void subscripts_theta_v(const void *state, int64_t element, int *out)
{
    subscripts_theta_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_theta_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    for (int i_v = 1; i_v <= *s->N_v; i_v++) {
        if (tuples)
            tuples[count * 1 + 0] = i_v;
        count++;
    }
    return count;
}

static void start_theta_v(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    const int i_v = (int)(element) + 1;
    real lower = 0, upper = GBM_INF;
    const real r_v = *s->a_v;
    const real lambda_v = *s->b_v;
    theta_v(i_v) = gbm_start(rng, r_v / lambda_v, lower, upper, (real)spread);
}
GBM_HOST_START(start_theta_v)

static void bounds_theta_v(const struct state *s, int64_t element, real *lower, real *upper)
{
    const int i_v = (int)(element) + 1;
    *lower = 0;
    *upper = GBM_INF;
}
GBM_HOST_BOUNDS(bounds_theta_v)

static bool check_theta_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int i_v = (int)(element) + 1;
    if (theta_v_seen(i_v) && (theta_v(i_v) < 0))
        return gbm_problem_text(problem, "theta[%d] = %g is outside the support real [0, inf] of dgamma", i_v, (double)theta_v(i_v));
    return true;
}
static bool check_theta_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_theta_v_in((const struct state *)state, element, problem);
}

#endif

/* x[i] ~ dpois(theta[i] * t[i])    gamma_poisson.gbm:4:5 */

GBM_FN real logdensity_x_v(const struct state *s, long long element)
{
    const int i_v = (int)(element) + 1;
    if (!(x_v(i_v) >= 0))
        return -GBM_INF;
    return gbm_times(x_v(i_v), real_log(theta_v(i_v)) + real_log(t_v(i_v))) - theta_v(i_v) * t_v(i_v) - gbm_lgamma(x_v(i_v) + 1);
}
#ifndef __CUDACC__
GBM_HOST_LOGDENSITY(logdensity_x_v)
#endif

GBM_FN void simulate_x_v(const struct state *s, struct gbm_rng *rng, long long element)
{
    const int i_v = (int)(element) + 1;
    const real lambda_v = theta_v(i_v) * t_v(i_v);
    const real poisson = gbm_draw_poisson(rng, lambda_v);
    x_v(i_v) = gbm_whole(poisson);
}
#ifndef __CUDACC__
GBM_HOST_SIMULATE(simulate_x_v)
#endif

#ifndef __CUDACC__
static int64_t cells_x_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int i_v = (int)(element) + 1;
    int64_t count = 0;
    if (out)
        out[count] = (i_v) - 1;
    count++;
    return count;
}
static int64_t cells_x_v(const void *state, int64_t element, int64_t *out)
{
    return cells_x_v_in((const struct state *)state, element, out);
}

static void subscripts_x_v_in(const struct state *s, int64_t element, int *out)
{
    const int i_v = (int)(element) + 1;
    out[0] = i_v;
}
static void subscripts_x_v(const void *state, int64_t element, int *out)
{
    subscripts_x_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_x_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    for (int i_v = 1; i_v <= *s->N_v; i_v++) {
        if (tuples)
            tuples[count * 1 + 0] = i_v;
        count++;
    }
    return count;
}

static void start_x_v(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    const int i_v = (int)(element) + 1;
    real lower = 0, upper = GBM_INF;
    simulate_x_v(s, rng, element);
    if (x_v(i_v) < lower)
        x_v(i_v) = (int)real_ceil(lower);
    if (x_v(i_v) > upper)
        x_v(i_v) = (int)real_floor(upper);
}
GBM_HOST_START(start_x_v)

static void bounds_x_v(const struct state *s, int64_t element, real *lower, real *upper)
{
    const int i_v = (int)(element) + 1;
    *lower = 0;
    *upper = GBM_INF;
}
GBM_HOST_BOUNDS(bounds_x_v)

static bool check_x_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int i_v = (int)(element) + 1;
    if (!gbm_subscript(problem, "theta", 1, i_v, s->theta_v_n1))
        return false;
    if (!gbm_subscript(problem, "t", 1, i_v, s->t_v_n1))
        return false;
    if (gbm_is_nan(t_v(i_v)))
        return gbm_problem_text(problem, "t[%d] is missing in the data, but %s reads it", i_v, "gamma_poisson.gbm:4:5");
    if (x_v_seen(i_v) && (x_v(i_v) < 0))
        return gbm_problem_text(problem, "x[%d] = %g is outside the support integer [0, inf] of dpois", i_v, (double)x_v(i_v));
    return true;
}
static bool check_x_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_x_v_in((const struct state *)state, element, problem);
}

#endif

/* a ~ dexp(1)    gamma_poisson.gbm:7:3
 * No closed form: slice sampling.
 * child: theta[i] ~ dgamma(a, b)
 */
struct conditional_a_v {
    const struct state *s;
    const struct gbm_team *team;
    long long element;
    real c1; /* coefficient of x */
    real c2; /* coefficient of loggam(x) */
    real lower, upper;
};

GBM_FN void prepare_a_v(struct conditional_a_v *k_,
    const struct state *s, const struct gbm_team *team,
    long long element)
{
    gbm_total c1 = 0, c2 = 0;
    real shared = 0;
    if (1 <= *s->N_v) {
        shared = real_log(*s->b_v);
    }
    GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
        if (theta_v_live(i_v)) {
            c1 += shared + real_log(theta_v(i_v));
            c2 += -1;
        }
    }
    c1 = gbm_team_sum(team, c1);
    c2 = gbm_team_sum(team, c2);
    c1 += -1;
    gbm_total lower = 0;
    gbm_total upper = GBM_INF;
    k_->s = s;
    k_->team = team;
    k_->element = element;
    k_->c1 = (real)c1;
    k_->c2 = (real)c2;
    k_->lower = (real)lower;
    k_->upper = (real)upper;
}

GBM_INLINE real density_a_v(const void *context, real x)
{
    const struct conditional_a_v *k_ = (const struct conditional_a_v *)context;
    const struct state *s = k_->s;
    const struct gbm_team *team = k_->team;
    gbm_total total = 0;
    total += k_->c1 * (x);
    if (k_->c2 != 0) {
        total += k_->c2 * (gbm_lgamma(x));
    }
    return (real)total;
}

GBM_FN void update_a_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    struct conditional_a_v k_;
    prepare_a_v(&k_, s, team, element);
    real width = s->a_v_width[element];
    const real value = gbm_slice(rng, (real)*s->a_v, &width, adapting, k_.lower, k_.upper, density_a_v, &k_);
    gbm_team_sync(team);
    s->a_v_width[element] = width;
    gbm_team_sync(team);
    *s->a_v = value;
}

/* b ~ dgamma(0.1, 1)    gamma_poisson.gbm:8:3
 * Its full conditional has the statistics of dgamma:
 *     c1 multiplies log(x)
 *     c2 multiplies x
 * child: theta[i] ~ dgamma(a, b)
 */
struct conditional_b_v {
    const struct state *s;
    const struct gbm_team *team;
    long long element;
    real c1; /* coefficient of log(x) */
    real c2; /* coefficient of x */
    real lower, upper;
};

GBM_FN void prepare_b_v(struct conditional_b_v *k_,
    const struct state *s, const struct gbm_team *team,
    long long element)
{
    gbm_total c1 = 0, c2 = 0;
    GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
        if (theta_v_live(i_v)) {
            c1 += *s->a_v;
            c2 += -theta_v(i_v);
        }
    }
    c1 = gbm_team_sum(team, c1);
    c2 = gbm_team_sum(team, c2);
    c1 += REAL_C(-0.9);
    c2 += -1;
    gbm_total lower = 0;
    gbm_total upper = GBM_INF;
    k_->s = s;
    k_->team = team;
    k_->element = element;
    k_->c1 = (real)c1;
    k_->c2 = (real)c2;
    k_->lower = (real)lower;
    k_->upper = (real)upper;
}

GBM_INLINE real density_b_v(const void *context, real x)
{
    const struct conditional_b_v *k_ = (const struct conditional_b_v *)context;
    const real lower = k_->lower, upper = k_->upper;
    const real r_v = k_->c1 + 1;
    const real lambda_v = -k_->c2;
    return gbm_xlogy(r_v - 1, x) - lambda_v * x;
}

GBM_FN void finish_b_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting,
    const struct conditional_b_v *k_)
{
    const real r_v = k_->c1 + 1;
    const real lambda_v = -k_->c2;
    const real gamma = gbm_draw_gamma(rng, r_v);
    gbm_team_sync(team);
    *s->b_v = gamma / lambda_v;
}

GBM_FN void update_b_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    struct conditional_b_v k_;
    prepare_b_v(&k_, s, team, element);
    finish_b_v(s, rng, team, element, adapting, &k_);
}

/* theta[i] ~ dgamma(a, b)    gamma_poisson.gbm:5:5
 * Its full conditional has the statistics of dgamma:
 *     c1 multiplies log(x)
 *     c2 multiplies x
 * child: x[i] ~ dpois(theta[i] * t[i])
 */
struct conditional_theta_v {
    const struct state *s;
    const struct gbm_team *team;
    long long element;
    int loop0; /* i */
    real c1; /* coefficient of log(x) */
    real c2; /* coefficient of x */
    real lower, upper;
};

GBM_FN void prepare_theta_v(struct conditional_theta_v *k_,
    const struct state *s, const struct gbm_team *team,
    long long element)
{
    const int i_v = (int)(element) + 1;
    gbm_total c1 = 0, c2 = 0;
    c1 += *s->a_v - 1;
    c2 += -*s->b_v;
    if (x_v_seen(i_v)) {
        c1 += x_v(i_v);
        c2 += -t_v(i_v);
    }
    gbm_total lower = 0;
    gbm_total upper = GBM_INF;
    k_->s = s;
    k_->team = team;
    k_->element = element;
    k_->loop0 = i_v;
    k_->c1 = (real)c1;
    k_->c2 = (real)c2;
    k_->lower = (real)lower;
    k_->upper = (real)upper;
}

GBM_INLINE real density_theta_v(const void *context, real x)
{
    const struct conditional_theta_v *k_ = (const struct conditional_theta_v *)context;
    const real lower = k_->lower, upper = k_->upper;
    const real r_v = k_->c1 + 1;
    const real lambda_v = -k_->c2;
    return gbm_xlogy(r_v - 1, x) - lambda_v * x;
}

GBM_FN void update_theta_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    const int i_v = (int)(element) + 1;
    struct conditional_theta_v k_;
    prepare_theta_v(&k_, s, team, element);
    const real r_v = k_.c1 + 1;
    const real lambda_v = -k_.c2;
    const real gamma = gbm_draw_gamma(rng, r_v);
    gbm_team_sync(team);
    theta_v(i_v) = gamma / lambda_v;
}

/* Moved together:
 *     b ~ dgamma(0.1, 1)    gamma_poisson.gbm:8:3
 *     theta[i] ~ dgamma(a, b)    gamma_poisson.gbm:5:5
 */
GBM_FN struct gbm_scaling line_carry_b_v_theta_v(const struct state *s, const struct gbm_team *team)
{
    gbm_total sums[5] = {0, 0, 0, 0, 0};
    if (s->x_v_seen || s->x_v_stride == 0) {
        GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
            if (x_v_seen(i_v)) {
                sums[1] += -t_v(i_v) * theta_v(i_v);
                sums[4] += x_v(i_v);
            }
        }
    }
    sums[3] += s->theta_v_stride == 0 || s->b_v_stride == 0;
    sums[3] += b_v_seen();
    sums[3] += *s->b_v == 0;
    GBM_TEAM_FOR(i1_v, 1, (*s->N_v) + 1, team) {
        if (theta_v_live(i1_v)) {
            sums[2] += 1;
            sums[3] += theta_v_seen(i1_v);
        }
    }
    gbm_team_sums(team, 5, sums);
    const struct gbm_scaling k = {sums[0], sums[1], sums[2], sums[3], sums[4]};
    return k;
}
struct line_of_carry_b_v_theta_v {
    struct gbm_scaling k;
    const struct state *s;
    const struct gbm_team *team;
    real now;
};
GBM_INLINE real carried_carry_b_v_theta_v(const void *context, real t_)
{
    const struct line_of_carry_b_v_theta_v *o_ = (const struct line_of_carry_b_v_theta_v *)context;
    const struct state *s = o_->s;
    const struct gbm_team *team = o_->team;
    const real grown_ = real_exp(t_);
    const real value_ = o_->now / grown_;
    if (!(value_ > 0))
        return -GBM_INF;
    const real by_ = real_expm1(t_);
    gbm_total total = by_ * (o_->k.linear - o_->k.square * by_ / 2);
    total += -1 * t_; /* the scale's Jacobian */
    total += o_->k.logarithm * t_;
    {
        gbm_total sum = 0;
        sum += REAL_C(0.9) * t_ - value_;
        total += sum;
    }
    return (real)total;
}

GBM_FN void move_carry_b_v_theta_v(const struct state *s, const struct gbm_team *team, real t)
{
    const real by = real_exp(t);
    gbm_team_sync(team);
    GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
        if (theta_v_live(i_v)) {
            theta_v(i_v) *= by;
        }
    }
    gbm_team_sync(team);
    if (team->lane == 0)
        *s->b_v *= real_exp(-1 * t);
    gbm_team_sync(team);
}

GBM_FN bool begin_carry_b_v_theta_v(const struct state *s, const struct gbm_team *team,
    long long element, int adapting, struct line_of_carry_b_v_theta_v *o_)
{
    real *const tuning = s->carry_b_v_theta_v_tuning;
    if (!gbm_carried_pays(tuning, adapting, true)) {
        gbm_carried_pass(tuning, adapting, real_log(real_fabs(*s->b_v)), team);
        return false;
    }
    const struct line_of_carry_b_v_theta_v o = {line_carry_b_v_theta_v(s, team), s, team, *s->b_v};
    *o_ = o;
    return !(o.k.held > 0) && o.k.count > 0;
}

GBM_FN real along_carry_b_v_theta_v(struct gbm_rng *rng, const struct line_of_carry_b_v_theta_v *o_)
{
    return gbm_slice_along(rng, 1, -GBM_INF, GBM_INF, carried_carry_b_v_theta_v, o_);
}

GBM_FN void end_carry_b_v_theta_v(const struct state *s, const struct gbm_team *team,
    long long element, int adapting, real t)
{
    real *const tuning = s->carry_b_v_theta_v_tuning;
    const real now = *s->b_v;
    const bool moves = t != 0 && gbm_is_finite(real_exp(t));
    if (moves)
        move_carry_b_v_theta_v(s, team, t);
    if (team->lane == 0)
        gbm_carried_learn(tuning, adapting, real_log(real_fabs(now)), moves ? -1 * t : 0);
}

GBM_FN void carry_b_v_theta_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    struct line_of_carry_b_v_theta_v o;
    if (begin_carry_b_v_theta_v(s, team, element, adapting, &o))
        end_carry_b_v_theta_v(s, team, element, adapting, along_carry_b_v_theta_v(rng, &o));
}

#ifndef __CUDACC__
static int dimension_carry_b_v_theta_v(const void *state, int64_t element)
{
    const struct state *s = (const struct state *)state;
    const struct line_of_carry_b_v_theta_v o = {line_carry_b_v_theta_v(s, &gbm_alone), s, &gbm_alone, *s->b_v};
    return !(o.k.held > 0) && o.k.count > 0;
}
static void get_carry_b_v_theta_v(const void *state, int64_t element, double *x)
{
    const struct state *s = (const struct state *)state;
    const struct line_of_carry_b_v_theta_v o = {line_carry_b_v_theta_v(s, &gbm_alone), s, &gbm_alone, *s->b_v};
    *x = (double)o.now;
}
static void set_carry_b_v_theta_v(const void *state, int64_t element, const double *x)
{
    const struct state *s = (const struct state *)state;
    const struct line_of_carry_b_v_theta_v o = {line_carry_b_v_theta_v(s, &gbm_alone), s, &gbm_alone, *s->b_v};
    const double t = -1 * log(fabs(*x / (double)o.now));
    if (isfinite(t))
        move_carry_b_v_theta_v(s, &gbm_alone, (real)t);
    *s->b_v = (real)*x; /* beyond its support, too, and back */
}
static double conditional_carry_b_v_theta_v(const void *state, int64_t element, const double *x)
{
    const struct state *s = (const struct state *)state;
    const struct line_of_carry_b_v_theta_v o = {line_carry_b_v_theta_v(s, &gbm_alone), s, &gbm_alone, *s->b_v};
    const double t = -1 * log(fabs(*x / (double)o.now));
    struct line_of_carry_b_v_theta_v of = o;
    of.now = real_copysign(o.now, (real)*x);
    return (double)carried_carry_b_v_theta_v(&of, (real)t) - ((double)o.k.count - 1) * t;
}
static int64_t tuning_carry_b_v_theta_v(const void *state)
{
    return GBM_CARRIED_CELLS;
}
#endif

/* theta[i] ~ dgamma(a, b)    gamma_poisson.gbm:5:5
 */
GBM_FN void forward_theta_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    simulate_theta_v(s, rng, element);
}

/* x[i] ~ dpois(theta[i] * t[i])    gamma_poisson.gbm:4:5
 */
GBM_FN void update_x_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    simulate_x_v(s, rng, element);
}

#ifdef __CUDACC__
#include "skeleton_cuda.h"
#if defined GBM_FILTER
#include "filter_cuda.h"
GBM_FN double act_of_particle(const struct state *s, struct gbm_rng *rng,
    int code, long long element)
{
    const struct gbm_team alone = {0, 1};
    switch (code) {
    GBM_ACT_DRAW(0, simulate_a_v)
    GBM_ACT_WEIGH(0, logdensity_a_v)
    GBM_ACT_DRAW(1, simulate_b_v)
    GBM_ACT_WEIGH(1, logdensity_b_v)
    GBM_ACT_DRAW(2, simulate_theta_v)
    GBM_ACT_WEIGH(2, logdensity_theta_v)
    GBM_ACT_DRAW(3, simulate_x_v)
    GBM_ACT_WEIGH(3, logdensity_x_v)
    }
    return 0;
}
GBM_KERNEL_FILTER
#elif defined GBM_CHAINS
#include "chains_cuda.h"
GBM_FN void sweep_of_chain(const struct gbm_sweeper *k)
{
    GBM_CHAIN_STEP(0, update_a_v)
    GBM_CHAIN_STEP(1, update_b_v)
    GBM_CHAIN_STEP(2, update_theta_v)
    GBM_CHAIN_STEP(3, carry_b_v_theta_v)
}
GBM_FN void keep_of_chain(const struct gbm_sweeper *k)
{
    GBM_CHAIN_STEP(4, forward_theta_v)
    GBM_CHAIN_STEP(5, update_x_v)
}
GBM_FN double density_of_chain(const struct gbm_sweeper *k)
{
    double sum = 0;
    GBM_CHAIN_DENSITY(0, logdensity_a_v)
    GBM_CHAIN_DENSITY(1, logdensity_b_v)
    GBM_CHAIN_DENSITY(2, logdensity_theta_v)
    GBM_CHAIN_DENSITY(3, logdensity_x_v)
    return sum;
}
GBM_FN void known_of_chain(const struct gbm_sweeper *k, double *lp)
{
}
GBM_KERNEL_CHAINS
#else
GBM_KERNEL(update_a_v, 0)
GBM_KERNEL_SPLIT(update_b_v, prepare_b_v, finish_b_v, struct conditional_b_v, 1)
GBM_KERNEL(update_theta_v, 2)
GBM_KERNEL_ALONG(carry_b_v_theta_v, 3)
GBM_KERNEL(forward_theta_v, 4)
GBM_KERNEL(update_x_v, 5)
#endif
GBM_KERNEL_LOGDENSITY(logdensity_a_v)
GBM_KERNEL_LOGDENSITY(logdensity_b_v)
GBM_KERNEL_LOGDENSITY(logdensity_theta_v)
GBM_KERNEL_LOGDENSITY(logdensity_x_v)
#endif

/* ---- the host's tables ---- */

static const struct gbm_variable variables[] = {
    {.name = "N", .where = "gamma_poisson.gbm:3:15", .role = GBM_GIVEN, .integer = 1, .ndim = 0, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "x", .where = "gamma_poisson.gbm:4:5", .role = GBM_STOCHASTIC, .integer = 1, .ndim = 1, .observed = 1, .needed = 0, .maintained = 0, .indices = "i", .sizes = "N"},
    {.name = "theta", .where = "gamma_poisson.gbm:5:5", .role = GBM_STOCHASTIC, .integer = 0, .ndim = 1, .observed = 0, .needed = 0, .maintained = 0, .barren = 1, .indices = "i", .sizes = "N"},
    {.name = "t", .where = "gamma_poisson.gbm:4:29", .role = GBM_GIVEN, .integer = 0, .ndim = 1, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "a", .where = "gamma_poisson.gbm:7:3", .role = GBM_STOCHASTIC, .integer = 0, .ndim = 0, .observed = 0, .needed = 0, .maintained = 0},
    {.name = "b", .where = "gamma_poisson.gbm:8:3", .role = GBM_STOCHASTIC, .integer = 0, .ndim = 0, .observed = 0, .needed = 0, .maintained = 0},
    {.name = "a width", .where = "", .role = GBM_TUNING, .integer = 0, .ndim = 1, .family = 0},
    {.name = "carry_b_v_theta_v tuning", .where = "", .role = GBM_TUNING, .integer = 0, .ndim = 1, .family = 1, .cells = tuning_carry_b_v_theta_v},
    {.name = 0}};

static void bind_state(void *state, const struct gbm_binding *b)
{
    struct state *s = (struct state *)state;
    s->N_v = (int *)b[0].values;
    s->x_v = (int *)b[1].values;
    s->x_v_n1 = b[1].dim[0];
    s->x_v_seen = b[1].seen;
    s->x_v_stride = b[1].stride;
    s->theta_v = (real *)b[2].values;
    s->theta_v_n1 = b[2].dim[0];
    s->theta_v_seen = b[2].seen;
    s->theta_v_stride = b[2].stride;
    s->t_v = (real *)b[3].values;
    s->t_v_n1 = b[3].dim[0];
    s->a_v = (real *)b[4].values;
    s->a_v_seen = b[4].seen;
    s->a_v_stride = b[4].stride;
    s->b_v = (real *)b[5].values;
    s->b_v_seen = b[5].seen;
    s->b_v_stride = b[5].stride;
    s->a_v_width = (real *)b[6].values;
    s->a_v_width_stride = b[6].stride;
    s->carry_b_v_theta_v_tuning = (real *)b[7].values;
    s->carry_b_v_theta_v_tuning_stride = b[7].stride;
}
static void shift(void *state, int chain)
{
    shift_state((struct state *)state, chain);
}

static const int load_order[] = {0, 3, 1, 2, 4, 5, 6, 7};

static double violation_a_v_in(const struct state *s, int64_t element)
{
    double sum = 0;
    sum += gbm_outside(*s->a_v, 0, GBM_INF);
    return sum;
}
static double violation_a_v(const void *state, int64_t element)
{
    return violation_a_v_in((const struct state *)state, element);
}

static void parents_a_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
}
static double violation_b_v_in(const struct state *s, int64_t element)
{
    double sum = 0;
    sum += gbm_outside(*s->b_v, 0, GBM_INF);
    return sum;
}
static double violation_b_v(const void *state, int64_t element)
{
    return violation_b_v_in((const struct state *)state, element);
}

static void parents_b_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
}
static double violation_theta_v_in(const struct state *s, int64_t element)
{
    const int i_v = (int)(element) + 1;
    double sum = 0;
    sum += gbm_outside(theta_v(i_v), 0, GBM_INF);
    sum += gbm_outside(*s->a_v, 0, GBM_INF);
    sum += gbm_outside(*s->b_v, 0, GBM_INF);
    return sum;
}
static double violation_theta_v(const void *state, int64_t element)
{
    return violation_theta_v_in((const struct state *)state, element);
}

static void parents_theta_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int i_v = (int)(element) + 1;
    {
        if (1)
            visit(context, 4, (int64_t)(0));
    }
    {
        if (1)
            visit(context, 5, (int64_t)(0));
    }
}
static double violation_x_v_in(const struct state *s, int64_t element)
{
    const int i_v = (int)(element) + 1;
    double sum = 0;
    sum += gbm_outside(x_v(i_v), 0, GBM_INF);
    sum += gbm_outside(theta_v(i_v) * t_v(i_v), 0, GBM_INF);
    sum += gbm_outside(theta_v(i_v), 0, GBM_INF);
    sum += gbm_outside(t_v(i_v), 0, GBM_INF);
    return sum;
}
static double violation_x_v(const void *state, int64_t element)
{
    return violation_x_v_in((const struct state *)state, element);
}

static void parents_x_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int i_v = (int)(element) + 1;
    {
        const int at1_ = i_v;
        if (1 && at1_ >= 1 && at1_ <= s->theta_v_n1)
            visit(context, 2, (int64_t)((0) * s->theta_v_n1 + at1_ - 1));
    }
}
static const struct gbm_family families[] = {
    {.variable = 4,
     .text = "a ~ dexp(1)",
     .where = "gamma_poisson.gbm:7:3",
     .stochastic = 1, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 0, .table = -1,
     .enumerate = enumerate_a_v,
     .subscripts = subscripts_a_v,
     .cells = cells_a_v,
     .check = check_a_v,
     .logdensity = logdensity_a_v_host, .density_kernel = "logdensity_a_v_kernel",
     .start = start_a_v_host,
     .violation = violation_a_v,
     .bounds = bounds_a_v_host,
     .parents = parents_a_v,
     .simulate = simulate_a_v_host},
    {.variable = 5,
     .text = "b ~ dgamma(0.1, 1)",
     .where = "gamma_poisson.gbm:8:3",
     .stochastic = 1, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 0, .table = -1,
     .enumerate = enumerate_b_v,
     .subscripts = subscripts_b_v,
     .cells = cells_b_v,
     .check = check_b_v,
     .logdensity = logdensity_b_v_host, .density_kernel = "logdensity_b_v_kernel",
     .start = start_b_v_host,
     .violation = violation_b_v,
     .bounds = bounds_b_v_host,
     .parents = parents_b_v,
     .simulate = simulate_b_v_host},
    {.variable = 2,
     .text = "theta[i] ~ dgamma(a, b)",
     .where = "gamma_poisson.gbm:5:5",
     .stochastic = 1, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 1, .table = -1,
     .enumerate = enumerate_theta_v,
     .subscripts = subscripts_theta_v,
     .cells = cells_theta_v,
     .check = check_theta_v,
     .logdensity = logdensity_theta_v_host, .density_kernel = "logdensity_theta_v_kernel",
     .start = start_theta_v_host,
     .violation = violation_theta_v,
     .bounds = bounds_theta_v_host,
     .parents = parents_theta_v,
     .simulate = simulate_theta_v_host,
     .barren = 1},
    {.variable = 1,
     .text = "x[i] ~ dpois(theta[i] * t[i])",
     .where = "gamma_poisson.gbm:4:5",
     .stochastic = 1, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 1, .table = -1,
     .enumerate = enumerate_x_v,
     .subscripts = subscripts_x_v,
     .cells = cells_x_v,
     .check = check_x_v,
     .logdensity = logdensity_x_v_host, .density_kernel = "logdensity_x_v_kernel",
     .start = start_x_v_host,
     .violation = violation_x_v,
     .bounds = bounds_x_v_host,
     .counts = true,
     .parents = parents_x_v,
     .simulate = simulate_x_v_host,
     .leaf = true},
};

static const struct gbm_inverse inverses[] = {
    {.variable = -1}};

static const struct gbm_sequence sequences[] = {
    {.nreaders = 0}};

static void family_work(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    *out++ = 1;
    *out++ = 14;
    *out++ = 39 * N_v;
    *out++ = 38 * N_v;
}

static void reads_0_x_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int i_v = (int)(element) + 1;
    {
        const int at1_ = i_v;
        if (1 && at1_ >= 1 && at1_ <= s->theta_v_n1)
            visit(context, 2, (int64_t)((0) * s->theta_v_n1 + at1_ - 1));
    }
}
static const struct gbm_reader readers[] = {
    {.family = 3, .reads = reads_0_x_v},
    {.family = -1}};

static int dimension_a_v(const void *state, int64_t element)
{
    return 1;
}
static void get_a_v_cell(const struct state *s, int64_t element, real **cell_, int **count_)
{
    *cell_ = &*s->a_v;
}
static void get_a_v(const void *state, int64_t element, double *x)
{
    real *cell = 0;
    int *count = 0;
    get_a_v_cell((const struct state *)state, element, &cell, &count);
    *x = cell ? (double)*cell : *count;
}
static void set_a_v(const void *state, int64_t element, const double *x)
{
    real *cell = 0;
    int *count = 0;
    get_a_v_cell((const struct state *)state, element, &cell, &count);
    if (cell)
        *cell = (real)*x;
    else
        *count = (int)*x;
}
static double conditional_a_v_at(const void *state, int64_t element, const double *x)
{
    const struct state *s = (const struct state *)state;
    struct conditional_a_v k_;
    double before, value = -GBM_INF;
    prepare_a_v(&k_, s, &gbm_alone, element);
    get_a_v(state, element, &before);
    if (*x >= k_.lower && *x <= k_.upper)
        value = (double)density_a_v(&k_, (real)*x);
    set_a_v(state, element, &before);
    return value;
}

static int64_t cost_update_a_v(const void *state)
{
    const struct state *s = (const struct state *)state;
    return (int64_t)((double)*s->N_v);
}

GBM_HOST_RUN(1, update_a_v, 0, 3, none)
static int dimension_b_v(const void *state, int64_t element)
{
    return 1;
}
static void get_b_v_cell(const struct state *s, int64_t element, real **cell_, int **count_)
{
    *cell_ = &*s->b_v;
}
static void get_b_v(const void *state, int64_t element, double *x)
{
    real *cell = 0;
    int *count = 0;
    get_b_v_cell((const struct state *)state, element, &cell, &count);
    *x = cell ? (double)*cell : *count;
}
static void set_b_v(const void *state, int64_t element, const double *x)
{
    real *cell = 0;
    int *count = 0;
    get_b_v_cell((const struct state *)state, element, &cell, &count);
    if (cell)
        *cell = (real)*x;
    else
        *count = (int)*x;
}
static double conditional_b_v_at(const void *state, int64_t element, const double *x)
{
    const struct state *s = (const struct state *)state;
    struct conditional_b_v k_;
    double before, value = -GBM_INF;
    prepare_b_v(&k_, s, &gbm_alone, element);
    get_b_v(state, element, &before);
    if (*x >= k_.lower && *x <= k_.upper)
        value = (double)density_b_v(&k_, (real)*x);
    set_b_v(state, element, &before);
    return value;
}

static int64_t cost_update_b_v(const void *state)
{
    const struct state *s = (const struct state *)state;
    return (int64_t)((double)*s->N_v);
}

GBM_HOST_RUN(3, update_b_v, 1, 1, gbm_draw_gamma)
static int dimension_theta_v(const void *state, int64_t element)
{
    return 1;
}
static void get_theta_v_cell(const struct state *s, int64_t element, real **cell_, int **count_)
{
    const int i_v = (int)(element) + 1;
    *cell_ = &theta_v(i_v);
}
static void get_theta_v(const void *state, int64_t element, double *x)
{
    real *cell = 0;
    int *count = 0;
    get_theta_v_cell((const struct state *)state, element, &cell, &count);
    *x = cell ? (double)*cell : *count;
}
static void set_theta_v(const void *state, int64_t element, const double *x)
{
    real *cell = 0;
    int *count = 0;
    get_theta_v_cell((const struct state *)state, element, &cell, &count);
    if (cell)
        *cell = (real)*x;
    else
        *count = (int)*x;
}
static double conditional_theta_v_at(const void *state, int64_t element, const double *x)
{
    const struct state *s = (const struct state *)state;
    struct conditional_theta_v k_;
    double before, value = -GBM_INF;
    prepare_theta_v(&k_, s, &gbm_alone, element);
    get_theta_v(state, element, &before);
    if (*x >= k_.lower && *x <= k_.upper)
        value = (double)density_theta_v(&k_, (real)*x);
    set_theta_v(state, element, &before);
    return value;
}

GBM_HOST_RUN(3, update_theta_v, 2, 1, gbm_draw_gamma)
static int64_t cost_carry_b_v_theta_v(const void *state)
{
    const struct state *s = (const struct state *)state;
    return (int64_t)(2 * (double)*s->N_v);
}

GBM_HOST_RUN(2, carry_b_v_theta_v, 3, 0, none)
GBM_HOST_RUN(1, forward_theta_v, 4, 1, none)
GBM_HOST_RUN(4, update_x_v, 5, 1, none)
static void work_0(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    /* sum statistics */
    *out++ = N_v;
    *out++ = 23 * N_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = N_v;
    /* search draws */
    *out++ = 1;
    *out++ = 60;
    *out++ = 0;
    *out++ = 1;
}
static const struct gbm_phase phases_0[] = {
    {.text = "sum: statistics of theta[i] ~ dgamma(a, b)", .counted = 3, .live = true,
     .nreads = 1, .nwrites = 0, .reads = (const int[]){2}},
    {.text = "search: draws", .at_least = true,
     .nreads = 0, .nwrites = 1,
     .writes = (const int[]){0}},
};

static void work_1(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    /* sum statistics */
    *out++ = N_v;
    *out++ = 3 * N_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = N_v;
    /* map draws from dgamma */
    *out++ = 1;
    *out++ = 50;
    *out++ = 0;
    *out++ = 1;
}
static const struct gbm_phase phases_1[] = {
    {.text = "sum: statistics of theta[i] ~ dgamma(a, b)", .counted = 3, .live = true,
     .nreads = 1, .nwrites = 0, .reads = (const int[]){2}},
    {.text = "map: draws from dgamma",
     .nreads = 0, .nwrites = 1,
     .writes = (const int[]){1}},
};

static void work_2(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    /* map draws from dgamma */
    *out++ = N_v;
    *out++ = 53 * N_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = N_v;
    *out++ = N_v;
}
static const struct gbm_phase phases_2[] = {
    {.text = "map: draws from dgamma",
     .nreads = 2, .nwrites = 1, .reads = (const int[]){1, 3},
     .writes = (const int[]){2}},
};

static void work_3(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    /* search log density along a line */
    *out++ = 1;
    *out++ = 6;
    *out++ = 0;
    *out++ = 1;
    /* sum log density along a line */
    *out++ = N_v;
    *out++ = 43 * N_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = N_v;
    *out++ = N_v;
    *out++ = N_v;
    /* search draws the number */
    *out++ = 1;
    *out++ = 40;
    *out++ = 0;
    *out++ = 1;
    /* map moved */
    *out++ = N_v;
    *out++ = 0;
    *out++ = 0;
    *out++ = 1;
    *out++ = N_v;
}
static const struct gbm_phase phases_3[] = {
    {.text = "search: log density along a line of b ~ dgamma(0.1, 1)", .at_least = true,
     .nreads = 0, .nwrites = 0},
    {.text = "sum: log density along a line of x[i] ~ dpois(theta[i] * t[i])", .counted = 2,
     .nreads = 3, .nwrites = 0, .reads = (const int[]){1, 2, 3}},
    {.text = "search: draws the number", .at_least = true,
     .nreads = 0, .nwrites = 1,
     .writes = (const int[]){1}},
    {.text = "map: moved of theta[i] ~ dgamma(a, b)",
     .nreads = 1, .nwrites = 1, .reads = (const int[]){2},
     .writes = (const int[]){2}},
};

static void work_4(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    /* map draws from its distribution */
    *out++ = N_v;
    *out++ = 40 * N_v;
    *out++ = 0;
    *out++ = 1;
}
static const struct gbm_phase phases_4[] = {
    {.text = "map: draws from its distribution",
     .nreads = 0, .nwrites = 1,
     .writes = (const int[]){2}},
};

static void work_5(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    /* map draws from its distribution */
    *out++ = N_v;
    *out++ = 41 * N_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = N_v;
    *out++ = N_v;
}
static const struct gbm_phase phases_5[] = {
    {.text = "map: draws from its distribution",
     .nreads = 2, .nwrites = 1, .reads = (const int[]){2, 3},
     .writes = (const int[]){3}},
};


static const int waits_0[] = {-1};
static const int waits_1[] = {0, -1};
static const int waits_2[] = {1, -1};
static const int waits_3[] = {2, -1};
static const int waits_4[] = {3, -1};
static const int waits_5[] = {4, -1};
static const struct gbm_step steps[] = {
    {.kind = GBM_STEP_MAP, .name = "update_a_v",
     .variable = "a", .sampler = "slice",
     .family = 0, .number = 0, .sequential = 0, .leaf = 0, .inverse = -1,
     .text = "a ~ dexp(1)", .trials = true, .barriers = 8,
     .run = update_a_v_run, .blocks = 3, .normals = GBM_NORMALS_FIRST(none),
     .block_size = dimension_a_v, .block_get = get_a_v, .block_set = set_a_v, .conditional = conditional_a_v_at,
     .cost = cost_update_a_v,
     .nphases = 2, .phases = phases_0, .work = work_0,
     .waits = waits_0},
    {.kind = GBM_STEP_MAP, .name = "update_b_v",
     .variable = "b", .sampler = "dgamma",
     .family = 1, .number = 1, .sequential = 0, .leaf = 0, .inverse = -1,
     .text = "b ~ dgamma(0.1, 1)", .split = true,
     .exact = gbm_always, .barriers = 8,
     .run = update_b_v_run, .blocks = 1, .normals = GBM_NORMALS_FIRST(gbm_draw_gamma),
     .block_size = dimension_b_v, .block_get = get_b_v, .block_set = set_b_v, .conditional = conditional_b_v_at,
     .cost = cost_update_b_v,
     .nphases = 2, .phases = phases_1, .work = work_1,
     .waits = waits_1},
    {.kind = GBM_STEP_MAP, .name = "update_theta_v",
     .variable = "theta", .sampler = "dgamma",
     .family = 2, .number = 2, .sequential = 0, .leaf = 0, .inverse = -1,
     .text = "theta[i] ~ dgamma(a, b)",
     .exact = gbm_always,
     .run = update_theta_v_run, .blocks = 1, .normals = GBM_NORMALS_FIRST(gbm_draw_gamma),
     .block_size = dimension_theta_v, .block_get = get_theta_v, .block_set = set_theta_v, .conditional = conditional_theta_v_at,
     .nphases = 1, .phases = phases_2, .work = work_2,
     .waits = waits_2},
    {.kind = GBM_STEP_MAP, .name = "carry_b_v_theta_v",
     .variable = "b, theta", .sampler = "plate with a node of its prior",
     .family = 1, .number = 3, .sequential = 0, .leaf = 0, .inverse = -1,
     .text = "b ~ dgamma(0.1, 1)", .split = true, .barriers = 40,
     .run = carry_b_v_theta_v_run,
     .block_size = dimension_carry_b_v_theta_v, .block_get = get_carry_b_v_theta_v, .block_set = set_carry_b_v_theta_v, .conditional = conditional_carry_b_v_theta_v,
     .cost = cost_carry_b_v_theta_v,
     .nphases = 4, .phases = phases_3, .work = work_3,
     .waits = waits_3},
    {.kind = GBM_STEP_MAP, .name = "forward_theta_v",
     .variable = "theta", .sampler = "forward draw",
     .family = 2, .number = 4, .sequential = 0, .leaf = 1, .inverse = -1,
     .text = "theta[i] ~ dgamma(a, b)",
     .run = forward_theta_v_run, .blocks = 1, .normals = GBM_NORMALS_FIRST(none),
     .nphases = 1, .phases = phases_4, .work = work_4,
     .waits = waits_4},
    {.kind = GBM_STEP_MAP, .name = "update_x_v",
     .variable = "x", .sampler = "forward draw",
     .family = 3, .number = 5, .sequential = 0, .leaf = 1, .inverse = -1,
     .text = "x[i] ~ dpois(theta[i] * t[i])",
     .run = update_x_v_run, .blocks = 1, .normals = GBM_NORMALS_FIRST(none),
     .nphases = 1, .phases = phases_5, .work = work_5,
     .waits = waits_5},
};

GBM_HOST_AHEAD(gbm_draw_ahead)

#if !defined GBM_PART || GBM_PART == 0
