/* gaps.c: arrays of which some elements are computed and the others data, as in
 *
 *     mu[1] <- a
 *     for (i in 1:4) { y[i] ~ dnorm(mu[i], 1) }
 *
 * with data that have mu[2] to mu[4]. Where the array is kept in memory, data
 * take their places in it. Where its definition stands in the place of what
 * reads it, it does so under the condition that it defines the element, and
 * what is left is read from a given array of the same name.
 *
 * That is done where a statement surely reads an element without a definition,
 * or the data named at compilation have such (--data): elsewhere conditions
 * would hide what definitions are linear in. */
#include "io/data.h"
#include "model/resolve.h"

#include <math.h>

/* Whether the statements of v leave out a number within the bounds, of what
 * subscript d is: never where one of them does not tell. */
static bool leaves_out(struct compiler *c, const struct var *v, int d,
                       struct bounds read)
{
    bool found = true;
    while (found && read.least <= read.largest && !isinf(read.least)) {
        found = false;
        for (const struct family *f = v->families; f; f = f->next_of_var) {
            struct bounds own;
            if (f->upper[d] || !model_bounds_of(c, f->lower[d], &own))
                return false;
            if (own.least > read.least || own.largest < read.least)
                continue;
            read.least = own.largest + 1;
            found = true;
        }
    }
    return !found;
}

/* x[i,]: where the data do not give x, its extents are what is defined. */
static bool goes_through(symp e, const struct var *v)
{
    return e->kind == SYM_LOOP && e->loop->upper &&
           e->loop->upper->kind == SYM_EXTENT && e->loop->upper->var == v;
}

struct gap {
    struct compiler *c;
    const struct var *of;
};
static bool reads_gap(symp e, const void *gap)
{
    const struct gap *g = gap;
    struct bounds read;
    for (int d = 0; e->kind == SYM_REF && e->var == g->of && d < e->nargs; d++)
        if (!goes_through(e->args[d], g->of) &&
            model_bounds_of(g->c, e->args[d], &read) &&
            leaves_out(g->c, g->of, d, read))
            return true;
    return false;
}

static bool gap_is_read(struct compiler *c, const struct model *m,
                        const struct var *v)
{
    const struct gap gap = {c, v};
    for (const struct family *f = m->families; f; f = f->next)
        if (family_any(f, reads_gap, &gap, false))
            return true;
    return false;
}

static void add_given(struct model *m, struct compiler *c, struct var *v)
{
    struct var *given = NEW(c, struct var);
    given->name = v->name;
    given->span = v->span;
    given->ndim = v->ndim;
    given->role = ROLE_GIVEN;
    given->used = true;
    given->whole = v;
    v->given = given;
    *m->last_var = given;
    m->last_var = &given->next;
}

void model_expect_supplied(struct compiler *c, struct model *m)
{
    struct gbm_data data = {.allow_nonfinite = true, .names_only = true};
    bool is_open = false;
    for (struct var *v = m->vars; v; v = v->next) {
        if (v->role != ROLE_DERIVED || v->stored || v->hidden || v->ndim == 0)
            continue;
        bool expected = gap_is_read(c, m, v);
        if (!expected && c->options.ndata > 0 && c->nerrors == 0) {
            if (!is_open)
                is_open = model_read_named_data(c, m, &data);
            expected = is_open && model_data_may_have(&data, v->name);
        }
        if (expected)
            add_given(m, c, v);
    }
    gbm_data_free(&data);
}
