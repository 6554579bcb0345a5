/* probit: written by gbmc from probit.gbm. */
#include "gbm.h"
#include "team.h"
#include "scale.h"
#include "carried.h"

/* All nodes of one chain. Arrays are row-major; macros give them
 * the model's subscripts, from 1. */
struct state {
    int *p_v; /* p */
    real *beta_v; /* beta[beta_v_n1] */
    int beta_v_n1;
    const unsigned char *beta_v_seen;
    long long beta_v_stride;
    int *N_v; /* N */
    int *y_v; /* y[y_v_n1] */
    int y_v_n1;
    const unsigned char *y_v_seen;
    long long y_v_stride;
    real *X_v; /* X[X_v_n1, X_v_n2] */
    int X_v_n1;
    int X_v_n2;
    real *y_z_v; /* y.z[y_z_v_n1] */
    int y_z_v_n1;
    long long y_z_v_stride;
    real *y_z_v_residual; /* less its own value, at its draw */
    long long y_z_v_residual_stride;
    real *scale_beta_v_y_z_v_number; /* what it multiplied by */
    long long scale_beta_v_y_z_v_number_stride;
};

#include "skeleton.h"

#define beta_v(at1) s->beta_v[(at1) - 1]
#define beta_v_seen(at1) (s->beta_v_seen ? s->beta_v_seen[(at1) - 1] == 1 : s->beta_v_stride == 0)
#define y_v(at1) s->y_v[(at1) - 1]
#define y_v_seen(at1) (s->y_v_seen ? s->y_v_seen[(at1) - 1] == 1 : s->y_v_stride == 0)
#define X_v(at1, at2) s->X_v[((long long)(at1) - 1) * s->X_v_n2 + (at2) - 1]
#define y_z_v(at1) s->y_z_v[(at1) - 1]

/* From chain 0 to another. */
GBM_FN void shift_state(struct state *s, int chain)
{
    s->beta_v += chain * s->beta_v_stride;
    s->y_v += chain * s->y_v_stride;
    s->y_z_v += chain * s->y_z_v_stride;
    s->y_z_v_residual += chain * s->y_z_v_residual_stride;
    s->scale_beta_v_y_z_v_number += chain * s->scale_beta_v_y_z_v_number_stride;
}

#ifdef GBM_KNOWN
/* Of arrays, so that loops over few cells are written out. */
GBM_FN void know_state(struct state *s)
{
    GBM_KNOW_NUMBER(2, s->p_v)
    GBM_KNOW(3, s->beta_v_seen, 0)
    GBM_KNOW(4, s->beta_v_stride, known - 1)
    GBM_KNOW(5, s->beta_v_n1, known - 1)
    GBM_KNOW_NUMBER(8, s->N_v)
    GBM_KNOW(9, s->y_v_seen, 0)
    GBM_KNOW(10, s->y_v_stride, known - 1)
    GBM_KNOW(11, s->y_v_n1, known - 1)
    GBM_KNOW(14, s->X_v_n1, known - 1)
    GBM_KNOW(15, s->X_v_n2, known - 1)
    GBM_KNOW(17, s->y_z_v_stride, known - 1)
    GBM_KNOW(18, s->y_z_v_n1, known - 1)
    GBM_KNOW(20, s->y_z_v_residual_stride, known - 1)
    GBM_KNOW(23, s->scale_beta_v_y_z_v_number_stride, known - 1)
}
#endif

/* beta[j] ~ normal(0, 10)    probit.gbm:5:20 */

GBM_FN real logdensity_beta_v(const struct state *s, long long element)
{
    const int j_v = (int)(element) + 1;
    return -REAL_C(0.005) * gbm_square(beta_v(j_v)) - REAL_C(3.221523626198718);
}
#ifndef __CUDACC__
GBM_HOST_LOGDENSITY(logdensity_beta_v)
#endif

