/* self_check_back.c: steps whose conditional is asked where it has no digits
 * left. A plate that a move along the scale of its prior shrinks to 10^-10 of
 * what it was keeps of its effects what is rounding in their mean: from there
 * the conditional tells of a place that is not quite where the step came from.
 * Where it came from it has all digits, and says what the step did. That it
 * goes back there, as a move must that is one way and back, is then seen of the
 * numbers: they need only be as near as their last digits tell. */
#include "check/self_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NEAR 1e-3   /* of how far a number went: a wrong way back is further */
#define NUDGE 4e-16 /* of a number: its last digit or two */
#define WAYS 4      /* to nudge; errors, in the changes that this makes */

/* Real numbers of the chain that are not data. */
struct numbers {
    const struct rt_slot **slot;
    int64_t *cell;
    size_t n, room;
};

static void *grown(void *list, size_t bytes)
{
    list = realloc(list, bytes);
    if (!list)
        abort();
    return list;
}

static void add_number(struct numbers *all, const struct rt_slot *slot,
                       int64_t cell)
{
    if (all->n == all->room) {
        all->room = 2 * all->room + 64;
        all->slot = grown(all->slot, all->room * sizeof(*all->slot));
        all->cell = grown(all->cell, all->room * sizeof *all->cell);
    }
    all->slot[all->n] = slot;
    all->cell[all->n++] = cell;
}

static struct numbers find_numbers(const struct self_check *s)
{
    const struct gbm_model *m = s->in->model;
    struct numbers all = {0};
    struct rt_cells buffer = {0};
    for (int f = 0; f < m->nfamilies; f++) {
        const struct gbm_family *family = &m->families[f];
        const struct rt_slot *slot = &s->in->slots[family->variable];
        bool counts =
            check_counts(family) && slot->per_chain && !rt_draws_whole(m, f);
        for (int64_t e = 0; counts && e < s->in->elements[f]; e++) {
            int64_t n = rt_element_cells(family, s->state, e, &buffer);
            for (int64_t i = 0; i < n; i++)
                if (!rt_seen(slot, buffer.cells[i]))
                    add_number(&all, slot, buffer.cells[i]);
        }
    }
    free(buffer.cells);
    return all;
}

static double *read_numbers(const struct self_check *s,
                            const struct numbers *all)
{
    double *x = grown(NULL, (all->n + 1) * sizeof *x);
    for (size_t i = 0; i < all->n; i++)
        x[i] = rt_value(all->slot[i], false, s->chain, all->cell[i]);
    return x;
}

/* The numbers once the block, from where it stands, has been set to `a`; those
 * that differ from `start` change in their last digit before, one way of some.
 */
static double *set_back(const struct self_check *s, const struct numbers *all,
                        const double *start, int k, int64_t element,
                        const double *a, int way)
{
    for (size_t i = 0; way && i < all->n; i++) {
        const double x = rt_value(all->slot[i], false, s->chain, all->cell[i]);
        const bool up = (uint32_t)i * 2654435761u >> (16 + way) & 1;
        if (x != start[i])
            rt_set_value(all->slot[i], false, s->chain, all->cell[i],
                         x * (1 + (up ? NUDGE : -NUDGE)));
    }
    self_check_refresh(s);
    s->in->model->steps[k].block_set(s->state, element, a);
    return read_numbers(s, all);
}

/* Whether all numbers come back to `start`, of what the chain had there, when
 * the block is set to what it was from `here`. */
