/* rescale.c: which plates of a joint block can be moved together with the scale
 * of their prior. Drawing a variance given its effects and the effects given
 * the variance is slow where the data say little of either; along the line on
 * which the standardised effects stay, both move at once (Yu and Meng 2011, To
 * center or not to center: that is not the question, J. Comput. Graph. Stat.
 * 20(3): their ancillary step; the usual one, given the effects, stays too).
 *
 * A vector node moves so around 0 if its prior's mean is 0, which the load
 * tells. With a precision of less than full rank, as of dcar_normal, the scale
 * stands in the prior to a power that does not belong to the number of cells.
 */
#include "sampler/integrated.h"
#include "sampler/joint.h"
#include "sampler/moves.h"

bool sampler_is_power(symp scale, symp hyper, double *power)
{
    *power = 0;
    for (int i = 0; i < (scale->kind == SYM_MUL ? scale->nargs : 1); i++) {
        symp e = scale->kind == SYM_MUL ? scale->args[i] : scale;
        if (!sym_has(e, hyper))
            continue;
        if (sym_same(e, hyper))
            *power += 1;
        else if (e->kind == SYM_POW && sym_same(e->args[0], hyper) &&
                 e->args[1]->kind == SYM_NUM)
            *power += e->args[1]->number;
        else
            return false;
    }
    return *power != 0;
}

/* A part of the hyper node's conditional beside the plate's prior that stays
 * when the plate moves: a term of one instance, without the plate, and without
 * plates of the block, whose fit has the old scale in it (a new effect drawn
 * from the same prior). */
static bool stands_apart(const struct step *block, const struct part *p,
                         const struct var *plate)
{
    if (p->opaque || p->lower || p->upper || condition_part_shared_out(p) ||
        sym_has_var(p->factor->logp, plate))
        return false;
    for (const struct joint_term *t = joint_of(block)->terms; t; t = t->next)
        for (int i = 0; t->factor == p->factor && i < t->nslots; i++)
            if (t->slots[i].reference->nargs)
                return false;
    return true;
}

/* Its own prior, or what an augmentation put in its place, in closed form. */
static bool has_prior(const struct step *s)
{
    const struct factor *own = s->family->factor;
    int n = 0;
    for (const struct part *p = s->parts; p && own->replaced; p = p->next)
        if (sampler_is_prior(s, p)) {
            if (p->opaque || p->lower || p->upper ||
                condition_part_shared_out(p))
                return false;
            n++;
        }
    return !own->replaced || n == 1;
}

/* A step that draws one number at a time, of a node or of a plate of them. */
static bool draws_numbers(const struct step *s)
{
    const struct family *f = s->family;
    return f && !f->nslices && !f->var->integer && !s->asked.word &&
           !s->through && !s->support.bounds && !s->block.n && !f->auxiliary &&
           (s->sampler == &sampler_direct || s->sampler == &sampler_slice) &&
           f->var->role == ROLE_STOCHASTIC && has_prior(s);
}

/* The node stands in its own prior, in the scale of the rows, once in each, and
 * otherwise apart; of a plate of them, nowhere else. */
static bool only_scale(const struct step *block, const struct step *s,
                       const struct rescaled_rows *rows,
                       const struct family *plate)
{
    int scales = 0, wanted = 0;
    for (const struct rescaled_rows *r = rows; r; r = r->next)
        wanted++;
    for (const struct part *p = s->parts; p; p = p->next) {
        bool scale = !rows && p->factor == plate->factor;
        for (const struct rescaled_rows *r = rows; r; r = r->next)
            scale = scale || p->factor == r->term->factor;
        if (scale)
            scales++;
        else if (!sampler_is_prior(s, p) &&
                 (s->family->nloops || !stands_apart(block, p, plate->var)))
            return false;
    }
    return scales == (rows ? wanted : 1);
}

/* A plate of nodes, whose priors do not read each other. */
static bool is_plain_plate(struct compiler *c, const struct family *f)
{
    const struct factor *g = f->factor;
    symp node = sym_ref(c, f->var, f->var->ndim, f->lower), one = sym_num(c, 1);
    return family_plain(c, f) &&
           !sym_has_var(sym_replace(c, g->logp, node, one), f->var) &&
           !(g->lower && sym_has_var(g->lower, f->var)) &&
           !(g->upper && sym_has_var(g->upper, f->var));
}

/* Later turns of the loops have larger subscripts: not so x[n + 2 - t], or
 * x[turn[t]]. */
