/* held_scale.c: where sums of effects and what is added are held
 * (translation.c), the added nodes also move with the scale of their prior:
 * sigma[l] of beta[g,l] ~ dnorm(theta[l], 1 / sigma[l]^2) is settled by the
 * beta, and they by it where it is small. So beta - theta is multiplied by one
 * number and sigma by that which keeps its standardised values, and the effects
 * follow, so that all that reads the sums stays. This is the ancillary step for
 * sigma of Yu and Meng (2011), with the sums in the place of data: the number's
 * density is the effects' prior, a quadratic, and sigma's own. A slice draws
 * its logarithm t, as of the group of multiplications (Liu and Sabatti 2000):
 * the Jacobian of the beta is what their prior's normalisation takes, that of
 * sigma is exp(-2 t / power), with power the one of sigma in the precision. */
#include "sampler/translation.h"
#include <string.h>

struct held_scale {
    const struct step *sums; /* the translation that it stands behind */
    int member;              /* the one of it that is scaled */
    struct family *node;     /* the scale, */
    struct loop *along; /* a plate along this index of the member; or NULL */
    struct loop *own_along; /* the same in the member's statement */
    double power;
    symp deviation; /* of a cell, in the effects' loops and the index */
    struct part *effects, *cells; /* all instances of their priors; the node
                                     settles `along` of the cells' */
};

static const struct held_scale *held_of(const struct step *s) { return s->own; }

static const struct member *member_of(const struct held_scale *k)
{
    return &k->sums->block.members[k->member];
}

/* ---- which -----------------------------------------------------------------
 */

static bool follows(symp e, const void *step)
{
    const struct step *s = step;
    return model_follows(s->model, e, s->family->var);
}

/* Nothing but the prior of f reads the node's step. */
bool sampler_only_in_prior(const struct model *m, const struct step *node,
                           const struct family *f)
{
    for (const struct factor *g = m->factors; g; g = g->next)
        if (!g->replaced && g != f->factor && g != node->family->factor &&
            (sampler_factor_reads(g, node->family->var) ||
             sym_any(g->logp, follows, node)))
            return false;
    return !sym_any(f->factor->logp, follows, node);
}

/* The log density is power / 2 log of the node at `scale`, and its power times
 * what is free of it. */
bool sampler_is_scale(struct compiler *c, symp logp, symp scale, double power)
{
    struct collected k;
    symp x = sym_target(c), log_x = sym_log(c, x), count = NULL;
    logp = sym_replace(c, logp, scale, x);
    if (sym_has_var(logp, scale->var))
        return false;
    sym_collect(c, logp, true, &k);
    for (int i = 0; i < k.n && !k.overflow; i++) {
        if (sym_same(k.statistic[i], log_x))
            count = k.coefficient[i];
        else if (!sym_same(k.statistic[i], sym_pow(c, x, sym_num(c, power))))
            return false;
    }
    return !k.overflow && count && sym_is(count, power / 2);
}

/* The place among f's loops of the one that is the node's subscript; -1: there
 * is no subscript. False if it is something else. */
static bool find_along(const struct family *f, const struct family *node,
                       symp scale, int *along)
{
    *along = -1;
    if (!scale->nargs)
        return true;
    symp at = scale->args[0], own = node->lower[0];
    for (int i = 0; i < f->nloops; i++)
        if (at->kind == SYM_LOOP && at->loop == f->loops[i])
            *along = i;
    return *along >= 0 && own->kind == SYM_LOOP &&
           sym_same(own->loop->lower, at->loop->lower) &&
           sym_same(own->loop->upper, at->loop->upper);
}

