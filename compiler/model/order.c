/* order.c: parents before children; cycles and double definitions. */
#include "model/resolve.h"

/* Whether e reads v, or what stands for it where it is known. */
static bool reads_draws(symp e, const void *v)
{
    return e->kind == SYM_REF && (e->var == v || e->var->drawn == v);
}

struct reads_of {
    struct compiler *c;
    const struct family *defines;
};

/* Whether an element that f reads may be one that `context` defines. */
static bool may_read(symp e, const void *context)
{
    const struct reads_of *r = context;
    const struct family *g = r->defines;
    if (!reads_draws(e, g->var))
        return false;
    for (int d = 0; d < g->var->ndim; d++)
        if (!g->upper[d] && sym_is(sym_eq(r->c, e->args[d], g->lower[d]), 0))
            return false;
    return true;
}

/* The families of one variable: those that others read first, as far as their
 * subscripts tell them apart. */
static void append_families(struct compiler *c, const struct var *v,
                            struct family ***last)
{
    int n = 0;
    for (struct family *f = v->families; f; f = f->next_of_var)
        n++;
    struct family **all = NEW_ARRAY(c, struct family *, n);
    bool *placed = NEW_ARRAY(c, bool, n), **waits = NEW_ARRAY(c, bool *, n);
    n = 0;
    for (struct family *f = v->families; f; f = f->next_of_var)
        all[n++] = f;
    for (int i = 0; i < n; i++) {
        waits[i] = NEW_ARRAY(c, bool, n);
        for (int j = 0; j < n; j++) {
            struct reads_of r = {c, all[j]};
            waits[i][j] = i != j && family_any(all[i], may_read, &r, false);
        }
    }
    for (int k = 0; k < n; k++) {
        int chosen = -1;
        for (int i = 0; i < n && chosen < 0; i++) {
            bool ready = !placed[i];
            for (int j = 0; j < n && ready; j++)
                ready = placed[j] || !waits[i][j];
            if (ready)
                chosen = i;
        }
        for (int i = 0; i < n && chosen < 0; i++) /* a circle */
            if (!placed[i])
                chosen = i;
        placed[chosen] = true;
        **last = all[chosen];
        *last = &all[chosen]->next;
    }
}

/* Families in an order in which parents come before children; a variable that
 * reads itself at other subscripts is ordered by its elements at run time. */
static void visit(struct compiler *c, struct model *m, struct var *v,
                  char *state, struct family ***last)
{
    int i = 0;
    for (struct var *w = m->vars; w != v; w = w->next)
        i++;
    if (state[i] == 2)
        return;
    if (state[i] == 1)
        return; /* through other variables: the elements must be ordered */
    state[i] = 1;
    for (struct family *f = v->families; f; f = f->next_of_var)
        for (struct var *w = m->vars; w; w = w->next)
            if (w != v && w->families && family_any(f, reads_draws, w, true))
                visit(c, m, w, state, last);
    state[i] = 2;
    append_families(c, v, last);
}

static bool reads_same_element(symp e, const void *context)
{
    const struct family *f = context;
    if (e->kind != SYM_REF || e->var != f->var)
        return false;
    for (int d = 0; d < f->var->ndim; d++)
        if (f->upper[d] || !sym_same(e->args[d], f->lower[d]))
            return false;
    return true;
}

/* A cycle that no order of elements could avoid: a chain of variables each of
 * which reads the next at the subscripts at which it is defined. */
static bool scalar_cycle(struct model *m, const struct var *from,
                         struct var *to, int depth, struct text *path)
{
    if (depth > 32)
        return false;
    for (const struct family *f = from->families; f; f = f->next_of_var)
        for (struct var *v = m->vars; v; v = v->next) {
            if (!v->families || v->ndim ||
                !family_any(f, sym_reads_var, v, false))
                continue;
            if (v == to) {
                text_printf(path, "%s", from->name);
                return true;
            }
            if (scalar_cycle(m, v, to, depth + 1, path)) {
                text_printf(path, " <- %s", from->name);
                return true;
            }
        }
    return false;
}

