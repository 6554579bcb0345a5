/* translation.c: effects with a normal prior that the model reads only in sums
 * with other nodes, as eps[g,n] in inprod(X[n,], beta[g,]) + eps[g,n], leave
 * these nodes to the effects and the effects to them: drawn in turn, both move
 * in small steps where the data settle the sum. So beta is drawn once more with
 * the sums held, and eps follows: eps' = eps + X (beta - beta'). All that reads
 * the sums stays, so no row of data is looked at; the Jacobian of a translation
 * is 1; and beta given the sums is Gaussian, the regression of the sums on X
 * with the effects' prior as its noise. It is the sufficient one of the two
 * steps of Yu and Meng (2011), To center or not to center: that is not the
 * question, J. Comput. Graph. Stat. 20(3); the usual draws, of beta given eps
 * and of eps given beta, are the ancillary one.
 *
 * The sums are found by algebra: all that reads an effect, or what moves
 * against it, must read it in such a sum. Where what moves is a plate that the
 * effects share (the genes g), each element of that has a draw of its own.
 *
 * Requires a list of steps without merged ones, before the sweep is planned. */
#include "sampler/translation.h"

/* ---- priors ----------------------------------------------------------------
 */

/* Slope and precision of f's prior, normal whatever the rest is, at cells a and
 * b of its node. */
static bool normal_at(struct compiler *c, const struct family *f, symp a,
                      symp b, symp *slope, symp *precision)
{
    const struct factor *g = f->factor;
    if (g->lower || g->upper || g->rule || g->guard)
        return false;
    *slope = sym_derivative(c, g->logp, a);
    symp second = *slope ? sym_derivative(c, *slope, b) : NULL;
    if (!second || sym_has_var(second, f->var))
        return false;
    *precision = sym_neg(c, second);
    return true;
}

/* It reads no cells of its variable but its own node's. */
static bool reads_itself(struct compiler *c, const struct family *f)
{
    if (f->nslices)
        return f->nslices == 1 && f->var->ndim == f->nloops + 1 &&
               f->var->families == f && !f->next_of_var;
    symp own = sym_ref(c, f->var, f->var->ndim, f->lower);
    return !sym_has_var(sym_replace(c, f->factor->logp, own, sym_num(c, 1)),
                        f->var);
}

static bool are_effects(struct compiler *c, const struct model *m,
                        const struct family *f)
{
    symp slope, precision;
    if (!f->stochastic || !f->nloops || f->nslices || f->affine ||
        !sampler_are_numbers(f->var) || f->var->families != f ||
        f->next_of_var || !sampler_is_free(m, f) || !family_plain(c, f) ||
        !reads_itself(c, f))
        return false;
    for (int d = 0; d < f->var->ndim; d++)
        if (f->lower[d]->kind != SYM_LOOP)
            return false;
    symp own = sym_ref(c, f->var, f->var->ndim, f->lower);
    return normal_at(c, f, own, own, &slope, &precision) &&
           !sym_is(precision, 0);
}

/* ---- what moves ------------------------------------------------------------
 */

static bool is_loop_of(const struct family *f, symp e)
{
    bool found = false;
    for (int i = 0; i < f->nloops; i++)
        found = found || (e->kind == SYM_LOOP && e->loop == f->loops[i]);
    return found;
}

/* A subscript that is one value, or that a sum runs through. */
static bool is_within(const struct family *effects, symp e, symp in)
{
    return e->kind == SYM_NUM || (e->kind == SYM_LOOP && in->kind == SYM_SUM &&
                                  !is_loop_of(effects, e));
}

/* Which of the effects' loops are subscripts of v in e, at[] by dimension, else
 * NULL there; false if other references or subscripts are there. */
static bool subscripts_of(const struct sum *k, symp e, const struct var *v,
                          symp in, symp *at, bool *found)
{
    if (e->kind == SYM_SUM)
        in = e;
    bool same = true;
    for (int d = 0; e->kind == SYM_REF && e->var == v && d < v->ndim; d++) {
        symp tied = is_loop_of(k->effects, e->args[d]) ? e->args[d] : NULL;
        same = same && (tied || is_within(k->effects, e->args[d], in)) &&
               (!*found || (tied ? at[d] && sym_same(at[d], tied) : !at[d]));
        at[d] = tied;
    }
    *found = *found || (e->kind == SYM_REF && e->var == v);
    for (int i = 0; i < e->nargs && same; i++)
        same = subscripts_of(k, e->args[i], v, in, at, found);
    return same;
}

