/* condition.c: for each family its full conditional: the own prior and every
 * factor that mentions it, as sufficient statistics with coefficients where
 * the algebra closes, else as log densities to be evaluated in place.
 *
 * Requires a resolved (and possibly augmented) model; adds one step a family.
 */
#include "condition/find.h"

static void add_part(struct step *s, struct part *p)
{
    struct part **last = &s->parts;
    while (*last)
        last = &(*last)->next;
    *last = p;
}

/* Subscripts of the target: NULL for the dimensions of a vector node. */
static void target_subscripts(const struct family *f, symp *target)
{
    for (int d = 0; d < f->var->ndim; d++)
        target[d] = f->upper[d] ? NULL : f->lower[d];
}

static void own_part(struct compiler *c, struct step *s, struct factor *own,
                     const symp *target)
{
    struct part *p = NEW(c, struct part);
    p->factor = own;
    p->own = true;
    p->nloops = 0;
    p->loops = NEW_ARRAY(c, struct loop *, 1);
    p->solved = NEW_ARRAY(c, symp, 1);
    p->reference = own->value;
    condition_part(c, s, p, NULL, false, target);
    add_part(s, p);
}

/* References within sums before the others, whose instances they cover. */
static void sums_first(struct finder *f)
{
    for (int i = 1; i < f->n; i++) {
        struct found r = f->found[i];
        int to = i;
        for (; to > 0 && r.nbound && !f->found[to - 1].nbound; to--)
            f->found[to] = f->found[to - 1];
        f->found[to] = r;
    }
}

/* Whether lower:upper is all that a dimension has, or the target's loop. */
static bool runs_over_all(const struct family *f, int d, symp target,
                          symp lower, symp upper)
{
    if (sym_is(lower, 1) && upper->kind == SYM_EXTENT && upper->var == f->var &&
        upper->dim == d)
        return true;
    const struct loop *l = target->kind == SYM_LOOP ? target->loop : NULL;
    return l && l->lower && sym_same(l->lower, lower) &&
           sym_same(l->upper, upper);
}

/* That the sums around reference r run over the target, of what they sum over
 * a part of; in the part's loops. 1: over all elements. */
static symp within_runs(struct compiler *c, const struct part *p,
                        const struct family *f, const struct found *r,
                        const symp *target)
{
    symp within = sym_num(c, 1), lower, upper;
    for (int d = 0; d < r->reference->nargs; d++) {
        if (!target[d] || !condition_ends_of_run(c, r, d, &lower, &upper) ||
            runs_over_all(f, d, target[d], lower, upper))
            continue;
        lower = condition_in_part(c, p, lower);
        upper = condition_in_part(c, p, upper);
        within = sym_and(c, within,
                         sym_call(c, ">=", 2, (symp[]){target[d], lower}));
        within = sym_and(c, within,
                         sym_call(c, "<=", 2, (symp[]){target[d], upper}));
    }
    return within;
}

/* An instance that an earlier reference has taken is not taken again. A
 * subscript that runs in a sum hits every element; with `tied`, the target's
 * family, those alone that it runs over. */
static void leave_taken(struct compiler *c, struct part *p,
                        const struct found *earlier, const struct found *r,
                        const symp *target, const struct family *tied)
{
    symp hit = sym_num(c, 1);
    if (tied)
        hit = within_runs(c, p, tied, earlier, target);
    for (int d = 0; d < earlier->reference->nargs; d++) {
        symp e = earlier->reference->args[d];
        if (!target[d] || sym_has_loop_of(e, earlier->bound, earlier->nbound))
            continue;
        bool runs = sym_has_loop_of(r->reference->args[d], r->bound, r->nbound);
        hit = sym_and(c, hit,
                      sym_eq(c, condition_in_part(c, p, e),
                             runs ? target[d] : p->reference->args[d]));
    }
    if (!sym_is(hit, 0))
        condition_add_guard(
            c, p, sym_is(hit, 1) ? sym_num(c, 0) : sym_call(c, "!", 1, &hit));
}

/* Drops references that hit other statements' elements alone: of beta[i,1]
 * beta[i,2] is as good as another variable. */
