/* coda.c: the CODA format that JAGS writes and R's coda reads: an index file
 * shared by all chains, and one file of "iteration  value" lines per chain. Of
 * these files the index alone is read as a table that may have comments. */
#include "io/output.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As in JAGS, an element with any NaN is left out of all chains. */
static bool has_nan(const struct gbm_draws *draws, int64_t offset)
{
    for (int c = 0; c < draws->chains; c++)
        for (int d = 0; d < draws->kept; d++)
            if (isnan(gbm_draws_record(draws, c, d)[offset]))
                return true;
    return false;
}

static enum gbm_status write_index(struct rt_out *out,
                                   const struct gbm_draws *draws,
                                   const struct rt_column *columns,
                                   int64_t count, const char *file, char *error)
{
    enum gbm_status status = rt_out_open(out, file, error);

    if (status)
        return status;
    if (draws->unchecked)
        rt_out_text(out, "# warning = " GBM_UNCHECKED "\n");
    if (!draws->complete)
        rt_out_text(out, "# the run was stopped early: this is what was drawn "
                         "until then\n");
    for (int64_t i = 0; i < count; i++) {
        const struct gbm_draws_variable *v = columns[i].variable;
        char name[512];

        gbm_cell_name(v->name, v->ndim, v->dim, columns[i].cell, name,
                      sizeof name);
        rt_out_text(out, name);
        rt_out_char(out, ' ');
        rt_out_integer(out, i * draws->kept + 1);
        rt_out_char(out, ' ');
        rt_out_integer(out, (i + 1) * draws->kept);
        rt_out_char(out, '\n');
    }
    return rt_out_close(out, true, error);
}

static enum gbm_status write_chain(struct rt_out *out,
                                   const struct gbm_draws *draws,
                                   const struct rt_column *columns,
                                   int64_t count, int chain, const char *file,
                                   char *error)
{
    enum gbm_status status = rt_out_open(out, file, error);

    if (status)
        return status;
    out->digits = draws->digits;
    for (int64_t i = 0; i < count; i++)
        for (int d = 0; d < draws->kept && !out->failure; d++) {
            const double *record = gbm_draws_record(draws, chain, d);

            rt_out_integer(out, draws->warmup + ((int64_t)d + 1) * draws->thin);
            rt_out_text(out, "  ");
            rt_out_number(out, record[columns[i].offset], "NA");
            rt_out_char(out, '\n');
        }
    return rt_out_close(out, true, error);
}

enum gbm_status rt_write_coda(const struct gbm_draws *draws, const char *path,
                              char *error)
{
    struct rt_column *columns = rt_columns(draws);
    struct rt_out *out = malloc(sizeof *out);
    enum gbm_status status = GBM_OK;
    char file[RT_PATH];
    int64_t count = 0;

    if (!columns || !out) {
        snprintf(error, GBM_ERROR, "out of memory");
        status = GBM_FAILURE;
    }
    for (int64_t i = 0; i < draws->quantities && status == GBM_OK; i++)
        if (!has_nan(draws, columns[i].offset))
            columns[count++] = columns[i];
    for (int c = 0; c < draws->chains && status == GBM_OK; c++) {
        snprintf(file, sizeof file, "%.*schain%d.txt", RT_PATH - 32, path,
                 c + 1);
        status = write_chain(out, draws, columns, count, c, file, error);
    }
    snprintf(file, sizeof file, "%.*sindex.txt", RT_PATH - 32, path);
    if (status == GBM_OK)
        status = write_index(out, draws, columns, count, file, error);
    free(out);
    free(columns);
    return status;
}
