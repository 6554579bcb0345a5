/* test_algebra.c: the symbolic algebra against arithmetic. Random expressions
 * are evaluated as they stand, and again after the algebra has simplified,
 * substituted, collected or differentiated them. Seeds are fixed. */
#include "gbmc.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- Values -------------------------------------------------------------- */

enum { SIZE = 5, NAMES = 5, BOUND = 16 };

/* What names stand for. a, b: any sign; p, q: positive; v[SIZE], w[SIZE,SIZE]:
 * any sign; u[SIZE]: positive; x: the target. */
struct world {
    struct compiler c;
    uint64_t random;
    struct var a, b, p, q, v, w, u;
    double scalars[4], vs[SIZE], us[SIZE], ws[SIZE][SIZE], x;
    struct loop i; /* a loop of the statement, from 1 to SIZE */
    int i_value;
    struct {
        const struct loop *loop;
        int value;
    } bound[BOUND];
    int nbound;
    bool with_target, target_positive;
    double largest; /* absolute value met while evaluating */
};

static uint64_t next(struct world *w)
{
    w->random ^= w->random << 13;
    w->random ^= w->random >> 7;
    w->random ^= w->random << 17;
    return w->random;
}
static int below(struct world *w, int n) { return (int)(next(w) >> 33) % n; }
static double uniform(struct world *w, double low, double high)
{
    return low + (high - low) * (double)(next(w) >> 11) / 9007199254740992.0;
}

static struct var variable(struct compiler *c, const char *name, int ndim,
                           bool positive)
{
    return (struct var){.name = intern(c, name),
                        .cname = intern(c, name),
                        .ndim = ndim,
                        .role = ROLE_STOCHASTIC,
                        .positive = positive};
}

static void world_open(struct world *w, uint64_t seed)
{
    *w = (struct world){.random = seed * 0x9E3779B97F4A7C15u | 1};
    w->c = (struct compiler){
        .arena = arena_create(), .messages = stderr, .stdlib = "stdlib"};
    struct compiler *c = &w->c;
    w->a = variable(c, "a", 0, false);
    w->b = variable(c, "b", 0, false);
    w->p = variable(c, "p", 0, true);
    w->q = variable(c, "q", 0, true);
    w->v = variable(c, "v", 1, false);
    w->u = variable(c, "u", 1, true);
    w->w = variable(c, "w", 2, false);
    w->i = (struct loop){.name = intern(c, "i"),
                         .lower = sym_num(c, 1),
                         .upper = sym_num(c, SIZE)};
}

static void world_close(struct world *w)
{
    assert_int_equal(w->c.nerrors, 0);
    arena_free(w->c.arena);
}

static void new_values(struct world *w)
{
    for (int i = 0; i < 4; i++)
        w->scalars[i] = i < 2 ? uniform(w, -2, 2) : uniform(w, 0.3, 2);
    for (int i = 0; i < SIZE; i++) {
        w->vs[i] = uniform(w, -2, 2);
        w->us[i] = uniform(w, 0.3, 2);
        for (int j = 0; j < SIZE; j++)
            w->ws[i][j] = uniform(w, -2, 2);
    }
    w->x = w->target_positive ? uniform(w, 0.3, 2) : uniform(w, -2, 2);
    w->i_value = 1 + below(w, SIZE);
}

static double *cell_of(struct world *w, const struct var *var, int i, int j)
{
    assert_in_range(i, 1, SIZE);
    assert_in_range(j, 1, SIZE);
    if (var == &w->v)
        return &w->vs[i - 1];
    if (var == &w->u)
        return &w->us[i - 1];
    if (var == &w->w)
        return &w->ws[i - 1][j - 1];
    const struct var *scalars[] = {&w->a, &w->b, &w->p, &w->q};
    for (int k = 0; k < 4; k++)
        if (var == scalars[k])
            return &w->scalars[k];
    fail_msg("unknown variable %s", var->name);
    return NULL;
}

static const struct var *var_of(const struct world *w, const char *name)
{
    const struct var *all[] = {&w->a, &w->b, &w->p, &w->q, &w->v, &w->u, &w->w};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(all[i]->name, name))
            return all[i];
    return NULL;
}

/* ---- Functions ----------------------------------------------------------- */

static double normal_cdf(double x) { return 0.5 * erfc(-x / sqrt(2)); }

/* By recurrence and the asymptotic series. */
static double psi(double x)
{
    double shift = 0;
    for (; x < 10; x++)
        shift -= 1 / x;
    double y = 1 / (x * x);
    return shift + log(x) - 0.5 / x -
           y * (1.0 / 12 - y * (1.0 / 120 - y * (1.0 / 252 - y / 240)));
}

