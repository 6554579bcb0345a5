/* carried.c: a plate of effects that are drawn one by one, or as coefficients
 * of a dense block, also moves with a node of its prior. theta[j] ~ dnorm(mu,
 * 1 / sigma^2) settles mu and sigma, and they theta where the data say little
 * of each: drawn in turn, all move in small steps. So mu is moved and each
 * theta by as much as its mean; and theta - mu is multiplied by one number,
 * sigma by that which keeps the standardised values. These are the ancillary
 * steps of Yu and Meng (2011), To center or not to center: that is not the
 * question, J. Comput. Graph. Stat. 20(3); the usual draws, of the nodes given
 * theta and of theta given them, are the sufficient ones.
 *
 * A prior that is no normal one may have a scale about 0, as those of
 * exponential or gamma effects have in their rate: then the effects are
 * multiplied.
 *
 * The plate's prior stays as it is, but for its normalisation, which the
 * Jacobian of the theta takes. What is left are the densities of all else that
 * reads the theta or the node, its own prior among them, where they are moved
 * to; and of a plate with bounds, the probability between them, and that no
 * theta leaves them. Where these are a quadratic of the number, as of normal
 * data, one pass over the rows tells all of the line. The logarithm t of the
 * number that multiplies is drawn as of the group of multiplications (Liu and
 * Sabatti 2000, Generalised Gibbs sampler): the Jacobian of sigma is exp(-2 t /
 * power), with power the one of sigma in the precision.
 *
 * A random walk moves with the scale of its steps (carried_walk.c): all its
 * steps are multiplied, from the element in front of it.
 *
 * Plates of vectors move with the scales of their components
 * (carried_vector.c).
 *
 * Warm-up tells whether a move pays (stdlib/kernels/carried.h). Other plates of
 * a joint block move so within it (rescale.c).
 *
 * A node may be an element of a plate, as mu[k] of theta[i,k] ~ dnorm(mu[k],
 * tau[k]): where all that reads the theta, or the nodes, has such a subscript
 * k of its own, the elements move independently, each with the cells and the
 * readers of its k. A mean may sum over the last subscript of such nodes, as
 * coefficients of a group, inprod(X[n,], beta[g,]), do: then those of a group
 * move in turn, each with all rows of the group. Or the plate's prior names the
 * element by its number, as sd[2]: then that one alone moves.
 *
 * Requires a list of steps without merged ones, before the sweep is planned. */
#include "sampler/carried.h"
#include "sampler/joint.h"

enum { MOST_MEANS = 3 }; /* nodes that a plate is moved with as its mean */

/* It is drawn as one dense block whose rows an augmentation added: these hold
 * it where it is. */
static bool is_held(const struct step *s)
{
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        if (q->row && q->part->factor->of)
            return true;
    return false;
}

/* A plate of numbers that do not read each other, or a walk. */
static bool is_plate(struct compiler *c, const struct model *m,
                     const struct family *f)
{
    const struct step *s = f->stochastic ? sampler_step_of(m, f) : NULL;
    if (!s || !f->nloops || f->nloops != f->var->ndim || f->nslices ||
        f->affine || !sampler_are_numbers(f->var) || !sampler_is_free(m, f) ||
        !family_plain(c, f) || joint_is_gaussian(s) ||
        (s->sampler->dense && is_held(s)))
        return false;
    for (int i = 0; i < f->nloops; i++)
        if (sampler_dimension_of(f, f->loops[i]) < 0)
            return false;
    symp own = sym_ref(c, f->var, f->var->ndim, f->lower);
    const struct factor *g = f->factor;
    if (sampler_walk_from(c, f))
        return true;
    return f->var->families == f && !f->next_of_var && !g->rule && !g->guard &&
           !(g->lower && sym_has_var(g->lower, f->var)) &&
           !(g->upper && sym_has_var(g->upper, f->var)) &&
           !sym_has_var(sym_replace(c, g->logp, own, sym_num(c, 1)), f->var);
}

