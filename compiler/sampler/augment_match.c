/* augment_match.c: whether a density is of the form that an augmentation of the
 * library is for, and what the augmentation's names then stand for. */
#include "sampler/augment.h"
#include <string.h>

symp augment_bound(const struct match *m, const char *name)
{
    for (int i = 0; i < m->n; i++)
        if (m->bound[i].name == name)
            return m->bound[i].value;
    return NULL;
}

static bool unify(struct compiler *c, symp pattern, symp e, struct match *m);

/* Operands of a sum or product in any order. */
static bool unify_any_order(struct compiler *c, symp pattern, symp e, int from,
                            bool *taken, struct match *m)
{
    if (from == pattern->nargs)
        return true;
    for (int i = 0; i < e->nargs; i++) {
        struct match before = *m;
        if (taken[i] || !unify(c, pattern->args[from], e->args[i], m)) {
            *m = before;
            continue;
        }
        taken[i] = true;
        if (unify_any_order(c, pattern, e, from + 1, taken, m))
            return true;
        taken[i] = false;
        *m = before;
    }
    return false;
}

static bool unify(struct compiler *c, symp pattern, symp e, struct match *m)
{
    if (pattern->kind == SYM_PARAM) {
        symp known = augment_bound(m, pattern->name);
        if (known)
            return sym_same(known, e);
        if (m->n == MAX_BOUND)
            return false;
        m->bound[m->n].name = pattern->name;
        m->bound[m->n++].value = e;
        return true;
    }
    if (pattern->kind != e->kind || pattern->nargs != e->nargs ||
        pattern->name != e->name || pattern->number != e->number)
        return false;
    if (e->kind == SYM_ADD || e->kind == SYM_MUL) {
        bool *taken = NEW_ARRAY(c, bool, e->nargs);
        return unify_any_order(c, pattern, e, 0, taken, m);
    }
    for (int i = 0; i < e->nargs; i++)
        if (!unify(c, pattern->args[i], e->args[i], m))
            return false;
    return e->kind != SYM_REF && e->kind != SYM_SUM && e->kind != SYM_ARRAY;
}

static symp bind_pattern(struct compiler *c, const char *name, int nargs,
                         const symp *args, void *context)
{
    (void)args;
    (void)context;
    return nargs ? NULL : sym_param(c, name);
}

/* Leaves do not count: what is known of them does not change. */
static bool is_no_leaf(symp e, const void *unused)
{
    return sym_is_latent(e, unused) &&
           !(e->var->role == ROLE_STOCHASTIC && e->var->leaf);
}

static bool reads_likelihood(symp e) { return sym_any(e, is_no_leaf, NULL); }

/* A vector node's arguments are arrays: no patterns, but names, and those of
 * the distribution. */
static bool names_as(const struct entry *d, const struct expr *node,
                     const struct expr *call)
{
    bool same = node->name == d->result->name;
    for (int i = 0; i < call->nargs && same; i++)
        same = call->args[i]->kind == EXPR_NAME &&
               call->args[i]->name == d->parameters[i].name;
    return same;
}

static bool match_arguments(struct compiler *c, const struct expr *node,
                            const struct expr *call, const struct factor *g,
                            struct match *m)
{
    const struct family *f = g->family;
    if (f->nslices) {
        m->vector = f;
        return names_as(f->distribution, node, call);
    }
    m->bound[m->n].name = node->name;
    m->bound[m->n++].value = g->value;
    for (int i = 0; i < f->nargs; i++) {
        symp p = sym_from_library(c, call->args[i], bind_pattern, NULL);
        if (f->args[i].ndim || !p ||
            !unify(c, p,
                   sym_join_complement(
                       c, model_substitute_derived(c, f->args[i].body)),
                   m))
            return false;
    }
    return true;
}

static symp bind_found(struct compiler *c, const char *name, int nargs,
                       const symp *args, void *context)
{
    (void)c;
    (void)args;
    return nargs ? NULL : augment_bound(context, name);
}

/* Whether a > b is seen to hold in any state. */
static bool surely_greater(struct compiler *c, symp rule)
{
    return rule && (sym_is(rule, 1) ||
                    (rule->kind == SYM_CALL && !strcmp(rule->name, ">") &&
                     sym_positive(sym_sub(c, rule->args[0], rule->args[1]))));
}

/* What the augmentation requires. Where the density that it stands for is one
 * without, too, as of a mean that an indicator makes 0, the added node would be
 * a point there: it would hold the indicator, and that it, for ever. */
static bool meets_requirements(struct compiler *c, const struct entry *a,
                               struct match *m)
{
    const struct clause *require = entry_clause(a, "require");
    for (const struct clause_item *i = require ? require->items : NULL; i;
         i = i->next)
        if (!surely_greater(c, sym_from_library(c, i->value, bind_found, m)))
            return false;
    return true;
}

bool augment_matches(struct compiler *c, const struct entry *a,
                     const struct factor *g, struct match *m)
{
    const struct expr *pattern = entry_value(a, "match");
    const struct family *f = g->family;
    *m = (struct match){.n = 0};
    if (!pattern || pattern->nargs != 2 || f->truncated)
        return false;
    const struct expr *node = pattern->args[0], *call = pattern->args[1];
    const struct entry *d = library_meant(c, a, ENTRY_DISTRIBUTION, call->name);
    if (d != f->distribution || call->nargs != f->nargs ||
        !match_arguments(c, node, call, g, m))
        return false;
    /* how it looks to a power, it must say */
    const struct expr *raised = entry_value(a, "raised");
    if (raised) {
        m->bound[m->n].name = raised->name;
        m->bound[m->n++].value = g->power ? g->power : sym_num(c, 1);
    } else if (g->power) {
        return false;
    }
    const struct clause *observed = entry_clause(a, "observed");
    for (const struct clause_item *i = observed ? observed->items : NULL; i;
         i = i->next) {
        symp e = augment_bound(m, i->value->name);
        if (!e || reads_likelihood(e))
            return false;
    }
    return meets_requirements(c, a, m);
}

const struct entry *augment_entry(struct compiler *c, const struct factor *g)
{
    const struct entry *const *all;
    const int n = library_all(c, &all);
    struct match match;
    for (int i = 0; i < n; i++)
        if (all[i]->kind == ENTRY_AUGMENTATION &&
            augment_matches(c, all[i], g, &match))
            return all[i];
    return NULL;
}
