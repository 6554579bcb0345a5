/* pair_terms.c: what two cells of a vector change where one gives to the other.
 * Sums over cells of which each term reads its own, as those of a multinomial
 * distribution or of a factor for each cell, are of the two alone; that all
 * cells have the total that they had need not be seen. The rest is computed
 * whole. */
#include "sampler/group.h"
#include <string.h>

/* The node's cell at loop l. */
static symp cell_at(struct compiler *c, const struct family *f, struct loop *l)
{
    symp at = sym_loop(c, l);
    return family_lhs(c, f, 1, &at);
}

static bool is_another(symp e, const void *cell)
{
    return e->kind != SYM_EXTENT && e->var == ((symp)cell)->var &&
           !sym_same(e, cell);
}

/* Of the node e reads this cell and no other. */
static bool reads_only(symp e, symp cell)
{
    return !sym_any(e, is_another, cell);
}

static bool all_cells(struct compiler *c, const struct family *f, symp lower,
                      symp upper)
{
    return sym_is(lower, 1) && sym_same(upper, family_extent(c, f, 0));
}

/* The term of e, a number of the node times a sum over all its cells, at one
 * cell; NULL: it is no such sum. */
static symp term_of_cell(struct compiler *c, const struct family *f, symp e,
                         symp at)
{
    symp sum = e, times = sym_num(c, 1);
    for (int i = 0; e->kind == SYM_MUL && i < e->nargs; i++)
        if (sym_has_var(e->args[i], f->var)) {
            sum = e->args[i];
            times = sym_cofactor(c, e, i);
        }
    if (sum->kind != SYM_SUM || sym_has_var(times, f->var) ||
        !all_cells(c, f, sum->args[0], sum->args[1]) ||
        !reads_only(sum->args[2], cell_at(c, f, sum->loop)))
        return NULL;
    return sym_mul2(c, times, sym_replace_loop(c, sum->args[2], sum->loop, at));
}

static bool is_total(struct compiler *c, const struct family *f, symp e)
{
    return e->kind == SYM_SUM && all_cells(c, f, e->args[0], e->args[1]) &&
           sym_same(e->args[2], cell_at(c, f, e->loop));
}

/* A choice by whether all cells have a total that they do not change. */
static bool keeps_total(struct compiler *c, const struct family *f, symp e)
{
    if (e->kind != SYM_SELECT || sym_has_var(e->args[1], f->var) ||
        sym_has_var(e->args[2], f->var))
        return false;
    symp when = e->args[0];
    if (when->kind != SYM_CALL || strcmp(when->name, "==") != 0)
        return false;
    for (int i = 0; i < 2; i++)
        if (is_total(c, f, when->args[i]) &&
            !sym_has_var(when->args[1 - i], f->var))
            return true;
    return false;
}

static struct part *part_with(struct compiler *c, const struct part *p,
                              symp logp)
{
    struct part *one = NEW(c, struct part);
    *one = *p;
    one->logp = logp;
    one->next = NULL;
    return one;
}

/* The terms of e that read the node; those of a sum over cells at one, if there
 * is `of_cell`. */
static symp terms(struct compiler *c, const struct family *f, symp e, symp at,
                  symp *of_cell)
{
    symp one[1] = {e}, rest = sym_num(c, 0);
    symp const *args = e->kind == SYM_ADD ? e->args : one;
    for (int i = 0; i < (e->kind == SYM_ADD ? e->nargs : 1); i++) {
        symp term = of_cell ? term_of_cell(c, f, args[i], at) : NULL;
        if (!sym_has_var(args[i], f->var) ||
            (of_cell && keeps_total(c, f, args[i])))
            continue;
        if (term)
            *of_cell = sym_add2(c, *of_cell, term);
        else
            rest = sym_add2(c, rest, args[i]);
    }
    return rest;
}

/* The part's only loop that its cell does not settle is that over cells, each
 * instance reads one: its number, or -1. */
