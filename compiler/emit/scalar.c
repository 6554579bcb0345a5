/* scalar.c: the full conditional of one number: the sums that it is made of,
 * its log density at a value, and the update that draws from it in the way of
 * the step's sampler. */
#include "emit/emit.h"
#include <string.h>

/* struct theta_conditional: what the conditional of one element needs. */
static void emit_struct(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const char *id = family_id(c, s->family);
    text_printf(out,
                "struct conditional_%s {\n"
                "    const struct state *s;\n"
                "    const struct gbm_team *team;\n"
                "    long long element;\n",
                id);
    for (int i = 0; i < s->family->nloops; i++)
        text_printf(out, "    int loop%d; /* %s */\n", i,
                    s->family->loops[i]->name);
    for (int i = 0; i < s->law.n; i++)
        text_printf(out, "    real c%d; /* coefficient of %s */\n", i + 1,
                    sym_text(c, s->law.statistics[i]));
    for (int i = 0; i < s->law.n; i++)
        if (s->law.anchored[i])
            text_printf(out,
                        "    real from%d; /* c%d is for exp(... - this) */\n",
                        i + 1, i + 1);
    text_append(out, "    real lower, upper;\n");
    emit_hoisted_members(c, out, s);
    text_append(out, "};\n\n");
}

void emit_scalar_comment(struct compiler *c, struct text *out,
                         const struct step *s, const char *how)
{
    const struct family *f = s->family;
    text_printf(out, "/* %s    %s\n%s", f->text,
                text_place_in_comment(c, f->span), how);
    for (const struct part *p = s->parts; p; p = p->next)
        if (!p->own)
            text_printf(out, " * child: %s\n", p->factor->text);
    text_append(out, " */\n");
}

static int statistic_index(const struct step *s, symp statistic)
{
    for (int i = 0; i < s->law.n; i++)
        if (sym_same(s->law.statistics[i], statistic))
            return i;
    return -1;
}

/* Sums computed at load that may cancel: by_rows says whether too few digits
 * are left of one of them, or rows are not observed. */
static void emit_checked_sums(struct emitter *e, const struct part *p,
                              int number)
{
    const struct part *sum = p->summed;
    const char *by_rows = intern_format(e->c, "by_rows%d", number);
    emit_line(e, "int %s = s->%s_stride != 0;", by_rows,
              p->factor->seen_var->cname);
    if (sum->needs)
        emit_line(e, "%s |= !(%s);", by_rows, emit_expr(e, sum->needs));
    for (int i = 0; i < sum->terms.n; i++)
        emit_line(e, "real kept%d_%d = 0;", number, i + 1);
    emit_line(e, "if (!%s) {", by_rows);
    e->indent++;
    for (int i = 0; i < sum->terms.n; i++) {
        emit_line(e, "kept%d_%d = %s;", number, i + 1,
                  emit_expr(e, sum->terms.coefficient[i]));
        if (sum->sizes[i])
            emit_line(e, "%s |= gbm_cancelled(kept%d_%d, %s);", by_rows, number,
                      i + 1, emit_expr(e, sum->sizes[i]));
    }
    emit_close(e, 1);
}

static void emit_kept_sums(struct emitter *e, const struct step *s,
                           const struct part *p, int number)
{
    emit_line(e, "if (!by_rows%d) {", number);
    for (int i = 0; i < p->terms.n; i++)
        emit_line(e, "    c%d += kept%d_%d;",
                  statistic_index(s, p->terms.statistic[i]) + 1, number, i + 1);
    emit_line(e, "}");
}

/* The part's number among the step's. */
static int part_number(const struct step *s, const struct part *p)
{
    int n = 1;
    for (const struct part *q = s->parts; q && q != p; q = q->next)
        n++;
    return n;
}

