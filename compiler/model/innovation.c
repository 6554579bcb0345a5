/* innovation.c: a state that follows from the one before and a normal
 * innovation of its own is drawn in the innovation's place:
 *
 *     x[t+1] <- a * x[t] + r[t]         x[t+1] ~ dnorm(a * x[t] + m, tau)
 *     r[t] ~ dnorm(m, tau)              r[t] <- x[t+1] - a * x[t]
 *
 * The joint distribution is the same, as x[t+1] is r[t] shifted. But r[t] moves
 * all later states, each of which has data, where x[t+1] meets its neighbours
 * alone: the states are a chain, which a joint block draws at once.
 *
 * It may have a scale that is positive, s * r[t]: x[t+1] then has the precision
 * tau / s^2, and r[t] is divided by s. And it may follow from the innovations
 * before, r[t] ~ dnorm(r[t-1], tau), as the slope of a smooth trend does: these
 * are differences of states.
 *
 * The innovations may stand in a loop of their own, shifted: r[t] for t in
 * 1:(T-1), x[t] <- x[t-1] + r[t-1] for t in 2:T. There may be some before, of
 * which the first states are, as r[1] of r[t] for t in 1:T.
 *
 * Only where the first state is random, so that the innovations are no data
 * whose sums the states are; where the recursion is linear in x; and where
 * nothing else that has a density reads r; and where the data that are named to
 * gbmc have none of r.
 *
 * Requires a parsed program; leaves one. */
#include "model/resolve.h"

#include <string.h>

static int count_reads(const struct expr *e, const char *name)
{
    int n = e && e->kind == EXPR_NAME && e->name == name;
    for (int i = 0; e && i < e->nargs; i++)
        n += count_reads(e->args[i], name);
    return n;
}

static int count_in_stmt(const struct stmt *s, const char *name)
{
    int n = count_reads(s->range, name) + count_reads(s->rhs, name) +
            count_reads(s->lower, name) + count_reads(s->upper, name);
    for (int i = 0; s->lhs && i < s->lhs->nargs; i++)
        n += count_reads(s->lhs->args[i], name);
    return n;
}

static bool reads_name(const struct stmt *s, const void *name)
{
    return count_in_stmt(s, name) > 0;
}

static bool is_call(const struct expr *e, const char *name, int nargs)
{
    return e->kind == EXPR_CALL && e->nargs == nargs && !strcmp(e->name, name);
}

/* ---- the pair -------------------------------------------------------------
 */

struct pair {
    const struct program *program;
    struct stmt *state;      /* x[t+1] <- ... */
    struct stmt *innovation; /* r[t] ~ dnorm(m, tau) */
    struct stmt *apart; /* what it is a copy of, in another loop; or NULL */
    int mean;           /* the place of m */
};

/* Whether e is r, or a product that has r as a factor. */
static bool is_multiple(const struct expr *e, const struct expr *r)
{
    if (is_call(e, "*", 2) && !count_reads(e->args[0], r->name))
        return is_multiple(e->args[1], r);
    if (is_call(e, "*", 2) || is_call(e, "/", 2))
        return !count_reads(e->args[1], r->name) && is_multiple(e->args[0], r);
    return expr_same(e, r);
}

/* The sign with which r, or a multiple of it, stands in a sum; 0 if it does
 * not, or elsewhere. */
static int sign_in_sum(const struct expr *e, const struct expr *r)
{
    if (is_multiple(e, r))
        return 1;
    bool difference = is_call(e, "-", 2);
    if (!difference && !is_call(e, "+", 2))
        return 0;
    int left = sign_in_sum(e->args[0], r), right = sign_in_sum(e->args[1], r);
    return left ? left : difference ? -right : right;
}

