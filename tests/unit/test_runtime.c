/* The runtime on a model written by hand, as the compiler would emit it:
 *
 *     for (i in 1:N) { y[i] ~ dnorm(inprod(X[i,], beta[]), tau) }
 *     for (j in 1:p) { beta[j] ~ dnorm(0, 0.25) }
 *     tau ~ dgamma(3, 2)
 *     sigma <- 1 / sqrt(tau)
 *
 * Its sweep: beta as one dense Gaussian block, tau from a gamma, missing y
 * forward. `broken` in the state's place makes single pieces wrong: the checks
 * must see it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "check/check.h"
#include "simulate/simulate.h"
#include "options/method.h"
#include "io/data.h"
#include "gbm.h"
#include "host/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N, P, X, Y, BETA, TAU, SIGMA, NSLOTS };

struct state {
    const int *n, *p;
    const double *x;
    double *y, *beta, *tau, *sigma;
    const unsigned char *seen;
    int64_t y_stride, beta_stride, tau_stride, sigma_stride;
};

static enum { NOTHING, WEIGHT, SHAPE, PRIOR } broken;

static void bind(void *state, const struct gbm_binding *b)
{
    struct state *s = state;
    *s = (struct state){b[N].values,     b[P].values,    b[X].values,
                        b[Y].values,     b[BETA].values, b[TAU].values,
                        b[SIGMA].values, b[Y].seen,      b[Y].stride,
                        b[BETA].stride,  b[TAU].stride,  b[SIGMA].stride};
}

static void shift(void *state, int chain)
{
    struct state *s = state;
    s->y += chain * s->y_stride;
    s->beta += chain * s->beta_stride;
    s->tau += chain * s->tau_stride;
    s->sigma += chain * s->sigma_stride;
}

static int64_t rows(const void *s, int *t)
{
    (void)t;
    return *((const struct state *)s)->n;
}
static int64_t coefficients(const void *s, int *t)
{
    (void)t;
    return *((const struct state *)s)->p;
}
static int64_t one(const void *s, int *t)
{
    (void)s;
    (void)t;
    return 1;
}
static void subscript(const void *s, int64_t e, int *out)
{
    (void)s;
    out[0] = (int)e + 1;
}
static int64_t cell(const void *s, int64_t e, int64_t *out)
{
    (void)s;
    if (out)
        *out = e;
    return 1;
}
static double normal(double x, double mu, double tau)
{
    return 0.5 * log(tau) - 0.91893853320467274 -
           0.5 * tau * (x - mu) * (x - mu);
}
static double predictor(const struct state *s, int64_t i)
{
    double sum = 0;
    for (int j = 0; j < *s->p; j++)
        sum += s->x[i * *s->p + j] * s->beta[j];
    return sum;
}

static double y_density(const void *state, int64_t i)
{
    const struct state *s = state;
    return normal(s->y[i], predictor(s, i), *s->tau);
}
static void y_simulate(const void *state, struct gbm_rng *rng, int64_t i)
{
    const struct state *s = state;
    s->y[i] = predictor(s, i) + gbm_draw_normal(rng) / sqrt(*s->tau);
}
static void y_start(const void *state, struct gbm_rng *rng, int64_t i,
                    double spread)
{
    const struct state *s = state;
    s->y[i] = predictor(s, i) + spread * gbm_draw_normal(rng) / sqrt(*s->tau);
}
static bool y_check(const void *state, int64_t i, struct gbm_problem *problem)
{
    const struct state *s = state;
    if (s->y[i] < 1e6)
        return true;
    snprintf(problem->text, sizeof problem->text, "y[%d] = %g is too large",
             (int)i + 1, s->y[i]);
    return false;
}
static double beta_density(const void *state, int64_t j)
{
    return normal(((const struct state *)state)->beta[j], 0, 0.25);
}
static void beta_simulate(const void *state, struct gbm_rng *rng, int64_t j)
{
    ((const struct state *)state)->beta[j] = 2 * gbm_draw_normal(rng);
}
static void beta_start(const void *state, struct gbm_rng *rng, int64_t j,
                       double spread)
{
    ((const struct state *)state)->beta[j] = 2 * spread * gbm_draw_normal(rng);
}
static double tau_density(const void *state, int64_t e)
{
    const struct state *s = state;
    (void)e;
    return *s->tau > 0
               ? 3 * log(2.0) - lgamma(3) + 2 * log(*s->tau) - 2 * *s->tau
               : -(double)INFINITY;
}
static void tau_simulate(const void *state, struct gbm_rng *rng, int64_t e)
{
    (void)e;
    *((const struct state *)state)->tau = gbm_draw_gamma(rng, 3) / 2;
}
static void tau_start(const void *state, struct gbm_rng *rng, int64_t e,
                      double spread)
{
    (void)e;
    *((const struct state *)state)->tau =
        1.5 * exp(spread * 0.5 * gbm_draw_normal(rng));
}
static void sigma_derive(const void *state, int64_t e)
{
    const struct state *s = state;
    (void)e;
    *s->sigma = 1 / sqrt(*s->tau);
}

/* A missing y is a leaf: no conditional counts it. */
static bool is_seen(const struct state *s, int64_t i)
{
    return s->seen ? s->seen[i] != 0 : s->y_stride == 0;
}

