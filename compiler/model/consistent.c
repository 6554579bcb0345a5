/* consistent.c: what holds of a model after every pass, looked at in builds
 * with GBM_DEBUG (the sanitizers'): who breaks it is found where it breaks, and
 * not where a later pass falls over it. */
#include "model/model.h"

#ifndef GBM_DEBUG

void model_check(struct compiler *c, const struct model *m)
{
    (void)c;
    (void)m;
}

#else

/* Loops in scope, innermost first. */
struct around {
    const struct loop *loop;
    const struct around *outer;
};

static bool is_variable(const struct model *m, const struct var *v)
{
    for (const struct var *w = m->vars; w; w = w->next)
        if (w == v)
            return true;
    return false;
}

static bool in_scope(const struct around *a, const struct loop *loop)
{
    for (; a; a = a->outer)
        if (a->loop == loop)
            return true;
    return false;
}

/* Variables are of the model, with as many subscripts as they have dimensions;
 * indices are of loops around. */
static void check_expression(const struct model *m, symp e,
                             const struct around *scope)
{
    if (!e)
        return;
    bool node =
        e->kind == SYM_REF || e->kind == SYM_SEEN || e->kind == SYM_LIVE;
    if ((node || e->kind == SYM_EXTENT) && !is_variable(m, e->var))
        UNREACHABLE();
    if (node && e->var->ndim >= 0 && e->nargs != e->var->ndim)
        UNREACHABLE();
    if (e->kind == SYM_EXTENT && e->var->ndim >= 0 && e->dim >= e->var->ndim)
        UNREACHABLE();
    if (e->kind == SYM_LOOP && !in_scope(scope, e->loop))
        UNREACHABLE();
    struct around inner[2];
    const struct around *inside = scope;
    int nbound = e->kind == SYM_SUM ? 1 : e->kind == SYM_ARRAY ? e->nloops : 0;
    for (int i = 0; i < nbound; i++) {
        inner[i].loop = e->kind == SYM_SUM ? e->loop : e->loops[i];
        inner[i].outer = inside;
        inside = &inner[i];
    }
    int body = e->kind == SYM_SUM ? 2 : 0;
    for (int i = 0; i < e->nargs; i++)
        check_expression(m, e->args[i], nbound && i == body ? inside : scope);
}

/* Opens n loops into `room`; each one's ends may read those before it. */
static const struct around *open_loops(const struct model *m,
                                       struct loop *const *loops, int n,
                                       struct around *room)
{
    const struct around *scope = NULL;
    for (int i = 0; i < n; i++) {
        check_expression(m, loops[i]->lower, scope);
        check_expression(m, loops[i]->upper, scope);
        room[i] = (struct around){loops[i], scope};
        scope = &room[i];
    }
    return scope;
}

static void check_family(const struct model *m, const struct family *f)
{
    struct around loops[MAX_LOOPS], slices[2], bound[MAX_DIMS];
    if (!is_variable(m, f->var) || f->nloops > MAX_LOOPS)
        UNREACHABLE();
    const struct around *scope = open_loops(m, f->loops, f->nloops, loops);
    for (int d = 0; d < f->var->ndim; d++) {
        check_expression(m, f->lower[d], scope);
        check_expression(m, f->upper[d], scope);
    }
    const struct around *inside = scope;
    for (int i = 0; i < 2 && f->slice[i]; i++) {
        slices[i] = (struct around){f->slice[i], inside};
        inside = &slices[i];
    }
    check_expression(m, f->body, inside);
    for (int i = 0; i < f->nargs; i++) {
        inside = scope;
        for (int d = 0; d < f->args[i].ndim; d++) {
            check_expression(m, f->args[i].extents[d], scope);
            bound[d] = (struct around){f->args[i].loops[d], inside};
            inside = &bound[d];
        }
        check_expression(m, f->args[i].body, inside);
    }
    check_expression(m, f->stated, scope);
    check_expression(m, f->trunc_lower, scope);
    check_expression(m, f->trunc_upper, scope);
}

static void check_factor(const struct model *m, const struct factor *g)
{
    struct around loops[MAX_LOOPS];
    if (!g->family || g->nloops > MAX_LOOPS)
        UNREACHABLE();
    const struct around *scope = open_loops(m, g->loops, g->nloops, loops);
    symp all[FACTOR_EXPRESSIONS];
    const int n = model_factor_expressions(g, all);
    for (int i = 0; i < n; i++)
        check_expression(m, all[i], scope);
    check_expression(m, g->plain, scope);
}

void model_check(struct compiler *c, const struct model *m)
{
    if (c->nerrors)
        return;
    for (const struct family *f = m->families; f; f = f->next)
        check_family(m, f);
    for (const struct factor *g = m->factors; g; g = g->next)
        check_factor(m, g);
}

#endif