static double call(const char *f, const double *t, int n)
{
    static const struct {
        const char *name;
        double (*of)(double);
    } one[] = {{"exp", exp},       {"log", log},     {"sqrt", sqrt},
               {"loggam", lgamma}, {"abs", fabs},    {"phi", normal_cdf},
               {"digamma", psi},   {"log1p", log1p}, {"expm1", expm1}};
    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        if (n == 1 && !strcmp(f, one[i].name))
            return one[i].of(t[0]);
    if (!strcmp(f, "ilogit"))
        return 1 / (1 + exp(-t[0]));
    if (!strcmp(f, "log1pexp"))
        return log1p(exp(t[0]));
    if (!strcmp(f, "log_phi"))
        return log(normal_cdf(t[0]));
    if (!strcmp(f, "neg"))
        return -t[0];
    if (!strcmp(f, "!"))
        return t[0] == 0;
    if (!strcmp(f, "log_choose"))
        return lgamma(t[0] + 1) - lgamma(t[1] + 1) - lgamma(t[0] - t[1] + 1);
    if (!strcmp(f, "+"))
        return t[0] + t[1];
    if (!strcmp(f, "-"))
        return t[0] - t[1];
    if (!strcmp(f, "*"))
        return t[0] * t[1];
    if (!strcmp(f, "/"))
        return t[0] / t[1];
    if (!strcmp(f, "^"))
        return pow(t[0], t[1]);
    if (!strcmp(f, "=="))
        return t[0] == t[1];
    if (!strcmp(f, "!="))
        return t[0] != t[1];
    if (!strcmp(f, "<"))
        return t[0] < t[1];
    if (!strcmp(f, "<="))
        return t[0] <= t[1];
    if (!strcmp(f, ">"))
        return t[0] > t[1];
    if (!strcmp(f, ">="))
        return t[0] >= t[1];
    if (!strcmp(f, "&&"))
        return t[0] != 0 && t[1] != 0;
    fail_msg("unknown function %s", f);
    return NAN;
}

static double met(struct world *w, double value)
{
    if (!(fabs(value) <= w->largest))
        w->largest = fabs(value);
    return value;
}

/* ---- Evaluating ---------------------------------------------------------- */

static double value_of(struct world *w, symp e);

static double bound_value(struct world *w, const struct loop *loop)
{
    for (int k = w->nbound; k-- > 0;)
        if (w->bound[k].loop == loop)
            return w->bound[k].value;
    assert_ptr_equal(loop, &w->i);
    return w->i_value;
}

static double sum_value(struct world *w, symp e)
{
    int low = (int)value_of(w, e->args[0]), high = (int)value_of(w, e->args[1]);
    double total = 0;
    assert_in_range(w->nbound, 0, BOUND - 1);
    w->bound[w->nbound++].loop = e->loop;
    for (int k = low; k <= high; k++) {
        w->bound[w->nbound - 1].value = k;
        total += value_of(w, e->args[2]);
    }
    w->nbound--;
    return total;
}

static double value_of(struct world *w, symp e)
{
    double t[8] = {0}, r;
    switch (e->kind) {
    case SYM_NUM:
        return e->number;
    case SYM_LOOP:
        return bound_value(w, e->loop);
    case SYM_TARGET:
        return w->x;
    case SYM_EXTENT:
        return SIZE;
    case SYM_SELECT:
        return value_of(w, e->args[value_of(w, e->args[0]) != 0 ? 1 : 2]);
    case SYM_SUM:
        return met(w, sum_value(w, e));
    case SYM_ADD:
        r = 0;
        for (int i = 0; i < e->nargs; i++)
            r += value_of(w, e->args[i]);
        return met(w, r);
    case SYM_MUL:
        r = 1;
        for (int i = 0; i < e->nargs; i++)
            r *= value_of(w, e->args[i]);
        return met(w, r);
    case SYM_POW:
        return met(w, pow(value_of(w, e->args[0]), value_of(w, e->args[1])));
    case SYM_REF:
    case SYM_CALL:
        assert_in_range(e->nargs, 0, 8);
        for (int i = 0; i < e->nargs; i++)
            t[i] = value_of(w, e->args[i]);
        if (e->kind == SYM_CALL)
            return met(w, call(e->name, t, e->nargs));
        return *cell_of(w, e->var, e->nargs > 0 ? (int)t[0] : 1,
                        e->nargs > 1 ? (int)t[1] : 1);
    case SYM_SEEN:
    case SYM_LIVE:
    case SYM_PARAM:
    case SYM_ARRAY:
        break;
    }
    fail_msg("a kind that is not generated");
    return NAN;
}

/* The same for the tree as it was made, whose sums bind names. */
struct names {
    const char *name;
    int value;
    const struct names *outer;
};

