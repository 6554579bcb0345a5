/* marginal.h: moves parameters theta of a joint Gaussian block x, as scales of
 * its priors and coefficients of its rows, with the block integrated out. Given
 * x they move in steps of the width of their full conditional, which is narrow
 * where a scale is near 0 and the block follows it. For any x,
 *     log p(theta, y) = log p(theta, x, y) - log p(x | theta, y),
 * and the last is the normal density that the block is drawn from: so a
 * Metropolis step by that difference, and the block's draw behind it, is one
 * move of both (Rue and Held 2005, Gaussian Markov Random Fields, 4.1; Liu
 * 1994, The collapsed Gibbs sampler). It takes two factorisations beside that
 * of the draw: warm-up tells whether it pays (carried.h), and learns the
 * covariance of the steps (adaptive.h). See compiler/sampler/joint_marginal.c.
 *
 * What is tuned: of each parameter what carried.h tells of it, then what
 * adaptive.h has. The lanes of a team compute the same of what is few. */
#ifndef GBM_MARGINAL_H
#define GBM_MARGINAL_H

#include "adaptive.h"
#include "carried.h"
#include "rescale_plate.h"

enum { GBM_MARGINAL_MOST = 12 }; /* parameters of a block */
#define GBM_MARGINAL_FIRST 100   /* sweeps that move whatever is learnt */
#define GBM_MARGINAL_EVERY 8     /* behind them one in so many does so */
#define GBM_MARGINAL_SLOW                                                      \
    REAL_C(0.5)                    /* 1 - correlation of own draws, at most */
#define GBM_MARGINAL_FAR REAL_C(8) /* on the logarithmic scale, at most */
#define GBM_MARGINAL_LEAST REAL_C(0.5) /* of the own steps' squares */

/* Whether so many are moved. In single precision not: the difference of the two
 * log densities has no digits to spare. Nor where chains are so many that there
 * is nothing to tune (`cells` of a chain): a device is full of them, and two
 * factorisations more of each cost as much as many sweeps; its program of many
 * chains knows that, as code that nothing runs costs registers. */
GBM_FN bool gbm_marginal_can(int d, long long cells)
{
#if defined(GBM_SINGLE) || defined(GBM_MANY_CHAINS)
    return false;
#else
    return cells > 0 && d > 0 && d <= GBM_MARGINAL_MOST;
#endif
}

/* Of more parameters nothing is learnt, and none is moved. */
GBM_FN long long gbm_marginal_cells(long long d)
{
    return d > GBM_MARGINAL_MOST
               ? 0
               : d * GBM_CARRIED_CELLS + gbm_adaptive_cells(d);
}

struct gbm_marginal {
    int d;
    real *pays, *walk; /* what is tuned */
    real x[GBM_MARGINAL_MOST], y[GBM_MARGINAL_MOST], z[GBM_MARGINAL_MOST],
        lower[GBM_MARGINAL_MOST], upper[GBM_MARGINAL_MOST];
};

GBM_FN void gbm_marginal_of(struct gbm_marginal *k, int d, real *tuning)
{
    k->d = d;
    k->pays = tuning;
    k->walk = tuning + d * GBM_CARRIED_CELLS;
}

/* The log density of the block at x, which are in the order of its factor, up
 * to a constant: log det(Q) / 2 - (x - m)'Q(x - m) / 2, from Q and b, which are
 * spoilt. NaN if Q is not positive definite. z [d]: scratch. */
GBM_FN_BIG gbm_total gbm_marginal_fit(const struct gbm_joint *j,
                                      const struct gbm_team *team,
                                      const real *x, real *z)
{
    const struct gbm_sparse *f = &j->factor;
    const int n = f->d - f->sparse;
    if (!gbm_sparse_factor(f, team, j->V))
        return GBM_NAN;
    gbm_sparse_forward(f, team, j->V, j->x);
    gbm_sparse_multiply(f, team, j->V, x, z);
    gbm_total sum = 0;
    GBM_TEAM_FOR(k, 0, f->sparse, team)
    sum -= real_log(j->V[f->start[k]]);
    GBM_TEAM_FOR(k, 0, n, team)
    sum -= real_log(j->V[f->dense + (int64_t)k * n + k]);
    GBM_TEAM_FOR(k, 0, f->d, team)
    {
        const gbm_total off = (gbm_total)z[k] - j->x[k];
        sum -= off * off / 2;
    }
    sum = gbm_team_sum(team, sum);
    gbm_team_sync(team); /* all have read what is computed anew */
    return sum;
}

#ifndef __CUDACC__
/* The same for the self-check, by another way: a dense matrix, told by its
 * quadratic form, and elimination. Of larger blocks the factor's. */