static bool comes_back(const struct self_check *s, const struct numbers *all,
                       const double *start, void *const *here, int k,
                       int64_t element, const double *a)
{
    bool back = true;
    rt_put_back(s->in, here);
    double *moved = read_numbers(s, all);
    double *plain = set_back(s, all, start, k, element, a, 0);
    double *digits = calloc(all->n + 1, sizeof *digits);
    if (!digits)
        abort();
    for (int way = 1; way <= WAYS; way++) {
        rt_put_back(s->in, here);
        double *x = set_back(s, all, start, k, element, a, way);
        for (size_t i = 0; i < all->n; i++)
            digits[i] = fmax(digits[i], fabs(x[i] - plain[i]));
        free(x);
    }
    for (size_t i = 0; i < all->n; i++)
        back = back && fabs(plain[i] - start[i]) <=
                           NEAR * fabs(moved[i] - start[i]) + WAYS * digits[i];
    free(moved);
    free(plain);
    free(digits);
    return back;
}

/* An element moved from a, where the chain's values were `from`, to b, where
 * they are `here`, and the joint from `before` to `after`. */
static bool explains(struct self_check *s, const struct numbers *all, int k,
                     int64_t element, void *const *from, void *const *here,
                     const double *a, const double *b, struct change before,
                     struct change after)
{
    const struct gbm_step *step = &s->in->model->steps[k];
    struct change there = {0}, back = {0};
    self_check_add_conditional(s, step, element, a, b, &back);
    if (self_check_compare(back, before, after) == ADDS_UP)
        return true;
    rt_put_back(s->in, from);
    self_check_refresh(s);
    double *start = read_numbers(s, all);
    self_check_add_conditional(s, step, element, a, b, &there);
    bool fine = self_check_compare(there, before, after) == ADDS_UP;
    if (fine) {
        rt_put_back(s->in, here);
        step->block_set(s->state, element, a);
        self_check_refresh(s);
        struct change returned = self_check_joint(s);
        fine = self_check_compare(back, returned, after) != DOES_NOT &&
               comes_back(s, all, start, here, k, element, a);
    }
    free(start);
    return fine;
}

/* Moves an element as the sweep did. */
static bool element_adds_up(struct self_check *s, const struct numbers *all,
                            int k, int64_t element)
{
    const struct gbm_step *step = &s->in->model->steps[k];
    const struct gbm_sweep sweep = self_check_sweep(s);
    int list[1] = {(int)element};
    int n = step->block_size ? step->block_size(s->state, element) : 1;
    if (n < 1)
        return true;
    double *a = grown(NULL, 2 * (size_t)n * sizeof *a), *b = a + n;
    self_check_refresh(s);
    struct change before = self_check_joint(s);
    step->block_get(s->state, element, a);
    void **from = rt_save(s->in);
    step->run(s->state, &sweep, (uint32_t)s->chain, list, 0, 1);
    self_check_refresh(s);
    step->block_get(s->state, element, b);
    struct change after = self_check_joint(s);
    void **here = rt_save(s->in);
    bool fine = from && here && !s->out_of_time;
    if (fine && memcmp(a, b, (size_t)n * sizeof *a) == 0) {
        fine = isfinite(step->conditional(s->state, element, a));
    } else if (fine) {
        fine = explains(s, all, k, element, from, here, a, b, before, after);
        rt_put_back(s->in, here);
    }
    rt_forget(s->in, from);
    rt_forget(s->in, here);
    free(a);
    return fine;
}

bool self_check_adds_up_before(struct self_check *s, int k, void *const *from)
{
    const struct gbm_step *step = &s->in->model->steps[k];
    const struct rt_step *plan = &s->in->steps[k];
    if (step->kind != GBM_STEP_MAP || !step->block_set || step->integrated ||
        step->scales || s->in->model->families[step->family].auxiliary)
        return false;
    void **now = rt_save(s->in);
    struct numbers all = find_numbers(s);
    bool fine = now != NULL;
    rt_put_back(s->in, from);
    for (int64_t i = 0; i < plan->count && fine; i++)
        fine =
            rt_clock() < s->deadline &&
            element_adds_up(s, &all, k, plan->elements ? plan->elements[i] : i);
    if (now)
        rt_put_back(s->in, now);
    self_check_refresh(s);
    rt_forget(s->in, now);
    free(all.slot);
    free(all.cell);
    return fine;
}
