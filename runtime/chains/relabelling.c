/* relabelling.c: --relabel of a run. The last sweeps of warm-up, of all chains,
 * make one target (Stephens 2000, the version that goes along with the run), or
 * --reference does; then it stays, so what a draw is called depends on no other
 * draw, nor on how the run is cut into blocks. The chains themselves are left
 * as they are: what is kept of them is permuted. */
#include "chains/chains.h"
#include "base/base.h"
#include "host/host.h"
#include "summary/components.h"

#include <stdlib.h>
#include <string.h>

enum { LEARNING = 100 }; /* sweeps of warm-up, but not more than half */

struct rt_relabelling {
    struct gbm_components components;
    struct rt_instance named; /* the run's, with monitors of all of what is
                                 named; these are the variables of */
    struct gbm_draws now;     /* one draw a chain */
    struct rt_instance kept;  /* has values of its own of what is named, with
                                 permuted components; and what is kept of it */
    struct rt_moments *moments;
    char *states;
    int *label;
    int64_t moved; /* kept draws that were permuted */
};

/* ---- what is named ---- */

/* The list without what stands in brackets, which says how an array is to be
 * permuted; the caller frees it. */
static char *bare_names(const char *list)
{
    char *names = calloc(strlen(list) + 2, 1);
    const char *at;
    size_t n;
    while (names && (at = rt_next_name(&list, &n))) {
        size_t bare = strcspn(at, "[");
        strncat(names, at, bare < n ? bare : n);
        strcat(names, ",");
    }
    return names;
}

static bool is_named(const struct rt_relabelling *l, int v)
{
    bool found = false;
    for (int i = 0; i < l->named.nmonitors; i++)
        found = found || l->named.monitors[i].variable == v;
    return found;
}

/* What is computed has a value only where the run keeps it. */
static enum gbm_status check_kept(struct rt_chains *r)
{
    const struct rt_relabelling *l = r->relabelling;
    const struct rt_instance *in = &r->in;
    for (int v = 0; v < in->model->nvariables; v++) {
        bool kept = in->slots[v].moments;
        for (int i = 0; i < in->nmonitors; i++)
            kept = kept || in->monitors[i].variable == v;
        if (!kept && is_named(l, v) &&
            in->model->variables[v].role == GBM_DERIVED)
            return rt_fail(r->rt, GBM_USER_ERROR,
                           "--relabel %s: it is computed from others, and kept "
                           "neither by --monitor nor by --moments",
                           in->model->variables[v].name);
    }
    return GBM_OK;
}

/* Monitors of all of what is named, a table of contents and room for them. */
static enum gbm_status open_named(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    struct rt_relabelling *l = r->relabelling;
    char *names = bare_names(rt->options.relabel);
    l->named = r->in;
    l->named.monitors = NULL;
    l->named.nmonitors = 0;
    l->named.row = 0;
    gbm_draws_init(&l->now);
    enum gbm_status s =
        names ? rt_monitor_named(rt, &l->named, "--relabel", names, r->notes)
              : rt_fail(rt, GBM_FAILURE, "no memory");
    free(names);
    if (s == GBM_OK)
        s = check_kept(r);
    if (s == GBM_OK)
        s = rt_monitor_draws(rt, &l->named, &r->data, &l->now);
    if (s == GBM_OK && gbm_draws_allocate(&l->now, r->in.nchains, 1) != GBM_OK)
        s = rt_fail(rt, GBM_FAILURE, "no memory for --relabel");
    l->now.kept = 1;
    return s;
}

/* ---- what is kept of it ---- */

/* The device keeps no moments of what is named: they are kept here. */
static enum gbm_status take_slot(struct rt_chains *r, int v)
{
    struct rt_slot *own = &r->relabelling->kept.slots[v];
    struct rt_slot *slot = &r->in.slots[v];
    const size_t bytes = rt_chain_bytes(&r->in, v);
    own->values = malloc(bytes + 1);
    if (!own->values)
        return rt_fail(r->rt, GBM_FAILURE, "no memory for --relabel");
    memcpy(own->values, slot->values, bytes);
    slot->moments = false;
    return GBM_OK;
}

