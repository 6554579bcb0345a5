/* mock.c: the CUDA device against plain loops, draw by draw, without compiler
 * or runtime: a hand-written program (mock.cu) is run by build/libgbm_cuda.so,
 * on a GPU or on the stand-ins of ../fake, and by the loops below. Build it
 * with -DGBM_SINGLE for --precision single. See ../run and ./build. */
#include "rt.h"

#include <dlfcn.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mock.cu"

/* ---- the model as the runtime sees it ---- */

enum {
    V_Y,
    V_SIGMA,
    V_X,
    V_RESPONSE,
    V_THETA,
    V_MU,
    V_TAU,
    V_MEAN_THETA,
    V_BETA,
    V_W,
    V_TOTAL,
    V_Z,
    V_START,
    V_ITEM,
    V_VARYING,
    NVARIABLES
};
enum { S_THETA, S_MU, S_TAU, S_W, S_BETA, S_Z, S_INDEX, S_TOTAL, NSTEPS };

#define REAL(n)                                                                \
    {                                                                          \
        .name = #n, .where = "mock.gbm:1:1", .ndim = 1                         \
    }
#define INT(n)                                                                 \
    {                                                                          \
        .name = #n, .where = "mock.gbm:1:1", .ndim = 1, .integer = true        \
    }
static const struct gbm_variable variables[NVARIABLES] = {
    [V_Y] = REAL(y),
    [V_SIGMA] = REAL(sigma),
    [V_X] = {.name = "X", .where = "mock.gbm:1:1", .ndim = 2},
    [V_RESPONSE] = REAL(response),
    [V_THETA] = REAL(theta),
    [V_MU] = REAL(mu),
    [V_TAU] = REAL(tau),
    [V_MEAN_THETA] = REAL(mean_theta),
    [V_BETA] = REAL(beta),
    [V_W] = REAL(w),
    [V_TOTAL] = REAL(total),
    [V_Z] = INT(z),
    [V_START] = INT(start),
    [V_ITEM] = INT(item),
    [V_VARYING] = INT(varying),
};

static void bind(void *state, const struct gbm_binding *b)
{
    struct state *s = state;
    *s = (struct state){
        .J = b[V_Y].dim[0],
        .N = b[V_X].dim[0],
        .d = b[V_X].dim[1],
        .K = b[V_TOTAL].dim[0],
        .y = b[V_Y].values,
        .sigma = b[V_SIGMA].values,
        .X = b[V_X].values,
        .response = b[V_RESPONSE].values,
        .response_seen = b[V_RESPONSE].seen,
        .theta = b[V_THETA].values,
        .mu = b[V_MU].values,
        .tau = b[V_TAU].values,
        .mean_theta = b[V_MEAN_THETA].values,
        .beta = b[V_BETA].values,
        .w = b[V_W].values,
        .total = b[V_TOTAL].values,
        .z = b[V_Z].values,
        .start = b[V_START].values,
        .item = b[V_ITEM].values,
        .varying = b[V_VARYING].values,
        .theta_stride = b[V_THETA].stride,
        .mu_stride = b[V_MU].stride,
        .tau_stride = b[V_TAU].stride,
        .mean_theta_stride = b[V_MEAN_THETA].stride,
        .beta_stride = b[V_BETA].stride,
        .w_stride = b[V_W].stride,
        .total_stride = b[V_TOTAL].stride,
        .z_stride = b[V_Z].stride,
        .start_stride = b[V_START].stride,
        .item_stride = b[V_ITEM].stride,
    };
}

static void shift(void *state, int chain) { shift_state(state, chain); }

static const struct gbm_family families[] = {
    {.variable = V_THETA, .text = "theta", .stochastic = true},
    {.variable = V_MEAN_THETA,
     .text = "mean_theta",
     .derive_kernel = "derive_mean_theta_kernel"},
    {.variable = V_RESPONSE, .text = "response", .stochastic = true},
    {.variable = V_Z, .text = "z", .stochastic = true},
    {.variable = V_TOTAL, .text = "total", .derive_kernel = "derive_total"},
    {.variable = V_BETA, .text = "beta", .stochastic = true},
};
enum { F_THETA, F_MEAN, F_RESPONSE, F_Z, F_TOTAL, F_BETA, NFAMILIES };

