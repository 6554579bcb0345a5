/* pmmh.c: --method pmmh: particle marginal Metropolis-Hastings (Andrieu, Doucet
 * and Holenstein 2010, section 4.4). Parameters of a model that runs along
 * time, and what they are drawn from, move by random-walk steps; a particle
 * filter's estimate stands for their likelihood, which leaves the posterior
 * exact, and one of its paths is the states' draw. Chains move by turns, so
 * what there is of them at any time is of equal length. The step's covariance
 * and scale are learnt in warm-up (Andrieu and Thoms 2008, algorithm 4) and
 * fixed after. */
#include "filter/filter.h"
#include "options/method.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STREAM (UINT32_MAX - 4000) /* of the moves' random numbers */
#define ACCEPTED 0.2               /* the share that warm-up tunes for */
#define FIRST_STEP 0.1             /* of a parameter's size */
/* In warm-up the likelihood of where a chain is is estimated anew after so many
 * moves in a row that were not accepted, and in its first half after each. Far
 * from the posterior estimates vary most; a lucky one would keep the chain
 * there, and its steps would shrink to nothing. */
#define STAYED 20

struct parameter {
    int variable;
    int64_t cell;
};

/* A chain. */
struct walk {
    double *x, *mean;            /* [d] */
    double *covariance, *factor; /* [d][d] */
    double *record;              /* [row] x, and the path beside it */
    double *scale;               /* log of the factor of the step */
    double *loglik;              /* log prior and likelihood of x */
    double *stayed;              /* moves that were not accepted in a row */
};

struct pmmh {
    struct rt_filter f;           /* its `in` has the chains' starting values */
    struct parameter *parameters; /* [d] */
    int d;
    double *start;     /* [chains][d] */
    double *y;         /* [d] a proposal */
    double *numbers;   /* [chains][room] of all walks */
    struct walk *walk; /* [chains] */
    int64_t room;
    struct gbm_draws draws;
    int sweep, chain;        /* the next move; before the first, sweep -1 */
    int64_t moves, accepted; /* after warm-up */
};

/* ---- parameters ---- */

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
    if (n != 1 || rt_draws_whole(f->in.model, k))
        return rt_fail(f->rt, GBM_USER_ERROR,
                       "%s: %s: not supported yet: --method pmmh moves single "
                       "real numbers, not %s\n    %s",
                       fam->where, name, n != 1 ? "vectors" : "whole numbers",
                       fam->text);
    struct parameter *more =
        realloc(p->parameters, ((size_t)p->d + 1) * sizeof *more);
    if (!more || !rt_filter_give(f, fam->variable, f->starter.buffer.cells[0]))
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
    f->stream = (uint32_t)((p->sweep + 1) * f->rt->options.chains + p->chain);
    enum gbm_status s = rt_filter_begin(f, f->starter.state);
    f->loglik = f->base;
    if (s != GBM_OK || !isfinite(f->base))
        return s;
    rt_filter_copy(f);
    return rt_filter_run(f);
}

static void keep_record(struct pmmh *p, const struct walk *w)
{
    struct rt_filter *f = &p->f;
    const struct rt_instance *in = &f->in;
    draw_the_rest(p);
    for (int k = 0; k < in->nmonitors; k++) {
        const struct rt_monitor *m = &in->monitors[k];
        const bool integer = in->model->variables[m->variable].integer;
        for (int64_t i = 0; i < m->count; i++)
            w->record[m->offset + i] =
                rt_value(&in->slots[m->variable], integer, 0,
                         m->cells ? m->cells[i] : i);
    }
    for (int64_t i = 0; i < f->result.ncells; i++)
        w->record[f->result.cells[i].offset] = f->path[i];
    *w->loglik = f->loglik;
}

/* ---- moves ---- */

/* The lower Cholesky factor of the covariance, and a little on its diagonal. */
static void factor(const struct walk *w, int d)
{
    for (int i = 0; i < d; i++)
        for (int j = 0; j <= i; j++) {
            double sum = w->covariance[i * d + j];
            for (int k = 0; k < j; k++)
                sum -= w->factor[i * d + k] * w->factor[j * d + k];
            const double least = 1e-6 * w->covariance[i * d + i] + 1e-300;
            w->factor[i * d + j] =
                i > j ? sum / w->factor[j * d + j] : sqrt(fmax(sum, least));
        }
}

