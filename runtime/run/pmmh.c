/* pmmh.c: --method pmmh: particle marginal Metropolis-Hastings (Andrieu, Doucet
 * and Holenstein 2010, section 4.4). Parameters of a model that runs along
 * time, and what they are drawn from, move by random-walk steps; a particle
 * filter's estimate stands for their likelihood, which leaves the posterior
 * exact, and one of its paths is the states' draw. The step's covariance and
 * scale are learnt in warm-up (Andrieu and Thoms 2008, algorithm 4) and fixed
 * after. */
#include "run/filter.h"
#include "run/method.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STREAM (UINT32_MAX - 4000) /* of the moves' random numbers */
#define ACCEPTED 0.2               /* the share that warm-up tunes for */
#define FIRST_STEP 0.1             /* of a parameter's size */

struct parameter {
    int variable;
    int64_t cell;
};

struct pmmh {
    struct rt_filter f;      /* its `in` has the chains' starting values */
    struct gbm_array *given; /* [nvariables] stand-ins for what --init gives */
    struct parameter *parameters; /* [d] */
    int d;
    double *start;               /* [chains][d] */
    double *x, *y, *mean;        /* [d] */
    double *covariance, *factor; /* [d][d] */
    double scale;                /* log of the factor of the step */
    double loglik;               /* log prior and likelihood of x */
    double *record;              /* [row] x, and the path beside it */
    struct gbm_draws draws;
    int accept;
    int64_t moves, accepted; /* after warm-up */
};

/* ---- parameters ---- */

/* Makes a cell count as given. */
static bool give(struct pmmh *p, int variable, int64_t cell)
{
    const struct rt_slot *slot = &p->f.in.slots[variable];
    struct gbm_array *a = &p->given[variable];
    if (!a->values) {
        a->values = calloc((size_t)slot->cells + 1, sizeof *a->values);
        a->missing = malloc((size_t)slot->cells + 1);
        if (!a->values || !a->missing)
            return false;
        memset(a->missing, 1, (size_t)slot->cells + 1);
        p->f.starter.init[variable] = a;
    }
    a->missing[cell] = 0;
    return true;
}

static enum gbm_status add_parameter(struct pmmh *p, const struct rt_graph *g,
                                     int64_t node)
{
    struct rt_filter *f = &p->f;
    const int k = rt_graph_family(g, node);
    const struct gbm_family *fam = &f->in.model->families[k];
    int64_t n = rt_element_cells(fam, f->starter.state, node - g->base[k],
                                 &f->starter.buffer);
    char name[256];
    rt_element_name(&f->in, f->starter.state, k, node - g->base[k], name,
                    sizeof name);
    if (n != 1 || f->in.model->variables[fam->variable].integer)
        return rt_fail(f->rt, GBM_USER_ERROR,
                       "%s: %s: not supported yet: --method pmmh moves single "
                       "real numbers, not %s\n    %s",
                       fam->where, name, n != 1 ? "vectors" : "whole numbers",
                       fam->text);
    struct parameter *more =
        realloc(p->parameters, ((size_t)p->d + 1) * sizeof *more);
    if (!more || !give(p, fam->variable, f->starter.buffer.cells[0]))
        return rt_fail(f->rt, GBM_FAILURE, "no memory");
    p->parameters = more;
    p->parameters[p->d++] =
        (struct parameter){fam->variable, f->starter.buffer.cells[0]};
    return GBM_OK;
}

static enum gbm_status find_parameters(struct pmmh *p)
{
    struct rt_filter *f = &p->f;
    unsigned char *wanted = NULL;
    enum gbm_status s = rt_times_find(&f->times, &f->starter, &wanted);
    for (int64_t i = 0; s == GBM_OK && i < f->times.graph.nodes; i++)
        if (wanted[i])
            s = add_parameter(p, &f->times.graph, i);
    free(wanted);
    rt_times_free(&f->times);
    if (s == GBM_OK && p->d == 0)
        s = rt_fail(f->rt, GBM_USER_ERROR,
                    "--method pmmh: the model has no parameters that several "
                    "times read; --method filter tells its states");
    return s == GBM_OK ? rt_times_find(&f->times, &f->starter, NULL) : s;
}

