/* self_check.c: every sampler proves itself on the user's own data before it
 * draws. Some sweeps of a chain are made for nothing: the moves of all their
 * steps, each by what its full conditional says of it, must add up to what the
 * joint log density of the model has changed by. So one evaluation of the joint
 * is enough for all elements of all steps. Where it does not add up, the sweep
 * is repeated step by step, and then element by element (check.c), for the
 * message. The chains' states are put back, and the random numbers are of
 * sweeps that no run has: draws are what they are without the check. */
#include "run/check.h"
#include "gbm.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHARE 0.05     /* of the time that warm-up will take */
#define UNNOTICED 2e-3 /* seconds that are spent in any case */
#define SECONDS 0.8    /* at most, but for the last thing begun */
#define SWEEPS 10      /* of a chain */
#define CHAINS 4
#define CHUNK 64   /* elements moved between two looks at the clock */
#define TERMS 1024 /* of the joint, likewise */
#define TOLERANCE 1e-6
#define ROUNDING 1e-12 /* of the sum of all absolute terms */
#define DENSE_WORK 2e8 /* to set up a dense block, if the device has not */
#define FEW 1e7        /* the same: for one thread */
#define FIRST_SWEEP (1u << 29)
#define DEVICE_SWEEPS 4
#define DEVICE_SECONDS 0.1 /* that these may take; one is made in any case */
#define BESIDE 0.05        /* seconds for sweeps beside the host's, at least */

/* A difference of log densities, and the absolute terms that it is made of. */
struct change {
    double value, size;
    bool unknown; /* nothing to compare */
};

struct self_check {
    struct rt *rt;
    struct rt_instance *in;
    void *state; /* of `chain` */
    int chain;
    unsigned char *dropped;    /* as in check.h */
    struct host_dense **dense; /* [nsteps] */
    struct host_work work;
    bool *reached; /* [nsteps] */
    bool *kept_up; /* [nvariables]: derived ones that are so at any time */
    int64_t moves;
    int points;                    /* sweeps that added up */
    double began, deadline, swept; /* seconds of updates alone */
    double spent;                  /* before the device was loaded */
    double share;                  /* seconds that it may take */
    int drawn;                     /* steps whose draws were compared */
    void **start;                  /* the chains' states */
    uint32_t sweep;
    bool out_of_time; /* the joint alone takes too long */
    /* chunk by chunk */
    double *cells;
    size_t capacity;
};

/* ---- the joint ---- */

static double left(const struct self_check *s)
{
    return s->deadline - rt_clock();
}

/* Sums of a family, without the elements that are `dropped` (or NULL); adds to
 * *total. */
static void add_family(struct self_check *s, int f,
                       const unsigned char *dropped, struct change *total)
{
    const struct gbm_family *fam = &s->in->model->families[f];
    int64_t n = s->in->elements[f], chunks = (n + TERMS - 1) / TERMS;
    double value = 0, size = 0;
    bool late = false;
#pragma omp parallel for num_threads(s->rt->threads) schedule(static)          \
    reduction(+ : value, size) reduction(|| : late) if (n > 10000)
    for (int64_t k = 0; k < chunks; k++) {
        int64_t last = (k + 1) * TERMS < n ? (k + 1) * TERMS : n;
        late = late || left(s) < 0;
        for (int64_t e = k * TERMS; e < last && !late; e++) {
            if (dropped && dropped[e])
                continue;
            double term = fam->logdensity(s->state, e);
            value += term;
            size += fabs(term);
        }
    }
    total->value += value;
    total->size += size;
    s->out_of_time = s->out_of_time || late;
}

static struct change joint(struct self_check *s)
{
    struct change total = {0};
    int64_t at = 0;
    for (int f = 0; f < s->in->model->nfamilies && !s->out_of_time; f++) {
        if (!check_counts(&s->in->model->families[f]))
            continue;
        add_family(s, f, s->dropped + at, &total);
        at += s->in->elements[f];
    }
    return total;
}

/* ---- a sweep ---- */

static void refresh(const struct self_check *s)
{
    rt_refresh(s->in, s->state, s->chain);
}

static bool is_checked(const struct self_check *s, int k)
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

