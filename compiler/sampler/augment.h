/* augment.h: augmentations of the library, as the files of augment share it. */
#ifndef GBMC_SAMPLER_AUGMENT_H
#define GBMC_SAMPLER_AUGMENT_H

#include "sampler/sampler.h"

/* What the names of an augmentation stand for in a density that it matches. */
enum { MAX_BOUND = 16 };
struct binding {
    const char *name;
    symp value;
};
struct match {
    struct binding bound[MAX_BOUND];
    int n;
    const struct family *vector; /* whose arguments have the names that they
                                    have in its distribution; or NULL */
    const struct family *cells;  /* of the new nodes, where these are one for
                                    each cell; or NULL */
};

/* augment_match.c: whether the density g is of the form that a is for. */
bool augment_matches(struct compiler *c, const struct entry *a,
                     const struct factor *g, struct match *m);
/* What a name is bound to; NULL: nothing. */
symp augment_bound(const struct match *m, const char *name);
/* The first augmentation of the library that g matches, or NULL. */
const struct entry *augment_entry(struct compiler *c, const struct factor *g);

/* augment_apply.c: replaces g by the joint density with a new node, whose
 * factor it returns; and back, the last one first. */
struct factor *augment_apply(struct compiler *c, struct model *m,
                             const struct entry *a, struct factor *g,
                             struct match *match);
void augment_undo(struct model *m, struct factor *g, struct factor *added);

/* augment_trial.c: augmentations that are tried together, and the latent
 * families that their densities enter, each with whether it is closed without
 * them. */
enum { MAX_TOGETHER = 8 };
struct trial {
    struct {
        struct factor *g, *added;
        const struct entry *a;
    } at[MAX_TOGETHER];
    int n;
    struct family **families, **gained;
    bool *before;
    int nfamilies, ngained;
};

/* Whether f's full conditional is drawn exactly, as the model stands. */
bool augment_closed(struct compiler *c, struct model *m, struct family *f);
/* The model has changed: what was closed before it is asked anew. */
void augment_forget_closed(struct model *m);
struct trial augment_trial(struct compiler *c, const struct model *m);
/* Puts a's matched density g into the trial, and what it enters; false if there
 * are too many. */
bool augment_put(struct compiler *c, struct model *m, struct trial *t,
                 const struct entry *a, struct factor *g);
bool augment_is_in(const struct trial *t, const struct factor *g);
void augment_apply_all(struct compiler *c, struct model *m, struct trial *t);
void augment_undo_all(struct model *m, struct trial *t);
/* Whether the trial, which is applied, opens no family; which ones it closes in
 * t->gained. */
bool augment_opens_none(struct compiler *c, struct model *m, struct trial *t);
/* Applies the trial if it is a gain of `least` families and more. */
bool augment_try(struct compiler *c, struct model *m, struct trial *t,
                 int least);

#endif
