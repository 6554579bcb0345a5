/* border.h: draws a sparse block that is small trees of columns under a few
 * dense ones, as the coefficients of many groups under their means: on the
 * device, by one lane a tree, from its rows to its draw.
 *
 * A tree's part of the precision is kept in registers: its own columns, full,
 * and in each the rows of the border, the dense columns. What eliminating all
 * trees leaves to the border is one sum over the lanes; then every lane has the
 * border's factor and draw, and goes back to its trees. So a draw waits for all
 * lanes a few times, whatever is in a tree, and there are no lists but which
 * rows a tree has (runtime/load/joint_border.c). The draw is that of
 * gbm_sparse_draw, to rounding, and leaves the same factor behind. */
#ifndef GBM_BORDER_H
#define GBM_BORDER_H

#include "joint.h"

/* From GBM_BORDER_CLASSES on: of each class of trees where its positions are,
 * and of each term how its trees' rows lie. */
enum {
    GBM_BORDER_ROWS,    /* most of a tree */
    GBM_BORDER_ELEMENT, /* [rows][count] place; -1 - e: it is not the tree's */
    GBM_BORDER_VALUE,   /* [rows][columns + border] coefficients, constants: of
                           each tree, */
    GBM_BORDER_STRIDE,  /* ... [..][count], or of all: 0 */
    GBM_BORDER_TERM
};

/* Most columns of a tree, and of the border, that are kept in registers. */
enum { GBM_BORDER_COLUMNS = 6, GBM_BORDER_EDGE = 6 };

#ifdef __CUDACC__

/* Rows of a tree that are loaded before any of them is used: what one needs is
 * some steps away, and a tree waits for it. */
#ifdef GBM_COMPACT
enum { GBM_BORDER_TOGETHER = 1 };
#else
enum { GBM_BORDER_TOGETHER = 8 };
#endif

/* The weight and score of a term's row. */
struct state;
typedef void gbm_border_row(const struct state *s, int term, long long element,
                            real *weight, real *score);

/* The part of a tree: its columns, full, of `C + O` rows, and potentials. */
template <int C, int O> struct gbm_border_tree {
    real column[C][C + O], potential[C + O];
};

/* What the trees leave to the border: its lower triangle, and potentials. */
template <int O> struct gbm_border_sums {
    gbm_total of[O * (O + 3) / 2];
};

/* Where the cells of a tree's column c and row m are, in those of its class;
 * -1: there is none. Loaded at once, as what is stored between might be one of
 * them. */
template <int C, int O> struct gbm_border_places {
    int of[C][C + O];
};

template <int C, int O>
GBM_FN void gbm_border_place(const int *position, gbm_border_places<C, O> *at)
{
    GBM_UNROLL
    for (int c = 0; c < C; c++)
        GBM_UNROLL
    for (int m = c; m < C + O; m++)
        at->of[c][m] = position[c * (C + O) + m];
}

/* The factor of tree t, 0 where there is no cell. */
template <int C, int O>
GBM_FN void gbm_border_factor(const struct gbm_joint *j,
                              const struct gbm_trees *k, const int *position,
                              int t, real (*cell)[C + O])
{
    gbm_border_places<C, O> at;
    gbm_border_place<C, O>(position, &at);
    GBM_UNROLL
    for (int c = 0; c < C; c++)
        GBM_UNROLL
    for (int m = c; m < C + O; m++)
        cell[c][m] =
            at.of[c][m] < 0 ? 0 : gbm_trees_held(k, j->V, at.of[c][m])[t];
}

/* Adds a row with coefficients a. */
template <int C, int O>
GBM_FN void gbm_border_add(const real *a, real weight, real score,
                           gbm_border_tree<C, O> *tree,
                           gbm_border_sums<O> *sums)
{
    GBM_UNROLL
    for (int c = 0; c < C; c++) {
        const real by = weight * a[c];
        if (a[c] == 0)
            continue;
        GBM_UNROLL
        for (int m = c; m < C + O; m++)
            tree->column[c][m] = gbm_multiply_add(by, a[m], tree->column[c][m]);
    }
    GBM_UNROLL
    for (int m = 0; m < C + O; m++)
        tree->potential[m] += score * a[m];
    GBM_UNROLL
    for (int o = 0; o < O; o++)
        GBM_UNROLL
    for (int p = 0; p <= o; p++)
        sums->of[o * (o + 1) / 2 + p] += weight * a[C + o] * a[C + p];
}

