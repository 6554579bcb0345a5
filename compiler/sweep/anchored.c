/* anchored.c: a term c * exp(x) of a full conditional, as of a coefficient
 * behind a log link, whose c is a sum of products with exp(rest). Far out
 * exp(rest) is 0 in floating point, or infinite, where exp(rest + x) is an
 * ordinary number: the term would be lost, and x be drawn as if there were no
 * data. So c is computed with exp(rest + x0), x0 being where x stands, and the
 * term is c * exp(x - x0); of a single instance, as of an effect of one row, it
 * is c * exp(x + rest), however far a draw goes. Else one that went so far that
 * c = 0 could not tell of it is compared where it arrived, and goes back if the
 * term is there. Chains begin far out where covariates are measured from far
 * away, as years are. x^k, as of a scale, is exp(k log(x)) here, beside t^k.
 *
 * Requires chosen methods, and all that looks for statistics or for sums in
 * coefficients to be done; changes coefficients, sets `anchored` of a law. */
#include "sweep/sweep.h"
#include <string.h>

static bool is_exp(symp e)
{
    return e->kind == SYM_CALL && !strcmp(e->name, "exp");
}

/* A power that may overflow by its exponent. */
static bool is_power(symp e)
{
    return e->kind == SYM_POW && e->args[1]->kind != SYM_NUM &&
           !sym_has_target(e->args[1]);
}

/* What stands in exp() of e, an exponential or a power. */
static symp inside_of(struct compiler *c, symp e)
{
    return is_exp(e) ? e->args[0]
                     : sym_mul2(c, e->args[1], sym_log(c, e->args[0]));
}

/* What stands in exp() of the statistic: a number times x, or a power's. NULL:
 * another statistic. */
static symp exponent(struct compiler *c, symp statistic)
{
    if (is_power(statistic) && statistic->args[0]->kind == SYM_TARGET)
        return inside_of(c, statistic);
    if (!is_exp(statistic))
        return NULL;
    symp e = statistic->args[0], slope = sym_derivative(c, e, sym_target(c));
    return slope && !sym_has_target(slope) &&
                   sym_is(sym_replace(c, e, sym_target(c), sym_num(c, 0)), 0)
               ? e
               : NULL;
}

/* The factor exp(rest) of a coefficient, beside a power another power; NULL if
 * it is no product with one. */
static symp factor_exp(symp coefficient, bool power)
{
    if (is_exp(coefficient) || (power && is_power(coefficient)))
        return coefficient;
    for (int i = 0; coefficient->kind == SYM_MUL && i < coefficient->nargs; i++)
        if (is_exp(coefficient->args[i]) ||
            (power && is_power(coefficient->args[i])))
            return coefficient->args[i];
    return NULL;
}

static symp with_factor(struct compiler *c, symp coefficient, symp factor,
                        symp by)
{
    if (coefficient == factor)
        return by;
    symp *args = NEW_ARRAY(c, symp, coefficient->nargs);
    bool found = false;
    for (int i = 0; i < coefficient->nargs; i++) {
        args[i] = !found && coefficient->args[i] == factor
                      ? by
                      : coefficient->args[i];
        found = found || args[i] != coefficient->args[i];
    }
    return sym_rebuild(c, coefficient, args);
}

/* Where a statistic's coefficients are, in parts of sums. */
struct place {
    struct part *part;
    int number;
    symp factor;
};

/* -1: not all of them have a factor exp(rest). */
static int find_places(const struct step *s, symp statistic, struct place *at,
                       int most)
{
    int n = 0;
    for (struct part *p = s->parts; p; p = p->next)
        for (int i = 0; !p->opaque && i < p->terms.n; i++) {
            if (!sym_same(p->terms.statistic[i], statistic))
                continue;
            symp x = p->reference,
                 e = factor_exp(p->terms.coefficient[i], is_power(statistic));
            if (n == most || !e || p->summed || !x || x->kind != SYM_REF ||
                x->var != s->family->var)
                return -1;
            at[n++] = (struct place){p, i, e};
        }
    return n;
}

/* The element's only instance: -rest, by the element's own loops; NULL: there
 * are others, or there may be none. */
static symp alone(struct compiler *c, const struct place *at)
{
    const struct part *p = at->part;
    symp rest = inside_of(c, at->factor);
    if (p->inverse || p->guard || p->copies)
        return NULL;
    for (int i = 0; i < p->nloops; i++) {
        if (!p->solved[i])
            return NULL;
        rest = sym_replace(c, rest, sym_loop(c, p->loops[i]), p->solved[i]);
    }
    return sym_neg(c, rest);
}

static void anchor_statistic(struct compiler *c, struct step *s, int number)
{
    enum { MOST = 32 };
    struct place at[MOST];
    const struct family *f = s->family;
    symp inside = exponent(c, s->law.statistics[number]);
    int n = inside ? find_places(s, s->law.statistics[number], at, MOST) : 0;
    if (n < 1)
        return;
    symp statistic = sym_call(c, "exp", 1, &inside);
    s->law.statistics[number] = statistic;
    symp own = sym_ref(c, f->var, f->var->ndim, f->lower),
         from = n == 1 ? alone(c, at) : NULL;
    s->law.fades[number] = !from;
    s->law.anchored[number] =
        from ? from : sym_replace(c, inside, sym_target(c), own);
    for (int i = 0; i < n; i++) {
        symp *coefficient = &at[i].part->terms.coefficient[at[i].number];
        symp x = sym_replace(c, inside, sym_target(c), at[i].part->reference);
        symp sum = sym_add2(c, inside_of(c, at[i].factor), x);
        symp by = from ? sym_num(c, 1) : sym_call(c, "exp", 1, &sum);
        at[i].part->terms.statistic[at[i].number] = statistic;
        *coefficient = with_factor(c, *coefficient, at[i].factor, by);
    }
}

void sweep_anchor(struct compiler *c, struct model *m)
{
    for (struct step *s = m->steps; s; s = s->next)
        if (s->sampler && s->sampler->scalar && !s->law.family &&
            !s->integrated && !model_draws_integers(s->family))
            for (int i = 0; i < s->law.n; i++)
                anchor_statistic(c, s, i);
}
