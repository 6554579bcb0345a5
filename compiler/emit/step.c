/* step.c: the functions that update a step, and its row in the host's table. */
#include "emit/emit.h"
#include <string.h>

void emit_step(struct compiler *c, struct text *out, struct step *s)
{
    if (!s->sampler)
        return;
    emit_recompute_aligned(c, out, s);
    s->sampler->emit(c, out, s);
}

/* ---- the host's table
 * ----------------------------------------------------------------------- */

static const char *names_of(struct compiler *c, const struct step *s)
{
    if (!s->block.n)
        return s->family ? s->family->var->name : s->turn.inverse->var->name;
    struct text t = {0};
    for (int i = 0; i < s->block.n; i++)
        text_printf(&t, "%s%s", i ? ", " : "",
                    s->block.members[i].family->var->name);
    return text_take(c, &t);
}

const char *emit_sampler_name(struct compiler *c, const struct step *s)
{
    const struct sampler *k = s->sampler;
    if (s->merged)
        return "in a block";
    if (!k)
        return s->turn.inverse ? "index" : "derived";
    return k->name_of ? k->name_of(c, s) : k->name;
}

/* Element numbers of a step's family that an instance ties together. */
static void emit_conflict(struct text *out, struct compiler *c,
                          const struct step *s, const struct conflict *k,
                          int number)
{
    const struct family *f = s->family;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "static int tied_%s_%d(const void *state, int64_t element, "
                "int64_t *out, int capacity)\n{\n    const struct state *s = "
                "(const struct state *)state;\n"
                "    int count = 0;\n",
                s->name, number);
    emit_decode(&e, k->factor->family, "element");
    for (int r = 0; r < k->nreferences; r++) {
        symp value[16] = {NULL};
        symp match = sym_num(c, 1), at = sym_num(c, 0);
        for (int d = 0; d < f->var->ndim; d++) {
            symp offset;
            const struct loop *l = sym_plain_loop(c, f->lower[d], &offset);
            bool own = false;
            for (int i = 0; l && i < f->nloops; i++)
                if (f->loops[i] == l) {
                    value[i] = sym_sub(c, k->references[r]->args[d], offset);
                    own = true;
                }
            if (!own)
                match =
                    sym_and(c, match,
                            sym_eq(c, k->references[r]->args[d], f->lower[d]));
        }
        for (int i = 0; i < f->nloops; i++) {
            symp low = f->loops[i]->lower, high = f->loops[i]->upper;
            match = sym_and(c, match,
                            sym_call(c, ">=", 2, (symp[]){value[i], low}));
            match = sym_and(c, match,
                            sym_call(c, "<=", 2, (symp[]){value[i], high}));
            symp extent = sym_length(c, low, high);
            at =
                sym_add2(c, sym_mul2(c, at, extent), sym_sub(c, value[i], low));
        }
        int depth = e.nloops;
        for (int b = 0; b < k->nbound[r]; b++)
            emit_open_loop(&e, k->bound[r][b], k->bound[r][b]->lower,
                           k->bound[r][b]->upper);
        emit_line(&e, "if (%s) {", emit_expr(&e, match));
        emit_line(&e, "    if (count < capacity)");
        emit_line(&e, "        out[count] = %s;", emit_int(&e, at));
        emit_line(&e, "    count++;");
        emit_line(&e, "}");
        emit_close(&e, k->nbound[r]);
        e.nloops = depth;
    }
    text_append(out, "    return count;\n}\n\n");
}

/* Terms of the sums inside an expression, as far as they are the same for all
 * elements. */
static symp sum_terms(struct compiler *c, symp e)
{
    symp total = sym_num(c, 0);
    if (e->kind == SYM_SUM && !sym_has_any_loop(e->args[0]) &&
        !sym_has_any_loop(e->args[1]))
        total = sym_length(c, e->args[0], e->args[1]);
    for (int i = 0; i < e->nargs; i++)
        total = sym_add2(c, total, sum_terms(c, e->args[i]));
    return total;
}

/* How many instances of a part an element goes through, as far as they are the
 * same for all elements; NULL: there is no loop. */
