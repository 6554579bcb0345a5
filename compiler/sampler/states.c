/* states.c: a few discrete nodes that make values of each other impossible, as
 * s2 ~ dcat(P[s1,]) and s3 ~ dcat(P[s2,]) where P has zeros, or counts of which
 * one ends the other's support, are drawn together, by trying all states of
 * them. Drawn one by one, each may be held by its neighbours, so that a chain
 * stays among a part of the states, and all chains in the same one. Where the
 * states of all are too many, some of them are drawn so, chosen at random: as
 * many as have few states. Parents stand first, so ends of supports are those
 * given the nodes before, and how many states some have, by which they are
 * chosen, does not depend on what these are now.
 *
 * Requires a list of steps without merged ones, before the sweep is planned. */
#include "sampler/moves.h"
#include <string.h>

enum { MOST_STATES = 256 };

struct states {
    struct compiler *c;
    struct model *m;
    struct step *nodes[MAX_MEMBERS]; /* the steps that draw them alone */
    int n;
};

static const struct states *states_of(const struct step *s) { return s->own; }

/* ---- which -----------------------------------------------------------------
 */

static bool follow(const struct model *m, const struct var *v)
{
    for (const struct family *f = m->families; f; f = f->next)
        if (sampler_is_kept(f) && model_derived_depends(m, f->var, v))
            return true;
    return false;
}

/* Whether s draws one node of few values. */
static bool is_node(const struct model *m, const struct step *s)
{
    const struct family *f = s->family;
    return s->sampler == &sampler_enumeration && f->nloops == 0 &&
           f->nslices == 0 && !f->affine && !f->var->whole &&
           !f->var->rest_of && !f->var->slope_of && !s->order.ties &&
           s->support.lower && s->support.upper && sampler_is_free(m, f) &&
           sampler_step_of(m, f) == s && !follow(m, f->var);
}

static bool has_log_of_chosen(symp e, const void *v)
{
    return e->kind == SYM_CALL && !strcmp(e->name, "log") &&
           sym_any(e->args[0], sampler_is_chosen, v);
}

/* Whether g, which reads both nodes, may be 0 at some of their values. */
static bool may_vanish(struct compiler *c, const struct factor *g,
                       const struct step *a, const struct step *b)
{
    const struct step *nodes[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        const struct var *v = nodes[i]->family->var;
        const bool prior = g == nodes[1 - i]->family->factor;
        if (condition_may_vanish(g->logp, v) ||
            (prior && sampler_holds(c, g, nodes[i])) ||
            sym_any(g->logp, has_log_of_chosen, v))
            return true;
    }
    return false;
}

static bool hold_each_other(struct compiler *c, const struct model *m,
                            const struct step *a, const struct step *b)
{
    for (const struct factor *g = m->factors; g; g = g->next)
        if (!g->replaced && sampler_factor_reads(g, a->family->var) &&
            sampler_factor_reads(g, b->family->var) && may_vanish(c, g, a, b))
            return true;
    return false;
}

/* ---- the step --------------------------------------------------------------
 */

static void add_step(struct states *k)
{
    struct compiler *c = k->c;
    struct step *s = NEW(c, struct step);
    s->own = k;
    s->model = k->m;
    s->sampler = &sampler_states;
    s->family = k->nodes[0]->family;
    s->whole = true;
    s->name = intern_format(c, "states_%s", family_id(c, s->family));
    for (int i = 0; i < k->n; i++) {
        s->block.members[i].family = k->nodes[i]->family;
        s->block.members[i].count = sym_num(c, 1);
    }
    s->block.n = k->n;
    for (struct factor *g = k->m->factors; g; g = g->next)
        if (!g->replaced && group_mentions(c, s, g))
            sampler_push_part(&s->parts, sampler_all_instances(c, g));
    sampler_keep_moving(c, s);
    sampler_insert_move(k->m, s, NULL);
}

/* nodes[first] and those that hold it, by way of others, too; these are marked.
 */
static void add_group(struct compiler *c, struct model *m,
                      struct step *const *nodes, int n, bool *marked, int first)
{
    struct states *k = NEW(c, struct states);
    bool *in = NEW_ARRAY(c, bool, n);
    bool grows = true;
    *k = (struct states){.c = c, .m = m};
    in[first] = true;
    for (k->n = 1; grows;) {
        grows = false;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n && !marked[i] && !in[i]; j++)
                if (in[j] && k->n < MAX_MEMBERS &&
                    hold_each_other(c, m, nodes[i], nodes[j])) {
                    in[i] = grows = true;
                    k->n++;
                }
    }
    k->n = 0;
    for (int i = 0; i < n; i++)
        if (in[i]) {
            marked[i] = true;
            k->nodes[k->n++] = nodes[i];
        }
    if (k->n > 1)
        add_step(k);
}

