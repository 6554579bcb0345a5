/* held_sum.c: the sums in which effects stand beside other nodes, and whether
 * all that reads either reads such sums, so that a move of both that keeps
 * these keeps the rest (translation.c). */
#include "sampler/translation.h"

/* ---- the sum ---------------------------------------------------------------
 */

/* The effect in a term that is one times a coefficient; or NULL. */
static symp effect_in(const struct sum *k, symp term, symp *coefficient)
{
    const struct var *v = k->effects->var;
    *coefficient = sym_num(k->c, 1);
    if (term->kind == SYM_REF && term->var == v)
        return term;
    for (int i = 0; term->kind == SYM_MUL && i < term->nargs; i++) {
        symp e = term->args[i];
        if (e->kind != SYM_REF || e->var != v)
            continue;
        *coefficient = sym_cofactor(k->c, term, i);
        return sym_has_var(*coefficient, v) ? NULL : e;
    }
    return NULL;
}

/* The first term of a sum that has one; -1: none has. */
static int place_of_effect(const struct sum *k, symp sum)
{
    symp coefficient;
    for (int i = 0; sum->kind == SYM_ADD && i < sum->nargs; i++)
        if (effect_in(k, sum->args[i], &coefficient))
            return i;
    return -1;
}

static symp effect_of(const struct sum *k, symp sum, symp *coefficient)
{
    const int at = place_of_effect(k, sum);
    return at < 0 ? NULL : effect_in(k, sum->args[at], coefficient);
}

static symp find_sum(const struct sum *k, symp e)
{
    symp coefficient;
    if (!sym_has_var(e, k->effects->var))
        return NULL;
    symp found = effect_of(k, e, &coefficient) ? e : NULL;
    for (int i = 0; i < e->nargs && !found; i++)
        found = find_sum(k, e->args[i]);
    return found;
}

/* e, which stands where the effect's subscripts are `from`, where they are
 * `to`; NULL if it reads more of the n loops there than the subscripts tell. */
static symp at_effect(struct compiler *c, symp e, int ndim, symp const *from,
                      symp const *to, struct loop *const *loops, int n)
{
    struct loop *between[MAX_DIMS];
    for (int d = 0; d < ndim; d++) {
        between[d] = NEW(c, struct loop);
        between[d]->name = "at";
        if (from[d]->kind == SYM_NUM)
            return NULL;
        e = from[d]->kind == SYM_LOOP
                ? sym_replace_loop(c, e, from[d]->loop, sym_loop(c, between[d]))
                : sym_replace(c, e, from[d], sym_loop(c, between[d]));
    }
    if (sym_has_loop_of(e, loops, n))
        return NULL;
    for (int d = 0; d < ndim; d++)
        e = sym_replace_loop(c, e, between[d], to[d]);
    return e;
}

/* Takes the terms of a sum that stands in these loops. */
static void take_terms(struct sum *k, symp sum, struct loop *const *loops,
                       int nloops)
{
    const struct family *f = k->effects;
    symp coefficient, effect = effect_of(k, sum, &coefficient);
    k->n = 0;
    for (int i = 0; i < sum->nargs; i++) {
        if (sym_has_var(sum->args[i], f->var))
            continue;
        symp term =
            at_effect(k->c, sym_div(k->c, sum->args[i], coefficient),
                      f->var->ndim, effect->args, f->lower, loops, nloops);
        if (term && sym_reads_latent(term) &&
            k->n < (int)(sizeof k->terms / sizeof *k->terms))
            k->terms[k->n++] = term;
    }
}

/* From the first sum in a density or a kept node that has any. */
bool sampler_find_terms(struct sum *k)
{
    k->n = 0;
    for (const struct factor *g = k->m->factors; g && !k->n; g = g->next) {
        symp sum = g->replaced || g == k->effects->factor
                       ? NULL
                       : find_sum(k, g->logp);
        if (sum)
            take_terms(k, sum, g->loops, g->nloops);
    }
    for (const struct family *f = k->m->families; f && !k->n; f = f->next) {
        symp sum = sampler_is_kept(f)
                       ? find_sum(k, model_substitute_derived(k->c, f->body))
                       : NULL;
        if (sum)
            take_terms(k, sum, f->loops, f->nloops);
    }
    return k->n > 0;
}

/* ---- what reads sums alone -------------------------------------------------
 */

