/* standardised: written by gbmc from standardised.gbm. */
#include "gbm.h"
#include "team.h"

/* All nodes of one chain. Arrays are row-major; macros give them
 * the model's subscripts, from 1. */
struct state {
    int *N; /* N */
    int *y; /* y[y_n1] */
    int y_n1;
    const unsigned char *y_seen;
    long long y_stride;
    real *b_; /* b */
    const unsigned char *b__seen;
    long long b__stride;
    real *z; /* z[z_n1] */
    int z_n1;
    const unsigned char *z_seen;
    long long z_stride;
    int *g; /* g[g_n1] */
    int g_n1;
    int *J; /* J */
    real *copies_3; /* copies.3[copies_3_n1] */
    int copies_3_n1;
    real *b__width; /* tuned in warm-up */
    long long b__width_stride;
    real *z_width; /* tuned in warm-up */
    long long z_width_stride;
    int *index0_start, *index0_item; /* where z[g[i]] hits */
    long long index0_start_stride, index0_item_stride;
};

#include "skeleton.h"

#define y(at1) s->y[(at1) - 1]
#define y_seen(at1) (s->y_seen ? s->y_seen[(at1) - 1] : s->y_stride == 0)
#define b__seen() (s->b__seen ? s->b__seen[0] : s->b__stride == 0)
#define z(at1) s->z[(at1) - 1]
#define z_seen(at1) (s->z_seen ? s->z_seen[(at1) - 1] : s->z_stride == 0)
#define g(at1) s->g[(at1) - 1]
#define copies_3(at1) s->copies_3[(at1) - 1]

/* From chain 0 to another. */
GBM_FN void shift_state(struct state *s, int chain)
{
    (void)s;
    (void)chain;
    s->y += chain * s->y_stride;
    s->b_ += chain * s->b__stride;
    s->z += chain * s->z_stride;
    s->b__width += chain * s->b__width_stride;
    s->z_width += chain * s->z_width_stride;
    s->index0_start += chain * s->index0_start_stride;
    s->index0_item += chain * s->index0_item_stride;
}

/* the cell that z[g[i]] hits, by instance of
 * y[i] ~ dpois(exp(b * (z[g[i]] - mean(z[])) / sd(z[]))) */
GBM_FN long long index0(const struct state *s, long long element)
{
    const int i = (int)(element) + 1;
    (void)i;
    if ((g(i)) < 1 || (g(i)) > s->z_n1)
        return -1;
    return (g(i)) - 1;
}
#ifndef __CUDACC__
static int64_t index0_host(const void *state, int64_t element)
{
    return index0((const struct state *)state, element);
}
#endif

/* copies.3     */

GBM_FN void derive_copies_3(const struct state *s, const struct gbm_team *team, long long element)
{
    (void)s;
    (void)element;
    (void)team;
    GBM_SCRATCH(values, small, (int)(real_fmin(*s->N, 20000)));
    for (int i = 1; i <= (int)(real_fmin(*s->N, 20000)); i++) {
        values[i - 1] = y(i);
    }
    GBM_SCRATCH(values1, small1, (int)(real_fmin(*s->N, 20000)));
    for (int i1 = 1; i1 <= (int)(real_fmin(*s->N, 20000)); i1++) {
        values1[i1 - 1] = g(i1);
    }
    GBM_SCRATCH(values2, small2, (int)(real_fmin(*s->N, 20000)));
    for (int i2 = 1; i2 <= (int)(real_fmin(*s->N, 20000)); i2++) {
        values2[i2 - 1] = 0;
    }
    GBM_SCRATCH(values3, small3, (int)(real_fmin(*s->N, 20000)));
    for (int i3 = 1; i3 <= (int)(real_fmin(*s->N, 20000)); i3++) {
        values3[i3 - 1] = 0;
    }
    GBM_SCRATCH(result, result_small, ((int)(real_fmin(*s->N, 20000))) * (1));
    gbm_copies(real_fmin(*s->N, 20000), values, values1, values2, values3, result);
    for (int row = 1; row <= (int)(real_fmin(*s->N, 20000)); row++) {
        copies_3(row) = result[row - 1];
    }
}
#ifndef __CUDACC__
GBM_HOST_DERIVE(derive_copies_3)
#endif

