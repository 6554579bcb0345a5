/* ends.c: the ends between which a number is tried or drawn: those of its own
 * support, and what the supports of its children leave of it. */
#include "emit/emit.h"

/* Where counts settle it, values may stand at it: then it is rounded alike in
 * all functions, whatever a C compiler makes of products in each. */
const char *emit_limit(struct emitter *e, symp limit)
{
    const bool outer = e->rounded;
    e->rounded = model_counts_settle(limit);
    const char *text = emit_in_brackets(e, limit);
    e->rounded = outer;
    return text;
}

/* Of counts: the density of a child compares its value with an expression of
 * x, and an end is that turned round, which rounds otherwise: of y < 3.3 - x
 * with y = 0.3 it is 3, where 0.3 < 0.3 - 4e-17 is false. Near the end it is
 * the density that says which numbers are inside. */
static const char *emit_whole_bound(struct emitter *e, const struct bound *b)
{
    const char *near = emit_name(e, "near"), *end = emit_name(e, "end");
    const int nshared = e->nshared;
    emit_line(e, "const real %s = real_round(%s);", near,
              emit_expr(e, b->value));
    emit_remember(e, b->target, near);
    if (b->part->reference)
        emit_remember(e, b->part->reference, near);
    emit_line(e, "const real %s = %s %s %s ? %s : %s %s 1;", end,
              emit_in_brackets(e, b->compared),
              b->limit_is_lower ? ">=" : "<=", emit_limit(e, b->limit), near,
              near, b->is_lower ? "+" : "-");
    e->nshared = nshared;
    return end;
}

const char *emit_bound(struct emitter *e, const struct family *f,
                       const struct bound *b)
{
    if (b->limit && model_draws_integers(f) && !model_is_whole(b->value))
        return emit_whole_bound(e, b);
    return emit_in_brackets(e, b->value);
}

void emit_step_ends(struct emitter *e, const struct step *s)
{
    const char *low =
        s->support.lower ? emit_expr(e, s->support.lower) : "-GBM_INF";
    emit_line(e, "gbm_total lower = %s;", low);
    const char *high =
        s->support.upper ? emit_expr(e, s->support.upper) : "GBM_INF";
    emit_line(e, "gbm_total upper = %s;", high);
    for (const struct bound *b = s->support.bounds; b; b = b->next) {
        int depth = e->nloops;
        bool team = e->team;
        int braces = emit_open_part(e, b->part, true);
        const char *value = emit_bound(e, s->family, b);
        emit_line(e, "if (%s %s %s)", value, b->is_lower ? ">" : "<",
                  b->is_lower ? "lower" : "upper");
        emit_line(e, "    %s = %s;", b->is_lower ? "lower" : "upper", value);
        emit_close(e, braces);
        e->team = team;
        e->nloops = depth;
        if (condition_part_shared_out(b->part))
            emit_line(e, "%s = gbm_team_%s(team, %s);",
                      b->is_lower ? "lower" : "upper",
                      b->is_lower ? "max" : "min",
                      b->is_lower ? "lower" : "upper");
    }
}

/* Whether an end of the node's own support may lie between whole numbers. */
static bool is_between(const struct step *s, symp end)
{
    return model_draws_integers(s->family) && end && !model_is_whole(end);
}

void emit_keep_ends(struct emitter *e, const struct step *s)
{
    emit_line(e, "k_->lower = %s;",
              is_between(s, s->support.lower) ? "real_ceil((real)lower)"
                                              : "(real)lower");
    emit_line(e, "k_->upper = %s;",
              is_between(s, s->support.upper) ? "real_floor((real)upper)"
                                              : "(real)upper");
}
