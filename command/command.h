/* command.h: `gbm`, the command for people over gbmc and the samplers. */
#ifndef GBM_COMMAND_H
#define GBM_COMMAND_H

#include "record/record.h"

#include <jansson.h>
#include <limits.h>

/* A command, and what does it: argv[0] is its name; returns the exit status. */
struct command {
    const char *name, *usage, *help;
    int (*run)(const struct command *command, int argc, char **argv);
    const char *sampler; /* whose command it is there; or NULL */
    const char *details; /* what --help adds; or NULL */
};

/* gbm.c. Prints "error: ...", and returns 1. */
__attribute__((format(printf, 1, 2))) int complain(const char *format, ...);
/* Goes on as gbmc with these words in front of argv[1 ...]. */
int become_compiler(const char *const *words, int nwords, char **argv);
/* The path of this program; false if it cannot be told. */
bool find_self(char path[PATH_MAX]);
/* The path of gbmc: beside this program, else what $PATH has. */
const char *compiler_path(void);

/* sampler.c. Compiles argv[1] for the data behind it, and goes on as that
 * sampler. */
int run_sampler(const struct command *command, int argc, char **argv);
/* gbmc's options that are no sampler's; those of one word glued or alone. */
bool is_compilers(const char *text, bool *takes_word);
/* A sampler's command line as it will see it: a mistake is told before anything
 * is compiled. The exit status if it is one, else 0. */
int check_options(int nwords, char **words);

/* batch.c. Runs every model with every data set behind it; a table. */
int run_batch(const struct command *command, int argc, char **argv);

/* summary.c. Whether a file is a summary, by its name. The number all[key], or
 * all[key][member] with a member, of what it holds; NaN: there is none. */
bool is_summary(const char *path);
double summary_number(const json_t *all, const char *key, const char *member);

/* evidence.c. A table of evidence and Bayes factors of n >= 2 summaries. */
int compare_evidence(const char *const *paths, int n);

/* report.c. Goes on as the program in Python that makes a page of draws, which
 * has its own --help. */
int make_report(const struct command *command, int argc, char **argv);

/* new.c. Writes a folder argv[1] with a first model. */
int make_new(const struct command *command, int argc, char **argv);

#endif
