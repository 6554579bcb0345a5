/* block.h: what makes Gaussian blocks of steps. */
#ifndef GBMC_SAMPLER_BLOCK_H
#define GBMC_SAMPLER_BLOCK_H

#include "sampler/group.h"
#include "sampler/joint.h"

/* ---- block_members.c */
/* Subscripts of member's coordinate `index` where its plate loops have the
 * values that the part's reference gives them. */
struct plate_values {
    const struct family *first; /* whose loops the values are of */
    symp values[12];
};
/* The loops themselves. */
void block_no_values(struct compiler *c, const struct family *f,
                     struct plate_values *v);
/* Those that p's instances hit; false if they do not tell. */
bool block_values_of_part(struct compiler *c, const struct family *f,
                          const struct part *p, struct plate_values *v);
/* The coordinate of a member at `index`. */
symp block_member_cell(struct compiler *c, const struct member *m,
                       const struct indices *index,
                       const struct plate_values *v);
/* Fresh loops through f's components, or its plate. */
struct indices block_index_loops(struct compiler *c, const struct family *f,
                                 const char *name);
/* The families as the step's members; in a dense block plates are whole. */
void block_set_members(struct compiler *c, struct step *s,
                       struct family *const *families, int n, bool dense);

/* ---- block_quadratic.c */
/* coefficient[i] x[i] over all coordinates of member i, summed. */
symp block_times_member(struct compiler *c, const struct member *m,
                        const struct indices *index,
                        const struct plate_values *v, symp coefficient);
/* The members' families. */
struct elements block_elements(const struct step *s);
bool block_has_members(struct compiler *c, const struct step *s, symp e);
/* Sets potential and precision of q, whose part is set; false if its log
 * density is not quadratic in the block. */
bool block_derive_quadratic(struct compiler *c, const struct step *s,
                            const struct plate_values *v, bool dense,
                            struct quadratic *q);
bool block_prior_is_diagonal(struct compiler *c, const struct step *s,
                             const struct quadratic *q);
/* Any real vector will do; not so one on the simplex, or of counts. */
bool block_unconfined_vector(const struct family *f);

/* ---- block_row.c */
/* Sets weight, score and design of q, whose part is set; false if it has no
 * such row. */
bool block_derive_row(struct compiler *c, const struct step *s,
                      const struct plate_values *v, struct quadratic *q);

/* ---- block_make.c */
/* One Gaussian block of the steps' families, if it can be; NULL: it cannot. */
struct step *block_make(struct compiler *c, struct model *m,
                        struct step *const *steps, int n, bool dense);

/* ---- meet.c */
/* Whether elements of the same number are in the same instances of factors. */
bool block_meet_everywhere(struct compiler *c, const struct step *a,
                           const struct step *b);
/* Whether one stands in the other's prior. */
bool block_in_own_prior(const struct step *a, const struct step *b);

/* ---- vector_node.c */
/* The sampler of a vector node's step. */
void block_vector_node(struct compiler *c, struct model *m, struct step *s);

#endif
