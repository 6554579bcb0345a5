/* factor.c: the log density of a family as a factor of the joint. */
#include "model/resolve.h"
#include <math.h>
#include <string.h>

enum { MOST_TERMS = 8 }; /* that a sum is written out as */

struct density_context {
    const struct family *f;
    const char *index; /* a name that stands for `at`, or NULL */
    symp at;
};

symp family_lhs(struct compiler *c, const struct family *f, int nargs,
                const symp *args)
{
    symp subs[8];
    int k = 0;
    for (int d = 0; d < f->var->ndim; d++) {
        if (f->upper[d]) {
            symp at = k < nargs ? args[k] : sym_num(c, 1);
            subs[d] = sym_add(c, 3, (symp[]){f->lower[d], at, sym_num(c, -1)});
            k++;
        } else {
            subs[d] = f->lower[d];
        }
    }
    return sym_ref(c, f->var, f->var->ndim, subs);
}

static symp lhs_extent(struct compiler *c, const struct family *f, int slice)
{
    for (int d = 0; d < f->var->ndim; d++)
        if (f->upper[d] && slice-- == 0)
            return sym_length(c, f->lower[d], f->upper[d]);
    return NULL;
}

symp family_extent(struct compiler *c, const struct family *f, int slice)
{
    return lhs_extent(c, f, slice);
}

static symp lhs_array(struct compiler *c, const struct family *f)
{
    struct loop *loops[2];
    symp extents[2], at[2];
    static const char *const names[] = {"k", "l"};
    for (int i = 0; i < f->nslices; i++) {
        extents[i] = lhs_extent(c, f, i);
        loops[i] = model_new_loop(c, names[i], sym_num(c, 1), extents[i]);
        at[i] = sym_loop(c, loops[i]);
    }
    return sym_array(c, f->nslices, loops, extents,
                     family_lhs(c, f, f->nslices, at));
}

static symp bind_density(struct compiler *c, const char *name, int nargs,
                         const symp *args, void *context)
{
    const struct density_context *k = context;
    const struct family *f = k->f;
    const struct entry *d = f->distribution;
    const char *x = d->result ? d->result->name : intern(c, "x");
    if (nargs == 0 && k->index && name == k->index)
        return k->at;
    if (name == x) {
        if (nargs == 0 && d->result)
            return lhs_array(c, f);
        return family_lhs(c, f, nargs, args);
    }
    for (int i = 0; i < d->nparameters; i++) {
        if (d->parameters[i].name != name)
            continue;
        if (nargs == 0)
            return value_as_argument(c, &f->args[i]);
        return value_element(c, &f->args[i], args[0],
                             nargs > 1 ? args[1] : NULL);
    }
    for (int i = 0; d->result && i < d->result->ndims; i++)
        if (d->result->dims[i] == name)
            return lhs_extent(c, f, i);
    return nargs == 0 ? model_named_extent(d, f->args, name) : NULL;
}

symp family_named(struct compiler *c, const struct family *f, const char *name,
                  int nargs, const symp *args)
{
    struct density_context k = {.f = f};
    return bind_density(c, name, nargs, args, &k);
}

/* A clause of the family's distribution at the family's arguments, with x
 * replaced by `at` where given. */
static symp clause_of_family(struct compiler *c, const struct family *f,
                             const struct expr *e)
{
    struct density_context k = {.f = f};
    return sym_from_library(c, e, bind_density, &k);
}

symp family_expression_at(struct compiler *c, const struct family *f,
                          const struct expr *e, const char *index, symp at)
{
    struct density_context k = {f, index, at};
    return sym_from_library(c, e, bind_density, &k);
}

symp family_expression(struct compiler *c, const struct family *f,
                       const struct expr *e)
{
    return clause_of_family(c, f, e);
}

static symp cdf_at(struct compiler *c, const struct family *f, symp at)
{
    symp e = clause_of_family(c, f, entry_value(f->distribution, "cdf"));
    return e ? sym_replace(c, e, family_lhs(c, f, 0, NULL), at) : at;
}

