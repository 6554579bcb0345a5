/* condition.h: full conditionals, and the steps that draw from them. */
#ifndef GBMC_CONDITION_CONDITION_H
#define GBMC_CONDITION_CONDITION_H

#include "model/model.h"

/* Puts the rules into the parts of a step that evaluates densities. */
void condition_keep_rules(struct compiler *c, struct step *s);

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
struct alignment *condition_find_alignments(struct compiler *c,
                                            const struct model *m,
                                            const struct family *target);
/* The only subscript, in the loops of g, at which g reads what is aligned; NULL
 * if there is none such. */
symp condition_aligned_at(struct compiler *c, const struct alignment *a,
                          const struct factor *g);
/* Whether all that depends on the target has a key. */
bool condition_all_have_keys(const struct alignment *a);

struct hoisted;
struct recalled;

/* ---- condition.c ------------------------------------------------------ */

/* The instances of a factor that mention a target through one reference: the
 * factor's loops under fresh names, each solved (its value follows from the
 * target's subscripts) or free; or all of them taken from an inverse index. */
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
    const struct family *out; /* of a step's `integrated`: the nodes */
    struct collected terms;   /* statistics free of the instance's loops */
    bool opaque;              /* evaluated in place at each trial value */
    bool in_full; /* the same, and what does not depend on the target counts */
    symp resists; /* why: no statistic, as it has their loops */
    bool ruled;   /* the factor's rule is kept */
    bool rule;    /* it is that rule alone, of the part before */
    symp logp;    /* of an instance, in the fresh loops */
    symp value, lower, upper; /* its indicator in place, where x is in it */
    symp hit;   /* of a pair's step: which of its cells the instances mention */
    bool prior; /* there: it is that cell's own */
    symp
        copies; /* of an opaque part: how often to take the instance; NULL: 1 */
    struct hoisted *hoisted;   /* of an opaque part, or NULL: see hoist.c */
    struct recalled *recalled; /* or NULL: see recall.c */
    struct part *summed; /* the same terms, summed over the instances, where
                            the factor's node is observed throughout; or NULL:
                            see row_sums.c */
    bool tallied;        /* of a summed part: from tables that follow the state
                            (tally.c), not at load */
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
    bool device; /* only the device goes by it: of a tally (sweep/tally.c) */
    const struct var *leaf; /* the same: of all its tables; or NULL */
    int number;
    struct slot *start, *item;
    struct inverse *next;
};

struct step;
struct emitter;

/* How a step draws: a file of compiler/sampler/ each, listed in
 * sampler/table.c. Other rooms know of a sampler what is stated here; what is
 * left out of one is false or NULL. */
/* An option of a sampler, as samplers { } gives it: the one word that it may
 * be, or a positive number; where there are such, between these ends. */
struct sampler_parameter {
    const char *name, *word;
    double least, most;
    bool whole;
};
enum { MAX_PARAMETERS = 6 };

struct sampler {
    const char *name; /* "slice", as messages and the table of steps call it */
    const char *(*name_of)(struct compiler *c,
                           const struct step *s); /* or so */

    /* ---- choosing: table.c, choose.c ---- */
    /* What samplers { } calls it; NULL: it cannot be asked for. Its options,
     * the first one in the step's `width`. */
    const char *word;
    struct sampler_parameter options[MAX_PARAMETERS];
    /* Takes steps by itself if this full conditional is one for it; the first
     * of the list that does has it. NULL: never by itself. */
    bool (*takes)(const struct step *s);
    /* As samplers { } asks, for n steps; may merge them into the first. */
    void (*take)(struct compiler *c, struct model *m, struct step *const *steps,
                 int n, struct span where);
    bool together;   /* a line's variables are taken at once */
    bool closed;     /* an exact draw from the full conditional, of a family */
    bool enumerates; /* by trying all values of a finite support */
    /* Whether an element's update evaluates its parts at every value of the
     * support; NULL: none does. */
    bool (*tries_all)(const struct step *s);
    bool forward; /* from its distribution: nothing observed depends on it */
    bool joint;   /* a sparse joint block: sampler/joint.h */
    bool beside;  /* moves what other steps draw */
    /* The step whose functions its own call; NULL: none's. */
    const struct step *(*calls)(const struct step *s);

