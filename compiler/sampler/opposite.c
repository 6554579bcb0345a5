/* opposite.c: effects that stand in the model only in products with a node, as
 * e[j] ~ dnorm(0, 1) in mu + sigma * e[j], leave their scale to the node and
 * the node its own to them: drawn in turn, both move in small steps where the
 * data say much. So all of e are multiplied by one number and the node divided
 * by it, which leaves the products and all that reads them as they are. It is
 * the sufficient one of the two steps of Yu and Meng (2011), To center or not
 * to center: that is not the question, J. Comput. Graph. Stat. 20(3); the usual
 * draws, of e given the node and of the node given e, are the ancillary one.
 *
 * The number is drawn from the density along that line, by the invariant
 * measure of multiplications (Liu and Sabatti 2000, Generalised Gibbs sampler):
 * the prior of e, a quadratic of the number, and that of the node.
 *
 * Warm-up tells whether a move pays, as of carried effects
 * (stdlib/kernels/carried.h).
 *
 * Where the nodes are a plate, sigma[k] * e[j,k], each has a number of its own.
 * One of several, sigma[2] * e[j], is a node by itself.
 *
 * Requires a list of steps without merged ones, before the sweep is planned. */
#include "sampler/moves.h"
#include "sampler/scale.h"

/* What reads the node: densities, and definitions of what is kept. */
struct readers {
    const struct factor **factors;
    symp *bodies;
    int nfactors, nbodies;
};

struct pair {
    struct compiler *c;
    struct model *m;
    const struct var *effects; /* multiplied */
    struct family *node;       /* divided */
    int dim; /* of the effects: its subscript is the node's; -1: one node */
    symp at; /* the node is the one of this number; NULL: it is no such one */
    struct var *number; /* a name for the number, at a node's subscript */
};

/* ---- what the products leave as it is --------------------------------------
 */

static symp number_at(const struct pair *p, symp at)
{
    return sym_ref(p->c, p->number, p->number->ndim, &at);
}

static symp moved_cell(struct compiler *c, symp e, void *context)
{
    const struct pair *p = context;
    if (e->kind != SYM_REF)
        return NULL;
    if (e->var == p->effects)
        return sym_mul2(c, e,
                        number_at(p, p->dim < 0 ? NULL : e->args[p->dim]));
    if (e->var == p->node->var && p->at && !sym_same(e->args[0], p->at))
        return NULL; /* another one */
    if (e->var == p->node->var)
        return sym_div(c, e, number_at(p, e->nargs ? e->args[0] : NULL));
    return NULL;
}

static bool mentions(const struct pair *p, symp e)
{
    return e && (sym_has_var(e, p->effects) || sym_has_var(e, p->node->var));
}

/* Whether e is one of several that may be the node, w[which[i]]. */
static bool may_be_node(symp e, const void *pair)
{
    const struct pair *p = pair;
    return p->at && e->kind == SYM_REF && e->var == p->node->var &&
           e->args[0]->kind != SYM_NUM;
}

/* Whether the move does not change e. */
static bool stays(const struct pair *p, symp e)
{
    struct pair context = *p;
    return !mentions(p, e) ||
           (!sym_any(e, may_be_node, p) &&
            !sym_has_var(sym_map(p->c, e, moved_cell, &context), p->number));
}

static bool factor_stays(const struct pair *p, const struct factor *g)
{
    symp all[FACTOR_EXPRESSIONS];
    const int n = model_factor_expressions(g, all);
    for (int i = 0; i < n; i++)
        if (!stays(p, all[i]))
            return false;
    return true;
}

/* The priors of both, apart from each other, and for the rest the products: in
 * densities, and in derived nodes that are kept. */
static bool only_products(const struct pair *p)
{
    bool meet = false;
    for (const struct factor *g = p->m->factors; g; g = g->next) {
        const struct var *own = g->family->var;
        if (g->replaced)
            continue;
        if (g == p->node->factor || own == p->effects) {
            if (sampler_factor_reads(g, own == p->effects ? p->node->var
                                                          : p->effects))
                return false;
            continue;
        }
        if (!factor_stays(p, g))
            return false;
        meet = meet || (sampler_factor_reads(g, p->effects) &&
                        sampler_factor_reads(g, p->node->var));
    }
    for (const struct family *f = p->m->families; f; f = f->next)
        if (sampler_is_kept(f)) {
            symp body = model_substitute_derived(p->c, f->body);
            if (!stays(p, body))
                return false;
            meet = meet || mentions(p, body);
        }
    return meet;
}

/* ---- which ----------------------------------------------------------------
 */

