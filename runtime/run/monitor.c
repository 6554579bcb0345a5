/* monitor.c: what is kept of a draw. */
#include "run/run.h"
#include "io/data.h"

#include <stdlib.h>
#include <string.h>

/* Without --monitor: variables up to this many cells in all are kept. */
#define SMALL 10000
#define SMALL_DERIVED 1000
#define SMALL_BYTES (2e9) /* of all draws */

struct chooser {
    struct rt *rt;
    struct rt_instance *in;
    const struct gbm_model *model;
    FILE *notes;
    /* of --monitor: which cells of a variable are named; NULL: none */
    unsigned char **wanted;
    int *order, nordered; /* variables in the order of their first mention */
};

/* Can it be monitored: does the run draw or compute some of its cells? */
static bool drawn(const struct rt_instance *in, int v)
{
    const struct gbm_variable *variable = &in->model->variables[v];
    return (variable->role == GBM_STOCHASTIC ||
            variable->role == GBM_DERIVED) &&
           !variable->part && !variable->hidden && in->slots[v].per_chain;
}

static bool drawn_cell(const struct rt_slot *slot, int64_t cell)
{
    return !rt_seen(slot, cell) && !(slot->defined && !slot->defined[cell]);
}

static int64_t drawn_cells(const struct rt_slot *slot)
{
    int64_t n = 0;
    if (!slot->seen && !slot->defined)
        return slot->cells;
    for (int64_t i = 0; i < slot->cells; i++)
        n += drawn_cell(slot, i);
    return n;
}

static const char *variable_name(const void *context, int i)
{
    const struct rt_instance *in = context;
    return drawn(in, i) ? in->model->variables[i].name : NULL;
}

/* Adds a monitor of the cells that `wanted` marks (NULL: all that is drawn). */
static enum gbm_status add_cells(struct chooser *c, int v,
                                 const unsigned char *wanted)
{
    struct rt_instance *in = c->in;
    const struct rt_slot *slot = &in->slots[v];
    int64_t n = 0;
    for (int64_t i = 0; i < slot->cells; i++)
        n += drawn_cell(slot, i) && (!wanted || wanted[i]);
    if (n == 0)
        return GBM_OK;
    struct rt_monitor *more = realloc(
        in->monitors, ((size_t)in->nmonitors + 1) * sizeof *in->monitors);
    if (!more)
        return rt_fail(c->rt, GBM_FAILURE, "no memory");
    in->monitors = more;
    struct rt_monitor m = {.variable = v, .count = n, .offset = in->row};
    if (n < slot->cells) {
        m.cells = malloc((size_t)n * sizeof *m.cells);
        if (!m.cells)
            return rt_fail(c->rt, GBM_FAILURE, "no memory");
        int64_t k = 0;
        for (int64_t i = 0; i < slot->cells; i++)
            if (drawn_cell(slot, i) && (!wanted || wanted[i]))
                m.cells[k++] = i;
    }
    in->monitors[in->nmonitors++] = m;
    in->row += n;
    return GBM_OK;
}

/* The same; scalars with names of their own are variables of the draws. */
static enum gbm_status add(struct chooser *c, int v,
                           const unsigned char *wanted)
{
    int64_t n = c->in->slots[v].cells;
    if (!c->model->variables[v].names)
        return add_cells(c, v, wanted);
    unsigned char *one = calloc((size_t)n + 1, 1);
    enum gbm_status s = one ? GBM_OK : rt_fail(c->rt, GBM_FAILURE, "no memory");
    for (int64_t i = 0; i < n && s == GBM_OK; i++) {
        one[i] = 1;
        if (!wanted || wanted[i])
            s = add_cells(c, v, one);
        one[i] = 0;
    }
    free(one);
    return s;
}

/* ---- --monitor LIST ---- */

