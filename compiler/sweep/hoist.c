/* hoist.c: what a density that is evaluated in place (slice, enumeration) needs
 * once per update, taken out of what it needs at each trial value.
 *
 * Per factor, terms free of the target are dropped, as the density is wanted up
 * to a constant; greatest subexpressions free of it become hoisted values; and
 * an expression E that is linear in the target, though it may reach it through
 * sums and uncertain subscripts, becomes E(x0) + E' (x - x0). So a trial value
 * of a regression coefficient costs one multiplication per row, not a matrix
 * product. The hoisted values of all instances are columns, so that
 * the sum over instances is one flat loop without guards or subscripts, which
 * vectorises.
 *
 * Requires planned steps; sets `hoisted` of parts that gain by it. */
#include "sweep/sweep.h"
#include <math.h>
#include <string.h>

struct hoister {
    struct compiler *c;
    struct step *step;
    struct part *part;
    struct hoisted *h;
    struct var *var;
    symp x;                /* the reference that is known to be the target */
    symp guard;            /* the choices around, free of the target; or NULL */
    struct loop *inner[4]; /* of the sums around */
    int ninner;
    bool uncertain; /* inside a choice that depends on the target */
    bool failed;
    int gain; /* operations saved per evaluation */
};

/* Whether the value of e does not depend on the target. Another cell of its
 * variable does not. */
static bool is_free(const struct hoister *k, symp e)
{
    if (e->kind == SYM_TARGET)
        return false;
    if (k->var && e->kind == SYM_REF && e->var != k->var &&
        model_follows(k->step->model, e, k->var))
        return false;
    bool other = false;
    for (int i = 0; i < e->nargs; i++) {
        if (!is_free(k, e->args[i]))
            return false;
        other = other || (e->kind == SYM_REF && e->var == k->var &&
                          sym_is(sym_eq(k->c, e->args[i], k->x->args[i]), 0));
    }
    return e->kind != SYM_REF || e->var != k->var || other;
}

/* Operations, a call or power counted as ten. */
static int cost(symp e)
{
    int n = 0;
    for (int i = 0; i < e->nargs; i++)
        n += cost(e->args[i]);
    switch (e->kind) {
    case SYM_CALL:
    case SYM_POW:
    case SYM_SUM:
        return n + 10;
    case SYM_ADD:
    case SYM_MUL:
    case SYM_SELECT:
        return n + 1;
    default:
        return n;
    }
}

static bool is_costly(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_CALL || e->kind == SYM_POW;
}

/* Whether e differs between the instances of the part. */
static bool varies(const struct part *p, symp e)
{
    for (int i = 0; i < p->nloops; i++)
        if ((!p->solved[i] || p->inverse) && sym_has_loop(e, p->loops[i]))
            return true;
    return false;
}

static bool inside_sums(const struct hoister *k, symp e)
{
    return sym_has_loop_of(e, k->inner, k->ninner);
}

/* As cheap where it stands as a hoisted value would be, or many values. */
static bool stays(const struct hoister *k, symp e)
{
    return inside_sums(k, e) || e->kind == SYM_NUM || e->kind == SYM_EXTENT ||
           (e->kind == SYM_REF && e->nargs == 0) ||
           (e->kind == SYM_LOOP && !k->h->loop);
}

static symp give_up(struct hoister *k)
{
    k->failed = true;
    return sym_num(k->c, 0);
}

/* The parameter that stands for the value of e before the update, and for
 * `elsewhere` in rows where the choices around take something else: these are
 * computed there all the same, several rows at once. */
