/* hoisted.c: the hoisted values of in-place parts (hoist.c): members of the
 * conditional's struct, columns of all instances, the flat loop over them. On
 * the device each lane keeps those of its own instances, if all are few
 * (GBM_KEPT_CELLS, skeleton.h); else it evaluates in place. */
#include "emit/emit.h"

static int number_of(const struct step *s, const struct part *part)
{
    int n = 1;
    for (const struct part *p = s->parts; p != part; p = p->next)
        n++;
    return n;
}

static int columns_of(const struct part *p)
{
    int n = 0;
    for (int i = 0; i < p->hoisted->n; i++)
        n += p->hoisted->column[i];
    return n + (p->copies != NULL);
}

static int columns_of_all(const struct step *s)
{
    int n = 0;
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->hoisted && p->hoisted->loop)
            n += columns_of(p);
    return n;
}

/* Whether instances are evaluated in blocks of GBM_BLOCK_ROWS, all by the
 * vector unit. A loop without blocks leaves up to GBM_BLOCK_ROWS - 1 instances
 * to scalar code; where their terms are cheap that costs less than what a block
 * evaluates and drops. */
static bool in_blocks(const struct hoisted *h)
{
    return h->loop && emit_only_vectors(h->body) &&
           sym_any(h->body, emit_is_expensive, NULL);
}

static bool any_hoisted(const struct step *s)
{
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->hoisted)
            return true;
    return false;
}

bool emit_step_has_columns(const struct step *s)
{
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->hoisted && p->hoisted->loop)
            return true;
    return false;
}

bool emit_step_evaluates_in_place(const struct step *s)
{
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->opaque && !p->hoisted)
            return true;
    return false;
}

/* A trial value of a whole number may have to be stored (saturated.c), as that
 * of a step with parts that are not hoisted. */
bool emit_device_keeps(const struct step *s)
{
    return any_hoisted(s) && !model_draws_integers(s->family) &&
           !emit_step_evaluates_in_place(s);
}

static void emit_columns_member(struct text *out, const struct step *s)
{
    const int columns = columns_of_all(s);
    text_append(out, "    real *columns;\n");
    if (!emit_device_keeps(s))
        return;
    text_append(out, "#ifdef __CUDACC__\n");
    if (columns)
        text_printf(out, "    enum { cells = GBM_KEPT_ROWS(%d) * %d };\n",
                    columns, columns);
    else
        text_append(out, "    enum { cells = 1 };\n");
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->hoisted && p->hoisted->loop)
            text_printf(out, "    enum { room%d = GBM_KEPT_ROWS(%d) };\n",
                        number_of(s, p), columns ? columns : 1);
    text_append(out, "#else\n");
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->hoisted && p->hoisted->loop)
            text_printf(out, "    long long room%d;\n", number_of(s, p));
    text_append(out, "#endif\n");
}

void emit_hoisted_members(struct compiler *c, struct text *out,
                          const struct step *s)
{
    const bool keeps = emit_device_keeps(s);
    if (!any_hoisted(s))
        return;
    if (!keeps)
        text_append(out, "#ifndef __CUDACC__\n");
    text_append(out, "    real before; /* the old value */\n");
    if (keeps)
        text_append(out, "    bool kept; /* what follows, by all lanes */\n");
    if (emit_step_has_columns(s))
        emit_columns_member(out, s);
    for (const struct part *p = s->parts; p; p = p->next) {
        const struct hoisted *h = p->hoisted;
        if (!h)
            continue;
        int n = number_of(s, p);
        if (h->loop && !keeps)
            text_printf(out, "    long long room%d;\n", n);
        text_printf(out, "    int rows%d;\n", n);
        if (h->slope)
            text_printf(out, "    real slope%d; /* %s */\n", n,
                        sym_text(c, h->slope));
        for (int i = 0; i < h->n; i++)
            if (!h->column[i])
                text_printf(out, "    real %s_%d; /* %s */\n", h->name[i], n,
                            sym_text(c, h->value[i]));
    }
    if (!keeps)
        text_append(out, "#endif\n");
}