/* log of the distribution function at a place or, if `upper`, of its
 * complement. */
static symp log_tail_at(struct compiler *c, const struct family *f, symp at,
                        bool upper)
{
    const struct expr *stated =
        entry_value(f->distribution, upper ? "log_survival" : "log_cdf");
    symp e = stated ? clause_of_family(c, f, stated) : NULL;
    if (e)
        return sym_replace(c, e, family_lhs(c, f, 0, NULL), at);
    e = cdf_at(c, f, at);
    return sym_log(c, upper ? sym_sub(c, sym_num(c, 1), e) : e);
}

/* Does the library say how likely the family's distribution is between its
 * bounds? If not, that is an error. */
static bool has_truncated_mass(struct compiler *c, const struct family *f)
{
    const struct entry *d = f->distribution;
    if (entry_value(d, "cdf") ||
        (f->trunc_lower && f->trunc_upper ? entry_value(d, "log_mass")
         : f->trunc_lower                 ? entry_value(d, "log_survival")
                                          : entry_value(d, "log_cdf")))
        return true;
    error_at(c, f->span,
             "not supported yet: truncation of %s, whose library entry states "
             "no cdf",
             d->name);
    return false;
}

struct between_context {
    const struct family *f;
    symp lower, upper;
};
static symp bind_between(struct compiler *c, const char *name, int nargs,
                         const symp *args, void *context)
{
    const struct between_context *b = context;
    if (!strcmp(name, "lower"))
        return b->lower;
    if (!strcmp(name, "upper"))
        return b->upper;
    struct density_context k = {.f = b->f};
    return bind_density(c, name, nargs, args, &k);
}

symp family_between(struct compiler *c, const struct family *f,
                    const struct expr *e, symp lower, symp upper)
{
    struct between_context k = {f, lower, upper};
    return sym_from_library(c, e, bind_between, &k);
}

/* Whether it is plain that x is a whole number. */
static bool is_whole(symp x)
{
    if (x->kind == SYM_NUM)
        return x->number == floor(x->number);
    return x->kind == SYM_LOOP || x->kind == SYM_EXTENT ||
           (x->kind == SYM_REF && x->var->integer);
}

/* log of the probability between the bounds: as the library states it, or of
 * the logs of the tails. */
static symp log_truncated_mass(struct compiler *c, const struct family *f,
                               bool integer)
{
    const struct expr *stated = entry_value(f->distribution, "log_mass");
    symp lower = f->trunc_lower, upper = f->trunc_upper;
    if (stated && lower && upper)
        return family_between(c, f, stated, lower, upper);
    if (integer && lower && !is_whole(lower)) /* the first one inside */
        lower = sym_call(c, "ceiling", 1, &lower);
    if (integer && lower)
        lower = sym_sub(c, lower, sym_num(c, 1));
    if (!lower || !upper)
        return log_tail_at(c, f, lower ? lower : upper, lower != NULL);
    return sym_call(c, "log_between", 4,
                    (symp[]){log_tail_at(c, f, lower, false),
                             log_tail_at(c, f, lower, true),
                             log_tail_at(c, f, upper, false),
                             log_tail_at(c, f, upper, true)});
}

symp family_log_mass(struct compiler *c, const struct family *f, symp lower,
                     symp upper)
{
    struct family between = *f;
    if (!entry_value(f->distribution, "log_mass") &&
        !entry_value(f->distribution, "cdf"))
        return NULL;
    between.trunc_lower = lower;
    between.trunc_upper = upper;
    return model_substitute_derived(c, log_truncated_mass(c, &between, false));
}

static symp tighter(struct compiler *c, const char *which, symp a, symp b)
{
    if (!a || !b)
        return a ? a : b;
    if (sym_same(a, b))
        return a;
    return sym_call(c, which, 2, (symp[]){a, b});
}

static bool is_infinite(symp e)
{
    return e->kind == SYM_NUM && (e->number > 1e308 || e->number < -1e308);
}

