/* swap.c: two elements of a plate of 0s and 1s exchange their values. Drawn
 * one at a time, a 1 that does what its neighbour's would do (a spike a step
 * too late, a covariate beside the one that it goes with) stays: on its way lie
 * states with both or neither, which are improbable. So behind the draw of an
 * element that differs from another, both are changed at once, by a Metropolis
 * step whose ratio is that of two full conditionals in turn: by way of the
 * state between them, with both or neither, that is the more probable one, as
 * what is impossible on one way need not be on the other, and on the way back,
 * too. Where both are, as between two states that both have k of n, the ratio
 * is that of the densities of all that reads the elements. The other one is the
 * element before, or any of those before; which, does not depend on the values,
 * so the step is its own reverse.
 */
#include "sampler/sampler.h"

/* One sweep in so many: four densities more, and two of prepare_, where an
 * enumeration takes two and one; twice as many where the state between them is
 * less probable than now by FAR, in logs. */
enum { SWEEPS = 4, FAR = 20 };

/* So many elements of a sweep may look at all that reads the plate. */
enum { MOST_HELD = 32 };

static bool fades(const struct step *s)
{
    for (int i = 0; i < s->law.n; i++)
        if (s->law.fades[i])
            return true;
    return false;
}

/* Elements that are conditionally independent, or of which those of one colour
 * are, seldom hold each other. What is integrated out must be drawn before
 * another step reads it. */
bool sampler_swaps(const struct step *s)
{
    return s->order.sequential && s->family->nloops > 0 && !s->integrated &&
           !s->order.ties && !s->support.bounds && s->support.lower &&
           sym_is(s->support.lower, 0) && s->support.upper &&
           sym_is(s->support.upper, 1) && !fades(s) &&
           !emit_step_has_columns(s);
}

/* cell_of_: where an element's value is, or -1 if it is not to be drawn. */
static void emit_cell_of(struct compiler *c, struct text *out,
                         const struct step *s)
{
    const struct family *f = s->family;
    const char *name = f->var->cname;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN long long cell_of_%s(const struct state *s, "
                "long long element)\n{\n",
                family_id(c, f));
    emit_decode(&e, f, "element");
    emit_line(&e, "const long long cell = %s;",
              emit_cell(&e, f->var, f->lower));
    emit_line(&e,
              "const int mark = s->%s_seen ? s->%s_seen[cell] : "
              "s->%s_stride == 0;",
              name, name, name);
    emit_line(&e, "return mark ? -1 : cell;");
    text_append(out, "}\n\n");
}

/* place_: stores a value, and recomputes what is kept of it. */
static void emit_place(struct compiler *c, struct text *out,
                       const struct step *s)
{
    const struct family *f = s->family;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void place_%s(const struct state *s,\n"
                "    const struct gbm_team *team, long long element, "
                "int value)\n{\n",
                family_id(c, f));
    emit_decode(&e, f, "element");
    emit_store(&e, s, "value");
    emit_line(&e, "gbm_team_sync(team);");
    if (s->through)
        emit_recompute(&e, s, f->var);
    text_append(out, "}\n\n");
}

/* by_way_of_: log of how much more probable it is that `first` has what
 * `second` has, and `second` what it had; *way: of the state between them, with
 * what `second` has twice.  Nothing changes. */
static void emit_by_way_of(struct compiler *c, struct text *out, const char *id)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN real by_way_of_%s(const struct state *s,\n"
                "    const struct gbm_team *team, long long first, "
                "long long second,\n    int had, int has, real *way)\n{\n",
                id);
    emit_line(&e, "struct conditional_%s k_;", id);
    emit_line(&e, "prepare_%s(&k_, s, team, first);", id);
    emit_line(&e, "const real at_first = density_%s(&k_, (real)had);", id);
    emit_line(&e, "const real alone = density_%s(&k_, (real)has);", id);
    emit_line(&e, "*way = -GBM_INF;");
    emit_line(&e, "if (alone == -GBM_INF) {");
    emit_line(&e, "    place_%s(s, team, first, had);", id);
    emit_line(&e, "    return -GBM_INF; /* whatever comes behind it */");
    emit_line(&e, "}");
    emit_line(&e, "place_%s(s, team, first, has);", id);
    emit_line(&e, "prepare_%s(&k_, s, team, second);", id);
    emit_line(&e, "const real before = density_%s(&k_, (real)has);", id);
    emit_line(&e, "const real both = density_%s(&k_, (real)had);", id);
    emit_line(&e, "place_%s(s, team, second, has);", id);
    emit_line(&e, "place_%s(s, team, first, had);", id);
    emit_line(&e,
              "const bool possible = alone < GBM_INF && before > -GBM_INF;");
    emit_line(&e, "*way = possible ? alone - at_first : -GBM_INF;");
    emit_line(&e, "return possible ? *way + (both - before) : -GBM_INF;");
    text_append(out, "}\n\n");
}

/* Whether the elements must meet a condition together, and what reads them is
 * in the joint density as the library has it. */
bool sampler_held_exactly(const struct step *s)
{
    bool plain = s->order.held;
    for (const struct part *p = s->parts; p; p = p->next) {
        const struct factor *g = p->factor;
        plain = plain && g == g->family->factor && !g->guard && !g->replaced &&
                !g->of && !g->power && !g->auxiliary;
    }
    return plain;
}

