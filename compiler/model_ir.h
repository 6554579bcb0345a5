/* model_ir.h: what the passes after the parser work on. Included by gbmc.h. */
#ifndef GBMC_MODEL_IR_H
#define GBMC_MODEL_IR_H

/* Most dimensions of an array: GBM_MAX_DIMS of the runtime. */
#define MAX_DIMS 8
/* Most loops around a statement, with the slices of its left-hand side. */
#define MAX_LOOPS 12

/* ---- algebra.c: symbolic expressions -------------------------------------
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
};
typedef const struct sym *symp; /* the one typedef: it stands everywhere */

/* A loop of a statement, or the bound index of a sum or array (range NULL). */
struct loop {
    const char *name;
    symp lower, upper;
};

symp sym_num(struct compiler *c, double x);
symp sym_loop(struct compiler *c, struct loop *loop);
symp sym_ref(struct compiler *c, struct var *v, int nargs, const symp *args);
symp sym_seen(struct compiler *c, struct var *v, int nargs, const symp *args);
symp sym_live(struct compiler *c, symp ref);
symp sym_extent(struct compiler *c, struct var *v, int dim);
symp sym_target(struct compiler *c);
symp sym_param(struct compiler *c, const char *name);
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
/* 1 - ilogit(a) as ilogit(-a); any other e as it is. Not done wherever one is
 * built, as there 1 - p + p must stay 1. */
symp sym_join_complement(struct compiler *c, symp e);
symp sym_neg(struct compiler *c, symp a);
symp sym_div(struct compiler *c, symp a, symp b);
symp sym_eq(struct compiler *c, symp a, symp b); /* the condition a == b */
symp sym_and(struct compiler *c, symp a, symp b);
symp sym_log(struct compiler *c, symp a);

/* Name of a call: of the numbers args[1 ...], number args[0]. */
#define SYM_LIST "number of"
bool sym_is_list(symp e);

bool sym_is(symp e, double number);
bool sym_same(symp a, symp b);
/* constants.c: the same but for the names of bound indices. */
bool sym_alike(symp a, symp b);
/* Rebuilds e with new children (same kind), simplifying. */
symp sym_rebuild(struct compiler *c, symp e, const symp *args);
/* Replaces every node for which `f` returns non-NULL (outermost first). */
typedef symp (*sym_rewrite)(struct compiler *c, symp node, void *context);
symp sym_map(struct compiler *c, symp e, sym_rewrite f, void *context);
/* e built again: more may be known of the signs of its variables by now. */
symp sym_again(struct compiler *c, symp e);
symp sym_replace_loop(struct compiler *c, symp e, const struct loop *loop,
                      symp by);
symp sym_replace(struct compiler *c, symp e, symp what, symp by);
/* Is the test true of e or of anything inside it? */
typedef bool (*sym_test)(symp e, const void *context);
bool sym_any(symp e, sym_test test, const void *context);
bool sym_has_loop(symp e, const struct loop *loop);
bool sym_has_loop_of(symp e, struct loop *const *loops, int n);
bool sym_has_any_loop(symp e);
/* Whether e depends on elements of arrays. */
bool sym_has_cells(symp e);
/* Tests for sym_any: a reference to what is neither data nor a constant; a
 * random draw; a reference to the variable; the same, or an extent of it. */
bool is_latent(symp e, const void *unused);
bool sym_is_draw(symp e, const void *unused);
bool reads_var(symp e, const void *var);
bool reads_var_or_extent(symp e, const void *var);
/* Whether e changes from sweep to sweep: it reads more than given nodes. */
bool reads_latent(symp e);
bool sym_has_var(symp e, const struct var *v);
bool sym_has(symp e, symp what);
bool sym_has_target(symp e);
/* True if e > 0 whatever the state. */
bool sym_positive(symp e);
/* The number that a - b is, if it is one. */
bool sym_difference(struct compiler *c, symp a, symp b, double *out);
/* What e is at most, where it is a number or the smallest of some; else
 * infinite. */
double largest_of(symp e);
void sym_print(struct text *out, symp e);
const char *sym_text(struct compiler *c, symp e);

/* A sum of coefficient * statistic(x), x = SYM_TARGET; coefficients are free
 * of x. What does not contain x is left in `rest`. */
struct collected {
    symp statistic[24], coefficient[24];
    int n;
    symp rest;
    bool overflow; /* more than 24 statistics */
};
/* Splits e into statistics of the target. `positive`: x > 0 is known. A term
 * that resists stays whole as a statistic (then it may contain anything). */
void sym_collect(struct compiler *c, symp e, bool positive,
                 struct collected *out);
/* Derivative by `wrt`: an SYM_REF whose subscripts are free of bound indices.
 * References to the same variable with other subscripts give the condition
 * that they are equal. NULL if a function without derivative is in the way. */
symp sym_derivative(struct compiler *c, symp e, symp wrt);

