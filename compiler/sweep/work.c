/* work.c: what a sweep does in a phase: its rows, operations and cells, all
 * elements of the step together, as expressions in extents and data. They are
 * what `run --profile` holds the time of a step against. */
#include "sweep/sweep.h"

/* ---- operations ---- */

/* A call of a function of the library counts as so many operations, and so does
 * each cell of arrays that rows may share (`code_in_rows`). */
enum { CALL_WORK = 10 };

static symp operations_of_call(struct compiler *c, symp call)
{
    symp calls = sym_num(c, 1);
    for (int i = 0; i < call->nargs; i++)
        if (call->args[i]->kind == SYM_ARRAY && call->args[i]->nloops == 1 &&
            entry_value(call->entry, "code_in_rows"))
            calls = sym_add2(c, calls, call->args[i]->args[1]);
    return sym_mul2(c, sym_num(c, CALL_WORK), calls);
}

symp sweep_operations(struct compiler *c, symp e)
{
    symp total = sym_num(c, 0), own = sym_num(c, 0), turns = sym_num(c, 1);
    double known = 0; /* of the children: numbers, of which most have one */
    switch (e->kind) {
    case SYM_ADD:
    case SYM_MUL:
        own = sym_num(c, e->nargs - 1);
        break;
    case SYM_POW:
    case SYM_SELECT:
        own = sym_num(c, 1);
        break;
    case SYM_CALL:
        own = e->entry ? operations_of_call(c, e) : sym_num(c, 1);
        break;
    case SYM_SUM:
        turns = sym_length(c, e->args[0], e->args[1]);
        return sym_mul2(
            c, turns,
            sym_add2(c, sweep_operations(c, e->args[2]), sym_num(c, 1)));
    case SYM_ARRAY:
        for (int i = 0; i < e->nloops; i++)
            turns = sym_mul2(c, turns, e->args[1 + i]);
        return sym_mul2(c, turns, sweep_operations(c, e->args[0]));
    default: /* subscripts do not count */
        return total;
    }
    for (int i = 0; i < e->nargs; i++) {
        symp child = sweep_operations(c, e->args[i]);
        if (child->kind == SYM_NUM)
            known += child->number;
        else
            total = sym_add2(c, total, child);
    }
    return sym_add(c, 3, (symp[]){total, sym_num(c, known), own});
}

/* ---- numbers that are settled where a state is at hand ---- */

struct bound_index {
    const struct loop *const *loops;
    int n;
    const struct bound_index *outer;
};

static bool is_bound(const struct loop *l, const struct bound_index *b)
{
    for (; b; b = b->outer)
        for (int i = 0; i < b->n; i++)
            if (b->loops[i] == l)
                return true;
    return false;
}

/* A loop index in e that no sum in it runs through, or NULL. */
static struct loop *free_index(symp e, const struct bound_index *outer)
{
    if (e->kind == SYM_LOOP)
        return is_bound(e->loop, outer) ? NULL : e->loop;
    const struct loop *const one[] = {e->loop};
    const struct loop *const two[] = {e->loops[0], e->loops[1]};
    const struct bound_index inside = {e->kind == SYM_SUM ? one : two,
                                       e->kind == SYM_SUM     ? 1
                                       : e->kind == SYM_ARRAY ? e->nloops
                                                              : 0,
                                       outer};
    for (int i = 0; i < e->nargs; i++) {
        const bool body = i == (e->kind == SYM_SUM ? 2 : 0);
        struct loop *found = free_index(e->args[i], body ? &inside : outer);
        if (found)
            return found;
    }
    return NULL;
}

static symp value_tried(struct compiler *c, symp e, void *unused)
{
    (void)unused;
    return e->kind == SYM_TARGET || e->kind == SYM_PARAM ? sym_num(c, 1) : NULL;
}

/* Lengths that depend on a value that is tried, or on an index that nothing
 * runs through, are those of the first. */
static symp settled(struct compiler *c, symp e)
{
    e = sym_map(c, e, value_tried, NULL);
    for (struct loop *l; (l = free_index(e, NULL));)
        e = sym_replace_loop(c, e, l, l->lower ? l->lower : sym_num(c, 1));
    return e;
}

/* ---- rows ---- */

static symp sum_over(struct compiler *c, struct loop *const *loops, int n,
                     symp e)
{
    for (int i = n - 1; i >= 0; i--)
        e = sym_sum(c, loops[i], loops[i]->lower, loops[i]->upper, e);
    return e;
}

