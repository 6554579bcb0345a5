/* launch.c: kernels, the teams of their elements, launches. */
#include "cuda.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The largest power of two that is at most x; 1 if there is none. */
static int64_t power_below(int64_t x)
{
    int64_t p = 1;
    while (p <= x / 2)
        p *= 2;
    return p;
}

/* An element's sum is read together by neighbouring lanes, so a long one wants
 * some lanes for that alone. Beyond, lanes fill a device that too few elements
 * would leave idle; each lane is left two terms at least. */
int cuda_lanes(const struct cuda *c, int64_t cost, int64_t items)
{
    const int64_t busy = (int64_t)c->multiprocessors * 1024;
    int64_t together = cost >= 512 ? 32 : cost >= 64 ? 8 : cost >= 16 ? 4 : 1;
    int64_t lanes = power_below(items > 0 ? busy / items : 1);

    if (lanes > power_below(cost / 2))
        lanes = power_below(cost / 2);
    if (lanes < together)
        lanes = together;
    if (lanes <= 32)
        return (int)lanes;
    if (cost < 512)
        return 32;
    return cost >= 16384 && lanes >= 1024 ? 1024 : 256;
}

/* About how many terms of a sum or operations of a list a block of 1024 lanes
 * does in a microsecond (2,000 of either on an H100: a million rows, a chain of
 * 10^5 vectors), and what a barrier of a wide team takes of these. */
#define BLOCK_SPEED 2500.0
#define WIDE_BARRIER (1.5 * BLOCK_SPEED)

/* 0, or the lanes of a wide team (team.h), for an element so large that it is
 * worth the `barriers` of one. All its blocks must be on the device at once:
 * each multiprocessor holds one at least. */
int cuda_wide_lanes(const struct cuda *c, int64_t cost, int64_t barriers,
                    int64_t items)
{
    /* for tests: 0 never, or wherever it can be, by so many blocks at most */
    const char *wanted = getenv("GBM_CUDA_WIDE");
    int64_t blocks = power_below(c->multiprocessors / (items > 0 ? items : 1));

    if (blocks > GBM_WIDE_BLOCKS)
        blocks = GBM_WIDE_BLOCKS;
    if (wanted && atoi(wanted) > 1 && blocks > atoi(wanted))
        blocks = power_below(atoi(wanted));
    if (blocks * GBM_WIDE_BLOCK < GBM_WIDE_LEAST)
        return 0;
    if (wanted && wanted[0])
        return strcmp(wanted, "0") ? (int)(blocks * GBM_WIDE_BLOCK) : 0;
    return (double)cost > 2 * WIDE_BARRIER * (double)barriers
               ? (int)(blocks * GBM_WIDE_BLOCK)
               : 0;
}

void cuda_name_kernel(struct cuda_kernel *k, const char *name, int lanes)
{
    const char *end = "_kernel";
    const size_t length = strlen(name), tail = strlen(end);
    const bool has = length > tail && strcmp(name + length - tail, end) == 0;

    snprintf(k->name, sizeof k->name, "%s%s", name, has ? "" : end);
    k->effort = 1;
    k->lanes = lanes;
    k->block = lanes >= GBM_WIDE_LEAST ? GBM_WIDE_BLOCK
               : lanes > 32            ? lanes
                                       : 128;
}

void cuda_halve_blocks(struct cuda_kernel *k)
{
    const int lanes = k->lanes / GBM_WIDE_BLOCK * GBM_WIDE_HALF;

    if (lanes < GBM_WIDE_LEAST)
        return;
    k->lanes = lanes;
    k->block = GBM_WIDE_HALF;
}

enum gbm_status cuda_allow_shared(struct cuda *c, struct cuda_kernel *k,
                                  size_t bytes)
{
    k->shared = (int)bytes;
    CU(cuFuncSetAttribute(k->function,
                          CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                          k->shared));
    return GBM_OK;
}

