/* tensor.h: products of matrices of numbers in single precision on tensor
 * cores. CUDA C. */
#ifndef GBM_TENSOR_H
#define GBM_TENSOR_H

#include "real.h"

/* Tensor cores read the first 11 bits alone of what they are given: the upper
 * part is the number itself. */
struct gbm_two_parts {
    unsigned upper, lower;
};

GBM_FN struct gbm_two_parts gbm_two_parts_of(float x)
{
    const unsigned all = __float_as_uint(x);
    unsigned first = all & 0xffffe000u;
#ifdef __CUDA_ARCH__
    /* volatile: parts of what stays would be kept, and take registers */
    asm volatile("and.b32 %0, %1, 0xffffe000;" : "=r"(first) : "r"(all));
#endif
    return {all, __float_as_uint(x - __uint_as_float(first))};
}

struct gbm_four_in_parts {
    unsigned upper[4], lower[4];
};

GBM_FN struct gbm_four_in_parts gbm_four_in_parts_of(const float (&x)[4])
{
    struct gbm_four_in_parts all;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const struct gbm_two_parts parts = gbm_two_parts_of(x[i]);
        all.upper[i] = parts.upper;
        all.lower[i] = parts.lower;
    }
    return all;
}

/* sum += A B, 16 x 8 and 8 x 8: with lane = 4 g + q, a has A's (g, q), (g + 8,
 * q), (g, q + 4), (g + 8, q + 4), b B's (q, g) and (q + 4, g), and sum (g, 2
 * q), (g, 2 q + 1), (g + 8, 2 q), (g + 8, 2 q + 1). */
GBM_FN void gbm_matrix_multiply(float (&sum)[4], const unsigned (&a)[4],
                                unsigned b0, unsigned b1)
{
#ifndef __CUDA_ARCH__
    emu_multiply_16_8_8(sum, a, b0, b1);
#elif __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
    __trap(); /* nothing that runs there comes here */
#endif
}

#endif
