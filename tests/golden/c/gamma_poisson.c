#include "model.h"

/* gamma_poisson: written by gbmc from gamma_poisson.gbm. */
#include "gbm.h"
#include "team.h"

/* All nodes of one chain. Arrays are row-major; macros give them
 * the model's subscripts, from 1. */
struct state {
    int *N; /* N */
    int *x_; /* x[x__n1] */
    int x__n1;
    const unsigned char *x__seen;
    long long x__stride;
    real *theta; /* theta[theta_n1] */
    int theta_n1;
    const unsigned char *theta_seen;
    long long theta_stride;
    real *t; /* t[t_n1] */
    int t_n1;
    real *a; /* a */
    const unsigned char *a_seen;
    long long a_stride;
    real *b_; /* b */
    const unsigned char *b__seen;
    long long b__stride;
    real *a_width; /* tuned in warm-up */
    long long a_width_stride;
};

#include "skeleton.h"

#define x_(at1) s->x_[(at1) - 1]
#define x__seen(at1) (s->x__seen ? s->x__seen[(at1) - 1] : s->x__stride == 0)
#define theta(at1) s->theta[(at1) - 1]
#define theta_seen(at1) (s->theta_seen ? s->theta_seen[(at1) - 1] : s->theta_stride == 0)
#define t(at1) s->t[(at1) - 1]
#define a_seen() (s->a_seen ? s->a_seen[0] : s->a_stride == 0)
#define b__seen() (s->b__seen ? s->b__seen[0] : s->b__stride == 0)

/* From chain 0 to another. */
GBM_FN void shift_state(struct state *s, int chain)
{
    (void)s;
    (void)chain;
    s->x_ += chain * s->x__stride;
    s->theta += chain * s->theta_stride;
    s->a += chain * s->a_stride;
    s->b_ += chain * s->b__stride;
    s->a_width += chain * s->a_width_stride;
}

/* a ~ dexp(1)    gamma_poisson.gbm:7:3 */

GBM_FN real logdensity_a(const struct state *s, long long element)
{
    (void)s;
    (void)element;
    if (!(*s->a >= 0))
        return -GBM_INF;
    return -*s->a;
}
#ifndef __CUDACC__
static double logdensity_a_host(const void *state, int64_t element)
{
    return (double)logdensity_a((const struct state *)state, element);
}
#endif

GBM_FN void simulate_a(const struct state *s, struct gbm_rng *rng, long long element)
{
    (void)s;
    (void)element;
    (void)rng;
    const real lambda = 1;
    (void)lambda;
    const real exponential = gbm_draw_exponential(rng);
    *s->a = (exponential / lambda);
}
#ifndef __CUDACC__
static void simulate_a_host(const void *state, struct gbm_rng *rng, int64_t element)
{
    simulate_a((const struct state *)state, rng, element);
}
#endif

#ifndef __CUDACC__
static int64_t cells_a_in(const struct state *s, int64_t element, int64_t *out)
{
    (void)s;
    (void)element;
    int64_t count = 0;
    if (out)
        out[count] = 0;
    count++;
    return count;
}
static int64_t cells_a(const void *state, int64_t element, int64_t *out)
{
    return cells_a_in((const struct state *)state, element, out);
}

static void subscripts_a_in(const struct state *s, int64_t element, int *out)
{
    (void)s;
    (void)element;
    (void)out;
}
static void subscripts_a(const void *state, int64_t element, int *out)
{
    subscripts_a_in((const struct state *)state, element, out);
}

static int64_t enumerate_a(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    (void)s;
    (void)tuples;
    int64_t count = 0;
    count++;
    return count;
}

static void start_a_in(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    (void)s;
    (void)element;
    (void)spread;
    real lower = 0, upper = GBM_INF;
    const real lambda = 1;
    (void)lambda;
    *s->a = gbm_start(rng, 1 / lambda, lower, upper, (real)spread);
}
static void start_a(const void *state, struct gbm_rng *rng, int64_t element, double spread)
{
    start_a_in((const struct state *)state, rng, element, spread);
}

static bool check_a_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    (void)s;
    (void)element;
    (void)problem;
    if (a_seen() && (*s->a < 0))
        return gbm_problem_text(problem, "a = %g is outside the support real [0, inf] of dexp", (double)*s->a);
    return true;
}
static bool check_a(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_a_in((const struct state *)state, element, problem);
}

