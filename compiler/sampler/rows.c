/* rows.c: updates that try all values of an element, for many elements at once:
 * of
 *     z[i] ~ dcat(pi[]);  y[i,] ~ dmnorm(mu[z[i],], Q[z[i],,])
 * the density of z[i] = k is made of what i alone tells (y[i,], a column of
 * each element), what k alone tells (mu[k,], Q[k,,], values that are computed
 * once for all elements), and sums and products of both. The functions that
 * this writes compute columns and values, and from them the densities of
 * GBM_ROWS elements at one k; stdlib/kernels/rows.h has the loops around them
 * and the draw. A quadratic form, sum(a, sum(b, Q[k,a,b] * d[a] * d[b])), has
 * half as many terms: Q[k,a,b] + Q[k,b,a] for b < a.
 *
 * What has both as a choice has parts, or as a subscript, p[x[i], z[i]], is not
 * for that: an element is then updated by itself. */
#include "sampler/sampler.h"
#include <string.h>

/* A loop of a trial: of a sum, or of a part's instances. */
struct turn {
    struct loop *loop;
    symp lower, upper;
    const char *index; /* in the trial's text, from 0 */
    int length;        /* number in struct writer */
};

enum kind { COLUMN, VALUE, ROOM };

/* Numbers that trials read: for each element, for each value, or in the trial's
 * own room. */
struct cells {
    enum kind kind;
    symp value;              /* NULL: the coefficient of a statistic, */
    int statistic;           /* this one; or room */
    const struct part *part; /* of a column: whose instance has to exist */
    struct turn turns[4];
    int nturns;
    bool triangle; /* of two turns alike: second up to first, each with its
                      mirror image */
    const char *name;
};

struct writer {
    struct compiler *c;
    struct step *s;
    struct emitter e; /* of the trial */
    const struct part *part;
    struct turn turns[4];
    int nturns;
    struct cells cells[48];
    int ncells;
    symp lengths[16];
    int nlengths;
    bool declined;
};

/* ---- what elements and values tell ---------------------------------------
 */

/* Beside the value tried, which is SYM_TARGET: of other elements. */
static bool reads_elements(symp e, const void *context)
{
    const struct step *s = context;
    return sym_is_draw(e, NULL) ||
           ((e->kind == SYM_REF || e->kind == SYM_SEEN ||
             e->kind == SYM_LIVE) &&
            (e->var == s->family->var ||
             derived_depends(s->model, e->var, s->family->var)));
}

static bool is_value(const struct writer *w, symp e)
{
    const struct family *f = w->s->family;
    return !sym_has_loop_of(e, f->loops, f->nloops);
}

static bool is_column(symp e) { return !sym_has_target(e); }

static bool is_mixed(const struct writer *w, symp e)
{
    return !is_value(w, e) && !is_column(e);
}

/* ---- cells ---------------------------------------------------------------
 */

static struct cells *new_cells(struct writer *w, enum kind kind, symp value)
{
    static const char letters[] = "xur";
    if (w->ncells == (int)(sizeof w->cells / sizeof *w->cells)) {
        w->declined = true;
        w->ncells--;
    }
    int number = 1;
    for (int i = 0; i < w->ncells; i++)
        number += w->cells[i].kind == kind;
    struct cells *k = &w->cells[w->ncells++];
    *k = (struct cells){.kind = kind, .value = value, .part = w->part};
    k->name = intern_format(w->c, "%c%d", letters[kind], number);
    return k;
}

static struct cells *cells_of(struct writer *w, enum kind kind, symp value)
{
    for (int i = 0; i < w->ncells; i++) {
        struct cells *k = &w->cells[i];
        if (k->kind == kind && k->value && !k->triangle &&
            (kind == VALUE || k->part == w->part) && sym_same(k->value, value))
            return k;
    }
    struct cells *k = new_cells(w, kind, value);
    for (int i = 0; i < w->nturns; i++)
        if (sym_has_loop(value, w->turns[i].loop))
            k->turns[k->nturns++] = w->turns[i];
    return k;
}

