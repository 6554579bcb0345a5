/* carried_readers.c: what reads a plate that is moved with a node of its prior,
 * or that node (carried.c), and its log density where they are moved to. */
#include "sampler/carried.h"
#include <string.h>

static symp by_of(struct compiler *c) { return sym_param(c, intern(c, "by_")); }

symp sampler_carried_value(struct compiler *c)
{
    return sym_param(c, intern(c, "value_"));
}

symp sampler_carried_node(const struct carried *k)
{
    return sym_ref(k->c, k->node->var, k->node->var->ndim, k->node->lower);
}

symp sampler_carried_cell(const struct carried *k)
{
    const struct family *f = k->plate;
    symp at[MAX_DIMS];
    for (int d = 0; d < f->var->ndim; d++)
        at[d] = f->upper[d] ? k->component : f->lower[d];
    return sym_ref(k->c, f->var, f->var->ndim, at);
}

int sampler_dimension_of(const struct family *f, const struct loop *l)
{
    for (int d = 0; d < f->var->ndim; d++)
        if (f->lower[d]->kind == SYM_LOOP && f->lower[d]->loop == l)
            return d;
    return -1;
}

symp sampler_carried_fixed(const struct carried *k, int d)
{
    return k->seen && d < k->seen->nargs && k->seen->args[d]->kind == SYM_NUM
               ? k->seen->args[d]
               : NULL;
}

static bool is_fixed(const struct carried *k, const struct loop *l)
{
    return sampler_carried_fixed(k, sampler_dimension_of(k->node, l)) != NULL;
}

/* Whether e is the moved element or another one: 1 or 0; -1: who knows. */
static int is_moved_element(const struct carried *k, symp e)
{
    int same = 1;
    for (int d = 0; d < e->nargs; d++) {
        symp fixed = sampler_carried_fixed(k, d);
        if (!fixed || sym_same(e->args[d], fixed))
            continue;
        if (e->args[d]->kind == SYM_NUM)
            return 0;
        same = -1;
    }
    return same;
}

/* Whether all references to the node have the numbers of their element, or
 * loops in the places of these. */
static bool all_named(const struct carried *k, symp e, bool by_numbers)
{
    if (e->kind == SYM_REF && e->var == k->node->var)
        for (int d = 0; d < e->nargs; d++)
            if (sampler_carried_fixed(k, d) &&
                (e->args[d]->kind == SYM_NUM) != by_numbers)
                return false;
    for (int i = 0; i < e->nargs; i++)
        if (!all_named(k, e->args[i], by_numbers))
            return false;
    return true;
}

/* The node's loop j in the plate's statement. */
static const struct loop *tied_loop(const struct carried *k, int j)
{
    for (int d = 0; d < k->seen->nargs; d++)
        if (k->node->lower[d]->loop == k->node->loops[j])
            return k->seen->args[d]->loop;
    return NULL;
}

/* Whether every reference in e to the plate or the nodes has for the node's
 * loop j the same loop of its factor, with the same ends: *l. */
static bool ties(const struct carried *k, symp e, int j, const struct loop **l)
{
    symp at = NULL;
    if (e->kind == SYM_REF && e->var == k->plate->var && !tied_loop(k, j))
        return false; /* of an element by its number */
    if (e->kind == SYM_REF && e->var == k->plate->var)
        at = e->args[sampler_dimension_of(k->plate, tied_loop(k, j))];
    if (e->kind == SYM_REF && e->var == k->node->var)
        at = e->args[sampler_dimension_of(k->node, k->node->loops[j])];
    if (at) {
        const struct loop *own = k->node->loops[j];
        if (at->kind != SYM_LOOP || (*l && *l != at->loop) ||
            !sym_same(at->loop->lower, own->lower) ||
            !sym_same(at->loop->upper, own->upper))
            return false;
        *l = at->loop;
    }
    for (int i = 0; i < e->nargs; i++)
        if (!ties(k, e->args[i], j, l))
            return false;
    return true;
}

/* The part has the instances of the node's element alone; false: some read
 * several. Of vectors a row may read all components; and rows whose mean sums
 * over the node's last loop move with each element of it. */
