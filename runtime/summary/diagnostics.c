/* diagnostics.c: R-hat, effective sample size, Monte Carlo error.
 *
 * Vehtari et al. (2021), Bayesian Analysis 16(2): section 3 for the
 * definitions; the truncation of the autocorrelations is Geyer's (1992) initial
 * monotone sequence, in the form that Stan, `posterior` and ArviZ use. */
#include "summary/diagnostics.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    LAGS = 8,               /* summed at once */
    DIRECT_LAGS = 4 * LAGS, /* summed directly before an FFT pays */
    SHORT_SEQUENCE = 128    /* below it direct sums always pay */
};

struct key {
    uint64_t key; /* order of the value */
    uint32_t index;
};

struct gbm_diagnoser {
    int chains, draws;
    int half;            /* draws of a split chain */
    int sequences;       /* 2 chains */
    int64_t n;           /* chains * draws */
    int64_t m;           /* sequences * half: without the middle draws */
    struct key *keys;    /* [n] ascending */
    struct key *scratch; /* [n] */
    double *split;       /* [sequences][half] */
    double *work;        /* [sequences][half] */
    double *normal;      /* [2 m + 1] z-score by twice the average rank */
    double *mean;        /* [sequences] */
    double *variance;    /* [sequences], divisor half - 1 */
    double *centred;     /* [half + LAGS] a sequence, and zeros */
    double *autocov;     /* [half] averaged over sequences */
    double *rho;         /* [half + 1] */
    int fft_size;        /* power of two, at least 2 half */
    double *fft;         /* [2 fft_size] complex; NULL until needed */
    double *power;       /* [fft_size] of all chains */
    double *roots;       /* [2 fft_size] complex roots of 1 */
};

/* ---- the normal quantile function: Wichura (1988), algorithm AS 241, PPND16,
 * relative error about 1e-16 */

static double ratio(const double *a, const double *b, double x)
{
    double top = a[7], bottom = b[7];

    for (int i = 6; i >= 0; i--) {
        top = top * x + a[i];
        bottom = bottom * x + b[i];
    }
    return top / bottom;
}

static double normal_quantile(double p)
{
    static const double a[8] = {
        3.3871328727963666080e0,  1.3314166789178437745e+2,
        1.9715909503065514427e+3, 1.3731693765509461125e+4,
        4.5921953931549871457e+4, 6.7265770927008700853e+4,
        3.3430575583588128105e+4, 2.5090809287301226727e+3};
    static const double b[8] = {1.0,
                                4.2313330701600911252e+1,
                                6.8718700749205790830e+2,
                                5.3941960214247511077e+3,
                                2.1213794301586595867e+4,
                                3.9307895800092710610e+4,
                                2.8729085735721942674e+4,
                                5.2264952788528545610e+3};
    static const double c[8] = {
        1.42343711074968357734e0,  4.63033784615654529590e0,
        5.76949722146069140550e0,  3.64784832476320460504e0,
        1.27045825245236838258e0,  2.41780725177450611770e-1,
        2.27238449892691845833e-2, 7.74545014278341407640e-4};
    static const double d[8] = {1.0,
                                2.05319162663775882187e0,
                                1.67638483018380384940e0,
                                6.89767334985100004550e-1,
                                1.48103976427480074590e-1,
                                1.51986665636164571966e-2,
                                5.47593808499534494600e-4,
                                1.05075007164441684324e-9};
    static const double e[8] = {
        6.65790464350110377720e0,  5.46378491116411436990e0,
        1.78482653991729133580e0,  2.96560571828504891230e-1,
        2.65321895265761230930e-2, 1.24266094738807843860e-3,
        2.71155556874348757815e-5, 2.01033439929228813265e-7};
    static const double f[8] = {1.0,
                                5.99832206555887937690e-1,
                                1.36929880922735805310e-1,
                                1.48753612908506148525e-2,
                                7.86869131145613259100e-4,
                                1.84631831751005468180e-5,
                                1.42151175831644588870e-7,
                                2.04426310338993978564e-15};
    double q = p - 0.5, r;

    if (fabs(q) <= 0.425)
        return q * ratio(a, b, 0.180625 - q * q);
    r = sqrt(-log(q < 0 ? p : 1 - p));
    r = r <= 5 ? ratio(c, d, r - 1.6) : ratio(e, f, r - 5);
    return q < 0 ? -r : r;
}

