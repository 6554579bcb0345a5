/* roll.c: statements, and terms of a sum, that are written out one by one
 * become loops and sums again, as scripts write for WinBUGS:
 *
 *     y[1] ~ dnorm(mu + b * 1, tau)     for (i in 1:100) {
 *     y[2] ~ dnorm(mu + b * 2, tau)         y[i] ~ dnorm(mu + b * i, tau)
 *     ...                               }
 *
 * What comes after then takes time and memory by what the model says, not by
 * its length. Things are alike if they are the same but for numbers. One
 * number, a subscript (of a statement: on its left), counts them, and becomes
 * the index. The others follow from it as a * i + b in whole numbers, or are a
 * list, which is then a constant of the program; in a sum the subscripts of
 * what is random or computed do follow.
 *
 * Requires a parsed program with its arguments in order; leaves one. */
#include "model/roll.h"
#include <stdlib.h>
#include <string.h>

/* ---- what becomes of a run ------------------------------------------------
 */

enum { DEPTH_MOST = 6 };
struct roller {
    struct compiler *c;
    const struct program *program;
    /* of loops, and of sums, by how many are inside */
    const char *loops[DEPTH_MOST], *sums[DEPTH_MOST];
    struct defined defined;
    bool changed; /* the statement at hand */
};

struct filling {
    struct compiler *c;
    const struct run *run;
    enum expr_kind index_kind;
    const char *index;
    int at; /* the next hole */
};

static struct expr *number_expr(struct compiler *c, double x, struct span span)
{
    struct expr *e = expr_new(c, EXPR_NUM, span);
    e->number = x;
    return e;
}

static struct expr *named_expr(struct compiler *c, enum expr_kind kind,
                               const char *name, struct span span)
{
    struct expr *e = expr_new(c, kind, span);
    e->name = name;
    return e;
}

/* slope * i + intercept */
static struct expr *affine_expr(const struct filling *f, double slope,
                                double intercept, struct span span)
{
    struct compiler *c = f->c;
    struct expr *e = named_expr(c, f->index_kind, f->index, span);
    if (slope != 1)
        e = expr_call(c, "*", span, 2, number_expr(c, slope, span), e);
    if (intercept == 0)
        return e;
    bool minus = intercept < 0;
    return expr_call(c, minus ? "-" : "+", span, 2, e,
                     number_expr(c, minus ? -intercept : intercept, span));
}

/* What stands in the place of hole h. */
static struct expr *filler(const struct filling *f, int h)
{
    const struct run *r = f->run;
    const struct follows *how = &r->follows[h];
    struct span span = r->first->shape.holes[h].e->span;
    if (!how->listed)
        return affine_expr(f, how->slope, how->intercept, span);
    struct expr *list = expr_new(f->c, EXPR_LIST, span);
    list->nargs = r->n + 1;
    list->args = NEW_ARRAY(f->c, struct expr *, list->nargs);
    list->args[0] =
        affine_expr(f, 1, 1 - model_number_at(r->first, r->counter), span);
    for (int i = 0; i < r->n; i++)
        list->args[1 + i] =
            number_expr(f->c, model_number_at(&r->first[i], h), span);
    list->depth = list->args[0]->depth + 1;
    return list;
}

/* What stands in a hole for all of a run. Meets the holes in the order of the
 * shape. */
static struct expr *in_hole(struct compiler *c, struct expr *e, void *context)
{
    struct filling *f = context;
    const struct shape *s = &f->run->first->shape;
    (void)c;
    if (f->at == s->n || s->holes[f->at].e != e)
        return NULL;
    int h = f->at++;
    const struct follows *how = &f->run->follows[h];
    return how->listed || how->slope != 0 ? filler(f, h) : e;
}

/* A copy of e, of a run's first, for all of them. */
static struct expr *filled(struct filling *f, struct expr *e)
{
    return e ? expr_map(f->c, e, in_hole, f) : NULL;
}

static struct expr *counted_range(const struct filling *f, struct span span)
{
    double first = model_number_at(f->run->first, f->run->counter);
    struct expr *range = expr_new(f->c, EXPR_RANGE, span);
    range->nargs = 2;
    range->args = NEW_ARRAY(f->c, struct expr *, 2);
    range->args[0] = number_expr(f->c, first, span);
    range->args[1] = number_expr(f->c, first + f->run->n - 1, span);
    range->depth = 2;
    return range;
}

