/* real.h: the arithmetic of samplers. `real` is double, or float with
 * -DGBM_SINGLE. All code of stdlib goes through it, so that one text is clean C
 * (gcc, clang, -Wconversion) in both precisions and clean CUDA C for NVRTC,
 * where there is no libc at all.
 *
 * GBM_FN      a small function, inlined
 * GBM_FN_BIG  a large one: called on the device, so that a program which uses
 *             it in ten places compiles it once
 * GBM_FN_ONCE one with loops over arrays, of which a program may have many
 *             calls: the host's compiler has it once; inlined on the device
 * GBM_FN_LINKED  a large one that knows nothing of the program: declared, and
 *             defined under GBM_IN_PART(part). Where a program is compiled in
 *             parts (skeleton.h) the others link to it, or, where gbmc says so
 *             (GBM_COMPILED), all do to what was compiled with gbm (linked.c);
 *             else as GBM_FN_ONCE
 * GBM_FN_COMMON  the same of the host's alone, which few programs call:
 *             declared, and defined under GBM_OWN_COMMON; where it was not
 *             compiled with gbm each part that calls it has it
 * GBM_FN_ROWS a large one that the host evaluates in several rows at once, so
 *             inlines; called on the device
 * GBM_FN_SHARED  one that many places of a program use: called on the device
 *             where GBM_COMPACT says so, else inlined
 * GBM_FN_CALLED  the same, of integers alone: called on the host, too
 * GBM_INLINE  must be inlined: it takes a function pointer that the compiler is
 *             to see through
 *
 * GBM_COMPACT  the runtime defines it where chains fill the device: they hide
 *             each other's waiting, and what is waited for is the program, of
 *             which a multiprocessor keeps some 100 KB at hand. So loops are
 *             not written out (GBM_SHORT), and functions are shared. */
#ifndef GBM_REAL_H
#define GBM_REAL_H

#if defined(__CUDACC__)
#define GBM_FN static __device__ __forceinline__
#define GBM_FN_BIG static __device__ __noinline__
#define GBM_FN_ROWS GBM_FN_BIG
#define GBM_FN_ONCE GBM_FN
#define GBM_FN_CALLED GBM_FN_SHARED
#define GBM_INLINE static __device__ __forceinline__
#ifdef GBM_COMPACT
#define GBM_FN_SHARED GBM_FN_BIG
#define GBM_SHORT _Pragma("unroll 1")
#else
#define GBM_FN_SHARED GBM_FN
#define GBM_SHORT
#endif
#else
#include <math.h>
/* glibc has these in vectors, within 4 units in the last place, but says so
 * only where the compiler may also reorder sums. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) &&          \
    !defined(__clang__)
#if __GLIBC_PREREQ(2, 35)
#define GBM_IN_VECTORS __attribute__((__simd__("notinbranch")))
GBM_IN_VECTORS double exp(double);
GBM_IN_VECTORS double log(double);
GBM_IN_VECTORS double pow(double, double);
GBM_IN_VECTORS double sin(double);
GBM_IN_VECTORS double cos(double);
GBM_IN_VECTORS double log1p(double);
GBM_IN_VECTORS double expm1(double);
GBM_IN_VECTORS double log2(double);
GBM_IN_VECTORS double erfc(double);
GBM_IN_VECTORS double tanh(double);
#endif
#endif
#define GBM_FN static inline __attribute__((unused))
#define GBM_FN_BIG static __attribute__((unused))
#define GBM_INLINE static inline __attribute__((unused, always_inline))
#define GBM_FN_ROWS GBM_INLINE
#define GBM_FN_SHARED GBM_FN
#define GBM_FN_ONCE static __attribute__((unused, noinline))
#define GBM_FN_CALLED static __attribute__((unused, noinline, const))
#endif

#if defined(GBM_PART) || defined(GBM_LINKED)
#define GBM_FN_LINKED extern __attribute__((noinline))
#else
#define GBM_FN_LINKED GBM_FN_ONCE
#endif
#if defined(GBM_COMPILED) || defined(GBM_LINKED)
#define GBM_FN_COMMON extern __attribute__((noinline))
#else
#define GBM_FN_COMMON static __attribute__((unused, noinline))
#endif
#ifdef GBM_COMPILED
#define GBM_OWN_COMMON 0
#define GBM_IN_PART(part) 0
#else
#define GBM_OWN_COMMON 1
#ifdef GBM_PART
#define GBM_IN_PART(part) (GBM_PART == (part))
#else
#define GBM_IN_PART(part) 1
#endif
#endif

#if defined(__CUDACC_RTC__)
typedef unsigned char uint8_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int int32_t;
typedef long long int64_t;
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#endif

#ifdef GBM_SINGLE
typedef float real;
#define GBM_MATH(name) name##f
#define GBM_EPSILON ((real)1.1920928955078125e-7)
#define GBM_TINY ((real)1.17549435082228751e-38) /* smallest normal */
#define GBM_HUGE ((real)3.40282346638528860e+38)
#define GBM_LOG_TINY ((real)-87.336544750553102)
#define GBM_LOG_HUGE ((real)88.722839)
#else
typedef double real;
#define GBM_MATH(name) name
#define GBM_EPSILON 2.2204460492503131e-16
#define GBM_TINY 2.2250738585072014e-308
#define GBM_HUGE 1.7976931348623157e+308
#define GBM_LOG_TINY (-708.39641853226408)
#define GBM_LOG_HUGE 709.78271289338397
#endif

