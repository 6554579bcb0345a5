/* touch.c: a system gives out memory when it is first touched, and clears it
 * then. Of draws that is once for each number, and takes longer than to store
 * it, at a time when a device waits. Threads of idle cores are there before. */
#include "io/touch.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define PAGE 4096              /* the least that a system gives out */
#define PIECE (1u << 21)       /* a large page */
#define WORTH (1u << 22)       /* less memory is no work for a thread */
#define MOST ((size_t)1 << 30) /* a run may end before it has use for more */
enum { THREADS = 4 };

struct gbm_touch {
    char *at;
    size_t bytes, next; /* of these, the first that nobody has begun */
    bool over;
    int nthreads;
    pthread_t threads[THREADS];
};

/* Adds nothing, as one operation: what others write is not undone. */
static void touch_piece(const struct gbm_touch *t, size_t from)
{
    const size_t to = t->bytes - from < PIECE ? t->bytes : from + PIECE;

    for (size_t i = from; i < to; i += PAGE)
        (void)__atomic_fetch_or(t->at + i, 0, __ATOMIC_RELAXED);
}

static void *touch(void *shared)
{
    struct gbm_touch *t = shared;

    while (!__atomic_load_n(&t->over, __ATOMIC_RELAXED)) {
        const size_t from =
            __atomic_fetch_add(&t->next, PIECE, __ATOMIC_RELAXED);
        if (from >= t->bytes)
            break;
        touch_piece(t, from);
    }
    return NULL;
}

struct gbm_touch *gbm_touch_begin(void *at, size_t bytes, int idle)
{
    struct gbm_touch *t = NULL;

    if (at && bytes >= WORTH && idle > 0)
        t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->at = at;
    t->bytes = bytes < MOST ? bytes : MOST;
    while (t->nthreads < THREADS && t->nthreads < idle &&
           pthread_create(&t->threads[t->nthreads], NULL, touch, t) == 0)
        t->nthreads++;
    return t;
}

void gbm_touch_end(struct gbm_touch *t)
{
    if (!t)
        return;
    __atomic_store_n(&t->over, true, __ATOMIC_RELAXED);
    for (int i = 0; i < t->nthreads; i++)
        (void)pthread_join(t->threads[i], NULL);
    free(t);
}
