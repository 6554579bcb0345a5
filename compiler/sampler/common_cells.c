/* common_cells.c: of what components have, cells that are computed and the same
 * of all of them, as a reference level, u[k,1] <- 0 for all k, or u[1,1] <- 0;
 * u[2,1] <- 0. Components that trade all that they have leave these as they
 * are. */
#include "sampler/common_cells.h"
#include "sampler/group.h"

/* The loop that f's subscript d is; NULL: it is another thing, or the loop
 * stands elsewhere, too. */
static const struct loop *loop_alone(const struct family *f, int d)
{
    const struct loop *l =
        f->lower[d]->kind == SYM_LOOP ? f->lower[d]->loop : NULL;
    if (!l || sym_has_any_loop(l->lower) || sym_has_any_loop(l->upper) ||
        sym_has_loop(f->body, l))
        return NULL;
    for (int i = 0; i < f->var->ndim; i++)
        if (i != d && sym_has_loop(f->lower[i], l))
            return NULL;
    for (int i = 0; i < f->nloops; i++)
        if (sym_has_loop(f->loops[i]->lower, l) ||
            sym_has_loop(f->loops[i]->upper, l))
            return NULL;
    return l;
}

/* Whether f says for the number `at` in the place of its subscript d what
 * `first` says there. */
static bool says_the_same(const struct family *f, const struct family *first,
                          int d, double at)
{
    bool same = !f->stochastic && !f->nslices && !f->nloops && f->body &&
                sym_is(f->lower[d], at) && sym_same(f->body, first->body);
    for (int i = 0; same && i < f->var->ndim; i++)
        same = i == d || sym_same(f->lower[i], first->lower[i]);
    return same;
}

/* Numbers from 1 on for which statements say what f does for its own; 0: there
 * are others, or f's is none of them. */
static int numbers_alike(const struct family *f, int d)
{
    if (f->lower[d]->kind != SYM_NUM || f->nloops)
        return 0;
    int n = 0;
    for (bool found = true; found; n += found) {
        found = false;
        for (const struct family *g = f->var->families; g; g = g->next_of_var)
            found = found || says_the_same(g, f, d, n + 1);
    }
    for (const struct family *g = f->var->families; g; g = g->next_of_var)
        if (g->lower[d]->kind == SYM_NUM && g->lower[d]->number > n)
            return 0;
    return n;
}

bool sampler_is_common(const struct family *f, unsigned dims)
{
    if (f->stochastic || f->nslices || f->data_block || f->affine ||
        f->sequence || !f->body || !sym_fixed(f->body))
        return false;
    const bool several = dims & (dims - 1);
    for (int d = 0; d < f->var->ndim; d++)
        if (dims >> d & 1 && !loop_alone(f, d) &&
            (several || !numbers_alike(f, d)))
            return false;
    return true;
}

/* Whether a drawn one is known: of an array with computed cells, which are. */
static void emit_drawn_held(struct emitter *e, struct var *v)
{
    emit_line(e, "held = held || s->%s_stride == 0;", v->cname);
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        const int depth = e->nloops;
        symp cell;
        if (!f->stochastic)
            continue;
        const int braces = sampler_open_group_member(e, f, &cell);
        symp seen = sym_seen(e->c, v, cell->nargs, cell->args);
        emit_line(e, "held = held || %s;", emit_expr(e, seen));
        emit_close(e, braces);
        e->nloops = depth;
    }
}

/* That f's cells are of all components is seen at load. */
static void emit_of_all(struct emitter *e, const struct family *f,
                        unsigned dims, const char *components)
{
    for (int d = 0; d < f->var->ndim; d++) {
        const struct loop *l = dims >> d & 1 ? loop_alone(f, d) : NULL;
        if (l)
            emit_line(e, "held = held || %s != 1 || %s != %s;",
                      emit_int(e, l->lower), emit_int(e, l->upper), components);
        else if (dims >> d & 1)
            emit_line(e, "held = held || %d != %s;", numbers_alike(f, d),
                      components);
    }
}

void sampler_emit_common_held(struct emitter *e, struct var *v, unsigned dims,
                              const char *components)
{
    bool some = false;
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        some = some || !f->stochastic;
        if (!f->stochastic)
            emit_of_all(e, f, dims, components);
    }
    if (some)
        emit_drawn_held(e, v);
    else
        sampler_emit_held(e, v);
}
