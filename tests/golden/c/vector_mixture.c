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
#include "categorical.h"
#include "slice.h"
#include "ahead.h"
#include "normals.h"
#include "linear.h"
#include "row_terms.h"
#include "poisson.h"
#include "binomial.h"
#include "dirichlet.h"
#include "wishart.h"
#include "multi_normal.h"

/* vector_mixture: written by gbmc from vector_mixture.gbm. */
#include "gbm.h"
#include "team.h"
#include "relabel.h"

/* All nodes of one chain. Arrays are row-major; macros give them
 * the model's subscripts, from 1. */
struct state {
    real *pi_v; /* pi[pi_v_n1] */
    int pi_v_n1;
    const unsigned char *pi_v_seen;
    long long pi_v_stride;
    real *a_v; /* a[a_v_n1] */
    int a_v_n1;
    int *K_v; /* K */
    real *mu_v; /* mu[mu_v_n1, mu_v_n2] */
    int mu_v_n1;
    int mu_v_n2;
    const unsigned char *mu_v_seen;
    long long mu_v_stride;
    int *P_v; /* P */
    real *m0_v; /* m0[m0_v_n1] */
    int m0_v_n1;
    real *T0_v; /* T0[T0_v_n1, T0_v_n2] */
    int T0_v_n1;
    int T0_v_n2;
    real *Q_v; /* Q[Q_v_n1, Q_v_n2, Q_v_n3] */
    int Q_v_n1;
    int Q_v_n2;
    int Q_v_n3;
    const unsigned char *Q_v_seen;
    long long Q_v_stride;
    real *R_v; /* R[R_v_n1, R_v_n2] */
    int R_v_n1;
    int R_v_n2;
    real *df_v; /* df */
    int *N_v; /* N */
    int *z_v; /* z[z_v_n1] */
    int z_v_n1;
    const unsigned char *z_v_seen;
    long long z_v_stride;
    real *x_v; /* x[x_v_n1, x_v_n2] */
    int x_v_n1;
    int x_v_n2;
    const unsigned char *x_v_seen;
    long long x_v_stride;
    real *table_1_v; /* table.1[table_1_v_n1] */
    int table_1_v_n1;
    long long table_1_v_stride;
    real *table_2_v; /* table.2[table_2_v_n1] */
    int table_2_v_n1;
    long long table_2_v_stride;
    real *table_3_v; /* table.3[table_3_v_n1, table_3_v_n2] */
    int table_3_v_n1;
    int table_3_v_n2;
    long long table_3_v_stride;
    real *table_4_v; /* table.4[table_4_v_n1, table_4_v_n2] */
    int table_4_v_n1;
    int table_4_v_n2;
    long long table_4_v_stride;
    real *table_5_v; /* table.5[table_5_v_n1, table_5_v_n2] */
    int table_5_v_n1;
    int table_5_v_n2;
    long long table_5_v_stride;
    real *table_6_v; /* table.6[table_6_v_n1, table_6_v_n2, table_6_v_n3] */
    int table_6_v_n1;
    int table_6_v_n2;
    int table_6_v_n3;
    long long table_6_v_stride;
    real *table_7_v; /* table.7[table_7_v_n1] */
    int table_7_v_n1;
    long long table_7_v_stride;
    real *table_8_v; /* table.8[table_8_v_n1] */
    int table_8_v_n1;
    long long table_8_v_stride;
    real *exchange_z_v_tuning; /* whether the move pays, from warm-up */
    long long exchange_z_v_tuning_stride;
    int *index0_start; /* where table.2[z[i]] hits in z */
    long long index0_start_stride;
    int *index0_item; /* where table.2[z[i]] hits in z */
    long long index0_item_stride;
};

#include "skeleton.h"

#define pi_v(at1) s->pi_v[(at1) - 1]
#define pi_v_seen(at1) (s->pi_v_seen ? s->pi_v_seen[(at1) - 1] == 1 : s->pi_v_stride == 0)
#define a_v(at1) s->a_v[(at1) - 1]
#define mu_v(at1, at2) s->mu_v[((long long)(at1) - 1) * s->mu_v_n2 + (at2) - 1]
#define mu_v_seen(at1, at2) (s->mu_v_seen ? s->mu_v_seen[((long long)(at1) - 1) * s->mu_v_n2 + (at2) - 1] == 1 : s->mu_v_stride == 0)
#define m0_v(at1) s->m0_v[(at1) - 1]
#define T0_v(at1, at2) s->T0_v[((long long)(at1) - 1) * s->T0_v_n2 + (at2) - 1]
#define Q_v(at1, at2, at3) s->Q_v[(((long long)(at1) - 1) * s->Q_v_n2 + (at2) - 1) * s->Q_v_n3 + (at3) - 1]
#define Q_v_seen(at1, at2, at3) (s->Q_v_seen ? s->Q_v_seen[(((long long)(at1) - 1) * s->Q_v_n2 + (at2) - 1) * s->Q_v_n3 + (at3) - 1] == 1 : s->Q_v_stride == 0)
#define R_v(at1, at2) s->R_v[((long long)(at1) - 1) * s->R_v_n2 + (at2) - 1]
#define z_v(at1) s->z_v[(at1) - 1]
#define z_v_seen(at1) (s->z_v_seen ? s->z_v_seen[(at1) - 1] == 1 : s->z_v_stride == 0)
#define z_v_live(at1) (!s->z_v_seen || s->z_v_seen[(at1) - 1] != 2)
#define x_v(at1, at2) s->x_v[((long long)(at1) - 1) * s->x_v_n2 + (at2) - 1]
#define x_v_seen(at1, at2) (s->x_v_seen ? s->x_v_seen[((long long)(at1) - 1) * s->x_v_n2 + (at2) - 1] == 1 : s->x_v_stride == 0)
#define table_1_v(at1) s->table_1_v[(at1) - 1]
#define table_2_v(at1) s->table_2_v[(at1) - 1]
#define table_3_v(at1, at2) s->table_3_v[((long long)(at1) - 1) * s->table_3_v_n2 + (at2) - 1]
#define table_4_v(at1, at2) s->table_4_v[((long long)(at1) - 1) * s->table_4_v_n2 + (at2) - 1]
#define table_5_v(at1, at2) s->table_5_v[((long long)(at1) - 1) * s->table_5_v_n2 + (at2) - 1]
#define table_6_v(at1, at2, at3) s->table_6_v[(((long long)(at1) - 1) * s->table_6_v_n2 + (at2) - 1) * s->table_6_v_n3 + (at3) - 1]
#define table_7_v(at1) s->table_7_v[(at1) - 1]
#define table_8_v(at1) s->table_8_v[(at1) - 1]

/* From chain 0 to another. */
GBM_FN void shift_state(struct state *s, int chain)
{
    s->pi_v += chain * s->pi_v_stride;
    s->mu_v += chain * s->mu_v_stride;
    s->Q_v += chain * s->Q_v_stride;
    s->z_v += chain * s->z_v_stride;
    s->x_v += chain * s->x_v_stride;
    s->table_1_v += chain * s->table_1_v_stride;
    s->table_2_v += chain * s->table_2_v_stride;
    s->table_3_v += chain * s->table_3_v_stride;
    s->table_4_v += chain * s->table_4_v_stride;
    s->table_5_v += chain * s->table_5_v_stride;
    s->table_6_v += chain * s->table_6_v_stride;
    s->table_7_v += chain * s->table_7_v_stride;
    s->table_8_v += chain * s->table_8_v_stride;
    s->exchange_z_v_tuning += chain * s->exchange_z_v_tuning_stride;
    s->index0_start += chain * s->index0_start_stride;
    s->index0_item += chain * s->index0_item_stride;
}

#ifdef GBM_KNOWN
/* Of arrays, so that loops over few cells are written out. */
GBM_FN void know_state(struct state *s)
{
    GBM_KNOW(0, s->pi_v_seen, 0)
    GBM_KNOW(1, s->pi_v_stride, known - 1)
    GBM_KNOW(2, s->pi_v_n1, known - 1)
    GBM_KNOW(5, s->a_v_n1, known - 1)
    GBM_KNOW_NUMBER(8, s->K_v)
    GBM_KNOW(9, s->mu_v_seen, 0)
    GBM_KNOW(10, s->mu_v_stride, known - 1)
    GBM_KNOW(11, s->mu_v_n1, known - 1)
    GBM_KNOW(12, s->mu_v_n2, known - 1)
    GBM_KNOW_NUMBER(15, s->P_v)
    GBM_KNOW(18, s->m0_v_n1, known - 1)
    GBM_KNOW(21, s->T0_v_n1, known - 1)
    GBM_KNOW(22, s->T0_v_n2, known - 1)
    GBM_KNOW(23, s->Q_v_seen, 0)
    GBM_KNOW(24, s->Q_v_stride, known - 1)
    GBM_KNOW(25, s->Q_v_n1, known - 1)
    GBM_KNOW(26, s->Q_v_n2, known - 1)
    GBM_KNOW(27, s->Q_v_n3, known - 1)
    GBM_KNOW(30, s->R_v_n1, known - 1)
    GBM_KNOW(31, s->R_v_n2, known - 1)
    GBM_KNOW_NUMBER(37, s->N_v)
    GBM_KNOW(38, s->z_v_seen, 0)
    GBM_KNOW(39, s->z_v_stride, known - 1)
    GBM_KNOW(40, s->z_v_n1, known - 1)
    GBM_KNOW(41, s->x_v_seen, 0)
    GBM_KNOW(42, s->x_v_stride, known - 1)
    GBM_KNOW(43, s->x_v_n1, known - 1)
    GBM_KNOW(44, s->x_v_n2, known - 1)
    GBM_KNOW(46, s->table_1_v_stride, known - 1)
    GBM_KNOW(47, s->table_1_v_n1, known - 1)
    GBM_KNOW(49, s->table_2_v_stride, known - 1)
    GBM_KNOW(50, s->table_2_v_n1, known - 1)
    GBM_KNOW(52, s->table_3_v_stride, known - 1)
    GBM_KNOW(53, s->table_3_v_n1, known - 1)
    GBM_KNOW(54, s->table_3_v_n2, known - 1)
    GBM_KNOW(56, s->table_4_v_stride, known - 1)
    GBM_KNOW(57, s->table_4_v_n1, known - 1)
    GBM_KNOW(58, s->table_4_v_n2, known - 1)
    GBM_KNOW(60, s->table_5_v_stride, known - 1)
    GBM_KNOW(61, s->table_5_v_n1, known - 1)
    GBM_KNOW(62, s->table_5_v_n2, known - 1)
    GBM_KNOW(64, s->table_6_v_stride, known - 1)
    GBM_KNOW(65, s->table_6_v_n1, known - 1)
    GBM_KNOW(66, s->table_6_v_n2, known - 1)
    GBM_KNOW(67, s->table_6_v_n3, known - 1)
    GBM_KNOW(69, s->table_7_v_stride, known - 1)
    GBM_KNOW(70, s->table_7_v_n1, known - 1)
    GBM_KNOW(72, s->table_8_v_stride, known - 1)
    GBM_KNOW(73, s->table_8_v_n1, known - 1)
    GBM_KNOW(75, s->exchange_z_v_tuning_stride, known - 1)
    GBM_KNOW(78, s->index0_start_stride, known - 1)
    GBM_KNOW(81, s->index0_item_stride, known - 1)
}
#endif

/* the cell that table.2[z[i]] hits, by instance of
 * z[i] ~ dcat(pi[]) */
GBM_FN long long index0(const struct state *s, long long element)
{
    const int i_v = (int)(element) + 1;
    if ((z_v(i_v)) < 1 || (z_v(i_v)) > s->table_2_v_n1)
        return -1;
    return (z_v(i_v)) - 1;
}
#ifndef __CUDACC__
GBM_HOST_CELL(index0)
#endif

/* pi ~ ddirch(a[])    vector_mixture.gbm:2:5 */

GBM_FN real logdensity_pi_v(const struct state *s, long long element)
{
    gbm_total j_v_sum = 0;
    for (int j_v = 1; j_v <= s->a_v_n1; j_v++) {
        j_v_sum += a_v(j_v);
    }
    gbm_total j_v_sum1 = 0;
    for (int j1_v = 1; j1_v <= s->a_v_n1; j1_v++) {
        j_v_sum1 += gbm_lgamma(gbm_larger(a_v(j1_v), REAL_C(1e-30)));
    }
    gbm_total j_v_sum2 = 0;
    for (int j2_v = 1; j2_v <= s->a_v_n1; j2_v++) {
        j_v_sum2 += gbm_xlogy(a_v(j2_v) - 1, pi_v(j2_v));
    }
    return gbm_lgamma(gbm_larger((real)j_v_sum, REAL_C(1e-30))) - (real)j_v_sum1 + (real)j_v_sum2;
}
#ifndef __CUDACC__
GBM_HOST_LOGDENSITY(logdensity_pi_v)
#endif

GBM_FN void simulate_pi_v(const struct state *s, struct gbm_rng *rng, long long element)
{
    GBM_SCRATCH(drawn, drawn_small, (s->a_v_n1) * (1));
    gbm_draw_dirichlet(rng, s->a_v_n1, s->a_v + ((1) - 1), drawn);
    for (int row_v = 1; row_v <= s->a_v_n1; row_v++) {
        pi_v(row_v) = drawn[row_v - 1];
    }
}
#ifndef __CUDACC__
GBM_HOST_SIMULATE(simulate_pi_v)
#endif

#ifndef __CUDACC__
static int64_t cells_pi_v_in(const struct state *s, int64_t element, int64_t *out)
{
    int64_t count = 0;
    for (int row_v = 1; row_v <= s->a_v_n1; row_v++) {
        if (out)
            out[count] = (row_v) - 1;
        count++;
    }
    return count;
}
static int64_t cells_pi_v(const void *state, int64_t element, int64_t *out)
{
    return cells_pi_v_in((const struct state *)state, element, out);
}

static void subscripts_pi_v_in(const struct state *s, int64_t element, int *out)
{
    out[0] = s->a_v_n1;
}
static void subscripts_pi_v(const void *state, int64_t element, int *out)
{
    subscripts_pi_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_pi_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    count++;
    return count;
}

static void start_pi_v(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    simulate_pi_v(s, rng, element);
    real widest = 0;
    for (int row_v = 1; row_v <= s->a_v_n1; row_v++) {
        gbm_total k_v_sum = 0;
        for (int k_v = 1; k_v <= s->a_v_n1; k_v++) {
            k_v_sum += a_v(k_v);
        }
        const real centre = a_v(row_v) / (real)k_v_sum;
        widest = gbm_widest(widest, pi_v(row_v) - centre);
    }
    const real share = gbm_share_of_draw((real)spread, widest, 1);
    for (int row1_v = 1; row1_v <= s->a_v_n1; row1_v++) {
        gbm_total k_v_sum1 = 0;
        for (int k1_v = 1; k1_v <= s->a_v_n1; k1_v++) {
            k_v_sum1 += a_v(k1_v);
        }
        const real centre = a_v(row1_v) / (real)k_v_sum1;
        pi_v(row1_v) = centre > 0 ? gbm_drawn_in(pi_v(row1_v), centre, share, false) : pi_v(row1_v); /* a structural zero stays */
    }
}
GBM_HOST_START(start_pi_v)

static bool check_pi_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    {
        gbm_total j_v_sum = 0;
        for (int j_v = 1; j_v <= s->a_v_n1; j_v++) {
            j_v_sum += a_v(j_v) >= 0 ? 0 : 1;
        }
        if (!((real)j_v_sum == 0))
            return gbm_problem_text(problem, "the parameters of ddirch at pi break the rule alpha[j] >= 0");
    }
    return true;
}
static bool check_pi_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_pi_v_in((const struct state *)state, element, problem);
}

#endif

/* mu[k,1:P] ~ dmnorm(m0[], T0[,])    vector_mixture.gbm:4:9 */

GBM_FN real logdensity_mu_v(const struct state *s, long long element)
{
    const int k_v = (int)(element) + 1;
    const real once = gbm_logdet(s->T0_v_n1, s->T0_v + (((1) - 1) * (long long)s->T0_v_n2 + (1) - 1));
    gbm_total j_v_sum = 0;
    for (int j_v = 1; j_v <= *s->P_v; j_v++) {
        gbm_total k_v_sum = 0;
        for (int k1_v = 1; k1_v <= *s->P_v; k1_v++) {
            k_v_sum += T0_v(j_v, k1_v) * (mu_v(k_v, k1_v) - m0_v(k1_v));
        }
        j_v_sum += (mu_v(k_v, j_v) - m0_v(j_v)) * (real)k_v_sum;
    }
    return REAL_C(0.5) * once - REAL_C(0.9189385332046727) * (real)*s->P_v - REAL_C(0.5) * (real)j_v_sum;
}
#ifndef __CUDACC__
GBM_HOST_LOGDENSITY(logdensity_mu_v)
#endif

GBM_FN void simulate_mu_v(const struct state *s, struct gbm_rng *rng, long long element)
{
    const int k_v = (int)(element) + 1;
    GBM_SCRATCH(drawn, drawn_small, (*s->P_v) * (1));
    gbm_draw_mvn_precision(rng, s->m0_v_n1, s->m0_v + ((1) - 1), s->T0_v + (((1) - 1) * (long long)s->T0_v_n2 + (1) - 1), drawn);
    for (int row_v = 1; row_v <= *s->P_v; row_v++) {
        mu_v(k_v, row_v) = drawn[row_v - 1];
    }
}
#ifndef __CUDACC__
GBM_HOST_SIMULATE(simulate_mu_v)
#endif

#ifndef __CUDACC__
static int64_t cells_mu_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int k_v = (int)(element) + 1;
    int64_t count = 0;
    for (int row_v = 1; row_v <= *s->P_v; row_v++) {
        if (out)
            out[count] = ((k_v) - 1) * (long long)s->mu_v_n2 + (row_v) - 1;
        count++;
    }
    return count;
}
static int64_t cells_mu_v(const void *state, int64_t element, int64_t *out)
{
    return cells_mu_v_in((const struct state *)state, element, out);
}

static void subscripts_mu_v_in(const struct state *s, int64_t element, int *out)
{
    const int k_v = (int)(element) + 1;
    out[0] = k_v;
    out[1] = *s->P_v;
}
static void subscripts_mu_v(const void *state, int64_t element, int *out)
{
    subscripts_mu_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_mu_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    for (int k_v = 1; k_v <= *s->K_v; k_v++) {
        if (tuples)
            tuples[count * 1 + 0] = k_v;
        count++;
    }
    return count;
}

static void start_mu_v(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    const int k_v = (int)(element) + 1;
    simulate_mu_v(s, rng, element);
    real widest = 0;
    for (int row_v = 1; row_v <= *s->P_v; row_v++) {
        const real centre = m0_v(row_v);
        widest = gbm_widest(widest, mu_v(k_v, row_v) - centre);
    }
    const real share = gbm_share_of_draw((real)spread, widest, 0);
    for (int row1_v = 1; row1_v <= *s->P_v; row1_v++) {
        const real centre = m0_v(row1_v);
        mu_v(k_v, row1_v) = gbm_drawn_in(mu_v(k_v, row1_v), centre, share, spread < 0);
    }
}
GBM_HOST_START(start_mu_v)

static bool check_mu_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int k_v = (int)(element) + 1;
    if (s->m0_v_n1 != s->T0_v_n1)
        return gbm_problem_text(problem, "mu and Omega of dmnorm must agree in length: they have %d and %d elements along a side", (int)(s->m0_v_n1), (int)(s->T0_v_n1));
    if (s->m0_v_n1 != s->T0_v_n2)
        return gbm_problem_text(problem, "mu and Omega of dmnorm must agree in length: they have %d and %d elements along a side", (int)(s->m0_v_n1), (int)(s->T0_v_n2));
    if (s->m0_v_n1 != *s->P_v)
        return gbm_problem_text(problem, "mu and x of dmnorm must agree in length: they have %d and %d elements", (int)(s->m0_v_n1), (int)(*s->P_v));
    return true;
}
static bool check_mu_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_mu_v_in((const struct state *)state, element, problem);
}

