/* turned.c: where labels are one of two, z[i] ~ dbern(p), what tells of one by
 * other means than a subscript may tell of the other when the numbers that it
 * reads change, too: p is 1 - p then, and where y[i] ~ dbern(z[i] * se + (1 -
 * z[i]) * (1 - sp)), se is 1 - sp and sp 1 - se. Which numbers these are is
 * found by trial, on symbols: the density at one label must be that at the
 * other. */
#include "sampler/turned.h"

enum { MOST_READ = 3 };

/* ---- what is read ----------------------------------------------------------
 */

struct reading {
    struct var *of[MOST_READ];
    symp first[MOST_READ];
    int n;
    bool failed;
};

static const struct flip *turn_of(const struct turned *all, const struct var *v)
{
    for (int i = 0; i < all->n; i++)
        if (all->turns[i].u == v || all->turns[i].v == v)
            return &all->turns[i];
    return NULL;
}

struct var *sampler_turns_with(const struct turned *all, const struct var *v)
{
    const struct flip *t = turn_of(all, v);
    return !t ? NULL : t->u == v ? t->v : t->u;
}

static void add_reading(struct reading *r, symp e)
{
    for (int i = 0; i < r->n; i++)
        if (r->of[i] == e->var)
            return;
    r->failed = r->failed || r->n == MOST_READ;
    if (r->failed)
        return;
    r->of[r->n] = e->var;
    r->first[r->n++] = e;
}

static bool may_turn(struct compiler *c, const struct model *m,
                     const struct var *v)
{
    const struct family *f = v->families;
    return sampler_are_numbers(v) && f && !f->next_of_var && !f->nslices &&
           !f->affine && !f->data_block && !f->sequence &&
           sampler_is_free(m, f) && sampler_plain_plate(c, f) &&
           !sampler_step_of(m, f)->scaled.by;
}

/* All numbers that may turn, and have no turn yet. */
static void look(struct compiler *c, const struct model *m,
                 const struct turned *all, struct reading *r, symp e)
{
    if (e->kind == SYM_REF && !turn_of(all, e->var) && may_turn(c, m, e->var))
        add_reading(r, e);
    for (int i = 0; i < e->nargs; i++)
        look(c, m, all, r, e->args[i]);
}

/* ---- a turn ----------------------------------------------------------------
 */

struct turning {
    const struct turned *all;
};

static symp turn_node(struct compiler *c, symp e, void *turning)
{
    const struct turned *all = ((struct turning *)turning)->all;
    const struct flip *t = e->kind == SYM_REF ? turn_of(all, e->var) : NULL;
    if (!t)
        return NULL;
    struct var *other = !t->v ? t->u : e->var == t->u ? t->v : t->u;
    symp x = sym_ref(c, other, e->nargs, e->args);
    switch (t->kind) {
    case TURN_STAYS:
        return e;
    case TURN_COMPLEMENT:
        return sym_sub(c, sym_num(c, 1), x);
    case TURN_NEGATIVE:
        return sym_neg(c, x);
    case TURN_TRADE:
        return x;
    case TURN_SHIFT:
        return e->var == t->u ? sym_add2(c, e, x) : sym_neg(c, e);
    }
    UNREACHABLE();
}

symp sampler_turn(struct compiler *c, const struct turned *all, symp e)
{
    struct turning t = {all};
    return sym_map(c, e, turn_node, &t);
}

/* ---- the search ------------------------------------------------------------
 */

struct search {
    struct compiler *c;
    struct turned *all;
    const struct reading *read;
    symp low, high;
};

static bool is_way(const struct search *k)
{
    return sym_same(sampler_turn(k->c, k->all, k->low), k->high) &&
           sym_same(sampler_turn(k->c, k->all, k->high), k->low);
}

static bool search(struct search *k, int i);

/* With one more turn, if that leads anywhere. */
static bool try_turn(struct search *k, int i, enum turn_kind kind,
                     struct var *u, struct var *v)
{
    if (k->all->n == MOST_TURNED)
        return false;
    k->all->turns[k->all->n++] = (struct flip){kind, u, v};
    if (search(k, i + 1))
        return true;
    k->all->n--;
    return false;
}

