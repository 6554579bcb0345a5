/* test_self_check_moves.c: which terms of the joint, which elements and which
 * step the self-check looks at: what is drawn forward counts for nothing,
 * chunks take turns, and the step that is to blame is named. */
#include "check/self_check.h"
#include "../../runtime/base/base.h" /* not the compiler's */
#include "gbm.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 200 };

static double x[MOST];         /* what the steps move */
static int moved[MOST];        /* how often each did */
static double least = 1, most; /* elements that a sweep moved */

static double first(const void *state, int64_t element)
{
    (void)state;
    return (double)(1 << element);
}

static double second(const void *state, int64_t element)
{
    (void)state;
    return 8 * (double)(1 << element);
}

static const struct rt_options options = {.chains = 1, .warmup = 1000};

/* ---- terms ---- */

/* Elements of families that count are numbered through. */
static void what_is_drawn_forward_is_no_term(void **unused)
{
    (void)unused;
    const struct gbm_family own[3] = {
        {.stochastic = true, .logdensity = first},
        {.stochastic = true, .data_block = true, .logdensity = first},
        {.stochastic = true, .logdensity = second}};
    int64_t elements[3] = {3, 4, 2};
    unsigned char dropped[5] = {0, 1, 0, 1, 0};
    const struct gbm_model model = {.nfamilies = 3, .families = own};
    struct rt rt = {.threads = 1, .options = options};
    struct rt_instance in = {.model = &model, .elements = elements};
    struct self_check s = {.rt = &rt, .in = &in, .dropped = dropped};
    self_check_begin(&s);
    const struct change all = self_check_joint(&s);
    assert_true(all.value == 1 + 4 + 16 && all.size == all.value);
    assert_false(s.out_of_time);
}

/* ---- elements ---- */

static void move(const void *state, const struct gbm_sweep *sweep,
                 uint32_t chain, const int *elements, int64_t first,
                 int64_t last)
{
    (void)state, (void)sweep, (void)chain, (void)elements;
    for (int64_t e = first; e < last; e++) {
        x[e] += 1;
        moved[e]++;
        least = fmin(least, (double)e);
        most = fmax(most, (double)e);
    }
}

static void get(const void *state, int64_t element, double *out)
{
    (void)state;
    *out = x[element];
}

static void set(const void *state, int64_t element, const double *value)
{
    (void)state;
    x[element] = *value;
}

static double itself(const void *state, int64_t element, const double *value)
{
    (void)state, (void)element;
    return *value;
}

static const struct gbm_step moves = {.kind = GBM_STEP_MAP,
                                      .variable = "x",
                                      .sampler = "law",
                                      .run = move,
                                      .block_get = get,
                                      .block_set = set,
                                      .conditional = itself};

/* What an augmentation added to elements that are drawn forward may move as it
 * likes. */
static void what_was_added_to_it_counts_for_nothing(void **unused)
{
    (void)unused;
    const struct gbm_family own[2] = {{.stochastic = true},
                                      {.stochastic = true, .auxiliary = true}};
    int64_t elements[2] = {2, 3}, colour[2] = {0, 3};
    unsigned char dropped[5] = {1, 1, 0, 1, 0};
    struct gbm_step step = moves;
    step.family = 1;
    struct rt_step plan = {
        .active = true, .count = 3, .colour = colour, .ncolours = 1};
    const struct gbm_model model = {
        .nfamilies = 2, .families = own, .nsteps = 1, .steps = &step};
    struct rt rt = {.threads = 1, .options = options};
    struct rt_instance in = {
        .model = &model, .elements = elements, .steps = &plan};
    bool reached = false;
    struct self_check s = {
        .rt = &rt, .in = &in, .dropped = dropped, .reached = &reached};
    memset(x, 0, sizeof x);
    self_check_begin(&s);
    assert_true(self_check_step(&s, 0, rt_clock() + 100).value == 2);
    assert_true(s.moves == 2 && reached && x[1] == 1);
    free(s.cells);
}

static void sweep(struct self_check *s, double until)
{
    least = MOST, most = 0;
    (void)self_check_step(s, 0, until);
    s->sweep++;
}

/* Where there is time for one chunk of each colour, all have their turn in as
 * many sweeps; with time for all, all move. */
static void chunks_take_turns(void **unused)
{
    (void)unused;
    const struct gbm_family family = {.stochastic = true};
    int64_t elements = MOST, colour[3] = {0, 150, MOST};
    struct rt_step plan = {
        .active = true, .count = MOST, .colour = colour, .ncolours = 2};
    const struct gbm_model model = {
        .nfamilies = 1, .families = &family, .nsteps = 1, .steps = &moves};
    struct rt rt = {.threads = 1, .options = options};
    struct rt_instance in = {
        .model = &model, .elements = &elements, .steps = &plan};
    bool reached = false;
    struct self_check s = {.rt = &rt, .in = &in, .reached = &reached};
    memset(moved, 0, sizeof moved);
    self_check_begin(&s);
    for (int i = 0; i < 3; i++) { /* of 64, 64 and 22; one of 50 */
        sweep(&s, 0);
        assert_true(least < 150 && most == MOST - 1);
    }
    for (int e = 0; e < MOST; e++)
        assert_int_equal(moved[e], e < 150 ? 1 : 3);
    sweep(&s, rt_clock() + 100);
    for (int e = 0; e < MOST; e++)
        assert_int_equal(moved[e], e < 150 ? 2 : 4);
    free(s.cells);
}