static void add_conditional(const struct self_check *s,
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

/* Adds what another step, or other elements, changed. */
static void add(struct change *total, const struct change *one)
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
    s->swept += rt_clock() - began;
    a = s->cells;
    for (int64_t i = first; i < last; a += size[i++ - first]) {
        int n = size[i - first];
        int64_t e = elements ? elements[i] : i;
        if (n > 0)
            step->block_get(s->state, e, b);
        if (n == 0 || counts_for_nothing(s, step->family, e))
            continue;
        if (step->collapsed && memcmp(a, b, (size_t)n * sizeof *a) != 0 &&
            step->conditional(s->state, e, b) == -(double)INFINITY) {
            /* until the next steps: there is nothing to compare */
            step->block_set(s->state, e, a);
            refresh(s);
            continue;
        }
        if (memcmp(a, b, (size_t)n * sizeof *a) == 0) {
            add_standing(s, step, e, a, &total);
        } else {
            add_conditional(s, step, e, a, b, &total);
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
    refresh(b->s);
    b->joint = joint(b->s);
}

/* A block and the scales that move with its plates: what the scales tell. The
 * block's part is that of the joint, as other sweeps check the block alone. */
static struct change move_scales(struct self_check *s, int k,
                                 const struct gbm_sweep *sweep)
{
    const struct gbm_step *step = &s->in->model->steps[k];
    struct between b = {.s = s};
    refresh(s);
    struct change start = joint(s);
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
            add(&total, &one);
            if (rt_clock() > until)
                break;
        }
    }
    return total;
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
    total.size /= ROUNDING; /* it is an error already */
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

/* One step of a sweep; what its conditionals say of its moves. */
static struct change run_step(struct self_check *s, int k, double until)
{
    const struct gbm_step *step = &s->in->model->steps[k];
    struct gbm_sweep sweep = {.seed = s->rt->options.seed,
                              .sweep = FIRST_SWEEP + s->sweep,
                              .adapting = 2};
    double began = rt_clock();
    if (step->kind == GBM_STEP_DERIVE && s->in->steps[k].active)
        derive(s, step->family);
    if (step->kind == GBM_STEP_INDEX && s->in->steps[k].active)
        rt_index(s->in, s->state, step->inverse, s->chain);
    if (step->kind == GBM_STEP_DERIVE || step->kind == GBM_STEP_INDEX)
        s->swept += rt_clock() - began;
    if (!is_checked(s, k))
        return (struct change){0};
    if (step->kind == GBM_STEP_DENSE)
        return move_dense(s, k, &sweep);
    return step->scales && s->sweep % 2 ? move_scales(s, k, &sweep)
                                        : move_elements(s, k, &sweep, until);
}

enum verdict { ADDS_UP, DOES_NOT, UNKNOWN };

static enum verdict compare(struct change conditional, struct change before,
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
                   TOLERANCE * scale + ROUNDING * size
               ? ADDS_UP
               : DOES_NOT;
}

/* ---- what is kept in memory ---- */

static bool is_left_behind(double held, double computed)
{
    return !(fabs(held - computed) <= TOLERANCE * (1 + fabs(computed))) &&
           isfinite(held) && isfinite(computed);
}

/* The largest absolute value of n; NaN if one is no number. */
static double largest(int64_t n, const double *x)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fabs(x[i]) <= most ? most : fabs(x[i]);
    return most;
}

/* Whether two inverses [n][n] are of matrices that are the same but for
 * rounding: next to a singular one, an inverse tells the last digits apart. */
static bool are_of_one(int n, const double *held, const double *computed)
{
    size_t cells = (size_t)n * (size_t)n;
    double *of_held = malloc(2 * cells * sizeof *of_held);
    if (!of_held)
        abort();
    double *of_computed = of_held + cells;
    gbm_inverse(n, held, of_held);
    gbm_inverse(n, computed, of_computed);
    double size = largest((int64_t)cells, of_computed);
    double error =
        size * n * DBL_EPSILON *
        largest((int64_t)cells, computed); /* relative, by rounding */
    bool one = true;
    for (size_t i = 0; i < cells; i++)
        one = one &&
              !(fabs(of_held[i] - of_computed[i]) > (TOLERANCE + error) * size);
    free(of_held);
    return one;
}

