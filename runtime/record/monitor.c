/* monitor.c: what is kept of a draw. */
#include "record/record.h"
#include "record/marks.h"
#include "options/method.h"
#include "io/data.h"

#include <stdlib.h>
#include <string.h>

/* Without --monitor: variables up to this many cells in all are kept. */
#define SMALL 10000
#define SMALL_DERIVED 1000
#define SMALL_BYTES (2e9)    /* of all draws */
#define MOST_CATEGORIES 1000 /* whose values are counted */
#define COUNT_BYTES (1e9)    /* the same unasked, of a variable */

struct chooser {
    struct rt *rt;
    struct rt_instance *in;
    const struct gbm_model *model;
    FILE *notes;
};

static int64_t drawn_cells(const struct rt_slot *slot)
{
    int64_t n = 0;
    if (!slot->seen && !slot->defined)
        return slot->cells;
    for (int64_t i = 0; i < slot->cells; i++)
        n += rt_may_keep_cell(slot, i);
    return n;
}

/* Adds a monitor of the cells that `wanted` marks (NULL: all that is drawn). */
static enum gbm_status add_cells(struct chooser *c, int v,
                                 const unsigned char *wanted)
{
    struct rt_instance *in = c->in;
    const struct rt_slot *slot = &in->slots[v];
    int64_t n = 0;
    for (int64_t i = 0; i < slot->cells; i++)
        n += rt_may_keep_cell(slot, i) && (!wanted || wanted[i]);
    if (n == 0)
        return GBM_OK;
    struct rt_monitor *more = realloc(
        in->monitors, ((size_t)in->nmonitors + 1) * sizeof *in->monitors);
    if (!more)
        return rt_fail(c->rt, GBM_FAILURE, "no memory");
    in->monitors = more;
    struct rt_monitor m = {.variable = v, .count = n, .offset = in->row};
    if (n < slot->cells) {
        m.cells = malloc((size_t)n * sizeof *m.cells);
        if (!m.cells)
            return rt_fail(c->rt, GBM_FAILURE, "no memory");
        int64_t k = 0;
        for (int64_t i = 0; i < slot->cells; i++)
            if (rt_may_keep_cell(slot, i) && (!wanted || wanted[i]))
                m.cells[k++] = i;
    }
    in->monitors[in->nmonitors++] = m;
    in->row += n;
    return GBM_OK;
}

/* The same; scalars with names of their own are variables of the draws. */
static enum gbm_status add(struct chooser *c, int v,
                           const unsigned char *wanted)
{
    int64_t n = c->in->slots[v].cells;
    if (!c->model->variables[v].names)
        return add_cells(c, v, wanted);
    unsigned char *one = calloc((size_t)n + 1, 1);
    enum gbm_status s = one ? GBM_OK : rt_fail(c->rt, GBM_FAILURE, "no memory");
    for (int64_t i = 0; i < n && s == GBM_OK; i++) {
        one[i] = 1;
        if (!wanted || wanted[i])
            s = add_cells(c, v, one);
        one[i] = 0;
    }
    free(one);
    return s;
}

/* ---- --monitor LIST ---- */

static enum gbm_status add_list(struct chooser *c, const char *option,
                                const char *list, bool *deviance)
{
    struct rt_marks marks;
    enum gbm_status s =
        rt_marks_read(c->rt, c->in, option, list, c->notes, &marks, deviance);
    for (int k = 0; k < marks.count && s == GBM_OK; k++)
        s = add(c, marks.order[k], marks.cells[marks.order[k]]);
    rt_marks_free(c->in, &marks);
    return s;
}

/* ---- without --monitor ---- */

/* Stochastic variables first, in the model's order, as long as it is small;
 * then derived ones. */
