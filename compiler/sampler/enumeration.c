/* enumeration.c: all values of a finite support are tried; with many of them, a
 * slice where the values are ordered. */
#include "sampler/sampler.h"

/* With more values than these a slice tries some, where a node's values are
 * ordered. */
enum { MOST_ENUMERATED = 128, MOST_RECOMPUTED = 16 };

/* Its own part, made by emit. */
struct enumeration {
    bool by_rows;
};

/* Counts; categories, with a probability each, have no order. */
static bool is_ordered(const struct step *s)
{
    const struct entry *d = s->family->distribution;
    for (int i = 0; i < d->nparameters; i++)
        if (d->parameters[i].ndims)
            return false;
    return true;
}

/* The values up to which all are tried, beyond which it is a slice; 0: all are
 * in any case. */
static int most_enumerated(const struct step *s)
{
    if (s->through) /* each trial recomputes derived nodes: few of them */
        return MOST_RECOMPUTED;
    symp lower = s->support.lower, upper = s->support.upper;
    bool few = lower && upper && lower->kind == SYM_NUM &&
               upper->kind == SYM_NUM &&
               upper->number - lower->number < MOST_ENUMERATED;
    if (few || !is_ordered(s) ||
        sampler_asked_to_enumerate(s->model, s->family))
        return 0;
    return MOST_ENUMERATED;
}

static bool takes(const struct step *s)
{
    return model_draws_integers(s->family) && condition_has_two_ends(s);
}

static bool tries_all(const struct step *s) { return !most_enumerated(s); }

static bool tunes(const struct step *s) { return most_enumerated(s) > 0; }

/* All values, or a slice where they are many. */
static void draw_some(struct emitter *e, const struct step *s)
{
    const char *id = family_id(e->c, s->family), *unit = emit_width(e, s);
    emit_line(e, "real value;");
    emit_line(e, "if (k_.upper - k_.lower < %d)", most_enumerated(s));
    emit_line(e,
              "    value = gbm_enumerate_draw(rng, (int)k_.lower, "
              "(int)k_.upper, density_%s, &k_);",
              id);
    emit_line(e, "else if (!gbm_is_finite(density_%s(&k_, (real)%s)))", id,
              emit_target(e, s->family));
    emit_line(e,
              "    value = gbm_search_draw(rng, k_.lower, k_.upper, "
              "density_%s, &k_);",
              id);
    emit_line(e, "else");
    emit_line(e,
              "    value = gbm_slice_integer(rng, (real)%s, &width, "
              "adapting, k_.lower, k_.upper, density_%s, &k_);",
              emit_target(e, s->family), id);
    emit_store_width(e, s, unit);
    emit_store(e, s, "value");
}

static void draw(struct emitter *e, const struct step *s)
{
    if (most_enumerated(s)) {
        draw_some(e, s);
        return;
    }
    emit_line(e,
              "const real value = gbm_enumerate_draw(rng, (int)k_.lower, "
              "(int)k_.upper, density_%s, &k_);",
              family_id(e->c, s->family));
    emit_store(e, s, "value");
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    emit_scalar_comment(c, out, s,
                        " * Every value of its finite support is tried.\n");
    emit_conditional(c, out, s);
    emit_recalled(c, out, s);
    emit_density(c, out, s);
    sampler_emit_swap(c, out, s);
    emit_scalar_update(c, out, s);
    struct enumeration *own = s->own = NEW(c, struct enumeration);
    own->by_rows = tries_all(s) && sampler_emit_rows(c, out, s);
}

static bool by_rows(const struct step *s)
{
    const struct enumeration *own = s->own;
    return own->by_rows;
}

static void emit_kernels(struct compiler *c, struct text *out,
                         const struct step *s)
{
    if (by_rows(s))
        text_printf(out, "GBM_KERNEL_TRIALS(%s, %s, %d)\n", s->name,
                    family_id(c, s->family), s->number);
    else
        text_printf(out, "GBM_KERNEL(%s, %d)\n", s->name, s->number);
}

static const char *explain_values(struct compiler *c, const struct step *s)
{
    const char *shared = sampler_is_augmented(s) ? " (augmented)" : "";
    if (s->integrated)
        shared =
            intern_format(c, ", %s integrated out", sampler_nodes_out(c, s));
    if (s->support.lower && s->support.upper)
        return intern_format(c, "enumeration, %s to %s%s",
                             sampler_expression_text(c, s->support.lower),
                             sampler_expression_text(c, s->support.upper),
                             shared);
    return intern_format(c, "enumeration%s", shared);
}

static const char *brief(struct compiler *c, const struct step *s)
{
    (void)c;
    (void)s;
    return "enumeration";
}

const struct sampler sampler_enumeration = {
    .name = "enumeration",
    .word = "enumerate",
    .takes = takes,
    .closed = true,
    .enumerates = true,
    .tries_all = tries_all,
    .trials = true,
    .explain = explain_values,
    .brief = brief,
    .unit = sampler_each_unless_tied,
    .emit = emit,
    .draw = draw,
    .behind = sampler_swap,
    .by_rows = by_rows,
    .emit_kernels = emit_kernels,
    .scalar = true,
    .repairs = true,
    .blocks = 1,
    .tunes = tunes,
};
