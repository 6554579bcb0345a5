/* model.h: what a compiled model is to the runtime. The compiler emits one
 * `const struct gbm_model gbm_model`; the runtime knows nothing else of it.
 *
 * Storage. Every variable has one slot. A slot's cells are `real` or `int`,
 * row-major. Shared slots (data, constants, tables, and stochastic variables
 * that are observed throughout) have one copy and stride 0; the others have
 * one copy per chain, `stride` cells apart. `gbm_model.bind` writes pointers,
 * extents and strides into a `struct state` of the generated program; `shift`
 * moves such a state from chain 0 to another chain. The runtime allocates
 * `state_size` bytes per state. The same functions serve for device memory:
 * then the pointers are device pointers.
 *
 * Elements. A family is one statement with its loops; its instances, in loop
 * order, are numbered from 0: the element number. Where a loop's bounds depend
 * on another loop, `table` names an int slot that holds the loop indices of
 * each element ([count][nloops]), filled at load from `enumerate`. */
#ifndef GBM_MODEL_H
#define GBM_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gbm_rng;    /* stdlib/kernels/rng.h */
struct gbm_ahead;  /* the same */
struct gbm_places; /* stdlib/kernels/ahead.h */

#define GBM_MAX_DIMS 8
#define GBM_MAX_SIZES 24

/* One slot as bind() wants it. */
struct gbm_binding {
    void *values;              /* of chain 0 */
    const int *dim;            /* extents, [ndim] */
    const unsigned char *seen; /* per cell: 1 observed; 2 not, nor is any node
                                  that depends on it, where that was asked;
                                  NULL: all observed if stride is 0, none
                                  otherwise */
    int64_t stride;            /* cells from one chain to the next, or 0 */
};

enum gbm_role {
    GBM_GIVEN,      /* supplied, never sampled */
    GBM_CONSTANT,   /* a function of given ones, computed at load; shared */
    GBM_STOCHASTIC, /* has a distribution; latent cell by cell unless seen */
    GBM_DERIVED,    /* deterministic function of stochastic ones; per chain */
    GBM_POWER,      /* per chain, a number: the power of data's densities, which
                       a method sets. 1 at the start */
    GBM_AUXILIARY,  /* added by an augmentation: latent, not monitored */
    GBM_TUNING,     /* per chain, what warm-up tunes: a cell per element of a
                       step, or as many as `cells` says. 1 at the start */
    GBM_RECALLED,   /* per chain, each device's own: sums that its steps have
                       computed, with what they are functions of. 0 at the
                       start; not part of the state */
    GBM_TABLE,      /* int, shared: loop indices of a family's elements */
    GBM_INVERSE,    /* int: inverse index, see struct gbm_inverse */
    GBM_JOINT,      /* tables and work space of a struct gbm_joint_block */
    GBM_ORDER       /* int, shared: see struct gbm_sequence */
};

