/* mirror_program.c: the functions by which numbers change sign. */
#include "sampler/mirror.h"

static const struct mirror *mirror_of(const struct step *s) { return s->own; }

/* Opens the loops over the cells of member f that change at once, of which the
 * team's lanes share out the first, if asked; *cell: one of them. */
static int open_cells(struct emitter *e, const struct mirror *k,
                      const struct family *f, bool shared, symp *cell)
{
    int braces = 0;
    const struct loop *row = NULL;
    for (int i = 0; k->row && i < k->n; i++)
        row = k->vars[i] == f->var ? sampler_mirror_row(k, f, i) : row;
    if (row && row != k->row)
        emit_loop_as(e, row, emit_int(e, sym_loop(e->c, k->row)));
    if (f->nslices) { /* few, and all at once */
        if (shared)
            emit_line(e, "if (team->lane == 0)");
        return sampler_open_group_member(e, f, cell);
    }
    for (int i = 0; i < f->nloops; i++) {
        struct loop *l = f->loops[i];
        if (l == row)
            continue;
        if (shared && !braces) {
            const char *from = emit_int(e, l->lower);
            const char *end =
                emit_int(e, sym_add2(e->c, l->upper, sym_num(e->c, 1)));
            emit_team_loop(e, emit_loop_name(e, l), from, end);
            e->indent++;
        } else {
            emit_open_loop(e, l, l->lower, l->upper);
        }
        braces++;
    }
    if (shared && !braces)
        emit_line(e, "if (team->lane == 0)");
    *cell = sym_ref(e->c, f->var, f->var->ndim, f->lower);
    return braces;
}

static void emit_decode_row(struct emitter *e, const struct step *s)
{
    if (mirror_of(s)->row)
        emit_decode(e, s->family, "element");
}

static void emit_flip(struct compiler *c, struct text *out,
                      const struct step *s)
{
    const struct mirror *k = mirror_of(s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "/* All at once. */\n"
                "GBM_FN void flip_%s(const struct state *s, const struct "
                "gbm_team *team,\n    long long element)\n{\n    "
                "gbm_team_sync(team);\n",
                s->name);
    emit_decode_row(&e, s);
    for (int i = 0; i < s->block.n; i++) {
        const int depth = e.nloops;
        symp cell;
        const int braces =
            open_cells(&e, k, s->block.members[i].family, true, &cell);
        const char *x = emit_expr(&e, cell);
        if (k->told)
            emit_line(
                &e, "if (!%s)",
                emit_expr(&e, sym_seen(c, cell->var, cell->nargs, cell->args)));
        emit_line(&e, "%s%s = %s%s;", k->told ? "    " : "", x,
                  k->bits ? "1 - " : "-", x);
        emit_close(&e, braces);
        e.nloops = depth;
    }
    emit_line(&e, "gbm_team_sync(team);");
    sampler_emit_follow_group(&e, s);
    text_append(out, "}\n\n");
}

/* Whether some of them are known. */
static void emit_held(struct compiler *c, struct text *out,
                      const struct step *s)
{
    const struct mirror *k = mirror_of(s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN bool held_%s(const struct state *s, long long "
                "element)\n{\n    bool held = false;\n",
                s->name);
    emit_decode_row(&e, s);
    for (int i = 0; i < k->n && !k->row; i++)
        if (k->told)
            emit_line(&e, "held = held || s->%s_stride == 0;",
                      k->vars[i]->cname);
        else
            sampler_emit_held(&e, k->vars[i]);
    for (int i = 0; i < s->block.n && k->row; i++) {
        const int depth = e.nloops;
        symp cell;
        const int braces =
            open_cells(&e, k, s->block.members[i].family, false, &cell);
        emit_line(
            &e, "held = held || %s;",
            emit_expr(&e, sym_seen(c, cell->var, cell->nargs, cell->args)));
        emit_close(&e, braces);
        e.nloops = depth;
    }
    text_append(out, "    return held;\n}\n\n");
}

/* Leaves elements of a row but its first. */
static void emit_first_of_row(struct emitter *e, const struct step *s)
{
    const struct loop *row =
        mirror_of(s)->row ? sampler_mirror_row(mirror_of(s), s->family, 0)
                          : NULL;
    for (int i = 0; row && i < s->family->nloops; i++)
        if (s->family->loops[i] != row) {
            emit_line(e, "if (%s != %s)", emit_loop_of(e, s->family->loops[i]),
                      emit_int(e, s->family->loops[i]->lower));
            emit_line(e, "    return;");
        }
}

static void emit_asks(struct emitter *e, const struct step *s)
{
    const struct loop *row = mirror_of(s)->row;
    if (row)
        emit_line(e,
                  "real *const tuning = s->%s + GBM_EXCHANGE_CELLS * (long "
                  "long)(%s - %s);",
                  s->slots->member, emit_loop_of(e, row),
                  emit_in_brackets(e, row->lower));
    else
        emit_line(e, "real *const tuning = s->%s;", s->slots->member);
    emit_line(e, "if (!gbm_exchange_asks(tuning, rng->sweep))");
    emit_line(e, "    return;");
}

static void emit_update(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const struct mirror *k = mirror_of(s);
    const bool asks = sampler_mirror_asks(k);
    struct emitter e = emitter_new(c, out);
    emit_open_update(out, s);
    emit_decode_row(&e, s);
    emit_first_of_row(&e, s);
    emit_line(&e, "if (held_%s(s, element))", s->name);
    emit_line(&e, "    return;");
    if (asks)
        emit_asks(&e, s);
    emit_line(&e, "const real u = gbm_uniform(rng);");
    emit_line(&e, "const real here = density_%s(s, team, element);", s->name);
    emit_line(&e, "flip_%s(s, team, element);", s->name);
    emit_line(&e, "const real there = density_%s(s, team, element);", s->name);
    emit_line(&e, k->n > 1 ? "const bool flips = gbm_exchanged(here, there, u);"
                           : "const bool flips = gbm_drawn_sign(here, there, "
                             "u);");
    emit_line(&e, "if (!flips)");
    emit_line(&e, "    flip_%s(s, team, element);", s->name);
    if (asks)
        sampler_emit_asked(&e, "flips");
    text_append(out, "}\n\n");
}

void sampler_emit_mirror(struct compiler *c, struct text *out, struct step *s)
{
    sampler_emit_group_comment(c, out, s, "Signs change");
    if (mirror_of(s)->row)
        sampler_emit_row_density(c, out, s);
    else
        sampler_emit_group_density(c, out, s, "density");
    emit_flip(c, out, s);
    emit_held(c, out, s);
    emit_update(c, out, s);
    if (sampler_mirror_asks(mirror_of(s)))
        sampler_emit_tuning_of_rows(c, out, s, "GBM_EXCHANGE_CELLS",
                                    mirror_of(s)->row);
}
