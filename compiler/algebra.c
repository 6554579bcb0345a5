/* algebra.c: symbolic expressions: build and simplify, substitute, collect by
 * sufficient statistics, differentiate. See docs/architecture.md, "algebra". */
#include "gbmc.h"
#include <math.h>
#include <string.h>

/* ---- building --------------------------------------------------------- */

static unsigned hash_text(const char *s)
{
    unsigned h = 2166136261u;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 16777619u;
    return h;
}

static bool commutes(enum sym_kind kind)
{
    return kind == SYM_ADD || kind == SYM_MUL;
}

/* Hashes depend on names and structure alone, never on addresses, so that the
 * compiler's output is reproducible. Sums and products hash regardless of
 * order. */
static void set_hash(struct sym *e)
{
    unsigned h = (unsigned)e->kind * 0x9e3779b9u;
    if (e->kind == SYM_NUM) {
        uint64_t bits;
        memcpy(&bits, &e->number, sizeof bits);
        h ^= (unsigned)(bits ^ bits >> 32) * 0x85ebca6bu;
    }
    if (e->kind == SYM_LOOP)
        h ^= hash_text(e->loop->name);
    if (e->var)
        h ^= hash_text(e->var->name) * 31u + (unsigned)e->dim;
    if (e->name)
        h ^= hash_text(e->name) * 17u;
    for (int i = 0; i < e->nargs; i++) {
        if (commutes(e->kind))
            h += e->args[i]->hash * 0xc2b2ae35u;
        else
            h = (h ^ e->args[i]->hash) * 16777619u + 13u;
    }
    e->hash = h ^ h >> 15;
}

static symp make(struct compiler *c, struct sym model, int nargs,
                 const symp *args)
{
    struct sym *e = NEW(c, struct sym);
    *e = model;
    e->nargs = nargs;
    e->args = NEW_ARRAY(c, symp, nargs);
    for (int i = 0; i < nargs; i++)
        e->args[i] = args[i];
    set_hash(e);
    return e;
}

symp sym_num(struct compiler *c, double x)
{
    return make(c, (struct sym){.kind = SYM_NUM, .number = x}, 0, NULL);
}

symp sym_loop(struct compiler *c, struct loop *loop)
{
    return make(c, (struct sym){.kind = SYM_LOOP, .loop = loop}, 0, NULL);
}

symp sym_ref(struct compiler *c, struct var *v, int nargs, const symp *args)
{
    return make(c, (struct sym){.kind = SYM_REF, .var = v}, nargs, args);
}

symp sym_seen(struct compiler *c, struct var *v, int nargs, const symp *args)
{
    return make(c, (struct sym){.kind = SYM_SEEN, .var = v}, nargs, args);
}

symp sym_extent(struct compiler *c, struct var *v, int dim)
{
    return make(c, (struct sym){.kind = SYM_EXTENT, .var = v, .dim = dim}, 0,
                NULL);
}

symp sym_target(struct compiler *c)
{
    return make(c, (struct sym){.kind = SYM_TARGET}, 0, NULL);
}

symp sym_param(struct compiler *c, const char *name)
{
    return make(c, (struct sym){.kind = SYM_PARAM, .name = name}, 0, NULL);
}

bool sym_is(symp e, double number)
{
    return e->kind == SYM_NUM && e->number == number;
}

static bool same_args(symp a, symp b)
{
    if (a->nargs != b->nargs)
        return false;
    if (!commutes(a->kind)) {
        for (int i = 0; i < a->nargs; i++)
            if (!sym_same(a->args[i], b->args[i]))
                return false;
        return true;
    }
    /* multisets: equal terms were merged, so each may match only one */
    for (int i = 0; i < a->nargs; i++) {
        int j = 0;
        while (j < b->nargs && !sym_same(a->args[i], b->args[j]))
            j++;
        if (j == b->nargs)
            return false;
    }
    return true;
}

bool sym_same(symp a, symp b)
{
    if (a == b)
        return true;
    if (a->hash != b->hash || a->kind != b->kind || a->number != b->number ||
        a->loop != b->loop || a->var != b->var || a->dim != b->dim ||
        a->name != b->name || a->nloops != b->nloops)
        return false;
    for (int i = 0; i < a->nloops; i++)
        if (a->loops[i] != b->loops[i])
            return false;
    return same_args(a, b);
}

/* A list of expressions that grows. */
struct list {
    symp *at;
    int n, capacity;
};
static void push(struct compiler *c, struct list *l, symp e)
{
    if (l->n == l->capacity) {
        int capacity = l->capacity ? 2 * l->capacity : 8;
        symp *at = NEW_ARRAY(c, symp, capacity);
        for (int i = 0; i < l->n; i++)
            at[i] = l->at[i];
        l->at = at;
        l->capacity = capacity;
    }
    l->at[l->n++] = e;
}

/* term = coefficient * rest */
static symp split_number(struct compiler *c, symp term, double *coefficient)
{
    *coefficient = 1;
    if (term->kind == SYM_NUM) {
        *coefficient = term->number;
        return sym_num(c, 1);
    }
    if (term->kind != SYM_MUL || term->args[0]->kind != SYM_NUM)
        return term;
    *coefficient = term->args[0]->number;
    if (term->nargs == 2)
        return term->args[1];
    return make(c, (struct sym){.kind = SYM_MUL}, term->nargs - 1,
                term->args + 1);
}

static void flatten(struct compiler *c, enum sym_kind kind, struct list *out,
                    int n, const symp *args)
{
    for (int i = 0; i < n; i++) {
        if (args[i]->kind == kind)
            flatten(c, kind, out, args[i]->nargs, args[i]->args);
        else
            push(c, out, args[i]);
    }
}

/* Is e a call of the library's function `name`? */
static bool is_call(struct compiler *c, symp e, const char *name)
{
    return e->kind == SYM_CALL && e->name == intern(c, name);
}

symp sym_add(struct compiler *c, int n, const symp *terms)
{
    struct list flat = {0}, rests = {0}, out = {0};
    flatten(c, SYM_ADD, &flat, n, terms);
    double *coefficients = NEW_ARRAY(c, double, flat.n);
    double constant = 0;
    for (int i = 0; i < flat.n; i++) {
        double k;
        symp rest = split_number(c, flat.at[i], &k);
        if (sym_is(rest, 1)) {
            constant += k;
            continue;
        }
        int j = 0;
        while (j < rests.n && !sym_same(rests.at[j], rest))
            j++;
        if (j == rests.n)
            push(c, &rests, rest);
        coefficients[j] += k;
    }
    for (int j = 0; j < rests.n; j++) {
        if (coefficients[j] == 0)
            continue;
        symp factors[2] = {sym_num(c, coefficients[j]), rests.at[j]};
        push(c, &out,
             coefficients[j] == 1 ? rests.at[j] : sym_mul(c, 2, factors));
    }
    if (constant != 0 || out.n == 0)
        push(c, &out, sym_num(c, constant));
    if (out.n == 1)
        return out.at[0];
    return make(c, (struct sym){.kind = SYM_ADD}, out.n, out.at);
}

