/* normal_group.c: groups whose priors are jointly normal given the rest: what
 * an ellipse or an autoregressive proposal moves along. Drawn in order, each
 * element's prior is normal with a mean that is linear in those before. */
#include "sampler/group.h"
#include <string.h>

/* The own prior is potential x + square x^2, and nothing else. */
const struct part *normal_prior(const struct step *s)
{
    for (const struct part *p = s->parts; p; p = p->next) {
        if (!p->own || p->opaque || p->terms.n < 1 || p->terms.n > 2)
            continue;
        bool square = false;
        for (int i = 0; i < p->terms.n; i++) {
            symp t = p->terms.statistic[i];
            if (t->kind == SYM_POW && t->args[0]->kind == SYM_TARGET &&
                sym_is(t->args[1], 2))
                square = true;
            else if (t->kind != SYM_TARGET)
                return NULL;
        }
        return square ? p : NULL;
    }
    return NULL;
}

void normal_terms(struct compiler *c, const struct part *own, symp *potential,
                  symp *square)
{
    *potential = *square = sym_num(c, 0);
    for (int i = 0; i < own->terms.n; i++)
        if (own->terms.statistic[i]->kind == SYM_TARGET)
            *potential = own->terms.coefficient[i];
        else
            *square = own->terms.coefficient[i];
}

void normal_prior_terms(struct compiler *c, const struct step *s,
                        symp *potential, symp *square)
{
    normal_terms(c, normal_prior(s), potential, square);
}

void not_normal(struct compiler *c, const struct step *s, struct span where,
                const char *word)
{
    error_at(c, where,
             "%s needs a normal prior, but that of %s is %s; there is am", word,
             s->family->var->name, s->family->distribution->name);
}

/* Where reference r stands in the loops of f's own element: -1 before it, 1
 * after it or unknown. */
static int place_of(struct compiler *c, const struct family *f, symp r)
{
    double difference[8];
    for (int d = 0; d < f->var->ndim; d++)
        if (!sym_difference(c, r->args[d], f->lower[d], &difference[d]))
            return 1;
    for (int i = 0; i < f->nloops; i++)
        for (int d = 0; d < f->var->ndim; d++) {
            symp offset;
            if (sym_plain_loop(c, f->lower[d], &offset) != f->loops[i] ||
                difference[d] == 0)
                continue;
            return difference[d] < 0 ? -1 : 1;
        }
    return 1;
}

/* Members that the mean of f reads are drawn before it. */
static bool drawn_before(struct compiler *c, const struct step *s,
                         const struct family *f, symp r)
{
    bool found = false;
    for (int i = 0; i < s->nmembers; i++) {
        const struct family *g = s->members[i].family;
        if (g == f)
            found = true;
        if (g->var != r->var)
            continue;
        if (g == f && place_of(c, f, r) >= 0)
            return false;
        if (g != f && found)
            return false;
    }
    return true;
}

/* The mean is affine in members that are drawn before f's element. */
static bool affine(struct compiler *c, const struct step *s,
                   const struct family *f, symp mean, symp e)
{
    if (e->kind == SYM_SUM && group_reads(s, e))
        return false;
    if (e->kind == SYM_REF && group_reads(s, e)) {
        symp slope = sym_derivative(c, mean, e);
        for (int i = 0; i < e->nargs; i++)
            if (group_reads(s, e->args[i]))
                return false;
        return slope && !group_reads(s, slope) && drawn_before(c, s, f, e);
    }
    for (int i = 0; i < e->nargs; i++)
        if (!affine(c, s, f, mean, e->args[i]))
            return false;
    return true;
}

static bool group_prior(struct compiler *c, const struct step *s,
                        const struct part *own, const struct family *f)
{
    symp potential, square;
    normal_terms(c, own, &potential, &square);
    symp mean = sym_div(c, potential, sym_mul2(c, sym_num(c, -2), square));
    return !group_depends(s, square) && !sym_any(mean, follows_group, s) &&
           affine(c, s, f, mean, mean);
}