static enum gbm_status add_small(struct chooser *c)
{
    struct rt_instance *in = c->in;
    const struct rt_options *o = &c->rt->options;
    const int chains = o->chains / o->beside; /* whose draws are kept */
    double per_cell = 8.0 * chains * ((o->planned - 1) / o->thin + 1);
    int64_t limit = SMALL;
    if (per_cell * (double)limit > SMALL_BYTES)
        limit = (int64_t)(SMALL_BYTES / per_cell) + 1;
    enum gbm_status s = GBM_OK;
    for (int pass = 0; pass < 2; pass++)
        for (int v = 0; v < c->model->nvariables && s == GBM_OK; v++) {
            const struct gbm_variable *variable = &c->model->variables[v];
            bool derived = variable->role == GBM_DERIVED;
            if (!rt_may_keep(in, v) || derived != (pass == 1))
                continue;
            int64_t n = drawn_cells(&in->slots[v]);
            if (n == 0)
                continue;
            if (variable->names ||
                (in->row + n <= limit && (!derived || n <= SMALL_DERIVED))) {
                s = add(c, v, NULL);
            }
        }
    return s;
}

/* ---- moments ---- */

/* Whether leaf steps or derivations, which are for kept sweeps, give a variable
 * its values; of its barren elements they do in any case. */
static bool is_late(const struct rt_instance *in, int v)
{
    const struct gbm_model *m = in->model;
    for (int f = 0; f < m->nfamilies; f++)
        if (m->families[f].variable == v && !m->families[f].stochastic &&
            !m->families[f].data_block)
            return true;
    for (int k = 0; k < m->nsteps; k++) {
        const struct gbm_step *step = &m->steps[k];
        if (!step->leaf || !in->steps[k].active || step->kind != GBM_STEP_MAP ||
            m->variables[v].barren)
            continue;
        bool drawn = m->families[step->family].variable == v;
        for (int i = 0; i < step->nmembers; i++)
            drawn = drawn || m->families[step->members[i]].variable == v;
        if (drawn)
            return true;
    }
    return false;
}

/* How many values the cells of a categorical variable have; 0: it is none, or
 * they are too many to be counted. */
static int categories_of(const struct chooser *c, int v)
{
    const struct gbm_model *m = c->model;
    int64_t most = 0;
    void *state = calloc(1, m->state_size + 1);
    if (!state)
        return 0;
    rt_bind(c->in, state, 0);
    for (int f = 0; f < m->nfamilies; f++) {
        const struct gbm_family *family = &m->families[f];
        if (family->variable != v || family->data_block)
            continue;
        if (!family->categories)
            most = MOST_CATEGORIES + 1;
        for (int64_t e = 0; family->categories && e < c->in->elements[f]; e++) {
            int64_t n = family->categories(state, e);
            most = n > most ? n : most;
        }
    }
    free(state);
    return most <= MOST_CATEGORIES ? (int)most : 0;
}

/* Tells the moments of the cells that `asked` marks, or if it is NULL of all
 * that are not monitored; of barren ones if `late`. */
static enum gbm_status add_moments(struct chooser *c, int v,
                                   const unsigned char *asked, bool late)
{
    struct rt_instance *in = c->in;
    struct rt_slot *slot = &in->slots[v];
    free(slot->told);
    slot->told = malloc((size_t)slot->cells + 1);
    if (!slot->told)
        return rt_fail(c->rt, GBM_FAILURE, "no memory");
    for (int64_t i = 0; i < slot->cells; i++)
        slot->told[i] = rt_may_keep_cell(slot, i) && (!asked || asked[i]) &&
                        (late || !rt_barren(slot, i));
    for (int k = 0; k < in->nmonitors && !asked; k++) {
        const struct rt_monitor *m = &in->monitors[k];
        for (int64_t i = 0; i < m->count && m->variable == v; i++)
            slot->told[m->cells ? m->cells[i] : i] = 0;
    }
    if (!memchr(slot->told, 1, (size_t)slot->cells))
        return GBM_OK;
    slot->moments = in->has_moments = true;
    slot->categories = categories_of(c, v);
    in->moments_late = in->moments_late || is_late(in, v);
    for (int64_t i = 0; i < slot->cells && !in->moments_late; i++)
        in->moments_late = slot->told[i] && rt_barren(slot, i);
    return GBM_OK;
}

