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
#include "sampler/rows.h"
#include <string.h>

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
             model_derived_depends(s->model, e->var, s->family->var)));
}

static bool is_value(const struct row_writer *w, symp e)
{
    const struct family *f = w->s->family;
    return !sym_has_loop_of(e, f->loops, f->nloops);
}

static bool is_column(symp e) { return !sym_has_target(e); }

static bool is_mixed(const struct row_writer *w, symp e)
{
    return !is_value(w, e) && !is_column(e);
}

/* ---- cells ---------------------------------------------------------------
 */

static struct row_cells *new_cells(struct row_writer *w, enum row_kind kind,
                                   symp value)
{
    static const char letters[] = "xur";
    if (w->ncells == (int)(sizeof w->cells / sizeof *w->cells)) {
        w->declined = true;
        w->ncells--;
    }
    int number = 1;
    for (int i = 0; i < w->ncells; i++)
        number += w->cells[i].kind == kind;
    struct row_cells *k = &w->cells[w->ncells++];
    *k = (struct row_cells){.kind = kind, .value = value, .part = w->part};
    k->name = intern_format(w->c, "%c%d", letters[kind], number);
    return k;
}

static struct row_cells *cells_of(struct row_writer *w, enum row_kind kind,
                                  symp value)
{
    for (int i = 0; i < w->ncells; i++) {
        struct row_cells *k = &w->cells[i];
        if (k->kind == kind && k->value && !k->triangle &&
            (kind == VALUE || k->part == w->part) && sym_same(k->value, value))
            return k;
    }
    struct row_cells *k = new_cells(w, kind, value);
    for (int i = 0; i < w->nturns; i++)
        if (sym_has_loop(value, w->turns[i].loop))
            k->turns[k->nturns++] = w->turns[i];
    return k;
}

/* Place of the cell at hand in its array. */
static const char *place_of(struct row_writer *w, const struct row_cells *k)
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

static const char *cell_text(struct row_writer *w, const struct row_cells *k)
{
    const char *place = place_of(w, k);
    if (k->kind == VALUE)
        return intern_format(w->c, "u[%s]", place);
    return intern_format(w->c, "%s[(%s) * GBM_ROWS + r]",
                         k->kind == COLUMN ? "x" : "room", place);
}

/* ---- trials --------------------------------------------------------------
 */

static int length_of(struct row_writer *w, symp lower, symp upper)
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

/* The index of a loop, which is the same wherever it stands, as cells that were
 * met within it are read again. */
static const char *index_of(struct row_writer *w, const struct loop *l)
{
    for (int i = 0; i < w->ncells; i++)
        for (int k = 0; k < w->cells[i].nturns; k++)
            if (w->cells[i].turns[k].loop == l)
                return w->cells[i].turns[k].index;
    return emit_name(&w->e, "a");
}

static bool push_turn(struct row_writer *w, struct loop *l, symp lower,
                      symp upper)
{
    if (w->nturns == (int)(sizeof w->turns / sizeof *w->turns))
        w->declined = true;
    for (int i = 0; i < w->nturns; i++)
        if (w->turns[i].loop == l)
            w->declined = true;
    if (w->declined)
        return false;
    struct row_turn *t = &w->turns[w->nturns++];
    *t = (struct row_turn){l, lower, upper, index_of(w, l),
                           length_of(w, lower, upper)};
    return true;
}

static void open_turn(struct row_writer *w)
{
    const struct row_turn *t = &w->turns[w->nturns - 1];
    emit_line(&w->e, "GBM_EACH_TURN");
    emit_line(&w->e, "for (int %s = 0; %s < at->n%d; %s++) {", t->index,
              t->index, t->length, t->index);
    w->e.indent++;
}

static void close_turn(struct row_writer *w)
{
    emit_close(&w->e, 1);
    w->nturns--;
    while (w->nsums && w->sums[w->nsums - 1].nturns > w->nturns)
        w->nsums--;
}

static const char *row_text(struct row_writer *w, symp e);

/* sum(a, A[a] * sum(b, U[a,b] * A[b])): U and the A of the inner index. */
static bool is_quadratic(struct row_writer *w, symp e, symp *matrix,
                         symp *vector, symp *inner)
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

