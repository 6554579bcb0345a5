/* joint.c: joint Gaussian blocks of families that enter common linear
 * predictors: fixed and random effects together, time chains. Each such factor
 * reads the block through one linear form a'x with few coefficients and is
 * quadratic in it, so the block's precision is a sum of sparse rank-one terms;
 * the density of a vector node has several (joint_forms.c).
 *
 * When a block is taken. Families whose full conditionals are normal belong
 * together if they meet in a factor that is no one's own prior: given the rest,
 * they are correlated a posteriori. A block is made of such a group if
 *   - some member's own prior ties its elements (a chain), or
 *   - elements of a plate of several loops meet each other row by row, as the
 *     coefficients b[g[i],k] of a group, or
 *   - elements of a plate, or more scalars than a small block has, meet in a
 *     vector node's density (joint_forms.c), or
 *   - members of different plates meet, one of them a plate whose elements do
 *     not all meet each other.
 * Families of one plate that meet element by element are independent small
 * blocks, drawn in parallel (block.c); scalars alone, and plates that a sum
 * over all their elements ties, are dense blocks (block.c). Normal nodes that
 * stand only in a member's prior (hyper-means) join a block that is made
 * anyway: one more coordinate costs little and frees them of their plate.
 * A vector node whose prior is normal is a plate whose prior ties its elements
 * (joint_vector.c). */
#include "sampler/joint.h"
#include <string.h>

/* ---- one factor ---- */

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

static symp replace_in_sum(struct compiler *c, symp e, void *context)
{
    struct replacing *r = context;
    if (e->kind != SYM_ADD)
        return NULL;
    symp part = part_with_block(c, r->k, e);
    if (sym_same(part, r->what))
        return sym_add(c, 3, (symp[]){r->by, e, sym_neg(c, r->what)});
    if (!sym_same(part, sym_neg(c, r->what)))
        return NULL;
    r->mirrored = true;
    return sym_add(c, 3, (symp[]){sym_neg(c, r->by), e, r->what});
}

/* The predictor eta in logp becomes `by`, also where eta + log(E[i]) or, as in
 * the log odds of a failure, -eta stands. */
