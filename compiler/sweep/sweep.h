/* sweep.h: the order of the steps, and what is computed before them. */
#ifndef GBMC_SWEEP_SWEEP_H
#define GBMC_SWEEP_SWEEP_H

#include "condition/condition.h"

/* row_sums.c: terms that are sums over rows of data, from sums computed at
 * load. */
void sweep_sum_rows(struct compiler *c, struct model *m);

/* ---- tally.c -------------------------------------------------------------
 */
/* The instances of a part as the rows whose key, which is random, is `group`:
 * the part without an index and without a guard. Or, of a node in expectation,
 * all rows, each of which counts in the group by its weight. */
struct grouping {
    struct part part;
    symp key, group;
    symp weight;   /* or NULL; then there is no key, and where not NULL the */
    symp within;   /* condition that group is one */
    bool searched; /* else each element looks at all rows */
    bool of_cells; /* the groups are the cells of a vector node */
};
/* False if the part is not of this kind. */
bool sweep_by_group(struct compiler *c, const struct step *s,
                    const struct part *p, struct grouping *k);
/* The rows that count for each cell of a vector node. */
bool sweep_by_cell(struct compiler *c, const struct step *s,
                   const struct quadratic *q, struct grouping *k);
/* Rows that weights of a node in expectation are in all coefficients of: of q,
 * or if it is NULL of the part. */
bool sweep_by_weight(struct compiler *c, const struct part *p,
                     const struct quadratic *q, struct grouping *k);
/* e, of the part that k was made of, in a row of the group, which it counts by
 * its weight; NULL: e has none. */
symp sweep_row_in_group(struct compiler *c, const struct grouping *k, symp e);

/* A table of a tally: each row adds term to the cell where key is group; or,
 * with weights, to all cells, weighted. */
struct tallied {
    struct family *family;
    symp group, term;
    const struct loop *given[MAX_LOOPS]; /* loops of the family that the loops
                                            of the rows are: a row adds to cells
                                            of its own there; else NULL */
    struct tallied *next;
};
/* Rows, by these loops, each of the group that its key tells; or of all groups,
 * by weights: then the key is what a row weighs in group 1. */
struct keyed_rows {
    struct loop *loops[MAX_LOOPS];
    symp lower[MAX_LOOPS], upper[MAX_LOOPS];
    int n;
    symp key;
    const struct var *weights; /* or NULL */
};
struct tally {
    struct keyed_rows rows;
    int level;
    struct inverse *index; /* the rows of each group, of the plate of its
                              factor; NULL: no plate is told */
    struct tallied *sums;
    struct tally *next;
};
/* Makes tallies of the tables from *first on, the last families of the model,
 * and puts these into an order in which they can be computed. */
void sweep_form_tallies(struct compiler *c, struct model *m,
                        struct family **first);
/* The table is read only where all of leaf is observed. */
void sweep_say_leaf(struct var *table, const struct var *leaf);

/* copies.c: rows that are the same, evaluated once. */
void sweep_count_copies(struct compiler *c, struct model *m);
enum { COMPARED_MOST = 20000 }; /* rows beyond are taken once each */

/* lift.c: what depends on the value tried, and on no element, becomes a table,
 * computed before the elements. Requires the steps; sets `lifted` of those. */
void sweep_lift(struct compiler *c, struct model *m);
/* Statistic number i as a trial evaluates it. */
symp sweep_statistic_tried(const struct step *s, int i);

/* anchored.c: exp(x) of log links, about where x stands. Requires the plan. */
void sweep_anchor(struct compiler *c, struct model *m);

/* plan.c: the order of the sweep, inverse indices, derived nodes to keep. */
void sweep_plan(struct compiler *c, struct model *m);
void sweep_number_steps(struct model *m);
/* Whether the step changes v. */
bool step_moves(const struct step *s, const struct var *v);
/* The function that computes a deterministic family where it is kept up to
 * date; its kernel is named after it. */
const char *sweep_derive_name(struct compiler *c, const struct family *f);

/* ---- added.c: with powers, the nodes that augmentations added go first; says
 * so where they do not. The first requires the steps before sweep_plan(), the
 * second their dependence. ----------------------------------------------- */
void sweep_draw_added_first(struct compiler *c, struct model *m);
void sweep_check_added(struct compiler *c, struct model *m);

/* ---- depend.c ----------------------------------------------------------- */
/* Sets `reads` and `changes` of all steps. Requires the sweep. */
void sweep_find_dependence(struct compiler *c, struct model *m);
/* An empty list, with room for all variables. */
struct var_list *sweep_new_list(struct compiler *c, const struct model *m);
/* Adds what e (or NULL) reads that a sweep may change, and what that is
 * computed from. */
void sweep_add_read(struct var_list *list, symp e);
/* Whether the update of s recomputes f, the first of its sequence if it is in
 * one. */
