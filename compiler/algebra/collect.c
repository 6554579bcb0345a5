/* collect.c: an expression in x as a sum of coefficient * statistic,
 * the statistics known functions of x. */
#include "algebra/inside.h"
#include <math.h>
#include <string.h>

/* Products of sums are multiplied out, so a short expression may have very many
 * terms, a recursion written out the more with each turn. */
enum { MOST_VISITS = 40000 };

struct collector {
    struct compiler *c;
    bool positive;
    struct collected *out;
    int *visits; /* of parts, in all that one caller has collected */
};
static void collect(const struct collector *k, symp e, symp coefficient);
static void collect_within(const struct collector *k, symp e,
                           struct collected *out);

static void add_statistic(const struct collector *k, symp statistic,
                          symp coefficient)
{
    struct collected *out = k->out;
    for (int i = 0; i < out->n; i++)
        if (sym_same(out->statistic[i], statistic)) {
            out->coefficient[i] =
                sym_add2(k->c, out->coefficient[i], coefficient);
            return;
        }
    if (out->n == (int)(sizeof out->statistic / sizeof *out->statistic)) {
        out->overflow = true;
        return;
    }
    out->statistic[out->n] = statistic;
    out->coefficient[out->n++] = coefficient;
}

/* Product of factors into those free of x (returned) and the others. */
static symp split_free(struct compiler *c, symp e, struct list *dependent)
{
    struct list free = {0};
    int n = e->kind == SYM_MUL ? e->nargs : 1;
    const symp *args = e->kind == SYM_MUL ? e->args : &e;
    for (int i = 0; i < n; i++)
        sym_list_push(c, sym_has_target(args[i]) ? dependent : &free, args[i]);
    return free.n ? sym_mul(c, free.n, free.at) : sym_num(c, 1);
}

/* Terms of a sum, those free of x gathered into one. */
static struct list grouped_terms(struct compiler *c, symp sum)
{
    struct list free = {0}, terms = {0};
    for (int i = 0; i < sum->nargs; i++)
        sym_list_push(c, sym_has_target(sum->args[i]) ? &terms : &free,
                      sum->args[i]);
    if (free.n)
        sym_list_push(
            c, &terms,
            sym_make(c, (struct sym){.kind = SYM_ADD}, free.n, free.at));
    if (free.n == 1)
        terms.at[terms.n - 1] = free.at[0];
    return terms;
}

static void collect_product(const struct collector *k, symp e, symp coefficient)
{
    struct compiler *c = k->c;
    struct list dep = {0};
    symp free = split_free(c, e, &dep);
    coefficient = sym_mul2(c, coefficient, free);
    if (dep.n == 1 && dep.at[0] != e) {
        collect(k, dep.at[0], coefficient);
        return;
    }
    for (int i = 0; i < dep.n; i++) { /* distribute over a sum or a choice */
        symp f = dep.at[i];
        bool square = f->kind == SYM_POW && f->args[0]->kind == SYM_ADD &&
                      sym_is_whole(f->args[1]) && f->args[1]->number >= 2 &&
                      f->args[1]->number <= 4;
        if (f->kind != SYM_ADD && f->kind != SYM_SELECT && !square)
            continue;
        struct list others = {0};
        for (int j = 0; j < dep.n; j++)
            if (j != i)
                sym_list_push(c, &others, dep.at[j]);
        symp rest = others.n ? sym_mul(c, others.n, others.at) : sym_num(c, 1);
        if (f->kind == SYM_SELECT && !sym_has_target(f->args[0])) {
            collect(k,
                    sym_make(c, (struct sym){.kind = SYM_SELECT}, 3,
                             (symp[]){f->args[0], sym_mul2(c, rest, f->args[1]),
                                      sym_mul2(c, rest, f->args[2])}),
                    coefficient);
            return;
        }
        if (f->kind == SYM_SELECT)
            continue;
        symp sum = square ? f->args[0] : f;
        if (square)
            rest = sym_mul2(
                c, rest, sym_pow(c, sum, sym_num(c, f->args[1]->number - 1)));
        struct list terms = grouped_terms(c, sum);
        if (terms.n == 1 && !square)
            continue;
        for (int t = 0; t < terms.n; t++) {
            /* build without merging back into the power */
            struct list product = {0};
            sym_flatten(c, SYM_MUL, &product, 1, &terms.at[t]);
            sym_flatten(c, SYM_MUL, &product, 1, &rest);
            symp whole = sym_mul(c, product.n, product.at);
            collect(k, whole, coefficient);
        }
        return;
    }
    add_statistic(k, sym_mul(c, dep.n, dep.at), coefficient);
}