static void take_starts(struct pmmh *p)
{
    const struct rt_instance *in = &p->f.in;
    for (int c = 0; c < in->nchains; c++)
        for (int k = 0; k < p->d; k++)
            p->start[c * p->d + k] =
                rt_value(&in->slots[p->parameters[k].variable], false, c,
                         p->parameters[k].cell);
}

/* ---- the target ---- */

/* What depends on no time is drawn, or computed, from what is known now. */
static void draw_the_rest(struct pmmh *p)
{
    struct rt_filter *f = &p->f;
    const struct rt_times *t = &f->times;
    for (int64_t i = t->first[0]; i < t->first[1]; i++) {
        const int node = t->order[i];
        const int k = rt_graph_family(&t->graph, node);
        const struct gbm_family *fam = &f->in.model->families[k];
        const int64_t element = node - t->graph.base[k];
        struct gbm_rng rng;
        gbm_rng_start(&rng, f->rt->options.seed, UINT32_MAX, f->stream,
                      STREAM - 1, (uint32_t)node);
        if (t->act[node] == RT_ACT_LATE && fam->stochastic)
            fam->simulate(f->starter.state, &rng, element);
        else if (t->act[node] == RT_ACT_LATE)
            fam->derive(f->starter.state, element);
    }
}

/* Runs a filter at these parameters, which stay in the state: f->loglik. */
static enum gbm_status evaluate(struct pmmh *p, const double *x)
{
    struct rt_filter *f = &p->f;
    for (int k = 0; k < p->d; k++)
        rt_set_value(&f->in.slots[p->parameters[k].variable], false, 0,
                     p->parameters[k].cell, x[k]);
    f->stream++;
    enum gbm_status s = rt_filter_begin(f, f->starter.state);
    f->loglik = f->base;
    if (s != GBM_OK || !isfinite(f->base))
        return s;
    rt_filter_copy(f);
    return rt_filter_run(f);
}

static void keep_record(struct pmmh *p)
{
    struct rt_filter *f = &p->f;
    const struct rt_instance *in = &f->in;
    draw_the_rest(p);
    for (int k = 0; k < in->nmonitors; k++) {
        const struct rt_monitor *m = &in->monitors[k];
        const bool integer = in->model->variables[m->variable].integer;
        for (int64_t i = 0; i < m->count; i++)
            p->record[m->offset + i] =
                rt_value(&in->slots[m->variable], integer, 0,
                         m->cells ? m->cells[i] : i);
    }
    for (int64_t i = 0; i < f->result.ncells; i++)
        p->record[f->result.cells[i].offset] = f->path[i];
    p->loglik = f->loglik;
}

/* ---- moves ---- */

/* The lower Cholesky factor of the covariance, and a little on its diagonal. */
static void factor(struct pmmh *p)
{
    const int d = p->d;
    for (int i = 0; i < d; i++)
        for (int j = 0; j <= i; j++) {
            double sum = p->covariance[i * d + j];
            for (int k = 0; k < j; k++)
                sum -= p->factor[i * d + k] * p->factor[j * d + k];
            const double least = 1e-6 * p->covariance[i * d + i] + 1e-300;
            p->factor[i * d + j] =
                i > j ? sum / p->factor[j * d + j] : sqrt(fmax(sum, least));
        }
}

static void begin_chain(struct pmmh *p, int chain)
{
    const int d = p->d;
    memset(p->covariance, 0, (size_t)(d * d) * sizeof *p->covariance);
    for (int k = 0; k < d; k++) {
        p->x[k] = p->mean[k] = p->start[chain * d + k];
        const double step = FIRST_STEP * fmax(fabs(p->x[k]), FIRST_STEP);
        p->covariance[k * d + k] = step * step;
    }
    p->scale = log(2.38 / sqrt(d));
    factor(p);
}

