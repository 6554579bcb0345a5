/* device.c: where a run computes: the CPU, or a GPU by the plugin. */
#include "session/session.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const struct rt_device *load_plugin(char *why, size_t capacity)
{
    const char *folder = getenv("GBM_LIBRARY");
    char path[4096] = "libgbm_cuda.so";
    if (folder)
        snprintf(path, sizeof path, "%s/libgbm_cuda.so", folder);
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!plugin) {
        snprintf(why, capacity, "%s", dlerror());
        return NULL;
    }
    rt_clock_note("  the plugin is there");
    const struct rt_device *device = dlsym(plugin, "rt_cuda");
    const uint64_t *layout = dlsym(plugin, "rt_cuda_layout");
    if (device && layout && *layout == RT_LAYOUT)
        return device;
    snprintf(why, capacity,
             "%s is of another version of gbm than this sampler: compile the "
             "model again",
             path);
    return NULL;
}

/* Operations of a sweep of all chains from which on a GPU is worth its launches
 * and its compiler; GBM_GPU_LEAST: for tests. */
static double least_work(void)
{
    const char *asked = getenv("GBM_GPU_LEAST");
    return asked && atof(asked) > 0 ? atof(asked) : 2e6;
}

/* About how many operations an element of a step takes: terms of its sums, of
 * some fifty each, or as a joint block counts its own. */
static double element_work(const struct gbm_step *step, const void *state)
{
    const double cost = step->cost ? (double)step->cost(state) : 1;
    return step->joint ? cost : 50 * cost;
}

/* About how many floating-point operations a sweep of all chains has. */
static double sweep_work(const struct rt_instance *in)
{
    void *state = calloc(1, in->model->state_size + 1);
    double work = 0;
    if (!state)
        return 0;
    rt_bind(in, state, 0);
    for (int k = 0; k < in->model->nsteps; k++) {
        const struct gbm_step *step = &in->model->steps[k];
        if (!in->steps[k].active)
            continue;
        work += element_work(step, state) * (double)in->steps[k].count;
        if (step->kind != GBM_STEP_DENSE)
            continue;
        double d = step->dense->dimension(state);
        work += d * d * d / 3;
        for (int t = 0; t < step->dense->nterms; t++)
            work += 4 * d * (double)in->elements[step->dense->terms[t].family];
    }
    free(state);
    return work * in->nchains;
}

/* What "auto" chose was not known when joint blocks were laid out. */
static enum gbm_status open_cuda(struct rt *rt, struct rt_instance *in,
                                 const struct rt_device *device,
                                 const char *which)
{
    enum gbm_status s = device->open(rt, which);
    if (s == GBM_OK && strcmp(rt->options.device, "auto") == 0)
        s = rt_joint_again(rt, in);
    if (s == GBM_OK && device->expect)
        s = device->expect(rt, in);
    if (s != GBM_OK)
        device->close(rt);
    return s;
}

/* The GPU that --device asks for by name. */
static enum gbm_status load_gpu(struct rt *rt)
{
    char why[512] = "";
    rt->device = load_plugin(why, sizeof why);
    return rt->device ? GBM_OK
                      : rt_fail(rt, GBM_FAILURE, "--device %s: %s",
                                rt->options.device, why);
}

enum gbm_status rt_open_device(struct rt *rt, struct rt_instance *in,
                               FILE *notes)
{
    const char *which = rt->options.device;
    char why[512] = "";
    rt->device = &rt_host;
    if (rt->options.plain) {
        if (strncmp(which, "cuda", 4) == 0)
            return rt_fail(rt, GBM_USER_ERROR,
                           "--plain runs on the CPU, not with --device %s",
                           which);
        rt->device = &rt_plain;
        return rt->device->open(rt, which);
    }
    if (strncmp(which, "cuda", 4) == 0) {
        const enum gbm_status s = load_gpu(rt);
        return s == GBM_OK ? open_cuda(rt, in, rt->device, which) : s;
    }
    if (strcmp(which, "auto") == 0) {
        const struct rt_device *cuda = NULL;
        if (sweep_work(in) < least_work())
            snprintf(why, sizeof why, "a sweep is too small for a GPU");
        else
            cuda = load_plugin(why, sizeof why);
        if (cuda) {
            rt->device = cuda;
            if (open_cuda(rt, in, cuda, "cuda") == GBM_OK)
                return GBM_OK;
            snprintf(why, sizeof why, "%.500s", rt->message);
            rt->status = GBM_OK;
            rt->message[0] = '\0';
            rt->device = &rt_host;
        }
    }
    enum gbm_status s = rt->device->open(rt, which);
    if (s == GBM_OK && notes && why[0])
        fprintf(notes, "note: on the CPU: %s\n", why);
    if (s == GBM_OK && rt->options.precision != RT_DOUBLE && notes)
        fprintf(notes, "note: the CPU computes in double precision\n");
    return s;
}

enum gbm_status rt_open_gpu(struct rt *rt)
{
    const enum gbm_status s = load_gpu(rt);
    return s == GBM_OK ? rt->device->open(rt, rt->options.device) : s;
}

enum gbm_status rt_load_device(struct rt *rt, struct rt_instance *in,
                               FILE *notes)
{
    enum gbm_status s = rt->device->load(rt, in);
    if (s == GBM_OK || rt->device == &rt_host ||
        strcmp(rt->options.device, "auto") != 0)
        return s;
    if (notes)
        fprintf(notes, "note: on the CPU: %s\n", rt->message);
    rt->device->close(rt);
    rt->status = GBM_OK;
    rt->message[0] = '\0';
    rt->device = &rt_host;
    s = rt_host.open(rt, "cpu");
    return s == GBM_OK ? rt_host.load(rt, in) : s;
}