static bool solve(const struct carried *k, struct part *p)
{
    const struct factor *g = p->factor;
    if (k->component && g != k->node->factor)
        return true;
    const symp all[] = {g->logp, g->value, g->lower, g->upper};
    const bool other = k->swept && g != k->node->factor;
    for (int j = 0; j < k->node->nloops - other; j++) {
        const struct loop *l = NULL;
        if (is_fixed(k, k->node->loops[j]) && all_named(k, g->logp, true))
            continue;
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (all[i] && !ties(k, all[i], j, &l))
                return false;
        bool found = false;
        for (int i = 0; i < p->nloops; i++)
            if (p->loops[i] == l) {
                p->solved[i] = sym_loop(k->c, k->node->loops[j]);
                found = true;
            }
        if (!found)
            return false;
    }
    return true;
}

static symp moved_cell(struct compiler *c, symp e, void *context)
{
    const struct carried *k = context;
    const struct family *f = k->plate;
    if (e->kind == SYM_REF && e->var == k->node->var) {
        if (is_moved_element(k, e) == 0)
            return NULL;
        symp moved =
            k->power != 0 ? sampler_carried_value(c) : sym_add2(c, e, by_of(c));
        return k->component && e->nargs
                   ? sym_select(c, sym_eq(c, e->args[0], k->component), moved,
                                e)
                   : moved;
    }
    if (e->kind != SYM_REF || e->var != f->var)
        return NULL;
    symp along = k->along;
    for (int i = 0; i < f->nloops; i++)
        along = sym_replace_loop(c, along, f->loops[i],
                                 e->args[sampler_dimension_of(f, f->loops[i])]);
    if (k->component)
        along =
            sym_mul2(c, along,
                     sym_eq(c, e->args[sampler_component_of(f)], k->component));
    return sym_add2(c, e, sym_mul2(c, by_of(c), along));
}

/* A derived node in memory that follows the move. */
static bool follows(symp e, const void *carried)
{
    const struct carried *k = carried;
    return model_follows(k->m, e, k->plate->var) ||
           model_follows(k->m, e, k->node->var);
}

bool sampler_carried_reads(const struct carried *k, symp e)
{
    return e && (sym_has_var(e, k->plate->var) || sym_has_var(e, k->node->var));
}

bool sampler_carried_follows(const struct carried *k, symp e)
{
    return sym_any(e, follows, k);
}

/* An element of the plate in e that is not written as `other`; or NULL. */
static symp cell_in(const struct carried *k, symp e, symp other)
{
    if (e->kind == SYM_REF && e->var == k->plate->var &&
        !(other && sym_same(e, other)))
        return e;
    symp found = NULL;
    for (int i = 0; i < e->nargs && !found; i++)
        found = cell_in(k, e->args[i], other);
    return found;
}

/* A comparison of two elements, as where ranks are counted: of one with itself
 * it is of 0, which rounding would make less along the move. */
static bool compares_cells(symp e, const void *carried)
{
    const struct carried *k = carried;
    if (e->kind != SYM_CALL || !strchr("<>=!", e->name[0]))
        return false;
    symp one = cell_in(k, e, NULL);
    return one && cell_in(k, e, one);
}

static bool factor_reads(const struct carried *k, const struct factor *g)
{
    return sampler_factor_reads(g, k->plate->var) ||
           sampler_factor_reads(g, k->node->var);
}

static void find_quadratic(struct compiler *c, struct reader *r)
{
    struct collected k;
    symp x = sym_target(c), found[2] = {sym_num(c, 0), sym_num(c, 0)};
    if (sym_has(r->part->logp, sampler_carried_value(c)))
        return;
    sym_collect(c, sym_replace(c, r->part->logp, by_of(c), x), true, &k);
    for (int i = 0; i < k.n && !k.overflow; i++) {
        const bool first = sym_same(k.statistic[i], x);
        if (!first && !sym_same(k.statistic[i], sym_pow(c, x, sym_num(c, 2))))
            return;
        found[first ? 0 : 1] = k.coefficient[i];
    }
    if (k.overflow)
        return;
    r->linear = found[0];
    r->quadratic = found[1];
}

bool sampler_carried_about_zero(const struct carried *k)
{
    return k->power != 0 && sym_same(k->along, sampler_carried_cell(k));
}

/* The same of cells that are multiplied by 1 + by_, where `logp` has one cell,
 * and in it no more than that, its square and its logarithm. */
