/* sparse_cholesky.h: Cholesky factor, solves and draws for a sparse precision
 * matrix, by one team of lanes (team.h).
 *
 * The rows are numbered in a fill-reducing order. The first `sparse` columns of
 * the factor are kept as lists, the rest, which fill-in makes nearly full, is
 * one dense triangle. One array of values holds the lower triangle of Q, then
 * of L: of a sparse column k the cells start[k] .. start[k + 1] - 1, whose rows
 * are row[], the diagonal first; then the dense block, of `d - sparse` rows and
 * columns, at `dense`, by columns (cell r of column k at k * rows + r, r >= k).
 * After the factorisation the diagonal cells hold 1 / L[k,k].
 *
 * The first `leaves` of the sparse columns are trees of few columns that many
 * have the pattern of, class by class (trees.h); of these start[k] is the
 * diagonal, and what follows it is told by the class.
 *
 * A lone lane goes right-looking through the columns: column k updates what
 * comes after it, whose cells `place` lists in order. A team goes through the
 * levels of the elimination tree: the columns of a level do not depend on each
 * other, and each cell gathers its products (Davis 2006, Direct Methods for
 * Sparse Linear Systems, chapter 4). Either has a fixed order of its sums. */
#ifndef GBM_SPARSE_CHOLESKY_H
#define GBM_SPARSE_CHOLESKY_H

#include "normals.h"
#include "trees.h"

struct gbm_sparse {
    int d, sparse, leaves, levels, dense, trees_size;
    const int *trees; /* [trees_size]; the other lists are of the rest */
    const int *start; /* [sparse + 1] */
    const int *row;   /* [start[sparse]] */
    const int *place; /* right-looking: the cells that are updated */
    /* by levels: cells of level l are cell[level_cell[l] ..]; the last group,
     * number `levels`, is the dense block's. The products of cell number i
     * are left[p] * right[p], p from product[i]. In a level the cells with most
     * products come first, and the columns whose rows are longest */
    const int *level_cell;   /* [levels + 2] */
    const int *level_column; /* [levels + 2] */
    const int *column;       /* [d - leaves] by level */
    const int *cell, *product, *left, *right;
    /* row k of the sparse part of L: columns before k */
    const int *row_start, *row_cell, *row_column; /* [d + 1], ... */
};

/* The classes of trees, one after the other. */
#define GBM_CLASSES_FOR(f, k_)                                                 \
    for (const int *next_ = (f)->trees, *end_ = (f)->trees + (f)->trees_size;  \
         next_ < end_; next_ += next_[GBM_TREES_SIZE])                         \
        for (struct gbm_trees trees_ = gbm_trees_of(next_), *k_ = &trees_; k_; \
             k_ = 0)

/* V := the factor of the matrix in V. False if it is not positive definite (V
 * is spoilt then). */
GBM_FN_LINKED bool gbm_sparse_factor(const struct gbm_sparse *f,
                                     const struct gbm_team *team, real *V);

/* x := L^-1 x */
GBM_FN_LINKED void gbm_sparse_forward(const struct gbm_sparse *f,
                                      const struct gbm_team *team,
                                      const real *V, real *x);

/* x := L'^-1 x */
GBM_FN_LINKED void gbm_sparse_backward(const struct gbm_sparse *f,
                                       const struct gbm_team *team,
                                       const real *V, real *x);

/* out := L'x */
GBM_FN_LINKED void gbm_sparse_multiply(const struct gbm_sparse *f,
                                       const struct gbm_team *team,
                                       const real *V, const real *x, real *out);

/* -x'Qx/2, Q in V, for one lane; *size: the sum of its absolute terms, which
 * its rounding error goes with. */
GBM_FN_LINKED gbm_total gbm_sparse_quadratic(const struct gbm_sparse *f,
                                             const real *V, const real *x,
                                             gbm_total *size);