static const struct gbm_inverse inverses[] = {
    {.variable = V_TOTAL,
     .family = F_Z,
     .start = V_START,
     .item = V_ITEM,
     .latent = true,
     .cell_kernel = "cell_z_kernel"},
};

static int dimension(const void *state)
{
    return ((const struct state *)state)->d;
}

static void prior(const void *state, int64_t j, double *precision,
                  double *potential)
{
    real p, q;
    prior_beta(state, j, &p, &q);
    *precision = (double)p;
    *potential = (double)q;
}

static void some_prior_matrix(const void *state, double *q, double *b)
{
    (void)state;
    (void)q;
    (void)b;
    abort(); /* the device has its own */
}

static void fixed_third(const void *state, unsigned char *out)
{
    const struct state *s = state;
    for (int j = 0; j < s->d; j++)
        out[j] = j % 3 == 1;
}

static int64_t cost_sum(const void *state)
{
    return ((const struct state *)state)->J;
}

static int64_t cost_row(const void *state)
{
    return ((const struct state *)state)->d;
}

static struct gbm_dense_term term = {.family = F_RESPONSE,
                                     .matrix = V_X,
                                     .row_kernel = "row_beta_kernel",
                                     .design_kernel = "design_beta_kernel"};
static struct gbm_dense dense = {.dimension = dimension,
                                 .prior = prior,
                                 .get_kernel = "get_beta_kernel",
                                 .set_kernel = "set_beta_kernel",
                                 .nterms = 1,
                                 .terms = &term};
static const struct gbm_step steps[NSTEPS] = {
    [S_THETA] = {.kind = GBM_STEP_MAP,
                 .name = "update_theta",
                 .variable = "theta",
                 .number = 0},
    [S_MU] = {.kind = GBM_STEP_MAP,
              .name = "update_mu",
              .variable = "mu",
              .number = 1,
              .cost = cost_sum},
    [S_TAU] = {.kind = GBM_STEP_MAP,
               .name = "update_tau",
               .variable = "tau",
               .number = 2,
               .cost = cost_sum},
    [S_W] = {.kind = GBM_STEP_MAP,
             .name = "update_w",
             .variable = "w",
             .number = 3,
             .cost = cost_row},
    [S_BETA] = {.kind = GBM_STEP_DENSE,
                .name = "update_beta",
                .variable = "beta",
                .number = 4,
                .dense = &dense},
    [S_Z] = {.kind = GBM_STEP_MAP,
             .name = "update_z",
             .variable = "z",
             .number = 5},
    [S_INDEX] = {.kind = GBM_STEP_INDEX,
                 .name = "index",
                 .variable = "z",
                 .number = 6},
    [S_TOTAL] = {.kind = GBM_STEP_DERIVE,
                 .name = "derive_total",
                 .variable = "total",
                 .number = 7,
                 .family = F_TOTAL},
};

static struct gbm_model model = {
    .name = "mock",
    .state_size = sizeof(struct state),
    .nvariables = NVARIABLES,
    .variables = variables,
    .nfamilies = NFAMILIES,
    .families = families,
    .ninverses = 1,
    .inverses = inverses,
    .nsteps = NSTEPS,
    .steps = steps,
    .bind = bind,
    .shift = shift,
};

/* ---- a case ---- */

struct trial {
    const char *name;
    int J, N, d, K, chains;
    bool varying, constant, matrix, held, prior_matrix, missing;
    int thin;
};

static double uniform(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-53;
}

/* Slots as the runtime makes them; all that is random is fixed by the seed. */
static void fill(struct rt_slot *slot, int v, int64_t cells, int chains,
                 uint64_t *seed, double low, double high)
{
    int64_t n = cells * (chains ? chains : 1);
    slot->dim[0] = (int)cells;
    slot->cells = cells;
    slot->settled = true;
    slot->per_chain = chains > 0;
    if (variables[v].integer) {
        int *x = slot->values = calloc((size_t)n + 1, sizeof *x);
        for (int64_t i = 0; i < n; i++)
            x[i] = (int)low;
        return;
    }
    double *x = slot->values = calloc((size_t)n + 1, sizeof *x);
    for (int64_t i = 0; i < n; i++) /* exact in single precision */
        x[i] = (double)(float)(low + (high - low) * uniform(seed));
}

