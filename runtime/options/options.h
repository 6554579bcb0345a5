/* options.h: the command line of a sampler, and what it lacks for it. */
#ifndef GBM_OPTIONS_H
#define GBM_OPTIONS_H

#include "base/base.h"
#include "rt.h"
#include <stdio.h>

/* options.c. With rt->methods set. On a bad option the message is in rt. */
enum gbm_status rt_options_parse(struct rt *rt, int argc, char **argv);
void rt_options_free(struct rt_options *options);
/* GBM_WITH_... that the program must have. */
unsigned rt_options_need(const struct rt_options *options);
void rt_print_help(const struct rt *rt, FILE *out);
/* The part of it that lists options, and methods, which NULL ends. */
void rt_print_options(const struct rt_method *const *methods, FILE *out);
/* Whether the word is an option of which the next word is the value. */
bool rt_option_takes_word(const char *word);
/* kept_options.c. Options that make a run what it is, so that a checkpoint
 * keeps them: their names, k = 0, 1, ...; NULL after the last. */
const char *rt_kept_option(int k);
/* The value of one as text, perhaps in `buffer`; NULL: it is not set. */
enum { RT_OPTION_TEXT = 32 };
#define RT_OPTION_SET "set" /* of an option without a value */
const char *rt_option_text(const struct rt_options *options, const char *name,
                           char buffer[RT_OPTION_TEXT]);
/* Sets one that is not on the command line to the value that a checkpoint has,
 * or to none if `text` is NULL. Fails, without a message, if it is there with
 * another value, unless it only says when to end. */
enum gbm_status rt_option_take(struct rt *rt, const char *name,
                               const char *text);
enum gbm_status rt_option_add_init(struct rt *rt, const char *file);

#define RT_MOST_REPLICAS 100000 /* of --replicas */

#endif
