/* modes.c: what a sweep does where modes are sought (gbmc --with=expectation):
 * first discrete nodes in expectation; then each step whose full conditional is
 * of a family that states its mode puts its elements there, in the place of a
 * draw. None of them can make the expected log density smaller, so a sweep is
 * an iteration of EM (Meng and Rubin 1993, Maximum likelihood estimation via
 * the ECM algorithm, Biometrika 80). What has no such conditional stays where
 * it is, for the runtime to move otherwise, and so does all if some discrete
 * node cannot be in expectation. */
#include "sampler/sampler.h"

/* What is weighted has a loop that no list of instances knows of. */
static bool has_listed_instances(const struct step *s)
{
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->inverse && p->factor->actual)
            return true;
    return false;
}

static bool has_mode(const struct step *s)
{
    if (s->sampler == &sampler_expectation)
        return true;
    if (s->through || s->order.ties || has_listed_instances(s))
        return false;
    if (s->sampler == &sampler_gaussian_block)
        return true;
    return (s->sampler == &sampler_direct ||
            s->sampler == &sampler_vector_draw) &&
           s->law.family && entry_value(s->law.family, "mode") &&
           (!s->law.rest || entry_value(s->law.rest->law.family, "mode"));
}

static bool is_used(const struct model *m, const struct inverse *i)
{
    for (const struct step *s = m->steps; s; s = s->next)
        for (const struct part *p = s->parts; p; p = p->next)
            if (p->inverse == i)
                return true;
    return false;
}

static void drop_unused(struct model *m)
{
    m->last_inverse = &m->inverses;
    m->ninverses = 0;
    while (*m->last_inverse) {
        struct inverse *i = *m->last_inverse;
        if (!is_used(m, i)) {
            *m->last_inverse = i->next;
            continue;
        }
        i->number = m->ninverses++;
        m->last_inverse = &i->next;
    }
}

void sampler_seek_modes(struct compiler *c, struct model *m)
{
    if (!sampler_seeks_modes(c))
        return;
    struct step *first = NULL, **last_first = &first;
    struct step *rest = NULL, **last_rest = &rest;
    bool any = false;
    for (const struct step *s = m->steps; s; s = s->next)
        any = any || s->sampler == &sampler_expectation;
    for (struct step *s = m->steps; s; s = s->next) {
        if (!any || !has_mode(s))
            continue;
        struct step ***last =
            s->sampler == &sampler_expectation ? &last_first : &last_rest;
        **last = s;
        *last = &s->next;
    }
    *last_rest = NULL;
    *last_first = rest;
    m->steps = first;
    m->last_step = &m->steps;
    while (*m->last_step)
        m->last_step = &(*m->last_step)->next;
    drop_unused(m);
}
