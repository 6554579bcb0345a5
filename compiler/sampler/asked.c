/* asked.c: what samplers { } says of a family, and of a step that it has given
 * a sampler. */
#include "sampler/sampler.h"
#include <string.h>

bool sampler_is_method(const struct sampler_choice *k, const char *name)
{
    return !strcmp(k->method, name);
}

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

bool sampler_is_target(const struct expr *target, const struct family *f)
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

bool sampler_asked_otherwise(const struct model *m, const struct family *f)
{
    for (const struct sampler_choice *k = m->program->samplers; k; k = k->next)
        for (int i = 0; i < k->ntargets; i++)
            if (sampler_is_target(k->targets[i], f) &&
                !sampler_is_method(k, "gibbs") &&
                !sampler_is_method(k, "enumerate"))
                return true;
    return false;
}

bool sampler_named(const struct model *m, const struct family *f)
{
    for (const struct sampler_choice *k = m->program->samplers; k; k = k->next)
        for (int i = 0; i < k->ntargets; i++)
            if (sampler_is_target(k->targets[i], f))
                return true;
    return false;
}

bool sampler_asked_to_enumerate(const struct model *m, const struct family *f)
{
    for (const struct sampler_choice *k = m->program->samplers; k; k = k->next)
        for (int i = 0; i < k->ntargets; i++)
            if (sampler_is_target(k->targets[i], f) &&
                sampler_is_method(k, "enumerate"))
                return true;
    return false;
}

const struct expr *sampler_option(const struct step *s, const char *name)
{
    for (const struct sampler_option *o = s->asked.options; o; o = o->next)
        if (!strcmp(o->name, name))
            return o->value;
    return NULL;
}

double sampler_option_number(const struct step *s, const char *name,
                             double otherwise)
{
    const struct expr *e = sampler_option(s, name);
    return e && e->kind == EXPR_NUM ? e->number : otherwise;
}

const char *sampler_steps(struct compiler *c, const struct step *s,
                          const char *otherwise)
{
    const int steps = (int)sampler_option_number(s, "steps", 0);
    return steps ? intern_format(c, "%d", steps) : otherwise;
}

const char *sampler_with_steps(struct compiler *c, const struct step *s,
                               const char *name)
{
    const int steps = (int)sampler_option_number(s, "steps", 0);
    return steps ? intern_format(c, "%s, %d step%s", name, steps,
                                 steps > 1 ? "s" : "")
                 : name;
}

bool sampler_adapts(const struct step *s)
{
    const struct expr *e = sampler_option(s, "adapt");
    return !e || strcmp(e->name, "never") != 0;
}
