/* of_node.c: OpenBUGS's functions of a node's distribution: cumulative(x, v) is
 * its distribution function at v, density(x, v) its density and deviance(x, v)
 * -2 times the logarithm of that. With x[i] ~ dnorm(mu[i], tau) they are
 * pnorm(v, mu[i], tau), dnorm(v, mu[i], tau) and -2 * logdensity.norm(v, mu[i],
 * tau).
 *
 * Requires a parsed program, whose distributions have their arguments in order;
 * leaves one. */
#include "algebra/library.h"
#include "model/model.h"
#include <string.h>

/* The loops around a statement, innermost first, and what stands in each one's
 * index's place in the call. */
struct place {
    const struct stmt *loop;
    struct expr *index; /* NULL: not told yet */
    struct place *outer;
};

struct walk {
    struct compiler *c;
    const struct program *program;
};

static const struct {
    const char *name, *prefix;
} functions[] = {
    {"cumulative", "p"}, {"density", "d"}, {"deviance", "logdensity."}};
enum { NFUNCTIONS = sizeof functions / sizeof functions[0] };

/* The prefix of what a call stands for, or NULL. */
static const char *prefix_of(struct compiler *c, const struct expr *e)
{
    for (int i = 0; e->kind == EXPR_CALL && e->nargs == 2 && i < NFUNCTIONS;
         i++)
        if (!strcmp(e->name, functions[i].name) &&
            !library_find(c, ENTRY_FUNCTION, e->name))
            return functions[i].prefix;
    return NULL;
}

static bool any_call(struct compiler *c, const struct expr *e)
{
    bool any = prefix_of(c, e) != NULL;

    for (int i = 0; i < e->nargs && !any; i++)
        any = any_call(c, e->args[i]);
    return any;
}

static struct place *place_of(struct place *p, const struct expr *e)
{
    while (p &&
           !(e->kind == EXPR_NAME && !e->nargs && p->loop->name == e->name))
        p = p->outer;
    return p;
}

/* Can `left`, within its loops, be `node`? Tells the indices if so. */
static bool meets(struct place *at, const struct expr *left, struct expr *node)
{
    struct place *p = place_of(at, left);

    if (p && p->index)
        return expr_same(p->index, node);
    if (p) {
        p->index = node;
        return node->kind != EXPR_RANGE && node->kind != EXPR_ALL;
    }
    if (left->kind != node->kind || left->name != node->name ||
        left->nargs != node->nargs || left->bracket != node->bracket ||
        (left->kind == EXPR_NUM && !expr_same(left, node)))
        return false;
    for (int i = 0; i < left->nargs; i++)
        if (!meets(at, left->args[i], node->args[i]))
            return false;
    return true;
}

/* What stands in an index's place. */
static struct expr *index_of(struct compiler *c, struct expr *e, void *at)
{
    const struct place *p = place_of(at, e);
    (void)c;
    return p ? p->index : NULL;
}

/* The statement that gives a name its distribution, and its loops. */
struct found {
    const char *name;
    const struct stmt *statement;
    struct place *at;
    int n;
};

static void find(struct compiler *c, const struct stmt *s, struct place *at,
                 struct found *f)
{
    for (; s; s = s->next) {
        if (s->kind == STMT_FOR) {
            struct place *inner = NEW(c, struct place);
            *inner = (struct place){.loop = s, .outer = at};
            find(c, s->body, inner, f);
        } else if (s->kind == STMT_STOCHASTIC && s->lhs->name == f->name) {
            f->statement = s;
            f->at = at;
            f->n++;
        }
    }
}

static void refuse(struct compiler *c, const struct expr *e, const char *why,
                   const struct stmt *statement)
{
    struct text node = {0};

    expr_print(&node, e->args[0]);
    error_at(c, e->span, "%s() of %s: %s", e->name, node.data, why);
    if (statement)
        note_at(c, statement->span, "its distribution is here");
    text_free(&node);
}

/* Why the call cannot be that of the distribution's function; NULL if it can.
 */
static const char *hindrance(const struct walk *w, const struct expr *e,
                             const struct found *f)
{
    const struct stmt *s = f->statement;

    if (!f->n)
        return "it has no distribution";
    if (f->n > 1)
        return "more than one statement gives it a distribution";
    if (s->truncation != TRUNC_NONE)
        return "its distribution has bounds";
    if (!meets(f->at, s->lhs, e->args[0]))
        return "its subscripts are not those of the statement";
    for (const struct place *p = f->at; p; p = p->outer)
        if (!p->index)
            return "its subscripts do not tell the statement's loops";
    if (any_call(w->c, s->rhs))
        return "its distribution depends on such a function";
    return NULL;
}

/* The call of the distribution's own function; NULL, and an error. */
static struct expr *of_distribution(const struct walk *w, const char *prefix,
                                    struct expr *e)
{
    struct found f = {.name = e->args[0]->name};
    const struct expr *d;
    struct expr *call;
    const char *why, *name;

    if (e->args[0]->kind == EXPR_NAME)
        find(w->c, w->program->model, NULL, &f);
    if ((why = hindrance(w, e, &f)) != NULL) {
        refuse(w->c, e, why, f.statement);
        return NULL;
    }
    d = f.statement->rhs;
    name = intern_format(w->c, "%s%s", prefix,
                         d->name[0] == 'd' ? d->name + 1 : d->name);
    if (d->name[0] != 'd' || !library_find(w->c, ENTRY_FUNCTION, name)) {
        refuse(w->c, e, intern_format(w->c, "%s has no such function", d->name),
               f.statement);
        return NULL;
    }
    call = expr_new(w->c, EXPR_CALL, e->span);
    call->name = name;
    call->nargs = d->nargs + 1;
    call->args = NEW_ARRAY(w->c, struct expr *, call->nargs);
    call->args[0] = e->args[1];
    for (int i = 0; i < d->nargs; i++)
        call->args[i + 1] = expr_map(w->c, d->args[i], index_of, f.at);
    return call;
}

static void replace(const struct walk *w, struct expr **at)
{
    struct expr *e = *at, *call;
    const char *prefix;

    for (int i = 0; e && i < e->nargs; i++)
        replace(w, &e->args[i]);
    if (!e || !(prefix = prefix_of(w->c, e)) ||
        !(call = of_distribution(w, prefix, e)))
        return;
    if (!strcmp(prefix, "logdensity.")) {
        struct expr *two = expr_new(w->c, EXPR_NUM, e->span);
        two->number = -2;
        call = expr_call(w->c, "*", e->span, 2, two, call);
    }
    *at = call;
}

static void statements(const struct walk *w, struct stmt *s)
{
    for (; s; s = s->next) {
        replace(w, &s->range);
        replace(w, &s->rhs);
        replace(w, &s->lower);
        replace(w, &s->upper);
        statements(w, s->body);
    }
}

void model_replace_of_node(struct compiler *c, struct program *p)
{
    struct walk w = {c, p};

    statements(&w, p->model);
}