symp sym_add2(struct compiler *c, symp a, symp b)
{
    return sym_add(c, 2, (symp[]){a, b});
}

symp sym_neg(struct compiler *c, symp a)
{
    return sym_mul2(c, sym_num(c, -1), a);
}

symp sym_sub(struct compiler *c, symp a, symp b)
{
    return sym_add2(c, a, sym_neg(c, b));
}

static void split_power(struct compiler *c, symp e, symp *base, symp *exponent)
{
    if (e->kind == SYM_POW) {
        *base = e->args[0];
        *exponent = e->args[1];
    } else {
        *base = e;
        *exponent = sym_num(c, 1);
    }
}

/* If e is 1 + exp(a), also with positive factors before exp, then a with their
 * logs; else NULL. */
static symp exponent_beside_one(struct compiler *c, symp e)
{
    if (e->kind != SYM_ADD || e->nargs != 2)
        return NULL;
    int one = sym_is(e->args[0], 1) ? 0 : 1;
    symp t = e->args[1 - one];
    if (!sym_is(e->args[one], 1))
        return NULL;
    if (is_call(c, t, "exp"))
        return t->args[0];
    bool found = false, positive = t->kind == SYM_MUL;
    for (int i = 0; positive && i < t->nargs; i++) {
        found = found || is_call(c, t->args[i], "exp");
        positive = sym_positive(t->args[i]);
    }
    return positive && found ? sym_log(c, t) : NULL;
}

/* exp(a) ilogit(-a) is ilogit(a): so exp(a) / (1 + exp(a)) is. Removes such a
 * pair from the factors; true if there was one. */
static bool join_logistic(struct compiler *c, struct list *factors)
{
    for (int i = 0; i < factors->n; i++) {
        if (!is_call(c, factors->at[i], "ilogit"))
            continue;
        symp minus = factors->at[i]->args[0];
        for (int j = 0; j < factors->n; j++) {
            symp e = factors->at[j];
            if (!is_call(c, e, "exp") ||
                !sym_is(sym_add2(c, e->args[0], minus), 0))
                continue;
            factors->at[i] = sym_call(c, "ilogit", 1, e->args);
            factors->at[j] = factors->at[--factors->n];
            return true;
        }
    }
    return false;
}

symp sym_join_complement(struct compiler *c, symp e)
{
    if (e->kind != SYM_ADD || e->nargs != 2 || !sym_is(e->args[1], 1))
        return e;
    symp minus = sym_neg(c, e->args[0]);
    if (!is_call(c, minus, "ilogit"))
        return e;
    return sym_call(c, "ilogit", 1, (symp[]){sym_neg(c, minus->args[0])});
}

symp sym_mul(struct compiler *c, int n, const symp *factors)
{
    struct list flat = {0}, bases = {0}, exponents = {0}, out = {0};
    flatten(c, SYM_MUL, &flat, n, factors);
    double number = 1;
    for (int i = 0; i < flat.n; i++) {
        symp base, exponent;
        if (flat.at[i]->kind == SYM_NUM) {
            number *= flat.at[i]->number;
            continue;
        }
        split_power(c, flat.at[i], &base, &exponent);
        int j = 0;
        while (j < bases.n && !sym_same(bases.at[j], base))
            j++;
        if (j < bases.n) {
            exponents.at[j] = sym_add2(c, exponents.at[j], exponent);
        } else {
            push(c, &bases, base);
            push(c, &exponents, exponent);
        }
    }
    if (number == 0)
        return sym_num(c, 0);
    bool again = false;
    for (int j = 0; j < bases.n; j++) {
        symp f = sym_pow(c, bases.at[j], exponents.at[j]);
        if (f->kind == SYM_NUM)
            number *= f->number;
        else if (f->kind == SYM_MUL)
            flatten(c, SYM_MUL, &out, 1, &f);
        else
            push(c, &out, f);
        again = again || f->kind == SYM_MUL;
    }
    if (again) { /* what came out of a product may meet its like */
        push(c, &out, sym_num(c, number));
        return sym_mul(c, out.n, out.at);
    }
    /* a power of a product may have given a number again */
    struct list all = {0};
    for (int j = 0; j < out.n; j++) {
        if (out.at[j]->kind == SYM_NUM)
            number *= out.at[j]->number;
        else
            push(c, &all, out.at[j]);
    }
    if (join_logistic(c, &all)) {
        push(c, &all, sym_num(c, number));
        return sym_mul(c, all.n, all.at);
    }
    if (number == 0 || all.n == 0)
        return sym_num(c, number);
    if (number == 1 && all.n == 1)
        return all.at[0];
    if (all.n == 1 && all.at[0]->kind == SYM_ADD) {
        /* a number times a sum: distribute, so that signs cancel */
        struct list terms = {0};
        for (int i = 0; i < all.at[0]->nargs; i++)
            push(c, &terms,
                 sym_mul2(c, sym_num(c, number), all.at[0]->args[i]));
        return sym_add(c, terms.n, terms.at);
    }
    struct list result = {0};
    if (number != 1)
        push(c, &result, sym_num(c, number));
    for (int j = 0; j < all.n; j++)
        push(c, &result, all.at[j]);
    return make(c, (struct sym){.kind = SYM_MUL}, result.n, result.at);
}

symp sym_mul2(struct compiler *c, symp a, symp b)
{
    return sym_mul(c, 2, (symp[]){a, b});
}

symp sym_div(struct compiler *c, symp a, symp b)
{
    return sym_mul2(c, a, sym_pow(c, b, sym_num(c, -1)));
}

static bool is_integer(symp e)
{
    return e->kind == SYM_NUM && e->number == floor(e->number) &&
           fabs(e->number) < 1e6;
}

/* Whether e is 0 or 1. */
static bool is_condition(symp e)
{
    static const char *const names[] = {
        "==", "!=", "<", "<=", ">", ">=", "&&", "!"};
    if (e->kind == SYM_SEEN)
        return true;
    if (e->kind != SYM_CALL)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(e->name, names[i]))
            return true;
    return false;
}

