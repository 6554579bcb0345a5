/* inverted.c: the inverse of a matrix node, computed once for each node. What
 * reads inverse(Sigma[z[i],,]), as every row of a normal distribution by
 * covariance does, reads it from there by the same subscripts; so does
 * inverse(Sigma[k,,] / kappa), times kappa; and the inverse of that inverse is
 * the node. The full conditional of the node then sees it through one variable,
 * var->inverse, and may be known by statistics of its inverse.
 *
 * Requires that `stored` is chosen; families are in order. */
#include "model/resolve.h"
#include <string.h>

/* The two dimensions of f's left-hand side that are ranges from 1, of one
 * length; false if it has others. */
static bool square(const struct family *f, int *at)
{
    int n = 0;
    if (f->nslices != 2)
        return false;
    for (int d = 0; d < f->var->ndim; d++)
        if (f->upper[d])
            at[n++] = d;
    return sym_same(f->upper[at[0]], f->upper[at[1]]) &&
           sym_is(f->lower[at[0]], 1) && sym_is(f->lower[at[1]], 1);
}

/* Whether all of v are square matrices that statements draw, of one extent and
 * along the same two dimensions. */
static bool is_matrix_node(const struct var *v)
{
    const struct family *first = v->families;
    int at[2], other[2];
    if (v->role != ROLE_STOCHASTIC || v->whole || v->given || !first ||
        !square(first, at) || sym_has_any_loop(first->upper[at[0]]))
        return false;
    for (const struct family *f = first; f; f = f->next_of_var)
        if (!f->stochastic || f->data_block || !square(f, other) ||
            at[0] != other[0] || at[1] != other[1] ||
            !sym_same(f->upper[at[0]], first->upper[at[0]]))
            return false;
    return true;
}

/* Whether dimension d of v is as long as `side` says, by v's statements. */
static bool dimension_is(struct compiler *c, const struct var *v, int d,
                         symp side)
{
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        symp offset, upper = f->upper[d];
        const struct loop *l =
            upper ? NULL : sym_plain_loop(c, f->lower[d], &offset);
        if (l && sym_is(offset, 0) && l->lower && sym_is(l->lower, 1))
            upper = l->upper;
        if (!upper || !sym_same(upper, side))
            return false;
    }
    return v->families != NULL;
}

static bool extent_is(struct compiler *c, symp extent, symp side)
{
    return sym_same(extent, side) ||
           (extent->kind == SYM_EXTENT &&
            dimension_is(c, extent->var, extent->dim, side));
}

/* The extent of f's matrices, at the other subscripts of a reference. */
static symp side_at(struct compiler *c, const struct family *f, int d, symp ref)
{
    symp side = f->upper[d];
    for (int i = 0; i < f->var->ndim; i++) {
        symp offset;
        const struct loop *l =
            f->upper[i] ? NULL : sym_plain_loop(c, f->lower[i], &offset);
        if (l)
            side =
                sym_replace_loop(c, side, l, sym_sub(c, ref->args[i], offset));
    }
    return side;
}

/* Whether the array's cells of ref are a whole matrix of f, which is symmetric.
 */
static bool runs_through(struct compiler *c, symp ref, const struct family *f,
                         symp array)
{
    int at[2];
    if (!square(f, at) || ref->nargs != f->var->ndim)
        return false;
    for (int d = 0; d < ref->nargs; d++) {
        bool slice = d == at[0] || d == at[1];
        if (!slice && sym_has_loop_of(ref->args[d], array->loops, 2))
            return false;
    }
    symp one = ref->args[at[0]], other = ref->args[at[1]];
    symp side = side_at(c, f, at[0], ref);
    return one->kind == SYM_LOOP && other->kind == SYM_LOOP &&
           one->loop != other->loop &&
           (one->loop == array->loops[0] || one->loop == array->loops[1]) &&
           (other->loop == array->loops[0] || other->loop == array->loops[1]) &&
           extent_is(c, array->args[1], side) &&
           extent_is(c, array->args[2], side);
}

