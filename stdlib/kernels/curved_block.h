/* curved_block.h: a joint block (joint.h) some of whose terms are not
 * quadratic: each of their rows adds L(offset + a'x), L any smooth function, of
 * a Poisson count with a log link for instance.
 *
 * Given all else, a normal density is fitted to the block's: Newton's method
 * finds the mode; there every row is replaced by its expansion to second order,
 *     score u - weight/2 u^2,  u = a'x,  weight = max(-L'', 0),
 * which is N(m, Q^-1) of a sparse Q as in joint.h. The block's density is this
 * one times R, exp of the sum over rows of L(offset + u) - score u + weight/2
 * u^2, whatever the expansion. An elliptical slice (Murray, Adams and MacKay
 * 2010, Elliptical slice sampling; Nishihara, Murray and Adams 2014, Parallel
 * MCMC with generalized elliptical slice sampling) on R always moves, and to
 * nearly independent values where R is flat. Exact, as the fit does not depend
 * on the block's present value: Newton starts at the last mode and goes on to
 * where rounding stops it.
 *
 * Where L has a bound around a link, as in max(p, 0.001), it is flat beyond,
 * and there may be several modes. So that the fit stays the same whatever the
 * last one was, it is one to the link alone at first, and goes on from there to
 * L itself, a step at a time; rows beyond their bounds then do not count.
 *
 * Along the ellipse u is linear in cos and sin, so a trial costs one L a row.
 */
#ifndef GBM_CURVED_BLOCK_H
#define GBM_CURVED_BLOCK_H

#include "joint.h"

struct gbm_curved {
    int started;               /* the mode has been found before */
    real *state;               /* [1] the same, kept */
    real *saved;               /* quadratic terms: [cells + links + d] */
    real *mode, *move, *noise; /* [d] */
    int count;                 /* cells + links + d */
};

GBM_FN struct gbm_curved gbm_curved_of(const struct gbm_joint *j)
{
    struct gbm_curved c;
    c.count = (int)(j->held - j->V);
    c.state = j->work + j->table[GBM_J_CURVED];
    c.started = c.state[0] > 0;
    c.saved = c.state + 1;
    c.mode = c.saved + c.count;
    c.move = c.mode + j->d;
    c.noise = c.move + j->d;
    return c;
}

/* Cells of the work space that gbm_curved_of divides. */
GBM_FN int gbm_curved_cells(int cells, int links, int d)
{
    return 1 + cells + links + d + 3 * d;
}

/* Cells of a column: whole blocks of rows, whatever the program's blocks are.
 */
#define GBM_CURVE_ROOM(rows) (((rows) + 7) / 8 * 8)

/* A curved term's rows: what L is a function of. */
struct gbm_curve {
    int rows, room;
    real *offset;         /* eta = offset + u */
    real *base, *co, *si; /* u = base + co cos + si sin */
    const int *begin, *at;
    bool same_places; /* all rows have the same list of them */
    const real *coefficient;
    real *weight, *score;
    real *columns; /* [..][room]: what L has of a row, if it is in vectors */
};

GBM_FN struct gbm_curve gbm_curve_of(const struct gbm_joint *j, int term)
{
    const struct gbm_joint_rows r = gbm_joint_rows_of(j, term);
    struct gbm_curve c;
    c.rows = r.rows;
    c.offset = j->work + r.header[GBM_T_CURVE];
    c.room = (int)GBM_CURVE_ROOM(c.rows);
    c.base = c.offset + c.room;
    c.co = c.base + c.room;
    c.si = c.co + c.room;
    c.columns = c.si + c.room;
    c.begin = r.begin;
    c.at = j->table + r.header[GBM_T_AT];
    c.same_places = r.header[GBM_T_SAME_PLACES] != 0;
    c.coefficient = r.header[GBM_T_FIXED_DESIGN]
                        ? j->constant + r.header[GBM_T_COEFFICIENT]
                        : r.design;
    c.weight = r.weight;
    c.score = r.score;
    return c;
}

#ifndef __CUDACC__
/* Rows that have the same places, four at once, whose sums do not wait for each
 * other; the number of them. */
GBM_FN int gbm_curve_project_alike(const struct gbm_joint *j,
                                   const struct gbm_curve *c, const real *x,
                                   bool held, real *out)
{
    const int n = c->begin[1] - c->begin[0], rows = c->rows / 4 * 4;
    for (int r = 0; r < rows; r += 4) {
        const real *row = c->coefficient + c->begin[r];
        gbm_total sum[4] = {0};
        for (int p = 0; p < n; p++) {
            const int at = c->at[p];
            if (at < 0 || (at >= j->d && !held))
                continue;
            const real value = at < j->d ? x[at] : j->held[at - j->d];
            for (int k = 0; k < 4; k++)
                sum[k] += row[(int64_t)k * n + p] * value;
        }
        for (int k = 0; k < 4; k++)
            out[r + k] = (real)sum[k];
    }
    return rows;
}
#endif