/* ---- life */

void gbm_diagnoser_free(struct gbm_diagnoser *g)
{
    if (!g)
        return;
    free(g->keys);
    free(g->scratch);
    free(g->split);
    free(g->work);
    free(g->normal);
    free(g->mean);
    free(g->variance);
    free(g->centred);
    free(g->autocov);
    free(g->rho);
    free(g->fft);
    free(g->power);
    free(g->roots);
    free(g);
}

struct gbm_diagnoser *gbm_diagnoser_create(int chains, int draws)
{
    struct gbm_diagnoser *g = calloc(1, sizeof *g);
    size_t n = (size_t)chains * (size_t)draws, m, half;

    if (!g)
        return NULL;
    g->chains = chains;
    g->draws = draws;
    g->half = draws / 2;
    g->sequences = 2 * chains;
    g->n = (int64_t)n;
    g->m = (int64_t)g->sequences * g->half;
    m = (size_t)g->m;
    half = (size_t)g->half;
    g->keys = malloc((n + 1) * sizeof *g->keys);
    g->scratch = malloc((n + 1) * sizeof *g->scratch);
    g->split = malloc((m + 1) * sizeof *g->split);
    g->work = malloc((m + 1) * sizeof *g->work);
    g->normal = malloc((2 * m + 1) * sizeof *g->normal);
    g->mean = malloc(((size_t)g->sequences + 1) * sizeof *g->mean);
    g->variance = malloc(((size_t)g->sequences + 1) * sizeof *g->variance);
    g->centred = calloc(half + LAGS, sizeof *g->centred);
    g->autocov = malloc((half + 1) * sizeof *g->autocov);
    g->rho = malloc((half + 2) * sizeof *g->rho);
    if (!g->keys || !g->scratch || !g->split || !g->work || !g->normal ||
        !g->mean || !g->variance || !g->centred || !g->autocov || !g->rho) {
        gbm_diagnoser_free(g);
        return NULL;
    }
    /* Average ranks are multiples of 1/2. Blom's offsets 3/8 and 1/4. */
    for (int64_t i = 2; i <= 2 * g->m; i++)
        g->normal[i] =
            normal_quantile(((double)i / 2 - 0.375) / ((double)g->m + 0.25));
    return g;
}

/* ---- sorting: radix, as comparisons would cost more than all the rest */

