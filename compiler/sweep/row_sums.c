/* row_sums.c: sums over the rows of a likelihood that need no pass over the
 * rows in a sweep.
 *
 * What a step takes from a factor is a sum over the instances of an expression.
 * Where its products are of what is the same for all rows and of what data
 * alone settle, sum_i f g[i] = f sum_i g[i], and the sums of g become constants
 * that are computed at load: sums of Y[i,k] and of Y[i,k] Y[i,l] for a common
 * mean and precision matrix.
 *
 * Observed values are first centred, Y[i,k] = mean_k + r[i,k], and of each
 * factor of a product the part that is the same for all rows is kept together,
 * (mean_k - mu_k): no digits are lost where values are large beside their
 * spread. Other data that vary by row are taken as they stand in precisions and
 * potentials of normals. A residual sum of squares about a regression, from X'X
 * and X'y of centred data, cancels where the fit is very close: it is compared
 * with the size of its products, and a sweep in which too few digits would be
 * left goes through the rows.
 *
 * All this holds where the observed array is observed throughout, which the
 * program asks at run time; otherwise it goes through the rows. */
#include "sweep/sweep.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 2000 };

struct rows {
    struct compiler *c;
    struct model *m;
    const struct part *part;
    struct var *data; /* the observed array */
    struct {
        struct var *of, *as; /* not in the model */
    } residuals[16];         /* stand for data less their means */
    int nresiduals;
    const struct grouping *grouping; /* the rows are those where the key is */
    symp key, group;                 /* group, or count in it by */
    symp weight;                     /* this weight; or NULL */
    symp count;                      /* of rows */
    symp needs;   /* a condition under which it is worth it, or NULL */
    bool plain;   /* other data may vary by row */
    bool guarded; /* so they may, centred, where the sum is then checked */
    int steps;
    bool failed;
};

static bool is_row_loop(const struct rows *r, const struct loop *l)
{
    for (int i = 0; i < r->part->nloops; i++)
        if (r->part->loops[i] == l && !r->part->solved[i])
            return true;
    return false;
}

static bool varies(const struct rows *r, symp e)
{
    if (e->kind == SYM_LOOP)
        return is_row_loop(r, e->loop);
    for (int i = 0; i < e->nargs; i++)
        if (varies(r, e->args[i]))
            return true;
    return false;
}

/* The data that v stands for, centred; NULL: none. */
static struct var *centred_data(const struct rows *r, const struct var *v)
{
    for (int i = 0; i < r->nresiduals; i++)
        if (r->residuals[i].as == v)
            return r->residuals[i].of;
    return NULL;
}

static struct var *residual_of(struct rows *r, struct var *v)
{
    struct var *as = NULL;
    for (int i = 0; i < r->nresiduals; i++)
        if (r->residuals[i].of == v)
            as = r->residuals[i].as;
    if (as || r->nresiduals == 16)
        return as;
    as = NEW(r->c, struct var);
    *as = *v;
    as->name = intern_format(r->c, "%s.centred", v->name);
    r->residuals[r->nresiduals].of = v;
    r->residuals[r->nresiduals++].as = as;
    return as;
}

static bool is_unsettled(symp e, const void *rows)
{
    const struct rows *r = rows;
    return e->kind == SYM_TARGET || e->kind == SYM_PARAM ||
           e->kind == SYM_SEEN || e->kind == SYM_LIVE || sym_is_draw(e, NULL) ||
           (sym_is_latent(e, NULL) && e->var != r->data &&
            !centred_data(r, e->var));
}

/* Whether data settle e. */
static bool settled(const struct rows *r, symp e)
{
    return !sym_any(e, is_unsettled, r);
}

/* Whether rows differ by the centred observed values alone. */
static bool varies_by_residual(const struct rows *r, symp e)
{
    if (e->kind == SYM_REF && r->data && centred_data(r, e->var) == r->data)
        return true;
    if (e->kind == SYM_LOOP)
        return !is_row_loop(r, e->loop);
    for (int i = 0; i < e->nargs; i++)
        if (!varies_by_residual(r, e->args[i]))
            return false;
    return true;
}

/* Whether nothing is lost to rounding where e is summed term by term: what
 * data settle is summed as it stands, and of products with other things the
 * observed values are centred. */
