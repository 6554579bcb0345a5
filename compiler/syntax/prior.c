/* prior.c: --prior: other distributions than those of the model's text. */
#include "syntax/syntax.h"

#include <string.h>

static const struct span nowhere = {0};

/* The one statement of "tau ~ dgamma(3, 3)", NULL if it is none. */
static const struct stmt *read_statement(struct compiler *c, const char *text)
{
    struct source *source = NEW(c, struct source);
    struct program program = {0};

    source->path = "--prior";
    source->text = intern_format(c, "model { %s }", text);
    source->length = strlen(source->text);
    if (!parse_source(c, source, &program))
        return NULL;
    const struct stmt *s = program.model;
    bool alone = !program.data && !program.declarations && !program.samplers &&
                 !program.entries && !program.imports;
    if (!alone || !s || s->next || s->kind != STMT_STOCHASTIC) {
        error_at(c, nowhere,
                 "--prior takes a name, or what stands on the left in a "
                 "statement, and its distribution, as 'tau ~ dgamma(3, 3)', "
                 "not '%s'",
                 text);
        return NULL;
    }
    return s;
}

/* Whether a statement is one of those that `prior` is about: of its variable,
 * or with the same left-hand side, if that has brackets. */
static bool is_meant(const struct expr *lhs, const struct expr *prior)
{
    return prior->bracket ? expr_same(lhs, prior) : lhs->name == prior->name;
}

/* How many statements of a block are meant: all of them take the distribution
 * of `prior`, in which the indices of their loops may stand. */
static int replace(struct compiler *c, struct stmt *s, const struct stmt *prior)
{
    int n = 0;

    for (; s; s = s->next) {
        if (s->kind == STMT_FOR) {
            n += replace(c, s->body, prior);
        } else if (s->kind == STMT_STOCHASTIC && is_meant(s->lhs, prior->lhs)) {
            s->rhs = prior->rhs;
            s->truncation = prior->truncation;
            s->lower = prior->lower;
            s->upper = prior->upper;
            s->text = relation_text(c, s);
            n++;
        }
    }
    return n;
}

bool syntax_set_prior(struct compiler *c, struct program *p, const char *text)
{
    const struct stmt *prior = read_statement(c, text);

    if (!prior)
        return false;
    if (replace(c, p->model, prior) > 0)
        return true;
    struct text name = {0};
    expr_print(&name, prior->lhs);
    error_at(c, prior->lhs->span,
             "no statement of the model gives %s a distribution%s", name.data,
             prior->lhs->bracket ? "; brackets stand here as they do there: "
                                   "theta[i], or the name alone"
                                 : "");
    text_free(&name);
    return false;
}