struct gbm_variable {
    const char *name;  /* as in the model: "alpha.c" */
    const char *where; /* file:line:col of its first statement */
    enum gbm_role role;
    bool integer;    /* cells are int, else real */
    int ndim;        /* 0: a scalar (one cell) */
    bool observed;   /* declared `observed`, or a stochastic leaf: data are
                        expected, and a note is due if there are none */
    bool needed;     /* GBM_GIVEN: an error if not supplied; GBM_STOCHASTIC:
                        no step draws its cells, so all of them are */
    bool maintained; /* GBM_DERIVED: read by other functions, kept up to date
                        by steps. Otherwise no function reads it (its
                        definition stands in its place), and it is computed
                        only when monitored */
    bool barren;     /* GBM_STOCHASTIC, and no leaf: elements that no observed
                        node depends on are drawn forward, as leaves are */
    bool hidden;     /* GBM_DERIVED: made by the compiler, not in the model */
    bool stays;      /* the same: once they are loaded sweeps alone use its
                        cells, of which there may be very many */
    bool inverts;    /* GBM_DERIVED: its last two dimensions are inverses of
                        matrices, whole */
    bool filled;     /* GBM_DERIVED: another variable, of role GBM_GIVEN, holds
                        the elements that data give, as no statement defines
                        them */
    bool part;       /* GBM_STOCHASTIC: the random elements of the array in
                        slot `whole`, which has the same name and is computed
                        from it: this one takes data and starting values, that
                        one is monitored. GBM_GIVEN: its elements that are data,
                        in their places */
    bool follows;    /* GBM_GIVEN: the values of the stochastic variable in slot
                        `whole`, which has the same name, for what reads it:
                        the compiler was told that data give them all.
                        GBM_CONSTANT: computed from such. Forward draws change
                        both */
    bool shapes;     /* the same: subscripts or ends of ranges read it, so they
                        cannot */
    bool rest;       /* GBM_DERIVED: of the array in slot `whole` what is free
                        of some parameters: what data give of it is here, too */
    bool slope; /* the same: what multiplies such a parameter, so 0 there */
    int whole;
    /* GBM_WITH_EXPECTATION, of a discrete GBM_STOCHASTIC: slots, less 1, of the
     * probabilities of each value of each element, and of the log of what they
     * are normed by, as the last sweep set them; 0: it is not in expectation */
    int weights, total;
    /* Not NULL: its cells are scalars of the model that are alike, ndim is 1.
     * These are their names, [extent] and a NULL; `name` is for messages. */
    const char *const *names;
    /* For labels: the loop index that each dimension is subscripted by on the
     * left-hand sides, and the name of its size, "i,k" and "N,K"; what has no
     * name is empty. NULL: no dimension has one. */
    const char *indices, *sizes;
    int family; /* GBM_TABLE, GBM_TUNING, GBM_RECALLED, GBM_INVERSE: whose */
    int64_t (*cells)(const void *state); /* GBM_TUNING, GBM_RECALLED; NULL: one
                                            per element */
    bool few; /* GBM_TUNING: there are none where chains are many */
    /* Declared extents (`var x[N,3]`), or NULL; 0 in out[d]: not declared. */
    void (*declared)(const void *state, int *out);
};

/* What is wrong with an element; the runtime prints it. */
struct gbm_problem {
    char text[512];
};

/* What ties the cells of one element to each other; the density of an element
 * says the rest. */
enum gbm_support {
    GBM_SUPPORT_ANY,
    GBM_SUPPORT_SIMPLEX,           /* not negative, of sum 1 */
    GBM_SUPPORT_COUNTS,            /* integers, not negative, of a given sum */
    GBM_SUPPORT_MATRIX,            /* symmetric, positive definite */
    GBM_SUPPORT_CORRELATION,       /* positive definite, 1 on the diagonal */
    GBM_SUPPORT_CORRELATION_UPPER, /* the upper Cholesky factor of one */
    GBM_SUPPORT_CORRELATION_LOWER, /* its transpose */
    GBM_SUPPORT_OTHER /* a set that the library does not describe */
};

