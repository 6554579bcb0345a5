/* self_check_moves.c: a sweep of the self-check: what each step moves, what its
 * full conditionals say of that, and the joint log density that must say the
 * same. */
#include "check/self_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK 64   /* elements moved between two looks at the clock */
#define TERMS 1024 /* of the joint, likewise */

/* ---- the joint ---- */

/* Terms [first, last) of a family, as far as there is time. */
static struct change add_terms(const struct self_check *s,
                               const struct gbm_family *family,
                               const unsigned char *dropped, int64_t first,
                               int64_t last)
{
    struct change sum = {.unknown = rt_clock() > s->limit};
    for (int64_t e = first; e < last && !sum.unknown; e++) {
        if (dropped && dropped[e])
            continue;
        const double term = family->logdensity(s->state, e);
        sum.value += term;
        sum.size += fabs(term);
    }
    return sum;
}

void self_check_add_family(struct self_check *s, int f,
                           const unsigned char *dropped, struct change *total)
{
    const struct gbm_family *fam = &s->in->model->families[f];
    const int64_t n = s->in->elements[f], chunks = (n + TERMS - 1) / TERMS;
    double value = 0, size = 0;
    bool late = false;
    if (n <= TERMS) { /* threads, and be it one, take longer to begin */
        const struct change sum = add_terms(s, fam, dropped, 0, n);
        value = sum.value, size = sum.size, late = sum.unknown;
    } else {
#pragma omp parallel for num_threads(s->rt->threads) schedule(static)          \
    reduction(+ : value, size) reduction(|| : late) if (n > 10000)
        for (int64_t k = 0; k < chunks; k++) {
            const int64_t last = (k + 1) * TERMS < n ? (k + 1) * TERMS : n;
            const struct change sum =
                add_terms(s, fam, dropped, k * TERMS, last);
            value += sum.value;
            size += sum.size;
            late = late || sum.unknown;
        }
    }
    total->value += value;
    total->size += size;
    s->out_of_time = s->out_of_time || late;
}

struct change self_check_joint(struct self_check *s)
{
    struct change total = {0};
    int64_t at = 0;
    for (int f = 0; f < s->in->model->nfamilies && !s->out_of_time; f++) {
        if (!check_counts(&s->in->model->families[f]))
            continue;
        self_check_add_family(s, f, s->dropped + at, &total);
        at += s->in->elements[f];
    }
    return total;
}
/* ---- a sweep ---- */

void self_check_refresh(const struct self_check *s)
{
    rt_refresh(s->in, s->state, s->chain);
}

bool self_check_reaches(const struct self_check *s, int k)
{
    const struct gbm_step *step = &s->in->model->steps[k];
    if (!s->in->steps[k].active || step->leaf)
        return false;
    if (step->kind == GBM_STEP_DENSE)
        return s->dense[k] != NULL;
    return step->kind == GBM_STEP_MAP && step->conditional && step->block_get;
}

static double *room(struct self_check *s, size_t cells)
{
    if (cells > s->capacity) {
        s->capacity = 2 * cells;
        s->cells = realloc(s->cells, s->capacity * sizeof *s->cells);
        if (!s->cells)
            abort();
    }
    return s->cells;
}

/* Whether an added node's element belongs to what has no data. */
static bool counts_for_nothing(const struct self_check *s, int family,
                               int64_t element)
{
    int64_t at = 0;
    if (!s->in->model->families[family].auxiliary)
        return false;
    for (int f = 0; f < family; f++)
        at += check_counts(&s->in->model->families[f]) ? s->in->elements[f] : 0;
    return s->dropped[at + element];
}

void self_check_add_conditional(const struct self_check *s,
                                const struct gbm_step *step, int64_t element,
                                const double *a, const double *b,
                                struct change *total)
{
    double at_a = step->conditional(s->state, element, a);
    double at_b = step->conditional(s->state, element, b);
    total->value += at_b - at_a;
    total->size += step->terms ? step->terms(s->state, element, a) +
                                     step->terms(s->state, element, b)
                               : fabs(at_a) + fabs(at_b);
}

/* A block that stays where it is: its conditional is a number there, or it
 * never moves. */
static void add_standing(const struct self_check *s,
                         const struct gbm_step *step, int64_t element,
                         const double *a, struct change *total)
{
    double at_a = step->conditional(s->state, element, a);
    total->value += at_a - at_a;
}