static symp as_declared(symp e)
{
    symp declared = e->kind == SYM_EXTENT ? e->var->declared[e->dim] : NULL;
    return declared ? declared : e;
}

/* Is `length` that of a vector which the family's distribution says has as
 * many elements as its dimension `name`? */
static bool is_length_of(struct compiler *c, const struct family *f,
                         const char *name, symp length)
{
    const struct entry *d = f->distribution;
    for (int i = 0; i <= d->nparameters; i++) {
        const struct parameter *p =
            i < d->nparameters ? &d->parameters[i] : d->result;
        for (int k = 0; p && k < p->ndims; k++)
            if (p->dims[k] == name &&
                sym_same(length,
                         as_declared(i < d->nparameters ? f->args[i].extents[k]
                                                        : lhs_extent(c, f, k))))
                return true;
    }
    return false;
}

/* Are two lengths the same, as declared or as the family's distribution needs
 * them (checked at load)? */
static bool same_length(struct compiler *c, const struct family *f, symp a,
                        symp b)
{
    const struct entry *d = f->distribution;
    a = as_declared(a);
    b = as_declared(b);
    if (sym_same(a, b))
        return true;
    for (int i = 0; i < d->nparameters; i++)
        for (int k = 0; k < d->parameters[i].ndims; k++) {
            const char *name = d->parameters[i].dims[k];
            if (is_length_of(c, f, name, a) && is_length_of(c, f, name, b))
                return true;
        }
    return false;
}

/* The sum of a whole node on the simplex is 1, as is that of probabilities that
 * are differences of others. `context`: the family whose density it stands in.
 */
static symp simplex_node(struct compiler *c, symp e, void *context)
{
    if (e->kind == SYM_SUM && e->args[2]->kind == SYM_SELECT)
        return model_constant_sum(c, e);
    if (e->kind != SYM_SUM || e->args[2]->kind != SYM_REF)
        return NULL;
    symp ref = e->args[2];
    struct var *v = ref->var;
    if (v->role != ROLE_STOCHASTIC || !v->families ||
        v->families->next_of_var || !v->families->stochastic)
        return NULL;
    const struct family *f = v->families, *in = context;
    const struct expr *support = entry_value(f->distribution, "support");
    if (f->nslices != 1 || !support || strcmp(support->name, "simplex") != 0)
        return NULL;
    for (int d = 0; d < ref->nargs; d++) {
        bool slice = f->upper[d] != NULL;
        bool bound = sym_has_loop(ref->args[d], e->loop);
        if (slice != bound || (bound && ref->args[d]->kind != SYM_LOOP))
            return NULL;
        if (slice && (!sym_same(e->args[0], f->lower[d]) ||
                      !(same_length(c, in, e->args[1], sym_extent(c, v, d)) ||
                        same_length(c, in, e->args[1], f->upper[d]))))
            return NULL;
    }
    return sym_num(c, 1);
}

/* Whether e asks which row of a sum along `loop` it is. */
static bool asks_for_row(symp e, const void *loop)
{
    return e->kind == SYM_CALL && e->nargs == 2 && !strcmp(e->name, "==") &&
           e->args[0]->kind == SYM_LOOP && e->args[0]->loop == loop &&
           e->args[1]->kind == SYM_NUM;
}

static bool is_sum(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_SUM;
}

/* How far v, which e reads along `loop`, goes there by its statements; 0: it is
 * not told, or not read. */
static double last_along(struct compiler *c, symp e, const struct var *v,
                         const struct loop *loop)
{
    double last = 0;
    for (int i = 0; i < e->nargs && !(last > 0); i++) {
        const bool along = e->kind == SYM_REF && e->var == v &&
                           e->args[i]->kind == SYM_LOOP &&
                           e->args[i]->loop == loop;
        last = along ? model_last_stated(c, v, i)
                     : last_along(c, e->args[i], v, loop);
    }
    return last;
}