static double raw_value(struct world *w, const struct expr *e,
                        const struct names *names)
{
    double t[8] = {0};
    if (e->kind == EXPR_NUM)
        return e->number;
    if (e->kind == EXPR_SUM) {
        struct names inner = {e->name, 0, names};
        int low = (int)raw_value(w, e->args[0], names);
        int high = (int)raw_value(w, e->args[1], names);
        double total = 0;
        for (inner.value = low; inner.value <= high; inner.value++)
            total += raw_value(w, e->args[2], &inner);
        return met(w, total);
    }
    if (e->kind == EXPR_CALL && !strcmp(e->name, "ifelse")) {
        bool yes = raw_value(w, e->args[0], names) != 0;
        return raw_value(w, e->args[yes ? 1 : 2], names);
    }
    for (int i = 0; i < e->nargs; i++)
        t[i] = raw_value(w, e->args[i], names);
    if (e->kind == EXPR_CALL)
        return met(w, call(e->name, t, e->nargs));
    for (const struct names *n = names; n; n = n->outer)
        if (n->name == e->name)
            return n->value;
    if (!strcmp(e->name, "x"))
        return w->x;
    if (!strcmp(e->name, "i"))
        return w->i_value;
    return *cell_of(w, var_of(w, e->name), e->nargs > 0 ? (int)t[0] : 1,
                    e->nargs > 1 ? (int)t[1] : 1);
}

/* ---- Making -------------------------------------------------------------- */

static struct expr *leaf(struct world *w, const char *name)
{
    struct expr *e = expr_new(&w->c, EXPR_NAME, (struct span){0});
    e->name = intern(&w->c, name);
    return e;
}
static struct expr *number(struct world *w, double x)
{
    struct expr *e = expr_new(&w->c, EXPR_NUM, (struct span){0});
    e->number = x;
    return e;
}
static struct expr *one(struct world *w, const char *f, struct expr *a)
{
    return expr_call(&w->c, f, (struct span){0}, 1, a);
}
static struct expr *two(struct world *w, const char *f, struct expr *a,
                        struct expr *b)
{
    return expr_call(&w->c, f, (struct span){0}, 2, a, b);
}
static struct expr *indexed(struct world *w, const char *name, struct expr *i,
                            struct expr *j)
{
    struct expr *e = leaf(w, name);
    e->nargs = j ? 2 : 1;
    e->args = NEW_ARRAY(&w->c, struct expr *, 2);
    e->args[0] = i;
    e->args[1] = j;
    e->bracket = true;
    return e;
}
static struct expr *sum(struct world *w, const char *name, int high,
                        struct expr *body)
{
    struct expr *e = expr_new(&w->c, EXPR_SUM, (struct span){0});
    e->name = intern(&w->c, name);
    e->nargs = 3;
    e->args = NEW_ARRAY(&w->c, struct expr *, 3);
    e->args[0] = number(w, 1);
    e->args[1] = number(w, high);
    e->args[2] = body;
    return e;
}

/* `sums`: how many are open around; their indices are k0, k1, ... */
static struct expr *an_index(struct world *w, int sums)
{
    static const char *const names[] = {"k0", "k1", "k2"};
    int pick = below(w, sums + 2);
    if (pick < sums)
        return leaf(w, names[pick]);
    return pick == sums ? leaf(w, "i") : number(w, 1 + below(w, SIZE));
}

static struct expr *a_condition(struct world *w, int sums)
{
    static const char *const names[] = {"==", "==", "==", "<", ">=", "!="};
    struct expr *e =
        two(w, names[below(w, 6)], an_index(w, sums), an_index(w, sums));
    return below(w, 4)
               ? e
               : two(w, "&&", e,
                     two(w, "==", an_index(w, sums), an_index(w, sums)));
}

static struct expr *a_real(struct world *w, int depth, int sums);

static struct expr *a_positive(struct world *w, int depth, int sums)
{
    if (depth <= 0 || below(w, 5) == 0)
        switch (below(w, w->with_target && w->target_positive ? 6 : 4)) {
        case 0:
            return leaf(w, "p");
        case 1:
            return leaf(w, "q");
        case 2:
            return indexed(w, "u", an_index(w, sums), NULL);
        case 3:
            return number(w, 0.5 * (1 + below(w, 4)));
        default:
            return leaf(w, "x");
        }
    struct expr *e = a_positive(w, depth - 1, sums);
    switch (below(w, 9)) {
    case 8:
        return one(w, "sqrt",
                   two(w, "^", a_real(w, depth - 2, sums), number(w, 2)));
    case 0:
        return two(w, "+", e, a_positive(w, depth - 1, sums));
    case 1:
    case 2:
        return two(w, "*", e, a_positive(w, depth - 1, sums));
    case 3:
        return two(w, "/", e, a_positive(w, depth - 1, sums));
    case 4:
        return two(w, "^", e, number(w, 0.5 * (below(w, 7) - 3)));
    case 5:
        return one(w, "exp", a_real(w, depth - 2, sums));
    case 6:
        return one(w, "ilogit", a_real(w, depth - 2, sums));
    default:
        return one(w, "phi", a_real(w, depth - 2, sums));
    }
}