/* ---- sums -----------------------------------------------------------------
 */

struct term {
    struct expr *e; /* NULL: taken into a run */
    bool negative;
};
struct terms {
    struct term *at;
    int n, capacity;
};

static bool is_sum(const struct expr *e)
{
    return model_calls(e, "+", 2) || model_calls(e, "-", 2) ||
           model_calls(e, "neg", 1);
}

static void collect_terms(struct compiler *c, struct expr *e, bool negative,
                          struct terms *out)
{
    if (is_sum(e)) {
        bool difference = !model_calls(e, "+", 2);
        for (int i = 0; i < e->nargs; i++)
            collect_terms(c, e->args[i],
                          negative != (difference && i == e->nargs - 1), out);
        return;
    }
    if (out->n == out->capacity) {
        struct term *old = out->at;
        out->capacity = out->capacity ? 2 * out->capacity : 16;
        out->at = NEW_ARRAY(c, struct term, out->capacity);
        if (out->n)
            memcpy(out->at, old, (size_t)out->n * sizeof *old);
    }
    out->at[out->n++] = (struct term){e, negative};
}

/* A single value, in every turn of a sum. */
static bool is_scalar_term(struct compiler *c, const struct expr *e)
{
    if (e->kind == EXPR_RANGE || e->kind == EXPR_ALL ||
        (e->kind == EXPR_CALL && !model_is_function_of_scalars(c, e->name)))
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (!is_scalar_term(c, e->args[i]))
            return false;
    return true;
}

/* Sums, or loops, inside one another below e. */
static int sums_deep(const struct expr *e)
{
    int deep = 0;
    for (int i = 0; i < e->nargs; i++) {
        int k = sums_deep(e->args[i]);
        deep = k > deep ? k : deep;
    }
    return deep + (e->kind == EXPR_SUM);
}

/* `list`: the terms. */
static void roll_run_of_terms(struct roller *r, void *list,
                              const struct run *run)
{
    struct terms *t = list;
    struct expr *first = t->at[run->first->place].e;
    int deep = sums_deep(first), earliest = run->first->place;
    if (deep == DEPTH_MOST)
        return;
    struct filling f = {r->c, run, EXPR_INDEX, r->sums[deep], 0};
    struct expr *range = counted_range(&f, first->span);
    struct expr *sum = expr_new(r->c, EXPR_SUM, first->span);
    sum->name = f.index;
    sum->nargs = 3;
    sum->args = NEW_ARRAY(r->c, struct expr *, 3);
    sum->args[0] = range->args[0];
    sum->args[1] = range->args[1];
    sum->args[2] = filled(&f, first);
    sum->depth = sum->args[2]->depth + 1;
    for (int i = 0; i < run->n; i++) {
        int place = run->first[i].place;
        earliest = place < earliest ? place : earliest;
        t->at[place].e = NULL;
    }
    t->at[earliest].e = sum;
    r->changed = true;
}

/* Puts what stands for a run in the place of its members. */
typedef void roll_run(struct roller *r, void *list, const struct run *run);

/* Calls `each` on the runs among n things that may be alike; a shape without a
 * key is of what is not. */
static void roll_alike(struct roller *r, struct alike *all, int n,
                       roll_run *each, void *list)
{
    struct alike *group = NEW_ARRAY(r->c, struct alike, n);
    for (int i = 0; i < n; i++) {
        const char *key = all[i].shape.key;
        int k = 0;
        for (int j = i; key && j < n; j++)
            if (all[j].shape.key == key) {
                group[k++] = all[j];
                all[j].shape.key = NULL;
            }
        if (k < ALIKE_LEAST)
            continue;
        struct partition p = model_best_partition(r->c, group, k);
        for (int j = 0; j < p.nruns; j++)
            each(r, list, &p.runs[j]);
    }
}