static symp hoist_or(struct hoister *k, symp e, double elsewhere)
{
    struct hoisted *h = k->h;
    if (stays(k, e))
        return e;
    if (k->uncertain && sym_has_cells(e)) /* it may not exist */
        return give_up(k);
    k->gain += cost(e);
    if (k->guard)
        e = sym_select(k->c, k->guard, e, sym_num(k->c, elsewhere));
    int i = 0;
    while (i < h->n && !sym_same(h->value[i], e))
        i++;
    if (i == h->n) {
        if (h->n == HOISTED_MOST)
            return give_up(k);
        h->value[i] = e;
        h->column[i] = h->loop && varies(k->part, e);
        h->name[i] = intern_format(k->c, "h%d", i + 1);
        h->n++;
    }
    return sym_param(k->c, h->name[i]);
}

static symp hoist_value(struct hoister *k, symp e) { return hoist_or(k, e, 0); }

/* A value of what functions are evaluated at: the logarithm of 1 takes no
 * longer than others, that of 0 is none that vectors of a library have, which
 * then go one by one. */
static symp hoist_argument(struct hoister *k, symp e)
{
    return hoist_or(k, e, 1);
}

/* ---- linear in the target ------------------------------------------------ */

static bool is_linear(const struct hoister *k, symp e)
{
    if (is_free(k, e))
        return true;
    int bound = 0;
    switch (e->kind) {
    case SYM_REF:
        if (e->var != k->var)
            return false;
        for (int i = 0; i < e->nargs; i++)
            if (!is_free(k, e->args[i]))
                return false;
        return true;
    case SYM_ADD:
        for (int i = 0; i < e->nargs; i++)
            if (!is_linear(k, e->args[i]))
                return false;
        return true;
    case SYM_MUL:
        for (int i = 0; i < e->nargs; i++)
            if (!is_free(k, e->args[i])) {
                bound++;
                if (!is_linear(k, e->args[i]))
                    return false;
            }
        return bound == 1;
    case SYM_SUM:
        return is_free(k, e->args[0]) && is_free(k, e->args[1]) &&
               is_linear(k, e->args[2]);
    case SYM_SELECT:
        return is_free(k, e->args[0]) && is_linear(k, e->args[1]) &&
               is_linear(k, e->args[2]);
    default:
        return false;
    }
}

/* The target itself, or a multiple of it. */
static bool is_plain(const struct hoister *k, symp e)
{
    if (sym_same(e, k->x))
        return true;
    if (e->kind != SYM_MUL)
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (!sym_same(e->args[i], k->x) && !is_free(k, e->args[i]))
            return false;
    return true;
}

/* E(x0) + E' (x - x0) */
static symp moved_by(struct hoister *k, symp e)
{
    struct compiler *c = k->c;
    symp slope = sym_derivative(c, e, k->x);
    if (!slope || sym_is(slope, 0) || !is_free(k, slope) || inside_sums(k, e))
        return give_up(k);
    k->h->moved = true;
    symp at = hoist_argument(k, e);
    return sym_add2(
        c, at,
        sym_mul2(c, hoist_value(k, slope), sym_param(c, intern(c, "moved"))));
}

/* ---- rewriting ------------------------------------------------------------
 */

static symp reduce(struct hoister *k, symp e);

static symp reduce_add(struct hoister *k, symp e)
{
    symp rest[64], dependent[64];
    int nrest = 0, ndependent = 0, nplain = 0;
    bool hard = false;
    if (e->nargs > 64)
        return give_up(k);
    for (int i = 0; i < e->nargs; i++) {
        symp a = e->args[i];
        if (is_free(k, a)) {
            rest[nrest++] = a;
        } else {
            hard = hard || (is_linear(k, a) && !is_plain(k, a));
            nplain += is_plain(k, a);
            dependent[ndependent++] = a;
        }
    }
    symp terms[66];
    int n = 0;
    if (hard || nplain > 1) { /* all that is linear moves together */
        symp linear[64];
        int nlinear = 0, kept = 0;
        for (int i = 0; i < nrest; i++)
            linear[nlinear++] = rest[i];
        nrest = 0;
        for (int i = 0; i < ndependent; i++)
            if (is_linear(k, dependent[i]))
                linear[nlinear++] = dependent[i];
            else
                dependent[kept++] = dependent[i];
        ndependent = kept;
        terms[n++] = moved_by(k, sym_add(k->c, nlinear, linear));
    }
    if (nrest)
        terms[n++] = hoist_value(k, sym_add(k->c, nrest, rest));
    for (int i = 0; i < ndependent && !k->failed; i++)
        terms[n++] = reduce(k, dependent[i]);
    return sym_add(k->c, n, terms);
}

