/* pgas.c: scalars along a loop, x[t] given x[t-1], drawn whole by particle
 * Gibbs with ancestor sampling (stdlib/kernels/pgas.h): whatever the transition
 * and the densities that meet a state, if each meets one alone. The state
 * before the first, of a statement of its own, is drawn with the others where
 * there is one series; series of other loops are drawn side by side. What is
 * left in the step's parts are the densities that weigh a state. */
#include "condition/find.h"
#include "sampler/sampler.h"
#include <string.h>

/* TUNED: GBM_PGAS_TUNED (pgas.h). */
enum { PARTICLES = 100, TUNED = 4 };

struct pgas {
    struct path path;
    struct family *entry; /* the first state's; or NULL */
    struct part *entered; /* its parts: the step's from here on */
    int particles;        /* where warm-up learns how many, at most */
    bool learns;
};

static const struct pgas *pgas_of(const struct step *s) { return s->own; }

/* ---- taking ----------------------------------------------------------------
 */

/* What keeps a step from being drawn so, or NULL; g: the transition. */
static const char *unfit(struct compiler *c, const struct step *s,
                         const struct factor *g)
{
    const struct factor *own = s->family->factor;
    if (s->sampler->forward)
        return "it is drawn forward from its distribution: nothing depends on "
               "it";
    if (s->family->nslices)
        return "it is a vector-valued node";
    if (s->through)
        return "densities read it through derived nodes that are kept in "
               "memory";
    if (s->order.ties)
        return "it is a summand of an observed sum, which holds it fast";
    if (own->replaced || own->opaque || !model_can_be_drawn(s->family))
        return intern_format(c, "%s cannot be drawn from its distribution here",
                             s->family->var->name);
    if (own->rule && sym_has_var(own->rule, s->family->var))
        return intern_format(c, "%s is no distribution for each value before",
                             s->family->text);
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->factor != own && p->factor != g && !sampler_meets_once(c, s, p))
            return intern_format(c, "%s meets several of its elements",
                                 p->factor->text);
    return NULL;
}

/* Whether s draws the predecessor of the first element of a path of f. */
static bool is_entry(struct compiler *c, const struct step *s,
                     const struct family *f, const struct path *path)
{
    if (s->family->var != f->var || s->family->nloops || f->nloops != 1)
        return false;
    for (int d = 0; d < f->var->ndim; d++)
        if (!sym_same(sym_replace_loop(c, path->before->args[d], f->loops[0],
                                       f->loops[0]->lower),
                      s->family->lower[d]))
            return false;
    return true;
}

/* Each part in place, at any value of the state. */
static void evaluate_parts(struct compiler *c, struct step *s)
{
    for (struct part *p = s->parts; p; p = p->next) {
        struct factor *g = p->factor;
        if (p->opaque)
            continue;
        p->opaque = true;
        p->terms.n = 0;
        p->logp = condition_in_part(c, p, g->logp);
        p->value = g->value ? condition_in_part(c, p, g->value) : NULL;
        p->lower = g->lower ? condition_in_part(c, p, g->lower) : NULL;
        p->upper = g->upper ? condition_in_part(c, p, g->upper) : NULL;
    }
    s->opaque = true;
    s->law.n = 0;
    s->support.bounds = NULL;
    s->law.family = NULL;
    s->law.exponent = NULL;
    s->order.sequential = false;
    s->order.conflicts = NULL;
}

/* Its parts behind those of s, of which it is then a member. */
static void add_entry(struct compiler *c, struct step *s, struct step *entry)
{
    struct pgas *own = s->own;
    struct part **last = &s->parts;
    sampler_drop_parts(entry, s->family->factor);
    sampler_drop_parts(entry, entry->family->factor);
    evaluate_parts(c, entry);
    while (*last)
        last = &(*last)->next;
    *last = own->entered = entry->parts;
    own->entry = entry->family;
    s->block.members[0].family = s->family;
    s->block.members[1].family = entry->family;
    s->block.members[0].count = s->block.members[1].count = sym_num(c, 1);
    s->block.n = 2;
    s->whole = true;
    s->name = intern_format(c, "update_%s_%s", family_id(c, s->family),
                            family_id(c, entry->family));
    sampler_merge_away(entry);
}

