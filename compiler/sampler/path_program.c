/* path_program.c: the functions of a step that draws paths (path.c,
 * stdlib/kernels/forward_backward.h). */
#include "sampler/path.h"
#include <math.h>
#include <string.h>

symp sampler_path_stride(struct compiler *c, const struct family *f, int along)
{
    symp stride = sym_num(c, 1);
    for (int i = along + 1; i < f->nloops; i++)
        stride = sym_mul2(
            c, stride, sym_length(c, f->loops[i]->lower, f->loops[i]->upper));
    return stride;
}

void sampler_emit_place_of_path(struct emitter *e, const struct family *f,
                                int along)
{
    struct loop *l = f->loops[along];
    const char *at = emit_expr(e, sym_loop(e->c, l));
    const char *lower = emit_int(e, l->lower);
    const char *upper = emit_int(e, l->upper);
    const char *stride = emit_int(e, sampler_path_stride(e->c, f, along));
    emit_line(e, "p->s = s;");
    emit_line(e, "p->team = team;");
    emit_line(e, "p->stride = %s;", stride);
    emit_line(e, "p->first = element - (long long)(%s - (%s)) * p->stride;", at,
              lower);
    emit_line(e, "p->n = (%s) - (%s) + 1;", upper, lower);
}

static void open_path_element(struct emitter *e, const struct step *s,
                              const char *element)
{
    emit_decode(e, s->family, element);
}

/* exp(logp) as a product, where logp is a sum of logs. */
static symp probability(struct compiler *c, symp logp)
{
    symp rest = sym_num(c, 0), product = sym_num(c, 1);
    int n = logp->kind == SYM_ADD ? logp->nargs : 1;
    for (int i = 0; i < n; i++) {
        symp e = logp->kind == SYM_ADD ? logp->args[i] : logp;
        bool minus =
            e->kind == SYM_MUL && e->nargs == 2 && sym_is(e->args[0], -1);
        symp term = minus ? e->args[1] : e;
        if (term->kind == SYM_CALL && !strcmp(term->name, "log"))
            product = minus ? sym_div(c, product, term->args[0])
                            : sym_mul2(c, product, term->args[0]);
        else
            rest = sym_add2(c, rest, e);
    }
    return sym_is(rest, 0) ? product
                           : sym_mul2(c, product, sym_call(c, "exp", 1, &rest));
}

/* Supports with so few values have an expression for each. */
enum { MAX_CASES = 8 };

static bool few_values(const struct step *s)
{
    return s->support.lower->kind == SYM_NUM &&
           s->support.upper->kind == SYM_NUM &&
           s->support.upper->number - s->support.lower->number < MAX_CASES;
}

static void open_prior(struct emitter *e, const struct step *s,
                       const char *name, const char *arguments)
{
    text_printf(e->out,
                "GBM_FN real %s_%s(const struct state *s, long long element, "
                "%s)\n{\n",
                name, s->name, arguments);
    open_path_element(e, s, "element");
}

/* e where the prior's rule, in the same names, holds. */
static symp under_rule(struct compiler *c, symp rule, symp e, double otherwise)
{
    return rule ? sym_select(c, rule, e, sym_num(c, otherwise)) : e;
}

/* The own prior with the values as arguments: its log where the predecessor is
 * outside of the path, and its probability inside. */
