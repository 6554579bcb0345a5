/* standing.c: whole numbers that no sweep changed, though the model, the rest
 * as it is, has another value for them. Where chains can go from one to the
 * other a run does so in its first sweeps: one that does not is told of, as
 * what was added to the model may have cut the ways between (a rate that an
 * indicator makes 0), and then chains agree on what is wrong. */
#include "chains/chains.h"

#include <math.h>
#include <stdlib.h>

enum {
    ENOUGH = 1000, /* draws of all chains that say something */
    ASKED = 8,     /* nodes that stood still, of each variable */
    CHAINS = 4
};
static const double likely = 0.05; /* of the other value, in the mean */
static const double share = 0.02;  /* of the sampling's time; and seconds: */
static const double at_least = 0.1;

/* Whether a cell has one value in all draws. */
static bool stood_still(const struct gbm_draws *d, int64_t at)
{
    const double x = gbm_draws_record(d, 0, 0)[at];
    for (int c = 0; c < d->chains; c++)
        for (int k = 0; k < d->kept; k++)
            if (gbm_draws_record(d, c, k)[at] != x)
                return false;
    return true;
}

struct standing {
    const struct rt_chains *r;
    char *states;
    int chains; /* that are asked */
    double lp[CHAINS], until;
};

static double logdensity(const struct standing *a, int chain)
{
    const struct rt_instance *in = &a->r->in;
    void *state = rt_state(in, a->states, chain);
    rt_refresh(in, state, chain);
    return rt_logdensity(in, state, false, a->r->rt->threads);
}

/* The probability that the cell is `by` more, of the two values, given all that
 * is no auxiliary node. Leaves the state as it was, but for what is derived. */
static double probability(const struct standing *a, int chain, int variable,
                          int64_t cell, int by)
{
    const struct rt_slot *slot = &a->r->in.slots[variable];
    const double x = rt_value(slot, true, chain, cell);
    rt_set_value(slot, true, chain, cell, x + by);
    const double lp = logdensity(a, chain);
    const bool computed = rt_value(slot, true, chain, cell) != x + by;
    rt_set_value(slot, true, chain, cell, x);
    return !computed && isfinite(a->lp[chain]) && lp > -(double)INFINITY
               ? 1 / (1 + exp(a->lp[chain] - lp))
               : 0;
}

/* That of the likelier of its neighbours, where the chains ended. */
static double of_another(const struct standing *a, int variable, int64_t cell)
{
    double most = 0;
    for (int by = -1; by <= 1; by += 2) {
        double sum = 0;
        for (int c = 0; c < a->chains; c++)
            sum += probability(a, c, variable, cell, by);
        most = fmax(most, sum / a->chains);
    }
    return most;
}

static bool is_asked(const struct rt_instance *in, int variable, int64_t cell)
{
    const struct rt_slot *slot = &in->slots[variable];
    return (!slot->defined || slot->defined[cell]) && !rt_seen(slot, cell) &&
           !rt_barren(slot, cell);
}

static void look_at(const struct standing *a, const struct rt_monitor *m)
{
    const struct rt_chains *r = a->r;
    char name[256];
    int asked = 0;
    for (int64_t i = 0; i < m->count && asked < ASKED && rt_clock() < a->until;
         i++) {
        const int64_t cell = m->cells ? m->cells[i] : i;
        if (!is_asked(&r->in, m->variable, cell) ||
            !stood_still(&r->draws, m->offset + i))
            continue;
        asked++;
        const double p = of_another(a, m->variable, cell);
        if (!(p > likely))
            continue;
        rt_cell_name(&r->in, m->variable, cell, name, sizeof name);
        fprintf(r->notes,
                "warning: %s never changed, though given all else another "
                "value has probability %.2g: do not use these numbers. This is "
                "a fault of gbmc, not of the model or the data: please report "
                "it, with both\n",
                name, p);
        return;
    }
}

void rt_chains_standing(const struct rt_chains *r)
{
    struct rt *rt = r->rt;
    const struct rt_instance *in = &r->in;
    if (!r->notes || rt->options.method->report || r->chains != in->nchains ||
        (int64_t)r->draws.kept * r->draws.chains < ENOUGH ||
        !rt_worth_scoring(rt, in))
        return;
    struct standing a = {.r = r,
                         .states = rt_states_create(in),
                         .chains = in->nchains < CHAINS ? in->nchains : CHAINS,
                         .until = rt_clock() + at_least +
                                  share * r->draws.timing.sampling_s};
    if (a.states && rt->device->get(rt) == GBM_OK) {
        for (int c = 0; c < a.chains; c++)
            a.lp[c] = logdensity(&a, c);
        for (int k = 0; k < in->nmonitors; k++) {
            const int v = in->monitors[k].variable;
            if (in->model->variables[v].role == GBM_STOCHASTIC &&
                in->model->variables[v].integer && in->slots[v].per_chain)
                look_at(&a, &in->monitors[k]);
        }
        for (int c = 0; c < a.chains; c++)
            rt_refresh(in, rt_state(in, a.states, c), c);
    }
    free(a.states);
}
