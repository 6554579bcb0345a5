/* scale.c: latent normals of which data tell the signs alone (probit
 * regressions, by the library's augmentation or as the model writes them) leave
 * their scale to their means, and the means theirs to them: drawn in turn, both
 * move in small steps where the data say much. So all of them are multiplied
 * by one number, drawn from the density along that line: Liu and Wu (1999),
 * Parameter expansion for data augmentation, J. Am. Stat. Assoc. 94; Liu and
 * Sabatti (2000), Generalised Gibbs sampler and multigrid Monte Carlo for
 * Bayesian computation, Biometrika 87.
 *
 * What moves: nodes z with a normal full conditional between bounds that a
 * multiplication leaves as they are (0, infinity), which no density reads but
 * their own; and normal nodes in their means, and in the means of those, whose
 * densities all are priors of what moves. Along the line the log density of
 * each prior is a quadratic of the number. What else stands in the means stays.
 *
 * Requires blocks, without merged steps, before the sweep is planned. */
#include "sampler/scale.h"
#include "sampler/joint.h"
#include "sampler/moves.h"
#include <stdlib.h>

/* ---- which variables -------------------------------------------------------
 */

struct search {
    struct compiler *c;
    struct model *m;
    struct var_list vars, latent; /* what moves; the latent normals of it */
};

static bool is_normal_step(const struct step *s)
{
    return s->sampler->dense || joint_is_gaussian(s) ||
           s->sampler == &sampler_gaussian_block ||
           (s->sampler == &sampler_direct && s->law.family &&
            entry_is_normal(s->law.family));
}

/* A variable all of whose families are drawn from normals, as the compiler
 * chose. */
static bool is_drawn_normal(const struct search *k, const struct var *v)
{
    if (v->integer || v->whole || v->rest_of || v->slope_of)
        return false;
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        const struct step *s = f->stochastic ? sampler_step_of(k->m, f) : NULL;
        if (!s || !is_normal_step(s) || s->asked.word || s->through ||
            f->nslices > 1 || f->affine || !f->factor || f->factor->replaced)
            return false;
    }
    return v->families != NULL;
}

static bool mentions(symp e, const struct var *v)
{
    return e && sym_has_var(e, v);
}

static bool follows(symp e, const void *search)
{
    const struct search *k = search;
    for (int i = 0; i < k->vars.n; i++)
        if (model_follows(k->m, e, k->vars.items[i]))
            return true;
    return false;
}

static bool bound_scales(const struct search *k, symp bound)
{
    return !bound || condition_scales_along(k->c, bound, &k->vars);
}

/* The prior of a node that moves, of which the number leaves bounds and rules
 * as they are. */
static bool is_quadratic(const struct search *k, const struct factor *g,
                         struct scaled_terms *terms)
{
    for (int i = 0; i < k->vars.n; i++)
        if (mentions(g->rule, k->vars.items[i]) ||
            mentions(g->guard, k->vars.items[i]))
            return false;
    return !sym_any(g->logp, follows, k) && bound_scales(k, g->lower) &&
           bound_scales(k, g->upper) &&
           condition_scaled_quadratic(k->c, g->logp, &k->vars, terms);
}

static bool all_quadratic(const struct search *k)
{
    struct scaled_terms terms;
    for (int i = 0; i < k->vars.n; i++)
        for (const struct family *f = k->vars.items[i]->families; f;
             f = f->next_of_var)
            if (!is_quadratic(k, f->factor, &terms))
                return false;
    return true;
}

/* ---- latent normals --------------------------------------------------------
 */

/* A factor that v enters by bounds of v alone. */
static bool bounds_alone(const struct search *k, const struct step *s,
                         const struct factor *g)
{
    bool found = false;
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->factor == g && (p->opaque || p->terms.n > 0))
            return false;
    for (const struct bound *b = s->support.bounds; b; b = b->next) {
        if (b->part->factor != g)
            continue;
        found = true;
        if (!bound_scales(k, b->value))
            return false;
    }
    return found;
}