struct gbm_family {
    int variable;      /* slot of the left-hand side */
    const char *text;  /* "theta[i] ~ dgamma(alpha, beta)" */
    const char *where; /* "pump.gbm:3:5" */
    bool stochastic;
    bool data_block; /* evaluated (or simulated) once at load */
    bool follows;    /* the same, but forward draws change what it reads: see
                        struct gbm_variable */
    bool auxiliary;  /* an augmentation's own factor */
    bool raised;     /* observed elements have their density to the power of the
                        chain, in logdensity too (GBM_WITH_POWERS) */
    /* With turns: when an element enters; the power of data is 0 up to that
     * progress of the chain, and 1 from one more on. */
    int64_t (*turn)(const void *state, int64_t element);
    bool bounded;   /* the same: its support depends on its parameters */
    bool no_draw;   /* its distribution does not tell how: simulate leaves
                       the value as it is */
    bool settled;   /* an observable: what its parents are leaves it one value,
                       or some that all its draws are of */
    bool whole;     /* it draws whole numbers, in an array that also has real
                       ones: see rt_draws_whole */
    bool censored;  /* I(,): simulate keeps to the bounds, and the density is
                       not divided by their probability */
    bool augmented; /* an auxiliary family's factor stands in for its
                       density in the joint that the sweep samples;
                       logdensity and simulate stay the model's own */
    enum gbm_support support; /* stochastic families only */
    int nloops;
    int table; /* slot of role GBM_TABLE, or -1: rectangular */
    /* Number of elements; writes their loop indices if tuples is not NULL. */
    int64_t (*enumerate)(const void *state, int *tuples);
    /* Largest 1-based subscripts of the left-hand side at an element, one per
     * dimension (for the extents of the array). */
    void (*subscripts)(const void *state, int64_t element, int *out);
    /* Flat 0-based cells of the left-hand side at an element, ascending in
     * row-major order of the slice; returns their number (1 for a scalar
     * node). out may be NULL. */
    int64_t (*cells)(const void *state, int64_t element, int64_t *out);
    /* Plain log density of an element at the current state; NaN or -inf where
     * impossible. Stochastic families only. */
    double (*logdensity)(const void *state, int64_t element);
    /* Of a raised family all of whose elements are observed in one copy: the
     * sum of their log densities, power 1, if a sweep of the chain left it
     * known for the state as it is. NULL: it never does. */
    bool (*recalled)(const void *state, double *sum);
    /* Draws the element from its prior given its parents. */
    void (*simulate)(const void *state, struct gbm_rng *rng, int64_t element);
    /* A starting value: near the prior's mean, spread by `spread` (0: at the
     * mean), inside the support, the truncation and the bounds that observed
     * children impose. Falls back to a draw. */
    void (*start)(const void *state, struct gbm_rng *rng, int64_t element,
                  double spread);
    /* Between which a scalar lies; NULL: anywhere. */
    void (*bounds)(const void *state, int64_t element, double *lower,
                   double *upper);
    /* 0, or how far an element with a density of 0 is from the support, the
     * bounds and the rules of its distribution, as far as these say. */
    double (*violation)(const void *state, int64_t element);
    /* How many values an element may have, 1, 2, ..., if they are names and no
     * sizes; NULL: they are sizes. */
    int64_t (*categories)(const void *state, int64_t element);
    /* They are whole numbers of things, which may be more than two apart. */
    bool counts;
    /* Calls visit for each random or derived cell that an element reads, as the
     * model's text has it, and each given one that is an argument by itself;
     * cell -1: some of the variable's. NULL: data alone are read, as in a data
     * block. */
    void (*parents)(const void *state, int64_t element,
                    void (*visit)(void *context, int variable, int64_t cell),
                    void *context);
    /* False, and which it is, if a subscript that the state decides lies
     * outside its array; such an element is not a number. NULL: there is none.
     */
    bool (*beyond)(const void *state, int64_t element,
                   struct gbm_problem *problem);
    /* Of an observed sum: moves its latent summands until they have the
     * observed sum. NULL: not such a family. */
    void (*settle)(const void *state, int64_t element);
    /* Of the same: the latent cells that an observed element sums, as slots
     * and flat cells; returns their number. Both may be NULL. */
    int64_t (*summands)(const void *state, int64_t element, int *variables,
                        int64_t *cells);
    /* Computes a deterministic element. */
    void (*derive)(const void *state, int64_t element);
    /* Of a derived family that is recomputed in turn with others: the first
     * one's element 0 recomputes them all, the rest nothing. NULL: `derive`
     * does. */
    void (*refresh)(const void *state, int64_t element);
    /* Subscripts in range, parameters valid, observed value in the support.
     * True if all is well. */
    bool (*check)(const void *state, int64_t element,
                  struct gbm_problem *problem);
    /* Names of the device's kernels, or NULL: GBM_KERNEL_DERIVE(derive_mu) is
     * "derive_mu_kernel"; GBM_KERNEL_LOGDENSITY of `logdensity`. */
    const char *derive_kernel, *density_kernel;
    /* Where `recalled` is not NULL, the same of GBM_KERNEL_KNOWN, and the place
     * in the table of the step that keeps the sum. */
    const char *known_kernel;
    int known_by;
    /* With gradients; or NULL. `adjoints` is a second state whose real cells
     * are derivatives by those of `state`. adjoint adds to these the weight
     * times the partial derivatives of the element's log density by the nodes
     * that it reads, its own included; of a derived element, its own cells'
     * adjoints times those of its definition. adjoint_bounds adds `lower` and
     * `upper` times those of the bounds. */
    void (*adjoint)(const void *state, const void *adjoints, int64_t element,
                    double weight);
    void (*adjoint_bounds)(const void *state, const void *adjoints,
                           int64_t element, double lower, double upper);
    bool bounds_derived; /* its bounds have derivatives by derived nodes */
    bool discrete;       /* its elements are whole numbers */
    bool leaf;      /* no density reads it: not observed, it is drawn forward */
    int barren;     /* of such a variable; 1: each element for itself; else
                       all elements of the families with the same number or
                       none */
    int repeats;    /* 0: no cell is defined twice. Else it must not be by
                       families of the same number: a data block and the model
                       may both define a node */
    bool recursive; /* derive reads other elements of its own variable: they
                       are computed in order, one at a time */
};

