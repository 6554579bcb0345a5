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

/* path_program.c */
void sampler_emit_path(struct compiler *c, struct text *out, struct step *s);

#endif
