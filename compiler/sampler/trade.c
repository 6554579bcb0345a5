/* trade.c: two cells of 0s and 1s of a row trade values, where those of a row
 * exclude each other: z[i,t] ~ dbern(nu[t] * prod(1 - z[i,1:(t-1)])), when an
 * animal arrives, which it does once. Drawn one by one a 1 stays where it is:
 * with another one beside it, or with none though the animal is seen later, the
 * state is impossible, and both are on the way of a 1 that moves. Elements of
 * one statement trade behind their draws by way of one of these states
 * (swap.c); here the ratio is that of the densities of all that reads the row,
 * and the row may be filled by several statements, as its first cell often is
 * by one of its own. The two cells are any, whatever their values, so the step
 * is its own reverse. Warm-up tells of each row whether that pays
 * (stdlib/kernels/trade.h).
 *
 * Requires a list of steps without merged ones, before the sweep is planned. */
#include "sampler/component.h"

struct trade {
    struct compiler *c;
    const struct model *m;
    struct var *var;
    int row; /* the dimension of the row's subscript */
};

static const struct trade *trade_of(const struct step *s) { return s->own; }

/* ---- which -----------------------------------------------------------------
 */

/* The loop of f's rows; NULL: its subscript is another. */
static struct loop *row_loop(const struct trade *k, const struct family *f)
{
    symp at = f->lower[k->row];
    for (int i = 0; i < f->nloops; i++)
        if (at->kind == SYM_LOOP && f->loops[i] == at->loop)
            return f->loops[i];
    return NULL;
}

/* Statements that draw 0s and 1s of all rows, one by one. */
static bool are_bits(const struct trade *k)
{
    const struct loop *row = row_loop(k, k->var->families);
    for (const struct family *f = k->var->families; f; f = f->next_of_var) {
        const struct step *s =
            sampler_is_free(k->m, f) ? sampler_step_of(k->m, f) : NULL;
        const struct loop *l = row_loop(k, f);
        if (!s || s->sampler != &sampler_enumeration || !l ||
            !sampler_same_ends(l, row) || !family_plain(k->c, f) || f->affine ||
            s->integrated || !s->support.lower || !s->support.upper ||
            !sym_is(s->support.lower, 0) || !sym_is(s->support.upper, 1))
            return false;
    }
    return row != NULL;
}

static int row_of(const void *own, const struct var *v)
{
    const struct trade *k = own;
    return v == k->var ? k->row : -1;
}

static bool has_cells(symp e, const void *var)
{
    return (e->kind == SYM_ARRAY || e->kind == SYM_SUM) && sym_has_var(e, var);
}

/* Whether a cell's own density reads many others of its row. */
static bool exclude_each_other(const struct trade *k)
{
    for (const struct family *f = k->var->families; f; f = f->next_of_var)
        if (sym_any(f->factor->logp, has_cells, k->var))
            return true;
    return false;
}

/* The densities of all that reads a row; false: some may not be had row by row.
 */
static bool find_parts(const struct trade *k, struct step *s)
{
    struct loop *row = row_loop(k, k->var->families);
    for (struct factor *g = k->m->factors; g; g = g->next) {
        if (g->replaced)
            continue;
        if (!sampler_factor_reads(g, k->var)) {
            if (model_follows(k->m, g->logp, k->var))
                return false;
            continue;
        }
        const struct loop *l = sampler_row_loop(g, row_of, k, row);
        if (!l)
            return false;
        sampler_push_part(&s->parts, sampler_row_part(k->c, g, l, row));
    }
    for (const struct family *f = k->m->families; f; f = f->next)
        if (sampler_is_kept(f) && model_derived_depends(k->m, f->var, k->var))
            return false;
    return true;
}

static void add_step(struct model *m, struct trade *k, struct part *parts)
{
    struct compiler *c = k->c;
    struct step *s = NEW(c, struct step);
    s->own = k;
    s->model = m;
    s->sampler = &sampler_trade;
    s->family = k->var->families;
    s->parts = parts;
    s->name = intern_format(c, "trade_%s", family_id(c, s->family));
    for (struct family *f = s->family; f; f = f->next_of_var) {
        s->block.members[s->block.n].family = f;
        s->block.members[s->block.n++].count = sym_num(c, 1);
    }
    sampler_insert_move(m, s, NULL);
}

