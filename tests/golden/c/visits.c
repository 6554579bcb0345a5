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
#include "team.h"
#include "between_rows.h"
#include "slice.h"
#include "ahead.h"
#include "normals.h"
#include "linear.h"
#include "row_terms.h"
#include "poisson.h"

/* visits: written by gbmc from visits.gbm. */
#include "gbm.h"
#include "team.h"

/* All nodes of one chain. Arrays are row-major; macros give them
 * the model's subscripts, from 1. */
struct state {
    int *N_v; /* N */
    int *n_v; /* n[n_v_n1] */
    int n_v_n1;
    int *y_v; /* y[y_v_n1, y_v_n2] */
    int y_v_n1;
    int y_v_n2;
    const unsigned char *y_v_seen;
    long long y_v_stride;
    real *rate_v; /* rate[rate_v_n1, rate_v_n2] */
    int rate_v_n1;
    int rate_v_n2;
    long long rate_v_stride;
    int *J_v; /* J */
    real *b_v; /* b[b_v_n1] */
    int b_v_n1;
    const unsigned char *b_v_seen;
    long long b_v_stride;
    real *x_v; /* x[x_v_n1, x_v_n2] */
    int x_v_n1;
    int x_v_n2;
    int *y_v_loops; /* loop indices by element */
    real *b_v_width; /* tuned in warm-up */
    long long b_v_width_stride;
};

#include "skeleton.h"

#define n_v(at1) s->n_v[(at1) - 1]
#define y_v(at1, at2) s->y_v[((long long)(at1) - 1) * s->y_v_n2 + (at2) - 1]
#define y_v_seen(at1, at2) (s->y_v_seen ? s->y_v_seen[((long long)(at1) - 1) * s->y_v_n2 + (at2) - 1] == 1 : s->y_v_stride == 0)
#define rate_v(at1, at2) s->rate_v[((long long)(at1) - 1) * s->rate_v_n2 + (at2) - 1]
#define b_v(at1) s->b_v[(at1) - 1]
#define b_v_seen(at1) (s->b_v_seen ? s->b_v_seen[(at1) - 1] == 1 : s->b_v_stride == 0)
#define x_v(at1, at2) s->x_v[((long long)(at1) - 1) * s->x_v_n2 + (at2) - 1]

/* From chain 0 to another. */
GBM_FN void shift_state(struct state *s, int chain)
{
    s->y_v += chain * s->y_v_stride;
    s->rate_v += chain * s->rate_v_stride;
    s->b_v += chain * s->b_v_stride;
    s->b_v_width += chain * s->b_v_width_stride;
}

#ifdef GBM_KNOWN
/* Of arrays, so that loops over few cells are written out. */
GBM_FN void know_state(struct state *s)
{
    GBM_KNOW_NUMBER(2, s->N_v)
    GBM_KNOW(5, s->n_v_n1, known - 1)
    GBM_KNOW(6, s->y_v_seen, 0)
    GBM_KNOW(7, s->y_v_stride, known - 1)
    GBM_KNOW(8, s->y_v_n1, known - 1)
    GBM_KNOW(9, s->y_v_n2, known - 1)
    GBM_KNOW(11, s->rate_v_stride, known - 1)
    GBM_KNOW(12, s->rate_v_n1, known - 1)
    GBM_KNOW(13, s->rate_v_n2, known - 1)
    GBM_KNOW_NUMBER(16, s->J_v)
    GBM_KNOW(17, s->b_v_seen, 0)
    GBM_KNOW(18, s->b_v_stride, known - 1)
    GBM_KNOW(19, s->b_v_n1, known - 1)
    GBM_KNOW(22, s->x_v_n1, known - 1)
    GBM_KNOW(23, s->x_v_n2, known - 1)
    GBM_KNOW(29, s->b_v_width_stride, known - 1)
}
#endif

/* b[j] ~ dnorm(0, 1)    visits.gbm:10:20 */

