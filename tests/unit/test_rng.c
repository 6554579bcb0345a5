/* test_rng: Philox against its published answers, and what streams promise. */
#include <setjmp.h>
#include <stdarg.h>
#include "gbm.h"
#include "ahead.h"
#include <cmocka.h>

/* kat_vectors of Random123 1.14, philox4x32-10. */
static void known_answers(void **state)
{
    static const uint32_t kat[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
         0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0,
         0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}};
    (void)state;
    for (int i = 0; i < 3; i++) {
        uint32_t x[4] = {kat[i][0], kat[i][1], kat[i][2], kat[i][3]};
        gbm_philox(x, kat[i][4], kat[i][5]);
        for (int j = 0; j < 4; j++)
            assert_int_equal(x[j], kat[i][6 + j]);
    }
}

/* A stream is what it was: seeds of published runs stay good, and the device
 * must meet the same numbers. */
static void streams_are_fixed(void **state)
{
    struct gbm_rng rng;
    (void)state;
    gbm_rng_start(&rng, 1, 2, 3, 4, 5);
    uint32_t key0 = rng.key0, key1 = rng.key1;
    assert_int_equal(key0, (uint32_t)gbm_mix(1 + 3 * 0x9E3779B97F4A7C15u));
    uint32_t first[4] = {0, 5, 3, 4}, second[4] = {1, 5, 3, 4};
    gbm_philox(first, key0, key1);
    gbm_philox(second, key0, key1);
    for (int i = 0; i < 4; i++)
        assert_int_equal(gbm_rng_word(&rng), first[i]);
    for (int i = 0; i < 4; i++)
        assert_int_equal(gbm_rng_word(&rng), second[i]);
    gbm_rng_start(&rng, 1, 2, 3, 4, 5);
    uint64_t bits = (uint64_t)first[0] << 32 | first[1];
    double expected = ((double)(bits >> 12) + 0.5) / 4503599627370496.0;
    assert_true(gbm_uniform(&rng) == expected);
    bits = (uint64_t)first[2] << 32 | first[3];
    expected = ((double)(bits >> 12) + 0.5) / 4503599627370496.0;
    assert_true(gbm_uniform(&rng) == expected);
}

static void uniforms_are_inside(void **state)
{
    (void)state;
    struct gbm_rng low = {0}, high = {0};
    low.left = high.left = 4;
    high.word0 = high.word1 = high.word2 = high.word3 = 0xffffffff;
    assert_true(gbm_uniform(&low) > 0);
    assert_true(gbm_uniform(&high) < 1);
    low.left = high.left = 4;
    assert_true(gbm_is_finite(gbm_draw_normal(&low)));
    assert_true(gbm_is_finite(gbm_draw_normal(&high)));
    low.left = high.left = 4;
    high.word0 = high.word1 = 0xffffffff;
    assert_true(gbm_draw_exponential(&low) > 30);
    assert_true(gbm_draw_exponential(&high) > 0);
}

/* The first uniforms of streams that differ in one word: correlation with the
 * stream before, and the counts of 256 cells. */
static void neighbours_are_independent(void **state)
{
    enum { N = 1 << 20 };
    (void)state;
    for (int which = 0; which < 5; which++) {
        int count[256] = {0};
        double product = 0, before = 0, statistic = 0;
        for (uint32_t i = 0; i < N; i++) {
            struct gbm_rng rng;
            gbm_rng_start(&rng, which == 0 ? i : 7, which == 1 ? i : 0,
                          which == 2 ? i : 0, which == 3 ? i : 0,
                          which == 4 ? i : 0);
            double u = (double)gbm_uniform(&rng);
            product += (u - 0.5) * before;
            before = u - 0.5;
            count[(int)(u * 256)]++;
        }
        for (int i = 0; i < 256; i++)
            statistic +=
                (count[i] - N / 256.0) * (count[i] - N / 256.0) / (N / 256.0);
        assert_true(fabs(product * 12 / sqrt(N)) < 4);
        assert_true(statistic > 255 - 4 * sqrt(510) &&
                    statistic < 255 + 4.5 * sqrt(510));
    }
}

/* Within a stream: successive uniforms, and those 2 apart. */
static void a_stream_is_independent(void **state)
{
    enum { N = 1 << 22 };
    double back[3] = {0}, product[3] = {0};
    struct gbm_rng rng;
    (void)state;
    gbm_rng_start(&rng, 3, 0, 0, 0, 0);
    for (int i = 0; i < N; i++) {
        double u = (double)gbm_uniform(&rng) - 0.5;
        for (int lag = 0; lag < 3; lag++)
            product[lag] += u * back[lag];
        back[2] = back[1];
        back[1] = back[0];
        back[0] = u;
    }
    for (int lag = 0; lag < 3; lag++)
        assert_true(fabs(product[lag] * 12 / sqrt(N)) < 4);
}