void self_check_add(struct change *total, const struct change *one)
{
    total->value += one->value;
    total->size += one->size;
    total->unknown = total->unknown || one->unknown;
}

/* Moves elements [first, last) of the list, which do not depend on each other.
 */
static struct change move_chunk(struct self_check *s, int k,
                                const struct gbm_sweep *sweep, int64_t first,
                                int64_t last)
{
    const struct gbm_step *step = &s->in->model->steps[k];
    const int *elements = s->in->steps[k].elements;
    struct change total = {0};
    int size[CHUNK];
    size_t cells = 0;
    for (int64_t i = first; i < last; i++) {
        int64_t e = elements ? elements[i] : i;
        size[i - first] = step->block_size ? step->block_size(s->state, e) : 1;
        cells += (size_t)(size[i - first] > 0 ? size[i - first] : 0);
    }
    double *a = room(s, 2 * cells + 1), *b = a + cells;
    for (int64_t i = first; i < last; a += size[i++ - first])
        if (size[i - first] > 0)
            step->block_get(s->state, elements ? elements[i] : i, a);
        else
            size[i - first] = 0;
    double began = rt_clock();
    step->run(s->state, sweep, (uint32_t)s->chain, elements, first, last);
    s->swept += rt_clock() - began - s->look;
    a = s->cells;
    for (int64_t i = first; i < last; a += size[i++ - first]) {
        int n = size[i - first];
        int64_t e = elements ? elements[i] : i;
        if (n > 0)
            step->block_get(s->state, e, b);
        if (n == 0 || counts_for_nothing(s, step->family, e))
            continue;
        if (step->integrated && memcmp(a, b, (size_t)n * sizeof *a) != 0 &&
            step->conditional(s->state, e, b) == -(double)INFINITY) {
            /* until the next steps: there is nothing to compare */
            step->block_set(s->state, e, a);
            self_check_refresh(s);
            continue;
        }
        if (memcmp(a, b, (size_t)n * sizeof *a) == 0) {
            add_standing(s, step, e, a, &total);
        } else {
            self_check_add_conditional(s, step, e, a, b, &total);
            s->moves++;
            s->reached[k] = true;
        }
    }
    return total;
}

struct between {
    struct self_check *s;
    struct change joint;
};

static void take_joint(void *context)
{
    struct between *b = context;
    self_check_refresh(b->s);
    b->joint = self_check_joint(b->s);
}

/* A block and the scales that move with its plates: what the scales tell. The
 * block's part is that of the joint, as other sweeps check the block alone. */
static struct change move_scales(struct self_check *s, int k,
                                 const struct gbm_sweep *sweep)
{
    const struct gbm_step *step = &s->in->model->steps[k];
    struct between b = {.s = s};
    self_check_refresh(s);
    struct change start = self_check_joint(s);
    double told =
        step->scales(s->state, sweep, (uint32_t)s->chain, take_joint, &b);
    s->moves++;
    return (struct change){.value = b.joint.value - start.value + told,
                           .size = b.joint.size + start.size +
                                   check_size(step, s->state)};
}

/* As many elements of the step as there is time for, from a random one of each
 * colour on. */
static struct change move_elements(struct self_check *s, int k,
                                   const struct gbm_sweep *sweep, double until)
{
    const struct rt_step *plan = &s->in->steps[k];
    struct change total = {0};
    for (int c = 0; c < plan->ncolours; c++) {
        int64_t low = plan->colour[c], n = plan->colour[c + 1] - low;
        int64_t chunk = plan->sequential ? 1 : CHUNK;
        int64_t chunks = (n + chunk - 1) / chunk;
        int64_t from = chunks ? (int64_t)(sweep->sweep * 7919u) % chunks : 0;
        for (int64_t i = 0; i < chunks; i++) {
            int64_t first = low + (from + i) % chunks * chunk;
            int64_t last = first + chunk < low + n ? first + chunk : low + n;
            struct change one = move_chunk(s, k, sweep, first, last);
            self_check_add(&total, &one);
            if (rt_clock() > until)
                break;
        }
    }
    return total;
}

/* Of a step that nodes were integrated out of: one of these moves, by which the
 * density changes as what was integrated out does. */
