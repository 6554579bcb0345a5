/* scatter.c: the constant weights of a vector's prior, all pairs of cells
 * at once. A weight such as
 *     sum(i in 1:N, sum(k in ..., (i == a) * (adj[k] == b) * w[k]))
 * costs the whole sum at every pair (a, b); read from the sum, each of its
 * terms is of one pair, which its equalities name. */
#include "sampler/joint.h"
#include <string.h>

struct scatter {
    struct compiler *c;
    struct emitter *e; /* NULL: only asks whether it can be done */
    const struct loop *a, *b;
};

static bool mentions(const struct scatter *s, symp e)
{
    return sym_has_loop(e, s->a) || sym_has_loop(e, s->b);
}

static bool is_loop(symp e, const struct loop *l)
{
    return e->kind == SYM_LOOP && e->loop == l;
}

/* The pair of a product, and its coefficient. */
struct target {
    symp a, b, coefficient;
    bool same; /* a == b */
};

/* x == y, one of them a or b. */
static bool take_equality(const struct scatter *s, symp x, symp y,
                          struct target *t)
{
    if (is_loop(y, s->a) || is_loop(y, s->b)) {
        symp swap = x;
        x = y;
        y = swap;
    }
    if ((is_loop(x, s->a) && is_loop(y, s->b)) ||
        (is_loop(x, s->b) && is_loop(y, s->a)))
        return t->same = true;
    symp *to = is_loop(x, s->a) ? &t->a : is_loop(x, s->b) ? &t->b : NULL;
    if (!to || *to || mentions(s, y))
        return false;
    *to = y;
    return true;
}

static bool take_factor(const struct scatter *s, symp e, struct target *t)
{
    if (!mentions(s, e)) {
        t->coefficient = sym_mul2(s->c, t->coefficient, e);
        return true;
    }
    if (e->kind != SYM_CALL)
        return false;
    if (!strcmp(e->name, "=="))
        return take_equality(s, e->args[0], e->args[1], t);
    bool ok = !strcmp(e->name, "&&");
    for (int i = 0; ok && i < e->nargs; i++)
        ok = take_factor(s, e->args[i], t);
    return ok;
}

static bool add_product(const struct scatter *s, symp e)
{
    symp one[1] = {e};
    symp const *args = e->kind == SYM_MUL ? e->args : one;
    const int n = e->kind == SYM_MUL ? e->nargs : 1;
    struct target t = {.coefficient = sym_num(s->c, 1)};
    for (int i = 0; i < n; i++)
        if (!take_factor(s, args[i], &t))
            return false;
    if (t.same && !t.a)
        t.a = t.b;
    if (t.same && !t.b)
        t.b = t.a;
    if (!t.a || !t.b)
        return false;
    if (!s->e)
        return true;
    symp equal = t.same ? sym_eq(s->c, t.a, t.b) : sym_num(s->c, 1);
    emit_line(s->e, "gbm_scatter(cells_, extent_, %s, %s, %s);",
              emit_int(s->e, t.a), emit_int(s->e, t.b),
              emit_expr(s->e, sym_mul2(s->c, t.coefficient, equal)));
    return true;
}

static bool scatter(const struct scatter *s, symp e);

/* by * e summed; by may hold a and b. */
static bool add_sum(const struct scatter *s, symp by, symp e)
{
    if (mentions(s, e->args[0]) || mentions(s, e->args[1]))
        return false;
    if (!s->e)
        return scatter(s, sym_mul2(s->c, by, e->args[2]));
    const int depth = s->e->nloops;
    emit_open_loop(s->e, e->loop, e->args[0], e->args[1]);
    const bool ok = scatter(s, sym_mul2(s->c, by, e->args[2]));
    emit_close(s->e, 1);
    s->e->nloops = depth;
    return ok;
}

static bool scatter(const struct scatter *s, symp e)
{
    struct compiler *c = s->c;
    if (sym_is(e, 0))
        return true;
    if (e->kind == SYM_SUM)
        return add_sum(s, sym_num(c, 1), e);
    bool ok = true;
    for (int i = 0; e->kind == SYM_ADD && i < e->nargs; i++)
        ok = ok && scatter(s, e->args[i]);
    if (e->kind == SYM_ADD)
        return ok;
    for (int i = 0; e->kind == SYM_MUL && i < e->nargs; i++) {
        symp inner = e->args[i];
        if ((inner->kind != SYM_ADD && inner->kind != SYM_SUM) ||
            !mentions(s, inner))
            continue;
        symp rest = sym_cofactor(c, e, i);
        if (inner->kind == SYM_SUM)
            return add_sum(s, rest, inner);
        for (int j = 0; j < inner->nargs; j++)
            ok = ok && scatter(s, sym_mul2(c, rest, inner->args[j]));
        return ok;
    }
    return add_product(s, e);
}

static bool is_sum(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_SUM;
}

bool sampler_can_scatter(struct compiler *c, const struct joint_term *t)
{
    const struct scatter s = {c, NULL, t->pair[0], t->pair[1]};
    return t->vector && t->constant_weight && sym_is(t->score, 0) &&
           sym_any(t->weight, is_sum, NULL) && scatter(&s, t->weight);
}

void sampler_emit_scatter(struct emitter *e, const struct joint_term *t)
{
    const struct scatter s = {e->c, e, t->pair[0], t->pair[1]};
    scatter(&s, t->weight);
}
