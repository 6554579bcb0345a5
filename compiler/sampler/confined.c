/* confined.c: nodes of which no more is known than bounds, as times that were
 * censored: a draw from their distribution between these. Of a family with
 * sufficient statistics direct.c does the same; here the distribution need have
 * none, as a Weibull, a logistic or a Pareto distribution of which all
 * parameters may be random. */
#include "sampler/sampler.h"

static bool draws_between(const struct entry *d)
{
    return entry_value(d, "draw_between") ||
           (entry_value(d, "cdf") && entry_value(d, "quantile"));
}

/* Whether all that the step sees is the node's own density, as the model has
 * it, and bounds. */
static bool is_prior(const struct step *s)
{
    int own = 0;
    for (const struct part *p = s->parts; p; p = p->next) {
        own += p->own;
        if (p->opaque || (p->own ? p->factor != s->family->factor ||
                                       p->factor->replaced || p->factor->power
                                 : p->terms.n > 0))
            return false;
    }
    return own == 1;
}

static bool takes(const struct step *s)
{
    const struct family *f = s->family;
    return !s->law.family && s->law.n > 0 && !s->opaque && !s->through &&
           !s->order.ties && (s->support.bounds || f->truncated) && f->factor &&
           !f->nslices && !model_draws_integers(f) && f->distribution &&
           !emit_has_array_argument(f) && draws_between(f->distribution) &&
           is_prior(s);
}

static void draw(struct emitter *e, const struct step *s)
{
    int nparams = e->nparams;
    emit_bind_scalars(e, s->family);
    emit_line(e, "const real lower = k_.lower, upper = k_.upper;");
    const char *value = emit_drawn_between(e, s->family->distribution);
    e->nparams = nparams;
    emit_store(e, s,
               intern_format(e->c, "gbm_drawn_or(%s, %s, adapting)",
                             emit_target(e, s->family), value));
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    emit_scalar(c, out, s,
                " * Its distribution between bounds, which are all that is "
                "known of it.\n");
}

static void emit_row(struct compiler *c, struct text *out, const struct step *s)
{
    (void)c;
    (void)s;
    text_append(out, ",\n     .exact = gbm_always");
}

static const char *explain(struct compiler *c, const struct step *s)
{
    return intern_format(c, "truncated %s",
                         sampler_family_word(c, s->family->distribution));
}

static void phases(struct compiler *c, struct step *s)
{
    struct phase *p = sweep_add_usual_phases(c, s);
    p->what = intern_format(c, "draws from truncated %s",
                            s->family->distribution->name);
}

const struct sampler sampler_confined = {
    .name = "draw between bounds",
    .takes = takes,
    .explain = explain,
    .unit = sampler_each_unless_tied,
    .phases = phases,
    .emit = emit,
    .draw = draw,
    .scalar = true,
    .by_many = true,
    .emit_row = emit_row,
    .blocks = 1,
};
