/* resolve.h: what the files that turn the tree into a model share. */
#ifndef GBMC_MODEL_RESOLVE_H
#define GBMC_MODEL_RESOLVE_H

#include "model/model.h"

/* Names bound by loops around the statement at hand, innermost first. */
struct scope {
    const char *name;
    symp value;
    const struct scope *outer;
};
struct gbm_data;

struct resolver {
    struct compiler *c;
    struct model *m;
    const struct scope *scope;
    struct loop *loops[MAX_LOOPS];
    int nloops;
    bool data_block;
    int nhoisted;
    struct range_check *ranges;           /* of the statement at hand */
    const struct expr *distribution_call; /* of the statement at hand: also a
                                             density function has its name */
    /* of the left-hand side at hand: subscripts that are vectors, whose values
     * are no range; body NULL: none */
    struct {
        const struct loop *loop;
        symp body;
    } vectors[MAX_DIMS];
};

/* ---- scale.c */
/* The call of a normal distribution, times a positive scale: a call of the
 * standard library's normal distribution, whose mean is not multiplied; NULL if
 * there is none. */
struct expr *model_scaled_normal(struct compiler *c, const struct expr *call,
                                 const struct expr *scale);
/* A call with another argument. */
struct expr *model_with_argument(struct compiler *c, const struct expr *call,
                                 int place, struct expr *value);
/* Whether the text says that e is above 0. */
bool model_is_positive(struct compiler *c, const struct program *p,
                       const struct expr *e);

/* ---- resolve.c */
/* Roles: given, constant, stochastic or derived; and which are positive. */
void model_settle_roles(struct compiler *c, struct model *m);
/* JAGS takes I(,) where it cannot be misread: with fixed parameters. */
void model_warn_of_intervals(struct compiler *c, struct model *m);
/* Expressions once more: roles tell which variables are positive. */
void model_simplify_again(struct compiler *c, struct model *m);
void model_join_rising(struct compiler *c, struct model *m);
/* The factors of the joint density: one for each stochastic statement. Requires
 * settled roles, stored variables, and families in their order. */
void model_make_factors(struct compiler *c, struct model *m);
/* Which variables no other node's density reads; instances of their factors
 * count where they are data. Requires factors. */
void model_settle_leaves(struct compiler *c, struct model *m);
/* Whether samplers { } asks for a sampler of v that is no exact draw: then it
 * is used even where nothing observed depends on v. */
bool model_sampler_asked(const struct model *m, const struct var *v);
/* Whether any component of an element of f is data: of a vector node, the
 * others are drawn with it. */
symp model_any_seen(struct compiler *c, const struct family *f);

/* ---- variable.c */
/* NULL if there is no variable of that name. */
struct var *model_find_var(struct model *m, const char *name);
/* The variable of that name, a new one if there is none. */
struct var *model_get_var(struct resolver *r, const char *name,
                          struct span span);

/* ---- dimensions.c */
/* Says that v has ndim dimensions; an error if it is known to have others. */
void model_set_ndim(struct resolver *r, struct var *v, int ndim,
                    struct span span);
/* Two passes: brackets tell; then the functions that take whole arrays. */
void model_settle_dimensions(struct resolver *r, const struct program *p);

/* ---- value.c */
/* Adds a dimension to an array value: its index, NULL after an error. */
symp model_add_dimension(struct resolver *r, struct value *out, symp extent,
                         struct span span);
/* A single value, or an array of any shape, as a vector: JAGS's order of the
 * elements, the first index fastest. */
struct value value_as_vector(struct resolver *r, const struct value *v);
/* Gives all n arguments the shape of the arrays among them, in *out. */
bool model_broadcast(struct resolver *r, const char *name, int n,
                     struct value *args, struct value *out, struct span span);
/* Element i (of a vector), [i, j] (of a matrix), 1-based. */
symp value_element(struct compiler *c, const struct value *v, symp i, symp j);
/* f(a, b, c) for a function of one vector: the arguments become one. */
bool model_gather_arguments(struct resolver *r, const struct entry *e, int *n,
                            struct value *args, struct span span);
/* A call of a function that returns an array becomes a derived variable. */
bool model_hoist_array_call(struct resolver *r, const struct entry *f,
                            symp call, const struct value *args,
                            struct value *out, struct span span);
/* The extent that a parameter of e calls dim, as in x[n]; NULL: none does. */
symp model_named_extent(const struct entry *e, const struct value *args,
                        const char *dim);
/* A loop; upper NULL: the range is known elsewhere. */
struct loop *model_new_loop(struct compiler *c, const char *name, symp lower,
                            symp upper);
/* NULL after an error. */
symp model_scalar_of(struct resolver *r, const struct expr *e);
/* Whether x may be a subscript or the end of a range; else an error. */
bool model_check_whole(struct resolver *r, struct span span, symp x);
/* The value of one. */
symp model_whole_of(struct resolver *r, const struct expr *e);
/* Reports a name that the library lacks, with the nearest one. */
void model_unknown_name(struct resolver *r, enum entry_kind kind,
                        const struct expr *e);
/* The value of an expression of the model; false after an error. */
bool value_of(struct resolver *r, const struct expr *e, struct value *out);
/* Reports n arguments where e takes others. */
void model_wrong_arguments(struct resolver *r, const struct entry *e,
                           struct span span, int n);