static void make_slots(const struct trial *t, struct rt_slot *slots)
{
    uint64_t seed = 17;
    int c = t->chains;
    fill(&slots[V_Y], V_Y, t->J, 0, &seed, -5, 20);
    fill(&slots[V_SIGMA], V_SIGMA, t->J, 0, &seed, 5, 15);
    fill(&slots[V_X], V_X, (int64_t)t->N * t->d, 0, &seed, -1, 1);
    slots[V_X].dim[0] = t->N;
    slots[V_X].dim[1] = t->d;
    fill(&slots[V_RESPONSE], V_RESPONSE, t->N, 0, &seed, -2, 2);
    fill(&slots[V_THETA], V_THETA, t->J, c, &seed, -1, 1);
    fill(&slots[V_MU], V_MU, 1, c, &seed, 1, 2);
    fill(&slots[V_TAU], V_TAU, 1, c, &seed, 0.5, 1);
    fill(&slots[V_MEAN_THETA], V_MEAN_THETA, 1, c, &seed, 0, 0);
    fill(&slots[V_BETA], V_BETA, t->d, c, &seed, -1, 1);
    fill(&slots[V_W], V_W, t->N, c, &seed, 0.5, 2);
    fill(&slots[V_TOTAL], V_TOTAL, t->K, c, &seed, 0, 0);
    fill(&slots[V_Z], V_Z, t->N, c, &seed, 1, 1);
    fill(&slots[V_START], V_START, t->K + 1, c, &seed, 0, 0);
    fill(&slots[V_ITEM], V_ITEM, t->N, c, &seed, 0, 0);
    fill(&slots[V_VARYING], V_VARYING, 1, 0, &seed, t->varying, 0);
    slots[V_THETA].moments = slots[V_BETA].moments = slots[V_Z].moments = true;
    if (t->missing) {
        slots[V_RESPONSE].seen = calloc((size_t)t->N + 1, 1);
        for (int i = 0; i < t->N; i++)
            slots[V_RESPONSE].seen[i] = i % 4 != 0;
    }
}

/* ---- the same by plain loops ---- */

static const struct gbm_team alone = {0, 1};

struct reference {
    const struct trial *trial;
    void *cells[NVARIABLES]; /* [chains][cells], real or int */
    struct state state;      /* of chain 0 */
    double *mean_theta;      /* running sums of theta, of squares */
};

static void make_reference(struct reference *r, const struct trial *t,
                           struct rt_slot *slots)
{
    struct gbm_binding b[NVARIABLES];
    r->trial = t;
    for (int v = 0; v < NVARIABLES; v++) {
        int64_t n = slots[v].cells * (slots[v].per_chain ? t->chains : 1);
        r->cells[v] = calloc((size_t)n + 1, sizeof(double));
        for (int64_t i = 0; i < n; i++)
            if (variables[v].integer)
                ((int *)r->cells[v])[i] = ((int *)slots[v].values)[i];
            else
                ((real *)r->cells[v])[i] = (real)((double *)slots[v].values)[i];
        b[v] = (struct gbm_binding){
            .values = r->cells[v],
            .dim = slots[v].dim,
            .seen = slots[v].seen,
            .stride = slots[v].per_chain ? slots[v].cells : 0};
    }
    bind(&r->state, b);
}

/* Q, b in double; false if not positive definite. */
static bool cholesky(int n, double *q)
{
    for (int j = 0; j < n; j++) {
        for (int k = 0; k < j; k++)
            for (int i = j; i < n; i++)
                q[i * n + j] -= q[i * n + k] * q[j * n + k];
        if (!(q[j * n + j] > 0))
            return false;
        double root = sqrt(q[j * n + j]);
        for (int i = j; i < n; i++)
            q[i * n + j] /= root;
    }
    return true;
}

static void forward(int n, const double *l, double *b)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++)
            b[i] -= l[i * n + j] * b[j];
        b[i] /= l[i * n + i];
    }
}

static void backward(int n, const double *l, double *b)
{
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++)
            b[i] -= l[j * n + i] * b[j];
        b[i] /= l[i * n + i];
    }
}

static double normal_of(const struct gbm_sweep *now, uint32_t chain,
                        uint32_t step, uint32_t k)
{
    struct gbm_rng rng;
    gbm_rng_start(&rng, now->seed, chain, now->sweep, step, k);
    return (double)gbm_draw_normal(&rng);
}

