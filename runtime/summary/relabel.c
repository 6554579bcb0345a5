/* relabel.c: label switching. The components of each draw are permuted by an
 * assignment problem, whose costs say how well component k would do as j.
 *
 * With labels z: Stephens (2000), Dealing with label switching in mixture
 * models, JRSS B 62, whose classification probabilities of a draw are here 0 or
 * 1, as z has it: the cost is minus the sum over the rows of component k of
 * log q[i,j], q the relabelled draws' shares. Against one reference draw that
 * is the number of rows that differ (Cron and West 2011; Papastamoulis and
 * Iliopoulos 2010). Without labels: squared distances of the parameters from
 * their means, in standard deviations (Celeux 1998). Both start from the first
 * draw, go through the draws once with what is known so far, and then again
 * with all of them until nothing moves; every step lowers the same sum. Against
 * a reference that the user gives there is one pass, and it stays. */
#include "summary/relabel.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PASSES = 100 };

struct field {
    const struct gbm_draws_variable *variable;
    bool labels;
    bool along[GBM_MAX_DIMS]; /* this dimension counts components */
    int nalong;
};

struct relabel {
    struct gbm_draws *draws;
    char *error;
    struct field *fields;
    int nfields, k;
    int64_t rows, width; /* label cells; numbers of a component */
    double *target;      /* [rows][k] counts, or [k][width] sums */
    double *next;        /* the same of the pass under way */
    double *scale;       /* [width] sd of a number */
    double weight;       /* draws in the target */
    double *cost;        /* [k][k] */
    double *component;   /* [k][width] of a draw */
    int *permutation;    /* [draws][k]: component -> label, from 0 */
};

static enum gbm_status wrong(struct relabel *r, const char *format,
                             const char *name)
{
    snprintf(r->error, GBM_ERROR, format, name);
    return GBM_USER_ERROR;
}

static enum gbm_status no_memory(struct relabel *r)
{
    snprintf(r->error, GBM_ERROR, "out of memory");
    return GBM_FAILURE;
}

static int64_t draws_of(const struct relabel *r)
{
    return (int64_t)r->draws->chains * r->draws->kept;
}

static double *record(const struct relabel *r, int64_t draw)
{
    return gbm_draws_record(r->draws, (int)(draw / r->draws->kept),
                            (int)(draw % r->draws->kept));
}

/* ---- what is named ---- */

/* "[k,]" behind a name: the dimensions with a word in their place. */
static enum gbm_status read_dimensions(struct relabel *r, struct field *f,
                                       const char *inside)
{
    const struct gbm_draws_variable *v = f->variable;

    for (int d = 0; d < v->ndim; d++) {
        size_t length = strcspn(inside, ",]");

        f->along[d] = strspn(inside, " ") < length;
        f->nalong += f->along[d];
        if (inside[length] != (d + 1 < v->ndim ? ',' : ']'))
            return wrong(r,
                         "--relabel %s: in brackets a place for each dimension "
                         "is wanted: P[k,k], b[,k]",
                         v->name);
        inside += length + 1;
    }
    return *inside ? wrong(r, "--relabel %s: what follows ']'?", v->name)
                   : GBM_OK;
}

static enum gbm_status add_field(struct relabel *r, char *item)
{
    char *bracket = strchr(item, '[');
    struct field *f = &r->fields[r->nfields++];

    if (bracket)
        *bracket = '\0';
    f->variable = gbm_draws_find(r->draws, item);
    if (!f->variable)
        return wrong(r, "--relabel %s: it has no draws", item);
    return bracket ? read_dimensions(r, f, bracket + 1) : GBM_OK;
}

static enum gbm_status read_list(struct relabel *r, char *list)
{
    enum gbm_status s = GBM_OK;

    for (char *p = list; *p && s == GBM_OK;) {
        char *item = p += strspn(p, ", ");
        int depth = 0;

        while (*p && (depth > 0 || !strchr(", ", *p))) {
            depth += (*p == '[') - (*p == ']');
            p++;
        }
        if (*p)
            *p++ = '\0';
        if (*item)
            s = add_field(r, item);
    }
    if (s == GBM_OK && r->nfields == 0)
        s = wrong(r, "--relabel '%s': names are wanted: z,mu,pi", list);
    return s;
}