/* Place of the cell at hand in its array. */
static const char *place_of(struct writer *w, const struct cells *k)
{
    const char *at = NULL;
    for (int i = 0; i < k->nturns; i++) {
        const char *index = k->turns[i].index;
        at = at ? intern_format(w->c, "(%s) * at->n%d + %s", at,
                                k->turns[i].length, index)
                : index;
    }
    return at ? intern_format(w->c, "at->%s + %s", k->name, at)
              : intern_format(w->c, "at->%s", k->name);
}

static const char *cell_text(struct writer *w, const struct cells *k)
{
    const char *place = place_of(w, k);
    if (k->kind == VALUE)
        return intern_format(w->c, "u[%s]", place);
    return intern_format(w->c, "%s[(%s) * GBM_ROWS + r]",
                         k->kind == COLUMN ? "x" : "room", place);
}

/* ---- trials --------------------------------------------------------------
 */

static int length_of(struct writer *w, symp lower, symp upper)
{
    symp n = sym_length(w->c, lower, upper);
    for (int i = 0; i < w->nlengths; i++)
        if (sym_same(w->lengths[i], n))
            return i + 1;
    if (!sym_fixed(lower) || !sym_fixed(upper) ||
        w->nlengths == (int)(sizeof w->lengths / sizeof *w->lengths)) {
        w->declined = true;
        return 1;
    }
    w->lengths[w->nlengths++] = n;
    return w->nlengths;
}

static bool push_turn(struct writer *w, struct loop *l, symp lower, symp upper)
{
    if (w->nturns == (int)(sizeof w->turns / sizeof *w->turns))
        w->declined = true;
    for (int i = 0; i < w->nturns; i++)
        if (w->turns[i].loop == l)
            w->declined = true;
    if (w->declined)
        return false;
    struct turn *t = &w->turns[w->nturns++];
    *t = (struct turn){l, lower, upper, emit_name(&w->e, "a"),
                       length_of(w, lower, upper)};
    return true;
}

static void open_turn(struct writer *w)
{
    const struct turn *t = &w->turns[w->nturns - 1];
    emit_line(&w->e, "GBM_EACH_TURN");
    emit_line(&w->e, "for (int %s = 0; %s < at->n%d; %s++) {", t->index,
              t->index, t->length, t->index);
    w->e.indent++;
}

static void close_turn(struct writer *w)
{
    emit_close(&w->e, 1);
    w->nturns--;
}

static const char *row_text(struct writer *w, symp e);

/* sum(a, A[a] * sum(b, U[a,b] * A[b])): U and the A of the inner index. */
static bool is_quadratic(struct writer *w, symp e, symp *matrix, symp *vector,
                         symp *inner)
{
    struct compiler *c = w->c;
    symp outside = sym_num(c, 1), inside = outside, values = outside;
    *inner = NULL;
    for (int i = 0; e->args[2]->kind == SYM_MUL && i < e->args[2]->nargs; i++) {
        symp factor = e->args[2]->args[i];
        if (is_value(w, factor))
            values = sym_mul2(c, values, factor);
        else if (factor->kind == SYM_SUM && is_mixed(w, factor) && !*inner)
            *inner = factor;
        else
            outside = sym_mul2(c, outside, factor);
    }
    if (!*inner || !sym_same(e->args[0], (*inner)->args[0]) ||
        !sym_same(e->args[1], (*inner)->args[1]) || e->loop == (*inner)->loop)
        return false;
    symp body = (*inner)->args[2];
    const int n = body->kind == SYM_MUL ? body->nargs : 1;
    for (int i = 0; i < n; i++) {
        symp factor = body->kind == SYM_MUL ? body->args[i] : body;
        if (is_value(w, factor))
            values = sym_mul2(c, values, factor);
        else
            inside = sym_mul2(c, inside, factor);
    }
    *matrix = values;
    *vector = inside;
    return !sym_has_loop(inside, e->loop) &&
           sym_same(sym_replace_loop(c, outside, e->loop,
                                     sym_loop(c, (*inner)->loop)),
                    inside);
}

