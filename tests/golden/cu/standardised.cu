/* standardised: written by gbmc from standardised.gbm. */
#include "gbm.h"
#include "team.h"

/* All nodes of one chain. Arrays are row-major; macros give them
 * the model's subscripts, from 1. */
struct state {
    int *N_v; /* N */
    int *y_v; /* y[y_v_n1] */
    int y_v_n1;
    const unsigned char *y_v_seen;
    long long y_v_stride;
    real *b_v; /* b */
    const unsigned char *b_v_seen;
    long long b_v_stride;
    real *z_v; /* z[z_v_n1] */
    int z_v_n1;
    const unsigned char *z_v_seen;
    long long z_v_stride;
    int *g_v; /* g[g_v_n1] */
    int g_v_n1;
    int *J_v; /* J */
    real *copies_3_v; /* copies.3[copies_3_v_n1] */
    int copies_3_v_n1;
    real *b_v_width; /* tuned in warm-up */
    long long b_v_width_stride;
    real *z_v_width; /* tuned in warm-up */
    long long z_v_width_stride;
    int *index0_start; /* where z[g[i]] hits in y */
    int *index0_item; /* where z[g[i]] hits in y */
};

#include "skeleton.h"

#define y_v(at1) s->y_v[(at1) - 1]
#define y_v_seen(at1) (s->y_v_seen ? s->y_v_seen[(at1) - 1] == 1 : s->y_v_stride == 0)
#define b_v_seen() (s->b_v_seen ? s->b_v_seen[0] == 1 : s->b_v_stride == 0)
#define z_v(at1) s->z_v[(at1) - 1]
#define z_v_seen(at1) (s->z_v_seen ? s->z_v_seen[(at1) - 1] == 1 : s->z_v_stride == 0)
#define g_v(at1) s->g_v[(at1) - 1]
#define copies_3_v(at1) s->copies_3_v[(at1) - 1]

/* From chain 0 to another. */
GBM_FN void shift_state(struct state *s, int chain)
{
    s->y_v += chain * s->y_v_stride;
    s->b_v += chain * s->b_v_stride;
    s->z_v += chain * s->z_v_stride;
    s->b_v_width += chain * s->b_v_width_stride;
    s->z_v_width += chain * s->z_v_width_stride;
}

#ifdef GBM_KNOWN
/* Of arrays, so that loops over few cells are written out. */
GBM_FN void know_state(struct state *s)
{
    GBM_KNOW_NUMBER(2, s->N_v)
    GBM_KNOW(3, s->y_v_seen, 0)
    GBM_KNOW(4, s->y_v_stride, known - 1)
    GBM_KNOW(5, s->y_v_n1, known - 1)
    GBM_KNOW(6, s->b_v_seen, 0)
    GBM_KNOW(7, s->b_v_stride, known - 1)
    GBM_KNOW(9, s->z_v_seen, 0)
    GBM_KNOW(10, s->z_v_stride, known - 1)
    GBM_KNOW(11, s->z_v_n1, known - 1)
    GBM_KNOW(14, s->g_v_n1, known - 1)
    GBM_KNOW_NUMBER(17, s->J_v)
    GBM_KNOW(20, s->copies_3_v_n1, known - 1)
    GBM_KNOW(22, s->b_v_width_stride, known - 1)
    GBM_KNOW(25, s->z_v_width_stride, known - 1)
}
#endif

/* the cell that z[g[i]] hits, by instance of
 * y[i] ~ dpois(exp(b * (z[g[i]] - mean(z[])) / sd(z[]))) */
GBM_FN long long index0(const struct state *s, long long element)
{
    const int i_v = (int)(element) + 1;
    if ((g_v(i_v)) < 1 || (g_v(i_v)) > s->z_v_n1)
        return -1;
    return (g_v(i_v)) - 1;
}
#ifndef __CUDACC__
GBM_HOST_CELL(index0)
#endif

/* copies.3     */

