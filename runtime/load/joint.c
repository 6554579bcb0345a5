/* joint.c: lays out a joint Gaussian block at load (stdlib/kernels/joint.h):
 * numbers its coordinates, collects the pattern of its precision from the rows
 * of its terms, has it ordered and factored symbolically, and puts all that
 * sweeps need of it into a table of integers. */
#include "load/joint_layout.h"
#include "real.h" /* of stdlib, in double */
#include "joint.h"
#include "curved_block.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- a term ---- */

struct numbered_row {
    int64_t number;
    int row;
};

static int by_weight(const void *a, const void *b)
{
    const struct numbered_row *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Finds the rows that have one weight. */
static bool find_alike(const struct layout *l, struct term *t)
{
    const int64_t rows = t->element.n;
    struct numbered_row *sorted = malloc(((size_t)rows + 1) * sizeof *sorted);
    t->first_alike = malloc(((size_t)rows + 1) * sizeof *t->first_alike);
    t->in_order = malloc(((size_t)rows + 1) * sizeof *t->in_order);
    const bool ok = sorted && t->first_alike && t->in_order;
    for (int64_t r = 0; ok && r < rows; r++)
        sorted[r] = (struct numbered_row){
            t->term->alike(l->state, t->element.items[r]), (int)r};
    if (ok)
        qsort(sorted, (size_t)rows, sizeof *sorted, by_weight);
    for (int64_t i = 0, first = 0; ok && i < rows; i++) {
        if (sorted[i].number != sorted[first].number)
            first = i;
        t->in_order[i] = sorted[i].row;
        t->first_alike[sorted[i].row] = sorted[first].row;
    }
    free(sorted);
    return ok;
}

static bool same_places(const struct term *t)
{
    const int *begin = t->begin.items;
    for (int64_t r = 0; r < t->element.n; r++)
        if (begin[r + 1] - begin[r] != begin[1] - begin[0] ||
            memcmp(t->place.items + begin[r], t->place.items + begin[0],
                   (size_t)(begin[1] - begin[0]) * sizeof(int)) != 0)
            return false;
    return t->element.n > 0;
}

/* Where the rows of a curved term find their values: of a coordinate, of a held
 * value (from d on), or nowhere. */
static void put_places(struct layout *l, const struct term *t, int header)
{
    struct rt_ints at = {0};
    for (int64_t i = 0; i < t->place.n; i++) {
        int place = t->place.items[i];
        rt_ints_add(&at, place >= 0         ? l->symbolic.at[place]
                         : place <= HELD(0) ? l->d + HELD(place)
                                            : -1);
    }
    int where = rt_joint_put(l, &at);
    l->table.failed = l->table.failed || at.failed;
    l->table.items[header + GBM_T_AT] = where;
    l->table.items[header + GBM_T_SAME_PLACES] = same_places(t);
    rt_ints_free(&at);
}

/* The offsets of a term that data alone settle, if the products of pairs are
 * summed by their common weights. */
static bool find_offsets(const struct layout *l, struct term *t)
{
    const int64_t n = t->components;
    if (!t->term->forms || !t->fixed_offset)
        return true;
    t->offset = malloc(((size_t)(t->instances * n) + 1) * sizeof *t->offset);
    for (int64_t i = 0; t->offset && i < t->instances; i++)
        for (int a = 0; a < n; a++)
            t->offset[i * n + a] = t->term->offset(
                l->state, t->element.items[rt_joint_row_of_component(t, i, a)]);
    return t->offset != NULL;
}

/* The term's header: what it has, and where in the work space its rows' numbers
 * are to be. */
static void put_term_header(struct layout *l, const struct term *t, int header,
                            int at, int begin)
{
    const bool compute = !t->fixed_weight || !t->fixed_score;
    const int64_t rows = t->element.n;
    int *h = l->table.items + header;
    h[GBM_T_COUNT] = (int)rows;
    h[GBM_T_LEFT_OUT] = t->left_out;
    h[GBM_T_ROWS] =
        compute ? (int)(t->offset ? t->components + rt_joint_pairs_of(t) : rows)
                : 0;
    h[GBM_T_B_WEIGHTED] = t->offset != NULL;
    h[GBM_T_ELEMENT] = at;
    h[GBM_T_BEGIN] = begin;
    h[GBM_T_FIXED_WEIGHT] = t->fixed_weight;
    h[GBM_T_FIXED_SCORE] = t->fixed_score;
    h[GBM_T_FIXED_DESIGN] = t->fixed_design;
    if (compute) {
        h[GBM_T_WEIGHT] = (int)l->work;
        h[GBM_T_SCORE] = (int)(l->work + rows);
        h[GBM_T_DESIGN] = (int)(l->work + 2 * rows);
        l->work += 2 * rows + (t->fixed_design ? 0 : t->place.n);
    }
    if (t->term->curved) {
        h[GBM_T_CURVE] = (int)l->work;
        l->work += (4 + t->term->columns) * GBM_CURVE_ROOM(rows);
    }
}

/* What data settle of the rows; design may be NULL. */
static void compute_rows(const struct layout *l, const struct term *t,
                         double *weight, double *score, double *design)
{
    for (int64_t r = 0; r < t->element.n; r++) {
        int64_t e = t->element.items[r];
        score[r] = 0;
        if (t->weight)
            weight[r] = t->weight[r];
        else if (t->fixed_weight || t->fixed_score)
            t->term->row(l->state, e, &weight[r], &score[r]);
        if (design && t->term->design)
            t->term->design(l->state, e, design + t->begin.items[r]);
        for (int i = t->begin.items[r];
             design && !t->term->design && i < t->begin.items[r + 1]; i++)
            design[i] = 1;
    }
}

/* The constants that an update reads row by row. */
static void put_constants(struct layout *l, const struct term *t, int header,
                          const double *weight, const double *score,
                          const double *design)
{
    if (t->term->extent && !t->term->forms) {
        const bool known = t->fixed_weight || t->fixed_score;
        bool centred = t->term->constant_score;
        l->table.items[header + GBM_T_COEFFICIENT] = (int)l->nconstant;
        if (known)
            rt_joint_add_constants(l, weight, t->element.n);
        for (int64_t r = 0; known && r < t->element.n; r++)
            centred = centred && score[r] == 0;
        l->table.items[header + GBM_T_CENTRED] = centred;
    } else if (design && (t->term->curved || t->term->listed)) {
        l->table.items[header + GBM_T_COEFFICIENT] = (int)l->nconstant;
        rt_joint_add_constants(l, design, t->place.n);
    }
}

static bool put_term(struct layout *l, const struct links *links,
                     struct term *t, int header)
{
    const int64_t rows = t->element.n, places = t->place.n;
    double *design = NULL, *weight = NULL, *score = NULL;
    bool ok = false;
    if (!find_offsets(l, t))
        return false;
    if (t->term->alike && t->fixed_design && !t->fixed_weight &&
        !find_alike(l, t))
        return false;
    int at = rt_joint_put(l, &t->element), begin = rt_joint_put(l, &t->begin);
    if (l->table.failed)
        return false;
    put_term_header(l, t, header, at, begin);
    if (t->term->curved || t->term->listed)
        put_places(l, t, header);
    weight = malloc(((size_t)rows + 1) * sizeof *weight);
    score = malloc(((size_t)rows + 1) * sizeof *score);
    if (t->fixed_design)
        design = malloc(((size_t)places + 1) * sizeof *design);
    if (!weight || !score || (t->fixed_design && !design) || l->work > INT_MAX)
        goto done;
    compute_rows(l, t, weight, score, design);
    put_constants(l, t, header, weight, score, design);
    ok = rt_joint_put_precision(l, links, t, header, design,
                                t->fixed_weight ? weight : NULL) &&
         rt_joint_put_potential(l, links, t, header, design,
                                !t->fixed_score ? NULL
                                : t->offset     ? weight
                                                : score);
done:
    free(design);
    free(weight);
    free(score);
    return ok;
}

static void put_header(struct layout *l)
{
    struct rt_symbolic *s = &l->symbolic;
    const struct {
        int field;
        const struct rt_ints *list;
    } lists[] = {{GBM_J_TREES, &s->trees},
                 {GBM_J_START, &s->start},
                 {GBM_J_ROW, &s->row},
                 {GBM_J_PLACE, &s->place},
                 {GBM_J_LEVEL_CELL, &s->level_cell},
                 {GBM_J_LEVEL_COLUMN, &s->level_column},
                 {GBM_J_COLUMN, &s->column},
                 {GBM_J_CELL, &s->cell},
                 {GBM_J_PRODUCT, &s->product},
                 {GBM_J_LEFT, &s->left},
                 {GBM_J_RIGHT, &s->right},
                 {GBM_J_ROW_START, &s->row_start},
                 {GBM_J_ROW_CELL, &s->row_cell},
                 {GBM_J_ROW_COLUMN, &s->row_column},
                 {GBM_J_FIRST, &l->first},
                 {GBM_J_WHERE, &l->where},
                 {GBM_J_LINK_ROW, &l->link_row},
                 {GBM_J_LINK_HELD, &l->link_held}};
    for (int i = 0; i < GBM_J_HEADER; i++)
        rt_ints_add(&l->table, 0);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        int at = rt_joint_put(l, lists[i].list);
        l->table.items[lists[i].field] = at;
    }
    l->table.items[GBM_J_AT] = (int)l->table.n;
    for (int k = 0; k < l->d; k++)
        rt_ints_add(&l->table, s->at[k]);
}