static void tall_beta(const struct trial *t, struct state *s,
                      const struct gbm_sweep *now, uint32_t chain)
{
    const int d = s->d;
    double *q = calloc((size_t)(d * d), sizeof *q);
    double *b = calloc((size_t)d, sizeof *b);
    real *p = calloc((size_t)(d * d + d), sizeof *p), *potential = p + d * d;
    unsigned char *held = calloc((size_t)d, 1);

    if (t->held)
        fixed_third(s, held);
    if (t->prior_matrix)
        prior_matrix_beta(s, &alone, p, potential);
    else
        for (int j = 0; j < d; j++)
            prior_beta(s, j, &p[j * d + j], &potential[j]);
    for (int j = 0; j < d; j++) {
        for (int k = 0; k < d; k++)
            q[j * d + k] = (double)p[j * d + k];
        b[j] = (double)potential[j];
    }
    for (int i = 0; i < s->N; i++) {
        real w, score;
        row_beta(s, &alone, i, &w, &score);
        const real *a = s->X + i * d;
        for (int j = 0; j < d; j++) {
            for (int k = 0; k < d; k++)
                q[j * d + k] += (double)w * (double)a[j] * (double)a[k];
            b[j] += (double)score * (double)a[j];
        }
    }
    for (int j = 0; j < d; j++)
        for (int k = 0; k < d && !held[j]; k++)
            if (held[k])
                b[j] -= q[j * d + k] * (double)s->beta[k];
    for (int j = 0; j < d; j++)
        for (int k = 0; k < d; k++)
            if (held[j] || held[k])
                q[j * d + k] = j == k;
    for (int j = 0; j < d; j++)
        if (held[j])
            b[j] = (double)s->beta[j];
    if (!cholesky(d, q))
        abort();
    forward(d, q, b);
    for (int j = 0; j < d; j++)
        if (!held[j])
            b[j] += normal_of(now, chain, S_BETA, (uint32_t)j);
    backward(d, q, b);
    for (int j = 0; j < d; j++)
        if (!held[j])
            s->beta[j] = (real)b[j];
    free(q);
    free(b);
    free(p);
    free(held);
}

static void wide_beta(struct state *s, const struct gbm_sweep *now,
                      uint32_t chain)
{
    const int d = s->d, n = s->N;
    double *m = calloc((size_t)(n * n), sizeof *m);
    double *phi = calloc((size_t)(n * d), sizeof *phi);
    double *v = calloc((size_t)n, sizeof *v);
    double *u = calloc((size_t)(2 * d), sizeof *u), *variance = u + d;

    for (int j = 0; j < d; j++) {
        real p, q;
        prior_beta(s, j, &p, &q);
        variance[j] = 1 / (double)p;
        u[j] = (double)q * variance[j] +
               sqrt(variance[j]) * normal_of(now, chain, S_BETA, (uint32_t)j);
    }
    for (int i = 0; i < n; i++) {
        real w, score;
        row_beta(s, &alone, i, &w, &score);
        const double root = sqrt((double)w);
        v[i] = (w > 0 ? (double)score / root : 0) -
               normal_of(now, chain, S_BETA, (uint32_t)(d + i));
        for (int j = 0; j < d; j++) {
            phi[i * d + j] = root * (double)s->X[i * d + j];
            v[i] -= phi[i * d + j] * u[j];
        }
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            m[i * n + k] = i == k;
            for (int j = 0; j < d; j++)
                m[i * n + k] += phi[i * d + j] * variance[j] * phi[k * d + j];
        }
    if (!cholesky(n, m))
        abort();
    forward(n, m, v);
    backward(n, m, v);
    for (int j = 0; j < d; j++) {
        for (int i = 0; i < n; i++)
            u[j] += variance[j] * phi[i * d + j] * v[i];
        s->beta[j] = (real)u[j];
    }
    free(m);
    free(phi);
    free(v);
    free(u);
}

static void start_of(struct gbm_rng *rng, const struct gbm_sweep *now,
                     uint32_t chain, uint32_t step, int element)
{
    gbm_rng_start(rng, now->seed, chain, now->sweep, step, (uint32_t)element);
}