/* As many as the first parameter has cells along its first dimension, or along
 * the one that is marked; of labels alone, the largest. */
static enum gbm_status count_components(struct relabel *r)
{
    const struct gbm_draws_variable *v = NULL;

    for (int i = r->fields[0].variable->integer; i < r->nfields && !v; i++) {
        const struct field *f = &r->fields[i];
        int d = 0;

        v = f->variable;
        while (f->nalong && !f->along[d])
            d++;
        if (v->ndim == 0)
            return wrong(r, "--relabel %s: it is one number", v->name);
        r->k = v->dim[d];
    }
    v = r->fields[0].variable;
    for (int64_t m = 0; r->nfields == 1 && v->integer && m < draws_of(r); m++)
        for (int64_t i = 0; i < v->count; i++)
            if (record(r, m)[v->offset + i] > r->k)
                r->k = (int)fmin(record(r, m)[v->offset + i], 1e6);
    if (r->k > 10000)
        return wrong(r, "--relabel %s: it has too many components", v->name);
    return GBM_OK;
}

static enum gbm_status settle_field(struct relabel *r, struct field *f,
                                    bool first)
{
    const struct gbm_draws_variable *v = f->variable;

    for (int d = 0; d < v->ndim && f->nalong == 0 && !(first && v->integer);
         d++)
        if (v->dim[d] == r->k) {
            f->along[d] = true;
            f->nalong = 1;
        }
    f->labels = f->nalong == 0 && v->integer;
    if (f->nalong == 0 && !f->labels) {
        snprintf(r->error, GBM_ERROR,
                 "--relabel %s: no dimension of it has %d cells, one for each "
                 "component",
                 v->name, r->k);
        return GBM_USER_ERROR;
    }
    for (int d = 0; d < v->ndim; d++)
        if (f->along[d] && v->dim[d] != r->k) {
            snprintf(r->error, GBM_ERROR,
                     "--relabel %s: dimension %d of it has %d cells, and there "
                     "are %d components",
                     v->name, d + 1, v->dim[d], r->k);
            return GBM_USER_ERROR;
        }
    if (!f->labels && v->cells)
        return wrong(r,
                     "--relabel %s: draws of only some of its cells were kept, "
                     "or some are data: all are wanted",
                     v->name);
    if (f->labels)
        r->rows += v->count;
    else if (f->nalong == 1)
        r->width += v->length / r->k;
    return GBM_OK;
}

static enum gbm_status check_labels(struct relabel *r, const struct field *f)
{
    const struct gbm_draws_variable *v = f->variable;

    for (int64_t i = 0; v->cells && i < v->length; i++)
        if (!isnan(v->filled[i]))
            return wrong(r,
                         "--relabel %s: some of its labels are data, which "
                         "tell the components apart",
                         v->name);
    for (int64_t m = 0; m < draws_of(r); m++)
        for (int64_t i = 0; i < v->count; i++) {
            double z = record(r, m)[v->offset + i];
            if (!(z >= 1 && z <= r->k)) {
                snprintf(r->error, GBM_ERROR,
                         "--relabel %s: %g is not one of %d components",
                         v->name, z, r->k);
                return GBM_USER_ERROR;
            }
        }
    return GBM_OK;
}

static enum gbm_status settle(struct relabel *r)
{
    enum gbm_status s = count_components(r);

    for (int i = 0; i < r->nfields && s == GBM_OK; i++)
        s = settle_field(r, &r->fields[i], i == 0);
    for (int i = 0; i < r->nfields && s == GBM_OK; i++)
        if (r->fields[i].labels)
            s = check_labels(r, &r->fields[i]);
    if (s == GBM_OK && r->rows == 0 && r->width == 0)
        s = wrong(r,
                  "--relabel %s: labels, or what one component has by itself, "
                  "are wanted beside it",
                  r->fields[0].variable->name);
    return s;
}

