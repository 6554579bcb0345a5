/* pieces.c: statements that read an array which several statements fill
 * piece by piece, under a loop:
 *
 *     mu[i,1] <- nu[1] + xi[i]
 *     mu[i,2] <- nu[2] + lambda[2] * xi[i]
 *     for (j in 1:2) { Y[i,j] ~ dnorm(mu[i,j], psi[j]) }
 *
 * Such a loop is taken apart where one of these statements ends and another
 * begins, here into those of Y[i,1] and Y[i,2]: then each reads one definition,
 * and what the definitions are linear in is seen to be so in each. The elements
 * are the same, under other loops. An end that data tell is kept: loops from 2
 * to 3 become loops up to min(P, 3), and what is left goes from 4 to P. */
#include "model/resolve.h"
#include <math.h>

/* Each is a statement of the program. */
enum { MOST_PIECES = 64 };

/* ---- what the statements of an array say of a dimension ---- */

bool model_bounds_of(struct compiler *c, symp e, struct bounds *out)
{
    symp offset;
    const struct loop *l = sym_plain_loop(c, e, &offset);
    if (e->kind == SYM_NUM) {
        out->least = out->largest = e->number;
        return true;
    }
    if (!l || !l->upper || offset->kind != SYM_NUM || l->lower->kind != SYM_NUM)
        return false;
    out->least = l->lower->number + offset->number;
    out->largest = sym_largest_of(l->upper) + offset->number;
    return true;
}

/* The statements of a computed array in dimension d; 0 if some do not tell, or
 * if there are too few to be worth it: these stand in the place of what reads
 * them as cases. */
static int pieces_of(struct compiler *c, const struct var *v, int d,
                     struct bounds *out)
{
    int n = 0;
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        if (n == MOST_PIECES || f->stochastic || f->upper[d] || f->data_block ||
            !model_bounds_of(c, f->lower[d], &out[n]) || isinf(out[n].largest))
            return 0;
        n++;
    }
    return v->role == ROLE_DERIVED && n > MOST_CASES ? n : 0;
}

/* ---- where a loop is cut ---- */

struct cuts {
    struct compiler *c;
    const struct family *f;
    struct loop *loop;
    double at[2 * MOST_PIECES]; /* a piece begins there; ascending */
    int n;
};

static void add_cut(struct cuts *k, double at)
{
    int i = k->n;
    if (at <= k->loop->lower->number || at > sym_largest_of(k->loop->upper))
        return;
    for (int j = 0; j < k->n; j++)
        if (k->at[j] == at)
            return;
    for (; i > 0 && k->at[i - 1] > at; i--)
        k->at[i] = k->at[i - 1];
    k->at[i] = at;
    k->n++;
}

/* Finds a loop of the statement by which it goes through several pieces. */
static bool goes_through_pieces(symp e, const void *context)
{
    struct cuts *k = *(struct cuts *const *)context;
    struct bounds piece[MOST_PIECES], own;
    for (int d = 0; e->kind == SYM_REF && d < e->nargs && !k->n; d++) {
        symp offset;
        const struct loop *l = sym_plain_loop(k->c, e->args[d], &offset);
        const int n = l ? pieces_of(k->c, e->var, d, piece) : 0;
        for (int i = 0; i < k->f->nloops; i++)
            if (k->f->loops[i] == l)
                k->loop = k->f->loops[i];
        if (n == 0 || k->loop != l || !model_bounds_of(k->c, e->args[d], &own))
            continue;
        for (int i = 0; i < n; i++) {
            add_cut(k, piece[i].least - offset->number);
            add_cut(k, piece[i].largest + 1 - offset->number);
        }
    }
    return k->n > 0;
}

static bool mentions_loop(symp e, const void *loop)
{
    return e->kind == SYM_LOOP && e->loop == loop;
}

/* Whether indices inside the statement end where the loop says: they would
 * have to be new ones. */
static bool inner_ends_depend(const struct family *f, const struct loop *l)
{
    for (int i = 0; i < f->nloops; i++)
        if (f->loops[i] != l && (sym_has_loop(f->loops[i]->lower, l) ||
                                 sym_has_loop(f->loops[i]->upper, l)))
            return true;
    for (int i = 0; i < f->nargs; i++)
        for (int d = 0; d < f->args[i].ndim; d++)
            if (sym_any(f->args[i].extents[d], mentions_loop, l))
                return true;
    for (int d = 0; d < f->var->ndim; d++)
        if (f->upper[d] &&
            (sym_has_loop(f->lower[d], l) || sym_has_loop(f->upper[d], l)))
            return true;
    return false;
}

struct turn {
    const struct loop *loop;
    symp at; /* a number, or another loop */
};

static symp at_turn(struct compiler *c, const struct turn *t, symp e)
{
    return e ? sym_replace_loop(c, e, t->loop, t->at) : NULL;
}

static struct range_check *ranges_at_turn(struct compiler *c,
                                          const struct turn *t,
                                          const struct range_check *r)
{
    struct range_check *list = NULL, **last = &list;
    for (; r; r = r->next) {
        *last = NEW(c, struct range_check);
        (*last)->span = r->span;
        (*last)->lower = at_turn(c, t, r->lower);
        (*last)->upper = at_turn(c, t, r->upper);
        last = &(*last)->next;
    }
    return list;
}

