/* syntax.c: what is said of a token that does not fit. */
#include "syntax/syntax.h"

#include "gbm.tab.h"

#include <string.h>

/* What the grammar would accept: too many symbols to list one by one. */
enum { MAX_WORDS = 5 };
struct expected {
    const char **symbols;
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

static const char *const starts_operand[] = {"a name", "a number", "'('", "'-'",
                                             "'+'",    "'!'",      NULL};
static const char *const operators[] = {
    "'+'",  "'-'",  "'*'",  "'/'",  "'^'", "'<'",    "'>'", "'<='", "'>='",
    "'=='", "'!='", "'&&'", "'||'", "':'", "'%op%'", "'('", "'['",  NULL};
static const char *const starts_relation[] = {"a name", "'for'", "';'", NULL};
static const char *const follows_item[] = {"a name", "'='", "'<-'", "'~'",
                                           "':'",    "';'", NULL};
static const char *const starts_declaration[] = {
    "'model'",       "'data'",     "'samplers'", "'import'",
    "a declaration", "an entry",   "';'",        "the name of R's code",
    "'nimbleCode'",  "'function'", NULL};
static const char *const never[] = {"a new beginning", "T(,)", NULL};
static const char *const seldom[] = {"'in'", "'['", "the end of the file",
                                     NULL};
static const char *const beside_assign[] = {"'='", "'('", NULL};
static const char *const beside_comma[] = {"'='", NULL}; /* f(name = x) */

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
    if (expects(e, "','"))
        drop(e, beside_comma);
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
        text_printf(out, "%s%s",
                    i == 0         ? ""
                    : i < e->n - 1 ? ", "
                                   : " or ",
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
        if (syntax_is_word(t, word))
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
    return t > p->tokens.all && syntax_wants_more(t[-1].kind) ? t - 1 : NULL;
}

/* Where a variable that ends before t begins, if it stands behind an expression
 * on its line, as b in a <- 2 b: so it was read as a statement of its own. */
static const struct token *stray_variable(const struct parser *p,
                                          const struct token *t)
{
    const struct token *first = t - 1;
    int depth = 0;

    for (; first > p->tokens.all; first--) {
        depth += (first->kind == ']') - (first->kind == '[');
        if (depth == 0 && first->kind != '[')
            break;
    }
    if (first <= p->tokens.all || first->kind != NAME || first->line_start)
        return NULL;
    switch (first[-1].kind) {
    case NAME:
    case NUMBER:
    case ')':
    case ']':
        return first;
    default:
        return NULL;
    }
}

/* A statement that stands in no block. */
static bool is_bare_statement(const struct parser *p, const struct token *t)
{
    const struct token *end = p->tokens.all + p->tokens.n;
    if (p->before.nopen || !t->line_start || t->kind != NAME)
        return false;
    if (syntax_is_word(t, "for"))
        return true;
    while (t < end && t->kind != '{' && t->kind != '~' && t->kind != ASSIGN)
        t++;
    return t < end && t->kind != '{';
}

/* A word about a likely slip. */
static void hint(struct parser *p, const struct token *t,
                 const struct expected *e)
{
    const struct open *open =
        p->before.nopen ? &p->open[p->before.nopen - 1] : NULL;
    bool inside = in_brackets(p);
    bool closes = t->kind == ')' || t->kind == ']' || t->kind == '}';
    bool matches = inside && t->kind == (open->kind == '(' ? ')' : ']');
    const char *near =
        !open && t->kind == NAME ? syntax_nearest_keyword(p, t) : NULL;
    const struct token *other;

    if (near)
        note_at(p->c, t->span, "did you mean '%s'?", near);
    else if (is_bare_statement(p, t))
        note_at(p->c, t->span, "statements stand in model { }");
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
    else if (expects(e, "'<-'") && expects(e, "'~'") &&
             (other = stray_variable(p, t)) != NULL)
        note_at(p->c, other->span, "is an operator missing before this?");
    else if (t->kind == '(' && t > p->tokens.all &&
             (t[-1].kind == NUMBER || t[-1].kind == ')'))
        note_at(p->c, t->span, "to multiply, write '*'");
    else if (t->kind == YYEOF ? open != NULL
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

void syntax_error(struct parser *p, const char *symbols[MAX_EXPECTED],
                  int nsymbols)
{
    const struct token *t = &p->tokens.all[p->before.next];
    struct expected e = {symbols, nsymbols};
    struct text found = {0}, message = {0};
    struct span span = t->span;
    int length = (int)(span.end - span.begin);

    if (p->hopeless)
        return;
    p->recovering = true;
    if (is_explained(p, span))
        return;
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
    if (syntax_is_foreign(p, t))
        p->hopeless = true; /* the rest says no more */
    else
        hint(p, t, &e);
    text_free(&found);
    text_free(&message);
}