GBM_FN void derive_copies_3_v(const struct state *s, const struct gbm_team *team, long long element)
{
    GBM_SCRATCH(values, small, gbm_nearest(gbm_smaller(*s->N_v, 20000)));
    for (int i_v = 1; i_v <= gbm_nearest(gbm_smaller(*s->N_v, 20000)); i_v++) {
        values[i_v - 1] = y_v(i_v);
    }
    GBM_SCRATCH(values1, small1, gbm_nearest(gbm_smaller(*s->N_v, 20000)));
    for (int i1_v = 1; i1_v <= gbm_nearest(gbm_smaller(*s->N_v, 20000)); i1_v++) {
        values1[i1_v - 1] = g_v(i1_v);
    }
    GBM_SCRATCH(values2, small2, gbm_nearest(gbm_smaller(*s->N_v, 20000)));
    for (int i2_v = 1; i2_v <= gbm_nearest(gbm_smaller(*s->N_v, 20000)); i2_v++) {
        values2[i2_v - 1] = 0;
    }
    GBM_SCRATCH(values3, small3, gbm_nearest(gbm_smaller(*s->N_v, 20000)));
    for (int i3_v = 1; i3_v <= gbm_nearest(gbm_smaller(*s->N_v, 20000)); i3_v++) {
        values3[i3_v - 1] = 0;
    }
    GBM_SCRATCH(result, result_small, (gbm_nearest(gbm_smaller(*s->N_v, 20000))) * (1));
    gbm_copies(gbm_smaller(*s->N_v, 20000), values, values1, values2, values3, result);
    for (int row_v = 1; row_v <= gbm_nearest(gbm_smaller(*s->N_v, 20000)); row_v++) {
        copies_3_v(row_v) = result[row_v - 1];
    }
}
#ifndef __CUDACC__
GBM_HOST_DERIVE(derive_copies_3_v)
#endif

#ifndef __CUDACC__
static int64_t cells_copies_3_v_in(const struct state *s, int64_t element, int64_t *out)
{
    int64_t count = 0;
    for (int row_v = 1; row_v <= gbm_nearest(gbm_smaller(*s->N_v, 20000)); row_v++) {
        if (out)
            out[count] = (row_v) - 1;
        count++;
    }
    return count;
}
static int64_t cells_copies_3_v(const void *state, int64_t element, int64_t *out)
{
    return cells_copies_3_v_in((const struct state *)state, element, out);
}

static void subscripts_copies_3_v_in(const struct state *s, int64_t element, int *out)
{
    out[0] = gbm_nearest(gbm_smaller(*s->N_v, 20000));
}
static void subscripts_copies_3_v(const void *state, int64_t element, int *out)
{
    subscripts_copies_3_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_copies_3_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    count++;
    return count;
}

static bool check_copies_3_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    if (gbm_is_missing(*s->N_v))
        return gbm_problem_text(problem, "N is missing in the data, but %s reads it", "");
    if (gbm_is_missing(*s->N_v))
        return gbm_problem_text(problem, "N is missing in the data, but %s reads it", "");
    if (gbm_is_missing(*s->N_v))
        return gbm_problem_text(problem, "N is missing in the data, but %s reads it", "");
    if (gbm_is_missing(*s->N_v))
        return gbm_problem_text(problem, "N is missing in the data, but %s reads it", "");
    if (gbm_is_missing(*s->N_v))
        return gbm_problem_text(problem, "N is missing in the data, but %s reads it", "");
    return true;
}
static bool check_copies_3_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_copies_3_v_in((const struct state *)state, element, problem);
}

#endif

/* b ~ dnorm(0, 1)    standardised.gbm:8:3 */

GBM_FN real logdensity_b_v(const struct state *s, long long element)
{
    return -REAL_C(0.5) * gbm_square(*s->b_v) - REAL_C(0.9189385332046727);
}
#ifndef __CUDACC__
GBM_HOST_LOGDENSITY(logdensity_b_v)
#endif