/* tau | rest ~ gamma(3 + n/2, 2 + sum (y - X beta)^2 / 2), over the n
 * observed y */
static void tau_parameters(const struct state *s, double *shape, double *rate)
{
    *shape = 3 + (broken == SHAPE ? 1 : 0);
    *rate = 2;
    for (int i = 0; i < *s->n; i++) {
        if (!is_seen(s, i))
            continue;
        *shape += 0.5;
        *rate += 0.5 * pow(s->y[i] - predictor(s, i), 2);
    }
}
static void tau_run(const void *state, const struct gbm_sweep *sweep,
                    uint32_t chain, const int *elements, int64_t first,
                    int64_t last)
{
    const struct state *s = state;
    struct gbm_rng rng;
    double shape, rate;
    (void)elements;
    for (int64_t e = first; e < last; e++) {
        gbm_rng_start(&rng, sweep->seed, chain, sweep->sweep, 2, (uint32_t)e);
        tau_parameters(s, &shape, &rate);
        *s->tau = gbm_draw_gamma(&rng, shape) / rate;
    }
}
static int tau_size(const void *s, int64_t e)
{
    (void)s;
    (void)e;
    return 1;
}
static void tau_get(const void *state, int64_t e, double *x)
{
    (void)e;
    *x = *((const struct state *)state)->tau;
}
static void tau_set(const void *state, int64_t e, const double *x)
{
    (void)e;
    *((const struct state *)state)->tau = *x;
}
static double tau_conditional(const void *state, int64_t e, const double *x)
{
    double shape, rate;
    (void)e;
    tau_parameters(state, &shape, &rate);
    return (shape - 1) * log(*x) - rate * *x;
}

static void y_run(const void *state, const struct gbm_sweep *sweep,
                  uint32_t chain, const int *elements, int64_t first,
                  int64_t last)
{
    struct gbm_rng rng;
    for (int64_t k = first; k < last; k++) {
        int64_t e = elements ? elements[k] : k;
        gbm_rng_start(&rng, sweep->seed, chain, sweep->sweep, 3, (uint32_t)e);
        y_simulate(state, &rng, e);
    }
}

static int dimension(const void *state)
{
    return *((const struct state *)state)->p;
}
static void get(const void *state, double *x)
{
    const struct state *s = state;
    memcpy(x, s->beta, (size_t)*s->p * sizeof *x);
}
static void set(const void *state, const double *x)
{
    const struct state *s = state;
    memcpy(s->beta, x, (size_t)*s->p * sizeof *x);
}
static void prior(const void *state, int64_t j, double *precision,
                  double *potential)
{
    (void)state;
    (void)j;
    *precision = broken == PRIOR ? 0.5 : 0.25;
    *potential = 0;
}
static void design(const void *state, int64_t i, double *row)
{
    const struct state *s = state;
    memcpy(row, s->x + i * *s->p, (size_t)*s->p * sizeof *row);
}
static void row(const void *state, int64_t i, double *weight, double *score)
{
    const struct state *s = state;
    bool seen = is_seen(s, i);
    *weight = seen ? *s->tau * (broken == WEIGHT ? 2 : 1) : 0;
    *score = seen ? *s->tau * s->y[i] : 0;
}

