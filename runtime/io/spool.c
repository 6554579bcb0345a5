/* spool.c: draws on disk while the run goes on, so that what ends the run (kill
 * -9, a full disk) does not end the draws. `./sampler summary NAME.part` reads
 * the file, and with --out writes it in any format.
 *
 * Blocks of numbers as they are in memory: a formatted row would cost as much
 * as drawing it, and a netCDF file is consistent only once it is closed. The
 * same form brings draws out of the process that reads netCDF (read.c). */
#include "io/spool.h"
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[16] = "gbm draws 4\n";
/* Before and after a block; the other way round on a machine of other order. */
static const int64_t block_begins = 0x67626d626c6f636b,
                     block_ends = 0x656e646564;

enum { SECONDS_APART = 1, BLOCK_BYTES = 1 << 16 };

/* ---- writing */

static void put(FILE *f, const void *data, size_t bytes)
{
    if (bytes && !ferror(f))
        (void)fwrite(data, 1, bytes, f); /* ferror tells */
}

static void put_integer(FILE *f, int64_t x) { put(f, &x, sizeof x); }

static void put_text(FILE *f, const char *text)
{
    size_t n = text ? strlen(text) : 0;

    put_integer(f, (int64_t)n);
    put(f, text, n);
}

static void put_variable(FILE *f, const struct gbm_draws_variable *v)
{
    put_text(f, v->name);
    put_integer(f, v->ndim);
    for (int d = 0; d < v->ndim; d++)
        put_integer(f, v->dim[d]);
    put_integer(f, v->integer + 2 * (int64_t)v->group);
    put_integer(f, v->cells ? v->count : -1);
    if (v->cells) {
        put(f, v->cells, (size_t)v->count * sizeof *v->cells);
        put(f, v->filled, (size_t)v->length * sizeof *v->filled);
    }
}

static void put_coords(FILE *f, const struct gbm_coords *c)
{
    put_integer(f, c->n);
    for (int i = 0; i < c->n; i++) {
        put_text(f, c->all[i].name);
        put_integer(f, c->all[i].n);
        for (int k = 0; k < c->all[i].n; k++)
            put_text(f, c->all[i].labels[k]);
    }
    put_integer(f, c->ndims);
    for (int i = 0; i < c->ndims; i++) {
        put_text(f, c->dims[i].variable);
        put_integer(f, c->dims[i].ndim);
        for (int d = 0; d < c->dims[i].ndim; d++)
            put_text(f, c->dims[i].dim[d]);
    }
}

static void put_header(FILE *f, const struct gbm_draws *draws, bool complete)
{
    put(f, magic, sizeof magic);
    put_text(f, draws->model);
    put_text(f, draws->version);
    put_text(f, draws->device);
    put_text(f, draws->data);
    put_text(f, draws->relabelled);
    put_integer(f, (int64_t)draws->seed);
    put_integer(f, draws->warmup);
    put_integer(f, draws->thin);
    put_integer(f, complete);
    put_integer(f, draws->unchecked);
    put(f, &draws->timing, sizeof draws->timing);
    put_integer(f, draws->has_deviance);
    put(f, &draws->deviance_at_means, sizeof draws->deviance_at_means);
    put_integer(f, gbm_draws_data_sum(draws));
    put_integer(f, draws->chains);
    put_integer(f, draws->nvariables);
    put_integer(f, draws->nstats);
    for (int i = 0; i < draws->nvariables; i++)
        put_variable(f, &draws->variables[i]);
    for (int i = 0; i < draws->nstats; i++) {
        put_text(f, draws->stats[i].name);
        put_integer(f, draws->stats[i].integer);
    }
    put_coords(f, &draws->coords);
}

/* Draws first, first + 1, ... of all chains. */
static void put_block(FILE *f, const struct gbm_draws *draws, int first,
                      int count)
{
    size_t width = (size_t)draws->width, n = (size_t)count;

    put_integer(f, block_begins);
    put_integer(f, count);
    for (int c = 0; c < draws->chains; c++)
        put(f, gbm_draws_record(draws, c, first), n * width * sizeof(double));
    for (int i = 0; i < draws->nstats; i++)
        for (int c = 0; c < draws->chains; c++)
            put(f,
                draws->stats[i].values + (int64_t)c * draws->capacity + first,
                n * sizeof(double));
    put_integer(f, block_ends);
}

bool rt_spool_write(FILE *f, const struct gbm_draws *draws)
{
    put_header(f, draws, draws->complete);
    put_block(f, draws, 0, draws->kept);
    return fflush(f) == 0 && !ferror(f);
}

