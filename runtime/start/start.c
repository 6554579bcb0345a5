/* start.c: starting values, dispersed per chain and always feasible. */
#include "start/start.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ATTEMPTS 100
#define PLAIN 3 /* of them before any is mended */
/* Densities that the search of a chain's start may evaluate, about a second's
 * work, and that one attempt to mend may, beside some for each element. */
#define START_WORK 10000000
#define MEND_WORK 2000000
/* And seconds of the CPU, as some densities and quantiles are dear. */
#define START_SECONDS 2
/* Candidates of a chain whose model has recursions, and the work that they are
 * worth: elements started. */
#define CANDIDATES 64
#define FEW 5 /* at least, and as many may be repaired */
#define SEARCH_WORK 200000
/* Less than this from a log probability of 0, and how often a chain may start
 * again with a tenth of the spread, with none at last. */
#define CERTAIN 1e-9
#define CALMER 6
/* Passes over the discrete nodes in search of possible values. */
#define REPAIRS 20

/* ---- one chain ---- */

/* Near the priors' means; then, in turn, closer and near the unit values, as
 * vague priors have means at which no data are possible. */
static double usual_spread(const struct rt_starter *s)
{
    int attempt = s->attempt;
    static const double of_candidates[] = {1, 2, 0.5, -1};
    if (attempt >= ATTEMPTS)
        return of_candidates[attempt % 4];
    if (attempt == 0 && s->rt->options.starts == RT_TYPICAL)
        return 0;
    if (attempt >= 4 && attempt % 2 == 0)
        return -1;
    return attempt < 4 ? 1 : attempt < 20 ? pow(0.5, attempt - 3) : 0;
}

static double spread_of(const struct rt_starter *s)
{
    const double spread = usual_spread(s);
    return s->calm < 1 ? s->calm * fabs(spread) : spread;
}

bool rt_start_is_over(const struct rt_starter *s, int64_t work)
{
    return work <= 0 || rt_cpu_clock() > s->until;
}

bool rt_start_is_fixed(const struct rt_starter *s, int variable, int64_t cell)
{
    const struct gbm_array *init = s->init[variable];
    return rt_seen(&s->in->slots[variable], cell) ||
           (init && !(init->missing && init->missing[cell]));
}

static void draw_start(struct rt_starter *s, int f, int64_t e)
{
    const struct gbm_family *fam = &s->in->model->families[f];
    struct gbm_rng rng;
    bool alike = s->rt->options.starts == RT_TYPICAL && s->attempt == 0;
    gbm_rng_start(&rng, s->rt->options.seed, alike ? 0 : (uint32_t)s->chain,
                  UINT32_MAX - 1 - (uint32_t)s->attempt, (uint32_t)f,
                  (uint32_t)e);
    enum rt_starts kind = s->rt->options.starts;
    bool late = s->attempt > 20 && s->attempt < ATTEMPTS;
    bool simulate =
        fam->simulate && (kind == RT_PRIOR || (late && s->attempt % 4 != 0));
    if (simulate && kind == RT_PRIOR)
        fam->simulate(s->state, &rng, e);
    else if (simulate)
        rt_start_draw(s, fam, &rng, e);
    else
        fam->start(s->state, &rng, e,
                   s->in_sequence ? 0
                   : late         ? 1
                                  : spread_of(s));
}