/* room_theta: numbers of cells for the columns; returns their sum. */
void emit_hoisted_room(struct compiler *c, struct text *out,
                       const struct step *s)
{
    const struct family *f = s->family;
    const char *id = family_id(c, f);
    if (!emit_step_has_columns(s))
        return;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "#ifndef __CUDACC__\nGBM_FN long long room_%s(struct "
                "conditional_%s *k_,\n    const struct state *s, long long "
                "element)\n{\n    long long cells = 0;\n",
                id, id);
    if (f->nloops)
        emit_decode(&e, f, "element");
    emit_cell_if_needed(&e, s);
    for (const struct part *p = s->parts; p; p = p->next) {
        if (!p->hoisted || !p->hoisted->loop)
            continue;
        const char *count = intern_format(c, "k_->room%d", number_of(s, p));
        emit_line(&e, "%s = 0;", count);
        emit_count_part(&e, p, count);
        if (in_blocks(p->hoisted))
            emit_line(&e, "%s = gbm_whole_blocks(%s);", count, count);
        emit_line(&e, "cells += %s * %d;", count, columns_of(p));
    }
    text_append(out, "    return cells;\n}\n#endif\n\n");
}

static void fill_part(struct emitter *e, const struct part *p, int n,
                      const char *first)
{
    const struct hoisted *h = p->hoisted;
    const bool team = e->team;
    int depth = e->nloops, nshared = e->nshared, at = 0;
    emit_line(e, "k_->rows%d = 0;", n);
    if (h->slope)
        emit_line(e, "gbm_total slope = 0;");
    for (int i = 0; i < h->n; i++)
        if (!h->column[i] && h->loop) {
            /* free of the instance, but an instance may be needed to exist */
            emit_line(e, "k_->%s_%d = 0;", h->name[i], n);
        }
    for (int i = 0; i < h->n && h->loop; i++)
        emit_shared(e, h->value[i]);
    if (h->slope && h->loop)
        emit_shared(e, h->slope);
    e->in_rows = h->value;
    e->nin_rows = h->n;
    e->sums_in_rows = true;
    int braces = emit_open_part(e, p, team);
    e->nin_rows = 0;
    e->sums_in_rows = false;
    const char *copies;
    braces += emit_copies(e, p, &copies);
    if (h->loop && team)
        emit_line(e, "GBM_KEEP_ROW(k_, %d)", n);
    if (h->loop)
        emit_line(e, "real *const row = %s + k_->rows%d;", first, n);
    emit_repeated_calls(e, h->value, h->n);
    for (int i = 0; i < h->n; i++) {
        const char *value = emit_expr(e, h->value[i]);
        if (h->column[i])
            emit_line(e, "row[%d * k_->room%d] = (real)(%s);", at++, n, value);
        else if (h->loop)
            emit_line(
                e, "if (k_->rows%d == 0)\n            k_->%s_%d = (real)(%s);",
                n, h->name[i], n, value);
        else
            emit_line(e, "k_->%s_%d = (real)(%s);", h->name[i], n, value);
    }
    if (h->slope) {
        const char *slope =
            copies ? emit_in_brackets(e, h->slope) : emit_expr(e, h->slope);
        emit_line(e, "slope += %s%s%s;", copies ? copies : "",
                  copies ? " * " : "", slope);
    }
    if (copies)
        emit_line(e, "row[%d * k_->room%d] = %s;", at, n, copies);
    emit_line(e, "k_->rows%d++;", n);
    emit_close(e, braces);
    if (in_blocks(h))
        emit_line(e, "gbm_fill_block(%s, %d, k_->room%d, k_->rows%d);", first,
                  columns_of(p), n, n);
    if (h->slope)
        emit_line(e, "k_->slope%d = (real)slope;", n);
    e->team = team;
    e->nloops = depth;
    e->nshared = nshared;
}

void emit_hoisted_fill(struct emitter *e, const struct step *s,
                       const char *target)
{
    const bool keeps = emit_device_keeps(s);
    if (!any_hoisted(s))
        return;
    emit_line(e, keeps ? "#if GBM_KEEPS" : "#ifndef __CUDACC__");
    if (keeps)
        emit_line(e, "k_->kept = true;");
    emit_line(e, "k_->before = (real)%s;", target);
    const char *first = "k_->columns";
    bool team = e->team;
    e->team = keeps;
    for (const struct part *p = s->parts; p; p = p->next) {
        if (!p->hoisted)
            continue;
        int n = number_of(s, p);
        emit_line(e, "{");
        e->indent++;
        fill_part(e, p, n, first);
        e->indent--;
        emit_line(e, "}");
        if (p->hoisted->loop)
            first = intern_format(e->c, "%s + %d * k_->room%d", first,
                                  columns_of(p), n);
    }
    e->team = team;
    if (keeps && emit_step_has_columns(s))
        emit_line(e, "GBM_KEPT_BY_ALL(k_, team);");
    emit_line(e, "#endif");
}

const char *emit_hoisted_slope(struct compiler *c, const struct step *s,
                               const struct part *p)
{
    return intern_format(c, "slope%d", number_of(s, p));
}

