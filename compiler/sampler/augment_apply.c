/* augment_apply.c: a density with the new node of an augmentation in the place
 * of one without, and back. */
#include "sampler/augment.h"
#include <math.h>

static const struct expr *added_name(const struct entry *a)
{
    return entry_clause(a, "add")->items->label;
}

/* The new node of the cell `at`. */
static symp added_at(struct compiler *c, const struct family *k, symp at)
{
    symp subscripts[MAX_DIMS];
    const int last = k->var->ndim - 1;
    for (int d = 0; d < last; d++)
        subscripts[d] = k->lower[d];
    subscripts[last] = at;
    return sym_ref(c, k->var, k->var->ndim, subscripts);
}

static symp bind_matched(struct compiler *c, const char *name, int nargs,
                         const symp *args, void *context)
{
    const struct match *m = context;
    symp known = nargs ? NULL : augment_bound(m, name);
    if (nargs == 1 && m->cells &&
        name == added_name(m->cells->var->augmentation)->name)
        return added_at(c, m->cells, args[0]);
    return known || !m->vector ? known
                               : family_named(c, m->vector, name, nargs, args);
}

static struct var *new_variable(struct compiler *c, const struct entry *a,
                                const struct family *f)
{
    struct var *v = NEW(c, struct var);
    v->name =
        intern_format(c, "%s.%s", family_label(c, f), added_name(a)->name);
    v->span = f->span;
    v->role = ROLE_AUXILIARY;
    v->ndim = f->nloops + (added_name(a)->nargs > 0);
    v->augmentation = a;
    return v;
}

/* The loops of f and, if a node is added for each cell, one over these. */
static void add_loops(struct compiler *c, const struct entry *a,
                      const struct family *f, struct match *match,
                      struct family *k)
{
    const struct expr *name = added_name(a);
    k->loops = f->loops;
    k->nloops = f->nloops;
    if (!name->nargs)
        return;
    if (name->nargs > 1 || f->nloops == MAX_DIMS)
        error_at(c, name->span, "%s has one subscript too many", name->name);
    symp extent = sym_from_library(c, name->args[0], bind_matched, match);
    if (!extent)
        extent = sym_num(c, 1);
    k->loops = NEW_ARRAY(c, struct loop *, f->nloops + 1);
    for (int d = 0; d < f->nloops; d++)
        k->loops[d] = f->loops[d];
    struct loop *cell = NEW(c, struct loop);
    *cell =
        (struct loop){.name = "cell", .lower = sym_num(c, 1), .upper = extent};
    k->loops[k->nloops++] = cell;
}

/* v's only family, an element for each of f, or for each cell of these. */
static struct family *new_family(struct compiler *c, const struct entry *a,
                                 const struct family *f, struct match *match,
                                 struct var *v)
{
    struct family *k = NEW(c, struct family);
    k->var = v;
    k->span = f->span;
    k->stochastic = k->auxiliary = true;
    add_loops(c, a, f, match, k);
    for (int d = 0; d < k->nloops; d++)
        k->lower[d] = sym_loop(c, k->loops[d]);
    k->distribution = k->written_distribution = f->distribution;
    k->text = intern_format(c, "%s of %s", a->name, f->text);
    v->families = k;
    return k;
}

/* An end of the new node's support; what lies so far out is none. */
static symp end_of_support(struct compiler *c, const struct expr *e,
                           struct match *match)
{
    symp end = sym_from_library(c, e, bind_matched, match);
    return end && end->kind == SYM_NUM && fabs(end->number) > 1e300 ? NULL
                                                                    : end;
}

/* What a cell has of a joint density: its own term of each sum over the cells,
 * and its share of what reads no new node. */