#endif

/* Q[k,1:P,1:P] ~ dwish(R[,], df)    vector_mixture.gbm:5:9 */

GBM_FN real logdensity_Q_v(const struct state *s, long long element)
{
    const int k_v = (int)(element) + 1;
    const real once = gbm_logdet(s->R_v_n1, s->R_v + (((1) - 1) * (long long)s->R_v_n2 + (1) - 1));
    gbm_total j_v_sum = 0;
    for (int j_v = 1; j_v <= *s->P_v; j_v++) {
        j_v_sum += gbm_lgamma(REAL_C(0.5) * *s->df_v - REAL_C(0.5) * (real)j_v + REAL_C(0.5));
    }
    GBM_SCRATCH(values, small, (long long)(*s->P_v) * (*s->P_v));
    for (int k1_v = 1; k1_v <= *s->P_v; k1_v++) {
        for (int l_v = 1; l_v <= *s->P_v; l_v++) {
            values[(k1_v - 1) * (*s->P_v) + l_v - 1] = Q_v(k_v, k1_v, l_v);
        }
    }
    const real once1 = gbm_logdet(*s->P_v, values);
    gbm_total i_v_sum = 0;
    for (int i_v = 1; i_v <= *s->P_v; i_v++) {
        gbm_total j_v_sum1 = 0;
        for (int j1_v = 1; j1_v <= *s->P_v; j1_v++) {
            j_v_sum1 += R_v(i_v, j1_v) * Q_v(k_v, i_v, j1_v);
        }
        i_v_sum += (real)j_v_sum1;
    }
    return REAL_C(0.5) * *s->df_v * once - REAL_C(0.34657359027997264) * *s->df_v * (real)*s->P_v - REAL_C(0.28618247146235004) * (real)*s->P_v * (real)(*s->P_v - 1) - (real)j_v_sum + (REAL_C(0.5) * *s->df_v - REAL_C(0.5) * (real)*s->P_v - REAL_C(0.5)) * once1 - REAL_C(0.5) * (real)i_v_sum;
}
#ifndef __CUDACC__
GBM_HOST_LOGDENSITY(logdensity_Q_v)
#endif

GBM_FN void simulate_Q_v(const struct state *s, struct gbm_rng *rng, long long element)
{
    const int k_v = (int)(element) + 1;
    GBM_SCRATCH(drawn, drawn_small, (*s->P_v) * (*s->P_v));
    gbm_draw_wishart(rng, s->R_v_n1, s->R_v + (((1) - 1) * (long long)s->R_v_n2 + (1) - 1), *s->df_v, drawn);
    for (int row_v = 1; row_v <= *s->P_v; row_v++) {
        for (int column_v = 1; column_v <= *s->P_v; column_v++) {
            Q_v(k_v, row_v, column_v) = drawn[(row_v - 1) * (*s->P_v) + column_v - 1];
        }
    }
}
#ifndef __CUDACC__
GBM_HOST_SIMULATE(simulate_Q_v)
#endif

#ifndef __CUDACC__
static int64_t cells_Q_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int k_v = (int)(element) + 1;
    int64_t count = 0;
    for (int row_v = 1; row_v <= *s->P_v; row_v++) {
        for (int column_v = 1; column_v <= *s->P_v; column_v++) {
            if (out)
                out[count] = (((k_v) - 1) * (long long)s->Q_v_n2 + (row_v) - 1) * (long long)s->Q_v_n3 + (column_v) - 1;
            count++;
        }
    }
    return count;
}
static int64_t cells_Q_v(const void *state, int64_t element, int64_t *out)
{
    return cells_Q_v_in((const struct state *)state, element, out);
}

static void subscripts_Q_v_in(const struct state *s, int64_t element, int *out)
{
    const int k_v = (int)(element) + 1;
    out[0] = k_v;
    out[1] = *s->P_v;
    out[2] = *s->P_v;
}
static void subscripts_Q_v(const void *state, int64_t element, int *out)
{
    subscripts_Q_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_Q_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    for (int k_v = 1; k_v <= *s->K_v; k_v++) {
        if (tuples)
            tuples[count * 1 + 0] = k_v;
        count++;
    }
    return count;
}

static void start_Q_v(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    const int k_v = (int)(element) + 1;
    const int rows_ = *s->P_v;
    GBM_SCRATCH(average, average_small, rows_ * rows_);
    real weights = 0;
    for (int k = 0; k < rows_ * rows_; k++)
        average[k] = 0;
    for (int draw = 0; draw < 8; draw++) {
        simulate_Q_v(s, rng, element);
        real trace = 0;
        for (int row_v = 1; row_v <= *s->P_v; row_v++) {
            for (int column_v = 1; column_v <= *s->P_v; column_v++) {
                trace += row_v == column_v ? Q_v(k_v, row_v, column_v) : 0;
            }
        }
        if (!(trace > 0 && trace < GBM_INF))
            continue;
        weights += 1 / trace;
        for (int row1_v = 1; row1_v <= *s->P_v; row1_v++) {
            for (int column1_v = 1; column1_v <= *s->P_v; column1_v++) {
                average[(row1_v - 1) * rows_ + column1_v - 1] += Q_v(k_v, row1_v, column1_v) / trace;
            }
        }
    }
    if (!(weights > 0))
        return;
    for (int row2_v = 1; row2_v <= *s->P_v; row2_v++) {
        for (int column2_v = 1; column2_v <= *s->P_v; column2_v++) {
            Q_v(k_v, row2_v, column2_v) = average[(row2_v - 1) * rows_ + column2_v - 1] / weights;
        }
    }
}
GBM_HOST_START(start_Q_v)

static bool check_Q_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int k_v = (int)(element) + 1;
    if (gbm_is_nan(*s->df_v))
        return gbm_problem_text(problem, "df is missing in the data, but %s reads it", "vector_mixture.gbm:5:9");
    if (s->R_v_n1 != s->R_v_n2)
        return gbm_problem_text(problem, "R and R of dwish must agree in length: they have %d and %d elements along a side", (int)(s->R_v_n1), (int)(s->R_v_n2));
    if (s->R_v_n1 != *s->P_v)
        return gbm_problem_text(problem, "R and x of dwish must agree in length: they have %d and %d elements along a side", (int)(s->R_v_n1), (int)(*s->P_v));
    if (s->R_v_n1 != *s->P_v)
        return gbm_problem_text(problem, "R and x of dwish must agree in length: they have %d and %d elements along a side", (int)(s->R_v_n1), (int)(*s->P_v));
    {
        if (!(*s->df_v > *s->P_v - 1))
            return gbm_problem_text(problem, "the parameters of dwish at Q break the rule k > K - 1");
    }
    return true;
}
static bool check_Q_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_Q_v_in((const struct state *)state, element, problem);
}

#endif

/* z[i] ~ dcat(pi[])    vector_mixture.gbm:8:9 */

GBM_FN real logdensity_z_v(const struct state *s, long long element)
{
    const int i_v = (int)(element) + 1;
    if (!(z_v(i_v) >= 1))
        return -GBM_INF;
    if (!(z_v(i_v) <= s->pi_v_n1))
        return -GBM_INF;
    return real_log(pi_v(z_v(i_v)));
}
#ifndef __CUDACC__
GBM_HOST_LOGDENSITY(logdensity_z_v)
#endif

GBM_FN void simulate_z_v(const struct state *s, struct gbm_rng *rng, long long element)
{
    const int i_v = (int)(element) + 1;
    const real category = gbm_draw_category(rng, s->pi_v_n1, s->pi_v + ((1) - 1));
    z_v(i_v) = gbm_whole(category);
}
#ifndef __CUDACC__
GBM_HOST_SIMULATE(simulate_z_v)
#endif

#ifndef __CUDACC__
static int64_t cells_z_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int i_v = (int)(element) + 1;
    int64_t count = 0;
    if (out)
        out[count] = (i_v) - 1;
    count++;
    return count;
}
static int64_t cells_z_v(const void *state, int64_t element, int64_t *out)
{
    return cells_z_v_in((const struct state *)state, element, out);
}

static void subscripts_z_v_in(const struct state *s, int64_t element, int *out)
{
    const int i_v = (int)(element) + 1;
    out[0] = i_v;
}
static void subscripts_z_v(const void *state, int64_t element, int *out)
{
    subscripts_z_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_z_v(const void *state, int *tuples)
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

static void start_z_v(const struct state *s, struct gbm_rng *rng, int64_t element, double spread)
{
    const int i_v = (int)(element) + 1;
    real lower = 1, upper = s->pi_v_n1;
    simulate_z_v(s, rng, element);
    if (z_v(i_v) < lower)
        z_v(i_v) = (int)real_ceil(lower);
    if (z_v(i_v) > upper)
        z_v(i_v) = (int)real_floor(upper);
}
GBM_HOST_START(start_z_v)

static void bounds_z_v(const struct state *s, int64_t element, real *lower, real *upper)
{
    const int i_v = (int)(element) + 1;
    *lower = 1;
    *upper = s->pi_v_n1;
}
GBM_HOST_BOUNDS(bounds_z_v)

static bool check_z_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int i_v = (int)(element) + 1;
    if (z_v_seen(i_v) && (z_v(i_v) < 1 || z_v(i_v) > s->pi_v_n1))
        return gbm_problem_text(problem, "z[%d] = %g is outside the support integer [1, K] of dcat", i_v, (double)z_v(i_v));
    return true;
}
static bool check_z_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_z_v_in((const struct state *)state, element, problem);
}

#endif

/* x[i,1:P] ~ dmnorm(mu[z[i],], Q[z[i],,])    vector_mixture.gbm:9:9 */

GBM_FN real logdensity_x_v(const struct state *s, long long element)
{
    const int i_v = (int)(element) + 1;
    GBM_SCRATCH(values, small, (long long)(s->Q_v_n2) * (s->Q_v_n3));
    for (int k_v = 1; k_v <= s->Q_v_n2; k_v++) {
        for (int l_v = 1; l_v <= s->Q_v_n3; l_v++) {
            values[(k_v - 1) * (s->Q_v_n3) + l_v - 1] = (gbm_within(z_v(i_v), s->Q_v_n1) ? Q_v(z_v(i_v), k_v, l_v) : GBM_NAN);
        }
    }
    const real once = gbm_logdet(s->Q_v_n2, values);
    gbm_total j_v_sum = 0;
    for (int j_v = 1; j_v <= *s->P_v; j_v++) {
        gbm_total k_v_sum = 0;
        for (int k1_v = 1; k1_v <= *s->P_v; k1_v++) {
            k_v_sum += (gbm_within(z_v(i_v), s->Q_v_n1) ? Q_v(z_v(i_v), j_v, k1_v) : GBM_NAN) * (x_v(i_v, k1_v) - (gbm_within(z_v(i_v), s->mu_v_n1) ? mu_v(z_v(i_v), k1_v) : GBM_NAN));
        }
        j_v_sum += (x_v(i_v, j_v) - (gbm_within(z_v(i_v), s->mu_v_n1) ? mu_v(z_v(i_v), j_v) : GBM_NAN)) * (real)k_v_sum;
    }
    return REAL_C(0.5) * once - REAL_C(0.9189385332046727) * (real)*s->P_v - REAL_C(0.5) * (real)j_v_sum;
}
#ifndef __CUDACC__
GBM_HOST_LOGDENSITY(logdensity_x_v)
#endif

GBM_FN void simulate_x_v(const struct state *s, struct gbm_rng *rng, long long element)
{
    const int i_v = (int)(element) + 1;
    GBM_SCRATCH(values, small, s->mu_v_n2);
    for (int k_v = 1; k_v <= s->mu_v_n2; k_v++) {
        values[k_v - 1] = (gbm_within(z_v(i_v), s->mu_v_n1) ? mu_v(z_v(i_v), k_v) : GBM_NAN);
    }
    GBM_SCRATCH(values1, small1, (long long)(s->Q_v_n2) * (s->Q_v_n3));
    for (int k1_v = 1; k1_v <= s->Q_v_n2; k1_v++) {
        for (int l_v = 1; l_v <= s->Q_v_n3; l_v++) {
            values1[(k1_v - 1) * (s->Q_v_n3) + l_v - 1] = (gbm_within(z_v(i_v), s->Q_v_n1) ? Q_v(z_v(i_v), k1_v, l_v) : GBM_NAN);
        }
    }
    GBM_SCRATCH(drawn, drawn_small, (*s->P_v) * (1));
    gbm_draw_mvn_precision(rng, s->mu_v_n2, values, values1, drawn);
    for (int row_v = 1; row_v <= *s->P_v; row_v++) {
        x_v(i_v, row_v) = drawn[row_v - 1];
    }
}
#ifndef __CUDACC__
GBM_HOST_SIMULATE(simulate_x_v)
#endif

#ifndef __CUDACC__
static int64_t cells_x_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int i_v = (int)(element) + 1;
    int64_t count = 0;
    for (int row_v = 1; row_v <= *s->P_v; row_v++) {
        if (out)
            out[count] = ((i_v) - 1) * (long long)s->x_v_n2 + (row_v) - 1;
        count++;
    }
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
    out[1] = *s->P_v;
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
    simulate_x_v(s, rng, element);
    real widest = 0;
    for (int row_v = 1; row_v <= *s->P_v; row_v++) {
        const real centre = (gbm_within(z_v(i_v), s->mu_v_n1) ? mu_v(z_v(i_v), row_v) : GBM_NAN);
        widest = gbm_widest(widest, x_v(i_v, row_v) - centre);
    }
    const real share = gbm_share_of_draw((real)spread, widest, 0);
    for (int row1_v = 1; row1_v <= *s->P_v; row1_v++) {
        const real centre = (gbm_within(z_v(i_v), s->mu_v_n1) ? mu_v(z_v(i_v), row1_v) : GBM_NAN);
        x_v(i_v, row1_v) = gbm_drawn_in(x_v(i_v, row1_v), centre, share, spread < 0);
    }
}
GBM_HOST_START(start_x_v)

static bool check_x_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int i_v = (int)(element) + 1;
    if (!gbm_subscript(problem, "z", 1, i_v, s->z_v_n1))
        return false;
    if (!gbm_subscript(problem, "z", 1, i_v, s->z_v_n1))
        return false;
    if (s->mu_v_n2 != s->Q_v_n2)
        return gbm_problem_text(problem, "mu and Omega of dmnorm must agree in length: they have %d and %d elements along a side", (int)(s->mu_v_n2), (int)(s->Q_v_n2));
    if (s->mu_v_n2 != s->Q_v_n3)
        return gbm_problem_text(problem, "mu and Omega of dmnorm must agree in length: they have %d and %d elements along a side", (int)(s->mu_v_n2), (int)(s->Q_v_n3));
    if (s->mu_v_n2 != *s->P_v)
        return gbm_problem_text(problem, "mu and x of dmnorm must agree in length: they have %d and %d elements", (int)(s->mu_v_n2), (int)(*s->P_v));
    return true;
}
static bool check_x_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_x_v_in((const struct state *)state, element, problem);
}

#endif

/* table.1     */

#ifdef __CUDACC__
#ifndef GBM_CHAINS
GBM_FN void derive_table_1_v(const struct state *s, const struct gbm_team *team, long long element)
{
    const int a_v = (int)(element) + 1;
    if (a_v <= *s->K_v) {
        const long long cell = (a_v) - 1;
        const int first = s->index0_start[cell], last = s->index0_start[cell + 1];
        table_1_v(a_v) = 1 * (real)(last - first);
        return;
    }
    gbm_total i_v_sum = 0;
    GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
        i_v_sum += z_v(i_v) == a_v;
    }
    i_v_sum = gbm_team_sum(team, i_v_sum);
    table_1_v(a_v) = (real)i_v_sum;
}
#else
GBM_FN void derive_table_1_v(const struct state *s, const struct gbm_team *team, long long element)
{
    const int a_v = (int)(element) + 1;
    gbm_total i_v_sum = 0;
    GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
        i_v_sum += z_v(i_v) == a_v;
    }
    i_v_sum = gbm_team_sum(team, i_v_sum);
    table_1_v(a_v) = (real)i_v_sum;
}
#endif
#else
/* In one pass over the rows, by the group that each is in. */
static void tally_table_1_v(const struct state *s)
{
    for (int a_v = 1; a_v <= s->a_v_n1; a_v++) {
        table_1_v(a_v) = 0;
    }
    for (int k_v = 1; k_v <= *s->K_v; k_v++) {
        table_2_v(k_v) = 0;
    }
    for (int k1_v = 1; k1_v <= *s->K_v; k1_v++) {
        for (int k2_v = 1; k2_v <= *s->P_v; k2_v++) {
            table_3_v(k1_v, k2_v) = 0;
        }
    }
    for (int i_v = 1; i_v <= *s->N_v; i_v++) {
        const int key = z_v(i_v);
        {
            const int a1_v = key - (0);
            if (a1_v >= 1 && a1_v <= s->a_v_n1) {
                table_1_v(a1_v) += 1;
            }
        }
        {
            const int k3_v = key - (0);
            if (k3_v >= 1 && k3_v <= *s->K_v) {
                table_2_v(k3_v) += 1;
            }
        }
        {
            const int k4_v = key - (0);
            if (k4_v >= 1 && k4_v <= *s->K_v) {
                GBM_SIMD
                for (int k5_v = 1; k5_v <= *s->P_v; k5_v++) {
                    table_3_v(k4_v, k5_v) += x_v(i_v, k5_v);
                }
            }
        }
    }
}
static inline void refresh_table_1_v(const struct state *s, const struct gbm_team *team,
    long long element)
{
    if (element == 0)
        tally_table_1_v(s);
}
GBM_HOST_DERIVE(refresh_table_1_v)
#endif
#ifndef __CUDACC__
static int64_t cells_table_1_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int a_v = (int)(element) + 1;
    int64_t count = 0;
    if (out)
        out[count] = (a_v) - 1;
    count++;
    return count;
}
static int64_t cells_table_1_v(const void *state, int64_t element, int64_t *out)
{
    return cells_table_1_v_in((const struct state *)state, element, out);
}

static void subscripts_table_1_v_in(const struct state *s, int64_t element, int *out)
{
    const int a_v = (int)(element) + 1;
    out[0] = a_v;
}
static void subscripts_table_1_v(const void *state, int64_t element, int *out)
{
    subscripts_table_1_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_table_1_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    for (int a_v = 1; a_v <= s->a_v_n1; a_v++) {
        if (tuples)
            tuples[count * 1 + 0] = a_v;
        count++;
    }
    return count;
}

static bool check_table_1_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int a_v = (int)(element) + 1;
    if (gbm_is_missing(*s->N_v))
        return gbm_problem_text(problem, "N is missing in the data, but %s reads it", "");
    return true;
}
static bool check_table_1_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_table_1_v_in((const struct state *)state, element, problem);
}

#endif

/* table.2     */

