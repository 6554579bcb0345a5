/* work.c: the second table of --profile: what a sweep must move and compute in
 * each phase of a step, as the model counts it (struct gbm_phase), beside what
 * the device can do at most: Williams, Waterman and Patterson (2009), Roofline.
 * Cells that several rows of a pass read are moved once. */
#include "session/session.h"
#include "load/load.h"

#include <stdlib.h>
#include <string.h>

/* A step that takes so many times as long as its bytes and operations must is
 * not limited by them. */
enum { TIMES_CEILING = 5 };

/* In a sweep, of a chain. */
struct work {
    double rows, bytes, operations;
    bool at_least;
};

struct counter {
    const struct rt *rt;
    const struct rt_instance *in;
    const struct gbm_step *step;
    const void *state;
    double drawn; /* the share of the elements that is latent */
};

static double bytes_of_slot(const struct rt_ceilings *c,
                            const struct rt_instance *in, int slot)
{
    return in->model->variables[slot].integer ? sizeof(int) : (double)c->real;
}

/* The share of all elements that a step updates: data give the others. */
static double share_drawn(const struct rt_instance *in,
                          const struct gbm_step *step)
{
    const struct rt_step *plan = &in->steps[step - in->model->steps];
    const int64_t all = step->family < 0 ? 0 : in->elements[step->family];
    if (step->kind != GBM_STEP_MAP || step->whole || step->first ||
        step->joint || plan->count >= all)
        return 1;
    return (double)plan->count / (double)all;
}

/* The share of the rows that count. */
static double share_counted(const struct rt_instance *in,
                            const struct gbm_phase *p)
{
    const struct rt_slot *slot = p->counted ? &in->slots[p->counted - 1] : NULL;
    int64_t n = 0, all = 0;
    if (!slot || (!slot->seen && (p->live || !slot->per_chain)))
        return 1;
    for (int64_t i = 0; slot->seen && i < slot->cells; i++) {
        if (slot->defined && !slot->defined[i])
            continue;
        all++;
        n += p->live ? slot->seen[i] != RT_BARREN : slot->seen[i] == RT_SEEN;
    }
    return all ? (double)n / (double)all : 0;
}

static double bytes_read(const struct counter *k, const struct gbm_phase *p,
                         const double *counts)
{
    const struct rt_ceilings *c = &k->rt->ceilings;
    double bytes = 0;
    for (int i = 0; i < p->nreads; i++) {
        const struct rt_slot *slot = &k->in->slots[p->reads[i]];
        const double most = counts[GBM_WORK_PASSES] * (double)slot->cells;
        double cells = counts[GBM_WORK_READS + i];
        cells = cells < most ? cells : most;
        if (c->together && !slot->per_chain)
            cells /= k->in->nchains;
        bytes += cells * bytes_of_slot(c, k->in, p->reads[i]);
    }
    return bytes;
}

static double bytes_written(const struct counter *k, const struct gbm_phase *p)
{
    double bytes = 0;
    for (int i = 0; i < p->nwrites; i++) {
        const struct gbm_family *f = &k->in->model->families[p->writes[i]];
        const int64_t n = k->in->elements[p->writes[i]];
        if (n > 0)
            bytes += (double)n * (double)f->cells(k->state, 0, NULL) *
                     bytes_of_slot(&k->rt->ceilings, k->in, f->variable);
    }
    return bytes;
}

static struct work count_phase(const struct counter *k,
                               const struct gbm_phase *p, const double *counts)
{
    double operations = counts[GBM_WORK_OPERATIONS];
    double scratch = counts[GBM_WORK_SCRATCH];
    if (p->sparse && k->step->cost) {
        operations += (double)k->step->cost(k->state);
        scratch += (double)k->in->slots[k->step->joint->work].cells;
    }
    const double share = k->drawn * share_counted(k->in, p);
    const double bytes = scratch * (double)k->rt->ceilings.real +
                         bytes_read(k, p, counts) + bytes_written(k, p);
    return (struct work){.rows = share * counts[GBM_WORK_ROWS],
                         .bytes = share * bytes,
                         .operations = share * operations,
                         .at_least = p->at_least};
}

/* ---- the table ---- */

/* "12.3 M" */
static const char *number(char out[static 16], double x)
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P"};
    int unit = 0;
    while (x >= 1000 && unit < 5) {
        x /= 1000;
        unit++;
    }
    snprintf(out, 16, "%.3g%s", x, units[unit]);
    return out;
}

static double least_seconds(const struct rt_ceilings *c, const struct work *w)
{
    const double memory = w->bytes / c->bandwidth;
    const double arithmetic = w->operations / c->rate;
    return memory > arithmetic ? memory : arithmetic;
}

