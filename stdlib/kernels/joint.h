/* joint.h: assembles and draws a joint Gaussian block x of several variables.
 *
 * The log density of the block is a sum over terms and their rows,
 *     scale * (-weight/2 (a'x)^2 + score a'x),
 * a a sparse row. What of a term depends on data alone was summed when the
 * block was laid out (runtime/load/joint.c): then the term costs one pass over
 * the cells of Q that it touches, whatever the number of its rows. For the rest
 * the rows' weights and scores are computed each sweep, and every cell of Q and
 * b gathers its rows, in a fixed order.
 *
 * `table` is one array of integers: a header, the terms' headers, and the lists
 * that they point to by their places in the table. */
#ifndef GBM_JOINT_H
#define GBM_JOINT_H

#include "sizes.h"
#include "sparse_cholesky.h"

/* Header of the table: numbers, and places of lists. */
enum {
    GBM_J_D,      /* coordinates */
    GBM_J_SPARSE, /* columns kept sparse */
    GBM_J_LEVELS, /* of the elimination tree */
    GBM_J_CELLS,  /* of the factor */
    GBM_J_LINKS,  /* cells of Q between a coordinate and a held value */
    GBM_J_HELD,   /* values that rows read and the block does not move */
    GBM_J_COST,   /* about how many operations a draw takes */
    GBM_J_WORK,   /* cells of a chain's work space */
    GBM_J_DENSE,  /* place of the dense block among the cells */
    GBM_J_LEAVES, /* of the sparse columns, those of trees */
    GBM_J_TREES_SIZE,
    GBM_J_TREES, /* lists of struct gbm_sparse */
    GBM_J_START,
    GBM_J_ROW,
    GBM_J_PLACE,
    GBM_J_LEVEL_CELL,
    GBM_J_LEVEL_COLUMN,
    GBM_J_COLUMN,
    GBM_J_CELL,
    GBM_J_PRODUCT,
    GBM_J_LEFT,
    GBM_J_RIGHT,
    GBM_J_ROW_START,
    GBM_J_ROW_CELL,
    GBM_J_ROW_COLUMN,
    GBM_J_FIRST,      /* [variables + 1] coordinates of a variable */
    GBM_J_WHERE,      /* [d] cell of its variable */
    GBM_J_AT,         /* [d] its number in the fill-reducing order */
    GBM_J_HELD_FIRST, /* [variables + 1] */
    GBM_J_HELD_WHERE, /* [held] */
    GBM_J_LINK_ROW,   /* [links] coordinate, in the fill-reducing order */
    GBM_J_LINK_HELD,  /* [links] held value */
    GBM_J_TERMS,      /* headers of the terms */
    GBM_J_CURVED,     /* work space of curved_block.h, or 0 */
    GBM_J_SPARE,      /* [3][d] of the work space, for rescale.h */
    GBM_J_BORDER,     /* rows of trees (border.h), or 0 */
    GBM_J_COLUMNS,    /* ... most columns of a tree */
    GBM_J_HEADER
};

/* Header of a term. A list of cells: `count` of them, `to` where each adds, and
 * its contributions from `from[i]` to `from[i + 1]`; constant ones are summed:
 * one value a cell. */
