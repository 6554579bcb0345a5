/* calls.c: calls of functions: with numbers they are one, comparisons are
 * decided where the ends of loops allow, and the library states what others
 * are. */
#include "algebra/inside.h"
#include <math.h>
#include <string.h>

static bool fold_call(const char *name, int n, const symp *args, double *out)
{
    for (int i = 0; i < n; i++)
        if (args[i]->kind != SYM_NUM)
            return false;
    double a = n > 0 ? args[0]->number : 0, b = n > 1 ? args[1]->number : 0;
    const bool nan = isnan(a) || isnan(b);
    if (n == 2) {
        if (!strcmp(name, "<"))
            return *out = a < b, true;
        if (!strcmp(name, "<="))
            return *out = a <= b, true;
        if (!strcmp(name, ">"))
            return *out = a > b, true;
        if (!strcmp(name, ">="))
            return *out = a >= b, true;
        if (!strcmp(name, "=="))
            return *out = a == b, true;
        if (!strcmp(name, "!="))
            return *out = a != b, true;
        if (!strcmp(name, "max"))
            return *out = nan ? NAN : fmax(a, b), true;
        if (!strcmp(name, "min"))
            return *out = nan ? NAN : fmin(a, b), true;
    }
    if (n == 1) {
        if (!strcmp(name, "exp"))
            return *out = exp(a), true;
        if (!strcmp(name, "log") && a > 0)
            return *out = log(a), true;
        if (!strcmp(name, "loggam") && a > 0)
            return *out = lgamma(a), true;
        if (!strcmp(name, "abs"))
            return *out = fabs(a), true;
        if (!strcmp(name, "!"))
            return *out = a == 0, true;
    }
    return false;
}

symp sym_plain_call(struct compiler *c, const char *name,
                    const struct entry *entry, int n, const symp *args)
{
    double value;
    if (!strcmp(name, SYM_LIST) && args[0]->kind == SYM_NUM)
        return args[(int)args[0]->number];
    if (fold_call(name, n, args, &value))
        return sym_num(c, value);
    struct sym model = {
        .kind = SYM_CALL, .name = intern(c, name), .entry = entry};
    if (!strncmp(name, "draw_", 5)) /* two draws are never the same */
        model.number = ++c->ndraws;
    return sym_make(c, model, n, args);
}

/* The argument called `name`, an element of it, or the extent of one. */
symp sym_bind_argument(struct compiler *c, const char *name, int nargs,
                       const symp *args, void *context)
{
    const struct at_arguments *at = context;
    for (int i = 0; i < at->entry->nparameters; i++) {
        const struct parameter *p = &at->entry->parameters[i];
        symp a = at->args[i];
        if (p->name == name && nargs == 0)
            return a;
        if (p->name == name && a->kind == SYM_ARRAY && nargs == a->nloops) {
            symp element = a->args[0];
            for (int d = 0; d < nargs; d++)
                element = sym_replace_loop(c, element, a->loops[d], args[d]);
            return element;
        }
        for (int d = 0; d < p->ndims && nargs == 0; d++)
            if (p->dims[d] == name && a->kind == SYM_ARRAY && d < a->nloops)
                return a->args[1 + d];
    }
    return NULL;
}
symp sym_clause_at(struct compiler *c, symp call, const char *keyword)
{
    const struct expr *value =
        call->entry ? entry_value(call->entry, keyword) : NULL;
    if (!value)
        return NULL;
    struct at_arguments at = {call->entry, call->args};
    return sym_from_library(c, value, sym_bind_argument, &at);
}

double sym_largest_of(symp e)
{
    double most = e->kind == SYM_NUM ? e->number : HUGE_VAL;
    if (e->kind == SYM_CALL && !strcmp(e->name, "min"))
        for (int i = 0; i < e->nargs; i++)
            most = fmin(most, sym_largest_of(e->args[i]));
    return most;
}

/* end + rest as a number; `otherwise` where it is none. What an end that
 * depends on other loops says holds where the loop stands and not everywhere
 * that it is put. */
static double end_of(struct compiler *c, symp end, symp rest, double otherwise)
{
    if (!end || (end->kind != SYM_NUM && sym_has_any_loop(end)))
        return otherwise;
    symp value = sym_add2(c, end, rest);
    return value->kind == SYM_NUM ? value->number : otherwise;
}

/* The least and the largest value of e, a number or loop + rest, where the
 * loop's ends make them numbers; infinite where they do not. */
static bool range_of(struct compiler *c, symp e, double *least, double *largest)
{
    symp rest;
    const struct loop *l = sym_plain_loop(c, e, &rest);
    if (e->kind == SYM_NUM)
        *least = *largest = e->number;
    if (!l)
        return e->kind == SYM_NUM;
    *least = end_of(c, l->lower, rest, -HUGE_VAL);
    *largest = end_of(c, l->upper, rest, HUGE_VAL);
    if (rest->kind == SYM_NUM && l->upper)
        *largest = fmin(*largest, sym_largest_of(l->upper) + rest->number);
    return true;
}

