/* predict.c: simulate --from FIT: the parameters have the values of each draw
 * of an earlier run, and what that run has no draws of is drawn forward given
 * them: outcomes of new rows, effects of new groups. */
#include "simulate/simulate.h"
#include "io/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A cell whose value is that of a place in the fit's records. */
struct taken {
    int64_t cell, place;
};

/* Of cells: a distribution defines it; and it is taken. */
enum { RANDOM = 1, TAKEN = 2 };

/* A variable's. */
struct share {
    struct taken *taken; /* [ntaken], or NULL */
    int64_t ntaken;
    unsigned char *kind; /* [cells], or NULL */
    bool drawn;          /* some cell is drawn forward */
};

struct prediction {
    struct rt *rt;
    struct gbm_data data;
    struct rt_instance in;
    struct gbm_draws fit, draws;
    struct share *of; /* [nvariables] */
    bool given;       /* the data have values of random variables */
    char *states;
    struct gbm_missing missing;
};

/* --anew names what this model draws. */
static enum gbm_status check_anew(struct rt *rt, const struct gbm_model *m)
{
    const char *list = rt->options.anew;
    size_t n;
    for (const char *at; (at = rt_next_name(&list, &n));) {
        bool random = false;
        for (int v = 0; v < m->nvariables && !random; v++)
            random = m->variables[v].role == GBM_STOCHASTIC &&
                     strlen(m->variables[v].name) == n &&
                     strncmp(m->variables[v].name, at, n) == 0;
        if (!random)
            return rt_fail(rt, GBM_USER_ERROR,
                           "--anew %.*s: no random variable of the model has "
                           "this name",
                           (int)n, at);
    }
    return GBM_OK;
}

/* The flat cell in the fit's array of a cell of the slot, by its subscripts, as
 * arrays may have grown; -1: it is outside. */
static int64_t cell_there(const struct gbm_draws_variable *from,
                          const struct gbm_variable *variable,
                          const struct rt_slot *slot, int64_t cell)
{
    int64_t flat = 0, scale = 1, rest = cell;
    if (from->ndim != variable->ndim)
        return -1;
    for (int d = variable->ndim - 1; d >= 0; d--) {
        const int64_t at = rest % slot->dim[d];
        rest /= slot->dim[d];
        if (at >= from->dim[d])
            return -1;
        flat += at * scale;
        scale *= from->dim[d];
    }
    return flat;
}

