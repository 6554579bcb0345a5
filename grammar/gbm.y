/* gbm.y: the parser of model files and of the standard library's files.
 *
 * The rules do nothing but build the tree. What a context-free grammar cannot
 * say is in the functions below them: next_token() decides from the place
 * whether a name is a keyword, and after an error skips to where a statement,
 * clause or declaration begins, so that one run reports many errors. */

%require "3.8"
%define api.pure full
%define api.location.type {struct span}
%define parse.error custom
%define parse.lac full
%param {struct parser *p}
%expect 0

%code requires {
#include "gbmc.h"

struct parser;

/* Limits that keep every walk of a tree within the stack. */
enum { MAX_NESTING = 200, MAX_ERRORS = 20, MAX_SOURCE = 1 << 28 };

struct token {
    int kind;        /* of yytoken_kind_t */
    bool line_start; /* the first of its line */
    double number;
    struct span span;
};
struct scan_error {
    struct span span;
    const char *message;
    struct scan_error *next;
};
struct tokens {
    struct token *all; /* the last one is YYEOF */
    int n, capacity;
    struct scan_error *errors; /* to be reported, in order */
};
/* gbm.l: the tokens of a source, every name a NAME. False, and reported, if
 * there are none. */
bool scan_source(struct compiler *c, const struct source *source,
                 struct tokens *list);

/* A list that rules append to. */
struct exprs {
    struct expr **all;
    int n, capacity;
};
struct stmts {
    struct stmt *first, *last;
};
struct options_list {
    struct sampler_option *first, *last;
};
struct items {
    struct clause_item *first, *last;
};
struct clauses {
    struct clause *first, *last;
};
struct parameters {
    struct parameter *all;
    int n, capacity;
};
struct bounds {
    struct expr *lower, *upper;
};
struct label {
    const char *name;
    struct span span;
};
}

%union {
    const char *name;
    double number;
    struct expr *expr;
    struct exprs exprs;
    struct stmt *stmt;
    struct stmts stmts;
    struct bounds bounds;
    struct options_list options;
    struct clause_item *item;
    struct items items;
    struct clause *clause;
    struct clauses clauses;
    struct parameter *parameter;
    struct parameters parameters;
    struct sampler_choice *choice;
    enum entry_kind entry_kind;
    enum declaration_kind declaration_kind;
    struct label label;
}

%code {
#include <string.h>

/* What a brace encloses; decides which names are keywords in it. */
enum block { BLOCK_TOP, BLOCK_STATEMENTS, BLOCK_SAMPLERS, BLOCK_ENTRY };

/* A bracket that is open. */
struct open {
    int kind; /* '{', '(' or '[' */
    enum block block;
    struct span span;
};

/* Where next_token() is. Kept from before the latest token, as that token may
 * turn out to be the wrong one. */
struct place {
    int next;     /* index of the next token */
    int nopen;    /* open brackets */
    int previous; /* kind of the token before */
    int keyword;  /* the latest keyword outside the blocks */
    bool relation; /* within a `~` relation */
};

struct parser {
    struct compiler *c;
    const struct source *source;
    struct program *program;
    struct tokens tokens;
    struct open open[MAX_NESTING];
    struct place place, before;
    int recovered_at; /* the token where the latest recovery began */
    bool recovering;  /* skip to a place to go on from */
    const struct scan_error *latest; /* the last one reported */
    bool hopeless;    /* stop, without another word */
    struct span model, data; /* the blocks' keywords, once seen */
    /* Ends of the program's lists. */
    struct declaration **declaration;
    struct import **import;
    struct sampler_choice **choice;
    struct entry **entry;
};

#define YYLLOC_DEFAULT(to, rhs, n)                                             \
    ((to) = (n) ? (struct span){YYRHSLOC(rhs, 1).source,                       \
                                YYRHSLOC(rhs, 1).begin, YYRHSLOC(rhs, n).end}  \
                : (struct span){YYRHSLOC(rhs, 0).source,                       \
                                YYRHSLOC(rhs, 0).end, YYRHSLOC(rhs, 0).end})

static int yylex(YYSTYPE *value, struct span *span, struct parser *p);
static void yyerror(const struct span *span, struct parser *p,
                    const char *message);

static struct expr *number(struct parser *p, double x, struct span span);
static struct expr *call(struct parser *p, const char *name, struct exprs args,
                         struct span span);
static struct expr *variable(struct parser *p, const char *name,
                             struct exprs *indices, struct span span);
static struct expr *unary(struct parser *p, const char *op, struct expr *a,
                          struct span span);
static struct expr *binary(struct parser *p, const char *op, struct expr *a,
                           struct expr *b, struct span span);
static struct expr *range(struct parser *p, struct expr *a, struct expr *b,
                          struct span span);
static struct expr *bound_sum(struct parser *p, const char *function,
                              const char *index, struct expr *over,
                              struct expr *body, struct span span);
static void add_expr(struct parser *p, struct exprs *list, struct expr *e);
static struct stmt *loop(struct parser *p, struct label index,
                         struct expr *over, struct span span);
static struct stmt *assignment(struct parser *p, const char *link,
                               struct expr *lhs, struct expr *rhs,
                               struct span span);
static struct stmt *stochastic(struct parser *p, const char *link,
                               struct expr *lhs, struct expr *rhs,
                               const char *truncation, struct bounds bounds,
                               struct span span);
static void add_stmt(struct stmts *list, struct stmt *s);
static void declare(struct parser *p, enum declaration_kind kind,
                    const char *name, struct exprs dims, struct span span);
static void set_block(struct parser *p, bool model, struct stmts body,
                      struct span keyword);
static void add_import(struct parser *p, const char *path, struct span span);
static struct sampler_choice *choice(struct parser *p, struct exprs targets,
                                     struct label method,
                                     struct options_list options,
                                     struct span span);
static struct sampler_option *option(struct parser *p, const char *name,
                                     struct expr *value);
static struct clause_item *item(struct parser *p, struct expr *label,
                                struct expr *value);
static struct clause *clause(struct parser *p, const char *keyword,
                             struct items items, struct span span);
static struct parameter *parameter(struct parser *p, struct label name,
                                   struct exprs dims);
static void add_parameter(struct parser *p, struct parameters *list,
                          const struct parameter *parameter);
static void add_entry(struct parser *p, enum entry_kind kind,
                      struct label name, struct parameters parameters,
                      struct parameter *result, struct clauses clauses,
                      struct span keyword);
}

