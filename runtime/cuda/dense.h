/* dense.h: what the files of dense Gaussian blocks share. */
#ifndef CUDA_DENSE_H
#define CUDA_DENSE_H

#include "cuda.h"

/* A cell's place. */
static inline CUdeviceptr cuda_at(CUdeviceptr base, int64_t cell, size_t size)
{
    return base + (CUdeviceptr)cell * size;
}

/* ---- blas.c: the libraries, in the type of the state and of sums ---- */

/* y = A x + beta y, A: m x n column-major, of `real`. */
enum gbm_status cuda_multiply_vector(struct cuda *c, int m, int64_t n,
                                     CUdeviceptr a, CUdeviceptr x, double beta,
                                     CUdeviceptr y);
/* Y = A X + beta Y with several right-hand sides. */
enum gbm_status cuda_multiply_matrix(struct cuda *c, int m, int columns,
                                     int64_t n, CUdeviceptr a, CUdeviceptr x,
                                     double beta, CUdeviceptr y);
/* The same as cuda_multiply_vector in the type of sums, A or its transpose. */
enum gbm_status cuda_multiply_total(struct cuda *c, bool transpose, int m,
                                    int64_t n, CUdeviceptr a, CUdeviceptr x,
                                    double beta, CUdeviceptr y);
/* Lower triangle of C = A A' + beta C, or A' A; A: d x n column-major. */
enum gbm_status cuda_gram(struct cuda *c, bool transpose, int64_t d, int64_t n,
                          CUdeviceptr a, double beta, CUdeviceptr out);
/* b = L^-1 b, or L^-T b. */
enum gbm_status cuda_solve(struct cuda *c, bool transpose, int64_t n,
                           CUdeviceptr l, CUdeviceptr b);
cudaDataType cuda_total_type(const struct cuda *c);

/* ---- dense.c ---- */
bool cuda_dense_has_pass(const struct cuda_dense *dense);
/* Of the terms with a constant Gram matrix and a row that counts. */
struct scaled_terms cuda_scaled_terms(const struct cuda *c,
                                      const struct cuda_dense *dense);

/* ---- dense_small.c ---- */
enum gbm_status cuda_small_request(struct cuda *c, struct cuda_dense *dense);
/* The packed A'A of the rows that count: sums at the weights as they are,
 * divided by the weight. */
enum gbm_status cuda_small_prepare(struct cuda *c, struct cuda_dense *dense,
                                   struct cuda_dense_term *t, double weight);
enum gbm_status cuda_small_run(struct cuda *c, struct cuda_dense *dense);

/* ---- dense_tiles.c ---- */
/* Whether ROUTE_TILES is one for a block, of which all else is planned. */
bool cuda_tiles_takes(const struct cuda *c, const struct cuda_dense *dense);
enum gbm_status cuda_tiles_request(struct cuda *c, struct cuda_dense *dense);
/* Whether the draw multiplies what passes have summed by a number. */
bool cuda_tiles_multiply(struct cuda_dense *dense, struct cuda_slot *number);
enum gbm_status cuda_tiles_run(struct cuda *c, struct cuda_dense *dense);

/* ---- dense_library.c ---- */
/* Memory for the design in scaled form, and for the scores' sum. */
enum gbm_status cuda_request_scores(struct cuda *c, struct cuda_dense *dense);
/* score_sum = sum over terms of A' score, for all chains; passes have made
 * theirs. */
enum gbm_status cuda_sum_scores(struct cuda *c, struct cuda_dense *dense);
enum gbm_status cuda_library_request(struct cuda *c, struct cuda_dense *dense);
enum gbm_status cuda_library_prepare(struct cuda *c, struct cuda_dense *dense,
                                     struct cuda_dense_term *t, bool all_count);
enum gbm_status cuda_library_run(struct cuda *c, struct cuda_dense *dense);
enum gbm_status cuda_wide_run(struct cuda *c, struct cuda_dense *dense);

#endif