enum gbm_status cuda_find(struct cuda *c, CUmodule module,
                          struct cuda_kernel *k)
{
    CUresult result = cuModuleGetFunction(&k->function, module, k->name);
    if (result == CUDA_ERROR_NOT_FOUND)
        return rt_fail(c->rt, GBM_FAILURE,
                       "the generated program has no kernel %s", k->name);
    CU(result);
    /* now, as nothing may be loaded while a graph is captured */
    CU(cuFuncLoad(k->function));
    if (k->shared)
        TRY(cuda_allow_shared(c, k, (size_t)k->shared));
    int active = 0;
    CU(cuOccupancyMaxActiveBlocksPerMultiprocessor(&active, k->function,
                                                   k->block, 0));
    if (active < 1)
        return rt_fail(c->rt, GBM_FAILURE,
                       "kernel %s does not fit on %s with %d threads", k->name,
                       c->device_name, k->block);
    k->fill = (int64_t)active * c->multiprocessors;
    return GBM_OK;
}

/* A kernel that no model changes. */
struct fixed {
    size_t at; /* in struct cuda_fixed */
    const char *name;
};
#define FIXED(kernel) .at = offsetof(struct cuda_fixed, kernel), .name = #kernel

static const struct fixed all_kernels[] = {
    {FIXED(sweeps_done)}, {FIXED(keep)},           {FIXED(add_densities)},
    {FIXED(add_cells)},   {FIXED(index_count)},    {FIXED(index_sums)},
    {FIXED(index_scan)},  {FIXED(index_place)},    {FIXED(dense_fold)},
    {FIXED(dense_add)},   {FIXED(dense_multiply)},
};

static const struct fixed large_kernels[] = {
    {FIXED(dense_scale_rows)},
    {FIXED(dense_mirror)},
    {FIXED(dense_form)},
    {FIXED(dense_potential)},
    {FIXED(dense_hold_potential)},
    {FIXED(dense_hold_precision)},
    {FIXED(dense_rescue)},
    {FIXED(solve_down)},
    {FIXED(solve_up)},
    {FIXED(wide_scale)},
    {FIXED(wide_prior)},
    {FIXED(wide_residual)},
    {FIXED(wide_identity)},
    {FIXED(wide_finish)},
};

static const struct fixed tiles_kernels[] = {
    {FIXED(tiles_factor)},
    {FIXED(tiles_draw)},
};

static const struct fixed small_kernels[] = {
    {FIXED(small_gram)},
    {FIXED(small_fold)},
    {FIXED(small_draw)},
};

static const struct fixed ladder_kernels[] = {
    {FIXED(ladder_powers)},  {FIXED(ladder_logliks)},    {FIXED(ladder_swap)},
    {FIXED(particles_copy)}, {FIXED(particles_average)},
};

static const struct fixed filter_kernels[] = {
    {FIXED(filter_begin)},  {FIXED(filter_weigh)},   {FIXED(filter_take)},
    {FIXED(filter_number)}, {FIXED(filter_descend)}, {FIXED(filter_spread)},
    {FIXED(filter_fetch)},  {FIXED(filter_digit)},   {FIXED(filter_tell)},
    {FIXED(filter_trace)},  {FIXED(filter_gather)},  {FIXED(filter_squares)},
    {FIXED(filter_paths)},  {FIXED(filter_keep)},
};

static enum gbm_status find_each(struct cuda *c, const struct fixed *list,
                                 size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct cuda_kernel *k =
            (struct cuda_kernel *)((char *)&c->fixed + list[i].at);
        snprintf(k->name, sizeof k->name, "%s", list[i].name);
        k->lanes = 1;
        k->block = 256;
        TRY(cuda_find(c, c->kernels, k));
    }
    return GBM_OK;
}
#define FIND_EACH(c, list) TRY(find_each(c, list, sizeof list / sizeof *list))

