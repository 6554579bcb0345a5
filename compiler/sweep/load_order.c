/* load_order.c: the order in which slots are loaded: a variable after those
 * that its families' loops, left-hand sides and (for constants) expressions
 * read; a table of loop indices before the variable whose elements it numbers.
 */
#include "sweep/sweep.h"

static bool reads(symp e, const struct var *v)
{
    return sym_any(e, sym_reads_var_or_extent, v);
}

/* Extents of what is observed are known from the data before anything is
 * loaded; its values are not. */
static bool reads_at_load(symp e, const struct var *v)
{
    return sym_any(
        e, v->role == ROLE_STOCHASTIC ? sym_reads_var : sym_reads_var_or_extent,
        v);
}

bool sweep_fixed_part(const struct family *f)
{
    return !f->stochastic && f->var->role == ROLE_STOCHASTIC && f->constant;
}

static bool load_needs(const struct var *v, const struct var *w)
{
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        for (int i = 0; i < f->nloops; i++)
            if (reads(f->loops[i]->lower, w) || reads(f->loops[i]->upper, w))
                return true;
        for (int d = 0; d < v->ndim; d++)
            if (w != v && (reads(f->lower[d], w) ||
                           (f->upper[d] && reads(f->upper[d], w))))
                return true;
        bool computed =
            v->role == ROLE_CONSTANT || f->data_block || sweep_fixed_part(f);
        if (computed && f->body && reads_at_load(f->body, w))
            return true;
        for (int i = 0; computed && i < f->nargs; i++)
            if (reads(f->args[i].body, w))
                return true;
    }
    for (int d = 0; d < v->ndim; d++)
        if (v->declared[d] && reads(v->declared[d], w))
            return true;
    /* its extents are those of the whole array */
    if (v->role == ROLE_GIVEN && v->whole == w)
        return true;
    return v->whole && w != v->whole && load_needs(v->whole, w);
}

static void place(struct model *m, int *n, bool *placed,
                  const struct slot *slot)
{
    m->load_order[(*n)++] = slot;
    placed[slot->number] = true;
}

static void visit(struct model *m, int *n, bool *visited, bool *placed,
                  const struct var *v)
{
    if (visited[v->slot->number])
        return;
    visited[v->slot->number] = true;
    for (const struct var *w = m->vars; w; w = w->next)
        if (w != v && load_needs(v, w))
            visit(m, n, visited, placed, w);
    for (const struct family *f = m->families; f; f = f->next)
        if (f->table && !placed[f->table->number] &&
            (f->var == v || f->var == v->whole))
            place(m, n, placed, f->table);
    place(m, n, placed, v->slot);
}

void sweep_order_load(struct compiler *c, struct model *m)
{
    bool *visited = NEW_ARRAY(c, bool, m->nslots);
    bool *placed = NEW_ARRAY(c, bool, m->nslots);
    int n = 0;
    m->load_order = NEW_ARRAY(c, const struct slot *, m->nslots);
    for (const struct var *v = m->vars; v; v = v->next)
        if (v->role == ROLE_GIVEN)
            visit(m, &n, visited, placed, v);
    for (const struct var *v = m->vars; v; v = v->next)
        visit(m, &n, visited, placed, v);
    for (const struct slot *slot = m->slots; slot; slot = slot->next)
        if (!placed[slot->number])
            place(m, &n, placed, slot);
}