/* One subscript range "", "3" or "1:4" of an extent; false if it is bad. */
static bool parse_range(const char *text, size_t length, int extent, int *first,
                        int *last)
{
    char copy[64], *end;
    size_t skip = strspn(text, " ");
    skip = skip < length ? skip : length;
    text += skip;
    length -= skip;
    while (length > 0 && text[length - 1] == ' ')
        length--;
    *first = 1;
    *last = extent;
    if (length == 0)
        return true;
    snprintf(copy, sizeof copy, "%.*s", (int)(length < 63 ? length : 63), text);
    *first = *last = (int)strtol(copy, &end, 10);
    if (*end == ':')
        *last = (int)strtol(end + 1, &end, 10);
    return *end == '\0' && *first >= 1 && *last <= extent && *first <= *last;
}

static enum gbm_status bad_subscript(struct chooser *c, int v, const char *item)
{
    const struct gbm_variable *variable = &c->model->variables[v];
    char shape[128] = "";
    size_t at = 0;
    for (int d = 0; d < variable->ndim && at < sizeof shape; d++)
        at += (size_t)snprintf(shape + at, sizeof shape - at, "%s%d",
                               d ? "," : "", c->in->slots[v].dim[d]);
    return rt_fail(c->rt, GBM_USER_ERROR,
                   "--monitor '%s': subscripts of %s[%s] are wanted", item,
                   variable->name, shape);
}

/* The marks of a variable, all 0 at its first mention. */
static unsigned char *marks_of(struct chooser *c, int v)
{
    int64_t n = c->in->slots[v].cells;
    if (!c->wanted[v]) {
        c->wanted[v] = calloc((size_t)(n ? n : 1), 1);
        c->order[c->nordered++] = v;
    }
    if (!c->wanted[v])
        rt_fail(c->rt, GBM_FAILURE, "no memory");
    return c->wanted[v];
}

/* Marks the cells of "name[1:3,2]"; `inside` is what stands in brackets. */
static enum gbm_status mark_part(struct chooser *c, int v, const char *item,
                                 const char *inside)
{
    const struct gbm_variable *variable = &c->model->variables[v];
    const struct rt_slot *slot = &c->in->slots[v];
    int first[GBM_MAX_DIMS], last[GBM_MAX_DIMS];
    for (int d = 0; d < variable->ndim; d++) {
        size_t length = strcspn(inside, ",]");
        char expected = d + 1 < variable->ndim ? ',' : ']';
        if (inside[length] != expected ||
            !parse_range(inside, length, slot->dim[d], &first[d], &last[d]))
            return bad_subscript(c, v, item);
        inside += length + 1;
    }
    if (variable->ndim == 0 || *inside != '\0')
        return bad_subscript(c, v, item);
    unsigned char *wanted = marks_of(c, v);
    for (int64_t i = 0; wanted && i < slot->cells; i++) {
        int64_t rest = i;
        bool in_range = true;
        for (int d = variable->ndim - 1; d >= 0; d--) {
            int at = (int)(rest % slot->dim[d]) + 1;
            rest /= slot->dim[d];
            in_range = in_range && at >= first[d] && at <= last[d];
        }
        wanted[i] = wanted[i] || in_range;
    }
    return c->rt->status;
}

static enum gbm_status mark_all(struct chooser *c, int v)
{
    unsigned char *wanted = marks_of(c, v);
    if (wanted)
        memset(wanted, 1, (size_t)c->in->slots[v].cells);
    return c->rt->status;
}

static enum gbm_status mark_everything(struct chooser *c)
{
    for (int v = 0; v < c->model->nvariables && c->rt->status == GBM_OK; v++)
        if (drawn(c->in, v))
            mark_all(c, v);
    return c->rt->status;
}

