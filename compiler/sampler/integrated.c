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
 * (2008), Partially collapsed Gibbs samplers, J. Am. Stat. Assoc. 103. Z is
 * what the library's density of the full conditional's family has without T; S,
 * where it is a sum over rows, a table.
 *
 * Nodes that an augmentation added go, too: of the degrees of freedom of t
 * errors, which settle the shape of the weights w[i], the density without w[i]
 * is the t density that was replaced. Given the weights they move in small
 * steps, and values of a grid hardly change. And where the density that was
 * replaced gives the parameter a family of the library's, as Laplace errors
 * give their rate a gamma, that is its draw, though given the nodes it has one,
 * too.
 *
 * So is the concentration of sticks, v[k] ~ dbeta(1, alpha), though given v it
 * is a gamma: where alpha is small, log(1 - v) is of the rounding of v.
 *
 * Requires the list of steps, without merged ones; the steps of the parameters
 * then stand directly before those of the nodes. */
#include "condition/find.h"
#include "sampler/integrated.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum { MOST_NODES = 4 };

struct integrated {
    struct compiler *c;
    struct model *m;
    struct step *step; /* the parameter's */
    struct node nodes[MOST_NODES];
    int n;
    bool between;              /* points that the parameter moves: interval.c */
    struct step *closed;       /* the parameter's without added nodes, where it
                                  is of a known family; or NULL */
    struct label_sums *labels; /* where what labels tell is noted; or NULL */
    struct integrated *next;
};

/* ---- what the data give ----------------------------------------------------
 */

static bool depends_on(const struct model *m, symp e, const struct var *v)
{
    if (e->kind == SYM_REF &&
        (e->var == v ||
         (e->var->stored && model_derived_depends(m, e->var, v))))
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (depends_on(m, e->args[i], v))
            return true;
    return false;
}

/* Whether e is the same whatever the parameter and the nodes are. */
static bool is_free(const struct integrated *k, symp e)
{
    bool free = !depends_on(k->m, e, k->step->family->var);
    for (int i = 0; i < k->n; i++)
        free = free && !depends_on(k->m, e, k->nodes[i].drawn->family->var);
    return free;
}

static symp at_solved(struct compiler *c, const struct part *p, symp e)
{
    for (int i = p->nloops - 1; i >= 0; i--)
        if (p->solved[i])
            e = sym_replace_loop(c, e, p->loops[i], p->solved[i]);
    return e;
}

static bool is_call(symp e, const char *name)
{
    return e->kind == SYM_CALL && !strcmp(e->name, name);
}

/* e where the condition holds, else 0. Equalities stay factors, as tables are
 * told by them (tally.c). */
static symp under(struct compiler *c, symp condition, symp e)
{
    if (is_call(condition, "&&")) {
        for (int i = 0; i < condition->nargs; i++)
            e = under(c, condition->args[i], e);
        return e;
    }
    if (is_call(condition, "=="))
        return sym_mul2(c, condition, e);
    symp keys = sym_num(c, 1), rest = keys;
    for (int i = 0; i < (e->kind == SYM_MUL ? e->nargs : 1); i++) {
        symp f = e->kind == SYM_MUL ? e->args[i] : e;
        symp *to = is_call(f, "==") ? &keys : &rest;
        *to = sym_mul2(c, *to, f);
    }
    return sym_mul2(c, keys, sym_select(c, condition, rest, sym_num(c, 0)));
}

/* The condition that an instance listed by the part's index is of the node.
 * NULL: it cannot be told. */
static symp listed_at(struct compiler *c, const struct family *f,
                      const struct part *p)
{
    const struct inverse *index = p->inverse;
    symp hit = sym_num(c, 1);
    if (index->reach || p->cell || index->var != f->var)
        return NULL;
    for (int d = 0; d < index->reference->nargs; d++) {
        symp at = index->reference->args[d];
        for (int i = 0; i < p->nloops; i++)
            at = sym_replace_loop(c, at, p->factor->loops[i],
                                  sym_loop(c, p->loops[i]));
        symp own = f->upper[d] ? sym_num(c, 1) : f->lower[d];
        hit = sym_and(c, hit, sym_eq(c, at, own));
    }
    return hit;
}

