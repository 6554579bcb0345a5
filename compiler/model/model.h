/* model.h: statements as families, and the factors of the joint density. */
#ifndef GBMC_MODEL_MODEL_H
#define GBMC_MODEL_MODEL_H

#include "algebra/library.h"

/* scalars.c: makes one array of scalars that are defined and used alike. */
void model_gather_scalars(struct compiler *c, struct program *p);

/* roll.c: writes as loops and sums what is written out one by one. */
void model_roll(struct compiler *c, struct program *p);
/* A function of single values, whose result is one. */
bool model_is_function_of_scalars(struct compiler *c, const char *name);
/* What a statement is but for its numbers, interned; `named` says what stands
 * for a whole variable's name. */
typedef const char *name_stand_in(void *context, const char *name);
const char *model_shape_by_names(struct compiler *c, const struct stmt *s,
                                 name_stand_in *named, void *context);

/* innovation.c: draws states in place of their normal innovations. */
void model_draw_states(struct compiler *c, struct program *p);

/* constants.c: the same but for the names of bound indices. */
bool model_alike(symp a, symp b);

/* An argument of a distribution: a scalar (nloops 0), or an array. */
struct value {
    int ndim;
    struct loop *loops[MAX_DIMS];
    symp extents[MAX_DIMS];
    symp body;
    struct span span;
};

/* A range as an index or argument, a:b: an error if b < a. */
struct range_check {
    symp lower, upper;
    struct span span;
    struct range_check *next;
};

/* How elements without observed descendants are left out of a step: each for
 * itself, all of the families that `together` draws at once, or not at all. */
enum barren_unit { BARREN_EACH, BARREN_TOGETHER, BARREN_NEVER };

struct family {
    struct var *var;
    struct span span;
    bool stochastic, data_block, auxiliary;
    struct loop **loops; /* outermost first */
    int nloops;
    /* left-hand side: subscript d runs over lower[d]..upper[d]; upper NULL: a
     * single subscript lower[d] */
    symp lower[8], upper[8];
    int nslices; /* dimensions that are ranges */
    /* deterministic: value at the slice indices slice[..] */
    struct loop *slice[2];
    symp body;       /* scalar expression (of the slice indices, if any) */
    bool whole_call; /* body is an array function's call: writes the slice */
    /* stochastic */
    const struct entry *distribution;         /* canonical */
    const struct entry *written_distribution; /* as in the model */
    struct value *args;
    int nargs;
    bool truncated;
    bool censored; /* C(,), I(,): lies between the bounds, but the density is
                      that of the whole distribution */
    bool interval; /* written I(,) */
    symp trunc_lower, trunc_upper; /* NULL where open */
    symp stated; /* what written_distribution requires of its parameters, where
                    it stands for another; or NULL */
    const char *text;
    int number; /* order of emission */
    struct factor *factor;
    bool recursive; /* deterministic and reads its own variable */
    bool of_data;   /* an element of a stochastic array that must turn out to
                       be a function of observed nodes (mixed.c) */
    bool constant;  /* deterministic: a function of given nodes alone */
    bool follows;   /* the same, some of which forward draws change: known.c */
    struct slot *table; /* of its loop indices, if it is ragged; or NULL */
    struct range_check *ranges; /* written in the statement */
    struct sequence *sequence;  /* of the derived families that are recomputed
                                   together, in turn; or NULL */
    struct affine *affine;      /* stochastic: the set that it is in, or NULL */
    enum barren_unit unit;      /* where var->barren */
    const struct step *together;
    bool for_updates; /* deterministic: made for such a set, or a table that
                         an update reads (lift.c); no density reads it */
    bool set_by_step; /* the same: its definition is what it begins with, and
                         of nodes that are observed (expected.c) */
    /* Of sums over the rows of a random group: the pass that fills the table,
     * its place in the order of such, and the leaf of which all must be
     * observed for it to be read, NULL if not of one alone (tally.c). */
    struct tally *tally;
    bool of_observed; /* a table: of leaves it takes what is observed */
    int level;
    const struct var *leaf;
    bool leaf_said;
    struct family *next_of_var, *next;
    struct family *moved; /* sequence.c */
    /* Whether its full conditional is drawn exactly, as the model stands while
     * augmentations are looked for: 1, or -1; 0: it was not asked. */
    signed char closed;
};

/* Families that feed each other element by element: the order of the elements
 * is found at load. */
