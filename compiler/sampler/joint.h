/* joint.h: sparse joint blocks. */
#ifndef GBMC_SAMPLER_JOINT_H
#define GBMC_SAMPLER_JOINT_H

#include "sampler/sampler.h"

/* One coefficient of a joint block's row: of the cell `reference`, or of those
 * that it hits while the bound loops of sums run. */
struct joint_slot {
    symp reference, coefficient; /* in the factor's loops and the bound ones */
    struct loop *bound[4];
    symp lower[4], upper[4];
    int nbound;
    int variable;  /* its number among the block's variables */
    bool long_sum; /* through a whole plate whose extent is not known */
    symp when; /* the cell is the row's only where this holds; NULL: always */
};

/* A linear form of a block's cells: a'x + rest. */
struct joint_linear {
    struct joint_slot slots[64];
    int n;
    symp rest; /* what is free of the block */
};

/* Whose cells a linear form has. */
struct joint_context {
    const struct step *block; /* its members */
    struct var *vars[MAX_MEMBERS];
    int nvars;
    bool apart;     /* sets `when` of slots */
    bool long_sums; /* are taken */
    /* inside joint_decompose: sums and cases that are open */
    struct loop *bound[4];
    symp lower[4], upper[4];
    int nbound;
    symp when;
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
    /* value, slope and curvature as functions of SYM_TARGET and of columns, for
     * the vector unit: curved.c; NULL: they are evaluated in place */
    struct curve_rows *columns;
    /* a vector's own prior, or NULL: rows are pairs of its cells, numbers
     * pair[0] and pair[1], no slots; weight is that of the product of both */
    struct family *vector;
    struct loop *pair[2];
    /* The density of a vector node in which the block stands, E'PE, E = Ax + r:
     * rows are pairs of its components, too. The slots are those of component
     * pair[0]; weight is P[pair[0],pair[1]], and score, of component pair[0],
     * -(P r)[pair[0]]. */
    bool forms;
    struct family *node; /* ... the vector's */
    bool common_weight;  /* ... no instance changes P */
    /* ... data settle the coefficients, and r = offset, if the variable `leaf`,
     * or NULL, is observed throughout */
    struct var *leaf;
    bool data_design, data_offset;
    struct joint_term *next;
};

/* The prior of cells that move with their scale, as rows of a joint block. */
struct rescaled_rows {
    struct joint_term *term;
    int number;     /* of the term */
    int slot;       /* the own cell in it */
    double sign;    /* of the cell in the predictor */
    bool chain;     /* earlier cells of the variable are in it too */
    symp reference; /* to the node on which the scale depends */
    symp mean;      /* in the terms of the predictor */
    struct rescaled_rows *next;
};
/* A plate of a block with the scale of its prior, u ~ N(m, 1 / scale), and the
 * one node on which the scale depends, as its power: both can be moved along
 * the line on which (u - m) sqrt(scale) stays. If the nodes are a plate
 * themselves, each moves with the cells whose scale it is. */
struct rescaling {
    struct family *hyper;
    const struct family *plate;
    const struct part *parts; /* of the hyper node's conditional */
    struct joint_term *term;  /* the plate's prior */
    int number;               /* of the term */
    int variable;             /* the plate's, among the block's */
    double power;             /* scale = constant * hyper^power */
    /* the plate's, behind the first elements of a chain that share its scale;
     * NULL: a vector */
    struct rescaled_rows *rows;
    /* of a vector: what the hyper node's log has in the prior's density as its
     * coefficient; NULL: as much as belongs to the elements of a plate */
    symp order;
    struct rescaling *next;
};
/* A joint block's own part of its step. */
struct joint {
    struct joint_term *terms;
    struct step *alone[MAX_MEMBERS]; /* its members' steps without it */
    struct rescaling *rescalings;
    struct step *walk; /* joint_marginal.c: of parameters that move with the
                          block integrated out; no step of the sweep; or NULL */
    bool curved;       /* some term is */
};
/* NULL: s is no joint block. */
struct joint *joint_of(const struct step *s);
/* Whether s is one and all its terms are quadratic. */
bool joint_is_gaussian(const struct step *s);

/* joint.c: sparse joint blocks of families that enter common linear
 * predictors, before smaller ones are formed. */
void sampler_form_joint_blocks(struct compiler *c, struct model *m);

/* ---- joint_block.c */
/* The block of these steps, or NULL if some factor is not quadratic in it.
 * long_sums: it may take what these run through. */
struct step *joint_block(struct compiler *c, struct model *m,
                         struct step *const *steps, int n, bool long_sums);
/* Whether there is one with the last of the steps, as there is with the others,
 * a normal one unless it may be curved; only what this one stands in is looked
 * at. */
bool joint_takes(struct compiler *c, struct model *m, struct step *const *steps,
                 int n, bool curved, bool long_sums);
const char *joint_block_name(struct compiler *c, const struct step *s);

/* ---- joint_term.c */
/* What g adds to the block, or NULL if it reads it otherwise than through one
 * linear predictor. */
struct joint_term *joint_make_term(struct compiler *c, struct joint_context *k,
                                   const struct step *s, struct factor *g);
/* Whether f's prior is normal; also as a mixture of normals, given what the
 * augmentation added. */