static enum gbm_status refuse_held(struct self_check *s, int v, double held,
                                   double computed)
{
    return rt_fail(
        s->rt, GBM_FAILURE,
        "this sampler is wrong: no draws were made\n"
        "A sweep leaves %s behind: it holds %.10g where the model computes "
        "%.10g. This is a fault of gbmc, not of the model or the data: please "
        "report it, with the model, the data, --seed %llu and what --version "
        "prints. --no-check draws all the same, and marks what is written.",
        s->in->model->variables[v].name, held, computed,
        (unsigned long long)s->rt->options.seed);
}

/* From cell `at` of variable v, where its `held` value is not the one computed:
 * how many more cells are only so by rounding, as they are of the same inverse.
 * -1: it was left behind. */
static int64_t only_rounded(const struct self_check *s, int v,
                            const double *held, int64_t at)
{
    const struct gbm_variable *variable = &s->in->model->variables[v];
    const struct rt_slot *slot = &s->in->slots[v];
    if (!variable->inverts)
        return -1;
    int n = slot->dim[variable->ndim - 1];
    int64_t cells = (int64_t)n * n, first = at - at % cells;
    double *computed = malloc((size_t)cells * sizeof *computed);
    if (!computed)
        abort();
    for (int64_t i = 0; i < cells; i++)
        computed[i] = rt_value(slot, false, s->chain, first + i);
    bool rounded = are_of_one(n, held + first, computed);
    free(computed);
    return rounded ? first + cells - 1 - at : -1;
}

/* Computes all that is derived; what a sweep keeps of it must be that already.
 * Full conditionals that read the same stale sum agree with each other. */
static enum gbm_status check_kept_up(struct self_check *s)
{
    const struct gbm_model *m = s->in->model;
    int64_t n = 0, at = 0;
    for (int v = 0; v < m->nvariables; v++)
        n += s->kept_up[v] ? s->in->slots[v].cells : 0;
    double *held = malloc(((size_t)n + 1) * sizeof *held);
    if (!held)
        return rt_fail(s->rt, GBM_FAILURE, "no memory for the self-check");
    for (int v = 0; v < m->nvariables; v++)
        for (int64_t i = 0; s->kept_up[v] && i < s->in->slots[v].cells; i++)
            held[at++] = rt_value(&s->in->slots[v], m->variables[v].integer,
                                  s->chain, i);
    refresh(s);
    at = 0;
    for (int v = 0; v < m->nvariables; v++)
        for (int64_t i = 0; s->kept_up[v] && i < s->in->slots[v].cells &&
                            s->rt->status == GBM_OK;
             i++, at++) {
            double now = rt_value(&s->in->slots[v], m->variables[v].integer,
                                  s->chain, i);
            if (!is_left_behind(held[at], now))
                continue;
            int64_t more = only_rounded(s, v, held + at - i, i);
            if (more < 0)
                refuse_held(s, v, held[at], now);
            i += more;
            at += more;
        }
    free(held);
    return s->rt->status;
}

static enum verdict check_sweep(struct self_check *s, struct change *density)
{
    int n = s->in->model->nsteps;
    struct change conditional = {0};
    for (int k = 0; k < n; k++) {
        double now = rt_clock();
        struct change one = run_step(s, k, now + (s->deadline - now) / (n - k));
        add(&conditional, &one);
    }
    if (check_kept_up(s) != GBM_OK)
        return UNKNOWN;
    struct change after = joint(s);
    if (s->out_of_time)
        return UNKNOWN;
    enum verdict verdict = compare(conditional, *density, after);
    *density = after;
    s->sweep++;
    return verdict;
}

/* ---- what is wrong ---- */

static enum gbm_status refuse(struct self_check *s, int k, const char *where,
                              double conditional, double density)
{
    const struct gbm_step *step = &s->in->model->steps[k];
    const struct gbm_family *family = &s->in->model->families[step->family];
    char numbers[200];
    if (isnan(conditional))
        snprintf(numbers, sizeof numbers,
                 "where %s stands, its full conditional is not a number, but "
                 "the model's log density is.",
                 where);
    else
        snprintf(numbers, sizeof numbers,
                 "where %s moves, its full conditional changes by %.10g, the "
                 "model's log density by %.10g (logs).",
                 where, conditional, density);
    return rt_fail(
        s->rt, GBM_FAILURE,
        "%s: this sampler is wrong: no draws were made\n"
        "    %s\n"
        "The update of %s (%s) does not belong to the model: %s This is a "
        "fault of gbmc, not of the model or the data: please report it, with "
        "the model, the data, --seed %llu and what --version prints. "
        "--no-check draws all the same, and marks what is written.",
        family->where, family->text, step->variable, step->sampler, numbers,
        (unsigned long long)s->rt->options.seed);
}

