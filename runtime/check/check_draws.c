/* check_draws.c: whether the draws of a step that says that it draws exactly
 * are of its full conditional. Moves that add up tell a wrong density, not a
 * wrong draw. Some hundred draws of an element, all else being as it is, are
 * compared with the integral of the conditional's density, which is known up to
 * a constant: its distribution function and that of the draws differ by more
 * than what is allowed with a probability of `LEVEL` (Massart, "The tight
 * constant in the Dvoretzky-Kiefer-Wolfowitz inequality", Annals of Probability
 * 18, 1990). Where the draws are odd, though allowed, four times as many tell
 * more, as long as these are odd, too: each further look takes as many draws
 * on average. Where the integral is not sure nothing is said. */
#include "check/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DRAWS 1000
#define FEW_DRAWS 300 /* where there is no time for more */
#define MANY_DRAWS 16000
#define MORE 4         /* times as many draws where those so far are odd, as */
#define ODD 20.0       /* of a right step ODD / n by chance; */
#define TO_DECIDE 0.02 /* seconds, for which there is time in any case */
#define LEVEL 1e-11    /* of a look: of a run with fifty steps, below 1e-8 */
#define SLACK 0.01     /* for the integral */
#define FIRST_NODES 64 /* of draws */
#define NODES 8192     /* at most */
#define LARGE 1e12     /* of terms that large rounding is no small difference */
#define SHARE 1e-3     /* of all mass: what a cell may leave out */
#define FAR_BELOW 30   /* a density that is so much lower in logs ends it */
#define OUTWARD 200    /* steps to an end */
#define TIMED 4        /* draws that tell how long one takes */
#define DENSITIES 200  /* or so, of an integral */
#define UNTIMED 16     /* nodes between two looks at the clock */

struct node {
    double x, value; /* log density */
    double below;    /* mass, after `integrate` */
};

struct check_integral {
    const struct gbm_step *step;
    void *state;
    int element;
    struct node nodes[NODES]; /* in order after `sort` */
    int n;
    double top, whole;
    double until; /* when there is no time left */
    bool sure;
    double draws[MANY_DRAWS], room[MANY_DRAWS];
};

static double density(struct check_integral *g, double x)
{
    return g->step->conditional(g->state, g->element, &x);
}

static void add(struct check_integral *g, double x, double value)
{
    if (g->n == NODES || (g->n % UNTIMED == 0 && rt_clock() > g->until))
        g->sure = false;
    else
        g->nodes[g->n++] = (struct node){.x = x, .value = value};
    g->top = fmax(g->top, value);
}

/* Mass between two nodes, in units of exp(top): the log density is linear. */
static double mass(const struct check_integral *g, struct node a, struct node b)
{
    const double fall = b.value - a.value, high = fmax(a.value, b.value);
    const double width = (b.x - a.x) * exp(high - g->top);
    return fabs(fall) < 1e-8 ? width : width * -expm1(-fabs(fall)) / fabs(fall);
}

/* Nodes from the outermost draw on to where the density ends or is negligible:
 * steps grow until one leads out, and are halved from there on, towards the
 * bound. */
static void go_outward(struct check_integral *g, double x, double step)
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
static void refine(struct check_integral *g, struct node a, struct node b,
                   int depth, double whole)
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

/* Merges x[from, middle) and x[middle, to), each in order. */
static void merge(double *x, int from, int middle, int to, double *room)
{
    const int n = middle - from;
    int i = 0, j = middle;
    memcpy(room, x + from, (size_t)n * sizeof *x);
    for (int k = from; i < n && j < to; k++) {
        const bool left = room[i] <= x[j];
        x[k] = left ? room[i] : x[j];
        i += left;
        j += !left;
    }
    memcpy(x + j - (n - i), room + i, (size_t)(n - i) * sizeof *x);
}

/* Puts x[from, to) in order: qsort took half of the time of all draws. */
static void put_in_order(double *x, int from, int to, double *room)
{
    if (to - from > 12) {
        const int middle = from + (to - from) / 2;
        put_in_order(x, from, middle, room);
        put_in_order(x, middle, to, room);
        merge(x, from, middle, to, room);
        return;
    }
    for (int i = from + 1; i < to; i++) {
        const double moved = x[i];
        int k = i;
        for (; k > from && x[k - 1] > moved; k--)
            x[k] = x[k - 1];
        x[k] = moved;
    }
}

static double total(struct check_integral *g)
{
    double sum = 0;
    for (int i = 1; i < g->n; i++) {
        sum += mass(g, g->nodes[i - 1], g->nodes[i]);
        g->nodes[i].below = sum;
    }
    return sum;
}