/* Weights and scores of the next rows of a term, of which there are n. */
template <gbm_border_row *row>
GBM_FN void gbm_border_rows(const struct state *s, int term, const int *element,
                            int count, int n, real *weight, real *score)
{
    int e[GBM_BORDER_TOGETHER];
    GBM_UNROLL
    for (int i = 0; i < GBM_BORDER_TOGETHER; i++)
        e[i] = element[(int64_t)(i < n ? i : 0) * count];
    GBM_UNROLL
    for (int i = 0; i < GBM_BORDER_TOGETHER; i++) {
        row(s, term, e[i] < 0 ? -1 - e[i] : e[i], &weight[i], &score[i]);
        weight[i] = e[i] < 0 ? 0 : weight[i];
        score[i] = e[i] < 0 ? 0 : score[i];
    }
}

/* Adds the rows of tree t. */
template <int C, int O, int T, gbm_border_row *row>
GBM_FN void gbm_border_gather(const struct gbm_joint *j, const struct state *s,
                              const int *terms, int count, int t,
                              gbm_border_tree<C, O> *tree,
                              gbm_border_sums<O> *sums)
{
    GBM_ROLLED
    for (int k = 0; k < T; k++, terms += GBM_BORDER_TERM) {
        const int stride = terms[GBM_BORDER_STRIDE];
        const int *element = j->table + terms[GBM_BORDER_ELEMENT] + t;
        const real *value = j->constant + terms[GBM_BORDER_VALUE];
        value += stride ? t : 0;
        const int rows = terms[GBM_BORDER_ROWS];
        GBM_ROLLED
        for (int first = 0; first < rows; first += GBM_BORDER_TOGETHER) {
            real weight[GBM_BORDER_TOGETHER], score[GBM_BORDER_TOGETHER];
            GBM_UNROLL
            for (int term = 0; term < T; term++)
                if (term == k)
                    gbm_border_rows<row>(s, term,
                                         element + (int64_t)first * count,
                                         count, rows - first, weight, score);
            GBM_ROLLED
            for (int i = 0; i < GBM_BORDER_TOGETHER && first + i < rows; i++) {
                const int r = first + i;
                real a[C + O];
                GBM_UNROLL
                for (int m = 0; m < C + O; m++)
                    a[m] = value[(int64_t)(r * (C + O) + m) *
                                 (stride ? stride : 1)];
                gbm_border_add<C, O>(a, weight[i], score[i], tree, sums);
            }
        }
    }
}

/* The tree's factor, L^-1 of its potential, and what both leave to the border.
 */
template <int C, int O>
GBM_FN void gbm_border_eliminate(int columns, gbm_border_tree<C, O> *tree,
                                 gbm_border_sums<O> *sums)
{
    GBM_UNROLL
    for (int c = 0; c < C; c++) {
        if (c >= columns)
            continue;
        const real pivot = gbm_pivot(tree->column[c][c]);
        tree->column[c][c] = pivot;
        const real y = tree->potential[c] *= pivot;
        GBM_UNROLL
        for (int m = c + 1; m < C + O; m++) {
            tree->column[c][m] *= pivot;
            tree->potential[m] -= tree->column[c][m] * y;
        }
        GBM_UNROLL
        for (int d = c + 1; d < C; d++)
            GBM_UNROLL
        for (int m = d; m < C + O; m++)
            tree->column[d][m] -= tree->column[c][d] * tree->column[c][m];
        GBM_UNROLL
        for (int o = 0; o < O; o++)
            GBM_UNROLL
        for (int p = 0; p <= o; p++)
            sums->of[o * (o + 1) / 2 + p] -=
                tree->column[c][C + o] * tree->column[c][C + p];
    }
    GBM_UNROLL
    for (int o = 0; o < O; o++)
        sums->of[O * (O + 1) / 2 + o] += tree->potential[C + o];
}

/* Takes the tree's cells from V and x, or clears it. */
template <int C, int O>
GBM_FN void gbm_border_begin(const struct gbm_joint *j,
                             const struct gbm_trees *k, const int *position,
                             bool fresh, int t, gbm_border_tree<C, O> *tree)
{
    if (!fresh)
        gbm_border_factor<C, O>(j, k, position, t, tree->column);
    GBM_UNROLL
    for (int c = 0; fresh && c < C; c++)
        GBM_UNROLL
    for (int m = c; m < C + O; m++)
        tree->column[c][m] = 0;
    GBM_UNROLL
    for (int m = 0; m < C + O; m++)
        tree->potential[m] = fresh || m >= k->columns
                                 ? 0
                                 : j->x[k->first + (int64_t)m * k->count + t];
}