static void find_powers(const struct carried *k, struct reader *r, symp logp)
{
    struct compiler *c = k->c;
    symp cell = cell_in(k, logp, NULL), x = sym_target(c);
    symp statistic[] = {x, sym_pow(c, x, sym_num(c, 2)), sym_log(c, x)};
    symp found[] = {sym_num(c, 0), sym_num(c, 0), sym_num(c, 0)};
    struct collected sums;
    if (r->linear || !sampler_carried_about_zero(k) || k->component || !cell ||
        cell_in(k, logp, cell) || sym_has_var(logp, k->node->var))
        return;
    sym_collect(c, sym_replace(c, logp, cell, x), true, &sums);
    for (int i = 0; i < sums.n && !sums.overflow; i++) {
        int j = 0;
        while (j < 3 && !sym_same(sums.statistic[i], statistic[j]))
            j++;
        if (j == 3)
            return;
        found[j] = sums.coefficient[i];
    }
    if (sums.overflow)
        return;
    symp square = sym_mul2(c, found[1], sym_pow(c, cell, sym_num(c, 2)));
    r->linear = sym_add2(c, sym_mul2(c, found[0], cell),
                         sym_mul2(c, sym_num(c, 2), square));
    r->quadratic = square;
    r->logarithm = found[2];
}

double sampler_carried_ratio(const struct carried *k)
{
    return k->power != 0 ? -2 / k->power : 0;
}

/* Of what is evaluated at each place that is tried. */
static void leave_out_constants(const struct carried *k, struct reader *r)
{
    struct compiler *c = k->c;
    if (r->linear)
        return;
    r->part->logp = sampler_line_density(
        c, r->part->logp, sampler_carried_value(c), by_of(c), k->node->factor,
        sampler_carried_ratio(k));
}

static void push_reader(struct carried *k, struct reader *r)
{
    struct reader **last = &k->readers;
    while (*last)
        last = &(*last)->next;
    *last = r;
}

/* Of a plate with bounds: how much of each cell's prior is between them, where
 * the node is moved to; nothing where the cell is beyond. */
static void add_bounds(struct carried *k)
{
    struct compiler *c = k->c;
    struct factor *g = k->plate->factor;
    const bool from_zero =
        sampler_carried_about_zero(k) && (!g->lower || sym_is(g->lower, 0));
    if (!g->upper && !k->plate->truncated && (!g->lower || from_zero))
        return;
    struct reader *r = NEW(c, struct reader);
    r->part = sampler_all_instances(c, g);
    memcpy(r->part->solved, k->cells->solved,
           (size_t)k->cells->nloops * sizeof *r->part->solved);
    r->part->opaque = false;
    r->part->value = sym_map(c, r->part->value, moved_cell, k);
    r->part->logp = sym_map(c, sym_sub(c, g->logp, k->prior), moved_cell, k);
    leave_out_constants(k, r);
    push_reader(k, r);
}

static bool add_reader(struct carried *k, struct factor *g)
{
    struct compiler *c = k->c;
    const bool bounded = g->lower || g->upper;
    if (sampler_carried_reads(k, g->rule) ||
        sampler_carried_reads(k, g->guard) ||
        sym_any(g->logp, compares_cells, k) ||
        !(all_named(k, g->logp, true) || all_named(k, g->logp, false)) ||
        (g != k->node->factor &&
         (sampler_carried_reads(k, g->lower) ||
          sampler_carried_reads(k, g->upper) ||
          (bounded && sampler_carried_reads(k, g->value)))))
        return false;
    struct reader *r = NEW(c, struct reader);
    r->part = sampler_all_instances(c, g);
    if (!solve(k, r->part))
        return false;
    r->part->lower = r->part->upper = NULL; /* the node's: its ends */
    r->part->logp = sym_map(c, r->part->logp, moved_cell, k);
    if (sym_same(r->part->logp, g->logp))
        return true; /* of other elements of the node, or in front of a walk */
    find_quadratic(c, r);
    find_powers(k, r, g->logp);
    leave_out_constants(k, r);
    push_reader(k, r);
    return true;
}

static bool find_readers(struct carried *k)
{
    bool any = false;
    for (struct factor *g = k->m->factors; g; g = g->next) {
        if (g->replaced || g == k->plate->factor)
            continue;
        if (sampler_carried_follows(k, g->logp))
            return false;
        if (!factor_reads(k, g))
            continue;
        if (k->swept && g != k->node->factor &&
            sampler_factor_reads(g, k->node->var))
            return false;
        if (!add_reader(k, g))
            return false;
        any = any || sampler_factor_reads(g, k->plate->var);
    }
    return any;
}

bool sampler_find_carried_readers(struct carried *k)
{
    struct factor *g = k->plate->factor;
    k->cells = sampler_all_instances(k->c, g);
    k->cells->opaque = false;
    if (!solve(k, k->cells) ||
        (!k->component && sampler_carried_follows(k, g->logp)) ||
        !find_readers(k))
        return false;
    add_bounds(k);
    return true;
}
