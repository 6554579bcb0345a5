/* along_joint.c: what moves along lines, and the joint density in which it
 * does: which numbers, which terms and definitions follow them, what a move
 * costs beside a sweep. */
#include "host/along.h"
#include "load/load.h"

#include <math.h>
#include <stdlib.h>

/* In operations, as phases count them: a density, a definition or a number that
 * is set, beside what it computes; an element's draw beside its phases. */
enum { OF_CALL = 10, OF_DRAW = 40 };
/* A step that tries values counts what it does for two of each element. It
 * tries five or so, and does once for all of them what they share. */
#define OF_SEARCH 1.5

/* ---- what moves ---- */

double along_value(const struct host_along *a, int chain, int k)
{
    const struct along_place *p = &a->place[k];
    return rt_value(&a->in->slots[p->variable],
                    a->in->model->variables[p->variable].integer, chain,
                    p->cell);
}

void along_set(const struct host_along *a, int chain, int k, double x)
{
    const struct along_place *p = &a->place[k];
    rt_set_value(&a->in->slots[p->variable],
                 a->in->model->variables[p->variable].integer, chain, p->cell,
                 x);
}

/* Whether samplers { } says how the elements of a family are drawn. */
static bool is_asked(const struct gbm_model *m, int f)
{
    for (int k = 0; k < m->nsteps; k++) {
        const struct gbm_step *s = &m->steps[k];
        const int n = s->joint     ? s->joint->nfamilies
                      : s->members ? s->nmembers
                                   : 1;
        const int *families = s->joint     ? s->joint->families
                              : s->members ? s->members
                                           : &s->family;
        for (int i = 0; i < n && s->asked; i++)
            if (families[i] == f)
                return true;
    }
    return false;
}

/* False: there are too many. */
static bool add_places(struct host_along *a, const void *state, int f,
                       int64_t element, struct rt_cells *buffer)
{
    const struct gbm_family *family = &a->in->model->families[f];
    const struct rt_slot *slot = &a->in->slots[family->variable];
    const int64_t n = rt_element_cells(family, state, element, buffer);
    for (int64_t i = 0; i < n; i++) {
        if (rt_seen(slot, buffer->cells[i]))
            continue;
        if (a->seen == ALONG_CELLS)
            return false;
        a->whole[a->seen] = family->counts;
        a->place[a->seen++] = (struct along_place){.variable = family->variable,
                                                   .family = f,
                                                   .cell = buffer->cells[i],
                                                   .element = element};
    }
    return true;
}

/* Whether elements of a family are numbers that chains draw; not categories,
 * which have no order. */
static bool is_drawn(const struct host_along *a, int f)
{
    const struct gbm_family *family = &a->in->model->families[f];
    const struct gbm_variable *v = &a->in->model->variables[family->variable];
    return family->stochastic && !family->data_block && !family->auxiliary &&
           (!rt_draws_whole(a->in->model, f) || family->counts) &&
           v->role == GBM_STOCHASTIC &&
           a->in->slots[family->variable].per_chain;
}

/* Whether lines may move them. */
static bool is_free(const struct host_along *a, int f)
{
    return is_drawn(a, f) &&
           a->in->model->families[f].support == GBM_SUPPORT_ANY &&
           !is_asked(a->in->model, f);
}

/* Of one family: what is recomputed, what has a density, and which numbers
 * move. */
static bool list_family(struct host_along *a, const void *state, int f,
                        struct rt_cells *buffer)
{
    const struct gbm_family *family = &a->in->model->families[f];
    const int64_t n = a->in->elements[f];
    for (int64_t e = 0; rt_is_read(a->in->model, f) && e < n; e++) {
        a->derived[a->nderived++] = (struct along_item){f, e};
        if (family->refresh) /* which recomputes them all */
            break;
    }
    if (!family->stochastic || family->data_block)
        return true;
    const bool moves = is_free(a, f) && !family->counts;
    bool fits = !(family->summands && n > 0); /* which hold a sum */
    for (int64_t e = 0; e < n && fits; e++) {
        if (rt_counts_for_nothing(a->in, state, f, e, buffer))
            continue;
        if (!family->augmented)
            a->terms[a->nterms++] = (struct along_item){f, e};
        fits = !moves || add_places(a, state, f, e, buffer);
    }
    return fits;
}