enum {
    GBM_T_COUNT,   /* rows */
    GBM_T_ROWS,    /* of them computed each sweep; 0: all is constant */
    GBM_T_ELEMENT, /* [rows] element of the family */
    GBM_T_BEGIN,   /* [rows + 1] places of its design */
    GBM_T_WEIGHT,  /* place in the work space: weights, scores, designs */
    GBM_T_SCORE,
    GBM_T_DESIGN,
    GBM_T_FIXED_WEIGHT, /* precision summed at load */
    GBM_T_FIXED_SCORE,  /* potential summed at load */
    GBM_T_FIXED_DESIGN,
    GBM_T_Q, /* cells of the precision: count, lists, values */
    GBM_T_Q_TO,
    GBM_T_Q_FROM,
    GBM_T_Q_ROW,
    GBM_T_Q_LEFT, /* places of the two coefficients, if they vary */
    GBM_T_Q_RIGHT,
    GBM_T_Q_VALUE, /* place among the constants */
    GBM_T_Q_RUNS,  /* the rows of each cell follow one another */
    GBM_T_B,
    GBM_T_B_TO,
    GBM_T_B_FROM,
    GBM_T_B_ROW,
    GBM_T_B_LEFT,
    GBM_T_B_VALUE,
    GBM_T_B_RUNS,
    GBM_T_B_WEIGHTED,  /* contributions go by rows' weights, not scores */
    GBM_T_AT,          /* if listed: [places] coordinate, held value, or -1 */
    GBM_T_COEFFICIENT, /* ... constant design: place among the constants; of a
                          vector's prior, constant weights of the rows */
    GBM_T_CENTRED,     /* ... of a vector's prior: its mean is 0 */
    GBM_T_SAME_PLACES, /* ... all rows have the same list */
    GBM_T_CURVE,       /* ... [4 + columns][room] of the work space */
    GBM_T_LEFT_OUT,    /* elements without a row, as nothing of theirs moves */
    GBM_T_BORDER,      /* trees have its rows, where they gather them */
    GBM_T_SIZE
};

struct gbm_joint {
    struct gbm_sparse factor;
    const int *table;
    const real *constant;
    real *work;
    int d, held_count, links;
    real *V;    /* [cells], then [links] */
    real *x;    /* [d] potential, then the draw, in the fill-reducing order */
    real *held; /* [held] */
    const int *first, *where, *at, *held_first, *held_where;
    bool varies; /* some term's design */
};

GBM_FN struct gbm_joint gbm_joint_of(const int *t, const real *constant,
                                     real *work)
{
    struct gbm_joint j;
    j.table = t;
    j.constant = constant;
    j.work = work;
    j.d = t[GBM_J_D];
    j.held_count = t[GBM_J_HELD];
    j.links = t[GBM_J_LINKS];
    j.V = work;
    j.x = work + t[GBM_J_CELLS] + j.links;
    j.held = j.x + j.d;
    j.first = t + t[GBM_J_FIRST];
    j.where = t + t[GBM_J_WHERE];
    j.at = t + t[GBM_J_AT];
    j.held_first = t + t[GBM_J_HELD_FIRST];
    j.held_where = t + t[GBM_J_HELD_WHERE];
    struct gbm_sparse *f = &j.factor;
    f->d = j.d;
    f->sparse = t[GBM_J_SPARSE];
    f->leaves = t[GBM_J_LEAVES];
    f->levels = t[GBM_J_LEVELS];
    f->trees_size = t[GBM_J_TREES_SIZE];
    f->trees = t + t[GBM_J_TREES];
    f->dense = t[GBM_J_DENSE];
    f->start = t + t[GBM_J_START];
    f->row = t + t[GBM_J_ROW];
    f->place = t + t[GBM_J_PLACE];
    f->level_cell = t + t[GBM_J_LEVEL_CELL];
    f->level_column = t + t[GBM_J_LEVEL_COLUMN];
    f->column = t + t[GBM_J_COLUMN];
    f->cell = t + t[GBM_J_CELL];
    f->product = t + t[GBM_J_PRODUCT];
    f->left = t + t[GBM_J_LEFT];
    f->right = t + t[GBM_J_RIGHT];
    f->row_start = t + t[GBM_J_ROW_START];
    f->row_cell = t + t[GBM_J_ROW_CELL];
    f->row_column = t + t[GBM_J_ROW_COLUMN];
    j.varies = true;
    return j;
}

/* At GBM_J_BORDER: whether nothing but the rows that trees gather has a part in
 * their cells; then as border.h says. */
enum { GBM_BORDER_FRESH, GBM_BORDER_CLASSES };

/* What a block may lack, as 0, or a number: the runtime tells the device's
 * compiler, which leaves out what is for it. */
