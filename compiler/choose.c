/* choose.c: samplers { }: what the model asks for, instead of what the compiler
 * takes by itself. A slice can be asked for everywhere; `gibbs` and `enumerate`
 * are promises that are checked once the steps are known. */
#include "gbmc.h"
#include <ctype.h>
#include <string.h>

/* Keep in the order of docs/samplers.md. */
static const char *const methods[] = {"gibbs", "slice", "enumerate", "rw",
                                      "am",    "diam",  "pcn",       "ess",
                                      "hmc",   "nuts",  "pgas"};
enum { NMETHODS = sizeof methods / sizeof *methods, NSUPPORTED = 3 };

static int method_of(const char *name)
{
    for (int i = 0; i < NMETHODS; i++)
        if (!strcmp(name, methods[i]))
            return i;
    return -1;
}

static bool check_method(struct compiler *c, const struct sampler_choice *k)
{
    int i = method_of(k->method);
    if (i >= 0 && i < NSUPPORTED)
        return true;
    if (i >= 0) {
        error_at(c, k->method_span,
                 "not supported yet: %s; there are gibbs, slice and enumerate",
                 k->method);
        return false;
    }
    const char *near = nearest_name(k->method, methods, NMETHODS);
    error_at(c, k->method_span, "unknown sampler %s%s%s%s", k->method,
             near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return false;
}

/* ---- Targets -------------------------------------------------------------
 */

/* Whether two texts agree but for blanks; b ends at a relation. */
static bool same_text(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        bool end = !*b || *b == '~' || *b == '<' || *b == '=';
        if (!*a || end)
            return !*a && end;
        if (*a != *b)
            return false;
    }
}

static bool is_target(const struct expr *target, const struct family *f)
{
    if (f->auxiliary || f->var->name != target->name)
        return false;
    if (!target->bracket)
        return true;
    struct text t = {0};
    expr_print(&t, target);
    bool same = same_text(t.data, f->text);
    text_free(&t);
    return same;
}

static void no_target(struct compiler *c, const struct model *m,
                      const struct expr *target)
{
    const char *names[256];
    int n = 0;
    for (const struct var *v = m->vars; v && n < 256; v = v->next) {
        if (v->name == target->name && v->role == ROLE_STOCHASTIC) {
            error_at(c, target->span,
                     "no statement draws just this; name %s, or write it as on "
                     "the left of its statement",
                     v->name);
            return;
        }
        if (v->name == target->name) {
            error_at(c, target->span, "%s is not drawn: it has no distribution",
                     v->name);
            return;
        }
        if (v->role == ROLE_STOCHASTIC)
            names[n++] = v->name;
    }
    const char *near = nearest_name(target->name, names, n);
    error_at(c, target->span, "no variable is called %s%s%s%s", target->name,
             near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* ---- Asking --------------------------------------------------------------
 */

static void read_options(struct compiler *c, const struct sampler_choice *k,
                         struct step *s)
{
    for (const struct sampler_option *o = k->options; o; o = o->next) {
        bool width = !strcmp(o->name, "width") && !strcmp(k->method, "slice");
        if (!width)
            error_at(c, o->value->span, "%s has no option %s", k->method,
                     o->name);
        else if (o->value->kind != EXPR_NUM || !(o->value->number > 0))
            error_at(c, o->value->span, "the width is a positive number");
        else
            s->width = o->value->number;
    }
}

static void take_slice(struct compiler *c, const struct expr *target,
                       struct step *s)
{
    if (s->method == METHOD_FORWARD) {
        error_at(c, target->span,
                 "%s is drawn forward from its distribution: nothing depends "
                 "on it",
                 target->name);
        return;
    }
    if (s->method == METHOD_VECTOR) {
        error_at(c, target->span,
                 "not supported yet: a slice for %s, a vector-valued node",
                 target->name);
        return;
    }
    s->method = s->family->var->integer ? METHOD_SLICE_INTEGER : METHOD_SLICE;
    s->recognised = NULL;
    s->exponent = NULL;
    s->bounded = false;
    s->asked = true;
}

static void ask(struct compiler *c, struct model *m,
                const struct sampler_choice *k, const struct expr *target)
{
    bool found = false;
    for (struct step *s = m->steps; s; s = s->next) {
        if (!s->family || !is_target(target, s->family))
            continue;
        found = true;
        if (!strcmp(k->method, "slice"))
            take_slice(c, target, s);
        read_options(c, k, s);
    }
    if (!found)
        no_target(c, m, target);
}

void choose_samplers(struct compiler *c, struct model *m)
{
    for (const struct sampler_choice *k = m->program->samplers; k; k = k->next)
        for (int i = 0; check_method(c, k) && i < k->ntargets; i++)
            ask(c, m, k, k->targets[i]);
}

/* ---- Checking ------------------------------------------------------------
 */

static void check_promise(struct compiler *c, const struct sampler_choice *k,
                          const struct expr *target, const struct step *s)
{
    bool slice = s->method == METHOD_SLICE ||
                 s->method == METHOD_SLICE_INTEGER ||
                 s->method == METHOD_SLICE_VECTOR;
    if (!strcmp(k->method, "gibbs") && slice)
        error_at(c, target->span,
                 "the full conditional of %s is not of a known family, so "
                 "there is no gibbs for it (%s)",
                 target->name, slice_reason(c, s));
    if (!strcmp(k->method, "enumerate") && s->method != METHOD_ENUMERATE)
        error_at(c, target->span, "%s cannot be enumerated: %s", target->name,
                 s->method == METHOD_FORWARD ? "it is drawn forward"
                 : s->family->var->integer   ? "its values have no two ends"
                                             : "it is not discrete");
}

void check_samplers(struct compiler *c, const struct model *m)
{
    for (const struct sampler_choice *k = m->program->samplers; k; k = k->next)
        for (int i = 0; i < k->ntargets; i++)
            for (const struct step *s = m->steps; s; s = s->next)
                if (s->family && s->method != METHOD_NONE &&
                    is_target(k->targets[i], s->family))
                    check_promise(c, k, k->targets[i], s);
}
