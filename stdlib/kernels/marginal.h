/* marginal.h: moves parameters theta of a joint Gaussian block x, as scales of
 * its priors and coefficients of its rows, with the block integrated out. Given
 * x they move in steps of the width of their full conditional, which is narrow
 * where a scale is near 0 and the block follows it. For any x,
 *     log p(theta, y) = log p(theta, x, y) - log p(x | theta, y),
 * and the last is the normal density that the block is drawn from: so a
 * Metropolis step by that difference, and the block's draw behind it, is one
 * move of both (Rue and Held 2005, Gaussian Markov Random Fields, 4.1; Liu
 * 1994, The collapsed Gibbs sampler). It takes a factorisation at the other end
 * of the step, and one at this, from which the block is drawn if the step is
 * not taken; if it is, a third. Warm-up tells whether it pays (carried.h), and
 * learns the covariance of the steps (adaptive.h). See
 * compiler/sampler/joint_marginal.c.
 *
 * What is tuned: of each parameter what carried.h tells of it, then what
 * adaptive.h has. The lanes of a team compute the same of what is few. */
#ifndef GBM_MARGINAL_H
#define GBM_MARGINAL_H

#include "adaptive.h"
#include "carried.h"
#include "rescale_plate.h"

enum { GBM_MARGINAL_MOST = 12 };   /* parameters that move together: */
enum { GBM_MARGINAL_AMONG = 200 }; /* of so many at most the slowest */
/* Sweeps that choose them; sweeps that move whatever is learnt, behind which
 * one in EVERY does so. */
enum { GBM_MARGINAL_CHOOSE = 50, GBM_MARGINAL_CHOOSE_AGAIN = 200 };
#define GBM_MARGINAL_FIRST 100
#define GBM_MARGINAL_EVERY 8
#define GBM_MARGINAL_SLOW                                                      \
    REAL_C(0.5) /* 1 - correlation of own draws, at most */
#define GBM_MARGINAL_LEAST REAL_C(0.5) /* of the own steps' squares */
#define GBM_MARGINAL_MOST_MOVED                                                \
    REAL_C(0.4) /* 1 - correlation of moves: a random walk has no better */
/* A cell of the precision's diagonal changes by this factor at most, divided by
 * their number: the block, which stays, has squares that grow with it, and the
 * difference of their sums is what is left. Way and way back are so far alike,
 * whatever the block. Of a cell at least LEFT is left when the factor is made.
 */
#define GBM_MARGINAL_FAR 1e13
#define GBM_MARGINAL_LEFT REAL_C(1e-10)

/* Whether some of so many are moved. In single precision not: the difference of
 * the two log densities has no digits to spare. Nor where chains are so many
 * that there is nothing to tune (`cells` of a chain): a device is full of them,
 * and a factorisation more of each costs as much as many sweeps; its program of
 * many chains knows that, as code that nothing runs costs registers. Nor does
 * its program for the sweeps behind warm-up have it, where all chains found
 * that it does not pay. */
GBM_FN bool gbm_marginal_can(int all, long long cells)
{
#if defined(GBM_SINGLE) || defined(GBM_MANY_CHAINS) || defined(GBM_SETTLED)
    return false;
#else
    return cells > 0 && all > 0 && all <= GBM_MARGINAL_AMONG;
#endif
}

/* Of still more nothing is learnt, and none is moved. */
GBM_FN long long gbm_marginal_cells(long long all)
{
    const long long most = all < GBM_MARGINAL_MOST ? all : GBM_MARGINAL_MOST;
    return all > GBM_MARGINAL_AMONG
               ? 0
               : all * GBM_CARRIED_CELLS + 2 + most + gbm_adaptive_cells(most);
}

struct gbm_marginal {
    int all, d;                   /* parameters; those that move */
    int place[GBM_MARGINAL_MOST]; /* ... their numbers, in order */
    /* What is tuned; least: the effective draws that a parameter must have with
     * the moves, over those without, 1 as long as none is told; chosen: 2 + d,
     * or 1 before it is settled, and the numbers. */
    real *pays, *least, *chosen, *walk;
    bool near;     /* the diagonals of both ends are near */
    bool factored; /* the last factor is one */
    real x[GBM_MARGINAL_MOST], y[GBM_MARGINAL_MOST], z[GBM_MARGINAL_MOST],
        lower[GBM_MARGINAL_MOST], upper[GBM_MARGINAL_MOST];
};

