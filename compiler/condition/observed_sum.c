/* observed_sum.c: an observed sum, `total[i] ~ dsum(a[i], b[i])`, holds its
 * summands to a plane, so none of them can be drawn alone. They move in pairs,
 * one by what the other leaves, which keeps the sum. The density
 * of a move is that of all factors that mention either, in place. Called at
 * the end of condition_model(). */
#include "condition/find.h"
#include <math.h>

/* With more summands than this only neighbours are paired. */
#define ALL_PAIRS 6

/* ---- the summands ------------------------------------------------------- */

struct summands {
    struct compiler *c;
    const struct family *sum;
    struct summand **last;
    bool ok;
};

static bool is_drawn(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_REF &&
           (e->var->role == ROLE_STOCHASTIC || e->var->stored);
}

static void refuse(struct summands *k, symp e)
{
    if (k->ok)
        error_at(k->c, k->sum->span,
                 "not supported yet: an observed sum of %s; its summands may "
                 "be nodes, or nodes times numbers",
                 sym_text(k->c, e));
    k->ok = false;
}

bool condition_is_node(const struct var *v)
{
    bool fits = v->role == ROLE_STOCHASTIC;
    for (const struct family *f = v->families; f; f = f->next_of_var)
        fits = fits && f->stochastic && !f->nslices;
    return fits;
}

static void add_summand(struct summands *k, symp cell, double weight,
                        struct loop *index)
{
    bool fits = condition_is_node(cell->var);
    for (int d = 0; d < cell->nargs; d++) {
        symp offset;
        bool runs = index && sym_has_loop(cell->args[d], index);
        fits = fits && !sym_any(cell->args[d], is_drawn, NULL) &&
               (!runs || sym_plain_loop(k->c, cell->args[d], &offset) == index);
    }
    if (!fits || (index && !sym_has_loop(cell, index))) {
        refuse(k, cell);
        return;
    }
    struct summand *s = NEW(k->c, struct summand);
    *s = (struct summand){.cell = cell, .weight = weight, .index = index};
    *k->last = s;
    k->last = &s->next;
}

/* The terms of e, a linear expression in nodes. */
static void add_terms(struct summands *k, symp e, double weight,
                      struct loop *index)
{
    struct compiler *c = k->c;
    if (!sym_any(e, is_drawn, NULL))
        return;
    if (e->kind == SYM_REF) {
        add_summand(k, e, weight, index);
    } else if (e->kind == SYM_ADD) {
        for (int i = 0; i < e->nargs; i++)
            add_terms(k, e->args[i], weight, index);
    } else if (e->kind == SYM_MUL && e->args[0]->kind == SYM_NUM) {
        add_terms(k, sym_mul(c, e->nargs - 1, e->args + 1),
                  weight * e->args[0]->number, index);
    } else if (e->kind == SYM_SUM && !index) {
        struct loop *l = NEW(c, struct loop);
        *l = (struct loop){
            .name = "j", .lower = e->args[0], .upper = e->args[1]};
        add_terms(k, sym_replace_loop(c, e->args[2], e->loop, sym_loop(c, l)),
                  weight, l);
    } else {
        refuse(k, e);
    }
}

/* Elements low..high of the vector e, whose index is k; concatenations are
 * taken apart. */
static void add_elements(struct summands *to, symp e, const struct loop *k,
                         symp low, symp high)
{
    struct compiler *c = to->c;
    symp offset;
    if (e->kind == SYM_SELECT && e->args[0]->kind == SYM_CALL &&
        e->args[0]->name == intern(c, "<=") &&
        sym_plain_loop(c, e->args[0]->args[0], &offset) == k) {
        symp end = sym_sub(c, e->args[0]->args[1], offset);
        add_elements(to, e->args[1], k, low, end);
        add_elements(to, e->args[2], k, sym_add2(c, end, sym_num(c, 1)), high);
        return;
    }
    struct loop *index = NULL;
    if (!sym_same(low, high)) {
        index = NEW(c, struct loop);
        *index = (struct loop){.name = "j", .lower = low, .upper = high};
    }
    e = sym_replace_loop(c, e, k, index ? sym_loop(c, index) : low);
    add_terms(to, model_substitute_derived(c, e), 1, index);
}