/* Starts an element, leaving observed and initialised cells as they are. */
static void start_element(struct rt_starter *s, int f, int64_t e)
{
    int v = s->in->model->families[f].variable;
    const struct rt_slot *slot = &s->in->slots[v];
    const struct gbm_array *init = s->init[v];
    bool integer = s->in->model->variables[v].integer;
    if (!slot->seen && !init) {
        draw_start(s, f, e);
        return;
    }
    int64_t n =
        rt_element_cells(&s->in->model->families[f], s->state, e, &s->buffer);
    if (n > s->saved_capacity) {
        free(s->saved);
        s->saved = malloc((size_t)n * sizeof *s->saved);
        s->saved_capacity = s->saved ? n : 0;
        if (!s->saved)
            abort();
    }
    int64_t seen = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t c = s->buffer.cells[i];
        s->saved[i] = NAN;
        if (rt_seen(slot, c)) {
            s->saved[i] = rt_value(slot, integer, s->chain, c);
            seen++;
        } else if (init && !(init->missing && init->missing[c])) {
            s->saved[i] = init->values[c];
        }
    }
    if (seen < n)
        draw_start(s, f, e);
    for (int64_t i = 0; i < n; i++)
        if (!isnan(s->saved[i]))
            rt_set_value(slot, integer, s->chain, s->buffer.cells[i],
                         s->saved[i]);
}

static bool set_failure(struct rt_starter *s, int f, int64_t e, bool density)
{
    s->family = f;
    s->element = e;
    s->density = density;
    return false;
}

/* A family that is observed throughout, or that nothing reads: only checked, in
 * parallel. */
static bool check_family(struct rt_starter *s, int f)
{
    const struct gbm_family *fam = &s->in->model->families[f];
    int64_t n = s->in->elements[f], bad = n;
#pragma omp parallel for num_threads(s->rt->threads) schedule(static)          \
    reduction(min                                                              \
              : bad) if (n > 10000)
    for (int64_t e = 0; e < n; e++) {
        struct gbm_problem problem;
        if (e < bad && !fam->check(s->state, e, &problem))
            bad = e;
    }
    if (bad == n)
        return true;
    fam->check(s->state, bad, &s->problem);
    return set_failure(s, f, bad, false);
}

static bool start_one(struct rt_starter *s, int f, int64_t e)
{
    const struct gbm_family *fam = &s->in->model->families[f];
    if (fam->settle)
        fam->settle(s->state, e);
    if (fam->check && !fam->check(s->state, e, &s->problem))
        return set_failure(s, f, e, false);
    if (!fam->stochastic)
        fam->derive(s->state, e);
    else if (s->in->slots[fam->variable].per_chain)
        start_element(s, f, e);
    return true;
}

/* Families that feed each other: element by element. What random ones feed is
 * at its mean given them, as noise of another size than the model's would add
 * up; others, as those without parents in a pedigree, are dispersed, without
 * which no effect would differ from its mean and say how large they are. */
static bool start_sequence(struct rt_starter *s, int k)
{
    const struct gbm_sequence *q = &s->in->model->sequences[k];
    const struct rt_order *order = &s->in->orders[k];
    bool good = true;
    for (int64_t i = 0; good && i < order->count; i++) {
        s->in_sequence = order->fed[i];
        good = start_one(s, q->readers[order->pairs[2 * i]].family,
                         order->pairs[2 * i + 1]);
    }
    s->in_sequence = false;
    return good;
}

static bool start_family(struct rt_starter *s, int f)
{
    bool first;
    int k = rt_sequence_of(s->in->model, GBM_SEQUENCE_START, f, &first);
    if (k >= 0)
        return !first || start_sequence(s, k);
    const struct gbm_family *fam = &s->in->model->families[f];
    const struct rt_slot *slot = &s->in->slots[fam->variable];
    for (int64_t e = 0; fam->settle && e < s->in->elements[f]; e++)
        fam->settle(s->state, e);
    if (fam->stochastic ? !slot->per_chain : !rt_is_read(s->in->model, f))
        return !fam->check || check_family(s, f);
    for (int64_t e = 0; e < s->in->elements[f]; e++) {
        if (fam->check && !fam->check(s->state, e, &s->problem))
            return set_failure(s, f, e, false);
        if (fam->stochastic)
            start_element(s, f, e);
        else
            fam->derive(s->state, e);
    }
    return true;
}