/* Its log density without bounds; NULL: not known. */
static symp prior_of(struct compiler *c, const struct family *f)
{
    if (!f->truncated || f->censored)
        return f->factor->logp;
    symp mass = family_log_mass(c, f, f->trunc_lower, f->trunc_upper);
    return mass ? sym_add2(c, f->factor->logp, mass) : NULL;
}

/* One number, or a plate of them with subscripts that are its loops, drawn as
 * the compiler chose, whatever has taken the place of its prior. */
static bool is_node(struct compiler *c, const struct model *m,
                    const struct family *f)
{
    const struct step *s = f->stochastic ? sampler_step_of(m, f) : NULL;
    if (!s || f->nloops != f->var->ndim || f->var->families != f ||
        f->next_of_var || f->nslices || f->affine ||
        !sampler_are_numbers(f->var) || s->asked.word || sampler_named(m, f) ||
        !f->factor || f->auxiliary || f->factor->rule || f->factor->guard ||
        (f->nloops && !family_plain(c, f)))
        return false;
    for (int i = 0; i < f->nloops; i++)
        if (sampler_dimension_of(f, f->loops[i]) < 0)
            return false;
    return true;
}

/* Whether subscript d of the node, its last loop, may be that of a sum in the
 * mean of a plate; the others tell groups of rows. */
static bool is_swept(const struct carried *k, int d)
{
    const struct family *h = k->node;
    return h->nloops > 1 && h->lower[d]->loop == h->loops[h->nloops - 1] &&
           !k->plate->truncated && !k->plate->factor->lower &&
           !k->plate->factor->upper;
}

/* Whether the plate's prior reads one element, which its loops name, or sums
 * over the last of its subscripts. */
static bool find_seen(struct carried *k)
{
    const struct family *f = k->plate;
    k->seen = sampler_find_reference(k->prior, k->node->var);
    if (!k->seen ||
        sym_has_var(sym_replace(k->c, k->prior, k->seen, sym_num(k->c, 1)),
                    k->node->var))
        return false;
    int fixed = 0;
    for (int d = 0; d < k->seen->nargs; d++) {
        if (sampler_carried_fixed(k, d)) {
            fixed++;
            continue;
        }
        if (k->seen->args[d]->kind != SYM_LOOP)
            return false;
        if (sampler_dimension_of(f, k->seen->args[d]->loop) >= 0)
            continue;
        if (!is_swept(k, d))
            return false;
        k->swept = true;
    }
    return k->swept ? !fixed : k->node->nloops - fixed < f->nloops;
}

/* The element that moves as the plate's prior has it, in the loops of both. */
static symp seen_node(const struct carried *k)
{
    symp node = k->seen;
    for (int d = 0; d < k->seen->nargs; d++) {
        const struct loop *l =
            sampler_carried_fixed(k, d) ? NULL : k->seen->args[d]->loop;
        if (l && sampler_dimension_of(k->plate, l) < 0)
            node = sym_replace_loop(k->c, node, l, k->node->lower[d]);
    }
    return node;
}

static bool is_sum(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_SUM;
}

/* Whether e is 0, whatever the cell is. */
static bool vanishes(struct compiler *c, symp e, symp cell)
{
    struct collected k;
    sym_collect(c, sym_replace(c, e, cell, sym_target(c)), true, &k);
    for (int i = 0; i < k.n; i++)
        if (!sym_is(k.coefficient[i], 0))
            return false;
    return !k.overflow && sym_is(k.rest, 0);
}

/* Whether a multiplication of the cell, and of the node by a power of the same
 * number, leaves the prior as it is, but for the Jacobian: then the node is the
 * scale of a law about 0, a rate, say. By Euler's relation for the log density:
 * cell d/dcell + 1 is 2 / power times node d/dnode. */
