/* weight_marks.h: which weights of a discrete node in expectation are surely 0,
 * on a device: a word for 32 values of an element, [values / 32][elements],
 * whose bit is 1 where there is nothing to read. What has not been computed by
 * rows (rows_weighed.h, weighed_forms.h) has none. */
#ifndef GBM_WEIGHT_MARKS_H
#define GBM_WEIGHT_MARKS_H

#include "real.h"

/* Words of so many elements. */
#define GBM_MARKS(elements, values) (((values) + 31ll) / 32 * (elements))

#ifdef __CUDACC__
/* An element's first word, NULL: no marks are kept; and from word to word. */
struct gbm_marks {
    uint32_t *first;
    int step;
};

GBM_FN struct gbm_marks gbm_marks_of(real *cells, long long element,
                                     int elements)
{
    struct gbm_marks marks = {cells ? (uint32_t *)cells + element : NULL,
                              elements};
    return marks;
}

/* Nothing is known of an element with so many values. */
GBM_FN void gbm_marks_clear(const struct gbm_marks *marks, int values)
{
    for (int k = 0; marks->first && k < (values + 31) / 32; k++)
        marks->first[(long long)k * marks->step] = 0;
}

/* A warp's lane k gets bit k of all lanes' words, that of lane i as bit i. */
GBM_FN uint32_t gbm_marks_turn(uint32_t word)
{
    uint32_t lower = 0x0000ffffu;
    for (int j = 16; j > 0; j /= 2) {
        const uint32_t other = __shfl_xor_sync(0xffffffffu, word, j);
        word = threadIdx.x & j ? (word & ~lower) | ((other & ~lower) >> j)
                               : (word & lower) | ((other & lower) << j);
        lower ^= lower << j / 2;
    }
    return word;
}
#endif

#endif
