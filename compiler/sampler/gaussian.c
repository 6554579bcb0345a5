/* gaussian.c: a small Gaussian block, one per element of a plate: its precision
 * and potential added up from the quadratics of the factors, and drawn at once.
 * Their coordinates, which other blocks have too. */
#include "sampler/proposal.h"
#include <string.h>

void sampler_open_element(struct emitter *e, const struct step *s)
{
    if (s->family->nloops)
        emit_decode(e, s->family, "element");
    /* members of a block share the plate: their loops are the same indices */
    for (int k = 1; k < s->block.n; k++)
        for (int i = 0; i < s->family->nloops && e->nloops < 48 &&
                        s->block.members[k].family->nloops == s->family->nloops;
             i++) {
            e->loops[e->nloops].loop = s->block.members[k].family->loops[i];
            e->loops[e->nloops].name = e->loops[i].name;
            e->nloops++;
        }
}

void sampler_emit_index_cell(struct emitter *e, const struct step *s,
                             const struct part *p)
{
    struct compiler *c = e->c;
    if (!p->inverse)
        return;
    for (int i = 0; i < s->block.n; i++) {
        const struct family *f = s->block.members[i].family;
        if (f->var != p->inverse->var && f->var->inverse != p->inverse->var)
            continue;
        symp first[8];
        for (int d = 0; d < f->var->ndim; d++)
            first[d] = f->upper[d] ? sym_num(c, 1) : f->lower[d];
        emit_line(e, "const long long cell_ = %s;",
                  emit_cell(e, f->var, first));
        return;
    }
}

void sampler_emit_layout(struct emitter *e, const struct step *s)
{
    struct compiler *c = e->c;
    const char *at = "0";
    for (int i = 0; i < s->block.n; i++) {
        const char *count = emit_int(e, s->block.members[i].count);
        emit_line(e, "const int n%d = %s, at%d = %s; /* %s */", i, count, i, at,
                  s->block.members[i].family->var->name);
        at = intern_format(c, "at%d + n%d", i, i);
    }
    emit_line(e, "const int d = %s;", at);
}

int sampler_open_index(struct emitter *e, const struct indices *index, int i,
                       bool shared, const char **place)
{
    struct compiler *c = e->c;
    const char *number = NULL;
    *place = intern_format(c, "at%d", i);
    for (int k = 0; k < index->n; k++) {
        const char *lower = emit_int(e, index->loops[k]->lower);
        const char *upper = emit_int(e, index->loops[k]->upper);
        const char *name = emit_loop_name(e, index->loops[k]);
        if (shared && k == 0)
            emit_team_loop(e, name, lower,
                           intern_format(e->c, "(%s) + 1", upper));
        else
            emit_line(e, "for (int %s = %s; %s <= %s; %s++) {", name, lower,
                      name, upper, name);
        e->indent++;
        number = number ? intern_format(c,
                                        "(%s) * ((%s) - (%s) + 1) + %s - "
                                        "(%s)",
                                        number, upper, lower, name, lower)
                        : intern_format(c, "%s - (%s)", name, lower);
        *place = intern_format(c, "at%d + %s", i, number);
    }
    return index->n;
}

/* Members with one coordinate each are summed in variables of their own, which
 * registers hold, and then added to Q and b. */
struct local_sums {
    const char *potential[8], *precision[8][8]; /* NULL: none */
};

static struct local_sums open_sums(struct emitter *e, const struct step *s,
                                   const struct quadratic *q)
{
    struct local_sums l = {{NULL}, {{NULL}}};
    for (int i = 0; i < s->block.n && condition_part_shared_out(q->part); i++) {
        if (s->block.members[i].index.n)
            continue;
        if (!sym_is(q->potential[i], 0)) {
            l.potential[i] = emit_name(e, "b_sum");
            emit_line(e, "real %s = 0;", l.potential[i]);
        }
        for (int j = 0; j <= i; j++)
            if (!s->block.members[j].index.n &&
                !sym_is(q->precision[i][j], 0)) {
                l.precision[i][j] = emit_name(e, "Q_sum");
                emit_line(e, "real %s = 0;", l.precision[i][j]);
            }
    }
    return l;
}

