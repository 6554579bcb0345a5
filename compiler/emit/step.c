/* step.c: the function that updates one element of a step, and what it
 * stands on: the sums of its full conditional, its log density at a value. */
#include "emit/emit.h"
#include <ctype.h>
#include <string.h>

/* ---- loops ------------------------------------------------------------------
 */

static symp loop_extent(struct compiler *c, const struct loop *l)
{
    return sym_add(c, 3,
                   (symp[]){l->upper, sym_neg(c, l->lower), sym_num(c, 1)});
}

/* Loop indices of `loops` (bounds as in `f`) from an element number. */
static void decode_as(struct emitter *e, const struct family *f,
                      struct loop *const *loops, const char *element)
{
    struct compiler *c = e->c;
    const char *names[16];
    if (!family_rectangular(f)) {
        for (int i = 0; i < f->nloops; i++) {
            names[i] = emit_loop_name(e, loops[i]);
            emit_line(e, "const int %s = s->%s[(%s) * %d + %d];", names[i],
                      f->table->member, element, f->nloops, i);
        }
        return;
    }
    if (f->nloops == 1) {
        const char *lower = emit_int(e, f->loops[0]->lower);
        const char *i = emit_loop_name(e, loops[0]);
        emit_line(e, "const int %s = (int)(%s) + %s;", i, element, lower);
        return;
    }
    const char *rest = element;
    const char *values[16];
    for (int i = f->nloops - 1; i >= 0; i--) {
        const char *lower = emit_int(e, f->loops[i]->lower);
        if (i == 0) {
            values[0] = intern_format(c, "(int)(%s) + %s", rest, lower);
            break;
        }
        const char *extent = emit_int(e, loop_extent(c, f->loops[i]));
        values[i] =
            intern_format(c, "(int)((%s) %% (%s)) + %s", rest, extent, lower);
        rest = intern_format(c, "(%s) / (%s)", rest, extent);
    }
    for (int i = 0; i < f->nloops; i++) {
        names[i] = emit_loop_name(e, loops[i]);
        emit_line(e, "const int %s = %s;", names[i], values[i]);
    }
}

void emit_decode(struct emitter *e, const struct family *f, const char *element)
{
    decode_as(e, f, f->loops, element);
}

void emit_close(struct emitter *e, int braces)
{
    while (braces-- > 0) {
        e->indent--;
        emit_line(e, "}");
    }
}

static int open_brace(struct emitter *e)
{
    e->indent++;
    return 1;
}

static symp whole_guard(struct compiler *c, const struct part *p)
{
    symp guard = p->guard ? p->guard : sym_num(c, 1);
    symp seen = counted_instances(p->factor);
    if (seen && !p->own) {
        for (int i = 0; i < p->nloops; i++)
            seen = sym_replace_loop(c, seen, p->factor->loops[i],
                                    sym_loop(c, p->loops[i]));
        for (int i = p->nloops - 1; i >= 0; i--)
            if (p->solved[i])
                seen = sym_replace_loop(c, seen, p->loops[i], p->solved[i]);
        guard = sym_and(c, guard, seen);
    }
    return guard;
}

/* Before the innermost loop of a part, which may have no turn. What a guard
 * excludes may not exist. */
static void share_in_rows(struct emitter *e, const struct part *p,
                          const char *lower, const char *upper)
{
    if (!e->in_rows || p->guard)
        return;
    e->shared_if = intern_format(e->c, "%s <= %s", lower, upper);
    for (int i = 0; i < e->in_rows->n; i++)
        emit_shared(e, e->in_rows->value[i]);
    e->shared_if = NULL;
}

/* Of what is reached, cells have a beginning and an end each, as lists may have
 * items in common. */
const char *emit_index_begin(struct emitter *e, const struct inverse *i,
                             const char *cell)
{
    return intern_format(e->c, "s->%s[%s%s]", i->start->member,
                         i->reach ? "2 * " : "", cell);
}

const char *emit_index_end(struct emitter *e, const struct inverse *i,
                           const char *cell)
{
    return intern_format(e->c, "s->%s[%s%s + 1]", i->start->member,
                         i->reach ? "2 * " : "", cell);
}

/* Opens the loops of a part. With `count`, not the innermost one: the number of
 * its turns is added to `count` instead, and what is tested inside it is not.
 * With `team` its lanes share the turns of the outermost loop; inside it each
 * lane is alone, so e->team is off until the caller restores it. */