static void emit_priors(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const struct family *f = s->family;
    symp lhs = sym_ref(c, f->var, f->var->ndim, f->lower);
    symp to = sym_param(c, intern(c, "to."));
    symp from = sym_param(c, intern(c, "from."));
    symp logp = sym_replace(c, f->factor->logp, lhs, to);
    symp rule = f->factor->rule;
    if (rule && !sym_has_var(rule, f->var))
        rule = NULL;
    struct emitter e = emitter_new(c, out);
    open_prior(&e, s, "enter", "int to");
    emit_param(&e, "to.", "to");
    emit_line(&e, "return %s;",
              emit_expr(&e, under_rule(c, rule, logp, -(double)INFINITY)));
    text_append(out, "}\n");

    e = emitter_new(c, out);
    open_prior(&e, s, "transition", "int from, int to");
    emit_param(&e, "to.", "to");
    emit_param(&e, "from.", "from");
    logp = sym_replace(c, logp, path_of(s)->before, from);
    rule = rule ? sym_replace(c, rule, path_of(s)->before, from) : NULL;
    for (double k = few_values(s) ? s->support.lower->number : 1;
         k < (few_values(s) ? s->support.upper->number : 1); k++) {
        symp at = sym_replace(c, logp, to, sym_num(c, k));
        emit_line(&e, "if (to == %.0f) {", k);
        e.indent++;
        emit_line(&e, "return %s;",
                  emit_expr(&e, under_rule(c, rule, probability(c, at), 0)));
        e.indent--;
        emit_line(&e, "}");
    }
    if (few_values(s))
        logp = sym_replace(c, logp, to, s->support.upper);
    emit_line(&e, "return %s;",
              emit_expr(&e, under_rule(c, rule, probability(c, logp), 0)));
    text_append(out, "}\n");
}

/* The transition is the same along the path: it does not depend on the loop,
 * but for the two nodes. */
static bool homogeneous(struct compiler *c, const struct step *s)
{
    const struct family *f = s->family;
    symp lhs = sym_ref(c, f->var, f->var->ndim, f->lower);
    symp rest = sym_replace(c, model_under_rule(c, f->factor, f->factor->logp),
                            lhs, sym_num(c, 1));
    rest = sym_replace(c, rest, path_of(s)->before, sym_num(c, 1));
    return !sym_has_loop(rest, f->loops[path_of(s)->along]);
}

/* struct path: a path and what its emissions need. */
static void emit_path(struct compiler *c, struct text *out,
                      const struct step *s)
{
    const struct family *f = s->family;
    text_printf(out,
                "struct path_%s {\n    const struct state *s;\n    const "
                "struct gbm_team *team;\n    long long first, stride; /* "
                "element numbers */\n    int n, lowest, values;\n    struct "
                "conditional_%s k;\n};\n\n",
                s->name, family_id(c, f));
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "/* The path of an element. */\nGBM_FN void open_%s(struct "
                "path_%s *p, const struct state *s,\n    const struct gbm_team "
                "*team, long long element)\n{\n",
                s->name, s->name);
    open_path_element(&e, s, "element");
    sampler_emit_place_of_path(&e, f, path_of(s)->along);
    const char *lowest = emit_int(&e, s->support.lower);
    const char *highest = emit_int(&e, s->support.upper);
    emit_line(&e, "p->lowest = %s;", lowest);
    emit_line(&e, "p->values = (%s) - (%s) + 1;", highest, lowest);
    text_append(out, "}\n\n");
}

void sampler_open_path_callback(struct text *out, const struct step *s,
                                const char *type, const char *what,
                                const char *arguments)
{
    text_printf(out,
                "GBM_FN %s %s_%s_at(void *context%s)\n{\n    struct path_%s "
                "*p = (struct path_%s *)context;\n    const struct state *s = "
                "p->s;\n",
                type, what, s->name, arguments, s->name, s->name);
}