/* ---- resolve.c -------------------------------------------------------- */
enum role {
    ROLE_GIVEN,
    ROLE_CONSTANT,
    ROLE_STOCHASTIC,
    ROLE_DERIVED,
    ROLE_AUXILIARY
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
    bool indexes;      /* used as a subscript or loop bound */
    bool hidden;       /* holds an array function's result */
    bool used;         /* some statement reads it */
    bool supplied;     /* stochastic, and nothing here draws it: data */
    bool seen_asked;   /* updates ask which cells are observed */
    struct var *whole; /* these are the random elements of this array
                          (mixed.c), or those that are data (gaps.c) */
    struct var *given; /* the other way round, of data; or NULL */
    struct var *rest_of, *slope_of; /* affine.c: arrays that this is part of */
    const struct gathered *gathered; /* its elements are scalars that have
                                        names of their own; or NULL */
    int ndim;                        /* -1: not known yet */
    symp declared[8];                /* extents of `var x[N]`, or NULL */
    struct family *families;
    int degree;            /* affine.c: in the members of the set at hand */
    double expanded, work; /* derived.c: nodes of its definition, others' in it,
                              and how many of them a value takes */
    int slot, seen_slot;
    int walk; /* resolve.c: the last that came here */
    struct var *next;
    /* auxiliary: its support and full conditional, if stated */
    symp draw;
    const struct entry *augmentation;
};

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
    const char *text;
    int number; /* order of emission */
    struct factor *factor;
    bool recursive; /* deterministic and reads its own variable */
    bool of_data;   /* an element of a stochastic array that must turn out to
                       be a function of observed nodes (mixed.c) */
    bool constant;  /* deterministic: a function of given nodes alone */
    int table_slot; /* of its loop indices, if it is ragged */
    struct range_check *ranges; /* written in the statement */
    struct sequence *sequence;  /* of the derived families that are recomputed
                                   together, in turn; or NULL */
    struct affine *affine;      /* stochastic: the set that it is in, or NULL */
    enum barren_unit unit;      /* where var->barren */
    const struct step *together;
    bool expansion; /* deterministic: made for such a set */
    struct family *next_of_var, *next;
    struct family *moved; /* sequence.c */
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
    int slot; /* SEQUENCE_REFRESH: of (place in families, element) pairs */
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
    symp rule;            /* required of latent parameters; NULL: nothing */
    bool integer;         /* the support's */
    bool replaced;        /* by an augmentation: no longer in the joint */
    bool opaque;          /* observable or array density: never collect */
    struct var *seen_var; /* leaf: drop the instances where it is not seen */
    symp seen_ref;
    struct var *copies; /* how often each row occurs, at the first of its kind;
                           or NULL: see copies.c */
    struct var *auxiliary; /* the node that an augmentation added, or NULL */
    const char *text;
    int number;
    struct factor *next;
};

struct model {
    const char *name;
    struct program *program;
    struct var *vars, **last_var;
    struct family *families, **last_family;
    struct factor *factors, **last_factor;
    struct step *steps, **last_step;
    struct inverse *inverses, **last_inverse;
    struct sequence *sequences;
    int nfamilies, nfactors, nsteps, ninverses;
};

/* rules.c */
/* Sets each factor's rule: what its distribution requires of parameters that
 * depend on latent nodes, less what holds whatever the state. */
void state_rules(struct compiler *c, struct model *m);
/* logp where g's rule holds, else minus infinity. */
symp under_rule(struct compiler *c, const struct factor *g, symp logp);
/* Whether a >= b whatever the state and the data, also as computed: not only
 * up to rounding. */
bool sym_never_below(symp a, symp b);
/* Puts the rules into the parts of a step that evaluates densities. */
void keep_rules(struct compiler *c, struct step *s);

/* clamp.c: max(a, e) or min(a, e), a a number and e random, inside e; or
 * NULL. */
symp find_clamp(symp e);
/* e without such bounds around functions of x, a scalar's reference, that are
 * not linear in it: links; and that will hardly ever bind. */
symp without_link_clamps(struct compiler *c, symp e, symp x);

/* library.c */
struct library;
/* Adds the model's own entries, before any name is looked up. */
void library_add_own(struct compiler *c, const struct program *p);
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

struct model *resolve(struct compiler *c, struct program *p);

/* named.c: before resolve(): puts arguments that are given by name in order. */
void order_arguments(struct compiler *c, struct program *p);
/* The factor's log density etc. from the family's distribution. */
struct factor *factor_of_family(struct compiler *c, struct model *m,
                                struct family *f);
/* e with every derived node that is not stored replaced by its definition. */
symp substitute_derived(struct compiler *c, symp e);
void model_print(struct text *out, struct compiler *c, const struct model *m);
/* A library expression at the arguments of a family. */
symp family_expression(struct compiler *c, const struct family *f,
                       const struct expr *e);
/* The same with `at` in the place of a free index. */
symp family_expression_at(struct compiler *c, const struct family *f,
                          const struct expr *e, const char *index, symp at);
/* The element of the left-hand side at slice places args (1-based). */
symp family_lhs(struct compiler *c, const struct family *f, int nargs,
                const symp *args);
/* Number of elements of slice number `slice` of the left-hand side. */
symp family_extent(struct compiler *c, const struct family *f, int slice);
/* e = loop + offset: the loop, or NULL. */
const struct loop *sym_plain_loop(struct compiler *c, symp e, symp *offset);

/* affine.c: the factor as the update of f sees it: where f's element enters
 * kept arrays in an affine way, they are sums of such as are free of it. */
struct factor *seen_by(struct compiler *c, const struct family *f,
                       struct factor *g);
/* The same for several families; NULL if they see it in different ways. */
struct factor *seen_by_all(struct compiler *c, struct step *const *steps, int n,
                           struct factor *g);

/* sequence.c: the expressions that an element of f is computed from, NULL at
 * the end. */