GBM_FN real logdensity_b_v(const struct state *s, long long element)
{
    const int j_v = (int)(element) + 1;
    return -REAL_C(0.5) * gbm_square(b_v(j_v)) - REAL_C(0.9189385332046727);
}
#ifndef __CUDACC__
GBM_HOST_LOGDENSITY(logdensity_b_v)
#endif

GBM_FN void simulate_b_v(const struct state *s, struct gbm_rng *rng, long long element)
{
    const int j_v = (int)(element) + 1;
    const real mu_v = 0;
    const real tau_v = 1;
    const real normal = gbm_draw_normal(rng);
    b_v(j_v) = (mu_v + normal / real_sqrt(tau_v));
}
#ifndef __CUDACC__
GBM_HOST_SIMULATE(simulate_b_v)
#endif

#ifndef __CUDACC__
static int64_t cells_b_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int j_v = (int)(element) + 1;
    int64_t count = 0;
    if (out)
        out[count] = (j_v) - 1;
    count++;
    return count;
}
static int64_t cells_b_v(const void *state, int64_t element, int64_t *out)
{
    return cells_b_v_in((const struct state *)state, element, out);
}

static void subscripts_b_v_in(const struct state *s, int64_t element, int *out)
{
    const int j_v = (int)(element) + 1;
    out[0] = j_v;
}
static void subscripts_b_v(const void *state, int64_t element, int *out)
{
    subscripts_b_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_b_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    for (int j_v = 1; j_v <= *s->J_v; j_v++) {
        if (tuples)
            tuples[count * 1 + 0] = j_v;
        count++;
    }
    return count;
}

static void start_b_v(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    const int j_v = (int)(element) + 1;
    real lower = -GBM_INF, upper = GBM_INF;
    const real mu_v = 0;
    const real tau_v = 1;
    b_v(j_v) = gbm_start(rng, mu_v, lower, upper, (real)spread);
}
GBM_HOST_START(start_b_v)

static bool check_b_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int j_v = (int)(element) + 1;
    return true;
}
static bool check_b_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_b_v_in((const struct state *)state, element, problem);
}

#endif

/* rate[i,j] <- exp(b[j] * x[i,j])    visits.gbm:8:22 */

GBM_FN void derive_rate_v(const struct state *s, const struct gbm_team *team, long long element)
{
    const int i_v = (int)gbm_quotient(element, *s->J_v) + 1;
    const int j_v = (int)gbm_rest(element, *s->J_v) + 1;
    rate_v(i_v, j_v) = (real_exp(b_v(j_v) * x_v(i_v, j_v)));
}
#ifndef __CUDACC__
GBM_HOST_DERIVE(derive_rate_v)
#endif

#ifndef __CUDACC__
static int64_t cells_rate_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int i_v = (int)gbm_quotient(element, *s->J_v) + 1;
    const int j_v = (int)gbm_rest(element, *s->J_v) + 1;
    int64_t count = 0;
    if (out)
        out[count] = ((i_v) - 1) * (long long)s->rate_v_n2 + (j_v) - 1;
    count++;
    return count;
}
static int64_t cells_rate_v(const void *state, int64_t element, int64_t *out)
{
    return cells_rate_v_in((const struct state *)state, element, out);
}

static void subscripts_rate_v_in(const struct state *s, int64_t element, int *out)
{
    const int i_v = (int)gbm_quotient(element, *s->J_v) + 1;
    const int j_v = (int)gbm_rest(element, *s->J_v) + 1;
    out[0] = i_v;
    out[1] = j_v;
}
static void subscripts_rate_v(const void *state, int64_t element, int *out)
{
    subscripts_rate_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_rate_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    for (int i_v = 1; i_v <= *s->N_v; i_v++) {
        for (int j_v = 1; j_v <= *s->J_v; j_v++) {
            if (tuples)
                tuples[count * 2 + 0] = i_v;
            if (tuples)
                tuples[count * 2 + 1] = j_v;
            count++;
        }
    }
    return count;
}

