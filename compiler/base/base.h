/* base.h: memory, names, messages and files of a compilation. */
#ifndef GBMC_BASE_BASE_H
#define GBMC_BASE_BASE_H

#include "base/version.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A compilation: its memory, names, messages and options. First argument of
 * everything. */
struct compiler;

/* arena.c: memory that lives until the compilation ends; always zeroed. */
struct arena;
struct arena *arena_create(void);
void arena_free(struct arena *a);
void *arena_alloc(struct arena *a, size_t bytes);
void *gbmc_alloc(struct compiler *c, size_t bytes);
#define NEW(c, type) ((type *)gbmc_alloc((c), sizeof(type)))
#define NEW_ARRAY(c, type, n)                                                  \
    ((type *)gbmc_alloc((c), sizeof(type) * (size_t)((n) > 0 ? (n) : 1)))

/* Memory that is not zeroed, for lists on the way: a stack, given back down to
 * a mark. */
struct scratch_mark {
    void *block;
    size_t used;
};
void *scratch_alloc(struct compiler *c, size_t bytes);
struct scratch_mark scratch_mark(const struct compiler *c);
void scratch_release(struct compiler *c, struct scratch_mark mark);

/* intern.c: one pointer per distinct name, so names compare with ==. */
const char *intern(struct compiler *c, const char *text);
const char *intern_n(struct compiler *c, const char *text, size_t length);
const char *intern_format(struct compiler *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
struct text;
/* What a buffer holds; frees it. */
const char *text_take(struct compiler *c, struct text *t);

/* text.c: a growing output buffer. */
struct text {
    char *data; /* always terminated */
    size_t length, capacity;
};
void text_printf(struct text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void text_vprintf(struct text *t, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));
void text_append(struct text *t, const char *s);
void text_append_n(struct text *t, const char *s, size_t n);
void text_free(struct text *t);

/* diag.c: messages. A span is a byte range in one source file. */
struct source {
    const char *path; /* as the user wrote it */
    const char *text;
    size_t length;
};

struct span {
    const struct source *source; /* NULL: nowhere in particular */
    uint32_t begin, end;
};
void error_at(struct compiler *c, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void note_at(struct compiler *c, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void warning_at(struct compiler *c, struct span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* 1-based line and column of a span's first byte. */
void span_position(struct span span, int *line, int *column);
/* "file:line:col", interned. */
const char *span_text(struct compiler *c, struct span span);
/* The source text of a span with runs of white space folded to one blank. */
const char *span_source(struct compiler *c, struct span span);
/* The candidate nearest to `name` by edit distance, or NULL if none is near
 * enough to be suggested. */
const char *text_nearest_name(const char *name, const char *const *candidates,
                              int ncandidates);
#define UNREACHABLE() gbmc_unreachable(__FILE__, __LINE__)
_Noreturn void gbmc_unreachable(const char *file, int line);

/* source.c: files in and out. */
/* Reads a file whole; NULL if it cannot be read, which is then reported at
 * `from` (where the file is named; {0}: on the command line). */
const struct source *source_read(struct compiler *c, const char *path,
                                 struct span from);
/* Writes a file under a temporary name and renames it, so that a file under
 * its own name is complete. False if it failed, which is then reported. */
bool file_write(struct compiler *c, const char *path, const char *data,
                size_t length);
bool file_exists(const char *path);
/* What is wrong with a file: 2 if the machine's fault (a full disk), else 1. */
int file_status(int code);
/* The same file by a name that no program takes for an option. */
const char *path_argument(struct compiler *c, const char *path);
/* Names of paths, interned. The folder ends with '/', or is empty. */
const char *path_join(struct compiler *c, const char *folder, const char *name);
const char *path_folder(struct compiler *c, const char *path);

/* quote.c: text of others inside a C string, a format, a comment. */
void text_escape(struct text *t, unsigned char ch);
const char *text_in_string(struct compiler *c, const char *s);
const char *text_in_format(struct compiler *c, const char *s);
const char *text_in_comment(struct compiler *c, const char *s);
/* span_text for a comment. */
const char *text_place_in_comment(struct compiler *c, struct span span);

/* interrupt.c: files that exist only while gbmc runs, and programs that it
 * runs, are gone when a signal ends it. */
void temporary_catch_signals(void);
void temporary_begins(const char *path);
void temporary_ends(const char *path);
/* Runs a program to its end, and gives its wait status; returns 0, or the error
 * number if it cannot be started. The same of up to 8 side by side; if one
 * cannot be started the others are ended; what several say is printed at the
 * end, of the first alone that fails if one does. */
int run_program(char *const *argv, int *status);
int run_programs(char *const *const *argv, int n, int *status);
/* Adds what a program prints to `out`; false if it fails. */
bool program_output(char *const *argv, struct text *out);

/* main.c */
/* What a program has that a plain sweep does not need: GBM_WITH_... of
 * runtime/model.h. */
enum { WITH_POWERS = 1, WITH_GRADIENTS = 2, WITH_EXPECTATION = 4 };

struct options {
    const char *input, *output;
    const struct source *buffer; /* the text of `input`; NULL: its file's */
    const char *emit;            /* NULL or the pass to print */
    const char *dag;             /* NULL or the file to draw into */
    bool explain, list, save_temps, no_cache;
    const char **data; /* --data at compile time */
    int ndata;
    const char **include; /* -I */
    int ninclude;
    const char **prior; /* --prior */
    int nprior;
    const char *arch;     /* --arch: "sm_90", or NULL */
    const char *optimise; /* "3": -O LEVEL */
    const char *cpu;      /* "native" or "portable" */
    const char *temper;   /* --temper: names with commas between, or NULL */
    const char *sequence; /* --sequence: what turns go by, or NULL */
    unsigned with;        /* --with: WITH_... */
};

/* The model's file, and those that it imports, by their real names. */
struct file_read {
    const char *path;
    struct file_read *next;
};

struct compiler {
    struct arena *arena;
    struct names *names;     /* intern.c */
    struct syms *syms;       /* node.c: one node per distinct expression */
    struct library *library; /* library.c */
    struct var *predictor;   /* joint_term.c: one, so that what is derived by it
                                anew is the same node */
    struct options options;
    struct file_read *files;
    const char *stdlib; /* folder of the standard library */
    const char *code;   /* headers of the user's, for the program; or NULL */
    int nerrors, nwarnings;
    int ndraws;     /* random calls told apart by call.c */
    FILE *messages; /* stderr, or a memory stream in tests */
    /* Takes messages in their place, if it is there; severity 1 is an error, 2
     * a warning, 3 a note. */
    void (*tell)(void *context, int severity, struct span span,
                 const char *message);
    void *tell_context;
    bool colour;
};

#endif