#ifdef __CUDACC__
#ifndef GBM_CHAINS
GBM_FN void derive_table_2_v(const struct state *s, const struct gbm_team *team, long long element)
{
    const int k_v = (int)(element) + 1;
    const long long cell = (k_v) - 1;
    const int first = s->index0_start[cell], last = s->index0_start[cell + 1];
    table_2_v(k_v) = 1 * (real)(last - first);
}
#else
GBM_FN void derive_table_2_v(const struct state *s, const struct gbm_team *team, long long element)
{
    const int k_v = (int)(element) + 1;
    gbm_total i_v_sum = 0;
    GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
        i_v_sum += z_v(i_v) == k_v;
    }
    i_v_sum = gbm_team_sum(team, i_v_sum);
    table_2_v(k_v) = (real)i_v_sum;
}
#endif
#else
static inline void refresh_table_2_v(const struct state *s, const struct gbm_team *team,
    long long element)
{
    /* filled with table.1 */
}
GBM_HOST_DERIVE(refresh_table_2_v)
#endif
#ifndef __CUDACC__
static int64_t cells_table_2_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int k_v = (int)(element) + 1;
    int64_t count = 0;
    if (out)
        out[count] = (k_v) - 1;
    count++;
    return count;
}
static int64_t cells_table_2_v(const void *state, int64_t element, int64_t *out)
{
    return cells_table_2_v_in((const struct state *)state, element, out);
}

static void subscripts_table_2_v_in(const struct state *s, int64_t element, int *out)
{
    const int k_v = (int)(element) + 1;
    out[0] = k_v;
}
static void subscripts_table_2_v(const void *state, int64_t element, int *out)
{
    subscripts_table_2_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_table_2_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    for (int k_v = 1; k_v <= *s->K_v; k_v++) {
        if (tuples)
            tuples[count * 1 + 0] = k_v;
        count++;
    }
    return count;
}

static bool check_table_2_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int k_v = (int)(element) + 1;
    if (gbm_is_missing(*s->N_v))
        return gbm_problem_text(problem, "N is missing in the data, but %s reads it", "");
    return true;
}
static bool check_table_2_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_table_2_v_in((const struct state *)state, element, problem);
}

#endif

/* table.3     */

#ifdef __CUDACC__
#ifndef GBM_CHAINS
GBM_FN gbm_total share_table_3_v(const struct state *s, const struct gbm_team *team, long long element)
{
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    const long long cell = (k_v) - 1;
    const int first = s->index0_start[cell], last = s->index0_start[cell + 1];
    gbm_total sum = 0;
    GBM_UNROLL_LOADS
    GBM_TEAM_FOR(at, first, last, team) {
        const int i_v = (int)(s->index0_item[at]) + 1;
        sum += x_v(i_v, k1_v);
    }
    return sum;
}
GBM_FN void put_table_3_v(const struct state *s, long long element, gbm_total sum)
{
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    table_3_v(k_v, k1_v) = (real)sum;
}
GBM_FN void derive_table_3_v(const struct state *s, const struct gbm_team *team, long long element)
{
    const gbm_total sum = share_table_3_v(s, team, element);
    put_table_3_v(s, element, gbm_team_sum(team, sum));
}
#else
GBM_FN void derive_table_3_v(const struct state *s, const struct gbm_team *team, long long element)
{
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    gbm_total i_v_sum = 0;
    GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
        i_v_sum += (real)(z_v(i_v) == k_v) * x_v(i_v, k1_v);
    }
    i_v_sum = gbm_team_sum(team, i_v_sum);
    table_3_v(k_v, k1_v) = (real)i_v_sum;
}
#endif
#else
static inline void refresh_table_3_v(const struct state *s, const struct gbm_team *team,
    long long element)
{
    /* filled with table.1 */
}
GBM_HOST_DERIVE(refresh_table_3_v)
#endif
#ifndef __CUDACC__
static int64_t cells_table_3_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    int64_t count = 0;
    if (out)
        out[count] = ((k_v) - 1) * (long long)s->table_3_v_n2 + (k1_v) - 1;
    count++;
    return count;
}
static int64_t cells_table_3_v(const void *state, int64_t element, int64_t *out)
{
    return cells_table_3_v_in((const struct state *)state, element, out);
}

static void subscripts_table_3_v_in(const struct state *s, int64_t element, int *out)
{
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    out[0] = k_v;
    out[1] = k1_v;
}
static void subscripts_table_3_v(const void *state, int64_t element, int *out)
{
    subscripts_table_3_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_table_3_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    for (int k_v = 1; k_v <= *s->K_v; k_v++) {
        for (int k1_v = 1; k1_v <= *s->P_v; k1_v++) {
            if (tuples)
                tuples[count * 2 + 0] = k_v;
            if (tuples)
                tuples[count * 2 + 1] = k1_v;
            count++;
        }
    }
    return count;
}

static bool check_table_3_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    if (gbm_is_missing(*s->N_v))
        return gbm_problem_text(problem, "N is missing in the data, but %s reads it", "");
    if (!gbm_subscript(problem, "x", 2, k1_v, s->x_v_n2))
        return false;
    return true;
}
static bool check_table_3_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_table_3_v_in((const struct state *)state, element, problem);
}

#endif

/* table.4     */

GBM_FN void derive_table_4_v(const struct state *s, const struct gbm_team *team, long long element)
{
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    table_4_v(k_v, k1_v) = (table_2_v(k_v) > 0 ? table_3_v(k_v, k1_v) / table_2_v(k_v) : 0);
}
#ifndef __CUDACC__
GBM_HOST_DERIVE(derive_table_4_v)
#endif

#ifndef __CUDACC__
static int64_t cells_table_4_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    int64_t count = 0;
    if (out)
        out[count] = ((k_v) - 1) * (long long)s->table_4_v_n2 + (k1_v) - 1;
    count++;
    return count;
}
static int64_t cells_table_4_v(const void *state, int64_t element, int64_t *out)
{
    return cells_table_4_v_in((const struct state *)state, element, out);
}

static void subscripts_table_4_v_in(const struct state *s, int64_t element, int *out)
{
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    out[0] = k_v;
    out[1] = k1_v;
}
static void subscripts_table_4_v(const void *state, int64_t element, int *out)
{
    subscripts_table_4_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_table_4_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    for (int k_v = 1; k_v <= *s->K_v; k_v++) {
        for (int k1_v = 1; k1_v <= *s->P_v; k1_v++) {
            if (tuples)
                tuples[count * 2 + 0] = k_v;
            if (tuples)
                tuples[count * 2 + 1] = k1_v;
            count++;
        }
    }
    return count;
}

static bool check_table_4_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    if (!gbm_subscript(problem, "table.2", 1, k_v, s->table_2_v_n1))
        return false;
    if (!gbm_subscript(problem, "table.3", 1, k_v, s->table_3_v_n1))
        return false;
    if (!gbm_subscript(problem, "table.3", 2, k1_v, s->table_3_v_n2))
        return false;
    if (!gbm_subscript(problem, "table.2", 1, k_v, s->table_2_v_n1))
        return false;
    return true;
}
static bool check_table_4_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_table_4_v_in((const struct state *)state, element, problem);
}

#endif

/* table.5     */

#ifdef __CUDACC__
#ifndef GBM_CHAINS
GBM_FN gbm_total share_table_5_v(const struct state *s, const struct gbm_team *team, long long element)
{
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    const long long cell = (k_v) - 1;
    const int first = s->index0_start[cell], last = s->index0_start[cell + 1];
    gbm_total sum = 0;
    GBM_UNROLL_LOADS
    GBM_TEAM_FOR(at, first, last, team) {
        const int i_v = (int)(s->index0_item[at]) + 1;
        sum += x_v(i_v, k1_v) - table_4_v(k_v, k1_v);
    }
    return sum;
}
GBM_FN void put_table_5_v(const struct state *s, long long element, gbm_total sum)
{
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    table_5_v(k_v, k1_v) = (real)sum;
}
GBM_FN void derive_table_5_v(const struct state *s, const struct gbm_team *team, long long element)
{
    const gbm_total sum = share_table_5_v(s, team, element);
    put_table_5_v(s, element, gbm_team_sum(team, sum));
}
#else
GBM_FN void derive_table_5_v(const struct state *s, const struct gbm_team *team, long long element)
{
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    gbm_total i_v_sum = 0;
    GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
        i_v_sum += (real)(z_v(i_v) == k_v) * (x_v(i_v, k1_v) - table_4_v(k_v, k1_v));
    }
    i_v_sum = gbm_team_sum(team, i_v_sum);
    table_5_v(k_v, k1_v) = (real)i_v_sum;
}
#endif
#else
/* In one pass over the rows, by the group that each is in. */
static void tally_table_5_v(const struct state *s)
{
    for (int k_v = 1; k_v <= *s->K_v; k_v++) {
        for (int k1_v = 1; k1_v <= *s->P_v; k1_v++) {
            table_5_v(k_v, k1_v) = 0;
        }
    }
    for (int k2_v = 1; k2_v <= *s->K_v; k2_v++) {
        for (int a_v = 1; a_v <= *s->P_v; a_v++) {
            for (int b_v = 1; b_v <= *s->P_v; b_v++) {
                table_6_v(k2_v, a_v, b_v) = 0;
            }
        }
    }
    for (int i_v = 1; i_v <= *s->N_v; i_v++) {
        const int key = z_v(i_v);
        {
            const int k3_v = key - (0);
            if (k3_v >= 1 && k3_v <= *s->K_v) {
                GBM_SIMD
                for (int k4_v = 1; k4_v <= *s->P_v; k4_v++) {
                    table_5_v(k3_v, k4_v) += x_v(i_v, k4_v) - table_4_v(k3_v, k4_v);
                }
            }
        }
        {
            const int k5_v = key - (0);
            if (k5_v >= 1 && k5_v <= *s->K_v) {
                for (int a1_v = 1; a1_v <= *s->P_v; a1_v++) {
                    GBM_SIMD
                    for (int b1_v = 1; b1_v <= *s->P_v; b1_v++) {
                        table_6_v(k5_v, a1_v, b1_v) += (x_v(i_v, a1_v) - table_4_v(k5_v, a1_v)) * (x_v(i_v, b1_v) - table_4_v(k5_v, b1_v));
                    }
                }
            }
        }
    }
}
static inline void refresh_table_5_v(const struct state *s, const struct gbm_team *team,
    long long element)
{
    if (element == 0)
        tally_table_5_v(s);
}
GBM_HOST_DERIVE(refresh_table_5_v)
#endif
#ifndef __CUDACC__
static int64_t cells_table_5_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    int64_t count = 0;
    if (out)
        out[count] = ((k_v) - 1) * (long long)s->table_5_v_n2 + (k1_v) - 1;
    count++;
    return count;
}
static int64_t cells_table_5_v(const void *state, int64_t element, int64_t *out)
{
    return cells_table_5_v_in((const struct state *)state, element, out);
}

static void subscripts_table_5_v_in(const struct state *s, int64_t element, int *out)
{
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    out[0] = k_v;
    out[1] = k1_v;
}
static void subscripts_table_5_v(const void *state, int64_t element, int *out)
{
    subscripts_table_5_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_table_5_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    for (int k_v = 1; k_v <= *s->K_v; k_v++) {
        for (int k1_v = 1; k1_v <= *s->P_v; k1_v++) {
            if (tuples)
                tuples[count * 2 + 0] = k_v;
            if (tuples)
                tuples[count * 2 + 1] = k1_v;
            count++;
        }
    }
    return count;
}

static bool check_table_5_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    if (gbm_is_missing(*s->N_v))
        return gbm_problem_text(problem, "N is missing in the data, but %s reads it", "");
    if (!gbm_subscript(problem, "x", 2, k1_v, s->x_v_n2))
        return false;
    if (!gbm_subscript(problem, "table.4", 1, k_v, s->table_4_v_n1))
        return false;
    if (!gbm_subscript(problem, "table.4", 2, k1_v, s->table_4_v_n2))
        return false;
    return true;
}
static bool check_table_5_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_table_5_v_in((const struct state *)state, element, problem);
}

#endif

/* table.6     */

#ifdef __CUDACC__
#ifndef GBM_CHAINS
GBM_FN gbm_total share_table_6_v(const struct state *s, const struct gbm_team *team, long long element)
{
    const int k_v = (int)gbm_quotient(gbm_quotient(element, *s->P_v), *s->P_v) + 1;
    const int a_v = (int)gbm_rest(gbm_quotient(element, *s->P_v), *s->P_v) + 1;
    const int b_v = (int)gbm_rest(element, *s->P_v) + 1;
    const long long cell = (k_v) - 1;
    const int first = s->index0_start[cell], last = s->index0_start[cell + 1];
    gbm_total sum = 0;
    GBM_UNROLL_LOADS
    GBM_TEAM_FOR(at, first, last, team) {
        const int i_v = (int)(s->index0_item[at]) + 1;
        sum += (x_v(i_v, a_v) - table_4_v(k_v, a_v)) * (x_v(i_v, b_v) - table_4_v(k_v, b_v));
    }
    return sum;
}
GBM_FN void put_table_6_v(const struct state *s, long long element, gbm_total sum)
{
    const int k_v = (int)gbm_quotient(gbm_quotient(element, *s->P_v), *s->P_v) + 1;
    const int a_v = (int)gbm_rest(gbm_quotient(element, *s->P_v), *s->P_v) + 1;
    const int b_v = (int)gbm_rest(element, *s->P_v) + 1;
    table_6_v(k_v, a_v, b_v) = (real)sum;
}
GBM_FN void derive_table_6_v(const struct state *s, const struct gbm_team *team, long long element)
{
    const gbm_total sum = share_table_6_v(s, team, element);
    put_table_6_v(s, element, gbm_team_sum(team, sum));
}
#else
GBM_FN void derive_table_6_v(const struct state *s, const struct gbm_team *team, long long element)
{
    const int k_v = (int)gbm_quotient(gbm_quotient(element, *s->P_v), *s->P_v) + 1;
    const int a_v = (int)gbm_rest(gbm_quotient(element, *s->P_v), *s->P_v) + 1;
    const int b_v = (int)gbm_rest(element, *s->P_v) + 1;
    gbm_total i_v_sum = 0;
    GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
        i_v_sum += (real)(z_v(i_v) == k_v) * (x_v(i_v, a_v) - table_4_v(k_v, a_v)) * (x_v(i_v, b_v) - table_4_v(k_v, b_v));
    }
    i_v_sum = gbm_team_sum(team, i_v_sum);
    table_6_v(k_v, a_v, b_v) = (real)i_v_sum;
}
#endif
#else
static inline void refresh_table_6_v(const struct state *s, const struct gbm_team *team,
    long long element)
{
    /* filled with table.5 */
}
GBM_HOST_DERIVE(refresh_table_6_v)
#endif
#ifndef __CUDACC__
static int64_t cells_table_6_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int k_v = (int)gbm_quotient(gbm_quotient(element, *s->P_v), *s->P_v) + 1;
    const int a_v = (int)gbm_rest(gbm_quotient(element, *s->P_v), *s->P_v) + 1;
    const int b_v = (int)gbm_rest(element, *s->P_v) + 1;
    int64_t count = 0;
    if (out)
        out[count] = (((k_v) - 1) * (long long)s->table_6_v_n2 + (a_v) - 1) * (long long)s->table_6_v_n3 + (b_v) - 1;
    count++;
    return count;
}
static int64_t cells_table_6_v(const void *state, int64_t element, int64_t *out)
{
    return cells_table_6_v_in((const struct state *)state, element, out);
}

static void subscripts_table_6_v_in(const struct state *s, int64_t element, int *out)
{
    const int k_v = (int)gbm_quotient(gbm_quotient(element, *s->P_v), *s->P_v) + 1;
    const int a_v = (int)gbm_rest(gbm_quotient(element, *s->P_v), *s->P_v) + 1;
    const int b_v = (int)gbm_rest(element, *s->P_v) + 1;
    out[0] = k_v;
    out[1] = a_v;
    out[2] = b_v;
}
static void subscripts_table_6_v(const void *state, int64_t element, int *out)
{
    subscripts_table_6_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_table_6_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    for (int k_v = 1; k_v <= *s->K_v; k_v++) {
        for (int a_v = 1; a_v <= *s->P_v; a_v++) {
            for (int b_v = 1; b_v <= *s->P_v; b_v++) {
                if (tuples)
                    tuples[count * 3 + 0] = k_v;
                if (tuples)
                    tuples[count * 3 + 1] = a_v;
                if (tuples)
                    tuples[count * 3 + 2] = b_v;
                count++;
            }
        }
    }
    return count;
}

static bool check_table_6_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int k_v = (int)gbm_quotient(gbm_quotient(element, *s->P_v), *s->P_v) + 1;
    const int a_v = (int)gbm_rest(gbm_quotient(element, *s->P_v), *s->P_v) + 1;
    const int b_v = (int)gbm_rest(element, *s->P_v) + 1;
    if (gbm_is_missing(*s->N_v))
        return gbm_problem_text(problem, "N is missing in the data, but %s reads it", "");
    if (!gbm_subscript(problem, "x", 2, a_v, s->x_v_n2))
        return false;
    if (!gbm_subscript(problem, "table.4", 1, k_v, s->table_4_v_n1))
        return false;
    if (!gbm_subscript(problem, "table.4", 2, a_v, s->table_4_v_n2))
        return false;
    if (!gbm_subscript(problem, "x", 2, b_v, s->x_v_n2))
        return false;
    if (!gbm_subscript(problem, "table.4", 1, k_v, s->table_4_v_n1))
        return false;
    if (!gbm_subscript(problem, "table.4", 2, b_v, s->table_4_v_n2))
        return false;
    return true;
}
static bool check_table_6_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_table_6_v_in((const struct state *)state, element, problem);
}

#endif

/* table.7     */

GBM_FN void derive_table_7_v(const struct state *s, const struct gbm_team *team, long long element)
{
    const int k_v = (int)(element) + 1;
    table_7_v(k_v) = (real_log(pi_v(k_v)));
}
#ifndef __CUDACC__
GBM_HOST_DERIVE(derive_table_7_v)
#endif

#ifndef __CUDACC__
static int64_t cells_table_7_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int k_v = (int)(element) + 1;
    int64_t count = 0;
    if (out)
        out[count] = (k_v) - 1;
    count++;
    return count;
}
static int64_t cells_table_7_v(const void *state, int64_t element, int64_t *out)
{
    return cells_table_7_v_in((const struct state *)state, element, out);
}

static void subscripts_table_7_v_in(const struct state *s, int64_t element, int *out)
{
    const int k_v = (int)(element) + 1;
    out[0] = k_v;
}
static void subscripts_table_7_v(const void *state, int64_t element, int *out)
{
    subscripts_table_7_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_table_7_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    for (int k_v = 1; k_v <= s->pi_v_n1; k_v++) {
        if (tuples)
            tuples[count * 1 + 0] = k_v;
        count++;
    }
    return count;
}

static bool check_table_7_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int k_v = (int)(element) + 1;
    if (!gbm_subscript(problem, "pi", 1, k_v, s->pi_v_n1))
        return false;
    return true;
}
static bool check_table_7_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_table_7_v_in((const struct state *)state, element, problem);
}

#endif

/* table.8     */

GBM_FN void derive_table_8_v(const struct state *s, const struct gbm_team *team, long long element)
{
    const int k_v = (int)(element) + 1;
    const real once = gbm_logdet(s->Q_v_n2, s->Q_v + ((((k_v) - 1) * (long long)s->Q_v_n2 + (1) - 1) * (long long)s->Q_v_n3 + (1) - 1));
    table_8_v(k_v) = (REAL_C(0.5) * once);
}
#ifndef __CUDACC__
GBM_HOST_DERIVE(derive_table_8_v)
#endif

#ifndef __CUDACC__
static int64_t cells_table_8_v_in(const struct state *s, int64_t element, int64_t *out)
{
    const int k_v = (int)(element) + 1;
    int64_t count = 0;
    if (out)
        out[count] = (k_v) - 1;
    count++;
    return count;
}
static int64_t cells_table_8_v(const void *state, int64_t element, int64_t *out)
{
    return cells_table_8_v_in((const struct state *)state, element, out);
}