static bool check_rate_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int i_v = (int)gbm_quotient(element, *s->J_v) + 1;
    const int j_v = (int)gbm_rest(element, *s->J_v) + 1;
    if (!gbm_subscript(problem, "b", 1, j_v, s->b_v_n1))
        return false;
    if (!gbm_subscript(problem, "x", 1, i_v, s->x_v_n1))
        return false;
    if (!gbm_subscript(problem, "x", 2, j_v, s->x_v_n2))
        return false;
    if (gbm_is_nan(x_v(i_v, j_v)))
        return gbm_problem_text(problem, "x[%d,%d] is missing in the data, but %s reads it", i_v, j_v, "visits.gbm:8:22");
    return true;
}
static bool check_rate_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_rate_v_in((const struct state *)state, element, problem);
}

#endif

/* y[i,k] ~ dpois(sum(rate[i,]))    visits.gbm:7:25 */

GBM_FN real logdensity_y_v(const struct state *s, long long element)
{
    const int i_v = s->y_v_loops[(element) * 2 + 0];
    const int k_v = s->y_v_loops[(element) * 2 + 1];
    if (!(y_v(i_v, k_v) >= 0))
        return -GBM_INF;
    gbm_total k_v_sum = 0;
    for (int k1_v = 1; k1_v <= s->rate_v_n2; k1_v++) {
        k_v_sum += real_exp(b_v(k1_v) * x_v(i_v, k1_v));
    }
    return gbm_xlogy(y_v(i_v, k_v), (real)k_v_sum) - (real)k_v_sum - gbm_lgamma(y_v(i_v, k_v) + 1);
}
#ifndef __CUDACC__
GBM_HOST_LOGDENSITY(logdensity_y_v)
#endif

GBM_FN void simulate_y_v(const struct state *s, struct gbm_rng *rng, long long element)
{
    const int i_v = s->y_v_loops[(element) * 2 + 0];
    const int k_v = s->y_v_loops[(element) * 2 + 1];
    gbm_total k_v_sum = 0;
    for (int k1_v = 1; k1_v <= s->rate_v_n2; k1_v++) {
        k_v_sum += real_exp(b_v(k1_v) * x_v(i_v, k1_v));
    }
    const real lambda_v = (real)k_v_sum;
    const real poisson = gbm_draw_poisson(rng, lambda_v);
    y_v(i_v, k_v) = gbm_whole(poisson);
}
#ifndef __CUDACC__
GBM_HOST_SIMULATE(simulate_y_v)
#endif

#ifndef __CUDACC__
static int64_t cells_y_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int i_v = s->y_v_loops[(element) * 2 + 0];
    const int k_v = s->y_v_loops[(element) * 2 + 1];
    int64_t count = 0;
    if (out)
        out[count] = ((i_v) - 1) * (long long)s->y_v_n2 + (k_v) - 1;
    count++;
    return count;
}
static int64_t cells_y_v(const void *state, int64_t element, int64_t *out)
{
    return cells_y_v_in((const struct state *)state, element, out);
}

static void subscripts_y_v_in(const struct state *s, int64_t element, int *out)
{
    const int i_v = s->y_v_loops[(element) * 2 + 0];
    const int k_v = s->y_v_loops[(element) * 2 + 1];
    out[0] = i_v;
    out[1] = k_v;
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
        for (int k_v = 1; k_v <= n_v(i_v); k_v++) {
            if (tuples)
                tuples[count * 2 + 0] = i_v;
            if (tuples)
                tuples[count * 2 + 1] = k_v;
            count++;
        }
    }
    return count;
}

static void start_y_v(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    const int i_v = s->y_v_loops[(element) * 2 + 0];
    const int k_v = s->y_v_loops[(element) * 2 + 1];
    real lower = 0, upper = GBM_INF;
    simulate_y_v(s, rng, element);
    if (y_v(i_v, k_v) < lower)
        y_v(i_v, k_v) = (int)real_ceil(lower);
    if (y_v(i_v, k_v) > upper)
        y_v(i_v, k_v) = (int)real_floor(upper);
}
GBM_HOST_START(start_y_v)

static void bounds_y_v(const struct state *s, int64_t element, real *lower, real *upper)
{
    const int i_v = s->y_v_loops[(element) * 2 + 0];
    const int k_v = s->y_v_loops[(element) * 2 + 1];
    *lower = 0;
    *upper = GBM_INF;
}
GBM_HOST_BOUNDS(bounds_y_v)

