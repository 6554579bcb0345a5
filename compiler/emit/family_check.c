/* family_check.c: what to look at in an element's data at load: that they are
 * in the support, and what the library's entry asks of its arguments. */
#include "emit/emit.h"
#include <string.h>

/* The random nodes that an element reads must be data. */
static void check_seen(struct emitter *e, symp x)
{
    for (int i = 0; i < x->nargs; i++)
        check_seen(e, x->args[i]);
    if (x->kind != SYM_REF || x->var->role != ROLE_STOCHASTIC)
        return;
    emit_line(e, "if (!%s)",
              emit_expr(e, sym_seen(e->c, x->var, x->nargs, x->args)));
    emit_line(
        e,
        "    return gbm_problem_text(problem, \"%s is read here, so it must be "
        "supplied\");",
        x->var->name);
}

static const char *element_format(struct emitter *e, const struct family *f,
                                  const char **args)
{
    struct compiler *c = e->c;
    const struct var *v = f->var;
    struct text format = {0}, list = {0};
    text_append(&format, v->name);
    for (int d = 0; d < v->ndim && !f->nslices; d++) {
        text_printf(&format, "%s%%d", d ? "," : "[");
        text_printf(&list, ", %s", emit_int(e, f->lower[d]));
    }
    if (v->ndim && !f->nslices)
        text_append(&format, "]");
    const char *s = intern(c, format.data);
    *args = intern(c, list.data ? list.data : "");
    text_free(&format);
    text_free(&list);
    return s;
}

static const char *support_text(struct compiler *c, const struct family *f)
{
    const struct expr *support = entry_value(f->distribution, "support");
    if (!support)
        return "values";
    struct text t = {0};
    if (!strcmp(support->name, "integer") && support->nargs == 2 &&
        support->args[0]->kind == EXPR_NUM &&
        support->args[1]->kind == EXPR_NUM &&
        support->args[1]->number - support->args[0]->number == 1) {
        text_printf(&t, "{%g,%g}", support->args[0]->number,
                    support->args[1]->number);
    } else {
        text_printf(&t, "%s", support->name);
        for (int i = 0; i < support->nargs; i++) {
            text_append(&t, i ? ", " : " [");
            expr_print(&t, support->args[i]);
        }
        if (support->nargs)
            text_append(&t, "]");
    }
    return text_take(c, &t);
}

/* Bounds of a truncation, which data or the text have, leave something. */
static void check_bounds(struct emitter *e, const struct family *f)
{
    const struct factor *g = f->factor;
    if (!(f->truncated || f->censored) || f->nslices || !g || !g->lower ||
        !g->upper || sym_reads_latent(g->lower) || sym_reads_latent(g->upper))
        return;
    symp reversed = sym_call(e->c, "<", 2, (symp[]){g->upper, g->lower});
    if (reversed->kind == SYM_NUM && reversed->number == 0)
        return;
    const char *args, *name = element_format(e, f, &args);
    const char *low = emit_in_brackets(e, g->lower);
    const char *high = emit_in_brackets(e, g->upper);
    emit_line(e, "if (%s < %s)", high, low);
    emit_line(e,
              "    return gbm_problem_text(problem, \"nothing is left for %s "
              "between the bounds [%%g, %%g] of %s\"%s, (double)%s, "
              "(double)%s);",
              name, text_in_format(e->c, f->text), args, low, high);
}

/* How an end of an interval is printed: its value, where data have it. */
static const char *end_format(symp known, symp end, const char *open)
{
    return known ? "%g" : end ? "..." : open;
}

static void check_observed(struct emitter *e, const struct family *f)
{
    struct compiler *c = e->c;
    const struct factor *g = f->factor;
    if (!g || f->nslices || (!g->lower && !g->upper))
        return;
    symp low = g->lower && !sym_reads_latent(g->lower) ? g->lower : NULL;
    symp high = g->upper && !sym_reads_latent(g->upper) ? g->upper : NULL;
    if (!low && !high)
        return;
    const char *args, *name = element_format(e, f, &args);
    symp seen = sym_seen(c, f->var, f->var->ndim, f->lower);
    const char *value = emit_expr(e, g->value);
    const char *a = low ? emit_in_brackets(e, low) : NULL;
    const char *b = high ? emit_in_brackets(e, high) : NULL;
    emit_line(e, "if (%s && (%s%s%s%s%s%s%s))", emit_expr(e, seen),
              a ? intern_format(c, "%s < ", value) : "", a ? a : "",
              a && b ? " || " : "", b ? intern_format(c, "%s > ", value) : "",
              b ? b : "", "", "");
    if (f->truncated)
        emit_line(e,
                  "    return gbm_problem_text(problem, \"%s = %%g is outside "
                  "the bounds [%s, %s] of %s\"%s, (double)%s%s%s);",
                  name, end_format(low, g->lower, "-inf"),
                  end_format(high, g->upper, "inf"), text_in_format(c, f->text),
                  args, value, a ? intern_format(c, ", (double)%s", a) : "",
                  b ? intern_format(c, ", (double)%s", b) : "");
    else
        emit_line(e,
                  "    return gbm_problem_text(problem, \"%s = %%g is outside "
                  "the support %s of %s\"%s, (double)%s);",
                  name, text_in_format(c, support_text(c, f)),
                  f->written_distribution->name, args, value);
}

