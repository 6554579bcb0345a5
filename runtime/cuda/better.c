/* better.c: sweeps begin with programs that were compiled quickly; meanwhile
 * the same are compiled with more care (apart.c), and take their place between
 * blocks of sweeps. A run that is over does not wait for it. Each program that
 * is done goes to the cache, so that later runs begin with it. */
#include "programs.h"

#include <stdlib.h>

struct cuda_better {
    int n;
    struct cuda_order *orders[CUDA_LEVELS][CUDA_PROGRAMS]; /* NULL: none */
    CUmodule *modules[CUDA_PROGRAMS];
    enum cuda_level levels[CUDA_PROGRAMS];
    int blocks; /* so far: for tests */
};

/* All programs get better a little before one gets as good as can be: the full
 * level takes some times as long. */
bool cuda_better_begin(struct cuda *c, const struct cuda_program *programs,
                       int n)
{
    struct cuda_better *b = c->apart ? calloc(1, sizeof *b) : NULL;

    c->better = b;
    if (!b)
        return false;
    b->n = n;
    for (int level = CUDA_MIDDLE; level <= CUDA_FULL; level++)
        for (int i = 0; i < n; i++)
            if (programs[i].level < (enum cuda_level)level)
                b->orders[level][i] =
                    cuda_apart_later(c, &programs[i], (enum cuda_level)level);
    for (int i = 0; i < n; i++)
        if (programs[i].settles &&
            !rt_cache_has(&programs[i].keys[CUDA_SETTLED], "cubin"))
            b->orders[CUDA_SETTLED][i] =
                cuda_apart_later(c, &programs[i], CUDA_SETTLED);
    return true;
}

void cuda_better_than(struct cuda *c, const struct cuda_program *programs)
{
    for (int i = 0; i < c->better->n; i++) {
        c->better->modules[i] = programs[i].module;
        c->better->levels[i] = programs[i].level;
    }
}

void cuda_better_end(struct cuda *c)
{
    free(c->better);
    c->better = NULL;
    cuda_apart_end(c);
}

static enum cuda_state state(const struct cuda_better *b, int level, int i)
{
    const struct cuda_order *o = b->orders[level][i];
    return o ? cuda_order_state(o) : CUDA_NEVER;
}

/* Whether a program is loaded that was compiled beside; *module: in its place.
 * One that cannot be is as if it could not be compiled. */
static bool load_better(struct cuda_better *b, enum cuda_level level, int i,
                        CUmodule *module)
{
    size_t bytes = 0;

    if (state(b, level, i) != CUDA_DONE)
        return false;
    if (cuModuleLoadData(module, cuda_order_code(b->orders[level][i],
                                                 &bytes)) == CUDA_SUCCESS)
        b->levels[i] = level;
    else
        cuda_order_refuse(b->orders[level][i]);
    return b->levels[i] == level;
}

/* Loads what is ready; olds[]: what it replaces, for the caller to unload once
 * nothing asks for it. */
static int load_ready(const struct cuda *c, enum cuda_level most,
                      CUmodule *olds)
{
    struct cuda_better *b = c->better;
    int n = 0;

    for (int i = 0; i < b->n; i++)
        for (int level = (int)most; level > (int)b->levels[i]; level--) {
            CUmodule module = NULL;
            if (cuda_settled_is(c, b->modules[i]) ||
                !load_better(b, (enum cuda_level)level, i, &module))
                continue;
            olds[n++] = *b->modules[i];
            *b->modules[i] = module;
        }
    return n;
}

/* For tests: until all of that level is ready. */
static void wait_for(struct cuda *c, enum cuda_level level)
{
    const struct cuda_better *b = c->better;

    for (int i = 0; i < b->n; i++)
        if (b->levels[i] < level && b->orders[level][i])
            (void)cuda_apart_wait(c, b->orders[level][i]);
}

/* The level to take now, if it is there. For tests: with GBM_CUDA_QUICK=K the
 * middle one just before block K, the full one just before block 2 K. */
static enum cuda_level level_now(struct cuda *c)
{
    struct cuda_better *b = c->better;
    const char *wanted = getenv("GBM_CUDA_QUICK");
    const int block = wanted ? atoi(wanted) : 0;

    if (block <= 0)
        return CUDA_FULL;
    b->blocks++;
    const enum cuda_level level = b->blocks < block       ? CUDA_QUICK
                                  : b->blocks < 2 * block ? CUDA_MIDDLE
                                                          : CUDA_FULL;
    wait_for(c, level);
    return level;
}

/* Nothing is to come for a program that is not as good as can be. */
static bool is_over(const struct cuda *c)
{
    const struct cuda_better *b = c->better;

    for (int i = 0; i < b->n; i++)
        if (!cuda_settled_is(c, b->modules[i]) &&
            ((b->levels[i] < CUDA_FULL &&
              state(b, CUDA_FULL, i) != CUDA_NEVER) ||
             cuda_settled_wants(c, b->orders[CUDA_SETTLED][i])))
            return false;
    return true;
}

/* That the full level cannot be had is told by the device's text. */
static void come_to_an_end(struct cuda *c)
{
    bool full = true;

    for (int i = 0; i < c->better->n; i++)
        full = full && (c->better->levels[i] == CUDA_FULL ||
                        cuda_settled_is(c, c->better->modules[i]));
    if (!full)
        cuda_say(c, ", compiled quickly, as more failed");
    cuda_better_end(c);
}

enum gbm_status cuda_better_take(struct cuda *c)
{
    struct cuda_better *b = c->better;
    CUmodule olds[CUDA_PROGRAMS];

    if (!b)
        return GBM_OK;
    cuda_apart_sweeps(c);
    const enum cuda_level most = level_now(c);
    const int n = load_ready(c, most, olds);
    if (n > 0) {
        cuda_forget_graphs(c);
        TRY(cuda_find_all(c));
    }
    for (int i = 0; i < n; i++)
        CU(cuModuleUnload(olds[i]));
    if (is_over(c))
        come_to_an_end(c);
    return GBM_OK;
}