static void close_sums(struct emitter *e, const struct step *s,
                       const struct local_sums *l)
{
    for (int i = 0; i < s->block.n; i++) {
        if (l->potential[i])
            emit_line(e, "b[at%d] += %s;", i, l->potential[i]);
        for (int j = 0; j <= i; j++) {
            if (!l->precision[i][j])
                continue;
            emit_line(e, "Q[at%d * d + at%d] += %s;", i, j, l->precision[i][j]);
            if (i != j)
                emit_line(e, "Q[at%d * d + at%d] += %s;", j, i,
                          l->precision[i][j]);
        }
    }
}

/* Its coefficients, potentials first. */
static const symp *coefficients(struct compiler *c, const struct step *s,
                                const struct quadratic *q, int *n)
{
    symp *all = NEW_ARRAY(c, symp, s->block.n * (s->block.n + 3) / 2);
    *n = 0;
    for (int i = 0; i < s->block.n; i++) {
        all[(*n)++] = q->potential[i];
        for (int j = 0; j <= i; j++)
            all[(*n)++] = q->precision[i][j];
    }
    return all;
}

/* What a row adds for member i; sum: the local sum that it goes to, or NULL. */
static void add_potential(struct emitter *e, const struct step *s,
                          const struct quadratic *q, int i, const char *sum)
{
    int depth = e->nloops;
    const char *row;
    if (sym_is(q->potential[i], 0))
        return;
    int n = sampler_open_index(e, &s->block.members[i].index, i, false, &row);
    const char *value = emit_expr(e, q->potential[i]);
    if (sum)
        emit_line(e, "%s += %s;", sum, value);
    else
        emit_line(e, "b[%s] += %s;", row, value);
    emit_close(e, n);
    e->nloops = depth;
}

/* The same for members i and j. */
static void add_precision(struct emitter *e, const struct step *s,
                          const struct quadratic *q, int i, int j,
                          const char *sum)
{
    const struct member *first = &s->block.members[i],
                        *second = &s->block.members[j];
    int depth = e->nloops;
    const char *row, *column;
    if (sym_is(q->precision[i][j], 0))
        return;
    int n = sampler_open_index(e, &first->index, i, false, &row);
    n += sampler_open_index(e, i == j ? &second->index2 : &second->index, j,
                            false, &column);
    const char *value = emit_expr(e, q->precision[i][j]);
    if (sum) {
        emit_line(e, "%s += %s;", sum, value);
    } else if (i == j) {
        emit_line(e, "Q[(%s) * d + %s] += %s;", row, column, value);
    } else {
        const char *name = emit_name(e, "value");
        emit_line(e, "const real %s = %s;", name, value);
        emit_line(e, "Q[(%s) * d + %s] += %s;", row, column, name);
        emit_line(e, "Q[(%s) * d + %s] += %s;", column, row, name);
    }
    emit_close(e, n);
    e->nloops = depth;
}

void sampler_emit_quadratic(struct emitter *e, const struct step *s,
                            const struct quadratic *q)
{
    struct compiler *c = e->c;
    int depth = e->nloops, nshared = e->nshared;
    emit_line(e, "{");
    e->indent++;
    sampler_emit_index_cell(e, s, q->part);
    const struct local_sums sums = open_sums(e, s, q);
    int braces = emit_unless_summed(e, q->summed ? q->part : NULL);
    int nall;
    const symp *all = coefficients(c, s, q, &nall);
    for (int i = 0; i < nall && condition_part_shared_out(q->part); i++)
        emit_shared(e, all[i]);
    bool team = e->team;
    e->in_rows = all;
    e->nin_rows = nall;
    braces += emit_open_part(e, q->part, true);
    e->nin_rows = 0;
    for (int i = 0; i < s->block.n; i++) {
        add_potential(e, s, q, i, sums.potential[i]);
        for (int j = 0; j <= i; j++)
            add_precision(e, s, q, i, j, sums.precision[i][j]);
    }
    emit_close(e, braces);
    e->team = team;
    e->nshared = nshared;
    close_sums(e, s, &sums);
    e->indent--;
    emit_line(e, "}");
    e->nloops = depth;
}

static symp coordinate(struct compiler *c, const struct member *m)
{
    const struct family *f = m->family;
    symp subs[8];
    for (int d = 0; d < f->var->ndim; d++) {
        subs[d] = f->lower[d];
        if (f->upper[d])
            subs[d] =
                sym_add(c, 3,
                        (symp[]){f->lower[d], sym_loop(c, m->index.loops[0]),
                                 sym_num(c, -1)});
        for (int i = 0; i < m->index.n && !f->nslices; i++)
            subs[d] = sym_replace_loop(c, subs[d], f->loops[i],
                                       sym_loop(c, m->index.loops[i]));
    }
    return sym_ref(c, f->var, f->var->ndim, subs);
}

