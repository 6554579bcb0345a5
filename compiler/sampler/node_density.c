/* node_density.c: what is left of nodes that are integrated out of a
 * parameter's step (integrated.c). The density of a node is exp(own T(x)) /
 * Z(own), with own the coefficients of the statistics T that the parameter
 * settles, and its full conditional adds what the data give, S, to these: Z(own
 * + S) / Z(own) is left. Z is what the library's density of the full
 * conditional's family has without T; S, where it is a sum over rows, a table.
 */
#include "condition/find.h"
#include "sampler/integrated.h"
#include <assert.h>
#include <string.h>

/* ---- which nodes can go ----------------------------------------------------
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

bool sampler_is_prior(const struct step *s, const struct part *p)
{
    const struct factor *own = s->family->factor;
    return p->own || (own->replaced && p->factor == own->joint);
}

static bool draws_exactly(const struct model *m, const struct step *s,
                          bool augmented)
{
    const struct family *f = s->family;
    const struct factor *g = f->factor;
    if (s->merged || s->asked.word || sampler_named(m, f) || f->data_block ||
        f->affine || f->truncated || f->next_of_var || f->var->families != f ||
        s->law.rest || s->opaque || s->through || s->order.ties ||
        s->beside.block || s->scaled.by || s->view.as || !g ||
        (g->replaced && !augmented && !sampler_draws_scales(s)) || g->guard ||
        g->rule || g->family != f || (f->auxiliary && !may_be_taken_out(m, s)))
        return false;
    return s->law.family || s->sampler == &sampler_confined;
}

bool sampler_draws_exactly(const struct model *m, const struct step *s)
{
    return draws_exactly(m, s, false);
}

bool sampler_draws_given_added(const struct model *m, const struct step *s)
{
    const struct factor *g = s->family->factor;
    return draws_exactly(m, s, true) && g->replaced && g->joint &&
           s->law.family && entry_is_normal(s->law.family);
}

bool sampler_can_go(const struct model *m, const struct step *s)
{
    if (!sampler_draws_exactly(m, s) || s->support.bounded || s->support.bounds)
        return false;
    if (s->sampler == &sampler_direct)
        return entry_clause(s->law.family, "solve") &&
               entry_value(s->law.family, "logdensity") &&
               !entry_is_normal(s->law.family);
    return s->sampler == &sampler_vector_draw && of_logarithms(s);
}

/* ---- what the data give ----------------------------------------------------
 */

bool sampler_is_apart(const struct integrated *k, symp e)
{
    bool free = !model_reads(k->m, e, k->step->family->var);
    for (int i = 0; i < k->n; i++)
        free = free && !model_reads(k->m, e, k->nodes[i].drawn->family->var);
    return free;
}

static symp at_solved(struct compiler *c, const struct part *p, symp e)
{
    for (int i = p->nloops - 1; i >= 0; i--)
        if (p->solved[i])
            e = sym_replace_loop(c, e, p->loops[i], p->solved[i]);
    return e;
}

symp sampler_over_instances(struct compiler *c, const struct part *p, symp e,
                            bool *rows)
{
    *rows = false;
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
        *rows = true;
    }
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
 * over the rows for little. A scale with one such child is hardly held by it.
 */
static bool is_below(const struct integrated *k, const struct part *p)
{
    return k->scales || p->factor->family->var->leaf ||
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

bool sampler_is_a_power(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_REF && e->var->role == ROLE_POWER;
}

/* The power that e, which the part's instance gives, is multiplied by: methods
 * set it between sweeps, when tables are not filled anew. */
symp sampler_take_power(struct compiler *c, const struct part *p, symp *e)
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
    out->count = sampler_is_apart(k, rows) && sampler_is_apart(k, out->body)
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
    symp power = sampler_take_power(c, p, &e);
    bool rows;
    if (!hit || !is_below(k, p))
        return NULL;
    struct label_sum labels;
    if (by_label(k, p, guard, e, &labels)) {
        note_labels(k, &labels);
        return sym_mul2(c, power, labels.table);
    }
    e = under(c, sym_and(c, guard, hit), e);
    e = sampler_over_instances(c, p, e, &rows);
    if (!sampler_is_apart(k, e) ||
        (rows && sym_any(e, sampler_is_a_power, NULL)))
        return NULL;
    symp table = rows ? model_table_of(c, k->m, e, NULL) : NULL;
    if (table)
        table->var->families->of_observed = true;
    return sym_mul2(c, power, table ? table : e);
}

