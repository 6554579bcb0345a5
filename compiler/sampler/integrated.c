/* integrated.c: a parameter of the prior of nodes that are drawn exactly, as
 * the concentrations alpha of p[g,] ~ ddirch(alpha[]) with counts below p, is
 * drawn with these nodes integrated out. Given p it moves in steps of the width
 * of alpha given p, though p[g,] will follow wherever the counts let it. The
 * density of p is exp(own T(p)) / Z(own), with own the coefficients of the
 * statistics T that alpha settles, and the full conditional adds what the data
 * give, S, to these. So all that the likelihood and p say of alpha is
 * Z(own + S) / Z(own), whatever p, and a slice on that, with the usual draw of
 * p behind it, is an exact draw of both: Liu (1994), The collapsed Gibbs
 * sampler in Bayesian computations, J. Am. Stat. Assoc. 89; van Dyk and Park
 * (2008), Partially collapsed Gibbs samplers, J. Am. Stat. Assoc. 103.
 *
 * Nodes that an augmentation added go, too: of the degrees of freedom of t
 * errors, which settle the shape of the weights w[i], the density without w[i]
 * is the t density that was replaced. Given the weights they move in small
 * steps, and values of a grid hardly change. And where the density that was
 * replaced gives the parameter a family of the library's, as Laplace errors
 * give their rate a gamma, that is its draw, though given the nodes it has one,
 * too.
 *
 * So go nodes that stand in one likelihood with the parameter, and scales
 * beside one of all: common_child.c.
 *
 * So do nodes of few values that a label makes impossible: tried_nodes.c.
 *
 * So is the concentration of sticks, v[k] ~ dbeta(1, alpha), though given v it
 * is a gamma: where alpha is small, log(1 - v) is of the rounding of v.
 *
 * Requires the list of steps, without merged ones; the steps of the parameters
 * then stand directly before those of the nodes. */
#include "condition/find.h"
#include "sampler/integrated.h"
#include <math.h>
#include <string.h>

/* ---- which -----------------------------------------------------------------
 */

static bool has_node(const struct integrated *k, const struct family *f)
{
    for (int i = 0; i < k->n; i++)
        if (k->nodes[i].drawn->family == f)
            return true;
    return false;
}

/* What has all its values tried is one number: labels have their own forms. */
static bool tries_values(const struct step *s)
{
    return s->sampler == &sampler_enumeration && s->family->nloops == 0;
}

/* log(1 - x), which has no digits where x is within rounding of 1. */
static bool is_rounded(symp e, const void *unused)
{
    (void)unused;
    if (e->kind != SYM_CALL || strcmp(e->name, "log") ||
        e->args[0]->kind != SYM_ADD || e->args[0]->nargs != 2)
        return false;
    for (int i = 0; i < 2; i++) {
        symp x = e->args[0]->args[i];
        if (sym_is(e->args[0]->args[1 - i], 1) && x->kind == SYM_MUL &&
            x->nargs == 2 && sym_is(x->args[0], -1) &&
            x->args[1]->kind == SYM_REF)
            return true;
    }
    return false;
}

/* Whether all that such nodes tell of the parameter is rounded: they may go,
 * though its full conditional is of a known family. */
static bool reads_rounded(const struct step *s)
{
    if (s->sampler != &sampler_direct)
        return false;
    for (const struct part *p = s->parts; p; p = p->next)
        for (int i = 0; !p->own && i < p->terms.n; i++)
            if (sym_any(p->terms.coefficient[i], is_rounded, NULL))
                return true;
    return false;
}

/* Whether s may be drawn otherwise than it is. */
static bool may_change_place(const struct model *m, const struct step *s)
{
    return !s->merged && !s->asked.word && !sampler_named(m, s->family) &&
           !s->family->auxiliary && !s->family->data_block && !s->order.ties &&
           !s->beside.block && s->family->factor;
}

static bool may_change(const struct model *m, const struct step *s)
{
    return may_change_place(m, s) && !s->family->factor->replaced;
}

/* One scale that others may stand beside. */
static bool is_scale(const struct model *m, const struct step *s)
{
    return sampler_draws_scales(s) && !s->family->nloops && !s->scaled.by &&
           !s->view.as && may_change_place(m, s);
}

