/* marks.c: lists of names, "alpha,theta[1:3]": the cells that they mark. */
#include "record/marks.h"
#include "record/record.h"
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

struct marker {
    struct rt *rt;
    const struct rt_instance *in;
    const char *option;
    FILE *notes;
    struct rt_marks *marks;
    bool *deviance;
};

bool rt_may_keep(const struct rt_instance *in, int v)
{
    const struct gbm_variable *variable = &in->model->variables[v];
    return (variable->role == GBM_STOCHASTIC ||
            variable->role == GBM_DERIVED) &&
           !variable->part && !variable->hidden && in->slots[v].per_chain;
}

bool rt_may_keep_cell(const struct rt_slot *slot, int64_t cell)
{
    return !rt_seen(slot, cell) && !(slot->defined && !slot->defined[cell]);
}

static const char *variable_name(const void *context, int i)
{
    const struct rt_instance *in = context;
    return rt_may_keep(in, i) ? in->model->variables[i].name : NULL;
}

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

static enum gbm_status bad_subscript(struct marker *m, int v, const char *item)
{
    const struct gbm_variable *variable = &m->in->model->variables[v];
    char shape[128] = "";
    size_t at = 0;
    for (int d = 0; d < variable->ndim && at < sizeof shape; d++)
        at += (size_t)snprintf(shape + at, sizeof shape - at, "%s%d",
                               d ? "," : "", m->in->slots[v].dim[d]);
    return rt_fail(m->rt, GBM_USER_ERROR,
                   "%s '%s': subscripts of %s[%s] are wanted", m->option, item,
                   variable->name, shape);
}

/* The marks of a variable, all 0 at its first mention. */
static unsigned char *marks_of(struct marker *m, int v)
{
    int64_t n = m->in->slots[v].cells;
    if (!m->marks->cells[v]) {
        m->marks->cells[v] = calloc((size_t)(n ? n : 1), 1);
        m->marks->order[m->marks->count++] = v;
    }
    if (!m->marks->cells[v])
        rt_fail(m->rt, GBM_FAILURE, "no memory");
    return m->marks->cells[v];
}

/* Marks the cells of "name[1:3,2]"; `inside` is what stands in brackets. */
static enum gbm_status mark_part(struct marker *m, int v, const char *item,
                                 const char *inside)
{
    const struct gbm_variable *variable = &m->in->model->variables[v];
    const struct rt_slot *slot = &m->in->slots[v];
    int first[GBM_MAX_DIMS], last[GBM_MAX_DIMS];
    for (int d = 0; d < variable->ndim; d++) {
        size_t length = strcspn(inside, ",]");
        char expected = d + 1 < variable->ndim ? ',' : ']';
        if (inside[length] != expected ||
            !parse_range(inside, length, slot->dim[d], &first[d], &last[d]))
            return bad_subscript(m, v, item);
        inside += length + 1;
    }
    if (variable->ndim == 0 || *inside != '\0')
        return bad_subscript(m, v, item);
    unsigned char *wanted = marks_of(m, v);
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
    return m->rt->status;
}

static enum gbm_status mark_all(struct marker *m, int v)
{
    unsigned char *wanted = marks_of(m, v);
    if (wanted)
        memset(wanted, 1, (size_t)m->in->slots[v].cells);
    return m->rt->status;
}

static enum gbm_status mark_everything(struct marker *m)
{
    for (int v = 0; v < m->in->model->nvariables && m->rt->status == GBM_OK;
         v++)
        if (rt_may_keep(m->in, v))
            mark_all(m, v);
    return m->rt->status;
}

static enum gbm_status mark_named(struct marker *m, char *item)
{
    if (strcmp(item, "all") == 0)
        return mark_everything(m);
    char *bracket = strchr(item, '[');
    size_t length = bracket ? (size_t)(bracket - item) : strlen(item);
    for (int v = 0; v < m->in->model->nvariables; v++) {
        const struct gbm_variable *variable = &m->in->model->variables[v];
        int scalar = rt_scalar_called(variable, item, length);
        if (((strncmp(variable->name, item, length) != 0 ||
              variable->name[length] != '\0') &&
             scalar < 0) ||
            variable->part || variable->role > GBM_DERIVED ||
            (variable->role == GBM_GIVEN && variable->follows))
            continue;
        if (!rt_may_keep(m->in, v)) {
            if (m->notes)
                fprintf(m->notes,
                        "note: %s %s: left out, as its values are data or "
                        "follow from them\n",
                        m->option, item);
            return GBM_OK;
        }
        if (scalar >= 0 && !bracket) {
            unsigned char *wanted = marks_of(m, v);
            if (wanted)
                wanted[scalar] = 1;
            return m->rt->status;
        }
        return bracket ? mark_part(m, v, item, bracket + 1) : mark_all(m, v);
    }
    if (m->deviance && strcmp(item, "deviance") == 0) {
        *m->deviance = true; /* unless a node is called so */
        return GBM_OK;
    }
    item[length] = '\0';
    const char *near = rt_nearest(item, m->in->model->nvariables, variable_name,
                                  (const void *)m->in);
    return rt_fail(m->rt, GBM_USER_ERROR,
                   "%s %s: the model has no such variable%s%s%s", m->option,
                   item, near ? ": did you mean " : "", near ? near : "",
                   near ? "?" : "");
}

static enum gbm_status mark_list(struct marker *m, const char *list)
{
    size_t n;
    for (const char *at; (at = rt_next_name(&list, &n));) {
        char *item = strndup(at, n);
        enum gbm_status s = item ? mark_named(m, item)
                                 : rt_fail(m->rt, GBM_FAILURE, "no memory");
        free(item);
        if (s != GBM_OK)
            return s;
    }
    return GBM_OK;
}

enum gbm_status rt_marks_read(struct rt *rt, const struct rt_instance *in,
                              const char *option, const char *list, FILE *notes,
                              struct rt_marks *marks, bool *deviance)
{
    struct marker m = {rt, in, option, notes, marks, deviance};
    size_t n = (size_t)in->model->nvariables + 1;
    *marks = (struct rt_marks){.cells = calloc(n, sizeof *marks->cells),
                               .order = calloc(n, sizeof *marks->order)};
    if (!marks->cells || !marks->order)
        return rt_fail(rt, GBM_FAILURE, "no memory");
    return mark_list(&m, list);
}

void rt_marks_free(const struct rt_instance *in, struct rt_marks *marks)
{
    for (int v = 0; marks->cells && v < in->model->nvariables; v++)
        free(marks->cells[v]);
    free(marks->cells);
    free(marks->order);
    *marks = (struct rt_marks){0};
}