static enum gbm_status mark_named(struct chooser *c, char *item)
{
    if (strcmp(item, "all") == 0)
        return mark_everything(c);
    char *bracket = strchr(item, '[');
    size_t length = bracket ? (size_t)(bracket - item) : strlen(item);
    for (int v = 0; v < c->model->nvariables; v++) {
        const struct gbm_variable *variable = &c->model->variables[v];
        int scalar = rt_scalar_called(variable, item, length);
        if (((strncmp(variable->name, item, length) != 0 ||
              variable->name[length] != '\0') &&
             scalar < 0) ||
            variable->part || variable->role > GBM_DERIVED ||
            (variable->role == GBM_GIVEN && variable->follows))
            continue;
        if (!drawn(c->in, v)) {
            if (c->notes)
                fprintf(c->notes,
                        "note: --monitor %s: left out, as its values are data "
                        "or follow from them\n",
                        item);
            return GBM_OK;
        }
        if (scalar >= 0 && !bracket) {
            unsigned char *wanted = marks_of(c, v);
            if (wanted)
                wanted[scalar] = 1;
            return c->rt->status;
        }
        return bracket ? mark_part(c, v, item, bracket + 1) : mark_all(c, v);
    }
    if (strcmp(item, "deviance") == 0) { /* unless a node is called so */
        c->in->deviance = true;
        return GBM_OK;
    }
    item[length] = '\0';
    const char *near =
        rt_nearest(item, c->model->nvariables, variable_name, c->in);
    return rt_fail(c->rt, GBM_USER_ERROR,
                   "--monitor %s: the model has no such variable%s%s%s", item,
                   near ? ": did you mean " : "", near ? near : "",
                   near ? "?" : "");
}

static enum gbm_status mark_list(struct chooser *c, const char *list)
{
    char *copy = malloc(strlen(list) + 1);
    enum gbm_status s = GBM_OK;
    if (!copy)
        return rt_fail(c->rt, GBM_FAILURE, "no memory");
    memcpy(copy, list, strlen(list) + 1);
    for (char *p = copy; *p && s == GBM_OK;) {
        p += strspn(p, ", \t\n");
        char *item = p;
        int depth = 0;
        while (*p && (depth > 0 || !strchr(", \t\n", *p))) {
            depth += (*p == '[') - (*p == ']');
            p++;
        }
        if (*p)
            *p++ = '\0';
        if (*item)
            s = mark_named(c, item);
    }
    free(copy);
    return s;
}

static enum gbm_status add_list(struct chooser *c, const char *list)
{
    size_t n = (size_t)c->model->nvariables + 1;
    c->wanted = calloc(n, sizeof *c->wanted);
    c->order = calloc(n, sizeof *c->order);
    enum gbm_status s = c->wanted && c->order
                            ? mark_list(c, list)
                            : rt_fail(c->rt, GBM_FAILURE, "no memory");
    for (int k = 0; k < c->nordered; k++) {
        int v = c->order[k];
        if (s == GBM_OK)
            s = add(c, v, c->wanted[v]);
        free(c->wanted[v]);
    }
    free(c->wanted);
    free(c->order);
    return s;
}

/* ---- without --monitor ---- */

/* Stochastic variables first, in the model's order, as long as it is small;
 * the others' moments; then derived ones. */
static enum gbm_status add_small(struct chooser *c, FILE *notes)
{
    struct rt_instance *in = c->in;
    const struct rt_options *o = &c->rt->options;
    double per_cell = 8.0 * o->chains * ((o->planned - 1) / o->thin + 1);
    int64_t limit = SMALL;
    if (per_cell * (double)limit > SMALL_BYTES)
        limit = (int64_t)(SMALL_BYTES / per_cell) + 1;
    enum gbm_status s = GBM_OK;
    for (int pass = 0; pass < 2; pass++)
        for (int v = 0; v < c->model->nvariables && s == GBM_OK; v++) {
            const struct gbm_variable *variable = &c->model->variables[v];
            bool derived = variable->role == GBM_DERIVED;
            if (!drawn(in, v) || derived != (pass == 1))
                continue;
            int64_t n = drawn_cells(&in->slots[v]);
            if (n == 0)
                continue;
            if (variable->names ||
                (in->row + n <= limit && (!derived || n <= SMALL_DERIVED))) {
                s = add(c, v, NULL);
            } else if (!derived) {
                in->slots[v].moments = in->has_moments = true;
                if (notes)
                    fprintf(notes,
                            "note: of %s (%lld values) only means and standard "
                            "deviations are kept; --monitor keeps draws\n",
                            variable->name, (long long)n);
            } else if (notes) {
                fprintf(notes,
                        "note: %s (%lld values) is not kept; --monitor keeps "
                        "it\n",
                        variable->name, (long long)n);
            }
        }
    return s;
}

/* ---- derived families that kept draws need ---- */

/* Monitored ones; and those that are read, where leaves that are drawn after
 * the sweep's steps may have changed them. */