static bool fits(struct compiler *c, struct model *m, struct held_scale *k,
                 const struct step *node)
{
    const struct added *a = &translation_of(k->sums)->added[k->member];
    const struct family *f = member_of(k)->family, *h = node->family;
    symp cell = sym_ref(c, f->var, f->var->ndim, f->lower);
    symp slope = sym_derivative(c, f->factor->logp, cell);
    symp precision = sym_neg(c, sym_derivative(c, slope, cell));
    symp scale = sampler_find_reference(precision, h->var);
    int along;
    if (!scale || !sampler_is_power(precision, scale, &k->power) ||
        !sampler_is_scale(c, f->factor->logp, scale, k->power) ||
        !find_along(f, h, scale, &along) || sym_has_var(a->deviation, h->var) ||
        !sampler_only_in_prior(m, node, f))
        return false;
    k->node = node->family;
    k->cells = sampler_all_instances(c, f->factor);
    k->cells->opaque = false;
    k->deviation = sampler_in_element(c, k->sums, k->member, a->deviation);
    if (along < 0)
        return true;
    symp index = sampler_in_element(c, k->sums, k->member, scale->args[0]);
    for (int j = 0; j < member_of(k)->index.n; j++)
        if (member_of(k)->index.loops[j] == index->loop)
            k->along = index->loop;
    k->own_along = f->loops[along];
    k->cells->solved[along] = h->lower[0];
    return k->along != NULL;
}

static void add_step(struct compiler *c, struct model *m, struct step *sums,
                     struct held_scale *k)
{
    struct step *s = NEW(c, struct step);
    struct family *moved[] = {k->node, member_of(k)->family,
                              translation_of(sums)->effects};
    k->effects = sampler_all_instances(c, moved[2]->factor);
    k->effects->opaque = false;
    s->own = k;
    s->model = m;
    s->sampler = &sampler_held_scale;
    s->family = k->node;
    s->order.sequential = k->node->nloops > 0; /* all move the effects */
    for (int i = 0; i < 3; i++) {
        s->block.members[s->block.n].family = moved[i];
        s->block.members[s->block.n++].count = sym_num(c, 1);
    }
    sampler_push_part(&s->parts, k->effects);
    sampler_push_part(&s->parts, k->cells);
    s->name = intern_format(c, "scale_%s_%s_against_%s", family_id(c, moved[0]),
                            family_id(c, moved[1]), family_id(c, moved[2]));
    s->next = sums->next;
    sums->next = s;
}

void sampler_find_held_scales(struct compiler *c, struct model *m,
                              struct step *sums)
{
    for (int i = 0; i < sums->block.n; i++) {
        const struct family *f = sums->block.members[i].family;
        bool found = false;
        for (struct step *s = m->steps; s && !found; s = s->next) {
            struct held_scale try = {.sums = sums, .member = i};
            if (f->nslices || f->var->families != f || f->next_of_var ||
                !s->family || !sampler_step_draws(s, s->family) ||
                s->family->nloops >= f->nloops ||
                !sampler_is_node(c, m, s->family) || !fits(c, m, &try, s))
                continue;
            struct held_scale *k = NEW(c, struct held_scale);
            *k = try;
            add_step(c, m, sums, k);
            found = true;
        }
    }
}

/* ---- its functions ---------------------------------------------------------
 */

static symp node_cell(struct compiler *c, const struct held_scale *k)
{
    return sym_ref(c, k->node->var, k->node->var->ndim, k->node->lower);
}

/* The loop of the node that is the element. */
static void open_node(struct emitter *e, const struct held_scale *k)
{
    if (k->node->nloops)
        emit_decode(e, k->node, "element");
    if (!k->along)
        return;
    const char *at = emit_int(e, k->node->lower[0]);
    emit_loop_as(e, k->along, at);
    emit_loop_as(e, k->own_along, at);
}

/* dev_: what is added to an effect by the cells that move, their means left
 * out. The effect's loops are open. */
static void emit_deviation(struct emitter *e, const struct held_scale *k)
{
    struct compiler *c = e->c;
    const struct indices *index = &member_of(k)->index;
    const int depth = e->nloops;
    int braces = 0;
    emit_line(e, "real dev_ = 0;");
    for (int i = 0; i < index->n; i++)
        if (index->loops[i] != k->along) {
            emit_open_loop(e, index->loops[i], index->loops[i]->lower,
                           index->loops[i]->upper);
            braces++;
        }
    symp design = translation_of(k->sums)->added[k->member].design;
    emit_line(e, "dev_ += %s;",
              emit_expr(e, sym_mul2(c, design, k->deviation)));
    emit_close(e, braces);
    e->nloops = depth;
}

