/* clusters.c: partitions, whatever their clusters are called. Of the draws'
 * partitions that one is shown which is nearest, in squares, to how often rows
 * are together: Dahl (2006), Model-based clustering for expression data via a
 * Dirichlet process mixture model. */
#include "summary/relabel.h"
#include "io/output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows by their label, as a list for each. */
struct members {
    int *first, *next; /* -1: none */
    int *size;
};

static const double *labels_of(const struct gbm_draws *draws,
                               const struct gbm_draws_variable *v, int64_t m)
{
    return gbm_draws_record(draws, (int)(m / draws->kept),
                            (int)(m % draws->kept)) +
           v->offset;
}

static void sort_rows(const struct gbm_clusters *c, const double *z,
                      struct members *in)
{
    for (int k = 0; k < c->most; k++) {
        in->first[k] = -1;
        in->size[k] = 0;
    }
    for (int i = c->rows - 1; i >= 0; i--) {
        int k = (int)z[i] - 1;

        in->next[i] = in->first[k];
        in->first[k] = i;
        in->size[k]++;
    }
}

static void count_together(struct gbm_clusters *c, const struct members *in)
{
    for (int k = 0; k < c->most; k++)
        for (int i = in->first[k]; i >= 0; i = in->next[i])
            for (int j = i; j >= 0; j = in->next[j])
                c->together[(int64_t)i * c->rows + j]++;
}

/* The sum over pairs of (delta - p)^2, up to what all draws have in common. */
static double loss_of(const struct gbm_clusters *c, const struct members *in)
{
    double loss = 0;

    for (int k = 0; k < c->most; k++)
        for (int i = in->first[k]; i >= 0; i = in->next[i])
            for (int j = in->next[i]; j >= 0; j = in->next[j])
                loss += 1 - 2 * c->together[(int64_t)i * c->rows + j];
    return loss;
}

static void take_partition(struct gbm_clusters *c, const double *z, int *number)
{
    memset(number, 0, (size_t)c->most * sizeof *number);
    c->nclusters = 0;
    for (int i = 0; i < c->rows; i++) {
        int *mine = &number[(int)z[i] - 1];

        if (*mine == 0)
            *mine = ++c->nclusters;
        c->partition[i] = *mine;
    }
}

static void go_through(struct gbm_clusters *c, const struct gbm_draws *draws,
                       const struct gbm_draws_variable *v, struct members *in)
{
    int64_t n = (int64_t)draws->chains * draws->kept, best = 0;
    double least = INFINITY;

    for (int64_t m = 0; m < n; m++) {
        sort_rows(c, labels_of(draws, v, m), in);
        count_together(c, in);
        for (int k = 0; k < c->most; k++) {
            c->occupied += (in->size[k] > 0) / (double)n;
            c->size[k] += in->size[k] / (double)n;
        }
    }
    for (int i = 0; i < c->rows; i++)
        for (int j = i; j < c->rows; j++) {
            double *upper = &c->together[(int64_t)i * c->rows + j];

            *upper /= (double)n;
            c->together[(int64_t)j * c->rows + i] = *upper;
        }
    for (int64_t m = 0; m < n; m++) {
        sort_rows(c, labels_of(draws, v, m), in);
        double loss = loss_of(c, in);
        for (int k = 0; k < c->most; k++) {
            double away = in->size[k] - c->size[k];
            c->size_sd[k] += away * away / (double)(n > 1 ? n - 1 : 1);
        }
        if (loss < least) {
            least = loss;
            best = m;
        }
    }
    for (int k = 0; k < c->most; k++)
        c->size_sd[k] = sqrt(c->size_sd[k]);
    c->chain = (int)(best / draws->kept);
    c->draw = (int)(best % draws->kept);
    take_partition(c, labels_of(draws, v, best), in->size);
}

/* The largest label; 0: not all are labels. */
static int largest(const struct gbm_draws *draws,
                   const struct gbm_draws_variable *v)
{
    double most = 0;

    for (int64_t m = 0; m < (int64_t)draws->chains * draws->kept; m++)
        for (int64_t i = 0; i < v->count; i++) {
            double z = labels_of(draws, v, m)[i];

            if (!(z >= 1 && z <= 1e7) || z != floor(z))
                return 0;
            most = fmax(most, z);
        }
    return (int)most;
}

