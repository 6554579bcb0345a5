/* turns.c: the data in the order in which they enter (gbmc --sequence). */
#include "load/load.h"

#include <math.h>
#include <stdlib.h>

static int by_turn(const void *a, const void *b)
{
    const struct rt_turn_element *x = a, *y = b;
    if (x->turn != y->turn)
        return x->turn < y->turn ? -1 : 1;
    if (x->family != y->family)
        return x->family < y->family ? -1 : 1;
    return (x->element > y->element) - (x->element < y->element);
}

static bool is_seen(const struct rt_instance *in, int family, int64_t element,
                    const void *state, struct rt_cells *buffer)
{
    const struct gbm_family *fam = &in->model->families[family];
    const struct rt_slot *slot = &in->slots[fam->variable];
    int64_t n = rt_element_cells(fam, state, element, buffer);
    for (int64_t i = 0; i < n; i++)
        if (rt_seen(slot, buffer->cells[i]))
            return true;
    return false;
}

/* Lists the data; returns their number. */
static int64_t list(struct rt_turns *t, const struct rt_instance *in,
                    const void *state)
{
    struct rt_cells buffer = {0};
    int64_t n = 0;
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        for (int64_t e = 0; fam->raised && e < in->elements[f]; e++)
            if (is_seen(in, f, e, state, &buffer))
                t->data[n++] = (struct rt_turn_element){
                    fam->turn ? fam->turn(state, e) : 0, f, e};
    }
    free(buffer.cells);
    return n;
}

static int64_t raised_elements(const struct rt_instance *in)
{
    int64_t n = 0;
    for (int f = 0; f < in->model->nfamilies; f++)
        n += in->model->families[f].raised ? in->elements[f] : 0;
    return n;
}

enum gbm_status rt_turns_create(struct rt_turns *t, struct rt *rt,
                                const struct rt_instance *in)
{
    size_t most = (size_t)raised_elements(in) + 1;
    void *state = calloc(1, in->model->state_size + 1);
    *t = (struct rt_turns){.data = calloc(most, sizeof *t->data),
                           .value = calloc(most, sizeof *t->value),
                           .first = calloc(most + 1, sizeof *t->first)};
    if (!state || !t->data || !t->value || !t->first) {
        free(state);
        return rt_fail(rt, GBM_FAILURE, "no memory");
    }
    rt_bind(in, state, 0);
    int64_t n = list(t, in, state);
    free(state);
    qsort(t->data, (size_t)n, sizeof *t->data, by_turn);
    for (int64_t i = 0; i < n; i++) {
        if (i == 0 || t->data[i].turn != t->data[i - 1].turn) {
            t->value[t->count] = t->data[i].turn;
            t->first[t->count++] = i;
        }
    }
    t->first[t->count] = n;
    return GBM_OK;
}

void rt_turns_free(struct rt_turns *t)
{
    free(t->data);
    free(t->value);
    free(t->first);
    *t = (struct rt_turns){0};
}

double rt_turns_loglik(const struct rt_turns *t, const struct rt_instance *in,
                       int from, int to, const void *state, int chain)
{
    double *power = rt_powers(in) + chain, kept = *power, sum = 0;
    *power = in->model->sequence ? RT_ALL_ENTERED : 1;
    for (int64_t i = t->first[from]; i < t->first[to]; i++)
        sum += in->model->families[t->data[i].family].logdensity(
            state, t->data[i].element);
    *power = kept;
    return sum == sum ? sum : -(double)INFINITY;
}