static void subscripts_table_8_v_in(const struct state *s, int64_t element, int *out)
{
    const int k_v = (int)(element) + 1;
    out[0] = k_v;
}
static void subscripts_table_8_v(const void *state, int64_t element, int *out)
{
    subscripts_table_8_v_in((const struct state *)state, element, out);
}

static int64_t enumerate_table_8_v(const void *state, int *tuples)
{
    const struct state *s = (const struct state *)state;
    int64_t count = 0;
    for (int k_v = 1; k_v <= s->pi_v_n1; k_v++) {
        if (tuples)
            tuples[count * 1 + 0] = k_v;
        count++;
    }
    return count;
}

static bool check_table_8_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int k_v = (int)(element) + 1;
    if (!gbm_subscript(problem, "Q", 1, k_v, s->Q_v_n1))
        return false;
    return true;
}
static bool check_table_8_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return check_table_8_v_in((const struct state *)state, element, problem);
}

#endif

/* pi ~ ddirch(a[])    vector_mixture.gbm:2:5
 * Its full conditional is a ddirch: the coefficients of the logarithm of each cell. */
GBM_FN real coefficients_update_pi_v(const struct state *s, const struct gbm_team *team,
    long long element, real *sums)
{
    const int n0 = s->a_v_n1, at0 = 0; /* pi */
    const int d = at0 + n0;
    gbm_fill(d, sums, 0);
    gbm_total whole = 0;
    {
        if (s->z_v_seen) {
            GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
                if (z_v_live(i_v)) {
                    {
                        const int a_v = z_v(i_v);
                        if (a_v >= 1 && a_v <= s->a_v_n1) {
                            sums[at0 + a_v - (1)] += 1;
                        }
                    }
                }
            }
        }
    }
    if (team->lanes > 1 && (s->z_v_seen)) {
        for (int i = 0; i < d; i++)
            sums[i] = (real)gbm_team_sum(team, sums[i]);
    }
    if (!s->z_v_seen) {
        {
            for (int a1_v = 1; a1_v <= s->a_v_n1; a1_v++) {
                sums[at0 + a1_v - (1)] += table_1_v(a1_v);
            }
        }
    }
    {
        for (int a2_v = 1; a2_v <= s->a_v_n1; a2_v++) {
            sums[at0 + a2_v - (1)] += a_v(a2_v) - 1;
        }
    }
    return (real)whole;
}

GBM_FN void update_pi_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    const int n0 = s->a_v_n1, at0 = 0; /* pi */
    const int d = at0 + n0;
    GBM_SCRATCH(sums, sums_small, d);
    GBM_SCRATCH(drawn, drawn_small, d);
    const real whole = coefficients_update_pi_v(s, team, element, sums);
    GBM_SCRATCH(alpha_v, alpha_v_small, d);
    for (int j = 0; j < d; j++)
        alpha_v[j] = sums[j] + 1;
    gbm_draw_dirichlet_shared(rng, team, d, alpha_v, drawn);
    gbm_team_sync(team);
    GBM_TEAM_FOR(a_v, 1, (s->a_v_n1) + 1, team) {
        pi_v(a_v) = drawn[at0 + a_v - (1)];
    }
    gbm_team_sync(team);
}

#ifndef __CUDACC__
static int dimension_update_pi_v(const void *state, int64_t element)
{
    const struct state *s = (const struct state *)state;
    const int n0 = s->a_v_n1, at0 = 0; /* pi */
    const int d = at0 + n0;
    return d;
}
static void get_update_pi_v(const void *state, int64_t element, double *x)
{
    const struct state *s = (const struct state *)state;
    const int n0 = s->a_v_n1, at0 = 0; /* pi */
    const int d = at0 + n0;
    for (int a_v = 1; a_v <= s->a_v_n1; a_v++) {
        x[at0 + a_v - (1)] = (double)pi_v(a_v);
    }
}
static void set_update_pi_v(const void *state, int64_t element, const double *x)
{
    const struct state *s = (const struct state *)state;
    const int n0 = s->a_v_n1, at0 = 0; /* pi */
    const int d = at0 + n0;
    for (int a_v = 1; a_v <= s->a_v_n1; a_v++) {
        pi_v(a_v) = (real)x[at0 + a_v - (1)];
    }
}
static double conditional_update_pi_v(const void *state, int64_t element, const double *x)
{
    const struct state *s = (const struct state *)state;
    const int n0 = s->a_v_n1, at0 = 0; /* pi */
    const int d = at0 + n0;
    GBM_SCRATCH(sums, sums_small, d);
    const real whole = coefficients_update_pi_v(s, &gbm_alone, element, sums);
    double total = (double)whole;
    for (int i = 0; i < d; i++)
        total += (double)gbm_xlogy(sums[i], (real)x[i]);
    return total;
}
#endif

/* A joint Gaussian block:
 *     mu[k,1:P] ~ dmnorm(m0[], T0[,])    vector_mixture.gbm:4:9
 * Its precision Q and potential b come from
 *     mu[k,1:P] ~ dmnorm(m0[], T0[,])
 *     x[i,1:P] ~ dmnorm(mu[z[i],], Q[z[i],,])
 */
GBM_FN void assemble_update_mu_v(const struct state *s,
    const struct gbm_team *team, long long element,
    real *__restrict__ Q, real *__restrict__ b)
{
    const int k_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* mu */
    const int d = at0 + n0;
    gbm_fill((long long)d * d, Q, 0);
    gbm_fill(d, b, 0);
    {
        if (s->x_v_stride != 0) {
            if (s->x_v_seen || s->x_v_stride == 0) {
                GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
                    gbm_total a_v_sum = 0;
                    for (int a_v = 1; a_v <= *s->P_v; a_v++) {
                        a_v_sum += x_v_seen(i_v, a_v);
                    }
                    if ((z_v(i_v) == k_v) && ((real)a_v_sum > 0)) {
                        for (int a1_v = 1; a1_v <= *s->P_v; a1_v++) {
                            gbm_total k_v_sum = 0;
                            for (int k1_v = 1; k1_v <= *s->P_v; k1_v++) {
                                k_v_sum += (gbm_within(z_v(i_v), s->Q_v_n1) ? Q_v(z_v(i_v), a1_v, k1_v) : GBM_NAN) * x_v(i_v, k1_v);
                            }
                            gbm_total j_v_sum = 0;
                            for (int j_v = 1; j_v <= *s->P_v; j_v++) {
                                j_v_sum += (gbm_within(z_v(i_v), s->Q_v_n1) ? Q_v(z_v(i_v), j_v, a1_v) : GBM_NAN) * x_v(i_v, j_v);
                            }
                            b[at0 + a1_v - (1)] += REAL_C(0.5) * (real)k_v_sum + REAL_C(0.5) * (real)j_v_sum;
                        }
                        for (int a2_v = 1; a2_v <= *s->P_v; a2_v++) {
                            for (int b_v = 1; b_v <= *s->P_v; b_v++) {
                                Q[(at0 + a2_v - (1)) * d + at0 + b_v - (1)] += REAL_C(0.5) * (gbm_within(z_v(i_v), s->Q_v_n1) ? Q_v(z_v(i_v), a2_v, b_v) : GBM_NAN) + REAL_C(0.5) * (gbm_within(z_v(i_v), s->Q_v_n1) ? Q_v(z_v(i_v), b_v, a2_v) : GBM_NAN);
                            }
                        }
                    }
                }
            }
        }
    }
    for (int i = 0; i < d * d && team->lanes > 1 && (s->x_v_stride != 0); i++)
        Q[i] = (real)gbm_team_sum(team, Q[i]);
    for (int i = 0; i < d && team->lanes > 1 && (s->x_v_stride != 0); i++)
        b[i] = (real)gbm_team_sum(team, b[i]);
    {
        for (int a3_v = 1; a3_v <= *s->P_v; a3_v++) {
            gbm_total k_v_sum1 = 0;
            for (int k2_v = 1; k2_v <= *s->P_v; k2_v++) {
                k_v_sum1 += T0_v(a3_v, k2_v) * m0_v(k2_v);
            }
            gbm_total j_v_sum1 = 0;
            for (int j1_v = 1; j1_v <= *s->P_v; j1_v++) {
                j_v_sum1 += T0_v(j1_v, a3_v) * m0_v(j1_v);
            }
            b[at0 + a3_v - (1)] += REAL_C(0.5) * (real)k_v_sum1 + REAL_C(0.5) * (real)j_v_sum1;
        }
        for (int a4_v = 1; a4_v <= *s->P_v; a4_v++) {
            for (int b1_v = 1; b1_v <= *s->P_v; b1_v++) {
                Q[(at0 + a4_v - (1)) * d + at0 + b1_v - (1)] += REAL_C(0.5) * T0_v(a4_v, b1_v) + REAL_C(0.5) * T0_v(b1_v, a4_v);
            }
        }
    }
    if (s->x_v_stride == 0) {
        {
            for (int a5_v = 1; a5_v <= *s->P_v; a5_v++) {
                gbm_total k_v_sum2 = 0;
                for (int k3_v = 1; k3_v <= *s->P_v; k3_v++) {
                    k_v_sum2 += Q_v(k_v, a5_v, k3_v) * table_5_v(k_v, k3_v);
                }
                gbm_total j_v_sum2 = 0;
                for (int j2_v = 1; j2_v <= *s->P_v; j2_v++) {
                    j_v_sum2 += Q_v(k_v, j2_v, a5_v) * table_5_v(k_v, j2_v);
                }
                gbm_total k_v_sum3 = 0;
                for (int k4_v = 1; k4_v <= *s->P_v; k4_v++) {
                    k_v_sum3 += Q_v(k_v, a5_v, k4_v) * table_4_v(k_v, k4_v);
                }
                gbm_total j_v_sum3 = 0;
                for (int j3_v = 1; j3_v <= *s->P_v; j3_v++) {
                    j_v_sum3 += Q_v(k_v, j3_v, a5_v) * table_4_v(k_v, j3_v);
                }
                b[at0 + a5_v - (1)] += REAL_C(0.5) * (real)k_v_sum2 + REAL_C(0.5) * (real)j_v_sum2 + (REAL_C(0.5) * (real)k_v_sum3 + REAL_C(0.5) * (real)j_v_sum3) * table_2_v(k_v);
            }
            for (int a6_v = 1; a6_v <= *s->P_v; a6_v++) {
                for (int b2_v = 1; b2_v <= *s->P_v; b2_v++) {
                    Q[(at0 + a6_v - (1)) * d + at0 + b2_v - (1)] += table_2_v(k_v) * (REAL_C(0.5) * Q_v(k_v, a6_v, b2_v) + REAL_C(0.5) * Q_v(k_v, b2_v, a6_v));
                }
            }
        }
    }
}

GBM_FN void update_mu_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    const int k_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* mu */
    const int d = at0 + n0;
    GBM_SCRATCH(Q, Q_small, (long long)d * d);
    GBM_SCRATCH(b, b_small, d);
    GBM_SCRATCH(drawn, drawn_small, d);
    assemble_update_mu_v(s, team, element, Q, b);
    GBM_SCRATCH(flags, flags_small, d / 4 + 1);
    unsigned char *const fixed = (unsigned char *)flags;
    int some = 0;
    for (int a_v = 1; a_v <= *s->P_v; a_v++) {
        some |= fixed[at0 + a_v - (1)] = (unsigned char)mu_v_seen(k_v, a_v);
    }
    if (some) {
        for (int a1_v = 1; a1_v <= *s->P_v; a1_v++) {
            drawn[at0 + a1_v - (1)] = mu_v(k_v, a1_v);
        }
        gbm_condition_on(d, Q, b, fixed, drawn);
    }
    if (!gbm_gaussian_draw_shared(rng, team, d, Q, b, drawn))
        return; /* not positive definite: the block stays */
    gbm_team_sync(team);
    for (int a2_v = 1; a2_v <= *s->P_v; a2_v++) {
        if (!some || !fixed[at0 + a2_v - (1)]) mu_v(k_v, a2_v) = drawn[at0 + a2_v - (1)];
    }
}

#ifndef __CUDACC__
static int dimension_update_mu_v(const void *state, int64_t element)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* mu */
    const int d = at0 + n0;
    return d;
}
static void get_update_mu_v(const void *state, int64_t element, double *x)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* mu */
    const int d = at0 + n0;
    for (int a_v = 1; a_v <= *s->P_v; a_v++) {
        x[at0 + a_v - (1)] = (double)mu_v(k_v, a_v);
    }
}
static void set_update_mu_v(const void *state, int64_t element, const double *x)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* mu */
    const int d = at0 + n0;
    for (int a_v = 1; a_v <= *s->P_v; a_v++) {
        mu_v(k_v, a_v) = (real)x[at0 + a_v - (1)];
    }
}
static double conditional_update_mu_v(const void *state, int64_t element, const double *x)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* mu */
    const int d = at0 + n0;
    GBM_SCRATCH(Q, Q_small, (long long)d * d);
    GBM_SCRATCH(b, b_small, d);
    assemble_update_mu_v(s, &gbm_alone, element, Q, b);
    double total = 0;
    for (int i = 0; i < d; i++) {
        total += (double)b[i] * x[i];
        for (int j = 0; j < d; j++)
            total -= 0.5 * (double)Q[i * d + j] * x[i] * x[j];
    }
    return total;
}
#endif

/* Q[k,1:P,1:P] ~ dwish(R[,], df)    vector_mixture.gbm:5:9
 * Its full conditional is a dwish: the coefficients of logdet(x) (returned) and each cell. */
GBM_FN real coefficients_update_Q_v(const struct state *s, const struct gbm_team *team,
    long long element, real *sums)
{
    const int k_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* Q */
    const int d = at0 + n0;
    gbm_fill((long long)d * d, sums, 0);
    gbm_total whole = 0;
    {
        if (s->x_v_stride != 0) {
            if (s->x_v_seen || s->x_v_stride == 0) {
                GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
                    gbm_total a_v_sum = 0;
                    for (int a_v = 1; a_v <= *s->P_v; a_v++) {
                        a_v_sum += x_v_seen(i_v, a_v);
                    }
                    if ((z_v(i_v) == k_v) && ((real)a_v_sum > 0)) {
                        whole += REAL_C(0.5);
                        for (int a1_v = 1; a1_v <= *s->P_v; a1_v++) {
                            for (int b_v = 1; b_v <= *s->P_v; b_v++) {
                                sums[(at0 + a1_v - (1)) * d + at0 + b_v - (1)] += -REAL_C(0.5) * (x_v(i_v, b_v) - (gbm_within(z_v(i_v), s->mu_v_n1) ? mu_v(z_v(i_v), b_v) : GBM_NAN)) * (x_v(i_v, a1_v) - (gbm_within(z_v(i_v), s->mu_v_n1) ? mu_v(z_v(i_v), a1_v) : GBM_NAN));
                            }
                        }
                    }
                }
            }
        }
    }
    if (team->lanes > 1 && (s->x_v_stride != 0)) {
        whole = gbm_team_sum(team, whole);
        for (int i = 0; i < d * d; i++)
            sums[i] = (real)gbm_team_sum(team, sums[i]);
    }
    if (s->x_v_stride == 0) {
        {
            whole += REAL_C(0.5) * table_2_v(k_v);
            for (int a2_v = 1; a2_v <= *s->P_v; a2_v++) {
                for (int b1_v = 1; b1_v <= *s->P_v; b1_v++) {
                    sums[(at0 + a2_v - (1)) * d + at0 + b1_v - (1)] += -REAL_C(0.5) * table_6_v(k_v, a2_v, b1_v) - REAL_C(0.5) * (table_4_v(k_v, a2_v) - mu_v(k_v, a2_v)) * table_5_v(k_v, b1_v) - REAL_C(0.5) * (table_4_v(k_v, b1_v) - mu_v(k_v, b1_v)) * table_5_v(k_v, a2_v) - REAL_C(0.5) * (table_4_v(k_v, b1_v) - mu_v(k_v, b1_v)) * (table_4_v(k_v, a2_v) - mu_v(k_v, a2_v)) * table_2_v(k_v);
                }
            }
        }
    }
    {
        whole += REAL_C(0.5) * *s->df_v - REAL_C(0.5) * (real)*s->P_v - REAL_C(0.5);
        for (int a3_v = 1; a3_v <= *s->P_v; a3_v++) {
            for (int b2_v = 1; b2_v <= *s->P_v; b2_v++) {
                sums[(at0 + a3_v - (1)) * d + at0 + b2_v - (1)] += -REAL_C(0.5) * R_v(a3_v, b2_v);
            }
        }
    }
    return (real)whole;
}

GBM_FN void update_Q_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    const int k_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* Q */
    const int d = at0 + n0;
    GBM_SCRATCH(sums, sums_small, (long long)d * d);
    GBM_SCRATCH(drawn, drawn_small, (long long)d * d);
    const real whole = coefficients_update_Q_v(s, team, element, sums);
    GBM_SCRATCH(R_v, R_v_small, (long long)d * d);
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++)
            R_v[i * d + j] = -2 * ((sums[i * d + j] + sums[j * d + i]) / 2);
    const real k1_v = 2 * whole + d + 1;
    gbm_draw_wishart_shared(rng, team, d, R_v, k1_v, drawn);
    gbm_team_sync(team);
    for (int a_v = 1; a_v <= *s->P_v; a_v++) {
        for (int b_v = 1; b_v <= *s->P_v; b_v++) {
            Q_v(k_v, a_v, b_v) = drawn[(at0 + a_v - (1)) * d + b_v - 1];
        }
    }
    gbm_team_sync(team);
}

#ifndef __CUDACC__
static int dimension_update_Q_v(const void *state, int64_t element)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* Q */
    const int d = at0 + n0;
    return d * d;
}
static void get_update_Q_v(const void *state, int64_t element, double *x)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* Q */
    const int d = at0 + n0;
    for (int a_v = 1; a_v <= *s->P_v; a_v++) {
        for (int b_v = 1; b_v <= *s->P_v; b_v++) {
            x[(at0 + a_v - (1)) * d + b_v - 1] = (double)Q_v(k_v, a_v, b_v);
        }
    }
}
static void set_update_Q_v(const void *state, int64_t element, const double *x)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* Q */
    const int d = at0 + n0;
    for (int a_v = 1; a_v <= *s->P_v; a_v++) {
        for (int b_v = 1; b_v <= *s->P_v; b_v++) {
            Q_v(k_v, a_v, b_v) = (real)x[(at0 + a_v - (1)) * d + b_v - 1];
        }
    }
}
static double conditional_update_Q_v(const void *state, int64_t element, const double *x)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* Q */
    const int d = at0 + n0;
    GBM_SCRATCH(sums, sums_small, (long long)d * d);
    const real whole = coefficients_update_Q_v(s, &gbm_alone, element, sums);
    double total = (double)(whole * gbm_logdet(d, (const real *)x));
    for (int i = 0; i < d * d; i++)
        total += (double)sums[i] * x[i];
    return total;
}
#endif

/* z[i] ~ dcat(pi[])    vector_mixture.gbm:8:9
 * Every value of its finite support is tried.
 * child: x[i,1:P] ~ dmnorm(mu[z[i],], Q[z[i],,])
 */
struct conditional_z_v {
    const struct state *s;
    const struct gbm_team *team;
    long long element;
    int loop0; /* i */
    real c1; /* coefficient of log(pi[x]) */
    real lower, upper;
};

GBM_FN void prepare_z_v(struct conditional_z_v *k_,
    const struct state *s, const struct gbm_team *team,
    long long element)
{
    const int i_v = (int)(element) + 1;
    gbm_total c1 = 0;
    c1 += 1;
    gbm_total lower = 1;
    gbm_total upper = s->pi_v_n1;
    k_->s = s;
    k_->team = team;
    k_->element = element;
    k_->loop0 = i_v;
    k_->c1 = (real)c1;
    k_->lower = (real)lower;
    k_->upper = (real)upper;
}