static enum gbm_status begin_chain(struct pmmh *p)
{
    const struct walk *w = &p->walk[p->chain];
    const int d = p->d;
    memset(w->covariance, 0, (size_t)(d * d) * sizeof *w->covariance);
    for (int k = 0; k < d; k++) {
        w->x[k] = w->mean[k] = p->start[p->chain * d + k];
        const double step = FIRST_STEP * fmax(fabs(w->x[k]), FIRST_STEP);
        w->covariance[k * d + k] = step * step;
    }
    *w->scale = log(2.38 / sqrt(d));
    factor(w, d);
    enum gbm_status s = evaluate(p, w->x);
    if (s == GBM_OK && !isfinite(p->f.loglik) && !rt_stopped())
        return rt_fail(p->f.rt, GBM_FAILURE,
                       "chain %d: no particle has a density that is not 0 at "
                       "its starting values: other ones (--init), or more "
                       "--particles, may help",
                       p->chain + 1);
    if (s == GBM_OK && !rt_stopped())
        keep_record(p, w);
    return s;
}

static void learn(struct pmmh *p, const struct walk *w, double probability)
{
    const int d = p->d;
    const double rate = pow(p->sweep + 2, -0.6);
    *w->scale += rate * (probability - ACCEPTED);
    for (int i = 0; i < d; i++)
        p->y[i] = w->x[i] - w->mean[i];
    for (int i = 0; i < d; i++) {
        w->mean[i] += rate * p->y[i];
        for (int j = 0; j < d; j++)
            w->covariance[i * d + j] +=
                rate * (p->y[i] * p->y[j] - w->covariance[i * d + j]);
    }
    factor(w, d);
}

static enum gbm_status estimate_anew(struct pmmh *p, const struct walk *w)
{
    enum gbm_status s = evaluate(p, w->x);
    if (s == GBM_OK && isfinite(p->f.loglik) && !rt_stopped())
        keep_record(p, w);
    return s;
}

static bool wants_estimate(const struct pmmh *p, const struct walk *w)
{
    const int warmup = p->f.rt->options.warmup;
    return p->sweep < warmup &&
           *w->stayed >= (2 * p->sweep < warmup ? 1 : STAYED);
}

/* p->y: a step from where a chain is. */
static void propose(struct pmmh *p, const struct walk *w, struct gbm_rng *rng)
{
    const int d = p->d;
    double z[d];
    for (int k = 0; k < d; k++)
        z[k] = gbm_draw_normal(rng);
    for (int i = 0; i < d; i++) {
        p->y[i] = w->x[i];
        for (int j = 0; j <= i; j++)
            p->y[i] += exp(*w->scale) * w->factor[i * d + j] * z[j];
    }
}

/* Of p->chain in p->sweep; if it is asked to stop meanwhile, not at all. */
static enum gbm_status move(struct pmmh *p)
{
    const struct rt_options *o = &p->f.rt->options;
    const struct walk *w = &p->walk[p->chain];
    struct gbm_rng rng;
    if (wants_estimate(p, w) && (estimate_anew(p, w) != GBM_OK || rt_stopped()))
        return p->f.rt->status;
    gbm_rng_start(&rng, o->seed, (uint32_t)p->chain, (uint32_t)p->sweep, STREAM,
                  0);
    propose(p, w, &rng);
    enum gbm_status s = evaluate(p, p->y);
    const double ratio = p->f.loglik - *w->loglik;
    const double probability = ratio >= 0 ? 1 : exp(ratio);
    if (s != GBM_OK || rt_stopped())
        return s;
    const bool accept = gbm_uniform(&rng) < probability;
    *w->stayed = accept ? 0 : fmod(*w->stayed, STAYED) + 1;
    if (accept) {
        memcpy(w->x, p->y, (size_t)p->d * sizeof *w->x);
        keep_record(p, w);
    }
    if (p->sweep < o->warmup) {
        learn(p, w, probability);
    } else {
        p->moves++;
        p->accepted += accept;
    }
    return GBM_OK;
}

static int sweeps_of(const struct pmmh *p)
{
    const struct rt_options *o = &p->f.rt->options;
    return o->warmup + p->draws.capacity * o->thin;
}