/* Compares two expressions that differ by a number, or by a loop index and what
 * its ends turn into one: 1 or 0 if all values agree. */
static symp decided(struct compiler *c, const char *name, symp a, symp b)
{
    double least, largest;
    if (!range_of(c, sym_sub(c, a, b), &least, &largest)) {
        double low, high;
        if (!range_of(c, sym_sub(c, b, a), &low, &high))
            return NULL;
        least = -high;
        largest = -low;
    }
    bool all = false, none = least > largest;
    if (!strcmp(name, "=="))
        all = least == 0 && largest == 0, none = least > 0 || largest < 0;
    else if (!strcmp(name, ">="))
        all = least >= 0, none = largest < 0;
    else if (!strcmp(name, "<="))
        all = largest <= 0, none = least > 0;
    return all || none ? sym_num(c, all) : NULL;
}

symp sym_eq(struct compiler *c, symp a, symp b)
{
    double d;
    if (sym_difference(c, a, b, &d))
        return sym_num(c, d == 0);
    symp known = decided(c, "==", a, b);
    return known ? known : sym_plain_call(c, "==", NULL, 2, (symp[]){a, b});
}

symp sym_and(struct compiler *c, symp a, symp b)
{
    if (sym_is(a, 0) || sym_is(b, 0))
        return sym_num(c, 0);
    if (a->kind == SYM_NUM)
        return b;
    if (b->kind == SYM_NUM)
        return a;
    if (sym_same(a, b))
        return a;
    return sym_plain_call(c, "&&", NULL, 2, (symp[]){a, b});
}

symp sym_call(struct compiler *c, const char *name, int n, const symp *args)
{
    static const char *const comparisons[] = {
        "<", "<=", ">", ">=", "!=", "||", "!"};
    if (n == 2 && !strcmp(name, "+"))
        return sym_add2(c, args[0], args[1]);
    if (n == 2 && !strcmp(name, "-"))
        return sym_sub(c, args[0], args[1]);
    if (n == 2 && !strcmp(name, "*"))
        return sym_mul2(c, args[0], args[1]);
    if (n == 2 && !strcmp(name, "/"))
        return sym_div(c, args[0], args[1]);
    if (n == 2 && (!strcmp(name, "^") || !strcmp(name, "pow")))
        return sym_pow(c, args[0], args[1]);
    if (n == 1 && (!strcmp(name, "neg") || !strcmp(name, "-")))
        return sym_neg(c, args[0]);
    if (n == 1 && !strcmp(name, "+"))
        return args[0];
    if (n == 1 && !strcmp(name, "sqrt"))
        return sym_pow(c, args[0], sym_num(c, 0.5));
    if (n == 1 && !strcmp(name, "log"))
        return sym_log(c, args[0]);
    if (n == 1 && !strcmp(name, "exp"))
        return sym_exp(c, args[0]);
    if (n == 2 && (!strcmp(name, "equals") || !strcmp(name, "==")))
        return sym_eq(c, args[0], args[1]);
    if (n == 2 && !strcmp(name, "&&"))
        return sym_and(c, args[0], args[1]);
    if (n == 1 && !strcmp(name, "step"))
        return sym_plain_call(c, ">=", NULL, 2,
                              (symp[]){args[0], sym_num(c, 0)});
    if (n == 1 && !strcmp(name, "logdet")) {
        symp simpler = sym_simpler_logdet(c, args[0]);
        if (simpler)
            return simpler;
    }
    if (n == 2 && !strcmp(name, "trace_solve")) {
        symp scaled = sym_scaled_trace(c, args[0], args[1]);
        if (scaled)
            return scaled;
    }
    if (n == 3 && (!strcmp(name, "ifelse") || !strcmp(name, "if_else")))
        return sym_select(c, args[0], args[1], args[2]);
    bool ordered = n == 2 && (!strcmp(name, ">=") || !strcmp(name, "<="));
    symp known = ordered ? decided(c, name, args[0], args[1]) : NULL;
    if (known)
        return known;
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (!strcmp(name, comparisons[i]))
            return sym_plain_call(c, name, NULL, n, args);
    const struct entry *entry =
        library_find(c, ENTRY_FUNCTION, intern(c, name));
    if (entry && entry_value(entry, "as") && entry->nparameters == n) {
        struct at_arguments at = {entry, args};
        return sym_from_library(c, entry_value(entry, "as"), sym_bind_argument,
                                &at);
    }
    return sym_plain_call(c, entry ? entry->name : name, entry, n, args);
}