bool sweep_recomputes(const struct step *s, const struct family *f);
/* Whether neither step reads or changes what the other changes: in either
 * order, or side by side, they draw the same. */
bool sweep_may_swap(const struct step *a, const struct step *b);

/* ---- recall.c ----------------------------------------------------------- */
/* A part's sum, kept with the values that it is a function of. */
struct recalled {
    const struct var_list *key; /* the variables of these values */
    symp power;                 /* is multiplied by the sum; or NULL */
    symp logp;                  /* of an instance, without */
    bool likelihood; /* after a sweep the sum is known for the state as it is,
                        and is the log density of all of the factor's data */
    int number;      /* among those of the step */
};
/* Sets `recalled` of parts. Requires find_dependence and hoist. */
void sweep_find_recalled(struct compiler *c, struct model *m);
/* How many parts of a step have it. */
int sweep_recalled(const struct step *s);

/* ---- phases.c ----------------------------------------------------------- */
enum phase_kind {
    PHASE_MAP,    /* draws an element, or computes it */
    PHASE_SUM,    /* each row contributes to its group */
    PHASE_SCAN,   /* a recursion along a loop */
    PHASE_SOLVE,  /* factors a precision and draws */
    PHASE_SEARCH, /* tries values until one is taken; a trial is its own
                     log density and those sums behind it that say so */
    PHASE_INDEX   /* rebuilds an inverse index */
};

/* One bulk operation. For each element of the step it goes through the
 * instances of a part, or there is one row. */
struct phase {
    enum phase_kind kind;
    const char *what; /* it does, in words */
    const struct part *part;
    const struct family *rows; /* not NULL: its rows are the elements of this
                                  family, whatever the step's are */
    const struct keyed_rows *keyed; /* not NULL: its rows are these */
    symp *reads;                    /* the cells that a row reads, */
    symp *turns; /* how many of each; 0: the same for all rows */
    int nreads;
    symp operations; /* of a row; a function counts as ten */
    symp scratch;    /* how many cells of no variable a row moves */
    symp tried;      /* values for which a row is computed; NULL: one */
    bool at_least;   /* ... or more: a search */
    struct family *const *writes; /* the families that it draws or computes */
    int nwrites;
    symp drawn; /* numbers that an element draws; NULL: none */
    /* All elements of the step together, and all values: work.c. Where `lists`
     * is not NULL its lists say which rows there are, and this is of a row. */
    symp all_rows, all_operations, all_scratch, *all_turns;
    const struct inverse *lists;
    symp passes; /* over what it reads: elements that go through rows each */
    bool random;
    const char *draw; /* the kernels' function that it draws with first; or
                         NULL: it may begin with any */
    bool trial;       /* once for each value that the search tries */
    bool at_load;     /* from sums computed at load, where all is observed */
    bool in_tables;   /* from tables of sums, where all is observed: tally.c */
    struct phase *next;
};
/* Sets the phases of all steps. Requires find_dependence. */
void sweep_form_phases(struct compiler *c, struct model *m);
/* The last phase so far. */
struct phase *sweep_add_phase(struct compiler *c, struct step *s,
                              enum phase_kind kind, const char *what);
/* What most samplers do: sums over the instances of parts, then a draw, which
 * is returned. */
struct phase *sweep_add_usual_phases(struct compiler *c, struct step *s);
/* It draws with the functions in e, in the order of their arguments. */
void phase_draws(struct compiler *c, struct phase *p, symp e);
/* A row of it computes e, or nothing if that is NULL; `times` such. */
void phase_computes(struct compiler *c, struct phase *p, symp e);
void phase_computes_each(struct compiler *c, struct phase *p, symp e,
                         symp times);
/* It factors a matrix of d rows, and solves for a mean and a draw. */
void phase_solves(struct compiler *c, struct phase *p, symp d);
/* It writes f's elements; they are what they were times a number. */
void phase_writes(struct compiler *c, struct phase *p, struct family *f);
void phase_multiplies(struct compiler *c, struct phase *p, struct family *f);
/* What an update adds up of a part: a phase of its own, or as part of `alone`
 * where an element has one row. */
void sweep_add_part(struct compiler *c, struct step *s, const struct part *p,
                    struct phase *alone);
/* How many cells a row moves, and all rows. */
symp phase_cells(struct compiler *c, const struct phase *p);
symp phase_all_cells(struct compiler *c, const struct phase *p);
const char *phase_word(const struct phase *p);
/* The kernels' function that an update of s draws with first, as far as that
 * is told; or "none". */
const char *sweep_first_draw(const struct step *s);

/* work.c: operations of e: its own and those of what it is made of. */
symp sweep_operations(struct compiler *c, symp e);
/* What a sweep does in the phases of s: sets all_rows to passes. */
void sweep_count_work(struct compiler *c, struct step *s);
/* What the log densities or definitions of all elements of f are computed by,
 * in operations as phases count them. */