static bool keeps_digits(const struct rows *r, symp e)
{
    if (!varies(r, e) || settled(r, e) || varies_by_residual(r, e))
        return true;
    if (e->kind == SYM_ADD || e->kind == SYM_SELECT) {
        for (int i = 0; i < e->nargs; i++)
            if (!keeps_digits(r, e->args[i]))
                return false;
        return true;
    }
    for (int i = 0; e->kind == SYM_MUL && i < e->nargs; i++)
        if (varies(r, e->args[i]) && !settled(r, e->args[i]))
            return false;
    return e->kind == SYM_MUL;
}

/* The sum over the rows of e, which data settle. */
static symp over_rows(struct rows *r, symp e)
{
    struct compiler *c = r->c;
    const struct part *p = r->part;
    if (r->key)
        e = sym_mul2(c, sym_eq(c, r->key, r->group), e);
    if (r->weight)
        e = sym_mul2(c, r->weight, e);
    for (int i = p->nloops - 1; i >= 0; i--) {
        if (p->solved[i])
            continue;
        symp lower = p->loops[i]->lower, upper = p->loops[i]->upper;
        for (int j = i - 1; j >= 0; j--)
            if (p->solved[j]) {
                lower = sym_replace_loop(c, lower, p->loops[j], p->solved[j]);
                upper = sym_replace_loop(c, upper, p->loops[j], p->solved[j]);
            }
        if (!settled(r, lower) || !settled(r, upper)) {
            r->failed = true;
            return e;
        }
        struct loop *l = NEW(c, struct loop);
        *l = (struct loop){
            .name = p->loops[i]->name, .lower = lower, .upper = upper};
        e = sym_replace_loop(c, e, p->loops[i], sym_loop(c, l));
        e = sym_sum(c, l, lower, upper, e);
    }
    return e;
}

/* A cell for each group: that of weights, which may be others than the elements
 * at hand. */
static symp table(struct rows *r, symp e)
{
    if (!r->weight)
        return model_table_of(r->c, r->m, e, r->group);
    const struct family *of = r->weight->var->families;
    struct loop *all = of->loops[of->nloops - 1];
    symp each = sym_loop(r->c, all);
    symp cell = model_table_of(
        r->c, r->m, sym_replace_loop(r->c, e, r->group->loop, each), each);
    return cell ? sym_replace_loop(r->c, cell, all, r->group) : NULL;
}

static symp constant(struct rows *r, symp e)
{
    if (e->kind == SYM_NUM || e->kind == SYM_REF)
        return e;
    symp ref = r->failed     ? NULL
               : r->grouping ? table(r, e)
                             : model_constant_of(r->c, r->m, e);
    r->failed = r->failed || !ref;
    if (ref && r->grouping)
        sweep_say_leaf(ref->var, r->data);
    return ref ? ref : e;
}

/* The mean over the rows of an observed value. */
static symp mean_of(struct rows *r, symp ref)
{
    struct compiler *c = r->c;
    symp some = sym_call(c, ">", 2, (symp[]){r->count, sym_num(c, 0)});
    symp sum = over_rows(r, ref);
    if (r->grouping) /* it is filled in another pass */
        sum = constant(r, sum);
    return constant(
        r, sym_select(c, some, sym_div(c, sum, r->count), sym_num(c, 0)));
}

static symp centre(struct compiler *c, symp e, void *context)
{
    struct rows *r = context;
    bool of_rows = e->kind == SYM_REF && settled(r, e) && varies(r, e);
    if (!of_rows || (e->var != r->data && !r->guarded))
        return NULL;
    struct var *residual = residual_of(r, e->var);
    return residual ? sym_add2(c, mean_of(r, e),
                               sym_ref(c, residual, e->nargs, e->args))
                    : NULL;
}

static symp uncentre(struct compiler *c, symp e, void *context)
{
    struct rows *r = context;
    struct var *data = e->kind == SYM_REF ? centred_data(r, e->var) : NULL;
    if (!data)
        return NULL;
    symp ref = sym_ref(c, data, e->nargs, e->args);
    return sym_sub(c, ref, mean_of(r, ref));
}

static symp sum_of(struct rows *r, symp e);

/* A product with a sum that alone varies as a sum: b (x[i] - m) with x[i]
 * centred gives its part that is the same for all rows. */
static symp spread(struct rows *r, symp e);