/* A constant in the precision of `real`. */
#define REAL_C(x) ((real)(x))

/* Stands for a cell that a Dirichlet distribution has with parameter 0, so that
 * its logarithm is finite. */
#define GBM_STRUCTURAL_ZERO REAL_C(1e-30)

#if defined(__CUDACC__)
#ifdef GBM_SINGLE
#define GBM_INF (__int_as_float(0x7f800000))
#define GBM_NAN (__int_as_float(0x7fffffff))
#else
#define GBM_INF (__longlong_as_double(0x7ff0000000000000LL))
#define GBM_NAN (__longlong_as_double(0x7ff8000000000000LL))
#endif
#else
#define GBM_INF ((real)INFINITY)
#define GBM_NAN ((real)NAN)
#endif

/* Arguments are made real: in C++ an integer would fit both float and double.
 */
#define real_log(x) GBM_MATH(log)((real)(x))
#define real_log2(x) GBM_MATH(log2)((real)(x))
#define real_log10(x) GBM_MATH(log10)((real)(x))
#define real_log1p(x) GBM_MATH(log1p)((real)(x))
#define real_exp(x) GBM_MATH(exp)((real)(x))
#define real_exp2(x) GBM_MATH(exp2)((real)(x))
#define real_expm1(x) GBM_MATH(expm1)((real)(x))
#define real_sqrt(x) GBM_MATH(sqrt)((real)(x))
#define real_cbrt(x) GBM_MATH(cbrt)((real)(x))
#define real_pow(x, y) GBM_MATH(pow)((real)(x), (real)(y))
#define real_fabs(x) GBM_MATH(fabs)((real)(x))
#define real_floor(x) GBM_MATH(floor)((real)(x))
#define real_ceil(x) GBM_MATH(ceil)((real)(x))
#define real_round(x) GBM_MATH(round)((real)(x))
#define real_trunc(x) GBM_MATH(trunc)((real)(x))
#define real_fmod(x, y) GBM_MATH(fmod)((real)(x), (real)(y))
#define real_sin(x) GBM_MATH(sin)((real)(x))
#define real_cos(x) GBM_MATH(cos)((real)(x))
#define real_tan(x) GBM_MATH(tan)((real)(x))
#define real_asin(x) GBM_MATH(asin)((real)(x))
#define real_acos(x) GBM_MATH(acos)((real)(x))
#define real_atan(x) GBM_MATH(atan)((real)(x))
#define real_atan2(x, y) GBM_MATH(atan2)((real)(x), (real)(y))
#define real_sinh(x) GBM_MATH(sinh)((real)(x))
#define real_cosh(x) GBM_MATH(cosh)((real)(x))
#define real_tanh(x) GBM_MATH(tanh)((real)(x))
#define real_asinh(x) GBM_MATH(asinh)((real)(x))
#define real_acosh(x) GBM_MATH(acosh)((real)(x))
#define real_atanh(x) GBM_MATH(atanh)((real)(x))
#define real_erf(x) GBM_MATH(erf)((real)(x))
#define real_erfc(x) GBM_MATH(erfc)((real)(x))
#define real_copysign(x, y) GBM_MATH(copysign)((real)(x), (real)(y))
#define real_lgamma gbm_lgamma /* gamma_function.h; no signgam */