static const char *quadratic_text(struct writer *w, symp e, symp matrix,
                                  symp vector, symp inner)
{
    const char *sum = emit_name(&w->e, "sum");
    if (!push_turn(w, inner->loop, e->args[0], e->args[1]))
        return "0";
    open_turn(w);
    const char *value = row_text(w, vector);
    struct cells *d = new_cells(w, ROOM, NULL);
    d->turns[d->nturns++] = w->turns[w->nturns - 1];
    emit_line(&w->e, "GBM_EACH_ROW %s = %s;", cell_text(w, d), value);
    close_turn(w);
    struct turn second = d->turns[0], first = second;
    first.loop = e->loop;
    struct cells *q = new_cells(w, VALUE, matrix);
    for (int i = 0; i < w->nturns; i++)
        w->declined = w->declined || sym_has_loop(matrix, w->turns[i].loop) ||
                      sym_has_loop(vector, w->turns[i].loop);
    q->triangle = true;
    q->turns[q->nturns++] = first;
    q->turns[q->nturns++] = second;
    emit_line(&w->e, "gbm_total %s[GBM_ROWS];", sum);
    emit_line(&w->e,
              "gbm_rows_quadratic((int)at->n%d, u + at->%s, room + at->%s * "
              "GBM_ROWS, %s);",
              second.length, q->name, d->name, sum);
    return intern_format(w->c, "%s[r]", sum);
}

static const char *sum_text(struct writer *w, symp e)
{
    symp matrix, vector, inner;
    if (is_quadratic(w, e, &matrix, &vector, &inner))
        return quadratic_text(w, e, matrix, vector, inner);
    const char *sum = emit_name(&w->e, "sum");
    if (!push_turn(w, e->loop, e->args[0], e->args[1]))
        return "0";
    emit_line(&w->e, "gbm_total %s[GBM_ROWS];", sum);
    emit_line(&w->e, "GBM_EACH_ROW %s[r] = 0;", sum);
    open_turn(w);
    const char *term = row_text(w, e->args[2]);
    emit_line(&w->e, "GBM_EACH_ROW %s[r] += %s;", sum, term);
    close_turn(w);
    return intern_format(w->c, "%s[r]", sum);
}

/* Of operands those that values tell are one cell, those that columns tell
 * another. */
static const char *operands_text(struct writer *w, symp e)
{
    struct compiler *c = w->c;
    const bool product = e->kind == SYM_MUL;
    symp none = sym_num(c, product), values = none, columns = none;
    const char *text = NULL, *operator= product ? " * " : " + ";
    for (int i = 0; i < e->nargs; i++) {
        symp *to = is_value(w, e->args[i]) ? &values
                   : is_column(e->args[i]) ? &columns
                                           : NULL;
        if (to) {
            *to = product ? sym_mul2(c, *to, e->args[i])
                          : sym_add2(c, *to, e->args[i]);
            continue;
        }
        const char *more = row_text(w, e->args[i]);
        text = text ? intern_format(c, "%s%s%s", text, operator, more) : more;
    }
    symp both[] = {columns, values};
    for (int i = 0; i < 2; i++)
        if (!sym_same(both[i], none)) {
            const char *more = row_text(w, both[i]);
            text =
                text ? intern_format(c, "%s%s%s", text, operator, more) : more;
        }
    return product ? text : intern_format(c, "(%s)", text);
}

/* A function of numbers. */
static bool is_call(symp e)
{
    for (int i = 0; i < e->nargs; i++)
        if (e->args[i]->kind == SYM_ARRAY)
            return false;
    return e->kind == SYM_POW || (e->kind == SYM_CALL && !sym_is_list(e));
}

static const char *call_text(struct writer *w, symp e)
{
    struct compiler *c = w->c;
    const int nparams = w->e.nparams;
    symp *args = NEW_ARRAY(c, symp, e->nargs);
    for (int i = 0; i < e->nargs; i++) {
        args[i] = e->args[i];
        if (e->args[i]->kind == SYM_NUM)
            continue;
        const char *name = intern_format(c, "argument %d", i);
        emit_param(&w->e, name,
                   intern_format(c, "(%s)", row_text(w, e->args[i])));
        args[i] = sym_param(c, name);
    }
    const char *text = emit_in_brackets(&w->e, sym_rebuild(c, e, args));
    w->e.nparams = nparams;
    return text;
}

