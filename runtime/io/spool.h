/* spool.h: draws on disk while the run goes on. Private to the runtime. */
#ifndef GBM_SPOOL_H
#define GBM_SPOOL_H

#include <stdio.h>

#include "io/draws.h"
#include "io/output.h"

/* The file NAME.part beside an output file NAME: a header, then blocks of draws
 * as they were kept, each whole or dropped by the reader. It exists from a
 * second after the run began until NAME is written. */
struct rt_spool {
    char path[RT_PATH]; /* empty: none is wanted */
    int fd;             /* -1: not created yet */
    int64_t size;       /* up to the last whole block */
    int kept;           /* draws a chain that are in it */
    double shown;       /* clock of the last block */
    bool failed;
};

/* `out` NULL, or no regular file (a pipe): nothing is ever written. */
void rt_spool_begin(struct rt_spool *spool, const char *out);
/* Adds what was kept since, if a second has passed, or all if `now`. */
enum gbm_status rt_spool_add(struct rt_spool *spool,
                             const struct gbm_draws *draws, bool now,
                             char error[GBM_ERROR]);
/* Closes the file; removes it unless `keep`. */
void rt_spool_end(struct rt_spool *spool, bool keep);

/* Draws written whole to a stream in this form, and read back. */
bool rt_spool_write(FILE *f, const struct gbm_draws *draws);
bool rt_is_spool(FILE *f);
enum gbm_status rt_spool_read(struct gbm_draws *draws, FILE *f,
                              const char *path, char error[GBM_ERROR]);

#endif