static bool densities_finite(struct rt_starter *s, int f)
{
    const struct gbm_family *fam = &s->in->model->families[f];
    int64_t n = s->in->elements[f], bad = n;
    if (!fam->stochastic)
        return true;
#pragma omp parallel for num_threads(s->rt->threads) schedule(static)          \
    reduction(min                                                              \
              : bad) if (n > 10000)
    for (int64_t e = 0; e < n; e++)
        if (e < bad && !isfinite(fam->logdensity(s->state, e)))
            bad = e;
    return bad == n || set_failure(s, f, bad, true);
}

static bool all_finite(struct rt_starter *s)
{
    const struct gbm_model *m = s->in->model;
    for (int f = 0; f < m->nfamilies; f++)
        if (!m->families[f].data_block && !densities_finite(s, f))
            return false;
    return true;
}

/* Leaves impossible values of discrete nodes where others are possible: steps
 * that try every value of a finite support never choose one of density 0. */
static void repair(struct rt_starter *s, int pass)
{
    const struct gbm_model *m = s->in->model;
    rt_index_latents(s->in, s->state, s->chain);
    for (int k = 0; k < m->nsteps; k++) {
        const struct gbm_step *step = &m->steps[k];
        const struct rt_step *plan = &s->in->steps[k];
        struct gbm_sweep sweep = {.seed = s->rt->options.seed,
                                  .sweep =
                                      UINT32_MAX - 200 -
                                      (uint32_t)(s->attempt * REPAIRS + pass)};
        if (step->kind == GBM_STEP_INDEX)
            rt_index(s->in, s->state, step->inverse, s->chain);
        if (step->kind == GBM_STEP_MAP && step->repairs && plan->active)
            step->run(s->state, &sweep, (uint32_t)s->chain, plan->elements, 0,
                      plan->count);
    }
    rt_derive_all(s->in, s->state);
}

/* Moves what makes a density 0, and starts anew what augmentations add. */
static bool mend(struct rt_starter *s)
{
    const struct gbm_model *m = s->in->model;
    int64_t work = MEND_WORK + 50 * rt_terms(s->in);
    bool ok = rt_mend(s, s->work < work ? s->work : work);
    for (int f = 0; f < m->nfamilies; f++)
        if (m->families[f].auxiliary && !start_family(s, f))
            return false;
    rt_derive_all(s->in, s->state);
    return !s->hopeless && all_finite(s) && ok;
}

static bool start_all(struct rt_starter *s)
{
    const struct gbm_model *m = s->in->model;
    for (int f = 0; f < m->nfamilies; f++) {
        enum gbm_role role = m->variables[m->families[f].variable].role;
        if (m->families[f].data_block || role == GBM_CONSTANT)
            continue;
        if (!start_family(s, f))
            return false;
    }
    return true;
}

static bool is_undefined(const struct rt_starter *s)
{
    return isnan(
        s->in->model->families[s->family].logdensity(s->state, s->element));
}

static bool attempt(struct rt_starter *s)
{
    const struct gbm_model *m = s->in->model;
    if (!start_all(s))
        return false;
    bool repairable = false;
    for (int k = 0; k < m->nsteps; k++)
        repairable = repairable || m->steps[k].repairs;
    bool ok = all_finite(s);
    if (s->attempt == 0)
        s->undefined = !ok && is_undefined(s);
    bool few = s->attempt >= ATTEMPTS + FEW; /* of many candidates */
    for (int pass = 0; !ok && repairable && !few && pass < REPAIRS; pass++) {
        repair(s, pass);
        ok = all_finite(s);
    }
    return ok;
}

/* ---- all chains ---- */