static void emit_sums_of_rows(struct emitter *e, const struct step *s,
                              const struct part *p)
{
    const bool team = e->team;
    const int depth = e->nloops, nshared = e->nshared;
    e->clamped = s->sampler->enumerates; /* of log(p) - log(1 - p) */
    e->in_rows = p->terms.coefficient;
    e->nin_rows = p->terms.n;
    const int braces = emit_open_part(e, p, true);
    e->nin_rows = 0;
    e->shares = true;
    for (int i = 0; i < p->terms.n; i++) {
        int k = statistic_index(s, p->terms.statistic[i]);
        const char *value = emit_expr(e, p->terms.coefficient[i]);
        emit_line(e, "c%d += %s;", k + 1, value);
    }
    e->shares = false;
    e->clamped = false;
    e->team = team;
    emit_close(e, braces);
    e->nloops = depth;
    e->nshared = nshared;
}

static void emit_sums_of_part(struct emitter *e, const struct step *s,
                              const struct part *p)
{
    if (p->opaque || p->terms.n == 0)
        return;
    int depth = e->nloops, nshared = e->nshared, braces = 0;
    if (p->summed && p->summed->sizes) {
        const int number = part_number(s, p);
        emit_checked_sums(e, p, number);
        emit_line(e, "if (by_rows%d) {", number);
        e->indent++;
        braces = 1;
    } else {
        braces = emit_unless_summed(e, p->summed ? p : NULL);
    }
    for (int i = 0; i < p->terms.n && condition_part_shared_out(p); i++)
        emit_shared(e, p->terms.coefficient[i]);
    if (emit_open_all_seen(e, p, p->terms.coefficient, p->terms.n)) {
        emit_sums_of_rows(e, s, p);
        emit_open_not_all_seen(e);
        braces++;
    }
    emit_sums_of_rows(e, s, p);
    emit_close(e, braces);
    e->nloops = depth;
    e->nshared = nshared;
}

/* The coefficients' sums: what lanes share comes first, and is added up. */
static void emit_all_sums(struct emitter *e, const struct step *s)
{
    bool any_shared = false;
    if (s->law.n) {
        struct text t = {0};
        for (int i = 0; i < s->law.n; i++)
            text_printf(&t, "%sc%d = 0", i ? ", " : "", i + 1);
        emit_line(e, "gbm_total %s;", t.data);
        text_free(&t);
    }
    for (const struct part *p = s->parts; p; p = p->next)
        if (condition_part_shared_out(p)) {
            emit_sums_of_part(e, s, p);
            any_shared = any_shared || (!p->opaque && p->terms.n > 0);
        }
    for (int i = 0; any_shared && i < s->law.n; i++)
        emit_line(e, "c%d = gbm_team_sum(team, c%d);", i + 1, i + 1);
    for (const struct part *p = s->parts; p; p = p->next)
        if (!condition_part_shared_out(p))
            emit_sums_of_part(e, s, p);
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->summed && p->summed->sizes) {
            emit_kept_sums(e, s, p, part_number(s, p));
        } else if (p->summed) {
            int braces = emit_if_summed(e, p);
            emit_sums_of_part(e, s, p->summed);
            emit_close(e, braces);
        }
}

/* With a predictor, predicted_: its value is an argument. Returns whether lanes
 * have loops to share. */