static symp instances(struct compiler *c, const struct step *s,
                      const struct part *p)
{
    symp n = sym_num(c, 1);
    bool loops = false;
    for (int i = 0; i < p->nloops && !p->own; i++) {
        if (p->solved[i] && !p->inverse)
            continue;
        symp extent = sym_length(c, p->loops[i]->lower, p->loops[i]->upper);
        bool open = false;
        for (int j = 0; j < p->nloops; j++)
            open = open || sym_has_loop(extent, p->loops[j]);
        for (int j = 0; s->family && j < s->family->nloops; j++)
            open = open || sym_has_loop(extent, s->family->loops[j]);
        if (open)
            continue;
        n = sym_mul2(c, n, extent);
        loops = true;
    }
    if (p->inverse && s->family && s->family->var->ndim)
        n = sym_div(c, n, sym_extent(c, s->family->var, 0));
    return loops ? n : NULL;
}

/* Whether the part's sums are read from tables where all instances count. */
static bool is_tallied(const struct step *s, const struct part *p)
{
    const struct part *sum = p->summed;
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        if (q->part == p && q->summed)
            sum = q->summed->part;
    return sum && sum->tallied;
}

static void emit_open_cost(struct text *out, const char *name)
{
    text_printf(out,
                "static int64_t cost_%s(const void *state)\n{\n    const "
                "struct state *s = (const struct state *)state;\n",
                name);
}

/* A gamma draw, in terms of a sum: few, as all lanes go through all cells. */
enum { DRAW_OF_A_CELL = 1 };

/* Cells of a member, at most, where its elements have not all as many. */
static symp most_cells(struct compiler *c, const struct member *m)
{
    const struct family *f = m->family;
    bool same = true;
    symp most = sym_num(c, 1);
    for (int i = 0; i < f->nloops; i++)
        same = same && !sym_has_loop(m->count, f->loops[i]);
    for (int d = 0; d < f->var->ndim && !same; d++)
        if (f->upper[d])
            most = sym_mul2(c, most, sym_extent(c, f->var, d));
    return same ? m->count : most;
}

/* What the lanes of a team draw each a share of; for a matrix they are at work
 * where there is room (runtime/cuda/plan.c). */
static symp shared_draw(struct compiler *c, const struct step *s)
{
    const bool shared = s->law.family &&
                        entry_clause(s->law.family, "draw_shared") &&
                        s->block.members[0].family->nslices == 1;
    return shared ? sym_mul2(c, sym_num(c, DRAW_OF_A_CELL),
                             most_cells(c, &s->block.members[0]))
                  : sym_num(c, 0);
}

/* The terms of the normal that moves are made of: a block's are those of its
 * parts. */
static symp around(struct compiler *c, const struct step *s)
{
    symp total = sym_num(c, 0);
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next) {
        symp n = s->sampler->around ? instances(c, s, q->part) : NULL;
        total = n ? sym_add2(c, total, n) : total;
    }
    return total;
}

/* About how many terms an element's sums have. */
static bool emit_cost(struct text *out, struct compiler *c,
                      const struct step *s)
{
    symp total = sym_add2(c, shared_draw(c, s), around(c, s));
    symp partly = sym_num(c, 0);
    const char *unless = NULL;
    for (const struct part *p = s->parts; p; p = p->next) {
        const char *this =
            is_tallied(s, p) ? emit_all_count(c, p, false) : NULL;
        symp n = instances(c, s, p);
        if (n && this && (!unless || !strcmp(this, unless))) {
            unless = this;
            partly = sym_add2(c, partly, n);
        } else if (n) {
            total = sym_add2(c, total, n);
        }
        for (int i = 0; !n && !p->opaque && i < p->terms.n; i++)
            total = sym_add2(c, total, sum_terms(c, p->terms.coefficient[i]));
    }
    if (total->kind == SYM_NUM && !unless && !s->sampler->squares)
        return false;
    struct emitter e = emitter_new(c, out);
    emit_open_cost(out, s->name);
    if (s->sampler->squares)
        emit_line(&e, "const int64_t d = count_%s(s);", s->name);
    if (unless) {
        emit_line(&e, "if (%s) {", unless);
        e.indent++;
        const char *all = emit_quantity(&e, sym_add2(c, total, partly));
        emit_line(&e, "return (int64_t)(%s);", all);
        e.indent--;
        emit_line(&e, "}");
        e.nshared = 0; /* what is computed there ends there */
    }
    const char *value = emit_quantity(&e, total);
    emit_line(&e, "return (int64_t)(%s)%s;", value,
              s->sampler->squares ? " + d * d" : "");
    text_append(out, "}\n\n");
    return true;
}