static bool rises(struct compiler *c, const struct family *f, symp subscript)
{
    struct loop *inner = NULL;
    for (int i = 0; i < f->nloops; i++)
        if (sym_has_loop(subscript, f->loops[i]))
            inner = f->loops[i];
    double by;
    return !inner ||
           (sym_difference(c,
                           sym_replace_loop(
                               c, subscript, inner,
                               sym_add2(c, sym_loop(c, inner), sym_num(c, 1))),
                           subscript, &by) &&
            by > 0);
}

/* The slot's other cells are earlier elements, whose rows stand before: x[t -
 * 1] beside x[t], or one of another statement (x[1]), or those before it in a
 * sum, x[1:(t - 1)]. */
static bool earlier(struct compiler *c, const struct family *f, symp own,
                    const struct joint_slot *others)
{
    int behind = 0;
    for (int d = 0; d < own->nargs; d++) {
        double lag;
        symp last = others->reference->args[d];
        for (int b = 0; b < others->nbound; b++)
            if (last->kind == SYM_LOOP && last->loop == others->bound[b])
                last = others->upper[b];
        if (!sym_difference(c, own->args[d], last, &lag) || lag < 0 ||
            (lag > 0 && !rises(c, f, own->args[d])))
            return false;
        behind += lag > 0;
    }
    return behind == 1;
}

/* Whether elements of f at `own` and `other` have the same scale. */
static bool same_scale(const struct family *f, symp own, symp other, symp scale)
{
    for (int d = 0; d < own->nargs; d++)
        for (int i = 0; i < f->nloops; i++)
            if (!sym_same(own->args[d], other->args[d]) &&
                sym_has_loop(own->args[d], f->loops[i]) &&
                sym_has_loop(scale, f->loops[i]))
                return false;
    return true;
}

/* The own cell in the predictor of its prior: with coefficient 1 or -1, its
 * slot before those of sums, which have several places; others of its variable
 * stand before it. */
static bool own_cell(struct compiler *c, const struct family *f,
                     struct rescaled_rows *r, int *variable)
{
    const struct joint_term *t = r->term;
    symp own = sym_ref(c, f->var, f->var->ndim, f->lower);
    int n = 0;
    bool sums = false;
    for (int i = 0; i < t->nslots; i++) {
        const struct joint_slot *slot = &t->slots[i];
        sums = sums || slot->nbound > 0;
        if (slot->reference->var != f->var)
            continue;
        if (!sym_same(slot->reference, own)) {
            r->chain = true;
            if (!earlier(c, f, own, slot))
                return false;
            continue;
        }
        if (sums)
            return false;
        n++;
        r->slot = i;
        *variable = slot->variable;
        if (slot->coefficient->kind != SYM_NUM)
            return false;
        r->sign = slot->coefficient->number;
    }
    return n == 1 && (r->sign == 1 || r->sign == -1);
}

static const struct family *plate_of(const struct step *block,
                                     const struct factor *g)
{
    for (int i = 0; i < block->block.n; i++)
        if (joint_prior(block->block.members[i].family) == g &&
            block->block.members[i].family->nloops > 0)
            return block->block.members[i].family;
    return NULL;
}

/* Another plate's prior must not have this one in it. */
static bool reads_plate(const struct joint_term *t, const struct family *f)
{
    for (int i = 0; i < t->nslots; i++)
        if (t->slots[i].reference->var == f->var)
            return true;
    return false;
}

/* The whole of a vector's precision has the same power of the hyper node, and
 * the log density is linear in that power and the hyper node's log. */
static bool scales_vector(struct compiler *c, const struct step *block,
                          const struct family *f, symp hyper,
                          struct rescaling *r)
{
    double power = 0;
    for (const struct joint_term *t = joint_of(block)->terms; t; t = t->next) {
        if (t->vector != f)
            continue;
        if (sym_has(t->weight, hyper) || !t->constant_score ||
            !sampler_is_power(t->scale, hyper, &power) ||
            (r->power != 0 && power != r->power))
            return false;
        r->power = power;
    }
    struct collected k;
    symp x = sym_target(c), log_x = sym_log(c, x);
    sym_collect(c, sym_replace(c, f->factor->logp, hyper, x), true, &k);
    for (int i = 0; i < k.n && !k.overflow; i++) {
        if (sym_same(k.statistic[i], log_x))
            r->order = k.coefficient[i];
        else if (!sym_same(k.statistic[i], sym_pow(c, x, sym_num(c, r->power))))
            return false;
    }
    return r->order && !k.overflow && !sym_has_target(r->order);
}