static bool is_latent_normal(const struct search *k, const struct step *s)
{
    const struct family *f = s->family;
    if (s->merged || s->sampler != &sampler_direct || !s->support.bounded ||
        s->block.n || f->nslices || f->var->families != f || f->next_of_var ||
        !is_drawn_normal(k, f->var))
        return false;
    if (!bound_scales(k, s->support.lower) ||
        !bound_scales(k, s->support.upper))
        return false;
    for (const struct factor *g = k->m->factors; g; g = g->next)
        if (!g->replaced && g != f->factor && sampler_factor_reads(g, f->var) &&
            !bounds_alone(k, s, g))
            return false;
    return true;
}

static bool is_among(const struct search *k, const struct var *v)
{
    return condition_has_variable(&k->vars, v);
}

static void add_var(struct search *k, const struct var *v)
{
    k->vars.items[k->vars.n++] = v;
}

/* Adds v if it is a latent normal that no other move has. */
static void try_latent(struct search *k, const struct var *v)
{
    const struct step *s =
        v->families ? sampler_step_of(k->m, v->families) : NULL;
    struct search alone = *k;
    const struct var *items[1] = {v};
    alone.vars = (struct var_list){items, 1};
    if (!s || s->scaled.by || !is_latent_normal(&alone, s))
        return;
    add_var(k, v);
    k->latent.items[k->latent.n++] = v;
}

/* ---- what stands in the means ----------------------------------------------
 */

/* Adds v, and latent normals in whose means it stands, if all that reads it are
 * priors of what then moves. */
static bool try_var(struct search *k, const struct var *v)
{
    const struct search before = *k;
    bool meets = false, fits = true;
    if (is_among(k, v) || !is_drawn_normal(k, v))
        return false;
    add_var(k, v);
    for (const struct factor *g = k->m->factors; g && fits; g = g->next) {
        const struct var *own = g->family->var;
        if (g->replaced || !sampler_factor_reads(g, v))
            continue;
        if (!is_among(k, own))
            try_latent(k, own);
        fits = is_among(k, own);
        meets = meets || own != v;
    }
    if (fits && meets && all_quadratic(k))
        return true;
    *k = before;
    return false;
}

/* samplers { } names a node that would move: it is drawn as asked, no more. */
static bool is_asked(const struct search *k)
{
    for (int i = 0; i < k->vars.n; i++)
        for (const struct family *f = k->vars.items[i]->families; f;
             f = f->next_of_var)
            if (sampler_named(k->m, f))
                return true;
    return false;
}

static void grow(struct search *k)
{
    bool grown = true;
    while (grown) {
        grown = false;
        for (const struct var *v = k->m->vars; v; v = v->next)
            grown = try_var(k, v) || grown;
    }
}

/* ---- the step --------------------------------------------------------------
 */

/* Of a latent normal's terms, the square in which its own cell stands with 1 or
 * -1, if its draw is from its prior alone; -1: none. */
static int residual_square(struct compiler *c, const struct step *s,
                           const struct scaled_terms *terms)
{
    const struct family *f = s->family;
    symp cell = sym_ref(c, f->var, f->var->ndim, f->lower);
    int found = -1, n = 0;
    for (const struct part *p = s->parts; p; p = p->next)
        if (!p->own && p->terms.n > 0)
            return -1;
    for (int i = 0; i < terms->nsquares; i++) {
        symp along = terms->squares[i].along;
        if (!sym_has_var(along, f->var))
            continue;
        n++;
        for (int sign = -1; sign <= 1; sign += 2)
            if (!sym_has_var(
                    sym_sub(c, along, sym_mul2(c, sym_num(c, sign), cell)),
                    f->var))
                found = i;
    }
    return n == 1 && s->law.n == 2 && sym_is(terms->square, 0) &&
                   sym_is(terms->linear, 0) && family_rectangular(f)
               ? found
               : -1;
}