static enum gbm_status list_kept_families(struct chooser *c)
{
    const struct gbm_model *m = c->model;
    struct rt_instance *in = c->in;
    bool leaves = false;
    in->kept_families =
        malloc(((size_t)m->nfamilies + 1) * sizeof *in->kept_families);
    if (!in->kept_families)
        return rt_fail(c->rt, GBM_FAILURE, "no memory");
    for (int k = 0; k < m->nsteps; k++)
        leaves = leaves || (m->steps[k].leaf && in->steps[k].active);
    for (int f = 0; f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        bool wanted = leaves && rt_is_read(m, f);
        for (int k = 0; k < in->nmonitors; k++)
            wanted = wanted || in->monitors[k].variable == fam->variable;
        if (fam->stochastic || fam->data_block || !wanted)
            continue;
        in->kept_families[in->nkept_families++] = f;
    }
    return GBM_OK;
}

enum gbm_status rt_monitor(struct rt *rt, struct rt_instance *in, FILE *notes)
{
    struct chooser c = {.rt = rt, .in = in, .model = in->model, .notes = notes};
    const char *list = rt->options.monitor;
    enum gbm_status s = list ? add_list(&c, list) : add_small(&c, notes);
    if (s == GBM_OK && in->deviance && rt->options.command != RT_RUN)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--monitor deviance is for run: it is that of data");
    if (s == GBM_OK && in->row == 0 && !in->has_moments && !in->deviance)
        s = rt_fail(rt, GBM_USER_ERROR,
                    list ? "--monitor names nothing that is drawn"
                         : "there is nothing to draw: all variables have data "
                           "or follow from them");
    return s == GBM_OK ? list_kept_families(&c) : s;
}

/* ---- the draws' table of contents ---- */

static enum gbm_status add_draws(const struct rt_instance *in,
                                 const struct rt_monitor *m,
                                 struct gbm_draws *draws)
{
    const struct gbm_variable *v = &in->model->variables[m->variable];
    const struct rt_slot *slot = &in->slots[m->variable];
    if (v->names)
        return gbm_draws_add_variable(draws, v->names[m->cells ? *m->cells : 0],
                                      0, slot->dim, v->integer);
    if (!m->cells)
        return gbm_draws_add_variable(draws, v->name, v->ndim, slot->dim,
                                      v->integer);
    double *filled = malloc((size_t)slot->cells * sizeof *filled);
    if (!filled)
        return GBM_FAILURE;
    for (int64_t i = 0; i < slot->cells; i++)
        filled[i] = rt_seen(slot, i) ? rt_value(slot, v->integer, 0, i)
                                     : (double)__builtin_nan("");
    enum gbm_status s =
        gbm_draws_add_partial(draws, v->name, v->ndim, slot->dim, v->integer,
                              m->count, m->cells, filled);
    free(filled);
    return s;
}

enum gbm_status rt_monitor_draws(struct rt *rt, const struct rt_instance *in,
                                 const struct gbm_data *data,
                                 struct gbm_draws *draws)
{
    enum gbm_status s = GBM_OK;
    for (int k = 0; k < in->nmonitors && s == GBM_OK; k++)
        s = add_draws(in, &in->monitors[k], draws);
    for (int v = 0; v < in->model->nvariables && s == GBM_OK; v++) {
        const struct gbm_variable *variable = &in->model->variables[v];
        const char *const one[] = {variable->name, NULL};
        const char *const *names = variable->names ? variable->names : one;
        for (; *names && s == GBM_OK && variable->role <= GBM_STOCHASTIC;
             names++) {
            const struct gbm_array *a = gbm_data_find(data, *names);
            if (a)
                s = variable->role == GBM_STOCHASTIC
                        ? gbm_draws_add_observed(draws, a)
                        : gbm_draws_add_constant(draws, a);
        }
    }
    draws->model = in->model->name;
    draws->version = in->model->version;
    draws->seed = rt->options.seed;
    draws->thin = rt->options.thin;
    draws->warmup = rt->options.warmup;
    return s == GBM_OK ? s : rt_fail(rt, s, "no memory for the draws");
}
