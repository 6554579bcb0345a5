/* cache.h: files that one run leaves for later ones, each under a key of all
 * that it depends on: compiled samplers (gbmc) and machine code for GPUs (the
 * plugin). They stand in $GBM_CACHE, else $XDG_CACHE_HOME/gbm, else
 * ~/.cache/gbm; with GBM_CACHE=off there is none. What is missing, damaged or
 * cannot be written is not missed. Processes may share the folder: a file
 * appears whole, and one that is read may be removed meanwhile. Beyond
 * GBM_CACHE_MB megabytes (1000) what was used least recently goes. */
#ifndef GBM_CACHE_H
#define GBM_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Two independent hashes of 64 bits. */
struct rt_key {
    uint64_t a, b;
};
#define RT_KEY_EMPTY ((struct rt_key){0xcbf29ce484222325u, 1})

/* Adds bytes and their number, so that "ab", "c" is not "a", "bc". */
void rt_key_add(struct rt_key *key, const void *bytes, size_t n);
void rt_key_add_text(struct rt_key *key, const char *text);

/* Is there a folder to keep anything in? Makes it. */
bool rt_cache_exists(void);
/* Whether something is kept; it may be damaged. */
bool rt_cache_has(const struct rt_key *key, const char *kind);
/* What was kept (the caller frees it), or NULL. `kind` ends the file's name. */
void *rt_cache_read(const struct rt_key *key, const char *kind, size_t *n);
void rt_cache_write(const struct rt_key *key, const char *kind,
                    const void *bytes, size_t n);

#endif