static struct scale_term *new_term(struct compiler *c, const struct search *k,
                                   struct family *f, bool latent)
{
    struct scale_term *t = NEW(c, struct scale_term);
    t->family = f;
    t->square = -1;
    is_quadratic(k, f->factor, &t->terms);
    t->part = sampler_all_instances(c, f->factor);
    t->part->opaque = false;
    symp x = sym_target(c);
    for (int power = 2; power >= 1; power--) {
        symp a = condition_scaled_coefficient(c, &t->terms, power);
        if (sym_is(a, 0))
            continue;
        t->part->terms.statistic[t->part->terms.n] =
            sym_pow(c, x, sym_num(c, power));
        t->part->terms.coefficient[t->part->terms.n++] = a;
    }
    if (latent) {
        t->latent = sampler_step_of(k->m, f);
        t->square = residual_square(c, t->latent, &t->terms);
    }
    return t;
}

struct scale_term *sampler_scale_term(struct compiler *c, struct model *m,
                                      const struct var_list *vars,
                                      struct family *f)
{
    const struct search k = {.c = c, .m = m, .vars = *vars};
    struct scaled_terms terms;
    return is_quadratic(&k, f->factor, &terms) ? new_term(c, &k, f, false)
                                               : NULL;
}

/* The means' families before the latent normals'. */
static struct step *make_step(struct compiler *c, const struct search *k)
{
    struct step *s = NEW(c, struct step);
    struct scaling *own = s->own = NEW(c, struct scaling);
    struct scale_term **last = &own->terms;
    const char *name = "scale";
    s->model = k->m;
    s->sampler = &sampler_scale_move;
    s->whole = true;
    for (int latent = 0; latent < 2; latent++)
        for (struct family *f = k->m->families; f; f = f->next) {
            if (!f->stochastic || !is_among(k, f->var) ||
                condition_has_variable(&k->latent, f->var) != latent)
                continue;
            if (s->block.n == MAX_MEMBERS)
                return NULL;
            struct scale_term *t = *last = new_term(c, k, f, latent);
            last = &t->next;
            sampler_push_part(&s->parts, t->part);
            own->linear =
                own->linear ||
                !sym_is(condition_scaled_coefficient(c, &t->terms, 1), 0);
            s->block.members[s->block.n].family = f;
            s->block.members[s->block.n++].count = sym_num(c, 1);
            name = intern_format(c, "%s_%s", name, family_id(c, f));
        }
    s->family = s->block.members[0].family;
    s->name = name;
    return s;
}

/* Behind the last step that draws one of the latent normals. */
static void insert(struct model *m, struct step *s)
{
    const struct scaling *own = s->own;
    struct step *last = NULL;
    for (const struct scale_term *t = own->terms; t; t = t->next)
        if (t->latent)
            t->latent->scaled.by = s;
    for (struct step *k = m->steps; k; k = k->next)
        if (k->scaled.by == s)
            last = k;
    s->next = last->next;
    last->next = s;
}

void sampler_find_scale_moves(struct compiler *c, struct model *m)
{
    int n = 0;
    for (const struct var *v = m->vars; v; v = v->next)
        n++;
    for (struct step *s = m->steps; s; s = s->next) {
        struct search k = {.c = c, .m = m};
        if (!s->sampler || !s->family)
            continue;
        k.vars.items = NEW_ARRAY(c, const struct var *, n);
        k.latent.items = NEW_ARRAY(c, const struct var *, n);
        try_latent(&k, s->family->var);
        if (!k.latent.n)
            continue;
        grow(&k);
        struct step *move =
            k.vars.n > 1 && !is_asked(&k) ? make_step(c, &k) : NULL;
        if (move)
            insert(m, move);
    }
}

/* ---- the sampler -----------------------------------------------------------
 */

/* Whether nothing that the latent normal's mean reads has changed since its
 * draw. */
static bool is_fresh(const struct model *m, const struct scale_term *t,
                     const struct step *move)
{
    const struct step *s = m->steps;
    while (s && s != t->latent)
        s = s->next;
    for (s = s ? s->next : NULL; s && s != move; s = s->next)
        for (int i = 0; i < s->turn.changes->n; i++)
            if (sym_has_var(t->family->factor->logp, s->turn.changes->items[i]))
                return false;
    return s == move;
}

