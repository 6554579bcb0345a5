/* group.c: variables that move together, one step for all their elements:
 * whose parts are all the factors that mention a member, each with all its
 * instances. What the samplers of groups (adaptive.c, elliptical.c, ...) share.
 */
#include "sampler/group.h"
#include <string.h>

/* ---- making one ------------------------------------------------------------
 */

bool group_reads(const struct step *s, symp e)
{
    for (int i = 0; i < s->block.n; i++)
        if (sym_has_var(e, s->block.members[i].family->var))
            return true;
    return false;
}

/* Whether e is a value in memory that follows a member. */
bool sampler_follows_group(symp e, const void *step)
{
    const struct step *s = step;
    for (int i = 0; i < s->block.n; i++)
        if (model_follows(s->model, e, s->block.members[i].family->var))
            return true;
    return false;
}

bool group_depends(const struct step *s, symp e)
{
    return e && (group_reads(s, e) || sym_any(e, sampler_follows_group, s));
}

bool group_mentions(struct compiler *c, const struct step *s,
                    const struct factor *g)
{
    if (group_depends(s, g->logp) || group_depends(s, g->value) ||
        group_depends(s, g->lower) || group_depends(s, g->upper))
        return true;
    for (int i = 0; g->opaque && i < g->family->nargs; i++)
        if (group_depends(s,
                          model_substitute_derived(c, g->family->args[i].body)))
            return true;
    return false;
}

/* One step of the families of all; the others are merged into the first. The
 * members stand in the order of the families, parents first. */
struct step *sampler_merge_group(struct compiler *c, struct model *m,
                                 struct step *const *steps, int n)
{
    struct step *s = steps[0];
    struct text name = {0};
    text_append(&name, "update");
    for (int i = 1; i < n; i++)
        sampler_merge_away(steps[i]);
    s->block.n = 0;
    for (struct family *f = m->families; f; f = f->next)
        for (int i = 0; i < n; i++)
            if (steps[i]->family == f) {
                s->block.members[s->block.n].family = f;
                s->block.members[s->block.n++].count = sym_num(c, 1);
                text_printf(&name, "_%s", family_id(c, f));
            }
    s->family = s->block.members[0].family;
    s->name = intern(c, name.data);
    text_free(&name);
    s->whole = true;
    s->order.sequential = false;
    s->order.conflicts = NULL;
    s->law.family = NULL;
    s->support.bounded = false;
    s->support.bounds = NULL;
    s->law.n = 0;
    s->parts = NULL;
    for (struct family *f = m->families; f; f = f->next)
        for (int i = 0; i < s->block.n && !f->stochastic; i++)
            s->through =
                s->through || (f->var->stored &&
                               model_derived_depends(
                                   m, f->var, s->block.members[i].family->var));
    return s;
}

/* Whether e changes where members of s move; s may have but its own family. */
static bool moves_with(const struct step *s, symp e)
{
    return s->block.n ? group_depends(s, e)
                      : model_reads(s->model, e, s->family->var);
}

static symp keep_moving(struct compiler *c, const struct step *s, symp e);

/* A product of what stays and one sum, as the sum of what of that moves. */
static symp multiply_out(struct compiler *c, const struct step *s, symp e)
{
    symp sum = NULL, rest = sym_num(c, 1), kept = sym_num(c, 0);
    for (int i = 0; i < e->nargs; i++) {
        symp x = e->args[i];
        if (!moves_with(s, x))
            rest = sym_mul2(c, rest, x);
        else if (x->kind == SYM_ADD && !sum)
            sum = x;
        else
            return e;
    }
    for (int i = 0; sum && i < sum->nargs; i++)
        if (moves_with(s, sum->args[i]))
            kept = sym_add2(c, kept,
                            keep_moving(c, s, sym_mul2(c, rest, sum->args[i])));
    return sum ? kept : e;
}

/* A log density without the terms that no move changes. */
static symp keep_moving(struct compiler *c, const struct step *s, symp e)
{
    symp kept = sym_num(c, 0);
    if (e->kind == SYM_MUL)
        return multiply_out(c, s, e);
    if (e->kind != SYM_ADD)
        return e;
    for (int i = 0; i < e->nargs; i++)
        if (moves_with(s, e->args[i]))
            kept = sym_add2(c, kept, keep_moving(c, s, e->args[i]));
    return kept;
}

void sampler_keep_moving(struct compiler *c, struct step *s)
{
    for (struct part *p = s->parts; p; p = p->next)
        if (p->opaque && p->logp)
            p->logp = keep_moving(c, s, p->logp);
}

