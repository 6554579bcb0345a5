/* ease.c: the first sweeps of warm-up, in which rates with near-improper priors
 * go at a walk. At a start little fits: as long as a curve's midpoint is far
 * from its data any slope explains them, and one of `dgamma(0.001, 0.001)` is
 * then drawn from hundreds of units of its logarithm, to where nothing that the
 * others do shows in the data any more; that is a mode, of next to no mass, and
 * no chain leaves it. So each element of such a prior moves by at most a PACE
 * of its logarithm in a sweep, while all else is drawn as ever and comes to
 * meet it. What the data pull goes as far as it has to in the time; what they
 * do not stays near where it began. These sweeps sample nothing: they are part
 * of the start. */
#include "start/start.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>

#define SHARE 10  /* of warm-up: until chains are compared (arrival.c) */
#define MOST 100  /* sweeps */
#define PACE 0.25 /* of the logarithm, in a sweep */
#define DRAWS 8   /* by which a prior is judged */
#define FEW 10000 /* cells that may be held; of more none is vague for long */

static bool is_drawn(const struct rt_instance *in, int f)
{
    const struct gbm_family *fam = &in->model->families[f];
    return fam->stochastic && !fam->data_block && !fam->auxiliary &&
           fam->bounds && fam->simulate && !fam->no_draw &&
           in->slots[fam->variable].per_chain && !rt_draws_whole(in->model, f);
}

/* The distance from the only bound; 0: there is none, or two. */
static double distance(const struct rt_ease *ease, const struct rt_ease_item *i,
                       int chain, double x)
{
    double lower, upper;
    const void *state = rt_state(ease->in, ease->states, chain);
    ease->in->model->families[i->family].bounds(state, i->element, &lower,
                                                &upper);
    if (isfinite(lower) == isfinite(upper))
        return 0;
    return isfinite(lower) ? x - lower : upper - x;
}

static double value_at(const struct rt_ease *ease, const struct rt_ease_item *i,
                       int chain)
{
    return rt_value(&ease->in->slots[i->variable], false, chain, i->cell);
}

static void set_value(const struct rt_ease *ease, const struct rt_ease_item *i,
                      int chain, double x)
{
    rt_set_value(&ease->in->slots[i->variable], false, chain, i->cell, x);
}

/* Whether most draws from the prior of the family's element are far from its
 * start, on the scale of the logarithm. */
static bool is_vague(struct rt_ease *ease, const struct rt_ease_item *item,
                     uint64_t seed)
{
    const struct gbm_family *fam = &ease->in->model->families[item->family];
    void *state = rt_state(ease->in, ease->states, 0);
    const double now = value_at(ease, item, 0),
                 near = log(distance(ease, item, 0, now));
    int far = 0;
    struct gbm_rng rng;
    for (int k = 0; isfinite(near) && k < DRAWS; k++) {
        gbm_rng_start(&rng, seed, 0, UINT32_MAX - 900 - (uint32_t)k,
                      (uint32_t)item->family, (uint32_t)item->element);
        fam->simulate(state, &rng, item->element);
        const double d = distance(ease, item, 0, value_at(ease, item, 0));
        far += !(fabs(log(d) - near) <= RT_FAR);
    }
    set_value(ease, item, 0, now);
    return 2 * far > DRAWS;
}

/* The family's latent elements, if their priors are vague. */
static bool add_family(struct rt_ease *ease, const struct rt *rt, int f,
                       struct rt_cells *buffer)
{
    const struct rt_instance *in = ease->in;
    const struct gbm_family *fam = &in->model->families[f];
    const struct rt_slot *slot = &in->slots[fam->variable];
    const void *state = rt_state(in, ease->states, 0);
    int added = 0;
    for (int64_t e = 0; e < in->elements[f] && ease->n < FEW; e++) {
        struct rt_ease_item item = {f, fam->variable, e, 0};
        if (rt_drawn_forward(in, state, f, e, buffer) ||
            rt_element_cells(fam, state, e, buffer) != 1 ||
            rt_seen(slot, buffer->cells[0]))
            continue;
        item.cell = buffer->cells[0];
        if (added == 0 && !is_vague(ease, &item, rt->options.seed))
            return true;
        struct rt_ease_item *items =
            realloc(ease->items, (size_t)(ease->n + 1) * sizeof *ease->items);
        if (!items)
            return false;
        ease->items = items;
        items[ease->n++] = item;
        added++;
    }
    return true;
}

bool rt_ease_create(struct rt_ease *ease, const struct rt *rt,
                    const struct rt_instance *in)
{
    const struct rt_options *o = &rt->options;
    struct rt_cells buffer = {0};
    *ease = (struct rt_ease){.in = in};
    if (rt->told || o->starts == RT_PRIOR || o->plain || o->method->advance ||
        o->method->replicas || !rt_worth_scoring(rt, in))
        return true;
    ease->states = rt_states_create(in);
    bool ok = ease->states != NULL;
    for (int f = 0; ok && f < in->model->nfamilies; f++)
        if (is_drawn(in, f))
            ok = add_family(ease, rt, f, &buffer);
    free(buffer.cells);
    if (ok && ease->n > 0) {
        const size_t cells = (size_t)ease->n * (size_t)in->nchains;
        ease->before = malloc(cells * sizeof *ease->before);
        ease->drawn = malloc(cells * sizeof *ease->drawn);
        ok = ease->before && ease->drawn;
        ease->sweeps = o->warmup / SHARE < MOST ? o->warmup / SHARE : MOST;
    }
    return ok;
}

void rt_ease_free(struct rt_ease *ease)
{
    free(ease->states);
    free(ease->items);
    free(ease->before);
    free(ease->drawn);
}

void rt_ease_begin(struct rt_ease *ease)
{
    for (int c = 0; c < ease->in->nchains; c++)
        for (int64_t k = 0; k < ease->n; k++)
            ease->before[c * ease->n + k] = value_at(ease, &ease->items[k], c);
}

/* What moved further than it may comes back as far; if that is possible where
 * all else is by now. */
static bool hold(struct rt_ease *ease, int chain)
{
    void *state = rt_state(ease->in, ease->states, chain);
    const double *before = ease->before + chain * ease->n;
    double *drawn = ease->drawn + chain * ease->n;
    bool held = false;
    for (int64_t k = 0; k < ease->n; k++) {
        const struct rt_ease_item *i = &ease->items[k];
        drawn[k] = value_at(ease, i, chain);
        const double from = distance(ease, i, chain, before[k]),
                     to = distance(ease, i, chain, drawn[k]);
        if (!(from > 0) || !(to >= 0) || fabs(log(to / from)) <= PACE)
            continue;
        const double gain = from * (exp(to > from ? PACE : -PACE) - 1);
        set_value(ease, i, chain,
                  before[k] +
                      (drawn[k] > before[k] ? fabs(gain) : -fabs(gain)));
        held = true;
    }
    if (!held)
        return false;
    rt_refresh(ease->in, state, chain);
    if (isfinite(rt_logdensity(ease->in, state, true, 1)))
        return true;
    for (int64_t k = 0; k < ease->n; k++)
        set_value(ease, &ease->items[k], chain, drawn[k]);
    rt_refresh(ease->in, state, chain);
    return false;
}

enum gbm_status rt_ease_end(struct rt_ease *ease, struct rt *rt)
{
    bool held = false;
    if (rt->device->get(rt) != GBM_OK)
        return rt->status;
#pragma omp parallel for num_threads(rt->threads) reduction(|| : held)
    for (int c = 0; c < ease->in->nchains; c++)
        held = hold(ease, c) || held;
    return held ? rt->device->put(rt) : GBM_OK;
}
