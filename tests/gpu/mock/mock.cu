/* mock.cu: looks like a generated program; included by mock.c, and compiled for
 * the device. A hierarchical normal model (eight schools with a gamma precision
 * of theta), a regression with a weight per row, and indicators with an
 * inverse index. */
#include "real.h"
#include "rng.h"
#include "normal_function.h"
#include "normal.h"
#include "exponential.h"
#include "gamma.h"
#include "team.h"

struct state {
    int J, N, d, K;
    const real *y, *sigma, *X, *response;
    const unsigned char *response_seen;
    real *theta, *mu, *tau, *mean_theta, *beta, *w, *total;
    int *z, *start, *item;
    const int *varying; /* one cell: 1 if rows have weights of their own */
    long long theta_stride, mu_stride, tau_stride, mean_theta_stride,
        beta_stride, w_stride, total_stride, z_stride, start_stride,
        item_stride;
};

GBM_FN void shift_state(struct state *s, int chain)
{
    s->theta += chain * s->theta_stride;
    s->mu += chain * s->mu_stride;
    s->tau += chain * s->tau_stride;
    s->mean_theta += chain * s->mean_theta_stride;
    s->beta += chain * s->beta_stride;
    s->w += chain * s->w_stride;
    s->total += chain * s->total_stride;
    s->z += chain * s->z_stride;
    s->start += chain * s->start_stride;
    s->item += chain * s->item_stride;
}

#ifdef GBM_KNOWN
/* Nothing: what a program knows of its arrays is in tests/cli/device_known. */
GBM_FN void know_state(struct state *s) {}
#endif

/* theta[j] ~ dnorm(mu, tau); y[j] ~ dnorm(theta[j], 1 / sigma[j]^2) */
GBM_FN void update_theta(const struct state *s, struct gbm_rng *rng,
                         const struct gbm_team *team, long long j,
                         int adapting)
{
    (void)team;
    (void)adapting;
    real t = 1 / (s->sigma[j] * s->sigma[j]);
    real precision = s->tau[0] + t;
    real mean = (s->tau[0] * s->mu[0] + t * s->y[j]) / precision;
    s->theta[j] = mean + gbm_draw_normal(rng) / real_sqrt(precision);
}

/* mu ~ dnorm(0, 0.04) */
GBM_FN void update_mu(const struct state *s, struct gbm_rng *rng,
                      const struct gbm_team *team, long long j, int adapting)
{
    (void)j;
    (void)adapting;
    gbm_total sum = 0;
    GBM_TEAM_FOR(i, 0, s->J, team)
        sum += s->theta[i];
    sum = gbm_team_sum(team, sum);
    real precision = REAL_C(0.04) + (real)s->J * s->tau[0];
    s->mu[0] = s->tau[0] * (real)sum / precision +
               gbm_draw_normal(rng) / real_sqrt(precision);
}

/* tau ~ dgamma(2, 2) */
GBM_FN void update_tau(const struct state *s, struct gbm_rng *rng,
                       const struct gbm_team *team, long long j, int adapting)
{
    (void)j;
    (void)adapting;
    gbm_total sum = 0;
    GBM_TEAM_FOR(i, 0, s->J, team)
        sum += gbm_square(s->theta[i] - s->mu[0]);
    sum = gbm_team_sum(team, sum);
    s->tau[0] = gbm_draw_gamma(rng, 2 + (real)s->J / 2) / (2 + (real)sum / 2);
}

struct conditional_w {
    real rate;
};

/* w[i]: t weights of the response */
GBM_FN void prepare_w(struct conditional_w *k_, const struct state *s,
                      const struct gbm_team *team, long long i)
{
    gbm_total eta = 0;
    GBM_TEAM_FOR(j, 0, s->d, team)
        eta += s->X[i * s->d + j] * s->beta[j];
    eta = gbm_team_sum(team, eta);
    real e = s->response[i] - (real)eta;
    k_->rate = 2 + e * e / 2;
}

GBM_FN void finish_w(const struct state *s, struct gbm_rng *rng,
                     const struct gbm_team *team, long long i, int adapting,
                     const struct conditional_w *k_)
{
    (void)adapting;
    real w = gbm_draw_gamma(rng, REAL_C(2.5)) / k_->rate;
    gbm_team_sync(team);
    s->w[i] = w;
}