/* x[i] += independent standard normals, the same whatever the team. */
GBM_FN_LINKED void gbm_add_normals(int n, struct gbm_rng *rng,
                                   const struct gbm_team *team, real *x);

/* Number i of a team's normals: where a lone lane's would be in the stream. */
#ifdef GBM_SINGLE
enum { GBM_NORMALS_OF_BLOCK = 4 };
#else
enum { GBM_NORMALS_OF_BLOCK = 2 };
#endif
GBM_FN real gbm_normal_number(const struct gbm_rng *rng, int i)
{
    struct gbm_rng own = *rng;
    own.block += (uint32_t)(i / GBM_NORMALS_OF_BLOCK);
    own.left = 0;
    for (int skip = i % GBM_NORMALS_OF_BLOCK; skip > 0; skip--)
        gbm_draw_normal(&own);
    return gbm_draw_normal(&own);
}

GBM_FN void gbm_skip_normals(struct gbm_rng *rng, int n)
{
    rng->block +=
        (uint32_t)((n + GBM_NORMALS_OF_BLOCK - 1) / GBM_NORMALS_OF_BLOCK);
    rng->left = 0;
}

/* b := L'^-1 (b + z), z normal, of which b was L^-1 b: a draw as below. */
GBM_FN void gbm_sparse_finish(const struct gbm_sparse *f, struct gbm_rng *rng,
                              const struct gbm_team *team, const real *V,
                              real *b, real *normals)
{
    gbm_team_sync(team);
    GBM_TEAM_FOR(i, 0, normals ? f->d : 0, team)
    normals[i] = b[i];
    gbm_team_sync(team);
    gbm_add_normals(f->d, rng, team, b);
    GBM_TEAM_FOR(i, 0, normals ? f->d : 0, team)
    normals[i] = b[i] - normals[i];
    if (normals)
        gbm_team_sync(team); /* all have read b */
    gbm_sparse_backward(f, team, V, b);
}

/* b := a draw of N(Q^-1 b, Q^-1), that is m + L'^-1 z with m = Q^-1 b, Q in V
 * (Rue 2001, Fast sampling of Gaussian Markov random fields). Leaves z in
 * `normals` [d] if that is not NULL. False if Q is not positive definite. */
GBM_FN bool gbm_sparse_draw(const struct gbm_sparse *f, struct gbm_rng *rng,
                            const struct gbm_team *team, real *V, real *b,
                            real *normals)
{
    if (!gbm_sparse_factor(f, team, V))
        return false;
    gbm_sparse_forward(f, team, V, b);
    gbm_sparse_finish(f, rng, team, V, b, normals);
    return true;
}

/* Number k of L'x: of the sparse columns, and of a dense triangle [n][n]. */
GBM_FN gbm_total gbm_sparse_times(const struct gbm_sparse *f, int k,
                                  const real *V, const real *x)
{
    gbm_total sum = x[k] / V[f->start[k]];
    for (int i = f->start[k] + 1; i < f->start[k + 1]; i++)
        sum += V[i] * x[f->row[i]];
    return sum;
}
GBM_FN gbm_total gbm_dense_times(int n, int k, const real *U, const real *x)
{
    const real *column = U + (int64_t)k * n;
    gbm_total sum = x[k] / column[k];
    for (int i = k + 1; i < n; i++)
        sum += column[i] * x[i];
    return sum;
}

/* ---- what these are made of ---- */

#if GBM_IN_PART(1)

GBM_FN_ONCE void gbm_dense_factor(int n, real *U, const struct gbm_team *team)
{
    for (int k = 0; k < n; k++) {
        real *column = U + (int64_t)k * n;
        const real inverse = gbm_pivot(column[k]);
        gbm_team_sync(team); /* all have read the pivot */
        if (team->lane == 0)
            column[k] = inverse;
        GBM_TEAM_FOR(i, k + 1, n, team)
        column[i] *= inverse;
        gbm_team_sync(team);
        GBM_TEAM_FOR(i, k + 1, n, team)
        {
            const real by = column[i];
            real *other = U + (int64_t)i * n;
            GBM_SIMD
            for (int r = i; r < n; r++)
                other[r] -= by * column[r];
        }
        gbm_team_sync(team);
    }
}

