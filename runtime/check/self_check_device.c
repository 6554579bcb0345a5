/* self_check_device.c: the self-check of a device of its own memory: its
 * densities, its sweeps and its steps beside the host's. */
#include "check/self_check.h"

#include <math.h>
#include <stdlib.h>

#define DEVICE_SWEEPS 4
#define DEVICE_SECONDS 0.1 /* that these may take; one is made in any case */
#define COMPARED 1024      /* chains whose densities are compared, of many */
#define BESIDE 0.05        /* seconds for sweeps beside the host's, at least */

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
            "Its log density is %.10g on the device and %.10g on the "
            "CPU. " CHECK_REPORT,
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
    const int apart = 1 + (s->in->nchains - 1) / COMPARED;
    enum gbm_status status = s->rt->device->density(s->rt, f, sums);
    for (int c = 0; c < s->in->nchains && status == GBM_OK; c += apart) {
        struct change host = {0};
        s->chain = c;
        rt_bind(s->in, s->state, c);
        self_check_add_family(s, f, NULL, &host);
        double allowed = precise ? SELF_CHECK_TOLERANCE + 1e-9 * host.size
                                 : 1e-2 + 1e-3 * host.size;
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
                                  uint32_t n, double one)
{
    const double share = SELF_CHECK_SHARE * one * s->rt->options.warmup;
    const double seconds = fmin(fmax(share, BESIDE), SELF_CHECK_SECONDS / 4);
    /* A first sweep that is cold says little of the others; one that takes half
     * of all that the check may take is not followed by another. */
    const double left = one < SELF_CHECK_SECONDS / 2
                            ? fmax(seconds - one, BESIDE)
                            : seconds - one;
    enum gbm_status status =
        n == 1
            ? rt_same_sweep(s->rt, s->in, s->dense, first, left, s->start)
            : rt_same_sweep(s->rt, s->in, s->dense, first + n, seconds, NULL);
    rt_clock_note("  its sweeps beside the host's");
    return status;
}

enum gbm_status self_check_device(struct self_check *s)
{
    struct rt *rt = s->rt;
    const uint32_t first = SELF_CHECK_FIRST / 2;
    uint32_t n = 0;
    double one = 0;
    double *sums = malloc((size_t)s->in->nchains * sizeof *sums);
    if (!sums)
        return rt_fail(rt, GBM_FAILURE, "no memory for the self-check");
    rt_put_back(s->in, s->start);
    self_check_allow(s, SELF_CHECK_SECONDS / 2);
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
        status = run_beside(s, first, n, one);
    if (status == GBM_OK) {
        void **values = rt_save(s->in);
        if (values)
            status = self_check_chain(s, 0, values);
        rt_forget(s->in, values);
    }
    rt_put_back(s->in, s->start);
    return status == GBM_OK ? rt->device->put(rt) : status;
}