/* Whether e is linear in the elements of x, not through others. */
static bool is_linear(const struct expr *e, const char *x)
{
    if (count_reads(e, x) == 0)
        return true;
    if (e->kind == EXPR_NAME) {
        for (int i = 0; i < e->nargs; i++)
            if (e->args[i]->kind == EXPR_RANGE || e->args[i]->kind == EXPR_ALL)
                return false;
        return e->name == x && count_reads(e, x) == 1;
    }
    bool factors = is_call(e, "*", 2);
    if (!factors && !is_call(e, "+", 2) && !is_call(e, "-", 2) &&
        !is_call(e, "neg", 1) && !is_call(e, "/", 2))
        return false;
    if (factors && count_reads(e->args[0], x) && count_reads(e->args[1], x))
        return false;
    if (is_call(e, "/", 2) && count_reads(e->args[1], x))
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (!is_linear(e->args[i], x))
            return false;
    return true;
}

static bool is_scalar_element(const struct expr *e)
{
    for (int i = 0; i < e->nargs; i++)
        if (e->args[i]->kind == EXPR_RANGE || e->args[i]->kind == EXPR_ALL)
            return false;
    return e->nargs > 0;
}

/* Which argument of the call of a normal distribution is the mean, or -1. */
static int mean_of_call(struct compiler *c, const struct expr *call)
{
    const struct entry *d =
        call->kind == EXPR_CALL
            ? library_find(c, ENTRY_DISTRIBUTION, call->name)
            : NULL;
    return d && d->nparameters == call->nargs ? entry_normal_mean(c, d) : -1;
}

static int mean_of(struct compiler *c, const struct stmt *s)
{
    return s->kind == STMT_STOCHASTIC ? mean_of_call(c, s->rhs) : -1;
}

static bool forms_match(const struct pair *k)
{
    const struct stmt *s = k->state, *n = k->innovation;
    const char *x = s->lhs->name, *r = n->lhs->name;
    if (s->kind != STMT_DETERMINISTIC || s->link || x == r ||
        n->kind != STMT_STOCHASTIC || n->truncation != TRUNC_NONE)
        return false;
    for (int i = 0; i < n->rhs->nargs; i++)
        if (i != k->mean && count_reads(n->rhs->args[i], x))
            return false;
    return is_scalar_element(s->lhs) && is_scalar_element(n->lhs) &&
           count_reads(s->rhs, x) > 0 && count_reads(s->rhs, r) == 1 &&
           sign_in_sum(s->rhs, n->lhs) && is_linear(s->rhs, x) &&
           is_linear(n->rhs->args[k->mean], x) &&
           is_linear(n->rhs->args[k->mean], r);
}

/* ---- the rest of the model -------------------------------------------------
 */

static bool draws(const struct stmt *s, const void *name)
{
    return s->kind == STMT_STOCHASTIC && s->lhs->name == name;
}

static bool reads_random(const struct program *p, const struct expr *e)
{
    if (e->kind == EXPR_NAME && syntax_any_statement(p->model, draws, e->name))
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (reads_random(p, e->args[i]))
            return true;
    return false;
}

/* Whether s gives x a first value that is random. */
static bool draws_first_state(const struct stmt *s, const void *context)
{
    const struct pair *k = context;
    const char *x = k->state->lhs->name;
    if (s == k->state || s->kind == STMT_FOR || s->lhs->name != x)
        return false;
    return s->kind == STMT_STOCHASTIC ||
           (!count_reads(s->rhs, x) && reads_random(k->program, s->rhs));
}

/* Whether the innovations follow from those before. */
static bool is_walk(const struct pair *k)
{
    return count_reads(k->innovation->rhs, k->innovation->lhs->name) > 0;
}

/* Another statement defines r, but for the first of innovations that follow
 * from those before; or reads it, but for states, and has a density or readers.
 */
static bool needs_innovation(const struct stmt *s, const void *context)
{
    const struct pair *k = context;
    const char *r = k->innovation->lhs->name;
    if (s == k->state || s == k->innovation || s == k->apart)
        return false;
    if (syntax_defines(s, r))
        return !is_walk(k);
    if (!count_in_stmt(s, r))
        return false;
    if (syntax_defines(s, k->state->lhs->name))
        return false;
    return s->kind != STMT_DETERMINISTIC ||
           syntax_any_statement(k->program->model, reads_name, s->lhs->name) ||
           syntax_any_statement(k->program->data, reads_name, s->lhs->name);
}

