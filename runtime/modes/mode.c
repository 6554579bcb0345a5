/* mode.c: what methods that look for a mode share: starts, climbs, and which
 * of them to believe. */
#include "modes/mode.h"
#include "options/method.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Free numbers of what has bounds: beyond, it is at one but for rounding; or
 * suspiciously near. */
#define AT_BOUND 100.0
#define NEAR_BOUND 12.0

bool rt_mode_by_sweeps(const struct gbm_model *model)
{
    for (int v = 0; v < model->nvariables; v++)
        if (model->variables[v].weights)
            return true;
    return false;
}

static enum gbm_status refuse_options(struct rt *rt)
{
    const struct rt_options *o = &rt->options;
    const char *option = o->resume       ? "--resume"
                         : o->checkpoint ? "--checkpoint"
                         : o->until      ? "--until"
                         : o->plain      ? "--plain"
                         : o->profile    ? "--profile"
                                         : NULL;
    if (option)
        return rt_fail(rt, GBM_USER_ERROR, "%s is for chains, not --method %s",
                       option, rt->options.method->name);
    if (strncmp(o->device, "cuda", 4) == 0 && !rt_mode_by_sweeps(rt->model))
        return rt_fail(rt, GBM_USER_ERROR,
                       "--method %s on a GPU: not supported yet; --device cpu",
                       rt->options.method->name);
    return GBM_OK;
}

static enum gbm_status find_unknowns(struct rt_mode *m)
{
    void *state = calloc(1, m->in.model->state_size + 1);
    if (!state)
        return rt_fail(m->rt, GBM_FAILURE, "no memory");
    rt_bind(&m->in, state, 0);
    enum gbm_status s = rt_unknowns_create(m->rt, &m->in, state, &m->unknowns);
    free(state);
    m->unknowns.jacobian = m->rt->options.jacobian;
    if (s == GBM_OK && m->unknowns.dimension == 0)
        s = rt_fail(m->rt, GBM_USER_ERROR,
                    "nothing that is observed depends on a real number that "
                    "is not known: there is no mode to look for");
    return s;
}

static enum gbm_status create_climbs(struct rt_mode *m)
{
    const size_t n = (size_t)m->unknowns.dimension;
    m->climbs = calloc((size_t)m->in.nchains, sizeof *m->climbs);
    for (int c = 0; m->climbs && c < m->in.nchains; c++) {
        struct rt_climb *climb = &m->climbs[c];
        climb->u = calloc(n, sizeof *climb->u);
        if (!climb->u || !rt_gradient_create(&climb->gradient, &m->unknowns, c))
            return rt_fail(m->rt, GBM_FAILURE, "no memory");
        rt_refresh(&m->in, climb->gradient.state, c);
        rt_gradient_release(&climb->gradient, climb->u);
    }
    return m->climbs ? GBM_OK : rt_fail(m->rt, GBM_FAILURE, "no memory");
}

enum gbm_status rt_mode_check_output(struct rt *rt)
{
    struct rt_options *o = &rt->options;
    const char *dot = o->out ? strrchr(o->out, '.') : NULL;
    if (o->laplace > 0) {
        o->jacobian = true; /* the posterior of the free numbers */
        return GBM_OK;
    }
    if (o->out && (!dot || strcmp(dot, ".json") != 0))
        return rt_fail(rt, GBM_USER_ERROR,
                       "--out %s: a mode is written as JSON, a file for "
                       "--init: FILE.json is wanted",
                       o->out);
    return GBM_OK;
}

enum gbm_status rt_mode_prepare(struct rt_mode *m)
{
    struct rt *rt = m->rt;
    m->notes = rt->options.quiet ? NULL : stderr;
    m->best = -1;
    rt_catch_signals();
    enum gbm_status s = refuse_options(rt);
    if (s == GBM_OK)
        s = rt_read_data(rt, &m->data, m->notes);
    if (s == GBM_OK)
        s = rt_load(rt, &m->data, false, &m->in, m->notes);
    if (s == GBM_OK)
        s = rt_monitor(rt, &m->in, m->notes);
    if (s == GBM_OK)
        s = rt_start(rt, &m->in, m->notes);
    if (s == GBM_OK)
        s = find_unknowns(m);
    return s == GBM_OK ? create_climbs(m) : s;
}

void rt_mode_free(struct rt_mode *m)
{
    for (int c = 0; m->climbs && c < m->in.nchains; c++) {
        free(m->climbs[c].u);
        free(m->climbs[c].values);
        if (m->climbs[c].gradient.unknowns)
            rt_gradient_free(&m->climbs[c].gradient);
    }
    free(m->climbs);
    rt_unknowns_free(&m->unknowns);
    if (m->in.model)
        rt_instance_free(&m->in);
    gbm_data_free(&m->data);
}

/* ---- climbs ---- */

static double objective(void *context, const double *u, double *slope)
{
    return rt_gradient_at(context, u, slope);
}

/* The free number, of what has bounds, that is furthest out; -1: there is none.
 */