static void take_path(struct compiler *c, struct step *s, struct path path)
{
    struct pgas *own = NEW(c, struct pgas);
    own->path = path;
    own->learns = !sampler_option(s, "particles");
    own->particles = (int)sampler_option_number(s, "particles", PARTICLES);
    s->own = own;
    s->sampler = &sampler_particle_gibbs;
    sampler_drop_parts(s, s->family->factor);
    evaluate_parts(c, s);
}

static void take(struct compiler *c, struct model *m, struct step *const *steps,
                 int n, struct span where)
{
    (void)m;
    bool any = false;
    for (int i = 0; i < n; i++) {
        struct path path;
        struct step *s = steps[i];
        const bool found = sampler_find_path(c, s, &path);
        const char *why = unfit(c, s, NULL);
        if (why && (found || s->through || s->sampler->forward)) {
            error_at(c, where, "pgas cannot draw %s: %s", s->family->var->name,
                     why);
            return;
        }
        if (!found)
            continue;
        any = true;
        take_path(c, s, path);
        for (int j = 0; j < n; j++)
            if (is_entry(c, steps[j], s->family, &path) &&
                !unfit(c, steps[j], s->family->factor) && !steps[j]->merged)
                add_entry(c, s, steps[j]);
    }
    if (!any)
        error_at(c, where,
                 "pgas draws states along time: no statement of %s says that "
                 "an element depends on the one before it, along a loop, and "
                 "on no other",
                 steps[0]->family->var->name);
    for (int i = 0; i < n; i++) /* a first state that is drawn apart */
        if (steps[i]->sampler != &sampler_particle_gibbs)
            steps[i]->asked.word = NULL;
}

/* ---- functions of one state ------------------------------------------------
 */

static const char *type_of(const struct step *s)
{
    return s->family->var->integer ? "int" : "real";
}

static void remember_state(struct emitter *e, const struct family *f,
                           const char *name)
{
    emit_remember(e, sym_ref(e->c, f->var, f->var->ndim, f->lower), name);
}

/* Opens a function of an element of f; the loops are in scope. */
static struct emitter open(struct compiler *c, struct text *out,
                           const struct family *f, const char *head)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out, "%s\n{\n", head);
    if (f->nloops)
        emit_decode(&e, f, "element");
    return e;
}

/* What of a sum, of the log density of a state, tells one predecessor from
 * others. A term that reads more of the states is kept. */
static symp keep_leading(struct compiler *c, const struct family *f, symp logp)
{
    symp state = sym_ref(c, f->var, f->var->ndim, f->lower),
         kept = sym_num(c, 0);
    if (logp->kind != SYM_ADD)
        return logp;
    for (int i = 0; i < logp->nargs; i++) {
        symp term = logp->args[i];
        if (sym_has_var(sym_replace(c, term, state, sym_num(c, 1)), f->var))
            kept = sym_add2(c, kept, term);
    }
    return kept;
}

/* The log density of a state given the one before, as an argument, as far as
 * it depends on that. */
static void emit_lead(struct compiler *c, struct text *out,
                      const struct step *s)
{
    const struct family *f = s->family;
    const char *type = type_of(s);
    struct emitter e =
        open(c, out, f,
             intern_format(c,
                           "GBM_FN real lead_%s(const struct state *s, long "
                           "long element, %s before, %s value)",
                           s->name, type, type));
    emit_remember(&e, pgas_of(s)->path.before, "before");
    remember_state(&e, f, "value");
    emit_return_density_of(&e, f, keep_leading(c, f, f->factor->plain));
    text_append(out, "}\n");
}

/* Draws, and log density, of a state given the one before: as an argument, or
 * as it is in memory. */
