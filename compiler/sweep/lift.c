/* lift.c: tables of what an update by trying values (enumeration, paths) would
 * compute for each element anew, though only the value tried tells it: of
 *     z[i] ~ dcat(pi[]);  y[i,] ~ dmnorm(mu[z[i],], Q[z[i],,])
 * log(pi[k]) and logdet(Q[k,,]), for each k, not for each k and i. A table is a
 * derived node that no density reads: recomputed when what it is computed from
 * has moved, at load if data settle it. It may have further dimensions, those
 * of sums and loops that do not run through the elements.
 *
 * Only what has a function in it, of other cells too, is worth a table. Parts
 * of a choice stay, as they may have no value elsewhere. */
#include "sweep/sweep.h"
#include <string.h>

struct lifting {
    struct compiler *c;
    struct model *m;
    struct step *step;
    struct part *part;
    symp x;                 /* the reference to the target */
    struct loop *value;     /* 1 to the number of values */
    symp first;             /* the value that 1 stands for */
    struct loop *around[8]; /* the indices of the sums around */
    int naround;
};

/* ---- what a table may hold ------------------------------------------------
 */

static bool has_fixed_ends(const struct loop *l)
{
    return sym_fixed(l->lower) && sym_fixed(l->upper);
}

/* Whether all that e reads is the same for all elements, but for loops of the
 * part and of sums around, which become dimensions. `bound`: indices of sums
 * inside. */
static bool can_stand(const struct lifting *k, symp e,
                      struct loop *const *bound, int nbound)
{
    struct loop *inside[8];
    const struct part *p = k->part;
    int n = nbound;
    if (sym_same(e, k->x))
        return true;
    switch (e->kind) {
    case SYM_SEEN:
    case SYM_LIVE:
    case SYM_TARGET:
    case SYM_PARAM:
        return false;
    case SYM_LOOP:
        return sym_has_loop_of(e, bound, nbound) ||
               (has_fixed_ends(e->loop) &&
                (sym_has_loop_of(e, k->around, k->naround) ||
                 (p && !p->inverse &&
                  sym_has_loop_of(e, p->loops, p->nloops))));
    case SYM_REF:
        if (e->var == k->step->family->var ||
            model_derived_depends(k->m, e->var, k->step->family->var))
            return false;
        break;
    default:
        break;
    }
    if (n + 2 > 8)
        return false;
    for (int i = 0; i < nbound; i++)
        inside[i] = bound[i];
    if (e->kind == SYM_SUM)
        inside[n++] = e->loop;
    for (int i = 0; e->kind == SYM_ARRAY && i < e->nloops; i++)
        inside[n++] = e->loops[i];
    for (int i = 0; i < e->nargs; i++)
        if (!can_stand(k, e->args[i], inside, n))
            return false;
    return !sym_is_draw(e, NULL);
}

/* Whether fewer of the part's loops that run through elements are in e than
 * there are: then many elements read one cell. */
static bool is_shared(const struct lifting *k, symp e)
{
    int n = 0;
    for (int i = 0; k->part && i < k->part->nloops; i++)
        n += sym_has_loop(e, k->part->loops[i]) && k->part->solved[i];
    return n < k->step->family->nloops;
}

static bool is_call(symp e, const void *unused)
{
    (void)unused;
    if (e->kind == SYM_POW)
        return e->args[1]->kind != SYM_NUM ||
               (e->args[1]->number != -1 && e->args[1]->number != 2);
    return e->kind == SYM_CALL && e->entry && !model_is_integer(e) &&
           strcmp(e->name, "max") != 0 && strcmp(e->name, "min") != 0;
}

static bool can_be_lifted(const struct lifting *k, symp e)
{
    return sym_has(e, k->x) && can_stand(k, e, NULL, 0) && is_shared(k, e);
}

/* ---- rewriting ------------------------------------------------------------
 */

static symp make_table(struct lifting *k, symp e)
{
    struct compiler *c = k->c;
    struct step *s = k->step;
    struct lifted *all = s->lifted;
    if (all && all->n == (int)(sizeof all->of / sizeof *all->of))
        return NULL;
    symp at = sym_loop(c, k->value), one = sym_num(c, 1);
    symp value = sym_sub(c, sym_add2(c, at, k->first), one);
    symp body = sym_replace(c, e, k->x, value);
    if (!sym_has_cells(body)) /* a function of the value alone */
        return NULL;
    symp cell = sym_reads_latent(body) ? model_table_of(c, k->m, body, NULL)
                                       : model_constant_of(c, k->m, body);
    if (!cell)
        return NULL;
    if (!all)
        all = s->lifted = NEW(c, struct lifted);
    all->of[all->n++] = e;
    symp place = sym_add2(c, sym_sub(c, k->x, k->first), one);
    return sym_replace_loop(c, cell, k->value, place);
}

static symp lifted(struct lifting *k, symp e);