static struct expr *sum_of_terms(struct compiler *c, const struct terms *t,
                                 struct span span)
{
    struct expr *sum = NULL;
    for (int i = 0; i < t->n; i++) {
        struct expr *e = t->at[i].e;
        if (!e)
            continue;
        bool minus = t->at[i].negative;
        if (sum)
            sum = expr_call(c, minus ? "-" : "+", span, 2, sum, e);
        else
            sum = minus ? expr_call(c, "neg", span, 1, e) : e;
    }
    return sum;
}

static struct expr *roll_sums(struct roller *r, struct expr *e)
{
    struct terms t = {0};
    if (!e)
        return NULL;
    if (!is_sum(e)) {
        for (int i = 0; i < e->nargs; i++)
            e->args[i] = roll_sums(r, e->args[i]);
        return e;
    }
    collect_terms(r->c, e, false, &t);
    bool before = r->changed;
    r->changed = false;
    struct alike *all = NEW_ARRAY(r->c, struct alike, t.n);
    for (int i = 0; i < t.n; i++) {
        t.at[i].e = roll_sums(r, t.at[i].e);
        all[i].place = i;
        if (t.n >= ALIKE_LEAST && is_scalar_term(r->c, t.at[i].e))
            all[i].shape = model_shape_of_term(r->c, &r->defined, t.at[i].e,
                                               t.at[i].negative);
    }
    roll_alike(r, all, t.n, roll_run_of_terms, &t);
    struct expr *result = r->changed ? sum_of_terms(r->c, &t, e->span) : e;
    r->changed = r->changed || before;
    return result;
}

/* ---- statements -----------------------------------------------------------
 */

static struct stmt *filled_statement(struct filling *f, const struct stmt *s)
{
    struct stmt *copy = NEW(f->c, struct stmt);
    *copy = *s;
    copy->next = NULL;
    if (s->kind == STMT_FOR) {
        struct stmt **last = &copy->body;
        copy->range = filled(f, s->range);
        for (const struct stmt *b = s->body; b; b = b->next) {
            *last = filled_statement(f, b);
            last = &(*last)->next;
        }
        return copy;
    }
    copy->lhs = filled(f, s->lhs);
    copy->rhs = filled(f, s->rhs);
    copy->lower = filled(f, s->lower);
    copy->upper = filled(f, s->upper);
    copy->text = relation_text(f->c, copy);
    return copy;
}

static int loops_deep(const struct stmt *s)
{
    int deep = 0;
    for (const struct stmt *b = s->kind == STMT_FOR ? s->body : NULL; b;
         b = b->next) {
        int k = loops_deep(b);
        deep = k > deep ? k : deep;
    }
    return deep + (s->kind == STMT_FOR);
}

/* `list`: the statements, NULL those that are in a run. */
static void roll_run_of_statements(struct roller *r, void *list,
                                   const struct run *run)
{
    struct stmt **at = list;
    struct stmt *first = at[run->first->place];
    int deep = loops_deep(first), earliest = run->first->place;
    if (deep >= DEPTH_MOST)
        return;
    struct filling f = {r->c, run, EXPR_NAME, r->loops[deep], 0};
    struct stmt *loop = NEW(r->c, struct stmt);
    loop->kind = STMT_FOR;
    loop->span = loop->name_span = first->span;
    loop->name = f.index;
    loop->range = counted_range(&f, first->span);
    loop->body = filled_statement(&f, first);
    for (int i = 0; i < run->n; i++) {
        int place = run->first[i].place;
        earliest = place < earliest ? place : earliest;
        at[place] = NULL;
    }
    at[earliest] = loop;
    r->changed = true;
}

/* Whether `samplers {}` speaks of single statements of the variable. */
static bool named_by_element(const struct roller *r, const struct stmt *s)
{
    for (const struct sampler_choice *k = r->program->samplers; k; k = k->next)
        for (int i = 0; i < k->ntargets; i++)
            if (s->kind != STMT_FOR && k->targets[i]->bracket &&
                k->targets[i]->name == s->lhs->name)
                return true;
    for (const struct stmt *b = s->kind == STMT_FOR ? s->body : NULL; b;
         b = b->next)
        if (named_by_element(r, b))
            return true;
    return false;
}

