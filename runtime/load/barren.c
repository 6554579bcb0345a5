/* barren.c: which latent elements no observed node depends on, found at load
 * along what each element reads: from the elements that count in any case
 * (observed ones, and latent ones that their steps draw whatever the data) to
 * all that they are computed from. What is not reached is barren. */
#include "load/load.h"

#include <stdlib.h>
#include <string.h>

struct walker {
    const struct rt_instance *in;
    const void *state;
    int64_t *base;       /* [nfamilies + 1]: first node of a family's elements;
                            none of families that neither read nor are asked */
    int **owner;         /* [nvariables][cells]: the node that defines it */
    unsigned char *live; /* [nodes] */
    int *stack;          /* nodes whose reads were not looked at */
    int64_t nstack;
    bool *whole;  /* [nvariables]: all its nodes were reached */
    int64_t left; /* nodes that may be barren and were not reached */
    const struct gbm_reader **reader; /* [nfamilies], or NULL */
    struct rt_cells buffer;
};

static int family_of(const struct walker *w, int64_t node)
{
    int f = 0;
    while (w->base[f + 1] <= node)
        f++;
    return f;
}

static void reach(struct walker *w, int64_t node)
{
    if (w->live[node])
        return;
    w->live[node] = 1;
    w->left -= w->in->model->families[family_of(w, node)].barren != 0;
    w->stack[w->nstack++] = (int)node;
}

static void reach_cell(void *context, int variable, int64_t cell)
{
    struct walker *w = context;
    const int *owner = w->owner[variable];
    const int64_t cells = w->in->slots[variable].cells;
    if (!owner || w->whole[variable])
        return;
    const int64_t first = cell < 0 ? 0 : cell;
    const int64_t last = cell < 0 ? cells : cell + 1;
    for (int64_t i = first; i < last; i++)
        if (owner[i] >= 0)
            reach(w, owner[i]);
    w->whole[variable] = cell < 0;
}

static void propagate(struct walker *w)
{
    while (w->nstack && w->left) {
        const int64_t node = w->stack[--w->nstack];
        const int f = family_of(w, node);
        if (w->reader[f])
            w->reader[f]->reads(w->state, node - w->base[f], reach_cell, w);
    }
}

/* Whether the element counts whatever depends on it. */
static bool counts(struct walker *w, int f, int64_t e)
{
    const struct gbm_family *fam = &w->in->model->families[f];
    if (!fam->stochastic)
        return false; /* if what reads it does */
    if (rt_drawn_forward(w->in, w->state, f, e, &w->buffer))
        return false;
    if (!fam->barren)
        return true;
    const struct rt_slot *slot = &w->in->slots[fam->variable];
    int64_t n = rt_element_cells(fam, w->state, e, &w->buffer);
    for (int64_t i = 0; i < n; i++)
        if (rt_seen(slot, w->buffer.cells[i]))
            return true;
    return false;
}

/* Where one element of what is drawn as a whole is live, all are. */
static bool join_groups(struct walker *w)
{
    const struct gbm_model *m = w->in->model;
    bool any = false;
    for (int f = 0; f < m->nfamilies; f++)
        for (int g = 0; m->families[f].barren > 1 && g < m->nfamilies; g++) {
            bool live = false;
            if (m->families[g].barren != m->families[f].barren)
                continue;
            for (int64_t i = w->base[g]; i < w->base[g + 1]; i++)
                live = live || w->live[i];
            for (int64_t i = w->base[f]; live && i < w->base[f + 1]; i++) {
                any = any || !w->live[i];
                reach(w, i);
            }
        }
    return any;
}

static bool prepare(struct walker *w)
{
    const struct gbm_model *m = w->in->model;
    const size_t nf = (size_t)m->nfamilies + 1;
    w->base = calloc(nf, sizeof *w->base);
    w->reader = calloc(nf, sizeof *w->reader);
    w->owner = calloc((size_t)m->nvariables + 1, sizeof *w->owner);
    if (!w->base || !w->reader || !w->owner)
        return false;
    for (const struct gbm_reader *r = m->readers; r->family >= 0; r++)
        w->reader[r->family] = r;
    for (int f = 0; f < m->nfamilies; f++)
        w->base[f + 1] =
            w->base[f] +
            (w->reader[f] || m->families[f].barren ? w->in->elements[f] : 0);
    w->whole = calloc((size_t)m->nvariables + 1, sizeof *w->whole);
    for (int f = 0; f < m->nfamilies; f++)
        w->left += m->families[f].barren ? w->in->elements[f] : 0;
    const size_t nodes = (size_t)w->base[m->nfamilies] + 1;
    w->live = calloc(nodes, 1);
    w->stack = malloc(nodes * sizeof *w->stack);
    bool ok = w->whole && w->live && w->stack;
    for (int f = 0; ok && f < m->nfamilies; f++)
        if (w->base[f + 1] > w->base[f])
            ok = rt_own_cells(w->in, f, w->state, w->base[f], w->owner,
                              &w->buffer);
    return ok;
}