/* Terms or factors that can be lifted go together into one table. */
static symp lifted_operands(struct lifting *k, symp e)
{
    struct compiler *c = k->c;
    const bool product = e->kind == SYM_MUL;
    symp *up = NEW_ARRAY(c, symp, e->nargs + 1);
    symp *rest = NEW_ARRAY(c, symp, e->nargs);
    int nup = 0, nrest = 0;
    for (int i = 0; i < e->nargs; i++)
        if (can_be_lifted(k, e->args[i]) ||
            (product && e->args[i]->kind == SYM_NUM))
            up[nup++] = e->args[i];
        else
            rest[nrest++] = e->args[i];
    symp table = NULL,
         joined = product ? sym_mul(c, nup, up) : sym_add(c, nup, up);
    if (nup && can_be_lifted(k, joined) && sym_any(joined, is_call, NULL))
        table = make_table(k, joined);
    if (!table) {
        symp *args = NEW_ARRAY(c, symp, e->nargs);
        for (int i = 0; i < e->nargs; i++)
            args[i] = lifted(k, e->args[i]);
        return sym_rebuild(c, e, args);
    }
    for (int i = 0; i < nrest; i++)
        rest[i] = lifted(k, rest[i]);
    rest[nrest++] = table;
    return product ? sym_mul(c, nrest, rest) : sym_add(c, nrest, rest);
}

/* Tables for the terms of a sum have its index as a dimension. */
static symp lifted_sum(struct lifting *k, symp e)
{
    struct compiler *c = k->c;
    if (k->naround == (int)(sizeof k->around / sizeof *k->around))
        return e;
    struct loop *l = NEW(c, struct loop);
    *l = (struct loop){
        .name = e->loop->name, .lower = e->args[0], .upper = e->args[1]};
    symp body = sym_replace_loop(c, e->args[2], e->loop, sym_loop(c, l));
    k->around[k->naround++] = l;
    body = lifted(k, body);
    k->naround--;
    body = sym_replace_loop(c, body, l, sym_loop(c, e->loop));
    return sym_sum(c, e->loop, e->args[0], e->args[1], body);
}

/* e with tables in the place of what they hold. */
static symp lifted(struct lifting *k, symp e)
{
    if (!sym_has(e, k->x) || sym_same(e, k->x) || e->kind == SYM_SELECT)
        return e;
    if (e->kind == SYM_ADD || e->kind == SYM_MUL)
        return lifted_operands(k, e);
    if (can_be_lifted(k, e) && sym_any(e, is_call, NULL)) {
        symp table = make_table(k, e);
        if (table)
            return table;
    }
    if (e->kind == SYM_SUM)
        return lifted_sum(k, e);
    if (e->kind == SYM_REF || e->kind == SYM_ARRAY)
        return e;
    symp *args = NEW_ARRAY(k->c, symp, e->nargs);
    for (int i = 0; i < e->nargs; i++)
        args[i] = lifted(k, e->args[i]);
    return sym_rebuild(k->c, e, args);
}

/* ---- steps ----------------------------------------------------------------
 */

static void lift_part(struct lifting *k, struct part *p)
{
    const struct family *f = k->step->family;
    k->part = p;
    k->x =
        p->own ? sym_ref(k->c, f->var, f->var->ndim, f->lower) : p->reference;
    if (p->opaque && k->x && k->x->kind == SYM_REF && k->x->var == f->var)
        p->logp = lifted(k, p->logp);
}

/* Its coefficient is the element's own. */
static void lift_statistic(struct lifting *k, int i)
{
    symp e = k->step->law.statistics[i];
    k->part = NULL;
    k->x = sym_target(k->c);
    symp table = can_be_lifted(k, e) && sym_any(e, is_call, NULL)
                     ? make_table(k, e)
                     : NULL;
    if (table)
        k->step->lifted->statistic[i] = table;
}

symp sweep_statistic_tried(const struct step *s, int i)
{
    symp table = s->lifted ? s->lifted->statistic[i] : NULL;
    return table ? table : s->law.statistics[i];
}

/* Nodes of one array have different numbers of values, as states of which some
 * can't be the first: an array that one family's values subscript may be too
 * short for another's. */
static bool supports_differ(const struct family *f)
{
    for (const struct family *g = f->var->families; g; g = g->next_of_var)
        if (g->factor && (!g->factor->upper ||
                          !sym_same(g->factor->upper, f->factor->upper)))
            return true;
    return false;
}

static void lift_step(struct compiler *c, struct model *m, struct step *s)
{
    struct loop *value = NEW(c, struct loop);
    value->name = intern(c, "k");
    value->lower = sym_num(c, 1);
    value->upper = sym_length(c, s->support.lower, s->support.upper);
    value->tried = supports_differ(s->family);
    struct lifting k = {
        .c = c, .m = m, .step = s, .value = value, .first = s->support.lower};
    for (int i = 0; i < s->law.n; i++)
        lift_statistic(&k, i);
    for (struct part *p = s->parts; p; p = p->next)
        lift_part(&k, p);
}

/* All values of a support that is the same for all of its many elements are
 * tried. */
static bool tries_all(const struct step *s)
{
    return s->sampler && s->sampler->tries_all && s->sampler->tries_all(s) &&
           s->family->nloops && sym_fixed(s->support.lower) &&
           sym_fixed(s->support.upper);
}

void sweep_lift(struct compiler *c, struct model *m)
{
    for (struct step *s = m->steps; s; s = s->next)
        if (!s->merged && tries_all(s))
            lift_step(c, m, s);
}