static const struct gbm_variable variables[NSLOTS] = {
    [N] = {.name = "N",
           .where = "m.gbm:1:1",
           .role = GBM_GIVEN,
           .integer = true,
           .needed = true},
    [P] = {.name = "p",
           .where = "m.gbm:1:1",
           .role = GBM_GIVEN,
           .integer = true,
           .needed = true},
    [X] = {.name = "X",
           .where = "m.gbm:1:1",
           .role = GBM_GIVEN,
           .ndim = 2,
           .needed = true},
    [Y] = {.name = "y",
           .where = "m.gbm:2:1",
           .role = GBM_STOCHASTIC,
           .ndim = 1,
           .observed = true},
    [BETA] = {.name = "beta",
              .where = "m.gbm:3:1",
              .role = GBM_STOCHASTIC,
              .ndim = 1},
    [TAU] = {.name = "tau", .where = "m.gbm:4:1", .role = GBM_STOCHASTIC},
    [SIGMA] = {.name = "sigma", .where = "m.gbm:5:1", .role = GBM_DERIVED},
};
static const int load_order[NSLOTS] = {N, P, X, BETA, TAU, SIGMA, Y};
static const struct gbm_family families[] = {
    {.variable = BETA,
     .text = "beta[j] ~ dnorm(0, 0.25)",
     .where = "m.gbm:3:1",
     .stochastic = true,
     .nloops = 1,
     .table = -1,
     .enumerate = coefficients,
     .subscripts = subscript,
     .cells = cell,
     .logdensity = beta_density,
     .simulate = beta_simulate,
     .start = beta_start},
    {.variable = TAU,
     .text = "tau ~ dgamma(3, 2)",
     .where = "m.gbm:4:1",
     .stochastic = true,
     .table = -1,
     .enumerate = one,
     .cells = cell,
     .logdensity = tau_density,
     .simulate = tau_simulate,
     .start = tau_start},
    {.variable = SIGMA,
     .text = "sigma <- 1 / sqrt(tau)",
     .where = "m.gbm:5:1",
     .table = -1,
     .enumerate = one,
     .cells = cell,
     .derive = sigma_derive},
    {.variable = Y,
     .text = "y[i] ~ dnorm(inprod(X[i,], beta[]), tau)",
     .where = "m.gbm:2:1",
     .stochastic = true,
     .leaf = true,
     .nloops = 1,
     .table = -1,
     .enumerate = rows,
     .subscripts = subscript,
     .cells = cell,
     .logdensity = y_density,
     .simulate = y_simulate,
     .start = y_start,
     .check = y_check},
};
static const struct gbm_dense_term term = {.family = 3,
                                           .matrix = X,
                                           .constant_design = true,
                                           .constant_weight = true,
                                           .design = design,
                                           .row = row};
static const struct gbm_dense dense = {.dimension = dimension,
                                       .get = get,
                                       .set = set,
                                       .prior = prior,
                                       .nterms = 1,
                                       .terms = &term};
static const struct gbm_step steps[] = {
    {.kind = GBM_STEP_DENSE,
     .name = "update_beta",
     .variable = "beta",
     .sampler = "Gaussian block",
     .family = 0,
     .number = 1,
     .dense = &dense},
    {.kind = GBM_STEP_MAP,
     .name = "update_tau",
     .variable = "tau",
     .sampler = "gamma",
     .family = 1,
     .number = 2,
     .run = tau_run,
     .block_size = tau_size,
     .block_get = tau_get,
     .block_set = tau_set,
     .conditional = tau_conditional},
    {.kind = GBM_STEP_MAP,
     .name = "update_y",
     .variable = "y",
     .sampler = "forward",
     .family = 3,
     .number = 3,
     .leaf = true,
     .run = y_run},
};
static const struct gbm_model regression = {.name = "m",
                                            .source = "m.gbm",
                                            .version = "test",
                                            .state_size = sizeof(struct state),
                                            .nvariables = NSLOTS,
                                            .variables = variables,
                                            .load_order = load_order,
                                            .nfamilies = 4,
                                            .families = families,
                                            .nsteps = 3,
                                            .steps = steps,
                                            .bind = bind,
                                            .shift = shift,
                                            .explain = ""};