static struct change move_node_out(struct self_check *s, int k,
                                   const struct gbm_sweep *sweep)
{
    double before[CHECK_NODES_OUT], after[CHECK_NODES_OUT], size;
    int64_t element;
    int by = check_node_out(s->in, k, (int64_t)sweep->sweep, &element);
    if (by < 0)
        return (struct change){0};
    const struct gbm_step *draws = &s->in->model->steps[by];
    int list[1] = {(int)element};
    int n = draws->block_size ? draws->block_size(s->state, element) : 1;
    double *a = room(s, (size_t)(n > 0 ? n : 1));
    draws->block_get(s->state, element, a);
    check_integrated(s->in, s->state, k, before);
    draws->run(s->state, sweep, (uint32_t)s->chain, list, 0, 1);
    check_integrated(s->in, s->state, k, after);
    double change = check_integrated_change(s->in, k, before, after,
                                            (int64_t)sweep->sweep, &size);
    if (change == 0 &&
        !check_belongs(s->in, s->state, s->chain, k, by, element, a, sweep)) {
        /* there is nothing to compare */
        draws->block_set(s->state, element, a);
        self_check_refresh(s);
    }
    return (struct change){.value = change, .size = size};
}

static struct change move_dense(struct self_check *s, int k,
                                const struct gbm_sweep *sweep)
{
    const struct gbm_step *step = &s->in->model->steps[k];
    size_t d = (size_t)host_dense_dimension(s->dense[k]);
    double *q = malloc((d * d + 3 * d + 1) * sizeof *q);
    struct change total = {0};
    int64_t jitters = 0;
    if (!q)
        abort();
    double *p = q + d * d, *a = p + d, *b = a + d;
    step->dense->get(s->state, a);
    host_dense_assemble(s->dense[k], s->state, 1, &s->work, q, p);
    double began = rt_clock();
    bool drawn = host_dense_draw(s->dense[k], s->state, sweep,
                                 (uint32_t)s->chain, 1, &s->work, &jitters);
    s->swept += rt_clock() - began;
    step->dense->get(s->state, b);
    total.value = check_quadratic(d, q, p, a, b, &total.size);
    total.size /= SELF_CHECK_ROUNDING; /* it is an error already */
    /* nearly singular: the run will say so */
    total.unknown = !drawn || jitters;
    s->moves++;
    s->reached[k] = true;
    free(q);
    return total;
}

static void derive(const struct self_check *s, int f)
{
    const struct gbm_family *fam = &s->in->model->families[f];
    for (int64_t e = 0; e < s->in->elements[f]; e++)
        (fam->refresh ? fam->refresh : fam->derive)(s->state, e);
}

struct gbm_sweep self_check_sweep(const struct self_check *s)
{
    return (struct gbm_sweep){.seed = s->rt->options.seed,
                              .sweep = SELF_CHECK_FIRST + s->sweep,
                              .adapting = 2};
}

struct change self_check_step(struct self_check *s, int k, double until)
{
    const struct gbm_step *step = &s->in->model->steps[k];
    const struct gbm_sweep sweep = self_check_sweep(s);
    double began = rt_clock();
    if (step->kind == GBM_STEP_DERIVE && s->in->steps[k].active)
        derive(s, step->family);
    if (step->kind == GBM_STEP_INDEX && s->in->steps[k].active)
        rt_index(s->in, s->state, step->inverse, s->chain);
    if (step->kind == GBM_STEP_DERIVE || step->kind == GBM_STEP_INDEX)
        s->swept += rt_clock() - began;
    if (!self_check_reaches(s, k))
        return (struct change){0};
    if (step->kind == GBM_STEP_DENSE)
        return move_dense(s, k, &sweep);
    if (step->scales && s->sweep % 2)
        return move_scales(s, k, &sweep);
    struct change total = move_elements(s, k, &sweep, until);
    if (step->integrated) {
        struct change one = move_node_out(s, k, &sweep);
        self_check_add(&total, &one);
    }
    return total;
}

enum verdict self_check_compare(struct change conditional, struct change before,
                                struct change after)
{
    double change = after.value - before.value;
    double scale = fmax(1, fmax(fabs(change), fabs(conditional.value)));
    double size = conditional.size + before.size + after.size;
    /* overflow: the run stops by itself at such values */
    if (conditional.unknown || !isfinite(change))
        return UNKNOWN;
    if (!isfinite(conditional.value))
        return DOES_NOT;
    return fabs(change - conditional.value) <=
                   SELF_CHECK_TOLERANCE * scale + SELF_CHECK_ROUNDING * size
               ? ADDS_UP
               : DOES_NOT;
}
