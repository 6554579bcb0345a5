/* pass.c: one pass over the rows of a dense block's design
 * (stdlib/kernels/pass_cuda.h): a step draws what a row's score reads, and the
 * scores' sum A' score is made while the row is at hand. It runs beside the
 * steps between the two. */
#include "cuda.h"

#include <stdlib.h>
#include <string.h>

#define PASS_THREADS 256              /* of a crew */
#define PASS_CREWS 3                  /* of a block, on a multiprocessor */
#define PASS_BYTES ((size_t)72 << 10) /* of a crew */
#define PASS_SUMS 16                  /* of a thread, in registers */
#define PASS_CHAINS 4
#define PASS_CELLS (1 << 17)
/* As in stdlib/kernels/pass_matrix_cuda.h. */
#define MATRIX_LANES 1024
#define MATRIX_WARPS 16
#define MATRIX_CHAINS 16
#define MATRIX_ROWS 32  /* of a tile, in four stages */
#define MATRIX_GROUPS 2 /* of 32 columns, in a warp's registers */
#define MATRIX_LEAST 8  /* chains: fewer are done sooner without */
/* Multiprocessors that are left free for what runs beside. */
#define PASS_LEAVES 8

/* As in stdlib/kernels/pass_cuda.h; pointers of the device. */
struct gbm_pass {
    CUdeviceptr design;
    long long rows;
    int d, tile;
    int chains, room;
    CUdeviceptr x, partial;
};

static size_t room(size_t bytes) { return (bytes + 15) / 16 * 16; }

/* Reals that a thread reads at once. */
static int word_width(const struct cuda *c, int d)
{
    const int most = 16 / (int)c->real_size;
    return d % most == 0 ? most : 1;
}

/* Words of a thread, as many as may be: so fewer threads share a row's sum. */
static int words_each(const struct cuda *c, int d)
{
    const int width = word_width(c, d), words = d / width;
    const int most = PASS_SUMS / (width * c->pass_chains);
    const int span = (words + 32 * most - 1) / (32 * most) * 32;
    return (words + span - 1) / span;
}

/* Threads that a row's words are shared out to: whole warps. */
static int row_threads(const struct cuda *c, const struct cuda_pass *pass,
                       int d)
{
    const int words = d / word_width(c, d);
    return (words + 32 * pass->words - 1) / (32 * pass->words) * 32;
}

/* Of a crew. */
static size_t shared_bytes(const struct cuda *c, const struct cuda_pass *pass,
                           int d, int tile)
{
    const size_t rows = (size_t)tile, chains = (size_t)c->pass_chains;
    const size_t warps = (size_t)row_threads(c, pass, d) / 32;
    return room(rows * (size_t)d * c->real_size) +
           room(rows * chains * c->real_size) +
           room(rows * chains * warps * c->real_size);
}

/* Rows of the largest tile, at most as many as a crew has threads; 0: not even
 * four fit. */
static int largest_tile(const struct cuda *c, const struct cuda_pass *pass,
                        int d)
{
    size_t most = c->shared_most / PASS_CREWS;
    int tile = 0;
    if (most > PASS_BYTES)
        most = PASS_BYTES;
    while (tile + 4 <= PASS_THREADS &&
           shared_bytes(c, pass, d, tile + 4) <= most)
        tile += 4;
    return tile;
}

/* Where the matrix is small, other kernels have it in the cache. GBM_CUDA_PASS,
 * for tests: 0 never, 1 wherever it can be. */
static bool is_worth_it(int64_t cells)
{
    const char *value = getenv("GBM_CUDA_PASS");
    if (value && value[0])
        return strcmp(value, "0") != 0 && cells > 0;
    return cells >= PASS_CELLS;
}

/* Groups of columns of each warp where tensor cores are for a design so wide;
 * 0: they are not. Of narrower ones no times are known. */
static int matrix_groups(const struct cuda *c, int d)
{
    const int all = 32 * MATRIX_WARPS, groups = (d + all - 1) / all;

    return c->total_size == sizeof(float) && c->major >= 8 &&
                   c->in->nchains >= MATRIX_LEAST && d % 4 == 0 &&
                   d > all && groups <= MATRIX_GROUPS
               ? groups
               : 0;
}

/* Of a block: its warps' rings of stages, their parts of a tile's predictors,
 * and its scores. */
static size_t matrix_bytes(int groups)
{
    const int depth = groups == 1 ? 8 : 5, stage = 8 * (32 * groups + 8);
    const int draws = MATRIX_ROWS * MATRIX_CHAINS;

    return (size_t)(MATRIX_WARPS * (depth * stage + draws) + draws) *
           sizeof(float);
}

static void plan_weight(struct cuda_pass *pass,
                        const struct gbm_dense_term *term)
{
    snprintf(pass->weight.name, sizeof pass->weight.name, "%.*s_weight_kernel",
             (int)(strlen(term->pass_kernel) - strlen("_kernel")),
             term->pass_kernel);
    pass->weight.effort = 1;
    pass->weight.lanes = 1;
    pass->weight.block = 128;
}

