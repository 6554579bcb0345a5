/* PSIS, LOO, WAIC and their differences against values recorded from ArviZ
 * (criteria_values.py) on draws that both sides can make; DIC by hand. */
#include "summary/criteria.h"
#include "summary/psis.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "criteria_values.h"

enum { CHAINS = 4, DRAWS = 250, OBSERVATIONS = 7 };

static uint64_t state;

static double uniform(void)
{
    state = (state * 1103515245 + 12345) % (UINT64_C(1) << 31);
    return ((double)(state % 10007) + 0.5) / 10007;
}

static void near(double found, double expected)
{
    if (!(fabs(found - expected) <= 1e-9 * (1 + fabs(expected))))
        fail_msg("%.17g, not %.17g", found, expected);
}

static void make_draws(struct gbm_draws *d)
{
    static const double y[OBSERVATIONS] = {0.3, -1.1, 2.9, 0, 1.4, 5.2, -0.2};
    static const int extent[] = {OBSERVATIONS};

    state = 12345;
    gbm_draws_init(d);
    assert_int_equal(gbm_draws_add_variable(d, "mu", 0, NULL, false), 0);
    d->group = GBM_LOG_LIKELIHOOD;
    assert_int_equal(gbm_draws_add_variable(d, "y", 1, extent, false), 0);
    assert_int_equal(gbm_draws_allocate(d, CHAINS, DRAWS), 0);
    d->kept = DRAWS;
    for (int c = 0; c < CHAINS; c++) {
        double x = 0;

        for (int i = 0; i < DRAWS; i++) {
            double *record = gbm_draws_record(d, c, i);

            x = 0.5 * x + uniform() + uniform() + uniform() - 1.5;
            record[0] = x;
            for (int k = 0; k < OBSERVATIONS; k++)
                record[1 + k] = -0.3 * (y[k] - x) * (y[k] - x) - 0.25;
        }
    }
}

static void find(struct gbm_criteria *c, struct gbm_summary *s,
                 const struct gbm_draws *d)
{
    char error[GBM_ERROR];

    assert_int_equal(gbm_summarise(s, d, error), GBM_OK);
    assert_int_equal(gbm_criteria_find(c, s, error), GBM_OK);
}

