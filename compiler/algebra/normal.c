/* normal.c: what entries of the library state: an interval as support, and
 * whether they are the normal distribution, by its statistics, or the uniform.
 */
#include "algebra/library.h"

#include <math.h>
#include <string.h>

static bool number_of(const struct expr *e, double *out)
{
    if (e->kind == EXPR_NUM)
        return *out = e->number, true;
    if (e->kind == EXPR_NAME && !strcmp(e->name, "inf"))
        return *out = (double)INFINITY, true;
    if (e->kind == EXPR_CALL && e->nargs == 1 && !strcmp(e->name, "neg") &&
        number_of(e->args[0], out))
        return *out = -*out, true;
    return false;
}

double entry_number(const struct entry *e, const char *keyword)
{
    const struct expr *value = entry_value(e, keyword);
    double number;
    return value && number_of(value, &number) ? number : 0;
}

static bool is_target(const struct expr *e)
{
    return e && e->kind == EXPR_NAME && !strcmp(e->name, "x");
}

static bool is_square_of_target(const struct expr *e)
{
    return e && e->kind == EXPR_CALL && e->nargs == 2 &&
           !strcmp(e->name, "^") && is_target(e->args[0]) &&
           e->args[1]->kind == EXPR_NUM && e->args[1]->number == 2;
}

/* Whether e is a scalar on an interval with numbers as ends. */
bool entry_interval(const struct entry *e, double *low, double *high)
{
    const struct expr *support = entry_value(e, "support");
    return !e->result && support && strcmp(support->name, "real") == 0 &&
           support->nargs == 2 && number_of(support->args[0], low) &&
           number_of(support->args[1], high);
}

static bool mentions(const struct expr *e, const char *name)
{
    if (e->kind == EXPR_NAME && !strcmp(e->name, name))
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (mentions(e->args[i], name))
            return true;
    return false;
}

/* The parameter that e names. */
static int parameter_at(const struct entry *d, const struct expr *e)
{
    for (int i = 0; e && e->kind == EXPR_NAME && i < d->nparameters; i++)
        if (e->nargs == 0 && e->name == d->parameters[i].name)
            return i;
    return -1;
}

bool entry_needs_bounds(const struct entry *e)
{
    const struct expr *support = entry_value(e, "support");
    bool own = support && !strcmp(support->name, "real") &&
               support->nargs == 2 && parameter_at(e, support->args[0]) >= 0 &&
               parameter_at(e, support->args[1]) >= 0;
    return own || !entry_value(e, "draw");
}

bool entry_is_uniform(const struct entry *e)
{
    const struct expr *density = entry_value(e, "logdensity");
    return e->kind == ENTRY_DISTRIBUTION && entry_value(e, "draw") &&
           entry_value(e, "draw_between") && entry_needs_bounds(e) && density &&
           !mentions(density, e->result ? e->result->name : "x");
}

bool entry_is_normal(const struct entry *e)
{
    const struct clause *statistics = entry_clause(e, "statistics");
    double low, high;
    if (!statistics || !entry_interval(e, &low, &high) || low > -HUGE_VAL ||
        high < HUGE_VAL)
        return false;
    const struct clause_item *first = statistics->items;
    const struct clause_item *second = first ? first->next : NULL;
    return second && !second->next && is_target(first->label) &&
           is_square_of_target(second->label);
}

int entry_normal_precision(const struct entry *e)
{
    if (entry_value(e, "as") || !entry_is_normal(e))
        return -1;
    const struct expr *half = entry_clause(e, "statistics")->items->next->value;
    double by;
    bool product = half->kind == EXPR_CALL && half->nargs == 2 &&
                   !strcmp(half->name, "*") && number_of(half->args[0], &by);
    return product && !(by < -0.5) && !(by > -0.5)
               ? parameter_at(e, half->args[1])
               : -1;
}

int entry_normal_mean(struct compiler *c, const struct entry *e)
{
    const struct expr *as = entry_value(e, "as");
    if (!as && entry_is_normal(e)) {
        int mean = parameter_at(e, entry_value(e, "mean"));
        const struct clause_item *x = entry_clause(e, "statistics")->items;
        return mean >= 0 && !mentions(x->next->value, e->parameters[mean].name)
                   ? mean
                   : -1;
    }
    const struct entry *to =
        as && as->kind == EXPR_CALL
            ? library_meant(c, e, ENTRY_DISTRIBUTION, as->name)
            : NULL;
    int of_it = to && to != e ? entry_normal_mean(c, to) : -1;
    if (of_it < 0 || as->nargs != to->nparameters)
        return -1;
    int mean = parameter_at(e, as->args[of_it]);
    for (int i = 0; mean >= 0 && i < as->nargs; i++)
        if (i != of_it && mentions(as->args[i], e->parameters[mean].name))
            return -1;
    return mean;
}
