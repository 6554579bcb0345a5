/* group.c: variables that move together. `am` moves any continuous nodes by one
 * Metropolis step; `ess` moves nodes whose priors are jointly normal given the
 * rest along an ellipse. An element or vector node that is independent of the
 * others has an ellipse of its own; everything else is one group, whose parts
 * are all the factors that mention a member, each with all its instances. */
#include "sampler/sampler.h"
#include <string.h>

/* ---- members ---------------------------------------------------------------
 */

static bool has_member(const struct step *s, symp e)
{
    for (int i = 0; i < s->nmembers; i++)
        if (sym_has_var(e, s->members[i].family->var))
            return true;
    return false;
}

/* Whether e is a value in memory that follows a member. */
static bool follows_member(symp e, const void *step)
{
    const struct step *s = step;
    for (int i = 0; i < s->nmembers; i++)
        if (e->kind == SYM_REF && e->var->stored &&
            derived_depends(s->model, e->var, s->members[i].family->var))
            return true;
    return false;
}

static bool depends(const struct step *s, symp e)
{
    return e && (has_member(s, e) || sym_any(e, follows_member, s));
}

static bool mentions(struct compiler *c, const struct step *s,
                     const struct factor *g)
{
    if (depends(s, g->logp) || depends(s, g->value) || depends(s, g->lower) ||
        depends(s, g->upper))
        return true;
    for (int i = 0; g->opaque && i < g->family->nargs; i++)
        if (depends(s, substitute_derived(c, g->family->args[i].body)))
            return true;
    return false;
}

/* One step of the families of all; the others are merged into the first. The
 * members stand in the order of the families, parents first. */
static struct step *merge(struct compiler *c, struct model *m,
                          struct step *const *steps, int n)
{
    struct step *s = steps[0];
    struct text name = {0};
    text_append(&name, "update");
    for (int i = 1; i < n; i++)
        steps[i]->method = METHOD_NONE;
    s->nmembers = 0;
    for (struct family *f = m->families; f; f = f->next)
        for (int i = 0; i < n; i++)
            if (steps[i]->family == f) {
                s->members[s->nmembers].family = f;
                s->members[s->nmembers++].count = sym_num(c, 1);
                text_printf(&name, "_%s", family_id(c, f));
            }
    s->family = s->members[0].family;
    s->name = intern(c, name.data);
    text_free(&name);
    s->whole = true;
    s->sequential = false;
    s->conflicts = NULL;
    s->recognised = NULL;
    s->bounded = false;
    s->bounds = NULL;
    s->nstatistics = 0;
    s->parts = NULL;
    for (struct family *f = m->families; f; f = f->next)
        for (int i = 0; i < s->nmembers && !f->stochastic; i++)
            s->through =
                s->through ||
                (f->var->stored &&
                 derived_depends(m, f->var, s->members[i].family->var));
    return s;
}

static struct part *all_instances(struct compiler *c, struct factor *g)
{
    struct part *p = NEW(c, struct part);
    p->factor = g;
    p->nloops = g->nloops;
    p->loops = g->loops;
    p->solved = NEW_ARRAY(c, symp, g->nloops);
    p->opaque = p->ruled = true;
    p->logp = under_rule(c, g, g->logp);
    p->value = g->value;
    p->lower = g->lower;
    p->upper = g->upper;
    return p;
}

static void push(struct part **list, struct part *p)
{
    while (*list)
        list = &(*list)->next;
    *list = p;
}

static bool can_move(struct compiler *c, const struct step *s,
                     struct span where, const char *word)
{
    const struct family *f = s->family;
    const char *why = NULL;
    if (s->method == METHOD_FORWARD)
        why = "it is drawn forward from its distribution: nothing depends on "
              "it";
    else if (draws_integers(f))
        why = "it is discrete";
    else if (s->ties)
        why = "it is a summand of an observed sum, which holds it fast";
    else if (f->nslices) {
        const struct expr *support = entry_value(f->distribution, "support");
        if (f->nslices > 1 || !support || strcmp(support->name, "vector") != 0)
            why = intern_format(c, "the values of %s are restricted",
                                f->distribution->name);
    }
    if (why)
        error_at(c, where, "%s cannot move %s: %s", word, f->var->name, why);
    return !why;
}