/* The same for a sum within a row, sum(k, b[k] (x[i,k] - m[k])). */
static symp spread_sum(struct rows *r, symp sum, symp others)
{
    struct compiler *c = r->c;
    symp body = spread(r, sum->args[2]), parts[2] = {sym_num(c, 0)};
    parts[1] = parts[0];
    int n = body->kind == SYM_ADD ? body->nargs : 1;
    for (int i = 0; i < n; i++) {
        symp term = body->kind == SYM_ADD ? body->args[i] : body;
        symp *to = &parts[varies(r, term)];
        *to = sym_add2(c, *to, term);
    }
    symp total = sym_num(c, 0);
    for (int k = 0; k < 2; k++)
        total = sym_add2(c, total,
                         sym_mul2(c, others,
                                  sym_sum(c, sum->loop, sum->args[0],
                                          sum->args[1], parts[k])));
    return total;
}

static symp spread(struct rows *r, symp e)
{
    struct compiler *c = r->c;
    symp sum = NULL, others = sym_num(c, 1), same = sym_num(c, 0);
    for (int i = 0; e->kind == SYM_MUL && i < e->nargs; i++) {
        symp f = e->args[i];
        if (!varies(r, f))
            others = sym_mul2(c, others, f);
        else if (sum || (f->kind != SYM_ADD && f->kind != SYM_SUM))
            return e;
        else
            sum = f;
    }
    if (e->kind == SYM_SUM)
        sum = e;
    if (!sum)
        return e;
    if (sum->kind == SYM_SUM)
        return spread_sum(r, sum, others);
    symp total = sym_num(c, 0);
    for (int i = 0; i < sum->nargs; i++)
        if (varies(r, sum->args[i]))
            total = sym_add2(c, total,
                             spread(r, sym_mul2(c, others, sum->args[i])));
        else
            same = sym_add2(c, same, sum->args[i]);
    return sym_add2(c, total, sym_mul2(c, others, same));
}

/* factor * sum, term by term: what stays together as a factor is one value. */
static symp times(struct compiler *c, symp factor, symp sum)
{
    if (sum->kind != SYM_ADD)
        return sym_mul2(c, factor, sum);
    symp total = sym_num(c, 0);
    for (int i = 0; i < sum->nargs; i++)
        total = sym_add2(c, total, sym_mul2(c, factor, sum->args[i]));
    return total;
}

/* Sums sum * others over the rows, by the terms of the sum: together those that
 * are the same for all rows, and those that data settle. */
static symp distribute(struct rows *r, symp sum, symp others)
{
    struct compiler *c = r->c;
    symp flat = sym_num(c, 0);
    for (int i = 0; i < sum->nargs; i++)
        flat = sym_add2(c, flat, spread(r, sum->args[i]));
    if (flat->kind == SYM_ADD)
        sum = flat;
    symp same = sym_num(c, 0), data = same, total = same;
    for (int i = 0; i < sum->nargs; i++) {
        symp term = sum->args[i];
        if (!varies(r, term))
            same = sym_add2(c, same, term);
        else if (settled(r, term))
            data = sym_add2(c, data, term);
        else
            total = sym_add2(c, total, sum_of(r, sym_mul2(c, term, others)));
    }
    if (!sym_is(data, 0))
        total = sym_add2(c, total, sum_of(r, sym_mul2(c, data, others)));
    if (!sym_is(same, 0))
        total = sym_add2(c, total, times(c, same, sum_of(r, others)));
    return total;
}

/* A sum inside a product: under an index of its own, as it may meet itself. */
static symp into_sum(struct rows *r, symp sum, symp others)
{
    struct compiler *c = r->c;
    struct loop *l = NEW(c, struct loop);
    *l = *sum->loop;
    if (r->guarded) {
        /* a square of as many terms as there are products of two: worth it
         * for fewer of them than rows */
        l->lower = sum->args[0];
        symp few = sym_call(c, "<=", 2, (symp[]){sum->args[1], r->count});
        symp none = sym_add2(c, l->lower, sym_num(c, -1));
        l->upper =
            sym_add2(c, none, sym_mul2(c, few, sym_sub(c, sum->args[1], none)));
        r->needs = r->needs ? sym_and(c, r->needs, few) : few;
    }
    symp body = sym_replace_loop(c, sum->args[2], sum->loop, sym_loop(c, l));
    symp total = sum_of(r, sym_mul2(c, body, others));
    return sym_sum(c, l, sum->args[0], sum->args[1], total);
}

/* A choice that is the same for all rows, times what `others` are. */
static symp choose(struct rows *r, symp e, symp others)
{
    struct compiler *c = r->c;
    return sym_select(c, e->args[0], sum_of(r, sym_mul2(c, e->args[1], others)),
                      sum_of(r, sym_mul2(c, e->args[2], others)));
}