/* Draws of a chain after `sweeps` of them. */
static int draws_after(const struct pmmh *p, int sweeps)
{
    const struct rt_options *o = &p->f.rt->options;
    return sweeps > o->warmup ? (sweeps - o->warmup) / o->thin : 0;
}

/* The next move of the next chain. */
static enum gbm_status step(struct pmmh *p)
{
    const size_t bytes = (size_t)p->f.in.row * sizeof(double);
    enum gbm_status s = p->sweep < 0 ? begin_chain(p) : move(p);
    if (s != GBM_OK || rt_stopped())
        return s;
    const int kept = draws_after(p, p->sweep + 1);
    if (kept > draws_after(p, p->sweep))
        memcpy(gbm_draws_record(&p->draws, p->chain, kept - 1),
               p->walk[p->chain].record, bytes);
    if (++p->chain == p->f.rt->options.chains) {
        p->chain = 0;
        p->sweep++;
        p->draws.kept = kept;
    }
    return GBM_OK;
}

/* ---- checkpoints ---- */

static void list_numbers(struct pmmh *p, struct rt_pieces *pieces)
{
    rt_pieces_add(pieces, "sweeps", &p->sweep, sizeof p->sweep);
    rt_pieces_add(pieces, "next chain", &p->chain, sizeof p->chain);
    rt_pieces_add(pieces, "draws", &p->draws.kept, sizeof p->draws.kept);
    rt_pieces_add(pieces, "moves", &p->moves, sizeof p->moves);
    rt_pieces_add(pieces, "accepted", &p->accepted, sizeof p->accepted);
}

/* The first chains may have one draw more than there are of all. */
static void list_arrays(struct pmmh *p, struct rt_pieces *pieces)
{
    const int chains = p->f.rt->options.chains;
    rt_pieces_add(pieces, "walks", p->numbers,
                  (size_t)(chains * p->room) * sizeof *p->numbers);
    for (int c = 0; c < chains; c++) {
        const int kept = draws_after(p, p->sweep + (c < p->chain));
        rt_pieces_add(pieces, "draws", gbm_draws_record(&p->draws, c, 0),
                      (size_t)(kept * p->f.in.row) * sizeof(double));
    }
}

static void save(struct pmmh *p)
{
    struct rt_pieces pieces = {0};
    list_numbers(p, &pieces);
    list_arrays(p, &pieces);
    rt_filter_save(&p->f, &pieces);
}

static enum gbm_status go_on(struct pmmh *p)
{
    struct rt_filter *f = &p->f;
    struct rt_pieces numbers = {0}, arrays = {0};
    list_numbers(p, &numbers);
    enum gbm_status s = rt_filter_read(f, &numbers);
    if (s == GBM_OK && p->draws.kept > p->draws.capacity)
        s = rt_fail(f->rt, GBM_USER_ERROR,
                    "--resume %s: it has %d draws a chain already, and --draws "
                    "would keep %d",
                    f->resume.path, p->draws.kept, p->draws.capacity);
    if (s != GBM_OK)
        return s;
    list_arrays(p, &arrays);
    s = rt_filter_read(f, &arrays);
    if (s == GBM_OK)
        s = rt_filter_identify(f);
    if (s == GBM_OK && f->resume.file && f->notes)
        fprintf(f->notes,
                "note: %s: goes on after %d of %d moves of each chain\n",
                f->resume.path, p->sweep < 0 ? 0 : p->sweep, sweeps_of(p));
    return s;
}

/* ---- the command ---- */

