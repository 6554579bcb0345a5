/* turned.h: numbers that go with the labels where there are two of these. */
#ifndef GBMC_SAMPLER_TURNED_H
#define GBMC_SAMPLER_TURNED_H

#include "sampler/component.h"

enum { MOST_TURNED = 8 };

/* How u and v change at once, or u alone (v NULL). All are their own inverses,
 * of a Jacobian of 1. */
enum turn_kind {
    TURN_STAYS,
    TURN_COMPLEMENT, /* 1 - u; of two: each is 1 - the other */
    TURN_NEGATIVE,   /* -u; of two: each is - the other */
    TURN_TRADE,      /* of two: each is the other */
    TURN_SHIFT       /* of two: u + v, and -v */
};

struct flip {
    enum turn_kind kind;
    struct var *u, *v;
};

struct turned {
    struct flip turns[MOST_TURNED];
    int n;
};

/* Finds, as turns of what `low` and `high` read, how one becomes the other and
 * that the first; those that are there stay. False: there is no such way. */
bool sampler_find_turns(struct compiler *c, const struct model *m,
                        struct turned *all, symp low, symp high);
/* e where all have turned. */
symp sampler_turn(struct compiler *c, const struct turned *all, symp e);
/* The other one of two that turn at once; NULL: v does so alone, or not. */
struct var *sampler_turns_with(const struct turned *all, const struct var *v);
/* The statements that turn all; `held` where one is too near its end. */
void sampler_emit_turns(struct emitter *e, const struct turned *all);
void sampler_emit_turns_held(struct emitter *e, const struct turned *all);

#endif