/* out[r] = a'x over the block's coordinates and, with `held`, the held values.
 */
GBM_FN_ONCE void gbm_curve_project(const struct gbm_joint *j,
                                   const struct gbm_curve *c,
                                   const struct gbm_team *team, const real *x,
                                   bool held, real *out)
{
    int done = 0;
#ifndef __CUDACC__
    if (c->same_places)
        done = gbm_curve_project_alike(j, c, x, held, out);
#endif
    GBM_TEAM_FOR(r, done, c->rows, team)
    {
        gbm_total sum = 0;
        for (int p = c->begin[r]; p < c->begin[r + 1]; p++) {
            const int at = c->at[p];
            if (at >= 0 && at < j->d)
                sum += c->coefficient[p] * x[at];
            else if (held && at >= j->d)
                sum += c->coefficient[p] * j->held[at - j->d];
        }
        out[r] = (real)sum;
    }
    gbm_fill_block(out, 1, c->room, c->rows);
}

/* The sum of the rows' expansions at base + co c + si s. */
GBM_FN gbm_total gbm_curve_expansion(const struct gbm_curve *c,
                                     const struct gbm_team *team, real co,
                                     real si)
{
    gbm_total sum = 0;
    GBM_SIMD_SUM(sum)
    GBM_TEAM_FOR(r, 0, c->rows, team)
    {
        const real u = c->base[r] + co * c->co[r] + si * c->si[r];
        sum += u * (c->score[r] - c->weight[r] * u / 2);
    }
    return sum;
}

/* Keeps a row's expansion at u; a row that has none there counts as flat. */
GBM_FN void gbm_curve_expand(const struct gbm_curve *c, int row, real slope,
                             real curvature)
{
    real weight = curvature < 0 ? -curvature : 0;
    if (!(weight < GBM_HUGE) || !gbm_is_finite(slope))
        weight = slope = 0;
    c->weight[row] = weight;
    c->score[row] = slope + weight * c->base[row];
}

GBM_FN_ONCE void gbm_curved_copy(int n, const struct gbm_team *team,
                                 const real *from, real *to)
{
    gbm_team_sync(team);
    GBM_TEAM_FOR(i, 0, n, team)
    to[i] = from[i];
    gbm_team_sync(team);
}

/* What a generated program says of its block. Every function runs over the rows
 * of all curved terms. */
struct gbm_curved_model {
    const void *state;
    /* base = a'x (held values included), then weights and scores there, added
     * to the block's precision and potential, held values taken off */
    void (*expand)(const void *state, const struct gbm_team *team,
                   const struct gbm_joint *j, const real *x, int what);
    /* co, si (or base) = a'x */
    void (*project)(const void *state, const struct gbm_team *team,
                    const struct gbm_joint *j, const real *x, int which);
    /* the sum of L at base + co c + si s; or without bounds; or of L less the
     * expansion */
    gbm_total (*total)(const void *state, const struct gbm_team *team,
                       const struct gbm_joint *j, real c, real s, int what);
    /* sums of slope * co and of weight * co^2 at base */
    void (*along)(const void *state, const struct gbm_team *team,
                  const struct gbm_joint *j, gbm_total *slope,
                  gbm_total *square);
    int bounded; /* some L has bounds around its link */
};
enum { GBM_CURVE_BASE, GBM_CURVE_CO, GBM_CURVE_SI };
enum { GBM_CURVE_DENSITY, GBM_CURVE_UNBOUNDED, GBM_CURVE_AGAINST };

/* x'Qx from the factor: |L'x|^2. */
GBM_FN_LINKED gbm_total gbm_sparse_norm(const struct gbm_sparse *f,
                                        const struct gbm_team *team,
                                        const real *V, const real *x);

#if GBM_IN_PART(3)
GBM_FN_LINKED gbm_total gbm_sparse_norm(const struct gbm_sparse *f,
                                        const struct gbm_team *team,
                                        const real *V, const real *x)
{
    const int n = f->d - f->sparse;
    gbm_total total = 0;
    GBM_CLASSES_FOR(f, trees)
    total += gbm_trees_multiply(trees, team, V, x, 0);
    GBM_TEAM_FOR(k, f->leaves, f->sparse, team)
    {
        const gbm_total part = gbm_sparse_times(f, k, V, x);
        total += part * part;
    }
    GBM_TEAM_FOR(k, 0, n, team)
    {
        const gbm_total part =
            gbm_dense_times(n, k, V + f->dense, x + f->sparse);
        total += part * part;
    }
    return gbm_team_sum(team, total);
}
#endif