static symp sum_of_product(struct rows *r, int n, const symp *factors)
{
    struct compiler *c = r->c;
    symp same = sym_num(c, 1), product = sym_num(c, 1);
    for (int i = 0; i < n; i++) {
        symp *to = varies(r, factors[i]) ? &product : &same;
        *to = sym_mul2(c, *to, factors[i]);
    }
    if (settled(r, product))
        return times(c, same, sum_of(r, product));
    for (int i = 0; i < n; i++) {
        symp f = factors[i];
        /* one for all elements: what it bars is read for none of them */
        bool choice = f->kind == SYM_SELECT && !sym_has_any_loop(f->args[0]) &&
                      !sym_has_cells(f->args[0]);
        if (!varies(r, f) ||
            (f->kind != SYM_ADD && f->kind != SYM_SUM && !choice))
            continue;
        if (f->kind == SYM_SUM &&
            (varies(r, f->args[0]) || varies(r, f->args[1])))
            break;
        symp others = sym_num(c, 1);
        for (int j = 0; j < n; j++)
            if (j != i && varies(r, factors[j]))
                others = sym_mul2(c, others, factors[j]);
        symp sum = f->kind == SYM_ADD   ? distribute(r, f, others)
                   : f->kind == SYM_SUM ? into_sum(r, f, others)
                                        : choose(r, f, others);
        return times(c, same, sum);
    }
    r->failed = true;
    return product;
}

/* The sum of e over the rows as an expression without them. */
static symp sum_of(struct rows *r, symp e)
{
    struct compiler *c = r->c;
    r->failed = r->failed || ++r->steps > MOST_STEPS;
    if (r->failed)
        return e;
    if (!varies(r, e))
        return sym_mul2(c, r->count, e);
    if (settled(r, e))
        return constant(r, over_rows(r, sym_map(c, e, uncentre, r)));
    if (e->kind == SYM_ADD)
        return distribute(r, e, sym_num(c, 1));
    if (e->kind == SYM_SELECT && !varies(r, e->args[0]))
        return sym_select(c, e->args[0], sum_of(r, e->args[1]),
                          sum_of(r, e->args[2]));
    if (e->kind == SYM_MUL) {
        /* squares are products */
        symp *factors = NEW_ARRAY(c, symp, 2 * e->nargs);
        int n = 0;
        for (int i = 0; i < e->nargs; i++) {
            symp f = e->args[i];
            bool square =
                f->kind == SYM_POW && sym_is(f->args[1], 2) && varies(r, f);
            factors[n++] = square ? f->args[0] : f;
            if (square)
                factors[n++] = f->args[0];
        }
        return sum_of_product(r, n, factors);
    }
    if (e->kind == SYM_POW && sym_is(e->args[1], 2))
        return sum_of_product(r, 2, (symp[]){e->args[0], e->args[0]});
    return sum_of_product(r, 1, &e);
}

/* k: the rows are those of a group; or NULL. */
static bool start(struct compiler *c, struct model *m, const struct part *p,
                  const struct grouping *k, bool plain, struct rows *r)
{
    struct var *data = p->factor->seen_var;
    bool any = false;
    p = k ? &k->part : p;
    for (int i = 0; i < p->nloops; i++)
        any = any || !p->solved[i];
    if (!(data || (k && (k->of_cells || k->weight))) || !any || p->own ||
        p->inverse || (p->guard && !(k && k->weight)) || p->opaque)
        return false;
    *r = (struct rows){.c = c, .m = m, .part = p, .data = data, .plain = plain};
    r->key = k ? k->key : NULL;
    r->group = k ? k->group : NULL;
    r->weight = k ? k->weight : NULL;
    r->grouping = k;
    symp count = over_rows(r, sym_num(c, 1));
    r->count = count->kind == SYM_SUM ? constant(r, count) : count;
    return !r->failed;
}

/* What the terms of a sum add up to in absolute value. A factor of a product
 * that is a sum is one value, the same for all rows. */
