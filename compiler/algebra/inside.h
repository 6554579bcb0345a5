/* inside.h: what the files of the algebra share. */
#ifndef GBMC_ALGEBRA_INSIDE_H
#define GBMC_ALGEBRA_INSIDE_H

#include "algebra/library.h"

/* A list of expressions that grows. */
struct list {
    symp *at;
    int n, capacity;
};
void sym_list_push(struct compiler *c, struct list *l, symp e);
/* Appends the n arguments, those of nested nodes of that kind in their place.
 */
void sym_flatten(struct compiler *c, enum sym_kind kind, struct list *out,
                 int n, const symp *args);
/* A node as `model` with these arguments, not simplified. */
symp sym_make(struct compiler *c, struct sym model, int nargs,
              const symp *args);
symp sym_exp(struct compiler *c, symp a);
/* A call that is simplified only where its arguments are numbers. */
symp sym_plain_call(struct compiler *c, const char *name,
                    const struct entry *entry, int n, const symp *args);
/* What the function of a call states in a clause, at its arguments; NULL if
 * it does not. */
symp sym_clause_at(struct compiler *c, symp call, const char *keyword);
/* Is e a call of the library's function `name`? */
bool sym_is_call(struct compiler *c, symp e, const char *name);
bool sym_is_loop(symp e, const void *loop);
bool sym_is_whole(symp e);
/* The a == b of f = (a == b) * *times, also if f is ifelse(a == b, *times, 0);
 * NULL if it is neither. */
symp sym_equality_in(struct compiler *c, symp f, symp *times);
/* True if e <= 1 whatever the state. */
bool sym_at_most_one(symp e);
/* True if e > 0 whatever the state; target_positive: the target is. */
bool sym_positive_if(symp e, bool target_positive);

/* Value of a library clause at the arguments of a call. */
struct at_arguments {
    const struct entry *entry;
    const symp *args;
};
/* For sym_from_library, context a struct at_arguments: the argument called
 * `name`, an element of it, or the extent of one. */
symp sym_bind_argument(struct compiler *c, const char *name, int nargs,
                       const symp *args, void *context);

#endif