/* 0 times what may be infinite is 0: a count of 0 times a log, or times what
 * overflows. */
static symp reduce_mul(struct hoister *k, symp e)
{
    struct compiler *c = k->c;
    symp rest[64], factors[64];
    int nrest = 0, n = 0;
    bool infinite = false, counted = false;
    if (e->nargs > 64)
        return give_up(k);
    for (int i = 0; i < e->nargs; i++)
        if (is_free(k, e->args[i])) {
            counted = counted || model_may_be_no_count(e->args[i]);
            rest[nrest++] = e->args[i];
        }
    for (int i = 0; i < e->nargs && !k->failed; i++)
        if (!is_free(k, e->args[i])) {
            infinite = infinite || sym_may_be_infinite(e->args[i]) ||
                       (counted && sym_may_overflow(e->args[i]));
            factors[n++] = reduce(k, e->args[i]);
        }
    if (!nrest)
        return sym_mul(c, n, factors);
    symp free = sym_mul(c, nrest, rest);
    symp at = hoist_value(k, free);
    symp others = sym_mul(c, n, factors);
    symp product = sym_mul2(c, at, others);
    if (!infinite || at->kind == SYM_NUM || sym_may_be_infinite(others))
        return product;
    return sym_select(c, sym_call(c, "!=", 2, (symp[]){at, sym_num(c, 0)}),
                      product, sym_num(c, 0));
}

/* A reference that may or may not be the target. */
static symp reduce_reference(struct hoister *k, symp e)
{
    struct compiler *c = k->c;
    symp hit = sym_num(c, 1);
    for (int d = 0; d < e->nargs; d++) {
        if (!is_free(k, e->args[d]) || !is_free(k, k->x->args[d]))
            return give_up(k);
        hit = sym_and(c, hit, sym_eq(c, e->args[d], k->x->args[d]));
    }
    if (sym_is(hit, 1))
        return sym_target(c);
    symp at = hoist_argument(k, e);
    if (sym_is(hit, 0))
        return at;
    return sym_select(c, hoist_value(k, hit), sym_target(c), at);
}

static symp reduce_select(struct hoister *k, symp e)
{
    struct compiler *c = k->c;
    symp cond = e->args[0], guard = k->guard, value[2];
    bool uncertain = k->uncertain, known = is_free(k, cond);
    symp reduced = reduce(k, cond);
    for (int b = 0; b < 2 && !k->failed; b++) {
        if (known && !inside_sums(k, cond)) {
            symp here = b ? sym_call(c, "!", 1, &cond) : cond;
            k->guard = guard ? sym_and(c, guard, here) : here;
        } else {
            k->uncertain = true;
        }
        value[b] = reduce(k, e->args[1 + b]);
        k->guard = guard;
        k->uncertain = uncertain;
    }
    return k->failed ? e : sym_select(c, reduced, value[0], value[1]);
}

/* The value of the sum's index at which alone e, its body, reads the target, or
 * NULL: v[l + 2], where the target is v[x], reads it at l = x - 2. */
static symp place_of_target(struct hoister *k, symp e, const struct loop *l,
                            symp place)
{
    if (is_free(k, e))
        return place;
    if (e->kind == SYM_REF && e->var == k->var) {
        for (int d = 0; d < e->nargs; d++) {
            symp offset, x = k->x->args[d];
            if (sym_plain_loop(k->c, e->args[d], &offset) != l ||
                sym_has_loop(x, l) || !is_free(k, x) || !is_free(k, offset))
                continue;
            symp at = sym_sub(k->c, x, offset);
            return !place || sym_same(place, at) ? at : give_up(k);
        }
        return give_up(k);
    }
    for (int i = 0; i < e->nargs && !k->failed; i++)
        place = place_of_target(k, e->args[i], l, place);
    return place;
}

