/* start_report.c: why there is no starting point, in the model's words. */
#include "start/start.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PARENTS 64 /* cells that a message shows */
#define MOST_VALUES 6   /* of one variable */

static void append(struct rt *rt, size_t *at, const char *format, ...)
{
    if (*at >= sizeof rt->message - 1)
        return;
    va_list args;
    va_start(args, format);
    int n =
        vsnprintf(rt->message + *at, sizeof rt->message - *at, format, args);
    va_end(args);
    *at += n > 0 ? (size_t)n : 0;
}

/* Given cells that are missing: whoever reads them fails. */
static void append_missing(struct rt_starter *s, size_t *at)
{
    for (int v = 0; v < s->in->model->nvariables; v++) {
        const struct rt_slot *slot = &s->in->slots[v];
        char name[256];
        if (slot->missing == 0)
            continue;
        rt_cell_name(s->in, v, slot->missing - 1, name, sizeof name);
        append(s->rt, at, "\n%s is missing in the data: is it used here?",
               name);
    }
}

/* "MODEL:LINE:COLUMN: y[3]: TEXT", without a name that the text has. */
static void problem_of(const struct rt_starter *s, int64_t element,
                       const char *text, char *out, size_t size)
{
    char name[256];
    rt_element_name(s->in, s->state, s->family, element, name, sizeof name);
    const bool named = strstr(text, name) != NULL;
    snprintf(out, size, "%s: %s%s%s", s->in->model->families[s->family].where,
             named ? "" : name, named ? "" : ": ", text);
}

/* The first few problems of the family, in the model's words. */
enum gbm_status rt_start_report_check(struct rt_starter *s)
{
    const struct gbm_family *fam = &s->in->model->families[s->family];
    struct gbm_problem problem = s->problem;
    char text[sizeof problem.text + 512];
    problem_of(s, s->element, problem.text, text, sizeof text);
    enum gbm_status status = rt_fail(s->rt, GBM_USER_ERROR, "%s", text);
    size_t at = strlen(s->rt->message);
    const struct rt_slot *slot = &s->in->slots[fam->variable];
    int more = 0;
    /* Beyond the first one only where checking reads nothing that is not set */
    for (int64_t e = s->element + 1;
         e < s->in->elements[s->family] && !slot->per_chain && more < 6; e++) {
        if (fam->check(s->state, e, &problem))
            continue;
        if (++more == 5)
            append(s->rt, &at, "\n... and more");
        if (more >= 5)
            continue;
        problem_of(s, e, problem.text, text, sizeof text);
        append(s->rt, &at, "\n%s", text);
    }
    if (!strstr(s->problem.text, "is missing"))
        append_missing(s, &at);
    return status;
}

/* ---- the values that an element reads ---- */

struct parents {
    const struct rt_instance *in;
    int n, variable[MOST_PARENTS];
    int64_t cell[MOST_PARENTS];
};

static void add_parent(struct parents *p, int variable, int64_t cell)
{
    int of_variable = 0;
    for (int i = 0; i < p->n; i++) {
        of_variable += p->variable[i] == variable;
        if (p->variable[i] == variable && p->cell[i] == cell)
            return;
    }
    if (p->n == MOST_PARENTS || of_variable > MOST_VALUES)
        return;
    p->variable[p->n] = variable;
    p->cell[p->n++] = cell;
}

static void visit(void *context, int variable, int64_t cell)
{
    struct parents *p = context;
    const struct rt_slot *slot = &p->in->slots[variable];
    if (cell >= 0)
        add_parent(p, variable, cell);
    for (int64_t i = 0; cell < 0 && i < slot->cells && i <= MOST_VALUES; i++)
        if (!slot->defined || slot->defined[i])
            add_parent(p, variable, i);
}

/* "p[2,1:3]" of cells from..to of one row. */
static void append_name(struct rt_starter *s, size_t *at, int variable,
                        int64_t from, int64_t to)
{
    int ndim = s->in->model->variables[variable].ndim;
    char name[256];
    rt_cell_name(s->in, variable, from, name, sizeof name);
    size_t n = strlen(name);
    if (to > from && n > 0 && name[n - 1] == ']')
        snprintf(name + n - 1, sizeof name - n + 1, ":%d]",
                 (int)(to % s->in->slots[variable].dim[ndim - 1]) + 1);
    append(s->rt, at, "%s", name);
}

/* How many of the parents from k on are neighbours in a row. */
static int count_row(const struct parents *p, int k)
{
    int v = p->variable[k], ndim = p->in->model->variables[v].ndim, n = 1;
    int width = ndim ? p->in->slots[v].dim[ndim - 1] : 1;
    while (k + n < p->n && n < MOST_VALUES && p->variable[k + n] == v &&
           p->cell[k + n] == p->cell[k] + n &&
           (p->cell[k] + n) / width == p->cell[k] / width)
        n++;
    return n;
}