enum gbm_status cuda_find_fixed(struct cuda *c)
{
    FIND_EACH(c, all_kernels);
    if (cuda_dense_has(c, false))
        FIND_EACH(c, large_kernels);
    if (cuda_dense_tiles(c))
        FIND_EACH(c, tiles_kernels);
    if (cuda_dense_has(c, true))
        FIND_EACH(c, small_kernels);
    if (cuda_ladder_has(c))
        FIND_EACH(c, ladder_kernels);
    if (c->filter.on)
        FIND_EACH(c, filter_kernels);
    return GBM_OK;
}

/* A kernel that follows another on its stream begins while that is still at
 * work, and waits by itself (gbm_follow of team.h): so it is there by then. */
static CUresult launch(struct cuda *c, const struct cuda_kernel *k,
                       const CUlaunchConfig *place, void **args)
{
    CUlaunchAttribute early = {
        .id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
        .value.programmaticStreamSerializationAllowed = 1};
    CUlaunchConfig config = *place;

    if (k->lanes >= GBM_WIDE_LEAST) /* its blocks wait for each other */
        early = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                    .value.cooperative = 1};
    config.hStream = c->stream;
    config.attrs = &early;
    config.numAttrs =
        k->lanes >= GBM_WIDE_LEAST || (c->follows && c->followed == c->stream);
    CUresult result = cuLaunchKernelEx(&config, k->function, args, NULL);
    c->followed = k->lanes >= GBM_WIDE_LEAST ? NULL : c->stream;
    return result;
}

enum gbm_status cuda_launch_grid(struct cuda *c, const struct cuda_kernel *k,
                                 int64_t grid_x, int grid_y, int block,
                                 size_t shared, void **args)
{
    if (grid_x <= 0 || grid_y <= 0)
        return GBM_OK;
    if (grid_x > 0x7fffffff)
        grid_x = 0x7fffffff;
    c->launches++;
    const CUlaunchConfig place = {.gridDimX = (unsigned)grid_x,
                                  .gridDimY = (unsigned)grid_y,
                                  .gridDimZ = 1,
                                  .blockDimX = (unsigned)block,
                                  .blockDimY = 1,
                                  .blockDimZ = 1,
                                  .sharedMemBytes = (unsigned)shared};
    CUresult result = launch(c, k, &place, args);
    if (result == CUDA_SUCCESS && c->sync_each)
        result = cuStreamSynchronize(c->stream);
    if (result != CUDA_SUCCESS) {
        char call[256];
        snprintf(call, sizeof call,
                 "kernel %s (%lld x %d blocks of %d threads, %zu bytes shared)",
                 k->name, (long long)grid_x, grid_y, block, shared);
        return cuda_failed(c, result, call, __FILE__, __LINE__);
    }
    return GBM_OK;
}

enum gbm_status cuda_launch(struct cuda *c, const struct cuda_kernel *k,
                            int64_t items, void **args)
{
    if (k->lanes >= GBM_WIDE_LEAST) {
        const int64_t team = k->lanes / k->block;
        int64_t teams = k->fill / team;
        if (teams > GBM_WIDE_TEAMS)
            teams = GBM_WIDE_TEAMS;
        return cuda_launch_grid(c, k, team * (items < teams ? items : teams), 1,
                                k->block, 0, args);
    }
    const int64_t per_block = k->block / k->lanes;
    int64_t blocks = (items + per_block - 1) / per_block;
    /* GBM_KERNEL_SPLIT gives a team several elements if there are more than the
     * device holds at once */
    if (k->lanes > 1 && blocks > 2 * k->fill)
        blocks = 2 * k->fill;
    if (k->most > 0 && blocks > k->most)
        blocks = k->most;
    return cuda_launch_grid(c, k, blocks, 1, k->block, (size_t)k->shared, args);
}

enum gbm_status cuda_launch_flat(struct cuda *c, const struct cuda_kernel *k,
                                 int64_t items, void **args)
{
    const int64_t most = (int64_t)c->multiprocessors * 16;
    int64_t blocks = (items + k->block - 1) / k->block;
    if (blocks > most)
        blocks = most;
    return cuda_launch_grid(c, k, blocks, 1, k->block, 0, args);
}
