/* standing.c: whole numbers that no sweep changed, though the model, the rest
 * as it is, has another value for them. Where chains can go from one to the
 * other a run does so in its first sweeps: one that does not is told of, as
 * what was added to the model may have cut the ways between (a rate that an
 * indicator makes 0), and then chains agree on what is wrong. So they may where
 * two of them must change together, and no step changes both. */
#include "chains/chains.h"
#include "rng.h"

#include <math.h>
#include <stdlib.h>

#define ANEW (UINT32_MAX - 6000) /* in random numbers' keys */

enum {
    ENOUGH = 1000, /* draws of all chains that say something */
    ASKED = 8,     /* nodes that stood still, of each variable */
    PARTNERS = 64, /* of each, nodes that might have to change with it */
    DRAWN = 64,    /* times that all which stood still is drawn anew */
    STILL = 256,   /* nodes of it */
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
    bool **beside; /* of a variable that has whole numbers beside real ones:
                      which cells they are; or NULL */
};

static double logdensity(const struct standing *a, int chain)
{
    const struct rt_instance *in = &a->r->in;
    void *state = rt_state(in, a->states, chain);
    rt_refresh(in, state, chain);
    return rt_logdensity(in, state, false, a->r->rt->threads);
}

struct place {
    int variable;
    int64_t cell;
};

static const struct rt_slot *slot_of(const struct standing *a, struct place p)
{
    return &a->r->in.slots[p.variable];
}

static bool are_ints(const struct standing *a, struct place p)
{
    return a->r->in.model->variables[p.variable].integer;
}

static double value_at(const struct standing *a, int chain, struct place p)
{
    return rt_value(slot_of(a, p), are_ints(a, p), chain, p.cell);
}

static void set(const struct standing *a, int chain, struct place p, double x)
{
    rt_set_value(slot_of(a, p), are_ints(a, p), chain, p.cell, x);
}

/* The probability that the places, one or two, have these values, of the two
 * states, given all that is no auxiliary node. Leaves the state as it was, but
 * for what is derived. */
static double probability(const struct standing *a, int chain,
                          const struct place *at, const double *to, int n)
{
    double had[2];
    bool computed = false;
    for (int i = 0; i < n; i++) {
        had[i] = value_at(a, chain, at[i]);
        set(a, chain, at[i], to[i]);
    }
    const double lp = logdensity(a, chain);
    for (int i = n - 1; i >= 0; i--) {
        computed = computed || value_at(a, chain, at[i]) != to[i];
        set(a, chain, at[i], had[i]);
    }
    return !computed && isfinite(a->lp[chain]) && lp > -(double)INFINITY
               ? 1 / (1 + exp(a->lp[chain] - lp))
               : 0;
}

/* That of what `by` adds to the places' values where the chains ended, or of
 * their exchange. */
static double in_the_mean(const struct standing *a, const struct place *at,
                          const int *by, int n)
{
    double sum = 0;
    for (int c = 0; c < a->chains; c++) {
        double x[2], to[2];
        for (int i = 0; i < n; i++)
            x[i] = value_at(a, c, at[i]);
        for (int i = 0; i < n; i++)
            to[i] = by ? x[i] + by[i] : x[1 - i];
        if (by || x[0] != x[1])
            sum += probability(a, c, at, to, n);
    }
    return sum / a->chains;
}

/* Of the likelier of a place's neighbours. */
static double of_another(const struct standing *a, struct place p)
{
    const int down = -1, up = 1;
    return fmax(in_the_mean(a, &p, &down, 1), in_the_mean(a, &p, &up, 1));
}

/* Of neighbours that change together, or are exchanged. */
static double of_both(const struct standing *a, struct place p,
                      struct place other)
{
    const struct place both[2] = {p, other};
    double most =
        p.variable == other.variable ? in_the_mean(a, both, NULL, 2) : 0;
    for (int k = 0; k < 4; k++) {
        const int by[2] = {k & 1 ? 1 : -1, k & 2 ? 1 : -1};
        most = fmax(most, in_the_mean(a, both, by, 2));
    }
    return most;
}

static bool is_asked(const struct standing *a, struct place p)
{
    const struct rt_slot *slot = slot_of(a, p);
    const bool *beside = a->beside[p.variable];
    return (!slot->defined || slot->defined[p.cell]) &&
           !rt_seen(slot, p.cell) && !rt_barren(slot, p.cell) &&
           (!beside || beside[p.cell]);
}

