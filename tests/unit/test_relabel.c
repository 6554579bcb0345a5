/* test_relabel.c: the assignment problem and partitions against brute force;
 * components that were permuted at random are put back. */
#include "summary/relabel.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 7 };

static uint64_t state = 1;

/* Of 0 ... n - 1. */
static int choose(int n)
{
    state =
        state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int)((state >> 33) % (uint64_t)n);
}

static void shuffle(int n, int *x)
{
    for (int i = 0; i < n; i++)
        x[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = choose(i + 1), keep = x[i];

        x[i] = x[j];
        x[j] = keep;
    }
}

/* The next permutation in lexical order; false after the last. */
static bool step(int n, int *x)
{
    int i = n - 2, j = n - 1;

    while (i >= 0 && x[i] > x[i + 1])
        i--;
    if (i < 0)
        return false;
    while (x[j] < x[i])
        j--;
    int keep = x[i];
    x[i] = x[j];
    x[j] = keep;
    for (int a = i + 1, b = n - 1; a < b; a++, b--) {
        keep = x[a];
        x[a] = x[b];
        x[b] = keep;
    }
    return true;
}

static double sum_of(int n, const double *cost, const int *column)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += cost[i * n + column[i]];
    return sum;
}

static void assignment(void **unused)
{
    (void)unused;
    for (int trial = 0; trial < 700; trial++) {
        int n = 1 + trial % MOST, column[MOST],
            all[MOST] = {0, 1, 2, 3, 4, 5, 6};
        bool seen[MOST] = {false};
        double cost[MOST * MOST], least = INFINITY;

        /* also with ties, and of very different sizes */
        for (int i = 0; i < n * n; i++)
            cost[i] = trial % 3 == 0   ? choose(3)
                      : trial % 3 == 1 ? (choose(2001) - 1000) / 7.
                                       : pow(10, choose(9) - 4) * choose(100);
        do
            least = fmin(least, sum_of(n, cost, all));
        while (step(n, all));
        assert_int_equal(gbm_assign(n, cost, column), GBM_OK);
        for (int i = 0; i < n; i++) {
            assert_in_range(column[i], 0, n - 1);
            assert_false(seen[column[i]]);
            seen[column[i]] = true;
        }
        assert_true(fabs(sum_of(n, cost, column) - least) <=
                    1e-12 * (fabs(least) + 1e6));
    }
}

/* ---- a mixture whose components change their numbers from draw to draw ----
 */

enum { K = 3, ROWS = 12, CHAINS = 2, DRAWS = 40 };

/* Of draws z[12], m[3,2], b[2,3], P[3,3], s: cells in this order. */
enum { Z = 0, M = ROWS, B = M + 6, P = B + 6, S = P + 9, WIDTH = S + 1 };

static double truth(int cell)
{
    return cell < M   ? 1 + cell % K
           : cell < B ? 10 * ((cell - M) / 2) + (cell - M) % 2
           : cell < P ? 5 * ((cell - B) % 3) + (cell - B) / 3
                      : 7 * ((cell - P) / 3) + (cell - P) % 3;
}

/* What a draw has in a cell if its component k is called label[k]. */
static int home(int cell, const int *label)
{
    if (cell < M || cell == S)
        return cell;
    if (cell < B)
        return M + 2 * label[(cell - M) / 2] + (cell - M) % 2;
    if (cell < P)
        return B + 3 * ((cell - B) / 3) + label[(cell - B) % 3];
    return P + 3 * label[(cell - P) / 3] + label[(cell - P) % 3];
}

/* Every fifth draw one row is in another component. */
static void make_mixture(struct gbm_draws *d)
{
    static const int rows[] = {ROWS}, m[] = {K, 2}, b[] = {2, K}, p[] = {K, K};

    gbm_draws_init(d);
    gbm_draws_add_variable(d, "z", 1, rows, true);
    gbm_draws_add_variable(d, "m", 2, m, false);
    gbm_draws_add_variable(d, "b", 2, b, false);
    gbm_draws_add_variable(d, "P", 2, p, false);
    gbm_draws_add_variable(d, "s", 0, NULL, false);
    assert_int_equal(gbm_draws_allocate(d, CHAINS, DRAWS), GBM_OK);
    d->kept = DRAWS;
    for (int n = 0; n < CHAINS * DRAWS; n++) {
        double *x = gbm_draws_record(d, n / DRAWS, n % DRAWS);
        int label[K];

        shuffle(K, label);
        for (int i = 0; i < WIDTH; i++) {
            double noise = i < M ? 0 : choose(100) / 1000.;
            x[home(i, label)] = truth(i) + noise;
        }
        if (n % 5 == 4)
            x[choose(ROWS)] = 1 + choose(K);
        for (int i = 0; i < M; i++)
            x[i] = 1 + label[(int)x[i] - 1];
    }
}

