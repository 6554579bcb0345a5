/* components.c: label switching. The components of a draw are permuted by an
 * assignment problem, whose costs say how well component k would do as j.
 *
 * With labels z: Stephens (2000), Dealing with label switching in mixture
 * models, JRSS B 62, whose classification probabilities of a draw are here 0 or
 * 1, as z has it: the cost is minus the sum over the rows of component k of
 * log q[i,j], q the relabelled draws' shares. Against one reference draw that
 * is the number of rows that differ (Cron and West 2011; Papastamoulis and
 * Iliopoulos 2010). Without labels: squared distances of the parameters from
 * their means, in standard deviations (Celeux 1998). */
#include "summary/components.h"
#include "summary/relabel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a draw's components ---- */

static const double *cells_of(const struct gbm_field *f, const double *record)
{
    return record + f->variable->offset;
}

/* Cells of an array [outer][k][inner]. */
static void split(const struct gbm_draws_variable *v, int d, int64_t *outer,
                  int64_t *inner)
{
    *outer = *inner = 1;
    for (int i = 0; i < v->ndim; i++)
        *(i < d ? outer : inner) *= i == d ? 1 : v->dim[i];
}

/* Does it have numbers that are one component's alone? */
static bool has_numbers(const struct gbm_field *f)
{
    return !f->labels && f->nalong == 1;
}

/* Gathers the numbers of each component: c->component. */
static void gather(struct gbm_components *c, const double *record)
{
    int64_t at = 0;

    for (int i = 0; i < c->nfields; i++) {
        const struct gbm_field *f = &c->fields[i];
        int64_t outer, inner;
        int d = 0;

        if (!has_numbers(f))
            continue;
        while (!f->along[d])
            d++;
        split(f->variable, d, &outer, &inner);
        for (int64_t o = 0; o < outer; o++)
            for (int k = 0; k < c->k; k++)
                memcpy(c->component + k * c->width + at + o * inner,
                       cells_of(f, record) + (o * c->k + k) * inner,
                       (size_t)inner * sizeof *record);
        at += outer * inner;
    }
}

/* Welford (1962). */
void gbm_components_see(struct gbm_components *c, const double *record)
{
    if (c->rows)
        return;
    gather(c, record);
    for (int k = 0; k < c->k; k++) {
        c->seen++;
        for (int64_t w = 0; w < c->width; w++) {
            double x = c->component[k * c->width + w], away = x - c->mean[w];

            c->mean[w] += away / c->seen;
            c->square[w] += away * (x - c->mean[w]);
        }
    }
}

/* ---- how far it is from the target ---- */

/* Of nothing there is no logarithm. */
static double loss_of(const struct gbm_components *c, double times)
{
    return -log(times + 1. / c->k);
}

static void compare_labels(struct gbm_components *c, const double *record)
{
    const double *target = c->target;

    for (int i = 0; i < c->nfields; i++) {
        const struct gbm_field *f = &c->fields[i];
        const double *z = cells_of(f, record);

        for (int64_t n = 0; f->labels && n < f->variable->count; n++) {
            double *cost = c->cost + ((int)z[n] - 1) * c->k;

            for (int j = 0; j < c->k; j++)
                cost[j] += c->fixed ? target[j] : loss_of(c, target[j]);
            target += c->k;
        }
    }
}

static void compare_numbers(struct gbm_components *c, const double *record)
{
    gather(c, record);
    for (int64_t w = 0; w < c->width; w++) {
        const double variance = c->square[w] > 0 ? c->square[w] / c->seen : 1;

        for (int k = 0; k < c->k; k++)
            for (int j = 0; j < c->k; j++) {
                double away = c->component[k * c->width + w] -
                              c->target[j * c->width + w] / c->weight;

                c->cost[k * c->k + j] += away * away / variance;
            }
    }
}

static bool are_labels(const struct gbm_components *c, const double *record)
{
    for (int i = 0; i < c->nfields; i++) {
        const struct gbm_field *f = &c->fields[i];
        const double *z = cells_of(f, record);

        for (int64_t n = 0; f->labels && n < f->variable->count; n++)
            if (!(z[n] >= 1 && z[n] <= c->k))
                return false;
    }
    return true;
}

enum gbm_status gbm_components_assign(struct gbm_components *c,
                                      const double *record, int *label)
{
    if (!are_labels(c, record))
        return GBM_USER_ERROR;
    memset(c->cost, 0, (size_t)c->k * (size_t)c->k * sizeof *c->cost);
    if (c->rows)
        compare_labels(c, record);
    else
        compare_numbers(c, record);
    for (int64_t i = 0; i < (int64_t)c->k * c->k; i++)
        if (!isfinite(c->cost[i]))
            return GBM_USER_ERROR;
    return gbm_assign(c->k, c->cost, label);
}

/* ---- the target ---- */

void gbm_components_begin(struct gbm_components *c)
{
    memset(c->target, 0, (size_t)c->cells * sizeof *c->target);
    c->weight = 0;
    c->fixed = false;
}