/* One number of many, as how many there are, of which a slice tries some. */
static bool is_count(const struct model *m, const struct step *s)
{
    return s->sampler == &sampler_integer_slice && s->family->nloops == 0 &&
           may_change(m, s);
}

/* Labels of a plate, of which all values are tried. */
static bool are_labels(const struct model *m, const struct step *s)
{
    return s->sampler == &sampler_enumeration && s->family->nloops > 0 &&
           !s->through && may_change(m, s);
}

static bool is_parameter(const struct model *m, const struct step *s)
{
    return (s->sampler == &sampler_slice || tries_values(s) ||
            reads_rounded(s)) &&
           may_change(m, s);
}

/* Whether s is of a known family given nodes that augmentations added. */
static bool reads_added(const struct model *m, const struct step *s)
{
    if (s->sampler != &sampler_direct || s->scaled.by || s->view.as ||
        !may_change(m, s) || is_parameter(m, s))
        return false;
    for (const struct part *p = s->parts; p; p = p->next)
        if (!p->own && p->factor->family->auxiliary &&
            p->factor == p->factor->family->factor)
            return true;
    return false;
}

/* Whether s may be drawn without some nodes, scales apart. */
static bool may_go_without(const struct model *m, const struct step *s)
{
    return is_parameter(m, s) || is_count(m, s) || reads_added(m, s) ||
           are_labels(m, s);
}

/* The step of the parameter as it were had the nodes' augmentations not been
 * applied; NULL: it is of no known family. */
static struct step *closed_without(struct integrated *k)
{
    for (int i = 0; i < k->n; i++) {
        k->nodes[i].factor->replaced = true;
        k->nodes[i].factor->of->replaced = false;
    }
    struct step *s = condition_family(k->c, k->m, k->step->family);
    for (int i = 0; i < k->n; i++) {
        k->nodes[i].factor->replaced = false;
        k->nodes[i].factor->of->replaced = true;
    }
    s->sampler = sampler_for(s);
    return s->sampler == &sampler_direct && !s->law.rest && !s->order.ties
               ? s
               : NULL;
}

/* Nodes that lie between points that the parameter moves, and whose priors do
 * not read it. */
static void find_nodes_between(struct integrated *k)
{
    for (struct step *s = k->m->steps; s && k->n < MOST_NODES; s = s->next) {
        if (s->sampler != &sampler_direct ||
            (!sampler_draws_exactly(k->m, s) &&
             !sampler_draws_given_added(k->m, s)))
            continue;
        struct factor *g = sampler_factor_between(s);
        bool moves = false, own = false;
        for (const struct part *p = k->step->parts; p; p = p->next) {
            moves = moves || (g && p->factor == g);
            own = own || p->factor == s->family->factor ||
                  p->factor == s->family->factor->joint;
        }
        if (moves && !own)
            k->nodes[k->n++] = (struct node){.drawn = s, .factor = g};
    }
    k->between = k->n > 0;
}

/* Whether the parameter settles the shape of the nodes' density, more than one
 * of its coefficients, and not only how wide it is. */
static bool settles_shape(const struct integrated *k, const struct step *nodes)
{
    int n = 0;
    for (const struct part *p = nodes->parts; p; p = p->next)
        for (int t = 0; p->own && t < p->terms.n; t++)
            n += model_reads(k->m, p->terms.coefficient[t],
                             k->step->family->var);
    return n > 1;
}

/* Nodes whose priors read the parameter. */
static void find_nodes_below(struct integrated *k, bool added)
{
    for (const struct part *p = k->step->parts; p && k->n < MOST_NODES;
         p = p->next) {
        struct family *f = p->factor->family;
        if (p->own || p->factor != f->factor || has_node(k, f))
            continue;
        for (struct step *s = k->m->steps; s; s = s->next)
            if (s->family == f && sampler_can_go(k->m, s) &&
                (f->auxiliary ? added || settles_shape(k, s) : !added))
                k->nodes[k->n++] =
                    (struct node){.drawn = s,
                                  .factor = f->factor,
                                  .at = family_lhs(k->c, f, 0, NULL)};
    }
}

/* Nodes whose priors the labels settle, and of which no more is known than
 * between which points they lie. */