symp sym_pow(struct compiler *c, symp base, symp exponent)
{
    if (sym_is(exponent, 0) || sym_is(base, 1))
        return sym_num(c, 1);
    if (sym_is(exponent, 1))
        return base;
    if (is_condition(base) && exponent->kind == SYM_NUM && exponent->number > 0)
        return base;
    if (base->kind == SYM_NUM && exponent->kind == SYM_NUM) {
        double v = pow(base->number, exponent->number);
        if (isfinite(v))
            return sym_num(c, v);
    }
    if (base->kind == SYM_POW &&
        (is_integer(exponent) || sym_positive(base->args[0])))
        return sym_pow(c, base->args[0], sym_mul2(c, base->args[1], exponent));
    if (base->kind == SYM_MUL && (is_integer(exponent) || sym_positive(base))) {
        bool all = is_integer(exponent);
        if (!all) {
            all = true;
            for (int i = 0; i < base->nargs; i++)
                all = all && sym_positive(base->args[i]);
        }
        if (all) {
            struct list factors = {0};
            for (int i = 0; i < base->nargs; i++)
                push(c, &factors, sym_pow(c, base->args[i], exponent));
            return sym_mul(c, factors.n, factors.at);
        }
    }
    if (base->kind == SYM_CALL && base->name == intern(c, "exp"))
        return sym_call(c, "exp", 1,
                        (symp[]){sym_mul2(c, base->args[0], exponent)});
    symp odds = sym_is(exponent, -1) ? exponent_beside_one(c, base) : NULL;
    if (odds) /* 1 / (1 + exp(a)) */
        return sym_call(c, "ilogit", 1, (symp[]){sym_neg(c, odds)});
    return make(c, (struct sym){.kind = SYM_POW}, 2, (symp[]){base, exponent});
}

symp sym_select(struct compiler *c, symp cond, symp yes, symp no)
{
    if (cond->kind == SYM_NUM)
        return cond->number != 0 ? yes : no;
    if (sym_same(yes, no))
        return yes;
    return make(c, (struct sym){.kind = SYM_SELECT}, 3,
                (symp[]){cond, yes, no});
}

static symp in_range(struct compiler *c, const struct loop *known, symp e,
                     symp lower, symp upper)
{
    if (known && known->lower && sym_same(known->lower, lower) &&
        sym_same(known->upper, upper))
        return sym_num(c, 1);
    return sym_and(c, sym_call(c, ">=", 2, (symp[]){e, lower}),
                   sym_call(c, "<=", 2, (symp[]){e, upper}));
}

/* Factors of e; a conjunction is the product of its conditions. */
static void push_factors(struct compiler *c, struct list *out, symp e)
{
    bool both = e->kind == SYM_CALL && !strcmp(e->name, "&&") &&
                is_condition(e->args[0]) && is_condition(e->args[1]);
    if (e->kind != SYM_MUL && !both) {
        push(c, out, e);
        return;
    }
    for (int i = 0; i < e->nargs; i++)
        push_factors(c, out, e->args[i]);
}

/* If body = rest * (loop + offset == e): e - offset, with rest in *rest. */
static symp delta_of(struct compiler *c, symp body, const struct loop *loop,
                     symp *rest)
{
    const char *equal = intern(c, "==");
    struct list factors = {0};
    push_factors(c, &factors, body);
    for (int i = 0; i < factors.n; i++) {
        symp f = factors.at[i];
        if (f->kind != SYM_CALL || f->name != equal)
            continue;
        for (int side = 0; side < 2; side++) {
            symp offset, me = f->args[side];
            if (sym_plain_loop(c, me, &offset) != loop ||
                sym_has_loop(f->args[1 - side], loop))
                continue;
            symp other = sym_sub(c, f->args[1 - side], offset);
            struct list l = {0};
            for (int j = 0; j < factors.n; j++)
                if (j != i)
                    push(c, &l, factors.at[j]);
            *rest = l.n ? sym_mul(c, l.n, l.at) : sym_num(c, 1);
            return other;
        }
    }
    return NULL;
}

symp sym_sum(struct compiler *c, struct loop *loop, symp lower, symp upper,
             symp body)
{
    if (sym_is(body, 0))
        return body;
    if (!sym_has_loop(body, loop)) {
        symp count =
            sym_add(c, 3, (symp[]){upper, sym_neg(c, lower), sym_num(c, 1)});
        return sym_mul2(c, count, body);
    }
    symp rest;
    symp e = delta_of(c, body, loop, &rest);
    if (e) {
        const struct loop *known = e->kind == SYM_LOOP ? e->loop : NULL;
        return sym_select(c, in_range(c, known, e, lower, upper),
                          sym_replace_loop(c, rest, loop, e), sym_num(c, 0));
    }
    if (body->kind == SYM_MUL) { /* what is free of the index goes outside */
        struct list in = {0}, out = {0};
        for (int i = 0; i < body->nargs; i++)
            push(c, sym_has_loop(body->args[i], loop) ? &in : &out,
                 body->args[i]);
        if (out.n) {
            push(c, &out,
                 sym_sum(c, loop, lower, upper, sym_mul(c, in.n, in.at)));
            return sym_mul(c, out.n, out.at);
        }
    }
    return make(c, (struct sym){.kind = SYM_SUM, .loop = loop}, 3,
                (symp[]){lower, upper, body});
}

/* k == e is false of an index k = 1 .. extent where e lies beyond its ends, as
 * t does of k <= t - 1. */
struct span_of_index {
    const struct loop *loop;
    symp extent;
};
static symp beyond_ends(struct compiler *c, symp e, void *context)
{
    const struct span_of_index *k = context;
    if (e->kind != SYM_CALL || e->nargs != 2 || strcmp(e->name, "=="))
        return NULL;
    for (int i = 0; i < 2; i++) {
        double d;
        if (e->args[i]->kind != SYM_LOOP || e->args[i]->loop != k->loop)
            continue;
        if ((sym_difference(c, e->args[1 - i], k->extent, &d) && d > 0) ||
            (e->args[1 - i]->kind == SYM_NUM && e->args[1 - i]->number < 1))
            return sym_num(c, 0);
    }
    return NULL;
}

symp sym_array(struct compiler *c, int nloops, struct loop *const *loops,
               const symp *extents, symp body)
{
    for (int i = 0; i < nloops; i++) {
        struct span_of_index k = {loops[i], extents[i]};
        body = sym_map(c, body, beyond_ends, &k);
    }
    struct sym model = {.kind = SYM_ARRAY, .nloops = nloops};
    symp args[3] = {body};
    for (int i = 0; i < nloops; i++) {
        model.loops[i] = loops[i];
        args[1 + i] = extents[i];
    }
    return make(c, model, 1 + nloops, args);
}