/* The first element of the step that fails alone, from the state as it is. */
static bool blame_element(struct self_check *s, int k)
{
    struct checker c;
    const struct gbm_step *step = &s->in->model->steps[k];
    const struct rt_step *plan = &s->in->steps[k];
    double limit = rt_clock() + 10;
    bool found = false;
    if (check_create(&c, s->rt, s->in) != GBM_OK) {
        check_free(&c);
        return true;
    }
    c.chain = s->chain;
    c.sweep = 1u << 20;
    rt_bind(s->in, c.state, s->chain);
    int64_t n = step->kind == GBM_STEP_DENSE ? 1 : plan->count;
    for (int64_t i = 0; i < n && !found && rt_clock() < limit; i++) {
        if (step->kind == GBM_STEP_DENSE)
            check_dense(&c, k, false);
        else
            check_element(&c, k, plan->elements ? plan->elements[i] : i, false);
        found = c.rows[k].checked > 0 && c.rows[k].worst > 1 &&
                isfinite(c.rows[k].joint);
    }
    if (found)
        refuse(s, k, c.rows[k].element[0] ? c.rows[k].element : step->variable,
               c.rows[k].conditional, c.rows[k].joint);
    check_free(&c);
    return found;
}

/* Whether rounding alone may have made the difference of a conditional and the
 * joint, where nodes moved from the values `from` to where they stand. */
static bool rounding_explains(struct self_check *s, void *const *from,
                              double difference)
{
    struct checker c = {0};
    double rounding = 0;
    void **now = rt_save(s->in);
    if (now && check_create(&c, s->rt, s->in) == GBM_OK) {
        c.chain = s->chain;
        rt_bind(s->in, c.state, s->chain);
        rounding = check_rounding(&c);
        rt_put_back(s->in, from);
        rounding += check_rounding(&c);
        rt_put_back(s->in, now);
        refresh(s);
    }
    check_free(&c);
    rt_forget(s->in, now);
    return 2 * rounding >= fabs(difference); /* the conditional's too */
}

/* Sweeps [first, last] again, with the joint after every step. OK if none is to
 * blame. */
static enum gbm_status blame(struct self_check *s, uint32_t first,
                             uint32_t last)
{
    s->deadline = rt_clock() + 60;
    refresh(s);
    struct change before = joint(s);
    for (s->sweep = first; s->sweep <= last; s->sweep++)
        for (int k = 0; k < s->in->model->nsteps; k++) {
            void **from = rt_save(s->in);
            struct change one = run_step(s, k, s->deadline);
            if (is_checked(s, k)) {
                refresh(s);
                struct change after = joint(s);
                double moved = after.value - before.value;
                if (compare(one, before, after) == DOES_NOT &&
                    !rounding_explains(s, from, moved - one.value) &&
                    !blame_element(s, k))
                    refuse(s, k, s->in->model->steps[k].variable, one.value,
                           moved);
                before = after;
            }
            rt_forget(s->in, from);
            if (s->rt->status != GBM_OK)
                return s->rt->status;
        }
    return GBM_OK;
}

/* ---- all of it ---- */

/* Sweeps of a chain from where it stands, `values`, while there is time; one at
 * least. */
static enum gbm_status check_chain(struct self_check *s, int chain,
                                   void *const *values)
{
    uint32_t first = s->sweep;
    s->chain = chain;
    rt_bind(s->in, s->state, chain);
    refresh(s);
    struct change density = joint(s);
    for (int i = 0; i < SWEEPS && !s->out_of_time; i++) {
        uint32_t sweep = s->sweep;
        enum verdict verdict = check_sweep(s, &density);
        if (s->rt->status != GBM_OK)
            return s->rt->status;
        s->points += verdict == ADDS_UP;
        if (verdict == DOES_NOT) {
            rt_put_back(s->in, values);
            return blame(s, first, sweep);
        }
        if (verdict == UNKNOWN || left(s) < 0)
            break;
        if (i == 0 && chain == 0) {
            /* now it is known how long warm-up takes */
            const struct rt_options *o = &s->rt->options;
            double chains = ceil(o->chains / (double)s->rt->threads);
            double share =
                fmax(SHARE * s->swept * o->warmup * chains, UNNOTICED);
            s->deadline = fmin(s->deadline, s->began + share);
            s->share = share;
        }
    }
    return GBM_OK;
}