GBM_INLINE real density_z_v(const void *context, real x)
{
    const struct conditional_z_v *k_ = (const struct conditional_z_v *)context;
    const struct state *s = k_->s;
    const struct gbm_team *team = k_->team;
    const int i_v = k_->loop0;
    gbm_total total = 0;
    if (k_->c1 != 0) {
        total += gbm_times((gbm_within((int)(x), s->table_7_v_n1) ? table_7_v((int)(x)) : GBM_NAN), k_->c1);
    }
    gbm_team_sync(team);
    z_v(i_v) = (int)x;
    gbm_team_sync(team);
    {
        gbm_total sum = 0;
        gbm_total a_v_sum = 0;
        GBM_TEAM_FOR(a_v, 1, (*s->P_v) + 1, team) {
            a_v_sum += x_v_seen(i_v, a_v);
        }
        a_v_sum = gbm_team_sum(team, a_v_sum);
        if ((real)a_v_sum > 0) {
            gbm_total j_v_sum = 0;
            GBM_TEAM_FOR(j_v, 1, (*s->P_v) + 1, team) {
                gbm_total k_v_sum = 0;
                for (int k_v = 1; k_v <= *s->P_v; k_v++) {
                    k_v_sum += (gbm_within(z_v(i_v), s->Q_v_n1) ? Q_v(z_v(i_v), j_v, k_v) : GBM_NAN) * (x_v(i_v, k_v) - (gbm_within(z_v(i_v), s->mu_v_n1) ? mu_v(z_v(i_v), k_v) : GBM_NAN));
                }
                j_v_sum += (x_v(i_v, j_v) - (gbm_within(z_v(i_v), s->mu_v_n1) ? mu_v(z_v(i_v), j_v) : GBM_NAN)) * (real)k_v_sum;
            }
            j_v_sum = gbm_team_sum(team, j_v_sum);
            sum += -REAL_C(0.9189385332046727) * (real)*s->P_v - REAL_C(0.5) * (real)j_v_sum + (gbm_within(z_v(i_v), s->table_8_v_n1) ? table_8_v(z_v(i_v)) : GBM_NAN);
        }
        total += sum;
    }
    return (real)total;
}

GBM_FN void update_z_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    const int i_v = (int)(element) + 1;
    struct conditional_z_v k_;
    prepare_z_v(&k_, s, team, element);
    const real value = gbm_enumerate_draw(rng, (int)k_.lower, (int)k_.upper, density_z_v, &k_);
    gbm_team_sync(team);
    z_v(i_v) = (int)value;
}

/* How the rows of z[i] ~ dcat(pi[]) are laid out: where each kind of number begins
 * among the columns, the values, a trial's room. */
struct rows_z_v {
    long long elements;
    int first, last; /* values */
#ifdef __CUDACC__
    static constexpr int n1 = GBM_SIZE(update_z_v, 5, 0);
    static constexpr int u1 = 0;
    static constexpr int x1 = 0;
    static constexpr int u2 = u1 + 1;
    static constexpr int r1 = 0;
    static constexpr int u3 = u2 + n1;
    static constexpr int u4 = u3 + n1 * (n1 + 1) / 2;
    static constexpr int x2 = x1 + n1;
    static constexpr int columns = x2 + 1;
    static constexpr int values = u4 + 1;
    static constexpr int room = r1 + n1;
    static constexpr int flags = 1, features = GBM_SIZE(update_z_v, 4, 0);
    GBM_FN constexpr bool flag(int c) { return (c >= x2 && c < x2 + 1); }
#else
    long long n1; /* P */
    long long u1; /* table.7[x] */
    long long x1; /* x[i, k] */
    long long u2; /* -mu[x, k] */
    long long r1;
    long long u3; /* Q[x, j, k] */
    long long u4; /* (-0.9189385332) * P + table.8[x] */
    long long x2; /* 1 */
    long long columns, values, room;
#endif
};

GBM_FN void layout_z_v(const struct state *s, struct rows_z_v *at)
{
    at->elements = *s->N_v;
    at->first = 1;
    at->last = s->pi_v_n1;
#ifndef __CUDACC__
    at->n1 = *s->P_v;
    at->columns = at->values = at->room = 0;
    at->u1 = at->values;
    at->values += 1;
    at->x1 = at->columns;
    at->columns += at->n1;
    at->u2 = at->values;
    at->values += at->n1;
    at->r1 = at->room;
    at->room += at->n1;
    at->u3 = at->values;
    at->values += at->n1 * (at->n1 + 1) / 2;
    at->u4 = at->values;
    at->values += 1;
    at->x2 = at->columns;
    at->columns += 1;
#endif
}

GBM_FN void values_z_v(const struct state *s, const struct rows_z_v *at,
    const struct gbm_team *team, int k, gbm_total *u)
{
    u[at->u1] = (gbm_within((int)(k), s->table_7_v_n1) ? table_7_v((int)(k)) : GBM_NAN);
    GBM_TEAM_FOR(a, 0, at->n1, team) {
        const int k_v = 1 + a;
        u[at->u2 + a] = (-(gbm_within((int)(k), s->mu_v_n1) ? mu_v((int)(k), k_v) : GBM_NAN));
    }
    GBM_TEAM_FOR(a1, 0, at->n1, team) {
        const int j_v = 1 + a1;
        for (int a2 = 0; a2 <= a1; a2++) {
            const int k1_v = 1 + a2;
            u[at->u3 + a1 * (a1 + 1) / 2 + a2] = (gbm_within((int)(k), s->Q_v_n1) ? Q_v((int)(k), j_v, k1_v) : GBM_NAN) + (k1_v < j_v ? (gbm_within((int)(k), s->Q_v_n1) ? Q_v((int)(k), k1_v, j_v) : GBM_NAN) : 0);
        }
    }
    u[at->u4] = (-REAL_C(0.9189385332046727) * (real)*s->P_v + (gbm_within((int)(k), s->table_8_v_n1) ? table_8_v((int)(k)) : GBM_NAN));
}

GBM_FN void columns_z_v(const struct state *s, const struct rows_z_v *at,
    long long element, gbm_total *x)
{
    const int i_v = (int)(element) + 1;
    GBM_EACH_TURN
    for (int c = 0; c < at->columns; c++)
        x[c * GBM_ROWS] = 0;
    {
        gbm_total a_v_sum = 0;
        for (int a_v = 1; a_v <= *s->P_v; a_v++) {
            a_v_sum += x_v_seen(i_v, a_v);
        }
        if ((real)a_v_sum > 0) {
            GBM_EACH_TURN
            for (int a = 0; a < at->n1; a++) {
                const int k_v = 1 + a;
                x[(at->x1 + a) * GBM_ROWS] = x_v(i_v, k_v);
            }
            x[(at->x2) * GBM_ROWS] = 1;
        }
    }
}

/* total[r]: the log density of row r at the value of u, up to a constant. */
GBM_INLINE void trial_z_v(const struct rows_z_v *at,
    const gbm_total *__restrict__ u, const gbm_total *__restrict__ x,
    gbm_total *__restrict__ room, gbm_total *__restrict__ total)
{
    GBM_EACH_ROW total[r] = u[0];
    GBM_EACH_TURN
    for (int a = 0; a < at->n1; a++) {
        GBM_EACH_ROW room[(at->r1 + a) * GBM_ROWS + r] = (x[(at->x1 + a) * GBM_ROWS + r] + u[at->u2 + a]);
    }
    gbm_total sum[GBM_ROWS];
    gbm_rows_quadratic((int)at->n1, u + at->u3, room + at->r1 * GBM_ROWS, sum);
    GBM_EACH_ROW total[r] += x[(at->x2) * GBM_ROWS + r] * ((sum[r] * (REAL_C(-0.5)) + u[at->u4]));
}

GBM_FN void put_z_v(const struct state *s, long long element, int value)
{
    const int i_v = (int)(element) + 1;
    z_v(i_v) = value;
}

#ifndef __CUDACC__
static int sizes_z_v(const void *state, int64_t *out)
{
    struct rows_z_v at;
    layout_z_v((const struct state *)state, &at);
    out[0] = at.columns;
    out[1] = at.room;
    out[2] = at.values;
    out[3] = at.last - at.first + 1ll;
    const int64_t n = at.columns - (1);
    out[4] = 1 + n * (n + 3) / 2;
    out[5] = at.n1;
    return 6;
}
#endif

/* Components trade places:
 *     z[i] ~ dcat(pi[])    vector_mixture.gbm:8:9
 *     pi ~ ddirch(a[])    vector_mixture.gbm:2:5
 *     Q[k,1:P,1:P] ~ dwish(R[,], df)    vector_mixture.gbm:5:9
 *     mu[k,1:P] ~ dmnorm(m0[], T0[,])    vector_mixture.gbm:4:9
 */
GBM_FN_BIG real density_exchange_z_v(const struct state *s, const struct gbm_team *team,
    long long element)
{
    GBM_KNOWING(s)
    gbm_total total = 0;
    {
        gbm_total sum = 0;
        gbm_total j_v_sum = 0;
        GBM_TEAM_FOR(j_v, 1, (s->a_v_n1) + 1, team) {
            j_v_sum += gbm_xlogy(a_v(j_v) - 1, pi_v(j_v));
        }
        j_v_sum = gbm_team_sum(team, j_v_sum);
        sum += (real)j_v_sum;
        total += sum;
    }
    return (real)total;
}

/* Two components' parameters. */
GBM_FN void trade_exchange_z_v(const struct state *s, const struct gbm_team *team, int a_, int b_)
{
    gbm_team_sync(team);
    if (team->lane == 0)
    {
        const real value = pi_v((int)(a_));
        pi_v((int)(a_)) = pi_v((int)(b_));
        pi_v((int)(b_)) = value;
    }
    GBM_TEAM_FOR(at_v, 1, s->Q_v_n2 + 1, team) {
        for (int at1_v = 1; at1_v <= s->Q_v_n3; at1_v++) {
            {
                const real value = Q_v((int)(a_), at_v, at1_v);
                Q_v((int)(a_), at_v, at1_v) = Q_v((int)(b_), at_v, at1_v);
                Q_v((int)(b_), at_v, at1_v) = value;
            }
        }
    }
    GBM_TEAM_FOR(at2_v, 1, s->mu_v_n2 + 1, team) {
        {
            const real value = mu_v((int)(a_), at2_v);
            mu_v((int)(a_), at2_v) = mu_v((int)(b_), at2_v);
            mu_v((int)(b_), at2_v) = value;
        }
    }
    gbm_team_sync(team);
}

GBM_FN void trade_labels_exchange_z_v(const struct state *s, const struct gbm_team *team, int a_, int b_)
{
    GBM_TEAM_FOR(i_v, 1, (*s->N_v) + 1, team) {
        if (z_v_live(i_v)) {
            z_v(i_v) = gbm_traded(z_v(i_v), a_ + (0), b_ + (0));
        }
    }
    gbm_team_sync(team);
}

GBM_FN bool held_exchange_z_v(const struct state *s)
{
    bool held = false;
    held = held || s->z_v_stride == 0 || gbm_any_seen(s->z_v_seen, s->z_v_n1);
    held = held || s->pi_v_stride == 0 || gbm_any_seen(s->pi_v_seen, s->pi_v_n1);
    held = held || s->pi_v_n1 != s->pi_v_n1;
    held = held || s->Q_v_stride == 0 || gbm_any_seen(s->Q_v_seen, s->Q_v_n1 * s->Q_v_n2 * s->Q_v_n3);
    held = held || s->Q_v_n1 != s->pi_v_n1;
    held = held || s->mu_v_stride == 0 || gbm_any_seen(s->mu_v_seen, s->mu_v_n1 * s->mu_v_n2);
    held = held || s->mu_v_n1 != s->pi_v_n1;
    return held;
}

GBM_FN void exchange_z_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    const int labels = s->pi_v_n1;
    if (labels < 2 || held_exchange_z_v(s))
        return;
    real *const tuning = s->exchange_z_v_tuning;
    if (!gbm_exchange_asks(tuning, rng->sweep))
        return;
    const int a_ = gbm_relabel_any(rng, labels) + 1;
    const int any = gbm_relabel_any(rng, labels - 1) + 1;
    const int b_ = any + (any >= a_);
    const real u = gbm_uniform(rng);
    const real here = density_exchange_z_v(s, team, element);
    trade_exchange_z_v(s, team, a_, b_);
    const real there = density_exchange_z_v(s, team, element);
    const bool trade = gbm_exchanged(here, there, u);
    if (!trade)
        trade_exchange_z_v(s, team, a_, b_);
    if (trade)
        trade_labels_exchange_z_v(s, team, a_, b_);
    if (!adapting || adapting == GBM_ALONE)
        return;
    gbm_team_sync(team); /* all have read what is learnt */
    if (team->lane == 0) {
        tuning[GBM_EXCHANGE_ASKED] += 1;
        tuning[GBM_EXCHANGE_MADE] += trade;
    }
}

#ifndef __CUDACC__
static int64_t tuning_exchange_z_v(const void *state)
{
    return GBM_EXCHANGE_CELLS;
}
static int64_t cost_exchange_z_v(const void *state)
{
    const struct state *s = (const struct state *)state;
    return (int64_t)((double)s->pi_v_n1 + (double)s->Q_v_n2 * (double)s->Q_v_n3 + (double)s->mu_v_n2 + 1);
}
#endif

/* z[i] ~ dcat(pi[])    vector_mixture.gbm:8:9
 */
GBM_FN void forward_z_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    simulate_z_v(s, rng, element);
}

/* x[i,1:P] ~ dmnorm(mu[z[i],], Q[z[i],,])    vector_mixture.gbm:9:9
 */
/* A joint Gaussian block:
 *     x[i,1:P] ~ dmnorm(mu[z[i],], Q[z[i],,])    vector_mixture.gbm:9:9
 * Its precision Q and potential b come from
 *     x[i,1:P] ~ dmnorm(mu[z[i],], Q[z[i],,])
 */
GBM_FN void assemble_rest_x_v(const struct state *s,
    const struct gbm_team *team, long long element,
    real *__restrict__ Q, real *__restrict__ b)
{
    const int i_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* x */
    const int d = at0 + n0;
    gbm_fill((long long)d * d, Q, 0);
    gbm_fill(d, b, 0);
    {
        for (int a_v = 1; a_v <= *s->P_v; a_v++) {
            gbm_total k_v_sum = 0;
            for (int k_v = 1; k_v <= *s->P_v; k_v++) {
                k_v_sum += (gbm_within(z_v(i_v), s->Q_v_n1) ? Q_v(z_v(i_v), a_v, k_v) : GBM_NAN) * (gbm_within(z_v(i_v), s->mu_v_n1) ? mu_v(z_v(i_v), k_v) : GBM_NAN);
            }
            gbm_total j_v_sum = 0;
            for (int j_v = 1; j_v <= *s->P_v; j_v++) {
                j_v_sum += (gbm_within(z_v(i_v), s->Q_v_n1) ? Q_v(z_v(i_v), j_v, a_v) : GBM_NAN) * (gbm_within(z_v(i_v), s->mu_v_n1) ? mu_v(z_v(i_v), j_v) : GBM_NAN);
            }
            b[at0 + a_v - (1)] += REAL_C(0.5) * (real)k_v_sum + REAL_C(0.5) * (real)j_v_sum;
        }
        for (int a1_v = 1; a1_v <= *s->P_v; a1_v++) {
            for (int b_v = 1; b_v <= *s->P_v; b_v++) {
                Q[(at0 + a1_v - (1)) * d + at0 + b_v - (1)] += REAL_C(0.5) * (gbm_within(z_v(i_v), s->Q_v_n1) ? Q_v(z_v(i_v), a1_v, b_v) : GBM_NAN) + REAL_C(0.5) * (gbm_within(z_v(i_v), s->Q_v_n1) ? Q_v(z_v(i_v), b_v, a1_v) : GBM_NAN);
            }
        }
    }
}

GBM_FN void rest_x_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    const int i_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* x */
    const int d = at0 + n0;
    GBM_SCRATCH(Q, Q_small, (long long)d * d);
    GBM_SCRATCH(b, b_small, d);
    GBM_SCRATCH(drawn, drawn_small, d);
    assemble_rest_x_v(s, team, element, Q, b);
    GBM_SCRATCH(flags, flags_small, d / 4 + 1);
    unsigned char *const fixed = (unsigned char *)flags;
    int some = 0;
    for (int a_v = 1; a_v <= *s->P_v; a_v++) {
        some |= fixed[at0 + a_v - (1)] = (unsigned char)x_v_seen(i_v, a_v);
    }
    if (some) {
        for (int a1_v = 1; a1_v <= *s->P_v; a1_v++) {
            drawn[at0 + a1_v - (1)] = x_v(i_v, a1_v);
        }
        gbm_condition_on(d, Q, b, fixed, drawn);
    }
    if (!gbm_gaussian_draw_shared(rng, team, d, Q, b, drawn))
        return; /* not positive definite: the block stays */
    gbm_team_sync(team);
    for (int a2_v = 1; a2_v <= *s->P_v; a2_v++) {
        if (!some || !fixed[at0 + a2_v - (1)]) x_v(i_v, a2_v) = drawn[at0 + a2_v - (1)];
    }
}

#ifndef __CUDACC__
static int dimension_rest_x_v(const void *state, int64_t element)
{
    const struct state *s = (const struct state *)state;
    const int i_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* x */
    const int d = at0 + n0;
    return d;
}
static void get_rest_x_v(const void *state, int64_t element, double *x)
{
    const struct state *s = (const struct state *)state;
    const int i_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* x */
    const int d = at0 + n0;
    for (int a_v = 1; a_v <= *s->P_v; a_v++) {
        x[at0 + a_v - (1)] = (double)x_v(i_v, a_v);
    }
}
static void set_rest_x_v(const void *state, int64_t element, const double *x)
{
    const struct state *s = (const struct state *)state;
    const int i_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* x */
    const int d = at0 + n0;
    for (int a_v = 1; a_v <= *s->P_v; a_v++) {
        x_v(i_v, a_v) = (real)x[at0 + a_v - (1)];
    }
}
static double conditional_rest_x_v(const void *state, int64_t element, const double *x)
{
    const struct state *s = (const struct state *)state;
    const int i_v = (int)(element) + 1;
    const int n0 = *s->P_v, at0 = 0; /* x */
    const int d = at0 + n0;
    GBM_SCRATCH(Q, Q_small, (long long)d * d);
    GBM_SCRATCH(b, b_small, d);
    assemble_rest_x_v(s, &gbm_alone, element, Q, b);
    double total = 0;
    for (int i = 0; i < d; i++) {
        total += (double)b[i] * x[i];
        for (int j = 0; j < d; j++)
            total -= 0.5 * (double)Q[i * d + j] * x[i] * x[j];
    }
    return total;
}
#endif