GBM_FN void gbm_sparse_factor_alone(const struct gbm_sparse *f, real *V)
{
    const struct gbm_team alone = {0, 1};
    const int *place = f->place;
    GBM_CLASSES_FOR(f, trees)
    gbm_trees_factor(trees, &alone, true, V);
    for (int k = f->leaves; k < f->sparse; k++) {
        const int first = f->start[k], end = f->start[k + 1];
        const real inverse = gbm_pivot(V[first]);
        V[first] = inverse;
        for (int i = first + 1; i < end; i++)
            V[i] *= inverse;
        for (int j = first + 1; j < end; j++) {
            const real by = V[j];
            for (int i = j; i < end; i++)
                V[*place++] -= V[i] * by;
        }
    }
}

GBM_FN gbm_total gbm_sparse_products(const struct gbm_sparse *f, int first,
                                     int step, int end, const real *V)
{
    gbm_total sum = 0;
    GBM_UNROLL_LOADS
    for (int p = first; p < end; p += step)
        sum += V[f->left[p]] * V[f->right[p]];
    return sum;
}

GBM_FN void gbm_sparse_gather(const struct gbm_sparse *f, int level,
                              const struct gbm_team *team, real *V)
{
    GBM_TEAM_LISTS(
        team, i, f->level_cell[level], f->level_cell[level + 1],
        f->product[i + 1] - f->product[i],
        gbm_sparse_products(f, f->product[i] + at, by, f->product[i + 1], V),
        V[f->cell[i]] -= (real)sum)
    gbm_team_sync(team);
}

GBM_FN void gbm_sparse_factor_levels(const struct gbm_sparse *f,
                                     const struct gbm_team *team, real *V)
{
    GBM_CLASSES_FOR(f, trees)
    gbm_trees_factor(trees, team, false, V);
    gbm_team_sync(team);
    for (int l = 0; l < f->levels; l++) {
        gbm_sparse_gather(f, l, team, V);
        GBM_TEAM_FOR(c, f->level_column[l], f->level_column[l + 1], team)
        {
            const int first = f->start[f->column[c]];
            const int end = f->start[f->column[c] + 1];
            const real inverse = gbm_pivot(V[first]);
            V[first] = inverse;
            for (int i = first + 1; i < end; i++)
                V[i] *= inverse;
        }
        gbm_team_sync(team);
    }
    gbm_sparse_gather(f, f->levels, team, V);
}

GBM_FN_LINKED bool gbm_sparse_factor(const struct gbm_sparse *f,
                                     const struct gbm_team *team, real *V)
{
    const int n = f->d - f->sparse;
    if (gbm_team_alone(team))
        gbm_sparse_factor_alone(f, V);
    else
        gbm_sparse_factor_levels(f, team, V);
    struct gbm_team few;
    if (gbm_team_few(team, &few))
        gbm_dense_factor(n, V + f->dense, &few);
    gbm_team_sync(team);
    gbm_total good = 1; /* a bad pivot is NaN */
    GBM_TEAM_FOR(k, 0, f->sparse, team)
    good = V[f->start[k]] > 0 ? good : 0;
    GBM_TEAM_FOR(k, 0, n, team)
    good = V[f->dense + (int64_t)k * n + k] > 0 ? good : 0;
    return gbm_team_min(team, good) > 0;
}

GBM_FN void gbm_dense_forward(int n, const real *U, const struct gbm_team *team,
                              real *x)
{
    for (int k = 0; k < n; k++) {
        const real *column = U + (int64_t)k * n;
        const real y = x[k] * column[k];
        gbm_team_sync(team);
        if (team->lane == 0)
            x[k] = y;
        if (gbm_team_alone(team)) {
            GBM_SIMD
            for (int i = k + 1; i < n; i++)
                x[i] -= column[i] * y;
        } else {
            GBM_TEAM_FOR(i, k + 1, n, team)
            x[i] -= column[i] * y;
        }
        gbm_team_sync(team);
    }
}

