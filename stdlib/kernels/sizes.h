/* sizes.h: what the runtime knows of a step when its kernel is compiled, on the
 * device: lengths, and which parts of a block there are. */
#ifndef GBM_SIZES_H
#define GBM_SIZES_H

#include "row_terms.h"
#include "team.h"

/* What the rows of a sum have in common, for each of its inner terms i = lower
 * .. upper: GBM_LIFT before the rows, GBM_LIFTED in a term. Only in sweeps of
 * whole chains whose compiler knows that terms are few, so that it has them in
 * registers. */
#if defined(__CUDACC__) && defined(GBM_KNOWN) && defined(GBM_CHAINS)
#define GBM_LIFT(name, i, lower, upper, x)                                     \
    real name[GBM_FEW];                                                        \
    GBM_UNROLL for (int at_ = 0; at_ < GBM_FEW; at_++)                         \
    {                                                                          \
        const int i = (lower) + at_;                                           \
        if (i <= (upper))                                                      \
            name[at_] = x;                                                     \
    }
#define GBM_LIFTED(name, i, lower, upper, x)                                   \
    ((upper) - (lower) < GBM_FEW ? name[(i) - (lower)] : (x))
/* A function of a number of the row and of arrays that all rows share
 * (`code_in_rows` of the library): what is made of these before the rows, and
 * in a row. */
#define GBM_BEFORE_ROWS(name, terms, n, ...)                                   \
    struct terms name;                                                         \
    terms##_before(&name, (int)(n), __VA_ARGS__);
#define GBM_OF_ROW(name, terms, n, x, otherwise)                               \
    ((n) <= GBM_FEW ? terms##_row(&name, (int)(n), x) : (otherwise))
#else
#define GBM_LIFT(name, i, lower, upper, x)
#define GBM_LIFTED(name, i, lower, upper, x) (x)
#ifdef __CUDACC__
#define GBM_BEFORE_ROWS(name, terms, n, ...)
#define GBM_OF_ROW(name, terms, n, x, otherwise) (otherwise)
#endif
#endif

/* The host has what rows share, too, and adds up some blocks of rows at once. */
#ifndef __CUDACC__
#define GBM_BEFORE_ROWS(name, terms, n, ...)                                   \
    struct terms name;                                                         \
    real name##_x[GBM_LOG_ROWS];                                               \
    int name##_rows = 0;                                                       \
    terms##_before(&name, (int)(n), __VA_ARGS__);
#define GBM_OF_ROW(name, terms, n, x, otherwise)                               \
    ((n) <= GBM_FEW ? terms##_row(&name, (int)(n), x) : (otherwise))
#define GBM_ADD_OF_ROW(sum, rest, name, terms, n, x, otherwise)                \
    if ((n) <= GBM_FEW) {                                                      \
        name##_x[name##_rows++] = x;                                           \
        if (name##_rows == GBM_LOG_ROWS) {                                     \
            GBM_AFTER_ROWS(sum, rest, name, terms, n)                          \
            name##_rows = 0;                                                   \
        }                                                                      \
    } else {                                                                   \
        sum += otherwise + (rest);                                             \
    }
#define GBM_AFTER_ROWS(sum, rest, name, terms, n)                              \
    if (name##_rows > 0)                                                       \
        sum += terms##_rows(&name, (int)(n), name##_x, name##_rows) +          \
               name##_rows * (rest);
#else
#define GBM_ADD_OF_ROW(sum, rest, name, terms, n, x, otherwise)                \
    sum += GBM_OF_ROW(name, terms, n, x, otherwise) + (rest);
#define GBM_AFTER_ROWS(sum, rest, name, terms, n)
#endif

/* In a function that is called: the state with what is known. */
#if defined(__CUDACC__) && defined(GBM_KNOWN)
#define GBM_KNOWING(s)                                                         \
    struct state known_state_ = *s;                                            \
    know_state(&known_state_);                                                 \
    s = &known_state_;
#else
#define GBM_KNOWING(s)
#endif

#ifdef __CUDACC__
/* Number i of what the runtime tells of a function's sizes (GBM_SIZES_function,
 * numbers with _ between them), as a constant; n where it tells nothing. */
__device__ constexpr int gbm_size_of(const char *text, int i, int otherwise)
{
    if (!(*text >= '0' && *text <= '9'))
        return otherwise;
    for (; i > 0; text++)
        i -= *text == '_';
    int n = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        n = 10 * n + (*text - '0');
    return n;
}
#define GBM_SIZES_TEXT(sizes) #sizes
#define GBM_SIZES(name, i, n) gbm_size_of(GBM_SIZES_TEXT(name), i, n)
#define GBM_SIZE(function, i, n) GBM_SIZES(GBM_SIZES_##function, i, n)
/* cell = value, a function of `known`, number i of what is known of arrays,
 * if it is not 0. */
#define GBM_KNOW(i, cell, value)                                               \
    {                                                                          \
        constexpr int known = GBM_SIZES(GBM_KNOWN, i, 0);                      \
        if (known)                                                             \
            cell = value;                                                      \
    }
/* cell, a pointer, points to the integer that is known, as that plus 1. */
template <int n> __device__ const int gbm_known_number = n;
#define GBM_KNOW_NUMBER(i, cell)                                               \
    {                                                                          \
        constexpr int known = GBM_SIZES(GBM_KNOWN, i, 0);                      \
        if (known)                                                             \
            cell = (int *)&gbm_known_number<known - 1>;                        \
    }
#endif

/* What a kernel knows of its state. */
#ifdef GBM_KNOWN
#define GBM_KNOWS(state) know_state(state)
#else
#define GBM_KNOWS(state) (void)0
#endif

#endif
