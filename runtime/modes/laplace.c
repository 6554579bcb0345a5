/* laplace.c: the Laplace approximation: draws from the normal distribution of
 * the free numbers whose mean is the mode and whose precision is minus the
 * Hessian of the log density there. Tierney and Kadane (1986). */
#include "modes/mode.h"
#include "gbm.h"
#include "host/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 4000 }; /* a dense matrix of so many rows */
#define STEP_FIRST 1e-4  /* of differences, before the curvature is known */
#define STEP 1e-3        /* after that, in standard deviations */

struct laplace {
    struct rt_mode *m;
    int64_t n;
    double *factor; /* [n][n] minus the Hessian; then its Cholesky factor */
    double *step;   /* [n] */
    double *at, *above, *below; /* [n] */
    struct gbm_draws draws;
    int lp, log_q; /* stats */
};

/* Row i of minus the Hessian, by central differences of gradients. */
static bool difference(struct laplace *k, int64_t i, double *row)
{
    struct rt_climb *best = &k->m->climbs[k->m->best];
    memcpy(k->at, best->u, (size_t)k->n * sizeof *k->at);
    k->at[i] = best->u[i] + k->step[i];
    const double right = k->at[i];
    bool good = isfinite(rt_gradient_at(&best->gradient, k->at, k->above));
    k->at[i] = best->u[i] - k->step[i];
    const double width = right - k->at[i];
    good = good && isfinite(rt_gradient_at(&best->gradient, k->at, k->below));
    for (int64_t j = 0; good && j < k->n; j++)
        row[j] = (k->below[j] - k->above[j]) / width;
    return good;
}

static enum gbm_status fail_at(struct laplace *k, int64_t i, const char *why)
{
    char name[128];
    rt_unknown_name(&k->m->unknowns, i, name, sizeof name);
    return rt_fail(k->m->rt, GBM_FAILURE,
                   "no normal approximation at the mode: %s %s", why, name);
}

/* The step is settled by the curvature that a first one finds. */
static enum gbm_status find_hessian(struct laplace *k)
{
    const struct rt_climb *best = &k->m->climbs[k->m->best];
    for (int64_t i = 0; i < k->n; i++) {
        double *row = k->factor + i * k->n;
        k->step[i] = STEP_FIRST * fmax(1, fabs(best->u[i]));
        for (int pass = 0; pass < 2; pass++) {
            if (rt_stopped())
                return rt_fail(k->m->rt, GBM_FAILURE, "stopped");
            if (!difference(k, i, row))
                return fail_at(k, i, "the density ends beside it along");
            if (!(row[i] > 0))
                return fail_at(k, i, "the density does not fall along");
            k->step[i] = STEP / sqrt(row[i]);
        }
    }
    for (int64_t i = 0; i < k->n; i++)
        for (int64_t j = 0; j < i; j++) {
            double *a = &k->factor[i * k->n + j], *b = &k->factor[j * k->n + i];
            *a = *b = (*a + *b) / 2;
        }
    if (!gbm_cholesky((int)k->n, k->factor))
        return rt_fail(k->m->rt, GBM_FAILURE,
                       "no normal approximation at the mode: the density does "
                       "not fall in all directions from it (some combination "
                       "of parameters is not identified)");
    return GBM_OK;
}

/* Forward draws, given the parameters. */
static void predict(const struct laplace *k, const void *state, int draw)
{
    const struct rt_instance *in = &k->m->in;
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        const unsigned char *forward = k->m->unknowns.forward[f];
        for (int64_t e = 0; forward && fam->simulate && e < in->elements[f];
             e++) {
            struct gbm_rng rng;
            if (!forward[e])
                continue;
            gbm_rng_start(&rng, k->m->rt->options.seed, (uint32_t)draw,
                          UINT32_MAX - 2, (uint32_t)f, (uint32_t)e);
            fam->simulate(state, &rng, e);
        }
        for (int64_t e = 0; rt_is_read(in->model, f) && e < in->elements[f];
             e++)
            (fam->refresh ? fam->refresh : fam->derive)(state, e);
    }
}

/* u = mode + L'^-1 z, so that its precision is L L'. */
static void draw(struct laplace *k, int i)
{
    struct rt_mode *m = k->m;
    struct rt_climb *best = &m->climbs[m->best];
    struct rt_block block = {.draws = gbm_draws_record(&k->draws, 0, i)};
    struct gbm_rng rng;
    double square = 0;
    for (int64_t j = 0; j < k->n; j++) {
        gbm_rng_start(&rng, m->rt->options.seed, (uint32_t)i, UINT32_MAX - 1,
                      (uint32_t)j, 0);
        k->at[j] = gbm_draw_normal(&rng);
        square += k->at[j] * k->at[j];
    }
    gbm_solve_lower_transposed((int)k->n, k->factor, k->at);
    for (int64_t j = 0; j < k->n; j++)
        k->at[j] += best->u[j];
    k->draws.stats[k->lp].values[i] =
        rt_gradient_at(&best->gradient, k->at, NULL);
    k->draws.stats[k->log_q].values[i] = -square / 2;
    predict(k, best->gradient.state, i);
    rt_derive_kept(&m->in, best->gradient.state);
    rt_keep(&m->in, &block, best->gradient.state, m->best, 0, 1);
}

static enum gbm_status prepare(struct laplace *k)
{
    struct rt *rt = k->m->rt;
    const size_t n = (size_t)k->n;
    if (k->n > LARGEST)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--laplace: %lld free numbers, and at most %d are "
                       "supported yet",
                       (long long)k->n, LARGEST);
    k->factor = malloc(n * n * sizeof *k->factor);
    k->step = malloc(4 * n * sizeof *k->step);
    gbm_draws_init(&k->draws);
    enum gbm_status s = rt_monitor_draws(rt, &k->m->in, &k->m->data, &k->draws);
    if (s != GBM_OK)
        return s;
    if (!k->factor || !k->step ||
        gbm_draws_allocate(&k->draws, 1, rt->options.laplace) != GBM_OK)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    k->at = k->step + n;
    k->above = k->at + n;
    k->below = k->above + n;
    k->lp = gbm_draws_add_stat(&k->draws, "lp", false);
    k->log_q = gbm_draws_add_stat(&k->draws, "log_q", false);
    if (k->lp < 0 || k->log_q < 0)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    k->draws.model = rt->model->name;
    k->draws.version = rt->model->version;
    k->draws.device = "cpu";
    k->draws.data = rt->options.ndata ? rt->options.data[0] : NULL;
    k->draws.seed = rt->options.seed;
    k->draws.thin = 1;
    k->draws.complete = true;
    return GBM_OK;
}

enum gbm_status rt_laplace(struct rt_mode *m)
{
    struct laplace k = {.m = m, .n = m->unknowns.dimension};
    enum gbm_status s = prepare(&k);
    if (s == GBM_OK)
        s = find_hessian(&k);
    for (int i = 0; s == GBM_OK && i < m->rt->options.laplace; i++) {
        draw(&k, i);
        k.draws.kept++;
    }
    if (s == GBM_OK && !m->rt->options.quiet)
        printf("\nnormal approximation at the mode, %d draws:\n", k.draws.kept);
    if (s == GBM_OK)
        s = rt_deliver(m->rt, &k.draws);
    gbm_draws_free(&k.draws);
    free(k.factor);
    free(k.step);
    return s;
}
