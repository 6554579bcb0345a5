/* algebra.h: symbolic expressions, and the variables that they read. */
#ifndef GBMC_ALGEBRA_ALGEBRA_H
#define GBMC_ALGEBRA_ALGEBRA_H

#include "syntax/syntax.h"

/* Most dimensions of an array: GBM_MAX_DIMS of the runtime. */
#define MAX_DIMS 8
/* Most loops around a statement, with the slices of its left-hand side. */
#define MAX_LOOPS 12

/* ---- symbolic expressions ------------------------------------------------
 *
 * Immutable trees. Only the constructors build them, and they simplify: sums
 * and products are flat, numbers folded, like terms and equal bases merged, in
 * a canonical order, so that equal expressions built in different ways are
 * mostly the same tree. Subtraction, division and sqrt do not exist: they are
 * products with -1 and powers. */
enum sym_kind {
    SYM_NUM,    /* number */
    SYM_LOOP,   /* loop: a loop index or the bound index of a sum */
    SYM_REF,    /* var[args]: one 1-based subscript per dimension */
    SYM_EXTENT, /* extent of var's dimension `dim` (0-based) */
    SYM_SEEN,   /* 1 if var[args] is observed, else 0 */
    SYM_LIVE,   /* 1 if it, or a node that depends on it, is; else 0 */
    SYM_TARGET, /* the x of a full conditional */
    SYM_PARAM,  /* name: s1, s2, ... and other symbols of library text */
    SYM_ADD,    /* sum of args */
    SYM_MUL,    /* product of args */
    SYM_POW,    /* args[0] ^ args[1] */
    SYM_CALL,   /* function name(args); comparisons too */
    SYM_SELECT, /* args[0] ? args[1] : args[2]; lazy */
    SYM_SUM,    /* sum over loop from args[0] to args[1] of args[2] */
    SYM_ARRAY   /* the array with elements args[0] for loops[0..nloops), each
                   from 1 to args[1 + d]: an argument of an array function */
};

struct sym {
    enum sym_kind kind;
    double number;
    struct loop *loop;
    struct loop *loops[2];
    int nloops;
    struct var *var;
    int dim;
    const char *name;
    const struct entry *entry; /* SYM_CALL: its library entry, or NULL */
    const struct sym **args;
    int nargs;
    unsigned hash;
    uint64_t marks; /* a bit for the target, for each variable and each loop in
                       it, which others may have too: sym_may_have() */
};
typedef const struct sym *symp; /* the one typedef: it stands everywhere */

/* A loop of a statement, or the bound index of a sum or array (range NULL). */
struct loop {
    const char *name;
    symp lower, upper;
    bool tried; /* it goes through values of nodes, not all of which fit the
                   arrays that it subscripts */
};
/* node.c: the leaves. */
symp sym_num(struct compiler *c, double x);
symp sym_loop(struct compiler *c, struct loop *loop);
symp sym_ref(struct compiler *c, struct var *v, int nargs, const symp *args);
symp sym_seen(struct compiler *c, struct var *v, int nargs, const symp *args);
symp sym_live(struct compiler *c, symp ref);
symp sym_extent(struct compiler *c, struct var *v, int dim);
symp sym_target(struct compiler *c);
symp sym_param(struct compiler *c, const char *name);
/* algebra.c, call.c, rewrite.c: all others. */
symp sym_add(struct compiler *c, int n, const symp *terms);
symp sym_mul(struct compiler *c, int n, const symp *factors);
symp sym_pow(struct compiler *c, symp base, symp exponent);
symp sym_select(struct compiler *c, symp cond, symp yes, symp no);
symp sym_sum(struct compiler *c, struct loop *loop, symp lower, symp upper,
             symp body);
symp sym_array(struct compiler *c, int nloops, struct loop *const *loops,
               const symp *extents, symp body);
/* A call of a library function or an operator; expands `as`. */
symp sym_call(struct compiler *c, const char *name, int nargs,
              const symp *args);
symp sym_add2(struct compiler *c, symp a, symp b);
symp sym_sub(struct compiler *c, symp a, symp b);
symp sym_mul2(struct compiler *c, symp a, symp b);
/* What multiplies factor number i of a product. */
symp sym_cofactor(struct compiler *c, symp product, int i);
/* The x of a factor x == l of e, so that e is 0 for any other l; *rest: what
 * multiplies it. NULL if there is none. */
