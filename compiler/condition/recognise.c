/* recognise.c: finds the library's family whose sufficient statistics are
 * those of a full conditional, and so the exact draw; There is no table of
 * pairs: a family is known by what its file states in `statistics` and
 * `support`. */
#include "condition/condition.h"
#include <math.h>
#include <string.h>

static symp bind_pattern(struct compiler *c, const char *name, int nargs,
                         const symp *args, void *context)
{
    (void)args;
    (void)context;
    if (nargs)
        return NULL;
    return !strcmp(name, "x") ? sym_target(c) : sym_param(c, name);
}

/* The exponent of x in a statistic, 1 of x itself; NULL: it is no such power.
 */
static symp power_of_x(struct compiler *c, symp statistic)
{
    if (statistic->kind == SYM_TARGET)
        return sym_num(c, 1);
    return statistic->kind == SYM_POW &&
                   statistic->args[0]->kind == SYM_TARGET &&
                   statistic->args[1]->kind == SYM_NUM
               ? statistic->args[1]
               : NULL;
}

/* What p is in the pattern x^p, or x^(k p) where k is a number, if it is the
 * statistic; NULL if there is no such p. */
static symp bound_exponent(struct compiler *c, symp pattern, symp statistic)
{
    symp found = power_of_x(c, statistic), k = sym_num(c, 1);
    if (!found || pattern->kind != SYM_POW ||
        pattern->args[0]->kind != SYM_TARGET)
        return NULL;
    symp p = pattern->args[1];
    if (p->kind == SYM_MUL && p->nargs == 2 && p->args[0]->kind == SYM_NUM) {
        k = p->args[0];
        p = p->args[1];
    }
    return p->kind == SYM_PARAM ? sym_div(c, found, k) : NULL;
}

static bool matches(struct compiler *c, symp pattern, symp statistic,
                    symp exponent)
{
    if (sym_same(pattern, statistic))
        return true;
    symp p = exponent ? bound_exponent(c, pattern, statistic) : NULL;
    return p && sym_same(p, exponent);
}

static double number_or(symp e, double open)
{
    if (!e)
        return open;
    return e->kind == SYM_NUM ? e->number : 1e300 * (open < 0 ? -0.5 : 0.5);
}

struct patterns {
    symp at[8]; /* NULL: of no scalar */
    int n;
};

static bool get_patterns(struct compiler *c, const struct entry *e,
                         struct patterns *p)
{
    const struct clause *statistics = entry_clause(e, "statistics");
    p->n = 0;
    for (const struct clause_item *i = statistics ? statistics->items : NULL; i;
         i = i->next) {
        if (p->n == 8 || !i->label)
            return false;
        p->at[p->n++] = sym_from_library(c, i->label, bind_pattern, NULL);
    }
    return p->n > 0;
}

/* Whether each statistic is one of the patterns, with their p as given, and
 * those that make the density proper are there; fills place[]. */
static bool place_statistics(struct compiler *c, struct step *s,
                             const struct patterns *p, symp exponent,
                             bool needs_last)
{
    bool used[8] = {false};
    for (int k = 0; k < s->law.n; k++) {
        s->law.place[k] = -1;
        for (int at = 0; at < p->n && s->law.place[k] < 0; at++)
            if (!used[at] && p->at[at] &&
                matches(c, p->at[at], s->law.statistics[k], exponent)) {
                s->law.place[k] = at;
                used[at] = true;
            }
        if (s->law.place[k] < 0)
            return false;
    }
    s->law.exponent = exponent;
    return (used[p->n - 1] || !needs_last) &&
           (p->n != 3 || (used[1] && used[2]));
}

/* The same with any p that a pattern gets from a statistic. */
static bool place_with_exponent(struct compiler *c, struct step *s,
                                const struct patterns *p, bool needs_last)
{
    if (place_statistics(c, s, p, NULL, needs_last))
        return true;
    for (int at = 0; at < p->n; at++)
        for (int k = 0; p->at[at] && k < s->law.n; k++) {
            symp exponent = bound_exponent(c, p->at[at], s->law.statistics[k]);
            if (exponent && place_statistics(c, s, p, exponent, needs_last))
                return true;
        }
    return false;
}

