/* along.c: moves of many numbers at once, behind the steps of a sweep. Numbers
 * that the data tie to each other move in small steps where each is drawn given
 * the others, and the compiler knows the ties only where they are linear. So
 * warm-up learns which sums of a chain's numbers are slow, and what all numbers
 * do along with these (along_learn.c); then each sweep ends with a slice along
 * each of these lines, in the joint density of all that the sweep draws. It is
 * one of the factor slices of Tibbits, Groendyke, Haran and Liechty (2014),
 * Automated factor slice sampling, J. Comput. Graph. Stat. 23(2), along the
 * directions that need one. What is tied by its support and what augmentations
 * added stays as it is. After warm-up the lines do not change.
 *
 * A count n moves as x = n + u, where u, uniform between 0 and 1, is drawn anew
 * for each move: the density of x is that of the whole number below it, so a
 * line has one at each of its places, and a count goes along with the rates and
 * probabilities that the data tie it to. */
#include "host/host.h"
#include "host/along.h"
#include "gbm.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PERIOD = 8 };
#define STEP_NUMBER (UINT32_MAX - 1) /* in the random number key */

/* ---- making one ---- */

/* GBM_LINES is for tests: `off`, as other devices do not have these moves;
 * `always`, as lines that do not pay must leave the posterior as it is, too. */
static bool is_asked_to_be(const char *what)
{
    const char *asked = getenv("GBM_LINES");
    return asked && strcmp(asked, what) == 0;
}

static bool is_wanted(const struct rt *rt)
{
    const int least = is_asked_to_be("always") ? ALONG_LEAST : ALONG_WARMUP;
    return rt->lines && rt->options.warmup >= least && !is_asked_to_be("off");
}

void host_along_free(struct host_along *a)
{
    if (!a)
        return;
    free(a->terms);
    free(a->derived);
    free(a->widths);
    free(a->history);
    free(a->summed);
    free(a);
}

/* A move that costs more than a sweep is made in some sweeps alone: it has more
 * to move then, and what its line leaves to the others has more time. */
static void set_cost(struct host_along *a, double cost)
{
    a->period = cost < MOST_PERIOD ? (int)fmax(cost, 1) : MOST_PERIOD;
    a->cost = cost / a->period;
}

struct host_along *host_along_create(const struct rt *rt,
                                     const struct rt_instance *in,
                                     const void *state)
{
    struct host_along *a = is_wanted(rt) ? calloc(1, sizeof *a) : NULL;
    size_t all = 1;
    if (!a)
        return NULL;
    for (int f = 0; f < in->model->nfamilies; f++)
        all += (size_t)in->elements[f];
    a->in = in;
    a->always = is_asked_to_be("always");
    a->warmup = rt->options.warmup;
    a->stride = a->warmup / 2 / ALONG_ROWS + 1;
    a->terms = malloc(all * sizeof *a->terms);
    a->derived = malloc(all * sizeof *a->derived);
    if (a->terms && a->derived && along_list(a, state) &&
        along_list_summed(a, state)) {
        const size_t chains = (size_t)in->nchains;
        along_list_moved_counts(a, state);
        along_list_others(a, state);
        along_find_positive(a, state);
        set_cost(a, along_cost(a, state));
        a->widths = calloc(chains, sizeof *a->widths);
        a->history =
            calloc(chains * ALONG_ROWS * (size_t)a->seen, sizeof *a->history);
    }
    if (a->widths && a->history)
        return a;
    host_along_free(a);
    return NULL;
}

void host_along_own(struct host_along *a, struct rt_pieces *pieces)
{
    const size_t chains = (size_t)a->in->nchains;
    rt_pieces_add(pieces, "lines of moves", &a->lines, sizeof a->lines);
    rt_pieces_add(pieces, "widths of moves", a->widths,
                  chains * sizeof *a->widths);
    rt_pieces_add(pieces, "scales of moves", a->positive, sizeof a->positive);
    rt_pieces_add(pieces, "what lines are learnt from", a->history,
                  chains * ALONG_ROWS * (size_t)a->seen * sizeof *a->history);
}

/* ---- a move ---- */

struct move {
    const struct host_along *a;
    void *state;
    int chain;
    const double *line; /* [n] */
    double from[ALONG_CELLS];
};

/* Where number k comes to from `from`; a whole one with its fraction. */
static double place(const struct move *m, int k, double from, double t)
{
    const double step = t * m->line[k];
    return m->a->positive[k] ? from * exp(step) : from + step;
}

