/* known.c: what the data named at compilation settle (--data). A stochastic
 * variable whose every value is there is no longer a node to draw: what reads
 * it reads data. So it becomes two of the same name: a given one, which all
 * statements read, and a leaf, which keeps its statements. A regression on it
 * is then linear, and a block need not hold it. */
#include "data.h"
#include "resolve.h"

static bool complete(const struct gbm_array *a)
{
    for (int64_t i = 0; a->missing && i < a->length; i++)
        if (a->missing[i])
            return false;
    return true;
}

static bool random_throughout(const struct var *v)
{
    if (v->role != ROLE_STOCHASTIC || v->whole)
        return false;
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (!f->stochastic || f->data_block)
            return false;
    return true;
}

static bool is_read(const struct model *m, struct var *v)
{
    for (const struct family *f = m->families; f; f = f->next)
        if (family_any(f, reads_var, v, f->var != v))
            return true;
    return false;
}

static void split(struct resolver *r, struct var *v)
{
    struct var *leaf = NEW(r->c, struct var);
    *leaf = *v;
    leaf->next = NULL;
    *r->m->last_var = leaf;
    r->m->last_var = &leaf->next;
    for (struct family *f = leaf->families; f; f = f->next_of_var)
        f->var = leaf;
    v->families = NULL;
    v->role = ROLE_GIVEN;
    v->used = true;
}

bool split_known(struct resolver *r)
{
    struct compiler *c = r->c;
    struct gbm_data data = {.allow_nonfinite = true};
    bool any = false, good = true;
    for (int i = 0; good && i < c->options.ndata; i++) {
        char error[GBM_ERROR];
        good = gbm_data_read(&data, c->options.data[i], error) == GBM_OK;
        if (!good)
            error_at(c, (struct span){0}, "%s", error);
    }
    for (struct var *v = r->m->vars; good && v; v = v->next) {
        const struct gbm_array *a = gbm_data_find(&data, v->name);
        if (!a || !complete(a) || !random_throughout(v) || !is_read(r->m, v))
            continue;
        split(r, v);
        any = true;
    }
    gbm_data_free(&data);
    return any;
}
