/* probit: written by gbmc from probit.gbm. */
#include "gbm.h"
#include "team.h"

/* All nodes of one chain. Arrays are row-major; macros give them
 * the model's subscripts, from 1. */
struct state {
    int *p; /* p */
    real *beta; /* beta[beta_n1] */
    int beta_n1;
    const unsigned char *beta_seen;
    long long beta_stride;
    int *N; /* N */
    int *y; /* y[y_n1] */
    int y_n1;
    const unsigned char *y_seen;
    long long y_stride;
    real *X; /* X[X_n1, X_n2] */
    int X_n1;
    int X_n2;
    real *y_z; /* y.z[y_z_n1] */
    int y_z_n1;
    long long y_z_stride;
};

#include "skeleton.h"

#define beta(at1) s->beta[(at1) - 1]
#define beta_seen(at1) (s->beta_seen ? s->beta_seen[(at1) - 1] : s->beta_stride == 0)
#define y(at1) s->y[(at1) - 1]
#define y_seen(at1) (s->y_seen ? s->y_seen[(at1) - 1] : s->y_stride == 0)
#define X(at1, at2) s->X[((long long)(at1) - 1) * s->X_n2 + (at2) - 1]
#define y_z(at1) s->y_z[(at1) - 1]

/* From chain 0 to another. */
GBM_FN void shift_state(struct state *s, int chain)
{
    (void)s;
    (void)chain;
    s->beta += chain * s->beta_stride;
    s->y += chain * s->y_stride;
    s->y_z += chain * s->y_z_stride;
}

/* beta[j] ~ normal(0, 10)    probit.gbm:5:20 */

GBM_FN real logdensity_beta(const struct state *s, long long element)
{
    (void)s;
    (void)element;
    const int j = (int)(element) + 1;
    (void)j;
    return -REAL_C(0.005) * gbm_square(beta(j)) - REAL_C(3.221523626198718);
}
#ifndef __CUDACC__
static double logdensity_beta_host(const void *state, int64_t element)
{
    return (double)logdensity_beta((const struct state *)state, element);
}
#endif

GBM_FN void simulate_beta(const struct state *s, struct gbm_rng *rng, long long element)
{
    (void)s;
    (void)element;
    const int j = (int)(element) + 1;
    (void)j;
    (void)rng;
    const real mu = 0;
    (void)mu;
    const real tau = REAL_C(0.01);
    (void)tau;
    const real normal = gbm_draw_normal(rng);
    beta(j) = (mu + normal / real_sqrt(tau));
}
#ifndef __CUDACC__
static void simulate_beta_host(const void *state, struct gbm_rng *rng, int64_t element)
{
    simulate_beta((const struct state *)state, rng, element);
}
#endif

#ifndef __CUDACC__
static int64_t cells_beta_in(const struct state *s, int64_t element, int64_t *out)
{
    (void)s;
    (void)element;
    const int j = (int)(element) + 1;
    (void)j;
    int64_t count = 0;
    if (out)
        out[count] = (j) - 1;
    count++;
    return count;
}
static int64_t cells_beta(const void *state, int64_t element, int64_t *out)
{
    return cells_beta_in((const struct state *)state, element, out);
}

static void subscripts_beta_in(const struct state *s, int64_t element, int *out)
{
    (void)s;
    (void)element;
    const int j = (int)(element) + 1;
    (void)j;
    (void)out;
    out[0] = j;
}
static void subscripts_beta(const void *state, int64_t element, int *out)
{
    subscripts_beta_in((const struct state *)state, element, out);
}

static int64_t enumerate_beta(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    (void)s;
    (void)tuples;
    int64_t count = 0;
    for (int j = 1; j <= *s->p; j++) {
        if (tuples)
            tuples[count * 1 + 0] = j;
        count++;
    }
    return count;
}

static void start_beta_in(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    (void)s;
    (void)element;
    const int j = (int)(element) + 1;
    (void)j;
    (void)spread;
    real lower = -GBM_INF, upper = GBM_INF;
    const real mu = 0;
    (void)mu;
    const real tau = REAL_C(0.01);
    (void)tau;
    beta(j) = gbm_start(rng, mu, lower, upper, (real)spread);
}
static void start_beta(const void *state, struct gbm_rng *rng, int64_t element, double spread)
{
    start_beta_in((const struct state *)state, rng, element, spread);
}

static bool check_beta_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    (void)s;
    (void)element;
    const int j = (int)(element) + 1;
    (void)j;
    (void)problem;
    return true;
}
static bool check_beta(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_beta_in((const struct state *)state, element, problem);
}

#endif