struct gbm_reader;
/* For each cell of `variable` the elements of `family` whose reference number
 * `reference` hits it, ascending: two int slots, start[cells + 1] and
 * item[count]. Built at load; if `latent`, rebuilt whenever a step says so. */
struct gbm_inverse {
    int variable, family;
    int start, item; /* slots of role GBM_INVERSE */
    bool latent;     /* depends on the chain's state: per chain */
    bool device;     /* only the device goes by it: not built on the host */
    int64_t (*cell)(const void *state, int64_t element); /* -1: none */
    const char *cell_kernel; /* name of the device function, same meaning */
    /* Not NULL: instead, start[2 * cell] to start[2 * cell + 1] are the items
     * of all elements of `family` that depend on the cell through elements of
     * these families (the last has family -1); or if `sequence` is one, of all
     * such places in its order. */
    const struct gbm_reader *ways;
    int sequence;
};

/* Families that feed each other element by element (a[t] from b[t-1], b[t]
 * from a[t-1]): their elements have an order that only the data tell, which
 * the runtime finds at load from what each element reads. */
enum gbm_sequence_kind {
    GBM_SEQUENCE_LOAD,   /* constants, computed at load */
    GBM_SEQUENCE_START,  /* drawn forward: starting values, simulation */
    GBM_SEQUENCE_REFRESH /* recomputed in a sweep: the order is in a slot */
};
struct gbm_reader {
    int family;
    /* Calls visit for each cell of the sequence's variables that the element
     * reads. */
    void (*reads)(const void *state, int64_t element,
                  void (*visit)(void *context, int variable, int64_t cell),
                  void *context);
};
/* Cell -1 is any of the variable: which one depends on latent nodes. */
struct gbm_sequence {
    enum gbm_sequence_kind kind;
    const struct gbm_reader *readers;
    int nreaders;
    int slot; /* role GBM_ORDER, int [count][2]: reader, element; or -1 */
};

/* What a run of a step needs beside the state. Lives in device memory too. */
struct gbm_sweep {
    uint64_t seed;
    uint32_t sweep;    /* counts from 0, warm-up included */
    uint32_t chain0;   /* number of the device's first chain */
    uint32_t adapting; /* 1 while warm-up tunes; 2 in the self-check: a block
                          moves alone, without the scales beside it */
    /* Host only: random numbers of a run that were computed ahead, from number
     * `place` on, every `stride`; NULL: none. */
    const struct gbm_ahead *ahead;
    uint32_t place, stride;
};

enum gbm_step_kind {
    GBM_STEP_MAP,   /* elements of a family, in parallel unless sequential */
    GBM_STEP_DENSE, /* one Gaussian block with a design matrix */
    GBM_STEP_INDEX, /* rebuild inverse index number `inverse` */
    GBM_STEP_DERIVE /* recompute a maintained derived family */
};

/* One likelihood term of a dense Gaussian block: its rows are the elements of
 * `family`; given the row's design vector a, the log density as a function of
 * the block x is  -weight/2 (a'x)^2 + score a'x. */
