/* settled.c: code that nothing runs costs registers and room for what is not in
 * them. Moves that warm-up has found not to pay in any chain are not made
 * behind it; so programs without them take the place of those that warm-up
 * needs, as soon as they are compiled (better.c), and draws are the same. What
 * adapts again has the others back. */
#include "programs.h"

#include <stdlib.h>
#include <string.h>

static bool may_settle(const struct cuda *c, int step)
{
    return c->in->steps[step].active && c->in->model->steps[step].idle;
}

/* In single precision, and with many chains, no program has these moves. */
bool cuda_settles(const struct cuda *c, int part)
{
    if (c->single || c->filter.on || c->in->nchains >= RT_MANY_CHAINS)
        return false;
    for (int k = 0; k < c->in->model->nsteps; k++)
        if (may_settle(c, k) &&
            part == (c->chains.lanes ? c->chains.kernel.part
                                     : c->steps[k].kernel.part))
            return true;
    return false;
}

void cuda_settled_of(struct cuda *c, const struct cuda_program *parts, int n)
{
    memset(&c->settled, 0, sizeof c->settled);
    for (int i = 0; i < n; i++) {
        c->settled.can[i] = parts[i].settles;
        c->settled.keys[i] = parts[i].keys[CUDA_SETTLED];
    }
}

static bool can_settle(const struct cuda *c)
{
    for (int i = 0; i < CUDA_PARTS; i++)
        if (c->settled.can[i])
            return true;
    return false;
}

bool cuda_settled_wants(const struct cuda *c, const struct cuda_order *o)
{
    const struct cuda_settled *s = &c->settled;
    return o && cuda_order_state(o) != CUDA_NEVER && !s->refused &&
           (s->idle || !s->known);
}

bool cuda_settled_is(const struct cuda *c, const CUmodule *module)
{
    for (int i = 0; i < CUDA_PARTS; i++)
        if (module == &c->parts[i])
            return c->settled.before[i];
    return false;
}

void cuda_settled_end(struct cuda *c)
{
    for (int i = 0; i < CUDA_PARTS; i++)
        if (c->settled.before[i])
            (void)cuModuleUnload(c->settled.before[i]);
    memset(&c->settled, 0, sizeof c->settled);
}

/* ---- what chains have learnt ---- */

static enum gbm_status get_tuning(struct cuda *c)
{
    for (int v = 0; v < c->in->model->nvariables; v++) {
        const struct rt_slot *slot = &c->in->slots[v];
        const struct gbm_variable *variable = &c->in->model->variables[v];
        if (variable->role == GBM_TUNING && slot->per_chain)
            TRY(cuda_get_cells(c, slot->values, c->slots[v].values,
                               c->slots[v].cells, variable->integer));
    }
    return GBM_OK;
}

static bool is_idle(const struct cuda *c, const void *state)
{
    for (int k = 0; k < c->in->model->nsteps; k++)
        if (may_settle(c, k) && !c->in->model->steps[k].idle(state))
            return false;
    return true;
}

static enum gbm_status look(struct cuda *c)
{
    const struct gbm_model *model = c->in->model;
    void *state = malloc(model->state_size);

    if (!state)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    enum gbm_status status = get_tuning(c);
    c->settled.known = c->settled.idle = status == GBM_OK;
    for (int chain = 0; chain < c->in->nchains && c->settled.idle; chain++) {
        memcpy(state, c->host_state, model->state_size);
        model->shift(state, chain);
        c->settled.idle = is_idle(c, state);
    }
    free(state);
    return status;
}

/* ---- programs ---- */

static void unload(CUmodule *modules)
{
    for (int i = 0; i < CUDA_PARTS; i++)
        if (modules[i])
            (void)cuModuleUnload(modules[i]);
}

/* The part's, if it is compiled; *refused: it never will be. */
static bool load_part(struct cuda *c, int i, CUmodule *module, bool *refused)
{
    struct rt_key *key = &c->settled.keys[i];
    struct cuda_order *o = cuda_apart_find_later(c, key);
    size_t bytes = 0;

    if (o && getenv("GBM_CUDA_QUICK")) /* for tests: as better.c */
        (void)cuda_apart_wait(c, o);
    if (o && cuda_order_state(o) == CUDA_TO_COME)
        return false;
    char *kept = o ? NULL : rt_cache_read(key, "cubin", &bytes);
    const char *code = o && cuda_order_state(o) == CUDA_DONE
                           ? cuda_order_code(o, &bytes)
                           : kept;
    *refused = !code || cuModuleLoadData(module, code) != CUDA_SUCCESS;
    free(kept);
    return !*refused;
}

/* All or none. */
static bool load_parts(struct cuda *c, CUmodule *modules)
{
    for (int i = 0; i < CUDA_PARTS; i++)
        if (c->settled.can[i] &&
            !load_part(c, i, &modules[i], &c->settled.refused))
            return false;
    return true;
}

/* Exchanges programs, of which graphs and kernels know. */
static enum gbm_status take(struct cuda *c, CUmodule *modules)
{
    for (int i = 0; i < CUDA_PARTS; i++)
        if (modules[i]) {
            c->settled.before[i] = c->parts[i];
            c->parts[i] = modules[i];
        }
    cuda_forget_graphs(c);
    return cuda_find_all(c);
}

static enum gbm_status put_back(struct cuda *c)
{
    CUmodule settled[CUDA_PARTS] = {0};

    for (int i = 0; i < CUDA_PARTS; i++)
        if (c->settled.before[i]) {
            settled[i] = c->parts[i];
            c->parts[i] = c->settled.before[i];
            c->settled.before[i] = NULL;
        }
    cuda_forget_graphs(c);
    enum gbm_status status = cuda_find_all(c);
    unload(settled);
    return status;
}

static bool is_settled(const struct cuda *c)
{
    for (int i = 0; i < CUDA_PARTS; i++)
        if (c->settled.before[i])
            return true;
    return false;
}

/* What cannot be had is no reason to stop. */
static enum gbm_status settle(struct cuda *c)
{
    CUmodule modules[CUDA_PARTS] = {0};
    bool loaded = load_parts(c, modules);

    if (!loaded && c->settled.refused && !c->better && !cuda_is_quick(c)) {
        unload(modules);
        memset(modules, 0, sizeof modules);
        loaded = cuda_build_settled(c, modules) == GBM_OK;
        c->settled.refused = !loaded;
        c->rt->status = GBM_OK;
        c->rt->message[0] = '\0';
    }
    if (loaded)
        return take(c, modules);
    unload(modules);
    return GBM_OK;
}

enum gbm_status cuda_settle(struct cuda *c, bool adapting)
{
    struct cuda_settled *s = &c->settled;

    if (!can_settle(c))
        return GBM_OK;
    if (adapting) {
        s->known = false;
        return is_settled(c) ? put_back(c) : GBM_OK;
    }
    if (!s->known)
        TRY(look(c));
    return s->idle && !s->refused && !is_settled(c) ? settle(c) : GBM_OK;
}