static symp replace_predictor(struct compiler *c, const struct joint_context *k,
                              symp logp, symp eta, symp by, bool *mirrored)
{
    struct replacing r = {k, eta, by, false};
    symp e = sym_replace(c, logp, eta, by);
    if (joint_mentions(k, e))
        e = sym_map(c, e, replace_in_sum, &r);
    *mirrored = r.mirrored;
    return e;
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
        symp next = NULL;
        for (int i = 0; i < e->nargs && !next; i++)
            if (joint_mentions(k, e->args[i]))
                next = e->args[i];
        if (!next)
            break;
        e = next;
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

/* w = scale * unit: the scale is what no instance changes. */
static void split_scale(struct compiler *c, symp w, const struct factor *g,
                        symp *scale, symp *unit)
{
    symp one[1] = {w};
    symp const *args = w->kind == SYM_MUL ? w->args : one;
    int n = w->kind == SYM_MUL ? w->nargs : 1;
    *scale = *unit = sym_num(c, 1);
    for (int i = 0; i < n; i++) {
        bool apart = !joint_constant(args[i], g) &&
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

/* The support of the factor does not depend on the block. */
static bool support_free(const struct joint_context *k, const struct factor *g)
{
    return !(g->lower && joint_mentions(k, g->lower)) &&
           !(g->upper && joint_mentions(k, g->upper)) &&
           !(g->guard &&
             (joint_mentions(k, g->guard) || sym_reads_latent(g->guard)));
}

static bool opaque_mention(struct compiler *c, const struct joint_context *k,
                           const struct factor *g)
{
    if (!g->opaque)
        return false;
    for (int i = 0; i < g->family->nargs; i++)
        if (joint_mentions(
                k, model_substitute_derived(c, g->family->args[i].body)))
            return true;
    return joint_mentions(k, g->logp);
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

/* L as a function of eta, with two derivatives; logp is that of the target. */
static bool make_curve(struct compiler *c, symp logp, struct joint_term *t)
{
    struct var *v = NEW(c, struct var);
    v->name = "eta";
    symp at = sym_ref(c, v, 0, NULL), target = sym_target(c);
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

static struct joint_term *make_term(struct compiler *c, struct joint_context *k,
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

/* ---- a block ---- */

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

static symp count_of(struct compiler *c, const struct family *f)
{
    symp n = f->nslices ? family_extent(c, f, 0) : sym_num(c, 1);
    for (int i = 0; i < f->nloops; i++)
        n = sym_mul2(c, n,
                     sym_length(c, f->loops[i]->lower, f->loops[i]->upper));
    return n;
}

/* Vector members' own priors, elsewhere than in other members' terms. */
static struct family *vector_of(const struct step *s, const struct factor *g)
{
    for (int i = 0; i < s->block.n; i++)
        if (s->block.members[i].family->nslices &&
            s->block.members[i].family->factor == g)
            return s->block.members[i].family;
    return NULL;
}

static bool free_of_block(const struct joint_context *k,
                          const struct joint_term *t)
{
    for (; t; t = t->next)
        if (joint_mentions(k, t->scale) || joint_mentions(k, t->weight) ||
            joint_mentions(k, t->score))
            return false;
    return true;
}

struct joint *joint_of(const struct step *s)
{
    const bool is = s->sampler == &sampler_joint_gaussian ||
                    s->sampler == &sampler_joint_ellipse;
    return is ? s->own : NULL;
}

/* The block of these steps, or NULL if some factor is not quadratic in it. */
static struct step *joint_block(struct compiler *c, struct model *m,
                                struct step *const *steps, int n,
                                bool long_sums)
{
    struct step *s = NEW(c, struct step);
    struct joint_context k = {.long_sums = long_sums};
    struct joint *j = s->own = NEW(c, struct joint);
    s->sampler = &sampler_joint_gaussian;
    s->model = m;
    s->family = steps[0]->family;
    s->block.n = n;
    for (int i = 0; i < n; i++) {
        s->block.members[i].family = steps[i]->family;
        s->block.members[i].count = count_of(c, steps[i]->family);
    }
    k.block = s;
    k.nvars = joint_variables(s, k.vars);
    struct joint_term **last = &j->terms;
    for (struct factor *h = m->factors; h; h = h->next) {
        if (h->replaced)
            continue;
        struct factor *g = condition_seen_by_all(c, steps, n, h);
        if (!g)
            return NULL;
        if (!support_free(&k, g) || opaque_mention(c, &k, g))
            return NULL;
        if (!joint_mentions(&k, g->logp))
            continue;
        if (g->rule && joint_mentions(&k, g->rule))
            return NULL; /* no normal fit where the density ends */
        struct family *vector = vector_of(s, g);
        *last = vector ? vector_prior_terms(c, m, vector) : NULL;
        if (vector && !free_of_block(&k, *last))
            *last = NULL;
        else if (!vector)
            *last = make_term(c, &k, s, g);
        if (!*last)
            *last = vector_form_terms(c, m, &k, g);
        if (!*last)
            return NULL;
        j->curved = j->curved || (*last)->curved;
        while (*last)
            last = &(*last)->next;
    }
    if (j->curved)
        s->sampler = &sampler_joint_ellipse;
    return j->terms ? s : NULL;
}

static const char *block_name(struct compiler *c, const struct step *s)
{
    struct text t = {0};
    /* of one family: its slices, kept beside the block, are update_... */
    text_append(&t, s->block.n == 1 ? "jointly" : "update");
    for (int i = 0; i < s->block.n && i < 4; i++)
        text_printf(&t, "_%s", family_id(c, s->block.members[i].family));
    if (s->block.n > 4)
        text_printf(&t, "_and_%d", s->block.n - 4);
    return text_take(c, &t);
}

/* ---- which steps belong together ---- */

/* A vector node with the rest of a normal prior: parts, no other step. */
static bool vector_candidate(const struct step *s)
{
    const struct family *f = s->family;
    return f && f->nslices == 1 && s->block.n == 1 && s->parts &&
           !s->asked.word && !s->beside.block && !s->through && !f->auxiliary &&
           !f->factor->replaced && f->var->role == ROLE_STOCHASTIC;
}

static bool candidate(const struct step *s)
{
    if (vector_candidate(s) && s->sampler == &sampler_gaussian_block)
        return true;
    return normal_scalar(s) && !s->family->nslices && !s->beside.block &&
           s->family->var->role == ROLE_STOCHASTIC;
}

/* Also as a mixture of normals, given what the augmentation added. */
static bool has_normal_prior(struct compiler *c, const struct family *f)
{
    symp linear, square;
    if (!f->factor->replaced)
        return f->distribution && entry_is_normal(f->distribution);
    symp logp =
        sym_replace(c, f->factor->joint->logp, f->factor->value, sym_target(c));
    return quadratic_in(c, with_target(c, logp), &linear, &square) &&
           !sym_is(square, 0);
}

/* A slice only because of its likelihood: its prior is normal. */
static bool curved_candidate(struct compiler *c, const struct step *s)
{
    const struct family *f = s->family;
    if (vector_candidate(s) && (s->sampler == &sampler_elliptical_block ||
                                (s->sampler == &sampler_vector_slice &&
                                 sampler_companion(s) == COMPANION_NONE)))
        return true;
    return s->sampler == &sampler_slice && !s->beside.block && !s->asked.word &&
           !s->support.bounds && !s->order.ties && !s->through && !f->nslices &&
           !f->truncated && !f->auxiliary && f->var->role == ROLE_STOCHASTIC &&
           has_normal_prior(c, f);
}

static bool joins(struct compiler *c, const struct step *s, bool curved)
{
    return candidate(s) || (curved && curved_candidate(c, s));
}

static bool is_plate(const struct step *s)
{
    return s->family->nloops > 0 || s->family->nslices > 0;
}

static bool in_group(struct step *const *group, int n, const struct step *s)
{
    for (int i = 0; i < n; i++)
        if (group[i] == s)
            return true;
    return false;
}

/* a's elements stand in b's prior. */
static bool in_prior(const struct step *a, const struct step *b)
{
    for (const struct part *p = a->parts; p; p = p->next)
        if (!p->own && p->factor == b->family->factor)
            return true;
    return false;
}

static int find_group(struct compiler *c, struct model *m, struct step *seed,
                      bool curved, struct step **group, int capacity)
{
    int n = 0;
    group[n++] = seed;
    for (int i = 0; i < n; i++)
        for (struct step *s = m->steps; s && n < capacity; s = s->next)
            if (joins(c, s, curved) && !in_group(group, n, s) &&
                sampler_share_likelihood(group[i], s))
                group[n++] = s;
    return n;
}

static bool is_chain(const struct step *s)
{
    return s->family->nloops > 0 && sampler_chained(s);
}

/* Elements of a plate of several loops meet each other, not all at once: no
 * dense block. */
static bool meets_in_rows(const struct step *s)
{
    return s->family->nloops > 1 && !s->family->nslices &&
           (s->order.sequential || s->order.conflicts) && !sampler_coupled(s);
}

/* s stands in the density of a vector node, which is no row of a dense block.
 */
static bool in_vectors(const struct step *s)
{
    for (const struct part *p = s->parts; p; p = p->next)
        if (!p->own && joint_node(p->factor)->nslices == 1)
            return true;
    return false;
}

/* Elements of a plate meet each other there. */
static bool meets_in_vectors(const struct step *s)
{
    return s->family->nloops > 0 && !s->family->nslices &&
           (s->order.sequential || s->order.conflicts) && in_vectors(s);
}

/* Slices one at a time are slow where elements meet, whatever the plates. */
static bool worth_curved(struct step *const *group, int n)
{
    return n > 1 || is_chain(group[0]) || group[0]->family->nslices > 0 ||
           (group[0]->family->nloops > 0 &&
            (group[0]->order.sequential || group[0]->order.conflicts));
}

static bool worth(struct compiler *c, struct step *const *group, int n)
{
    bool plates = false, same = true;
    for (int i = 0; i < n; i++) {
        const struct step *s = group[i];
        if (is_chain(s) || meets_in_rows(s) || meets_in_vectors(s) ||
            (n > 1 && s->family->nslices > 0))
            return true;
        plates = plates || (s->family->nloops > 0 && !sampler_coupled(s));
        same = same && s->family->nloops > 0 && !s->order.sequential &&
               !s->order.conflicts && sampler_plain_plate(c, s->family) &&
               sampler_same_plate(c, group[0]->family, s->family);
    }
    const bool many = n > MOST_IN_BLOCK && in_vectors(group[0]);
    return (n > 1 && plates && !same) || many;
}

/* Adds s to the group if the block stays one. */
static void try_member(struct compiler *c, struct model *m,
                       struct step **members, int *n, struct step *s,
                       bool long_sums)
{
    if (*n == MAX_MEMBERS || in_group(members, *n, s))
        return;
    members[(*n)++] = s;
    if (!joint_block(c, m, members, *n, long_sums))
        --*n;
}

static void add_hyper_means(struct compiler *c, struct model *m,
                            struct step **members, int *n, bool long_sums)
{
    for (int i = 0; i < *n; i++)
        for (struct step *s = m->steps; s; s = s->next)
            if (candidate(s) && !in_group(members, *n, s) &&
                (in_prior(s, members[i]) ||
                 sampler_share_likelihood(s, members[i])))
                try_member(c, m, members, n, s, long_sums);
}

/* An element's slice reads few rows. */
static bool cheap_slice(const struct step *s)
{
    if (s->family->nslices > 0)
        return false;
    if (s->family->nloops > 0)
        return !s->order.sequential;
    for (const struct part *p = s->parts; p; p = p->next)
        for (int i = 0; i < p->nloops && !p->own; i++)
            if (!p->solved[i])
                return false;
    return true;
}

/* The fitted normal has lighter tails than some posteriors, element by element:
 * there the ellipse leaves a value only slowly. So what is cheap to draw one by
 * one keeps its slices, after the block. */
static void keep_slices(struct compiler *c, struct step *const *members, int n,
                        struct step **kept, int *nkept)
{
    for (int i = 0; i < n; i++)
        if (curved_candidate(c, members[i]) && cheap_slice(members[i])) {
            kept[*nkept] = NEW(c, struct step);
            *kept[(*nkept)++] = *members[i];
        }
}

/* e changes only with the block. */
static bool settled(const struct joint_context *k, symp e,
                    const struct factor *g)
{
    if (e->kind == SYM_REF && joint_variable_number(k, e->var) < 0 &&
        !joint_constant(e, g))
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (!settled(k, e->args[i], g))
            return false;
    return true;
}

/* A plate stands in a term multiplied by one random node: effects in their
 * non-centred form. */
static bool scales_effects(const struct joint_term *t)
{
    for (int i = 0; i < t->nslots; i++)
        if (t->slots[i].reference->nargs &&
            !sym_has_any_loop(t->slots[i].coefficient) &&
            sym_reads_latent(t->slots[i].coefficient))
            return true;
    return false;
}

/* Coefficients of the log odds of counts mix well enough one by one, at half
 * the cost of the fits, where the latter have to follow something that moves
 * (the states of an occupancy model). Not so effects whose scale can move with
 * them, or multiplies them. */
static bool worth_fits(const struct step *block)
{
    struct joint_context k = {.nvars = 0};
    k.nvars = joint_variables(block, k.vars);
    bool mirrored = false, all_settled = true, scaled = false;
    for (const struct joint_term *t = joint_of(block)->terms; t; t = t->next) {
        mirrored = mirrored || t->mirrored;
        scaled = scaled || scales_effects(t);
        all_settled = all_settled && settled(&k, t->factor->logp, t->factor);
    }
    return !mirrored || all_settled || scaled || joint_of(block)->rescalings;
}

/* The members of the group's block; returns their number. */
static int find_members(struct compiler *c, struct model *m,
                        struct step *const *group, int ngroup, bool curved,
                        bool long_sums, struct step **members)
{
    int n = 0;
    /* plates first: a coefficient that multiplies one (phi x[t-1]) is left */
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < ngroup; i++)
            if (is_plate(group[i]) == (pass == 0))
                try_member(c, m, members, &n, group[i], long_sums);
    if (n == 0 || (curved ? !worth_curved(members, n) : !worth(c, members, n)))
        return 0;
    add_hyper_means(c, m, members, &n, long_sums);
    return n;
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

/* Coefficients of a plate that a sum of unknown length runs through,
 * inprod(X[i,], b[]), are in the block with what else is in the predictor, if
 * there are other plates, or its density is not normal. Their own dense block,
 * or slices, stand behind it for where they are many, and then the block takes
 * them as they are: copies of their steps; returns the number of these, or -1
 * if no dense block can be. */
static int find_apart(struct compiler *c, struct model *m,
                      const struct step *block, struct step *const *members,
                      int n, struct step **apart)
{
    struct step *dense[MAX_MEMBERS];
    int count = 0, ndense = 0;
    for (int i = 0; i < n; i++) {
        if (!joint_in_long_sum(block, members[i]->family))
            continue;
        apart[count] = NEW(c, struct step);
        *apart[count] = *members[i];
        apart[count]->beside.block = members[0];
        if (normal_scalar(members[i]))
            dense[ndense++] = apart[count];
        count++;
    }
    return ndense == 0 || sampler_dense_alone(c, m, dense, ndense) ? count : -1;
}

/* What keeps its slices is drawn by them whether the block takes it or not. */
static int drop_kept(struct step **apart, int n, struct step *const *kept,
                     int nkept)
{
    int left = 0;
    for (int i = 0; i < n; i++) {
        bool is_kept = false;
        for (int k = 0; k < nkept; k++)
            is_kept = is_kept || kept[k]->family == apart[i]->family;
        if (!is_kept)
            apart[left++] = apart[i];
    }
    return left;
}

static void insert_behind(struct step *s, struct step *const *more, int n)
{
    for (int i = 0; i < n; i++) {
        more[i]->next = s->next;
        s->next = more[i];
    }
}

static void form_from(struct compiler *c, struct model *m, struct step *seed,
                      bool curved)
{
    struct step *group[MAX_MEMBERS], *members[MAX_MEMBERS], *apart[MAX_MEMBERS];
    int ngroup = find_group(c, m, seed, curved, group, MAX_MEMBERS),
        napart = -1;
    if (curved ? !worth_curved(group, ngroup) : !worth(c, group, ngroup))
        return;
    struct step *block = NULL;
    int n = 0;
    for (int long_sums = 1; napart < 0 && long_sums >= 0; long_sums--) {
        n = find_members(c, m, group, ngroup, curved, long_sums, members);
        if (n == 0)
            continue;
        block = joint_block(c, m, members, n, long_sums);
        napart = find_apart(c, m, block, members, n, apart);
    }
    if (n == 0 || joint_of(block)->curved != curved ||
        (curved && sampler_falls_apart(c, m, members, n)))
        return;
    block->name = block_name(c, block);
    sampler_find_rescalings(c, m, block);
    if (!worth_fits(block))
        return;
    struct step *kept[MAX_MEMBERS];
    int nkept = 0;
    keep_slices(c, members, n, kept, &nkept);
    for (int i = 0; i < nkept; i++)
        kept[i]->beside = (struct beside){members[0], true};
    napart = drop_kept(apart, napart, kept, nkept);
    sampler_replace_steps(members, n, block);
    insert_behind(members[0], kept, nkept);
    insert_behind(members[0], apart, napart);
}

/* It stands in vectors' priors alone, whose block takes it along, if they have
 * one. */
static bool is_mean_of_vectors(const struct model *m, const struct step *s)
{
    bool all = true;
    for (const struct part *p = s->parts; p; p = p->next) {
        bool prior = p->own;
        for (const struct step *t = m->steps; t && !prior; t = t->next)
            prior = vector_candidate(t) && t->family->factor == p->factor;
        all = all && prior;
    }
    return all;
}

void sampler_form_joint_blocks(struct compiler *c, struct model *m)
{
    enum { PLATES, SCALARS, MEANS, PASSES };
    for (int curved = 0; curved < 2; curved++)
        for (int pass = PLATES; pass < PASSES; pass++)
            for (struct step *s = m->steps; s; s = s->next) {
                if (!(curved ? curved_candidate(c, s) : candidate(s)))
                    continue;
                const int own = is_mean_of_vectors(m, s) ? MEANS
                                : is_plate(s)            ? PLATES
                                                         : SCALARS;
                if (own == pass)
                    form_from(c, m, s, curved);
            }
}

bool joint_would_fit(struct compiler *c, struct model *m,
                     const struct family *f)
{
    condition_families(c, m);
    for (struct step *s = m->steps; s; s = s->next) {
        s->sampler = sampler_for(s);
        if (sampler_asked_otherwise(m, s->family))
            s->asked.word = "";
    }
    sampler_form_joint_blocks(c, m);
    bool fits = false;
    for (const struct step *s = m->steps; s; s = s->next)
        for (int i = 0; i < s->block.n && joint_of(s); i++)
            fits = fits ||
                   (joint_of(s)->curved && s->block.members[i].family == f);
    m->steps = NULL;
    m->last_step = &m->steps;
    return fits;
}