GBM_FN void update_x_v(const struct state *s, struct gbm_rng *rng,
    const struct gbm_team *team, long long element, int adapting)
{
    rest_x_v(s, rng, team, element, adapting);
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
    GBM_ACT_DRAW(0, simulate_pi_v)
    GBM_ACT_WEIGH(0, logdensity_pi_v)
    GBM_ACT_DRAW(1, simulate_mu_v)
    GBM_ACT_WEIGH(1, logdensity_mu_v)
    GBM_ACT_DRAW(2, simulate_Q_v)
    GBM_ACT_WEIGH(2, logdensity_Q_v)
    GBM_ACT_DRAW(3, simulate_z_v)
    GBM_ACT_WEIGH(3, logdensity_z_v)
    GBM_ACT_DRAW(4, simulate_x_v)
    GBM_ACT_WEIGH(4, logdensity_x_v)
    GBM_ACT_DERIVE(5, derive_table_1_v)
    GBM_ACT_DERIVE(6, derive_table_2_v)
    GBM_ACT_DERIVE(7, derive_table_3_v)
    GBM_ACT_DERIVE(8, derive_table_4_v)
    GBM_ACT_DERIVE(9, derive_table_5_v)
    GBM_ACT_DERIVE(10, derive_table_6_v)
    GBM_ACT_DERIVE(11, derive_table_7_v)
    GBM_ACT_DERIVE(12, derive_table_8_v)
    }
    return 0;
}
GBM_KERNEL_FILTER
#elif defined GBM_CHAINS
#include "chains_cuda.h"
GBM_FN void sweep_of_chain(const struct gbm_sweeper *k)
{
    GBM_CHAIN_STEP(0, update_pi_v)
    GBM_CHAIN_DERIVE(steps, 1, derive_table_7_v)
    GBM_CHAIN_STEP(2, update_mu_v)
    GBM_CHAIN_STEP(3, update_Q_v)
    GBM_CHAIN_DERIVE(steps, 4, derive_table_8_v)
    GBM_CHAIN_STEP(5, update_z_v)
    GBM_CHAIN_STEP(6, exchange_z_v)
    GBM_CHAIN_DERIVE(steps, 8, derive_table_1_v)
    GBM_CHAIN_DERIVE(steps, 9, derive_table_2_v)
    GBM_CHAIN_DERIVE(steps, 10, derive_table_3_v)
    GBM_CHAIN_DERIVE(steps, 11, derive_table_4_v)
    GBM_CHAIN_DERIVE(steps, 12, derive_table_5_v)
    GBM_CHAIN_DERIVE(steps, 13, derive_table_6_v)
    GBM_CHAIN_DERIVE(steps, 14, derive_table_7_v)
    GBM_CHAIN_DERIVE(steps, 15, derive_table_8_v)
}
GBM_FN void keep_of_chain(const struct gbm_sweeper *k)
{
    GBM_CHAIN_STEP(16, forward_z_v)
    GBM_CHAIN_DERIVE(steps, 18, derive_table_1_v)
    GBM_CHAIN_STEP(19, update_x_v)
    GBM_CHAIN_DERIVE(families, 5, derive_table_1_v)
    GBM_CHAIN_DERIVE(families, 6, derive_table_2_v)
    GBM_CHAIN_DERIVE(families, 7, derive_table_3_v)
    GBM_CHAIN_DERIVE(families, 8, derive_table_4_v)
    GBM_CHAIN_DERIVE(families, 9, derive_table_5_v)
    GBM_CHAIN_DERIVE(families, 10, derive_table_6_v)
    GBM_CHAIN_DERIVE(families, 11, derive_table_7_v)
    GBM_CHAIN_DERIVE(families, 12, derive_table_8_v)
}
GBM_FN double density_of_chain(const struct gbm_sweeper *k)
{
    double sum = 0;
    GBM_CHAIN_DENSITY(0, logdensity_pi_v)
    GBM_CHAIN_DENSITY(1, logdensity_mu_v)
    GBM_CHAIN_DENSITY(2, logdensity_Q_v)
    GBM_CHAIN_DENSITY(3, logdensity_z_v)
    GBM_CHAIN_DENSITY(4, logdensity_x_v)
    return sum;
}
GBM_FN void known_of_chain(const struct gbm_sweeper *k, double *lp)
{
}
GBM_KERNEL_CHAINS
#else
GBM_KERNEL(update_pi_v, 0)
GBM_KERNEL(update_mu_v, 2)
GBM_KERNEL(update_Q_v, 3)
GBM_KERNEL_TRIALS(update_z_v, z_v, 5)
GBM_KERNEL(exchange_z_v, 6)
GBM_KERNEL(forward_z_v, 16)
GBM_KERNEL(update_x_v, 19)
GBM_KERNEL_DERIVE(derive_table_1_v)
GBM_KERNEL_DERIVE(derive_table_2_v)
GBM_KERNEL_TALLY(derive_table_3_v, table_3_v)
GBM_KERNEL_DERIVE(derive_table_4_v)
GBM_KERNEL_TALLY(derive_table_5_v, table_5_v)
GBM_KERNEL_TALLY(derive_table_6_v, table_6_v)
GBM_KERNEL_DERIVE(derive_table_7_v)
GBM_KERNEL_DERIVE(derive_table_8_v)
GBM_KERNEL_CELL(index0)
#endif
GBM_KERNEL_LOGDENSITY(logdensity_pi_v)
GBM_KERNEL_LOGDENSITY(logdensity_mu_v)
GBM_KERNEL_LOGDENSITY(logdensity_Q_v)
GBM_KERNEL_LOGDENSITY(logdensity_z_v)
GBM_KERNEL_LOGDENSITY(logdensity_x_v)
#endif

/* ---- the host's tables ---- */

static const struct gbm_variable variables[] = {
    {.name = "pi", .where = "vector_mixture.gbm:2:5", .role = GBM_STOCHASTIC, .integer = 0, .ndim = 1, .observed = 0, .needed = 0, .maintained = 0},
    {.name = "a", .where = "vector_mixture.gbm:2:17", .role = GBM_GIVEN, .integer = 0, .ndim = 1, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "K", .where = "vector_mixture.gbm:3:17", .role = GBM_GIVEN, .integer = 1, .ndim = 0, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "mu", .where = "vector_mixture.gbm:4:9", .role = GBM_STOCHASTIC, .integer = 0, .ndim = 2, .observed = 0, .needed = 0, .maintained = 0, .indices = "k,", .sizes = "K,P"},
    {.name = "P", .where = "vector_mixture.gbm:4:16", .role = GBM_GIVEN, .integer = 1, .ndim = 0, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "m0", .where = "vector_mixture.gbm:4:28", .role = GBM_GIVEN, .integer = 0, .ndim = 1, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "T0", .where = "vector_mixture.gbm:4:34", .role = GBM_GIVEN, .integer = 0, .ndim = 2, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "Q", .where = "vector_mixture.gbm:5:9", .role = GBM_STOCHASTIC, .integer = 0, .ndim = 3, .observed = 0, .needed = 0, .maintained = 0, .indices = "k,,", .sizes = "K,P,P"},
    {.name = "R", .where = "vector_mixture.gbm:5:30", .role = GBM_GIVEN, .integer = 0, .ndim = 2, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "df", .where = "vector_mixture.gbm:5:36", .role = GBM_GIVEN, .integer = 0, .ndim = 0, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "N", .where = "vector_mixture.gbm:7:17", .role = GBM_GIVEN, .integer = 1, .ndim = 0, .observed = 0, .needed = 1, .maintained = 0},
    {.name = "z", .where = "vector_mixture.gbm:8:9", .role = GBM_STOCHASTIC, .integer = 1, .ndim = 1, .observed = 0, .needed = 0, .maintained = 0, .barren = 1, .indices = "i", .sizes = "N"},
    {.name = "x", .where = "vector_mixture.gbm:9:9", .role = GBM_STOCHASTIC, .integer = 0, .ndim = 2, .observed = 1, .needed = 0, .maintained = 0, .indices = "i,", .sizes = "N,P"},
    {.name = "table.1", .where = "", .role = GBM_DERIVED, .integer = 0, .ndim = 1, .observed = 0, .needed = 0, .maintained = 1, .hidden = 1},
    {.name = "table.2", .where = "", .role = GBM_DERIVED, .integer = 0, .ndim = 1, .observed = 0, .needed = 0, .maintained = 1, .hidden = 1},
    {.name = "table.3", .where = "", .role = GBM_DERIVED, .integer = 0, .ndim = 2, .observed = 0, .needed = 0, .maintained = 1, .hidden = 1},
    {.name = "table.4", .where = "", .role = GBM_DERIVED, .integer = 0, .ndim = 2, .observed = 0, .needed = 0, .maintained = 1, .hidden = 1},
    {.name = "table.5", .where = "", .role = GBM_DERIVED, .integer = 0, .ndim = 2, .observed = 0, .needed = 0, .maintained = 1, .hidden = 1},
    {.name = "table.6", .where = "", .role = GBM_DERIVED, .integer = 0, .ndim = 3, .observed = 0, .needed = 0, .maintained = 1, .hidden = 1},
    {.name = "table.7", .where = "", .role = GBM_DERIVED, .integer = 0, .ndim = 1, .observed = 0, .needed = 0, .maintained = 1, .hidden = 1},
    {.name = "table.8", .where = "", .role = GBM_DERIVED, .integer = 0, .ndim = 1, .observed = 0, .needed = 0, .maintained = 1, .hidden = 1},
    {.name = "exchange_z_v tuning", .where = "", .role = GBM_TUNING, .integer = 0, .ndim = 1, .family = 3, .cells = tuning_exchange_z_v},
    {.name = "index 0 start", .where = "", .role = GBM_INVERSE, .integer = 1, .ndim = 1, .family = 3},
    {.name = "index 0 items", .where = "", .role = GBM_INVERSE, .integer = 1, .ndim = 1, .family = 3},
    {.name = 0}};

static void bind_state(void *state, const struct gbm_binding *b)
{
    struct state *s = (struct state *)state;
    s->pi_v = (real *)b[0].values;
    s->pi_v_n1 = b[0].dim[0];
    s->pi_v_seen = b[0].seen;
    s->pi_v_stride = b[0].stride;
    s->a_v = (real *)b[1].values;
    s->a_v_n1 = b[1].dim[0];
    s->K_v = (int *)b[2].values;
    s->mu_v = (real *)b[3].values;
    s->mu_v_n1 = b[3].dim[0];
    s->mu_v_n2 = b[3].dim[1];
    s->mu_v_seen = b[3].seen;
    s->mu_v_stride = b[3].stride;
    s->P_v = (int *)b[4].values;
    s->m0_v = (real *)b[5].values;
    s->m0_v_n1 = b[5].dim[0];
    s->T0_v = (real *)b[6].values;
    s->T0_v_n1 = b[6].dim[0];
    s->T0_v_n2 = b[6].dim[1];
    s->Q_v = (real *)b[7].values;
    s->Q_v_n1 = b[7].dim[0];
    s->Q_v_n2 = b[7].dim[1];
    s->Q_v_n3 = b[7].dim[2];
    s->Q_v_seen = b[7].seen;
    s->Q_v_stride = b[7].stride;
    s->R_v = (real *)b[8].values;
    s->R_v_n1 = b[8].dim[0];
    s->R_v_n2 = b[8].dim[1];
    s->df_v = (real *)b[9].values;
    s->N_v = (int *)b[10].values;
    s->z_v = (int *)b[11].values;
    s->z_v_n1 = b[11].dim[0];
    s->z_v_seen = b[11].seen;
    s->z_v_stride = b[11].stride;
    s->x_v = (real *)b[12].values;
    s->x_v_n1 = b[12].dim[0];
    s->x_v_n2 = b[12].dim[1];
    s->x_v_seen = b[12].seen;
    s->x_v_stride = b[12].stride;
    s->table_1_v = (real *)b[13].values;
    s->table_1_v_n1 = b[13].dim[0];
    s->table_1_v_stride = b[13].stride;
    s->table_2_v = (real *)b[14].values;
    s->table_2_v_n1 = b[14].dim[0];
    s->table_2_v_stride = b[14].stride;
    s->table_3_v = (real *)b[15].values;
    s->table_3_v_n1 = b[15].dim[0];
    s->table_3_v_n2 = b[15].dim[1];
    s->table_3_v_stride = b[15].stride;
    s->table_4_v = (real *)b[16].values;
    s->table_4_v_n1 = b[16].dim[0];
    s->table_4_v_n2 = b[16].dim[1];
    s->table_4_v_stride = b[16].stride;
    s->table_5_v = (real *)b[17].values;
    s->table_5_v_n1 = b[17].dim[0];
    s->table_5_v_n2 = b[17].dim[1];
    s->table_5_v_stride = b[17].stride;
    s->table_6_v = (real *)b[18].values;
    s->table_6_v_n1 = b[18].dim[0];
    s->table_6_v_n2 = b[18].dim[1];
    s->table_6_v_n3 = b[18].dim[2];
    s->table_6_v_stride = b[18].stride;
    s->table_7_v = (real *)b[19].values;
    s->table_7_v_n1 = b[19].dim[0];
    s->table_7_v_stride = b[19].stride;
    s->table_8_v = (real *)b[20].values;
    s->table_8_v_n1 = b[20].dim[0];
    s->table_8_v_stride = b[20].stride;
    s->exchange_z_v_tuning = (real *)b[21].values;
    s->exchange_z_v_tuning_stride = b[21].stride;
    s->index0_start = (int *)b[22].values;
    s->index0_start_stride = b[22].stride;
    s->index0_item = (int *)b[23].values;
    s->index0_item_stride = b[23].stride;
}
static void shift(void *state, int chain)
{
    shift_state((struct state *)state, chain);
}

static const int load_order[] = {1, 2, 4, 5, 6, 8, 9, 10, 0, 3, 7, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};

static double violation_pi_v_in(const struct state *s, int64_t element)
{
    double sum = 0;
    return sum;
}
static double violation_pi_v(const void *state, int64_t element)
{
    return violation_pi_v_in((const struct state *)state, element);
}

static void parents_pi_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    for (int k_v = 1; k_v <= s->a_v_n1; k_v++) {
        {
            const int at1_ = k_v;
            if (1 && at1_ >= 1 && at1_ <= s->a_v_n1)
                visit(context, 1, (int64_t)((0) * s->a_v_n1 + at1_ - 1));
        }
    }
}
static double violation_mu_v_in(const struct state *s, int64_t element)
{
    const int k_v = (int)(element) + 1;
    double sum = 0;
    return sum;
}
static double violation_mu_v(const void *state, int64_t element)
{
    return violation_mu_v_in((const struct state *)state, element);
}

static void parents_mu_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)(element) + 1;
    for (int k1_v = 1; k1_v <= s->m0_v_n1; k1_v++) {
        {
            const int at1_ = k1_v;
            if (1 && at1_ >= 1 && at1_ <= s->m0_v_n1)
                visit(context, 5, (int64_t)((0) * s->m0_v_n1 + at1_ - 1));
        }
    }
    for (int k2_v = 1; k2_v <= s->T0_v_n1; k2_v++) {
        for (int l_v = 1; l_v <= s->T0_v_n2; l_v++) {
            {
                const int at1_ = k2_v;
                const int at2_ = l_v;
                if (1 && at1_ >= 1 && at1_ <= s->T0_v_n1 && at2_ >= 1 && at2_ <= s->T0_v_n2)
                    visit(context, 6, (int64_t)(((0) * s->T0_v_n1 + at1_ - 1) * s->T0_v_n2 + at2_ - 1));
            }
        }
    }
}
static double violation_Q_v_in(const struct state *s, int64_t element)
{
    const int k_v = (int)(element) + 1;
    double sum = 0;
    sum += gbm_outside(*s->df_v, *s->P_v - 1, GBM_INF);
    return sum;
}
static double violation_Q_v(const void *state, int64_t element)
{
    return violation_Q_v_in((const struct state *)state, element);
}

static void parents_Q_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)(element) + 1;
    for (int k1_v = 1; k1_v <= s->R_v_n1; k1_v++) {
        for (int l_v = 1; l_v <= s->R_v_n2; l_v++) {
            {
                const int at1_ = k1_v;
                const int at2_ = l_v;
                if (1 && at1_ >= 1 && at1_ <= s->R_v_n1 && at2_ >= 1 && at2_ <= s->R_v_n2)
                    visit(context, 8, (int64_t)(((0) * s->R_v_n1 + at1_ - 1) * s->R_v_n2 + at2_ - 1));
            }
        }
    }
    {
        if (1)
            visit(context, 9, (int64_t)(0));
    }
}
static double violation_z_v_in(const struct state *s, int64_t element)
{
    const int i_v = (int)(element) + 1;
    double sum = 0;
    sum += gbm_outside(z_v(i_v), 1, s->pi_v_n1);
    if (sum > 0)
        return sum;
    sum += gbm_outside(pi_v(z_v(i_v)), 0, GBM_INF);
    return sum;
}
static double violation_z_v(const void *state, int64_t element)
{
    return violation_z_v_in((const struct state *)state, element);
}

static int64_t categories_z_v_in(const struct state *s, int64_t element)
{
    const int i_v = (int)(element) + 1;
    return (int64_t)(s->pi_v_n1);
}
static int64_t categories_z_v(const void *state, int64_t element)
{
    return categories_z_v_in((const struct state *)state, element);
}

static void parents_z_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int i_v = (int)(element) + 1;
    for (int k_v = 1; k_v <= s->pi_v_n1; k_v++) {
        {
            const int at1_ = k_v;
            if (1 && at1_ >= 1 && at1_ <= s->pi_v_n1)
                visit(context, 0, (int64_t)((0) * s->pi_v_n1 + at1_ - 1));
        }
    }
}
static double violation_x_v_in(const struct state *s, int64_t element)
{
    const int i_v = (int)(element) + 1;
    double sum = 0;
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
    for (int k_v = 1; k_v <= s->mu_v_n2; k_v++) {
        {
            const int at1_ = i_v;
            if (1 && at1_ >= 1 && at1_ <= s->z_v_n1)
                visit(context, 11, (int64_t)((0) * s->z_v_n1 + at1_ - 1));
        }
        visit(context, 3, -1);
    }
    for (int k1_v = 1; k1_v <= s->Q_v_n2; k1_v++) {
        for (int l_v = 1; l_v <= s->Q_v_n3; l_v++) {
            {
                const int at1_ = i_v;
                if (1 && at1_ >= 1 && at1_ <= s->z_v_n1)
                    visit(context, 11, (int64_t)((0) * s->z_v_n1 + at1_ - 1));
            }
            visit(context, 7, -1);
        }
    }
}
static bool beyond_x_v_in(const struct state *s, int64_t element, struct gbm_problem *problem)
{
    const int i_v = (int)(element) + 1;
    if (!gbm_subscript(problem, "mu", 1, z_v(i_v), s->mu_v_n1))
        return false;
    if (!gbm_subscript(problem, "Q", 1, z_v(i_v), s->Q_v_n1))
        return false;
    return true;
}
static bool beyond_x_v(const void *state, int64_t element, struct gbm_problem *problem)
{
    return beyond_x_v_in((const struct state *)state, element, problem);
}