static void slots(struct compiler *c, struct model *m, struct step *s)
{
    struct scaling *own = s->own;
    if (own->divided) {
        s->slots = own->tuning = sweep_add_pays_slot(c, m, s);
        return;
    }
    struct slot slot = {.kind = SLOT_TUNING,
                        .life = LIFE_SCRATCH,
                        .ndim = 1,
                        .per_chain = true,
                        .step = s};
    for (struct scale_term *t = own->terms; t; t = t->next) {
        if (!t->latent || t->square < 0 || !is_fresh(m, t, s))
            continue;
        const struct scaled_square *q = &t->terms.squares[t->square];
        symp cell =
            sym_ref(c, t->family->var, t->family->var->ndim, t->family->lower);
        struct residual *r = t->latent->scaled.residual =
            NEW(c, struct residual);
        r->own =
            sym_has_var(sym_sub(c, q->along, cell), t->family->var) ? -1 : 1;
        r->rest = q->rest;
        slot.name = intern_format(c, "%s residual", t->family->var->name);
        slot.member = intern_format(c, "%s_residual", family_id(c, t->family));
        slot.about = "less its own value, at its draw";
        slot.family = t->family;
        r->slot = sweep_add_slot(c, m, slot);
    }
    for (const struct step *k = m->steps; k; k = k->next)
        for (const struct quadratic *q = k->block.quadratics; q; q = q->next)
            if (q->drawn && q->drawn->scaled.by == s && !own->number) {
                slot.name = intern_format(c, "%s number", s->name);
                slot.member = intern_format(c, "%s_number", s->name);
                slot.about = "what it multiplied by";
                slot.family = s->family;
                slot.counted = "tuning_";
                own->number = sweep_add_slot(c, m, slot);
            }
}

const struct slot *sampler_scale_number(const struct step *s)
{
    const struct scaling *own = s->own;
    return own->number;
}

static void phases(struct compiler *c, struct step *s)
{
    const struct scaling *own = s->own;
    for (const struct scale_term *t = own->terms; t; t = t->next) {
        struct phase *p =
            sweep_add_phase(c, s, PHASE_SUM, "log density along a line");
        p->part = t->part;
        for (int i = 0; i < t->part->terms.n; i++)
            phase_computes(c, p, t->part->terms.coefficient[i]);
    }
    struct phase *number = sweep_add_phase(
        c, s, own->linear ? PHASE_SEARCH : PHASE_MAP, "draws the number");
    number->random = true;
    number->drawn = sym_num(c, 1);
    if (own->divided)
        phase_computes(c, s->phases, own->divided->factor->logp);
    for (const struct scale_term *t = own->terms; t; t = t->next) {
        struct phase *p = sweep_add_phase(c, s, PHASE_MAP, "multiplied");
        p->rows = t->family;
        phase_multiplies(c, p, t->family);
    }
}

static const char *explain_scale(struct compiler *c, const struct step *s)
{
    const struct scaling *own = s->own;
    (void)c;
    if (own->divided)
        return "opposite scales, slice";
    return own->linear ? "common scale, slice" : "common scale, gamma";
}

static const char *why(struct compiler *c, const struct step *s)
{
    const struct scaling *own = s->own;
    const struct family *f = own->divided;
    if (f)
        return intern_format(
            c,
            "multiplied by a number that %s is divided by, as all that reads "
            "them reads their product. Yu and Meng (2011), To center or not to "
            "center; Liu and Sabatti (2000), Generalised Gibbs sampler",
            f->nloops
                ? f->var->name
                : sym_text(c, sym_ref(c, f->var, f->var->ndim, f->lower)));
    return "multiplied by one number, as data tell the signs of the latent "
           "normals alone. Liu and Wu (1999), Parameter expansion for data "
           "augmentation; Liu and Sabatti (2000), Generalised Gibbs sampler";
}

/* Of the sums two, two around the products, and one behind the number. */
static void emit_row(struct compiler *c, struct text *out, const struct step *s)
{
    (void)c;
    (void)s;
    text_append(out, ", .barriers = 5");
}

const struct sampler sampler_scale_move = {
    .beside = true,
    .name = "common scale",
    .closed = true,
    .unit = sampler_never_left_out,
    .headers = {"scale.h", "carried.h"},
    .explain = explain_scale,
    .why = why,
    .phases = phases,
    .slots = slots,
    .emit = sampler_emit_scale,
    .emit_row = emit_row,
    .block_access = true,
};
