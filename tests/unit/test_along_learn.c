/* test_along_learn.c: which lines chains learn to move along, from numbers that
 * are sums of waves, so that all correlations are known. */
#include "host/along.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CHAINS = 2, ROWS = 240, TIED = 4, N = TIED + 1 };

static double wave(int cycles, int t)
{
    return sin(2 * 3.141592653589793 * cycles * t / ROWS);
}

/* Four numbers with correlation 1/2, of deviations 1, 2, 3 and 4, whose waves
 * have `from` cycles and more; a fifth that is fast, with nothing in common. */
static struct along_history states(double *x, int from)
{
    for (int c = 0; c < CHAINS; c++)
        for (int t = 0; t < ROWS; t++) {
            double *row = x + (c * ROWS + t) * N;
            for (int j = 0; j < TIED; j++)
                row[j] = 10 + (j + 1) * (wave(from, t) + wave(from + 1 + j, t));
            row[TIED] = wave(ROWS / 4, t);
        }
    return (struct along_history){.x = x,
                                  .chains = CHAINS,
                                  .rows = ROWS,
                                  .n = N,
                                  .moving = N,
                                  .stride = 1};
}

static struct along_lines lines;
static double x[CHAINS * ROWS * N];

static void learn(int from, double cost, bool last)
{
    const struct along_history h = states(x, from);
    assert_true(along_learn(&lines, &h, cost, last));
}

/* The slow sum is that of all four alike: each goes along by its correlation
 * with it, sqrt(5 / 8), and its deviation. */
static void finds_the_sum(void **unused)
{
    (void)unused;
    memset(&lines, 0, sizeof lines);
    learn(1, 0, false);
    assert_int_equal(lines.n, 1);
    for (int j = 0; j < TIED; j++)
        assert_true(fabs(fabs(lines.line[0][j]) - (j + 1) * sqrt(5. / 8)) <
                    1e-6);
    for (int j = 1; j < TIED; j++)
        assert_true(lines.line[0][j] * lines.line[0][0] > 0);
    assert_true(fabs(lines.line[0][TIED]) < 1e-6);
}

/* A line is not tried where a sweep with it would be longer than what the
 * slowest number takes. */
static void asks_what_it_costs(void **unused)
{
    (void)unused;
    memset(&lines, 0, sizeof lines);
    learn(1, 2 * ROWS, false);
    assert_int_equal(lines.n, 0);
    learn(1, 1, false);
    assert_int_equal(lines.n, 1);
}

/* A line that is yet to be tried. */
static void begin(int from)
{
    memset(&lines, 0, sizeof lines);
    learn(from, 0.1, false);
    assert_int_equal(lines.n, 1);
}

static void keeps_what_pays(void **unused)
{
    (void)unused;
    begin(1);
    learn(50, 0.1, true); /* as fast as can be */
    assert_int_equal(lines.n, 1);
}

static void leaves_out_what_does_not(void **unused)
{
    (void)unused;
    begin(12);
    learn(12, 0.1, true); /* as slow as before */
    assert_int_equal(lines.n, 0);
    begin(12);
    learn(24, 0, true); /* twice as fast */
    assert_int_equal(lines.n, 1);
    learn(24, 1.5, true); /* but sweeps take longer by more */
    assert_int_equal(lines.n, 0);
}

/* What takes as long as all rows does so of fewer, too, of which less is seen:
 * warm-up judges by two thirds of the rows that it learns from. */
static void is_no_faster_by_fewer_rows(void **unused)
{
    (void)unused;
    begin(1);
    struct along_history h = states(x, 1);
    h.rows = 2 * ROWS / 3;
    for (int i = 0; i < h.rows * N; i++)
        x[h.rows * N + i] = x[ROWS * N + i];
    assert_true(along_learn(&lines, &h, 0.1, true));
    assert_int_equal(lines.n, 0);
}

/* What takes as long as all rows may be slower than any that is seen: with a
 * line that it is seen to forget with, it is 50 rows to 6, and counts as 100.
 */
static void gains_more_than_is_seen(void **unused)
{
    (void)unused;
    begin(1);
    learn(12, 9, true);
    assert_int_equal(lines.n, 1);
    begin(1);
    learn(12, 18, true); /* not for any cost */
    assert_int_equal(lines.n, 0);
}

