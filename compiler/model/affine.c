/* affine.c: scalars that a recursion is affine in, as the level m and the slope
 * b are in
 *
 *     e[t] <- y[t] - mu[t];    mu[t] <- m + b * x[t] + theta * e[t-1]
 *
 * Such arrays are kept, so what they read enters a density through them and is
 * found in no formula. But D[t] = D0[t] + m Dm[t] + b Db[t], where D0 is the
 * same recursion with m = b = 0, and Dm and Db are its derivatives, which are
 * recursions free of m and b. They become kept arrays too, which only the
 * updates of m and b read; these then see a normal likelihood with a linear
 * predictor. The updates of all else, as of theta, go through D as before. */
#include "model/resolve.h"

enum { AFFINE_MOST = 16, SETS_MOST = 4 };

struct affine_var {
    struct var *var, *rest, *slope[AFFINE_MOST]; /* slope NULL: it is 0 */
};
struct affine_factor {
    struct factor *of, *as;
    struct affine_factor *next;
};
struct affine {
    struct compiler *c;
    struct model *m;
    struct family *members[AFFINE_MOST];
    symp cells[AFFINE_MOST];
    int n;
    struct affine_var *vars;
    int nvars;
    struct affine_factor *factors;
};

/* ---- degrees in the members ---------------------------------------------- */

enum { HIGH = 9 }; /* no polynomial, or of too high a degree */

static bool is_kept(const struct var *v)
{
    return v->role == ROLE_DERIVED && v->stored;
}

static int number_of_member(const struct affine *k, symp ref)
{
    for (int i = 0; i < k->n; i++)
        if (sym_same(k->cells[i], ref))
            return i;
    return -1;
}

static bool has_member_of(const struct affine *k, const struct var *v)
{
    for (int i = 0; i < k->n; i++)
        if (k->cells[i]->var == v)
            return true;
    return false;
}

static int degree(const struct affine *k, symp e);

static int highest(const struct affine *k, symp e, int from)
{
    int most = 0;
    for (int i = from; i < e->nargs; i++) {
        int d = degree(k, e->args[i]);
        most = d > most ? d : most;
    }
    return most;
}

static int degree_of_reference(const struct affine *k, symp e)
{
    if (highest(k, e, 0) > 0)
        return HIGH;
    if (number_of_member(k, e) >= 0)
        return 1;
    if (!has_member_of(k, e->var))
        return e->var->degree;
    for (int d = 0; d < e->nargs; d++)
        if (e->args[d]->kind != SYM_NUM)
            return HIGH; /* it may be the member, or not */
    return 0;
}

static int degree_of_product(const struct affine *k, symp e)
{
    int sum = 0;
    for (int i = 0; i < e->nargs; i++)
        sum += degree(k, e->args[i]);
    return sum < HIGH ? sum : HIGH;
}

static int degree_of_power(const struct affine *k, symp e)
{
    int base = degree(k, e->args[0]);
    symp n = e->args[1];
    if (base == 0)
        return degree(k, n) ? HIGH : 0;
    bool whole = sym_is(n, 1) || sym_is(n, 2);
    return whole && base < HIGH ? base * (int)n->number : HIGH;
}

/* Of the polynomial in the members that e is. */
static int degree(const struct affine *k, symp e)
{
    switch (e->kind) {
    case SYM_REF:
        return degree_of_reference(k, e);
    case SYM_ADD:
        return highest(k, e, 0);
    case SYM_MUL:
        return degree_of_product(k, e);
    case SYM_POW:
        return degree_of_power(k, e);
    case SYM_SELECT:
        return degree(k, e->args[0]) ? HIGH : highest(k, e, 1);
    case SYM_SUM:
        return degree(k, e->args[0]) || degree(k, e->args[1])
                   ? HIGH
                   : degree(k, e->args[2]);
    default:
        return highest(k, e, 0) ? HIGH : 0;
    }
}

/* The loops and subscripts of f do not move with the members. */
static bool fixed_place(const struct affine *k, const struct family *f)
{
    for (int i = 0; i < f->nloops; i++)
        if (degree(k, f->loops[i]->lower) || degree(k, f->loops[i]->upper))
            return false;
    for (int d = 0; d < f->var->ndim; d++)
        if (degree(k, f->lower[d]))
            return false;
    return true;
}

static int degree_of_definition(const struct affine *k, const struct family *f)
{
    int d = degree(k, model_substitute_derived(k->c, f->body));
    bool plain = is_kept(f->var) && !f->whole_call && !f->nslices;
    return (d > 0 && !plain) || !fixed_place(k, f) ? HIGH : d;
}

/* The degree of each computed array, from 0 upwards until nothing changes. */
static void settle_degrees(const struct affine *k)
{
    for (struct var *v = k->m->vars; v; v = v->next)
        v->degree = 0;
    for (bool again = true; again;) {
        again = false;
        for (struct family *f = k->m->families; f; f = f->next) {
            if (f->stochastic || f->constant || f->data_block || !f->body ||
                f->for_updates || !f->var->stored || f->var->degree == HIGH)
                continue;
            int d = degree_of_definition(k, f);
            if (d <= f->var->degree)
                continue;
            f->var->degree = d > 1 ? HIGH : d;
            again = true;
        }
    }
}