%initial-action { @$ = (struct span){p->source, 0, 0}; }

%token YYEOF 0 "the end of the file"
%token <name> NAME "a name"
%token <number> NUMBER "a number"
%token <name> STRING "a file name in quotes"
%token ASSIGN "'<-'"
%token LE "'<='" GE "'>='" EQ "'=='" NE "'!='" AND "'&&'" OR "'||'"
%token <name> SPECIAL "'%op%'"
%token ELLIPSIS "'...'"
%token MODEL "'model'" DATA "'data'" SAMPLERS "'samplers'" IMPORT "'import'"
%token <declaration_kind> DECLARE "a declaration"
%token <entry_kind> ENTRY "an entry"
%token OVER "'over'" RETURNS "'returns'"
%token FOR "'for'" IN "'in'"
%token <name> TRUNCATION "T(,)"
%token LABEL "':'"
%token <name> CLAUSE "a clause"
%token RESYNC "a new beginning"

%left OR
%left AND
%precedence '!'
%nonassoc '<' '>' LE GE EQ NE
%left '+' '-'
%left '*' '/'
%left SPECIAL
%nonassoc ':'
%precedence NEGATIVE
%right '^'

%type <expr> expression variable sum
%type <exprs> arguments indices dims targets
%type <expr> index
%type <stmt> statement relation for
%type <stmts> statements block
%type <bounds> bounds
%type <label> name
%type <options> options
%type <item> item
%type <items> items
%type <clause> clause
%type <clauses> clauses
%type <parameter> parameter result
%type <parameters> parameters
%type <choice> choice

%%

program:
    %empty
  | program declaration
  | program ';'
  | program error RESYNC    { yyerrok; }
  ;

declaration:
    DECLARE declared
  | MODEL block             { set_block(p, true, $block, @MODEL); }
  | DATA block              { set_block(p, false, $block, @DATA); }
  | SAMPLERS '{' choices '}'
  | IMPORT STRING           { add_import(p, $STRING, @STRING); }
  | ENTRY name '(' parameters ')' result '{' clauses '}'
                            { add_entry(p, $ENTRY, $name, $parameters, $result,
                                        $clauses, @ENTRY); }
  | ENTRY name '(' ')' result '{' clauses '}'
                            { add_entry(p, $ENTRY, $name,
                                        (struct parameters){0}, $result,
                                        $clauses, @ENTRY); }
  | ENTRY name result '{' clauses '}'
                            { add_entry(p, $ENTRY, $name,
                                        (struct parameters){0}, $result,
                                        $clauses, @ENTRY); }
  ;

/* var x, y[N]   given N, X[N,p]   observed y[N] */
declared:
    name dims               { declare(p, $<declaration_kind>0, $name.name,
                                      $dims, @$); }
  | declared ',' name dims  { declare(p, $<declaration_kind>0, $name.name,
                                      $dims, (struct span){@name.source,
                                      @name.begin, @dims.end}); }
  ;

dims:
    %empty                  { $$ = (struct exprs){0}; }
  | '[' arguments ']'       { $$ = $arguments; }
  ;

name: NAME                  { $$ = (struct label){$NAME, @NAME}; };

/* Statements. */

block: '{' statements '}'   { $$ = $statements; };

statements:
    %empty                  { $$ = (struct stmts){0}; }
  | statements statement    { $$ = $1; add_stmt(&$$, $statement); }
  | statements ';'
  ;

statement:
    relation
  | for block               { $$ = $for; $$->body = $block.first; }
  | skipped                 { $$ = NULL; }
  | skipped block           { $$ = $block.first; }
  ;

skipped: error RESYNC       { yyerrok; };

for: FOR '(' name IN expression ')'
                            { $$ = loop(p, $name, $expression, @$); };

relation:
    variable assign expression
                            { $$ = assignment(p, NULL, $1, $3, @$); }
  | NAME '(' variable ')' assign expression
                            { $$ = assignment(p, $1, $3, $6, @$); }
  | variable '~' expression
                            { $$ = stochastic(p, NULL, $1, $3, NULL,
                                              (struct bounds){0}, @$); }
  | variable '~' expression TRUNCATION '(' bounds ')'
                            { $$ = stochastic(p, NULL, $1, $3, $4, $6, @$); }
  | variable '~' TRUNCATION '(' expression ',' bounds ')'
                            { $$ = stochastic(p, NULL, $1, $5, $3, $7, @$); }
  | NAME '(' variable ')' '~' expression
                            { $$ = stochastic(p, $1, $3, $6, NULL,
                                              (struct bounds){0}, @$); }
  | NAME '(' variable ')' '~' expression TRUNCATION '(' bounds ')'
                            { $$ = stochastic(p, $1, $3, $6, $7, $9, @$); }
  ;

assign: ASSIGN | '=';

bounds:
    ','                     { $$ = (struct bounds){NULL, NULL}; }
  | expression ','          { $$ = (struct bounds){$1, NULL}; }
  | ',' expression          { $$ = (struct bounds){NULL, $2}; }
  | expression ',' expression
                            { $$ = (struct bounds){$1, $3}; }
  ;

/* Expressions. */

variable:
    NAME                    { $$ = variable(p, $1, NULL, @$); }
  | NAME '[' indices ']'    { $$ = variable(p, $1, &$3, @$); }
  ;

indices:
    index                   { $$ = (struct exprs){0}; add_expr(p, &$$, $1); }
  | indices ',' index       { $$ = $1; add_expr(p, &$$, $3); }
  ;

index:
    %empty                  { $$ = expr_new(p->c, EXPR_ALL, @$); }
  | expression
  ;

arguments:
    expression              { $$ = (struct exprs){0}; add_expr(p, &$$, $1); }
  | arguments ',' expression
                            { $$ = $1; add_expr(p, &$$, $3); }
  ;

