/* score.c: how probable the region is in which a chain is, by a number that is
 * comparable between regions. The density of a latent continuous node depends
 * on its scale: that of a thousand random effects is highest where their
 * variance is least, which says nothing of how probable that is. So each such
 * term is taken relative to what a draw from the node's prior, given its
 * parents, has: this does not depend on how the node is measured, and is about
 * -z^2 / 2 of a normal one. What is observed, and discrete nodes, count as they
 * are.
 *
 * Where data settle a node that is not the whole of it. Times whose effects
 * explain each of them to the last digit have a density without bound, which
 * grows as fast as the room falls that is left to the effects. So of some
 * states of a chain, the volume in which an effect moves, a node whose prior
 * reads random ones, counts where it is less than that of the prior: with the
 * mean of log densities, what it takes from the prior's entropy is the log
 * probability of the data with the node integrated out, if it moves as it is
 * distributed. Effects that read each other move by less than that, and do not
 * count so; nor do other nodes: data settle them anywhere, and how vague they
 * were before says little.
 *
 * Like log densities, the scores of a chain vary by about the root of half the
 * number of its terms, which is why they are judged against their spread. */
#include "start/start.h"
#include "gbm.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 4      /* of derived nodes that read each other */
#define REFERENCES 8 /* draws from the prior of a family with few elements */

/* How a latent cell moves, on the scale on which it is unbounded. */
struct rt_moved {
    int64_t element;      /* number, plus 1, of its element's first cell; 0: it
                             is not looked at */
    double mean, squares; /* of the states, about their mean */
    double reference;     /* the mean of what a state of the element is compared
                             with; of its first cell */
};

struct scorer {
    const struct rt_instance *in;
    struct rt_moved *moved;     /* [cells of all variables] or NULL */
    int states;                 /* of the chain, this one included */
    int64_t effects;            /* the number of the first cell that effects of
                                   the family at hand may have; -1: it has none */
    const unsigned char *drawn; /* [nfamilies] latent elements are updated by
                                   every sweep */
    void *state;
    int chain;
    uint64_t seed;
    struct rt_cells buffer, volume;
    double *saved;
    int64_t saved_capacity;
};

/* What the last element of a family reads, and what derived nodes that it reads
 * do. */
struct reading {
    const struct rt_instance *in;
    const void *state;
    int own, depth; /* the family's variable; derived nodes in between */
    bool random, itself;
};

static void visit_read(void *context, int variable, int64_t cell)
{
    struct reading *r = context;
    const struct gbm_model *m = r->in->model;
    const enum gbm_role role = m->variables[variable].role;
    (void)cell;
    r->itself = r->itself || variable == r->own;
    r->random = r->random ||
                (role == GBM_STOCHASTIC && r->in->slots[variable].per_chain);
    if (role != GBM_DERIVED || r->depth == DEPTH)
        return;
    r->depth++;
    for (int f = 0; f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        if (fam->variable == variable && fam->parents && r->in->elements[f] > 0)
            fam->parents(r->state, r->in->elements[f] - 1, visit_read, r);
    }
    r->depth--;
}

bool rt_has_effects(const struct rt_instance *in, const void *state, int f)
{
    const struct gbm_family *fam = &in->model->families[f];
    struct reading r = {.in = in, .state = state, .own = fam->variable};
    if (fam->stochastic && fam->parents && in->elements[f] > 0 &&
        fam->support == GBM_SUPPORT_ANY && !fam->no_draw &&
        !rt_draws_whole(in->model, f))
        fam->parents(state, in->elements[f] - 1, visit_read, &r);
    return r.random && !r.itself;
}

/* Numbers of the cells of latent continuous variables: the variable's first;
 * behind the last, how many there are. */
static int64_t first_cell(const struct rt_instance *in, int variable)
{
    int64_t n = 0;
    for (int v = 0; v < variable; v++)
        if (in->model->variables[v].role == GBM_STOCHASTIC &&
            !in->model->variables[v].integer && in->slots[v].per_chain)
            n += in->slots[v].cells;
    return n;
}

/* What brings the element's log density to the scale on which it is unbounded.
 */
static double log_volume(struct scorer *s, int f, int64_t e)
{
    return rt_log_volume(s->in, s->state, s->chain, f, e, &s->volume);
}

/* Log density that a draw of the element from its prior has; NaN if that is not
 * known. The same random numbers for all chains: differences of scores then
 * have little noise. */
