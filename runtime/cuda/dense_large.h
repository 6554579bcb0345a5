/* dense_large.h: what a dense Gaussian block does beside the library calls.
 * Part of kernels.h. Matrices are d x d, column-major; symmetric ones are
 * filled in whole. */

/* out[r][j] = f(weight[r]) design[r][j], f the root, or with `mask` 1 unless
 * the weight is 0. */
CUDA_KERNEL dense_scale_rows(const real *design, const real *weight,
                             long long rows, int d, int mask, gbm_total *out)
{
    gbm_follow();
    const long long n = rows * d;
    for (long long t = thread_number(); t < n; t += thread_count()) {
        long long row;
        int column;
        divide(t, d, n, &row, &column);
        const real w = weight[row];
        const gbm_total f = mask ? (w != (real)0 ? (gbm_total)1 : (gbm_total)0)
                                 : (gbm_total)sqrt((gbm_total)w);
        out[t] = f * (gbm_total)design[t];
    }
}

/* Copies the lower triangle of a symmetric matrix to the upper one. */
CUDA_KERNEL dense_mirror(gbm_total *a, int d)
{
    gbm_follow();
    const long long n = (long long)d * d;
    for (long long t = thread_number(); t < n; t += thread_count()) {
        long long c;
        int r;
        divide(t, d, n, &c, &r);
        if (r < c)
            a[t] = a[c + (long long)r * d];
    }
}

/* A coordinate that is held at its mean has a precision that is too large. */
__device__ static inline gbm_total dense_limit(gbm_total sum)
{
    const gbm_total largest =
        sizeof(gbm_total) == 4 ? (gbm_total)1e30 : (gbm_total)1e250;
    return sum > largest ? largest : sum;
}

/* Q = prior + sum over terms of scale gram + varying. Of `varying` the lower
 * triangle is read; a gram is whole. scale: pointers to one real each.
 * prior_matrix: precision is [d][d], else [d]. The diagonal is saved. The
 * struct is also in cuda.h. */
struct dense_terms {
    const gbm_total *gram[DENSE_TERMS];
    const real *scale[DENSE_TERMS];
    const gbm_total *varying;
    int n;
};

CUDA_KERNEL dense_form(const struct dense_terms terms, const real *precision,
                       int prior_matrix, int d, gbm_total *q,
                       gbm_total *diagonal)
{
    gbm_follow();
    const long long n = (long long)d * d;
    for (long long t = thread_number(); t < n; t += thread_count()) {
        long long c;
        int r;
        divide(t, d, n, &c, &r);
        gbm_total sum = 0;
        for (int k = 0; k < terms.n; k++)
            sum += (gbm_total)*terms.scale[k] * terms.gram[k][t];
        if (terms.varying)
            sum += terms.varying[r >= c ? t : c + (long long)r * d];
        if (prior_matrix)
            sum += (gbm_total)precision[t];
        else if (r == c)
            sum += (gbm_total)precision[r];
        sum = dense_limit(sum);
        q[t] = sum;
        if (r == c)
            diagonal[r] = sum;
    }
}

/* b = potential + score, the sum of A' score. */
CUDA_KERNEL dense_potential(const real *potential, const real *score, int d,
                            gbm_total *b)
{
    gbm_follow();
    for (long long j = thread_number(); j < d; j += thread_count())
        b[j] = (gbm_total)potential[j] + (gbm_total)score[j];
}

/* Makes coordinates with fixed[j] stay at x[j]: their row and column leave Q,
 * and move to b. Two kernels, since the first reads what the second clears. */
CUDA_KERNEL dense_hold_potential(const gbm_total *q, const unsigned char *fixed,
                                 const real *x, int d, gbm_total *b)
{
    gbm_follow();
    for (long long r = thread_number(); r < d; r += thread_count()) {
        if (fixed[r]) {
            b[r] = (gbm_total)x[r];
            continue;
        }
        gbm_total sum = b[r];
        for (int c = 0; c < d; c++)
            if (fixed[c])
                sum -= q[r + (long long)c * d] * (gbm_total)x[c];
        b[r] = sum;
    }
}

CUDA_KERNEL dense_hold_precision(const unsigned char *fixed, int d,
                                 gbm_total *q, gbm_total *diagonal)
{
    gbm_follow();
    const long long n = (long long)d * d;
    for (long long t = thread_number(); t < n; t += thread_count()) {
        const long long r = t % d, c = t / d;
        if (!fixed[r] && !fixed[c])
            continue;
        q[t] = r == c ? (gbm_total)1 : (gbm_total)0;
        if (r == c)
            diagonal[r] = (gbm_total)1;
    }
}

/* By one block, where a factorisation has failed: again in double from the
 * upper triangle and the saved diagonal, then with growing jitter on the
 * diagonal; the factor goes to the lower triangle of q. Slow, and rare. work:
 * [d][d]. */
