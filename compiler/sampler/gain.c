/* gain.c: how an expression of coefficients changes when these do, from own to
 * own + gain: as a difference that keeps its digits where own is far larger
 * than the gain, which the difference of both would not. */
#include "sampler/integrated.h"
#include <string.h>

static symp at_cell(struct compiler *c, const struct change *k, symp e, symp of)
{
    return k->index ? sym_replace_loop(c, of, k->index, e->args[0]) : of;
}

static const struct change *change_of(const struct changes *k, symp e)
{
    for (int i = 0; i < k->n; i++)
        if (k->of[i].cells ? e->kind == SYM_REF && e->var == k->of[i].cells
                           : e->kind == SYM_PARAM && e->name == k->of[i].name)
            return &k->of[i];
    return NULL;
}

static symp put_own(struct compiler *c, symp e, void *context)
{
    const struct change *k = change_of(context, e);
    return k ? at_cell(c, k, e, k->own) : NULL;
}

static symp put_both(struct compiler *c, symp e, void *context)
{
    const struct change *k = change_of(context, e);
    return k ? at_cell(c, k, e, sym_add2(c, k->own, k->gain)) : NULL;
}

symp sampler_own_of(struct compiler *c, symp e, const struct changes *k)
{
    return sym_map(c, e, put_own, (void *)(uintptr_t)k);
}

symp sampler_both_of(struct compiler *c, symp e, const struct changes *k)
{
    return sym_map(c, e, put_both, (void *)(uintptr_t)k);
}

static bool changes_in(symp e, const void *changes)
{
    return change_of(changes, e) != NULL;
}

/* f g: own f times the gain of g, and the gain of f times what g becomes. */
static symp gain_of_product(struct compiler *c, symp e, const struct changes *k)
{
    symp first = e->args[0], rest = sym_cofactor(c, e, 0);
    return sym_add2(
        c,
        sym_mul2(c, sampler_own_of(c, first, k), sampler_gain_of(c, rest, k)),
        sym_mul2(c, sampler_gain_of(c, first, k), sampler_both_of(c, rest, k)));
}

static int terms_of(symp e) { return e->kind == SYM_ADD ? e->nargs : 1; }

static symp distribute(struct compiler *c, symp e)
{
    symp total = sym_num(c, 0);
    for (int i = 0; e->kind == SYM_ADD && i < e->nargs; i++)
        total = sym_add2(c, total, distribute(c, e->args[i]));
    if (e->kind == SYM_ADD)
        return total;
    for (int i = 0; e->kind == SYM_MUL && i < e->nargs; i++) {
        symp sum = e->args[i], rest = sym_cofactor(c, e, i);
        if (sum->kind != SYM_ADD)
            continue;
        for (int j = 0; j < sum->nargs; j++)
            total = sym_add2(c, total,
                             distribute(c, sym_mul2(c, rest, sum->args[j])));
        return total;
    }
    return e;
}

/* mu kappa + (1 - mu) kappa as kappa: with all digits where kappa is small. */
static symp shortest(struct compiler *c, symp e)
{
    symp flat = distribute(c, e);
    return terms_of(flat) < terms_of(e) ? flat : e;
}

/* A bound that keeps structural zeros from the logarithm. */
static bool is_tiny_bound(symp e)
{
    return e->kind == SYM_CALL && !strcmp(e->name, "max") && e->nargs == 2 &&
           e->args[1]->kind == SYM_NUM && e->args[1]->number > 0 &&
           e->args[1]->number <= 1e-30;
}

/* Differences of functions with all their digits, where the coefficients are
 * far larger than what they gain. */
static symp gain_of_call(struct compiler *c, symp e, const struct changes *k)
{
    const bool gamma = !strcmp(e->name, "loggam");
    if (is_tiny_bound(e))
        return sampler_gain_of(c, e->args[0], k);
    if (!gamma && strcmp(e->name, "log") != 0)
        return sym_sub(c, sampler_both_of(c, e, k), sampler_own_of(c, e, k));
    symp own = shortest(c, sampler_own_of(c, e->args[0], k));
    symp gain = sampler_gain_of(c, e->args[0], k);
    if (gamma)
        return sym_call(c, "log_rising", 2, (symp[]){own, gain});
    symp by = sym_div(c, gain, own);
    return sym_call(c, "log1p", 1, &by);
}

symp sampler_gain_of(struct compiler *c, symp e, const struct changes *k)
{
    if (!sym_any(e, changes_in, k))
        return sym_num(c, 0);
    const struct change *change = change_of(k, e);
    symp total = sym_num(c, 0);
    if (change)
        return at_cell(c, change, e, change->gain);
    switch (e->kind) {
    case SYM_ADD:
        for (int i = 0; i < e->nargs; i++)
            total = sym_add2(c, total, sampler_gain_of(c, e->args[i], k));
        return total;
    case SYM_MUL:
        return gain_of_product(c, e, k);
    case SYM_SUM:
        return sym_sum(c, e->loop, e->args[0], e->args[1],
                       sampler_gain_of(c, e->args[2], k));
    case SYM_CALL:
        return gain_of_call(c, e, k);
    default:
        return sym_sub(c, sampler_both_of(c, e, k), sampler_own_of(c, e, k));
    }
}
