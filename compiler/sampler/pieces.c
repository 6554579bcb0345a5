/* pieces.c: two labels trade the cells of a matrix that is written cell by
 * cell, P[1,1] ~ dbeta(9,1);  P[1,2] <- 1 - P[1,1];  P[2,1] ~ dbeta(1,9);
 * P[2,2] <- 1 - P[2,1], or P[k,k] <- stay[k], or P[1,2] <- 1 - stay. Each cell
 * is a drawn number or 1 less it, and becomes what the cell at the other labels
 * is: here P[1,1] is 1 - P[2,1] then. Found on symbols, with all loops written
 * out. The change is its own inverse, of a Jacobian of 1. */
#include "sampler/pieces.h"

enum { MOST_OF_MATRIX = 64 };

/* A cell at numbers, and what it is: drawn (or 1 - that), or a number. */
struct cell {
    double at[MAX_DIMS];
    symp value; /* the drawn one, or the number */
    bool complement;
};

struct matrix {
    struct compiler *c;
    const struct model *m;
    struct var *v;
    struct cell cells[MOST_OF_MATRIX];
    int n;
};

/* ---- its cells -------------------------------------------------------------
 */

static bool at_numbers(symp e)
{
    bool numbers = e->kind == SYM_REF;
    for (int d = 0; numbers && d < e->nargs; d++)
        numbers = e->args[d]->kind == SYM_NUM;
    return numbers;
}

/* Whether e is an element that a step draws by itself. */
static bool is_drawn(const struct matrix *k, symp e)
{
    const struct var *v = e->kind == SYM_REF ? e->var : NULL;
    if (!v || !at_numbers(e) || v->role != ROLE_STOCHASTIC || v->integer ||
        v->rest_of || v->slope_of || v->indexes || v->whole)
        return false;
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (f->nslices || f->affine || f->data_block || f->sequence ||
            (f->stochastic && (!sampler_is_free(k->m, f) ||
                               sampler_step_of(k->m, f)->scaled.by)))
            return false;
    return true;
}

static bool set_value(struct matrix *k, struct cell *cell, symp e)
{
    symp one = sym_num(k->c, 1);
    symp rest = sym_sub(k->c, one, e);
    cell->complement = !is_drawn(k, e) && is_drawn(k, rest);
    cell->value = cell->complement ? rest : e;
    return e->kind == SYM_NUM || is_drawn(k, cell->value);
}

/* f's cell where the loops are the numbers `by`. */
static bool add_cell(struct matrix *k, const struct family *f, const symp *by)
{
    struct compiler *c = k->c;
    if (k->n == MOST_OF_MATRIX)
        return false;
    struct cell *cell = &k->cells[k->n++];
    symp args[MAX_DIMS];
    for (int d = 0; d < k->v->ndim; d++) {
        args[d] = sym_replace_loops(c, f->lower[d], f->loops, f->nloops, by);
        if (args[d]->kind != SYM_NUM)
            return false;
        cell->at[d] = args[d]->number;
    }
    symp own = sym_ref(c, k->v, k->v->ndim, args);
    return set_value(
        k, cell,
        f->stochastic ? own
                      : sym_replace_loops(c, f->body, f->loops, f->nloops, by));
}

/* All cells of f, whose first `known` loops are numbers. */
static bool add_family(struct matrix *k, const struct family *f, symp *by,
                       int known)
{
    if (known == f->nloops)
        return add_cell(k, f, by);
    const struct loop *l = f->loops[known];
    symp first = sym_replace_loops(k->c, l->lower, f->loops, known, by);
    symp last = sym_replace_loops(k->c, l->upper, f->loops, known, by);
    if (first->kind != SYM_NUM || last->kind != SYM_NUM ||
        last->number - first->number >= MOST_OF_MATRIX)
        return false;
    bool fits = true;
    for (double i = first->number; fits && i <= last->number; i++) {
        by[known] = sym_num(k->c, i);
        fits = add_family(k, f, by, known + 1);
    }
    return fits;
}

