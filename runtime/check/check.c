/* check.c: the command `check`: full conditionals against the joint density at
 * several points, far out ones too, for some elements of each step. */
#include "check/check.h"
#include "options/method.h"
#include "options/option.h"

#include <stdlib.h>
#include <string.h>

#define ELEMENTS 6 /* of a step, at a point */
#define SECONDS 60 /* after this, one element per step and point */

struct command {
    struct checker checker;
    struct rt_instance in;
    struct gbm_data data;
    double began;
    uint32_t done; /* sweeps */
};

static void check_point(struct command *command, int point)
{
    struct checker *c = &command->checker;
    for (int k = 0; k < c->in->model->nsteps; k++) {
        const struct gbm_step *step = &c->in->model->steps[k];
        const struct rt_step *plan = &c->in->steps[k];
        bool late = rt_clock() - command->began > SECONDS;
        if (!plan->active)
            continue;
        if (step->kind == GBM_STEP_DENSE) {
            check_dense(c, k, !late);
            continue;
        }
        if (step->kind != GBM_STEP_MAP || !step->conditional ||
            !step->block_get)
            continue;
        int64_t n = plan->count < ELEMENTS ? plan->count : ELEMENTS;
        for (int64_t i = 0; i < n; i++) {
            late = rt_clock() - command->began > SECONDS;
            if (late && i > 0)
                break;
            int64_t at =
                plan->count <= ELEMENTS
                    ? i
                    : (i * 7919 + point * 104729 + c->chain * 1299709) %
                          plan->count;
            check_element(c, k, plan->elements ? plan->elements[at] : at,
                          !late);
        }
        if (step->integrated)
            check_nodes_out(c, k);
    }
}

static bool print_rows(const struct checker *c)
{
    const struct gbm_model *m = c->in->model;
    bool good = true;
    printf("%-28s %-30s %7s  %9s\n", "block", "sampler", "points", "error");
    for (int k = 0; k < m->nsteps; k++) {
        const struct check_row *row = &c->rows[k];
        const struct gbm_step *step = &m->steps[k];
        if ((step->kind != GBM_STEP_MAP && step->kind != GBM_STEP_DENSE) ||
            (step->leaf && !c->in->steps[k].active))
            continue;
        printf("%-28s %-30s %7d  ", step->variable, step->sampler,
               row->checked);
        if (!c->in->steps[k].active) {
            printf("%9s  nothing to draw\n", "-");
        } else if (row->checked == 0) {
            printf("%9s  not checked: %s\n", "-",
                   step->conditional ? "it never moved"
                                     : "drawn forward, its draw is stated, or "
                                       "it moves what others draw (geweke)");
        } else if (row->worst <= 1) {
            printf("%9.1e  pass\n", row->error);
        } else {
            good = false;
            printf("%9.1e  FAIL: conditional %.10g, joint %.10g at %s\n",
                   row->error, row->conditional, row->joint, row->element);
        }
    }
    return good;
}

static enum gbm_status prepare(struct command *command, struct rt *rt)
{
    FILE *notes = rt->options.quiet ? NULL : stderr;
    struct rt_instance *in = &command->in;
    enum gbm_status s = rt_read_data(rt, &command->data, notes);
    if (s == GBM_OK)
        s = rt_load(rt, &command->data, false, in, notes);
    if (s == GBM_OK)
        s = rt_variant_of_data(rt, in);
    if (s == GBM_OK)
        s = rt_start(rt, in, notes);
    if (s == GBM_OK)
        s = check_create(&command->checker, rt, in);
    rt->device = &rt_host;
    if (s == GBM_OK)
        s = rt_host.open(rt, "cpu");
    return s == GBM_OK ? rt_host.load(rt, in) : s;
}

/* What is no number compares with nothing, and stays so; a run would end. */
static bool has_left_numbers(const struct checker *c, uint32_t sweeps)
{
    struct rt_nan bad;
    char name[128];
    if (!rt_nan_in_state(c->in, &bad))
        return false;
    rt_nan_name(c->in, &bad, name, sizeof name);
    if (!c->rt->options.quiet)
        fprintf(stderr,
                "note: %s of chain %d is not a number after %u sweeps from "
                "these starting values: nothing more is compared\n",
                name, bad.chain + 1, sweeps);
    return true;
}

/* At the start, after 3 sweeps, and then every 20. */
static void check_all(struct command *command)
{
    struct checker *c = &command->checker;
    struct rt *rt = c->rt;
    for (int point = 0; point < rt->options.points; point++) {
        struct rt_block block = {.seed = rt->options.seed,
                                 .first = command->done,
                                 .sweeps = point == 0   ? 0
                                           : point == 1 ? 3
                                                        : 20,
                                 .adapting = true};
        if (rt_host.run(rt, &block) != GBM_OK)
            break;
        command->done += (uint32_t)block.sweeps;
        if (has_left_numbers(c, command->done))
            break;
        for (c->chain = 0; c->chain < c->in->nchains; c->chain++) {
            rt_bind(c->in, c->state, c->chain);
            check_point(command, point);
        }
    }
}

/* Of a sampler with powers: between the posterior and the prior, if the user
 * does not say where. */
static bool check_powers(struct command *command)
{
    static const double at[] = {1, 0.3, 0};
    struct checker *c = &command->checker;
    const struct rt_options *o = &c->rt->options;
    double *powers = rt_powers(c->in);
    bool good = true;
    if (!powers || rt_option_is_given(o, OPTION_POWER) || o->sequence) {
        check_all(command);
        return print_rows(c);
    }
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        for (int k = 0; k < c->in->nchains; k++)
            powers[k] = fmax(at[i], RT_LEAST_POWER);
        memset(c->rows, 0, (size_t)c->in->model->nsteps * sizeof *c->rows);
        check_all(command);
        printf("%spower %g of the data's densities\n", i ? "\n" : "", at[i]);
        good = print_rows(c) && good;
    }
    return good;
}

int rt_command_check(struct rt *rt)
{
    struct command command = {.began = rt_clock()};
    if (prepare(&command, rt) == GBM_OK && !check_powers(&command))
        rt_fail(rt, GBM_USER_ERROR,
                "a full conditional differs from the joint density: this "
                "sampler is wrong");
    rt_host.close(rt);
    if (command.checker.in)
        check_free(&command.checker);
    if (command.in.model)
        rt_instance_free(&command.in);
    gbm_data_free(&command.data);
    return rt_report(rt);
}
