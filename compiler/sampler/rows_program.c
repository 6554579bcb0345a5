/* rows_program.c: the functions of an update of many elements at once (rows.c):
 * its room, the columns, the values, the trial, and how they are laid out. */
#include "sampler/rows.h"
#include <string.h>

/* How many numbers k has; the lengths are members of `at`. */
static const char *count_of(const struct row_writer *w,
                            const struct row_cells *k, const char *at)
{
    const char *n = "1";
    for (int t = 0; t < k->nturns; t++) {
        const char *length =
            intern_format(w->c, "%sn%d", at, k->turns[t].length);
        n = t ? intern_format(w->c, "%s * %s", n, length) : length;
        if (k->triangle)
            return intern_format(w->c, "%s * (%s + 1) / 2", length, length);
    }
    return n;
}

static const char *const sums[] = {"columns", "values", "room"};

/* What sizes_ tells before the lengths. */
enum { SIZES_BEFORE = 5 };

/* How many columns are flags; where: whether column c is one. */
static const char *flags_text(const struct row_writer *w, const char *at,
                              bool where)
{
    const char *text = NULL;
    for (int i = 0; i < w->ncells; i++) {
        const struct row_cells *k = &w->cells[i];
        if (!k->flag)
            continue;
        const char *count = count_of(w, k, at);
        const char *one = where
                              ? intern_format(w->c, "(c >= %s && c < %s + %s)",
                                              k->name, k->name, count)
                              : count;
        text = !text   ? one
               : where ? intern_format(w->c, "%s || %s", text, one)
                       : intern_format(w->c, "%s + %s", text, one);
    }
    return text ? text : where ? "false" : "0";
}

/* The device has the lengths, and so the places, as constants. */
static void emit_constants(struct text *out, const struct row_writer *w)
{
    const char *sum[] = {"0", "0", "0"};
    for (int i = 0; i < w->nlengths; i++)
        text_printf(out,
                    "    static constexpr int n%d = GBM_SIZE(%s, %d, 0);\n",
                    i + 1, w->s->name, i + SIZES_BEFORE);
    for (int i = 0; i < w->ncells; i++) {
        const struct row_cells *k = &w->cells[i];
        text_printf(out, "    static constexpr int %s = %s;\n", k->name,
                    sum[k->kind]);
        sum[k->kind] =
            intern_format(w->c, "%s + %s", k->name, count_of(w, k, ""));
    }
    for (int i = 0; i < 3; i++)
        text_printf(out, "    static constexpr int %s = %s;\n", sums[i],
                    sum[i]);
    text_printf(out,
                "    static constexpr int flags = %s, features = "
                "GBM_SIZE(%s, 4, 0);\n"
                "    GBM_FN constexpr bool flag(int c) { return %s; }\n",
                flags_text(w, "", false), w->s->name, flags_text(w, "", true));
}

static void emit_struct(struct text *out, const struct row_writer *w,
                        const char *id)
{
    text_printf(out,
                "/* How the rows of %s are laid out: where each kind of number "
                "begins\n * among the columns, the values, a trial's room. */\n"
                "struct rows_%s {\n    long long elements;\n    int first, "
                "last; /* values */\n#ifdef __CUDACC__\n",
                w->s->family->text, id);
    emit_constants(out, w);
    text_append(out, "#else\n");
    for (int i = 0; i < w->nlengths; i++)
        text_printf(out, "    long long n%d; /* %s */\n", i + 1,
                    sym_text(w->c, w->lengths[i]));
    for (int i = 0; i < w->ncells; i++) {
        const struct row_cells *k = &w->cells[i];
        text_printf(out, "    long long %s;", k->name);
        if (k->value)
            text_printf(out, " /* %s */", sym_text(w->c, k->value));
        text_append(out, "\n");
    }
    text_append(out, "    long long columns, values, room;\n#endif\n};\n\n");
}

/* How many elements there are; of a ragged plate that is not known here. */
static const char *element_count(struct emitter *e, const struct family *f)
{
    return family_rectangular(f) ? emit_int(e, family_elements(e->c, f))
                                 : "GBM_ROWS_LEAST";
}

static void emit_layout(struct text *out, const struct row_writer *w,
                        const char *id)
{
    struct emitter e = emitter_new(w->c, out);
    const struct step *s = w->s;
    text_printf(out,
                "GBM_FN void layout_%s(const struct state *s, struct rows_%s "
                "*at)\n{\n",
                id, id);
    emit_line(&e, "at->elements = %s;", element_count(&e, s->family));
    emit_line(&e, "at->first = %s;", emit_int(&e, s->support.lower));
    emit_line(&e, "at->last = %s;", emit_int(&e, s->support.upper));
    emit_line(&e, "#ifndef __CUDACC__");
    for (int i = 0; i < w->nlengths; i++)
        emit_line(&e, "at->n%d = %s;", i + 1, emit_int(&e, w->lengths[i]));
    emit_line(&e, "at->columns = at->values = at->room = 0;");
    for (int i = 0; i < w->ncells; i++) {
        const struct row_cells *k = &w->cells[i];
        emit_line(&e, "at->%s = at->%s;", k->name, sums[k->kind]);
        emit_line(&e, "at->%s += %s;", sums[k->kind], count_of(w, k, "at->"));
    }
    emit_line(&e, "#endif");
    text_append(out, "}\n\n");
}