GBM_FN void simulate_beta_v(const struct state *s, struct gbm_rng *rng, long long element)
{
    const int j_v = (int)(element) + 1;
    const real mu_v = 0;
    const real tau_v = REAL_C(0.01);
    const real normal = gbm_draw_normal(rng);
    beta_v(j_v) = (mu_v + normal / real_sqrt(tau_v));
}
#ifndef __CUDACC__
GBM_HOST_SIMULATE(simulate_beta_v)
#endif

#ifndef __CUDACC__
static int64_t cells_beta_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int j_v = (int)(element) + 1;
    int64_t count = 0;
    if (out)
        out[count] = (j_v) - 1;
    count++;
    return count;
}
static int64_t cells_beta_v(const void *state, int64_t element, int64_t *out)
{
    return cells_beta_v_in((const struct state *)state, element, out);
}

static void subscripts_beta_v_in(const struct state *s, int64_t element, int *out)
{
    const int j_v = (int)(element) + 1;
    out[0] = j_v;
}
static void subscripts_beta_v(const void *state, int64_t element, int *out)
{
    subscripts_beta_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_beta_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    for (int j_v = 1; j_v <= *s->p_v; j_v++) {
        if (tuples)
            tuples[count * 1 + 0] = j_v;
        count++;
    }
    return count;
}

static void start_beta_v(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    const int j_v = (int)(element) + 1;
    real lower = -GBM_INF, upper = GBM_INF;
    const real mu_v = 0;
    const real tau_v = REAL_C(0.01);
    beta_v(j_v) = gbm_start(rng, mu_v, lower, upper, (real)spread);
}
GBM_HOST_START(start_beta_v)

static bool check_beta_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int j_v = (int)(element) + 1;
    return true;
}
static bool check_beta_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_beta_v_in((const struct state *)state, element, problem);
}

#endif

/* y[i] ~ bernoulli(phi(inprod(X[i,], beta)))    probit.gbm:6:20 */

GBM_FN real logdensity_y_v(const struct state *s, long long element)
{
    const int i_v = (int)(element) + 1;
    if (!(y_v(i_v) >= 0))
        return -GBM_INF;
    if (!(y_v(i_v) <= 1))
        return -GBM_INF;
    gbm_total k_v_sum = 0;
    for (int k_v = 1; k_v <= s->X_v_n2; k_v++) {
        k_v_sum += X_v(i_v, k_v) * beta_v(k_v);
    }
    return (real)y_v(i_v) * gbm_log_phi((real)k_v_sum) + (real)(-y_v(i_v) + 1) * gbm_log_phi(-(real)k_v_sum);
}
#ifndef __CUDACC__
GBM_HOST_LOGDENSITY(logdensity_y_v)
#endif

GBM_FN void simulate_y_v(const struct state *s, struct gbm_rng *rng, long long element)
{
    const int i_v = (int)(element) + 1;
    gbm_total k_v_sum = 0;
    for (int k_v = 1; k_v <= s->X_v_n2; k_v++) {
        k_v_sum += X_v(i_v, k_v) * beta_v(k_v);
    }
    const real prob_v = gbm_phi((real)k_v_sum);
    const real uniform = gbm_uniform(rng);
    y_v(i_v) = gbm_whole(uniform < prob_v ? 1 : 0);
}
#ifndef __CUDACC__
GBM_HOST_SIMULATE(simulate_y_v)
#endif

#ifndef __CUDACC__
static int64_t cells_y_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int i_v = (int)(element) + 1;
    int64_t count = 0;
    if (out)
        out[count] = (i_v) - 1;
    count++;
    return count;
}
static int64_t cells_y_v(const void *state, int64_t element, int64_t *out)
{
    return cells_y_v_in((const struct state *)state, element, out);
}