static enum gbm_status open_kept(struct rt_chains *r)
{
    struct rt_relabelling *l = r->relabelling;
    struct rt_instance *in = &r->in, *kept = &l->kept;
    const size_t n = (size_t)in->model->nvariables;
    *kept = *in;
    kept->nmonitors = 0;
    kept->slots = calloc(n + 1, sizeof *kept->slots);
    kept->monitors =
        malloc(((size_t)in->nmonitors + 1) * sizeof *kept->monitors);
    if (!kept->slots || !kept->monitors)
        return rt_fail(r->rt, GBM_FAILURE, "no memory for --relabel");
    for (int i = 0; i < in->nmonitors; i++)
        if (is_named(l, in->monitors[i].variable))
            kept->monitors[kept->nmonitors++] = in->monitors[i];
    memcpy(kept->slots, in->slots, n * sizeof *kept->slots);
    in->has_moments = false;
    for (size_t v = 0; v < n; v++)
        kept->slots[v].values = NULL;
    for (int v = 0; v < in->model->nvariables; v++) {
        if (!is_named(l, v))
            kept->slots[v].moments = false;
        else if (take_slot(r, v) != GBM_OK)
            return r->rt->status;
        in->has_moments = in->has_moments || in->slots[v].moments;
    }
    l->moments = rt_moments_create(kept);
    return l->moments ? GBM_OK
                      : rt_fail(r->rt, GBM_FAILURE, "no memory for moments");
}

/* ---- a chain's components ---- */

/* What is named, as the chain's state has it. */
static double *gather(struct rt_relabelling *l, int chain)
{
    const struct rt_block block = {.draws = l->now.values,
                                   .chain_stride = l->now.width};
    rt_keep(&l->named, &block, NULL, chain, 0, 1);
    return gbm_draws_record(&l->now, chain, 0);
}

/* The other way, to the values that are kept. */
static void scatter(struct rt_relabelling *l, int chain, const double *record)
{
    for (int i = 0; i < l->named.nmonitors; i++) {
        const struct rt_monitor *m = &l->named.monitors[i];
        const bool whole = l->kept.model->variables[m->variable].integer;
        for (int64_t k = 0; k < m->count; k++)
            rt_set_value(&l->kept.slots[m->variable], whole, chain,
                         m->cells ? m->cells[k] : k, record[m->offset + k]);
    }
}

void rt_relabelling_keep(struct rt_chains *r, int chain, double *record,
                         int draw)
{
    struct rt_relabelling *l = r->relabelling;
    const struct rt_block block = {.draws = record};
    double *now = gather(l, chain);
    /* what is no number stays as it is, for check_numbers */
    if (gbm_components_assign(&l->components, now, l->label) == GBM_OK)
        l->moved += gbm_components_permute(&l->components, now, l->label);
    scatter(l, chain, now);
    rt_keep(&l->kept, &block, NULL, chain, 0, 1);
    rt_moments_add(&l->kept, l->moments, chain, draw + 1);
}

/* ---- warm-up ---- */

/* The sweep behind which the target is learnt. */
static int64_t first_of(const struct rt_chains *r)
{
    const int warmup = r->rt->options.warmup;
    return warmup - (warmup < 2 * LEARNING ? (warmup + 1) / 2 : LEARNING);
}

static bool learns(const struct rt_chains *r)
{
    return r->relabelling && !r->relabelling->components.fixed;
}

int64_t rt_relabelling_block(const struct rt_chains *r, int64_t sweeps)
{
    const int64_t before = first_of(r) - r->sweep;
    const int64_t most = before > 0 ? before : 1;
    return learns(r) && most < sweeps ? most : sweeps;
}

/* Which chain has the posterior's k-th state. */
static int posterior_chain(const struct rt_chains *r, int k)
{
    const struct rt_method *m = r->rt->options.method;
    return m->posterior ? m->posterior(r, k) : k;
}

void rt_relabelling_learn(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    struct rt_relabelling *l = r->relabelling;
    const int n = rt->options.method->posterior ? r->chains : r->in.nchains;
    if (!learns(r) || r->sweep <= first_of(r) || rt->device->get(rt) != GBM_OK)
        return;
    for (int k = 0; k < n; k++) {
        const int c = posterior_chain(r, k);
        rt_derive_kept(&r->in, rt_state(&r->in, l->states, c));
        gbm_components_see(&l->components, gather(l, c));
    }
    for (int k = 0; k < n; k++) {
        const int c = posterior_chain(r, k);
        if (gbm_components_learn(&l->components,
                                 gbm_draws_record(&l->now, c, 0),
                                 l->label) == GBM_FAILURE)
            rt_fail(rt, GBM_FAILURE, "no memory for --relabel");
    }
    if (r->sweep == (uint32_t)rt->options.warmup)
        gbm_components_fix(&l->components);
}