/* Held values in the order of their variables: renumbers them. */
static void sort_held(struct layout *l, struct rt_ints *first)
{
    int64_t n = l->held_where.n;
    int *number = malloc(((size_t)n + 1) * sizeof *number);
    struct rt_ints where = {0};
    if (!number) {
        l->failed = true;
        return;
    }
    for (int v = 0; v < l->block->nvariables; v++) {
        rt_ints_add(first, where.n);
        for (int64_t h = 0; h < n; h++)
            if (l->held_variable.items[h] == v) {
                number[h] = (int)where.n;
                rt_ints_add(&where, l->held_where.items[h]);
            }
    }
    rt_ints_add(first, where.n);
    for (int k = 0; k < l->block->nterms; k++)
        for (int64_t i = 0; i < l->terms[k].place.n; i++) {
            int *place = &l->terms[k].place.items[i];
            if (*place <= HELD(0))
                *place = HELD(number[HELD(*place)]);
        }
    l->failed = l->failed || where.failed || first->failed;
    rt_ints_free(&l->held_where);
    l->held_where = where;
    free(number);
}

/* What the block's header says of sizes, of what it costs and of the room for
 * work that it takes. */
static void put_sizes(struct layout *l, const struct links *links, int terms)
{
    int *t = l->table.items;
    double cost = l->symbolic.flops;
    for (int k = 0; k < l->block->nterms; k++) {
        const int *h = t + terms + k * GBM_T_SIZE;
        cost += 8.0 * h[GBM_T_ROWS] + h[GBM_T_Q] + h[GBM_T_B];
    }
    t[GBM_J_D] = l->d;
    t[GBM_J_SPARSE] = l->symbolic.sparse;
    t[GBM_J_LEAVES] = l->symbolic.leaves;
    t[GBM_J_TREES_SIZE] = (int)l->symbolic.trees.n;
    t[GBM_J_LEVELS] = l->symbolic.levels;
    t[GBM_J_CELLS] = l->symbolic.cells;
    t[GBM_J_LINKS] = (int)links->n;
    t[GBM_J_HELD] = (int)l->held_where.n;
    t[GBM_J_DENSE] = l->symbolic.dense;
    for (int k = 0; k < l->block->nterms; k++)
        if (l->block->terms[k].curved) {
            cost += 60.0 * t[terms + k * GBM_T_SIZE + GBM_T_ROWS];
            t[GBM_J_CURVED] = (int)l->work;
        }
    if (t[GBM_J_CURVED]) {
        cost += 4 * l->symbolic.flops;
        l->work += gbm_curved_cells(l->symbolic.cells, (int)links->n, l->d);
    }
    t[GBM_J_SPARE] = (int)l->work;
    l->work += 3 * l->d;
    t[GBM_J_COST] = cost < 1e9 ? (int)cost : 1000000000;
    t[GBM_J_WORK] = (int)l->work;
}