struct part *sampler_all_instances(struct compiler *c, struct factor *g)
{
    struct part *p = NEW(c, struct part);
    p->factor = g;
    p->nloops = g->nloops;
    p->loops = g->loops;
    p->solved = NEW_ARRAY(c, symp, g->nloops);
    p->opaque = p->ruled = true;
    p->logp = model_under_rule(c, g, g->logp);
    p->value = g->value;
    p->lower = g->lower;
    p->upper = g->upper;
    return p;
}

bool sampler_has_member(const struct step *s, const struct family *f)
{
    bool has = s->family == f;
    for (int i = 0; i < s->block.n; i++)
        has = has || s->block.members[i].family == f;
    return has;
}

void sampler_push_part(struct part **list, struct part *p)
{
    while (*list)
        list = &(*list)->next;
    *list = p;
}

static bool can_move(struct compiler *c, const struct step *s,
                     struct span where, const char *word)
{
    const struct family *f = s->family;
    const char *why = NULL;
    if (s->sampler->forward)
        why = "it is drawn forward from its distribution: nothing "
              "depends on "
              "it";
    else if (model_draws_integers(f))
        why = "it is discrete";
    else if (s->order.ties)
        why = "it is a summand of an observed sum, which holds it fast";
    else if (f->nslices) {
        const struct expr *support = entry_value(f->distribution, "support");
        if (f->nslices > 1 || !support || strcmp(support->name, "vector") != 0)
            why = intern_format(c, "the values of %s are restricted",
                                f->distribution->name);
    }
    if (why)
        error_at(c, where, "%s cannot move %s: %s", word, f->var->name, why);
    return !why;
}

bool group_fits(struct compiler *c, struct step *const *steps, int n,
                struct span where, const char *word)
{
    bool fits = true;
    for (int i = 0; i < n; i++)
        fits = can_move(c, steps[i], where, word) && fits;
    if (n > 8) {
        error_at(c, where, "%s moves at most 8 statements' nodes together",
                 word);
        return false;
    }
    return fits;
}

/* ---- its functions ---------------------------------------------------------
 */

/* Opens the loops over a member's elements and components. *cell: one of them.
 */
int sampler_open_group_member(struct emitter *e, const struct family *f,
                              symp *cell)
{
    struct compiler *c = e->c;
    symp at[8];
    for (int i = 0; i < f->nloops + f->nslices; i++) {
        struct loop *l = i < f->nloops ? f->loops[i] : NEW(c, struct loop);
        if (i >= f->nloops) {
            l->name = "at";
            l->lower = sym_num(c, 1);
            l->upper = family_extent(c, f, i - f->nloops);
            at[i - f->nloops] = sym_loop(c, l);
        }
        emit_open_loop(e, l, l->lower, l->upper);
    }
    *cell = f->nslices ? family_lhs(c, f, f->nslices, at)
                       : sym_ref(c, f->var, f->var->ndim, f->lower);
    return f->nloops + f->nslices;
}

/* What is done for each coordinate that is not observed, k its number. */
enum each { EACH_COUNTED, EACH_STATED, EACH_BOUNDED };

/* lower[k] and upper[k], the own support's ends. */
static void emit_ends(struct emitter *e, const struct step *s,
                      const struct factor *g)
{
    bool low = g->lower && !g->replaced, high = g->upper && !g->replaced;
    for (int j = 0; j < s->block.n; j++) {
        const struct var *v = s->block.members[j].family->var;
        low = low && !sym_has_var(g->lower, v);
        high = high && !sym_has_var(g->upper, v);
    }
    emit_line(e, "lower[k] = %s;", low ? emit_expr(e, g->lower) : "-GBM_INF");
    emit_line(e, "upper[k] = %s;", high ? emit_expr(e, g->upper) : "GBM_INF");
}

/* Each but what is counted by the lane that owns it. $ in `statement`: its
 * cell. */
