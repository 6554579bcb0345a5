/* held.c: whatever a sampler holds of what follows from the nodes must follow
 * them wherever a step reads it: behind each step, and whatever moved the
 * chains between blocks of sweeps, as starts, swaps, resampling and checkpoints
 * do. The self-check looks behind whole sweeps, of its own alone. */
#include "check/self_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A chain's part of a slot; *bytes of it. */
static char *part_of(const struct self_check *s, int v, size_t *bytes)
{
    const size_t all = rt_chain_bytes(s->in, v);
    *bytes = all / (size_t)s->in->nchains;
    return all ? (char *)s->in->slots[v].values + *bytes * (size_t)s->chain
               : NULL;
}

static void copy_parts(const struct self_check *s, char *copy, bool back)
{
    for (int v = 0; v < s->in->model->nvariables; v++) {
        size_t bytes;
        char *part = part_of(s, v, &bytes);
        if (part)
            memcpy(back ? part : copy, back ? copy : part, bytes);
        copy += bytes;
    }
}

/* What follows from the chain's nodes was not asked for: draws are what they
 * are without. */
static void compare(struct self_check *s, const char *what)
{
    size_t all = 1, bytes;
    for (int v = 0; v < s->in->model->nvariables; v++) {
        part_of(s, v, &bytes);
        all += bytes;
    }
    char *copy = malloc(all);
    if (!copy)
        abort();
    copy_parts(s, copy, false);
    self_check_held(s, what);
    copy_parts(s, copy, true);
    free(copy);
}

static bool is_kept(const struct rt_instance *in, int family)
{
    for (int i = 0; i < in->nkept_families; i++)
        if (in->kept_families[i] == family)
            return true;
    return false;
}

/* What is computed of draws that nothing reads, of kept sweeps alone, waits for
 * the end of these; there it is made if draws are written, but not where, as in
 * the joint distribution test, nothing asks for it. */
static void leave_late(struct self_check *s, bool end)
{
    const struct gbm_model *m = s->in->model;
    for (int k = 0; k < m->nsteps; k++)
        if (m->steps[k].kind == GBM_STEP_DERIVE && !m->steps[k].after &&
            !(end && is_kept(s->in, m->steps[k].family)))
            s->kept_up[m->families[m->steps[k].family].variable] = false;
}

static bool draws_late(const struct rt_instance *in)
{
    for (int k = 0; k < in->model->nsteps; k++)
        if (in->model->steps[k].leaf && in->steps[k].active)
            return true;
    return false;
}

/* Elements of a random array that are computed of others are made behind all
 * steps, too, and may wait as the above. */
static void add_computed(struct self_check *s)
{
    const struct gbm_model *m = s->in->model;
    const bool late = draws_late(s->in);
    for (int f = 0; f < m->nfamilies; f++)
        if (rt_is_read(m, f) && !(late && !is_kept(s->in, f)) &&
            m->variables[m->families[f].variable].role == GBM_STOCHASTIC)
            s->kept_up[m->families[f].variable] = true;
}

static void watch(struct rt *rt, struct rt_instance *in, void *state, int chain,
                  const struct gbm_step *last, bool end)
{
    struct self_check s = {.rt = rt, .in = in, .state = state, .chain = chain};
    char what[300];
    s.kept_up = calloc((size_t)in->model->nvariables + 1, sizeof *s.kept_up);
    if (!s.kept_up)
        abort();
    self_check_find_held(&s);
    if (last ? last->leaf : end && draws_late(in))
        leave_late(&s, end);
    if (end)
        add_computed(&s);
    if (last && last->after) /* what makes the last one due is to blame */
        last = &in->model->steps[last->after - 1];
    if (last)
        snprintf(what, sizeof what, "Step %d, %s (%s), leaves", last->number,
                 last->name, last->variable);
    else
        snprintf(what, sizeof what, "What moves the chains %s leaves",
                 end ? "behind the steps" : "between sweeps");
#pragma omp critical(watched)
    if (rt->status == GBM_OK)
        compare(&s, what);
    free(s.kept_up);
}

void rt_watch_held(struct rt *rt)
{
    if (getenv("GBM_HELD"))
        rt->watch = watch;
}