/* The hyper node stands in the prior's mean as well: in delta * sigma, or in
 * the coefficient of another member. */
static bool in_mean(const struct rescaled_rows *r)
{
    const struct joint_term *t = r->term;
    const struct var *hyper = r->reference->var;
    for (int i = 0; i < t->nslots; i++)
        if (sym_has_var(t->slots[i].coefficient, hyper))
            return true;
    return sym_has_var(r->mean, hyper) || sym_has_var(t->offset, hyper);
}

/* The prior has the node as the precision of a normal has it: a mixture of
 * normals may have it elsewhere, too. */
static bool as_of_normal(struct compiler *c, const struct factor *g, symp hyper,
                         double power)
{
    struct collected k;
    symp x = sym_target(c), log_x = sym_log(c, x);
    if (!g->auxiliary)
        return true;
    sym_collect(c, sym_replace(c, g->logp, hyper, x), true, &k);
    bool as = !k.overflow, found = false;
    for (int i = 0; i < k.n && as; i++) {
        const bool is_log = sym_same(k.statistic[i], log_x);
        as = is_log
                 ? sym_is(k.coefficient[i], 0.5 * power)
                 : sym_same(k.statistic[i], sym_pow(c, x, sym_num(c, power)));
        found = found || is_log;
    }
    return as && found;
}

/* A term of one number whose prior is normal: it has a weight. */
static bool has_weight(const struct joint_term *t)
{
    return !t->curved && !t->forms && !t->vector;
}

static symp precision_of(struct compiler *c, const struct joint_term *t)
{
    return sym_mul2(c, t->scale, t->weight);
}

static bool is_reference(symp e, const void *var)
{
    return e->kind == SYM_REF && e->var == var;
}

symp sampler_find_reference(symp e, const struct var *v)
{
    symp found = is_reference(e, v) ? e : NULL;
    for (int i = 0; !found && i < e->nargs; i++)
        found = sampler_find_reference(e->args[i], v);
    return found;
}

/* The rows of f's prior as ones that move with the node `hyper`; NULL: they do
 * not. */
static struct rescaled_rows *rows_of(struct compiler *c, struct joint_term *t,
                                     int number, const struct family *f,
                                     symp hyper, struct rescaling *of)
{
    struct rescaled_rows r = {.term = t, .number = number, .reference = hyper};
    double power;
    symp own = sym_ref(c, f->var, f->var->ndim, f->lower);
    symp precision = precision_of(c, t);
    if (!hyper || sym_has_var(sym_replace(c, precision, hyper, sym_num(c, 1)),
                              hyper->var))
        return NULL;
    if (!has_weight(t) || !own_cell(c, f, &r, &of->variable) ||
        !sampler_is_power(precision, hyper, &power) ||
        !as_of_normal(c, t->factor, hyper, power) ||
        (of->power != 0 && power != of->power))
        return NULL;
    if (!sym_is(t->score, 0) && !sym_positive(t->weight))
        return NULL; /* no mean where the weight is 0 */
    r.mean = sym_add2(c, joint_divide(c, t->score, t->weight), t->offset);
    if (in_mean(&r))
        return NULL;
    for (int i = 0; i < t->nslots; i++)
        if (t->slots[i].reference->var == f->var &&
            !same_scale(f, own, t->slots[i].reference, hyper))
            return NULL;
    of->power = power;
    struct rescaled_rows *rows = NEW(c, struct rescaled_rows);
    *rows = r;
    return rows;
}

/* Cells of f that the chain reads have the scale of the rows that read them:
 * h[i,1], of tau[i], beside h[i,t] but not f[i,1], of tau[1], beside f[i,2], of
 * tau[2]. */
static bool same_as_chain(struct compiler *c, const struct rescaled_rows *chain,
                          const struct family *f, symp scale)
{
    const struct joint_term *t = chain->term;
    for (int i = 0; chain->chain && i < t->nslots; i++) {
        symp cell = t->slots[i].reference, value[MAX_LOOPS];
        if (cell->var != f->var || i == chain->slot)
            continue;
        if (!model_solve_loops(c, f, cell, value) ||
            !sym_same(model_at_values(c, f, scale, value), chain->reference))
            return false;
    }
    return true;
}

/* Members of the plate's variable that are no chain and have its scale: they go
 * before it. False if one reads a node of the scale otherwise. */