/* ---- which sets ---------------------------------------------------------- */

/* Whether e reads an array that moves with the members. */
static bool reads_moved(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_REF && e->var->degree > 0;
}

static symp log_density(struct compiler *c, const struct family *f)
{
    const struct expr *e = entry_value(f->distribution, "logdensity");
    symp logp = e ? family_expression(c, f, e) : NULL;
    return logp ? model_substitute_derived(c, logp) : NULL;
}

/* A density that moves with the members, and how: *bound, that one does. */
static bool quadratic_density(const struct affine *k, const struct family *f,
                              bool *any)
{
    symp logp = log_density(k->c, f);
    if (!logp)
        return false;
    bool moved = sym_any(logp, reads_moved, NULL);
    for (int i = 0; i < 2; i++) {
        symp end = i ? f->trunc_upper : f->trunc_lower;
        moved = moved || (end && sym_any(model_substitute_derived(k->c, end),
                                         reads_moved, NULL));
    }
    if (!moved)
        return true;
    *any = true;
    return !f->truncated && !entry_clause(f->distribution, "observable") &&
           fixed_place(k, f) && degree(k, logp) <= 2;
}

/* Whether the kept arrays are affine in the members together, and all that
 * reads them is quadratic in it. */
static bool fits(const struct affine *k)
{
    bool any = false;
    settle_degrees(k);
    for (const struct var *v = k->m->vars; v; v = v->next)
        if (v->degree > 1)
            return false;
    for (const struct family *f = k->m->families; f; f = f->next)
        if (f->stochastic && !f->data_block && !quadratic_density(k, f, &any))
            return false;
    return any;
}

static void add_member(struct affine *k, struct family *f)
{
    k->members[k->n] = f;
    k->cells[k->n++] = sym_ref(k->c, f->var, f->var->ndim, f->lower);
}

/* A scalar whose prior is normal, or flat, where it is not 0. */
static bool is_candidate(struct compiler *c, struct model *m, struct family *f)
{
    if (!f->stochastic || f->data_block || f->nloops || f->nslices ||
        f->affine || f->var->leaf || model_draws_integers(f))
        return false;
    for (int d = 0; d < f->var->ndim; d++)
        if (f->lower[d]->kind != SYM_NUM)
            return false;
    struct affine alone = {.c = c, .m = m};
    add_member(&alone, f);
    for (struct var *v = m->vars; v; v = v->next)
        v->degree = 0;
    symp prior = log_density(c, f);
    return prior && degree(&alone, prior) <= 2;
}

static bool enters_kept(struct model *m, const struct family *f)
{
    for (const struct var *v = m->vars; v; v = v->next)
        if (is_kept(v) && model_derived_depends(m, v, f->var))
            return true;
    return false;
}

/* Whether f's variable stands beside a kept array that moves with the set. */
static bool stands_beside(const struct affine *k, const struct family *f)
{
    settle_degrees(k);
    for (const struct family *g = k->m->families; g; g = g->next) {
        symp logp =
            g->stochastic && !g->data_block ? log_density(k->c, g) : NULL;
        if (logp && sym_has_var(logp, f->var) &&
            sym_any(logp, reads_moved, NULL))
            return true;
    }
    return false;
}

static bool joins(struct affine *k, struct family *f)
{
    if (k->n == AFFINE_MOST)
        return false;
    add_member(k, f);
    if (fits(k)) {
        f->affine = k;
        return true;
    }
    k->n--;
    return false;
}

/* ---- the arrays ------------------------------------------------------------
 */

static const struct affine_var *find(const struct affine *k,
                                     const struct var *v)
{
    for (int i = 0; i < k->nvars; i++)
        if (k->vars[i].var == v)
            return &k->vars[i];
    return NULL;
}

/* D[t] as D0[t] + m Dm[t] + ... */
static symp expand_node(struct compiler *c, symp e, void *context)
{
    const struct affine *k = context;
    const struct affine_var *v = e->kind == SYM_REF ? find(k, e->var) : NULL;
    if (!v)
        return NULL;
    symp terms[AFFINE_MOST + 1];
    int n = 0;
    terms[n++] = sym_ref(c, v->rest, e->nargs, e->args);
    for (int i = 0; i < k->n; i++)
        if (v->slope[i])
            terms[n++] = sym_mul2(c, k->cells[i],
                                  sym_ref(c, v->slope[i], e->nargs, e->args));
    return sym_add(c, n, terms);
}

static symp without_members(const struct affine *k, symp e)
{
    for (int i = 0; i < k->n; i++)
        e = sym_replace(k->c, e, k->cells[i], sym_num(k->c, 0));
    return e;
}

static struct var *new_array(const struct affine *k, const struct var *of,
                             const char *name)
{
    struct var *v = NEW(k->c, struct var);
    v->name = intern_format(k->c, "%s.%s", of->name, name);
    v->span = of->span;
    v->role = ROLE_DERIVED;
    v->stored = v->hidden = v->used = true;
    v->ndim = of->ndim;
    for (int d = 0; d < of->ndim; d++)
        v->declared[d] = of->declared[d];
    *k->m->last_var = v;
    k->m->last_var = &v->next;
    return v;
}