struct gbm_dense_term {
    int family;
    int matrix;           /* slot of a given matrix whose rows are the design
                             (row r of the family is row r), or -1 */
    bool constant_design; /* depends on data alone */
    bool constant_weight; /* the same for all rows, sweeps and chains, but
                             for a factor common to all rows that `scale`
                             gives */
    bool constant_score;  /* score / weight depends on data alone where the
                             family's variable is observed throughout */
    void (*design)(const void *state, int64_t element, double *row); /* [d] */
    /* seen == false: the row is unobserved and weight = score = 0. */
    void (*row)(const void *state, int64_t element, double *weight,
                double *score);
    const char *row_kernel, *design_kernel;
    /* Not 0: this step, less 1, draws what each row's score reads, from the
     * row's a'x and more. The device may do it in one pass over the matrix with
     * the scores' sum, by pass_kernel, and begin that before step `since`, less
     * 1, from which on nothing has to do with the draw. */
    int drawn, since;
    const char *pass_kernel;
    /* Rows first..last of that, on the host: a'x of row r is predictor[r -
     * first]. */
    void (*draw_rows)(const void *state, const struct gbm_sweep *sweep,
                      uint32_t chain, int64_t first, int64_t last,
                      const double *predictor);
    /* Not 0: step `scaled`, less 1, multiplies what `drawn` draws by a number,
     * which slot `number` then holds, and the scores with it: a sum that a pass
     * has made waits for that. */
    int scaled, number;
    bool given_weight; /* of what `drawn` draws: it depends on data alone */
};
/* Blocks of at most so many coordinates are drawn by the factor of their
 * precision, on the host as on a device: larger ones by that of the rows, where
 * these are few. */
enum { GBM_DENSE_SMALL = 64 };
struct gbm_dense {
    int (*dimension)(const void *state);
    void (*get)(const void *state, double *x);       /* [d] */
    void (*set)(const void *state, const double *x); /* [d] */
    /* 1 where the coordinate is observed and must not move; may be NULL */
    void (*fixed)(const void *state, unsigned char *out);
    /* All other factors: diagonal precision and potential of coordinate j
     * (log density -precision/2 x_j^2 + potential x_j). */
    void (*prior)(const void *state, int64_t coordinate, double *precision,
                  double *potential);
    /* Not NULL: the other factors couple coordinates; writes the whole d x d
     * precision (row-major) and potential, instead of `prior`. */
    void (*prior_matrix)(const void *state, double *precision,
                         double *potential);
    const char *prior_kernel, *get_kernel, *set_kernel;
    int nterms;
    const struct gbm_dense_term *terms;
    /* 1 + the number of the variable whose cells, one behind the other, the
     * coordinates are; 0: there is none */
    int whole;
};

/* One kind of likelihood or prior term of a joint Gaussian block: an instance
 * is a row; as a function of the block x its log density is scale (-weight/2
 * (a'x)^2 + score a'x), a a sparse row; `scale` is the same for all rows and
 * belongs to the update (stdlib/kernels/joint.h). `constant_...`: depends on
 * data alone. */
