/* mode_report.c: a mode for people, for programs, and as starting values. */
#include "modes/mode.h"
#include "options/method.h"
#include "io/output.h"
#include "host/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 60 };
/* Starts that came to one mode agree so well. */
#define SAME_VALUE 1e-6
#define SAME_PLACE 1e-3

/* ---- what has a mode: not what is drawn forward, or computed from that ----
 */

struct marks {
    const struct rt_instance *in;
    unsigned char **cells; /* [nvariables] */
    bool *any;
    bool found;
};

static void look(void *context, int variable, int64_t cell)
{
    struct marks *k = context;
    if (k->cells[variable])
        k->found = k->found || (cell < 0 ? k->any[variable]
                                         : k->cells[variable][cell] != 0);
}

static void mark(struct marks *k, int f, int64_t e, const void *state,
                 struct rt_cells *buffer)
{
    const struct gbm_family *fam = &k->in->model->families[f];
    const int v = fam->variable;
    int64_t n = rt_element_cells(fam, state, e, buffer);
    if (!k->cells[v])
        k->cells[v] = calloc((size_t)k->in->slots[v].cells + 1, 1);
    if (!k->cells[v])
        abort();
    k->any[v] = true;
    for (int64_t i = 0; i < n; i++)
        k->cells[v][buffer->cells[i]] = 1;
}

static void find_marks(struct marks *k, const struct rt_mode *m,
                       const void *state)
{
    const struct rt_instance *in = &m->in;
    struct rt_cells buffer = {0};
    *k = (struct marks){.in = in};
    k->cells = calloc((size_t)in->model->nvariables + 1, sizeof *k->cells);
    k->any = calloc((size_t)in->model->nvariables + 1, sizeof *k->any);
    if (!k->cells || !k->any)
        abort();
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        for (int64_t e = 0; !fam->data_block && e < in->elements[f]; e++) {
            k->found = m->unknowns.forward[f] && m->unknowns.forward[f][e];
            if (!fam->stochastic && fam->parents)
                fam->parents(state, e, look, k);
            if (k->found)
                mark(k, f, e, state, &buffer);
        }
    }
    free(buffer.cells);
}

static void free_marks(struct marks *k)
{
    for (int v = 0; k->cells && v < k->in->model->nvariables; v++)
        free(k->cells[v]);
    free(k->cells);
    free(k->any);
}

/* ---- the mode, cell by cell ---- */

typedef void put_row(void *context, const char *name, double value);

static int64_t for_each_row(const struct rt_mode *m, const struct marks *k,
                            put_row *put, void *context)
{
    int64_t rows = 0;
    for (int i = 0; i < m->in.nmonitors; i++) {
        const struct rt_monitor *monitor = &m->in.monitors[i];
        const int v = monitor->variable;
        for (int64_t c = 0; c < monitor->count; c++) {
            const int64_t cell = monitor->cells ? monitor->cells[c] : c;
            char name[256];
            if (k->cells[v] && k->cells[v][cell])
                continue;
            rt_cell_name(&m->in, v, cell, name, sizeof name);
            put(context, name,
                rt_value(&m->in.slots[v], m->in.model->variables[v].integer,
                         m->best, cell));
            rows++;
        }
    }
    return rows;
}

/* ---- starts ---- */

static bool is_same(const struct rt_mode *m, int c)
{
    const struct rt_climb *a = &m->climbs[m->best], *b = &m->climbs[c];
    if (b->end != RT_ASCENT_CONVERGED ||
        fabs(a->value - b->value) > SAME_VALUE * (1 + fabs(a->value)))
        return false;
    for (int64_t i = 0; i < m->unknowns.dimension; i++)
        if (fabs(a->u[i] - b->u[i]) > SAME_PLACE * (1 + fabs(a->u[i])) &&
            !(fabs(a->u[i]) > 10 && fabs(b->u[i]) > 10)) /* on a bound */
            return false;
    return true;
}

static void print_starts(const struct rt_mode *m)
{
    int same = 0, others = 0;
    double next = -INFINITY;
    for (int c = 0; c < m->in.nchains; c++) {
        const struct rt_climb *climb = &m->climbs[c];
        if (is_same(m, c)) {
            same++;
        } else if (climb->end == RT_ASCENT_CONVERGED) {
            others++;
            next = fmax(next, climb->value);
        }
    }
    printf("%d of %d start%s came to this mode", same, m->in.nchains,
           m->in.nchains == 1 ? "" : "s");
    if (others > 0)
        printf(", %d to others (log density %.6g at the next)", others, next);
    printf("\n\n");
}