#ifndef __CUDACC__
static int64_t cells_copies_3_in(const struct state *s, int64_t element, int64_t *out)
{
    (void)s;
    (void)element;
    int64_t count = 0;
    for (int row = 1; row <= (int)(real_fmin(*s->N, 20000)); row++) {
        if (out)
            out[count] = (row) - 1;
        count++;
    }
    return count;
}
static int64_t cells_copies_3(const void *state, int64_t element, int64_t *out)
{
    return cells_copies_3_in((const struct state *)state, element, out);
}

static void subscripts_copies_3_in(const struct state *s, int64_t element, int *out)
{
    (void)s;
    (void)element;
    (void)out;
    out[0] = (int)(real_fmin(*s->N, 20000));
}
static void subscripts_copies_3(const void *state, int64_t element, int *out)
{
    subscripts_copies_3_in((const struct state *)state, element, out);
}

static int64_t enumerate_copies_3(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    (void)s;
    (void)tuples;
    int64_t count = 0;
    count++;
    return count;
}

static bool check_copies_3_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    (void)s;
    (void)element;
    (void)problem;
    if (gbm_is_missing(*s->N))
        return gbm_problem_text(problem, "N is missing in the data, but %s reads it", "");
    if (gbm_is_missing(*s->N))
        return gbm_problem_text(problem, "N is missing in the data, but %s reads it", "");
    if (gbm_is_missing(*s->N))
        return gbm_problem_text(problem, "N is missing in the data, but %s reads it", "");
    if (gbm_is_missing(*s->N))
        return gbm_problem_text(problem, "N is missing in the data, but %s reads it", "");
    if (gbm_is_missing(*s->N))
        return gbm_problem_text(problem, "N is missing in the data, but %s reads it", "");
    return true;
}
static bool check_copies_3(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_copies_3_in((const struct state *)state, element, problem);
}

#endif

/* b ~ dnorm(0, 1)    standardised.gbm:8:3 */

GBM_FN real logdensity_b_(const struct state *s, long long element)
{
    (void)s;
    (void)element;
    return -REAL_C(0.5) * gbm_square(*s->b_) - REAL_C(0.9189385332046727);
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
    const real mu = 0;
    (void)mu;
    const real tau = 1;
    (void)tau;
    const real normal = gbm_draw_normal(rng);
    *s->b_ = (mu + normal / real_sqrt(tau));
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
    real lower = -GBM_INF, upper = GBM_INF;
    const real mu = 0;
    (void)mu;
    const real tau = 1;
    (void)tau;
    *s->b_ = gbm_start(rng, mu, lower, upper, (real)spread);
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
    return true;
}
static bool check_b_(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_b__in((const struct state *)state, element, problem);
}

#endif

/* z[j] ~ dnorm(0, 1)    standardised.gbm:7:20 */

GBM_FN real logdensity_z(const struct state *s, long long element)
{
    (void)s;
    (void)element;
    const int j = (int)(element) + 1;
    (void)j;
    return -REAL_C(0.5) * gbm_square(z(j)) - REAL_C(0.9189385332046727);
}
#ifndef __CUDACC__
static double logdensity_z_host(const void *state, int64_t element)
{
    return (double)logdensity_z((const struct state *)state, element);
}
#endif

GBM_FN void simulate_z(const struct state *s, struct gbm_rng *rng, long long element)
{
    (void)s;
    (void)element;
    const int j = (int)(element) + 1;
    (void)j;
    (void)rng;
    const real mu = 0;
    (void)mu;
    const real tau = 1;
    (void)tau;
    const real normal = gbm_draw_normal(rng);
    z(j) = (mu + normal / real_sqrt(tau));
}
#ifndef __CUDACC__
static void simulate_z_host(const void *state, struct gbm_rng *rng, int64_t element)
{
    simulate_z((const struct state *)state, rng, element);
}
#endif

#ifndef __CUDACC__
static int64_t cells_z_in(const struct state *s, int64_t element, int64_t *out)
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
static int64_t cells_z(const void *state, int64_t element, int64_t *out)
{
    return cells_z_in((const struct state *)state, element, out);
}