static void find_nodes_of_labels(struct integrated *k)
{
    for (struct step *s = k->m->steps; s && k->n < MOST_NODES; s = s->next) {
        if ((s->sampler != &sampler_direct &&
             s->sampler != &sampler_confined) ||
            !sampler_draws_exactly(k->m, s))
            continue;
        struct factor *g = sampler_factor_between(s);
        bool moves = false, settles = false;
        for (const struct part *p = k->step->parts; p; p = p->next) {
            moves = moves || (g && p->factor == g);
            settles = settles || (!p->own && p->factor == s->family->factor);
        }
        if (g && settles && !moves)
            k->nodes[k->n++] =
                (struct node){.drawn = s,
                              .factor = s->family->factor,
                              .at = family_lhs(k->c, s->family, 0, NULL)};
    }
    k->of_labels = k->n > 0;
}

/* The nodes that can go. */
static void find_nodes(struct integrated *k)
{
    if (are_labels(k->m, k->step)) {
        find_nodes_of_labels(k);
        return;
    }
    k->scales = is_scale(k->m, k->step);
    if (k->scales)
        sampler_find_common_children(k);
    if (k->n || !may_go_without(k->m, k->step))
        return;
    k->scales = false;
    const bool added = reads_added(k->m, k->step);
    if (!added)
        find_nodes_between(k);
    if (k->n || k->step->through)
        return;
    if (!k->step->support.bounds && !is_count(k->m, k->step))
        find_nodes_below(k, added);
    if (!k->n && tries_values(k->step) && !k->step->support.bounds)
        sampler_find_tried(k);
    if (!k->n && !added)
        sampler_find_common_children(k);
}

static bool reads(const struct model *m, const struct factor *g,
                  const struct var *v)
{
    symp all[FACTOR_EXPRESSIONS];
    const int n = model_factor_expressions(g, all);
    for (int i = 0; i < n; i++)
        if (model_reads(m, all[i], v))
            return true;
    return false;
}

/* Whether what else the parameter's step evaluates is free of the nodes. */
static bool others_are_free(const struct integrated *k)
{
    const struct model *m = k->m;
    for (const struct part *p = k->step->parts; p; p = p->next)
        for (int i = 0; i < k->n; i++) {
            const struct family *f = k->nodes[i].drawn->family;
            if (!k->beside && p->factor->family != f &&
                p->factor != k->nodes[i].factor && reads(m, p->factor, f->var))
                return false;
        }
    return true;
}

/* Whether s reads the prior of a node that is no added one. */
static bool shares_prior(const struct integrated *k, const struct step *s)
{
    for (const struct part *p = s->parts; p; p = p->next)
        for (int i = 0; !p->own && i < k->n; i++) {
            const struct node *node = &k->nodes[i];
            if (p->factor == node->factor && !node->drawn->family->auxiliary)
                return true;
        }
    return false;
}

/* Whether no other parameter of the nodes' priors is drawn given the nodes:
 * rates of gamma nodes are. It would hold the shapes as the nodes do, which
 * then move little farther for a density that takes a pass over all data. */
static bool none_stays(const struct integrated *k)
{
    for (const struct step *s = k->m->steps;
         s && !k->between && !k->of_labels && !k->beside && !k->tried;
         s = s->next)
        if (s != k->step && s->sampler != &sampler_integrated_slice &&
            !is_parameter(k->m, s) && shares_prior(k, s))
            return false;
    return true;
}

static bool same_nodes(const struct integrated *a, const struct integrated *b)
{
    bool same = a->n == b->n;
    for (int i = 0; same && i < a->n; i++)
        same = has_node(b, a->nodes[i].drawn->family);
    return same;
}

static bool overlaps(const struct integrated *a, const struct integrated *b)
{
    for (int i = 0; i < a->n; i++)
        if (has_node(b, a->nodes[i].drawn->family))
            return true;
    return false;
}

/* Of parameters that share nodes, only such go that share all: between the draw
 * of one and the nodes' no other may read these. */
static bool goes_with_all(const struct integrated *k,
                          const struct integrated *others)
{
    for (; others; others = others->next)
        if (overlaps(k, others) && !same_nodes(k, others))
            return false;
    return true;
}