bool condition_summands_of(struct compiler *c, const struct family *f,
                           struct summand **out)
{
    struct summands k = {.c = c, .sum = f, .last = out, .ok = true};
    *out = NULL;
    const struct value *v = &f->args[0];
    add_elements(&k, v->body, v->loops[0], sym_num(c, 1), v->extents[0]);
    return k.ok;
}

/* ---- what the sum holds fast --------------------------------------------- */

static struct found found_summand(const struct summand *s)
{
    struct found r = {.reference = s->cell};
    if (s->index)
        r.bound[r.nbound++] = s->index;
    return r;
}

/* An index that a part's target fixes must lie in its range. */
static void index_in_range(struct compiler *c, struct part *p,
                           const struct summand *s, const symp *target)
{
    for (int d = 0; s->index && d < s->cell->nargs; d++) {
        symp offset;
        if (sym_plain_loop(c, s->cell->args[d], &offset) != s->index)
            continue;
        symp at = sym_sub(c, target[d], condition_in_part(c, p, offset));
        condition_add_guard(
            c, p,
            sym_call(c, ">=", 2,
                     (symp[]){at, condition_in_part(c, p, s->index->lower)}));
        condition_add_guard(
            c, p,
            sym_call(c, "<=", 2,
                     (symp[]){at, condition_in_part(c, p, s->index->upper)}));
    }
}

static void guard_seen(struct compiler *c, struct part *p)
{
    if (p->factor->seen_var)
        return; /* whoever opens the part asks */
    symp value = condition_in_part(c, p, p->factor->value);
    condition_add_guard(c, p,
                        sym_seen(c, value->var, value->nargs, value->args));
}

void condition_tie_to_sum(struct compiler *c, struct model *m, struct step *s,
                          struct factor *g, const symp *target)
{
    struct summand *list;
    if (!condition_summands_of(c, g->family, &list))
        return;
    for (; list; list = list->next) {
        if (list->cell->var != s->family->var)
            continue;
        struct found r = found_summand(list);
        struct part *p = condition_part_of_reference(c, m, g, &r, target);
        index_in_range(c, p, list, target);
        guard_seen(c, p);
        if (p->guard && sym_is(p->guard, 0))
            continue;
        p->next = s->order.ties;
        s->order.ties = p;
    }
}

bool condition_cell_per_instance(struct compiler *c, const struct family *f,
                                 symp cell)
{
    for (int i = 0; i < f->nloops; i++) {
        bool found = false;
        for (int d = 0; d < cell->nargs; d++) {
            symp offset;
            found = found ||
                    sym_plain_loop(c, cell->args[d], &offset) == f->loops[i];
        }
        if (!found)
            return false;
    }
    return true;
}

/* ---- a pair's conditional -------------------------------------------------
 */

struct hits { /* (reference, cell) of a factor that parts were made for */
    struct found *found;
    symp *cell;
    int n;
};

/* Instances in which an earlier reference hits its cell are taken already. */
static void leave_hit(struct compiler *c, struct part *p,
                      const struct hits *earlier)
{
    for (int i = 0; i < earlier->n; i++) {
        const struct found *r = &earlier->found[i];
        symp hit = sym_num(c, 1);
        for (int d = 0; d < r->reference->nargs; d++)
            if (!condition_subscript_runs(r, d))
                hit = sym_and(
                    c, hit,
                    sym_eq(c, condition_in_part(c, p, r->reference->args[d]),
                           earlier->cell[i]->args[d]));
        if (!sym_is(hit, 0))
            condition_add_guard(c, p,
                                sym_is(hit, 1) ? sym_num(c, 0)
                                               : sym_call(c, "!", 1, &hit));
    }
}

static void add_pair_part(struct compiler *c, struct step *s, struct part *p,
                          symp cell)
{
    struct factor *g = p->factor;
    if (p->guard && sym_is(p->guard, 0))
        return;
    p->opaque = true;
    p->hit = cell;
    p->logp = condition_in_part(c, p, g->logp);
    p->value = condition_in_part(c, p, g->value);
    p->lower = condition_in_part(c, p, g->lower);
    p->upper = condition_in_part(c, p, g->upper);
    if (p->prior && g->family->nslices) /* a count */
        p->lower = sym_num(c, 0);
    struct part **last = &s->parts;
    while (*last)
        last = &(*last)->next;
    *last = p;
}

