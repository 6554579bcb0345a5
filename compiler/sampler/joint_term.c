/* joint_term.c: one factor of a joint block, and what a block is asked: its
 * part of a step, its variables. */
#include "sampler/joint.h"
#include <string.h>

/* The terms of a sum that mention the block. */
static symp part_with_block(struct compiler *c, const struct joint_context *k,
                            symp e)
{
    symp sum = sym_num(c, 0);
    for (int i = 0; i < e->nargs; i++)
        if (joint_mentions(k, e->args[i]))
            sum = sym_add2(c, sum, e->args[i]);
    return sum;
}

struct replacing {
    const struct joint_context *k;
    symp what, by;
    bool mirrored; /* set where -what was met */
};

static double leading_number(symp e)
{
    symp first = e->kind == SYM_ADD ? e->args[0] : e;
    first = first->kind == SYM_MUL ? first->args[0] : first;
    return first->kind == SYM_NUM ? first->number : 1;
}

/* The number q for which e is q * what, term by term; 0 if there is none. */
static double multiple_of(struct compiler *c, symp e, symp what)
{
    double q = leading_number(e) / leading_number(what);
    return sym_same(e, sym_mul2(c, sym_num(c, q), what)) ? q : 0;
}

static symp replace_in_sum(struct compiler *c, symp e, void *context)
{
    struct replacing *r = context;
    if (e->kind != SYM_ADD)
        return NULL;
    double times = multiple_of(c, part_with_block(c, r->k, e), r->what);
    if (times == 0)
        return NULL;
    r->mirrored = r->mirrored || times == -1;
    symp q = sym_num(c, times);
    return sym_add(c, 3,
                   (symp[]){sym_mul2(c, q, r->by), e,
                            sym_neg(c, sym_mul2(c, q, r->what))});
}

/* The predictor eta in logp becomes `by`, also where eta + log(E[i]) stands, a
 * number times eta whose terms stand one by one or, as in the log odds of a
 * failure, -eta. */
static symp replace_predictor(struct compiler *c, const struct joint_context *k,
                              symp logp, symp eta, symp by, bool *mirrored)
{
    struct replacing r = {k, eta, by, false};
    symp e = sym_replace(c, logp, eta, by), before = NULL;
    /* inner sums first: eta - exp(eta + rest) * t is a sum, too */
    while (e != before && joint_mentions(k, e)) {
        before = e;
        e = sym_map(c, e, replace_in_sum, &r);
    }
    *mirrored = r.mirrored;
    return e;
}

/* The argument of e that is descended into: the first that mentions the block
 * and is not linear in it, as exp(eta) in eta - exp(eta) * t, where the terms
 * of eta stand one by one; else the first that mentions it. */
static symp leading_on(struct compiler *c, struct joint_context *k, symp e)
{
    symp first = NULL;
    for (int i = 0; i < e->nargs; i++) {
        struct joint_linear form = {.rest = sym_num(c, 0)};
        if (!joint_mentions(k, e->args[i]))
            continue;
        first = first ? first : e->args[i];
        if (!joint_decompose(c, k, e->args[i], sym_num(c, 1), &form))
            return e->args[i];
    }
    return first;
}

/* The largest expression through which alone logp depends on the block, and
 * which is linear in it: found by descending to where all mentions are. */
static symp find_predictor(struct compiler *c, struct joint_context *k,
                           symp logp, struct joint_linear *form)
{
    symp e = logp, best = NULL;
    for (int depth = 0; depth < 64; depth++) {
        symp tries[2] = {e, e->kind == SYM_ADD ? part_with_block(c, k, e) : e};
        for (int i = 0; i < 2 && (i == 0 || (best != e && tries[1] != e));
             i++) {
            struct joint_linear try = {.rest = sym_num(c, 0)};
            bool mirrored;
            symp rest = replace_predictor(c, k, logp, tries[i], sym_target(c),
                                          &mirrored);
            if (tries[i] == logp || joint_mentions(k, rest) ||
                !joint_decompose(c, k, tries[i], sym_num(c, 1), &try))
                continue;
            best = tries[i];
            *form = try;
        }
        if (e->kind == SYM_REF || e->kind == SYM_SUM)
            break;
        e = leading_on(c, k, e);
        if (!e)
            break;
    }
    return best;
}

