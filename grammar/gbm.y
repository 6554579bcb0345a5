/* gbm.y: the parser of model files and of the standard library's files.
 *
 * The rules do nothing but build the tree (compiler/syntax/build.c). What a
 * context-free grammar cannot say is in compiler/syntax/syntax.context.c: which names are
 * keywords where, and where to go on after an error. */

%require "3.8"
%define api.pure full
%define api.location.type {struct span}
%define parse.error custom
%define parse.lac full
%param {struct parser *p}
%expect 0

%code requires {
#include "syntax/syntax.h"

/* Limits that keep every walk of a tree within the stack. */
enum { MAX_NESTING = 200, MAX_ERRORS = 20, MAX_SOURCE = 1 << 28 };
enum { MAX_EXPECTED = 64 }; /* symbols that the grammar accepts somewhere */

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
/* What a brace encloses; decides which names are keywords in it. */
enum block { BLOCK_TOP, BLOCK_STATEMENTS, BLOCK_SAMPLERS, BLOCK_ENTRY };

/* A bracket that is open. */
struct open {
    int kind; /* '{', '(' or '[' */
    enum block block;
    struct span span;
};

/* Where syntax_next_token() is. Kept from before the latest token, as that token may
 * turn out to be the wrong one. */
struct place {
    int next;      /* index of the next token */
    int nopen;     /* open brackets */
    int previous;  /* kind of the token before */
    int keyword;   /* the latest keyword outside the blocks */
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
    bool hopeless;                   /* stop, without another word */
    struct span model, data;         /* the blocks' keywords, once seen */
    /* Ends of the program's lists. */
    struct declaration **declaration;
    struct import **import;
    struct sampler_choice **choice;
    struct entry **entry;
};
}