GBM_FN void update_w(const struct state *s, struct gbm_rng *rng,
                     const struct gbm_team *team, long long i, int adapting)
{
    struct conditional_w k_;
    prepare_w(&k_, s, team, i);
    finish_w(s, rng, team, i, adapting, &k_);
}

/* z[i]: any law will do */
GBM_FN void update_z(const struct state *s, struct gbm_rng *rng,
                     const struct gbm_team *team, long long i, int adapting)
{
    (void)team;
    (void)adapting;
    (void)i;
    int k = (int)(gbm_uniform(rng) * (real)s->K * REAL_C(1.2));
    s->z[i] = k < s->K ? k + 1 : 1;
}

GBM_FN long long cell_z(const struct state *s, long long i)
{
    return s->z[i] - 1;
}

/* A number that depends on the order of the items. */
GBM_FN void derive_total(const struct state *s, const struct gbm_team *team,
                         long long k)
{
    (void)team;
    real sum = 0;
    for (int t = s->start[k]; t < s->start[k + 1]; t++)
        sum = sum * REAL_C(0.5) + (real)s->item[t];
    s->total[k] = sum;
}

GBM_FN void derive_mean_theta(const struct state *s,
                              const struct gbm_team *team, long long k)
{
    (void)team;
    (void)k;
    real sum = 0;
    for (int i = 0; i < s->J; i++)
        sum += s->theta[i];
    s->mean_theta[0] = sum / (real)s->J;
}

/* ---- beta ~ prior precision 1 + j / 10 about 0.1; response[i] ~ normal(X beta,
 * weight) ---- */

GBM_FN void row_beta(const struct state *s, const struct gbm_team *team,
                     long long i, real *weight, real *score)
{
    (void)team;
    real w = s->varying[0] ? s->w[i] : s->tau[0] * 2;
    if (s->response_seen && !s->response_seen[i])
        w = 0;
    *weight = w;
    *score = w * s->response[i];
}

GBM_FN void design_beta(const struct state *s, const struct gbm_team *team,
                        long long i, real *row)
{
    GBM_TEAM_FOR(j, 0, s->d, team)
        row[j] = s->X[i * s->d + j];
}

GBM_FN void prior_beta(const struct state *s, long long j, real *precision,
                       real *potential)
{
    (void)s;
    *precision = 1 + (real)j / 10;
    *potential = REAL_C(0.1) * *precision;
}

GBM_FN void prior_matrix_beta(const struct state *s,
                              const struct gbm_team *team, real *precision,
                              real *potential)
{
    (void)team;
    for (int j = 0; j < s->d; j++) {
        for (int k = 0; k < s->d; k++)
            precision[j * s->d + k] = j == k ? 2 + (real)j / 10
                                      : j - k == 1 || k - j == 1
                                          ? REAL_C(-0.5)
                                          : 0;
        potential[j] = REAL_C(0.3);
    }
}

GBM_FN void get_beta(const struct state *s, const struct gbm_team *team,
                     real *x)
{
    GBM_TEAM_FOR(j, 0, s->d, team)
        x[j] = s->beta[j];
}

GBM_FN void set_beta(const struct state *s, const struct gbm_team *team,
                     const real *x)
{
    GBM_TEAM_FOR(j, 0, s->d, team)
        s->beta[j] = x[j];
}

#ifdef __CUDACC__
#include "skeleton_cuda.h"


GBM_KERNEL(update_theta, 0)
GBM_KERNEL(update_mu, 1)
GBM_KERNEL(update_tau, 2)
GBM_KERNEL_SPLIT(update_w, prepare_w, finish_w, struct conditional_w, 3)
GBM_KERNEL(update_z, 5)
GBM_KERNEL_CELL(cell_z)
GBM_KERNEL_DERIVE(derive_total)
GBM_KERNEL_DERIVE(derive_mean_theta)
GBM_KERNEL_ROWS(row_beta)
GBM_KERNEL_DESIGN(design_beta)
GBM_KERNEL_PRIOR(prior_beta)
GBM_KERNEL_PRIOR_MATRIX(prior_matrix_beta)
GBM_KERNEL_GET(get_beta)
GBM_KERNEL_SET(set_beta)
#endif