static void collect_select(const struct collector *k, symp e, symp coefficient)
{
    struct compiler *c = k->c;
    if (sym_has_target(e->args[0])) {
        add_statistic(k, e, coefficient);
        return;
    }
    struct collected branch[2];
    for (int b = 0; b < 2; b++)
        collect_within(k, e->args[1 + b], &branch[b]);
    symp zero = sym_num(c, 0);
    for (int b = 0; b < 2; b++) {
        for (int i = 0; i < branch[b].n; i++) {
            symp part = branch[b].coefficient[i];
            symp chosen = b == 0 ? sym_select(c, e->args[0], part, zero)
                                 : sym_select(c, e->args[0], zero, part);
            add_statistic(k, branch[b].statistic[i],
                          sym_mul2(c, coefficient, chosen));
        }
        k->out->overflow = k->out->overflow || branch[b].overflow;
    }
    k->out->rest = sym_add2(
        c, k->out->rest,
        sym_mul2(c, coefficient,
                 sym_select(c, e->args[0], branch[0].rest, branch[1].rest)));
}

static void collect_sum(const struct collector *k, symp e, symp coefficient)
{
    struct compiler *c = k->c;
    if (sym_has_target(e->args[0]) || sym_has_target(e->args[1])) {
        add_statistic(k, e, coefficient);
        return;
    }
    struct collected body;
    collect_within(k, e->args[2], &body);
    k->out->overflow = k->out->overflow || body.overflow;
    for (int i = 0; i < body.n; i++) {
        if (!sym_has_loop(body.statistic[i], e->loop))
            add_statistic(k, body.statistic[i],
                          sym_mul2(c, coefficient,
                                   sym_sum(c, e->loop, e->args[0], e->args[1],
                                           body.coefficient[i])));
        else
            add_statistic(
                k,
                sym_sum(c, e->loop, e->args[0], e->args[1],
                        sym_mul2(c, body.coefficient[i], body.statistic[i])),
                coefficient);
    }
    k->out->rest = sym_add2(
        c, k->out->rest,
        sym_mul2(c, coefficient,
                 sym_sum(c, e->loop, e->args[0], e->args[1], body.rest)));
}

/* log(arg) with x in arg: pulls out what is free of x and powers of positive
 * bases; NULL if nothing can be done. */
static symp split_log(const struct collector *k, symp arg)
{
    struct compiler *c = k->c;
    if (arg->kind == SYM_POW && sym_positive_if(arg->args[0], k->positive))
        return sym_mul2(c, arg->args[1], sym_log(c, arg->args[0]));
    if (arg->kind != SYM_MUL)
        return NULL;
    struct list dep = {0}, logs = {0};
    symp free = split_free(c, arg, &dep);
    if (sym_is(free, 1) && dep.n == 1)
        return NULL;
    for (int i = 0; i < dep.n; i++) {
        if (!sym_positive_if(dep.at[i], k->positive) && dep.n > 1)
            return NULL;
        sym_list_push(c, &logs, sym_log(c, dep.at[i]));
    }
    if (dep.n == 1 && !sym_positive_if(dep.at[0], k->positive))
        return NULL;
    if (!sym_is(free, 1))
        sym_list_push(c, &logs, sym_log(c, free));
    return sym_add(c, logs.n, logs.at);
}

/* exp of the terms, exp(c log(x)) as x^c. */
static symp exp_of_terms(const struct collector *k, const struct list *terms)
{
    struct compiler *c = k->c;
    struct list powers = {0}, rest = {0};
    for (int i = 0; i < terms->n; i++) {
        symp t = terms->at[i], power = NULL;
        for (int j = 0; t->kind == SYM_MUL && j < t->nargs && !power; j++)
            if (sym_is_call(c, t->args[j], "log") &&
                t->args[j]->args[0]->kind == SYM_TARGET)
                power = sym_pow(c, t->args[j]->args[0], sym_cofactor(c, t, j));
        sym_list_push(c, power ? &powers : &rest, power ? power : t);
    }
    symp e = sym_exp(c, sym_add(c, rest.n, rest.at));
    if (!powers.n)
        return e;
    sym_list_push(c, &powers, e);
    return sym_mul(c, powers.n, powers.at);
}

/* exp(a + b x) = exp(a) exp(b x) */
static bool collect_exp(const struct collector *k, symp e, symp coefficient)
{
    struct compiler *c = k->c;
    symp arg = e->args[0];
    if (arg->kind != SYM_ADD)
        return false;
    struct list free = {0}, dep = {0};
    for (int i = 0; i < arg->nargs; i++)
        sym_list_push(c, sym_has_target(arg->args[i]) ? &dep : &free,
                      arg->args[i]);
    if (!free.n)
        return false;
    symp outside = sym_exp(c, sym_add(c, free.n, free.at));
    symp inside = exp_of_terms(k, &dep);
    add_statistic(k, inside, sym_mul2(c, coefficient, outside));
    return true;
}