const struct var *sampler_variable_of_block(struct compiler *c,
                                            const struct step *s)
{
    const struct member *m = &s->block.members[0];
    if (s->block.n != 1 || m->index.n != 1 || m->family->var->ndim != 1)
        return NULL;
    return sym_same(coordinate(c, m)->args[0], sym_loop(c, m->index.loops[0]))
               ? m->family->var
               : NULL;
}

void sampler_emit_each(struct emitter *e, const struct step *s,
                       const char *format, bool seen, bool shared)
{
    struct compiler *c = e->c;
    for (int i = 0; i < s->block.n; i++) {
        int depth = e->nloops;
        const char *place;
        int n = sampler_open_index(e, &s->block.members[i].index, i, shared,
                                   &place);
        symp cell = coordinate(c, &s->block.members[i]);
        if (seen)
            cell = sym_seen(c, cell->var, cell->nargs, cell->args);
        emit_filled(e, format, emit_expr(e, cell), place);
        emit_close(e, n);
        e->nloops = depth;
    }
}

void sampler_emit_block_comment(struct compiler *c, struct text *out,
                                const struct step *s)
{
    (void)c;
    text_append(out, "/* A joint Gaussian block:\n");
    for (int i = 0; i < s->block.n; i++)
        text_printf(out, " *     %s    %s\n", s->block.members[i].family->text,
                    text_place_in_comment(c, s->block.members[i].family->span));
    text_append(out, " * Its precision Q and potential b come from\n");
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        text_printf(out, " *     %s\n", q->part->factor->text);
    text_append(out, " */\n");
}

void sampler_emit_block_access(struct compiler *c, struct text *out,
                               const struct step *s)
{
    static const char *const heads[][2] = {
        {"int dimension", "const void *state, int64_t element"},
        {"void get", "const void *state, int64_t element, double *x"},
        {"void set", "const void *state, int64_t element, const double *x"}};
    for (int k = 0; k < 3; k++) {
        struct emitter e = emitter_new(c, out);
        text_printf(out, "static %s_%s(%s)\n{\n", heads[k][0], s->name,
                    heads[k][1]);
        emit_line(&e, "const struct state *s = (const struct state *)state;");
        sampler_open_element(&e, s);
        sampler_emit_layout(&e, s);
        if (k == 0)
            emit_line(&e, "return d;");
        else if (k == 1)
            sampler_emit_each(&e, s, "x[@] = (double)$;", false, false);
        if (k == 2)
            sampler_emit_each(&e, s, "$ = (real)x[@];", false, false);
        text_append(out, "}\n");
    }
}

void sampler_emit_assemble(struct compiler *c, struct text *out,
                           const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void assemble_%s(const struct state *s,\n    const "
                "struct gbm_team *team, long long element,\n    real "
                "*__restrict__ Q, real *__restrict__ b)\n"
                "{\n",
                s->name);
    sampler_open_element(&e, s);
    sampler_emit_layout(&e, s);
    emit_line(&e, "gbm_fill((long long)d * d, Q, 0);");
    emit_line(&e, "gbm_fill(d, b, 0);");
    bool all = false;
    struct text rows = {0}; /* where some are gone through */
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        if (condition_part_shared_out(q->part)) {
            sampler_emit_quadratic(&e, s, q);
            all = all || !q->summed;
            text_printf(&rows, "%s%s", rows.data ? " || " : "",
                        q->summed ? emit_all_count(c, q->part, false) : "true");
        }
    if (rows.data) {
        const char *where = all ? "" : intern_format(c, " && (%s)", rows.data);
        emit_line(&e, "for (int i = 0; i < d * d && team->lanes > 1%s; i++)",
                  where);
        emit_line(&e, "    Q[i] = (real)gbm_team_sum(team, Q[i]);");
        emit_line(&e, "for (int i = 0; i < d && team->lanes > 1%s; i++)",
                  where);
        emit_line(&e, "    b[i] = (real)gbm_team_sum(team, b[i]);");
    }
    text_free(&rows);
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next) {
        if (!condition_part_shared_out(q->part))
            sampler_emit_quadratic(&e, s, q);
        if (q->summed) {
            int braces = emit_if_summed(&e, q->part);
            sampler_emit_quadratic(&e, s, q->summed);
            emit_close(&e, braces);
        }
    }
    text_append(out, "}\n\n");
}

