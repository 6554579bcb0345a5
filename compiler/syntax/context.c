/* context.c: tokens in context. Decides from the place whether a name is a
 * keyword, and after an error skips to where a statement, clause or
 * declaration begins, so that one run reports many errors. */
#include "syntax/syntax.h"

#include "gbm.tab.h"

#include <string.h>

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
    "require",        "support",      "logdensity",
    "statistics",     "solve",        "draw",
    "draw_between",   "log_mass",     "mean",
    "mode",           "cdf",          "quantile",
    "log_cdf",        "log_survival", "as",
    "alias",          "observable",   "code",
    "derivative",     "range",        "inverse",
    "match",          "observed",     "add",
    "factor",         "builtin",      "log",
    "log_complement", "mixing",       "confine",
    "folded",         "named",        "single",
    "priority",       "vectors",      "draw_shared",
    "raised",         "adjoint",      "flat",
    "nominal",        "cell",         "require_between",
    "log_draw",       "unordered",    "code_in_rows",
};
enum { NCLAUSES = sizeof clause_keywords / sizeof clause_keywords[0] };

bool syntax_is_word(const struct token *t, const char *word)
{
    size_t n = strlen(word);
    return t->kind == NAME && t->span.end - t->span.begin == n &&
           memcmp(t->span.source->text + t->span.begin, word, n) == 0;
}

static const struct keyword *top_keyword(const struct token *t)
{
    for (int i = 0; i < NTOP; i++)
        if (syntax_is_word(t, top_keywords[i].name))
            return &top_keywords[i];
    return NULL;
}

const char *syntax_nearest_keyword(struct parser *p, const struct token *t)
{
    const char *words[NTOP];

    for (int i = 0; i < NTOP; i++)
        words[i] = top_keywords[i].name;
    return text_nearest_name(intern_n(p->c,
                                      t->span.source->text + t->span.begin,
                                      t->span.end - t->span.begin),
                             words, NTOP);
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

bool syntax_wants_more(int kind)
{
    switch (kind) {
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

/* Models stand in scripts of R as `NAME <- nimbleCode({ ... })` and as
 * `NAME <- function() { ... }`: what token t is of these, or NAME. `ahead` is
 * how many places behind the next token its own next one is. */
static int code_name(struct parser *p, const struct token *t, int ahead)
{
    int next = peek(p, ahead)->kind;

    if (next == '(' && syntax_is_word(t, "nimbleCode"))
        return peek(p, ahead + 1)->kind == '{' ? CODE : NAME;
    if (next == '(' && syntax_is_word(t, "function"))
        return peek(p, ahead + 1)->kind == ')' ? ROUTINE : NAME;
    if ((next == ASSIGN || next == '=') && peek(p, ahead + 1)->kind == NAME &&
        code_name(p, peek(p, ahead + 1), ahead + 2) != NAME)
        return CODE_NAME;
    return NAME;
}

static int top_name(struct parser *p, const struct token *t, YYSTYPE *value)
{
    const struct keyword *k = top_keyword(t);
    int previous = p->place.previous;
    bool block = k && peek(p, 0)->kind == '{' && k->token != DECLARE;
    int code = code_name(p, t, 0);

    if (in_parentheses(p) || previous == ENTRY)
        return NAME;
    if (code != NAME) {
        p->place.keyword = MODEL;
        return code;
    }
    if (previous == ')' || previous == NAME) {
        if (syntax_is_word(t, "over") && p->place.keyword == ENTRY)
            return OVER;
        if (syntax_is_word(t, "returns") && p->place.keyword == ENTRY)
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
    if (syntax_is_word(t, "for") &&
        (peek(p, 0)->kind == '(' || peek(p, 0)->kind == NAME))
        return FOR; /* otherwise JAGS, too, takes it for a variable */
    if (!syntax_is_word(t, "T") && !syntax_is_word(t, "I") &&
        !syntax_is_word(t, "C"))
        return NAME;
    if (in_parentheses(p) || peek(p, 0)->kind != '(')
        return NAME;
    if (p->place.previous == '~')
        return peek(p, 1)->kind == NAME && peek(p, 2)->kind == '(' ? TRUNCATION
                                                                   : NAME;
    return p->place.relation && p->place.previous == ')' ? TRUNCATION : NAME;
}

/* A clause begins a line with its keyword, where the line before is done. */
static int clause_name(struct parser *p, const struct token *t)
{
    int previous = p->place.previous;
    struct span s = t->span;
    const char *near;

    if (in_parentheses(p) || syntax_wants_more(previous) ||
        !(t->line_start || previous == '{'))
        return NAME;
    for (int i = 0; i < NCLAUSES; i++)
        if (syntax_is_word(t, clause_keywords[i]))
            return CLAUSE;
    if (previous == CLAUSE)
        return NAME;
    near = text_nearest_name(
        intern_n(p->c, s.source->text + s.begin, s.end - s.begin),
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

    if (in_parentheses(p) && p->place.previous == NAME &&
        syntax_is_word(t, "in"))
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
            syntax_too_deep(p, t->span);
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
    if (syntax_is_word(t, "for"))
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
            if (i == limit || kind == YYEOF || kind == '{' || kind == '}' ||
                kind == ';' || kind == ASSIGN || kind == '~')
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
            if (syntax_is_word(t, clause_keywords[k]))
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

void syntax_report_scan_errors(struct parser *p, uint32_t place)
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

int syntax_next_token(YYSTYPE *value, struct span *span, struct parser *p)
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
    syntax_report_scan_errors(p, t->span.begin);
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
