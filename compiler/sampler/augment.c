/* augment.c: applies the library's augmentations. A matched density is
 * replaced by the joint density with a new node, where that closes a full
 * conditional which is not closed without it, and opens none.
 *
 * Requires a resolved model; leaves a model in which replaced factors are
 * marked and auxiliary families added after the ones that they augment.
 *
 * One density at a time; where that closes nothing, together with what other
 * mixtures an open conditional has, as neither the logit nor the t prior of its
 * coefficients closes them alone. What stays open because of a likelihood that
 * no augmentation knows has its prior as a mixture if it is then drawn with
 * others around a normal fit (joint.c). */
#include "sampler/joint.h"
#include <string.h>

/* ---- matching ---------------------------------------------------------------
 */

struct binding {
    const char *name;
    symp value;
};
struct match {
    struct binding bound[16];
    int n;
    const struct family *vector; /* whose arguments have the names that they
                                    have in its distribution; or NULL */
};

static symp lookup(const struct match *m, const char *name)
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
        symp known = lookup(m, pattern->name);
        if (known)
            return sym_same(known, e);
        if (m->n == 16)
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
        return f->nslices == 1 && names_as(f->distribution, node, call);
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

static bool matches(struct compiler *c, const struct entry *a,
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
        symp e = lookup(m, i->value->name);
        if (!e || reads_likelihood(e))
            return false;
    }
    return true;
}

/* ---- applying
 * ------------------------------------------------------------------ */

static symp bind_matched(struct compiler *c, const char *name, int nargs,
                         const symp *args, void *context)
{
    const struct match *m = context;
    symp known = nargs ? NULL : lookup(m, name);
    return known || !m->vector ? known
                               : family_named(c, m->vector, name, nargs, args);
}

/* The new node, its family and its factor; linked into the model. */
static struct factor *apply(struct compiler *c, struct model *m,
                            const struct entry *a, struct factor *g,
                            struct match *match)
{
    const struct clause *add = entry_clause(a, "add");
    const struct expr *support = add->items->value;
    struct family *f = g->family;
    struct var *v = NEW(c, struct var);
    v->name =
        intern_format(c, "%s.%s", family_label(c, f), add->items->label->name);
    v->span = f->span;
    v->role = ROLE_AUXILIARY;
    v->ndim = f->nloops;
    symp subs[8];
    for (int d = 0; d < f->nloops; d++)
        subs[d] = sym_loop(c, f->loops[d]);
    symp node = sym_ref(c, v, v->ndim, subs);
    match->bound[match->n].name = add->items->label->name;
    match->bound[match->n++].value = node;

    struct family *k = NEW(c, struct family);
    k->var = v;
    k->span = f->span;
    k->stochastic = k->auxiliary = true;
    k->loops = f->loops;
    k->nloops = f->nloops;
    for (int d = 0; d < f->nloops; d++)
        k->lower[d] = subs[d];
    k->distribution = k->written_distribution = f->distribution;
    k->text = intern_format(c, "%s of %s", a->name, f->text);
    v->families = k;
    v->augmentation = a;

    struct factor *n = NEW(c, struct factor);
    n->family = k;
    n->loops = g->loops;
    n->nloops = g->nloops;
    n->text = k->text;
    n->logp =
        sym_from_library(c, entry_value(a, "factor"), bind_matched, match);
    if (f->nslices)
        n->logp = model_substitute_derived(c, n->logp);
    n->plain = n->logp;
    n->value = node;
    n->lower = sym_from_library(c, support->args[0], bind_matched, match);
    n->upper = sym_from_library(c, support->args[1], bind_matched, match);
    v->positive =
        n->lower && n->lower->kind == SYM_NUM && n->lower->number >= 0;
    if (n->lower && n->lower->kind == SYM_NUM && n->lower->number < -1e300)
        n->lower = NULL;
    if (n->upper && n->upper->kind == SYM_NUM && n->upper->number > 1e300)
        n->upper = NULL;
    n->seen_var = g->seen_var;
    n->seen_ref = g->seen_ref;
    n->auxiliary = v;
    n->power = g->power;
    k->factor = n;
    if (entry_value(a, "draw"))
        v->draw =
            sym_from_library(c, entry_value(a, "draw"), bind_matched, match);
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
    *last = v;
    m->last_var = &v->next;
    model_name_added_in_c(c, m, v);
    return n;
}

static void undo(struct model *m, struct factor *g, struct factor *n)
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

/* ---- deciding
 * -------------------------------------------------------------------- */

static bool closed(struct compiler *c, struct model *m, struct family *f)
{
    struct step *s = condition_family(c, m, f);
    const struct sampler *k = sampler_for(s);
    return k == &sampler_vector_draw ? vector_closed(c, m, s) : k->closed;
}