/* A sum of which one term has the target: the others are one value. */
static symp reduce_one_term(struct hoister *k, symp e)
{
    struct compiler *c = k->c;
    symp lower = e->args[0], upper = e->args[1], body = e->args[2];
    if (inside_sums(k, e) || !is_free(k, lower) || !is_free(k, upper))
        return NULL;
    symp at = place_of_target(k, body, e->loop, NULL);
    if (k->failed || !at) {
        k->failed = false;
        return NULL;
    }
    symp here = sym_eq(c, sym_loop(c, e->loop), at), zero = sym_num(c, 0);
    symp others =
        sym_sum(c, e->loop, lower, upper, sym_select(c, here, zero, body));
    symp exists = sym_and(c, sym_call(c, ">=", 2, (symp[]){at, lower}),
                          sym_call(c, "<=", 2, (symp[]){at, upper}));
    symp term = sym_replace_loop(c, body, e->loop, at);
    symp rest = hoist_value(k, others);
    return sym_add2(c, rest, reduce(k, sym_select(c, exists, term, zero)));
}

/* A sum over terms: it stays, but what its terms share does not. */
static symp reduce_sum(struct hoister *k, symp e)
{
    if (is_linear(k, e) && !inside_sums(k, e))
        return moved_by(k, e);
    symp one = reduce_one_term(k, e);
    if (one)
        return one;
    if (k->h->loop || k->ninner == 4 || !is_free(k, e->args[0]) ||
        !is_free(k, e->args[1]))
        return give_up(k);
    k->inner[k->ninner++] = e->loop;
    symp body = reduce(k, e->args[2]);
    k->ninner--;
    return sym_sum(k->c, e->loop, e->args[0], e->args[1], body);
}

/* ---- settled by one condition ---------------------------------------------
 *
 * An expression that the target reaches through one condition alone, as
 * lambda[1 + step(t - x)] and all that is computed of it, has two values, which
 * are free of the target: trial values choose. */

static bool is_condition(symp e)
{
    static const char *const names[] = {"==", "!=", "<",  "<=", ">",
                                        ">=", "&&", "||", "!"};
    for (size_t i = 0; e->kind == SYM_CALL && i < sizeof names / sizeof *names;
         i++)
        if (!strcmp(e->name, names[i]))
            return true;
    return false;
}

/* Whether no part of e reads the target but this condition, or, with none
 * known, the first one found. */
static bool reads_through(const struct hoister *k, symp e, symp *condition)
{
    if (is_free(k, e))
        return true;
    if (is_condition(e)) {
        *condition = *condition ? *condition : e;
        return sym_same(*condition, e);
    }
    bool reads = false;
    for (int i = 0; i < e->nargs; i++) {
        reads = reads || !is_free(k, e->args[i]);
        if (!reads_through(k, e->args[i], condition))
            return false;
    }
    return reads && e->kind != SYM_SUM && e->kind != SYM_ARRAY &&
           !(e->kind == SYM_REF && e->var == k->var);
}

/* Whether subscripts with the condition are whole numbers where this is
 * `value`, as one half of it need not be. */
static bool are_whole(struct compiler *c, symp e, symp condition, symp value)
{
    for (int i = 0; i < e->nargs; i++) {
        symp at = sym_replace(c, e->args[i], condition, value);
        if (!are_whole(c, e->args[i], condition, value) ||
            (e->kind == SYM_REF && !sym_same(at, e->args[i]) &&
             !model_is_whole(at)))
            return false;
    }
    return true;
}

