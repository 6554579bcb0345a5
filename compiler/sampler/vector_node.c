/* vector_node.c: vector and matrix nodes are recognised whole (Dirichlet,
 * Wishart) or are Gaussian blocks themselves; others move along ellipses or
 * by component. */
#include "sampler/block.h"
#include <string.h>

/* log(v[e]) becomes the pseudo-variable's [e], so that coefficients are its
 * derivatives. */
struct logs {
    const struct family *of; /* a slice of v, on the simplex */
    struct var *as;
};

/* Whether e sums a row of v over a range that holds the whole slice, if it is
 * the slice's row: then it does not change with the node. */
static bool sums_whole_slice(struct compiler *c, symp e, const struct family *f)
{
    symp ref = e->kind == SYM_SUM ? e->args[2] : NULL;
    if (!ref || ref->kind != SYM_REF || ref->var != f->var)
        return false;
    for (const struct family *g = f->var->families; g; g = g->next_of_var)
        if (g->recursive)
            return false;
    for (int d = 0; d < ref->nargs; d++) {
        if (!f->upper[d]) {
            if (sym_has_loop(ref->args[d], e->loop))
                return false;
            continue;
        }
        symp top = e->args[1];
        bool all =
            top->kind == SYM_EXTENT && top->var == f->var && top->dim == d;
        double below, above;
        if (ref->args[d]->kind != SYM_LOOP || ref->args[d]->loop != e->loop ||
            !sym_difference(c, f->lower[d], e->args[0], &below) || below < 0 ||
            !(all ||
              (sym_difference(c, top, f->upper[d], &above) && above >= 0)))
            return false;
    }
    return true;
}

static symp log_node(struct compiler *c, symp e, void *context)
{
    const struct logs *k = context;
    if (e->kind != SYM_CALL || strcmp(e->name, "log") != 0)
        return NULL;
    symp of = e->args[0];
    if (of->kind == SYM_REF && of->var == k->of->var)
        return sym_ref(c, k->as, of->nargs, of->args);
    if (of->kind == SYM_SELECT) { /* some cells are not of the node */
        symp yes = sym_map(c, sym_log(c, of->args[1]), log_node, context);
        symp no = sym_map(c, sym_log(c, of->args[2]), log_node, context);
        return sym_select(c, of->args[0], yes, no);
    }
    return sums_whole_slice(c, of, k->of) ? sym_num(c, 0) : NULL;
}

static bool is_log_statistic(const struct entry *d)
{
    const struct clause *k = entry_clause(d, "statistics");
    return k && k->items && !k->items->next && k->items->label &&
           k->items->label->kind == EXPR_CALL &&
           !strcmp(k->items->label->name, "log");
}

static bool is_determinant_statistic(const struct entry *d)
{
    const struct clause *k = entry_clause(d, "statistics");
    return k && k->items && k->items->label &&
           k->items->label->kind == EXPR_CALL &&
           !strcmp(k->items->label->name, "logdet");
}

/* Dirichlet: every factor is linear in the logs. potential[0] is the
 * coefficient of log x[a]. */
static bool collect_logs(struct compiler *c, struct step *s)
{
    struct family *f = s->family;
    struct var *as = NEW(c, struct var);
    *as = *f->var;
    as->name = intern_format(c, "log.%s", f->var->name);
    struct logs k = {f, as};
    struct part *parts = sampler_own_prior(c, f);
    parts->next = s->parts;
    for (struct part *p = parts; p; p = p->next) {
        struct plate_values v;
        if (!block_values_of_part(c, f, p, &v))
            return false;
        symp logp = sym_map(c, p->logp, log_node, &k);
        if (sym_has_var(logp, f->var))
            return false;
        symp cell = block_member_cell(c, &s->block.members[0],
                                      &s->block.members[0].index, &v);
        symp wrt = sym_ref(c, as, cell->nargs, cell->args);
        struct quadratic *q = NEW(c, struct quadratic);
        q->part = p;
        q->potential[0] = sym_derivative(c, logp, wrt);
        if (!q->potential[0] || sym_has_var(q->potential[0], as))
            return false;
        q->next = s->block.quadratics;
        s->block.quadratics = q;
    }
    return true;
}

/* The cell of the node, or of its inverse where it is seen in that. */
static symp matrix_cell(struct compiler *c, const struct step *s,
                        const struct plate_values *v)
{
    const struct family *f = s->family;
    symp subs[8];
    int k = 0;
    for (int d = 0; d < f->var->ndim; d++) {
        symp e = model_at_values(c, f, f->lower[d], v->values);
        if (f->upper[d])
            e = sym_add(c, 3,
                        (symp[]){e,
                                 sym_loop(c, (k++ ? &s->block.members[0].index2
                                                  : &s->block.members[0].index)
                                                 ->loops[0]),
                                 sym_num(c, -1)});
        subs[d] = e;
    }
    return sym_ref(c, s->view.as ? s->view.as : f->var, f->var->ndim, subs);
}