/* Of what takes as long as all rows a sixth is seen, about their own mean. */
static void knows_what_it_does_not_see(void **unused)
{
    (void)unused;
    begin(1);
    for (int j = 0; j < TIED; j++)
        assert_true(lines.before[j] > ROWS / 5.);
    begin(12); /* periods of 20, which take 20 / pi */
    for (int j = 0; j < TIED; j++)
        assert_true(lines.before[j] > 6 && lines.before[j] < 9);
}

/* The fifth number, slower than all, does not move along lines. */
static void learn_beside(int from, double cost, bool last)
{
    struct along_history h = states(x, from);
    h.moving = TIED;
    for (int row = 0; row < CHAINS * ROWS; row++)
        x[row * N + TIED] = wave(1, row % ROWS);
    assert_true(along_learn(&lines, &h, cost, last));
}

static void waits_for_what_stays(void **unused)
{
    (void)unused;
    memset(&lines, 0, sizeof lines);
    learn_beside(1, 0.6, false);
    assert_int_equal(lines.n, 1);
    assert_int_equal(lines.nchosen, TIED);
    assert_int_equal(lines.njudged, N);
    assert_true(lines.line[0][TIED] == 0);
    learn_beside(2, 0.6, true); /* those that move are twice as fast */
    assert_int_equal(lines.n, 0);
}

static void moves_beside_what_stays(void **unused)
{
    (void)unused;
    memset(&lines, 0, sizeof lines);
    learn_beside(1, 0.6, false);
    learn_beside(50, 0.6, true); /* as fast as can be */
    assert_int_equal(lines.n, 1);
}

/* One number is slow, and another, which is fast beside, follows it with
 * correlation 0.6 / sqrt(1.36). */
static void takes_one_with_what_follows(void **unused)
{
    (void)unused;
    memset(&lines, 0, sizeof lines);
    struct along_history h = states(x, 50);
    for (int row = 0; row < CHAINS * ROWS; row++) {
        const double slow = sqrt(2) * wave(1, row % ROWS);
        x[row * N] = slow;
        x[row * N + 1] = 0.6 * slow + sqrt(2) * wave(ROWS / 4, row % ROWS);
    }
    assert_true(along_learn(&lines, &h, 0, false));
    assert_int_equal(lines.nchosen, 1);
    assert_int_equal(lines.n, 1);
    assert_true(fabs(fabs(lines.line[0][0]) - 1) < 1e-6);
    assert_true(fabs(lines.line[0][1] / lines.line[0][0] - 0.6) < 1e-6);
    assert_true(fabs(lines.line[0][2]) < 1e-6);
}

static void takes_none_untried(void **unused)
{
    (void)unused;
    memset(&lines, 0, sizeof lines);
    learn(1, 0, true);
    assert_int_equal(lines.n, 0);
}

/* Chains that are apart are no reason for lines, and no row has a neighbour in
 * another chain. */
static void sees_each_chain(void **unused)
{
    (void)unused;
    memset(&lines, 0, sizeof lines);
    struct along_history h = states(x, 50);
    for (int t = 0; t < ROWS; t++)
        for (int j = 0; j < TIED; j++)
            x[t * N + j] += 20 * (j + 1);
    assert_true(along_learn(&lines, &h, 0, false));
    assert_int_equal(lines.nchosen, 0);
}

/* What one chain comes back from at first is not what lines make faster: the
 * numbers are as fast as with the line. */
static void forgets_where_chains_came_from(void **unused)
{
    (void)unused;
    memset(&lines, 0, sizeof lines);
    struct along_history h = states(x, 50);
    for (int t = 0; t < ROWS; t++)
        for (int j = 0; j < TIED; j++)
            x[t * N + j] += 20 * (j + 1) * exp(-t / 20.);
    assert_true(along_learn(&lines, &h, 0, false));
    assert_int_equal(lines.nchosen, TIED);
    for (int j = 0; j < TIED; j++)
        assert_true(lines.before[j] < 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_sum),
        cmocka_unit_test(asks_what_it_costs),
        cmocka_unit_test(keeps_what_pays),
        cmocka_unit_test(leaves_out_what_does_not),
        cmocka_unit_test(is_no_faster_by_fewer_rows),
        cmocka_unit_test(gains_more_than_is_seen),
        cmocka_unit_test(knows_what_it_does_not_see),
        cmocka_unit_test(waits_for_what_stays),
        cmocka_unit_test(moves_beside_what_stays),
        cmocka_unit_test(takes_one_with_what_follows),
        cmocka_unit_test(takes_none_untried),
        cmocka_unit_test(sees_each_chain),
        cmocka_unit_test(forgets_where_chains_came_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
