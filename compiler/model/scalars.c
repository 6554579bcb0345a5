/* scalars.c: scalars with names of their own that are defined and used alike,
 * as written out for a machine or a handful of coefficients, become the
 * elements of one array:
 *
 *     b1 ~ dnorm(0, 1)               "b1..b9"[1] ~ dnorm(0, 1)
 *     b2 ~ dnorm(0, 1)               "b1..b9"[2] ~ dnorm(0, 1)
 *     y ~ dnorm(b1 * 2 + b2 * 3, 1)  y ~ dnorm("b1..b9"[1] * 2 + ..., 1)
 *
 * so that roll.c can make loops of their statements and sums of their terms,
 * and they are drawn as one block. The names stay those of data, starting
 * values and draws: the runtime gathers them (struct gbm_variable, `names`).
 *
 * What is alike: the statements that define them are the same but for numbers
 * and for scalars that are alike, and so are the statements that use them, at
 * the same place; terms of a sum and factors of a product are one place. A
 * scalar that enters one density more than its neighbours stays apart, as its
 * full conditional has another form.
 *
 * Requires a parsed program with its arguments in order; leaves one. */
#include "model/model.h"
#include <stdlib.h>
#include <string.h>

enum { ALIKE_LEAST = 8, ROUNDS = 3, PASSES = 8 };

/* ---- names ----------------------------------------------------------------
 */

/* Numbers from 0 for interned texts, in the order in which they come. */
struct numbering {
    const char **texts;
    int *numbers;
    int size, n; /* size: a power of 2 */
};

static struct numbering numbering_new(struct compiler *c, int most)
{
    struct numbering k = {.size = 16};
    while (k.size < 2 * most)
        k.size *= 2;
    k.texts = NEW_ARRAY(c, const char *, k.size);
    k.numbers = NEW_ARRAY(c, int, k.size);
    return k;
}

static int place_of(const struct numbering *k, const char *text)
{
    unsigned at = (unsigned)((uintptr_t)text >> 3) * 2654435761u;
    at = (at ^ at >> 15) & (unsigned)(k->size - 1);
    while (k->texts[at] && k->texts[at] != text)
        at = (at + 1) & (unsigned)(k->size - 1);
    return (int)at;
}

static int number_of(struct numbering *k, const char *text)
{
    int at = place_of(k, text);
    if (!k->texts[at]) {
        k->texts[at] = text;
        k->numbers[at] = k->n++;
    }
    return k->numbers[at];
}

/* A name of the model. */
struct scalar {
    const char *name;
    const struct stmt *definition; /* the last that has it alone on its left */
    int statement;                 /* number of that */
    int definitions;
    bool barred;    /* it is something else, or is needed by its name */
    bool is_scalar; /* its value is a single number for sure */
    bool candidate;
    struct text uses; /* in this round */
    int likeness, place;
    const struct gathered *gathered;
};
/* Where a scalar is used: in which statement, by what in it. */
struct use {
    int scalar, statement;
    const char *path;
};
struct finder {
    struct compiler *c;
    struct program *program;
    struct numbering names;
    struct scalar *scalars;
    struct use *uses;
    int nuses, capacity;
    int *many; /* scalars of each likeness */
};

static int count_names(const struct expr *e)
{
    int n = e && e->name;
    for (int i = 0; e && i < e->nargs; i++)
        n += count_names(e->args[i]);
    return n;
}

static int count_in(const struct stmt *s)
{
    int n = 0;
    for (; s; s = s->next)
        n += 1 + count_names(s->range) + count_names(s->lhs) +
             count_names(s->rhs) + count_names(s->lower) +
             count_names(s->upper) + count_in(s->body);
    return n;
}

static struct scalar *scalar_called(struct finder *f, const char *name)
{
    struct scalar *s = &f->scalars[number_of(&f->names, name)];
    s->name = name;
    return s;
}

/* ---- what may be gathered -------------------------------------------------
 */

static void bar_names(struct finder *f, const struct expr *e)
{
    if (e && e->kind == EXPR_NAME)
        scalar_called(f, e->name)->barred = true;
    for (int i = 0; e && i < e->nargs; i++)
        bar_names(f, e->args[i]);
}