/* A family inside the loops at hand; it is not in the model yet. */
struct family *family_new(struct resolver *r, struct var *v, struct span span);
void family_add(struct model *m, struct family *f);

/* ---- statement.c */
/* Adds the families of the statements to the model. */
void model_resolve_stmts(struct resolver *r, const struct stmt *s);
/* `given`, `observed` and `var`: the variables with their roles and extents. */
void model_resolve_declarations(struct resolver *r, const struct program *p);

/* ---- mixed.c */
/* Splits arrays of which elements are functions of others that cannot be put
 * in their place. Requires settled roles. */
void model_split_mixed(struct compiler *c, struct model *m);

/* ---- known.c */
/* Splits variables whose values --data has in full into a leaf and what others
 * read, which is given. Requires settled roles. */
void model_split_known(struct compiler *c, struct model *m);
/* Marks what follows where the values of such variables are drawn forward.
 * Requires all families. */
void model_follow_known(struct compiler *c, struct model *m);
/* named_data.c. The values of the --data files, or what is kept of them: names
 * and which are missing; false after an error. */
bool model_read_named_data(struct compiler *c, const struct model *m,
                           struct gbm_data *data);
/* Whether some value of an array of that name is there. */
bool model_data_may_have(const struct gbm_data *data, const char *name);
bool model_data_have(struct compiler *c, const char *name);
/* Data are expected of what they have. */
void model_expect_named(struct compiler *c, struct model *m);

/* ---- pieces.c */
/* Definitions of an array that are put in the place of what reads it as cases;
 * of more, the array is kept in memory. */
#define MOST_CASES 4

/* Bounds of a subscript, whole numbers: of a number, or of a loop plus one
 * whose ends tell; false: they do not. */
struct bounds {
    double least, largest;
};
bool model_bounds_of(struct compiler *c, symp e, struct bounds *out);
/* Takes loops apart by which statements go through such an array. */
void model_take_pieces_apart(struct compiler *c, struct model *m);
/* Whether all that read v say which of its statements is meant. */
bool model_pieces_are_told(struct compiler *c, const struct model *m,
                           const struct var *v);

/* ---- barren.c */
/* Marks the variables of which elements may have no observed descendant, and
 * leaves such elements' factors out of the joint. Requires leaves. */
void model_find_barren(struct compiler *c, struct model *m);
/* power.c: with powers, multiplies the log densities of data by the chain's.
 * Requires leaves; before any augmentation. */
void model_raise_factors(struct compiler *c, struct model *m);
/* expected.c: with expectation, takes discrete nodes that are independent given
 * the rest out of the factors that others see, which become expectations under
 * weights. Requires leaves; before any full conditional. */
void model_take_expectations(struct compiler *c, struct model *m);
/* active.c */
void model_find_active(struct compiler *c, struct model *m);

/* ---- clamp.c */
/* Replaces max(), min() and comparisons that the ranges of their arguments
 * decide. Requires settled roles. */
void model_drop_clamps(struct compiler *c, struct model *m);

/* ---- derived.c */
/* Whether a computed element of a partly stochastic array can be replaced by
 * its definition where it is read. */
bool model_mixed_substitutable(struct compiler *c, const struct family *f);
/* True if a reference to f's variable can be replaced by f's expression: every
 * subscript is a distinct loop plus a constant, or free of loops. `told`: the
 * subscripts tell all loops. */
bool model_substitutable(struct compiler *c, const struct family *f,
                         bool *told);
/* Marks the derived variables whose values are kept in memory. */
void model_choose_stored(struct compiler *c, struct model *m);

/* ---- gaps.c */
/* Adds the given arrays that hold what no statement defines of derived ones.
 * Requires choose_stored. */
void model_expect_supplied(struct compiler *c, struct model *m);

/* ---- inverted.c */
/* Computes the inverse of a matrix node once, wherever it is read. Requires
 * choose_stored. */
void model_share_inverses(struct compiler *c, struct model *m);

/* ---- kept.c */
/* Marks, or makes, further ones that definitions of those would compute again
 * and again. */
void model_keep_repeated(struct compiler *c, struct model *m);

/* ---- affine.c */
/* Adds the arrays by which updates of scalars see kept arrays that are affine
 * in them. Requires choose_stored. */
void model_split_affine(struct compiler *c, struct model *m);

/* ---- order.c */
/* Reports variables that depend on themselves whatever the order of elements.
 */
void model_check_cycles(struct compiler *c, struct model *m);
/* Reports elements with two definitions. */
void model_check_twice(struct compiler *c, struct model *m);
/* Reports elements that only random variables tell. Requires split_known. */
void model_check_left(struct compiler *c, struct model *m);
/* Sorts m->families so that parents come first, and numbers them. */
void family_order(struct compiler *c, struct model *m);
/* Whether some statement may read what itself or a later one draws. Requires
 * the last order of families, and follow_known. */
void model_find_feedback(struct compiler *c, struct model *m);

/* ---- sequence.c */
/* Finds the families whose elements must be put into one sequence, and brings
 * such families together in the order of m->families. Requires choose_stored.
 */
void model_find_sequences(struct compiler *c, struct model *m);

#endif
