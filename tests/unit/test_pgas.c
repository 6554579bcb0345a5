/* test_pgas: how many particles warm-up learns, and what streams of particles
 * promise. */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include "gbm.h"
#include "normal.h"
#include "pgas.h"
#include <cmocka.h>

enum { N = 6, MOST = 100, SHARP = 3 };

/* x[t] ~ normal(x[t-1] / 2, 1), seen as 0 with this variance; at SHARP with
 * another. */
struct series {
    real x[N], variance, sharp;
};

static bool draw(void *context, struct gbm_rng *rng, int t, real from, real *x)
{
    (void)context;
    *x = (t ? from / 2 : 0) + gbm_draw_normal(rng);
    return true;
}

static real lead(void *context, int t, real from, real x)
{
    (void)context;
    (void)t;
    return -gbm_square(x - from / 2) / 2;
}

static real weigh(void *context, int t, real x)
{
    const struct series *s = context;
    return -x * x / 2 / (t == SHARP ? s->sharp : s->variance);
}

static bool known(void *context, int t)
{
    (void)context;
    (void)t;
    return false;
}

static real current(void *context, int t)
{
    return ((struct series *)context)->x[t];
}

static void store(void *context, int t, real x)
{
    ((struct series *)context)->x[t] = x;
}

static real tuned[N * GBM_PGAS_TUNED];
static int sweep;

/* How often the state at SHARP stays in that many sweeps, whose particles there
 * are `most` at most. */
static double stays(struct series *s, int most, int sweeps, int adapting)
{
    static real value[N * MOST], weight[N * MOST], ancestor[N * MOST];
    const struct gbm_team alone = {0, 1};
    int stayed = 0;
    for (int i = 0; i < sweeps; i++) {
        const real before = s->x[SHARP];
        struct gbm_rng rng;
        gbm_rng_start(&rng, 1, 2, (uint32_t)sweep++, 3, 4);
        const struct gbm_pgas p = {
            s,        &alone,
            N,        gbm_pgas_particles(tuned, most, adapting),
            most,     true,
            draw,     lead,
            weigh,    known,
            current,  store,
            value,    weight,
            ancestor, most,
            tuned,    GBM_PGAS_TUNED};
        assert_true(gbm_pgas_draw(&rng, &p, adapting));
        stayed += s->x[SHARP] == before;
    }
    return (double)stayed / sweeps;
}

static void begin(void)
{
    sweep = 1;
    for (int i = 0; i < N * GBM_PGAS_TUNED; i++)
        tuned[i] = 1;
}

static void few_do_where_data_say_little(void **state)
{
    (void)state;
    struct series s = {.variance = 100, .sharp = 100};
    begin();
    stays(&s, MOST, 800, 1);
    assert_in_range(gbm_pgas_particles(tuned, MOST, 0), GBM_PGAS_FEWEST, 8);
}

/* One sweep in six, for the state that stays most often; and what is learnt
 * stays as it is. */
static void as_many_as_the_slowest_needs(void **state)
{
    (void)state;
    struct series s = {.variance = 100, .sharp = 0.02};
    real learnt[N * GBM_PGAS_TUNED];
    begin();
    stays(&s, MOST, 1600, 1);
    memcpy(learnt, tuned, sizeof learnt);
    const int particles = gbm_pgas_particles(tuned, MOST, 0);
    assert_in_range(particles, 2 * GBM_PGAS_FEWEST, MOST - 1);
    const double share = stays(&s, MOST, 4000, 0);
    assert_true(share > 0.12 && share < 0.22);
    assert_memory_equal(learnt, tuned, sizeof learnt);
}

static void no_more_than_there_is_room_for(void **state)
{
    (void)state;
    struct series s = {.variance = 1e-4, .sharp = 1e-8};
    begin();
    assert_int_equal(gbm_pgas_particles(tuned, MOST, 0), MOST);
    stays(&s, 20, 400, 1);
    assert_int_equal(gbm_pgas_particles(tuned, 20, 0), 20);
}

/* What is computed of many streams at once is what each has by itself. */
static void streams_are_their_own(void **state)
{
    (void)state;
    struct gbm_pgas_group group;
    struct gbm_rng rng;
    const struct gbm_pgas p = {.particles = 21, .normal = true};
    gbm_rng_start(&rng, 1, 2, 3, 4, 5);
    for (int k = 0; k < 8 * p.particles; k++) {
        struct gbm_rng one = gbm_pgas_stream(&rng, k), many;
        gbm_pgas_own(&group, &rng, &p, k, &many);
        assert_true(gbm_uniform(&one) == gbm_uniform(&many));
        one.block = many.block = 1;
        one.left = many.left = 0;
        assert_true(real_fabs(gbm_draw_normal(&one) - gbm_draw_normal(&many)) <
                    1e-14);
        for (int i = 0; i < 3; i++)
            assert_true(gbm_uniform(&one) == gbm_uniform(&many));
    }
}

/* Chosen again and again, as the one in memory, each of these is as likely as
 * its weight says, and stays less often than a draw from them would. */
static void another_is_chosen_where_it_can_be(void **state)
{
    (void)state;
    enum { CHOICES = 4, TIMES = 40000 };
    const real chance[CHOICES] = {0.1, 0.2, 0.3, 0.4};
    const struct gbm_team alone = {0, 1};
    const struct gbm_pgas p = {.particles = CHOICES, .team = &alone};
    int now = 0, count[CHOICES] = {0}, stayed = 0;
    struct gbm_rng rng;
    gbm_rng_start(&rng, 1, 2, 3, 4, 5);
    for (int i = 0; i < TIMES; i++) {
        real weight[CHOICES];
        memcpy(weight, chance, sizeof weight);
        weight[now] = chance[CHOICES - 1];
        weight[CHOICES - 1] = chance[now];
        const int chosen = gbm_pgas_leave(&rng, &p, weight);
        if (chosen == CHOICES - 1)
            stayed++;
        else
            now = chosen == now ? CHOICES - 1 : chosen;
        count[now]++;
    }
    for (int k = 0; k < CHOICES; k++)
        assert_true(fabs((double)count[k] / TIMES - chance[k]) < 0.01);
    assert_true(stayed > 0 && stayed < 0.2 * TIMES); /* not 0.3 */
}

/* A last state that data say nothing about never stays. */
static void an_even_choice_moves(void **state)
{
    (void)state;
    struct series s = {.variance = 1e300, .sharp = 1e300};
    begin();
    for (int i = 0; i < 200; i++) {
        const real before = s.x[N - 1];
        stays(&s, 5, 1, 0);
        assert_true(s.x[N - 1] != before);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_do_where_data_say_little),
        cmocka_unit_test(as_many_as_the_slowest_needs),
        cmocka_unit_test(no_more_than_there_is_room_for),
        cmocka_unit_test(another_is_chosen_where_it_can_be),
        cmocka_unit_test(an_even_choice_moves),
        cmocka_unit_test(streams_are_their_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