symp model_scaled_matrix(struct compiler *c, symp array, const struct family *f,
                         const struct var *v, symp *scale)
{
    if (array->kind != SYM_ARRAY || array->nloops != 2)
        return NULL;
    symp body = array->args[0], found = NULL;
    const symp *factors = body->kind == SYM_MUL ? body->args : &body;
    const int n = body->kind == SYM_MUL ? body->nargs : 1;
    *scale = sym_num(c, 1);
    for (int i = 0; i < n; i++) {
        symp e = factors[i];
        if (!found && e->kind == SYM_REF && e->var == v &&
            runs_through(c, e, f, array))
            found = e;
        else if (sym_has_loop_of(e, array->loops, 2))
            return NULL;
        else
            *scale = sym_mul2(c, *scale, e);
    }
    return found;
}

/* The matrix node that the array is of, but for a scale; with `twice`, the one
 * whose inverse it is of. NULL: none. *ref: the reference. */
static struct var *node_of(struct compiler *c, const struct model *m,
                           symp array, bool twice, symp *ref, symp *scale)
{
    for (struct var *v = m->vars; v; v = v->next) {
        const struct var *read = twice ? v->inverse : v;
        if (!read || !sym_has_var(array, read) || !is_matrix_node(v))
            continue;
        *ref = model_scaled_matrix(c, array, v->families, read, scale);
        if (*ref)
            return v;
    }
    return NULL;
}

/* Whether f defines the inverse of an array. */
static bool inverts(struct compiler *c, const struct family *f)
{
    return !f->stochastic && !f->data_block && f->whole_call &&
           sym_inverse_of(c, f->body);
}

bool model_holds_inverses(struct compiler *c, const struct var *v)
{
    int at[2];
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (!inverts(c, f) || !square(f, at) || at[0] != v->ndim - 2)
            return false;
    return v->families != NULL;
}

/* What f defines as the inverse of an array, with definitions in their places;
 * NULL if it is none. */
static symp inverted_array(struct compiler *c, const struct family *f)
{
    return inverts(c, f) ? model_substitute_derived(c, f->body->args[0]) : NULL;
}

/* Whether f, the inverse of the matrix of `node` at ref, has the node's
 * subscripts and loops: then it is what other places may read. */
static bool by_node(struct compiler *c, const struct family *f,
                    const struct var *node, symp ref)
{
    const struct family *of = node->families;
    if (of->next_of_var || f->next_of_var || f->var->families != f ||
        f->nloops != of->nloops || f->var->ndim != node->ndim)
        return false;
    for (int d = 0; d < node->ndim; d++) {
        if (!of->upper[d] != !f->upper[d])
            return false;
        if (of->upper[d]) {
            if (!sym_is(f->lower[d], 1) ||
                !extent_is(c, f->upper[d], of->upper[d]))
                return false;
            continue;
        }
        symp offset, other;
        const struct loop *l = sym_plain_loop(c, f->lower[d], &offset);
        const struct loop *k = sym_plain_loop(c, of->lower[d], &other);
        if (!sym_same(ref->args[d], f->lower[d]) || !l != !k ||
            !sym_same(l ? offset : f->lower[d], l ? other : of->lower[d]) ||
            (l &&
             (sym_has_any_loop(l->lower) || sym_has_any_loop(l->upper) ||
              !sym_same(l->lower, k->lower) || !sym_same(l->upper, k->upper))))
            return false;
    }
    return true;
}

static const char *new_name(struct compiler *c, const struct model *m,
                            const struct var *node)
{
    const char *name = intern_format(c, "inverse.%s", node->name);
    for (int number = 2;; number++) {
        bool taken = false;
        for (const struct var *v = m->vars; v; v = v->next)
            taken = taken || v->name == name;
        if (!taken)
            return name;
        name = intern_format(c, "inverse.%s.%d", node->name, number);
    }
}

/* The definition of v's matrices where `of` draws the node's. */
static struct family *inverse_family(struct compiler *c, struct var *v,
                                     const struct family *of)
{
    struct family *f = NEW(c, struct family);
    struct loop *loops[2];
    symp at[MAX_DIMS], extents[2];
    int n = 0;
    for (int d = 0; d < v->ndim; d++) {
        at[d] = f->lower[d] = of->lower[d];
        f->upper[d] = of->upper[d];
        if (!of->upper[d])
            continue;
        loops[n] = NEW(c, struct loop);
        loops[n]->name = n ? "l" : "k";
        extents[n] = of->upper[d];
        at[d] = sym_loop(c, loops[n++]);
    }
    f->var = v;
    f->span = of->span;
    f->loops = of->loops;
    f->nloops = of->nloops;
    f->nslices = 2;
    symp array =
        sym_array(c, 2, loops, extents, sym_ref(c, of->var, of->var->ndim, at));
    f->body = sym_call(c, "inverse", 1, &array);
    f->whole_call = true;
    f->text = intern_format(c, "%s of %s", v->name, of->text);
    return f;
}

