/* gbmc.h: the compiler. */
#ifndef GBMC_GBMC_H
#define GBMC_GBMC_H

#include "emit/emit.h"
#include "report/report.h"

/* link.c: compiles the generated C text into options.output. */
int link_sampler(struct compiler *c, const char *program);
/* origin.c: writes behind the sampler how it was compiled; false if it cannot
 * be written, which is then reported. */
bool origin_append(struct compiler *c, const char *path);
int compile_model(struct compiler *c, struct program *p);

#endif
