/* test_sparse_cholesky: the sparse factor, solves and draws of
 * stdlib/kernels/sparse_cholesky.h on patterns that runtime/load/symbolic.c
 * laid out, against LAPACK on the dense matrix: chains, arrows, lattices,
 * blocks and random graphs; one column after the other and by levels. */
#include <setjmp.h>
#include <stdarg.h>
#include "gbm.h"
#include "sparse_cholesky.h"
#include "load/symbolic.h"
#include <cmocka.h>
#include <lapacke.h>
#include <stdlib.h>
#include <string.h>

static const struct gbm_team alone = {0, 1};

struct problem {
    int d;
    double *A; /* [d][d] symmetric positive definite */
    int64_t *start;
    int *neighbour;
    enum rt_lanes lanes;
    struct rt_symbolic symbolic;
    struct gbm_sparse sparse;
    double *V;
};

static void couple(struct problem *p, int i, int j, double value)
{
    p->A[i * p->d + j] += value;
    if (i != j)
        p->A[j * p->d + i] += value;
}

static void build(struct problem *p)
{
    int d = p->d;
    int64_t n = 0;
    for (int i = 0; i < d; i++) /* diagonally dominant */
        for (int j = 0; j < d; j++)
            if (i != j)
                p->A[i * d + i] += 1.1 * fabs(p->A[i * d + j]);
    p->start = calloc((size_t)d + 1, sizeof *p->start);
    p->neighbour = malloc((size_t)(d * d + 1) * sizeof *p->neighbour);
    for (int i = 0; i < d; i++) {
        p->start[i] = n;
        for (int j = 0; j < d; j++)
            if (i != j && p->A[i * d + j] != 0)
                p->neighbour[n++] = j;
    }
    p->start[d] = n;
    struct rt_symbolic *s = &p->symbolic;
    assert_true(rt_symbolic_create(s, d, p->start, p->neighbour, p->lanes));
    p->sparse = (struct gbm_sparse){.d = d,
                                    .sparse = s->sparse,
                                    .leaves = s->leaves,
                                    .levels = s->levels,
                                    .trees_size = (int)s->trees.n,
                                    .trees = s->trees.items,
                                    .dense = s->dense,
                                    .start = s->start.items,
                                    .row = s->row.items,
                                    .place = s->place.items,
                                    .level_cell = s->level_cell.items,
                                    .level_column = s->level_column.items,
                                    .column = s->column.items,
                                    .cell = s->cell.items,
                                    .product = s->product.items,
                                    .left = s->left.items,
                                    .right = s->right.items,
                                    .row_start = s->row_start.items,
                                    .row_cell = s->row_cell.items,
                                    .row_column = s->row_column.items};
    p->V = calloc((size_t)s->cells + 1, sizeof *p->V);
}

static void fill(struct problem *p)
{
    memset(p->V, 0, (size_t)p->symbolic.cells * sizeof *p->V);
    for (int i = 0; i < p->d; i++)
        for (int j = 0; j <= i; j++) {
            double a = p->A[i * p->d + j];
            int cell = rt_symbolic_cell(&p->symbolic, p->symbolic.at[i],
                                        p->symbolic.at[j]);
            assert_true(a == 0 || cell >= 0);
            if (a != 0)
                p->V[cell] = a;
        }
}

static void destroy(struct problem *p)
{
    rt_symbolic_free(&p->symbolic);
    free(p->A);
    free(p->start);
    free(p->neighbour);
    free(p->V);
}

static struct problem create(int d)
{
    struct problem p = {.d = d};
    p.A = calloc((size_t)d * (size_t)d, sizeof *p.A);
    for (int i = 0; i < d; i++)
        p.A[i * d + i] = 0.5 + 0.01 * i;
    return p;
}

/* Solves and the half solve, both ways, against LAPACK. */
static void compare(struct problem *p)
{
    int d = p->d;
    size_t n = (size_t)d;
    double *L = malloc(n * n * sizeof *L), *b = malloc(n * sizeof *b);
    double *x = malloc(n * sizeof *x), *half = malloc(2 * n * sizeof *half);
    for (int i = 0; i < d; i++)
        b[i] = sin(1.0 + 3 * i);
    memcpy(L, p->A, n * n * sizeof *L);
    memcpy(x, b, n * sizeof *x);
    assert_int_equal(LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', d, 1, L, d, x, 1), 0);
    double *mine = half + n;
    for (int way = 0; way < 2; way++) {
        fill(p);
        double before = 0;
        for (int i = 0; i < d; i++)
            mine[p->symbolic.at[i]] = x[i];
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++)
                before -= 0.5 * x[i] * p->A[i * d + j] * x[j];
        gbm_total size;
        assert_true(fabs(gbm_sparse_quadratic(&p->sparse, p->V, mine, &size) -
                         before) < 1e-11 * fabs(before));
        for (int i = 0; i < d; i++)
            mine[p->symbolic.at[i]] = b[i];
        int m = p->sparse.sparse;
        if (way == 0) {
            assert_true(gbm_sparse_factor(&p->sparse, &alone, p->V));
            gbm_sparse_forward(&p->sparse, &alone, p->V, mine);
            memcpy(half, mine, n * sizeof *half);
            gbm_sparse_backward(&p->sparse, &alone, p->V, mine);
        } else { /* what a team of several lanes does */
            gbm_sparse_factor_levels(&p->sparse, &alone, p->V);
            gbm_dense_factor(d - m, p->V + p->sparse.dense, &alone);
            gbm_sparse_forward_levels(&p->sparse, &alone, p->V, mine);
            gbm_dense_forward(d - m, p->V + p->sparse.dense, &alone, mine + m);
            for (int i = 0; i < d; i++)
                assert_true(fabs(mine[i] - half[i]) < 1e-11);
            gbm_dense_backward(d - m, p->V + p->sparse.dense, &alone, mine + m);
            gbm_sparse_backward_levels(&p->sparse, &alone, p->V, mine);
        }
        for (int i = 0; i < d; i++)
            assert_true(fabs(mine[p->symbolic.at[i]] - x[i]) <
                        1e-11 * (1 + fabs(x[i])));
    }
    free(L);
    free(b);
    free(x);
    free(half);
}