/* What no sweep computes, as its definition stands where it is read. */
static void derive_unread(const struct rt_starter *s)
{
    const struct gbm_model *m = s->in->model;
    for (int f = 0; f < m->nfamilies; f++) {
        const struct gbm_family *fam = &m->families[f];
        bool unread = m->variables[fam->variable].role == GBM_DERIVED &&
                      !rt_is_read(m, f);
        for (int64_t e = 0; unread && e < s->in->elements[f]; e++)
            fam->derive(s->state, e);
    }
}

static void append_parents(struct rt_starter *s, size_t *at)
{
    const struct gbm_model *m = s->in->model;
    const struct gbm_family *fam = &m->families[s->family];
    struct parents p = {.in = s->in};
    if (fam->parents)
        fam->parents(s->state, s->element, visit, &p);
    derive_unread(s);
    for (int k = 0, n, shown = 0; k < p.n; k += n) {
        int v = p.variable[k];
        n = count_row(&p, k);
        shown = k > 0 && p.variable[k - 1] == v ? shown : 0;
        if (shown >= MOST_VALUES)
            continue;
        append(s->rt, at, ", ");
        append_name(s, at, v, p.cell[k], p.cell[k + n - 1]);
        append(s->rt, at, " =");
        for (int i = 0; i < n; i++)
            append(s->rt, at, "%s %.6g", i ? "," : "",
                   rt_value(&s->in->slots[v], m->variables[v].integer, s->chain,
                            p.cell[k + i]));
        shown += n;
        if (shown >= MOST_VALUES && k + n < p.n && p.variable[k + n] == v)
            append(s->rt, at, ", ...");
    }
}

/* The first subscript that leads out of its array: of the element itself, else
 * of a derived node that is not a number. */
static void append_beyond(struct rt_starter *s, size_t *at)
{
    const struct gbm_model *m = s->in->model;
    const struct gbm_family *fam = &m->families[s->family];
    struct gbm_problem problem;
    if (fam->beyond && !fam->beyond(s->state, s->element, &problem)) {
        append(s->rt, at, "\n%s", problem.text);
        return;
    }
    for (int f = 0; f < m->nfamilies; f++) {
        fam = &m->families[f];
        if (fam->stochastic || !fam->beyond)
            continue;
        for (int64_t e = 0; e < s->in->elements[f]; e++) {
            if (fam->beyond(s->state, e, &problem))
                continue;
            char name[256];
            rt_element_name(s->in, s->state, f, e, name, sizeof name);
            append(s->rt, at, "\nof %s: %s", name, problem.text);
            return;
        }
    }
}

enum gbm_status rt_start_report_density(struct rt_starter *s, int attempts)
{
    const struct gbm_model *m = s->in->model;
    const struct gbm_family *fam = &m->families[s->family];
    const struct gbm_variable *v = &m->variables[fam->variable];
    const struct rt_slot *slot = &s->in->slots[fam->variable];
    char name[256];
    rt_element_name(s->in, s->state, s->family, s->element, name, sizeof name);
    double density = fam->logdensity(s->state, s->element);
    enum gbm_status status = rt_fail(
        s->rt, GBM_USER_ERROR,
        "%s: no starting point found in %d attempts (chain %d): the density of "
        "%s is %s under\n    %s\n",
        fam->where, attempts, s->chain + 1, name,
        isnan(density) ? "not a number"
        : density > 0  ? "infinite"
                       : "zero",
        fam->text);
    size_t at = strlen(s->rt->message);
    int64_t n = rt_element_cells(fam, s->state, s->element, &s->buffer);
    append(s->rt, &at, "at %s =", name);
    for (int64_t i = 0; i < n && i < MOST_VALUES; i++)
        append(s->rt, &at, "%s %.6g", i ? "," : "",
               rt_value(slot, v->integer, s->chain, s->buffer.cells[i]));
    const struct gbm_array *init = s->init[fam->variable];
    append(s->rt, &at, "%s%s", n > MOST_VALUES ? ", ..." : "",
           n > 0 && rt_seen(slot, s->buffer.cells[0]) ? " (data)"
           : init                                     ? " (from --init)"
                                                      : "");
    append_parents(s, &at);
    if (isnan(density))
        append_beyond(s, &at);
    append_missing(s, &at);
    if (s->rt->options.ninit > 0)
        append(s->rt, &at, "\nGive other starting values.");
    else if (s->hopeless)
        append(s->rt, &at, "\nNo starting value changes that.");
    else
        append(s->rt, &at,
               "\nThe search for values at which all densities are positive "
               "failed: are there any?\nGive starting values with --init%s.",
               s->rt->options.starts == RT_DISPERSED
                   ? ", or try --start typical"
                   : "");
    return status;
}
