/* guide.c: --proposal guided: a particle's new state is drawn from what the
 * model and the observations that hang on it alone say together, where that is
 * a distribution that can be drawn from; its weight is then what this predicts
 * the observations with (Doucet, Godsill and Andrieu 2000, section II-D).
 *
 * Which distribution is found from values of the densities. The state is drawn
 * from the model a few times, and the log density is of a family if it is a
 * combination of that one's two statistics at all of these, as those of
 * conjugate pairs are; a finite set of values is gone through. Weights are
 * those of what was drawn from, so they are exact even if it only nearly is of
 * the family; what is of none is drawn from the model. */
#include "filter/guide.h"
#include "io/output.h"
#include "gbm.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROBES = 5, MOST_VALUES = 256 };
#define ALL_OF_IT 1e-9 /* what probabilities may lack of 1 */

/* ---- what hangs on a draw ---- */

/* The last draw of its own time that each node depends on, as an act; -1:
 * none. */
static void find_latest(const struct rt_filter *f, const int64_t *act_of,
                        int64_t *latest)
{
    const struct rt_times *t = &f->times;
    const struct rt_graph *g = &t->graph;
    for (int64_t i = 0; i < t->first[t->count + 1]; i++) {
        const int node = t->order[i];
        latest[node] = -1;
        if (t->act[node] == RT_ACT_DRAW) {
            latest[node] = act_of[node];
            continue;
        }
        for (int64_t k = g->first[node]; k < g->first[node + 1]; k++) {
            const int parent = g->parent[k];
            if (t->time[parent] == t->time[node] && t->act[parent] &&
                t->act[parent] != RT_ACT_LATE &&
                t->act[parent] != RT_ACT_WEIGH && latest[parent] > latest[node])
                latest[node] = latest[parent];
        }
    }
}

enum gbm_status rt_guides_create(struct rt_filter *f)
{
    const size_t nodes = (size_t)f->times.graph.nodes + 1;
    const int64_t acts = f->first[f->times.count + 1];
    int64_t *act_of = malloc(nodes * sizeof *act_of);
    int64_t *latest = malloc(nodes * sizeof *latest);
    int64_t *end = malloc(((size_t)acts + 1) * sizeof *end);
    const size_t families = (size_t)f->in.model->nfamilies;
    f->hangs = malloc(((size_t)acts + 1) * sizeof *f->hangs);
    f->proposed = calloc(families * RT_LAWS + 1, sizeof *f->proposed);
    const bool ok = act_of && latest && end && f->hangs && f->proposed;
    for (size_t i = 0; ok && i < nodes; i++)
        act_of[i] = latest[i] = -1;
    for (int64_t a = 0; ok && a < acts; a++) {
        act_of[f->acts[a].node] = a;
        f->hangs[a] = -1;
        end[a] = a;
    }
    if (ok)
        find_latest(f, act_of, latest);
    for (int64_t a = ok ? f->first[1] : acts; a < acts; a++) {
        const int64_t draw = latest[f->acts[a].node];
        if (f->acts[a].kind == RT_ACT_DRAW || draw < 0)
            continue;
        f->hangs[end[draw]] = a;
        end[draw] = a;
    }
    /* what is computed last, and weighs nothing, need not be computed again */
    for (int64_t a = acts - 1; ok && a >= 0; a--)
        if (f->hangs[a] >= 0 && f->hangs[f->hangs[a]] < 0 &&
            f->acts[f->hangs[a]].kind != RT_ACT_WEIGH)
            f->hangs[a] = -1;
    free(act_of);
    free(latest);
    free(end);
    return ok ? GBM_OK : rt_filter_no_memory(f);
}

/* ---- one proposal ---- */

void rt_guide_try(const struct rt_guide *g, double *x)
{
    g->family->simulate(g->state, g->rng, g->element);
    for (int i = 0; i < g->n; i++)
        x[i] = rt_value(g->slot, g->integer, g->particle, g->cell[i]);
}

double rt_guide_density(const struct rt_guide *g, const double *x, double *own)
{
    const struct rt_filter *f = g->f;
    const struct gbm_model *m = f->in.model;
    for (int i = 0; i < g->n; i++)
        rt_set_value(g->slot, g->integer, g->particle, g->cell[i], x[i]);
    *own = rt_in_support(&f->particles, g->state, g->particle,
                         f->acts[g->act].family, g->element)
               ? g->family->logdensity(g->state, g->element)
               : -(double)INFINITY;
    double sum = *own;
    for (int64_t a = f->hangs[g->act]; a >= 0 && isfinite(sum);
         a = f->hangs[a]) {
        const struct rt_step_in_time *act = &f->acts[a];
        const struct gbm_family *fam = &m->families[act->family];
        if (act->kind == RT_ACT_DERIVE)
            fam->derive(g->state, act->element);
        else
            sum += fam->logdensity(g->state, act->element);
    }
    return isfinite(sum) ? sum : -(double)INFINITY;
}

/* ---- a finite set of values ---- */

struct values {
    int low, n;
    double own[MOST_VALUES], both[MOST_VALUES];
};

