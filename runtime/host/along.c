/* along.c: moves of many numbers at once, behind the steps of a sweep. Numbers
 * that the data tie to each other move in small steps where each is drawn given
 * the others, and the compiler knows the ties only where they are linear. So
 * warm-up learns which sums of a chain's numbers are slow, and what all numbers
 * do along with these (along_learn.c); then each sweep ends with a slice along
 * each of these lines, in the joint density of all that the sweep draws. It is
 * one of the factor slices of Tibbits, Groendyke, Haran and Liechty (2014),
 * Automated factor slice sampling, J. Comput. Graph. Stat. 23(2), along the
 * directions that need one. Whole numbers, what is tied by its support and what
 * augmentations added stay as they are. After warm-up the lines do not change.
 */
#include "host/host.h"
#include "host/along.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEP_NUMBER (UINT32_MAX - 1) /* in the random number key */

/* In operations, as phases count them: a density, a definition or a number that
 * is set, beside what it computes; an element's draw beside its phases. */
enum { OF_CALL = 10, OF_DRAW = 40 };
/* A step that tries values counts what it does for two of each element. It
 * tries five or so, and does once for all of them what they share. */
#define OF_SEARCH 1.5

#define FIRST_WIDTH 2.0 /* of a slice, in deviations of the sum */

struct place {
    int variable, family;
    int64_t cell, element;
};

struct item {
    int family;
    int64_t element;
};

struct host_along {
    const struct rt_instance *in;
    int n, seen; /* places that move; with those that are learnt from */
    int warmup, stride;
    struct place place[ALONG_CELLS];
    bool positive[ALONG_CELLS];   /* these move on their logarithms */
    struct item *terms, *derived; /* of the joint density */
    int64_t nterms, nderived;
    double cost; /* of a move along a line, in sweeps */
    struct along_lines lines;
    double (*widths)[ALONG_LINES]; /* [chains], of the slices */
    double *history;               /* [chains][ALONG_ROWS][seen] */
};

/* ---- what moves ---- */

static double value_of(const struct host_along *a, int chain, int k)
{
    const struct place *p = &a->place[k];
    return rt_value(&a->in->slots[p->variable], false, chain, p->cell);
}

static void set_value(const struct host_along *a, int chain, int k, double x)
{
    const struct place *p = &a->place[k];
    rt_set_value(&a->in->slots[p->variable], false, chain, p->cell, x);
}

/* Whether samplers { } says how the elements of a family are drawn. */
static bool is_asked(const struct gbm_model *m, int f)
{
    for (int k = 0; k < m->nsteps; k++) {
        const struct gbm_step *s = &m->steps[k];
        const int n = s->joint     ? s->joint->nfamilies
                      : s->members ? s->nmembers
                                   : 1;
        const int *families = s->joint     ? s->joint->families
                              : s->members ? s->members
                                           : &s->family;
        for (int i = 0; i < n && s->asked; i++)
            if (families[i] == f)
                return true;
    }
    return false;
}

/* False: there are too many. */
static bool add_places(struct host_along *a, const void *state, int f,
                       int64_t element, struct rt_cells *buffer)
{
    const struct gbm_family *family = &a->in->model->families[f];
    const struct rt_slot *slot = &a->in->slots[family->variable];
    const int64_t n = rt_element_cells(family, state, element, buffer);
    for (int64_t i = 0; i < n; i++) {
        if (rt_seen(slot, buffer->cells[i]))
            continue;
        if (a->seen == ALONG_CELLS)
            return false;
        a->place[a->seen++] = (struct place){.variable = family->variable,
                                             .family = f,
                                             .cell = buffer->cells[i],
                                             .element = element};
    }
    return true;
}

/* Whether elements of a family are numbers that chains draw. */
static bool is_drawn(const struct host_along *a, int f)
{
    const struct gbm_family *family = &a->in->model->families[f];
    const struct gbm_variable *v = &a->in->model->variables[family->variable];
    return family->stochastic && !family->data_block && !family->auxiliary &&
           !v->integer && v->role == GBM_STOCHASTIC &&
           a->in->slots[family->variable].per_chain;
}

/* Whether lines may move them. */
static bool is_free(const struct host_along *a, int f)
{
    return is_drawn(a, f) &&
           a->in->model->families[f].support == GBM_SUPPORT_ANY &&
           !is_asked(a->in->model, f);
}