static void sort(struct check_integral *g)
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

static double mass_at(const struct check_integral *g, int i)
{
    return mass(g, g->nodes[i], g->nodes[i + 1]);
}

/* Cells as small as it takes, and their sum. */
static void integrate(struct check_integral *g)
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

/* The distribution function at x, which lies between node i - 1 and i. */
static double below(const struct check_integral *g, int i, double x)
{
    const struct node *a = &g->nodes[i - 1], *b = &g->nodes[i];
    const double part = (x - a->x) / (b->x - a->x);
    const struct node at = {.x = x,
                            .value = a->value + part * (b->value - a->value)};
    return (a->below + mass(g, *a, at)) / g->whole;
}

/* How far n draws, in order, are from the integral. */
static double distance(const struct check_integral *g, int n)
{
    double worst = 0;
    for (int i = 0, node = 0; i < n; i++) {
        const double x = g->draws[i];
        while (node < g->n && g->nodes[node].x < x)
            node++;
        const double at = node == 0 ? 0 : node == g->n ? 1 : below(g, node, x);
        worst = fmax(worst, fabs(at - (i + 0.5) / n));
    }
    return worst;
}

/* What n draws exceed with that probability. */
static double by_chance(double probability, int n)
{
    return sqrt(log(2 / probability) / (2 * n));
}

/* Some of n draws, in order, as first nodes: as many lie between any two, but
 * fewer before the last. Draws that are alike are of no density. */
static void add_draws(struct check_integral *g, int n)
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
static void build(struct check_integral *g, int n)
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

static void draw_one(struct check_integral *g, struct gbm_sweep *sweep,
                     int chain, int i)
{
    g->step->run(g->state, sweep, (uint32_t)chain, &g->element, 0, 1);
    g->step->block_get(g->state, g->element, &g->draws[i]);
    sweep->sweep++;
}

/* How many draws there is time for, if one takes `one`; they are put in order,
 * and some densities take as long as draws. */
static int affordable(double one, const struct check_time *time)
{
    const double now = rt_clock();
    if (now + (1.5 * DRAWS + DENSITIES) * one < time->share)
        return DRAWS;
    return now + (1.5 * FEW_DRAWS + DENSITIES) * one < time->last ? FEW_DRAWS
                                                                  : 0;
}

/* Draws of the element up to n of them, in order; from 0 on as many as there
 * is time for. Tells how many there are; 0: none. */
static int draw(struct check_integral *g, struct gbm_sweep *sweep, int chain,
                int from, int n, const struct check_time *time)
{
    double began = 0;
    for (int i = from; i < n; i++) {
        if (i == 1) /* the first one is cold */
            began = rt_clock();
        draw_one(g, sweep, chain, i);
        if (!isfinite(g->draws[i]))
            return 0;
        if (i == TIMED)
            n = affordable((rt_clock() - began) / TIMED, time);
        if (i % 1024 == 1023 && rt_clock() > time->last)
            return 0;
    }
    /* those before `from` are in order */
    put_in_order(g->draws, from, n, g->room);
    merge(g->draws, 0, from, n, g->room);
    return n;
}

/* How far n draws are from the integral, by what is allowed; more of them, as
 * long as they are odd. */
static double decide(struct check_integral *g, struct gbm_sweep *sweep,
                     int chain, int n)
{
    const struct check_time time = {.last = rt_clock() + TO_DECIDE};
    double far = distance(g, n);
    while (far > by_chance(ODD / n, n) && n < MANY_DRAWS) {
        const int more = n * MORE < MANY_DRAWS ? n * MORE : MANY_DRAWS;
        if (draw(g, sweep, chain, n, more, &time) == 0)
            break;
        far = distance(g, n = more);
    }
    return far / (by_chance(LEVEL, n) + SLACK);
}

struct check_integral *check_integral_create(void)
{
    return malloc(sizeof(struct check_integral));
}

double check_draws(struct check_integral *g, const struct gbm_step *step,
                   void *state, struct gbm_sweep sweep, int chain, int element,
                   struct check_time time)
{
    if (!step->exact || !step->exact(state, element))
        return -1;
    g->step = step;
    g->state = state;
    g->element = element;
    g->until = time.last;
    g->top = -(double)INFINITY;
    g->sure = true;
    g->n = 0;
    const int n = draw(g, &sweep, chain, 0, DRAWS, &time);
    if (n)
        build(g, n);
    return n && g->sure ? decide(g, &sweep, chain, n) : -1;
}