expression:
    variable
  | NUMBER                  { $$ = number(p, $1, @$); }
  | NAME '(' ')'            { $$ = call(p, $1, (struct exprs){0}, @$); }
  | NAME '(' arguments ')'  { $$ = call(p, $1, $3, @$); }
  | sum
  | '(' expression ')'      { $$ = $2; }
  | '-' expression %prec NEGATIVE
                            { $$ = unary(p, "neg", $2, @$); }
  | '!' expression          { $$ = unary(p, "!", $2, @$); }
  | expression '+' expression { $$ = binary(p, "+", $1, $3, @$); }
  | expression '-' expression { $$ = binary(p, "-", $1, $3, @$); }
  | expression '*' expression { $$ = binary(p, "*", $1, $3, @$); }
  | expression '/' expression { $$ = binary(p, "/", $1, $3, @$); }
  | expression '^' expression { $$ = binary(p, "^", $1, $3, @$); }
  | expression '<' expression { $$ = binary(p, "<", $1, $3, @$); }
  | expression '>' expression { $$ = binary(p, ">", $1, $3, @$); }
  | expression LE expression  { $$ = binary(p, "<=", $1, $3, @$); }
  | expression GE expression  { $$ = binary(p, ">=", $1, $3, @$); }
  | expression EQ expression  { $$ = binary(p, "==", $1, $3, @$); }
  | expression NE expression  { $$ = binary(p, "!=", $1, $3, @$); }
  | expression AND expression { $$ = binary(p, "&&", $1, $3, @$); }
  | expression OR expression  { $$ = binary(p, "||", $1, $3, @$); }
  | expression SPECIAL expression { $$ = binary(p, $2, $1, $3, @$); }
  | expression ':' expression { $$ = range(p, $1, $3, @$); }
  ;

/* sum(j in 1:K, body) */
sum: NAME '(' NAME IN expression ',' expression ')'
                            { $$ = bound_sum(p, $1, $3, $5, $7, @$); };

/* samplers { beta, tau : slice(width = 0.5); } */

choices:
    %empty
  | choices choice          { *p->choice = $choice;
                              p->choice = &$choice->next; }
  | choices ';'
  | choices error RESYNC    { yyerrok; }
  ;

choice:
    targets LABEL name      { $$ = choice(p, $1, $3, (struct options_list){0},
                                          @$); }
  | targets LABEL name '(' ')'
                            { $$ = choice(p, $1, $3, (struct options_list){0},
                                          @$); }
  | targets LABEL name '(' options ')'
                            { $$ = choice(p, $1, $3, $5, @$); }
  ;

targets:
    variable                { $$ = (struct exprs){0}; add_expr(p, &$$, $1); }
  | targets ',' variable    { $$ = $1; add_expr(p, &$$, $3); }
  ;

options:
    NAME '=' expression     { $$.first = $$.last = option(p, $1, $3); }
  | options ',' NAME '=' expression
                            { $$ = $1; $$.last->next = option(p, $3, $5);
                              $$.last = $$.last->next; }
  ;

/* Library entries: docs/library.md. */

parameters:
    parameter               { $$ = (struct parameters){0};
                              add_parameter(p, &$$, $1); }
  | parameters ',' parameter
                            { $$ = $1; add_parameter(p, &$$, $3); }
  ;

parameter:
    name dims               { $$ = parameter(p, $1, $2); }
  | ELLIPSIS                { $$ = parameter(p, (struct label){
                                      intern(p->c, "..."), @1},
                                      (struct exprs){0}); }
  ;

result:
    %empty                  { $$ = NULL; }
  | OVER name dims          { $$ = parameter(p, $2, $3); }
  | RETURNS '[' arguments ']'
                            { $$ = parameter(p, (struct label){NULL, @$},
                                             $3); }
  ;

clauses:
    %empty                  { $$ = (struct clauses){0}; }
  | clauses clause          { $$ = $1;
                              if ($$.last)
                                  $$.last->next = $clause;
                              else
                                  $$.first = $clause;
                              $$.last = $clause; }
  | clauses ';'
  | clauses error RESYNC    { $$ = $1; yyerrok; }
  ;

clause:
    CLAUSE                  { $$ = clause(p, $1, (struct items){0}, @$); }
  | CLAUSE items            { $$ = clause(p, $1, $2, @$); }
  ;

items:
    item                    { $$.first = $$.last = $1; }
  | items ',' item          { $$ = $1; $$.last->next = $3; $$.last = $3; }
  ;

item:
    expression              { $$ = item(p, NULL, $1); }
  | expression LABEL expression
                            { $$ = item(p, $1, $3); }
  | expression assign expression
                            { $$ = item(p, $1, $3); }
  | expression '~' expression
                            { $$ = item(p, NULL, binary(p, "~", $1, $3, @$)); }
  | variable NAME '(' arguments ')'
                            { $$ = item(p, $1, call(p, $2, $4,
                                  (struct span){@2.source, @2.begin,
                                                @5.end})); }
  | variable NAME           { $$ = item(p, $1, variable(p, $2, NULL, @2)); }
  ;

%%

/* ---- Building ----------------------------------------------------------- */

/* The tree is walked by recursion everywhere, so its depth has a limit. */
enum { MAX_DEPTH = 2000 };

static void too_deep(struct parser *p, struct span span)
{
    if (!p->hopeless)
        error_at(p->c, span, "this is nested too deeply: name a part of it");
    p->hopeless = true;
}

static struct expr *checked(struct parser *p, struct expr *e)
{
    if (e->depth <= MAX_DEPTH)
        return e;
    too_deep(p, e->span);
    return number(p, 0, e->span);
}

static struct expr *number(struct parser *p, double x, struct span span)
{
    struct expr *e = expr_new(p->c, EXPR_NUM, span);
    e->number = x;
    return e;
}

static void set_args(struct expr *e, struct exprs args)
{
    e->args = args.all;
    e->nargs = args.n;
    for (int i = 0; i < args.n; i++)
        if (e->depth <= args.all[i]->depth)
            e->depth = args.all[i]->depth + 1;
}

static struct expr *call(struct parser *p, const char *name, struct exprs args,
                         struct span span)
{
    struct expr *e = expr_new(p->c, EXPR_CALL, span);
    e->name = name;
    set_args(e, args);
    return checked(p, e);
}

static struct expr *variable(struct parser *p, const char *name,
                             struct exprs *indices, struct span span)
{
    struct expr *e = expr_new(p->c, EXPR_NAME, span);
    e->name = name;
    if (indices) {
        e->bracket = true;
        set_args(e, *indices);
    }
    return checked(p, e);
}

static struct expr *unary(struct parser *p, const char *op, struct expr *a,
                          struct span span)
{
    return checked(p, expr_call(p->c, op, span, 1, a));
}

