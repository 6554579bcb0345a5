/* algebra.c: symbolic expressions: trees that only these constructors build,
 * simplified as they are built. See docs/architecture.md, "algebra". */
#include "algebra/inside.h"
#include <math.h>
#include <string.h>

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
    return sym_make(c, (struct sym){.kind = SYM_MUL}, term->nargs - 1,
                    term->args + 1);
}

/* Terms that are alike but for a number. */
struct like {
    symp rest;
    double coefficient;
    symp term; /* the only one so far, or NULL */
};
struct likes {
    struct like *at;
    int n;
    int *slots; /* by the hash of `rest`: a place in `at`, or -1 */
    unsigned mask;
};

static struct likes likes_of_at_most(struct compiler *c, int n)
{
    struct likes l = {.mask = 7};
    while (l.mask < 2 * (unsigned)n)
        l.mask = 2 * l.mask + 1;
    l.at = scratch_alloc(c, (size_t)n * sizeof *l.at);
    l.slots = scratch_alloc(c, (l.mask + 1) * sizeof *l.slots);
    for (unsigned i = 0; i <= l.mask; i++)
        l.slots[i] = -1;
    return l;
}

static void add_like(struct likes *l, symp rest, double coefficient, symp term)
{
    unsigned i = rest->hash & l->mask;
    while (l->slots[i] >= 0 && !sym_same(l->at[l->slots[i]].rest, rest))
        i = (i + 1) & l->mask;
    if (l->slots[i] < 0) {
        l->slots[i] = l->n;
        l->at[l->n++] = (struct like){rest, coefficient, term};
        return;
    }
    struct like *found = &l->at[l->slots[i]];
    found->coefficient += coefficient;
    found->term = NULL;
}

/* log(w) + log(w + 1) + ... of n terms. */
static symp log_product(struct compiler *c, symp w, int n)
{
    struct list logs = {0};
    for (int i = 0; i < n; i++)
        sym_list_push(c, &logs, sym_log(c, sym_add2(c, w, sym_num(c, i))));
    return sym_add(c, logs.n, logs.at);
}

/* loggam(w + n) - loggam(w) as log(w) + ... + log(w + n - 1), w > 0 and n a
 * small whole number: such a difference loses digits where w is large, and of
 * the density of 1 - x = u^(1 / alpha) it leaves log(alpha). What is taken from
 * both terms goes to `out`. */
static void join_gammas(struct compiler *c, struct like *a, struct like *b,
                        struct list *out)
{
    enum { MOST = 4 };
    double n;
    if (!sym_is_call(c, a->rest, "loggam") ||
        !sym_is_call(c, b->rest, "loggam") || !(a->coefficient > 0) ||
        !(b->coefficient < 0) ||
        !sym_difference(c, a->rest->args[0], b->rest->args[0], &n) ||
        n != floor(n) || fabs(n) > MOST ||
        !sym_positive((n > 0 ? b : a)->rest->args[0]))
        return;
    double k = fmin(a->coefficient, -b->coefficient);
    sym_list_push(
        c, out,
        sym_mul2(c, sym_num(c, n > 0 ? k : -k),
                 log_product(c, (n > 0 ? b : a)->rest->args[0], (int)fabs(n))));
    a->coefficient -= k;
    b->coefficient += k;
    a->term = b->term = NULL;
}

static symp add_terms(struct compiler *c, int n, const symp *terms)
{
    struct list flat = {0}, out = {0}, joined = {0};
    sym_flatten(c, SYM_ADD, &flat, n, terms);
    struct likes likes = likes_of_at_most(c, flat.n);
    double constant = 0;
    for (int i = 0; i < flat.n; i++) {
        double k;
        symp rest = split_number(c, flat.at[i], &k);
        if (sym_is(rest, 1))
            constant += k;
        else
            add_like(&likes, rest, k, flat.at[i]);
    }
    for (int i = 0; i < likes.n; i++)
        for (int j = 0;
             j < likes.n && sym_is_call(c, likes.at[i].rest, "loggam"); j++)
            join_gammas(c, &likes.at[i], &likes.at[j], &joined);
    for (int j = 0; j < likes.n; j++) {
        const struct like *l = &likes.at[j];
        if (l->coefficient != 0)
            sym_list_push(
                c, &out,
                l->term ? l->term
                        : sym_mul2(c, sym_num(c, l->coefficient), l->rest));
    }
    if (constant != 0 || out.n == 0)
        sym_list_push(c, &out, sym_num(c, constant));
    if (joined.n) { /* what comes of it may meet its like */
        for (int j = 0; j < joined.n; j++)
            sym_list_push(c, &out, joined.at[j]);
        return sym_add(c, out.n, out.at);
    }
    if (out.n == 1)
        return out.at[0];
    return sym_make(c, (struct sym){.kind = SYM_ADD}, out.n, out.at);
}