/* The device computes a table of a tally cell by cell, each from its group's
 * rows. */
static bool emit_tally_cost(struct text *out, struct compiler *c,
                            const struct step *s)
{
    const struct tally *t = s->family ? s->family->tally : NULL;
    symp rows = sym_num(c, 1);
    if (!t)
        return false;
    for (const struct step *k = s->model->steps; k != s; k = k->next)
        if (k->name == s->name)
            return true; /* the same table, due for another reason */
    for (int i = 0; i < t->rows.n; i++) {
        symp extent = sym_length(c, t->rows.lower[i], t->rows.upper[i]);
        if (!sym_has_any_loop(extent))
            rows = sym_mul2(c, rows, extent);
    }
    struct emitter e = emitter_new(c, out);
    emit_open_cost(out, s->name);
    emit_line(&e, "const int64_t rows = (int64_t)(%s);",
              emit_quantity(&e, rows));
    if (!t->index) {
        emit_line(&e, "return rows;");
    } else {
        emit_line(&e, "const int64_t groups = s->%s_n1;", t->index->var->cname);
        emit_line(&e, "return groups < 1 ? 1 : rows / groups;");
    }
    text_append(out, "}\n\n");
    return true;
}

static bool lists_members(const struct step *s)
{
    const struct sampler *k = s->sampler;
    return (s->block.n > 1 || s->whole) && !k->own_layout && !k->dense;
}

static int count_conflicts(const struct step *s)
{
    int n = 0;
    for (const struct conflict *k = s->order.conflicts; k; k = k->next)
        n++;
    return n;
}

static void emit_conflicts(struct text *out, struct compiler *c,
                           const struct step *s)
{
    int n = 0;
    for (const struct conflict *k = s->order.conflicts; k; k = k->next)
        emit_conflict(out, c, s, k, n++);
    if (!n)
        return;
    text_printf(out, "static const struct gbm_conflict tied_%s[] = {", s->name);
    n = 0;
    for (const struct conflict *k = s->order.conflicts; k; k = k->next)
        text_printf(out,
                    "%s{.family = %d, .elements = tied_%s_%d, "
                    ".capacity = %d}",
                    n ? ", " : "", k->factor->family->number, s->name, n,
                    k->sums ? 256 : k->nreferences),
            n++;
    text_append(out, "};\n");
}

static bool by_rows(const struct step *s)
{
    return s->sampler->by_rows && s->sampler->by_rows(s);
}

static void emit_run(struct text *out, struct compiler *c, const struct step *s)
{
    const struct sampler *k = s->sampler;
    const char *id = step_id(c, s);
    if (by_rows(s))
        text_printf(out, "GBM_HOST_RUN_%s(%d, %s, %s, %d)\n",
                    k->trials ? "ROWS" : "WEIGHED", s->turn.part, s->name, id,
                    s->number);
    else if (k->asks && k->asks(c, s) && k->split && k->split(s))
        text_printf(out, "GBM_HOST_RUN_BETWEEN_SPLIT(%d, %s, %s, %d, %d)\n",
                    s->turn.part, s->name, id, s->number, k->blocks);
    else if (k->asks && k->asks(c, s))
        text_printf(out, "GBM_HOST_RUN_BETWEEN(%d, %s, %d, %d)\n", s->turn.part,
                    s->name, s->number, k->blocks);
    else
        text_printf(out, "GBM_HOST_RUN(%d, %s, %d, %d, %s)\n", s->turn.part,
                    s->name, s->number, k->blocks, sweep_first_draw(s));
}

/* Returns whether there is a function cost_. */
static bool emit_step_functions(struct text *out, struct compiler *c,
                                const struct step *s)
{
    const struct sampler *k = s->sampler;
    if (k->scalar)
        emit_scalar_checks(c, out, s);
    if (emit_tilts(s))
        emit_tilt(c, out, s);
    if (k->emit_tables)
        k->emit_tables(c, out, s);
    const bool cost = k->own_cost || emit_cost(out, c, s);
    if (k->dense)
        return cost;
    emit_run(out, c, s);
    emit_conflicts(out, c, s);
    if (lists_members(s)) {
        text_printf(out, "static const int members_%s[] = {", s->name);
        for (int i = 0; i < s->block.n; i++)
            text_printf(out, "%s%d", i ? ", " : "",
                        s->block.members[i].family->number);
        text_append(out, "};\n");
    }
    return cost;
}