/* What continued fractions (Lentz's algorithm) put in place of 0. */
#define GBM_LENTZ REAL_C(1e-30)

#define GBM_PI REAL_C(3.14159265358979323846)
#define GBM_LN2 REAL_C(0.69314718055994530942)
#define GBM_SQRT2 REAL_C(1.41421356237309504880)
#define GBM_SQRT1_2 REAL_C(0.70710678118654752440)
#define GBM_LOG_2PI REAL_C(1.83787706640934548356)
#define GBM_LOG_SQRT_2PI REAL_C(0.91893853320467274178)
#define GBM_EULER REAL_C(0.57721566490153286061)

GBM_FN bool gbm_is_finite(real x) { return x - x == 0; }

GBM_FN bool gbm_is_nan(real x) { return x != x; }

/* A subscript, or an end of a loop, that rounding may have put beside the whole
 * number that it is: 49 * (1.0 / 49) is below 1. */
GBM_FN int gbm_nearest(real x)
{
    return (int)(x < 0 ? x - REAL_C(0.5) : x + REAL_C(0.5));
}

/* A draw as an integer: missing (see gbm_is_missing) if it is no number, or
 * none that an integer can hold. */
GBM_FN int gbm_whole(real x)
{
    const real past = REAL_C(2147483648.0); /* 2147483647 is no float */
    return x > -past && x < past ? (int)x : -2147483647 - 1;
}

/* a / b and a % b of the number of an element. A device divides 64 bits by some
 * 100 instructions, and few models have so many elements. */
GBM_FN long long gbm_quotient(long long a, int b)
{
#ifdef __CUDACC__
    if (a <= 0xffffffffLL)
        return (unsigned)a / (unsigned)b;
#endif
    return a / b;
}
GBM_FN long long gbm_rest(long long a, int b)
{
#ifdef __CUDACC__
    if (a <= 0xffffffffLL)
        return (unsigned)a % (unsigned)b;
#endif
    return a % b;
}

/* x, rounded by itself: a C compiler that has fused operations would make one of
 * a product and what it is added to in one function and not in another. */
GBM_INLINE real gbm_rounded(real x)
{
#ifdef __CUDACC__
    return x; /* which fuses nothing */
#else
    const volatile real rounded = x;
    return rounded;
#endif
}

/* Whether a subscript lies in 1 .. extent. */
GBM_FN bool gbm_within(int at, int extent) { return at >= 1 && at <= extent; }

/* Whether x is a whole number but for rounding. */
GBM_FN bool gbm_is_near_whole(real x)
{
    const real rest = real_fabs(x - (real)gbm_nearest(x));
    return rest <= REAL_C(1e-6) + 4 * GBM_EPSILON * real_fabs(x);
}

GBM_FN bool gbm_is_place(real x, int extent)
{
    return gbm_within(gbm_nearest(x), extent) && gbm_is_near_whole(x);
}

/* Without libm's care for NaN: the second argument if either is NaN. */
GBM_FN real real_fmin(real a, real b) { return a < b ? a : b; }

GBM_FN real real_fmax(real a, real b) { return a > b ? a : b; }

/* max() and min() of a model: NaN if either is. */
GBM_FN real gbm_larger(real a, real b)
{
    return a > b || gbm_is_nan(a) ? a : b;
}

GBM_FN real gbm_smaller(real a, real b)
{
    return a < b || gbm_is_nan(a) ? a : b;
}

/* The nearest number of [lower, upper]; NaN stays. */
GBM_FN real gbm_clamp(real x, real lower, real upper)
{
    return x < lower ? lower : (x > upper ? upper : x);
}

