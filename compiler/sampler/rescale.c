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
#include "sampler/joint.h"

/* scale = constant * hyper^power */
static bool is_power(symp scale, symp hyper, double *power)
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

/* The step of a scalar that stands in its own prior, in the scale of the plate,
 * once, and otherwise apart. */
static bool only_scale(const struct step *block, const struct step *s,
                       const struct family *plate)
{
    const struct factor *prior = plate->factor;
    int scales = 0;
    const struct family *f = s->family;
    if (!f || f->nloops || f->nslices || f->var->integer || s->asked ||
        s->through || s->bounds || s->nmembers || f->auxiliary ||
        (s->sampler != &sampler_direct && s->sampler != &sampler_slice) ||
        f->var->role != ROLE_STOCHASTIC || f->factor->replaced)
        return false;
    for (const struct part *p = s->parts; p; p = p->next) {
        if (p->factor == prior)
            scales++;
        else if (!p->own && !stands_apart(block, p, plate->var))
            return false;
    }
    return scales == 1;
}

/* The other reference is to an earlier element: x[t - 1] beside x[t], or to one
 * of another statement (x[1]). */
static bool earlier(struct compiler *c, symp own, symp other)
{
    int behind = 0;
    for (int d = 0; d < own->nargs; d++) {
        double lag;
        if (!sym_difference(c, own->args[d], other->args[d], &lag) || lag < 0)
            return false;
        behind += lag > 0;
    }
    return behind == 1;
}

/* The plate's own cell in the predictor of its prior: with coefficient 1 or -1;
 * others of its variable stand before it. */
static bool own_cell(struct compiler *c, const struct joint_term *t,
                     const struct family *f, struct rescaling *r)
{
    symp own = sym_ref(c, f->var, f->var->ndim, f->lower);
    int n = 0;
    for (int i = 0; i < t->nslots; i++) {
        const struct joint_slot *slot = &t->slots[i];
        if (slot->nbound)
            return false;
        if (slot->reference->var != f->var)
            continue;
        if (!sym_same(slot->reference, own)) {
            r->chain = true;
            if (!earlier(c, own, slot->reference))
                return false;
            continue;
        }
        n++;
        r->slot = i;
        r->variable = slot->variable;
        if (slot->coefficient->kind != SYM_NUM)
            return false;
        r->sign = slot->coefficient->number;
    }
    return n == 1 && (r->sign == 1 || r->sign == -1);
}

static const struct family *plate_of(const struct step *block,
                                     const struct factor *g)
{
    for (int i = 0; i < block->nmembers; i++)
        if (block->members[i].family->factor == g &&
            block->members[i].family->nloops > 0)
            return block->members[i].family;
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
            !is_power(t->scale, hyper, &power) ||
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
static bool in_mean(const struct joint_term *t, symp hyper)
{
    for (int i = 0; i < t->nslots; i++)
        if (sym_has(t->slots[i].coefficient, hyper))
            return true;
    return sym_has(t->score, hyper) || sym_has(t->offset, hyper);
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
        if (!only_scale(block, s, f) ||
            !scales_vector(c, block, f,
                           sym_ref(c, h->var, h->var->ndim, h->lower), &try))
            continue;
        try.hyper = s->family;
        try.parts = s->parts;
        while (try.variable + 1 < n && vars[try.variable] != f->var)
            try.variable++;
        **last = NEW(c, struct rescaling);
        ***last = try;
        *last = &(**last)->next;
        return;
    }
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
        struct rescaling try = {.term = t, .number = number};
        if (!f || t->curved || t->forms || !sym_is(t->weight, 1) ||
            !own_cell(c, t, f, &try))
            continue;
        bool apart = true;
        for (const struct rescaling *r = joint_of(block)->rescalings; r;
             r = r->next)
            apart = apart && !reads_plate(r->term, f);
        for (struct step *s = m->steps; apart && s; s = s->next) {
            if (!only_scale(block, s, f))
                continue;
            symp hyper = sym_ref(c, s->family->var, s->family->var->ndim,
                                 s->family->lower);
            if (!is_power(t->scale, hyper, &try.power) || in_mean(t, hyper))
                continue;
            try.hyper = s->family;
            try.parts = s->parts;
            *last = NEW(c, struct rescaling);
            **last = try;
            last = &(*last)->next;
            break;
        }
    }
}