void model_check_cycles(struct compiler *c, struct model *m)
{
    for (struct family *f = m->families; f; f = f->next) {
        if (family_any(f, reads_same_element, f, false)) {
            error_at(c, f->span, "a cycle in the graph: %s depends on itself",
                     f->var->name);
            return;
        }
    }
    for (struct var *v = m->vars; v; v = v->next) {
        struct text path = {0};
        if (v->families && v->ndim == 0 && scalar_cycle(m, v, v, 0, &path)) {
            error_at(c, v->families->span,
                     "a cycle in the graph: %s depends on itself (%s <- %s)",
                     v->name, v->name, path.data);
            text_free(&path);
            return;
        }
        text_free(&path);
    }
}

void model_check_twice(struct compiler *c, struct model *m)
{
    for (struct var *v = m->vars; v; v = v->next)
        for (struct family *f = v->families; f; f = f->next_of_var)
            for (struct family *g = f->next_of_var; g; g = g->next_of_var) {
                bool same = f->data_block == g->data_block;
                for (int d = 0; d < v->ndim; d++) {
                    symp a = f->lower[d], b = g->lower[d];
                    bool loops = a->kind == SYM_LOOP && b->kind == SYM_LOOP &&
                                 sym_same(a->loop->lower, b->loop->lower) &&
                                 sym_same(a->loop->upper, b->loop->upper);
                    same = same && (loops || (sym_same(a, b) && !f->nloops));
                }
                if (same) {
                    error_at(c, g->span, "%s is defined twice", v->name);
                    note_at(c, f->span,
                            f->stochastic == g->stochastic
                                ? "the first definition is here"
                                : "the first definition is here; data that "
                                  "statements compute are computed in a block "
                                  "of its own, data { }");
                }
            }
}

void model_check_left(struct compiler *c, struct model *m)
{
    for (struct family *f = m->families; f; f = f->next)
        for (int d = 0; d < f->var->ndim; d++)
            if (sym_reads_latent(f->lower[d]) ||
                (f->upper[d] && sym_reads_latent(f->upper[d]))) {
                error_at(
                    c, f->span,
                    "which elements of %s are defined here depends on a random "
                    "variable; subscripts on the left are of data",
                    f->var->name);
                break;
            }
}

void family_number(struct model *m)
{
    int number = 0;
    for (struct family *f = m->families; f; f = f->next)
        f->number = number++;
}

struct family **family_list(struct compiler *c, const struct model *m, int *n)
{
    *n = 0;
    for (struct family *f = m->families; f; f = f->next)
        ++*n;
    struct family **all = NEW_ARRAY(c, struct family *, *n);
    int i = 0;
    for (struct family *f = m->families; f; f = f->next)
        all[i++] = f;
    return all;
}

void family_order(struct compiler *c, struct model *m)
{
    struct family *ordered = NULL, **last = &ordered;
    int nvars = 0;
    for (struct var *v = m->vars; v; v = v->next)
        nvars++;
    char *state = NEW_ARRAY(c, char, nvars);
    for (struct var *v = m->vars; v; v = v->next)
        visit(c, m, v, state, &last);
    *last = NULL;
    m->families = ordered;
    m->last_family = last;
    family_number(m);
}

static bool reads_drawn_later(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_REF &&
           (e->var->drawn_later ||
            (e->var->drawn && e->var->drawn->drawn_later));
}

static bool changes(const struct family *f)
{
    return !f->data_block && (f->var->role == ROLE_STOCHASTIC ||
                              f->var->role == ROLE_DERIVED || f->var->follows);
}

void model_find_feedback(struct compiler *c, struct model *m)
{
    int n;
    struct family **all = family_list(c, m, &n);
    while (n-- > 0) {
        if (!changes(all[n]))
            continue;
        all[n]->var->drawn_later = true;
        m->feeds_back =
            family_any(all[n], reads_drawn_later, NULL, true) || m->feeds_back;
    }
}