GBM_FN void gbm_dense_backward(int n, const real *U,
                               const struct gbm_team *team, real *x)
{
    for (int k = n - 1; k >= 0; k--) {
        const real *column = U + (int64_t)k * n;
        gbm_total sum = 0;
        if (gbm_team_alone(team)) {
            GBM_SIMD_SUM(sum)
            for (int i = k + 1; i < n; i++)
                sum += column[i] * x[i];
        } else {
            GBM_TEAM_FOR(i, k + 1, n, team)
            sum += column[i] * x[i];
            sum = gbm_team_sum(team, sum);
        }
        if (team->lane == 0)
            x[k] = (x[k] - (real)sum) * column[k];
        gbm_team_sync(team);
    }
}

/* The sparse columns of x := L^-1 x, one after the other; and by levels, rows
 * gathering. */
GBM_FN void gbm_sparse_forward_alone(const struct gbm_sparse *f, const real *V,
                                     real *x)
{
    const struct gbm_team alone = {0, 1};
    GBM_CLASSES_FOR(f, trees)
    gbm_trees_forward(trees, &alone, true, V, x);
    for (int k = f->leaves; k < f->sparse; k++) {
        const int first = f->start[k], end = f->start[k + 1];
        const real y = x[k] * V[first];
        x[k] = y;
        for (int i = first + 1; i < end; i++)
            x[f->row[i]] -= V[i] * y;
    }
}

GBM_FN gbm_total gbm_sparse_row(const struct gbm_sparse *f, int first, int step,
                                int end, const real *V, const real *x)
{
    gbm_total sum = 0;
    GBM_UNROLL_LOADS
    for (int p = first; p < end; p += step)
        sum += V[f->row_cell[p]] * x[f->row_column[p]];
    return sum;
}

GBM_FN void gbm_sparse_forward_levels(const struct gbm_sparse *f,
                                      const struct gbm_team *team,
                                      const real *V, real *x)
{
    const int *start = f->row_start, *column = f->column;
    GBM_CLASSES_FOR(f, trees)
    gbm_trees_forward(trees, team, false, V, x);
    gbm_team_sync(team);
    for (int l = 0; l <= f->levels; l++) { /* the last: the dense rows */
        GBM_TEAM_LISTS(team, c, f->level_column[l], f->level_column[l + 1],
                       start[column[c] + 1] - start[column[c]],
                       gbm_sparse_row(f, start[column[c]] + at, by,
                                      start[column[c] + 1], V, x),
                       x[column[c]] =
                           (x[column[c]] - (real)sum) *
                           (l < f->levels ? V[f->start[column[c]]] : 1))
        gbm_team_sync(team);
    }
}

/* Row k of x := L'^-1 x, a sparse one. */
GBM_FN void gbm_sparse_backward_row(const struct gbm_sparse *f, int k,
                                    const real *V, real *x)
{
    const int first = f->start[k], end = f->start[k + 1];
    gbm_total sum = 0;
    GBM_UNROLL_LOADS
    for (int i = first + 1; i < end; i++)
        sum += V[i] * x[f->row[i]];
    x[k] = (x[k] - (real)sum) * V[first];
}

GBM_FN void gbm_sparse_backward_levels(const struct gbm_sparse *f,
                                       const struct gbm_team *team,
                                       const real *V, real *x)
{
    for (int l = f->levels - 1; l >= 0; l--) {
        GBM_TEAM_FOR(c, f->level_column[l], f->level_column[l + 1], team)
        gbm_sparse_backward_row(f, f->column[c], V, x);
        gbm_team_sync(team);
    }
    GBM_CLASSES_FOR(f, trees)
    gbm_trees_backward(trees, team, V, x);
    gbm_team_sync(team);
}

