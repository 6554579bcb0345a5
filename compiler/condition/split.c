/* split.c: sums that run past the target. Where x is one element of the array
 * that a sum runs through, sum(k in 1:n, f(v[k])) is f(x), where the element is
 * one of them, and the sum of the others.
 *
 * Requires that the target stands in choices, as put there for references:
 * ifelse(k == j, x, v[k]). */
#include "condition/find.h"
#include <string.h>

static bool is_placed(symp e)
{
    return e->kind == SYM_SELECT && sym_has_target(e->args[1]) &&
           !sym_has_target(e->args[0]);
}

/* The first choice inside e whose condition has the loop; NULL: none has. */
static symp placed_by(symp e, const struct loop *l)
{
    if (is_placed(e) && sym_has_loop(e->args[0], l))
        return e;
    symp found = NULL;
    for (int i = 0; !found && i < e->nargs; i++)
        found = placed_by(e->args[i], l);
    return found;
}

struct branch {
    symp condition;
    int which;
};

static symp take_branch(struct compiler *c, symp e, void *context)
{
    const struct branch *b = context;
    if (e->kind != SYM_SELECT || !sym_same(e->args[0], b->condition))
        return NULL;
    return sym_map(c, e->args[b->which], take_branch, context);
}

static symp branch_of(struct compiler *c, symp e, symp condition, int which)
{
    struct branch b = {condition, which};
    return sym_map(c, e, take_branch, &b);
}

/* The loop's value where the condition holds, what else it asks in *rest. */
static symp place_of(struct compiler *c, symp condition, const struct loop *l,
                     symp *rest)
{
    if (condition->kind != SYM_CALL)
        return NULL;
    if (!strcmp(condition->name, "&&"))
        for (int i = 0; i < 2; i++) {
            symp at = sym_has_loop(condition->args[1 - i], l)
                          ? NULL
                          : place_of(c, condition->args[i], l, rest);
            if (!at)
                continue;
            *rest = sym_and(c, *rest, condition->args[1 - i]);
            return at;
        }
    for (int i = 0; !strcmp(condition->name, "==") && i < 2; i++) {
        symp offset;
        if (sym_plain_loop(c, condition->args[i], &offset) == l &&
            !sym_has_loop(condition->args[1 - i], l))
            return sym_sub(c, condition->args[1 - i], offset);
    }
    return NULL;
}

/* The term of a sum that has the target, and the rest; NULL: there is no single
 * one. */
static symp term_apart(struct compiler *c, symp sum)
{
    symp body = sum->args[2], rest = sym_num(c, 1);
    symp placed = placed_by(body, sum->loop);
    symp at = placed ? place_of(c, placed->args[0], sum->loop, &rest) : NULL;
    symp others = at ? branch_of(c, body, placed->args[0], 2) : NULL;
    if (!at || sym_has_target(others))
        return NULL;
    symp zero = sym_num(c, 0);
    symp term = sym_replace_loop(c, branch_of(c, body, placed->args[0], 1),
                                 sum->loop, at);
    symp within = sym_and(c, sym_call(c, ">=", 2, (symp[]){at, sum->args[0]}),
                          sym_call(c, "<=", 2, (symp[]){at, sum->args[1]}));
    return sym_add2(c, sym_select(c, sym_and(c, within, rest), term, zero),
                    sym_sum(c, sum->loop, sum->args[0], sum->args[1],
                            sym_select(c, placed->args[0], zero, others)));
}

/* f(ifelse(i == j, x, v[i])) as a choice between two f. */
static symp choice_outside(struct compiler *c, symp e)
{
    for (int i = 0; i < e->nargs; i++) {
        symp inner = e->args[i];
        if (e->kind != SYM_CALL && e->kind != SYM_POW)
            break;
        if (inner->kind == SYM_ADD || inner->kind == SYM_MUL)
            for (int j = 0; j < inner->nargs && !is_placed(inner); j++)
                inner = is_placed(inner->args[j]) ? inner->args[j] : inner;
        if (is_placed(inner))
            return sym_select(c, inner->args[0],
                              branch_of(c, e, inner->args[0], 1),
                              branch_of(c, e, inner->args[0], 2));
    }
    return e;
}

symp condition_split_sums(struct compiler *c, symp e)
{
    if (!sym_has_target(e) || e->nargs == 0)
        return e;
    symp *args = NEW_ARRAY(c, symp, e->nargs);
    for (int i = 0; i < e->nargs; i++)
        args[i] = condition_split_sums(c, e->args[i]);
    symp built = sym_rebuild(c, e, args);
    symp apart = built->kind == SYM_SUM ? term_apart(c, built) : NULL;
    return apart ? apart : choice_outside(c, built);
}