static symp of_cell(struct compiler *c, const struct entry *a,
                    const struct family *k, symp joint)
{
    const struct loop *cell = k->loops[k->nloops - 1];
    symp total = sym_num(c, 0), at = k->lower[k->nloops - 1];
    for (int i = 0; i < (joint->kind == SYM_ADD ? joint->nargs : 1); i++) {
        symp e = joint->kind == SYM_ADD ? joint->args[i] : joint;
        const bool reads = sym_has_var(e, k->var);
        if (reads &&
            (e->kind != SYM_SUM || !sym_same(e->args[0], cell->lower) ||
             !sym_same(e->args[1], cell->upper))) {
            error_at(c, entry_value(a, "factor")->span,
                     "the factor of %s is no sum over the cells of %s", a->name,
                     added_name(a)->name);
            return joint;
        }
        total = sym_add2(c, total,
                         reads ? sym_replace_loop(c, e->args[2], e->loop, at)
                               : sym_div(c, e, cell->upper));
    }
    return total;
}

/* The joint density of g's node and the new one, of family k. */
static struct factor *new_factor(struct compiler *c, const struct entry *a,
                                 const struct factor *g, struct family *k,
                                 struct match *match)
{
    const struct expr *support = entry_clause(a, "add")->items->value;
    struct factor *n = NEW(c, struct factor);
    n->family = k;
    n->loops = match->cells ? k->loops : g->loops;
    n->nloops = match->cells ? k->nloops : g->nloops;
    n->text = k->text;
    n->logp =
        sym_from_library(c, entry_value(a, "factor"), bind_matched, match);
    if (g->family->nslices)
        n->logp = model_substitute_derived(c, n->logp);
    if (match->cells)
        n->logp = of_cell(c, a, k, n->logp);
    n->plain = n->logp;
    n->value = sym_ref(c, k->var, k->var->ndim, k->lower);
    n->lower = end_of_support(c, support->args[0], match);
    n->upper = end_of_support(c, support->args[1], match);
    n->seen_var = g->seen_var;
    n->seen_ref = g->seen_ref;
    n->auxiliary = k->var;
    n->power = g->power;
    n->rule = g->rule;
    k->factor = n;
    return n;
}

/* Behind g, its family behind g's, the variable behind all. */
static void link_in(struct compiler *c, struct model *m, struct factor *g,
                    struct factor *n)
{
    struct family *f = g->family, *k = n->family;
    n->number = m->nfactors++;
    n->next = g->next;
    g->next = n;
    if (m->last_factor == &g->next)
        m->last_factor = &n->next;
    g->replaced = true;
    g->joint = n;
    n->of = g;
    k->next = f->next;
    f->next = k;
    if (m->last_family == &f->next)
        m->last_family = &k->next;
    struct var **last = &m->vars;
    while (*last)
        last = &(*last)->next;
    *last = k->var;
    m->last_var = &k->var->next;
    model_name_added_in_c(c, m, k->var);
}

struct factor *augment_apply(struct compiler *c, struct model *m,
                             const struct entry *a, struct factor *g,
                             struct match *match)
{
    struct var *v = new_variable(c, a, g->family);
    struct family *k = new_family(c, a, g->family, match, v);
    if (added_name(a)->nargs) {
        match->cells = k;
    } else {
        match->bound[match->n].name = added_name(a)->name;
        match->bound[match->n++].value = sym_ref(c, v, v->ndim, k->lower);
    }

    struct factor *n = new_factor(c, a, g, k, match);
    v->positive =
        n->lower && n->lower->kind == SYM_NUM && n->lower->number >= 0;
    if (entry_value(a, "draw"))
        v->draw =
            sym_from_library(c, entry_value(a, "draw"), bind_matched, match);
    link_in(c, m, g, n);
    return n;
}

void augment_undo(struct model *m, struct factor *g, struct factor *n)
{
    struct family *f = g->family, *k = n->family;
    g->replaced = false;
    g->joint = NULL;
    g->next = n->next;
    f->next = k->next;
    if (m->last_factor == &n->next)
        m->last_factor = &g->next;
    if (m->last_family == &k->next)
        m->last_family = &f->next;
    m->nfactors--;
    struct var **p = &m->vars;
    while (*p != k->var)
        p = &(*p)->next;
    *p = k->var->next;
    m->last_var = p;
    while (*m->last_var)
        m->last_var = &(*m->last_var)->next;
}
