/* pass_cuda.h: one pass over the rows of a dense block's design, in which each
 * row's node is drawn and its score enters the sum A' score. A block of threads
 * takes a multiprocessor to itself, so that others stay free for what runs
 * beside. In it, crews of threads have a tile of rows each in shared memory,
 * for a group of chains (blockIdx.x, so that blocks of the same rows are
 * neighbours, and one finds in the cache what another has read); while one
 * waits for its rows another works:
 *
 *     a thread a word    row times the block's x, added up over threads
 *     a thread a row     its draw, given that predictor, and its score
 *     a thread a word    score times row, added to sums in registers
 *
 * A word is as many reals as a thread reads at once: 16 bytes where rows are
 * whole numbers of them, else one real. Where words are few, groups of threads
 * share out the rows. Included by the device's text alone, after
 * skeleton_cuda.h. */
#ifndef GBM_PASS_CUDA_H
#define GBM_PASS_CUDA_H

#include "skeleton_cuda.h"

#define GBM_PASS_THREADS 256 /* of a crew */
#define GBM_PASS_CREWS 3
/* Chains of a group, as the runtime says. */
#ifndef GBM_PASS_CHAINS
#define GBM_PASS_CHAINS 1
#endif

/* As in runtime/cuda/pass.c. */
struct gbm_pass {
    const real *design; /* [rows][d] */
    long long rows;
    int d, tile;      /* rows of a tile: a multiple of 4 */
    int chains, room; /* bytes of a crew's shared memory, a multiple of 16 */
    const real *x;    /* [chains][d], the block in each */
    real *partial;    /* [groups of chains][blocks][crews][groups of threads]
                         [GBM_PASS_CHAINS][d] */
};

/* "Lanes" of a kernel by pass_matrix_cuda.h: this for each group of columns. */
#define GBM_PASS_MATRIX 1024

#define GBM_PASS_ROOM(bytes) (((bytes) + 15) / 16 * 16)

template <int WIDTH> struct alignas(WIDTH * sizeof(real)) gbm_word {
    real at[WIDTH];
};

/* A thread's words are first, first + span, ... of the rows group, group +
 * groups, ...: as many threads as a row is shared out to, whole warps, are a
 * group; the thread's warp is number `warp` of it. */
struct gbm_pass_place {
    int words, first, span, group, groups, warp;
};

GBM_FN struct gbm_pass_place gbm_pass_place_of(int thread, int words, int each)
{
    const int span = (words + 32 * each - 1) / (32 * each) * 32;
    const int group = thread / span, groups = GBM_PASS_THREADS / span;
    struct gbm_pass_place at = {words, thread % span, span,
                                group, groups,        thread % span / 32};
    if (group == groups) /* threads that are left over */
        at.first = words;
    return at;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define GBM_COPIES_ASIDE
#endif

/* Copies 16 bytes to shared memory, for gbm_wait_for_copies to wait for; they
 * take no room in the cache. */
GBM_FN void gbm_copy_word(void *to, const void *from)
{
#ifdef GBM_COPIES_ASIDE
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(to)),
                 "l"(from)
                 : "memory");
#else
    *(float4 *)to = *(const float4 *)from;
#endif
}

GBM_FN void gbm_wait_for_copies(void)
{
#ifdef GBM_COPIES_ASIDE
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* Waits for the threads of a crew. */
GBM_FN void gbm_pass_sync(int crew)
{
#ifdef __CUDA_ARCH__
    asm volatile("bar.sync %0, %1;" ::"r"(crew + 1), "n"(GBM_PASS_THREADS)
                 : "memory");
#else
    (void)crew;
    __syncthreads(); /* crews go the same number of rounds */
#endif
}

/* Copies rows that follow one another; the first lies at a multiple of 16
 * bytes. */
GBM_FN void gbm_pass_load(int thread, real *tile, const real *rows, int cells)
{
    constexpr int width = 16 / (int)sizeof(real);
    const int whole = cells / width * width;
    for (int i = thread * width; i < whole; i += GBM_PASS_THREADS * width)
        gbm_copy_word(tile + i, rows + i);
    for (int i = whole + thread; i < cells; i += GBM_PASS_THREADS)
        tile[i] = rows[i];
    gbm_wait_for_copies();
}

/* The sum over the warp's lanes of each of N <= 16 values, a power of two:
 * value number lane / (32 / N) in each lane. */
template <int N>
GBM_FN gbm_total gbm_sum_values(gbm_total (&value)[N], int step = 16)
{
    const bool upper = ((int)threadIdx.x & step) != 0;
    gbm_total half[N / 2];
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
        const gbm_total mine = upper ? value[i + N / 2] : value[i];
        const gbm_total its = upper ? value[i] : value[i + N / 2];
        half[i] = mine + __shfl_xor_sync(0xffffffffu, its, step);
    }
    if constexpr (N > 2) {
        return gbm_sum_values<N / 2>(half, step / 2);
    } else {
        gbm_total sum = half[0];
        for (step /= 2; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, step);
        return sum;
    }
}