/* ---- a draw's components ---- */

/* Cells of an array [outer][k][inner]. */
static void split(const struct gbm_draws_variable *v, int d, int64_t *outer,
                  int64_t *inner)
{
    *outer = *inner = 1;
    for (int i = 0; i < v->ndim; i++)
        *(i < d ? outer : inner) *= i == d ? 1 : v->dim[i];
}

static int dimension_of(const struct field *f)
{
    int d = 0;

    while (!f->along[d])
        d++;
    return d;
}

/* Gathers the numbers of each component: [k][width]. `cells` of a field are
 * those of a draw, or NULL: the next of `given`. */
static void gather(struct relabel *r, const double *const *cells, double *out)
{
    int64_t at = 0;

    for (int i = 0; i < r->nfields; i++) {
        const struct field *f = &r->fields[i];
        int64_t outer, inner;

        if (f->labels || f->nalong != 1)
            continue;
        split(f->variable, dimension_of(f), &outer, &inner);
        for (int64_t o = 0; o < outer; o++)
            for (int k = 0; k < r->k; k++)
                memcpy(out + k * r->width + at + o * inner,
                       cells[i] + (o * r->k + k) * inner,
                       (size_t)inner * sizeof *out);
        at += outer * inner;
    }
}

/* ---- costs and targets; `cells` [nfields]: a draw's or the reference's ----
 */

static void fill_costs(struct relabel *r, const double *const *cells)
{
    int64_t at = 0;

    memset(r->cost, 0, (size_t)r->k * (size_t)r->k * sizeof *r->cost);
    for (int i = 0; i < r->nfields && r->rows; i++) {
        const struct field *f = &r->fields[i];

        for (int64_t c = 0; f->labels && c < f->variable->count; c++, at++) {
            double *cost = r->cost + ((int)cells[i][c] - 1) * r->k;
            for (int j = 0; j < r->k; j++) /* of nothing no logarithm */
                cost[j] -= log(r->target[at * r->k + j] + 1. / r->k);
        }
    }
    if (r->rows)
        return;
    gather(r, cells, r->component);
    for (int k = 0; k < r->k; k++)
        for (int j = 0; j < r->k; j++)
            for (int64_t w = 0; w < r->width; w++) {
                double away = (r->component[k * r->width + w] -
                               r->target[j * r->width + w] / r->weight) /
                              r->scale[w];
                r->cost[k * r->k + j] += away * away;
            }
}

static void add_to(struct relabel *r, double *target,
                   const double *const *cells, const int *label)
{
    int64_t at = 0;

    for (int i = 0; i < r->nfields && r->rows; i++) {
        const struct field *f = &r->fields[i];
        for (int64_t c = 0; f->labels && c < f->variable->count; c++, at++)
            target[at * r->k + label[(int)cells[i][c] - 1]]++;
    }
    if (r->rows)
        return;
    gather(r, cells, r->component);
    for (int k = 0; k < r->k; k++)
        for (int64_t w = 0; w < r->width; w++)
            target[label[k] * r->width + w] += r->component[k * r->width + w];
}

static void point(const struct relabel *r, int64_t draw, const double **cells)
{
    for (int i = 0; i < r->nfields; i++)
        cells[i] = record(r, draw) + r->fields[i].variable->offset;
}

/* The sd of each of a component's numbers, over draws and components. */
static void find_scales(struct relabel *r, const double **cells)
{
    double *sum = r->next, *square = r->scale;
    double n = (double)draws_of(r) * r->k;

    memset(sum, 0, (size_t)r->width * sizeof *sum);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t m = 0; m < draws_of(r); m++) {
            point(r, m, cells);
            gather(r, cells, r->component);
            for (int k = 0; k < r->k; k++)
                for (int64_t w = 0; w < r->width; w++) {
                    double x = r->component[k * r->width + w];
                    if (pass == 0)
                        sum[w] += x / n;
                    else
                        square[w] += (x - sum[w]) * (x - sum[w]) / n;
                }
        }
    for (int64_t w = 0; w < r->width; w++)
        r->scale[w] = square[w] > 0 ? sqrt(square[w]) : 1;
}