void rt_spool_begin(struct rt_spool *spool, const char *out)
{
    struct rt_target target;
    char error[GBM_ERROR];

    *spool = (struct rt_spool){.fd = -1, .shown = rt_clock()};
    if (out && rt_target_set(&target, out, error) == GBM_OK && !target.direct &&
        strlen(out) < RT_PATH - 16)
        snprintf(spool->path, sizeof spool->path, "%.*s.part", RT_PATH - 16,
                 out);
}

/* A new file: what an earlier run left under the name goes, but a run that is
 * still writing there keeps its own. */
static FILE *open_spool(struct rt_spool *spool)
{
    if (spool->fd < 0) {
        unlink(spool->path);
        spool->fd =
            open(spool->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    if (spool->fd < 0)
        return NULL;
    int copy = dup(spool->fd);
    FILE *f = copy < 0 ? NULL : fdopen(copy, "wb");
    if (!f && copy >= 0)
        close(copy);
    return f;
}

/* Blocks are small, so that a disk takes all but the last that it has room
 * for. */
static bool put_some(struct rt_spool *spool, const struct gbm_draws *draws,
                     FILE *f)
{
    int64_t bytes = draws->chains * (draws->width + draws->nstats) * 8;
    int64_t most = BLOCK_BYTES / bytes + 1;
    int left = draws->kept - spool->kept, n = most < left ? (int)most : left;

    put_block(f, draws, spool->kept, n);
    if (fflush(f) != 0 || ferror(f))
        return false;
    spool->kept += n;
    spool->size = lseek(spool->fd, 0, SEEK_CUR);
    return true;
}

enum gbm_status rt_spool_add(struct rt_spool *spool,
                             const struct gbm_draws *draws, bool now,
                             char error[GBM_ERROR])
{
    double clock = rt_clock();
    int count = draws->kept - spool->kept;

    if (!spool->path[0] || spool->failed || count <= 0 ||
        draws->width + draws->nstats == 0 ||
        (!now && clock - spool->shown < SECONDS_APART))
        return GBM_OK;
    errno = 0;
    FILE *f = open_spool(spool);
    if (f && spool->size == 0)
        put_header(f, draws, false);
    while (f && spool->kept < draws->kept && put_some(spool, draws, f))
        ;
    int reason = errno;
    if (f)
        fclose(f);
    spool->shown = clock;
    if (spool->kept == draws->kept)
        return GBM_OK;
    spool->failed = true;
    if (spool->fd >= 0 && ftruncate(spool->fd, spool->size) != 0)
        spool->size = 0; /* the reader drops what is not whole */
    return rt_write_failure(spool->path, reason, error);
}

void rt_spool_end(struct rt_spool *spool, bool keep)
{
    struct stat own, there;

    if (spool->fd < 0)
        return;
    if ((!keep || spool->kept == 0) && fstat(spool->fd, &own) == 0 &&
        stat(spool->path, &there) == 0 && own.st_ino == there.st_ino &&
        own.st_dev == there.st_dev)
        unlink(spool->path);
    close(spool->fd);
    spool->fd = -1;
}

/* ---- reading: nothing in the file is believed before it is looked at */

struct reader {
    FILE *f;
    int64_t left; /* bytes of the file */
    bool bad;
};

static void get(struct reader *r, void *to, int64_t bytes)
{
    if (r->bad || bytes < 0 || bytes > r->left ||
        fread(to, 1, (size_t)bytes, r->f) != (size_t)bytes) {
        r->bad = true;
        return;
    }
    r->left -= bytes;
}

/* A number of low..high, or low and the file is bad. */
static int64_t get_integer(struct reader *r, int64_t low, int64_t high)
{
    int64_t x = low;

    get(r, &x, sizeof x);
    r->bad = r->bad || x < low || x > high;
    return r->bad ? low : x;
}

/* Space for n items that the file must still hold; NULL: it does not. */
static void *get_items(struct reader *r, int64_t n, size_t size)
{
    void *items = NULL;

    r->bad = r->bad || n < 0 || n > r->left / (int64_t)size;
    if (!r->bad)
        items = calloc((size_t)n + 1, size);
    r->bad = r->bad || !items;
    if (items)
        get(r, items, n * (int64_t)size);
    return items;
}

static char *get_text(struct reader *r)
{
    return get_items(r, get_integer(r, 0, 1 << 20), 1);
}

static bool ascending(const int64_t *cells, int64_t count, int64_t length)
{
    for (int64_t k = 0; k < count; k++)
        if (cells[k] < (k ? cells[k - 1] + 1 : 0) || cells[k] >= length)
            return false;
    return true;
}

static void get_variable(struct reader *r, struct gbm_draws *draws)
{
    char *name = get_text(r);
    int ndim = (int)get_integer(r, 0, GBM_MAX_DIMS), dim[GBM_MAX_DIMS] = {0};
    int64_t length = 1;
    enum gbm_status s = GBM_OK;

    for (int d = 0; d < ndim; d++) {
        dim[d] = (int)get_integer(r, 0, INT_MAX);
        if (dim[d] && length > INT64_C(1000000000000) / dim[d])
            r->bad = true;
        else
            length *= dim[d];
    }
    int64_t kind = get_integer(r, 0, 2 * GBM_GROUPS - 1);
    bool integer = kind % 2 != 0;
    draws->group = (enum gbm_group)(kind / 2);
    int64_t count = get_integer(r, -1, length);
    if (r->bad) {
        free(name);
        return;
    }
    if (count < 0) {
        s = gbm_draws_add_variable(draws, name, ndim, dim, integer);
    } else {
        int64_t *cells = get_items(r, count, sizeof *cells);
        double *filled = get_items(r, length, sizeof *filled);
        if (!r->bad && ascending(cells, count, length))
            s = gbm_draws_add_partial(draws, name, ndim, dim, integer, count,
                                      cells, filled);
        else
            r->bad = true;
        free(cells);
        free(filled);
    }
    r->bad = r->bad || s != GBM_OK || draws->width > INT64_C(1000000000000);
    free(name);
}

static void get_coord(struct reader *r, struct gbm_coords *c)
{
    char *name = get_text(r);
    int64_t n = get_integer(r, 0, INT_MAX);

    r->bad = r->bad || !gbm_coords_add(c, name);
    free(name);
    for (int64_t k = 0; k < n && !r->bad; k++) {
        char *label = get_text(r);
        r->bad = r->bad || !gbm_coords_add_label(c, label, strlen(label));
        free(label);
    }
}

static void get_dims(struct reader *r, struct gbm_coords *c)
{
    char *variable = get_text(r);
    int ndim = (int)get_integer(r, 0, GBM_MAX_DIMS);

    for (int d = 0; d < ndim && !r->bad; d++) {
        char *dim = get_text(r);
        r->bad = r->bad || (dim[0] && !gbm_coords_name(c, variable, d, dim));
        free(dim);
    }
    free(variable);
}

static void get_coords(struct reader *r, struct gbm_coords *c)
{
    int64_t n = get_integer(r, 0, INT_MAX);

    for (int64_t i = 0; i < n && !r->bad; i++)
        get_coord(r, c);
    n = get_integer(r, 0, INT_MAX);
    for (int64_t i = 0; i < n && !r->bad; i++)
        get_dims(r, c);
}

/* The strings live in one piece, model first. */
static void get_strings(struct reader *r, struct gbm_draws *draws)
{
    const char **field[] = {&draws->model, &draws->version, &draws->device,
                            &draws->data, &draws->relabelled};
    enum { FIELDS = sizeof field / sizeof field[0] };
    char *text[FIELDS] = {NULL};
    size_t n = 0;

    for (int i = 0; i < FIELDS; i++) {
        text[i] = get_text(r);
        n += text[i] ? strlen(text[i]) + 1 : 1;
    }
    draws->strings = calloc(n, 1);
    r->bad = r->bad || !draws->strings;
    char *at = draws->strings;
    for (int i = 0; i < FIELDS; i++) {
        if (!r->bad && text[i][0]) {
            *field[i] = at;
            strcpy(at, text[i]);
            at += strlen(text[i]) + 1;
        }
        free(text[i]);
    }
}

struct stat_head {
    char *name;
    bool integer;
};

/* Adds up the draws of the whole blocks, and goes back to the first. */
static int64_t count_draws(struct reader *r, int64_t bytes_a_draw)
{
    long start = ftell(r->f);
    int64_t total = 0, left = r->left;

    for (;;) {
        int64_t head[2], end;
        if (left < 24 || fread(head, 8, 2, r->f) != 2 ||
            head[0] != block_begins || head[1] < 0 ||
            (bytes_a_draw && head[1] > (left - 24) / bytes_a_draw) ||
            fseek(r->f, (long)(head[1] * bytes_a_draw), SEEK_CUR) != 0 ||
            fread(&end, 8, 1, r->f) != 1 || end != block_ends)
            break;
        left -= 24 + head[1] * bytes_a_draw;
        total += head[1];
    }
    if (start < 0 || fseek(r->f, start, SEEK_SET) != 0)
        return -1;
    return total;
}

static void get_blocks(struct reader *r, struct gbm_draws *draws, int64_t total)
{
    int64_t width = draws->width * (int64_t)sizeof(double);

    while (draws->kept < total && !r->bad) {
        int first = draws->kept;
        int64_t count;

        get_integer(r, block_begins, block_begins);
        count = get_integer(r, 0, total - first);
        for (int c = 0; c < draws->chains && !r->bad; c++)
            get(r, gbm_draws_record(draws, c, first), count * width);
        for (int i = 0; i < draws->nstats && !r->bad; i++)
            for (int c = 0; c < draws->chains; c++)
                get(r,
                    draws->stats[i].values + (int64_t)c * draws->capacity +
                        first,
                    count * (int64_t)sizeof(double));
        get_integer(r, block_ends, block_ends);
        draws->kept = first + (int)count;
    }
}

static void get_draws(struct reader *r, struct gbm_draws *draws,
                      struct stat_head *stats, int nstats)
{
    int64_t numbers, total;

    r->bad =
        r->bad || draws->width + nstats > INT64_MAX / 64 / (draws->chains + 1);
    if (r->bad)
        return;
    numbers = draws->chains * (draws->width + nstats);
    r->bad = numbers == 0;
    total = r->bad ? 0 : count_draws(r, numbers * (int64_t)sizeof(double));
    if (r->bad || total < 0 || total > INT_MAX ||
        gbm_draws_allocate(draws, draws->chains, (int)total) != GBM_OK) {
        r->bad = true;
        return;
    }
    for (int i = 0; i < nstats; i++)
        if (gbm_draws_add_stat(draws, stats[i].name, stats[i].integer) < 0)
            r->bad = true;
    if (!r->bad)
        get_blocks(r, draws, total);
}

static void get_all(struct reader *r, struct gbm_draws *draws)
{
    get_strings(r, draws);
    get(r, &draws->seed, sizeof draws->seed);
    draws->warmup = (int)get_integer(r, 0, INT_MAX);
    draws->thin = (int)get_integer(r, 1, INT_MAX);
    draws->complete = get_integer(r, 0, 1) != 0;
    draws->unchecked = get_integer(r, 0, 1) != 0;
    get(r, &draws->timing, sizeof draws->timing);
    draws->has_deviance = get_integer(r, 0, 1) != 0;
    get(r, &draws->deviance_at_means, sizeof draws->deviance_at_means);
    draws->data_sum = get_integer(r, 0, INT64_MAX);
    draws->chains = (int)get_integer(r, 1, INT_MAX);
    int nvariables = (int)get_integer(r, 0, INT_MAX);
    int nstats = (int)get_integer(r, 0, 1000);
    for (int i = 0; i < nvariables && !r->bad; i++)
        get_variable(r, draws);
    struct stat_head *stats = calloc((size_t)nstats + 1, sizeof *stats);
    r->bad = r->bad || !stats;
    for (int i = 0; i < nstats && !r->bad; i++) {
        stats[i].name = get_text(r);
        stats[i].integer = get_integer(r, 0, 1) != 0;
    }
    get_coords(r, &draws->coords);
    get_draws(r, draws, stats, nstats);
    for (int i = 0; i < nstats && stats; i++)
        free(stats[i].name);
    free(stats);
}

bool rt_is_spool(FILE *f)
{
    char start[sizeof magic];

    rewind(f);
    return fread(start, 1, sizeof start, f) == sizeof start &&
           memcmp(start, magic, sizeof magic) == 0;
}

enum gbm_status rt_spool_read(struct gbm_draws *draws, FILE *f,
                              const char *path, char error[GBM_ERROR])
{
    struct stat info;
    struct reader r = {.f = f};

    gbm_draws_init(draws);
    if (fstat(fileno(f), &info) == 0 && rt_is_spool(f)) {
        r.left = (int64_t)info.st_size - (int64_t)sizeof magic;
        get_all(&r, draws);
    } else {
        r.bad = true;
    }
    if (!r.bad)
        return GBM_OK;
    gbm_draws_free(draws);
    snprintf(error, GBM_ERROR,
             "%.600s: it is damaged: its beginning does not say what was drawn",
             path);
    return GBM_USER_ERROR;
}
