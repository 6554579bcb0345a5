/* filter_from.c: --method filter --from FIT: what does not run along time has
 * the values of a draw of an earlier run, another one for each filter; draws
 * are taken evenly from all. */
#include "filter/filter.h"
#include "simulate/simulate.h"

#include <stdlib.h>
#include <string.h>

enum { FILTERS = 1000 }; /* without --chains, at most */

/* Gives all of an unknown element the places of its draws. */
static enum gbm_status take(struct rt_filter *f, int64_t node)
{
    const struct rt_graph *g = &f->times.graph;
    const int k = rt_graph_family(g, node);
    const struct gbm_family *fam = &f->in.model->families[k];
    const struct gbm_variable *variable =
        &f->in.model->variables[fam->variable];
    struct rt_cells *buffer = &f->starter.buffer;
    const int64_t n =
        rt_element_cells(fam, f->starter.state, node - g->base[k], buffer);
    for (int64_t i = 0; i < n; i++) {
        const int64_t cell = buffer->cells[i];
        const int64_t place = rt_draws_place(&f->from.fit, variable,
                                             &f->in.slots[fam->variable], cell);
        char name[256];
        rt_element_name(&f->in, f->starter.state, k, node - g->base[k], name,
                        sizeof name);
        if (place < 0)
            return rt_fail(f->rt, GBM_USER_ERROR,
                           "%s: %s has no draws in %s, which all times need: "
                           "keep them there (run --monitor), or give it by "
                           "--init FILE\n    %s",
                           fam->where, name, f->rt->options.from, fam->text);
        if (!rt_filter_give(f, fam->variable, cell))
            return rt_filter_no_memory(f);
        f->from.taken[f->from.n++] =
            (struct rt_taken){fam->variable, cell, place};
    }
    return GBM_OK;
}

/* The cells of all nodes that are wanted. */
static int64_t count(const struct rt_filter *f, const unsigned char *wanted)
{
    const struct rt_graph *g = &f->times.graph;
    int64_t n = 0;
    for (int64_t i = 0; i < g->nodes; i++) {
        const int k = rt_graph_family(g, i);
        if (wanted[i])
            n += f->in.model->families[k].cells(f->starter.state,
                                                i - g->base[k], NULL);
    }
    return n;
}

static enum gbm_status take_all(struct rt_filter *f)
{
    unsigned char *wanted = NULL;
    enum gbm_status s = rt_times_find(&f->times, &f->starter, &wanted);
    if (s == GBM_OK) {
        f->from.taken =
            calloc((size_t)count(f, wanted) + 1, sizeof *f->from.taken);
        s = f->from.taken ? GBM_OK : rt_filter_no_memory(f);
    }
    for (int64_t i = 0; s == GBM_OK && i < f->times.graph.nodes; i++)
        if (wanted[i])
            s = take(f, i);
    free(wanted);
    rt_times_free(&f->times);
    if (s == GBM_OK && f->from.n == 0)
        s = rt_fail(f->rt, GBM_USER_ERROR,
                    "--from %s: the model has no parameters that several times "
                    "read and the data leave open",
                    f->rt->options.from);
    return s;
}

enum gbm_status rt_filter_from_open(struct rt_filter *f)
{
    const struct rt_options *o = &f->rt->options;
    struct gbm_draws *fit = &f->from.fit;
    char error[GBM_ERROR];
    gbm_draws_init(fit);
    f->from.open = true;
    enum gbm_status s = gbm_draws_read(fit, o->from, error);
    if (s != GBM_OK)
        return rt_fail(f->rt, s, "%s", error);
    const int64_t all = (int64_t)fit->chains * fit->kept;
    if (all == 0)
        return rt_fail(f->rt, GBM_USER_ERROR, "--from %s: it has no draws",
                       o->from);
    if (!o->chains_given)
        f->result.filters = all < FILTERS ? (int)all : FILTERS;
    if (f->result.filters > all)
        return rt_fail(f->rt, GBM_USER_ERROR,
                       "--chains %d: %s has %lld draws, of which each filter "
                       "takes another one",
                       f->result.filters, o->from, (long long)all);
    return take_all(f);
}

void rt_filter_from_set(struct rt_filter *f, int number)
{
    const struct gbm_draws *fit = &f->from.fit;
    const int64_t all = (int64_t)fit->chains * fit->kept;
    const int64_t draw = all * number / f->result.filters;
    const double *record =
        gbm_draws_record(fit, (int)(draw / fit->kept), (int)(draw % fit->kept));
    for (int64_t i = 0; i < f->from.n; i++) {
        const struct rt_taken *t = &f->from.taken[i];
        rt_set_value(&f->in.slots[t->variable],
                     f->in.model->variables[t->variable].integer, 0, t->cell,
                     record[t->place]);
    }
}

void rt_filter_from_close(struct rt_filter *f)
{
    free(f->from.taken);
    if (f->from.open)
        gbm_draws_free(&f->from.fit);
}