/* ---- passes ---- */

static enum gbm_status assign_draw(struct relabel *r, int64_t draw,
                                   const double **cells, bool *moved)
{
    int *label = r->permutation + draw * r->k, *found;

    point(r, draw, cells);
    fill_costs(r, cells);
    for (int64_t i = 0; i < (int64_t)r->k * r->k; i++)
        if (!isfinite(r->cost[i])) {
            snprintf(r->error, GBM_ERROR,
                     "--relabel: draw %lld of chain %lld is not a number",
                     (long long)(draw % r->draws->kept + 1),
                     (long long)(draw / r->draws->kept + 1));
            return GBM_USER_ERROR;
        }
    found = malloc((size_t)r->k * sizeof *found);
    if (!found || gbm_assign(r->k, r->cost, found) != GBM_OK) {
        free(found);
        return no_memory(r);
    }
    *moved = *moved || memcmp(found, label, (size_t)r->k * sizeof *found) != 0;
    memcpy(label, found, (size_t)r->k * sizeof *found);
    free(found);
    return GBM_OK;
}

/* With what is known so far; the target grows. */
static enum gbm_status pass_online(struct relabel *r, const double **cells,
                                   bool given)
{
    enum gbm_status s = GBM_OK;
    bool moved = false;

    for (int64_t m = 0; m < draws_of(r) && s == GBM_OK; m++) {
        int *label = r->permutation + m * r->k;

        for (int k = 0; k < r->k; k++)
            label[k] = k;
        if (m > 0 || given)
            s = assign_draw(r, m, cells, &moved);
        if (s != GBM_OK || given)
            continue;
        point(r, m, cells);
        add_to(r, r->target, cells, label);
        r->weight++;
    }
    return s;
}

static enum gbm_status pass_again(struct relabel *r, const double **cells,
                                  bool *moved)
{
    size_t n = (size_t)(r->rows ? r->rows : r->width) * (size_t)r->k;
    enum gbm_status s = GBM_OK;
    double *swap = r->next;

    memset(r->next, 0, n * sizeof *r->next);
    for (int64_t m = 0; m < draws_of(r) && s == GBM_OK; m++) {
        s = assign_draw(r, m, cells, moved);
        if (s == GBM_OK)
            add_to(r, r->next, cells, r->permutation + m * r->k);
    }
    r->next = r->target;
    r->target = swap;
    return s;
}

/* The target that the user gives. */
static enum gbm_status take_reference(struct relabel *r,
                                      const struct gbm_data *reference)
{
    const double **cells = calloc((size_t)r->nfields, sizeof *cells);
    int *label = malloc((size_t)r->k * sizeof *label);
    double *labels = malloc((size_t)(r->rows + 1) * sizeof *labels);
    enum gbm_status s = cells && label && labels ? GBM_OK : no_memory(r);
    double *next = labels;

    for (int k = 0; k < r->k && s == GBM_OK; k++)
        label[k] = k;
    for (int i = 0; i < r->nfields && s == GBM_OK; i++) {
        const struct field *f = &r->fields[i];
        const struct gbm_draws_variable *v = f->variable;
        const struct gbm_array *a = gbm_data_find(reference, v->name);

        if (r->rows ? !f->labels : f->nalong != 1)
            continue;
        if (!a || a->length != v->length) {
            s = wrong(r, "--reference has no %s, or of another size", v->name);
            break;
        }
        cells[i] = a->values;
        if (!f->labels)
            continue;
        cells[i] = next;
        for (int64_t c = 0; c < v->count && s == GBM_OK; c++) {
            *next++ = a->values[v->cells ? v->cells[c] : c];
            if (!(next[-1] >= 1 && next[-1] <= r->k) ||
                next[-1] != floor(next[-1]))
                s = wrong(r, "--reference: %s is not made of labels", v->name);
        }
    }
    if (s == GBM_OK)
        add_to(r, r->target, cells, label);
    r->weight = 1;
    free(cells);
    free(label);
    free(labels);
    return s;
}