static int open_part(struct emitter *e, const struct part *p, bool team,
                     const char *count)
{
    struct compiler *c = e->c;
    int braces = 0;
    if (p->own)
        return 0;
    symp guard = whole_guard(c, p);
    bool early = true;
    for (int i = 0; i < p->nloops; i++)
        if ((!p->solved[i] || p->inverse) && sym_has_loop(guard, p->loops[i]))
            early = false;
    if (early && !sym_is(guard, 1)) {
        emit_line(e, "if (%s) {", emit_expr(e, guard));
        braces += open_brace(e);
    }
    if (!early && p->factor->seen_var) {
        /* predictions without any data: no instance is looked at */
        const char *leaf = p->factor->seen_var->cname;
        emit_line(e, "if (s->%s_seen || s->%s_stride == 0) {", leaf, leaf);
        braces += open_brace(e);
    }
    if (p->inverse) {
        const char *at = emit_name(e, "at");
        const char *cell = emit_name(e, "cell");
        emit_line(e, "const long long %s = %s;", cell,
                  p->cell ? emit_cell(e, p->cell->var, p->cell->args)
                          : "cell_");
        const char *begin = emit_index_begin(e, p->inverse, cell);
        const char *end = emit_index_end(e, p->inverse, cell);
        if (count) {
            emit_line(e, "%s += %s - %s;", count, end, begin);
            return braces;
        }
        if (team)
            emit_line(e, "GBM_TEAM_FOR(%s, %s, %s, team) {", at, begin, end);
        else
            emit_line(e, "for (int %s = %s; %s < %s; %s++) {", at, begin, at,
                      end, at);
        braces += open_brace(e);
        e->team = e->team && !team;
        decode_as(e, p->factor->family, p->loops,
                  intern_format(c, "s->%s[%s]", p->inverse->item->member, at));
    } else {
        bool first = team;
        int innermost = -1;
        for (int i = 0; i < p->nloops; i++)
            if (!p->solved[i])
                innermost = i;
        if (count && innermost < 0)
            emit_line(e, "%s += 1;", count);
        for (int i = 0; i < p->nloops; i++) {
            if (p->solved[i])
                continue;
            symp low = p->loops[i]->lower, high = p->loops[i]->upper;
            for (int j = i - 1; j >= 0; j--)
                if (p->solved[j]) {
                    low = sym_replace_loop(c, low, p->loops[j], p->solved[j]);
                    high = sym_replace_loop(c, high, p->loops[j], p->solved[j]);
                }
            const char *lower = emit_int(e, low), *upper = emit_int(e, high);
            if (count && i == innermost) {
                emit_line(e, "if ((%s) >= (%s))", upper, lower);
                emit_line(e, "    %s += (long long)(%s) - (%s) + 1;", count,
                          upper, lower);
                return braces;
            }
            if (i == innermost && braces)
                share_in_rows(e, p, lower, upper);
            const char *name = emit_loop_name(e, p->loops[i]);
            if (first)
                emit_line(e, "GBM_TEAM_FOR(%s, %s, (%s) + 1, team) {", name,
                          lower, upper);
            else
                emit_line(e, "for (int %s = %s; %s <= %s; %s++) {", name, lower,
                          name, upper, name);
            e->team = e->team && !first;
            first = false;
            braces += open_brace(e);
        }
    }
    if (!early && !count) {
        emit_line(e, "if (%s) {", emit_expr(e, guard));
        braces += open_brace(e);
    }
    return braces;
}

int emit_open_part(struct emitter *e, const struct part *p, bool team)
{
    return open_part(e, p, team, NULL);
}

void emit_count_part(struct emitter *e, const struct part *p, const char *count)
{
    int depth = e->nloops;
    int braces = emit_unless_summed(e, p->summed ? p : NULL);
    emit_close(e, braces + open_part(e, p, false, count));
    e->nloops = depth;
}

static int open_if_summed(struct emitter *e, const struct part *p,
                          const char *operator)
{
    if (!p)
        return 0;
    emit_line(e, "if (s->%s_stride %s 0) {",
              p->factor->seen_var->cname, operator);
    return open_brace(e);
}

int emit_if_summed(struct emitter *e, const struct part *p)
{
    return open_if_summed(e, p, "==");
}

int emit_unless_summed(struct emitter *e, const struct part *p)
{
    return open_if_summed(e, p, "!=");
}

/* ---- library text
 * ------------------------------------------------------------- */

static symp bind_params(struct compiler *c, const char *name, int nargs,
                        const symp *args, void *context)
{
    (void)context;
    (void)args;
    if (nargs)
        return NULL;
    return !strcmp(name, "x") ? sym_target(c) : sym_param(c, name);
}

symp entry_expression(struct compiler *c, const struct entry *d,
                      const struct expr *value)
{
    (void)d;
    return sym_from_library(c, value, bind_params, NULL);
}

/* ---- the conditional of a scalar
 * ----------------------------------------------- */

static const char *target_cell(struct emitter *e, const struct family *f)
{
    return f->var->ndim
               ? emit_expr(e, sym_ref(e->c, f->var, f->var->ndim, f->lower))
               : intern_format(e->c, "*s->%s", f->var->cname);
}

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
    for (int i = 0; i < s->nstatistics; i++)
        text_printf(out, "    real c%d; /* coefficient of %s */\n", i + 1,
                    sym_text(c, s->statistics[i]));
    text_append(out, "    real lower, upper;\n");
    emit_hoisted_members(c, out, s);
    text_append(out, "};\n\n");
}