enum sequence_kind {
    SEQUENCE_LOAD,    /* constants */
    SEQUENCE_START,   /* random and derived nodes, drawn forward */
    SEQUENCE_REFRESH, /* derived nodes, recomputed in a sweep */
    SEQUENCE_READ,    /* no sequence: whatever an element may read is told */
    SEQUENCE_GAPS,    /* the same as it is written, of what is surely read */
    SEQUENCE_PARENTS  /* the same of all random and derived variables, as the
                         model's text reads them */
};

struct sequence {
    enum sequence_kind kind;
    struct family **families;
    int n, number;
    struct slot *order; /* SEQUENCE_REFRESH: of (place in families, element)
                           pairs; or NULL */
    struct sequence *next;
};

/* A term of the log joint: for all instances, if `guard`, logp. */
struct factor {
    struct family *family; /* whose distribution it is */
    struct loop **loops;
    int nloops;
    symp guard; /* NULL: always */
    symp logp;  /* derived nodes substituted; without the support indicator */
    symp plain; /* the same before any augmentation */
    /* where it is not 0: lower <= value <= upper, each NULL if open or implied
     * by the data check */
    symp value, lower, upper;
    symp rule;             /* required of latent parameters; NULL: nothing */
    bool integer;          /* the support's */
    bool replaced;         /* by an augmentation: no longer in the joint */
    struct factor *joint;  /* replaced: what stands in its place; or NULL */
    struct factor *of;     /* stands there: what it replaces; or NULL */
    struct factor *actual; /* in expectation over a discrete node: what that
                              node's step sees (expected.c); or NULL */
    bool opaque;           /* observable or array density: never collect */
    struct var *seen_var;  /* leaf: drop the instances where it is not seen */
    symp seen_ref;
    struct var *copies; /* how often each row occurs, at the first of its kind;
                           or NULL: see copies.c */
    symp power;         /* of a factor of data: power.c; or NULL: 1 */
    symp turn;          /* when such data enter: power.c; or NULL */
    struct var *auxiliary; /* the node that an augmentation added, or NULL */
    const char *text;
    int number;
    struct factor *next;
};

/* What a factor says of an instance: logp, value, lower, upper, rule and guard,
 * those that there are; returns how many. Whoever asks what a factor reads, or
 * whether something leaves it as it is, goes through these. */
enum { FACTOR_EXPRESSIONS = 6 };
int model_factor_expressions(const struct factor *g, symp all[FACTOR_EXPRESSIONS]);

struct model {
    const char *name;
    struct program *program;
    struct var *vars, **last_var;
    struct family *families, **last_family;
    struct factor *factors, **last_factor;
    struct step *steps, **last_step;
    struct inverse *inverses, **last_inverse;
    struct sequence *sequences;
    struct tally *tallies; /* sweep.h */
    struct slot *slots;    /* sweep.h */
    const struct slot **load_order;
    int nslots;
    bool feeds_back; /* order.c: a forward draw takes more than one pass */
    int nfamilies, nfactors, nsteps, ninverses;
};

/* rules.c */
/* Sets each factor's rule: what its distribution requires of parameters that
 * depend on latent nodes, less what holds whatever the state. */
void model_state_rules(struct compiler *c, struct model *m);
/* All that the distribution of f requires, less what holds whatever the state:
 * elsewhere there is no draw; NULL: nothing. */
symp model_rule_of_draws(struct compiler *c, const struct family *f);
/* A rule of each element, as pi[j] >= 0, of all: how many break it is 0. Other
 * rules as they are. */
struct expr *model_rule_of_each(struct compiler *c, const struct entry *d,
                                struct expr *rule);
/* logp where g's rule holds, else minus infinity. */
symp model_under_rule(struct compiler *c, const struct factor *g, symp logp);
/* Whether a >= b whatever the state and the data, also as computed: not only
 * up to rounding. */
bool model_never_below(symp a, symp b);

/* clamp.c: max(a, e) or min(a, e), a a number and e random, inside e; or
 * NULL. */
symp model_find_clamp(symp e);
/* e without such bounds around functions of x, a scalar's reference, that are
 * not linear in it: links; and that will hardly ever bind. */
symp model_without_link_clamps(struct compiler *c, symp e, symp x);
/* The families of the statements; NULL after an error. The passes behind it are
 * in resolve.h, their order in compile.c. */
struct model *model_resolve(struct compiler *c, struct program *p);

/* consistent.c: in debug builds ends the program where a pass has left what no
 * model may have. */
void model_check(struct compiler *c, const struct model *m);

/* named.c: before model_resolve(): puts arguments that are given by name in
 * order. */
void model_order_arguments(struct compiler *c, struct program *p);
/* of_node.c: cumulative(x, v), density(x, v) and deviance(x, v) become calls of
 * the functions of x's distribution. */
