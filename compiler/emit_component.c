/* emit_component.c: what the sampler needs to order elements at load: the cells
 * that an element reads, and the derived families that are computed in turns
 * (see component.c). */
#include "gbmc.h"

static bool reads_component(symp e, int component)
{
    if (e->kind == SYM_REF)
        for (const struct family *f = e->var->families; f; f = f->next_of_var)
            if (f->component == component)
                return true;
    for (int i = 0; i < e->nargs; i++)
        if (reads_component(e->args[i], component))
            return true;
    return false;
}

static bool random_subscript(symp e)
{
    if (e->kind == SYM_REF && e->var->role != ROLE_GIVEN &&
        e->var->role != ROLE_CONSTANT)
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (random_subscript(e->args[i]))
            return true;
    return false;
}

static void open_loop(struct emitter *e, const char *name, const char *lower,
                      const char *upper)
{
    emit_line(e, "for (int %s = %s; %s <= %s; %s++) {", name, lower, name,
              upper, name);
    e->indent++;
}

/* read(...) for a reference; a subscript that is drawn may be any. */
static void emit_reference(struct emitter *e, symp x)
{
    const struct var *v = x->var;
    symp at[8];
    int opened = 0, depth = e->nloops;
    struct text inside = {0};
    for (int d = 0; d < x->nargs; d++) {
        const char *extent = intern_format(e->c, "s->%s_n%d", v->cname, d + 1);
        at[d] = x->args[d];
        if (random_subscript(x->args[d])) {
            struct loop *any = NEW(e->c, struct loop);
            any->name = intern(e->c, "any");
            open_loop(e, emit_loop_name(e, any), "1", extent);
            at[d] = sym_loop(e->c, any);
            opened++;
            continue;
        }
        const char *value = emit_int(e, at[d]);
        text_printf(&inside, "%s%s >= 1 && %s <= %s", inside.data ? " && " : "",
                    value, value, extent);
    }
    if (inside.data)
        emit_line(e, "if (%s)", inside.data);
    emit_line(e, "%sread(context, %d, %s);", inside.data ? "    " : "", v->slot,
              emit_cell(e, v, at));
    text_free(&inside);
    emit_close(e, opened);
    e->nloops = depth;
}

static void emit_reads(struct emitter *e, symp x, int component)
{
    int depth = e->nloops, opened = 0;
    if (!reads_component(x, component))
        return;
    if (x->kind == SYM_SUM) {
        emit_reads(e, x->args[0], component);
        emit_reads(e, x->args[1], component);
        const char *lower = emit_int(e, x->args[0]);
        const char *upper = emit_int(e, x->args[1]);
        open_loop(e, emit_loop_name(e, x->loop), lower, upper);
        emit_reads(e, x->args[2], component);
        opened = 1;
    } else if (x->kind == SYM_ARRAY) {
        for (; opened < x->nloops; opened++) {
            const char *upper = emit_int(e, x->args[1 + opened]);
            open_loop(e, emit_loop_name(e, x->loops[opened]), "1", upper);
        }
        emit_reads(e, x->args[0], component);
    } else {
        for (int i = 0; i < x->nargs; i++)
            emit_reads(e, x->args[i], component);
        if (x->kind == SYM_REF) {
            bool own = false;
            for (const struct family *f = x->var->families; f;
                 f = f->next_of_var)
                own = own || f->component == component;
            if (own)
                emit_reference(e, x);
        }
    }
    emit_close(e, opened);
    e->nloops = depth;
}

void emit_component_reads(struct text *out, struct compiler *c,
                          const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "static void reads_%s(const void *state, int64_t element,\n"
                "    void (*read)(void *, int, int64_t), void *context)\n{\n"
                "    const struct state *s = (const struct state *)state;\n"
                "    (void)s;\n    (void)element;\n    (void)read;\n"
                "    (void)context;\n",
                family_id(c, f));
    emit_decode(&e, f, "element");
    for (int i = 0; i < e.nloops; i++)
        emit_line(&e, "(void)%s;", e.loops[i].name);
    int depth = e.nloops, opened = 0;
    for (; f->body && !f->whole_call && opened < f->nslices; opened++)
        open_loop(&e, emit_loop_name(&e, f->slice[opened]), "1",
                  emit_int(&e, family_extent(c, f, opened)));
    if (f->body)
        emit_reads(&e, f->body, f->component);
    emit_close(&e, opened);
    e.nloops = depth;
    for (int i = 0; i < f->nargs; i++) {
        const struct value *v = &f->args[i];
        if (!reads_component(v->body, f->component))
            continue;
        for (opened = 0; opened < v->ndim; opened++)
            open_loop(&e, emit_loop_name(&e, v->loops[opened]), "1",
                      emit_int(&e, v->extents[opened]));
        emit_reads(&e, v->body, f->component);
        emit_close(&e, opened);
        e.nloops = depth;
    }
    if (f->trunc_lower)
        emit_reads(&e, f->trunc_lower, f->component);
    if (f->trunc_upper)
        emit_reads(&e, f->trunc_upper, f->component);
    text_append(out, "}\n");
}

const char *together_id(struct compiler *c, const struct together *t)
{
    return intern_format(c, "together_%s", family_id(c, t->first));
}

void emit_together(struct compiler *c, struct text *out, const struct model *m,
                   const struct together *t)
{
    const char *id = together_id(c, t);
    text_append(out, "/* Each after those that it reads, in an order that is "
                     "found at load:\n");
    for (const struct family *f = m->families; f; f = f->next)
        if (f->together == t)
            text_printf(out, " *   %s\n", f->text);
    text_printf(out,
                " */\nGBM_FN void derive_%s(const struct state *s, const "
                "struct gbm_team *team, long long place)\n{\n"
                "    const long long element = s->%s[2 * place + 1];\n"
                "    switch (s->%s[2 * place]) {\n",
                id, id, id);
    for (const struct family *f = m->families; f; f = f->next)
        if (f->together == t)
            text_printf(out,
                        "    case %d:\n        derive_%s(s, team, element);\n"
                        "        break;\n",
                        f->number, family_id(c, f));
    text_printf(out,
                "    }\n}\n#ifndef __CUDACC__\nGBM_HOST_DERIVE(derive_%s)\n"
                "#endif\n",
                id);
    text_printf(out,
                "GBM_FN void derive_all_%s(const struct state *s, const "
                "struct gbm_team *team)\n{\n    gbm_team_sync(team);\n"
                "    for (long long place = 0; place < s->%s_n; place++)\n"
                "        derive_%s(s, team, place);\n"
                "    gbm_team_sync(team);\n}\n\n",
                id, id, id);
}
