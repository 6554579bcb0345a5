#include "model.h"

/* visits: written by gbmc from visits.gbm. */
#include "gbm.h"
#include "team.h"

/* All nodes of one chain. Arrays are row-major; macros give them
 * the model's subscripts, from 1. */
struct state {
    int *N; /* N */
    int *n; /* n[n_n1] */
    int n_n1;
    int *y; /* y[y_n1, y_n2] */
    int y_n1;
    int y_n2;
    const unsigned char *y_seen;
    long long y_stride;
    real *rate; /* rate[rate_n1, rate_n2] */
    int rate_n1;
    int rate_n2;
    long long rate_stride;
    int *J; /* J */
    real *b_; /* b[b__n1] */
    int b__n1;
    const unsigned char *b__seen;
    long long b__stride;
    real *x_; /* x[x__n1, x__n2] */
    int x__n1;
    int x__n2;
    int *y_loops;
    real *b__width; /* tuned in warm-up */
    long long b__width_stride;
};

#include "skeleton.h"

#define n(at1) s->n[(at1) - 1]
#define y(at1, at2) s->y[((long long)(at1) - 1) * s->y_n2 + (at2) - 1]
#define y_seen(at1, at2) (s->y_seen ? s->y_seen[((long long)(at1) - 1) * s->y_n2 + (at2) - 1] : s->y_stride == 0)
#define rate(at1, at2) s->rate[((long long)(at1) - 1) * s->rate_n2 + (at2) - 1]
#define b_(at1) s->b_[(at1) - 1]
#define b__seen(at1) (s->b__seen ? s->b__seen[(at1) - 1] : s->b__stride == 0)
#define x_(at1, at2) s->x_[((long long)(at1) - 1) * s->x__n2 + (at2) - 1]

/* From chain 0 to another. */
GBM_FN void shift_state(struct state *s, int chain)
{
    (void)s;
    (void)chain;
    s->y += chain * s->y_stride;
    s->rate += chain * s->rate_stride;
    s->b_ += chain * s->b__stride;
    s->b__width += chain * s->b__width_stride;
}

/* b[j] ~ dnorm(0, 1)    visits.gbm:10:20 */

GBM_FN real logdensity_b_(const struct state *s, long long element)
{
    (void)s;
    (void)element;
    const int j = (int)(element) + 1;
    (void)j;
    return -REAL_C(0.5) * gbm_square(b_(j)) - REAL_C(0.9189385332046727);
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
    const int j = (int)(element) + 1;
    (void)j;
    (void)rng;
    const real mu = 0;
    (void)mu;
    const real tau = 1;
    (void)tau;
    const real normal = gbm_draw_normal(rng);
    b_(j) = (mu + normal / real_sqrt(tau));
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
    const int j = (int)(element) + 1;
    (void)j;
    int64_t count = 0;
    if (out)
        out[count] = (j) - 1;
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
    const int j = (int)(element) + 1;
    (void)j;
    (void)out;
    out[0] = j;
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
    for (int j = 1; j <= *s->J; j++) {
        if (tuples)
            tuples[count * 1 + 0] = j;
        count++;
    }
    return count;
}

static void start_b__in(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
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
    b_(j) = gbm_start(rng, mu, lower, upper, (real)spread);
}
static void start_b_(const void *state, struct gbm_rng *rng, int64_t element, double spread)
{
    start_b__in((const struct state *)state, rng, element, spread);
}

static bool check_b__in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    (void)s;
    (void)element;
    const int j = (int)(element) + 1;
    (void)j;
    (void)problem;
    return true;
}
static bool check_b_(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_b__in((const struct state *)state, element, problem);
}

#endif

/* rate[i,j] <- exp(b[j] * x[i,j])    visits.gbm:8:22 */

GBM_FN void derive_rate(const struct state *s, const struct gbm_team *team, long long element)
{
    (void)s;
    (void)element;
    const int i = (int)((element) / (*s->J)) + 1;
    const int j = (int)((element) % (*s->J)) + 1;
    (void)i;
    (void)j;
    (void)team;
    rate(i, j) = (real_exp(b_(j) * x_(i, j)));
}
#ifndef __CUDACC__
GBM_HOST_DERIVE(derive_rate)
#endif

