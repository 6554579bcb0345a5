/* expected.c: factors with discrete nodes in expectation, for EM (gbmc
 * --with=expectation). Of
 *     z[i] ~ dcat(pi[]);  y[i] ~ dnorm(mu[z[i]], tau[z[i]])
 * the expected log density given probabilities w[i,k] of z[i] = k is a sum over
 * i and k, whose factors
 *     w[i,k] log(pi[k]);  w[i,k] (the log density of y[i] where z[i] is k)
 * have the loop of k beside the others and z no more: what was drawn given z is
 * a full conditional of these as of others, with weighted sums in the place of
 * counts. The probabilities are an array of their own, which the step of z sets
 * from the factors as they were (sampler/expectation.c).
 *
 * Only where all discrete nodes are independent given the rest, each with the
 * same finite support, and are read as they are; else none is, and the runtime
 * takes the expectation element by element (runtime/modes/expectation.c).
 *
 * Dempster, Laird and Rubin (1977), Maximum likelihood from incomplete data via
 * the EM algorithm, JRSS B 39. */
#include "model/resolve.h"

/* ---- whether ------------------------------------------------------------- */

static bool is_discrete(const struct family *f)
{
    return f->stochastic && !f->data_block && f->factor && !f->var->leaf &&
           f->var->role == ROLE_STOCHASTIC && model_draws_integers(f);
}

static bool is_fixed(symp end)
{
    return end && sym_fixed(end) && !sym_has_any_loop(end);
}

/* One array, a plate, of numbers between the same two ends. */
static bool has_values(struct compiler *c, const struct family *f)
{
    return f->var->families == f && !f->next_of_var && family_plain(c, f) &&
           f->nloops < MAX_DIMS && f->nloops == f->var->ndim &&
           is_fixed(f->factor->lower) && is_fixed(f->factor->upper);
}

/* Where an expression reads a discrete node. */
struct reading {
    const struct model *m;
    const struct factor *in;
    const struct family *node; /* NULL: none was met */
    symp reference;
    bool several; /* two nodes, or what is computed from one and kept */
};

static const struct family *discrete_of(const struct var *v)
{
    return v->families && is_discrete(v->families) ? v->families : NULL;
}

static bool reads_kept(const struct model *m, const struct var *v)
{
    for (const struct family *f = m->families; f && v->stored; f = f->next)
        if (is_discrete(f) && model_derived_depends(m, v, f->var))
            return true;
    return false;
}

/* Never true, to go on. */
static bool note_reading(symp e, const void *context)
{
    struct reading *r = *(struct reading *const *)context;
    if (e->kind != SYM_REF)
        return false;
    const struct family *f = discrete_of(e->var);
    r->several = r->several || reads_kept(r->m, e->var);
    if (!f)
        return false;
    r->several = r->several || (r->reference && !sym_same(r->reference, e));
    r->node = f;
    r->reference = e;
    return false;
}

static bool is_other_loop(symp e, const void *context)
{
    const struct factor *g = context;
    return e->kind == SYM_LOOP && !sym_has_loop_of(e, g->loops, g->nloops);
}

static void read_in(struct reading *r, symp e)
{
    if (e)
        sym_any(e, note_reading, &r);
}

/* The discrete node that g reads; false if it cannot be in expectation there.
 */
static bool find_reading(const struct model *m, const struct factor *g,
                         struct reading *r)
{
    *r = (struct reading){.m = m, .in = g};
    read_in(r, g->logp);
    if (!r->node || r->several)
        return !r->several;
    const bool own = g->family == r->node;
    struct reading ends = {.m = m, .in = g};
    for (int k = 0; k < 2 && !own; k++)
        read_in(&ends, k ? g->upper : g->lower);
    for (int d = 0; d < r->reference->nargs; d++)
        if (sym_any(r->reference->args[d], is_other_loop, g) ||
            sym_reads_latent(r->reference->args[d]))
            return false;
    return !ends.node && !g->opaque && g->nloops < MAX_LOOPS &&
           (own || g->family->var->leaf);
}

static bool can_be_expected(struct compiler *c, const struct model *m)
{
    bool any = false;
    for (const struct family *f = m->families; f; f = f->next) {
        if (!is_discrete(f))
            continue;
        any = true;
        if (!has_values(c, f))
            return false;
    }
    for (const struct factor *g = m->factors; g && any; g = g->next) {
        struct reading r;
        if (!find_reading(m, g, &r))
            return false;
    }
    return any;
}