void sampler_find_states(struct compiler *c, struct model *m)
{
    int n = 0;
    for (const struct step *s = m->steps; s; s = s->next)
        n += s->sampler && is_node(m, s);
    struct step **nodes = NEW_ARRAY(c, struct step *, n);
    bool *marked = NEW_ARRAY(c, bool, n);
    n = 0;
    for (const struct family *f = m->families; f; f = f->next)
        for (struct step *s = m->steps; s; s = s->next)
            if (s->family == f && s->sampler && is_node(m, s))
                nodes[n++] = s;
    for (int i = 0; i < n; i++)
        if (!marked[i])
            add_group(c, m, nodes, n, marked, i);
}

/* ---- its functions ---------------------------------------------------------
 */

static symp cell_of(struct compiler *c, const struct step *s)
{
    const struct family *f = s->family;
    return sym_ref(c, f->var, f->var->ndim, f->lower);
}

/* value_, place_ and ends_ of node i; one that is data stays. */
static void emit_nodes(struct compiler *c, struct text *out,
                       const struct step *s)
{
    static const char *const heads[] = {
        "GBM_FN int value_%s(const struct state *s, int i)\n{\n",
        "GBM_FN void place_%s(const struct state *s, int i, int value)\n{\n",
        "GBM_FN void ends_%s(const struct state *s, int i, real *lower, real "
        "*upper)\n{\n"};
    const struct states *k = states_of(s);
    for (int what = 0; what < 3; what++) {
        struct emitter e = emitter_new(c, out);
        text_printf(out, heads[what], s->name);
        for (int i = 0; i < k->n; i++) {
            symp cell = cell_of(c, k->nodes[i]);
            const char *seen =
                emit_expr(&e, sym_seen(c, cell->var, cell->nargs, cell->args));
            if (what == 0) {
                emit_line(&e, "if (i == %d)", i);
                emit_line(&e, "    return (int)%s;", emit_expr(&e, cell));
            } else if (what == 1) {
                emit_line(&e, "if (i == %d && !%s)", i, seen);
                emit_line(&e, "    %s = value;", emit_expr(&e, cell));
            } else {
                emit_line(&e, "if (i == %d && !%s) {", i, seen);
                emit_line(&e, "    *lower = %s;",
                          emit_expr(&e, k->nodes[i]->support.lower));
                emit_line(&e, "    *upper = %s;",
                          emit_expr(&e, k->nodes[i]->support.upper));
                emit_line(&e, "    return;");
                emit_line(&e, "}");
            }
        }
        if (what == 0)
            emit_line(&e, "return 0;");
        if (what == 2)
            emit_line(&e, "*lower = *upper = value_%s(s, i);", s->name);
        text_append(out, "}\n\n");
    }
}

/* next_, $ the step: the nodes that are `in` go to their next state, or to the
 * first one; false: there is none. count_: how many they have. */
static const char walk[] =
    "GBM_FN bool next_$(const struct state *s, const struct gbm_team *team,\n"
    "    const bool *in, bool begin)\n{\n"
    "    int i = begin ? 0 : # - 1;\n"
    "    bool rise = !begin;\n"
    "    for (; i >= 0 && i < #; i += rise ? -1 : 1) {\n"
    "        if (!in[i])\n"
    "            continue;\n"
    "        real lower, upper;\n"
    "        ends_$(s, i, &lower, &upper);\n"
    "        const real value = rise ? (real)value_$(s, i) + 1 : "
    "real_ceil(lower);\n"
    "        rise = !(value <= upper);\n"
    "        gbm_team_sync(team);\n"
    "        if (!rise && team->lane == 0)\n"
    "            place_$(s, i, (int)value);\n"
    "        gbm_team_sync(team);\n"
    "    }\n"
    "    return i >= 0;\n"
    "}\n\n"
    "GBM_FN int count_$(const struct state *s, const struct gbm_team *team,\n"
    "    const bool *in)\n{\n"
    "    int n = 0;\n"
    "    bool more = next_$(s, team, in, true);\n"
    "    for (; more && n <= @; n++)\n"
    "        more = next_$(s, team, in, false);\n"
    "    return n;\n"
    "}\n\n";

static void emit_weight(struct emitter *e, const struct step *s)
{
    const int n = states_of(s)->n;
    text_printf(e->out,
                "GBM_FN real log_weight_%s(const struct state *s, const struct "
                "gbm_team *team,\n    long long element)\n{\n",
                s->name);
    emit_line(e, "for (int i = 0; i < %d; i++) {", n);
    emit_line(e, "    real lower, upper;");
    emit_line(e, "    ends_%s(s, i, &lower, &upper);", s->name);
    emit_line(e, "    const real value = (real)value_%s(s, i);", s->name);
    emit_line(e, "    if (!(value >= lower && value <= upper))");
    emit_line(e, "        return -GBM_INF;");
    emit_line(e, "}");
    emit_line(e, "return density_%s(s, team, element);", s->name);
    text_append(e->out, "}\n\n");
}

