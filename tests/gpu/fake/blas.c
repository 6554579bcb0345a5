/* blas.c: stand-ins for cuBLAS and cuSOLVER, for tests: OpenBLAS and LAPACKE on
 * the memory of driver.c, in the order of the stream. */
#include "fake.h"

#include <cblas.h>
#include <cublas_v2.h>
#include <cusolverDn.h>
#include <lapacke.h>
#include <stdlib.h>
#include <string.h>

struct cublasContext {
    cudaStream_t stream;
};
struct cusolverDnContext {
    cudaStream_t stream;
};

static CBLAS_TRANSPOSE op(cublasOperation_t t)
{
    return t == CUBLAS_OP_N ? CblasNoTrans : CblasTrans;
}

static int submit(cudaStream_t stream, CUresult (*work)(void *),
                  const void *arguments, size_t bytes)
{
    char *data = malloc(bytes);
    for (size_t i = 0; i < bytes; i++)
        data[i] = ((const char *)arguments)[i];
    return fake_submit((CUstream)stream, work, free, data) != CUDA_SUCCESS;
}

#define SUBMIT(work, ...)                                                      \
    (submit(handle->stream, work, &(struct work##_arguments){__VA_ARGS__},     \
            sizeof(struct work##_arguments))                                   \
         ? CUBLAS_STATUS_EXECUTION_FAILED                                      \
         : CUBLAS_STATUS_SUCCESS)

cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    *handle = calloc(1, sizeof **handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    handle->stream = stream;
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *work,
                                     size_t bytes)
{
    (void)handle;
    (void)work;
    (void)bytes;
    return CUBLAS_STATUS_SUCCESS;
}

const char *cublasGetStatusName(cublasStatus_t status)
{
    (void)status;
    return "a cuBLAS error";
}

const char *cublasGetStatusString(cublasStatus_t status)
{
    (void)status;
    return "from the stand-in";
}

/* The same four routines in both precisions. */

struct sgemv_arguments {
    cublasOperation_t trans;
    int64_t m, n;
    float alpha;
    const float *a;
    int64_t lda;
    const float *x;
    int64_t incx;
    float beta;
    float *y;
    int64_t incy;
};

static CUresult sgemv(void *data)
{
    const struct sgemv_arguments *g = data;
    cblas_sgemv(CblasColMajor, op(g->trans), (int)g->m, (int)g->n, g->alpha,
                g->a, (int)g->lda, g->x, (int)g->incx, g->beta, g->y,
                (int)g->incy);
    return CUDA_SUCCESS;
}

cublasStatus_t cublasSgemv_v2_64(cublasHandle_t handle, cublasOperation_t trans,
                                 int64_t m, int64_t n, const float *alpha,
                                 const float *a, int64_t lda, const float *x,
                                 int64_t incx, const float *beta, float *y,
                                 int64_t incy)
{
    return SUBMIT(sgemv, trans, m, n, *alpha, a, lda, x, incx, *beta, y, incy);
}

struct sgemm_arguments {
    cublasOperation_t ta, tb;
    int64_t m, n, k;
    float alpha;
    const float *a;
    int64_t lda;
    const float *b;
    int64_t ldb;
    float beta;
    float *c;
    int64_t ldc;
};

static CUresult sgemm(void *data)
{
    const struct sgemm_arguments *g = data;
    cblas_sgemm(CblasColMajor, op(g->ta), op(g->tb), (int)g->m, (int)g->n,
                (int)g->k, g->alpha, g->a, (int)g->lda, g->b, (int)g->ldb,
                g->beta, g->c, (int)g->ldc);
    return CUDA_SUCCESS;
}

cublasStatus_t cublasSgemm_v2_64(cublasHandle_t handle, cublasOperation_t ta,
                                 cublasOperation_t tb, int64_t m, int64_t n,
                                 int64_t k, const float *alpha, const float *a,
                                 int64_t lda, const float *b, int64_t ldb,
                                 const float *beta, float *c, int64_t ldc)
{
    return SUBMIT(sgemm, ta, tb, m, n, k, *alpha, a, lda, b, ldb, *beta, c,
                  ldc);
}

struct ssyrk_arguments {
    cublasFillMode_t uplo;
    cublasOperation_t trans;
    int64_t n, k;
    float alpha;
    const float *a;
    int64_t lda;
    float beta;
    float *c;
    int64_t ldc;
};

static CUresult ssyrk(void *data)
{
    const struct ssyrk_arguments *s = data;
    cblas_ssyrk(CblasColMajor,
                s->uplo == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper,
                op(s->trans), (int)s->n, (int)s->k, s->alpha, s->a, (int)s->lda,
                s->beta, s->c, (int)s->ldc);
    return CUDA_SUCCESS;
}

cublasStatus_t cublasSsyrk_v2_64(cublasHandle_t handle, cublasFillMode_t uplo,
                                 cublasOperation_t trans, int64_t n, int64_t k,
                                 const float *alpha, const float *a,
                                 int64_t lda, const float *beta, float *c,
                                 int64_t ldc)
{
    return SUBMIT(ssyrk, uplo, trans, n, k, *alpha, a, lda, *beta, c, ldc);
}

struct strsv_arguments {
    cublasFillMode_t uplo;
    cublasOperation_t trans;
    int64_t n;
    const float *a;
    int64_t lda;
    float *x;
    int64_t incx;
};

static CUresult strsv(void *data)
{
    const struct strsv_arguments *s = data;
    cblas_strsv(CblasColMajor,
                s->uplo == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper,
                op(s->trans), CblasNonUnit, (int)s->n, s->a, (int)s->lda, s->x,
                (int)s->incx);
    return CUDA_SUCCESS;
}

cublasStatus_t cublasStrsv_v2_64(cublasHandle_t handle, cublasFillMode_t uplo,
                                 cublasOperation_t trans,
                                 cublasDiagType_t diagonal, int64_t n,
                                 const float *a, int64_t lda, float *x,
                                 int64_t incx)
{
    (void)diagonal;
    return SUBMIT(strsv, uplo, trans, n, a, lda, x, incx);
}

struct dgemv_arguments {
    cublasOperation_t trans;
    int64_t m, n;
    double alpha;
    const double *a;
    int64_t lda;
    const double *x;
    int64_t incx;
    double beta;
    double *y;
    int64_t incy;
};

static CUresult dgemv(void *data)
{
    const struct dgemv_arguments *g = data;
    cblas_dgemv(CblasColMajor, op(g->trans), (int)g->m, (int)g->n, g->alpha,
                g->a, (int)g->lda, g->x, (int)g->incx, g->beta, g->y,
                (int)g->incy);
    return CUDA_SUCCESS;
}

cublasStatus_t cublasDgemv_v2_64(cublasHandle_t handle, cublasOperation_t trans,
                                 int64_t m, int64_t n, const double *alpha,
                                 const double *a, int64_t lda, const double *x,
                                 int64_t incx, const double *beta, double *y,
                                 int64_t incy)
{
    return SUBMIT(dgemv, trans, m, n, *alpha, a, lda, x, incx, *beta, y, incy);
}

struct dgemm_arguments {
    cublasOperation_t ta, tb;
    int64_t m, n, k;
    double alpha;
    const double *a;
    int64_t lda;
    const double *b;
    int64_t ldb;
    double beta;
    double *c;
    int64_t ldc;
};

static CUresult dgemm(void *data)
{
    const struct dgemm_arguments *g = data;
    cblas_dgemm(CblasColMajor, op(g->ta), op(g->tb), (int)g->m, (int)g->n,
                (int)g->k, g->alpha, g->a, (int)g->lda, g->b, (int)g->ldb,
                g->beta, g->c, (int)g->ldc);
    return CUDA_SUCCESS;
}

cublasStatus_t cublasDgemm_v2_64(cublasHandle_t handle, cublasOperation_t ta,
                                 cublasOperation_t tb, int64_t m, int64_t n,
                                 int64_t k, const double *alpha,
                                 const double *a, int64_t lda, const double *b,
                                 int64_t ldb, const double *beta, double *c,
                                 int64_t ldc)
{
    return SUBMIT(dgemm, ta, tb, m, n, k, *alpha, a, lda, b, ldb, *beta, c,
                  ldc);
}

struct dsyrk_arguments {
    cublasFillMode_t uplo;
    cublasOperation_t trans;
    int64_t n, k;
    double alpha;
    const double *a;
    int64_t lda;
    double beta;
    double *c;
    int64_t ldc;
};

static CUresult dsyrk(void *data)
{
    const struct dsyrk_arguments *s = data;
    cblas_dsyrk(CblasColMajor,
                s->uplo == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper,
                op(s->trans), (int)s->n, (int)s->k, s->alpha, s->a, (int)s->lda,
                s->beta, s->c, (int)s->ldc);
    return CUDA_SUCCESS;
}

cublasStatus_t cublasDsyrk_v2_64(cublasHandle_t handle, cublasFillMode_t uplo,
                                 cublasOperation_t trans, int64_t n, int64_t k,
                                 const double *alpha, const double *a,
                                 int64_t lda, const double *beta, double *c,
                                 int64_t ldc)
{
    return SUBMIT(dsyrk, uplo, trans, n, k, *alpha, a, lda, *beta, c, ldc);
}

struct dtrsv_arguments {
    cublasFillMode_t uplo;
    cublasOperation_t trans;
    int64_t n;
    const double *a;
    int64_t lda;
    double *x;
    int64_t incx;
};

static CUresult dtrsv(void *data)
{
    const struct dtrsv_arguments *s = data;
    cblas_dtrsv(CblasColMajor,
                s->uplo == CUBLAS_FILL_MODE_LOWER ? CblasLower : CblasUpper,
                op(s->trans), CblasNonUnit, (int)s->n, s->a, (int)s->lda, s->x,
                (int)s->incx);
    return CUDA_SUCCESS;
}

cublasStatus_t cublasDtrsv_v2_64(cublasHandle_t handle, cublasFillMode_t uplo,
                                 cublasOperation_t trans,
                                 cublasDiagType_t diagonal, int64_t n,
                                 const double *a, int64_t lda, double *x,
                                 int64_t incx)
{
    (void)diagonal;
    return SUBMIT(dtrsv, uplo, trans, n, a, lda, x, incx);
}

/* ---- cuSOLVER ---- */

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t *handle)
{
    *handle = calloc(1, sizeof **handle);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle)
{
    free(handle);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle,
                                     cudaStream_t stream)
{
    handle->stream = stream;
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t *params)
{
    *params = malloc(1);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params)
{
    free(params);
    return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXpotrf_bufferSize(cusolverDnHandle_t handle,
                                             cusolverDnParams_t params,
                                             cublasFillMode_t uplo, int64_t n,
                                             cudaDataType type, const void *a,
                                             int64_t lda, cudaDataType compute,
                                             size_t *device, size_t *host)
{
    (void)handle;
    (void)params;
    (void)uplo;
    (void)n;
    (void)type;
    (void)a;
    (void)lda;
    (void)compute;
    *device = 64;
    *host = 64;
    return CUSOLVER_STATUS_SUCCESS;
}

struct potrf_arguments {
    int64_t n, lda;
    int single;
    void *a;
    int *info;
};

/* GBM_FAKE_POTRF=fails: as if the matrix were not positive definite; the lower
 * triangle is left as rubbish. */
static CUresult potrf(void *data)
{
    const struct potrf_arguments *p = data;
    const char *how = getenv("GBM_FAKE_POTRF");

    *p->info = p->single ? LAPACKE_spotrf(LAPACK_COL_MAJOR, 'L', (int)p->n,
                                          p->a, (int)p->lda)
                         : LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', (int)p->n,
                                          p->a, (int)p->lda);
    if (!how || strcmp(how, "fails") != 0)
        return CUDA_SUCCESS;
    *p->info = 1;
    for (int64_t c = 0; c < p->n; c++)
        for (int64_t r = c; r < p->n; r++)
            if (p->single)
                ((float *)p->a)[r + c * p->lda] = -7;
            else
                ((double *)p->a)[r + c * p->lda] = -7;
    return CUDA_SUCCESS;
}

cusolverStatus_t
cusolverDnXpotrf(cusolverDnHandle_t handle, cusolverDnParams_t params,
                 cublasFillMode_t uplo, int64_t n, cudaDataType type, void *a,
                 int64_t lda, cudaDataType compute, void *device,
                 size_t device_bytes, void *host, size_t host_bytes, int *info)
{
    (void)params;
    (void)uplo;
    (void)compute;
    (void)device;
    (void)device_bytes;
    (void)host;
    (void)host_bytes;
    const cublasStatus_t status =
        SUBMIT(potrf, n, lda, type == CUDA_R_32F, a, info);
    return status == CUBLAS_STATUS_SUCCESS ? CUSOLVER_STATUS_SUCCESS
                                           : CUSOLVER_STATUS_EXECUTION_FAILED;
}