static double reference(struct scorer *s, int f, int64_t e, int64_t ncells,
                        uint32_t number)
{
    const struct gbm_family *fam = &s->in->model->families[f];
    const struct rt_slot *slot = &s->in->slots[fam->variable];
    struct gbm_rng rng;
    if (ncells > s->saved_capacity) {
        free(s->saved);
        s->saved = malloc((size_t)ncells * sizeof *s->saved);
        s->saved_capacity = s->saved ? ncells : 0;
        if (!s->saved)
            return NAN;
    }
    for (int64_t i = 0; i < ncells; i++)
        s->saved[i] = rt_value(slot, false, s->chain, s->buffer.cells[i]);
    gbm_rng_start(&rng, s->seed, 0, UINT32_MAX - 400 - number, (uint32_t)f,
                  (uint32_t)e);
    fam->simulate(s->state, &rng, e);
    double lp = fam->logdensity(s->state, e) + log_volume(s, f, e);
    for (int64_t i = 0; i < ncells; i++)
        rt_set_value(slot, false, s->chain, s->buffer.cells[i], s->saved[i]);
    return lp;
}

/* Where the element, n cells of s->buffer, is now. */
static void note_moved(struct scorer *s, int f, int64_t e, int64_t n,
                       double level)
{
    for (int64_t i = 0; i < n && s->effects >= 0; i++) {
        const int64_t cell = s->buffer.cells[i];
        struct rt_moved *m = &s->moved[s->effects + cell];
        const double x = rt_free_number(s->in, s->state, s->chain, f, e, cell),
                     change = x - m->mean;
        m->element = s->effects + s->buffer.cells[0] + 1;
        m->mean += change / s->states;
        m->squares += change * (x - m->mean);
        m->reference += (level - m->reference) / s->states;
    }
}

static double element_score(struct scorer *s, int f, int64_t e)
{
    const struct gbm_family *fam = &s->in->model->families[f];
    const struct rt_slot *slot = &s->in->slots[fam->variable];
    if (rt_drawn_forward(s->in, s->state, f, e, &s->buffer))
        return 0; /* not in this sweep */
    double lp = fam->logdensity(s->state, e), sum = 0;
    if (!slot->per_chain)
        return lp;
    int64_t n = rt_element_cells(fam, s->state, e, &s->buffer);
    int64_t seen = 0;
    bool drawn = s->drawn[f];
    for (int64_t i = 0; i < n; i++) {
        unsigned char mark = slot->seen ? slot->seen[s->buffer.cells[i]] : 0;
        seen += mark == 1;
        drawn = drawn && mark <= 1; /* others are drawn forward, too */
    }
    if (seen < n && !drawn)
        return 0;
    if (seen > 0 || !fam->simulate || rt_draws_whole(s->in->model, f))
        return lp;
    int most = s->in->elements[f] > REFERENCES ? 1 : REFERENCES, known = 0;
    for (int k = 0; k < most; k++) {
        double r = reference(s, f, e, n, (uint32_t)k);
        known += isfinite(r);
        sum += isfinite(r) ? r : 0;
    }
    lp += log_volume(s, f, e);
    if (known == 0)
        return lp;
    note_moved(s, f, e, n, sum / known);
    return lp - sum / known;
}

static double score(struct scorer *s)
{
    const struct rt_instance *in = s->in;
    double total = 0;
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *fam = &in->model->families[f];
        if (!fam->stochastic || fam->data_block || fam->auxiliary)
            continue;
        double sum = 0;
        s->effects = s->moved && rt_has_effects(in, s->state, f)
                         ? first_cell(in, fam->variable)
                         : -1;
        for (int64_t e = 0; e < in->elements[f]; e++)
            sum += element_score(s, f, e);
        total += sum;
    }
    return isfinite(total) ? total : -(double)INFINITY;
}

/* Families of which a step updates latent elements in each sweep; the others'
 * are drawn forward when a draw is kept. */
static void find_drawn(const struct rt_instance *in, unsigned char *drawn)
{
    for (int k = 0; k < in->model->nsteps; k++) {
        const struct gbm_step *step = &in->model->steps[k];
        if (!in->steps[k].active || step->leaf)
            continue;
        if (step->kind == GBM_STEP_MAP || step->kind == GBM_STEP_DENSE)
            drawn[step->family] = 1;
        for (int i = 0; i < step->nmembers; i++)
            drawn[step->members[i]] = 1;
        for (int i = 0; step->joint && i < step->joint->nfamilies; i++)
            drawn[step->joint->families[i]] = 1;
    }
}