/* ---- calls ------------------------------------------------------------ */

static bool fold_call(const char *name, int n, const symp *args, double *out)
{
    for (int i = 0; i < n; i++)
        if (args[i]->kind != SYM_NUM)
            return false;
    double a = n > 0 ? args[0]->number : 0, b = n > 1 ? args[1]->number : 0;
    if (n == 2) {
        if (!strcmp(name, "<"))
            return *out = a < b, true;
        if (!strcmp(name, "<="))
            return *out = a <= b, true;
        if (!strcmp(name, ">"))
            return *out = a > b, true;
        if (!strcmp(name, ">="))
            return *out = a >= b, true;
        if (!strcmp(name, "=="))
            return *out = a == b, true;
        if (!strcmp(name, "!="))
            return *out = a != b, true;
        if (!strcmp(name, "max"))
            return *out = fmax(a, b), true;
        if (!strcmp(name, "min"))
            return *out = fmin(a, b), true;
    }
    if (n == 1) {
        if (!strcmp(name, "exp"))
            return *out = exp(a), true;
        if (!strcmp(name, "log") && a > 0)
            return *out = log(a), true;
        if (!strcmp(name, "loggam") && a > 0)
            return *out = lgamma(a), true;
        if (!strcmp(name, "abs"))
            return *out = fabs(a), true;
        if (!strcmp(name, "!"))
            return *out = a == 0, true;
    }
    return false;
}

static symp plain_call(struct compiler *c, const char *name,
                       const struct entry *entry, int n, const symp *args)
{
    double value;
    if (fold_call(name, n, args, &value))
        return sym_num(c, value);
    struct sym model = {
        .kind = SYM_CALL, .name = intern(c, name), .entry = entry};
    if (!strncmp(name, "draw_", 5)) /* two draws are never the same */
        model.number = ++c->ndraws;
    return make(c, model, n, args);
}

/* Value of a library clause at the arguments of a call. */
struct at_arguments {
    const struct entry *entry;
    const symp *args;
};
/* The argument called `name`, an element of it, or the extent of one. */
static symp bind_argument(struct compiler *c, const char *name, int nargs,
                          const symp *args, void *context)
{
    const struct at_arguments *at = context;
    for (int i = 0; i < at->entry->nparameters; i++) {
        const struct parameter *p = &at->entry->parameters[i];
        symp a = at->args[i];
        if (p->name == name && nargs == 0)
            return a;
        if (p->name == name && a->kind == SYM_ARRAY && nargs == a->nloops) {
            symp element = a->args[0];
            for (int d = 0; d < nargs; d++)
                element = sym_replace_loop(c, element, a->loops[d], args[d]);
            return element;
        }
        for (int d = 0; d < p->ndims && nargs == 0; d++)
            if (p->dims[d] == name && a->kind == SYM_ARRAY && d < a->nloops)
                return a->args[1 + d];
    }
    return NULL;
}
static symp clause_at(struct compiler *c, symp call, const char *keyword)
{
    const struct expr *value =
        call->entry ? entry_value(call->entry, keyword) : NULL;
    if (!value)
        return NULL;
    struct at_arguments at = {call->entry, call->args};
    return sym_from_library(c, value, bind_argument, &at);
}

/* log(a): splits products and powers of positive things; functions may state
 * their own log, and the log of one minus them, for accuracy and algebra. */
symp sym_log(struct compiler *c, symp a)
{
    if (is_call(c, a, "exp"))
        return a->args[0];
    if (a->kind == SYM_POW &&
        (sym_positive(a->args[0]) || !is_integer(a->args[1])))
        return sym_mul2(c, a->args[1], sym_log(c, a->args[0]));
    if (a->kind == SYM_MUL) {
        struct list logs = {0}, other = {0};
        for (int i = 0; i < a->nargs; i++) {
            if (sym_positive(a->args[i]))
                push(c, &logs, sym_log(c, a->args[i]));
            else
                push(c, &other, a->args[i]);
        }
        /* the product is positive, or log would not be taken, so the rest is:
         * sound because the log of a non-positive number is NaN either way */
        if (logs.n) {
            if (other.n)
                push(c, &logs, sym_log(c, sym_mul(c, other.n, other.at)));
            return sym_add(c, logs.n, logs.at);
        }
        if (other.n == 1)
            return sym_log(c, other.at[0]);
    }
    if (a->kind == SYM_SELECT)
        return sym_select(c, a->args[0], sym_log(c, a->args[1]),
                          sym_log(c, a->args[2]));
    if (a->kind == SYM_CALL) {
        symp own = clause_at(c, a, "log");
        if (own)
            return own;
    }
    if (a->kind == SYM_ADD && a->nargs == 2) {
        symp complement = sym_sub(c, sym_num(c, 1), a);
        if (complement->kind == SYM_CALL) {
            symp own = clause_at(c, complement, "log_complement");
            if (own)
                return own;
        }
    }
    return plain_call(c, "log",
                      library_find(c, ENTRY_FUNCTION, intern(c, "log")), 1, &a);
}

static symp sym_exp(struct compiler *c, symp a)
{
    if (is_call(c, a, "log"))
        return a->args[0];
    int n = a->kind == SYM_ADD ? a->nargs : 1;
    const symp *terms = a->kind == SYM_ADD ? a->args : &a;
    struct list outside = {0}, inside = {0};
    for (int i = 0; i < n; i++) {
        double k;
        symp rest = split_number(c, terms[i], &k);
        if (is_call(c, rest, "log"))
            push(c, &outside, sym_pow(c, rest->args[0], sym_num(c, k)));
        else
            push(c, &inside, terms[i]);
    }
    if (outside.n) {
        if (inside.n)
            push(c, &outside, sym_exp(c, sym_add(c, inside.n, inside.at)));
        return sym_mul(c, outside.n, outside.at);
    }
    return plain_call(c, "exp",
                      library_find(c, ENTRY_FUNCTION, intern(c, "exp")), 1, &a);
}

typedef bool (*sym_test)(symp e, const void *context);
static bool any(symp e, sym_test test, const void *context)
{
    if (test(e, context))
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (any(e->args[i], test, context))
            return true;
    return false;
}
static bool is_any_loop(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_LOOP;
}

/* end + rest as a number; `otherwise` where it is none. What an end that
 * depends on other loops says holds where the loop stands and not everywhere
 * that it is put. */