#endif

/* b ~ dgamma(0.1, 1)    gamma_poisson.gbm:8:3 */

GBM_FN real logdensity_b_(const struct state *s, long long element)
{
    (void)s;
    (void)element;
    if (!(*s->b_ >= 0))
        return -GBM_INF;
    return -REAL_C(0.9) * real_log(*s->b_) - *s->b_ - REAL_C(2.2527126517342055);
}
#ifndef __CUDACC__
static double logdensity_b__host(const void *state, int64_t element)
{
    return (double)logdensity_b_((const struct state *)state, element);
}
#endif

GBM_FN void simulate_b_(const struct state *s, struct gbm_rng *rng, long long element)
{
    (void)s;
    (void)element;
    (void)rng;
    const real r = REAL_C(0.1);
    (void)r;
    const real lambda = 1;
    (void)lambda;
    const real gamma = gbm_draw_gamma(rng, r);
    *s->b_ = (gamma / lambda);
}
#ifndef __CUDACC__
static void simulate_b__host(const void *state, struct gbm_rng *rng, int64_t element)
{
    simulate_b_((const struct state *)state, rng, element);
}
#endif

#ifndef __CUDACC__
static int64_t cells_b__in(const struct state *s, int64_t element, int64_t *out)
{
    (void)s;
    (void)element;
    int64_t count = 0;
    if (out)
        out[count] = 0;
    count++;
    return count;
}
static int64_t cells_b_(const void *state, int64_t element, int64_t *out)
{
    return cells_b__in((const struct state *)state, element, out);
}

static void subscripts_b__in(const struct state *s, int64_t element, int *out)
{
    (void)s;
    (void)element;
    (void)out;
}
static void subscripts_b_(const void *state, int64_t element, int *out)
{
    subscripts_b__in((const struct state *)state, element, out);
}

static int64_t enumerate_b_(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    (void)s;
    (void)tuples;
    int64_t count = 0;
    count++;
    return count;
}

static void start_b__in(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    (void)s;
    (void)element;
    (void)spread;
    real lower = 0, upper = GBM_INF;
    const real r = REAL_C(0.1);
    (void)r;
    const real lambda = 1;
    (void)lambda;
    *s->b_ = gbm_start(rng, r / lambda, lower, upper, (real)spread);
}
static void start_b_(const void *state, struct gbm_rng *rng, int64_t element, double spread)
{
    start_b__in((const struct state *)state, rng, element, spread);
}

static bool check_b__in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    (void)s;
    (void)element;
    (void)problem;
    if (b__seen() && (*s->b_ < 0))
        return gbm_problem_text(problem, "b = %g is outside the support real [0, inf] of dgamma", (double)*s->b_);
    return true;
}
static bool check_b_(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_b__in((const struct state *)state, element, problem);
}

#endif

/* theta[i] ~ dgamma(a, b)    gamma_poisson.gbm:5:5 */

GBM_FN real logdensity_theta(const struct state *s, long long element)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    if (!(theta(i) >= 0))
        return -GBM_INF;
    return *s->a * real_log(*s->b_) - gbm_lgamma(*s->a) + gbm_xlogy(*s->a - 1, theta(i)) - *s->b_ * theta(i);
}
#ifndef __CUDACC__
static double logdensity_theta_host(const void *state, int64_t element)
{
    return (double)logdensity_theta((const struct state *)state, element);
}
#endif

GBM_FN void simulate_theta(const struct state *s, struct gbm_rng *rng, long long element)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    (void)rng;
    const real r = *s->a;
    (void)r;
    const real lambda = *s->b_;
    (void)lambda;
    const real gamma = gbm_draw_gamma(rng, r);
    theta(i) = (gamma / lambda);
}
#ifndef __CUDACC__
static void simulate_theta_host(const void *state, struct gbm_rng *rng, int64_t element)
{
    simulate_theta((const struct state *)state, rng, element);
}
#endif

#ifndef __CUDACC__
static int64_t cells_theta_in(const struct state *s, int64_t element, int64_t *out)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    int64_t count = 0;
    if (out)
        out[count] = (i) - 1;
    count++;
    return count;
}
static int64_t cells_theta(const void *state, int64_t element, int64_t *out)
{
    return cells_theta_in((const struct state *)state, element, out);
}