static void emit_prior(struct compiler *c, struct text *out,
                       const struct step *s, const struct family *f,
                       bool follows)
{
    const char *type = type_of(s), *n = s->name;
    const char *before = follows ? intern_format(c, ", %s before", type) : "";
    struct emitter e = open(
        c, out, f,
        intern_format(c,
                      "GBM_FN void draw_%s_%s(const struct state *s, struct "
                      "gbm_rng *rng,\n    long long element%s, %s *drawn)",
                      follows ? "next" : "first", n, before, type));
    if (follows)
        emit_remember(&e, pgas_of(s)->path.before, "before");
    remember_state(&e, f, "*drawn");
    emit_ruled_draw(&e, f);
    text_append(out, "}\n");
    e = open(c, out, f,
             intern_format(c,
                           "GBM_FN real %s_%s(const struct state *s, long long "
                           "element%s, %s value)",
                           follows ? "transition" : "enter", n, before, type));
    if (follows)
        emit_remember(&e, pgas_of(s)->path.before, "before");
    remember_state(&e, f, "value");
    emit_return_density(&e, f);
    text_append(out, "}\n");
}

/* The log of all else that depends on a state, by one lane; its cell, and
 * whether that is observed. */
static void emit_state(struct compiler *c, struct text *out,
                       const struct step *s, const struct family *f,
                       const char *which, const struct part *first,
                       const struct part *end)
{
    const char *type = type_of(s), *n = s->name;
    struct emitter e =
        open(c, out, f,
             intern_format(c,
                           "GBM_FN_BIG real weigh%s_%s(const struct state *s, "
                           "const struct gbm_team *lanes,\n    long long "
                           "element, %s value)",
                           which, n, type));
    symp lhs = sym_ref(c, f->var, f->var->ndim, f->lower);
    emit_line(&e, "const struct gbm_team one = gbm_team_part(lanes, 1);");
    emit_line(&e, "const struct gbm_team *const team = &one;");
    emit_line(&e, "gbm_total total = 0;");
    emit_line(&e, "const long long cell_ = %s;",
              emit_cell(&e, f->var, f->lower));
    for (const struct part *p = first; p != end; p = p->next) {
        const int nshared = e.nshared;
        symp reference = p->reference;
        for (int i = 0; reference && !p->inverse && i < p->nloops; i++)
            if (p->solved[i])
                reference =
                    sym_replace_loop(c, reference, p->loops[i], p->solved[i]);
        remember_state(&e, f, "value");
        if (reference)
            emit_remember(&e, reference, "value");
        emit_in_place(&e, p);
        e.nshared = nshared;
    }
    text_append(out, "    return (real)total;\n}\n");
    e = open(c, out, f,
             intern_format(c,
                           "GBM_FN %s *cell%s_%s(const struct state *s, long "
                           "long element)",
                           type, which, n));
    emit_line(&e, "return &%s;", emit_expr(&e, lhs));
    text_append(out, "}\n");
    e = open(c, out, f,
             intern_format(c,
                           "GBM_FN bool known%s_%s(const struct state *s, long "
                           "long element)",
                           which, n));
    emit_line(&e, "return %s;",
              emit_expr(&e, sym_seen(c, f->var, f->var->ndim, f->lower)));
    text_append(out, "}\n\n");
}

/* ---- the series ------------------------------------------------------------
 */

/* struct series: of states numbered from 0, of which the first may be of the
 * entry. */
static void emit_series(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const struct family *f = s->family;
    text_printf(out,
                "struct series_%s {\n    const struct state *s;\n    const "
                "struct gbm_team *team;\n    long long first, stride; /* "
                "element numbers */\n    int n;\n};\n",
                s->name);
    struct emitter e = open(
        c, out, f,
        intern_format(c,
                      "GBM_FN void open_%s(struct series_%s *p, const struct "
                      "state *s,\n    const struct gbm_team *team, long long "
                      "element)",
                      s->name, s->name));
    sampler_emit_place_of_path(&e, f, pgas_of(s)->path.along);
    if (pgas_of(s)->entry) {
        emit_line(&e, "p->n = 1 + (p->n > 0 ? p->n : 0);");
        emit_line(&e, "p->first -= p->stride;");
    }
    text_append(out, "}\n");
}

