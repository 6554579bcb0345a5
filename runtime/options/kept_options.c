/* kept_options.c: options that make a run what it is: what a checkpoint keeps
 * of the command line. */
#include "options/option.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    enum option_id id;
    bool ends; /* only says when a run ends */
} kept[] = {
    {OPTION_SEED, false},      {OPTION_CHAINS, false},
    {OPTION_WARMUP, false},    {OPTION_THIN, false},
    {OPTION_MONITOR, false},   {OPTION_LP, false},
    {OPTION_LOG_LIK, false},   {OPTION_MOMENTS, false},
    {OPTION_DEVICE, false},    {OPTION_POWER, false},
    {OPTION_TEMPER, false},    {OPTION_PRECISION, false},
    {OPTION_PLAIN, false},     {OPTION_START, false},
    {OPTION_DRAWS, true},      {OPTION_UNTIL, true},
    {OPTION_METHOD, false},    {OPTION_REPLICAS, false},
    {OPTION_SEQUENCE, false},  {OPTION_PARTICLES, false},
    {OPTION_PROPOSAL, false},  {OPTION_RELABEL, false},
    {OPTION_REFERENCE, false}, {OPTION_STEPS, false},
    {OPTION_MOVES, false},
};
#define NKEPT ((int)(sizeof kept / sizeof kept[0]))

const char *rt_kept_option(int k)
{
    return k < NKEPT ? rt_option_of(kept[k].id)->name : NULL;
}

static const char *integer_text(int value, char buffer[RT_OPTION_TEXT])
{
    snprintf(buffer, RT_OPTION_TEXT, "%d", value);
    return buffer;
}

static const char *value_text(const struct rt_options *o, enum option_id id,
                              char buffer[RT_OPTION_TEXT])
{
    switch (id) {
    case OPTION_SEED:
        snprintf(buffer, RT_OPTION_TEXT, "%llu", (unsigned long long)o->seed);
        return buffer;
    case OPTION_CHAINS:
        return integer_text(o->chains / o->beside, buffer);
    case OPTION_METHOD:
        return o->method->name;
    case OPTION_REPLICAS:
        return integer_text(o->replicas, buffer);
    case OPTION_WARMUP: /* both may follow from the particles */
        return o->method->own_sweeps ? NULL : integer_text(o->warmup, buffer);
    case OPTION_DRAWS:
        return o->method->own_sweeps ? NULL : integer_text(o->draws, buffer);
    case OPTION_PARTICLES:
        return o->method->particles ? integer_text(o->particles, buffer) : NULL;
    case OPTION_PROPOSAL:
        return !o->method->filters ? NULL : o->guided ? "guided" : "prior";
    case OPTION_STEPS:
        return o->steps ? integer_text(o->steps, buffer) : NULL;
    case OPTION_MOVES:
        return o->moves ? integer_text(o->moves, buffer) : NULL;
    case OPTION_THIN:
        return integer_text(o->thin, buffer);
    case OPTION_MONITOR:
        return o->monitor;
    case OPTION_MOMENTS:
        return o->moments;
    case OPTION_RELABEL:
        return o->relabel;
    case OPTION_REFERENCE:
        return o->reference;
    case OPTION_UNTIL:
        return o->until;
    case OPTION_POWER:
        snprintf(buffer, RT_OPTION_TEXT, "%.17g", o->power);
        return buffer;
    case OPTION_TEMPER:
        return o->temper;
    case OPTION_SEQUENCE:
        return o->sequence;
    case OPTION_LP:
        return o->lp ? RT_OPTION_SET : NULL;
    case OPTION_LOG_LIK:
        return o->log_lik ? RT_OPTION_SET : NULL;
    case OPTION_PLAIN:
        return o->plain ? RT_OPTION_SET : NULL;
    case OPTION_PRECISION:
        return rt_precisions[o->precision];
    case OPTION_START:
        return rt_starts[o->starts];
    case OPTION_DEVICE: /* its kind; NULL: not settled */
        return strncmp(o->device, "cuda", 4) == 0 ? "cuda"
               : strcmp(o->device, "auto") == 0   ? NULL
                                                  : o->device;
    default:
        return NULL;
    }
}

static int kept_number(const char *name)
{
    int k = 0;
    while (strcmp(rt_kept_option(k), name) != 0)
        k++;
    return k;
}

const char *rt_option_text(const struct rt_options *o, const char *name,
                           char buffer[RT_OPTION_TEXT])
{
    return value_text(o, kept[kept_number(name)].id, buffer);
}

enum gbm_status rt_option_take(struct rt *rt, const char *name,
                               const char *text)
{
    int k = kept_number(name);
    char buffer[RT_OPTION_TEXT];
    const char *own = value_text(&rt->options, kept[k].id, buffer);
    bool given = own && rt_option_is_given(&rt->options, kept[k].id);
    if (given && !kept[k].ends)
        return text && strcmp(own, text) == 0 ? GBM_OK : GBM_USER_ERROR;
    if (given || !text)
        return GBM_OK;
    return rt_option_set(rt, rt_option_of(kept[k].id), text);
}

enum gbm_status rt_option_add_init(struct rt *rt, const char *file)
{
    struct rt_options *o = &rt->options;
    const char **more = realloc(o->init, ((size_t)o->ninit + 1) * sizeof *more);
    if (!more)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    o->init = more;
    o->init[o->ninit++] = file;
    return GBM_OK;
}
