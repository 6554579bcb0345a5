/* trees.h: columns of a sparse factor that come in many small trees of one
 * pattern, as the effects of each group do under those that groups share.
 *
 * A class has `count` trees of `columns` columns. Number c of tree t is column
 * first + c * count + t of the factor, and position q of its cells is cell
 * cell + q * count + t: what lanes, or the vector unit, do side by side to
 * neighbouring trees lies side by side. Nothing outside a tree comes before its
 * columns, so one lane takes a tree from its first column to its last.
 *
 * Rows of a column are columns of the tree, or outer ones, which each tree may
 * have of its own. A lone lane also changes what is behind the trees; for a
 * team that gathers (sparse_cholesky.h). */
#ifndef GBM_TREES_H
#define GBM_TREES_H

#include "team.h"

/* A class among the integers of `trees`: numbers, and places of lists counted
 * from the class's own. */
enum {
    GBM_TREES_COUNT,
    GBM_TREES_COLUMNS,
    GBM_TREES_FIRST,
    GBM_TREES_CELL,
    GBM_TREES_FROM,        /* [columns + 1] positions, the diagonal first */
    GBM_TREES_ROW,         /* [positions] column of the tree, or -1 - outer */
    GBM_TREES_OUTER,       /* [outer][count] */
    GBM_TREES_SHARED,      /* [outer] whether it is the same row for all */
    GBM_TREES_INSIDE_FROM, /* [columns + 1] updates by a column */
    GBM_TREES_INSIDE,      /* [...][3] positions: what changes, by what two */
    GBM_TREES_OUTSIDE,     /* number of updates of cells behind the trees */
    GBM_TREES_FACTORS,     /* [outside][2] positions of what they multiply */
    GBM_TREES_PLACE,       /* [outside][count] cells */
    GBM_TREES_SAME,        /* [outside] whether it is one cell for all */
    GBM_TREES_SIZE,        /* of all this: where the next class begins */
    GBM_TREES_HEADER
};

struct gbm_trees {
    int count, columns, first, noutside;
    int64_t cell;
    const int *from, *row, *outer, *shared, *inside_from, *inside, *factors,
        *place, *same;
};

GBM_FN struct gbm_trees gbm_trees_of(const int *t)
{
    struct gbm_trees k;
    k.count = t[GBM_TREES_COUNT];
    k.columns = t[GBM_TREES_COLUMNS];
    k.first = t[GBM_TREES_FIRST];
    k.noutside = t[GBM_TREES_OUTSIDE];
    k.cell = t[GBM_TREES_CELL];
    k.from = t + t[GBM_TREES_FROM];
    k.row = t + t[GBM_TREES_ROW];
    k.outer = t + t[GBM_TREES_OUTER];
    k.shared = t + t[GBM_TREES_SHARED];
    k.inside_from = t + t[GBM_TREES_INSIDE_FROM];
    k.inside = t + t[GBM_TREES_INSIDE];
    k.factors = t + t[GBM_TREES_FACTORS];
    k.place = t + t[GBM_TREES_PLACE];
    k.same = t + t[GBM_TREES_SAME];
    return k;
}

/* Trees that a lane takes at once: on the CPU by the vector unit. */
#ifdef __CUDACC__
enum { GBM_TREES_AT_ONCE = 1 };
#else
enum { GBM_TREES_AT_ONCE = 32 };
#endif

/* Runs of trees for each lane: k_->count of them in all, from t0 to t1. */
#define GBM_TREES_FOR(k_, t0, t1, team)                                        \
    for (int t0 = (team)->lane * GBM_TREES_AT_ONCE, t1;                        \
         t1 = t0 + GBM_TREES_AT_ONCE < (k_)->count ? t0 + GBM_TREES_AT_ONCE    \
                                                   : (k_)->count,              \
             t0 < (k_)->count;                                                 \
         t0 += (team)->lanes * GBM_TREES_AT_ONCE)