    /* ---- what the sweep may do for it ---- */
    bool trials; /* tries values of an element on sums that hoist.c and copies.c
                    may make cheaper */
    /* Whether it moves v beside its members; NULL: no. */
    bool (*moves)(const struct step *s, const struct var *v);
    bool adds_up; /* from sums over instances, which may be had at load */
    bool around; /* moves are made of a normal, of which a vector's normal terms
                    may be part */
    /* Whether elements that nothing observed depends on may be left out; NULL:
     * each. */
    enum barren_unit (*unit)(const struct step *s);

    /* Its phases (sweep.h); NULL: sums over the instances of its parts, and a
     * draw. */
    void (*phases)(struct compiler *c, struct step *s);

    /* ---- what --explain says: the sampler's column (NULL: the name); the same
     * for a picture (NULL: the column); why it is this one ---- */
    const char *(*explain)(struct compiler *c, const struct step *s);
    const char *(*brief)(struct compiler *c, const struct step *s);
    const char *(*why)(struct compiler *c, const struct step *s);
    /* Why its full conditional has no closed form; NULL: what of its parts tell
     * (sampler/reason.c). */
    const char *(*resists)(const struct step *s);
    /* In the place of the loops that its elements are drawn in parallel over.
     */
    const char *(*parallel)(struct compiler *c, const struct step *s);

    /* ---- what is emitted ---- */
    /* Headers of stdlib/kernels/ that gbm.h has not. */
    const char *headers[2];
    /* Its functions in the text that host and device share. */
    void (*emit)(struct compiler *c, struct text *out, struct step *s);
    /* Of a sampler of scalars (emit/scalar.c), the statements that draw a value
     * with k_, the element's conditional, and store it. */
    void (*draw)(struct emitter *e, const struct step *s);
    /* What follows it, where all that is kept of the value is known; or NULL.
     */
    void (*behind)(struct emitter *e, const struct step *s);
    bool scalar;
    bool by_many; /* blocks of a device's threads may draw one together */
    bool dense;   /* a Gaussian block that the device solves: GBM_STEP_DENSE */
    /* The host's functions and tables of the step, and its own members of the
     * row in the table of steps. */
    void (*emit_tables)(struct compiler *c, struct text *out,
                        const struct step *s);
    void (*emit_row)(struct compiler *c, struct text *out,
                     const struct step *s);
    /* Whether its update is a sum, prepare_, and then a draw, finish_ (asked
     * after emit); NULL: it never is. */
    bool (*split)(const struct step *s);
    /* Whether it has those of scalars; NULL: scalars have. */
    bool (*checked)(const struct step *s);
    /* Whether it updates many elements at once, as rows (sampler/rows.c; asked
     * after emit); NULL: it never does. */
    bool (*by_rows)(const struct step *s);
    /* Whether an element's draw may be asked for before it is taken
     * (stdlib/kernels/between_rows.h; asked after emit); NULL: it may not. */
    bool (*asks)(struct compiler *c, const struct step *s);
    bool own_cost; /* says itself, in cost_, how much it does */
    bool squares;  /* goes through a matrix of count_ rows, too */
    bool matrix;   /* each lane has room for one of dimension_ rows, where not
                      all elements are one */
    /* Its kernels; NULL: one of its update. */
    void (*emit_kernels)(struct compiler *c, struct text *out,
                         const struct step *s);
    /* Has dimension_, get_, set_ and conditional_, named after the step. */
    bool block_access;
    bool own_layout; /* its members' places are its own affair */
    bool named;      /* its functions after the step, update_NAME: a family has
                        several */
    bool repairs;    /* leaves states of density 0 */
    int blocks;      /* of random numbers that an element's update takes */
    /* Whether warm-up tunes something of an element, kept in the state; and
     * with tuning_cells, the function tuning_ says of how many numbers. */
    bool (*tunes)(const struct step *s);
    bool tuning_cells;
    /* Arrays of its own (sweep_add_slot). Where nothing is tuned, s->slots. */
    void (*slots)(struct compiler *c, struct model *m, struct step *s);
};

/* x must be >= / <= value at every instance of a part. */
struct bound {
    struct part *part;
    bool is_lower;
    symp value;
    /* Of the end of a support: that end, which reads the target, and what the
     * density compares with it. Else NULL. */
    symp compared, limit, target;
    bool limit_is_lower;
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
    struct indices index, index2; /* the same, of a second coordinate */
    symp count;                   /* number of coordinates */
};