/* All densities and definitions. */
static struct readers all_readers(struct compiler *c, const struct model *m)
{
    struct readers all = {0};
    for (const struct factor *g = m->factors; g; g = g->next)
        all.nfactors++;
    for (const struct family *f = m->families; f; f = f->next)
        all.nbodies += sampler_is_kept(f);
    all.factors = NEW_ARRAY(c, const struct factor *, all.nfactors);
    all.bodies = NEW_ARRAY(c, symp, all.nbodies);
    all.nfactors = all.nbodies = 0;
    for (const struct factor *g = m->factors; g; g = g->next)
        if (!g->replaced)
            all.factors[all.nfactors++] = g;
    for (const struct family *f = m->families; f; f = f->next)
        if (sampler_is_kept(f))
            all.bodies[all.nbodies++] = model_substitute_derived(c, f->body);
    return all;
}

static void find_readers(const struct readers *all, const struct var *node,
                         struct readers *out)
{
    out->nfactors = out->nbodies = 0;
    for (int i = 0; i < all->nfactors; i++)
        if (sampler_factor_reads(all->factors[i], node))
            out->factors[out->nfactors++] = all->factors[i];
    for (int i = 0; i < all->nbodies; i++)
        if (sym_has_var(all->bodies[i], node))
            out->bodies[out->nbodies++] = all->bodies[i];
}

/* Whether any of these reads v, as what is multiplied must be read somewhere
 * together with the node: so of a model's many variables few are tried. */
static bool read_beside(const struct readers *r, const struct var *v)
{
    for (int i = 0; i < r->nfactors; i++)
        if (sampler_factor_reads(r->factors[i], v))
            return true;
    for (int i = 0; i < r->nbodies; i++)
        if (sym_has_var(r->bodies[i], v))
            return true;
    return false;
}

/* Of a plate of nodes: each effect is tied to one by its subscript, and to
 * others of its statement by that alone. */
static bool is_tied(const struct pair *p, const struct family *f)
{
    struct compiler *c = p->c;
    symp offset, own = sym_ref(c, f->var, f->var->ndim, f->lower);
    return f->nloops > 1 && family_plain(c, f) &&
           sym_plain_loop(c, f->lower[p->dim], &offset) &&
           !sym_has_var(sym_replace(c, f->factor->logp, own, sym_num(c, 1)),
                        f->var);
}

static bool are_effects(const struct pair *p)
{
    if (!sampler_are_numbers(p->effects) || p->effects == p->node->var)
        return false;
    for (const struct family *f = p->effects->families; f; f = f->next_of_var)
        if (!sampler_is_free(p->m, f) || f->nslices > 1 || f->affine ||
            (p->dim >= 0 && !is_tied(p, f)))
            return false;
    return p->effects->families != NULL;
}

/* ---- one of several nodes --------------------------------------------------
 */

/* Whether f draws one node of an array by its number, or a plate of them. */
static bool has_numbers(struct compiler *c, const struct model *m,
                        const struct family *f)
{
    const struct var *v = f->var;
    const struct factor *g = f->factor;
    if (v->ndim != 1 || f->nslices || f->affine || !sampler_are_numbers(v) ||
        !sampler_is_free(m, f) || g->rule || g->guard ||
        (f->nloops ? !family_plain(c, f) || v->families != f || f->next_of_var
                   : f->lower[0]->kind != SYM_NUM))
        return false;
    symp node = sym_ref(c, f->var, 1, f->lower);
    return !sym_has_var(sym_replace(c, g->logp, node, sym_num(c, 1)), v) &&
           !(g->lower && sym_has_var(g->lower, v)) &&
           !(g->upper && sym_has_var(g->upper, v));
}

/* What the loop of a plate w[k + 1] is for the one of this number. */
static symp loop_at_number(const struct pair *p)
{
    symp offset;
    sym_plain_loop(p->c, p->node->lower[0], &offset);
    return sym_sub(p->c, p->at, offset);
}

static symp at_number(struct compiler *c, const struct factor *g, symp e,
                      symp at)
{
    return e ? sym_replace_loops(c, e, g->loops, g->nloops, &at) : NULL;
}

/* The statement of that one alone, of a plate of them. */
static const struct family *alone(const struct pair *p)
{
    struct compiler *c = p->c;
    if (!p->at || !p->node->nloops)
        return p->node;
    struct family *f = NEW(c, struct family);
    struct factor *g = NEW(c, struct factor);
    const struct factor *all = p->node->factor;
    symp at = loop_at_number(p);
    *f = *p->node;
    *g = *all;
    f->nloops = g->nloops = 0;
    f->lower[0] = p->at;
    f->factor = g;
    g->family = f;
    g->logp = at_number(c, all, all->logp, at);
    g->value = at_number(c, all, all->value, at);
    g->lower = at_number(c, all, all->lower, at);
    g->upper = at_number(c, all, all->upper, at);
    return f;
}

/* The least number above `last` at which e reads v; last: there is none. */
static double next_number(symp e, const struct var *v, double last, double next)
{
    if (e->kind == SYM_REF && e->var == v && e->args[0]->kind == SYM_NUM) {
        const double n = e->args[0]->number;
        if (n > last && (next == last || n < next))
            next = n;
    }
    for (int i = 0; i < e->nargs; i++)
        next = next_number(e->args[i], v, last, next);
    return next;
}