/* What f's node is regressed on of itself, as inprod(F[1,], s[,t-1]) of s[2,t]
 * <- s[1,t-1], F being computed: as its terms, if a row is another thing than
 * the rest. F has no more then, which is declared, as data may say else. */
static symp term_by_term(struct compiler *c, symp e, void *family)
{
    const struct family *f = family;
    symp end = e->kind == SYM_SUM ? e->args[1] : NULL, total = sym_num(c, 0);
    if (!end || end->kind != SYM_EXTENT || end->var->role == ROLE_GIVEN ||
        end->var->role == ROLE_STOCHASTIC || !sym_is(e->args[0], 1) ||
        sym_any(e->args[2], is_sum, NULL) ||
        !sym_any(e->args[2], asks_for_row, e->loop))
        return NULL;
    const double last = model_last_stated(c, end->var, end->dim);
    const double own = last_along(c, e->args[2], f->var, e->loop);
    if (last < 1 || last > MOST_TERMS || own < last || own > last)
        return NULL;
    for (double i = 1; i <= last; i++)
        total = sym_add2(
            c, total, sym_replace_loop(c, e->args[2], e->loop, sym_num(c, i)));
    end->var->declared[end->dim] = sym_num(c, last);
    return total;
}

static symp simplex_sums(struct compiler *c, struct family *f, symp e)
{
    return sym_map(c, e, simplex_node, f);
}

struct factor *family_factor(struct compiler *c, struct model *m,
                             struct family *f)
{
    const struct entry *d = f->distribution;
    const struct expr *density = entry_value(d, "logdensity");
    const struct expr *support = entry_value(d, "support");
    if (!density) {
        error_at(c, f->span, "%s states no logdensity", d->name);
        return NULL;
    }
    struct factor *factor = NEW(c, struct factor);
    factor->family = f;
    factor->loops = f->loops;
    factor->nloops = f->nloops;
    factor->text = f->text;
    symp logp = clause_of_family(c, f, density);
    if (!logp)
        return NULL;
    factor->opaque = entry_clause(d, "observable") != NULL;
    factor->value = family_lhs(c, f, 0, NULL);
    bool real = support && !strcmp(support->name, "real");
    factor->integer = support && !strcmp(support->name, "integer");
    if ((real || factor->integer) && support->nargs == 2) {
        symp lower = clause_of_family(c, f, support->args[0]);
        symp upper = clause_of_family(c, f, support->args[1]);
        factor->lower = lower && !is_infinite(lower) ? lower : NULL;
        factor->upper = upper && !is_infinite(upper) ? upper : NULL;
    }
    if (f->truncated) {
        if (!f->censored && has_truncated_mass(c, f))
            logp = sym_sub(c, logp, log_truncated_mass(c, f, factor->integer));
        factor->lower = tighter(c, "max", factor->lower, f->trunc_lower);
        factor->upper = tighter(c, "min", factor->upper, f->trunc_upper);
    }
    logp = simplex_sums(c, f, model_substitute_derived(c, logp));
    if (!f->nslices && !factor->integer)
        logp = sym_map(c, logp, term_by_term, f);
    factor->logp = sym_join_rising(c, logp, f->var);
    factor->plain = factor->logp;
    if (factor->lower)
        factor->lower = model_substitute_derived(c, factor->lower);
    if (factor->upper)
        factor->upper = model_substitute_derived(c, factor->upper);
    factor->number = m->nfactors++;
    *m->last_factor = factor;
    m->last_factor = &factor->next;
    f->factor = factor;
    return factor;
}

int model_factor_expressions(const struct factor *g,
                             symp all[FACTOR_EXPRESSIONS])
{
    const symp each[FACTOR_EXPRESSIONS] = {g->logp,  g->value, g->lower,
                                           g->upper, g->rule,  g->guard};
    int n = 0;
    for (int i = 0; i < FACTOR_EXPRESSIONS; i++)
        if (each[i])
            all[n++] = each[i];
    return n;
}