static double end_of(struct compiler *c, symp end, symp rest, double otherwise)
{
    if (!end || (end->kind != SYM_NUM && any(end, is_any_loop, NULL)))
        return otherwise;
    symp value = sym_add2(c, end, rest);
    return value->kind == SYM_NUM ? value->number : otherwise;
}

/* The least and the largest value of e, a number or loop + rest, where the
 * loop's ends make them numbers; infinite where they do not. */
static bool range_of(struct compiler *c, symp e, double *least, double *largest)
{
    symp rest;
    const struct loop *l = sym_plain_loop(c, e, &rest);
    if (e->kind == SYM_NUM)
        *least = *largest = e->number;
    if (!l)
        return e->kind == SYM_NUM;
    *least = end_of(c, l->lower, rest, -HUGE_VAL);
    *largest = end_of(c, l->upper, rest, HUGE_VAL);
    return true;
}

/* Compares two expressions that differ by a number, or by a loop index and what
 * its ends turn into one: 1 or 0 if all values agree. */
static symp decided(struct compiler *c, const char *name, symp a, symp b)
{
    double least, largest;
    if (!range_of(c, sym_sub(c, a, b), &least, &largest)) {
        double low, high;
        if (!range_of(c, sym_sub(c, b, a), &low, &high))
            return NULL;
        least = -high;
        largest = -low;
    }
    bool all = false, none = least > largest;
    if (!strcmp(name, "=="))
        none = least > 0 || largest < 0;
    else if (!strcmp(name, ">="))
        all = least >= 0, none = largest < 0;
    else if (!strcmp(name, "<="))
        all = largest <= 0, none = least > 0;
    return all || none ? sym_num(c, all) : NULL;
}

symp sym_eq(struct compiler *c, symp a, symp b)
{
    double d;
    if (sym_difference(c, a, b, &d))
        return sym_num(c, d == 0);
    symp known = decided(c, "==", a, b);
    return known ? known : plain_call(c, "==", NULL, 2, (symp[]){a, b});
}

symp sym_and(struct compiler *c, symp a, symp b)
{
    if (sym_is(a, 0) || sym_is(b, 0))
        return sym_num(c, 0);
    if (a->kind == SYM_NUM)
        return b;
    if (b->kind == SYM_NUM)
        return a;
    if (sym_same(a, b))
        return a;
    return plain_call(c, "&&", NULL, 2, (symp[]){a, b});
}

/* logdet(a A), a > 0 the same for all cells of A [K][K]: K log(a) + logdet(A).
 * NULL if there is no such a. */
static symp scaled_logdet(struct compiler *c, symp array)
{
    symp body = array->kind == SYM_ARRAY ? array->args[0] : NULL;
    if (!body || array->nloops != 2 || body->kind != SYM_MUL)
        return NULL;
    symp scale = sym_num(c, 1), rest = sym_num(c, 1);
    for (int i = 0; i < body->nargs; i++) {
        symp e = body->args[i];
        const bool all = sym_positive(e) && !sym_has_loop(e, array->loops[0]) &&
                         !sym_has_loop(e, array->loops[1]);
        symp *to = all ? &scale : &rest;
        *to = sym_mul2(c, *to, e);
    }
    if (sym_is(scale, 1))
        return NULL;
    symp of = sym_array(c, 2, array->loops, &array->args[1], rest);
    return sym_add2(c, sym_mul2(c, array->args[1], sym_log(c, scale)),
                    sym_call(c, "logdet", 1, &of));
}

symp sym_call(struct compiler *c, const char *name, int n, const symp *args)
{
    static const char *const comparisons[] = {
        "<", "<=", ">", ">=", "!=", "||", "!"};
    if (n == 2 && !strcmp(name, "+"))
        return sym_add2(c, args[0], args[1]);
    if (n == 2 && !strcmp(name, "-"))
        return sym_sub(c, args[0], args[1]);
    if (n == 2 && !strcmp(name, "*"))
        return sym_mul2(c, args[0], args[1]);
    if (n == 2 && !strcmp(name, "/"))
        return sym_div(c, args[0], args[1]);
    if (n == 2 && (!strcmp(name, "^") || !strcmp(name, "pow")))
        return sym_pow(c, args[0], args[1]);
    if (n == 1 && (!strcmp(name, "neg") || !strcmp(name, "-")))
        return sym_neg(c, args[0]);
    if (n == 1 && !strcmp(name, "+"))
        return args[0];
    if (n == 1 && !strcmp(name, "sqrt"))
        return sym_pow(c, args[0], sym_num(c, 0.5));
    if (n == 1 && !strcmp(name, "log"))
        return sym_log(c, args[0]);
    if (n == 1 && !strcmp(name, "exp"))
        return sym_exp(c, args[0]);
    if (n == 2 && (!strcmp(name, "equals") || !strcmp(name, "==")))
        return sym_eq(c, args[0], args[1]);
    if (n == 2 && !strcmp(name, "&&"))
        return sym_and(c, args[0], args[1]);
    if (n == 1 && !strcmp(name, "step"))
        return plain_call(c, ">=", NULL, 2, (symp[]){args[0], sym_num(c, 0)});
    if (n == 1 && !strcmp(name, "logdet")) {
        symp scaled = scaled_logdet(c, args[0]);
        if (scaled)
            return scaled;
    }
    if (n == 3 && (!strcmp(name, "ifelse") || !strcmp(name, "if_else")))
        return sym_select(c, args[0], args[1], args[2]);
    bool ordered = n == 2 && (!strcmp(name, ">=") || !strcmp(name, "<="));
    symp known = ordered ? decided(c, name, args[0], args[1]) : NULL;
    if (known)
        return known;
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (!strcmp(name, comparisons[i]))
            return plain_call(c, name, NULL, n, args);
    const struct entry *entry =
        library_find(c, ENTRY_FUNCTION, intern(c, name));
    if (entry && entry_value(entry, "as") && entry->nparameters == n) {
        struct at_arguments at = {entry, args};
        return sym_from_library(c, entry_value(entry, "as"), bind_argument,
                                &at);
    }
    return plain_call(c, entry ? entry->name : name, entry, n, args);
}

/* ---- questions -------------------------------------------------------- */

static bool is_loop(symp e, const void *loop)
{
    return e->kind == SYM_LOOP && e->loop == loop;
}
static bool is_var(symp e, const void *var)
{
    return (e->kind == SYM_REF || e->kind == SYM_SEEN) && e->var == var;
}
static bool is_target(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_TARGET;
}
static bool is_same(symp e, const void *what) { return sym_same(e, what); }
bool sym_has_loop(symp e, const struct loop *loop)
{
    return any(e, is_loop, loop);
}
bool sym_has_var(symp e, const struct var *v) { return any(e, is_var, v); }
bool sym_has_target(symp e) { return any(e, is_target, NULL); }
bool sym_has(symp e, symp what) { return any(e, is_same, what); }

