/* one_row.c: what reads the nodes of one row alone, for moves of all that a row
 * has (trade.c, accompanied.c). */
#include "sampler/component.h"

/* Whether all that e reads of rows is of one, *l. */
static bool is_of_row(symp e, sampler_row_of *row_of, const void *own,
                      struct loop **l)
{
    const bool cell =
        e->kind == SYM_REF || e->kind == SYM_SEEN || e->kind == SYM_LIVE;
    const int dim = cell ? row_of(own, e->var) : -1;
    if (dim >= 0) {
        symp at = e->args[dim];
        if (at->kind != SYM_LOOP || (*l && *l != at->loop))
            return false;
        *l = at->loop;
    }
    for (int i = 0; i < e->nargs; i++)
        if (!is_of_row(e->args[i], row_of, own, l))
            return false;
    return true;
}

bool sampler_same_ends(const struct loop *a, const struct loop *b)
{
    return sym_same(a->lower, b->lower) && sym_same(a->upper, b->upper);
}

struct loop *sampler_row_loop(const struct factor *g, sampler_row_of *row_of,
                              const void *own, const struct loop *row)
{
    symp all[FACTOR_EXPRESSIONS];
    const int n = model_factor_expressions(g, all);
    struct loop *l = NULL;
    for (int i = 0; i < n; i++)
        if (!is_of_row(all[i], row_of, own, &l))
            return NULL;
    for (int i = 0; i < g->nloops; i++)
        if (g->loops[i] == l && sampler_same_ends(l, row))
            return l;
    return NULL;
}

struct part *sampler_row_part(struct compiler *c, struct factor *g,
                              const struct loop *l, struct loop *row)
{
    struct part *p = sampler_all_instances(c, g);
    for (int i = 0; i < p->nloops; i++)
        if (p->loops[i] == l)
            p->solved[i] = sym_loop(c, row);
    return p;
}

void sampler_emit_row_density(struct compiler *c, struct text *out,
                              const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN real density_%s(const struct state *s, const struct "
                "gbm_team *team, long long element)\n{\n",
                s->name);
    emit_decode(&e, s->family, "element");
    emit_line(&e, "gbm_total total = 0;");
    for (const struct part *p = s->parts; p; p = p->next)
        sampler_emit_rows_of(&e, p);
    emit_line(&e, "return (real)total;");
    text_append(out, "}\n\n");
}