bool joint_has_normal_prior(struct compiler *c, const struct family *f);
/* Whose density g is, or stands in the place of. */
struct family *joint_node(const struct factor *g);
/* The factor that is f's prior, or stands in its place. */
struct factor *joint_prior(const struct family *f);
/* What stands for the linear predictor in a curved term. */
symp joint_eta(struct compiler *c);
/* Whether a sum of unknown length runs through f's variable. */
bool joint_in_long_sum(const struct step *block, const struct family *f);
/* The block's variables, each once; returns their number. */
int joint_variables(const struct step *s, struct var **out);
int joint_count_terms(const struct step *s);

/* joint_row_program.c: slots_, or pairs_ of a vector, row_, design_ and offset_
 * of a term, the number-th of the block. */
void joint_emit_term(struct compiler *c, struct text *out, const struct step *s,
                     const struct joint_term *t, int number);

/* joint_linear.c */
/* v's number among the block's variables, or -1. */
int joint_variable_number(const struct joint_context *k, const struct var *v);
bool joint_mentions(const struct joint_context *k, symp e);
/* Adds by * e to a linear form of the block; false if e is not linear. */
bool joint_decompose(struct compiler *c, struct joint_context *k, symp e,
                     symp by, struct joint_linear *out);
/* joint_term.c: e / by, term by term, so that what both have in common goes. */
symp joint_divide(struct compiler *c, symp e, symp by);
/* joint_term.c: free of everything that moves, but for what g's density is of.
 */
bool joint_constant(symp e, const struct factor *g);

/* joint_alike.c: whether rows of t share weights, and the function of the
 * generated program that numbers those that do alike. */
bool joint_alike(const struct joint_term *t);
void sampler_emit_alike(struct compiler *c, struct text *out,
                        const struct step *s, const struct joint_term *t,
                        int number);

/* block_make.c: whether a dense block can draw these steps alone. */
bool sampler_dense_alone(struct compiler *c, struct model *m,
                         struct step *const *steps, int n);

/* joint_forms.c: g, a vector node's normal density, as terms of a joint block
 * that stands in its mean, or that the node is of as well; NULL: it is none, or
 * too large. */
struct joint_term *vector_form_terms(struct compiler *c, const struct model *m,
                                     struct joint_context *k, struct factor *g);
/* The family whose components' pairs are the term's rows, or NULL. */
struct family *sampler_pairs_of(const struct joint_term *t);
/* Its sums over instances, for each element of P, are of data if `leaf` is. */
bool sampler_sums_at_load(const struct joint_term *t);

/* joint_vector.c */
enum { MOST_PRODUCTS = 32 };
/* A sum of products: a scale that no cell changes, and a unit. */
struct joint_products {
    struct joint_product {
        symp scale, unit;
        bool constant; /* the unit is data */
    } items[MOST_PRODUCTS];
    int n;
    bool failed;
};
/* An element of the precision matrix of g's vector, at the loops of its pair,
 * as such a sum; false: there are too many. */
bool sampler_products_of(struct compiler *c, const struct factor *g,
                         struct loop *const pair[2], symp e,
                         struct joint_products *out);
/* A vector family's normal prior as terms of a joint block;
 * NULL: it is not normal, or its extent is not the same for all. */
struct joint_term *vector_prior_terms(struct compiler *c, const struct model *m,
                                      struct family *f);
/* Whether the node's number of components differs between instances. */
bool sampler_extent_varies(struct compiler *c, const struct family *f);

/* joint_phases.c */
void joint_phases(struct compiler *c, struct step *s);

/* rescale.c: the plates of a block that can be moved with their scales. */
void sampler_find_rescalings(struct compiler *c, struct model *m,
                             struct step *block);
/* rescale_program.c: their functions; what the self-check asks of them. */
void sampler_emit_rescalings(struct compiler *c, struct text *out,
                             const struct step *s);
void sampler_emit_rescale_check(struct text *out, const struct step *s);

/* joint_marginal.c: the functions of s's walk; whether it changes v; where what
 * is tuned of it stands. */
void sampler_emit_marginal_judge(struct text *out, const struct step *s);
void sampler_emit_marginal(struct compiler *c, struct text *out,
                           const struct step *s);
bool sampler_marginal_moves(const struct step *s, const struct var *v);
void sampler_add_marginal_slot(struct compiler *c, struct model *m,
                               struct step *s);

/* curved.c: what a block with curved terms has in addition. */
enum { CURVE_VALUE, CURVE_SLOPE, CURVE_CURVATURE, CURVE_FUNCTIONS };
struct curve_rows {
    struct hoisted hoisted;
    symp of[CURVE_FUNCTIONS];
};
/* Settles `columns` of s's terms. */
void sampler_find_curve_columns(struct compiler *c, struct step *s);
void sampler_emit_curve(struct compiler *c, struct text *out,
                        const struct step *s, const struct joint_term *t,
                        int number);
void sampler_emit_curved(struct compiler *c, struct text *out,
                         const struct step *s);

/* scatter.c: whether, and how, a vector's constant weights are had from
 * the terms of their sums; statements that add them to cells_. */
bool sampler_can_scatter(struct compiler *c, const struct joint_term *t);
void sampler_emit_scatter(struct emitter *e, const struct joint_term *t);

#endif