/* The statement f for `v`, with its own loops. */
static void define(const struct affine *k, const struct family *f,
                   struct var *v, symp body)
{
    struct compiler *c = k->c;
    struct family *g = NEW(c, struct family);
    g->var = v;
    g->span = f->span;
    g->nloops = f->nloops;
    g->loops = NEW_ARRAY(c, struct loop *, MAX_LOOPS);
    for (int d = 0; d < f->var->ndim; d++)
        g->lower[d] = f->lower[d];
    for (int i = 0; i < f->nloops; i++) {
        const struct loop *old = f->loops[i];
        symp lower = old->lower, upper = old->upper;
        for (int j = 0; j < i; j++) {
            symp at = sym_loop(c, g->loops[j]);
            lower = sym_replace_loop(c, lower, f->loops[j], at);
            upper = sym_replace_loop(c, upper, f->loops[j], at);
        }
        g->loops[i] = model_new_loop(c, old->name, lower, upper);
        symp at = sym_loop(c, g->loops[i]);
        body = sym_replace_loop(c, body, old, at);
        for (int d = 0; d < f->var->ndim; d++)
            g->lower[d] = sym_replace_loop(c, g->lower[d], old, at);
    }
    g->body = body;
    g->text = intern_format(c, "%s of %s", v->name, f->text);
    g->recursive = sym_has_var(body, v);
    g->for_updates = true;
    family_add(k->m, g);
}

static void name_arrays(struct affine *k)
{
    int n = 0;
    for (const struct var *v = k->m->vars; v; v = v->next)
        n += v->degree == 1;
    k->vars = NEW_ARRAY(k->c, struct affine_var, n);
    for (struct var *v = k->m->vars; v && k->nvars < n; v = v->next) {
        if (v->degree != 1)
            continue;
        struct affine_var *a = &k->vars[k->nvars++];
        a->var = v;
        a->rest = new_array(k, v, "rest");
        a->rest->rest_of = v;
        for (int i = 0; i < k->n; i++)
            if (model_derived_depends(k->m, v, k->cells[i]->var)) {
                a->slope[i] = new_array(k, v, k->cells[i]->var->name);
                a->slope[i]->slope_of = v;
            }
    }
}

/* which: a member's number, or -1: the rest. */
static void define_all(struct affine *k, int which)
{
    struct compiler *c = k->c;
    for (struct family *f = k->m->families; f; f = f->next) {
        const struct affine_var *a = f->stochastic ? NULL : find(k, f->var);
        struct var *v = !a ? NULL : which < 0 ? a->rest : a->slope[which];
        if (!v)
            continue;
        symp body =
            sym_map(c, model_substitute_derived(c, f->body), expand_node, k);
        if (which >= 0)
            body = sym_derivative(c, body, k->cells[which]);
        define(k, f, v, without_members(k, body));
    }
}

static struct affine *new_set(struct compiler *c, struct model *m)
{
    struct affine *k = NEW(c, struct affine);
    *k = (struct affine){.c = c, .m = m};
    return k;
}

void model_split_affine(struct compiler *c, struct model *m)
{
    struct affine *sets[SETS_MOST + 1] = {new_set(c, m)};
    int n = 0;
    for (struct family *f = m->families; f && n < SETS_MOST; f = f->next) {
        if (!is_candidate(c, m, f) || !enters_kept(m, f))
            continue;
        for (int i = 0; i <= n && !f->affine; i++)
            if (joins(sets[i], f) && i == n)
                sets[++n] = new_set(c, m);
    }
    for (int i = 0; i < n; i++)
        for (struct family *f = m->families; f; f = f->next)
            if (is_candidate(c, m, f) && !enters_kept(m, f) &&
                stands_beside(sets[i], f))
                (void)joins(sets[i], f);
    for (int i = 0; i < n; i++) {
        settle_degrees(sets[i]);
        name_arrays(sets[i]);
        for (int which = -1; which < sets[i]->n; which++)
            define_all(sets[i], which);
    }
}

/* ---- factors as the members see them --------------------------------------
 */

static bool reads_expanded(symp e, const void *set)
{
    return e->kind == SYM_REF && find(set, e->var);
}

struct factor *model_seen_by(struct compiler *c, const struct family *f,
                             struct factor *g)
{
    struct affine *k = f->affine;
    if (!k || !sym_any(g->logp, reads_expanded, k))
        return g;
    for (struct affine_factor *a = k->factors; a; a = a->next)
        if (a->of == g)
            return a->as;
    struct affine_factor *a = NEW(c, struct affine_factor);
    a->of = g;
    a->as = NEW(c, struct factor);
    *a->as = *g;
    a->as->logp = sym_map(c, g->logp, expand_node, k);
    a->as->plain = a->as->logp;
    a->next = k->factors;
    k->factors = a;
    return a->as;
}