GBM_FN void simulate_b_v(const struct state *s, struct gbm_rng *rng, long long element)
{
    const real mu_v = 0;
    const real tau_v = 1;
    const real normal = gbm_draw_normal(rng);
    *s->b_v = (mu_v + normal / real_sqrt(tau_v));
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
    real lower = -GBM_INF, upper = GBM_INF;
    const real mu_v = 0;
    const real tau_v = 1;
    *s->b_v = gbm_start(rng, mu_v, lower, upper, (real)spread);
}
GBM_HOST_START(start_b_v)

static bool check_b_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    return true;
}
static bool check_b_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_b_v_in((const struct state *)state, element, problem);
}

#endif

/* z[j] ~ dnorm(0, 1)    standardised.gbm:7:20 */

GBM_FN real logdensity_z_v(const struct state *s, long long element)
{
    const int j_v = (int)(element) + 1;
    return -REAL_C(0.5) * gbm_square(z_v(j_v)) - REAL_C(0.9189385332046727);
}
#ifndef __CUDACC__
GBM_HOST_LOGDENSITY(logdensity_z_v)
#endif

GBM_FN void simulate_z_v(const struct state *s, struct gbm_rng *rng, long long element)
{
    const int j_v = (int)(element) + 1;
    const real mu_v = 0;
    const real tau_v = 1;
    const real normal = gbm_draw_normal(rng);
    z_v(j_v) = (mu_v + normal / real_sqrt(tau_v));
}
#ifndef __CUDACC__
GBM_HOST_SIMULATE(simulate_z_v)
#endif

#ifndef __CUDACC__
static int64_t cells_z_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int j_v = (int)(element) + 1;
    int64_t count = 0;
    if (out)
        out[count] = (j_v) - 1;
    count++;
    return count;
}
static int64_t cells_z_v(const void *state, int64_t element, int64_t *out)
{
    return cells_z_v_in((const struct state *)state, element, out);
}

static void subscripts_z_v_in(const struct state *s, int64_t element, int *out)
{
    const int j_v = (int)(element) + 1;
    out[0] = j_v;
}
static void subscripts_z_v(const void *state, int64_t element, int *out)
{
    subscripts_z_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_z_v(const void *state, int *tuples)
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

static void start_z_v(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    const int j_v = (int)(element) + 1;
    real lower = -GBM_INF, upper = GBM_INF;
    const real mu_v = 0;
    const real tau_v = 1;
    z_v(j_v) = gbm_start(rng, mu_v, lower, upper, (real)spread);
}
GBM_HOST_START(start_z_v)

static bool check_z_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int j_v = (int)(element) + 1;
    return true;
}
static bool check_z_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_z_v_in((const struct state *)state, element, problem);
}

#endif

/* y[i] ~ dpois(exp(b * (z[g[i]] - mean(z[])) / sd(z[])))    standardised.gbm:5:5 */

GBM_FN real logdensity_y_v(const struct state *s, long long element)
{
    const int i_v = (int)(element) + 1;
    if (!(y_v(i_v) >= 0))
        return -GBM_INF;
    gbm_total k_v_sum = 0;
    for (int k_v = 1; k_v <= s->z_v_n1; k_v++) {
        k_v_sum += z_v(k_v);
    }
    const real once = gbm_sd(s->z_v_n1, s->z_v + ((1) - 1));
    return (real)y_v(i_v) * *s->b_v * (z_v(g_v(i_v)) - (real)k_v_sum / (real)s->z_v_n1) / once - real_exp(*s->b_v * (z_v(g_v(i_v)) - (real)k_v_sum / (real)s->z_v_n1) / once) - gbm_lgamma(y_v(i_v) + 1);
}
#ifndef __CUDACC__
GBM_HOST_LOGDENSITY(logdensity_y_v)
#endif