/* Opens the loops over cells, from turn number `from` on, the first shared out
 * among the lanes of `team`, if there is one; returns the place in the array,
 * if there are turns, of which those before are open. */
static const char *open_cells(struct emitter *e, const struct row_cells *k,
                              int from, bool team)
{
    struct compiler *c = e->c;
    const char *at = NULL;
    for (int t = 0; t < k->nturns; t++) {
        const struct row_turn *turn = &k->turns[t];
        const char *index;
        if (t < from) {
            index = emit_in_brackets(
                e, sym_sub(c, sym_loop(c, turn->loop), turn->lower));
        } else {
            index = emit_name(e, "a");
            if (!team)
                emit_line(e, "GBM_EACH_TURN");
            if (team && t == 0)
                emit_line(e, "GBM_TEAM_FOR(%s, 0, at->n%d, team) {", index,
                          turn->length);
            else if (k->triangle && t == 1)
                emit_line(e, "for (int %s = 0; %s <= %s; %s++) {", index, index,
                          at, index);
            else
                emit_line(e, "for (int %s = 0; %s < at->n%d; %s++) {", index,
                          index, turn->length, index);
            e->indent++;
            const char *lower = emit_in_brackets(e, turn->lower);
            const char *l = emit_loop_name(e, turn->loop);
            emit_line(e, "const int %s = %s + %s;", l, lower, index);
        }
        at = !at ? index
             : k->triangle
                 ? intern_format(c, "%s * (%s + 1) / 2 + %s", at, at, index)
                 : intern_format(c, "(%s) * at->n%d + %s", at, turn->length,
                                 index);
    }
    return at ? intern_format(c, "at->%s + %s", k->name, at)
              : intern_format(c, "at->%s", k->name);
}

/* u: what value k tells, by the lanes of a team. */
static void emit_values(struct text *out, const struct row_writer *w,
                        const char *id)
{
    struct emitter e = emitter_new(w->c, out);
    text_printf(out,
                "GBM_FN void values_%s(const struct state *s, const struct "
                "rows_%s *at,\n    const struct gbm_team *team, int k, "
                "gbm_total *u)\n"
                "{\n",
                id, id);
    emit_name(&e, "k");
    e.target = "k";
    for (int i = 0; i < w->ncells; i++) {
        const struct row_cells *k = &w->cells[i];
        if (k->kind != VALUE)
            continue;
        const int depth = e.nloops;
        const char *place = open_cells(&e, k, 0, true);
        const char *value = emit_in_brackets(&e, k->value);
        if (k->triangle) {
            const char *first = e.loops[e.nloops - 2].name;
            const char *second = e.loops[e.nloops - 1].name;
            e.loops[e.nloops - 2].name = second;
            e.loops[e.nloops - 1].name = first;
            value =
                intern_format(w->c, "%s + (%s < %s ? %s : 0)", value, second,
                              first, emit_in_brackets(&e, k->value));
        }
        emit_line(&e, "u[%s] = %s;", place, value);
        emit_close(&e, k->nturns);
        e.nloops = depth;
    }
    text_append(out, "}\n\n");
}

static bool is_of_part(const struct row_cells *k, const struct part *p)
{
    return k->kind == COLUMN && k->part == p && k->value;
}

static void emit_column(struct emitter *e, const struct row_cells *k)
{
    const int depth = e->nloops;
    int own = 0; /* turns that the part has opened */
    for (int t = 0; t < k->nturns; t++)
        for (int i = 0; i < k->part->nloops; i++)
            own += k->part->loops[i] == k->turns[t].loop;
    const char *place = open_cells(e, k, own, false);
    const char *value = emit_expr(e, k->value);
    emit_line(e, "x[(%s) * GBM_ROWS] = %s;", place, value);
    emit_close(e, k->nturns - own);
    e->nloops = depth;
}

/* x: what an element tells, as one row of the columns; 0 of instances that do
 * not exist. */