enum gbm_status rt_start_use_init(struct rt_starter *s,
                                  const struct gbm_data *init)
{
    const struct gbm_model *m = s->in->model;
    for (int v = 0; v < m->nvariables; v++) {
        const struct gbm_variable *variable = &m->variables[v];
        const struct rt_slot *slot = &s->in->slots[v];
        s->init[v] = NULL;
        if (!init || variable->role != GBM_STOCHASTIC || !slot->per_chain)
            continue;
        const struct gbm_array *a = gbm_data_find(init, variable->name);
        if (!a)
            continue;
        bool fits = a->length == slot->cells &&
                    (a->ndim == variable->ndim || a->length == 1);
        for (int d = 0; d < variable->ndim && fits && a->length != 1; d++)
            fits = a->dim[d] == slot->dim[d];
        if (!fits)
            return rt_fail(s->rt, GBM_USER_ERROR,
                           "%s in %s does not have the shape of the model's %s",
                           a->name, a->source, variable->name);
        if (variable->integer && !a->integer)
            return rt_fail(s->rt, GBM_USER_ERROR,
                           "%s in %s must have integer values", a->name,
                           a->source);
        s->init[v] = a;
    }
    return GBM_OK;
}

static void note_init(const struct rt_starter *s, const struct gbm_data *init,
                      FILE *notes)
{
    const struct gbm_model *m = s->in->model;
    bool rng = init->rng_name != NULL;
    for (int i = 0; i < init->narrays; i++) {
        const struct gbm_array *a = &init->arrays[i];
        if (strncmp(a->name, ".RNG.", 5) == 0) {
            rng = true;
            continue;
        }
        int v = rt_variable_called(m, a->name);
        if (v < 0 || m->variables[v].role != GBM_STOCHASTIC)
            fprintf(notes,
                    "note: %s in %s is not a random variable of the "
                    "model: not used\n",
                    a->name, a->source);
        else if (!s->in->slots[v].per_chain)
            fprintf(notes, "note: %s in %s is observed: not used\n", a->name,
                    a->source);
    }
    if (rng)
        fprintf(notes, "note: .RNG.name, .RNG.seed and .RNG.state are not "
                       "used; see --seed\n");
}

/* How many candidates are compared: recursions may run away from the data, as
 * a population that triples each year does, to where no sampler finds back. */
static int count_candidates(const struct rt_starter *s)
{
    const struct gbm_model *m = s->in->model;
    int64_t elements = 1;
    bool recursive = false;
    for (int f = 0; f < m->nfamilies; f++) {
        recursive = recursive || m->families[f].recursive;
        elements += s->in->elements[f];
    }
    for (int k = 0; k < m->nsequences; k++)
        recursive = recursive || m->sequences[k].kind == GBM_SEQUENCE_START;
    int64_t most = SEARCH_WORK / elements;
    return !recursive || s->rt->options.starts != RT_DISPERSED ? 0
           : most > CANDIDATES                                 ? CANDIDATES
           : most < FEW                                        ? FEW
                                                               : (int)most;
}

/* Of candidates with less and more spread the one with the largest score; false
 * if none is possible. */
static bool start_best(struct rt_starter *s)
{
    int best = -1, n = count_candidates(s);
    double largest = -(double)INFINITY;
    for (int k = 0; k < n; k++) {
        s->attempt = ATTEMPTS + k;
        if (!attempt(s))
            continue;
        double score = rt_score(s->rt, s->in, s->state, s->chain);
        if (score > largest) {
            largest = score;
            best = s->attempt;
        }
    }
    s->attempt = best;
    return best >= 0 && attempt(s);
}

/* Why there is no start. A latent node may have been moved to where its own
 * density is 0, from where others are not numbers: what is wrong is there. */
static enum gbm_status report_density(struct rt_starter *s)
{
    int attempts = s->attempt < ATTEMPTS ? s->attempt + 1 : ATTEMPTS;
    const struct gbm_model *m = s->in->model;
    const struct rt_slot *slot = &s->in->slots[m->families[s->family].variable];
    if (s->undefined && slot->per_chain && !is_undefined(s)) {
        s->attempt = 0;
        if (start_all(s))
            all_finite(s);
    }
    return rt_start_report_density(s, attempts);
}

