/* choose.c: samplers { }: what the model asks for, instead of what the compiler
 * takes by itself. A slice or random walk can be asked for everywhere, others
 * for groups (group.c); `gibbs` and `enumerate` are promises that are
 * checked once the steps are known. */
#include "sampler/joint.h"
#include <math.h>
#include <string.h>

/* Words that no sampler has yet. */
static const char *const missing[] = {"hmc", "nuts"};
enum { NMISSING = sizeof missing / sizeof *missing, MAX_WORDS = 64 };

/* "slice, rw and am" */
static const char *listed(struct compiler *c, const char *const *words, int n)
{
    struct text t = {0};
    for (int i = 0; i < n; i++)
        text_printf(&t, "%s%s", !i ? "" : i < n - 1 ? ", " : " and ", words[i]);
    return text_take(c, &t);
}

static bool check_method(struct compiler *c, const struct sampler_choice *k)
{
    if (sampler_is_method(k, "gibbs") || sampler_called(k->method))
        return true;
    const char *words[MAX_WORDS];
    int n = sampler_words(words);
    for (int i = 0; i < NMISSING; i++) {
        if (sampler_is_method(k, missing[i])) {
            error_at(c, k->method_span,
                     "not supported yet: %s; there are gibbs, %s", k->method,
                     listed(c, words, n));
            return false;
        }
        words[n + i] = missing[i];
    }
    n += NMISSING;
    words[n++] = "gibbs";
    const char *near = text_nearest_name(k->method, words, n);
    error_at(c, k->method_span, "unknown sampler %s%s%s%s", k->method,
             near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
    return false;
}

/* Statements that a line of samplers { } may name. */
enum { MAX_TARGETS = 64 };

/* ---- Targets -------------------------------------------------------------
 */

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
    const char *near = text_nearest_name(target->name, names, n);
    error_at(c, target->span, "no variable is called %s%s%s%s", target->name,
             near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

/* ---- Asking --------------------------------------------------------------
 */

static const struct sampler_parameter *
parameter_called(const struct sampler *sampler, const char *name)
{
    for (int i = 0; sampler && i < MAX_PARAMETERS; i++)
        if (sampler->options[i].name && !strcmp(sampler->options[i].name, name))
            return &sampler->options[i];
    return NULL;
}

static void no_parameter(struct compiler *c, const struct sampler_choice *k,
                         const struct sampler *sampler,
                         const struct sampler_option *o)
{
    const char *words[MAX_PARAMETERS];
    int n = 0;
    while (sampler && n < MAX_PARAMETERS && sampler->options[n].name) {
        words[n] = sampler->options[n].name;
        n++;
    }
    error_at(c, o->value->span, "%s has no option %s%s%s", k->method, o->name,
             n == 0  ? ""
             : n > 1 ? "; there are "
                     : "; there is ",
             listed(c, words, n));
}

static bool is_value(const struct sampler_parameter *p, const struct expr *e)
{
    if (p->word)
        return e->kind == EXPR_NAME && !strcmp(e->name, p->word);
    return e->kind == EXPR_NUM && e->number > 0 && e->number >= p->least &&
           (!(p->most > 0) || e->number <= p->most) &&
           (!p->whole || e->number == floor(e->number));
}

static bool is_said_before(const struct sampler_choice *k,
                           const struct sampler_option *o)
{
    for (const struct sampler_option *p = k->options; p != o; p = p->next)
        if (!strcmp(p->name, o->name))
            return true;
    return false;
}

static void check_options(struct compiler *c, const struct sampler_choice *k)
{
    const struct sampler *sampler = sampler_called(k->method);
    for (const struct sampler_option *o = k->options; o; o = o->next) {
        const struct sampler_parameter *p = parameter_called(sampler, o->name);
        if (!p)
            no_parameter(c, k, sampler, o);
        else if (is_said_before(k, o))
            error_at(c, o->value->span, "%s is said twice", o->name);
        else if (is_value(p, o->value))
            continue;
        else if (p->word)
            error_at(c, o->value->span, "the %s of %s may be %s, nothing else",
                     p->name, k->method, p->word);
        else if (p->most > 0)
            error_at(c, o->value->span, "%s: a%s number from %.10g to %.10g",
                     p->name, p->whole ? " whole" : "", p->least, p->most);
        else
            error_at(c, o->value->span, "the %s is a positive number", p->name);
    }
}

/* The steps of a target, of which none has been asked for before. */
static int find_steps(struct compiler *c, struct model *m,
                      const struct expr *target, struct step **out, int n)
{
    bool found = false;
    for (struct step *s = m->steps; s; s = s->next) {
        if (!s->family || !sampler_is_target(target, s->family))
            continue;
        found = true;
        if (s->asked.word)
            error_at(c, target->span, "%s has its sampler already: %s",
                     target->name, s->asked.word);
        else if (n < MAX_TARGETS)
            out[n++] = s;
    }
    if (!found)
        no_target(c, m, target);
    return n;
}

static void give_options(struct step *s, const struct sampler *sampler,
                         const struct sampler_choice *k)
{
    s->asked.options = k->options;
    if (sampler && sampler->options[0].name)
        s->asked.width = sampler_option_number(s, sampler->options[0].name, 0);
}

static void ask(struct compiler *c, struct model *m,
                const struct sampler_choice *k)
{
    const struct sampler *sampler = sampler_called(k->method);
    const bool takes = sampler && sampler->take;
    struct step *steps[MAX_TARGETS];
    int errors = c->nerrors, n = 0;
    check_options(c, k);
    for (int i = 0; i < k->ntargets; i++) {
        int first = n;
        n = find_steps(c, m, k->targets[i], steps, n);
        for (int j = first; j < n; j++)
            give_options(steps[j], sampler, k);
        if (takes && !sampler->together)
            sampler->take(c, m, steps + first, n - first, k->targets[i]->span);
        for (int j = first; j < n; j++) {
            if (c->nerrors == errors && takes)
                steps[j]->asked.word = k->method;
            steps[j]->asked.alone =
                steps[j]->asked.alone || (sampler && sampler->enumerates);
        }
    }
    if (c->nerrors == errors && n > 0 && takes && sampler->together)
        sampler->take(c, m, steps, n, k->targets[0]->span);
}

void sampler_choose(struct compiler *c, struct model *m)
{
    for (struct step *s = m->steps; s; s = s->next)
        s->sampler = sampler_for(s);
    for (const struct sampler_choice *k = m->program->samplers;
         k && !sampler_seeks_modes(c); k = k->next)
        if (check_method(c, k))
            ask(c, m, k);
}

bool sampler_would_fit(struct compiler *c, struct model *m,
                       const struct family *f)
{
    condition_families(c, m);
    for (struct step *s = m->steps; s; s = s->next) {
        s->sampler = sampler_for(s);
        if (sampler_asked_otherwise(m, s->family))
            s->asked.word = "";
    }
    sampler_form_joint_blocks(c, m);
    bool fits = false;
    for (const struct step *s = m->steps; s; s = s->next)
        for (int i = 0; i < s->block.n && joint_of(s); i++)
            fits = fits ||
                   (joint_of(s)->curved && s->block.members[i].family == f);
    m->steps = NULL;
    m->last_step = &m->steps;
    return fits;
}

/* ---- Checking ------------------------------------------------------------
 */

/* Whether the step draws a target's elements. */
static bool draws(const struct step *s, const struct expr *target)
{
    bool found = !s->block.n && sampler_is_target(target, s->family);
    for (int i = 0; i < s->block.n; i++)
        found = found || sampler_is_target(target, s->block.members[i].family);
    return found;
}

static const char *why_not_closed(struct compiler *c, const struct step *s)
{
    if (s->asked.word)
        return intern_format(c, "samplers { } asks for %s", s->asked.word);
    return joint_of(s) ? "it moves along ellipses, in a joint block"
                       : sampler_slice_reason(c, s);
}

/* False after an error. */
static bool check_promise(struct compiler *c, const struct sampler_choice *k,
                          const struct expr *target, const struct step *s)
{
    if (sampler_is_method(k, "gibbs") && !s->sampler->closed) {
        error_at(c, target->span,
                 "the full conditional of %s is not of a known family, so "
                 "there is no gibbs for it (%s)",
                 target->name, why_not_closed(c, s));
        return false;
    }
    if (sampler_is_method(k, "enumerate") && !s->sampler->enumerates) {
        error_at(c, target->span, "%s cannot be enumerated: %s", target->name,
                 s->sampler->forward ? "it is drawn forward"
                 : model_draws_integers(s->family)
                     ? "its values have no two ends"
                     : "it is not discrete");
        return false;
    }
    return true;
}

void sampler_check(struct compiler *c, struct model *m)
{
    for (const struct sampler_choice *k = m->program->samplers; k; k = k->next)
        for (int i = 0; i < k->ntargets; i++) {
            const struct expr *target = k->targets[i];
            bool kept = true;
            for (const struct step *s = m->steps; s && kept; s = s->next)
                if (s->sampler && draws(s, target))
                    kept = check_promise(c, k, target, s);
        }
}