static void check_ranges(struct emitter *e, const struct family *f)
{
    for (const struct range_check *k = f->ranges; k; k = k->next) {
        bool known = !sym_reads_latent(k->lower) &&
                     !sym_reads_latent(k->upper) &&
                     emit_loops_in_scope(e, k->lower) &&
                     emit_loops_in_scope(e, k->upper);
        if (!known || (k->lower->kind == SYM_NUM && k->upper->kind == SYM_NUM))
            continue;
        const char *lower = emit_int(e, k->lower);
        const char *upper = emit_int(e, k->upper);
        emit_line(e, "if (%s < %s)", upper, lower);
        emit_line(e,
                  "    return gbm_problem_text(problem, \"the range %s is "
                  "%%d:%%d, which is empty\", (int)(%s), (int)(%s));",
                  text_in_format(e->c, span_source(e->c, k->span)), lower,
                  upper);
    }
}

/* cond, which `text` is in the words of d, holds of data. */
static void check_rule(struct emitter *e, const struct family *f,
                       const struct entry *d, symp cond, struct text *text)
{
    if (!cond || (cond->kind == SYM_NUM && cond->number != 0))
        return;
    cond = model_substitute_derived(e->c, cond);
    if (sym_reads_latent(cond))
        return;
    const char *args, *name = element_format(e, f, &args);
    emit_line(e, "{");
    e->indent++;
    emit_line(e, "if (!(%s))", emit_expr(e, cond));
    emit_line(e,
              "    return gbm_problem_text(problem, \"the parameters of "
              "%s at %s break the rule %s\"%s);",
              d->name, name, text_in_format(e->c, text->data), args);
    emit_close(e, 1);
}

/* What is required of the parameters of the distribution as it is written. */
static void check_stated(struct emitter *e, const struct family *f)
{
    const struct entry *d = f->written_distribution;
    const struct clause *require = entry_clause(d, "require");
    struct text t = {0};
    for (const struct clause_item *i = require ? require->items : NULL; i;
         i = i->next) {
        text_append(&t, t.length ? ", " : "");
        expr_print(&t, i->value);
    }
    if (f->stated && t.length)
        check_rule(e, f, d, f->stated, &t);
    text_free(&t);
}

static void check_requirements(struct emitter *e, const struct family *f)
{
    const struct entry *d = f->distribution;
    const struct clause *require = entry_clause(d, "require");
    for (const struct clause_item *i = require ? require->items : NULL; i;
         i = i->next) {
        struct expr *rule = model_rule_of_each(e->c, d, i->value);
        if (emit_free_index(d, rule))
            continue; /* left to the log density */
        struct text t = {0};
        expr_print(&t, i->value);
        check_rule(e, f, d, family_expression(e->c, f, rule), &t);
        text_free(&t);
    }
    check_stated(e, f);
}

/* The length of dimension k of a parameter, or of the node itself. */
static symp length_of(struct emitter *e, const struct family *f, int parameter,
                      int k)
{
    return parameter < f->distribution->nparameters
               ? f->args[parameter].extents[k]
               : family_extent(e->c, f, k);
}

static const struct parameter *parameter_at(const struct entry *d, int i)
{
    return i < d->nparameters ? &d->parameters[i] : d->result;
}

static void check_length(struct emitter *e, const struct family *f, int i,
                         int k, int j, int l)
{
    const struct entry *d = f->distribution;
    symp a = length_of(e, f, i, k), b = length_of(e, f, j, l);
    if (sym_same(a, b) || sym_reads_latent(a) || sym_reads_latent(b) ||
        !emit_loops_in_scope(e, a) || !emit_loops_in_scope(e, b))
        return;
    const char *first = emit_int(e, a), *second = emit_int(e, b);
    emit_line(e, "if (%s != %s)", first, second);
    emit_line(e,
              "    return gbm_problem_text(problem, \"%s and %s of %s must "
              "agree in length: they have %%d and %%d elements%s\", "
              "(int)(%s), (int)(%s));",
              parameter_at(d, i)->name, parameter_at(d, j)->name, d->name,
              parameter_at(d, i)->ndims > 1 || parameter_at(d, j)->ndims > 1
                  ? " along a side"
                  : "",
              first, second);
}

/* Dimensions that the distribution gives one name must agree in length. */
static void check_lengths(struct emitter *e, const struct family *f)
{
    const struct entry *d = f->distribution;
    int n = d->nparameters + (d->result != NULL);
    for (int j = 0; j < n; j++)
        for (int l = 0; l < parameter_at(d, j)->ndims; l++) {
            const char *name = parameter_at(d, j)->dims[l];
            for (int i = 0; i <= j; i++) { /* with the first of that name */
                const struct parameter *p = parameter_at(d, i);
                int k = 0, end = i < j ? p->ndims : l;
                while (k < end && p->dims[k] != name)
                    k++;
                if (k == end)
                    continue;
                check_length(e, f, i, k, j, l);
                break;
            }
        }
}

void emit_family_check(struct compiler *c, struct text *out,
                       const struct family *f)
{
    struct emitter e = emitter_new(c, out);
    static const struct host_function check = {
        "bool", "check", ", struct gbm_problem *problem", ", problem"};
    emit_open_host_function(&e, f, &check);
    check_ranges(&e, f);
    emit_check_subscripts(&e, f);
    if (f->of_data)
        check_seen(&e, f->body);
    if (f->stochastic && !f->auxiliary) {
        check_lengths(&e, f);
        check_requirements(&e, f);
        check_bounds(&e, f);
        check_observed(&e, f);
    }
    emit_line(&e, "return true;");
    emit_close_host_function(&e, f, &check);
}