void model_replace_of_node(struct compiler *c, struct program *p);
/* The factor's log density etc. from the family's distribution. */
struct factor *family_factor(struct compiler *c, struct model *m,
                             struct family *f);
/* A value as an argument of a library call: a scalar, or SYM_ARRAY. */
symp value_as_argument(struct compiler *c, const struct value *v);
/* e with every derived node that is not stored replaced by its definition. */
symp model_substitute_derived(struct compiler *c, symp e);
/* The condition that f defines the element `ref`, and the values of f's loops
 * there [MAX_LOOPS]. */
symp model_where_defined(struct compiler *c, const struct family *f, symp ref,
                         symp *solved);
void model_print(struct text *out, struct compiler *c, const struct model *m);
const char *model_role_name(enum role r);
/* A library expression at the arguments of a family. */
symp family_expression(struct compiler *c, const struct family *f,
                       const struct expr *e);
/* What a name, or an element args of it, means in f's distribution: its node,
 * an argument, an extent; NULL if it has no such name. */
symp family_named(struct compiler *c, const struct family *f, const char *name,
                  int nargs, const symp *args);
/* log of the probability that the distribution of a continuous scalar gives to
 * (lower, upper), in the loops of the family. NULL: its entry does not say. */
symp family_log_mass(struct compiler *c, const struct family *f, symp lower,
                     symp upper);
/* family_expression() of a clause that reads the names `lower` and `upper`. */
symp family_between(struct compiler *c, const struct family *f,
                    const struct expr *e, symp lower, symp upper);
/* family_expression() with `at` in the place of a free index. */
symp family_expression_at(struct compiler *c, const struct family *f,
                          const struct expr *e, const char *index, symp at);
/* The element of the left-hand side at slice places args (1-based). */
symp family_lhs(struct compiler *c, const struct family *f, int nargs,
                const symp *args);
/* Number of elements of slice number `slice` of the left-hand side. */
symp family_extent(struct compiler *c, const struct family *f, int slice);

/* inverted.c: whether all that v's statements define are inverses of whole
 * matrices, in its last two dimensions. */
bool model_holds_inverses(struct compiler *c, const struct var *v);
/* The same file: the reference to v in the array scale * v[...], which runs
 * through a whole matrix of f; v is f's variable or its inverse. NULL: it is
 * another array. */
symp model_scaled_matrix(struct compiler *c, symp array, const struct family *f,
                         const struct var *v, symp *scale);

/* products.c: the sum e where what it adds by parts of its range, in
 * differences f(j) - f(j - 1), is a number. NULL: it is not told. */
symp model_constant_sum(struct compiler *c, symp e);
/* The last subscript in dimension d of v by its statements; 0: they do not tell,
 * or something else does. */
double model_last_stated(struct compiler *c, const struct var *v, int d);
/* The same file: e, where it has to do with an element of `target`, with what
 * it reads of it through recursions that multiply, and products, in closed
 * form. NULL: there is none, or it has no such form. */
symp model_by_products(struct compiler *c, const struct model *m, symp e,
                       const struct family *target);

/* affine.c: the factor as the update of f sees it: where f's element enters
 * kept arrays in an affine way, they are sums of such as are free of it. */
struct factor *model_seen_by(struct compiler *c, const struct family *f,
                             struct factor *g);

/* sequence.c: the expressions that an element of f is computed from, NULL at
 * the end. */
symp *model_sequence_expressions(struct compiler *c, const struct family *f);
/* Whether e reads an element that g may define. */
bool model_reads_element(struct compiler *c, symp e, const struct family *g);
/* The same without definitions in the place of derived nodes. */
symp *model_written_expressions(struct compiler *c, const struct family *f);
/* Whether the elements that f draws are whole numbers. */
bool model_draws_integers(const struct family *f);
/* Whether derived node v, stored, depends on `on` through derived nodes. */
bool model_derived_depends(const struct model *m, const struct var *v,
                           const struct var *on);
/* Whether e is an element that is kept in memory and computed of `on`; and
 * whether e, as a whole, reads `on`, itself or by such elements: whatever is
 * held of e is made anew where `on` moves. */
bool model_follows(const struct model *m, symp e, const struct var *on);
bool model_reads(const struct model *m, symp e, const struct var *on);

/* element.c: which references hit the elements of a statement. */
/* The condition that ref, to f's variable, is to an element of f; NULL where
 * f's subscripts do not tell, as in X[row[k], col[k]]. */
symp model_is_element(struct compiler *c, const struct family *f, symp ref);
/* What f's loops must be for its element to be ref; false if no subscript tells
 * that of some loop. */