/* ---- the table ---- */

struct table {
    int width;
    int64_t row, most;
};

static void measure(void *context, const char *name, double value)
{
    struct table *t = context;
    (void)value;
    if (t->row++ < t->most && (int)strlen(name) > t->width)
        t->width = (int)strlen(name);
}

static void print_row(void *context, const char *name, double value)
{
    struct table *t = context;
    if (t->row++ < t->most)
        printf("%-*s  %12.6g\n", t->width, name, value);
}

static void print(const struct rt_mode *m, const struct marks *k)
{
    const struct rt_climb *best = &m->climbs[m->best];
    struct table t = {.most = ROWS};
    printf("%s of the %s%s: %.10g, after %d iteration%s\n",
           m->best >= 0 && m->climbs[m->best].end == RT_ASCENT_CONVERGED
               ? "mode"
               : "highest point so far",
           m->what,
           m->unknowns.jacobian ? " (of free numbers: with the Jacobian)" : "",
           best->value, best->iterations, best->iterations == 1 ? "" : "s");
    print_starts(m);
    if (best->far[0])
        printf("Warning: %s is %.3g, near an end of its range: the mode is "
               "there, or "
               "there is none\nas the density grows without end.%s\n\n",
               best->far, best->far_at,
               m->unknowns.jacobian ? ""
                                    : " With --jacobian it is sought in free "
                                      "numbers,\nwhere a share's is not at 0 "
                                      "or 1.");
    for_each_row(m, k, measure, &t);
    t.row = 0;
    printf("%-*s  %12s\n", t.width, "", "mode");
    int64_t rows = for_each_row(m, k, print_row, &t);
    if (rows > ROWS)
        printf("... and %lld more rows. --summary FILE.json writes all of "
               "them.\n",
               (long long)(rows - ROWS));
}

/* ---- files ---- */

static void put_number(struct rt_out *out, double x, int digits)
{
    if (isfinite(x))
        rt_out_format(out, "%.*g", digits, x);
    else
        rt_out_text(out, "null");
}

struct json {
    struct rt_out *out;
    bool first;
};

static void put_mode(void *context, const char *name, double value)
{
    struct json *j = context;
    rt_out_format(j->out, "%s    \"%s\": {\"mode\": ", j->first ? "\n" : ",\n",
                  name);
    put_number(j->out, value, 10);
    rt_out_text(j->out, "}");
    j->first = false;
}

static void put_summary(struct rt_out *out, const struct rt_mode *m,
                        const struct marks *k)
{
    const struct rt_climb *best = &m->climbs[m->best];
    struct json j = {out, true};
    rt_out_format(out, "{\n  \"method\": \"%s\",\n  \"log_density\": ",
                  m->rt->options.method->name);
    put_number(out, best->value, 17);
    rt_out_format(
        out,
        ",\n  \"jacobian\": %s,\n  \"complete\": %s,\n  "
        "\"converged\": %s,\n"
        "  \"iterations\": %d,\n  \"near_bound\": %s%s%s,\n"
        "  \"starts\": [",
        m->unknowns.jacobian ? "true" : "false", m->stopped ? "false" : "true",
        best->end == RT_ASCENT_CONVERGED ? "true" : "false", best->iterations,
        best->far[0] ? "\"" : "null", best->far, best->far[0] ? "\"" : "");
    for (int c = 0; c < m->in.nchains; c++) {
        const struct rt_climb *climb = &m->climbs[c];
        rt_out_format(out, "%s\n    {\"log_density\": ", c ? "," : "");
        put_number(out, climb->value, 17);
        rt_out_format(
            out, ", \"converged\": %s, \"iterations\": %d, \"same_mode\": %s}",
            climb->end == RT_ASCENT_CONVERGED ? "true" : "false",
            climb->iterations, is_same(m, c) ? "true" : "false");
    }
    rt_out_text(out, "\n  ]");
    if (best->nvalues)
        rt_out_format(out, ",\n  \"sweeps\": %d", best->swept);
    for (int i = 0; i < best->nvalues; i++) {
        rt_out_text(out, i ? ", " : ",\n  \"trace\": [");
        put_number(out, best->values[i], 17);
    }
    rt_out_text(out, best->nvalues ? "]" : "");
    rt_out_text(out, ",\n  \"parameters\": {");
    for_each_row(m, k, put_mode, &j);
    rt_out_text(out, "\n  }\n}\n");
}