/* Leaves the factor in V, and in x what is to be solved for. */
template <int C, int O>
GBM_FN void gbm_border_store(const struct gbm_joint *j,
                             const struct gbm_trees *k, const int *position,
                             int t, const struct gbm_rng *rng, real *normals,
                             const gbm_border_tree<C, O> *tree)
{
    gbm_border_places<C, O> at;
    gbm_border_place<C, O>(position, &at);
    real z[C];
    GBM_ROLLED
    for (int c = 0; c < C; c++)
        z[c] = c < k->columns
                   ? gbm_normal_number(rng, k->first + c * k->count + t)
                   : 0;
    GBM_UNROLL
    for (int c = 0; c < C; c++) {
        if (c >= k->columns)
            continue;
        GBM_UNROLL
        for (int m = c; m < C + O; m++)
            if (at.of[c][m] >= 0)
                gbm_trees_cells(k, j->V, at.of[c][m])[t] = tree->column[c][m];
        const int place = k->first + c * k->count + t;
        normals[place] = z[c];
        j->x[place] = tree->potential[c] + z[c];
    }
}

/* The border's factor and draw, which every lane computes; lane 0 stores them.
 */
template <int O>
GBM_FN bool gbm_border_dense(const struct gbm_joint *j,
                             const struct gbm_team *team, const real *normals,
                             const gbm_border_sums<O> *sums, real *x)
{
    const struct gbm_sparse *f = &j->factor;
    real U[O][O];
    bool good = true;
    GBM_UNROLL
    for (int o = 0; o < O; o++)
        GBM_UNROLL
    for (int p = 0; p <= o; p++)
        U[p][o] = (real)sums->of[o * (o + 1) / 2 + p];
    GBM_UNROLL
    for (int c = 0; c < O; c++) {
        const real pivot = gbm_pivot(U[c][c]);
        good = good && pivot > 0;
        U[c][c] = pivot;
        GBM_UNROLL
        for (int m = c + 1; m < O; m++)
            U[c][m] *= pivot;
        GBM_UNROLL
        for (int d = c + 1; d < O; d++)
            GBM_UNROLL
        for (int m = d; m < O; m++)
            U[d][m] -= U[c][d] * U[c][m];
    }
    GBM_UNROLL
    for (int o = 0; o < O; o++)
        x[o] = (real)sums->of[O * (O + 1) / 2 + o];
    GBM_UNROLL
    for (int c = 0; c < O; c++) {
        x[c] *= U[c][c];
        GBM_UNROLL
        for (int m = c + 1; m < O; m++)
            x[m] -= U[c][m] * x[c];
    }
    GBM_UNROLL
    for (int c = 0; c < O; c++)
        x[c] += normals[f->sparse + c];
    GBM_UNROLL
    for (int c = O - 1; c >= 0; c--) {
        GBM_UNROLL
        for (int m = c + 1; m < O; m++)
            x[c] -= U[c][m] * x[m];
        x[c] *= U[c][c];
    }
    if (team->lane == 0) {
        GBM_UNROLL
        for (int c = 0; c < O; c++) {
            j->x[f->sparse + c] = x[c];
            GBM_UNROLL
            for (int m = c; m < O; m++)
                j->V[f->dense + c * O + m] = U[c][m];
        }
    }
    return good;
}

/* x := L'^-1 x of tree t, given the border's x. */
template <int C, int O>
GBM_FN void gbm_border_back(const struct gbm_joint *j,
                            const struct gbm_trees *k, const int *position,
                            int t, const real *border)
{
    real x[C + O], cell[C][C + O];
    gbm_border_factor<C, O>(j, k, position, t, cell);
    GBM_UNROLL
    for (int c = 0; c < C; c++)
        x[c] = c < k->columns ? j->x[k->first + (int64_t)c * k->count + t] : 0;
    GBM_UNROLL
    for (int o = 0; o < O; o++)
        x[C + o] = border[o];
    GBM_UNROLL
    for (int c = C - 1; c >= 0; c--) {
        if (c >= k->columns)
            continue;
        real sum = 0;
        GBM_UNROLL
        for (int m = c + 1; m < C + O; m++)
            sum += cell[c][m] * x[m];
        x[c] = (x[c] - sum) * cell[c][c];
        j->x[k->first + (int64_t)c * k->count + t] = x[c];
    }
}

