/* tally.c: the tables of a tally (sweep/tally.c), filled in one pass over the
 * rows on the host; on the device cell by cell, each from a list of its group's
 * rows, shared out among a team's lanes. Either way the rows of a cell are
 * added in an order that does not change from run to run. */
#include "emit/emit.h"

/* ---- the host's pass
 * -------------------------------------------------------- */

static const char *cell_of(struct emitter *e, const struct family *f)
{
    return emit_expr(e, family_lhs(e->c, f, 0, NULL));
}

static bool is_bound(const struct emitter *e, const struct loop *l)
{
    for (int i = 0; i < e->nloops; i++)
        if (e->loops[i].loop == l)
            return true;
    return false;
}

/* Opens those of f's loops that have no value yet. The innermost, if it is
 * `simple`, for the vector unit. */
static int open_loops(struct emitter *e, const struct family *f, bool simple)
{
    int braces = 0, last = -1;
    for (int i = 0; i < f->nloops; i++)
        if (!is_bound(e, f->loops[i]))
            last = i;
    for (int i = 0; i < f->nloops; i++) {
        if (is_bound(e, f->loops[i]))
            continue;
        if (simple && i == last)
            emit_line(e, "GBM_SIMD");
        emit_open_loop(e, f->loops[i], f->loops[i]->lower, f->loops[i]->upper);
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
        int braces = open_loops(e, k->family, false);
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
    for (int i = 0; i < MAX_LOOPS; i++)
        if (k->given[i])
            emit_loop_as(e, k->given[i], e->loops[i].name);
    emit_line(e, "{");
    e->indent++;
    int braces = 1 + open_group(e, k, key, &own);
    if (own)
        braces += open_loops(e, k->family, emit_only_vectors(k->term));
    const bool weighted = k->family->tally->rows.weights;
    const char *term =
        weighted ? emit_in_brackets(e, k->term) : emit_expr(e, k->term);
    emit_line(e, "%s += %s%s;", cell_of(e, k->family),
              weighted ? "weight * " : "", term);
    emit_close(e, braces);
    e->nloops = depth;
}

/* So many rows at a time, these for each group: a group's cells stay near, as
 * does what the rows weigh in the next groups. */
enum { TALLIED_ROWS = 64 };
static void emit_weighted_rows(struct emitter *e, const struct tally *t)
{
    struct compiler *c = e->c;
    const int depth = e->nloops;
    const struct keyed_rows *r = &t->rows;
    const struct family *of = r->weights->families;
    struct loop *groups = of->loops[of->nloops - 1];
    const int last = r->n - 1;
    for (int i = 0; i < last; i++)
        emit_open_loop(e, r->loops[i], r->lower[i], r->upper[i]);
    const char *lower = emit_int(e, r->lower[last]);
    const char *upper = emit_int(e, r->upper[last]);
    emit_line(e, "for (int from = %s; from <= %s; from += %d) {", lower, upper,
              TALLIED_ROWS);
    e->indent++;
    emit_line(e, "const int most = %s, ahead = from + %d;", upper,
              TALLIED_ROWS - 1);
    emit_line(e, "const int to = ahead < most ? ahead : most;");
    const char *key = emit_open_loop(e, groups, groups->lower, groups->upper);
    const char *row = emit_loop_name(e, r->loops[last]);
    emit_line(e, "for (int %s = from; %s <= to; %s++) {", row, row, row);
    e->indent++;
    symp at = sym_replace(c, r->key, r->key->args[r->key->nargs - 1],
                          sym_loop(c, groups));
    emit_line(e, "const real weight = %s;", emit_expr(e, at));
    emit_line(e, "if (weight == 0)");
    emit_line(e, "    continue;");
    for (const struct tallied *k = t->sums; k; k = k->next)
        emit_add(e, k, key);
    emit_close(e, last + 3);
    e->nloops = depth;
}

static void emit_all_rows(struct emitter *e, const struct tally *t)
{
    const int depth = e->nloops;
    const struct keyed_rows *r = &t->rows;
    for (int i = 0; i < r->n; i++)
        emit_open_loop(e, r->loops[i], r->lower[i], r->upper[i]);
    const char *key = emit_name(e, "key");
    emit_line(e, "const int %s = %s;", key, emit_int(e, r->key));
    for (const struct tallied *k = t->sums; k; k = k->next)
        emit_add(e, k, key);
    emit_close(e, r->n);
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
        int braces = open_loops(&e, k->family, false);
        emit_line(&e, "%s = 0;", cell_of(&e, k->family));
        emit_close(&e, braces);
        e.nloops = depth;
    }
    if (t->rows.weights)
        emit_weighted_rows(&e, t);
    else
        emit_all_rows(&e, t);
    text_append(out, "}\n");
}