/* x, which rounding may have put beyond lower and upper, between them, and what
 * overflowed the largest number. */
GBM_FN real gbm_put_between(real x, real lower, real upper)
{
    return gbm_clamp(x, real_fmax(lower, -GBM_HUGE),
                     real_fmin(upper, GBM_HUGE));
}

/* A draw, or in warm-up, where parameters that are far from where they will be
 * have none that is a number, the value before. */
GBM_FN real gbm_drawn_or(real before, real x, int adapting)
{
    return adapting && !(real_fabs(x) < GBM_HUGE) ? before : x;
}

GBM_FN real gbm_square(real x) { return x * x; }

/* a * b + c. Programs of a device contract nothing by themselves, as their
 * draws would then depend on how well they are compiled: inner loops ask for
 * it. */
#ifdef __CUDACC__
GBM_FN float gbm_multiply_add(float a, float b, float c)
{
    return fmaf(a, b, c);
}
GBM_FN double gbm_multiply_add(double a, double b, double c)
{
    return fma(a, b, c);
}
GBM_FN double gbm_multiply_add(float a, float b, double c)
{
    return (double)(a * b) + c;
}
#else
#define gbm_multiply_add(a, b, c) ((c) + (a) * (b))
#endif

/* x^n by squaring; by the library where rounding would add up. */
GBM_FN real gbm_whole_power(real x, int n)
{
    if (n < 0 || n > 63)
        return real_pow(x, (real)n);
    real power = 1;
    for (; n > 0; n >>= 1, x *= x)
        if (n & 1)
            power *= x;
    return power;
}

/* Whether c, a sum of products with exp(rest + x), is too small to tell what it
 * is about a place that lies `moved` away. */
GBM_FN bool gbm_faded(real c, real moved)
{
#ifdef GBM_SINGLE
    const real least = REAL_C(1e-30), far = 50;
#else
    const real least = REAL_C(1e-250), far = 500;
#endif
    return !(real_fabs(c) > least) && real_fabs(moved) > far;
}

/* Whether a sum of terms, whose absolute values add up to `size`, has lost too
 * many digits: to rounding, it may be wrong by more than 1e-10 of
 * itself (1e-5 in single
 * precision). */
GBM_FN bool gbm_cancelled(real sum, real size)
{
#ifdef GBM_SINGLE
    const real least = REAL_C(0.02);
#else
    const real least = REAL_C(3e-5);
#endif
    return !(real_fabs(sum) > least * size);
}

/* x log y, and 0 where x is 0. */
GBM_FN real gbm_xlogy(real x, real y)
{
    const real value = x * real_log(y); /* no branch: it vectorises */
    return x == 0 ? 0 : value;
}

/* x log(1 + y), and 0 where x is 0. */
GBM_FN real gbm_xlog1py(real x, real y)
{
    const real value = x * real_log1p(y);
    return x == 0 ? 0 : value;
}

/* Unrolls the loop that follows, of a length known when compiling. */
#if defined(__CUDACC__)
#define GBM_UNROLL _Pragma("unroll")
#elif defined(__clang__)
#define GBM_UNROLL _Pragma("clang loop unroll(full)")
#else
#define GBM_UNROLL _Pragma("GCC unroll 32")
#endif

/* Does not, on the device. */
#if defined(__CUDACC__)
#define GBM_ROLLED _Pragma("unroll 1")
#else
#define GBM_ROLLED
#endif

/* The polynomial c[0] + c[1] x + ... + c[n - 1] x^(n - 1), n >= 2: its even and
 * its odd part by Horner's rule, as two short chains of dependent operations
 * take less time than a long one. */
GBM_INLINE real gbm_polynomial(const real *c, int n, real x)
{
    real square = x * x, high = c[n - 1], low = c[n - 2];
    GBM_UNROLL
    for (int i = n - 3; i >= 1; i -= 2) {
        high = high * square + c[i];
        low = low * square + c[i - 1];
    }
    if (n & 1)
        return (low * x) + (high * square + c[0]);
    return high * x + low;
}

#endif