/* y[i] ~ bernoulli(phi(inprod(X[i,], beta)))    probit.gbm:6:20 */

GBM_FN real logdensity_y(const struct state *s, long long element)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    if (!(y(i) >= 0))
        return -GBM_INF;
    if (!(y(i) <= 1))
        return -GBM_INF;
    gbm_total sum_k = 0;
    for (int k = 1; k <= s->X_n2; k++) {
        sum_k += X(i, k) * beta(k);
    }
    gbm_total sum_k1 = 0;
    for (int k1 = 1; k1 <= s->X_n2; k1++) {
        sum_k1 += X(i, k1) * beta(k1);
    }
    return (real)y(i) * gbm_log_phi((real)sum_k) + (real)(-y(i) + 1) * gbm_log_phi(-(real)sum_k1);
}
#ifndef __CUDACC__
static double logdensity_y_host(const void *state, int64_t element)
{
    return (double)logdensity_y((const struct state *)state, element);
}
#endif

GBM_FN void simulate_y(const struct state *s, struct gbm_rng *rng, long long element)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    (void)rng;
    gbm_total sum_k = 0;
    for (int k = 1; k <= s->X_n2; k++) {
        sum_k += X(i, k) * beta(k);
    }
    const real prob = gbm_phi((real)sum_k);
    (void)prob;
    const real uniform = gbm_uniform(rng);
    y(i) = (int)(uniform < prob ? 1 : 0);
}
#ifndef __CUDACC__
static void simulate_y_host(const void *state, struct gbm_rng *rng, int64_t element)
{
    simulate_y((const struct state *)state, rng, element);
}
#endif

#ifndef __CUDACC__
static int64_t cells_y_in(const struct state *s, int64_t element, int64_t *out)
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
static int64_t cells_y(const void *state, int64_t element, int64_t *out)
{
    return cells_y_in((const struct state *)state, element, out);
}

static void subscripts_y_in(const struct state *s, int64_t element, int *out)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    (void)out;
    out[0] = i;
}
static void subscripts_y(const void *state, int64_t element, int *out)
{
    subscripts_y_in((const struct state *)state, element, out);
}

static int64_t enumerate_y(const void *state, int *tuples)
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

static void start_y_in(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    (void)spread;
    real lower = 0, upper = 1;
    simulate_y(s, rng, element);
    if (y(i) < lower)
        y(i) = (int)lower;
    if (y(i) > upper)
        y(i) = (int)upper;
}
static void start_y(const void *state, struct gbm_rng *rng, int64_t element, double spread)
{
    start_y_in((const struct state *)state, rng, element, spread);
}

static bool check_y_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    (void)problem;
    if (!gbm_subscript(problem, "X", 1, i, s->X_n1))
        return false;
    if (y_seen(i) && (y(i) < 0 || y(i) > 1))
        return gbm_problem_text(problem, "y[%d] = %g is outside the support {0,1} of bernoulli", i, (double)y(i));
    return true;
}
static bool check_y(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_y_in((const struct state *)state, element, problem);
}

#endif

/* albert_chib of y[i] ~ bernoulli(phi(inprod(X[i,], beta)))    probit.gbm:6:20 */

GBM_FN real logdensity_y_z(const struct state *s, long long element)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    if (!(y_z(i) >= (y(i) > REAL_C(0.5) ? 0 : (-GBM_INF))))
        return -GBM_INF;
    if (!(y_z(i) <= (y(i) > REAL_C(0.5) ? GBM_INF : 0)))
        return -GBM_INF;
    gbm_total sum_k = 0;
    for (int k = 1; k <= s->X_n2; k++) {
        sum_k += X(i, k) * beta(k);
    }
    return -REAL_C(0.5) * gbm_square(y_z(i) - (real)sum_k) - REAL_C(0.9189385332046727);
}
#ifndef __CUDACC__
static double logdensity_y_z_host(const void *state, int64_t element)
{
    return (double)logdensity_y_z((const struct state *)state, element);
}
#endif

#ifndef __CUDACC__
static int64_t cells_y_z_in(const struct state *s, int64_t element, int64_t *out)
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
static int64_t cells_y_z(const void *state, int64_t element, int64_t *out)
{
    return cells_y_z_in((const struct state *)state, element, out);
}

static void subscripts_y_z_in(const struct state *s, int64_t element, int *out)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    (void)out;
    out[0] = i;
}
static void subscripts_y_z(const void *state, int64_t element, int *out)
{
    subscripts_y_z_in((const struct state *)state, element, out);
}

static int64_t enumerate_y_z(const void *state, int *tuples)
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

