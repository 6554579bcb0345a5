/* exchange_program.c: the functions by which components trade places. */
#include "sampler/exchange.h"
#include "sampler/common_cells.h"
#include "sampler/group.h"

static const struct exchange *exchange_of(const struct step *s)
{
    return s->own;
}

/* A loop along subscript d, which a team's lanes may share out. */
static struct loop *loop_along(struct emitter *e, struct var *v, int d,
                               bool shared)
{
    struct loop *l = NEW(e->c, struct loop);
    l->name = "at";
    l->lower = sym_num(e->c, 1);
    l->upper = sym_extent(e->c, v, d);
    if (!shared) {
        emit_open_loop(e, l, l->lower, l->upper);
        return l;
    }
    const char *to = emit_int(e, sym_add2(e->c, l->upper, sym_num(e->c, 1)));
    emit_team_loop(e, emit_loop_name(e, l), "1", to);
    e->indent++;
    return l;
}

/* Where subscript d, which is a component, trades to. */
static symp traded(struct emitter *e, int d, symp at)
{
    const char *name = intern_format(e->c, "to%d_", d);
    emit_line(e, "const int %s = gbm_traded(%s, a_, b_);", name,
              emit_int(e, at));
    emit_param(e, name, name);
    return sym_param(e->c, name);
}

/* Every cell of one component, with the other's of the same place. Lanes share
 * these out: one alone waits for each in turn. */
static void emit_trade_one(struct emitter *e, const struct of_component *k)
{
    struct compiler *c = e->c;
    struct var *v = k->family->var;
    symp first[MAX_DIMS], second[MAX_DIMS];
    int braces = 0;
    for (int d = 0; d < v->ndim; d++)
        if (d == k->dim) {
            first[d] = sym_param(c, intern(c, "a_"));
            second[d] = sym_param(c, intern(c, "b_"));
        } else {
            first[d] = second[d] =
                sym_loop(c, loop_along(e, v, d, braces == 0));
            braces++;
        }
    if (!braces)
        emit_line(e, "if (team->lane == 0)");
    sampler_emit_trade_cells(e, v, first, second);
    emit_close(e, braces);
}

/* Of several subscripts that are components: each cell with the one that it
 * trades with, once. */
static void emit_trade_several(struct emitter *e, const struct of_component *k)
{
    struct var *v = k->family->var;
    const unsigned dims = 1U << k->dim | k->also;
    symp first[MAX_DIMS], second[MAX_DIMS];
    for (int d = 0; d < v->ndim; d++)
        first[d] = second[d] = sym_loop(e->c, loop_along(e, v, d, false));
    emit_line(e, "int after = 0;");
    for (int d = 0; d < v->ndim; d++)
        if (dims >> d & 1) {
            second[d] = traded(e, d, first[d]);
            emit_line(e, "after = after ? after : %s - %s;",
                      emit_int(e, second[d]), emit_int(e, first[d]));
        }
    emit_line(e, "if (after > 0)");
    sampler_emit_trade_cells(e, v, first, second);
    emit_close(e, v->ndim);
}

/* The drawn half of a matrix takes what the whole one has at the other places.
 */
static void emit_trade_half(struct emitter *e, struct var *whole,
                            const struct var *drawn)
{
    for (const struct family *f = drawn->families; f; f = f->next_of_var) {
        const int depth = e->nloops;
        symp cell, to[MAX_DIMS];
        const int braces = sampler_open_group_member(e, f, &cell);
        for (int d = 0; d < whole->ndim; d++)
            to[d] = traded(e, d, cell->args[d]);
        emit_line(e, "%s = %s;", emit_expr(e, cell),
                  emit_expr(e, sym_ref(e->c, whole, whole->ndim, to)));
        emit_close(e, braces);
        e->nloops = depth;
    }
}

