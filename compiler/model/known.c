/* known.c: what the data named at compilation settle (--data). A stochastic
 * variable whose every value is there is no longer a node to draw: what reads
 * it reads data. So it becomes two of the same name: a given one, which all
 * statements read, and a leaf, which keeps its statements. A regression on it
 * is then linear, and a block need not hold it. So does one that tells which
 * elements a statement defines, as choices do in Q[t + 1,choice[t]] <- ...:
 * the graph is known with the data, so these must be supplied. */
#include "io/data.h"
#include "model/resolve.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static bool random_throughout(const struct var *v)
{
    if (v->role != ROLE_STOCHASTIC || v->whole)
        return false;
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (!f->stochastic || f->data_block)
            return false;
    return true;
}

static bool is_read(const struct model *m, struct var *v)
{
    for (const struct family *f = m->families; f; f = f->next)
        if (family_any(f, sym_reads_var, v, f->var != v))
            return true;
    return false;
}

static void split(struct resolver *r, struct var *v)
{
    struct var *leaf = NEW(r->c, struct var);
    *leaf = *v;
    leaf->next = NULL;
    *r->m->last_var = leaf;
    r->m->last_var = &leaf->next;
    for (struct family *f = leaf->families; f; f = f->next_of_var)
        f->var = leaf;
    v->families = NULL;
    v->role = ROLE_GIVEN;
    v->used = true;
    v->drawn = leaf;
}

/* The data's array of a variable, or of the scalars that it stands for; NULL
 * after an error too. */
static const struct gbm_array *
supplied(struct compiler *c, struct gbm_data *data, const struct var *v)
{
    char error[GBM_ERROR];
    if (v->gathered && gbm_data_gather(data, v->name, v->gathered->names,
                                       v->gathered->n, error) != GBM_OK) {
        error_at(c, v->span, "%s", error);
        return NULL;
    }
    return gbm_data_find(data, v->name);
}

/* Files are looked into only for variables that they could settle: otherwise
 * the cost of a compilation does not grow with the data. */
static bool files_exist(struct compiler *c)
{
    for (int i = 0; i < c->options.ndata; i++) {
        const char *path = strchr(c->options.data[i], '=');
        path = path ? path + 1 : c->options.data[i];
        if (access(path, R_OK) != 0)
            error_at(c, (struct span){0}, "cannot read %s: %s", path,
                     strerror(errno));
    }
    return c->nerrors == 0;
}

/* A test for sym_any that fails: it marks what it meets. */
static bool mark_left(symp e, const void *unused)
{
    (void)unused;
    if (e->kind == SYM_REF)
        e->var->on_left = true;
    return false;
}

static int count_on_left(const struct model *m)
{
    int n = 0;
    for (const struct var *v = m->vars; v; v = v->next)
        n += v->on_left;
    return n;
}

static void mark_on_left(struct model *m)
{
    for (struct family *f = m->families; f; f = f->next)
        for (int d = 0; d < f->var->ndim; d++) {
            (void)sym_any(f->lower[d], mark_left, NULL);
            if (f->upper[d])
                (void)sym_any(f->upper[d], mark_left, NULL);
        }
    for (int before = 0, now = count_on_left(m); now > before;
         before = now, now = count_on_left(m))
        for (struct family *f = m->families; f; f = f->next)
            if (f->var->on_left && !f->stochastic)
                (void)family_any(f, mark_left, NULL, true);
}

/* Whether the model makes sense only where v is data. Whole numbers alone: of
 * others x[1 + step(a)] <- ... asks for what no data have. */
static bool must_be_known(const struct var *v)
{
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (!model_draws_integers(f))
            return false;
    return v->on_left;
}

void model_split_known(struct compiler *c, struct model *m)
{
    struct resolver r = {.c = c, .m = m};
    struct gbm_data data = {.allow_nonfinite = true, .names_only = true};
    bool any = false, is_open = false, good = files_exist(c);
    struct var *last = NULL; /* what is split ends behind it */
    for (struct var *v = m->vars; v; v = v->next)
        last = v;
    mark_on_left(m);
    for (struct var *v = m->vars; good && v; v = v == last ? NULL : v->next) {
        if (!random_throughout(v) || !is_read(m, v))
            continue;
        if (must_be_known(v)) {
            split(&r, v);
            any = true;
            continue;
        }
        if (c->options.ndata == 0)
            continue;
        if (!is_open)
            good = is_open = model_read_named_data(c, m, &data);
        const struct gbm_array *a = good ? supplied(c, &data, v) : NULL;
        if (!a || a->gaps)
            continue;
        split(&r, v);
        any = true;
    }
    gbm_data_free(&data);
    if (any)
        model_settle_roles(c, m);
}

/* ---- forward draws ---------------------------------------------------------
 */

static bool reads_following(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_REF && e->var->follows;
}

/* Tests for sym_any that fail: they mark what they meet. */
static bool mark_shaping(symp e, const void *unused)
{
    if (reads_following(e, unused))
        e->var->shapes = true;
    return false;
}

static bool mark_subscripts(symp e, const void *unused)
{
    int n = e->kind == SYM_REF ? e->nargs : e->kind == SYM_SUM ? 2 : 0;
    for (int i = 0; i < n; i++)
        (void)sym_any(e->args[i], mark_shaping, unused);
    return false;
}

static void mark_shapes(const struct family *f)
{
    (void)family_any(f, mark_subscripts, NULL, true);
    for (int i = 0; i < f->nloops; i++) {
        (void)sym_any(f->loops[i]->lower, mark_shaping, NULL);
        (void)sym_any(f->loops[i]->upper, mark_shaping, NULL);
    }
    for (int d = 0; d < f->var->ndim; d++) {
        (void)sym_any(f->lower[d], mark_shaping, NULL);
        if (f->upper[d])
            (void)sym_any(f->upper[d], mark_shaping, NULL);
    }
    for (int i = 0; i < f->nargs; i++)
        for (int d = 0; d < f->args[i].ndim; d++)
            (void)sym_any(f->args[i].extents[d], mark_shaping, NULL);
    if (f->var->shapes) /* and so does what it is computed from */
        (void)family_any(f, mark_shaping, NULL, true);
}

static bool is_constant(const struct family *f)
{
    return f->var->role == ROLE_CONSTANT && !f->data_block;
}

static int count_marks(const struct model *m)
{
    int n = 0;
    for (const struct var *v = m->vars; v; v = v->next)
        n += v->follows + v->shapes;
    return n;
}

void model_follow_known(struct compiler *c, struct model *m)
{
    int before, marks;
    (void)c;
    for (struct var *v = m->vars; v; v = v->next)
        v->follows = v->drawn != NULL;
    for (before = 0, marks = count_marks(m); marks > before;) {
        for (struct family *f = m->families; f; f = f->next) {
            if (is_constant(f) && family_any(f, reads_following, NULL, true))
                f->var->follows = true;
            mark_shapes(f);
        }
        before = marks;
        marks = count_marks(m);
    }
    for (struct family *f = m->families; f; f = f->next)
        f->follows = f->constant && !f->data_block &&
                     family_any(f, reads_following, NULL, true);
}