/* ---- life ---- */

static enum gbm_status take_reference(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    struct gbm_data reference = {0};
    char error[GBM_ERROR];
    enum gbm_status s = GBM_OK;
    if (r->resume.file) /* the target is its run's */
        return GBM_OK;
    if (!rt->options.reference && rt->options.warmup == 0)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--relabel: what components are called is settled by "
                       "draws of warm-up, or by --reference FILE");
    if (rt->options.reference)
        s = gbm_data_read(&reference, rt->options.reference, error);
    if (s == GBM_OK && rt->options.reference)
        s = gbm_components_refer(&r->relabelling->components, &reference,
                                 error);
    gbm_data_free(&reference);
    return s == GBM_OK ? s : rt_fail(rt, s, "%s", error);
}

static enum gbm_status open_components(struct rt_chains *r)
{
    struct rt *rt = r->rt;
    struct rt_relabelling *l = r->relabelling;
    char error[GBM_ERROR];
    for (int c = 0; c < r->in.nchains; c++)
        gather(l, c);
    enum gbm_status s = gbm_components_create(&l->components, &l->now,
                                              rt->options.relabel, error);
    if (s != GBM_OK)
        return rt_fail(rt, s, "%s", error);
    if (l->components.nfields == 1 && l->components.rows > 0)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--relabel %s: what belongs to the components is "
                       "wanted beside labels: z,mu",
                       rt->options.relabel);
    l->label = calloc((size_t)l->components.k + 1, sizeof *l->label);
    l->states = rt_states_create(&r->in);
    return l->label && l->states
               ? take_reference(r)
               : rt_fail(rt, GBM_FAILURE, "no memory for --relabel");
}

enum gbm_status rt_relabelling_create(struct rt_chains *r)
{
    if (!r->rt->options.relabel)
        return GBM_OK;
    r->relabelling = calloc(1, sizeof *r->relabelling);
    if (!r->relabelling)
        return rt_fail(r->rt, GBM_FAILURE, "no memory for --relabel");
    enum gbm_status s = open_named(r);
    if (s == GBM_OK)
        s = open_components(r);
    return s == GBM_OK ? open_kept(r) : s;
}

void rt_relabelling_list(struct rt_chains *r, struct rt_pieces *pieces)
{
    struct rt_relabelling *l = r->relabelling;
    struct gbm_components *c = l ? &l->components : NULL;
    if (!l)
        return;
    const size_t width = (size_t)c->width;
    rt_pieces_add(pieces, "components", c->target,
                  (size_t)c->cells * sizeof *c->target);
    rt_pieces_add(pieces, "draws in components", &c->weight, sizeof c->weight);
    rt_pieces_add(pieces, "components are known", &c->fixed, sizeof c->fixed);
    rt_pieces_add(pieces, "means", c->mean, width * sizeof *c->mean);
    rt_pieces_add(pieces, "squares", c->square, width * sizeof *c->square);
    rt_pieces_add(pieces, "components seen", &c->seen, sizeof c->seen);
    rt_pieces_add(pieces, "permuted draws", &l->moved, sizeof l->moved);
    rt_moments_list(&l->kept, l->moments, pieces);
}

enum gbm_status rt_relabelling_finish(struct rt_chains *r)
{
    const struct rt_relabelling *l = r->relabelling;
    if (!l)
        return GBM_OK;
    if (r->notes)
        rt_note_permuted(r->notes, l->moved, (int64_t)r->chains * r->draws.kept,
                         l->components.k);
    return rt_moments_store(r->rt, &l->kept, l->moments, r->draws.kept,
                            &r->draws);
}

void rt_relabelling_free(struct rt_chains *r)
{
    struct rt_relabelling *l = r->relabelling;
    if (!l)
        return;
    for (int v = 0; l->kept.slots && v < r->in.model->nvariables; v++)
        free(l->kept.slots[v].values);
    if (l->kept.slots)
        rt_moments_free(&l->kept, l->moments);
    for (int i = 0; i < l->named.nmonitors; i++)
        free(l->named.monitors[i].cells);
    free(l->named.monitors);
    free(l->kept.monitors);
    free(l->kept.slots);
    free(l->states);
    free(l->label);
    gbm_draws_free(&l->now);
    gbm_components_free(&l->components);
    free(l);
    r->relabelling = NULL;
}