/* y[i], of which only the seen instances count. */
static bool seen_cell(symp e, const struct factor *g)
{
    if (!g->seen_ref || g->seen_ref->kind != SYM_SEEN ||
        e->var != g->seen_ref->var || e->nargs != g->seen_ref->nargs)
        return false;
    for (int d = 0; d < e->nargs; d++)
        if (!sym_same(e->args[d], g->seen_ref->args[d]))
            return false;
    return true;
}

static bool moves(symp e, const void *factor)
{
    return sym_is_latent(e, NULL) && !seen_cell(e, factor);
}

bool joint_constant(symp e, const struct factor *g)
{
    return !sym_any(e, moves, g);
}

/* Whether e tells if the node is read at all: it may be 0 as often as not, as
 * counts, choices, their powers, multiples and sums are. */
static bool leaves_out(symp e)
{
    if (sym_never_zero(e))
        return false;
    switch (e->kind) {
    case SYM_POW:
        return leaves_out(e->args[0]);
    case SYM_SUM:
        return leaves_out(e->args[e->nargs - 1]);
    case SYM_MUL:
        for (int i = 0; i < e->nargs; i++)
            if (leaves_out(e->args[i]))
                return true;
        return false;
    case SYM_ADD:
        for (int i = 0; i < e->nargs; i++)
            if (!leaves_out(e->args[i]))
                return model_is_integer(e);
        return true;
    default:
        return e->kind == SYM_SELECT || model_is_integer(e);
    }
}

/* w = scale * unit: the scale is what no instance changes. Scores are divided
 * by it, so what leaves rows out is of the unit. */
static void split_scale(struct compiler *c, symp w, const struct factor *g,
                        symp *scale, symp *unit)
{
    symp one[1] = {w};
    symp const *args = w->kind == SYM_MUL ? w->args : one;
    int n = w->kind == SYM_MUL ? w->nargs : 1;
    *scale = *unit = sym_num(c, 1);
    for (int i = 0; i < n; i++) {
        bool apart = !joint_constant(args[i], g) && !leaves_out(args[i]) &&
                     !sym_has_loop_of(args[i], g->loops, g->nloops);
        symp *to = apart ? scale : unit;
        *to = sym_mul2(c, *to, args[i]);
    }
}

symp joint_divide(struct compiler *c, symp e, symp scale)
{
    if (sym_is(scale, 1))
        return e;
    if (e->kind != SYM_ADD)
        return sym_div(c, e, scale);
    symp sum = sym_num(c, 0);
    for (int i = 0; i < e->nargs; i++)
        sum = sym_add2(c, sum, sym_div(c, e->args[i], scale));
    return sum;
}

/* logp is that of the target, which stands for the predictor. */
static bool quadratic_in(struct compiler *c, symp logp, symp *linear,
                         symp *square)
{
    struct collected k;
    symp t = sym_target(c), t2 = sym_pow(c, t, sym_num(c, 2));
    sym_collect(c, logp, false, &k);
    *linear = *square = sym_num(c, 0);
    for (int i = 0; i < k.n; i++) {
        if (sym_same(k.statistic[i], t))
            *linear = k.coefficient[i];
        else if (sym_same(k.statistic[i], t2))
            *square = k.coefficient[i];
        else
            return false;
    }
    return !k.overflow;
}

symp joint_eta(struct compiler *c) { return sym_param(c, intern(c, "eta_")); }

/* Terms of a sum that mention the target, also where a factor free of it
 * multiplies the sum. */
static symp with_target(struct compiler *c, symp e)
{
    for (int i = 0; e->kind == SYM_MUL && i < e->nargs; i++) {
        symp rest = sym_cofactor(c, e, i);
        if (!sym_has_target(rest))
            return sym_mul2(c, rest, with_target(c, e->args[i]));
    }
    if (e->kind != SYM_ADD)
        return e;
    symp sum = sym_num(c, 0);
    for (int i = 0; i < e->nargs; i++)
        if (sym_has_target(e->args[i]))
            sum = sym_add2(c, sum, with_target(c, e->args[i]));
    return sum;
}

static symp with_cases(struct compiler *c, symp e)
{
    if (e->kind != SYM_ADD)
        return e;
    symp *terms = NEW_ARRAY(c, symp, e->nargs);
    memcpy(terms, e->args, (size_t)e->nargs * sizeof *terms);
    condition_merge_cases(c, terms, e->nargs, NULL);
    return sym_add(c, e->nargs, terms);
}

/* The variable by which links are derived. */
static symp predictor(struct compiler *c)
{
    if (!c->predictor) {
        c->predictor = NEW(c, struct var);
        c->predictor->name = "eta";
    }
    return sym_ref(c, c->predictor, 0, NULL);
}

