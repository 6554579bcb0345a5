/* row_terms.h: functions in the terms of a sum over rows (`code_in_rows` of the
 * library). On a device in single precision most of the time of such a sum is
 * theirs, and what is added up is rounded by more than they are off:
 *
 * row_exp  by 2^-22 of itself, and by as much as if x were off by 2^-23 of
 *          itself, as what computed x has rounded it; 0 below the smallest
 *          normal number
 * row_log  by 1.1 units in the last place
 *
 * row_power(x) is b^x, where b^ROW_POWERS is e, and row_log_of_power(x, y) the
 * logarithm of b^x y: b is 2 there, and the logarithm of y off by 2^-22, or by
 * as much of itself.
 *
 * Elsewhere, in mixed precision too, whose sums are double, they are those of
 * real.h. */
#ifndef GBM_ROW_TERMS_H
#define GBM_ROW_TERMS_H

#include "real.h"

/* Inner terms that what rows share is kept of. */
#define GBM_FEW 16

#ifndef __CUDACC__
GBM_FN int gbm_float_bits(float x)
{
    int bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}
GBM_FN float gbm_float_of(int bits)
{
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}
#else
#define gbm_float_bits(x) __float_as_int(x)
#define gbm_float_of(bits) __int_as_float(bits)
#endif

/* log(x), where x is a normal number without a test for more. It is that of m
 * plus 1, 2/3 <= 1 + m < 4/3, and of a power of 2, and log(1 + m) is
 * m + m^2 q(m), with q of least relative error, 2.6e-8 of the logarithm. */
GBM_FN float gbm_row_log(float x)
{
    if (!(x >= 1.17549435e-38f && x <= 3.40282347e+38f))
        return logf(x);
    const int bits = gbm_float_bits(x);
    const int power = (bits - 0x3f2aaaab) & -0x800000; /* in 2^-23 */
    const float m = gbm_float_of(bits - power) - 1;
    float q = 0.14026348f;
    q = fmaf(q, m, -0.15388533f);
    q = fmaf(q, m, 0.1399581f);
    q = fmaf(q, m, -0.16415961f);
    q = fmaf(q, m, 0.20011169f);
    q = fmaf(q, m, -0.2500782f);
    q = fmaf(q, m, 0.33333197f);
    q = fmaf(q, m, -0.49999937f);
    return fmaf((float)power, 8.2629583e-8f, fmaf(q * m, m, m));
}

#if defined(__CUDACC__) && defined(GBM_SINGLE) && !defined(GBM_MIXED)
#define row_log(x) gbm_row_log(x)
GBM_FN float row_exp(float x)
{
#ifndef __CUDA_ARCH__
    return real_exp(x);
#else
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
    return y;
#endif
}
#define ROW_POWERS 1.44269504f
GBM_FN float row_power(float x)
{
#ifndef __CUDA_ARCH__
    return exp2f(x);
#else
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
#endif
}
GBM_FN float row_log_of_power(float x, float y)
{
#ifndef __CUDA_ARCH__
    return (x + log2f(y)) * 0.693147181f;
#else
    float log;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(log) : "f"(y));
    return (x + log) * 0.693147181f;
#endif
}
#else
#define row_log(x) real_log(x)
#define row_exp(x) real_exp(x)
#define ROW_POWERS 1
#define row_power(x) real_exp(x)
#define row_log_of_power(x, y) ((x) + real_log(y))
#endif

#endif
