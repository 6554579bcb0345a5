/* common_cells.h: cells that are computed and the same of all components. */
#ifndef GBMC_SAMPLER_COMMON_CELLS_H
#define GBMC_SAMPLER_COMMON_CELLS_H

#include "sampler/component.h"

/* Whether f computes such cells, of a variable whose subscripts `dims`, a bit
 * each, are components; of all components is seen at load alone. */
bool sampler_is_common(const struct family *f, unsigned dims);
/* `held` where some cell of v is known, or a computed one is not of all
 * components, of which there are as many as the text says. */
void sampler_emit_common_held(struct emitter *e, struct var *v, unsigned dims,
                              const char *components);

#endif
