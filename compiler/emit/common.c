/* common.c: what several files write: strings, how functions begin, a family's
 * cell and the loops over its slices. */
#include "emit/emit.h"
#include <string.h>

void emit_string(struct text *out, const char *s)
{
    text_append(out, "\"");
    for (; s && *s; s++) {
        if (*s == '\n')
            text_append(out, s[1] ? "\\n\"\n\"" : "\\n");
        else
            text_escape(out, (unsigned char)*s);
    }
    text_append(out, "\"");
}

void emit_open_element_function(struct emitter *e, const struct family *f,
                                const char *head)
{
    text_printf(e->out, "%s\n{\n", head);
    if (f->nloops)
        emit_decode(e, f, "element");
}

void emit_open_host_function(struct emitter *e, const struct family *f,
                             const struct host_function *h)
{
    emit_open_element_function(
        e, f,
        intern_format(e->c,
                      "static %s %s_%s_in(const struct state *s, int64_t "
                      "element%s)",
                      h->type, h->name, family_id(e->c, f), h->parameters));
}

void emit_close_host_function(struct emitter *e, const struct family *f,
                              const struct host_function *h)
{
    const char *id = family_id(e->c, f);
    text_printf(
        e->out,
        "}\nstatic %s %s_%s(const void *state, int64_t element%s)\n{\n"
        "    %s%s_%s_in((const struct state *)state, element%s);\n}\n\n",
        h->type, h->name, id, h->parameters,
        strcmp(h->type, "void") == 0 ? "" : "return ", h->name, id,
        h->arguments);
}

int emit_open_slices(struct emitter *e, const struct family *f, symp *at)
{
    struct compiler *c = e->c;
    static const char *const names[] = {"row", "column"};
    int braces = 0;
    for (int i = 0; i < f->nslices; i++) {
        struct loop *l = NEW(c, struct loop);
        l->name = names[i];
        const char *extent = emit_int(e, family_extent(c, f, i));
        const char *name = emit_loop_name(e, l);
        emit_line(e, "for (int %s = 1; %s <= %s; %s++) {", name, name, extent,
                  name);
        e->indent++;
        braces++;
        at[i] = sym_loop(c, l);
    }
    return braces;
}

const char *emit_place_in_slices(struct emitter *e, const struct family *f,
                                 const symp *at, const char *width)
{
    const char *row = emit_expr(e, at[0]);
    return f->nslices == 2 ? intern_format(e->c, "(%s - 1) * (%s) + %s - 1",
                                           row, width, emit_expr(e, at[1]))
                           : intern_format(e->c, "%s - 1", row);
}

bool emit_loops_in_scope(const struct emitter *e, symp x)
{
    if (x->kind == SYM_LOOP) {
        for (int i = 0; i < e->nloops; i++)
            if (e->loops[i].loop == x->loop)
                return true;
        return false;
    }
    for (int i = 0; i < x->nargs; i++)
        if (!emit_loops_in_scope(e, x->args[i]))
            return false;
    return true;
}

const char *emit_free_index(const struct entry *d, const struct expr *e)
{
    if (e->kind == EXPR_SUM)
        return NULL;
    if (e->kind == EXPR_NAME && e->nargs == 0) {
        if (!strcmp(e->name, "inf"))
            return NULL;
        for (int i = 0; i < d->nparameters; i++) {
            if (d->parameters[i].name == e->name)
                return NULL;
            for (int k = 0; k < d->parameters[i].ndims; k++)
                if (d->parameters[i].dims[k] == e->name)
                    return NULL;
        }
        for (int k = 0; d->result && k < d->result->ndims; k++)
            if (d->result->dims[k] == e->name)
                return NULL;
        return e->name;
    }
    const char *found = NULL;
    for (int i = 0; i < e->nargs && !found; i++)
        found = emit_free_index(d, e->args[i]);
    return found;
}

void emit_open_update(struct text *out, const struct step *s)
{
    text_printf(out,
                "GBM_FN void %s(const struct state *s, struct gbm_rng *rng,\n"
                "    const struct gbm_team *team, long long element, "
                "int adapting)\n{\n",
                s->name);
}

const char *emit_target(struct emitter *e, const struct family *f)
{
    return f->var->ndim
               ? emit_expr(e, sym_ref(e->c, f->var, f->var->ndim, f->lower))
               : intern_format(e->c, "*s->%s", f->var->cname);
}

void emit_bind_scalars(struct emitter *e, const struct family *f)
{
    struct compiler *c = e->c;
    const struct entry *d = f->distribution;
    for (int i = 0; i < f->nargs; i++) {
        if (f->args[i].ndim)
            continue;
        const char *value =
            emit_expr(e, model_substitute_derived(c, f->args[i].body));
        const char *name = emit_name_of_model(e, d->parameters[i].name);
        emit_line(e, "const real %s = %s;", name, value);
        emit_param(e, d->parameters[i].name, name);
    }
}

bool emit_has_array_argument(const struct family *f)
{
    for (int i = 0; i < f->nargs; i++)
        if (f->args[i].ndim)
            return true;
    return false;
}