/* L as a function of eta, with two derivatives; logp is that of the target. */
static bool make_curve(struct compiler *c, symp logp, struct joint_term *t)
{
    symp at = predictor(c), target = sym_target(c);
    symp value =
        sym_replace(c, with_cases(c, with_target(c, logp)), target, at);
    symp unbounded = model_without_link_clamps(c, value, at);
    symp slope = sym_derivative(c, unbounded, at);
    symp curvature = slope ? sym_derivative(c, slope, at) : NULL;
    if (!curvature || sym_is(curvature, 0))
        return false;
    t->curved = true;
    t->value = sym_replace(c, value, at, joint_eta(c));
    if (!sym_same(unbounded, value))
        t->unbounded = sym_replace(c, unbounded, at, joint_eta(c));
    t->slope = sym_replace(c, slope, at, joint_eta(c));
    t->curvature = sym_replace(c, curvature, at, joint_eta(c));
    return true;
}

struct family *joint_node(const struct factor *g)
{
    return g->of ? g->of->family : g->family;
}

struct factor *joint_prior(const struct family *f)
{
    return f->factor->replaced ? f->factor->joint : f->factor;
}

static bool is_member_prior(const struct step *s, const struct factor *g)
{
    for (int i = 0; i < s->block.n; i++)
        if (joint_prior(s->block.members[i].family) == g)
            return true;
    return false;
}

struct joint_term *joint_make_term(struct compiler *c, struct joint_context *k,
                                   const struct step *s, struct factor *g)
{
    struct joint_linear form;
    symp eta = find_predictor(c, k, g->logp, &form), linear, square;
    if (!eta)
        return NULL;
    struct joint_term *t = NEW(c, struct joint_term);
    t->factor = g;
    symp logp =
        replace_predictor(c, k, g->logp, eta, sym_target(c), &t->mirrored);
    if (quadratic_in(c, logp, &linear, &square)) {
        if (joint_mentions(k, linear) || joint_mentions(k, square))
            return NULL;
        symp weight = sym_mul2(c, sym_num(c, -2), square);
        split_scale(c, weight, g, &t->scale, &t->weight);
        /* logp = linear eta + square eta^2, eta = a'x + rest */
        t->score = sym_sub(c, joint_divide(c, linear, t->scale),
                           sym_mul2(c, t->weight, form.rest));
        t->constant_weight = joint_constant(t->weight, g);
        t->constant_score = joint_constant(t->score, g);
    } else if (is_member_prior(s, g) || !make_curve(c, logp, t)) {
        return NULL;
    }
    t->offset = form.rest;
    t->predictor = eta;
    t->nslots = form.n;
    t->slots = NEW_ARRAY(c, struct joint_slot, form.n);
    t->constant_design = true;
    for (int i = 0; i < form.n; i++) {
        t->slots[i] = form.slots[i];
        t->constant_design =
            t->constant_design && joint_constant(form.slots[i].coefficient, g);
    }
    return t;
}

bool joint_has_normal_prior(struct compiler *c, const struct family *f)
{
    symp linear, square;
    if (!f->factor->replaced)
        return f->distribution && entry_is_normal(f->distribution);
    symp logp =
        sym_replace(c, f->factor->joint->logp, f->factor->value, sym_target(c));
    return quadratic_in(c, with_target(c, logp), &linear, &square) &&
           !sym_is(square, 0);
}

int joint_variables(const struct step *s, struct var **out)
{
    int n = 0;
    for (int i = 0; i < s->block.n; i++) {
        bool known = false;
        for (int j = 0; j < n; j++)
            known = known || out[j] == s->block.members[i].family->var;
        if (!known)
            out[n++] = s->block.members[i].family->var;
    }
    return n;
}

struct joint *joint_of(const struct step *s)
{
    return s->sampler && s->sampler->joint ? s->own : NULL;
}

bool joint_is_gaussian(const struct step *s)
{
    const struct joint *own = joint_of(s);
    return own && !own->curved;
}

bool joint_in_long_sum(const struct step *block, const struct family *f)
{
    struct joint_context k = {.nvars = 0};
    k.nvars = joint_variables(block, k.vars);
    const int number = joint_variable_number(&k, f->var);
    for (const struct joint_term *t = joint_of(block)->terms; t; t = t->next)
        for (int i = 0; i < t->nslots; i++)
            if (t->slots[i].long_sum && t->slots[i].variable == number)
                return true;
    return false;
}
