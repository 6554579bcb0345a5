/* barren.c: nodes without an observed descendant. They say nothing of the rest:
 * integrated out of the joint they leave it as it is (barren nodes; Shachter
 * 1986). So they are no children in anyone's conditional, and are drawn forward
 * from their distributions, parents first, when they are kept and not before.
 *
 * Leaves are so already. Of the others only the data tell which elements are
 * barren: the runtime finds them at load (runtime/barren.c) along what each
 * element reads. Here: for which variables that is worth asking, their factors'
 * condition, and their forward steps. Where it cannot be asked, elements are
 * drawn given all else, which is right too. */
#include "condition.h"
#include "resolve.h"

/* ---- candidates -----------------------------------------------------------
 */

static bool takes_latent(const struct family *f)
{
    for (int i = 0; i < f->nargs; i++)
        if (reads_latent(f->args[i].body))
            return true;
    return (f->trunc_lower && reads_latent(f->trunc_lower)) ||
           (f->trunc_upper && reads_latent(f->trunc_upper));
}

bool can_be_drawn(const struct family *f)
{
    return entry_clause(f->distribution, "draw") != NULL;
}

static bool in_sequence(const struct model *m, const struct family *f)
{
    for (const struct sequence *q = m->sequences; q; q = q->next)
        for (int i = 0; q->kind == SEQUENCE_START && i < q->n; i++)
            if (q->families[i] == f)
                return true;
    return false;
}

/* A node whose distribution is fixed weighs on no other: it may as well be
 * drawn in the sweep. */
static bool is_candidate(const struct model *m, const struct var *v)
{
    bool latent = false;
    if (v->role != ROLE_STOCHASTIC || v->leaf || v->supplied || v->whole ||
        v->declared_given)
        return false;
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        if (!f->stochastic || f->data_block || f->censored || f->affine ||
            !f->factor || f->factor->opaque || !can_be_drawn(f) ||
            in_sequence(m, f))
            return false;
        latent = latent || takes_latent(f);
    }
    return latent;
}

/* Whether f is computed in a sweep, or drawn. */
static bool is_node(const struct family *f)
{
    return !f->auxiliary && !f->data_block &&
           (f->stochastic || (f->var->stored && !f->constant));
}

struct reading {
    struct compiler *c;
    const struct family *reader;
};

/* A reference to an element that is drawn after the reader: neither can be
 * drawn forward in the order of the families. Never true, to go on. */
static bool refuse_later(symp e, const void *context)
{
    const struct reading *r = context;
    const struct family *g = r->reader;
    if (e->kind != SYM_REF || !(e->var->barren || g->var->barren))
        return false;
    for (struct family *f = e->var->families; f; f = f->next_of_var)
        if (f != g && f->number > g->number && is_node(f) &&
            reads_element(r->c, e, f))
            e->var->barren = g->var->barren = false;
    return false;
}

/* What data are expected of: leaves, and all that such nodes are computed from.
 * Never true. */
static bool expect_data(symp e, const void *unused)
{
    (void)unused;
    if (e->kind == SYM_REF)
        e->var->expects_data = true;
    return false;
}

static void find_expectations(struct compiler *c, struct model *m)
{
    int n = 0;
    for (struct family *f = m->families; f; f = f->next)
        n++;
    struct family **all = NEW_ARRAY(c, struct family *, n);
    n = 0;
    for (struct family *f = m->families; f; f = f->next)
        all[n++] = f;
    for (struct var *v = m->vars; v; v = v->next)
        v->expects_data = v->unread || v->declared_observed || v->supplied;
    /* children first; once will do where arrays do not feed each other */
    for (int expected = -1, before = -2; expected != before;) {
        before = expected;
        for (int i = n - 1; i >= 0; i--)
            if (all[i]->var->expects_data)
                family_any(all[i], expect_data, NULL, true);
        expected = 0;
        for (struct var *v = m->vars; v; v = v->next)
            expected += v->expects_data;
    }
}

static symp first_cell(struct compiler *c, const struct family *f)
{
    symp one[2] = {sym_num(c, 1), sym_num(c, 1)};
    return family_lhs(c, f, 2, one);
}

void find_barren(struct compiler *c, struct model *m)
{
    for (struct var *v = m->vars; v; v = v->next)
        v->barren = is_candidate(m, v);
    for (struct family *f = m->families; f; f = f->next) {
        const struct reading r = {c, f};
        for (symp *e = sequence_expressions(c, f); is_node(f) && *e; e++)
            sym_any(*e, refuse_later, &r);
    }
    find_expectations(c, m);
    for (struct factor *g = m->factors; g; g = g->next)
        if (g->family->var->barren)
            g->seen_ref = sym_live(c, first_cell(c, g->family));
}

symp counted_instances(const struct factor *g)
{
    bool always = g->seen_ref && g->seen_ref->kind == SYM_LIVE &&
                  !g->seen_ref->var->barren;
    return always ? NULL : g->seen_ref;
}

/* ---- steps ----------------------------------------------------------------
 */

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
