/* tally.c: sums over the rows of a group, where which rows are in it is random:
 *     z[i] ~ dcat(pi[]);  x[i,] ~ dmnorm(mu[z[i],], Q[z[i],,])
 * The sums of x[i,a] and of (x[i,a] - m[k,a]) (x[i,b] - m[k,b]) over the rows
 * with z[i] = k are tables with a cell for each k (row_sums.c makes them, where
 * all else that a row contributes is the same in a group). What draws mu and Q
 * reads these, and a change of z makes them due.
 *
 * Of a node in expectation (model/expected.c) each row is in every group, by
 * its weight there, w[i,k] for (z[i] == k): the same tables, which a change of
 * the weights makes due.
 *
 * A tally is all such tables that one pass over the rows can fill: each row
 * adds to the cells of its group, in the order of the rows. Those that read
 * others, as the squares about m read m, wait for them: they have a level of
 * their own, behind the others'. */
#include "sweep/sweep.h"
#include <string.h>

/* ---- rows of a group
 * -------------------------------------------------------- */

static symp at_solved(struct compiler *c, const struct part *p, symp e)
{
    for (int i = p->nloops - 1; i >= 0; i--)
        if (p->solved[i])
            e = sym_replace_loop(c, e, p->loops[i], p->solved[i]);
    return e;
}

static bool varies_by_row(const struct part *p, symp e)
{
    for (int i = 0; i < p->nloops; i++)
        if (!p->solved[i] && sym_has_loop(e, p->loops[i]))
            return true;
    return false;
}

/* a == b, one of them random and of the row, the other neither. */
static bool take_key(const struct part *p, symp a, symp b, struct grouping *k)
{
    if (!varies_by_row(p, a)) {
        symp swap = a;
        a = b;
        b = swap;
    }
    if (k->key || !varies_by_row(p, a) || !sym_reads_latent(a) ||
        !model_is_integer(a) || varies_by_row(p, b) || sym_reads_latent(b))
        return false;
    k->key = a;
    k->group = b;
    return true;
}

/* Loop i of the part is b at the target; so it must run through no less than
 * that does. */
static bool solve_loop(struct compiler *c, struct part *p, int i, symp b)
{
    if (p->solved[i] || b->kind != SYM_LOOP)
        return false;
    p->solved[i] = b;
    return sym_same(at_solved(c, p, p->loops[i]->lower), b->loop->lower) &&
           sym_same(at_solved(c, p, p->loops[i]->upper), b->loop->upper);
}

static bool match_subscript(struct compiler *c, struct part *p, symp a, symp b,
                            struct grouping *k)
{
    for (int i = 0; i < p->nloops; i++)
        if (a->kind == SYM_LOOP && a->loop == p->loops[i])
            return solve_loop(c, p, i, b);
    return sym_same(a, b) || take_key(p, a, b, k);
}

/* The key with the loops that were solved for; it must still be of the row. */
static bool settle_key(struct compiler *c, struct grouping *k)
{
    if (!k->key)
        return false;
    k->key = at_solved(c, &k->part, k->key);
    return varies_by_row(&k->part, k->key);
}

/* An index by the target's cell: its instances as loops and a key. */
static bool open_inverse(struct compiler *c, const struct step *s,
                         struct part *p, struct grouping *k)
{
    const struct inverse *index = p->inverse;
    const struct family *f = s->family;
    if (index->reach || (!p->cell && index->var != f->var))
        return false;
    p->solved = NEW_ARRAY(c, symp, p->nloops + 1);
    for (int d = 0; d < index->reference->nargs; d++) {
        symp a = index->reference->args[d];
        symp b = p->cell       ? p->cell->args[d]
                 : f->upper[d] ? sym_num(c, 1)
                               : f->lower[d];
        for (int i = 0; i < p->nloops; i++)
            a = sym_replace_loop(c, a, p->factor->loops[i],
                                 sym_loop(c, p->loops[i]));
        if (!match_subscript(c, p, a, b, k))
            return false;
    }
    return true;
}