static void subscripts_theta_in(const struct state *s, int64_t element, int *out)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    (void)out;
    out[0] = i;
}
static void subscripts_theta(const void *state, int64_t element, int *out)
{
    subscripts_theta_in((const struct state *)state, element, out);
}

static int64_t enumerate_theta(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    (void)s;
    (void)tuples;
    int64_t count = 0;
    for (int i = 1; i <= *s->N; i++) {
        if (tuples)
            tuples[count * 1 + 0] = i;
        count++;
    }
    return count;
}

static void start_theta_in(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    (void)spread;
    real lower = 0, upper = GBM_INF;
    const real r = *s->a;
    (void)r;
    const real lambda = *s->b_;
    (void)lambda;
    theta(i) = gbm_start(rng, r / lambda, lower, upper, (real)spread);
}
static void start_theta(const void *state, struct gbm_rng *rng, int64_t element, double spread)
{
    start_theta_in((const struct state *)state, rng, element, spread);
}

static bool check_theta_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    (void)problem;
    if (theta_seen(i) && (theta(i) < 0))
        return gbm_problem_text(problem, "theta[%d] = %g is outside the support real [0, inf] of dgamma", i, (double)theta(i));
    return true;
}
static bool check_theta(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_theta_in((const struct state *)state, element, problem);
}

#endif

/* x[i] ~ dpois(theta[i] * t[i])    gamma_poisson.gbm:4:5 */

GBM_FN real logdensity_x_(const struct state *s, long long element)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    if (!(x_(i) >= 0))
        return -GBM_INF;
    return gbm_times(x_(i), real_log(theta(i)) + real_log(t(i))) - theta(i) * t(i) - gbm_lgamma(x_(i) + 1);
}
#ifndef __CUDACC__
static double logdensity_x__host(const void *state, int64_t element)
{
    return (double)logdensity_x_((const struct state *)state, element);
}
#endif

GBM_FN void simulate_x_(const struct state *s, struct gbm_rng *rng, long long element)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    (void)rng;
    const real lambda = theta(i) * t(i);
    (void)lambda;
    const real poisson = gbm_draw_poisson(rng, lambda);
    x_(i) = (int)(poisson);
}
#ifndef __CUDACC__
static void simulate_x__host(const void *state, struct gbm_rng *rng, int64_t element)
{
    simulate_x_((const struct state *)state, rng, element);
}
#endif

#ifndef __CUDACC__
static int64_t cells_x__in(const struct state *s, int64_t element, int64_t *out)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    int64_t count = 0;
    if (out)
        out[count] = (i) - 1;
    count++;
    return count;
}
static int64_t cells_x_(const void *state, int64_t element, int64_t *out)
{
    return cells_x__in((const struct state *)state, element, out);
}

static void subscripts_x__in(const struct state *s, int64_t element, int *out)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    (void)out;
    out[0] = i;
}
static void subscripts_x_(const void *state, int64_t element, int *out)
{
    subscripts_x__in((const struct state *)state, element, out);
}

static int64_t enumerate_x_(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    (void)s;
    (void)tuples;
    int64_t count = 0;
    for (int i = 1; i <= *s->N; i++) {
        if (tuples)
            tuples[count * 1 + 0] = i;
        count++;
    }
    return count;
}

static void start_x__in(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    (void)spread;
    real lower = 0, upper = GBM_INF;
    simulate_x_(s, rng, element);
    if (x_(i) < lower)
        x_(i) = (int)lower;
    if (x_(i) > upper)
        x_(i) = (int)upper;
}
static void start_x_(const void *state, struct gbm_rng *rng, int64_t element, double spread)
{
    start_x__in((const struct state *)state, rng, element, spread);
}

static bool check_x__in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    (void)problem;
    if (!gbm_subscript(problem, "theta", 1, i, s->theta_n1))
        return false;
    if (!gbm_subscript(problem, "t", 1, i, s->t_n1))
        return false;
    if (gbm_is_nan(t(i)))
        return gbm_problem_text(problem, "t[%d] is missing in the data, but %s reads it", i, "gamma_poisson.gbm:4:5");
    if (x__seen(i) && (x_(i) < 0))
        return gbm_problem_text(problem, "x[%d] = %g is outside the support integer [0, inf] of dpois", i, (double)x_(i));
    return true;
}
static bool check_x_(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_x__in((const struct state *)state, element, problem);
}