static bool plan_crews(struct cuda *c, struct cuda_pass *pass,
                       const struct gbm_dense_term *term, int d)
{
    const int width = word_width(c, d);
    const int words = (d / width + PASS_THREADS - 1) / PASS_THREADS;
    int chains = c->pass_chains ? c->pass_chains : PASS_CHAINS;

    if (words * width > PASS_SUMS)
        return false;
    if (chains > c->in->nchains)
        chains = c->in->nchains;
    if (chains > PASS_SUMS / (words * width))
        chains = PASS_SUMS / (words * width);
    c->pass_chains = chains;
    pass->words = words_each(c, d);
    if (largest_tile(c, pass, d) == 0)
        return false;
    cuda_name_kernel(&pass->kernel, term->pass_kernel,
                     16 * pass->words + width);
    pass->kernel.block = PASS_CREWS * PASS_THREADS;
    pass->groups = PASS_THREADS / row_threads(c, pass, d);
    return true;
}

bool cuda_pass_plan(struct cuda *c, struct cuda_pass *pass,
                    const struct gbm_dense_term *term, int64_t rows, int d)
{
    if (!term->drawn || !is_worth_it(rows * d))
        return false;
    const struct rt_step *step = &c->in->steps[term->drawn - 1];
    if (!step->active || step->sequential || step->ncolours != 1 ||
        step->elements || step->count != rows)
        return false;
    pass->matrix = matrix_groups(c, d);
    if (pass->matrix && matrix_bytes(pass->matrix) <= c->shared_most) {
        cuda_name_kernel(&pass->kernel, term->pass_kernel,
                         MATRIX_LANES * pass->matrix);
        pass->kernel.block = 32 * MATRIX_WARPS;
    } else {
        pass->matrix = 0;
        if (!plan_crews(c, pass, term, d))
            return false;
    }
    pass->kernel.effort = 5;
    plan_weight(pass, term);
    return true;
}

/* Chains that are taken together. */
static int chains_each(const struct cuda *c, const struct cuda_pass *pass)
{
    return pass->matrix ? MATRIX_CHAINS : c->pass_chains;
}

static int chain_groups(const struct cuda *c, const struct cuda_pass *pass)
{
    const int each = chains_each(c, pass);
    return (c->in->nchains + each - 1) / each;
}

/* Rows of tiles with which so many crews, all with as many, are done in as few
 * rounds as with the largest: the last round is then as full as the others. */
static int even_tile(int64_t rows, int64_t crews, int largest)
{
    const int64_t rounds = (rows + crews * largest - 1) / (crews * largest);
    const int64_t each = rounds > 0 ? crews * rounds : crews;
    const int64_t tile = ((rows + each - 1) / each + 3) / 4 * 4;
    return tile < 4 ? 4 : (int)tile;
}

/* Blocks for a group of chains, at most, as all groups go through the same rows
 * at the same time. */
static int64_t most_blocks(const struct cuda *c, int groups)
{
    const int64_t places = c->multiprocessors > 4 * PASS_LEAVES
                               ? c->multiprocessors - PASS_LEAVES
                               : c->multiprocessors;
    return places > groups ? places / groups : 1;
}

static void divide_rows(const struct cuda *c, struct cuda_pass *pass,
                        int64_t rows, int d, int64_t most)
{
    const int crews = pass->matrix ? 1 : PASS_CREWS;

    if (pass->matrix) {
        pass->tile = MATRIX_ROWS;
        pass->bytes = matrix_bytes(pass->matrix);
    } else {
        pass->tile = even_tile(rows, most * crews, largest_tile(c, pass, d));
        pass->room = shared_bytes(c, pass, d, pass->tile);
        pass->bytes = (size_t)crews * pass->room;
    }
    const int64_t tiles = (rows + pass->tile - 1) / pass->tile;
    pass->blocks = (tiles + crews - 1) / crews;
    if (pass->blocks > most)
        pass->blocks = most;
    pass->parts = (int)pass->blocks * (pass->matrix ? 1 : crews * pass->groups);
}

enum gbm_status cuda_pass_request(struct cuda *c, struct cuda_pass *pass,
                                  int64_t rows, int d)
{
    const int groups = chain_groups(c, pass);

    divide_rows(c, pass, rows, d, most_blocks(c, groups));
    TRY(cuda_allow_shared(c, &pass->kernel, pass->bytes));
    return cuda_request(c, &pass->partial,
                        (size_t)(groups * pass->parts) *
                            (size_t)chains_each(c, pass) * (size_t)d *
                            c->real_size,
                        "the sums of a Gaussian block");
}

enum gbm_status cuda_pass_weight(struct cuda *c, const struct cuda_pass *pass,
                                 int64_t rows, int64_t row, CUdeviceptr weight)
{
    int chains = c->in->nchains;
    long long element = row, count = rows;
    void *args[] = {c->state, &element, &count, &chains, &weight};
    if (row < 0)
        return GBM_OK;
    return cuda_launch_flat(c, &pass->weight, chains, args);
}

enum gbm_status cuda_pass_run(struct cuda *c, const struct cuda_pass *pass,
                              const struct cuda_dense_term *term, int d,
                              CUdeviceptr x, bool add, CUdeviceptr sum)
{
    const int groups = chain_groups(c, pass);
    int chains = c->in->nchains, each = chains_each(c, pass), adds = add;
    int parts = pass->parts;
    struct gbm_pass p = {term->matrix, term->rows,      d, pass->tile,
                         chains,       (int)pass->room, x, pass->partial};
    CUdeviceptr partial = pass->partial;
    void *args[] = {c->state, &c->control, &p};
    void *fold_args[] = {&partial, &parts, &each, &d, &chains, &adds, &sum};

    TRY(cuda_launch_grid(c, &pass->kernel, groups, (int)pass->blocks,
                         pass->kernel.block, pass->bytes, args));
    return cuda_launch_grid(c, &c->fixed.dense_fold, (each * d + 31) / 32,
                            groups, 1024, 0, fold_args);
}
