/* tally_weighted.c: the device's part of a table that weights fill, where its
 * rows are one loop and its cells a rectangle (stdlib/kernels/weighted.h has
 * the loops): how many groups, cells and rows there are; what a row weighs in a
 * group, and what it adds to a cell there, weighted by that, as a product;
 * whether cells are symmetric, and whether what a row adds is a number of the
 * loops before the last times one of the last. */
#include "emit/emit.h"

bool emit_tally_weighted(const struct family *f)
{
    const struct tally *t = f->tally;
    const struct tallied *k = t ? t->sums : NULL;
    while (k && k->family != f)
        k = k->next;
    return t && t->rows.weights && t->rows.n == 1 && !k->given[0] &&
           f->nloops > 0 && k->group->kind == SYM_LOOP &&
           k->group->loop == f->loops[0] && sym_is(f->loops[0]->lower, 1) &&
           family_rectangular(f);
}

static symp length_of(struct compiler *c, const struct loop *l)
{
    return sym_length(c, l->lower, l->upper);
}

static void emit_number(struct compiler *c, struct text *out, const char *what,
                        const char *id, symp number)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out, "GBM_FN int %s_%s(const struct state *s)\n{\n", what, id);
    emit_line(&e, "return %s;", emit_int(&e, number));
    text_append(out, "}\n");
}

/* Gives loop l the value that is `place` beyond its lowest. */
static void enter(struct emitter *e, const struct loop *l, const char *place)
{
    const char *lower = emit_int(e, l->lower);
    emit_line(e, "const int %s = %s + %s;", emit_loop_name(e, l), lower, place);
}

/* The loops between the group's and the last, by the number of a cell of them.
 * Nothing is divided for one alone: that would stay in the loop over the rows,
 * and so would all that depends on it. */
static void enter_outer(struct emitter *e, const struct family *f)
{
    for (int i = f->nloops - 2; i > 1; i--) {
        const char *n = emit_int(e, length_of(e->c, f->loops[i]));
        const char *place = emit_name(e, "place");
        emit_line(e, "const int %s = outer %% (%s);", place, n);
        enter(e, f->loops[i], place);
        emit_line(e, "outer = outer / (%s);", n);
    }
    if (f->nloops > 2)
        enter(e, f->loops[1], "outer");
}

static void emit_weight(struct compiler *c, struct text *out,
                        const struct family *f, const char *id)
{
    const struct keyed_rows *r = &f->tally->rows;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN real weight_%s(const struct state *s, int group, int "
                "row)\n{\n",
                id);
    enter(&e, f->loops[0], "group");
    enter(&e, r->loops[0], "row");
    symp at = sym_replace(c, r->key, r->key->args[r->key->nargs - 1],
                          sym_loop(c, f->loops[0]));
    emit_line(&e, "return %s;", emit_expr(&e, at));
    text_append(out, "}\n");
}

/* What a term has to do with the last loop is its tail, the rest its head, so
 * that neighbours have that in common. */
static symp part_of_term(struct compiler *c, const struct tallied *k, bool tail)
{
    const struct family *f = k->family;
    const struct loop *last = f->loops[f->nloops - 1];
    const symp term = k->term;
    symp part = sym_num(c, 1);
    if (term->kind != SYM_MUL)
        return (f->nloops > 1 && sym_has_loop(term, last)) == tail ? term
                                                                   : part;
    for (int i = 0; i < term->nargs; i++)
        if ((f->nloops > 1 && sym_has_loop(term->args[i], last)) == tail)
            part = sym_mul2(c, part, term->args[i]);
    return part;
}

/* Whether cell [k,a,b] is the same sum as cell [k,b,a], so that half of them
 * are computed. */
static bool is_symmetric(struct compiler *c, const struct tallied *k)
{
    struct loop *const *loops = k->family->loops;
    if (k->family->nloops != 3 || !sym_same(loops[1]->lower, loops[2]->lower) ||
        !sym_same(loops[1]->upper, loops[2]->upper))
        return false;
    const symp by[] = {sym_loop(c, loops[2]), sym_loop(c, loops[1])};
    return sym_same(sym_replace_loops(c, k->term, loops + 1, 2, by), k->term);
}