/* around_: the log density of the elements and of all that reads them. */
static void emit_around(struct compiler *c, struct text *out,
                        const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN real around_%s(const struct state *s,\n"
                "    const struct gbm_team *team)\n{\n",
                family_id(c, s->family));
    emit_line(&e, "gbm_total total = 0;");
    for (const struct part *p = s->parts; p; p = p->next) {
        const struct factor *g = p->factor;
        bool done = false;
        for (const struct part *q = s->parts; q != p; q = q->next)
            done = done || q->factor == g;
        if (done)
            continue;
        emit_line(&e, "{");
        e.indent++;
        emit_line(&e, "long long element = -1;");
        for (int i = 0; i < g->nloops; i++)
            emit_open_loop(&e, g->loops[i], g->loops[i]->lower,
                           g->loops[i]->upper);
        emit_line(&e, "element++;");
        symp counted = model_counted_instances(g);
        emit_line(&e, "if (GBM_TEAM_OWNS(team, element)%s%s)",
                  counted ? " && " : "",
                  counted ? emit_in_brackets(&e, counted) : "");
        emit_line(&e, "    total += logdensity_%s(s, element);",
                  family_id(c, g->family));
        emit_close(&e, g->nloops + 1);
    }
    emit_line(&e, "return (real)gbm_team_sum(team, total);");
    text_append(out, "}\n\n");
}

/* Where both states between are impossible the ratio is that of the densities
 * of all that reads the elements: seldom, as that is a pass over it. */
static void emit_held(struct emitter *e, const char *id)
{
    emit_line(e,
              "if (!(gain > -GBM_INF) && gbm_uniform(rng) * (real)element "
              "< %d) {",
              MOST_HELD);
    emit_line(e, "    gain = -around_%s(s, team);", id);
    emit_line(e, "    place_%s(s, team, element, theirs);", id);
    emit_line(e, "    place_%s(s, team, other, ours);", id);
    emit_line(e, "    gain += around_%s(s, team);", id);
    emit_line(e, "    place_%s(s, team, element, ours);", id);
    emit_line(e, "    place_%s(s, team, other, theirs);", id);
    emit_line(e, "}");
}

static void emit_swap(struct compiler *c, struct text *out,
                      const struct step *s)
{
    const char *id = family_id(c, s->family), *var = s->family->var->cname;
    struct emitter e = emitter_new(c, out);
    emit_by_way_of(c, out, id);
    text_printf(out,
                "GBM_FN void swap_%s(const struct state *s, "
                "struct gbm_rng *rng,\n    const struct gbm_team *team, "
                "long long element)\n{\n",
                id);
    emit_line(&e, "long long other = element - 1;");
    emit_line(&e, "if (gbm_uniform(rng) < REAL_C(0.5))");
    emit_line(&e, "    other = (long long)(gbm_uniform(rng) * (real)element);");
    emit_line(&e,
              "if (other < 0 || other >= element || cell_of_%s(s, other) "
              "< 0)",
              id);
    emit_line(&e, "    return;");
    emit_line(&e, "const int ours = s->%s[cell_of_%s(s, element)];", var, id);
    emit_line(&e, "const int theirs = s->%s[cell_of_%s(s, other)];", var, id);
    emit_line(&e, "if (ours == theirs)");
    emit_line(&e, "    return;");
    emit_line(&e, "real way, back;");
    emit_line(&e,
              "real gain = by_way_of_%s(s, team, element, other, ours, theirs, "
              "&way);",
              id);
    emit_line(&e, "if (way < %d) {", -FAR);
    emit_line(&e,
              "    const real instead = by_way_of_%s(s, team, other, element, "
              "theirs, ours, &back);",
              id);
    emit_line(&e, "    if (back > way)");
    emit_line(&e, "        gain = instead;");
    emit_line(&e, "}");
    if (sampler_held_exactly(s))
        emit_held(&e, id);
    emit_line(&e, "if (real_log(gbm_uniform(rng)) < gain) {");
    emit_line(&e, "    place_%s(s, team, element, theirs);", id);
    emit_line(&e, "    place_%s(s, team, other, ours);", id);
    emit_line(&e, "}");
    text_append(out, "}\n\n");
}

void sampler_emit_swap(struct compiler *c, struct text *out,
                       const struct step *s)
{
    const bool swaps = sampler_swaps(s), together = sampler_go_together(s);
    if (!swaps && !together)
        return;
    emit_cell_of(c, out, s);
    emit_place(c, out, s);
    if (together || sampler_held_exactly(s))
        emit_around(c, out, s);
    if (swaps)
        emit_swap(c, out, s);
    if (together)
        sampler_emit_together(c, out, s);
}

void sampler_swap(struct emitter *e, const struct step *s)
{
    const char *id = family_id(e->c, s->family);
    if (sampler_swaps(s)) {
        if (sampler_held_exactly(s)) /* nothing else moves them */
            emit_line(e, "if (adapting != GBM_ALONE)");
        else
            emit_line(e, "if (adapting != GBM_ALONE && rng->sweep %% %d == 0)",
                      SWEEPS);
        emit_line(e, "    swap_%s(s, rng, team, element);", id);
    }
    if (sampler_go_together(s)) {
        emit_line(e, "if (adapting != GBM_ALONE)");
        emit_line(e, "    together_%s(s, rng, team, element);", id);
    }
}