static symp size_of(struct compiler *c, symp e, bool factor)
{
    if (e->kind == SYM_NUM)
        return sym_num(c, fabs(e->number));
    if ((e->kind == SYM_ADD && !factor) || e->kind == SYM_MUL) {
        symp *args = NEW_ARRAY(c, symp, e->nargs);
        for (int i = 0; i < e->nargs; i++)
            args[i] = size_of(c, e->args[i], e->kind == SYM_MUL);
        return sym_rebuild(c, e, args);
    }
    if (e->kind == SYM_SUM)
        return sym_sum(c, e->loop, e->args[0], e->args[1],
                       size_of(c, e->args[2], false));
    if (e->kind == SYM_POW && sym_is(e->args[1], 2))
        return e;
    return sym_call(c, "abs", 1, &e);
}

/* Of products that data settle, what varies by row alone is summed. */
static symp sum_settled(struct rows *r, symp e)
{
    struct compiler *c = r->c;
    symp same = sym_num(c, 1), product = sym_num(c, 1);
    for (int i = 0; e->kind == SYM_MUL && i < e->nargs; i++) {
        symp *to = varies(r, e->args[i]) ? &product : &same;
        *to = sym_mul2(c, *to, e->args[i]);
    }
    symp sum = constant(r, over_rows(r, e->kind == SYM_MUL ? product : e));
    return r->failed ? NULL : sym_mul2(c, same, sum);
}

/* Of what is no group, 0. */
static symp where_group(const struct rows *r, symp sum)
{
    symp within = r->grouping ? r->grouping->within : NULL;
    return sum && within ? sym_select(r->c, within, sum, sym_num(r->c, 0))
                         : sum;
}

/* The sum of e over the rows of r's part, or NULL. */
static symp without_rows(struct rows *r, symp e)
{
    if (r->grouping)
        e = sweep_row_in_group(r->c, r->grouping, e);
    r->failed = r->failed || !e;
    if (r->failed)
        return NULL;
    if (r->grouping && settled(r, e) && varies(r, e))
        return where_group(r, sum_settled(r, e));
    symp centred = sym_map(r->c, e, centre, r);
    if (!r->plain && !r->guarded && !keeps_digits(r, centred))
        r->failed = true;
    symp sum = sum_of(r, centred);
    return r->failed ? NULL : where_group(r, sum);
}

/* Constants of a sum that could not be found are taken back. */
struct mark {
    struct family *families, **last_family;
    struct var **last_var;
};

static struct mark mark(const struct model *m)
{
    return (struct mark){m->families, m->last_family, m->last_var};
}

static void take_back(struct model *m, const struct mark *k)
{
    m->families = k->families;
    m->last_family = k->last_family;
    *m->last_family = NULL;
    m->last_var = k->last_var;
    *m->last_var = NULL;
    family_number(m);
}

static struct part *no_rows(struct compiler *c, const struct part *p,
                            const struct grouping *k)
{
    struct part *q = NEW(c, struct part);
    *q = *p;
    q->own = true; /* one instance */
    q->next = NULL;
    q->summed = NULL;
    if (k) {
        q->tallied = true;
        q->inverse = NULL;
        q->guard = k->weight ? p->guard : NULL;
    }
    return q;
}

static bool sum_quadratic(struct compiler *c, struct model *m,
                          struct quadratic *q, const struct grouping *k,
                          bool plain)
{
    const struct mark before = mark(m);
    struct rows r = {.failed = false};
    if (q->row || !start(c, m, q->part, k, plain, &r)) {
        take_back(m, &before);
        return false;
    }
    struct quadratic *sum = NEW(c, struct quadratic);
    *sum = *q;
    sum->next = sum->summed = NULL;
    sum->part = no_rows(c, q->part, k);
    for (int i = 0; i < 8; i++) {
        if (q->potential[i])
            sum->potential[i] = without_rows(&r, q->potential[i]);
        for (int j = 0; j < 8; j++)
            if (q->precision[i][j])
                sum->precision[i][j] = without_rows(&r, q->precision[i][j]);
    }
    if (r.failed)
        take_back(m, &before);
    else
        q->summed = sum;
    return !r.failed;
}

static bool sum_part(struct compiler *c, struct model *m, struct part *p,
                     const struct grouping *k, bool plain, bool guarded)
{
    const struct mark before = mark(m);
    struct rows r = {.failed = false};
    if (!p->terms.n || !start(c, m, p, k, plain, &r)) {
        take_back(m, &before);
        return false;
    }
    struct part *sum = no_rows(c, p, k);
    r.guarded = guarded;
    sum->sizes = guarded ? NEW_ARRAY(c, symp, p->terms.n) : NULL;
    for (int i = 0; i < p->terms.n && !r.failed; i++) {
        symp e = without_rows(&r, p->terms.coefficient[i]);
        sum->terms.coefficient[i] = e;
        if (guarded && !r.failed && varies(&r, p->terms.coefficient[i]))
            sum->sizes[i] = size_of(c, e, false);
    }
    sum->needs = r.needs;
    if (r.failed)
        take_back(m, &before);
    else
        p->summed = sum;
    return !r.failed;
}

