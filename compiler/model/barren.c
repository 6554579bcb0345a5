/* barren.c: nodes without an observed descendant. They say nothing of the rest:
 * integrated out of the joint they leave it as it is (barren nodes; Shachter
 * 1986). So they are no children in anyone's conditional, and are drawn forward
 * from their distributions, parents first, when they are kept and not before.
 *
 * Leaves are so already. Of the others only the data tell which elements are
 * barren: the runtime finds them at load (runtime/load/barren.c) along what
 * each element reads. Here: for which variables that is worth asking, and their
 * factors' condition; forward.c has their steps. Where it cannot be asked,
 * elements are drawn given all else, which is right too. */
#include "model/resolve.h"
#include <string.h>

bool model_sampler_asked(const struct model *m, const struct var *v)
{
    for (const struct sampler_choice *k = m->program->samplers; k; k = k->next)
        for (int i = 0; i < k->ntargets; i++)
            if (k->targets[i]->name == v->name &&
                strcmp(k->method, "gibbs") != 0 &&
                strcmp(k->method, "enumerate") != 0)
                return true;
    return false;
}

/* ---- candidates -----------------------------------------------------------
 */

static bool takes_latent(const struct family *f)
{
    for (int i = 0; i < f->nargs; i++)
        if (sym_reads_latent(f->args[i].body))
            return true;
    return (f->trunc_lower && sym_reads_latent(f->trunc_lower)) ||
           (f->trunc_upper && sym_reads_latent(f->trunc_upper));
}

bool model_can_be_drawn(const struct family *f)
{
    return entry_clause(f->distribution, "draw") != NULL;
}

static bool in_sequence(const struct model *m, const struct family *f)
{
    for (const struct sequence *q = m->sequences; q; q = q->next)
        for (int i = 0; q->kind == SEQUENCE_START && i < q->n; i++)
            if (q->families[i] == f)
                return true;
    return false;
}

/* A node whose distribution is fixed weighs on no other: it may as well be
 * drawn in the sweep. */
static bool is_candidate(const struct model *m, const struct var *v)
{
    bool latent = false;
    if (v->role != ROLE_STOCHASTIC || v->leaf || v->supplied || v->whole ||
        v->declared_given || model_sampler_asked(m, v))
        return false;
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        if (!f->stochastic || f->data_block || f->censored || f->affine ||
            !f->factor || f->factor->opaque || !model_can_be_drawn(f) ||
            in_sequence(m, f))
            return false;
        latent = latent || takes_latent(f);
    }
    return latent;
}

/* Whether f is computed in a sweep, or drawn. */
static bool is_node(const struct family *f)
{
    return !f->auxiliary && !f->data_block &&
           (f->stochastic || (f->var->stored && !f->constant));
}

struct reading {
    struct compiler *c;
    const struct family *reader;
};

/* A reference to an element that is drawn after the reader: neither can be
 * drawn forward in the order of the families. Never true, to go on. */
static bool refuse_later(symp e, const void *context)
{
    const struct reading *r = context;
    const struct family *g = r->reader;
    if (e->kind != SYM_REF || !(e->var->barren || g->var->barren))
        return false;
    for (struct family *f = e->var->families; f; f = f->next_of_var)
        if (f != g && f->number > g->number && is_node(f) &&
            model_reads_element(r->c, e, f))
            e->var->barren = g->var->barren = false;
    return false;
}

/* What data are expected of: leaves, and all that such nodes are computed from.
 * Never true. */
static bool expect_data(symp e, const void *unused)
{
    (void)unused;
    if (e->kind == SYM_REF)
        e->var->expects_data = true;
    return false;
}

static void find_expectations(struct compiler *c, struct model *m)
{
    int n;
    struct family **all = family_list(c, m, &n);
    for (struct var *v = m->vars; v; v = v->next)
        v->expects_data = v->unread || v->declared_observed || v->supplied;
    model_expect_named(c, m);
    /* children first; once will do where arrays do not feed each other */
    for (int expected = -1, before = -2; expected != before;) {
        before = expected;
        for (int i = n - 1; i >= 0; i--)
            if (all[i]->var->expects_data)
                family_any(all[i], expect_data, NULL, true);
        expected = 0;
        for (struct var *v = m->vars; v; v = v->next)
            expected += v->expects_data;
    }
}

static symp first_cell(struct compiler *c, const struct family *f)
{
    symp one[2] = {sym_num(c, 1), sym_num(c, 1)};
    return family_lhs(c, f, 2, one);
}

void model_find_barren(struct compiler *c, struct model *m)
{
    for (struct var *v = m->vars; v; v = v->next)
        v->barren = is_candidate(m, v);
    for (struct family *f = m->families; f; f = f->next) {
        const struct reading r = {c, f};
        for (symp *e = model_sequence_expressions(c, f); is_node(f) && *e; e++)
            sym_any(*e, refuse_later, &r);
    }
    find_expectations(c, m);
    for (struct factor *g = m->factors; g; g = g->next)
        if (g->family->var->barren)
            g->seen_ref = sym_live(c, first_cell(c, g->family));
}

symp model_counted_instances(const struct factor *g)
{
    bool always = g->seen_ref && g->seen_ref->kind == SYM_LIVE &&
                  !g->seen_ref->var->barren;
    return always ? NULL : g->seen_ref;
}