/* Whether the user says what one of them is, or how it is drawn. */
static bool is_declared(const struct pair *k)
{
    const char *names[2] = {k->state->lhs->name, k->innovation->lhs->name};
    for (int i = 0; i < 2; i++) {
        for (const struct declaration *d = k->program->declarations; d;
             d = d->next)
            if (d->kind != DECL_VAR && d->name == names[i])
                return true;
        for (const struct sampler_choice *s = k->program->samplers; s;
             s = s->next)
            for (int j = 0; j < s->ntargets; j++)
                if (s->targets[j]->name == names[i])
                    return true;
        if (syntax_any_statement(k->program->data, syntax_defines, names[i]))
            return true;
    }
    return false;
}

/* By what r is multiplied in a sum; NULL: nothing. */
static struct expr *scale_of(struct compiler *c, struct expr *e,
                             const struct expr *r)
{
    if (e->kind == EXPR_NAME)
        return NULL;
    bool first = count_reads(e->args[0], r->name) > 0;
    struct expr *rest = e->args[first];
    struct expr *inner = scale_of(c, e->args[!first], r);
    if (is_call(e, "*", 2))
        return inner ? expr_call(c, "*", e->span, 2, inner, rest) : rest;
    if (!is_call(e, "/", 2))
        return inner;
    if (!inner) {
        inner = expr_new(c, EXPR_NUM, e->span);
        inner->number = 1;
    }
    return expr_call(c, "/", e->span, 2, inner, rest);
}

static bool scale_fits(struct compiler *c, const struct pair *k)
{
    const struct stmt *n = k->innovation;
    const struct expr *scale = scale_of(c, k->state->rhs, n->lhs);
    return !scale || (!count_reads(scale, k->state->lhs->name) &&
                      model_is_positive(c, k->program, scale) &&
                      model_scaled_normal(c, n->rhs, scale));
}

/* ---- the exchange ---------------------------------------------------------
 */

struct replacement {
    const struct expr *from;
    struct expr *to;
};

static struct expr *replacing(struct compiler *c, struct expr *e, void *context)
{
    const struct replacement *r = context;
    (void)c;
    if (expr_same(e, r->from))
        return r->to;
    return count_reads(e, r->from->name) ? NULL : e;
}

/* e with `from`, which it reads once, replaced by `to`. */
static struct expr *replaced(struct compiler *c, struct expr *e,
                             const struct expr *from, struct expr *to)
{
    struct replacement r = {from, to};
    return expr_map(c, e, replacing, &r);
}

/* A sum without its term of r. */
static struct expr *without(struct compiler *c, const struct expr *sum,
                            const struct expr *r)
{
    struct expr *left = sum->args[0], *right = sum->args[1];
    if (is_multiple(right, r))
        return left;
    if (is_multiple(left, r))
        return is_call(sum, "+", 2) ? right
                                    : expr_call(c, "neg", sum->span, 1, right);
    bool first = count_reads(left, r->name) > 0;
    return expr_call(c, sum->name, sum->span, 2,
                     first ? without(c, left, r) : left,
                     first ? right : without(c, right, r));
}

static void exchange(struct compiler *c, const struct pair *k)
{
    struct stmt *s = k->state, *n = k->innovation;
    struct expr *sum = s->rhs, *call = n->rhs;
    struct expr *scale = scale_of(c, sum, n->lhs);
    bool added = sign_in_sum(sum, n->lhs) > 0;
    struct expr *rest = without(c, sum, n->lhs);
    struct expr *mean = call->args[k->mean];
    bool is_0 = mean->kind == EXPR_NUM && !(mean->number > 0);
    struct expr *shifted = is_0 ? rest : replaced(c, sum, n->lhs, mean);
    if (scale)
        call = model_scaled_normal(c, call, scale);
    s->kind = STMT_STOCHASTIC;
    s->rhs = model_with_argument(c, call, mean_of_call(c, call), shifted);
    n->kind = STMT_DETERMINISTIC;
    n->rhs = expr_call(c, "-", n->span, 2, added ? s->lhs : rest,
                       added ? rest : s->lhs);
    if (scale)
        n->rhs = expr_call(c, "/", n->span, 2, n->rhs, scale);
    s->text = relation_text(c, s);
    n->text = relation_text(c, n);
}