/* The loop of f that is its subscript d, which runs as l does. */
static const struct loop *loop_like(const struct family *f, int d,
                                    const struct loop *l)
{
    symp e = f->lower[d];
    return !f->upper[d] && e->kind == SYM_LOOP &&
                   sym_same(e->loop->lower, l->lower) &&
                   sym_same(e->loop->upper, l->upper)
               ? e->loop
               : NULL;
}

static struct translation *own_of(const struct sum *k) { return k->step->own; }

/* Loops through the cells of f that an element has. */
static struct indices index_of(const struct sum *k, const struct family *f,
                               const char *name)
{
    struct indices x = {.n = f->nslices ? 1 : f->nloops - own_of(k)->ntied};
    const struct added *a = &own_of(k)->added[k->step->block.n];
    int n = 0;
    for (int i = 0; i < f->nloops && !f->nslices; i++) {
        bool tied = false;
        for (int j = 0; j < own_of(k)->ntied; j++)
            tied = tied || a->tied[j] == f->loops[i];
        if (!tied) {
            x.loops[n] = NEW(k->c, struct loop);
            *x.loops[n++] = *f->loops[i];
        }
    }
    if (f->nslices) {
        x.loops[0] = NEW(k->c, struct loop);
        *x.loops[0] = (struct loop){.name = name,
                                    .lower = sym_num(k->c, 1),
                                    .upper = family_extent(k->c, f, 0)};
    }
    return x;
}

static symp cell_at(const struct sum *k, const struct family *f,
                    const struct indices *index)
{
    symp at[1] = {f->nslices ? sym_loop(k->c, index->loops[0]) : NULL};
    symp cell = family_lhs(k->c, f, f->nslices, at);
    return f->nslices ? cell : sym_ref(k->c, f->var, f->var->ndim, f->lower);
}

/* The coefficient of a cell in the sum; NULL if it is not linear. */
static symp design_of(const struct sum *k, symp cell)
{
    symp design = sym_num(k->c, 0);
    for (int i = 0; i < k->n && design; i++) {
        symp d = sampler_sum_moves(k, k->terms[i])
                     ? sym_derivative(k->c, k->terms[i], cell)
                     : sym_num(k->c, 0);
        design =
            d && !sampler_sum_mentions(k, d) ? sym_add2(k->c, design, d) : NULL;
    }
    return design;
}

/* Adds f's cells, subscripts at[] of which are loops of the effects. */
static bool add_family(const struct sum *k, struct family *f, symp const *at)
{
    struct compiler *c = k->c;
    struct step *s = k->step;
    struct translation *t = own_of(k);
    struct added *a = &t->added[s->block.n];
    struct member *m = &s->block.members[s->block.n];
    if (s->block.n + 1 == MAX_MEMBERS || f->nslices > 1 || f->affine ||
        !sampler_is_free(k->m, f) || (!f->nslices && !family_plain(c, f)) ||
        !reads_itself(c, f) || (f->nslices && f->nloops != t->ntied))
        return false;
    for (int j = 0; j < t->ntied; j++) {
        a->tied[j] = NULL;
        for (int d = 0; d < f->var->ndim; d++)
            if (at[d] && at[d]->loop == t->tied[j])
                a->tied[j] = loop_like(f, d, t->tied[j]);
        if (!a->tied[j])
            return false;
    }
    if (f->nloops - t->ntied > (int)(sizeof m->index.loops / sizeof(void *)))
        return false;
    m->family = f;
    m->index = index_of(k, f, "a");
    s->block.members[s->block.n].index2 =
        f->nslices ? index_of(k, f, "b") : m->index;
    m->count = sym_num(c, 1);
    for (int i = 0; i < m->index.n; i++)
        m->count = sym_mul2(
            c, m->count,
            sym_length(c, m->index.loops[i]->lower, m->index.loops[i]->upper));
    symp cell = cell_at(k, f, &m->index);
    if (!normal_at(c, f, cell,
                   cell_at(k, f, &s->block.members[s->block.n].index2),
                   &a->slope, &a->precision))
        return false;
    const int i = s->block.n;
    a->deviation = sym_neg(c, sym_div(c, a->slope, a->precision));
    a->slope = sampler_in_element(c, s, i, a->slope);
    a->precision = sampler_in_element(c, s, i, a->precision);
    a->design = design_of(k, sampler_in_element(c, s, i, cell));
    s->block.n++;
    return a->design && !sym_is(a->design, 0);
}