/* The cells of dimension d on, as nested lists; observed ones and those that
 * have no mode are null, which leaves them as they are. */
static void put_array(struct rt_out *out, const struct rt_mode *m,
                      const struct marks *k, int v, int d, int64_t *cell)
{
    const struct rt_slot *slot = &m->in.slots[v];
    const struct gbm_variable *variable = &m->in.model->variables[v];
    if (d == variable->ndim) {
        const bool none = rt_seen(slot, *cell) ||
                          (k->cells[v] && k->cells[v][*cell]) ||
                          (slot->defined && !slot->defined[*cell]);
        put_number(out,
                   none ? (double)NAN
                        : rt_value(slot, variable->integer, m->best, *cell),
                   17);
        ++*cell;
        return;
    }
    rt_out_text(out, "[");
    for (int i = 0; i < slot->dim[d]; i++) {
        rt_out_text(out, i ? ", " : "");
        put_array(out, m, k, v, d + 1, cell);
    }
    rt_out_text(out, "]");
}

/* Every latent variable: a file for --init. */
static void put_values(struct rt_out *out, const struct rt_mode *m,
                       const struct marks *k)
{
    bool first = true;
    rt_out_text(out, "{");
    for (int v = 0; v < m->in.model->nvariables; v++) {
        const struct gbm_variable *variable = &m->in.model->variables[v];
        int64_t cell = 0;
        if (variable->role != GBM_STOCHASTIC || !m->in.slots[v].per_chain)
            continue;
        if (variable->names) {
            for (; variable->names[cell]; first = false) {
                rt_out_format(out, "%s\n  \"%s\": ", first ? "" : ",",
                              variable->names[cell]);
                put_number(
                    out,
                    rt_value(&m->in.slots[v], variable->integer, m->best, cell),
                    17);
                cell++;
            }
            continue;
        }
        rt_out_format(out, "%s\n  \"%s\": ", first ? "" : ",", variable->name);
        put_array(out, m, k, v, 0, &cell);
        first = false;
    }
    rt_out_text(out, "\n}\n");
}

typedef void put_file(struct rt_out *out, const struct rt_mode *m,
                      const struct marks *k);

static enum gbm_status write_file(const struct rt_mode *m,
                                  const struct marks *k, const char *path,
                                  put_file *put)
{
    struct rt_out *out = malloc(sizeof *out);
    char error[GBM_ERROR] = "no memory";
    enum gbm_status s = out ? rt_out_open(out, path, error) : GBM_FAILURE;
    if (s == GBM_OK) {
        put(out, m, k);
        s = rt_out_close(out, true, error);
    }
    free(out);
    return s == GBM_OK ? s : rt_fail(m->rt, s, "%s", error);
}

static enum gbm_status fail_stopped(const struct rt_mode *m)
{
    int done = 0;
    for (int c = 0; c < m->in.nchains; c++)
        done += m->climbs[c].end == RT_ASCENT_CONVERGED;
    return rt_fail(m->rt, GBM_FAILURE,
                   "stopped: %d of %d starts had come to a mode; what is "
                   "written is %s, and marked incomplete",
                   done, m->in.nchains,
                   done ? "the best of these" : "the highest point so far");
}

enum gbm_status rt_mode_report(struct rt_mode *m, bool values)
{
    const struct rt_options *o = &m->rt->options;
    const void *state = m->climbs[m->best].gradient.state;
    struct marks k;
    enum gbm_status s = GBM_OK;
    find_marks(&k, m, state);
    rt_derive_kept(&m->in, state);
    if (o->summary && values)
        s = write_file(m, &k, o->summary, put_summary);
    if (s == GBM_OK && o->out && values)
        s = write_file(m, &k, o->out, put_values);
    if (s == GBM_OK && !o->quiet)
        print(m, &k);
    free_marks(&k);
    return s == GBM_OK && m->stopped ? fail_stopped(m) : s;
}