static const char *quadratic_text(struct row_writer *w, symp e, symp matrix,
                                  symp vector, symp inner)
{
    const char *sum = emit_name(&w->e, "sum");
    if (!push_turn(w, inner->loop, e->args[0], e->args[1]))
        return "0";
    open_turn(w);
    const char *value = row_text(w, vector);
    struct row_cells *d = new_cells(w, ROOM, NULL);
    d->turns[d->nturns++] = w->turns[w->nturns - 1];
    emit_line(&w->e, "GBM_EACH_ROW %s = %s;", cell_text(w, d), value);
    close_turn(w);
    struct row_turn second = d->turns[0], first = second;
    first.loop = e->loop;
    struct row_cells *q = new_cells(w, VALUE, matrix);
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

/* A sum that is in scope, or NULL. */
static const char *written_sum(const struct row_writer *w, symp e)
{
    for (int i = 0; i < w->nsums; i++)
        if (w->sums[i].part == w->part && sym_same(w->sums[i].e, e))
            return w->sums[i].text;
    return NULL;
}

static const char *write_sum(struct row_writer *w, symp e)
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

static const char *sum_text(struct row_writer *w, symp e)
{
    const char *text = written_sum(w, e);
    if (text)
        return text;
    text = write_sum(w, e);
    if (w->nsums < (int)(sizeof w->sums / sizeof *w->sums))
        w->sums[w->nsums++] = (struct row_sum){e, w->part, text, w->nturns};
    return text;
}

/* Of operands those that values tell are one cell, those that columns tell
 * another. */
static const char *operands_text(struct row_writer *w, symp e)
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

static const char *call_text(struct row_writer *w, symp e)
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
static const char *row_text(struct row_writer *w, symp e)
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

/* ---- polynomials ---------------------------------------------------------
 */

/* e as a polynomial of columns. */
struct row_degree {
    int degree;   /* more than 2: none of these */
    symp column;  /* the one there is, or the first */
    bool several; /* there are others */
    bool crossed; /* a column is multiplied by another one */
};

enum { NO_POLYNOMIAL = 99 };

static void add_column(struct row_degree *to, symp column)
{
    to->several =
        to->several || (to->column && column && !sym_same(to->column, column));
    to->column = to->column ? to->column : column;
}

static void multiply_degree(struct row_degree *to, struct row_degree by)
{
    add_column(to, by.column);
    to->several = to->several || by.several;
    to->crossed =
        to->crossed || by.crossed || (to->degree && by.degree && to->several);
    to->degree += by.degree;
}

static struct row_degree degree_of(const struct row_writer *w, symp e);

/* As operands_text: columns among the operands are one. */
static struct row_degree degree_of_operands(const struct row_writer *w, symp e)
{
    const bool product = e->kind == SYM_MUL;
    struct row_degree all = {0};
    symp columns = NULL;
    for (int i = 0; i < e->nargs; i++) {
        symp x = e->args[i];
        if (is_value(w, x))
            continue;
        if (is_column(x)) {
            columns = !columns  ? x
                      : product ? sym_mul2(w->c, columns, x)
                                : sym_add2(w->c, columns, x);
            continue;
        }
        struct row_degree more = degree_of(w, x);
        if (product) {
            multiply_degree(&all, more);
            continue;
        }
        add_column(&all, more.column);
        all.several = all.several || more.several;
        all.crossed = all.crossed || more.crossed;
        all.degree = more.degree > all.degree ? more.degree : all.degree;
    }
    const struct row_degree column = {.degree = 1, .column = columns};
    if (columns && product)
        multiply_degree(&all, column);
    else if (columns) {
        add_column(&all, columns);
        all.degree = all.degree > 1 ? all.degree : 1;
    }
    return all;
}

static struct row_degree degree_of(const struct row_writer *w, symp e)
{
    if (e->kind == SYM_NUM || is_value(w, e))
        return (struct row_degree){0};
    if (is_column(e))
        return (struct row_degree){.degree = 1, .column = e};
    if (e->kind == SYM_ADD || e->kind == SYM_MUL)
        return degree_of_operands(w, e);
    if (e->kind == SYM_SUM) {
        struct row_degree sum = degree_of(w, e->args[2]);
        sum.several = true;
        return sum;
    }
    struct row_degree power = {.degree = NO_POLYNOMIAL};
    if (e->kind == SYM_POW && sym_is(e->args[1], 2)) {
        power = degree_of(w, e->args[0]);
        multiply_degree(&power, power);
    }
    return power;
}

/* An opaque part's densities, of its instances that exist. */
static void add_part(struct row_writer *w, const struct part *p)
{
    struct compiler *c = w->c;
    const struct family *f = w->s->family;
    symp x = p->own ? sym_ref(c, f->var, f->var->ndim, f->lower) : p->reference;
    symp logp = sym_replace(c, p->logp, x, sym_target(c));
    for (int i = p->nloops - 1; i >= 0; i--)
        if (p->solved[i])
            logp = sym_replace_loop(c, logp, p->loops[i], p->solved[i]);
    symp guard = p->own ? sym_num(c, 1) : emit_part_guard(c, p);
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
    const struct row_degree form = degree_of(w, logp);
    w->degree = form.degree > w->degree ? form.degree : w->degree;
    w->crossed = w->crossed || form.crossed;
    if (sym_is(guard, 1))
        emit_line(&w->e, "GBM_EACH_ROW total[r] += %s;", value);
    else {
        struct row_cells *exists = new_cells(w, COLUMN, sym_num(c, 1));
        exists->flag = true;
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
static symp common_coefficient(const struct row_writer *w, int i)
{
    const struct step *s = w->s;
    symp sum = sym_num(w->c, 0);
    for (const struct part *p = s->parts; p; p = p->next)
        for (int j = 0; !p->opaque && j < p->terms.n; j++) {
            if (!sym_same(p->terms.statistic[j], s->law.statistics[i]))
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
static void add_statistics(struct row_writer *w)
{
    struct compiler *c = w->c;
    struct step *s = w->s;
    symp level = sym_num(c, 0);
    struct row_cells *first = new_cells(w, VALUE, level);
    for (int i = 0; i < s->law.n; i++) {
        symp value = sweep_statistic_tried(s, i);
        symp coefficient = common_coefficient(w, i);
        if (!is_value(w, value) || sym_any(value, reads_elements, s) ||
            (!coefficient && emit_step_has_columns(s))) {
            w->declined = true;
            return;
        }
        if (coefficient) {
            level = sym_add2(c, level, sym_mul2(c, coefficient, value));
            continue;
        }
        struct row_cells *k = new_cells(w, COLUMN, NULL);
        k->statistic = i;
        w->degree = 1;
        emit_line(&w->e, "GBM_EACH_ROW total[r] += %s * %s;", cell_text(w, k),
                  row_text(w, value));
    }
    first->value = level;
}

void sampler_write_row_trial(struct row_writer *w)
{
    add_statistics(w);
    for (const struct part *p = w->s->parts; p && !w->declined; p = p->next)
        if (p->opaque)
            add_part(w, p);
}
