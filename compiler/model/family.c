/* family.c: what a family is called, and the shape of its loops and left-hand
 * side. */
#include "model/model.h"

static const char *numbered(struct compiler *c, const struct family *f,
                            const char *name)
{
    if (!f->var->families->next_of_var)
        return name;
    int n = 1;
    for (const struct family *g = f->var->families; g != f; g = g->next_of_var)
        n++;
    return intern_format(c, "%s_%d", name, n);
}

const char *family_id(struct compiler *c, const struct family *f)
{
    return numbered(c, f, f->var->cname);
}

const char *family_label(struct compiler *c, const struct family *f)
{
    return numbered(c, f, f->var->name);
}

bool family_rectangular(const struct family *f)
{
    for (int i = 0; i < f->nloops; i++)
        for (int j = 0; j < i; j++)
            if (sym_has_loop(f->loops[i]->lower, f->loops[j]) ||
                sym_has_loop(f->loops[i]->upper, f->loops[j]))
                return false;
    return true;
}

symp family_elements(struct compiler *c, const struct family *f)
{
    symp n = sym_num(c, 1);
    for (int i = 0; i < f->nloops; i++)
        n = sym_mul2(c, n,
                     sym_length(c, f->loops[i]->lower, f->loops[i]->upper));
    return n;
}

bool family_may_have(const struct family *f, symp reference)
{
    for (int d = 0; d < reference->nargs; d++)
        if (!f->upper[d] && f->lower[d]->kind == SYM_NUM &&
            reference->args[d]->kind == SYM_NUM &&
            f->lower[d]->number != reference->args[d]->number)
            return false;
    return true;
}

static bool reads_element(symp e, const void *context)
{
    const struct family *f = context;
    return sym_reads_var(e, f->var) && family_may_have(f, e);
}

bool family_is_read(const struct family *f, symp e)
{
    return sym_any_with(e, f->var, reads_element, f);
}

bool family_plain(struct compiler *c, const struct family *f)
{
    if (!family_rectangular(f) || f->nslices)
        return false;
    int found = 0;
    for (int d = 0; d < f->var->ndim; d++) {
        symp offset;
        const struct loop *l = sym_plain_loop(c, f->lower[d], &offset);
        bool own = false;
        for (int i = 0; l && i < f->nloops; i++)
            own = own || f->loops[i] == l;
        for (int i = 0; i < f->nloops; i++)
            if (!own && sym_has_loop(f->lower[d], f->loops[i]))
                return false;
        found += own;
    }
    return found == f->nloops;
}

/* Calls f on every expression of a family. */
bool family_any(const struct family *f, sym_test test, const void *context,
                bool with_lhs)
{
    bool found = false;
    if (f->body)
        found = sym_any(f->body, test, context) || found;
    for (int i = 0; i < f->nargs; i++) {
        found = sym_any(f->args[i].body, test, context) || found;
        for (int d = 0; d < f->args[i].ndim; d++)
            found = sym_any(f->args[i].extents[d], test, context) || found;
    }
    if (f->stated)
        found = sym_any(f->stated, test, context) || found;
    if (f->trunc_lower)
        found = sym_any(f->trunc_lower, test, context) || found;
    if (f->trunc_upper)
        found = sym_any(f->trunc_upper, test, context) || found;
    for (int i = 0; i < f->nloops; i++) {
        found = sym_any(f->loops[i]->lower, test, context) || found;
        found = sym_any(f->loops[i]->upper, test, context) || found;
    }
    for (int d = 0; with_lhs && d < f->var->ndim; d++) {
        found = sym_any(f->lower[d], test, context) || found;
        if (f->upper[d])
            found = sym_any(f->upper[d], test, context) || found;
    }
    return found;
}