/* back_: the nodes have the values `was` again. */
static void emit_back(struct emitter *e, const struct step *s)
{
    text_printf(e->out,
                "GBM_FN void back_%s(const struct state *s, const struct "
                "gbm_team *team, const int *was)\n{\n",
                s->name);
    emit_line(e, "gbm_team_sync(team);");
    emit_line(e, "for (int i = 0; i < %d && team->lane == 0; i++)",
              states_of(s)->n);
    emit_line(e, "    place_%s(s, i, was[i]);", s->name);
    emit_line(e, "gbm_team_sync(team);");
    text_append(e->out, "}\n\n");
}

/* choose_: which nodes are drawn: all, if they have few states; else those from
 * one on, or any, as long as they have. */
static const char choice[] =
    "GBM_FN void choose_$(const struct state *s, struct gbm_rng *rng,\n"
    "    const struct gbm_team *team, const int *was, bool *in)\n{\n"
    "    for (int i = 0; i < #; i++)\n"
    "        in[i] = true;\n"
    "    int n = count_$(s, team, in);\n"
    "    back_$(s, team, was);\n"
    "    if (n <= @)\n"
    "        return;\n"
    "    const int first = gbm_relabel_any(rng, 2 * #);\n"
    "    for (int i = 0; i < #; i++)\n"
    "        in[i] = false;\n"
    "    n = 1;\n"
    "    for (int i = 0; i < # && 2 * n <= @; i++) {\n"
    "        const bool some = gbm_uniform(rng) < REAL_C(0.5);\n"
    "        in[i] = first < # ? i >= first : some;\n"
    "        const int with = in[i] ? count_$(s, team, in) : n;\n"
    "        back_$(s, team, was);\n"
    "        in[i] = in[i] && with <= @;\n"
    "        n = in[i] ? with : n;\n"
    "    }\n"
    "}\n\n";

static const char draw[] =
    "    int was[#];\n"
    "    bool in[#];\n"
    "    for (int i = 0; i < #; i++)\n"
    "        was[i] = value_$(s, i);\n"
    "    choose_$(s, rng, team, was, in);\n"
    "    struct gbm_trials trials;\n"
    "    gbm_trials_begin(&trials, 0);\n"
    "    int n = 0;\n"
    "    bool more = next_$(s, team, in, true);\n"
    "    for (; more; more = next_$(s, team, in, false))\n"
    "        gbm_trials_add(&trials, rng, n++, log_weight_$(s, team, "
    "element));\n"
    "    gbm_trials_close(&trials);\n"
    "    back_$(s, team, was);\n"
    "    for (int i = 0; trials.total > 0 && i <= trials.kept; i++)\n"
    "        next_$(s, team, in, i == 0);\n"
    "}\n\n";

/* The text with the step's name for $, its number of nodes for #, and the most
 * states for @. */
static void append_filled(struct text *out, const char *text,
                          const struct step *s)
{
    for (; *text; text++)
        if (*text == '$')
            text_append(out, s->name);
        else if (*text == '#' || *text == '@')
            text_printf(out, "%d",
                        *text == '#' ? states_of(s)->n : (int)MOST_STATES);
        else
            text_printf(out, "%c", *text);
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    sampler_emit_group_comment(c, out, s,
                               "All states of a few nodes are tried");
    sampler_emit_group_density(c, out, s, "density");
    emit_nodes(c, out, s);
    append_filled(out, walk, s);
    struct emitter e = emitter_new(c, out);
    emit_weight(&e, s);
    emit_back(&e, s);
    append_filled(out, choice, s);
    emit_open_update(out, s);
    append_filled(out, draw, s);
}

/* ---- the sampler -----------------------------------------------------------
 */

static void phases(struct compiler *c, struct step *s)
{
    sampler_move_phase(c, s, "all states of a few nodes");
}

static const char *why(struct compiler *c, const struct step *s)
{
    const struct states *k = states_of(s);
    struct text names = {0};
    for (int i = 0; i < k->n; i++)
        text_printf(&names, "%s%s",
                    i == 0          ? ""
                    : i + 1 == k->n ? " and "
                                    : ", ",
                    sampler_family_name(c, k->nodes[i]->family));
    const char *all = intern(c, names.data);
    text_free(&names);
    return intern_format(
        c,
        "all states of %s are tried together, at most %d: values of each may "
        "be impossible beside those that the others have, which would hold it",
        all, (int)MOST_STATES);
}

const struct sampler sampler_states = {
    .beside = true,
    .name = "all states of a few nodes",
    .unit = sampler_never_left_out,
    .closed = true,
    .headers = {"relabel.h"},
    .why = why,
    .phases = phases,
    .emit = emit,
};
