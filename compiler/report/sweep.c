/* sweep.c: --emit=sweep: the sweep as a program for a person: its steps, which
 * of them a step has to wait for, and the phases of each. */
#include "report/report.h"

/* "over i by g[i] of y[i] ~ dnorm(...)" */
static const char *rows_of(struct compiler *c, const struct phase *p)
{
    if (p->part) {
        const char *over = report_part_sum(c, p->part);
        return intern_format(c, "%s%s of %s", *over ? "over " : "", over,
                             p->part->factor->text);
    }
    const struct family *f = p->rows;
    if (!f)
        return "";
    if (!f->nloops)
        return intern_format(c, "of %s", f->text);
    return intern_format(c, "over %s of %s",
                         sampler_loop_names(c, f->loops, f->nloops), f->text);
}

static void print_line(struct text *out, const char *what)
{
    report_print_wrapped(out, what, 0, 13);
}

static void print_reads(struct text *out, struct compiler *c,
                        const struct phase *p)
{
    struct text t = {0};
    for (int i = 0; i < p->nreads; i++)
        text_printf(&t, "%s%s", i ? ", " : "           reads ",
                    sampler_expression_text(c, p->reads[i]));
    if (t.length)
        print_line(out, text_take(c, &t));
}

static const char *count_text(struct compiler *c, symp operations, symp cells)
{
    return intern_format(c, "%s operations, %s cells",
                         sampler_expression_text(c, operations),
                         sampler_expression_text(c, cells));
}

/* "N rows, K values" */
static const char *all_rows(struct compiler *c, const struct phase *p)
{
    const char *rows =
        p->lists ? "each row reached"
                 : intern_format(c, "in all %s row%s",
                                 sampler_expression_text(c, p->all_rows),
                                 sym_is(p->all_rows, 1) ? "" : "s");
    return !p->tried ? rows
                     : intern_format(c, "%s, %s values%s", rows,
                                     sampler_expression_text(c, p->tried),
                                     p->at_least ? " or more" : "");
}

/* Of a row; and of all that a sweep goes through. */
static void print_work(struct text *out, struct compiler *c,
                       const struct phase *p)
{
    symp cells = phase_cells(c, p), all_cells = phase_all_cells(c, p);
    const bool nothing = sym_is(p->operations, 0) && sym_is(cells, 0);
    if (!nothing)
        print_line(out, intern_format(c, "           a row: %s",
                                      count_text(c, p->operations, cells)));
    if ((nothing && sym_is(p->all_operations, 0)) ||
        (!p->lists && sym_same(p->all_operations, p->operations) &&
         sym_same(all_cells, cells)))
        return;
    print_line(out, intern_format(c, "           %s: %s", all_rows(c, p),
                                  count_text(c, p->all_operations, all_cells)));
}

static void print_phase(struct text *out, struct compiler *c,
                        const struct phase *p)
{
    const char *rows = rows_of(c, p);
    print_line(out,
               intern_format(c, "   %s%-7s %s%s%s%s%s", p->trial ? "  " : "",
                             phase_word(p), p->what, *rows ? " " : "", rows,
                             p->random ? ", at random" : "",
                             p->at_load     ? "; computed at load"
                             : p->in_tables ? "; from tables"
                                            : ""));
    print_reads(out, c, p);
    print_work(out, c, p);
}

/* The steps before it that it may not change places with. */
static const char *waits_for(struct compiler *c, const struct model *m,
                             const struct step *s)
{
    struct text t = {0};
    for (const struct step *k = m->steps; k && k != s; k = k->next)
        if (!sweep_may_swap(k, s))
            text_printf(&t, "%s%d", t.length ? ", " : "", k->number + 1);
    return t.length ? text_take(c, &t) : "nothing";
}

static const char *pass_of(struct compiler *c, const struct quadratic *q)
{
    const char *begins =
        q->since == q->drawn
            ? ""
            : intern_format(c, ", begun before step %d", q->since->number + 1);
    return intern_format(
        c,
        "   fused: the draws of step %d go in one pass over the rows of %s%s",
        q->drawn->number + 1, q->matrix->name, begins);
}

void report_sweep(struct text *out, struct compiler *c, const struct model *m)
{
    for (const struct step *s = m->steps; s; s = s->next) {
        text_printf(out, "%s%d %s: %s", s->number ? "\n" : "", s->number + 1,
                    report_step_variables(c, s), report_step_sampler(c, s));
        text_printf(out, "\n   elements %s; waits for %s%s\n",
                    report_step_elements(c, s), waits_for(c, m, s),
                    s->turn.late ? "; for kept sweeps alone" : "");
        for (const struct phase *p = s->phases; p; p = p->next)
            print_phase(out, c, p);
        for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
            if (q->drawn)
                print_line(out, pass_of(c, q));
    }
}