static bool check_y_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int i_v = s->y_v_loops[(element) * 2 + 0];
    const int k_v = s->y_v_loops[(element) * 2 + 1];
    if (!gbm_subscript(problem, "rate", 1, i_v, s->rate_v_n1))
        return false;
    if (y_v_seen(i_v, k_v) && (y_v(i_v, k_v) < 0))
        return gbm_problem_text(problem, "y[%d,%d] = %g is outside the support integer [0, inf] of dpois", i_v, k_v, (double)y_v(i_v, k_v));
    return true;
}
static bool check_y_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_y_v_in((const struct state *)state, element, problem);
}

#endif

/* b[j] ~ dnorm(0, 1)    visits.gbm:10:20
 * No closed form: slice sampling.
 * child: y[i,k] ~ dpois(sum(rate[i,]))
 */
struct conditional_b_v {
    const struct state *s;
    const struct gbm_team *team;
    long long element;
    int loop0; /* j */
    real c1; /* coefficient of x^2 */
    real lower, upper;
    real before; /* the old value */
    bool kept; /* what follows, by all lanes */
    real *columns;
#ifdef __CUDACC__
    enum { cells = GBM_KEPT_ROWS(3) * 3 };
    enum { room2 = GBM_KEPT_ROWS(3) };
#else
    long long room2;
#endif
    int rows2;
    real h2_2; /* j <= extent(rate, 2) */
};

#ifndef __CUDACC__
GBM_FN long long room_b_v(struct conditional_b_v *k_,
    const struct state *s, long long element)
{
    long long cells = 0;
    const int j_v = (int)(element) + 1;
    k_->room2 = 0;
    if (s->y_v_seen || s->y_v_stride == 0) {
        for (int i_v = 1; i_v <= *s->N_v; i_v++) {
            if ((n_v(i_v)) >= (1))
                k_->room2 += (long long)(n_v(i_v)) - (1) + 1;
        }
    }
    k_->room2 = gbm_whole_blocks(k_->room2);
    cells += k_->room2 * 3;
    return cells;
}
#endif

GBM_FN void prepare_b_v(struct conditional_b_v *k_,
    const struct state *s, const struct gbm_team *team,
    long long element)
{
    const int j_v = (int)(element) + 1;
    gbm_total c1 = 0;
    c1 += REAL_C(-0.5);
    gbm_total lower = -GBM_INF;
    gbm_total upper = GBM_INF;
    k_->s = s;
    k_->team = team;
    k_->element = element;
    k_->loop0 = j_v;
    k_->c1 = (real)c1;
    k_->lower = (real)lower;
    k_->upper = (real)upper;
#if GBM_KEEPS
    k_->kept = true;
    k_->before = (real)b_v(j_v);
    {
        k_->rows2 = 0;
        k_->h2_2 = 0;
        if (s->y_v_seen || s->y_v_stride == 0) {
            GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
                real shared = 0;
                if (1 <= n_v(i_v)) {
                    gbm_total k_v_sum = 0;
                    for (int k_v = 1; k_v <= s->rate_v_n2; k_v++) {
                        k_v_sum += k_v == j_v ? 0 : real_exp(b_v(k_v) * x_v(i_v, k_v));
                    }
                    shared = (real)k_v_sum;
                }
                for (int k1_v = 1; k1_v <= n_v(i_v); k1_v++) {
                    if (y_v_seen(i_v, k1_v)) {
                        GBM_KEEP_ROW(k_, 2)
                        real *const row = k_->columns + k_->rows2;
                        row[0 * k_->room2] = (real)(shared);
                        if (k_->rows2 == 0)
            k_->h2_2 = (real)(j_v <= s->rate_v_n2);
                        row[1 * k_->room2] = (real)(j_v <= s->rate_v_n2 ? x_v(i_v, j_v) : 0);
                        row[2 * k_->room2] = (real)(y_v(i_v, k1_v));
                        k_->rows2++;
                    }
                }
            }
        }
        gbm_fill_block(k_->columns, 3, k_->room2, k_->rows2);
    }
    GBM_KEPT_BY_ALL(k_, team);
