/* saturated.c: a count whose terms are infinite. Where a probability rounds to
 * 1, log(p) - log(1 - p) of a node's own prior is +inf and log(1 - p) of a node
 * that it is the size of is -inf: the coefficients of x say nothing together,
 * nor does x - x' times one, though x log(p) + (n - x) log(1 - p) is 0 at x =
 * n. There the densities are evaluated as the model has them. */
#include "emit/emit.h"
#include <string.h>

/* A logarithm, of what may be 0. */
static bool is_log_of_zero(symp x, const void *context)
{
    (void)context;
    return x->kind == SYM_CALL &&
           (!strcmp(x->name, "log") || !strcmp(x->name, "log1mexp")) &&
           sym_has_cells(x) && !sym_positive(x->args[0]);
}

static bool may_be_infinite(symp coefficient)
{
    return sym_may_be_infinite(coefficient) ||
           sym_any(coefficient, is_log_of_zero, NULL);
}

/* Whether collected terms may be infinite with either sign. One alone is told
 * by gbm_log_odds what to be at the bounds. */
static bool may_saturate(const struct step *s)
{
    int infinite = 0;
    if (!model_draws_integers(s->family))
        return false;
    for (const struct part *p = s->parts; p; p = p->next) {
        if (p->opaque)
            continue;
        /* the host does not list the rows of a table */
        if (p->summed && p->summed->tallied)
            return false;
        for (int i = 0; i < p->terms.n; i++)
            infinite += may_be_infinite(p->terms.coefficient[i]);
    }
    return infinite > 1;
}

static bool counts_in(const struct step *s, symp statistic)
{
    for (const struct part *p = s->parts; p; p = p->next)
        for (int i = 0; i < p->terms.n && !p->opaque; i++)
            if (sym_same(p->terms.statistic[i], statistic) &&
                may_be_infinite(p->terms.coefficient[i]))
                return true;
    return false;
}

static void put_there(struct emitter *e, const struct step *s)
{
    emit_line(e, "gbm_team_sync(team);");
    emit_line(e, "%s = (int)x;", emit_target(e, s->family));
    emit_line(e, "gbm_team_sync(team);");
}

bool emit_saturated(struct emitter *e, const struct step *s)
{
    const bool team = e->team;
    struct text sum = {0};
    if (!may_saturate(s))
        return false;
    for (int i = 0; i < s->law.n; i++)
        if (counts_in(s, s->law.statistics[i]))
            text_printf(&sum, "%sk_->c%d", sum.data ? " + " : "", i + 1);
    emit_line(e, "if (!gbm_is_finite(%s)) {", sum.data);
    text_free(&sum);
    e->indent++;
    emit_cell_if_needed(e, s);
    put_there(e, s);
    e->team = true;
    for (const struct part *p = s->parts; p; p = p->next)
        if (!p->opaque && p->terms.n > 0)
            emit_in_place(e, p);
    e->team = team;
    e->indent--;
    emit_line(e, "} else {");
    e->indent++;
    return true;
}

bool emit_saturated_rows(struct emitter *e, const struct step *s,
                         const struct part *p, int number)
{
    if (!model_draws_integers(s->family) || !p->hoisted->slope ||
        !may_be_infinite(p->hoisted->slope))
        return false;
    emit_line(e, "if (!gbm_is_finite(k_->slope%d)) {", number);
    e->indent++;
    emit_cell_if_needed(e, s);
    put_there(e, s);
    emit_in_place(e, p);
    e->indent--;
    emit_line(e, "} else {");
    e->indent++;
    return true;
}
