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
 *   - elements of a plate of several directions meet each other row by row, as
 *     the coefficients b[g[i],k] of a group, or cells x[row[m],col[m]], or
 *   - elements of a plate, or more scalars than a small block has, meet in a
 *     vector node's density (joint_forms.c), or
 *   - vectors of one plate meet, or have a mean that is drawn, or
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

enum { MOST_BESIDE_MEAN = 16 }; /* components of a vector */

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
           joint_has_normal_prior(c, f);
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

/* Elements of a plate of several directions meet each other, not all at once:
 * no dense block. */
static bool meets_in_rows(const struct step *s)
{
    return sampler_directions(s->family) > 1 && !s->family->nslices &&
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

/* Vectors of one plate meet each other, as in inprod(v[], B[g[i],]) those of
 * all columns. One at a time, each waits for the others. */
static bool vectors_meet(const struct step *s)
{
    return s->family->nloops > 0 && s->family->nslices > 0 &&
           (s->order.sequential || s->order.conflicts);
}

/* Slices one at a time are slow where elements meet, whatever the plates. */
static bool worth_curved(struct step *const *group, int n)
{
    return n > 1 || is_chain(group[0]) || group[0]->family->nslices > 0 ||
           (group[0]->family->nloops > 0 &&
            (group[0]->order.sequential || group[0]->order.conflicts));
}

static bool worth_meeting(struct compiler *c, struct step *const *group, int n)
{
    bool plates = false, same = true;
    for (int i = 0; i < n; i++) {
        const struct step *s = group[i];
        if (is_chain(s) || meets_in_rows(s) || meets_in_vectors(s) ||
            vectors_meet(s) || (n > 1 && s->family->nslices > 0))
            return true;
        plates = plates || (s->family->nloops > 0 && !sampler_coupled(s));
        same = same && s->family->nloops > 0 && !s->order.sequential &&
               !s->order.conflicts && sampler_plain_plate(c, s->family) &&
               sampler_same_plate(c, group[0]->family, s->family);
    }
    const bool many = n > MOST_IN_BLOCK && in_vectors(group[0]);
    return (n > 1 && plates && !same) || many;
}

/* Vectors of a plate with a normal prior whose mean is drawn, too: in turn both
 * move in small steps where the data say little of each vector. A long one
 * costs more beside its mean than alone. */
static bool have_mean(struct compiler *c, const struct model *m,
                      const struct step *s)
{
    double length;
    if (s->family->nslices != 1 || !s->family->nloops ||
        (sym_difference(c, family_extent(c, s->family, 0), sym_num(c, 0),
                        &length) &&
         length > MOST_BESIDE_MEAN))
        return false;
    for (const struct step *t = m->steps; t; t = t->next)
        if (t != s && candidate(t) && in_prior(t, s))
            return true;
    return false;
}

static bool worth(struct compiler *c, const struct model *m,
                  struct step *const *group, int n)
{
    bool mean = false;
    for (int i = 0; i < n; i++)
        mean = mean || have_mean(c, m, group[i]);
    return mean || worth_meeting(c, group, n);
}

/* Adds s to the group if the block stays one, and normal unless it may be
 * curved. */
static void try_member(struct compiler *c, struct model *m,
                       struct step **members, int *n, struct step *s,
                       bool curved, bool long_sums)
{
    if (*n == MAX_MEMBERS || in_group(members, *n, s))
        return;
    members[(*n)++] = s;
    if (!joint_takes(c, m, members, *n, curved, long_sums))
        --*n;
}

/* Among slices there are linear ones: two columns of a table of vectors in one
 * mean, a[i,1] + a[i,2] * x[t], are no quadratic of either. */
static void add_linear(struct compiler *c, struct model *m,
                       struct step **members, int *n, bool long_sums)
{
    for (int i = 0; i < *n; i++)
        for (struct step *s = m->steps; s; s = s->next)
            if (curved_candidate(c, s) &&
                sampler_share_likelihood(s, members[i]))
                try_member(c, m, members, n, s, false, long_sums);
}

static void add_hyper_means(struct compiler *c, struct model *m,
                            struct step **members, int *n, bool long_sums)
{
    for (int i = 0; i < *n; i++)
        for (struct step *s = m->steps; s; s = s->next)
            if (candidate(s) && !in_group(members, *n, s) &&
                (in_prior(s, members[i]) ||
                 sampler_share_likelihood(s, members[i])))
                try_member(c, m, members, n, s, true, long_sums);
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

/* No array but the block's changes in e: what single numbers do, as the
 * dispersion of counts, a fit follows easily. */
static bool settled(const struct joint_context *k, symp e,
                    const struct factor *g)
{
    if (e->kind == SYM_REF && e->nargs > 0 &&
        joint_variable_number(k, e->var) < 0 && !joint_constant(e, g))
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
                try_member(c, m, members, &n, group[i], true, long_sums);
    if (n == 0 ||
        (curved ? !worth_curved(members, n) : !worth(c, m, members, n)))
        return 0;
    if (!curved)
        add_linear(c, m, members, &n, long_sums);
    add_hyper_means(c, m, members, &n, long_sums);
    if (!curved && n == 1 && !worth_meeting(c, members, n))
        return 0; /* it could not take its mean */
    return n;
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
    if (curved ? !worth_curved(group, ngroup) : !worth(c, m, group, ngroup))
        return;
    struct step *block = NULL;
    int n = 0;
    for (int long_sums = 1; napart < 0 && long_sums >= 0; long_sums--) {
        n = find_members(c, m, group, ngroup, curved, long_sums, members);
        if (n == 0)
            continue;
        block = joint_block(c, m, members, n, long_sums);
        if (block)
            napart = find_apart(c, m, block, members, n, apart);
        else
            n = 0; /* one by one they could be in it, but not all */
    }
    if (n == 0)
        return;
    /* the block of slices may be linear, as in add_linear */
    const bool fits = joint_of(block)->curved;
    if (fits && (!curved || sampler_falls_apart(c, m, members, n)))
        return;
    block->name = joint_block_name(c, block);
    sampler_find_rescalings(c, m, block);
    if (!worth_fits(block))
        return;
    struct step *kept[MAX_MEMBERS];
    int nkept = 0;
    if (fits)
        keep_slices(c, members, n, kept, &nkept);
    for (int i = 0; i < nkept; i++)
        kept[i]->beside = (struct beside){members[0], true};
    napart = drop_kept(apart, napart, kept, nkept);
    for (int i = 0; i < n; i++) {
        joint_of(block)->alone[i] = NEW(c, struct step);
        *joint_of(block)->alone[i] = *members[i];
    }
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
    enum { PLATES, SCALARS, MEANS };
    static const int order[][2] = {{0, PLATES},  {0, SCALARS}, {1, PLATES},
                                   {1, SCALARS}, {0, MEANS},   {1, MEANS}};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const bool curved = order[i][0];
        for (struct step *s = m->steps; s; s = s->next) {
            if (!(curved ? curved_candidate(c, s) : candidate(s)))
                continue;
            const int own = is_mean_of_vectors(m, s) ? MEANS
                            : is_plate(s)            ? PLATES
                                                     : SCALARS;
            if (own == order[i][1])
                form_from(c, m, s, curved);
        }
    }
}