static void subscripts_y_v_in(const struct state *s, int64_t element, int *out)
{
    const int i_v = (int)(element) + 1;
    out[0] = i_v;
}
static void subscripts_y_v(const void *state, int64_t element, int *out)
{
    subscripts_y_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_y_v(const void *state, int *tuples)
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

static void start_y_v(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    const int i_v = (int)(element) + 1;
    real lower = 0, upper = 1;
    simulate_y_v(s, rng, element);
    if (y_v(i_v) < lower)
        y_v(i_v) = (int)real_ceil(lower);
    if (y_v(i_v) > upper)
        y_v(i_v) = (int)real_floor(upper);
}
GBM_HOST_START(start_y_v)

static void bounds_y_v(const struct state *s, int64_t element, real *lower, real *upper)
{
    const int i_v = (int)(element) + 1;
    *lower = 0;
    *upper = 1;
}
GBM_HOST_BOUNDS(bounds_y_v)

static bool check_y_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int i_v = (int)(element) + 1;
    for (int k_v = 1; k_v <= s->X_v_n2; k_v += k_v < s->X_v_n2 ? s->X_v_n2 - k_v : 1) {
        if (!gbm_subscript(problem, "X", 1, i_v, s->X_v_n1))
            return false;
        if (!gbm_subscript(problem, "X", 2, k_v, s->X_v_n2))
            return false;
        if (!gbm_subscript(problem, "beta", 1, k_v, s->beta_v_n1))
            return false;
    }
    if (y_v_seen(i_v) && (y_v(i_v) < 0 || y_v(i_v) > 1))
        return gbm_problem_text(problem, "y[%d] = %g is outside the support {0,1} of bernoulli", i_v, (double)y_v(i_v));
    return true;
}
static bool check_y_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_y_v_in((const struct state *)state, element, problem);
}

#endif

/* albert_chib of y[i] ~ bernoulli(phi(inprod(X[i,], beta)))    probit.gbm:6:20 */

GBM_FN real logdensity_y_z_v(const struct state *s, long long element)
{
    const int i_v = (int)(element) + 1;
    if (!(y_z_v(i_v) >= (y_v(i_v) > REAL_C(0.5) ? 0 : (-GBM_INF))))
        return -GBM_INF;
    if (!(y_z_v(i_v) <= (y_v(i_v) > REAL_C(0.5) ? GBM_INF : 0)))
        return -GBM_INF;
    gbm_total k_v_sum = 0;
    for (int k_v = 1; k_v <= s->X_v_n2; k_v++) {
        k_v_sum += X_v(i_v, k_v) * beta_v(k_v);
    }
    return -REAL_C(0.5) * gbm_square(y_z_v(i_v) - (real)k_v_sum) - REAL_C(0.9189385332046727);
}
#ifndef __CUDACC__
GBM_HOST_LOGDENSITY(logdensity_y_z_v)
#endif

#ifndef __CUDACC__
static int64_t cells_y_z_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int i_v = (int)(element) + 1;
    int64_t count = 0;
    if (out)
        out[count] = (i_v) - 1;
    count++;
    return count;
}
static int64_t cells_y_z_v(const void *state, int64_t element, int64_t *out)
{
    return cells_y_z_v_in((const struct state *)state, element, out);
}

static void subscripts_y_z_v_in(const struct state *s, int64_t element, int *out)
{
    const int i_v = (int)(element) + 1;
    out[0] = i_v;
}
static void subscripts_y_z_v(const void *state, int64_t element, int *out)
{
    subscripts_y_z_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_y_z_v(const void *state, int *tuples)
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

static void start_y_z_v(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    const int i_v = (int)(element) + 1;
    real lower = y_v(i_v) > REAL_C(0.5) ? 0 : (-GBM_INF), upper = y_v(i_v) > REAL_C(0.5) ? GBM_INF : 0;
    y_z_v(i_v) = gbm_start(rng, GBM_NAN, lower, upper, 0);
}
GBM_HOST_START(start_y_z_v)

static bool check_y_z_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int i_v = (int)(element) + 1;
    return true;
}
static bool check_y_z_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_y_z_v_in((const struct state *)state, element, problem);
}

#endif

/* albert_chib of y[i] ~ bernoulli(phi(inprod(X[i,], beta)))    probit.gbm:6:20
 * Its full conditional has the statistics of dnorm, between bounds:
 *     c1 multiplies x^2
 *     c2 multiplies x
 */
struct conditional_y_z_v {
    const struct state *s;
    const struct gbm_team *team;
    long long element;
    int loop0; /* i */
    real c1; /* coefficient of x^2 */
    real c2; /* coefficient of x */
    real lower, upper;
};

