/* phases.c: a step as a list of phases, each one bulk operation over the rows
 * of a plate. What every sampler has in common is made here; a sampler whose
 * phases are others makes its own (struct sampler's `phases`). */
#include "sweep/sweep.h"
#include <string.h>

/* The value as it is and another one at least. */
enum { TRIED_LEAST = 2 };

static struct phase *new_phase(struct compiler *c, enum phase_kind kind,
                               const char *what)
{
    struct phase *p = NEW(c, struct phase);
    *p = (struct phase){.kind = kind,
                        .what = what,
                        .operations = sym_num(c, 0),
                        .scratch = sym_num(c, 0)};
    return p;
}

struct phase *sweep_add_phase(struct compiler *c, struct step *s,
                              enum phase_kind kind, const char *what)
{
    struct phase **last = &s->phases;
    while (*last)
        last = &(*last)->next;
    *last = new_phase(c, kind, what);
    return *last;
}

/* ---- what a row reads and computes ---- */

/* `turns` more cells, as ref says. A cell that is read twice is moved once. */
static void add_read(struct compiler *c, struct phase *p, symp ref, symp turns)
{
    for (int i = 0; i < p->nreads; i++)
        if (sym_same(p->reads[i], ref))
            return;
    if ((p->nreads & (p->nreads - 1)) == 0) { /* room for a power of 2 */
        const int room = p->nreads ? 2 * p->nreads : 1;
        symp *reads = NEW_ARRAY(c, symp, room);
        symp *counts = NEW_ARRAY(c, symp, room);
        for (int i = 0; i < p->nreads; i++) {
            reads[i] = p->reads[i];
            counts[i] = p->turns[i];
        }
        p->reads = reads;
        p->turns = counts;
    }
    p->reads[p->nreads] = ref;
    p->turns[p->nreads++] = sym_has_any_loop(ref) ? turns : sym_num(c, 0);
}

/* The cells that e reads, `turns` times where sums go through them. */
static void add_reads(struct compiler *c, struct phase *p, symp e, symp turns)
{
    if (e->kind == SYM_SUM)
        turns = sym_mul2(c, turns, sym_length(c, e->args[0], e->args[1]));
    for (int i = 0; e->kind == SYM_ARRAY && i < e->nloops; i++)
        turns = sym_mul2(c, turns, e->args[1 + i]);
    if (e->kind == SYM_EXTENT)
        return;
    if (e->kind == SYM_REF)
        add_read(c, p, e, turns);
    for (int i = 0; i < e->nargs; i++)
        add_reads(c, p, e->args[i], turns);
}

void phase_computes_each(struct compiler *c, struct phase *p, symp e,
                         symp times)
{
    if (!e)
        return;
    add_reads(c, p, e, times);
    symp one = sweep_operations(c, e);
    if (p->kind == PHASE_SUM && !sym_is(e, 0)) /* it is added up */
        one = sym_add2(c, one, sym_num(c, 1));
    p->operations = sym_add2(c, p->operations, sym_mul2(c, times, one));
}

void phase_computes(struct compiler *c, struct phase *p, symp e)
{
    phase_computes_each(c, p, e, sym_num(c, 1));
}

/* A Cholesky factor, d^3 / 3, and four products of d^2 with triangles. */
void phase_solves(struct compiler *c, struct phase *p, symp d)
{
    p->operations =
        sym_add(c, 3,
                (symp[]){p->operations,
                         sym_mul(c, 4, (symp[]){sym_num(c, 1.0 / 3), d, d, d}),
                         sym_mul(c, 3, (symp[]){sym_num(c, 4), d, d})});
}

/* Cells of an element that is a slice. */
static symp slice_cells(struct compiler *c, const struct family *f)
{
    symp cells = sym_num(c, 1);
    for (int d = 0; d < f->var->ndim; d++)
        if (f->upper[d])
            cells = sym_mul2(c, cells, sym_length(c, f->lower[d], f->upper[d]));
    return cells;
}

void phase_writes(struct compiler *c, struct phase *p, struct family *f)
{
    struct family **written = NEW_ARRAY(c, struct family *, p->nwrites + 1);
    for (int i = 0; i < p->nwrites; i++)
        written[i] = p->writes[i];
    written[p->nwrites++] = f;
    p->writes = written;
}

void phase_multiplies(struct compiler *c, struct phase *p, struct family *f)
{
    p->operations = sym_add2(c, p->operations, slice_cells(c, f));
    p->scratch = slice_cells(c, f);
    phase_writes(c, p, f);
}

symp phase_cells(struct compiler *c, const struct phase *p)
{
    symp cells = p->scratch;
    for (int i = 0; i < p->nreads; i++)
        cells = sym_add2(c, cells, p->turns[i]);
    return cells;
}

/* ---- what most samplers do ---- */