/* Before they are chosen all move, if these are few, or none; for the
 * self-check any. */
GBM_FN void gbm_marginal_of(struct gbm_marginal *k, int all, real *tuning,
                            int telling)
{
    const int most = all < GBM_MARGINAL_MOST ? all : GBM_MARGINAL_MOST;
    k->all = all;
    k->pays = tuning;
    k->least = tuning + all * GBM_CARRIED_CELLS;
    k->chosen = k->least + 1;
    k->walk = k->chosen + 1 + most;
    k->d = (int)k->chosen[0] - 2;
    const bool settled = k->d >= 0;
    if (!settled)
        k->d = all == most || telling ? most : 0;
    for (int i = 0; i < k->d; i++)
        k->place[i] = settled ? (int)k->chosen[1 + i] : i;
}

/* Whether the parameter of that number is the i-th that moves. */
GBM_FN bool gbm_marginal_is(const struct gbm_marginal *k, int i, int number)
{
    return i < k->d && k->place[i] == number;
}

GBM_FN real *gbm_marginal_pay(const struct gbm_marginal *k, int number)
{
    return k->pays + number * GBM_CARRIED_CELLS;
}

/* Keeps the diagonal; of the second end of a step whether it is near the
 * first's. */
GBM_FN bool gbm_marginal_diagonal(const struct gbm_joint *j,
                                  const struct gbm_team *team, real *diagonal,
                                  bool second)
{
    const struct gbm_sparse *f = &j->factor;
    const gbm_total far = GBM_MARGINAL_FAR / f->d;
    gbm_total near = 1;
    GBM_TEAM_FOR(k, 0, f->d, team)
    {
        const int at = k - f->sparse;
        const real now =
            j->V[at < 0 ? f->start[k]
                        : f->dense + (int64_t)at * (f->d - f->sparse) + at];
        const real before = second ? diagonal[k] : now;
        near = now <= far * before && before <= far * now ? near : 0;
        diagonal[k] = now;
    }
    return gbm_team_min(team, near) > 0;
}

/* The log density of the block at x, which are in the order of its factor, up
 * to a constant: log det(Q) / 2 - (x - m)'Q(x - m) / 2, from Q and b, which
 * become the factor L and L^-1 b. NaN if Q is not positive definite, or little
 * is left of a cell of it. x: [3][d], the rest scratch, in which the diagonal
 * is kept for the step's second end. */
GBM_FN_BIG gbm_total gbm_marginal_fit(const struct gbm_joint *j,
                                      const struct gbm_team *team, real *x,
                                      struct gbm_marginal *k_, bool second)
{
    const struct gbm_sparse *f = &j->factor;
    const int n = f->d - f->sparse;
    real *const z = x + j->d, *const diagonal = z + j->d;
    k_->near = gbm_marginal_diagonal(j, team, diagonal, second);
    k_->factored = gbm_sparse_factor(f, team, j->V);
    if (!k_->factored)
        return GBM_NAN;
    gbm_sparse_forward(f, team, j->V, j->x);
    gbm_sparse_multiply(f, team, j->V, x, z);
    gbm_total sum = 0, left = 1;
    GBM_TEAM_FOR(k, 0, f->d, team)
    {
        const int at = k - f->sparse;
        const real inverse =
            j->V[at < 0 ? f->start[k] : f->dense + (int64_t)at * n + at];
        const gbm_total off = (gbm_total)z[k] - j->x[k];
        left =
            inverse * inverse * diagonal[k] * GBM_MARGINAL_LEFT < 1 ? left : 0;
        sum -= real_log(inverse) + off * off / 2;
    }
    sum = gbm_team_sum(team, sum);
    left = gbm_team_min(team, left);
    gbm_team_sync(team); /* all have read what is computed anew */
    return left > 0 ? sum : GBM_NAN;
}

#ifndef __CUDACC__
/* The same for the self-check, by another way: a dense matrix, told by its
 * quadratic form, and elimination. Of larger blocks the factor's. */