GBM_FN real *gbm_trees_cells(const struct gbm_trees *k, real *V, int position)
{
    return V + k->cell + (int64_t)position * k->count;
}

GBM_FN const real *gbm_trees_held(const struct gbm_trees *k, const real *V,
                                  int position)
{
    return V + k->cell + (int64_t)position * k->count;
}

/* 1 / sqrt(x), or NaN if x is no pivot. */
GBM_FN real gbm_pivot(real x)
{
    return x > 0 && x < GBM_INF ? 1 / real_sqrt(x) : GBM_NAN;
}

/* out[to] loses a b of each tree; same: to is one place for all. */
GBM_FN void gbm_trees_take(const real *a, const real *b, const int *to,
                           bool same, int t0, int t1, real *out)
{
    if (same) {
        real sum = 0;
        GBM_SIMD_SUM(sum)
        for (int t = t0; t < t1; t++)
            sum += a[t] * b[t];
        out[to[0]] -= sum;
    } else {
        for (int t = t0; t < t1; t++)
            out[to[t]] -= a[t] * b[t];
    }
}

/* What a lone lane takes from the cells behind the trees. */
GBM_FN void gbm_trees_outside(const struct gbm_trees *k, int t0, int t1,
                              real *V)
{
    for (int u = 0; u < k->noutside; u++)
        gbm_trees_take(gbm_trees_held(k, V, k->factors[2 * u]),
                       gbm_trees_held(k, V, k->factors[2 * u + 1]),
                       k->place + (int64_t)u * k->count, k->same[u] != 0, t0,
                       t1, V);
}

/* outside: whether the lane is to change what is behind the trees as well. */
GBM_FN void gbm_trees_factor(const struct gbm_trees *k,
                             const struct gbm_team *team, bool outside, real *V)
{
    GBM_TREES_FOR(k, t0, t1, team)
    {
        for (int c = 0; c < k->columns; c++) {
            real *pivot = gbm_trees_cells(k, V, k->from[c]);
            GBM_SIMD
            for (int t = t0; t < t1; t++)
                pivot[t] = gbm_pivot(pivot[t]);
            for (int q = k->from[c] + 1; q < k->from[c + 1]; q++) {
                real *cell = gbm_trees_cells(k, V, q);
                GBM_SIMD
                for (int t = t0; t < t1; t++)
                    cell[t] *= pivot[t];
            }
            for (int u = k->inside_from[c]; u < k->inside_from[c + 1]; u++) {
                real *cell = gbm_trees_cells(k, V, k->inside[3 * u]);
                const real *a = gbm_trees_held(k, V, k->inside[3 * u + 1]);
                const real *b = gbm_trees_held(k, V, k->inside[3 * u + 2]);
                GBM_SIMD
                for (int t = t0; t < t1; t++)
                    cell[t] -= a[t] * b[t];
            }
        }
        if (outside)
            gbm_trees_outside(k, t0, t1, V);
    }
}

/* The trees' columns of x := L^-1 x; and, if `outside`, what the rows behind
 * them lose by it. */
GBM_FN void gbm_trees_forward(const struct gbm_trees *k,
                              const struct gbm_team *team, bool outside,
                              const real *V, real *x)
{
    GBM_TREES_FOR(k, t0, t1, team)
    for (int c = 0; c < k->columns; c++) {
        const real *pivot = gbm_trees_held(k, V, k->from[c]);
        real *y = x + k->first + (int64_t)c * k->count;
        GBM_SIMD
        for (int t = t0; t < t1; t++)
            y[t] *= pivot[t];
        for (int q = k->from[c] + 1; q < k->from[c + 1]; q++) {
            const real *cell = gbm_trees_held(k, V, q);
            if (k->row[q] < 0) {
                const int outer = -1 - k->row[q];
                if (outside)
                    gbm_trees_take(cell, y,
                                   k->outer + (int64_t)outer * k->count,
                                   k->shared[outer] != 0, t0, t1, x);
                continue;
            }
            real *other = x + k->first + (int64_t)k->row[q] * k->count;
            GBM_SIMD
            for (int t = t0; t < t1; t++)
                other[t] -= cell[t] * y[t];
        }
    }
}