static void reference_sweep(struct reference *r, const struct gbm_sweep *now,
                            uint32_t chain)
{
    struct state s = r->state;
    struct gbm_rng rng;

    shift_state(&s, (int)chain);
    for (int j = 0; j < s.J; j++) {
        start_of(&rng, now, chain, S_THETA, j);
        update_theta(&s, &rng, &alone, j, 0);
    }
    start_of(&rng, now, chain, S_MU, 0);
    update_mu(&s, &rng, &alone, 0, 0);
    start_of(&rng, now, chain, S_TAU, 0);
    update_tau(&s, &rng, &alone, 0, 0);
    for (int i = 0; i < s.N; i++) {
        start_of(&rng, now, chain, S_W, i);
        update_w(&s, &rng, &alone, i, 0);
    }
    if (s.N < s.d && s.d > 64 && !r->trial->held)
        wide_beta(&s, now, chain);
    else
        tall_beta(r->trial, &s, now, chain);
    for (int i = 0; i < s.N; i++) {
        start_of(&rng, now, chain, S_Z, i);
        update_z(&s, &rng, &alone, i, 0);
    }
    int at = 0;
    for (int k = 0; k < s.K; k++) {
        s.start[k] = at;
        for (int i = 0; i < s.N; i++)
            if (cell_z(&s, i) == k)
                s.item[at++] = i;
    }
    s.start[s.K] = at;
    for (int k = 0; k < s.K; k++)
        derive_total(&s, &alone, k);
    derive_mean_theta(&s, &alone, 0);
}

/* ---- the comparison ---- */

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(2);
    }
    char *text = calloc(1, 1 << 20);
    if (fread(text, 1, (1 << 20) - 1, file) == 0)
        exit(2);
    fclose(file);
    return text;
}

static struct gbm_header headers[256];

/* All headers of the library: the program includes what it needs. */
static void read_program(void)
{
    static glob_t found; /* its names stay */
    if (glob("stdlib/kernels/*.h", 0, NULL, &found) != 0 ||
        found.gl_pathc >= sizeof headers / sizeof *headers)
        exit(2);
    for (size_t i = 0; i < found.gl_pathc; i++)
        headers[i] = (struct gbm_header){strrchr(found.gl_pathv[i], '/') + 1,
                                         read_text(found.gl_pathv[i])};
    model.headers = headers;
    model.program = read_text("tests/gpu/mock/mock.cu");
}

static double tolerance(void) { return sizeof(real) == 4 ? 2e-2 : 1e-7; }

/* Largest difference of a variable between device and loops, relative to its
 * size. */
static double difference(const struct reference *r, struct rt_slot *slots,
                         int v)
{
    double worst = 0, size = 0;
    int64_t n = slots[v].cells * (slots[v].per_chain ? r->trial->chains : 1);
    for (int64_t i = 0; i < n; i++) {
        double a = variables[v].integer ? ((int *)slots[v].values)[i]
                                        : ((double *)slots[v].values)[i];
        double b = variables[v].integer ? ((int *)r->cells[v])[i]
                                        : (double)((real *)r->cells[v])[i];
        if (v == V_ITEM &&
            i % slots[v].cells >=
                ((int *)
                     r->cells[V_START])[i / slots[v].cells * (r->trial->K + 1) +
                                        r->trial->K])
            continue; /* beyond the list's end */
        if (!(fabs(a - b) <= worst))
            worst = fabs(a - b);
        if (fabs(b) > size)
            size = fabs(b);
    }
    return worst / (size > 1 ? size : 1);
}

static void fail(struct rt *rt)
{
    printf("FAILED: %s\n", rt->message);
    exit(1);
}

static int run_trial(const struct trial *t, const struct rt_device *device,
                     enum rt_precision precision)
{
    struct rt rt = {.model = &model, .device = device};
    struct rt_slot slots[NVARIABLES] = {0};
    struct rt_step plan[NSTEPS] = {0};
    int64_t elements[NFAMILIES] = {t->J, 1, t->N, t->N, t->K, 1};
    int64_t *colours[NSTEPS];
    const int64_t counts[NSTEPS] = {t->J, 1, 1, t->N, 0, t->N, 0, t->K};
    int kept[1] = {F_MEAN};
    int64_t some_cells[2] = {0, t->J - 1};
    struct reference r = {0};

