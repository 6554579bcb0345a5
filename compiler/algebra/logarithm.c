/* logarithm.c: logarithms and exponentials: products and powers come out of
 * them, and shares and complements keep their digits. */
#include "algebra/inside.h"
#include <math.h>

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
        symp rest = sym_split_number(c, terms[i], &k);
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