static struct expr *binary(struct parser *p, const char *op, struct expr *a,
                           struct expr *b, struct span span)
{
    if (a->kind == EXPR_RANGE && a->span.begin == span.begin &&
        (strcmp(op, "+") == 0 || strcmp(op, "-") == 0) &&
        p->c->nwarnings < MAX_ERRORS)
        warning_at(p->c, span,
                   "this is (%s) %s %s, as in JAGS; did you mean "
                   "%s:(%s %s %s)?",
                   span_source(p->c, a->span), op, span_source(p->c, b->span),
                   span_source(p->c, a->args[0]->span),
                   span_source(p->c, a->args[1]->span), op,
                   span_source(p->c, b->span));
    return checked(p, expr_call(p->c, op, span, 2, a, b));
}

static struct expr *range(struct parser *p, struct expr *a, struct expr *b,
                          struct span span)
{
    struct expr *e = expr_call(p->c, ":", span, 2, a, b);
    e->kind = EXPR_RANGE;
    e->name = NULL;
    return checked(p, e);
}

static struct expr *bound_sum(struct parser *p, const char *function,
                              const char *index, struct expr *over,
                              struct expr *body, struct span span)
{
    struct expr *e;

    if (function != intern(p->c, "sum"))
        error_at(p->c, span, "only sum(%s in 1:K, ...) binds an index, not %s",
                 index, function);
    if (over->kind != EXPR_RANGE) {
        error_at(p->c, over->span,
                 "a sum runs over a range, as in sum(%s in 1:K, ...)", index);
        over = range(p, over, over, over->span);
    }
    if (over->kind != EXPR_RANGE) /* too deep */
        return over;
    e = expr_call(p->c, index, span, 3, over->args[0], over->args[1], body);
    e->kind = EXPR_SUM;
    return checked(p, e);
}

static void add_expr(struct parser *p, struct exprs *list, struct expr *e)
{
    if (list->n == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 4;
        struct expr **all = NEW_ARRAY(p->c, struct expr *, capacity);
        for (int i = 0; i < list->n; i++)
            all[i] = list->all[i];
        list->all = all;
        list->capacity = capacity;
    }
    list->all[list->n++] = e;
}

static struct stmt *loop(struct parser *p, struct label index,
                         struct expr *over, struct span span)
{
    struct stmt *s = NEW(p->c, struct stmt);

    *s = (struct stmt){.kind = STMT_FOR,
                       .span = span,
                       .name = index.name,
                       .name_span = index.span,
                       .range = over};
    return s;
}

static struct stmt *assignment(struct parser *p, const char *link,
                               struct expr *lhs, struct expr *rhs,
                               struct span span)
{
    struct stmt *s = NEW(p->c, struct stmt);

    *s = (struct stmt){.kind = STMT_DETERMINISTIC,
                       .span = span,
                       .link = link,
                       .lhs = lhs,
                       .rhs = rhs};
    return s;
}