static void chain(void **state)
{
    (void)state;
    for (int d = 1; d <= 200; d = 2 * d + 1) {
        struct problem p = create(d);
        for (int i = 1; i < d; i++)
            couple(&p, i, i - 1, -0.7 - 0.1 * (i % 3));
        build(&p);
        compare(&p);
        assert_true(p.symbolic.row.n <= 2 * d); /* no fill */
        destroy(&p);
    }
}

/* Vectors along a chain, for one lane and for a team: the team's tree is as
 * high as the logarithm of the length, with at most twice the cells. */
static void chain_of_vectors(void **state)
{
    (void)state;
    enum { LENGTH = 200, HEIGHT = 8 };
    for (int each = 1; each <= 3; each++) {
        int64_t cells = 0;
        for (int teams = 0; teams < 2; teams++) {
            struct problem p = create(LENGTH * each);
            p.lanes = teams ? RT_LANES_SHARE : RT_LANES_NONE;
            for (int i = 0; i < p.d; i++)
                for (int j = i / each * each - each; j < i; j++)
                    if (j >= 0)
                        couple(&p, i, j, -0.2 - 0.1 * ((i + j) % 3));
            build(&p);
            compare(&p);
            if (!teams)
                cells = p.symbolic.row.n;
            else
                assert_true(p.symbolic.row.n < 2 * cells);
            assert_true(!teams == (p.symbolic.levels > HEIGHT * each));
            destroy(&p);
        }
    }
}

/* Random intercepts and slopes with fixed effects: an arrow without fill. */
static void arrow(void **state)
{
    (void)state;
    struct problem p = create(123);
    for (int i = 0; i < 120; i++) {
        for (int k = 0; k < 3; k++)
            couple(&p, i, 120 + k, 0.1 * (i % 7) - 0.3 * k + 0.05);
        if (i % 2)
            couple(&p, i, i - 1, 0.4);
    }
    build(&p);
    compare(&p);
    assert_true(p.symbolic.sparse >= 100);
    assert_true(p.symbolic.levels <= 3);
    destroy(&p);
}

/* Effects of pupils in schools under what all share: two classes of trees, of
 * which one has rows behind it of its own, and the schools'. */
static void trees(void **state)
{
    (void)state;
    enum { SCHOOLS = 12, PUPILS = 9, OTHERS = 20 };
    const int schools = 2 * SCHOOLS * PUPILS, others = schools + 2 * SCHOOLS;
    const int top = others + 3 * OTHERS;
    struct problem p = create(top + 3);
    for (int i = 0; i < SCHOOLS * PUPILS; i++) {
        couple(&p, 2 * i, 2 * i + 1, 0.4 + 0.01 * i);
        for (int k = 0; k < 2; k++) {
            couple(&p, 2 * i + k, schools + 2 * (i / PUPILS) + k, -0.3);
            couple(&p, 2 * i + k, top + k, 0.1 * (i % 5) + 0.03);
        }
    }
    for (int i = 0; i < 2 * SCHOOLS; i++)
        couple(&p, schools + i, top + i % 2, 0.2);
    for (int i = 0; i < 3 * OTHERS; i++) {
        couple(&p, others + i, top + 2, 0.02 * i - 0.31);
        if (i % 3)
            couple(&p, others + i, others + i - 1, 0.5);
    }
    couple(&p, top, top + 1, 0.3);
    build(&p);
    compare(&p);
    assert_true(p.symbolic.leaves > 2 * SCHOOLS * PUPILS);
    int classes = 0;
    for (int64_t i = 0; i < p.symbolic.trees.n; classes++)
        i += p.symbolic.trees.items[i + GBM_TREES_SIZE];
    assert_true(classes >= 2);
    destroy(&p);
}