static void begin_search(struct rt_starter *s)
{
    s->work = START_WORK;
    s->until = rt_cpu_clock() + START_SECONDS;
    s->hopeless = s->undefined = s->density = false;
    rt_bind(s->in, s->state, s->chain);
}

/* False, and what went wrong last is set, if there is no start. */
static bool search_start(struct rt_starter *s)
{
    struct gbm_problem previous = {""};
    int64_t elements = rt_terms(s->in);
    int same = 0;
    begin_search(s);
    if (start_best(s))
        return true;
    for (s->attempt = 0; s->attempt < ATTEMPTS; s->attempt++) {
        bool mends = s->attempt >= PLAIN || s->rt->options.starts == RT_TYPICAL;
        s->density = false;
        if (attempt(s) || (mends && s->density && mend(s)))
            return true;
        s->work -= elements;
        if (s->density && (s->hopeless || (s->attempt > PLAIN &&
                                           rt_start_is_over(s, s->work))))
            break;
        if (s->density)
            continue;
        same = strcmp(previous.text, s->problem.text) == 0 ? same + 1 : 1;
        previous = s->problem;
        if (same == 3) /* no start changes it: the data are wrong */
            break;
    }
    return false;
}

/* How many of a family's elements, n in all, the chain draws as discrete nodes,
 * and cannot be otherwise: are of a probability of 1 given what they read. */
static int64_t count_certain(struct rt_starter *s, int f, int64_t *n)
{
    const struct gbm_family *fam = &s->in->model->families[f];
    int64_t certain = *n = 0;
    if (!fam->stochastic || fam->data_block ||
        !s->in->slots[fam->variable].per_chain ||
        !rt_draws_whole(s->in->model, f))
        return 0;
    for (int64_t e = 0; e < s->in->elements[f]; e++) {
        if (rt_element_cells(fam, s->state, e, &s->buffer) < 1 ||
            rt_start_is_fixed(s, fam->variable, s->buffer.cells[0]))
            continue;
        ++*n;
        certain += fam->logdensity(s->state, e) > -CERTAIN;
    }
    return certain;
}

/* Whether discrete nodes are about as open as at typical values. */
static bool is_open(struct rt_starter *s, const int64_t *certain)
{
    for (int f = 0; f < s->in->model->nfamilies; f++) {
        int64_t n;
        if (count_certain(s, f, &n) > certain[f] + n / 10)
            return false;
    }
    return true;
}

/* Of each family, at typical values. False if it has no discrete nodes to
 * draw, or there is no such start. */
static bool count_typically(struct rt_starter *s, int64_t *certain)
{
    bool discrete = false;
    s->calm = 0;
    s->attempt = 0;
    begin_search(s);
    for (int v = 0; v < s->in->model->nvariables; v++)
        discrete = discrete || (s->in->model->variables[v].integer &&
                                s->in->slots[v].per_chain);
    for (int f = 0; f < s->in->model->nfamilies; f++)
        discrete = discrete || s->in->model->families[f].whole;
    if (!discrete || !(attempt(s) || (s->density && mend(s))))
        return false;
    for (int f = 0; f < s->in->model->nfamilies; f++) {
        int64_t n;
        certain[f] = count_certain(s, f, &n);
    }
    return true;
}

/* With a spread of 1 the coefficient of a covariate in thousands makes each
 * probability of a link 0 or 1, and discrete nodes can only follow: then
 * nothing tells the coefficient more than its sign, and no sampler of single
 * nodes finds back. So a chain starts with as much of the usual spread, by
 * tenths, as leaves discrete nodes open, if that is found in the time. */