static const struct cell *
at_other_labels(const struct matrix *k, const struct cell *cell, unsigned dims)
{
    for (int i = 0; i < k->n; i++) {
        const struct cell *other = &k->cells[i];
        bool found = true;
        for (int d = 0; d < k->v->ndim; d++)
            found = found && other->at[d] == (dims >> d & 1 ? 3 - cell->at[d]
                                                            : cell->at[d]);
        if (found)
            return other;
    }
    return NULL;
}

/* ---- what they become ------------------------------------------------------
 */

/* A drawn one that is in several cells becomes the same by each. */
static bool add_piece(struct pieces *all, symp cell, symp from, bool complement)
{
    for (int i = 0; i < all->n; i++)
        if (sym_same(all->of[i].cell, cell))
            return sym_same(all->of[i].from, from) &&
                   all->of[i].complement == complement;
    if (all->n == MOST_PIECES)
        return false;
    all->of[all->n++] = (struct piece){cell, from, complement};
    return true;
}

/* Whether what each becomes is one of those that change, which becomes it. */
static bool is_own_inverse(const struct pieces *all)
{
    for (int i = 0; i < all->n; i++) {
        const struct piece *p = &all->of[i];
        bool back = false;
        for (int j = 0; j < all->n; j++)
            back = back || (sym_same(all->of[j].cell, p->from) &&
                            sym_same(all->of[j].from, p->cell) &&
                            all->of[j].complement == p->complement);
        if (!back)
            return false;
    }
    return true;
}

/* Those that become what they are need not change. */
static void drop_unchanged(struct pieces *all)
{
    int n = 0;
    for (int i = 0; i < all->n; i++) {
        const struct piece p = all->of[i];
        if (p.complement || !sym_same(p.cell, p.from))
            all->of[n++] = p;
    }
    all->n = n;
}

static bool find(const struct matrix *k, struct pieces *all, unsigned dims)
{
    const int before = all->n;
    for (int i = 0; i < k->n; i++) {
        const struct cell *a = &k->cells[i];
        const struct cell *b = at_other_labels(k, a, dims);
        const bool number = a->value->kind == SYM_NUM;
        if (!b || number != (b->value->kind == SYM_NUM) ||
            (number && !sym_same(a->value, b->value)) ||
            (!number && !add_piece(all, a->value, b->value,
                                   a->complement != b->complement)))
            return false;
    }
    const bool back = is_own_inverse(all);
    drop_unchanged(all);
    return back && all->n > before;
}

bool sampler_add_pieces(struct compiler *c, const struct model *m,
                        struct pieces *all, struct var *v, unsigned dims)
{
    struct matrix k = {.c = c, .m = m, .v = v};
    const struct pieces before = *all;
    bool fits = v->families != NULL && !v->integer;
    for (const struct family *f = v->families; f && fits; f = f->next_of_var) {
        symp by[MAX_LOOPS];
        fits = !f->nslices && (f->stochastic || f->body) &&
               add_family(&k, f, by, 0);
    }
    if (fits && find(&k, all, dims))
        return true;
    *all = before;
    return false;
}

/* ---- its statements --------------------------------------------------------
 */

void sampler_emit_pieces(struct emitter *e, const struct pieces *all)
{
    if (!all->n)
        return;
    emit_line(e, "{");
    e->indent++;
    for (int i = 0; i < all->n; i++)
        emit_line(e, "const real cell%d = %s%s;", i,
                  all->of[i].complement ? "1 - " : "",
                  emit_expr(e, all->of[i].from));
    for (int i = 0; i < all->n; i++)
        emit_line(e, "%s = cell%d;", emit_expr(e, all->of[i].cell), i);
    emit_close(e, 1);
}

bool sampler_first_of_variable(const struct pieces *all, int i)
{
    for (int j = 0; j < i; j++)
        if (all->of[j].cell->var == all->of[i].cell->var)
            return false;
    return true;
}

void sampler_emit_pieces_held(struct emitter *e, const struct pieces *all)
{
    for (int i = 0; i < all->n; i++) {
        const struct piece *p = &all->of[i];
        if (sampler_first_of_variable(all, i))
            sampler_emit_held(e, p->cell->var);
        if (p->complement)
            emit_line(e, "held = held || gbm_without_complement(%s);",
                      emit_expr(e, p->cell));
    }
}