/* A function of a state's number: `first` at 0, `rest` elsewhere, in both of
 * which the step's name stands for @. */
static void emit_at(struct compiler *c, struct text *out, const struct step *s,
                    const char *type, const char *what, const char *arguments,
                    const char *first, const char *rest)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN %s %s_%s_at(void *context%s)\n{\n    struct series_%s "
                "*p = (struct series_%s *)context;\n    const struct state *s "
                "= p->s;\n    const long long element = p->first + t * "
                "p->stride;\n",
                type, what, s->name, arguments, s->name, s->name);
    if (first) {
        emit_line(&e, "if (t == 0) {");
        e.indent++;
        emit_filled(&e, first, "0", s->name);
        e.indent--;
        emit_line(&e, "} else {");
        e.indent++;
        emit_filled(&e, rest, "element", s->name);
        emit_close(&e, 1);
    } else {
        emit_filled(&e, rest, "element", s->name);
    }
    text_append(out, "}\n");
}

/* What the kernel asks; $ is the element. */
static void emit_callbacks(struct compiler *c, struct text *out,
                           const struct step *s)
{
    const bool entry = pgas_of(s)->entry != NULL,
               whole = s->family->var->integer;
    const char *cast = whole ? "(int)" : "", *type = type_of(s);
    const char *drawn =
        whole ? "drawn != gbm_whole(GBM_NAN)" : "gbm_is_finite(drawn)";
    text_printf(
        out,
        "GBM_FN bool draw_%s_at(void *context, struct gbm_rng *rng, int "
        "t, real from, real *x)\n{\n    struct series_%s *p = (struct "
        "series_%s *)context;\n    const long long element = p->first + "
        "t * p->stride;\n    %s drawn = 0;\n    if (t == 0)\n        "
        "draw_first_%s(p->s, rng, %s, &drawn);\n    else\n        "
        "draw_next_%s(p->s, rng, element, %sfrom, &drawn);\n    *x = "
        "(real)drawn;\n    return %s;\n}\n",
        s->name, s->name, s->name, type, s->name, entry ? "0" : "element",
        s->name, cast, drawn);
    emit_at(c, out, s, "real", "lead", ", int t, real from, real x", NULL,
            intern_format(c, "return lead_@(s, $, %sfrom, %sx);", cast, cast));
    emit_at(c, out, s, "real", "transition", ", int t, real from, real x", NULL,
            intern_format(c, "return transition_@(s, $, %sfrom, %sx);", cast,
                          cast));
    emit_at(c, out, s, "real", "weigh", ", int t, real x",
            entry ? intern_format(
                        c, "return weigh_first_@(s, p->team, $, %sx);", cast)
                  : NULL,
            intern_format(c, "return weigh_@(s, p->team, $, %sx);", cast));
    emit_at(c, out, s, "bool", "known", ", int t",
            entry ? "return known_first_@(s, $);" : NULL,
            "return known_@(s, $);");
    emit_at(c, out, s, "real", "current", ", int t",
            entry ? "return (real)*cell_first_@(s, $);" : NULL,
            "return (real)*cell_@(s, $);");
    emit_at(c, out, s, "void", "store", ", int t, real x",
            entry ? intern_format(c,
                                  "if (!known_first_@(s, $)) *cell_first_@(s, "
                                  "$) = %sx;",
                                  cast)
                  : NULL,
            intern_format(c, "if (!known_@(s, $)) *cell_@(s, $) = %sx;", cast));
    text_append(out, "\n");
}