static bool emit_prepare(struct compiler *c, struct text *out,
                         const struct step *s, symp predictor)
{
    const struct family *f = s->family;
    const char *id = family_id(c, f);
    struct emitter e = emitter_new(c, out);
    e.team = true;
    text_printf(out,
                "GBM_FN void %s_%s(struct conditional_%s *k_,\n"
                "    const struct state *s, const struct gbm_team *team,\n"
                "    long long element%s)\n{\n",
                predictor ? "predicted" : "prepare", id, id,
                predictor ? ", real predictor_" : "");
    if (predictor)
        emit_remember(&e, predictor, "predictor_");
    if (f->nloops)
        emit_decode(&e, f, "element");
    emit_cell_if_needed(&e, s);
    emit_all_sums(&e, s);
    emit_step_ends(&e, s);
    emit_line(&e, "k_->s = s;");
    emit_line(&e, "k_->team = team;");
    emit_line(&e, "k_->element = element;");
    for (int i = 0; i < f->nloops; i++)
        emit_line(&e, "k_->loop%d = %s;", i,
                  emit_expr(&e, sym_loop(c, f->loops[i])));
    for (int i = 0; i < s->law.n; i++)
        emit_line(&e, "k_->c%d = (real)c%d;", i + 1, i + 1);
    for (int i = 0; i < s->law.n; i++)
        if (s->law.anchored[i])
            emit_line(&e, "k_->from%d = %s;", i + 1,
                      emit_expr(&e, s->law.anchored[i]));
    emit_keep_ends(&e, s);
    emit_hoisted_fill(&e, s, emit_target(&e, f));
    text_append(out, "}\n\n");
    return e.shared_out;
}

/* Parts that the host evaluates from hoisted values are evaluated in place by
 * the device, unless it has kept these. */
static void emit_opaque_parts(struct emitter *e, const struct step *s)
{
    const struct family *f = s->family;
    bool in_place = emit_step_evaluates_in_place(s), hoisted = false;
    for (const struct part *p = s->parts; p; p = p->next)
        hoisted = hoisted || p->hoisted;
    if (!s->opaque)
        return;
    if (emit_device_keeps(s)) {
        emit_line(e, "if (GBM_KEPT(k_)) {");
        e->indent++;
        emit_hoisted_sums(e, s);
        emit_line(e, "return (real)total;");
        emit_close(e, 1);
        emit_line(e, "#ifdef __CUDACC__");
    } else if (hoisted) {
        emit_line(e, "#ifndef __CUDACC__");
        emit_hoisted_sums(e, s);
        emit_line(e, "#endif");
        if (!in_place)
            emit_line(e, "#ifdef __CUDACC__");
    }
    emit_cell_if_needed(e, s);
    const char *cell = emit_target(e, f);
    emit_line(e, "gbm_team_sync(team);");
    emit_line(e, "%s = %s;", cell, f->var->integer ? "(int)x" : "x");
    emit_line(e, "gbm_team_sync(team);");
    if (s->through)
        emit_recompute(e, s, f->var);
    e->team = true;
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->opaque && !p->hoisted)
            emit_in_place_or_recalled(e, s, p);
    if (!hoisted)
        return;
    if (in_place)
        emit_line(e, "#ifdef __CUDACC__");
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->hoisted)
            emit_in_place(e, p);
    emit_line(e, "#endif");
}

/* Whether e is finite wherever the target is: a polynomial in it. */
static bool stays_finite(symp e)
{
    if (e->kind == SYM_CALL)
        return !sym_has_target(e);
    if (e->kind == SYM_POW && sym_has_target(e))
        return e->args[1]->kind == SYM_NUM && e->args[1]->number >= 1 &&
               stays_finite(e->args[0]);
    for (int i = 0; i < e->nargs; i++)
        if (!stays_finite(e->args[i]))
            return false;
    return true;
}

/* Statistic i at x. */
static const char *emit_statistic(struct emitter *e, const struct step *s,
                                  int i)
{
    symp t = sweep_statistic_tried(s, i);
    if (!s->law.anchored[i])
        return emit_expr(e, t);
    return intern_format(e->c, "real_exp(%s - k_->from%d)",
                         emit_expr(e, t->args[0]), i + 1);
}