/* The comment above: statement, place, conditional. */
static void emit_comment(struct compiler *c, struct text *out,
                         const struct step *s)
{
    const struct family *f = s->family;
    text_printf(out, "/* %s    %s\n", f->text, place_in_comment(c, f->span));
    switch (s->method) {
    case METHOD_DIRECT:
        text_printf(out, " * Its full conditional has the statistics of %s",
                    s->recognised->name);
        if (s->bounded)
            text_append(out, ", between bounds");
        text_append(out, ":\n");
        for (int i = 0; i < s->nstatistics; i++)
            text_printf(out, " *     c%d multiplies %s\n", i + 1,
                        sym_text(c, s->statistics[i]));
        break;
    case METHOD_ENUMERATE:
        text_append(out, " * Every value of its finite support is tried.\n");
        break;
    case METHOD_SLICE:
    case METHOD_SLICE_INTEGER:
        text_append(out, " * No closed form: slice sampling.\n");
        break;
    case METHOD_WALK:
        text_append(out, " * Random-walk Metropolis.\n");
        break;
    case METHOD_ELLIPTICAL:
        text_append(out, " * Slice along the ellipse of its normal prior.\n");
        break;
    case METHOD_STATED:
        text_append(out, " * Its full conditional is stated by the "
                         "augmentation.\n");
        break;
    default:
        break;
    }
    for (const struct part *p = s->parts; p; p = p->next)
        if (!p->own)
            text_printf(out, " * child: %s\n", p->factor->text);
    text_append(out, " */\n");
}

static void prologue(struct emitter *e, const struct family *f,
                     const char *element)
{
    if (f->nloops)
        emit_decode(e, f, element);
}

/* cell_: flat cell of the target, for inverse indices. */
void emit_cell_if_needed(struct emitter *e, const struct step *s)
{
    bool needed = false;
    for (const struct part *p = s->parts; p; p = p->next)
        needed = needed || (p->inverse && !p->cell);
    symp first[8]; /* of a vector node: its first cell */
    for (int d = 0; d < s->family->var->ndim; d++)
        first[d] = s->family->upper[d] ? sym_num(e->c, 1) : s->family->lower[d];
    if (needed)
        emit_line(e, "const long long cell_ = %s;",
                  emit_cell(e, s->family->var, first));
}

static int statistic_index(const struct step *s, symp statistic)
{
    for (int i = 0; i < s->nstatistics; i++)
        if (sym_same(s->statistics[i], statistic))
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
        braces = open_brace(e);
    } else {
        braces = emit_unless_summed(e, p->summed ? p : NULL);
    }
    for (int i = 0; i < p->terms.n && part_shared_out(p); i++)
        emit_shared(e, p->terms.coefficient[i]);
    bool team = e->team;
    braces += emit_open_part(e, p, true);
    e->clamped = s->method == METHOD_ENUMERATE; /* of log(p) - log(1 - p) */
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

static void emit_bounds(struct emitter *e, const struct step *s)
{
    struct compiler *c = e->c;
    const char *low = s->lower ? emit_expr(e, s->lower) : "-GBM_INF";
    emit_line(e, "gbm_total lower = %s;", low);
    const char *high = s->upper ? emit_expr(e, s->upper) : "GBM_INF";
    emit_line(e, "gbm_total upper = %s;", high);
    for (const struct bound *b = s->bounds; b; b = b->next) {
        int depth = e->nloops;
        bool team = e->team;
        int braces = emit_open_part(e, b->part, true);
        const char *value = emit_in_brackets(e, b->value);
        emit_line(e, "if (%s %s %s)", value, b->is_lower ? ">" : "<",
                  b->is_lower ? "lower" : "upper");
        emit_line(e, "    %s = %s;", b->is_lower ? "lower" : "upper", value);
        emit_close(e, braces);
        e->team = team;
        e->nloops = depth;
        if (part_shared_out(b->part))
            emit_line(e, "%s = gbm_team_%s(team, %s);",
                      b->is_lower ? "lower" : "upper",
                      b->is_lower ? "max" : "min",
                      b->is_lower ? "lower" : "upper");
    }
    (void)c;
}