static void learn(struct pmmh *p, int sweep, double probability)
{
    const int d = p->d;
    const double rate = pow(sweep + 2, -0.6);
    p->scale += rate * (probability - ACCEPTED);
    for (int i = 0; i < d; i++)
        p->y[i] = p->x[i] - p->mean[i];
    for (int i = 0; i < d; i++) {
        p->mean[i] += rate * p->y[i];
        for (int j = 0; j < d; j++)
            p->covariance[i * d + j] +=
                rate * (p->y[i] * p->y[j] - p->covariance[i * d + j]);
    }
    factor(p);
}

static enum gbm_status move(struct pmmh *p, int chain, int sweep)
{
    const struct rt_options *o = &p->f.rt->options;
    const int d = p->d;
    struct gbm_rng rng;
    double z[d];
    gbm_rng_start(&rng, o->seed, (uint32_t)chain, (uint32_t)sweep, STREAM, 0);
    for (int k = 0; k < d; k++)
        z[k] = gbm_draw_normal(&rng);
    for (int i = 0; i < d; i++) {
        p->y[i] = p->x[i];
        for (int j = 0; j <= i; j++)
            p->y[i] += exp(p->scale) * p->factor[i * d + j] * z[j];
    }
    enum gbm_status s = evaluate(p, p->y);
    const double ratio = p->f.loglik - p->loglik;
    const double probability = ratio >= 0 ? 1 : exp(ratio);
    if (s != GBM_OK || rt_stopped())
        return s;
    p->accept = gbm_uniform(&rng) < probability;
    if (p->accept) {
        memcpy(p->x, p->y, (size_t)d * sizeof *p->x);
        keep_record(p);
    }
    if (sweep < o->warmup) {
        learn(p, sweep, probability);
    } else {
        p->moves++;
        p->accepted += p->accept;
    }
    return GBM_OK;
}

static enum gbm_status run_chain(struct pmmh *p, int chain,
                                 struct rt_progress *progress)
{
    const struct rt_options *o = &p->f.rt->options;
    const int sweeps = o->warmup + p->draws.capacity * o->thin;
    const size_t bytes = (size_t)p->f.in.row * sizeof(double);
    begin_chain(p, chain);
    enum gbm_status s = evaluate(p, p->x);
    if (s == GBM_OK && !isfinite(p->f.loglik) && !rt_stopped())
        return rt_fail(p->f.rt, GBM_FAILURE,
                       "chain %d: no particle has a density that is not 0 at "
                       "its starting values: other ones (--init), or more "
                       "--particles, may help",
                       chain + 1);
    if (s == GBM_OK)
        keep_record(p);
    for (int k = 0; s == GBM_OK && k < sweeps && !rt_stopped(); k++) {
        const int kept = k - o->warmup + 1;
        s = move(p, chain, k);
        if (kept > 0 && kept % o->thin == 0 && !rt_stopped())
            memcpy(gbm_draws_record(&p->draws, chain, kept / o->thin - 1),
                   p->record, bytes);
        rt_progress_show(progress, (int64_t)chain * sweeps + k + 1);
    }
    return s;
}

/* ---- the command ---- */

static bool allocate(struct pmmh *p)
{
    const size_t d = (size_t)p->d + 1;
    struct rt_filter *f = &p->f;
    p->start = malloc(d * (size_t)f->in.nchains * sizeof *p->start);
    p->x = malloc(d * sizeof *p->x);
    p->y = malloc(d * sizeof *p->y);
    p->mean = malloc(d * sizeof *p->mean);
    p->covariance = malloc(d * d * sizeof *p->covariance);
    p->factor = calloc(d * d, sizeof *p->factor);
    p->record = malloc(((size_t)f->in.row + 1) * sizeof *p->record);
    f->path = malloc(((size_t)f->result.ncells + 1) * sizeof *f->path);
    return p->start && p->x && p->y && p->mean && p->covariance && p->factor &&
           p->record && f->path;
}

/* Cells in the order in which a path is traced: the last ones first. */
static void order_cells(struct rt_filter *f)
{
    int64_t n = 0;
    for (int t = f->times.count; t >= 1; t--)
        for (int64_t i = 0; i < f->result.ncells; i++)
            if (f->result.cells[i].last == t)
                f->list[n++] = i;
}