/* Tries one family. On success fills the step's place[], exponent, bounded. */
static bool try_family(struct compiler *c, struct step *s,
                       const struct entry *e, int *npatterns)
{
    struct patterns p;
    double low, high;
    if (!entry_interval(e, &low, &high) || !get_patterns(c, e, &p))
        return false;
    double own_low = number_or(s->support.lower, -(double)INFINITY);
    double own_high = number_or(s->support.upper, (double)INFINITY);
    bool positive = s->family->var->positive;
    if (own_low < 0 && positive)
        own_low = s->support.lower && s->support.lower->kind == SYM_NUM
                      ? own_low
                      : 1e-300;
    if (own_low < low || (own_high > high && high < 1e300))
        return false;
    bool bounded =
        own_low > low || own_high < high || s->support.bounds != NULL;
    /* proper only if the statistic that dominates far out is there; with both
     * ends finite it need not be */
    if (!place_with_exponent(c, s, &p, high > 1e300 && !(bounded && p.n == 1)))
        return false;
    if (bounded && !entry_value(e, "draw_between") &&
        !(entry_value(e, "cdf") && entry_value(e, "quantile")))
        return false;
    if (!bounded && !entry_value(e, "draw"))
        return false;
    s->support.bounded = bounded;
    *npatterns = p.n + (s->law.exponent ? 1 : 0);
    return true;
}

static bool finite_bound(symp e)
{
    return e &&
           !(e->kind == SYM_NUM && (e->number > 1e300 || e->number < -1e300));
}

bool condition_has_two_ends(const struct step *s)
{
    return finite_bound(s->support.lower) && finite_bound(s->support.upper);
}

static void recognise_direct(struct compiler *c, struct step *s)
{
    const struct entry *const *all;
    int n = library_all(c, &all), best = 1000;
    double highest = 0;
    struct step chosen = *s;
    for (int i = 0; i < n; i++) {
        struct step trial = *s;
        int patterns;
        if (all[i]->kind != ENTRY_DISTRIBUTION ||
            !try_family(c, &trial, all[i], &patterns))
            continue;
        /* fewest parameters first; then the one that needs no bounds; then the
         * one whose file says so, or that was there before */
        int rank = 2 * patterns + (trial.support.bounded ? 1 : 0);
        double priority = entry_number(all[i], "priority");
        if (rank < best || (rank == best && priority > highest)) {
            best = rank;
            highest = priority;
            chosen = trial;
            chosen.law.family = all[i];
        }
    }
    *s = chosen;
}

static const struct entry *uniform(struct compiler *c)
{
    const struct entry *const *all;
    int n = library_all(c, &all);
    for (int i = 0; i < n; i++)
        if (all[i]->standard && entry_is_uniform(all[i]))
            return all[i];
    error_at(c, (struct span){0}, "the library has no uniform distribution");
    return NULL;
}

static bool in_prior(const struct step *s, symp statistic)
{
    for (const struct part *p = s->parts; p; p = p->next)
        for (int k = 0; p->own && k < p->terms.n; k++)
            if (sym_same(p->terms.statistic[k], statistic))
                return true;
    return false;
}

/* Between bounds a conditional is proper without the statistic that dominates
 * far out, as that of x ~ dexp(1), y ~ dnorm(x, 1) where y is missing. Then it
 * is of another family, of the other statistics. */
static void recognise_rest(struct compiler *c, struct step *s)
{
    const struct clause *all = entry_clause(s->law.family, "statistics");
    int n = 0, last = -1;
    for (const struct clause_item *i = all ? all->items : NULL; i; i = i->next)
        n++;
    for (int k = 0; k < s->law.n; k++)
        if (s->law.place[k] == n - 1)
            last = k;
    bool flat = true; /* the prior; then the sums are all 0, or none */
    for (int k = 0; k < s->law.n; k++)
        flat = flat && !in_prior(s, s->law.statistics[k]);
    if (last < 0 || flat || !s->support.bounded ||
        in_prior(s, s->law.statistics[last]))
        return;
    struct step *rest = NEW(c, struct step);
    *rest = *s;
    rest->law.family = NULL;
    rest->law.n--;
    for (int k = last; k < rest->law.n; k++)
        rest->law.statistics[k] = s->law.statistics[k + 1];
    recognise_direct(c, rest);
    if (!rest->law.family)
        return;
    rest->law.n = s->law.n; /* by their numbers in s */
    for (int k = s->law.n - 1; k > last; k--)
        rest->law.place[k] = rest->law.place[k - 1];
    rest->law.place[last] = -1;
    s->law.rest = rest;
}

void condition_recognise(struct compiler *c, struct step *s)
{
    s->law.family = NULL;
    if (model_draws_integers(s->family) || s->opaque)
        return;
    if (s->law.n == 0 && condition_has_two_ends(s)) {
        s->law.family = uniform(c);
        s->support.bounded = true;
        return;
    }
    recognise_direct(c, s);
    if (s->law.family)
        recognise_rest(c, s);
}
