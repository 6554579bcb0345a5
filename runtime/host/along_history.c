/* along_history.c: when lines are learnt, and the states that they are learnt
 * from. */
#include "host/host.h"
#include "host/along.h"

#include <math.h>
#include <string.h>

#define FIRST_WIDTH 2.0 /* of a slice, in deviations of the sum */

/* In warm-up lines are learnt after a quarter, a half and all of it, each time
 * from what came after the time before, at first from where most have come from
 * where they started. */
enum { MOMENTS = 4 };

static int moment(const struct host_along *a, int k)
{
    const int eighths[MOMENTS] = {1, 4, 6, 8};
    return k == MOMENTS - 1 ? a->warmup : a->warmup / 8 * eighths[k];
}

/* The last moment up to `done` sweeps; -1: there is none. */
static int moment_before(const struct host_along *a, int done)
{
    int k = -1;
    while (k + 1 < MOMENTS && moment(a, k + 1) <= done)
        k++;
    return k;
}

int host_along_until(const struct host_along *a, const struct rt_block *b,
                     int from)
{
    const int done = (int)b->first + from, k = moment_before(a, done) + 1;
    const bool within = b->adapting && k < MOMENTS;
    return within && moment(a, k) - done < b->sweeps - from
               ? from + moment(a, k) - done
               : b->sweeps;
}

void along_record(struct host_along *a, int chain, int done)
{
    const int k = moment_before(a, done - 1);
    const int after = k < 0 ? 0 : done - moment(a, k), row = after / a->stride;
    if (row == 0 || row > ALONG_ROWS || after % a->stride != 0)
        return;
    double *x = a->history + ((size_t)chain * ALONG_ROWS + (size_t)row - 1) *
                                 (size_t)a->seen;
    for (int i = 0; i < a->seen; i++) {
        const double value = along_value(a, chain, i) + (a->whole[i] ? 0.5 : 0);
        x[i] = a->positive[i] ? log(value) : value;
    }
}

bool host_along_learn(struct host_along *a, const struct rt_block *b, int to)
{
    const int done = (int)b->first + to, k = moment_before(a, done);
    if (!b->adapting || k < 0 || moment(a, k) != done)
        return true;
    if (k == 0) { /* a warm-up begins */
        a->lines = (struct along_lines){.n = 0};
        return true;
    }
    int rows = (done - moment(a, k - 1)) / a->stride;
    rows = rows < ALONG_ROWS ? rows : ALONG_ROWS;
    const struct along_history history = {.x = a->history,
                                          .chains = a->in->nchains,
                                          .rows = rows,
                                          .n = a->seen,
                                          .moving = a->n,
                                          .stride = a->stride,
                                          .always = a->always};
    const size_t cells = (size_t)rows * (size_t)a->seen;
    for (int c = 1; c < a->in->nchains; c++)
        memmove(a->history + (size_t)c * cells,
                a->history + (size_t)c * ALONG_ROWS * (size_t)a->seen,
                cells * sizeof *a->history);
    for (int c = 0; c < a->in->nchains; c++)
        for (int i = 0; i < ALONG_LINES; i++)
            a->widths[c][i] = FIRST_WIDTH;
    return along_learn(&a->lines, &history, a->cost, k == MOMENTS - 1);
}