static bool positive(symp e, bool target_positive)
{
    switch (e->kind) {
    case SYM_NUM:
        return e->number > 0;
    case SYM_TARGET:
        return target_positive;
    case SYM_REF:
        return e->var->positive;
    case SYM_EXTENT:
        return true;
    case SYM_ADD:
    case SYM_MUL:
        for (int i = 0; i < e->nargs; i++)
            if (!positive(e->args[i], target_positive))
                return false;
        return true;
    case SYM_POW:
        return positive(e->args[0], target_positive);
    case SYM_SELECT:
        return positive(e->args[1], target_positive) &&
               positive(e->args[2], target_positive);
    case SYM_SUM:
        return positive(e->args[2], target_positive);
    case SYM_CALL: {
        if (!strcmp(e->name, "exp"))
            return true;
        const struct expr *low =
            e->entry ? entry_value(e->entry, "range") : NULL;
        return low && low->kind == EXPR_NUM && low->number >= 0 &&
               strcmp(e->name, "abs") != 0;
    }
    case SYM_LOOP:
    case SYM_SEEN:
    case SYM_PARAM:
    case SYM_ARRAY:
        return false;
    }
    UNREACHABLE();
}
bool sym_positive(symp e) { return positive(e, false); }

bool sym_difference(struct compiler *c, symp a, symp b, double *out)
{
    symp d = sym_sub(c, a, b);
    if (d->kind != SYM_NUM)
        return false;
    *out = d->number;
    return true;
}

/* ---- rewriting -------------------------------------------------------- */

symp sym_rebuild(struct compiler *c, symp e, const symp *args)
{
    switch (e->kind) {
    case SYM_ADD:
        return sym_add(c, e->nargs, args);
    case SYM_MUL:
        return sym_mul(c, e->nargs, args);
    case SYM_POW:
        return sym_pow(c, args[0], args[1]);
    case SYM_SELECT:
        return sym_select(c, args[0], args[1], args[2]);
    case SYM_SUM:
        return sym_sum(c, e->loop, args[0], args[1], args[2]);
    case SYM_CALL:
        return sym_call(c, e->name, e->nargs, args);
    case SYM_ARRAY:
        return sym_array(c, e->nloops, e->loops, args + 1, args[0]);
    case SYM_REF:
    case SYM_SEEN:
    case SYM_NUM:
    case SYM_LOOP:
    case SYM_EXTENT:
    case SYM_TARGET:
    case SYM_PARAM: {
        struct sym model = *e;
        return make(c, model, e->nargs, args);
    }
    }
    UNREACHABLE();
}

symp sym_map(struct compiler *c, symp e, sym_rewrite f, void *context)
{
    symp r = f(c, e, context);
    if (r)
        return r;
    if (e->nargs == 0)
        return e;
    symp *args = NEW_ARRAY(c, symp, e->nargs);
    bool changed = false;
    for (int i = 0; i < e->nargs; i++) {
        args[i] = sym_map(c, e->args[i], f, context);
        changed = changed || args[i] != e->args[i];
    }
    return changed ? sym_rebuild(c, e, args) : e;
}

struct replacement {
    const struct loop *loop;
    symp what, by;
};
static symp replace_loop(struct compiler *c, symp e, void *context)
{
    const struct replacement *r = context;
    (void)c;
    return is_loop(e, r->loop) ? r->by : NULL;
}
symp sym_replace_loop(struct compiler *c, symp e, const struct loop *loop,
                      symp by)
{
    struct replacement r = {.loop = loop, .by = by};
    return sym_map(c, e, replace_loop, &r);
}
static symp replace_same(struct compiler *c, symp e, void *context)
{
    const struct replacement *r = context;
    (void)c;
    return sym_same(e, r->what) ? r->by : NULL;
}
symp sym_replace(struct compiler *c, symp e, symp what, symp by)
{
    struct replacement r = {.what = what, .by = by};
    return sym_map(c, e, replace_same, &r);
}

/* ---- collecting ------------------------------------------------------- */

struct collector {
    struct compiler *c;
    bool positive;
    struct collected *out;
};
static void collect(const struct collector *k, symp e, symp coefficient);

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
        push(c, sym_has_target(args[i]) ? dependent : &free, args[i]);
    return free.n ? sym_mul(c, free.n, free.at) : sym_num(c, 1);
}