static int statements(const struct var *v)
{
    int n = 0;
    for (const struct family *f = v->families; f; f = f->next_of_var)
        n++;
    return n;
}

void sampler_find_trades(struct compiler *c, struct model *m)
{
    for (struct var *v = m->vars; v; v = v->next)
        for (int d = 0;
             v->role == ROLE_STOCHASTIC && v->integer && v->ndim == 2 && d < 2;
             d++) {
            struct trade try = {c, m, v, d};
            struct step parts = {.parts = NULL};
            if (!v->families || statements(v) > MAX_MEMBERS || v->whole ||
                v->rest_of || !are_bits(&try) || !exclude_each_other(&try) ||
                !find_parts(&try, &parts))
                continue;
            struct trade *k = NEW(c, struct trade);
            *k = try;
            add_step(m, k, parts.parts);
            break;
        }
}

/* ---- its functions ---------------------------------------------------------
 */

static symp cell_at(const struct trade *k, const char *at)
{
    symp row = sym_loop(k->c, row_loop(k, k->var->families));
    symp other = sym_param(k->c, intern(k->c, at));
    symp args[] = {k->row ? other : row, k->row ? row : other};
    return sym_ref(k->c, k->var, 2, args);
}

/* count_, and at_: the subscripts of the cells of a row, one by one. */
static void emit_places(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const struct trade *k = trade_of(s);
    for (int counts = 1; counts >= 0; counts--) {
        struct emitter e = emitter_new(c, out);
        text_printf(out, "GBM_FN int %s_%s(const struct state *s, int n)\n{\n",
                    counts ? "count" : "at", s->name);
        for (const struct family *f = s->family; f; f = f->next_of_var) {
            symp first = f->lower[1 - k->row], count = sym_num(c, 1), offset;
            const struct loop *l = sym_plain_loop(c, first, &offset);
            if (l) {
                first = sym_replace_loop(c, first, l, l->lower);
                count = sym_length(c, l->lower, l->upper);
            }
            if (!counts) {
                emit_line(&e, "if (n < %s)", emit_int(&e, count));
                emit_line(&e, "    return n + %s;", emit_int(&e, first));
            }
            emit_line(&e, "n %s= %s;", counts ? "+" : "-", emit_int(&e, count));
        }
        emit_line(&e, "return n;");
        text_append(out, "}\n\n");
    }
}

static void emit_trade(struct emitter *e, const struct trade *k)
{
    emit_line(e, "gbm_team_sync(team);");
    emit_line(e, "if (team->lane == 0)");
    e->indent++;
    sampler_emit_trade_cells(e, k->var, cell_at(k, "a_")->args,
                             cell_at(k, "b_")->args);
    e->indent--;
    emit_line(e, "gbm_team_sync(team);");
}

static const char *seen(struct emitter *e, symp cell)
{
    return emit_expr(e, sym_seen(e->c, cell->var, cell->nargs, cell->args));
}

