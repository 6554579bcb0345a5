/* observed_sum.c: starting values of the summands of an observed sum: moved
 * until they have the sum. */
#include "emit/emit.h"
#include <math.h>

static const char *cell_of(struct emitter *e, const struct summand *s)
{
    return emit_expr(e, s->cell);
}

static const char *seen_of(struct emitter *e, const struct summand *s)
{
    symp cell = s->cell;
    return emit_expr(e, sym_seen(e->c, cell->var, cell->nargs, cell->args));
}

bool emit_has_settle(struct compiler *c, const struct family *f)
{
    const struct expr *how =
        f->factor ? entry_value(f->distribution, "observable") : NULL;
    struct summand *list;
    return how && how->name == intern(c, "sum") && !f->data_block &&
           condition_summands_of(c, f, &list) && list;
}

static int open_index(struct emitter *e, const struct summand *s)
{
    if (!s->index)
        return 0;
    emit_open_loop(e, s->index, s->index->lower, s->index->upper);
    return 1;
}

static void emit_share(struct emitter *e, struct model *m,
                       const struct summand *s)
{
    struct compiler *c = e->c;
    int depth = e->nloops, braces = open_index(e, s);
    emit_line(e, "if (!(%s)) {", seen_of(e, s));
    e->indent++;
    emit_line(e, "real lower = -GBM_INF, upper = GBM_INF;");
    for (const struct part *p = condition_priors_of_cell(c, m, s->cell); p;
         p = p->next) {
        if (!p->lower && !p->upper)
            continue;
        int inner = e->nloops, open = emit_open_part(e, p, false);
        if (p->lower)
            emit_line(e, "lower = real_fmax(lower, %s);",
                      emit_expr(e, p->lower));
        if (p->upper)
            emit_line(e, "upper = real_fmin(upper, %s);",
                      emit_expr(e, p->upper));
        emit_close(e, open);
        e->nloops = inner;
    }
    const bool whole = condition_draws_whole(c, m, s->cell);
    const char *cell = cell_of(e, s), *w = emit_expr(e, sym_num(c, s->weight));
    emit_line(e, "const real from = (real)%s;", cell);
    emit_line(e,
              "%s = %sgbm_share(from, rest / (real)open / (%s), lower, upper, "
              "%d);",
              cell, whole ? "(int)" : "", w, whole);
    emit_line(e, "rest -= (%s) * ((real)%s - from);", w, cell);
    emit_line(e, "open--;");
    emit_close(e, braces + 1);
    e->nloops = depth;
}

/* Goes into the element; where its sum is not observed the function ends. */
static void open_observed(struct emitter *e, const struct family *f,
                          const char *end)
{
    const symp value = f->factor->value;
    if (f->nloops)
        emit_decode(e, f, "element");
    emit_line(
        e, "if (!(%s))",
        emit_expr(e, sym_seen(e->c, value->var, value->nargs, value->args)));
    emit_line(e, "    %s;", end);
}

/* summands_: what the sum holds fast. */
static void emit_summands(struct compiler *c, struct text *out,
                          const struct family *f, const struct summand *list)
{
    const char *id = family_id(c, f);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "static int64_t summands_%s_in(const struct state *s, int64_t "
                "element, int *variables, int64_t *cells)\n{\n"
                "    int64_t count = 0;\n",
                id);
    open_observed(&e, f, "return 0");
    for (const struct summand *s = list; s; s = s->next) {
        int depth = e.nloops, braces = open_index(&e, s);
        emit_line(&e, "if (!(%s)) {", seen_of(&e, s));
        emit_line(&e, "    if (variables) {");
        emit_line(&e, "        variables[count] = %d;",
                  s->cell->var->slot->number);
        emit_line(&e, "        cells[count] = %s;",
                  emit_cell(&e, s->cell->var, s->cell->args));
        emit_line(&e, "    }");
        emit_line(&e, "    count++;");
        emit_line(&e, "}");
        emit_close(&e, braces);
        e.nloops = depth;
    }
    static const struct host_function summands = {
        "int64_t", "summands", ", int *variables, int64_t *cells",
        ", variables, cells"};
    emit_line(&e, "return count;");
    emit_close_host_function(&e, f, &summands);
}

void emit_settle(struct compiler *c, struct text *out, struct model *m,
                 const struct family *f)
{
    struct summand *list;
    if (!condition_summands_of(c, f, &list))
        return;
    emit_summands(c, out, f, list);
    const char *id = family_id(c, f);
    const symp value = f->factor->value;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "/* Moves the summands until they have the sum. */\n"
                "static void settle_%s(const struct state *s, int64_t "
                "element)\n{\n",
                id);
    open_observed(&e, f, "return");
    emit_line(&e, "for (int round = 0; round < 200; round++) {");
    e.indent++;
    const struct value *v = &f->args[0];
    symp total = sym_sum(c, v->loops[0], sym_num(c, 1), v->extents[0],
                         model_substitute_derived(c, v->body));
    emit_line(&e, "real rest = %s;", emit_expr(&e, sym_sub(c, value, total)));
    emit_line(&e, "int open = 0;");
    for (const struct summand *s = list; s; s = s->next) {
        int depth = e.nloops, braces = open_index(&e, s);
        emit_line(&e, "open += !(%s);", seen_of(&e, s));
        emit_close(&e, braces);
        e.nloops = depth;
    }
    emit_line(&e,
              "if (!open || real_fabs(rest) <= REAL_C(1e-12) * (1 + "
              "real_fabs((real)%s)))",
              emit_expr(&e, value));
    emit_line(&e, "    return;");
    for (const struct summand *s = list; s; s = s->next)
        emit_share(&e, m, s);
    emit_close(&e, 1);
    text_append(out, "}\n");
    text_printf(out, "GBM_HOST_SETTLE(settle_%s)\n\n", id);
}