static void parents_table_4_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    {
        const int at1_ = k_v;
        if (1 && at1_ >= 1 && at1_ <= s->table_2_v_n1)
            visit(context, 14, (int64_t)((0) * s->table_2_v_n1 + at1_ - 1));
    }
    {
        const int at1_ = k_v;
        const int at2_ = k1_v;
        if (1 && at1_ >= 1 && at1_ <= s->table_3_v_n1 && at2_ >= 1 && at2_ <= s->table_3_v_n2)
            visit(context, 15, (int64_t)(((0) * s->table_3_v_n1 + at1_ - 1) * s->table_3_v_n2 + at2_ - 1));
    }
    {
        const int at1_ = k_v;
        if (1 && at1_ >= 1 && at1_ <= s->table_2_v_n1)
            visit(context, 14, (int64_t)((0) * s->table_2_v_n1 + at1_ - 1));
    }
}
static void parents_table_7_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)(element) + 1;
    {
        const int at1_ = k_v;
        if (1 && at1_ >= 1 && at1_ <= s->pi_v_n1)
            visit(context, 0, (int64_t)((0) * s->pi_v_n1 + at1_ - 1));
    }
}
static void parents_table_8_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)(element) + 1;
    for (int k1_v = 1; k1_v <= s->Q_v_n2; k1_v++) {
        for (int l_v = 1; l_v <= s->Q_v_n3; l_v++) {
            {
                const int at1_ = k_v;
                const int at2_ = k1_v;
                const int at3_ = l_v;
                if (1 && at1_ >= 1 && at1_ <= s->Q_v_n1 && at2_ >= 1 && at2_ <= s->Q_v_n2 && at3_ >= 1 && at3_ <= s->Q_v_n3)
                    visit(context, 7, (int64_t)((((0) * s->Q_v_n1 + at1_ - 1) * s->Q_v_n2 + at2_ - 1) * s->Q_v_n3 + at3_ - 1));
            }
        }
    }
}
static const struct gbm_family families[] = {
    {.variable = 0,
     .text = "pi ~ ddirch(a[])",
     .where = "vector_mixture.gbm:2:5",
     .stochastic = 1, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 0, .table = -1,
     .enumerate = enumerate_pi_v,
     .subscripts = subscripts_pi_v,
     .cells = cells_pi_v,
     .check = check_pi_v,
     .logdensity = logdensity_pi_v_host, .density_kernel = "logdensity_pi_v_kernel",
     .start = start_pi_v_host,
     .violation = violation_pi_v,
     .parents = parents_pi_v,
     .support = GBM_SUPPORT_SIMPLEX,
     .simulate = simulate_pi_v_host,
     .repeats = 1},
    {.variable = 3,
     .text = "mu[k,1:P] ~ dmnorm(m0[], T0[,])",
     .where = "vector_mixture.gbm:4:9",
     .stochastic = 1, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 1, .table = -1,
     .enumerate = enumerate_mu_v,
     .subscripts = subscripts_mu_v,
     .cells = cells_mu_v,
     .check = check_mu_v,
     .logdensity = logdensity_mu_v_host, .density_kernel = "logdensity_mu_v_kernel",
     .start = start_mu_v_host,
     .violation = violation_mu_v,
     .parents = parents_mu_v,
     .simulate = simulate_mu_v_host,
     .repeats = 1},
    {.variable = 7,
     .text = "Q[k,1:P,1:P] ~ dwish(R[,], df)",
     .where = "vector_mixture.gbm:5:9",
     .stochastic = 1, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 1, .table = -1,
     .enumerate = enumerate_Q_v,
     .subscripts = subscripts_Q_v,
     .cells = cells_Q_v,
     .check = check_Q_v,
     .logdensity = logdensity_Q_v_host, .density_kernel = "logdensity_Q_v_kernel",
     .start = start_Q_v_host,
     .violation = violation_Q_v,
     .parents = parents_Q_v,
     .support = GBM_SUPPORT_MATRIX,
     .simulate = simulate_Q_v_host,
     .repeats = 1},
    {.variable = 11,
     .text = "z[i] ~ dcat(pi[])",
     .where = "vector_mixture.gbm:8:9",
     .stochastic = 1, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 1, .table = -1,
     .enumerate = enumerate_z_v,
     .subscripts = subscripts_z_v,
     .cells = cells_z_v,
     .check = check_z_v,
     .logdensity = logdensity_z_v_host, .density_kernel = "logdensity_z_v_kernel",
     .start = start_z_v_host,
     .violation = violation_z_v,
     .bounds = bounds_z_v_host,
     .categories = categories_z_v,
     .parents = parents_z_v,
     .simulate = simulate_z_v_host,
     .barren = 1},
    {.variable = 12,
     .text = "x[i,1:P] ~ dmnorm(mu[z[i],], Q[z[i],,])",
     .where = "vector_mixture.gbm:9:9",
     .stochastic = 1, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 1, .table = -1,
     .enumerate = enumerate_x_v,
     .subscripts = subscripts_x_v,
     .cells = cells_x_v,
     .check = check_x_v,
     .logdensity = logdensity_x_v_host, .density_kernel = "logdensity_x_v_kernel",
     .start = start_x_v_host,
     .violation = violation_x_v,
     .parents = parents_x_v,
     .beyond = beyond_x_v,
     .simulate = simulate_x_v_host,
     .leaf = true,
     .repeats = 1},
    {.variable = 13,
     .text = "table.1",
     .where = "",
     .stochastic = 0, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 1, .table = -1,
     .enumerate = enumerate_table_1_v,
     .subscripts = subscripts_table_1_v,
     .cells = cells_table_1_v,
     .check = check_table_1_v,
     .derive = refresh_table_1_v_host, .derive_kernel = "derive_table_1_v_kernel",
     .refresh = refresh_table_1_v_host},
    {.variable = 14,
     .text = "table.2",
     .where = "",
     .stochastic = 0, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 1, .table = -1,
     .enumerate = enumerate_table_2_v,
     .subscripts = subscripts_table_2_v,
     .cells = cells_table_2_v,
     .check = check_table_2_v,
     .derive = refresh_table_2_v_host, .derive_kernel = "derive_table_2_v_kernel",
     .refresh = refresh_table_2_v_host},
    {.variable = 15,
     .text = "table.3",
     .where = "",
     .stochastic = 0, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 2, .table = -1,
     .enumerate = enumerate_table_3_v,
     .subscripts = subscripts_table_3_v,
     .cells = cells_table_3_v,
     .check = check_table_3_v,
     .derive = refresh_table_3_v_host, .derive_kernel = "derive_table_3_v_kernel",
     .refresh = refresh_table_3_v_host},
    {.variable = 16,
     .text = "table.4",
     .where = "",
     .stochastic = 0, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 2, .table = -1,
     .enumerate = enumerate_table_4_v,
     .subscripts = subscripts_table_4_v,
     .cells = cells_table_4_v,
     .check = check_table_4_v,
     .parents = parents_table_4_v,
     .derive = derive_table_4_v_host, .derive_kernel = "derive_table_4_v_kernel"},
    {.variable = 17,
     .text = "table.5",
     .where = "",
     .stochastic = 0, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 2, .table = -1,
     .enumerate = enumerate_table_5_v,
     .subscripts = subscripts_table_5_v,
     .cells = cells_table_5_v,
     .check = check_table_5_v,
     .derive = refresh_table_5_v_host, .derive_kernel = "derive_table_5_v_kernel",
     .refresh = refresh_table_5_v_host},
    {.variable = 18,
     .text = "table.6",
     .where = "",
     .stochastic = 0, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 3, .table = -1,
     .enumerate = enumerate_table_6_v,
     .subscripts = subscripts_table_6_v,
     .cells = cells_table_6_v,
     .check = check_table_6_v,
     .derive = refresh_table_6_v_host, .derive_kernel = "derive_table_6_v_kernel",
     .refresh = refresh_table_6_v_host},
    {.variable = 19,
     .text = "table.7",
     .where = "",
     .stochastic = 0, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 1, .table = -1,
     .enumerate = enumerate_table_7_v,
     .subscripts = subscripts_table_7_v,
     .cells = cells_table_7_v,
     .check = check_table_7_v,
     .parents = parents_table_7_v,
     .derive = derive_table_7_v_host, .derive_kernel = "derive_table_7_v_kernel"},
    {.variable = 20,
     .text = "table.8",
     .where = "",
     .stochastic = 0, .data_block = 0, .auxiliary = 0, .augmented = 0,
     .nloops = 1, .table = -1,
     .enumerate = enumerate_table_8_v,
     .subscripts = subscripts_table_8_v,
     .cells = cells_table_8_v,
     .check = check_table_8_v,
     .parents = parents_table_8_v,
     .derive = derive_table_8_v_host, .derive_kernel = "derive_table_8_v_kernel"},
};

static const struct gbm_inverse inverses[] = {
    {.variable = 14, .family = 3, .start = 22, .item = 23, .latent = 1, .device = true, .cell = index0_host, .cell_kernel = "index0_kernel"},
    {.variable = -1}};

static const struct gbm_sequence sequences[] = {
    {.nreaders = 0}};

static void family_work(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double a_v = s->a_v_n1;
    const double K_v = *s->K_v;
    const double P_v = *s->P_v;
    const double N_v = *s->N_v;
    const double pi_v = s->pi_v_n1;
    *out++ = 35 * a_v + 23;
    *out++ = K_v * (P_v * (4 * P_v + 4) + 15);
    *out++ = K_v * (15 * P_v + P_v * (2 * P_v + 1) + 39);
    *out++ = 10 * N_v;
    *out++ = N_v * (P_v * (4 * P_v + 4) + 15);
    *out++ = 2 * a_v * N_v;
    *out++ = 2 * K_v * N_v;
    *out++ = 3 * K_v * P_v * N_v;
    *out++ = 4 * K_v * P_v;
    *out++ = 5 * K_v * P_v * N_v;
    *out++ = 8 * K_v * (P_v * P_v) * N_v;
    *out++ = 10 * pi_v;
    *out++ = 11 * pi_v;
}

static void reads_0_x_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int i_v = (int)(element) + 1;
    for (int k_v = 1; k_v <= s->mu_v_n2; k_v++) {
        {
            const int at1_ = i_v;
            if (1 && at1_ >= 1 && at1_ <= s->z_v_n1)
                visit(context, 11, (int64_t)((0) * s->z_v_n1 + at1_ - 1));
        }
    }
    for (int k1_v = 1; k1_v <= s->Q_v_n2; k1_v++) {
        for (int l_v = 1; l_v <= s->Q_v_n3; l_v++) {
            {
                const int at1_ = i_v;
                if (1 && at1_ >= 1 && at1_ <= s->z_v_n1)
                    visit(context, 11, (int64_t)((0) * s->z_v_n1 + at1_ - 1));
            }
        }
    }
}
static void reads_0_table_1_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int a_v = (int)(element) + 1;
    for (int i_v = 1; i_v <= *s->N_v; i_v++) {
        {
            const int at1_ = i_v;
            if (1 && at1_ >= 1 && at1_ <= s->z_v_n1)
                visit(context, 11, (int64_t)((0) * s->z_v_n1 + at1_ - 1));
        }
    }
}
static void reads_0_table_2_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)(element) + 1;
    for (int i_v = 1; i_v <= *s->N_v; i_v++) {
        {
            const int at1_ = i_v;
            if (1 && at1_ >= 1 && at1_ <= s->z_v_n1)
                visit(context, 11, (int64_t)((0) * s->z_v_n1 + at1_ - 1));
        }
    }
}
static void reads_0_table_3_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    for (int i_v = 1; i_v <= *s->N_v; i_v++) {
        {
            const int at1_ = i_v;
            if (1 && at1_ >= 1 && at1_ <= s->z_v_n1)
                visit(context, 11, (int64_t)((0) * s->z_v_n1 + at1_ - 1));
        }
    }
}
static void reads_0_table_4_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    {
        const int at1_ = k_v;
        if (1 && at1_ >= 1 && at1_ <= s->table_2_v_n1)
            visit(context, 14, (int64_t)((0) * s->table_2_v_n1 + at1_ - 1));
    }
    {
        const int at1_ = k_v;
        const int at2_ = k1_v;
        if (1 && at1_ >= 1 && at1_ <= s->table_3_v_n1 && at2_ >= 1 && at2_ <= s->table_3_v_n2)
            visit(context, 15, (int64_t)(((0) * s->table_3_v_n1 + at1_ - 1) * s->table_3_v_n2 + at2_ - 1));
    }
    {
        const int at1_ = k_v;
        if (1 && at1_ >= 1 && at1_ <= s->table_2_v_n1)
            visit(context, 14, (int64_t)((0) * s->table_2_v_n1 + at1_ - 1));
    }
}
static void reads_0_table_5_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)gbm_quotient(element, *s->P_v) + 1;
    const int k1_v = (int)gbm_rest(element, *s->P_v) + 1;
    for (int i_v = 1; i_v <= *s->N_v; i_v++) {
        {
            const int at1_ = i_v;
            if (1 && at1_ >= 1 && at1_ <= s->z_v_n1)
                visit(context, 11, (int64_t)((0) * s->z_v_n1 + at1_ - 1));
        }
        {
            const int at1_ = k_v;
            const int at2_ = k1_v;
            if (1 && at1_ >= 1 && at1_ <= s->table_4_v_n1 && at2_ >= 1 && at2_ <= s->table_4_v_n2)
                visit(context, 16, (int64_t)(((0) * s->table_4_v_n1 + at1_ - 1) * s->table_4_v_n2 + at2_ - 1));
        }
    }
}
static void reads_0_table_6_v(const void *state, int64_t element,
    void (*visit)(void *context, int variable, int64_t cell),
    void *context)
{
    const struct state *s = (const struct state *)state;
    const int k_v = (int)gbm_quotient(gbm_quotient(element, *s->P_v), *s->P_v) + 1;
    const int a_v = (int)gbm_rest(gbm_quotient(element, *s->P_v), *s->P_v) + 1;
    const int b_v = (int)gbm_rest(element, *s->P_v) + 1;
    for (int i_v = 1; i_v <= *s->N_v; i_v++) {
        {
            const int at1_ = i_v;
            if (1 && at1_ >= 1 && at1_ <= s->z_v_n1)
                visit(context, 11, (int64_t)((0) * s->z_v_n1 + at1_ - 1));
        }
        {
            const int at1_ = k_v;
            const int at2_ = a_v;
            if (1 && at1_ >= 1 && at1_ <= s->table_4_v_n1 && at2_ >= 1 && at2_ <= s->table_4_v_n2)
                visit(context, 16, (int64_t)(((0) * s->table_4_v_n1 + at1_ - 1) * s->table_4_v_n2 + at2_ - 1));
        }
        {
            const int at1_ = k_v;
            const int at2_ = b_v;
            if (1 && at1_ >= 1 && at1_ <= s->table_4_v_n1 && at2_ >= 1 && at2_ <= s->table_4_v_n2)
                visit(context, 16, (int64_t)(((0) * s->table_4_v_n1 + at1_ - 1) * s->table_4_v_n2 + at2_ - 1));
        }
    }
}
static const struct gbm_reader readers[] = {
    {.family = 4, .reads = reads_0_x_v},
    {.family = 5, .reads = reads_0_table_1_v},
    {.family = 6, .reads = reads_0_table_2_v},
    {.family = 7, .reads = reads_0_table_3_v},
    {.family = 8, .reads = reads_0_table_4_v},
    {.family = 9, .reads = reads_0_table_5_v},
    {.family = 10, .reads = reads_0_table_6_v},
    {.family = -1}};

static int64_t cost_update_pi_v(const void *state)
{
    const struct state *s = (const struct state *)state;
    if (s->z_v_seen) {
        return (int64_t)((double)s->a_v_n1 + (double)*s->N_v);
    }
    return (int64_t)((double)s->a_v_n1);
}

GBM_HOST_RUN(1, update_pi_v, 0, 1, none)
static int64_t cost_update_mu_v(const void *state)
{
    const struct state *s = (const struct state *)state;
    if (s->x_v_stride != 0) {
        return (int64_t)((double)*s->N_v);
    }
    return (int64_t)(0);
}

GBM_HOST_RUN(2, update_mu_v, 2, 1, none)
static int64_t cost_update_Q_v(const void *state)
{
    const struct state *s = (const struct state *)state;
    if (s->x_v_stride != 0) {
        return (int64_t)((double)*s->N_v);
    }
    return (int64_t)(0);
}

GBM_HOST_RUN(1, update_Q_v, 3, 1, none)
static int dimension_z_v(const void *state, int64_t element)
{
    return 1;
}
static void get_z_v_cell(const struct state *s, int64_t element, real **cell_, int **count_)
{
    const int i_v = (int)(element) + 1;
    *count_ = &z_v(i_v);
}
static void get_z_v(const void *state, int64_t element, double *x)
{
    real *cell = 0;
    int *count = 0;
    get_z_v_cell((const struct state *)state, element, &cell, &count);
    *x = cell ? (double)*cell : *count;
}
static void set_z_v(const void *state, int64_t element, const double *x)
{
    real *cell = 0;
    int *count = 0;
    get_z_v_cell((const struct state *)state, element, &cell, &count);
    if (cell)
        *cell = (real)*x;
    else
        *count = (int)*x;
}
static double conditional_z_v_at(const void *state, int64_t element, const double *x)
{
    const struct state *s = (const struct state *)state;
    struct conditional_z_v k_;
    double before, value = -GBM_INF;
    prepare_z_v(&k_, s, &gbm_alone, element);
    get_z_v(state, element, &before);
    if (*x >= k_.lower && *x <= k_.upper)
        value = (double)density_z_v(&k_, (real)*x);
    set_z_v(state, element, &before);
    return value;
}

GBM_HOST_RUN_ROWS(3, update_z_v, z_v, 5)
GBM_HOST_RUN(2, exchange_z_v, 6, 0, none)
static const int members_exchange_z_v[] = {3, 0, 2, 1};
static int64_t cost_derive_table_1_v(const void *state)
{
    const struct state *s = (const struct state *)state;
    const int64_t rows = (int64_t)((double)*s->N_v);
    const int64_t groups = s->table_2_v_n1;
    return groups < 1 ? 1 : rows / groups;
}

static int64_t cost_derive_table_2_v(const void *state)
{
    const struct state *s = (const struct state *)state;
    const int64_t rows = (int64_t)((double)*s->N_v);
    const int64_t groups = s->table_2_v_n1;
    return groups < 1 ? 1 : rows / groups;
}

static int64_t cost_derive_table_3_v(const void *state)
{
    const struct state *s = (const struct state *)state;
    const int64_t rows = (int64_t)((double)*s->N_v);
    const int64_t groups = s->table_2_v_n1;
    return groups < 1 ? 1 : rows / groups;
}

static int64_t cost_derive_table_5_v(const void *state)
{
    const struct state *s = (const struct state *)state;
    const int64_t rows = (int64_t)((double)*s->N_v);
    const int64_t groups = s->table_2_v_n1;
    return groups < 1 ? 1 : rows / groups;
}

static int64_t cost_derive_table_6_v(const void *state)
{
    const struct state *s = (const struct state *)state;
    const int64_t rows = (int64_t)((double)*s->N_v);
    const int64_t groups = s->table_2_v_n1;
    return groups < 1 ? 1 : rows / groups;
}

GBM_HOST_RUN(4, forward_z_v, 16, 1, none)
GBM_HOST_RUN(3, update_x_v, 19, 1, none)
static void work_0(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    const double a_v = s->a_v_n1;
    /* sum statistics */
    *out++ = (double)(s->z_v_seen ? 1 : 0) * (N_v);
    *out++ = (double)(s->z_v_seen ? 1 : 0) * (2 * N_v * a_v);
    *out++ = 0;
    *out++ = 1;
    *out++ = (double)(s->z_v_seen ? 1 : 0) * (N_v * a_v);
    /* map draws */
    *out++ = 1;
    *out++ = 41 * a_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = a_v;
}
static const struct gbm_phase phases_0[] = {
    {.text = "sum: statistics of z[i] ~ dcat(pi[])", .counted = 12, .live = true,
     .nreads = 1, .nwrites = 0, .reads = (const int[]){11}},
    {.text = "map: draws",
     .nreads = 1, .nwrites = 1, .reads = (const int[]){1},
     .writes = (const int[]){0}},
};

static void work_1(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double pi_v = s->pi_v_n1;
    /* map recomputes */
    *out++ = pi_v;
    *out++ = 10 * pi_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = pi_v;
}
static const struct gbm_phase phases_1[] = {
    {.text = "map: recomputes of table.7",
     .nreads = 1, .nwrites = 1, .reads = (const int[]){0},
     .writes = (const int[]){11}},
};