#endif
}

GBM_INLINE real density_b_v(const void *context, real x)
{
    const struct conditional_b_v *k_ = (const struct conditional_b_v *)context;
    const struct state *s = k_->s;
    const struct gbm_team *team = k_->team;
    const int j_v = k_->loop0;
    gbm_total total = 0;
    total += k_->c1 * (gbm_square(x));
    if (GBM_KEPT(k_)) {
        GBM_LANES_BEGIN(total)
        {
            const real *const h1_2 = k_->columns + 0 * k_->room2;
            const real h2_2 = k_->h2_2;
            const real *const h3_2 = k_->columns + 1 * k_->room2;
            const real *const h4_2 = k_->columns + 2 * k_->room2;
            const int rows = k_->rows2;
            gbm_total lanes[GBM_BLOCK_ROWS] = {0};
            for (int from = 0; from < rows; from += GBM_BLOCK_ROWS) {
                GBM_SIMD
                for (int lane = 0; lane < GBM_BLOCK_ROWS; lane++) {
                    const int at = from + lane;
                    const gbm_total term = gbm_xlogy(h4_2[at], h1_2[at] + (h2_2 ? row_exp(h3_2[at] * x) : 0)) - h1_2[at] - (h2_2 ? row_exp(h3_2[at] * x) : 0);
                    lanes[lane] += at < rows ? term : 0;
                }
            }
            total += gbm_sum_lanes(lanes);
        }
        GBM_LANES_END(total, team)
        return (real)total;
    }
#ifdef __CUDACC__
    gbm_team_sync(team);
    b_v(j_v) = x;
    gbm_team_sync(team);
    {
        gbm_total sum = 0;
        if (s->y_v_seen || s->y_v_stride == 0) {
            GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
                for (int k_v = 1; k_v <= n_v(i_v); k_v++) {
                    if (y_v_seen(i_v, k_v)) {
                        gbm_total k_v_sum = 0;
                        for (int k1_v = 1; k1_v <= s->rate_v_n2; k1_v++) {
                            k_v_sum += row_exp(b_v(k1_v) * x_v(i_v, k1_v));
                        }
                        sum += gbm_xlogy(y_v(i_v, k_v), (real)k_v_sum) - (real)k_v_sum - gbm_lgamma(y_v(i_v, k_v) + 1);
                    }
                }
            }
        }
        total += gbm_team_sum(team, sum);
    }
#endif
    return (real)total;
}

GBM_FN void update_b_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    const int j_v = (int)(element) + 1;
    struct conditional_b_v k_;
    GBM_KEPT_COLUMNS(k_, room_b_v(&k_, s, element));
    prepare_b_v(&k_, s, team, element);
    real width = s->b_v_width[element];
    const real value = gbm_slice(rng, (real)b_v(j_v), &width, adapting, k_.lower, k_.upper, density_b_v, &k_);
    gbm_team_sync(team);
    s->b_v_width[element] = width;
    gbm_team_sync(team);
    b_v(j_v) = value;
    GBM_COLUMNS_END(k_);
}

