/* rescale_plate.h: rescale.h for a plate of scales, each the scale of cells of
 * its own: several are moved in one go.
 *
 * No prior of the cells has another scale's cells in it, so the deviations that
 * belong to the scales lie side by side in one vector, and for c_k, the factor
 * of scale k, the log likelihood is one parabola,
 *     sum_k (c_k - 1) linear_k - sum_kl (c_k - 1) (c_l - 1) quadratic_kl / 2.
 * One pass over the block's factor gives all of its coefficients; the scales
 * are then moved one after the other, as rescale.h moves them, by numbers
 * alone, and all cells at the end. */
#ifndef GBM_RESCALE_PLATE_H
#define GBM_RESCALE_PLATE_H

#include "border.h"
#include "rescale.h"

enum {
    GBM_RESCALE_AT_ONCE = 8,
    GBM_RESCALE_PRODUCTS = GBM_RESCALE_AT_ONCE * (GBM_RESCALE_AT_ONCE + 3) / 2,
    GBM_RESCALE_TOTALS = 3 * GBM_RESCALE_AT_ONCE + GBM_RESCALE_PRODUCTS
};

struct gbm_rescale_plate {
    real *normals, *scale, *dev; /* [d]: z; a cell's scale, or -1; dev */
    int scales;
    long long node[GBM_RESCALE_AT_ONCE]; /* of each, -1: it does not move */
    /* of each scale: its rows' squares times their precisions; behind these how
     * many rows there are, and how many of them do not move; then, of its part
     * of L'dev, a_k: a_k'z, and behind all these a_k'a_l, l <= k */
    gbm_total total[GBM_RESCALE_TOTALS];
    real c[GBM_RESCALE_AT_ONCE], value[GBM_RESCALE_AT_ONCE];
};

GBM_FN struct gbm_rescale_plate gbm_rescale_plate_of(const struct gbm_joint *j,
                                                     long long scales)
{
    const struct gbm_rescale r = gbm_rescale_of(j);
    struct gbm_rescale_plate p;
    p.normals = r.normals;
    p.scale = r.along;
    p.dev = r.dev;
    p.scales = scales < GBM_RESCALE_AT_ONCE ? (int)scales : GBM_RESCALE_AT_ONCE;
    for (int k = 0; k < GBM_RESCALE_AT_ONCE; k++) {
        p.node[k] = -1;
        p.c[k] = 1;
        p.value[k] = 0;
    }
    for (int i = 0; i < GBM_RESCALE_TOTALS; i++)
        p.total[i] = 0;
    return p;
}

/* Where the products begin, and those of pairs. */
GBM_FN gbm_total *gbm_rescale_product(struct gbm_rescale_plate *p)
{
    return p->total + 3 * p->scales;
}
GBM_FN const gbm_total *gbm_rescale_pairs(const struct gbm_rescale_plate *p)
{
    return p->total + 4 * p->scales;
}

GBM_FN void gbm_rescale_plate_clear(const struct gbm_rescale_plate *p, int d,
                                    const struct gbm_team *team)
{
    GBM_TEAM_FOR(k, 0, d, team)
    {
        p->dev[k] = 0;
        p->scale[k] = -1;
    }
    gbm_team_sync(team);
}

/* The scale whose node this is, or -1. */
GBM_FN int gbm_rescale_scale(const struct gbm_rescale_plate *p, long long node)
{
    for (int k = 0; k < p->scales; k++)
        if (p->node[k] == node)
            return k;
    return -1;
}

/* A row of scale k, of which the cell at `place` has deviation dev. */
GBM_FN void gbm_rescale_row(struct gbm_rescale_plate *p,
                            const struct gbm_joint *j, int k, int place,
                            real precision, real own, real dev)
{
    p->total[k] += precision * own * own;
    p->total[p->scales + k]++;
    if (place < 0 || place >= j->d) {
        p->total[2 * p->scales + k]++;
    } else {
        p->dev[place] = dev;
        p->scale[place] = (real)k;
    }
}

/* Adds `by` times dev of a row to the part of its scale. */
GBM_FN void gbm_rescale_part(const struct gbm_rescale_plate *p, gbm_total *part,
                             int64_t row, real by)
{
    const int k = (int)p->scale[row];
    if (k >= 0)
        part[k] += by * p->dev[row];
}

/* Adds the products of what column k has of each scale, and clears it. */
GBM_FN void gbm_rescale_column(struct gbm_rescale_plate *p, gbm_total *part,
                               int64_t k)
{
    const gbm_total z = p->normals[k];
    gbm_total *product = gbm_rescale_product(p), *pair = product + p->scales;
    for (int a = 0; a < p->scales; a++, pair += a) {
        product[a] += part[a] * z;
        for (int b = 0; b <= a; b++)
            pair[b] += part[a] * part[b];
    }
    for (int a = 0; a < p->scales; a++)
        part[a] = 0;
}