/* A block has both. */
static bool draws_together(const struct sum *k, const struct family *f)
{
    return sampler_step_draws(sampler_step_of(k->m, f), k->effects);
}

static bool add_variable(struct sum *k, struct var *v)
{
    symp at[MAX_DIMS] = {NULL};
    bool found = false;
    if (!sampler_are_numbers(v) || !v->families)
        return false;
    for (int i = 0; i < k->n; i++)
        if (!subscripts_of(k, k->terms[i], v, k->terms[i], at, &found))
            return false;
    int ntied = 0;
    for (int d = 0; d < v->ndim; d++)
        ntied += at[d] != NULL;
    if (!found || ntied != own_of(k)->ntied)
        return false;
    for (struct family *f = v->families; f; f = f->next_of_var)
        if (!add_family(k, f, at) || draws_together(k, f))
            return false;
    return true;
}

/* ---- the step --------------------------------------------------------------
 */

/* The element's loops are those of the effects in `mask`. */
static void open_step(struct sum *k, unsigned mask)
{
    struct family *f = k->effects;
    struct step *s = k->step = NEW(k->c, struct step);
    struct translation *t = s->own = NEW(k->c, struct translation);
    symp own = sym_ref(k->c, f->var, f->var->ndim, f->lower);
    s->model = k->m;
    s->sampler = &sampler_translation;
    t->effects = f;
    t->part = sampler_all_instances(k->c, f->factor);
    t->part->opaque = false;
    normal_at(k->c, f, own, own, &t->slope, &t->precision);
    for (int i = 0; i < f->nloops; i++)
        if (mask >> i & 1) {
            t->tied[t->ntied++] = f->loops[i];
            t->part->solved[i] = sym_loop(k->c, f->loops[i]);
        }
    s->parts = t->part;
}

/* The step; false: nothing moves. */
static bool make_step(struct sum *k, unsigned mask)
{
    open_step(k, mask);
    k->moved.n = 0;
    for (struct var *v = k->m->vars; v; v = v->next) {
        const int before = k->step->block.n;
        k->moved.items[k->moved.n++] = v;
        if (v != k->effects->var && add_variable(k, v) && sampler_only_sums(k))
            continue;
        k->moved.n--;
        k->step->block.n = before;
    }
    if (!k->moved.n)
        return false;
    struct step *s = k->step;
    s->family = s->block.members[0].family;
    s->name =
        intern_format(k->c, "translate_%s_against_%s",
                      family_id(k->c, s->family), family_id(k->c, k->effects));
    return true;
}

static bool open_sum(struct sum *k, struct compiler *c, struct model *m,
                     struct family *f)
{
    int n = 0;
    for (const struct var *v = m->vars; v; v = v->next)
        n++;
    *k = (struct sum){.c = c, .m = m, .effects = f};
    k->moved.items = NEW_ARRAY(c, const struct var *, n + 1);
    return are_effects(c, m, f) && sampler_find_terms(k);
}

/* Fewer loops than the effects have: else each has an element to itself. */
static unsigned masks(const struct family *effects)
{
    return (1u << effects->nloops) - 1;
}

void sampler_find_translations(struct compiler *c, struct model *m)
{
    struct sum k;
    for (struct family *f = m->families; f; f = f->next) {
        const unsigned end = open_sum(&k, c, m, f) ? masks(f) : 0;
        for (unsigned mask = 0; mask < end; mask++)
            if (make_step(&k, mask)) {
                sampler_find_spread(c, m, k.step);
                sampler_insert_move(m, k.step, f->var);
                sampler_find_held_scales(c, m, k.step);
            }
    }
}

/* Whether only priors of these steps' families read v. */
static bool in_priors(const struct sum *k, const struct var *v,
                      struct step *const *steps, int n)
{
    for (const struct factor *g = k->m->factors; g; g = g->next) {
        bool prior = g->replaced || !sampler_factor_reads(g, v);
        for (int i = 0; i < n; i++)
            prior = prior || g == steps[i]->family->factor;
        if (!prior)
            return false;
    }
    return true;
}

