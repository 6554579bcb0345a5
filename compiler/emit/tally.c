/* tally.c: the tables of a tally (sweep/tally.c), filled in one pass over the
 * rows on the host; on the device cell by cell, the rows shared out among a
 * team's lanes. Either way the rows of a cell are added in an order that does
 * not change from run to run. */
#include "emit/emit.h"

/* ---- the host's pass
 * -------------------------------------------------------- */

static const char *cell_of(struct emitter *e, const struct family *f)
{
    return emit_expr(e, family_lhs(e->c, f, 0, NULL));
}

/* Opens f's loops but `but`. The innermost, if it is `simple`, for the vector
 * unit. */
static int open_loops(struct emitter *e, const struct family *f,
                      const struct loop *but, bool simple)
{
    int braces = 0, last = -1;
    for (int i = 0; i < f->nloops; i++)
        if (f->loops[i] != but)
            last = i;
    for (int i = 0; i < f->nloops; i++) {
        if (f->loops[i] == but)
            continue;
        const char *lower = emit_int(e, f->loops[i]->lower);
        const char *upper = emit_int(e, f->loops[i]->upper);
        const char *name = emit_loop_name(e, f->loops[i]);
        if (simple && i == last)
            emit_line(e, "GBM_SIMD");
        emit_line(e, "for (int %s = %s; %s <= %s; %s++) {", name, lower, name,
                  upper, name);
        e->indent++;
        braces++;
    }
    return braces;
}

/* Opens the condition that the row at hand, whose key is the local `key`, is of
 * a group of k's table; *own is then the table's loop that the key tells. */
static int open_group(struct emitter *e, const struct tallied *k,
                      const char *key, const struct loop **own)
{
    symp offset;
    const struct loop *l = sym_plain_loop(e->c, k->group, &offset);
    *own = NULL;
    for (int i = 0; i < k->family->nloops; i++)
        if (k->family->loops[i] == l && !sym_has_any_loop(offset))
            *own = l;
    if (!*own) {
        int braces = open_loops(e, k->family, NULL, false);
        emit_line(e, "if (%s == %s) {", key, emit_int(e, k->group));
        e->indent++;
        return braces + 1;
    }
    const char *lower = emit_int(e, l->lower), *upper = emit_int(e, l->upper);
    const char *by = emit_int(e, offset);
    const char *at = emit_loop_name(e, l);
    emit_line(e, "const int %s = %s - (%s);", at, key, by);
    emit_line(e, "if (%s >= %s && %s <= %s) {", at, lower, at, upper);
    e->indent++;
    return 1;
}

static void emit_add(struct emitter *e, const struct tallied *k,
                     const char *key)
{
    const int depth = e->nloops;
    const struct loop *own;
    emit_line(e, "{");
    e->indent++;
    int braces = 1 + open_group(e, k, key, &own);
    if (own)
        braces += open_loops(e, k->family, own, only_vectors(k->term));
    const char *term = emit_expr(e, k->term);
    emit_line(e, "%s += %s;", cell_of(e, k->family), term);
    emit_close(e, braces);
    e->nloops = depth;
}

static void emit_rows(struct emitter *e, const struct tally *t)
{
    const int depth = e->nloops;
    for (int i = 0; i < t->nrows; i++) {
        const char *lower = emit_int(e, t->lower[i]);
        const char *upper = emit_int(e, t->upper[i]);
        const char *name = emit_loop_name(e, t->rows[i]);
        emit_line(e, "for (int %s = %s; %s <= %s; %s++) {", name, lower, name,
                  upper, name);
        e->indent++;
    }
    const char *key = emit_name(e, "key");
    emit_line(e, "const int %s = %s;", key, emit_int(e, t->key));
    for (const struct tallied *k = t->sums; k; k = k->next)
        emit_add(e, k, key);
    emit_close(e, t->nrows);
    e->nloops = depth;
}

static void emit_pass(struct compiler *c, struct text *out,
                      const struct tally *t, const char *id)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "/* In one pass over the rows, by the group that each is in. "
                "*/\nstatic void tally_%s(const struct state *s)\n{\n",
                id);
    for (const struct tallied *k = t->sums; k; k = k->next) {
        const int depth = e.nloops;
        int braces = open_loops(&e, k->family, NULL, false);
        emit_line(&e, "%s = 0;", cell_of(&e, k->family));
        emit_close(&e, braces);
        e.nloops = depth;
    }
    emit_rows(&e, t);
    text_append(out, "}\n");
}

/* ---- the device's cells
 * ----------------------------------------------------- */

static void emit_cell_of_table(struct compiler *c, struct text *out,
                               const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    open_element_function(
        &e, f,
        intern_format(c,
                      "GBM_FN void derive_%s(const struct state *s, "
                      "const struct gbm_team *team, long long "
                      "element)",
                      family_id(c, f)));
    e.team = true;
    const char *value = emit_expr(&e, f->body);
    emit_line(&e, "%s = %s;", cell_of(&e, f), value);
    text_append(out, "}\n");
}

void emit_tally(struct compiler *c, struct text *out, const struct family *f)
{
    const struct tally *t = f->tally;
    const bool first = t->sums->family == f;
    const char *id = family_id(c, f);
    text_append(out, "#ifdef __CUDACC__\n");
    emit_cell_of_table(c, out, f);
    text_append(out, "#else\n");
    if (first)
        emit_pass(c, out, t, id);
    text_printf(out,
                "static inline void refresh_%s(const struct state *s, const "
                "struct gbm_team *team,\n    long long element)\n{\n"
                "    (void)team;\n",
                id);
    if (first)
        text_printf(out, "    if (element == 0)\n        tally_%s(s);\n", id);
    else
        text_printf(out,
                    "    (void)s;\n    (void)element; /* filled with %s */\n",
                    t->sums->family->var->name);
    text_printf(out, "}\nGBM_HOST_DERIVE(refresh_%s)\n#endif\n", id);
}