/* Is it written as f(...), rather than with an operator? */
static bool is_plain_call(const struct expr *e)
{
    char first;

    if (e->kind != EXPR_CALL)
        return false;
    first = e->span.source->text[e->span.begin];
    return e->name[0] == first &&
           ((first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z'));
}

static struct stmt *stochastic(struct parser *p, const char *link,
                               struct expr *lhs, struct expr *rhs,
                               const char *truncation, struct bounds bounds,
                               struct span span)
{
    struct stmt *s = assignment(p, link, lhs, rhs, span);

    s->kind = STMT_STOCHASTIC;
    s->lower = bounds.lower;
    s->upper = bounds.upper;
    if (truncation)
        s->truncation = truncation[0] == 'T'   ? TRUNC_T
                        : truncation[0] == 'I' ? TRUNC_I
                                               : TRUNC_C;
    if (!is_plain_call(rhs) && !p->hopeless)
        error_at(p->c, rhs->span,
                 "the right side of '~' must be a distribution, as in "
                 "'~ dnorm(mu, tau)'%s",
                 rhs->kind == EXPR_CALL || rhs->kind == EXPR_NUM
                     ? "; use '<-' to assign a value"
                     : "");
    return s;
}

/* Appends a statement, or the chain of those saved from a broken loop. */
static void add_stmt(struct stmts *list, struct stmt *s)
{
    if (!s)
        return;
    if (list->last)
        list->last->next = s;
    else
        list->first = s;
    while (s->next)
        s = s->next;
    list->last = s;
}

static void declare(struct parser *p, enum declaration_kind kind,
                    const char *name, struct exprs dims, struct span span)
{
    struct declaration *d = NEW(p->c, struct declaration);

    *d = (struct declaration){.kind = kind,
                              .span = span,
                              .name = name,
                              .dims = dims.all,
                              .ndims = dims.n};
    *p->declaration = d;
    p->declaration = &d->next;
}

static void set_block(struct parser *p, bool model, struct stmts body,
                      struct span keyword)
{
    struct span *seen = model ? &p->model : &p->data;

    if (seen->source) {
        error_at(p->c, keyword, "a second %s block",
                 model ? "model" : "data");
        note_at(p->c, *seen, "the first is here");
        return;
    }
    *seen = keyword;
    if (model) {
        p->program->model = body.first;
        p->program->has_model = true;
    } else {
        p->program->data = body.first;
    }
}

static void add_import(struct parser *p, const char *path, struct span span)
{
    struct import *i = NEW(p->c, struct import);

    *i = (struct import){.path = path, .span = span};
    *p->import = i;
    p->import = &i->next;
}

static struct sampler_choice *choice(struct parser *p, struct exprs targets,
                                     struct label method,
                                     struct options_list options,
                                     struct span span)
{
    struct sampler_choice *s = NEW(p->c, struct sampler_choice);

    *s = (struct sampler_choice){.span = span,
                                 .method_span = method.span,
                                 .targets = targets.all,
                                 .ntargets = targets.n,
                                 .method = method.name,
                                 .options = options.first};
    return s;
}

static struct sampler_option *option(struct parser *p, const char *name,
                                     struct expr *value)
{
    struct sampler_option *o = NEW(p->c, struct sampler_option);

    *o = (struct sampler_option){.name = name, .value = value};
    return o;
}

static struct clause_item *item(struct parser *p, struct expr *label,
                                struct expr *value)
{
    struct clause_item *i = NEW(p->c, struct clause_item);

    *i = (struct clause_item){.label = label, .value = value};
    return i;
}

static struct clause *clause(struct parser *p, const char *keyword,
                             struct items items, struct span span)
{
    struct clause *cl = NEW(p->c, struct clause);

    *cl = (struct clause){
        .keyword = keyword, .span = span, .items = items.first};
    return cl;
}

static struct parameter *parameter(struct parser *p, struct label name,
                                   struct exprs dims)
{
    struct parameter *r = NEW(p->c, struct parameter);
    int limit = (int)(sizeof r->dims / sizeof r->dims[0]);

    r->name = name.name;
    r->span = name.span;
    if (dims.n > limit)
        error_at(p->c, dims.all[limit]->span,
                 "a parameter has at most %d extents", limit);
    for (int i = 0; i < dims.n && i < limit; i++) {
        const struct expr *d = dims.all[i];
        if (d->kind == EXPR_NAME && !d->bracket)
            r->dims[r->ndims++] = d->name;
        else
            error_at(p->c, d->span, "an extent is a name, as in mu[K]");
    }
    return r;
}

static void add_parameter(struct parser *p, struct parameters *list,
                          const struct parameter *parameter)
{
    if (list->n == list->capacity) {
        int capacity = list->capacity ? 2 * list->capacity : 4;
        struct parameter *all = NEW_ARRAY(p->c, struct parameter, capacity);
        for (int i = 0; i < list->n; i++)
            all[i] = list->all[i];
        list->all = all;
        list->capacity = capacity;
    }
    list->all[list->n++] = *parameter;
}

/* Start of the line before the one that begins at `line`; `line` if none. */
static uint32_t previous_line(const char *text, uint32_t line)
{
    uint32_t at = line;

    if (at == 0)
        return line;
    for (at--; at > 0 && text[at - 1] != '\n'; at--)
        ;
    return at;
}

/* First character of a line that is no blank. */
static uint32_t skip_blanks(const struct source *s, uint32_t at)
{
    while (at < s->length && (s->text[at] == ' ' || s->text[at] == '\t'))
        at++;
    return at;
}

/* The lines of comment right above an entry, '#' and one blank stripped. */
static const char *comment_above(struct parser *p, struct span keyword)
{
    const struct source *s = keyword.source;
    uint32_t first = keyword.begin, end;
    struct text doc = {0};
    const char *result;
    int lines = 0;

    while (first > 0 && s->text[first - 1] != '\n')
        first--;
    for (end = first;; first = previous_line(s->text, first)) {
        uint32_t at = skip_blanks(s, previous_line(s->text, first));
        if (first == 0 || s->text[at] != '#')
            break;
    }
    while (first < end) {
        uint32_t at = skip_blanks(s, first) + 1, stop = at;
        while (stop < end && s->text[stop] != '\n')
            stop++;
        first = stop + 1;
        if (at < stop && s->text[at] == ' ')
            at++;
        while (stop > at && (s->text[stop - 1] == '\r' ||
                             s->text[stop - 1] == ' '))
            stop--;
        if (lines++)
            text_append(&doc, "\n");
        for (; at < stop; at++) {
            unsigned char ch = (unsigned char)s->text[at];
            bool plain = ch == '\t' || (ch >= 32 && ch != 127);
            text_append_n(&doc, plain ? s->text + at : "?", 1);
        }
    }
    result = intern(p->c, doc.data ? doc.data : "");
    text_free(&doc);
    return result;
}

static void add_entry(struct parser *p, enum entry_kind kind,
                      struct label name, struct parameters parameters,
                      struct parameter *result, struct clauses clauses,
                      struct span keyword)
{
    struct entry *e = NEW(p->c, struct entry);

    *e = (struct entry){.kind = kind,
                        .name = name.name,
                        .span = name.span,
                        .parameters = parameters.all,
                        .nparameters = parameters.n,
                        .result = result,
                        .clauses = clauses.first,
                        .doc = comment_above(p, keyword)};
    *p->entry = e;
    p->entry = &e->next;
}

/* ---- Tokens in context -------------------------------------------------- */

struct keyword {
    const char *name;
    int token;
    int value; /* of DECLARE and ENTRY */
};

static const struct keyword top_keywords[] = {
    {"model", MODEL, 0},
    {"data", DATA, 0},
    {"var", DECLARE, DECL_VAR},
    {"given", DECLARE, DECL_GIVEN},
    {"observed", DECLARE, DECL_OBSERVED},
    {"samplers", SAMPLERS, 0},
    {"import", IMPORT, 0},
    {"distribution", ENTRY, ENTRY_DISTRIBUTION},
    {"function", ENTRY, ENTRY_FUNCTION},
    {"augmentation", ENTRY, ENTRY_AUGMENTATION},
};
enum { NTOP = sizeof top_keywords / sizeof top_keywords[0] };

/* The clauses of docs/library.md. */
static const char *const clause_keywords[] = {
    "require",  "support",    "logdensity",   "statistics", "solve",
    "draw",     "draw_between", "mean",       "mode",       "cdf",
    "quantile", "as",         "alias",        "observable", "code",
    "derivative", "range",    "inverse",      "match",      "observed",
    "add",      "factor",     "builtin",      "log",        "log_complement",
    "mixing",   "confine",
};
enum { NCLAUSES = sizeof clause_keywords / sizeof clause_keywords[0] };

/* Is the token this word? */
static bool is_word(const struct token *t, const char *word)
{
    size_t n = strlen(word);
    return t->kind == NAME && t->span.end - t->span.begin == n &&
           memcmp(t->span.source->text + t->span.begin, word, n) == 0;
}

static const struct keyword *top_keyword(const struct token *t)
{
    for (int i = 0; i < NTOP; i++)
        if (is_word(t, top_keywords[i].name))
            return &top_keywords[i];
    return NULL;
}

/* The token `ahead` places after the next one. */
static const struct token *peek(const struct parser *p, int ahead)
{
    int i = p->place.next + ahead;
    return &p->tokens.all[i < p->tokens.n ? i : p->tokens.n - 1];
}

/* What the innermost open brace encloses. */
static enum block current_block(const struct parser *p)
{
    int n = p->place.nopen;
    return n ? p->open[n - 1].block : BLOCK_TOP;
}

static bool in_parentheses(const struct parser *p)
{
    int n = p->place.nopen;
    return n && p->open[n - 1].kind != '{';
}

/* Can an expression, name or list not end after this token? */
static bool wants_more(int previous)
{
    switch (previous) {
    case '+':
    case '-':
    case '*':
    case '/':
    case '^':
    case '<':
    case '>':
    case '!':
    case '~':
    case '=':
    case ',':
    case ASSIGN:
    case LE:
    case GE:
    case EQ:
    case NE:
    case AND:
    case OR:
    case SPECIAL:
    case LABEL:
        return true;
    default:
        return false;
    }
}

static int top_name(struct parser *p, const struct token *t, YYSTYPE *value)
{
    const struct keyword *k = top_keyword(t);
    int previous = p->place.previous;
    bool block = k && peek(p, 0)->kind == '{' && k->token != DECLARE;

    if (in_parentheses(p) || previous == ENTRY)
        return NAME;
    if (previous == ')' || previous == NAME) {
        if (is_word(t, "over") && p->place.keyword == ENTRY)
            return OVER;
        if (is_word(t, "returns") && p->place.keyword == ENTRY)
            return RETURNS;
    }
    if (!k || ((previous == DECLARE || previous == ',') && !block))
        return NAME;
    p->place.keyword = k->token;
    if (k->token == DECLARE)
        value->declaration_kind = (enum declaration_kind)k->value;
    else if (k->token == ENTRY)
        value->entry_kind = (enum entry_kind)k->value;
    return k->token;
}

static int statement_name(struct parser *p, const struct token *t)
{
    if (is_word(t, "for") &&
        (peek(p, 0)->kind == '(' || peek(p, 0)->kind == NAME))
        return FOR; /* otherwise JAGS, too, takes it for a variable */
    if (!is_word(t, "T") && !is_word(t, "I") && !is_word(t, "C"))
        return NAME;
    if (in_parentheses(p) || peek(p, 0)->kind != '(')
        return NAME;
    if (p->place.previous == '~')
        return peek(p, 1)->kind == NAME && peek(p, 2)->kind == '('
                   ? TRUNCATION
                   : NAME;
    return p->place.relation && p->place.previous == ')' ? TRUNCATION : NAME;
}

/* A clause begins a line with its keyword, where the line before is done. */
static int clause_name(struct parser *p, const struct token *t)
{
    int previous = p->place.previous;
    struct span s = t->span;
    const char *near;

    if (in_parentheses(p) || wants_more(previous) ||
        !(t->line_start || previous == '{'))
        return NAME;
    for (int i = 0; i < NCLAUSES; i++)
        if (is_word(t, clause_keywords[i]))
            return CLAUSE;
    if (previous == CLAUSE)
        return NAME;
    near = nearest_name(intern_n(p->c, s.source->text + s.begin,
                                 s.end - s.begin),
                        clause_keywords, NCLAUSES);
    error_at(p->c, s, "'%.*s' is no clause%s%s%s",
             s.end - s.begin > 60 ? 60 : (int)(s.end - s.begin),
             s.source->text + s.begin, near ? "; did you mean '" : "",
             near ? near : "", near ? "'?" : "");
    return CLAUSE;
}

static int name_in_context(struct parser *p, const struct token *t,
                           YYSTYPE *value)
{
    int kind = NAME;

    if (in_parentheses(p) && p->place.previous == NAME && is_word(t, "in"))
        return IN;
    switch (current_block(p)) {
    case BLOCK_TOP:
        kind = top_name(p, t, value);
        break;
    case BLOCK_STATEMENTS:
        kind = statement_name(p, t);
        break;
    case BLOCK_SAMPLERS:
        break;
    case BLOCK_ENTRY:
        kind = clause_name(p, t);
        break;
    }
    if (kind == NAME || kind == CLAUSE || kind == TRUNCATION)
        value->name = intern_n(p->c, t->span.source->text + t->span.begin,
                               t->span.end - t->span.begin);
    return kind;
}

/* What a '{' opens here. */
static enum block block_opened(const struct parser *p)
{
    if (current_block(p) != BLOCK_TOP)
        return current_block(p);
    return p->place.keyword == SAMPLERS ? BLOCK_SAMPLERS
           : p->place.keyword == ENTRY  ? BLOCK_ENTRY
                                        : BLOCK_STATEMENTS;
}

/* Keeps the stack of open brackets. A closing one that does not fit is left
 * to the grammar to complain of. */
static void track_bracket(struct parser *p, const struct token *t)
{
    int n = p->place.nopen;

    switch (t->kind) {
    case '{':
    case '(':
    case '[':
        if (n == MAX_NESTING) {
            too_deep(p, t->span);
            return;
        }
        p->open[n] = (struct open){
            t->kind, t->kind == '{' ? block_opened(p) : current_block(p),
            t->span};
        p->place.nopen++;
        return;
    case ')':
    case ']':
        if (n && p->open[n - 1].kind == (t->kind == ')' ? '(' : '['))
            p->place.nopen--;
        return;
    case '}':
        while (n && p->open[n - 1].kind != '{')
            n--;
        if (n)
            p->place.nopen = n - 1;
        return;
    default:
        return;
    }
}

/* Does a relation or loop begin at token i? */
static bool starts_statement(const struct parser *p, int i)
{
    const struct token *t = p->tokens.all + i;
    int depth = 0, close, limit = i + 2000; /* keeps recovery linear */

    if (t->kind != NAME)
        return false;
    if (is_word(t, "for"))
        return true;
    i++;
    if (t[1].kind == '(' || t[1].kind == '[') {
        for (;; i++) {
            int kind = p->tokens.all[i].kind;
            if (kind == '(' || kind == '[')
                depth++;
            else if (kind == ')' || kind == ']')
                depth--;
            if (depth == 0)
                break;
            if (i == limit || kind == YYEOF || kind == '{' || kind == '}' || kind == ';' ||
                kind == ASSIGN || kind == '~')
                return false;
        }
        i++;
    }
    close = p->tokens.all[i].kind;
    return close == ASSIGN || close == '~' || close == '=';
}

/* Is token i a place to go on from, after an error in this block? */
static bool is_fresh_start(const struct parser *p, enum block block, int i)
{
    const struct token *t = p->tokens.all + i;

    switch (block) {
    case BLOCK_TOP:
        return t->line_start && top_keyword(t);
    case BLOCK_STATEMENTS:
        return t->kind == '{' || (t->line_start && starts_statement(p, i));
    case BLOCK_SAMPLERS:
        return t->line_start;
    case BLOCK_ENTRY:
        for (int k = 0; t->line_start && k < NCLAUSES; k++)
            if (is_word(t, clause_keywords[k]))
                return true;
        return false;
    }
    return false;
}

/* Skips from the wrong token to one that starts a declaration, statement or
 * clause, or closes the block. Returns the token to hand to the parser. */
static int recover(struct parser *p)
{
    int i = p->before.next, braces = 0;
    enum block block;

    p->recovering = false;
    p->place = p->before;
    while (in_parentheses(p))
        p->place.nopen--;
    block = current_block(p);
    if (i == p->recovered_at && p->tokens.all[i].kind != YYEOF)
        i++;
    p->recovered_at = i;
    for (;; i++) {
        int kind = p->tokens.all[i].kind;
        if (kind == YYEOF)
            break;
        if (braces == 0 && i > p->before.next - 1 &&
            (is_fresh_start(p, block, i) ||
             (kind == '}' && block != BLOCK_TOP)))
            break;
        if (kind == '{')
            braces++;
        else if (kind == '}' && braces)
            braces--;
        else if (kind == ';' && braces == 0 && block != BLOCK_TOP) {
            i++;
            break;
        }
    }
    p->place.next = i;
    p->place.relation = false;
    p->place.previous = RESYNC;
    return p->tokens.all[i].kind == YYEOF ? YYEOF : RESYNC;
}

/* Reports what the scanner found wrong up to a place. */
static void report_scan_errors(struct parser *p, uint32_t place)
{
    struct scan_error **e = &p->tokens.errors;

    for (; *e && (*e)->span.begin <= place; *e = (*e)->next) {
        error_at(p->c, (*e)->span, "%s", (*e)->message);
        p->latest = *e;
    }
}

/* The text between the quotes, the second of which may be missing. */
static const char *unquoted(struct parser *p, struct span span)
{
    const char *text = span.source->text + span.begin + 1;
    size_t n = span.end - span.begin - 1;

    return intern_n(p->c, text, n && text[n - 1] == '"' ? n - 1 : n);
}

/* The parser's next token, with what its context makes of it. */
static int yylex(YYSTYPE *value, struct span *span, struct parser *p)
{
    const struct token *t;
    int kind;

    if (p->c->nerrors >= MAX_ERRORS && !p->hopeless) {
        p->hopeless = true;
        error_at(p->c, (struct span){0}, "too many errors: stopped reading");
    }
    if (p->recovering && !p->hopeless) {
        kind = recover(p);
        *span = p->tokens.all[p->place.next].span;
        return kind;
    }
    p->before = p->place;
    t = peek(p, 0);
    *span = t->span;
    report_scan_errors(p, t->span.begin);
    if (p->hopeless || t->kind == YYEOF)
        return YYEOF;
    p->place.next++;

    kind = t->kind;
    if (kind == NAME)
        kind = name_in_context(p, t, value);
    else if (kind == NUMBER)
        value->number = t->number;
    else if (kind == STRING)
        value->name = unquoted(p, t->span);
    else if (kind == SPECIAL)
        value->name = intern_n(p->c, t->span.source->text + t->span.begin,
                               t->span.end - t->span.begin);
    else if (kind == ':' && !in_parentheses(p) &&
             (current_block(p) == BLOCK_ENTRY ||
              current_block(p) == BLOCK_SAMPLERS))
        kind = LABEL;
    track_bracket(p, t);

    if (kind == '~')
        p->place.relation = true;
    else if (kind == ASSIGN || kind == '=' || kind == ';' || kind == '{' ||
             kind == '}' || kind == FOR)
        p->place.relation = in_parentheses(p) && p->place.relation;
    p->place.previous = kind;
    return kind;
}

/* ---- Messages ----------------------------------------------------------- */

static void yyerror(const struct span *span, struct parser *p,
                    const char *message)
{
    (void)message; /* only ever "memory exhausted": the parser's own stack */
    too_deep(p, *span);
}

/* What the grammar would accept: too many symbols to list one by one. */
enum { MAX_EXPECTED = 64, MAX_WORDS = 5 };
struct expected {
    const char *symbols[MAX_EXPECTED];
    int n;
};

static bool expects(const struct expected *e, const char *symbol)
{
    for (int i = 0; i < e->n; i++)
        if (strcmp(e->symbols[i], symbol) == 0)
            return true;
    return false;
}

/* Takes out the symbols of a list that ends with NULL. */
static void drop(struct expected *e, const char *const *list)
{
    int kept = 0;

    for (int i = 0; i < e->n; i++) {
        const char *const *s = list;
        while (*s && strcmp(*s, e->symbols[i]) != 0)
            s++;
        if (!*s)
            e->symbols[kept++] = e->symbols[i];
    }
    e->n = kept;
}

static const char *const starts_operand[] = {
    "a name", "a number", "'('", "'-'", "'!'", NULL};
static const char *const operators[] = {
    "'+'",  "'-'",  "'*'",  "'/'",  "'^'", "'<'",    "'>'", "'<='", "'>='",
    "'=='", "'!='", "'&&'", "'||'", "':'", "'%op%'", "'('", "'['",  NULL};
static const char *const starts_relation[] = {"a name", "'for'", "';'", NULL};
static const char *const follows_item[] = {
    "a name", "'='", "'<-'", "'~'", "':'", "';'", NULL};
static const char *const starts_declaration[] = {
    "'model'",  "'data'", "'samplers'", "'import'", "a declaration",
    "an entry", "';'",    NULL};
static const char *const never[] = {"a new beginning", "T(,)", NULL};
static const char *const seldom[] = {
    "'in'", "'['", "the end of the file", NULL};
static const char *const beside_assign[] = {"'='", "'('", NULL};

/* Replaces the usual groups of symbols by one word each. */
static void summarise(struct expected *e)
{
    const char *words[6];
    int n = 0;
    bool operand = expects(e, "a number");
    bool operation = !operand && expects(e, "'+'");
    bool clause = expects(e, "a clause");

    drop(e, never);
    if (expects(e, "'model'")) {
        drop(e, starts_declaration);
        words[n++] = "a block";
        words[n++] = "a declaration";
    }
    if (operand) {
        drop(e, starts_operand);
        words[n++] = "an expression";
    }
    if (operation) {
        drop(e, operators);
        words[n++] = "an operator";
    }
    if (expects(e, "'for'")) {
        drop(e, starts_relation);
        words[n++] = "a statement";
    }
    if (clause)
        drop(e, follows_item);
    if (n + e->n > 1)
        drop(e, seldom);
    if (expects(e, "'<-'") && expects(e, "'~'"))
        drop(e, beside_assign);
    if (operation && e->n > 0 && n == 1 && !clause)
        n = 0; /* operators go without saying beside ')' */
    if (n + e->n > MAX_EXPECTED)
        e->n = MAX_EXPECTED - n;
    memmove(e->symbols + n, e->symbols, sizeof e->symbols[0] * (size_t)e->n);
    for (int i = 0; i < n; i++)
        e->symbols[i] = words[i];
    e->n += n;
}

/* "expected A, B or C before 'x'", or "unexpected 'x'". */
static void describe(struct text *out, const struct expected *e,
                     const char *found)
{
    if (e->n == 0 || e->n > MAX_WORDS) {
        text_printf(out, "unexpected %s", found);
        return;
    }
    text_append(out, "expected ");
    for (int i = 0; i < e->n; i++)
        text_printf(out, "%s%s", i == 0 ? "" : i < e->n - 1 ? ", " : " or ",
                    e->symbols[i]);
    text_printf(out, " before %s", found);
}

/* Was a '(' or '[' open before the wrong token? */
static bool in_brackets(const struct parser *p)
{
    int n = p->before.nopen;
    return n && p->open[n - 1].kind != '{';
}

/* Right behind a token. */
static struct span after(const struct token *t)
{
    return (struct span){t->span.source, t->span.end, t->span.end};
}

/* The word before t on its line, to be suspected of being no BUGS. */
static const struct token *word_before(const struct parser *p,
                                       const struct token *t, const char *word)
{
    for (; t >= p->tokens.all; t--) {
        if (is_word(t, word))
            return t;
        if (t->line_start)
            return NULL;
    }
    return NULL;
}

/* Does the line of an assignment follow one that asks for more? */
static const struct token *unfinished_line(const struct parser *p,
                                           const struct token *t)
{
    if (t->kind != ASSIGN && t->kind != '=' && t->kind != '~')
        return NULL;
    while (t > p->tokens.all && !t->line_start)
        t--;
    return t > p->tokens.all && wants_more(t[-1].kind) ? t - 1 : NULL;
}

/* What a misspelt word outside the blocks may mean. */
static const char *nearest_keyword(struct parser *p, const struct token *t)
{
    const char *words[NTOP];

    for (int i = 0; i < NTOP; i++)
        words[i] = top_keywords[i].name;
    return nearest_name(intern_n(p->c, t->span.source->text + t->span.begin,
                                 t->span.end - t->span.begin),
                        words, NTOP);
}

/* A word about a likely slip. */
static void hint(struct parser *p, const struct token *t)
{
    const struct open *open =
        p->before.nopen ? &p->open[p->before.nopen - 1] : NULL;
    bool inside = in_brackets(p);
    bool closes = t->kind == ')' || t->kind == ']' || t->kind == '}';
    bool matches = inside && t->kind == (open->kind == '(' ? ')' : ']');
    const char *near =
        !open && t->kind == NAME ? nearest_keyword(p, t) : NULL;
    const struct token *other;

    if (near)
        note_at(p->c, t->span, "did you mean '%s'?", near);
    else if ((other = word_before(p, t, "if")) != NULL)
        note_at(p->c, other->span,
                "there is no 'if': ifelse(condition, a, b) chooses a value");
    else if (t->kind == '=' && inside)
        note_at(p->c, t->span, "to compare, write '=='");
    else if (t->kind == ASSIGN && inside)
        note_at(p->c, t->span,
                "'<-' assigns; to compare with a negative number, write "
                "'< -'");
    else if ((other = unfinished_line(p, t)) != NULL)
        note_at(p->c, after(other), "is something missing here?");
    else if (t->kind == YYEOF
                 ? open != NULL
                 : inside && !matches && (closes || t->line_start))
        note_at(p->c, open->span, "this '%c' is still open", open->kind);
}

/* Was something found wrong on this line that explains a syntax error? */
static bool is_explained(const struct parser *p, struct span span)
{
    const char *text = p->source->text;
    const struct scan_error *e = p->latest;

    return e && e->span.begin <= span.begin &&
           !memchr(text + e->span.begin, '\n', span.begin - e->span.begin);
}

static int yyreport_syntax_error(const yypcontext_t *context, struct parser *p)
{
    const struct token *t = &p->tokens.all[p->before.next];
    yysymbol_kind_t symbols[MAX_EXPECTED];
    struct expected e = {0};
    struct text found = {0}, message = {0};
    struct span span = t->span;
    int length = (int)(span.end - span.begin);

    if (p->hopeless)
        return 0;
    p->recovering = true;
    if (is_explained(p, span))
        return 0;
    e.n = yypcontext_expected_tokens(context, symbols, MAX_EXPECTED);
    if (e.n < 0)
        return e.n;
    for (int i = 0; i < e.n; i++)
        e.symbols[i] = yysymbol_name(symbols[i]);
    summarise(&e);

    if (t->kind == YYEOF)
        text_append(&found, "the end of the file");
    else if (in_brackets(p) && t->line_start)
        text_append(&found, "the end of the line");
    else
        text_printf(&found, "'%.*s'", length > 40 ? 40 : length,
                    span.source->text + span.begin);
    if (t->kind == YYEOF || (in_brackets(p) && t->line_start))
        span = t > p->tokens.all ? after(t - 1) : span;
    if ((t->kind == ')' || t->kind == ']') && !in_brackets(p))
        text_printf(&message, "this '%c' closes nothing", t->kind);
    else
        describe(&message, &e, found.data);
    error_at(p->c, span, "%s", message.data);
    hint(p, t);
    text_free(&found);
    text_free(&message);
    return 0;
}

/* ---- The parser --------------------------------------------------------- */

/* The ends of the program's lists, so that a further source adds to them. */
#define LIST_END(list, p)                                                      \
    do {                                                                       \
        (p) = &(list);                                                         \
        while (*(p))                                                           \
            (p) = &(*(p))->next;                                               \
    } while (0)

bool parse_source(struct compiler *c, const struct source *source,
                  struct program *program)
{
    int before = c->nerrors;
    struct parser p = {.c = c,
                       .source = source,
                       .program = program,
                       .recovered_at = -1};

    LIST_END(program->declarations, p.declaration);
    LIST_END(program->imports, p.import);
    LIST_END(program->samplers, p.choice);
    LIST_END(program->entries, p.entry);
    if (scan_source(c, source, &p.tokens)) {
        yyparse(&p);
        report_scan_errors(&p, UINT32_MAX);
    }
    return c->nerrors == before;
}