symp *sequence_expressions(struct compiler *c, const struct family *f);
/* The same without definitions in the place of derived nodes. */
symp *written_expressions(struct compiler *c, const struct family *f);

bool is_integer_distribution(const struct entry *d);
/* Whether the elements that f draws are whole numbers. */
bool draws_integers(const struct family *f);

/* ---- alignment.c ------------------------------------------------------ */

/* Along dimension `dim` of a target: cells of a stored derived variable depend
 * on the target's elements that have `key` there, and on no others. */
struct aligned_place {
    const struct var *var;
    symp key; /* in at[d], the cell's subscripts; NULL: on any element */
};
struct alignment {
    int dim;
    struct loop *at[MAX_DIMS];
    struct aligned_place *places; /* the target's first */
    int n;
    struct alignment *next;
};
struct alignment *find_alignments(struct compiler *c, const struct model *m,
                                  const struct family *target);
/* The only subscript, in the loops of g, at which g reads what is aligned; NULL
 * if there is none such. */
symp aligned_at(struct compiler *c, const struct alignment *a,
                const struct factor *g);
/* Whether deterministic family f reads what is aligned. */
bool reads_aligned(struct compiler *c, const struct alignment *a,
                   const struct family *f);
/* Whether all that depends on the target has a key. */
bool all_have_keys(const struct alignment *a);

/* ---- condition.c ------------------------------------------------------ */

/* The instances of a factor that mention a target through one reference: the
 * factor's loops under fresh names, each solved (its value follows from the
 * target's subscripts) or free; or all of them taken from an inverse index. */
struct hoisted;
struct part {
    struct factor *factor;
    symp reference; /* in the fresh loops; NULL: the own prior */
    struct loop **loops;
    symp *solved; /* per loop: its value, or NULL if it is free */
    int nloops;
    struct inverse *inverse; /* not NULL: instances come from it */
    symp cell; /* with inverse: where it is looked up; NULL: the target's own */
    symp guard;               /* NULL: none */
    bool own;                 /* the target's own prior */
    struct collected terms;   /* statistics free of the instance's loops */
    bool opaque;              /* evaluated in place at each trial value */
    symp resists;             /* why: no statistic, as it has their loops */
    bool ruled;               /* the factor's rule is kept */
    symp logp;                /* of an instance, in the fresh loops */
    symp value, lower, upper; /* its indicator in place, where x is in it */
    symp hit;   /* of a pair's step: which of its cells the instances mention */
    bool prior; /* there: it is that cell's own */
    symp
        copies; /* of an opaque part: how often to take the instance; NULL: 1 */
    struct hoisted *hoisted; /* of an opaque part, or NULL: see hoist.c */
    struct part *summed;     /* the same terms, summed over the instances, where
                                the factor's node is observed throughout; or NULL:
                                see row_sums.c */
    symp *sizes; /* of a summed part: of each coefficient, what its products add
                    up to in absolute value, where they may cancel; NULL: they
                    cannot */
    symp needs;  /* with sizes: the condition to use it at all; NULL: none */
    struct part *next;
};
struct inverse {
    struct var *var;
    struct factor *factor;
    symp reference; /* in the factor's own loops; of a reach: any cell */
    bool latent;
    /* Not NULL: the instances are all that a cell of this family reaches
     * through stored derived nodes, listed at load; of a sequence, places in
     * its order. */
    const struct family *reach;
    int number;
    int start_slot, item_slot;
    struct inverse *next;
};

enum method {
    METHOD_DIRECT,    /* a recognised family */
    METHOD_ENUMERATE, /* finite support: all values tried */
    METHOD_SLICE,
    METHOD_SLICE_INTEGER,
    METHOD_GAUSSIAN,     /* small Gaussian block, one per element */
    METHOD_DENSE,        /* Gaussian block with a design matrix */
    METHOD_JOINT,        /* sparse Gaussian block of several families */
    METHOD_VECTOR,       /* Dirichlet, Wishart, ...: recognised whole */
    METHOD_SLICE_VECTOR, /* a vector node, component by component */
    METHOD_PAIR,         /* two summands of an observed sum: it is kept */
    METHOD_WALK,         /* random-walk Metropolis */
    METHOD_ADAPTIVE,     /* adaptive Metropolis, a group of nodes jointly */
    METHOD_ELLIPTICAL,   /* elliptical slice: an element or a group */
    METHOD_CHAIN,        /* forward filtering, backward sampling of a path */
    METHOD_FORWARD,      /* leaf: drawn from its prior */
    METHOD_STATED,       /* an augmentation's `draw` */
    METHOD_INDEX,        /* rebuild an inverse index */
    METHOD_DERIVE,       /* recompute a stored derived family */
    METHOD_NONE          /* merged into another step's block */
};

/* x must be >= / <= value at every instance of a part. */
struct bound {
    struct part *part;
    bool is_lower;
    symp value;
    symp child; /* the stochastic node whose density bounds x; or NULL */
    struct bound *next;
};
struct conflict {
    struct factor *factor;
    symp references[8];       /* in the factor's loops */
    struct loop *bound[8][4]; /* indices of sums in a reference */
    int nbound[8];
    int nreferences;
    bool sums; /* some reference is inside a sum */
    struct conflict *next;
};

/* The loops that run through a member's coordinates, outermost first; none:
 * one coordinate. */