/* ---- in their places -------------------------------------------------------
 */

static const struct node *node_of(const struct integrated *k,
                                  const struct part *p)
{
    for (int i = 0; i < k->n; i++)
        if (!p->own && p->factor == k->nodes[i].factor)
            return &k->nodes[i];
    return NULL;
}

/* The part as the density of the node's that was taken out, for the check
 * against the joint one. */
static struct part *taken_out(struct compiler *c, const struct node *node,
                              const struct part *p)
{
    struct part *q = NEW(c, struct part);
    *q = *p;
    q->next = NULL;
    q->opaque = true;
    q->out = node->drawn->family;
    q->logp = condition_in_part(
        c, p,
        q->out->auxiliary
            ? node->full
            : sampler_where_drawn(c, node, sym_num(c, 0), node->full));
    return q;
}

/* The step without added nodes in the place of the one given these. */
static void put_closed(struct integrated *k)
{
    struct step *s = k->step, *next = s->next;
    struct part *all = NULL, **out = &all;
    for (struct part *p = s->parts; p; p = p->next)
        if (node_of(k, p)) {
            *out = taken_out(k->c, node_of(k, p), p);
            out = &(*out)->next;
        }
    *s = *k->closed;
    s->next = next;
    s->integrated = all;
}

/* What the part's log density becomes, in the part's loops. */
static void put_in_place(struct integrated *k, struct part *p, symp logp)
{
    p->opaque = true;
    p->resists = NULL;
    p->terms = (struct collected){.rest = sym_num(k->c, 0)};
    p->logp = logp;
}

/* Without the nodes that have children in common with the parameter; behind the
 * parts, of each node the constant of its full conditional. */
static void replace_common(struct integrated *k)
{
    struct compiler *c = k->c;
    struct part **last = &k->step->parts, **out = &k->step->integrated;
    for (; *last; last = &(*last)->next) {
        symp left = sampler_without_common(k, *last);
        if (left != (*last)->logp)
            put_in_place(k, *last, left);
    }
    for (int i = 0; i < k->n; i++) {
        const struct node *node = &k->nodes[i];
        struct part *p = *last = condition_whole_part(c, node->factor);
        put_in_place(
            k, p,
            condition_in_part(
                c, p, sampler_where_drawn(c, node, sym_num(c, 0), node->logp)));
        *out = taken_out(c, node, p);
        last = &p->next;
        out = &(*out)->next;
    }
}

/* The parts of the nodes' priors as what is left of them, and as the densities
 * that were taken out. */
static void replace_priors(struct integrated *k)
{
    struct compiler *c = k->c;
    struct step *s = k->step;
    struct part **out = &s->integrated;
    for (struct part *p = s->parts; p; p = p->next) {
        const struct node *node = node_of(k, p);
        if (!node)
            continue;
        const bool added = node->drawn->family->auxiliary;
        symp logp = condition_in_part(
            c, p,
            added
                ? node->logp
                : sampler_where_drawn(c, node, node->factor->logp, node->logp));
        symp rule = k->between ? p->factor->rule : NULL;
        if (rule)
            logp = sym_add2(c, logp,
                            sym_select(c, condition_in_part(c, p, rule),
                                       sym_num(c, 0),
                                       sym_num(c, -(double)INFINITY)));
        put_in_place(k, p, logp);
        *out = taken_out(c, node, p);
        out = &(*out)->next;
    }
}

/* Others, as a move of the parameter with a block, hold the parts as they are:
 * the nodes are drawn again before these. */
static void copy_parts(struct compiler *c, struct part **list)
{
    for (; *list; list = &(*list)->next) {
        struct part *p = NEW(c, struct part);
        *p = **list;
        *list = p;
    }
}

static void replace_parts(struct integrated *k)
{
    struct step *s = k->step;
    copy_parts(k->c, &s->parts);
    if (k->beside)
        replace_common(k);
    else
        replace_priors(k);
    s->law.n = 0;
    condition_gather_statistics(s);
    if (!s->sampler->tries_all)
        s->sampler = &sampler_integrated_slice;
}

struct families_end sampler_families_end(const struct model *m)
{
    return (struct families_end){m->families, m->last_family, m->last_var,
                                 m->last_inverse, m->ninverses};
}