static void emit_prepare(struct compiler *c, struct text *out,
                         const struct step *s)
{
    const struct family *f = s->family;
    const char *id = family_id(c, f);
    struct emitter e = emitter_new(c, out);
    e.team = true;
    text_printf(out,
                "GBM_FN void prepare_%s(struct conditional_%s *k_,\n"
                "    const struct state *s, const struct gbm_team *team,\n"
                "    long long element)\n{\n",
                id, id);
    prologue(&e, f, "element");
    emit_cell_if_needed(&e, s);
    bool any_shared = false;
    if (s->nstatistics) {
        struct text t = {0};
        for (int i = 0; i < s->nstatistics; i++)
            text_printf(&t, "%sc%d = 0", i ? ", " : "", i + 1);
        emit_line(&e, "gbm_total %s;", t.data);
        text_free(&t);
    }
    for (int pass = 0; pass < 2; pass++) { /* shared sums first */
        for (const struct part *p = s->parts; p; p = p->next)
            if (part_shared_out(p) == (pass == 0)) {
                emit_sums_of_part(&e, s, p);
                any_shared =
                    any_shared || (pass == 0 && !p->opaque && p->terms.n > 0);
            }
        for (const struct part *p = s->parts; p; p = p->next)
            if (pass == 1 && p->summed && p->summed->sizes) {
                emit_kept_sums(&e, s, p, part_number(s, p));
            } else if (pass == 1 && p->summed) {
                int braces = emit_if_summed(&e, p);
                emit_sums_of_part(&e, s, p->summed);
                emit_close(&e, braces);
            }
        for (int i = 0; pass == 0 && any_shared && i < s->nstatistics; i++)
            emit_line(&e, "c%d = gbm_team_sum(team, c%d);", i + 1, i + 1);
    }
    emit_bounds(&e, s);
    emit_line(&e, "k_->s = s;");
    emit_line(&e, "k_->team = team;");
    emit_line(&e, "k_->element = element;");
    for (int i = 0; i < f->nloops; i++)
        emit_line(&e, "k_->loop%d = %s;", i,
                  emit_expr(&e, sym_loop(c, f->loops[i])));
    for (int i = 0; i < s->nstatistics; i++)
        emit_line(&e, "k_->c%d = (real)c%d;", i + 1, i + 1);
    emit_line(&e, "k_->lower = (real)lower;");
    emit_line(&e, "k_->upper = (real)upper;");
    emit_hoisted_fill(&e, s, target_cell(&e, f));
    text_append(out, "}\n\n");
}

int emit_copies(struct emitter *e, const struct part *p, const char **copies)
{
    *copies = NULL;
    if (!p->copies)
        return 0;
    const char *row = emit_expr(e, p->copies->args[0]);
    *copies = emit_name(e, "copies");
    emit_line(e, "const real %s = s->%s_stride != 0 || %s > %d ? 1 : %s;",
              *copies, p->factor->seen_var->cname, row, COMPARED_MOST,
              emit_expr(e, p->copies));
    emit_line(e, "if (%s > 0) {", *copies);
    return open_brace(e);
}

void emit_in_place(struct emitter *e, const struct part *p)
{
    int depth = e->nloops, nshared = e->nshared;
    emit_line(e, "{");
    e->indent++;
    bool shared = part_shared_out(p);
    emit_line(e, "gbm_total sum = 0;");
    if (shared)
        emit_shared(e, p->logp);
    bool team = e->team;
    int braces = emit_open_part(e, p, true);
    const char *copies;
    braces += emit_copies(e, p, &copies);
    if (p->lower || p->upper) {
        const char *value = emit_expr(e, p->value);
        if (p->lower)
            emit_line(e, "if (%s < %s)", value, emit_in_brackets(e, p->lower));
        if (p->lower)
            emit_line(e, "    sum = -GBM_INF;");
        if (p->upper)
            emit_line(e, "if (%s > %s)", value, emit_in_brackets(e, p->upper));
        if (p->upper)
            emit_line(e, "    sum = -GBM_INF;");
    }
    e->shares = true;
    const char *value = emit_expr(e, p->logp);
    if (copies)
        emit_line(e, "sum += %s * (%s);", copies, value);
    else
        emit_line(e, "sum += %s;", value);
    e->shares = false;
    emit_close(e, braces);
    e->team = team;
    e->nloops = depth;
    e->nshared = nshared;
    emit_line(e, "total += %s;", shared ? "gbm_team_sum(team, sum)" : "sum");
    e->indent--;
    emit_line(e, "}");
}

/* Parts that the host evaluates from hoisted values are evaluated in place by
 * the device. */
static void emit_opaque_parts(struct emitter *e, const struct step *s)
{
    const struct family *f = s->family;
    bool in_place = step_evaluates_in_place(s), hoisted = false;
    for (const struct part *p = s->parts; p; p = p->next)
        hoisted = hoisted || p->hoisted;
    if (!s->opaque)
        return;
    if (hoisted) {
        emit_line(e, "#ifndef __CUDACC__");
        emit_hoisted_sums(e, s);
        emit_line(e, "#endif");
        if (!in_place)
            emit_line(e, "#ifdef __CUDACC__");
    }
    emit_cell_if_needed(e, s);
    const char *cell = target_cell(e, f);
    emit_line(e, "gbm_team_sync(team);");
    emit_line(e, "%s = %s;", cell, f->var->integer ? "(int)x" : "x");
    emit_line(e, "gbm_team_sync(team);");
    if (s->through)
        emit_recompute(e, s, f->var);
    e->team = true;
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->opaque && !p->hoisted)
            emit_in_place(e, p);
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