/* The observed elements of a member say something of the others. */
static struct part *seen_instances(struct compiler *c, const struct family *f)
{
    struct part *p = all_instances(c, f->factor);
    p->guard = sym_seen(c, f->var, f->var->ndim, f->lower);
    return p;
}

struct step *normal_group(struct compiler *c, struct model *m,
                          struct step *const *steps, int n, struct span where,
                          const char *word)
{
    const struct part *own[8];
    for (int i = 0; i < n; i++) {
        own[i] = normal_prior(steps[i]);
        if (steps[i]->family->nslices) {
            error_at(c, where,
                     "not supported yet: %s of a vector-valued node together "
                     "with others",
                     word);
            return NULL;
        }
        if (!own[i] || steps[i]->lower || steps[i]->upper) {
            not_normal(c, steps[i], where, word);
            return NULL;
        }
    }
    const struct family *families[8];
    for (int i = 0; i < n; i++)
        families[i] = steps[i]->family;
    struct step *s = merge_group(c, m, steps, n);
    for (int i = 0; i < n; i++)
        if (!group_prior(c, s, own[i], families[i])) {
            error_at(c, where,
                     "%s needs priors that are jointly normal given the "
                     "rest, but %s is not linear in what is drawn before it",
                     word, families[i]->text);
            return NULL;
        }
    struct part *priors = NULL;
    for (int k = 0; k < s->nmembers; k++)
        for (int i = 0; i < n; i++)
            if (s->members[k].family == families[i]) {
                struct part *p = NEW(c, struct part);
                *p = *own[i];
                p->next = NULL;
                push_part(&priors, p);
                push_part(&s->parts, seen_instances(c, families[i]));
            }
    s->own = priors;
    for (struct factor *g = m->factors; g; g = g->next) {
        bool prior = false;
        for (int i = 0; i < n; i++)
            prior = prior || families[i]->factor == g;
        if (!g->replaced && !prior && group_mentions(c, s, g))
            push_part(&s->parts, all_instances(c, g));
    }
    return s;
}

/* For each unobserved element, in order: body has the coordinate's number k,
 * its cell, and its prior's mean and precision given those before. */
static void for_each_prior(struct emitter *e, const struct step *s,
                           const char *format)
{
    struct compiler *c = e->c;
    const struct part *own = s->own;
    for (int i = 0; i < s->nmembers; i++, own = own->next) {
        symp cell, potential, square;
        int depth = e->nloops;
        emit_line(e, "{");
        e->indent++;
        int braces = open_group_member(e, s->members[i].family, &cell);
        symp seen = sym_seen(c, cell->var, cell->nargs, cell->args);
        emit_line(e, "if (!%s) {", emit_expr(e, seen));
        e->indent++;
        normal_terms(c, own, &potential, &square);
        symp precision = sym_mul2(c, sym_num(c, -2), square);
        emit_line(e, "const real precision = %s;", emit_expr(e, precision));
        emit_line(e, "const real mean = %s;",
                  emit_expr(e, sym_div(c, potential, precision)));
        emit_filled(e, format, emit_expr(e, cell), "");
        emit_close(e, braces + 2);
        e->nloops = depth;
    }
}

void emit_normal_prior(struct compiler *c, struct text *out,
                       const struct step *s)
{
    const char *n = s->name;
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "/* From standard normals z, the nodes from their prior, in "
                "order; z = 0 gives\n * the mean. */\n"
                "GBM_FN void ancestral_%s(const struct state *s, const struct "
                "gbm_team *team, const real *z)\n{\n    int k = 0;\n    "
                "gbm_team_sync(team);\n",
                n);
    for_each_prior(&e, s, "$ = mean + z[k++] / real_sqrt(precision);");
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n\n#ifndef __CUDACC__\n");
    text_printf(out,
                "static real prior_%s(const struct state *s)\n{\n    "
                "gbm_total total = 0;\n",
                n);
    e = emitter_new(c, out);
    for_each_prior(&e, s,
                   "total -= precision * gbm_square($ - mean) / 2 - "
                   "real_log(precision) / 2;");
    text_append(out, "    return (real)total;\n}\n#endif\n\n");
}