static enum gbm_status refuse_draws(const struct self_check *s, int k, int e)
{
    const struct gbm_step *step = &s->in->model->steps[k];
    return rt_fail(
        s->rt, GBM_FAILURE,
        "%s: this sampler is wrong: no draws were made\n"
        "    %s\n"
        "What step %d draws for its element %d is not of its full conditional. "
        "This is a fault of gbmc, not of the model or the data: please report "
        "it, with the model, the data, --seed %llu and what --version prints. "
        "--no-check draws all the same, and marks what is written.",
        s->in->model->families[step->family].where,
        s->in->model->families[step->family].text, k + 1, e,
        (unsigned long long)s->rt->options.seed);
}

/* Draws of one element of each step that draws exactly, of the chain's last,
 * in what time there is. */
static enum gbm_status compare_draws(struct self_check *s)
{
    const double until =
        fmin(s->began + SECONDS,
             fmax(s->began + s->share, rt_clock() + UNNOTICED / 2));
    struct gbm_sweep sweep = {.seed = s->rt->options.seed,
                              .sweep = FIRST_SWEEP + FIRST_SWEEP / 4,
                              .adapting = 2};
    for (int k = 0; k < s->in->model->nsteps; k++) {
        const struct rt_step *plan = &s->in->steps[k];
        const int64_t n = is_checked(s, k) && s->in->model->steps[k].exact
                              ? plan->colour[plan->ncolours] - plan->colour[0]
                              : 0;
        if (n == 0 || rt_clock() > until)
            continue;
        const int64_t i = plan->colour[0] + k * 7919 % n;
        const int e = plan->elements ? plan->elements[i] : (int)i;
        const double distance = check_draws(&s->in->model->steps[k], s->state,
                                            sweep, s->chain, e, until);
        refresh(s);
        s->drawn += distance >= 0;
        if (distance > 1)
            return refuse_draws(s, k, e);
    }
    return GBM_OK;
}

/* Too few digits for these data, where they are few; or a fault. */
static enum gbm_status refuse_density(struct self_check *s,
                                      const struct gbm_family *family,
                                      double device, double host)
{
    unsigned long long seed = (unsigned long long)s->rt->options.seed;
    if (s->rt->options.precision == RT_DOUBLE)
        return rt_fail(
            s->rt, GBM_FAILURE,
            "%s: this sampler is wrong on this device: no draws were made\n"
            "    %s\n"
            "Its log density is %.10g on the device and %.10g on the CPU. "
            "This is a fault of gbmc, not of the model or the data: please "
            "report it, with the model, the data, --seed %llu and what "
            "--version prints. --no-check draws all the same, and marks what "
            "is written.",
            family->where, family->text, device, host, seed);
    return rt_fail(
        s->rt, GBM_FAILURE,
        "%s: %s precision has too few digits here: no draws were made\n"
        "    %s\n"
        "Its log density is %.10g on the device and %.10g on the CPU, in "
        "double precision. Single precision carries seven digits, which are "
        "too few for these data: run with --precision double. If "
        "that is refused, too, it is a fault of gbmc: please report it, with "
        "the model, the data, --seed %llu and what --version prints. "
        "--no-check draws all the same, and marks what is written.",
        family->where,
        s->rt->options.precision == RT_SINGLE ? "single" : "mixed",
        family->text, device, host, seed);
}

/* A family's log density as the device and as the host have it. */
static enum gbm_status compare_density(struct self_check *s, int f,
                                       double *sums)
{
    const struct gbm_family *family = &s->in->model->families[f];
    bool precise = s->rt->options.precision == RT_DOUBLE;
    enum gbm_status status = s->rt->device->density(s->rt, f, sums);
    for (int c = 0; c < s->in->nchains && status == GBM_OK; c++) {
        struct change host = {0};
        s->chain = c;
        rt_bind(s->in, s->state, c);
        add_family(s, f, NULL, &host);
        double allowed =
            precise ? TOLERANCE + 1e-9 * host.size : 1e-2 + 1e-3 * host.size;
        if (!s->out_of_time && isfinite(sums[c]) && isfinite(host.value) &&
            fabs(sums[c] - host.value) > allowed)
            status = refuse_density(s, family, sums[c], host.value);
    }
    return status;
}