/* One round: loops that it makes may be alike themselves. */
static struct stmt *roll_statements(struct roller *r, struct stmt *list)
{
    int n = 0;
    for (struct stmt *s = list; s; s = s->next)
        n++;
    struct stmt **at = NEW_ARRAY(r->c, struct stmt *, n);
    struct alike *all = NEW_ARRAY(r->c, struct alike, n);
    int i = 0;
    for (struct stmt *s = list; s; s = s->next, i++) {
        at[i] = s;
        all[i].place = i;
        if (n >= ALIKE_LEAST && !named_by_element(r, s))
            all[i].shape = model_shape_of_statement(r->c, s);
    }
    roll_alike(r, all, n, roll_run_of_statements, at);
    struct stmt *result = NULL, **last = &result;
    for (i = 0; i < n; i++) {
        if (!at[i])
            continue;
        *last = at[i];
        last = &at[i]->next;
        *last = NULL;
    }
    return result;
}

static void roll_in_statements(struct roller *r, struct stmt *s)
{
    for (; s; s = s->next) {
        if (s->kind == STMT_FOR) {
            roll_in_statements(r, s->body);
            continue;
        }
        r->changed = false;
        s->rhs = roll_sums(r, s->rhs);
        if (r->changed)
            s->text = relation_text(r->c, s);
    }
}

static struct stmt *roll_block(struct roller *r, struct stmt *list)
{
    roll_in_statements(r, list);
    do {
        r->changed = false;
        list = roll_statements(r, list);
    } while (r->changed);
    return list;
}

/* ---- names for indices ----------------------------------------------------
 */

static bool in_expr(const struct expr *e, const char *name)
{
    bool found = e && e->name == name;
    for (int i = 0; e && !found && i < e->nargs; i++)
        found = in_expr(e->args[i], name);
    return found;
}

static bool in_statements(const struct stmt *s, const char *name)
{
    for (; s; s = s->next)
        if (s->name == name || in_expr(s->range, name) ||
            in_expr(s->lhs, name) || in_expr(s->rhs, name) ||
            in_expr(s->lower, name) || in_expr(s->upper, name) ||
            in_statements(s->body, name))
            return true;
    return false;
}

static bool is_declared(const struct program *p, const char *name)
{
    for (const struct declaration *d = p->declarations; d; d = d->next) {
        if (d->name == name)
            return true;
        for (int i = 0; i < d->ndims; i++)
            if (in_expr(d->dims[i], name))
                return true;
    }
    return false;
}

/* Names that the model does not use. */
static void name_indices(struct roller *r)
{
    static const char letters[] = "ijklmn";
    const struct program *p = r->program;
    int n = 0;
    for (int k = 0; n < 2 * DEPTH_MOST; k++) {
        int digit = k / (int)(sizeof letters - 1);
        char letter = letters[k % (int)(sizeof letters - 1)];
        const char *name = digit ? intern_format(r->c, "%c%d", letter, digit)
                                 : intern_format(r->c, "%c", letter);
        if (!in_statements(p->data, name) && !in_statements(p->model, name) &&
            !is_declared(p, name)) {
            *(n % 2 ? &r->sums[n / 2] : &r->loops[n / 2]) = name;
            n++;
        }
    }
}

static void add_defined(struct compiler *c, struct defined *out,
                        const struct stmt *s)
{
    for (; s; s = s->next) {
        if (s->kind == STMT_FOR) {
            add_defined(c, out, s->body);
            continue;
        }
        if (out->n == out->capacity) {
            const char **old = out->at;
            out->capacity = out->capacity ? 2 * out->capacity : 64;
            out->at = NEW_ARRAY(c, const char *, out->capacity);
            for (int i = 0; i < out->n; i++)
                out->at[i] = old[i];
        }
        out->at[out->n++] = s->lhs->name;
    }
}

void model_roll(struct compiler *c, struct program *p)
{
    struct roller r = {.c = c, .program = p};
    name_indices(&r);
    add_defined(c, &r.defined, p->data);
    add_defined(c, &r.defined, p->model);
    if (r.defined.n)
        qsort(r.defined.at, (size_t)r.defined.n, sizeof *r.defined.at,
              model_compare_names);
    p->data = roll_block(&r, p->data);
    p->model = roll_block(&r, p->model);
}