static const char *term_of(struct emitter *e, const struct part *p, int n)
{
    if (!p->copies)
        return emit_expr(e, p->hoisted->body);
    return intern_format(e->c, "copies_%d[at] * %s", n,
                         emit_in_brackets(e, p->hoisted->body));
}

/* Adds the terms of all instances to the total. */
static void emit_rows(struct emitter *e, const struct part *p, int n)
{
    const struct hoisted *h = p->hoisted;
    if (in_blocks(h)) {
        emit_line(e, "const int rows = k_->rows%d;", n);
        emit_line(e, "gbm_total lanes[GBM_BLOCK_ROWS] = {0};");
        emit_line(e,
                  "for (int from = 0; from < rows; from += GBM_BLOCK_ROWS) {");
        e->indent++;
        emit_line(e, "GBM_SIMD");
        emit_line(e, "for (int lane = 0; lane < GBM_BLOCK_ROWS; lane++) {");
        e->indent++;
        emit_line(e, "const int at = from + lane;");
        const int nshared = e->nshared;
        e->of_rows = true;
        emit_calls_of_rows(e, h, &h->body, 1);
        emit_line(e, "const gbm_total term = %s;", term_of(e, p, n));
        e->of_rows = false;
        e->nshared = nshared;
        emit_line(e, "lanes[lane] += at < rows ? term : 0;");
        emit_close(e, 2);
        emit_line(e, "total += gbm_sum_lanes(lanes);");
        return;
    }
    emit_line(e, "gbm_total sum = 0;");
    if (h->loop) {
        emit_line(e, "const int rows = k_->rows%d;", n);
        emit_line(e, "GBM_SIMD_SUM(sum)");
        emit_line(e, "for (int at = 0; at < rows; at++) {");
    } else {
        emit_line(e, "if (k_->rows%d) {", n);
    }
    e->indent++;
    e->of_rows = h->loop;
    emit_line(e, "sum += %s;", term_of(e, p, n));
    e->of_rows = false;
    emit_close(e, 1);
    emit_line(e, "total += sum;");
}

/* The terms that are not linear in the target. */
static void emit_body(struct emitter *e, const struct part *p, int n,
                      const char *first)
{
    const struct hoisted *h = p->hoisted;
    const int nparams = e->nparams;
    int at = 0;
    emit_param(e, "moved", "moved_");
    emit_line(e, "{");
    e->indent++;
    for (int i = 0; i < h->n; i++) {
        const char *name = intern_format(e->c, "%s_%d", h->name[i], n);
        if (h->column[i]) {
            emit_line(e, "const real *const %s = %s + %d * k_->room%d;", name,
                      first, at++, n);
            emit_param(e, h->name[i], intern_format(e->c, "%s[at]", name));
        } else {
            emit_line(e, "const real %s = k_->%s;", name, name);
            emit_param(e, h->name[i], name);
        }
    }
    if (p->copies)
        emit_line(e, "const real *const copies_%d = %s + %d * k_->room%d;", n,
                  first, at, n);
    if (h->same) {
        emit_line(e, "if (k_->rows%d > 0)", n);
        emit_line(e, "    total += (gbm_total)k_->rows%d * %s;", n,
                  emit_in_brackets(e, h->same));
    }
    if (!sym_is(h->body, 0))
        emit_rows(e, p, n);
    emit_close(e, 1);
    e->nparams = nparams;
}

void emit_hoisted_sums(struct emitter *e, const struct step *s)
{
    struct compiler *c = e->c;
    const char *first = "k_->columns";
    bool moved = false;
    for (const struct part *p = s->parts; p; p = p->next)
        moved =
            moved || (p->hoisted && (p->hoisted->moved || p->hoisted->slope));
    if (moved)
        emit_line(e, "const real moved_ = x - k_->before;");
    for (const struct part *p = s->parts; p; p = p->next) {
        const struct hoisted *h = p->hoisted;
        if (!h)
            continue;
        const int n = number_of(s, p);
        const bool lanes = emit_device_keeps(s) && condition_part_shared_out(p);
        const int braces = emit_saturated_rows(e, s, p, n) ? 1 : 0;
        if (lanes)
            emit_line(e, "GBM_LANES_BEGIN(total)");
        if (h->slope)
            emit_line(e, "total += k_->slope%d * moved_;", n);
        if (!sym_is(h->body, 0) || h->same)
            emit_body(e, p, n, first);
        if (lanes)
            emit_line(e, "GBM_LANES_END(total, team)");
        emit_close(e, braces);
        if (h->loop)
            first = intern_format(c, "%s + %d * k_->room%d", first,
                                  columns_of(p), n);
    }
}