static struct expr *a_leaf(struct world *w, int sums)
{
    switch (below(w, w->with_target ? 8 : 5)) {
    case 0:
        return leaf(w, "a");
    case 1:
        return leaf(w, "b");
    case 2:
        return indexed(w, "v", an_index(w, sums), NULL);
    case 3:
        return indexed(w, "w", an_index(w, sums), an_index(w, sums));
    case 4:
        return number(w, below(w, 5) - 2);
    default:
        return leaf(w, "x");
    }
}

static struct expr *a_real(struct world *w, int depth, int sums)
{
    static const char *const names[] = {"k0", "k1", "k2"};
    if (depth <= 0 || below(w, 6) == 0)
        return a_leaf(w, sums);
    switch (below(w, sums < 3 ? 13 : 11)) {
    case 0:
        return a_positive(w, depth, sums);
    case 1:
    case 2:
        return two(w, "+", a_real(w, depth - 1, sums),
                   a_real(w, depth - 1, sums));
    case 3:
        return two(w, "-", a_real(w, depth - 1, sums),
                   a_real(w, depth - 1, sums));
    case 4:
    case 5:
        return two(w, "*", a_real(w, depth - 1, sums),
                   a_real(w, depth - 1, sums));
    case 6:
        return two(w, "/", a_real(w, depth - 1, sums),
                   a_positive(w, depth - 1, sums));
    case 7:
        return two(w, "^", a_real(w, depth - 1, sums),
                   number(w, 2 + below(w, 2)));
    case 8:
        if (below(w, 4) == 0) {
            struct expr *k = a_positive(w, depth - 2, sums);
            struct expr *n = two(w, "+", a_positive(w, depth - 2, sums), k);
            return two(w, "log_choose", n, k);
        }
        return one(w, below(w, 3) ? "log" : "loggam",
                   a_positive(w, depth - 1, sums));
    case 9:
        return expr_call(&w->c, "ifelse", (struct span){0}, 3,
                         a_condition(w, sums), a_real(w, depth - 1, sums),
                         a_real(w, depth - 1, sums));
    case 10:
        return two(w, "*", a_condition(w, sums), a_real(w, depth - 1, sums));
    default:
        return sum(w, names[sums], SIZE, a_real(w, depth - 1, sums + 1));
    }
}

static symp bind(struct compiler *c, const char *name, int nargs,
                 const symp *args, void *context)
{
    struct world *w = context;
    if (!strcmp(name, "x"))
        return sym_target(c);
    if (!strcmp(name, "i"))
        return sym_loop(c, &w->i);
    struct var *all[] = {&w->a, &w->b, &w->p, &w->q, &w->v, &w->u, &w->w};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i]->name == name)
            return sym_ref(c, all[i], nargs, args);
    return NULL;
}

static symp build(struct world *w, const struct expr *e)
{
    symp s = sym_from_library(&w->c, e, bind, w);
    assert_non_null(s);
    return s;
}

static struct expr *parsed(struct world *w, const char *text)
{
    struct source *s = NEW(&w->c, struct source);
    const char *entry =
        intern_format(&w->c, "function f() {\n  as %s\n}\n", text);
    struct program program = {0};
    *s = (struct source){"test.gbm", entry, strlen(entry)};
    assert_true(parse_source(&w->c, s, &program));
    return program.entries->clauses->items->value;
}
static symp read(struct world *w, const char *text)
{
    return build(w, parsed(w, text));
}

static void show(struct world *w, const char *head, symp e)
{
    fprintf(stderr, "%s%s\n", head, sym_text(&w->c, e));
}

static void show_raw(const char *head, const struct expr *e)
{
    struct text t = {0};
    expr_print(&t, e);
    fprintf(stderr, "%s%s\n", head, t.data);
    text_free(&t);
}

/* Values that rounding may not tell apart; `largest` was met on the way. */
static bool near(double a, double b, double largest)
{
    return fabs(a - b) <= 1e-10 * (1 + largest);
}
static bool usable(const struct world *w, double value)
{
    return isfinite(value) && w->largest < 1e5;
}

/* ---- Building simplifies and keeps the value ------------------------------
 */

static void test_build(void **state)
{
    (void)state;
    int used = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct world w;
        world_open(&w, seed);
        w.with_target = w.target_positive = true;
        for (int n = 0; n < 100; n++) {
            new_values(&w);
            struct expr *raw = a_real(&w, 1 + below(&w, 6), 0);
            w.largest = 0;
            double expected = raw_value(&w, raw, NULL);
            if (!usable(&w, expected))
                continue;
            symp e = build(&w, raw);
            double found = value_of(&w, e);
            if (!near(found, expected, w.largest)) {
                show_raw("made  ", raw);
                show(&w, "built ", e);
                fail_msg("%.17g became %.17g (seed %d, %d)", expected, found,
                         (int)seed, n);
            }
            used++;
        }
        world_close(&w);
    }
    assert_in_range(used, 4000, 6000);
}