/* sum(i, x a[i] + b[i]) as x sum(i, a[i]) + sum(i, b[i]); e as it is where its
 * terms have statistics of their own. */
static symp spread_sum(const struct collector *k, symp e)
{
    struct compiler *c = k->c;
    if (e->kind != SYM_SUM || sym_has_target(e->args[0]) ||
        sym_has_target(e->args[1]) || !sym_has_target(e->args[2]))
        return e;
    struct collected body;
    collect_within(k, e->args[2], &body);
    if (body.overflow)
        return e;
    symp total = sym_sum(c, e->loop, e->args[0], e->args[1], body.rest);
    for (int i = 0; i < body.n; i++) {
        if (sym_has_loop(body.statistic[i], e->loop))
            return e;
        symp a =
            sym_sum(c, e->loop, e->args[0], e->args[1], body.coefficient[i]);
        total = sym_add2(c, total, sym_mul2(c, a, body.statistic[i]));
    }
    return total;
}

static symp spread_sums(const struct collector *k, symp e)
{
    if (e->kind != SYM_ADD)
        return spread_sum(k, e);
    symp *terms = NEW_ARRAY(k->c, symp, e->nargs);
    for (int i = 0; i < e->nargs; i++)
        terms[i] = spread_sum(k, e->args[i]);
    return sym_add(k->c, e->nargs, terms);
}

/* a x - p a x + b as a (1 - p) x + b: a square of it has the coefficient
 * (1 - p)^2, which stays a square, and 0 where the others are, where p is near
 * 1. Not where 1 - p differs from row to row: what data alone settle in the
 * expanded sums over rows is constant. */
static symp joined_terms(const struct collector *k, symp e)
{
    struct compiler *c = k->c;
    struct collected terms;
    bool joins = false, varies = false;
    if (e->kind != SYM_ADD)
        return e;
    collect_within(k, e, &terms);
    symp total = terms.rest;
    for (int i = 0; i < terms.n; i++) {
        symp a = terms.coefficient[i];
        joins = joins || a->kind == SYM_ADD;
        varies = varies || (a->kind == SYM_ADD && sym_has_any_loop(a));
        total = sym_add2(c, total, sym_mul2(c, a, terms.statistic[i]));
    }
    return joins && !varies && !terms.overflow ? total : e;
}

/* Terms free of x at once: one by one, each would copy those before it. What
 * they are all multiplied by stands before their sum. */
static void add_free(const struct collector *k, const struct list *free,
                     symp coefficient)
{
    struct list all = {0};
    sym_list_push(k->c, &all, k->out->rest);
    if (sym_is(coefficient, 1))
        sym_flatten(k->c, SYM_ADD, &all, free->n, free->at);
    else
        sym_list_push(
            k->c, &all,
            sym_mul2(k->c, coefficient, sym_add(k->c, free->n, free->at)));
    k->out->rest = sym_add(k->c, all.n, all.at);
}

static void collect_terms(const struct collector *k, symp e, symp coefficient)
{
    struct list free = {0};
    for (int i = 0; i < e->nargs; i++) {
        if (!sym_has_target(e->args[i])) {
            sym_list_push(k->c, &free, e->args[i]);
            continue;
        }
        if (free.n)
            add_free(k, &free, coefficient);
        free.n = 0;
        collect(k, e->args[i], coefficient);
    }
    if (free.n)
        add_free(k, &free, coefficient);
}

/* The target, also to a number: it and what is free may then have exponents
 * that are no numbers, as sweep/anchored.c keeps these from overflowing. */
static bool is_power_of_target(symp e)
{
    bool power = e->kind == SYM_POW && e->args[1]->kind == SYM_NUM;
    return (power ? e->args[0] : e)->kind == SYM_TARGET;
}