GBM_FN void prepare_y_z_v(struct conditional_y_z_v *k_,
    const struct state *s, const struct gbm_team *team,
    long long element)
{
    const int i_v = (int)(element) + 1;
    gbm_total c1 = 0, c2 = 0;
    c1 += REAL_C(-0.5);
    gbm_total k_v_sum = 0;
    GBM_UNROLL_LOADS
    GBM_TEAM_FOR(k_v, 1, (s->X_v_n2) + 1, team) {
        k_v_sum += X_v(i_v, k_v) * beta_v(k_v);
    }
    k_v_sum = gbm_team_sum(team, k_v_sum);
    c2 += (real)k_v_sum;
    gbm_total lower = y_v(i_v) > REAL_C(0.5) ? 0 : (-GBM_INF);
    gbm_total upper = y_v(i_v) > REAL_C(0.5) ? GBM_INF : 0;
    k_->s = s;
    k_->team = team;
    k_->element = element;
    k_->loop0 = i_v;
    k_->c1 = (real)c1;
    k_->c2 = (real)c2;
    k_->lower = (real)lower;
    k_->upper = (real)upper;
}

GBM_INLINE real density_y_z_v(const void *context, real x)
{
    const struct conditional_y_z_v *k_ = (const struct conditional_y_z_v *)context;
    const real lower = k_->lower, upper = k_->upper;
    if (k_->c1 == 0 && k_->c2 == 0 && upper - lower < GBM_INF)
        return 0 * x;
    const real mu_v = -REAL_C(0.5) * k_->c2 / k_->c1;
    const real tau_v = -2 * k_->c1;
    return -REAL_C(0.5) * tau_v * gbm_square(x - mu_v);
}

GBM_FN void finish_y_z_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting,
    const struct conditional_y_z_v *k_)
{
    const int i_v = (int)(element) + 1;
    const real lower = k_->lower, upper = k_->upper;
    real value;
    if (k_->c1 == 0 && k_->c2 == 0 && upper - lower < GBM_INF) {
        value = lower + (upper - lower) * gbm_uniform(rng);
    } else {
        const real mu_v = -REAL_C(0.5) * k_->c2 / k_->c1;
        const real tau_v = -2 * k_->c1;
        const real truncated_normal = gbm_draw_truncated_normal(rng, mu_v, 1 / real_sqrt(tau_v), lower, upper);
        value = gbm_put_between(truncated_normal, lower, upper);
    }
    gbm_team_sync(team);
    y_z_v(i_v) = value;
    s->y_z_v_residual[element] = k_->c2 / (2 * k_->c1) - 0;
}

GBM_FN void update_y_z_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    const int i_v = (int)(element) + 1;
    struct conditional_y_z_v k_;
    prepare_y_z_v(&k_, s, team, element);
    finish_y_z_v(s, rng, team, element, adapting, &k_);
}

/* Multiplied by one number:
 *     beta[j] ~ normal(0, 10)    probit.gbm:5:20
 *     albert_chib of y[i] ~ bernoulli(phi(inprod(X[i,], beta)))    probit.gbm:6:20
 */