/* Whether whole numbers are among its cells. */
static bool has_whole(const struct standing *a, int variable)
{
    const struct rt_instance *in = &a->r->in;
    const struct gbm_variable *v = &in->model->variables[variable];
    return v->role == GBM_STOCHASTIC && in->slots[variable].per_chain &&
           (v->integer || a->beside[variable]);
}

/* The cells of family f, which draws whole numbers in an array of real ones. */
static bool mark_beside(struct standing *a, int f, struct rt_cells *buffer)
{
    const struct rt_instance *in = &a->r->in;
    const struct gbm_family *fam = &in->model->families[f];
    const void *state = rt_state(in, a->states, 0);
    bool **beside = &a->beside[fam->variable];
    if (!*beside)
        *beside = calloc((size_t)in->slots[fam->variable].cells + 1, 1);
    for (int64_t e = 0; *beside && e < in->elements[f]; e++) {
        const int64_t n = rt_element_cells(fam, state, e, buffer);
        for (int64_t i = 0; i < n; i++)
            (*beside)[buffer->cells[i]] = true;
    }
    return *beside != NULL;
}

static bool find_beside(struct standing *a)
{
    const struct gbm_model *m = a->r->in.model;
    struct rt_cells buffer = {0};
    a->beside = calloc((size_t)m->nvariables + 1, sizeof *a->beside);
    bool found = a->beside != NULL;
    for (int f = 0; f < m->nfamilies && found; f++)
        if (m->families[f].stochastic && m->families[f].whole &&
            !m->variables[m->families[f].variable].integer)
            found = mark_beside(a, f, &buffer);
    free(buffer.cells);
    return found;
}

static void free_beside(struct standing *a)
{
    for (int v = 0; a->beside && v < a->r->in.model->nvariables; v++)
        free(a->beside[v]);
    free(a->beside);
}

/* A place that could change with p, and the probability; 0: there is none among
 * the first. */
static double of_some_two(const struct standing *a, struct place p,
                          struct place *other)
{
    const struct rt_instance *in = &a->r->in;
    int asked = 0;
    for (int v = 0; v < in->model->nvariables; v++)
        for (int64_t i = 0; has_whole(a, v) && i < in->slots[v].cells; i++) {
            if ((v == p.variable && i == p.cell) ||
                !is_asked(a, (struct place){v, i}))
                continue;
            if (asked++ == PARTNERS || rt_clock() > a->until)
                return 0;
            *other = (struct place){v, i};
            const double both = of_both(a, p, *other);
            if (both > likely)
                return both;
        }
    return 0;
}

static void tell(const struct standing *a, struct place p,
                 const struct place *other, double probable)
{
    const struct rt_instance *in = &a->r->in;
    char name[256], with[256];
    rt_cell_name(in, p.variable, p.cell, name, sizeof name);
    if (!other) {
        fprintf(a->r->notes,
                "warning: %s never changed, though given all else another "
                "value has probability %.2g: do not use these numbers. This is "
                "a fault of gbmc, not of the model or the data: please report "
                "it, with both\n",
                name, probable);
        return;
    }
    rt_cell_name(in, other->variable, other->cell, with, sizeof with);
    fprintf(a->r->notes,
            "warning: %s never changed, though given all else but %s other "
            "values of both have probability %.2g: each holds the other, and "
            "no step moves both. Do not use these numbers; say what ties them "
            "less strictly (0.999 for 1)\n",
            name, with, probable);
}

/* False: something was told. */
static bool look_at(const struct standing *a, const struct rt_monitor *m)
{
    const struct rt_chains *r = a->r;
    int asked = 0;
    for (int64_t i = 0; i < m->count && asked < ASKED && rt_clock() < a->until;
         i++) {
        const struct place p = {m->variable, m->cells ? m->cells[i] : i};
        if (!is_asked(a, p) || !stood_still(&r->draws, m->offset + i))
            continue;
        asked++;
        struct place other;
        const double alone = of_another(a, p);
        const double both = alone > likely ? 0 : of_some_two(a, p, &other);
        if (alone > likely || both > likely) {
            tell(a, p, alone > likely ? NULL : &other, fmax(alone, both));
            return false;
        }
    }
    return true;
}

/* ---- all that stood still --------------------------------------------------
 */

struct still {
    struct place at[STILL];
    double had[STILL];
    bool stood[STILL];
    int n, nstood;
    struct rt_cells buffer;
};

