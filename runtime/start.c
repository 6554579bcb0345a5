/* start.c: starting values, dispersed per chain and always feasible, and the
 * log density of a state. */
#include "rt.h"
#include "data.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ATTEMPTS 100
/* Candidates of a chain whose model has recursions, and the work that they are
 * worth: elements started. */
#define CANDIDATES 64
#define FEW 5 /* at least, and as many may be repaired */
#define SEARCH_WORK 200000
#define CHUNK 1024 /* terms of a partial sum: fixes the shape of all sums */

/* ---- log density ---- */

static double family_logdensity(const struct rt_instance *in, int f,
                                const void *state, int threads)
{
    const struct gbm_family *fam = &in->model->families[f];
    int64_t n = in->elements[f], chunks = (n + CHUNK - 1) / CHUNK;
    double total = 0;
    if (threads <= 1 || chunks < 4) {
        for (int64_t c = 0; c < chunks; c++) {
            int64_t last = c * CHUNK + CHUNK < n ? c * CHUNK + CHUNK : n;
            double sum = 0;
            for (int64_t e = c * CHUNK; e < last; e++)
                sum += fam->logdensity(state, e);
            total += sum;
        }
        return total;
    }
    double *sums = malloc((size_t)chunks * sizeof *sums);
    if (!sums)
        return family_logdensity(in, f, state, 1);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int64_t c = 0; c < chunks; c++) {
        int64_t last = c * CHUNK + CHUNK < n ? c * CHUNK + CHUNK : n;
        double sum = 0;
        for (int64_t e = c * CHUNK; e < last; e++)
            sum += fam->logdensity(state, e);
        sums[c] = sum;
    }
    for (int64_t c = 0; c < chunks; c++)
        total += sums[c];
    free(sums);
    return total;
}

double rt_logdensity(const struct rt_instance *in, const void *state,
                     bool augmented, int threads)
{
    double sum = 0;
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        if (!fam->stochastic || fam->data_block ||
            (augmented ? fam->augmented : fam->auxiliary))
            continue;
        sum += family_logdensity(in, f, state, threads);
    }
    return sum;
}

bool rt_is_read(const struct gbm_model *model, int family)
{
    const struct gbm_family *f = &model->families[family];
    const struct gbm_variable *v = &model->variables[f->variable];
    return !f->stochastic && !f->data_block &&
           (v->role == GBM_STOCHASTIC ||
            (v->role == GBM_DERIVED && v->maintained));
}

void rt_derive_all(const struct rt_instance *in, const void *state)
{
    for (int f = 0; f < in->model->nfamilies; f++)
        for (int64_t e = 0; rt_is_read(in->model, f) && e < in->elements[f];
             e++) {
            const struct gbm_family *fam = &in->model->families[f];
            (fam->refresh ? fam->refresh : fam->derive)(state, e);
        }
}

/* Passes over the discrete nodes in search of possible values. */
#define REPAIRS 20

/* ---- one chain ---- */

struct starter {
    struct rt *rt;
    struct rt_instance *in;
    struct gbm_data *inits;        /* one per --init */
    const struct gbm_array **init; /* [nvariables] of the chain at hand */
    int chain, attempt;
    bool in_sequence;
    void *state;
    struct rt_cells buffer;
    double *saved;
    int64_t saved_capacity;
    /* what went wrong last */
    int family; /* -1: nothing */
    int64_t element;
    bool density; /* the density is 0; else the element's check failed */
    struct gbm_problem problem;
};

/* Near the priors' means; then, in turn, closer and near the unit values, as
 * vague priors have means at which no data are possible. */
static double spread_of(const struct starter *s)
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

static void draw_start(struct starter *s, int f, int64_t e)
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
    if (simulate)
        fam->simulate(s->state, &rng, e);
    else
        fam->start(s->state, &rng, e,
                   s->in_sequence ? 0
                   : late         ? 1
                                  : spread_of(s));
}

/* Starts an element, leaving observed and initialised cells as they are. */
static void start_element(struct starter *s, int f, int64_t e)
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

static bool set_failure(struct starter *s, int f, int64_t e, bool density)
{
    s->family = f;
    s->element = e;
    s->density = density;
    return false;
}

/* A family that is observed throughout, or that nothing reads: only checked, in
 * parallel. */
static bool check_family(struct starter *s, int f)
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

static bool start_one(struct starter *s, int f, int64_t e)
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

/* Families that feed each other: element by element. Each is at its mean given
 * those before it, as noise of another size than the model's would add up. */