    make_slots(t, slots);
    make_reference(&r, t, slots);
    term.constant_weight = !t->varying && t->constant;
    term.constant_design = true;
    term.matrix = t->matrix ? V_X : -1;
    dense.fixed = t->held ? fixed_third : NULL;
    dense.prior_matrix = t->prior_matrix ? some_prior_matrix : NULL;
    dense.prior_kernel =
        t->prior_matrix ? "prior_matrix_beta_kernel" : "prior_beta_kernel";
    for (int k = 0; k < NSTEPS; k++) {
        colours[k] = calloc(3, sizeof(int64_t));
        colours[k][1] = counts[k];
        plan[k] = (struct rt_step){.active = true,
                                   .count = counts[k],
                                   .ncolours = 1,
                                   .colour = colours[k]};
    }
    /* theta in two colours, from a list; mu as a sequence of one */
    plan[S_THETA].elements = calloc((size_t)t->J, sizeof(int));
    plan[S_THETA].ncolours = 2;
    for (int j = 0, at = 0; j < t->J; j++) {
        int e = 2 * j < t->J ? 2 * j : 2 * (j - (t->J + 1) / 2) + 1;
        plan[S_THETA].elements[at++] = e;
    }
    colours[S_THETA][1] = (t->J + 1) / 2;
    colours[S_THETA][2] = t->J;
    plan[S_MU].sequential = true;

    struct rt_monitor monitors[2] = {
        {.variable = V_THETA, .count = 2, .cells = some_cells, .offset = 0},
        {.variable = V_MEAN_THETA, .count = 1, .offset = 2}};
    struct rt_instance in = {.model = &model,
                             .nchains = t->chains,
                             .slots = slots,
                             .elements = elements,
                             .steps = plan,
                             .monitors = monitors,
                             .nmonitors = 2,
                             .row = 3,
                             .kept_families = kept,
                             .nkept_families = 1,
                             .has_moments = true};
    rt.options.precision = precision;
    rt.options.draws = 2; /* a short ring */
    if (device->open(&rt, "cuda") != GBM_OK)
        fail(&rt);
    if (device->load(&rt, &in) != GBM_OK)
        fail(&rt);