%code provides {
/* compiler/syntax/syntax.context.c: the parser's next token, with what its context makes of
 * it; after an error, one to go on from. */
int syntax_next_token(YYSTYPE *value, struct span *span, struct parser *p);
/* Reports what the scanner found wrong up to a place. */
void syntax_report_scan_errors(struct parser *p, uint32_t place);
/* Can an expression, name or list not end after this token? */
bool syntax_wants_more(int kind);
/* Is the token this word? */
bool syntax_is_word(const struct token *t, const char *word);
/* compiler/syntax/foreign.c: whether the line of a token that does not fit begins
 * as one of another language, which it says. */
bool syntax_is_foreign(struct parser *p, const struct token *t);
/* The word nearest to a misspelt one outside the blocks, or NULL. */
const char *syntax_nearest_keyword(struct parser *p, const struct token *t);

/* compiler/syntax/syntax.c: reports the token that does not fit. `symbols` are the
 * names of what the grammar would accept instead. */
void syntax_error(struct parser *p, const char *symbols[MAX_EXPECTED],
                  int nsymbols);
/* The parser's stack, or a tree, has got too deep: reports it and stops. */
void syntax_too_deep(struct parser *p, struct span span);

/* compiler/syntax/build.c: what the rules build. */
struct expr *build_number(struct parser *p, double x, struct span span);
struct expr *build_call(struct parser *p, const char *name, struct exprs args,
                        struct span span);
struct expr *build_variable(struct parser *p, const char *name,
                            struct exprs *indices, struct span span);
struct expr *build_unary(struct parser *p, const char *op, struct expr *a,
                         struct span span);
struct expr *build_binary(struct parser *p, const char *op, struct expr *a,
                          struct expr *b, struct span span);
struct expr *build_range(struct parser *p, struct expr *a, struct expr *b,
                         struct span span);
struct expr *build_sum(struct parser *p, const char *function,
                       const char *index, struct expr *over, struct expr *body,
                       struct span span);
void ast_append_expr(struct parser *p, struct exprs *list, struct expr *e);
/* A cell of a function of an array, inverse(x)[i,j]: a call with the cell of the
 * array as its argument. */
struct expr *build_cell(struct parser *p, const char *function,
                        struct exprs arrays, struct exprs indices,
                        struct span span);
struct stmt *build_loop(struct parser *p, struct label index, struct expr *over,
                        struct span span);
struct stmt *build_assignment(struct parser *p, const char *link,
                              struct expr *lhs, struct expr *rhs,
                              struct span span);
struct stmt *build_stochastic(struct parser *p, const char *link,
                              struct expr *lhs, struct expr *rhs,
                              const char *truncation, struct bounds bounds,
                              struct span span);
void ast_append_stmt(struct stmts *list, struct stmt *s);
void build_declaration(struct parser *p, enum declaration_kind kind,
                       struct label name, struct exprs dims);
void build_block(struct parser *p, bool model, struct stmts body,
                 struct span keyword);
void build_import(struct parser *p, const char *path, struct span span);
struct sampler_choice *build_choice(struct parser *p, struct exprs targets,
                                    struct label method,
                                    struct options_list options,
                                    struct span span);
struct sampler_option *build_option(struct parser *p, const char *name,
                                    struct expr *value);
struct clause_item *build_item(struct parser *p, struct expr *label,
                               struct expr *value);
struct clause *build_clause(struct parser *p, const char *keyword,
                            struct items items, struct span span);
struct parameter *build_parameter(struct parser *p, struct label name,
                                  struct exprs dims);
void ast_append_parameter(struct parser *p, struct parameters *list,
                      const struct parameter *parameter);
void build_entry(struct parser *p, enum entry_kind kind, struct label name,
                 struct parameters parameters, struct parameter *result,
                 struct clauses clauses, struct span keyword);
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
#define YYLLOC_DEFAULT(to, rhs, n)                                             \
    ((to) = (n) ? (struct span){YYRHSLOC(rhs, 1).source,                       \
                                YYRHSLOC(rhs, 1).begin, YYRHSLOC(rhs, n).end}  \
                : (struct span){YYRHSLOC(rhs, 0).source,                       \
                                YYRHSLOC(rhs, 0).end, YYRHSLOC(rhs, 0).end})

#define yylex syntax_next_token
static void yyerror(const struct span *span, struct parser *p,
                    const char *message);
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
%token CODE_NAME "the name of R's code" CODE "'nimbleCode'" ROUTINE "'function'"
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
%type <exprs> arguments call_arguments indices dims targets
%type <expr> index argument bound
%type <stmt> statement relation loop for
%type <stmts> statements block code
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
  | MODEL block             { build_block(p, true, $block, @MODEL); }
  | MODEL name block        { build_block(p, true, $block, @MODEL); }
  | code                    { build_block(p, true, $code, @code); }
  | CODE_NAME assign code   { build_block(p, true, $code, @CODE_NAME); }
  | DATA block              { build_block(p, false, $block, @DATA); }
  | SAMPLERS '{' choices '}'
  | IMPORT STRING           { build_import(p, $STRING, @STRING); }
  | ENTRY name '(' parameters ')' result '{' clauses '}'
                            { build_entry(p, $ENTRY, $name, $parameters,
                                          $result, $clauses, @ENTRY); }
  | ENTRY name '(' ')' result '{' clauses '}'
                            { build_entry(p, $ENTRY, $name,
                                          (struct parameters){0}, $result,
                                          $clauses, @ENTRY); }
  | ENTRY name result '{' clauses '}'
                            { build_entry(p, $ENTRY, $name,
                                          (struct parameters){0}, $result,
                                          $clauses, @ENTRY); }
  ;

/* A model as R holds it: nimbleCode({ ... }), function() { ... } */
code:
    CODE '(' block ')'      { $$ = $block; }
  | ROUTINE '(' ')' block   { $$ = $block; }
  ;

/* var x, y[N]   given N, X[N,p]   observed y[N] */
declared:
    name dims               { build_declaration(p, $<declaration_kind>0,
                                                $name, $dims); }
  | declared ',' name dims  { build_declaration(p, $<declaration_kind>0,
                                                $name, $dims); }
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
  | statements statement    { $$ = $1; ast_append_stmt(&$$, $statement); }
  | statements ';'
  ;

statement:
    relation
  | loop
  | skipped                 { $$ = NULL; }
  | skipped block           { $$ = $block.first; }
  ;

skipped: error RESYNC       { yyerrok; };

/* Around a single statement braces may be left out, as in NIMBLE. */
loop:
    for block               { $$ = $for; $$->body = $block.first; }
  | for relation            { $$ = $for; $$->body = $relation; }
  | for loop                { $$ = $for; $$->body = $2; }
  ;

for: FOR '(' name IN expression ')'
                            { $$ = build_loop(p, $name, $expression, @$); };

relation:
    variable assign expression
                            { $$ = build_assignment(p, NULL, $1, $3, @$); }
  | NAME '(' variable ')' assign expression
                            { $$ = build_assignment(p, $1, $3, $6, @$); }
  | variable '~' expression
                            { $$ = build_stochastic(p, NULL, $1, $3, NULL,
                                                    (struct bounds){0}, @$); }
  | variable '~' expression TRUNCATION '(' bounds ')'
                            { $$ = build_stochastic(p, NULL, $1, $3, $4, $6,
                                                    @$); }
  | variable '~' TRUNCATION '(' expression ',' bounds ')'
                            { $$ = build_stochastic(p, NULL, $1, $5, $3, $7,
                                                    @$); }
  | NAME '(' variable ')' '~' expression
                            { $$ = build_stochastic(p, $1, $3, $6, NULL,
                                                    (struct bounds){0}, @$); }
  | NAME '(' variable ')' '~' expression TRUNCATION '(' bounds ')'
                            { $$ = build_stochastic(p, $1, $3, $6, $7, $9,
                                                    @$); }
  ;

assign: ASSIGN | '=';

bounds:
    ','                     { $$ = (struct bounds){NULL, NULL}; }
  | bound ','               { $$ = (struct bounds){$1, NULL}; }
  | ',' bound               { $$ = (struct bounds){NULL, $2}; }
  | bound ',' bound         { $$ = (struct bounds){$1, $3}; }
  ;

bound: /* +Inf beside -Inf */
    expression
  | '+' expression          { $$ = $2; }
  ;

/* Expressions. */

variable:
    NAME                    { $$ = build_variable(p, $1, NULL, @$); }
  | NAME '[' indices ']'    { $$ = build_variable(p, $1, &$3, @$); }
  ;

indices:
    index                   { $$ = (struct exprs){0}; ast_append_expr(p, &$$, $1); }
  | indices ',' index       { $$ = $1; ast_append_expr(p, &$$, $3); }
  ;

index:
    %empty                  { $$ = expr_new(p->c, EXPR_ALL, @$); }
  | expression
  ;

arguments:
    expression              { $$ = (struct exprs){0}; ast_append_expr(p, &$$, $1); }
  | arguments ',' expression
                            { $$ = $1; ast_append_expr(p, &$$, $3); }
  ;

/* dnorm(mean = m, sd = s): compiler/model/named.c */
call_arguments:
    argument                { $$ = (struct exprs){0}; ast_append_expr(p, &$$, $1); }
  | call_arguments ',' argument
                            { $$ = $1; ast_append_expr(p, &$$, $3); }
  ;

argument:
    expression
  | NAME '=' expression     { $$ = $3; $$->label = $1; }
  ;

expression:
    variable
  | NUMBER                  { $$ = build_number(p, $1, @$); }
  | NAME '(' ')'            { $$ = build_call(p, $1, (struct exprs){0}, @$); }
  | NAME '(' call_arguments ')'
                            { $$ = build_call(p, $1, $3, @$); }
  | sum
  | '(' expression ')'      { $$ = $2; }
  | '-' expression %prec NEGATIVE
                            { $$ = build_unary(p, "neg", $2, @$); }
  | '!' expression          { $$ = build_unary(p, "!", $2, @$); }
  | expression '+' expression { $$ = build_binary(p, "+", $1, $3, @$); }
  | expression '-' expression { $$ = build_binary(p, "-", $1, $3, @$); }
  | expression '*' expression { $$ = build_binary(p, "*", $1, $3, @$); }
  | expression '/' expression { $$ = build_binary(p, "/", $1, $3, @$); }
  | expression '^' expression { $$ = build_binary(p, "^", $1, $3, @$); }
  | expression '<' expression { $$ = build_binary(p, "<", $1, $3, @$); }
  | expression '>' expression { $$ = build_binary(p, ">", $1, $3, @$); }
  | expression LE expression  { $$ = build_binary(p, "<=", $1, $3, @$); }
  | expression GE expression  { $$ = build_binary(p, ">=", $1, $3, @$); }
  | expression EQ expression  { $$ = build_binary(p, "==", $1, $3, @$); }
  | expression NE expression  { $$ = build_binary(p, "!=", $1, $3, @$); }
  | expression AND expression { $$ = build_binary(p, "&&", $1, $3, @$); }
  | expression OR expression  { $$ = build_binary(p, "||", $1, $3, @$); }
  | expression SPECIAL expression { $$ = build_binary(p, $2, $1, $3, @$); }
  | expression ':' expression { $$ = build_range(p, $1, $3, @$); }
  ;

/* sum(j in 1:K, body) */
sum: NAME '(' NAME IN expression ',' expression ')'
                            { $$ = build_sum(p, $1, $3, $5, $7, @$); };

/* samplers { beta, tau : slice(width = 0.5); } */

choices:
    %empty
  | choices choice          { *p->choice = $choice;
                              p->choice = &$choice->next; }
  | choices ';'
  | choices error RESYNC    { yyerrok; }
  ;

choice:
    targets LABEL name      { $$ = build_choice(p, $1, $3,
                                                (struct options_list){0}, @$); }
  | targets LABEL name '(' ')'
                            { $$ = build_choice(p, $1, $3,
                                                (struct options_list){0}, @$); }
  | targets LABEL name '(' options ')'
                            { $$ = build_choice(p, $1, $3, $5, @$); }
  ;

targets:
    variable                { $$ = (struct exprs){0}; ast_append_expr(p, &$$, $1); }
  | targets ',' variable    { $$ = $1; ast_append_expr(p, &$$, $3); }
  ;

options:
    NAME '=' expression     { $$.first = $$.last = build_option(p, $1, $3); }
  | options ',' NAME '=' expression
                            { $$ = $1; $$.last->next = build_option(p, $3, $5);
                              $$.last = $$.last->next; }
  ;

/* Library entries: docs/library.md. */

parameters:
    parameter               { $$ = (struct parameters){0};
                              ast_append_parameter(p, &$$, $1); }
  | parameters ',' parameter
                            { $$ = $1; ast_append_parameter(p, &$$, $3); }
  ;

parameter:
    name dims               { $$ = build_parameter(p, $1, $2); }
  | ELLIPSIS                { $$ = build_parameter(p, (struct label){
                                      intern(p->c, "..."), @1},
                                      (struct exprs){0}); }
  ;

result:
    %empty                  { $$ = NULL; }
  | OVER name dims          { $$ = build_parameter(p, $2, $3); }
  | RETURNS '[' arguments ']'
                            { $$ = build_parameter(p, (struct label){NULL, @$},
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
    CLAUSE                  { $$ = build_clause(p, $1, (struct items){0}, @$); }
  | CLAUSE items            { $$ = build_clause(p, $1, $2, @$); }
  ;

items:
    item                    { $$.first = $$.last = $1; }
  | items ',' item          { $$ = $1; $$.last->next = $3; $$.last = $3; }
  ;

item:
    expression              { $$ = build_item(p, NULL, $1); }
  | expression LABEL expression
                            { $$ = build_item(p, $1, $3); }
  | NAME '(' call_arguments ')' '[' indices ']' LABEL expression
                            { $$ = build_item(p, build_cell(p, $1, $3, $6,
                                  (struct span){@1.source, @1.begin,
                                                @7.end}), $9); }
  | expression assign expression
                            { $$ = build_item(p, $1, $3); }
  | expression '~' expression
                            { $$ = build_item(p, NULL, build_binary(p, "~", $1,
                                                              $3, @$)); }
  | variable NAME '(' arguments ')'
                            { $$ = build_item(p, $1, build_call(p, $2, $4,
                                  (struct span){@2.source, @2.begin,
                                                @5.end})); }
  | variable NAME           { $$ = build_item(p, $1, build_variable(p, $2, NULL,
                                                              @2)); }
  ;

%%

static void yyerror(const struct span *span, struct parser *p,
                    const char *message)
{
    (void)message; /* only ever "memory exhausted": the parser's own stack */
    syntax_too_deep(p, *span);
}

static int yyreport_syntax_error(const yypcontext_t *context, struct parser *p)
{
    yysymbol_kind_t symbols[MAX_EXPECTED];
    const char *names[MAX_EXPECTED];
    int n = yypcontext_expected_tokens(context, symbols, MAX_EXPECTED);

    if (n < 0)
        return n;
    for (int i = 0; i < n; i++)
        names[i] = yysymbol_name(symbols[i]);
    syntax_error(p, names, n);
    return 0;
}

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
        syntax_report_scan_errors(&p, UINT32_MAX);
    }
    return c->nerrors == before;
}