symp sym_add(struct compiler *c, int n, const symp *terms)
{
    struct scratch_mark mark = scratch_mark(c);
    symp sum = add_terms(c, n, terms);
    scratch_release(c, mark);
    return sum;
}

symp sym_add2(struct compiler *c, symp a, symp b)
{
    return sym_add(c, 2, (symp[]){a, b});
}

symp sym_neg(struct compiler *c, symp a)
{
    return sym_mul2(c, sym_num(c, -1), a);
}

symp sym_length(struct compiler *c, symp lower, symp upper)
{
    return sym_add(c, 3, (symp[]){upper, sym_neg(c, lower), sym_num(c, 1)});
}

symp sym_sub(struct compiler *c, symp a, symp b)
{
    return sym_add2(c, a, sym_neg(c, b));
}

/* A power of an exponential is another: exp(-2 a) is exp(a)^(-2) here, so that
 * it meets exp(2 a), and the product is 1 where the one overflows and the other
 * is 0. */
static void split_power(struct compiler *c, symp e, symp *base, symp *exponent)
{
    *base = e;
    *exponent = sym_num(c, 1);
    if (e->kind == SYM_POW) {
        *base = e->args[0];
        *exponent = e->args[1];
    } else if (sym_is_call(c, e, "exp") && e->args[0]->kind == SYM_MUL &&
               e->args[0]->args[0]->kind == SYM_NUM) {
        symp rest = sym_cofactor(c, e->args[0], 0);
        *base = sym_call(c, "exp", 1, &rest);
        *exponent = e->args[0]->args[0];
    }
}

/* exp(a - b) and exp(b - a), whose product is 1. */
static bool are_inverse(struct compiler *c, symp a, symp b)
{
    return sym_is_call(c, a, "exp") && sym_is_call(c, b, "exp") &&
           a->args[0]->kind == SYM_ADD && b->args[0]->kind == SYM_ADD &&
           sym_is(sym_add2(c, a->args[0], b->args[0]), 0);
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
    if (sym_is_call(c, t, "exp"))
        return t->args[0];
    bool found = false, positive = t->kind == SYM_MUL;
    for (int i = 0; positive && i < t->nargs; i++) {
        found = found || sym_is_call(c, t->args[i], "exp");
        positive = sym_positive(t->args[i]);
    }
    return positive && found ? sym_log(c, t) : NULL;
}

/* exp(a) ilogit(-a) is ilogit(a): so exp(a) / (1 + exp(a)) is. Removes such a
 * pair from the factors; true if there was one. */