GBM_FN void simulate_y_v(const struct state *s, struct gbm_rng *rng, long long element)
{
    const int i_v = (int)(element) + 1;
    gbm_total k_v_sum = 0;
    for (int k_v = 1; k_v <= s->z_v_n1; k_v++) {
        k_v_sum += z_v(k_v);
    }
    const real lambda_v = real_exp(*s->b_v * (z_v(g_v(i_v)) - (real)k_v_sum / (real)s->z_v_n1) / (gbm_sd(s->z_v_n1, s->z_v + ((1) - 1))));
    const real poisson = gbm_draw_poisson(rng, lambda_v);
    y_v(i_v) = gbm_whole(poisson);
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
    real lower = 0, upper = GBM_INF;
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
    *upper = GBM_INF;
}
GBM_HOST_BOUNDS(bounds_y_v)

static bool check_y_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int i_v = (int)(element) + 1;
    if (!gbm_subscript(problem, "g", 1, i_v, s->g_v_n1))
        return false;
    if (gbm_is_missing(g_v(i_v)))
        return gbm_problem_text(problem, "g[%d] is missing in the data, but %s reads it", i_v, "standardised.gbm:5:5");
    if (!gbm_subscript(problem, "z", 1, g_v(i_v), s->z_v_n1))
        return false;
    if (y_v_seen(i_v) && (y_v(i_v) < 0))
        return gbm_problem_text(problem, "y[%d] = %g is outside the support integer [0, inf] of dpois", i_v, (double)y_v(i_v));
    return true;
}
static bool check_y_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_y_v_in((const struct state *)state, element, problem);
}

#endif

/* b ~ dnorm(0, 1)    standardised.gbm:8:3
 * No closed form: slice sampling.
 * child: y[i] ~ dpois(exp(b * (z[g[i]] - mean(z[])) / sd(z[])))
 */
struct conditional_b_v {
    const struct state *s;
    const struct gbm_team *team;
    long long element;
    real c1; /* coefficient of x^2 */
    real lower, upper;
    real before; /* the old value */
    bool kept; /* what follows, by all lanes */
    real *columns;
#ifdef __CUDACC__
    enum { cells = GBM_KEPT_ROWS(2) * 2 };
    enum { room2 = GBM_KEPT_ROWS(2) };
#else
    long long room2;
#endif
    int rows2;
    real slope2; /* y[i] * (z[g[i]] - sum(k in 1:extent(z, 1), z[k]) / extent(z, 1)) / sd([k in 1:extent(z, 1): z[k]]) */
};

#ifndef __CUDACC__
GBM_FN long long room_b_v(struct conditional_b_v *k_,
    const struct state *s, long long element)
{
    long long cells = 0;
    k_->room2 = 0;
    if (s->y_v_seen || s->y_v_stride == 0) {
        if ((*s->N_v) >= (1))
            k_->room2 += (long long)(*s->N_v) - (1) + 1;
    }
    k_->room2 = gbm_whole_blocks(k_->room2);
    cells += k_->room2 * 2;
    return cells;
}
#endif

GBM_FN void prepare_b_v(struct conditional_b_v *k_,
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
#if GBM_KEEPS
    k_->kept = true;
    k_->before = (real)*s->b_v;
    {
        k_->rows2 = 0;
        gbm_total slope = 0;
        gbm_total k_v_sum = 0;
        GBM_UNROLL_LOADS
        GBM_TEAM_FOR(k_v, 1, (s->z_v_n1) + 1, team) {
            k_v_sum += z_v(k_v);
        }
        k_v_sum = gbm_team_sum(team, k_v_sum);
        const real shared = (real)k_v_sum;
        const real shared1 = gbm_sd(s->z_v_n1, s->z_v + ((1) - 1));
        if (s->y_v_seen || s->y_v_stride == 0) {
            GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
                if (y_v_seen(i_v)) {
                    const real copies = s->y_v_stride != 0 || i_v > 20000 ? 1 : copies_3_v(i_v);
                    if (copies > 0) {
                        GBM_KEEP_ROW(k_, 2)
                        real *const row = k_->columns + k_->rows2;
                        row[0 * k_->room2] = (real)((z_v(g_v(i_v)) - shared / (real)s->z_v_n1) / shared1);
                        slope += copies * (real)y_v(i_v) * (z_v(g_v(i_v)) - shared / (real)s->z_v_n1) / shared1;
                        row[1 * k_->room2] = copies;
                        k_->rows2++;
                    }
                }
            }
        }
        gbm_fill_block(k_->columns, 2, k_->room2, k_->rows2);
        k_->slope2 = (real)slope;
    }
    GBM_KEPT_BY_ALL(k_, team);