/* Log density of the full conditional at x, up to a constant. */
static void emit_density(struct compiler *c, struct text *out,
                         const struct step *s)
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
                "    const struct gbm_team *team = k_->team;\n"
                "    (void)s;\n    (void)team;\n",
                id, id, id);
    for (int i = 0; i < f->nloops; i++) {
        const char *name = emit_loop_name(&e, f->loops[i]);
        emit_line(&e, "const int %s = k_->loop%d;", name, i);
        emit_line(&e, "(void)%s;", name);
    }
    emit_line(&e, "gbm_total total = 0;");
    for (int i = 0; i < s->nstatistics; i++) {
        symp t = s->statistics[i];
        /* without an instance it may read beyond an array: x[t + 1] at the end;
         * and what overflows is no term of a density that has none: exp(x) */
        bool log = t->kind == SYM_CALL && !strcmp(t->name, "log");
        bool guarded = sym_has_cells(t) || (!log && !stays_finite(t));
        if (guarded) {
            emit_line(&e, "if (k_->c%d != 0) {", i + 1);
            e.indent++;
        }
        if (log) {
            const char *inner = emit_expr(&e, t->args[0]);
            emit_line(&e, "total += gbm_xlogy(k_->c%d, %s);", i + 1, inner);
        } else {
            const char *value = emit_expr(&e, t);
            /* one branch may be log(0) where the coefficient is 0, or the
             * coefficient log(0) where the value is 0 */
            if (t->kind == SYM_SELECT)
                emit_line(&e, "total += gbm_times(k_->c%d, %s);", i + 1, value);
            else if (f->var->integer && t->kind == SYM_TARGET)
                emit_line(&e,
                          "total += gbm_log_odds(k_->c%d, %s, k_->lower, "
                          "k_->upper);",
                          i + 1, value);
            else if (s->method == METHOD_ENUMERATE)
                emit_line(&e, "total += gbm_times(%s, k_->c%d);", value, i + 1);
            else
                emit_line(&e, "total += k_->c%d * (%s);", i + 1, value);
        }
        if (guarded) {
            e.indent--;
            emit_line(&e, "}");
        }
    }
    emit_opaque_parts(&e, s);
    text_append(out, "    return (real)total;\n}\n\n");
}

/* The parameters of a recognised family from the sums, and its draw. */
static void emit_solve(struct emitter *e, const struct step *s,
                       const char *prefix)
{
    struct compiler *c = e->c;
    const struct entry *d = s->recognised;
    int n = 0;
    const struct clause *statistics = entry_clause(d, "statistics");
    for (const struct clause_item *i = statistics ? statistics->items : NULL; i;
         i = i->next, n++) {
        const char *value = "0";
        for (int k = 0; k < s->nstatistics; k++)
            if (s->place[k] == n)
                value = intern_format(c, "%sc%d", prefix, k + 1);
        emit_param(e, intern_format(c, "s%d", n + 1), value);
    }
    const struct clause *solve = entry_clause(d, "solve");
    for (const struct clause_item *i = solve ? solve->items : NULL; i;
         i = i->next) {
        symp value = entry_expression(c, d, i->value);
        const char *name = emit_name_of_model(e, i->label->name);
        const char *text = emit_expr(e, value);
        emit_line(e, "const real %s = %s;", name, text);
        emit_param(e, i->label->name, name);
    }
    if (s->exponent) /* x^p: the parameter that solve does not give */
        for (int i = 0; i < d->nparameters; i++) {
            bool solved = false;
            for (const struct clause_item *k = solve ? solve->items : NULL; k;
                 k = k->next)
                solved = solved || k->label->name == d->parameters[i].name;
            if (!solved)
                emit_param(e, d->parameters[i].name,
                           intern_format(e->c, "REAL_C(%s)",
                                         emit_expr(e, s->exponent)));
            if (!solved && s->exponent->kind == SYM_NUM)
                e->params[e->nparams - 1].value = s->exponent;
        }
}

static symp known_param(struct compiler *c, symp e, void *context)
{
    const struct emitter *k = context;
    (void)c;
    for (int i = k->nparams - 1; e->kind == SYM_PARAM && i >= 0; i--)
        if (k->params[i].name == e->name)
            return k->params[i].value;
    return NULL;
}

/* A clause with the parameters that are numbers put in: g^(1 / p) is a root
 * where p is 2. */
static symp clause_at(struct emitter *e, const struct entry *d,
                      const char *clause)
{
    symp value = entry_expression(e->c, d, entry_value(d, clause));
    return sym_map(e->c, value, known_param, e);
}