/* Whether what is drawn below the nodes is data, or counts. Continuous nodes
 * there hold the parameter as the nodes do, and move in every sweep: a pass
 * over the rows for little. */
static bool is_below(const struct part *p)
{
    return p->factor->family->var->leaf ||
           model_draws_integers(p->factor->family);
}

/* Whether each node has one instance of the part and no other child: without
 * it, seen, nothing observed depends on the node, and it tells nothing. */
static bool alone_below(const struct step *s, const struct part *p)
{
    for (const struct part *q = s->parts; q; q = q->next)
        if (!q->own && q != p)
            return false;
    for (int i = 0; i < p->nloops; i++)
        if (!p->solved[i])
            return false;
    return s->family->var->barren && !p->inverse && !p->guard;
}

static bool is_power(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_REF && e->var->role == ROLE_POWER;
}

/* The power that e, which the part's instance gives, is multiplied by: methods
 * set it between sweeps, when tables are not filled anew. */
static symp take_power(struct compiler *c, const struct part *p, symp *e)
{
    symp power = p->factor->power, one = sym_num(c, 1);
    if (!power || power->kind != SYM_REF)
        return one;
    symp rest = sym_replace(c, *e, power, one);
    if (!sym_same(*e, sym_mul2(c, power, rest)))
        return one;
    *e = rest;
    return power;
}

/* ---- rows that tell of a label alone --------------------------------------
 */

static bool is_label(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_REF && e->var->integer &&
           e->var->role == ROLE_STOCHASTIC;
}

/* The first such reference in e. */
static symp label_in(symp e)
{
    if (is_label(e, NULL))
        return e;
    symp found = NULL;
    for (int i = 0; i < e->nargs && !found; i++)
        found = label_in(e->args[i]);
    return found;
}

/* The number of values that all labels of z's array have, from 1. NULL: they
 * differ, or have no end. */
static symp values_of(const struct model *m, symp z)
{
    const struct family *f = z->var->families;
    for (const struct step *s = m->steps; s; s = s->next)
        if (s->family == f && s->sampler == &sampler_enumeration)
            return !f->next_of_var && s->support.lower &&
                           sym_is(s->support.lower, 1) &&
                           sym_fixed(s->support.upper)
                       ? s->support.upper
                       : NULL;
    return NULL;
}

/* The sum of e over the rows of a part that count as the guard says, where a
 * row's label is all that e has of it: how many rows have each label is a
 * table, and values take the place of rows. False: it is no such sum. */
static bool by_label(const struct integrated *k, const struct part *p,
                     symp guard, symp e, struct label_sum *out)
{
    struct compiler *c = k->c;
    symp label =
        p->nloops == 1 && !p->inverse && !p->solved[0] ? label_in(e) : NULL;
    symp values = label ? values_of(k->m, label) : NULL;
    if (!values)
        return false;
    struct loop *r = NEW(c, struct loop), *l = NEW(c, struct loop);
    *r = (struct loop){
        .name = intern(c, "r"), .lower = sym_num(c, 1), .upper = values};
    *l = *p->loops[0];
    symp value = sym_loop(c, r), row = sym_loop(c, l);
    *out = (struct label_sum){.value = r, .label = label};
    out->body = sym_replace(c, e, label, value);
    if (sym_has_loop(out->body, p->loops[0]) || label_in(out->body))
        return false;
    symp one =
        under(c, sym_and(c, guard, sym_eq(c, label, value)), sym_num(c, 1));
    one = sym_replace_loop(c, one, p->loops[0], row);
    symp rows = sym_sum(c, l, l->lower, l->upper, one);
    out->count = is_free(k, rows) && is_free(k, out->body)
                     ? model_table_of(c, k->m, rows, value)
                     : NULL;
    if (!out->count)
        return false;
    out->count->var->families->of_observed = true;
    symp sum =
        sym_sum(c, r, r->lower, r->upper, sym_mul2(c, out->body, out->count));
    out->table = model_table_of(c, k->m, sum, NULL);
    return out->table != NULL;
}

static void note_labels(const struct integrated *k,
                        const struct label_sum *found)
{
    if (!k->labels)
        return;
    if (k->labels->n == MOST_LABEL_SUMS)
        k->labels->failed = true;
    else
        k->labels->of[k->labels->n++] = *found;
}

