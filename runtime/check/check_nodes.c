/* check_nodes.c: nodes that were integrated out of a step. What moves the step
 * tells nothing of a number in their full conditional that is the same whatever
 * the step's own element is, as what their prior adds: it is missing from both,
 * what is left and what was taken out. So the nodes move: by as much as the
 * joint density changes then, the density that was taken out must. Nodes of one
 * plate can belong to elements of several steps: one that is of none of step
 * k's tells nothing of it. */
#include "check/check.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 4 };

static int step_that_draws(const struct rt_instance *in, int family)
{
    for (int k = 0; k < in->model->nsteps; k++) {
        const struct gbm_step *step = &in->model->steps[k];
        if (step->family == family && step->kind == GBM_STEP_MAP &&
            in->steps[k].active && in->steps[k].count > 0 && step->block_get &&
            step->conditional)
            return k;
    }
    return -1;
}

int check_node_out(const struct rt_instance *in, int k, int64_t turn,
                   int64_t *element)
{
    const struct gbm_step *step = &in->model->steps[k];
    if (!step->nnodes_out || in->steps[k].count > CHECK_NODES_OUT)
        return -1;
    int by = step_that_draws(in, step->nodes_out[turn % step->nnodes_out]);
    if (by < 0)
        return -1;
    const struct rt_step *plan = &in->steps[by];
    int64_t at = turn / step->nnodes_out % plan->count;
    *element = plan->elements ? plan->elements[at] : at;
    return by;
}

void check_integrated(const struct rt_instance *in, const void *state, int k,
                      double out[CHECK_NODES_OUT])
{
    const struct rt_step *plan = &in->steps[k];
    for (int64_t i = 0; i < plan->count; i++)
        out[i] = in->model->steps[k].integrated(
            state, plan->elements ? plan->elements[i] : i);
}

double check_integrated_change(const struct rt_instance *in, int k,
                               const double *before, const double *after,
                               int64_t turn, double *size)
{
    const int64_t n = in->steps[k].count;
    int64_t i = 0;
    while (i < n - 1 && before[(turn + i) % n] == after[(turn + i) % n])
        i++;
    i = (turn + i) % n;
    *size = fabs(before[i]) + fabs(after[i]);
    return after[i] - before[i];
}

static double own_density(const struct rt_instance *in, const void *state,
                          int chain, int family, int64_t element)
{
    rt_refresh(in, state, chain);
    return in->model->families[family].logdensity(state, element);
}

bool check_belongs(const struct rt_instance *in, void *state, int chain, int k,
                   int by, int64_t node, const double *a,
                   const struct gbm_sweep *sweep)
{
    const struct gbm_step *step = &in->model->steps[k];
    const struct gbm_step *draws = &in->model->steps[by];
    const struct rt_step *plan = &in->steps[k];
    void **now = rt_save(in);
    const int n = draws->block_size ? draws->block_size(state, node) : 1;
    double *b = malloc((size_t)(n > 0 ? n : 1) * sizeof *b);
    if (!now || !b)
        abort();
    draws->block_get(state, node, b);
    const double here = own_density(in, state, chain, draws->family, node);
    draws->block_set(state, node, a);
    const double there = own_density(in, state, chain, draws->family, node);
    step->run(state, sweep, (uint32_t)chain, plan->elements, 0, plan->count);
    const double there_then =
        own_density(in, state, chain, draws->family, node);
    draws->block_set(state, node, b);
    const double here_then = own_density(in, state, chain, draws->family, node);
    rt_put_back(in, now);
    rt_refresh(in, state, chain);
    rt_forget(in, now);
    free(b);
    return fabs(here_then - there_then - (here - there)) >
           1e-9 *
               (fabs(here_then) + fabs(there_then) + fabs(here) + fabs(there));
}

/* One node. */
static void check_node(struct checker *c, int k, int by, int64_t element,
                       int turn)
{
    const struct gbm_step *step = &c->in->model->steps[by];
    int n = step->block_size ? step->block_size(c->state, element) : 1;
    double *a = malloc(2 * (size_t)(n > 0 ? n : 1) * sizeof *a), *b = a + n;
    double before[CHECK_NODES_OUT], after[CHECK_NODES_OUT], size;
    int list[1] = {(int)element};
    if (!a)
        abort();
    check_refresh(c);
    check_densities(c, c->before);
    step->block_get(c->state, element, a);
    check_integrated(c->in, c->state, k, before);
    struct gbm_sweep sweep = check_next_sweep(c);
    step->run(c->state, &sweep, (uint32_t)c->chain, list, 0, 1);
    step->block_get(c->state, element, b);
    check_refresh(c);
    check_densities(c, c->after);
    check_integrated(c->in, c->state, k, after);
    double change =
        check_integrated_change(c->in, k, before, after, turn, &size);
    if (n > 0 && memcmp(a, b, (size_t)n * sizeof *a) != 0 &&
        (change != 0 ||
         check_belongs(c->in, c->state, c->chain, k, by, element, a, &sweep)))
        check_change(c, k, by, element, a, b, change, 1e-14 * size);
    free(a);
}

void check_nodes_out(struct checker *c, int k)
{
    const int most = NODES * c->in->model->steps[k].nnodes_out;
    for (int turn = 0; turn < most; turn++) {
        int64_t element;
        int by = check_node_out(c->in, k, turn, &element);
        if (by >= 0)
            check_node(c, k, by, element, turn);
    }
}