bool sweep_by_group(struct compiler *c, const struct step *s,
                    const struct part *p, struct grouping *k)
{
    *k = (struct grouping){.part = *p};
    struct part *q = &k->part;
    symp guard = p->guard;
    q->inverse = NULL;
    q->guard = NULL;
    if (p->inverse) {
        q->inverse = p->inverse;
        /* other rows of the index may not count */
        if (guard || !open_inverse(c, s, q, k))
            return false;
        q->inverse = NULL;
    } else if (!guard || guard->kind != SYM_CALL ||
               strcmp(guard->name, "==") != 0 ||
               !take_key(q, guard->args[0], guard->args[1], k)) {
        return false;
    }
    k->searched = !p->inverse;
    return settle_key(c, k);
}

bool sweep_by_cell(struct compiler *c, const struct step *s,
                   const struct quadratic *q, struct grouping *k)
{
    const struct part *p = q->part;
    *k = (struct grouping){.part = *p, .of_cells = true};
    const struct indices *index = &s->block.members[0].index;
    if (p->inverse || p->guard || s->family->nslices != 1 || s->block.n != 1 ||
        index->n != 1 || !q->potential[0])
        return false;
    symp rest, x = sym_only_where(c, q->potential[0], index->loops[0], &rest);
    return x && take_key(&k->part, x, sym_loop(c, index->loops[0]), k) &&
           settle_key(c, k);
}

/* ---- rows that count by weights
 * ---------------------------------------------- */

static bool is_weight(symp e)
{
    return e->kind == SYM_REF && e->nargs > 1 && e->var->families &&
           e->var->families->set_by_step;
}

/* The weight that is a factor of e, or of its terms, and varies by row. */
static symp find_weight(const struct part *p, symp e)
{
    symp found = is_weight(e) && varies_by_row(p, e) ? e : NULL;
    for (int i = 0;
         (e->kind == SYM_MUL || e->kind == SYM_ADD) && !found && i < e->nargs;
         i++)
        found = find_weight(p, e->args[i]);
    return found;
}

/* How many there are, and the first one. */
static int coefficients(const struct part *p, const struct quadratic *q,
                        symp *first)
{
    int n = q ? 0 : p->terms.n;
    *first = n ? p->terms.coefficient[0] : NULL;
    for (int i = 0; q && i < 8; i++)
        for (int j = -1; j < 8; j++) {
            symp e = j < 0 ? q->potential[i] : q->precision[i][j];
            *first = *first ? *first : e;
            n += e != NULL;
        }
    return n;
}

/* sum(k, (k == a) * w[i,k] ...) is of k = a, where there is such a k. */
static void solve_value(struct compiler *c, struct grouping *g, symp e)
{
    struct part *p = &g->part;
    symp *solved = NEW_ARRAY(c, symp, p->nloops + 1);
    for (int i = 0; i < p->nloops; i++)
        solved[i] = p->solved[i];
    p->solved = solved;
    for (int i = 0; i < p->nloops; i++) {
        const struct loop *l = p->loops[i];
        symp rest, a = solved[i] ? NULL : sym_only_where(c, e, l, &rest);
        if (!a || a->kind != SYM_LOOP || varies_by_row(p, a) ||
            varies_by_row(p, l->lower) || varies_by_row(p, l->upper))
            continue;
        solved[i] = a;
        g->within = sym_and(c, sym_call(c, ">=", 2, (symp[]){a, l->lower}),
                            sym_call(c, "<=", 2, (symp[]){a, l->upper}));
        return;
    }
}

bool sweep_by_weight(struct compiler *c, const struct part *p,
                     const struct quadratic *q, struct grouping *k)
{
    *k = (struct grouping){.part = *p, .searched = true};
    symp e;
    const int n = coefficients(p, q, &e);
    if (!n || p->inverse ||
        (p->guard &&
         (varies_by_row(p, p->guard) || sym_reads_latent(p->guard))))
        return false;
    if (n == 1)
        solve_value(c, k, e);
    e = at_solved(c, &k->part, e);
    k->weight = find_weight(&k->part, e);
    k->group = k->weight ? k->weight->args[k->weight->nargs - 1] : NULL;
    return k->weight && k->group->kind == SYM_LOOP &&
           !varies_by_row(&k->part, k->group);
}