/* ---- Substituting -------------------------------------------------------- */

static void test_substitute(void **state)
{
    (void)state;
    int used = 0;
    for (uint64_t seed = 100; seed < 130; seed++) {
        struct world w;
        world_open(&w, seed);
        w.with_target = w.target_positive = true;
        for (int n = 0; n < 60; n++) {
            new_values(&w);
            symp e = build(&w, a_real(&w, 4, 0));
            w.with_target = false;
            symp by = build(&w, a_positive(&w, 2, 0));
            w.with_target = true;
            w.largest = 0;
            w.x = value_of(&w, by);
            double expected = value_of(&w, e);
            if (!usable(&w, expected) || w.x < 1e-3)
                continue;
            symp r = sym_replace(&w.c, e, sym_target(&w.c), by);
            assert_false(sym_has_target(r));
            assert_true(near(value_of(&w, r), expected, w.largest));
            int i = w.i_value;
            symp at = sym_replace_loop(&w.c, e, &w.i, sym_num(&w.c, i));
            assert_false(sym_has_loop(at, &w.i));
            w.i_value = 1 + i % SIZE; /* read no more */
            assert_true(near(value_of(&w, at), expected, w.largest));
            used++;
        }
        world_close(&w);
    }
    assert_in_range(used, 1000, 1800);
}

/* ---- Collecting ---------------------------------------------------------- */

static void check_collected(struct world *w, symp e, const struct expr *raw)
{
    struct collected k;
    sym_collect(&w->c, e, w->target_positive, &k);
    if (k.overflow)
        return;
    assert_false(sym_has_target(k.rest));
    for (int i = 0; i < k.n; i++) {
        assert_true(sym_has_target(k.statistic[i]));
        assert_false(sym_has_target(k.coefficient[i]));
        for (int j = 0; j < i; j++)
            assert_false(sym_same(k.statistic[i], k.statistic[j]));
    }
    for (int trial = 0; trial < 4; trial++) {
        new_values(w);
        w->largest = 0;
        double expected = value_of(w, e);
        if (!usable(w, expected))
            continue;
        double total = value_of(w, k.rest);
        for (int i = 0; i < k.n; i++)
            total += met(w, value_of(w, k.coefficient[i]) *
                                value_of(w, k.statistic[i]));
        if (near(total, expected, w->largest))
            continue;
        show_raw("made ", raw);
        show(w, "is ", e);
        show(w, "rest ", k.rest);
        for (int i = 0; i < k.n; i++) {
            show(w, "statistic ", k.statistic[i]);
            show(w, "  of      ", k.coefficient[i]);
        }
        fail_msg("%.17g was collected to %.17g", expected, total);
    }
}

static void test_collect(void **state)
{
    (void)state;
    for (uint64_t seed = 200; seed < 260; seed++) {
        struct world w;
        world_open(&w, seed);
        w.with_target = true;
        w.target_positive = seed % 2 == 0;
        for (int n = 0; n < 60; n++) {
            new_values(&w);
            struct expr *raw = a_real(&w, 2 + below(&w, 4), 0);
            check_collected(&w, build(&w, raw), raw);
        }
        world_close(&w);
    }
}

/* What the recogniser lives on: these statistics and no others. */
static void test_statistics(void **state)
{
    static const struct {
        const char *e;
        bool positive;
        const char *statistics[3];
    } cases[] = {
        {"-0.5 * p * (a - x)^2", false, {"x", "x^2"}},
        {"-0.5 * (a - b * x * w[1,2] - v[i])^2 / q^2", false, {"x", "x^2"}},
        {"0.5 * log(p * x) - 0.5 * x * p * a^2", true, {"log(x)", "x"}},
        {"0.5 * log(x) - a * x + 2 * log(x)", false, {"log(x)", "x"}},
        {"-log(x * p) - 0.5 * (a / (x * p))^2", true, {"log(x)", "x^(-2)"}},
        {"log(1 / x^2) - a^2 / x^2", true, {"log(x)", "x^(-2)"}},
        {"sqrt(x^2) * a", true, {"x"}},
        {"(a + x) * (b + x) - x^2", false, {"x"}},
        {"exp(a + b * x)", false, {"exp(b * x)"}},
        {"sum(k in 1:5, (v[k] - x)^2)", false, {"x", "x^2"}},
        {"sum(k in 1:5, ifelse(k == i, x, v[k]) * u[k])", false, {"x"}},
        {"ifelse(i == 2, x, x^2) * a", false, {"x", "x^2"}},
        {"log(sqrt(x) * p^2 * q)", true, {"log(x)"}},
        {"log(a * x)", true, {"log(x)"}},
        {"loggam(x) + x * log(p) + 3 * loggam(x)", true, {"loggam(x)", "x"}},
    };
    (void)state;
    for (size_t t = 0; t < sizeof cases / sizeof *cases; t++) {
        struct world w;
        struct collected k;
        world_open(&w, 300 + t);
        w.with_target = true;
        w.target_positive = cases[t].positive;
        struct expr *raw = parsed(&w, cases[t].e);
        check_collected(&w, build(&w, raw), raw);
        sym_collect(&w.c, build(&w, raw), cases[t].positive, &k);
        int wanted = 0;
        for (; wanted < 3 && cases[t].statistics[wanted]; wanted++) {
            symp s = read(&w, cases[t].statistics[wanted]);
            bool found = false;
            for (int i = 0; i < k.n; i++)
                found = found || sym_same(k.statistic[i], s);
            if (!found)
                fail_msg("no %s in %s", cases[t].statistics[wanted],
                         cases[t].e);
        }
        for (int i = 0; i < k.n && k.n != wanted; i++)
            show(&w, "statistic ", k.statistic[i]);
        assert_int_equal(k.n, wanted);
        world_close(&w);
    }
}