/* y[i,k] ~ dpois(sum(rate[i,]))    visits.gbm:7:25
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
    GBM_ACT_DRAW(0, simulate_b_v)
    GBM_ACT_WEIGH(0, logdensity_b_v)
    GBM_ACT_DERIVE(1, derive_rate_v)
    GBM_ACT_DRAW(2, simulate_y_v)
    GBM_ACT_WEIGH(2, logdensity_y_v)
    }
    return 0;
}
GBM_KERNEL_FILTER
#elif defined GBM_CHAINS
#include "chains_cuda.h"
GBM_FN void sweep_of_chain(const struct gbm_sweeper *k)
{
    GBM_CHAIN_STEP(0, update_b_v)
}
GBM_FN void keep_of_chain(const struct gbm_sweeper *k)
{
    GBM_CHAIN_STEP(1, update_y_v)
    GBM_CHAIN_DERIVE(families, 1, derive_rate_v)
}
GBM_FN double density_of_chain(const struct gbm_sweeper *k)
{
    double sum = 0;
    GBM_CHAIN_DENSITY(0, logdensity_b_v)
    GBM_CHAIN_DENSITY(2, logdensity_y_v)
    return sum;
}
GBM_FN void known_of_chain(const struct gbm_sweeper *k, double *lp)
{
}
GBM_KERNEL_CHAINS
#else
GBM_KERNEL(update_b_v, 0)
GBM_KERNEL(update_y_v, 1)
GBM_KERNEL_DERIVE(derive_rate_v)
#endif
GBM_KERNEL_LOGDENSITY(logdensity_b_v)
GBM_KERNEL_LOGDENSITY(logdensity_y_v)
#endif

/* ---- the host's tables ---- */

static const struct gbm_variable variables[] = {
    {.name = "N", .where = "visits.gbm:6:15", .role = GBM_GIVEN, .integer = 1, .ndim = 0, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "n", .where = "visits.gbm:7:17", .role = GBM_GIVEN, .integer = 1, .ndim = 1, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "y", .where = "visits.gbm:7:25", .role = GBM_STOCHASTIC, .integer = 1, .ndim = 2, .observed = 1, .needed = 0, .maintained = 0, .indices = "i,k", .sizes = "N,"},
    {.name = "rate", .where = "visits.gbm:8:22", .role = GBM_DERIVED, .integer = 0, .ndim = 2, .observed = 0, .needed = 0, .maintained = 0, .indices = "i,j", .sizes = "N,J"},
    {.name = "J", .where = "visits.gbm:8:17", .role = GBM_GIVEN, .integer = 1, .ndim = 0, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "b", .where = "visits.gbm:10:20", .role = GBM_STOCHASTIC, .integer = 0, .ndim = 1, .observed = 0, .needed = 0, .maintained = 0, .indices = "j", .sizes = "J"},
    {.name = "x", .where = "visits.gbm:8:46", .role = GBM_GIVEN, .integer = 0, .ndim = 2, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "y loops", .where = "", .role = GBM_TABLE, .integer = 1, .ndim = 2, .family = 2},
    {.name = "b width", .where = "", .role = GBM_TUNING, .integer = 0, .ndim = 1, .family = 0},
    {.name = 0}};

static void bind_state(void *state, const struct gbm_binding *b)
{
    struct state *s = (struct state *)state;
    s->N_v = (int *)b[0].values;
    s->n_v = (int *)b[1].values;
    s->n_v_n1 = b[1].dim[0];
    s->y_v = (int *)b[2].values;
    s->y_v_n1 = b[2].dim[0];
    s->y_v_n2 = b[2].dim[1];
    s->y_v_seen = b[2].seen;
    s->y_v_stride = b[2].stride;
    s->rate_v = (real *)b[3].values;
    s->rate_v_n1 = b[3].dim[0];
    s->rate_v_n2 = b[3].dim[1];
    s->rate_v_stride = b[3].stride;
    s->J_v = (int *)b[4].values;
    s->b_v = (real *)b[5].values;
    s->b_v_n1 = b[5].dim[0];
    s->b_v_seen = b[5].seen;
    s->b_v_stride = b[5].stride;
    s->x_v = (real *)b[6].values;
    s->x_v_n1 = b[6].dim[0];
    s->x_v_n2 = b[6].dim[1];
    s->y_v_loops = (int *)b[7].values;
    s->b_v_width = (real *)b[8].values;
    s->b_v_width_stride = b[8].stride;
}
static void shift(void *state, int chain)
{
    shift_state((struct state *)state, chain);
}

static const int load_order[] = {0, 1, 4, 6, 7, 2, 3, 5, 8};

