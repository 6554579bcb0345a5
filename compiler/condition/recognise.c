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

/* Whether `statistic` is the pattern; x^p binds p. */
static bool matches(struct compiler *c, symp pattern, symp statistic,
                    symp *exponent)
{
    if (sym_same(pattern, statistic))
        return true;
    if (pattern->kind != SYM_POW || pattern->args[1]->kind != SYM_PARAM ||
        pattern->args[0]->kind != SYM_TARGET)
        return false;
    symp found = NULL;
    if (statistic->kind == SYM_TARGET)
        found = sym_num(c, 1);
    else if (statistic->kind == SYM_POW &&
             statistic->args[0]->kind == SYM_TARGET &&
             statistic->args[1]->kind == SYM_NUM)
        found = statistic->args[1];
    if (!found || (*exponent && !sym_same(found, *exponent)))
        return false;
    *exponent = found;
    return true;
}

static double number_or(symp e, double open)
{
    if (!e)
        return open;
    return e->kind == SYM_NUM ? e->number : 1e300 * (open < 0 ? -0.5 : 0.5);
}

/* Tries one family. On success fills the step's place[], exponent, bounded. */
static bool try_family(struct compiler *c, struct step *s,
                       const struct entry *e, int *npatterns)
{
    const struct clause *statistics = entry_clause(e, "statistics");
    double low, high;
    if (!statistics || !entry_interval(e, &low, &high))
        return false;
    double own_low = number_or(s->lower, -(double)INFINITY);
    double own_high = number_or(s->upper, (double)INFINITY);
    bool positive = s->family->var->positive;
    if (own_low < 0 && positive)
        own_low = s->lower && s->lower->kind == SYM_NUM ? own_low : 1e-300;
    if (own_low < low || (own_high > high && high < 1e300))
        return false;
    bool bounded = own_low > low || own_high < high || s->bounds != NULL;
    symp exponent = NULL;
    int place[24], n = 0, last = -1;
    bool used[8] = {false};
    for (const struct clause_item *i = statistics->items; i; i = i->next) {
        if (n == 8 || !i->label)
            return false;
        n++;
    }
    for (int k = 0; k < s->nstatistics; k++) {
        place[k] = -1;
        int at = 0;
        for (const struct clause_item *i = statistics->items; i;
             i = i->next, at++) {
            symp pattern = sym_from_library(c, i->label, bind_pattern, NULL);
            if (!used[at] && pattern &&
                matches(c, pattern, s->statistics[k], &exponent)) {
                place[k] = at;
                used[at] = true;
                if (at > last)
                    last = at;
                break;
            }
        }
        if (place[k] < 0)
            return false;
    }
    /* proper only if the statistic that dominates far out is there; with both
     * ends finite it need not be */
    if (high > 1e300 && !used[n - 1] && !(bounded && n == 1))
        return false;
    if (n == 3 && !(used[1] && used[2]))
        return false;
    if (bounded && !entry_value(e, "draw_between") &&
        !(entry_value(e, "cdf") && entry_value(e, "quantile")))
        return false;
    if (!bounded && !entry_value(e, "draw"))
        return false;
    for (int k = 0; k < s->nstatistics; k++)
        s->place[k] = place[k];
    s->exponent = exponent;
    s->bounded = bounded;
    *npatterns = n + (exponent ? 1 : 0);
    return true;
}

static bool finite_bound(symp e)
{
    return e &&
           !(e->kind == SYM_NUM && (e->number > 1e300 || e->number < -1e300));
}

bool condition_has_two_ends(const struct step *s)
{
    return finite_bound(s->lower) && finite_bound(s->upper);
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
        int rank = 2 * patterns + (trial.bounded ? 1 : 0);
        double priority = entry_number(all[i], "priority");
        if (rank < best || (rank == best && priority > highest)) {
            best = rank;
            highest = priority;
            chosen = trial;
            chosen.recognised = all[i];
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
    const struct clause *all = entry_clause(s->recognised, "statistics");
    int n = 0, last = -1;
    for (const struct clause_item *i = all ? all->items : NULL; i; i = i->next)
        n++;
    for (int k = 0; k < s->nstatistics; k++)
        if (s->place[k] == n - 1)
            last = k;
    bool flat = true; /* the prior; then the sums are all 0, or none */
    for (int k = 0; k < s->nstatistics; k++)
        flat = flat && !in_prior(s, s->statistics[k]);
    if (last < 0 || flat || !s->bounded || in_prior(s, s->statistics[last]))
        return;
    struct step *rest = NEW(c, struct step);
    *rest = *s;
    rest->recognised = NULL;
    rest->nstatistics--;
    for (int k = last; k < rest->nstatistics; k++)
        rest->statistics[k] = s->statistics[k + 1];
    recognise_direct(c, rest);
    if (!rest->recognised)
        return;
    rest->nstatistics = s->nstatistics; /* by their numbers in s */
    for (int k = s->nstatistics - 1; k > last; k--)
        rest->place[k] = rest->place[k - 1];
    rest->place[last] = -1;
    s->rest = rest;
}

void condition_recognise(struct compiler *c, struct step *s)
{
    s->recognised = NULL;
    if (model_draws_integers(s->family) || s->opaque)
        return;
    if (s->nstatistics == 0 && condition_has_two_ends(s)) {
        s->recognised = uniform(c);
        s->bounded = true;
        return;
    }
    recognise_direct(c, s);
    if (s->recognised)
        recognise_rest(c, s);
}
