/* base.h: what knows nothing of models: the clock, and words. */
#ifndef GBM_BASE_H
#define GBM_BASE_H

#include "base/status.h"

/* The name nearest to `name` by edits, or NULL if none is near. */
const char *rt_nearest(const char *name, int n,
                       const char *(*candidate)(const void *, int),
                       const void *context);
double rt_clock(void);     /* seconds, wall */
double rt_cpu_clock(void); /* seconds of all threads */

#endif