static bool group_fits(struct compiler *c, struct step *const *steps, int n,
                       struct span where, const char *word)
{
    bool fits = true;
    for (int i = 0; i < n; i++)
        fits = can_move(c, steps[i], where, word) && fits;
    if (n > 8) {
        error_at(c, where, "%s moves at most 8 statements' nodes together",
                 word);
        return false;
    }
    return fits;
}

void take_adaptive(struct compiler *c, struct model *m,
                   struct step *const *steps, int n, struct span where)
{
    if (!group_fits(c, steps, n, where, "am"))
        return;
    struct step *s = merge(c, m, steps, n);
    s->method = METHOD_ADAPTIVE;
    for (struct factor *g = m->factors; g; g = g->next)
        if (!g->replaced && mentions(c, s, g))
            push(&s->parts, all_instances(c, g));
}

/* ---- ellipses of single elements -------------------------------------------
 */

/* The own prior is potential x + square x^2, and nothing else. */
static const struct part *normal_prior(const struct step *s)
{
    for (const struct part *p = s->parts; p; p = p->next) {
        if (!p->own || p->opaque || p->terms.n < 1 || p->terms.n > 2)
            continue;
        bool square = false;
        for (int i = 0; i < p->terms.n; i++) {
            symp t = p->terms.statistic[i];
            if (t->kind == SYM_POW && t->args[0]->kind == SYM_TARGET &&
                sym_is(t->args[1], 2))
                square = true;
            else if (t->kind != SYM_TARGET)
                return NULL;
        }
        return square ? p : NULL;
    }
    return NULL;
}

void normal_terms(struct compiler *c, const struct part *own, symp *potential,
                  symp *square)
{
    *potential = *square = sym_num(c, 0);
    for (int i = 0; i < own->terms.n; i++)
        if (own->terms.statistic[i]->kind == SYM_TARGET)
            *potential = own->terms.coefficient[i];
        else
            *square = own->terms.coefficient[i];
}

void normal_prior_terms(struct compiler *c, const struct step *s,
                        symp *potential, symp *square)
{
    normal_terms(c, normal_prior(s), potential, square);
}

static bool not_normal(struct compiler *c, const struct step *s,
                       struct span where)
{
    error_at(c, where,
             "ess needs a normal prior, but that of %s is %s; there is am",
             s->family->var->name, s->family->distribution->name);
    return false;
}

static void own_ellipse(struct compiler *c, struct step *s, struct span where)
{
    const struct part *own = normal_prior(s);
    if (!own) {
        not_normal(c, s, where);
        return;
    }
    s->method = METHOD_ELLIPTICAL;
    s->recognised = NULL;
    s->exponent = NULL;
    s->bounded = false;
}

/* ---- ellipses of groups ----------------------------------------------------
 */

/* Where reference r stands in the loops of f's own element: -1 before it, 1
 * after it or unknown. */
static int place_of(struct compiler *c, const struct family *f, symp r)
{
    double difference[8];
    for (int d = 0; d < f->var->ndim; d++)
        if (!sym_difference(c, r->args[d], f->lower[d], &difference[d]))
            return 1;
    for (int i = 0; i < f->nloops; i++)
        for (int d = 0; d < f->var->ndim; d++) {
            symp offset;
            if (sym_plain_loop(c, f->lower[d], &offset) != f->loops[i] ||
                difference[d] == 0)
                continue;
            return difference[d] < 0 ? -1 : 1;
        }
    return 1;
}

/* Members that the mean of f reads are drawn before it. */
static bool drawn_before(struct compiler *c, const struct step *s,
                         const struct family *f, symp r)
{
    bool found = false;
    for (int i = 0; i < s->nmembers; i++) {
        const struct family *g = s->members[i].family;
        if (g == f)
            found = true;
        if (g->var != r->var)
            continue;
        if (g == f && place_of(c, f, r) >= 0)
            return false;
        if (g != f && found)
            return false;
    }
    return true;
}

