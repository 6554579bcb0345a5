/* car.h: conditional autoregressions. */
#ifndef GBM_CAR_H
#define GBM_CAR_H

#include "linear.h"

/* log |I - gamma C|: row i of the N x N matrix C holds the next num[i] of the
 * L values C[] in the columns adj[] (from 1). */
GBM_FN_BIG real gbm_car_logdet(int L, int N, const real *C, const real *adj,
                               const real *num, real gamma)
{
    real small[GBM_SMALL_CELLS];
    real *A = gbm_scratch(small, (int64_t)N * N);
    if (!A)
        return GBM_NAN;
    gbm_fill((int64_t)N * N, A, 0);
    int next = 0;
    for (int i = 0; i < N; i++) {
        A[(int64_t)i * N + i] += 1;
        for (int j = 0; j < (int)num[i] && next < L; j++, next++)
            A[(int64_t)i * N + (int)adj[next] - 1] -= gamma * C[next];
    }
    real value = gbm_logdet_general(N, A);
    gbm_scratch_free(small, A);
    return value;
}

#endif