static bool is_scaled(struct carried *k, symp node, symp cell)
{
    static const double powers[] = {2, -2, 1, -1, 4, -4};
    struct compiler *c = k->c;
    symp of_cell = sym_derivative(c, k->prior, cell),
         of_node = sym_derivative(c, k->prior, node);
    for (size_t i = 0; of_cell && of_node && i < sizeof powers / sizeof *powers;
         i++) {
        symp left = sym_add2(c, sym_mul2(c, cell, of_cell), sym_num(c, 1));
        symp right =
            sym_mul(c, 3, (symp[]){sym_num(c, 2 / powers[i]), node, of_node});
        if (!vanishes(c, sym_sub(c, left, right), cell))
            continue;
        k->power = powers[i];
        k->along = cell;
        return true;
    }
    return false;
}

/* Whether the node stands in the plate's prior as its scale, or linear in its
 * mean. Rows of a regression, whose means are long sums, stay, but where groups
 * of them have a scale each. */
static bool fits(struct carried *k)
{
    struct compiler *c = k->c;
    const struct family *f = k->plate;
    symp cell = sampler_carried_cell(k);
    k->prior = prior_of(c, f);
    k->from = sampler_walk_from(c, f);
    if (!k->prior || sampler_carried_reads(k, f->factor->lower) ||
        sampler_carried_reads(k, f->factor->upper) || !find_seen(k))
        return false;
    symp node = seen_node(k);
    symp slope = sym_derivative(c, k->prior, cell);
    symp second = slope ? sym_derivative(c, slope, cell) : NULL;
    if (!slope || (!k->node->nloops && sym_any(k->prior, is_sum, NULL)))
        return false;
    if (!second || sym_is(second, 0) || sym_has_var(second, f->var))
        return !k->swept && !k->from && is_scaled(k, node, cell) &&
               sampler_find_carried_readers(k);
    symp precision = sym_neg(c, second);
    symp deviation = sym_neg(c, sym_div(c, slope, precision));
    if (k->swept && sym_has_var(precision, k->node->var))
        return false;
    if (sym_has(precision, node)) {
        k->along = deviation;
        if (!sampler_is_power(precision, node, &k->power) ||
            !sampler_is_scale(c, k->prior, node, k->power) ||
            sym_has(deviation, node))
            return false;
        if (k->from)
            k->along = sym_sub(c, cell, k->from);
    } else {
        if (k->from)
            return false;
        if (!k->swept && sym_any(k->prior, is_sum, NULL))
            return false;
        symp mean = sym_derivative(c, deviation, node);
        k->along = mean ? sym_neg(c, mean) : NULL;
        if (!mean || sym_is(mean, 0) || sym_has(mean, node) ||
            sym_has_var(mean, f->var) ||
            (k->swept && sym_has_var(mean, k->node->var)))
            return false;
    }
    return sampler_find_carried_readers(k);
}

/* Whether some step moves or draws both already; not one that holds the sums of
 * the plate with other nodes and draws the node given these. */
static bool is_moved(const struct carried *k)
{
    for (const struct step *s = k->m->steps; s; s = s->next) {
        bool plate = false, node = false;
        if (s->sampler == &sampler_translation)
            continue;
        for (int i = 0; i < s->block.n; i++) {
            plate = plate || s->block.members[i].family == k->plate;
            node = node || s->block.members[i].family == k->node;
        }
        if ((plate && node) ||
            (s->sampler->moves && s->sampler->moves(s, k->plate->var) &&
             s->sampler->moves(s, k->node->var)))
            return true;
    }
    return false;
}

static void add_step(struct carried *k)
{
    struct compiler *c = k->c;
    struct step *s = NEW(c, struct step);
    struct family *moved[] = {k->node, k->plate};
    s->own = k;
    s->model = k->m;
    s->sampler = &sampler_carried;
    s->family = k->node;
    for (int i = 0; i < 2; i++) {
        s->block.members[s->block.n].family = moved[i];
        s->block.members[s->block.n++].count = sym_num(c, 1);
    }
    s->order.sequential = k->component && k->node->nloops;
    sampler_push_part(&s->parts, k->cells);
    for (struct reader *r = k->readers; r; r = r->next)
        sampler_push_part(&s->parts, r->part);
    s->name = intern_format(c, "carry_%s_%s", family_id(c, k->node),
                            family_id(c, k->plate));
    sampler_insert_move(k->m, s, k->plate->var);
}