static bool allocate(struct pmmh *p)
{
    const size_t d = (size_t)p->d, row = (size_t)p->f.in.row;
    const size_t chains = (size_t)p->f.in.nchains;
    struct rt_filter *f = &p->f;
    p->room = (int64_t)(2 * d + 2 * d * d + row + 3);
    p->start = malloc((d * chains + 1) * sizeof *p->start);
    p->y = malloc((d + 1) * sizeof *p->y);
    p->numbers = calloc((size_t)p->room * chains, sizeof *p->numbers);
    p->walk = calloc(chains, sizeof *p->walk);
    f->path = malloc(((size_t)f->result.ncells + 1) * sizeof *f->path);
    for (size_t c = 0; p->numbers && p->walk && c < chains; c++) {
        double *at = p->numbers + (int64_t)c * p->room;
        p->walk[c] = (struct walk){.x = at,
                                   .mean = at + d,
                                   .covariance = at + 2 * d,
                                   .factor = at + 2 * d + d * d,
                                   .record = at + 2 * d + 2 * d * d,
                                   .scale = at + p->room - 3,
                                   .loglik = at + p->room - 2,
                                   .stayed = at + p->room - 1};
    }
    return p->start && p->y && p->numbers && p->walk && f->path;
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

/* Moves until the end, or until it is asked to stop. */
static enum gbm_status walk_on(struct pmmh *p)
{
    struct rt *rt = p->f.rt;
    const int chains = rt->options.chains, sweeps = sweeps_of(p);
    struct rt_progress progress = {.out = p->f.notes};
    const bool saves = p->f.checkpoint.path[0];
    enum gbm_status s = GBM_OK;
    rt_progress_begin(&progress, "moves", (int64_t)chains * (p->sweep + 1),
                      (int64_t)chains * (sweeps + 1));
    while (s == GBM_OK && p->sweep < sweeps && !rt_stopped()) {
        s = step(p);
        if (s == GBM_OK && rt_checkpoint_due(&p->f.checkpoint))
            save(p);
        rt_progress_show(&progress,
                         (int64_t)chains * (p->sweep + 1) + p->chain);
    }
    rt_progress_end(&progress, (int64_t)chains * (p->sweep + 1) + p->chain);
    if (s == GBM_OK && saves)
        save(p);
    p->draws.complete = p->sweep == sweeps;
    return s;
}

static void execute(struct pmmh *p)
{
    struct rt *rt = p->f.rt;
    const struct rt_options *o = &rt->options;
    const double began = rt_clock(), cpu = rt_cpu_clock();
    rt_catch_signals();
    if (p->f.notes)
        fprintf(p->f.notes,
                "%s: %d chain%s of %d parameters, %d particles, %d times, on "
                "the CPU\n",
                rt->model->name, o->chains, o->chains == 1 ? "" : "s", p->d,
                p->f.n, p->f.times.count);
    if (walk_on(p) != GBM_OK)
        return;
    const bool whole = p->f.checkpoint.whole;
    if (p->draws.kept == 0) {
        rt_fail(rt, GBM_FAILURE,
                "stopped before the first draw: nothing is written%s%s",
                whole ? "; to go on: --resume " : "",
                whole ? o->checkpoint : "");
        return;
    }
    p->draws.device = "the CPU, by particles";
    p->draws.timing.sampling_s = rt_clock() - began;
    p->draws.timing.sampling_cpu_s = rt_cpu_clock() - cpu;
    rt_deliver(rt, &p->draws);
    if (!o->quiet)
        printf("%.1f %% of the moves were accepted after warm-up.\n",
               100.0 * (double)p->accepted / (double)p->moves);
    if (!p->draws.complete)
        rt_fail(rt, GBM_FAILURE,
                "stopped: %d of %d draws a chain were kept; the run is marked "
                "incomplete%s%s",
                p->draws.kept, p->draws.capacity,
                whole ? "; to go on: --resume " : "",
                whole ? o->checkpoint : "");
}

static int run_pmmh(struct rt *rt)
{
    struct pmmh p = {.f = {.rt = rt, .alone = true}, .sweep = -1};
    p.f.notes = rt->options.quiet ? NULL : stderr;
    p.f.result.filters = 1;
    gbm_draws_init(&p.draws);
    if (rt_checkpoint_open(&p.f.checkpoint, &p.f.resume, rt, p.f.notes) ==
        GBM_OK) {
        p.f.n = rt->options.particles;
        if (prepare(&p) == GBM_OK && go_on(&p) == GBM_OK)
            execute(&p);
    }
    gbm_draws_free(&p.draws);
    rt_filter_release(&p.f);
    void *const all[] = {p.parameters, p.start,   p.y,
                         p.walk,       p.numbers, p.f.path};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    return rt_report(rt);
}

const struct rt_method rt_particle_metropolis = {
    .name = "pmmh",
    .help = "draws by random walks of parameters, with a particle filter for "
            "states along time",
    .particles = true,
    .filters = true,
    .run = run_pmmh,
};