static void start_y_z_in(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    (void)spread;
    real lower = y(i) > REAL_C(0.5) ? 0 : (-GBM_INF), upper = y(i) > REAL_C(0.5) ? GBM_INF : 0;
    y_z(i) = gbm_start(rng, GBM_NAN, lower, upper, 0);
}
static void start_y_z(const void *state, struct gbm_rng *rng, int64_t element, double spread)
{
    start_y_z_in((const struct state *)state, rng, element, spread);
}

static bool check_y_z_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    (void)problem;
    return true;
}
static bool check_y_z(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_y_z_in((const struct state *)state, element, problem);
}

#endif

/* albert_chib of y[i] ~ bernoulli(phi(inprod(X[i,], beta)))    probit.gbm:6:20
 * Its full conditional has the statistics of dnorm, between bounds:
 *     c1 multiplies x^2
 *     c2 multiplies x
 */
struct conditional_y_z {
    const struct state *s;
    const struct gbm_team *team;
    long long element;
    int loop0; /* i */
    real c1; /* coefficient of x^2 */
    real c2; /* coefficient of x */
    real lower, upper;
};

GBM_FN void prepare_y_z(struct conditional_y_z *k_,
    const struct state *s, const struct gbm_team *team,
    long long element)
{
    const int i = (int)(element) + 1;
    gbm_total c1 = 0, c2 = 0;
    c1 += REAL_C(-0.5);
    gbm_total sum_k = 0;
    GBM_UNROLL_LOADS
    GBM_TEAM_FOR(k, 1, (s->X_n2) + 1, team) {
        sum_k += X(i, k) * beta(k);
    }
    sum_k = gbm_team_sum(team, sum_k);
    c2 += (real)sum_k;
    gbm_total lower = y(i) > REAL_C(0.5) ? 0 : (-GBM_INF);
    gbm_total upper = y(i) > REAL_C(0.5) ? GBM_INF : 0;
    k_->s = s;
    k_->team = team;
    k_->element = element;
    k_->loop0 = i;
    k_->c1 = (real)c1;
    k_->c2 = (real)c2;
    k_->lower = (real)lower;
    k_->upper = (real)upper;
}

GBM_INLINE real density_y_z(const void *context, real x)
{
    const struct conditional_y_z *k_ = (const struct conditional_y_z *)context;
    const real lower = k_->lower, upper = k_->upper;
    (void)lower;
    (void)upper;
    if (k_->c1 == 0 && k_->c2 == 0 && upper - lower < GBM_INF)
        return 0 * x;
    const real mu = -REAL_C(0.5) * k_->c2 / k_->c1;
    const real tau = -2 * k_->c1;
    return REAL_C(0.5) * real_log(tau) - REAL_C(0.5) * tau * gbm_square(x - mu) - REAL_C(0.9189385332046727);
}

GBM_FN void finish_y_z(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting,
    const struct conditional_y_z *k_)
{
    (void)adapting;
    const int i = (int)(element) + 1;
    const real lower = k_->lower, upper = k_->upper;
    real value;
    if (k_->c1 == 0 && k_->c2 == 0 && upper - lower < GBM_INF) {
        value = lower + (upper - lower) * gbm_uniform(rng);
    } else {
        const real mu = -REAL_C(0.5) * k_->c2 / k_->c1;
        const real tau = -2 * k_->c1;
        const real truncated_normal = gbm_draw_truncated_normal(rng, mu, 1 / real_sqrt(tau), lower, upper);
        value = truncated_normal;
    }
    gbm_team_sync(team);
    y_z(i) = value;
}

GBM_FN void update_y_z(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    (void)adapting;
    const int i = (int)(element) + 1;
    struct conditional_y_z k_;
    prepare_y_z(&k_, s, team, element);
    finish_y_z(s, rng, team, element, adapting, &k_);
}

/* A joint Gaussian block:
 *     beta[j] ~ normal(0, 10)    probit.gbm:5:20
 * Its precision Q and potential b come from
 *     beta[j] ~ normal(0, 10)
 *     albert_chib of y[i] ~ bernoulli(phi(inprod(X[i,], beta)))
 */
/* albert_chib of y[i] ~ bernoulli(phi(inprod(X[i,], beta))), as a function of the block's a'x:
 * -weight/2 (a'x)^2 + score a'x */