static bool join_logistic(struct compiler *c, struct list *factors)
{
    for (int i = 0; i < factors->n; i++) {
        if (!sym_is_call(c, factors->at[i], "ilogit"))
            continue;
        symp minus = factors->at[i]->args[0];
        for (int j = 0; j < factors->n; j++) {
            symp e = factors->at[j];
            if (!sym_is_call(c, e, "exp") ||
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
    static const char *const symmetric[] = {"ilogit", "phi"};
    symp minus = sym_neg(c, e->args[0]);
    for (size_t i = 0; i < sizeof symmetric / sizeof *symmetric; i++)
        if (sym_is_call(c, minus, symmetric[i]))
            return sym_call(c, symmetric[i], 1,
                            (symp[]){sym_neg(c, minus->args[0])});
    return e;
}

/* The factors as different bases, each with an exponent; returns the number
 * beside them. */
static double gather_powers(struct compiler *c, int n, const symp *factors,
                            struct list *bases, struct list *exponents)
{
    struct list flat = {0};
    double number = 1;
    sym_flatten(c, SYM_MUL, &flat, n, factors);
    for (int i = 0; i < flat.n; i++) {
        symp base, exponent;
        if (flat.at[i]->kind == SYM_NUM) {
            number *= flat.at[i]->number;
            continue;
        }
        split_power(c, flat.at[i], &base, &exponent);
        int j = 0;
        while (j < bases->n && !sym_same(bases->at[j], base) &&
               !are_inverse(c, bases->at[j], base))
            j++;
        if (j < bases->n) {
            if (!sym_same(bases->at[j], base))
                exponent = sym_neg(c, exponent);
            exponents->at[j] = sym_add2(c, exponents->at[j], exponent);
        } else {
            sym_list_push(c, bases, base);
            sym_list_push(c, exponents, exponent);
        }
    }
    return number;
}

/* A number times factors that have nothing in common. */
static symp times_number(struct compiler *c, double number,
                         const struct list *all)
{
    struct list out = {0};
    if (number == 0 || all->n == 0)
        return sym_num(c, number);
    if (number == 1 && all->n == 1)
        return all->at[0];
    if (all->n == 1 && all->at[0]->kind == SYM_ADD) {
        /* a number times a sum: distribute, so that signs cancel */
        for (int i = 0; i < all->at[0]->nargs; i++)
            sym_list_push(c, &out,
                          sym_mul2(c, sym_num(c, number), all->at[0]->args[i]));
        return sym_add(c, out.n, out.at);
    }
    if (number != 1)
        sym_list_push(c, &out, sym_num(c, number));
    for (int j = 0; j < all->n; j++)
        sym_list_push(c, &out, all->at[j]);
    return sym_make(c, (struct sym){.kind = SYM_MUL}, out.n, out.at);
}

static symp multiply(struct compiler *c, int n, const symp *factors)
{
    struct list bases = {0}, exponents = {0}, out = {0};
    double number = gather_powers(c, n, factors, &bases, &exponents);
    if (number == 0)
        return sym_num(c, 0);
    bool again = false;
    for (int j = 0; j < bases.n; j++) {
        symp f = sym_pow(c, bases.at[j], exponents.at[j]);
        if (f->kind == SYM_NUM)
            number *= f->number;
        else if (f->kind == SYM_MUL)
            sym_flatten(c, SYM_MUL, &out, 1, &f);
        else
            sym_list_push(c, &out, f);
        again = again || f->kind == SYM_MUL;
    }
    if (again) { /* what came out of a product may meet its like */
        sym_list_push(c, &out, sym_num(c, number));
        return sym_mul(c, out.n, out.at);
    }
    /* a power of a product may have given a number again */
    struct list all = {0};
    for (int j = 0; j < out.n; j++) {
        if (out.at[j]->kind == SYM_NUM)
            number *= out.at[j]->number;
        else
            sym_list_push(c, &all, out.at[j]);
    }
    if (join_logistic(c, &all)) {
        sym_list_push(c, &all, sym_num(c, number));
        return sym_mul(c, all.n, all.at);
    }
    return times_number(c, number, &all);
}

symp sym_mul(struct compiler *c, int n, const symp *factors)
{
    struct scratch_mark mark = scratch_mark(c);
    symp product = multiply(c, n, factors);
    scratch_release(c, mark);
    return product;
}

symp sym_mul2(struct compiler *c, symp a, symp b)
{
    return sym_mul(c, 2, (symp[]){a, b});
}

symp sym_cofactor(struct compiler *c, symp product, int i)
{
    symp *others = NEW_ARRAY(c, symp, product->nargs);
    int n = 0;
    for (int j = 0; j < product->nargs; j++)
        if (j != i)
            others[n++] = product->args[j];
    return sym_mul(c, n, others);
}

symp sym_div(struct compiler *c, symp a, symp b)
{
    return sym_mul2(c, a, sym_pow(c, b, sym_num(c, -1)));
}

bool sym_is_whole(symp e)
{
    return e->kind == SYM_NUM && e->number == floor(e->number) &&
           fabs(e->number) < 1e6;
}

/* Whether e is 0 or 1. */
static bool is_condition(symp e)
{
    static const char *const names[] = {
        "==", "!=", "<", "<=", ">", ">=", "&&", "!"};
    if (e->kind == SYM_SEEN || e->kind == SYM_LIVE)
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
        (sym_is_whole(exponent) || sym_positive(base->args[0])))
        return sym_pow(c, base->args[0], sym_mul2(c, base->args[1], exponent));
    if (base->kind == SYM_MUL &&
        (sym_is_whole(exponent) || sym_positive(base))) {
        bool all = sym_is_whole(exponent);
        if (!all) {
            all = true;
            for (int i = 0; i < base->nargs; i++)
                all = all && sym_positive(base->args[i]);
        }
        if (all) {
            struct list factors = {0};
            for (int i = 0; i < base->nargs; i++)
                sym_list_push(c, &factors, sym_pow(c, base->args[i], exponent));
            return sym_mul(c, factors.n, factors.at);
        }
    }
    if (base->kind == SYM_CALL && base->name == intern(c, "exp"))
        return sym_call(c, "exp", 1,
                        (symp[]){sym_mul2(c, base->args[0], exponent)});
    symp odds = sym_is(exponent, -1) ? exponent_beside_one(c, base) : NULL;
    if (odds) /* 1 / (1 + exp(a)) */
        return sym_call(c, "ilogit", 1, (symp[]){sym_neg(c, odds)});
    return sym_make(c, (struct sym){.kind = SYM_POW}, 2,
                    (symp[]){base, exponent});
}

symp sym_select(struct compiler *c, symp cond, symp yes, symp no)
{
    if (cond->kind == SYM_NUM)
        return cond->number != 0 ? yes : no;
    if (sym_same(yes, no))
        return yes;
    return sym_make(c, (struct sym){.kind = SYM_SELECT}, 3,
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
        sym_list_push(c, out, e);
        return;
    }
    for (int i = 0; i < e->nargs; i++)
        push_factors(c, out, e->args[i]);
}

/* The a == b of f = (a == b) * *times, also if f is ifelse(a == b, *times, 0);
 * NULL if it is neither. */
static symp equality_in(struct compiler *c, symp f, symp *times)
{
    const bool where = f->kind == SYM_SELECT && sym_is(f->args[2], 0);
    symp on = where ? f->args[0] : f;
    *times = where ? f->args[1] : sym_num(c, 1);
    return on->kind == SYM_CALL && !strcmp(on->name, "==") ? on : NULL;
}

/* If body = rest * (loop + offset == e): e - offset, with rest in *rest. */
static symp delta_of(struct compiler *c, symp body, const struct loop *loop,
                     symp *rest)
{
    struct list factors = {0};
    push_factors(c, &factors, body);
    for (int i = 0; i < factors.n; i++) {
        symp times, f = equality_in(c, factors.at[i], &times);
        if (!f)
            continue;
        for (int side = 0; side < 2; side++) {
            symp offset, me = f->args[side];
            if (sym_plain_loop(c, me, &offset) != loop ||
                sym_has_loop(f->args[1 - side], loop))
                continue;
            symp other = sym_sub(c, f->args[1 - side], offset);
            struct list l = {0};
            sym_list_push(c, &l, times);
            for (int j = 0; j < factors.n; j++)
                if (j != i)
                    sym_list_push(c, &l, factors.at[j]);
            *rest = sym_mul(c, l.n, l.at);
            return other;
        }
    }
    return NULL;
}

/* The elements of a list c(a, b, ...), told apart by comparing the index with
 * numbers: a few, which may cancel in their sum, as w and 1 - w do. */
static bool is_listed(symp body, const struct loop *loop, symp lower,
                      symp upper)
{
    enum { MOST = 16 };
    if (body->kind != SYM_SELECT || lower->kind != SYM_NUM ||
        upper->kind != SYM_NUM || upper->number - lower->number >= MOST)
        return false;
    const symp when = body->args[0];
    return when->kind == SYM_CALL && when->nargs == 2 &&
           when->args[0]->kind == SYM_LOOP && when->args[0]->loop == loop &&
           when->args[1]->kind == SYM_NUM;
}

static symp sum_listed(struct compiler *c, const struct loop *loop, symp lower,
                       symp upper, symp body)
{
    symp sum = sym_num(c, 0);
    for (double k = lower->number; k <= upper->number; k++)
        sum = sym_add2(c, sum, sym_replace_loop(c, body, loop, sym_num(c, k)));
    return sum;
}

symp sym_sum(struct compiler *c, struct loop *loop, symp lower, symp upper,
             symp body)
{
    if (sym_is(body, 0))
        return body;
    if (!sym_has_loop(body, loop)) {
        symp count = sym_length(c, lower, upper);
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
            sym_list_push(c, sym_has_loop(body->args[i], loop) ? &in : &out,
                          body->args[i]);
        if (out.n) {
            sym_list_push(
                c, &out,
                sym_sum(c, loop, lower, upper, sym_mul(c, in.n, in.at)));
            return sym_mul(c, out.n, out.at);
        }
    }
    if (is_listed(body, loop, lower, upper))
        return sum_listed(c, loop, lower, upper, body);
    return sym_make(c, (struct sym){.kind = SYM_SUM, .loop = loop}, 3,
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
    return sym_make(c, model, 1 + nloops, args);
}

/* ---- calls ------------------------------------------------------------ */

static bool fold_call(const char *name, int n, const symp *args, double *out)
{
    for (int i = 0; i < n; i++)
        if (args[i]->kind != SYM_NUM)
            return false;
    double a = n > 0 ? args[0]->number : 0, b = n > 1 ? args[1]->number : 0;
    const bool nan = isnan(a) || isnan(b);
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
            return *out = nan ? NAN : fmax(a, b), true;
        if (!strcmp(name, "min"))
            return *out = nan ? NAN : fmin(a, b), true;
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
    if (!strcmp(name, SYM_LIST) && args[0]->kind == SYM_NUM)
        return args[(int)args[0]->number];
    if (fold_call(name, n, args, &value))
        return sym_num(c, value);
    struct sym model = {
        .kind = SYM_CALL, .name = intern(c, name), .entry = entry};
    if (!strncmp(name, "draw_", 5)) /* two draws are never the same */
        model.number = ++c->ndraws;
    return sym_make(c, model, n, args);
}

/* The argument called `name`, an element of it, or the extent of one. */
symp sym_bind_argument(struct compiler *c, const char *name, int nargs,
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
    return sym_from_library(c, value, sym_bind_argument, &at);
}

/* log(u / (u + v)) = -log1p(v / u), which keeps its digits where one is far
 * larger than the other; NULL if `sum` has no such term. */
static symp log_share(struct compiler *c, symp u, symp sum)
{
    bool term = false;
    for (int i = 0; sum->kind == SYM_ADD && i < sum->nargs; i++)
        term = term || sym_same(sum->args[i], u);
    symp v = term && sym_positive(u) ? sym_sub(c, sum, u) : NULL;
    if (!v || !sym_positive(v))
        return NULL;
    symp odds = sym_div(c, v, u);
    return sym_neg(
        c, plain_call(c, "log1p",
                      library_find(c, ENTRY_FUNCTION, intern(c, "log1p")), 1,
                      &odds));
}

/* The sum that e is one over, or NULL. */
static symp one_over(symp e)
{
    bool inverse = e->kind == SYM_POW && sym_is(e->args[1], -1);
    return inverse ? e->args[0] : NULL;
}

/* A product with a share u / (u + v) in it; NULL if there is none. */
static symp log_of_shares(struct compiler *c, symp product)
{
    for (int i = 0; i < product->nargs; i++)
        for (int j = 0; j < product->nargs; j++) {
            symp sum = one_over(product->args[i]);
            symp share =
                sum && i != j ? log_share(c, product->args[j], sum) : NULL;
            if (!share)
                continue;
            struct list rest = {0};
            for (int k = 0; k < product->nargs; k++)
                if (k != i && k != j)
                    sym_list_push(c, &rest, product->args[k]);
            return rest.n ? sym_add2(c, share,
                                     sym_log(c, sym_mul(c, rest.n, rest.at)))
                          : share;
        }
    return NULL;
}

/* The logarithm of a product as a sum; NULL: nothing in it comes out. */
static symp log_of_product(struct compiler *c, symp a)
{
    symp shares = log_of_shares(c, a);
    struct list logs = {0}, other = {0};
    if (shares)
        return shares;
    for (int i = 0; i < a->nargs; i++) {
        if (sym_positive(a->args[i]))
            sym_list_push(c, &logs, sym_log(c, a->args[i]));
        else
            sym_list_push(c, &other, a->args[i]);
    }
    /* the product is positive, or log would not be taken, so the rest is:
     * sound because the log of a non-positive number is NaN either way */
    if (logs.n) {
        if (other.n)
            sym_list_push(c, &logs, sym_log(c, sym_mul(c, other.n, other.at)));
        return sym_add(c, logs.n, logs.at);
    }
    return other.n == 1 ? sym_log(c, other.at[0]) : NULL;
}

/* The logarithm of a = 1 - complement, where the complement's function states
 * it, or is a share; NULL otherwise. */
static symp log_of_complement(struct compiler *c, symp a)
{
    symp complement = sym_sub(c, sym_num(c, 1), a);
    if (complement->kind == SYM_CALL)
        return clause_at(c, complement, "log_complement");
    for (int i = 0; complement->kind == SYM_MUL && i < 2; i++) {
        symp u = complement->args[1 - i];
        symp sum =
            complement->nargs == 2 ? one_over(complement->args[i]) : NULL;
        symp share = sum && log_share(c, u, sum)
                         ? log_share(c, sym_sub(c, sum, u), sum)
                         : NULL;
        if (share)
            return share;
    }
    return NULL;
}

/* log(a): splits products and powers of positive things; functions may state
 * their own log, and the log of one minus them, for accuracy and algebra. */
symp sym_log(struct compiler *c, symp a)
{
    symp other = NULL;
    if (sym_is_call(c, a, "exp"))
        return a->args[0];
    if (a->kind == SYM_POW &&
        (sym_positive(a->args[0]) || !sym_is_whole(a->args[1])))
        return sym_mul2(c, a->args[1], sym_log(c, a->args[0]));
    if (a->kind == SYM_MUL && (other = log_of_product(c, a)))
        return other;
    if (a->kind == SYM_SELECT)
        return sym_select(c, a->args[0], sym_log(c, a->args[1]),
                          sym_log(c, a->args[2]));
    symp array = sym_is_call(c, a, "prod") ? a->args[0] : NULL;
    if (array && array->kind == SYM_ARRAY && array->nloops == 1 &&
        sym_not_negative(c, array->args[0]))
        return sym_sum(c, array->loops[0], sym_num(c, 1), array->args[1],
                       sym_log(c, array->args[0]));
    if (a->kind == SYM_CALL && (other = clause_at(c, a, "log")))
        return other;
    if (a->kind == SYM_ADD && a->nargs == 2 &&
        (other = log_of_complement(c, a)))
        return other;
    return plain_call(c, "log",
                      library_find(c, ENTRY_FUNCTION, intern(c, "log")), 1, &a);
}

symp sym_exp(struct compiler *c, symp a)
{
    if (sym_is_call(c, a, "log"))
        return a->args[0];
    int n = a->kind == SYM_ADD ? a->nargs : 1;
    const symp *terms = a->kind == SYM_ADD ? a->args : &a;
    struct list outside = {0}, inside = {0};
    for (int i = 0; i < n; i++) {
        double k;
        symp rest = split_number(c, terms[i], &k);
        if (sym_is_call(c, rest, "log"))
            sym_list_push(c, &outside,
                          sym_pow(c, rest->args[0], sym_num(c, k)));
        else
            sym_list_push(c, &inside, terms[i]);
    }
    if (outside.n) {
        if (inside.n)
            sym_list_push(c, &outside,
                          sym_exp(c, sym_add(c, inside.n, inside.at)));
        return sym_mul(c, outside.n, outside.at);
    }
    return plain_call(c, "exp",
                      library_find(c, ENTRY_FUNCTION, intern(c, "exp")), 1, &a);
}

double sym_largest_of(symp e)
{
    double most = e->kind == SYM_NUM ? e->number : HUGE_VAL;
    if (e->kind == SYM_CALL && !strcmp(e->name, "min"))
        for (int i = 0; i < e->nargs; i++)
            most = fmin(most, sym_largest_of(e->args[i]));
    return most;
}

/* end + rest as a number; `otherwise` where it is none. What an end that
 * depends on other loops says holds where the loop stands and not everywhere
 * that it is put. */
static double end_of(struct compiler *c, symp end, symp rest, double otherwise)
{
    if (!end || (end->kind != SYM_NUM && sym_has_any_loop(end)))
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
    if (rest->kind == SYM_NUM && l->upper)
        *largest = fmin(*largest, sym_largest_of(l->upper) + rest->number);
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
        all = least == 0 && largest == 0, none = least > 0 || largest < 0;
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

static symp sum_of_logs(struct compiler *c, symp extent, struct loop *from,
                        symp e)
{
    struct loop *k = NEW(c, struct loop);
    *k = (struct loop){.name = "k", .lower = sym_num(c, 1), .upper = extent};
    e = sym_replace_loop(c, e, from, sym_loop(c, k));
    return sym_sum(c, k, k->lower, k->upper, sym_log(c, e));
}

/* logdet of the cells a[k] b[l] A[k,l], a and b > 0: the logs of a and b, and
 * logdet(A). NULL if there are no such a and b. */
static symp scaled_logdet(struct compiler *c, symp array)
{
    symp body = array->args[0], rest = sym_num(c, 1), logs = sym_num(c, 0);
    if (body->kind != SYM_MUL)
        return NULL;
    for (int i = 0; i < body->nargs; i++) {
        symp e = body->args[i];
        const bool row = sym_has_loop(e, array->loops[0]),
                   column = sym_has_loop(e, array->loops[1]);
        if (!sym_positive(e) || (row && column))
            rest = sym_mul2(c, rest, e);
        else
            logs = sym_add2(
                c, logs,
                sum_of_logs(c, array->args[1], array->loops[column], e));
    }
    if (sym_is(logs, 0))
        return NULL;
    symp of = sym_array(c, 2, array->loops, &array->args[1], rest);
    return sym_add2(c, logs, sym_call(c, "logdet", 1, &of));
}

/* logdet of the cells (k == l) a[k,l]: the logs of a[k,k]. NULL if that is not
 * how the array is written. */
static symp diagonal_logdet(struct compiler *c, symp array)
{
    symp on =
        sym_eq(c, sym_loop(c, array->loops[0]), sym_loop(c, array->loops[1]));
    symp body = array->args[0];
    bool found = false;
    for (int i = 0; i < (body->kind == SYM_MUL ? body->nargs : 1); i++) {
        symp times, e = body->kind == SYM_MUL ? body->args[i] : body;
        symp equality = equality_in(c, e, &times);
        found = found || (equality && sym_same(equality, on));
    }
    if (!found)
        return NULL;
    body = sym_replace_loop(c, body, array->loops[1],
                            sym_loop(c, array->loops[0]));
    return sum_of_logs(c, array->args[1], array->loops[0], body);
}

static symp simpler_logdet(struct compiler *c, symp array)
{
    if (array->kind != SYM_ARRAY || array->nloops != 2)
        return NULL;
    symp scaled = scaled_logdet(c, array);
    return scaled ? scaled : diagonal_logdet(c, array);
}

/* trace_solve(a A, B), a the same for all cells of A: a trace_solve(A, B). NULL
 * if there is no such a. */
static symp scaled_trace(struct compiler *c, symp array, symp other)
{
    symp body = array->kind == SYM_ARRAY ? array->args[0] : NULL;
    if (!body || array->nloops != 2 || body->kind != SYM_MUL)
        return NULL;
    symp scale = sym_num(c, 1), rest = sym_num(c, 1);
    for (int i = 0; i < body->nargs; i++) {
        symp e = body->args[i];
        const bool all = !sym_has_loop(e, array->loops[0]) &&
                         !sym_has_loop(e, array->loops[1]);
        symp *to = all ? &scale : &rest;
        *to = sym_mul2(c, *to, e);
    }
    if (sym_is(scale, 1))
        return NULL;
    symp of = sym_array(c, 2, array->loops, &array->args[1], rest);
    return sym_mul2(c, scale,
                    sym_call(c, "trace_solve", 2, (symp[]){of, other}));
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
        symp simpler = simpler_logdet(c, args[0]);
        if (simpler)
            return simpler;
    }
    if (n == 2 && !strcmp(name, "trace_solve")) {
        symp scaled = scaled_trace(c, args[0], args[1]);
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
        return sym_from_library(c, entry_value(entry, "as"), sym_bind_argument,
                                &at);
    }
    return plain_call(c, entry ? entry->name : name, entry, n, args);
}