static void for_each_latent(struct emitter *e, const struct step *s,
                            enum each what, const char *statement)
{
    struct compiler *c = e->c;
    for (int i = 0; i < s->block.n; i++) {
        const struct family *f = s->block.members[i].family;
        int depth = e->nloops;
        symp cell;
        int braces = sampler_open_group_member(e, f, &cell);
        symp seen = sym_seen(c, cell->var, cell->nargs, cell->args);
        emit_line(e, "if (!%s) {", emit_expr(e, seen));
        e->indent++;
        if (what != EACH_COUNTED) {
            emit_line(e, "if (GBM_TEAM_OWNS(team, k)) {");
            e->indent++;
            if (what == EACH_BOUNDED)
                emit_ends(e, s, f->factor);
            else
                emit_filled(e, statement, emit_expr(e, cell), "");
            emit_close(e, 1);
        }
        emit_line(e, "k++;");
        emit_close(e, braces + 1);
        e->nloops = depth;
    }
}

void sampler_emit_follow_group(struct emitter *e, const struct step *s)
{
    for (int i = 0; s->through && i < s->block.n; i++) {
        bool again = false; /* each variable once */
        for (int j = 0; j < i; j++)
            again = again || s->block.members[j].family->var ==
                                 s->block.members[i].family->var;
        if (!again)
            emit_recompute(e, s, s->block.members[i].family->var);
    }
}

void sampler_emit_group_cells(struct compiler *c, struct text *out,
                              const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "/* Numbers of unobserved cells. */\n"
                "GBM_FN int count_%s(const struct state *s)\n{\n"
                "    int k = 0;\n",
                s->name);
    for_each_latent(&e, s, EACH_COUNTED, NULL);
    text_append(out, "    return k;\n}\n");
    e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void read_%s(const struct state *s, const struct "
                "gbm_team *team, real *x)\n{\n"
                "    int k = 0;\n",
                s->name);
    for_each_latent(&e, s, EACH_STATED, "x[k] = $;");
    text_append(out, "}\n");
    e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void write_%s(const struct state *s, const struct "
                "gbm_team *team, const real *x)\n{\n    int k = 0;\n    "
                "gbm_team_sync(team);\n",
                s->name);
    for_each_latent(&e, s, EACH_STATED, "$ = x[k];");
    emit_line(&e, "gbm_team_sync(team);");
    sampler_emit_follow_group(&e, s);
    text_append(out, "}\n\n");
}

void sampler_emit_group_density(struct compiler *c, struct text *out,
                                const struct step *s, const char *what)
{
    struct emitter e = emitter_new(c, out);
    emit_recalled(c, out, s);
    text_printf(out,
                "GBM_FN_BIG real %s_%s(const struct state *s, const struct "
                "gbm_team *team,\n    long long element)\n{\n"
                "    GBM_KNOWING(s)\n"
                "    gbm_total total = 0;\n",
                what, s->name);
    if (!s->whole)
        sampler_open_element(&e, s);
    if (!s->whole)
        emit_cell_if_needed(&e, s);
    e.team = true;
    for (const struct part *p = s->parts; p; p = p->next)
        emit_in_place_or_recalled(&e, s, p);
    text_append(out, "    return (real)total;\n}\n\n");
}

/* For the self-check: the block's cells, and its log density with the priors
 * that `prior` adds. */
void sampler_emit_group_access(struct text *out, const struct step *s,
                               const char *density, bool prior)
{
    const char *n = s->name;
    text_printf(out,
                "#ifndef __CUDACC__\n"
                "static int dimension_%s(const void *state, int64_t element)\n"
                "{\n    return count_%s((const struct "
                "state *)state);\n}\n"
                "static void get_%s(const void *state, int64_t element, "
                "double *x)\n{\n    read_%s((const struct "
                "state *)state, &gbm_alone, (real *)x);\n}\n"
                "static void set_%s(const void *state, int64_t element, "
                "const double *x)\n{\n    write_%s((const "
                "struct state *)state, &gbm_alone, (const real *)x);\n}\n",
                n, n, n, n, n, n);
    text_printf(out,
                "static double conditional_%s(const void *state, int64_t "
                "element, const double *x)\n{\n    const struct state *s = "
                "(const struct state *)state;\n    const int d = count_%s(s);\n"
                "    GBM_SCRATCH(before, before_small, d);\n    read_%s(s, "
                "&gbm_alone, before);\n    write_%s(s, &gbm_alone, (const real "
                "*)x);\n    "
                "double total = (double)%s_%s(s, &gbm_alone, element)",
                n, n, n, n, density, n);
    if (prior)
        text_printf(out, " +\n        (double)prior_%s(s)", n);
    text_printf(out,
                ";\n    write_%s(s, &gbm_alone, before);\n    return total;\n"
                "}\n#endif\n\n",
                n);
}

