/* matrix.c: log densities in a matrix node: linear in the log determinant and
 * in the cells of the node, or of its inverse, as the node's distribution
 * states in `statistics`. */
#include "condition/find.h"
#include <string.h>

struct seen {
    const struct family *f;
    struct var *as;
};

/* trace(A inverse(x)), A an array: sum of A[i,j] inverse(x)[j,i]. */
static symp trace_by_cells(struct compiler *c, symp a, symp b,
                           const struct seen *k)
{
    symp scale, ref = model_scaled_matrix(c, b, k->f, k->f->var, &scale);
    if (!ref || sym_has_var(scale, k->f->var) || a->kind != SYM_ARRAY ||
        a->nloops != 2)
        return NULL;
    symp cell = sym_ref(c, k->as, ref->nargs, ref->args), of = a->args[0];
    struct loop *loops[2];
    for (int i = 0; i < 2; i++) {
        struct loop *l = loops[i] = NEW(c, struct loop);
        l->name = i ? "j" : "i";
        l->lower = sym_num(c, 1);
        l->upper = b->args[1 + i];
        of = sym_replace_loop(c, of, a->loops[i], sym_loop(c, l));
        cell = sym_replace_loop(c, cell, b->loops[i], sym_loop(c, l));
    }
    symp sum = sym_mul2(c, of, cell);
    for (int i = 1; i >= 0; i--)
        sum = sym_sum(c, loops[i], loops[i]->lower, loops[i]->upper, sum);
    return sym_div(c, sum, scale);
}

static symp see_node(struct compiler *c, symp e, void *context)
{
    const struct seen *k = context;
    if (e->kind != SYM_CALL || !sym_has_var(e, k->f->var))
        return NULL;
    if (!strcmp(e->name, "trace_solve") && !sym_has_var(e->args[0], k->f->var))
        return trace_by_cells(c, e->args[0], e->args[1], k);
    symp scale, array = sym_determinant_of(e);
    if (!array)
        return NULL;
    symp ref = model_scaled_matrix(c, array, k->f, k->f->var, &scale);
    if (!ref || sym_has_var(scale, k->f->var))
        return NULL;
    symp inverse = sym_array(c, 2, array->loops, array->args + 1,
                             sym_ref(c, k->as, ref->nargs, ref->args));
    return sym_sub(c, sym_mul2(c, array->args[1], sym_log(c, scale)),
                   sym_call(c, "logdet", 1, &inverse));
}

symp condition_matrix_seen(struct compiler *c, const struct step *s, symp e)
{
    struct seen k = {s->family, s->view.as};
    return e && s->view.as ? sym_map(c, e, see_node, &k) : e;
}

static bool is_trace(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_CALL && strcmp(e->name, "trace_solve") == 0;
}

static symp see_trace(struct compiler *c, symp e, void *context)
{
    const struct step *s = context;
    if (!is_trace(e, NULL) || !sym_has_var(e->args[0], s->family->var) ||
        sym_has_var(e->args[1], s->family->var))
        return NULL;
    for (const struct var *v = s->model->vars; v; v = v->next) {
        if (!v->inverse || !v->families || !sym_has_var(e->args[1], v))
            continue;
        const struct seen k = {v->families, v->inverse};
        symp seen = trace_by_cells(c, e->args[0], e->args[1], &k);
        if (seen)
            return seen;
    }
    return NULL;
}

symp condition_by_inverses(struct compiler *c, const struct step *s, symp logp)
{
    if (!sym_any(logp, is_trace, NULL))
        return NULL;
    symp e = sym_map(c, logp, see_trace, (void *)s);
    return sym_same(e, logp) ? NULL : e;
}

/* ---- terms ---------------------------------------------------------------
 */

struct determinant {
    const struct family *f;
    const struct var *v;
};

static symp determinant_node(struct compiler *c, symp e, void *context)
{
    const struct determinant *k = context;
    symp scale, array = sym_determinant_of(e);
    if (array && model_scaled_matrix(c, array, k->f, k->v, &scale) &&
        !sym_has_var(scale, k->v))
        return sym_target(c);
    return NULL;
}

bool condition_matrix_terms(struct compiler *c, const struct step *s, symp logp,
                            symp cell, symp *determinant, symp *coefficient)
{
    const struct var *v = s->view.as ? s->view.as : s->family->var;
    struct determinant k = {s->family, v};
    struct collected terms;
    sym_collect(c, sym_map(c, logp, determinant_node, &k), true, &terms);
    *determinant = sym_num(c, 0);
    if (terms.overflow)
        return false;
    for (int i = 0; i < terms.n; i++) {
        if (terms.statistic[i]->kind != SYM_TARGET ||
            sym_has_var(terms.coefficient[i], v))
            return false;
        *determinant = terms.coefficient[i];
    }
    if (s->view.as)
        *determinant = sym_neg(c, *determinant);
    *coefficient = sym_derivative(c, terms.rest, cell);
    return *coefficient && !sym_has_var(*coefficient, v);
}

/* ---- whether the inverse has it all --------------------------------------
 */

/* Of the statistics that an entry states, whether one is of a cell of the
 * node's inverse. */
bool condition_states_inverse(const struct entry *d)
{
    const struct clause *k = entry_clause(d, "statistics");
    for (const struct clause_item *i = k ? k->items : NULL; i; i = i->next)
        if (i->label && i->label->kind == EXPR_CALL &&
            !strcmp(i->label->name, "inverse"))
            return true;
    return false;
}

struct others {
    const struct model *m;
    const struct var *node, *inverse;
};

/* Whether e reads the node, or what is computed from it, other than its
 * inverse. */
static bool reads_otherwise(symp e, const void *context)
{
    const struct others *k = context;
    return e->kind == SYM_REF && e->var != k->inverse &&
           (e->var == k->node || model_follows(k->m, e, k->node));
}

static bool depends(symp e, const struct others *k)
{
    return e && (sym_any(e, reads_otherwise, k) || sym_has_var(e, k->inverse));
}

static bool closes_in_inverse(struct compiler *c, const struct step *s,
                              const struct factor *g)
{
    const struct family *f = s->family;
    const struct others k = {s->model, f->var, s->view.as};
    symp logp = condition_matrix_seen(c, s, g->logp), determinant, coefficient;
    for (int i = 0; g->opaque && i < g->family->nargs; i++)
        if (depends(model_substitute_derived(c, g->family->args[i].body), &k))
            return false;
    if (depends(g->lower, &k) || depends(g->upper, &k) ||
        sym_any(logp, reads_otherwise, &k))
        return false;
    if (!sym_has_var(logp, s->view.as))
        return true;
    symp cell[MAX_DIMS];
    for (int d = 0; d < f->var->ndim; d++) {
        struct loop *l = f->upper[d] ? NEW(c, struct loop) : NULL;
        if (l)
            *l = (struct loop){
                .name = "a", .lower = sym_num(c, 1), .upper = f->upper[d]};
        cell[d] = l ? sym_loop(c, l) : f->lower[d];
    }
    return condition_matrix_terms(c, s, logp,
                                  sym_ref(c, s->view.as, f->var->ndim, cell),
                                  &determinant, &coefficient);
}

void condition_see_in_inverse(struct compiler *c, struct step *s)
{
    const struct family *f = s->family;
    if (!f->var->inverse || f->nslices != 2 ||
        !condition_states_inverse(f->distribution))
        return;
    s->view.as = f->var->inverse;
    for (const struct factor *g = s->model->factors; g; g = g->next)
        if (!g->replaced && !closes_in_inverse(c, s, g)) {
            s->view.as = NULL;
            return;
        }
}