symp sym_only_where(struct compiler *c, symp e, const struct loop *l,
                    symp *rest);
/* 1 - ilogit(a) as ilogit(-a), and phi likewise; any other e as it is. Not done
 * wherever one is built, as there 1 - p + p must stay 1. */
symp sym_join_complement(struct compiler *c, symp e);
symp sym_neg(struct compiler *c, symp a);
/* e with differences of logarithms of gamma functions as functions that keep
 * their digits, if what they lie apart by is known: data, or of the variable
 * `own`. */
symp sym_join_rising(struct compiler *c, symp e, const struct var *own);
/* How many whole numbers there are from lower to upper. */
symp sym_length(struct compiler *c, symp lower, symp upper);
symp sym_div(struct compiler *c, symp a, symp b);
symp sym_eq(struct compiler *c, symp a, symp b); /* the condition a == b */
/* The array of which e is the log determinant, or the inverse; NULL: it is
 * none. */
symp sym_determinant_of(symp e);
symp sym_inverse_of(struct compiler *c, symp e);
symp sym_and(struct compiler *c, symp a, symp b);
symp sym_log(struct compiler *c, symp a);
/* Name of a call: of the numbers args[1 ...], number args[0]. */
#define SYM_LIST "number of"
bool sym_is_list(symp e);
bool sym_is(symp e, double number);
bool sym_same(symp a, symp b);
/* Rebuilds e with new children (same kind), simplifying. */
symp sym_rebuild(struct compiler *c, symp e, const symp *args);
/* Replaces every node for which `f` returns non-NULL (outermost first). */
typedef symp (*sym_rewrite)(struct compiler *c, symp node, void *context);
symp sym_map(struct compiler *c, symp e, sym_rewrite f, void *context);
/* e built again: more may be known of the signs of its variables by now. */
symp sym_again(struct compiler *c, symp e);
symp sym_replace_loop(struct compiler *c, symp e, const struct loop *loop,
                      symp by);
/* The same of n loops at once: what one is replaced by may have the others in
 * it, as where x[j,i] is read in the loops that define x[i,j]. */
symp sym_replace_loops(struct compiler *c, symp e, struct loop *const *loops,
                       int n, symp const *by);
symp sym_replace(struct compiler *c, symp e, symp what, symp by);
/* Is the test true of e or of anything inside it? */
typedef bool (*sym_test)(symp e, const void *context);
bool sym_any(symp e, sym_test test, const void *context);
/* False if `what`, a variable or a loop, or NULL for the target, is surely not
 * in e: at once, however large e is. */
bool sym_may_have(symp e, const void *what);
/* sym_any() of a test that only what has `what` passes. */
bool sym_any_with(symp e, const void *what, sym_test test, const void *context);
bool sym_has_loop(symp e, const struct loop *loop);
bool sym_has_loop_of(symp e, struct loop *const *loops, int n);
bool sym_has_any_loop(symp e);
/* Whether e depends on elements of arrays. */
bool sym_has_cells(symp e);
/* Tests for sym_any: a reference to what is neither data nor a constant; a
 * random draw; a reference to the variable; the same, or an extent of it. */
bool sym_is_latent(symp e, const void *unused);
bool sym_is_draw(symp e, const void *unused);
bool sym_reads_var(symp e, const void *var);
bool sym_reads_var_or_extent(symp e, const void *var);
/* Whether e changes from sweep to sweep: it reads more than given nodes. */
bool sym_reads_latent(symp e);
/* Whether e is one number, settled at load; NULL is none. */
bool sym_fixed(symp e);
bool sym_has_var(symp e, const struct var *v);
bool sym_has(symp e, symp what);
bool sym_has_target(symp e);
/* Whether e is 0 or 1. */
bool sym_is_condition(symp e);
/* True if e > 0 whatever the state. */
bool sym_positive(symp e);
/* True if e >= 0 whatever the state. */
bool sym_not_negative(struct compiler *c, symp e);
/* The number that a - b is, if it is one. */
bool sym_difference(struct compiler *c, symp a, symp b, double *out);
/* What e is at most, where it is a number or the smallest of some; else
 * infinite. */
double sym_largest_of(symp e);
void sym_print(struct text *out, symp e);
const char *sym_text(struct compiler *c, symp e);

/* A sum of coefficient * statistic(x), x = SYM_TARGET; coefficients are free
 * of x. What does not contain x is left in `rest`. */
