/* text.c: the fixed kernels and the headers that they include, as text inside
 * the plugin. Paths are those of the project's folder, where ninja runs. */
#include "cuda.h"

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
TEXT(cuda_text_small, "runtime/cuda/dense_small.h");
TEXT(cuda_text_control, "stdlib/kernels/control.h");
TEXT(cuda_text_kept, "stdlib/kernels/kept_cuda.h");
TEXT(cuda_text_real, "stdlib/kernels/real.h");
TEXT(cuda_text_rng, "stdlib/kernels/rng.h");
TEXT(cuda_text_normal_function, "stdlib/kernels/normal_function.h");
TEXT(cuda_text_normal, "stdlib/kernels/normal.h");
TEXT(cuda_text_team, "stdlib/kernels/team.h");

const struct gbm_header cuda_texts[] = {
    {"kernels.h", cuda_text_kernels},
    {"dense_large.h", cuda_text_large},
    {"dense_small.h", cuda_text_small},
    {"control.h", cuda_text_control},
    {"kept_cuda.h", cuda_text_kept},
    {"real.h", cuda_text_real},
    {"rng.h", cuda_text_rng},
    {"normal_function.h", cuda_text_normal_function},
    {"normal.h", cuda_text_normal},
    {"team.h", cuda_text_team},
};
const int cuda_ntexts = sizeof cuda_texts / sizeof *cuda_texts;