static bool may_exchange(struct compiler *c, const struct pair *k)
{
    const struct stmt *list = k->program->model;
    return k->mean >= 0 && forms_match(k) &&
           syntax_any_statement(list, draws_first_state, k) &&
           !syntax_any_statement(list, needs_innovation, k) &&
           !is_declared(k) && scale_fits(c, k) &&
           !model_data_have(c, k->innovation->lhs->name);
}

/* ---- innovations in a loop of their own ------------------------------------
 */

/* e as a base and a number added: T - 1 is T and -1, 2 no base and 2. */
static const struct expr *base_of(const struct expr *e, double *added)
{
    double sign = is_call(e, "-", 2) ? -1 : 1;
    if (e->kind == EXPR_NUM) {
        *added = e->number;
        return NULL;
    }
    if ((sign < 0 || is_call(e, "+", 2)) && e->args[1]->kind == EXPR_NUM) {
        const struct expr *base = base_of(e->args[0], added);
        *added += sign * e->args[1]->number;
        return base;
    }
    *added = 0;
    return e;
}

/* Whether b is a and `shift`, as their texts say. */
static bool is_shifted(const struct expr *a, const struct expr *b, double shift)
{
    double in_a, in_b;
    const struct expr *from = base_of(a, &in_a), *to = base_of(b, &in_b);
    double d = in_b - in_a - shift;
    return !(d < 0) && !(d > 0) && (!from) == (!to) &&
           (!from || expr_same(from, to));
}

/* The element of `name` in e, which reads it once; or NULL. */
static struct expr *find_read(struct expr *e, const char *name)
{
    struct expr *found = e->kind == EXPR_NAME && e->name == name ? e : NULL;
    for (int i = 0; i < e->nargs && !found; i++)
        found = find_read(e->args[i], name);
    return found;
}

static bool is_loop_index(const struct expr *e, const struct stmt *loop)
{
    return e->kind == EXPR_NAME && e->nargs == 0 && e->name == loop->name;
}

/* Whether loop `b` has the bounds of `a`, shifted; or begins with a lower
 * number, which leaves the first innovations to themselves. */
static bool bounds_fit(const struct stmt *a, const struct stmt *b, double shift)
{
    struct expr *const *of_a = a->range->args, *const *of_b = b->range->args;
    return (is_shifted(of_a[0], of_b[0], shift) ||
            (of_a[0]->kind == EXPR_NUM && of_b[0]->kind == EXPR_NUM &&
             of_b[0]->number < of_a[0]->number + shift)) &&
           is_shifted(of_a[1], of_b[1], shift);
}

/* Which subscript of `own`, in the loop `b`, is that loop's index, where
 * `read`, in the loop `a`, has the index of that, shifted as the loops' bounds
 * are, and all else of the two is the same; NULL if none. Sets what `read` has
 * there. */
static struct expr *index_by_shift(const struct stmt *a, const struct stmt *b,
                                   const struct expr *read,
                                   const struct expr *own, struct expr **at)
{
    struct expr *index = NULL;
    double shift = 0;
    if (read->nargs != own->nargs || a->range->kind != EXPR_RANGE ||
        b->range->kind != EXPR_RANGE)
        return NULL;
    for (int i = 0; i < own->nargs; i++) {
        struct expr *mine = own->args[i], *theirs = read->args[i];
        if (!index && is_loop_index(mine, b)) {
            const struct expr *base = base_of(theirs, &shift);
            if (!base || !is_loop_index(base, a))
                return NULL;
            index = mine;
            *at = theirs;
        } else if (!expr_same(mine, theirs) || count_reads(mine, a->name) ||
                   count_reads(mine, b->name)) {
            return NULL;
        }
    }
    return index && bounds_fit(a, b, shift) ? index : NULL;
}

