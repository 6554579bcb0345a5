/* check_draws.c: whether the draws of a step that says that it draws exactly
 * are of its full conditional. Moves that add up tell a wrong density, not a
 * wrong draw. Some hundred draws of an element, all else being as it is, are
 * compared with the integral of the conditional's density, which is known up to
 * a constant: its distribution function and that of the draws differ by more
 * than what is allowed with a probability of `LEVEL` (Massart, "The tight
 * constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Annals of Probability
 * 18, 1990). Where they come near that, many more draws decide. Where the
 * integral is not sure nothing is said. */
#include "check/check.h"

#include <math.h>
#include <stdlib.h>

#define DRAWS 1000
#define FEW_DRAWS 300 /* where there is no time for more */
#define MANY_DRAWS 16000
#define SUSPICIOUS 0.4  /* of what is allowed: many draws decide, */
#define TO_DECIDE 0.02  /* seconds, which one step in seventy takes */
#define LEVEL 1e-11     /* of a step: of a run with fifty of them, below 1e-9 */
#define SLACK 0.01      /* for the integral */
#define FIRST_NODES 128 /* of draws; less than SLACK lies between two */
#define NODES 8192      /* at most */
#define LARGE 1e12   /* of terms that large rounding is no small difference */
#define SHARE 1e-3   /* of all mass: what a cell may leave out */
#define FAR_BELOW 30 /* a density that is so much lower in logs ends it */
#define OUTWARD 200  /* steps to an end */

struct node {
    double x, value; /* log density */
    double below;    /* mass, after `integrate` */
};

struct integral {
    const struct gbm_step *step;
    void *state;
    int element;
    struct node nodes[NODES]; /* in order after `sort` */
    int n;
    double top, whole;
    double until; /* when there is no time left */
    bool sure;
    double draws[MANY_DRAWS];
};

static double density(struct integral *g, double x)
{
    return g->step->conditional(g->state, g->element, &x);
}

static void add(struct integral *g, double x, double value)
{
    if (g->n == NODES || rt_clock() > g->until)
        g->sure = false;
    else
        g->nodes[g->n++] = (struct node){.x = x, .value = value};
    g->top = fmax(g->top, value);
}

/* Mass between two nodes, in units of exp(top): the log density is linear. */
static double mass(const struct integral *g, struct node a, struct node b)
{
    const double fall = b.value - a.value, high = fmax(a.value, b.value);
    const double width = (b.x - a.x) * exp(high - g->top);
    return fabs(fall) < 1e-8 ? width : width * -expm1(-fabs(fall)) / fabs(fall);
}

/* Nodes from the outermost draw on to where the density ends or is negligible:
 * steps grow until one leads out, and are halved from there on, towards the
 * bound. */
static void go_outward(struct integral *g, double x, double step)
{
    bool outside = false;
    for (int i = 0; i < OUTWARD && fabs(step) > 1e-15 * fabs(x); i++) {
        const double next = x + step, there = density(g, next);
        if (isfinite(there)) {
            add(g, x = next, there);
            if (there < g->top - FAR_BELOW)
                return;
        } else {
            outside = true;
        }
        step *= outside ? 0.5 : 2;
    }
}

/* In logs, where places are of very different sizes. */
static double between(double a, double b)
{
    if (a > 0 && b > 4 * a)
        return sqrt(a) * sqrt(b);
    if (b < 0 && a < 4 * b)
        return -sqrt(-a) * sqrt(-b);
    return a + (b - a) / 2;
}

/* Halves the cell between a and b until its mass no longer changes. */
static void refine(struct integral *g, struct node a, struct node b, int depth,
                   double whole)
{
    const double x = between(a.x, b.x);
    if (!g->sure || mass(g, a, b) < SHARE * whole / 30 || x <= a.x || x >= b.x)
        return;
    const struct node middle = {.x = x, .value = density(g, x)};
    if (!isfinite(middle.value) || depth == 0) {
        g->sure = false;
        return;
    }
    const double before = mass(g, a, b),
                 after = mass(g, a, middle) + mass(g, middle, b);
    if (fabs(after - before) < 0.02 * after)
        return;
    add(g, x, middle.value);
    refine(g, a, middle, depth - 1, whole);
    refine(g, middle, b, depth - 1, whole);
}