static void lattice(void **state)
{
    (void)state;
    struct problem p = create(15 * 15);
    for (int i = 0; i < 15; i++)
        for (int j = 0; j < 15; j++) {
            if (i)
                couple(&p, i * 15 + j, i * 15 + j - 15, -0.4);
            if (j)
                couple(&p, i * 15 + j, i * 15 + j - 1, 0.3);
        }
    build(&p);
    compare(&p);
    /* by rows the band has 225 * 15 cells; a good order has about half */
    int t = p.symbolic.d - p.symbolic.sparse;
    int64_t cells = p.symbolic.row.n + t * (t + 1) / 2;
    assert_true(cells < 225 * 15 * 2 / 3);
    destroy(&p);
}

static void dense(void **state)
{
    (void)state;
    struct problem p = create(37);
    for (int i = 0; i < 37; i++)
        for (int j = 0; j < i; j++)
            couple(&p, i, j, cos(i + 2.0 * j));
    build(&p);
    compare(&p);
    destroy(&p);
}

static void random_graphs(void **state)
{
    (void)state;
    struct gbm_rng rng;
    for (uint32_t k = 0; k < 60; k++) {
        gbm_rng_start(&rng, 7, 0, 0, 0, k);
        int d = 1 + (int)(gbm_uniform(&rng) * 90);
        int edges = (int)(gbm_uniform(&rng) * 3 * d);
        struct problem p = create(d);
        for (int e = 0; e < edges; e++)
            couple(&p, (int)(gbm_uniform(&rng) * d),
                   (int)(gbm_uniform(&rng) * d), gbm_uniform(&rng) - 0.4);
        for (int i = 0; i < d; i++) /* a pair may have met itself */
            p.A[i * d + i] = fabs(p.A[i * d + i]) + 0.1;
        build(&p);
        compare(&p);
        destroy(&p);
    }
}

/* A pivot that is not positive is found, wherever it comes up. */
static void indefinite(void **state)
{
    (void)state;
    for (int bad = 0; bad < 30; bad += 7) {
        struct problem p = create(30);
        for (int i = 1; i < 30; i++)
            couple(&p, i, i - 1, -1);
        build(&p);
        p.A[bad * 30 + bad] = 0.01;
        fill(&p);
        assert_false(gbm_sparse_factor(&p.sparse, &alone, p.V));
        p.A[bad * 30 + bad] = (double)NAN;
        fill(&p);
        p.V[rt_symbolic_cell(&p.symbolic, p.symbolic.at[bad],
                             p.symbolic.at[bad])] = (double)NAN;
        assert_false(gbm_sparse_factor(&p.sparse, &alone, p.V));
        destroy(&p);
    }
}

/* Draws have the mean and covariance that they should. */
static void draws(void **state)
{
    (void)state;
    enum { D = 12, N = 40000 };
    struct problem p = create(D);
    for (int i = 1; i < D; i++)
        couple(&p, i, i - 1, -0.6);
    couple(&p, 0, D - 1, 0.5);
    build(&p);
    double Q[D * D], b[D], mean[D], sum[D] = {0}, cross[D * D] = {0};
    memcpy(Q, p.A, sizeof Q);
    for (int i = 0; i < D; i++)
        mean[i] = b[i] = 1 - 0.3 * i;
    assert_int_equal(LAPACKE_dposv(LAPACK_ROW_MAJOR, 'L', D, 1, Q, D, mean, 1),
                     0);
    assert_int_equal(LAPACKE_dpotri(LAPACK_ROW_MAJOR, 'L', D, Q, D), 0);
    for (uint32_t k = 0; k < N; k++) {
        struct gbm_rng rng;
        double x[D];
        gbm_rng_start(&rng, 11, 0, k, 0, 0);
        fill(&p);
        for (int i = 0; i < D; i++)
            x[p.symbolic.at[i]] = b[i];
        assert_true(gbm_sparse_draw(&p.sparse, &rng, &alone, p.V, x, NULL));
        for (int i = 0; i < D; i++) {
            double y = x[p.symbolic.at[i]] - mean[i];
            sum[i] += y;
            for (int j = 0; j <= i; j++)
                cross[i * D + j] += y * (x[p.symbolic.at[j]] - mean[j]);
        }
    }
    for (int i = 0; i < D; i++) {
        double sd = sqrt(Q[i * D + i]);
        assert_true(fabs(sum[i]) < 5 * sd * sqrt(N));
        for (int j = 0; j <= i; j++) {
            double scale = sd * sqrt(Q[j * D + j]);
            assert_true(fabs(cross[i * D + j] / N - Q[i * D + j]) <
                        7.5 * scale / sqrt(N));
        }
    }
    destroy(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain),         cmocka_unit_test(chain_of_vectors),
        cmocka_unit_test(arrow),         cmocka_unit_test(trees),
        cmocka_unit_test(lattice),       cmocka_unit_test(dense),
        cmocka_unit_test(random_graphs), cmocka_unit_test(indefinite),
        cmocka_unit_test(draws)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