/* e without this factor, if all of its terms have it; else NULL. */
static symp without_factor(struct compiler *c, symp e, symp factor)
{
    if (sym_is(e, 0) || sym_same(e, factor))
        return sym_is(e, 0) ? e : sym_num(c, 1);
    for (int i = 0; e->kind == SYM_MUL && i < e->nargs; i++)
        if (sym_same(e->args[i], factor))
            return sym_cofactor(c, e, i);
    symp sum = e->kind == SYM_ADD ? sym_num(c, 0) : NULL;
    for (int i = 0; sum && i < e->nargs; i++) {
        symp term = without_factor(c, e->args[i], factor);
        sum = term ? sym_add2(c, sum, term) : NULL;
    }
    return sum;
}

symp sweep_row_in_group(struct compiler *c, const struct grouping *k, symp e)
{
    e = at_solved(c, &k->part, e);
    return k->weight ? without_factor(c, e, k->weight)
                     : sym_replace(c, e, k->key, k->group);
}

/* ---- tables as tallies
 * ------------------------------------------------------ */

/* The definition of a table, taken apart: the sum over the rows whose key is
 * group of term. The first ngiven loops of the rows are the table's own. */
struct definition {
    struct keyed_rows rows;
    int ngiven;
    symp group, term;
};

/* Random, or an array's cell: group[i]. */
static bool is_key(const struct keyed_rows *r, symp a, symp b)
{
    return sym_has_loop_of(a, r->loops, r->n) &&
           (sym_reads_latent(a) || a->kind == SYM_REF) &&
           !sym_has_loop_of(b, r->loops, r->n) && !sym_reads_latent(b);
}

/* Whether the rows or their keys are others with another value of l. */
static bool rows_vary(const struct keyed_rows *r, const struct loop *l)
{
    for (int i = 0; i < r->n; i++)
        if (sym_has_loop(r->lower[i], l) || sym_has_loop(r->upper[i], l))
            return true;
    return sym_has_loop(r->key, l);
}

/* Whether the loops of f that the bounds of l have are those of r. */
static bool bounds_given(const struct family *f, const struct loop *l,
                         const struct keyed_rows *r)
{
    for (int j = 0; j < f->nloops; j++) {
        bool given = false;
        for (int k = 0; k < r->n; k++)
            given = given || r->loops[k] == f->loops[j];
        if (!given && (sym_has_loop(l->lower, f->loops[j]) ||
                       sym_has_loop(l->upper, f->loops[j])))
            return false;
    }
    return true;
}

/* sum over n of (z[d,n] == a) of cell [a,d]: the rows are [d,n], each with
 * cells of its own. */
static bool take_given(const struct family *f, struct definition *d)
{
    struct keyed_rows all = {.key = d->rows.key, .weights = d->rows.weights};
    for (int i = 0; i < f->nloops; i++) {
        struct loop *const l = f->loops[i];
        if (!rows_vary(&d->rows, l))
            continue;
        if (sym_has_loop(d->group, l) || !bounds_given(f, l, &all))
            return false;
        all.loops[all.n] = l;
        all.lower[all.n] = l->lower;
        all.upper[all.n++] = l->upper;
    }
    d->ngiven = all.n;
    if (all.n + d->rows.n > MAX_LOOPS)
        return false;
    for (int i = 0; i < d->rows.n; i++, all.n++) {
        all.loops[all.n] = d->rows.loops[i];
        all.lower[all.n] = d->rows.lower[i];
        all.upper[all.n] = d->rows.upper[i];
    }
    d->rows = all;
    return true;
}

/* (z[i] == k) */
static bool take_condition(symp condition, struct definition *d)
{
    struct keyed_rows *const r = &d->rows;
    if (condition->kind != SYM_CALL || strcmp(condition->name, "==") != 0)
        return false;
    for (int k = 0; k < 2 && !r->key; k++)
        if (is_key(r, condition->args[k], condition->args[1 - k])) {
            r->key = condition->args[k];
            d->group = condition->args[1 - k];
        }
    return r->key;
}

/* w[i,k] */
static bool take_weight(struct compiler *c, symp weight, struct definition *d)
{
    struct keyed_rows *const r = &d->rows;
    if (!is_weight(weight) || !sym_has_loop_of(weight, r->loops, r->n))
        return false;
    d->group = weight->args[weight->nargs - 1];
    if (d->group->kind != SYM_LOOP || sym_has_loop_of(d->group, r->loops, r->n))
        return false;
    r->key = sym_replace_loop(c, weight, d->group->loop, sym_num(c, 1));
    r->weights = weight->var;
    return true;
}