static void subscripts_z_in(const struct state *s, int64_t element, int *out)
{
    (void)s;
    (void)element;
    const int j = (int)(element) + 1;
    (void)j;
    (void)out;
    out[0] = j;
}
static void subscripts_z(const void *state, int64_t element, int *out)
{
    subscripts_z_in((const struct state *)state, element, out);
}

static int64_t enumerate_z(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    (void)s;
    (void)tuples;
    int64_t count = 0;
    for (int j = 1; j <= *s->J; j++) {
        if (tuples)
            tuples[count * 1 + 0] = j;
        count++;
    }
    return count;
}

static void start_z_in(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    (void)s;
    (void)element;
    const int j = (int)(element) + 1;
    (void)j;
    (void)spread;
    real lower = -GBM_INF, upper = GBM_INF;
    const real mu = 0;
    (void)mu;
    const real tau = 1;
    (void)tau;
    z(j) = gbm_start(rng, mu, lower, upper, (real)spread);
}
static void start_z(const void *state, struct gbm_rng *rng, int64_t element, double spread)
{
    start_z_in((const struct state *)state, rng, element, spread);
}

static bool check_z_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    (void)s;
    (void)element;
    const int j = (int)(element) + 1;
    (void)j;
    (void)problem;
    return true;
}
static bool check_z(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_z_in((const struct state *)state, element, problem);
}

#endif

/* y[i] ~ dpois(exp(b * (z[g[i]] - mean(z[])) / sd(z[])))    standardised.gbm:5:5 */

GBM_FN real logdensity_y(const struct state *s, long long element)
{
    (void)s;
    (void)element;
    const int i = (int)(element) + 1;
    (void)i;
    if (!(y(i) >= 0))
        return -GBM_INF;
    gbm_total sum_k = 0;
    for (int k = 1; k <= s->z_n1; k++) {
        sum_k += z(k);
    }
    gbm_total sum_k1 = 0;
    for (int k1 = 1; k1 <= s->z_n1; k1++) {
        sum_k1 += z(k1);
    }
    return (real)y(i) * *s->b_ * (z(g(i)) - (real)sum_k / (real)s->z_n1) / (gbm_sd(s->z_n1, s->z + ((1) - 1))) - real_exp(*s->b_ * (z(g(i)) - (real)sum_k1 / (real)s->z_n1) / (gbm_sd(s->z_n1, s->z + ((1) - 1)))) - gbm_lgamma(y(i) + 1);
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
    for (int k = 1; k <= s->z_n1; k++) {
        sum_k += z(k);
    }
    const real lambda = real_exp(*s->b_ * (z(g(i)) - (real)sum_k / (real)s->z_n1) / (gbm_sd(s->z_n1, s->z + ((1) - 1))));
    (void)lambda;
    const real poisson = gbm_draw_poisson(rng, lambda);
    y(i) = (int)(poisson);
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
    real lower = 0, upper = GBM_INF;
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
    if (!gbm_subscript(problem, "g", 1, i, s->g_n1))
        return false;
    if (gbm_is_missing(g(i)))
        return gbm_problem_text(problem, "g[%d] is missing in the data, but %s reads it", i, "standardised.gbm:5:5");
    if (!gbm_subscript(problem, "z", 1, g(i), s->z_n1))
        return false;
    if (y_seen(i) && (y(i) < 0))
        return gbm_problem_text(problem, "y[%d] = %g is outside the support integer [0, inf] of dpois", i, (double)y(i));
    return true;
}
static bool check_y(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_y_in((const struct state *)state, element, problem);
}

#endif

/* b ~ dnorm(0, 1)    standardised.gbm:8:3
 * No closed form: slice sampling.
 * child: y[i] ~ dpois(exp(b * (z[g[i]] - mean(z[])) / sd(z[])))
 */
struct conditional_b_ {
    const struct state *s;
    const struct gbm_team *team;
    long long element;
    real c1; /* coefficient of x^2 */
    real lower, upper;
#ifndef __CUDACC__
    real before; /* the old value */
    real *columns;
    long long room2;
    int rows2;
    real slope2; /* y[i] * (z[g[i]] - sum(k in 1:extent(z, 1), z[k]) / extent(z, 1)) / sd([k in 1:extent(z, 1): z[k]]) */
#endif
};

