/* fake.h: what the stand-ins for CUDA's libraries share. */
#ifndef FAKE_H
#define FAKE_H

#include <cuda.h>

/* Work for a stream: done at once, or recorded if the stream is being captured.
 * `drop` frees `data`; it may run several times in a graph before. */
CUresult fake_submit(CUstream stream, CUresult (*work)(void *data),
                     void (*drop)(void *data), void *data);

#endif