static double next_read(const struct readers *r, const struct var *v,
                        double last)
{
    double next = last;
    for (int i = 0; i < r->nfactors; i++) {
        symp all[FACTOR_EXPRESSIONS];
        const int n = model_factor_expressions(r->factors[i], all);
        for (int k = 0; k < n; k++)
            next = next_number(all[k], v, last, next);
    }
    for (int i = 0; i < r->nbodies; i++)
        next = next_number(r->bodies[i], v, last, next);
    return next;
}

/* ---- the step --------------------------------------------------------------
 */

/* The loop of f that is settled by the node. */
static int tied_loop(const struct pair *p, const struct family *f)
{
    symp offset;
    const struct loop *l = sym_plain_loop(p->c, f->lower[p->dim], &offset);
    for (int i = 0; i < f->nloops; i++)
        if (f->loops[i] == l)
            return i;
    return -1;
}

/* l + offset is the node's own subscript. */
static symp tied_value(const struct pair *p, const struct family *f)
{
    symp offset;
    sym_plain_loop(p->c, f->lower[p->dim], &offset);
    return sym_sub(p->c, p->node->lower[0], offset);
}

static struct step *make_step(const struct pair *p)
{
    struct compiler *c = p->c;
    struct step *s = NEW(c, struct step);
    struct scaling *own = s->own = NEW(c, struct scaling);
    struct scale_term **last = &own->terms;
    const struct var *items[1] = {p->effects};
    const struct var_list vars = {items, 1};
    s->model = p->m;
    s->sampler = &sampler_scale_move;
    s->whole = true;
    own->divided = alone(p);
    own->linear = true;
    for (struct family *f = p->effects->families; f; f = f->next_of_var) {
        struct scale_term *t = *last = sampler_scale_term(c, p->m, &vars, f);
        if (!t || s->block.n + 1 == MAX_MEMBERS)
            return NULL;
        last = &t->next;
        if (p->dim >= 0) {
            t->tied = f->loops[tied_loop(p, f)];
            t->tied_to = tied_value(p, f);
            t->part->solved[tied_loop(p, f)] = t->tied_to;
        }
        sampler_push_part(&s->parts, t->part);
        s->block.members[s->block.n].family = f;
        s->block.members[s->block.n++].count = sym_num(c, 1);
    }
    struct part *prior = sampler_all_instances(c, p->node->factor);
    if (p->at && p->node->nloops)
        prior->solved[0] = loop_at_number(p);
    sampler_push_part(&s->parts, prior);
    s->block.members[s->block.n].family = p->node;
    s->block.members[s->block.n++].count = sym_num(c, 1);
    s->family = s->block.members[0].family;
    s->name = intern_format(c, "scale_%s_against_%s", family_id(c, s->family),
                            family_id(c, p->node));
    if (p->at)
        s->name = intern_format(c, "%s_%.0f", s->name, p->at->number);
    return s;
}

static bool try_pair(struct pair *p)
{
    if (!are_effects(p) || !only_products(p))
        return false;
    struct step *move = make_step(p);
    if (move)
        sampler_insert_move(p->m, move, p->effects);
    return move != NULL;
}

/* The first effects that have such a move against the node. */
static bool find_effects(struct pair p, const struct readers *r)
{
    const bool plate = p.node->nloops && !p.at;
    p.number->ndim = plate;
    for (const struct var *v = p.m->vars; v; v = v->next)
        for (int d = 0; d < (plate ? v->ndim : 1) && read_beside(r, v); d++) {
            p.effects = v;
            p.dim = plate ? d : -1;
            if (try_pair(&p))
                return true;
        }
    return false;
}

/* Of a plate those whose numbers are read; one by one, what f draws. */
static void find_one_by_one(struct pair p, const struct readers *r)
{
    if (!p.node->nloops) {
        p.at = p.node->lower[0];
        find_effects(p, r);
        return;
    }
    const struct var *v = p.node->var;
    double last = 0;
    for (double n; (n = next_read(r, v, last)) > last; last = n) {
        p.at = sym_num(p.c, n);
        find_effects(p, r);
    }
}

void sampler_find_opposite_scales(struct compiler *c, struct model *m)
{
    const struct readers all = all_readers(c, m);
    struct readers readers = all_readers(c, m); /* room for as many */
    struct var *number = NEW(c, struct var);
    number->name = "number";
    number->positive = true;
    for (struct family *f = m->families; f; f = f->next) {
        if (!f->stochastic)
            continue;
        const bool node = sampler_is_node(c, m, f);
        const bool several = has_numbers(c, m, f);
        if (!node && !several)
            continue;
        find_readers(&all, f->var, &readers);
        const struct pair p = {.c = c, .m = m, .node = f, .number = number};
        if (!(node && find_effects(p, &readers)) && several)
            find_one_by_one(p, &readers);
    }
}
