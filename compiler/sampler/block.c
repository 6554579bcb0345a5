/* block.c: joint blocks. Steps whose full conditionals are normal and that
 * meet in a quadratic log density become one Gaussian block; vector nodes are
 * recognised whole (Dirichlet, Wishart) or are Gaussian blocks themselves.
 *
 * A Gaussian block is derived by differentiation: with L a factor's log
 * density, its potential is dL/dx at x = 0 of the block and its precision is
 * -d2L/dx dx'; the block is one only if the latter is free of the block. */
#include "sampler/group.h"
#include "sampler/joint.h"
#include <string.h>

/* ---- members
 * ------------------------------------------------------------------- */

/* Subscripts of member's coordinate `index` where its plate loops have the
 * values that the part's reference gives them. */
struct plate_values {
    const struct family *first; /* whose loops the values are of */
    symp values[12];
};

static void no_values(struct compiler *c, const struct family *f,
                      struct plate_values *v)
{
    v->first = f;
    for (int i = 0; i < f->nloops; i++)
        v->values[i] = sym_loop(c, f->loops[i]);
}

static bool values_of_part(struct compiler *c, const struct family *f,
                           const struct part *p, struct plate_values *v)
{
    no_values(c, f, v);
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

static symp member_cell(struct compiler *c, const struct member *m,
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
static struct indices index_loops(struct compiler *c, const struct family *f,
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

static void set_members(struct compiler *c, struct step *s,
                        struct family *const *families, int n, bool dense)
{
    s->block.n = n;
    for (int i = 0; i < n; i++) {
        struct member *m = &s->block.members[i];
        m->family = families[i];
        bool indexed =
            families[i]->nslices == 1 || (dense && families[i]->nloops > 0);
        struct indices none = {.n = 0};
        m->index = indexed ? index_loops(c, families[i], "a") : none;
        s->block.members[i].index2 =
            indexed ? index_loops(c, families[i], "b") : none;
        m->count = sym_num(c, 1);
        for (int k = 0; k < m->index.n; k++) {
            const struct loop *l = m->index.loops[k];
            m->count = sym_mul2(c, m->count, sym_length(c, l->lower, l->upper));
        }
    }
}

/* ---- one factor of a block
 * ---------------------------------------------------------- */

/* coefficient[i] x[i] over all coordinates of member i, summed. */
static symp times_member(struct compiler *c, const struct member *m,
                         const struct indices *index,
                         const struct plate_values *v, symp coefficient)
{
    symp sum = sym_mul2(c, coefficient, member_cell(c, m, index, v));
    for (int k = index->n - 1; k >= 0; k--)
        sum = sym_sum(c, index->loops[k], index->loops[k]->lower,
                      index->loops[k]->upper, sum);
    return sum;
}

static struct elements block_elements(const struct step *s)
{
    struct elements e = {.n = s->block.n};
    for (int i = 0; i < s->block.n; i++)
        e.families[i] = s->block.members[i].family;
    return e;
}

static bool has_members(struct compiler *c, const struct step *s, symp e)
{
    for (int i = 0; e->kind == SYM_REF && i < s->block.n; i++) {
        const struct family *f = s->block.members[i].family;
        symp hit = f->var == e->var ? model_is_element(c, f, e) : sym_num(c, 0);
        if (!hit || !sym_is(hit, 0))
            return true;
    }
    for (int i = 0; i < e->nargs; i++)
        if (has_members(c, s, e->args[i]))
            return true;
    return false;
}

static const struct indices *second_index(const struct step *s, int i, int j)
{
    return i == j ? &s->block.members[j].index2 : &s->block.members[j].index;
}

/* first[i] + sum over j of precision[i][j] x[j]: the potential, whatever the
 * block's elements are. */
static symp at_origin(struct compiler *c, const struct step *s,
                      const struct plate_values *v, const struct quadratic *q,
                      int i, symp first)
{
    for (int j = 0; j < s->block.n; j++)
        first = sym_add2(
            c, first,
            times_member(c, &s->block.members[j], second_index(s, i, j), v,
                         j <= i ? q->precision[i][j] : q->precision[j][i]));
    return first;
}

/* Whether f is one vector node whose density reads no cell of its array but its
 * own: x[adj[k]] is in the node, whatever the data say. */
static bool reads_itself_alone(struct compiler *c, const struct family *f)
{
    if (!f->nslices || f->nloops > 0)
        return false;
    for (int i = 0; i < f->nargs; i++)
        if (sym_has_var(model_substitute_derived(c, f->args[i].body), f->var))
            return false;
    return true;
}

static bool derive_quadratic(struct compiler *c, const struct step *s,
                             const struct plate_values *v, bool dense,
                             struct quadratic *q)
{
    symp logp = q->part->logp, first[8];
    struct elements own = block_elements(s);
    own.node = dense ? NULL : v->values;
    own.alone = s->block.n == 1 && logp == own.families[0]->factor->logp &&
                reads_itself_alone(c, own.families[0]);
    bool any = false;
    for (int i = 0; i < s->block.n; i++) {
        symp x =
            member_cell(c, &s->block.members[i], &s->block.members[i].index, v);
        first[i] = sym_derivative(c, logp, x);
        if (!first[i])
            return false;
        for (int j = 0; j <= i; j++) {
            symp y =
                member_cell(c, &s->block.members[j], second_index(s, i, j), v);
            symp second = sym_derivative(c, first[i], y);
            if (!second || has_members(c, s, second))
                return false;
            q->precision[i][j] = sym_neg(c, second);
            any = any || !sym_is(second, 0);
        }
    }
    for (int i = 0; i < s->block.n; i++) {
        bool told;
        q->potential[i] = model_without_elements(c, first[i], &own, &told);
        if (!told)
            q->potential[i] = at_origin(c, s, v, q, i, first[i]);
        any = any || !sym_is(q->potential[i], 0);
    }
    return any;
}

/* ---- a linear predictor
 * ----------------------------------------------------------------- */

/* E such that the log density depends on the block through E alone, E linear
 * in it. Descends as long as one child has all there is. */
static symp find_predictor(struct compiler *c, const struct step *s, symp logp,
                           const struct plate_values *v)
{
    symp e = logp, best = NULL;
    for (int depth = 0; depth < 64; depth++) {
        /* does everything go through e? */
        symp rest = sym_replace(c, logp, e, sym_target(c));
        bool linear = !has_members(c, s, rest) && e != logp;
        for (int i = 0; linear && i < s->block.n; i++) {
            symp x = member_cell(c, &s->block.members[i],
                                 &s->block.members[i].index, v);
            symp d = sym_derivative(c, e, x);
            linear = d && !has_members(c, s, d);
        }
        if (linear)
            best = e;
        if (e->kind == SYM_REF || e->kind == SYM_SUM)
            break;
        symp next = NULL;
        for (int i = 0; i < e->nargs && !next; i++)
            if (has_members(c, s, e->args[i]))
                next = e->args[i];
        if (!next)
            break;
        e = next;
    }
    return best;
}

/* The condition says no more than that the matrix has such a column. */
static bool all_columns(struct compiler *c, symp condition, symp cell)
{
    symp columns = sym_extent(c, cell->var, 1);
    return sym_same(condition,
                    sym_call(c, "<=", 2, (symp[]){cell->args[1], columns}));
}

static struct var *direct_matrix(struct compiler *c, const struct step *s,
                                 const struct part *p, symp design)
{
    symp within = NULL;
    if (design->kind == SYM_SELECT && sym_is(design->args[2], 0)) {
        within = design->args[0];
        design = design->args[1];
    }
    if (s->block.n != 1 || design->kind != SYM_REF || design->nargs != 2 ||
        design->var->role != ROLE_GIVEN || design->var->integer ||
        p->nloops != 1 || !sym_is(p->loops[0]->lower, 1))
        return NULL;
    const struct member *m = &s->block.members[0];
    bool ok = m->index.n == 1 && design->args[0]->kind == SYM_LOOP &&
              design->args[0]->loop == p->loops[0] &&
              design->args[1]->kind == SYM_LOOP &&
              design->args[1]->loop == m->index.loops[0] &&
              sym_is(m->index.loops[0]->lower, 1) &&
              (!within || all_columns(c, within, design));
    return ok ? design->var : NULL;
}

static bool moves_beside(symp e, const void *leaf)
{
    return sym_is_latent(e, NULL) && e->var != leaf;
}

bool sampler_data_with(symp e, const struct var *leaf)
{
    return !sym_any(e, moves_beside, leaf);
}

/* The score at a block of 0, where log density is c1 e - weight/2 e^2. */
static void derive_score(struct compiler *c, const struct step *s,
                         const struct plate_values *v, symp e, symp c1,
                         struct quadratic *q)
{
    const struct elements own = block_elements(s);
    struct var *seen = q->part->factor->seen_var;
    bool told;
    symp offset = model_without_elements(c, e, &own, &told);
    if (told && seen) {
        /* what is left of an array of its own statement is data */
        symp at_load = model_without_arrays(c, e, &own);
        q->constant_score = sampler_data_with(
            sym_sub(c, sym_div(c, c1, q->weight), at_load), seen);
    }
    if (!told) {
        offset = e;
        for (int i = 0; i < s->block.n; i++)
            offset = sym_sub(c, offset,
                             times_member(c, &s->block.members[i],
                                          &s->block.members[i].index, v,
                                          q->design[i]));
    }
    q->score = sym_sub(c, c1, sym_mul2(c, q->weight, offset));
}

static bool derive_row(struct compiler *c, const struct step *s,
                       const struct plate_values *v, struct quadratic *q)
{
    symp logp = q->part->logp;
    symp e = find_predictor(c, s, logp, v);
    if (!e)
        return false;
    struct collected k;
    sym_collect(c, sym_replace(c, logp, e, sym_target(c)), false, &k);
    symp t = sym_target(c), square = sym_pow(c, t, sym_num(c, 2));
    symp c1 = sym_num(c, 0), c2 = sym_num(c, 0);
    if (k.overflow)
        return false;
    for (int i = 0; i < k.n; i++) {
        if (sym_same(k.statistic[i], t))
            c1 = k.coefficient[i];
        else if (sym_same(k.statistic[i], square))
            c2 = k.coefficient[i];
        else
            return false;
    }
    q->weight = sym_mul2(c, sym_num(c, -2), c2);
    q->row = true;
    q->constant_design = true;
    q->constant_weight = true;
    for (int i = 0; i < q->part->nloops; i++)
        if (sym_has_loop(q->weight, q->part->loops[i]))
            q->constant_weight = false;
    for (int i = 0; i < s->block.n; i++) {
        symp x =
            member_cell(c, &s->block.members[i], &s->block.members[i].index, v);
        q->design[i] = sym_derivative(c, e, x);
        q->constant_design =
            q->constant_design && !sym_reads_latent(q->design[i]);
        if (s->block.members[i].index.n && s->block.n == 1)
            q->matrix = direct_matrix(c, s, q->part, q->design[i]);
    }
    derive_score(c, s, v, e, c1, q);
    return true;
}

/* True if the second derivative is nonzero only where the indices agree. */
static bool is_diagonal(struct compiler *c, symp e, const struct loop *a,
                        const struct loop *b)
{
    if (sym_is(e, 0))
        return true;
    if (e->kind == SYM_ADD) {
        for (int i = 0; i < e->nargs; i++)
            if (!is_diagonal(c, e->args[i], a, b))
                return false;
        return true;
    }
    if (e->kind == SYM_SELECT && sym_is(e->args[2], 0) &&
        is_diagonal(c, e->args[0], a, b))
        return true;
    if (e->kind == SYM_SELECT)
        return is_diagonal(c, e->args[1], a, b) &&
               is_diagonal(c, e->args[2], a, b);
    if (e->kind == SYM_CALL && !strcmp(e->name, "=="))
        return (sym_has_loop(e->args[0], a) && sym_has_loop(e->args[1], b)) ||
               (sym_has_loop(e->args[0], b) && sym_has_loop(e->args[1], a));
    if (e->kind == SYM_MUL || (e->kind == SYM_CALL && !strcmp(e->name, "&&")))
        for (int i = 0; i < e->nargs; i++)
            if (is_diagonal(c, e->args[i], a, b))
                return true;
    return false;
}

static bool prior_is_diagonal(struct compiler *c, const struct step *s,
                              const struct quadratic *q)
{
    for (int i = 0; i < s->block.n; i++)
        for (int j = 0; j <= i; j++) {
            if (i != j && !sym_is(q->precision[i][j], 0))
                return false;
            for (int k = 0; i == j && k < s->block.members[i].index.n; k++)
                if (!is_diagonal(c, q->precision[i][i],
                                 s->block.members[i].index.loops[k],
                                 s->block.members[i].index2.loops[k]))
                    return false;
        }
    return true;
}

/* ---- building a block
 * ----------------------------------------------------------------------- */

static struct part *part_for(struct step *const *steps, int n,
                             const struct factor *g, int *whose)
{
    for (int i = 0; i < n; i++)
        for (struct part *p = steps[i]->parts; p; p = p->next)
            if (p->factor == g) {
                *whose = i;
                return p;
            }
    return NULL;
}

static bool mentioned_once(const struct step *s, const struct factor *g)
{
    int n = 0;
    for (struct part *p = s->parts; p; p = p->next)
        n += p->factor == g;
    return n <= 1;
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

/* For a dense block all instances of a factor count, whatever element they
 * hit: the factor's loops under fresh names, none solved. */
static struct part *every_instance(struct compiler *c, struct factor *g)
{
    struct part *p = NEW(c, struct part);
    p->factor = g;
    p->nloops = g->nloops;
    p->loops = g->loops;
    p->solved = NEW_ARRAY(c, symp, g->nloops);
    p->logp = g->logp;
    return p;
}

static void add_quadratic(struct step *s, struct quadratic *q)
{
    struct quadratic **last = &s->block.quadratics;
    while (*last)
        last = &(*last)->next;
    *last = q;
}

/* The part of a member of a block that is not dense. */
static bool add_part(struct compiler *c, struct step *s, const struct family *f,
                     struct part *p)
{
    struct quadratic *q = NEW(c, struct quadratic);
    struct plate_values v;
    q->part = p;
    if (p->opaque || !values_of_part(c, f, p, &v) ||
        (p->own && p->factor->family != f) ||
        !derive_quadratic(c, s, &v, false, q))
        return false;
    add_quadratic(s, q);
    return true;
}

static bool add_dense(struct compiler *c, struct step *s, struct factor *g,
                      int whose, bool prior)
{
    struct quadratic *q = NEW(c, struct quadratic);
    struct plate_values v;
    const struct family *f = s->block.members[whose].family;
    no_values(c, f, &v);
    if (!prior) {
        q->part = every_instance(c, g);
        if (!derive_row(c, s, &v, q))
            return false;
    } else {
        q->part = sampler_own_prior(c, f);
        const struct indices *index = &s->block.members[whose].index;
        for (int i = 0; i < index->n && !f->nslices; i++)
            q->part->logp = sym_replace_loop(c, q->part->logp, f->loops[i],
                                             sym_loop(c, index->loops[i]));
        if (!derive_quadratic(c, s, &v, true, q))
            return false;
        sampler_dense_of(s)->coupled_prior =
            sampler_dense_of(s)->coupled_prior || !prior_is_diagonal(c, s, q);
    }
    add_quadratic(s, q);
    return true;
}

static bool add_factor(struct compiler *c, struct step *s,
                       struct step *const *steps, struct factor *g, bool dense)
{
    int whose = 0, owner = -1;
    struct part *p = part_for(steps, s->block.n, g, &whose);
    for (int i = s->block.n - 1; i >= 0; i--)
        if (s->block.members[i].family->factor == g && !g->replaced)
            owner = i;
    if (!p && owner < 0)
        return true;
    if (dense)
        return add_dense(c, s, g, p ? whose : owner, !p || p->own);
    for (int i = 0; i < s->block.n; i++)
        if (!mentioned_once(steps[i], g))
            return false;
    /* a vector's own prior is no part; in a chain of vectors the prior of the
     * next one is, of the same statement */
    const struct family *own =
        owner < 0 ? NULL : s->block.members[owner].family;
    if (own && (!p || own->nslices) &&
        !add_part(c, s, own, sampler_own_prior(c, own)))
        return false;
    return !p || add_part(c, s, s->block.members[whose].family, p);
}

/* Any real vector will do; not so one on the simplex, or of counts. */
static bool unconfined_vector(const struct family *f)
{
    const struct expr *support =
        f->nslices ? entry_value(f->distribution, "support") : NULL;
    return !support || !strcmp(support->name, "vector");
}

/* Tries to make one Gaussian block of the steps' families. */
static struct step *make_block(struct compiler *c, struct model *m,
                               struct step *const *steps, int n, bool dense)
{
    struct step *s = NEW(c, struct step);
    struct family *families[MOST_IN_BLOCK];
    struct text name = {0};
    bool confined = false;
    text_append(&name, "update");
    for (int i = 0; i < n; i++) {
        families[i] = steps[i]->family;
        text_printf(&name, "_%s", family_id(c, families[i]));
        confined = confined || !unconfined_vector(families[i]);
    }
    if (confined) {
        text_free(&name);
        return NULL;
    }
    s->name = intern(c, name.data);
    text_free(&name);
    s->model = m;
    s->family = families[0];
    s->sampler = dense ? &sampler_dense_block : &sampler_gaussian_block;
    s->own = dense ? NEW(c, struct dense) : NULL;
    set_members(c, s, families, n, dense);
    for (struct factor *h = m->factors; h; h = h->next) {
        struct factor *g = condition_seen_by_all(c, steps, n, h);
        if (!g || (!g->replaced && !add_factor(c, s, steps, g, dense)))
            return NULL;
    }
    if (!s->block.quadratics)
        return NULL;
    bool rows = false;
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        rows = rows || q->row;
    if (dense && !rows)
        return NULL;
    for (int i = 0; i < n; i++) {
        s->order.sequential =
            s->order.sequential ||
            (!dense && (steps[i]->order.sequential ||
                        (steps[i]->order.conflicts && n > 1)));
        for (struct part *p = steps[i]->parts; p; p = p->next)
            if (!dense && i == 0)
                s->parts = steps[i]->parts; /* for the cost of an element */
    }
    if (n == 1 && !dense)
        s->order.conflicts = steps[0]->order.conflicts;
    return s;
}

/* ---- which steps meet
 * -----------------------------------------------------------------------------
 */

bool normal_scalar(const struct step *s)
{
    return s->sampler == &sampler_direct && s->law.family &&
           entry_is_normal(s->law.family) && !s->support.bounded &&
           !s->through && !s->opaque;
}

/* Elements tied to each other inside one factor, by a sum or fixed places. */
bool sampler_chained(const struct step *s)
{
    const struct factor *own = s->family->factor;
    for (const struct part *p = s->parts; p; p = p->next)
        if (!p->own && p->factor == own)
            return true; /* the prior ties elements: x[t] given x[t-1] */
    return false;
}

enum { MAX_BOUND = 16 };
/* Whether sums around e run through a reference to f in all of f's loops, so
 * that they tie each element to all others. */
static bool sums_over_plate(symp e, const struct family *f,
                            const struct loop *const *bound, int nbound)
{
    const struct loop *inside[MAX_BOUND];
    if (e->kind == SYM_SUM && nbound < MAX_BOUND) {
        for (int i = 0; i < nbound; i++)
            inside[i] = bound[i];
        inside[nbound++] = e->loop;
        bound = inside;
    }
    if (e->kind == SYM_REF && e->var == f->var) {
        int run = 0;
        for (int d = 0; d < f->var->ndim; d++) {
            bool runs = false;
            for (int i = 0; i < nbound; i++)
                runs = runs || sym_has_loop(e->args[d], bound[i]);
            run += runs;
        }
        if (run >= f->nloops)
            return true;
    }
    for (int i = 0; i < e->nargs; i++)
        if (sums_over_plate(e->args[i], f, bound, nbound))
            return true;
    return false;
}

/* One block of a plate with several loops is worth its size where all elements
 * meet at once. */
static bool tied_throughout(const struct step *s)
{
    const struct family *f = s->family;
    if (f->nloops == 1)
        return true;
    if (f->nloops >
            (int)(sizeof s->block.members[0].index.loops / sizeof(void *)) ||
        !family_rectangular(f))
        return false;
    for (const struct part *p = s->parts; p; p = p->next)
        if (!p->own && sums_over_plate(p->factor->logp, f, NULL, 0))
            return true;
    return false;
}

bool sampler_coupled(const struct step *s)
{
    return s->family->nloops > 0 && !s->family->nslices &&
           (s->order.sequential || s->order.conflicts) && normal_scalar(s) &&
           !sampler_chained(s) && tied_throughout(s);
}

bool sampler_same_plate(struct compiler *c, const struct family *f,
                        const struct family *g)
{
    if (f->nloops != g->nloops)
        return false;
    for (int i = 0; i < f->nloops; i++) {
        symp lower = g->loops[i]->lower, upper = g->loops[i]->upper;
        for (int j = 0; j < i; j++) {
            lower = sym_replace_loop(c, lower, g->loops[j],
                                     sym_loop(c, f->loops[j]));
            upper = sym_replace_loop(c, upper, g->loops[j],
                                     sym_loop(c, f->loops[j]));
        }
        if (!sym_same(f->loops[i]->lower, lower) ||
            !sym_same(f->loops[i]->upper, upper))
            return false;
    }
    return true;
}

bool sampler_plain_plate(struct compiler *c, const struct family *f)
{
    int n = 0;
    for (int d = 0; d < f->var->ndim; d++) {
        if (f->upper[d])
            continue;
        symp offset;
        const struct loop *l = sym_plain_loop(c, f->lower[d], &offset);
        for (int i = 0; l && i < f->nloops; i++)
            n += f->loops[i] == l;
    }
    return n == f->nloops;
}

/* Both in one factor that is neither's own prior? */
bool sampler_share_likelihood(const struct step *a, const struct step *b)
{
    for (const struct part *p = a->parts; p; p = p->next)
        for (const struct part *q = b->parts; q; q = q->next)
            if (p->factor == q->factor && !p->own && !q->own)
                return true;
    return false;
}

/* e of part q, in the loops of part p: those of the instance, and those of the
 * element. */
static symp in_loops_of(struct compiler *c, symp e, const struct part *q,
                        const struct part *p, const struct family *from,
                        const struct family *to)
{
    for (int i = 0; i < q->nloops; i++)
        e = sym_replace_loop(c, e, q->loops[i], sym_loop(c, p->loops[i]));
    for (int i = 0; i < from->nloops; i++)
        e = sym_replace_loop(c, e, from->loops[i], sym_loop(c, to->loops[i]));
    return e;
}

/* The condition under which an instance of the part hits an element of f at
 * all, whose loops are then v: mu[1] is hit by mu[z[i]] where z[i] is 1. */
static symp hits_some(struct compiler *c, const struct family *f,
                      const struct part *p, const struct plate_values *v)
{
    symp hit = sym_num(c, 1);
    for (int d = 0; d < f->var->ndim; d++) {
        symp at = model_at_values(c, f, f->lower[d], v->values);
        if (!f->upper[d])
            hit = sym_and(c, hit, sym_eq(c, p->reference->args[d], at));
    }
    return hit;
}

/* The same, where indices list the instances. */
static bool same_listed(struct compiler *c, const struct step *a,
                        const struct part *p, const struct step *b,
                        const struct part *q)
{
    struct plate_values v, w;
    if (!values_of_part(c, a->family, p, &v) ||
        !values_of_part(c, b->family, q, &w))
        return false;
    for (int i = 0; i < a->family->nloops; i++)
        if (!sym_same(v.values[i],
                      in_loops_of(c, w.values[i], q, p, b->family, a->family)))
            return false;
    return sym_same(hits_some(c, a->family, p, &v),
                    in_loops_of(c, hits_some(c, b->family, q, &w), q, p,
                                b->family, a->family));
}

/* Whether elements of the same number are in the same instances of a factor:
 * lambda[2,1] and lambda[3,2] are in other columns of x[i,j]. */
static bool same_instances(struct compiler *c, const struct step *a,
                           const struct part *p, const struct step *b,
                           const struct part *q)
{
    if (p->nloops != q->nloops || !p->inverse != !q->inverse ||
        !p->guard != !q->guard)
        return false;
    if (p->inverse)
        return same_listed(c, a, p, b, q);
    for (int i = 0; i < p->nloops; i++)
        if (!p->solved[i] != !q->solved[i] ||
            (p->solved[i] &&
             !sym_same(p->solved[i], in_loops_of(c, q->solved[i], q, p,
                                                 b->family, a->family))))
            return false;
    return !p->guard || sym_same(p->guard, in_loops_of(c, q->guard, q, p,
                                                       b->family, a->family));
}

/* Whether an element of a is in the prior of b's element of the same number,
 * and in no other: mu[1] is in that of x ~ dnorm(mu[k], tau) if k is 1. */
static bool in_prior_of_same(struct compiler *c, const struct step *a,
                             const struct part *p, const struct step *b)
{
    if (p->inverse || p->guard || p->nloops != a->family->nloops)
        return false;
    for (int i = 0; i < p->nloops; i++)
        if (!p->solved[i] ||
            !sym_same(p->solved[i], sym_loop(c, a->family->loops[i])))
            return false;
    return p->factor == b->family->factor;
}

/* One block per element takes a factor's instances from one of its members. */
static bool meet_everywhere(struct compiler *c, const struct step *a,
                            const struct step *b)
{
    for (const struct part *p = a->parts; p; p = p->next)
        for (const struct part *q = b->parts; q; q = q->next)
            if (p->factor == q->factor &&
                !(p->own   ? in_prior_of_same(c, b, q, a)
                  : q->own ? in_prior_of_same(c, a, p, b)
                           : same_instances(c, a, p, b, q)))
                return false;
    return true;
}

static bool in_own_prior(const struct step *a, const struct step *b)
{
    return sym_has_var(a->family->factor->logp, b->family->var) ||
           sym_has_var(b->family->factor->logp, a->family->var);
}

bool sampler_dense_alone(struct compiler *c, struct model *m,
                         struct step *const *steps, int n)
{
    for (int i = 0; i < n; i++)
        if (!sampler_coupled(steps[i]) || n > MOST_IN_BLOCK)
            return false;
    return make_block(c, m, steps, n, true) != NULL;
}

void sampler_merge_away(struct step *s)
{
    s->merged = true;
    s->sampler = NULL;
}

void sampler_replace_steps(struct step *const *old, int n, struct step *block)
{
    struct step *first = old[0], *next = first->next;
    const int keep = first->number;
    *first = *block;
    first->next = next;
    first->number = keep;
    for (int i = 1; i < n; i++)
        sampler_merge_away(old[i]);
}

static void merge_from(struct compiler *c, struct model *m, struct step *seed)
{
    bool dense = sampler_coupled(seed);
    struct step *group[MOST_IN_BLOCK] = {seed};
    int n = 1;
    for (struct step *s = m->steps; s && n < MOST_IN_BLOCK; s = s->next) {
        if (s == seed || !normal_scalar(s) ||
            s->beside.block != seed->beside.block ||
            !sampler_plain_plate(c, s->family))
            continue;
        bool global = s->family->nloops == 0 || sampler_coupled(s);
        bool meets = false;
        for (int i = 0; i < n; i++) {
            if (dense ? !global
                      : !sampler_same_plate(c, group[i]->family, s->family))
                continue;
            if (!dense && sampler_coupled(s))
                continue;
            meets = meets || sampler_share_likelihood(group[i], s);
        }
        for (int i = 0; i < n; i++)
            meets = meets && (dense ? !in_own_prior(group[i], s)
                                    : meet_everywhere(c, group[i], s));
        if (!meets)
            continue;
        group[n++] = s;
        struct step *block = make_block(c, m, group, n, dense);
        if (!block)
            n--;
    }
    if (n == 1 && !dense)
        return;
    struct step *block = make_block(c, m, group, n, dense);
    if (!block)
        return;
    block->beside = seed->beside;
    sampler_replace_steps(group, n, block);
}

/* ---- vector nodes
 * ------------------------------------------------------------------------------------
 */

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
        if (!values_of_part(c, f, p, &v))
            return false;
        symp logp = sym_map(c, p->logp, log_node, &k);
        if (sym_has_var(logp, f->var))
            return false;
        symp cell = member_cell(c, &s->block.members[0],
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
    struct part *parts = sampler_own_prior(c, f);
    parts->logp = condition_matrix_seen(c, s, parts->logp);
    parts->next = s->parts;
    for (struct part *p = parts; p; p = p->next) {
        struct plate_values v;
        struct quadratic *q = NEW(c, struct quadratic);
        q->part = p;
        if (!values_of_part(c, f, p, &v) ||
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
    s->block.members[0].index = index_loops(c, f, "a");
    s->block.members[0].index2 = index_loops(c, f, "b");
    s->block.members[0].count = family_extent(c, f, 0);
}

/* Finds the family of a vector node; a Gaussian one becomes a block. */
static bool recognise_vector(struct compiler *c, struct model *m,
                             struct step *s)
{
    struct family *f = s->family;
    const struct entry *d = f->distribution;
    struct step *self[1] = {s};
    if (s->through)
        return false;
    if (f->nslices == 1) {
        struct step *block = make_block(c, m, self, 1, false);
        if (!block && f->nloops == 0)
            block = make_block(c, m, self, 1, true);
        if (block) {
            sampler_replace_steps(self, 1, block);
            return true;
        }
    }
    set_members(c, s, &f, 1, false);
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

bool sampler_gaussian_density(struct compiler *c, struct step *s,
                              struct factor *g)
{
    struct family *f = s->family;
    if (!unconfined_vector(f))
        return false;
    set_members(c, s, &f, 1, false);
    struct plate_values v;
    no_values(c, f, &v);
    struct quadratic *q = NEW(c, struct quadratic);
    q->part = sampler_own_prior(c, f);
    q->part->factor = g;
    q->part->logp = g->logp;
    if (!derive_quadratic(c, s, &v, false, q))
        return false;
    s->block.quadratics = q;
    return true;
}

bool sampler_gaussian_prior(struct compiler *c, struct step *s)
{
    struct factor *g = s->family->factor;
    return !g->replaced && sampler_gaussian_density(c, s, g);
}

/* Otherwise an ellipse if its prior is normal, or component by component, all
 * factors evaluated in place. */
static void vector_node(struct compiler *c, struct model *m, struct step *s)
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
    set_members(c, s, &f, 1, false);
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

/* A leaf that is observed in part: its other cells given these. */
static void rest_of_leaf(struct compiler *c, struct model *m, struct step *s)
{
    struct step *self[1] = {s};
    struct step *rest = s->own = make_block(c, m, self, 1, false);
    if (rest)
        rest->name = intern_format(c, "rest_%s", family_id(c, s->family));
}

void sampler_form_blocks(struct compiler *c, struct model *m)
{
    for (struct step *s = m->steps; s; s = s->next)
        if (s->sampler == &sampler_vector_draw)
            vector_node(c, m, s);
        else if (s->sampler == &sampler_forward_draw &&
                 s->family->nslices == 1 && !model_draws_integers(s->family))
            rest_of_leaf(c, m, s);
    sampler_form_joint_blocks(c, m);
    /* blocks with a design matrix first: they take the scalars that they can */
    for (struct step *s = m->steps; s; s = s->next)
        if (sampler_coupled(s))
            merge_from(c, m, s);
    for (struct step *s = m->steps; s; s = s->next)
        if (normal_scalar(s) && !sampler_coupled(s) &&
            sampler_plain_plate(c, s->family))
            merge_from(c, m, s);
}
