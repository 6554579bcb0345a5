/* mend.c: from starting values of which some have a density of 0 to ones that
 * have none: bounds that follow other nodes, intervals between latent points,
 * counts that limit each other. What is broken is measured: 1 for each element
 * without a density, and the log of its distance from the support, the bounds
 * and the rules of its distribution. One element after another that has none is
 * taken at random, and what it reads is moved, if that mends more than it
 * breaks: a focused random walk (Selman, Kautz and Cohen 1994), which leaves
 * alone what is in order. What could not be mended weighs more from then on
 * (Morris 1993), so that the walk leaves its dead ends. Among moves that mend
 * alike the more probable is taken: values stay typical. */
#include "start/start.h"
#include "gbm.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 16        /* values of a move, of which the best is taken */
#define MOVED 4         /* nodes that may move together */
#define UP 0.3          /* probability to go on to a parent's parents */
#define ENOUGH 3        /* of them, once nothing is broken */
#define CHEAP 100       /* densities that a move may always evaluate */
#define TEMPERATURE 0.2 /* of what is broken */
#define HEAVIER 1.2     /* each time that an element could not be mended */
#define STREAM 700      /* in the random number key */

struct cell {
    int variable;
    bool whole;
    int64_t cell;
    double before, best;
};

struct list {
    int64_t n, capacity;
    int *at;
};

struct mend {
    struct rt_starter *s;
    const struct rt_instance *in;
    const struct rt_graph *g;
    struct gbm_rng rng;
    int64_t work;        /* densities that may still be evaluated */
    double *broken;      /* [nodes] 0: the density is positive */
    double *lp;          /* [nodes] where that is so */
    double *weight;      /* [nodes] of what is broken */
    int *cost;           /* [nodes] densities that a move of it evaluates; 0:
                            not known */
    unsigned char *mark; /* [nodes] on a list */
    int64_t *place;      /* [nodes] on the list `bad`, or -1 */
    struct list bad;     /* elements whose density is 0 */
    struct list moved;   /* nodes that a move changes */
    struct list derived; /* and what is computed from them, in order */
    struct list terms;   /* and the densities that read either */
    bool all;            /* everything derived is computed anew */
    struct cell *cells;  /* what a move changes */
    int64_t ncells, capacity;
    struct rt_cells buffer;
};

static void push(struct list *l, int64_t node)
{
    if (l->n == l->capacity) {
        l->capacity = 2 * l->capacity + 64;
        l->at = realloc(l->at, (size_t)l->capacity * sizeof *l->at);
        if (!l->at)
            abort();
    }
    l->at[l->n++] = (int)node;
}

static double uniform(struct mend *m) { return gbm_uniform(&m->rng); }

static const struct gbm_family *family_of(const struct mend *m, int64_t node,
                                          int64_t *element)
{
    int f = rt_graph_family(m->g, node);
    *element = node - m->g->base[f];
    return &m->in->model->families[f];
}

/* ---- what is broken ---- */

/* How much is broken at an element; 0: nothing, and lp is its log density on
 * the scale on which it is unbounded: else what runs off at a bound would win.
 */
static double look(struct mend *m, int64_t node, double *lp)
{
    int64_t e;
    const struct gbm_family *fam = family_of(m, node, &e);
    int f = (int)(fam - m->in->model->families);
    m->work--;
    *lp = fam->logdensity(m->s->state, e);
    if (isfinite(*lp) && rt_in_support(m->in, m->s->state, m->s->chain, f, e)) {
        *lp += rt_log_volume(m->in, m->s->state, m->s->chain, f, e, &m->buffer);
        return 0;
    }
    double far = fam->violation ? fam->violation(m->s->state, e) : 0;
    *lp = 0;
    return 1 + (far > 0 ? log1p(fmin(far, 1e300)) : isnan(far) ? 1000 : 0);
}

static void note(struct mend *m, int64_t node)
{
    bool was = m->place[node] >= 0;
    m->broken[node] = look(m, node, &m->lp[node]);
    bool is = m->broken[node] > 0;
    if (is && !was) {
        m->place[node] = m->bad.n;
        push(&m->bad, node);
    } else if (was && !is) {
        int last = m->bad.at[--m->bad.n];
        m->bad.at[m->place[node]] = last;
        m->place[last] = m->place[node];
        m->place[node] = -1;
    }
}

static bool is_term(const struct mend *m, int f)
{
    return m->in->model->families[f].stochastic &&
           m->g->base[f + 1] > m->g->base[f];
}

/* ---- what a move changes ---- */