bool sampler_sum_moves(const struct sum *k, symp e)
{
    bool found = false;
    for (int i = 0; i < k->moved.n; i++)
        found = found || sym_has_var(e, k->moved.items[i]);
    return found;
}

/* The place of a term of the sum that is alike; -1: there is none. */
static int place_of(symp term, symp sum, const bool *taken)
{
    for (int i = 0; i < sum->nargs; i++)
        if (!taken[i] && model_alike(term, sum->args[i]))
            return i;
    return -1;
}

enum { MOST_TERMS = 64 };

/* A sum with an effect and all that moves against it is one symbol. */
static symp held(struct compiler *c, symp e, void *context)
{
    const struct sum *k = context;
    const struct family *f = k->effects;
    symp coefficient, effect = effect_of(k, e, &coefficient);
    bool taken[MOST_TERMS] = {false};
    if (!effect || e->nargs > MOST_TERMS)
        return NULL;
    taken[place_of_effect(k, e)] = true;
    for (int i = 0; i < k->n; i++) {
        if (!sampler_sum_moves(k, k->terms[i]))
            continue;
        symp term = at_effect(c, k->terms[i], f->var->ndim, f->lower,
                              effect->args, NULL, 0);
        int at = term ? place_of(sym_mul2(c, coefficient, term), e, taken) : -1;
        if (at < 0)
            return NULL;
        taken[at] = true;
    }
    symp rest = sym_mul2(c, coefficient, sym_param(c, intern(c, "held")));
    for (int i = 0; i < e->nargs; i++)
        if (!taken[i])
            rest = sym_add2(c, rest, e->args[i]);
    return rest;
}

bool sampler_sum_mentions(const struct sum *k, symp e)
{
    return sym_has_var(e, k->effects->var) || sampler_sum_moves(k, e);
}

static bool stays(const struct sum *k, symp e)
{
    struct sum context = *k;
    return !e || !sampler_sum_mentions(k, e) ||
           !sampler_sum_mentions(k, sym_map(k->c, e, held, &context));
}

static bool factor_stays(const struct sum *k, const struct factor *g)
{
    for (int i = 0; g->opaque && i < g->family->nargs; i++)
        if (!stays(k, model_substitute_derived(k->c, g->family->args[i].body)))
            return false;
    symp all[FACTOR_EXPRESSIONS];
    const int n = model_factor_expressions(g, all);
    for (int i = 0; i < n; i++)
        if (!stays(k, all[i]))
            return false;
    return true;
}

static bool is_own(const struct sum *k, const struct factor *g)
{
    return g == k->effects->factor ||
           condition_has_variable(&k->moved, g->family->var);
}

static bool follows(symp e, const void *context)
{
    const struct sum *k = context;
    bool found = model_follows(k->m, e, k->effects->var);
    for (int i = 0; i < k->moved.n; i++)
        found = found || model_follows(k->m, e, k->moved.items[i]);
    return found;
}

/* Of what moves, a prior reads its own node alone. */
static bool is_apart(const struct sum *k, const struct factor *g)
{
    const struct var *own = g->family->var;
    bool apart = !sym_any(g->logp, follows, k);
    for (int i = 0; i < k->moved.n; i++)
        apart = apart && (k->moved.items[i] == own ||
                          !sampler_factor_reads(g, k->moved.items[i]));
    return apart && (k->effects->var == own ||
                     !sampler_factor_reads(g, k->effects->var));
}

bool sampler_only_sums(const struct sum *k)
{
    for (const struct factor *g = k->m->factors; g; g = g->next)
        if (!g->replaced &&
            !(is_own(k, g) ? is_apart(k, g) : factor_stays(k, g)))
            return false;
    for (const struct family *f = k->m->families; f; f = f->next)
        if (sampler_is_kept(f) &&
            !stays(k, model_substitute_derived(k->c, f->body)))
            return false;
    return true;
}

symp sampler_in_element(struct compiler *c, const struct step *s, int member,
                        symp e)
{
    const struct translation *t = s->own;
    const struct family *f = s->block.members[member].family;
    int free = 0;
    for (int i = 0; i < f->nloops; i++) {
        symp by = NULL;
        for (int j = 0; j < t->ntied; j++)
            if (t->added[member].tied[j] == f->loops[i])
                by = sym_loop(c, t->tied[j]);
        if (!by)
            by = sym_loop(c, s->block.members[member].index.loops[free++]);
        e = sym_replace_loop(c, e, f->loops[i], by);
    }
    return e;
}
