/* option_rules.c: which options go together, and with which command. */
#include "options/method.h"
#include "options/option.h"
#include "load/load.h"

static enum gbm_status refuse(struct rt *rt, const char *message)
{
    return rt_fail(rt, GBM_USER_ERROR, "%s", message);
}

static enum gbm_status fit_powers(struct rt *rt)
{
    struct rt_options *o = &rt->options;
    if (!o->sequence && o->power > 100)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--power '%g': a number from 0 to 100 is wanted",
                       o->power);
    if (o->sequence && o->command != RT_CHECK &&
        (o->command != RT_RUN || !o->method->sequence))
        return refuse(rt, "--sequence is an option of --method smc, and of "
                          "check");
    if (o->sequence && !rt_option_is_given(o, OPTION_POWER))
        o->power = RT_ALL_ENTERED;
    return GBM_OK;
}

/* Options of one command. */
static enum gbm_status fit_command(struct rt *rt)
{
    const struct rt_options *o = &rt->options;
    const bool runs = o->command == RT_RUN;
    if (o->plain && !runs && o->command != RT_SBC)
        return refuse(rt, "--plain is an option of run and sbc");
    if (o->method != rt->methods[0] && !runs)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--method %s is for run: other commands are of the "
                       "sweep, as %s runs it",
                       o->method->name, rt->methods[0]->name);
    if (((o->from && !(runs && o->method->from)) || o->anew) &&
        o->command != RT_SIMULATE)
        return rt_fail(rt, GBM_USER_ERROR, "%s is an option of simulate%s",
                       o->from ? "--from" : "--anew",
                       o->from ? ", and of --method filter" : "");
    if (o->from && o->posterior)
        return refuse(rt, "--from FIT has draws of the posterior: without "
                          "--posterior, which makes its own");
    if (o->anew && !o->from)
        return refuse(rt, "--anew LIST goes with --from FIT");
    if (rt_option_is_given(o, OPTION_PROPOSAL) && !(runs && o->method->filters))
        return refuse(rt, "--proposal is an option of --method filter, and of "
                          "pmmh");
    if ((o->steps || o->moves) && !(runs && o->method->own_sweeps))
        return rt_fail(rt, GBM_USER_ERROR, "%s is an option of --method smc",
                       o->steps ? "--steps" : "--moves");
    if (o->steps && o->sequence)
        return refuse(rt, "not supported yet: --steps with --sequence");
    if (o->replicates && o->command != RT_SBC)
        return refuse(rt, "--replicates is an option of sbc");
    if (o->profile && (!runs || o->plain))
        return refuse(rt, o->plain ? "--profile times the sampler's steps, "
                                     "which --plain does not run"
                                   : "--profile is an option of run");
    if (o->log_lik && (!runs || !o->method->chains))
        return rt_fail(rt, GBM_USER_ERROR, "--log-lik is an option of run%s%s",
                       runs ? ", not with --method " : "",
                       runs ? o->method->name : "");
    if ((o->checkpoint || o->resume) && !runs)
        return rt_fail(rt, GBM_USER_ERROR, "%s is an option of run",
                       o->checkpoint ? "--checkpoint" : "--resume");
    if (rt_option_is_given(o, OPTION_EVERY) && !o->checkpoint)
        return refuse(rt, "--every goes with --checkpoint FILE");
    return GBM_OK;
}

/* Of mixtures, and of commands that read draws. */
static enum gbm_status fit_draws(struct rt *rt)
{
    const struct rt_options *o = &rt->options;
    if (o->clusters && o->command != RT_SUMMARY)
        return refuse(rt, "--clusters is an option of summary");
    if (o->relabel && o->command != RT_SUMMARY &&
        !(o->command == RT_RUN && o->method->chains))
        return refuse(rt, "--relabel is an option of summary, and of run with "
                          "draws: not of --method filter, or modes");
    if (o->reference && !o->relabel)
        return refuse(rt, "--reference goes with --relabel LIST");
    if (o->command == RT_SUMMARY && !o->file)
        return refuse(rt, "summary: which file? summary fit.nc");
    if (o->command == RT_COMPARE && o->nfiles < 2)
        return refuse(rt, "compare: two files or more are wanted: compare A.nc "
                          "B.nc");
    return GBM_OK;
}

enum gbm_status rt_options_fit(struct rt *rt)
{
    enum gbm_status s = fit_powers(rt);
    if (s == GBM_OK)
        s = fit_command(rt);
    return s == GBM_OK ? fit_draws(rt) : s;
}