static void print_row(FILE *out, const struct rt_ceilings *c, const char *step,
                      const char *text, int width, const struct work *w,
                      double seconds)
{
    char rows[16] = "", bytes[16], operations[16];
    const double least = least_seconds(c, w);
    if (seconds < 0)
        number(rows, w->rows);
    fprintf(out, "%4s  %-*.*s  %10s  %10s  %10s  %10.4g", step, width, width,
            text, rows, number(bytes, w->bytes),
            number(operations, w->operations), 1e6 * least);
    if (seconds > 0)
        fprintf(out, "  %s%4.0f %%  %s", w->at_least ? ">=" : "  ",
                100 * least / seconds,
                seconds > TIMES_CEILING * least   ? "latency"
                : w->bytes / c->bandwidth < least ? "arithmetic"
                                                  : "memory");
    fputs("\n", out);
}

static int text_width(const struct rt_instance *in)
{
    enum { MOST = 60 };
    int width = 20;
    for (int k = 0; k < in->model->nsteps; k++)
        for (int i = 0; in->steps[k].active && i < in->model->steps[k].nphases;
             i++) {
            const int n = 2 + (int)strlen(in->model->steps[k].phases[i].text);
            width = n > width ? n : width;
        }
    return width < MOST ? width : MOST;
}

static void print_step(const struct counter *k, double seconds, int width,
                       FILE *out)
{
    const struct rt_ceilings *c = &k->rt->ceilings;
    const struct gbm_step *s = k->step;
    char number_text[16];
    struct work all = {0};
    double *counts = rt_step_work(s, k->state);
    const double *at = counts;
    if (!counts)
        return;
    for (int i = 0; i < s->nphases; i++) {
        const struct work w = count_phase(k, &s->phases[i], at);
        all.bytes += w.bytes;
        all.operations += w.operations;
        all.at_least = all.at_least || w.at_least;
        at = rt_next_phase(&s->phases[i], at);
    }
    snprintf(number_text, sizeof number_text, "%d", s->number + 1);
    print_row(out, c, number_text, s->variable, width, &all, seconds);
    at = counts;
    for (int i = 0; i < s->nphases; i++) {
        const struct work w = count_phase(k, &s->phases[i], at);
        char text[64];
        snprintf(text, sizeof text, "  %s", s->phases[i].text);
        if (w.rows > 0)
            print_row(out, c, "", text, width, &w, -1);
        at = rt_next_phase(&s->phases[i], at);
    }
    free(counts);
}

static void print_head(const struct rt_ceilings *c, int width, FILE *out)
{
    char copied[16], bandwidth[16], rate[16];
    fprintf(
        out,
        "\nWhat a sweep of a chain must move and compute, and the least "
        "microseconds for it:\ncopies of %sB move %sB a second here, "
        "multiply-adds are %s operations a second;\na function counts as 10, "
        "a draw as 40. A step that takes more than %d times the least\nwaits "
        "for something else: latency.\n",
        number(copied, c->copied), number(bandwidth, c->bandwidth),
        number(rate, c->rate), TIMES_CEILING);
    fprintf(out, "%4s  %-*s  %10s  %10s  %10s  %10s  %8s  %s\n", "step", width,
            "variable, phases", "rows", "bytes", "operations", "us", "ceiling",
            "limit");
}

void rt_work_print(const struct rt *rt, const struct rt_instance *in,
                   int64_t sweeps, FILE *out)
{
    const struct gbm_model *m = in->model;
    char *states = rt_states_create(in);
    const int width = text_width(in);
    const bool known =
        states && rt->ceilings.bandwidth > 0 && rt->ceilings.rate > 0;
    if (known)
        print_head(&rt->ceilings, width, out);
    for (int k = 0; known && k < m->nsteps; k++) {
        const struct counter counter = {.rt = rt,
                                        .in = in,
                                        .step = &m->steps[k],
                                        .state = states,
                                        .drawn = share_drawn(in, &m->steps[k])};
        if (in->steps[k].active && rt->profile[k] > 0)
            print_step(&counter, rt->profile[k] / (double)sweeps / in->nchains,
                       width, out);
    }
    free(states);
}

/* ---- the device ---- */

enum gbm_status rt_work_measure(struct rt *rt, const struct rt_instance *in)
{
    double shared = 0, own = 0;
    for (int v = 0; v < in->model->nvariables; v++)
        *(in->slots[v].per_chain ? &own : &shared) +=
            (double)in->slots[v].cells *
            (in->model->variables[v].integer ? sizeof(int) : sizeof(double));
    return rt->device->ceilings
               ? rt->device->ceilings(rt, shared, own, &rt->ceilings)
               : GBM_OK;
}
