/* emulate.h: CUDA C for the CPU, so that the device's side of a sampler can be
 * tested where there is no GPU. Threads of a block are fibers of one CPU thread
 * that change places at barriers and warp exchanges; blocks run one after the
 * other. Included before a CUDA text that is compiled as C++ (see compile.py);
 * driver.c is the other half. */
#ifndef EMULATE_H
#define EMULATE_H

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <tuple>

using std::pow;
using std::sqrt;

#define __CUDACC__ 1
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __shared__ static
#define __constant__ static
#define __grid_constant__
#define __restrict__

struct alignas(16) float4 {
    float x, y, z, w;
};

struct alignas(8) float2 {
    float x, y;
};

static inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

struct emu_dim {
    unsigned x, y, z;
};

/* driver.c */
extern "C" {
struct emu_place {
    emu_dim thread, block, block_size, grid;
    unsigned char *dynamic; /* extern __shared__ */
};
extern struct emu_place emu_here; /* of the running fiber */
void emu_barrier(void);
void emu_warp_barrier(unsigned mask);
void emu_yield(void);
/* 32 words of the running fiber's warp. */
uint64_t *emu_exchange(void);
/* The device's heap. */
void *emu_malloc(size_t bytes);
void emu_free(void *p);
}
#define malloc(bytes) emu_malloc(bytes)
#define free(p) emu_free(p)

#define threadIdx (emu_here.thread)
#define blockIdx (emu_here.block)
#define blockDim (emu_here.block_size)
#define gridDim (emu_here.grid)

static inline unsigned emu_lane(void) { return threadIdx.x & 31u; }

static inline void __syncthreads(void) { emu_barrier(); }

static inline void __syncwarp(unsigned mask = 0xffffffffu)
{
    emu_warp_barrier(mask);
}

template <class T> T emu_read(unsigned mask, T value, unsigned from)
{
    static_assert(sizeof(T) <= 8, "a word at most");
    uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    emu_exchange()[emu_lane()] = word;
    emu_warp_barrier(mask);
    T result;
    std::memcpy(&result, &emu_exchange()[from & 31u], sizeof result);
    emu_warp_barrier(mask);
    return result;
}

template <class T> T __shfl_xor_sync(unsigned mask, T value, int step)
{
    return emu_read(mask, value, emu_lane() ^ (unsigned)step);
}

template <class T> T __shfl_sync(unsigned mask, T value, int lane)
{
    return emu_read(mask, value, (unsigned)lane);
}

template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned step)
{
    unsigned lane = emu_lane();
    return emu_read(mask, value, lane >= step ? lane - step : lane);
}

template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned step)
{
    unsigned lane = emu_lane();
    return emu_read(mask, value, lane + step < 32 ? lane + step : lane);
}

static inline unsigned __ballot_sync(unsigned mask, int yes)
{
    emu_exchange()[emu_lane()] = yes != 0;
    emu_warp_barrier(mask);
    unsigned result = 0;
    for (unsigned l = 0; l < 32; l++)
        if (mask >> l & 1 && emu_exchange()[l])
            result |= 1u << l;
    emu_warp_barrier(mask);
    return result;
}

template <class T> unsigned __match_any_sync(unsigned mask, T value)
{
    uint64_t word = 0;
    std::memcpy(&word, &value, sizeof value);
    emu_exchange()[emu_lane()] = word;
    emu_warp_barrier(mask);
    unsigned result = 0;
    for (unsigned l = 0; l < 32; l++)
        if (mask >> l & 1 && emu_exchange()[l] == word)
            result |= 1u << l;
    emu_warp_barrier(mask);
    return result;
}

static inline unsigned __umulhi(unsigned a, unsigned b)
{
    return (unsigned)(((uint64_t)a * b) >> 32);
}

static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }
static inline int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }

template <class To, class From> static inline To emu_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "the same size");
    To to;
    std::memcpy(&to, &from, sizeof to);
    return to;
}

static inline float __int_as_float(int x) { return emu_bits<float>(x); }
static inline int __float_as_int(float x) { return emu_bits<int>(x); }
static inline unsigned __float_as_uint(float x)
{
    return emu_bits<unsigned>(x);
}
static inline float __uint_as_float(unsigned x) { return emu_bits<float>(x); }
static inline double __longlong_as_double(long long x)
{
    return emu_bits<double>(x);
}
static inline long long __double_as_longlong(double x)
{
    return emu_bits<long long>(x);
}

template <class T> T atomicAdd(T *p, T x)
{
    T old = *p;
    *p += x;
    return old;
}

template <class T> T atomicOr(T *p, T x)
{
    T old = *p;
    *p |= x;
    return old;
}

template <class T> T atomicMax(T *p, T x)
{
    T old = *p;
    *p = old < x ? x : old;
    return old;
}

template <class T> T atomicCAS(T *p, T expected, T wanted)
{
    T old = *p;
    if (old == expected)
        *p = wanted;
    return old;
}