static void add_terms(struct compiler *c, struct phase *phase,
                      const struct part *p)
{
    if (p->opaque)
        phase_computes(c, phase, p->logp);
    for (int i = 0; i < p->terms.n && !p->opaque; i++)
        phase_computes(c, phase, p->terms.coefficient[i]);
    phase_computes(c, phase, p->guard);
}

static void say_summed(struct phase *p, const struct part *summed)
{
    p->at_load = summed && !summed->tallied;
    p->in_tables = summed && summed->tallied;
}

void sweep_add_part(struct compiler *c, struct step *s, const struct part *p,
                    struct phase *alone)
{
    if (!condition_part_shared_out(p)) {
        add_terms(c, alone, p);
        return;
    }
    struct phase *sum = sweep_add_phase(
        c, s, PHASE_SUM, p->opaque ? "log density" : "statistics");
    sum->part = p;
    sum->trial = p->opaque;
    say_summed(sum, p->summed);
    add_terms(c, sum, p);
}

/* Behind what does not wait for a trial value. */
static void put_before_trials(struct step *s, struct phase *draw)
{
    struct phase **at = &s->phases;
    while (*at && !(*at)->trial)
        at = &(*at)->next;
    draw->next = *at;
    *at = draw;
}

static void add_bounds(struct compiler *c, struct step *s, struct phase *draw)
{
    for (const struct bound *b = s->support.bounds; b; b = b->next) {
        struct phase *p = draw;
        if (condition_part_shared_out(b->part)) {
            p = sweep_add_phase(c, s, PHASE_SUM,
                                b->is_lower ? "largest lower bound"
                                            : "smallest upper bound");
            p->part = b->part;
        }
        phase_computes(c, p, b->value);
    }
    phase_computes(c, draw, s->support.lower);
    phase_computes(c, draw, s->support.upper);
}

/* How many coordinates member i has. */
static symp count_of(struct compiler *c, const struct step *s, int i)
{
    return s->block.members[i].count ? s->block.members[i].count
                                     : sym_num(c, 1);
}

static void add_quadratic(struct compiler *c, struct step *s,
                          const struct quadratic *q, struct phase *alone)
{
    struct phase *p = alone;
    if (condition_part_shared_out(q->part)) {
        p = sweep_add_phase(c, s, PHASE_SUM,
                            s->law.family ? "statistics"
                                          : "precision and potential");
        p->part = q->part;
        say_summed(p, q->summed ? q->summed->part : NULL);
    }
    for (int i = 0; i < s->block.n; i++) {
        symp n = count_of(c, s, i);
        phase_computes_each(c, p, q->potential[i], n);
        for (int j = 0; j <= i; j++)
            phase_computes_each(c, p, q->precision[i][j],
                                sym_mul2(c, n, count_of(c, s, j)));
    }
}

/* Every value of a support, or some. */
static void say_tried(struct compiler *c, const struct step *s, struct phase *p)
{
    p->at_least = !(s->sampler->tries_all && s->sampler->tries_all(s));
    p->tried = p->at_least ? sym_num(c, TRIED_LEAST)
                           : sym_length(c, s->support.lower, s->support.upper);
}

static symp coordinates(struct compiler *c, const struct step *s)
{
    symp d = sym_num(c, 0);
    for (int i = 0; i < s->block.n; i++)
        d = sym_add2(c, d, count_of(c, s, i));
    return d;
}

/* What the step draws. */
static void say_drawn(struct compiler *c, const struct step *s, struct phase *p)
{
    struct family **families = NEW_ARRAY(c, struct family *, s->block.n + 1);
    for (int i = 0; i < s->block.n; i++)
        families[i] = s->block.members[i].family;
    if (!s->block.n)
        families[0] = s->family;
    p->writes = families;
    p->nwrites = s->block.n ? s->block.n : 1;
    p->drawn = s->block.n ? coordinates(c, s) : sym_num(c, 1);
}

struct phase *sweep_add_usual_phases(struct compiler *c, struct step *s)
{
    const bool searches = s->sampler->trials || !s->sampler->closed;
    struct phase *draw =
        new_phase(c, searches ? PHASE_SEARCH : PHASE_MAP, "draws");
    draw->random = true;
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        if (!q->row)
            add_quadratic(c, s, q, draw);
    if (s->block.quadratics && !searches && !s->law.family) {
        draw->kind = PHASE_SOLVE;
        phase_solves(c, draw, coordinates(c, s));
    }
    for (int i = 0; i < s->law.n; i++) {
        phase_computes(c, draw, sweep_statistic_tried(s, i));
        if (s->law.anchored[i])
            phase_computes(c, draw, s->law.anchored[i]);
    }
    for (const struct part *p = s->block.quadratics ? NULL : s->parts; p;
         p = p->next)
        sweep_add_part(c, s, p, draw);
    add_bounds(c, s, draw);
    put_before_trials(s, draw);
    return draw;
}

