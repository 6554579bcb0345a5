/* tilted.c: counts whose full conditional follows the state in one number. Of
 * N[i] ~ dpois(lambda[i]) with y[i,j] ~ dbin(p, N[i]) data settle the log
 * density up to a term that is linear in N[i], log(lambda[i]) + sum_j log(1 -
 * p): its tilt. So the runtime lists at load what data settle, and sums such
 * nodes out of moves of what tilts them (runtime/host/along_counts.c). */
#include "emit/emit.h"

/* Whether the state changes e itself; observed values do not change. */
static bool changes(symp e, const void *observed)
{
    return e->kind == SYM_PARAM || e->kind == SYM_SEEN || e->kind == SYM_LIVE ||
           sym_is_draw(e, NULL) ||
           (sym_is_latent(e, NULL) && e->var != observed);
}

static bool is_settled(symp e, const struct part *p)
{
    return !e || !sym_any(e, changes, p->factor->seen_var);
}

/* Whether the same instances count in each state. */
static bool has_settled_instances(const struct part *p)
{
    bool settled = is_settled(p->guard, p) && is_settled(p->factor->guard, p) &&
                   !p->ruled && !p->recalled &&
                   !(p->inverse && p->inverse->latent);
    for (int i = 0; i < p->nloops && settled; i++)
        settled = is_settled(p->solved[i], p) &&
                  is_settled(p->loops[i]->lower, p) &&
                  is_settled(p->loops[i]->upper, p);
    return settled;
}

static bool only_tilts(const struct part *p)
{
    if (!has_settled_instances(p) || (p->opaque && !p->hoisted))
        return false;
    if (p->opaque) {
        /* names of hoisted values are parameters of the body */
        const struct hoisted *h = p->hoisted;
        bool settled = !h->same && !h->moved;
        for (int i = 0; i < h->n && settled; i++)
            settled = is_settled(h->value[i], p);
        return settled && !sym_any(h->body, sym_is_latent, NULL);
    }
    for (int i = 0; i < p->terms.n; i++)
        if (p->terms.statistic[i]->kind != SYM_TARGET &&
            !(is_settled(p->terms.statistic[i], p) &&
              is_settled(p->terms.coefficient[i], p)))
            return false;
    return true;
}

static bool are_tilted(const struct step *s)
{
    const struct support *k = &s->support;
    if (!s->sampler->scalar || !model_draws_integers(s->family) ||
        s->sampler->enumerates || s->sampler->forward || s->asked.word ||
        s->through || s->integrated || s->order.sequential ||
        s->order.conflicts || s->order.ties ||
        (k->lower && sym_reads_latent(k->lower)) ||
        (k->upper && sym_reads_latent(k->upper)))
        return false;
    for (const struct bound *b = k->bounds; b; b = b->next)
        if (!has_settled_instances(b->part) || !is_settled(b->value, b->part))
            return false;
    for (const struct part *p = s->parts; p; p = p->next)
        if (!only_tilts(p))
            return false;
    return true;
}

static bool meet(const struct step *s, const struct step *t)
{
    for (const struct part *p = s->parts; p; p = p->next)
        for (const struct part *q = t->parts; q; q = q->next)
            if (p->factor->family == q->factor->family)
                return true;
    return false;
}

bool emit_tilts(const struct step *s)
{
    if (!are_tilted(s))
        return false;
    for (const struct step *t = s->model->steps; t != s; t = t->next)
        if (t->sampler && are_tilted(t) && meet(s, t))
            return false;
    return true;
}

/* A member of the conditional that is part of the tilt. */
static void take_out(struct text *out, const char *member)
{
    text_printf(out, "    tilt += k_.%s;\n    k_.%s = 0;\n", member, member);
}

void emit_tilt(struct compiler *c, struct text *out, const struct step *s)
{
    const char *id = family_id(c, s->family);
    text_printf(out,
                "static double tilt_%s(const void *state, int64_t element, "
                "const double *x, double *settled)\n"
                "{\n    const struct state *s = (const struct state *)state;\n"
                "    struct conditional_%s k_;\n    gbm_total tilt = 0;\n",
                id, id);
    if (emit_step_has_columns(s))
        text_printf(out, "    GBM_COLUMNS(k_, room_%s(&k_, s, element));\n",
                    id);
    text_printf(out, "    prepare_%s(&k_, s, &gbm_alone, element);\n", id);
    for (int i = 0; i < s->law.n; i++)
        if (s->law.statistics[i]->kind == SYM_TARGET)
            take_out(out, intern_format(c, "c%d", i + 1));
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->hoisted && p->hoisted->slope)
            take_out(out, emit_hoisted_slope(c, s, p));
    text_printf(out,
                "    if (x)\n        *settled = *x >= k_.lower && *x <= "
                "k_.upper ? (double)density_%s(&k_, (real)*x) : -GBM_INF;\n",
                id);
    if (emit_step_has_columns(s))
        text_append(out, "    GBM_COLUMNS_END(k_);\n");
    text_append(out, "    return (double)tilt;\n}\n\n");
}
