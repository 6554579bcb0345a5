/* pass_matrix_cuda.h: the pass of pass_cuda.h for many chains, its products on
 * tensor cores. A block of threads takes 16 chains through a tile of 32 rows at
 * a time. Each warp has some columns of its own, for both products:
 *
 *     predictors   [chains x columns] [columns x rows], the block's x in
 *                  registers, added up over warps in shared memory
 *     draws        a thread for a row and a chain
 *     sums         [chains x rows] [rows x columns], the sums in registers
 *
 * so a warp waits for its own columns alone when it fetches rows: what it has
 * added to the sums makes way for rows of the next tile at once.
 *
 * A number is the sum of two of 11 bits each, as tensor cores multiply those;
 * of the four products that of the two lower parts is too small to count. Sums
 * of 8 rows are added up in ordinary arithmetic: tensor cores cut off what they
 * add, which over a million rows would shift the sum. */
#ifndef GBM_PASS_MATRIX_CUDA_H
#define GBM_PASS_MATRIX_CUDA_H

#include "tensor.h"

#define GBM_MATRIX_WARPS 16
#define GBM_MATRIX_CHAINS 16
#define GBM_MATRIX_ROWS 8   /* of a stage: what is fetched at once */
#define GBM_MATRIX_STAGES 4 /* of a tile */
#define GBM_MATRIX_STAGE (GBM_MATRIX_CHAINS * GBM_MATRIX_ROWS)
#define GBM_MATRIX_TILE (GBM_MATRIX_STAGES * GBM_MATRIX_STAGE) /* draws */

/* A warp's memory: a ring of stages, each rows of 32 * GROUPS columns, 8 more
 * apart, so that lanes find what they read in different banks. */
template <int GROUPS> struct gbm_matrix {
    static constexpr int columns = 32 * GROUPS;
    static constexpr int stride = columns + 8;
    static constexpr int stage = GBM_MATRIX_ROWS * stride;
    static constexpr int depth = GROUPS == 1 ? 8 : 5;
};

/* Of a warp: its number, its lane in the rows and columns that the matrix
 * instruction gives it, and the first of its columns. */
struct gbm_matrix_place {
    int warp, lane, outer, inner, first;
};

/* Copies 16 bytes to shared memory, or zeros unless `is`. */
GBM_FN void gbm_copy_word_if(void *to, const void *from, bool is)
{
#ifdef GBM_COPIES_ASIDE
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(
                     (unsigned)__cvta_generic_to_shared(to)),
                 "l"(from), "r"(is ? 16 : 0)
                 : "memory");
#else
    *(float4 *)to = is ? *(const float4 *)from : make_float4(0, 0, 0, 0);
#endif
}

/* The thread's copies since the last call are a group of their own. */
GBM_FN void gbm_end_of_copies(void)
{
#ifdef GBM_COPIES_ASIDE
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/* Waits for the warp's copies but for the last N groups. */
template <int N> GBM_FN void gbm_wait_for_older_copies(void)
{
#ifdef GBM_COPIES_ASIDE
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
#endif
    __syncwarp();
}

/* Fetches the warp's columns of eight rows, zeros for those that are not
 * `left`. from: the lane's word of its first row; no lane has one beyond the
 * last column. to: its place in a stage. */
template <int GROUPS>
GBM_FN void gbm_matrix_load(const real *from, int d, int row, int left,
                            float *to)
{
    constexpr int rows = 4 / GROUPS; /* that a warp fetches at once */
#pragma unroll
    for (int i = 0; i < GBM_MATRIX_ROWS / rows; i++)
        gbm_copy_word_if(to + i * rows * gbm_matrix<GROUPS>::stride,
                         from + i * rows * d, row + i * rows < left);
}

/* What the warp's columns give of the predictors of two stages' rows. part:
 * [stages][chains][rows] */
template <int GROUPS>
GBM_FN void gbm_matrix_predict(const struct gbm_matrix_place &at,
                               const float *stage0, const float *stage1,
                               const float (&x)[4 * GROUPS][4], float *part)
{
    float sum[2][4] = {};
#pragma unroll
    for (int k = 0; k < 4 * GROUPS; k++) {
        const struct gbm_four_in_parts a = gbm_four_in_parts_of(x[k]);
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const float2 cells =
                *(const float2 *)((j == 0 ? stage0 : stage1) +
                                  at.outer * gbm_matrix<GROUPS>::stride +
                                  8 * k + 2 * at.inner);
            const struct gbm_two_parts b0 = gbm_two_parts_of(cells.x);
            const struct gbm_two_parts b1 = gbm_two_parts_of(cells.y);
            gbm_matrix_multiply(sum[j], a.upper, b0.lower, b1.lower);
            gbm_matrix_multiply(sum[j], a.lower, b0.upper, b1.upper);
            gbm_matrix_multiply(sum[j], a.upper, b0.upper, b1.upper);
        }
    }
#pragma unroll
    for (int j = 0; j < 2; j++) {
        float *out = part + j * GBM_MATRIX_STAGE + at.outer * GBM_MATRIX_ROWS +
                     2 * at.inner;
        *(float2 *)out = {sum[j][0], sum[j][1]};
        *(float2 *)(out + 8 * GBM_MATRIX_ROWS) = {sum[j][2], sum[j][3]};
    }
}

