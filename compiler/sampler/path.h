/* path.h: steps that draw whole paths of discrete states. */
#ifndef GBMC_SAMPLER_PATH_H
#define GBMC_SAMPLER_PATH_H

#include "sampler/sampler.h"

static inline const struct path *path_of(const struct step *s)
{
    return s->own;
}

/* path.c: the step that draws what the first element of a path comes from, if
 * its functions may be called, as they stand in the text before s; or NULL. */
struct step *sampler_head_of(const struct step *s);
/* The distinct references to v in g: their number, or -1 if one runs through a
 * sum. */
int sampler_references(struct compiler *c, struct factor *g, struct var *v,
                       symp *out, int capacity);
/* The parts of h that are of the factor `own`, or that read v (or NULL), are
 * evaluated in place, with what does not depend on h's own node. */
void sampler_tell_in_full(struct compiler *c, struct step *h,
                          const struct factor *own, const struct var *v);

/* path_label.c: the label of the paths of s, if there is one; whether s moves
 * v, as their label; whether it does, once its functions are known; its phase;
 * the functions, for the host its density with the path's. */
void sampler_find_label(struct compiler *c, struct model *m, struct step *s);
bool sampler_path_moves(const struct step *s, const struct var *v);
bool sampler_has_label(const struct step *s);
void sampler_add_label_phase(struct compiler *c, struct step *s);
void sampler_emit_label(struct compiler *c, struct text *out,
                        const struct step *s);
void sampler_emit_label_density(struct text *out, const struct step *s);

/* path_program.c; begins a function of the path that gbm_chain calls. */
void sampler_open_path_callback(struct text *out, const struct step *s,
                                const char *type, const char *what,
                                const char *arguments);
void sampler_emit_path(struct compiler *c, struct text *out, struct step *s);

#endif
