/* read.c: kept draws read back, from netCDF or from a spool.
 *
 * The libraries that read netCDF break down on some damaged files. They do so
 * in a process of their own, which hands on what it read in the spool's form.
 */
#include "io/draws.h"
#include "io/spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct reading {
    const char *path;
    FILE *between;
};

static enum gbm_status read_whole(void *context, char *error)
{
    const struct reading *r = context;
    struct gbm_draws draws;
    enum gbm_status status = gbm_draws_read_netcdf(&draws, r->path, error);

    if (status == GBM_OK && !rt_spool_write(r->between, &draws)) {
        snprintf(error, GBM_ERROR, "no memory for the draws of %.600s",
                 r->path);
        status = GBM_FAILURE;
    }
    return status;
}

static enum gbm_status read_apart(struct gbm_draws *draws, const char *path,
                                  FILE *between, char *error)
{
    struct reading r = {path, between};
    char broken[GBM_ERROR];

    snprintf(broken, sizeof broken,
             "%.600s: it is damaged: the netCDF library breaks down on it",
             path);
    enum gbm_status status = rt_apart(read_whole, &r, broken, error);
    if (status == GBM_OK)
        return rt_spool_read(draws, between, path, error);
    return strcmp(error, broken) == 0 ? GBM_USER_ERROR : status;
}

/* A run that did not end has its draws beside the file that was asked for. */
static enum gbm_status not_there(const char *path, int code, char *error)
{
    char part[RT_PATH];
    int n = snprintf(error, GBM_ERROR, "%.400s: cannot read: %s", path,
                     strerror(code));

    snprintf(part, sizeof part, "%.*s.part", RT_PATH - 8, path);
    if (access(part, R_OK) == 0)
        snprintf(error + n, GBM_ERROR - (size_t)n,
                 "; that run did not end: what it drew is in %.400s", part);
    return GBM_USER_ERROR;
}

enum gbm_status gbm_draws_read(struct gbm_draws *draws, const char *path,
                               char error[GBM_ERROR])
{
    FILE *f = fopen(path, "rb");
    enum gbm_status status = GBM_FAILURE;

    if (!f)
        return not_there(path, errno, error);
    if (rt_is_spool(f)) {
        status = rt_spool_read(draws, f, path, error);
        fclose(f);
        return status;
    }
    fclose(f);
    int fd = memfd_create("draws", MFD_CLOEXEC);
    FILE *between = fd < 0 ? NULL : fdopen(fd, "w+b");
    if (between) {
        status = read_apart(draws, path, between, error);
        fclose(between);
    } else {
        snprintf(error, GBM_ERROR, "no memory for the draws of %.600s", path);
        if (fd >= 0)
            close(fd);
    }
    return status;
}