/* All draws agree with the truth, its components numbered as `label` says. */
static void check_mixture(const struct gbm_draws *d, const int *label)
{
    int strays = 0;

    for (int n = 0; n < CHAINS * DRAWS; n++) {
        const double *x = gbm_draws_record(d, n / DRAWS, n % DRAWS);

        for (int i = 0; i < M; i++)
            strays += x[i] != 1 + label[(int)truth(i) - 1];
        for (int i = M; i < WIDTH; i++)
            assert_true(fabs(x[home(i, label)] - truth(i) - 0.05) < 0.0501);
    }
    assert_in_range(strays, 1, CHAINS * DRAWS / 5);
}

static void first_labels(const struct gbm_draws *d, int *label)
{
    for (int k = 0; k < K; k++)
        label[k] = -1;
    for (int k = 0; k < K; k++) /* of the first draw, which has no stray */
        label[k] = (int)gbm_draws_record(d, 0, 0)[k] - 1;
}

static void relabelling(void **unused)
{
    static const char *const lists[] = {"z,m,b,P[k,k]", "z, m[k,] b[,k] P[k,k]",
                                        "m,b,P[k,k],z"};
    struct gbm_relabelling done;
    char error[GBM_ERROR];

    (void)unused;
    for (int i = 0; i < 3; i++) {
        struct gbm_draws d;
        int label[K];

        make_mixture(&d);
        first_labels(&d, label);
        assert_int_equal(gbm_relabel(&d, lists[i], NULL, &done, error), GBM_OK);
        assert_int_equal(done.components, K);
        assert_in_range(done.moved, CHAINS * DRAWS / 2, CHAINS * DRAWS - 1);
        check_mixture(&d, label);
        /* what is relabelled stays */
        assert_int_equal(gbm_relabel(&d, lists[i], NULL, &done, error), GBM_OK);
        assert_int_equal(done.moved, 0);
        gbm_draws_free(&d);
    }
}

static void by_parameters(void **unused)
{
    struct gbm_relabelling done;
    struct gbm_draws d;
    char error[GBM_ERROR];
    int label[K];

    (void)unused;
    make_mixture(&d);
    first_labels(&d, label);
    d.variables[0].integer = false;
    assert_int_equal(gbm_relabel(&d, "m,b,P[k,k]", NULL, &done, error), GBM_OK);
    for (int n = 0; n < CHAINS * DRAWS; n++)
        for (int i = M; i < WIDTH; i++)
            assert_true(fabs(gbm_draws_record(&d, n / DRAWS,
                                              n % DRAWS)[home(i, label)] -
                             truth(i) - 0.05) < 0.0501);
    gbm_draws_free(&d);
}

static void given_reference(void **unused)
{
    static const int label[K] = {1, 2, 0};
    double z[ROWS];
    struct gbm_array array = {.name = (char *)(uintptr_t) "z",
                              .ndim = 1,
                              .dim = {ROWS},
                              .length = ROWS,
                              .values = z};
    struct gbm_data data = {.arrays = &array, .narrays = 1};
    struct gbm_relabelling done;
    struct gbm_draws d;
    char error[GBM_ERROR];

    (void)unused;
    for (int i = 0; i < ROWS; i++)
        z[i] = 1 + label[(int)truth(i) - 1];
    make_mixture(&d);
    assert_int_equal(gbm_relabel(&d, "z,m,b,P[k,k]", &data, &done, error),
                     GBM_OK);
    assert_int_equal(done.passes, 1);
    check_mixture(&d, label);
    z[3] = K + 1;
    assert_int_equal(gbm_relabel(&d, "z,m,b,P[k,k]", &data, &done, error),
                     GBM_USER_ERROR);
    array.length = ROWS - 1;
    assert_int_equal(gbm_relabel(&d, "z,m,b,P[k,k]", &data, &done, error),
                     GBM_USER_ERROR);
    gbm_draws_free(&d);
}