GBM_FN struct gbm_scaling line_scale_beta_v_y_z_v(const struct state *s, const struct gbm_team *team,
    int left)
{
    struct gbm_scaling k = {0, 0, 0, 0, 0};
    /* beta[j] ~ normal(0, 10) */
    {
        GBM_TEAM_FOR(j_v, 1, (*s->p_v) + 1, team) {
            k.count += 1;
            k.square -= 2 * (-REAL_C(0.005) * gbm_square(beta_v(j_v)));
        }
    }
    k.held += s->beta_v_stride == 0;
    if (s->beta_v_seen) {
        GBM_TEAM_FOR(cell_, 0, 1 * s->beta_v_n1, team) {
            k.held += s->beta_v_seen[cell_] == 1;
        }
    }
    /* albert_chib of y[i] ~ bernoulli(phi(inprod(X[i,], beta))) */
    {
        if (s->y_v_seen || s->y_v_stride == 0) {
            GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
                if (y_v_seen(i_v)) {
                    real residual_;
                    if (left)
                        residual_ = s->y_z_v_residual[i_v - 1];
                    else {
                        gbm_total k_v_sum = 0;
                        for (int k_v = 1; k_v <= s->X_v_n2; k_v++) {
                            k_v_sum += X_v(i_v, k_v) * beta_v(k_v);
                        }
                        residual_ = -(real)k_v_sum;
                    }
                    k.count += 1;
                    k.square -= 2 * (-REAL_C(0.5) * gbm_square(y_z_v(i_v) + residual_));
                }
            }
        }
    }
    gbm_total sums[4] = {k.square, k.linear, k.count, k.held};
    gbm_team_sums(team, 4, sums);
    k.square = sums[0];
    k.linear = sums[1];
    k.count = sums[2];
    k.held = sums[3];
    return k;
}
GBM_FN void multiply_scale_beta_v_y_z_v(const struct state *s, const struct gbm_team *team, real by)
{
    gbm_team_sync(team);
    {
        GBM_TEAM_FOR(j_v, 1, (*s->p_v) + 1, team) {
            beta_v(j_v) *= by;
        }
    }
    {
        if (s->y_v_seen || s->y_v_stride == 0) {
            GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
                if (y_v_seen(i_v)) {
                    y_z_v(i_v) *= by;
                }
            }
        }
    }
    gbm_team_sync(team);
}

GBM_FN void scale_beta_v_y_z_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    const struct gbm_scaling k = line_scale_beta_v_y_z_v(s, team, 1);
    real by = 1;
    if (gbm_scale_moves(&k))
        by = gbm_scale_draw(rng, &k);
    if (by > 0 && by < GBM_HUGE && by != 1)
        multiply_scale_beta_v_y_z_v(s, team, by);
    else
        by = 1;
    s->scale_beta_v_y_z_v_number[0] = by; /* each lane the same */
    gbm_team_sync(team);
}

#ifndef __CUDACC__
static double length_scale_beta_v_y_z_v(const void *state)
{
    const struct state *s = (const struct state *)state;
    const struct gbm_team *team = &gbm_alone;
    double most = 0, total = 0;
    {
        GBM_TEAM_FOR(j_v, 1, (*s->p_v) + 1, team) {
            most = fmax(most, fabs((double)beta_v(j_v)));
        }
    }
    {
        if (s->y_v_seen || s->y_v_stride == 0) {
            GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
                if (y_v_seen(i_v)) {
                    most = fmax(most, fabs((double)y_z_v(i_v)));
                }
            }
        }
    }
    {
        GBM_TEAM_FOR(j1_v, 1, (*s->p_v) + 1, team) {
            total += (double)beta_v(j1_v) / most * ((double)beta_v(j1_v) / most);
        }
    }
    {
        if (s->y_v_seen || s->y_v_stride == 0) {
            GBM_TEAM_FOR(i1_v, 1, (*s->N_v) + 1, team) {
                if (y_v_seen(i1_v)) {
                    total += (double)y_z_v(i1_v) / most * ((double)y_z_v(i1_v) / most);
                }
            }
        }
    }
    return log(most) + log(total) / 2;
}
/* The logarithm of the factor to length exp(x). */
static double factor_scale_beta_v_y_z_v(const void *state, double x)
{
    return fmin(fmax(x, -300), 300) - length_scale_beta_v_y_z_v(state);
}
static int dimension_scale_beta_v_y_z_v(const void *state, int64_t element)
{
    const struct gbm_scaling k = line_scale_beta_v_y_z_v((const struct state *)state, &gbm_alone, 0);
    return gbm_scale_moves(&k);
}
static void get_scale_beta_v_y_z_v(const void *state, int64_t element, double *x)
{
    *x = length_scale_beta_v_y_z_v(state);
}
static void set_scale_beta_v_y_z_v(const void *state, int64_t element, const double *x)
{
    multiply_scale_beta_v_y_z_v((const struct state *)state, &gbm_alone, (real)exp(factor_scale_beta_v_y_z_v(state, *x)));
}
static double conditional_scale_beta_v_y_z_v(const void *state, int64_t element, const double *x)
{
    struct gbm_scaling k = line_scale_beta_v_y_z_v((const struct state *)state, &gbm_alone, 0);
    k.count = 0; /* the density of what moves, not of the number */
    return (double)gbm_scale_density(&k, (real)factor_scale_beta_v_y_z_v(state, *x));
}
static int64_t tuning_scale_beta_v_y_z_v(const void *state)
{
    return 1;
}
#endif

