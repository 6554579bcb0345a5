/* sequence.c: what an element reads; families whose elements are put into
 * one sequence, which that orders at load, and the function that recomputes
 * them all. */
#include "emit/emit.h"

/* ---- what an element reads (host only) --------------------------------------
 */

/* Whose cells are told. */
static bool has_member(const struct sequence *q, const struct var *v)
{
    if (q->kind == SEQUENCE_PARENTS)
        return v->role == ROLE_STOCHASTIC || v->role == ROLE_DERIVED;
    for (int i = 0; i < q->n; i++)
        if (q->families[i]->var == v)
            return true;
    return false;
}

static bool is_member(symp e, const void *sequence)
{
    return e->kind == SYM_REF && has_member(sequence, e->var);
}

static bool reads_member(symp e, const struct sequence *q)
{
    return sym_any(e, is_member, q);
}

static void emit_visits(struct emitter *e, const struct sequence *q, symp x);

static void visit_any_cell(struct emitter *e, const struct sequence *q,
                           const struct var *v)
{
    if (q->kind == SEQUENCE_READ || q->kind == SEQUENCE_PARENTS)
        emit_line(e, "visit(context, %d, -1);", v->slot->number);
}

/* Which cells x reads is not known: any order may be right, but what may be
 * read is all of the arrays. */
static void visit_unknown(struct emitter *e, const struct sequence *q, symp x)
{
    if (is_member(x, q))
        visit_any_cell(e, q, x->var);
    for (int i = 0; i < x->nargs; i++)
        if (reads_member(x->args[i], q))
            visit_unknown(e, q, x->args[i]);
}

static void visit_children(struct emitter *e, const struct sequence *q, symp x)
{
    for (int i = 0; i < x->nargs; i++)
        emit_visits(e, q, x->args[i]);
}

static void visit_cell(struct emitter *e, const struct sequence *q, symp x)
{
    for (int d = 0; d < x->nargs; d++)
        if (sym_reads_latent(x->args[d]) || reads_member(x->args[d], q)) {
            visit_any_cell(e, q, x->var);
            return;
        }
    emit_line(e, "{");
    e->indent++;
    for (int d = 0; d < x->nargs; d++)
        emit_line(e, "const int at%d_ = %s;", d + 1, emit_int(e, x->args[d]));
    struct text in = {0}, cell = {0};
    text_append(&in, "1");
    text_append(&cell, "0");
    for (int d = 0; d < x->nargs; d++) {
        text_printf(&in, " && at%d_ >= 1 && at%d_ <= s->%s_n%d", d + 1, d + 1,
                    x->var->cname, d + 1);
        char *head = cell.data;
        cell = (struct text){0};
        text_printf(&cell, "(%s) * s->%s_n%d + at%d_ - 1", head, x->var->cname,
                    d + 1, d + 1);
        text_free(&(struct text){.data = head});
    }
    emit_line(e, "if (%s)", in.data);
    emit_line(e, "    visit(context, %d, (int64_t)(%s));", x->var->slot->number,
              cell.data);
    text_free(&in);
    text_free(&cell);
    emit_close(e, 1);
}

static void visit_sum(struct emitter *e, const struct sequence *q, symp x)
{
    if (sym_reads_latent(x->args[0]) || sym_reads_latent(x->args[1])) {
        visit_unknown(e, q, x);
        return;
    }
    int depth = e->nloops;
    emit_open_loop(e, x->loop, x->args[0], x->args[1]);
    emit_visits(e, q, x->args[2]);
    emit_close(e, 1);
    e->nloops = depth;
}

static void visit_array(struct emitter *e, const struct sequence *q, symp x)
{
    int depth = e->nloops;
    for (int d = 0; d < x->nloops; d++)
        if (sym_reads_latent(x->args[1 + d])) {
            visit_unknown(e, q, x);
            return;
        }
    for (int d = 0; d < x->nloops; d++) {
        const char *upper = emit_int(e, x->args[1 + d]);
        const char *i = emit_loop_name(e, x->loops[d]);
        emit_line(e, "for (int %s = 1; %s <= %s; %s++) {", i, i, upper, i);
        e->indent++;
    }
    emit_visits(e, q, x->args[0]);
    emit_close(e, x->nloops);
    e->nloops = depth;
}