/* Lists all; false: there is something that must not move, or too much. */
static bool list_all(struct host_along *a, const void *state)
{
    const struct gbm_model *m = a->in->model;
    struct rt_cells buffer = {0};
    bool fits = true;
    for (int f = 0; f < m->nfamilies && fits; f++) {
        const struct gbm_family *family = &m->families[f];
        const int64_t n = a->in->elements[f];
        for (int64_t e = 0; rt_is_read(m, f) && e < n; e++) {
            a->derived[a->nderived++] = (struct item){f, e};
            if (family->refresh) /* which recomputes them all */
                break;
        }
        if (!family->stochastic || family->data_block)
            continue;
        const bool moves = is_free(a, f);
        fits = !(family->summands && n > 0); /* which hold a sum */
        for (int64_t e = 0; e < n && fits; e++) {
            if (rt_drawn_forward(a->in, state, f, e, &buffer))
                continue;
            if (!family->augmented)
                a->terms[a->nterms++] = (struct item){f, e};
            fits = !moves || add_places(a, state, f, e, &buffer);
        }
    }
    a->n = a->seen;
    free(buffer.cells);
    return fits && a->n > 1;
}

/* Numbers that lines do not move, as far as there is room. */
static void list_others(struct host_along *a, const void *state)
{
    struct rt_cells buffer = {0};
    bool fits = true;
    for (int f = 0; f < a->in->model->nfamilies && fits; f++)
        for (int64_t e = 0; e < a->in->elements[f] && fits; e++)
            if (is_drawn(a, f) && !is_free(a, f) &&
                !rt_drawn_forward(a->in, state, f, e, &buffer))
                fits = add_places(a, state, f, e, &buffer);
    free(buffer.cells);
}

/* What has no density below 0, at a value above it. */
static void find_positive(struct host_along *a, const void *state)
{
    for (int k = 0; k < a->n; k++) {
        const struct gbm_family *family =
            &a->in->model->families[a->place[k].family];
        const double x = value_of(a, 0, k);
        if (!(x > 0))
            continue;
        set_value(a, 0, k, -x);
        a->positive[k] =
            !isfinite(family->logdensity(state, a->place[k].element));
        set_value(a, 0, k, x);
    }
}

/* ---- what it costs ---- */

static double work_of(const struct rt_instance *in, const struct gbm_step *s,
                      const void *state)
{
    size_t n = 1;
    double all = 0;
    for (int i = 0; i < s->nphases; i++)
        n += GBM_WORK_READS + (size_t)s->phases[i].nreads;
    double *counts = calloc(n, sizeof *counts), *at = counts;
    if (!counts)
        return 0;
    s->work(state, counts);
    for (int i = 0; i < s->nphases; i++) {
        all += at[GBM_WORK_OPERATIONS];
        at += GBM_WORK_READS + s->phases[i].nreads;
    }
    free(counts);
    const int64_t drawn = s->whole ? 1 : in->steps[s->number].count;
    return (s->trials ? OF_SEARCH : 1) * all + OF_DRAW * (double)drawn;
}

static double work_of_items(const struct rt_instance *in,
                            const struct item *items, int64_t n,
                            const double *works)
{
    double all = 0;
    for (int64_t i = 0; i < n; i++) {
        const int f = items[i].family;
        const bool whole = in->model->families[f].refresh != NULL;
        all += OF_CALL + works[f] / (whole ? 1 : (double)in->elements[f]);
    }
    return all;
}

static double cost_of(const struct host_along *a, const void *state)
{
    const struct gbm_model *m = a->in->model;
    double sweep = 1, density = OF_CALL * (double)a->n;
    double *works = calloc((size_t)m->nfamilies + 1, sizeof *works);
    if (!works)
        return (double)INFINITY; /* no line pays */
    m->family_work(state, works);
    density += work_of_items(a->in, a->terms, a->nterms, works);
    density += work_of_items(a->in, a->derived, a->nderived, works);
    free(works);
    for (int k = 0; k < m->nsteps; k++)
        if (a->in->steps[k].active && !m->steps[k].leaf && m->steps[k].work)
            sweep += work_of(a->in, &m->steps[k], state);
    return ALONG_TRIALS * density / sweep;
}

/* ---- making one ---- */

/* GBM_LINES=off: for tests, as other devices do not have these moves. */
static bool is_wanted(const struct rt *rt)
{
    const char *asked = getenv("GBM_LINES");
    return rt->lines && rt->options.warmup >= ALONG_WARMUP &&
           !(asked && strcmp(asked, "off") == 0);
}