static void work_2(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double K_v = *s->K_v;
    const double N_v = *s->N_v;
    const double P_v = *s->P_v;
    /* sum precision and potential */
    *out++ = (double)(s->x_v_stride != 0 ? 1 : 0) * (K_v * N_v);
    *out++ = (double)(s->x_v_stride != 0 ? 1 : 0) * (K_v * N_v * (P_v * (4 * P_v + 4) + 4 * (P_v * P_v)));
    *out++ = 0;
    *out++ = K_v;
    *out++ = (double)(s->x_v_stride != 0 ? 1 : 0) * (4 * K_v * N_v * (P_v * P_v));
    *out++ = (double)(s->x_v_stride != 0 ? 1 : 0) * (K_v * N_v * (P_v * P_v));
    *out++ = (double)(s->x_v_stride != 0 ? 1 : 0) * (2 * K_v * N_v * (P_v * P_v));
    /* solve draws */
    *out++ = K_v;
    *out++ = K_v * (P_v * (4 * P_v + 3) + 7 * (P_v * P_v) + 0.33333333333333331 * pow(P_v, 3)) + 40 * K_v * P_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = 4 * K_v * (P_v * P_v);
    *out++ = 2 * K_v * (P_v * P_v);
}
static const struct gbm_phase phases_2[] = {
    {.text = "sum: precision and potential of x[i,1:P] ~ dmnorm(mu[z[i],], Q[z[i],,])",
     .nreads = 3, .nwrites = 0, .reads = (const int[]){7, 11, 12}},
    {.text = "solve: draws",
     .nreads = 2, .nwrites = 1, .reads = (const int[]){6, 5},
     .writes = (const int[]){1}},
};

static void work_3(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double K_v = *s->K_v;
    const double N_v = *s->N_v;
    const double P_v = *s->P_v;
    /* sum statistics */
    *out++ = (double)(s->x_v_stride != 0 ? 1 : 0) * (K_v * N_v);
    *out++ = (double)(s->x_v_stride != 0 ? 1 : 0) * (K_v * N_v * P_v);
    *out++ = 0;
    *out++ = K_v;
    /* map draws */
    *out++ = K_v;
    *out++ = 44 * K_v * P_v;
    *out++ = 0;
    *out++ = 1;
}
static const struct gbm_phase phases_3[] = {
    {.text = "sum: statistics of x[i,1:P] ~ dmnorm(mu[z[i],], Q[z[i],,])",
     .nreads = 0, .nwrites = 0},
    {.text = "map: draws",
     .nreads = 0, .nwrites = 1,
     .writes = (const int[]){2}},
};

static void work_4(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double pi_v = s->pi_v_n1;
    const double Q_v = s->Q_v_n2;
    const double Q1_v = s->Q_v_n3;
    /* map recomputes */
    *out++ = pi_v;
    *out++ = 11 * pi_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = pi_v * Q_v * Q1_v;
}
static const struct gbm_phase phases_4[] = {
    {.text = "map: recomputes of table.8",
     .nreads = 1, .nwrites = 1, .reads = (const int[]){7},
     .writes = (const int[]){12}},
};

static void work_5(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    const double pi_v = s->pi_v_n1;
    const double P_v = *s->P_v;
    /* search draws */
    *out++ = N_v;
    *out++ = N_v * pi_v * (P_v * (4 * P_v + 4) + 4) + 40 * N_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = N_v * pi_v * P_v + N_v * pi_v * (P_v * P_v);
    *out++ = N_v * pi_v * P_v + N_v * pi_v * (P_v * P_v);
    *out++ = N_v * pi_v * P_v;
    *out++ = N_v * pi_v * (P_v * P_v);
    *out++ = N_v * pi_v;
}
static const struct gbm_phase phases_5[] = {
    {.text = "search: draws",
     .nreads = 5, .nwrites = 1, .reads = (const int[]){12, 3, 11, 7, 20},
     .writes = (const int[]){3}},
};

static void work_6(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    /* search components trade places */
    *out++ = N_v;
    *out++ = 40 * N_v;
    *out++ = 0;
    *out++ = 1;
}
static const struct gbm_phase phases_6[] = {
    {.text = "search: components trade places of z[i] ~ dcat(pi[])", .at_least = true,
     .nreads = 0, .nwrites = 4,
     .writes = (const int[]){3, 0, 2, 1}},
};

static void work_7(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    /* index sorts instances by the cell they hit */
    *out++ = N_v;
    *out++ = 0;
    *out++ = 0;
    *out++ = 1;
    *out++ = N_v;
    *out++ = N_v;
}
static const struct gbm_phase phases_7[] = {
    {.text = "index: sorts instances by the cell they hit of z[i] ~ dcat(pi[])",
     .nreads = 2, .nwrites = 0, .reads = (const int[]){14, 11}},
};

static void work_8(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    /* sum rows by group */
    *out++ = N_v;
    *out++ = 2 * N_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = N_v;
}
static const struct gbm_phase phases_8[] = {
    {.text = "sum: rows by group of table.1",
     .nreads = 1, .nwrites = 1, .reads = (const int[]){11},
     .writes = (const int[]){5}},
};

static void work_9(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    /* sum rows by group */
    *out++ = N_v;
    *out++ = 2 * N_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = N_v;
}
static const struct gbm_phase phases_9[] = {
    {.text = "sum: rows by group of table.2",
     .nreads = 1, .nwrites = 1, .reads = (const int[]){11},
     .writes = (const int[]){6}},
};

static void work_10(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    const double P_v = *s->P_v;
    /* sum rows by group */
    *out++ = N_v;
    *out++ = N_v * (P_v + 1);
    *out++ = 0;
    *out++ = 1;
    *out++ = N_v;
    *out++ = N_v * P_v;
}
static const struct gbm_phase phases_10[] = {
    {.text = "sum: rows by group of table.3",
     .nreads = 2, .nwrites = 1, .reads = (const int[]){11, 12},
     .writes = (const int[]){7}},
};

static void work_11(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double K_v = *s->K_v;
    const double P_v = *s->P_v;
    /* map recomputes */
    *out++ = K_v * P_v;
    *out++ = 4 * K_v * P_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = K_v * P_v;
    *out++ = K_v * P_v;
}
static const struct gbm_phase phases_11[] = {
    {.text = "map: recomputes of table.4",
     .nreads = 2, .nwrites = 1, .reads = (const int[]){14, 15},
     .writes = (const int[]){8}},
};

static void work_12(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    const double P_v = *s->P_v;
    /* sum rows by group */
    *out++ = N_v;
    *out++ = N_v * (3 * P_v + 1);
    *out++ = 0;
    *out++ = 1;
    *out++ = N_v;
    *out++ = N_v * P_v;
    *out++ = N_v * P_v;
}
static const struct gbm_phase phases_12[] = {
    {.text = "sum: rows by group of table.5",
     .nreads = 3, .nwrites = 1, .reads = (const int[]){11, 12, 16},
     .writes = (const int[]){9}},
};

static void work_13(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    const double P_v = *s->P_v;
    /* sum rows by group */
    *out++ = N_v;
    *out++ = N_v * (6 * (P_v * P_v) + 1);
    *out++ = 0;
    *out++ = 1;
    *out++ = N_v;
    *out++ = 2 * N_v * (P_v * P_v);
    *out++ = 2 * N_v * (P_v * P_v);
}
static const struct gbm_phase phases_13[] = {
    {.text = "sum: rows by group of table.6",
     .nreads = 3, .nwrites = 1, .reads = (const int[]){11, 12, 16},
     .writes = (const int[]){10}},
};

static void work_14(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double pi_v = s->pi_v_n1;
    /* map recomputes */
    *out++ = pi_v;
    *out++ = 10 * pi_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = pi_v;
}
static const struct gbm_phase phases_14[] = {
    {.text = "map: recomputes of table.7",
     .nreads = 1, .nwrites = 1, .reads = (const int[]){0},
     .writes = (const int[]){11}},
};

static void work_15(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double pi_v = s->pi_v_n1;
    const double Q_v = s->Q_v_n2;
    const double Q1_v = s->Q_v_n3;
    /* map recomputes */
    *out++ = pi_v;
    *out++ = 11 * pi_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = pi_v * Q_v * Q1_v;
}
static const struct gbm_phase phases_15[] = {
    {.text = "map: recomputes of table.8",
     .nreads = 1, .nwrites = 1, .reads = (const int[]){7},
     .writes = (const int[]){12}},
};

static void work_16(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    /* map draws from its distribution */
    *out++ = N_v;
    *out++ = 40 * N_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = N_v;
}
static const struct gbm_phase phases_16[] = {
    {.text = "map: draws from its distribution",
     .nreads = 1, .nwrites = 1, .reads = (const int[]){0},
     .writes = (const int[]){3}},
};

static void work_17(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    /* index sorts instances by the cell they hit */
    *out++ = N_v;
    *out++ = 0;
    *out++ = 0;
    *out++ = 1;
    *out++ = N_v;
    *out++ = N_v;
}
static const struct gbm_phase phases_17[] = {
    {.text = "index: sorts instances by the cell they hit of z[i] ~ dcat(pi[])",
     .nreads = 2, .nwrites = 0, .reads = (const int[]){14, 11}},
};

static void work_18(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    /* sum rows by group */
    *out++ = N_v;
    *out++ = 2 * N_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = N_v;
}
static const struct gbm_phase phases_18[] = {
    {.text = "sum: rows by group of table.1",
     .nreads = 1, .nwrites = 1, .reads = (const int[]){11},
     .writes = (const int[]){5}},
};

static void work_19(const void *state, double *out)
{
    const struct state *s = (const struct state *)state;
    const double N_v = *s->N_v;
    /* map draws from its distribution */
    *out++ = N_v;
    *out++ = 40 * N_v;
    *out++ = 0;
    *out++ = 1;
    *out++ = N_v;
    *out++ = N_v;
    *out++ = N_v;
}
static const struct gbm_phase phases_19[] = {
    {.text = "map: draws from its distribution",
     .nreads = 3, .nwrites = 1, .reads = (const int[]){3, 11, 7},
     .writes = (const int[]){4}},
};


static const int waits_0[] = {-1};
static const int waits_1[] = {0, -1};
static const int waits_2[] = {-1};
static const int waits_3[] = {2, -1};
static const int waits_4[] = {3, -1};
static const int waits_5[] = {4, 1, -1};
static const int waits_6[] = {5, -1};
static const int waits_7[] = {6, -1};
static const int waits_8[] = {6, -1};
static const int waits_9[] = {7, -1};
static const int waits_10[] = {6, -1};
static const int waits_11[] = {10, 9, -1};
static const int waits_12[] = {11, -1};
static const int waits_13[] = {11, -1};
static const int waits_14[] = {6, -1};
static const int waits_15[] = {6, -1};
static const int waits_16[] = {13, 12, 8, -1};
static const int waits_17[] = {16, -1};
static const int waits_18[] = {16, -1};
static const int waits_19[] = {16, -1};
static const struct gbm_step steps[] = {
    {.kind = GBM_STEP_MAP, .name = "update_pi_v",
     .variable = "pi", .sampler = "ddirch",
     .family = 0, .number = 0, .sequential = 0, .leaf = 0, .inverse = -1,
     .text = "pi ~ ddirch(a[])",
     .run = update_pi_v_run, .blocks = 1, .normals = GBM_NORMALS_FIRST(none),
     .block_size = dimension_update_pi_v, .block_get = get_update_pi_v, .block_set = set_update_pi_v, .conditional = conditional_update_pi_v,
     .cost = cost_update_pi_v,
     .nphases = 2, .phases = phases_0, .work = work_0,
     .waits = waits_0},
    {.kind = GBM_STEP_DERIVE, .name = "derive_table_7_v",
     .variable = "table.7", .sampler = "derived",
     .family = 11, .number = 1, .sequential = 0, .leaf = 0, .inverse = -1, .after = 1,
     .text = "table.7",
     .nphases = 1, .phases = phases_1, .work = work_1,
     .waits = waits_1},
    {.kind = GBM_STEP_MAP, .name = "update_mu_v",
     .variable = "mu", .sampler = "Gaussian block",
     .family = 1, .number = 2, .sequential = 0, .leaf = 0, .inverse = -1,
     .text = "mu[k,1:P] ~ dmnorm(m0[], T0[,])",
     .run = update_mu_v_run, .blocks = 1, .normals = GBM_NORMALS_FIRST(none),
     .block_size = dimension_update_mu_v, .block_get = get_update_mu_v, .block_set = set_update_mu_v, .conditional = conditional_update_mu_v,
     .matrix = true,
     .cost = cost_update_mu_v,
     .nphases = 2, .phases = phases_2, .work = work_2,
     .waits = waits_2},
    {.kind = GBM_STEP_MAP, .name = "update_Q_v",
     .variable = "Q", .sampler = "dwish",
     .family = 2, .number = 3, .sequential = 0, .leaf = 0, .inverse = -1,
     .text = "Q[k,1:P,1:P] ~ dwish(R[,], df)",
     .run = update_Q_v_run, .blocks = 1, .normals = GBM_NORMALS_FIRST(none),
     .block_size = dimension_update_Q_v, .block_get = get_update_Q_v, .block_set = set_update_Q_v, .conditional = conditional_update_Q_v,
     .cost = cost_update_Q_v,
     .nphases = 2, .phases = phases_3, .work = work_3,
     .waits = waits_3},
    {.kind = GBM_STEP_DERIVE, .name = "derive_table_8_v",
     .variable = "table.8", .sampler = "derived",
     .family = 12, .number = 4, .sequential = 0, .leaf = 0, .inverse = -1, .after = 4,
     .text = "table.8",
     .nphases = 1, .phases = phases_4, .work = work_4,
     .waits = waits_4},
    {.kind = GBM_STEP_MAP, .name = "update_z_v",
     .variable = "z", .sampler = "enumeration",
     .family = 3, .number = 5, .sequential = 0, .leaf = 0, .inverse = -1, .defers = 1,
     .text = "z[i] ~ dcat(pi[])", .trials = true, .repairs = true,
     .run = update_z_v_run, .sizes = sizes_z_v,
     .block_size = dimension_z_v, .block_get = get_z_v, .block_set = set_z_v, .conditional = conditional_z_v_at,
     .nphases = 1, .phases = phases_5, .work = work_5,
     .waits = waits_5},
    {.kind = GBM_STEP_MAP, .name = "exchange_z_v",
     .variable = "z, pi, Q, mu", .sampler = "components trade places",
     .family = 3, .number = 6, .sequential = 0, .leaf = 0, .inverse = -1,
     .text = "z[i] ~ dcat(pi[])", .whole = true,
     .members = members_exchange_z_v, .nmembers = 4,
     .run = exchange_z_v_run,
     .cost = cost_exchange_z_v,
     .nphases = 1, .phases = phases_6, .work = work_6,
     .waits = waits_6},
    {.kind = GBM_STEP_INDEX, .name = "index0",
     .variable = "table.2", .sampler = "index",
     .family = -1, .number = 7, .sequential = 0, .leaf = 0, .inverse = 0, .after = 7,
     .text = "",
     .nphases = 1, .phases = phases_7, .work = work_7,
     .waits = waits_7},
    {.kind = GBM_STEP_DERIVE, .name = "derive_table_1_v",
     .variable = "table.1", .sampler = "derived",
     .family = 5, .number = 8, .sequential = 0, .leaf = 0, .inverse = -1, .after = 7,
     .text = "table.1",
     .cost = cost_derive_table_1_v,
     .nphases = 1, .phases = phases_8, .work = work_8,
     .waits = waits_8},
    {.kind = GBM_STEP_DERIVE, .name = "derive_table_2_v",
     .variable = "table.2", .sampler = "derived",
     .family = 6, .number = 9, .sequential = 0, .leaf = 0, .inverse = -1, .after = 7, .due_whole = 13,
     .text = "table.2",
     .cost = cost_derive_table_2_v,
     .nphases = 1, .phases = phases_9, .work = work_9,
     .waits = waits_9},
    {.kind = GBM_STEP_DERIVE, .name = "derive_table_3_v",
     .variable = "table.3", .sampler = "derived",
     .family = 7, .number = 10, .sequential = 0, .leaf = 0, .inverse = -1, .after = 7, .due_whole = 13,
     .text = "table.3",
     .cost = cost_derive_table_3_v, .beside = true,
     .nphases = 1, .phases = phases_10, .work = work_10,
     .waits = waits_10},
    {.kind = GBM_STEP_DERIVE, .name = "derive_table_4_v",
     .variable = "table.4", .sampler = "derived",
     .family = 8, .number = 11, .sequential = 0, .leaf = 0, .inverse = -1, .after = 7, .due_whole = 13,
     .text = "table.4",
     .nphases = 1, .phases = phases_11, .work = work_11,
     .waits = waits_11},
    {.kind = GBM_STEP_DERIVE, .name = "derive_table_5_v",
     .variable = "table.5", .sampler = "derived",
     .family = 9, .number = 12, .sequential = 0, .leaf = 0, .inverse = -1, .after = 7, .due_whole = 13,
     .text = "table.5",
     .cost = cost_derive_table_5_v, .beside = true,
     .nphases = 1, .phases = phases_12, .work = work_12,
     .waits = waits_12},
    {.kind = GBM_STEP_DERIVE, .name = "derive_table_6_v",
     .variable = "table.6", .sampler = "derived",
     .family = 10, .number = 13, .sequential = 0, .leaf = 0, .inverse = -1, .after = 7, .due_whole = 13,
     .text = "table.6",
     .cost = cost_derive_table_6_v, .beside = true,
     .nphases = 1, .phases = phases_13, .work = work_13,
     .waits = waits_13},
    {.kind = GBM_STEP_DERIVE, .name = "derive_table_7_v",
     .variable = "table.7", .sampler = "derived",
     .family = 11, .number = 14, .sequential = 0, .leaf = 0, .inverse = -1, .after = 7,
     .text = "table.7",
     .nphases = 1, .phases = phases_14, .work = work_14,
     .waits = waits_14},
    {.kind = GBM_STEP_DERIVE, .name = "derive_table_8_v",
     .variable = "table.8", .sampler = "derived",
     .family = 12, .number = 15, .sequential = 0, .leaf = 0, .inverse = -1, .after = 7,
     .text = "table.8",
     .nphases = 1, .phases = phases_15, .work = work_15,
     .waits = waits_15},
    {.kind = GBM_STEP_MAP, .name = "forward_z_v",
     .variable = "z", .sampler = "forward draw",
     .family = 3, .number = 16, .sequential = 0, .leaf = 1, .inverse = -1,
     .text = "z[i] ~ dcat(pi[])",
     .run = forward_z_v_run, .blocks = 1, .normals = GBM_NORMALS_FIRST(none),
     .nphases = 1, .phases = phases_16, .work = work_16,
     .waits = waits_16},
    {.kind = GBM_STEP_INDEX, .name = "index0",
     .variable = "table.2", .sampler = "index",
     .family = -1, .number = 17, .sequential = 0, .leaf = 1, .inverse = 0, .after = 17,
     .text = "",
     .nphases = 1, .phases = phases_17, .work = work_17,
     .waits = waits_17},
    {.kind = GBM_STEP_DERIVE, .name = "derive_table_1_v",
     .variable = "table.1", .sampler = "derived",
     .family = 5, .number = 18, .sequential = 0, .leaf = 1, .inverse = -1, .after = 17,
     .text = "table.1",
     .cost = cost_derive_table_1_v,
     .nphases = 1, .phases = phases_18, .work = work_18,
     .waits = waits_18},
    {.kind = GBM_STEP_MAP, .name = "update_x_v",
     .variable = "x", .sampler = "forward draw",
     .family = 4, .number = 19, .sequential = 0, .leaf = 1, .inverse = -1,
     .text = "x[i,1:P] ~ dmnorm(mu[z[i],], Q[z[i],,])",
     .run = update_x_v_run, .blocks = 1, .normals = GBM_NORMALS_FIRST(none),
     .nphases = 1, .phases = phases_19, .work = work_19,
     .waits = waits_19},
};

GBM_HOST_AHEAD(gbm_draw_ahead)

#if !defined GBM_PART || GBM_PART == 0