/* Sweeps on the device: the first one alone, as it tells how long the others
 * take; *n: how many there was time for; *one: seconds of the first. */
static enum gbm_status run_device(const struct self_check *s, uint32_t first,
                                  uint32_t *n, double *one)
{
    struct rt_block block = {.seed = s->rt->options.seed,
                             .first = first,
                             .sweeps = 1,
                             .adapting = true};
    const double began = rt_clock();
    enum gbm_status status = s->rt->device->run(s->rt, &block);
    *one = rt_clock() - began;
    *n = *one * DEVICE_SWEEPS < DEVICE_SECONDS ? DEVICE_SWEEPS : 1;
    block.first++;
    block.sweeps = (int)*n - 1;
    if (status == GBM_OK && *n > 1)
        status = s->rt->device->run(s->rt, &block);
    rt_clock_note("  sweeps of the device, the first in %.3f s", *one);
    return status;
}

/* Sweeps beside the host's: from the state that the device has come to by n of
 * them, or if it made only one, that one. They may take that share of the
 * warm-up, within bounds. */
static enum gbm_status run_beside(const struct self_check *s, uint32_t first,
                                  uint32_t n, double one, void *const *start)
{
    const double share = SHARE * one * s->rt->options.warmup;
    const double seconds = fmin(fmax(share, BESIDE), SECONDS / 4);
    enum gbm_status status =
        n == 1
            ? rt_same_sweep(s->rt, s->in, s->dense, first, seconds - one, start)
            : rt_same_sweep(s->rt, s->in, s->dense, first + n, seconds, NULL);
    rt_clock_note("  its sweeps beside the host's");
    return status;
}

/* After some sweeps on a device of its own memory: its densities, its sweep
 * beside the host's, and the steps at the state that it came to. */
static enum gbm_status check_device(struct self_check *s, void **start)
{
    struct rt *rt = s->rt;
    const uint32_t first = FIRST_SWEEP / 2;
    uint32_t n = 0;
    double one = 0;
    double *sums = malloc((size_t)s->in->nchains * sizeof *sums);
    if (!sums)
        return rt_fail(rt, GBM_FAILURE, "no memory for the self-check");
    rt_put_back(s->in, start);
    s->deadline = rt_clock() + SECONDS / 2;
    enum gbm_status status = run_device(s, first, &n, &one);
    if (status == GBM_OK)
        status = rt->device->get(rt);
    for (int f = 0; f < s->in->model->nfamilies && status == GBM_OK; f++) {
        const struct gbm_family *family = &s->in->model->families[f];
        if (family->stochastic && !family->data_block)
            status = compare_density(s, f, sums);
    }
    free(sums);
    rt_clock_note("  densities of the device");
    /* in single precision other random numbers are drawn */
    if (status == GBM_OK && rt->options.precision == RT_DOUBLE)
        status = run_beside(s, first, n, one, start);
    if (status == GBM_OK) {
        void **values = rt_save(s->in);
        if (values)
            status = check_chain(s, 0, values);
        rt_forget(s->in, values);
    }
    rt_put_back(s->in, start);
    return status == GBM_OK ? rt->device->put(rt) : status;
}

/* But tables that wait for a leaf to be observed throughout. */
static void find_kept_up(struct self_check *s)
{
    const struct gbm_model *m = s->in->model;
    for (int v = 0; v < m->nvariables; v++)
        s->kept_up[v] =
            m->variables[v].role == GBM_DERIVED && m->variables[v].maintained;
    for (int k = 0; k < m->nsteps; k++)
        if (m->steps[k].kind == GBM_STEP_DERIVE && !s->in->steps[k].active)
            s->kept_up[m->families[m->steps[k].family].variable] = false;
}