/* e for row r of a trial, in C; appends the statements that it needs. */
static const char *row_text(struct writer *w, symp e)
{
    if (w->declined)
        return "0";
    if (e->kind == SYM_NUM)
        return emit_in_brackets(&w->e, e);
    if (is_value(w, e))
        return cell_text(w, cells_of(w, VALUE, e));
    if (is_column(e))
        return cell_text(w, cells_of(w, COLUMN, e));
    if (e->kind == SYM_ADD || e->kind == SYM_MUL)
        return operands_text(w, e);
    if (e->kind == SYM_SUM)
        return sum_text(w, e);
    if (e->kind == SYM_POW && sym_is(e->args[1], 2))
        return intern_format(w->c, "gbm_square(%s)", row_text(w, e->args[0]));
    if (is_call(e))
        return call_text(w, e);
    w->declined = true;
    return "0";
}

/* An opaque part's densities, of its instances that exist. */
static void add_part(struct writer *w, const struct part *p)
{
    struct compiler *c = w->c;
    const struct family *f = w->s->family;
    symp x = p->own ? sym_ref(c, f->var, f->var->ndim, f->lower) : p->reference;
    symp logp = sym_replace(c, p->logp, x, sym_target(c));
    for (int i = p->nloops - 1; i >= 0; i--)
        if (p->solved[i])
            logp = sym_replace_loop(c, logp, p->loops[i], p->solved[i]);
    symp guard = p->own ? sym_num(c, 1) : part_guard(c, p);
    if (p->inverse || p->lower || p->upper || p->copies ||
        sym_any(logp, reads_elements, w->s) || sym_has_target(guard) ||
        sym_any(guard, reads_elements, w->s)) {
        w->declined = true;
        return;
    }
    const int depth = w->nturns;
    w->part = p;
    for (int i = 0; i < p->nloops && !w->declined && !p->own; i++)
        if (!p->solved[i] &&
            push_turn(w, p->loops[i], p->loops[i]->lower, p->loops[i]->upper))
            open_turn(w);
    const char *value = row_text(w, logp);
    if (sym_is(guard, 1))
        emit_line(&w->e, "GBM_EACH_ROW total[r] += %s;", value);
    else {
        struct cells *exists = new_cells(w, COLUMN, sym_num(c, 1));
        for (int i = 0; i < w->nturns; i++)
            exists->turns[exists->nturns++] = w->turns[i];
        emit_line(&w->e, "GBM_EACH_ROW total[r] += %s * (%s);",
                  cell_text(w, exists), value);
    }
    while (w->nturns > depth)
        close_turn(w);
    w->part = NULL;
}

/* Of statistic number i: its coefficient, if that is the same for all elements;
 * NULL: it is not. */
static symp common_coefficient(const struct writer *w, int i)
{
    const struct step *s = w->s;
    symp sum = sym_num(w->c, 0);
    for (const struct part *p = s->parts; p; p = p->next)
        for (int j = 0; !p->opaque && j < p->terms.n; j++) {
            if (!sym_same(p->terms.statistic[j], s->statistics[i]))
                continue;
            symp coefficient = p->terms.coefficient[j];
            if (!p->own || !is_value(w, coefficient) ||
                sym_has_target(coefficient) ||
                sym_any(coefficient, reads_elements, s))
                return NULL;
            sum = sym_add2(w->c, sum, coefficient);
        }
    return sum;
}

/* Statistics whose coefficients all elements have in common are the level of a
 * value, the first cell. */
static void add_statistics(struct writer *w)
{
    struct compiler *c = w->c;
    struct step *s = w->s;
    symp level = sym_num(c, 0);
    struct cells *first = new_cells(w, VALUE, level);
    for (int i = 0; i < s->nstatistics; i++) {
        symp value = statistic_tried(s, i);
        symp coefficient = common_coefficient(w, i);
        if (!is_value(w, value) || sym_any(value, reads_elements, s) ||
            (!coefficient && step_has_columns(s))) {
            w->declined = true;
            return;
        }
        if (coefficient) {
            level = sym_add2(c, level, sym_mul2(c, coefficient, value));
            continue;
        }
        struct cells *k = new_cells(w, COLUMN, NULL);
        k->statistic = i;
        emit_line(&w->e, "GBM_EACH_ROW total[r] += %s * %s;", cell_text(w, k),
                  row_text(w, value));
    }
    first->value = level;
}