/* With those that did change, too, or without. */
static void list_still(const struct standing *a, struct still *all, bool every)
{
    const struct rt_chains *r = a->r;
    for (int k = 0; k < r->in.nmonitors; k++) {
        const struct rt_monitor *m = &r->in.monitors[k];
        for (int64_t i = 0;
             has_whole(a, m->variable) && i < m->count && all->n < STILL; i++) {
            const struct place p = {m->variable, m->cells ? m->cells[i] : i};
            const bool stood = stood_still(&r->draws, m->offset + i);
            if (!is_asked(a, p) || !(stood || every))
                continue;
            all->stood[all->n] = stood;
            all->nstood += stood;
            all->had[all->n] = value_at(a, 0, p);
            all->at[all->n++] = p;
        }
    }
}

static bool is_still(const struct still *all, int variable, int64_t cell)
{
    for (int i = 0; i < all->n; i++)
        if (all->at[i].variable == variable && all->at[i].cell == cell)
            return true;
    return false;
}

/* From their priors, parents first. */
static void draw_still(const struct standing *a, struct still *all, int number)
{
    const struct rt_instance *in = &a->r->in;
    void *state = rt_state(in, a->states, 0);
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        bool drew = false;
        if (!fam->stochastic || !fam->simulate || fam->no_draw ||
            !rt_draws_whole(in->model, f))
            continue;
        for (int64_t e = 0; e < in->elements[f] && rt_clock() < a->until; e++) {
            struct gbm_rng rng;
            if (rt_element_cells(fam, state, e, &all->buffer) != 1 ||
                !is_still(all, fam->variable, all->buffer.cells[0]))
                continue;
            gbm_rng_start(&rng, a->r->rt->options.seed, 0,
                          ANEW - (uint32_t)number, (uint32_t)f, (uint32_t)e);
            fam->simulate(state, &rng, e);
            drew = true;
        }
        if (drew)
            rt_refresh(in, state, 0);
    }
}

/* The first of them that has another value there, or NULL; the state is left as
 * it was, but for what is derived. */
static const struct place *put_back(const struct standing *a,
                                    const struct still *all)
{
    const struct place *first = NULL;
    for (int i = all->n - 1; i >= 0; i--) {
        const struct place *p = &all->at[i];
        if (all->stood[i] && value_at(a, 0, *p) != all->had[i])
            first = p;
        set(a, 0, *p, all->had[i]);
    }
    return first;
}

/* Whether all that stood still, drawn anew, may be another as well: as where
 * each of a path's states is the one before; or with every other whole number,
 * as where a label settles which values others have. False: it was told. */
static bool look_at_all(const struct standing *a, bool every)
{
    struct still all = {.n = 0};
    char name[256];
    bool fine = true;
    list_still(a, &all, every);
    for (int k = 0; k < DRAWN && fine && all.nstood && rt_clock() < a->until;
         k++) {
        draw_still(a, &all, k);
        const double lp = logdensity(a, 0);
        const struct place *other = put_back(a, &all);
        const double p = 1 / (1 + exp(a->lp[0] - lp));
        if (!other || !isfinite(a->lp[0]) || !(p > likely))
            continue;
        rt_cell_name(&a->r->in, other->variable, other->cell, name,
                     sizeof name);
        fprintf(a->r->notes,
                "warning: %s never changed, though with other values of all "
                "that never did, or of more, another has probability %.2g "
                "beside it: they hold each other, and no step moves all. Do "
                "not use these numbers; say "
                "what ties them less strictly (0.999 for 1)\n",
                name, p);
        fine = false;
    }
    free(all.buffer.cells);
    return fine;
}

/* Until something was told. */
static void look_at_each(const struct standing *a)
{
    const struct rt_instance *in = &a->r->in;
    bool fine = true;
    for (int k = 0; k < in->nmonitors && fine; k++)
        fine = !has_whole(a, in->monitors[k].variable) ||
               look_at(a, &in->monitors[k]);
    if (fine && look_at_all(a, false))
        look_at_all(a, true);
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
    if (a.states && find_beside(&a) && rt->device->get(rt) == GBM_OK) {
        for (int c = 0; c < a.chains; c++)
            a.lp[c] = logdensity(&a, c);
        look_at_each(&a);
        for (int c = 0; c < a.chains; c++)
            rt_refresh(in, rt_state(in, a.states, c), c);
    }
    free_beside(&a);
    free(a.states);
}