static bool is_bare(const struct expr *e)
{
    return e->kind == EXPR_NAME && !e->bracket && e->nargs == 0;
}

static void bar_arrays(struct finder *f, const struct expr *e)
{
    if (e && e->kind == EXPR_NAME && !is_bare(e))
        scalar_called(f, e->name)->barred = true;
    for (int i = 0; e && i < e->nargs; i++)
        bar_arrays(f, e->args[i]);
}

static void bar_in_statements(struct finder *f, const struct stmt *s, bool all,
                              bool inside)
{
    for (; s; s = s->next) {
        const struct expr *parts[] = {s->lhs, s->rhs, s->lower, s->upper};
        if (s->kind == STMT_FOR) {
            scalar_called(f, s->name)->barred = true;
            bar_names(f, s->range);
            bar_in_statements(f, s->body, all, true);
            continue;
        }
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            bar_arrays(f, parts[i]);
            if (all || (i == 0 && (inside || !is_bare(s->lhs))))
                bar_names(f, parts[i]);
        }
    }
}

static void bar(struct finder *f)
{
    const struct program *p = f->program;
    for (const struct declaration *d = p->declarations; d; d = d->next) {
        scalar_called(f, d->name)->barred = true;
        for (int i = 0; i < d->ndims; i++)
            bar_names(f, d->dims[i]);
    }
    for (const struct sampler_choice *k = p->samplers; k; k = k->next)
        for (int i = 0; i < k->ntargets; i++)
            bar_names(f, k->targets[i]);
    bar_in_statements(f, p->data, true, true);
    bar_in_statements(f, p->model, false, false);
}

/* Marks the names in e, which is a single number, as such. */
static void mark_scalars(struct finder *f, const struct expr *e)
{
    if (is_bare(e))
        scalar_called(f, e->name)->is_scalar = true;
    for (int i = 0; e->kind == EXPR_CALL &&
                    model_is_function_of_scalars(f->c, e->name) && i < e->nargs;
         i++)
        mark_scalars(f, e->args[i]);
}

static void mark_in_relation(struct finder *f, const struct stmt *s)
{
    const struct entry *d =
        s->rhs->kind == EXPR_CALL
            ? library_find(f->c, ENTRY_DISTRIBUTION, s->rhs->name)
            : NULL;
    if (!d || d->result || d->nparameters != s->rhs->nargs)
        return;
    if (is_bare(s->lhs))
        scalar_called(f, s->lhs->name)->is_scalar = true;
    for (int i = 0; i < d->nparameters; i++)
        if (!d->parameters[i].ndims)
            mark_scalars(f, s->rhs->args[i]);
    if (s->lower)
        mark_scalars(f, s->lower);
    if (s->upper)
        mark_scalars(f, s->upper);
}

/* Whether e is a single number, by what is marked. */
static bool is_single(struct finder *f, const struct expr *e)
{
    if (is_bare(e)) {
        const struct scalar *s = scalar_called(f, e->name);
        return s->is_scalar && !s->barred;
    }
    bool calls =
        e->kind == EXPR_CALL && model_is_function_of_scalars(f->c, e->name);
    if (e->kind != EXPR_NUM && e->kind != EXPR_NAME && !calls)
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (!is_single(f, e->args[i]))
            return false;
    return true;
}

static void note_definition(struct finder *f, const struct stmt *s, int number)
{
    struct scalar *x = scalar_called(f, s->lhs->name);
    x->definition = s;
    x->statement = number;
    x->definitions++;
}

/* Marks the left sides of deterministic statements; in the order of the text
 * once will do. */
static void mark_computed(struct finder *f)
{
    bool changed = true;
    for (int pass = 0; changed && pass < PASSES; pass++) {
        changed = false;
        for (const struct stmt *s = f->program->model; s; s = s->next) {
            if (s->kind != STMT_DETERMINISTIC || !is_bare(s->lhs))
                continue;
            struct scalar *x = scalar_called(f, s->lhs->name);
            if (!x->is_scalar && is_single(f, s->rhs))
                x->is_scalar = changed = true;
        }
    }
}