#endif
}

GBM_INLINE real density_b_v(const void *context, real x)
{
    const struct conditional_b_v *k_ = (const struct conditional_b_v *)context;
    const struct state *s = k_->s;
    const struct gbm_team *team = k_->team;
    gbm_total total = 0;
    total += k_->c1 * (gbm_square(x));
    if (GBM_KEPT(k_)) {
        const real moved_ = x - k_->before;
        GBM_LANES_BEGIN(total)
        total += k_->slope2 * moved_;
        {
            const real *const h1_2 = k_->columns + 0 * k_->room2;
            const real *const copies_2 = k_->columns + 1 * k_->room2;
            const int rows = k_->rows2;
            gbm_total lanes[GBM_BLOCK_ROWS] = {0};
            for (int from = 0; from < rows; from += GBM_BLOCK_ROWS) {
                GBM_SIMD
                for (int lane = 0; lane < GBM_BLOCK_ROWS; lane++) {
                    const int at = from + lane;
                    const gbm_total term = copies_2[at] * (-row_exp(h1_2[at] * x));
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
    *s->b_v = x;
    gbm_team_sync(team);
    {
        gbm_total sum = 0;
        gbm_total k_v_sum = 0;
        GBM_UNROLL_LOADS
        GBM_TEAM_FOR(k_v, 1, (s->z_v_n1) + 1, team) {
            k_v_sum += z_v(k_v);
        }
        k_v_sum = gbm_team_sum(team, k_v_sum);
        const real shared = (real)k_v_sum;
        const real shared1 = gbm_sd(s->z_v_n1, s->z_v + ((1) - 1));
        if (s->y_v_seen || s->y_v_stride == 0) {
            GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
                if (y_v_seen(i_v)) {
                    const real copies = s->y_v_stride != 0 || i_v > 20000 ? 1 : copies_3_v(i_v);
                    if (copies > 0) {
                        sum += copies * ((real)y_v(i_v) * *s->b_v * (z_v(g_v(i_v)) - shared / (real)s->z_v_n1) / shared1 - row_exp(*s->b_v * (z_v(g_v(i_v)) - shared / (real)s->z_v_n1) / shared1) - gbm_lgamma(y_v(i_v) + 1));
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
    struct conditional_b_v k_;
    GBM_KEPT_COLUMNS(k_, room_b_v(&k_, s, element));
    prepare_b_v(&k_, s, team, element);
    real width = s->b_v_width[element];
    const real value = gbm_slice(rng, (real)*s->b_v, &width, adapting, k_.lower, k_.upper, density_b_v, &k_);
    gbm_team_sync(team);
    s->b_v_width[element] = width;
    gbm_team_sync(team);
    *s->b_v = value;
    GBM_COLUMNS_END(k_);
}

/* z[j] ~ dnorm(0, 1)    standardised.gbm:7:20
 * No closed form: slice sampling.
 * child: y[i] ~ dpois(exp(b * (z[g[i]] - mean(z[])) / sd(z[])))
 */
struct conditional_z_v {
    const struct state *s;
    const struct gbm_team *team;
    long long element;
    int loop0; /* j */
    real c1; /* coefficient of x^2 */
    real lower, upper;
};

GBM_FN void prepare_z_v(struct conditional_z_v *k_,
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
}

GBM_INLINE real density_z_v(const void *context, real x)
{
    const struct conditional_z_v *k_ = (const struct conditional_z_v *)context;
    const struct state *s = k_->s;
    const struct gbm_team *team = k_->team;
    const int j_v = k_->loop0;
    gbm_total total = 0;
    total += k_->c1 * (gbm_square(x));
    gbm_team_sync(team);
    z_v(j_v) = x;
    gbm_team_sync(team);
    {
        gbm_total sum = 0;
        gbm_total k_v_sum = 0;
        GBM_UNROLL_LOADS
        GBM_TEAM_FOR(k_v, 1, (s->z_v_n1) + 1, team) {
            k_v_sum += z_v(k_v);
        }
        k_v_sum = gbm_team_sum(team, k_v_sum);
        const real shared = (real)k_v_sum;
        const real shared1 = gbm_sd(s->z_v_n1, s->z_v + ((1) - 1));
        if (s->y_v_seen || s->y_v_stride == 0) {
            GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
                if (y_v_seen(i_v)) {
                    const real copies = s->y_v_stride != 0 || i_v > 20000 ? 1 : copies_3_v(i_v);
                    if (copies > 0) {
                        sum += copies * ((real)y_v(i_v) * *s->b_v * (z_v(g_v(i_v)) - shared / (real)s->z_v_n1) / shared1 - row_exp(*s->b_v * (z_v(g_v(i_v)) - shared / (real)s->z_v_n1) / shared1) - gbm_lgamma(y_v(i_v) + 1));
                    }
                }
            }
        }
        total += gbm_team_sum(team, sum);
    }
    return (real)total;
}

GBM_FN void update_z_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    const int j_v = (int)(element) + 1;
    struct conditional_z_v k_;
    prepare_z_v(&k_, s, team, element);
    real width = s->z_v_width[element];
    const real value = gbm_slice(rng, (real)z_v(j_v), &width, adapting, k_.lower, k_.upper, density_z_v, &k_);
    gbm_team_sync(team);
    s->z_v_width[element] = width;
    gbm_team_sync(team);
    z_v(j_v) = value;
}

/* y[i] ~ dpois(exp(b * (z[g[i]] - mean(z[])) / sd(z[])))    standardised.gbm:5:5
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
    GBM_ACT_DRAW(1, simulate_b_v)
    GBM_ACT_WEIGH(1, logdensity_b_v)
    GBM_ACT_DRAW(2, simulate_z_v)
    GBM_ACT_WEIGH(2, logdensity_z_v)
    GBM_ACT_DRAW(3, simulate_y_v)
    GBM_ACT_WEIGH(3, logdensity_y_v)
    }
    return 0;
}
GBM_KERNEL_FILTER
#elif defined GBM_CHAINS
#include "chains_cuda.h"
GBM_FN void sweep_of_chain(const struct gbm_sweeper *k)
{
    GBM_CHAIN_STEP(0, update_b_v)
    GBM_CHAIN_STEP(1, update_z_v)
}
GBM_FN void keep_of_chain(const struct gbm_sweeper *k)
{
    GBM_CHAIN_STEP(2, update_y_v)
}
GBM_FN double density_of_chain(const struct gbm_sweeper *k)
{
    double sum = 0;
    GBM_CHAIN_DENSITY(1, logdensity_b_v)
    GBM_CHAIN_DENSITY(2, logdensity_z_v)
    GBM_CHAIN_DENSITY(3, logdensity_y_v)
    return sum;
}
GBM_FN void known_of_chain(const struct gbm_sweeper *k, double *lp)
{
}
GBM_KERNEL_CHAINS
#else
GBM_KERNEL(update_b_v, 0)
GBM_KERNEL(update_z_v, 1)
GBM_KERNEL(update_y_v, 2)
GBM_KERNEL_CELL(index0)
#endif
GBM_KERNEL_LOGDENSITY(logdensity_b_v)
GBM_KERNEL_LOGDENSITY(logdensity_z_v)
GBM_KERNEL_LOGDENSITY(logdensity_y_v)
#endif
