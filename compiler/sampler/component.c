/* component.c: what components of a mixture have, for the moves of these. */
#include "sampler/component.h"

const struct of_component *sampler_component_cells(const struct components *all,
                                                   const struct var *v)
{
    for (int i = 0; i < all->n; i++)
        if (all->cells[i].family->var == v)
            return &all->cells[i];
    return NULL;
}

bool sampler_follows_components(const struct model *m,
                                const struct components *all,
                                const struct var *z, const struct var *v)
{
    bool found = model_derived_depends(m, v, z);
    for (int i = 0; i < all->n; i++)
        found = found || model_derived_depends(m, v, all->cells[i].family->var);
    return found;
}

bool sampler_draws_rows(struct compiler *c, const struct model *m,
                        const struct step *s)
{
    const struct family *f = s->family;
    return s->sampler == &sampler_enumeration && f->nloops == 1 &&
           f->var->ndim == 1 && !f->next_of_var && family_plain(c, f) &&
           sampler_is_free(m, f) && s->support.lower;
}

bool sampler_draws_labels(struct compiler *c, const struct model *m,
                          const struct step *s)
{
    return sampler_draws_rows(c, m, s) && sym_is(s->support.lower, 1) &&
           sym_fixed(s->support.upper);
}

void sampler_emit_trade_cells(struct emitter *e, struct var *v,
                              const symp *first, const symp *second)
{
    const char *a = emit_expr(e, sym_ref(e->c, v, v->ndim, first));
    const char *b = emit_expr(e, sym_ref(e->c, v, v->ndim, second));
    emit_line(e, "{");
    emit_line(e, "    const %s value = %s;", v->integer ? "int" : "real", a);
    emit_line(e, "    %s = %s;", a, b);
    emit_line(e, "    %s = value;", b);
    emit_line(e, "}");
}

void sampler_emit_trade_rows(struct emitter *e, const struct family *f)
{
    const int depth = e->nloops;
    const int braces =
        emit_open_part(e, sampler_all_instances(e->c, f->factor), true);
    const char *z = emit_expr(e, sym_ref(e->c, f->var, 1, f->lower));
    emit_line(e, "%s = %s == a_ ? b_ : %s == b_ ? a_ : %s;", z, z, z, z);
    emit_close(e, braces);
    e->nloops = depth;
}

void sampler_emit_held(struct emitter *e, struct var *v)
{
    symp cells = sym_num(e->c, 1);
    for (int d = 0; d < v->ndim; d++)
        cells = sym_mul2(e->c, cells, sym_extent(e->c, v, d));
    emit_line(e,
              "held = held || s->%s_stride == 0 || gbm_any_seen(s->%s_seen, "
              "%s);",
              v->cname, v->cname, emit_int(e, cells));
}