/* What one lane does: cells that are more than one component's, or others'. */
static void emit_trade_alone(struct emitter *e, const struct step *s)
{
    const struct exchange *k = exchange_of(s);
    emit_line(e, "if (team->lane == 0) {");
    e->indent++;
    for (int i = 0; i < k->has.n; i++) {
        const int depth = e->nloops;
        const struct of_component *v = &k->has.cells[i];
        struct var *whole = v->family->var;
        const struct var *drawn = sampler_exchange_drawn(k, whole);
        if (drawn)
            emit_trade_half(e, whole, drawn);
        else if (v->also)
            emit_trade_several(e, v);
        e->nloops = depth;
    }
    sampler_emit_turns(e, &k->turned);
    sampler_emit_pieces(e, &k->pieces);
    emit_close(e, 1);
}

/* Whether cells of k are traded one for one, by all lanes. */
static bool trades_one(const struct exchange *k, const struct of_component *v)
{
    return !v->also && !sampler_exchange_drawn(k, v->family->var);
}

static void emit_trade(struct compiler *c, struct text *out,
                       const struct step *s)
{
    const struct exchange *k = exchange_of(s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "/* Two components' parameters. */\n"
                "GBM_FN void trade_%s(const struct state *s, const struct "
                "gbm_team *team, int a_, int b_)\n{\n    "
                "gbm_team_sync(team);\n",
                s->name);
    emit_param(&e, "a_", "a_");
    emit_param(&e, "b_", "b_");
    bool alone = k->turned.n || k->pieces.n;
    for (int i = 0; i < k->has.n; i++) {
        const int depth = e.nloops;
        if (trades_one(k, &k->has.cells[i]))
            emit_trade_one(&e, &k->has.cells[i]);
        else
            alone = true;
        e.nloops = depth;
    }
    if (alone)
        emit_trade_alone(&e, s);
    emit_line(&e, "gbm_team_sync(team);");
    for (int i = 0; i < k->has.n; i++) {
        const struct var *drawn =
            sampler_exchange_drawn(k, k->has.cells[i].family->var);
        if (drawn)
            emit_recompute(&e, s, drawn);
    }
    for (int i = 0; s->through && i < k->pieces.n; i++)
        if (sampler_first_of_variable(&k->pieces, i))
            emit_recompute(&e, s, k->pieces.of[i].cell->var);
    text_append(out, "}\n\n");
}

/* Labels a_ and b_ of all rows, of which the first one may be 0. */
static void emit_trade_labels(struct compiler *c, struct text *out,
                              const struct step *s)
{
    const struct exchange *k = exchange_of(s);
    struct emitter e = emitter_new(c, out);
    const int before = (int)k->first->number - 1;
    text_printf(out,
                "GBM_FN void trade_labels_%s(const struct state *s, const "
                "struct gbm_team *team, int a_, int b_)\n{\n",
                s->name);
    for (const struct family *f = s->family->var->families; f;
         f = f->next_of_var) {
        const int depth = e.nloops;
        if (!f->nloops)
            emit_line(&e, "if (team->lane == 0)");
        const int braces =
            emit_open_part(&e, sampler_all_instances(c, f->factor), true);
        const char *z =
            emit_expr(&e, sym_ref(c, f->var, f->var->ndim, f->lower));
        emit_line(&e, "%s = gbm_traded(%s, a_ + (%d), b_ + (%d));", z, z,
                  before, before);
        emit_close(&e, braces);
        e.nloops = depth;
    }
    emit_line(&e, "gbm_team_sync(team);");
    sampler_emit_follow_group(&e, s);
    text_append(out, "}\n\n");
}

static const char *labels_of(struct emitter *e, const struct exchange *k)
{
    return emit_int(e, sym_length(e->c, k->first, k->end[0]));
}

/* Whether something is known of the labels or the components, or there are not
 * as many of these as labels. */