struct collected {
    symp statistic[24], coefficient[24];
    int n;
    symp rest;
    bool overflow; /* more than 24 statistics, or too long: not all is told */
};
/* Splits e into statistics of the target. `positive`: x > 0 is known. A term
 * that resists stays whole as a statistic (then it may contain anything). */
void sym_collect(struct compiler *c, symp e, bool positive,
                 struct collected *out);
/* Derivative by `wrt`: an SYM_REF whose subscripts are free of bound indices.
 * References to the same variable with other subscripts give the condition
 * that they are equal. NULL if a function without derivative is in the way. */
symp sym_derivative(struct compiler *c, symp e, symp wrt);
/* The derivative by its argument number i that the function of a call states;
 * NULL if it does not. */
symp sym_derivative_of_function(struct compiler *c, symp call, int i);

/* ---- variables: what the algebra asks of them, and what later passes find ---
 */
enum role {
    ROLE_GIVEN,
    ROLE_CONSTANT,
    ROLE_STOCHASTIC,
    ROLE_DERIVED,
    ROLE_AUXILIARY,
    ROLE_POWER /* a number of the chain that the runtime sets: power.c */
};

struct var {
    const char *name;
    const char *cname; /* in the generated program */
    struct span span;
    enum role role;
    bool integer; /* in memory; an array may have columns of both kinds */
    bool declared_given, declared_observed;
    bool leaf;         /* stochastic, and no other factor reads it */
    bool unread;       /* no density reads it: data are expected of it */
    bool barren;       /* some elements may have no observed descendant: they
                          are no leaves, but drawn forward as leaves are */
    bool expects_data; /* a leaf depends on it, or is it: known only at load */
    bool stored;       /* derived: kept in memory because updates read it */
    bool positive;     /* all its values are > 0 */
    bool most_one;     /* all its values are <= 1 */
    bool may_be_infinite; /* a hidden array of logs of what may be 0 */
    bool indexes;         /* used in a subscript or loop bound */
    bool counts;          /* there, neither rounded nor compared */
    bool hidden;          /* holds an array function's result */
    bool used;            /* some statement reads it */
    bool supplied;        /* stochastic, and nothing here draws it: data */
    bool seen_asked;      /* updates ask which cells are observed */
    bool active;          /* with gradients: it has derivatives (active.c) */
    struct var *whole;    /* these are the random elements of this array
                             (mixed.c), or those that are data (gaps.c) */
    struct var *given;    /* the other way round, of data; or NULL */
    struct var *drawn;    /* given, as --data has all of it: what its statements
                             draw (known.c); or NULL */
    bool follows; /* such a one, or a constant computed from such: changes
                     where that is drawn forward */
    bool on_left; /* subscripts on the left are computed from it */
    bool shapes;  /* the same, where it cannot: subscripts or ends of
                     ranges read it */
    struct var *inverse; /* random matrices: derived, the inverse of each, at
                            the same subscripts; or NULL */
    struct var *weights, *total;     /* expected.c: discrete; how probable each
                                        value of each element is, and the log of
                                        what is normed so; or NULL */
    struct var *rest_of, *slope_of;  /* affine.c: arrays that this is part of */
    const struct gathered *gathered; /* its elements are scalars that have
                                        names of their own; or NULL */
    int ndim;                        /* -1: not known yet */
    symp declared[8];                /* extents of `var x[N]`, or NULL */
    struct family *families;
    bool drawn_later;      /* order.c: by the family at hand, or behind it */
    int degree;            /* affine.c: in the members of the set at hand */
    double expanded, work; /* derived.c: nodes of its definition, others' in it,
                              and how many of them a value takes */
    struct slot *slot;     /* where it is kept: sweep.h */
    const struct slot *marks; /* weights: which are 0, or NULL */
    int walk;                 /* resolve.c: the last that came here */
    struct var *next;
    /* auxiliary: its support and full conditional, if stated */
    symp draw;
    const struct entry *augmentation;
};
/* e = loop + offset: the loop, or NULL. */
const struct loop *sym_plain_loop(struct compiler *c, symp e, symp *offset);
/* A number, or a product of numbers, that cannot be 0. */
bool sym_never_zero(symp x);
/* It has an exponential. */
bool sym_may_overflow(symp x);
/* A sum or choice of logs of what is not known to be positive. */
bool sym_may_be_infinite(symp x);

#endif