static bool is_movable(struct mend *m, int64_t node)
{
    int64_t e;
    const struct gbm_family *fam = family_of(m, node, &e);
    if (!fam->stochastic || !m->in->slots[fam->variable].per_chain)
        return false;
    int64_t n = rt_element_cells(fam, m->s->state, e, &m->buffer);
    for (int64_t i = 0; i < n; i++)
        if (!rt_start_is_fixed(m->s, fam->variable, m->buffer.cells[i]))
            return true;
    return false;
}

static void clear(struct mend *m)
{
    struct list *lists[] = {&m->moved, &m->derived, &m->terms};
    for (int k = 0; k < 3; k++) {
        for (int64_t i = 0; i < lists[k]->n; i++)
            m->mark[lists[k]->at[i]] = 0;
        lists[k]->n = 0;
    }
    m->all = false;
    m->ncells = 0;
}

static void add_cells(struct mend *m, int64_t node)
{
    int64_t e;
    const struct gbm_family *fam = family_of(m, node, &e);
    const struct rt_slot *slot = &m->in->slots[fam->variable];
    bool integer = m->in->model->variables[fam->variable].integer;
    bool whole =
        rt_draws_whole(m->in->model, (int)(fam - m->in->model->families));
    int64_t n = rt_element_cells(fam, m->s->state, e, &m->buffer);
    if (m->ncells + n > m->capacity) {
        m->capacity = 2 * (m->ncells + n);
        m->cells = realloc(m->cells, (size_t)m->capacity * sizeof *m->cells);
        if (!m->cells)
            abort();
    }
    for (int64_t i = 0; i < n; i++) {
        double x = rt_value(slot, integer, m->s->chain, m->buffer.cells[i]);
        m->cells[m->ncells++] =
            (struct cell){fam->variable, whole, m->buffer.cells[i], x, x};
    }
}

static void add_moved(struct mend *m, int64_t node)
{
    if (m->mark[node] || !is_movable(m, node))
        return;
    m->mark[node] = 1;
    push(&m->moved, node);
    add_cells(m, node);
}

/* Other summands of an observed sum move along. */
static void add_summands(struct mend *m, const struct gbm_family *fam,
                         int64_t e)
{
    int64_t n = fam->summands(m->s->state, e, NULL, NULL);
    int *variables = malloc(((size_t)n + 1) * sizeof *variables);
    int64_t *cells = malloc(((size_t)n + 1) * sizeof *cells);
    if (!variables || !cells)
        abort();
    fam->summands(m->s->state, e, variables, cells);
    for (int64_t i = 0; i < n; i++) {
        const int *owner = m->g->owner[variables[i]];
        if (owner && owner[cells[i]] >= 0)
            add_moved(m, owner[cells[i]]);
    }
    free(variables);
    free(cells);
}

static void add_reader(struct mend *m, int64_t node)
{
    int64_t e;
    const struct gbm_family *fam = family_of(m, node, &e);
    int f = (int)(fam - m->in->model->families);
    if (fam->stochastic && fam->summands)
        add_summands(m, fam, e);
    if (m->mark[node] & 2)
        return;
    m->mark[node] |= 2;
    if (fam->stochastic) {
        push(&m->terms, node);
    } else {
        push(&m->derived, node);
        m->all = m->all || fam->refresh;
        (void)f;
    }
}