/* What the part gives if an instance gives e, which may depend on the parameter
 * by factors that all instances share: tables for the rest. NULL as above. */
static symp given_along(const struct integrated *k, const struct step *s,
                        const struct part *p, symp e)
{
    struct compiler *c = k->c;
    const struct family *x = k->step->family;
    symp cell = sym_ref(c, x->var, x->var->ndim, x->lower);
    struct collected of;
    sym_collect(c, sym_replace(c, e, cell, sym_target(c)), x->var->positive,
                &of);
    if (of.overflow)
        return NULL;
    symp sum = sym_is(of.rest, 0) ? of.rest : given_by(k, s, p, of.rest);
    for (int t = 0; sum && t < of.n; t++) {
        symp each = given_by(k, s, p, of.coefficient[t]);
        if (!each || sym_has_loop_of(of.statistic[t], p->loops, p->nloops))
            return NULL;
        symp by = sym_replace(c, of.statistic[t], sym_target(c), cell);
        sum = sym_add2(c, sum, sym_mul2(c, by, each));
    }
    return sum;
}

/* Adds what the part has, or gives, of a statistic. */
static bool add_coefficient(const struct integrated *k, const struct step *s,
                            const struct part *p, symp e, struct change *to)
{
    const bool prior = p->own || (k->scales && sampler_is_prior(s, p));
    symp *sum = prior ? &to->own : &to->gain;
    if (!prior)
        e = k->beside ? given_along(k, s, p, e) : given_by(k, s, p, e);
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

/* Of x^p the parameter that `solve` does not give. */
static void add_exponent(struct compiler *c, const struct step *s,
                         struct changes *params)
{
    const struct entry *d = s->law.family;
    for (int i = 0; s->law.exponent && i < d->nparameters; i++)
        if (!is_given(params, d->parameters[i].name))
            add_change(params, d->parameters[i].name, s->law.exponent,
                       sym_num(c, 0));
}

bool sampler_scalar_density(const struct integrated *k, struct node *node)
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
    add_exponent(c, s, &params);
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
bool sampler_added_density(const struct integrated *k, struct node *node)
{
    if (!sampler_scalar_density(k, node))
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
bool sampler_vector_density(const struct integrated *k, struct node *node)
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

/* ---- the density of a node that has children in common with the parameter --
 */

bool sampler_common_density(const struct integrated *k, struct node *node)
{
    struct compiler *c = k->c;
    const struct step *s = node->drawn;
    const struct entry *d = s->law.family;
    struct names names = {.of = s->family, .entry = d};
    struct changes statistics = {.n = 0}, params = {.n = 0};
    if (!find_coefficients(k, s, &statistics))
        return false;
    for (const struct clause_item *i = entry_clause(d, "solve")->items; i;
         i = i->next) {
        symp e = sym_from_library(c, i->value, bind, &names);
        add_change(&params, i->label->name, sampler_both_of(c, e, &statistics),
                   sym_num(c, 0));
    }
    add_exponent(c, s, &params);
    symp density =
        sym_from_library(c, entry_value(d, "logdensity"), bind, &names);
    if (!density)
        return false;
    density = sampler_own_of(c, density, &params);
    struct collected terms;
    sym_collect(c, density, s->family->var->positive, &terms);
    if (terms.overflow || sym_has_target(terms.rest))
        return false;
    node->logp = sym_neg(c, terms.rest);
    node->full = sym_replace(c, density, sym_target(c), node->at);
    return true;
}

symp sampler_where_drawn(struct compiler *c, const struct node *node, symp seen,
                         symp drawn)
{
    symp at = node->at;
    return sym_select(c, sym_seen(c, at->var, at->nargs, at->args), seen,
                      drawn);
}