static void carry_plate(struct compiler *c, struct model *m, struct family *f)
{
    struct carried *found[MOST_MEANS + 1], *scale = NULL;
    int n = 0;
    for (struct family *h = m->families; h; h = h->next) {
        struct carried try = {.c = c, .m = m, .plate = f, .node = h};
        if (h->nloops > f->nloops || !is_node(c, m, h) || is_moved(&try) ||
            !fits(&try))
            continue;
        struct carried *k = NEW(c, struct carried);
        *k = try;
        if (k->power != 0)
            scale = k;
        else if (n <= MOST_MEANS)
            found[n++] = k;
    }
    for (int i = 0; i < n && n <= MOST_MEANS; i++)
        add_step(found[i]);
    if (scale)
        add_step(scale);
}

static void carry_vectors(struct compiler *c, struct model *m, struct family *f)
{
    for (struct family *h = m->families; h; h = h->next) {
        struct carried try = {.c = c, .m = m, .plate = f, .node = h};
        if (h->nloops > 1 || !is_node(c, m, h) || is_moved(&try) ||
            !sampler_fits_vectors(&try))
            continue;
        struct carried *k = NEW(c, struct carried);
        *k = try;
        add_step(k);
    }
}

void sampler_find_carried(struct compiler *c, struct model *m)
{
    for (struct family *f = m->families; f; f = f->next)
        if (is_plate(c, m, f))
            carry_plate(c, m, f);
        else if (sampler_is_vector_plate(m, f))
            carry_vectors(c, m, f);
}

/* ---- the sampler -----------------------------------------------------------
 */

static void phases(struct compiler *c, struct step *s)
{
    const struct carried *k = carried_of(s);
    struct phase *p;
    for (const struct reader *r = k->readers; r; r = r->next) {
        p = sweep_add_phase(c, s, r->linear ? PHASE_SUM : PHASE_SEARCH,
                            "log density along a line");
        p->rows = r->part->factor->family;
        phase_computes(c, p, r->part->logp);
    }
    p = sweep_add_phase(c, s, PHASE_SEARCH, "draws the number");
    p->random = true;
    p->drawn = sym_num(c, 1);
    phase_writes(c, p, k->node);
    p = sweep_add_phase(c, s, PHASE_MAP, "moved");
    p->rows = k->plate;
    phase_computes(c, p, k->along);
    phase_writes(c, p, k->plate);
}

static void slots(struct compiler *c, struct model *m, struct step *s)
{
    s->slots = sweep_add_pays_slot(c, m, s);
}

static const char *explain(struct compiler *c, const struct step *s)
{
    const struct carried *k = carried_of(s);
    (void)c;
    if (k->power != 0)
        return "scale with its plate, slice";
    return sampler_carried_closed(k) ? "mean with its plate, normal"
                                     : "mean with its plate, slice";
}

static const char *why(struct compiler *c, const struct step *s)
{
    const struct carried *k = carried_of(s);
    return intern_format(
        c,
        "moved with %s, %s, beside the draws of each: these are slow where the "
        "data say little of either, as warm-up tells. Yu and Meng (2011), To "
        "center or not to center",
        k->plate->var->name,
        k->power != 0 ? "whose standardised values stay"
                      : "which keeps its distance");
}

static void emit_row(struct compiler *c, struct text *out, const struct step *s)
{
    (void)c;
    text_append(out, ", .barriers = 40");
    if (carried_of(s)->swept)
        text_printf(out, ", .in_turn = turns_%s", s->name);
}

const struct sampler sampler_carried = {
    .beside = true,
    .name = "plate with a node of its prior",
    .closed = true,
    .headers = {"carried.h"},
    .explain = explain,
    .why = why,
    .phases = phases,
    .emit = sampler_emit_carried,
    .emit_kernels = sampler_emit_carried_kernels,
    .split = sampler_carried_splits,
    .emit_row = emit_row,
    .block_access = true,
    .own_layout = true,
    .slots = slots,
};