/* Whether elements of both, read at the same subscripts, go through one plate.
 */
static bool are_pair(const struct search *k, int i, int j)
{
    symp a = k->read->first[i], b = k->read->first[j];
    bool same = a->nargs == b->nargs;
    for (int d = 0; same && d < a->nargs; d++)
        same = sym_same(a->args[d], b->args[d]);
    return same && sampler_same_plate(k->c, a->var->families, b->var->families);
}

static bool search(struct search *k, int i)
{
    static const enum turn_kind alone[] = {TURN_COMPLEMENT, TURN_NEGATIVE,
                                           TURN_STAYS};
    static const enum turn_kind pair[] = {TURN_TRADE, TURN_COMPLEMENT,
                                          TURN_NEGATIVE, TURN_SHIFT};
    struct var *const *of = k->read->of;
    while (i < k->read->n && turn_of(k->all, of[i]))
        i++;
    if (i == k->read->n)
        return is_way(k);
    for (int j = i + 1; j < k->read->n; j++)
        for (int t = 0; t < 4 && !turn_of(k->all, of[j]) && are_pair(k, i, j);
             t++)
            if (try_turn(k, i, pair[t], of[i], of[j]) ||
                (pair[t] == TURN_SHIFT &&
                 try_turn(k, i, pair[t], of[j], of[i])))
                return true;
    for (int t = 0; t < 3; t++)
        if (try_turn(k, i, alone[t], of[i], NULL))
            return true;
    return false;
}

bool sampler_find_turns(struct compiler *c, const struct model *m,
                        struct turned *all, symp low, symp high)
{
    struct reading read = {.n = 0};
    struct search k = {c, all, &read, low, high};
    look(c, m, all, &read, low);
    look(c, m, all, &read, high);
    return !read.failed && search(&k, 0);
}

/* ---- its statements --------------------------------------------------------
 */

static void emit_turn(struct emitter *e, const struct flip *t)
{
    static const char *const to_u[] = {"u", "1 - v", "-v", "v", "u + v"};
    static const char *const to_v[] = {"v", "1 - u", "-u", "u", "-v"};
    const int depth = e->nloops;
    symp cell;
    const int braces = sampler_open_group_member(e, t->u->families, &cell);
    const char *u = emit_expr(e, cell);
    const char *v = emit_expr(
        e, sym_ref(e->c, t->v ? t->v : t->u, cell->nargs, cell->args));
    emit_line(e, "{");
    e->indent++;
    if (t->v)
        emit_line(e, "const real u = %s;", u);
    emit_line(e, "const real v = %s;", v);
    emit_line(e, "%s = %s;", u, to_u[t->kind]);
    if (t->v)
        emit_line(e, "%s = %s;", v, to_v[t->kind]);
    emit_close(e, 1 + braces);
    e->nloops = depth;
}

void sampler_emit_turns(struct emitter *e, const struct turned *all)
{
    for (int i = 0; i < all->n; i++)
        if (all->turns[i].kind != TURN_STAYS)
            emit_turn(e, &all->turns[i]);
}

static void emit_complement_held(struct emitter *e, struct var *v)
{
    const int depth = e->nloops;
    symp cell;
    const int braces = sampler_open_group_member(e, v->families, &cell);
    emit_line(e, "held = held || gbm_without_complement(%s);",
              emit_expr(e, cell));
    emit_close(e, braces);
    e->nloops = depth;
}

void sampler_emit_turns_held(struct emitter *e, const struct turned *all)
{
    for (int i = 0; i < all->n; i++) {
        const struct flip *t = &all->turns[i];
        if (t->kind == TURN_STAYS)
            continue;
        struct var *const both[2] = {t->u, t->v};
        for (int j = 0; j < 2 && both[j]; j++) {
            sampler_emit_held(e, both[j]);
            if (t->kind == TURN_COMPLEMENT)
                emit_complement_held(e, both[j]);
        }
    }
}
