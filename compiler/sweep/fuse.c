/* fuse.c: steps that may run in one pass over the rows of a design.
 *
 * A dense Gaussian block adds up a score of each row of a given matrix. Where
 * the score reads a node of the same row, drawn by a step of its own (a latent
 * response), that step reads the row, too, for its predictor. The device then
 * reads the matrix once, if each row's draw can wait for the block's sum: no
 * step between the two may depend on it, nor it on them. */
#include "sweep/sweep.h"

/* Elements of one plate, number by number: one loop each, from 1 to the same
 * end. */
static bool same_rows(const struct family *f, const struct family *g)
{
    return f->nloops == 1 && g->nloops == 1 && sym_is(f->loops[0]->lower, 1) &&
           sym_is(g->loops[0]->lower, 1) &&
           sym_same(f->loops[0]->upper, g->loops[0]->upper);
}

/* Whether e, in the loop of the family drawn, reads it at another row. */
static bool reads_other_row(symp e, const void *context)
{
    const struct family *drawn = context;
    if (e->kind == SYM_EXTENT || e->var != drawn->var)
        return false;
    if (e->nargs != e->var->ndim)
        return true;
    for (int d = 0; d < e->nargs; d++)
        if (drawn->upper[d] || !sym_same(e->args[d], drawn->lower[d]))
            return true;
    return false;
}

/* Whether e, of a row of f, reads no other row's. */
static bool keeps_to_row(struct compiler *c, const struct family *drawn,
                         const struct family *f, symp e)
{
    return !e || !sym_any(sym_replace_loop(c, e, f->loops[0],
                                           sym_loop(c, drawn->loops[0])),
                          reads_other_row, drawn);
}

/* The steps from s on, before `end`. What is drawn for kept sweeps alone comes
 * after them all in any case, and what scales the draw waits with it. */
static bool all_swap(const struct step *s, const struct step *end,
                     const struct step *drawn)
{
    for (; s && s != end; s = s->next)
        if (!s->turn.late && s != drawn->scaled.by && !sweep_may_swap(s, drawn))
            return false;
    return true;
}

static bool comes_after(const struct step *a, const struct step *b)
{
    while (b && b != a)
        b = b->next;
    return b == a;
}

/* Whether the draw may wait for the next turn of the block; a sweep begins
 * anew where it ends. */
static bool may_wait(const struct model *m, const struct step *drawn,
                     const struct step *block)
{
    if (comes_after(block, drawn))
        return all_swap(drawn->next, block, drawn);
    return all_swap(drawn->next, NULL, drawn) &&
           all_swap(m->steps, block, drawn);
}

static void put_before(struct model *m, struct step *s, struct step *block)
{
    struct step **at = &m->steps;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    for (at = &m->steps; *at != block;)
        at = &(*at)->next;
    s->next = block;
    *at = s;
}

/* The node drawn enters the scores of its own row alone. */
static bool within_rows(struct compiler *c, const struct step *s,
                        const struct quadratic *q)
{
    const struct family *rows = q->part->factor->family;
    return same_rows(s->family, rows) &&
           sym_has_var(q->score, s->family->var) &&
           !sym_has_var(q->weight, s->family->var) &&
           keeps_to_row(c, s->family, rows, q->score);
}

/* What is looked for: the sum of matrix[row, l] * x[l] over l. */
struct form {
    const struct var *matrix, *x;
    const struct loop *row;
};

static bool is_cell(symp e, const struct var *v, const struct loop *last)
{
    return e->kind == SYM_REF && e->var == v &&
           e->args[e->nargs - 1]->kind == SYM_LOOP &&
           e->args[e->nargs - 1]->loop == last;
}

static bool is_form(symp e, const struct form *f)
{
    if (e->kind != SYM_SUM || !sym_is(e->args[0], 1) ||
        e->args[1]->kind != SYM_EXTENT || e->args[1]->var != f->matrix ||
        e->args[1]->dim != 1 || e->args[2]->kind != SYM_MUL ||
        e->args[2]->nargs != 2)
        return false;
    for (int i = 0; i < 2; i++) {
        symp a = e->args[2]->args[i], x = e->args[2]->args[1 - i];
        if (is_cell(a, f->matrix, e->loop) && is_cell(x, f->x, e->loop) &&
            a->nargs == 2 && x->nargs == 1 && a->args[0]->kind == SYM_LOOP &&
            a->args[0]->loop == f->row)
            return true;
    }
    return false;
}