static void emit_held(struct emitter *e, const struct family *f)
{
    symp seen = sym_seen(e->c, f->var, f->var->ndim, f->lower);
    emit_line(e, "sums[3] += %s;", emit_expr(e, seen));
}

/* line_: the quadratic of exp(t) - 1, how many cells move, and what is data. */
static void emit_line_of(struct compiler *c, struct text *out,
                         const struct step *s)
{
    const struct held_scale *k = held_of(s);
    const struct translation *t = translation_of(k->sums);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN struct gbm_scaling line_%s(const struct state *s, "
                "const struct gbm_team *team,\n    long long element)\n{\n",
                s->name);
    open_node(&e, k);
    emit_line(&e, "gbm_total sums[4] = {0, 0, 0, 0};");
    const int depth = e.nloops;
    int braces = emit_open_part(&e, k->effects, true);
    emit_deviation(&e, k);
    emit_held(&e, t->effects);
    emit_line(&e, "sums[0] += %s * dev_ * dev_;",
              emit_in_brackets(&e, t->precision));
    emit_line(&e, "sums[1] -= %s * dev_;", emit_in_brackets(&e, t->slope));
    emit_close(&e, braces);
    e.nloops = depth;
    braces = emit_open_part(&e, k->cells, true);
    emit_line(&e, "sums[2] += 1;");
    emit_held(&e, member_of(k)->family);
    emit_close(&e, braces);
    e.nloops = depth;
    emit_line(&e, "gbm_team_sums(team, 4, sums);");
    for (int i = 0; i < s->block.n; i++)
        emit_line(&e, "sums[3] += s->%s_stride == 0;",
                  s->block.members[i].family->var->cname);
    symp node = node_cell(c, k);
    emit_line(&e, "sums[3] += %s || %s == 0;",
              emit_expr(&e, sym_seen(c, k->node->var, node->nargs, node->args)),
              emit_expr(&e, node));
    if (k->node->var->barren) /* all are drawn forward */
        emit_line(&e, "sums[3] += !%s;", emit_expr(&e, sym_live(c, node)));
    emit_line(&e, "const struct gbm_scaling k = {sums[0], sums[1], sums[2], "
                  "sums[3], 0};");
    emit_line(&e, "return k;");
    text_append(out, "}\n");
}

struct emitter sampler_open_line(struct compiler *c, struct text *out,
                                 const struct step *s, const char *what,
                                 const char *along)
{
    text_printf(out,
                "struct %s_%s {\n    %s k;\n    const struct state *s;\n    "
                "real now;\n    long long element;\n};\n"
                "GBM_INLINE real %s_at_%s(const void *context, real t_)\n{\n"
                "    const struct %s_%s *o_ = (const struct %s_%s *)context;\n"
                "    const struct state *s = o_->s;\n",
                what, s->name, along, what, s->name, what, s->name, what,
                s->name);
    struct emitter e = emitter_new(c, out);
    emit_line(&e, "const long long element = o_->element;");
    return e;
}

/* held_at_: the log density of t, with the node's prior. */
static void emit_density_at(struct compiler *c, struct text *out,
                            const struct step *s)
{
    const struct held_scale *k = held_of(s);
    const struct factor *g = k->node->factor;
    symp node = node_cell(c, k), value = sym_param(c, intern(c, "value_"));
    struct emitter e =
        sampler_open_line(c, out, s, "held", "struct gbm_scaling");
    open_node(&e, k);
    emit_line(&e, "const real grown_ = real_exp(t_);");
    sampler_emit_value(&e, "o_->now", -2 / k->power);
    sampler_emit_ends(&e, g, node, value);
    emit_line(&e, "const real by_ = grown_ - 1;");
    emit_line(&e, "gbm_total total = by_ * (o_->k.linear - o_->k.square * by_ "
                  "/ 2);");
    emit_line(&e, "total += %.17g * t_; /* the scale's Jacobian */",
              -2 / k->power);
    emit_line(&e, "total += %s;",
              emit_expr(&e, sampler_line_density(
                                c, sym_replace(c, g->logp, node, value), value,
                                NULL, g, -2 / k->power)));
    emit_line(&e, "return (real)total;");
    text_append(out, "}\n\n");
}