    const int sweeps = sizeof(real) == 4 ? 1 : 3, keeps = 5;
    struct rt_block block = {.seed = 5, .first = 7, .sweeps = sweeps};
    if (device->run(&rt, &block) != GBM_OK || device->get(&rt) != GBM_OK)
        fail(&rt);
    struct gbm_sweep now = {.seed = 5, .sweep = 7};
    for (int k = 0; k < sweeps; k++, now.sweep++)
        for (int c = 0; c < t->chains; c++)
            reference_sweep(&r, &now, (uint32_t)c);
    double worst = 0;
    for (int v = V_THETA; v < NVARIABLES; v++) {
        double e = v == V_MEAN_THETA ? 0 : difference(&r, slots, v);
        if (!(e <= tolerance()))
            printf("    %s differs by %g\n", variables[v].name, e);
        worst = e > worst || e != e ? e : worst;
    }
    /* kept draws, monitored and in the moments, over several turns of the ring
     */
    double *draws = calloc((size_t)(t->chains * keeps * 3), sizeof *draws);
    double *sum = calloc((size_t)(t->chains * t->J), sizeof *sum);
    block = (struct rt_block){.seed = 5,
                              .first = now.sweep,
                              .sweeps = keeps * t->thin,
                              .thin = t->thin,
                              .draws = draws,
                              .chain_stride = keeps * 3};
    if (device->run(&rt, &block) != GBM_OK || device->get(&rt) != GBM_OK)
        fail(&rt);
    double draw_error = 0;
    for (int k = 0; k < keeps; k++) {
        for (int i = 0; i < t->thin; i++, now.sweep++)
            for (int c = 0; c < t->chains; c++) {
                reference_sweep(&r, &now, (uint32_t)c);
                for (int j = 0; j < t->J; j++)
                    sum[c * t->J + j] +=
                        (double)((real *)r.cells[V_THETA])[c * t->J + j] /
                        (keeps * t->thin);
            }
        for (int c = 0; c < t->chains; c++) {
            const real *theta = (real *)r.cells[V_THETA] + c * t->J;
            const double *row = draws + (c * keeps + k) * 3;
            double e =
                fabs(row[0] - (double)theta[0]) +
                fabs(row[1] - (double)theta[t->J - 1]) +
                fabs(row[2] - (double)((real *)r.cells[V_MEAN_THETA])[c]);
            if (!(e <= draw_error))
                draw_error = e;
        }
    }
    struct rt_moments moments[NVARIABLES] = {0};
    int64_t count = 0;
    for (int v = 0; v < NVARIABLES; v++) {
        size_t n = (size_t)(slots[v].cells * t->chains);
        moments[v].mean = calloc(n + 1, sizeof(double));
        moments[v].m2 = calloc(n + 1, sizeof(double));
    }
    if (device->moments(&rt, moments, &count) != GBM_OK)
        fail(&rt);
    double moment_error = count == keeps * t->thin ? 0 : (double)NAN;
    for (int i = 0; i < t->chains * t->J; i++)
        if (!(fabs(moments[V_THETA].mean[i] - sum[i]) <= moment_error))
            moment_error = fabs(moments[V_THETA].mean[i] - sum[i]);
    device->close(&rt);
    /* draws of single precision part after some sweeps: a coarse check then */
    const double loose = sizeof(real) == 4 ? 0.5 : 1e-5;
    const bool good = worst <= tolerance() && draw_error <= loose &&
                      moment_error <= loose &&
                      (rt.jitters == 0 || getenv("GBM_FAKE_POTRF"));
    printf("%-6s %-44s state %.1e  draws %.1e  moments %.1e\n",
           good ? "ok" : "WRONG", t->name, worst, draw_error, moment_error);
    fflush(stdout);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    static const struct trial trials[] = {
        {"small, constant weights, 1 chain", 8, 40, 5, 4, 1, .constant = true,
         .matrix = true, .thin = 1},
        {"small, constant weights, 7 chains", 9, 300, 20, 3, 7,
         .constant = true, .matrix = true, .thin = 2},
        {"small, d = 64, many rows", 8, 1000, 64, 70, 2, .constant = true,
         .thin = 1},
        {"small, varying weights, missing rows", 300, 150, 33, 10, 3,
         .varying = true, .missing = true, .matrix = true, .thin = 3},
        {"small, held coordinates", 8, 90, 17, 5, 3, .constant = true,
         .held = true, .missing = true, .thin = 1},
        {"small, prior matrix", 8, 60, 12, 5, 2, .varying = true,
         .prior_matrix = true, .thin = 1},
        {"library, constant weights", 2000, 200, 80, 5, 1, .constant = true,
         .matrix = true, .thin = 1},
        {"library, constant weights, missing rows", 8, 200, 70, 5, 3,
         .constant = true, .missing = true, .thin = 2},
        {"library, varying weights", 8, 150, 66, 5, 2, .varying = true,
         .matrix = true, .thin = 1},
        {"library, held, prior matrix", 8, 120, 67, 5, 2, .constant = true,
         .held = true, .prior_matrix = true, .thin = 1},
        {"wide, constant weights", 8, 20, 90, 5, 2, .constant = true,
         .matrix = true, .thin = 1},
        {"wide, varying weights, missing rows", 8, 25, 100, 5, 1,
         .varying = true, .missing = true, .thin = 1},
    };
    enum rt_precision precision = sizeof(real) == 8 ? RT_DOUBLE
                                  : argc > 1 && strcmp(argv[1], "mixed") == 0
                                      ? RT_MIXED
                                      : RT_SINGLE;
    int wrong = 0;
    const char *path = getenv("GBM_CUDA_PLUGIN");
    void *plugin =
        dlopen(path ? path : "build/libgbm_cuda.so", RTLD_NOW | RTLD_LOCAL);
    if (!plugin) {
        printf("%s\n", dlerror());
        return 77;
    }
    const struct rt_device *device = dlsym(plugin, "rt_cuda");
    const uint64_t *layout = dlsym(plugin, "rt_cuda_layout");
    if (!device || !layout || *layout != RT_LAYOUT) {
        printf("the plugin is of another version: build both again\n");
        return 1;
    }
    read_program();
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        wrong += run_trial(&trials[i], device, precision);
    return wrong != 0;
}