struct indices {
    struct loop *loops[4];
    int n;
};
/* One family inside a Gaussian block. Its coordinates at an element are one
 * cell, or those that `index` runs through (a vector node, or the elements of
 * a plate whose sum enters the likelihood). */
struct member {
    struct family *family;
    struct indices index;
    symp count; /* number of coordinates */
};
/* A factor's contribution to a Gaussian block, at each instance of a part:
 * potential[i] and precision[i][j] of members i, j, in their indices (the
 * second member's index renamed to index2 where i == j). */
struct quadratic {
    struct part *part;
    symp potential[8];
    symp precision[8][8]; /* NULL: zero */
    /* dense: through one linear predictor a'x */
    bool row;
    symp weight, score, design[8];
    struct var *matrix; /* the design is this given matrix, as it is */
    bool constant_design, constant_weight;
    bool constant_score; /* beside the weight, where the factor's node is data
                          */
    struct quadratic *summed; /* as of a part */
    struct quadratic *next;
};

/* A summand of an observed sum: weight * cell, at each index if there is one.
 */
struct summand {
    symp cell; /* in the loops of the sum's family, and the index */
    double weight;
    struct loop *index; /* NULL: one cell */
    struct summand *next;
};

/* One coefficient of a joint block's row: of the cell `reference`, or of those
 * that it hits while the bound loops of sums run. */
struct joint_slot {
    symp reference, coefficient; /* in the factor's loops and the bound ones */
    struct loop *bound[4];
    symp lower[4], upper[4];
    int nbound;
    int variable; /* its number among the block's variables */
};
/* A factor's contribution to a joint block: at each instance
 * scale (-weight/2 (a'x)^2 + score a'x), where the slots make up a. */
struct joint_term {
    struct factor *factor;
    struct joint_slot *slots;
    int nslots;
    symp weight, score, scale;
    bool constant_design, constant_weight, constant_score;
    /* not quadratic: L(offset + a'x); L and its derivatives, where
     * joint_eta() stands for its argument */
    bool curved;
    bool mirrored; /* -eta stands in it, too */
    symp offset, value, slope, curvature;
    symp unbounded; /* the value without bounds around links: what slope and
                       curvature are of; NULL: it has none such */
    symp predictor; /* eta, where it stands */
    /* a vector's own prior, or NULL: rows are pairs of its cells, numbers
     * pair[0] and pair[1], no slots; weight is that of the product of both */
    struct family *vector;
    struct loop *pair[2];
    struct joint_term *next;
};
/* A plate of a block with the scale of its prior, u ~ N(m, 1 / scale), and the
 * one node on which the scale depends, as its power: both can be moved along
 * the line on which (u - m) sqrt(scale) stays. */
struct rescaling {
    struct family *hyper;
    const struct part *parts; /* of the hyper node's conditional */
    struct joint_term *term;  /* the plate's prior */
    int number;               /* of the term */
    int slot;                 /* the plate's own cell in it */
    int variable;             /* the plate's, among the block's */
    double sign;              /* of the cell in the predictor */
    bool chain;               /* earlier cells of the plate are in it too */
    double power;             /* scale = constant * hyper^power */
    /* of a vector: what the hyper node's log has in the prior's density as its
     * coefficient; NULL: as much as belongs to the elements of a plate */
    symp order;
    struct rescaling *next;
};

enum { MAX_MEMBERS = 32 };

/* A slice along a component of a vector or matrix node takes the cell along
 * that keeps the node in its support. */
enum companion {
    COMPANION_NONE,   /* any vector will do */
    COMPANION_SUM,    /* another cell: their sum is kept */
    COMPANION_MIRROR, /* of a symmetric matrix: the mirror image */
    COMPANION_NORM    /* of a correlation's upper Cholesky factor: the
                         column's diagonal cell; its norm stays 1 */
};

struct step {
    enum method method;
    const char *name;      /* update_theta */
    struct family *family; /* the target; first member of a block */
    struct part *parts;
    /* distinct statistics of all collected parts */
    symp statistics[24];
    int nstatistics;
    bool opaque;  /* some part is evaluated in place */
    bool through; /* some factor depends on x through stored derived nodes */
    struct alignment *alignments; /* what an element reaches of those */
    struct part *reached;         /* their instances, in order of computation;
                                     NULL: all */
    const struct entry *recognised;
    int place[24];     /* statistic i is number place[i] of the family */
    symp exponent;     /* what an x^p pattern bound, or NULL */
    symp lower, upper; /* the own support and truncation; NULL: open */
    struct bound *bounds;
    bool bounded; /* the draw must respect bounds beyond the family's
                     own support */
    int blocks;   /* of random numbers to compute ahead, of each element */
    const char *first_draw; /* C function that the update draws with first */
    bool split;             /* emitted as prepare_..., finish_... */
    bool sequential;
    struct conflict *conflicts;
    struct member members[MAX_MEMBERS];
    struct indices index2[MAX_MEMBERS];
    int nmembers;
    struct joint_term *terms; /* METHOD_JOINT */
    int joint_slot;           /* of its table; constants and work follow */
    bool curved;              /* METHOD_JOINT: some term is */
    struct rescaling *rescalings;
    bool beside; /* a slice that a joint block has beside it */
    struct quadratic *quadratics;
    bool coupled_prior;       /* dense: priors couple coordinates */
    const char *asked;        /* for by samplers { }: the method's word */
    double width;             /* of slice or steps at first; 0: not given */
    bool whole;               /* all elements of all members move as one */
    struct part *priors;      /* elliptical: the members' own */
    bool alone;               /* element by element, as `enumerate` asks */
    int along;                /* chain: the loop it runs through */
    symp before;              /* chain: the predecessor of an element */
    enum companion companion; /* slice by component: what moves with it */
    bool late;                /* for what is kept alone, after the sweep */
    struct step *after; /* METHOD_DERIVE, METHOD_INDEX: that makes it due */
    struct step *rest;  /* METHOD_FORWARD: a normal vector node's cells that are
                           not seen, given those that are; NULL: none */
    struct inverse *inverse; /* METHOD_INDEX */
    struct part *ties;       /* instances that hold an element fast */
    struct summand pair[2];  /* METHOD_PAIR; each with an index of its own */
    int number;
    const struct model *model;
    struct step *next;
};