#ifndef __CUDACC__
GBM_FN long long room_b_(struct conditional_b_ *k_,
    const struct state *s, long long element)
{
    (void)element;
    long long cells = 0;
    k_->room2 = 0;
    if (s->y_seen || s->y_stride == 0) {
        if ((*s->N) >= (1))
            k_->room2 += (long long)(*s->N) - (1) + 1;
    }
    cells += k_->room2 * 2;
    return cells;
}
#endif

GBM_FN void prepare_b_(struct conditional_b_ *k_,
    const struct state *s, const struct gbm_team *team,
    long long element)
{
    gbm_total c1 = 0;
    c1 += REAL_C(-0.5);
    gbm_total lower = -GBM_INF;
    gbm_total upper = GBM_INF;
    k_->s = s;
    k_->team = team;
    k_->element = element;
    k_->c1 = (real)c1;
    k_->lower = (real)lower;
    k_->upper = (real)upper;
#ifndef __CUDACC__
    k_->before = (real)*s->b_;
    {
        k_->rows2 = 0;
        gbm_total slope = 0;
        gbm_total sum_k = 0;
        for (int k = 1; k <= s->z_n1; k++) {
            sum_k += z(k);
        }
        const real shared = (real)sum_k;
        const real shared1 = gbm_sd(s->z_n1, s->z + ((1) - 1));
        if (s->y_seen || s->y_stride == 0) {
            for (int i = 1; i <= *s->N; i++) {
                if (y_seen(i)) {
                    const real copies = s->y_stride != 0 || i > 20000 ? 1 : copies_3(i);
                    if (copies > 0) {
                        real *const row = k_->columns + k_->rows2;
                        row[0 * k_->room2] = (real)((z(g(i)) - shared / (real)s->z_n1) / shared1);
                        slope += copies * (real)y(i) * (z(g(i)) - shared / (real)s->z_n1) / shared1;
                        row[1 * k_->room2] = copies;
                        k_->rows2++;
                    }
                }
            }
        }
        k_->slope2 = (real)slope;
    }
#endif
}

GBM_INLINE real density_b_(const void *context, real x)
{
    const struct conditional_b_ *k_ = (const struct conditional_b_ *)context;
    const struct state *s = k_->s;
    const struct gbm_team *team = k_->team;
    (void)s;
    (void)team;
    gbm_total total = 0;
    total += k_->c1 * (gbm_square(x));
#ifndef __CUDACC__
    const real moved_ = x - k_->before;
    total += k_->slope2 * moved_;
    {
        const real *const h1_2 = k_->columns + 0 * k_->room2;
        const real *const copies_2 = k_->columns + 1 * k_->room2;
        gbm_total sum = 0;
        const int rows = k_->rows2;
        GBM_SIMD_SUM(sum)
        for (int at = 0; at < rows; at++) {
            sum += copies_2[at] * (-real_exp(h1_2[at] * x));
        }
        total += sum;
    }
#endif
#ifdef __CUDACC__
    gbm_team_sync(team);
    *s->b_ = x;
    gbm_team_sync(team);
    {
        gbm_total sum = 0;
        gbm_total sum_k = 0;
        GBM_UNROLL_LOADS
        GBM_TEAM_FOR(k, 1, (s->z_n1) + 1, team) {
            sum_k += z(k);
        }
        sum_k = gbm_team_sum(team, sum_k);
        const real shared = (real)sum_k;
        const real shared1 = gbm_sd(s->z_n1, s->z + ((1) - 1));
        if (s->y_seen || s->y_stride == 0) {
            GBM_TEAM_FOR(i, 1, (*s->N) + 1, team) {
                if (y_seen(i)) {
                    const real copies = s->y_stride != 0 || i > 20000 ? 1 : copies_3(i);
                    if (copies > 0) {
                        sum += copies * ((real)y(i) * *s->b_ * (z(g(i)) - shared / (real)s->z_n1) / shared1 - real_exp(*s->b_ * (z(g(i)) - shared / (real)s->z_n1) / shared1) - gbm_lgamma(y(i) + 1));
                    }
                }
            }
        }
        total += gbm_team_sum(team, sum);
    }
#endif
    return (real)total;
}