/* The functions by which the self-check reads and moves an element. */
static void emit_access_row(struct text *out, const char *id,
                            const char *conditional)
{
    text_printf(out,
                ",\n     .block_size = dimension_%s, .block_get = get_%s, "
                ".block_set = set_%s, .conditional = conditional_%s",
                id, id, id, conditional);
}

/* At which blocks of threads would wait that draw one number together: around
 * each sum that they share, of slices at each trial, and around what is stored.
 * 0: they do not, as it has no long sum, or there are many such numbers. */
static int barriers_of(const struct step *s)
{
    int sums = s->law.n, shared = 0;
    if (!s->sampler->by_many || s->family->nloops || s->through)
        return 0;
    for (const struct part *p = s->parts; p; p = p->next) {
        shared += condition_part_shared_out(p);
        sums += p->opaque && condition_part_shared_out(p);
    }
    for (const struct bound *b = s->support.bounds; b; b = b->next)
        sums += condition_part_shared_out(b->part);
    return shared ? 2 * sums + 4 : 0;
}

static void emit_integrated_row(struct text *out, struct compiler *c,
                                const struct step *s)
{
    const char *id = step_id(c, s);
    int n = 0;
    for (const struct part *p = s->integrated; p; p = p->next)
        n += condition_is_full(p);
    text_printf(out,
                ",\n     .integrated = integrated_%s, .nodes_out = "
                "nodes_out_%s, .nnodes_out = %d",
                id, id, n);
}

static const struct slot *recalled_slot(const struct model *m,
                                        const struct step *s)
{
    const struct slot *k = m->slots;
    while (k && !(k->kind == SLOT_RECALLED && k->step == s))
        k = k->next;
    return k;
}

static void emit_sampler_row(struct text *out, struct compiler *c,
                             const struct model *m, const struct step *s)
{
    const struct slot *recalled = recalled_slot(m, s);
    const struct sampler *k = s->sampler;
    if (k->trials)
        text_append(out, ", .trials = true");
    if (k->split && k->split(s))
        text_append(out, ", .split = true");
    if (s->asked.word)
        text_append(out, ", .asked = true");
    if (s->integrated)
        emit_integrated_row(out, c, s);
    if (k->repairs)
        text_append(out, ", .repairs = true");
    if (s->order.conflicts && !k->dense && !s->order.sequential) {
        text_printf(out, ",\n     .nconflicts = %d, .conflicts = tied_%s",
                    count_conflicts(s), s->name);
    }
    if (k->emit_row)
        k->emit_row(c, out, s);
    if (recalled)
        text_printf(out, ", .recalled = %d", recalled->number + 1);
    if (barriers_of(s))
        text_printf(out, ", .barriers = %d", barriers_of(s));
    if (s->whole)
        text_append(out, ", .whole = true");
    if (lists_members(s))
        text_printf(out, ",\n     .members = members_%s, .nmembers = %d",
                    s->name, s->block.n);
    if (!k->dense)
        text_printf(out, ",\n     .run = %s_run", s->name);
    if (!k->dense && k->blocks && !by_rows(s))
        text_printf(out, ", .blocks = %d, .normals = GBM_NORMALS_FIRST(%s)",
                    k->blocks, sweep_first_draw(s));
    const char *id = step_id(c, s);
    if (by_rows(s))
        text_printf(out, ", .sizes = sizes_%s", id);
    if (s->sampler->checked ? s->sampler->checked(s) : k->scalar)
        emit_access_row(out, id, intern_format(c, "%s_at", id));
    if (emit_tilts(s))
        text_printf(out, ", .tilt = tilt_%s", id);
    if (k->block_access)
        emit_access_row(out, s->name, s->name);
    if (k->matrix && !s->whole)
        text_append(out, ",\n     .matrix = true");
}