/* ---- Differentiating ----------------------------------------------------- */

/* By central differences with two steps, extrapolated. */
static double difference(struct world *w, symp e, double *cell)
{
    double at = *cell, h = 1e-3, slope[2];
    for (int s = 0; s < 2; s++, h /= 2) {
        *cell = at + h;
        double up = value_of(w, e);
        *cell = at - h;
        slope[s] = (up - value_of(w, e)) / (2 * h);
    }
    *cell = at;
    return (4 * slope[1] - slope[0]) / 3;
}

static void check_derivative(struct world *w, symp e, const struct expr *raw,
                             struct var *var, const symp *at, int *used)
{
    symp d = sym_derivative(&w->c, e, sym_ref(&w->c, var, var->ndim, at));
    if (!d)
        return;
    double *cell = cell_of(w, var, var->ndim > 0 ? (int)value_of(w, at[0]) : 1,
                           var->ndim > 1 ? (int)value_of(w, at[1]) : 1);
    w->largest = 0;
    double expected = difference(w, e, cell), found = value_of(w, d);
    if (!isfinite(expected) || w->largest > 1e3)
        return;
    ++*used;
    if (fabs(expected - found) <= 2e-6 * (1 + w->largest))
        return;
    show_raw("made ", raw);
    show(w, "e    ", e);
    show(w, "d    ", d);
    fail_msg("the derivative by %s is %.10g, not %.10g", var->name, expected,
             found);
}

static void test_derivative(void **state)
{
    (void)state;
    int used = 0;
    for (uint64_t seed = 400; seed < 440; seed++) {
        struct world w;
        world_open(&w, seed);
        for (int n = 0; n < 40; n++) {
            new_values(&w);
            struct expr *raw = a_real(&w, 2 + below(&w, 4), 0);
            symp e = build(&w, raw);
            symp at[2] = {sym_loop(&w.c, &w.i), sym_num(&w.c, 2)};
            check_derivative(&w, e, raw, &w.a, NULL, &used);
            check_derivative(&w, e, raw, &w.p, NULL, &used);
            check_derivative(&w, e, raw, &w.v, at, &used);
            check_derivative(&w, e, raw, &w.v, at + 1, &used);
            check_derivative(&w, e, raw, &w.u, at, &used);
            check_derivative(&w, e, raw, &w.w, at, &used);
        }
        world_close(&w);
    }
    assert_in_range(used, 7000, 9600);
}

/* ---- Equal expressions ----------------------------------------------------
 */

/* Operands of + and * the other way round, at random. */
static struct expr *shuffled(struct world *w, const struct expr *e)
{
    struct expr *r = NEW(&w->c, struct expr);
    *r = *e;
    r->args = NEW_ARRAY(&w->c, struct expr *, e->nargs);
    for (int i = 0; i < e->nargs; i++)
        r->args[i] = shuffled(w, e->args[i]);
    bool swaps = e->kind == EXPR_CALL && e->nargs == 2 &&
                 (!strcmp(e->name, "+") || !strcmp(e->name, "*"));
    if (swaps && below(w, 2)) {
        struct expr *first = r->args[0];
        r->args[0] = r->args[1];
        r->args[1] = first;
    }
    return r;
}

/* A polynomial in leaves. */
static struct expr *a_polynomial(struct world *w, int depth)
{
    if (depth == 0)
        return a_leaf(w, 0);
    return two(w, below(w, 2) ? "+" : "*", a_polynomial(w, depth - 1),
               a_polynomial(w, depth - 1));
}

