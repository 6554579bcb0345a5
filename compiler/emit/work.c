/* work.c: what a sweep does in the phases of a step (sweep/work.c), as the
 * runtime's table and the function that counts it, and what densities and
 * definitions do: for run --profile, and for what moves along lines cost. */
#include "emit/emit.h"

/* Variables that a phase reads cells of, each once. */
struct read_list {
    const struct var *items[64];
    symp turns[64];
    int n;
};

static void add_turns(struct compiler *c, struct read_list *list,
                      const struct var *v, symp turns)
{
    enum { MOST = sizeof list->items / sizeof *list->items };
    int i = 0;
    if (!v->slot || sym_is(turns, 0))
        return;
    while (i < list->n && list->items[i] != v)
        i++;
    if (i == MOST) /* what is beyond counts as of the last */
        i = MOST - 1;
    else if (i == list->n)
        list->n++, list->items[i] = v, list->turns[i] = sym_num(c, 0);
    list->turns[i] = sym_add2(c, list->turns[i], turns);
}

static struct read_list list_reads(struct compiler *c, const struct phase *p)
{
    struct read_list list = {.n = 0};
    for (int i = 0; i < p->nreads; i++)
        add_turns(c, &list, p->reads[i]->var, p->all_turns[i]);
    return list;
}

/* ---- the function ---- */

/* How often what is counted is done, in C; NULL: once. */
static const char *emit_times(struct emitter *e, const struct phase *p)
{
    struct compiler *c = e->c;
    if (p->at_load || p->in_tables) {
        const struct part rows = {.factor = p->part ? p->part->factor
                                                    : p->rows->factor};
        return intern_format(c, "%s ? 1 : 0", emit_all_count(c, &rows, false));
    }
    if (!p->lists)
        return NULL;
    const struct var *v = p->lists->var;
    symp cells = sym_num(c, 1);
    for (int d = 0; d < v->ndim; d++)
        cells = sym_mul2(c, cells, sym_extent(c, (struct var *)v, d));
    const char *listed = emit_name(e, "listed");
    emit_line(e, "long long %s = 0;", listed);
    emit_line(e, "for (long long k = 0; k < %s; k++)", emit_int(e, cells));
    emit_line(e, "    %s += %s - %s;", listed, emit_index_end(e, p->lists, "k"),
              emit_index_begin(e, p->lists, "k"));
    return listed;
}

static void put_count(struct emitter *e, const char *times, symp x)
{
    const char *value = emit_quantity(e, x);
    if (times && !sym_is(x, 0))
        emit_line(e, "*out++ = (double)(%s) * (%s);", times, value);
    else
        emit_line(e, "*out++ = %s;", value);
}

static void emit_phase_counts(struct emitter *e, const struct phase *p)
{
    const struct read_list reads = list_reads(e->c, p);
    const int depth = e->nloops;
    emit_line(e, "/* %s %s */", phase_word(p), text_in_comment(e->c, p->what));
    const char *times = emit_times(e, p);
    put_count(e, times, p->all_rows);
    put_count(e, times, p->all_operations);
    put_count(e, times, p->all_scratch);
    put_count(e, NULL, p->passes);
    for (int i = 0; i < reads.n; i++)
        put_count(e, times, reads.turns[i]);
    e->nloops = depth;
}

static bool is_subscript(symp x, const void *what)
{
    for (int i = 0; x->kind == SYM_REF && i < x->nargs; i++)
        if (sym_has(x->args[i], what))
            return true;
    return false;
}

static bool stays_integer(const struct phase *phases, symp x)
{
    for (const struct phase *p = phases; p; p = p->next) {
        if (sym_any(p->all_rows, is_subscript, x) ||
            sym_any(p->all_operations, is_subscript, x) ||
            sym_any(p->all_scratch, is_subscript, x))
            return true;
        for (int i = 0; i < p->nreads; i++)
            if (sym_any(p->all_turns[i], is_subscript, x))
                return true;
    }
    return false;
}

/* Extents and data that stand in e beside its sums, as real numbers: a product
 * of integers could be too large for one. */
static void emit_reals(struct emitter *e, const struct phase *phases, symp x)
{
    const bool scalar = x->kind == SYM_REF && x->nargs == 0;
    if ((scalar || x->kind == SYM_EXTENT) && !emit_done_before(e, x) &&
        !stays_integer(phases, x)) {
        const char *name = emit_name_of_model(e, x->var->name);
        emit_line(e, "const double %s = %s;", name, emit_expr(e, x));
        emit_remember(e, x, name);
    }
    for (int i = 0; i < x->nargs && x->kind != SYM_REF && x->kind != SYM_SUM;
         i++)
        emit_reals(e, phases, x->args[i]);
}