/* Whether the cells that e reads by subscripts with the condition exist where
 * this is `value`. */
static symp cells_exist(struct compiler *c, symp e, symp condition, symp value)
{
    symp all = sym_num(c, 1);
    for (int i = 0; i < e->nargs; i++) {
        symp at = sym_replace(c, e->args[i], condition, value);
        all = sym_and(c, all, cells_exist(c, e->args[i], condition, value));
        if (e->kind != SYM_REF || sym_same(at, e->args[i]))
            continue;
        symp end = sym_extent(c, (struct var *)(uintptr_t)e->var, i);
        all =
            sym_and(c, all, sym_call(c, ">=", 2, (symp[]){at, sym_num(c, 1)}));
        all = sym_and(c, all, sym_call(c, "<=", 2, (symp[]){at, end}));
    }
    return all;
}

/* e by its two values, or NULL: it is no such expression, or costs nothing. */
static symp reduce_settled(struct hoister *k, symp e)
{
    struct compiler *c = k->c;
    symp condition = NULL, value[2];
    if (k->uncertain || inside_sums(k, e) || is_condition(e) ||
        !reads_through(k, e, &condition) || !condition)
        return NULL;
    for (int b = 0; b < 2; b++) {
        symp known = sym_num(c, b);
        if (!are_whole(c, e, condition, known))
            return NULL;
        value[b] = sym_select(c, cells_exist(c, e, condition, known),
                              sym_replace(c, e, condition, known),
                              sym_num(c, (double)NAN));
    }
    if (!sym_any(value[0], is_costly, NULL) &&
        !sym_any(value[1], is_costly, NULL))
        return NULL;
    symp reduced = reduce(k, condition);
    symp one = hoist_value(k, value[1]), other = hoist_value(k, value[0]);
    return k->failed ? e : sym_select(c, reduced, one, other);
}

/* Whether a subscript of e that may be no place in its array is looked at where
 * a trial value is, too: of hoisted values nothing is known. */
static bool keeps_places(symp e, symp reduced)
{
    for (int d = 0; e->kind == SYM_REF && d < e->nargs; d++)
        if (model_subscript_may_miss(e, d) &&
            (!model_subscript_may_miss(reduced, d) ||
             (model_is_whole(reduced->args[d]) && !model_is_whole(e->args[d]))))
            return false;
    return true;
}

static symp reduce(struct hoister *k, symp e)
{
    if (k->failed)
        return e;
    if (sym_any(e, sym_is_draw, NULL))
        return give_up(k);
    if (sym_same(e, k->x))
        return sym_target(k->c);
    if (is_free(k, e)) {
        if (e->kind == SYM_ARRAY)
            return give_up(k);
        return hoist_value(k, e);
    }
    symp settled = reduce_settled(k, e);
    if (settled)
        return settled;
    switch (e->kind) {
    case SYM_ADD:
        return reduce_add(k, e);
    case SYM_MUL:
        return reduce_mul(k, e);
    case SYM_SELECT:
        return reduce_select(k, e);
    case SYM_SUM:
        return reduce_sum(k, e);
    case SYM_REF:
        if (e->var == k->var)
            return reduce_reference(k, e);
        break;
    case SYM_POW:
    case SYM_CALL:
        break;
    default:
        return give_up(k);
    }
    symp *args = NEW_ARRAY(k->c, symp, e->nargs);
    for (int i = 0; i < e->nargs && !k->failed; i++)
        args[i] = reduce(k, e->args[i]);
    if (k->failed)
        return e;
    symp reduced = sym_rebuild(k->c, e, args);
    return keeps_places(e, reduced) ? reduced : give_up(k);
}

/* ---- the log density as a sum of terms ------------------------------------
 */

#define TERMS_MOST 64
struct terms {
    symp at[TERMS_MOST];
    int n;
    bool overflow;
};

static void add_term(struct terms *t, symp e)
{
    if (t->n < TERMS_MOST)
        t->at[t->n++] = e;
    else
        t->overflow = true;
}