/* One line for every cell of a matrix node; as emit_each. */
void sampler_emit_matrix_cells(struct emitter *e, const struct step *s,
                               const char *format)
{
    struct compiler *c = e->c;
    const struct family *f = s->family;
    int depth = e->nloops;
    const char *place;
    int n = sampler_open_index(e, &s->block.members[0].index, 0, false, &place);
    struct loop *const second = s->block.members[0].index2.loops[0];
    const char *b = emit_open_loop(e, second, second->lower, second->upper);
    symp at[2] = {sym_loop(c, s->block.members[0].index.loops[0]),
                  sym_loop(c, second)};
    const char *cell = emit_expr(e, family_lhs(c, f, 2, at));
    emit_filled(e, format, cell,
                intern_format(c, "(%s) * d + %s - 1", place, b));
    emit_close(e, n + 1);
    e->nloops = depth;
}

void sampler_emit_vector_access(struct compiler *c, struct text *out,
                                const struct step *s, bool matrix)
{
    if (!matrix) {
        sampler_emit_block_access(c, out, s);
        return;
    }
    for (int k = 0; k < 3; k++) {
        struct emitter e = emitter_new(c, out);
        if (k == 0)
            text_printf(out,
                        "static int dimension_%s(const void *state, int64_t "
                        "element)\n{\n",
                        s->name);
        else
            text_printf(out,
                        "static void %s_%s(const void *state, int64_t element,"
                        " %sdouble *x)\n{\n",
                        k == 1 ? "get" : "set", s->name,
                        k == 1 ? "" : "const ");
        emit_line(&e, "const struct state *s = (const struct state *)state;");
        sampler_open_element(&e, s);
        sampler_emit_layout(&e, s);
        if (k == 0)
            emit_line(&e, "return d * d;");
        else
            sampler_emit_matrix_cells(
                &e, s, k == 1 ? "x[@] = (double)$;" : "$ = (real)x[@];");
        text_append(out, "}\n");
    }
}

/* Room for `cells` numbers, which follow from the dimension. One that the
 * compiler of the device knows, and can write the loops over it out, stands in
 * registers. */
void sampler_emit_room(struct emitter *e, const struct step *s,
                       const char *name, const char *cells)
{
    enum { FEW = 8 };
    const symp d = block_dimension(e->c, s);
    if (d->kind == SYM_NUM && d->number >= 1 && d->number <= FEW)
        emit_line(e, "real %s[%s];", name, cells);
    else
        emit_line(e, "GBM_SCRATCH(%s, %s_small, %s);", name, name, cells);
}

void sampler_emit_fixed(struct emitter *e, const struct step *s)
{
    sampler_emit_room(e, s, "flags", "d / 4 + 1");
    emit_line(e, "unsigned char *const fixed = (unsigned char *)flags;");
    emit_line(e, "int some = 0;");
    sampler_emit_each(e, s, "some |= fixed[@] = (unsigned char)$;", true,
                      false);
}

void sampler_emit_quadratic_form(struct emitter *e)
{
    emit_line(e, "for (int i = 0; i < d; i++) {");
    emit_line(e, "    total += (double)b[i] * x[i];");
    emit_line(e, "    for (int j = 0; j < d; j++)");
    emit_line(e, "        total -= 0.5 * (double)Q[i * d + j] * x[i] * x[j];");
    emit_line(e, "}");
    emit_line(e, "return total;");
}

/* ---- the sampler ---- */

/* Flat priors leave it to the data whether the precision is regular. */
static bool may_be_singular(const struct step *s)
{
    int flat = 0;
    for (int i = 0; i < s->block.n; i++)
        flat += sym_is(s->block.members[i].family->factor->logp, 0);
    return flat > 1;
}