static void emit_columns(struct text *out, const struct row_writer *w,
                         const char *id)
{
    const struct step *s = w->s;
    struct emitter e = emitter_new(w->c, out);
    bool asks = false;
    text_printf(out,
                "GBM_FN void columns_%s(const struct state *s, const struct "
                "rows_%s *at,\n    long long element, gbm_total *x)\n{\n",
                id, id);
    emit_decode(&e, s->family, "element");
    emit_line(&e, "GBM_EACH_TURN");
    emit_line(&e, "for (int c = 0; c < at->columns; c++)");
    emit_line(&e, "    x[c * GBM_ROWS] = 0;");
    for (int i = 0; i < w->ncells; i++) {
        const struct row_cells *k = &w->cells[i];
        if (k->kind != COLUMN || k->value)
            continue;
        if (!asks) {
            emit_line(&e, "const struct gbm_team alone = {0, 1};");
            emit_line(&e, "struct conditional_%s k_;", id);
            emit_line(&e, "prepare_%s(&k_, s, &alone, element);", id);
        }
        asks = true;
        emit_line(&e, "x[at->%s * GBM_ROWS] = k_.c%d;", k->name,
                  k->statistic + 1);
    }
    for (const struct part *p = s->parts; p; p = p->next) {
        bool any = false;
        for (int i = 0; i < w->ncells; i++)
            any = any || is_of_part(&w->cells[i], p);
        if (!any)
            continue;
        const int depth = e.nloops;
        emit_line(&e, "{");
        e.indent++;
        const int braces = emit_open_part(&e, p, false);
        for (int i = 0; i < w->ncells; i++)
            if (is_of_part(&w->cells[i], p))
                emit_column(&e, &w->cells[i]);
        emit_close(&e, braces + 1);
        e.nloops = depth;
    }
    text_append(out, "}\n\n");
}

static void emit_trial(struct text *out, const char *id, const char *body)
{
    text_printf(out,
                "/* total[r]: the log density of row r at the value of u, up "
                "to a constant. */\n"
                "GBM_INLINE void trial_%s(const struct rows_%s *at,\n"
                "    const gbm_total *__restrict__ u, const gbm_total "
                "*__restrict__ x,\n    gbm_total *__restrict__ room, gbm_total "
                "*__restrict__ total)\n{\n"
                "    GBM_EACH_ROW total[r] = u[0];\n%s}\n\n",
                id, id, body ? body : "");
}

/* How many features a row has, of which its density is a linear function: 1,
 * the columns, and their squares or products (rows_forms.h); 0: it is none. */
static void emit_features(struct text *out, const struct row_writer *w)
{
    if (w->degree > 2 || !family_rectangular(w->s->family)) {
        text_append(out, "    out[4] = 0;\n");
        return;
    }
    text_printf(out, "    const int64_t n = at.columns - (%s);\n",
                flags_text(w, "at.", false));
    text_printf(out, "    out[4] = 1 + n%s;\n",
                w->degree < 2 ? ""
                : w->crossed  ? " * (n + 3) / 2"
                              : " * 2");
}

/* For the device: columns, room, numbers of a value, values, features, and the
 * lengths. */
static void emit_sizes(struct text *out, const struct row_writer *w,
                       const char *id)
{
    text_printf(
        out,
        "#ifndef __CUDACC__\nstatic int sizes_%s(const void *state, "
        "int64_t *out)\n{\n    struct rows_%s at;\n    layout_%s((const "
        "struct state *)state, &at);\n    out[0] = at.columns;\n"
        "    out[1] = at.room;\n    out[2] = at.values;\n"
        "    out[3] = at.last - at.first + 1ll;\n",
        id, id, id);
    emit_features(out, w);
    for (int i = 0; i < w->nlengths; i++)
        text_printf(out, "    out[%d] = at.n%d;\n", i + SIZES_BEFORE, i + 1);
    text_printf(out, "    return %d;\n}\n#endif\n\n",
                w->nlengths + SIZES_BEFORE);
}

static void emit_put(struct text *out, const struct row_writer *w,
                     const char *id)
{
    struct emitter e = emitter_new(w->c, out);
    text_printf(out,
                "GBM_FN void put_%s(const struct state *s, long long element, "
                "int value)\n{\n",
                id);
    emit_decode(&e, w->s->family, "element");
    emit_line(&e, "%s = value;", emit_target(&e, w->s->family));
    text_append(out, "}\n\n");
}

/* Where sums over an element's children make coefficients of statistics, trials
 * are two or three operations: nothing is gained. */
static bool may_have_rows(const struct step *s)
{
    return s->opaque && s->family->nloops && !s->through &&
           !s->order.sequential && !s->order.conflicts && !s->support.bounds &&
           !s->order.ties && s->family->var->integer &&
           sym_fixed(s->support.lower) && sym_fixed(s->support.upper);
}

bool sampler_emit_rows(struct compiler *c, struct text *out, struct step *s)
{
    if (!may_have_rows(s))
        return false;
    struct row_writer w = {.c = c, .s = s};
    struct text body = {0};
    const char *id = family_id(c, s->family);
    w.e = emitter_new(c, &body);
    sampler_write_row_trial(&w);
    if (!w.declined) {
        emit_struct(out, &w, id);
        emit_layout(out, &w, id);
        emit_values(out, &w, id);
        emit_columns(out, &w, id);
        emit_trial(out, id, body.data);
        emit_put(out, &w, id);
        emit_sizes(out, &w, id);
    }
    text_free(&body);
    return !w.declined;
}
