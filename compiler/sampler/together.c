/* together.c: labels, counts, or 0s and 1s of a plate that data hold to a
 * condition, as that no two are the same, take other values together, of which
 * each alone is impossible: an element with another one, or with some of those
 * right before it. They trade values, or each takes a step up or down, or some
 * where its support has no end, or any value of it: which, does not depend on
 * the values, so the step is its own reverse, and a Metropolis step by the
 * densities of all that reads the elements. */
#include "sampler/sampler.h"

/* So many elements of a sweep may look at all that reads the plate; and so many
 * change at once. */
enum { MOST_TRIED = 8, MOST_TOGETHER = 6, FARTHEST = 8 };

bool sampler_go_together(const struct step *s)
{
    return s->order.held && s->family->nloops > 0 && !s->integrated &&
           !s->order.ties && !s->support.bounds &&
           model_draws_integers(s->family) && sampler_held_exactly(s);
}

static bool has_fixed_support(const struct step *s)
{
    return s->support.lower && s->support.upper &&
           sym_fixed(s->support.lower) && sym_fixed(s->support.upper);
}

/* fits_: whether a value is in the support; where that is fixed, drawn_: one of
 * its values. */
static void emit_support(struct compiler *c, struct text *out,
                         const struct step *s)
{
    const struct family *f = s->family;
    const char *id = family_id(c, f);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN bool fits_%s(const struct state *s, long long element, "
                "int value)\n{\n",
                id);
    emit_decode(&e, f, "element");
    if (s->support.lower)
        emit_line(&e, "if (value < %s)", emit_expr(&e, s->support.lower));
    if (s->support.lower)
        emit_line(&e, "    return false;");
    if (s->support.upper)
        emit_line(&e, "if (value > %s)", emit_expr(&e, s->support.upper));
    if (s->support.upper)
        emit_line(&e, "    return false;");
    emit_line(&e, "return true;");
    text_append(out, "}\n\n");
    if (!has_fixed_support(s))
        return;
    e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN int drawn_%s(const struct state *s, struct gbm_rng "
                "*rng, long long element)\n{\n",
                id);
    emit_decode(&e, f, "element");
    emit_line(&e, "const int lower = %s, upper = %s;",
              emit_int(&e, s->support.lower), emit_int(&e, s->support.upper));
    emit_line(&e, "const int value = lower + (int)(gbm_uniform(rng) * "
                  "(real)(upper - lower + 1));");
    emit_line(&e, "return value < upper ? value : upper;");
    text_append(out, "}\n\n");
}

/* partners_: the element and those that change with it; how many. */
static void emit_partners(struct compiler *c, struct text *out, const char *id)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN int partners_%s(const struct state *s, struct gbm_rng "
                "*rng,\n    long long element, long long *with)\n{\n",
                id);
    emit_line(&e, "const real some = gbm_uniform(rng);");
    emit_line(&e, "int n = 1;");
    emit_line(&e, "with[0] = element;");
    emit_line(&e, "if (some < REAL_C(0.5)) {");
    emit_line(&e, "    const long long other = (long long)(2 * some * "
                  "(real)element);");
    emit_line(&e, "    if (other < element && cell_of_%s(s, other) >= 0)", id);
    emit_line(&e, "        with[n++] = other;");
    emit_line(&e, "    return n;");
    emit_line(&e, "}");
    emit_line(&e,
              "for (long long at = element - 1; at >= 0 && element - at < %d; "
              "at--)",
              MOST_TOGETHER);
    emit_line(&e,
              "    if (gbm_uniform(rng) < REAL_C(0.5) && cell_of_%s(s, at) >= "
              "0)",
              id);
    emit_line(&e, "        with[n++] = at;");
    emit_line(&e, "return n;");
    text_append(out, "}\n\n");
}

/* A step of one up or down, or, as one of x1 and x2 with x1 = 2 x2 goes twice
 * as far as the other, of some: each as probable as the same one back. */
