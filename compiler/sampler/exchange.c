/* exchange.c: components of a mixture that their priors tell apart trade
 * places, z[i] ~ dcat(w[]);  x[i] ~ dnorm(mu[z[i]], tau);  mu[k] ~ dnorm(m[k],
 * 1) Data tell little of which component is which, and a row at a time none
 * that has many rows goes elsewhere: a chain that began with the names the
 * other way round keeps them for long. So two components trade all that they
 * have, rows and parameters: what reads a parameter by the label of a row is as
 * it was, and the ratio of the remaining densities, the parameters' priors,
 * decides (Jasra, Holmes and Stephens 2005, Markov chain Monte Carlo methods
 * and the label switching problem, Stat. Sci. 20, section 3). Where priors do
 * not tell them apart the names are of no account, and stay.
 *
 * Requires a list of steps without merged ones, before the sweep is planned. */
#include "sampler/component.h"

struct exchange {
    struct compiler *c;
    struct model *m;
    struct step *labels; /* draws them */
    struct components has;
    bool failed;
};

static const struct exchange *exchange_of(const struct step *s)
{
    return s->own;
}

/* ---- what a component has --------------------------------------------------
 */

/* Whether all cells are drawn, as the compiler chose. */
static bool may_trade(const struct exchange *k, const struct var *v)
{
    if (v->role != ROLE_STOCHASTIC || v->rest_of || v->slope_of || v->indexes ||
        v->whole)
        return false;
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (!sampler_is_free(k->m, f) || f->affine || f->data_block ||
            f->sequence || sampler_step_of(k->m, f)->scaled.by)
            return false;
    return v->families != NULL;
}

static void add_cells(struct exchange *k, struct var *v, int dim)
{
    const struct of_component *known = sampler_component_cells(&k->has, v);
    if (known)
        k->failed = k->failed || known->dim != dim;
    else if (k->has.n == MOST_CELLS || !may_trade(k, v))
        k->failed = true;
    else
        k->has.cells[k->has.n++] = (struct of_component){v->families, dim};
}

/* Whether v is computed and kept, from labels or from what components have. */
static bool follows(const struct exchange *k, const struct var *v)
{
    return v->role == ROLE_DERIVED && v->stored &&
           sampler_follows_components(k->m, &k->has, k->labels->family->var, v);
}

/* In what reads labels, a label may stand as the subscript alone of what its
 * component has, and that at a label alone. */
static void look(struct exchange *k, symp e)
{
    const struct var *z = k->labels->family->var;
    const bool cell = e->kind == SYM_REF || e->kind == SYM_SEEN;
    int labels = 0;
    if (cell && (e->var == z || follows(k, e->var)))
        k->failed = true;
    for (int i = 0; i < e->nargs && !k->failed; i++) {
        if (cell && e->args[i]->kind == SYM_REF && e->args[i]->var == z) {
            add_cells(k, e->var, i);
            labels++;
        } else {
            look(k, e->args[i]);
        }
    }
    if (labels > 1 ||
        (cell && !labels && sampler_component_cells(&k->has, e->var)))
        k->failed = true;
}

static bool reads_labels(const struct exchange *k, const struct factor *g)
{
    return sampler_factor_reads(g, k->labels->family->var) ||
           g->family == k->labels->family;
}

static void look_at_factor(struct exchange *k, const struct factor *g)
{
    struct factor rest = *g;
    symp all[FACTOR_EXPRESSIONS];
    if (g->family == k->labels->family) /* the labels are its own */
        rest.value = rest.lower = rest.upper = NULL;
    const int n = model_factor_expressions(&rest, all);
    for (int i = 0; i < n; i++)
        look(k, all[i]);
}

/* All that components have, and whether that is all that labels choose. */
static bool find_components(struct exchange *k)
{
    int before;
    do {
        before = k->has.n;
        for (const struct factor *g = k->m->factors; g && !k->failed;
             g = g->next)
            if (!g->replaced && reads_labels(k, g))
                look_at_factor(k, g);
    } while (k->has.n > before && !k->failed);
    return !k->failed && k->has.n > 0;
}

/* ---- what tells one from another -------------------------------------------
 */

struct telling {
    const struct exchange *k;
    const struct loop *component;
};

/* Where a component is more than the subscript of what it has, or what one has
 * is read elsewhere. */