static void refused(void **unused)
{
    static const char *const lists[] = {"",        "nobody",  "z,s", "z,m[k",
                                        "z,m[k]",  "z,b[k,]", "s",   "P[k,k]",
                                        "z,m[,k]", "z,m,z"};
    struct gbm_relabelling done;
    struct gbm_draws d;
    char error[GBM_ERROR];

    (void)unused;
    make_mixture(&d);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (gbm_relabel(&d, lists[i], NULL, &done, error) != GBM_USER_ERROR)
            fail_msg("'%s' is taken", lists[i]);
    d.values[5] = 4;
    assert_int_equal(gbm_relabel(&d, "z,m", NULL, &done, error),
                     GBM_USER_ERROR);
    d.values[5] = 1;
    d.values[M] = NAN;
    assert_int_equal(gbm_relabel(&d, "m", NULL, &done, error), GBM_USER_ERROR);
    gbm_draws_free(&d);
}

/* ---- partitions ---- */

/* Of the first half of the rows so many of ten are in cluster 1. */
static void compare_partitions(int often)
{
    struct gbm_clusters c;
    struct gbm_draws d;
    char error[GBM_ERROR];
    double least = INFINITY, shown = NAN, occupied = 0;
    const int n = CHAINS * DRAWS;

    make_mixture(&d);
    /* pairs that are together more often than not, or less */
    for (int m = 0; m < n; m++)
        for (int i = 0; i < ROWS; i++)
            gbm_draws_record(&d, m / DRAWS, m % DRAWS)[i] =
                i < ROWS / 2 && choose(10) < often ? 1 : 1 + choose(K);
    assert_int_equal(gbm_find_clusters(&c, &d, "z", error), GBM_OK);
    assert_int_equal(c.rows, ROWS);
    for (int m = 0; m < n; m++) {
        const double *z = gbm_draws_record(&d, m / DRAWS, m % DRAWS);
        bool seen[K] = {false};
        double loss = 0;

        for (int i = 0; i < ROWS; i++)
            seen[(int)z[i] - 1] = true;
        occupied += (seen[0] + seen[1] + seen[2]) / (double)n;
        for (int i = 0; i < ROWS; i++)
            for (int j = 0; j < i; j++) {
                double p = 0;

                for (int k = 0; k < n; k++) {
                    const double *y =
                        gbm_draws_record(&d, k / DRAWS, k % DRAWS);
                    p += (y[i] == y[j]) / (double)n;
                }
                assert_true(fabs(c.together[i * ROWS + j] - (p)) < 1e-12);
                assert_true(fabs(c.together[j * ROWS + i] - (p)) < 1e-12);
                loss += ((z[i] == z[j]) - p) * ((z[i] == z[j]) - p);
            }
        least = fmin(least, loss);
        if (c.chain == m / DRAWS && c.draw == m % DRAWS) {
            shown = loss;
            for (int i = 0; i < ROWS; i++)
                for (int j = 0; j < ROWS; j++)
                    assert_int_equal(c.partition[i] == c.partition[j],
                                     z[i] == z[j]);
        }
    }
    assert_true(fabs(shown - (least)) < 1e-9);
    assert_true(fabs(c.occupied - (occupied)) < 1e-12);
    assert_true(fabs(c.size[0] + c.size[1] + c.size[2] - (ROWS)) < 1e-9);
    gbm_clusters_free(&c);
    assert_int_equal(gbm_find_clusters(&c, &d, "m", error), GBM_USER_ERROR);
    assert_int_equal(gbm_find_clusters(&c, &d, "y", error), GBM_USER_ERROR);
    gbm_draws_free(&d);
}

static void partitions(void **unused)
{
    (void)unused;
    for (int trial = 0; trial < 20; trial++)
        compare_partitions(trial % 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assignment),    cmocka_unit_test(relabelling),
        cmocka_unit_test(by_parameters), cmocka_unit_test(given_reference),
        cmocka_unit_test(refused),       cmocka_unit_test(partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