/* What is computed ahead is what the streams give: words bit for bit, normals
 * to rounding, those far out too; and a stream goes on after them. */
static void ahead_is_the_stream(void **state)
{
    enum { GROUPS = 3, BLOCKS = 2, N = GROUPS * GBM_AHEAD_GROUP / BLOCKS };
    struct gbm_places places[GROUPS];
    struct gbm_ahead ahead[GROUPS];
    int far = 0;
    (void)state;
    for (uint32_t sweep = 0; sweep < 4000; sweep++) {
        for (uint32_t k = 0; k < N * BLOCKS; k++) {
            struct gbm_places *p = &places[k / GBM_AHEAD_GROUP];
            p->later[k % GBM_AHEAD_GROUP] = k / BLOCKS & 1;
            p->step[k % GBM_AHEAD_GROUP] = k / BLOCKS % 3;
            p->element[k % GBM_AHEAD_GROUP] = 0xfffffff0u + k / BLOCKS;
            p->block[k % GBM_AHEAD_GROUP] = k % BLOCKS;
            p->normals = 2;
        }
        gbm_draw_ahead(5, 1, sweep, GROUPS, places, ahead);
        for (uint32_t k = 0; k < N; k++) {
            struct gbm_rng now, then;
            gbm_rng_start(&now, 5, 1, sweep + (k & 1), k % 3, 0xfffffff0u + k);
            then = now;
            then.ahead = ahead;
            then.place = k * BLOCKS;
            then.stride = 1;
            then.nahead = BLOCKS;
            then.normals = k % 4;
            double expected = (double)gbm_draw_normal(&now);
            double found = (double)gbm_draw_normal(&then);
            assert_true(fabs(found - expected) <= 2e-15 * fabs(expected));
            far += fabs(found) > 3.5;
            expected = (double)gbm_draw_normal(&now);
            found = (double)gbm_draw_normal(&then);
            assert_true(fabs(found - expected) <= 2e-15 * fabs(expected));
            for (int i = 0; i < 12; i++)
                assert_int_equal(gbm_rng_word(&then), gbm_rng_word(&now));
        }
    }
    assert_true(far > 5);
    assert_int_equal(GBM_NORMALS_FIRST(gbm_draw_gamma), 1);
    assert_int_equal(GBM_NORMALS_FIRST(gbm_uniform), 0);
}

/* Many normals at once are those drawn one by one, and leave the stream where
 * these do. */
static void many_normals(void **state)
{
    (void)state;
    for (int n = 0; n < 40; n++) {
        real z[40];
        struct gbm_rng one, many;
        gbm_rng_start(&one, 9, 0, (uint32_t)n, 1, 2);
        if (n % 3 == 1)
            gbm_uniform(&one);
        many = one;
        gbm_draw_normals(&many, n, z);
        for (int i = 0; i < n; i++) {
            double expected = (double)gbm_draw_normal(&one);
            assert_true(fabs((double)z[i] - expected) <=
                        2e-15 * fabs(expected));
        }
        for (int i = 0; i < 7; i++)
            assert_int_equal(gbm_rng_word(&many), gbm_rng_word(&one));
    }
}

/* So are pairs of a normal and a uniform. */
static void many_pairs(void **state)
{
    (void)state;
    for (int n = 0; n < 20; n++) {
        real z[20], u[20];
        struct gbm_rng one, many;
        gbm_rng_start(&one, 9, 0, (uint32_t)n, 1, 2);
        if (n % 3 == 1)
            gbm_uniform(&one);
        many = one;
        gbm_draw_pairs(&many, n, z, u);
        for (int i = 0; i < n; i++) {
            const double expected = (double)gbm_draw_normal(&one);
            assert_true(fabs((double)z[i] - expected) <=
                        2e-15 * fabs(expected));
            assert_true(u[i] == gbm_uniform(&one));
        }
        for (int i = 0; i < 7; i++)
            assert_int_equal(gbm_rng_word(&many), gbm_rng_word(&one));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers),
        cmocka_unit_test(streams_are_fixed),
        cmocka_unit_test(uniforms_are_inside),
        cmocka_unit_test(neighbours_are_independent),
        cmocka_unit_test(a_stream_is_independent),
        cmocka_unit_test(ahead_is_the_stream),
        cmocka_unit_test(many_normals),
        cmocka_unit_test(many_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