static const char *const access_heads[5] = {
    "static int dimension_%s(const void *state, int64_t element)\n{\n",
    "static void get_%s(const void *state, int64_t element, double *x)\n{\n",
    "static void set_%s(const void *state, int64_t element, const double *x)\n"
    "{\n",
    "static double conditional_%s(const void *state, int64_t element, const "
    "double *x)\n{\n",
    "static double size_%s(const void *state, int64_t element, const double "
    "*x)\n{\n"};

struct emitter sampler_open_access(struct compiler *c, struct text *out,
                                   const struct step *s, int which)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out, access_heads[which], s->name);
    emit_line(&e, "const struct state *s = (const struct state *)state;");
    return e;
}

void sampler_emit_group_comment(struct compiler *c, struct text *out,
                                const struct step *s, const char *what)
{
    text_printf(out, "/* %s:\n", what);
    for (int i = 0; i < s->block.n; i++)
        text_printf(out, " *     %s    %s\n", s->block.members[i].family->text,
                    text_place_in_comment(c, s->block.members[i].family->span));
    text_append(out, " */\n");
}

/* ---- a Metropolis step -----------------------------------------------------
 */

struct step *sampler_take_group(struct compiler *c, struct model *m,
                                struct step *const *steps, int n,
                                struct span where, const char *word)
{
    if (!group_fits(c, steps, n, where, word))
        return NULL;
    struct step *s = sampler_merge_group(c, m, steps, n);
    for (struct factor *g = m->factors; g; g = g->next)
        if (!g->replaced && group_mentions(c, s, g))
            sampler_push_part(&s->parts, sampler_all_instances(c, g));
    sampler_keep_moving(c, s);
    return s;
}

/* The cells of all members, observed or not: what is seen is not known yet
 * where memory is laid out. */
static void emit_count_function(struct compiler *c, struct text *out,
                                const struct step *s, const char *prefix,
                                const char *cells)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "#ifndef __CUDACC__\nstatic int64_t %s%s(const void "
                "*state)\n{\n    const struct state *s = (const struct state "
                "*)state;\n    int64_t k = 0;\n",
                prefix, s->name);
    for (int i = 0; i < s->block.n; i++) {
        symp cell;
        int depth = e.nloops;
        int braces =
            sampler_open_group_member(&e, s->block.members[i].family, &cell);
        emit_line(&e, "k++;");
        emit_close(&e, braces);
        e.nloops = depth;
    }
    text_printf(out, "    return %s;\n}\n#endif\n\n", cells);
}

struct phase *sampler_move_phase(struct compiler *c, struct step *s,
                                 const char *what)
{
    struct phase *p = sweep_add_phase(c, s, PHASE_SEARCH, what);
    p->random = true;
    p->drawn = sym_num(c, 1);
    p->rows = s->family;
    for (const struct part *q = s->parts; q; q = q->next)
        phase_computes(c, p, q->logp);
    for (int i = 0; i < s->block.n; i++)
        phase_writes(c, p, s->block.members[i].family);
    return p;
}

void sampler_emit_tuning_of_rows(struct compiler *c, struct text *out,
                                 const struct step *s, const char *cells,
                                 const struct loop *row)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "#ifndef __CUDACC__\nstatic int64_t tuning_%s(const void "
                "*state)\n{\n    const struct state *s = (const struct state "
                "*)state;\n",
                s->name);
    emit_line(&e, "return (int64_t)%s * (%s);", cells,
              emit_int(&e, row ? sym_length(c, row->lower, row->upper)
                               : sym_num(c, 1)));
    text_append(out, "}\n#endif\n\n");
}

void sampler_emit_asked(struct emitter *e, const char *made)
{
    emit_line(e, "if (!adapting || adapting == GBM_ALONE)");
    emit_line(e, "    return;");
    emit_line(e, "gbm_team_sync(team); /* all have read what is learnt */");
    emit_line(e, "if (team->lane == 0) {");
    emit_line(e, "    tuning[GBM_EXCHANGE_ASKED] += 1;");
    emit_line(e, "    tuning[GBM_EXCHANGE_MADE] += %s;", made);
    emit_line(e, "}");
}

void sampler_emit_tuning_cells(struct compiler *c, struct text *out,
                               const struct step *s, const char *cells)
{
    emit_count_function(c, out, s, "tuning_", cells);
}

