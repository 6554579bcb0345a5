/* moves.c: what steps that move nodes beside their draws (scale.c, opposite.c,
 * translation.c) ask of the steps that draw them. */
#include "sampler/moves.h"
#include <math.h>
#include <string.h>

bool sampler_step_draws(const struct step *s, const struct family *f)
{
    return sampler_has_member(s, f) && s->sampler && !s->sampler->forward &&
           !s->sampler->beside;
}

struct step *sampler_step_of(const struct model *m, const struct family *f)
{
    struct step *beside = NULL;
    for (struct step *s = m->steps; s; s = s->next) {
        if (!sampler_step_draws(s, f))
            continue;
        if (!s->beside.block)
            return s;
        beside = beside ? beside : s;
    }
    return beside;
}

bool sampler_is_free(const struct model *m, const struct family *f)
{
    const struct step *s = f->stochastic ? sampler_step_of(m, f) : NULL;
    return s && !s->asked.word && !sampler_named(m, f) && f->factor &&
           !f->factor->replaced && f->factor->family == f && !f->auxiliary;
}

bool sampler_are_numbers(const struct var *v)
{
    /* one of its elements may be a count beside a real one: N[1] ~ dunif */
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (f->stochastic && model_draws_integers(f))
            return false;
    return v->role == ROLE_STOCHASTIC && !v->integer && !v->whole &&
           !v->rest_of && !v->slope_of && !v->indexes;
}

bool sampler_is_node(struct compiler *c, const struct model *m,
                     const struct family *f)
{
    const struct var *v = f->var;
    const struct factor *g = f->factor;
    if (v->families != f || f->next_of_var || f->nslices || f->affine ||
        f->nloops != v->ndim || v->ndim > 1 || !sampler_are_numbers(v) ||
        !sampler_is_free(m, f) || (f->nloops && !family_plain(c, f)))
        return false;
    symp node = sym_ref(c, f->var, v->ndim, f->lower);
    return !sym_has_var(sym_replace(c, g->logp, node, sym_num(c, 1)), v) &&
           !(g->lower && sym_has_var(g->lower, v)) &&
           !(g->upper && sym_has_var(g->upper, v)) && !g->rule && !g->guard;
}

bool sampler_factor_reads(const struct factor *g, const struct var *v)
{
    symp all[FACTOR_EXPRESSIONS];
    const int n = model_factor_expressions(g, all);
    for (int i = 0; i < n; i++)
        if (sym_has_var(all[i], v))
            return true;
    return false;
}

bool sampler_is_chosen(symp e, const void *v)
{
    bool found = false;
    for (int i = 0; e->kind == SYM_REF && i < e->nargs; i++)
        found = found || sym_has_var(e->args[i], v);
    return found &&
           (e->var->role == ROLE_GIVEN || e->var->role == ROLE_CONSTANT);
}

static bool is_log_of_0(symp e, const void *unused)
{
    (void)unused;
    return (e->kind == SYM_CALL && !strcmp(e->name, "log") &&
            sym_is(e->args[0], 0)) ||
           (e->kind == SYM_NUM && isinf(e->number));
}

bool sampler_holds(struct compiler *c, const struct factor *g,
                   const struct step *label)
{
    const struct var *v = label->family->var;
    const symp ends[] = {label->support.lower, label->support.upper};
    symp at = sampler_find_reference(g->logp, v);
    bool holds = (g->lower && sym_has_var(g->lower, v)) ||
                 (g->upper && sym_has_var(g->upper, v)) ||
                 condition_may_vanish(g->logp, v) ||
                 sym_any(g->logp, sampler_is_chosen, v);
    for (int i = 0; at && i < 2; i++)
        holds = holds || sym_any(sym_replace(c, g->logp, at, ends[i]),
                                 is_log_of_0, NULL);
    return holds;
}

bool sampler_is_kept(const struct family *f)
{
    return !f->stochastic && f->var->stored && !f->for_updates && f->body;
}

void sampler_emit_ends(struct emitter *e, const struct factor *g, symp node,
                       symp value)
{
    const symp ends[2] = {g->lower, g->upper};
    for (int i = 0; i < 2; i++) {
        if (!ends[i])
            continue;
        symp end = sym_replace(e->c, ends[i], node, value);
        emit_line(e, "if (!(%s %s %s))", emit_expr(e, value), i ? "<" : ">",
                  emit_in_brackets(e, end));
        emit_line(e, "    return -GBM_INF;");
    }
}

/* Whether s draws f, or what is integrated out of the step that does: before
 * that is drawn nothing may read it. */
static bool settles(const struct model *m, const struct step *s,
                    const struct family *f)
{
    bool found = sampler_step_draws(s, f);
    for (const struct step *t = m->steps; t && !found; t = t->next)
        for (const struct part *p = sampler_step_draws(t, f) ? t->integrated
                                                             : NULL;
             p; p = p->next)
            found = found || sampler_step_draws(s, p->out);
    return found;
}

void sampler_insert_move(struct model *m, struct step *move,
                         const struct var *others)
{
    struct step *last = NULL;
    for (struct step *s = m->steps; s; s = s->next) {
        bool found = false;
        for (int i = 0; i < move->block.n; i++)
            found = found || settles(m, s, move->block.members[i].family);
        for (const struct family *f = others ? others->families : NULL; f;
             f = f->next_of_var)
            found = found || sampler_step_draws(s, f);
        if (found)
            last = s;
    }
    move->next = last->next;
    last->next = move;
}

void sampler_bind_loops(struct emitter *e, const struct part *p)
{
    for (int i = 0; i < p->nloops; i++)
        if (p->solved[i] && p->solved[i]->loop != p->loops[i])
            emit_loop_as(e, p->loops[i], emit_int(e, p->solved[i]));
}

void sampler_emit_rows_of(struct emitter *e, const struct part *p)
{
    const int depth = e->nloops;
    sampler_bind_loops(e, p);
    e->team = true;
    emit_in_place(e, p);
    e->team = false;
    e->nloops = depth;
}