/* Without --moments: where the sweep has the values at hand. A number's moments
 * cost a small part of its draw; a derived variable would be computed for
 * them. */
static bool at_hand(const struct chooser *c, int v)
{
    if (c->model->variables[v].role != GBM_STOCHASTIC)
        return false;
    double each = sizeof(unsigned) * (double)categories_of(c, v);
    if (each * (double)c->in->slots[v].cells * c->in->nchains > COUNT_BYTES)
        return false;
    return c->rt->options.thin == 1 || !is_late(c->in, v);
}

/* Of what a device sums up over sweeps. */
static bool runs_chains(const struct rt_options *o)
{
    return o->command == RT_RUN && o->method && o->method->chains;
}

static enum gbm_status choose_moments(struct chooser *c)
{
    const char *list = c->rt->options.moments;
    struct rt_marks marks = {0};
    enum gbm_status s = GBM_OK;
    if (list && strcmp(list, "none") == 0)
        return GBM_OK;
    if (!runs_chains(&c->rt->options))
        return list ? rt_fail(c->rt, GBM_USER_ERROR,
                              "--moments is for run by Markov chains")
                    : GBM_OK;
    const bool named = list && strcmp(list, "all") != 0;
    if (named)
        s = rt_marks_read(c->rt, c->in, "--moments", list, c->notes, &marks,
                          NULL);
    for (int v = 0; v < c->model->nvariables && s == GBM_OK; v++)
        if (rt_may_keep(c->in, v) &&
            (named ? marks.cells[v] != NULL : list || at_hand(c, v)))
            s = add_moments(c, v, named ? marks.cells[v] : NULL,
                            list || c->rt->options.thin == 1);
    rt_marks_free(c->in, &marks);
    return s;
}

/* What is too large to be monitored unasked. */
static void note_left_out(const struct chooser *c)
{
    for (int v = 0; v < c->model->nvariables; v++) {
        const struct rt_slot *slot = &c->in->slots[v];
        bool monitored = false;
        for (int k = 0; k < c->in->nmonitors; k++)
            monitored = monitored || c->in->monitors[k].variable == v;
        if (!rt_may_keep(c->in, v) || monitored || drawn_cells(slot) == 0)
            continue;
        fprintf(c->notes,
                slot->moments
                    ? "note: of %s (%lld values) only means and standard "
                      "deviations are kept; --monitor keeps draws\n"
                    : "note: %s (%lld values) is not kept; --monitor keeps "
                      "draws, --moments means\n",
                c->model->variables[v].name, (long long)drawn_cells(slot));
    }
}

/* ---- derived families that kept draws need ---- */

/* Monitored ones; and those that are read, where leaves that are drawn after
 * the sweep's steps may have changed them. */
static enum gbm_status list_kept_families(struct chooser *c)
{
    const struct gbm_model *m = c->model;
    struct rt_instance *in = c->in;
    bool leaves = false;
    in->kept_families =
        malloc(((size_t)m->nfamilies + 1) * sizeof *in->kept_families);
    if (!in->kept_families)
        return rt_fail(c->rt, GBM_FAILURE, "no memory");
    for (int k = 0; k < m->nsteps; k++)
        leaves = leaves || (m->steps[k].leaf && in->steps[k].active);
    for (int f = 0; f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        bool wanted = leaves && rt_is_read(m, f);
        for (int k = 0; k < in->nmonitors; k++)
            wanted = wanted || in->monitors[k].variable == fam->variable;
        wanted = wanted || in->slots[fam->variable].moments;
        if (fam->stochastic || fam->data_block || !wanted)
            continue;
        in->kept_families[in->nkept_families++] = f;
    }
    return GBM_OK;
}