void phase_draws(struct compiler *c, struct phase *p, symp e)
{
    if (!e || p->draw)
        return;
    for (int i = 0; i < e->nargs; i++)
        phase_draws(c, p, e->args[i]);
    if (!p->draw && sym_is_draw(e, NULL))
        p->draw = intern_format(c, "gbm_%s", e->name);
}

/* Each row computes a term for its group, of all cells that this has. */
static void add_tallied(struct compiler *c, struct phase *p,
                        const struct family *f)
{
    const struct tallied *k = f->tally->sums;
    symp cells = sym_num(c, 1);
    while (k->family != f)
        k = k->next;
    for (int i = 0; i < f->nloops; i++)
        if (!sym_has_loop(k->group, f->loops[i]))
            cells =
                sym_mul2(c, cells,
                         sym_length(c, f->loops[i]->lower, f->loops[i]->upper));
    p->kind = PHASE_SUM;
    p->what = "rows by group";
    p->keyed = &f->tally->rows;
    phase_computes(c, p, f->tally->rows.key);
    phase_computes_each(c, p, k->term, cells);
}

static void add_definition_phase(struct compiler *c, struct step *s,
                                 struct family *f)
{
    struct phase *p = sweep_add_phase(
        c, s, f->recursive ? PHASE_SCAN : PHASE_MAP, "recomputes");
    p->rows = f;
    phase_writes(c, p, f);
    if (f->tally)
        add_tallied(c, p, f);
    else
        phase_computes_each(c, p, f->body,
                            f->whole_call ? sym_num(c, 1) : slice_cells(c, f));
}

/* Of a sequence, all that is recomputed in turn. */
static void add_recomputed_phase(struct compiler *c, struct step *s,
                                 struct family *f)
{
    const struct sequence *q = f->sequence;
    for (int i = 0; q && i < q->n; i++)
        add_definition_phase(c, s, q->families[i]);
    if (!q)
        add_definition_phase(c, s, f);
}

#ifdef GBM_DEBUG
static void check_read(const struct step *s, symp e)
{
    const enum role role = e->kind == SYM_REF ? e->var->role : ROLE_GIVEN;
    if (role != ROLE_GIVEN && role != ROLE_CONSTANT &&
        !condition_has_variable(s->turn.reads, e->var) &&
        !condition_has_variable(s->turn.changes, e->var))
        UNREACHABLE();
    for (int i = 0; i < e->nargs; i++)
        check_read(s, e->args[i]);
}
#endif

/* What its phases read, depend.c knows that the step reads. */
static void check_phases(const struct step *s)
{
    (void)s;
#ifdef GBM_DEBUG
    for (const struct phase *p = s->phases; p; p = p->next)
        for (int i = 0; i < p->nreads; i++)
            check_read(s, p->reads[i]);
#endif
}

/* What depends on a value through stored nodes is recomputed to try it. */
static void say_recomputed(struct compiler *c, struct step *s)
{
    for (struct phase *p = s->phases; s->through && p; p = p->next)
        if (s->sampler->trials && p->rows && !p->tried)
            say_tried(c, s, p);
}

static void finish_phase(struct compiler *c, const struct step *s,
                         struct phase *p)
{
    if (!p->tried && (p->kind == PHASE_SEARCH || p->trial))
        say_tried(c, s, p);
    if (p->random && !p->drawn)
        say_drawn(c, s, p);
}

void sweep_form_phases(struct compiler *c, struct model *m)
{
    for (struct step *s = m->steps; s; s = s->next) {
        if (s->turn.inverse) {
            sweep_add_phase(c, s, PHASE_INDEX,
                            "sorts instances by the cell they hit");
            phase_computes(c, s->phases, s->turn.inverse->reference);
            s->phases->rows = s->turn.inverse->factor->family;
        } else if (!s->sampler) {
            add_recomputed_phase(c, s, s->family);
        } else if (s->sampler->phases) {
            s->sampler->phases(c, s);
        } else {
            sweep_add_usual_phases(c, s);
        }
        for (struct family *f = m->families; f; f = f->next)
            if (sweep_recomputes(s, f))
                add_recomputed_phase(c, s, f);
        say_recomputed(c, s);
        for (struct phase *p = s->phases; p; p = p->next)
            finish_phase(c, s, p);
        sweep_count_work(c, s);
        check_phases(s);
    }
}

const char *phase_word(const struct phase *p)
{
    static const char *const words[] = {
        [PHASE_MAP] = "map",       [PHASE_SUM] = "sum",
        [PHASE_SCAN] = "scan",     [PHASE_SOLVE] = "solve",
        [PHASE_SEARCH] = "search", [PHASE_INDEX] = "index"};
    return words[p->kind];
}

const char *sweep_first_draw(const struct step *s)
{
    for (const struct phase *p = s->phases; p; p = p->next)
        if (p->draw)
            return p->draw;
    return "none";
}
