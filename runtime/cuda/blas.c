/* blas.c: the calls of cuBLAS for dense blocks, of `real` or of sums' type. */
#include "dense.h"

enum gbm_status cuda_multiply_vector(struct cuda *c, int m, int64_t n,
                                     CUdeviceptr a, CUdeviceptr x, double beta,
                                     CUdeviceptr y)
{
    const double one = 1;
    const float one_f = 1, beta_f = (float)beta;

    if (c->single)
        CUBLAS(cublasSgemv_64(c->blas, CUBLAS_OP_N, m, n, &one_f,
                              (const float *)a, m, (const float *)x, 1, &beta_f,
                              (float *)y, 1));
    else
        CUBLAS(cublasDgemv_64(c->blas, CUBLAS_OP_N, m, n, &one,
                              (const double *)a, m, (const double *)x, 1, &beta,
                              (double *)y, 1));
    return GBM_OK;
}

enum gbm_status cuda_multiply_matrix(struct cuda *c, int m, int columns,
                                     int64_t n, CUdeviceptr a, CUdeviceptr x,
                                     double beta, CUdeviceptr y)
{
    const double one = 1;
    const float one_f = 1, beta_f = (float)beta;

    if (c->single)
        CUBLAS(cublasSgemm_64(c->blas, CUBLAS_OP_N, CUBLAS_OP_N, m, columns, n,
                              &one_f, (const float *)a, m, (const float *)x, n,
                              &beta_f, (float *)y, m));
    else
        CUBLAS(cublasDgemm_64(c->blas, CUBLAS_OP_N, CUBLAS_OP_N, m, columns, n,
                              &one, (const double *)a, m, (const double *)x, n,
                              &beta, (double *)y, m));
    return GBM_OK;
}

enum gbm_status cuda_multiply_total(struct cuda *c, bool transpose, int m,
                                    int64_t n, CUdeviceptr a, CUdeviceptr x,
                                    double beta, CUdeviceptr y)
{
    const cublasOperation_t op = transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
    const double one = 1;
    const float one_f = 1, beta_f = (float)beta;

    if (c->total_size == sizeof(float))
        CUBLAS(cublasSgemv_64(c->blas, op, m, n, &one_f, (const float *)a, m,
                              (const float *)x, 1, &beta_f, (float *)y, 1));
    else
        CUBLAS(cublasDgemv_64(c->blas, op, m, n, &one, (const double *)a, m,
                              (const double *)x, 1, &beta, (double *)y, 1));
    return GBM_OK;
}

enum gbm_status cuda_gram(struct cuda *c, bool transpose, int64_t d, int64_t n,
                          CUdeviceptr a, double beta, CUdeviceptr out)
{
    const cublasOperation_t op = transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
    const int64_t size = transpose ? n : d, inner = transpose ? d : n;
    const double one = 1;
    const float one_f = 1, beta_f = (float)beta;

    if (c->total_size == sizeof(float))
        CUBLAS(cublasSsyrk_64(c->blas, CUBLAS_FILL_MODE_LOWER, op, size, inner,
                              &one_f, (const float *)a, d, &beta_f,
                              (float *)out, size));
    else
        CUBLAS(cublasDsyrk_64(c->blas, CUBLAS_FILL_MODE_LOWER, op, size, inner,
                              &one, (const double *)a, d, &beta, (double *)out,
                              size));
    return GBM_OK;
}

enum gbm_status cuda_solve(struct cuda *c, bool transpose, int64_t n,
                           CUdeviceptr l, CUdeviceptr b)
{
    const cublasOperation_t op = transpose ? CUBLAS_OP_T : CUBLAS_OP_N;
    if (c->total_size == sizeof(float))
        CUBLAS(cublasStrsv_64(c->blas, CUBLAS_FILL_MODE_LOWER, op,
                              CUBLAS_DIAG_NON_UNIT, n, (const float *)l, n,
                              (float *)b, 1));
    else
        CUBLAS(cublasDtrsv_64(c->blas, CUBLAS_FILL_MODE_LOWER, op,
                              CUBLAS_DIAG_NON_UNIT, n, (const double *)l, n,
                              (double *)b, 1));
    return GBM_OK;
}

cudaDataType cuda_total_type(const struct cuda *c)
{
    return c->total_size == sizeof(float) ? CUDA_R_32F : CUDA_R_64F;
}
