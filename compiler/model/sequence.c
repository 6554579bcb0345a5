/* sequence.c: families that feed each other element by element, as a[t] from
 * b[t-1] and b[t] from a[t-1], or one array from its end to its beginning. No
 * order of the families is right for them; their elements are put into one
 * sequence at load. Here: which families these are, and the order of the
 * families around them. */
#include "model/resolve.h"

struct graph {
    struct compiler *c;
    struct family **families; /* in the order so far */
    symp **reads;             /* [n]: expressions, NULL at the end */
    char **edge;              /* [n][n]: i reads what j defines */
    int n;
    /* Tarjan (1972) */
    int *index, *low, *stack, *component;
    bool *on_stack;
    int depth, next, ncomponents;
};

/* What an element's value or density is computed from: as it will be emitted,
 * with definitions in the place of derived nodes that are not kept. */
static symp *list_expressions(struct compiler *c, const struct family *f,
                              bool plain)
{
    symp *list = NEW_ARRAY(c, symp, f->nargs + 4);
    int n = 0;
    if (f->body)
        list[n++] = plain ? f->body : model_substitute_derived(c, f->body);
    for (int i = 0; i < f->nargs; i++)
        list[n++] = plain ? f->args[i].body
                          : model_substitute_derived(c, f->args[i].body);
    if (f->trunc_lower)
        list[n++] = plain ? f->trunc_lower
                          : model_substitute_derived(c, f->trunc_lower);
    if (f->trunc_upper)
        list[n++] = plain ? f->trunc_upper
                          : model_substitute_derived(c, f->trunc_upper);
    return list;
}

symp *model_sequence_expressions(struct compiler *c, const struct family *f)
{
    return list_expressions(c, f,
                            f->var->role == ROLE_CONSTANT || f->data_block);
}

symp *model_written_expressions(struct compiler *c, const struct family *f)
{
    return list_expressions(c, f, true);
}

/* The left-hand side's subscript at an instance of its own: statements of one
 * loop share its index. */
static symp other_instance(struct compiler *c, const struct family *g, symp e)
{
    for (int i = 0; i < g->nloops; i++) {
        const struct loop *l = g->loops[i];
        if (sym_has_loop(e, l))
            e = sym_replace_loop(
                c, e, l,
                sym_loop(c, model_new_loop(c, l->name, l->lower, l->upper)));
    }
    return e;
}

bool model_reads_element(struct compiler *c, symp e, const struct family *g)
{
    bool hit = e->kind == SYM_REF && e->var == g->var;
    for (int d = 0; hit && d < g->var->ndim; d++)
        hit = g->upper[d] ||
              !sym_is(sym_eq(c, e->args[d], other_instance(c, g, g->lower[d])),
                      0);
    for (int i = 0; !hit && i < e->nargs; i++)
        hit = model_reads_element(c, e->args[i], g);
    return hit;
}

/* Whether a reference of f to its own variable is to an element that comes
 * before it in the order of the loops. */
static bool earlier(struct compiler *c, const struct family *f, symp ref)
{
    for (int i = 0; i < f->nloops; i++) {
        int at = -1;
        symp offset;
        for (int d = 0; d < f->var->ndim; d++)
            if (sym_plain_loop(c, f->lower[d], &offset) == f->loops[i])
                at = d;
        double difference;
        if (at < 0 ||
            !sym_difference(c, ref->args[at], f->lower[at], &difference))
            return false;
        if (difference != 0)
            return difference < 0;
    }
    return false;
}

static bool all_earlier(struct compiler *c, const struct family *f, symp e)
{
    if (e->kind == SYM_REF && e->var == f->var &&
        model_reads_element(c, e, f) && !earlier(c, f, e))
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (!all_earlier(c, f, e->args[i]))
            return false;
    return true;
}