/* ---- the device's cells
 * ----------------------------------------------------- */

static void open_cell(struct emitter *e, const struct family *f)
{
    emit_open_element_function(
        e, f,
        intern_format(e->c,
                      "GBM_FN void derive_%s(const struct state *s, "
                      "const struct gbm_team *team, long long "
                      "element)",
                      family_id(e->c, f)));
}

static void emit_sum(struct emitter *e, const struct family *f)
{
    e->team = true;
    const char *value = emit_expr(e, f->body);
    emit_line(e, "%s = %s;", cell_of(e, f), value);
}

/* All rows are looked at. */
static void emit_by_rows(struct compiler *c, struct text *out,
                         const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    open_cell(&e, f);
    emit_sum(&e, f);
    text_append(out, "}\n");
}

static void emit_range(struct emitter *e, const struct tallied *k)
{
    const struct inverse *index = k->family->tally->index;
    emit_line(e, "const long long cell = %s;",
              emit_cell(e, index->var, &k->group));
    emit_line(e, "const int first = s->%s[cell], last = s->%s[cell + 1];",
              index->start->member, index->start->member);
}

/* How many rows the group has. Of groups that the index has not, as it is by
 * others' bounds, all rows are looked at. */
static void emit_count(struct compiler *c, struct text *out,
                       const struct tallied *k, symp indexed)
{
    struct emitter e = emitter_new(c, out);
    open_cell(&e, k->family);
    if (indexed) {
        emit_line(&e, "if (%s <= %s) {", emit_int(&e, k->group),
                  emit_int(&e, indexed));
        e.indent++;
    }
    emit_range(&e, k);
    emit_line(&e, "%s = %s * (real)(last - first);", cell_of(&e, k->family),
              emit_expr(&e, k->term));
    if (indexed) {
        emit_line(&e, "return;");
        emit_close(&e, 1);
        emit_sum(&e, k->family);
    }
    text_append(out, "}\n");
}

/* Where a cell's sum goes. */
static void emit_put(struct compiler *c, struct text *out,
                     const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    emit_open_element_function(
        &e, f,
        intern_format(c,
                      "GBM_FN void put_%s(const struct state *s, long long "
                      "element, gbm_total sum)",
                      family_id(c, f)));
    emit_line(&e, "%s = (real)sum;", cell_of(&e, f));
    text_append(out, "}\n");
}

/* The rows of the group alone: the calling lane's share of the sum, and where
 * the sum goes. */
