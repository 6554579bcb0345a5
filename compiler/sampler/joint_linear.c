/* joint_linear.c: what an expression is as a linear form of the cells of a
 * joint block. */
#include "sampler/joint.h"

/* A sum over more elements of a plate than this, if it runs through all of the
 * plate, is long: rows may have too many pairs of coefficients. */
#define MOST_IN_A_SUM 64

int joint_variable_number(const struct joint_context *k, const struct var *v)
{
    for (int i = 0; i < k->nvars; i++)
        if (k->vars[i] == v)
            return i;
    return -1;
}

bool joint_mentions(const struct joint_context *k, symp e)
{
    for (int i = 0; i < k->nvars; i++)
        if (sym_has_var(e, k->vars[i]))
            return true;
    return false;
}

static bool add_coefficient(struct compiler *c, const struct joint_context *k,
                            struct joint_linear *out, symp ref,
                            symp coefficient)
{
    for (int d = 0; d < ref->nargs; d++)
        if (sym_reads_latent(ref->args[d]))
            return false; /* the pattern would move */
    for (int i = 0; i < out->n && !k->nbound; i++)
        if (!out->slots[i].nbound && out->slots[i].when == k->when &&
            sym_same(out->slots[i].reference, ref)) {
            out->slots[i].coefficient =
                sym_add2(c, out->slots[i].coefficient, coefficient);
            return true;
        }
    if (out->n == 64)
        return false;
    struct joint_slot *s = &out->slots[out->n++];
    *s = (struct joint_slot){.reference = ref,
                             .coefficient = coefficient,
                             .when = k->when,
                             .nbound = k->nbound,
                             .variable = joint_variable_number(k, ref->var)};
    for (int i = 0; i < k->nbound; i++) {
        s->bound[i] = k->bound[i];
        s->lower[i] = k->lower[i];
        s->upper[i] = k->upper[i];
    }
    return true;
}

/* One factor of the product mentions the block. */
static bool decompose_product(struct compiler *c, struct joint_context *k,
                              symp e, symp by, struct joint_linear *out)
{
    symp inside = NULL;
    for (int i = 0; i < e->nargs; i++) {
        if (!joint_mentions(k, e->args[i])) {
            by = sym_mul2(c, by, e->args[i]);
        } else if (inside) {
            return false;
        } else {
            inside = e->args[i];
        }
    }
    return joint_decompose(c, k, inside, by, out);
}

static bool small_sum(struct compiler *c, symp lower, symp upper)
{
    double n;
    return sym_difference(c, upper, lower, &n) && n < MOST_IN_A_SUM;
}

/* Sums run through a row of the reference's array, not through all of it:
 * b[g[i],k], k bound. No dense block is of one row. */
static bool runs_through_row(const struct joint_context *k, symp ref)
{
    int runs = 0, loops = 0;
    for (int d = 0; d < ref->nargs; d++) {
        bool bound = false;
        for (int i = 0; i < k->nbound; i++)
            bound = bound || sym_has_loop(ref->args[d], k->bound[i]);
        runs += bound;
    }
    for (int i = 0; i < k->block->block.n; i++) {
        const struct family *f = k->block->block.members[i].family;
        if (f->var == ref->var && sampler_directions(f) > loops)
            loops = sampler_directions(f);
    }
    return runs < loops;
}

static bool runs_through_rows(const struct joint_context *k,
                              const struct joint_linear *form)
{
    for (int i = 0; i < form->n; i++)
        if (!runs_through_row(k, form->slots[i].reference))
            return false;
    return true;
}

static bool decompose_sum(struct compiler *c, struct joint_context *k, symp e,
                          symp by, struct joint_linear *out)
{
    if (k->nbound == 4 || sym_reads_latent(e->args[0]) ||
        sym_reads_latent(e->args[1]))
        return false;
    struct joint_linear inner = {.rest = sym_num(c, 0)};
    k->bound[k->nbound] = e->loop;
    k->lower[k->nbound] = e->args[0];
    k->upper[k->nbound++] = e->args[1];
    bool ok = joint_decompose(c, k, e->args[2], by, &inner);
    const bool is_long = ok && !k->apart &&
                         !small_sum(c, e->args[0], e->args[1]) &&
                         !runs_through_rows(k, &inner);
    k->nbound--;
    if (!ok || (is_long && !k->long_sums) || out->n + inner.n > 64)
        return false;
    for (int i = 0; i < inner.n; i++) {
        inner.slots[i].long_sum = inner.slots[i].long_sum || is_long;
        out->slots[out->n++] = inner.slots[i];
    }
    out->rest = sym_add2(
        c, out->rest, sym_sum(c, e->loop, e->args[0], e->args[1], inner.rest));
    return true;
}

/* Where no state decides, each case's cells are a row's only where it holds, if
 * the caller asks for that. */
static bool decompose_cases(struct compiler *c, struct joint_context *k, symp e,
                            symp by, struct joint_linear *out)
{
    symp when = e->args[0], outer = k->when, zero = sym_num(c, 0);
    if (joint_mentions(k, when))
        return false;
    const bool told = k->apart && !sym_reads_latent(when);
    symp is = told ? when : NULL;
    symp is_not = told ? sym_call(c, "!", 1, &when) : NULL;
    k->when = is && outer ? sym_and(c, outer, is) : is ? is : outer;
    bool ok =
        joint_decompose(c, k, e->args[1], sym_select(c, when, by, zero), out);
    k->when = is_not && outer ? sym_and(c, outer, is_not)
              : is_not        ? is_not
                              : outer;
    ok = ok &&
         joint_decompose(c, k, e->args[2], sym_select(c, when, zero, by), out);
    k->when = outer;
    return ok;
}

/* Adds by * e to a linear form of the block; false if e is not linear. */
bool joint_decompose(struct compiler *c, struct joint_context *k, symp e,
                     symp by, struct joint_linear *out)
{
    if (!joint_mentions(k, e)) {
        out->rest = sym_add2(c, out->rest, sym_mul2(c, by, e));
        return true;
    }
    switch (e->kind) {
    case SYM_REF:
        return joint_variable_number(k, e->var) >= 0 &&
               add_coefficient(c, k, out, e, by);
    case SYM_ADD:
        for (int i = 0; i < e->nargs; i++)
            if (!joint_decompose(c, k, e->args[i], by, out))
                return false;
        return true;
    case SYM_MUL:
        return decompose_product(c, k, e, by, out);
    case SYM_SUM:
        return decompose_sum(c, k, e, by, out);
    case SYM_SELECT:
        return decompose_cases(c, k, e, by, out);
    case SYM_NUM:
    case SYM_LOOP:
    case SYM_EXTENT:
    case SYM_SEEN:
    case SYM_LIVE:
    case SYM_TARGET:
    case SYM_PARAM:
    case SYM_POW:
    case SYM_CALL:
    case SYM_ARRAY:
        return false;
    }
    UNREACHABLE();
}