enum gbm_status gbm_find_clusters(struct gbm_clusters *c,
                                  const struct gbm_draws *draws,
                                  const char *name, char error[GBM_ERROR])
{
    const struct gbm_draws_variable *v = gbm_draws_find(draws, name);

    *c = (struct gbm_clusters){0};
    if (!v || v->count == 0 || draws->kept == 0) {
        snprintf(error, GBM_ERROR, "--clusters %.200s: it has no draws", name);
        return GBM_USER_ERROR;
    }
    if (v->count > GBM_CLUSTER_ROWS) {
        snprintf(error, GBM_ERROR,
                 "--clusters %.200s: pairs of %lld rows are too many: at most "
                 "%d rows are compared; --monitor some",
                 name, (long long)v->count, GBM_CLUSTER_ROWS);
        return GBM_USER_ERROR;
    }
    c->rows = (int)v->count;
    c->most = largest(draws, v);
    if (c->most == 0) {
        snprintf(error, GBM_ERROR,
                 "--clusters %.200s: labels 1, 2, ... are wanted", name);
        return GBM_USER_ERROR;
    }
    size_t rows = (size_t)c->rows, most = (size_t)c->most;
    struct members in = {.first = malloc(most * sizeof(int)),
                         .next = malloc(rows * sizeof(int)),
                         .size = malloc(most * sizeof(int))};
    c->together = calloc(rows * rows, sizeof *c->together);
    c->size = calloc(most, sizeof *c->size);
    c->size_sd = calloc(most, sizeof *c->size_sd);
    c->partition = calloc(rows, sizeof *c->partition);
    bool good = in.first && in.next && in.size && c->together && c->size &&
                c->size_sd && c->partition;
    if (good)
        go_through(c, draws, v, &in);
    free(in.first);
    free(in.next);
    free(in.size);
    if (good)
        return GBM_OK;
    gbm_clusters_free(c);
    snprintf(error, GBM_ERROR, "out of memory");
    return GBM_FAILURE;
}

void gbm_clusters_free(struct gbm_clusters *c)
{
    free(c->together);
    free(c->size);
    free(c->size_sd);
    free(c->partition);
    *c = (struct gbm_clusters){0};
}

static void put_numbers(struct rt_out *out, const double *x, int n)
{
    for (int i = 0; i < n; i++)
        rt_out_format(out, "%s%.6g", i ? ", " : "", x[i]);
}

enum gbm_status gbm_clusters_write(const struct gbm_clusters *c,
                                   const char *name, const char *path,
                                   char error[GBM_ERROR])
{
    struct rt_out *out = malloc(sizeof *out);
    enum gbm_status s = GBM_FAILURE;

    if (!out) {
        snprintf(error, GBM_ERROR, "out of memory");
        return s;
    }
    s = rt_out_open(out, path, error);
    if (s == GBM_OK) {
        rt_out_format(out,
                      "{\n  \"labels\": \"%.400s\",\n  \"occupied\": %.6g,\n"
                      "  \"sizes\": {\"mean\": [",
                      name, c->occupied);
        put_numbers(out, c->size, c->most);
        rt_out_text(out, "], \"sd\": [");
        put_numbers(out, c->size_sd, c->most);
        rt_out_format(out,
                      "]},\n  \"least_squares\": {\"chain\": %d, \"draw\": %d, "
                      "\"clusters\": %d, \"partition\": [",
                      c->chain + 1, c->draw + 1, c->nclusters);
        for (int i = 0; i < c->rows; i++)
            rt_out_format(out, "%s%d", i ? ", " : "", c->partition[i]);
        rt_out_text(out, "]},\n  \"together\": [");
        for (int i = 0; i < c->rows; i++) {
            rt_out_text(out, i ? ",\n    [" : "\n    [");
            put_numbers(out, c->together + (int64_t)i * c->rows, c->rows);
            rt_out_char(out, ']');
        }
        rt_out_text(out, "\n  ]\n}\n");
        s = rt_out_close(out, true, error);
    }
    free(out);
    return s;
}