/* What the part gives a node of s, if an instance gives e: in its loops; of
 * rows a table. NULL: it cannot be told, or depends on what is drawn. */
static symp given_by(const struct integrated *k, const struct step *s,
                     const struct part *p, symp e)
{
    struct compiler *c = k->c;
    const struct family *f = s->family;
    symp guard = alone_below(s, p) ? sym_num(c, 1) : emit_part_guard(c, p);
    symp hit = p->inverse ? listed_at(c, f, p) : sym_num(c, 1);
    symp power = take_power(c, p, &e);
    bool rows = false;
    if (!hit || !is_below(p))
        return NULL;
    struct label_sum labels;
    if (by_label(k, p, guard, e, &labels)) {
        note_labels(k, &labels);
        return sym_mul2(c, power, labels.table);
    }
    e = under(c, sym_and(c, guard, hit), e);
    for (int i = p->nloops - 1; i >= 0; i--) {
        symp lower = p->loops[i]->lower, upper = p->loops[i]->upper;
        if (!p->inverse && p->solved[i])
            continue;
        if (!p->inverse) {
            lower = at_solved(c, p, lower);
            upper = at_solved(c, p, upper);
        }
        struct loop *l = NEW(c, struct loop);
        *l = (struct loop){
            .name = p->loops[i]->name, .lower = lower, .upper = upper};
        e = sym_replace_loop(c, e, p->loops[i], sym_loop(c, l));
        e = sym_sum(c, l, lower, upper, e);
        rows = true;
    }
    if (!is_free(k, e) || (rows && sym_any(e, is_power, NULL)))
        return NULL;
    symp table = rows ? model_table_of(c, k->m, e, NULL) : NULL;
    if (table)
        table->var->families->of_observed = true;
    return sym_mul2(c, power, table ? table : e);
}

/* Adds what the part has, or gives, of a statistic. */
static bool add_coefficient(const struct integrated *k, const struct step *s,
                            const struct part *p, symp e, struct change *to)
{
    symp *sum = p->own ? &to->own : &to->gain;
    e = p->own ? e : given_by(k, s, p, e);
    if (e)
        *sum = sym_add2(k->c, *sum, e);
    return e != NULL;
}

/* ---- the density of the nodes' full conditional ----------------------------
 */

/* What names of the library's text are: the target x and parameters; of a
 * vector, its cells, and `cells` of whatever else has a subscript. */
struct names {
    const struct family *of;
    const struct entry *entry;
    struct var *cells;
};

static symp bind(struct compiler *c, const char *name, int nargs,
                 const symp *args, void *context)
{
    const struct names *k = context;
    const struct parameter *x = k->entry->result;
    if (nargs)
        return x && name == x->name ? family_lhs(c, k->of, nargs, args)
                                    : sym_ref(c, k->cells, nargs, args);
    for (int d = 0; x && d < x->ndims; d++)
        if (x->dims[d] == name)
            return family_extent(c, k->of, d);
    return !strcmp(name, "x") ? sym_target(c) : sym_param(c, name);
}

static void add_change(struct changes *k, const char *name, symp own, symp gain)
{
    assert(k->n < (int)(sizeof k->of / sizeof *k->of));
    k->of[k->n++] = (struct change){.name = name, .own = own, .gain = gain};
}

/* The coefficients of a scalar's statistics, s1, s2, ... in `solve`. */
static bool find_coefficients(const struct integrated *k, const struct step *s,
                              struct changes *out)
{
    struct compiler *c = k->c;
    const struct clause *all = entry_clause(s->law.family, "statistics");
    for (const struct clause_item *i = all->items; i; i = i->next)
        add_change(out, intern_format(c, "s%d", out->n + 1), sym_num(c, 0),
                   sym_num(c, 0));
    for (int i = 0; i < s->law.n; i++)
        for (const struct part *p = s->parts; p; p = p->next)
            for (int t = 0; t < p->terms.n; t++)
                if (sym_same(p->terms.statistic[t], s->law.statistics[i]) &&
                    !add_coefficient(k, s, p, p->terms.coefficient[t],
                                     &out->of[s->law.place[i]]))
                    return false;
    return true;
}

static bool is_given(const struct changes *k, const char *name)
{
    for (int i = 0; i < k->n; i++)
        if (k->of[i].name == name)
            return true;
    return false;
}