/* Terms of a sum, those free of x gathered into one. */
static struct list grouped_terms(struct compiler *c, symp sum)
{
    struct list free = {0}, terms = {0};
    for (int i = 0; i < sum->nargs; i++)
        push(c, sym_has_target(sum->args[i]) ? &terms : &free, sum->args[i]);
    if (free.n)
        push(c, &terms,
             make(c, (struct sym){.kind = SYM_ADD}, free.n, free.at));
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
                      is_integer(f->args[1]) && f->args[1]->number >= 2 &&
                      f->args[1]->number <= 4;
        if (f->kind != SYM_ADD && f->kind != SYM_SELECT && !square)
            continue;
        struct list others = {0};
        for (int j = 0; j < dep.n; j++)
            if (j != i)
                push(c, &others, dep.at[j]);
        symp rest = others.n ? sym_mul(c, others.n, others.at) : sym_num(c, 1);
        if (f->kind == SYM_SELECT && !sym_has_target(f->args[0])) {
            collect(k,
                    make(c, (struct sym){.kind = SYM_SELECT}, 3,
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
            flatten(c, SYM_MUL, &product, 1, &terms.at[t]);
            flatten(c, SYM_MUL, &product, 1, &rest);
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
        sym_collect(c, e->args[1 + b], k->positive, &branch[b]);
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
    sym_collect(c, e->args[2], k->positive, &body);
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
    if (arg->kind == SYM_POW && positive(arg->args[0], k->positive))
        return sym_mul2(c, arg->args[1], sym_log(c, arg->args[0]));
    if (arg->kind != SYM_MUL)
        return NULL;
    struct list dep = {0}, logs = {0};
    symp free = split_free(c, arg, &dep);
    if (sym_is(free, 1) && dep.n == 1)
        return NULL;
    for (int i = 0; i < dep.n; i++) {
        if (!positive(dep.at[i], k->positive) && dep.n > 1)
            return NULL;
        push(c, &logs, sym_log(c, dep.at[i]));
    }
    if (dep.n == 1 && !positive(dep.at[0], k->positive))
        return NULL;
    if (!sym_is(free, 1))
        push(c, &logs, sym_log(c, free));
    return sym_add(c, logs.n, logs.at);
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
        push(c, sym_has_target(arg->args[i]) ? &dep : &free, arg->args[i]);
    if (!free.n)
        return false;
    symp outside = sym_exp(c, sym_add(c, free.n, free.at));
    symp inside = sym_exp(c, sym_add(c, dep.n, dep.at));
    add_statistic(k, inside, sym_mul2(c, coefficient, outside));
    return true;
}

static void collect_power(const struct collector *k, symp e, symp coefficient)
{
    struct compiler *c = k->c;
    symp base = e->args[0], exponent = e->args[1];
    if (base->kind == SYM_ADD && is_integer(exponent) &&
        exponent->number >= 2 && exponent->number <= 4) {
        collect_product(k, e, coefficient);
        return;
    }
    if (base->kind == SYM_SELECT && !sym_has_target(base->args[0]) &&
        !sym_has_target(exponent)) {
        collect_select(
            k,
            make(c, (struct sym){.kind = SYM_SELECT}, 3,
                 (symp[]){base->args[0], sym_pow(c, base->args[1], exponent),
                          sym_pow(c, base->args[2], exponent)}),
            coefficient);
        return;
    }
    if (base->kind == SYM_MUL && positive(base, k->positive)) {
        struct list dep = {0};
        symp free = split_free(c, base, &dep);
        if (!sym_is(free, 1)) {
            symp rest = sym_mul(c, dep.n, dep.at);
            collect(k, sym_pow(c, rest, exponent),
                    sym_mul2(c, coefficient, sym_pow(c, free, exponent)));
            return;
        }
    }
    if (base->kind == SYM_POW && positive(base->args[0], k->positive)) {
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
    if (k->out->overflow)
        return;
    if (!sym_has_target(e)) {
        k->out->rest = sym_add2(c, k->out->rest, sym_mul2(c, coefficient, e));
        return;
    }
    switch (e->kind) {
    case SYM_ADD:
        for (int i = 0; i < e->nargs; i++)
            collect(k, e->args[i], coefficient);
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
        if (is_call(c, e, "log")) {
            symp split = split_log(k, e->args[0]);
            if (split) {
                collect(k, split, coefficient);
                return;
            }
        }
        if (is_call(c, e, "exp") && collect_exp(k, e, coefficient))
            return;
        add_statistic(k, e, coefficient);
        return;
    case SYM_TARGET:
    case SYM_NUM:
    case SYM_LOOP:
    case SYM_REF:
    case SYM_EXTENT:
    case SYM_SEEN:
    case SYM_PARAM:
    case SYM_ARRAY:
        add_statistic(k, e, coefficient);
        return;
    }
    UNREACHABLE();
}

void sym_collect(struct compiler *c, symp e, bool target_positive,
                 struct collected *out)
{
    *out = (struct collected){.rest = sym_num(c, 0)};
    struct collector k = {c, target_positive, out};
    collect(&k, e, sym_num(c, 1));
    int n = 0; /* drop what cancelled */
    for (int i = 0; i < out->n; i++)
        if (!sym_is(out->coefficient[i], 0)) {
            out->statistic[n] = out->statistic[i];
            out->coefficient[n++] = out->coefficient[i];
        }
    out->n = n;
}

/* ---- differentiating -------------------------------------------------- */

/* The condition that two references to one variable are the same element. */
static symp same_element(struct compiler *c, symp a, symp b)
{
    symp all = sym_num(c, 1);
    for (int d = 0; d < a->nargs; d++)
        all = sym_and(c, all, sym_eq(c, a->args[d], b->args[d]));
    return all;
}

static symp derivative_of_call(struct compiler *c, symp e, symp wrt)
{
    if (!sym_has_var(e, wrt->var))
        return sym_num(c, 0);
    if (e->nargs == 1 && is_call(c, e, "exp")) {
        symp inner = sym_derivative(c, e->args[0], wrt);
        return inner ? sym_mul2(c, e, inner) : NULL;
    }
    if (e->nargs == 1 && is_call(c, e, "log")) {
        symp inner = sym_derivative(c, e->args[0], wrt);
        return inner ? sym_div(c, inner, e->args[0]) : NULL;
    }
    const struct clause *clause =
        e->entry ? entry_clause(e->entry, "derivative") : NULL;
    if (!clause)
        return NULL;
    struct at_arguments at = {e->entry, e->args};
    symp total = sym_num(c, 0);
    const struct clause_item *item = clause->items;
    for (int i = 0; i < e->nargs; i++, item = item ? item->next : NULL) {
        symp inner =
            e->args[i]->kind == SYM_ARRAY
                ? (sym_has_var(e->args[i], wrt->var) ? NULL : sym_num(c, 0))
                : sym_derivative(c, e->args[i], wrt);
        if (!inner)
            return NULL;
        if (sym_is(inner, 0))
            continue;
        if (!item)
            return NULL;
        symp outer = sym_from_library(c, item->value, bind_argument, &at);
        if (!outer)
            return NULL;
        total = sym_add2(c, total, sym_mul2(c, outer, inner));
    }
    return total;
}

symp sym_derivative(struct compiler *c, symp e, symp wrt)
{
    switch (e->kind) {
    case SYM_NUM:
    case SYM_LOOP:
    case SYM_EXTENT:
    case SYM_SEEN:
    case SYM_TARGET:
    case SYM_PARAM:
        return sym_num(c, 0);
    case SYM_REF:
        for (int d = 0; d < e->nargs; d++)
            if (sym_has_var(e->args[d], wrt->var))
                return NULL;
        return e->var == wrt->var ? same_element(c, e, wrt) : sym_num(c, 0);
    case SYM_ADD: {
        symp total = sym_num(c, 0);
        for (int i = 0; i < e->nargs; i++) {
            symp d = sym_derivative(c, e->args[i], wrt);
            if (!d)
                return NULL;
            total = sym_add2(c, total, d);
        }
        return total;
    }
    case SYM_MUL: {
        symp total = sym_num(c, 0);
        for (int i = 0; i < e->nargs; i++) {
            symp d = sym_derivative(c, e->args[i], wrt);
            if (!d)
                return NULL;
            if (sym_is(d, 0))
                continue;
            struct list l = {0};
            push(c, &l, d);
            for (int j = 0; j < e->nargs; j++)
                if (j != i)
                    push(c, &l, e->args[j]);
            total = sym_add2(c, total, sym_mul(c, l.n, l.at));
        }
        return total;
    }
    case SYM_POW: {
        if (sym_has_var(e->args[1], wrt->var))
            return NULL;
        symp d = sym_derivative(c, e->args[0], wrt);
        if (!d)
            return NULL;
        symp lower =
            sym_pow(c, e->args[0], sym_add2(c, e->args[1], sym_num(c, -1)));
        return sym_mul(c, 3, (symp[]){e->args[1], lower, d});
    }
    case SYM_SELECT: {
        if (sym_has_var(e->args[0], wrt->var))
            return NULL;
        symp yes = sym_derivative(c, e->args[1], wrt);
        symp no = sym_derivative(c, e->args[2], wrt);
        return yes && no ? sym_select(c, e->args[0], yes, no) : NULL;
    }
    case SYM_SUM: {
        symp d = sym_derivative(c, e->args[2], wrt);
        if (!d)
            return NULL;
        /* sum the terms apart, so that each equality picks its own index */
        if (d->kind == SYM_ADD) {
            symp total = sym_num(c, 0);
            for (int i = 0; i < d->nargs; i++)
                total = sym_add2(
                    c, total,
                    sym_sum(c, e->loop, e->args[0], e->args[1], d->args[i]));
            return total;
        }
        return sym_sum(c, e->loop, e->args[0], e->args[1], d);
    }
    case SYM_CALL:
        return derivative_of_call(c, e, wrt);
    case SYM_ARRAY:
        return NULL;
    }
    UNREACHABLE();
}

/* ---- printing --------------------------------------------------------- */

static int precedence(symp e)
{
    switch (e->kind) {
    case SYM_ADD:
        return 1;
    case SYM_MUL:
        return 2;
    case SYM_POW:
        return 3;
    case SYM_NUM:
        return e->number < 0 ? 1 : 9;
    default:
        return e->kind == SYM_CALL && !(e->name[0] >= 'A') ? 0 : 9;
    }
}

static void print_in(struct text *out, symp e, int outer)
{
    bool brackets = precedence(e) < outer;
    if (brackets)
        text_append(out, "(");
    sym_print(out, e);
    if (brackets)
        text_append(out, ")");
}

static void print_list(struct text *out, symp e, int from)
{
    for (int i = from; i < e->nargs; i++) {
        if (i > from)
            text_append(out, ", ");
        sym_print(out, e->args[i]);
    }
}

static void print_product(struct text *out, symp e)
{
    int first = 0;
    if (sym_is(e->args[0], -1)) {
        text_append(out, "-");
        first = 1;
    }
    bool any_printed = false;
    for (int i = first; i < e->nargs; i++) {
        symp f = e->args[i];
        bool inverse = f->kind == SYM_POW && sym_is(f->args[1], -1);
        if (inverse)
            continue;
        if (any_printed)
            text_append(out, " * ");
        print_in(out, f, 2);
        any_printed = true;
    }
    if (!any_printed)
        text_append(out, "1");
    for (int i = first; i < e->nargs; i++) {
        symp f = e->args[i];
        if (f->kind == SYM_POW && sym_is(f->args[1], -1)) {
            text_append(out, " / ");
            print_in(out, f->args[0], 3);
        }
    }
}

void sym_print(struct text *out, symp e)
{
    switch (e->kind) {
    case SYM_NUM:
        text_printf(out, "%.10g", e->number);
        return;
    case SYM_LOOP:
        text_append(out, e->loop->name);
        return;
    case SYM_REF:
    case SYM_SEEN:
        text_printf(out, e->kind == SYM_SEEN ? "seen(%s" : "%s", e->var->name);
        if (e->nargs) {
            text_append(out, "[");
            print_list(out, e, 0);
            text_append(out, "]");
        }
        if (e->kind == SYM_SEEN)
            text_append(out, ")");
        return;
    case SYM_EXTENT:
        text_printf(out, "extent(%s, %d)", e->var->name, e->dim + 1);
        return;
    case SYM_TARGET:
        text_append(out, "x");
        return;
    case SYM_PARAM:
        text_append(out, e->name);
        return;
    case SYM_ADD:
        for (int i = 0; i < e->nargs; i++) {
            symp t = e->args[i];
            bool minus = (t->kind == SYM_MUL && t->args[0]->kind == SYM_NUM &&
                          t->args[0]->number < 0) ||
                         (t->kind == SYM_NUM && t->number < 0);
            struct text term = {0};
            print_in(&term, t, 1);
            if (i && minus && term.data[0] == '-')
                text_printf(out, " - %s", term.data + 1);
            else
                text_printf(out, "%s%s", i ? " + " : "", term.data);
            text_free(&term);
        }
        return;
    case SYM_MUL:
        print_product(out, e);
        return;
    case SYM_POW:
        if (sym_is(e->args[1], -1)) {
            text_append(out, "1 / ");
            print_in(out, e->args[0], 3);
            return;
        }
        if (sym_is(e->args[1], 0.5)) {
            text_append(out, "sqrt(");
            sym_print(out, e->args[0]);
            text_append(out, ")");
            return;
        }
        print_in(out, e->args[0], 4);
        text_append(out, "^");
        print_in(out, e->args[1], 4);
        return;
    case SYM_CALL:
        if (e->nargs == 2 && e->name[0] < 'A') {
            print_in(out, e->args[0], 1);
            text_printf(out, " %s ", e->name);
            print_in(out, e->args[1], 1);
            return;
        }
        text_printf(out, "%s(", e->name);
        print_list(out, e, 0);
        text_append(out, ")");
        return;
    case SYM_SELECT:
        text_append(out, "ifelse(");
        print_list(out, e, 0);
        text_append(out, ")");
        return;
    case SYM_SUM:
        text_printf(out, "sum(%s in ", e->loop->name);
        print_in(out, e->args[0], 3);
        text_append(out, ":");
        print_in(out, e->args[1], 3);
        text_append(out, ", ");
        sym_print(out, e->args[2]);
        text_append(out, ")");
        return;
    case SYM_ARRAY:
        text_append(out, "[");
        for (int i = 0; i < e->nloops; i++) {
            text_printf(out, "%s%s in 1:", i ? ", " : "", e->loops[i]->name);
            print_in(out, e->args[1 + i], 3);
        }
        text_append(out, ": ");
        sym_print(out, e->args[0]);
        text_append(out, "]");
        return;
    }
    UNREACHABLE();
}

const char *sym_text(struct compiler *c, symp e)
{
    struct text t = {0};
    sym_print(&t, e);
    const char *s = intern(c, t.data ? t.data : "");
    text_free(&t);
    return s;
}
