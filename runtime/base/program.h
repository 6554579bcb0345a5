/* program.h: programs that are run, and what they make. Whoever compiles a
 * sampler only to run it keeps it in no folder: it is open, and gone by its
 * name. */
#ifndef GBM_PROGRAM_H
#define GBM_PROGRAM_H

/* Runs words[0] (looked up in $PATH if it has no slash) with what it prints
 * going to standard error; in `folder` unless that is NULL. A signal to this
 * process goes to the program, which then ends. Returns its wait status, or -1.
 */
int rt_program_run(const char *folder, char *const *words);
/* The signal that came during the last of these, or 0. */
int rt_program_signal(void);

/* A file to be made, in a new folder of $TMPDIR. */
struct rt_scratch {
    char folder[4000], path[4096];
};
/* 0, or errno. */
int rt_scratch_make(struct rt_scratch *scratch);
/* Removes folder and file; the file's descriptor if `want`, else or on failure
 * -1. */
int rt_scratch_take(const struct rt_scratch *scratch, int want);

#endif