/* Sums whose few terms can be written out. */
#define WRITTEN_OUT 8

static bool is_short(symp e)
{
    symp lower = e->args[0], upper = e->args[1];
    return lower->kind == SYM_NUM && upper->kind == SYM_NUM &&
           upper->number - lower->number < WRITTEN_OUT;
}

static symp written_out(struct compiler *c, symp e)
{
    symp terms[WRITTEN_OUT + 1];
    int n = 0;
    for (double i = e->args[0]->number; i <= e->args[1]->number; i++)
        terms[n++] = sym_replace_loop(c, e->args[2], e->loop, sym_num(c, i));
    return sym_add(c, n, terms);
}

static symp write_out_node(struct compiler *c, symp e, void *context)
{
    const struct hoister *k = context;
    if (e->kind != SYM_SUM || is_free(k, e) || !is_short(e) || is_linear(k, e))
        return NULL;
    return sym_map(c, written_out(c, e), write_out_node, context);
}

static void expand(struct hoister *k, symp e, symp factor, struct terms *out);

/* The terms of a sum's terms, each summed. */
static void expand_sum(struct hoister *k, symp e, symp factor,
                       struct terms *out)
{
    struct compiler *c = k->c;
    struct terms inner = {.n = 0};
    expand(k, e->args[2], sym_num(c, 1), &inner);
    out->overflow = out->overflow || inner.overflow;
    for (int i = 0; i < inner.n; i++)
        add_term(out, sym_mul2(c, factor,
                               sym_sum(c, e->loop, e->args[0], e->args[1],
                                       inner.at[i])));
}

/* factor e, the factor being free of the target, as terms. */
static void expand(struct hoister *k, symp e, symp factor, struct terms *out)
{
    struct compiler *c = k->c;
    symp dependent = NULL, rest = factor;
    bool one = true;
    switch (is_free(k, e) ? SYM_NUM : e->kind) {
    case SYM_ADD:
        for (int i = 0; i < e->nargs; i++)
            expand(k, e->args[i], factor, out);
        return;
    case SYM_SUM:
        if (is_free(k, e->args[0]) && is_free(k, e->args[1])) {
            expand_sum(k, e, factor, out);
            return;
        }
        break;
    case SYM_MUL:
        for (int i = 0; i < e->nargs; i++)
            if (is_free(k, e->args[i])) {
                rest = sym_mul2(c, rest, e->args[i]);
            } else {
                one = one && !dependent;
                dependent = e->args[i];
            }
        if (one && dependent) {
            expand(k, dependent, rest, out);
            return;
        }
        break;
    default:
        break;
    }
    add_term(out, sym_mul2(c, factor, e));
}

/* The a of a term coefficient * log(1 + exp(a)), or NULL. */
static symp softplus(struct hoister *k, symp term, symp *coefficient)
{
    symp found = NULL, rest = sym_num(k->c, 1);
    const symp *factors = term->kind == SYM_MUL ? term->args : &term;
    int n = term->kind == SYM_MUL ? term->nargs : 1;
    for (int i = 0; i < n; i++)
        if (!found && factors[i]->kind == SYM_CALL &&
            !strcmp(factors[i]->name, "log1pexp"))
            found = factors[i]->args[0];
        else
            rest = sym_mul2(k->c, rest, factors[i]);
    *coefficient = rest;
    return found && is_free(k, rest) ? found : NULL;
}

/* log(1 + exp(-a)) is log(1 + exp(a)) - a: a Bernoulli density needs one. */
static void merge_softplus(struct hoister *k, struct terms *t)
{
    struct compiler *c = k->c;
    for (int i = 0; i < t->n; i++) {
        symp first, second, a = softplus(k, t->at[i], &first), b;
        for (int j = i + 1; a && j < t->n; j++) {
            b = softplus(k, t->at[j], &second);
            bool same = b && sym_same(a, b);
            if (!same && !(b && sym_same(a, sym_neg(c, b))))
                continue;
            first = sym_add2(c, first, second);
            t->at[i] = sym_mul2(c, first, sym_call(c, "log1pexp", 1, &a));
            t->at[j] =
                same ? sym_num(c, 0) : sym_neg(c, sym_mul2(c, second, a));
        }
    }
}