static inline void __threadfence(void) {}
/* Where blocks wait for each other: the others' turn. */
static inline void __nanosleep(unsigned) { emu_yield(); }

static inline float rsqrtf(float x) { return 1 / std::sqrt(x); }
static inline double rsqrt(double x) { return 1 / std::sqrt(x); }

static inline void __trap(void) { std::abort(); }

template <class T> T __ldg(const T *p) { return *p; }

/* A number of 16 bits, 11 of them significant, and back. */
static inline unsigned emu_to_half(float x)
{
    const unsigned sign = (unsigned)emu_bits<int>(x) >> 16 & 0x8000u;
    const float size = std::fabs(x);
    if (!(size < 65520))
        return sign | (size != size ? 0x7e00u : 0x7c00u);
    int power = 0;
    std::frexp(size, &power);
    power = size == 0 || power < -13
                ? -13
                : power; /* the last bit is 2^(power - 11) */
    const float last = std::ldexp(1.0f, power - 11);
    const unsigned n = (unsigned)std::nearbyint(size / last);
    return sign | (n + (unsigned)(power + 13) * 1024);
}

static inline float emu_half(uint64_t word, int half)
{
    const unsigned bits = (unsigned)(word >> 16 * half) & 0xffffu;
    const int power = (int)(bits >> 10 & 31);
    const unsigned n = bits & 1023u;
    float x = power == 31  ? (n ? NAN : INFINITY)
              : power == 0 ? std::ldexp((float)n, -24)
                           : std::ldexp((float)(n + 1024), power - 25);
    return bits & 0x8000u ? -x : x;
}

static inline uint32_t emu_pack_halves(float first, float second)
{
    return emu_to_half(first) | emu_to_half(second) << 16;
}

/* c += a b by a warp: mma.m16n8k16 of such numbers, sums in single precision.
 */
static inline void emu_multiply_16_8_16(float (&c)[4], const uint32_t (&a)[4],
                                        uint32_t b0, uint32_t b1)
{
    const uint64_t mine[3] = {a[0] | (uint64_t)a[1] << 32,
                              a[2] | (uint64_t)a[3] << 32,
                              b0 | (uint64_t)b1 << 32};
    uint64_t all[3][32];
    for (int i = 0; i < 3; i++) {
        emu_exchange()[emu_lane()] = mine[i];
        emu_warp_barrier(0xffffffffu);
        std::memcpy(all[i], emu_exchange(), sizeof all[i]);
        emu_warp_barrier(0xffffffffu);
    }
    const unsigned g = emu_lane() / 4, t = emu_lane() % 4;
    for (unsigned w = 0; w < 4; w++)
        for (unsigned k = 0; k < 16; k++) {
            unsigned row = g + w / 2 * 8, column = 2 * t + w % 2;
            uint64_t x = all[k / 8][row % 8 * 4 + k % 8 / 2];
            uint64_t y = all[2][column * 4 + k % 8 / 2];
            c[w] += emu_half(x, (int)(row / 8 * 2 + k % 2)) *
                    emu_half(y, (int)(k / 8 * 2 + k % 2));
        }
}

/* The same by mma.m16n8k8 of numbers in single precision, of which it reads 11
 * bits. */
static inline void emu_multiply_16_8_8(float (&c)[4], const uint32_t (&a)[4],
                                       uint32_t b0, uint32_t b1)
{
    const uint32_t mine[6] = {a[0], a[1], a[2], a[3], b0, b1};
    const uint32_t read = 0xffffe000u;
    uint64_t all[6][32];
    for (int i = 0; i < 6; i++) {
        emu_exchange()[emu_lane()] = mine[i] & read;
        emu_warp_barrier(0xffffffffu);
        std::memcpy(all[i], emu_exchange(), sizeof all[i]);
        emu_warp_barrier(0xffffffffu);
    }
    const unsigned g = emu_lane() / 4, t = emu_lane() % 4;
    for (unsigned w = 0; w < 4; w++)
        for (unsigned k = 0; k < 8; k++)
            c[w] += emu_bits<float>(
                        (uint32_t)all[w / 2 + k / 4 * 2][g * 4 + k % 4]) *
                    emu_bits<float>(
                        (uint32_t)all[4 + k / 4][(2 * t + w % 2) * 4 + k % 4]);
}

/* What a launch keeps of its arguments, as the driver copies them. */
template <class... A> std::tuple<A...> *emu_pack(void (*)(A...), void **args)
{
    int i = 0;
    return new std::tuple<A...>{*(A *)args[i++]...};
}

template <class... A> void emu_call(void (*f)(A...), void *arguments)
{
    std::apply(f, *(std::tuple<A...> *)arguments);
}

template <class... A> void emu_drop(void (*)(A...), void *arguments)
{
    delete (std::tuple<A...> *)arguments;
}

#endif