/* ---- blame ---- */

static double normal_of(int v) { return -x[v] * x[v] / 2; }
static double normal_a(const void *state, int64_t element)
{
    (void)state, (void)element;
    return normal_of(0);
}
static double normal_b(const void *state, int64_t element)
{
    (void)state, (void)element;
    return normal_of(1);
}
static double normal_c(const void *state, int64_t element)
{
    (void)state, (void)element;
    return normal_of(2);
}

#define STEP_OF(name, v)                                                       \
    static void move_##name(const void *state, const struct gbm_sweep *by,     \
                            uint32_t chain, const int *elements,               \
                            int64_t first, int64_t last)                       \
    {                                                                          \
        (void)state, (void)by, (void)chain, (void)elements;                    \
        (void)first, (void)last;                                               \
        x[v] += 0.5;                                                           \
    }                                                                          \
    static void get_##name(const void *state, int64_t element, double *out)    \
    {                                                                          \
        (void)state, (void)element;                                            \
        *out = x[v];                                                           \
    }                                                                          \
    static void set_##name(const void *state, int64_t element,                 \
                           const double *value)                                \
    {                                                                          \
        (void)state, (void)element;                                            \
        x[v] = *value;                                                         \
    }
STEP_OF(a, 0)
STEP_OF(b, 1)
STEP_OF(c, 2)

static double right(const void *state, int64_t element, const double *value)
{
    (void)state, (void)element;
    return -*value * *value / 2;
}

static double wrong(const void *state, int64_t element, const double *value)
{
    (void)state, (void)element;
    return -*value * *value;
}

static void bind(void *state, const struct gbm_binding *bindings)
{
    (void)state, (void)bindings;
}

static void shift(void *state, int chain) { (void)state, (void)chain; }

static int64_t cell(const void *state, int64_t element, int64_t *out)
{
    (void)state, (void)element;
    if (out)
        *out = 0;
    return 1;
}

/* A model of a, b and c, of which one has a wrong full conditional, or none. */
static struct gbm_variable variables[3];
static struct gbm_family families[3];
static struct gbm_step steps[3];
static struct rt_slot slots[3];
static struct rt_step plans[3];

static void make(int of)
{
    static const char *names[3] = {"a", "b", "c"};
    static int64_t colour[2] = {0, 1};
    for (int k = 0; k < 3; k++) {
        variables[k] =
            (struct gbm_variable){.name = names[k], .role = GBM_STOCHASTIC};
        families[k] = (struct gbm_family){.variable = k,
                                          .text = names[k],
                                          .where = "model.gbm",
                                          .stochastic = true,
                                          .support = GBM_SUPPORT_ANY,
                                          .cells = cell};
        slots[k] = (struct rt_slot){
            .cells = 1, .settled = true, .per_chain = true, .values = &x[k]};
        plans[k] = (struct rt_step){
            .active = true, .count = 1, .colour = colour, .ncolours = 1};
        steps[k] = (struct gbm_step){.kind = GBM_STEP_MAP,
                                     .variable = names[k],
                                     .sampler = "law",
                                     .family = k,
                                     .conditional = k == of ? wrong : right};
    }
    families[0].logdensity = normal_a, families[1].logdensity = normal_b;
    families[2].logdensity = normal_c;
    steps[0].run = move_a, steps[0].block_get = get_a;
    steps[1].run = move_b, steps[1].block_get = get_b;
    steps[2].run = move_c, steps[2].block_get = get_c;
    steps[0].block_set = set_a, steps[1].block_set = set_b;
    steps[2].block_set = set_c;
}

/* What is said of sweeps over it, "" if nothing. */
static void blame(int of, char *said, size_t size)
{
    int64_t elements[3] = {1, 1, 1};
    const struct gbm_model model = {.nvariables = 3,
                                    .variables = variables,
                                    .nfamilies = 3,
                                    .families = families,
                                    .nsteps = 3,
                                    .steps = steps,
                                    .bind = bind,
                                    .shift = shift};
    struct rt rt = {.threads = 1, .options = options};
    struct rt_instance in = {.model = &model,
                             .nchains = 1,
                             .slots = slots,
                             .elements = elements,
                             .steps = plans};
    struct self_check s = {.rt = &rt, .in = &in};
    make(of);
    x[0] = 1, x[1] = -2, x[2] = 0.5;
    self_check_begin(&s);
    assert_true(self_check_create(&s));
    const enum gbm_status status = self_check_blame(&s, 0, 1);
    assert_int_equal(status, of < 0 ? GBM_OK : GBM_FAILURE);
    snprintf(said, size, "%s", rt.message);
    self_check_destroy(&s);
}

static void the_wrong_step_is_named(void **unused)
{
    static const char *named[3] = {"The update of a (law)",
                                   "The update of b (law)",
                                   "The update of c (law)"};
    char said[2048];
    (void)unused;
    for (int of = 0; of < 3; of++) {
        blame(of, said, sizeof said);
        for (int k = 0; k < 3; k++)
            assert_int_equal(strstr(said, named[k]) != NULL, k == of);
    }
    blame(-1, said, sizeof said);
    assert_string_equal(said, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_drawn_forward_is_no_term),
        cmocka_unit_test(what_was_added_to_it_counts_for_nothing),
        cmocka_unit_test(chunks_take_turns),
        cmocka_unit_test(the_wrong_step_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