static bool tells(symp e, const void *telling)
{
    const struct telling *t = telling;
    const bool cell = e->kind == SYM_REF || e->kind == SYM_SEEN;
    const struct of_component *own =
        cell ? sampler_component_cells(&t->k->has, e->var) : NULL;
    bool its_own = !own;
    for (int i = 0; i < e->nargs; i++) {
        const bool component =
            e->args[i]->kind == SYM_LOOP && e->args[i]->loop == t->component;
        if (component && !(own && own->dim == i))
            return true;
        its_own = its_own || (component && own->dim == i);
    }
    return !its_own;
}

/* Whether the density of a plate over components, which names them in turn, is
 * the same however they trade places. */
static bool is_alike(const struct exchange *k, const struct factor *g)
{
    const struct of_component *own =
        sampler_component_cells(&k->has, g->family->var);
    symp all[FACTOR_EXPRESSIONS];
    const int n = model_factor_expressions(g, all);
    if (!own || g->family->factor != g ||
        g->family->lower[own->dim]->kind != SYM_LOOP)
        return false;
    const struct telling t = {k, g->family->lower[own->dim]->loop};
    for (int i = 0; i < g->nloops; i++)
        if (sym_has_loop(g->loops[i]->lower, t.component) ||
            sym_has_loop(g->loops[i]->upper, t.component))
            return false;
    for (int i = 0; i < n; i++)
        if (sym_any(all[i], tells, &t))
            return false;
    return true;
}

/* A vector of weights may have a prior that tells nothing: it alone is no
 * reason. */
static bool is_vector_of(const struct exchange *k, const struct factor *g)
{
    const struct of_component *own =
        sampler_component_cells(&k->has, g->family->var);
    return own && !g->family->next_of_var &&
           g->family->var->families == g->family &&
           g->family->upper[own->dim] != NULL;
}

/* The densities that change; false: one that may not be had at once, or none
 * by which components differ. */
static bool find_changed(const struct exchange *k, struct step *s)
{
    bool told = false;
    for (struct factor *g = k->m->factors; g; g = g->next) {
        if (g->replaced || reads_labels(k, g) || !group_mentions(k->c, s, g))
            continue;
        if (sym_any(g->logp, sampler_follows_group, s) ||
            (g->lower && group_depends(s, g->lower)) ||
            (g->upper && group_depends(s, g->upper)))
            return false;
        if (is_alike(k, g))
            continue;
        told = told || !is_vector_of(k, g);
        sampler_push_part(&s->parts, sampler_all_instances(k->c, g));
    }
    return told;
}

/* ---- the step --------------------------------------------------------------
 */

static bool add_members(struct step *s, const struct var *v)
{
    for (struct family *f = v->families; f; f = f->next_of_var) {
        if (s->block.n == MAX_MEMBERS)
            return false;
        s->block.members[s->block.n].family = f;
        s->block.members[s->block.n++].count = sym_num(exchange_of(s)->c, 1);
    }
    return true;
}

static struct step *make_step(struct exchange *k)
{
    struct step *s = NEW(k->c, struct step);
    s->own = k;
    s->model = k->m;
    s->sampler = &sampler_exchange;
    s->family = k->labels->family;
    s->whole = true;
    s->name = intern_format(k->c, "exchange_%s", family_id(k->c, s->family));
    bool fits = add_members(s, s->family->var);
    for (int i = 0; i < k->has.n; i++)
        fits = fits && add_members(s, k->has.cells[i].family->var);
    return fits && find_changed(k, s) ? s : NULL;
}

void sampler_find_exchanges(struct compiler *c, struct model *m)
{
    for (struct step *z = m->steps; z; z = z->next) {
        if (!sampler_draws_labels(c, m, z) || z->turn.again)
            continue;
        struct exchange *k = NEW(c, struct exchange);
        *k = (struct exchange){.c = c, .m = m, .labels = z};
        struct step *move = find_components(k) ? make_step(k) : NULL;
        if (!move)
            continue;
        move->next = z->next;
        z->next = move;
        z->turn.again = move;
        z->turn.index_waits = true;
        if (m->last_step == &z->next)
            m->last_step = &move->next;
    }
}

/* ---- its functions ---------------------------------------------------------
 */