/* Latent families whose full conditionals the factor enters. */
static int affected(struct model *m, const struct factor *g,
                    struct family **out, int capacity)
{
    int n = 0;
    for (struct family *f = m->families; f && n < capacity; f = f->next)
        if (f->stochastic && f->factor && !f->var->leaf && !f->data_block &&
            !sampler_asked_otherwise(m, f) &&
            (sym_has_var(g->logp, f->var) || f == g->family))
            out[n++] = f;
    return n;
}

/* Whether every element of f meets one instance of factor g alone. */
static bool meets_once(struct compiler *c, struct model *m, struct family *f,
                       const struct factor *g)
{
    int n = 0;
    for (const struct part *p = condition_family(c, m, f)->parts; p;
         p = p->next) {
        if (p->factor != g || p->own)
            continue;
        n++;
        if (p->inverse)
            return false;
        for (int i = 0; i < p->nloops; i++)
            if (!p->solved[i])
                return false;
    }
    return n == 1;
}

/* A likelihood term for each element of the only family that it closes: a
 * slice evaluates that one term some six times, for less than an added node's
 * draw, and mixes better, as it is exact given the rest. */
static bool better_sliced(struct compiler *c, struct model *m,
                          const struct entry *a, const struct factor *added,
                          struct family *const *gained, int ngained)
{
    return entry_clause(a, "observed") && ngained == 1 && !gained[0]->nslices &&
           meets_once(c, m, gained[0], added);
}

/* Augmentations that are tried together, and the latent families that their
 * densities enter, each with whether it is closed without them. */
#define MAX_TOGETHER 8
struct trial {
    struct {
        struct factor *g, *added;
        const struct entry *a;
    } at[MAX_TOGETHER];
    int n;
    struct family **families, **gained;
    bool *before;
    int nfamilies, ngained;
};

static bool is_in(const struct trial *t, const struct factor *g)
{
    for (int i = 0; i < t->n; i++)
        if (t->at[i].g == g)
            return true;
    return false;
}

static int count_families(const struct model *m)
{
    int n = 0;
    for (const struct family *f = m->families; f; f = f->next)
        n++;
    return n;
}

static struct trial new_trial(struct compiler *c, const struct model *m)
{
    const int most = count_families(m);
    return (struct trial){
        .families = NEW_ARRAY(c, struct family *, most),
        .gained = NEW_ARRAY(c, struct family *, most),
        .before = NEW_ARRAY(c, bool, most),
    };
}

/* Puts a's matched density g into the trial, and what it enters; false if there
 * are too many. */
static bool put(struct compiler *c, struct model *m, struct trial *t,
                const struct entry *a, struct factor *g)
{
    if (t->n == MAX_TOGETHER)
        return false;
    t->at[t->n].g = g;
    t->at[t->n++].a = a;
    const int most = count_families(m);
    struct family **all = NEW_ARRAY(c, struct family *, most);
    const int n = affected(m, g, all, most);
    for (int i = 0; i < n; i++) {
        int k = 0;
        while (k < t->nfamilies && t->families[k] != all[i])
            k++;
        if (k < t->nfamilies)
            continue;
        t->families[k] = all[i];
        t->before[t->nfamilies++] = closed(c, m, all[i]);
    }
    return true;
}

static bool any_open(const struct trial *t)
{
    for (int i = 0; i < t->nfamilies; i++)
        if (!t->before[i])
            return true;
    return false;
}

static void apply_all(struct compiler *c, struct model *m, struct trial *t)
{
    for (int i = 0; i < t->n; i++) {
        struct match match;
        matches(c, t->at[i].a, t->at[i].g, &match);
        t->at[i].added = apply(c, m, t->at[i].a, t->at[i].g, &match);
    }
}

static void undo_all(struct model *m, struct trial *t)
{
    for (int i = t->n - 1; i >= 0; i--)
        undo(m, t->at[i].g, t->at[i].added);
}

/* Whether the trial, which is applied, opens no family; which ones it closes in
 * t->gained. */
static bool opens_none(struct compiler *c, struct model *m, struct trial *t)
{
    t->ngained = 0;
    for (int i = 0; i < t->n; i++)
        if (!closed(c, m, t->at[i].added->family))
            return false;
    for (int i = 0; i < t->nfamilies; i++) {
        const bool after = closed(c, m, t->families[i]);
        if (!after && t->before[i])
            return false;
        if (after && !t->before[i])
            t->gained[t->ngained++] = t->families[i];
    }
    return true;
}

static bool is_gain(struct compiler *c, struct model *m, struct trial *t)
{
    return opens_none(c, m, t) && t->ngained &&
           !better_sliced(c, m, t->at[0].a, t->at[0].added, t->gained,
                          t->ngained);
}