static void collect_power(const struct collector *k, symp e, symp coefficient)
{
    struct compiler *c = k->c;
    symp base = e->args[0], exponent = e->args[1];
    if (sym_is_whole(exponent) && exponent->number >= 2 &&
        exponent->number <= 4) {
        symp spread = joined_terms(k, spread_sums(k, base));
        if (!sym_same(spread, base)) {
            collect(k, sym_pow(c, spread, exponent), coefficient);
            return;
        }
    }
    if (base->kind == SYM_ADD && sym_is_whole(exponent) &&
        exponent->number >= 2 && exponent->number <= 4) {
        collect_product(k, e, coefficient);
        return;
    }
    if (base->kind == SYM_SELECT && !sym_has_target(base->args[0]) &&
        !sym_has_target(exponent)) {
        collect_select(k,
                       sym_make(c, (struct sym){.kind = SYM_SELECT}, 3,
                                (symp[]){base->args[0],
                                         sym_pow(c, base->args[1], exponent),
                                         sym_pow(c, base->args[2], exponent)}),
                       coefficient);
        return;
    }
    if (base->kind == SYM_MUL && sym_positive_if(base, k->positive)) {
        struct list dep = {0};
        symp free = split_free(c, base, &dep);
        symp rest = sym_mul(c, dep.n, dep.at);
        if (!sym_is(free, 1) &&
            (exponent->kind == SYM_NUM ||
             (is_power_of_target(rest) && !sym_has_target(exponent)))) {
            collect(k, sym_pow(c, rest, exponent),
                    sym_mul2(c, coefficient, sym_pow(c, free, exponent)));
            return;
        }
    }
    if (base->kind == SYM_POW && sym_positive_if(base->args[0], k->positive)) {
        collect(k,
                sym_pow(c, base->args[0], sym_mul2(c, base->args[1], exponent)),
                coefficient);
        return;
    }
    add_statistic(k, e, coefficient);
}

static void collect(const struct collector *k, symp e, symp coefficient)
{
    struct compiler *c = k->c;
    if (++*k->visits > MOST_VISITS)
        k->out->overflow = true;
    if (k->out->overflow)
        return;
    if (!sym_has_target(e)) {
        k->out->rest = sym_add2(c, k->out->rest, sym_mul2(c, coefficient, e));
        return;
    }
    switch (e->kind) {
    case SYM_ADD:
        collect_terms(k, e, coefficient);
        return;
    case SYM_MUL:
        collect_product(k, e, coefficient);
        return;
    case SYM_POW:
        collect_power(k, e, coefficient);
        return;
    case SYM_SELECT:
        collect_select(k, e, coefficient);
        return;
    case SYM_SUM:
        collect_sum(k, e, coefficient);
        return;
    case SYM_CALL:
        if (sym_is_call(c, e, "log")) {
            symp split = split_log(k, e->args[0]);
            if (split) {
                collect(k, split, coefficient);
                return;
            }
        }
        if (sym_is_call(c, e, "exp") && collect_exp(k, e, coefficient))
            return;
        add_statistic(k, e, coefficient);
        return;
    case SYM_TARGET:
    case SYM_NUM:
    case SYM_LOOP:
    case SYM_REF:
    case SYM_EXTENT:
    case SYM_SEEN:
    case SYM_LIVE:
    case SYM_PARAM:
    case SYM_ARRAY:
        add_statistic(k, e, coefficient);
        return;
    }
    UNREACHABLE();
}

static void collect_within(const struct collector *k, symp e,
                           struct collected *out)
{
    struct compiler *c = k->c;
    const struct collector inner = {c, k->positive, out, k->visits};
    *out = (struct collected){.rest = sym_num(c, 0)};
    struct scratch_mark mark = scratch_mark(c);
    collect(&inner, e, sym_num(c, 1));
    scratch_release(c, mark);
    int n = 0; /* drop what cancelled */
    for (int i = 0; i < out->n; i++)
        if (!sym_is(out->coefficient[i], 0)) {
            out->statistic[n] = out->statistic[i];
            out->coefficient[n++] = out->coefficient[i];
        }
    out->n = n;
}

void sym_collect(struct compiler *c, symp e, bool target_positive,
                 struct collected *out)
{
    int visits = 0;
    collect_within(&(struct collector){c, target_positive, NULL, &visits}, e,
                   out);
}

symp sym_only_where(struct compiler *c, symp e, const struct loop *l,
                    symp *rest)
{
    if (e->kind == SYM_MUL) {
        for (int i = 0; i < e->nargs; i++) {
            symp one, x = sym_only_where(c, e->args[i], l, &one);
            if (x) {
                *rest = sym_cofactor(c, e, i);
                return x;
            }
        }
        return NULL;
    }
    *rest = sym_num(c, 1);
    if (e->kind != SYM_CALL || strcmp(e->name, "==") != 0)
        return NULL;
    for (int i = 0; i < 2; i++)
        if (e->args[i]->kind == SYM_LOOP && e->args[i]->loop == l &&
            !sym_has_loop(e->args[1 - i], l))
            return e->args[1 - i];
    return NULL;
}
