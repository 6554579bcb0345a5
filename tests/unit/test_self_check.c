/* test_self_check.c: what the self-check keeps count of: verdicts, its share of
 * time, how many draws there is time for and what these tell. */
#include "check/self_check.h"
#include "../../runtime/base/base.h" /* not the compiler's */
#include "gbm.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- verdicts ---- */

static struct change of(double value)
{
    return (struct change){.value = value};
}

static void moves_add_up(void **unused)
{
    (void)unused;
    const struct change before = of(3), after = of(5);
    assert_int_equal(self_check_compare(of(2), before, after), ADDS_UP);
    assert_int_equal(self_check_compare(of(2 + 1e-7), before, after), ADDS_UP);
    assert_int_equal(self_check_compare(of(2 + 1e-5), before, after), DOES_NOT);
    assert_int_equal(self_check_compare(of(-2), before, after), DOES_NOT);
    /* relative to what has changed, not to where it stands */
    assert_int_equal(self_check_compare(of(2e6 + 1), of(0), of(2e6)), ADDS_UP);
    assert_int_equal(self_check_compare(of(1e-3), of(1e6), of(1e6)), DOES_NOT);
}

static void rounding_is_of_all_terms(void **unused)
{
    (void)unused;
    const struct change large = {.value = 0, .size = 1e9};
    const struct change off = {.value = 1e-3 / 2}, far = {.value = 0.1};
    assert_int_equal(self_check_compare(off, large, of(0)), ADDS_UP);
    assert_int_equal(self_check_compare(off, of(0), large), ADDS_UP);
    assert_int_equal(self_check_compare(off, of(0), of(0)), DOES_NOT);
    assert_int_equal(self_check_compare(far, large, of(0)), DOES_NOT);
}

static void what_is_no_number(void **unused)
{
    (void)unused;
    const struct change unknown = {.unknown = true};
    assert_int_equal(self_check_compare(of((double)NAN), of(0), of(0)),
                     DOES_NOT);
    assert_int_equal(self_check_compare(of((double)INFINITY), of(0), of(0)),
                     DOES_NOT);
    assert_int_equal(self_check_compare(of(1), of(0), of(-(double)INFINITY)),
                     UNKNOWN);
    assert_int_equal(
        self_check_compare(of((double)NAN), of((double)NAN), of(0)), UNKNOWN);
    assert_int_equal(self_check_compare(unknown, of(0), of(7)), UNKNOWN);
}

static void changes_add(void **unused)
{
    (void)unused;
    struct change total = {.value = 1, .size = 2};
    const struct change more = {.value = -3, .size = 4};
    const struct change unknown = {.unknown = true};
    self_check_add(&total, &more);
    assert_true(total.value == -2 && total.size == 6 && !total.unknown);
    self_check_add(&total, &unknown);
    self_check_add(&total, &more);
    assert_true(total.value == -5 && total.size == 10 && total.unknown);
}

/* ---- time ---- */

static struct rt rt = {.threads = 2, .options = {.chains = 3, .warmup = 1000}};

static void share_is_of_the_least_sweep(void **unused)
{
    (void)unused;
    struct self_check s = {.rt = &rt};
    self_check_begin(&s);
    assert_true(s.share == SELF_CHECK_SECONDS);
    s.swept = 1e-4; /* three chains on two threads take two turns */
    self_check_share(&s);
    assert_true(fabs(s.share - SELF_CHECK_SHARE * 1e-4 * 1000 * 2) < 1e-12);
    assert_true(self_check_left(&s) < s.share / 2); /* draws have the rest */
    s.swept = 5e-4;
    self_check_share(&s);
    assert_true(fabs(s.share - SELF_CHECK_SHARE * 1e-4 * 1000 * 2) < 1e-12);
    s.swept = 1e-9;
    self_check_share(&s);
    assert_true(s.share == SELF_CHECK_LEAST);
}

/* Until this thread has had so many seconds. */
static void work(double seconds)
{
    const double until = rt_thread_clock() + seconds;
    while (rt_thread_clock() < until)
        ;
}

static void others_may_have_the_core(void **unused)
{
    (void)unused;
    struct self_check s = {.rt = &rt};
    self_check_begin(&s);
    s.swept = 1e-4;
    self_check_share(&s); /* 10 ms, of which moves have 4 */
    s.began -= 0.005;     /* as if it had stood still so long */
    self_check_share(&s);
    assert_true(self_check_left(&s) < 0);
    const double now = rt_clock();
    self_check_moves_on(&s);
    assert_true(s.deadline > now + 0.003);
    work(0.006);
    s.deadline = now;
    self_check_moves_on(&s);
    assert_true(self_check_left(&s) < 0);
    const double rest = self_check_rest(&s);
    assert_true(rest > 0 && rest < 0.004);
}