enum gbm_joint_has {
    GBM_HAS_TREES,
    GBM_HAS_LISTS, /* columns kept as lists */
    GBM_HAS_DENSE, /* a dense block */
    GBM_HAS_HELD,
    GBM_HAS_VARYING, /* designs that vary */
    GBM_HAS_BORDER,  /* most columns of a tree that gathers its rows, */
    GBM_HAS_EDGE,    /* and columns of the border (border.h) */
    GBM_HAS_ROOM,    /* cells of work space that a lane with a chain of its own
                        has as an array, which the device lays out so that
                        neighbours read together */
    GBM_HAS_COUNT
};

#ifdef __CUDACC__
GBM_FN struct gbm_joint gbm_joint_with(struct gbm_joint j, bool trees,
                                       bool lists, bool dense, bool held,
                                       bool varying)
{
    struct gbm_sparse *f = &j.factor;
    if (!trees)
        f->leaves = f->trees_size = 0;
    if (!lists) {
        f->sparse = f->leaves;
        f->levels = 0;
    }
    if (!dense)
        f->sparse = f->d;
    if (!held)
        j.held_count = j.links = 0;
    j.varies = varying;
    return j;
}
#define GBM_JOINT_OF(function, table, constant, work)                          \
    gbm_joint_with(gbm_joint_of(table, constant, work),                        \
                   GBM_SIZE(function, GBM_HAS_TREES, 1),                       \
                   GBM_SIZE(function, GBM_HAS_LISTS, 1),                       \
                   GBM_SIZE(function, GBM_HAS_DENSE, 1),                       \
                   GBM_SIZE(function, GBM_HAS_HELD, 1),                        \
                   GBM_SIZE(function, GBM_HAS_VARYING, 1))
#else
#define GBM_JOINT_OF(function, table, constant, work)                          \
    gbm_joint_of(table, constant, work)
#endif

/* The coordinates of a variable, the block's number v, from x to its cells. On
 * a device some are loaded before any is stored, which might be one of them. */
GBM_FN void gbm_joint_to_state(const struct gbm_joint *j,
                               const struct gbm_team *team, int v, real *cells)
{
    const int last = j->first[v + 1];
#if defined(__CUDACC__) && !defined(GBM_COMPACT)
    enum { TOGETHER = 4 };
    for (int i = j->first[v] + team->lane; i < last;
         i += TOGETHER * team->lanes) {
        int where[TOGETHER];
        real x[TOGETHER];
        GBM_UNROLL
        for (int n = 0; n < TOGETHER; n++) {
            const int k = i + n * team->lanes < last ? i + n * team->lanes : i;
            where[n] = j->where[k];
            x[n] = j->x[j->at[k]];
        }
        GBM_UNROLL
        for (int n = 0; n < TOGETHER; n++)
            if (i + n * team->lanes < last)
                cells[where[n]] = x[n];
    }
#else
    GBM_TEAM_FOR(i, j->first[v], last, team)
    cells[j->where[i]] = j->x[j->at[i]];
#endif
}

/* The rows of a term that are computed each sweep. */
struct gbm_joint_rows {
    const int *header;
    int rows;
    const int *element, *begin;
    real *weight, *score, *design;
};

GBM_FN struct gbm_joint_rows gbm_joint_rows_of(const struct gbm_joint *j,
                                               int term)
{
    struct gbm_joint_rows r;
    const int *h = j->table + j->table[GBM_J_TERMS] + term * GBM_T_SIZE;
    r.header = h;
    r.rows = h[GBM_T_ROWS];
    r.element = j->table + h[GBM_T_ELEMENT];
    r.begin = j->table + h[GBM_T_BEGIN];
    r.weight = j->work + h[GBM_T_WEIGHT];
    r.score = j->work + h[GBM_T_SCORE];
    r.design = j->work + h[GBM_T_DESIGN];
    return r;
}

/* The coefficients of a listed term, by the places of its rows. */
GBM_FN const real *gbm_joint_design(const struct gbm_joint *j,
                                    const struct gbm_joint_rows *r)
{
    return r->header[GBM_T_FIXED_DESIGN]
               ? j->constant + r->header[GBM_T_COEFFICIENT]
               : r->design;
}