static void emit_held(struct compiler *c, struct text *out,
                      const struct step *s)
{
    const struct exchange *k = exchange_of(s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN bool held_%s(const struct state *s)\n{\n    bool held "
                "= false;\n",
                s->name);
    sampler_emit_held(&e, s->family->var);
    for (int i = 1; i < k->nends; i++)
        emit_line(&e, "held = held || %s != %s;",
                  emit_int(&e, sym_length(c, k->first, k->end[i])),
                  labels_of(&e, k));
    for (int i = 0; i < k->has.n; i++) {
        struct var *v = k->has.cells[i].family->var;
        struct var *drawn = sampler_exchange_drawn(k, v);
        const unsigned dims = 1U << k->has.cells[i].dim | k->has.cells[i].also;
        if (drawn)
            sampler_emit_held(&e, drawn);
        else
            sampler_emit_common_held(&e, v, dims, labels_of(&e, k));
        for (int d = 0; d < v->ndim; d++)
            if (dims >> d & 1)
                emit_line(&e, "held = held || %s != %s;",
                          emit_int(&e, sym_extent(c, v, d)), labels_of(&e, k));
    }
    if (k->turned.n || k->pieces.n)
        emit_line(&e, "held = held || %s != 2;", labels_of(&e, k));
    sampler_emit_turns_held(&e, &k->turned);
    sampler_emit_pieces_held(&e, &k->pieces);
    text_append(out, "    return held;\n}\n\n");
}

static void emit_update(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const struct exchange *k = exchange_of(s);
    const char *n = s->name;
    struct emitter e = emitter_new(c, out);
    emit_open_update(out, s);
    emit_line(&e, "const int labels = %s;", labels_of(&e, k));
    emit_line(&e, "if (labels < 2 || held_%s(s))", n);
    emit_line(&e, "    return;");
    emit_line(&e, "real *const tuning = s->%s;", s->slots->member);
    emit_line(&e, "if (!gbm_exchange_asks(tuning, rng->sweep))");
    emit_line(&e, "    return;");
    emit_line(&e, "const int a_ = gbm_relabel_any(rng, labels) + 1;");
    emit_line(&e, "const int any = gbm_relabel_any(rng, labels - 1) + 1;");
    emit_line(&e, "const int b_ = any + (any >= a_);");
    emit_line(&e, "const real u = gbm_uniform(rng);");
    emit_line(&e, "const real here = density_%s(s, team, element);", n);
    emit_line(&e, "trade_%s(s, team, a_, b_);", n);
    if (k->told)
        emit_line(&e, "trade_labels_%s(s, team, a_, b_);", n);
    emit_line(&e, "const real there = density_%s(s, team, element);", n);
    emit_line(&e, k->ends
                      ? "const bool trade = real_log(u) < there - here;"
                      : "const bool trade = gbm_exchanged(here, there, u);");
    emit_line(&e, "if (!trade)");
    emit_line(&e, "    trade_%s(s, team, a_, b_);", n);
    emit_line(&e, k->told ? "if (!trade)" : "if (trade)");
    emit_line(&e, "    trade_labels_%s(s, team, a_, b_);", n);
    sampler_emit_asked(&e, "trade");
    text_append(out, "}\n\n");
}

/* tuning_: how many numbers. cost_: about how many terms a lane would add up by
 * itself, one of each component's prior, or cells of two that it would trade.
 */
static void emit_sizes(struct compiler *c, struct text *out,
                       const struct step *s)
{
    const struct exchange *k = exchange_of(s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "#ifndef __CUDACC__\nstatic int64_t tuning_%s(const void "
                "*state)\n{\n    return GBM_EXCHANGE_CELLS;\n}\n"
                "static int64_t cost_%s(const void *state)\n{\n    const "
                "struct state *s = (const struct state *)state;\n",
                s->name, s->name);
    symp cells = sym_length(c, k->first, k->end[0]);
    for (int i = 0; i < k->has.n; i++) {
        const struct of_component *v = &k->has.cells[i];
        symp own = sym_num(c, 1);
        for (int d = 0; d < v->family->var->ndim; d++)
            if (d != v->dim)
                own = sym_mul2(c, own, sym_extent(c, v->family->var, d));
        cells = sym_add2(c, cells, own);
    }
    emit_line(&e, "return (int64_t)(%s);", emit_quantity(&e, cells));
    text_append(out, "}\n#endif\n\n");
}

void sampler_emit_exchange(struct compiler *c, struct text *out, struct step *s)
{
    sampler_emit_group_comment(c, out, s, "Components trade places");
    sampler_emit_group_density(c, out, s, "density");
    emit_trade(c, out, s);
    emit_trade_labels(c, out, s);
    emit_held(c, out, s);
    emit_update(c, out, s);
    emit_sizes(c, out, s);
}