static bool is_possible(const struct rt_guide *g, double x)
{
    double own;
    rt_guide_density(g, &x, &own);
    return isfinite(own);
}

/* All values that the state may have lie from v->low on. */
static bool list_values(const struct rt_guide *g, struct values *v)
{
    int64_t n = 0;
    if (g->family->categories) {
        v->low = 1;
        n = g->family->categories(g->state, g->element);
    } else {
        double low, high;
        rt_guide_try(g, &low);
        high = low;
        while (high - low < MOST_VALUES && is_possible(g, low - 1))
            low--;
        while (high - low < MOST_VALUES && is_possible(g, high + 1))
            high++;
        v->low = (int)low;
        n = (int64_t)(high - low) + 1;
    }
    if (n < 1 || n > MOST_VALUES)
        return false;
    double total = 0;
    v->n = (int)n;
    for (int k = 0; k < v->n; k++) {
        const double x = v->low + k;
        v->both[k] = rt_guide_density(g, &x, &v->own[k]);
        total += exp(v->own[k]);
    }
    return fabs(total - 1) < ALL_OF_IT;
}

/* Draws one; `weight`: the log of what the observations are predicted with. */
static bool draw_value(const struct rt_guide *g, double *weight)
{
    struct values v;
    double largest = -(double)INFINITY, total = 0;
    int k = 0;
    if (!list_values(g, &v))
        return false;
    for (int i = 0; i < v.n; i++)
        largest = fmax(largest, v.both[i]);
    if (!isfinite(largest))
        return false;
    for (int i = 0; i < v.n; i++)
        total += exp(v.both[i] - largest);
    double u = total * gbm_uniform(g->rng);
    for (int i = 0; i < v.n; i++) {
        const double p = exp(v.both[i] - largest);
        if (p > 0)
            k = i;
        if (p > 0 && u < p)
            break;
        u -= p;
    }
    rt_set_value(g->slot, g->integer, g->particle, g->cell[0], v.low + k);
    *weight = v.own[k] - (v.both[k] - largest - log(total));
    return true;
}

/* ---- a number ---- */

/* Where the model's draws lie, and the log densities there. */
struct probes {
    double x[PROBES], both[PROBES];
    int least, most, middle;
};

static bool try_probes(const struct rt_guide *g, struct probes *p)
{
    double own, apart = 0;
    p->least = p->most = 0;
    p->middle = -1;
    for (int i = 0; i < PROBES; i++) {
        rt_guide_try(g, &p->x[i]);
        p->both[i] = rt_guide_density(g, &p->x[i], &own);
        if (!isfinite(p->x[i]) || !isfinite(p->both[i]))
            return false;
        p->least = p->x[i] < p->x[p->least] ? i : p->least;
        p->most = p->x[i] > p->x[p->most] ? i : p->most;
    }
    for (int i = 0; i < PROBES; i++) {
        const double d =
            fmin(p->x[i] - p->x[p->least], p->x[p->most] - p->x[i]);
        if (d > apart) {
            apart = d;
            p->middle = i;
        }
    }
    return p->middle >= 0;
}

/* Whether the densities at the probes are of the law; its parameters. What a
 * normal one has are those about `centre`. */
static bool fits(const struct probes *p, const struct rt_guide_law *law,
                 double centre, double parameters[2])
{
    double t[PROBES][2];
    const int i = p->least, j = p->middle, k = p->most;
    const double most = RT_GUIDE_NEARLY * (fabs(p->both[i] - p->both[j]) +
                                           fabs(p->both[k] - p->both[j])) +
                        RT_GUIDE_ROUNDING * (1 + fabs(p->both[j]));
    for (int q = 0; q < PROBES; q++) {
        if (!(p->x[q] > law->low && p->x[q] < law->high))
            return false;
        law->statistics(p->x[q] - centre, t[q]);
    }
    const double u[2] = {t[i][0] - t[j][0], t[i][1] - t[j][1]};
    const double v[2] = {t[k][0] - t[j][0], t[k][1] - t[j][1]};
    const double y = p->both[i] - p->both[j], z = p->both[k] - p->both[j];
    const double determinant = u[0] * v[1] - u[1] * v[0];
    const double a = (y * v[1] - z * u[1]) / determinant;
    const double b = (u[0] * z - v[0] * y) / determinant;
    for (int q = 0; q < PROBES; q++)
        if (!(fabs(p->both[q] - p->both[j] - a * (t[q][0] - t[j][0]) -
                   b * (t[q][1] - t[j][1])) <= most))
            return false;
    return law->parameters(a, b, parameters);
}

/* Whether the state can be where the law mostly is, and only where it can be.
 */
static bool covers(const struct rt_guide *g, const struct probes *p,
                   const struct rt_guide_law *law, double centre,
                   const double parameters[2])
{
    const double far = fabs(p->x[p->most]) + 1;
    const double near = (p->x[p->most] - p->x[p->least]) * 0.001;
    double drawn[2];
    law->ends(parameters, drawn);
    for (int k = 0; k < 2; k++) {
        const double sign = k ? 1 : -1, end = k ? law->high : law->low;
        if (!is_possible(g, centre + drawn[k]) ||
            (isfinite(end) && (is_possible(g, end + sign * near) ||
                               is_possible(g, end + sign * far))))
            return false;
    }
    return true;
}