static void emit_callbacks(struct compiler *c, struct text *out,
                           const struct step *s)
{
    const struct family *f = s->family;
    const char *id = family_id(c, f), *n = s->name;
    struct emitter e;
    sampler_open_path_callback(out, s, "real", "transition",
                               ", int t, int j, int k");
    text_printf(out,
                "    return transition_%s(s, p->first + t * p->stride, "
                "p->lowest + j,\n        p->lowest + k);\n}\n",
                n);
    e = emitter_new(c, out);
    sampler_open_path_callback(out, s, "real", "emission", ", int t, int k");
    emit_line(&e, "const long long element = p->first + t * p->stride;");
    emit_line(&e, "const int value = p->lowest + k;");
    open_path_element(&e, s, "element");
    symp lhs = sym_ref(c, f->var, f->var->ndim, f->lower);
    symp seen = sym_seen(c, f->var, f->var->ndim, f->lower);
    emit_line(&e, "if (%s)", emit_expr(&e, seen));
    emit_line(&e, "    return value == %s ? 0 : -GBM_INF;", emit_expr(&e, lhs));
    emit_line(&e, "if (k == 0)");
    emit_line(&e, "    prepare_%s(&p->k, s, p->team, element);", id);
    emit_line(&e, "if (value < p->k.lower || value > p->k.upper)");
    emit_line(&e, "    return -GBM_INF;");
    if (s->opaque) { /* tried in place, and put back */
        emit_line(&e, "const int before = %s;", emit_expr(&e, lhs));
        emit_line(&e, "const real tried = density_%s(&p->k, (real)value);", id);
        emit_line(&e, "gbm_team_sync(p->team);");
        emit_line(&e, "%s = before;", emit_expr(&e, lhs));
        emit_line(&e, "gbm_team_sync(p->team);");
        emit_line(&e, "return tried;");
    } else {
        emit_line(&e, "return density_%s(&p->k, (real)value);", id);
    }
    text_append(out, "}\n");
    e = emitter_new(c, out);
    sampler_open_path_callback(out, s, "int", "current", ", int t");
    open_path_element(&e, s, "p->first + t * p->stride");
    emit_line(&e, "return %s - p->lowest;", emit_expr(&e, lhs));
    text_append(out, "}\n");
    e = emitter_new(c, out);
    sampler_open_path_callback(out, s, "void", "store", ", int t, int k");
    open_path_element(&e, s, "p->first + t * p->stride");
    emit_line(&e, "gbm_team_sync(p->team);");
    emit_line(&e, "if (!%s)", emit_expr(&e, seen));
    emit_line(&e, "    %s = p->lowest + k;", emit_expr(&e, lhs));
    emit_line(&e, "gbm_team_sync(p->team);");
    text_append(out, "}\n\n");
}

/* head_: the number of the path's head, or -1 where it is observed. */
static void emit_head(struct compiler *c, struct text *out,
                      const struct step *s)
{
    const struct path *path = s->own;
    struct emitter e;
    sampler_open_path_callback(out, s, "long long", "head", "");
    e = emitter_new(c, out);
    open_path_element(&e, s, "p->first");
    symp seen = sym_seen(c, path->head_cell->var, path->head_cell->nargs,
                         path->head_cell->args);
    emit_line(&e, "return %s ? -1 : (long long)(%s);", emit_expr(&e, seen),
              emit_int(&e, path->head_element));
    text_append(out, "}\n");
}

/* Of all values of the head: what it says of the path's first element, tried in
 * place and put back, as is the head. */
static void emit_enter(struct compiler *c, struct text *out,
                       const struct step *s)
{
    const struct step *h = sampler_head_of(s);
    const char *n = s->name;
    if (h)
        emit_head(c, out, s);
    sampler_open_path_callback(out, s, "real", "enter", ", int k");
    if (h) {
        struct emitter e = emitter_new(c, out);
        const char *id = family_id(c, h->family);
        emit_line(&e, "const long long head = head_%s_at(p);", n);
        emit_line(&e, "if (head >= 0) {");
        e.indent++;
        open_path_element(&e, s, "p->first");
        const char *cell = emit_expr(&e, path_of(s)->head_cell);
        emit_line(&e, "const int was = %s, first = current_%s_at(p, 0);", cell,
                  n);
        emit_line(&e, "struct conditional_%s k_;", id);
        emit_line(&e, "store_%s_at(p, 0, k);", n);
        emit_line(&e, "prepare_%s(&k_, s, p->team, head);", id);
        emit_line(&e,
                  "const real all = gbm_enumerate_sum((int)k_.lower, "
                  "(int)k_.upper, density_%s, &k_);",
                  id);
        emit_line(&e, "gbm_team_sync(p->team);");
        emit_line(&e, "%s = was;", cell);
        emit_line(&e, "store_%s_at(p, 0, first);", n);
        emit_line(&e, "return all;");
        e.indent--;
        emit_line(&e, "}");
    }
    text_printf(out, "    return enter_%s(s, p->first, p->lowest + k);\n}\n\n",
                n);
}