static void emit_weighted_row(struct text *out, struct compiler *c,
                              const struct family *f)
{
    const struct slot *marks = f->tally->rows.weights->marks;
    text_printf(out, ", .weighted = lengths_%s", family_id(c, f));
    if (marks)
        text_printf(out, ", .marks = %d", marks->number + 1);
}

/* What runs: a sampler's function for each element, or the library's for a
 * dense block, or the device's own. */
static const char *kind_of(const struct step *s)
{
    if (s->sampler)
        return s->sampler->dense ? "GBM_STEP_DENSE" : "GBM_STEP_MAP";
    return s->turn.inverse ? "GBM_STEP_INDEX" : "GBM_STEP_DERIVE";
}

static bool one_at_a_time(const struct step *s)
{
    if (s->sampler)
        return s->order.sequential && !s->sampler->dense;
    return s->family && s->family->recursive;
}

/* The steps before each that it may not change places with, but for what these
 * wait for themselves. */
static void emit_waits(struct text *out, struct compiler *c,
                       const struct model *m)
{
    bool **after = NEW_ARRAY(c, bool *, m->nsteps); /* whatever lies between */
    for (const struct step *s = m->steps; s; s = s->next) {
        bool *mine = after[s->number] = NEW_ARRAY(c, bool, m->nsteps);
        int *last = NEW_ARRAY(c, int, m->nsteps), n = 0;
        for (const struct step *k = m->steps; k != s; k = k->next)
            if (!sweep_may_swap(k, s))
                last[n++] = k->number;
        text_printf(out, "static const int waits_%d[] = {", s->number);
        for (int i = n - 1; i >= 0; i--) {
            if (mine[last[i]])
                continue;
            text_printf(out, "%d, ", last[i]);
            mine[last[i]] = true;
            for (int k = 0; k < last[i]; k++)
                mine[k] = mine[k] || after[last[i]][k];
        }
        text_append(out, "-1};\n");
    }
}

void emit_steps(struct text *out, struct compiler *c, const struct model *m)
{
    bool *cost = NEW_ARRAY(c, bool, m->nsteps);
    for (const struct step *s = m->steps; s; s = s->next)
        cost[s->number] = s->sampler ? emit_step_functions(out, c, s)
                                     : emit_tally_cost(out, c, s);
    for (const struct step *s = m->steps; s; s = s->next)
        emit_work(out, c, s);
    text_append(out, "\n");
    emit_waits(out, c, m);
    text_append(out, "static const struct gbm_step steps[] = {\n");
    for (const struct step *s = m->steps; s; s = s->next) {
        text_printf(out,
                    "    {.kind = %s, .name = \"%s\",\n     .variable = "
                    "\"%s\", .sampler = \"%s\",\n     .family = %d, .number = "
                    "%d, .sequential = %d, .leaf = %d, .inverse = %d",
                    kind_of(s), s->name, names_of(c, s),
                    emit_sampler_name(c, s), s->family ? s->family->number : -1,
                    s->number, one_at_a_time(s), s->turn.late,
                    s->turn.inverse ? s->turn.inverse->number : -1);
        if (s->turn.after)
            text_printf(out, ", .after = %d", s->turn.after->number + 1);
        if (s->turn.again)
            text_append(out, ", .defers = 1");
        if (s->beside.block && !s->beside.always)
            text_printf(out, ", .otherwise = %d", s->beside.block->number + 1);
        if (s->turn.due_whole)
            text_printf(out, ", .due_whole = %d",
                        s->turn.due_whole->slot->number + 1);
        if (s->turn.due_partly)
            text_printf(out, ", .due_partly = %d",
                        s->turn.due_partly->slot->number + 1);
        text_append(out, ",\n     .text = ");
        emit_string(out, s->family ? s->family->text : "");
        if (s->sampler)
            emit_sampler_row(out, c, m, s);
        if (cost[s->number])
            text_printf(out, ",\n     .cost = cost_%s", s->name);
        if (!s->sampler && s->family && emit_tally_beside(s->family))
            text_append(out, ", .beside = true");
        if (!s->sampler && s->family && emit_tally_weighted(s->family))
            emit_weighted_row(out, c, s->family);
        emit_work_row(out, s);
        text_printf(out, ",\n     .waits = waits_%d},\n", s->number);
    }
    text_append(out, "};\n\n");
}
