/* main.c: main of every sampler: options, then one command. */
#include "check/check.h"
#include "simulate/simulate.h"

#include <errno.h>
#include <omp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

static const char *role_text(enum gbm_role role)
{
    switch (role) {
    case GBM_GIVEN:
        return "given";
    case GBM_CONSTANT:
        return "computed from what is given";
    case GBM_STOCHASTIC:
        return "random";
    case GBM_DERIVED:
        return "computed";
    case GBM_AUXILIARY:
    case GBM_POWER:
    case GBM_TUNING:
    case GBM_RECALLED:
    case GBM_TABLE:
    case GBM_INVERSE:
    case GBM_JOINT:
    case GBM_ORDER:
        break;
    }
    return NULL;
}

static int print_info(const struct rt *rt)
{
    const struct gbm_model *m = rt->model;
    printf("model %s (%s), compiled by gbmc %s\n\nvariables:\n", m->name,
           m->source, m->version);
    for (int v = 0; v < m->nvariables; v++) {
        const struct gbm_variable *variable = &m->variables[v];
        char name[256];
        if (!role_text(variable->role) || variable->hidden)
            continue;
        size_t at = (size_t)snprintf(name, sizeof name, "%s", variable->name);
        for (int d = 0;
             d < variable->ndim && at < sizeof name && !variable->names; d++)
            at += (size_t)snprintf(name + at, sizeof name - at, "%s%s",
                                   d ? "," : "[",
                                   d + 1 == variable->ndim ? "]" : "");
        printf("  %-20s %s%s%s\n", name, variable->integer ? "integer, " : "",
               role_text(variable->role),
               variable->observed ? ", data expected" : "");
    }
    printf("\n%s", m->explain ? m->explain : "");
    return 0;
}

static int run_command(struct rt *rt)
{
    switch (rt->options.command) {
    case RT_RUN:
        return rt->options.method->run(rt);
    case RT_INFO:
        return print_info(rt);
    case RT_CHECK:
        return rt->options.gradients ? rt_command_check_gradients(rt)
                                     : rt_command_check(rt);
    case RT_SIMULATE:
        return rt_command_simulate(rt);
    case RT_GEWEKE:
        return rt_command_geweke(rt);
    case RT_SBC:
        return rt_command_sbc(rt);
    case RT_SUMMARY:
        return rt_command_summary(rt);
    case RT_COMPARE:
        return rt_command_compare(rt);
    case RT_HELP:
        printf("%s: a sampler for the model %s, compiled by gbmc %s\n",
               rt->options.program, rt->model->name, rt->model->version);
        rt_print_help(rt, stdout);
        return 0;
    case RT_VERSION:
        printf("%s, compiled by gbmc %s\n", rt->model->name,
               rt->model->version);
        return 0;
    }
    return 2;
}

/* Whether the command runs the model. */
static bool runs(enum rt_command command)
{
    return command != RT_HELP && command != RT_VERSION && command != RT_SUMMARY;
}

/* What was printed must be there. */
static int check_printed(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "failed: cannot write the output: %s\n", strerror(errno));
    return 2;
}

int main(int argc, char **argv)
{
    struct rt rt = {.model = &gbm_model, .methods = rt_methods};
    int status;
    signal(SIGXFSZ, SIG_IGN); /* a write fails instead */
    if (rt_options_parse(&rt, argc, argv) != GBM_OK ||
        (runs(rt.options.command) && rt_variant(&rt) != GBM_OK)) {
        status = rt_report(&rt);
    } else {
        rt.threads = rt.options.threads;
        if (rt.threads == 0)
            rt.threads = omp_get_num_procs();
        omp_set_num_threads(rt.threads);
        rt_watch_held(&rt);
        status = run_command(&rt);
    }
    rt_options_free(&rt.options);
    return check_printed(status);
}