struct gbm_joint_term {
    int family;
    bool constant_design, constant_weight, constant_score;
    bool
        curved; /* not quadratic: see stdlib/kernels/curved_block.h; no `row` */
    int columns; /* of a curved one: numbers that its rows keep for trials */
    bool listed; /* the update reads which cells a row has */
    /* The cells whose coefficients a row has: their variables (numbers in
     * `variables` of the block) and flat cells, -1 where there is none. Returns
     * their number, of which at most `capacity` are written, or -1 if the
     * instance does not count. */
    int (*slots)(const void *state, int64_t element, int *variable,
                 int64_t *cell, int capacity);
    void (*row)(const void *state, int64_t element, double *weight,
                double *score);
    /* Not NULL: rows of one number have one weight, whatever it is. */
    int64_t (*alike)(const void *state, int64_t element);
    void (*design)(const void *state, int64_t element, double *a);
    /* Not NULL: the quadratic form of a vector of that many cells, n. `element`
     * counts pairs of cells, (instance * n + a) * n + b; of a row with two
     * cells the weight is that of their product, with one, of its square, and
     * the score is of that one. There is no `design`. */
    int (*extent)(const void *state);
    /* The density of a vector of `extent` components, each with a linear form
     * of the block's cells: `slots` and `design` have that of component a at
     * the pair (a, a). A pair's weight is that of the product of two forms, or
     * of one's square; a score, of component a, belongs to the pair (a, a). */
    bool forms;
    bool common_weight; /* ... weights are the same for all instances */
    /* ... designs, and what `offset`, if not NULL, says that a component's form
     * has beside the block, are of data, if the variable of slot `leaf` (-1:
     * none) is observed throughout */
    int leaf;
    bool data_design;
    double (*offset)(const void *state, int64_t element);
    /* Not NULL: `row` is slow and constant, with scores of 0; its weights are
     * what this adds to cells [n][n] of an instance. */
    void (*scatter)(const void *state, int64_t instance, double *cells);
};
/* A joint Gaussian block of several families, drawn by a step of kind
 * GBM_STEP_MAP as its one element. runtime/load/joint.c lays it out at load. */
struct gbm_joint_block {
    int table, constant, work; /* slots of role GBM_JOINT */
    int nvariables;
    const int *variables; /* slots */
    int nfamilies;
    const int *families;
    /* [nfamilies] or NULL: a step of their own draws these, and the block takes
     * them as they are, where rows would have too many pairs of cells */
    const bool *apart;
    int nterms;
    const struct gbm_joint_term *terms;
};

/* What a sweep of a chain does in a phase of a step, for a profile: rows,
 * operations, cells of no variable, passes; and cells of each of `reads`, of
 * which a pass moves no more than there are. */
enum { GBM_WORK_ROWS, GBM_WORK_OPERATIONS, GBM_WORK_SCRATCH, GBM_WORK_PASSES };
enum { GBM_WORK_READS = 4 };
struct gbm_phase {
    const char *text; /* "sum: statistics of y[i] ~ dnorm(mu, tau)" */
    bool at_least;    /* a search, which may try more values than counted */
    bool sparse;      /* draws the step's joint block */
    bool live;        /* the rows of cells of slot `counted`, less 1, that are
                         not barren count; else of those that are observed */
    int counted;      /* 0: all rows do */
    int nreads, nwrites;
    const int *reads;  /* slots */
    const int *writes; /* families */
};