static void visit_select(struct emitter *e, const struct sequence *q, symp x)
{
    emit_visits(e, q, x->args[0]);
    bool known = !sym_reads_latent(x->args[0]) && !reads_member(x->args[0], q);
    for (int i = 1; i <= 2; i++) {
        if (!reads_member(x->args[i], q))
            continue;
        if (known) {
            emit_line(e, i == 1 ? "if (%s) {" : "if (!(%s)) {",
                      emit_expr(e, x->args[0]));
            e->indent++;
        }
        emit_visits(e, q, x->args[i]);
        if (known)
            emit_close(e, 1);
    }
}

static void emit_visits(struct emitter *e, const struct sequence *q, symp x)
{
    if (!reads_member(x, q))
        return;
    switch (x->kind) {
    case SYM_REF:
        visit_children(e, q, x);
        if (has_member(q, x->var))
            visit_cell(e, q, x);
        return;
    case SYM_SUM:
        visit_sum(e, q, x);
        return;
    case SYM_ARRAY:
        visit_array(e, q, x);
        return;
    case SYM_SELECT:
        visit_select(e, q, x);
        return;
    case SYM_NUM:
    case SYM_LOOP:
    case SYM_EXTENT:
    case SYM_SEEN:
    case SYM_LIVE:
    case SYM_TARGET:
    case SYM_PARAM:
    case SYM_ADD:
    case SYM_MUL:
    case SYM_POW:
    case SYM_CALL:
        visit_children(e, q, x);
        return;
    }
    UNREACHABLE();
}

static symp *read_expressions(struct compiler *c, const struct sequence *q,
                              const struct family *f)
{
    return q->kind == SEQUENCE_GAPS || q->kind == SEQUENCE_PARENTS
               ? model_written_expressions(c, f)
               : model_sequence_expressions(c, f);
}

/* Array arguments of a distribution stand for all their elements. */
static void visit_family(struct compiler *c, struct emitter *e,
                         const struct sequence *q, const struct family *f)
{
    symp *list = read_expressions(c, q, f);
    for (int i = 0; list[i]; i++) {
        int depth = e->nloops, braces = 0;
        const struct value *v =
            f->stochastic && i < f->nargs ? &f->args[i] : NULL;
        bool known = true;
        for (int d = 0; v && d < v->ndim; d++)
            known = known && !sym_reads_latent(v->extents[d]);
        for (int d = 0; known && v && d < v->ndim; d++, braces++) {
            const char *upper = emit_int(e, v->extents[d]);
            const char *k = emit_loop_name(e, v->loops[d]);
            emit_line(e, "for (int %s = 1; %s <= %s; %s++) {", k, k, upper, k);
            e->indent++;
        }
        bool given = q->kind == SEQUENCE_PARENTS && list[i]->kind == SYM_REF &&
                     !has_member(q, list[i]->var);
        if (known && given) /* messages show it */
            visit_cell(e, q, list[i]);
        if (known)
            emit_visits(e, q, list[i]);
        else
            visit_unknown(e, q, list[i]);
        emit_close(e, braces);
        e->nloops = depth;
    }
}

static void emit_reads(struct compiler *c, struct text *out,
                       const struct sequence *q, const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    if (q->kind == SEQUENCE_PARENTS)
        text_printf(out, "static void parents_%s", family_id(c, f));
    else
        text_printf(out, "static void reads_%d_%s", q->number, family_id(c, f));
    text_append(out,
                "(const void *state, int64_t element,\n"
                "    void (*visit)(void *context, int variable, int64_t cell),"
                "\n    void *context)\n{\n"
                "    const struct state *s = (const struct state *)state;\n");
    if (f->nloops)
        emit_decode(&e, f, "element");
    visit_family(c, &e, q, f);
    text_append(out, "}\n");
}