static void stands_still_while_a_device_is_loaded(void **unused)
{
    (void)unused;
    struct self_check s = {.rt = &rt};
    self_check_begin(&s);
    self_check_pause(&s);
    work(0.01);
    const double now = rt_clock(), own = rt_thread_clock();
    self_check_go_on(&s);
    assert_true(s.began + s.spent >= now && s.own + s.spent >= own);
}

/* ---- draws ---- */

/* An exponential variable of mean `scale`, where its density says 1. */
struct draw {
    double x, scale;
    int drawn;
};

static struct draw *d;

static void run(const void *state, const struct gbm_sweep *sweep,
                uint32_t chain, const int *elements, int64_t first,
                int64_t last)
{
    struct gbm_rng rng;
    (void)state, (void)elements, (void)first, (void)last;
    gbm_rng_start(&rng, sweep->seed, chain, sweep->sweep, 1, 0);
    d->x = d->scale * gbm_draw_exponential(&rng);
    d->drawn++;
}

static void get(const void *state, int64_t element, double *x)
{
    (void)state, (void)element;
    *x = d->x;
}

static double density(const void *state, int64_t element, const double *x)
{
    (void)state, (void)element;
    return *x > 0 ? -*x : -(double)INFINITY;
}

static int exact(const void *state, int64_t element)
{
    (void)state, (void)element;
    return 1;
}

static double far_off(struct draw *from, uint64_t seed, double share,
                      double last)
{
    struct gbm_step step = {
        .run = run, .block_get = get, .conditional = density, .exact = exact};
    const struct gbm_sweep sweep = {.seed = seed};
    const double now = rt_clock();
    const struct check_time time = {.share = now + share, .last = now + last};
    struct check_integral *g = check_integral_create();
    assert_non_null(g);
    d = from;
    d->drawn = 0;
    const double distance = check_draws(g, &step, NULL, sweep, 0, 0, time);
    free(g);
    return distance;
}

static void draws_tell(void **unused)
{
    (void)unused;
    struct draw right = {.scale = 1}, wrong = {.scale = 1.6};
    for (uint64_t seed = 1; seed <= 20; seed++) {
        const double distance = far_off(&right, seed, 10, 10);
        assert_true(distance >= 0 && distance < 1);
        assert_true(far_off(&wrong, seed, 10, 10) > 1);
    }
}

static void draws_as_there_is_time(void **unused)
{
    (void)unused;
    struct draw quick = {.scale = 1};
    assert_true(far_off(&quick, 1, 10, 10) >= 0 && quick.drawn >= 1000);
    assert_true(far_off(&quick, 1, 0, 10) >= 0 && quick.drawn == 300);
    assert_true(far_off(&quick, 1, 0, 0) < 0 && quick.drawn < 10);
}

static int never(const void *state, int64_t element)
{
    (void)state, (void)element;
    return 0;
}

/* Of two steps of a kind the second is looked at, if the first one's full
 * conditional is of no family as chains stand, though there is no time left. */
static void a_kind_has_its_turn(void **unused)
{
    (void)unused;
    struct draw quick = {.scale = 1};
    struct gbm_step steps[2] = {{.kind = GBM_STEP_MAP,
                                 .sampler = "law",
                                 .run = run,
                                 .block_get = get,
                                 .conditional = density,
                                 .exact = never}};
    int64_t colour[2] = {0, 1};
    struct rt_step plans[2] = {
        {.active = true, .count = 1, .colour = colour, .ncolours = 1}};
    steps[1] = steps[0];
    steps[1].exact = exact;
    plans[1] = plans[0];
    const struct gbm_model model = {.nsteps = 2, .steps = steps};
    struct rt_instance in = {.model = &model, .steps = plans};
    struct self_check s = {.rt = &rt, .in = &in};
    d = &quick;
    /* others may have the core for once */
    for (int i = 0; i < 40 && s.drawn == 0; i++) {
        self_check_begin(&s);
        s.share = 0;
        assert_int_equal(self_check_draws(&s), GBM_OK);
    }
    assert_int_equal(s.drawn, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_add_up),
        cmocka_unit_test(rounding_is_of_all_terms),
        cmocka_unit_test(what_is_no_number),
        cmocka_unit_test(changes_add),
        cmocka_unit_test(share_is_of_the_least_sweep),
        cmocka_unit_test(others_may_have_the_core),
        cmocka_unit_test(stands_still_while_a_device_is_loaded),
        cmocka_unit_test(draws_tell),
        cmocka_unit_test(draws_as_there_is_time),
        cmocka_unit_test(a_kind_has_its_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