static bool put_table(struct layout *l, bool lanes)
{
    struct links links = {0};
    struct rt_ints held_first = {0};
    int nterms = l->block->nterms;
    sort_held(l, &held_first);
    bool ok = !l->failed && rt_joint_build_links(l, &links);
    if (!ok)
        goto done;
    put_header(l);
    int at_first = rt_joint_put(l, &held_first),
        at_where = rt_joint_put(l, &l->held_where);
    int terms = (int)l->table.n;
    for (int i = 0; i < nterms * GBM_T_SIZE; i++)
        rt_ints_add(&l->table, 0);
    ok = !l->table.failed;
    if (!ok)
        goto done;
    l->table.items[GBM_J_HELD_FIRST] = at_first;
    l->table.items[GBM_J_HELD_WHERE] = at_where;
    l->table.items[GBM_J_TERMS] = terms;
    l->work = (int64_t)l->symbolic.cells + links.n + l->d + l->held_where.n;
    for (int k = 0; ok && k < nterms; k++)
        ok = put_term(l, &links, &l->terms[k], terms + k * GBM_T_SIZE);
    ok = ok && (!lanes || rt_joint_list_border(l, terms));
    ok =
        ok &&
        l->work + 9 * ((int64_t)l->symbolic.cells + links.n + l->d) < INT_MAX &&
        !l->table.failed;
    if (!ok)
        goto done;
    put_sizes(l, &links, terms);
done:
    free(links.pair);
    rt_ints_free(&held_first);
    return ok;
}