static double score_state(const struct rt *rt, const struct rt_instance *in,
                          void *state, int chain, struct rt_moved *moved,
                          int states)
{
    unsigned char *drawn = calloc((size_t)in->model->nfamilies + 1, 1);
    if (!drawn)
        return -(double)INFINITY;
    find_drawn(in, drawn);
    struct scorer s = {.in = in,
                       .moved = moved,
                       .states = states,
                       .drawn = drawn,
                       .state = state,
                       .chain = chain,
                       .seed = rt->options.seed};
    double total = score(&s);
    free(s.buffer.cells);
    free(s.volume.cells);
    free(s.saved);
    free(drawn);
    return total;
}

double rt_score(const struct rt *rt, const struct rt_instance *in, void *state,
                int chain)
{
    return score_state(rt, in, state, chain, NULL, 1);
}

/* ---- several states of each chain ---- */

bool rt_scores_create(struct rt_scores *s, const struct rt_instance *in)
{
    const size_t n = (size_t)in->nchains;
    s->cells = first_cell(in, in->model->nvariables);
    s->mean = calloc(2 * n, sizeof *s->mean);
    s->variance = s->mean ? s->mean + n : NULL;
    s->moved = calloc(n * (size_t)s->cells + 1, sizeof *s->moved);
    s->states = 0;
    return s->mean && s->moved;
}

void rt_scores_free(struct rt_scores *s)
{
    free(s->mean);
    free(s->moved);
}

void rt_scores_list(struct rt_scores *s, const struct rt_instance *in,
                    struct rt_pieces *p)
{
    const size_t n = s->states > 0 ? (size_t)in->nchains : 0;
    rt_pieces_add(p, "scores", s->mean, 2 * n * sizeof *s->mean);
    rt_pieces_add(p, "moves of nodes", s->moved,
                  n * (size_t)s->cells * sizeof *s->moved);
}

bool rt_scores_add(struct rt_scores *s, const struct rt *rt,
                   const struct rt_instance *in)
{
    const int n = in->nchains;
    char *states = rt_states_create(in);
    if (!states)
        return false;
    if (s->states++ == 0) {
        memset(s->mean, 0, 2 * (size_t)n * sizeof *s->mean);
        memset(s->moved, 0, (size_t)(n * s->cells) * sizeof *s->moved);
    }
#pragma omp parallel for num_threads(rt->threads) schedule(dynamic)
    for (int c = 0; c < n; c++) {
        const double now = score_state(rt, in, rt_state(in, states, c), c,
                                       s->moved + c * s->cells, s->states),
                     change = now - s->mean[c];
        s->mean[c] += change / s->states;
        s->variance[c] +=
            (change * (now - s->mean[c]) - s->variance[c]) / s->states;
        if (!isfinite(now) || !isfinite(s->mean[c])) {
            s->mean[c] = -(double)INFINITY;
            s->variance[c] = 0;
        }
    }
    free(states);
    return true;
}

/* What the entropies of the chain's elements are less than those of their
 * priors; adds to *variance what that varies by. An element with a cell that
 * does not move says nothing. */
static double lost_entropy(struct rt_moved *moved, int64_t cells, int states,
                           double *variance)
{
    const double freedom = states - 1,
                 bias = gbm_digamma(freedom / 2) - log(freedom / 2),
                 noise = gbm_trigamma(freedom / 2) / 4;
    double lost = 0;
    for (int64_t i = 0; i < cells; i++) {
        if (!moved[i].element)
            continue;
        const double entropy =
            0.5 * (log(2 * M_PI * moved[i].squares / freedom) + 1 - bias);
        moved[moved[i].element - 1].reference +=
            moved[i].squares > 0 ? entropy : (double)INFINITY;
    }
    for (int64_t i = 0; i < cells; i++) {
        if (moved[i].element && moved[moved[i].element - 1].reference < 0)
            *variance += noise;
        if (moved[i].element == i + 1)
            lost += fmin(0, moved[i].reference);
    }
    return lost;
}

void rt_scores_end(struct rt_scores *s, const struct rt_instance *in)
{
    for (int c = 0; c < in->nchains && s->states > 1; c++)
        if (isfinite(s->mean[c]))
            s->mean[c] += lost_entropy(s->moved + c * s->cells, s->cells,
                                       s->states, &s->variance[c]);
    s->states = 0;
}