/* Every cell of one component, with the other's of the same place. */
static void emit_trade_cells(struct emitter *e, const struct of_component *k)
{
    struct compiler *c = e->c;
    struct var *v = k->family->var;
    const int depth = e->nloops;
    int braces = 0;
    symp first[MAX_DIMS], second[MAX_DIMS];
    for (int d = 0; d < v->ndim; d++) {
        if (d == k->dim) {
            first[d] = sym_param(c, intern(c, "a_"));
            second[d] = sym_param(c, intern(c, "b_"));
            continue;
        }
        struct loop *l = NEW(c, struct loop);
        l->name = "at";
        l->lower = sym_num(c, 1);
        l->upper = sym_extent(c, v, d);
        emit_open_loop(e, l, l->lower, l->upper);
        first[d] = second[d] = sym_loop(c, l);
        braces++;
    }
    sampler_emit_trade_cells(e, v, first, second);
    emit_close(e, braces);
    e->nloops = depth;
}

static void emit_trade(struct compiler *c, struct text *out,
                       const struct step *s)
{
    const struct exchange *k = exchange_of(s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "/* Two components' parameters. */\n"
                "GBM_FN void trade_%s(const struct state *s, const struct "
                "gbm_team *team, int a_, int b_)\n{\n    "
                "gbm_team_sync(team);\n",
                s->name);
    emit_param(&e, "a_", "a_");
    emit_param(&e, "b_", "b_");
    emit_line(&e, "if (team->lane == 0) {");
    e.indent++;
    for (int i = 0; i < k->has.n; i++)
        emit_trade_cells(&e, &k->has.cells[i]);
    emit_close(&e, 1);
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n\n");
}

/* Whether something is known of the labels or the components, or there are not
 * as many of these as labels. */
static void emit_held(struct compiler *c, struct text *out,
                      const struct step *s)
{
    const struct exchange *k = exchange_of(s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN bool held_%s(const struct state *s)\n{\n    bool held "
                "= false;\n",
                s->name);
    sampler_emit_held(&e, s->family->var);
    for (int i = 0; i < k->has.n; i++) {
        struct var *v = k->has.cells[i].family->var;
        sampler_emit_held(&e, v);
        emit_line(&e, "held = held || %s != %s;",
                  emit_int(&e, sym_extent(c, v, k->has.cells[i].dim)),
                  emit_int(&e, k->labels->support.upper));
    }
    text_append(out, "    return held;\n}\n\n");
}

static void emit_update(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const char *n = s->name;
    struct emitter e = emitter_new(c, out);
    emit_open_update(out, s);
    emit_line(&e, "const int labels = %s;",
              emit_int(&e, exchange_of(s)->labels->support.upper));
    emit_line(&e, "if (labels < 2 || held_%s(s))", n);
    emit_line(&e, "    return;");
    emit_line(&e, "const int a_ = gbm_relabel_any(rng, labels) + 1;");
    emit_line(&e, "const int any = gbm_relabel_any(rng, labels - 1) + 1;");
    emit_line(&e, "const int b_ = any + (any >= a_);");
    emit_line(&e, "const real u = gbm_uniform(rng);");
    emit_line(&e, "const real here = density_%s(s, team, element);", n);
    emit_line(&e, "trade_%s(s, team, a_, b_);", n);
    emit_line(&e, "const real gain = density_%s(s, team, element) - here;", n);
    emit_line(&e, "if (!gbm_exchanged(gain, u)) {");
    emit_line(&e, "    trade_%s(s, team, a_, b_);", n);
    emit_line(&e, "    return;");
    emit_line(&e, "}");
    sampler_emit_trade_rows(&e, s->family);
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n\n");
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    sampler_emit_group_comment(c, out, s, "Components trade places");
    sampler_emit_group_density(c, out, s, "density");
    emit_trade(c, out, s);
    emit_held(c, out, s);
    emit_update(c, out, s);
}

/* ---- the sampler -----------------------------------------------------------
 */

static void phases(struct compiler *c, struct step *s)
{
    struct phase *p =
        sweep_add_phase(c, s, PHASE_SEARCH, "components trade places");
    p->random = true;
    p->drawn = sym_num(c, 1);
    p->rows = s->family;
    for (int i = 0; i < s->block.n; i++)
        phase_writes(c, p, s->block.members[i].family);
}

static const char *why(struct compiler *c, const struct step *s)
{
    return intern_format(
        c,
        "two components trade all that they have, labels and parameters, as "
        "their priors allow: the draws of %s, row by row, seldom change which "
        "component has which name. Jasra, Holmes and Stephens (2005), MCMC "
        "methods and the label switching problem",
        s->family->var->name);
}

const struct sampler sampler_exchange = {
    .beside = true,
    .name = "components trade places",
    .closed = true,
    .headers = {"relabel.h"},
    .why = why,
    .phases = phases,
    .emit = emit,
};
