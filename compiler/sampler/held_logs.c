/* held_logs.c: logarithms that the trial values of two cells do not change, as
 * those of their probabilities: computed once before them, as numbers that the
 * density is given. */
#include "sampler/group.h"
#include <string.h>

struct holding {
    const struct part *part;
    const struct var *const *moving; /* two, which may be one */
    struct held_logs *held;
};

static bool is_log(symp e, const void *context)
{
    (void)context;
    return e->kind == SYM_CALL && e->nargs == 1 && !strcmp(e->name, "log");
}

/* Of an instance that the cells settle. */
static bool one_instance(const struct part *p)
{
    if (p->inverse || p->copies)
        return false;
    for (int i = 0; i < p->nloops; i++)
        if (!p->own && !p->solved[i])
            return false;
    return true;
}

/* The parameter in the place of e; NULL: it is not held. */
static symp held(struct compiler *c, const struct holding *k, symp e)
{
    struct held_logs *h = k->held;
    if (!sym_any(e, is_log, NULL) || sym_has_var(e, k->moving[0]) ||
        sym_has_var(e, k->moving[1]) || h->n == MOST_HELD_LOGS)
        return NULL;
    h->log[h->n] = e;
    h->part[h->n] = k->part;
    return sym_param(c, intern_format(c, "held%d", h->n++));
}

/* A product's only factor that is a logarithm or a sum of such, or -1. */
static int only_log(symp product)
{
    int found = -1;
    for (int i = 0; i < product->nargs; i++)
        if (is_log(product->args[i], NULL) ||
            sym_may_be_infinite(product->args[i])) {
            if (found >= 0)
                return -1;
            found = i;
        }
    return found;
}

/* The number times what is left of the product; 0 log 0 is 0. */
static symp held_product(struct compiler *c, const struct holding *k, symp e)
{
    const int i = only_log(e);
    symp number = i < 0 ? NULL : held(c, k, e->args[i]);
    if (!number)
        return e;
    symp rest = sym_cofactor(c, e, i), zero = sym_num(c, 0);
    symp product = sym_mul2(c, rest, number);
    return sym_never_zero(rest)
               ? product
               : sym_select(c, sym_eq(c, rest, zero), zero, product);
}

/* What stands in a choice may not exist; a sum has loops of its own. */
static symp hold(struct compiler *c, symp e, void *context)
{
    const struct holding *k = context;
    if (e->kind == SYM_SUM || e->kind == SYM_SELECT)
        return e;
    if (e->kind == SYM_MUL)
        return held_product(c, k, e);
    return is_log(e, NULL) ? held(c, k, e) : NULL;
}

struct part *sampler_hold_logs(struct compiler *c, const struct part *parts,
                               const struct var *const moving[2],
                               struct held_logs *held)
{
    struct part *all = NULL;
    *held = (struct held_logs){0};
    for (const struct part *p = parts; p; p = p->next) {
        struct part *one = NEW(c, struct part);
        *one = *p;
        one->next = NULL;
        struct holding k = {p, moving, held};
        if (one_instance(p))
            one->logp = sym_map(c, p->logp, hold, &k);
        sampler_push_part(&all, one);
    }
    return all;
}

void sampler_emit_hold(struct emitter *e, const struct held_logs *held,
                       const char *array)
{
    for (int i = 0; i < held->n; i++) {
        const int depth = e->nloops;
        const int braces = emit_open_part(e, held->part[i], false);
        emit_line(e, "%s[%d] = %s;", array, i, emit_expr(e, held->log[i]));
        emit_close(e, braces);
        e->nloops = depth;
    }
}

void sampler_give_held(struct emitter *e, const struct held_logs *held,
                       const char *array)
{
    for (int i = 0; i < held->n; i++)
        emit_param(e, intern_format(e->c, "held%d", i),
                   intern_format(e->c, "%s[%d]", array, i));
}
