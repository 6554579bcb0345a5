/* plain.c: a sampler that knows nothing of the compiler's algebra, to compare
 * the derived ones with. Every latent number has its own update on the joint
 * log density of the whole model, which is the sum of all families' plain ones,
 * everything derived computed anew: a slice (Neal 2003) for a real one, Gibbs
 * in a window for an integer. Numbers that a simplex, a sum or a symmetric
 * matrix ties move in twos. Nodes that augmentations add are left out. The cost
 * of a sweep goes with the square of the model's size. */
#include "session/session.h"
#include "base/base.h"
#include "gbm.h"
#include "host/host.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEP_OUT 50            /* widths that a slice may have */
#define SHRINK 200             /* points tried in it */
#define WIDEST 30.0            /* times its tuned width: other modes */
#define WINDOW 16              /* neighbours among which an integer is drawn */
#define LARGEST 30             /* strides of windows are at most 2^LARGEST */
#define STEP_NUMBER UINT32_MAX /* in the random number key */

struct place {
    int variable, family;
    int64_t cell, element;
};

/* A line along which the state may move: `moving` places from the first on, or
 * the first and another one, taken at random from `pool`, the other way. */
struct line {
    int64_t first, pool, npool; /* places */
    int moving;
    bool integer;
    bool keeps_norm; /* of both: the second follows, not negative */
};

struct plain {
    const struct rt_instance *in;
    char *states;
    struct place *places;
    int64_t nplaces, places_capacity;
    struct line *lines;
    int64_t nlines, lines_capacity;
    double *widths; /* [chains][nlines] */
    struct rt_moments *moments;
    int64_t count; /* of the moments */
};

/* ---- lines ---- */

static int64_t add_place(struct plain *p, struct place place)
{
    p->places =
        rt_grow(p->places, p->nplaces, &p->places_capacity, sizeof *p->places);
    p->places[p->nplaces] = place;
    return p->nplaces++;
}

static void add_line(struct plain *p, struct line line)
{
    line.integer = rt_draws_whole(p->in->model, p->places[line.first].family);
    p->lines =
        rt_grow(p->lines, p->nlines, &p->lines_capacity, sizeof *p->lines);
    p->lines[p->nlines++] = line;
}

/* Places from `pool` on move in twos. */
static void add_pairs(struct plain *p, int64_t pool)
{
    int64_t n = p->nplaces - pool;
    for (int64_t i = 0; n > 1 && i < n; i++)
        add_line(p, (struct line){.first = pool + i, .pool = pool, .npool = n});
}

static void add_matrix(struct plain *p, struct place at, const int64_t *cells,
                       int64_t n, bool fixed)
{
    const struct rt_slot *slot = &p->in->slots[at.variable];
    int64_t extent = (int64_t)lround(sqrt((double)n));
    for (int64_t i = 0; i < extent; i++)
        for (int64_t j = 0; j <= i - fixed; j++) {
            int64_t a = cells[i * extent + j], b = cells[j * extent + i];
            if (rt_seen(slot, a) || rt_seen(slot, b))
                continue;
            at.cell = a;
            int64_t first = add_place(p, at);
            at.cell = b;
            if (i != j)
                add_place(p, at);
            add_line(p, (struct line){.first = first, .moving = 1 + (i != j)});
        }
}

/* Columns of norm 1, or rows of a lower factor: a cell takes its column's, or
 * row's, diagonal along. */
static void add_correlation_factor(struct plain *p, struct place at,
                                   const int64_t *cells, int64_t n, bool lower)
{
    const struct rt_slot *slot = &p->in->slots[at.variable];
    int64_t extent = (int64_t)lround(sqrt((double)n));
    for (int64_t i = 0; i < extent; i++)
        for (int64_t j = i + 1; j < extent; j++) {
            int64_t a = cells[lower ? j * extent + i : i * extent + j];
            int64_t b = cells[j * extent + j];
            if (rt_seen(slot, a) || rt_seen(slot, b))
                continue;
            at.cell = a;
            int64_t first = add_place(p, at);
            at.cell = b;
            add_place(p, at);
            add_line(p, (struct line){
                            .first = first, .moving = 2, .keeps_norm = true});
        }
}