static int ascending(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Its place in the fit's records; -1: it has no draws there. */
static int64_t place_of(const struct gbm_draws_variable *from, int64_t flat)
{
    if (flat < 0 || !from->cells)
        return flat < 0 ? -1 : from->offset + flat;
    const int64_t *found = bsearch(&flat, from->cells, (size_t)from->count,
                                   sizeof flat, ascending);
    return found ? from->offset + (found - from->cells) : -1;
}

int64_t rt_draws_place(const struct gbm_draws *fit,
                       const struct gbm_variable *variable,
                       const struct rt_slot *slot, int64_t cell)
{
    const struct gbm_draws_variable *from = gbm_draws_find(
        fit, variable->names ? variable->names[cell] : variable->name);
    if (!from)
        return -1;
    return variable->names
               ? from->offset
               : place_of(from, cell_there(from, variable, slot, cell));
}

/* Whether some elements were data of the fit: then all are of its rows. */
static bool was_data(const struct prediction *p, int v,
                     const struct gbm_draws_variable *from)
{
    const struct rt_slot *slot = &p->in.slots[v];
    for (int64_t i = 0; from->filled && i < slot->cells; i++) {
        const int64_t flat =
            cell_there(from, &p->in.model->variables[v], slot, i);
        if (p->of[v].kind[i] == RANDOM && flat >= 0 &&
            place_of(from, flat) < 0 && !isnan(from->filled[flat]))
            return true;
    }
    return false;
}

/* What of the variable is taken: nothing of data. */
static enum gbm_status take(struct prediction *p, int v)
{
    const struct gbm_variable *variable = &p->in.model->variables[v];
    struct rt_slot *slot = &p->in.slots[v];
    const struct gbm_draws_variable *from =
        variable->names ? NULL : gbm_draws_find(&p->fit, variable->name);
    if (!p->of[v].kind || variable->observed ||
        rt_is_listed(p->rt->options.anew, variable->name) ||
        (from ? was_data(p, v, from) : !variable->names))
        return GBM_OK;
    p->of[v].taken = calloc((size_t)slot->cells + 1, sizeof *p->of[v].taken);
    if (!p->of[v].taken)
        return rt_fail(p->rt, GBM_FAILURE, "no memory");
    for (int64_t i = 0; i < slot->cells; i++) {
        const int64_t place = rt_draws_place(&p->fit, variable, slot, i);
        if (place < 0 || p->of[v].kind[i] != RANDOM || rt_seen(slot, i))
            continue;
        p->of[v].taken[p->of[v].ntaken++] = (struct taken){i, place};
        p->of[v].kind[i] = TAKEN;
    }
    return GBM_OK;
}

/* Notes which cells distributions define, and whether data give some. */
static enum gbm_status find_random(struct prediction *p)
{
    const struct gbm_model *m = p->in.model;
    struct rt_cells buffer = {0};
    bool ok = true;
    for (int f = 0; ok && f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        const int v = fam->variable;
        if (!fam->stochastic || fam->data_block || fam->auxiliary)
            continue;
        if (!p->of[v].kind)
            p->of[v].kind = calloc((size_t)p->in.slots[v].cells + 1, 1);
        ok = p->of[v].kind != NULL;
        for (int64_t e = 0; ok && e < p->in.elements[f]; e++) {
            const int64_t n = rt_element_cells(fam, p->states, e, &buffer);
            for (int64_t i = 0; i < n; i++)
                p->of[v].kind[buffer.cells[i]] = RANDOM;
            for (int64_t i = 0; i < n; i++)
                p->given =
                    p->given || rt_seen(&p->in.slots[v], buffer.cells[i]);
        }
    }
    free(buffer.cells);
    return ok ? GBM_OK : rt_fail(p->rt, GBM_FAILURE, "no memory");
}

/* A parameter's prior is not its posterior; and a forward draw knows nothing of
 * what is given and depends on it. Before what is taken counts as seen. */
static enum gbm_status check_forward(struct prediction *p, const void *state,
                                     int f, int64_t e, struct rt_cells *buffer)
{
    const struct gbm_family *fam = &p->in.model->families[f];
    const struct gbm_variable *variable =
        &p->in.model->variables[fam->variable];
    const char *fit = p->rt->options.from;
    char name[256];
    rt_element_name(&p->in, state, f, e, name, sizeof name);
    const struct gbm_draws_variable *from =
        variable->names ? NULL : gbm_draws_find(&p->fit, variable->name);
    if (!variable->observed && !p->of[fam->variable].ntaken &&
        !rt_is_listed(p->rt->options.anew, variable->name))
        return rt_fail(p->rt, GBM_USER_ERROR,
                       "%s: %s has no draws in %s%s, or let it be drawn from "
                       "its distribution (--anew %s)\n    %s",
                       fam->where, name, fit,
                       from && was_data(p, fam->variable, from)
                           ? " but for its own rows, as some of its elements "
                             "were data there: give it"
                           : ": keep them there (run --monitor)",
                       variable->name, fam->text);
    if (p->given && !rt_drawn_forward(&p->in, state, f, e, buffer))
        return rt_fail(p->rt, GBM_USER_ERROR,
                       "%s: %s has no draws in %s, and what the data give may "
                       "depend on it; leave out of the data what is to be "
                       "predicted\n    %s",
                       fam->where, name, fit, fam->text);
    return GBM_OK;
}

static enum gbm_status check_drawn(struct prediction *p, const void *state,
                                   int f, int64_t e, struct rt_cells *buffer)
{
    const struct gbm_family *fam = &p->in.model->families[f];
    const int v = fam->variable;
    const int64_t n = rt_element_cells(fam, state, e, buffer);
    int64_t known = 0;
    for (int64_t i = 0; i < n; i++)
        known += rt_seen(&p->in.slots[v], buffer->cells[i]) ||
                 p->of[v].kind[buffer->cells[i]] == TAKEN;
    if (known == n)
        return GBM_OK;
    p->of[v].drawn = true;
    return check_forward(p, state, f, e, buffer);
}

/* What is taken is not drawn, as if it were data. */
static enum gbm_status count_as_seen(struct prediction *p)
{
    for (int v = 0; v < p->in.model->nvariables; v++) {
        struct rt_slot *slot = &p->in.slots[v];
        if (p->of[v].ntaken && !slot->seen)
            slot->seen = calloc((size_t)slot->cells + 1, 1);
        if (p->of[v].ntaken && !slot->seen)
            return rt_fail(p->rt, GBM_FAILURE, "no memory");
        for (int64_t k = 0; k < p->of[v].ntaken; k++)
            slot->seen[p->of[v].taken[k].cell] = RT_SEEN;
    }
    return GBM_OK;
}

/* Settles what is taken and what is drawn. */
static enum gbm_status divide(struct prediction *p)
{
    const struct gbm_model *m = p->in.model;
    struct rt_cells buffer = {0};
    int64_t all = 0;
    enum gbm_status s = check_anew(p->rt, m);
    if (s == GBM_OK)
        s = find_random(p);
    for (int v = 0; s == GBM_OK && v < m->nvariables; v++) {
        s = take(p, v);
        all += p->of[v].ntaken;
    }
    if (s == GBM_OK && all == 0)
        s = rt_fail(p->rt, GBM_USER_ERROR,
                    "--from %s: none of its draws is of a parameter of the "
                    "model %s",
                    p->rt->options.from, m->name);
    for (int f = 0; s == GBM_OK && f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        if (!fam->stochastic || fam->data_block || fam->auxiliary)
            continue;
        for (int64_t e = 0; s == GBM_OK && e < p->in.elements[f]; e++)
            s = check_drawn(p, p->states, f, e, &buffer);
    }
    free(buffer.cells);
    return s == GBM_OK ? count_as_seen(p) : s;
}

/* Unasked, what is drawn is kept. */
static enum gbm_status monitor(struct prediction *p)
{
    const int n = p->in.model->nvariables;
    bool *wanted = calloc((size_t)n + 1, sizeof *wanted), any = false;
    if (!wanted)
        return rt_fail(p->rt, GBM_FAILURE, "no memory");
    for (int v = 0; v < n; v++) {
        wanted[v] = p->of[v].drawn;
        any = any || wanted[v];
    }
    enum gbm_status s =
        any || p->rt->options.monitor
            ? rt_monitor_those(p->rt, &p->in, wanted)
            : rt_fail(p->rt, GBM_USER_ERROR,
                      "there is nothing to predict: the data give all that %s "
                      "has no draws of; leave out of the data what is to be "
                      "predicted",
                      p->rt->options.from);
    free(wanted);
    return s;
}

static void say(const struct prediction *p)
{
    const struct gbm_model *m = p->in.model;
    if (p->rt->options.quiet)
        return;
    for (int pass = 0; pass < 2; pass++) {
        const char *before = "";
        fprintf(stderr, pass ? "; drawn given them: " : "From %s: ",
                p->rt->options.from);
        for (int v = 0; v < m->nvariables; v++)
            if (pass ? p->of[v].drawn : p->of[v].ntaken > 0) {
                fprintf(stderr, "%s%s", before, m->variables[v].name);
                before = ", ";
            }
    }
    fprintf(stderr, "\n");
}

static enum gbm_status prepare(struct prediction *p)
{
    struct rt *rt = p->rt;
    char error[GBM_ERROR];
    enum gbm_status s = gbm_draws_read(&p->fit, rt->options.from, error);
    if (s != GBM_OK)
        return rt_fail(rt, s, "%s", error);
    if (p->fit.kept == 0)
        return rt_fail(rt, GBM_USER_ERROR, "--from %s: it has no draws",
                       rt->options.from);
    rt->options.chains = p->fit.chains;
    s = rt_load_free(rt, &p->data, &p->in, false);
    if (s == GBM_OK)
        s = rt_check_draws(rt, &p->in);
    if (s != GBM_OK)
        return s;
    const size_t n = (size_t)p->in.model->nvariables + 1;
    p->of = calloc(n, sizeof *p->of);
    p->states = rt_states_create(&p->in);
    if (!p->of || !p->states)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    s = divide(p);
    if (s == GBM_OK)
        s = monitor(p);
    if (s == GBM_OK)
        s = rt_monitor_draws(rt, &p->in, &p->data, &p->draws);
    for (int k = 0; s == GBM_OK && k < p->in.nmonitors; k++)
        if (p->in.model->variables[p->in.monitors[k].variable].observed)
            p->draws.variables[k].group = GBM_POSTERIOR_PREDICTIVE;
    if (s == GBM_OK &&
        gbm_draws_allocate(&p->draws, p->fit.chains, p->fit.kept) != GBM_OK)
        s = rt_fail(rt, GBM_FAILURE, "no memory for the draws");
    return s;
}

static void predict_draw(struct prediction *p, int chain, int draw,
                         struct rt_cells *buffer)
{
    const struct gbm_model *m = p->in.model;
    const double *record = gbm_draws_record(&p->fit, chain, draw);
    void *state = rt_state(&p->in, p->states, chain);
    for (int v = 0; v < m->nvariables; v++)
        for (int64_t k = 0; k < p->of[v].ntaken; k++)
            rt_set_value(&p->in.slots[v], m->variables[v].integer, chain,
                         p->of[v].taken[k].cell,
                         record[p->of[v].taken[k].place]);
    rt_draw_latent(p->rt, &p->in, state, chain, (uint32_t)chain,
                   (uint32_t)draw);
    rt_count_missing(&p->missing, &p->in, state, chain, draw, buffer);
    rt_store_draw(&p->in, &p->draws, chain, draw);
}

static void predict_all(struct prediction *p)
{
#pragma omp parallel for num_threads(p->rt->threads) schedule(dynamic)
    for (int c = 0; c < p->fit.chains; c++) {
        struct rt_cells buffer = {0};
        for (int i = 0; i < p->fit.kept; i++)
            predict_draw(p, c, i, &buffer);
        free(buffer.cells);
    }
    p->draws.kept = p->fit.kept;
    p->draws.complete = p->fit.complete;
}

int rt_predict(struct rt *rt)
{
    struct prediction p = {.rt = rt};
    gbm_draws_init(&p.fit);
    gbm_draws_init(&p.draws);
    if (prepare(&p) == GBM_OK) {
        say(&p);
        predict_all(&p);
        rt_deliver(rt, &p.draws);
        rt_report_missing(rt, &p.missing);
    }
    for (int v = 0; p.of && v < p.in.model->nvariables; v++) {
        free(p.of[v].taken);
        free(p.of[v].kind);
    }
    free(p.of);
    free(p.states);
    gbm_draws_free(&p.fit);
    gbm_draws_free(&p.draws);
    if (p.in.model)
        rt_instance_free(&p.in);
    gbm_data_free(&p.data);
    return rt_report(rt);
}