/* A draw of entry d whose parameters are in scope; bounds are the locals
 * lower and upper if `bounded`. Returns its C text. */
static const char *emit_draw(struct emitter *e, const struct entry *d,
                             bool bounded)
{
    if (!bounded)
        return emit_expr(e, clause_at(e, d, "draw"));
    if (!entry_value(d, "draw_between"))
        return emit_real_between(e, d);
    emit_param(e, "lower", "lower");
    emit_param(e, "upper", "upper");
    return emit_put_between(e, clause_at(e, d, "draw_between"));
}

/* C text: the conditional between bounds is flat, as where the likelihood of a
 * slope with a uniform prior has weight 0. Then the family has no parameters.
 * NULL: it cannot be. */
static const char *flat_condition(struct emitter *e, const struct step *s,
                                  const char *prefix)
{
    if (!s->bounded || draws_integers(s->family) || !s->nstatistics ||
        !entry_clause(s->recognised, "solve"))
        return NULL;
    struct text t = {0};
    for (int k = 0; k < s->nstatistics; k++)
        text_printf(&t, "%sc%d == 0 && ", prefix, k + 1);
    text_append(&t, "upper - lower < GBM_INF");
    return take_text(e->c, &t);
}

/* The C text of a draw of a direct update. */
static const char *emit_direct_value(struct emitter *e, const struct step *s,
                                     const char *prefix)
{
    const char *flat = flat_condition(e, s, prefix);
    if (!flat) {
        emit_solve(e, s, prefix);
        return emit_draw(e, s->recognised, s->bounded);
    }
    const char *value = emit_name(e, "value");
    emit_line(e, "real %s;", value);
    emit_line(e, "if (%s) {", flat);
    emit_line(e, "    %s = lower + (upper - lower) * gbm_uniform(rng);", value);
    emit_line(e, "} else {");
    e->indent++;
    emit_solve(e, s, prefix);
    emit_line(e, "%s = %s;", value, emit_draw(e, s->recognised, s->bounded));
    e->indent--;
    emit_line(e, "}");
    return value;
}

/* The terms that change with the variable. What is left out is constant, and
 * for a member that bounds alone make proper it may be infinite. */
static symp changing_terms(struct compiler *c, symp density)
{
    if (density->kind != SYM_ADD)
        return density;
    symp *terms = NEW_ARRAY(c, symp, (size_t)density->nargs);
    for (int k = 0; k < density->nargs; k++)
        terms[k] =
            sym_has_target(density->args[k]) ? density->args[k] : sym_num(c, 0);
    return sym_add(c, density->nargs, terms);
}

static void emit_direct_density(struct compiler *c, struct text *out,
                                const struct step *s)
{
    const char *id = family_id(c, s->family);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_INLINE real density_%s(const void *context, real x)\n"
                "{\n"
                "    const struct conditional_%s *k_ = (const struct "
                "conditional_%s *)context;\n"
                "    const real lower = k_->lower, upper = k_->upper;\n"
                "    (void)lower;\n    (void)upper;\n",
                id, id, id);
    const struct entry *d = s->recognised;
    if (!entry_clause(d, "solve")) {
        emit_line(&e, "return 0 * x;");
        text_append(out, "}\n\n");
        return;
    }
    const char *flat = flat_condition(&e, s, "k_->");
    if (flat) {
        emit_line(&e, "if (%s)", flat);
        emit_line(&e, "    return 0 * x;");
    }
    emit_solve(&e, s, "k_->");
    symp density = changing_terms(c, clause_at(&e, d, "logdensity"));
    const char *value = emit_expr(&e, density);
    emit_line(&e, "return %s;", value);
    text_append(out, "}\n\n");
}

static void emit_store(struct emitter *e, const struct step *s,
                       const char *value)
{
    const struct family *f = s->family;
    emit_line(e, "gbm_team_sync(team);");
    emit_line(e, "%s = %s%s;", target_cell(e, f),
              f->var->integer ? "(int)" : "", value);
}

/* The draw of a direct update whose sums are shared among the lanes of a team:
 * a function of its own, so that the lanes can draw for different elements. */
static void emit_finish(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const char *id = family_id(c, s->family);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void finish_%s(const struct state *s, struct gbm_rng "
                "*rng,\n    const struct gbm_team *team, long long element, "
                "int adapting,\n    const struct conditional_%s *k_)\n{\n"
                "    (void)adapting;\n",
                id, id);
    prologue(&e, s->family, "element");
    if (s->bounded)
        emit_line(&e, "const real lower = k_->lower, upper = k_->upper;");
    emit_store(&e, s, emit_direct_value(&e, s, "k_->"));
    text_append(out, "}\n\n");
}

/* The slice's width, kept in units of what the model asked for. Returns how to
 * store it. */