static void emit_update(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const char *n = s->name, *room = s->slots->member;
    const bool entry = pgas_of(s)->entry != NULL;
    const int particles = pgas_of(s)->particles;
    struct emitter e = emitter_new(c, out);
    emit_open_update(out, s);
    emit_line(&e, "struct series_%s series;", n);
    emit_line(&e, "open_%s(&series, s, team, element);", n);
    emit_line(&e, "const long long count = count_%s(s), room = count * %d;", n,
              particles);
    const char *at = entry ? "0" : "series.first";
    emit_line(&e, "real *const first = s->%s + %s * %d;", room, at, particles);
    if (pgas_of(s)->learns) {
        emit_line(&e, "real *const tuned = s->%s + 3 * room", room);
        emit_line(&e, "    + %s * GBM_PGAS_TUNED;", at);
        emit_line(&e,
                  "const int particles = gbm_pgas_particles(tuned, %d, "
                  "adapting);",
                  particles);
    }
    const char *now =
        pgas_of(s)->learns ? "particles" : intern_format(c, "%d", particles);
    emit_line(&e,
              "const struct gbm_pgas pgas = {&series, team, series.n, %s, %d, "
              "%s,",
              now, particles, s->family->var->integer ? "false" : "true");
    emit_line(&e, "    draw_%s_at, lead_%s_at, weigh_%s_at, known_%s_at,", n, n,
              n, n);
    emit_line(&e, "    current_%s_at, store_%s_at, first, first + room,", n, n);
    emit_line(&e, "    first + 2 * room, series.stride * %d,", particles);
    emit_line(&e, "    %s, series.stride * GBM_PGAS_TUNED};",
              pgas_of(s)->learns ? "tuned" : "NULL");
    emit_line(&e, "gbm_pgas_draw(rng, &pgas, adapting);");
    text_append(out, "}\n\n");
}

/* States of all series. */
static void emit_count(struct compiler *c, struct text *out,
                       const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out, "GBM_FN long long count_%s(const struct state *s)\n{\n",
                s->name);
    if (family_rectangular(s->family)) {
        emit_line(&e, "const long long states = %s;",
                  emit_int(&e, family_elements(c, s->family)));
    } else {
        emit_line(&e, "long long states = 0;");
        for (int i = 0; i < s->family->nloops; i++)
            emit_open_loop(&e, s->family->loops[i], s->family->loops[i]->lower,
                           s->family->loops[i]->upper);
        emit_line(&e, "states++;");
        emit_close(&e, s->family->nloops);
    }
    text_printf(out, "    return (states > 0 ? states : 0)%s;\n}\n\n",
                pgas_of(s)->entry ? " + 1" : "");
}

/* ---- the host's ------------------------------------------------------------
 */