static void test_same(void **state)
{
    (void)state;
    for (uint64_t seed = 500; seed < 540; seed++) {
        struct world w;
        world_open(&w, seed);
        w.with_target = true;
        for (int n = 0; n < 50; n++) {
            struct expr *raw = a_polynomial(&w, 1 + below(&w, 4));
            symp e = build(&w, raw), f = build(&w, shuffled(&w, raw));
            if (!sym_same(e, f) || !sym_same(f, e)) {
                show(&w, "one   ", e);
                show(&w, "other ", f);
                fail_msg("the order of operands matters");
            }
            assert_int_equal(e->hash, f->hash);
            symp zero = sym_sub(&w.c, e, f);
            assert_true(sym_is(zero, 0));
            assert_false(sym_same(e, sym_add2(&w.c, f, sym_num(&w.c, 1))));
        }
        world_close(&w);
    }
}

static void test_forms(void **state)
{
    static const char *const pairs[][2] = {
        {"a - a", "0"},
        {"a + b + a", "2 * a + b"},
        {"a / a * b", "b"},
        {"a * b * a", "a^2 * b"},
        {"(a * b)^2", "a^2 * b^2"},
        {"sqrt(p * q)^2", "p * q"},
        {"a * (a * b)^0.5 * (a * b)^0.5", "a^2 * b"},
        {"log(exp(a))", "a"},
        {"exp(log(p) * 2 + a)", "p^2 * exp(a)"},
        {"log(p * q^2)", "log(p) + 2 * log(q)"},
        {"log(exp(a) * p)", "a + log(p)"},
        {"-(a - b)", "b - a"},
        {"2 * (a + 3)", "2 * a + 6"},
        {"p^(-1) * p^0.5", "p^(-0.5)"},
        {"ifelse(2 > 1, a, b)", "a"},
        {"ifelse(i == 3, b, b)", "b"},
        {"(i == 3)^2 * a", "(i == 3) * a"},
        {"i + 1 == i + 1", "1"},
        {"i + 1 == i", "0"},
        {"exp(a)^2", "exp(2 * a)"},
        {"exp(-a) * b * exp(a)", "b"},
        {"exp(-2 * a) * exp(a)", "exp(-a)"},
        {"exp(a - 2 * b) / exp(a - 2 * b) * a", "a"},
        {"1 / (1 + exp(-a))", "ilogit(a)"},
        {"exp(a + b) / (exp(a + b) + 1)", "ilogit(a + b)"},
        {"1 / (1 + p * exp(-a))", "ilogit(a - log(p))"},
        {"1 - 1 / (1 + exp(a)) + ilogit(-a)", "1"},
        {"2 * exp(a) / (1 + exp(a)) * b", "2 * b * ilogit(a)"},
        {"loggam(p + 1) - loggam(p)", "log(p)"},
        {"a + loggam(p + q) - loggam(q + p + 2)",
         "a - log(p + q) - log(p + q + 1)"},
        {"3 * loggam(p + 1) - 2 * loggam(p)", "loggam(p + 1) + 2 * log(p)"},
    };
    static const char *const different[][2] = {
        {"sqrt(a^2)", "a"},
        {"(i == 3)^(-1)", "i == 3"},
        {"log(a^2)", "2 * log(a)"},
        {"v[i]", "v[i + 1]"},
        {"w[i,2]", "w[2,i]"},
        {"a - b", "b - a"},
        {"1 / (2 + exp(-a))", "ilogit(a)"},
        {"exp(b) / (1 + exp(a))", "ilogit(a)"},
        {"1 / (1 + a * exp(-b))", "ilogit(b - log(a))"},
        {"loggam(a + 1) - loggam(a)", "log(a)"},
        {"loggam(p + 0.5) - loggam(p)", "log(p)"},
    };
    (void)state;
    for (size_t t = 0; t < sizeof different / sizeof *different; t++) {
        struct world w;
        world_open(&w, 600);
        if (sym_same(read(&w, different[t][0]), read(&w, different[t][1])))
            fail_msg("%s is taken for %s", different[t][0], different[t][1]);
        world_close(&w);
    }
    for (size_t t = 0; t < sizeof pairs / sizeof *pairs; t++) {
        struct world w;
        world_open(&w, 600);
        symp e = read(&w, pairs[t][0]), f = read(&w, pairs[t][1]);
        if (!sym_same(e, f))
            fail_msg("%s is %s, not %s", pairs[t][0], sym_text(&w.c, e),
                     sym_text(&w.c, f));
        world_close(&w);
    }
}

/* ---- Sums ---------------------------------------------------------------- */

static bool has_sum(symp e)
{
    if (e->kind == SYM_SUM)
        return true;
    for (int i = 0; i < e->nargs; i++)
        if (has_sum(e->args[i]))
            return true;
    return false;
}