static const char *emit_width(struct emitter *e, const struct step *s)
{
    const char *width = s->slots->member;
    if (s->width <= 0) {
        emit_line(e, "real width = s->%s[element];", width);
        return "";
    }
    const char *unit = emit_expr(e, sym_num(e->c, s->width));
    emit_line(e, "real width = %s * s->%s[element];", unit, width);
    return intern_format(e->c, " / %s", unit);
}

/* What an observed sum holds fast moves in pairs: pair.c. */
static void emit_ties(struct emitter *e, const struct step *s)
{
    bool inverse = false;
    for (const struct part *p = s->ties; p; p = p->next)
        inverse = inverse || p->inverse;
    if (inverse)
        emit_line(e, "const long long cell_ = %s;",
                  emit_cell(e, s->family->var, s->family->lower));
    for (const struct part *p = s->ties; p; p = p->next) {
        int depth = e->nloops;
        emit_line(e, "{");
        e->indent++;
        int braces = emit_open_part(e, p, false);
        emit_line(e, "return;");
        emit_close(e, braces + 1);
        e->nloops = depth;
    }
}

static void emit_update(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const struct family *f = s->family;
    const char *id = family_id(c, f);
    if (s->rest)
        emit_gaussian(c, out, s->rest);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void %s(const struct state *s, struct gbm_rng *rng,\n"
                "    const struct gbm_team *team, long long element, "
                "int adapting)\n{\n    (void)adapting;\n",
                s->name);
    if (s->method == METHOD_FORWARD) {
        emit_line(&e, "(void)team;");
        if (s->rest)
            emit_line(&e, "%s(s, rng, team, element, adapting);",
                      s->rest->name);
        else
            emit_line(&e, "simulate_%s(s, rng, element);", id);
        text_append(out, "}\n\n");
        return;
    }
    prologue(&e, f, "element");
    emit_ties(&e, s);
    if (s->method == METHOD_STATED) {
        e.team = true;
        const char *value = emit_expr(&e, f->var->draw);
        emit_store(&e, s, value);
        text_append(out, "}\n\n");
        return;
    }
    emit_line(&e, "struct conditional_%s k_;", id);
    if (step_has_columns(s))
        emit_line(&e, "GBM_COLUMNS(k_, room_%s(&k_, s, element));", id);
    emit_line(&e, "prepare_%s(&k_, s, team, element);", id);
    if (s->split) {
        emit_line(&e, "finish_%s(s, rng, team, element, adapting, &k_);", id);
    } else if (s->method == METHOD_DIRECT) {
        if (s->bounded)
            emit_line(&e, "const real lower = k_.lower, upper = k_.upper;");
        emit_store(&e, s, emit_direct_value(&e, s, "k_."));
    } else if (most_enumerated(s)) {
        const char *unit = emit_width(&e, s);
        emit_line(&e, "real value;");
        emit_line(&e, "if (k_.upper - k_.lower < %d)", most_enumerated(s));
        emit_line(&e,
                  "    value = gbm_enumerate_draw(rng, (int)k_.lower, "
                  "(int)k_.upper, density_%s, &k_);",
                  id);
        emit_line(&e, "else if (!gbm_is_finite(density_%s(&k_, (real)%s)))", id,
                  target_cell(&e, f));
        emit_line(&e,
                  "    value = gbm_search_draw(rng, k_.lower, k_.upper, "
                  "density_%s, &k_);",
                  id);
        emit_line(&e, "else");
        emit_line(&e,
                  "    value = gbm_slice_integer(rng, (real)%s, &width, "
                  "adapting, k_.lower, k_.upper, density_%s, &k_);",
                  target_cell(&e, f), id);
        emit_line(&e, "gbm_team_sync(team);");
        emit_line(&e, "s->%s[element] = width%s;", s->slots->member, unit);
        emit_store(&e, s, "value");
    } else if (s->method == METHOD_ENUMERATE) {
        emit_line(&e,
                  "const real value = gbm_enumerate_draw(rng, (int)k_.lower, "
                  "(int)k_.upper, density_%s, &k_);",
                  id);
        emit_store(&e, s, "value");
    } else if (s->method == METHOD_ELLIPTICAL) {
        symp potential, square;
        normal_prior_terms(c, s, &potential, &square);
        const char *p = emit_expr(&e, potential), *q = emit_expr(&e, square);
        emit_line(&e,
                  "const real value = gbm_elliptical_scalar(rng, %s, %s, %s, "
                  "k_.lower, k_.upper, density_%s, &k_);",
                  target_cell(&e, f), p, q, id);
        emit_store(&e, s, "value");
    } else {
        bool integer = draws_integers(f);
        const char *unit = emit_width(&e, s);
        emit_line(&e,
                  "const real value = gbm_%s%s(rng, (real)%s, &width, "
                  "adapting, k_.lower, k_.upper, density_%s, &k_);",
                  s->method == METHOD_WALK ? "walk" : "slice",
                  integer ? "_integer" : "", target_cell(&e, f), id);
        emit_line(&e, "gbm_team_sync(team);");
        emit_line(&e, "s->%s[element] = width%s;", s->slots->member, unit);
        emit_store(&e, s, "value");
    }
    if (step_has_columns(s))
        emit_line(&e, "GBM_COLUMNS_END(k_);");
    if (s->through) {
        emit_line(&e, "gbm_team_sync(team);");
        emit_recompute(&e, s, f->var);
    }
    text_append(out, "}\n\n");
}