/* Doubles and these integers sort alike; -0 counts as 0. */
static uint64_t order_key(double x)
{
    uint64_t bits;

    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

static double key_value(uint64_t key)
{
    uint64_t bits = key >> 63 ? key & ~(UINT64_C(1) << 63) : ~key;
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Sorts x[0..n) into g->keys. Digits of 11 bits; a digit that all keys share is
 * skipped. */
static void sort_keys(struct gbm_diagnoser *g, const double *x, int64_t n)
{
    enum { BITS = 11, BUCKETS = 1 << BITS, PASSES = 6 };
    uint32_t count[PASSES][BUCKETS];
    struct key *from = g->keys, *to = g->scratch;

    memset(count, 0, sizeof count);
    for (int64_t i = 0; i < n; i++) {
        uint64_t key = order_key(x[i]);

        from[i] = (struct key){key, (uint32_t)i};
        for (int p = 0; p < PASSES; p++)
            count[p][key >> (BITS * p) & (BUCKETS - 1)]++;
    }
    for (int p = 0; p < PASSES && n > 0; p++) {
        uint32_t *c = count[p], sum = 0;
        struct key *swap;

        if (c[from[0].key >> (BITS * p) & (BUCKETS - 1)] == n)
            continue;
        for (int b = 0; b < BUCKETS; b++) {
            uint32_t here = c[b];

            c[b] = sum;
            sum += here;
        }
        for (int64_t i = 0; i < n; i++)
            to[c[from[i].key >> (BITS * p) & (BUCKETS - 1)]++] = from[i];
        swap = from;
        from = to;
        to = swap;
    }
    if (from != g->keys) {
        g->scratch = g->keys;
        g->keys = from;
    }
}

/* Type 7 quantile of the n sorted keys. */
static double quantile(const struct key *keys, int64_t n, double p)
{
    double h = (double)(n - 1) * p, low = floor(h);
    int64_t i = (int64_t)low;
    double a = key_value(keys[i].key);
    double b = i + 1 < n ? key_value(keys[i + 1].key) : a;

    return a + (h - low) * (b - a);
}

/* ---- moments of split chains */

static void split_moments(struct gbm_diagnoser *g, const double *x)
{
    for (int s = 0; s < g->sequences; s++) {
        const double *y = x + (int64_t)s * g->half;
        double sum = 0, squares = 0;

        for (int i = 0; i < g->half; i++)
            sum += y[i];
        g->mean[s] = sum / g->half;
        for (int i = 0; i < g->half; i++)
            squares += (y[i] - g->mean[s]) * (y[i] - g->mean[s]);
        g->variance[s] = squares / (g->half - 1);
    }
}

double gbm_rhat_moments(const double *mean, const double *variance, int chains,
                        int64_t n)
{
    double grand = 0, within = 0, between = 0, draws = (double)n;

    if (chains < 2 || n < 2)
        return NAN;
    for (int c = 0; c < chains; c++) {
        grand += mean[c] / chains;
        within += variance[c] / chains;
    }
    for (int c = 0; c < chains; c++)
        between += (mean[c] - grand) * (mean[c] - grand) / (chains - 1);
    if (!(within > 0))
        return NAN;
    return sqrt((draws * between / within + draws - 1) / draws);
}

static double split_rhat(struct gbm_diagnoser *g, const double *x)
{
    split_moments(g, x);
    return gbm_rhat_moments(g->mean, g->variance, g->sequences, g->half);
}

/* ---- autocovariances: biased (divisor half), averaged over sequences */

/* Adds to sum[j] the products of y at the lag `first` + j. y[n..n + LAGS) are
 * 0. Unrolled, the parts stay in registers. */
static void add_products(const double *y, int n, int first, double sum[LAGS])
{
    double part[LAGS] = {0};

    for (int i = 0; i < n - first; i++)
#pragma GCC unroll LAGS
        for (int j = 0; j < LAGS; j++)
            part[j] += y[i] * y[i + first + j];
    for (int j = 0; j < LAGS; j++)
        sum[j] += part[j];
}

/* LAGS lags from `first` on, sequence by sequence, so that one that is read for
 * all of them stays in the cache. */
static void autocov_direct(struct gbm_diagnoser *g, const double *x, int first)
{
    double sum[LAGS] = {0};

    for (int s = 0; s < g->sequences; s++) {
        const double *y = x + (int64_t)s * g->half;

        for (int i = 0; i < g->half; i++)
            g->centred[i] = y[i] - g->mean[s];
        add_products(g->centred, g->half, first, sum);
    }
    for (int j = 0; j < LAGS && first + j < g->half; j++)
        g->autocov[first + j] = sum[j] / g->half / g->sequences;
}

/* Complex FFTs in place, n a power of two, sign -1. One takes the natural order
 * to bit-reversed order (decimation in frequency), the other goes back: what is
 * between them does not mind the order. Halves are transformed one after the
 * other, so that the small ones stay in the cache. `roots` holds exp(-i pi k /
 * h), k < h, from place h on, for every h < n. */
static void fft_forward(double *z, int n, const double *roots)
{
    const int h = n / 2;
    const double *w = roots + 2 * h;
    double *a = z, *b = z + 2 * h;

    if (n < 2)
        return;
    for (int k = 0; k < 2 * h; k += 2) {
        double re = a[k] - b[k], im = a[k + 1] - b[k + 1];

        a[k] += b[k];
        a[k + 1] += b[k + 1];
        b[k] = re * w[k] - im * w[k + 1];
        b[k + 1] = re * w[k + 1] + im * w[k];
    }
    fft_forward(a, h, roots);
    fft_forward(b, h, roots);
}

static void fft_back(double *z, int n, const double *roots)
{
    const int h = n / 2;
    const double *w = roots + 2 * h;
    double *a = z, *b = z + 2 * h;

    if (n < 2)
        return;
    fft_back(a, h, roots);
    fft_back(b, h, roots);
    for (int k = 0; k < 2 * h; k += 2) {
        double re = b[k] * w[k] - b[k + 1] * w[k + 1];
        double im = b[k] * w[k + 1] + b[k + 1] * w[k];

        b[k] = a[k] - re;
        b[k + 1] = a[k + 1] - im;
        a[k] += re;
        a[k + 1] += im;
    }
}

static bool prepare_fft(struct gbm_diagnoser *g)
{
    const double pi = 3.14159265358979323846;
    int n = 2;

    if (g->fft)
        return true;
    while (n < 2 * g->half)
        n *= 2;
    g->fft = malloc((size_t)n * 2 * sizeof *g->fft);
    g->power = malloc((size_t)n * sizeof *g->power);
    g->roots = malloc((size_t)n * 2 * sizeof *g->roots);
    if (!g->fft || !g->power || !g->roots) {
        free(g->fft);
        free(g->power);
        free(g->roots);
        g->fft = g->power = g->roots = NULL;
        return false;
    }
    for (int h = n / 2; h >= 1; h /= 2)
        for (int k = 0; k < h; k++) {
            int of = n / 2 / h; /* the largest h has all */
            double *root = g->roots + 2 * (h + k);

            root[0] = of > 1 ? g->roots[n + 2 * k * of] : cos(pi * k / h);
            root[1] = of > 1 ? g->roots[n + 2 * k * of + 1] : -sin(pi * k / h);
        }
    g->fft_size = n;
    return true;
}

/* All lags at once. Two sequences (one chain's halves) make one complex
 * sequence; the sum of their autocovariances is the real part of the inverse
 * transform of |Z|^2, as the cross terms are odd in the frequency. The |Z|^2 of
 * all chains are transformed together. */
static void autocov_fft(struct gbm_diagnoser *g, const double *x)
{
    int n = g->fft_size;
    double *z = g->fft, *power = g->power;
    double scale = 1.0 / n / g->half / g->sequences;

    memset(power, 0, (size_t)n * sizeof *power);
    for (int s = 0; s < g->sequences; s += 2) {
        const double *a = x + (int64_t)s * g->half, *b = a + g->half;

        memset(z, 0, (size_t)n * 2 * sizeof *z);
        for (int i = 0; i < g->half; i++) {
            z[2 * i] = a[i] - g->mean[s];
            z[2 * i + 1] = b[i] - g->mean[s + 1];
        }
        fft_forward(z, n, g->roots);
        for (int i = 0; i < n; i++)
            power[i] += z[2 * i] * z[2 * i] + z[2 * i + 1] * z[2 * i + 1];
    }
    for (int i = 0; i < n; i++) {
        z[2 * i] = power[i];
        z[2 * i + 1] = 0;
    }
    fft_back(z, n, g->roots);
    for (int i = 0; i < g->half; i++)
        g->autocov[i] = z[2 * i] * scale;
}

/* ---- effective sample size of split chains x: [sequences][half] */

struct autocorrelation {
    struct gbm_diagnoser *g;
    const double *x;
    double within, total; /* var^+ */
    int known;            /* lags from 1 on that autocov has */
};

static double rho_at(struct autocorrelation *a, int lag)
{
    struct gbm_diagnoser *g = a->g;

    if (lag > a->known) {
        if (lag > DIRECT_LAGS && g->half > SHORT_SEQUENCE && prepare_fft(g)) {
            autocov_fft(g, a->x);
            a->known = g->half;
        } else {
            autocov_direct(g, a->x, lag);
            a->known = lag + LAGS - 1;
        }
    }
    return 1 - (a->within - g->autocov[lag]) / a->total;
}

/* Sum of rho over Geyer's initial monotone sequence, as 2 sum - 1. */
static double autocorrelation_time(struct autocorrelation *a)
{
    double *rho = a->g->rho, even = 1, odd = rho_at(a, 1), tau = -1;
    int half = a->g->half, t = 1, last;

    for (int i = 0; i <= half; i++)
        rho[i] = 0;
    rho[0] = even;
    rho[1] = odd;
    while (t < half - 3 && even + odd > 0) {
        even = rho_at(a, t + 1);
        odd = rho_at(a, t + 2);
        if (even + odd >= 0) {
            rho[t + 1] = even;
            rho[t + 2] = odd;
        }
        t += 2;
    }
    last = t - 2;
    if (even > 0)
        rho[last + 1] = even;
    for (t = 1; t <= last - 2; t += 2)
        if (rho[t + 1] + rho[t + 2] > rho[t - 1] + rho[t])
            rho[t + 1] = rho[t + 2] = (rho[t - 1] + rho[t]) / 2;
    for (int i = 0; i <= last; i++)
        tau += 2 * rho[i];
    return tau + rho[last + 1];
}

static bool all_equal(const double *x, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if (x[i] != x[0])
            return false;
    return true;
}

static double split_ess(struct gbm_diagnoser *g, const double *x)
{
    struct autocorrelation a = {.g = g, .x = x};
    double grand = 0, between = 0, tau, n = (double)g->m;

    if (all_equal(x, g->m))
        return n;
    split_moments(g, x);
    for (int s = 0; s < g->sequences; s++) {
        grand += g->mean[s] / g->sequences;
        a.within += g->variance[s] / g->sequences;
    }
    for (int s = 0; s < g->sequences; s++)
        between +=
            (g->mean[s] - grand) * (g->mean[s] - grand) / (g->sequences - 1);
    a.total = a.within * (g->half - 1) / g->half + between;
    tau = autocorrelation_time(&a);
    if (tau < 1 / log10(n))
        tau = 1 / log10(n);
    return n / tau;
}

/* ---- ranks */

/* Where draw `index` of [chains][draws] lies in the split chains, or -1 for
 * the middle draw of an odd number. */
static int64_t split_place(const struct gbm_diagnoser *g, int64_t index)
{
    int64_t chain = index / g->draws, draw = index % g->draws;
    int64_t second = g->draws - g->half; /* first draw of the second half */

    if (draw < g->half)
        return 2 * chain * g->half + draw;
    if (draw < second)
        return -1;
    return (2 * chain + 1) * g->half + draw - second;
}

static void split_chains(const struct gbm_diagnoser *g, const double *x,
                         double *out)
{
    size_t bytes = (size_t)g->half * sizeof *x;

    for (int c = 0; c < g->chains; c++) {
        const double *chain = x + (int64_t)c * g->draws;

        memcpy(out + 2 * (int64_t)c * g->half, chain, bytes);
        memcpy(out + (2 * (int64_t)c + 1) * g->half, chain + g->draws - g->half,
               bytes);
    }
}

/* Writes normal scores of the m sorted keys, whose indices are places in `z`;
 * equal values share their average rank. */
static void normal_scores(const struct gbm_diagnoser *g, double *z)
{
    for (int64_t i = 0, j; i < g->m; i = j) {
        for (j = i + 1; j < g->m && g->keys[j].key == g->keys[i].key;)
            j++;
        for (int64_t k = i; k < j; k++)
            z[g->keys[k].index] = g->normal[i + j + 1];
    }
}

/* Turns sorted indices of draws into places in split chains, dropping middle
 * draws. */
static void split_keys(struct gbm_diagnoser *g)
{
    int64_t kept = 0;

    for (int64_t i = 0; i < g->n; i++) {
        int64_t place = split_place(g, g->keys[i].index);

        if (place >= 0)
            g->keys[kept++] = (struct key){g->keys[i].key, (uint32_t)place};
    }
}

/* Sorts the m sorted keys by distance from the median: what is below it goes
 * backwards, what is above forwards, and the two are merged. */
static void fold_keys(struct gbm_diagnoser *g, double median)
{
    const struct key *from = g->keys;
    struct key *to = g->scratch;
    int64_t below = 0, above;

    while (below < g->m && key_value(from[below].key) < median)
        below++;
    above = below--;
    for (int64_t i = 0; i < g->m; i++) {
        double down =
            below >= 0 ? median - key_value(from[below].key) : INFINITY;
        double up =
            above < g->m ? key_value(from[above].key) - median : INFINITY;

        to[i] = down < up ? (struct key){order_key(down), from[below--].index}
                          : (struct key){order_key(up), from[above++].index};
    }
    g->scratch = g->keys;
    g->keys = to;
}

/* ---- the whole */

static double tail_ess(struct gbm_diagnoser *g, double q)
{
    for (int64_t i = 0; i < g->m; i++)
        g->work[i] = g->split[i] <= q;
    return split_ess(g, g->work);
}

static void moments(const double *x, int64_t n, double *mean, double *sd)
{
    double sum = 0, squares = 0;

    for (int64_t i = 0; i < n; i++)
        sum += x[i];
    *mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++)
        squares += (x[i] - *mean) * (x[i] - *mean);
    *sd = n > 1 ? sqrt(squares / (double)(n - 1)) : NAN;
}

static void diagnose_chains(struct gbm_diagnoser *g, const double *x,
                            struct gbm_diagnosis *out)
{
    double ess_mean, bulk, folded, median, ess5, ess95;

    split_chains(g, x, g->split);
    ess_mean = split_ess(g, g->split);
    out->mcse = out->sd / sqrt(ess_mean);
    ess5 = tail_ess(g, out->q5);
    ess95 = tail_ess(g, out->q95);
    out->ess_tail = ess5 < ess95 ? ess5 : ess95;

    split_keys(g);
    median = quantile(g->keys, g->m, 0.5);
    normal_scores(g, g->work);
    out->ess_bulk = split_ess(g, g->work);
    bulk = split_rhat(g, g->work);
    fold_keys(g, median);
    normal_scores(g, g->work);
    folded = split_rhat(g, g->work);
    out->rhat = fmax(bulk, folded); /* folded is NaN for two symmetric values */
}

/* Whether the draws, whose keys are in order, differ by rounding alone: a
 * number that the model settles, as the diagonal of a correlation matrix made
 * of its factor, is rounded otherwise from draw to draw. */
static bool is_settled(const struct gbm_diagnoser *g, const double *x)
{
    const double low = key_value(g->keys[0].key),
                 high = key_value(g->keys[g->n - 1].key);

    return all_equal(x, g->n) ||
           (isfinite(high - low) &&
            high - low <= 1e-13 * fmax(fabs(low), fabs(high)));
}

void gbm_diagnose_with(struct gbm_diagnoser *g, const double *x,
                       struct gbm_diagnosis *out)
{
    *out = (struct gbm_diagnosis){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (g->n == 0)
        return;
    moments(x, g->n, &out->mean, &out->sd);
    for (int64_t i = 0; i < g->n; i++)
        if (isnan(x[i]))
            return;
    sort_keys(g, x, g->n);
    out->q5 = quantile(g->keys, g->n, 0.05);
    out->q50 = quantile(g->keys, g->n, 0.5);
    out->q95 = quantile(g->keys, g->n, 0.95);
    if (is_settled(g, x)) {
        out->mean = x[0];
        out->sd = g->n > 1 ? 0 : NAN;
        out->mcse = 0;
        return;
    }
    if (g->draws >= 4 && isfinite(out->sd))
        diagnose_chains(g, x, out);
}

enum gbm_status gbm_diagnose(const double *x, int chains, int draws,
                             struct gbm_diagnosis *out)
{
    struct gbm_diagnoser *g = gbm_diagnoser_create(chains, draws);

    if (!g)
        return GBM_FAILURE;
    gbm_diagnose_with(g, x, out);
    gbm_diagnoser_free(g);
    return GBM_OK;
}

double gbm_least_ess(const struct gbm_diagnosis *d)
{
    return fmin(d->ess_bulk, d->ess_tail);
}