static symp find_form(symp e, const struct form *f)
{
    if (is_form(e, f))
        return e;
    symp found = NULL;
    for (int i = 0; i < e->nargs && !found; i++)
        found = find_form(e->args[i], f);
    return found;
}

/* The predictor, of the block's own design, that the step's draw reads. */
static symp find_predictor(const struct step *s, const struct step *block,
                           const struct quadratic *q)
{
    const struct form f = {q->matrix, block->block.members[0].family->var,
                           s->family->loops[0]};
    symp found = NULL;
    for (const struct part *p = s->parts; p; p = p->next)
        for (int i = 0; p->own && i < p->terms.n && !found; i++)
            found = find_form(p->terms.coefficient[i], &f);
    return found;
}

/* Whether the sum of the block's scores can be had before the step that
 * multiplies the draw by a number: the sum is then multiplied by the same. */
static bool may_be_scaled(struct compiler *c, const struct model *m,
                          const struct step *s, const struct step *block,
                          const struct quadratic *q)
{
    const struct step *move = s->scaled.by;
    struct var_list moved = {NULL, 0};
    for (const struct step *k = m->steps; k; k = k->next)
        for (const struct quadratic *o = k->block.quadratics; o; o = o->next)
            if (o->drawn && (k == block ? o->drawn->scaled.by != move
                                        : move && o->drawn->scaled.by == move))
                return false;
    if (!move)
        return true;
    if (move->next && move->next->turn.after == move)
        return false;
    moved.items = NEW_ARRAY(c, const struct var *, move->block.n);
    for (int i = 0; i < move->block.n; i++)
        if (!condition_has_variable(&moved, move->block.members[i].family->var))
            moved.items[moved.n++] = move->block.members[i].family->var;
    return condition_scales_along(c, q->score, &moved);
}

static bool is_alone(const struct step *s)
{
    return s->sampler && s->sampler->split && !s->block.n && !s->turn.late &&
           !s->order.sequential && !s->order.conflicts && !s->through;
}

/* Another term's pass draws it. */
static bool is_taken(const struct step *s, const struct step *block)
{
    for (const struct quadratic *q = block->block.quadratics; q; q = q->next)
        if (q->drawn == s)
            return true;
    return false;
}

static void find_draw(struct compiler *c, struct model *m, struct step *block,
                      struct quadratic *q)
{
    for (struct step *s = m->steps; s && !q->drawn; s = s->next) {
        if (!is_alone(s) || is_taken(s, block) || !within_rows(c, s, q) ||
            !may_wait(m, s, block) || !may_be_scaled(c, m, s, block, q))
            continue;
        q->predictor = find_predictor(s, block, q);
        q->drawn = q->predictor ? s : NULL;
    }
    if (q->drawn && comes_after(q->drawn, block))
        put_before(m, q->drawn, block);
    if (q->drawn && q->drawn->scaled.by)
        put_before(m, q->drawn->scaled.by, block);
}

/* The first step from which on all up to the draw may change places with it:
 * the device begins its pass there, beside these. */
static struct step *may_begin(const struct model *m, const struct step *drawn)
{
    struct step *s = m->steps;
    while (s != drawn && !all_swap(s, drawn, drawn))
        s = s->next;
    return s;
}

static void find_begins(struct model *m)
{
    for (struct step *block = m->steps; block; block = block->next)
        for (struct quadratic *q = block->block.quadratics; q; q = q->next)
            if (q->drawn)
                q->since = may_begin(m, q->drawn);
}

void sweep_fuse(struct compiler *c, struct model *m)
{
    for (struct step *block = m->steps; block; block = block->next) {
        if (!block->sampler || !block->sampler->dense)
            continue;
        for (struct quadratic *q = block->block.quadratics; q; q = q->next)
            if (q->row && q->matrix && q->constant_weight)
                find_draw(c, m, block, q);
    }
    find_begins(m);
    sweep_number_steps(m);
}