void sampler_take_back(struct model *m, const struct families_end *end)
{
    m->families = end->families;
    m->last_family = end->last;
    *m->last_family = NULL;
    m->last_var = end->last_var;
    *m->last_var = NULL;
    m->last_inverse = end->last_inverse;
    *m->last_inverse = NULL;
    m->ninverses = end->ninverses;
    family_number(m);
}

bool sampler_without(struct compiler *c, struct model *m, struct step *s,
                     struct node *node, struct label_sums *labels)
{
    const struct integrated k = {.c = c, .m = m, .step = s, .labels = labels};
    *node = (struct node){.drawn = s,
                          .factor = s->family->factor,
                          .at = family_lhs(c, s->family, 0, NULL)};
    *labels = (struct label_sums){.n = 0};
    return sampler_can_go(m, s) && !s->family->nslices &&
           !s->family->auxiliary && sampler_scalar_density(&k, node) &&
           !labels->failed;
}

/* Tables of what is not integrated out after all are taken back. */
static struct integrated *try_parameter(struct compiler *c, struct model *m,
                                        struct step *s,
                                        const struct integrated *others)
{
    const struct families_end end = sampler_families_end(m);
    struct integrated *k = NEW(c, struct integrated);
    *k = (struct integrated){.c = c, .m = m, .step = s};
    find_nodes(k);
    bool fits = k->n && others_are_free(k) &&
                (!k->beside || sampler_leaves_ridge(k)) && none_stays(k) &&
                goes_with_all(k, others);
    for (int i = 0; fits && i < k->n; i++) {
        struct node *node = &k->nodes[i];
        const struct family *f = node->drawn->family;
        fits = k->between     ? sampler_between_points(c, node)
               : k->of_labels ? sampler_confined_density(c, node)
               : k->beside    ? sampler_common_density(k, node)
               : k->tried     ? sampler_tried_density(k, node)
               : f->auxiliary ? sampler_added_density(k, node)
               : f->nslices   ? sampler_vector_density(k, node)
                              : sampler_scalar_density(k, node);
        /* its prior is of this node alone */
        for (int j = 0; fits && j < k->n; j++)
            fits = j == i || !reads(m, node->drawn->family->factor,
                                    k->nodes[j].drawn->family->var);
    }
    if (fits && !k->beside && reads_added(m, s)) {
        k->closed = closed_without(k);
        fits = k->closed != NULL;
    }
    if (!fits) {
        sampler_take_back(m, &end);
        return NULL;
    }
    s->own = k;
    return k;
}

/* ---- their order -----------------------------------------------------------
 */

static void take_out(struct model *m, const struct step *s)
{
    struct step **at = &m->steps;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
}

static bool draws_node(const struct integrated *k, const struct step *s)
{
    for (int i = 0; i < k->n; i++)
        if (k->nodes[i].drawn == s)
            return true;
    return false;
}

/* The parameter's step before the first one of its nodes, the others' behind
 * that: nothing may be drawn between that reads either. */
static void bring_together(struct integrated *k)
{
    struct model *m = k->m;
    take_out(m, k->step);
    struct step **at = &m->steps;
    while (!draws_node(k, *at))
        at = &(*at)->next;
    struct step *first = *at;
    k->step->next = first;
    *at = k->step;
    for (int i = 0; i < k->n; i++) {
        struct step *s = k->nodes[i].drawn;
        if (s == first)
            continue;
        take_out(m, s);
        s->next = first->next;
        first->next = s;
    }
    m->last_step = &m->steps;
    while (*m->last_step)
        m->last_step = &(*m->last_step)->next;
}

void sampler_integrate_out(struct compiler *c, struct model *m)
{
    struct integrated *all = NULL;
    for (struct step *s = m->steps; s; s = s->next) {
        struct integrated *k = may_go_without(m, s) || is_scale(m, s)
                                   ? try_parameter(c, m, s, all)
                                   : NULL;
        if (!k)
            continue;
        k->next = all;
        all = k;
        if (k->closed)
            put_closed(k);
        else
            replace_parts(k);
    }
    for (struct integrated *k = all; k; k = k->next)
        bring_together(k);
}
