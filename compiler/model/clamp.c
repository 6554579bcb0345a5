/* clamp.c: bounds that cannot bind, as in max(0, min(1, p)) where p is an
 * inverse logit, and comparisons that are always true or false. They change no
 * value, and they hide from all later passes what stands inside: the link, a
 * linear predictor. What may bind stays; joint.c fits blocks without it. */
#include "model/resolve.h"

#include <string.h>

static bool named(symp e, const char *name) { return !strcmp(e->name, name); }

/* The comparison of a and b where their ranges decide it, or NULL. */
static symp decided(struct compiler *c, symp e, symp a, symp b)
{
    if (named(e, ">=") || named(e, "<")) {
        if (model_never_below(a, b))
            return sym_num(c, named(e, ">="));
    } else if (named(e, "<=") || named(e, ">")) {
        if (model_never_below(b, a))
            return sym_num(c, named(e, "<="));
    }
    return NULL;
}

static symp without_slack(struct compiler *c, symp e, void *unused)
{
    if (e->kind != SYM_CALL || e->nargs != 2)
        return NULL;
    symp a = e->args[0], b = e->args[1];
    const bool max = named(e, "max");
    if (!max && !named(e, "min"))
        return decided(c, e, a, b);
    symp keep = NULL;
    if (model_never_below(a, b))
        keep = max ? a : b;
    else if (model_never_below(b, a))
        keep = max ? b : a;
    return keep ? sym_map(c, keep, without_slack, unused) : NULL;
}

static void drop_in(struct compiler *c, symp *e)
{
    if (*e)
        *e = sym_map(c, *e, without_slack, NULL);
}

void model_drop_clamps(struct compiler *c, struct model *m)
{
    for (struct family *f = m->families; f; f = f->next) {
        drop_in(c, &f->body);
        for (int i = 0; i < f->nargs; i++)
            drop_in(c, &f->args[i].body);
        drop_in(c, &f->stated);
        drop_in(c, &f->trunc_lower);
        drop_in(c, &f->trunc_upper);
    }
}

/* ---- what is left ------------------------------------------------------ */

static bool is_clamp(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_CALL && e->nargs == 2 &&
           (named(e, "max") || named(e, "min")) &&
           ((e->args[0]->kind == SYM_NUM && sym_reads_latent(e->args[1])) ||
            (e->args[1]->kind == SYM_NUM && sym_reads_latent(e->args[0])));
}

/* How close to what a link tends to a bound must be, and how large where that
 * is infinite, so that it hardly ever binds: 0.001 of a mean of counts, 0.02
 * and 0.98 of a probability. One that often binds makes a density so flat that
 * slices of single elements, which need no fit, are better. */
#define NEAR 0.05
#define LARGE 1000
/* And how far a bound of the linear predictor itself must be, in a logit or a
 * log as BUGS programs write it, min(999, max(-999, eta)): the log of LARGE. */
#define FAR 6.9

static bool is_far(bool max, symp bound)
{
    return bound->kind == SYM_NUM &&
           (max ? bound->number <= -FAR : bound->number >= FAR);
}

static bool is_guard(struct compiler *c, bool max, symp bound, symp link)
{
    symp zero = sym_num(c, 0), one = sym_num(c, 1);
    if (bound->kind != SYM_NUM)
        return false;
    if (max)
        return model_never_below(link, zero) && bound->number <= NEAR;
    return bound->number >= (model_never_below(one, link) ? 1 - NEAR : LARGE);
}

static symp without_link_clamp(struct compiler *c, symp e, void *context)
{
    const symp x = *(symp *)context;
    if (e->kind != SYM_CALL || e->nargs != 2 ||
        (!named(e, "max") && !named(e, "min")))
        return NULL;
    const int inside = sym_has_var(e->args[1], x->var);
    symp link = model_without_link_clamps(c, e->args[inside], x);
    const bool max = named(e, "max"), far = is_far(max, e->args[!inside]);
    if (!far && !is_guard(c, max, e->args[!inside], link))
        return NULL;
    symp slope = sym_derivative(c, link, x);
    return slope && (far || sym_has_var(slope, x->var)) ? link : NULL;
}

symp model_without_link_clamps(struct compiler *c, symp e, symp x)
{
    return sym_map(c, e, without_link_clamp, &x);
}

symp model_find_clamp(symp e)
{
    if (is_clamp(e, NULL))
        return e;
    for (int i = 0; i < e->nargs; i++) {
        symp inside = model_find_clamp(e->args[i]);
        if (inside)
            return inside;
    }
    return NULL;
}