/* Where a chain's score of a stage's row stands among eight: rows that a lane
 * multiplies together, r and r + 4, are neighbours. */
GBM_FN int gbm_matrix_score_at(int row) { return row % 4 * 2 + row / 4; }

/* Adds the scores of a stage's rows times its rows. score: [chains][rows] */
template <int GROUPS>
GBM_FN void gbm_matrix_add(const struct gbm_matrix_place &at,
                           const float *stage, const float *score,
                           float (&sum)[4 * GROUPS][4])
{
    const float *z = score + at.outer * GBM_MATRIX_ROWS + 2 * at.inner;
    const float2 z0 = *(const float2 *)z;
    const float2 z1 = *(const float2 *)(z + 8 * GBM_MATRIX_ROWS);
    const float scores[4] = {z0.x, z1.x, z0.y, z1.y};
    const struct gbm_four_in_parts a = gbm_four_in_parts_of(scores);
#pragma unroll
    for (int k = 0; k < GROUPS; k++) {
        /* four columns for four products */
        const float *cells = stage + at.inner * gbm_matrix<GROUPS>::stride +
                             32 * k + 4 * at.outer;
        const float4 u = *(const float4 *)cells;
        const float4 v =
            *(const float4 *)(cells + 4 * gbm_matrix<GROUPS>::stride);
        const float upper[4] = {u.x, u.y, u.z, u.w};
        const float lower[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const struct gbm_two_parts b0 = gbm_two_parts_of(upper[j]);
            const struct gbm_two_parts b1 = gbm_two_parts_of(lower[j]);
            float product[4] = {};
            gbm_matrix_multiply(product, a.upper, b0.lower, b1.lower);
            gbm_matrix_multiply(product, a.lower, b0.upper, b1.upper);
            gbm_matrix_multiply(product, a.upper, b0.upper, b1.upper);
#pragma unroll
            for (int i = 0; i < 4; i++)
                sum[4 * k + j][i] += product[i];
        }
    }
}

/* The block's x as the matrix instruction reads it, two neighbouring columns
 * in a lane; 0 beyond the last column and chain. */
template <int GROUPS>
GBM_FN void gbm_matrix_get(const struct gbm_pass &p,
                           const struct gbm_matrix_place &at, int first,
                           float (&x)[4 * GROUPS][4])
{
#pragma unroll
    for (int k = 0; k < 4 * GROUPS; k++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int column = at.first + 8 * k + 2 * at.inner + i / 2;
            const int chain = first + at.outer + i % 2 * 8;
            x[k][i] = column < p.d && chain < p.chains
                          ? (float)p.x[chain * (long long)p.d + column]
                          : 0;
        }
}

/* out: [chains][d] */
template <int GROUPS>
GBM_FN void gbm_matrix_put(const struct gbm_pass &p,
                           const struct gbm_matrix_place &at,
                           const float (&sum)[4 * GROUPS][4], real *out)
{
#pragma unroll
    for (int k = 0; k < 4 * GROUPS; k++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int column =
                at.first + k / 4 * 32 + 4 * (2 * at.inner + i % 2) + k % 4;
            if (column < p.d)
                out[(at.outer + i / 2 * 8) * p.d + column] = sum[k][i];
        }
}