static bool is_plain(const struct step *s)
{
    return !s->law.family || entry_is_normal(s->law.family);
}

/* Scalars whose parts are sums of coefficients. */
static bool is_direct(const struct step *s)
{
    return !s->block.quadratics && !s->through;
}

static void sum_at_load(struct compiler *c, struct model *m, struct step *s)
{
    for (struct quadratic *q = s->block.quadratics; q; q = q->next)
        sum_quadratic(c, m, q, NULL, is_plain(s));
    for (struct part *p = is_direct(s) ? s->parts : NULL; p; p = p->next)
        if (!sum_part(c, m, p, NULL, is_plain(s), false))
            sum_part(c, m, p, NULL, is_plain(s), true);
}

/* ---- groups
 * ------------------------------------------------------------------- */

/* The steps that can read sums over the groups of one random variable. */
struct readers {
    const struct var *key;
    int n;
    bool searched; /* one of them looks at all rows for each element */
    struct readers *next;
};

static const struct var *random_in(symp e)
{
    if (e->kind == SYM_REF && sym_is_latent(e, NULL))
        return e->var;
    const struct var *v = NULL;
    for (int i = 0; i < e->nargs && !v; i++)
        v = random_in(e->args[i]);
    return v;
}

static struct readers *readers_of(struct compiler *c, struct readers **all,
                                  const struct var *key)
{
    while (*all && (*all)->key != key)
        all = &(*all)->next;
    if (!*all) {
        *all = NEW(c, struct readers);
        (*all)->key = key;
    }
    return *all;
}

/* A pass over the rows, and the tables' cells, in the place of an index and the
 * rows of each group: worth it if several steps read them, or if without an
 * index each element went through all rows. */
static bool is_worth(const struct readers *k)
{
    return k->n > 1 || k->searched;
}

/* The quadratics or parts of s from tables; with `only_ask`, what of it is
 * possible enters `all`. */
static void sum_by_group(struct compiler *c, struct model *m, struct step *s,
                         struct readers **all, bool only_ask)
{
    struct readers *last = NULL;
    struct quadratic *q = s->block.quadratics;
    struct part *p = is_direct(s) ? s->parts : NULL;
    for (; q || p; q = q ? q->next : NULL, p = p ? p->next : NULL) {
        struct part *of = q ? q->part : p;
        struct grouping k;
        if ((q ? q->summed : NULL) || of->summed || of->opaque || of->own ||
            !(sweep_by_group(c, s, of, &k) ||
              (q && sweep_by_cell(c, s, q, &k)) ||
              sweep_by_weight(c, of, q, &k)))
            continue;
        struct readers *of_key =
            readers_of(c, all, random_in(k.weight ? k.weight : k.key));
        if (!only_ask && !is_worth(of_key))
            continue;
        const struct mark before = mark(m);
        if (!(q ? sum_quadratic(c, m, q, &k, is_plain(s))
                : sum_part(c, m, p, &k, is_plain(s), false)) ||
            !only_ask)
            continue;
        take_back(m, &before);
        if (q)
            q->summed = NULL;
        else
            p->summed = NULL;
        of_key->n += of_key != last;
        of_key->searched = of_key->searched || k.searched;
        last = of_key;
    }
}

/* Where the tables begin: those of what was integrated out come before. */
static struct family **first_table(struct model *m)
{
    struct family **f = &m->families;
    while (*f &&
           (!(*f)->for_updates || (*f)->var->rest_of || (*f)->var->slope_of))
        f = &(*f)->next;
    return f;
}

void sweep_sum_rows(struct compiler *c, struct model *m)
{
    struct readers *all = NULL;
    for (struct step *s = m->steps; s; s = s->next)
        if (s->sampler->adds_up)
            sum_at_load(c, m, s);
    struct family **tables = first_table(m);
    for (int pass = 0; pass < 2; pass++)
        for (struct step *s = m->steps; s; s = s->next)
            if (s->sampler->adds_up)
                sum_by_group(c, m, s, &all, pass == 0);
    sweep_form_tallies(c, m, tables);
}