/* Whether the tail has nothing to do with the loops between the group's and the
 * last, so that cells are products of a head and a tail. */
static bool is_apart(struct compiler *c, const struct tallied *k)
{
    const symp tail = part_of_term(c, k, true);
    for (int i = 1; i < k->family->nloops - 1; i++)
        if (sym_has_loop(tail, k->family->loops[i]))
            return false;
    return true;
}

/* ---- what all rows read of a cell -------------------------------------------
 */

struct still {
    const struct tallied *k;
    symp found;
    int n;
};

/* Whether e is a loop that is neither the group's nor the last, be it that of
 * the rows or of a sum. */
static bool is_other_loop(symp e, const void *family)
{
    const struct family *f = family;
    return e->kind == SYM_LOOP && e->loop != f->loops[0] &&
           e->loop != f->loops[f->nloops - 1];
}

static symp find_still(struct compiler *c, symp e, void *context)
{
    struct still *t = context;
    const struct family *f = t->k->family;
    (void)c;
    if (e->kind != SYM_REF || sym_any(e, is_other_loop, f) ||
        !sym_has_loop(e, f->loops[f->nloops - 1]))
        return NULL;
    t->n += !t->found || !sym_same(t->found, e);
    t->found = e;
    return e;
}

/* The one cell of an array that the tail reads by the group and the last loop
 * alone, as a group's mean: lanes have it at hand for all rows. NULL: there is
 * none, or several. */
static symp still_of(struct compiler *c, const struct tallied *k)
{
    struct still t = {.k = k};
    if (k->family->nloops > 1)
        (void)sym_map(c, part_of_term(c, k, true), find_still, &t);
    return t.n == 1 ? t.found : NULL;
}

static void emit_still(struct compiler *c, struct text *out,
                       const struct tallied *k, const char *id)
{
    const struct family *f = k->family;
    struct emitter e = emitter_new(c, out);
    symp still = still_of(c, k);
    text_printf(out,
                "GBM_FN gbm_total still_%s(const struct state *s, int group, "
                "int last)\n{\n",
                id);
    if (still) {
        enter(&e, f->loops[0], "group");
        enter(&e, f->loops[f->nloops - 1], "last");
    }
    emit_line(&e, "return %s;", still ? emit_expr(&e, still) : "0");
    text_append(out, "}\n");
}

/* A part of what a row adds, with what stays for all rows; the head has that
 * of its own cell, where heads are tails of other cells. */
static symp part_by_still(struct compiler *c, const struct tallied *k,
                          bool tail)
{
    struct loop *const *loops = k->family->loops;
    symp part = part_of_term(c, k, tail), still = still_of(c, k);
    if (!still || (!tail && !is_symmetric(c, k)))
        return part;
    const symp by = sym_loop(c, loops[1]);
    if (!tail)
        still = sym_replace_loops(c, still, loops + 2, 1, &by);
    return sym_replace(c, part, still, sym_param(c, intern(c, "still")));
}

static void emit_part_of_term(struct compiler *c, struct text *out,
                              const struct tallied *k, const char *id,
                              bool tail)
{
    const struct family *f = k->family;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN gbm_total %s_%s(const struct state *s, int group, int "
                "outer,\n    %sint row, gbm_total still)\n{\n",
                tail ? "tail" : "head", id, tail ? "int last, " : "");
    emit_param(&e, "still", "still");
    enter(&e, f->loops[0], "group");
    enter_outer(&e, f);
    if (f->nloops > 1 && tail)
        enter(&e, f->loops[f->nloops - 1], "last");
    enter(&e, f->tally->rows.loops[0], "row");
    emit_line(&e, "return %s;", emit_expr(&e, part_by_still(c, k, tail)));
    text_append(out, "}\n");
}

void emit_marks_of(struct emitter *e, const struct var *weights, symp element)
{
    if (weights->marks)
        emit_line(e, "return gbm_marks_of(s->%s, %s - 1, s->%s_n1);",
                  weights->marks->member, emit_in_brackets(e, element),
                  weights->cname);
    else
        emit_line(e, "return gbm_marks_of(NULL, 0, 0);");
}

