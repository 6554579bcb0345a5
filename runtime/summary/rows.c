/* rows.c: the rows of a summary: what has draws, then what has moments only. */
#include "summary/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Rows of a variable's moments: one a cell, or one for each of its values. */
static int64_t rows_of(const struct gbm_moments_variable *m)
{
    return m->count * (m->categories ? m->categories : 1);
}

static int64_t cell_of_row(const struct gbm_moments_variable *m, int64_t k)
{
    int64_t i = m->categories ? k / m->categories : k;

    return m->cells ? m->cells[i] : i;
}

/* The first of these, from number k on, of a cell that has no draws under the
 * same name, or their number. */
static int64_t without_draws(const struct gbm_draws_variable *same,
                             const struct gbm_moments_variable *m, int64_t k)
{
    while (same && k < rows_of(m) && gbm_draws_has(same, cell_of_row(m, k)))
        k++;
    return k;
}

/* "z[3]", or the event "z[3]==2", whose mean is its probability. */
static void name_row(const struct gbm_moments_variable *m, int64_t k,
                     char *name, size_t capacity)
{
    gbm_cell_name(m->name, m->ndim, m->dim, cell_of_row(m, k), name, capacity);
    size_t n = strlen(name);
    if (m->categories)
        snprintf(name + n, capacity - n, "==%d", (int)(k % m->categories) + 1);
}

/* The label of a cell; of a row that has another name than a cell, its name. */
static void label_row(const struct gbm_draws *draws, const char *name, int ndim,
                      const int *dim, int64_t cell, struct gbm_row *row)
{
    if (gbm_coords_dims(&draws->coords, name))
        gbm_cell_label(&draws->coords, name, ndim, dim, cell, row->label,
                       sizeof row->label);
    else
        memcpy(row->label, row->name, sizeof row->label);
}

bool gbm_rows_next(struct gbm_rows *at, struct gbm_row *row)
{
    const struct gbm_draws *draws = at->summary->draws;

    for (; at->variable < draws->nvariables; at->variable++, at->cell = 0) {
        const struct gbm_draws_variable *v = &draws->variables[at->variable];

        if (at->cell == v->count || v->group == GBM_LOG_LIKELIHOOD)
            continue;
        gbm_cell_name(v->name, v->ndim, v->dim,
                      v->cells ? v->cells[at->cell] : at->cell, row->name,
                      sizeof row->name);
        label_row(draws, v->name, v->ndim, v->dim,
                  v->cells ? v->cells[at->cell] : at->cell, row);
        row->array = v->name;
        row->cells = v->count;
        row->at = v->offset + at->cell++;
        row->d = at->summary->diagnoses[row->at];
        return true;
    }
    for (; at->moments < draws->nmoments; at->moments++, at->cell = 0) {
        const struct gbm_moments_variable *m = &draws->moments[at->moments];

        if (at->cell == 0)
            at->same = gbm_draws_find(draws, m->name);
        at->cell = without_draws(at->same, m, at->cell);
        if (at->cell == rows_of(m) || (draws->aside && !at->all))
            continue;
        name_row(m, at->cell, row->name, sizeof row->name);
        memcpy(row->label, row->name, sizeof row->label);
        if (!m->categories)
            label_row(draws, m->name, m->ndim, m->dim, cell_of_row(m, at->cell),
                      row);
        row->array = m->name;
        row->cells = rows_of(m);
        row->at = -1;
        row->d = (struct gbm_diagnosis){
            m->mean[at->cell], m->sd[at->cell], NAN, NAN, NAN, NAN, NAN, NAN,
            m->rhat[at->cell]};
        at->cell++;
        return true;
    }
    return false;
}

int64_t gbm_rows_of_moments(const struct gbm_draws *draws)
{
    int64_t n = 0;

    for (int i = 0; i < draws->nmoments; i++) {
        const struct gbm_moments_variable *m = &draws->moments[i];
        const struct gbm_draws_variable *same = gbm_draws_find(draws, m->name);

        for (int64_t k = 0; k < rows_of(m); k++) {
            k = without_draws(same, m, k);
            n += k < rows_of(m);
        }
    }
    return n;
}