/* A thread's draw of a tile; its score to `score`. part: of each warp. */
template <class ROW>
GBM_FN void gbm_matrix_draw(const struct state &base,
                            const struct gbm_sweep &now,
                            const struct gbm_pass &p, int first, long long tile,
                            const float *part, float *score)
{
    const int t = (int)threadIdx.x, row = t % GBM_MATRIX_ROWS;
    const int stage = t / GBM_MATRIX_STAGE;
    const int chain = first + t / GBM_MATRIX_ROWS % GBM_MATRIX_CHAINS;
    const long long element = tile + stage * GBM_MATRIX_ROWS + row;
    real predictor = 0, its_score = 0;
#pragma unroll
    for (int w = 0; w < GBM_MATRIX_WARPS; w++)
        predictor += part[w * GBM_MATRIX_TILE + t];
    if (element < p.rows && chain < p.chains)
        its_score = ROW::score(base, now, chain, element, predictor);
    score[t - row + gbm_matrix_score_at(row)] = (float)its_score;
}

/* Grid: groups of chains, blocks. Shared memory: each warp's ring; its parts of
 * a tile's predictors; the scores. */
template <int GROUPS, class ROW>
GBM_FN void gbm_matrix_rows(const struct state &base,
                            const struct gbm_sweep &now,
                            const struct gbm_pass &p, void *memory)
{
    using of = gbm_matrix<GROUPS>;
    constexpr int rows = GBM_MATRIX_STAGES * GBM_MATRIX_ROWS;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const struct gbm_matrix_place at = {warp, lane, lane / 4, lane % 4,
                                        warp * of::columns};
    const int first = (int)blockIdx.x * GBM_MATRIX_CHAINS;
    float *ring = (float *)memory + warp * of::depth * of::stage;
    float *part = (float *)memory + GBM_MATRIX_WARPS * of::depth * of::stage;
    float *score = part + GBM_MATRIX_WARPS * GBM_MATRIX_TILE;
    const long long tiles = (p.rows + rows - 1) / rows;
    const int each = (int)((tiles + gridDim.y - 1) / gridDim.y);
    const long long start = (long long)blockIdx.y * each * rows;
    const int count = p.rows - start < each * rows
                          ? (int)(p.rows > start ? p.rows - start : 0)
                          : each * rows;
    constexpr int words = of::columns / 4;
    const int word = at.first + lane % words * 4;
    const bool has_word = word < p.d;
    const real *fetched = p.design + (start + lane / words) * p.d + word;
    int left = count; /* rows to be fetched */
    float x[4 * GROUPS][4], sum[4 * GROUPS][4] = {};

    for (int i = lane; i < of::depth * of::stage; i += 32)
        ring[i] = 0; /* beyond the last column */
    __syncwarp();
    gbm_matrix_get<GROUPS>(p, at, first, x);
    const auto stage_of = [&](int i) {
        return ring + i % of::depth * of::stage;
    };
    const auto fetch = [&](float *stage) {
        if (has_word)
            gbm_matrix_load<GROUPS>(fetched, p.d, lane / words, left,
                                    stage + lane / words * of::stride +
                                        lane % words * 4);
        gbm_end_of_copies();
        fetched += GBM_MATRIX_ROWS * p.d;
        left -= GBM_MATRIX_ROWS;
    };
    for (int i = 0; i < of::depth; i++)
        fetch(ring + i * of::stage);
    int slot = 0; /* of the tile's first stage */
    for (int row = 0; row < count; row += rows) {
        /* loops that stay loops take fewer registers */
#pragma unroll 1
        for (int j = 0; j < GBM_MATRIX_STAGES; j += 2) {
            if (j == 0)
                gbm_wait_for_older_copies<of::depth - 2>();
            else
                gbm_wait_for_older_copies<of::depth - 4>();
            gbm_matrix_predict<GROUPS>(
                at, stage_of(slot + j), stage_of(slot + j + 1), x,
                part + warp * GBM_MATRIX_TILE + j * GBM_MATRIX_STAGE);
        }
        __syncthreads();
        gbm_matrix_draw<ROW>(base, now, p, first, start + row, part, score);
        __syncthreads();
#pragma unroll 1
        for (int j = 0; j < GBM_MATRIX_STAGES; j++) {
            float *stage = stage_of(slot + j);
            gbm_matrix_add<GROUPS>(at, stage, score + j * GBM_MATRIX_STAGE,
                                   sum);
            __syncwarp(); /* all lanes have read it */
            fetch(stage);
        }
        slot = (slot + GBM_MATRIX_STAGES) % of::depth;
    }
    gbm_wait_for_older_copies<0>();
    gbm_matrix_put<GROUPS>(
        p, at, sum,
        p.partial + ((long long)blockIdx.x * gridDim.y + blockIdx.y) *
                        GBM_MATRIX_CHAINS * p.d);
}

#endif