static void note_barren(const struct rt_instance *in, int v, FILE *notes)
{
    const struct rt_slot *slot = &in->slots[v];
    int64_t barren = 0, defined = 0;
    for (int64_t i = 0; i < slot->cells; i++) {
        barren += rt_barren(slot, i);
        defined += !slot->defined || slot->defined[i];
    }
    if (notes && barren == defined)
        fprintf(notes, "note: %s is drawn forward: no observed descendant\n",
                in->model->variables[v].name);
    else if (notes && barren)
        fprintf(notes,
                "note: %lld of %lld values of %s are drawn forward: no "
                "observed descendant\n",
                (long long)barren, (long long)defined,
                in->model->variables[v].name);
}

static enum gbm_status mark(struct walker *w, struct rt *rt,
                            struct rt_instance *in, FILE *notes)
{
    const struct gbm_model *m = in->model;
    for (int f = 0; f < m->nfamilies; f++) {
        struct rt_slot *slot = &in->slots[m->families[f].variable];
        for (int64_t e = 0; m->families[f].barren && e < in->elements[f]; e++) {
            if (w->live[w->base[f] + e])
                continue;
            if (!slot->seen)
                slot->seen = calloc((size_t)slot->cells + 1, 1);
            if (!slot->seen)
                return rt_fail(rt, GBM_FAILURE, "no memory");
            int64_t n =
                rt_element_cells(&m->families[f], w->state, e, &w->buffer);
            for (int64_t i = 0; i < n; i++)
                slot->seen[w->buffer.cells[i]] = RT_BARREN;
        }
    }
    for (int v = 0; v < m->nvariables; v++)
        if (m->variables[v].barren)
            note_barren(in, v, notes);
    return GBM_OK;
}

enum gbm_status rt_find_barren(struct rt *rt, struct rt_instance *in,
                               const void *state, FILE *notes)
{
    const struct gbm_model *m = in->model;
    struct walker w = {.in = in, .state = state};
    enum gbm_status s = GBM_OK;
    if (!m->readers)
        return GBM_OK;
    if (prepare(&w)) {
        for (int f = 0; f < m->nfamilies; f++)
            for (int64_t i = w.base[f]; w.left && i < w.base[f + 1]; i++)
                if (counts(&w, f, i - w.base[f])) {
                    reach(&w, i);
                    propagate(&w);
                }
        while (w.left && join_groups(&w))
            propagate(&w);
        s = mark(&w, rt, in, notes);
    } else {
        s = rt_fail(rt, GBM_FAILURE, "no memory");
    }
    for (int v = 0; w.owner && v < m->nvariables; v++)
        free(w.owner[v]);
    free(w.owner);
    free(w.base);
    free(w.reader);
    free(w.whole);
    free(w.live);
    free(w.stack);
    free(w.buffer.cells);
    return s;
}

bool rt_any_seen(const struct rt_slot *slot)
{
    return slot->seen ? memchr(slot->seen, RT_SEEN, (size_t)slot->cells) != NULL
                      : !slot->per_chain;
}

bool rt_drawn_forward(const struct rt_instance *in, const void *state,
                      int family, int64_t element, struct rt_cells *buffer)
{
    const struct gbm_model *m = in->model;
    const struct gbm_family *fam = &m->families[family];
    const struct rt_slot *slot = &in->slots[fam->variable];
    if (fam->barren) {
        int64_t n =
            slot->seen ? rt_element_cells(fam, state, element, buffer) : 0;
        return n > 0 && rt_barren(slot, buffer->cells[0]);
    }
    if (!fam->leaf)
        return false;
    int64_t n = rt_element_cells(fam, state, element, buffer);
    for (int64_t i = 0; i < n; i++)
        if (rt_seen(slot, buffer->cells[i]))
            return false;
    return true;
}

bool rt_counts_for_nothing(const struct rt_instance *in, const void *state,
                           int family, int64_t element, struct rt_cells *buffer)
{
    const struct gbm_family *families = in->model->families;
    int of = family;
    while (families[family].auxiliary && of > 0 && !families[of].augmented)
        of--;
    if (in->elements[of] != in->elements[family])
        of = family;
    return rt_drawn_forward(in, state, of, element, buffer);
}