static int ascending(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* All that depends on what is moved. */
static void find_readers(struct mend *m)
{
    const struct rt_graph *g = m->g;
    for (int64_t i = 0, d = 0; i < m->moved.n || d < m->derived.n;) {
        int64_t node = i < m->moved.n ? m->moved.at[i] : m->derived.at[d];
        if (i < m->moved.n)
            add_reader(m, node); /* its own density */
        *(i < m->moved.n ? &i : &d) += 1;
        for (int64_t k = g->first_child[node]; k < g->first_child[node + 1];
             k++)
            add_reader(m, g->child[k]);
    }
    if (m->derived.n)
        qsort(m->derived.at, (size_t)m->derived.n, sizeof *m->derived.at,
              ascending);
}

static void derive(struct mend *m)
{
    const struct gbm_model *model = m->in->model;
    m->work -= m->derived.n;
    if (m->all) {
        rt_derive_all(m->in, m->s->state);
        return;
    }
    for (int64_t i = 0; i < m->derived.n; i++) {
        int64_t e;
        const struct gbm_family *fam = family_of(m, m->derived.at[i], &e);
        if (rt_is_read(model, (int)(fam - model->families)))
            fam->derive(m->s->state, e);
    }
}

static void set_cell(struct mend *m, const struct cell *c, double x)
{
    rt_set_value(&m->in->slots[c->variable],
                 m->in->model->variables[c->variable].integer, m->s->chain,
                 c->cell, x);
}

/* Values that are given stay. */
static void restore_fixed(struct mend *m)
{
    for (int64_t i = 0; i < m->ncells; i++)
        if (rt_start_is_fixed(m->s, m->cells[i].variable, m->cells[i].cell))
            set_cell(m, &m->cells[i], m->cells[i].before);
}

static void keep_best(struct mend *m)
{
    for (int64_t i = 0; i < m->ncells; i++) {
        struct cell *c = &m->cells[i];
        c->best = rt_value(&m->in->slots[c->variable],
                           m->in->model->variables[c->variable].integer,
                           m->s->chain, c->cell);
    }
}

static void set_cells(struct mend *m, bool best)
{
    for (int64_t i = 0; i < m->ncells; i++)
        set_cell(m, &m->cells[i], best ? m->cells[i].best : m->cells[i].before);
}

/* What is broken after a change, or more than `most`, and the log density of
 * the rest. */
static double measure(struct mend *m, double most, double *lp)
{
    double broken = 0, one;
    *lp = 0;
    for (int64_t i = 0; i < m->terms.n; i++) {
        int64_t e;
        const struct gbm_family *fam = family_of(m, m->terms.at[i], &e);
        if (fam->settle)
            fam->settle(m->s->state, e);
    }
    restore_fixed(m);
    derive(m);
    for (int64_t i = 0; i < m->terms.n && broken <= most; i++) {
        broken += m->weight[m->terms.at[i]] * look(m, m->terms.at[i], &one);
        *lp += one;
    }
    return broken;
}

/* ---- moves ---- */

static void redraw(struct mend *m)
{
    static const double spreads[] = {1, 0, 0.5, -1};
    for (int64_t i = 0; i < m->moved.n; i++) {
        int64_t e;
        const struct gbm_family *fam = family_of(m, m->moved.at[i], &e);
        double u = 5 * uniform(m);
        if (u < 4 || !fam->simulate)
            fam->start(m->s->state, &m->rng, e, spreads[(int)u & 3]);
        else
            rt_start_draw(m->s, fam, &m->rng, e);
    }
}

/* Whether the cells of all nodes that move are free of each other. */
static bool any_direction(const struct mend *m)
{
    bool any = true;
    for (int64_t i = 0; i < m->moved.n; i++) {
        int64_t e;
        any =
            any && family_of(m, m->moved.at[i], &e)->support == GBM_SUPPORT_ANY;
    }
    return any;
}

static void step(struct mend *m, double size)
{
    for (int64_t i = 0; i < m->ncells; i++) {
        const struct cell *c = &m->cells[i];
        double by = size * fmax(fabs(c->before), 1) * gbm_draw_normal(&m->rng);
        if (c->whole)
            by = by > 0 ? ceil(by) : floor(by);
        double x = c->before + by;
        if (!c->whole || fabs(x) < INT_MAX)
            set_cell(m, c, x);
    }
}

/* Part of the way to a new draw: simplexes and positive definite matrices stay
 * what they are. */
static void step_towards(struct mend *m, double share)
{
    redraw(m);
    for (int64_t i = 0; i < m->ncells; i++) {
        const struct cell *c = &m->cells[i];
        bool integer = m->in->model->variables[c->variable].integer;
        double x =
            rt_value(&m->in->slots[c->variable], integer, m->s->chain, c->cell);
        if (!c->whole)
            set_cell(m, c, c->before + share * (x - c->before));
    }
}

static void change(struct mend *m, int k)
{
    if (k % 3 == 0)
        redraw(m);
    else if (any_direction(m))
        step(m, pow(10, 6 * uniform(m) - 4));
    else
        step_towards(m, pow(10, -3 * uniform(m)));
}

/* Tries some values of what is to move, and takes the best of them, or now and
 * then one that is a little worse. True if that mends something. */
static bool move(struct mend *m)
{
    double broken = 0, lp = 0;
    double best = (double)INFINITY, best_lp = -(double)INFINITY;
    for (int64_t i = 0; i < m->terms.n; i++) {
        broken += m->weight[m->terms.at[i]] * m->broken[m->terms.at[i]];
        lp += m->lp[m->terms.at[i]];
    }
    for (int k = 0; k < TRIES && m->work > 0; k++) {
        double now_lp, now;
        change(m, k);
        now = measure(m, best, &now_lp);
        if (now < best || (now <= best && now_lp > best_lp)) {
            best = now;
            best_lp = now_lp;
            keep_best(m);
        }
        set_cells(m, false);
        if (best <= 0 && k + 1 >= ENOUGH)
            break;
    }
    double worse = best > broken   ? (best - broken) / TEMPERATURE
                   : best < broken ? 0
                                   : fmax(lp - best_lp, 0);
    bool taken = log(uniform(m)) < -worse;
    set_cells(m, taken);
    derive(m);
    for (int64_t i = 0; taken && i < m->terms.n; i++)
        note(m, m->terms.at[i]);
    return best < broken;
}

/* ---- which to move ---- */

/* A random node that a density depends on, through derived ones or, now and
 * then, further up; -1: there is none. */
static int64_t ancestor(struct mend *m, int64_t node)
{
    const struct rt_graph *g = m->g;
    int64_t own = is_movable(m, node);
    for (int depth = 0; depth < 100; depth++) {
        int64_t n = g->first[node + 1] - g->first[node];
        int64_t e, k = (int64_t)(uniform(m) * (double)(n + own));
        if (k >= n)
            return own ? node : -1;
        node = g->parent[g->first[node] + k];
        own = is_movable(m, node);
        const struct gbm_family *fam = family_of(m, node, &e);
        if (own && uniform(m) > UP)
            return node;
        if (!own && fam->stochastic)
            return -1; /* data: what they depend on is another's */
    }
    return -1;
}

/* What many densities read moves where less did not help. */
static bool is_worth(struct mend *m, int64_t node, int64_t bad)
{
    return uniform(m) * m->cost[node] <= CHEAP * m->weight[bad];
}

static void choose(struct mend *m, int64_t bad)
{
    double u = uniform(m);
    int most = u < 0.6 ? 1 : 2 + (int)((MOVED - 1) * uniform(m));
    clear(m);
    for (int k = 0; k < 2 * most && m->moved.n < most; k++) {
        int64_t node = ancestor(m, bad);
        if (node >= 0 && is_worth(m, node, bad))
            add_moved(m, node);
    }
    find_readers(m);
    if (m->moved.n == 1)
        m->cost[m->moved.at[0]] = (int)m->terms.n;
}

/* Whether anything that a density depends on can move. */
static bool depends(struct mend *m, int64_t bad)
{
    struct list *l = &m->derived;
    bool any = is_movable(m, bad);
    clear(m);
    push(l, bad);
    for (int64_t i = 0; i < l->n && !any; i++)
        for (int64_t k = m->g->first[l->at[i]];
             k < m->g->first[l->at[i] + 1] && !any; k++) {
            int64_t e, parent = m->g->parent[k];
            any = is_movable(m, parent);
            if (!any && !m->mark[parent] &&
                !family_of(m, parent, &e)->stochastic) {
                m->mark[parent] = 1;
                push(l, parent);
            }
        }
    clear(m);
    return any;
}

static bool prepare(struct mend *m)
{
    size_t nodes = (size_t)m->g->nodes + 1;
    m->broken = calloc(3 * nodes, sizeof *m->broken);
    m->mark = calloc(nodes, 1);
    m->cost = calloc(nodes, sizeof *m->cost);
    m->place = malloc(nodes * sizeof *m->place);
    if (!m->broken || !m->mark || !m->cost || !m->place)
        return false;
    m->lp = m->broken + nodes;
    m->weight = m->lp + nodes;
    for (size_t i = 0; i < nodes; i++) {
        m->place[i] = -1;
        m->weight[i] = 1;
    }
    for (int f = 0; f < m->in->model->nfamilies; f++)
        for (int64_t i = m->g->base[f]; is_term(m, f) && i < m->g->base[f + 1];
             i++)
            note(m, i);
    return true;
}

bool rt_mend(struct rt_starter *s, int64_t work)
{
    if (!s->has_graph && !s->no_graph)
        s->has_graph = rt_graph_create(&s->graph, s->in, s->state, NULL);
    s->no_graph = !s->has_graph;
    struct mend m = {.s = s, .in = s->in, .g = &s->graph, .work = work};
    bool ok = s->has_graph && prepare(&m);
    gbm_rng_start(&m.rng, s->rt->options.seed, (uint32_t)s->chain,
                  UINT32_MAX - STREAM - (uint32_t)s->attempt, 0, 0);
    while (ok && m.bad.n && !rt_start_is_over(s, m.work)) {
        int bad = m.bad.at[(int64_t)(uniform(&m) * (double)m.bad.n)];
        choose(&m, bad);
        m.work--;
        if (!m.moved.n && !depends(&m, bad)) {
            s->hopeless = true;
            s->family = rt_graph_family(m.g, bad);
            s->element = bad - m.g->base[s->family];
            break;
        }
        if (!m.moved.n || !move(&m))
            m.weight[bad] = fmin(m.weight[bad] * HEAVIER, 1e9);
    }
    ok = ok && m.bad.n == 0;
    s->work -= work - m.work;
    free(m.broken);
    free(m.mark);
    free(m.cost);
    free(m.place);
    free(m.bad.at);
    free(m.moved.at);
    free(m.derived.at);
    free(m.terms.at);
    free(m.cells);
    free(m.buffer.cells);
    return ok;
}
