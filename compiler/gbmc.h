/* gbmc.h: the compiler. */
#ifndef GBMC_GBMC_H
#define GBMC_GBMC_H

#include "emit/emit.h"
#include "report/report.h"

/* link.c: compiles the generated C text into options.output. */
int link_sampler(struct compiler *c, const char *program);
/* Compiles what samplers have in common, as link_sampler would with each. */
int link_prepare(struct compiler *c);
/* gpu_code.c: whether the CUDA text compiles for options.arch; says why not.
 * With options.save_temps the code stays beside options.output. */
bool gpu_code_compiles(struct compiler *c, const char *text);
/* origin.c: writes behind the sampler how it was compiled; false if it cannot
 * be written, which is then reported. */
bool origin_append(struct compiler *c, const char *path);
int compile_model(struct compiler *c, struct program *p);
/* describe.c: the text of a library's entry in the file where it stands, with
 * what is said of it. */
void entry_describe(struct text *out, const struct entry *e);
/* lsp.c: serves an editor on stdin and stdout until it says "exit"; `check`
 * compiles options.buffer. The exit status: 0 after "shutdown". */
int lsp_serve(struct compiler *c, int (*check)(struct compiler *c));

#endif