/* Predictors that are added up at once: registers go to these or to words. */
template <int WORDS> __device__ constexpr int gbm_pass_values(void)
{
    return WORDS == 1 ? 16 : WORDS == 2 ? 8 : 4;
}

/* part[warp][row][chain]: what a warp's words give of each predictor. */
template <int WORDS, int WIDTH>
GBM_FN void
gbm_pass_predict(const struct gbm_pass &p, const struct gbm_pass_place &at,
                 const real *tile, int rows,
                 const real (&x)[WORDS][GBM_PASS_CHAINS][WIDTH], real *part)
{
    constexpr int chains = GBM_PASS_CHAINS;
    constexpr int values = gbm_pass_values<WORDS>(), batch = values / chains;
    const int lane = (int)threadIdx.x % 32, which = lane / (32 / values);

    for (int start = at.group; start < rows && at.group < at.groups;
         start += batch * at.groups) {
        gbm_total value[values] = {};
#pragma unroll
        for (int r = 0; r < batch; r++) {
            const int row = start + r * at.groups;
#pragma unroll
            for (int j = 0; j < WORDS; j++) {
                const int w = at.first + j * at.span;
                if (row >= rows || w >= at.words)
                    continue;
                const gbm_word<WIDTH> a =
                    ((const gbm_word<WIDTH> *)tile)[row * at.words + w];
#pragma unroll
                for (int c = 0; c < chains; c++)
#pragma unroll
                    for (int v = 0; v < WIDTH; v++)
                        value[r * chains + c] = gbm_multiply_add(
                            a.at[v], x[j][c][v], value[r * chains + c]);
            }
        }
        const gbm_total sum = gbm_sum_values(value);
        const int row = start + which / chains * at.groups;
        if (lane % (32 / values) == 0 && which < batch * chains && row < rows)
            part[(at.warp * p.tile + row) * chains + which % chains] =
                (real)sum;
    }
}

/* Adds score times row. */
template <int WORDS, int WIDTH>
GBM_FN void gbm_pass_add(const struct gbm_pass_place &at, const real *tile,
                         int rows, const real *score,
                         real (&sum)[WORDS][GBM_PASS_CHAINS][WIDTH])
{
#pragma unroll
    for (int j = 0; j < WORDS; j++) {
        const int w = at.first + j * at.span;
        if (w >= at.words)
            break;
#pragma unroll 4
        for (int i = at.group; i < rows; i += at.groups) {
            const gbm_word<WIDTH> a =
                ((const gbm_word<WIDTH> *)tile)[i * at.words + w];
#pragma unroll
            for (int c = 0; c < GBM_PASS_CHAINS; c++) {
                const real s = score[i * GBM_PASS_CHAINS + c];
#pragma unroll
                for (int v = 0; v < WIDTH; v++)
                    sum[j][c][v] = gbm_multiply_add(a.at[v], s, sum[j][c][v]);
            }
        }
    }
}

/* ROW::score(base, now, chain, element, predictor) draws an element's node and
 * returns its score. A crew's shared memory: tile * d reals; tile *
 * GBM_PASS_CHAINS scores; as many parts of predictors for each warp of a group;
 * the first two rounded up to 16 bytes. */
template <int WORDS, int WIDTH, class ROW>
GBM_FN void gbm_pass_rows(const struct state &base, const struct gbm_sweep &now,
                          const struct gbm_pass &p, void *memory)
{
    constexpr int chains = GBM_PASS_CHAINS, reals = (int)sizeof(real);
    const int crew = (int)threadIdx.x / GBM_PASS_THREADS;
    const int thread = (int)threadIdx.x % GBM_PASS_THREADS;
    real *tile = (real *)((char *)memory + crew * p.room);
    real *score = tile + GBM_PASS_ROOM(p.tile * p.d * reals) / reals;
    real *part = score + GBM_PASS_ROOM(p.tile * chains * reals) / reals;
    const struct gbm_pass_place at =
        gbm_pass_place_of(thread, p.d / WIDTH, WORDS);
    const int first = (int)blockIdx.x * chains; /* chain of the group */
    real x[WORDS][chains][WIDTH] = {}, sum[WORDS][chains][WIDTH] = {};

#pragma unroll
    for (int j = 0; j < WORDS; j++)
#pragma unroll
        for (int c = 0; c < chains; c++)
#pragma unroll
            for (int v = 0; v < WIDTH; v++) {
                const int w = at.first + j * at.span;
                if (w < at.words && first + c < p.chains)
                    x[j][c][v] =
                        p.x[(first + c) * (long long)p.d + w * WIDTH + v];
            }
    /* neighbouring tiles, as they share what is read by the line */
    const int crews = (int)gridDim.y * GBM_PASS_CREWS;
    const long long me = (long long)blockIdx.y * GBM_PASS_CREWS + crew;
    const long long tiles = (p.rows + p.tile - 1) / p.tile;
    const int rounds = (int)((tiles + crews - 1) / crews);
    for (int round = 0; round < rounds; round++) {
        const long long start = (me * rounds + round) * p.tile;
        const long long left = p.rows - start;
        const int rows = (int)(left < p.tile ? left > 0 ? left : 0 : p.tile);
        gbm_pass_sync(crew); /* the last tile has been read by all */
        gbm_pass_load(thread, tile, p.design + start * p.d, rows * p.d);
        gbm_pass_sync(crew);
        gbm_pass_predict<WORDS, WIDTH>(p, at, tile, rows, x, part);
        gbm_pass_sync(crew);
        for (int t = thread; t < rows * chains; t += GBM_PASS_THREADS) {
            real predictor = 0, its_score = 0;
            for (int w = 0; w < at.span / 32; w++)
                predictor += part[w * p.tile * chains + t];
            if (first + t % chains < p.chains)
                its_score = ROW::score(base, now, first + t % chains,
                                       start + t / chains, predictor);
            score[t] = its_score;
        }
        gbm_pass_sync(crew);
        gbm_pass_add<WORDS, WIDTH>(at, tile, rows, score, sum);
    }
    real *out = p.partial +
                (((long long)blockIdx.x * crews + me) * at.groups + at.group) *
                    chains * p.d;
#pragma unroll
    for (int j = 0; j < WORDS; j++)
#pragma unroll
        for (int c = 0; c < chains; c++)
#pragma unroll
            for (int v = 0; v < WIDTH; v++) {
                const int w = at.first + j * at.span;
                if (w < at.words)
                    out[c * p.d + w * WIDTH + v] = sum[j][c][v];
            }
}