/* Wishart: linear in log|x| and in x; inverse Wishart: in log|x| and the
 * inverse of x. potential[0]: the coefficient of the log determinant;
 * potential[1]: that of cell [a,b]. */
static bool collect_determinant(struct compiler *c, struct step *s)
{
    struct family *f = s->family;
    struct part *parts = s->parts;
    if (!f->factor->replaced) {
        parts = sampler_own_prior(c, f);
        parts->logp = condition_matrix_seen(c, s, parts->logp);
        parts->next = s->parts;
    }
    for (struct part *p = parts; p; p = p->next) {
        struct plate_values v;
        struct quadratic *q = NEW(c, struct quadratic);
        q->part = p;
        if (!block_values_of_part(c, f, p, &v) ||
            !condition_matrix_terms(c, s, p->logp, matrix_cell(c, s, &v),
                                    &q->potential[0], &q->potential[1]))
            return false;
        q->next = s->block.quadratics;
        s->block.quadratics = q;
    }
    return true;
}

static void matrix_members(struct compiler *c, struct step *s)
{
    struct family *f = s->family;
    s->block.members[0].index = block_index_loops(c, f, "a");
    s->block.members[0].index2 = block_index_loops(c, f, "b");
    s->block.members[0].count = family_extent(c, f, 0);
}

/* What f's full conditional may be: of its own distribution; of a matrix whose
 * density an augmentation replaced, what is drawn by its log determinant and
 * cells. */
static const struct entry *may_be(struct compiler *c, const struct family *f)
{
    const struct entry *const *all, *d = f->distribution;
    if (!f->factor->replaced || f->nslices != 2)
        return d;
    const int n = library_all(c, &all);
    for (int i = 0; i < n && !is_determinant_statistic(d); i++)
        if (all[i]->kind == ENTRY_DISTRIBUTION &&
            is_determinant_statistic(all[i]) &&
            !condition_states_inverse(all[i]))
            d = all[i];
    return d;
}

/* Finds the family of a vector node; a Gaussian one becomes a block. */
static bool recognise_vector(struct compiler *c, struct model *m,
                             struct step *s)
{
    struct family *f = s->family;
    const struct entry *d = may_be(c, f);
    struct step *self[1] = {s};
    if (s->through)
        return false;
    if (f->nslices == 1) {
        struct step *block = block_make(c, m, self, 1, false);
        if (!block && f->nloops == 0 && !sampler_seeks_modes(c))
            block = block_make(c, m, self, 1, true);
        if (block) {
            sampler_replace_steps(self, 1, block);
            return true;
        }
    }
    block_set_members(c, s, &f, 1, false);
    if (f->nslices == 2)
        matrix_members(c, s);
    s->law.family = d;
    return (is_log_statistic(d) && collect_logs(c, s)) ||
           (is_determinant_statistic(d) &&
            condition_states_inverse(d) == (s->view.as != NULL) &&
            collect_determinant(c, s));
}

bool vector_closed(struct compiler *c, struct model *m, struct step *s)
{
    return recognise_vector(c, m, s);
}

/* Otherwise an ellipse if its prior is normal, or component by component, all
 * factors evaluated in place. */
void block_vector_node(struct compiler *c, struct model *m, struct step *s)
{
    struct family *f = s->family;
    if (recognise_vector(c, m, s))
        return;
    if (normal_vector(c, s)) {
        s->sampler = &sampler_elliptical_block;
        return;
    }
    const struct expr *support = entry_value(f->distribution, "support");
    bool set = support && !strcmp(support->name, "set");
    if (f->nslices == 1 && set) { /* data as a rule: told at load */
        f->var->supplied = true;
        sampler_merge_away(s);
        return;
    }
    if (!sampler_slice_components(c, s)) {
        error_at(c, f->span,
                 "not supported yet: the full conditional of %s, a %s node, "
                 "is not of a known family",
                 f->var->name, f->distribution->name);
        return;
    }
    s->block.quadratics = NULL;
    block_set_members(c, s, &f, 1, false);
    if (f->nslices == 2)
        matrix_members(c, s);
    bool own = false;
    for (struct part *p = s->parts; p; p = p->next) {
        p->opaque = true;
        own = own || p->own || (p->factor == f->factor && !p->reference);
    }
    condition_keep_rules(c, s);
    if (!own && !f->factor->replaced) {
        struct part *p = sampler_own_prior(c, f);
        p->opaque = true;
        p->next = s->parts;
        s->parts = p;
    }
}