static void derive(const struct move *m)
{
    const struct host_along *a = m->a;
    for (int64_t i = 0; i < a->nderived; i++) {
        const struct gbm_family *f =
            &a->in->model->families[a->derived[i].family];
        (f->refresh ? f->refresh : f->derive)(m->state, a->derived[i].element);
    }
}

/* False: a whole number would be larger than its memory holds, and what the
 * state is then is not said. */
static bool put(const struct move *m, double t)
{
    const struct host_along *a = m->a;
    for (int k = 0; k < a->n; k++) {
        if (m->line[k] == 0)
            continue;
        const double x = place(m, k, m->from[k], t);
        if (a->whole[k] && !(fabs(x) < INT_MAX))
            return false;
        along_set(a, m->chain, k, a->whole[k] ? floor(x) : x);
    }
    derive(m);
    return true;
}

/* The joint log density at t, of the numbers' own scales, summed over counts.
 */
static double density(const void *context, double t)
{
    const struct move *m = context;
    const struct host_along *a = m->a;
    double sum = 0;
    if (!put(m, t))
        return -(double)INFINITY;
    for (int k = 0; k < a->n; k++)
        if (a->positive[k])
            sum += t * m->line[k];
    for (int64_t i = 0; i < a->nterms && sum > -(double)INFINITY; i++)
        sum += a->in->model->families[a->terms[i].family].logdensity(
            m->state, a->terms[i].element);
    if (a->nsummed > 0 && sum > -(double)INFINITY)
        sum -= along_log_summed(a, m->state);
    return isnan(sum) ? -(double)INFINITY : sum;
}

/* Log of how far apart a move takes two values of each number that it moves,
 * for the distance between them: what a density of the numbers' own scales has
 * beside the joint's. Of the places alone, as the self-check asks. */
static double stretch(const struct move *m, double t)
{
    double sum = 0;
    for (int k = 0; k < m->a->n; k++) {
        const double from = m->from[k], to = place(m, k, from, t);
        const double apart = fabs(from) + fabs(to - from);
        if (apart > 0 && m->line[k] != 0)
            sum += log(fabs(place(m, k, from + apart, t) - to) / apart);
    }
    return sum;
}

/* False: a count is beyond what is listed of it. */
static bool may_move(const struct move *m)
{
    return m->a->nsummed == 0 ||
           (put(m, 0) && !isnan(along_log_summed(m->a, m->state)));
}

static void move(struct host_along *a, void *state, int chain, int line,
                 const struct rt_block *b, uint32_t sweep, double *told)
{
    struct move m = {
        .a = a, .state = state, .chain = chain, .line = a->lines.line[line]};
    struct gbm_rng rng;
    gbm_rng_start(&rng, b->seed, (uint32_t)chain, sweep, STEP_NUMBER,
                  (uint32_t)line);
    for (int k = 0; k < a->n; k++)
        m.from[k] =
            along_value(a, chain, k) + (a->whole[k] ? gbm_uniform(&rng) : 0);
    if (!may_move(&m))
        return;
    const double start = told ? density(&m, 0) : 0;
    const double before = told ? along_log_summed(a, state) : 0;
    const double t =
        gbm_slice_any(&rng, 0, &a->widths[chain][line], 1, b->adapting,
                      -GBM_INF, GBM_INF, false, density, &m);
    put(&m, t);
    if (told)
        *told += density(&m, t) - start - stretch(&m, t);
    if (a->nsummed > 0) {
        along_draw_summed(a, state, &rng);
        derive(&m);
    }
    if (told)
        *told += along_log_summed(a, state) - before;
}

bool host_along_any(const struct host_along *a) { return a && a->lines.n > 0; }

/* The number that the first line moves furthest, in its own scale. */
void host_along_first(const struct host_along *a, int *family, int64_t *element)
{
    int first = 0;
    for (int k = 1; k < a->n; k++)
        if (fabs(a->lines.line[0][k]) > fabs(a->lines.line[0][first]))
            first = k;
    *family = a->place[first].family;
    *element = a->place[first].element;
}

void host_along_move(struct host_along *a, void *state, int chain,
                     const struct rt_block *b, uint32_t sweep, double *told)
{
    if (b->adapting)
        along_record(a, chain, (int)sweep + 1);
    if (!told && sweep % (uint32_t)a->period != 0)
        return;
    for (int i = 0; i < a->lines.n; i++)
        move(a, state, chain, i, b, sweep, told);
    if (a->lines.n > 0) /* rows that a cell has may hang on what has moved */
        rt_index_latents(a->in, state, chain);
}