static void emit_draw(struct compiler *c, struct emitter *e,
                      const struct step *s)
{
    const char *draw =
        "if (!gbm_gaussian_draw_shared(rng, team, d, Q, b, drawn))";
    if (sampler_seeks_modes(c)) {
        draw = "if (!gbm_gaussian_mean(d, Q, b, drawn))";
    } else if (may_be_singular(s)) {
        draw = "if (!gbm_gaussian_draw_flat(rng, d, Q, b, drawn))";
        sampler_emit_each(e, s, "drawn[@] = $;", false, false);
    }
    emit_line(e, "%s", draw);
    emit_line(e, "    return; /* not positive definite: the block stays */");
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    sampler_emit_block_comment(c, out, s);
    sampler_emit_assemble(c, out, s);
    struct emitter e = emitter_new(c, out);
    emit_open_update(out, s);
    sampler_open_element(&e, s);
    sampler_emit_layout(&e, s);
    sampler_emit_room(&e, s, "Q", "(long long)d * d");
    sampler_emit_room(&e, s, "b", "d");
    sampler_emit_room(&e, s, "drawn", "d");
    emit_line(&e, "assemble_%s(s, team, element, Q, b);", s->name);
    /* observed coordinates stay where they are; a member may be data */
    sampler_emit_fixed(&e, s);
    emit_line(&e, "if (some) {");
    e.indent++;
    sampler_emit_each(&e, s, "drawn[@] = $;", false, false);
    emit_line(&e, "gbm_condition_on(d, Q, b, fixed, drawn);");
    e.indent--;
    emit_line(&e, "}");
    emit_draw(c, &e, s);
    emit_line(&e, "gbm_team_sync(team);");
    sampler_emit_each(&e, s, "if (!some || !fixed[@]) $ = drawn[@];", false,
                      false);
    text_append(out, "}\n\n#ifndef __CUDACC__\n");
    sampler_emit_block_access(c, out, s);
    e = emitter_new(c, out);
    text_printf(out,
                "static double conditional_%s(const void *state, int64_t "
                "element, const double *x)\n{\n    const struct state *s = "
                "(const struct state *)state;\n",
                s->name);
    sampler_open_element(&e, s);
    sampler_emit_layout(&e, s);
    emit_line(&e, "GBM_SCRATCH(Q, Q_small, (long long)d * d);");
    emit_line(&e, "GBM_SCRATCH(b, b_small, d);");
    emit_line(&e, "assemble_%s(s, &gbm_alone, element, Q, b);", s->name);
    emit_line(&e, "double total = 0;");
    sampler_emit_quadratic_form(&e);
    text_append(out, "}\n#endif\n\n");
}

bool sampler_gaussian_proposes(const struct step *s)
{
    return s->sampler == &sampler_gaussian_block && !may_be_singular(s);
}

void sampler_emit_gaussian_proposal(struct compiler *c, struct text *out,
                                    const struct step *s)
{
    sampler_emit_assemble(c, out, s);
    struct emitter e = emitter_new(c, out);
    sampler_open_proposal(&e, s);
    sampler_emit_room(&e, s, "Q", "(long long)d * d");
    sampler_emit_room(&e, s, "b", "d");
    sampler_emit_room(&e, s, "drawn", "d");
    emit_line(&e, "assemble_%s(s, team, element, Q, b);", s->name);
    emit_line(&e, "const real density = gbm_propose_gaussian(rng, d, Q, b, "
                  "from, drawn);");
    emit_line(&e, "gbm_team_sync(team);");
    sampler_emit_each(&e, s, "$ = drawn[@];", false, false);
    emit_line(&e, "return density;");
    text_append(out, "}\n\n");
    sampler_open_keep(&e, s);
    sampler_emit_each(&e, s, "if (to) to[@] = $;", false, false);
    emit_line(&e, "return d;");
    text_append(out, "}\n\n");
}

static enum barren_unit unit(const struct step *s)
{
    return s->block.n == 1 && s->family->nslices ? BARREN_EACH
                                                 : BARREN_TOGETHER;
}

static const char *explain_block(struct compiler *c, const struct step *s)
{
    const char *d = sampler_count_text(c, block_dimension(c, s));
    if (s->family->nloops == 0)
        return intern_format(c, "Gaussian block, %s x %s", d, d);
    return intern_format(
        c, "Gaussian block, %s x %s, one per %s", d, d,
        sampler_loop_names(c, s->family->loops, s->family->nloops));
}

const char *sampler_brief_block(struct compiler *c, const struct step *s)
{
    (void)c;
    (void)s;
    return "Gaussian block";
}

const char *sampler_why_block(struct compiler *c, const struct step *s)
{
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        if (q->row || (!q->part->own && s->block.n > 1))
            return intern_format(c, "one block, as %s meet in %s",
                                 s->block.n > 1 ? "they" : "its elements",
                                 q->part->factor->text);
    return NULL;
}

const struct sampler sampler_gaussian_block = {
    .name = "Gaussian block",
    .closed = true,
    .adds_up = true,
    .unit = unit,
    .explain = explain_block,
    .brief = sampler_brief_block,
    .why = sampler_why_block,
    .emit = emit,
    .block_access = true,
    .matrix = true,
    .blocks = 1,
};