/* sum[t - t0] := what is below the diagonal of column c of tree t, times x. */
GBM_FN void gbm_trees_below(const struct gbm_trees *k, int c, int t0, int t1,
                            const real *V, const real *x, real *sum)
{
    for (int t = t0; t < t1; t++)
        sum[t - t0] = 0;
    for (int q = k->from[c] + 1; q < k->from[c + 1]; q++) {
        const real *cell = gbm_trees_held(k, V, q);
        const int outer = -1 - k->row[q];
        if (outer < 0) {
            const real *other = x + k->first + (int64_t)k->row[q] * k->count;
            GBM_SIMD
            for (int t = t0; t < t1; t++)
                sum[t - t0] += cell[t] * other[t];
        } else if (k->shared[outer]) {
            const real other = x[k->outer[(int64_t)outer * k->count]];
            GBM_SIMD
            for (int t = t0; t < t1; t++)
                sum[t - t0] += cell[t] * other;
        } else {
            const int *row = k->outer + (int64_t)outer * k->count;
            for (int t = t0; t < t1; t++)
                sum[t - t0] += cell[t] * x[row[t]];
        }
    }
}

/* The trees' rows of x := L'^-1 x. */
GBM_FN void gbm_trees_backward(const struct gbm_trees *k,
                               const struct gbm_team *team, const real *V,
                               real *x)
{
    real sum[GBM_TREES_AT_ONCE];
    GBM_TREES_FOR(k, t0, t1, team)
    for (int c = k->columns - 1; c >= 0; c--) {
        const real *pivot = gbm_trees_held(k, V, k->from[c]);
        real *y = x + k->first + (int64_t)c * k->count;
        gbm_trees_below(k, c, t0, t1, V, x, sum);
        GBM_SIMD
        for (int t = t0; t < t1; t++)
            y[t] = (y[t] - sum[t - t0]) * pivot[t];
    }
}

/* out := the trees' rows of L'x; returns the sum of their squares. out may be
 * NULL. */
GBM_FN gbm_total gbm_trees_multiply(const struct gbm_trees *k,
                                    const struct gbm_team *team, const real *V,
                                    const real *x, real *out)
{
    gbm_total total = 0;
    real sum[GBM_TREES_AT_ONCE];
    GBM_TREES_FOR(k, t0, t1, team)
    for (int c = 0; c < k->columns; c++) {
        const real *pivot = gbm_trees_held(k, V, k->from[c]);
        const int64_t at = k->first + (int64_t)c * k->count;
        gbm_trees_below(k, c, t0, t1, V, x, sum);
        for (int t = t0; t < t1; t++) {
            const real y = sum[t - t0] + x[at + t] / pivot[t];
            if (out)
                out[at + t] = y;
            total += (gbm_total)y * y;
        }
    }
    return total;
}

/* The trees' part of -x'Qx/2, Q in V, for one lane; *size: the sum of its
 * absolute terms. */
GBM_FN gbm_total gbm_trees_quadratic(const struct gbm_trees *k, const real *V,
                                     const real *x, gbm_total *size)
{
    gbm_total total = 0;
    for (int c = 0; c < k->columns; c++)
        for (int q = k->from[c]; q < k->from[c + 1]; q++) {
            const real *cell = gbm_trees_held(k, V, q);
            const real *column = x + k->first + (int64_t)c * k->count;
            const real part = q == k->from[c] ? REAL_C(0.5) : 1;
            for (int t = 0; t < k->count; t++) {
                const int64_t row =
                    k->row[q] >= 0
                        ? k->first + (int64_t)k->row[q] * k->count + t
                        : k->outer[(int64_t)(-1 - k->row[q]) * k->count + t];
                const real term = part * cell[t] * column[t] * x[row];
                total -= term;
                *size += real_fabs(term);
            }
        }
    return total;
}

#endif