/* `summed`: cells of each variable that an observed sum ties. */
static enum gbm_status add_element(struct rt *rt, struct plain *p,
                                   struct place at, const unsigned char *summed,
                                   struct rt_cells *buffer)
{
    const struct gbm_family *family = &p->in->model->families[at.family];
    const struct rt_slot *slot = &p->in->slots[at.variable];
    int64_t n = rt_element_cells(family, p->states, at.element, buffer);
    int64_t pool = p->nplaces;
    if (family->support == GBM_SUPPORT_MATRIX ||
        family->support == GBM_SUPPORT_CORRELATION) {
        add_matrix(p, at, buffer->cells, n,
                   family->support == GBM_SUPPORT_CORRELATION);
        return GBM_OK;
    }
    if (family->support == GBM_SUPPORT_CORRELATION_UPPER ||
        family->support == GBM_SUPPORT_CORRELATION_LOWER) {
        add_correlation_factor(p, at, buffer->cells, n,
                               family->support ==
                                   GBM_SUPPORT_CORRELATION_LOWER);
        return GBM_OK;
    }
    for (int64_t i = 0; i < n; i++) {
        at.cell = buffer->cells[i];
        if (rt_seen(slot, at.cell) || (summed && summed[at.cell]))
            continue;
        if (family->support == GBM_SUPPORT_OTHER)
            return rt_fail(rt, GBM_USER_ERROR,
                           "%s: --plain: not supported yet: what values %s may "
                           "have is not described",
                           family->where, family->text);
        int64_t first = add_place(p, at);
        if (family->support == GBM_SUPPORT_ANY)
            add_line(p, (struct line){.first = first, .moving = 1});
    }
    if (family->support != GBM_SUPPORT_ANY)
        add_pairs(p, pool);
    return GBM_OK;
}

static bool is_counted(const struct gbm_family *f)
{
    return f->stochastic && !f->data_block && !f->auxiliary;
}

/* The element of a family that defines a cell. */
static struct place place_of(const struct plain *p, int variable, int64_t cell)
{
    const struct gbm_model *m = p->in->model;
    struct place found = {.variable = variable, .family = -1, .cell = cell};
    struct rt_cells buffer = {0};
    for (int f = 0; f < m->nfamilies && found.family < 0; f++) {
        if (m->families[f].variable != variable || !is_counted(&m->families[f]))
            continue;
        for (int64_t e = 0; e < p->in->elements[f]; e++) {
            int64_t n =
                rt_element_cells(&m->families[f], p->states, e, &buffer);
            for (int64_t i = 0; i < n; i++)
                if (buffer.cells[i] == cell) {
                    found.family = f;
                    found.element = e;
                }
        }
    }
    free(buffer.cells);
    return found;
}

/* The latent cells of an observed sum. */
static void add_sum(struct plain *p, int f, int64_t element,
                    unsigned char **summed)
{
    const struct gbm_family *family = &p->in->model->families[f];
    int64_t n = family->summands(p->states, element, NULL, NULL);
    int *variables = malloc(((size_t)n + 1) * sizeof *variables);
    int64_t *cells = malloc(((size_t)n + 1) * sizeof *cells);
    if (!variables || !cells)
        abort();
    family->summands(p->states, element, variables, cells);
    int64_t pool = p->nplaces;
    for (int64_t i = 0; i < n; i++) {
        int v = variables[i];
        size_t size = (size_t)p->in->slots[v].cells + 1;
        if (!summed[v] && !(summed[v] = calloc(size, 1)))
            abort();
        summed[v][cells[i]] = 1;
        struct place at = place_of(p, v, cells[i]);
        if (at.family >= 0)
            add_place(p, at);
    }
    add_pairs(p, pool);
    free(variables);
    free(cells);
}

static enum gbm_status list_lines(struct rt *rt, struct plain *p)
{
    const struct gbm_model *m = p->in->model;
    struct rt_cells buffer = {0};
    enum gbm_status s = GBM_OK;
    unsigned char **summed = calloc((size_t)m->nvariables + 1, sizeof *summed);
    if (!summed)
        abort();
    for (int f = 0; f < m->nfamilies; f++)
        for (int64_t e = 0; m->families[f].summands && e < p->in->elements[f];
             e++)
            add_sum(p, f, e, summed);
    for (int f = 0; f < m->nfamilies && s == GBM_OK; f++) {
        int v = m->families[f].variable;
        if (!is_counted(&m->families[f]) || !p->in->slots[v].per_chain)
            continue;
        for (int64_t e = 0; e < p->in->elements[f] && s == GBM_OK; e++) {
            struct place at = {.variable = v, .family = f, .element = e};
            s = add_element(rt, p, at, summed[v], &buffer);
        }
    }
    for (int v = 0; v < m->nvariables; v++)
        free(summed[v]);
    free(summed);
    free(buffer.cells);
    return s;
}

/* ---- the joint density ---- */

/* -inf where any term is impossible, infinite or not a number. */
static double joint(const struct plain *p, const void *state)
{
    const struct rt_instance *in = p->in;
    double sum = 0;
    rt_derive_all(in, state);
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *family = &in->model->families[f];
        if (!is_counted(family))
            continue;
        for (int64_t e = 0; e < in->elements[f]; e++) {
            double term = family->logdensity(state, e);
            if (!isfinite(term))
                return -(double)INFINITY;
            sum += term;
        }
    }
    return sum;
}

