/* foreign.c: text that is no BUGS, told by the words with which a line begins:
 * what is wrong with all of it is said once. */
#include "syntax/syntax.h"

#include "gbm.tab.h"

#define STAN                                                                   \
    "this is Stan's: in BUGS nothing is declared with a type, and data are "   \
    "what a file supplies; docs/coming-from.md"
#define PYTHON                                                                 \
    "this is Python's: a model is written in BUGS; docs/coming-from.md"

static const struct foreign {
    const char *word, *note;
} foreign[] = {
    {"int", STAN},
    {"real", STAN},
    {"vector", STAN},
    {"row_vector", STAN},
    {"matrix", STAN},
    {"simplex", STAN},
    {"ordered", STAN},
    {"corr_matrix", STAN},
    {"cov_matrix", STAN},
    {"array", STAN},
    {"parameters", STAN},
    {"transformed", STAN},
    {"generated", STAN},
    {"functions", STAN},
    {"target", "Stan's target += is a distribution of one's own; "
               "docs/library.md"},
    {"from", PYTHON},
    {"with", PYTHON},
    {"def", PYTHON},
};

/* import NAME as NAME */
static bool imports_module(const struct parser *p, const struct token *t)
{
    return t > p->tokens.all && syntax_is_word(t - 1, "import") &&
           t->kind == NAME && syntax_is_word(t + 1, "as");
}

bool syntax_is_foreign(struct parser *p, const struct token *t)
{
    const struct token *first = t;
    while (first > p->tokens.all && !first->line_start)
        first--;
    for (const struct token *before = first; before < t; before++)
        if (before->kind == ASSIGN || before->kind == '~')
            return false; /* a variable of that name */
    const char *note = imports_module(p, t) ? PYTHON : NULL;
    for (size_t i = 0; !note && i < sizeof foreign / sizeof *foreign; i++)
        if (syntax_is_word(first, foreign[i].word))
            note = foreign[i].note;
    if (note)
        note_at(p->c, first->span, "%s", note);
    return note != NULL;
}