#ifndef __CUDACC__
static int64_t cells_rate_in(const struct state *s, int64_t element, int64_t *out)
{
    (void)s;
    (void)element;
    const int i = (int)((element) / (*s->J)) + 1;
    const int j = (int)((element) % (*s->J)) + 1;
    (void)i;
    (void)j;
    int64_t count = 0;
    if (out)
        out[count] = ((i) - 1) * (long long)s->rate_n2 + (j) - 1;
    count++;
    return count;
}
static int64_t cells_rate(const void *state, int64_t element, int64_t *out)
{
    return cells_rate_in((const struct state *)state, element, out);
}

static void subscripts_rate_in(const struct state *s, int64_t element, int *out)
{
    (void)s;
    (void)element;
    const int i = (int)((element) / (*s->J)) + 1;
    const int j = (int)((element) % (*s->J)) + 1;
    (void)i;
    (void)j;
    (void)out;
    out[0] = i;
    out[1] = j;
}
static void subscripts_rate(const void *state, int64_t element, int *out)
{
    subscripts_rate_in((const struct state *)state, element, out);
}

static int64_t enumerate_rate(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    (void)s;
    (void)tuples;
    int64_t count = 0;
    for (int i = 1; i <= *s->N; i++) {
        for (int j = 1; j <= *s->J; j++) {
            if (tuples)
                tuples[count * 2 + 0] = i;
            if (tuples)
                tuples[count * 2 + 1] = j;
            count++;
        }
    }
    return count;
}

static bool check_rate_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    (void)s;
    (void)element;
    const int i = (int)((element) / (*s->J)) + 1;
    const int j = (int)((element) % (*s->J)) + 1;
    (void)i;
    (void)j;
    (void)problem;
    if (!gbm_subscript(problem, "b", 1, j, s->b__n1))
        return false;
    if (!gbm_subscript(problem, "x", 1, i, s->x__n1))
        return false;
    if (!gbm_subscript(problem, "x", 2, j, s->x__n2))
        return false;
    if (gbm_is_nan(x_(i, j)))
        return gbm_problem_text(problem, "x[%d,%d] is missing in the data, but %s reads it", i, j, "visits.gbm:8:22");
    return true;
}
static bool check_rate(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_rate_in((const struct state *)state, element, problem);
}

#endif

/* y[i,k] ~ dpois(sum(rate[i,]))    visits.gbm:7:25 */

GBM_FN real logdensity_y(const struct state *s, long long element)
{
    (void)s;
    (void)element;
    const int i = s->y_loops[(element) * 2 + 0];
    const int k = s->y_loops[(element) * 2 + 1];
    (void)i;
    (void)k;
    if (!(y(i, k) >= 0))
        return -GBM_INF;
    gbm_total sum_k = 0;
    for (int k1 = 1; k1 <= s->rate_n2; k1++) {
        sum_k += real_exp(b_(k1) * x_(i, k1));
    }
    gbm_total sum_k1 = 0;
    for (int k2 = 1; k2 <= s->rate_n2; k2++) {
        sum_k1 += real_exp(b_(k2) * x_(i, k2));
    }
    return gbm_xlogy(y(i, k), (real)sum_k) - (real)sum_k1 - gbm_lgamma(y(i, k) + 1);
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
    const int i = s->y_loops[(element) * 2 + 0];
    const int k = s->y_loops[(element) * 2 + 1];
    (void)i;
    (void)k;
    (void)rng;
    gbm_total sum_k = 0;
    for (int k1 = 1; k1 <= s->rate_n2; k1++) {
        sum_k += real_exp(b_(k1) * x_(i, k1));
    }
    const real lambda = (real)sum_k;
    (void)lambda;
    const real poisson = gbm_draw_poisson(rng, lambda);
    y(i, k) = (int)(poisson);
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
    const int i = s->y_loops[(element) * 2 + 0];
    const int k = s->y_loops[(element) * 2 + 1];
    (void)i;
    (void)k;
    int64_t count = 0;
    if (out)
        out[count] = ((i) - 1) * (long long)s->y_n2 + (k) - 1;
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
    const int i = s->y_loops[(element) * 2 + 0];
    const int k = s->y_loops[(element) * 2 + 1];
    (void)i;
    (void)k;
    (void)out;
    out[0] = i;
    out[1] = k;
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
        for (int k = 1; k <= n(i); k++) {
            if (tuples)
                tuples[count * 2 + 0] = i;
            if (tuples)
                tuples[count * 2 + 1] = k;
            count++;
        }
    }
    return count;
}

