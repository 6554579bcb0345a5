/* component.c: statements whose elements may depend on one another either way,
 * as in x[i] <- z[i-1], z[i] <- 2 * x[i]: the strongly connected components of
 * the graph of variables. Mostly the subscripts show an order, x[i] from
 * x[i-1]. Where they do not, as in x[par[i]], the sampler finds one at load, or
 * reports a cycle. */
#include "resolve.h"

/* Families of one kind: those of the data block or those of the model; or of
 * the model, those that are computed. */
enum kind { DATA_BLOCK, MODEL, COMPUTED };

static bool is_of(const struct family *f, enum kind kind)
{
    if (kind == DATA_BLOCK)
        return f->data_block;
    return !f->data_block &&
           (kind == MODEL || (!f->stochastic && f->var->role != ROLE_CONSTANT));
}

static const struct family *first_of(const struct var *v, enum kind kind)
{
    const struct family *f = v->families;
    while (f && !is_of(f, kind))
        f = f->next_of_var;
    return f;
}

/* reach[i * n + j]: an element of variable i may depend on one of j. */
static bool *closure(struct compiler *c, const struct model *m, int n,
                     enum kind kind)
{
    bool *reach = NEW_ARRAY(c, bool, n *n);
    int i = 0;
    for (const struct var *v = m->vars; v; v = v->next, i++) {
        int j = 0;
        for (struct var *w = m->vars; w; w = w->next, j++)
            for (const struct family *f = v->families; f; f = f->next_of_var)
                if (is_of(f, kind) && first_of(w, kind) &&
                    family_any(f, reads_var, w, false))
                    reach[i * n + j] = true;
    }
    for (int k = 0; k < n; k++)
        for (i = 0; i < n; i++)
            for (int j = 0; reach[i * n + k] && j < n; j++)
                reach[i * n + j] = reach[i * n + j] || reach[k * n + j];
    return reach;
}

struct looking_back {
    struct compiler *c;
    const struct family *family;
};

/* Whether e reads an element of the family's variable that its loops do not
 * pass before the one that is defined: outer loops come first, so the first
 * loop whose index differs must differ by a negative number. */
static bool looks_ahead(symp e, void *context)
{
    const struct looking_back *b = context;
    const struct family *f = b->family;
    if (e->kind != SYM_REF || e->var != f->var || (!f->nloops && !f->nslices))
        return false;
    for (int i = 0; i < f->nloops; i++)
        for (int d = 0; d < f->var->ndim; d++) {
            symp offset;
            double difference;
            if (f->upper[d] ||
                sym_plain_loop(b->c, f->lower[d], &offset) != f->loops[i])
                continue;
            if (!sym_difference(b->c, e->args[d], f->lower[d], &difference))
                return true;
            if (difference < 0)
                return false;
            if (difference > 0)
                return true;
        }
    return true;
}

/* Whether statements in the order of order_families, each through its loops,
 * define everything before it is read: one of them alone reads the variable,
 * and backwards. */
static bool plainly_ordered(struct compiler *c, const struct var *v,
                            enum kind kind)
{
    int readers = 0;
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        struct looking_back b = {c, f};
        if (!is_of(f, kind) || !family_any(f, reads_var, (void *)v, false))
            continue;
        if (++readers > 1 || family_any(f, looks_ahead, &b, false))
            return false;
    }
    return true;
}

/* Whether the component of variable i is i alone. */
static bool alone(const bool *reach, int n, int i)
{
    for (int j = 0; j < n; j++)
        if (j != i && reach[i * n + j] && reach[j * n + i])
            return false;
    return true;
}

/* Numbers the components that need an order at load; 0: none. */
static void number_components(struct compiler *c, struct model *m, int n,
                              enum kind kind)
{
    bool *reach = closure(c, m, n, kind);
    int i = 0;
    for (struct var *v = m->vars; v; v = v->next, i++) {
        if (!reach[i * n + i] ||
            (alone(reach, n, i) && plainly_ordered(c, v, kind)))
            continue;
        const struct family *first = first_of(v, kind);
        int number = first->component ? first->component : ++m->ncomponents;
        int j = 0;
        for (struct var *w = m->vars; w; w = w->next, j++)
            for (struct family *f = w->families;
                 f && reach[i * n + j] && reach[j * n + i]; f = f->next_of_var)
                if (is_of(f, kind))
                    f->component = number;
    }
}

/* What is computed from each other is kept in memory. */
static void join_computed(struct compiler *c, struct model *m, int n)
{
    bool *reach = closure(c, m, n, COMPUTED);
    int i = 0;
    for (struct var *v = m->vars; v; v = v->next, i++) {
        bool one = alone(reach, n, i);
        if (!reach[i * n + i])
            continue;
        v->stored = v->stored || !one || v->role == ROLE_DERIVED;
        if (!v->stored || (one && plainly_ordered(c, v, COMPUTED)))
            continue;
        struct together *t = NULL;
        int j = 0;
        for (struct var *w = m->vars; w && !t; w = w->next, j++)
            if (j < i && reach[i * n + j] && reach[j * n + i])
                t = first_of(w, COMPUTED)->together;
        if (!t) {
            t = NEW(c, struct together);
            t->number = ++m->ntogether;
        }
        for (struct family *f = v->families; f; f = f->next_of_var)
            if (is_of(f, COMPUTED))
                f->together = t;
    }
    for (struct family *f = m->families; f; f = f->next)
        if (f->together && !f->together->first)
            f->together->first = f;
}

void find_components(struct compiler *c, struct model *m)
{
    int n = 0;
    for (const struct var *v = m->vars; v; v = v->next)
        n++;
    number_components(c, m, n, DATA_BLOCK);
    number_components(c, m, n, MODEL);
    join_computed(c, m, n);
}