GBM_FN void row_update_beta_2(const struct state *s, const struct gbm_team *team,
    long long element, real *weight, real *score)
{
    (void)team;
    const int i = (int)(element) + 1;
    (void)i;
    if (!y_seen(i)) {
        *weight = *score = 0;
        return;
    }
    *weight = 1;
    *score = y_z(i);
}
GBM_FN void design_update_beta_2(const struct state *s, const struct gbm_team *team,
    long long element, real *row)
{
    (void)team;
    const int i = (int)(element) + 1;
    (void)i;
    const int n0 = *s->p, at0 = 0; /* beta */
    const int d = at0 + n0;
    (void)n0, (void)at0;
    (void)d;
    GBM_TEAM_FOR(a, 1, (*s->p) + 1, team) {
        row[at0 + a - (1)] = a <= s->X_n2 ? X(i, a) : 0;
    }
}
#ifndef __CUDACC__
static void row_update_beta_2_host(const void *state, int64_t element, double *weight, double *score)
{
    real w = 0, t = 0;
    row_update_beta_2((const struct state *)state, &gbm_alone, element, &w, &t);
    *weight = (double)w;
    *score = (double)t;
}
static void design_update_beta_2_host(const void *state, int64_t element, double *row)
{
    design_update_beta_2((const struct state *)state, &gbm_alone, element, (real *)row);
}
#endif

GBM_FN void prior_update_beta(const struct state *s, long long coordinate,
    real *precision, real *potential)
{
    const int n0 = *s->p, at0 = 0; /* beta */
    const int d = at0 + n0;
    (void)n0, (void)at0;
    (void)d;
    real q = 0, p = 0;
    if (coordinate >= at0 && coordinate < at0 + n0) {
        const int a = ((int)coordinate - at0) + 1;
        (void)a;
        q += REAL_C(0.01);
    }
    *precision = q;
    *potential = p;
}
#ifndef __CUDACC__
static void prior_update_beta_host(const void *state, int64_t coordinate, double *precision, double *potential)
{
    real q, p;
    prior_update_beta((const struct state *)state, coordinate, &q, &p);
    *precision = (double)q;
    *potential = (double)p;
}
#endif

GBM_FN void get_update_beta(const struct state *s, const struct gbm_team *team, real *x)
{
    (void)team;
    const int n0 = *s->p, at0 = 0; /* beta */
    const int d = at0 + n0;
    (void)n0, (void)at0;
    (void)d;
    GBM_TEAM_FOR(a, 1, (*s->p) + 1, team) {
        x[at0 + a - (1)] = beta(a);
    }
}
#ifndef __CUDACC__
static void get_update_beta_host(const void *state, double *x)
{
    get_update_beta((const struct state *)state, &gbm_alone, (real *)x);
}
#endif

GBM_FN void set_update_beta(const struct state *s, const struct gbm_team *team, const real *x)
{
    (void)team;
    const int n0 = *s->p, at0 = 0; /* beta */
    const int d = at0 + n0;
    (void)n0, (void)at0;
    (void)d;
    GBM_TEAM_FOR(a, 1, (*s->p) + 1, team) {
        beta(a) = x[at0 + a - (1)];
    }
}
#ifndef __CUDACC__
static void set_update_beta_host(const void *state, const double *x)
{
    set_update_beta((const struct state *)state, &gbm_alone, (const real *)x);
}
#endif

#ifndef __CUDACC__
static int dimension_update_beta(const void *state)
{
    const struct state *s = (const struct state *)state;
    (void)s;
    const int n0 = *s->p, at0 = 0; /* beta */
    const int d = at0 + n0;
    (void)n0, (void)at0;
    return d;
}
static void fixed_update_beta(const void *state, unsigned char *out)
{
    const struct state *s = (const struct state *)state;
    (void)s;
    const int n0 = *s->p, at0 = 0; /* beta */
    const int d = at0 + n0;
    (void)n0, (void)at0;
    (void)d;
    for (int a = 1; a <= *s->p; a++) {
        out[at0 + a - (1)] = (unsigned char)beta_seen(a);
    }
}
#endif

/* y[i] ~ bernoulli(phi(inprod(X[i,], beta)))    probit.gbm:6:20
 */
GBM_FN void update_y(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    (void)adapting;
    (void)team;
    simulate_y(s, rng, element);
}

#ifdef __CUDACC__
#include "skeleton_cuda.h"
GBM_KERNEL_SPLIT(update_y_z, prepare_y_z, finish_y_z, struct conditional_y_z, 0)
GBM_KERNEL_ROWS(row_update_beta_2)
GBM_KERNEL_DESIGN(design_update_beta_2)
GBM_KERNEL_PRIOR(prior_update_beta)
GBM_KERNEL_GET(get_update_beta)
GBM_KERNEL_SET(set_update_beta)
GBM_KERNEL(update_y, 2)
GBM_KERNEL_LOGDENSITY(logdensity_beta)
GBM_KERNEL_LOGDENSITY(logdensity_y)
GBM_KERNEL_LOGDENSITY(logdensity_y_z)
#endif