static double violation_b_v_in(const struct state *s, int64_t element)
{
    const int j_v = (int)(element) + 1;
    double sum = 0;
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
    const int j_v = (int)(element) + 1;
}
static void parents_rate_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int i_v = (int)gbm_quotient(element, *s->J_v) + 1;
    const int j_v = (int)gbm_rest(element, *s->J_v) + 1;
    {
        const int at1_ = j_v;
        if (1 && at1_ >= 1 && at1_ <= s->b_v_n1)
            visit(context, 5, (int64_t)((0) * s->b_v_n1 + at1_ - 1));
    }
}
static double violation_y_v_in(const struct state *s, int64_t element)
{
    const int i_v = s->y_v_loops[(element) * 2 + 0];
    const int k_v = s->y_v_loops[(element) * 2 + 1];
    double sum = 0;
    sum += gbm_outside(y_v(i_v, k_v), 0, GBM_INF);
    return sum;
}
static double violation_y_v(const void *state, int64_t element)
{
    return violation_y_v_in((const struct state *)state, element);
}

static void parents_y_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int i_v = s->y_v_loops[(element) * 2 + 0];
    const int k_v = s->y_v_loops[(element) * 2 + 1];
    for (int k1_v = 1; k1_v <= s->rate_v_n2; k1_v++) {
        {
            const int at1_ = i_v;
            const int at2_ = k1_v;
            if (1 && at1_ >= 1 && at1_ <= s->rate_v_n1 && at2_ >= 1 && at2_ <= s->rate_v_n2)
                visit(context, 3, (int64_t)(((0) * s->rate_v_n1 + at1_ - 1) * s->rate_v_n2 + at2_ - 1));
        }
    }
}
static const struct gbm_family families[] = {
    {.variable = 5,
     .text = "b[j] ~ dnorm(0, 1)",
     .where = "visits.gbm:10:20",
     .stochastic = 1, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 1, .table = -1,
     .enumerate = enumerate_b_v,
     .subscripts = subscripts_b_v,
     .cells = cells_b_v,
     .check = check_b_v,
     .logdensity = logdensity_b_v_host, .density_kernel = "logdensity_b_v_kernel",
     .start = start_b_v_host,
     .violation = violation_b_v,
     .parents = parents_b_v,
     .simulate = simulate_b_v_host},
    {.variable = 3,
     .text = "rate[i,j] <- exp(b[j] * x[i,j])",
     .where = "visits.gbm:8:22",
     .stochastic = 0, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 2, .table = -1,
     .enumerate = enumerate_rate_v,
     .subscripts = subscripts_rate_v,
     .cells = cells_rate_v,
     .check = check_rate_v,
     .parents = parents_rate_v,
     .derive = derive_rate_v_host, .derive_kernel = "derive_rate_v_kernel"},
    {.variable = 2,
     .text = "y[i,k] ~ dpois(sum(rate[i,]))",
     .where = "visits.gbm:7:25",
     .stochastic = 1, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 2, .table = 7,
     .enumerate = enumerate_y_v,
     .subscripts = subscripts_y_v,
     .cells = cells_y_v,
     .check = check_y_v,
     .logdensity = logdensity_y_v_host, .density_kernel = "logdensity_y_v_kernel",
     .start = start_y_v_host,
     .violation = violation_y_v,
     .bounds = bounds_y_v_host,
     .counts = true,
     .parents = parents_y_v,
     .simulate = simulate_y_v_host,
     .leaf = true,
     .repeats = 1},
};

static const struct gbm_inverse inverses[] = {
    {.variable = -1}};

static const struct gbm_sequence sequences[] = {
    {.nreaders = 0}};

static void family_work(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double J_v = *s->J_v;
    const double N_v = *s->N_v;
    const double rate_v = s->rate_v_n2;
    *out++ = 3 * J_v;
    *out++ = 11 * N_v * J_v;
    double i_v_count = 0;
    for (int i_v = 1; i_v <= N_v; i_v++) {
        i_v_count += (double)n_v(i_v);
    }
    *out++ = (24 * rate_v + 26) * i_v_count;
}

