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
    if (e->var == p->node->var)
        return sym_div(c, e, number_at(p, e->nargs ? e->args[0] : NULL));
    return NULL;
}

static bool mentions(const struct pair *p, symp e)
{
    return e && (sym_has_var(e, p->effects) || sym_has_var(e, p->node->var));
}

/* Whether the move does not change e. */
static bool stays(const struct pair *p, symp e)
{
    struct pair context = *p;
    return !mentions(p, e) ||
           !sym_has_var(sym_map(p->c, e, moved_cell, &context), p->number);
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
    own->divided = p->node;
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
    sampler_push_part(&s->parts, sampler_all_instances(c, p->node->factor));
    s->block.members[s->block.n].family = p->node;
    s->block.members[s->block.n++].count = sym_num(c, 1);
    s->family = s->block.members[0].family;
    s->name = intern_format(c, "scale_%s_against_%s", family_id(c, s->family),
                            family_id(c, p->node));
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

void sampler_find_opposite_scales(struct compiler *c, struct model *m)
{
    const struct readers all = all_readers(c, m);
    struct readers readers = all_readers(c, m); /* room for as many */
    struct var *number = NEW(c, struct var);
    number->name = "number";
    number->positive = true;
    for (struct family *f = m->families; f; f = f->next) {
        if (!f->stochastic || !sampler_is_node(c, m, f))
            continue;
        find_readers(&all, f->var, &readers);
        bool found = false;
        number->ndim = f->nloops;
        for (const struct var *v = m->vars; v && !found; v = v->next)
            for (int d = 0; d < (f->nloops ? v->ndim : 1) && !found &&
                            read_beside(&readers, v);
                 d++) {
                struct pair p = {c, m, v, f, f->nloops ? d : -1, number};
                found = try_pair(&p);
            }
    }
}