GBM_FN void update_b_(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    (void)adapting;
    struct conditional_b_ k_;
    GBM_COLUMNS(k_, room_b_(&k_, s, element));
    prepare_b_(&k_, s, team, element);
    real width = s->b__width[element];
    const real value = gbm_slice(rng, (real)*s->b_, &width, adapting, k_.lower, k_.upper, density_b_, &k_);
    gbm_team_sync(team);
    s->b__width[element] = width;
    gbm_team_sync(team);
    *s->b_ = value;
    GBM_COLUMNS_END(k_);
}

/* z[j] ~ dnorm(0, 1)    standardised.gbm:7:20
 * No closed form: slice sampling.
 * child: y[i] ~ dpois(exp(b * (z[g[i]] - mean(z[])) / sd(z[])))
 */
struct conditional_z {
    const struct state *s;
    const struct gbm_team *team;
    long long element;
    int loop0; /* j */
    real c1; /* coefficient of x^2 */
    real lower, upper;
};

GBM_FN void prepare_z(struct conditional_z *k_,
    const struct state *s, const struct gbm_team *team,
    long long element)
{
    const int j = (int)(element) + 1;
    gbm_total c1 = 0;
    c1 += REAL_C(-0.5);
    gbm_total lower = -GBM_INF;
    gbm_total upper = GBM_INF;
    k_->s = s;
    k_->team = team;
    k_->element = element;
    k_->loop0 = j;
    k_->c1 = (real)c1;
    k_->lower = (real)lower;
    k_->upper = (real)upper;
}

GBM_INLINE real density_z(const void *context, real x)
{
    const struct conditional_z *k_ = (const struct conditional_z *)context;
    const struct state *s = k_->s;
    const struct gbm_team *team = k_->team;
    (void)s;
    (void)team;
    const int j = k_->loop0;
    (void)j;
    gbm_total total = 0;
    total += k_->c1 * (gbm_square(x));
    gbm_team_sync(team);
    z(j) = x;
    gbm_team_sync(team);
    {
        gbm_total sum = 0;
        gbm_total sum_k = 0;
        GBM_UNROLL_LOADS
        GBM_TEAM_FOR(k, 1, (s->z_n1) + 1, team) {
            sum_k += z(k);
        }
        sum_k = gbm_team_sum(team, sum_k);
        const real shared = (real)sum_k;
        const real shared1 = gbm_sd(s->z_n1, s->z + ((1) - 1));
        if (s->y_seen || s->y_stride == 0) {
            GBM_TEAM_FOR(i, 1, (*s->N) + 1, team) {
                if (y_seen(i)) {
                    const real copies = s->y_stride != 0 || i > 20000 ? 1 : copies_3(i);
                    if (copies > 0) {
                        sum += copies * ((real)y(i) * *s->b_ * (z(g(i)) - shared / (real)s->z_n1) / shared1 - real_exp(*s->b_ * (z(g(i)) - shared / (real)s->z_n1) / shared1) - gbm_lgamma(y(i) + 1));
                    }
                }
            }
        }
        total += gbm_team_sum(team, sum);
    }
    return (real)total;
}

GBM_FN void update_z(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    (void)adapting;
    const int j = (int)(element) + 1;
    struct conditional_z k_;
    prepare_z(&k_, s, team, element);
    real width = s->z_width[element];
    const real value = gbm_slice(rng, (real)z(j), &width, adapting, k_.lower, k_.upper, density_z, &k_);
    gbm_team_sync(team);
    s->z_width[element] = width;
    gbm_team_sync(team);
    z(j) = value;
}

/* y[i] ~ dpois(exp(b * (z[g[i]] - mean(z[])) / sd(z[])))    standardised.gbm:5:5
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
GBM_KERNEL(update_b_, 0)
GBM_KERNEL(update_z, 1)
GBM_KERNEL(update_y, 2)
GBM_KERNEL_LOGDENSITY(logdensity_b_)
GBM_KERNEL_LOGDENSITY(logdensity_z)
GBM_KERNEL_LOGDENSITY(logdensity_y)
GBM_KERNEL_CELL(index0)
#endif