static void emit_by_index(struct compiler *c, struct text *out,
                          const struct tallied *k)
{
    const struct tally *t = k->family->tally;
    const struct inverse *index = t->index;
    const struct family *rows = index->factor->family;
    const char *id = family_id(c, k->family);
    struct emitter e = emitter_new(c, out);
    emit_open_element_function(
        &e, k->family,
        intern_format(c,
                      "GBM_FN gbm_total share_%s(const struct state *s, "
                      "const struct gbm_team *team, long long element)",
                      id));
    emit_range(&e, k);
    emit_line(&e, "gbm_total sum = 0;");
    emit_line(&e, "GBM_UNROLL_LOADS");
    emit_team_loop(&e, "at", "first", "last");
    e.indent++;
    const int depth = e.nloops;
    emit_decode(&e, rows, intern_format(c, "s->%s[at]", index->item->member));
    for (int i = 0; i < t->rows.n; i++)
        emit_loop_as(&e, t->rows.loops[i], e.loops[depth + i].name);
    const char *term = emit_expr(&e, k->term);
    emit_line(&e, "sum += %s;", term);
    emit_close(&e, 1);
    e.nloops = depth;
    emit_line(&e, "return sum;");
    text_append(out, "}\n");
    emit_put(c, out, k->family);
    text_printf(out,
                "GBM_FN void derive_%s(const struct state *s, const struct "
                "gbm_team *team, long long element)\n{\n"
                "    const gbm_total sum = share_%s(s, team, element);\n"
                "    put_%s(s, element, gbm_team_sum(team, sum));\n}\n",
                id, id, id);
}

/* The loop of the index's groups, if k is by the same ones, of which it may
 * have others at the end. */
static const struct loop *indexed_groups(const struct tallied *k)
{
    const struct inverse *index = k->family->tally->index;
    if (!index || k->given[0] || k->group->kind != SYM_LOOP)
        return NULL;
    const struct loop *of = index->var->families->loops[0];
    return sym_same(k->group->loop->lower, of->lower) ? of : NULL;
}

/* The index has a list for each cell of the table, and no cell of its own. */
static bool has_index(const struct tallied *k)
{
    const struct loop *of = indexed_groups(k);
    return of && sym_same(k->group->loop->upper, of->upper);
}

/* A chain's sweeps as one kernel have no index. */
static void emit_cell_of_table(struct compiler *c, struct text *out,
                               const struct tallied *k)
{
    const bool all = has_index(k), count = k->term->kind == SYM_NUM;
    const bool indexed = all || (count && indexed_groups(k));
    if (indexed) {
        text_append(out, "#ifndef GBM_CHAINS\n");
        if (count)
            emit_count(c, out, k, all ? NULL : indexed_groups(k)->upper);
        else
            emit_by_index(c, out, k);
        text_append(out, "#else\n");
    }
    emit_by_rows(c, out, k->family);
    if (indexed)
        text_append(out, "#endif\n");
    if (emit_tally_weighted(k->family)) {
        emit_weighted_table(c, out, k);
        emit_put(c, out, k->family);
    }
}

static const struct tallied *tallied_by(const struct family *f)
{
    const struct tallied *k = f->tally->sums;
    while (k->family != f)
        k = k->next;
    return k;
}

/* Cells that are neighbours are sums over the same rows. */
bool emit_tally_beside(const struct family *f)
{
    if (!f->tally)
        return false;
    if (emit_tally_weighted(f))
        return true;
    const struct tallied *k = tallied_by(f);
    return has_index(k) && k->term->kind != SYM_NUM && f->nloops > 1 &&
           f->loops[f->nloops - 1] != k->group->loop;
}

void emit_tally(struct compiler *c, struct text *out, const struct family *f)
{
    const struct tally *t = f->tally;
    const bool first = t->sums->family == f;
    const char *id = family_id(c, f);
    text_append(out, "#ifdef __CUDACC__\n");
    emit_cell_of_table(c, out, tallied_by(f));
    text_append(out, "#else\n");
    if (first)
        emit_pass(c, out, t, id);
    text_printf(out,
                "static inline void refresh_%s(const struct state *s, const "
                "struct gbm_team *team,\n    long long element)\n{\n",
                id);
    if (first)
        text_printf(out, "    if (element == 0)\n        tally_%s(s);\n", id);
    else
        text_printf(out, "    /* filled with %s */\n",
                    t->sums->family->var->name);
    text_printf(out, "}\nGBM_HOST_DERIVE(refresh_%s)\n", id);
    if (emit_tally_weighted(f))
        emit_weighted_lengths(c, out, f);
    text_append(out, "#endif\n");
}
