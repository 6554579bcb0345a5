/* library.h: distributions and functions of the library. */
#ifndef GBMC_ALGEBRA_LIBRARY_H
#define GBMC_ALGEBRA_LIBRARY_H

#include "algebra/algebra.h"

/* library.c */
struct library;
/* Adds the model's own entries, before any name is looked up. */
void library_add_own(struct compiler *c, struct program *p);
/* What the model means by a name: its own entry before the library's. */
const struct entry *library_find(struct compiler *c, enum entry_kind kind,
                                 const char *name);
/* The standard library's entry, whatever the model calls so; and what the text
 * of the entry `from` means. */
const struct entry *library_standard(struct compiler *c, enum entry_kind kind,
                                     const char *name);
const struct entry *library_meant(struct compiler *c, const struct entry *from,
                                  enum entry_kind kind, const char *name);
const struct clause *entry_clause(const struct entry *e, const char *keyword);
/* First item's value of a clause, or NULL. */
const struct expr *entry_value(const struct entry *e, const char *keyword);
/* The number that a clause states; 0 without one. */
double entry_number(const struct entry *e, const char *keyword);

/* normal.c: whether e is a scalar on an interval with numbers as ends. */
bool entry_interval(const struct entry *e, double *low, double *high);
/* Whether e is nothing without bounds: they are its parameters, or it is proper
 * only between some. */
bool entry_needs_bounds(const struct entry *e);
/* Whether e is flat between bounds that are its parameters. */
bool entry_is_uniform(const struct entry *e);

/* density_function.c: dnorm(x, mu, tau), pnorm, qnorm and logdensity.norm as
 * functions, made from the distribution; NULL if there is none such. */
const struct entry *density_function(struct compiler *c, const char *name);
int library_all(struct compiler *c, const struct entry *const **out);
void library_list(struct compiler *c, FILE *out);
/* Text of a library expression as a symbolic one; `bind` gives the value of a
 * name (with its subscripts), NULL if it does not know it. */
typedef symp (*bind_name)(struct compiler *c, const char *name, int nargs,
                          const symp *args, void *context);
symp sym_from_library(struct compiler *c, const struct expr *e, bind_name bind,
                      void *context);
/* Whether distribution e is the normal: on the whole line, with statistics x
 * and x^2. */
bool entry_is_normal(const struct entry *e);
/* Which parameter of a normal distribution is its mean; -1: it is none. */
int entry_normal_mean(struct compiler *c, const struct entry *e);
/* Which is its precision, where the entry says so itself; or -1. */
int entry_normal_precision(const struct entry *e);

#endif
