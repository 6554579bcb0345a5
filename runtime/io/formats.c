/* formats.c: which writer writes draws. */
#include "io/draws.h"
#include "io/output.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool ends_with(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);

    return n >= m && strcasecmp(path + n - m, suffix) == 0;
}

enum gbm_status gbm_format_of(const char *name, const char *path,
                              enum gbm_format *format, char error[GBM_ERROR])
{
    if (name ? strcmp(name, "netcdf") == 0 : ends_with(path, ".nc")) {
        *format = GBM_FORMAT_NETCDF;
    } else if (name ? strcmp(name, "csv") == 0 : ends_with(path, ".csv")) {
        *format = GBM_FORMAT_CSV;
    } else if (name && strcmp(name, "coda") == 0) {
        *format = GBM_FORMAT_CODA;
    } else if (name) {
        snprintf(error, GBM_ERROR,
                 "unknown format '%.200s': netcdf, csv or coda are known",
                 name);
        return GBM_USER_ERROR;
    } else {
        snprintf(error, GBM_ERROR,
                 "%.600s: the name does not tell the format: end it in .nc or "
                 ".csv, or add --format netcdf|csv|coda",
                 path);
        return GBM_USER_ERROR;
    }
    return GBM_OK;
}

enum gbm_status gbm_draws_check_output(enum gbm_format format, const char *path,
                                       int chains, char error[GBM_ERROR])
{
    char file[RT_PATH];
    enum gbm_status status;

    if (strlen(path) > RT_PATH - 64) {
        snprintf(error, GBM_ERROR, "the output file's name is too long");
        return GBM_USER_ERROR;
    }
    switch (format) {
    case GBM_FORMAT_NETCDF:
        status = rt_check_netcdf(error);
        return status ? status : rt_target_try(path, error);
    case GBM_FORMAT_CSV:
        for (int c = 1; c <= chains; c++) {
            rt_cmdstan_path(path, c, file);
            status = rt_target_try(file, error);
            if (status)
                return status;
        }
        return GBM_OK;
    case GBM_FORMAT_CODA:
        snprintf(file, sizeof file, "%.*sindex.txt", RT_PATH - 32, path);
        return rt_target_try(file, error);
    }
    return GBM_USER_ERROR;
}

enum gbm_status gbm_draws_write(const struct gbm_draws *draws,
                                enum gbm_format format, const char *path,
                                char error[GBM_ERROR])
{
    switch (format) {
    case GBM_FORMAT_NETCDF:
        return rt_write_netcdf(draws, path, error);
    case GBM_FORMAT_CSV:
        return rt_write_cmdstan(draws, path, error);
    case GBM_FORMAT_CODA:
        return rt_write_coda(draws, path, error);
    }
    return GBM_USER_ERROR;
}