/* The collected terms at x. */
static void emit_terms(struct emitter *e, const struct step *s)
{
    for (int i = 0; i < s->law.n; i++) {
        symp t = sweep_statistic_tried(s, i);
        /* without an instance it may read beyond an array: x[t + 1] at the end;
         * and what overflows is no term of a density that has none: exp(x) */
        bool log = t->kind == SYM_CALL && !strcmp(t->name, "log");
        bool guarded = sym_has_cells(t) || (!log && !stays_finite(t));
        if (guarded) {
            emit_line(e, "if (k_->c%d != 0) {", i + 1);
            e->indent++;
        }
        if (log) {
            const char *inner = emit_expr(e, t->args[0]);
            emit_line(e, "total += gbm_xlogy(k_->c%d, %s);", i + 1, inner);
        } else {
            const char *value = emit_statistic(e, s, i);
            /* one branch may be log(0) where the coefficient is 0, or the
             * coefficient log(0) where the value is 0 */
            if (t->kind == SYM_SELECT)
                emit_line(e, "total += gbm_times(k_->c%d, %s);", i + 1, value);
            else if (model_draws_integers(s->family) && t->kind == SYM_TARGET)
                emit_line(e,
                          "total += gbm_log_odds(k_->c%d, %s, k_->lower, "
                          "k_->upper);",
                          i + 1, value);
            else if (s->sampler->enumerates)
                emit_line(e, "total += gbm_times(%s, k_->c%d);", value, i + 1);
            else
                emit_line(e, "total += k_->c%d * (%s);", i + 1, value);
        }
        if (guarded) {
            e->indent--;
            emit_line(e, "}");
        }
    }
}

/* Log density of the full conditional at x, up to a constant. */
void emit_density(struct compiler *c, struct text *out, const struct step *s)
{
    const struct family *f = s->family;
    const char *id = family_id(c, f);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_INLINE real density_%s(const void *context, real x)\n"
                "{\n"
                "    const struct conditional_%s *k_ = (const struct "
                "conditional_%s *)context;\n"
                "    const struct state *s = k_->s;\n"
                "    const struct gbm_team *team = k_->team;\n",
                id, id, id);
    for (int i = 0; i < f->nloops; i++) {
        const char *name = emit_loop_name(&e, f->loops[i]);
        emit_line(&e, "const int %s = k_->loop%d;", name, i);
    }
    emit_line(&e, "gbm_total total = 0;");
    const int braces = emit_saturated(&e, s) ? 1 : 0;
    emit_terms(&e, s);
    emit_close(&e, braces);
    emit_opaque_parts(&e, s);
    text_append(out, "    return (real)total;\n}\n\n");
}

void emit_store(struct emitter *e, const struct step *s, const char *value)
{
    const struct family *f = s->family;
    emit_line(e, "gbm_team_sync(team);");
    emit_line(e, "%s = %s%s;", emit_target(e, f),
              f->var->integer ? "(int)" : "", value);
}

/* The slice's width, kept in units of what the model asked for. Returns how to
 * store it. */
const char *emit_width(struct emitter *e, const struct step *s)
{
    const char *width = s->slots->member;
    if (s->asked.width <= 0) {
        emit_line(e, "real width = s->%s[element];", width);
        return "";
    }
    const char *unit = emit_expr(e, sym_num(e->c, s->asked.width));
    emit_line(e, "real width = %s * s->%s[element];", unit, width);
    return intern_format(e->c, " / %s", unit);
}

void emit_store_width(struct emitter *e, const struct step *s, const char *unit)
{
    emit_line(e, "gbm_team_sync(team);");
    emit_line(e, "s->%s[element] = width%s;", s->slots->member, unit);
}

/* What an observed sum holds fast moves in pairs: pair.c. */
static void emit_ties(struct emitter *e, const struct step *s)
{
    bool inverse = false;
    for (const struct part *p = s->order.ties; p; p = p->next)
        inverse = inverse || p->inverse;
    if (inverse)
        emit_line(e, "const long long cell_ = %s;",
                  emit_cell(e, s->family->var, s->family->lower));
    for (const struct part *p = s->order.ties; p; p = p->next) {
        int depth = e->nloops;
        emit_line(e, "{");
        e->indent++;
        int braces = emit_open_part(e, p, false);
        emit_line(e, "return;");
        emit_close(e, braces + 1);
        e->nloops = depth;
    }
}