struct gbm_step {
    enum gbm_step_kind kind;
    const char *name;     /* of the C function and kernel: "update_theta" */
    const char *variable; /* "theta", "alpha, beta" */
    const char *sampler;  /* "gamma", "slice", "Gaussian block, 2 x 2" */
    const char *text;     /* full conditional, for people */
    int family;           /* whose elements are updated (or derived) */
    /* Families whose elements of the same number move together, `family`
     * first; NULL: `family` alone. */
    const int *members;
    int nmembers;
    int number; /* of the step: enters the random number key */
    bool whole; /* all elements of all members are one, number 0 */
    /* Not NULL: elements are drawn a path at a time, by an update of the first
     * element of the path that `element` is in. */
    int64_t (*first)(const void *state, int64_t element);
    /* Not NULL: rows of the matrix that a draw of an element factors, which
     * data settle. */
    int (*rows)(const void *state, int64_t element);
    bool sequential; /* elements depend on each other: one at a time */
    /* Not NULL: so many elements that follow each other depend on each other,
     * and groups of so many do not: one of each group at a time. */
    int64_t (*in_turn)(const void *state);
    bool trials; /* an update tries several values of an element */
    bool split;  /* a team of lanes has the sums of several elements, of
                    which each lane then draws one (skeleton_cuda.h) */
    bool asked;  /* by samplers { }: nothing else moves its elements */
    bool defers; /* what it makes due may wait for the next step, which
                    makes that due, too */
    /* Not NULL: what the next steps draw is integrated out, and may have
     * density 0 until then; what the conditional has not of the joint density,
     * but for a constant. For nodes of these families it is their full
     * conditional. */
    double (*integrated)(const void *state, int64_t element);
    const int *nodes_out;
    int nnodes_out;
    bool repairs;   /* tries every value of a finite support, so it may
                       leave impossible starting values */
    bool every;     /* `family` is observed, and what its elements tie is
                       updated: all elements are run */
    bool undivided; /* draws all cells of an element: none may be seen */
    bool leaf;      /* drawn forward when a sweep is kept, or derived from
                       such: elements that no observed one depends on */
    int after;      /* derived, index: number of the step that makes it due,
                       plus 1; 0: none alone does */
    int otherwise;  /* number, plus 1, of a joint block that draws the same,
                       unless its rows have too many pairs: only then is this
                       step active; 0: none does */
    /* The same: not 0: due only where the variable of this slot, less 1, is
     * observed throughout; only where it is not. */
    int due_whole, due_partly;
    /* Elements that share an instance of a factor must not move together: the
     * instances of `conflict_families`, each with the cells that it reads. The
     * runtime colours the elements at load. */
    int nconflicts;
    const struct gbm_conflict *conflicts;
    /* Updates elements[first..last), or first..last if elements is NULL. */
    void (*run)(const void *state, const struct gbm_sweep *sweep,
                uint32_t chain, const int *elements, int64_t first,
                int64_t last);
    /* Blocks of random numbers of an element that are worth computing ahead; 0:
     * none. `normals` is how many normal ones are drawn from them first. */
    int blocks, normals;
    /* For the self-check: the block's size, its value, and the log of the
     * derived full conditional at a value, up to a constant. */
    int (*block_size)(const void *state, int64_t element);
    void (*block_get)(const void *state, int64_t element, double *x);
    void (*block_set)(const void *state, int64_t element, const double *x);
    double (*conditional)(const void *state, int64_t element, const double *x);
    /* Not NULL: of counts, of which no two meet in a factor: `conditional` is a
     * function that data settle and the element times a number, its tilt, which
     * is returned; the former at *x, unless x is NULL, is put into *settled. */
    double (*tilt)(const void *state, int64_t element, const double *x,
                   double *settled);
    /* Whether what `run` draws for an element is a draw from that conditional,
     * whatever it was before; NULL: never. */
    int (*exact)(const void *state, int64_t element);
    /* The sum of the absolute terms that conditional adds up, which its
     * rounding error goes with; NULL: about its own size. */
    double (*terms)(const void *state, int64_t element, const double *x);
    /* Of a block that is followed by moves of scales with their plates, or
     * preceded by moves of parameters without it: moves the block, calls
     * `between`, makes the others' moves, and tells what the latter
     * changes the log density by. NULL: it is not. */
    double (*scales)(const void *state, const struct gbm_sweep *sweep,
                     uint32_t chain, void (*between)(void *context),
                     void *context);
    /* Not NULL: an optional move of it, which warm-up judges: the effective
     * draws that it must bring, over those without it, for what it costs. */
    void (*least)(const void *state, double gain);
    /* Not NULL: a device's program for sweeps behind warm-up may be compiled
     * without an optional move of it (GBM_SETTLED), if this holds for the state
     * of each chain: by what it has learnt the move is made no more. */
    bool (*idle)(const void *state);
    int inverse;                         /* GBM_STEP_INDEX */
    const struct gbm_dense *dense;       /* GBM_STEP_DENSE */
    const struct gbm_joint_block *joint; /* GBM_STEP_MAP: the block is its one
                                            element, number 0; or NULL */
    /* Not 0: what slot `tuned` holds (stdlib/kernels/adaptive.h) is pooled over
     * the chains after each so many sweeps of warm-up; -1: of half as many as
     * the block has coordinates, or more. */
    int lag, tuned;
    int recalled; /* slot, plus 1, of sums that it keeps, which all its elements
                     have in common; 0: none */
    /* About how many terms the sums of one element have, so how many threads
     * it is worth (see stdlib/kernels/team.h); NULL: few. */
    int64_t (*cost)(const void *state);
    bool beside; /* neighbouring elements have their sums over the same terms */
    /* Not NULL: the same, weighted, which blocks may share out (weighted.h).
     * Writes how many cells the loops between the group's and the last have,
     * and the last. */
    void (*weighted)(const void *state, int64_t *out);
    /* Slot, plus 1, that says which weights are 0 (weight_marks.h), of a table
     * that they fill, and of a step that computes them, by rows; 0: none. */
    int marks;
    /* Not NULL: elements can be updated as rows (stdlib/kernels/rows.h). Writes
     * how many numbers a row has, a trial needs room for, a value has; how many
     * values there are; and then the lengths of loops. The device's text may
     * have these as constants. Returns how many they are, GBM_MAX_SIZES at
     * most. */
    int (*sizes)(const void *state, int64_t *out);
    /* Its phases, and what all its elements do in each, one phase behind the
     * other: GBM_WORK_READS + nreads numbers. */
    int nphases;
    const struct gbm_phase *phases;
    void (*work)(const void *state, double *out);
    /* Each thread that updates an element has room for a matrix of block_size
     * rows, and some such vectors. */
    bool matrix;
    /* Steps before it that it must follow, by their places in the sweep, up to
     * -1; what these wait for is not repeated. */
    const int *waits;
    int barriers; /* at which a team of several blocks of threads would wait in
                     an update of one element; 0: it is none for such a team */
};
struct gbm_conflict {
    int family;
    /* Elements of the step's family that instance `element` of `family` ties
     * together; returns their number, of which at most `capacity` are
     * written: if there are more, the elements are taken one at a time. */
    int (*elements)(const void *state, int64_t element, int64_t *out,
                    int capacity);
    int capacity;
};