/* A row is beyond its bounds: these change the value. Where they hardly do, it
 * does not matter. */
GBM_FN bool gbm_curve_beyond(real value, real unbounded)
{
    return !(real_fabs(value - unbounded) <=
             REAL_C(1e-4) * (1 + real_fabs(unbounded)));
}

/* Newton's way from the mode along `move`, whose norm by Q is given: the whole
 * of it where the density does not fall, else a part. */
GBM_INLINE real gbm_curved_length(const struct gbm_curved_model *m,
                                  const struct gbm_joint *j,
                                  const struct gbm_curved *c,
                                  const struct gbm_team *team, gbm_total norm,
                                  int what)
{
    gbm_total slope, square;
    m->project(m->state, team, j, c->move, GBM_CURVE_CO);
    m->along(m->state, team, j, &slope, &square);
    const gbm_total linear = norm - slope, quadratic = norm - square;
    const gbm_total here = m->total(m->state, team, j, 0, 0, what);
    real length = 1;
    for (int i = 0; i < 30; i++, length *= REAL_C(0.5)) {
        const gbm_total there = m->total(m->state, team, j, length, 0, what) -
                                here +
                                length * (linear - quadratic * length / 2);
        if (there >= REAL_C(1e-4) * length * norm)
            return length;
    }
    return 0;
}

/* Goes on to a mode in at most so many steps, and leaves the factor of Q there
 * in j->V, where the expansion has its mode in j->x. False if there is no
 * normal density to be had. */
GBM_INLINE bool gbm_curved_newton(const struct gbm_curved_model *m,
                                  const struct gbm_joint *j,
                                  const struct gbm_curved *c,
                                  const struct gbm_team *team, int what,
                                  int steps)
{
    const struct gbm_sparse *f = &j->factor;
    const gbm_total close =
        sizeof(real) == 4 ? (gbm_total)1e-6 : (gbm_total)1e-14;
    for (int i = 0; i < steps; i++) {
        gbm_curved_copy(c->count, team, c->saved, j->V);
        m->expand(m->state, team, j, c->mode, what);
        if (!gbm_sparse_factor(f, team, j->V))
            return false;
        gbm_sparse_forward(f, team, j->V, j->x);
        gbm_sparse_backward(f, team, j->V, j->x);
        gbm_team_sync(team);
        GBM_TEAM_FOR(k, 0, j->d, team)
        c->move[k] = j->x[k] - c->mode[k];
        gbm_team_sync(team);
        const gbm_total norm = gbm_sparse_norm(f, team, j->V, c->move);
        if (!gbm_is_finite((real)norm))
            return false;
        if (norm < close)
            break; /* the next mode would differ by its square: x is it */
        real length = 1;
        if (norm > REAL_C(0.1))
            length = gbm_curved_length(m, j, c, team, norm, what);
        if (length == 0)
            break;
        gbm_team_sync(team);
        GBM_TEAM_FOR(k, 0, j->d, team)
        c->mode[k] += length * c->move[k];
        gbm_team_sync(team);
    }
    return true;
}

/* Fits a normal density to the block's: its mode, and the factor of Q in j->V.
 * The way to a mode stands once in the text, as it does in gbm_curved_draw: all
 * of it is inlined, and a compiler for a device takes seconds for each. */
GBM_INLINE bool gbm_curved_fit(const struct gbm_curved_model *m,
                               const struct gbm_joint *j,
                               const struct gbm_curved *c,
                               const struct gbm_team *team)
{
    const int what[] = {GBM_CURVE_UNBOUNDED, GBM_CURVE_DENSITY};
    const int steps[] = {50, 6};
    for (int i = 0; i < (m->bounded ? 2 : 1); i++)
        if (!gbm_curved_newton(m, j, c, team, what[i], steps[i]))
            return false;
    gbm_curved_copy(j->d, team, j->x, c->mode);
    return true;
}

/* Where Newton begins the first time: the mean of the quadratic terms alone;
 * the block's present value (in `noise`) if they have none. */
GBM_FN_ONCE void gbm_curved_begin(const struct gbm_joint *j,
                                  const struct gbm_curved *c,
                                  const struct gbm_team *team)
{
    gbm_curved_copy(c->count, team, c->saved, j->V);
    gbm_joint_hold(j, team);
    const bool proper = gbm_sparse_factor(&j->factor, team, j->V);
    if (proper) {
        gbm_sparse_forward(&j->factor, team, j->V, j->x);
        gbm_sparse_backward(&j->factor, team, j->V, j->x);
    }
    gbm_curved_copy(j->d, team, proper ? j->x : c->noise, c->mode);
}