bool emit_conditional(struct compiler *c, struct text *out,
                      const struct step *s)
{
    emit_struct(c, out, s);
    emit_hoisted_room(c, out, s);
    return emit_prepare(c, out, s, NULL);
}

void emit_predicted(struct compiler *c, struct text *out, const struct step *s,
                    symp predictor)
{
    emit_prepare(c, out, s, predictor);
}

void emit_scalar(struct compiler *c, struct text *out, struct step *s,
                 const char *how)
{
    emit_scalar_comment(c, out, s, how);
    emit_conditional(c, out, s);
    emit_recalled(c, out, s);
    emit_density(c, out, s);
    emit_scalar_update(c, out, s);
}

/* Behind a draw: it goes back to before_ if a term that was too small to count
 * counts where it is. */
static void emit_return(struct emitter *e, const struct step *s)
{
    const struct law *l = &s->law;
    struct text any = {0}, counts = {0};
    for (int i = 0; i < l->n; i++) {
        if (!l->fades[i])
            continue;
        emit_line(e, "const bool faded%d = gbm_faded(k_.c%d, %s - k_.from%d);",
                  i + 1, i + 1, emit_expr(e, l->anchored[i]), i + 1);
        text_printf(&any, "%sfaded%d", any.data ? " || " : "", i + 1);
        text_printf(&counts,
                    "%s(faded%d && !(real_fabs(k_.c%d) < REAL_C(1e-12)))",
                    counts.data ? " || " : "", i + 1, i + 1);
    }
    emit_line(e, "if (%s) {", any.data);
    emit_line(e, "    gbm_team_sync(team);");
    emit_line(e, "    prepare_%s(&k_, s, team, element);",
              family_id(e->c, s->family));
    emit_line(e, "    if (%s) {", counts.data);
    e->indent += 2;
    emit_store(e, s, "before_");
    emit_close(e, 2);
    text_free(&any);
    text_free(&counts);
}

static bool may_return(const struct step *s)
{
    for (int i = 0; i < s->law.n; i++)
        if (s->law.fades[i])
            return true;
    return false;
}

void emit_scalar_update(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const struct family *f = s->family;
    const char *id = family_id(c, f);
    struct emitter e = emitter_new(c, out);
    emit_open_update(out, s);
    if (f->nloops)
        emit_decode(&e, f, "element");
    emit_ties(&e, s);
    emit_line(&e, "struct conditional_%s k_;", id);
    if (emit_step_has_columns(s))
        emit_line(&e, "%s(k_, room_%s(&k_, s, element));",
                  emit_device_keeps(s) ? "GBM_KEPT_COLUMNS" : "GBM_COLUMNS",
                  id);
    emit_line(&e, "prepare_%s(&k_, s, team, element);", id);
    if (may_return(s))
        emit_line(&e, "const real before_ = %s;", emit_target(&e, f));
    s->sampler->draw(&e, s);
    if (may_return(s))
        emit_return(&e, s);
    if (emit_step_has_columns(s))
        emit_line(&e, "GBM_COLUMNS_END(k_);");
    if (s->through) {
        emit_line(&e, "gbm_team_sync(team);");
        emit_recompute(&e, s, f->var);
    }
    if (s->sampler->behind)
        s->sampler->behind(&e, s);
    text_append(out, "}\n\n");
}

/* ---- for the self-check ---- */

/* integrated_: what was integrated out of the conditional, at the state as it
 * is: both together are the joint density's. nodes_out_: the families of what
 * was, whose full conditional it is. */