/* cells [n][n] of the pair (a, b), counted from 1, += by. */
GBM_FN void gbm_scatter(double *cells, int n, int a, int b, double by)
{
    if (a >= 1 && a <= n && b >= 1 && b <= n)
        cells[(int64_t)(a - 1) * n + b - 1] += by;
}

/* The weights of a vector's listed term, by rows. */
GBM_FN const real *gbm_joint_weight(const struct gbm_joint *j,
                                    const struct gbm_joint_rows *r)
{
    return r->header[GBM_T_FIXED_WEIGHT]
               ? j->constant + r->header[GBM_T_COEFFICIENT]
               : r->weight;
}

GBM_FN_ONCE void gbm_joint_clear(const struct gbm_joint *j,
                                 const struct gbm_team *team)
{
    const int n = (int)(j->held - j->V);
    gbm_team_sync(team);
    GBM_TEAM_FOR(i, 0, n, team)
    j->V[i] = 0;
    gbm_team_sync(team);
}

/* Whether trees that gather their rows begin with 0. */
GBM_FN bool gbm_joint_fresh(const struct gbm_joint *j)
{
    const int *t = j->table;
    return t[GBM_J_BORDER] && t[t[GBM_J_BORDER] + GBM_BORDER_FRESH];
}

/* The border alone, where they do. */
GBM_FN void gbm_joint_clear_border(const struct gbm_joint *j,
                                   const struct gbm_team *team)
{
    const struct gbm_sparse *f = &j->factor;
    gbm_team_sync(team);
    GBM_TEAM_FOR(i, f->dense, j->table[GBM_J_CELLS], team)
    j->V[i] = 0;
    GBM_TEAM_FOR(i, f->sparse, f->d, team)
    j->x[i] = 0;
    gbm_team_sync(team);
}

/* One list of a term: precision (what = GBM_T_Q) or potential (GBM_T_B). */
struct gbm_joint_list {
    int count;
    const int *to, *from, *row, *left, *right;
    const real *value;  /* constant coefficients, or NULL */
    const real *design; /* else */
    const real *by;     /* weights or scores of the rows */
    bool runs;          /* the rows of each cell follow one another */
};

/* gbm_dot of hundreds: by several sums at once, which do not wait for each
 * other. */
