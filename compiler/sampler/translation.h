/* translation.h: moves of effects and of what is added to them, the sums held.
 */
#ifndef GBMC_SAMPLER_TRANSLATION_H
#define GBMC_SAMPLER_TRANSLATION_H

#include "sampler/moves.h"

/* A statement of what is added: a member of the step, its index the loops that
 * the element does not settle. Its prior's slope and precision at a cell, and
 * the number that a cell has in a sum of the effects' statement. */
struct added {
    const struct loop *tied[MAX_LOOPS]; /* those that it does; as in `tied` of
                                           struct translation */
    symp design, slope, precision;
    symp deviation; /* of a cell from its prior's mean, in the statement's
                       loops; of a scalar */
};

/* The node of an element that is the scale of the effects' prior, whose
 * precision it stands in to this power: drawn with what moves integrated out.
 */
struct spread {
    struct family *node;
    double power;
};

/* The sums effect + design * added are held; an element has one value of the
 * loops that they have in common. */
struct translation {
    struct family *effects;
    struct part *part; /* all of them that an element has */
    struct loop *tied[MAX_LOOPS];
    int ntied;
    symp slope, precision;       /* of the prior of an effect */
    const struct spread *spread; /* or NULL */
    struct added added[MAX_MEMBERS];
};

enum { MOST_TRANSLATED = 64 }; /* coordinates of an element that moves */

/* Where s, such a step, has one. */
static inline const struct translation *translation_of(const struct step *s)
{
    return s->own;
}
/* held_sum.c: the expression e of a member's statement in the effects' loops
 * where these settle it, and in the member's index. */
symp sampler_in_element(struct compiler *c, const struct step *s, int member,
                        symp e);

/* held_spread.c: whether some step draws such a node. In the loops of an
 * element: opens the node's own; spread_: whether it moves; the density of its
 * logarithm, with the loops that `open` opens. */
void sampler_find_spread(struct compiler *c, const struct model *m,
                         struct step *s);
symp sampler_spread_cell(struct compiler *c, const struct spread *k);
void sampler_open_spread(struct emitter *e, const struct translation *t);
void sampler_emit_spread(struct compiler *c, struct text *out,
                         const struct step *s,
                         void (*open)(struct emitter *e, const struct step *s));

/* held_scale.c: opens WHAT_at_, the log density of t_ along a line that ALONG
 * has the coefficients of, and the struct WHAT_ that it is given: from where
 * the scale is `now`. */
struct emitter sampler_open_line(struct compiler *c, struct text *out,
                                 const struct step *s, const char *what,
                                 const char *along);
/* Whether a log density is normal and the node at `scale` its scale, as power
 * tells; whether nothing but the prior of f reads the step's node. */
bool sampler_is_scale(struct compiler *c, symp logp, symp scale, double power);
bool sampler_only_in_prior(const struct model *m, const struct step *node,
                           const struct family *f);
/* held_scale.c: steps that scale what is added with the scale of its prior, the
 * sums held; behind s, a translation. */
void sampler_find_held_scales(struct compiler *c, struct model *m,
                              struct step *s);

/* A sum in which the effects stand, in the loops of their statement. */
struct sum {
    struct compiler *c;
    struct model *m;
    struct family *effects;
    symp terms[16]; /* what is added, of the coefficient 1 of the effect */
    int n;
    struct var_list moved; /* what of it moves */
    struct step *step;     /* that is made of it */
};

/* held_sum.c: takes the terms from the first sum in a density or a kept node
 * that has any; false: there is none. */
bool sampler_find_terms(struct sum *k);
/* Whether e reads what moves of the sum; that or an effect. */
bool sampler_sum_moves(const struct sum *k, symp e);
bool sampler_sum_mentions(const struct sum *k, symp e);
/* Whether all but their priors, which are apart, reads effects and what moves
 * in such sums. */
bool sampler_only_sums(const struct sum *k);

/* translation_program.c */
void sampler_emit_translation(struct compiler *c, struct text *out,
                              struct step *s);

#endif
