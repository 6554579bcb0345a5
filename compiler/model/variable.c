/* variable.c: a model's variables by name. */
#include "model/resolve.h"

struct var *model_find_var(struct model *m, const char *name)
{
    for (struct var *v = m->vars; v; v = v->next)
        if (v->name == name)
            return v;
    return NULL;
}

struct var *model_get_var(struct resolver *r, const char *name,
                          struct span span)
{
    struct var *v = model_find_var(r->m, name);
    if (v)
        return v;
    v = NEW(r->c, struct var);
    v->name = name;
    v->span = span;
    v->ndim = -1;
    v->role = ROLE_GIVEN;
    for (v->gathered = r->m->program->gathered;
         v->gathered && v->gathered->name != name;)
        v->gathered = v->gathered->next;
    *r->m->last_var = v;
    r->m->last_var = &v->next;
    return v;
}