static void emit_chain_update(struct compiler *c, struct text *out,
                              const struct step *s)
{
    const char *n = s->name;
    emit_open_update(out, s);
    text_printf(out,
                "    struct path_%s p;\n    open_%s(&p, s, team, element);\n"
                "    const struct gbm_chain chain = {\n        &p, team, p.n, "
                "p.values, %s, enter_%s_at, transition_%s_at,\n        "
                "emission_%s_at, current_%s_at, store_%s_at};\n",
                n, n, homogeneous(c, s) ? "true" : "false", n, n, n, n, n);
    if (sampler_has_label(s))
        text_printf(out,
                    "    int first, last, now;\n"
                    "    if (labels_%s_at(&p, &first, &last, &now))\n"
                    "        gbm_chain_draw_with_label(rng, &chain, s->%s + "
                    "p.first * p.values,\n            p.stride * p.values, "
                    "label_%s_at, first, last, now);\n    else ",
                    n, s->slots->member, n);
    else
        text_append(out, "    ");
    text_printf(out,
                "if (p.values > GBM_CHAIN_VALUES)\n        "
                "gbm_chain_sites(rng, &chain);\n    else\n"
                "        gbm_chain_draw(rng, &chain, s->%s + p.first * "
                "p.values,\n            p.stride * p.values);\n",
                s->slots->member);
    if (sampler_head_of(s))
        text_printf(out,
                    "    const long long head = head_%s_at(&p);\n"
                    "    if (head >= 0)\n"
                    "        %s(s, rng, team, head, adapting);\n",
                    n, sampler_head_of(s)->name);
    text_append(out, "}\n\n");
}

/* How many numbers the filter needs. */
static void emit_filter_size(struct compiler *c, struct text *out,
                             const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "static int64_t tuning_%s(const void *state)\n{\n    const "
                "struct state *s = (const struct state *)state;\n",
                s->name);
    const char *lowest = emit_int(&e, s->support.lower);
    const char *highest = emit_int(&e, s->support.upper);
    emit_line(&e, "const int values = (%s) - (%s) + 1;", highest, lowest);
    emit_line(&e,
              "return values > GBM_CHAIN_VALUES ? 0 : values * "
              "enumerate_%s(state, 0);",
              family_id(c, s->family));
    text_append(out, "}\n");
}

/* A function of the state and the path, p, of an element. */
static void open_on_path(struct text *out, const struct step *s,
                         const char *type, const char *what,
                         const char *arguments)
{
    text_printf(out,
                "static %s %s_%s(const void *state, int64_t element%s)\n{\n"
                "    const struct state *s = (const struct state *)state;\n"
                "    struct path_%s p;\n"
                "    open_%s(&p, s, &gbm_alone, element);\n",
                type, what, s->name, arguments, s->name, s->name);
}

/* Of a step of scalars, whose functions for the host come later. */
static void declare_access(struct compiler *c, struct text *out,
                           const struct step *head)
{
    const char *id = family_id(c, head->family);
    text_printf(out,
                "static void get_%s(const void *state, int64_t element, double "
                "*x);\n"
                "static void set_%s(const void *state, int64_t element, const "
                "double *x);\n"
                "static double conditional_%s_at(const void *state, int64_t "
                "element,\n    const double *x);\n",
                id, id, id);
}

/* The path as a block, its head behind it, and then its label. */
static void emit_access(struct compiler *c, struct text *out,
                        const struct step *s, const struct step *head)
{
    const char *n = s->name, *id = head ? family_id(c, head->family) : "";
    const bool label = sampler_has_label(s);
    open_on_path(out, s, "int", "dimension", "");
    if (label)
        text_append(out, "    int first, last, now;\n");
    text_append(out, "    return p.n");
    if (head)
        text_printf(out, " + (head_%s_at(&p) >= 0)", n);
    if (label)
        text_printf(out, " + labels_%s_at(&p, &first, &last, &now)", n);
    text_append(out, ";\n}\n");
    open_on_path(out, s, "void", "get", ", double *x");
    text_printf(out,
                "    for (int t = 0; t < p.n; t++)\n"
                "        x[t] = p.lowest + current_%s_at(&p, t);\n",
                n);
    if (head)
        text_printf(out,
                    "    if (head_%s_at(&p) >= 0)\n"
                    "        get_%s(state, head_%s_at(&p), x + p.n);\n",
                    n, id, n);
    if (label)
        text_printf(out,
                    "    int first, last, now;\n"
                    "    if (labels_%s_at(&p, &first, &last, &now))\n"
                    "        x[dimension_%s(state, element) - 1] = now;\n",
                    n, n);
    text_append(out, "}\n");
    open_on_path(out, s, "void", "set", ", const double *x");
    text_printf(out,
                "    for (int t = 0; t < p.n; t++)\n"
                "        store_%s_at(&p, t, (int)x[t] - p.lowest);\n",
                n);
    if (head)
        text_printf(out,
                    "    if (head_%s_at(&p) >= 0)\n"
                    "        set_%s(state, head_%s_at(&p), x + p.n);\n",
                    n, id, n);
    if (label)
        text_printf(out,
                    "    int first, last, now;\n"
                    "    if (labels_%s_at(&p, &first, &last, &now))\n"
                    "        set_label_%s_at(&p, (int)x[dimension_%s(state, "
                    "element) - 1]);\n",
                    n, n, n);
    text_append(out, "}\n");
}