static int64_t furthest(const struct rt_unknowns *all, const double *u)
{
    int64_t far = -1;
    for (int64_t i = 0; i < all->n; i++) {
        const struct rt_unknown *k = &all->items[i];
        const struct gbm_family *f = &all->in->model->families[k->family];
        for (int c = 0; f->bounds && c < k->dimension; c++)
            if (far < 0 || fabs(u[k->first + c]) > fabs(u[far]))
                far = k->first + c;
    }
    return far;
}

static bool is_at_bound(void *context, const double *u, int64_t *which)
{
    const struct rt_gradient *g = context;
    *which = furthest(g->unknowns, u);
    return *which >= 0 && fabs(u[*which]) > AT_BOUND;
}

static void name_far(const struct rt_mode *m, struct rt_climb *climb, int64_t i)
{
    rt_unknown_name(&m->unknowns, i, climb->far, sizeof climb->far);
    climb->far_at = rt_unknown_value(&m->unknowns, climb->gradient.chain, i);
}

bool rt_climb_keep(struct rt_climb *c, double value)
{
    if (c->nvalues % 64 == 0)
        c->values =
            realloc(c->values, (size_t)(c->nvalues + 64) * sizeof *c->values);
    if (!c->values)
        abort();
    c->values[c->nvalues++] = value;
    return isfinite(value);
}

void rt_mode_tell_far(const struct rt_mode *m, struct rt_climb *climb)
{
    const int64_t far = furthest(&m->unknowns, climb->u);
    if (far >= 0 && fabs(climb->u[far]) > NEAR_BOUND)
        name_far(m, climb, far);
}

void rt_mode_climb(const struct rt_mode *m, struct rt_climb *climb)
{
    struct rt_lbfgs search = {.n = m->unknowns.dimension,
                              .objective = objective,
                              .outside = is_at_bound,
                              .context = &climb->gradient,
                              .most = m->rt->options.iterations,
                              .stopped = rt_stopped};
    climb->end = rt_lbfgs(&search, climb->u);
    climb->value = search.value;
    climb->decrement = search.decrement;
    climb->iterations = search.iterations;
    rt_gradient_constrain(&climb->gradient, climb->u);
    if (climb->end == RT_ASCENT_UNBOUNDED)
        name_far(m, climb, search.far);
    else
        rt_mode_tell_far(m, climb);
}

static void say_why(const struct rt_climb *c, bool jacobian, char *out,
                    size_t capacity)
{
    static const char *const ends[] = {
        [RT_ASCENT_CONVERGED] = "it came to a mode",
        [RT_ASCENT_STUCK] = "no step upwards was found, though the gradient is "
                            "not 0 (an edge of the support, or a kink?)",
        [RT_ASCENT_UNBOUNDED] = "the density grows without end",
        [RT_ASCENT_LIMIT] = "not done; --iterations allows more",
        [RT_ASCENT_STOPPED] = "stopped"};
    int n = snprintf(out, capacity, "log density %.6g after %d iterations: %s",
                     c->value, c->iterations, ends[c->end]);
    if (c->far[0] && n > 0 && (size_t)n < capacity)
        snprintf(out + n, capacity - (size_t)n,
                 "; %s has come to %.3g, near an end of its range: the density "
                 "may grow "
                 "without end there, as that of a variance of which all that "
                 "has it goes along%s",
                 c->far, c->far_at,
                 jacobian ? ""
                          : "; with --jacobian the mode is sought in free "
                            "numbers, where a share's is not at 0 or 1");
}

static void note_stopped(struct rt_mode *m)
{
    int highest = -1;
    for (int c = 0; c < m->in.nchains; c++) {
        const struct rt_climb *climb = &m->climbs[c];
        if (climb->end != RT_ASCENT_STOPPED)
            continue;
        m->stopped = true;
        if (isfinite(climb->value) &&
            (highest < 0 || climb->value > m->climbs[highest].value))
            highest = c;
    }
    if (m->best < 0)
        m->best = highest;
}

enum gbm_status rt_mode_choose(struct rt_mode *m)
{
    char text[512];
    for (int c = 0; c < m->in.nchains; c++) {
        const struct rt_climb *climb = &m->climbs[c];
        if (climb->end == RT_ASCENT_CONVERGED &&
            (m->best < 0 || climb->value > m->climbs[m->best].value))
            m->best = c;
    }
    for (int c = 0; m->notes && c < m->in.nchains; c++)
        if (m->climbs[c].end != RT_ASCENT_CONVERGED && m->best >= 0) {
            say_why(&m->climbs[c], m->unknowns.jacobian, text, sizeof text);
            fprintf(m->notes, "warning: start %d: %s\n", c + 1, text);
        }
    if (rt_stopped())
        note_stopped(m);
    if (m->best >= 0)
        return GBM_OK;
    say_why(&m->climbs[0], m->unknowns.jacobian, text, sizeof text);
    return rt_fail(m->rt, GBM_FAILURE, "no mode was found: %s", text);
}