void condition(struct compiler *c, struct model *m);
/* The step for one family: parts, statistics, method; not added to m. */
struct step *condition_family(struct compiler *c, struct model *m,
                              struct family *f);
/* Whether derived node v, stored, depends on `on` through derived nodes. */
bool derived_depends(const struct model *m, const struct var *v,
                     const struct var *on);
/* How a step samples, in a word or two. */
const char *method_name(const struct step *s);
void conditionals_print(struct text *out, struct compiler *c,
                        const struct model *m);

/* observed_sum.c: the summands of an observed sum; false after an error. */
bool summands_of(struct compiler *c, const struct family *f,
                 struct summand **out);
/* The prior of each family that cell may belong to, as parts. */
struct part *priors_of_cell(struct compiler *c, struct model *m, symp cell);

/* recognise.c: sets method, recognised, place, exponent of a scalar step. */
void recognise(struct compiler *c, struct step *s);
/* Whether distribution e is the normal: on the whole line, with statistics x
 * and x^2. */
bool is_normal(const struct entry *e);
/* Which parameter of a normal distribution is its mean; -1: it is none. */
int normal_mean(struct compiler *c, const struct entry *e);

/* block.c: merges jointly Gaussian steps into blocks; vector nodes. */
void form_blocks(struct compiler *c, struct model *m);
/* Whether the step draws a scalar from a normal full conditional. */
bool normal_scalar(const struct step *s);
/* Whether its own prior ties elements: x[t] given x[t-1]. */
bool chained(const struct step *s);
/* Whether its elements meet in a likelihood. */
bool coupled(const struct step *s);
/* The loops of f and g are the same. */
bool same_plate(struct compiler *c, const struct family *f,
                const struct family *g);
/* Its subscripts are its loops. */
bool plain_plate(struct compiler *c, const struct family *f);
/* Both are in one factor that is neither's own prior. */
bool share_likelihood(const struct step *a, const struct step *b);
/* `block` takes the place of old[0]; the others are marked METHOD_NONE. */
void replace_steps(struct step *const *old, int n, struct step *block);

/* element.c: which references hit the elements of a statement. */
/* The condition that ref, to f's variable, is to an element of f; NULL where
 * f's subscripts do not tell, as in X[row[k], col[k]]. */
symp is_element(struct compiler *c, const struct family *f, symp ref);
/* e where f's loops have these values. */
symp at_values(struct compiler *c, const struct family *f, symp e,
               symp const *value);
/* The elements of statements; or of each only the node where its loops have
 * the values `node`. */
struct elements {
    struct family *families[MAX_MEMBERS];
    int n;
    const symp *node;
    bool alone; /* e reads no others of their arrays */
};
/* e where these elements are 0; `told` is false if some may be left. */
symp without_elements(struct compiler *c, symp e, const struct elements *of,
                      bool *told);
/* The same; where one statement fills its array but for cells that are data,
 * these are 0 as well. */
symp without_arrays(struct compiler *c, symp e, const struct elements *of);

/* joint.c: sparse joint blocks of families that enter common linear
 * predictors, before smaller ones are formed. */
void form_joint_blocks(struct compiler *c, struct model *m);
/* joint_vector.c: a vector family's normal prior as terms of a joint block;
 * NULL: it is not normal, or its extent is not the same for all. */
struct joint_term *vector_prior_terms(struct compiler *c, const struct model *m,
                                      struct family *f);
/* rescale.c: the plates of a block that can be moved with their scales. */
void find_rescalings(struct compiler *c, struct model *m, struct step *block);
/* What stands for the linear predictor in a curved term. */
symp joint_eta(struct compiler *c);
/* The block's variables, each once; returns their number. */
int joint_variables(const struct step *s, struct var **out);
/* Whether a vector node's full conditional is of a known family. */
bool vector_closed(struct compiler *c, struct model *m, struct step *s);

/* A scalar or vector family's prior as a part of its full conditional. */
struct part *own_prior(struct compiler *c, const struct family *f);

/* Sets the step's only quadratic to the vector node's own prior, if that is
 * normal given the rest. */
bool gaussian_prior(struct compiler *c, struct step *s);

/* group.c: variables that move together, as `am` and `ess` want them: the
 * steps of the group are merged into the first. `where` is for errors. */
void take_adaptive(struct compiler *c, struct model *m, struct step *const *s,
                   int n, struct span where);
void take_elliptical(struct compiler *c, struct model *m, struct step *const *s,
                     int n, struct span where);

/* A normal prior's log density: potential x + square x^2; of one part, and of
 * a step that has such a prior. */
void normal_terms(struct compiler *c, const struct part *own, symp *potential,
                  symp *square);