/* stretch_: all moves by exp(t). */
static void emit_stretch(struct compiler *c, struct text *out,
                         const struct step *s)
{
    const struct held_scale *k = held_of(s);
    const struct family *f = member_of(k)->family;
    const struct translation *t = translation_of(k->sums);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN void stretch_%s(const struct state *s, const struct "
                "gbm_team *team, long long element,\n    real t)\n{\n    const "
                "real by = real_exp(t) - 1;\n",
                s->name);
    open_node(&e, k);
    emit_line(&e, "gbm_team_sync(team);");
    const int depth = e.nloops;
    int braces = emit_open_part(&e, k->effects, true);
    emit_deviation(&e, k);
    emit_line(&e, "%s -= by * dev_;",
              emit_expr(&e, sym_ref(c, t->effects->var, t->effects->var->ndim,
                                    t->effects->lower)));
    emit_close(&e, braces);
    e.nloops = depth;
    emit_line(&e, "gbm_team_sync(team);");
    braces = emit_open_part(&e, k->cells, true);
    emit_line(&e, "%s += by * %s;",
              emit_expr(&e, sym_ref(c, f->var, f->var->ndim, f->lower)),
              emit_in_brackets(
                  &e, translation_of(k->sums)->added[k->member].deviation));
    emit_close(&e, braces);
    e.nloops = depth;
    emit_line(&e, "if (team->lane == 0)");
    emit_line(&e, "    %s *= real_exp(%.17g * t);",
              emit_expr(&e, node_cell(c, k)), -2 / k->power);
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n\n");
}

/* o: the line of the element. */
static void open_line(struct emitter *e, const struct step *s, const char *team)
{
    const struct held_scale *k = held_of(s);
    open_node(e, k);
    emit_line(
        e,
        "const struct held_%s o = {line_%s(s, %s, element), s, %s, element};",
        s->name, s->name, team, emit_expr(e, node_cell(e->c, k)));
}

static void emit_update(struct compiler *c, struct text *out,
                        const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    emit_open_update(out, s);
    open_line(&e, s, "team");
    emit_line(&e, "if (!gbm_scale_moves(&o.k))");
    emit_line(&e, "    return;");
    emit_line(&e,
              "const real t = gbm_slice_along(rng, 1, -GBM_INF, GBM_INF, "
              "held_at_%s, &o);",
              s->name);
    emit_line(&e, "if (t != 0 && gbm_is_finite(real_exp(t)))");
    emit_line(&e, "    stretch_%s(s, team, element, t);", s->name);
    text_append(out, "}\n\n");
}