static bool scalar_density(const struct integrated *k, struct node *node)
{
    struct compiler *c = k->c;
    const struct step *s = node->drawn;
    const struct entry *d = s->law.family;
    const struct family *f = s->family;
    struct names names = {.of = f, .entry = d};
    struct changes statistics = {.n = 0}, params = {.n = 0};
    symp density =
        sym_from_library(c, entry_value(d, "logdensity"), bind, &names);
    if (!density || !find_coefficients(k, s, &statistics))
        return false;
    for (const struct clause_item *i = entry_clause(d, "solve")->items; i;
         i = i->next) {
        symp e = sym_from_library(c, i->value, bind, &names);
        add_change(&params, i->label->name, sampler_own_of(c, e, &statistics),
                   sampler_gain_of(c, e, &statistics));
    }
    if (s->law.exponent) /* x^p: the parameter that solve does not give */
        for (int i = 0; i < d->nparameters; i++)
            if (!is_given(&params, d->parameters[i].name))
                add_change(&params, d->parameters[i].name, s->law.exponent,
                           sym_num(c, 0));
    struct collected terms; /* T is what is collected */
    sym_collect(c, sampler_gain_of(c, density, &params), f->var->positive,
                &terms);
    if (terms.overflow || sym_has_target(terms.rest))
        return false;
    node->logp = sym_neg(c, terms.rest);
    node->full =
        sym_replace(c, sampler_both_of(c, density, &params), sym_target(c),
                    sym_ref(c, f->var, f->var->ndim, f->lower));
    return true;
}

/* An added node's: what was replaced is the joint density without it. */
static bool added_density(const struct integrated *k, struct node *node)
{
    if (!scalar_density(k, node))
        return false;
    node->logp = node->drawn->family->factor->of->logp;
    return true;
}

static symp without_log(struct compiler *c, symp e, void *var)
{
    return is_call(e, "log") && e->args[0]->kind == SYM_REF &&
                   e->args[0]->var == var
               ? sym_num(c, 0)
               : NULL;
}

/* Of a vector whose only statistics are the logarithms of its cells. */
static bool vector_density(const struct integrated *k, struct node *node)
{
    struct compiler *c = k->c;
    const struct step *s = node->drawn;
    const struct entry *d = s->law.family;
    const struct clause_item *solved = entry_clause(d, "solve")->items;
    struct loop *index = s->block.members[0].index.loops[0];
    struct var *cells = NEW(c, struct var);
    cells->name = "cells";
    cells->ndim = 1;
    struct names names = {.of = s->family, .entry = d, .cells = cells};
    struct change none = {
        .cells = cells, .index = index, .own = sym_num(c, 0), .gain = none.own};
    none.gain = none.own;
    struct changes statistic = {.of = {none}, .n = 1}, params = statistic;
    symp density =
        sym_from_library(c, entry_value(d, "logdensity"), bind, &names);
    symp e = sym_from_library(c, solved->value, bind, &names);
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        if (!add_coefficient(k, s, q->part, q->potential[0], &statistic.of[0]))
            return false;
    e = sym_replace(c, e, sym_param(c, solved->label->args[0]->name),
                    sym_loop(c, index));
    params.of[0].own = sampler_own_of(c, e, &statistic);
    params.of[0].gain = sampler_gain_of(c, e, &statistic);
    symp change = sym_map(c, sampler_gain_of(c, density, &params), without_log,
                          s->family->var);
    node->logp = sym_neg(c, change);
    node->full = sampler_both_of(c, density, &params);
    return !sym_has_var(change, s->family->var);
}

/* ---- which -----------------------------------------------------------------
 */

/* Vectors with other statistics than logarithms of cells have no constant that
 * the library states by cells. */
static bool of_logarithms(const struct step *s)
{
    const struct clause *all = entry_clause(s->law.family, "statistics");
    const struct clause *solved = entry_clause(s->law.family, "solve");
    return all && solved && s->family->nslices == 1 && s->block.quadratics &&
           !all->items->next && all->items->label->kind == EXPR_CALL &&
           !strcmp(all->items->label->name, "log") && !solved->items->next &&
           solved->items->label->nargs == 1;
}

