/* rules.c: what distributions require of their parameters, where these depend
 * on latent nodes. A state whose parameters break a rule has density zero, as
 * in JAGS, though the formula may give a number there: the gamma function of a
 * negative shape, log(1 - p) at a negative probability. A rule that holds
 * whatever the state, seen from the supports of the nodes, costs nothing. */
#include "model/resolve.h"

#include <math.h>
#include <string.h>

struct ends {
    double low, high;
};
static const struct ends anything = {-INFINITY, INFINITY};

static struct ends both(struct ends a, struct ends b)
{
    return (struct ends){fmin(a.low, b.low), fmax(a.high, b.high)};
}

/* The product of two ends; 0 times infinity is a limit of finite ones. */
static double times(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

static struct ends product(struct ends a, struct ends b)
{
    const double p[4] = {times(a.low, b.low), times(a.low, b.high),
                         times(a.high, b.low), times(a.high, b.high)};
    return (struct ends){fmin(fmin(p[0], p[1]), fmin(p[2], p[3])),
                         fmax(fmax(p[0], p[1]), fmax(p[2], p[3]))};
}

/* Variables whose definitions are being followed, innermost first. */
struct followed {
    const struct var *var; /* NULL: none is; the outermost */
    struct ends supposed;  /* of its elements */
    const struct followed *outer;
    bool computed; /* ends that rounding may not pass: of each operation on its
                      own, from those of its arguments */
};

static struct ends ends_of(symp e, const struct followed *in);

/* Whether latent nodes are read, other than to choose among data. */
static bool takes_latent(symp e)
{
    if (e->kind == SYM_REF)
        return e->var->role != ROLE_GIVEN && e->var->role != ROLE_CONSTANT;
    for (int i = 0; i < e->nargs; i++)
        if (takes_latent(e->args[i]))
            return true;
    return false;
}

static struct ends ends_of_power(struct ends b, symp exponent, struct ends k,
                                 const struct followed *in)
{
    bool number = exponent->kind == SYM_NUM;
    if (number && fmod(exponent->number, 2) == 0)
        return (struct ends){0, INFINITY};
    if (b.low < 0)
        return anything;
    if (b.high <= 1 && !number && !takes_latent(exponent) &&
        !(in && in->computed))
        return (struct ends){0, 1}; /* a number of trials */
    if (number && k.low > 0)
        return (struct ends){pow(b.low, k.low), pow(b.high, k.low)};
    if (number)
        return (struct ends){pow(b.high, k.low), pow(b.low, k.low)};
    return (struct ends){0, b.high <= 1 && k.low >= 0 ? 1 : INFINITY};
}

/* An end of the support as the library states it: a number or a parameter. */
static struct ends stated_end(const struct family *f, const struct expr *e,
                              const struct followed *in)
{
    if (e->kind == EXPR_NUM)
        return (struct ends){e->number, e->number};
    for (int i = 0; i < f->nargs && e->kind == EXPR_NAME; i++)
        if (f->distribution->parameters[i].name == e->name && !f->args[i].ndim)
            return ends_of(f->args[i].body, in);
    return anything;
}

/* The same where no factor has been made yet. */
static struct ends stated_ends(const struct family *f,
                               const struct expr *support,
                               const struct followed *in)
{
    struct ends r = anything;
    if (support->nargs == 2) {
        r.low = stated_end(f, support->args[0], in).low;
        r.high = stated_end(f, support->args[1], in).high;
    }
    if (f->trunc_lower)
        r.low = fmax(r.low, ends_of(f->trunc_lower, in).low);
    if (f->trunc_upper)
        r.high = fmin(r.high, ends_of(f->trunc_upper, in).high);
    return r;
}

static struct ends ends_of_family(const struct family *f,
                                  const struct followed *in)
{
    if (!f->stochastic)
        return f->body ? ends_of(f->body, in) : anything;
    const struct expr *support = entry_value(f->distribution, "support");
    if (!support)
        return anything;
    if (!strcmp(support->name, "simplex"))
        return (struct ends){0, 1};
    if (!strcmp(support->name, "counts"))
        return (struct ends){0, INFINITY};
    const struct factor *g = f->factor;
    if (!g)
        return stated_ends(f, support, in);
    return (struct ends){g->lower ? ends_of(g->lower, in).low : -INFINITY,
                         g->upper ? ends_of(g->upper, in).high : INFINITY};
}

/* Elements may be defined by others of their own array: by induction, all are
 * in [0, 1], or not negative, if that follows from it for each of them. */
static struct ends ends_of_variable(const struct var *v,
                                    const struct followed *in)
{
    static const struct ends supposed[] = {{0, 1}, {0, INFINITY}};
    if (v->role == ROLE_GIVEN || !v->families)
        return anything;
    for (const struct followed *k = in; k; k = k->outer)
        if (k->var == v)
            return k->supposed;
    for (int i = 0; i < 2; i++) {
        const struct followed here = {v, supposed[i], in,
                                      in ? in->computed : false};
        struct ends e = {INFINITY, -INFINITY};
        for (const struct family *f = v->families; f; f = f->next_of_var)
            e = both(e, ends_of_family(f, &here));
        if (v->positive)
            e.low = fmax(e.low, 0);
        if (e.low >= supposed[i].low && e.high <= supposed[i].high)
            return e;
    }
    return anything;
}

static bool named(symp e, const char *name) { return !strcmp(e->name, name); }

static struct ends ends_of_call(symp e, const struct followed *in)
{
    static const char *const truths[] = {
        "<", "<=", ">", ">=", "==", "!=", "&&", "||", "!"};
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
        if (named(e, truths[i]))
            return (struct ends){0, 1};
    if (named(e, "max") || named(e, "min")) {
        struct ends r = {INFINITY, INFINITY};
        if (named(e, "max"))
            r = (struct ends){-INFINITY, -INFINITY};
        for (int i = 0; i < e->nargs; i++) {
            struct ends a = ends_of(e->args[i], in);
            r = named(e, "max")
                    ? (struct ends){fmax(r.low, a.low), fmax(r.high, a.high)}
                    : (struct ends){fmin(r.low, a.low), fmin(r.high, a.high)};
        }
        return r;
    }
    if (named(e, "exp") && e->nargs == 1) {
        struct ends a = ends_of(e->args[0], in);
        return (struct ends){exp(a.low), exp(a.high)};
    }
    if (named(e, "prod") && e->nargs == 1) {
        struct ends a = ends_of(e->args[0], in);
        return a.low < 0 ? anything
                         : (struct ends){0, a.high <= 1 ? 1 : INFINITY};
    }
    const struct clause *range =
        e->entry ? entry_clause(e->entry, "range") : NULL;
    const struct clause_item *low = range ? range->items : NULL;
    if (!low || !low->next)
        return anything;
    const struct expr *a = low->value, *b = low->next->value;
    return (struct ends){a->kind == EXPR_NUM ? a->number : -INFINITY,
                         b->kind == EXPR_NUM ? b->number : INFINITY};
}

/* ---- sums and products ------------------------------------------------- */

/* A polynomial of atoms that each term has at most once: its ends are among
 * its values at the corners of their box, as of g + (1 - g) p. */
#define MAX_ATOMS 8
struct atoms {
    symp atom[MAX_ATOMS];
    struct ends ends[MAX_ATOMS];
    double at[MAX_ATOMS];
    int n;
};

static bool polynomial(const symp e)
{
    return e->kind == SYM_ADD || e->kind == SYM_MUL;
}

/* Which atoms e has, as bits; 0 with *ok false if it is no such polynomial. */
static unsigned find_atoms(symp e, struct atoms *a, const struct followed *in,
                           bool *ok)
{
    if (e->kind == SYM_NUM || !*ok)
        return 0;
    unsigned all = 0;
    for (int i = 0; polynomial(e) && i < e->nargs; i++) {
        unsigned its = find_atoms(e->args[i], a, in, ok);
        if (e->kind == SYM_MUL && (its & all))
            *ok = false;
        all |= its;
    }
    if (polynomial(e))
        return all;
    for (int i = 0; i < a->n; i++)
        if (sym_same(a->atom[i], e))
            return 1U << i;
    struct ends r = a->n < MAX_ATOMS ? ends_of(e, in) : anything;
    if (isinf(r.low) || isinf(r.high)) {
        *ok = false;
        return 0;
    }
    a->atom[a->n] = e;
    a->ends[a->n] = r;
    return 1U << a->n++;
}

static double value_at(symp e, const struct atoms *a)
{
    if (e->kind == SYM_NUM)
        return e->number;
    double v = e->kind == SYM_MUL ? 1 : 0;
    for (int i = 0; polynomial(e) && i < e->nargs; i++) {
        double x = value_at(e->args[i], a);
        v = e->kind == SYM_MUL ? v * x : v + x;
    }
    for (int i = 0; !polynomial(e) && i < a->n; i++)
        if (sym_same(a->atom[i], e))
            return a->at[i];
    return v;
}

static struct ends ends_of_sum(symp e, const struct followed *in)
{
    struct ends r = {0, 0};
    for (int i = 0; i < e->nargs; i++) {
        struct ends a = ends_of(e->args[i], in);
        r = (struct ends){r.low + a.low, r.high + a.high};
    }
    struct atoms a = {.n = 0};
    bool ok = !in || !in->computed;
    find_atoms(e, &a, in, &ok);
    if (!ok)
        return r;
    struct ends corners = {INFINITY, -INFINITY};
    for (unsigned corner = 0; corner < 1U << a.n; corner++) {
        for (int i = 0; i < a.n; i++)
            a.at[i] = corner >> i & 1 ? a.ends[i].high : a.ends[i].low;
        double v = value_at(e, &a);
        corners = both(corners, (struct ends){v, v});
    }
    return (struct ends){fmax(r.low, corners.low), fmin(r.high, corners.high)};
}

/* Whether a (b + a)^-1 with a, b >= 0 is among the factors, as in r / (r + mu):
 * their places. */
static bool find_ratio(symp e, const struct followed *in, int *over, int *under)
{
    for (int i = 0; i < e->nargs; i++) {
        symp p = e->args[i];
        if (p->kind != SYM_POW || !sym_is(p->args[1], -1) ||
            p->args[0]->kind != SYM_ADD)
            continue;
        bool whole = true;
        for (int k = 0; k < p->args[0]->nargs; k++)
            whole = whole && ends_of(p->args[0]->args[k], in).low >= 0;
        for (int j = 0; whole && j < e->nargs; j++)
            for (int k = 0; k < p->args[0]->nargs; k++)
                if (sym_same(e->args[j], p->args[0]->args[k])) {
                    *over = j;
                    *under = i;
                    return true;
                }
    }
    return false;
}

static struct ends ends_of_product(symp e, const struct followed *in)
{
    int over = -1, under = -1;
    struct ends r = {1, 1};
    if (!(in && in->computed) && find_ratio(e, in, &over, &under))
        r.low = 0;
    for (int i = 0; i < e->nargs; i++)
        if (i != over && i != under)
            r = product(r, ends_of(e->args[i], in));
    return r;
}

/* Ends between which e lies whatever the state. */
static struct ends ends_of(symp e, const struct followed *in)
{
    struct ends r;
    switch (e->kind) {
    case SYM_NUM:
        return (struct ends){e->number, e->number};
    case SYM_EXTENT:
        return (struct ends){0, INFINITY};
    case SYM_SEEN:
    case SYM_LIVE:
        return (struct ends){0, 1};
    case SYM_LOOP:
        return (struct ends){
            e->loop->lower ? ends_of(e->loop->lower, in).low : 1, INFINITY};
    case SYM_REF:
        return ends_of_variable(e->var, in);
    case SYM_ADD:
        return ends_of_sum(e, in);
    case SYM_MUL:
        return ends_of_product(e, in);
    case SYM_POW:
        return ends_of_power(ends_of(e->args[0], in), e->args[1],
                             ends_of(e->args[1], in), in);
    case SYM_SELECT:
        return both(ends_of(e->args[1], in), ends_of(e->args[2], in));
    case SYM_SUM:
        r = ends_of(e->args[2], in);
        return (struct ends){r.low >= 0 ? 0 : -INFINITY,
                             r.high <= 0 ? 0 : INFINITY};
    case SYM_CALL:
        return ends_of_call(e, in);
    case SYM_ARRAY:
        return ends_of(e->args[0], in);
    case SYM_TARGET:
    case SYM_PARAM:
        return anything;
    }
    UNREACHABLE();
}

bool model_never_below(symp a, symp b)
{
    static const struct followed computed = {.computed = true};
    const double low = ends_of(a, &computed).low;
    return !isinf(low) && low >= ends_of(b, &computed).high;
}

/* e >= 0 whatever the latent nodes. Factors that are data alone are taken to
 * be as they should: exposures, weights. */
static bool never_negative(symp e)
{
    if (e->kind != SYM_MUL)
        return ends_of(e, NULL).low >= 0;
    for (int i = 0; i < e->nargs; i++)
        if ((e->args[i]->kind == SYM_NUM || takes_latent(e->args[i])) &&
            ends_of(e->args[i], NULL).low < 0)
            return ends_of(e, NULL).low >= 0;
    return true;
}

/* ---- what is left of a rule -------------------------------------------- */

static symp expanded(struct compiler *c, symp e)
{
    if (e->kind == SYM_ADD) {
        symp sum = sym_num(c, 0);
        for (int i = 0; i < e->nargs; i++)
            sum = sym_add2(c, sum, expanded(c, e->args[i]));
        return sum;
    }
    for (int i = 0; e->kind == SYM_MUL && i < e->nargs; i++) {
        if (e->args[i]->kind != SYM_ADD)
            continue;
        symp rest = sym_num(c, 1), sum = sym_num(c, 0);
        for (int k = 0; k < e->nargs; k++)
            if (k != i)
                rest = sym_mul2(c, rest, e->args[k]);
        for (int k = 0; k < e->args[i]->nargs; k++)
            sum = sym_add2(c, sum,
                           expanded(c, sym_mul2(c, rest, e->args[i]->args[k])));
        return sum;
    }
    return e;
}

/* The argument of an increasing function, times 1 or -1 as *sign says. */
static symp inside(symp e, const char **name, double *sign)
{
    static const char *const increasing[] = {"ilogit", "phi", "exp",
                                             "icloglog"};
    *sign = 1;
    if (e->kind == SYM_MUL && e->nargs == 2 && sym_is(e->args[0], -1)) {
        *sign = -1;
        e = e->args[1];
    }
    for (size_t i = 0; i < sizeof increasing / sizeof *increasing; i++)
        if (e->kind == SYM_CALL && e->nargs == 1 && named(e, increasing[i])) {
            *name = increasing[i];
            return e->args[0];
        }
    return NULL;
}

/* e without factors that are not negative: e >= 0 says the same without. */
static symp without_positive(struct compiler *c, symp e)
{
    if (e->kind != SYM_MUL)
        return e;
    symp rest = sym_num(c, 1);
    for (int i = 0; i < e->nargs; i++)
        if (ends_of(e->args[i], NULL).low < 0)
            rest = sym_mul2(c, rest, e->args[i]);
    return rest;
}

/* Terms with a common factor that is not negative: a x - a y. */
static symp without_common(struct compiler *c, symp e)
{
    symp first = e->kind == SYM_ADD ? e->args[0] : e;
    for (int i = 0; first->kind == SYM_MUL && i < first->nargs; i++) {
        symp f = first->args[i], sum = sym_num(c, 0);
        bool common = f->kind != SYM_NUM && ends_of(f, NULL).low >= 0;
        for (int k = 0; common && k < e->nargs; k++) {
            symp t = sym_div(c, e->args[k], f);
            common = !sym_has(t, f);
            sum = sym_add2(c, sum, t);
        }
        if (common && e->kind == SYM_ADD)
            return sum;
    }
    return e;
}

static symp reduced(struct compiler *c, symp e);

/* A bound that may be reached is reached up to rounding: the last of several
 * conditional probabilities, p[n] / (1 - sum(p[1:(n - 1)])), is 1, and the
 * conditionals of different nodes round it differently. */
#define ROUNDING 1e-9

/* e >= 0 (or > 0, as `name` says), in the simplest terms. */
static symp reduced_sign(struct compiler *c, symp e, const char *name)
{
    if (!takes_latent(e) || never_negative(e))
        return sym_num(c, 1);
    if (e->kind == SYM_SELECT)
        return sym_select(c, e->args[0], reduced_sign(c, e->args[1], name),
                          reduced_sign(c, e->args[2], name));
    const char *f = "", *g = "";
    double sign[2];
    symp x = NULL, y = NULL;
    if (e->kind == SYM_ADD && e->nargs == 2) {
        x = inside(e->args[0], &f, &sign[0]);
        y = inside(e->args[1], &g, &sign[1]);
    }
    if (x && y && f == g && sign[0] != sign[1]) {
        symp d = expanded(c, sign[0] > 0 ? sym_sub(c, x, y) : sym_sub(c, y, x));
        return reduced_sign(c, without_common(c, d), name);
    }
    double least = !strcmp(name, ">=") ? -ROUNDING : 0;
    return sym_call(c, name, 2,
                    (symp[]){without_positive(c, e), sym_num(c, least)});
}

/* A condition less what holds whatever the latent nodes; 1: all of it. The
 * data are checked when they are loaded. */
static symp reduced(struct compiler *c, symp e)
{
    if (!takes_latent(e))
        return sym_num(c, 1);
    if (e->kind != SYM_CALL || e->nargs != 2)
        return e;
    symp a = e->args[0], b = e->args[1];
    if (named(e, "&&"))
        return sym_and(c, reduced(c, a), reduced(c, b));
    if (named(e, ">") || named(e, ">="))
        return reduced_sign(c, sym_sub(c, a, b), e->name);
    if (named(e, "<") || named(e, "<="))
        return reduced_sign(c, sym_sub(c, b, a), named(e, "<") ? ">" : ">=");
    /* of each j: none breaks it */
    if (!named(e, "==") || !sym_is(b, 0))
        return e;
    if (a->kind == SYM_MUL)
        for (int i = 0; i < a->nargs; i++)
            if (a->args[i]->kind == SYM_SELECT)
                a = a->args[i];
    symp broken = a->kind == SYM_SUM ? a->args[2] : a;
    if (broken->kind != SYM_SELECT)
        return e;
    symp rule = reduced(c, broken->args[0]);
    if (sym_is(rule, 1))
        return rule;
    if (a->kind != SYM_SUM)
        return rule;
    broken = sym_select(c, rule, sym_num(c, 0), sym_num(c, 1));
    return sym_eq(c, sym_sum(c, a->loop, a->args[0], a->args[1], broken),
                  sym_num(c, 0));
}

/* ---- rules as the library writes them ---------------------------------- */

static bool is_name(const struct expr *e, const char *name)
{
    return e->kind == EXPR_NAME && e->name == name;
}

static bool mentions(const struct expr *e, const char *name)
{
    if (is_name(e, name))
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (mentions(e->args[i], name))
            return true;
    return false;
}

static bool takes_log(const struct expr *e, const char *name)
{
    if (e->kind == EXPR_CALL && !strcmp(e->name, "log") && e->nargs == 1 &&
        is_name(e->args[0], name))
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (takes_log(e->args[i], name))
            return true;
    return false;
}

/* Whether a term of the log density is a multiple of log(name), whatever x:
 * then the formula itself gives no number where name < 0. */
static bool guarded(const struct expr *e, const char *name, const char *x)
{
    if (e->kind == EXPR_CALL &&
        (!strcmp(e->name, "+") || !strcmp(e->name, "-")))
        for (int i = 0; i < e->nargs; i++)
            if (guarded(e->args[i], name, x))
                return true;
    return !mentions(e, x) && takes_log(e, name);
}

/* a < b of real(a, b): there is no x between them otherwise. */
static bool in_support(const struct entry *d, const struct expr *rule)
{
    const struct expr *support = entry_value(d, "support");
    return support && support->nargs == 2 && rule->name[0] == '<' &&
           rule->args[0]->kind == EXPR_NAME &&
           is_name(support->args[0], rule->args[0]->name) &&
           rule->args[1]->kind == EXPR_NAME &&
           is_name(support->args[1], rule->args[1]->name);
}

static bool needs_no_rule(struct compiler *c, const struct entry *d,
                          const struct expr *rule)
{
    if (rule->nargs != 2)
        return false;
    if (in_support(d, rule) || rule->args[0]->kind == EXPR_SUM)
        return true; /* a sum of weights: its log is taken */
    const char *x = d->result ? d->result->name : intern(c, "x");
    const struct expr *density = entry_value(d, "logdensity");
    return rule->args[0]->kind == EXPR_NAME && rule->args[0]->nargs == 0 &&
           rule->args[1]->kind == EXPR_NUM && rule->args[1]->number == 0 &&
           rule->name[0] == '>' && density &&
           guarded(density, rule->args[0]->name, x);
}

static struct expr *call(struct compiler *c, const struct expr *at,
                         enum expr_kind kind, const char *name, int n,
                         struct expr *const *args)
{
    struct expr *e = NEW(c, struct expr);
    e->kind = kind;
    e->name = intern(c, name);
    e->span = at->span;
    e->nargs = n;
    e->args = NEW_ARRAY(c, struct expr *, n);
    for (int i = 0; i < n; i++)
        e->args[i] = args[i];
    return e;
}

static struct expr *number(struct compiler *c, const struct expr *at, double x)
{
    struct expr *e = call(c, at, EXPR_NUM, "", 0, NULL);
    e->number = x;
    return e;
}

struct expr *model_rule_of_each(struct compiler *c, const struct entry *d,
                                struct expr *rule)
{
    struct expr *e = rule->nargs == 2 ? rule->args[0] : NULL;
    if (!e || e->kind != EXPR_NAME || e->nargs != 1 ||
        e->args[0]->kind != EXPR_NAME)
        return rule;
    for (int i = 0; i < d->nparameters; i++) {
        if (d->parameters[i].name != e->name || d->parameters[i].ndims != 1)
            continue;
        struct expr *last =
            call(c, rule, EXPR_NAME, d->parameters[i].dims[0], 0, NULL);
        struct expr *broken = call(
            c, rule, EXPR_CALL, "if_else", 3,
            (struct expr *[]){rule, number(c, rule, 0), number(c, rule, 1)});
        struct expr *sum =
            call(c, rule, EXPR_SUM, e->args[0]->name, 3,
                 (struct expr *[]){number(c, rule, 1), last, broken});
        return call(c, rule, EXPR_CALL, "==", 2,
                    (struct expr *[]){sum, number(c, rule, 0)});
    }
    return rule;
}

/* What f's distribution requires, less what holds whatever the latent nodes; if
 * `needed`, also less what its formula or its support says. */
static symp requirements(struct compiler *c, const struct family *f,
                         bool needed)
{
    const struct entry *d = f->distribution;
    const struct clause *require = entry_clause(d, "require");
    symp all = sym_num(c, 1);
    for (const struct clause_item *i = require ? require->items : NULL; i;
         i = i->next) {
        if (needed && needs_no_rule(c, d, i->value))
            continue;
        symp rule = family_expression(c, f, model_rule_of_each(c, d, i->value));
        if (rule)
            all =
                sym_and(c, all, reduced(c, model_substitute_derived(c, rule)));
    }
    if (f->stated)
        all =
            sym_and(c, all, reduced(c, model_substitute_derived(c, f->stated)));
    return all;
}

void model_state_rules(struct compiler *c, struct model *m)
{
    for (struct factor *g = m->factors; g; g = g->next) {
        if (g->auxiliary)
            continue;
        symp all = requirements(c, g->family, true);
        g->rule = sym_is(all, 1) ? NULL : all;
    }
}

symp model_rule_of_draws(struct compiler *c, const struct family *f)
{
    symp all = requirements(c, f, false);
    return sym_is(all, 1) ? NULL : all;
}

/* ---- in conditionals --------------------------------------------------- */

symp model_under_rule(struct compiler *c, const struct factor *g, symp logp)
{
    return g->rule ? sym_select(c, g->rule, logp, sym_num(c, -(double)INFINITY))
                   : logp;
}
