/* self_check_held.c: what sweeps keep in memory of what follows from the nodes
 * must be that after each of them. */
#include "check/self_check.h"
#include "gbm.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All that are maintained, but tables that wait for a leaf to be observed
 * throughout. */
void self_check_find_held(struct self_check *s)
{
    const struct gbm_model *m = s->in->model;
    for (int v = 0; v < m->nvariables; v++)
        s->kept_up[v] =
            m->variables[v].role == GBM_DERIVED && m->variables[v].maintained;
    for (int k = 0; k < m->nsteps; k++)
        if (m->steps[k].kind == GBM_STEP_DERIVE && !s->in->steps[k].active)
            s->kept_up[m->families[m->steps[k].family].variable] = false;
}

static bool is_left_behind(double held, double computed)
{
    return !(fabs(held - computed) <=
             SELF_CHECK_TOLERANCE * (1 + fabs(computed))) &&
           isfinite(held) && isfinite(computed);
}

/* The largest absolute value of n; NaN if one is no number. */
static double largest(int64_t n, const double *x)
{
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fabs(x[i]) <= most ? most : fabs(x[i]);
    return most;
}

/* Whether two inverses [n][n] are of matrices that are the same but for
 * rounding: next to a singular one, an inverse tells the last digits apart. */
static bool are_of_one(int n, const double *held, const double *computed)
{
    size_t cells = (size_t)n * (size_t)n;
    double *of_held = malloc(2 * cells * sizeof *of_held);
    if (!of_held)
        abort();
    double *of_computed = of_held + cells;
    gbm_inverse(n, held, of_held);
    gbm_inverse(n, computed, of_computed);
    double size = largest((int64_t)cells, of_computed);
    double error =
        size * n * DBL_EPSILON *
        largest((int64_t)cells, computed); /* relative, by rounding */
    bool one = true;
    for (size_t i = 0; i < cells; i++)
        one = one && !(fabs(of_held[i] - of_computed[i]) >
                       (SELF_CHECK_TOLERANCE + error) * size);
    free(of_held);
    return one;
}

static enum gbm_status refuse_held(struct self_check *s, int v, double held,
                                   double computed, const char *what)
{
    return rt_fail(s->rt, GBM_FAILURE,
                   "this sampler is wrong: no draws were made\n"
                   "%s %s behind: it holds %.10g where the model computes "
                   "%.10g. " CHECK_REPORT,
                   what, s->in->model->variables[v].name, held, computed,
                   (unsigned long long)s->rt->options.seed);
}

/* From cell `at` of variable v, where its `held` value is not the one computed:
 * how many more cells are only so by rounding, as they are of the same inverse.
 * -1: it was left behind. */
static int64_t only_rounded(const struct self_check *s, int v,
                            const double *held, int64_t at)
{
    const struct gbm_variable *variable = &s->in->model->variables[v];
    const struct rt_slot *slot = &s->in->slots[v];
    if (!variable->inverts)
        return -1;
    int n = slot->dim[variable->ndim - 1];
    int64_t cells = (int64_t)n * n, first = at - at % cells;
    double *computed = malloc((size_t)cells * sizeof *computed);
    if (!computed)
        abort();
    for (int64_t i = 0; i < cells; i++)
        computed[i] = rt_value(slot, false, s->chain, first + i);
    bool rounded = are_of_one(n, held + first, computed);
    free(computed);
    return rounded ? first + cells - 1 - at : -1;
}

/* What rounding may make of the cells of v, as in a recursion that is chaotic:
 * after some steps it keeps none of the digits that it began with. */
static double *rounding_of(struct self_check *s, int v)
{
    struct checker c = {0};
    double *change = calloc((size_t)s->in->slots[v].cells + 1, sizeof *change);
    if (!change)
        abort();
    if (check_create(&c, s->rt, s->in) == GBM_OK) {
        c.chain = s->chain;
        rt_bind(s->in, c.state, s->chain);
        check_rounding_of(&c, v, change);
    }
    check_free(&c);
    return change;
}

/* Refuses cells of v that are not what is computed of them now. */
static void compare_held(struct self_check *s, int v, const double *held,
                         const char *what)
{
    const struct gbm_variable *variable = &s->in->model->variables[v];
    const struct rt_slot *slot = &s->in->slots[v];
    double *rounding = NULL; /* asked for where it matters */
    for (int64_t i = 0; i < slot->cells && s->rt->status == GBM_OK; i++) {
        double now = rt_value(slot, variable->integer, s->chain, i);
        if (!is_left_behind(held[i], now))
            continue;
        int64_t more = only_rounded(s, v, held, i);
        if (more >= 0) {
            i += more;
            continue;
        }
        if (!rounding)
            rounding = rounding_of(s, v);
        if (!(fabs(held[i] - now) <= rounding[i]))
            refuse_held(s, v, held[i], now, what);
    }
    free(rounding);
}