/* Whether the nodes of s, which an augmentation added, meet their joint density
 * alone, and without powers: the density to a power is no longer the joint one
 * to a power without them. */
static bool may_be_taken_out(const struct model *m, const struct step *s)
{
    const struct factor *g = s->family->factor;
    bool free =
        s->sampler == &sampler_direct && g->of && !g->of->rule && !g->of->guard;
    for (const struct part *p = s->parts; p; p = p->next)
        free = free && p->own;
    for (const struct factor *h = m->factors; h; h = h->next)
        free = free && !h->power;
    return free;
}

/* Whether s draws its nodes exactly, each by itself given the rest. */
static bool draws_exactly(const struct model *m, const struct step *s)
{
    const struct family *f = s->family;
    const struct factor *g = f->factor;
    if (s->merged || s->asked.word || sampler_named(m, f) || f->data_block ||
        f->affine || f->truncated || f->next_of_var || f->var->families != f ||
        s->law.rest || s->opaque || s->through || s->order.ties ||
        s->beside.block || s->scaled.by || s->view.as || !g || g->replaced ||
        g->guard || g->rule || g->family != f ||
        (f->auxiliary && !may_be_taken_out(m, s)))
        return false;
    return s->law.family != NULL;
}

/* The same from what its prior and the likelihood settle. Normal ones have
 * moves of their own. */
static bool can_go(const struct model *m, const struct step *s)
{
    if (!draws_exactly(m, s) || s->support.bounded || s->support.bounds)
        return false;
    if (s->sampler == &sampler_direct)
        return entry_clause(s->law.family, "solve") &&
               entry_value(s->law.family, "logdensity") &&
               !entry_is_normal(s->law.family);
    return s->sampler == &sampler_vector_draw && of_logarithms(s);
}

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
    if (!is_call(e, "log") || e->args[0]->kind != SYM_ADD ||
        e->args[0]->nargs != 2)
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
static bool may_change(const struct model *m, const struct step *s)
{
    return !s->merged && !s->asked.word && !sampler_named(m, s->family) &&
           !s->family->auxiliary && !s->family->data_block && !s->order.ties &&
           !s->beside.block && s->family->factor &&
           !s->family->factor->replaced;
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
        if (s->sampler != &sampler_direct || !draws_exactly(k->m, s))
            continue;
        struct factor *g = sampler_factor_between(s);
        bool moves = false, own = false;
        for (const struct part *p = k->step->parts; p; p = p->next) {
            moves = moves || (g && p->factor == g);
            own = own || p->factor == s->family->factor;
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
            n +=
                depends_on(k->m, p->terms.coefficient[t], k->step->family->var);
    return n > 1;
}

/* The nodes whose priors read the parameter, and can go. */
static void find_nodes(struct integrated *k)
{
    const bool added = reads_added(k->m, k->step);
    if (!added)
        find_nodes_between(k);
    if (k->n || k->step->through || k->step->support.bounds)
        return;
    for (const struct part *p = k->step->parts; p && k->n < MOST_NODES;
         p = p->next) {
        struct family *f = p->factor->family;
        if (p->own || p->factor != f->factor || has_node(k, f))
            continue;
        for (struct step *s = k->m->steps; s; s = s->next)
            if (s->family == f && can_go(k->m, s) &&
                (f->auxiliary ? added || settles_shape(k, s) : !added))
                k->nodes[k->n++] =
                    (struct node){.drawn = s,
                                  .factor = f->factor,
                                  .at = family_lhs(k->c, f, 0, NULL)};
    }
}

static bool reads(const struct model *m, const struct factor *g,
                  const struct var *v)
{
    const symp all[] = {g->logp,  g->value, g->lower,
                        g->upper, g->rule,  g->guard};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i] && depends_on(m, all[i], v))
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
            if (p->factor->family != f && p->factor != k->nodes[i].factor &&
                reads(m, p->factor, f->var))
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
    for (const struct step *s = k->m->steps; s && !k->between; s = s->next)
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

static symp where_drawn(struct compiler *c, const struct node *node, symp seen,
                        symp drawn)
{
    symp at = node->at;
    return sym_select(c, sym_seen(c, at->var, at->nargs, at->args), seen,
                      drawn);
}

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
        q->out->auxiliary ? node->full
                          : where_drawn(c, node, sym_num(c, 0), node->full));
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