/* try_: whether the row may be another, and the two cells trade. */
static void emit_try(struct compiler *c, struct text *out, const struct step *s)
{
    const struct trade *k = trade_of(s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void try_%s(const struct state *s, struct gbm_rng "
                "*rng,\n    const struct gbm_team *team, long long element, "
                "int cells)\n{\n",
                s->name);
    emit_decode(&e, s->family, "element");
    emit_param(&e, "a_", "a_");
    emit_param(&e, "b_", "b_");
    emit_line(&e, "const int first = gbm_relabel_any(rng, cells);");
    emit_line(&e, "const int any = gbm_relabel_any(rng, cells - 1);");
    emit_line(&e, "const int a_ = at_%s(s, first);", s->name);
    emit_line(&e, "const int b_ = at_%s(s, any + (any >= first));", s->name);
    emit_line(&e, "const real u = gbm_uniform(rng);");
    symp a = cell_at(k, "a_"), b = cell_at(k, "b_");
    emit_line(&e, "if (%s == %s || %s || %s)", emit_expr(&e, a),
              emit_expr(&e, b), seen(&e, a), seen(&e, b));
    emit_line(&e, "    return;");
    emit_line(&e, "const real here = density_%s(s, team, element);", s->name);
    emit_trade(&e, k);
    emit_line(&e, "const real gain = density_%s(s, team, element) - here;",
              s->name);
    emit_line(&e, "if (real_log(u) < gain)");
    emit_line(&e, "    return;");
    emit_trade(&e, k);
    text_append(out, "}\n\n");
}

/* code_: a number that tells what the cells of a row are. */
static void emit_code(struct compiler *c, struct text *out,
                      const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN uint32_t code_%s(const struct state *s, long long "
                "element, int cells)\n{\n",
                s->name);
    emit_decode(&e, s->family, "element");
    emit_param(&e, "a_", "a_");
    emit_line(&e, "uint32_t code = 0;");
    emit_line(&e, "for (int n = 0; n < cells; n++) {");
    emit_line(&e, "    const int a_ = at_%s(s, n);", s->name);
    emit_line(&e, "    code = gbm_trade_code(code, %s);",
              emit_expr(&e, cell_at(trade_of(s), "a_")));
    emit_line(&e, "}");
    emit_line(&e, "return code;");
    text_append(out, "}\n\n");
}

/* The first element of a row is its own. */
static void emit_update(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const struct loop *row = row_loop(trade_of(s), s->family);
    struct emitter e = emitter_new(c, out);
    emit_open_update(out, s);
    emit_decode(&e, s->family, "element");
    for (int i = 0; i < s->family->nloops; i++)
        if (s->family->loops[i] != row) {
            emit_line(&e, "if (%s != %s)",
                      emit_loop_of(&e, s->family->loops[i]),
                      emit_int(&e, s->family->loops[i]->lower));
            emit_line(&e, "    return;");
        }
    emit_line(&e, "const int cells = count_%s(s, 0);", s->name);
    emit_line(&e, "if (cells < 2)");
    emit_line(&e, "    return;");
    emit_line(&e,
              "real *const tuning = s->%s + GBM_TRADE_CELLS * (long long)(%s - "
              "%s);",
              s->slots->member, emit_loop_of(&e, row),
              emit_in_brackets(&e, row->lower));
    emit_line(&e, "const bool tried = gbm_trade_pays(tuning, adapting, "
                  "rng->sweep);");
    emit_line(&e, "const bool learns = adapting && adapting != GBM_ALONE;");
    emit_line(&e,
              "const uint32_t before = learns ? code_%s(s, element, cells) : "
              "0;",
              s->name);
    emit_line(&e, "if (tried)");
    emit_line(&e, "    try_%s(s, rng, team, element, cells);", s->name);
    emit_line(&e, "if (!learns)");
    emit_line(&e, "    return;");
    emit_line(&e, "gbm_team_sync(team); /* all have read what is learnt */");
    emit_line(&e, "if (team->lane == 0)");
    emit_line(&e,
              "    gbm_trade_learn(tuning, adapting, tried, before, code_%s(s, "
              "element, cells));",
              s->name);
    text_append(out, "}\n\n");
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    sampler_emit_group_comment(c, out, s, "Cells of a row trade values");
    sampler_emit_row_density(c, out, s);
    emit_places(c, out, s);
    emit_code(c, out, s);
    emit_try(c, out, s);
    emit_update(c, out, s);
    sampler_emit_tuning_of_rows(c, out, s, "GBM_TRADE_CELLS",
                                row_loop(trade_of(s), s->family));
}

/* ---- the sampler -----------------------------------------------------------
 */

static void slots(struct compiler *c, struct model *m, struct step *s)
{
    s->slots = sweep_add_pays_slot(c, m, s);
}

static void phases(struct compiler *c, struct step *s)
{
    sampler_move_phase(c, s, "cells of a row trade values");
}

static const char *why(struct compiler *c, const struct step *s)
{
    return intern_format(
        c,
        "two of a row trade values, by the densities of all that reads the "
        "row: the cells of %s exclude each other, and one by one a 1 would "
        "stay where it is",
        s->family->var->name);
}

const struct sampler sampler_trade = {
    .beside = true,
    .name = "cells of a row trade values",
    .headers = {"relabel.h", "trade.h"},
    .why = why,
    .phases = phases,
    .emit = emit,
    .own_layout = true,
    .slots = slots,
};