/* ---- how ------------------------------------------------------------------
 */

static symp number_of_values(struct compiler *c, const struct family *f)
{
    return sym_length(c, f->factor->lower, f->factor->upper);
}

/* A loop of its own over the values of node f. */
static struct loop *loop_of_values(struct compiler *c, const struct family *f)
{
    struct loop *values = NEW(c, struct loop);
    *values = (struct loop){.name = intern(c, "value"),
                            .lower = sym_num(c, 1),
                            .upper = number_of_values(c, f)};
    return values;
}

/* The value that place k, from 1 on, stands for. */
static symp value_at(struct compiler *c, const struct family *f, symp k)
{
    return sym_add(c, 3, (symp[]){f->factor->lower, k, sym_num(c, -1)});
}

/* An array that the step of node f sets, with a cell for each element and, with
 * `values`, each of its values. */
static struct var *new_array(struct compiler *c, struct model *m,
                             const struct family *f, const char *name,
                             struct loop *values)
{
    struct family *k = NEW(c, struct family);
    k->nloops = f->nloops + (values != NULL);
    k->loops = NEW_ARRAY(c, struct loop *, k->nloops + 1);
    for (int d = 0; d < f->nloops; d++)
        k->loops[d] = f->loops[d];
    if (values)
        k->loops[f->nloops] = values;
    k->span = f->span;
    k->for_updates = k->set_by_step = true;
    k->body = sym_num(c, 0);
    struct var *v = model_new_array(
        c, m, intern_format(c, "%s.%s", family_label(c, f), name), k);
    for (int d = 0; d < f->nloops; d++)
        k->lower[d] = f->lower[d];
    v->role = ROLE_DERIVED;
    v->stored = true;
    struct family **last = &m->families;
    while (*last)
        last = &(*last)->next;
    *last = k;
    m->last_family = &k->next;
    return v;
}

/* What the weights begin with, and are of an observed node. */
static symp first_weight(struct compiler *c, const struct family *f, symp place)
{
    symp node = sym_ref(c, f->var, f->var->ndim, f->lower);
    return sym_select(c, sym_seen(c, f->var, f->var->ndim, f->lower),
                      sym_eq(c, node, value_at(c, f, place)),
                      sym_div(c, sym_num(c, 1), number_of_values(c, f)));
}

static void add_weights(struct compiler *c, struct model *m, struct family *f)
{
    struct loop *values = loop_of_values(c, f);
    f->var->weights = new_array(c, m, f, "weights", values);
    f->var->weights->families->body = first_weight(c, f, sym_loop(c, values));
    f->var->total = new_array(c, m, f, "total", NULL);
}

/* g in expectation over the node that r is of. */
static struct factor *expected(struct compiler *c, struct factor *g,
                               const struct reading *r)
{
    const struct family *f = r->node;
    struct factor *e = NEW(c, struct factor);
    struct loop *value = loop_of_values(c, f);
    symp at[MAX_DIMS + 1];
    for (int d = 0; d < r->reference->nargs; d++)
        at[d] = r->reference->args[d];
    at[r->reference->nargs] = sym_loop(c, value);
    symp weight = sym_ref(c, f->var->weights, r->reference->nargs + 1, at);
    symp is = value_at(c, f, sym_loop(c, value));
    *e = *g;
    e->loops = NEW_ARRAY(c, struct loop *, g->nloops + 1);
    for (int i = 0; i < g->nloops; i++)
        e->loops[i] = g->loops[i];
    e->loops[e->nloops++] = value;
    e->logp = sym_mul2(c, weight, sym_replace(c, g->logp, r->reference, is));
    e->plain = e->logp;
    if (g->rule)
        e->rule = sym_replace(c, g->rule, r->reference, is);
    if (g->family == f)
        e->value = e->lower = e->upper = NULL;
    e->actual = g;
    return e;
}

void model_take_expectations(struct compiler *c, struct model *m)
{
    if (!(c->options.with & WITH_EXPECTATION) || !can_be_expected(c, m))
        return;
    for (struct family *f = m->families; f; f = f->next)
        if (is_discrete(f))
            add_weights(c, m, f);
    family_number(m);
    for (struct factor **link = &m->factors; *link; link = &(*link)->next) {
        struct reading r;
        if (!find_reading(m, *link, &r) || !r.node)
            continue;
        *link = expected(c, *link, &r);
    }
    m->last_factor = &m->factors;
    while (*m->last_factor)
        m->last_factor = &(*m->last_factor)->next;
}