/* The parts of the nodes' priors as what is left of them, and as the densities
 * that were taken out. */
static void replace_parts(struct integrated *k)
{
    struct compiler *c = k->c;
    struct step *s = k->step;
    struct part **out = &s->integrated;
    for (struct part *p = s->parts; p; p = p->next) {
        const struct node *node = node_of(k, p);
        if (!node)
            continue;
        p->opaque = true;
        p->resists = NULL;
        p->terms = (struct collected){.rest = sym_num(c, 0)};
        const bool added = node->drawn->family->auxiliary;
        p->logp = condition_in_part(
            c, p,
            added ? node->logp
                  : where_drawn(c, node, node->factor->logp, node->logp));
        symp rule = k->between ? p->factor->rule : NULL;
        if (rule)
            p->logp = sym_add2(c, p->logp,
                               sym_select(c, condition_in_part(c, p, rule),
                                          sym_num(c, 0),
                                          sym_num(c, -(double)INFINITY)));
        *out = taken_out(c, node, p);
        out = &(*out)->next;
    }
    s->law.n = 0;
    condition_gather_statistics(s);
    if (s->sampler == &sampler_slice || s->sampler == &sampler_direct)
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
    return can_go(m, s) && !s->family->nslices && !s->family->auxiliary &&
           scalar_density(&k, node) && !labels->failed;
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
    bool fits =
        k->n && others_are_free(k) && none_stays(k) && goes_with_all(k, others);
    for (int i = 0; fits && i < k->n; i++) {
        struct node *node = &k->nodes[i];
        const struct family *f = node->drawn->family;
        fits = k->between     ? sampler_between_points(c, node)
               : f->auxiliary ? added_density(k, node)
               : f->nslices   ? vector_density(k, node)
                              : scalar_density(k, node);
        /* its prior is of this node alone */
        for (int j = 0; fits && j < k->n; j++)
            fits = j == i || !reads(m, node->drawn->family->factor,
                                    k->nodes[j].drawn->family->var);
    }
    if (fits && reads_added(m, s)) {
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
        struct integrated *k = is_parameter(m, s) || reads_added(m, s)
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

/* ---- the sampler -----------------------------------------------------------
 */

static const char *explain(struct compiler *c, const struct step *s)
{
    return intern_format(c, "slice, %s integrated out",
                         sampler_nodes_out(c, s));
}

/* A positive number without an end has orders of magnitude to go: its logarithm
 * is sliced. */
static bool by_logarithm(const struct step *s)
{
    return s->support.lower && sym_is(s->support.lower, 0) &&
           !s->support.upper && !s->support.bounds &&
           !model_draws_integers(s->family);
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    const char *id = family_id(c, s->family);
    emit_scalar_comment(
        c, out, s,
        intern_format(c, " * Slice sampling%s, %s integrated out.\n",
                      by_logarithm(s) ? " of its logarithm" : "",
                      sampler_nodes_out(c, s)));
    emit_conditional(c, out, s);
    emit_density(c, out, s);
    if (by_logarithm(s))
        text_printf(
            out,
            "GBM_INLINE real along_%s(const void *context, real t)\n"
            "{\n    return density_%s(context, real_exp(t)) + t; /* the "
            "Jacobian */\n}\n\n",
            id, id);
    emit_scalar_update(c, out, s);
}

static void draw(struct emitter *e, const struct step *s)
{
    const char *id = family_id(e->c, s->family);
    if (!by_logarithm(s)) {
        sampler_draw_with_width(e, s, "slice");
        return;
    }
    const char *unit = emit_width(e, s);
    emit_line(e,
              "const real value = real_exp(gbm_slice_near(rng, "
              "real_log(real_fmax(%s, GBM_TINY)), &width, adapting, -GBM_INF, "
              "GBM_INF, along_%s, &k_));",
              emit_target(e, s->family), id);
    emit_store_width(e, s, unit);
    emit_store(e, s, "value");
}

const struct sampler sampler_integrated_slice = {
    .name = "slice",
    .trials = true,
    .unit = sampler_each_unless_tied,
    .explain = explain,
    .why = sampler_why_out,
    .emit = emit,
    .draw = draw,
    .scalar = true,
    .blocks = 3,
    .tunes = sampler_tunes_width,
};