void sampler_group_room(struct compiler *c, struct model *m, struct step *s)
{
    if (!s->whole)
        return;
    struct slot *room = sweep_add_slot_of(
        c, m, s,
        (struct slot){.kind = SLOT_TUNING,
                      .name = intern_format(c, "%s room", s->family->var->name),
                      .member = intern_format(c, "%s_room", step_id(c, s)),
                      .about = "where a move is made",
                      .life = LIFE_SCRATCH,
                      .counted = "room_"});
    if (!s->slots)
        s->slots = room;
}

/* Behind what is tuned, if something is. */
static const struct slot *room_of(const struct step *s)
{
    const struct slot *room = s->slots;
    while (room->life != LIFE_SCRATCH)
        room = room->next;
    return room;
}

void sampler_emit_group_arrays(struct emitter *e, const struct step *s,
                               const char *const *arrays)
{
    for (int i = 0; arrays[i]; i++)
        emit_line(e, "real *const %s = s->%s + %d * (long long)d;", arrays[i],
                  room_of(s)->member, i);
}

void sampler_emit_group_room(struct compiler *c, struct text *out,
                             const struct step *s, int arrays)
{
    emit_count_function(c, out, s, "room_", intern_format(c, "%d * k", arrays));
}

/* What is tuned, behind a move. */
static void emit_tuning(struct emitter *e, const struct group_move *move,
                        const char *step)
{
    if (!move->always) {
        emit_line(e, "if (adapting) {");
        e->indent++;
    }
    emit_line(e, "const real size = %s;", move->size);
    if (move->learn)
        emit_filled(e, move->learn, step, "");
    emit_line(e, "gbm_team_sync(team);");
    emit_line(e, "if (team->lane == 0)");
    emit_line(e, "    tuning[0] = size;");
    emit_line(e, "gbm_team_sync(team);");
    if (!move->always)
        emit_close(e, 1);
}

static void emit_moves(struct emitter *e, const struct step *s,
                       const struct group_move *move, const char *step)
{
    const char *moves = sampler_steps(e->c, s, move->moves);
    if (moves && !strcmp(moves, "1"))
        moves = NULL;
    emit_line(e, "%sreal here = density_%s(s, team, element);",
              moves ? "" : "const ", s->name);
    if (moves) {
        emit_line(e, "for (int move = 0; move < %s; move++) {", moves);
        e->indent++;
    }
    emit_filled(e, move->propose, step, "");
    emit_line(e, "write_%s(s, team, y);", s->name);
    emit_line(e, "const real there = density_%s(s, team, element);", s->name);
    emit_line(e, "real probability;");
    emit_line(e, "const bool moves = gbm_metropolis(rng, here, there + "
                 "jacobian, &probability);");
    emit_line(e, "if (!moves)");
    emit_line(e, "    write_%s(s, team, x);", s->name);
    if (move->moved) {
        emit_line(e, "else");
        emit_line(e, "    %s", move->moved);
    }
    if (move->size)
        emit_tuning(e, move, step);
    if (!moves)
        return;
    emit_line(e, "here = moves ? there : here;");
    emit_line(e, "GBM_TEAM_FOR(i, 0, moves ? d : 0, team)");
    emit_line(e, "    x[i] = y[i];");
    emit_close(e, 1);
}

void sampler_emit_group_step(struct compiler *c, struct text *out,
                             struct step *s, const struct group_move *move)
{
    static const char *const arrays[] = {"x", "y", "lower", "upper", "z", NULL};
    const char *n = s->name;
    sampler_emit_group_comment(c, out, s, move->what);
    sampler_emit_group_cells(c, out, s);
    sampler_emit_group_room(c, out, s, 5);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "/* The ends of their supports. */\n"
                "GBM_FN void ends_%s(const struct state *s, const struct "
                "gbm_team *team, real *lower, real *upper)\n{\n    int k = "
                "0;\n",
                n);
    for_each_latent(&e, s, EACH_BOUNDED, NULL);
    text_append(out, "}\n\n");
    sampler_emit_group_density(c, out, s, "density");
    emit_open_update(out, s);
    e = emitter_new(c, out);
    emit_line(&e, "const int d = count_%s(s);", n);
    emit_line(&e, "real *const tuning = s->%s;", s->slots->member);
    sampler_emit_group_arrays(&e, s, arrays);
    emit_line(&e, "read_%s(s, team, x);", n);
    emit_line(&e, "ends_%s(s, team, lower, upper);", n);
    emit_moves(&e, s, move,
               s->asked.width > 0 ? emit_expr(&e, sym_num(c, s->asked.width))
                                  : "1");
    text_append(out, "}\n\n");
    sampler_emit_group_access(out, s, "density", false);
}
