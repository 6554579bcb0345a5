/* subscripts.c: what an element reads by subscripts that the data decide,
 * checked when they are loaded: each lies in its array, and what is read there
 * is not missing. Subscripts that the state decides are looked at where they
 * are used (emit_expr), and by a function of their own that says which one
 * leads out, for messages.
 *
 * The turns of sums and arrays are checked, too, where they could lead out of
 * an array: those from 1 to its own extent cannot, and of v[k + 2] the first
 * and the last turn say what all do. */
#include "emit/emit.h"

/* The turns of a sum or an array. */
struct turns {
    struct loop *loop;
    symp lower, upper;
};

static bool may_leave(struct compiler *c, symp x, const struct turns *t);

/* Whether a subscript is that of all turns, from 1 to the extent. */
static bool spans(symp at, const struct var *v, int d, const struct turns *t)
{
    return at->kind == SYM_LOOP && at->loop == t->loop &&
           t->lower->kind == SYM_NUM && t->lower->number >= 1 &&
           ((t->upper->kind == SYM_EXTENT && t->upper->var == v &&
             t->upper->dim == d) ||
            (v->declared[d] && sym_same(t->upper, v->declared[d])));
}

/* A sum inside, whose ends take the turn at hand. */
static bool may_leave_within(struct compiler *c, symp x, const struct turns *t)
{
    if (x->kind != SYM_SUM || (!sym_has_loop(x->args[0], t->loop) &&
                               !sym_has_loop(x->args[1], t->loop)))
        return false;
    const struct turns inner = {x->loop, x->args[0], x->args[1]};
    return may_leave(c, x->args[2], &inner);
}

/* Whether a turn may lead out of an array that x reads. */
static bool may_leave(struct compiler *c, symp x, const struct turns *t)
{
    if (may_leave_within(c, x, t))
        return true;
    for (int i = 0; i < x->nargs; i++)
        if (may_leave(c, x->args[i], t))
            return true;
    if (x->kind != SYM_REF)
        return false;
    for (int d = 0; d < x->nargs; d++)
        if (sym_has_loop(x->args[d], t->loop) &&
            !sym_reads_latent(x->args[d]) && !spans(x->args[d], x->var, d, t))
            return true;
    return false;
}

/* Whether the subscripts of all turns lie between those of the first and of the
 * last. */
static bool ends_tell(struct compiler *c, symp x, const struct loop *loop)
{
    if (!sym_has_loop(x, loop))
        return true;
    if (x->kind == SYM_SELECT || x->kind == SYM_SUM)
        return false;
    symp offset;
    for (int i = 0; i < x->nargs; i++) {
        symp at = x->args[i];
        const bool plain = x->kind == SYM_REF &&
                           sym_plain_loop(c, at, &offset) == loop &&
                           !sym_has_loop(offset, loop);
        if (!plain && (x->kind == SYM_REF ? sym_has_loop(at, loop)
                                          : !ends_tell(c, at, loop)))
            return false;
    }
    return true;
}

/* What looks. */
struct look {
    struct emitter *e;
    const char *where; /* the statement; empty: what the compiler adds, whose
                          reads are those of statements */
    bool ends;         /* not all turns are looked at */
    bool of_state;     /* at subscripts that the state decides, and no others */
    bool turned;       /* within turns that the state decides */
    bool loading;      /* the statement is of the data block */
};

static bool is_known(const struct look *k, symp x)
{
    return (k->of_state || !sym_reads_latent(x)) &&
           emit_loops_in_scope(k->e, x);
}

/* That x, which `text` names, is a whole number. */
static void check_whole(const struct look *k, symp x, const char *text)
{
    if (!*k->where || model_is_whole(x) || !is_known(k, x))
        return;
    emit_line(k->e, "if (!gbm_is_nearest(problem, \"%s\", %s))", text,
              emit_expr(k->e, x));
    emit_line(k->e, "    return false;");
}

/* The ends of a range, or, without the other end, a value. */
static void check_ends(const struct look *k, symp lower, symp upper,
                       const char *of)
{
    struct compiler *c = k->e->c;
    if (lower)
        check_whole(k, lower,
                    upper ? intern_format(c, "the first of %s", of) : of);
    if (upper)
        check_whole(k, upper, intern_format(c, "the last of %s", of));
}