static bool take_apart(struct compiler *c, const struct family *f,
                       struct definition *d)
{
    *d = (struct definition){.group = NULL};
    struct keyed_rows *const r = &d->rows;
    symp e = f->body;
    for (; e->kind == SYM_SUM && r->n < MAX_LOOPS; e = e->args[2]) {
        r->loops[r->n] = e->loop;
        r->lower[r->n] = e->args[0];
        r->upper[r->n++] = e->args[1];
    }
    const bool product = e->kind == SYM_MUL;
    for (int i = 0; i < (product ? e->nargs : 1) && !r->key; i++) {
        symp factor = product ? e->args[i] : e;
        if (take_condition(factor, d) || take_weight(c, factor, d))
            d->term = product ? sym_cofactor(c, e, i) : sym_num(c, 1);
    }
    return r->key && take_given(f, d);
}

/* Whether a's rows and keys are b's. */
static bool same_rows(struct compiler *c, struct keyed_rows a,
                      const struct keyed_rows *b)
{
    if (a.n != b->n)
        return false;
    for (int i = 0; i < b->n; i++) {
        if (!sym_same(a.lower[i], b->lower[i]) ||
            !sym_same(a.upper[i], b->upper[i]))
            return false;
        symp row = sym_loop(c, b->loops[i]);
        a.key = sym_replace_loop(c, a.key, a.loops[i], row);
        for (int j = i + 1; j < b->n; j++) {
            a.lower[j] = sym_replace_loop(c, a.lower[j], a.loops[i], row);
            a.upper[j] = sym_replace_loop(c, a.upper[j], a.loops[i], row);
        }
    }
    return a.weights == b->weights && sym_same(a.key, b->key);
}

static int level_of(symp e)
{
    int level = 0;
    if (e->kind == SYM_REF && e->var->hidden && e->var->families)
        level = e->var->families->level;
    for (int i = 0; i < e->nargs; i++) {
        const int other = level_of(e->args[i]);
        level = other > level ? other : level;
    }
    return level;
}

/* Whether g is due whenever f is: whatever changes f changes g. */
static bool due_with(const struct model *m, const struct family *g,
                     const struct family *f)
{
    if (g->leaf && g->leaf != f->leaf)
        return false;
    for (const struct var *v = m->vars; v; v = v->next)
        if (v != f->var && v != g->var && v != f->leaf &&
            model_derived_depends(m, f->var, v) &&
            !model_derived_depends(m, g->var, v))
            return false;
    return true;
}

/* The tally that fills the table f: a pass is made when its first table is due.
 */
static struct tally *tally_of(struct compiler *c, struct model *m,
                              const struct family *f,
                              const struct keyed_rows *rows)
{
    struct tally **at = &m->tallies;
    for (; *at; at = &(*at)->next)
        if ((*at)->level == f->level && due_with(m, (*at)->sums->family, f) &&
            same_rows(c, *rows, &(*at)->rows))
            return *at;
    *at = NEW(c, struct tally);
    (*at)->rows = *rows;
    (*at)->level = f->level;
    return *at;
}

static void add_sum(struct compiler *c, struct tally *t, struct family *f,
                    const struct definition *d)
{
    struct tallied *last = NEW(c, struct tallied), **at = &t->sums;
    symp term = d->term;
    for (int i = 0; i < t->rows.n; i++)
        term = sym_replace_loop(c, term, d->rows.loops[i],
                                sym_loop(c, t->rows.loops[i]));
    *last = (struct tallied){.family = f, .group = d->group, .term = term};
    for (int i = 0; i < d->ngiven; i++)
        last->given[i] = d->rows.loops[i];
    while (*at)
        at = &(*at)->next;
    *at = last;
    f->tally = t;
}

/* ---- the rows of each group, for the device
 * ---------------------------------- */