/* ---- the functions -------------------------------------------------------
 */

/* How many numbers k has; the lengths are members of `at`. */
static const char *count_of(const struct writer *w, const struct cells *k,
                            const char *at)
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

/* The device has the lengths, and so the places, as constants. */
static void emit_constants(struct text *out, const struct writer *w)
{
    const char *sum[] = {"0", "0", "0"};
    for (int i = 0; i < w->nlengths; i++)
        text_printf(out,
                    "    static constexpr int n%d = GBM_SIZE(%s, %d, 0);\n",
                    i + 1, w->s->name, i + 3);
    for (int i = 0; i < w->ncells; i++) {
        const struct cells *k = &w->cells[i];
        text_printf(out, "    static constexpr int %s = %s;\n", k->name,
                    sum[k->kind]);
        sum[k->kind] =
            intern_format(w->c, "%s + %s", k->name, count_of(w, k, ""));
    }
    for (int i = 0; i < 3; i++)
        text_printf(out, "    static constexpr int %s = %s;\n", sums[i],
                    sum[i]);
}

static void emit_struct(struct text *out, const struct writer *w,
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
        const struct cells *k = &w->cells[i];
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
    if (!family_rectangular(f))
        return "GBM_ROWS_LEAST";
    symp n = sym_num(e->c, 1);
    for (int i = 0; i < f->nloops; i++)
        n = sym_mul2(e->c, n,
                     sym_length(e->c, f->loops[i]->lower, f->loops[i]->upper));
    return emit_int(e, n);
}

static void emit_layout(struct text *out, const struct writer *w,
                        const char *id)
{
    struct emitter e = emitter_new(w->c, out);
    const struct step *s = w->s;
    text_printf(out,
                "GBM_FN void layout_%s(const struct state *s, struct rows_%s "
                "*at)\n{\n    (void)s;\n",
                id, id);
    emit_line(&e, "at->elements = %s;", element_count(&e, s->family));
    emit_line(&e, "at->first = %s;", emit_int(&e, s->lower));
    emit_line(&e, "at->last = %s;", emit_int(&e, s->upper));
    emit_line(&e, "#ifndef __CUDACC__");
    for (int i = 0; i < w->nlengths; i++)
        emit_line(&e, "at->n%d = %s;", i + 1, emit_int(&e, w->lengths[i]));
    emit_line(&e, "at->columns = at->values = at->room = 0;");
    for (int i = 0; i < w->ncells; i++) {
        const struct cells *k = &w->cells[i];
        emit_line(&e, "at->%s = at->%s;", k->name, sums[k->kind]);
        emit_line(&e, "at->%s += %s;", sums[k->kind], count_of(w, k, "at->"));
    }
    emit_line(&e, "#endif");
    text_append(out, "}\n\n");
}

/* Opens the loops over cells, from turn number `from` on; returns the place in
 * the array, if there are turns, of which those before are open. */
