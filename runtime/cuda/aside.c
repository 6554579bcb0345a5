/* aside.c: steps that leave most of the device idle, as a number's long sum
 * does, run beside those that they have nothing to do with (`waits` of struct
 * gbm_step), on a stream of their own, in their order. Draws are those of one
 * step after the other. */
#include "cuda.h"

#include <stdlib.h>

/* Terms of sums from which on a step is worth two edges of the graph, and the
 * share of the multiprocessors that it may have blocks on. */
enum { ASIDE_TERMS = 4096, ASIDE_SHARE = 4 };

/* Whether few blocks have long to do. What shares something with other steps
 * that `waits` does not know of is not: room on the heap, sums that are kept,
 * barriers of a wide team. */
static bool is_narrow(const struct cuda *c, int k)
{
    const struct gbm_step *s = &c->in->model->steps[k];
    const struct rt_step *plan = &c->in->steps[k];
    const struct cuda_step *mine = &c->steps[k];

    if (s->kind != GBM_STEP_MAP || s->joint || s->matrix || s->leaf ||
        !s->cost || mine->by_rows || mine->recalls ||
        mine->kernel.lanes >= GBM_WIDE_LEAST || plan->count < 1)
        return false;
    const int64_t per_block = mine->kernel.block / mine->kernel.lanes;
    return s->cost(c->host_state) >= ASIDE_TERMS &&
           (mine->at_once + per_block - 1) / per_block <=
               c->multiprocessors / ASIDE_SHARE;
}

/* before[k][j]: step k must follow j, whatever lies between, active or not. */
static void find_order(const struct gbm_model *model, bool *before)
{
    const int n = model->nsteps;

    for (int k = 0; k < n; k++)
        for (const int *w = model->steps[k].waits; *w >= 0; w++) {
            before[k * n + *w] = true;
            for (int j = 0; j < *w; j++)
                if (before[*w * n + j])
                    before[k * n + j] = true;
        }
}

static bool stays(const struct cuda *c, int k)
{
    return c->in->steps[k].active && !c->in->model->steps[k].leaf &&
           !c->steps[k].aside;
}

/* The last step of the main stream that k must follow, or -1; the first that
 * must follow it, or the number of steps. Returns whether any lies between. */
static bool find_room(struct cuda *c, int k, const bool *before)
{
    struct cuda_step *s = &c->steps[k];
    const int n = c->in->model->nsteps;

    s->behind = -1;
    s->ahead_of = n;
    for (int j = 0; j < k; j++)
        if (stays(c, j) && before[k * n + j])
            s->behind = j;
    for (int j = n - 1; j > k; j--)
        if (stays(c, j) && before[j * n + k])
            s->ahead_of = j;
    for (int j = s->behind + 1; j < s->ahead_of; j++)
        if (stays(c, j))
            return true;
    return false;
}

/* Dense blocks have streams of their own, and begin before their place. */
static bool asks_for_streams(const struct cuda *c)
{
    for (int k = 0; k < c->in->model->nsteps; k++)
        if (c->in->model->steps[k].kind == GBM_STEP_DENSE)
            return true;
    return c->chains.lanes > 0 || c->sync_each;
}

enum gbm_status cuda_aside_plan(struct cuda *c)
{
    const int n = c->in->model->nsteps;
    const char *wanted = getenv("GBM_CUDA_ASIDE"); /* for tests: 0 never */
    bool again = true;

    c->has_aside = false;
    if ((wanted && atoi(wanted) == 0) || asks_for_streams(c))
        return GBM_OK;
    bool *before = calloc((size_t)n * (size_t)n + 1, sizeof *before);
    if (!before)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    find_order(c->in->model, before);
    for (int k = 0; k < n; k++)
        c->steps[k].aside = c->in->steps[k].active && is_narrow(c, k);
    while (again) {
        again = false;
        for (int k = 0; k < n; k++)
            if (c->steps[k].aside && !find_room(c, k, before)) {
                c->steps[k].aside = false;
                again = true;
            }
    }
    free(before);
    for (int k = 0; k < n; k++)
        if (c->steps[k].aside) {
            cuda_say(c, ", %s", c->in->model->steps[k].variable);
            c->has_aside = true;
        }
    if (c->has_aside)
        cuda_say(c, " beside other steps");
    return GBM_OK;
}

/* The stream, and an event for each step that another stream waits for. */
enum gbm_status cuda_aside_open(struct cuda *c)
{
    for (int k = 0; c->has_aside && k < c->in->model->nsteps; k++) {
        const struct cuda_step *s = &c->steps[k];
        if (!s->aside)
            continue;
        CU(cuEventCreate(&c->steps[k].done, CU_EVENT_DISABLE_TIMING));
        if (s->behind >= 0 && !c->steps[s->behind].done)
            CU(cuEventCreate(&c->steps[s->behind].done,
                             CU_EVENT_DISABLE_TIMING));
    }
    return c->has_aside && !c->aside.stream ? cuda_stream_open(c, &c->aside)
                                            : GBM_OK;
}

void cuda_aside_close(struct cuda *c)
{
    for (int k = 0; c->steps && k < c->in->model->nsteps; k++)
        if (c->steps[k].done)
            (void)cuEventDestroy(c->steps[k].done);
}

/* A profile has one step at a time. */
static bool asks(const struct cuda *c)
{
    return c->has_aside && !c->rt->profile;
}

enum gbm_status cuda_aside_begin(struct cuda *c)
{
    return asks(c) ? cuda_fork(c, &c->aside, 1) : GBM_OK;
}

/* Before step k goes to the stream that c->stream is then. */
enum gbm_status cuda_aside_turn(struct cuda *c, int k)
{
    const struct cuda_step *s = &c->steps[k];

    for (int j = 0; asks(c) && j < k; j++)
        if (c->steps[j].aside && c->steps[j].ahead_of == k)
            CU(cuStreamWaitEvent(c->stream, c->steps[j].done, 0));
    if (asks(c) && s->aside) {
        cuda_turn(c, &c->aside);
        if (s->behind >= 0)
            CU(cuStreamWaitEvent(c->stream, c->steps[s->behind].done, 0));
    }
    return GBM_OK;
}

/* Behind it. */
enum gbm_status cuda_aside_return(struct cuda *c, int k)
{
    if (asks(c) && c->steps[k].done)
        CU(cuEventRecord(c->steps[k].done, c->stream));
    if (asks(c) && c->steps[k].aside)
        cuda_turn(c, &c->main);
    return GBM_OK;
}

enum gbm_status cuda_aside_end(struct cuda *c)
{
    return asks(c) ? cuda_join(c, &c->aside, 1) : GBM_OK;
}
