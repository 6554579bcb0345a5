/* subscript.c: what the state may make of a subscript: a number outside its
 * array; and which expressions are whole numbers whatever the state. */
#include "model/model.h"

#include <math.h>
#include <string.h>

/* Whether a subscript takes what the state holds, itself or as an end of a
 * loop. */
static bool depends_on_state(symp at)
{
    if (at->kind == SYM_TARGET || sym_is_latent(at, NULL))
        return true;
    if (at->kind == SYM_LOOP)
        return at->loop->tried ||
               (at->loop->lower && depends_on_state(at->loop->lower)) ||
               (at->loop->upper && depends_on_state(at->loop->upper));
    for (int i = 0; i < at->nargs; i++)
        if (depends_on_state(at->args[i]))
            return true;
    return false;
}

/* Whether `at` is a node whose support is 1 .. the extent of dimension d. */
static bool always_inside(symp at, const struct var *v, int d)
{
    if (at->kind != SYM_REF || !at->var->families)
        return false;
    for (const struct family *f = at->var->families; f; f = f->next_of_var) {
        const struct factor *g = f->stochastic ? f->factor : NULL;
        if (!g || !g->lower || !g->upper || g->lower->kind != SYM_NUM ||
            g->lower->number < 1)
            return false;
        symp upper = g->upper;
        if (!(upper->kind == SYM_EXTENT && upper->var == v &&
              upper->dim == d) &&
            !(v->declared[d] && sym_same(upper, v->declared[d])))
            return false;
    }
    return true;
}

/* The cell that the family of a table, or constant, defines. */
static bool defines(symp at, const struct var *v, int d)
{
    const struct family *f = v->families;
    return f && v->hidden && at->kind == SYM_LOOP && d < f->nloops &&
           f->loops[d] == at->loop;
}

bool model_subscript_may_miss(symp ref, int d)
{
    return !defines(ref->args[d], ref->var, d) &&
           depends_on_state(ref->args[d]) &&
           !always_inside(ref->args[d], ref->var, d);
}

bool model_may_miss(symp ref)
{
    for (int d = 0; d < ref->nargs; d++)
        if (model_subscript_may_miss(ref, d))
            return true;
    return false;
}

bool model_is_integer(symp x)
{
    switch (x->kind) {
    case SYM_NUM:
        return x->number == floor(x->number) && fabs(x->number) < 1e9;
    case SYM_LOOP:
    case SYM_EXTENT:
    case SYM_SEEN:
    case SYM_LIVE:
        return true;
    case SYM_REF:
        return x->var->integer && !model_may_miss(x);
    case SYM_ADD:
    case SYM_MUL:
        for (int i = 0; i < x->nargs; i++)
            if (!model_is_integer(x->args[i]))
                return false;
        return true;
    case SYM_SELECT:
        return model_is_integer(x->args[1]) && model_is_integer(x->args[2]);
    case SYM_CALL:
        return x->name[0] == '<' || x->name[0] == '>' || x->name[0] == '=' ||
               x->name[0] == '!' || x->name[0] == '&' || x->name[0] == '|';
    case SYM_TARGET:
    case SYM_PARAM:
    case SYM_POW:
    case SYM_SUM:
    case SYM_ARRAY:
        return false;
    }
    UNREACHABLE();
}

static bool is_whole(symp x, int depth);

/* Whether f says of other elements than ref: of x[1], and not x[2]. */
static bool is_of_others(const struct family *f, symp ref)
{
    for (int d = 0; d < ref->nargs; d++)
        if (f->lower[d] && f->lower[d]->kind == SYM_NUM &&
            ref->args[d]->kind == SYM_NUM && !f->nslices &&
            f->lower[d]->number != ref->args[d]->number)
            return true;
    return false;
}

/* Whether all statements of a node, data or not, give it whole numbers.
 * `depth`: they may be recursive. */
static bool has_whole_values(symp ref, int depth)
{
    const struct var *v = ref->var;
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (is_of_others(f, ref))
            continue;
        else if (depth == 8 || (f->stochastic ? !model_draws_integers(f)
                                : !f->body    ? true
                                              : !is_whole(f->body, depth + 1)))
            return v->integer;
    return v->integer || v->families;
}

static bool is_whole(symp x, int depth)
{
    switch (x->kind) {
    case SYM_TARGET: /* values of a node that may be a subscript */
    case SYM_PARAM:
        return true;
    case SYM_REF:
        return has_whole_values(x, depth);
    case SYM_SUM:
        return is_whole(x->args[2], depth);
    case SYM_ADD:
    case SYM_MUL:
        for (int i = 0; i < x->nargs; i++)
            if (!is_whole(x->args[i], depth))
                return false;
        return true;
    default:
        return model_is_integer(x) || (x->kind == SYM_CALL && x->entry &&
                                       entry_clause(x->entry, "flat"));
    }
}

bool model_is_whole(symp x) { return is_whole(x, 0); }

/* Whether a node may have whole numbers alone: counts, what is of a set, or
 * what other nodes settle, as a sum of counts. */
static bool may_be_whole(const struct family *f)
{
    const struct expr *support = entry_value(f->distribution, "support");
    return model_draws_integers(f) ||
           entry_clause(f->distribution, "observable") ||
           (support && !strcmp(support->name, "set"));
}

/* Whether x has values from a continuum. */
static bool is_continuous(symp x, int depth)
{
    const bool defined = x->kind == SYM_REF && x->var->families;
    const struct family *f = defined ? x->var->families : NULL;
    for (; f && depth < 8; f = f->next_of_var)
        if (is_of_others(f, x))
            continue;
        else if (f->stochastic ? !may_be_whole(f)
                               : f->body && is_continuous(f->body, depth + 1))
            return true;
    if (x->kind != SYM_ADD && x->kind != SYM_MUL)
        return false;
    for (int i = 0; i < x->nargs; i++)
        if (is_continuous(x->args[i], depth))
            return true;
    return false;
}

bool model_is_continuous(symp x) { return is_continuous(x, 0); }

bool model_may_be_no_count(symp x)
{
    return x->kind != SYM_NUM && model_is_integer(x) && !sym_never_zero(x);
}

/* A latent count, or what may be one that is tried. */
static bool is_count(symp e, const void *unused)
{
    (void)unused;
    if (e->kind != SYM_REF)
        return e->kind == SYM_TARGET;
    for (const struct family *f = e->var->families; f; f = f->next_of_var)
        if (f->stochastic && model_draws_integers(f))
            return true;
    return false;
}

/* What is drawn from a continuum, or hoisted: of that nothing is known. */
static bool is_other(symp e, const void *unused)
{
    return e->kind == SYM_PARAM ||
           (sym_is_latent(e, unused) && !is_count(e, unused));
}

bool model_counts_settle(symp e)
{
    return sym_any(e, is_count, NULL) && !sym_any(e, is_other, NULL);
}
