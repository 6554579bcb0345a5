/* syntax.h: the tree of a model, and of files of the library. */
#ifndef GBMC_SYNTAX_SYNTAX_H
#define GBMC_SYNTAX_SYNTAX_H

#include "base/base.h"

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
 *   observable, builtin, nominal    no items, or values
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
/* A copy of e with others in the place of some of its parts: what `place` says
 * of a part, before those within it; NULL: a copy of it. */
typedef struct expr *expr_place(struct compiler *c, struct expr *part,
                                void *context);
struct expr *expr_map(struct compiler *c, struct expr *e, expr_place *place,
                      void *context);
/* Whether two expressions are written in the same way. */
bool expr_same(const struct expr *a, const struct expr *b);
/* Whether the test is true of a statement of the list, or of one in its loops.
 */
typedef bool statement_test(const struct stmt *s, const void *context);
bool syntax_any_statement(const struct stmt *s, statement_test *test,
                          const void *context);
/* A test: it defines, or draws, an element of the name, or all. */
bool syntax_defines(const struct stmt *s, const void *name);
/* "dgamma(r, lambda)", "ddirch(alpha[K]) over x[K]" */
void ast_print_entry_head(struct text *out, const struct entry *e);
/* The same, interned. */
const char *relation_text(struct compiler *c, const struct stmt *s);
/* --emit=ast: the program as gbm text in one form; parses to the same tree. */
void ast_print(struct text *out, const struct program *p);

/* gbm.y: parses a whole source, adding to `program`. False if there were
 * errors (already reported). Both model files and library files. */
bool parse_source(struct compiler *c, const struct source *source,
                  struct program *program);

/* prior.c: "tau ~ dgamma(3, 3)" takes the place of the distribution, with its
 * truncation, in every statement of the model block about tau;
 * "x[1] ~ dnorm(0, 1)" in those whose left-hand side is x[1]. False, and an
 * error, if it is no such text or there is no such statement. */
bool syntax_set_prior(struct compiler *c, struct program *p, const char *text);

/* transform.c: data that statements of the model compute and give a
 * distribution, too, are computed in the data block. */
void syntax_move_transformed(struct compiler *c, struct program *p);

/* The array's name, and those of its elements. */
struct gathered {
    const char *name;
    const char **names; /* [n] */
    int n;
    struct gathered *next;
};

#endif