/* Where marks of the weights of a row begin (stdlib/kernels/weighted.h). */
static void emit_marks(struct compiler *c, struct text *out,
                       const struct family *f, const char *id)
{
    const struct keyed_rows *r = &f->tally->rows;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN struct gbm_marks marks_%s(const struct state *s, int "
                "row)\n{\n",
                id);
    enter(&e, r->loops[0], "row");
    emit_marks_of(&e, r->weights, r->key->args[0]);
    text_append(out, "}\n");
}

void emit_weighted_table(struct compiler *c, struct text *out,
                         const struct tallied *k)
{
    const struct family *f = k->family;
    const struct keyed_rows *r = &f->tally->rows;
    const char *id = family_id(c, f);
    emit_number(c, out, "groups", id, length_of(c, f->loops[0]));
    emit_number(c, out, "rows", id, sym_length(c, r->lower[0], r->upper[0]));
    emit_weight(c, out, f, id);
    emit_marks(c, out, f, id);
    text_printf(out, "enum { symmetric_%s = %d, apart_%s = %d };\n", id,
                is_symmetric(c, k), id, is_apart(c, k));
    emit_still(c, out, k, id);
    emit_part_of_term(c, out, k, id, false);
    emit_part_of_term(c, out, k, id, true);
}

void emit_weighted_lengths(struct compiler *c, struct text *out,
                           const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    symp outers = sym_num(c, 1), lasts = outers;
    for (int i = 1; i < f->nloops - 1; i++)
        outers = sym_mul2(c, outers, length_of(c, f->loops[i]));
    if (f->nloops > 1)
        lasts = length_of(c, f->loops[f->nloops - 1]);
    text_printf(out,
                "static void lengths_%s(const void *state, int64_t *out)\n{\n",
                family_id(c, f));
    emit_line(&e, "const struct state *s = (const struct state *)state;");
    emit_line(&e, "out[0] = %s;", emit_int(&e, outers));
    emit_line(&e, "out[1] = %s;", emit_int(&e, lasts));
    text_append(out, "}\n");
}

/* ---- tables that are filled together ----------------------------------------
 */

/* A reference to what may have moved behind the first table's own. */
static bool moves(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_REF && e->var->role != ROLE_GIVEN &&
           e->var->role != ROLE_CONSTANT && !e->var->leaf;
}

/* Whether the first table has the sums of the tails of the other. */
static bool has_tails(struct compiler *c, const struct tallied *first,
                      const struct tallied *k)
{
    struct loop *const *loops = k->family->loops, *const *own =
                                                      first->family->loops;
    const int last = k->family->nloops - 1;
    if (first->family->nloops != 2 || !is_symmetric(c, k) ||
        !sym_same(loops[last]->lower, own[1]->lower) ||
        !sym_same(loops[last]->upper, own[1]->upper))
        return false;
    struct loop *const of[] = {loops[0], loops[last]};
    const symp by[] = {sym_loop(c, own[0]), sym_loop(c, own[1])};
    return sym_same(sym_replace_loops(c, part_of_term(c, k, true), of, 2, by),
                    first->term);
}

static const char *way_of(struct compiler *c, const struct tallied *first,
                          const struct tallied *k)
{
    if (!emit_tally_weighted(k->family) || !is_apart(c, k) ||
        k->family->nloops < 2 ||
        !sym_same(k->family->loops[0]->upper, first->family->loops[0]->upper))
        return NULL;
    if (sym_is(first->term, 1) && first->family->nloops == 1 &&
        !sym_any(k->term, moves, NULL))
        return "GBM_WEIGHTED_COUNT";
    return has_tails(c, first, k) ? "GBM_WEIGHTED_TAILS" : NULL;
}

const struct family *
emit_weighted_rest(struct compiler *c, const struct family *f, const char **how)
{
    const struct tallied *first = f->tally->sums;
    if (first->family != f || !emit_tally_weighted(f))
        return NULL;
    for (const struct tallied *k = first->next; k; k = k->next) {
        *how = way_of(c, first, k);
        if (*how)
            return k->family;
    }
    return NULL;
}