/* The log density of an instance without what is free of the target. Terms
 * that are linear in it become `slope` of all instances together. */
static symp without_constants(struct hoister *k, symp e)
{
    struct compiler *c = k->c;
    symp kept[2 * TERMS_MOST], linear[TERMS_MOST];
    int n = 0, nlinear = 0;
    struct terms t = {.n = 0};
    expand(k, sym_map(c, e, write_out_node, k), sym_num(c, 1), &t);
    if (t.overflow)
        return e;
    merge_softplus(k, &t);
    condition_merge_cases(c, t.at, t.n, k->var);
    for (int i = 0; i < t.n; i++)
        if (is_free(k, t.at[i]))
            k->gain += cost(t.at[i]);
        else if (is_linear(k, t.at[i]))
            linear[nlinear++] = t.at[i];
        else
            kept[n++] = t.at[i];
    symp slope = NULL;
    if (nlinear)
        slope = sym_derivative(c, sym_add(c, nlinear, linear), k->x);
    if (slope && is_free(k, slope)) {
        k->gain += cost(slope);
        k->h->slope = slope;
    } else {
        for (int i = 0; i < nlinear; i++)
            kept[n++] = linear[i];
    }
    return sym_add(c, n, kept);
}

/* Whether e, of part p of f's step, changes with the index of a sum. */
static bool reads_bound_loop(const struct part *p, const struct family *f,
                             symp e)
{
    if (e->kind == SYM_LOOP)
        return !sym_has_loop_of(e, p->loops, p->nloops) &&
               !sym_has_loop_of(e, f->loops, f->nloops);
    for (int i = 0; i < e->nargs; i++)
        if (reads_bound_loop(p, f, e->args[i]))
            return true;
    return false;
}

static void drop_constants(struct hoister *k, struct part *p)
{
    symp kept[TERMS_MOST];
    int n = 0;
    struct terms t = {.n = 0};
    expand(k, p->logp, sym_num(k->c, 1), &t);
    for (int i = 0; i < t.n; i++)
        if (!is_free(k, t.at[i]))
            kept[n++] = t.at[i];
    if (!t.overflow)
        p->logp = sym_add(k->c, n, kept);
}

/* Whether no cell of the target's variable is read that may be the target. */
static bool is_known(const struct hoister *k, symp e)
{
    if (e->kind == SYM_REF && e->var == k->var && !is_free(k, e))
        return false;
    for (int i = 0; i < e->nargs; i++)
        if (!is_known(k, e->args[i]))
            return false;
    return true;
}

static bool is_of_row(symp e, const void *hoisted)
{
    const struct hoisted *h = hoisted;
    for (int i = 0; e->kind == SYM_PARAM && i < h->n; i++)
        if (e->name == h->name[i])
            return h->column[i];
    return e->kind == SYM_LOOP || e->kind == SYM_REF;
}

/* Of the body's terms those that are the same in every row, as loggam(x), are
 * computed once for all where that saves a function. Rows that stand for
 * several instances are not all of one weight. */
static void take_same(const struct hoister *k)
{
    struct hoisted *h = k->h;
    symp same = sym_num(k->c, 0), own = same, body = h->body;
    if (!h->loop || k->part->copies || body->kind != SYM_ADD)
        return;
    for (int i = 0; i < body->nargs; i++) {
        symp *to = sym_any(body->args[i], is_of_row, h) ? &own : &same;
        *to = sym_add2(k->c, *to, body->args[i]);
    }
    if (!sym_any(same, is_costly, NULL))
        return;
    h->same = same;
    h->body = own;
}