static int loop_of_cells(struct compiler *c, const struct family *f,
                         const struct part *p)
{
    int found = -1;
    symp cell = p->reference;
    for (int i = 0; i < p->nloops; i++) {
        if (!p->solved[i] && found >= 0)
            return -1;
        if (p->solved[i])
            cell = sym_replace_loop(c, cell, p->loops[i], p->solved[i]);
        else
            found = i;
    }
    if (found < 0 || p->inverse || p->copies ||
        !sym_same(cell, cell_at(c, f, p->loops[found])) ||
        !all_cells(c, f, p->loops[found]->lower, p->loops[found]->upper) ||
        !reads_only(p->logp, p->reference))
        return -1;
    return found;
}

/* The instance of a part at one cell. */
static struct part *part_at(struct compiler *c, const struct family *f,
                            const struct part *p, int loop, symp at)
{
    struct part *one = part_with(c, p, terms(c, f, p->logp, at, NULL));
    symp *const of_loop[] = {&one->logp,  &one->guard, &one->value,
                             &one->lower, &one->upper, &one->reference};
    for (size_t i = 0; i < sizeof of_loop / sizeof *of_loop; i++)
        if (*of_loop[i])
            *of_loop[i] = sym_replace_loop(c, *of_loop[i], p->loops[loop], at);
    one->solved = NEW_ARRAY(c, symp, p->nloops);
    memcpy(one->solved, p->solved, (size_t)p->nloops * sizeof *one->solved);
    one->solved[loop] = at;
    return one;
}

struct part *sampler_of_moved_cell(struct compiler *c, const struct step *s,
                                   const struct part *p, symp at,
                                   const struct var *other)
{
    const struct family *f = s->family;
    symp one[1] = {p->logp}, all = sym_num(c, 0);
    symp const *args = p->logp->kind == SYM_ADD ? p->logp->args : one;
    for (int i = 0; i < (args == one ? 1 : p->logp->nargs); i++) {
        symp term = at && !sym_has_var(args[i], other)
                        ? term_of_cell(c, f, args[i], at)
                        : NULL;
        all = sym_add2(c, all, term ? term : args[i]);
    }
    return part_with(c, p, all);
}

/* ---- what children leave of a cell -----------------------------------------
 */

symp sampler_cell_bound(const struct part *p, bool above)
{
    symp end = above ? p->lower : p->upper;
    if (p->own || p->prior || !end || !sym_same(end, p->reference) ||
        sym_has_var(p->value, p->reference->var) ||
        (p->reference->var->integer && !model_is_integer(p->value)))
        return NULL;
    return p->value;
}

void sampler_emit_cell_bound(struct emitter *e, const struct part *p,
                             bool above, const char *now, const char *end)
{
    symp bound = sampler_cell_bound(p, above);
    if (!bound)
        return;
    const int depth = e->nloops;
    const int braces = emit_open_part(e, p, false);
    const char *value = emit_expr(e, bound);
    emit_line(e, "if (%s %s %s)", value, above ? ">=" : "<=", now);
    emit_line(e, "    %s = real_f%s(%s, %s);", end, above ? "min" : "max", end,
              value);
    emit_close(e, braces);
    e->nloops = depth;
}

bool sampler_pair_terms(struct compiler *c, const struct step *s, symp at,
                        struct part **of_cell, struct part **rest)
{
    const struct family *f = s->family;
    *of_cell = *rest = NULL;
    if (s->through || f->nslices != 1)
        return false;
    for (const struct part *p = s->parts; p; p = p->next) {
        const int loop = p->own ? -1 : loop_of_cells(c, f, p);
        if (loop >= 0) {
            sampler_push_part(of_cell, part_at(c, f, p, loop, at));
            continue;
        }
        symp cell = sym_num(c, 0), left = p->logp;
        if (p->own)
            left = terms(c, f, p->logp, at, &cell);
        if (!sym_is(cell, 0))
            sampler_push_part(of_cell, part_with(c, p, cell));
        if (!sym_is(left, 0))
            sampler_push_part(rest, part_with(c, p, left));
    }
    return *of_cell != NULL;
}
