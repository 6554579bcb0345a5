/* vectors.c: what the C compiler can evaluate by the vector unit for several
 * rows at once, and where that is worth something: functions that the library
 * says are in vectors (`vectors`), powers and arithmetic. */
#include "emit/emit.h"
#include <math.h>

bool emit_only_vectors(symp e)
{
    for (int i = 0; i < e->nargs; i++)
        if (!emit_only_vectors(e->args[i]))
            return false;
    switch (e->kind) {
    case SYM_NUM:
    case SYM_PARAM:
    case SYM_TARGET:
    case SYM_ADD:
    case SYM_MUL:
    case SYM_SELECT:
    case SYM_REF:
    case SYM_LOOP:
    case SYM_EXTENT:
        return true;
    case SYM_POW:
        return !model_is_integer(e->args[1]) ||
               (e->args[1]->kind == SYM_NUM && fabs(e->args[1]->number) <= 2);
    case SYM_CALL:
        return model_is_integer(e) ||
               (e->entry && entry_clause(e->entry, "vectors"));
    default:
        return false;
    }
}

bool emit_is_expensive(symp e, const void *unused)
{
    (void)unused;
    return (e->kind == SYM_POW && !model_is_integer(e->args[1])) ||
           (e->kind == SYM_CALL && e->entry && !model_is_integer(e));
}

/* Whether each row of p evaluates an expensive call of its own. */
static bool expensive_in_rows(const struct part *p, symp e)
{
    for (int i = 0; emit_is_expensive(e, NULL) && i < p->nloops; i++)
        if (!p->solved[i] && sym_has_loop(e, p->loops[i]))
            return true;
    for (int i = 0; i < e->nargs; i++)
        if (expensive_in_rows(p, e->args[i]))
            return true;
    return false;
}

bool emit_worth_vectors(const struct part *p, symp const *terms, int n)
{
    bool worth = false;
    for (int i = 0; i < n; i++) {
        if (!emit_only_vectors(terms[i]))
            return false;
        worth = worth || expensive_in_rows(p, terms[i]);
    }
    return worth;
}