void emit_sequences(struct compiler *c, struct text *out, const struct model *m)
{
    static const char *const kinds[] = {
        "GBM_SEQUENCE_LOAD", "GBM_SEQUENCE_START", "GBM_SEQUENCE_REFRESH"};
    for (const struct sequence *q = m->sequences; q; q = q->next) {
        for (int i = 0; i < q->n; i++)
            emit_reads(c, out, q, q->families[i]);
        text_printf(out, "static const struct gbm_reader readers_%d[] = {\n",
                    q->number);
        for (int i = 0; i < q->n; i++)
            text_printf(out, "    {.family = %d, .reads = reads_%d_%s},\n",
                        q->families[i]->number, q->number,
                        family_id(c, q->families[i]));
        text_append(out, "};\n\n");
    }
    text_append(out, "static const struct gbm_sequence sequences[] = {\n");
    for (const struct sequence *q = m->sequences; q; q = q->next)
        text_printf(out,
                    "    {.kind = %s, .readers = readers_%d, .nreaders = %d, "
                    ".slot = %d},\n",
                    kinds[q->kind], q->number, q->n,
                    q->order ? q->order->number : -1);
    text_append(out, "    {.nreaders = 0}};\n\n");
}

void emit_parents(struct compiler *c, struct text *out, const struct family *f)
{
    struct sequence q = {.kind = SEQUENCE_PARENTS};
    emit_reads(c, out, &q, f);
}

/* Derived nodes through which a variable that may be barren is read. */
static bool leads_to_barren(const struct model *m, const struct family *f)
{
    bool leads = false;
    for (const struct var *v = m->vars; v; v = v->next)
        leads = leads || (v->barren && model_derived_depends(m, f->var, v));
    return leads && !f->stochastic && f->var->stored;
}

/* Whether the statement fills its array: x[i,j] for i in 1:n and j in 1:m. */
static bool fills(struct compiler *c, const struct family *f)
{
    for (int d = 0; d < f->var->ndim; d++) {
        symp offset;
        if (f->upper[d] && sym_is(f->lower[d], 1))
            continue;
        const struct loop *l =
            f->upper[d] ? NULL : sym_plain_loop(c, f->lower[d], &offset);
        if (!l || !sym_is(offset, 0) || !sym_is(l->lower, 1))
            return false;
    }
    return family_rectangular(f);
}

static bool may_have_gaps(struct compiler *c, const struct var *v)
{
    return v->ndim > 0 && v->families &&
           (v->role == ROLE_STOCHASTIC || v->role == ROLE_DERIVED ||
            v->role == ROLE_CONSTANT) &&
           (v->families->next_of_var || !fills(c, v->families));
}

/* What q's readers read of its families' variables. */
static bool emit_table(struct compiler *c, struct text *out,
                       const struct model *m, const struct sequence *q,
                       const char *name)
{
    if (!q->n)
        return false;
    struct text table = {0};
    for (struct family *f = m->families; f; f = f->next) {
        bool reads = false;
        for (symp *e = read_expressions(c, q, f); *e; e++)
            reads = reads || reads_member(*e, q);
        if (!reads || f->auxiliary ||
            (f->data_block && q->kind == SEQUENCE_READ) ||
            (q->kind == SEQUENCE_READ && !f->stochastic &&
             !leads_to_barren(m, f)))
            continue;
        emit_reads(c, out, q, f);
        text_printf(&table, "    {.family = %d, .reads = reads_%d_%s},\n",
                    f->number, q->number, family_id(c, f));
    }
    const bool any = table.data != NULL;
    if (any)
        text_printf(out,
                    "static const struct gbm_reader %s[] = {\n%s"
                    "    {.family = -1}};\n\n",
                    name, table.data);
    text_free(&table);
    return any;
}

static struct sequence new_table(struct compiler *c, const struct model *m,
                                 enum sequence_kind kind)
{
    struct sequence q = {.kind = kind, .number = kind == SEQUENCE_GAPS};
    int n = 0;
    for (const struct sequence *s = m->sequences; s; s = s->next)
        q.number++;
    for (const struct family *f = m->families; f; f = f->next)
        n++;
    q.families = NEW_ARRAY(c, struct family *, n);
    return q;
}