/* A sum over an equality is one term, or nothing where it is out of range. */
static void test_equalities(void **state)
{
    static const char *const sums[] = {
        "sum(k in 1:5, (k == 3) * v[k])",
        "sum(k in 1:5, (3 == k) * v[k] * a)",
        "sum(k in 1:5, (k == i) * v[k])",
        "sum(k in 2:4, (k == i) * v[k])",
        "sum(k in 1:4, (k + 1 == i) * v[k])",
        "sum(k in 2:5, (i == k - 1) * v[k])",
        "sum(k in 1:5, (k == 7) * v[i])",
        "sum(k in 1:5, ((k == i) && (i >= 2)) * v[k])",
        "sum(j in 1:5, sum(k in 1:5, ((j == 2) && (k == i)) * w[j,k]))",
        "sum(j in 1:5, sum(k in 1:5, (k == j) * (j == i) * w[j,k]))",
    };
    (void)state;
    for (size_t t = 0; t < sizeof sums / sizeof *sums; t++) {
        struct world w;
        world_open(&w, 700);
        struct expr *raw = parsed(&w, sums[t]);
        symp e = build(&w, raw);
        if (has_sum(e))
            fail_msg("%s is still a sum: %s", sums[t], sym_text(&w.c, e));
        for (int i = 1; i <= SIZE; i++) {
            new_values(&w);
            w.i_value = i;
            assert_true(near(value_of(&w, e), raw_value(&w, raw, NULL), 1));
        }
        world_close(&w);
    }
}

static void test_sums(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 800);
    struct compiler *c = &w.c;
    assert_true(sym_same(read(&w, "sum(k in 1:5, a)"), read(&w, "5 * a")));
    assert_true(sym_same(read(&w, "sum(k in 1:5, (k == i) * v[k])"),
                         read(&w, "v[i]"))); /* i runs from 1 to 5 */
    symp e = read(&w, "sum(k in 1:5, a * v[k])");
    assert_int_equal(e->kind, SYM_MUL); /* a stands outside */
    /* derivative of a sum by one element picks its term */
    symp at = sym_loop(c, &w.i);
    symp d = sym_derivative(c, read(&w, "sum(k in 1:5, u[k] * v[k])"),
                            sym_ref(c, &w.v, 1, &at));
    assert_true(sym_same(d, read(&w, "u[i]")));
    /* no derivative through a subscript */
    symp inner[] = {sym_ref(c, &w.a, 0, NULL)};
    assert_null(sym_derivative(c, sym_ref(c, &w.v, 1, inner), inner[0]));
    world_close(&w);
}

/* max() and min() of constants of which one is not a number. */
static void test_extremes(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 901);
    struct compiler *c = &w.c;
    symp none = sym_num(c, NAN), one = sym_num(c, 1);
    static const char *const names[] = {"max", "min"};
    for (int i = 0; i < 4; i++) {
        symp pair[2] = {i & 1 ? one : none, i & 1 ? none : one};
        symp value = sym_call(c, names[i / 2], 2, pair);
        assert_true(value->kind == SYM_NUM && isnan(value->number));
    }
    world_close(&w);
}

/* What the ends of a loop say of a comparison, be they numbers or not. */
static void test_ends(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, 900);
    struct compiler *c = &w.c;
    symp a = sym_ref(c, &w.a, 0, NULL), one = sym_num(c, 1);
    struct loop l = {.name = "k", .lower = sym_num(c, 2), .upper = a};
    symp k = sym_loop(c, &l), above = sym_add2(c, a, one);
    symp offset = sym_ref(c, &w.b, 0, NULL);
    assert_true(sym_is(sym_eq(c, k, above), 0));
    assert_true(sym_is(sym_eq(c, above, k), 0));
    assert_true(sym_is(sym_eq(c, k, one), 0));
    assert_true(sym_is(sym_call(c, "<=", 2, (symp[]){k, a}), 1));
    assert_true(sym_is(sym_call(c, ">=", 2, (symp[]){a, k}), 1));
    assert_true(sym_is(sym_call(c, ">=", 2, (symp[]){k, above}), 0));
    assert_true(sym_is(
        sym_call(c, "<=", 2,
                 (symp[]){sym_add2(c, k, offset), sym_add2(c, a, offset)}),
        1));
    /* it may be its last value, or its first */
    assert_int_equal(sym_eq(c, k, a)->kind, SYM_CALL);
    assert_int_equal(sym_eq(c, k, sym_num(c, 2))->kind, SYM_CALL);
    assert_int_equal(sym_call(c, ">=", 2, (symp[]){k, a})->kind, SYM_CALL);
    /* an end that moves with another loop is not relied on */
    struct loop within = {.name = "j", .lower = one, .upper = k};
    symp j = sym_loop(c, &within);
    assert_int_equal(sym_call(c, "<=", 2, (symp[]){j, k})->kind, SYM_CALL);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_build),      cmocka_unit_test(test_substitute),
        cmocka_unit_test(test_collect),    cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_derivative), cmocka_unit_test(test_same),
        cmocka_unit_test(test_forms),      cmocka_unit_test(test_equalities),
        cmocka_unit_test(test_sums),       cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