/* The log density of a path; of the head, what its own step says where the
 * path's first element stands in place. */
static void emit_path_density(struct compiler *c, struct text *out,
                              const struct step *s, const struct step *head)
{
    const char *n = s->name;
    open_on_path(out, s, "double",
                 sampler_has_label(s) ? "path" : "conditional",
                 ", const double *x");
    text_printf(out,
                "    double total = 0;\n"
                "    for (int t = 0; t < p.n; t++) {\n"
                "        int k = (int)x[t] - p.lowest;\n"
                "        if (k < 0 || k >= p.values)\n"
                "            return -GBM_INF;\n"
                "        emission_%s_at(&p, t, 0); /* prepares */\n"
                "        total += (double)emission_%s_at(&p, t, k);\n"
                "        if (t > 0)\n"
                "            total += (double)real_log(transition_%s_at(\n"
                "                &p, t, (int)x[t - 1] - p.lowest, k));\n"
                "    }\n",
                n, n, n);
    if (head)
        text_printf(out,
                    "    if (p.n > 0 && head_%s_at(&p) >= 0) {\n"
                    "        const int first = current_%s_at(&p, 0);\n"
                    "        store_%s_at(&p, 0, (int)x[0] - p.lowest);\n"
                    "        total += conditional_%s_at(state, "
                    "head_%s_at(&p), x + p.n);\n"
                    "        store_%s_at(&p, 0, first);\n"
                    "        return total;\n"
                    "    }\n",
                    n, n, n, family_id(c, head->family), n, n);
    text_printf(out,
                "    return p.n > 0 ? total + (double)enter_%s(s, p.first, "
                "(int)x[0]) : total;\n}\n",
                n);
    if (!sampler_has_label(s))
        return;
    open_on_path(out, s, "double", "conditional", ", const double *x");
    sampler_emit_label_density(out, s);
}

static void emit_chain_host(struct compiler *c, struct text *out,
                            const struct step *s)
{
    const struct step *head = sampler_head_of(s);
    text_append(out, "#ifndef __CUDACC__\n");
    if (head)
        declare_access(c, out, head);
    emit_filter_size(c, out, s);
    open_on_path(out, s, "int64_t", "first", "");
    text_append(out, "    return p.first;\n}\n");
    emit_access(c, out, s, head);
    emit_path_density(c, out, s, head);
    text_append(out, "#endif\n\n");
}

void sampler_emit_path(struct compiler *c, struct text *out, struct step *s)
{
    emit_conditional(c, out, s);
    emit_density(c, out, s);
    text_printf(out, "/* %s    %s\n", s->family->text,
                text_place_in_comment(c, s->family->span));
    text_printf(out,
                " * Drawn as a whole along %s: forward filtering, backward "
                "sampling. Emissions:\n",
                s->family->loops[path_of(s)->along]->name);
    for (const struct part *p = s->parts; p; p = p->next)
        text_printf(out, " *     %s\n", p->factor->text);
    text_append(out, " */\n");
    emit_priors(c, out, s);
    emit_path(c, out, s);
    emit_callbacks(c, out, s);
    emit_enter(c, out, s);
    if (sampler_has_label(s))
        sampler_emit_label(c, out, s);
    emit_chain_update(c, out, s);
    emit_chain_host(c, out, s);
}