static void leave_other_statements(struct compiler *c, struct model *m,
                                   const struct family *f, struct factor *g,
                                   struct finder *refs, const symp *target)
{
    int n = 0;
    for (int i = 0; i < refs->n; i++) {
        if (!family_may_have(f, refs->found[i].reference))
            continue;
        struct part *p = condition_whole_part(c, g);
        condition_match_reference(c, m, p, &refs->found[i], target);
        if (!p->guard || !sym_is(p->guard, 0))
            refs->found[n++] = refs->found[i];
    }
    refs->n = n;
}

static bool reads_by_itself(symp e, const void *var)
{
    if (e->kind != SYM_REF || e->var != var)
        return false;
    for (int d = 0; d < e->nargs; d++)
        if (sym_has_var(e->args[d], var))
            return true;
    return false;
}

/* Whether an element of v is the subscript of another, z[z[i]]: which instances
 * of g an element reaches moves with it, between its trial values and from one
 * element to the next, and no index tells them. */
static bool indexes_itself(const struct factor *g, const struct var *v)
{
    return sym_any_with(g->logp, v, reads_by_itself, v) ||
           (g->lower && sym_any_with(g->lower, v, reads_by_itself, v)) ||
           (g->upper && sym_any_with(g->upper, v, reads_by_itself, v));
}

/* All of the part's instances count, each evaluated in place. */
static void add_in_place(struct compiler *c, struct step *s, struct part *p)
{
    const struct factor *g = p->factor;
    p->opaque = true;
    p->logp = condition_in_part(c, p, g->logp);
    p->value = condition_in_part(c, p, g->value);
    p->lower = condition_in_part(c, p, g->lower);
    p->upper = condition_in_part(c, p, g->upper);
    add_part(s, p);
}

/* Whether every statistic of g's parts is free of the array's other elements:
 * then no element waits for another on its account. */
static bool is_separable(const struct step *s, const struct factor *g)
{
    for (const struct part *p = s->parts; p; p = p->next)
        for (int i = 0; p->factor == g && i < p->terms.n; i++)
            if (p->opaque ||
                sym_has_var(p->terms.coefficient[i], s->family->var))
                return false;
    return true;
}

/* closed: g is in closed form. */
static void parts_of_factor(struct compiler *c, struct model *m, struct step *s,
                            struct factor *g, const symp *target, bool closed);

/* Whether the parts of `as` collect, as those of g do not. */
static bool collects_as(struct compiler *c, struct model *m,
                        const struct step *s, struct factor *g,
                        struct factor *as, const symp *target)
{
    struct inverse **last = m->last_inverse;
    const int n = m->ninverses;
    struct step as_is = {.family = s->family,
                         .model = s->model,
                         .name = s->name,
                         .support.lower = s->support.lower,
                         .support.upper = s->support.upper};
    struct step closed = as_is;
    parts_of_factor(c, m, &as_is, g, target, false);
    parts_of_factor(c, m, &closed, as, target, true);
    condition_gather_statistics(&as_is);
    condition_gather_statistics(&closed);
    *last = NULL;
    m->last_inverse = last;
    m->ninverses = n;
    return (as_is.opaque || as_is.through) && !closed.opaque &&
           !closed.through && closed.parts && is_separable(&closed, as);
}

/* g with what depends on the target through recursions and products in closed
 * form, or with its logarithms case by case, if that makes its parts collect,
 * as they did not before; else g. */
static struct factor *in_closed_form(struct compiler *c, struct model *m,
                                     const struct step *s, struct factor *g,
                                     const symp *target)
{
    const struct var *v = s->family->var;
    if (s->family->nslices || model_draws_integers(s->family) || g->opaque ||
        (g->lower && condition_through_stored(m, g->lower, v)) ||
        (g->upper && condition_through_stored(m, g->upper, v)))
        return g;
    const symp logp[] = {model_by_products(c, m, g->logp, s->family),
                         condition_by_cases(c, g->logp, v),
                         condition_by_inverses(c, s, g->logp)};
    for (size_t i = 0; i < sizeof logp / sizeof *logp; i++) {
        if (!logp[i])
            continue;
        struct factor *as = NEW(c, struct factor);
        *as = *g;
        as->logp = logp[i];
        if (collects_as(c, m, s, g, as, target))
            return as;
    }
    return g;
}