static bool all_move(const struct sum *k, struct step *const *steps, int n)
{
    bool all = true;
    for (int i = 0; i < n; i++) {
        const struct var *v = steps[i]->family->var;
        all = all &&
              (v == k->effects->var || condition_has_variable(&k->moved, v) ||
               in_priors(k, v, steps, n));
    }
    return all;
}

bool sampler_falls_apart(struct compiler *c, struct model *m,
                         struct step *const *steps, int n)
{
    struct sum k;
    for (int i = 0; i < n; i++) {
        struct family *f = steps[i]->family;
        const unsigned end = open_sum(&k, c, m, f) ? masks(f) : 0;
        for (unsigned mask = 1; mask < end; mask++)
            if (make_step(&k, mask) && all_move(&k, steps, n))
                return true;
    }
    return false;
}

/* ---- the sampler -----------------------------------------------------------
 */

static bool moves_effects(const struct step *s, const struct var *v)
{
    const struct translation *t = translation_of(s);
    return v == t->effects->var || (t->spread && v == t->spread->node->var);
}

static void phases(struct compiler *c, struct step *s)
{
    const struct translation *t = s->own;
    struct phase *p =
        sweep_add_phase(c, s, PHASE_SUM, "regression of the sums");
    p->rows = t->effects;
    phase_computes(c, p, t->slope);
    phase_computes(c, p, t->precision);
    for (int i = 0; i < s->block.n; i++)
        phase_computes_each(c, p, t->added[i].design,
                            s->block.members[i].count);
    p = sweep_add_phase(c, s, PHASE_SOLVE, "prior, draws");
    p->random = true;
    if (t->spread) {
        phase_computes(c, p, t->spread->node->factor->logp);
        phase_writes(c, p, t->spread->node);
    }
    phase_solves(c, p, block_dimension(c, s));
    for (int i = 0; i < s->block.n; i++) {
        phase_computes_each(c, p, t->added[i].slope, s->block.members[i].count);
        phase_writes(c, p, s->block.members[i].family);
    }
    p = sweep_add_phase(c, s, PHASE_MAP, "moved against it");
    p->rows = t->effects;
    for (int i = 0; i < s->block.n; i++)
        phase_computes_each(c, p, t->added[i].design,
                            s->block.members[i].count);
    phase_writes(c, p, t->effects);
}

static const char *explain(struct compiler *c, const struct step *s)
{
    const char *d = sampler_count_text(c, block_dimension(c, s));
    const struct translation *t = translation_of(s);
    const char *slice = t->spread ? intern_format(c, "slice of %s, then ",
                                                  t->spread->node->var->name)
                                  : "";
    return intern_format(c, "%ssums with %s held, Gaussian, %s x %s", slice,
                         t->effects->var->name, d, d);
}

static const char *why(struct compiler *c, const struct step *s)
{
    const struct translation *t = translation_of(s);
    const char *effects = t->effects->var->name;
    const char *spread =
        t->spread
            ? intern_format(c,
                            "; before, %s given the sums alone, %s "
                            "integrated out (Liu 1994, collapsed Gibbs)",
                            t->spread->node->var->name, s->family->var->name)
            : "";
    return intern_format(
        c,
        "drawn once more given their sums with %s, which %s follows, as all "
        "that reads %s reads these sums: no data are looked at. Yu and Meng "
        "(2011), To center or not to center%s",
        effects, effects, effects, spread);
}

static const char *parallel(struct compiler *c, const struct step *s)
{
    const struct translation *t = s->own;
    return t->ntied ? sampler_loop_names(c, t->tied, t->ntied) : "-";
}

static void emit_row(struct compiler *c, struct text *out, const struct step *s)
{
    (void)c;
    text_printf(out, ", .first = first_%s, .rows = rows_%s", s->name, s->name);
}

const struct sampler sampler_translation = {
    .beside = true,
    .name = "held sums",
    .closed = true,
    .moves = moves_effects,
    .headers = {"few.h", "spread.h"},
    .explain = explain,
    .why = why,
    .parallel = parallel,
    .phases = phases,
    .emit = sampler_emit_translation,
    .emit_row = emit_row,
    .block_access = true,
    .own_layout = true,
    .blocks = 1,
};
