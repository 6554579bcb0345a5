/* touch.h: memory that is touched before it is wanted. Private to the runtime.
 */
#ifndef GBM_TOUCH_H
#define GBM_TOUCH_H

#include <stddef.h>

struct gbm_touch;

/* Begins to touch `bytes` from `at` on, by at most as many threads of its own
 * as there are `idle` cores; what is there stays as it is, whoever writes it
 * meanwhile. NULL: nothing is touched, and all is as right. */
struct gbm_touch *gbm_touch_begin(void *at, size_t bytes, int idle);
/* Before the memory is freed; NULL: nothing. */
void gbm_touch_end(struct gbm_touch *touch);

#endif