/* Takes back the indices from `first` on that none of the step's parts has. */
static void drop_unused(struct model *m, const struct step *s,
                        struct inverse **first)
{
    while (*first) {
        bool used = false;
        for (const struct part *p = s->parts; p; p = p->next)
            used = used || p->inverse == *first;
        if (used)
            first = &(*first)->next;
        else
            *first = (*first)->next;
    }
    m->last_inverse = first;
    m->ninverses = 0;
    for (struct inverse *i = m->inverses; i; i = i->next)
        i->number = m->ninverses++;
}

/* False if g surely has no parts: by its references, before any of what follows
 * is built, as in a model of many statements most have nothing to do with each
 * other. */
static bool may_have_parts(struct compiler *c, const struct model *m,
                           const struct step *s, const struct factor *g)
{
    const struct family *f = s->family;
    if (s->view.as || g->opaque || g->family == f || g == f->factor ||
        condition_is_observed_sum(c, g))
        return true;
    return family_is_read(f, g->logp) ||
           (g->lower && family_is_read(f, g->lower)) ||
           (g->upper && family_is_read(f, g->upper)) ||
           condition_factor_through(m, g, f->var) || indexes_itself(g, f->var);
}

static void child_parts(struct compiler *c, struct model *m, struct step *s,
                        struct factor *g, const symp *target, bool as_it_is)
{
    g = model_seen_by(c, s->family, g);
    if (!may_have_parts(c, m, s, g))
        return;
    struct factor *as = as_it_is ? g : in_closed_form(c, m, s, g, target);
    bool sequential = s->order.sequential;
    struct conflict *conflicts = s->order.conflicts;
    struct inverse **last = m->last_inverse;
    parts_of_factor(c, m, s, as, target, as != g);
    if (as == g)
        return;
    s->view.closed_form = true;
    s->order.sequential = sequential;
    s->order.conflicts = conflicts;
    drop_unused(m, s, last);
}

/* A factor that depends on the target through derived nodes that are kept. */
static void part_through(struct compiler *c, struct model *m, struct step *s,
                         struct factor *g)
{
    const struct family *f = s->family;
    const struct alignment *alignments = condition_find_alignments(c, m, f);
    symp at[8];
    if (!s->through && (alignments || f->nloops > 0))
        s->view.reached = condition_reached_definitions(c, m, s, alignments);
    s->through = true;
    add_in_place(c, s, condition_reached_part(c, m, s, alignments, g, at));
    s->order.sequential =
        s->order.sequential || !condition_apart(s, alignments, at);
}

/* Whether it has all instances. */
static bool takes_all(const struct part *p)
{
    for (int k = 0; k < p->nloops; k++)
        if (p->solved[k])
            return false;
    return !p->inverse && !p->guard;
}

/* A part for each reference: of the instances that no earlier one has. */
static void parts_of_references(struct compiler *c, struct model *m,
                                struct step *s, struct factor *g,
                                const struct finder *refs, bool own,
                                const struct family *tied, const symp *target)
{
    const struct family *f = s->family;
    symp self = sym_ref(c, f->var, f->var->ndim, f->lower);
    struct found *before = NEW_ARRAY(c, struct found, refs->n + 1);
    int nbefore = 0;
    if (own)
        before[nbefore++] = (struct found){.reference = self};
    for (int i = 0; i < refs->n; i++) {
        const struct found *r = &refs->found[i];
        if (own && condition_same_node(f, r->reference, self))
            continue;
        struct part *p = condition_whole_part(c, g);
        condition_match_reference(c, m, p, r, target);
        if (p->guard && sym_is(p->guard, 0))
            continue; /* this reference never hits this family */
        if (tied)
            condition_add_guard(c, p, within_runs(c, p, tied, r, target));
        for (int k = 0; k < nbefore; k++)
            leave_taken(c, p, &before[k], r, target, tied);
        if (p->guard && sym_is(p->guard, 0))
            continue;
        condition_part(c, s, p, r, refs->in_array || refs->in_subscript,
                       target);
        add_part(s, p);
        before[nbefore++] = *r;
        /* a sum takes all its instances: other references are inside */
        if (r->nbound && takes_all(p))
            break;
    }
}

