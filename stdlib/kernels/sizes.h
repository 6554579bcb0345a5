/* sizes.h: what the runtime knows of a step when its kernel is compiled, on the
 * device: lengths, and which parts of a block there are. */
#ifndef GBM_SIZES_H
#define GBM_SIZES_H

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
#endif

#endif