/* Applies the trial if it is a gain of `least` families and more. */
static bool try_all(struct compiler *c, struct model *m, struct trial *t,
                    int least)
{
    apply_all(c, m, t);
    if (is_gain(c, m, t) && t->ngained >= least)
        return true;
    undo_all(m, t);
    return false;
}

static const struct entry *augmentation_of(struct compiler *c, struct factor *g)
{
    const struct entry *const *all;
    const int n = library_all(c, &all);
    struct match match;
    for (int i = 0; i < n; i++)
        if (all[i]->kind == ENTRY_AUGMENTATION && matches(c, all[i], g, &match))
            return all[i];
    return NULL;
}

static bool may_be_replaced(const struct factor *g)
{
    return !g->replaced && !g->auxiliary && !g->family->data_block;
}

/* Puts in the other densities that an open family of the trial enters, of those
 * that are mixtures: a t prior of the coefficients in a logit. Not other links
 * of data: where nothing but links resists, a normal fit to all of them at once
 * is better (curved.c). */
static void put_companions(struct compiler *c, struct model *m, struct trial *t)
{
    const int n = t->nfamilies;
    for (int i = 0; i < n; i++) {
        const struct family *f = t->families[i];
        for (struct factor *g = m->factors; g && !t->before[i]; g = g->next) {
            if (!may_be_replaced(g) || is_in(t, g) ||
                (g->family != f && !sym_has_var(g->logp, f->var)))
                continue;
            const struct entry *a = augmentation_of(c, g);
            if (a && !entry_clause(a, "observed") && !put(c, m, t, a, g))
                return;
        }
    }
}

/* The trial without its i-th. */
static struct trial without(const struct trial *t, int i)
{
    struct trial fewer = *t;
    fewer.n--;
    for (int k = i; k < fewer.n; k++)
        fewer.at[k] = fewer.at[k + 1];
    return fewer;
}

/* Of a trial that is applied, those without which fewer families would be
 * closed; false, and none is applied, if the first is not among them. */
static bool keep_needed(struct compiler *c, struct model *m, struct trial *t)
{
    const int all = t->ngained;
    for (int i = t->n - 1; i >= 0; i--) {
        struct trial fewer = without(t, i);
        undo_all(m, t);
        if (!try_all(c, m, &fewer, all)) {
            try_all(c, m, t, all);
            continue;
        }
        if (i == 0) {
            undo_all(m, &fewer);
            return false;
        }
        *t = fewer;
    }
    return true;
}

static bool try_one(struct compiler *c, struct model *m, const struct entry *a,
                    struct factor *g)
{
    struct match match;
    if (!matches(c, a, g, &match))
        return false;
    struct trial t = new_trial(c, m);
    put(c, m, &t, a, g);
    if (!any_open(&t))
        return false;
    if (try_all(c, m, &t, 1))
        return true;
    put_companions(c, m, &t);
    return t.n > 1 && try_all(c, m, &t, 1) && keep_needed(c, m, &t);
}

/* Whether any density was replaced, which may let another one be: the prior's
 * of a coefficient, once the likelihood has become quadratic in it. */
static bool augment_once(struct compiler *c, struct model *m)
{
    const struct entry *const *all;
    int n = library_all(c, &all);
    bool any = false;
    for (struct factor *g = m->factors; g; g = g->next) {
        if (!may_be_replaced(g))
            continue;
        for (int i = 0; i < n; i++)
            if (all[i]->kind == ENTRY_AUGMENTATION &&
                try_one(c, m, all[i], g)) {
                any = true;
                break;
            }
    }
    return any;
}

/* The prior of f's family as a mixture of normals, where that lets it join a
 * normal fit: what resists in the likelihood then is all that is not normal. */
static bool try_fit(struct compiler *c, struct model *m, struct family *f)
{
    if (!may_be_replaced(f->factor) || f->nslices || f->var->leaf)
        return false;
    const struct entry *a = augmentation_of(c, f->factor);
    if (!a || entry_clause(a, "observed") || closed(c, m, f))
        return false;
    struct trial t = new_trial(c, m);
    put(c, m, &t, a, f->factor);
    apply_all(c, m, &t);
    if (opens_none(c, m, &t) && joint_would_fit(c, m, f))
        return true;
    undo_all(m, &t);
    return false;
}

static bool fit_once(struct compiler *c, struct model *m)
{
    bool any = false;
    for (struct family *f = m->families; f; f = f->next)
        any = (f->stochastic && f->factor && !f->auxiliary &&
               !sampler_asked_otherwise(m, f) && try_fit(c, m, f)) ||
              any;
    return any;
}

void sampler_augment(struct compiler *c, struct model *m)
{
    while (augment_once(c, m))
        ;
    while (fit_once(c, m))
        ;
    /* what the trials asked for is asked for again */
    m->inverses = NULL;
    m->last_inverse = &m->inverses;
    m->ninverses = 0;
    family_number(m);
}
