/* text.c: the fixed kernels, as text inside the plugin. Paths are those of the
 * project's folder, where ninja runs. */
#include "programs.h"

/* The bytes of a file as `extern const char name[]`, terminated. */
#define TEXT(name, path)                                                       \
    __asm__(".section .rodata\n"                                               \
            ".hidden " #name "\n"                                              \
            ".globl " #name "\n" #name ":\n"                                   \
            ".incbin \"" path "\"\n"                                           \
            ".byte 0\n"                                                        \
            ".previous\n");                                                    \
    extern const char name[]

TEXT(cuda_text_kernels, "runtime/cuda/kernels.h");
TEXT(cuda_text_ceilings, "runtime/cuda/ceilings.h");
TEXT(cuda_text_large, "runtime/cuda/dense_large.h");
TEXT(cuda_text_solve, "runtime/cuda/dense_solve.h");
TEXT(cuda_text_tiles, "runtime/cuda/dense_tiles.h");
TEXT(cuda_text_small, "runtime/cuda/dense_small.h");
TEXT(cuda_text_ladder, "runtime/cuda/ladder.h");
TEXT(cuda_text_particles, "runtime/cuda/particles.h");
TEXT(cuda_text_filter, "runtime/cuda/filter.h");

const struct gbm_header cuda_texts[] = {{"kernels.h", cuda_text_kernels},
                                        {"dense_large.h", cuda_text_large},
                                        {"dense_solve.h", cuda_text_solve},
                                        {"dense_tiles.h", cuda_text_tiles},
                                        {"dense_small.h", cuda_text_small},
                                        {"ceilings.h", cuda_text_ceilings},
                                        {"ladder.h", cuda_text_ladder},
                                        {"particles.h", cuda_text_particles},
                                        {"filter.h", cuda_text_filter},
                                        {0}};