static void take_hit(struct compiler *c, struct model *m, struct step *s,
                     struct factor *g, const struct found *r, symp cell,
                     bool prior, struct hits *done)
{
    struct part *p = condition_part_of_reference(c, m, g, r, cell->args);
    leave_hit(c, p, done);
    p->prior = prior;
    add_pair_part(c, s, p, cell);
    done->found[done->n] = *r;
    done->cell[done->n++] = cell;
}

static struct found own_reference(struct compiler *c, const struct factor *g)
{
    const struct family *f = g->family;
    return (struct found){.reference =
                              sym_ref(c, f->var, f->var->ndim, f->lower)};
}

/* Whether a reference in a vector's factor is to the vector itself. */
static bool is_own_count(const struct factor *g, symp reference)
{
    return g->family->nslices && g->family->var == reference->var;
}

/* The factor's instances that mention one of the cells, each once. Returns
 * how many references there were. */
static int factor_of_pair(struct compiler *c, struct model *m, struct step *s,
                          struct factor *g)
{
    struct hits done = {.n = 0};
    struct finder refs[2];
    const struct summand *pair = s->own;
    for (int side = 0; side < 2; side++) {
        struct var *v = pair[side].cell->var;
        if (condition_factor_through(m, g, v)) {
            s->through = true;
            add_pair_part(c, s, condition_whole_part(c, g), pair[side].cell);
            return 2;
        }
        condition_find_in_factor(c, &refs[side], v, g);
    }
    done.found = NEW_ARRAY(c, struct found, refs[0].n + refs[1].n + 2);
    done.cell = NEW_ARRAY(c, symp, refs[0].n + refs[1].n + 2);
    for (int side = 0; side < 2; side++) /* the cells' own priors first */
        if (g->family->var == pair[side].cell->var && !g->family->nslices) {
            struct found own = own_reference(c, g);
            take_hit(c, m, s, g, &own, pair[side].cell, true, &done);
        }
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < refs[side].n; i++) {
            const struct found *r = &refs[side].found[i];
            if (g->family->var == r->reference->var &&
                sym_same(r->reference, own_reference(c, g).reference))
                continue;
            take_hit(c, m, s, g, r, pair[side].cell,
                     is_own_count(g, r->reference), &done);
        }
    return done.n;
}

enum { REAL_KIND = 1, WHOLE_KIND = 2, BOTH_KINDS = 3 };

/* What the statements of a cell draw: of an array with columns of both kinds
 * x[1] ~ dnorm(0, 1) may be real and x[2] ~ dpois(3) whole. */
static int kinds_of_cell(struct compiler *c, struct model *m, symp cell)
{
    int kinds = 0;
    for (const struct part *p = condition_priors_of_cell(c, m, cell); p;
         p = p->next)
        kinds |=
            model_draws_integers(p->factor->family) ? WHOLE_KIND : REAL_KIND;
    return kinds;
}

bool condition_draws_whole(struct compiler *c, struct model *m, symp cell)
{
    return kinds_of_cell(c, m, cell) == WHOLE_KIND;
}

static struct summand with_own_index(struct compiler *c,
                                     const struct summand *s, const char *name)
{
    struct summand r = *s;
    if (!s->index)
        return r;
    r.index = NEW(c, struct loop);
    *r.index = (struct loop){
        .name = name, .lower = s->index->lower, .upper = s->index->upper};
    r.cell = sym_replace_loop(c, s->cell, s->index, sym_loop(c, r.index));
    return r;
}

static void add_member(struct step *s, struct family *f)
{
    for (; f; f = f->next_of_var)
        if (s->block.n < 8)
            s->block.members[s->block.n++].family = f;
}