/* Of an element: the instances that its subscripts do not settle. */
static symp over_part(struct compiler *c, const struct part *p, symp e)
{
    for (int i = p->nloops - 1; i >= 0; i--)
        e = p->solved[i] ? sym_replace_loop(c, e, p->loops[i], p->solved[i])
                         : sym_sum(c, p->loops[i], p->loops[i]->lower,
                                   p->loops[i]->upper, e);
    return e;
}

/* e of elements whose subscripts meet the part's condition, which is asked once
 * before its instances; what only an instance or the state settles is not told
 * here. */
static symp where_met(struct compiler *c, const struct part *p, symp e)
{
    if (!p->guard || sym_reads_latent(p->guard) ||
        sym_has_loop_of(p->guard, p->loops, p->nloops))
        return e;
    return sym_select(c, p->guard, e, sym_num(c, 0));
}

static bool is_one_element(const struct step *s)
{
    return !s->family || s->whole ||
           (s->sampler && (s->sampler->dense || s->sampler->own_cost));
}

static symp over_elements(struct compiler *c, const struct step *s, symp e)
{
    return is_one_element(s)
               ? e
               : sum_over(c, s->family->loops, s->family->nloops, e);
}

static symp cells_of(struct compiler *c, const struct var *v)
{
    symp cells = sym_num(c, 1);
    for (int d = 0; d < v->ndim; d++)
        cells = sym_mul2(c, cells, sym_extent(c, (struct var *)v, d));
    return cells;
}

/* Each instance belongs to one cell of an index, and elements look up cells:
 * their own, or others that have as many instances as the next. */
static symp over_index(struct compiler *c, const struct step *s,
                       const struct part *p, symp e)
{
    e = sum_over(c, p->loops, p->nloops, e);
    return p->cell ? sym_div(c, over_elements(c, s, e),
                             cells_of(c, p->inverse->var))
                   : e;
}

static symp over_keyed(struct compiler *c, const struct keyed_rows *r, symp e)
{
    for (int i = r->n - 1; i >= 0; i--)
        e = sym_sum(c, r->loops[i], r->lower[i], r->upper[i], e);
    return e;
}

/* What all rows of a phase do, if each does e. */
static symp over_rows(struct compiler *c, const struct step *s,
                      const struct phase *p, symp e)
{
    if (p->keyed)
        e = over_keyed(c, p->keyed, e);
    else if (p->rows)
        e = sum_over(c, p->rows->loops, p->rows->nloops, e);
    else if (p->part && p->part->inverse)
        e = p->lists ? e : over_index(c, s, p->part, e);
    else
        e = over_elements(
            c, s,
            p->part ? where_met(c, p->part, over_part(c, p->part, e)) : e);
    return settled(c, e);
}

/* ... for each value that is tried. */
static symp over_all(struct compiler *c, const struct step *s,
                     const struct phase *p, symp e)
{
    return over_rows(c, s, p, p->tried ? sym_mul2(c, p->tried, e) : e);
}

symp phase_all_cells(struct compiler *c, const struct phase *p)
{
    symp cells = p->all_scratch;
    for (int i = 0; i < p->nreads; i++)
        cells = sym_add2(c, cells, p->all_turns[i]);
    return cells;
}

/* A random number and what makes a draw of it: in operations. */
enum { DRAW_WORK = 40 };

static void count_phase(struct compiler *c, const struct step *s,
                        struct phase *p)
{
    if (p->part && p->part->inverse && p->part->inverse->reach)
        p->lists = p->part->inverse;
    symp one = sym_num(c, 1);
    p->all_rows = over_rows(c, s, p, one);
    p->all_operations = over_all(c, s, p, p->operations);
    if (p->drawn)
        p->all_operations = sym_add2(
            c, p->all_operations,
            sym_mul2(c, sym_num(c, DRAW_WORK), over_rows(c, s, p, p->drawn)));
    p->all_scratch = over_all(c, s, p, p->scratch);
    p->all_turns = NEW_ARRAY(c, symp, p->nreads + 1);
    for (int i = 0; i < p->nreads; i++)
        p->all_turns[i] = over_all(c, s, p, p->turns[i]);
    p->passes = p->part ? over_elements(c, s, p->tried ? p->tried : one) : one;
    p->passes = settled(c, p->passes);
}

void sweep_count_work(struct compiler *c, struct step *s)
{
    for (struct phase *p = s->phases; p; p = p->next)
        count_phase(c, s, p);
}

symp sweep_family_work(struct compiler *c, const struct family *f)
{
    symp e = f->stochastic ? f->factor ? f->factor->plain : NULL : f->body;
    if (!e)
        return sym_num(c, 0);
    if (!f->stochastic && f->var->role != ROLE_CONSTANT)
        e = model_substitute_derived(c, e);
    return settled(c, sum_over(c, f->loops, f->nloops, sweep_operations(c, e)));
}
