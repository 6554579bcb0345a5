/* carried_vector.c: a plate of vectors moves with the scale of one of their
 * components, v[j,1:K] ~ dmnorm.vcov(m[], S[,]) with S[k,l] = s[k] s[l] R[k,l]:
 * s[k] and all v[j,k] - m[k] are multiplied by one number. The prior stays as
 * it is, but for its normalisation, if two things hold, which are looked for in
 * the expressions: scaled about its mean, and the inverse of its covariance
 * likewise, a vector's log density changes by the determinant alone; and the
 * covariance is scaled so where the node is. What is left is as of plates of
 * numbers (carried.c), but that a row reads several components: nodes of a
 * plate are moved one by one.
 *
 * The node may be a plate s[k] with the component as its subscript, or one
 * number beside others (Sigma[1,1] <- sigma.a^2, Sigma[1,2] <- rho * sigma.a *
 * sigma.b); the scale as deviation, variance, precision, or the inverse of a
 * deviation. */
#include "sampler/carried.h"
#include <string.h>

enum {
    MOST_CELLS = 8, /* along a matrix that is written cell by cell */
    MOST_DEPTH = 8  /* S[2,1] <- S[1,2] */
};

struct growing {
    struct carried *k;
    struct var *number;  /* that multiplies, at a component's subscript */
    struct var *inverse; /* of the covariance */
    double power;        /* of the number in the node */
    int depth;           /* of definitions within definitions */
};

static symp number_at(const struct growing *g, symp at)
{
    return sym_ref(g->k->c, g->number, 1, &at);
}

/* ---- the vectors' density --------------------------------------------------
 */

/* The mean of the component at a subscript. */
static symp mean_at(const struct carried *k, symp at)
{
    const struct value *mean = &k->plate->args[0];
    symp body = model_substitute_derived(k->c, mean->body);
    return sym_replace_loop(k->c, body, mean->loops[0], at);
}

static symp grown_vector(struct compiler *c, symp e, void *growing)
{
    const struct growing *g = growing;
    const struct carried *k = g->k;
    if (e->kind != SYM_REF)
        return NULL;
    if (e->var == g->inverse)
        return sym_div(
            c, e,
            sym_mul2(c, number_at(g, e->args[0]), number_at(g, e->args[1])));
    if (e->var != k->plate->var)
        return NULL;
    symp at = e->args[sampler_component_of(k->plate)];
    symp mean = mean_at(k, at);
    return sym_add2(c, mean,
                    sym_mul2(c, number_at(g, at), sym_sub(c, e, mean)));
}

/* Whether x is an array with rows and columns. */
static bool is_matrix(symp x)
{
    return x && x->kind == SYM_ARRAY && x->nloops == 2;
}

/* The log determinant of a matrix in memory, as e has it; NULL: it has none. */
static symp log_determinant(symp e)
{
    symp of = sym_determinant_of(e);
    if (is_matrix(of) && of->args[0]->kind == SYM_REF)
        return e;
    symp found = NULL;
    for (int i = 0; i < e->nargs && !found; i++)
        found = log_determinant(e->args[i]);
    return found;
}

/* Whether the density is that of a vector about its mean by the inverse of its
 * covariance, which is *inverse. */
static bool is_about_mean(struct growing *g)
{
    struct compiler *c = g->k->c;
    symp logp = g->k->plate->factor->logp;
    symp determinant = log_determinant(logp);
    if (!determinant || g->k->plate->nargs < 1 ||
        g->k->plate->args[0].ndim != 1)
        return false;
    g->inverse = sym_determinant_of(determinant)->args[0]->var;
    symp rest = sym_sub(c, logp, sym_mul2(c, sym_num(c, 0.5), determinant));
    return sym_same(sym_map(c, rest, grown_vector, g), rest);
}

/* ---- the covariance --------------------------------------------------------
 */

/* The definition of an element in memory that follows the node; NULL: e is
 * none, or it is not told which statement defines it. */
static symp definition(struct compiler *c, symp e, void *growing)
{
    struct growing *g = growing;
    const struct carried *k = g->k;
    if (e->kind != SYM_REF || e->var->role != ROLE_DERIVED ||
        g->depth == MOST_DEPTH ||
        !model_derived_depends(k->m, e->var, k->node->var))
        return NULL;
    const struct family *found = NULL;
    symp at[MAX_LOOPS], solved[MAX_LOOPS];
    for (const struct family *f = e->var->families; f; f = f->next_of_var) {
        if (sym_is(model_where_defined(c, f, e, at), 0))
            continue;
        if (found || f->nslices || f->whole_call || !f->body)
            return NULL;
        found = f;
        memcpy(solved, at, sizeof at);
    }
    if (!found)
        return NULL;
    symp body =
        sym_replace_loops(c, found->body, found->loops, found->nloops, solved);
    g->depth++;
    body = sym_map(c, model_substitute_derived(c, body), definition, g);
    g->depth--;
    return body;
}

static symp grown_node(struct compiler *c, symp e, void *growing)
{
    const struct growing *g = growing;
    if (e->kind != SYM_REF || e->var != g->k->node->var)
        return NULL;
    symp at = g->k->node->nloops ? e->args[0] : g->k->component;
    return sym_mul2(c, e, sym_pow(c, number_at(g, at), sym_num(c, g->power)));
}