/* ---- one update ---- */

struct move {
    struct plain *plain;
    void *state;
    int chain, n;
    bool integer, keeps_norm;
    const struct place *places[2];
    double base[2], sign[2];
    double largest; /* |value| that an integer may have */
    struct gbm_rng *rng;
    double lp; /* of the state as it stands */
};

static double value_at(const struct move *m, const struct place *at)
{
    const struct rt_instance *in = m->plain->in;
    return rt_value(&in->slots[at->variable],
                    in->model->variables[at->variable].integer, m->chain,
                    at->cell);
}

static void begin(struct move *m, const struct line *line)
{
    const struct plain *p = m->plain;
    m->integer = line->integer;
    m->keeps_norm = line->keeps_norm;
    m->n = line->moving ? line->moving : 2;
    m->places[0] = m->places[1] = &p->places[line->first];
    m->sign[0] = m->sign[1] = 1;
    if (line->moving == 2)
        m->places[1]++;
    if (line->moving == 0) {
        double u = gbm_uniform(m->rng) * (double)(line->npool - 1);
        int64_t other = line->pool + (int64_t)u;
        m->places[1] = &p->places[other + (other >= line->first)];
        m->sign[1] = -1;
    }
    for (int i = 0; i < m->n; i++)
        m->base[i] = value_at(m, m->places[i]);
}

/* Log density with the places moved by t; leaves them there. Their own
 * densities come first: what they exclude, others may not be able to read. */
static double moved(struct move *m, double t)
{
    const struct rt_instance *in = m->plain->in;
    for (int i = 0; i < m->n; i++) {
        const struct place *at = m->places[i];
        double x = m->base[i] + m->sign[i] * t;
        if (i == 1 && m->keeps_norm)
            x = sqrt(m->base[1] * m->base[1] + m->base[0] * m->base[0] -
                     (m->base[0] + t) * (m->base[0] + t));
        if (isnan(x))
            return -(double)INFINITY;
        bool integer = in->model->variables[at->variable].integer;
        if (integer && fabs(x) > INT_MAX)
            return -(double)INFINITY;
        rt_set_value(&in->slots[at->variable], integer, m->chain, at->cell, x);
    }
    for (int i = 0; i < m->n; i++) {
        const struct place *at = m->places[i];
        const struct gbm_family *family = &in->model->families[at->family];
        if (!rt_in_support(in, m->state, m->chain, at->family, at->element) ||
            !isfinite(family->logdensity(m->state, at->element)))
            return -(double)INFINITY;
    }
    return joint(m->plain, m->state);
}

/* Stepping out and shrinkage, the width at random between the tuned one and
 * WIDEST times it. Returns how far it moved. */
static double slice(struct move *m, double width)
{
    double level = m->lp + log(gbm_uniform(m->rng));
    width *= pow(WIDEST, gbm_uniform(m->rng));
    double low = -width * gbm_uniform(m->rng), high = low + width;
    int left = (int)(STEP_OUT * gbm_uniform(m->rng));
    for (int right = STEP_OUT - 1 - left; right > 0 && moved(m, high) > level;
         right--)
        high += width;
    for (; left > 0 && moved(m, low) > level; left--)
        low -= width;
    for (int i = 0; i < SHRINK; i++) {
        double t = low + (high - low) * gbm_uniform(m->rng);
        double lp = moved(m, t);
        if (lp > level) {
            m->lp = lp;
            return fabs(t);
        }
        *(t < 0 ? &low : &high) = t;
    }
    m->lp = moved(m, 0);
    return 0;
}

/* Draws among WINDOW integers, `stride` apart, that are as likely to be the
 * window of any of them. */
static void window(struct move *m, double stride)
{
    double lp[WINDOW], largest = m->lp, sum = 0;
    int own = (int)(WINDOW * gbm_uniform(m->rng)), chosen = 0;
    for (int i = 0; i < WINDOW; i++) {
        lp[i] = i == own ? m->lp : moved(m, stride * (i - own));
        largest = fmax(largest, lp[i]);
    }
    for (int i = 0; i < WINDOW; i++)
        sum += exp(lp[i] - largest);
    double u = sum * gbm_uniform(m->rng);
    while (chosen < WINDOW - 1 && u >= exp(lp[chosen] - largest))
        u -= exp(lp[chosen++] - largest);
    if (!isfinite(lp[chosen])) /* rounding of the sum */
        chosen = own;
    m->lp = moved(m, stride * (chosen - own));
    for (int i = 0; i < m->n; i++)
        m->base[i] = value_at(m, m->places[i]);
}

static void update(struct move *m, const struct line *line, double *width,
                   bool adapting)
{
    begin(m, line);
    if (m->integer) {
        window(m, 1);
        double octave = floor(LARGEST * gbm_uniform(m->rng));
        window(m, 1 + floor(exp2(octave) * gbm_uniform(m->rng)));
        return;
    }
    double distance = slice(m, *width);
    if (adapting)
        *width = fmax(0.9 * *width + 0.2 * distance, 1e-300);
}