static int ascending(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static void pareto_fit(void **unused)
{
    struct gbm_draws d;
    double tail[60], shape, scale;

    (void)unused;
    make_draws(&d); /* where the generator goes on */
    gbm_draws_free(&d);
    for (int i = 0; i < 60; i++)
        tail[i] = exp(3 * uniform()) - 1;
    qsort(tail, 60, sizeof *tail, ascending);
    gbm_pareto_fit(tail, 60, &shape, &scale);
    near(shape, arviz_fit[0]);
    near(scale, arviz_fit[1]);
}

/* ArviZ 0.x divides sums of squares by n where loo, and ArviZ 1, have n - 1:
 * how much larger a standard deviation of n numbers is. */
static double more(int n) { return sqrt(n / (n - 1.0)); }

static double se_of_waic(const struct gbm_criteria *c)
{
    double mean = c->elpd_waic.value / OBSERVATIONS, squares = 0;
    for (int i = 0; i < OBSERVATIONS; i++) {
        double d = c->points[i].lppd - c->points[i].p_waic - mean;
        squares += d * d;
    }
    return sqrt(OBSERVATIONS * squares / (OBSERVATIONS - 1));
}

static void loo_and_waic(void **unused)
{
    struct gbm_draws d;
    struct gbm_summary s;
    struct gbm_criteria c;
    char name[32];

    (void)unused;
    make_draws(&d);
    near(gbm_draws_record(&d, 0, 0)[0], arviz_mu[0]);
    near(gbm_draws_record(&d, 3, 249)[0], arviz_mu[1]);
    find(&c, &s, &d);
    assert_int_equal(c.count, OBSERVATIONS);
    near(c.elpd_loo.value, arviz_loo[0]);
    near(c.elpd_loo.se, arviz_loo[1] * more(OBSERVATIONS));
    near(c.p_loo.value, arviz_loo[2]);
    near(c.p_waic.value,
         arviz_waic[2] * more(CHAINS * DRAWS) * more(CHAINS * DRAWS));
    near(c.elpd_waic.value + c.p_waic.value, arviz_waic[0] + arviz_waic[2]);
    near(c.elpd_waic.se, se_of_waic(&c));
    near(c.good_k, arviz_good_k[0]);
    for (int i = 0; i < OBSERVATIONS; i++) {
        near(c.points[i].loo, arviz_loo_i[i]);
        near(c.points[i].k, arviz_k[i]);
        near(c.points[i].lppd -
                 c.points[i].p_waic * (1 - 1.0 / (CHAINS * DRAWS)),
             arviz_waic_i[i]);
    }
    gbm_criteria_name(&c, 2, name, sizeof name);
    assert_string_equal(name, "y[3]");
    assert_true(isnan(c.mean_deviance) && isnan(c.pd) && isnan(c.pv));
    gbm_criteria_free(&c);
    gbm_summary_free(&s);
    gbm_draws_free(&d);
}

static void difference(void **unused)
{
    struct gbm_draws d;
    struct gbm_summary s;
    struct gbm_criteria a, b;
    struct gbm_estimate found;
    double x[OBSERVATIONS];

    (void)unused;
    make_draws(&d);
    find(&a, &s, &d);
    gbm_summary_free(&s);
    for (int c = 0; c < CHAINS; c++)
        for (int i = 0; i < DRAWS; i++)
            for (int k = 1; k <= OBSERVATIONS; k++)
                gbm_draws_record(&d, c, i)[k] =
                    gbm_draws_record(&d, c, i)[k] * 0.75 - 0.1;
    find(&b, &s, &d);
    for (int k = 0; k < OBSERVATIONS; k++)
        x[k] = b.points[k].loo - a.points[k].loo;
    found = gbm_estimate_sum(x, OBSERVATIONS);
    near(fabs(found.value), arviz_difference[0]);
    near(found.se, arviz_difference[1] * more(OBSERVATIONS));
    gbm_criteria_free(&a);
    gbm_criteria_free(&b);
    gbm_summary_free(&s);
    gbm_draws_free(&d);
}

/* Weights that are all equal, too few, or not numbers. */
static void corners(void **unused)
{
    double x[200], work[400];

    (void)unused;
    for (int i = 0; i < 200; i++)
        x[i] = -3;
    assert_true(isnan(gbm_psis(x, 200, 1, work)));
    near(x[7], -log(200));
    for (int i = 0; i < 20; i++)
        x[i] = i;
    assert_true(isinf(gbm_psis(x, 20, 1, work))); /* 4 in the tail */
    near(exp(gbm_log_sum_exp(x, 20)), 1);
    for (int i = 0; i < 200; i++)
        x[i] = i == 100 ? (double)NAN : i * 0.01;
    (void)gbm_psis(x, 200, 1, work);
    assert_true(isnan(gbm_log_sum_exp(x, 200)));
    assert_true(gbm_log_sum_exp((double[]){-INFINITY, -INFINITY}, 2) ==
                -(double)INFINITY);
}

static void dic(void **unused)
{
    struct gbm_draws d;
    struct gbm_summary s;
    struct gbm_criteria c;
    static const double deviance[2][4] = {{10, 12, 14, 12}, {11, 11, 15, 11}};

    (void)unused;
    gbm_draws_init(&d);
    assert_int_equal(gbm_draws_add_variable(&d, "deviance", 0, NULL, false), 0);
    assert_int_equal(gbm_draws_allocate(&d, 2, 4), 0);
    d.kept = 4;
    memcpy(d.values, deviance, sizeof deviance);
    find(&c, &s, &d);
    assert_true(isnan(c.mean_deviance)); /* a node of the model */
    gbm_criteria_free(&c);
    gbm_summary_free(&s);
    d.has_deviance = true;
    d.deviance_at_means = 9.5;
    find(&c, &s, &d);
    assert_int_equal(c.count, 0);
    near(c.mean_deviance, 12);
    near(c.pd, 2.5);
    near(c.pv, (8. / 3 + 4) / 2 / 2);
    gbm_criteria_free(&c);
    gbm_summary_free(&s);
    gbm_draws_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pareto_fit), cmocka_unit_test(loo_and_waic),
        cmocka_unit_test(difference), cmocka_unit_test(corners),
        cmocka_unit_test(dic),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