void gbm_components_add(struct gbm_components *c, const double *record,
                        const int *label)
{
    double *target = c->target;

    c->weight++;
    for (int i = 0; i < c->nfields && c->rows; i++) {
        const struct gbm_field *f = &c->fields[i];
        const double *z = cells_of(f, record);

        for (int64_t n = 0; f->labels && n < f->variable->count; n++) {
            target[label[(int)z[n] - 1]]++;
            target += c->k;
        }
    }
    if (c->rows)
        return;
    gather(c, record);
    for (int k = 0; k < c->k; k++)
        for (int64_t w = 0; w < c->width; w++)
            target[label[k] * c->width + w] += c->component[k * c->width + w];
}

enum gbm_status gbm_components_learn(struct gbm_components *c,
                                     const double *record, int *label)
{
    enum gbm_status s = GBM_OK;

    for (int k = 0; k < c->k; k++)
        label[k] = k;
    if (c->weight > 0)
        s = gbm_components_assign(c, record, label);
    else if (!are_labels(c, record))
        s = GBM_USER_ERROR;
    if (s == GBM_OK)
        gbm_components_add(c, record, label);
    return s;
}

void gbm_components_fix(struct gbm_components *c)
{
    for (int64_t i = 0; i < c->cells && c->rows && !c->fixed; i++)
        c->target[i] = loss_of(c, c->target[i]);
    c->fixed = true;
}

/* The cells of `f`, as the data have them, in a record. */
static enum gbm_status take_cells(const struct gbm_components *c,
                                  const struct gbm_field *f,
                                  const struct gbm_data *reference,
                                  double *record, char error[GBM_ERROR])
{
    const struct gbm_draws_variable *v = f->variable;
    const struct gbm_array *a = gbm_data_find(reference, v->name);

    if (!a || a->length != v->length) {
        snprintf(error, GBM_ERROR, "--reference has no %s, or of another size",
                 v->name);
        return GBM_USER_ERROR;
    }
    for (int64_t i = 0; i < v->count; i++) {
        const double x = a->values[v->cells ? v->cells[i] : i];

        record[v->offset + i] = x;
        if (f->labels && (!(x >= 1 && x <= c->k) || x != floor(x))) {
            snprintf(error, GBM_ERROR, "--reference: %s is not made of labels",
                     v->name);
            return GBM_USER_ERROR;
        }
    }
    return GBM_OK;
}

/* Where the last field's cells end. */
static int64_t record_width(const struct gbm_components *c)
{
    int64_t width = 0;

    for (int i = 0; i < c->nfields; i++) {
        const struct gbm_draws_variable *v = c->fields[i].variable;

        width = v->offset + v->count > width ? v->offset + v->count : width;
    }
    return width;
}

enum gbm_status gbm_components_refer(struct gbm_components *c,
                                     const struct gbm_data *reference,
                                     char error[GBM_ERROR])
{
    int *label = malloc((size_t)c->k * sizeof *label);
    double *record = calloc((size_t)record_width(c) + 1, sizeof *record);
    enum gbm_status s = label && record ? GBM_OK : GBM_FAILURE;

    if (s != GBM_OK)
        snprintf(error, GBM_ERROR, "out of memory");
    for (int i = 0; i < c->nfields && s == GBM_OK; i++)
        if (c->rows ? c->fields[i].labels : has_numbers(&c->fields[i]))
            s = take_cells(c, &c->fields[i], reference, record, error);
    gbm_components_begin(c);
    for (int k = 0; k < c->k && s == GBM_OK; k++)
        label[k] = k;
    if (s == GBM_OK)
        gbm_components_add(c, record, label);
    gbm_components_fix(c);
    free(label);
    free(record);
    return s;
}

/* ---- what is permuted ---- */

static void permute(struct gbm_components *c, const struct gbm_field *f,
                    double *cells, const int *label)
{
    const struct gbm_draws_variable *v = f->variable;

    for (int64_t i = 0; f->labels && i < v->count; i++)
        cells[i] = label[(int)cells[i] - 1] + 1;
    for (int d = 0; d < v->ndim; d++) {
        int64_t outer, inner;

        if (!f->along[d])
            continue;
        split(v, d, &outer, &inner);
        memcpy(c->array, cells, (size_t)v->length * sizeof *cells);
        for (int64_t o = 0; o < outer; o++)
            for (int k = 0; k < c->k; k++)
                memcpy(cells + (o * c->k + label[k]) * inner,
                       c->array + (o * c->k + k) * inner,
                       (size_t)inner * sizeof *cells);
    }
}

bool gbm_components_permute(struct gbm_components *c, double *record,
                            const int *label)
{
    bool moved = false;

    for (int k = 0; k < c->k; k++)
        moved = moved || label[k] != k;
    for (int i = 0; i < c->nfields && moved; i++)
        permute(c, &c->fields[i], record + c->fields[i].variable->offset,
                label);
    return moved;
}