/* ---- how they are used ----------------------------------------------------
 */

static void add_use(struct finder *f, const struct expr *e, int statement,
                    const char *path)
{
    if (f->nuses == f->capacity) {
        struct use *old = f->uses;
        f->capacity = f->capacity ? 2 * f->capacity : 256;
        f->uses = NEW_ARRAY(f->c, struct use, f->capacity);
        if (old)
            memcpy(f->uses, old, (size_t)f->nuses * sizeof *old);
    }
    f->uses[f->nuses++] =
        (struct use){number_of(&f->names, e->name), statement, path};
}

/* The way to argument i of e: terms are one place, and factors. */
static const char *step_to(struct compiler *c, const struct expr *e, int i,
                           const char *path)
{
    const char *word = e->name ? e->name : "of";
    bool term =
        e->kind == EXPR_CALL &&
        (!strcmp(word, "+") || !strcmp(word, "-") || !strcmp(word, "neg"));
    bool factor = e->kind == EXPR_CALL && !strcmp(word, "*");
    const char *end = strrchr(path, '/');
    if (term || factor) {
        word = term ? "/+" : "/*";
        return end && !strcmp(end, word) ? path
                                         : intern_format(c, "%s%s", path, word);
    }
    return intern_format(c, "%s/%s.%d", path, word, i);
}

static void find_uses(struct finder *f, const struct expr *e, int statement,
                      const char *path)
{
    if (is_bare(e))
        add_use(f, e, statement, path);
    for (int i = 0; i < e->nargs; i++)
        find_uses(f, e->args[i], statement, step_to(f->c, e, i, path));
}

static void find_uses_in(struct finder *f, const struct stmt *s, int statement,
                         const char *path)
{
    if (s->kind == STMT_FOR) {
        int k = 0;
        for (const struct stmt *b = s->body; b; b = b->next)
            find_uses_in(f, b, statement,
                         intern_format(f->c, "%s/for %d", path, k++));
        return;
    }
    for (int i = 0; i < s->lhs->nargs; i++)
        find_uses(f, s->lhs->args[i], statement, "left");
    find_uses(f, s->rhs, statement, path);
    if (s->lower)
        find_uses(f, s->lower, statement, "lower");
    if (s->upper)
        find_uses(f, s->upper, statement, "upper");
}

/* ---- likeness -------------------------------------------------------------
 */

static const char *name_by_likeness(void *context, const char *name)
{
    struct finder *f = context;
    const struct scalar *s = scalar_called(f, name);
    return s->candidate && f->many[s->likeness] >= ALIKE_LEAST
               ? intern_format(f->c, "$%d", s->likeness)
               : name;
}

/* Tells scalars apart by their definitions and uses, in terms of what they are
 * like so far. */
static void compare(struct finder *f)
{
    int nstatements = 0;
    for (const struct stmt *s = f->program->model; s; s = s->next)
        nstatements++;
    struct numbering shapes = numbering_new(f->c, nstatements + 1);
    struct numbering uses = numbering_new(f->c, f->nuses + 1);
    struct numbering likenesses = numbering_new(f->c, f->names.n + 1);
    int *shape = NEW_ARRAY(f->c, int, nstatements), k = 0;
    for (const struct stmt *s = f->program->model; s; s = s->next)
        shape[k++] = number_of(
            &shapes, model_shape_by_names(f->c, s, name_by_likeness, f));
    for (int i = 0; i < f->nuses; i++) {
        const struct use *u = &f->uses[i];
        int number = number_of(
            &uses, intern_format(f->c, "%d %s", shape[u->statement], u->path));
        text_printf(&f->scalars[u->scalar].uses, " %d", number);
    }
    for (int i = 0; i < f->names.n; i++) {
        struct scalar *s = &f->scalars[i];
        const char *used = s->uses.data ? s->uses.data : "";
        if (s->candidate)
            s->likeness = number_of(
                &likenesses,
                intern_format(f->c, "%d:%s",
                              s->definition ? shape[s->statement] : -1, used));
        text_free(&s->uses);
        s->uses = (struct text){0};
    }
    f->many = NEW_ARRAY(f->c, int, likenesses.n + 1);
    for (int i = 0; i < f->names.n; i++)
        if (f->scalars[i].candidate)
            f->many[f->scalars[i].likeness]++;
}