static struct graph *new_graph(struct compiler *c, int n)
{
    struct graph *g = NEW(c, struct graph);
    g->c = c;
    g->families = NEW_ARRAY(c, struct family *, n);
    g->reads = NEW_ARRAY(c, symp *, n);
    g->edge = NEW_ARRAY(c, char *, n);
    g->index = NEW_ARRAY(c, int, n);
    g->low = NEW_ARRAY(c, int, n);
    g->stack = NEW_ARRAY(c, int, n);
    g->component = NEW_ARRAY(c, int, n);
    g->on_stack = NEW_ARRAY(c, bool, n);
    return g;
}

static void add_edges(struct graph *g)
{
    for (int i = 0; i < g->n; i++) {
        g->reads[i] = model_sequence_expressions(g->c, g->families[i]);
        g->edge[i] = NEW_ARRAY(g->c, char, g->n);
        for (int j = 0; j < g->n; j++)
            for (symp *e = g->reads[i]; *e && !g->edge[i][j]; e++)
                g->edge[i][j] = sym_has_var(*e, g->families[j]->var) &&
                                model_reads_element(g->c, *e, g->families[j]);
    }
}

static void connect(struct graph *g, int v)
{
    g->index[v] = g->low[v] = ++g->next;
    g->stack[g->depth++] = v;
    g->on_stack[v] = true;
    for (int w = 0; w < g->n; w++) {
        if (!g->edge[v][w])
            continue;
        if (!g->index[w])
            connect(g, w);
        if (g->on_stack[w] && g->low[w] < g->low[v])
            g->low[v] = g->low[w];
    }
    if (g->low[v] != g->index[v])
        return;
    int w;
    do {
        w = g->stack[--g->depth];
        g->on_stack[w] = false;
        g->component[w] = g->ncomponents;
    } while (w != v);
    g->ncomponents++;
}

static void components(struct graph *g)
{
    for (int v = 0; v < g->n; v++)
        if (!g->index[v])
            connect(g, v);
}

/* Whether the members of a component must be taken in a sequence. */
static bool needs_sequence(struct graph *g, int component)
{
    int members = 0, one = -1;
    for (int i = 0; i < g->n; i++)
        if (g->component[i] == component) {
            members++;
            one = i;
        }
    if (members != 1)
        return members > 1;
    if (!g->edge[one][one] || g->families[one]->nslices)
        return false;
    for (symp *e = g->reads[one]; *e; e++)
        if (!all_earlier(g->c, g->families[one], *e))
            return true;
    return false;
}

static void add_sequence(struct graph *g, struct model *m, int component,
                         enum sequence_kind kind)
{
    struct sequence *q = NEW(g->c, struct sequence);
    q->kind = kind;
    q->families = NEW_ARRAY(g->c, struct family *, g->n);
    for (int i = 0; i < g->n; i++)
        if (g->component[i] == component) {
            q->families[q->n++] = g->families[i];
            if (kind == SEQUENCE_REFRESH)
                g->families[i]->sequence = q;
        }
    struct sequence **last = &m->sequences;
    while (*last) {
        q->number++;
        last = &(*last)->next;
    }
    *last = q;
}

/* ---- the three kinds -------------------------------------------------------
 */

static bool is_kind(const struct family *f, enum sequence_kind kind)
{
    bool constant = f->var->role == ROLE_CONSTANT || f->data_block;
    switch (kind) {
    case SEQUENCE_LOAD:
        return f->var->role == ROLE_CONSTANT;
    case SEQUENCE_START:
        return !constant && (f->stochastic || f->var->stored);
    case SEQUENCE_REFRESH:
        return !constant && !f->stochastic && f->var->stored;
    case SEQUENCE_PARENTS:
    case SEQUENCE_READ:
    case SEQUENCE_GAPS:
        return false;
    }
    UNREACHABLE();
}