/* The coordinate is the node. */
static void emit_access(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const double power = held_of(s)->power;
    struct text unused = {0};
    struct emitter in_loop = emitter_new(c, &unused);
    open_node(&in_loop, held_of(s));
    const char *node = emit_expr(&in_loop, node_cell(c, held_of(s)));
    text_free(&unused);
    const char *n = s->name,
               *t = intern_format(
                   c, "const double t = %.17g * log(fabs(*x / (double)o.now));",
                   -power / 2);
    const struct {
        const char *head, *body;
    } functions[] = {
        {"int dimension_%s(const void *state, int64_t element)",
         "return gbm_scale_moves(&o.k);"},
        {"void get_%s(const void *state, int64_t element, double *x)",
         "*x = (double)o.now;"},
        {"void set_%s(const void *state, int64_t element, const double *x)",
         intern_format(c,
                       "%s\n    if (isfinite(t))\n        stretch_%s(s, "
                       "&gbm_alone, element, (real)t);\n    %s = (real)*x; /* "
                       "beyond its support, too, and back */",
                       t, n, node)},
        /* of what moves, not of t: the normalisation, no Jacobian; on the side
         * of 0 that x is on */
        {"double conditional_%s(const void *state, int64_t element, const "
         "double *x)",
         intern_format(c,
                       "%s\n    struct held_%s of = o;\n    of.now = "
                       "real_copysign(o.now, (real)*x);\n    return "
                       "(double)held_at_%s(&of, (real)t) - "
                       "((double)o.k.count - %.17g) * t;",
                       t, n, n, 2 / power)},
    };
    text_append(out, "#ifndef __CUDACC__\n");
    for (int i = 0; i < 4; i++) {
        struct emitter e = emitter_new(c, out);
        text_append(out, "static ");
        text_printf(out, functions[i].head, n);
        text_append(out, "\n{\n");
        emit_line(&e, "const struct state *s = (const struct state *)state;");
        open_line(&e, s, "&gbm_alone");
        emit_line(&e, "%s", functions[i].body);
        text_append(out, "}\n");
    }
    text_append(out, "#endif\n\n");
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    sampler_emit_group_comment(c, out, s,
                               "Scaled together, the sums with the last held");
    emit_line_of(c, out, s);
    emit_density_at(c, out, s);
    emit_stretch(c, out, s);
    emit_update(c, out, s);
    emit_access(c, out, s);
}

/* ---- the sampler -----------------------------------------------------------
 */

static void phases(struct compiler *c, struct step *s)
{
    const struct held_scale *k = held_of(s);
    const struct translation *t = translation_of(k->sums);
    const struct added *a = &t->added[k->member];
    struct phase *p =
        sweep_add_phase(c, s, PHASE_SUM, "log density along a line");
    p->rows = t->effects;
    phase_computes(c, p, t->precision);
    phase_computes(c, p, t->slope);
    phase_computes_each(c, p, sym_mul2(c, a->design, k->deviation),
                        member_of(k)->count);
    p = sweep_add_phase(c, s, PHASE_SEARCH, "draws the number");
    p->random = true;
    p->drawn = sym_num(c, 1);
    phase_computes(c, p, k->node->factor->logp);
    phase_writes(c, p, k->node);
    p = sweep_add_phase(c, s, PHASE_MAP, "moved against it");
    p->rows = t->effects;
    phase_computes_each(c, p, sym_mul2(c, a->design, k->deviation),
                        member_of(k)->count);
    phase_writes(c, p, t->effects);
    p = sweep_add_phase(c, s, PHASE_MAP, "scaled");
    p->rows = member_of(k)->family;
    phase_computes(c, p, a->deviation);
    phase_writes(c, p, member_of(k)->family);
}

static const char *explain(struct compiler *c, const struct step *s)
{
    return intern_format(c, "scale, sums with %s held, slice",
                         translation_of(held_of(s)->sums)->effects->var->name);
}

static const char *why(struct compiler *c, const struct step *s)
{
    const struct held_scale *k = held_of(s);
    return intern_format(
        c,
        "moved with %s, whose standardised values stay, and %s, which keeps "
        "the sums. Yu and Meng (2011); Liu and Sabatti (2000), Generalised "
        "Gibbs sampler",
        member_of(k)->family->var->name,
        translation_of(k->sums)->effects->var->name);
}

static void emit_row(struct compiler *c, struct text *out, const struct step *s)
{
    (void)c;
    (void)s;
    text_append(out, ", .barriers = 5");
}

const struct sampler sampler_held_scale = {
    .beside = true,
    .name = "scale, held sums",
    .closed = true,
    .headers = {"scale.h"},
    .explain = explain,
    .why = why,
    .phases = phases,
    .emit = emit,
    .emit_row = emit_row,
    .block_access = true,
    .own_layout = true,
};