struct step *condition_pair_step(struct compiler *c, struct model *m,
                                 struct factor *g, const struct summand *a,
                                 const struct summand *b, int number)
{
    struct step *s = NEW(c, struct step);
    s->family = g->family;
    s->model = m;
    s->opaque = true;
    s->name =
        intern_format(c, "update_%s_pair%d", family_id(c, g->family), number);
    struct summand *pair = s->own = NEW_ARRAY(c, struct summand, 2);
    pair[0] = with_own_index(c, a, "j");
    pair[1] = with_own_index(c, b, "k");
    for (int i = 0; i < 2; i++)
        pair[i].whole = condition_draws_whole(c, m, pair[i].cell);
    add_member(s, a->cell->var->families);
    if (b->cell->var != a->cell->var)
        add_member(s, b->cell->var->families);
    bool apart = true;
    for (struct factor *h = m->factors; h; h = h->next) {
        if (h->replaced)
            continue;
        int n = factor_of_pair(c, m, s, h);
        apart = apart && (h == g || n <= 1);
    }
    /* one reference a factor, and cells of their own: nothing is shared */
    apart = apart && !a->index && !b->index && !s->through &&
            a->cell->var != b->cell->var &&
            condition_cell_per_instance(c, g->family, a->cell) &&
            condition_cell_per_instance(c, g->family, b->cell);
    s->order.sequential = !apart && g->family->nloops > 0;
    return s;
}

/* Whether instances of the family have the same cell whatever the data are. */
static bool same_in_instances(const struct family *f, symp cell)
{
    bool same = false;
    for (int i = 0; i < f->nloops; i++) {
        bool told = false;
        for (int d = 0; d < cell->nargs; d++)
            told = told || sym_has_loop(cell->args[d], f->loops[i]);
        same = same || !told;
    }
    for (int d = 0; d < cell->nargs; d++)
        same = same || sym_reads_latent(cell->args[d]);
    return same;
}

/* The same node in two sums could not move at all. Where subscripts may or may
 * not repeat, as they are data or arithmetic, that is seen when data are read.
 */
static bool shared_cell(struct compiler *c, const struct factor *g,
                        const struct summand *list)
{
    for (const struct summand *s = list; s; s = s->next)
        if (same_in_instances(g->family, s->cell)) {
            error_at(c, g->family->span,
                     "not supported yet: %s is in several observed sums",
                     sym_text(c, s->cell));
            return true;
        }
    return false;
}

static void sum_steps(struct compiler *c, struct model *m, struct factor *g)
{
    struct summand *list;
    if (!condition_summands_of(c, g->family, &list) || shared_cell(c, g, list))
        return;
    int n = 0, number = 0;
    for (const struct summand *s = list; s; s = s->next)
        n++;
    for (const struct summand *a = list; a; a = a->next)
        for (const struct summand *b = a; b; b = b->next) {
            bool same = a == b, near = b == a || b == a->next;
            if ((same && !a->index) || (n > ALL_PAIRS && !near))
                continue;
            const int kinds =
                kinds_of_cell(c, m, a->cell) | kinds_of_cell(c, m, b->cell);
            if (kinds == BOTH_KINDS ||
                (kinds == WHOLE_KIND && fabs(a->weight) != fabs(b->weight))) {
                error_at(c, g->family->span,
                         "not supported yet: %s and %s cannot keep an observed "
                         "sum, as one is not a whole number of the other",
                         sym_text(c, a->cell), sym_text(c, b->cell));
                return;
            }
            struct step *s = condition_pair_step(c, m, g, a, b, ++number);
            *m->last_step = s;
            m->last_step = &s->next;
        }
}

void condition_observed_sums(struct compiler *c, struct model *m)
{
    for (struct factor *g = m->factors; g; g = g->next)
        if (condition_is_observed_sum(c, g) && !g->family->data_block)
            sum_steps(c, m, g);
}

struct part *condition_priors_of_cell(struct compiler *c, struct model *m,
                                      symp cell)
{
    struct part *first = NULL, **last = &first;
    for (struct factor *g = m->factors; g; g = g->next) {
        if (g->family->var != cell->var || g->auxiliary)
            continue;
        struct found own = own_reference(c, g);
        struct part *p = condition_part_of_reference(c, m, g, &own, cell->args);
        if (p->inverse || (p->guard && sym_is(p->guard, 0)))
            continue; /* an index is not built yet when this is asked */
        p->lower = condition_in_part(c, p, g->lower);
        p->upper = condition_in_part(c, p, g->upper);
        *last = p;
        last = &p->next;
    }
    return first;
}