/* A joint Gaussian block:
 *     beta[j] ~ normal(0, 10)    probit.gbm:5:20
 * Its precision Q and potential b come from
 *     beta[j] ~ normal(0, 10)
 *     albert_chib of y[i] ~ bernoulli(phi(inprod(X[i,], beta)))
 */
/* albert_chib of y[i] ~ bernoulli(phi(inprod(X[i,], beta))), as a function of the block's a'x:
 * -weight/2 (a'x)^2 + score a'x */
GBM_FN void row_update_beta_v_2(const struct state *s, const struct gbm_team *team,
    long long element, real *weight, real *score)
{
    const int i_v = (int)(element) + 1;
    if (!y_v_seen(i_v)) {
        *weight = *score = 0;
        return;
    }
    *weight = 1;
    real chosen;
    if (s->X_v_n2 <= *s->p_v) {
        chosen = 0;
    } else {
        gbm_total k_v_sum = 0;
        GBM_UNROLL_LOADS
        GBM_TEAM_FOR(k_v, (*s->p_v + 1 >= 1 ? *s->p_v + 1 : 1), (s->X_v_n2) + 1, team) {
            k_v_sum += X_v(i_v, k_v) * beta_v(k_v);
        }
        k_v_sum = gbm_team_sum(team, k_v_sum);
        chosen = (real)k_v_sum;
    }
    *score = y_z_v(i_v) - (chosen);
}
GBM_FN void design_update_beta_v_2(const struct state *s, const struct gbm_team *team,
    long long element, real *row)
{
    const int i_v = (int)(element) + 1;
    const int n0 = *s->p_v, at0 = 0; /* beta */
    const int d = at0 + n0;
    GBM_TEAM_FOR(a_v, 1, (*s->p_v) + 1, team) {
        row[at0 + a_v - (1)] = a_v <= s->X_v_n2 ? X_v(i_v, a_v) : 0;
    }
}
#ifndef __CUDACC__
GBM_HOST_ROW(row_update_beta_v_2)
GBM_HOST_DESIGN(design_update_beta_v_2)
#endif

GBM_FN void predicted_y_z_v(struct conditional_y_z_v *k_,
    const struct state *s, const struct gbm_team *team,
    long long element, real predictor_)
{
    const int i_v = (int)(element) + 1;
    gbm_total c1 = 0, c2 = 0;
    c1 += REAL_C(-0.5);
    c2 += predictor_;
    gbm_total lower = y_v(i_v) > REAL_C(0.5) ? 0 : (-GBM_INF);
    gbm_total upper = y_v(i_v) > REAL_C(0.5) ? GBM_INF : 0;
    k_->s = s;
    k_->team = team;
    k_->element = element;
    k_->loop0 = i_v;
    k_->c1 = (real)c1;
    k_->c2 = (real)c2;
    k_->lower = (real)lower;
    k_->upper = (real)upper;
}

GBM_FN void prior_update_beta_v(const struct state *s, long long coordinate,
    real *precision, real *potential)
{
    const int n0 = *s->p_v, at0 = 0; /* beta */
    const int d = at0 + n0;
    real q = 0, p = 0;
    if (coordinate >= at0 && coordinate < at0 + n0) {
        const int a_v = ((int)coordinate - at0) + 1;
        q += REAL_C(0.01);
    }
    *precision = q;
    *potential = p;
}
#ifndef __CUDACC__
GBM_HOST_PRIOR(prior_update_beta_v)
#endif