/* Whether the state decides a subscript in x, or the turns of one; with `loop`,
 * one that takes its turn, too. */
static bool state_decides(symp x, const struct loop *loop)
{
    for (int i = 0; i < x->nargs; i++) {
        const bool decides = x->kind == SYM_REF ||
                             (x->kind == SYM_ARRAY && i > 0) ||
                             (x->kind == SYM_SUM && i < 2);
        if (state_decides(x->args[i], loop) ||
            (decides && sym_reads_latent(x->args[i]) &&
             (!loop || sym_has_loop(x->args[i], loop))))
            return true;
    }
    return false;
}

/* Opens the turns that are looked at; the number of braces. */
static int open_turns(struct look *k, symp body, const struct turns *t)
{
    struct emitter *e = k->e;
    const bool turned =
        sym_reads_latent(t->lower) || sym_reads_latent(t->upper);
    const bool all = k->loading && sym_reads_latent(body);
    if (!*k->where || !is_known(k, t->lower) || !is_known(k, t->upper) ||
        !(k->of_state ? turned || state_decides(body, t->loop)
                      : all || may_leave(e->c, body, t)))
        return 0;
    k->turned = k->turned || turned;
    if (k->of_state || all || !ends_tell(e->c, body, t->loop)) {
        emit_open_loop(e, t->loop, t->lower, t->upper);
        return 1;
    }
    const char *from = emit_int(e, t->lower), *to = emit_int(e, t->upper);
    const char *i = emit_loop_name(e, t->loop);
    k->ends = true;
    emit_line(e, "for (int %s = %s; %s <= %s; %s += %s < %s ? %s - %s : 1) {",
              i, from, i, to, i, i, to, to, i);
    e->indent++;
    return 1;
}

static void check_read(const struct look *k, symp x)
{
    struct emitter *e = k->e;
    struct text at = {0};
    for (int d = 0; d < x->nargs; d++)
        text_printf(&at, ", %s", emit_int(e, x->args[d]));
    if (x->var->role == ROLE_STOCHASTIC)
        emit_line(e, "if (!%s)",
                  emit_expr(e, sym_seen(e->c, x->var, x->nargs, x->args)));
    else
        emit_line(e, "if (%s(%s))",
                  x->var->integer ? "gbm_is_missing" : "gbm_is_nan",
                  emit_expr(e, x));
    emit_line(e,
              "    return gbm_problem_text(problem, \"%s%s%s is missing in "
              "the data, but %%s reads it\"%s, \"%s\");",
              x->var->name, x->nargs ? "[" : "",
              x->nargs == 0   ? ""
              : x->nargs == 1 ? "%d]"
              : x->nargs == 2 ? "%d,%d]"
              : x->nargs == 3 ? "%d,%d,%d]"
                              : "...]",
              x->nargs <= 3 && at.data ? at.data : "", k->where);
    text_free(&at);
}

/* Whether x is random, but must be among the data as the data block reads it,
 * which does not draw it itself. */
static bool must_be_seen(const struct look *k, symp x)
{
    if (!k->loading || x->var->role != ROLE_STOCHASTIC)
        return false;
    for (int d = 0; d < x->nargs; d++)
        if (!is_known(k, x->args[d]))
            return false;
    for (const struct family *f = x->var->families; f; f = f->next_of_var)
        if (f->data_block)
            return false;
    return true;
}

static void check(struct look *k, symp x);

static void check_turns(struct look *k, symp body, int n, const struct turns *t)
{
    struct look inner = *k;
    int depth = k->e->nloops, braces = 0;
    for (int i = 0; i < n; i++)
        braces += open_turns(&inner, body, &t[i]);
    check(&inner, body);
    emit_close(k->e, braces);
    k->e->nloops = depth;
}

/* One branch is read: c(a[], b). */
static void check_choice(struct look *k, symp x)
{
    check(k, x->args[0]);
    emit_line(k->e, "if (%s) {", emit_expr(k->e, x->args[0]));
    check(k, x->args[1]);
    emit_line(k->e, "} else {");
    check(k, x->args[2]);
    emit_line(k->e, "}");
}