GBM_FN void gbm_rescale_trees(const struct gbm_trees *k,
                              const struct gbm_team *team, const real *V,
                              struct gbm_rescale_plate *p)
{
    gbm_total part[GBM_RESCALE_AT_ONCE] = {0};
    GBM_TEAM_FOR(t, 0, k->count, team)
    for (int c = 0; c < k->columns; c++) {
        const int64_t at = k->first + (int64_t)c * k->count + t;
        gbm_rescale_part(p, part, at, 1 / gbm_trees_held(k, V, k->from[c])[t]);
        for (int q = k->from[c] + 1; q < k->from[c + 1]; q++) {
            const int outer = -1 - k->row[q];
            const int64_t row =
                outer < 0 ? k->first + (int64_t)k->row[q] * k->count + t
                          : k->outer[(int64_t)outer * k->count + t];
            gbm_rescale_part(p, part, row, gbm_trees_held(k, V, q)[t]);
        }
        gbm_rescale_column(p, part, at);
    }
}

#ifdef __CUDACC__

/* What a lane has of all trees, in registers. */
struct gbm_rescale_lane {
    gbm_total product[GBM_RESCALE_AT_ONCE],
        pair[GBM_RESCALE_AT_ONCE * (GBM_RESCALE_AT_ONCE + 1) / 2];
};

/* The same as gbm_rescale_trees for a tree of border.h, whose columns and those
 * of the border have dev and scale. */
template <int C, int O>
GBM_FN void gbm_rescale_bordered(const struct gbm_joint *j,
                                 const struct gbm_trees *k, const int *position,
                                 int t, const real *normals, const real *dev,
                                 const int *scale, struct gbm_rescale_lane *of)
{
    real cell[C][C + O], z[C];
    gbm_border_factor<C, O>(j, k, position, t, cell);
    GBM_UNROLL
    for (int c = 0; c < C; c++)
        z[c] =
            c < k->columns ? normals[k->first + (int64_t)c * k->count + t] : 0;
    GBM_UNROLL
    for (int c = 0; c < C; c++) {
        gbm_total part[GBM_RESCALE_AT_ONCE] = {0};
        if (c >= k->columns)
            continue;
        GBM_UNROLL
        for (int m = c; m < C + O; m++) {
            const real by = (m == c ? 1 / cell[c][c] : cell[c][m]) * dev[m];
            GBM_UNROLL
            for (int a = 0; a < GBM_RESCALE_AT_ONCE; a++)
                part[a] += scale[m] == a ? by : 0;
        }
        GBM_UNROLL
        for (int a = 0; a < GBM_RESCALE_AT_ONCE; a++) {
            of->product[a] += part[a] * (gbm_total)z[c];
            GBM_UNROLL
            for (int b = 0; b <= a; b++)
                of->pair[a * (a + 1) / 2 + b] += part[a] * part[b];
        }
    }
}

template <int C, int O, int T>
GBM_FN void gbm_rescale_lanes(const struct gbm_joint *j,
                              struct gbm_rescale_plate *p,
                              const struct gbm_team *team)
{
    const struct gbm_sparse *f = &j->factor;
    const int *of_class =
        j->table + j->table[GBM_J_BORDER] + GBM_BORDER_CLASSES;
    struct gbm_rescale_lane of = {};
    real dev[C + O];
    int scale[C + O];
    GBM_UNROLL
    for (int o = 0; o < O; o++) {
        dev[C + o] = p->dev[f->sparse + o];
        scale[C + o] = (int)p->scale[f->sparse + o];
    }
    GBM_CLASSES_FOR(f, k)
    {
        GBM_TEAM_FOR(t, 0, k->count, team)
        {
            GBM_UNROLL
            for (int c = 0; c < C; c++) {
                const int64_t at = k->first + (int64_t)c * k->count + t;
                dev[c] = c < k->columns ? p->dev[at] : 0;
                scale[c] = c < k->columns ? (int)p->scale[at] : -1;
            }
            gbm_rescale_bordered<C, O>(j, k, j->table + of_class[0], t,
                                       p->normals, dev, scale, &of);
        }
        of_class += 1 + T * GBM_BORDER_TERM;
    }
    gbm_total *product = gbm_rescale_product(p), *pair = product + p->scales;
    GBM_UNROLL
    for (int a = 0; a < GBM_RESCALE_AT_ONCE; a++) {
        if (a >= p->scales)
            continue;
        product[a] += of.product[a];
        GBM_UNROLL
        for (int b = 0; b <= a; b++)
            pair[a * (a + 1) / 2 + b] += of.pair[a * (a + 1) / 2 + b];
    }
}

