/* held_spread.c: where sums of effects and what is added are held
 * (translation.c), the scale of the effects' prior is drawn with what is added
 * integrated out: prec[g] of eps[g,n] ~ dnorm(0, prec[g]) is settled by the
 * eps, and what is added to them, given the sums, by it. Where a unit's sums
 * could as well be large effects as large coefficients, prec, eps and beta in
 * turn go from one to the other in steps of the width of prec given eps; but
 * beta given prec and the sums is normal, so the density of prec given the sums
 * alone is at hand. A slice draws its logarithm, the usual draw of the step
 * then beta given it: together an exact draw of both (Liu 1994, The collapsed
 * Gibbs sampler in Bayesian computations, J. Am. Stat. Assoc. 89). */
#include "sampler/translation.h"

/* ---- which -----------------------------------------------------------------
 */

/* One node for each element. */
static bool is_of_element(const struct translation *t, const struct family *h,
                          symp scale)
{
    if (h->nloops != t->ntied)
        return false;
    if (!h->nloops)
        return true;
    symp at = scale->args[0], own = h->lower[0];
    return at->kind == SYM_LOOP && at->loop == t->tied[0] &&
           own->kind == SYM_LOOP &&
           sym_same(own->loop->lower, at->loop->lower) &&
           sym_same(own->loop->upper, at->loop->upper);
}

static bool is_spread(struct compiler *c, const struct model *m,
                      const struct translation *t, const struct step *node,
                      struct spread *spread)
{
    struct family *h = node->family;
    symp scale = sampler_find_reference(t->precision, h->var);
    if (!scale || !sampler_step_draws(node, h) || !sampler_is_node(c, m, h) ||
        !is_of_element(t, h, scale) ||
        !sampler_is_power(t->precision, scale, &spread->power) ||
        sym_has_var(sym_div(c, t->slope, t->precision), h->var) ||
        !sampler_is_scale(c, t->effects->factor->logp, scale, spread->power) ||
        !sampler_only_in_prior(m, node, t->effects))
        return false;
    spread->node = h;
    return true;
}

void sampler_find_spread(struct compiler *c, const struct model *m,
                         struct step *s)
{
    struct translation *t = s->own;
    for (struct step *node = m->steps; node && !t->spread; node = node->next) {
        struct spread try = {0};
        if (!node->family || !is_spread(c, m, t, node, &try))
            continue;
        struct spread *found = NEW(c, struct spread);
        *found = try;
        t->spread = found;
    }
}

/* ---- its functions ---------------------------------------------------------
 */

symp sampler_spread_cell(struct compiler *c, const struct spread *k)
{
    return sym_ref(c, k->node->var, k->node->var->ndim, k->node->lower);
}

void sampler_open_spread(struct emitter *e, const struct translation *t)
{
    const struct family *h = t->spread->node;
    struct var *v = h->var;
    symp node = sampler_spread_cell(e->c, t->spread);
    if (h->nloops)
        emit_loop_as(e, h->loops[0], emit_int(e, sym_loop(e->c, t->tied[0])));
    symp seen = sym_seen(e->c, v, v->ndim, node->args);
    emit_line(
        e, "const int spread_ = s->%s_stride != 0 && !%s && %s != 0%s;",
        v->cname, emit_in_brackets(e, seen), emit_expr(e, node),
        v->barren /* all are drawn forward */
            ? intern_format(e->c, " && %s", emit_expr(e, sym_live(e->c, node)))
            : "");
}

/* spread_at_: the log density of t, with the node's prior. */
void sampler_emit_spread(struct compiler *c, struct text *out,
                         const struct step *s,
                         void (*open)(struct emitter *e, const struct step *s))
{
    const struct translation *t = translation_of(s);
    const struct factor *g = t->spread->node->factor;
    symp node = sampler_spread_cell(c, t->spread);
    symp value = sym_param(c, intern(c, "value_"));
    struct emitter e =
        sampler_open_line(c, out, s, "spread", "struct gbm_spread");
    open(&e, s);
    emit_line(&e, "const real grown_ = real_exp(t_);");
    sampler_emit_value(&e, "o_->now", 1);
    sampler_emit_ends(&e, g, node, value);
    emit_line(&e, "gbm_total total = gbm_spread_density(&o_->k, t_);");
    emit_line(&e, "total += t_; /* the Jacobian */");
    emit_line(&e, "total += %s;",
              emit_expr(&e, sampler_line_density(
                                c, sym_replace(c, g->logp, node, value), value,
                                NULL, g, 1)));
    emit_line(&e, "return (real)total;");
    text_append(out, "}\n\n");
}
