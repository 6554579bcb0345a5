/* rescale.h: moves a plate u of a joint block together with the scale of its
 * prior u ~ N(m, 1 / scale): along c, where u = m + c dev and scale / c^2 keep
 * (u - m) sqrt(scale) as it is. What changes is the likelihood, a parabola in c
 * for the quadratic terms, and the scale's own prior. See
 * compiler/sampler/rescale.c.
 *
 * Afterwards the block stands at another value of the same density, so the fit
 * in j->V stays good for the next plate; normals = L'(x - mean) follows. */
#ifndef GBM_RESCALE_H
#define GBM_RESCALE_H

#include "joint.h"

enum { GBM_RESCALE_MOST = 32 };
#define GBM_RESCALE_LOST (50 * GBM_EPSILON) /* of what cancels */
#define GBM_RESCALE_FELT REAL_C(1e-3)       /* in the log density */
#define GBM_RESCALE_TOLD REAL_C(1e-9)       /* beside the joint density */

struct gbm_rescale {
    real *normals, *along, *dev; /* [d]: z, L'dev, dev */
    gbm_total linear, quadratic; /* of the log likelihood in c - 1 */
    real reach; /* how far log c may go before rounding is felt */
};

GBM_FN struct gbm_rescale gbm_rescale_of(const struct gbm_joint *j)
{
    struct gbm_rescale r;
    r.normals = j->work + j->table[GBM_J_SPARE];
    r.along = r.normals + j->d;
    r.dev = r.along + j->d;
    r.linear = r.quadratic = 0;
    r.reach = GBM_INF;
    return r;
}

GBM_FN void gbm_rescale_clear(const struct gbm_rescale *r, int d,
                              const struct gbm_team *team)
{
    gbm_team_sync(team);
    GBM_TEAM_FOR(k, 0, d, team)
    r->dev[k] = 0;
    gbm_team_sync(team);
}

/* Where the data say little beside the prior rounding leaves the parabola with
 * an error that grows with the square of c. */
GBM_FN real gbm_rescale_reach(gbm_total squares)
{
    const real lost = (real)(GBM_RESCALE_LOST * squares);
    return real_log(1 + real_sqrt(2 * GBM_RESCALE_FELT / lost));
}

/* From dev: the parabola, without the plate's own prior, whose part of the
 * precision along dev is `squares`: scale times the sum of the squares of u -
 * m.
 */
GBM_FN void gbm_rescale_parabola(const struct gbm_joint *j,
                                 struct gbm_rescale *r,
                                 const struct gbm_team *team, gbm_total squares)
{
    gbm_sparse_multiply(&j->factor, team, j->V, r->dev, r->along);
    gbm_total all = 0, cross = 0;
    GBM_TEAM_FOR(k, 0, j->d, team)
    {
        all += r->along[k] * r->along[k];
        cross += r->along[k] * r->normals[k];
    }
    r->quadratic = gbm_team_sum(team, all) - squares;
    r->linear = squares - gbm_team_sum(team, cross);
    r->reach = gbm_rescale_reach(squares);
}

/* The ends of log c: those of the one among intervals as long as the reach that
 * holds the present place on the line, `at`. They begin anywhere, so all places
 * on the line are reached in turn; and the reach is the same at all of them, as
 * the standardised values are. A move that is told is compared: it goes as far
 * as its rounding is below what is compared. */
GBM_FN void gbm_rescale_ends(const struct gbm_rescale *r, struct gbm_rng *rng,
                             int telling, real at, real *lower, real *upper)
{
    const real shorter = real_sqrt(GBM_RESCALE_TOLD / GBM_RESCALE_FELT);
    const real reach =
        telling ? real_log(1 + (real_exp(r->reach) - 1) * shorter) : r->reach;
    const real from = gbm_uniform(rng) * reach;
    *lower = -GBM_INF;
    *upper = GBM_INF;
    if (!gbm_is_finite(from) || !gbm_is_finite(at))
        return;
    const real place = (at - from) / reach;
    *lower = (real_floor(place) - place) * reach;
    *upper = *lower + reach;
}

GBM_FN real gbm_rescale_at(const struct gbm_rescale *r, real c)
{
    return (real)((c - 1) * (r->linear - r->quadratic * (c - 1) / 2));
}

/* Whether so many scales of a term's rows are moved one by one, each at the
 * price of a product with the factor: not where each is that of few rows, as of
 * every unit's own variance, nor where observed cells keep them. */
GBM_FN bool gbm_rescale_pays(const struct gbm_joint *j, int term,
                             long long scales)
{
    const struct gbm_joint_rows rows = gbm_joint_rows_of(j, term);
    return scales <= GBM_RESCALE_MOST &&
           scales * scales <= rows.header[GBM_T_COUNT] &&
           !rows.header[GBM_T_LEFT_OUT];
}

/* The block has moved by (c - 1) dev. */
GBM_FN void gbm_rescale_done(const struct gbm_joint *j,
                             const struct gbm_rescale *r,
                             const struct gbm_team *team, real c)
{
    gbm_team_sync(team);
    GBM_TEAM_FOR(k, 0, j->d, team)
    {
        j->x[k] += (c - 1) * r->dev[k];
        r->normals[k] += (c - 1) * r->along[k];
    }
    gbm_team_sync(team);
}

#endif