static void start_y_in(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    (void)s;
    (void)element;
    const int i = s->y_loops[(element) * 2 + 0];
    const int k = s->y_loops[(element) * 2 + 1];
    (void)i;
    (void)k;
    (void)spread;
    real lower = 0, upper = GBM_INF;
    simulate_y(s, rng, element);
    if (y(i, k) < lower)
        y(i, k) = (int)lower;
    if (y(i, k) > upper)
        y(i, k) = (int)upper;
}
static void start_y(const void *state, struct gbm_rng *rng, int64_t element, double spread)
{
    start_y_in((const struct state *)state, rng, element, spread);
}

static bool check_y_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    (void)s;
    (void)element;
    const int i = s->y_loops[(element) * 2 + 0];
    const int k = s->y_loops[(element) * 2 + 1];
    (void)i;
    (void)k;
    (void)problem;
    if (!gbm_subscript(problem, "rate", 1, i, s->rate_n1))
        return false;
    if (y_seen(i, k) && (y(i, k) < 0))
        return gbm_problem_text(problem, "y[%d,%d] = %g is outside the support integer [0, inf] of dpois", i, k, (double)y(i, k));
    return true;
}
static bool check_y(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_y_in((const struct state *)state, element, problem);
}

#endif

/* b[j] ~ dnorm(0, 1)    visits.gbm:10:20
 * No closed form: slice sampling.
 * child: y[i,k] ~ dpois(sum(rate[i,]))
 */
struct conditional_b_ {
    const struct state *s;
    const struct gbm_team *team;
    long long element;
    int loop0; /* j */
    real c1; /* coefficient of x^2 */
    real lower, upper;
#ifndef __CUDACC__
    real before; /* the old value */
    real *columns;
    long long room2;
    int rows2;
    real h2_2; /* j <= extent(rate, 2) */
#endif
};

#ifndef __CUDACC__
GBM_FN long long room_b_(struct conditional_b_ *k_,
    const struct state *s, long long element)
{
    (void)element;
    long long cells = 0;
    const int j = (int)(element) + 1;
    k_->room2 = 0;
    if (s->y_seen || s->y_stride == 0) {
        for (int i = 1; i <= *s->N; i++) {
            if ((n(i)) >= (1))
                k_->room2 += (long long)(n(i)) - (1) + 1;
        }
    }
    cells += k_->room2 * 3;
    return cells;
}
#endif

