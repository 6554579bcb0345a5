/* forward.c: the steps that draw forward what nothing observed depends on, and
 * how elements are left out of the steps that draw the rest. */
#include "sampler/sampler.h"

static bool has_member(const struct step *s, const struct family *f)
{
    bool has = s->family == f;
    for (int i = 0; i < s->nmembers; i++)
        has = has || s->members[i].family == f;
    return has;
}

/* How a step's elements may be left out: each for itself, or all of its
 * families' at once, or not. */
static enum barren_unit unit_of(const struct step *s)
{
    switch (s->method) {
    case METHOD_DIRECT:
    case METHOD_ENUMERATE:
    case METHOD_SLICE:
    case METHOD_SLICE_INTEGER:
    case METHOD_WALK:
    case METHOD_VECTOR:
    case METHOD_SLICE_VECTOR:
        return s->ties || s->companion == COMPANION_SUM ? BARREN_NEVER
                                                        : BARREN_EACH;
    case METHOD_JOINT:
        return BARREN_EACH;
    case METHOD_ELLIPTICAL:
        return s->whole ? BARREN_TOGETHER : BARREN_EACH;
    case METHOD_GAUSSIAN:
        return s->nmembers == 1 && s->family->nslices ? BARREN_EACH
                                                      : BARREN_TOGETHER;
    case METHOD_DENSE:
    case METHOD_CHAIN:
        return BARREN_TOGETHER;
    case METHOD_PAIR:
    case METHOD_ADAPTIVE:
    case METHOD_STATED:
        return BARREN_NEVER;
    case METHOD_FORWARD:
    case METHOD_INDEX:
    case METHOD_DERIVE:
    case METHOD_NONE:
        return BARREN_EACH;
    }
    UNREACHABLE();
}

/* Together with one that counts in any case, none is left out. */
static enum barren_unit unit_in(const struct step *s)
{
    enum barren_unit unit = unit_of(s);
    bool any_counts = !s->family->var->barren;
    for (int i = 0; i < s->nmembers; i++)
        any_counts = any_counts || !s->members[i].family->var->barren;
    return unit == BARREN_TOGETHER && any_counts ? BARREN_NEVER : unit;
}

static void settle_unit(struct model *m, struct family *f)
{
    f->unit = BARREN_EACH;
    for (struct step *s = m->steps; s; s = s->next) {
        enum barren_unit unit = has_member(s, f) ? unit_in(s) : BARREN_EACH;
        if (unit == BARREN_TOGETHER)
            f->together = s;
        if (unit > f->unit)
            f->unit = unit;
    }
    if (f->unit == BARREN_NEVER)
        f->var->barren = false;
}

static void settle_units(struct model *m)
{
    bool settled;
    do {
        settled = true;
        for (struct family *f = m->families; f; f = f->next) {
            if (!f->var->barren || !f->stochastic || f->auxiliary)
                continue;
            settle_unit(m, f);
            settled = settled && f->var->barren;
        }
    } while (!settled);
}

static struct step *forward_step(struct compiler *c, struct model *m,
                                 struct family *f)
{
    struct step *s = NEW(c, struct step);
    s->method = METHOD_FORWARD;
    s->name = intern_format(c, "forward_%s", family_id(c, f));
    s->family = f;
    s->model = m;
    s->late = true;
    for (symp *e = sequence_expressions(c, f); *e; e++)
        s->sequential = s->sequential || reads_element(c, *e, f);
    return s;
}

/* Takes the leaves' steps out of the list; each is found again by its family.
 */
static struct step *take_leaves(struct model *m)
{
    struct step *leaves = NULL, **last = &leaves, **link = &m->steps;
    while (*link) {
        struct step *s = *link;
        if (s->method != METHOD_FORWARD) {
            link = &s->next;
            continue;
        }
        *link = s->next;
        *last = s;
        last = &s->next;
        s->next = NULL;
    }
    return leaves;
}

void add_forward_steps(struct compiler *c, struct model *m)
{
    settle_units(m);
    struct step *leaves = take_leaves(m), **last = &m->steps;
    while (*last)
        last = &(*last)->next;
    for (struct family *f = m->families; f; f = f->next) {
        struct step *s = NULL;
        for (struct step **k = &leaves; *k; k = &(*k)->next)
            if ((*k)->family == f) {
                s = *k;
                *k = s->next;
                break;
            }
        if (!s && f->var->barren && f->stochastic && !f->auxiliary)
            s = forward_step(c, m, f);
        if (!s)
            continue;
        s->next = NULL;
        s->late = true;
        *last = s;
        last = &s->next;
    }
    *last = leaves;
}