/* A copy of the values of a chain's slot. */
static int *copy(const struct rt_slot *slot, int chain)
{
    const size_t bytes = (size_t)slot->cells * sizeof(int);
    int *values = malloc(bytes + 1);
    if (!values)
        abort();
    const int *from = slot->values;
    return memcpy(values, from + (slot->per_chain ? chain * slot->cells : 0),
                  bytes);
}

static bool is_copy(const int *values, const struct rt_slot *slot, int chain)
{
    int *now = copy(slot, chain);
    const bool same =
        memcmp(values, now, (size_t)slot->cells * sizeof *now) == 0;
    free(now);
    return same;
}

/* Whether sweeps rebuild index k at any time: not what waits for a leaf, nor
 * what the device has. Of a leaf's rows those that are drawn are drawn behind
 * the sweep, and nothing reads them. */
static bool is_kept_up(const struct self_check *s, int k)
{
    const struct gbm_model *m = s->in->model;
    if (!m->inverses[k].latent || m->inverses[k].device)
        return false;
    for (int i = 0; i < m->nsteps; i++) {
        const struct gbm_step *step = &m->steps[i];
        const bool active = s->in->steps[i].active;
        if ((step->kind == GBM_STEP_INDEX && step->inverse == k &&
             (!active || step->leaf)) ||
            (step->kind == GBM_STEP_MAP && step->leaf && active &&
             step->family == m->inverses[k].family))
            return false;
    }
    return true;
}

/* Rows that a cell has, by numbers that have moved, are those that it has now.
 */
static enum gbm_status check_index(struct self_check *s, int k,
                                   const char *what)
{
    const struct gbm_inverse *index = &s->in->model->inverses[k];
    const struct rt_slot *start = &s->in->slots[index->start];
    const struct rt_slot *item = &s->in->slots[index->item];
    int *starts = copy(start, s->chain), *items = copy(item, s->chain);
    rt_index(s->in, s->state, k, s->chain);
    const bool holds =
        is_copy(starts, start, s->chain) && is_copy(items, item, s->chain);
    free(starts);
    free(items);
    if (holds)
        return GBM_OK;
    const struct gbm_family *family = &s->in->model->families[index->family];
    return rt_fail(s->rt, GBM_FAILURE,
                   "%s: this sampler is wrong: no draws were made\n"
                   "    %s\n"
                   "%s behind which elements of this statement belong to what "
                   "moves. " CHECK_REPORT,
                   family->where, family->text, what,
                   (unsigned long long)s->rt->options.seed);
}

static enum gbm_status check_indices(struct self_check *s, const char *what)
{
    enum gbm_status status = GBM_OK;
    for (int k = 0; k < s->in->model->ninverses && status == GBM_OK; k++)
        if (is_kept_up(s, k))
            status = check_index(s, k, what);
    return status;
}

/* Computes all that is derived; what a sweep keeps of it, and of the rows that
 * subscripts choose, must be that already. Full conditionals that read the same
 * stale sum agree with each other. */
enum gbm_status self_check_held(struct self_check *s, const char *what)
{
    const struct gbm_model *m = s->in->model;
    int64_t n = 0, at = 0;
    for (int v = 0; v < m->nvariables; v++)
        n += s->kept_up[v] ? s->in->slots[v].cells : 0;
    double *held = malloc(((size_t)n + 1) * sizeof *held);
    if (!held)
        return rt_fail(s->rt, GBM_FAILURE, "no memory for the self-check");
    for (int v = 0; v < m->nvariables; v++)
        for (int64_t i = 0; s->kept_up[v] && i < s->in->slots[v].cells; i++)
            held[at++] = rt_value(&s->in->slots[v], m->variables[v].integer,
                                  s->chain, i);
    enum gbm_status status = check_indices(s, what);
    self_check_refresh(s);
    at = 0;
    for (int v = 0; v < m->nvariables; v++)
        if (status == GBM_OK && s->kept_up[v]) {
            compare_held(s, v, held + at, what);
            at += s->in->slots[v].cells;
        }
    free(held);
    return s->rt->status;
}