static bool start_sequence(struct starter *s, int k)
{
    const struct gbm_sequence *q = &s->in->model->sequences[k];
    const struct rt_order *order = &s->in->orders[k];
    bool good = true;
    s->in_sequence = true;
    for (int64_t i = 0; good && i < order->count; i++)
        good = start_one(s, q->readers[order->pairs[2 * i]].family,
                         order->pairs[2 * i + 1]);
    s->in_sequence = false;
    return good;
}

static bool start_family(struct starter *s, int f)
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

static bool densities_finite(struct starter *s, int f)
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

static bool all_finite(struct starter *s)
{
    const struct gbm_model *m = s->in->model;
    for (int f = 0; f < m->nfamilies; f++)
        if (!m->families[f].data_block && !densities_finite(s, f))
            return false;
    return true;
}

/* Leaves impossible values of discrete nodes where others are possible: steps
 * that try every value of a finite support never choose one of density 0. */
static void repair(struct starter *s, int pass)
{
    const struct gbm_model *m = s->in->model;
    for (int k = 0; k < m->ninverses; k++)
        if (m->inverses[k].latent)
            rt_index(s->in, s->state, k, s->chain);
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

static bool attempt(struct starter *s)
{
    const struct gbm_model *m = s->in->model;
    for (int f = 0; f < m->nfamilies; f++) {
        enum gbm_role role = m->variables[m->families[f].variable].role;
        if (m->families[f].data_block || role == GBM_CONSTANT)
            continue;
        if (!start_family(s, f))
            return false;
    }
    bool repairable = false;
    for (int k = 0; k < m->nsteps; k++)
        repairable = repairable || m->steps[k].repairs;
    bool ok = all_finite(s);
    bool few = s->attempt >= ATTEMPTS + FEW; /* of many candidates */
    for (int pass = 0; !ok && repairable && !few && pass < REPAIRS; pass++) {
        repair(s, pass);
        ok = all_finite(s);
    }
    return ok;
}

/* ---- messages ---- */

static void append(struct rt *rt, size_t *at, const char *format, ...)
{
    if (*at >= sizeof rt->message - 1)
        return;
    va_list args;
    va_start(args, format);
    int n =
        vsnprintf(rt->message + *at, sizeof rt->message - *at, format, args);
    va_end(args);
    *at += n > 0 ? (size_t)n : 0;
}

/* Given cells that are missing: whoever reads them fails. */
static void append_missing(struct starter *s, size_t *at)
{
    for (int v = 0; v < s->in->model->nvariables; v++) {
        const struct rt_slot *slot = &s->in->slots[v];
        char name[256];
        if (slot->missing == 0)
            continue;
        rt_cell_name(s->in, v, slot->missing - 1, name, sizeof name);
        append(s->rt, at, "\n%s is missing in the data: is it used here?",
               name);
    }
}

/* The first few problems of the family, in the model's words. */
static enum gbm_status report_check(struct starter *s)
{
    const struct gbm_family *fam = &s->in->model->families[s->family];
    struct gbm_problem problem = s->problem;
    char name[256];
    rt_element_name(s->in, s->state, s->family, s->element, name, sizeof name);
    bool named = strstr(problem.text, name) != NULL;
    enum gbm_status status =
        rt_fail(s->rt, GBM_USER_ERROR, "%s: %s%s%s", fam->where,
                named ? "" : name, named ? "" : ": ", problem.text);
    size_t at = strlen(s->rt->message);
    const struct rt_slot *slot = &s->in->slots[fam->variable];
    int more = 0;
    /* Beyond the first one only where checking reads nothing that is not set */
    for (int64_t e = s->element + 1;
         e < s->in->elements[s->family] && !slot->per_chain && more < 6; e++) {
        if (fam->check(s->state, e, &problem))
            continue;
        if (++more < 5)
            append(s->rt, &at, "\n%s: %s", fam->where, problem.text);
        else if (more == 5)
            append(s->rt, &at, "\n... and more");
    }
    if (!strstr(s->problem.text, "is missing"))
        append_missing(s, &at);
    return status;
}

static enum gbm_status report_density(struct starter *s)
{
    const struct gbm_model *m = s->in->model;
    const struct gbm_family *fam = &m->families[s->family];
    const struct gbm_variable *v = &m->variables[fam->variable];
    const struct rt_slot *slot = &s->in->slots[fam->variable];
    char name[256];
    rt_element_name(s->in, s->state, s->family, s->element, name, sizeof name);
    double density = fam->logdensity(s->state, s->element);
    enum gbm_status status = rt_fail(
        s->rt, GBM_USER_ERROR,
        "%s: no starting point found in %d attempts (chain %d): the density of "
        "%s is %s under\n    %s\n",
        fam->where, ATTEMPTS, s->chain + 1, name,
        isnan(density) ? "not a number"
        : density > 0  ? "infinite"
                       : "zero",
        fam->text);
    size_t at = strlen(s->rt->message);
    int64_t n = rt_element_cells(fam, s->state, s->element, &s->buffer);
    append(s->rt, &at, "at %s =", name);
    for (int64_t i = 0; i < n && i < 6; i++)
        append(s->rt, &at, " %.6g",
               rt_value(slot, v->integer, s->chain, s->buffer.cells[i]));
    const struct gbm_array *init = s->init[fam->variable];
    append(s->rt, &at, "%s%s", n > 6 ? " ..." : "",
           n > 0 && rt_seen(slot, s->buffer.cells[0]) ? " (data)"
           : init                                     ? " (from --init)"
                                                      : "");
    for (int k = 0; k < fam->nparents && k < 8; k++) {
        int p = fam->parents[k];
        const struct rt_slot *ps = &s->in->slots[p];
        if (m->variables[p].role > GBM_AUXILIARY)
            continue;
        append(s->rt, &at, "\n  with %s =", m->variables[p].name);
        for (int64_t i = 0; i < ps->cells && i < 6; i++)
            append(s->rt, &at, " %.6g",
                   rt_value(ps, m->variables[p].integer, s->chain, i));
        append(s->rt, &at, "%s", ps->cells > 6 ? " ..." : "");
    }
    append_missing(s, &at);
    append(s->rt, &at,
           init ? "\nGive other starting values."
                : "\nGive starting values with --init.");
    return status;
}

/* ---- all chains ---- */

static enum gbm_status use_init(struct starter *s, const struct gbm_data *init)
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

static void note_init(const struct starter *s, const struct gbm_data *init,
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
static int count_candidates(const struct starter *s)
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
static bool start_best(struct starter *s)
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

static void index_latents(struct starter *s)
{
    for (int k = 0; k < s->in->model->ninverses; k++)
        if (s->in->model->inverses[k].latent)
            rt_index(s->in, s->state, k, s->chain);
}

static enum gbm_status start_chain(struct starter *s)
{
    struct gbm_problem previous = {""};
    int same = 0;
    rt_bind(s->in, s->state, s->chain);
    if (start_best(s)) {
        index_latents(s);
        return GBM_OK;
    }
    for (s->attempt = 0; s->attempt < ATTEMPTS; s->attempt++) {
        if (attempt(s)) {
            index_latents(s);
            return GBM_OK;
        }
        if (s->density)
            continue;
        same = strcmp(previous.text, s->problem.text) == 0 ? same + 1 : 1;
        previous = s->problem;
        if (same == 3) /* no start changes it: the data are wrong */
            return report_check(s);
    }
    return s->density ? report_density(s) : report_check(s);
}

static enum gbm_status read_inits(struct starter *s, FILE *notes)
{
    const struct rt_options *o = &s->rt->options;
    for (int i = 0; i < o->ninit; i++) {
        char error[GBM_ERROR];
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

enum gbm_status rt_start(struct rt *rt, struct rt_instance *in, FILE *notes)
{
    int ninit = rt->options.ninit;
    struct starter s = {.rt = rt, .in = in, .family = -1};
    s.inits = calloc((size_t)ninit + 1, sizeof *s.inits);
    s.init = calloc((size_t)in->model->nvariables + 1, sizeof *s.init);
    s.state = calloc(1, in->model->state_size + 1);
    enum gbm_status status;
    if (!s.inits || !s.init || !s.state)
        status = rt_fail(rt, GBM_FAILURE, "no memory");
    else
        status = read_inits(&s, notes);
    for (s.chain = 0; status == GBM_OK && s.chain < in->nchains; s.chain++) {
        status = use_init(&s, ninit ? &s.inits[s.chain % ninit] : NULL);
        if (status == GBM_OK)
            status = start_chain(&s);
    }
    for (int i = 0; s.inits && i < ninit; i++)
        gbm_data_free(&s.inits[i]);
    free(s.inits);
    free(s.init);
    free(s.state);
    free(s.buffer.cells);
    free(s.saved);
    return status;
}