GBM_FN void prepare_b_(struct conditional_b_ *k_,
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
#ifndef __CUDACC__
    k_->before = (real)b_(j);
    {
        k_->rows2 = 0;
        k_->h2_2 = 0;
        if (s->y_seen || s->y_stride == 0) {
            for (int i = 1; i <= *s->N; i++) {
                real shared = 0;
                if (1 <= n(i)) {
                    gbm_total sum_k = 0;
                    for (int k = 1; k <= s->rate_n2; k++) {
                        sum_k += k == j ? 0 : real_exp(b_(k) * x_(i, k));
                    }
                    shared = (real)sum_k;
                }
                for (int k1 = 1; k1 <= n(i); k1++) {
                    if (y_seen(i, k1)) {
                        real *const row = k_->columns + k_->rows2;
                        row[0 * k_->room2] = (real)(shared);
                        if (k_->rows2 == 0)
            k_->h2_2 = (real)(j <= s->rate_n2);
                        row[1 * k_->room2] = (real)(j <= s->rate_n2 ? x_(i, j) : 0);
                        row[2 * k_->room2] = (real)(y(i, k1));
                        k_->rows2++;
                    }
                }
            }
        }
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
    const int j = k_->loop0;
    (void)j;
    gbm_total total = 0;
    total += k_->c1 * (gbm_square(x));
#ifndef __CUDACC__
    {
        const real *const h1_2 = k_->columns + 0 * k_->room2;
        const real h2_2 = k_->h2_2;
        const real *const h3_2 = k_->columns + 1 * k_->room2;
        const real *const h4_2 = k_->columns + 2 * k_->room2;
        gbm_total sum = 0;
        const int rows = k_->rows2;
        GBM_SIMD_SUM(sum)
        for (int at = 0; at < rows; at++) {
            sum += gbm_xlogy(h4_2[at], h1_2[at] + (h2_2 ? real_exp(h3_2[at] * x) : 0)) - h1_2[at] - (h2_2 ? real_exp(h3_2[at] * x) : 0);
        }
        total += sum;
    }
#endif
#ifdef __CUDACC__
    gbm_team_sync(team);
    b_(j) = x;
    gbm_team_sync(team);
    {
        gbm_total sum = 0;
        if (s->y_seen || s->y_stride == 0) {
            GBM_TEAM_FOR(i, 1, (*s->N) + 1, team) {
                for (int k = 1; k <= n(i); k++) {
                    if (y_seen(i, k)) {
                        gbm_total sum_k = 0;
                        for (int k1 = 1; k1 <= s->rate_n2; k1++) {
                            sum_k += real_exp(b_(k1) * x_(i, k1));
                        }
                        sum += gbm_xlogy(y(i, k), (real)sum_k) - (real)sum_k - gbm_lgamma(y(i, k) + 1);
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
    const int j = (int)(element) + 1;
    struct conditional_b_ k_;
    GBM_COLUMNS(k_, room_b_(&k_, s, element));
    prepare_b_(&k_, s, team, element);
    real width = s->b__width[element];
    const real value = gbm_slice(rng, (real)b_(j), &width, adapting, k_.lower, k_.upper, density_b_, &k_);
    gbm_team_sync(team);
    s->b__width[element] = width;
    gbm_team_sync(team);
    b_(j) = value;
    GBM_COLUMNS_END(k_);
}

/* y[i,k] ~ dpois(sum(rate[i,]))    visits.gbm:7:25
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
GBM_KERNEL(update_y, 1)
GBM_KERNEL_LOGDENSITY(logdensity_b_)
GBM_KERNEL_DERIVE(derive_rate)
GBM_KERNEL_LOGDENSITY(logdensity_y)
#endif

/* ---- the host's tables ---- */

static const struct gbm_variable variables[] = {
    {.name = "N", .where = "visits.gbm:6:15", .role = GBM_GIVEN, .integer = 1, .ndim = 0, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "n", .where = "visits.gbm:7:17", .role = GBM_GIVEN, .integer = 1, .ndim = 1, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "y", .where = "visits.gbm:7:25", .role = GBM_STOCHASTIC, .integer = 1, .ndim = 2, .observed = 1, .needed = 0, .maintained = 0},
    {.name = "rate", .where = "visits.gbm:8:22", .role = GBM_DERIVED, .integer = 0, .ndim = 2, .observed = 0, .needed = 0, .maintained = 0},
    {.name = "J", .where = "visits.gbm:8:17", .role = GBM_GIVEN, .integer = 1, .ndim = 0, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "b", .where = "visits.gbm:10:20", .role = GBM_STOCHASTIC, .integer = 0, .ndim = 1, .observed = 0, .needed = 0, .maintained = 0},
    {.name = "x", .where = "visits.gbm:8:46", .role = GBM_GIVEN, .integer = 0, .ndim = 2, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "y loops", .where = "", .role = GBM_TABLE, .integer = 1, .ndim = 2, .family = 2},
    {.name = "b width", .where = "", .role = GBM_TUNING, .integer = 0, .ndim = 1, .family = 0},
    {.name = 0}};

static void bind_state(void *state, const struct gbm_binding *b)
{
    struct state *s = (struct state *)state;
    (void)b;
    (void)s;
    s->N = (int *)b[0].values;
    s->n = (int *)b[1].values;
    s->n_n1 = b[1].dim[0];
    s->y = (int *)b[2].values;
    s->y_n1 = b[2].dim[0];
    s->y_n2 = b[2].dim[1];
    s->y_seen = b[2].seen;
    s->y_stride = b[2].stride;
    s->rate = (real *)b[3].values;
    s->rate_n1 = b[3].dim[0];
    s->rate_n2 = b[3].dim[1];
    s->rate_stride = b[3].stride;
    s->J = (int *)b[4].values;
    s->b_ = (real *)b[5].values;
    s->b__n1 = b[5].dim[0];
    s->b__seen = b[5].seen;
    s->b__stride = b[5].stride;
    s->x_ = (real *)b[6].values;
    s->x__n1 = b[6].dim[0];
    s->x__n2 = b[6].dim[1];
    s->y_loops = (int *)b[7].values;
    s->b__width = (real *)b[8].values;
    s->b__width_stride = b[8].stride;
}
static void shift(void *state, int chain)
{
    shift_state((struct state *)state, chain);
}

static const int load_order[] = {0, 1, 4, 6, 7, 2, 3, 5, 8};

static const struct gbm_family families[] = {
    {.variable = 5,
     .text = "b[j] ~ dnorm(0, 1)",
     .where = "visits.gbm:10:20",
     .stochastic = 1, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 1, .table = -1,
     .enumerate = enumerate_b_,
     .subscripts = subscripts_b_,
     .cells = cells_b_,
     .check = check_b_,
     .logdensity = logdensity_b__host, .density_kernel = "logdensity_b__kernel",
     .start = start_b_,
     .simulate = simulate_b__host},
    {.variable = 3,
     .text = "rate[i,j] <- exp(b[j] * x[i,j])",
     .where = "visits.gbm:8:22",
     .stochastic = 0, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 2, .table = -1,
     .enumerate = enumerate_rate,
     .subscripts = subscripts_rate,
     .cells = cells_rate,
     .check = check_rate,
     .derive = derive_rate_host, .derive_kernel = "derive_rate_kernel"},
    {.variable = 2,
     .text = "y[i,k] ~ dpois(sum(rate[i,]))",
     .where = "visits.gbm:7:25",
     .stochastic = 1, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 2, .table = 7,
     .enumerate = enumerate_y,
     .subscripts = subscripts_y,
     .cells = cells_y,
     .check = check_y,
     .logdensity = logdensity_y_host, .density_kernel = "logdensity_y_kernel",
     .start = start_y,
     .simulate = simulate_y_host,
     .repeats = 1},
};

static const struct gbm_inverse inverses[] = {
    {.variable = -1}};

static const struct gbm_sequence sequences[] = {
    {.nreaders = 0}};

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
    const int j = (int)(element) + 1;
    *cell_ = &b_(j);
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
    GBM_COLUMNS(k_, room_b_(&k_, s, element));
    prepare_b_(&k_, s, &gbm_alone, element);
    get_b_(state, element, &before);
    if (*x >= k_.lower && *x <= k_.upper)
        value = (double)density_b_(&k_, (real)*x);
    set_b_(state, element, &before);
    GBM_COLUMNS_END(k_);
    return value;
}

static int64_t cost_update_b_(const void *state)
{
    const struct state *s = (const struct state *)state;
    (void)s;
    return (int64_t)(*s->N);
}

GBM_HOST_RUN(update_b_, 0, 3, gbm_slice)
GBM_HOST_RUN(update_y, 1, 1, none)

static const struct gbm_step steps[] = {
    {.kind = GBM_STEP_MAP, .name = "update_b_",
     .variable = "b", .sampler = "slice",
     .family = 0, .number = 0, .sequential = 1, .leaf = 0, .inverse = -1,
     .text = "b[j] ~ dnorm(0, 1)",
     .run = update_b__run, .blocks = 3, .normals = GBM_NORMALS_FIRST(gbm_slice),
     .block_size = dimension_b_, .block_get = get_b_, .block_set = set_b_, .conditional = conditional_b__at,
     .cost = cost_update_b_},
    {.kind = GBM_STEP_MAP, .name = "update_y",
     .variable = "y", .sampler = "forward draw",
     .family = 2, .number = 1, .sequential = 0, .leaf = 1, .inverse = -1,
     .text = "y[i,k] ~ dpois(sum(rate[i,]))",
     .run = update_y_run, .blocks = 1, .normals = GBM_NORMALS_FIRST(none)},
};