/* ---- the slots ---- */

static bool fill_slots(struct layout *l)
{
    struct rt_slot *table = &l->in->slots[l->block->table];
    struct rt_slot *constant = &l->in->slots[l->block->constant];
    struct rt_slot *work = &l->in->slots[l->block->work];
    free(table->values); /* of another device's layout */
    free(constant->values);
    free(work->values);
    constant->values = work->values = NULL;
    table->values = l->table.items;
    table->cells = table->dim[0] = (int)l->table.n;
    l->table.items = NULL;
    constant->values =
        l->constant ? (void *)l->constant : calloc(1, sizeof(double));
    constant->cells = constant->dim[0] = (int)l->nconstant;
    l->constant = NULL;
    /* and a copy of the block for the self-check */
    work->per_chain = true;
    work->cells = work->dim[0] = (int)(l->work + l->d);
    work->values = calloc((size_t)work->cells * (size_t)l->in->nchains + 1,
                          sizeof(double));
    return constant->values && work->values;
}

static void layout_free(struct layout *l)
{
    for (int v = 0; l->number && v < l->block->nvariables; v++)
        free(l->number[v]);
    free(l->number);
    for (int k = 0; l->terms && k < l->block->nterms; k++) {
        rt_ints_free(&l->terms[k].element);
        rt_ints_free(&l->terms[k].begin);
        rt_ints_free(&l->terms[k].place);
        free(l->terms[k].weight);
        free(l->terms[k].first_alike);
        free(l->terms[k].in_order);
        free(l->terms[k].offset);
    }
    free(l->terms);
    free(l->start);
    free(l->neighbour);
    free(l->constant);
    rt_symbolic_free(&l->symbolic);
    rt_ints_free(&l->first);
    rt_ints_free(&l->where);
    rt_ints_free(&l->held_variable);
    rt_ints_free(&l->held_where);
    rt_ints_free(&l->link_row);
    rt_ints_free(&l->link_held);
    rt_ints_free(&l->table);
}

/* The linear forms of a vector's density have coefficients of data. */
static bool data_settle(const struct rt_instance *in,
                        const struct gbm_joint_term *t)
{
    return t->forms && t->data_design &&
           (t->leaf < 0 || !in->slots[t->leaf].per_chain);
}

/* Pairs of coefficients that a sweep may go through, and that may be summed at
 * load: some 50 ms and 1 s. */
#define MOST_VARYING 1.7e7
#define MOST_FIXED 1.3e8
#define CURVED 5 /* times that a sweep does so where a fit is sought */