static void hoist_part(struct compiler *c, struct step *s, struct part *p)
{
    struct family *f = s->family;
    symp x = sym_ref(c, f->var, f->var->ndim, f->lower);
    if (s->through) { /* it reads what is recomputed at each trial value */
        struct hoister k = {
            .c = c, .step = s, .part = p, .var = f->var, .x = x};
        drop_constants(&k, p);
        return;
    }
    if (p->lower || p->upper || (p->guard && sym_has_var(p->guard, f->var)))
        return;
    if (!p->own && p->reference && p->reference->kind == SYM_REF &&
        p->reference->var == f->var && !reads_bound_loop(p, f, p->reference))
        x = p->reference; /* every instance hits the target */
    struct hoister k = {.c = c, .step = s, .part = p, .var = f->var, .x = x};
    k.h = NEW(c, struct hoisted);
    for (int i = 0; i < p->nloops && !p->own; i++)
        k.h->loop = k.h->loop || !p->solved[i] || p->inverse;
    symp logp = without_constants(&k, p->logp);
    k.h->body = is_free(&k, logp) ? sym_num(c, 0) : reduce(&k, logp);
    bool slice = !s->sampler->enumerates;
    if (k.failed || !is_known(&k, k.h->body) ||
        sym_any(p->logp, sym_is_draw, NULL))
        return;
    if (k.gain >= 10 || (slice && k.gain >= 2) ||
        (slice && k.h->loop && sym_any(k.h->body, is_costly, NULL))) {
        p->hoisted = k.h;
        take_same(&k);
    }
}

static symp merged(struct hoister *k, symp e)
{
    struct terms t = {.n = 0};
    expand(k, e, sym_num(k->c, 1), &t);
    if (t.overflow)
        return e;
    merge_softplus(k, &t);
    return sym_add(k->c, t.n, t.at);
}

bool sweep_hoist_rows(struct compiler *c, struct step *s, symp *functions,
                      int n, struct hoisted *h)
{
    /* no loops: whatever is hoisted becomes a column below */
    struct part row = {.own = true};
    struct hoister k = {
        .c = c, .step = s, .part = &row, .h = h, .x = sym_target(c)};
    h->loop = true;
    for (int i = 0; i < n && !k.failed; i++)
        functions[i] = reduce(&k, merged(&k, functions[i]));
    for (int i = 0; i < h->n; i++)
        h->column[i] = true;
    return !k.failed;
}

void sweep_hoist(struct compiler *c, struct model *m)
{
    for (struct step *s = m->steps; s; s = s->next) {
        if (!s->opaque || !s->sampler->trials)
            continue;
        for (struct part *p = s->parts; p; p = p->next)
            if (p->opaque && !p->in_full)
                hoist_part(c, s, p);
    }
}

/* ---- --emit=plan ----------------------------------------------------------
 */

void sweep_print_hoisted(struct text *out, struct compiler *c,
                         const struct step *s)
{
    for (const struct part *p = s->parts; p; p = p->next) {
        const struct hoisted *h = p->hoisted;
        if (!h && !p->copies)
            continue;
        text_printf(out, "      %s\n", p->factor->text);
        if (p->copies)
            text_printf(out, "        rows that are the same at once: %s\n",
                        sym_text(c, p->copies));
        if (!h)
            continue;
        text_printf(out, "        at x: %s", sym_text(c, h->body));
        if (h->same)
            text_printf(out, " + the same for all: %s", sym_text(c, h->same));
        if (h->slope)
            text_printf(out, " + moved * (%s)", sym_text(c, h->slope));
        text_append(out, "\n");
        for (int i = 0; i < h->n; i++)
            text_printf(out, "        %s: %s%s\n", h->name[i],
                        sym_text(c, h->value[i]),
                        h->column[i] ? ", a column" : "");
    }
}