GBM_FN void gbm_sparse_backward_alone(const struct gbm_sparse *f, const real *V,
                                      real *x)
{
    const struct gbm_team alone = {0, 1};
    for (int k = f->sparse - 1; k >= f->leaves; k--)
        gbm_sparse_backward_row(f, k, V, x);
    GBM_CLASSES_FOR(f, trees)
    gbm_trees_backward(trees, &alone, V, x);
}

GBM_FN_LINKED void gbm_sparse_forward(const struct gbm_sparse *f,
                                      const struct gbm_team *team,
                                      const real *V, real *x)
{
    if (gbm_team_alone(team))
        gbm_sparse_forward_alone(f, V, x);
    else
        gbm_sparse_forward_levels(f, team, V, x);
    struct gbm_team few;
    if (gbm_team_few(team, &few))
        gbm_dense_forward(f->d - f->sparse, V + f->dense, &few, x + f->sparse);
    gbm_team_sync(team);
}

GBM_FN_LINKED void gbm_sparse_backward(const struct gbm_sparse *f,
                                       const struct gbm_team *team,
                                       const real *V, real *x)
{
    struct gbm_team few;
    if (gbm_team_few(team, &few))
        gbm_dense_backward(f->d - f->sparse, V + f->dense, &few, x + f->sparse);
    gbm_team_sync(team);
    if (gbm_team_alone(team))
        gbm_sparse_backward_alone(f, V, x);
    else
        gbm_sparse_backward_levels(f, team, V, x);
}

GBM_FN_LINKED gbm_total gbm_sparse_quadratic(const struct gbm_sparse *f,
                                             const real *V, const real *x,
                                             gbm_total *size)
{
    const int n = f->d - f->sparse;
    gbm_total total = 0;
    *size = 0;
    GBM_CLASSES_FOR(f, trees)
    total += gbm_trees_quadratic(trees, V, x, size);
    for (int k = f->leaves; k < f->sparse; k++)
        for (int i = f->start[k]; i < f->start[k + 1]; i++) {
            const real term = (i == f->start[k] ? REAL_C(0.5) : 1) * V[i] *
                              x[k] * x[f->row[i]];
            total -= term;
            *size += real_fabs(term);
        }
    for (int k = 0; k < n; k++)
        for (int i = k; i < n; i++) {
            const real term = (i == k ? REAL_C(0.5) : 1) *
                              V[f->dense + (int64_t)k * n + i] *
                              x[f->sparse + k] * x[f->sparse + i];
            total -= term;
            *size += real_fabs(term);
        }
    return total;
}

#endif

#if GBM_IN_PART(3)

GBM_FN_LINKED void gbm_sparse_multiply(const struct gbm_sparse *f,
                                       const struct gbm_team *team,
                                       const real *V, const real *x, real *out)
{
    const int n = f->d - f->sparse;
    gbm_team_sync(team);
    GBM_CLASSES_FOR(f, trees)
    gbm_trees_multiply(trees, team, V, x, out);
    GBM_TEAM_FOR(k, f->leaves, f->sparse, team)
    out[k] = (real)gbm_sparse_times(f, k, V, x);
    GBM_TEAM_FOR(k, 0, n, team)
    out[f->sparse + k] =
        (real)gbm_dense_times(n, k, V + f->dense, x + f->sparse);
    gbm_team_sync(team);
}

GBM_FN_LINKED void gbm_add_normals(int n, struct gbm_rng *rng,
                                   const struct gbm_team *team, real *x)
{
    rng->left = 0; /* of a block that something else began */
    if (gbm_team_alone(team)) {
        gbm_shift_normals(rng, n, x);
        rng->left = 0; /* what follows begins a block, as for a team */
        return;
    }
    GBM_TEAM_FOR(i, 0, n, team)
    x[i] += gbm_normal_number(rng, i);
    gbm_skip_normals(rng, n);
    gbm_team_sync(team);
}

#endif
#endif