enum { GBM_MARGINAL_TOLD = 40 };
GBM_FN_ONCE double gbm_marginal_told(const struct gbm_joint *j, const real *x,
                                     real *z)
{
    enum { MOST = GBM_MARGINAL_TOLD };
    const int d = j->d;
    double Q[MOST][MOST], b[MOST], sum = 0;
    gbm_total size;
    if (d > MOST) {
        const struct gbm_team alone = {0, 1};
        return (double)gbm_marginal_fit(j, &alone, x, z);
    }
    for (int i = 0; i < d; i++)
        z[i] = 0;
    for (int i = 0; i < d; i++)
        for (int k = 0; k <= i; k++) {
            z[i] += 1;
            z[k] += 1;
            Q[i][k] =
                -2 * (double)gbm_sparse_quadratic(&j->factor, j->V, z, &size);
            z[i] = z[k] = 0;
        }
    for (int i = 0; i < d; i++)
        Q[i][i] /= 4;
    for (int i = 0; i < d; i++)
        for (int k = 0; k < i; k++)
            Q[k][i] = Q[i][k] = (Q[i][k] - Q[i][i] - Q[k][k]) / 2;
    for (int i = 0; i < d; i++) { /* b - Qx, whose form in Q^-1 it is */
        b[i] = (double)j->x[i];
        for (int k = 0; k < d; k++)
            b[i] -= Q[i][k] * (double)x[k];
    }
    for (int i = 0; i < d; i++) {
        if (!(Q[i][i] > 0))
            return (double)GBM_NAN;
        sum += log(Q[i][i]) - b[i] * b[i] / Q[i][i];
        for (int k = i + 1; k < d; k++) {
            const double by = Q[k][i] / Q[i][i];
            for (int l = i; l < d; l++)
                Q[k][l] -= by * Q[i][l];
            b[k] -= by * b[i];
        }
    }
    return sum / 2;
}
#endif

/* adapting: the sweep of warm-up from 1 on, or 0. Whether some parameter's own
 * draws are slow, and the moves go further. */
GBM_FN bool gbm_marginal_pays(const struct gbm_marginal *k, int adapting)
{
    if (adapting && (adapting <= GBM_MARGINAL_FIRST || adapting == GBM_ALONE ||
                     adapting % GBM_MARGINAL_EVERY == 0))
        return true;
    bool pays = false;
    for (int i = 0; i < k->d; i++) {
        const real *of = k->pays + i * GBM_CARRIED_CELLS;
        const real own = of[GBM_CARRIED_OWN];
        pays = pays || (own < 2 * GBM_MARGINAL_SLOW * of[GBM_CARRIED_VAR] &&
                        of[GBM_CARRIED_MOVED] > GBM_MARGINAL_LEAST * own);
    }
    return pays;
}

/* Whether y is further from x, where there is an end, on the logarithmic scale
 * than the densities have digits: the block, which stays, has squares at y of
 * the ratio of the precisions there, whose difference is what is left. Way and
 * way back are so far alike. */
GBM_FN bool gbm_marginal_is_far(struct gbm_marginal *k)
{
    const struct gbm_team alone = {0, 1};
    real from[GBM_MARGINAL_MOST];
    bool far = false;
    gbm_adaptive_line(&alone, k->d, k->lower, k->upper, k->x, from);
    gbm_adaptive_line(&alone, k->d, k->lower, k->upper, k->y, k->z);
    for (int i = 0; i < k->d; i++)
        far = far || ((k->lower[i] > -GBM_INF || k->upper[i] < GBM_INF) &&
                      !(real_fabs(k->z[i] - from[i]) < GBM_MARGINAL_FAR));
    return far;
}

/* To y, and what its density has of the way there; -inf: not there. */
GBM_FN real gbm_marginal_propose(struct gbm_marginal *k, struct gbm_rng *rng)
{
    const struct gbm_team alone = {0, 1};
    const real jacobian = gbm_adaptive_propose(
        rng, &alone, k->d, 1, k->walk, k->lower, k->upper, k->x, k->y, k->z);
    return gbm_marginal_is_far(k) ? -GBM_INF : jacobian;
}

/* What one lane learns: where the own draws have left the parameters, and how
 * far the step, if one was `tried`, went, from where the density was `here`. */
GBM_FN void gbm_marginal_see(struct gbm_marginal *k, int adapting, bool tried,
                             bool moves, real here, real probability)
{
    const struct gbm_team alone = {0, 1};
    const real *to = moves ? k->y : k->x;
    real now[GBM_MARGINAL_MOST];
    gbm_adaptive_line(&alone, k->d, k->lower, k->upper, k->x, now);
    gbm_adaptive_line(&alone, k->d, k->lower, k->upper, to, k->z);
    for (int i = 0; i < k->d; i++) {
        real *of = k->pays + i * GBM_CARRIED_CELLS;
        if (tried)
            gbm_carried_learn(of, adapting, now[i], k->z[i] - now[i]);
        else
            gbm_carried_see(of, adapting, now[i]);
    }
    const real factor = tried ? gbm_adaptive_size(k->d, k->walk[0], here,
                                                  probability, (int)k->walk[1])
                              : k->walk[0];
    gbm_adaptive_learn(&alone, k->d, 1, k->lower, k->upper, to, k->z, k->walk);
    k->walk[0] = factor;
}

GBM_FN void gbm_marginal_learn(struct gbm_marginal *k,
                               const struct gbm_team *team, int adapting,
                               bool tried, bool moves, real here,
                               real probability)
{
    if (!adapting || adapting == GBM_ALONE)
        return;
    gbm_team_sync(team); /* all have read what is learnt */
    if (team->lane == 0)
        gbm_marginal_see(k, adapting, tried, moves, here, probability);
    gbm_team_sync(team);
}

#endif