/* A text that the device compiler may include. */
struct gbm_header {
    const char *name, *text;
};

/* What a program has that a plain sweep does not need (gbmc --with), as a
 * method of the runtime asks for it. */
enum { GBM_WITH_POWERS = 1, GBM_WITH_GRADIENTS = 2, GBM_WITH_EXPECTATION = 4 };

struct gbm_model {
    const char *name;     /* "pump" */
    const char *source;   /* path of the model file */
    const char *version;  /* of the compiler */
    unsigned with;        /* GBM_WITH_... */
    const char *sequence; /* powers: what turns go by; NULL: there are none */
    size_t state_size;
    int nvariables;
    const struct gbm_variable *variables;
    /* Order in which extents can be settled and constants computed. */
    const int *load_order; /* [nvariables] */
    int nfamilies;
    const struct gbm_family *families; /* topologically ordered: parents
                                          before children */
    /* Operations, as phases count them, of the log densities or definitions of
     * all elements of each family: [nfamilies]. */
    void (*family_work)(const void *state, double *out);
    int ninverses;
    const struct gbm_inverse *inverses;
    int nsequences;
    const struct gbm_sequence *sequences;
    /* What stochastic and derived elements read of variables that may be
     * barren, up to family -1; or NULL. */
    const struct gbm_reader *readers;
    /* What any of them read for sure, as it is written, of variables whose
     * statements may leave gaps; so ended, or NULL. */
    const struct gbm_reader *gap_readers;
    bool feeds_back; /* a statement may read what itself or one behind it draws
                        or computes (y[t] reads h[t] reads y[t-1]): one pass,
                        statement by statement, may not be enough */
    int nsteps;
    const struct gbm_step *steps; /* a sweep, in order */
    void (*bind)(void *state, const struct gbm_binding *bindings);
    void (*shift)(void *state, int chain);
    /* gbm_draw_ahead of stdlib/kernels/ahead.h, compiled for this CPU; or NULL.
     */
    void (*ahead)(uint64_t seed, uint32_t chain, uint32_t sweep, int ngroups,
                  const struct gbm_places *places, struct gbm_ahead *out);
    const char *explain;              /* what --explain prints */
    const char *program;              /* the CUDA C text */
    const struct gbm_header *headers; /* that it may include */
};

extern const struct gbm_model gbm_model;

/* Those of stdlib/kernels, as libgbm has them; last {NULL}. */
extern const struct gbm_header gbm_headers[];

#endif