static int by_place(const void *a, const void *b)
{
    const struct node *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

static int by_value(const void *a, const void *b)
{
    const double p = *(const double *)a, q = *(const double *)b;
    return (p > q) - (p < q);
}

static double total(struct integral *g)
{
    double sum = 0;
    for (int i = 1; i < g->n; i++) {
        sum += mass(g, g->nodes[i - 1], g->nodes[i]);
        g->nodes[i].below = sum;
    }
    return sum;
}

static void sort(struct integral *g)
{
    qsort(g->nodes, (size_t)g->n, sizeof *g->nodes, by_place);
}

/* Whether what lies beyond the end whose last cells have these masses, the
 * outermost first, is next to nothing, as they decay. */
static bool ends(double last, double before, double whole)
{
    if (last < 1e-6 * SHARE * whole)
        return true;
    return last < before && last < SHARE * whole &&
           last * last / (before - last) < SHARE * whole;
}

static double mass_at(const struct integral *g, int i)
{
    return mass(g, g->nodes[i], g->nodes[i + 1]);
}

/* Cells as small as it takes, and their sum. */
static void integrate(struct integral *g)
{
    sort(g);
    double whole = total(g), before = 0;
    if (g->n < 4 || !ends(mass_at(g, 0), mass_at(g, 1), whole) ||
        !ends(mass_at(g, g->n - 2), mass_at(g, g->n - 3), whole))
        g->sure = false;
    for (int pass = 0; g->sure && fabs(whole - before) > SHARE * whole;
         pass++) {
        const int n = g->n;
        for (int i = 1; i < n; i++)
            refine(g, g->nodes[i - 1], g->nodes[i], 40, whole);
        sort(g);
        before = whole;
        whole = total(g);
        g->sure = g->sure && pass < 20;
    }
    g->sure = g->sure && whole > 0;
    g->whole = whole;
}

/* The distribution function at x. */
static double below(const struct integral *g, double x)
{
    int low = 0, high = g->n - 1;
    if (x <= g->nodes[low].x)
        return 0;
    if (x >= g->nodes[high].x)
        return 1;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        *(g->nodes[middle].x < x ? &low : &high) = middle;
    }
    const struct node *a = &g->nodes[low], *b = &g->nodes[high];
    const double part = (x - a->x) / (b->x - a->x);
    const struct node at = {.x = x,
                            .value = a->value + part * (b->value - a->value)};
    return (a->below + mass(g, *a, at)) / g->whole;
}

/* How far n draws, in order, are from the integral, by what is allowed. */
static double distance(const struct integral *g, int n)
{
    double worst = 0;
    for (int i = 0; i < n; i++)
        worst = fmax(worst, fabs(below(g, g->draws[i]) - (i + 0.5) / n));
    return worst / (sqrt(log(2 / LEVEL) / (2 * n)) + SLACK);
}

/* Some of n draws, in order, as first nodes: as many lie between any two, but
 * fewer before the last. Draws that are alike are of no density. */
static void add_draws(struct integral *g, int n)
{
    const double *draws = g->draws;
    const int apart = n / FIRST_NODES + 1;
    for (int i = 1; i < n; i++)
        g->sure = g->sure && draws[i] > draws[i - 1];
    for (int i = 0; i < n && g->sure; i += apart) {
        const double value = density(g, draws[i]);
        add(g, draws[i], value);
        g->sure = g->sure && isfinite(value);
        if (i < n - 1 && i + apart > n - 1)
            i = n - 1 - apart;
    }
}

/* The integral of what n draws, in order, should be of. */
static void build(struct integral *g, int n)
{
    const double *draws = g->draws;
    const int few = n / 16;
    add_draws(g, n);
    if (!g->sure)
        return;
    const double size = g->step->terms
                            ? g->step->terms(g->state, g->element, &draws[few])
                            : fabs(density(g, draws[few]));
    g->sure = g->sure && size < LARGE;
    go_outward(g, draws[0], draws[0] - draws[few]);
    go_outward(g, draws[n - 1], draws[n - 1] - draws[n - 1 - few]);
    integrate(g);
}

/* n draws of the element, in order, or `few`, as there is time for; 0: none. */
static int draw(struct integral *g, struct gbm_sweep *sweep, int chain, int n,
                int few)
{
    double began = 0;
    for (int i = 0; i < n; i++, sweep->sweep++) {
        if (i == 1) /* the first one is cold */
            began = rt_clock();
        g->step->run(g->state, sweep, (uint32_t)chain, &g->element, 0, 1);
        g->step->block_get(g->state, g->element, &g->draws[i]);
        if (!isfinite(g->draws[i]))
            return 0;
        if (i != 1)
            continue;
        /* and some densities, and places among the others */
        const double one = 3 * (rt_clock() - began);
        if (began + n * one > g->until)
            n = few;
        if (began + n * one > g->until)
            return 0;
    }
    qsort(g->draws, (size_t)n, sizeof *g->draws, by_value);
    return n;
}

double check_draws(const struct gbm_step *step, void *state,
                   struct gbm_sweep sweep, int chain, int element, double until)
{
    struct integral *g = step->exact && step->exact(state, element)
                             ? calloc(1, sizeof *g)
                             : NULL;
    if (!g)
        return -1;
    g->step = step;
    g->state = state;
    g->element = element;
    g->until = until;
    g->top = -(double)INFINITY;
    g->sure = true;
    double far = -1;
    int n = draw(g, &sweep, chain, DRAWS, FEW_DRAWS);
    if (n)
        build(g, n);
    if (n && g->sure)
        far = distance(g, n);
    if (far > SUSPICIOUS) {
        g->until = fmax(g->until, rt_clock() + TO_DECIDE);
        n = draw(g, &sweep, chain, MANY_DRAWS, DRAWS);
        far = n ? distance(g, n) : far;
    }
    free(g);
    return far;
}
