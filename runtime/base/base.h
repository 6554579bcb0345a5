/* base.h: what knows nothing of models: the clock, and words. */
#ifndef GBM_BASE_H
#define GBM_BASE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name nearest to `name` by edits, or NULL if none is near. */
const char *rt_nearest(const char *name, int n,
                       const char *(*candidate)(const void *, int),
                       const void *context);
double rt_clock(void);        /* seconds, wall */
double rt_cpu_clock(void);    /* seconds of all threads */
double rt_thread_clock(void); /* of the one that asks */
/* Seconds of work that pay for waking the threads and waiting for the last of
 * them, which takes long where others keep the machine busy. */
#define RT_WORTH_WAKING 5e-4
/* With GBM_TIMES=1: a line on stderr, what has just been done and how many
 * seconds after the process began. */
__attribute__((format(printf, 1, 2))) void rt_clock_note(const char *format,
                                                         ...);

/* The list, moved if need be, with room for an item behind the n that it has.
 * It may begin as NULL, of capacity 0. */
void *rt_grow(void *list, int64_t n, int64_t *capacity, size_t size);

/* The next name of a list "theta, mu[1:3,2]", which is stepped over, and its
 * length, with what it has in brackets; NULL: there is none. */
const char *rt_next_name(const char **list, size_t *length);
/* Whether the list, which may be NULL, has the name. */
bool rt_is_listed(const char *list, const char *name);

#endif