void host_along_free(struct host_along *a)
{
    if (!a)
        return;
    free(a->terms);
    free(a->derived);
    free(a->widths);
    free(a->history);
    free(a);
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
    a->warmup = rt->options.warmup;
    a->stride = a->warmup / 2 / ALONG_ROWS + 1;
    a->terms = malloc(all * sizeof *a->terms);
    a->derived = malloc(all * sizeof *a->derived);
    if (a->terms && a->derived && list_all(a, state)) {
        const size_t chains = (size_t)in->nchains;
        list_others(a, state);
        find_positive(a, state);
        a->cost = cost_of(a, state);
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

static void put(const struct move *m, double t)
{
    const struct host_along *a = m->a;
    for (int k = 0; k < a->n; k++)
        if (m->line[k] != 0)
            set_value(a, m->chain, k,
                      a->positive[k] ? m->from[k] * exp(t * m->line[k])
                                     : m->from[k] + t * m->line[k]);
    for (int64_t i = 0; i < a->nderived; i++) {
        const struct gbm_family *f =
            &a->in->model->families[a->derived[i].family];
        (f->refresh ? f->refresh : f->derive)(m->state, a->derived[i].element);
    }
}

/* The joint log density at t, of the numbers' own scales. */
static double density(const void *context, double t)
{
    const struct move *m = context;
    const struct host_along *a = m->a;
    double sum = 0;
    put(m, t);
    for (int k = 0; k < a->n; k++)
        if (a->positive[k])
            sum += t * m->line[k];
    for (int64_t i = 0; i < a->nterms && sum > -(double)INFINITY; i++)
        sum += a->in->model->families[a->terms[i].family].logdensity(
            m->state, a->terms[i].element);
    return sum;
}

static void move(struct host_along *a, void *state, int chain, int line,
                 const struct rt_block *b, uint32_t sweep)
{
    struct move m = {
        .a = a, .state = state, .chain = chain, .line = a->lines.line[line]};
    struct gbm_rng rng;
    gbm_rng_start(&rng, b->seed, (uint32_t)chain, sweep, STEP_NUMBER,
                  (uint32_t)line);
    for (int k = 0; k < a->n; k++)
        m.from[k] = value_of(a, chain, k);
    put(&m, gbm_slice_any(&rng, 0, &a->widths[chain][line], 1, b->adapting,
                          -GBM_INF, GBM_INF, false, density, &m));
}

/* ---- learning ---- */

/* In warm-up lines are learnt after a quarter, a half and all of it, each time
 * from what came after the time before, at first from where most have come from
 * where they started. */
enum { MOMENTS = 4 };

static int moment(const struct host_along *a, int k)
{
    const int eighths[MOMENTS] = {1, 4, 6, 8};
    return k == MOMENTS - 1 ? a->warmup : a->warmup / 8 * eighths[k];
}

/* The last moment up to `done` sweeps; -1: there is none. */
static int moment_before(const struct host_along *a, int done)
{
    int k = -1;
    while (k + 1 < MOMENTS && moment(a, k + 1) <= done)
        k++;
    return k;
}

int host_along_until(const struct host_along *a, const struct rt_block *b,
                     int from)
{
    const int done = (int)b->first + from, k = moment_before(a, done) + 1;
    const bool within = b->adapting && k < MOMENTS;
    return within && moment(a, k) - done < b->sweeps - from
               ? from + moment(a, k) - done
               : b->sweeps;
}

/* Sweeps `done` of a chain: its state is one to learn from. */
static void record(struct host_along *a, int chain, int done)
{
    const int k = moment_before(a, done - 1);
    const int after = k < 0 ? 0 : done - moment(a, k), row = after / a->stride;
    if (row == 0 || row > ALONG_ROWS || after % a->stride != 0)
        return;
    double *x = a->history + ((size_t)chain * ALONG_ROWS + (size_t)row - 1) *
                                 (size_t)a->seen;
    for (int i = 0; i < a->seen; i++) {
        const double value = value_of(a, chain, i);
        x[i] = a->positive[i] ? log(value) : value;
    }
}

bool host_along_learn(struct host_along *a, const struct rt_block *b, int to)
{
    const int done = (int)b->first + to, k = moment_before(a, done);
    if (!b->adapting || k < 0 || moment(a, k) != done)
        return true;
    if (k == 0) { /* a warm-up begins */
        a->lines = (struct along_lines){.n = 0};
        return true;
    }
    int rows = (done - moment(a, k - 1)) / a->stride;
    rows = rows < ALONG_ROWS ? rows : ALONG_ROWS;
    const struct along_history history = {.x = a->history,
                                          .chains = a->in->nchains,
                                          .rows = rows,
                                          .n = a->seen,
                                          .moving = a->n,
                                          .stride = a->stride};
    const size_t cells = (size_t)rows * (size_t)a->seen;
    for (int c = 1; c < a->in->nchains; c++)
        memmove(a->history + (size_t)c * cells,
                a->history + (size_t)c * ALONG_ROWS * (size_t)a->seen,
                cells * sizeof *a->history);
    for (int c = 0; c < a->in->nchains; c++)
        for (int i = 0; i < ALONG_LINES; i++)
            a->widths[c][i] = FIRST_WIDTH;
    return along_learn(&a->lines, &history, a->cost, k == MOMENTS - 1);
}

void host_along_move(struct host_along *a, void *state, int chain,
                     const struct rt_block *b, uint32_t sweep)
{
    if (b->adapting)
        record(a, chain, (int)sweep + 1);
    for (int i = 0; i < a->lines.n; i++)
        move(a, state, chain, i, b, sweep);
    if (a->lines.n > 0) /* rows that a cell has may hang on what has moved */
        rt_index_latents(a->in, state, chain);
}