static const char *open_cells(struct emitter *e, const struct cells *k,
                              int from)
{
    struct compiler *c = e->c;
    const char *at = NULL;
    for (int t = 0; t < k->nturns; t++) {
        const struct turn *turn = &k->turns[t];
        const char *index;
        if (t < from) {
            index = emit_in_brackets(
                e, sym_sub(c, sym_loop(c, turn->loop), turn->lower));
        } else {
            index = emit_name(e, "a");
            emit_line(e, "GBM_EACH_TURN");
            if (k->triangle && t == 1)
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

/* u: what value k tells. */
static void emit_values(struct text *out, const struct writer *w,
                        const char *id)
{
    struct emitter e = emitter_new(w->c, out);
    text_printf(out,
                "GBM_FN void values_%s(const struct state *s, const struct "
                "rows_%s *at,\n    int k, gbm_total *u)\n"
                "{\n    (void)s;\n    (void)k;\n",
                id, id);
    emit_name(&e, "k");
    e.target = "k";
    for (int i = 0; i < w->ncells; i++) {
        const struct cells *k = &w->cells[i];
        if (k->kind != VALUE)
            continue;
        const int depth = e.nloops;
        const char *place = open_cells(&e, k, 0);
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

static bool is_of_part(const struct cells *k, const struct part *p)
{
    return k->kind == COLUMN && k->part == p && k->value;
}

static void emit_column(struct emitter *e, const struct cells *k)
{
    const int depth = e->nloops;
    int own = 0; /* turns that the part has opened */
    for (int t = 0; t < k->nturns; t++)
        for (int i = 0; i < k->part->nloops; i++)
            own += k->part->loops[i] == k->turns[t].loop;
    const char *place = open_cells(e, k, own);
    const char *value = emit_expr(e, k->value);
    emit_line(e, "x[(%s) * GBM_ROWS] = %s;", place, value);
    emit_close(e, k->nturns - own);
    e->nloops = depth;
}

/* x: what an element tells, as one row of the columns; 0 of instances that do
 * not exist. */
static void emit_columns(struct text *out, const struct writer *w,
                         const char *id)
{
    const struct step *s = w->s;
    struct emitter e = emitter_new(w->c, out);
    bool asks = false;
    text_printf(out,
                "GBM_FN void columns_%s(const struct state *s, const struct "
                "rows_%s *at,\n    long long element, gbm_total *x)\n{\n"
                "    (void)at;\n",
                id, id);
    emit_decode(&e, s->family, "element");
    for (int i = 0; i < e.nloops; i++)
        emit_line(&e, "(void)%s;", e.loops[i].name);
    emit_line(&e, "GBM_EACH_TURN");
    emit_line(&e, "for (int c = 0; c < at->columns; c++)");
    emit_line(&e, "    x[c * GBM_ROWS] = 0;");
    for (int i = 0; i < w->ncells; i++) {
        const struct cells *k = &w->cells[i];
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
                "*__restrict__ total)\n{\n    (void)x;\n    (void)room;\n"
                "    GBM_EACH_ROW total[r] = u[0];\n%s}\n\n",
                id, id, body ? body : "");
}

/* For the device: columns, room, values, and the lengths. */
static void emit_sizes(struct text *out, const struct writer *w, const char *id)
{
    text_printf(
        out,
        "#ifndef __CUDACC__\nstatic int sizes_%s(const void *state, "
        "int64_t *out)\n{\n    struct rows_%s at;\n    layout_%s((const "
        "struct state *)state, &at);\n    out[0] = at.columns;\n"
        "    out[1] = at.room;\n    out[2] = at.values;\n",
        id, id, id);
    for (int i = 0; i < w->nlengths; i++)
        text_printf(out, "    out[%d] = at.n%d;\n", i + 3, i + 1);
    text_printf(out, "    return %d;\n}\n#endif\n\n", w->nlengths + 3);
}

static void emit_put(struct text *out, const struct writer *w, const char *id)
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
    return s->opaque && s->family->nloops && !s->through && !s->sequential &&
           !s->conflicts && !s->bounds && !s->ties && s->family->var->integer &&
           sym_fixed(s->lower) && sym_fixed(s->upper);
}

void emit_rows(struct compiler *c, struct text *out, struct step *s)
{
    if (!may_have_rows(s))
        return;
    struct writer w = {.c = c, .s = s};
    struct text body = {0};
    const char *id = family_id(c, s->family);
    w.e = emitter_new(c, &body);
    add_statistics(&w);
    for (const struct part *p = s->parts; p && !w.declined; p = p->next)
        if (p->opaque)
            add_part(&w, p);
    if (!w.declined) {
        s->by_rows = true;
        emit_struct(out, &w, id);
        emit_layout(out, &w, id);
        emit_values(out, &w, id);
        emit_columns(out, &w, id);
        emit_trial(out, id, body.data);
        emit_put(out, &w, id);
        emit_sizes(out, &w, id);
    }
    text_free(&body);
}
