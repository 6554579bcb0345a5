/* mirror_algebra.c: what stays as it is where numbers change sign, or 0s and 1s
 * are the other way round. */
#include "sampler/mirror.h"

#include <math.h>
#include <string.h>

enum { MOST_BITS = 4 };

int sampler_mirror_place(const struct mirror *k, const struct var *v)
{
    for (int i = 0; i < k->n; i++)
        if (k->vars[i] == v)
            return i;
    return -1;
}

/* ---- the algebra of signs --------------------------------------------------
 */

static bool is_sign(const struct mirror *k, symp e)
{
    return e->kind == SYM_REF && e->var == k->sign;
}

static symp mirrored_cell(struct compiler *c, symp e, void *context)
{
    const struct mirror *k = context;
    const int i = e->kind == SYM_REF ? sampler_mirror_place(k, e->var) : -1;
    if (i < 0)
        return NULL;
    symp at = k->dim[i] < 0 ? NULL : e->args[k->dim[i]];
    return sym_mul2(c, e, sym_ref(c, k->sign, at != NULL, &at));
}

/* The sign in a product, *rest: what it multiplies; NULL: none. */
static symp sign_in(const struct mirror *k, symp e, symp *rest)
{
    *rest = sym_num(k->c, 1);
    if (is_sign(k, e))
        return e;
    for (int i = 0; e->kind == SYM_MUL && i < e->nargs; i++)
        if (is_sign(k, e->args[i])) {
            *rest = sym_cofactor(k->c, e, i);
            return e->args[i];
        }
    return NULL;
}

/* A whole power of a sign as that or 1; any other e as it is. */
static symp power_of_sign(const struct mirror *k, symp e)
{
    if (e->kind != SYM_POW || !is_sign(k, e->args[0]) ||
        e->args[1]->kind != SYM_NUM)
        return e;
    const double power = e->args[1]->number;
    return power != floor(power)   ? e
           : fmod(power, 2.0) == 0 ? sym_num(k->c, 1)
                                   : e->args[0];
}

/* A sum of which each term has the same sign, as that times the sum. */
static symp sign_of_sum(const struct mirror *k, symp e)
{
    symp rest, sign = sign_in(k, e->args[0], &rest), sum = rest;
    for (int i = 1; i < e->nargs && sign; i++) {
        symp other = sign_in(k, e->args[i], &rest);
        sign = other && sym_same(sign, other) ? sign : NULL;
        sum = sym_add2(k->c, sum, rest);
    }
    return sign ? sym_mul2(k->c, sign, sum) : e;
}

/* The same of a sum over a loop that the sign does not know. */
static symp sign_of_loop(const struct mirror *k, symp e)
{
    symp rest, sign = sign_in(k, e->args[2], &rest);
    if (!sign || sym_has_loop(sign, e->loop))
        return e;
    return sym_mul2(k->c, sign,
                    sym_sum(k->c, e->loop, e->args[0], e->args[1], rest));
}

static symp even_function(const struct mirror *k, symp e)
{
    symp rest;
    const bool even = !strcmp(e->name, "abs") || !strcmp(e->name, "cos");
    return even && e->nargs == 1 && sign_in(k, e->args[0], &rest)
               ? sym_call(k->c, e->name, 1, &rest)
               : e;
}

/* e, in which the parts are settled, without the signs that cancel. */
static symp cancel(const struct mirror *k, symp e)
{
    if (e->kind == SYM_MUL) {
        symp product = sym_num(k->c, 1);
        for (int i = 0; i < e->nargs; i++)
            product = sym_mul2(k->c, product, power_of_sign(k, e->args[i]));
        return product;
    }
    return e->kind == SYM_POW    ? power_of_sign(k, e)
           : e->kind == SYM_ADD  ? sign_of_sum(k, e)
           : e->kind == SYM_SUM  ? sign_of_loop(k, e)
           : e->kind == SYM_CALL ? even_function(k, e)
                                 : e;
}

static symp settled(const struct mirror *k, symp e)
{
    if (!sym_has_var(e, k->sign) || is_sign(k, e))
        return e;
    symp *args = NEW_ARRAY(k->c, symp, e->nargs);
    for (int i = 0; i < e->nargs; i++)
        args[i] = settled(k, e->args[i]);
    return cancel(k, sym_rebuild(k->c, e, args));
}

bool sampler_mirror_reads(const struct mirror *k, symp e)
{
    bool found = false;
    for (int i = 0; i < k->n; i++)
        found = found || (e && sym_has_var(e, k->vars[i]));
    return found;
}

/* Whether e is the same with any signs. */
static bool stays_with_signs(const struct mirror *k, symp e)
{
    struct mirror context = *k;
    return !sym_has_var(settled(k, sym_map(k->c, e, mirrored_cell, &context)),
                        k->sign);
}

/* ---- 0s and 1s -------------------------------------------------------------
 */

struct bits {
    const struct mirror *k;
    symp cell[MOST_BITS];
    int n;
    bool failed;
};

static void add_bit(struct bits *b, symp cell)
{
    for (int i = 0; i < b->n; i++)
        if (sym_same(b->cell[i], cell))
            return;
    b->failed = b->failed || b->n == MOST_BITS;
    if (!b->failed)
        b->cell[b->n++] = cell;
}

/* All cells of the variables that e reads; not those that it adds up, which are
 * any number. */
static void find_bits(struct bits *b, symp e)
{
    if (e->kind == SYM_REF && sampler_mirror_place(b->k, e->var) >= 0)
        add_bit(b, e);
    for (int i = 0; i < e->nargs; i++)
        find_bits(b, e->args[i]);
    for (int i = 0; i < b->n; i++)
        b->failed = b->failed ||
                    (e->kind == SYM_SUM && sym_has_loop(b->cell[i], e->loop)) ||
                    (e->kind == SYM_ARRAY &&
                     sym_has_loop_of(b->cell[i], e->loops, e->nloops));
}

/* e where cell number i has bit i of `values`. */
static symp with_bits(const struct bits *b, symp e, unsigned values)
{
    for (int i = 0; i < b->n; i++)
        e = sym_replace(b->k->c, e, b->cell[i],
                        sym_num(b->k->c, values >> i & 1));
    return e;
}

/* Whether e is the same with all 0s and 1s the other way round. */
static bool stays_with_bits(const struct mirror *k, symp e)
{
    struct bits b = {.k = k};
    find_bits(&b, e);
    for (unsigned at = 0; !b.failed && at < 1U << b.n; at++)
        b.failed = !sym_same(with_bits(&b, e, at), with_bits(&b, e, ~at));
    return !b.failed;
}

bool sampler_mirror_stays(const struct mirror *k, symp e)
{
    return !sampler_mirror_reads(k, e) ||
           (k->bits ? stays_with_bits(k, e) : stays_with_signs(k, e));
}