/* A factor's contribution to a Gaussian block, at each instance of a part:
 * potential[i] and precision[i][j] of members i, j, in their indices (the
 * second member's index2 in the place of its index where i == j). */
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
    struct step *drawn;  /* a row's score waits for this step's draw, which asks
                            for the row's a'x, the predictor: fuse.c; or NULL */
    struct step *since;  /* before which that may be drawn, too; it itself, if
                            before no other */
    symp predictor;
    struct quadratic *summed; /* as of a part */
    struct quadratic *next;
};

/* A summand of an observed sum: weight * cell, at each index if there is one.
 */
struct summand {
    symp cell; /* in the loops of the sum's family, and the index */
    double weight;
    struct loop *index; /* NULL: one cell */
    bool whole;         /* it is drawn among whole numbers; set of pairs */
    struct summand *next;
};

/* Variables, each once. */
struct var_list {
    const struct var **items;
    int n;
};
bool condition_has_variable(const struct var_list *list, const struct var *v);

/* What an element's draw from a normal leaves in memory for the step that
 * scales it: -own mean - rest, so that own x + this + rest is own times its
 * distance from the mean. */
struct residual {
    double own;
    symp rest;
    struct slot *slot;
};

/* What a full conditional is in closed form. */
struct law {
    symp statistics[24]; /* distinct ones of all collected parts */
    int n;
    const struct entry *family; /* of the library that it is of, or NULL */
    int place[24];              /* statistic i is number place[i] of it */
    symp exponent;              /* what an x^p pattern bound, or NULL */
    symp anchored[24]; /* not NULL: statistic i, exp(q x), is exp(q x - this),
                          q x at the state, and its coefficients are those of
                          that: anchored.c */
    bool fades[24]; /* with anchored: a draw may go further than exp() tells */
    struct step *rest; /* the same where the family's last statistic, which the
                          prior has not, has a coefficient of 0; or NULL */
};

/* Where a target's values lie. */
struct support {
    symp lower, upper; /* the own support and truncation; NULL: open */
    struct bound *bounds;
    bool bounded; /* the draw must respect bounds beyond the family's own
                     support */
};

/* How a step sees the factors. */
struct view {
    bool closed_form; /* some in one: products.c */
    struct var *as;   /* of a matrix node: its inverse, through which alone its
                         parts see it; NULL: they see the node */
    struct part *reached; /* the instances of stored derived nodes that an
                             element reaches, in order of computation; NULL: all
                           */
};

/* Which elements may not be drawn at once. */
struct order {
    bool sequential; /* all one by one */
    bool held;       /* they must meet a condition together */
    struct conflict *conflicts;
    struct part *ties; /* instances that hold an element fast */
};

/* Families drawn together, and what of a Gaussian block the factors add. */
struct block {
    struct member members[MAX_MEMBERS];
    int n;
    struct quadratic *quadratics;
};

/* By samplers { }. */
struct asked {
    const char *word;                     /* the method's; NULL: not */
    const struct sampler_option *options; /* that it gives */
    double width; /* of slice or steps at first; 0: not given */
    bool alone;   /* element by element, as `enumerate` asks */
};

/* A joint block that draws the same. */
struct beside {
    const struct step *block; /* NULL: none does */
    bool always; /* both draw; else this one where rows of the block are too
                    long for it: the runtime counts */
};

/* lift.c: what tables hold of a step. */
struct lifted {
    symp of[8];
    int n;
    symp statistic[24]; /* a statistic's cell of a table, or NULL */
};

/* scale.c: what another step does to this one's draw. */
struct scaled {
    struct step
        *by; /* multiplies it, and means of it, by one number; or NULL */
    struct residual *residual; /* for that one; or NULL */
};

/* When a step is due in a sweep, and what it touches. */
struct turn {
    bool late; /* for what is kept alone, after the sweep */
    /* without a sampler: */
    struct inverse *inverse;  /* is rebuilt; NULL: none */
    const struct step *after; /* makes it due */
    const struct step *again; /* the next step, which makes due all that this
                                 one does: what it does not read waits */
    bool index_waits;         /* so do indices: it goes through none */
    const struct var *due_whole,
        *due_partly; /* only where this leaf is observed throughout; where it is
                        not */
    struct var_list *reads, *changes; /* depend.c */
    int part; /* of the program: the one that its run is in */
};