static void check(struct look *k, symp x)
{
    struct emitter *e = k->e;
    if (x->kind == SYM_SELECT && is_known(k, x->args[0])) {
        check_choice(k, x);
        return;
    }
    struct turns t[2];
    int n = 0;
    if (x->kind == SYM_SUM)
        t[n++] = (struct turns){x->loop, x->args[0], x->args[1]};
    for (int i = 0; x->kind == SYM_ARRAY && i < x->nloops; i++)
        t[n++] = (struct turns){x->loops[i], sym_num(e->c, 1), x->args[1 + i]};
    const int body = x->kind == SYM_SUM ? 2 : x->kind == SYM_ARRAY ? 0 : -1;
    for (int i = 0; i < x->nargs; i++)
        if (i != body)
            check(k, x->args[i]);
    if (n > 0)
        check_turns(k, x->args[body], n, t);
    if (x->kind != SYM_REF)
        return;
    for (int d = 0; d < x->nargs; d++) {
        symp at = x->args[d];
        if (!is_known(k, at) ||
            (!k->of_state && model_subscript_may_miss(x, d)) ||
            (at->kind == SYM_NUM && at->number == 1) ||
            (k->of_state && !k->turned && !sym_reads_latent(at)))
            continue;
        check_whole(
            k, at,
            intern_format(e->c, "subscript %d of %s", d + 1, x->var->name));
        emit_line(e, "if (!gbm_subscript(problem, \"%s\", %d, %s, s->%s_n%d))",
                  x->var->name, d + 1, emit_int(e, at), x->var->cname, d + 1);
        emit_line(e, "    return false;");
    }
    if (!k->of_state && !k->ends && !model_may_miss(x) &&
        ((x->var->role == ROLE_GIVEN && is_known(k, x)) || must_be_seen(k, x)))
        check_read(k, x);
}

/* The loops about a statement, its own cell and the ranges in it. */
static void check_places(const struct look *k, const struct family *f)
{
    struct compiler *c = k->e->c;
    for (int i = 0; i < f->nloops; i++)
        check_ends(k, f->loops[i]->lower, f->loops[i]->upper,
                   intern_format(c, "loop %s", f->loops[i]->name));
    for (int d = 0; d < f->var->ndim; d++)
        check_ends(k, f->lower[d], f->upper[d],
                   intern_format(c, "subscript %d of %s", d + 1, f->var->name));
    for (const struct range_check *r = f->ranges; r; r = r->next)
        check_ends(k, r->lower, r->upper,
                   text_in_string(c, span_source(c, r->span)));
}

/* Goes through what the family's statement reads. */
static void check_family(struct look *k, const struct family *f)
{
    struct compiler *c = k->e->c;
    symp one = sym_num(c, 1);
    struct turns t[2];
    if (f->body) {
        for (int i = 0; i < f->nslices; i++)
            t[i] = (struct turns){f->slice[i], one, family_extent(c, f, i)};
        check_turns(k, f->body, f->nslices, t);
    }
    for (int i = 0; i < f->nargs; i++) {
        for (int d = 0; d < f->args[i].ndim; d++)
            t[d] =
                (struct turns){f->args[i].loops[d], one, f->args[i].extents[d]};
        check_turns(k, f->args[i].body, f->args[i].ndim, t);
    }
    if (f->trunc_lower)
        check(k, f->trunc_lower);
    if (f->trunc_upper)
        check(k, f->trunc_upper);
}

void emit_check_subscripts(struct emitter *e, const struct family *f)
{
    struct look k = {.e = e,
                     .where = text_in_string(e->c, span_text(e->c, f->span)),
                     .loading = f->data_block};
    check_places(&k, f);
    check_family(&k, f);
}

bool emit_has_beyond(const struct family *f)
{
    bool found = f->body && state_decides(f->body, NULL);
    for (int i = 0; i < f->nargs; i++) {
        found = found || state_decides(f->args[i].body, NULL);
        for (int d = 0; d < f->args[i].ndim; d++)
            found = found || sym_reads_latent(f->args[i].extents[d]);
    }
    return found && !f->data_block && !f->auxiliary && !f->tally;
}

void emit_beyond(struct compiler *c, struct text *out, const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    static const struct host_function beyond = {
        "bool", "beyond", ", struct gbm_problem *problem", ", problem"};
    struct look k = {.e = &e, .where = "here", .of_state = true};
    emit_open_host_function(&e, f, &beyond);
    check_family(&k, f);
    emit_line(&e, "return true;");
    emit_close_host_function(&e, f, &beyond);
}
