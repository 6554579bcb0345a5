/* values.c: main of a program that tells what a compiled model computes,
 * instead of the sampler's: values --data FILE --draws N --out FILE.
 * Printed: the log density of every element of every random statement
 * ("density NAME ..."), the cells of every array computed at load ("value
 * NAME ..."), and where the draws of a statement's elements stand in the file
 * ("draws NAME ELEMENTS OFFSET"): N doubles an element, drawn forward. */
#include "start/start.h"
#include "options/method.h"
#include "io/data.h"
#include "gbm.h"

#include <stdlib.h>

static bool is_observed(const struct rt_instance *in, int family)
{
    const struct gbm_family *f = &in->model->families[family];
    return f->stochastic && !f->auxiliary &&
           in->model->variables[f->variable].observed;
}

static void print_values(const struct rt_instance *in)
{
    for (int v = 0; v < in->model->nvariables; v++) {
        const struct gbm_variable *variable = &in->model->variables[v];
        if (variable->role != GBM_CONSTANT)
            continue;
        printf("value %s", variable->name);
        for (int64_t i = 0; i < in->slots[v].cells; i++)
            printf(" %.17g", rt_value(&in->slots[v], variable->integer, 0, i));
        printf("\n");
    }
}

static void print_densities(const struct rt_instance *in, const void *state)
{
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *family = &in->model->families[f];
        if (!is_observed(in, f))
            continue;
        printf("density %s", in->model->variables[family->variable].name);
        for (int64_t e = 0; e < in->elements[f]; e++)
            printf(" %.17g", family->logdensity(state, e));
        printf("\n");
    }
}

/* Draws every element in turn; the other elements do not depend on it. */
static bool write_draws(const struct rt *rt, const struct rt_instance *in,
                        const void *state, FILE *file)
{
    int64_t offset = 0;
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *family = &in->model->families[f];
        int v = family->variable;
        if (!is_observed(in, f) || family->cells(state, 0, NULL) != 1)
            continue;
        printf("draws %s %lld %lld\n", in->model->variables[v].name,
               (long long)in->elements[f], (long long)offset);
        for (int64_t e = 0; e < in->elements[f]; e++) {
            int64_t cell;
            family->cells(state, e, &cell);
            for (int k = 0; k < rt->options.draws; k++) {
                struct gbm_rng rng;
                gbm_rng_start(&rng, rt->options.seed, 0, (uint32_t)k,
                              (uint32_t)f, (uint32_t)e);
                family->simulate(state, &rng, e);
                double x = rt_value(&in->slots[v],
                                    in->model->variables[v].integer, 0, cell);
                if (fwrite(&x, sizeof x, 1, file) != 1)
                    return false;
            }
        }
        offset += in->elements[f] * rt->options.draws;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct rt rt = {
        .model = &gbm_model, .methods = rt_methods, .threads = 1};
    struct gbm_data data = {.allow_nonfinite = true};
    struct rt_instance in = {0};
    enum gbm_status s = rt_options_parse(&rt, argc, argv);
    rt.options.quiet = true;
    if (s == GBM_OK)
        s = rt_load_free(&rt, &data, &in, false);
    void *state = s == GBM_OK ? malloc(in.model->state_size) : NULL;
    FILE *file = state ? fopen(rt.options.out, "wb") : NULL;
    if (file) {
        rt_bind(&in, state, 0);
        print_values(&in);
        print_densities(&in, state);
        if (!write_draws(&rt, &in, state, file) || fclose(file))
            s = rt_fail(&rt, GBM_FAILURE, "cannot write %s", rt.options.out);
    } else if (s == GBM_OK) {
        s = rt_fail(&rt, GBM_FAILURE, "cannot open %s", rt.options.out);
    }
    int status = rt_report(&rt);
    free(state);
    if (in.model)
        rt_instance_free(&in);
    gbm_data_free(&data);
    rt_options_free(&rt.options);
    return status;
}
