/* block_members.c: the coordinates of a block's members, and the elements that
 * an instance of a factor has of them. */
#include "sampler/block.h"

void block_no_values(struct compiler *c, const struct family *f,
                     struct plate_values *v)
{
    v->first = f;
    for (int i = 0; i < f->nloops; i++)
        v->values[i] = sym_loop(c, f->loops[i]);
}

bool block_values_of_part(struct compiler *c, const struct family *f,
                          const struct part *p, struct plate_values *v)
{
    block_no_values(c, f, v);
    if (p->own || !p->reference ||
        (p->reference->var != f->var && p->reference->var != f->var->inverse))
        return true;
    bool found[12] = {false};
    for (int d = 0; d < f->var->ndim; d++) {
        symp offset;
        const struct loop *l =
            f->upper[d] ? NULL : sym_plain_loop(c, f->lower[d], &offset);
        for (int i = 0; l && i < f->nloops; i++)
            if (f->loops[i] == l) {
                v->values[i] = sym_sub(c, p->reference->args[d], offset);
                found[i] = true;
            }
    }
    for (int i = 0; i < f->nloops; i++)
        if (!found[i])
            return false;
    return true;
}

symp block_member_cell(struct compiler *c, const struct member *m,
                       const struct indices *index,
                       const struct plate_values *v)
{
    const struct family *f = m->family;
    const bool plate = m->index.n && !f->nslices; /* itself is the index */
    symp subs[8];
    for (int d = 0; d < f->var->ndim; d++) {
        symp e = f->lower[d];
        if (f->upper[d])
            e = sym_add(
                c, 3,
                (symp[]){e, sym_loop(c, index->loops[0]), sym_num(c, -1)});
        for (int i = 0; i < f->nloops; i++)
            e = sym_replace_loop(c, e, f->loops[i],
                                 plate ? sym_loop(c, index->loops[i])
                                       : v->values[i]);
        subs[d] = e;
    }
    return sym_ref(c, f->var, f->var->ndim, subs);
}

/* Loops through a vector node's components, or a plate's elements. */
struct indices block_index_loops(struct compiler *c, const struct family *f,
                                 const char *name)
{
    struct indices x = {.n = f->nslices ? 1 : f->nloops};
    for (int i = 0; i < x.n; i++) {
        struct loop *l = x.loops[i] = NEW(c, struct loop);
        l->name = i ? intern_format(c, "%s%d", name, i + 1) : name;
        l->lower = f->nslices ? sym_num(c, 1) : f->loops[i]->lower;
        l->upper = f->nslices ? family_extent(c, f, 0) : f->loops[i]->upper;
    }
    return x;
}

void block_set_members(struct compiler *c, struct step *s,
                       struct family *const *families, int n, bool dense)
{
    s->block.n = n;
    for (int i = 0; i < n; i++) {
        struct member *m = &s->block.members[i];
        m->family = families[i];
        bool indexed =
            families[i]->nslices == 1 || (dense && families[i]->nloops > 0);
        struct indices none = {.n = 0};
        m->index = indexed ? block_index_loops(c, families[i], "a") : none;
        s->block.members[i].index2 =
            indexed ? block_index_loops(c, families[i], "b") : none;
        m->count = sym_num(c, 1);
        for (int k = 0; k < m->index.n; k++) {
            const struct loop *l = m->index.loops[k];
            m->count = sym_mul2(c, m->count, sym_length(c, l->lower, l->upper));
        }
    }
}

struct part *sampler_own_prior(struct compiler *c, const struct family *f)
{
    struct part *p = NEW(c, struct part);
    p->factor = f->factor;
    p->own = true;
    p->loops = NEW_ARRAY(c, struct loop *, 1);
    p->solved = NEW_ARRAY(c, symp, 1);
    p->reference = family_lhs(c, f, 0, NULL);
    p->logp = f->factor->logp;
    return p;
}