enum gbm_status rt_monitor(struct rt *rt, struct rt_instance *in, FILE *notes)
{
    struct chooser c = {.rt = rt, .in = in, .model = in->model, .notes = notes};
    const char *list = rt->options.monitor;
    enum gbm_status s =
        list ? add_list(&c, "--monitor", list, &in->deviance) : add_small(&c);
    if (s == GBM_OK && in->deviance && rt->options.command != RT_SBC &&
        (rt->options.command != RT_RUN || !rt->options.method->chains))
        return rt_fail(rt, GBM_USER_ERROR,
                       "--monitor deviance is for run, with a method "
                       "that runs chains: it is that of data");
    if (s == GBM_OK)
        s = choose_moments(&c);
    if (s == GBM_OK && !list && notes)
        note_left_out(&c);
    const bool unasked = list && !rt->options.moments;
    if (s == GBM_OK && in->row == 0 && (unasked || !in->has_moments) &&
        !in->deviance)
        s = rt_fail(rt, GBM_USER_ERROR,
                    list ? "--monitor names nothing that is drawn"
                         : "there is nothing to draw: all variables have data "
                           "or follow from them");
    return s == GBM_OK ? list_kept_families(&c) : s;
}

enum gbm_status rt_monitor_named(struct rt *rt, struct rt_instance *in,
                                 const char *option, const char *list,
                                 FILE *notes)
{
    struct chooser c = {.rt = rt, .in = in, .model = in->model, .notes = notes};
    return add_list(&c, option, list, NULL);
}

/* ---- the draws' table of contents ---- */

static enum gbm_status add_draws(const struct rt_instance *in,
                                 const struct rt_monitor *m,
                                 struct gbm_draws *draws)
{
    const struct gbm_variable *v = &in->model->variables[m->variable];
    const struct rt_slot *slot = &in->slots[m->variable];
    if (v->names)
        return gbm_draws_add_variable(draws, v->names[m->cells ? *m->cells : 0],
                                      0, slot->dim, v->integer);
    if (!m->cells)
        return gbm_draws_add_variable(draws, v->name, v->ndim, slot->dim,
                                      v->integer);
    double *filled = malloc((size_t)slot->cells * sizeof *filled);
    if (!filled)
        return GBM_FAILURE;
    for (int64_t i = 0; i < slot->cells; i++)
        filled[i] = rt_seen(slot, i) ? rt_value(slot, v->integer, 0, i)
                                     : (double)__builtin_nan("");
    enum gbm_status s =
        gbm_draws_add_partial(draws, v->name, v->ndim, slot->dim, v->integer,
                              m->count, m->cells, filled);
    free(filled);
    return s;
}

enum gbm_status rt_monitor_draws(struct rt *rt, const struct rt_instance *in,
                                 const struct gbm_data *data,
                                 struct gbm_draws *draws)
{
    enum gbm_status s = GBM_OK;
    for (int k = 0; k < in->nmonitors && s == GBM_OK; k++)
        s = add_draws(in, &in->monitors[k], draws);
    for (int v = 0; v < in->model->nvariables && s == GBM_OK; v++) {
        const struct gbm_variable *variable = &in->model->variables[v];
        const char *const one[] = {variable->name, NULL};
        const char *const *names = variable->names ? variable->names : one;
        for (; *names && s == GBM_OK && variable->role <= GBM_STOCHASTIC;
             names++) {
            const struct gbm_array *a = gbm_data_find(data, *names);
            if (a)
                s = variable->role == GBM_STOCHASTIC
                        ? gbm_draws_add_observed(draws, a)
                        : gbm_draws_add_constant(draws, a);
        }
    }
    draws->model = in->model->name;
    draws->version = in->model->version;
    draws->seed = rt->options.seed;
    draws->thin = rt->options.thin;
    draws->warmup = rt->options.warmup;
    return s == GBM_OK ? rt_label_draws(rt, in, data, draws)
                       : rt_fail(rt, s, "no memory for the draws");
}
