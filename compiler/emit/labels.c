/* labels.c: what dimensions are called in the model, for the runtime to label
 * them: the loop index that subscripts one on left-hand sides, and the name of
 * its size. Where statements differ it has none. */
#include "emit/emit.h"

#include <string.h>

/* The scalar that an expression is, by its name; NULL: it is another. */
static const char *scalar_name(symp e)
{
    return e && e->kind == SYM_REF && e->nargs == 0 ? e->var->name : NULL;
}

static bool is_one(symp e) { return e && e->kind == SYM_NUM && e->number == 1; }

/* The loop of a statement that dimension d runs along, or NULL. */
static const struct loop *loop_of(const struct family *f, int d)
{
    return !f->upper[d] && f->lower[d] && f->lower[d]->kind == SYM_LOOP
               ? f->lower[d]->loop
               : NULL;
}

static const char *index_name(const struct family *f, int d)
{
    const struct loop *l = loop_of(f, d);
    return l ? l->name : NULL;
}

static const char *size_name(const struct family *f, int d)
{
    const struct loop *l = loop_of(f, d);
    if (l)
        return is_one(l->lower) ? scalar_name(l->upper) : NULL;
    return is_one(f->lower[d]) ? scalar_name(f->upper[d]) : NULL;
}

typedef const char *name_of(const struct family *f, int d);

/* What all statements of a variable say. */
static const char *common_name(const struct var *v, int d, name_of *name)
{
    const char *found = v->families ? name(v->families, d) : NULL;
    for (const struct family *f = v->families; f && found; f = f->next_of_var) {
        const char *other = name(f, d);
        if (!other || strcmp(other, found) != 0)
            return NULL;
    }
    return found;
}

void emit_labels(struct text *out, const struct var *v)
{
    const char *indices[MAX_DIMS], *sizes[MAX_DIMS];
    bool any = false, any_size = false;

    for (int d = 0; d < v->ndim; d++) {
        indices[d] = common_name(v, d, index_name);
        sizes[d] = v->declared[d] ? scalar_name(v->declared[d])
                                  : common_name(v, d, size_name);
        any = any || indices[d];
        any_size = any_size || sizes[d];
    }
    for (int d = 0; d < v->ndim && any; d++)
        text_printf(out, "%s%s%s", d ? "," : ", .indices = \"",
                    indices[d] ? indices[d] : "", d + 1 < v->ndim ? "" : "\"");
    for (int d = 0; d < v->ndim && any_size; d++)
        text_printf(out, "%s%s%s", d ? "," : ", .sizes = \"",
                    sizes[d] ? sizes[d] : "", d + 1 < v->ndim ? "" : "\"");
}