static void add_first(struct compiler *c, const struct step *block,
                      const struct family *plate, struct rescaling *r)
{
    const struct rescaled_rows *const chain = r->rows;
    int number = 0;
    for (struct joint_term *t = joint_of(block)->terms; t;
         t = t->next, number++) {
        const struct family *f = t->factor->family;
        if (f == plate || f->var != plate->var || f->factor != t->factor ||
            !has_weight(t))
            continue;
        symp hyper = sampler_find_reference(precision_of(c, t), r->hyper->var);
        struct rescaled_rows *rows =
            hyper ? rows_of(c, t, number, f, hyper, r) : NULL;
        if (!rows || rows->chain || !same_as_chain(c, chain, f, hyper) ||
            (!r->hyper->nloops && !sym_same(hyper, r->rows->reference)))
            continue;
        rows->next = r->rows;
        r->rows = rows;
    }
}

/* t: the first term of the vector. */
static void rescale_vector(struct compiler *c, struct model *m,
                           const struct step *block, struct joint_term *t,
                           int number, struct rescaling ***last)
{
    struct family *f = t->vector;
    struct var *vars[MAX_MEMBERS];
    const int n = joint_variables(block, vars);
    for (struct step *s = m->steps; s; s = s->next) {
        const struct family *h = s->family;
        struct rescaling try = {.term = t, .number = number};
        if (!draws_numbers(s) || h->nloops || !only_scale(block, s, NULL, f))
            continue;
        if (!scales_vector(c, block, f,
                           sym_ref(c, h->var, h->var->ndim, h->lower), &try))
            continue;
        try.hyper = s->family;
        try.plate = f;
        try.parts = s->parts;
        while (try.variable + 1 < n && vars[try.variable] != f->var)
            try.variable++;
        **last = NEW(c, struct rescaling);
        ***last = try;
        *last = &(**last)->next;
        return;
    }
}

/* Whether the scale of the plate whose prior t is can be the node, or the
 * nodes, of the step. */
static bool rescale_plate(struct compiler *c, const struct step *block,
                          const struct step *s, const struct family *f,
                          struct rescaling *r)
{
    if (!draws_numbers(s) ||
        (s->family->nloops && !is_plain_plate(c, s->family)))
        return false;
    r->hyper = s->family;
    r->plate = f;
    r->parts = s->parts;
    const struct var *v = s->family->var;
    symp node = s->family->nloops
                    ? sampler_find_reference(precision_of(c, r->term), v)
                    : sym_ref(c, s->family->var, v->ndim, s->family->lower);
    r->rows = rows_of(c, r->term, r->number, f, node, r);
    if (!r->rows)
        return false;
    add_first(c, block, f, r);
    return only_scale(block, s, r->rows, f);
}

/* The first step that can be, of a node or of a plate of nodes. */
static bool find_scale(struct compiler *c, const struct model *m,
                       const struct step *block, struct joint_term *t,
                       int number, const struct family *f, bool plate,
                       struct rescaling *out)
{
    for (const struct step *s = m->steps; s; s = s->next) {
        *out = (struct rescaling){.term = t, .number = number};
        if (s->family && plate == (s->family->nloops > 0) &&
            rescale_plate(c, block, s, f, out))
            return true;
    }
    return false;
}

/* Whether the priors that have moved with their scales do not read f: the
 * block's factor is then still that of its density along f. */
static bool stands_behind(const struct rescaling *done, const struct family *f)
{
    for (const struct rescaling *r = done; r; r = r->next) {
        if (!r->rows && reads_plate(r->term, f))
            return false;
        for (const struct rescaled_rows *k = r->rows; k; k = k->next)
            if (reads_plate(k->term, f))
                return false;
    }
    return true;
}

void sampler_find_rescalings(struct compiler *c, struct model *m,
                             struct step *block)
{
    struct rescaling **last = &joint_of(block)->rescalings;
    int number = 0;
    for (struct joint_term *t = joint_of(block)->terms; t;
         t = t->next, number++) {
        if (t->vector) {
            bool first = true;
            for (struct joint_term *u = joint_of(block)->terms; u != t;
                 u = u->next)
                first = first && u->vector != t->vector;
            if (first && t->vector->nloops == 0)
                rescale_vector(c, m, block, t, number, &last);
            continue;
        }
        const struct family *f = plate_of(block, t->factor);
        if (!f || !stands_behind(joint_of(block)->rescalings, f))
            continue;
        struct rescaling try;
        if (!find_scale(c, m, block, t, number, f, false, &try) &&
            !find_scale(c, m, block, t, number, f, true, &try))
            continue;
        *last = NEW(c, struct rescaling);
        **last = try;
        last = &(*last)->next;
    }
}
