/* transform.c: data that a statement computes, and that have a distribution, as
 * BUGS has them: z[i] <- sqrt(y[i]) beside z[i] ~ dnorm(mu, tau), where nothing
 * that the statement reads is defined by the model. It is moved to data { }. */
#include "syntax/syntax.h"

/* The loops around a statement, innermost first. */
struct around {
    const struct stmt *loop;
    const struct around *outer;
};

static bool same_loops(const struct around *a, const struct around *b)
{
    while (a && b && a->loop->name == b->loop->name &&
           expr_same(a->loop->range, b->loop->range)) {
        a = a->outer;
        b = b->outer;
    }
    return !a && !b;
}

/* Whether a statement gives all that `left`, in its loops, is a distribution:
 * an array may be computed in part. */
static bool any_draws(const struct stmt *s, const struct around *at,
                      const struct expr *left, const struct around *loops)
{
    for (; s; s = s->next) {
        struct around inner = {s, at};
        if (s->kind == STMT_FOR
                ? any_draws(s->body, &inner, left, loops)
                : s->kind == STMT_STOCHASTIC && expr_same(s->lhs, left) &&
                      same_loops(at, loops))
            return true;
    }
    return false;
}

static bool is_index(const struct around *a, const char *name)
{
    for (; a; a = a->outer)
        if (a->loop->name == name)
            return true;
    return false;
}

/* Whether all that e reads is data, as far as the model's statements tell. */
static bool of_data(const struct stmt *model, const struct around *a,
                    const struct expr *e)
{
    if (e->kind == EXPR_NAME && !is_index(a, e->name) &&
        syntax_any_statement(model, syntax_defines, e->name))
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (!of_data(model, a, e->args[i]))
            return false;
    return true;
}

static bool transforms(const struct stmt *model, const struct around *around,
                       const struct stmt *s)
{
    if (s->kind != STMT_DETERMINISTIC ||
        !any_draws(model, NULL, s->lhs, around) ||
        !of_data(model, around, s->rhs))
        return false;
    for (int i = 0; i < s->lhs->nargs; i++)
        if (!of_data(model, around, s->lhs->args[i]))
            return false;
    for (const struct around *a = around; a; a = a->outer)
        if (!of_data(model, a->outer, a->loop->range))
            return false;
    return true;
}

/* s, in the loops that it has around it, goes to the end of the list at to. */
static void move(struct compiler *c, struct stmt **to, struct stmt *s,
                 const struct around *around)
{
    s->next = NULL;
    for (; around; around = around->outer) {
        struct stmt *loop = NEW(c, struct stmt);
        *loop = *around->loop;
        loop->next = NULL;
        loop->body = s;
        s = loop;
    }
    while (*to)
        to = &(*to)->next;
    *to = s;
}

static void look_through(struct compiler *c, struct program *p,
                         struct stmt **at, const struct around *around)
{
    while (*at) {
        struct stmt *s = *at, *next = s->next;
        bool gone = false;
        if (s->kind == STMT_FOR && s->body) {
            struct around inner = {s, around};
            look_through(c, p, &s->body, &inner);
            gone = !s->body;
        } else if (transforms(p->model, around, s)) {
            move(c, &p->data, s, around);
            gone = true;
        }
        if (gone)
            *at = next;
        else
            at = &s->next;
    }
}

void syntax_move_transformed(struct compiler *c, struct program *p)
{
    look_through(c, p, &p->model, NULL);
}