/* ---- the device ---- */

static enum gbm_status plain_open(struct rt *rt, const char *which)
{
    (void)which;
    snprintf(rt->device_text, sizeof rt->device_text, "CPU, plain sampler");
    return GBM_OK;
}

static enum gbm_status plain_load(struct rt *rt, struct rt_instance *in)
{
    struct plain *p = calloc(1, sizeof *p);
    if (!p)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    rt->device_data = p;
    p->in = in;
    p->states = rt_states_create(in);
    p->moments = rt_moments_create(in);
    if (!p->states || !p->moments)
        return rt_fail(rt, GBM_FAILURE, "no memory for the chains");
    enum gbm_status s = list_lines(rt, p);
    size_t n = (size_t)p->nlines * (size_t)in->nchains;
    p->widths = malloc((n + 1) * sizeof *p->widths);
    if (!p->widths)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    for (size_t i = 0; i < n; i++)
        p->widths[i] = 1;
    return s;
}

/* After sweep `s` of a block that samples. */
static void keep(struct plain *p, const struct rt_block *b, const void *state,
                 int chain, int s)
{
    const bool kept = (s + 1) % b->thin == 0;
    if (kept || p->in->moments_late)
        rt_derive_kept(p->in, state);
    if (p->in->has_moments)
        rt_moments_add(p->in, p->moments, chain, p->count + s + 1);
    if (kept)
        rt_keep(p->in, b, state, chain, s / b->thin, 1);
}

/* False if the chain has no density to begin with. */
static bool run_chain(struct plain *p, const struct rt_block *b, int chain)
{
    struct gbm_rng rng;
    struct move m = {.plain = p,
                     .state = rt_state(p->in, p->states, chain),
                     .chain = chain,
                     .rng = &rng};
    for (int s = 0; s < b->sweeps; s++) {
        uint32_t sweep = b->first + (uint32_t)s;
        m.lp = joint(p, m.state);
        if (!isfinite(m.lp))
            return false;
        for (int64_t k = 0; k < p->nlines; k++) {
            gbm_rng_start(&rng, b->seed, (uint32_t)chain, sweep, STEP_NUMBER,
                          (uint32_t)k);
            update(&m, &p->lines[k], &p->widths[chain * p->nlines + k],
                   b->adapting);
        }
        if (b->thin > 0)
            keep(p, b, m.state, chain, s);
    }
    return true;
}

static enum gbm_status plain_run(struct rt *rt, const struct rt_block *block)
{
    struct plain *p = rt->device_data;
    int failed = -1;
#pragma omp parallel for num_threads(rt->threads) schedule(dynamic)
    for (int c = 0; c < p->in->nchains; c++)
        if (!run_chain(p, block, c)) {
#pragma omp critical
            failed = c;
        }
    if (block->thin > 0)
        p->count += block->sweeps;
    if (failed >= 0)
        return rt_fail(rt, GBM_FAILURE,
                       "--plain: the log density of chain %d is not finite",
                       failed + 1);
    return GBM_OK;
}

static enum gbm_status plain_nothing(struct rt *rt)
{
    (void)rt;
    return GBM_OK;
}

static enum gbm_status plain_moments(struct rt *rt, struct rt_moments *moments,
                                     int64_t *count)
{
    const struct plain *p = rt->device_data;
    rt_moments_copy(p->in, p->moments, moments);
    *count = p->count;
    return GBM_OK;
}

static enum gbm_status plain_put_moments(struct rt *rt,
                                         const struct rt_moments *moments,
                                         int64_t count)
{
    struct plain *p = rt->device_data;
    rt_moments_copy(p->in, moments, p->moments);
    p->count = count;
    return GBM_OK;
}

static void plain_own(struct rt *rt, struct rt_pieces *pieces)
{
    struct plain *p = rt->device_data;
    size_t n = (size_t)p->nlines * (size_t)p->in->nchains;
    rt_pieces_add(pieces, "widths of slices", p->widths, n * sizeof *p->widths);
}

static void plain_close(struct rt *rt)
{
    struct plain *p = rt->device_data;
    if (!p)
        return;
    rt_moments_free(p->in, p->moments);
    free(p->states);
    free(p->places);
    free(p->lines);
    free(p->widths);
    free(p);
    rt->device_data = NULL;
}

const struct rt_device rt_plain = {
    .name = "plain",
    .open = plain_open,
    .load = plain_load,
    .run = plain_run,
    .put = plain_nothing,
    .get = plain_nothing,
    .moments = plain_moments,
    .put_moments = plain_put_moments,
    .own = plain_own,
    .close = plain_close,
};