enum { GBM_MARGINAL_TOLD = 40 };
GBM_FN_ONCE double gbm_marginal_told(const struct gbm_joint *j, real *x)
{
    enum { MOST = GBM_MARGINAL_TOLD };
    const int d = j->d;
    double Q[MOST][MOST], b[MOST], unit[MOST], sum = 0;
    real *const z = x + d;
    gbm_total size;
    if (d > MOST) {
        const struct gbm_team alone = {0, 1};
        struct gbm_marginal k;
        return (double)gbm_marginal_fit(j, &alone, x, &k, false);
    }
    for (int i = 0; i < d; i++)
        z[i] = 0;
    for (int i = 0; i < d; i++) {
        z[i] = 1;
        Q[i][i] = -2 * (double)gbm_sparse_quadratic(&j->factor, j->V, z, &size);
        unit[i] = 1 / sqrt(Q[i][i]);
        z[i] = 0;
    }
    /* by units in which the diagonal is 1: of a cell beside one that is 1e20
     * times as large no digit would be left */
    for (int i = 0; i < d; i++)
        for (int k = 0; k < i; k++) {
            z[i] = (real)unit[i];
            z[k] = (real)unit[k];
            const double both =
                -2 * (double)gbm_sparse_quadratic(&j->factor, j->V, z, &size);
            Q[k][i] = Q[i][k] = (both - 2) / (2 * unit[i] * unit[k]);
            z[i] = z[k] = 0;
        }
    for (int i = 0; i < d; i++) { /* b - Qx, whose form in Q^-1 it is */
        b[i] = (double)j->x[i];
        for (int k = 0; k < d; k++)
            b[i] -= Q[i][k] * (double)x[k];
    }
    for (int i = 0; i < d; i++) {
        if (!(Q[i][i] > 0))
            return (double)GBM_NAN;
        /* of b = 10^160 and Q = 10^300 the square is infinite */
        sum += log(Q[i][i]) - b[i] * (b[i] / Q[i][i]);
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

/* adapting: the sweep of warm-up from 1 on, or 0. */
GBM_FN bool gbm_marginal_chooses(int adapting)
{
    return adapting > 0 && adapting != GBM_ALONE &&
           adapting <= GBM_MARGINAL_CHOOSE_AGAIN;
}

/* The parameter of that number, x, does not move; it might be chosen yet. */
GBM_FN void gbm_marginal_watch(const struct gbm_marginal *k, int number,
                               int adapting, real x, real lower, real upper)
{
    const struct gbm_team alone = {0, 1};
    real now;
    gbm_adaptive_line(&alone, 1, &lower, &upper, &x, &now);
    gbm_carried_see(gbm_marginal_pay(k, number), adapting, now);
}

/* How far its own draws go, of what they could: 1 less their correlation. */
GBM_FN real gbm_marginal_speed(const struct gbm_marginal *k, int number)
{
    const real *of = gbm_marginal_pay(k, number);
    const real share = of[GBM_CARRIED_OWN] / (2 * of[GBM_CARRIED_VAR]);
    return share >= 0 ? share : 0; /* it has not moved */
}

/* The slow ones, the slowest first; returns their number. */
GBM_FN int gbm_marginal_slowest(const struct gbm_marginal *k, int *number)
{
    int n = 0;
    for (int next = 0; next < k->all; next++) {
        const real speed = gbm_marginal_speed(k, next);
        if (!(speed < GBM_MARGINAL_SLOW))
            continue;
        int i = n;
        while (i > 0 && speed < gbm_marginal_speed(k, number[i - 1]))
            i--;
        n = n < GBM_MARGINAL_MOST ? n + 1 : n;
        for (int l = n - 1; l > i; l--)
            number[l] = number[l - 1];
        if (i < n)
            number[i] = next;
    }
    return n;
}

/* These move, in their order; if they are others than before, their steps are
 * learnt anew, and as long as is not known better they pay. One lane. */
GBM_FN void gbm_marginal_choose(const struct gbm_marginal *k)
{
    int number[GBM_MARGINAL_MOST];
    const int n = gbm_marginal_slowest(k, number);
    bool same = k->d == n;
    for (int i = 1; i < n; i++)
        for (int l = i; l > 0 && number[l] < number[l - 1]; l--) {
            const int other = number[l];
            number[l] = number[l - 1];
            number[l - 1] = other;
        }
    for (int i = 0; i < n; i++) {
        same = same && k->place[i] == number[i];
        k->chosen[1 + i] = (real)number[i];
    }
    k->chosen[0] = (real)(2 + n);
    if (same)
        return;
    k->walk[0] = k->walk[1] = 1; /* adaptive.h */
    for (int i = 0; i < n; i++) {
        real *of = gbm_marginal_pay(k, number[i]);
        of[GBM_CARRIED_MOVED] = of[GBM_CARRIED_OWN];
    }
}

/* Effective draws of a parameter with the moves, over those without. Its own
 * draws have the correlation r, the moves q, both one after the other r q, and
 * of so many draws (1 - r) / (1 + r) are effective. */
GBM_FN real gbm_marginal_gain(const struct gbm_marginal *k, int number)
{
    const real *of = gbm_marginal_pay(k, number);
    const real far = of[GBM_CARRIED_MOVED] / (2 * of[GBM_CARRIED_VAR]);
    const real moved = !(far > 0) ? 0
                       : far < GBM_MARGINAL_MOST_MOVED
                           ? far
                           : GBM_MARGINAL_MOST_MOVED;
    const real own = 1 - gbm_marginal_speed(k, number),
               both = own * (1 - moved);
    return (1 - both) * (1 + own) / ((1 + both) * (1 - own));
}

/* Whether some parameter's own draws are slow, and the moves go further: far
 * enough for what they cost. Before these are chosen it is not known. */
GBM_FN bool gbm_marginal_gains(const struct gbm_marginal *k)
{
    const bool settled = k->chosen[0] >= 2;
    bool gains = false;
    for (int i = 0; i < k->d && settled; i++) {
        const real *of = gbm_marginal_pay(k, k->place[i]);
        gains =
            gains ||
            (gbm_marginal_speed(k, k->place[i]) < GBM_MARGINAL_SLOW &&
             of[GBM_CARRIED_MOVED] > GBM_MARGINAL_LEAST * of[GBM_CARRIED_OWN] &&
             !(gbm_marginal_gain(k, k->place[i]) < *k->least));
    }
    return gains;
}

GBM_FN bool gbm_marginal_pays(const struct gbm_marginal *k, int adapting)
{
    return (adapting && k->d > 0 &&
            (adapting <= GBM_MARGINAL_FIRST || adapting == GBM_ALONE ||
             adapting % GBM_MARGINAL_EVERY == 0)) ||
           gbm_marginal_gains(k);
}

/* To y, and what its density has of the way there. */
GBM_FN real gbm_marginal_propose(struct gbm_marginal *k, struct gbm_rng *rng)
{
    const struct gbm_team alone = {0, 1};
    return gbm_adaptive_propose(rng, &alone, k->d, 1, k->walk, k->lower,
                                k->upper, k->x, k->y, k->z);
}

/* What one lane learns: where the own draws have left the parameters, and how
 * far the step, if one was `tried`, went, from where the density was `here`. */
GBM_FN_LINKED void gbm_marginal_see(struct gbm_marginal *k, int adapting,
                                    bool tried, bool moves, real here,
                                    real probability);

#if GBM_IN_PART(4)
GBM_FN_LINKED void gbm_marginal_see(struct gbm_marginal *k, int adapting,
                                    bool tried, bool moves, real here,
                                    real probability)
{
    const struct gbm_team alone = {0, 1};
    const real *to = moves ? k->y : k->x;
    real now[GBM_MARGINAL_MOST];
    gbm_adaptive_line(&alone, k->d, k->lower, k->upper, k->x, now);
    gbm_adaptive_line(&alone, k->d, k->lower, k->upper, to, k->z);
    for (int i = 0; i < k->d; i++) {
        real *of = gbm_marginal_pay(k, k->place[i]);
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
#endif

GBM_FN void gbm_marginal_learn(struct gbm_marginal *k,
                               const struct gbm_team *team, int adapting,
                               bool tried, bool moves, real here,
                               real probability)
{
    if (!adapting || adapting == GBM_ALONE)
        return;
    gbm_team_sync(team); /* all have read what is learnt */
    if (team->lane == 0 && k->d > 0)
        gbm_marginal_see(k, adapting, tried, moves, here, probability);
    if (team->lane == 0 && (adapting == GBM_MARGINAL_CHOOSE ||
                            adapting == GBM_MARGINAL_CHOOSE_AGAIN))
        gbm_marginal_choose(k);
    gbm_team_sync(team);
}

#endif