/* A starting value may lie so far out that R there is out of all proportion to
 * what it is near the mode, and the slice would take long to leave it. While
 * warm-up tunes, the fitted normal is drawn from instead, if that is possible.
 */
#define GBM_CURVED_FAR 20

/* One ellipse around the fitted mode, from the present value: mode + move.
 * Leaves the new value in j->x; false: it stays. */
GBM_INLINE bool gbm_curved_ellipse(const struct gbm_curved_model *m,
                                   const struct gbm_joint *j,
                                   const struct gbm_curved *c,
                                   struct gbm_rng *rng,
                                   const struct gbm_team *team, bool adapting)
{
    GBM_TEAM_FOR(k, 0, j->d, team)
    c->noise[k] = 0;
    gbm_team_sync(team);
    gbm_add_normals(j->d, rng, team, c->noise);
    gbm_sparse_backward(&j->factor, team, j->V, c->noise);
    m->project(m->state, team, j, c->move, GBM_CURVE_CO);
    m->project(m->state, team, j, c->noise, GBM_CURVE_SI);
    gbm_total level = m->total(m->state, team, j, 1, 0, GBM_CURVE_AGAINST) +
                      real_log(gbm_uniform(rng));
    if (!(level - level == 0))
        level = -GBM_INF; /* from an impossible value to any possible one */
    if (adapting &&
        level > m->total(m->state, team, j, 0, 0, GBM_CURVE_AGAINST) +
                    GBM_CURVED_FAR &&
        gbm_is_finite(
            (real)m->total(m->state, team, j, 0, 1, GBM_CURVE_AGAINST))) {
        GBM_TEAM_FOR(k, 0, j->d, team)
        j->x[k] = c->mode[k] + c->noise[k];
        gbm_team_sync(team);
        return true;
    }
    real angle = 2 * GBM_PI * gbm_uniform(rng);
    real low = angle - 2 * GBM_PI, high = angle;
    for (int i = 0; i < 200; i++) {
        const real co = real_cos(angle), si = real_sin(angle);
        const gbm_total there =
            m->total(m->state, team, j, co, si, GBM_CURVE_AGAINST);
        if (there > level && there < GBM_INF) {
            gbm_team_sync(team);
            GBM_TEAM_FOR(k, 0, j->d, team)
            j->x[k] = c->mode[k] + co * c->move[k] + si * c->noise[k];
            gbm_team_sync(team);
            return true;
        }
        if (angle < 0)
            low = angle;
        else
            high = angle;
        angle = low + (high - low) * gbm_uniform(rng);
    }
    return false;
}

/* A second ellipse around a fit costs far less than the fit: it gains half as
 * many effective draws again where R is not flat, and nothing is lost
 * elsewhere. A third gains no more than it costs. */
enum { GBM_CURVED_ELLIPSES = 2 };

/* One draw of the block: quadratic terms stand in j->V and j->x, the held
 * values in j->held, its present value in `noise`. Leaves the new value in
 * j->x; false: it stays. */
GBM_INLINE bool gbm_curved_draw(const struct gbm_curved_model *m,
                                const struct gbm_joint *j,
                                const struct gbm_curved *c, struct gbm_rng *rng,
                                const struct gbm_team *team, bool adapting)
{
    gbm_curved_copy(c->count, team, j->V, c->saved);
    bool found = false;
    for (int fresh = !c->started; fresh < 2 && !found; fresh++) {
        if (fresh)
            gbm_curved_begin(j, c, team);
        found = gbm_curved_fit(m, j, c, team);
    }
    if (!found) {
        if (team->lane == 0)
            c->state[0] = 0;
        gbm_team_sync(team);
        return false;
    }
    gbm_team_sync(team);
    if (team->lane == 0)
        c->state[0] = 1;
    m->project(m->state, team, j, c->mode, GBM_CURVE_BASE);
    gbm_curved_copy(j->d, team, c->noise, j->x);
    bool moved = false;
    for (int i = 0; i < GBM_CURVED_ELLIPSES; i++) {
        GBM_TEAM_FOR(k, 0, j->d, team)
        c->move[k] = j->x[k] - c->mode[k];
        gbm_team_sync(team);
        if (!gbm_curved_ellipse(m, j, c, rng, team, adapting))
            break;
        moved = true;
    }
    return moved;
}

#endif