GBM_FN gbm_total gbm_joint_dot(const real *a, const real *b, int n)
{
    gbm_total lanes[GBM_BLOCK_ROWS] = {0};
    const int whole = n / GBM_BLOCK_ROWS * GBM_BLOCK_ROWS;
    for (int i = 0; i < whole; i += GBM_BLOCK_ROWS) {
        GBM_SIMD
        for (int lane = 0; lane < GBM_BLOCK_ROWS; lane++)
            lanes[lane] += a[i + lane] * b[i + lane];
    }
    gbm_total sum = gbm_sum_lanes(lanes);
    for (int i = whole; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

GBM_FN gbm_total gbm_joint_gather(const struct gbm_joint_list *l, int first,
                                  int step, int end)
{
    gbm_total sum = 0;
#ifndef __CUDACC__ /* a design of all columns in all rows, mostly */
    if (l->value && l->runs && end - first >= 2 * GBM_BLOCK_ROWS)
        return gbm_joint_dot(l->by + l->row[first], l->value + first,
                             end - first);
#endif
    if (l->value) {
        GBM_UNROLL_LOADS
        for (int p = first; p < end; p += step)
            sum += l->by[l->row[p]] * l->value[p];
    } else if (l->right) {
        GBM_UNROLL_LOADS
        for (int p = first; p < end; p += step)
            sum += l->by[l->row[p]] * l->design[l->left[p]] *
                   l->design[l->right[p]];
    } else {
        GBM_UNROLL_LOADS
        for (int p = first; p < end; p += step)
            sum += l->by[l->row[p]] * l->design[l->left[p]];
    }
    return sum;
}

/* out[to[i]] += scale * the sum of cell i. */
GBM_FN void gbm_joint_add_list(const struct gbm_joint_list *l,
                               const struct gbm_team *team, real scale,
                               real *out){
    GBM_TEAM_LISTS(team, i, 0, l->count, l->from[i + 1] - l->from[i],
                   gbm_joint_gather(l, l->from[i] + at, by, l->from[i + 1]),
                   out[l->to[i]] += scale * (real)sum)}

/* Adds a term whose rows (if any) have been computed. */
GBM_FN_ONCE void gbm_joint_add(const struct gbm_joint *j,
                               const struct gbm_joint_rows *r,
                               const struct gbm_team *team, real scale)
{
    const int *h = r->header, *t = j->table;
    const bool fixed = !j->varies || h[GBM_T_FIXED_DESIGN] != 0;
    const int nq = h[GBM_T_Q], nb = h[GBM_T_B];
    const int *to = t + h[GBM_T_Q_TO];
    const real *value = j->constant + h[GBM_T_Q_VALUE];
    if (r->rows)
        gbm_team_sync(team);
    if (h[GBM_T_FIXED_WEIGHT]) {
        GBM_TEAM_FOR(i, 0, nq, team)
        j->V[to[i]] += scale * value[i];
    } else {
        const struct gbm_joint_list l = {nq,
                                         to,
                                         t + h[GBM_T_Q_FROM],
                                         t + h[GBM_T_Q_ROW],
                                         t + h[GBM_T_Q_LEFT],
                                         t + h[GBM_T_Q_RIGHT],
                                         fixed ? value : 0,
                                         r->design,
                                         r->weight,
                                         h[GBM_T_Q_RUNS] != 0};
        gbm_joint_add_list(&l, team, scale, j->V);
    }
    to = t + h[GBM_T_B_TO];
    value = j->constant + h[GBM_T_B_VALUE];
    if (h[GBM_T_FIXED_SCORE]) {
        GBM_TEAM_FOR(i, 0, nb, team)
        j->x[to[i]] += scale * value[i];
    } else {
        const struct gbm_joint_list l = {nb,
                                         to,
                                         t + h[GBM_T_B_FROM],
                                         t + h[GBM_T_B_ROW],
                                         t + h[GBM_T_B_LEFT],
                                         0,
                                         fixed ? value : 0,
                                         r->design,
                                         h[GBM_T_B_WEIGHTED] ? r->weight
                                                             : r->score,
                                         h[GBM_T_B_RUNS] != 0};
        gbm_joint_add_list(&l, team, scale, j->x);
    }
    gbm_team_sync(team);
}

/* Conditions on the held values: the potential of a coordinate loses its link
 * times the value. One lane does it: there are few. */
GBM_FN_ONCE void gbm_joint_hold(const struct gbm_joint *j,
                                const struct gbm_team *team)
{
    if (j->held_count == 0)
        return;
    gbm_team_sync(team);
    const int *row = j->table + j->table[GBM_J_LINK_ROW];
    const int *held = j->table + j->table[GBM_J_LINK_HELD];
    const real *link = j->V + j->table[GBM_J_CELLS];
    if (team->lane == 0)
        for (int i = 0; i < j->links; i++)
            j->x[row[i]] -= link[i] * j->held[held[i]];
    gbm_team_sync(team);
}

/* -x'Qx/2 + b'x for x [d] in the order of the variables, for one lane; *size:
 * the sum of its absolute terms. */
GBM_FN_ONCE double gbm_joint_density(const struct gbm_joint *j, const double *x,
                                     real *ordered, double *size)
{
    double total = 0, terms = 0;
    for (int k = 0; k < j->d; k++) {
        const double term = x[k] * (double)j->x[j->at[k]];
        ordered[j->at[k]] = (real)x[k];
        total += term;
        terms += fabs(term);
    }
    gbm_total quadratic;
    total +=
        (double)gbm_sparse_quadratic(&j->factor, j->V, ordered, &quadratic);
    *size = terms + (double)quadratic;
    return total;
}

#endif