static enum gbm_status prepare(struct pmmh *p)
{
    struct rt_filter *f = &p->f;
    struct rt *rt = f->rt;
    enum gbm_status s = rt_filter_load(f);
    if (s == GBM_OK)
        s = rt_start(rt, &f->in, f->notes);
    if (s != GBM_OK)
        return s;
    const size_t nv = (size_t)f->in.model->nvariables + 1;
    p->given = calloc(nv, sizeof *p->given);
    if (!p->given)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    rt_bind(&f->in, f->starter.state, 0);
    s = find_parameters(p);
    if (s == GBM_OK)
        s = rt_filter_lay_out(f);
    if (s == GBM_OK && !allocate(p))
        s = rt_filter_no_memory(f);
    if (s == GBM_OK) {
        take_starts(p);
        order_cells(f);
        s = rt_filter_create(f);
    }
    if (s == GBM_OK)
        s = rt_monitor_draws(rt, &f->in, &f->data, &p->draws);
    if (s == GBM_OK &&
        gbm_draws_allocate(&p->draws, rt->options.chains,
                           rt->options.draws / rt->options.thin) != GBM_OK)
        s = rt_fail(rt, GBM_FAILURE, "no memory for the draws");
    return s;
}

static void execute(struct pmmh *p)
{
    struct rt *rt = p->f.rt;
    const struct rt_options *o = &rt->options;
    const double began = rt_clock(), cpu = rt_cpu_clock();
    struct rt_progress progress = {.out = p->f.notes};
    enum gbm_status s = GBM_OK;
    rt_catch_signals();
    if (p->f.notes)
        fprintf(p->f.notes,
                "%s: %d chain%s of %d parameters, %d particles, %d times, on "
                "the CPU\n",
                rt->model->name, o->chains, o->chains == 1 ? "" : "s", p->d,
                p->f.n, p->f.times.count);
    rt_progress_begin(&progress, "moves", 0,
                      (int64_t)o->chains *
                          (o->warmup + p->draws.capacity * o->thin));
    for (int c = 0; s == GBM_OK && c < o->chains && !rt_stopped(); c++)
        s = run_chain(p, c, &progress);
    if (s == GBM_OK && rt_stopped())
        s = rt_fail(rt, GBM_FAILURE,
                    "stopped before the last chain's end: nothing is written");
    if (s != GBM_OK)
        return;
    rt_progress_end(&progress, progress.total);
    p->draws.kept = p->draws.capacity;
    p->draws.complete = true;
    p->draws.device = "the CPU, by particles";
    p->draws.timing.sampling_s = rt_clock() - began;
    p->draws.timing.sampling_cpu_s = rt_cpu_clock() - cpu;
    rt_deliver(rt, &p->draws);
    if (!o->quiet)
        printf("%.1f %% of the moves were accepted after warm-up.\n",
               100.0 * (double)p->accepted / (double)p->moves);
}

static int run_pmmh(struct rt *rt)
{
    struct pmmh p = {
        .f = {.rt = rt, .n = rt->options.particles, .alone = true}};
    p.f.notes = rt->options.quiet ? NULL : stderr;
    p.f.result.filters = 1;
    gbm_draws_init(&p.draws);
    if (prepare(&p) == GBM_OK)
        execute(&p);
    for (int v = 0; p.given && v < p.f.in.model->nvariables; v++) {
        free(p.given[v].values);
        free(p.given[v].missing);
    }
    gbm_draws_free(&p.draws);
    rt_filter_release(&p.f);
    void *const all[] = {p.given, p.parameters, p.start,  p.x,      p.y,
                         p.mean,  p.covariance, p.factor, p.record, p.f.path};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    return rt_report(rt);
}

const struct rt_method rt_particle_metropolis = {
    .name = "pmmh",
    .help = "draws by random walks of parameters, with a particle filter for "
            "states along time",
    .run = run_pmmh,
};
