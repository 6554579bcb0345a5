/* algebra.c: sums, products, powers and logarithms, simplified as they are
 * built. See docs/architecture.md, "algebra". */
#include "algebra/inside.h"
#include <math.h>

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

bool sym_difference(struct compiler *c, symp a, symp b, double *out)
{
    symp d = sym_sub(c, a, b);
    if (d->kind != SYM_NUM)
        return false;
    *out = d->number;
    return true;
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

/* A number whose powers stay numbers as long as those of most things do. */
static bool moderate(symp a)
{
    return fabs(a->number) > 0.01 && fabs(a->number) < 100;
}

/* Powers with an exponent that is no number may overflow, or be 0, where their
 * product is moderate: a^c (a + b)^-c, of which (a / (a + b))^c is less than 1.
 */
static bool powers_apart(symp a, symp b, symp exponent)
{
    return exponent->kind == SYM_NUM || (a->kind == SYM_NUM && moderate(a)) ||
           (b->kind == SYM_NUM && moderate(b));
}

/* a^c b^-c is (a / b)^c, where c is no number. With one of them positive that
 * is as little a number, where the other is negative. */
static void join_powers(struct compiler *c, struct list *bases,
                        struct list *exponents)
{
    for (int j = 0; j < bases->n; j++)
        for (int i = j + 1; i < bases->n; i++) {
            symp e = exponents->at[j], sign = sym_num(c, 1);
            if (e->kind == SYM_NUM || exponents->at[i]->kind == SYM_NUM)
                continue;
            if (!sym_same(e, exponents->at[i]))
                sign = sym_num(c, -1);
            if (!sym_same(e, sym_mul2(c, sign, exponents->at[i])) ||
                powers_apart(bases->at[j], bases->at[i], e) ||
                (!sym_positive(bases->at[j]) && !sym_positive(bases->at[i])))
                continue;
            bases->at[j] =
                sym_mul2(c, bases->at[j], sym_pow(c, bases->at[i], sign));
            bases->n--;
            exponents->n--;
            bases->at[i] = bases->at[bases->n];
            exponents->at[i] = exponents->at[exponents->n];
            i--;
        }
}

/* Whether each factor of e, its number apart, is one of the term's. */
static bool divides(symp e, symp term)
{
    const symp *of = e->kind == SYM_MUL ? e->args : &e;
    const symp *in = term->kind == SYM_MUL ? term->args : &term;
    const int n = e->kind == SYM_MUL ? e->nargs : 1;
    const int m = term->kind == SYM_MUL ? term->nargs : 1;
    for (int i = 0; i < n; i++) {
        bool found = of[i]->kind == SYM_NUM;
        for (int j = 0; j < m && !found; j++)
            found = sym_same(of[i], in[j]);
        if (!found)
            return false;
    }
    return true;
}

/* Whether e, which is no number, divides all terms of the exponential's
 * argument. */
static bool divides_exponential(struct compiler *c, symp e, symp exponential)
{
    if (e->kind == SYM_NUM || !sym_is_call(c, exponential, "exp"))
        return false;
    symp a = exponential->args[0];
    bool all = true;
    for (int i = 0; all && i < (a->kind == SYM_ADD ? a->nargs : 1); i++)
        all = divides(e, a->kind == SYM_ADD ? a->args[i] : a);
    return all;
}

/* a^c exp(-c b) is exp(c (log(a) - b)), where c is no number: a Weibull
 * distribution's with a log link. */
static void join_exponentials(struct compiler *c, struct list *bases,
                              struct list *exponents)
{
    for (int j = 0; j < bases->n; j++)
        for (int i = 0; i < bases->n; i++) {
            symp e = exponents->at[i], k = exponents->at[j];
            if (e->kind != SYM_NUM || !sym_positive(bases->at[j]) ||
                !divides_exponential(c, k, bases->at[i]))
                continue;
            symp inside = sym_add2(c, sym_mul2(c, e, bases->at[i]->args[0]),
                                   sym_mul2(c, k, sym_log(c, bases->at[j])));
            bases->at[i] = sym_call(c, "exp", 1, &inside);
            exponents->at[i] = sym_num(c, 1);
            bases->n--;
            exponents->n--;
            bases->at[j] = bases->at[bases->n];
            exponents->at[j] = exponents->at[exponents->n];
            j--;
            break;
        }
}

static symp multiply(struct compiler *c, int n, const symp *factors)
{
    struct list bases = {0}, exponents = {0}, out = {0};
    double number = gather_powers(c, n, factors, &bases, &exponents);
    if (number == 0)
        return sym_num(c, 0);
    join_powers(c, &bases, &exponents);
    join_exponentials(c, &bases, &exponents);
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

static bool factors_apart(symp product, symp exponent)
{
    for (int i = 0; i < product->nargs; i++)
        for (int j = 0; j < i; j++)
            if (!powers_apart(product->args[i], product->args[j], exponent))
                return false;
    return true;
}

/* Of a positive product: (l^(1/k) x)^k is l x^k. */
static symp power_of_product(struct compiler *c, symp base, symp exponent)
{
    bool all = sym_is_whole(exponent);
    if (!all) {
        all = factors_apart(base, exponent);
        for (int i = 0; i < base->nargs; i++)
            all = all && sym_positive(base->args[i]);
    }
    struct list out = {0}, within = {0};
    for (int i = 0; i < base->nargs; i++) {
        symp f = base->args[i];
        bool apart = all;
        if (f->kind == SYM_POW && sym_positive(f->args[0]))
            apart = all || sym_mul2(c, f->args[1], exponent)->kind == SYM_NUM;
        sym_list_push(c, apart ? &out : &within,
                      apart ? sym_pow(c, f, exponent) : f);
    }
    if (!out.n)
        return NULL;
    if (within.n)
        sym_list_push(c, &out,
                      sym_pow(c, sym_mul(c, within.n, within.at), exponent));
    return sym_mul(c, out.n, out.at);
}

symp sym_pow(struct compiler *c, symp base, symp exponent)
{
    if (sym_is(exponent, 0) || sym_is(base, 1))
        return sym_num(c, 1);
    if (sym_is(exponent, 1))
        return base;
    if (sym_is_condition(base) && exponent->kind == SYM_NUM &&
        exponent->number > 0)
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
        symp product = power_of_product(c, base, exponent);
        if (product)
            return product;
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

/* ---- logarithms -------------------------------------------------------- */

bool sym_not_negative(struct compiler *c, symp e)
{
    bool all = e->kind == SYM_MUL;
    for (int i = 0; all && i < e->nargs; i++)
        all = sym_not_negative(c, e->args[i]);
    return all || sym_positive(e) || sym_is(e, 0) ||
           (e->kind == SYM_POW && sym_not_negative(c, e->args[0])) ||
           (e->kind == SYM_SELECT && sym_not_negative(c, e->args[1]) &&
            sym_not_negative(c, e->args[2])) ||
           (e->kind == SYM_ADD &&
            sym_at_most_one(sym_sub(c, sym_num(c, 1), e)));
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
        c, sym_plain_call(c, "log1p",
                          library_find(c, ENTRY_FUNCTION, intern(c, "log1p")),
                          1, &odds));
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
        return sym_clause_at(c, complement, "log_complement");
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
    if (a->kind == SYM_CALL && (other = sym_clause_at(c, a, "log")))
        return other;
    if (a->kind == SYM_ADD && a->nargs == 2 &&
        (other = log_of_complement(c, a)))
        return other;
    return sym_plain_call(
        c, "log", library_find(c, ENTRY_FUNCTION, intern(c, "log")), 1, &a);
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
    return sym_plain_call(
        c, "exp", library_find(c, ENTRY_FUNCTION, intern(c, "exp")), 1, &a);
}