/* ---- gathering ------------------------------------------------------------
 */

/* "b1..b9": as a name it could be in the model, so it is made longer until it
 * is not. */
static const char *name_between(struct finder *f, const char *first,
                                const char *last)
{
    const char *name = intern_format(f->c, "%s..%s", first, last);
    while (f->names.texts[place_of(&f->names, name)])
        name = intern_format(f->c, "%s.", name);
    return name;
}

static void gather_alike(struct finder *f, int first)
{
    struct gathered *g = NEW(f->c, struct gathered);
    const struct scalar *like = &f->scalars[first];
    g->names = NEW_ARRAY(f->c, const char *, f->many[like->likeness]);
    for (int i = first; i < f->names.n; i++) {
        struct scalar *s = &f->scalars[i];
        if (!s->candidate || s->likeness != like->likeness)
            continue;
        s->gathered = g;
        g->names[g->n++] = s->name;
        s->place = g->n;
    }
    g->name = name_between(f, g->names[0], g->names[g->n - 1]);
    g->next = f->program->gathered;
    f->program->gathered = g;
}

static void replace_names(struct finder *f, struct expr *e)
{
    for (int i = 0; e && i < e->nargs; i++)
        replace_names(f, e->args[i]);
    if (!e || !is_bare(e))
        return;
    const struct scalar *s = scalar_called(f, e->name);
    if (!s->gathered)
        return;
    struct expr *place = expr_new(f->c, EXPR_NUM, e->span);
    place->number = s->place;
    e->name = s->gathered->name;
    e->bracket = true;
    e->nargs = 1;
    e->args = NEW_ARRAY(f->c, struct expr *, 1);
    e->args[0] = place;
    e->depth = place->depth + 1;
}

static void replace_in(struct finder *f, struct stmt *s)
{
    for (; s; s = s->next) {
        replace_names(f, s->lhs);
        replace_names(f, s->rhs);
        replace_names(f, s->lower);
        replace_names(f, s->upper);
        replace_in(f, s->body);
    }
}

static int mark_candidates(struct finder *f)
{
    int n = 0;
    for (int i = 0; i < f->names.n; i++) {
        struct scalar *s = &f->scalars[i];
        s->candidate = s->is_scalar && !s->barred && s->definitions <= 1;
        n += s->candidate;
    }
    return n;
}

void model_gather_scalars(struct compiler *c, struct program *p)
{
    int most = 1 + count_in(p->data) + count_in(p->model), k = 0;
    for (const struct declaration *d = p->declarations; d; d = d->next) {
        most++;
        for (int i = 0; i < d->ndims; i++)
            most += count_names(d->dims[i]);
    }
    for (const struct sampler_choice *s = p->samplers; s; s = s->next)
        for (int i = 0; i < s->ntargets; i++)
            most += count_names(s->targets[i]);
    struct finder f = {.c = c, .program = p, .names = numbering_new(c, most)};
    f.scalars = NEW_ARRAY(c, struct scalar, most);
    bar(&f);
    for (const struct stmt *s = p->model; s; s = s->next, k++) {
        if (s->kind == STMT_STOCHASTIC)
            mark_in_relation(&f, s);
        if (s->kind != STMT_FOR && is_bare(s->lhs))
            note_definition(&f, s, k);
        find_uses_in(&f, s, k, s->kind == STMT_FOR ? "for" : "is");
    }
    mark_computed(&f);
    f.many = NEW_ARRAY(c, int, 1);
    f.many[0] = mark_candidates(&f);
    for (int i = 0; i < ROUNDS && f.many[0] >= ALIKE_LEAST; i++)
        compare(&f);
    for (int i = 0; i < f.names.n; i++)
        if (f.scalars[i].candidate && !f.scalars[i].gathered &&
            f.many[f.scalars[i].likeness] >= ALIKE_LEAST)
            gather_alike(&f, i);
    if (p->gathered)
        replace_in(&f, p->model);
}