/* The mean is affine in members that are drawn before f's element. */
static bool affine(struct compiler *c, const struct step *s,
                   const struct family *f, symp mean, symp e)
{
    if (e->kind == SYM_SUM && has_member(s, e))
        return false;
    if (e->kind == SYM_REF && has_member(s, e)) {
        symp slope = sym_derivative(c, mean, e);
        for (int i = 0; i < e->nargs; i++)
            if (has_member(s, e->args[i]))
                return false;
        return slope && !has_member(s, slope) && drawn_before(c, s, f, e);
    }
    for (int i = 0; i < e->nargs; i++)
        if (!affine(c, s, f, mean, e->args[i]))
            return false;
    return true;
}

static bool group_prior(struct compiler *c, const struct step *s,
                        const struct part *own, const struct family *f)
{
    symp potential, square;
    normal_terms(c, own, &potential, &square);
    symp mean = sym_div(c, potential, sym_mul2(c, sym_num(c, -2), square));
    return !depends(s, square) && !sym_any(mean, follows_member, s) &&
           affine(c, s, f, mean, mean);
}

/* The observed elements of a member say something of the others. */
static struct part *seen_instances(struct compiler *c, const struct family *f)
{
    struct part *p = all_instances(c, f->factor);
    p->guard = sym_seen(c, f->var, f->var->ndim, f->lower);
    return p;
}

static void group_ellipse(struct compiler *c, struct model *m,
                          struct step *const *steps, int n, struct span where)
{
    const struct part *own[8];
    for (int i = 0; i < n; i++) {
        own[i] = normal_prior(steps[i]);
        if (steps[i]->family->nslices) {
            error_at(c, where,
                     "not supported yet: ess of a vector-valued node together "
                     "with others");
            return;
        }
        if (!own[i] || steps[i]->lower || steps[i]->upper) {
            not_normal(c, steps[i], where);
            return;
        }
    }
    const struct family *families[8];
    for (int i = 0; i < n; i++)
        families[i] = steps[i]->family;
    struct step *s = merge(c, m, steps, n);
    s->method = METHOD_ELLIPTICAL;
    for (int i = 0; i < n; i++)
        if (!group_prior(c, s, own[i], families[i])) {
            error_at(c, where,
                     "ess needs priors that are jointly normal given the "
                     "rest, but %s is not linear in what is drawn before it",
                     families[i]->text);
            return;
        }
    for (int k = 0; k < s->nmembers; k++)
        for (int i = 0; i < n; i++)
            if (s->members[k].family == families[i]) {
                struct part *p = NEW(c, struct part);
                *p = *own[i];
                p->next = NULL;
                push(&s->priors, p);
                push(&s->parts, seen_instances(c, families[i]));
            }
    for (struct factor *g = m->factors; g; g = g->next) {
        bool prior = false;
        for (int i = 0; i < n; i++)
            prior = prior || families[i]->factor == g;
        if (!g->replaced && !prior && mentions(c, s, g))
            push(&s->parts, all_instances(c, g));
    }
}

/* ---- ellipses of vector nodes ----------------------------------------------
 */

bool elliptical_vector(struct compiler *c, struct step *s)
{
    if (s->family->nslices != 1 || !gaussian_prior(c, s))
        return false;
    if (!entry_value(s->family->distribution, "draw"))
        return false; /* improper: an ellipse as wide as it is stands still */
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->factor == s->family->factor && !p->reference)
            return false; /* its prior is among what is evaluated in place */
    s->method = METHOD_ELLIPTICAL;
    s->recognised = NULL;
    for (struct part *p = s->parts; p; p = p->next)
        p->opaque = true;
    s->priors = own_prior(c, s->family);
    s->priors->opaque = true;
    return true;
}

void take_elliptical(struct compiler *c, struct model *m,
                     struct step *const *steps, int n, struct span where)
{
    if (!group_fits(c, steps, n, where, "ess"))
        return;
    struct step *s = steps[0];
    bool tied = s->sequential || s->conflicts;
    if (n == 1 && s->family->nslices) {
        if (!elliptical_vector(c, s))
            not_normal(c, s, where);
    } else if (n == 1 && !tied) {
        own_ellipse(c, s, where);
    } else {
        group_ellipse(c, m, steps, n, where);
    }
}