/* The trees' part, by lanes where the block is drawn so. */
template <int C, int O, int T> struct gbm_rescale_by {
    GBM_FN void trees(const struct gbm_joint *j, struct gbm_rescale_plate *p,
                      const struct gbm_team *team)
    {
        gbm_rescale_lanes<C, O, T>(j, p, team);
    }
};
template <int O, int T> struct gbm_rescale_by<0, O, T> {
    GBM_FN void trees(const struct gbm_joint *j, struct gbm_rescale_plate *p,
                      const struct gbm_team *team)
    {
        GBM_CLASSES_FOR(&j->factor, k)
        gbm_rescale_trees(k, team, j->V, p);
    }
};
#define GBM_RESCALE_TREES(function, nterms, j, p, team)                        \
    gbm_rescale_by<GBM_SIZE(function, GBM_HAS_BORDER, 0),                      \
                   GBM_SIZE(function, GBM_HAS_EDGE, 0), nterms>::trees(j, p,   \
                                                                       team)
#else
#define GBM_RESCALE_TREES(function, nterms, j, p, team)                        \
    GBM_CLASSES_FOR(&(j)->factor, k_)                                          \
    gbm_rescale_trees(k_, team, (j)->V, p)
#endif

/* Behind the trees' part: the other columns', and all coefficients summed. */
GBM_FN void gbm_rescale_plate_parabola(const struct gbm_joint *j,
                                       struct gbm_rescale_plate *p,
                                       const struct gbm_team *team)
{
    const struct gbm_sparse *f = &j->factor;
    const int n = f->d - f->sparse;
    gbm_total part[GBM_RESCALE_AT_ONCE] = {0};
    GBM_TEAM_FOR(k, f->leaves, f->sparse, team)
    {
        gbm_rescale_part(p, part, k, 1 / j->V[f->start[k]]);
        for (int i = f->start[k] + 1; i < f->start[k + 1]; i++)
            gbm_rescale_part(p, part, f->row[i], j->V[i]);
        gbm_rescale_column(p, part, k);
    }
    GBM_TEAM_FOR(k, 0, n, team)
    {
        const real *column = j->V + f->dense + (int64_t)k * n;
        gbm_rescale_part(p, part, f->sparse + k, 1 / column[k]);
        for (int i = k + 1; i < n; i++)
            gbm_rescale_part(p, part, f->sparse + i, column[i]);
        gbm_rescale_column(p, part, f->sparse + k);
    }
    const int all = 3 * p->scales + p->scales * (p->scales + 3) / 2;
    const int first = all < GBM_WIDE_PARTS ? all : GBM_WIDE_PARTS;
    gbm_team_sums(team, first, p->total);
    gbm_team_sums(team, all - first, p->total + first);
}

GBM_FN gbm_total gbm_rescale_count(const struct gbm_rescale_plate *p, int k)
{
    return p->total[p->scales + k];
}

GBM_FN bool gbm_rescale_moves(const struct gbm_rescale_plate *p, int k)
{
    return p->node[k] >= 0 && p->total[2 * p->scales + k] == 0;
}

/* The parabola of scale k where those before it have moved. */
GBM_FN struct gbm_rescale
gbm_rescale_plate_at(const struct gbm_rescale_plate *p, int k)
{
    const gbm_total *product =
        gbm_rescale_pairs(p) + k * (k + 1) / 2; /* a_k'a_l */
    const gbm_total squares = p->total[k];
    struct gbm_rescale r = {p->normals, p->scale, p->dev, 0, 0, 0};
    r.quadratic = product[k] - squares;
    r.linear = squares - p->total[3 * p->scales + k];
    for (int l = 0; l < k; l++)
        r.linear -= (p->c[l] - 1) * product[l];
    r.reach = gbm_rescale_reach(squares);
    return r;
}

/* Moves the cells; more: something will yet be moved after them, which asks for
 * the normals. */
GBM_FN void gbm_rescale_plate_done(const struct gbm_joint *j,
                                   const struct gbm_rescale_plate *p,
                                   const struct gbm_team *team, bool more)
{
    gbm_team_sync(team);
    GBM_TEAM_FOR(k, 0, j->d, team)
    {
        const int scale = (int)p->scale[k];
        p->dev[k] *= scale < 0 ? 0 : p->c[scale] - 1;
        j->x[k] += p->dev[k];
    }
    if (more) {
        gbm_sparse_multiply(&j->factor, team, j->V, p->dev, p->scale);
        GBM_TEAM_FOR(k, 0, j->d, team)
        p->normals[k] += p->scale[k];
    }
    gbm_team_sync(team);
}

#endif
