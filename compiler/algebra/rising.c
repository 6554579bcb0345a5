/* rising.c: differences of logarithms of gamma functions, and of beta
 * functions, that lie apart by what is known, as loggam(r + y) - loggam(r) in a
 * model's own text. Where r is large each term is far larger than their
 * difference, of which rounding leaves nothing, and a density without digits
 * has modes that are none. So it is log_rising(r, y), which keeps them. */
#include "algebra/inside.h"
#include <math.h>

/* A reference to what is not known beside `own`, the variable whose density is
 * looked at. */
static bool is_unknown(symp e, const void *own)
{
    return sym_is_latent(e, NULL) && e->var != own;
}

static symp joining_term(struct compiler *c, symp term, symp *times);

/* What may be a difference with its like: a call of loggam or log_beta, or a
 * sum of such. */
static bool may_join(struct compiler *c, symp e)
{
    symp times;
    return sym_is_call(c, e, "loggam") || sym_is_call(c, e, "log_beta") ||
           (e->kind == SYM_SUM && joining_term(c, e->args[2], &times));
}

/* term = *times * what is returned, which may join; or NULL. */
static symp joining_term(struct compiler *c, symp term, symp *times)
{
    *times = sym_num(c, 1);
    if (term->kind != SYM_MUL)
        return may_join(c, term) ? term : NULL;
    for (int i = 0; i < term->nargs; i++)
        if (may_join(c, term->args[i])) {
            *times = sym_cofactor(c, term, i);
            return term->args[i];
        }
    return NULL;
}

/* The sum in `e` that is what `sum` is but for the name of its loop, or NULL.
 */
static symp same_sum(struct compiler *c, symp e, symp sum)
{
    symp found = NULL;
    if (e->kind == SYM_SUM && sym_same(e->args[0], sum->args[0]) &&
        sym_same(e->args[1], sum->args[1]) &&
        sym_same(e->args[2], sym_replace_loop(c, sum->args[2], sum->loop,
                                              sym_loop(c, e->loop))))
        return e;
    for (int i = 0; i < e->nargs && !found; i++)
        found = same_sum(c, e->args[i], sum);
    return found;
}

static symp with_sums(struct compiler *c, symp e, void *other)
{
    return e->kind == SYM_SUM ? same_sum(c, other, e) : NULL;
}

/* loggam(a) - loggam(b); NULL if what lies between is not known. */
static symp between_gammas(struct compiler *c, symp a, symp b,
                           const struct var *own)
{
    b = sym_map(c, b, with_sums, (void *)a);
    symp gain = sym_sub(c, a, b);
    if (sym_any(gain, is_unknown, own) || !sym_any(b, is_unknown, own))
        return NULL;
    if (gain->kind == SYM_NUM && gain->number < 0)
        return sym_neg(
            c, sym_call(c, "log_rising", 2, (symp[]){a, sym_neg(c, gain)}));
    return sym_call(c, "log_rising", 2, (symp[]){b, gain});
}

/* log_beta() of a less that of b, whose arguments may have come together from
 * one side. */
static symp between_betas(struct compiler *c, symp a, symp b,
                          const struct var *own)
{
    symp parts[3] = {sym_num(c, 0), sym_num(c, 0), sym_num(c, 0)}, sum[2];
    for (int i = 0; i < 2; i++) {
        sum[0] = a->args[i];
        sum[1] = b->args[i];
        if (!sym_same(sum[0], sum[1]))
            parts[i] = between_gammas(c, sum[0], sum[1], own);
        if (!parts[i])
            return NULL;
    }
    sum[0] = sym_add(c, 2, a->args);
    sum[1] = sym_add(c, 2, b->args);
    if (!sym_same(sum[0], sum[1]))
        parts[2] = between_gammas(c, sum[0], sum[1], own);
    if (!parts[2])
        return NULL;
    return sym_sub(c, sym_add2(c, parts[0], parts[1]), parts[2]);
}

/* a - b of two that may join, or NULL. */
static symp joined(struct compiler *c, symp a, symp b, const struct var *own)
{
    if (a->kind != b->kind)
        return NULL;
    if (a->kind == SYM_SUM) {
        if (!sym_same(a->args[0], b->args[0]) ||
            !sym_same(a->args[1], b->args[1]))
            return NULL;
        symp times[2],
            body[2] = {a->args[2], sym_replace_loop(c, b->args[2], b->loop,
                                                    sym_loop(c, a->loop))};
        for (int i = 0; i < 2; i++)
            body[i] = joining_term(c, body[i], &times[i]);
        symp one = body[0] && body[1] && sym_same(times[0], times[1])
                       ? joined(c, body[0], body[1], own)
                       : NULL;
        return one ? sym_sum(c, a->loop, a->args[0], a->args[1],
                             sym_mul2(c, times[0], one))
                   : NULL;
    }
    if (a->name != b->name)
        return NULL;
    return a->nargs == 1 ? between_gammas(c, a->args[0], b->args[0], own)
                         : between_betas(c, a, b, own);
}

/* How much of two terms with these coefficients is a difference; 0: none. */
static symp in_both(struct compiler *c, symp a, symp b)
{
    if (a->kind != SYM_NUM || b->kind != SYM_NUM)
        return sym_is(sym_add2(c, a, b), 0) ? a : sym_num(c, 0);
    if (!(a->number > 0) || !(b->number < 0))
        return sym_num(c, 0);
    return sym_num(c, fmin(a->number, -b->number));
}

/* The sum with its terms i and j as a difference and what is left of them. */
static symp sum_with(struct compiler *c, symp sum, int i, int j,
                     symp difference)
{
    symp *terms = NEW_ARRAY(c, symp, sum->nargs + 1);
    int n = 0;
    for (int k = 0; k < sum->nargs; k++)
        if (k != i && k != j)
            terms[n++] = sum->args[k];
    terms[n++] = difference;
    return sym_add(c, n, terms);
}

static symp join_in(struct compiler *c, symp e, void *own)
{
    const int n = e->kind == SYM_ADD ? e->nargs : 0;
    symp *core = NEW_ARRAY(c, symp, n), *times = NEW_ARRAY(c, symp, n);
    for (int i = 0; i < n; i++)
        core[i] = joining_term(c, e->args[i], &times[i]);
    for (int i = 0; i < n; i++)
        for (int j = 0; core[i] && j < n; j++) {
            if (i == j || !core[j] || core[i]->kind != core[j]->kind)
                continue;
            symp both = in_both(c, times[i], times[j]);
            symp one =
                sym_is(both, 0) ? NULL : joined(c, core[i], core[j], own);
            if (!one)
                continue;
            symp left[3] = {sym_mul2(c, both, one),
                            sym_mul2(c, sym_sub(c, times[i], both), core[i]),
                            sym_mul2(c, sym_add2(c, times[j], both), core[j])};
            symp sum = sum_with(c, e, i, j, sym_add(c, 3, left));
            return sym_join_rising(c, sum, own);
        }
    return NULL;
}

symp sym_join_rising(struct compiler *c, symp e, const struct var *own)
{
    return e ? sym_map(c, e, join_in, (void *)own) : NULL;
}