void normal_prior_terms(struct compiler *c, const struct step *s,
                        symp *potential, symp *square);
/* The ellipse of a vector node alone; false if its prior is not normal. */
bool elliptical_vector(struct compiler *c, struct step *s);

/* chain.c: discrete nodes that depend on their predecessor are drawn as paths.
 */
void form_chains(struct compiler *c, struct model *m);

/* Numbers the families in their order. */
void number_families(struct model *m);
/* names.c: what the program calls the model's variables; the same for one that
 * is added later. A name as no identifier of the program's own is spelled. */
void name_in_c(struct compiler *c, struct model *m);
void name_added_in_c(struct compiler *c, const struct model *m, struct var *v);
const char *marked_name(struct compiler *c, const char *name);

/* augment.c: applies the library's augmentations where they close a full
 * conditional. */
void augment(struct compiler *c, struct model *m);

/* choose.c: what samplers { } asks for: before blocks are formed, and whether
 * its promises hold, after. */
void choose_samplers(struct compiler *c, struct model *m);
void check_samplers(struct compiler *c, const struct model *m);
/* Whether it asks for a sampler that needs no closed form for f. */
bool asked_otherwise(const struct model *m, const struct family *f);
/* Whether `samplers {}` asks for enumerate. */
bool asked_to_enumerate(const struct model *m, const struct family *f);

/* constants.c: a reference to a constant of the program whose definition is e,
 * at the loops that e stands in. NULL if their ends depend on other loops, or
 * on what is not data. Requires that data settle e. */
symp constant_of(struct compiler *c, struct model *m, symp e);
/* Summaries of given arrays inside loops, as in x[i] - mean(x[]), become
 * constants; so do lists of numbers. */
void keep_summaries(struct compiler *c, struct model *m);

/* row_sums.c: terms that are sums over rows of data, from sums computed at
 * load. */
void sum_rows(struct compiler *c, struct model *m);

/* copies.c: rows that are the same, evaluated once. */
void count_copies(struct compiler *c, struct model *m);
enum { COMPARED_MOST = 20000 }; /* rows beyond are taken once each */

/* barren.c: its distribution tells how to draw from it. */
bool can_be_drawn(const struct family *f);

/* barren.c: the steps that draw forward, behind all others, in the order of the
 * families: of leaves, and of what turns out at load to have no observed
 * descendant. Requires blocks. */
void add_forward_steps(struct compiler *c, struct model *m);
/* The condition under which an instance counts: of a leaf, that it is seen;
 * else that it, or a descendant, is. NULL: all count. Known after plan(). */
symp counted_instances(const struct factor *g);

/* plan.c: the order of the sweep, inverse indices, derived nodes to keep. */
void plan(struct compiler *c, struct model *m);

/* ---- hoist.c ------------------------------------------------------------ */

/* An opaque part made ready for many trial values: `value` i is computed once
 * per update (and per instance, if `column`) and called name[i] in `body`, the
 * log density of an instance up to a constant, in the target and `moved`, the
 * target less its old value. */
#define HOISTED_MOST 24
struct hoisted {
    symp value[HOISTED_MOST], body;
    symp slope; /* of further terms, linear in the target; or NULL */
    const char *name[HOISTED_MOST];
    bool column[HOISTED_MOST];
    int n;
    bool loop;  /* there may be many instances */
    bool moved; /* body asks for it */
};

void hoist(struct compiler *c, struct model *m);
/* Of terms of a log density, those that distinguish whether a node
 * other than the target's is 0 or 1 become one; what is merged becomes 0. */
void merge_cases(struct compiler *c, symp *terms, int n,
                 const struct var *target);
/* For --emit=plan. */
void hoisted_print(struct text *out, struct compiler *c, const struct step *s);

/* ---- emit_expression.c: expressions as C that is CUDA C too ------------ */

/* One function being written. Sums, draws and array arguments become
 * statements before the expression that uses them. */