static struct graph *graph_of(struct compiler *c, struct model *m,
                              enum sequence_kind kind)
{
    int n = 0;
    for (struct family *f = m->families; f; f = f->next)
        n++;
    struct graph *g = new_graph(c, n);
    for (struct family *f = m->families; f; f = f->next)
        if (is_kind(f, kind))
            g->families[g->n++] = f;
    add_edges(g);
    components(g);
    return g;
}

/* ---- the order of the families ---------------------------------------------
 */

struct sorter {
    struct graph *g;
    char *done; /* [n] */
    struct family **out;
    int nout;
};

static void place(struct sorter *s, int component)
{
    struct graph *g = s->g;
    for (int i = 0; i < g->n; i++) {
        if (g->component[i] != component || s->done[i])
            continue;
        s->done[i] = 1;
        for (int j = 0; j < g->n; j++)
            if (g->edge[i][j] && g->component[j] != component && !s->done[j])
                place(s, g->component[j]);
    }
    for (int i = 0; i < g->n; i++)
        if (g->component[i] == component)
            s->out[s->nout++] = g->families[i];
}

/* Members of a component together, after what they read and before what reads
 * them; otherwise as they were. Families that are not of the kind (definitions
 * that stand where they are read) keep their places. */
static void sort_families(struct model *m, struct graph *g, struct compiler *c,
                          enum sequence_kind kind)
{
    struct sorter s = {.g = g,
                       .done = NEW_ARRAY(c, char, g->n),
                       .out = NEW_ARRAY(c, struct family *, g->n)};
    for (int i = 0; i < g->n; i++)
        if (!s.done[i])
            place(&s, g->component[i]);
    struct family *first = NULL, **last = &first, *next;
    int k = 0;
    for (struct family *f = m->families; f; f = next) {
        next = f->next;
        struct family *put = is_kind(f, kind) ? s.out[k++] : f;
        put->number = -1;
        *last = put;
        /* `next` of what is put is read no more: kept in the list of f */
        last = &put->moved;
    }
    *last = NULL;
    int number = 0;
    m->families = first;
    for (struct family *f = first; f; f = f->moved) {
        f->next = f->moved;
        f->number = number++;
        if (!f->next)
            m->last_family = &f->next;
    }
}

/* Whether a family stands before one that it reads: its variable and that one's
 * feed each other, if not element by element, so no order of the variables is
 * right: a[1], then b[2] from a[1], then a[2] from b[2]. */
static bool is_out_of_order(const struct graph *g)
{
    for (int i = 0; i < g->n; i++)
        for (int j = i + 1; j < g->n; j++)
            if (g->edge[i][j] && g->component[i] != g->component[j])
                return true;
    return false;
}

/* In the order of the model: a sequence is run at its first family. */
static void sort_members(struct sequence *q)
{
    for (int i = 1; i < q->n; i++)
        for (int j = i;
             j > 0 && q->families[j]->number < q->families[j - 1]->number;
             j--) {
            struct family *f = q->families[j];
            q->families[j] = q->families[j - 1];
            q->families[j - 1] = f;
        }
}

void model_find_sequences(struct compiler *c, struct model *m)
{
    static const enum sequence_kind kinds[] = {SEQUENCE_LOAD, SEQUENCE_START,
                                               SEQUENCE_REFRESH};
    for (int k = 0; k < 3; k++) {
        struct graph *g = graph_of(c, m, kinds[k]);
        bool any = is_out_of_order(g);
        for (int i = 0; i < g->ncomponents; i++)
            if (needs_sequence(g, i)) {
                add_sequence(g, m, i, kinds[k]);
                any = true;
            }
        /* what starts together may still be computed one after the other:
         * e[1] <- z[1], before m[t] from e[t-1] and e[t] from z[t] - m[t] */
        if (any && kinds[k] != SEQUENCE_LOAD)
            sort_families(m, g, c, kinds[k]);
    }
    for (struct sequence *q = m->sequences; q; q = q->next)
        if (q->kind != SEQUENCE_LOAD)
            sort_members(q);
}