bool model_solve_loops(struct compiler *c, const struct family *f, symp ref,
                       symp *value);
/* e where f's loops have these values. */
symp model_at_values(struct compiler *c, const struct family *f, symp e,
                     symp const *value);
enum { MAX_MEMBERS = 32 };
/* The elements of statements; or of each only the node where its loops have
 * the values `node`. */
struct elements {
    struct family *families[MAX_MEMBERS];
    int n;
    const symp *node;
    bool alone; /* e reads no others of their arrays */
};
/* e where these elements are 0; `told` is false if some may be left. */
symp model_without_elements(struct compiler *c, symp e,
                            const struct elements *of, bool *told);
/* The same; where one statement fills its array but for cells that are data,
 * these are 0 as well. */
symp model_without_arrays(struct compiler *c, symp e,
                          const struct elements *of);
/* Numbers the families in their order. */
void family_number(struct model *m);
/* All n families, in order. */
struct family **family_list(struct compiler *c, const struct model *m, int *n);

/* names.c: what the program calls the model's variables; the same for one that
 * is added later. A name as no identifier of the program's own is spelled. */
void model_name_in_c(struct compiler *c, struct model *m);
void model_name_added_in_c(struct compiler *c, const struct model *m,
                           struct var *v);
const char *model_marked_name(struct compiler *c, const char *name);

/* constants.c: a reference to a constant of the program whose definition is e,
 * at the loops that e stands in. NULL if their ends depend on other loops, or
 * on what is not data. Requires that data settle e. */
symp model_constant_of(struct compiler *c, struct model *m, symp e);
/* The same of what is computed anew whenever what it reads has moved; no
 * density of the model reads it, updates do. The loops of `outer`, if it is not
 * NULL, are its first dimensions. */
symp model_table_of(struct compiler *c, struct model *m, symp e, symp outer);
/* A hidden array NAME.1, or with the next number that is free, whose only
 * family f is, with a cell for each value of its loops; f is not in the list
 * yet. */
struct var *model_new_array(struct compiler *c, struct model *m,
                            const char *name, struct family *f);
/* Summaries of given arrays inside loops, as in x[i] - mean(x[]), become
 * constants; so do lists of numbers. */
void model_keep_summaries(struct compiler *c, struct model *m);
/* The ends of statements' loops and ranges that summarise arrays, or take what
 * a random variable is observed to be, become constants, too; an error where
 * one hangs on what is drawn. Requires roles. */
void model_keep_ends(struct compiler *c, struct model *m);

/* barren.c: its distribution tells how to draw from it. */
bool model_can_be_drawn(const struct family *f);

/* The condition under which an instance counts: of a leaf, that it is seen;
 * else that it, or a descendant, is. NULL: all count. Known after sweep_plan().
 */
symp model_counted_instances(const struct factor *g);
/* Whether x is a whole number whatever the state. */
bool model_is_integer(symp x);
/* The same of what stands in a subscript as a real number. */
bool model_is_whole(symp x);
/* Whether counts alone, or a number that is tried, settle e beside data. */
bool model_counts_settle(symp e);
/* Whether the state makes it any number, and not whole ones alone. */
bool model_is_continuous(symp x);
/* A count, as of a Bernoulli node, that may be 0. */
bool model_may_be_no_count(symp x);
/* Whether a reference may lie outside its array at some state: then what is
 * read there is no number, and the density of the state is none. The same of
 * one subscript. */
bool model_may_miss(symp ref);
bool model_subscript_may_miss(symp ref, int d);
/* Whether f is what is recomputed when v has moved. */
bool model_recomputed_with(const struct model *m, const struct family *f,
                           const struct var *v);
/* False if `reference`, to f's variable, surely is of other statements'
 * elements: fixed subscripts differ. */
bool family_may_have(const struct family *f, symp reference);
/* Whether e may read an element of f. */
bool family_is_read(const struct family *f, symp e);
/* Each loop of f is one of its subscripts, plus a constant, and no loop's
 * bounds depend on another: elements can be told from cells. */
bool family_plain(struct compiler *c, const struct family *f);
/* No loop's bounds depend on another loop of f. */
bool family_rectangular(const struct family *f);
/* How many elements f has, if it is rectangular. */
symp family_elements(struct compiler *c, const struct family *f);
/* What a family is called, in the program and for readers. */
const char *family_id(struct compiler *c, const struct family *f);
/* Calls test on every node of every expression of f, of its left-hand side
 * too if with_lhs; true if it was for one of them. */
bool family_any(const struct family *f, sym_test test, const void *context,
                bool with_lhs);
const char *family_label(struct compiler *c, const struct family *f);

#endif