/* ---- a run ---- */

static char folder[] = "/tmp/test_runtime_XXXXXX", path[64];

static void write_data(const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

#define SMALL_DATA                                                             \
    "{\"N\": 6, \"p\": 2, \"X\": [[1,-1],[1,0],[1,1],[1,2],[1,3],[1,4]], "     \
    "\"y\": [0.2, 0.9, 2.3, null, 3.8, 5.4]}"

struct session {
    struct rt rt;
    struct gbm_data data;
    struct rt_instance in;
};

static enum gbm_status begin(struct session *s, int chains, int threads)
{
    const char *files[] = {path};
    *s = (struct session){.rt = {.model = &regression, .threads = threads}};
    s->rt.options = (struct rt_options){.data = files,
                                        .ndata = 1,
                                        .chains = chains,
                                        .beside = 1,
                                        .draws = 100,
                                        .thin = 1,
                                        .seed = 5,
                                        .quiet = true};
    s->rt.device = &rt_host;
    enum gbm_status status = rt_read_data(&s->rt, &s->data, NULL);
    if (status == GBM_OK)
        status = rt_load(&s->rt, &s->data, false, &s->in, NULL);
    if (status == GBM_OK)
        status = rt_start(&s->rt, &s->in, NULL);
    if (status == GBM_OK)
        status = rt_monitor(&s->rt, &s->in, NULL);
    if (status == GBM_OK)
        status = rt_host.open(&s->rt, "cpu");
    if (status == GBM_OK)
        status = rt_host.load(&s->rt, &s->in);
    return status;
}

static void end(struct session *s)
{
    rt_host.close(&s->rt);
    if (s->in.model)
        rt_instance_free(&s->in);
    gbm_data_free(&s->data);
}

static double *draw(struct session *s, int sweeps)
{
    int64_t stride = sweeps * s->in.row;
    double *out = calloc((size_t)(stride * s->in.nchains), sizeof *out);
    struct rt_block block = {.seed = 5,
                             .sweeps = sweeps,
                             .thin = 1,
                             .draws = out,
                             .chain_stride = stride};
    assert_int_equal(rt_host.run(&s->rt, &block), GBM_OK);
    return out;
}

/* beta and the missing y against the exact conditional means, by conditioning
 * on the draws of tau: E(beta | y) = mean over draws of Q^-1 b. */
static void test_posterior(void **unused)
{
    struct session s;
    (void)unused;
    write_data(SMALL_DATA);
    assert_int_equal(begin(&s, 2, 1), GBM_OK);
    assert_int_equal(s.in.row, 5); /* beta[1:2], tau, sigma, y[4] */
    int n = 20000;
    double *x = draw(&s, n), mean[5] = {0}, exact[2] = {0}, slope2 = 0;
    static const double xs[] = {-1, 0, 1, 3, 4}, ys[] = {.2, .9, 2.3, 3.8, 5.4};
    for (int i = 0; i < 2 * n; i++) {
        const double *r = x + i * 5; /* y[4] first: order of the variables */
        double tau = r[3], q00 = 0.25, q01 = 0, q11 = 0.25, b0 = 0, b1 = 0;
        for (int k = 0; k < 5; k++) {
            q00 += tau;
            q01 += tau * xs[k];
            q11 += tau * xs[k] * xs[k];
            b0 += tau * ys[k];
            b1 += tau * xs[k] * ys[k];
            mean[k] += r[k] / (2 * n);
        }
        double det = q00 * q11 - q01 * q01;
        exact[0] += (q11 * b0 - q01 * b1) / det / (2 * n);
        exact[1] += (q00 * b1 - q01 * b0) / det / (2 * n);
        slope2 += r[2] * r[2] / (2 * n);
        assert_true(fabs(r[4] * r[4] * tau - 1) < 1e-12);
    }
    assert_true(fabs(mean[1] - exact[0]) < 0.02);
    assert_true(fabs(mean[2] - exact[1]) < 0.01);
    assert_true(fabs(mean[0] - (exact[0] + 2 * exact[1])) < 0.03);
    assert_true(slope2 - mean[2] * mean[2] > 0.01);
    free(x);
    end(&s);
}

/* The same draws whatever the threads. */
static void test_threads(void **unused)
{
    struct session a, b;
    (void)unused;
    write_data(SMALL_DATA);
    assert_int_equal(begin(&a, 3, 1), GBM_OK);
    assert_int_equal(begin(&b, 3, 2), GBM_OK);
    double *x = draw(&a, 200), *y = draw(&b, 200);
    assert_memory_equal(x, y, 3 * 200 * 5 * sizeof *x);
    free(x);
    free(y);
    end(&a);
    end(&b);
}

/* More coordinates than rows, and more rows than coordinates in several
 * panels: both give the moments of N(Q^-1 b, Q^-1), Q and b from the assembly.
 */
static void test_dense_shapes(void **unused)
{
    (void)unused;
    for (int wide = 0; wide < 2; wide++) {
        struct session s;
        int n = wide ? 4 : 1100, p = wide ? 150 : 140;
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fprintf(f, "{\"N\": %d, \"p\": %d, \"X\": [", n, p);
        for (int i = 0; i < n; i++) {
            fprintf(f, "%s[", i ? "," : "");
            for (int j = 0; j < p; j++)
                fprintf(f, "%s%.3f", j ? "," : "", sin(1.7 * i + 0.9 * j * j));
            fprintf(f, "]");
        }
        fprintf(f, "], \"y\": [");
        for (int i = 0; i < n; i++)
            fprintf(f, "%s%.3f", i ? "," : "", cos(i) + 1);
        fprintf(f, "]}");
        fclose(f);
        assert_int_equal(begin(&s, 1, 2), GBM_OK);
        void *state = calloc(1, sizeof(struct state));
        rt_bind(&s.in, state, 0);
        struct host_dense *h =
            host_dense_create(&s.rt, &s.in, &steps[0], state);
        struct host_work work = {0};
        size_t d = (size_t)p;
        double *q = malloc((d * d + 4 * d) * sizeof *q), *b = q + d * d;
        double *x = b + d, *mean = x + d, *residual = mean + d;
        host_dense_assemble(h, state, 2, &work, q, b);
        /* chi-square of x about the mean: (x - m)'Q(x - m) has mean d and
         * variance 2 d; and Q mean(x) is near b */
        int draws = 400;
        double quadratic = 0, linear = 0;
        int64_t jitters = 0;
        memset(mean, 0, d * sizeof *mean);
        double *all = malloc((size_t)draws * d * sizeof *all);
        for (int k = 0; k < draws; k++) {
            struct gbm_sweep sweep = {.seed = 3, .sweep = (uint32_t)k};
            assert_true(
                host_dense_draw(h, state, &sweep, 0, 2, &work, &jitters));
            get(state, all + (size_t)k * d);
            for (size_t j = 0; j < d; j++)
                mean[j] += all[(size_t)k * d + j] / draws;
        }
        for (size_t i = 0; i < d; i++) {
            residual[i] = -b[i];
            for (size_t j = 0; j < d; j++)
                residual[i] += (j <= i ? q[i * d + j] : q[j * d + i]) * mean[j];
        }
        /* residual ~ N(0, Q / draws): compare with the diagonal */
        for (size_t i = 0; i < d; i++)
            linear =
                fmax(linear, fabs(residual[i]) / sqrt(q[i * d + i] / draws));
        assert_true(linear < 4.5);
        for (int k = 0; k < draws; k++)
            for (size_t i = 0; i < d; i++) {
                double sum = 0;
                for (size_t j = 0; j < d; j++)
                    sum += (j <= i ? q[i * d + j] : q[j * d + i]) *
                           (all[(size_t)k * d + j] - mean[j]);
                quadratic += sum * (all[(size_t)k * d + i] - mean[i]);
            }
        double expected = (draws - 1.0) * p;
        assert_true(fabs(quadratic - expected) / sqrt(2 * expected) < 4);
        free(all);
        free(q);
        free(work.cells);
        host_dense_free(h);
        free(state);
        end(&s);
    }
}

static void rejects(const char *data, const char *message)
{
    struct session s;
    write_data(data);
    assert_int_equal(begin(&s, 1, 1), GBM_USER_ERROR);
    if (!strstr(s.rt.message, message))
        fail_msg("'%s' is not in '%s'", message, s.rt.message);
    end(&s);
}

static void test_bad_data(void **unused)
{
    (void)unused;
    rejects("{\"p\": 2, \"X\": [[1,1]], \"y\": [1]}", "N must be supplied");
    rejects("{\"N\": 1.5, \"p\": 2, \"X\": [[1,1]], \"y\": [1]}", "N = 1.5");
    rejects("{\"N\": 1, \"p\": 2, \"X\": [1,1], \"y\": [1]}",
            "X has 2 dimensions");
    rejects("{\"N\": 1, \"p\": 2, \"X\": [[1,null]], \"y\": [1]}",
            "X[1,2] is missing in the data");
    rejects("{\"N\": 3, \"p\": 1, \"X\": [[1],[1],[1]], \"y\": [1,2]}",
            "y has extent 2");
    rejects("{\"N\": 2, \"p\": 1, \"X\": [[1],[1]], \"y\": [1,2e7]}",
            "y[2] = 2e+07 is too large");
    rejects("{\"N\": 2, \"p\": 1, \"X\": [[1],[1]], \"sigma\": 1}",
            "sigma is computed");
    rejects("{\"N\": -2, \"p\": 1, \"X\": [[1],[1]], \"y\": [1,1]}", "N = -2");
}

/* The self-check and the joint distribution test pass, and fail where a
 * conditional is wrong. */
static int command(int (*run)(struct rt *), int draws)
{
    struct rt rt = {.model = &regression, .threads = 2};
    const char *files[] = {path};
    rt.options = (struct rt_options){.data = files,
                                     .ndata = 1,
                                     .chains = 2,
                                     .beside = 1,
                                     .draws = draws,
                                     .draws_given = true,
                                     .thin = 1,
                                     .method = &rt_mcmc,
                                     .points = 3,
                                     .seed = 7,
                                     .quiet = true};
    return run(&rt);
}

static void test_checks(void **unused)
{
    (void)unused;
    write_data(SMALL_DATA);
    broken = NOTHING;
    assert_int_equal(command(rt_command_check, 1), 0);
    assert_int_equal(command(rt_command_geweke, 2000), 0);
    broken = WEIGHT;
    assert_int_equal(command(rt_command_check, 1), 1);
    assert_int_equal(command(rt_command_geweke, 2000), 1);
    broken = SHAPE;
    assert_int_equal(command(rt_command_check, 1), 1);
    assert_int_equal(command(rt_command_geweke, 2000), 1);
    broken = PRIOR;
    assert_int_equal(command(rt_command_check, 1), 1);
    assert_int_equal(command(rt_command_geweke, 20000), 1);
    broken = NOTHING;
}

static void test_until_and_options(void **unused)
{
    struct rt rt = {.model = &regression, .methods = rt_methods};
    char *bad[] = {(char *)"m", (char *)"--chians", (char *)"3"};
    (void)unused;
    assert_int_equal(rt_options_parse(&rt, 3, bad), GBM_USER_ERROR);
    assert_non_null(strstr(rt.message, "did you mean --chains?"));
    rt_options_free(&rt.options);
    rt = (struct rt){.model = &regression, .methods = rt_methods};
    char *good[] = {(char *)"m", (char *)"check", (char *)"--chains=3",
                    (char *)"--data", (char *)"a.json"};
    assert_int_equal(rt_options_parse(&rt, 5, good), GBM_OK);
    assert_int_equal(rt.options.chains, 3);
    assert_int_equal(rt.options.command, RT_CHECK);
    rt_options_free(&rt.options);
}

/* ---- colours ---- */

static int ties(const void *state, int64_t e, int64_t *out, int capacity)
{
    int n = *((const struct state *)state)->n;
    assert_true(capacity >= 3);
    out[0] = e;
    out[1] = (e + 3) % n;
    out[2] = e * e % n;
    return 3;
}

/* No instance ties two elements of one colour; each element is there once. */
static void test_colours(void **unused)
{
    static const struct gbm_conflict conflict = {
        .family = 3, .elements = ties, .capacity = 3};
    struct gbm_step step = steps[2];
    struct gbm_model model = regression;
    struct session s = {.rt = {.model = &model, .threads = 1}};
    const char *files[] = {path};
    (void)unused;
    step.leaf = false;
    step.nconflicts = 1;
    step.conflicts = &conflict;
    model.steps = &step;
    model.nsteps = 1;
    write_data("{\"N\": 40, \"p\": 1, \"X\": [[1]], \"y\": [1, null, 2, null, "
               "null, null, null, null, null, null, null, null, null, null, "
               "null, null, null, null, null, null, null, null, null, null, "
               "null, null, null, null, null, null, null, null, null, null, "
               "null, null, null, null, null, null]}");
    s.rt.options = (struct rt_options){
        .data = files, .ndata = 1, .chains = 1, .beside = 1};
    assert_int_equal(rt_read_data(&s.rt, &s.data, NULL), GBM_OK);
    assert_int_equal(rt_load(&s.rt, &s.data, false, &s.in, NULL), GBM_OK);
    const struct rt_step *plan = &s.in.steps[0];
    int colour[40];
    memset(colour, -1, sizeof colour);
    assert_int_equal(plan->count, 38); /* y[1] and y[3] are observed */
    assert_true(plan->ncolours >= 2 && plan->ncolours < 8);
    for (int c = 0; c < plan->ncolours; c++)
        for (int64_t k = plan->colour[c]; k < plan->colour[c + 1]; k++) {
            assert_int_equal(colour[plan->elements[k]], -1);
            colour[plan->elements[k]] = c;
            if (k > plan->colour[c])
                assert_true(plan->elements[k] > plan->elements[k - 1]);
        }
    for (int e = 0; e < 40; e++) {
        int64_t tied[3] = {e, (e + 3) % 40, e * e % 40};
        assert_true((colour[e] == -1) == (e == 0 || e == 2));
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < a; b++)
                if (tied[a] != tied[b] && colour[tied[a]] >= 0)
                    assert_true(colour[tied[a]] != colour[tied[b]]);
    }
    rt_instance_free(&s.in);
    gbm_data_free(&s.data);
}