static void parts_of_factor(struct compiler *c, struct model *m, struct step *s,
                            struct factor *g, const symp *target, bool closed)
{
    struct family *f = s->family;
    struct finder refs;
    if (s->view.as)
        condition_find_in_inverse(c, s, &refs, g);
    else
        condition_find_in_factor(c, &refs, f->var, g);
    const bool own = (g->family == f && !g->auxiliary) || g == f->factor;
    if (!own && condition_is_observed_sum(c, g)) {
        condition_tie_to_sum(c, m, s, g, target);
        return;
    }
    if (!s->view.as && condition_factor_through(m, g, f->var)) {
        part_through(c, m, s, g);
        return;
    }
    if (indexes_itself(g, f->var)) {
        add_in_place(c, s, condition_whole_part(c, g));
        s->order.sequential = true;
        return;
    }
    for (int i = 0; i < refs.n; i++)
        refs.found[i].keyed = closed;
    leave_other_statements(c, m, f, g, &refs, target);
    if (!refs.n)
        return;
    const struct family *tied =
        condition_elements_dependence(c, s, g, &refs, own);
    sums_first(&refs);
    parts_of_references(c, m, s, g, &refs, own, tied, target);
}

/* Of a node in expectation: all at each value, constants too, as what they add
 * up to is its share of the density (expected.c). */
static void evaluate_all(struct compiler *c, struct step *s)
{
    for (struct part *p = s->parts; p; p = p->next) {
        p->opaque = true;
        p->terms = (struct collected){.rest = sym_num(c, 0)};
    }
    s->opaque = true;
}

/* as_it_is: no factor may be seen in closed form. */
static struct step *condition_as(struct compiler *c, struct model *m,
                                 struct family *f, bool as_it_is)
{
    struct step *s = NEW(c, struct step);
    s->family = f;
    s->model = m;
    s->name = intern_format(c, "update_%s", family_id(c, f));
    if ((f->var->leaf && !f->auxiliary) || f->var->draw)
        return s;
    symp target[8];
    target_subscripts(f, target);
    struct factor *own = f->factor;
    s->support.lower = own->lower;
    s->support.upper = own->upper;
    bool vector = f->nslices > 0;
    condition_see_in_inverse(c, s);
    /* a prior whose instances are all taken is among the children's */
    if (!vector && !own->replaced &&
        !condition_factor_through(m, own, f->var) &&
        !indexes_itself(own, f->var))
        own_part(c, s, own, target);
    for (struct factor *g = m->factors; g; g = g->next)
        if (!g->replaced)
            child_parts(c, m, s, f->var->weights && g->actual ? g->actual : g,
                        target, as_it_is);
    if (f->var->weights)
        evaluate_all(c, s);
    condition_gather_statistics(s);
    if (s->through || s->order.ties)
        s->opaque = true;
    if (vector)
        return s;
    condition_recognise(c, s);
    if (!s->law.family)
        condition_keep_rules(c, s);
    return s;
}

struct step *condition_family(struct compiler *c, struct model *m,
                              struct family *f)
{
    struct inverse **last = m->last_inverse;
    const int n = m->ninverses;
    struct step *s = condition_as(c, m, f, false);
    if (!s->view.closed_form || s->law.family)
        return s;
    *last = NULL; /* closed forms are for exact draws */
    m->last_inverse = last;
    m->ninverses = n;
    return condition_as(c, m, f, true);
}

void condition_families(struct compiler *c, struct model *m)
{
    /* auxiliary nodes first: they are drawn before anything reads them */
    for (int pass = 0; pass < 2; pass++)
        for (struct family *f = m->families; f; f = f->next) {
            if (!f->stochastic || f->data_block || !f->factor ||
                f->auxiliary != (pass == 0))
                continue;
            struct step *s = condition_family(c, m, f);
            *m->last_step = s;
            m->last_step = &s->next;
        }
}

void condition_model(struct compiler *c, struct model *m)
{
    condition_families(c, m);
    condition_observed_sums(c, m);
    condition_totals(c, m);
}
