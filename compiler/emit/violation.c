/* violation.c: how far an element is from where its density is not 0, for
 * the search of starting values: the distances to the support and the
 * truncation, by which the rules of its distribution are broken, and of
 * what it takes logs of. */
#include "emit/emit.h"
#include <string.h>

/* x outside [lower, upper]; a bound may be null. */
struct distance {
    symp x, lower, upper;
    struct distance *next;
};

struct distances {
    struct emitter *e;
    struct distance *added; /* each once */
};

static bool same(symp a, symp b) { return a && b ? sym_same(a, b) : a == b; }

static bool added(const struct distances *d, symp x, symp lower, symp upper)
{
    for (const struct distance *a = d->added; a; a = a->next)
        if (same(a->x, x) && same(a->lower, lower) && same(a->upper, upper))
            return true;
    return false;
}

static void add_distance(struct distances *d, symp x, symp lower, symp upper)
{
    struct emitter *e = d->e;
    if (!emit_loops_in_scope(e, x) ||
        (lower && !emit_loops_in_scope(e, lower)) ||
        (upper && !emit_loops_in_scope(e, upper)) || added(d, x, lower, upper))
        return;
    struct distance *new = NEW(e->c, struct distance);
    *new = (struct distance){x, lower, upper, d->added};
    d->added = new;
    const char *value = emit_expr(e, x);
    const char *low = lower ? emit_expr(e, lower) : "-GBM_INF";
    const char *high = upper ? emit_expr(e, upper) : "GBM_INF";
    emit_line(e, "sum += gbm_outside(%s, %s, %s);", value, low, high);
}

static void add_rule(struct distances *d, symp rule)
{
    if (!rule || rule->kind != SYM_CALL || rule->nargs != 2)
        return;
    symp a = rule->args[0], b = rule->args[1];
    if (!strcmp(rule->name, "&&")) {
        add_rule(d, a);
        add_rule(d, b);
    } else if (rule->name[0] == '<') {
        add_distance(d, a, NULL, b);
    } else if (rule->name[0] == '>') {
        add_distance(d, a, b, NULL);
    }
}

static void add_rules(struct distances *d, const struct family *f)
{
    struct compiler *c = d->e->c;
    const struct clause *rules = entry_clause(f->distribution, "require");
    for (const struct clause_item *i = rules ? rules->items : NULL; i;
         i = i->next) {
        if (emit_free_index(f->distribution, i->value))
            continue;
        symp rule = family_expression(c, f, i->value);
        add_rule(d, rule ? model_substitute_derived(c, rule) : NULL);
    }
    if (f->stated)
        add_rule(d, model_substitute_derived(c, f->stated));
}

/* `confine t: real(lower, upper)` */
static void add_confined(struct distances *d, const struct family *f)
{
    struct compiler *c = d->e->c;
    const struct entry *entry = f->distribution;
    const struct clause *confined = entry_clause(entry, "confine");
    for (const struct clause_item *i = confined ? confined->items : NULL; i;
         i = i->next)
        for (int a = 0; a < f->nargs; a++) {
            if (!i->label || i->label->name != entry->parameters[a].name ||
                i->value->nargs != 2 || f->args[a].ndim)
                continue;
            symp lower = family_expression(c, f, i->value->args[0]);
            symp upper = family_expression(c, f, i->value->args[1]);
            if (lower && upper)
                add_distance(d, model_substitute_derived(c, f->args[a].body),
                             model_substitute_derived(c, lower),
                             model_substitute_derived(c, upper));
        }
}

/* A category's probability that is a difference of others, say. */
static void add_logs(struct distances *d, symp x)
{
    if (x->kind == SYM_CALL && !strcmp(x->name, "log") && x->nargs == 1)
        add_distance(d, x->args[0], sym_num(d->e->c, 0), NULL);
    else if (x->kind == SYM_ADD || x->kind == SYM_MUL)
        for (int i = 0; i < x->nargs; i++)
            add_logs(d, x->args[i]);
}

bool emit_has_categories(const struct family *f)
{
    return f->stochastic && f->factor && !f->auxiliary && f->factor->upper &&
           entry_clause(f->distribution, "nominal");
}

bool emit_has_counts(const struct family *f)
{
    const struct factor *g = f->factor;
    return f->stochastic && g && !f->auxiliary && model_draws_integers(f) &&
           !entry_clause(f->distribution, "nominal") &&
           !(g->lower && g->lower->kind == SYM_NUM && g->upper &&
             g->upper->kind == SYM_NUM &&
             g->upper->number - g->lower->number <= 1);
}

void emit_categories(struct compiler *c, struct text *out,
                     const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    static const struct host_function categories = {"int64_t", "categories", "",
                                                    ""};
    emit_open_host_function(&e, f, &categories);
    emit_line(&e, "return (int64_t)(%s);", emit_expr(&e, f->factor->upper));
    emit_close_host_function(&e, f, &categories);
}

/* Whether e reads an array at a place that x decides. */
static bool reads_at(symp e, symp x)
{
    for (int i = 0; i < e->nargs; i++)
        if (reads_at(e->args[i], x) ||
            (e->kind == SYM_REF && sym_has(e->args[i], x)))
            return true;
    return false;
}

void emit_violation(struct compiler *c, struct text *out,
                    const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    static const struct host_function violation = {"double", "violation", "",
                                                   ""};
    emit_open_host_function(&e, f, &violation);
    const struct factor *g = f->factor;
    struct distances d = {&e, NULL};
    emit_line(&e, "double sum = 0;");
    if (g->lower || g->upper)
        add_distance(&d, g->value, g->lower, g->upper);
    if (reads_at(g->plain, g->value)) { /* as log(p[x]) of a category */
        emit_line(&e, "if (sum > 0)");
        emit_line(&e, "    return sum;");
    }
    add_rules(&d, f);
    add_confined(&d, f);
    add_logs(&d, g->plain);
    emit_line(&e, "return sum;");
    emit_close_host_function(&e, f, &violation);
}