static void emit_function(struct text *out, struct compiler *c,
                          const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    e.shares = true;
    text_printf(out,
                "static void work_%d(const void *state, double *out)\n{\n    "
                "const struct state *s = (const struct state *)state;\n",
                s->number);
    for (const struct phase *p = s->phases; p; p = p->next) {
        emit_reals(&e, s->phases, p->all_rows);
        emit_reals(&e, s->phases, p->all_operations);
        emit_reals(&e, s->phases, p->all_scratch);
        for (int i = 0; i < p->nreads; i++)
            emit_reals(&e, s->phases, p->all_turns[i]);
    }
    for (const struct phase *p = s->phases; p; p = p->next)
        emit_phase_counts(&e, p);
    text_append(out, "}\n");
}

void emit_family_work(struct text *out, struct compiler *c,
                      const struct model *m)
{
    struct emitter e = emitter_new(c, out);
    struct phase *works = NULL, **last = &works;
    for (const struct family *f = m->families; f; f = f->next) {
        struct phase *p = *last = NEW(c, struct phase);
        p->all_rows = p->all_scratch = sym_num(c, 0);
        p->all_operations = sweep_family_work(c, f);
        last = &p->next;
    }
    e.shares = true;
    text_append(out, "static void family_work(const void *state, double *out)"
                     "\n{\n    const struct state *s = (const struct state *)"
                     "state;\n");
    for (const struct phase *p = works; p; p = p->next)
        emit_reals(&e, works, p->all_operations);
    for (const struct phase *p = works; p; p = p->next)
        put_count(&e, NULL, p->all_operations);
    text_append(out, "}\n\n");
}

/* ---- the table ---- */

static const char *phase_text(struct compiler *c, const struct phase *p)
{
    const char *rows = p->part   ? p->part->factor->text
                       : p->rows ? p->rows->text
                                 : NULL;
    return intern_format(c, "%s: %s%s%s", phase_word(p), p->what,
                         rows ? " of " : "", rows ? rows : "");
}

/* What tells which instances count, where a sum goes through all. */
static symp counted(const struct phase *p)
{
    const struct factor *g = p->part && !p->part->own ? p->part->factor
                             : p->rows && !p->keyed   ? p->rows->factor
                                                      : NULL;
    symp which = p->kind == PHASE_SUM && g ? model_counted_instances(g) : NULL;
    return which && which->var && which->var->slot ? which : NULL;
}

static void emit_phase_row(struct text *out, struct compiler *c,
                           const struct step *s, const struct phase *p)
{
    const struct read_list reads = list_reads(c, p);
    symp which = counted(p);
    text_append(out, "    {.text = ");
    emit_string(out, phase_text(c, p));
    if (p->at_least)
        text_append(out, ", .at_least = true");
    if (p->kind == PHASE_SOLVE && s->sampler->own_cost)
        text_append(out, ", .sparse = true");
    if (which)
        text_printf(out, ", .counted = %d%s", which->var->slot->number + 1,
                    which->kind == SYM_LIVE ? ", .live = true" : "");
    text_printf(out, ",\n     .nreads = %d, .nwrites = %d", reads.n,
                p->nwrites);
    for (int i = 0; i < reads.n; i++)
        text_printf(out, "%s%d", i ? ", " : ", .reads = (const int[]){",
                    reads.items[i]->slot->number);
    text_append(out, reads.n ? "}" : "");
    for (int i = 0; i < p->nwrites; i++)
        text_printf(out, "%s%d", i ? ", " : ",\n     .writes = (const int[]){",
                    p->writes[i]->number);
    text_append(out, p->nwrites ? "}},\n" : "},\n");
}

void emit_work(struct text *out, struct compiler *c, const struct step *s)
{
    emit_function(out, c, s);
    text_printf(out, "static const struct gbm_phase phases_%d[] = {\n",
                s->number);
    for (const struct phase *p = s->phases; p; p = p->next)
        emit_phase_row(out, c, s, p);
    text_append(out, "};\n\n");
}

void emit_work_row(struct text *out, const struct step *s)
{
    int n = 0;
    for (const struct phase *p = s->phases; p; p = p->next)
        n++;
    text_printf(out,
                ",\n     .nphases = %d, .phases = phases_%d, .work = work_%d",
                n, s->number, s->number);
}