symp sweep_family_work(struct compiler *c, const struct family *f);

/* fuse.c: sets `drawn` of the quadratics of dense blocks; such a step goes
 * before its block. Requires find_dependence. */
void sweep_fuse(struct compiler *c, struct model *m);

/* ---- hoist.c ------------------------------------------------------------ */
/* An opaque part made ready for many trial values: `value` i is computed once
 * per update (and per instance, if `column`) and called name[i] in `body`, the
 * log density of an instance up to a constant, in the target and `moved`, the
 * target less its old value. */
#define HOISTED_MOST 24

struct hoisted {
    symp value[HOISTED_MOST], body;
    symp same;  /* further terms, one value for all instances; or NULL */
    symp slope; /* of further terms, linear in the target; or NULL */
    const char *name[HOISTED_MOST];
    bool column[HOISTED_MOST];
    int n;
    bool loop;  /* there may be many instances */
    bool moved; /* body asks for it */
};
void sweep_hoist(struct compiler *c, struct model *m);
/* The same of functions of SYM_TARGET that each row of a plate has, up to
 * nothing: in them the names of h, all of them columns, stand for what is free
 * of the target. False: some of it may exist for some values alone. */
bool sweep_hoist_rows(struct compiler *c, struct step *s, symp *functions,
                      int n, struct hoisted *h);
/* For --emit=plan. */
void sweep_print_hoisted(struct text *out, struct compiler *c,
                         const struct step *s);

/* ---- slots.c ------------------------------------------------------------ */
/* What an array of the program is for. */
enum life {
    LIFE_DATA,      /* the user gives it */
    LIFE_CONSTANT,  /* data settle it: computed at load */
    LIFE_STATE,     /* random: steps draw what data do not give of it */
    LIFE_STATISTIC, /* a function of the state */
    LIFE_TUNING,    /* warm-up learns it */
    LIFE_INDEX,     /* which elements, cells and places belong together */
    LIFE_SCRATCH    /* means nothing between two sweeps, but for where
                       a search begins */
};

/* What it is to the runtime: enum gbm_role of model.h, but for the roles of
 * variables. */
enum slot_kind {
    SLOT_VARIABLE,
    SLOT_TABLE,
    SLOT_TUNING,
    SLOT_RECALLED,
    SLOT_MARKS,
    SLOT_JOINT,
    SLOT_ORDER,
    SLOT_INVERSE
};

/* An array in memory. The members MEMBER_n1, ..., MEMBER_seen and
 * MEMBER_stride of struct state tell its first extents, which cells are seen,
 * and how far it is from one chain to the next, where the slot has such. */
struct slot {
    enum slot_kind kind;
    const char *name;   /* in the runtime's messages */
    const char *member; /* of struct state */
    const char *about;
    enum life life;
    bool integer; /* cells are int, else real */
    int ndim, extents;
    bool seen;
    bool per_chain; /* or may be: what is observed throughout is not */
    /* SLOT_TUNING, SLOT_RECALLED, SLOT_MARKS: which tells how many cells,
     * without the step's name behind it; NULL: there is one for each element */
    const char *counted;
    bool few;              /* there are no cells where chains are many (rt.h) */
    const struct var *var; /* SLOT_VARIABLE */
    const struct family *family; /* whose elements or instances it is about */
    const struct step *step;     /* SLOT_TUNING, SLOT_RECALLED, SLOT_MARKS,
                                    SLOT_JOINT */
    int number;                  /* in the runtime's table */
    struct slot *next;
};
/* Sets m->slots, and where variables, families, steps, sequences and inverses
 * find their own. Requires the sweep. */
void sweep_settle_slots(struct compiler *c, struct model *m);
void slots_print(struct text *out, struct compiler *c, const struct model *m);
/* A slot of a sampler's own, behind the others (struct sampler's `slots`). */
struct slot *sweep_add_slot(struct compiler *c, struct model *m,
                            struct slot slot);
/* One of cells for each chain that is of a step. */
struct slot *sweep_add_slot_of(struct compiler *c, struct model *m,
                               struct step *s, struct slot slot);
/* That of a move, of which warm-up tells whether it pays
 * (stdlib/kernels/carried.h). */
struct slot *sweep_add_pays_slot(struct compiler *c, struct model *m,
                                 struct step *s);
/* What the functions on an element of a step, and its tuning, are named after.
 */
const char *step_id(struct compiler *c, const struct step *s);

/* load_order.c: m->load_order, in which extents can be settled and constants
 * computed. Requires the slots. */
void sweep_order_load(struct compiler *c, struct model *m);
/* Whether f is elements of a stochastic array that only constants define. */
bool sweep_fixed_part(const struct family *f);

#endif