static enum gbm_status start_chain(struct rt_starter *s)
{
    int64_t *certain =
        calloc((size_t)s->in->model->nfamilies + 1, sizeof *certain);
    if (!certain)
        return rt_fail(s->rt, GBM_FAILURE, "no memory");
    const double until = rt_cpu_clock() + START_SECONDS;
    const bool compares =
        s->rt->options.starts == RT_DISPERSED && count_typically(s, certain);
    s->calm = 1;
    bool started = search_start(s);
    for (int k = CALMER; compares && k > 0 && started && !is_open(s, certain) &&
                         rt_cpu_clock() < until;
         k--) {
        s->calm = k > 1 ? s->calm / 10 : 0;
        started = search_start(s);
    }
    if (!started && s->calm < 1) {
        s->calm = 1;
        started = search_start(s);
    }
    free(certain);
    if (!started)
        return s->density ? report_density(s) : rt_start_report_check(s);
    rt_index_latents(s->in, s->state, s->chain);
    return GBM_OK;
}

enum gbm_status rt_start_read_inits(struct rt_starter *s, FILE *notes)
{
    const struct rt_options *o = &s->rt->options;
    for (int i = 0; i < o->ninit; i++) {
        char error[GBM_ERROR];
        rt_read_used(s->rt, &s->inits[i]);
        enum gbm_status status = gbm_data_read(&s->inits[i], o->init[i], error);
        if (status != GBM_OK)
            return rt_fail(s->rt, status, "%s", error);
        if (notes)
            note_init(s, &s->inits[i], notes);
        status = rt_gather(s->rt, &s->inits[i]);
        if (status != GBM_OK)
            return status;
    }
    return GBM_OK;
}

/* Whether --init leaves open what sweeps draw of the chain. */
static bool leaves_open(struct rt_starter *s)
{
    const struct rt_instance *in = s->in;
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        if (!fam->stochastic || fam->data_block || fam->auxiliary)
            continue;
        for (int64_t e = 0; e < in->elements[f]; e++) {
            if (rt_drawn_forward(in, s->state, f, e, &s->buffer))
                continue;
            int64_t n = rt_element_cells(fam, s->state, e, &s->buffer);
            for (int64_t i = 0; i < n; i++)
                if (!rt_start_is_fixed(s, fam->variable, s->buffer.cells[i]))
                    return true;
        }
    }
    return false;
}

enum gbm_status rt_start(struct rt *rt, struct rt_instance *in, FILE *notes)
{
    return rt_start_few(rt, in, in->nchains, notes);
}

enum gbm_status rt_start_few(struct rt *rt, struct rt_instance *in, int own,
                             FILE *notes)
{
    int ninit = rt->options.ninit;
    struct rt_starter s = {.rt = rt, .in = in, .family = -1};
    s.inits = calloc((size_t)ninit + 1, sizeof *s.inits);
    s.init = calloc((size_t)in->model->nvariables + 1, sizeof *s.init);
    s.state = calloc(1, in->model->state_size + 1);
    enum gbm_status status;
    if (!s.inits || !s.init || !s.state)
        status = rt_fail(rt, GBM_FAILURE, "no memory");
    else
        status = rt_start_read_inits(&s, notes);
    rt->told = ninit > 0;
    own = own < in->nchains ? own : in->nchains;
    for (s.chain = 0; status == GBM_OK && s.chain < own; s.chain++) {
        status =
            rt_start_use_init(&s, ninit ? &s.inits[s.chain % ninit] : NULL);
        if (status == GBM_OK)
            status = start_chain(&s);
        rt->told = rt->told && status == GBM_OK && !leaves_open(&s);
    }
    for (int c = own; status == GBM_OK && c < in->nchains; c++)
        rt_copy_chain(in, c % own, c);
    for (int i = 0; s.inits && i < ninit; i++)
        gbm_data_free(&s.inits[i]);
    if (s.has_graph)
        rt_graph_free(&s.graph);
    free(s.inits);
    free(s.init);
    free(s.state);
    free(s.buffer.cells);
    free(s.saved);
    return status;
}
