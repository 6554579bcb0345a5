/* gbmc.h: every type and prototype of the compiler, one section per .c file. */
#ifndef GBMC_H
#define GBMC_H

#include <stdarg.h>
#ifndef GBM_VERSION
#define GBM_VERSION "0.1"
#endif

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
const char *nearest_name(const char *name, const char *const *candidates,
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
const char *in_string(struct compiler *c, const char *s);
const char *in_format(struct compiler *c, const char *s);
const char *in_comment(struct compiler *c, const char *s);
/* span_text for a comment. */
const char *place_in_comment(struct compiler *c, struct span span);

/* interrupt.c: files that exist only while gbmc runs, and programs that it
 * runs, are gone when a signal ends it. */
void catch_signals(void);
void temporary_begins(const char *path);
void temporary_ends(const char *path);
/* Runs a program to its end, and gives its wait status; returns 0, or the error
 * number if it cannot be started. */
int run_program(char *const *argv, int *status);

/* ast.c: the tree that the parser builds.
 *
 * Operators are calls of the function that they name: "+", "-", "*", "/",
 * "^", "%*%", "neg" (unary minus), "<", "<=", ">", ">=", "==", "!=", "&&",
 * "||", "!", ":" is EXPR_RANGE. Names are interned. */
enum expr_kind {
    EXPR_NUM,   /* u.number */
    EXPR_NAME,  /* name, or name[args]: args are indices; nargs 0: no bracket */
    EXPR_CALL,  /* name(args) */
    EXPR_RANGE, /* args[0]:args[1] */
    EXPR_ALL,   /* an empty index, as both in X[,] */
    EXPR_SUM,   /* sum(name in args[0]:args[1], args[2]): of library files, or
                   made by roll.c */
    EXPR_INDEX, /* roll.c: the index `name` of a sum around it */
    EXPR_LIST   /* roll.c: of the numbers args[1 ...], number args[0] */
};
struct expr {
    enum expr_kind kind;
    bool bracket; /* EXPR_NAME: written with [ ] */
    struct span span;
    const char *name;
    const char *label; /* of an argument that is given by name, or NULL */
    double number;
    struct expr **args;
    int nargs;
    int depth; /* of the tree below; limited, so that walks may recurse */
};

enum stmt_kind { STMT_FOR, STMT_STOCHASTIC, STMT_DETERMINISTIC };
enum truncation_kind { TRUNC_NONE, TRUNC_T, TRUNC_I, TRUNC_C };
struct stmt {
    enum stmt_kind kind;
    struct span span; /* of a `for`: its header */
    struct stmt *next;
    /* STMT_FOR: for (name in range) { body } */
    const char *name;
    struct span name_span;
    struct expr *range;
    struct stmt *body;
    /* the relations: lhs ~ rhs T(lower, upper), link(lhs) <- rhs */
    const char *link; /* NULL, or "log", "logit", ... */
    struct expr *lhs; /* EXPR_NAME */
    struct expr *rhs; /* STMT_STOCHASTIC: EXPR_CALL of a distribution */
    enum truncation_kind truncation;
    struct expr *lower, *upper; /* NULL where open */
    bool asked;                 /* dimensions.c */
    const char *text;           /* NULL: as in the source; innovation.c */
};

/* given X[N,p] / observed y[N] / var x[N] */
enum declaration_kind { DECL_GIVEN, DECL_OBSERVED, DECL_VAR };
struct declaration {
    enum declaration_kind kind;
    struct span span;
    const char *name;
    struct expr **dims;
    int ndims;
    struct declaration *next;
};

/* samplers { beta, tau : slice(width = 0.5); } */
struct sampler_option {
    const char *name;
    struct expr *value;
    struct sampler_option *next;
};
struct sampler_choice {
    struct span span, method_span;
    struct expr **targets; /* EXPR_NAME */
    int ntargets;
    const char *method;
    struct sampler_option *options;
    struct sampler_choice *next;
};

/* The standard library's files: see docs/library.md. A clause is a keyword at
 * the beginning of a line and its items. How items are stored:
 *
 *   require r > 0, lambda > 0       values: calls of "<", ">", ...
 *   support real(0, inf)            one value: a call, or a name (simplex)
 *   logdensity, draw, mean, mode, cdf, quantile, factor, as, log, ...: e
 *                                   one value
 *   statistics log(x): r - 1        label: the statistic, value: coefficient
 *   confine t: real(lower, upper)   the same
 *   solve r = 1 + s1                label: EXPR_NAME r or alpha[j], value
 *   derivative e1, e2               values, one per argument
 *   range 0, 1                      two values
 *   alias a, b   code f   inverse f   observed y
 *                                   values: EXPR_NAME
 *   match y ~ dbern(phi(eta))       value: the call "~"(y, dbern(...))
 *   add z real(a, b)                label: EXPR_NAME z, value: real(a, b)
 *   observable, builtin             no items, or values
 *
 * The clause's span is its text from the keyword to the last item. */
struct clause_item {
    struct expr *label; /* NULL where there is none */
    struct expr *value;
    struct clause_item *next;
};
struct clause {
    const char *keyword;
    struct span span;
    struct clause_item *items;
    struct clause *next;
};
enum entry_kind { ENTRY_DISTRIBUTION, ENTRY_FUNCTION, ENTRY_AUGMENTATION };
struct parameter {
    const char *name;
    const char *dims[2]; /* names of its extents: mu[K], Omega[K,K] */
    int ndims;
    struct span span;
};
struct entry {
    enum entry_kind kind;
    const char *name;
    struct span span;
    struct parameter *parameters;
    int nparameters;
    /* `over x[K]`, or `returns [K,K]` (whose name is NULL). NULL: the scalar x,
     * or a function that returns a scalar. */
    struct parameter *result;
    struct clause *clauses;
    const char *doc; /* the comment block above the entry, '#' stripped */
    bool standard;   /* of the standard library; else of the model's own */
    struct entry *next;
};

struct import {
    const char *path;
    struct span span;
    struct import *next;
};

struct program {
    struct declaration *declarations;
    struct stmt *data;  /* data { } */
    struct stmt *model; /* model { } */
    bool has_model;
    struct sampler_choice *samplers;
    struct import *imports;
    struct entry *entries;
    struct gathered *gathered; /* scalars.c */
};

struct expr *expr_new(struct compiler *c, enum expr_kind kind,
                      struct span span);
/* A call of a function or operator; the name is interned. */
struct expr *expr_call(struct compiler *c, const char *name, struct span span,
                       int nargs, ...);
/* Writes an expression as BUGS text with the fewest brackets. */
void expr_print(struct text *out, const struct expr *e);
/* "dgamma(r, lambda)", "ddirch(alpha[K]) over x[K]" */
void entry_print_head(struct text *out, const struct entry *e);
/* "x[i] ~ dnorm(0, 1) T(0, )" */
void relation_print(struct text *out, const struct stmt *s);
/* The same, interned. */
const char *relation_text(struct compiler *c, const struct stmt *s);
/* --emit=ast: the program as gbm text in one form; parses to the same tree. */
void ast_print(struct text *out, const struct program *p);

/* gbm.y: parses a whole source, adding to `program`. False if there were
 * errors (already reported). Both model files and library files. */
bool parse_source(struct compiler *c, const struct source *source,
                  struct program *program);

/* scalars.c: makes one array of scalars that are defined and used alike. */
void gather_scalars(struct compiler *c, struct program *p);
/* The array's name, and those of its elements. */
struct gathered {
    const char *name;
    const char **names; /* [n] */
    int n;
    struct gathered *next;
};

/* roll.c: writes as loops and sums what is written out one by one. */
void roll(struct compiler *c, struct program *p);
/* A function of single values, whose result is one. */
bool is_function_of_scalars(struct compiler *c, const char *name);
/* What a statement is but for its numbers, interned; `named` says what stands
 * for a whole variable's name. */
typedef const char *name_stand_in(void *context, const char *name);
const char *shape_by_names(struct compiler *c, const struct stmt *s,
                           name_stand_in *named, void *context);

/* innovation.c: draws states in place of their normal innovations. */
void draw_states(struct compiler *c, struct program *p);

/* main.c */
struct options {
    const char *input, *output;
    const char *emit; /* NULL or the pass to print */
    const char *dag;  /* NULL or the file to draw into */
    bool explain, list, save_temps;
    const char **data; /* --data at compile time */
    int ndata;
    const char **include; /* -I */
    int ninclude;
    const char *arch;     /* --arch=sm_90 */
    const char *optimise; /* "3": -O LEVEL */
    const char *cpu;      /* "native" or "portable" */
};
struct compiler {
    struct arena *arena;
    struct names *names;     /* intern.c */
    struct syms *syms;       /* algebra.c: one node per distinct expression */
    struct library *library; /* library.c */
    struct options options;
    const char *stdlib; /* folder of the standard library */
    int nerrors, nwarnings;
    int ndraws;     /* random calls told apart by algebra.c */
    FILE *messages; /* stderr, or a memory stream in tests */
    bool colour;
};

#include "model_ir.h"

#endif