static enum rt_law draw_number(const struct rt_guide *g, double *weight)
{
    struct probes p;
    double parameters[2], own;
    if (!try_probes(g, &p))
        return RT_LAW_PRIOR;
    for (int l = RT_LAW_NORMAL; l < RT_LAWS; l++) {
        const struct rt_guide_law *law = &rt_guide_laws[l];
        const double centre = l == RT_LAW_NORMAL ? p.x[p.middle] : 0;
        if (!fits(&p, law, centre, parameters) ||
            !covers(g, &p, law, centre, parameters))
            continue;
        const double x = centre + law->draw(g->rng, parameters);
        rt_guide_density(g, &x, &own);
        *weight = own - law->logdensity(x - centre, parameters);
        return (enum rt_law)l;
    }
    return RT_LAW_PRIOR;
}

static enum rt_law draw(const struct rt_guide *g, double *weight)
{
    if (g->n > 1)
        return rt_guide_vector(g, weight) ? RT_LAW_NORMAL : RT_LAW_PRIOR;
    if (!g->whole)
        return draw_number(g, weight);
    return draw_value(g, weight) ? RT_LAW_VALUES : RT_LAW_PRIOR;
}

double rt_guide_draw(struct rt_filter *f, const void *state, int64_t act,
                     int particle, struct gbm_rng *rng)
{
    const struct rt_step_in_time *a = &f->acts[act];
    const struct gbm_family *fam = &f->in.model->families[a->family];
    const int64_t first = f->cell0[a->node];
    struct rt_guide g = {.f = f,
                         .state = state,
                         .rng = rng,
                         .family = fam,
                         .slot = &f->particles.slots[fam->variable],
                         .integer =
                             f->in.model->variables[fam->variable].integer,
                         .whole = rt_draws_whole(f->in.model, a->family),
                         .act = act,
                         .element = a->element,
                         .cell = f->cell + first,
                         .n = (int)(f->cell0[a->node + 1] - first),
                         .particle = particle};
    enum rt_law law = RT_LAW_PRIOR;
    double weight = 0;
    if (!fam->censored)
        law = draw(&g, &weight);
    if (law == RT_LAW_PRIOR) { /* not what the probes were */
        fam->simulate(state, rng, a->element);
        weight = 0;
    }
#pragma omp atomic
    f->proposed[a->family * RT_LAWS + (int)law]++;
    return weight;
}

/* ---- what is said ---- */

static const char *const law_names[RT_LAWS] = {
    [RT_LAW_PRIOR] = "the model alone", [RT_LAW_VALUES] = "all its values",
    [RT_LAW_NORMAL] = "normal",         [RT_LAW_GAMMA] = "gamma",
    [RT_LAW_LOGNORMAL] = "lognormal",   [RT_LAW_BETA] = "beta"};

/* Of a statement whose states have observations that hang on them: draws, and
 * the law of most that are not the model's alone. */
static int64_t count_drawn(const struct rt_filter *f, int family,
                           enum rt_law *law)
{
    const int64_t *drawn = f->proposed + (size_t)family * RT_LAWS;
    int64_t all = 0;
    *law = RT_LAW_PRIOR;
    for (int l = 0; l < RT_LAWS; l++) {
        all += drawn[l];
        if (l > 0 && drawn[l] > (*law ? drawn[*law] : 0))
            *law = (enum rt_law)l;
    }
    return all;
}

void rt_guides_print(const struct rt_filter *f, FILE *out)
{
    const struct gbm_model *m = f->in.model;
    for (int k = 0; f->proposed && k < m->nfamilies; k++) {
        enum rt_law law;
        const int64_t all = count_drawn(f, k, &law);
        const int64_t drawn = f->proposed[k * RT_LAWS + (int)law];
        if (all == 0)
            continue;
        if (law == RT_LAW_PRIOR)
            fprintf(out, "Proposed from the model alone: %s\n",
                    m->families[k].text);
        else
            fprintf(out, "Proposed given observations (%s%s): %s\n",
                    law_names[law], drawn < all ? ", in part" : "",
                    m->families[k].text);
    }
}

void rt_guides_write(const struct rt_filter *f, struct rt_out *out)
{
    const struct gbm_model *m = f->in.model;
    bool any = false;
    if (!f->proposed)
        return;
    rt_out_text(out, ",\n  \"proposals\": [");
    for (int k = 0; k < m->nfamilies; k++) {
        enum rt_law law;
        const int64_t all = count_drawn(f, k, &law);
        if (all == 0)
            continue;
        rt_out_text(out, any ? ",\n" : "\n");
        rt_out_text(out, "    {\"statement\": \"");
        rt_out_json_string(out, m->families[k].text);
        rt_out_format(
            out, "\", \"law\": \"%s\", \"share\": %.6g}", law_names[law],
            (double)f->proposed[k * RT_LAWS + (int)law] / (double)all);
        any = true;
    }
    rt_out_text(out, "\n  ]");
}