struct step {
    /* NULL: nothing is drawn: an inverse index is rebuilt or, without one, a
     * stored derived family recomputed. */
    const struct sampler *sampler;
    /* The sampler's own part, which only its files know. Of steps that move a
     * pair (observed_sum.c), which no family tells, from the start: its struct
     * summand [2], each with an index of its own. */
    void *own;
    bool merged;      /* into another step's block: no step any more */
    const char *name; /* update_theta */
    const struct model *model;
    struct family *family; /* the target; first member of a block */
    struct part *parts;
    struct part *integrated; /* what the parts lack of the joint density, as it
                                was integrated out: for the checks */
    struct law law;
    struct support support;
    struct view view;
    bool opaque;  /* some part is evaluated in place */
    bool through; /* some factor depends on x through stored derived nodes */
    struct order order;
    struct block block;
    bool whole; /* all elements of all members move as one */
    struct asked asked;
    struct beside beside;
    struct slot *slots;    /* its own, one behind the other: slots.c */
    struct lifted *lifted; /* or NULL */
    struct scaled scaled;
    struct turn turn;
    struct phase *phases; /* what it does: sweep.h */
    int number;
    struct step *next;
};
void condition_model(struct compiler *c, struct model *m);
/* The same but for the summands of observed sums. */
void condition_families(struct compiler *c, struct model *m);
/* The step for one family: parts, statistics, the family that its full
 * conditional is of; without a sampler, not added to m. */
struct step *condition_family(struct compiler *c, struct model *m,
                              struct family *f);

/* observed_sum.c: the summands of an observed sum; false after an error. */
bool condition_summands_of(struct compiler *c, const struct family *f,
                           struct summand **out);
/* Whether the cell is drawn among whole numbers. */
bool condition_draws_whole(struct compiler *c, struct model *m, symp cell);
/* The prior of each family that cell may belong to, as parts. */
struct part *condition_priors_of_cell(struct compiler *c, struct model *m,
                                      symp cell);

/* matrix.c: e, a log density, as a step of a matrix node sees it: its inverse
 * in its place where there is s->as. */
symp condition_matrix_seen(struct compiler *c, const struct step *s, symp e);
/* Whether a matrix distribution states statistics of its node's inverse. */
bool condition_states_inverse(const struct entry *d);
/* What multiplies the log determinant of the step's node in a log density as it
 * sees it, and what multiplies the cell: of the node or of its inverse. False
 * if the density is not linear in these. */
bool condition_matrix_terms(struct compiler *c, const struct step *s, symp logp,
                            symp cell, symp *determinant, symp *coefficient);

/* ---- scaling.c: variables multiplied by one number, the target -------------
 */
/* Whether e is then multiplied, too (as 0 and infinities are). */
bool condition_scales_along(struct compiler *c, symp e,
                            const struct var_list *vars);
/* coefficient (along t + rest)^2 */
struct scaled_square {
    symp coefficient, along, rest;
};
enum { SCALED_SQUARES = 4 };
/* A function of t: these squares, square t^2 + linear t, and a constant. */
struct scaled_terms {
    struct scaled_square squares[SCALED_SQUARES];
    int nsquares;
    symp square, linear;
};
/* False if e is no such function. */
bool condition_scaled_quadratic(struct compiler *c, symp e,
                                const struct var_list *vars,
                                struct scaled_terms *out);
/* The coefficient of t^power, 1 or 2, of all. */
symp condition_scaled_coefficient(struct compiler *c,
                                  const struct scaled_terms *t, int power);

/* tied.c: whether conditions say that a density is 0 at some values of v. */
bool condition_may_vanish(symp logp, const struct var *v);

/* recognise.c: the law of a scalar step's full conditional. */
void condition_recognise(struct compiler *c, struct step *s);
/* Whether its own support has two finite ends. */
bool condition_has_two_ends(const struct step *s);
/* Of terms of a log density, those that distinguish whether a node
 * other than the target's is 0 or 1 become one; what is merged becomes 0. */
void condition_merge_cases(struct compiler *c, symp *terms, int n,
                           const struct var *target);
/* logp with each logarithm that reads the target and what is 0 or 1 as a choice
 * between the two; NULL: there is none. */
symp condition_by_cases(struct compiler *c, symp logp,
                        const struct var *target);
/* Whether a part of a step's `integrated` is the nodes' full conditional: of
 * values between points it is what the points have of it. */
bool condition_is_full(const struct part *p);
/* Whether the part's instances are shared out among lanes when it is opened
 * with team: there is a loop to share. */
bool condition_part_shared_out(const struct part *p);

/* model_seen_by() for the families of several steps; NULL if they see it in
 * different ways. */
struct factor *condition_seen_by_all(struct compiler *c,
                                     struct step *const *steps, int n,
                                     struct factor *g);

#endif
