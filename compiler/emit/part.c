/* part.c: the loops over the instances of a part, and sums over them. */
#include "emit/emit.h"
#include <string.h>

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
            values[0] = intern_format(c, "(int)%s + %s", rest, lower);
            break;
        }
        const char *extent =
            emit_int(e, sym_length(c, f->loops[i]->lower, f->loops[i]->upper));
        values[i] =
            intern_format(c, "(int)gbm_rest(%s, %s) + %s", rest, extent, lower);
        rest = intern_format(c, "gbm_quotient(%s, %s)", rest, extent);
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

symp emit_part_guard(struct compiler *c, const struct part *p)
{
    symp guard = p->guard ? p->guard : sym_num(c, 1);
    symp seen = model_counted_instances(p->factor);
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

/* The conditions of a guard before the part's loops, and those that need their
 * indices. Where the first fail there may be nothing to loop between: the ends
 * of a ragged plate for an element that has none. */
static void split_guard(struct compiler *c, const struct part *p, symp guard,
                        symp *early, symp *late)
{
    if (guard->kind == SYM_CALL && !strcmp(guard->name, "&&")) {
        for (int i = 0; i < guard->nargs; i++)
            split_guard(c, p, guard->args[i], early, late);
        return;
    }
    bool inside = false;
    for (int i = 0; i < p->nloops; i++)
        inside = inside || ((!p->solved[i] || p->inverse) &&
                            sym_has_loop(guard, p->loops[i]));
    symp *to = inside ? late : early;
    *to = sym_and(c, *to, guard);
}

/* Before the innermost loop of a part, which may have no turn. What a guard
 * excludes may not exist. */
static void share_in_rows(struct emitter *e, const struct part *p,
                          const char *condition)
{
    symp early = sym_num(e->c, 1), late = early;
    if (p->guard)
        split_guard(e->c, p, p->guard, &early, &late);
    if (!sym_is(late, 1))
        return;
    e->shared_if = condition;
    e->shares_calls = true;
    for (int i = 0; i < e->nin_rows; i++)
        emit_shared(e, e->in_rows[i]);
    e->shares_calls = false;
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

/* What an inverse index lists of an element; or adds how much that is to
 * `count`, and opens nothing. Returns how many braces were opened. */
static int open_index(struct emitter *e, const struct part *p, bool team,
                      const char *count, bool *counted)
{
    struct compiler *c = e->c;
    const char *at = emit_name(e, "at");
    const char *cell = emit_name(e, "cell");
    emit_line(e, "const long long %s = %s;", cell,
              p->cell ? emit_cell(e, p->cell->var, p->cell->args) : "cell_");
    const char *begin = emit_index_begin(e, p->inverse, cell);
    const char *end = emit_index_end(e, p->inverse, cell);
    if (count) {
        emit_line(e, "%s += %s - %s;", count, end, begin);
        *counted = true;
        return 0;
    }
    share_in_rows(e, p, intern_format(c, "%s < %s", begin, end));
    if (team)
        emit_team_loop(e, at, begin, end);
    else
        emit_line(e, "for (int %s = %s; %s < %s; %s++) {", at, begin, at, end,
                  at);
    const int braces = open_brace(e);
    e->team = e->team && !team;
    decode_as(e, p->factor->family, p->loops,
              intern_format(c, "s->%s[%s]", p->inverse->item->member, at));
    return braces;
}

/* An end of the part's loop i, where outer loops may have been solved for. */
static const char *emit_end(struct emitter *e, const struct part *p, int i,
                            symp end)
{
    for (int j = i - 1; j >= 0; j--)
        if (p->solved[j])
            end = sym_replace_loop(e->c, end, p->loops[j], p->solved[j]);
    return emit_int(e, end);
}

/* As open_index, of the loops that are not solved for: the turns of the
 * innermost one are counted. */
static int open_loops(struct emitter *e, const struct part *p, bool team,
                      const char *count, bool *counted)
{
    struct compiler *c = e->c;
    bool first = team;
    int braces = 0, innermost = -1;
    for (int i = 0; i < p->nloops; i++)
        if (!p->solved[i])
            innermost = i;
    if (count && innermost < 0)
        emit_line(e, "%s += 1;", count);
    for (int i = 0; i < p->nloops; i++) {
        if (p->solved[i])
            continue;
        const char *lower = emit_end(e, p, i, p->loops[i]->lower);
        const char *upper = emit_end(e, p, i, p->loops[i]->upper);
        if (count && i == innermost) {
            emit_line(e, "if ((%s) >= (%s))", upper, lower);
            emit_line(e, "    %s += (long long)(%s) - (%s) + 1;", count, upper,
                      lower);
            *counted = true;
            return braces;
        }
        if (i == innermost)
            share_in_rows(e, p, intern_format(c, "%s <= %s", lower, upper));
        const char *name = emit_loop_name(e, p->loops[i]);
        if (first)
            emit_team_loop(e, name, lower, intern_format(c, "(%s) + 1", upper));
        else
            emit_line(e, "for (int %s = %s; %s <= %s; %s++) {", name, lower,
                      name, upper, name);
        e->team = e->team && !first;
        first = false;
        braces += open_brace(e);
    }
    return braces;
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
    symp early = sym_num(c, 1), late = early;
    if (!e->all_seen)
        split_guard(c, p, emit_part_guard(c, p), &early, &late);
    else if (p->guard)
        split_guard(c, p, p->guard, &early, &late);
    if (!sym_is(early, 1)) {
        emit_line(e, "if (%s) {", emit_expr(e, early));
        braces += open_brace(e);
    }
    if (!sym_is(late, 1) && p->factor->seen_var) {
        /* predictions without any data: no instance is looked at */
        const char *leaf = p->factor->seen_var->cname;
        emit_line(e, "if (s->%s_seen || s->%s_stride == 0) {", leaf, leaf);
        braces += open_brace(e);
    }
    bool counted = false;
    braces += p->inverse ? open_index(e, p, team, count, &counted)
                         : open_loops(e, p, team, count, &counted);
    if (counted)
        return braces;
    if (!sym_is(late, 1) && !count) {
        emit_line(e, "if (%s) {", emit_expr(e, late));
        braces += open_brace(e);
    }
    return braces;
}

/* That all instances of p are observed and its loops test nothing else, in C;
 * NULL if they do. */
static const char *all_seen(struct compiler *c, const struct part *p)
{
    symp seen = model_counted_instances(p->factor);
    symp early = sym_num(c, 1), late = early;
    if (p->own || p->inverse || !seen || seen->kind != SYM_SEEN)
        return NULL;
    if (p->guard)
        split_guard(c, p, p->guard, &early, &late);
    const char *leaf = seen->var->cname;
    return sym_is(late, 1)
               ? intern_format(c, "!s->%s_seen && s->%s_stride == 0", leaf,
                               leaf)
               : NULL;
}

bool emit_open_all_seen(struct emitter *e, const struct part *p,
                        symp const *terms, int n)
{
    const char *all =
        emit_worth_vectors(p, terms, n) ? all_seen(e->c, p) : NULL;
    if (!all)
        return false;
    emit_line(e, "#ifndef __CUDACC__");
    emit_line(e, "if (%s) {", all);
    e->indent++;
    e->all_seen = true;
    return true;
}

void emit_open_not_all_seen(struct emitter *e)
{
    e->all_seen = false;
    emit_close(e, 1);
    emit_line(e, "else");
    emit_line(e, "#endif");
    emit_line(e, "{");
    e->indent++;
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

const char *emit_all_count(struct compiler *c, const struct part *p, bool yes)
{
    const struct var *leaf = p->factor->seen_var;
    if (leaf)
        return intern_format(c, "s->%s_stride %s 0", leaf->cname,
                             yes ? "==" : "!=");
    symp live = model_counted_instances(p->factor);
    if (!live)
        return yes ? "true" : "false";
    return intern_format(c, "%ss->%s_seen", yes ? "!" : "", live->var->cname);
}

static int open_if(struct emitter *e, const struct part *p, bool summed)
{
    if (!p)
        return 0;
    emit_line(e, "if (%s) {", emit_all_count(e->c, p, summed));
    return open_brace(e);
}

int emit_if_summed(struct emitter *e, const struct part *p)
{
    return open_if(e, p, true);
}

int emit_unless_summed(struct emitter *e, const struct part *p)
{
    return open_if(e, p, false);
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

static void emit_rows_in_place(struct emitter *e, const struct part *p)
{
    const bool team = e->team;
    const int depth = e->nloops, nshared = e->nshared;
    e->in_rows = &p->logp;
    e->nin_rows = 1;
    int braces = emit_open_part(e, p, true);
    e->nin_rows = 0;
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
    e->of_rows = condition_part_shared_out(p);
    symp rest = copies ? p->logp : emit_add_of_row(e, p->logp);
    const char *value = emit_expr(e, rest);
    e->of_rows = false;
    if (copies)
        emit_line(e, "sum += %s * (%s);", copies, value);
    else if (!sym_is(rest, 0))
        emit_line(e, "sum += %s;", value);
    e->shares = false;
    emit_close(e, braces);
    e->team = team;
    e->nloops = depth;
    e->nshared = nshared;
}

/* The rows of a part in place, added to sum. */
static void emit_sum_in_place(struct emitter *e, const struct part *p)
{
    const bool plain = !p->hoisted && !p->lower && !p->upper && !p->copies;
    if (plain && emit_open_all_seen(e, p, &p->logp, 1)) {
        emit_rows_in_place(e, p);
        emit_open_not_all_seen(e);
        emit_rows_in_place(e, p);
        emit_close(e, 1);
    } else {
        emit_rows_in_place(e, p);
    }
}

void emit_in_place(struct emitter *e, const struct part *p)
{
    const int nshared = e->nshared;
    emit_line(e, "{");
    e->indent++;
    bool shared = condition_part_shared_out(p);
    emit_line(e, "gbm_total sum = 0;");
    if (shared) {
        emit_shared(e, p->logp);
        emit_before_rows(e, p->logp);
    }
    emit_sum_in_place(e, p);
    emit_after_rows(e);
    e->nshared = nshared;
    emit_line(e, "total += %s;", shared ? "gbm_team_sum(team, sum)" : "sum");
    e->indent--;
    emit_line(e, "}");
}

void emit_in_place_or_recalled(struct emitter *e, const struct step *s,
                               const struct part *p)
{
    const struct recalled *r = p->recalled;
    const int nshared = e->nshared;
    if (!r) {
        emit_in_place(e, p);
        return;
    }
    struct part rows = *p;
    rows.logp = r->logp;
    emit_line(e, "{");
    e->indent++;
    emit_line(e, "gbm_total sum = 0;");
    emit_open_recalled(e, s, r);
    emit_shared(e, rows.logp);
    emit_lifted(e, rows.logp);
    emit_before_rows(e, rows.logp);
    emit_sum_in_place(e, &rows);
    emit_after_rows(e);
    e->nshared = nshared;
    emit_close_recalled(e, s, r);
    emit_line(e, "total += %s%ssum;", r->power ? emit_expr(e, r->power) : "",
              r->power ? " * " : "");
    e->indent--;
    emit_line(e, "}");
}

/* ---- library text ---------------------------------------------------------
 */

static symp bind_params(struct compiler *c, const char *name, int nargs,
                        const symp *args, void *context)
{
    (void)context;
    (void)args;
    if (nargs)
        return NULL;
    return !strcmp(name, "x") ? sym_target(c) : sym_param(c, name);
}

symp emit_entry_expression(struct compiler *c, const struct entry *d,
                           const struct expr *value)
{
    (void)d;
    return sym_from_library(c, value, bind_params, NULL);
}
