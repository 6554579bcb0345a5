/* named.c: arguments that are given by name, `dnorm(mean = m, sd = s)` as in
 * NIMBLE. Requires the tree; leaves calls whose arguments are in order. The
 * names are those of a distribution's parameters, or of another
 * parametrisation that its library entry states:
 *
 *     named dnorm(mean, sd): dnorm(mean, 1 / sd^2)
 *
 * A name with a value, `prec_param = 0`, is that of a form which is meant where
 * the call gives this value, as a number or as R's TRUE or FALSE. */
#include "model/model.h"

#include <string.h>

enum { MAX_NAMED = 16 };

/* A parametrisation: its names, and the arguments that they stand for. */
struct form {
    const char *names[MAX_NAMED];
    const struct expr *only[MAX_NAMED]; /* the value that it is for, or NULL */
    struct expr *given[MAX_NAMED];
    int n;
};

static bool has_labels(const struct expr *e)
{
    for (int i = 0; i < e->nargs; i++)
        if (e->args[i]->label)
            return true;
    return false;
}

static bool is_value(const struct expr *e, double value)
{
    if (e->kind == EXPR_NAME && !e->bracket)
        return !strcmp(e->name, value != 0 ? "TRUE" : "FALSE");
    return e->kind == EXPR_NUM && e->number == value;
}

/* Names first; what has none takes the places left, in order. */
static bool fits(struct form *k, const struct expr *call)
{
    if (k->n != call->nargs)
        return false;
    for (int j = 0; j < k->n; j++)
        k->given[j] = NULL;
    for (int i = 0; i < call->nargs; i++) {
        int j = 0;
        while (j < k->n && k->names[j] != call->args[i]->label)
            j++;
        if (call->args[i]->label && (j == k->n || k->given[j]))
            return false;
        if (call->args[i]->label)
            k->given[j] = call->args[i];
    }
    for (int i = 0, j = 0; i < call->nargs; i++) {
        if (call->args[i]->label)
            continue;
        while (k->given[j])
            j++;
        k->given[j] = call->args[i];
    }
    for (int j = 0; j < k->n; j++)
        if (k->only[j] && !is_value(k->given[j], k->only[j]->number))
            return false;
    for (int j = 0; j < k->n; j++)
        k->given[j]->label = NULL;
    return true;
}

static struct form own_form(const struct entry *d)
{
    struct form k = {.n = d->nparameters <= MAX_NAMED ? d->nparameters : 0};
    for (int i = 0; i < k.n; i++)
        k.names[i] = d->parameters[i].name;
    return k;
}

static struct form stated_form(const struct expr *label)
{
    struct form k = {.n = label->nargs <= MAX_NAMED ? label->nargs : 0};
    for (int i = 0; i < k.n; i++) {
        const struct expr *a = label->args[i];
        k.names[i] = a->label ? a->label : a->name;
        k.only[i] = a->label ? a : NULL;
    }
    return k;
}

/* A copy of the library's text, at the place of the call, where a form's names
 * are its arguments. */
static struct expr *filled_in(struct compiler *c, const struct expr *e,
                              const struct form *k, struct span span)
{
    for (int i = 0; e->kind == EXPR_NAME && i < k->n; i++)
        if (k->names[i] == e->name)
            return k->given[i];
    struct expr *copy = expr_new(c, e->kind, span);
    *copy = *e;
    copy->span = span;
    copy->args = NEW_ARRAY(c, struct expr *, e->nargs + 1);
    for (int i = 0; i < e->nargs; i++) {
        copy->args[i] = filled_in(c, e->args[i], k, span);
        if (copy->depth <= copy->args[i]->depth)
            copy->depth = copy->args[i]->depth + 1;
    }
    return copy;
}

static void print_form(struct text *t, const struct form *k, const char *before)
{
    text_append(t, before);
    for (int i = 0; i < k->n; i++) {
        text_printf(t, "%s%s", i ? ", " : "(", k->names[i]);
        if (k->only[i])
            text_printf(t, " = %g", k->only[i]->number);
    }
    text_append(t, ")");
}

static void no_such_form(struct compiler *c, const struct expr *call,
                         const struct entry *d)
{
    struct text t = {0};
    struct form own = own_form(d);
    print_form(&t, &own, "");
    const struct clause *named = entry_clause(d, "named");
    for (const struct clause_item *i = named ? named->items : NULL; i;
         i = i->next) {
        struct form k = stated_form(i->label);
        print_form(&t, &k, i->next ? ", " : " or ");
    }
    error_at(c, call->span, "the arguments of %s are %s", call->name, t.data);
    text_free(&t);
}

static void put_in_order(struct compiler *c, struct expr *call)
{
    const struct entry *d = library_find(c, ENTRY_DISTRIBUTION, call->name);
    if (!d)
        return; /* resolve says so */
    struct form k = own_form(d);
    if (fits(&k, call)) {
        struct expr **args = NEW_ARRAY(c, struct expr *, k.n + 1);
        for (int i = 0; i < k.n; i++)
            args[i] = k.given[i];
        call->args = args;
        return;
    }
    const struct clause *named = entry_clause(d, "named");
    for (const struct clause_item *i = named ? named->items : NULL; i;
         i = i->next) {
        k = stated_form(i->label);
        if (!fits(&k, call))
            continue;
        *call = *filled_in(c, i->value, &k, call->span);
        return;
    }
    no_such_form(c, call, d);
}

/* Names are for a distribution's arguments only. */
static void refuse_labels(struct compiler *c, const struct expr *e)
{
    for (int i = 0; e && i < e->nargs; i++) {
        const struct expr *a = e->args[i];
        if (a->label) {
            error_at(c, e->span,
                     "only the arguments of a distribution have names, as %s "
                     "has here",
                     a->label);
            note_at(c, a->span, "to compare, write '=='");
        }
        refuse_labels(c, a);
    }
}

static void statements(struct compiler *c, struct stmt *s)
{
    for (; s; s = s->next) {
        refuse_labels(c, s->range);
        refuse_labels(c, s->lower);
        refuse_labels(c, s->upper);
        if (s->kind == STMT_STOCHASTIC && s->rhs->kind == EXPR_CALL) {
            for (int i = 0; i < s->rhs->nargs; i++)
                refuse_labels(c, s->rhs->args[i]);
            if (has_labels(s->rhs))
                put_in_order(c, s->rhs);
        } else {
            refuse_labels(c, s->rhs);
        }
        statements(c, s->body);
    }
}

void model_order_arguments(struct compiler *c, struct program *p)
{
    statements(c, p->data);
    statements(c, p->model);
    for (const struct entry *e = p->entries; e; e = e->next)
        for (const struct clause *k = e->clauses; k; k = k->next)
            for (const struct clause_item *i = k->items; i; i = i->next)
                refuse_labels(c, i->value);
}