static int dimension_b_v(const void *state, int64_t element)
{
    return 1;
}
static void get_b_v_cell(const struct state *s, int64_t element, real **cell_, int **count_)
{
    const int j_v = (int)(element) + 1;
    *cell_ = &b_v(j_v);
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
    GBM_COLUMNS(k_, room_b_v(&k_, s, element));
    prepare_b_v(&k_, s, &gbm_alone, element);
    get_b_v(state, element, &before);
    if (*x >= k_.lower && *x <= k_.upper)
        value = (double)density_b_v(&k_, (real)*x);
    set_b_v(state, element, &before);
    GBM_COLUMNS_END(k_);
    return value;
}

static int64_t cost_update_b_v(const void *state)
{
    const struct state *s = (const struct state *)state;
    return (int64_t)((double)*s->N_v);
}

GBM_HOST_RUN(2, update_b_v, 0, 3, none)
GBM_HOST_RUN(3, update_y_v, 1, 1, none)
static void work_0(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double J_v = *s->J_v;
    const double rate_v = s->rate_v_n2;
    /* search draws */
    *out++ = J_v;
    *out++ = 42 * J_v;
    *out++ = 0;
    *out++ = 1;
    /* sum log density */
    double i_v_count = 0;
    for (int i_v = 1; i_v <= *s->N_v; i_v++) {
        i_v_count += (double)n_v(i_v);
    }
    *out++ = J_v * i_v_count;
    *out++ = J_v * (48 * rate_v + 54) * i_v_count;
    *out++ = 0;
    *out++ = 2 * J_v;
    *out++ = 2 * J_v * i_v_count;
    *out++ = 2 * J_v * rate_v * i_v_count;
    *out++ = 2 * J_v * rate_v * i_v_count;
}
static const struct gbm_phase phases_0[] = {
    {.text = "search: draws", .at_least = true,
     .nreads = 0, .nwrites = 1,
     .writes = (const int[]){0}},
    {.text = "sum: log density of y[i,k] ~ dpois(sum(rate[i,]))", .at_least = true, .counted = 3,
     .nreads = 3, .nwrites = 0, .reads = (const int[]){2, 5, 6}},
};

static void work_1(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double rate_v = s->rate_v_n2;
    /* map draws from its distribution */
    double i_v_count = 0;
    for (int i_v = 1; i_v <= *s->N_v; i_v++) {
        i_v_count += (double)n_v(i_v);
    }
    *out++ = i_v_count;
    *out++ = 12 * rate_v * i_v_count + 40 * i_v_count;
    *out++ = 0;
    *out++ = 1;
    *out++ = rate_v * i_v_count;
    *out++ = rate_v * i_v_count;
}
static const struct gbm_phase phases_1[] = {
    {.text = "map: draws from its distribution",
     .nreads = 2, .nwrites = 1, .reads = (const int[]){5, 6},
     .writes = (const int[]){2}},
};


static const int waits_0[] = {-1};
static const int waits_1[] = {0, -1};
static const struct gbm_step steps[] = {
    {.kind = GBM_STEP_MAP, .name = "update_b_v",
     .variable = "b", .sampler = "slice",
     .family = 0, .number = 0, .sequential = 1, .leaf = 0, .inverse = -1,
     .text = "b[j] ~ dnorm(0, 1)", .trials = true,
     .run = update_b_v_run, .blocks = 3, .normals = GBM_NORMALS_FIRST(none),
     .block_size = dimension_b_v, .block_get = get_b_v, .block_set = set_b_v, .conditional = conditional_b_v_at,
     .cost = cost_update_b_v,
     .nphases = 2, .phases = phases_0, .work = work_0,
     .waits = waits_0},
    {.kind = GBM_STEP_MAP, .name = "update_y_v",
     .variable = "y", .sampler = "forward draw",
     .family = 2, .number = 1, .sequential = 0, .leaf = 1, .inverse = -1,
     .text = "y[i,k] ~ dpois(sum(rate[i,]))",
     .run = update_y_v_run, .blocks = 1, .normals = GBM_NORMALS_FIRST(none),
     .nphases = 1, .phases = phases_1, .work = work_1,
     .waits = waits_1},
};

GBM_HOST_AHEAD(gbm_draw_ahead)

#if !defined GBM_PART || GBM_PART == 0