/* Takes s out of a loop's statements. */
static void take_out(struct stmt *loop, const struct stmt *s)
{
    struct stmt **at = &loop->body;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
}

/* Loop `b`, behind it, for its first innovations alone: those before the one
 * that `first`, of loop `a`, has as it begins. */
static void keep_first(struct compiler *c, const struct stmt *a, struct stmt *b,
                       struct stmt *n, const struct expr *first)
{
    double shift;
    base_of(first, &shift);
    const struct expr *begin = a->range->args[0], *own = b->range->args[0];
    if (begin->kind != EXPR_NUM || own->kind != EXPR_NUM ||
        !(own->number < begin->number + shift))
        return;
    struct expr *last = expr_new(c, EXPR_NUM, b->span);
    last->number = begin->number + shift - 1;
    struct stmt *loop = NEW(c, struct stmt);
    *loop = *b;
    loop->range = model_with_argument(c, b->range, 1, last);
    loop->body = n;
    n->next = NULL;
    b->next = loop;
}

/* The statement n of loop `b` as it would stand in loop `a`, where `state`
 * reads what it draws; NULL where it would not be the same. */
static struct stmt *as_in_loop(struct compiler *c, const struct stmt *a,
                               const struct stmt *b, const struct stmt *state,
                               const struct stmt *n, struct expr **at)
{
    if (state->kind != STMT_DETERMINISTIC || n->kind != STMT_STOCHASTIC ||
        count_reads(state->rhs, n->lhs->name) != 1 ||
        (a->name != b->name && count_in_stmt(n, a->name)))
        return NULL;
    const struct expr *index =
        index_by_shift(a, b, find_read(state->rhs, n->lhs->name), n->lhs, at);
    if (!index)
        return NULL;
    struct stmt *copy = NEW(c, struct stmt);
    *copy = *n;
    copy->lhs = replaced(c, n->lhs, index, *at);
    copy->rhs = replaced(c, n->rhs, index, *at);
    return copy;
}

/* States of loop `a` whose innovations are drawn in loop `b`. */
static void draw_states_apart(struct compiler *c, const struct program *p,
                              struct stmt *a, struct stmt *b)
{
    for (struct stmt *s = a->body; s; s = s->next)
        for (struct stmt *n = b->body, *next; n; n = next) {
            next = n->next;
            struct expr *at;
            struct stmt *copy = as_in_loop(c, a, b, s, n, &at);
            if (!copy)
                continue;
            struct pair k = {.program = p,
                             .state = s,
                             .innovation = copy,
                             .apart = n,
                             .mean = mean_of(c, n)};
            if (!may_exchange(c, &k))
                continue;
            take_out(b, n);
            keep_first(c, a, b, n, at);
            copy->next = s->next;
            s->next = copy;
            exchange(c, &k);
        }
}

static void draw_states_of(struct compiler *c, const struct program *p,
                           struct stmt *list)
{
    for (struct stmt *s = list; s; s = s->next) {
        if (s->kind == STMT_FOR)
            draw_states_of(c, p, s->body);
        for (struct stmt *n = list; n; n = n->next) {
            struct pair k = {.program = p,
                             .state = s,
                             .innovation = n,
                             .mean = mean_of(c, n)};
            if (s->kind == STMT_FOR && n->kind == STMT_FOR && s != n)
                draw_states_apart(c, p, s, n);
            else if (s->kind != STMT_FOR && may_exchange(c, &k))
                exchange(c, &k);
        }
    }
}

void model_draw_states(struct compiler *c, struct program *p)
{
    draw_states_of(c, p, p->model);
}