/* ---- what is permuted ---- */

static void permute(const struct relabel *r, const struct field *f,
                    double *cells, const int *label, double *work)
{
    const struct gbm_draws_variable *v = f->variable;

    for (int64_t c = 0; f->labels && c < v->count; c++)
        cells[c] = label[(int)cells[c] - 1] + 1;
    for (int d = 0; d < v->ndim; d++) {
        int64_t outer, inner;

        if (!f->along[d])
            continue;
        split(v, d, &outer, &inner);
        memcpy(work, cells, (size_t)v->length * sizeof *work);
        for (int64_t o = 0; o < outer; o++)
            for (int k = 0; k < r->k; k++)
                memcpy(cells + (o * r->k + label[k]) * inner,
                       work + (o * r->k + k) * inner,
                       (size_t)inner * sizeof *work);
    }
}

static enum gbm_status apply(struct relabel *r, struct gbm_relabelling *out)
{
    double *work = malloc((size_t)(r->draws->width + 1) * sizeof *work);

    if (!work)
        return no_memory(r);
    for (int64_t m = 0; m < draws_of(r); m++) {
        const int *label = r->permutation + m * r->k;
        bool moved = false;

        for (int k = 0; k < r->k; k++)
            moved = moved || label[k] != k;
        out->moved += moved;
        for (int i = 0; i < r->nfields && moved; i++)
            permute(r, &r->fields[i],
                    record(r, m) + r->fields[i].variable->offset, label, work);
    }
    free(work);
    return GBM_OK;
}

static enum gbm_status go_through(struct relabel *r,
                                  const struct gbm_data *reference,
                                  struct gbm_relabelling *out)
{
    const double **cells = calloc((size_t)r->nfields, sizeof *cells);
    enum gbm_status s = cells ? GBM_OK : no_memory(r);
    bool moved = true;

    if (s == GBM_OK && !r->rows)
        find_scales(r, cells);
    if (s == GBM_OK && reference)
        s = take_reference(r, reference);
    if (s == GBM_OK)
        s = pass_online(r, cells, reference != NULL);
    out->passes = 1;
    while (s == GBM_OK && !reference && moved && out->passes < MOST_PASSES) {
        moved = false;
        s = pass_again(r, cells, &moved);
        out->passes++;
    }
    free(cells);
    return s == GBM_OK ? apply(r, out) : s;
}

enum gbm_status gbm_relabel(struct gbm_draws *draws, const char *list,
                            const struct gbm_data *reference,
                            struct gbm_relabelling *out, char error[GBM_ERROR])
{
    struct relabel r = {.draws = draws, .error = error};
    char *copy = strdup(list);
    enum gbm_status s = GBM_OK;

    *out = (struct gbm_relabelling){0};
    r.fields = calloc(strlen(list) + 1, sizeof *r.fields);
    s = copy && r.fields ? read_list(&r, copy) : no_memory(&r);
    if (s == GBM_OK)
        s = settle(&r);
    if (s == GBM_OK) {
        size_t k = (size_t)r.k, m = (size_t)draws_of(&r);
        size_t n = (size_t)(r.rows ? r.rows : r.width) * k + 1;

        r.target = calloc(n, sizeof *r.target);
        r.next = calloc(n, sizeof *r.next);
        r.scale = calloc((size_t)r.width + 1, sizeof *r.scale);
        r.cost = calloc(k * k + 1, sizeof *r.cost);
        r.component = calloc((size_t)r.width * k + 1, sizeof *r.component);
        r.permutation = calloc(m * k + 1, sizeof *r.permutation);
        if (!r.target || !r.next || !r.scale || !r.cost || !r.component ||
            !r.permutation)
            s = no_memory(&r);
    }
    if (s == GBM_OK)
        s = go_through(&r, reference, out);
    out->components = r.k;
    free(r.target);
    free(r.next);
    free(r.scale);
    free(r.cost);
    free(r.component);
    free(r.permutation);
    free(r.fields);
    free(copy);
    return s;
}