void emit_readers(struct compiler *c, struct text *out, const struct model *m,
                  bool *readers, bool *gaps)
{
    struct sequence read = new_table(c, m, SEQUENCE_READ);
    struct sequence gap = new_table(c, m, SEQUENCE_GAPS);
    for (struct family *f = m->families; f; f = f->next) {
        if ((f->var->barren && f->stochastic) || leads_to_barren(m, f))
            read.families[read.n++] = f;
        if (may_have_gaps(c, f->var))
            gap.families[gap.n++] = f;
    }
    *readers = emit_table(c, out, m, &read, "readers");
    *gaps = emit_table(c, out, m, &gap, "gap_readers");
}

/* Whether what f computes or its density may depend on the target through
 * stored nodes, or directly. */
static bool on_the_way(struct compiler *c, const struct sequence *q,
                       const struct family *f)
{
    bool reads = false;
    for (symp *e = read_expressions(c, q, f); *e; e++)
        reads = reads || reads_member(*e, q);
    return reads && !f->data_block && !f->auxiliary && !f->for_updates &&
           (f->stochastic || f->var->stored);
}

static void emit_ways(struct compiler *c, struct text *out,
                      const struct model *m, const struct inverse *i)
{
    struct sequence q = new_table(c, m, SEQUENCE_READ);
    q.number += 2 + i->number;
    for (struct family *f = m->families; f; f = f->next)
        if (f == i->reach || (!f->stochastic && f->var->stored &&
                              model_derived_depends(m, f->var, i->var)))
            q.families[q.n++] = f;
    struct text table = {0};
    for (const struct family *f = m->families; f; f = f->next) {
        if (!on_the_way(c, &q, f))
            continue;
        emit_reads(c, out, &q, f);
        text_printf(&table, "    {.family = %d, .reads = reads_%d_%s},\n",
                    f->number, q.number, family_id(c, f));
    }
    text_printf(out,
                "static const struct gbm_reader ways_%d[] = {\n%s"
                "    {.family = -1}};\n\n",
                i->number, table.data ? table.data : "");
    text_free(&table);
}

void emit_reach_readers(struct compiler *c, struct text *out,
                        const struct model *m)
{
    for (const struct inverse *i = m->inverses; i; i = i->next) {
        const struct inverse *first = m->inverses;
        while (first->reach != i->reach)
            first = first->next;
        if (i->reach && i == first)
            emit_ways(c, out, m, i);
    }
}

/* ---- recomputing ------------------------------------------------------------
 */

void emit_sequence_place(struct emitter *e, const struct sequence *q,
                         const char *place)
{
    emit_line(e, "const int element = s->%s[2 * %s + 1];", q->order->member,
              place);
    emit_line(e, "switch (s->%s[2 * %s]) {", q->order->member, place);
    e->indent++;
    for (int i = 0; i < q->n; i++) {
        emit_line(e, "case %d:", i);
        emit_line(e, "    derive_%s(s, team, element);",
                  family_id(e->c, q->families[i]));
        emit_line(e, "    break;");
    }
    emit_close(e, 1);
}

/* refresh_ of each member: the first one's recomputes all, in turn. */
void emit_refresh(struct compiler *c, struct text *out,
                  const struct sequence *q)
{
    const char *first = family_id(c, q->families[0]);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "/* in the order found at load */\n"
                "GBM_FN void derive_all_%s(const struct state *s, const struct "
                "gbm_team *team)\n{\n    gbm_team_sync(team);\n",
                first);
    emit_line(&e, "for (int at = 0; at < s->%s_n1; at++) {", q->order->member);
    e.indent++;
    emit_sequence_place(&e, q, "at");
    emit_close(&e, 1);
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n");
    for (int i = 0; i < q->n; i++) {
        const char *id = family_id(c, q->families[i]);
        text_printf(out,
                    "GBM_FN void refresh_%s(const struct state *s, const "
                    "struct gbm_team *team, long long element)\n{\n",
                    id);
        if (i == 0)
            text_printf(out,
                        "    if (element == 0)\n        derive_all_%s(s, "
                        "team);\n",
                        id);
        text_printf(out,
                    "}\n#ifndef __CUDACC__\nGBM_HOST_DERIVE(refresh_%s)\n"
                    "#endif\n\n",
                    id);
    }
}