static void emit_integrated(struct compiler *c, struct text *out,
                            const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    const char *id = family_id(c, s->family);
    text_printf(out, "static const int nodes_out_%s[] = {", id);
    for (const struct part *p = s->integrated; p; p = p->next)
        if (condition_is_full(p))
            text_printf(out, "%d, ", p->out->number);
    text_printf(out,
                "-1};\nstatic double integrated_%s(const void *state, int64_t "
                "element)\n{\n    const struct state *s = (const struct state "
                "*)state;\n    const struct gbm_team *team = &gbm_alone;\n",
                id);
    if (s->family->nloops)
        emit_decode(&e, s->family, "element");
    emit_cell_if_needed(&e, s);
    emit_line(&e, "gbm_total total = 0;");
    for (const struct part *p = s->integrated; p; p = p->next)
        emit_in_place(&e, p);
    emit_line(&e, "return (double)total;");
    text_append(out, "}\n");
}

/* get_ and set_ of an element. */
static void emit_access(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const struct family *f = s->family;
    const char *id = family_id(c, f);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "static void get_%s_cell(const struct state *s, int64_t "
                "element, real **cell_, int **count_)\n{\n",
                id);
    if (f->nloops)
        emit_decode(&e, f, "element");
    symp ref = sym_ref(c, f->var, f->var->ndim, f->lower);
    emit_line(&e, "*%s = &%s;", f->var->integer ? "count_" : "cell_",
              emit_expr(&e, ref));
    text_append(out, "}\n");
    text_printf(out,
                "static void get_%s(const void *state, int64_t element, "
                "double *x)\n{\n    real *cell = 0;\n    int *count = 0;\n"
                "    get_%s_cell((const struct state *)state, element, &cell, "
                "&count);\n    *x = cell ? (double)*cell : *count;\n}\n"
                "static void set_%s(const void *state, int64_t element, const "
                "double *x)\n{\n    real *cell = 0;\n    int *count = 0;\n"
                "    get_%s_cell((const struct state *)state, element, &cell, "
                "&count);\n    if (cell)\n        *cell = (real)*x;\n    else\n"
                "        *count = (int)*x;\n}\n",
                id, id, id, id);
}

/* Its log density, as the full conditional has it. */
static void emit_conditional_at(struct text *out, const struct step *s,
                                const char *id)
{
    text_printf(out,
                "static double conditional_%s_at(const void *state, int64_t "
                "element, const double *x)\n{\n    const struct state *s = "
                "(const struct state *)state;\n    struct conditional_%s k_;\n"
                "    double before, value = -GBM_INF;\n",
                id, id);
    if (emit_step_has_columns(s))
        text_printf(out, "    GBM_COLUMNS(k_, room_%s(&k_, s, element));\n",
                    id);
    /* the sums about x tell most of it; what is evaluated in place may be
     * relative to where x was */
    if (may_return(s) && !s->opaque)
        text_printf(out,
                    "    get_%s(state, element, &before);\n"
                    "    set_%s(state, element, x);\n"
                    "    prepare_%s(&k_, s, &gbm_alone, element);\n    ",
                    id, id, id);
    else
        text_printf(out,
                    "    prepare_%s(&k_, s, &gbm_alone, element);\n    "
                    "get_%s(state, element, &before);\n    ",
                    id, id);
    text_printf(out,
                "if (*x >= k_.lower && *x <= k_.upper)\n        "
                "value = (double)density_%s(&k_, (real)*x);\n    ",
                id);
    if (s->integrated)
        text_printf(out,
                    "set_%s(state, element, x);\n    value += "
                    "integrated_%s(state, element);\n    ",
                    id, id);
    text_printf(out, "set_%s(state, element, &before);\n", id);
    if (emit_step_has_columns(s))
        text_append(out, "    GBM_COLUMNS_END(k_);\n");
    text_append(out, "    return value;\n}\n\n");
}

void emit_scalar_checks(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const char *id = family_id(c, s->family);
    text_printf(out,
                "static int dimension_%s(const void *state, int64_t element)\n"
                "{\n    return 1;\n}\n",
                id);
    if (s->integrated)
        emit_integrated(c, out, s);
    emit_access(c, out, s);
    emit_conditional_at(out, s, id);
}