static bool too_many_pairs(const struct layout *l)
{
    double varying = 0, fixed = 0;
    for (int k = 0; k < l->block->nterms; k++) {
        const struct term *t = &l->terms[k];
        double pairs = 0;
        for (int64_t r = 0; r < t->element.n; r++) {
            const double n = t->begin.items[r + 1] - t->begin.items[r];
            pairs += n * (n + 1) / 2;
        }
        *(t->fixed_weight ? &fixed : &varying) +=
            t->term->curved ? CURVED * pairs : pairs;
    }
    return varying > MOST_VARYING || fixed > MOST_FIXED;
}

/* The coordinates, and what rows have of them. */
static bool list_terms(struct layout *l, bool apart, bool redraw)
{
    bool ok = rt_joint_number_coordinates(l, apart);
    l->terms = calloc((size_t)l->block->nterms + 1, sizeof *l->terms);
    ok = ok && l->terms;
    for (int k = 0; ok && l->d > 0 && k < l->block->nterms; k++) {
        const struct gbm_joint_term *term = &l->block->terms[k];
        const bool settled = !redraw && data_settle(l->in, term);
        const bool design = term->constant_design || settled;
        l->terms[k] = (struct term){
            .term = term,
            .fixed_design = design,
            .fixed_weight = term->constant_weight && design,
            .fixed_score = term->constant_score && design && !redraw};
        struct term *t = &l->terms[k];
        t->fixed_offset = settled && term->offset && !t->fixed_score &&
                          (term->common_weight || t->fixed_weight);
        t->fixed_score = t->fixed_score || (t->fixed_weight && t->fixed_offset);
        ok = rt_joint_list_rows(l, t);
    }
    return ok;
}

/* Of so many chains each lane of a device has one. A device that is not open
 * yet is known by its name. */
static enum rt_lanes lanes_for(const struct rt *rt,
                               const struct rt_instance *in)
{
    const bool device =
        rt->device
            ? rt->device->teams
            : rt->options.device && strncmp(rt->options.device, "cuda", 4) == 0;

    return !device                      ? RT_LANES_NONE
           : in->nchains < RT_LANE_EACH ? RT_LANES_SHARE
                                        : RT_LANES_EACH;
}

enum gbm_status rt_joint(struct rt *rt, struct rt_instance *in,
                         const struct gbm_step *step, const void *state,
                         bool redraw)
{
    const struct layout empty = {
        .rt = rt, .in = in, .block = step->joint, .state = state};
    struct layout l = empty;
    const enum rt_lanes lanes = lanes_for(rt, in);
    bool ok = list_terms(&l, false, redraw);
    if (ok && l.d > 0 && l.block->apart && too_many_pairs(&l)) {
        layout_free(&l);
        l = empty;
        in->steps[step - in->model->steps].apart = true;
        ok = list_terms(&l, true, redraw);
    }
    if (ok && l.d == 0) {
        layout_free(&l);
        return GBM_OK; /* all is observed: the step is not active */
    }
    ok = ok && rt_joint_build_graph(&l) &&
         rt_symbolic_create(&l.symbolic, l.d, l.start, l.neighbour, lanes) &&
         put_table(&l, lanes != RT_LANES_NONE) && fill_slots(&l);
    layout_free(&l);
    if (!ok)
        return rt_fail(rt, GBM_FAILURE,
                       "no memory for the joint Gaussian block of %s: its "
                       "rows have too many pairs of coefficients; "
                       "samplers { NAME : slice; } draws them one by one",
                       step->variable);
    return GBM_OK;
}

enum gbm_status rt_joint_again(struct rt *rt, struct rt_instance *in)
{
    void *state = calloc(1, in->model->state_size + 1);
    enum gbm_status status =
        state ? GBM_OK : rt_fail(rt, GBM_FAILURE, "no memory");
    for (int k = 0; status == GBM_OK && k < in->model->nsteps; k++) {
        rt_bind(in, state, 0);
        if (in->model->steps[k].joint && in->steps[k].active)
            status = rt_joint(rt, in, &in->model->steps[k], state, false);
    }
    free(state);
    return status;
}