struct emitter {
    struct compiler *c;
    struct text *out;
    int indent;
    struct {
        const struct loop *loop;
        const char *name;
    } loops[512];
    int nloops;
    const char *names[4096]; /* identifiers of this function */
    int nnames;
    const char *target; /* what SYM_TARGET is called */
    bool team;          /* outermost sums are shared out among lanes */
    bool clamped;       /* log(a - b) is that of 0 where rounding makes a < b */
    struct {
        const char *name, *as;
        symp value; /* a number, if it is known to be one; or NULL */
    } params[64];   /* what SYM_PARAM is called */
    int nparams;
    struct {
        symp value;
        const char *name;
    } shared[64]; /* computed before, in a variable: emit_shared.c */
    int nshared;
    bool shares;           /* sums are remembered where they are computed */
    const char *shared_if; /* they exist if this holds; NULL: always */
    /* emit_open_part: what is shared in these is computed before the innermost
     * loop; NULL: nothing is. */
    const struct hoisted *in_rows;
};
void emit_line(struct emitter *e, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* A line in which $ stands for the text of a cell, @ for its place. */
void emit_filled(struct emitter *e, const char *format, const char *cell,
                 const char *place);
/* An identifier not used yet in this function: one of our own, from `base`; one
 * for something of the model, or of a library file, that is called `name`. */
const char *emit_name(struct emitter *e, const char *base);
const char *emit_name_of_model(struct emitter *e, const char *name);
/* C text of an expression; appends the statements that it needs. */
const char *emit_expr(struct emitter *e, symp x);
const char *emit_int(struct emitter *e, symp x);
const char *emit_in_brackets(struct emitter *e, symp x);
/* Enters a loop index into scope under a name that is free. */
const char *emit_loop_name(struct emitter *e, const struct loop *loop);
/* Enters it under a name that is there. */
void emit_loop_as(struct emitter *e, const struct loop *loop, const char *name);
void emit_param(struct emitter *e, const char *name, const char *as);
/* 0-based flat cell of a reference. */
const char *emit_cell(struct emitter *e, const struct var *v, symp const *args);
bool sym_is_integer(symp x);
bool sym_may_miss(symp ref);
/* A sum or choice of logs of what is not known to be positive. */
bool sym_may_be_infinite(symp x);
/* An array argument as a pointer to contiguous `real`s. */
const char *emit_array(struct emitter *e, symp array);

/* emit_shared.c: computes now what in x has sums over what is in scope, so that
 * the loops opened next need not. The caller restores nshared after them. */
void emit_shared(struct emitter *e, symp x);
/* From here `name` holds the value of x; while it is in scope and the state
 * stays. */
void emit_remember(struct emitter *e, symp x, const char *name);
/* The variable that holds x, or NULL. */
const char *emitted_before(const struct emitter *e, symp x);

/* ---- emit_step.c, emit_family.c: the functions of steps and families ---- */
void emit_step(struct compiler *c, struct text *out, struct step *s);
void emit_family(struct compiler *c, struct text *out, struct model *m,
                 struct family *f);
/* Opens a function of s and `element`: its loop indices are in scope. */
void open_element_function(struct emitter *e, const struct family *f,
                           const char *head);
bool loops_in_scope(const struct emitter *e, symp x);
/* The index of what d states for each element, the j of alpha[j] > 0, or
 * NULL. */
const char *free_index(const struct entry *d, const struct expr *e);
/* Opens loops over the slices of f's left-hand side; at[] are the places from
 * 1. Returns the braces to close. */
int emit_open_slices(struct emitter *e, const struct family *f, symp *at);
/* Whether f's elements may read random or derived ones. */
bool has_parents(const struct family *f);
/* int i = ..., j = ...: a family's loop indices from `element` */
void emit_decode(struct emitter *e, const struct family *f,
                 const char *element);
/* Where the items of a cell begin and end in an inverse index. */
const char *emit_index_begin(struct emitter *e, const struct inverse *i,
                             const char *cell);
const char *emit_index_end(struct emitter *e, const struct inverse *i,
                           const char *cell);
/* Recomputes what is at a place of the order of a sequence. */
void emit_sequence_place(struct emitter *e, const struct sequence *q,
                         const char *place);
/* Opens the loops over a part's instances; close with emit_close. */
int emit_open_part(struct emitter *e, const struct part *p, bool team);
/* count += the number of a part's instances, or more. */
void emit_count_part(struct emitter *e, const struct part *p,
                     const char *count);
void emit_close(struct emitter *e, int braces);
/* Whether the part's instances are shared out among lanes when it is opened
 * with team: there is a loop to share. */
bool part_shared_out(const struct part *p);
/* Opens a test whether p's sums computed at load hold, or whether not; nothing
 * if p is NULL. Returns the braces to close. */
int emit_if_summed(struct emitter *e, const struct part *p);
int emit_unless_summed(struct emitter *e, const struct part *p);
void emit_gaussian(struct compiler *c, struct text *out, struct step *s);
void emit_dense(struct compiler *c, struct text *out, struct step *s);
void emit_vector(struct compiler *c, struct text *out, struct step *s);
/* emit_sequence.c */
/* What elements read of variables that may be barren; false: there are none. */
void emit_readers(struct compiler *c, struct text *out, const struct model *m,
                  bool *readers, bool *gaps);
void emit_sequences(struct compiler *c, struct text *out,
                    const struct model *m);
/* What is read along the ways of the reaches that are listed at load. */
void emit_reach_readers(struct compiler *c, struct text *out,
                        const struct model *m);
void emit_refresh(struct compiler *c, struct text *out,
                  const struct sequence *q);
/* Which random and derived cells an element of f reads. */
void emit_parents(struct compiler *c, struct text *out, const struct family *f);
/* emit_vector_start.c */
/* A starting value of a vector node, from draws of its prior. */
void emit_vector_start(struct emitter *e, const struct family *f);
/* emit_violation.c */
/* How far an element of f is from a density that is not 0. */
void emit_violation(struct compiler *c, struct text *out,
                    const struct family *f);
/* emit_pair.c */
void emit_pair(struct compiler *c, struct text *out, struct step *s);
/* What the self-check asks of a pair's step. True if there is something. */
bool emit_pair_checks(struct compiler *c, struct text *out,
                      const struct step *s);
/* settle_ of the family of an observed sum: moves the summands until they have
 * the sum. */
void emit_settle(struct compiler *c, struct text *out, struct model *m,
                 const struct family *f);
/* An observed sum of nodes that are drawn. */
bool has_settle(struct compiler *c, const struct family *f);
/* The name of a slice's width in the state, without its "_width". */
const char *width_id(struct compiler *c, const struct step *s);
/* emit_joint.c: the functions of a joint block, and its host's table. */
void emit_joint(struct compiler *c, struct text *out, struct step *s);
/* emit_scatter.c: whether, and how, a vector's constant weights are had from
 * the terms of their sums; statements that add them to cells_. */
bool can_scatter(struct compiler *c, const struct joint_term *t);
void emit_scatter(struct emitter *e, const struct joint_term *t);
/* emit_rescale.c */
void emit_rescale_check(struct text *out, const struct step *s);
void emit_rescalings(struct compiler *c, struct text *out,
                     const struct step *s);
/* emit_curved.c: what a block with curved terms has in addition. */
void emit_curve(struct compiler *c, struct text *out, const struct step *s,
                const struct joint_term *t, int number);
void emit_curved(struct compiler *c, struct text *out, const struct step *s);
void emit_joint_table(struct compiler *c, struct text *out,
                      const struct step *s);
/* Opens a test whether an instance is the first of its kind; *copies: the name
 * of how many there are, NULL if that is not known. Returns the braces. */
int emit_copies(struct emitter *e, const struct part *p, const char **copies);
/* total += the part's log densities at the state as it is. */
void emit_in_place(struct emitter *e, const struct part *p);
/* The statement by which an instance of deterministic family f is computed, its
 * loops being open. */
void emit_definition(struct emitter *e, const struct family *f);
/* Recomputes the stored derived nodes that depend on v, of which step s has
 * moved one element or, if it has no alignments, any. */
void emit_recompute(struct emitter *e, const struct step *s,
                    const struct var *v);
/* The function that does it for an element of an aligned step. */
void emit_recompute_aligned(struct compiler *c, struct text *out,
                            const struct step *s);
/* Whether f is what is recomputed when v has moved. */
bool recomputed_with(const struct model *m, const struct family *f,
                     const struct var *v);
/* cell_: the element's flat cell, if parts are found by an inverse index. */
void emit_cell_if_needed(struct emitter *e, const struct step *s);
/* Statements that draw the lhs of f from its prior into its cells. */
void emit_prior_draw(struct emitter *e, const struct family *f);
/* cell: a draw of integers between the locals lower and upper, if the value
 * in it is none; a local with a real one, whose name is returned. Of entry d.
 */
void emit_integer_between(struct emitter *e, const struct entry *d,
                          const char *cell);
const char *emit_real_between(struct emitter *e, const struct entry *d);
/* A clause of library entry d, parameters called as emit_param said. */
symp entry_expression(struct compiler *c, const struct entry *d,
                      const struct expr *value);
/* No loop's bounds depend on another loop of f. */
bool family_rectangular(const struct family *f);
/* What a family is called, in the program and for readers. */
const char *family_id(struct compiler *c, const struct family *f);
const char *family_label(struct compiler *c, const struct family *f);
struct emitter emitter_new(struct compiler *c, struct text *out);

/* emit_chain.c: a chain of discrete nodes. */
void emit_chain(struct compiler *c, struct text *out, struct step *s);
/* emit_group.c: adaptive Metropolis and elliptical slices. */
void emit_adaptive(struct compiler *c, struct text *out, struct step *s);
void emit_elliptical(struct compiler *c, struct text *out, struct step *s);
/* emit_hoisted.c: what hoist.c took out of in-place parts, on the host. */
bool step_has_columns(const struct step *s);
/* Whether some part still needs the state to hold the trial value. */
bool step_evaluates_in_place(const struct step *s);
void emit_hoisted_members(struct compiler *c, struct text *out,
                          const struct step *s);
void emit_hoisted_room(struct compiler *c, struct text *out,
                       const struct step *s);
void emit_hoisted_fill(struct emitter *e, const struct step *s,
                       const char *target);
/* total += the hoisted parts' log densities at x */
void emit_hoisted_sums(struct emitter *e, const struct step *s);

/* emit_program.c */
/* Whether warm-up tunes something, kept in s-><family>_width. */
bool step_tunes(const struct step *s);
/* The values up to which an enumeration tries all, beyond which it is a slice;
 * 0: it always tries all, or is none. */
int most_enumerated(const struct step *s);
void emit_program(struct text *out, struct compiler *c, struct model *m);
/* Whether the elements that an instance ties can be numbered at load. */
bool conflicts_can_be_emitted(struct compiler *c, const struct step *s);
void emit_host(struct text *out, struct compiler *c, struct model *m,
               const char *program, const char *explanation);

/* explain.c: the plan for a person: what is drawn how, and why. */
void explain(struct text *out, struct compiler *c, const struct model *m);
/* --emit=plan: the same with buffers, inverse indices and the order. */
void plan_print(struct text *out, struct compiler *c, const struct model *m);
/* What a Gaussian block or vector node takes from each factor, for
 * --emit=conditionals. */
void block_print(struct text *out, struct compiler *c, const struct step *s);
/* Why a step is a slice: what resisted. */
const char *slice_reason(struct compiler *c, const struct step *s);
/* "inverse gamma", "Gaussian block", "slice" */
const char *sampler_word(struct compiler *c, const struct step *s);

/* dag.c: the planned model as a Graphviz graph; plates are clusters. */
void draw_dag(struct text *out, struct compiler *c, const struct model *m);
/* Writes it to options.dag: a graph, or a picture if that ends in .svg. False
 * if it failed, which is then reported. */
bool write_dag(struct compiler *c, const struct model *m);

/* link.c: compiles the generated C text into options.output. */
int link_sampler(struct compiler *c, const char *program);

int compile_model(struct compiler *c, struct program *p);

#endif
