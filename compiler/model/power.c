/* power.c: powers on the factors of data (gbmc --with=powers). The log density
 * of what is observed is multiplied by a number of the chain, which a method
 * sets: 0 is the prior, 1 the posterior. As it is a symbol like others, full
 * conditionals follow from the factors as ever. Elements that are not observed
 * keep the power 1: their density is a prior's.
 *
 * With --sequence the number is a progress, and data have a turn each, the
 * value of a loop variable or an array's first subscript: what has one below
 * enters first. Data that have none are of turn 0.
 *
 * Neal (2001), Annealed importance sampling; Syed, Bouchard-Cote, Deligiannidis
 * and Doucet (2022), Non-reversible parallel tempering; Chopin (2002), A
 * sequential particle filter method for static models, Biometrika 89. */
#include "model/resolve.h"
#include <string.h>

static bool is_named(const struct compiler *c, const struct var *v)
{
    const char *name = v->name;
    for (const char *at = c->options.temper; at && *at;) {
        size_t n = strcspn(at, ",");
        if (strlen(name) == n && strncmp(at, name, n) == 0)
            return true;
        at += n;
        at += *at == ',';
    }
    return false;
}

/* Whether data may be expected of v, or are asked for. */
static bool is_tempered(const struct compiler *c, const struct var *v)
{
    if (c->options.temper)
        return is_named(c, v);
    return v->unread || v->declared_observed || v->supplied;
}

static struct var *add_power(struct compiler *c, struct model *m)
{
    struct var *v = NEW(c, struct var);
    v->name = "power";
    v->role = ROLE_POWER;
    v->positive = true; /* where a sweep reads it */
    v->hidden = true;
    *m->last_var = v;
    m->last_var = &v->next;
    model_name_added_in_c(c, m, v);
    return v;
}

/* When data of a family enter; NULL: nothing of it is named. */
static symp turn_of(struct compiler *c, const struct family *f)
{
    const char *name = c->options.sequence;
    for (int i = 0; i < f->nloops; i++)
        if (!strcmp(f->loops[i]->name, name))
            return sym_loop(c, f->loops[i]);
    if (strcmp(f->var->name, name) != 0 || f->var->ndim == 0 || !f->lower[0] ||
        f->upper[0])
        return NULL;
    return f->lower[0];
}

/* The power of an instance: of a leaf, none counts but what is seen. */
static symp power_of(struct compiler *c, const struct factor *g, symp power)
{
    if (g->seen_var || g->family->var->supplied)
        return power;
    return sym_select(c, model_any_seen(c, g->family), power, sym_num(c, 1));
}

static void refuse_unknown(struct compiler *c, const struct model *m)
{
    for (const char *at = c->options.temper; at && *at;) {
        size_t n = strcspn(at, ",");
        const struct family *f = m->families;
        while (f && !(f->stochastic && strlen(f->var->name) == n &&
                      strncmp(f->var->name, at, n) == 0))
            f = f->next;
        if (!f)
            error_at(c, (struct span){0},
                     "--temper: the model has no random variable %.*s", (int)n,
                     at);
        at += n;
        at += *at == ',';
    }
}

static void refuse_sequence(struct compiler *c)
{
    error_at(c, (struct span){0},
             "--sequence: no data are in a loop of %s, and none are elements "
             "%s[...]",
             c->options.sequence, c->options.sequence);
}

void model_raise_factors(struct compiler *c, struct model *m)
{
    if (!(c->options.with & WITH_POWERS))
        return;
    bool found = !c->options.sequence;
    refuse_unknown(c, m);
    struct var *v = add_power(c, m);
    symp power = sym_ref(c, v, 0, NULL);
    for (struct factor *g = m->factors; g; g = g->next) {
        if (!g->family->stochastic || g->family->data_block ||
            !is_tempered(c, g->family->var))
            continue;
        symp raised = power;
        if (c->options.sequence) {
            symp turn = turn_of(c, g->family);
            found = found || turn;
            g->turn = turn ? turn : sym_num(c, 0);
            raised = sym_call(c, "entered", 2, (symp[]){power, g->turn});
        }
        g->power = power_of(c, g, raised);
        g->logp = sym_mul2(c, g->power, g->logp);
        g->plain = sym_mul2(c, g->power, g->plain);
    }
    if (!found)
        refuse_sequence(c);
}