/* Counts of a family, if there is room for all of them. */
static void list_moved(struct host_along *a, const void *state, int f,
                       struct rt_cells *buffer)
{
    const int had = a->seen;
    bool fits = true;
    for (int64_t e = 0; e < a->in->elements[f] && fits; e++)
        if (!rt_counts_for_nothing(a->in, state, f, e, buffer))
            fits = add_places(a, state, f, e, buffer);
    if (!fits)
        a->seen = had;
}

bool along_list(struct host_along *a, const void *state)
{
    const struct gbm_model *m = a->in->model;
    struct rt_cells buffer = {0};
    bool fits = true;
    for (int f = 0; f < m->nfamilies && fits; f++)
        fits = list_family(a, state, f, &buffer);
    a->n = a->seen;
    free(buffer.cells);
    return fits && a->n > 1;
}

void along_list_moved_counts(struct host_along *a, const void *state)
{
    struct rt_cells buffer = {0};
    for (int f = 0; f < a->in->model->nfamilies; f++)
        if (a->in->model->families[f].counts && is_free(a, f) &&
            !along_sums_out(a, f))
            list_moved(a, state, f, &buffer);
    a->n = a->seen;
    free(buffer.cells);
}

void along_list_others(struct host_along *a, const void *state)
{
    const struct gbm_model *m = a->in->model;
    struct rt_cells buffer = {0};
    bool fits = true;
    for (int f = 0; f < m->nfamilies && fits; f++)
        for (int64_t e = 0; e < a->in->elements[f] && fits; e++)
            if (is_drawn(a, f) && !is_free(a, f) && !m->families[f].counts &&
                !rt_drawn_forward(a->in, state, f, e, &buffer))
                fits = add_places(a, state, f, e, &buffer);
    free(buffer.cells);
}

void along_find_positive(struct host_along *a, const void *state)
{
    for (int k = 0; k < a->n; k++) {
        const struct gbm_family *family =
            &a->in->model->families[a->place[k].family];
        const double x = along_value(a, 0, k);
        if (!(x > 0 || (x == 0 && a->whole[k])))
            continue;
        along_set(a, 0, k, a->whole[k] ? -x - 1 : -x);
        a->positive[k] =
            !isfinite(family->logdensity(state, a->place[k].element));
        along_set(a, 0, k, x);
    }
}

/* ---- what it costs ---- */

static double work_of(const struct rt_instance *in, const struct gbm_step *s,
                      const void *state)
{
    double all = 0, *counts = rt_step_work(s, state);
    const double *at = counts;
    for (int i = 0; counts && i < s->nphases; i++) {
        all += at[GBM_WORK_OPERATIONS];
        at = rt_next_phase(&s->phases[i], at);
    }
    free(counts);
    const int64_t drawn = s->whole ? 1 : in->steps[s->number].count;
    return (s->trials ? OF_SEARCH : 1) * all + OF_DRAW * (double)drawn;
}

static double work_of_items(const struct rt_instance *in,
                            const struct along_item *items, int64_t n,
                            const double *works)
{
    double all = 0;
    for (int64_t i = 0; i < n; i++) {
        const int f = items[i].family;
        const bool whole = in->model->families[f].refresh != NULL;
        all += OF_CALL + works[f] / (whole ? 1 : (double)in->elements[f]);
    }
    return all;
}

double along_cost(const struct host_along *a, const void *state)
{
    const struct gbm_model *m = a->in->model;
    double sweep = 1, density = OF_CALL * (double)a->n;
    double *works = calloc((size_t)m->nfamilies + 1, sizeof *works);
    if (!works)
        return (double)INFINITY; /* no line pays */
    m->family_work(state, works);
    density += work_of_items(a->in, a->terms, a->nterms, works);
    density += work_of_items(a->in, a->derived, a->nderived, works);
    density += along_cost_of_summed(a);
    free(works);
    for (int k = 0; k < m->nsteps; k++)
        if (a->in->steps[k].active && !m->steps[k].leaf && m->steps[k].work)
            sweep += work_of(a->in, &m->steps[k], state);
    return ALONG_TRIALS * density / sweep;
}