/* Requires what is not of the border's rows in V and x. Leaves the draw in x
 * and its normals; false if the precision is not positive
 * definite. */
template <int C, int O, int T, gbm_border_row *row>
GBM_FN bool gbm_border_draw(const struct gbm_joint *j, const struct state *s,
                            struct gbm_rng *rng, const struct gbm_team *team,
                            real *normals)
{
    const struct gbm_sparse *f = &j->factor;
    const int *border = j->table + j->table[GBM_J_BORDER];
    const int *of_class = border + GBM_BORDER_CLASSES;
    const int size = 1 + T * GBM_BORDER_TERM;
    const bool fresh = border[GBM_BORDER_FRESH] != 0;
    gbm_border_sums<O> sums, given;
    rng->left = 0;
    GBM_UNROLL
    for (int o = 0; o < O; o++) {
        GBM_UNROLL
        for (int p = 0; p <= o; p++)
            given.of[o * (o + 1) / 2 + p] = j->V[f->dense + p * O + o];
        given.of[O * (O + 1) / 2 + o] = j->x[f->sparse + o];
    }
    GBM_UNROLL
    for (int i = 0; i < O * (O + 3) / 2; i++)
        sums.of[i] = 0;
    GBM_CLASSES_FOR(f, k)
    {
        const int *position = j->table + of_class[0];
        GBM_TEAM_FOR(t, 0, k->count, team)
        {
            gbm_border_tree<C, O> tree;
            gbm_border_begin<C, O>(j, k, position, fresh, t, &tree);
            gbm_border_gather<C, O, T, row>(j, s, of_class + 1, k->count, t,
                                            &tree, &sums);
            gbm_border_eliminate<C, O>(k->columns, &tree, &sums);
            gbm_border_store<C, O>(j, k, position, t, rng, normals, &tree);
        }
        of_class += size;
    }
    GBM_TEAM_FOR(c, 0, O, team)
    normals[f->sparse + c] = gbm_normal_number(rng, f->sparse + c);
    gbm_team_sums(team, O * (O + 3) / 2, sums.of);
    GBM_UNROLL
    for (int i = 0; i < O * (O + 3) / 2; i++)
        sums.of[i] += given.of[i];
    real x[O];
    const bool good = gbm_border_dense<O>(j, team, normals, &sums, x);
    of_class = border + GBM_BORDER_CLASSES;
    if (good)
        GBM_CLASSES_FOR(f, k)
        {
            GBM_TEAM_FOR(t, 0, k->count, team)
            gbm_border_back<C, O>(j, k, j->table + of_class[0], t, x);
            of_class += size;
        }
    gbm_skip_normals(rng, f->d);
    gbm_team_sync(team);
    return good;
}

/* Of a block that has no border nothing is compiled. */
template <int C, int O, int T, gbm_border_row *row> struct gbm_border {
    GBM_FN bool draw(const struct gbm_joint *j, const struct state *s,
                     struct gbm_rng *rng, const struct gbm_team *team,
                     real *normals)
    {
        return gbm_border_draw<C, O, T, row>(j, s, rng, team, normals);
    }
};
template <int O, int T, gbm_border_row *row> struct gbm_border<0, O, T, row> {
    GBM_FN bool draw(const struct gbm_joint *, const struct state *,
                     struct gbm_rng *, const struct gbm_team *, real *)
    {
        return false;
    }
};

/* Whether a block is drawn so. */
#define GBM_BORDERED(function) (GBM_SIZE(function, GBM_HAS_BORDER, 0) > 0)
#define GBM_BORDER_DRAW(function, row, j, s, nterms, rng, team, normals)       \
    gbm_border<GBM_SIZE(function, GBM_HAS_BORDER, 0),                          \
               GBM_SIZE(function, GBM_HAS_EDGE, 0), nterms,                    \
               row>::draw(j, s, rng, team, normals)
#else
#define GBM_BORDERED(function) false
#define GBM_BORDER_DRAW(function, row, j, s, nterms, rng, team, normals) false
#endif

#endif