__device__ static __noinline__ void rescue(struct gbm_control *control,
                                           gbm_total *q,
                                           const gbm_total *diagonal, int d,
                                           double *work, int step, int chain)
{
    __shared__ double largest;
    const long long n = (long long)d * d;
    bool good = false;

    if (threadIdx.x == 0) {
        largest = 0;
        for (int j = 0; j < d; j++)
            if ((double)diagonal[j] > largest)
                largest = (double)diagonal[j];
    }
    __syncthreads();
    for (int attempt = 0; attempt < 9 && !good; attempt++) {
        /* 0, then 1e-14 ... 1e-7 of the coordinate's own precision */
        const double jitter = attempt == 0 ? 0 : 1e-15 * pow(10.0, attempt);
        for (long long t = threadIdx.x; t < n; t += blockDim.x) {
            const long long r = t % d, c = t / d;
            if (r > c)
                work[t] = (double)q[c + r * d];
            else if (r == c)
                work[t] = (double)diagonal[r] +
                          jitter * ((double)diagonal[r] + 1e-3 * largest);
        }
        __syncthreads();
        good = block_factorise(work, (long long)d, (long long)d);
    }
    if (!good) {
        block_failed(control, step, chain);
        return;
    }
    for (long long t = threadIdx.x; t < n; t += blockDim.x)
        if (t % d >= t / d)
            q[t] = (gbm_total)work[t];
    if (threadIdx.x == 0)
        atomicAdd(&control->jitters, 1ULL);
}

/* Where the library's factorisation failed (*info != 0). */
CUDA_KERNEL __launch_bounds__(1024)
    dense_rescue(struct gbm_control *control, const int *info, gbm_total *q,
                 const gbm_total *diagonal, int d, double *work, int step,
                 int chain)
{
    gbm_follow();
    if (*info != 0)
        rescue(control, q, diagonal, d, work, step, chain);
}

/* ---- more coordinates than rows (Bhattacharya, Chakraborty and Mallick 2016)
 *
 * With prior precision 1 / D and mean m (diagonal), Phi = W^(1/2) A (n x d):
 * B = Phi D^(1/2); h = D^(-1/2) m + e, e normal; v = B h + delta, delta normal;
 * (B B' + I) r = alpha - v, alpha = W^(-1/2) score; x = D^(1/2) (h + B' r). */

/* B (rows x d, row-major) from rows first .. of the stacked design. */
CUDA_KERNEL wide_scale(const real *design, const real *weight,
                       const real *precision, long long rows, int d,
                       gbm_total *out)
{
    gbm_follow();
    const long long n = rows * d;
    for (long long t = thread_number(); t < n; t += thread_count()) {
        long long row;
        int column;
        divide(t, d, n, &row, &column);
        out[t] = (gbm_total)design[t] *
                 sqrt((gbm_total)weight[row] / (gbm_total)precision[column]);
    }
}

/* h: [d] */
CUDA_KERNEL wide_prior(const struct gbm_control *control, int chain, int step,
                       const real *precision, const real *potential, int d,
                       gbm_total *h)
{
    gbm_follow();
    for (long long j = thread_number(); j < d; j += thread_count())
        h[j] = (gbm_total)potential[j] / sqrt((gbm_total)precision[j]) +
               block_normal(control, chain, step, j);
}

/* r = alpha - v - delta for the stacked rows first .. first + rows - 1; r holds
 * v. */
CUDA_KERNEL wide_residual(const struct gbm_control *control, int chain,
                          int step, const real *weight, const real *score,
                          long long rows, long long first, int d, gbm_total *r)
{
    gbm_follow();
    for (long long t = thread_number(); t < rows; t += thread_count()) {
        const gbm_total w = (gbm_total)weight[t];
        const gbm_total alpha =
            w > 0 ? (gbm_total)score[t] / sqrt(w) : (gbm_total)0;
        r[first + t] = alpha - r[first + t] -
                       block_normal(control, chain, step, d + first + t);
    }
}

/* Adds 1 to the diagonal, and saves it. */
CUDA_KERNEL wide_identity(gbm_total *m, long long n, gbm_total *diagonal)
{
    gbm_follow();
    for (long long t = thread_number(); t < n; t += thread_count()) {
        m[t + t * n] += (gbm_total)1;
        diagonal[t] = m[t + t * n];
    }
}

/* x = D^(1/2) h */
CUDA_KERNEL wide_finish(const gbm_total *h, const real *precision, int d,
                        real *x)
{
    gbm_follow();
    for (long long j = thread_number(); j < d; j += thread_count())
        x[j] = (real)(h[j] / sqrt((gbm_total)precision[j]));
}