static void emit_strides(struct emitter *e)
{
    emit_line(e, "int by = 1;");
    emit_line(e, "for (real rest = u < REAL_C(0.5) ? 2 * u : 2 * u - 1;");
    emit_line(e,
              "     how >= REAL_C(0.5) && rest < REAL_C(0.5) && by < %d; "
              "rest *= 2)",
              FARTHEST);
    emit_line(e, "    by++;");
    emit_line(e, "to[i] = had[i] + (u < REAL_C(0.5) ? -by : by);");
}

/* What they take: *to, of what they had. */
static void emit_values(struct emitter *e, const struct step *s)
{
    const char *id = family_id(e->c, s->family);
    emit_line(e, "const real how = gbm_uniform(rng);");
    emit_line(e,
              "const int turn = gbm_uniform(rng) < REAL_C(0.5) ? 1 : n - 1;");
    emit_line(e, "for (int i = 0; i < n; i++) {");
    e->indent++;
    emit_line(e, "const real u = gbm_uniform(rng);");
    if (has_fixed_support(s))
        emit_line(e, "to[i] = had[i] + (u < REAL_C(0.5) ? -1 : 1);");
    else
        emit_strides(e);
    if (has_fixed_support(s)) {
        emit_line(e, "if (how < REAL_C(0.67))");
        emit_line(e, "    to[i] = drawn_%s(s, rng, with[i]);", id);
    }
    emit_line(e, "if (how < REAL_C(0.33))");
    emit_line(e, "    to[i] = had[(i + turn) %% n];");
    emit_line(e, "same = same && to[i] == had[i];");
    emit_line(e, "fit = fit && fits_%s(s, with[i], to[i]);", id);
    e->indent--;
    emit_line(e, "}");
}

/* attempt_: an element and its partners take other values, or stay. */
static void emit_attempt(struct compiler *c, struct text *out,
                         const struct step *s)
{
    const char *id = family_id(c, s->family), *var = s->family->var->cname;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void attempt_%s(const struct state *s, "
                "struct gbm_rng *rng,\n    const struct gbm_team *team, "
                "long long element)\n{\n",
                id);
    emit_line(&e, "long long with[%d];", MOST_TOGETHER);
    emit_line(&e, "int had[%d], to[%d];", MOST_TOGETHER, MOST_TOGETHER);
    emit_line(&e, "bool same = true, fit = true;");
    emit_line(&e, "const int n = partners_%s(s, rng, element, with);", id);
    emit_line(&e, "for (int i = 0; i < n; i++)");
    emit_line(&e, "    had[i] = s->%s[cell_of_%s(s, with[i])];", var, id);
    emit_values(&e, s);
    emit_line(&e, "if (n == 1 || same || !fit)");
    emit_line(&e, "    return;");
    emit_line(&e, "real gain = -around_%s(s, team);", id);
    emit_line(&e, "for (int i = 0; i < n; i++)");
    emit_line(&e, "    place_%s(s, team, with[i], to[i]);", id);
    emit_line(&e, "gain += around_%s(s, team);", id);
    emit_line(&e, "if (real_log(gbm_uniform(rng)) < gain)");
    emit_line(&e, "    return;");
    emit_line(&e, "for (int i = 0; i < n; i++)");
    emit_line(&e, "    place_%s(s, team, with[i], had[i]);", id);
    text_append(out, "}\n\n");
}

/* Few elements try more often, as a step that all of a condition allow may be
 * one of many. */
void sampler_emit_together(struct compiler *c, struct text *out,
                           const struct step *s)
{
    const char *id = family_id(c, s->family);
    emit_support(c, out, s);
    emit_partners(c, out, id);
    emit_attempt(c, out, s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void together_%s(const struct state *s, "
                "struct gbm_rng *rng,\n    const struct gbm_team *team, "
                "long long element)\n{\n",
                id);
    emit_line(&e, "if (element == 0 || gbm_uniform(rng) * (real)element >= %d)",
              MOST_TRIED);
    emit_line(&e, "    return;");
    emit_line(&e, "attempt_%s(s, rng, team, element);", id);
    emit_line(&e,
              "for (long long at = element + 1; at < %d; at += element + 1)",
              MOST_TRIED);
    emit_line(&e, "    attempt_%s(s, rng, team, element);", id);
    text_append(out, "}\n\n");
}