static bool create(struct self_check *s)
{
    const struct rt_instance *in = s->in;
    const struct gbm_model *m = in->model;
    int64_t terms = 1;
    for (int f = 0; f < m->nfamilies; f++)
        terms += check_counts(&m->families[f]) ? in->elements[f] : 0;
    s->state = calloc(1, m->state_size + 1);
    s->dropped = calloc((size_t)terms, 1);
    s->dense = calloc((size_t)m->nsteps + 1, sizeof(void *));
    s->reached = calloc((size_t)m->nsteps + 1, sizeof *s->reached);
    s->kept_up = calloc((size_t)m->nvariables + 1, sizeof *s->kept_up);
    if (!s->state || !s->dropped || !s->dense || !s->reached || !s->kept_up)
        return false;
    find_kept_up(s);
    rt_bind(in, s->state, 0);
    check_drop(in, s->state, s->dropped);
    for (int k = 0; k < m->nsteps; k++) {
        const struct gbm_step *step = &m->steps[k];
        if (step->kind != GBM_STEP_DENSE || !in->steps[k].active)
            continue;
        double d = step->dense->dimension(s->state), work = d * d * d;
        for (int t = 0; t < step->dense->nterms; t++)
            work += d * d * (double)in->elements[step->dense->terms[t].family];
        int threads = s->rt->threads;
        if (work < FEW) /* too little to wake others for */
            s->rt->threads = 1;
        if (work < DENSE_WORK)
            s->dense[k] = host_dense_create(s->rt, in, step, s->state);
        s->rt->threads = threads;
    }
    return true;
}

static void destroy(struct self_check *s)
{
    for (int k = 0; s->dense && k < s->in->model->nsteps; k++)
        host_dense_free(s->dense[k]);
    free(s->state);
    free(s->dropped);
    free(s->dense);
    free(s->reached);
    free(s->kept_up);
    free(s->work.cells);
    free(s->cells);
}

static void note(const struct self_check *s, FILE *notes)
{
    int steps = 0, reached = 0;
    for (int k = 0; k < s->in->model->nsteps; k++) {
        enum gbm_step_kind kind = s->in->model->steps[k].kind;
        bool draws = kind == GBM_STEP_MAP || kind == GBM_STEP_DENSE;
        steps += draws && s->in->steps[k].active;
        reached += s->reached[k];
    }
    if (s->points == 0)
        fprintf(notes, "note: no self-check: %s; ./sampler check makes it\n",
                s->out_of_time ? "the log density alone takes too long"
                               : "no values to compare at the start");
    else if (s->rt->options.details)
        fprintf(notes,
                "self-check: %d of %d steps, %lld moves in %d sweeps agree "
                "with the model's log density, draws of %d with their full "
                "conditionals; %.3g ms\n",
                reached, steps, (long long)s->moves, s->points, s->drawn,
                1e3 * (rt_clock() - s->began));
}

enum gbm_status rt_self_check_begin(struct rt *rt, struct rt_instance *in,
                                    struct self_check **out)
{
    struct self_check *s = calloc(1, sizeof *s);
    enum gbm_status status = GBM_OK;
    *out = s;
    if (!s)
        return rt_fail(rt, GBM_FAILURE, "no memory for the self-check");
    *s = (struct self_check){.rt = rt, .in = in, .began = rt_clock()};
    s->start = rt_save(in);
    s->deadline = s->began + SECONDS;
    if (!s->start || !create(s))
        status = rt_fail(rt, GBM_FAILURE, "no memory for the self-check");
    for (int c = 0; c < CHAINS && c < in->nchains && status == GBM_OK; c++)
        if (c == 0 || left(s) > 0)
            status = check_chain(s, c, s->start);
    if (status == GBM_OK && s->points > 0)
        status = compare_draws(s);
    if (s->start)
        rt_put_back(in, s->start);
    s->spent = rt_clock() - s->began;
    rt_clock_note("  sweeps of the host");
    return status;
}

enum gbm_status rt_self_check_end(struct self_check *s, enum gbm_status status,
                                  FILE *notes)
{
    if (!s)
        return status;
    s->began = rt_clock() - s->spent;
    if (status == GBM_OK && s->rt->device->density) {
        status = check_device(s, s->start);
        rt_put_back(s->in, s->start);
    }
    if (status == GBM_OK && notes)
        note(s, notes);
    rt_forget(s->in, s->start);
    destroy(s);
    free(s);
    return status;
}