/* A variable of the inverses of all of node, defined before f. */
static struct var *new_inverse(struct compiler *c, struct model *m,
                               struct var *node, const struct family *before)
{
    struct var *v = NEW(c, struct var);
    v->name = new_name(c, m, node);
    v->span = node->span;
    v->role = ROLE_DERIVED;
    v->hidden = v->used = v->stored = true;
    v->ndim = node->ndim;
    *m->last_var = v;
    m->last_var = &v->next;
    struct family **link = &m->families, **of_var = &v->families;
    while (*link != before)
        link = &(*link)->next;
    for (const struct family *of = node->families; of; of = of->next_of_var) {
        struct family *f = inverse_family(c, v, of);
        *of_var = f;
        of_var = &f->next_of_var;
        f->next = *link;
        *link = f;
        link = &f->next;
        m->nfamilies++;
    }
    family_number(m);
    return v;
}

/* f becomes value * matrix[...], cell by cell: `ref` is to the node. */
static void define_by_cells(struct compiler *c, struct family *f, symp array,
                            symp value, struct var *matrix, symp ref)
{
    struct loop **loops = NEW_ARRAY(c, struct loop *, MAX_LOOPS);
    symp at[MAX_DIMS], args[MAX_DIMS];
    int n = 0;
    for (int i = 0; i < f->nloops; i++)
        loops[i] = f->loops[i];
    for (int d = 0; d < f->var->ndim; d++) {
        if (!f->upper[d])
            continue;
        struct loop *l = NEW(c, struct loop);
        l->name = n ? "l" : "k";
        l->lower = f->lower[d];
        l->upper = f->upper[d];
        at[n++] = sym_length(c, f->lower[d], sym_loop(c, l));
        loops[f->nloops++] = l;
        f->lower[d] = sym_loop(c, l);
        f->upper[d] = NULL;
    }
    for (int d = 0; d < ref->nargs; d++) {
        args[d] = ref->args[d];
        for (int i = 0; i < 2; i++)
            args[d] = sym_replace_loop(c, args[d], array->loops[i], at[i]);
    }
    f->loops = loops;
    f->nslices = 0;
    f->whole_call = false;
    f->body = sym_mul2(c, value, sym_ref(c, matrix, ref->nargs, args));
}

/* Names the inverses that the model has of matrix nodes as they are. */
static void find_inverses(struct compiler *c, struct model *m)
{
    for (struct family *f = m->families; f; f = f->next) {
        symp ref, scale, array = inverted_array(c, f);
        struct var *v =
            array ? node_of(c, m, array, false, &ref, &scale) : NULL;
        if (!v || !sym_is(scale, 1) || v->inverse || !by_node(c, f, v, ref))
            continue;
        v->inverse = f->var;
        if (f->var->hidden) { /* named by a number until now */
            f->var->name = new_name(c, m, v);
            f->text =
                intern_format(c, "%s of %s", f->var->name, v->families->text);
        }
    }
}

/* Reads what f inverts from the inverses of nodes, or from nodes; false if
 * neither has it. */
static bool read_from_node(struct compiler *c, struct model *m,
                           struct family *f)
{
    symp ref, scale, array = inverted_array(c, f);
    if (!array || f->nloops + 2 > MAX_LOOPS)
        return false;
    struct var *v = node_of(c, m, array, false, &ref, &scale), *matrix = v;
    if (v && f->var == v->inverse)
        return false;
    if (v && !v->inverse)
        v->inverse = new_inverse(c, m, v, f);
    if (v)
        matrix = v->inverse;
    else
        matrix = node_of(c, m, array, true, &ref, &scale);
    if (!matrix)
        return false;
    define_by_cells(c, f, array, sym_pow(c, scale, sym_num(c, -1)), matrix,
                    ref);
    return true;
}

void model_share_inverses(struct compiler *c, struct model *m)
{
    find_inverses(c, m);
    bool any = false;
    for (struct family *f = m->families; f; f = f->next)
        any = read_from_node(c, m, f) || any;
    if (!any)
        return;
    for (struct var *v = m->vars; v; v = v->next) {
        v->stored = false;
        v->expanded = 0;
    }
    model_choose_stored(c, m);
}
