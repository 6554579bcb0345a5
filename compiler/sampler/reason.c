/* reason.c: why a full conditional has no closed form, in words of the model.
 */
#include "sampler/sampler.h"
#include <string.h>

/* A statistic that families are made of. */
static bool is_plain(symp e)
{
    if (e->kind == SYM_TARGET)
        return true;
    if (e->kind == SYM_POW)
        return e->args[0]->kind == SYM_TARGET && e->args[1]->kind == SYM_NUM;
    return e->kind == SYM_CALL && !strcmp(e->name, "log") &&
           e->args[0]->kind == SYM_TARGET;
}

static const struct factor *factor_with(const struct step *s, symp statistic)
{
    for (const struct part *p = s->parts; p; p = p->next)
        for (int i = 0; !p->opaque && i < p->terms.n; i++)
            if (sym_same(p->terms.statistic[i], statistic))
                return p->factor;
    return NULL;
}

/* A derived node that is kept in memory and that e reads, or NULL. */
static const struct var *stored_in(symp e)
{
    if (e->kind == SYM_REF && e->var->stored)
        return e->var;
    for (int i = 0; i < e->nargs; i++) {
        const struct var *v = stored_in(e->args[i]);
        if (v)
            return v;
    }
    return NULL;
}

/* Of a bound that may change a value: max(p, 0.001) of a probability. */
static const char *why_clamp(struct compiler *c, symp e, const char *text)
{
    symp clamp = model_find_clamp(e);
    return clamp ? intern_format(c,
                                 "%s reads %s, a bound that may bind: what it "
                                 "says of a value beyond is flat",
                                 text, sampler_expression_text(c, clamp))
                 : NULL;
}

/* The loops of p that e has, as "i, t". */
static const char *loops_in(struct compiler *c, const struct part *p, symp e)
{
    struct loop **found = NEW_ARRAY(c, struct loop *, p->nloops);
    int n = 0;
    for (int i = 0; i < p->nloops; i++)
        if (sym_has_loop(e, p->loops[i]))
            found[n++] = p->loops[i];
    return sampler_loop_names(c, found, n);
}

static const char *why_opaque(struct compiler *c, const struct step *s,
                              const struct part *p, symp x)
{
    const struct factor *g = p->factor;
    const struct var *v = s->through ? stored_in(g->logp) : NULL;
    if (v)
        return intern_format(c,
                             "it enters %s through %s, which is "
                             "recomputed for each trial value",
                             g->text, v->name);
    const char *clamp = why_clamp(c, g->logp, g->text);
    if (clamp)
        return clamp;
    if (p->resists)
        return intern_format(
            c, "%s of %s is another function of it for each %s",
            sampler_expression_text(
                c, sym_replace(c, p->resists, sym_target(c), x)),
            g->text, loops_in(c, p, p->resists));
    if (g->opaque)
        return intern_format(
            c, "the density of %s is evaluated whole, as it takes arrays",
            g->text);
    return intern_format(
        c, "the term of %s is no sum of coefficients times statistics of it",
        g->text);
}

const char *sampler_slice_reason(struct compiler *c, const struct step *s)
{
    const struct family *f = s->family;
    symp x = sym_ref(c, f->var, f->var->ndim, f->lower);
    if (s->order.ties)
        return "elements of an observed sum move in pairs, by steps of their "
               "own";
    const char *own =
        s->sampler && s->sampler->resists ? s->sampler->resists(s) : NULL;
    if (own)
        return own;
    if (model_draws_integers(f))
        return "its values have no two known ends";
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->opaque)
            return why_opaque(c, s, p, x);
    struct text t = {0};
    for (int i = 0; i < s->law.n; i++) {
        if (is_plain(s->law.statistics[i]))
            continue;
        const struct factor *g = factor_with(s, s->law.statistics[i]);
        symp shown = sym_replace(c, s->law.statistics[i], sym_target(c), x);
        const char *clamp = g ? why_clamp(c, shown, g->text) : NULL;
        if (clamp)
            return clamp;
        return intern_format(c, "no family has the statistic %s of %s",
                             sampler_expression_text(c, shown),
                             g ? g->text : "its prior");
    }
    text_append(&t, "no family has just the statistics ");
    for (int i = 0; i < s->law.n; i++)
        text_printf(&t, "%s%s", i ? ", " : "",
                    sym_text(c, sym_replace(c, s->law.statistics[i],
                                            sym_target(c), x)));
    if (s->support.bounds || s->support.lower || s->support.upper)
        text_append(&t, " between these bounds");
    return text_take(c, &t);
}

const char *sampler_why_slice(struct compiler *c, const struct step *s)
{
    return intern_format(c, "slice: %s", sampler_slice_reason(c, s));
}