static bool is_scalar_method(enum method method)
{
    return method == METHOD_DIRECT || method == METHOD_ENUMERATE ||
           method == METHOD_SLICE || method == METHOD_SLICE_INTEGER ||
           method == METHOD_WALK || method == METHOD_ELLIPTICAL ||
           method == METHOD_FORWARD || method == METHOD_STATED;
}

/* How many blocks of random numbers an update of an element mostly takes. A
 * slice: two uniforms, an exponential, and one uniform or more to shrink. */
static int blocks_of(const struct step *s)
{
    switch (s->method) {
    case METHOD_SLICE:
    case METHOD_SLICE_INTEGER:
        return 3;
    case METHOD_ELLIPTICAL:
        return s->whole || s->family->nslices ? 0 : 2;
    case METHOD_DIRECT:
    case METHOD_ENUMERATE:
    case METHOD_WALK:
    case METHOD_FORWARD:
    case METHOD_STATED:
    case METHOD_GAUSSIAN:
    case METHOD_VECTOR:
    case METHOD_PAIR:
        return 1;
    case METHOD_ADAPTIVE:
    case METHOD_CHAIN:
    case METHOD_SLICE_VECTOR:
    case METHOD_DENSE:
    case METHOD_JOINT:
    case METHOD_INDEX:
    case METHOD_DERIVE:
    case METHOD_NONE:
        return 0;
    }
    UNREACHABLE();
}

/* The function that the emitted text calls first with the random numbers. */
static const char *first_draw(struct compiler *c, const char *text)
{
    const char *call = strstr(text, "(rng"), *begin = call;
    if (!call)
        return "none";
    while (begin > text &&
           (begin[-1] == '_' || isalnum((unsigned char)begin[-1])))
        begin--;
    return intern_format(c, "%.*s", (int)(call - begin), begin);
}

static void emit_method(struct compiler *c, struct text *out, struct step *s)
{
    size_t start;

    if (s->method != METHOD_ADAPTIVE)
        emit_recompute_aligned(c, out, s);
    if (s->method == METHOD_ELLIPTICAL && (s->whole || s->family->nslices)) {
        emit_elliptical(c, out, s);
        return;
    }
    if (is_scalar_method(s->method))
        emit_comment(c, out, s);
    switch (s->method) {
    case METHOD_ADAPTIVE:
        emit_adaptive(c, out, s);
        return;
    case METHOD_CHAIN:
        emit_struct(c, out, s);
        emit_prepare(c, out, s);
        emit_density(c, out, s);
        emit_chain(c, out, s);
        return;
    case METHOD_DIRECT:
    case METHOD_ENUMERATE:
    case METHOD_SLICE:
    case METHOD_SLICE_INTEGER:
    case METHOD_WALK:
    case METHOD_ELLIPTICAL:
        emit_struct(c, out, s);
        emit_hoisted_room(c, out, s);
        start = out->length;
        emit_prepare(c, out, s);
        s->split = s->method == METHOD_DIRECT && !s->through &&
                   strstr(out->data + start, "GBM_TEAM_FOR") != NULL;
        if (s->method == METHOD_DIRECT)
            emit_direct_density(c, out, s);
        else
            emit_density(c, out, s);
        if (s->split)
            emit_finish(c, out, s);
        emit_update(c, out, s);
        return;
    case METHOD_FORWARD:
    case METHOD_STATED:
        emit_update(c, out, s);
        return;
    case METHOD_GAUSSIAN:
        emit_gaussian(c, out, s);
        return;
    case METHOD_DENSE:
        emit_dense(c, out, s);
        return;
    case METHOD_JOINT:
        emit_joint(c, out, s);
        return;
    case METHOD_VECTOR:
    case METHOD_SLICE_VECTOR:
        emit_vector(c, out, s);
        return;
    case METHOD_PAIR:
        emit_pair(c, out, s);
        return;
    case METHOD_INDEX:
    case METHOD_DERIVE:
    case METHOD_NONE:
        return;
    }
    UNREACHABLE();
}

void emit_step(struct compiler *c, struct text *out, struct step *s)
{
    size_t start = out->length;
    emit_method(c, out, s);
    s->blocks = blocks_of(s);
    s->first_draw =
        out->length > start ? first_draw(c, out->data + start) : "none";
}