/* Whether a cell of the covariance, at row and column, is multiplied by the
 * numbers of both. */
static bool cell_grows(const struct growing *g, symp cell, symp row,
                       symp column)
{
    struct compiler *c = g->k->c;
    struct growing context = *g;
    cell = sym_again(
        c, sym_map(c, model_substitute_derived(c, cell), definition, &context));
    symp by = sym_num(c, 1), at[] = {row, column};
    for (int i = 0; i < 2; i++)
        if (g->k->node->nloops || sym_same(at[i], g->k->component))
            by = sym_mul2(c, by, number_at(g, at[i]));
    return sym_same(sym_map(c, cell, grown_node, &context),
                    sym_mul2(c, by, cell));
}

static bool covariance_grows(const struct growing *g, symp array)
{
    struct compiler *c = g->k->c;
    symp cell = array->args[0];
    symp size = g->k->plate->upper[sampler_component_of(g->k->plate)];
    if (g->k->node->nloops && cell_grows(g, cell, sym_loop(c, array->loops[0]),
                                         sym_loop(c, array->loops[1])))
        return true;
    if (size->kind != SYM_NUM || size->number > MOST_CELLS)
        return false;
    const int n = (int)size->number;
    for (int i = 0; i < n * n; i++) {
        symp at[] = {sym_num(c, i / n + 1), sym_num(c, i % n + 1)};
        if (!cell_grows(g, sym_replace_loops(c, cell, array->loops, 2, at),
                        at[0], at[1]))
            return false;
    }
    return true;
}

/* The covariance's cells as an array, of which the matrix in memory is the
 * inverse; NULL: it is not. */
static symp covariance_of(struct compiler *c, const struct var *inverse)
{
    const struct family *f = inverse->families;
    if (inverse->role != ROLE_DERIVED || !f || f->next_of_var || !f->body ||
        !f->whole_call || f->nloops)
        return NULL;
    symp of = sym_inverse_of(c, model_substitute_derived(c, f->body));
    return is_matrix(of) ? of : NULL;
}

/* ---- which -----------------------------------------------------------------
 */

int sampler_component_of(const struct family *f)
{
    for (int d = 0; d < f->var->ndim; d++)
        if (f->upper[d])
            return d;
    UNREACHABLE();
}

bool sampler_is_vector_plate(const struct model *m, const struct family *f)
{
    if (!f->stochastic || f->nslices != 1 || !f->nloops ||
        f->nloops != f->var->ndim - 1 || f->affine || f->var->families != f ||
        f->next_of_var || !sampler_are_numbers(f->var) ||
        !sampler_is_free(m, f) || f->factor->rule || f->factor->guard ||
        f->factor->lower || f->factor->upper ||
        !sym_is(f->lower[sampler_component_of(f)], 1))
        return false;
    for (int i = 0; i < f->nloops; i++)
        if (sampler_dimension_of(f, f->loops[i]) < 0)
            return false;
    return true;
}

/* Whether the node has an element for each component. */
static bool is_each(const struct carried *k)
{
    const struct loop *l = k->node->nloops == 1 ? k->node->loops[0] : NULL;
    return l && sym_is(l->lower, 1) &&
           sym_same(l->upper, k->plate->upper[sampler_component_of(k->plate)]);
}

/* The power of a deviation's number in the node by which the covariance is
 * scaled; 0: by none. */
static double power_of(struct growing *g, symp array)
{
    static const double powers[] = {1, 2, -2, -1};
    for (size_t i = 0; i < sizeof powers / sizeof *powers; i++) {
        g->power = powers[i];
        if (covariance_grows(g, array))
            return powers[i];
    }
    return 0;
}

/* The component that the node is the scale of, and how it is. */
static bool find_component(struct growing *g, symp array)
{
    struct carried *k = g->k;
    symp size = k->plate->upper[sampler_component_of(k->plate)];
    double power = 0;
    if (k->node->nloops) {
        k->component = sym_loop(k->c, k->node->loops[0]);
        power = is_each(k) ? power_of(g, array) : 0;
    } else {
        const int n = size->kind == SYM_NUM && size->number <= MOST_CELLS
                          ? (int)size->number
                          : 0;
        for (int i = 1; i <= n && power == 0; i++) {
            k->component = sym_num(k->c, i);
            power = power_of(g, array);
        }
    }
    k->power = power != 0 ? -2 / power : 0;
    return power != 0;
}

bool sampler_fits_vectors(struct carried *k)
{
    struct compiler *c = k->c;
    struct var *number = NEW(c, struct var);
    number->name = "number";
    number->positive = true;
    number->ndim = 1;
    struct growing g = {.k = k, .number = number};
    symp array = is_about_mean(&g) ? covariance_of(c, g.inverse) : NULL;
    if (!array || !model_derived_depends(k->m, g.inverse, k->node->var) ||
        !find_component(&g, array))
        return false;
    symp mean = mean_at(k, k->component);
    k->along = sym_sub(c, sampler_carried_cell(k), mean);
    return !sampler_carried_reads(k, mean) &&
           !sampler_carried_follows(k, mean) && sampler_find_carried_readers(k);
}