/* The statement, its loop from `lower` up to `upper`. */
static struct family *piece(struct compiler *c, const struct family *f,
                            const struct loop *l, symp lower, symp upper)
{
    struct family *p = NEW(c, struct family);
    struct turn t = {l, lower};
    *p = *f;
    p->loops = NEW_ARRAY(c, struct loop *, MAX_LOOPS);
    p->nloops = 0;
    for (int i = 0; i < f->nloops; i++) {
        if (f->loops[i] == l && sym_same(lower, upper))
            continue;
        struct loop *own = p->loops[p->nloops++] = f->loops[i];
        if (own != l)
            continue;
        own = NEW(c, struct loop);
        *own = (struct loop){.name = l->name, .lower = lower, .upper = upper};
        p->loops[p->nloops - 1] = own;
        t.at = sym_loop(c, own);
    }
    for (int d = 0; d < f->var->ndim; d++) {
        p->lower[d] = at_turn(c, &t, f->lower[d]);
        p->upper[d] = at_turn(c, &t, f->upper[d]);
    }
    if (sym_largest_of(upper) == lower->number)
        t.at = lower; /* one turn, or none */
    p->body = at_turn(c, &t, f->body);
    p->args = NEW_ARRAY(c, struct value, f->nargs);
    for (int i = 0; i < f->nargs; i++) {
        p->args[i] = f->args[i];
        p->args[i].body = at_turn(c, &t, f->args[i].body);
    }
    p->stated = at_turn(c, &t, f->stated);
    p->trunc_lower = at_turn(c, &t, f->trunc_lower);
    p->trunc_upper = at_turn(c, &t, f->trunc_upper);
    p->ranges = ranges_at_turn(c, &t, f->ranges);
    return p;
}

static void replace_family(struct family **list, struct family *old,
                           struct family *first, struct family *last,
                           bool of_var)
{
    while (*list != old)
        list = of_var ? &(*list)->next_of_var : &(*list)->next;
    *list = first;
    if (of_var)
        last->next_of_var = old->next_of_var;
    else
        last->next = old->next;
}

/* Takes a loop of f apart; returns the last of the new statements. */
static struct family *take_apart(struct compiler *c, struct model *m,
                                 struct family *f, const struct cuts *k)
{
    struct family *first = NULL, *last = NULL;
    symp lower = k->loop->lower, end = k->loop->upper;
    for (int i = 0; i <= k->n; i++) {
        symp upper = i < k->n ? sym_num(c, k->at[i] - 1) : end;
        if (i < k->n && end->kind != SYM_NUM)
            upper = sym_call(c, "min", 2, (symp[]){end, upper});
        struct family *p = piece(c, f, k->loop, lower, upper);
        if (last)
            last->next = last->next_of_var = p;
        else
            first = p;
        last = p;
        lower = i < k->n ? sym_num(c, k->at[i]) : NULL;
    }
    const bool at_end = m->last_family == &f->next;
    replace_family(&m->families, f, first, last, false);
    replace_family(&f->var->families, f, first, last, true);
    if (at_end)
        m->last_family = &last->next;
    return last;
}

void model_take_pieces_apart(struct compiler *c, struct model *m)
{
    for (bool any = true; any;) {
        any = false;
        for (struct family *f = m->families; f; f = f->next) {
            struct cuts k = {.c = c, .f = f};
            struct cuts *const at = &k;
            if (f->data_block || f->whole_call ||
                !family_any(f, goes_through_pieces, &at, false) ||
                inner_ends_depend(f, k.loop))
                continue;
            f = take_apart(c, m, f, &k);
            any = true;
        }
    }
    family_number(m);
    m->nfamilies = 0;
    for (const struct family *f = m->families; f; f = f->next)
        m->nfamilies++;
}

/* ---- does each reference mean one piece? ---- */

struct dimension {
    struct compiler *c;
    const struct var *of;
    int d, n;
    struct bounds piece[MOST_PIECES];
};

static bool leaves_open(symp e, const void *context)
{
    const struct dimension *k = context;
    struct bounds own;
    if (e->kind != SYM_REF || e->var != k->of)
        return false;
    if (!model_bounds_of(k->c, e->args[k->d], &own))
        return true;
    for (int i = 0; i < k->n; i++) {
        const struct bounds *p = &k->piece[i];
        const bool apart = own.largest < p->least || own.least > p->largest;
        const bool in = own.least >= p->least && own.largest <= p->largest;
        if (!apart && !in)
            return true;
    }
    return false;
}

bool model_pieces_are_told(struct compiler *c, const struct model *m,
                           const struct var *v)
{
    for (int d = 0; d < v->ndim; d++) {
        struct dimension k = {.c = c, .of = v, .d = d};
        k.n = pieces_of(c, v, d, k.piece);
        bool told = k.n > 0;
        for (const struct family *f = m->families; f && told; f = f->next)
            told = !family_any(f, leaves_open, &k, false);
        if (told)
            return true;
    }
    return false;
}