/* Whether the elements of g's family are the rows of t. */
static bool is_plate(struct compiler *c, const struct tally *t,
                     const struct factor *g)
{
    struct keyed_rows plate = {.n = g->nloops, .key = t->rows.key};
    if (g->nloops != t->rows.n || g->nloops != g->family->nloops)
        return false;
    for (int i = 0; i < g->nloops; i++) {
        if (g->loops[i] != g->family->loops[i])
            return false;
        plate.loops[i] = g->loops[i];
        plate.lower[i] = g->loops[i]->lower;
        plate.upper[i] = g->loops[i]->upper;
    }
    return same_rows(c, plate, &t->rows);
}

static bool same_groups(const struct tallied *a, const struct tallied *b)
{
    return a->group->kind == SYM_LOOP && b->group->kind == SYM_LOOP &&
           sym_same(a->group->loop->lower, b->group->loop->lower) &&
           sym_same(a->group->loop->upper, b->group->loop->upper);
}

/* A table whose cells are the groups, numbered from 1: of several, as weights
 * without given extents have others than what they weight, one whose groups
 * most tables have, as these can be computed by an index of it. */
static struct var *groups_of(const struct tally *t)
{
    struct var *groups = NULL;
    int most = 0;
    for (const struct tallied *k = t->sums; k; k = k->next) {
        int same = 0;
        if (k->family->nloops != 1 || k->given[0] ||
            k->group->kind != SYM_LOOP ||
            k->group->loop != k->family->loops[0] ||
            !sym_is(k->group->loop->lower, 1))
            continue;
        for (const struct tallied *of = t->sums; of; of = of->next)
            same += same_groups(k, of);
        if (same > most) {
            most = same;
            groups = k->family->var;
        }
    }
    return groups;
}

static void add_index(struct compiler *c, struct model *m, struct tally *t)
{
    struct var *groups = groups_of(t);
    struct factor *g = m->factors;
    while (g && !is_plate(c, t, g))
        g = g->next;
    if (!groups || !g || !sym_reads_latent(t->rows.key))
        return;
    symp key = t->rows.key;
    for (int i = 0; i < t->rows.n; i++)
        key = sym_replace_loop(c, key, t->rows.loops[i],
                               sym_loop(c, g->loops[i]));
    struct inverse *index = t->index = NEW(c, struct inverse);
    *index = (struct inverse){.var = groups,
                              .factor = g,
                              .reference = sym_ref(c, groups, 1, &key),
                              .latent = true,
                              .device = true,
                              .leaf = groups->families->leaf,
                              .number = m->ninverses++};
    *m->last_inverse = index;
    m->last_inverse = &index->next;
}

static void find_index(struct compiler *c, struct model *m, struct tally *t)
{
    for (struct tally *u = m->tallies; u != t && !t->index; u = u->next)
        if (u->index && same_rows(c, u->rows, &t->rows))
            t->index = u->index;
    if (!t->index)
        add_index(c, m, t);
    for (struct tallied *k = t->sums; k && t->index; k = k->next)
        if (k->family->leaf != t->index->leaf)
            t->index->leaf = NULL;
}

/* The families from `first` on by level: those of one in their order. */
static void sort_by_level(struct model *m, struct family **first)
{
    int most = 0;
    for (struct family *f = *first; f; f = f->next)
        most = f->level > most ? f->level : most;
    struct family *all = *first, **end = first;
    for (int level = 0; level <= most; level++)
        for (struct family **at = &all; *at;) {
            struct family *f = *at;
            if (f->level != level) {
                at = &f->next;
                continue;
            }
            *at = f->next;
            *end = f;
            end = &f->next;
        }
    *end = NULL;
    m->last_family = end;
    family_number(m);
}

void sweep_form_tallies(struct compiler *c, struct model *m,
                        struct family **first)
{
    for (struct family *f = *first; f; f = f->next) {
        struct definition d;
        f->level = 1 + level_of(f->body);
        if (f->for_updates && take_apart(c, f, &d))
            add_sum(c, tally_of(c, m, f, &d.rows), f, &d);
    }
    for (struct tally *t = m->tallies; t; t = t->next)
        if (!t->rows.weights)
            find_index(c, m, t);
    sort_by_level(m, first);
}

void sweep_say_leaf(struct var *table, const struct var *leaf)
{
    struct family *f = table->families;
    if (f->leaf != leaf)
        f->leaf = f->leaf_said ? NULL : leaf;
    f->leaf_said = true;
}