/* ---- --monitor ---- */

static void test_monitor(void **unused)
{
    struct session s;
    (void)unused;
    write_data(SMALL_DATA);
    assert_int_equal(begin(&s, 1, 1), GBM_OK);
    for (int k = 0; k < s.in.nmonitors; k++)
        free(s.in.monitors[k].cells);
    free(s.in.monitors);
    free(s.in.kept_families);
    s.in.monitors = NULL;
    s.in.kept_families = NULL;
    s.in.nmonitors = s.in.nkept_families = 0;
    s.in.row = 0;
    s.rt.options.monitor = "tau, beta[2] y beta[1:1]";
    assert_int_equal(rt_monitor(&s.rt, &s.in, NULL), GBM_OK);
    assert_int_equal(s.in.nmonitors, 3);
    assert_int_equal(s.in.row, 4);
    assert_int_equal(s.in.monitors[0].variable, TAU);
    assert_int_equal(s.in.monitors[1].count, 2);
    assert_int_equal(s.in.monitors[2].cells[0], 3); /* the missing y[4] */
    assert_int_equal(s.in.nkept_families, 0);
    s.rt.options.monitor = "beta[3]";
    assert_int_equal(rt_monitor(&s.rt, &s.in, NULL), GBM_USER_ERROR);
    assert_non_null(strstr(s.rt.message, "beta[2]"));
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_posterior),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_dense_shapes),
        cmocka_unit_test(test_bad_data),
        cmocka_unit_test(test_checks),
        cmocka_unit_test(test_until_and_options),
        cmocka_unit_test(test_colours),
        cmocka_unit_test(test_monitor),
    };
    if (!mkdtemp(folder))
        return 1;
    snprintf(path, sizeof path, "%s/data.json", folder);
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    remove(path);
    rmdir(folder);
    return failures;
}