/* Room, cost, and the series as a block with its log density. */
static void emit_host_functions(struct text *out, const struct step *s)
{
    const char *n = s->name;
    const int particles = pgas_of(s)->particles;
    const char *head = "(const void *state, int64_t element";
    const char *opened =
        "    open_%s(&p, (const struct state *)state, &gbm_alone, element);\n";
    struct text open_series = {0};
    text_printf(&open_series, "    struct series_%s p;\n", n);
    text_printf(&open_series, opened, n);
    text_printf(out,
                "#ifndef __CUDACC__\nstatic int64_t tuning_%s(const void "
                "*state)\n{\n    return (3 * (int64_t)%d + %d) * "
                "count_%s((const struct state *)state);\n}\n",
                n, particles, pgas_of(s)->learns ? TUNED : 0, n);
    text_printf(out,
                "static int64_t cost_%s(const void *state)\n{\n"
                "    return 8 * (int64_t)%d;\n}\n",
                n, particles);
    if (!s->whole)
        text_printf(out,
                    "static int64_t first_%s%s)\n{\n%s    return p.first;\n}\n",
                    n, head, open_series.data);
    text_printf(out, "static int dimension_%s%s)\n{\n%s    return p.n;\n}\n", n,
                head, open_series.data);
    text_printf(
        out,
        "static void get_%s%s, double *x)\n{\n%s    for (int t = 0; t < "
        "p.n; t++)\n        x[t] = (double)current_%s_at(&p, t);\n}\n",
        n, head, open_series.data, n);
    text_printf(
        out,
        "static void set_%s%s, const double *x)\n{\n%s    for (int t = "
        "0; t < p.n; t++)\n        store_%s_at(&p, t, (real)x[t]);\n}\n",
        n, head, open_series.data, n);
    text_printf(out,
                "static double conditional_%s%s, const double *x)\n{\n%s    "
                "double total = 0;\n    for (int t = 0; t < p.n; t++) {\n"
                "        total += (double)weigh_%s_at(&p, t, (real)x[t]);\n"
                "        total += (double)(t ? transition_%s_at(&p, t, "
                "(real)x[t - 1], (real)x[t])\n                            : "
                "enter_%s(p.s, %s, %sx[0]));\n    }\n    return total;\n}\n"
                "#endif\n\n",
                n, head, open_series.data, n, n, n,
                pgas_of(s)->entry ? "0" : "p.first",
                s->family->var->integer ? "(int)" : "(real)");
    text_free(&open_series);
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    const struct pgas *own = pgas_of(s);
    const struct family *first = own->entry ? own->entry : s->family;
    text_printf(out,
                "/* %s    %s\n * Drawn as a whole along %s by %d particles: "
                "particle Gibbs with ancestor\n * sampling. Weights:\n",
                s->family->text, text_place_in_comment(c, s->family->span),
                s->family->loops[own->path.along]->name, own->particles);
    for (const struct part *p = s->parts; p; p = p->next)
        text_printf(out, " *     %s\n", p->factor->text);
    text_append(out, " */\n");
    emit_prior(c, out, s, first, false);
    emit_prior(c, out, s, s->family, true);
    emit_lead(c, out, s);
    emit_state(c, out, s, s->family, "", s->parts, own->entered);
    if (own->entry)
        emit_state(c, out, s, own->entry, "_first", own->entered, NULL);
    emit_series(c, out, s);
    emit_callbacks(c, out, s);
    emit_count(c, out, s);
    emit_update(c, out, s);
    emit_host_functions(out, s);
}

static void emit_row(struct compiler *c, struct text *out, const struct step *s)
{
    (void)c;
    if (!s->whole)
        text_printf(out, ", .first = first_%s", s->name);
}

static void phases(struct compiler *c, struct step *s)
{
    struct phase *p = sweep_add_usual_phases(c, s);
    p->what = "weights of each particle";
    p->random = false;
    p = sweep_add_phase(c, s, PHASE_SCAN, "particles forward, ancestors back");
    p->random = true;
    phase_computes(c, p, s->family->factor->logp);
}

/* ---- in words --------------------------------------------------------------
 */

static const char *explain(struct compiler *c, const struct step *s)
{
    return intern_format(
        c, "%s%d particles along %s", pgas_of(s)->learns ? "up to " : "",
        pgas_of(s)->particles, s->family->loops[pgas_of(s)->path.along]->name);
}

static const char *why(struct compiler *c, const struct step *s)
{
    return intern_format(c,
                         "particle Gibbs with ancestor sampling: samplers { } "
                         "asks for it; particles are drawn from the "
                         "transition of %s and weighed by what else depends on "
                         "it",
                         sampler_family_name(c, s->family));
}

const struct sampler sampler_particle_gibbs = {
    .name = "particle Gibbs",
    .word = "pgas",
    .options = {{.name = "particles", .least = 2, .most = 1e6, .whole = true}},
    .together = true,
    .take = take,
    .unit = sampler_left_out_together,
    .phases = phases,
    .explain = explain,
    .why = why,
    .parallel = sampler_over_paths,
    .headers = {"pgas.h"},
    .emit = emit,
    .emit_row = emit_row,
    .own_cost = true,
    .block_access = true,
    .tunes = sampler_tunes_width,
    .tuning_cells = true,
};