GBM_FN void get_update_beta_v(const struct state *s, const struct gbm_team *team, real *x)
{
    const int n0 = *s->p_v, at0 = 0; /* beta */
    const int d = at0 + n0;
    GBM_TEAM_FOR(a_v, 1, (*s->p_v) + 1, team) {
        x[at0 + a_v - (1)] = beta_v(a_v);
    }
}
#ifndef __CUDACC__
GBM_HOST_GET(get_update_beta_v)
#endif

GBM_FN void set_update_beta_v(const struct state *s, const struct gbm_team *team, const real *x)
{
    const int n0 = *s->p_v, at0 = 0; /* beta */
    const int d = at0 + n0;
    GBM_TEAM_FOR(a_v, 1, (*s->p_v) + 1, team) {
        beta_v(a_v) = x[at0 + a_v - (1)];
    }
}
#ifndef __CUDACC__
GBM_HOST_SET(set_update_beta_v)
#endif

#ifndef __CUDACC__
static int dimension_update_beta_v(const void *state)
{
    const struct state *s = (const struct state *)state;
    const int n0 = *s->p_v, at0 = 0; /* beta */
    const int d = at0 + n0;
    return d;
}
static void fixed_update_beta_v(const void *state, unsigned char *out)
{
    const struct state *s = (const struct state *)state;
    const int n0 = *s->p_v, at0 = 0; /* beta */
    const int d = at0 + n0;
    for (int a_v = 1; a_v <= *s->p_v; a_v++) {
        out[at0 + a_v - (1)] = (unsigned char)beta_v_seen(a_v);
    }
}
#endif

/* y[i] ~ bernoulli(phi(inprod(X[i,], beta)))    probit.gbm:6:20
 */
GBM_FN void update_y_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    simulate_y_v(s, rng, element);
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
    GBM_ACT_DRAW(0, simulate_beta_v)
    GBM_ACT_WEIGH(0, logdensity_beta_v)
    GBM_ACT_DRAW(1, simulate_y_v)
    GBM_ACT_WEIGH(1, logdensity_y_v)
    GBM_ACT_WEIGH(2, logdensity_y_z_v)
    }
    return 0;
}
GBM_KERNEL_FILTER
#elif defined GBM_CHAINS
#include "chains_cuda.h"
GBM_FN void sweep_of_chain(const struct gbm_sweeper *k)
{
    GBM_CHAIN_STEP(0, update_y_z_v)
    GBM_CHAIN_STEP(1, scale_beta_v_y_z_v)
}
GBM_FN void keep_of_chain(const struct gbm_sweeper *k)
{
    GBM_CHAIN_STEP(3, update_y_v)
}
GBM_FN double density_of_chain(const struct gbm_sweeper *k)
{
    double sum = 0;
    GBM_CHAIN_DENSITY(0, logdensity_beta_v)
    GBM_CHAIN_DENSITY(1, logdensity_y_v)
    return sum;
}
GBM_FN void known_of_chain(const struct gbm_sweeper *k, double *lp)
{
}
GBM_KERNEL_CHAINS
#else
GBM_KERNEL_SPLIT(update_y_z_v, prepare_y_z_v, finish_y_z_v, struct conditional_y_z_v, 0)
GBM_KERNEL(scale_beta_v_y_z_v, 1)
GBM_KERNEL_ROWS(row_update_beta_v_2)
GBM_KERNEL_DESIGN(design_update_beta_v_2)
#include "pass_cuda.h"
GBM_KERNEL_PASS(pass_update_beta_v_2, predicted_y_z_v, finish_y_z_v,
                row_update_beta_v_2, struct conditional_y_z_v, 0)
GBM_KERNEL_PRIOR(prior_update_beta_v)
GBM_KERNEL_GET(get_update_beta_v)
GBM_KERNEL_SET(set_update_beta_v)
GBM_KERNEL(update_y_v, 3)
#endif
GBM_KERNEL_LOGDENSITY(logdensity_beta_v)
GBM_KERNEL_LOGDENSITY(logdensity_y_v)
GBM_KERNEL_LOGDENSITY(logdensity_y_z_v)
#endif