#include "pass_matrix_cuda.h"

/* Threads of a block, by the kernel's "lanes". */
__device__ constexpr int gbm_pass_block(int lanes)
{
    return lanes >= GBM_PASS_MATRIX ? GBM_MATRIX_WARPS * 32
                                    : GBM_PASS_CREWS * GBM_PASS_THREADS;
}

/* The node of an element is drawn by predicted (its conditional, given the
 * predictor) and finish of step `number`; its score is `row`'s. The kernel's
 * "lanes" are 16 * WORDS + WIDTH, or GBM_PASS_MATRIX * GROUPS. The second
 * kernel: the weight of one row in each chain; weight: [chains][rows]. */
#define GBM_KERNEL_PASS(function, predicted, finish, row, conditional, number) \
    struct function##_row {                                                    \
        static __device__ real score(const struct state &base,                 \
                                     const struct gbm_sweep &now, int chain,   \
                                     long long element, real predictor)        \
        {                                                                      \
            const struct gbm_team alone = {0, 1, nullptr};                     \
            struct state s = base;                                             \
            shift_state(&s, chain);                                            \
            struct gbm_rng rng;                                                \
            gbm_rng_start(&rng, now.seed, now.chain0 + (unsigned)chain,        \
                          now.sweep, number, (unsigned)element);               \
            conditional k;                                                     \
            predicted(&k, &s, &alone, element, predictor);                     \
            finish(&s, &rng, &alone, element, GBM_ADAPTING(&now), &k);         \
            real its_weight = 0, its_score = 0;                                \
            row(&s, &alone, element, &its_weight, &its_score);                 \
            return its_score;                                                  \
        }                                                                      \
    };                                                                         \
    GBM_HEAD(function, gbm_pass_block(GBM_LANES(GBM_LANES_##function)))        \
    (const struct state base, const struct gbm_sweep *sweep,                   \
     const struct gbm_pass p)                                                  \
    {                                                                          \
        constexpr int lanes = GBM_LANES(GBM_LANES_##function);                 \
        extern __shared__ float4 pass_memory[];                                \
        gbm_follow_alone(); /* what is next would take room on the device */   \
        if constexpr (lanes >= GBM_PASS_MATRIX) {                              \
            const struct gbm_sweep now = *sweep;                               \
            gbm_matrix_rows<lanes / GBM_PASS_MATRIX, function##_row>(          \
                base, now, p, pass_memory);                                    \
        } else if constexpr (lanes >= 16) {                                    \
            const struct gbm_sweep now = *sweep;                               \
            gbm_pass_rows<lanes / 16, lanes % 16, function##_row>(             \
                base, now, p, pass_memory);                                    \
        }                                                                      \
    }                                                                          \
    GBM_HEAD(function##_weight, GBM_BLOCK(1))                                  \
    (const struct state base, long long element, long long rows, int chains,   \
     real *weight)                                                             \
    {                                                                          \
        if constexpr (GBM_LANES(GBM_LANES_##function##_weight) > 0) {          \
            gbm_follow();                                                      \
            const struct gbm_team alone = {0, 1, nullptr};                     \
            for (int chain = (int)(blockIdx.x * blockDim.x + threadIdx.x);     \
                 chain < chains; chain += (int)(gridDim.x * blockDim.x)) {     \
                struct state s = base;                                         \
                shift_state(&s, chain);                                        \
                real score = 0;                                                \
                row(&s, &alone, element, &weight[chain * rows + element],      \
                    &score);                                                   \
            }                                                                  \
        }                                                                      \
    }

#endif