#endif

/* a ~ dexp(1)    gamma_poisson.gbm:7:3
 * No closed form: slice sampling.
 * child: theta[i] ~ dgamma(a, b)
 */
struct conditional_a {
    const struct state *s;
    const struct gbm_team *team;
    long long element;
    real c1; /* coefficient of x */
    real c2; /* coefficient of loggam(x) */
    real lower, upper;
};

GBM_FN void prepare_a(struct conditional_a *k_,
    const struct state *s, const struct gbm_team *team,
    long long element)
{
    gbm_total c1 = 0, c2 = 0;
    GBM_TEAM_FOR(i, 1, (*s->N) + 1, team) {
        c1 += real_log(*s->b_) + real_log(theta(i));
        c2 += -1;
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

GBM_INLINE real density_a(const void *context, real x)
{
    const struct conditional_a *k_ = (const struct conditional_a *)context;
    const struct state *s = k_->s;
    const struct gbm_team *team = k_->team;
    (void)s;
    (void)team;
    gbm_total total = 0;
    total += k_->c1 * (x);
    total += k_->c2 * (gbm_lgamma(x));
    return (real)total;
}

GBM_FN void update_a(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    (void)adapting;
    struct conditional_a k_;
    prepare_a(&k_, s, team, element);
    real width = s->a_width[element];
    const real value = gbm_slice(rng, (real)*s->a, &width, adapting, k_.lower, k_.upper, density_a, &k_);
    gbm_team_sync(team);
    s->a_width[element] = width;
    gbm_team_sync(team);
    *s->a = value;
}

/* b ~ dgamma(0.1, 1)    gamma_poisson.gbm:8:3
 * Its full conditional has the statistics of dgamma:
 *     c1 multiplies log(x)
 *     c2 multiplies x
 * child: theta[i] ~ dgamma(a, b)
 */
struct conditional_b_ {
    const struct state *s;
    const struct gbm_team *team;
    long long element;
    real c1; /* coefficient of log(x) */
    real c2; /* coefficient of x */
    real lower, upper;
};

GBM_FN void prepare_b_(struct conditional_b_ *k_,
    const struct state *s, const struct gbm_team *team,
    long long element)
{
    gbm_total c1 = 0, c2 = 0;
    GBM_TEAM_FOR(i, 1, (*s->N) + 1, team) {
        c1 += *s->a;
        c2 += -theta(i);
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

GBM_INLINE real density_b_(const void *context, real x)
{
    const struct conditional_b_ *k_ = (const struct conditional_b_ *)context;
    const real lower = k_->lower, upper = k_->upper;
    (void)lower;
    (void)upper;
    const real r = k_->c1 + 1;
    const real lambda = -k_->c2;
    return gbm_xlogy(r, lambda) - gbm_lgamma(r) + gbm_xlogy(r - 1, x) - lambda * x;
}

GBM_FN void finish_b_(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting,
    const struct conditional_b_ *k_)
{
    (void)adapting;
    const real r = k_->c1 + 1;
    const real lambda = -k_->c2;
    const real gamma = gbm_draw_gamma(rng, r);
    gbm_team_sync(team);
    *s->b_ = gamma / lambda;
}

GBM_FN void update_b_(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    (void)adapting;
    struct conditional_b_ k_;
    prepare_b_(&k_, s, team, element);
    finish_b_(s, rng, team, element, adapting, &k_);
}

/* theta[i] ~ dgamma(a, b)    gamma_poisson.gbm:5:5
 * Its full conditional has the statistics of dgamma:
 *     c1 multiplies log(x)
 *     c2 multiplies x
 * child: x[i] ~ dpois(theta[i] * t[i])
 */
struct conditional_theta {
    const struct state *s;
    const struct gbm_team *team;
    long long element;
    int loop0; /* i */
    real c1; /* coefficient of log(x) */
    real c2; /* coefficient of x */
    real lower, upper;
};

GBM_FN void prepare_theta(struct conditional_theta *k_,
    const struct state *s, const struct gbm_team *team,
    long long element)
{
    const int i = (int)(element) + 1;
    gbm_total c1 = 0, c2 = 0;
    c1 += *s->a - 1;
    c2 += -*s->b_;
    if (x__seen(i)) {
        c1 += x_(i);
        c2 += -t(i);
    }
    gbm_total lower = 0;
    gbm_total upper = GBM_INF;
    k_->s = s;
    k_->team = team;
    k_->element = element;
    k_->loop0 = i;
    k_->c1 = (real)c1;
    k_->c2 = (real)c2;
    k_->lower = (real)lower;
    k_->upper = (real)upper;
}

GBM_INLINE real density_theta(const void *context, real x)
{
    const struct conditional_theta *k_ = (const struct conditional_theta *)context;
    const real lower = k_->lower, upper = k_->upper;
    (void)lower;
    (void)upper;
    const real r = k_->c1 + 1;
    const real lambda = -k_->c2;
    return gbm_xlogy(r, lambda) - gbm_lgamma(r) + gbm_xlogy(r - 1, x) - lambda * x;
}

GBM_FN void update_theta(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    (void)adapting;
    const int i = (int)(element) + 1;
    struct conditional_theta k_;
    prepare_theta(&k_, s, team, element);
    const real r = k_.c1 + 1;
    const real lambda = -k_.c2;
    const real gamma = gbm_draw_gamma(rng, r);
    gbm_team_sync(team);
    theta(i) = gamma / lambda;
}

/* x[i] ~ dpois(theta[i] * t[i])    gamma_poisson.gbm:4:5
 */
GBM_FN void update_x_(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    (void)adapting;
    (void)team;
    simulate_x_(s, rng, element);
}

#ifdef __CUDACC__
#include "skeleton_cuda.h"
GBM_KERNEL(update_a, 0)
GBM_KERNEL_SPLIT(update_b_, prepare_b_, finish_b_, struct conditional_b_, 1)
GBM_KERNEL(update_theta, 2)
GBM_KERNEL(update_x_, 3)
GBM_KERNEL_LOGDENSITY(logdensity_a)
GBM_KERNEL_LOGDENSITY(logdensity_b_)
GBM_KERNEL_LOGDENSITY(logdensity_theta)
GBM_KERNEL_LOGDENSITY(logdensity_x_)
#endif

/* ---- the host's tables ---- */

static const struct gbm_variable variables[] = {
    {.name = "N", .where = "gamma_poisson.gbm:3:15", .role = GBM_GIVEN, .integer = 1, .ndim = 0, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "x", .where = "gamma_poisson.gbm:4:5", .role = GBM_STOCHASTIC, .integer = 1, .ndim = 1, .observed = 1, .needed = 0, .maintained = 0},
    {.name = "theta", .where = "gamma_poisson.gbm:5:5", .role = GBM_STOCHASTIC, .integer = 0, .ndim = 1, .observed = 0, .needed = 0, .maintained = 0},
    {.name = "t", .where = "gamma_poisson.gbm:4:29", .role = GBM_GIVEN, .integer = 0, .ndim = 1, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "a", .where = "gamma_poisson.gbm:7:3", .role = GBM_STOCHASTIC, .integer = 0, .ndim = 0, .observed = 0, .needed = 0, .maintained = 0},
    {.name = "b", .where = "gamma_poisson.gbm:8:3", .role = GBM_STOCHASTIC, .integer = 0, .ndim = 0, .observed = 0, .needed = 0, .maintained = 0},
    {.name = "a width", .where = "", .role = GBM_TUNING, .integer = 0, .ndim = 1, .family = 0},
    {.name = 0}};

static void bind_state(void *state, const struct gbm_binding *b)
{
    struct state *s = (struct state *)state;
    (void)b;
    (void)s;
    s->N = (int *)b[0].values;
    s->x_ = (int *)b[1].values;
    s->x__n1 = b[1].dim[0];
    s->x__seen = b[1].seen;
    s->x__stride = b[1].stride;
    s->theta = (real *)b[2].values;
    s->theta_n1 = b[2].dim[0];
    s->theta_seen = b[2].seen;
    s->theta_stride = b[2].stride;
    s->t = (real *)b[3].values;
    s->t_n1 = b[3].dim[0];
    s->a = (real *)b[4].values;
    s->a_seen = b[4].seen;
    s->a_stride = b[4].stride;
    s->b_ = (real *)b[5].values;
    s->b__seen = b[5].seen;
    s->b__stride = b[5].stride;
    s->a_width = (real *)b[6].values;
    s->a_width_stride = b[6].stride;
}
static void shift(void *state, int chain)
{
    shift_state((struct state *)state, chain);
}

static const int load_order[] = {0, 3, 1, 2, 4, 5, 6};

static const struct gbm_family families[] = {
    {.variable = 4,
     .text = "a ~ dexp(1)",
     .where = "gamma_poisson.gbm:7:3",
     .stochastic = 1, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 0, .table = -1,
     .enumerate = enumerate_a,
     .subscripts = subscripts_a,
     .cells = cells_a,
     .check = check_a,
     .logdensity = logdensity_a_host, .density_kernel = "logdensity_a_kernel",
     .start = start_a,
     .simulate = simulate_a_host},
    {.variable = 5,
     .text = "b ~ dgamma(0.1, 1)",
     .where = "gamma_poisson.gbm:8:3",
     .stochastic = 1, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 0, .table = -1,
     .enumerate = enumerate_b_,
     .subscripts = subscripts_b_,
     .cells = cells_b_,
     .check = check_b_,
     .logdensity = logdensity_b__host, .density_kernel = "logdensity_b__kernel",
     .start = start_b_,
     .simulate = simulate_b__host},
    {.variable = 2,
     .text = "theta[i] ~ dgamma(a, b)",
     .where = "gamma_poisson.gbm:5:5",
     .stochastic = 1, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 1, .table = -1,
     .enumerate = enumerate_theta,
     .subscripts = subscripts_theta,
     .cells = cells_theta,
     .check = check_theta,
     .logdensity = logdensity_theta_host, .density_kernel = "logdensity_theta_kernel",
     .start = start_theta,
     .simulate = simulate_theta_host},
    {.variable = 1,
     .text = "x[i] ~ dpois(theta[i] * t[i])",
     .where = "gamma_poisson.gbm:4:5",
     .stochastic = 1, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 1, .table = -1,
     .enumerate = enumerate_x_,
     .subscripts = subscripts_x_,
     .cells = cells_x_,
     .check = check_x_,
     .logdensity = logdensity_x__host, .density_kernel = "logdensity_x__kernel",
     .start = start_x_,
     .simulate = simulate_x__host},
};

static const struct gbm_inverse inverses[] = {
    {.variable = -1}};

static const struct gbm_sequence sequences[] = {
    {.nreaders = 0}};

static int dimension_a(const void *state, int64_t element)
{
    (void)state;
    (void)element;
    return 1;
}
static void get_a_cell(const struct state *s, int64_t element, real **cell_, int **count_)
{
    (void)element;
    (void)cell_;
    (void)count_;
    *cell_ = &*s->a;
}
static void get_a(const void *state, int64_t element, double *x)
{
    real *cell = 0;
    int *count = 0;
    get_a_cell((const struct state *)state, element, &cell, &count);
    *x = cell ? (double)*cell : *count;
}
static void set_a(const void *state, int64_t element, const double *x)
{
    real *cell = 0;
    int *count = 0;
    get_a_cell((const struct state *)state, element, &cell, &count);
    if (cell)
        *cell = (real)*x;
    else
        *count = (int)*x;
}
static double conditional_a_at(const void *state, int64_t element, const double *x)
{
    const struct state *s = (const struct state *)state;
    struct conditional_a k_;
    double before, value = -GBM_INF;
    prepare_a(&k_, s, &gbm_alone, element);
    get_a(state, element, &before);
    if (*x >= k_.lower && *x <= k_.upper)
        value = (double)density_a(&k_, (real)*x);
    set_a(state, element, &before);
    return value;
}

static int64_t cost_update_a(const void *state)
{
    const struct state *s = (const struct state *)state;
    (void)s;
    return (int64_t)(*s->N);
}

GBM_HOST_RUN(update_a, 0, 3, gbm_slice)
static int dimension_b_(const void *state, int64_t element)
{
    (void)state;
    (void)element;
    return 1;
}
static void get_b__cell(const struct state *s, int64_t element, real **cell_, int **count_)
{
    (void)element;
    (void)cell_;
    (void)count_;
    *cell_ = &*s->b_;
}
static void get_b_(const void *state, int64_t element, double *x)
{
    real *cell = 0;
    int *count = 0;
    get_b__cell((const struct state *)state, element, &cell, &count);
    *x = cell ? (double)*cell : *count;
}
static void set_b_(const void *state, int64_t element, const double *x)
{
    real *cell = 0;
    int *count = 0;
    get_b__cell((const struct state *)state, element, &cell, &count);
    if (cell)
        *cell = (real)*x;
    else
        *count = (int)*x;
}
static double conditional_b__at(const void *state, int64_t element, const double *x)
{
    const struct state *s = (const struct state *)state;
    struct conditional_b_ k_;
    double before, value = -GBM_INF;
    prepare_b_(&k_, s, &gbm_alone, element);
    get_b_(state, element, &before);
    if (*x >= k_.lower && *x <= k_.upper)
        value = (double)density_b_(&k_, (real)*x);
    set_b_(state, element, &before);
    return value;
}

static int64_t cost_update_b_(const void *state)
{
    const struct state *s = (const struct state *)state;
    (void)s;
    return (int64_t)(*s->N);
}

GBM_HOST_RUN(update_b_, 1, 1, gbm_draw_gamma)
static int dimension_theta(const void *state, int64_t element)
{
    (void)state;
    (void)element;
    return 1;
}
static void get_theta_cell(const struct state *s, int64_t element, real **cell_, int **count_)
{
    (void)element;
    (void)cell_;
    (void)count_;
    const int i = (int)(element) + 1;
    *cell_ = &theta(i);
}
static void get_theta(const void *state, int64_t element, double *x)
{
    real *cell = 0;
    int *count = 0;
    get_theta_cell((const struct state *)state, element, &cell, &count);
    *x = cell ? (double)*cell : *count;
}
static void set_theta(const void *state, int64_t element, const double *x)
{
    real *cell = 0;
    int *count = 0;
    get_theta_cell((const struct state *)state, element, &cell, &count);
    if (cell)
        *cell = (real)*x;
    else
        *count = (int)*x;
}
static double conditional_theta_at(const void *state, int64_t element, const double *x)
{
    const struct state *s = (const struct state *)state;
    struct conditional_theta k_;
    double before, value = -GBM_INF;
    prepare_theta(&k_, s, &gbm_alone, element);
    get_theta(state, element, &before);
    if (*x >= k_.lower && *x <= k_.upper)
        value = (double)density_theta(&k_, (real)*x);
    set_theta(state, element, &before);
    return value;
}

GBM_HOST_RUN(update_theta, 2, 1, gbm_draw_gamma)
GBM_HOST_RUN(update_x_, 3, 1, none)

static const struct gbm_step steps[] = {
    {.kind = GBM_STEP_MAP, .name = "update_a",
     .variable = "a", .sampler = "slice",
     .family = 0, .number = 0, .sequential = 0, .leaf = 0, .inverse = -1,
     .text = "a ~ dexp(1)",
     .run = update_a_run, .blocks = 3, .normals = GBM_NORMALS_FIRST(gbm_slice),
     .block_size = dimension_a, .block_get = get_a, .block_set = set_a, .conditional = conditional_a_at,
     .cost = cost_update_a},
    {.kind = GBM_STEP_MAP, .name = "update_b_",
     .variable = "b", .sampler = "dgamma",
     .family = 1, .number = 1, .sequential = 0, .leaf = 0, .inverse = -1,
     .text = "b ~ dgamma(0.1, 1)",
     .run = update_b__run, .blocks = 1, .normals = GBM_NORMALS_FIRST(gbm_draw_gamma),
     .block_size = dimension_b_, .block_get = get_b_, .block_set = set_b_, .conditional = conditional_b__at,
     .cost = cost_update_b_},
    {.kind = GBM_STEP_MAP, .name = "update_theta",
     .variable = "theta", .sampler = "dgamma",
     .family = 2, .number = 2, .sequential = 0, .leaf = 0, .inverse = -1,
     .text = "theta[i] ~ dgamma(a, b)",
     .run = update_theta_run, .blocks = 1, .normals = GBM_NORMALS_FIRST(gbm_draw_gamma),
     .block_size = dimension_theta, .block_get = get_theta, .block_set = set_theta, .conditional = conditional_theta_at},
    {.kind = GBM_STEP_MAP, .name = "update_x_",
     .variable = "x", .sampler = "forward draw",
     .family = 3, .number = 3, .sequential = 0, .leaf = 1, .inverse = -1,
     .text = "x[i] ~ dpois(theta[i] * t[i])",
     .run = update_x__run, .blocks = 1, .normals = GBM_NORMALS_FIRST(none)},
};

