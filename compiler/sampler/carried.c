/* carried.c: a plate of effects that are drawn one by one also moves with a
 * node of its prior. theta[j] ~ dnorm(mu, 1 / sigma^2) settles mu and sigma,
 * and they theta where the data say little of each: drawn in turn, all move in
 * small steps. So mu is moved and each theta by as much as its mean; and theta
 * - mu is multiplied by one number, sigma by that which keeps the standardised
 * values. These are the ancillary steps of Yu and Meng (2011), To center or not
 * to center: that is not the question, J. Comput. Graph. Stat. 20(3); the usual
 * draws, of the nodes given theta and of theta given them, are the sufficient
 * ones.
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
 * Warm-up tells whether a move pays (stdlib/kernels/carried.h). Plates of a
 * joint block move so within it (rescale.c).
 *
 * A node may be an element of a plate, as mu[k] of theta[i,k] ~ dnorm(mu[k],
 * tau[k]): where all that reads the theta, or the nodes, has such a subscript
 * k of its own, the elements move independently, each with the cells and the
 * readers of its k.
 *
 * Requires a list of steps without merged ones, before the sweep is planned. */
#include "sampler/joint.h"
#include "sampler/translation.h"
#include <string.h>

enum { MOST_MEANS = 3 }; /* nodes that a plate is moved with as its mean */

/* What reads the plate or the node: the instances of a factor, its log density
 * where they are moved to, by_ along the line, a scale to value_. */
struct reader {
    struct part *part;
    symp linear, quadratic; /* the coefficients of by_ and its square, if that
                               is all; or NULL */
    struct reader *next;
};

struct carried {
    struct compiler *c;
    struct model *m;
    struct family *plate, *node;
    symp seen; /* the node, or the element of a plate of them, as the plate's
                  prior reads it: each of its subscripts is a loop there */
    double
        power;  /* of the scale in the precision; 0: the node is in the mean */
    symp prior; /* log density of a cell without what its bounds leave out */
    symp along; /* how a cell moves with by_, in its own loops */
    struct part *cells; /* all instances of the plate's prior */
    struct reader *readers;
};

static const struct carried *carried_of(const struct step *s) { return s->own; }

static symp by_of(struct compiler *c) { return sym_param(c, intern(c, "by_")); }

static symp value_of(struct compiler *c)
{
    return sym_param(c, intern(c, "value_"));
}

static symp node_cell(const struct carried *k)
{
    return sym_ref(k->c, k->node->var, k->node->var->ndim, k->node->lower);
}

static symp plate_cell(const struct carried *k)
{
    return sym_ref(k->c, k->plate->var, k->plate->var->ndim, k->plate->lower);
}

/* ---- what reads them -------------------------------------------------------
 */

/* The dimension of f's variable whose subscript is the loop. */
static int place_of(const struct family *f, const struct loop *l)
{
    for (int d = 0; d < f->var->ndim; d++)
        if (f->lower[d]->kind == SYM_LOOP && f->lower[d]->loop == l)
            return d;
    return -1;
}

/* The node's loop j in the plate's statement. */
static const struct loop *tied_loop(const struct carried *k, int j)
{
    for (int d = 0; d < k->seen->nargs; d++)
        if (k->node->lower[d]->loop == k->node->loops[j])
            return k->seen->args[d]->loop;
    return NULL;
}

/* Whether every reference in e to the plate or the nodes has for the node's
 * loop j the same loop of its factor, with the same ends: *found. */
static bool ties(const struct carried *k, symp e, int j, const struct loop **l)
{
    symp at = NULL;
    if (e->kind == SYM_REF && e->var == k->plate->var)
        at = e->args[place_of(k->plate, tied_loop(k, j))];
    if (e->kind == SYM_REF && e->var == k->node->var)
        at = e->args[place_of(k->node, k->node->loops[j])];
    if (at) {
        const struct loop *own = k->node->loops[j];
        if (at->kind != SYM_LOOP || (*l && *l != at->loop) ||
            !sym_same(at->loop->lower, own->lower) ||
            !sym_same(at->loop->upper, own->upper))
            return false;
        *l = at->loop;
    }
    for (int i = 0; i < e->nargs; i++)
        if (!ties(k, e->args[i], j, l))
            return false;
    return true;
}

/* The part has the instances of the node's element alone; false: some read
 * several. */
static bool solve(const struct carried *k, struct part *p)
{
    const struct factor *g = p->factor;
    const symp all[] = {g->logp, g->value, g->lower, g->upper};
    for (int j = 0; j < k->node->nloops; j++) {
        const struct loop *l = NULL;
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (all[i] && !ties(k, all[i], j, &l))
                return false;
        bool found = false;
        for (int i = 0; i < p->nloops; i++)
            if (p->loops[i] == l) {
                p->solved[i] = sym_loop(k->c, k->node->loops[j]);
                found = true;
            }
        if (!found)
            return false;
    }
    return true;
}

static symp moved_cell(struct compiler *c, symp e, void *context)
{
    const struct carried *k = context;
    const struct family *f = k->plate;
    if (e->kind == SYM_REF && e->var == k->node->var)
        return k->power != 0 ? value_of(c) : sym_add2(c, e, by_of(c));
    if (e->kind != SYM_REF || e->var != f->var)
        return NULL;
    symp along = k->along;
    for (int i = 0; i < f->nloops; i++)
        along = sym_replace_loop(c, along, f->loops[i],
                                 e->args[place_of(f, f->loops[i])]);
    return sym_add2(c, e, sym_mul2(c, by_of(c), along));
}

/* A derived node in memory that follows the move. */
static bool follows(symp e, const void *carried)
{
    const struct carried *k = carried;
    return model_follows(k->m, e, k->plate->var) ||
           model_follows(k->m, e, k->node->var);
}

static bool reads(const struct carried *k, symp e)
{
    return e && (sym_has_var(e, k->plate->var) || sym_has_var(e, k->node->var));
}

/* An element of the plate in e that is not written as `other`; or NULL. */
static symp cell_in(const struct carried *k, symp e, symp other)
{
    if (e->kind == SYM_REF && e->var == k->plate->var &&
        !(other && sym_same(e, other)))
        return e;
    symp found = NULL;
    for (int i = 0; i < e->nargs && !found; i++)
        found = cell_in(k, e->args[i], other);
    return found;
}

/* A comparison of two elements, as where ranks are counted: of one with itself
 * it is of 0, which rounding would make less along the move. */
static bool compares_cells(symp e, const void *carried)
{
    const struct carried *k = carried;
    if (e->kind != SYM_CALL || !strchr("<>=!", e->name[0]))
        return false;
    symp one = cell_in(k, e, NULL);
    return one && cell_in(k, e, one);
}

static bool factor_reads(const struct carried *k, const struct factor *g)
{
    return sampler_factor_reads(g, k->plate->var) ||
           sampler_factor_reads(g, k->node->var);
}

static void find_quadratic(struct compiler *c, struct reader *r)
{
    struct collected k;
    symp x = sym_target(c), found[2] = {sym_num(c, 0), sym_num(c, 0)};
    if (sym_has(r->part->logp, value_of(c)))
        return;
    sym_collect(c, sym_replace(c, r->part->logp, by_of(c), x), true, &k);
    for (int i = 0; i < k.n && !k.overflow; i++) {
        const bool first = sym_same(k.statistic[i], x);
        if (!first && !sym_same(k.statistic[i], sym_pow(c, x, sym_num(c, 2))))
            return;
        found[first ? 0 : 1] = k.coefficient[i];
    }
    if (k.overflow)
        return;
    r->linear = found[0];
    r->quadratic = found[1];
}

static double ratio_of(const struct carried *k)
{
    return k->power != 0 ? -2 / k->power : 0;
}

/* Of what is evaluated at each place that is tried. */
static void leave_out_constants(const struct carried *k, struct reader *r)
{
    struct compiler *c = k->c;
    if (r->linear)
        return;
    r->part->logp = sampler_line_density(
        c, r->part->logp, value_of(c), by_of(c), k->node->factor, ratio_of(k));
}

static void push_reader(struct carried *k, struct reader *r)
{
    struct reader **last = &k->readers;
    while (*last)
        last = &(*last)->next;
    *last = r;
}

/* Of a plate with bounds: how much of each cell's prior is between them, where
 * the node is moved to; nothing where the cell is beyond. */
static void add_bounds(struct carried *k)
{
    struct compiler *c = k->c;
    const struct factor *g = k->plate->factor;
    if (!g->lower && !g->upper)
        return;
    struct reader *r = NEW(c, struct reader);
    r->part = sampler_all_instances(c, k->plate->factor);
    memcpy(r->part->solved, k->cells->solved,
           (size_t)k->cells->nloops * sizeof *r->part->solved);
    r->part->opaque = false;
    r->part->value = sym_map(c, r->part->value, moved_cell, k);
    r->part->logp = sym_map(c, sym_sub(c, g->logp, k->prior), moved_cell, k);
    leave_out_constants(k, r);
    push_reader(k, r);
}

static bool add_reader(struct carried *k, struct factor *g)
{
    struct compiler *c = k->c;
    const bool bounded = g->lower || g->upper;
    if (reads(k, g->rule) || reads(k, g->guard) ||
        sym_any(g->logp, compares_cells, k) ||
        (g != k->node->factor && (reads(k, g->lower) || reads(k, g->upper) ||
                                  (bounded && reads(k, g->value)))))
        return false;
    struct reader *r = NEW(c, struct reader);
    r->part = sampler_all_instances(c, g);
    if (!solve(k, r->part))
        return false;
    r->part->lower = r->part->upper = NULL; /* the node's: its ends */
    r->part->logp = sym_map(c, r->part->logp, moved_cell, k);
    find_quadratic(c, r);
    leave_out_constants(k, r);
    push_reader(k, r);
    return true;
}

/* False: something reads them in a way that is not followed, or nothing reads
 * the plate. */
static bool find_readers(struct carried *k)
{
    bool any = false;
    for (struct factor *g = k->m->factors; g; g = g->next) {
        if (g->replaced)
            continue;
        if (sym_any(g->logp, follows, k))
            return false;
        if (g == k->plate->factor || !factor_reads(k, g))
            continue;
        if (!add_reader(k, g))
            return false;
        any = any || sampler_factor_reads(g, k->plate->var);
    }
    return any;
}

/* ---- which -----------------------------------------------------------------
 */

/* A plate of numbers with a normal prior that do not read each other. */
static bool is_plate(struct compiler *c, const struct model *m,
                     const struct family *f)
{
    const struct step *s = f->stochastic ? sampler_step_of(m, f) : NULL;
    if (!s || !f->nloops || f->nloops != f->var->ndim || f->nslices ||
        f->affine || !sampler_are_numbers(f->var) || f->var->families != f ||
        f->next_of_var || !sampler_is_free(m, f) || !family_plain(c, f) ||
        joint_is_gaussian(s) || s->sampler->dense)
        return false;
    for (int i = 0; i < f->nloops; i++)
        if (place_of(f, f->loops[i]) < 0)
            return false;
    symp own = sym_ref(c, f->var, f->var->ndim, f->lower);
    const struct factor *g = f->factor;
    return !g->rule && !g->guard &&
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
        if (place_of(f, f->loops[i]) < 0)
            return false;
    return true;
}

/* Whether the plate's prior reads one element, which its loops name. */
static bool find_seen(struct carried *k)
{
    const struct family *f = k->plate;
    k->seen = sampler_find_reference(k->prior, k->node->var);
    if (!k->seen ||
        sym_has_var(sym_replace(k->c, k->prior, k->seen, sym_num(k->c, 1)),
                    k->node->var))
        return false;
    for (int d = 0; d < k->seen->nargs; d++)
        if (k->seen->args[d]->kind != SYM_LOOP ||
            place_of(f, k->seen->args[d]->loop) < 0)
            return false;
    return true;
}

static bool is_sum(symp e, const void *unused)
{
    (void)unused;
    return e->kind == SYM_SUM;
}

/* Whether the node stands in the plate's prior as its scale, or linear in its
 * mean. Rows of a regression, whose means are long sums, stay. */
static bool fits(struct carried *k)
{
    struct compiler *c = k->c;
    const struct family *f = k->plate;
    symp cell = plate_cell(k);
    k->prior = prior_of(c, f);
    if (!k->prior || reads(k, f->factor->lower) || reads(k, f->factor->upper) ||
        !find_seen(k))
        return false;
    symp node = k->seen;
    symp slope = sym_derivative(c, k->prior, cell);
    symp second = slope ? sym_derivative(c, slope, cell) : NULL;
    if (!second || sym_is(second, 0) || sym_has_var(second, f->var) ||
        sym_any(k->prior, is_sum, NULL))
        return false;
    symp precision = sym_neg(c, second);
    symp deviation = sym_neg(c, sym_div(c, slope, precision));
    if (sym_has(precision, node)) {
        k->along = deviation;
        if (!sampler_is_power(precision, node, &k->power) ||
            !sampler_is_scale(c, k->prior, node, k->power) ||
            sym_has(deviation, node))
            return false;
    } else {
        symp mean = sym_derivative(c, deviation, node);
        k->along = mean ? sym_neg(c, mean) : NULL;
        if (!mean || sym_is(mean, 0) || sym_has(mean, node) ||
            sym_has_var(mean, f->var))
            return false;
    }
    k->cells = sampler_all_instances(c, f->factor);
    k->cells->opaque = false;
    if (!solve(k, k->cells) || sym_any(f->factor->logp, follows, k) ||
        !find_readers(k))
        return false;
    add_bounds(k);
    return true;
}

/* Whether some step moves or draws both already. */
static bool is_moved(const struct carried *k)
{
    for (const struct step *s = k->m->steps; s; s = s->next) {
        bool plate = false, node = false;
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
        if (h->nloops >= f->nloops || !is_node(c, m, h) || is_moved(&try) ||
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

void sampler_find_carried(struct compiler *c, struct model *m)
{
    for (struct family *f = m->families; f; f = f->next)
        if (is_plate(c, m, f))
            carry_plate(c, m, f);
}

/* ---- its functions ---------------------------------------------------------
 */

/* What names the node's element, where there are several. */
static const char *argument(const struct carried *k)
{
    return k->node->nloops ? ", long long element" : "";
}

static const char *element(const struct carried *k)
{
    return k->node->nloops ? ", element" : "";
}

static void open_node(struct emitter *e, const struct carried *k)
{
    if (k->node->nloops)
        emit_decode(e, k->node, "element");
}

/* The element's loop in the names of the part, where these are others. */
static void bind(struct emitter *e, const struct part *p)
{
    for (int i = 0; i < p->nloops; i++)
        if (p->solved[i] && p->solved[i]->loop != p->loops[i])
            emit_loop_as(e, p->loops[i], emit_int(e, p->solved[i]));
}

static int open_rows(struct emitter *e, const struct part *p)
{
    bind(e, p);
    return emit_open_part(e, p, true);
}

/* Whether all lanes come to an instance, as its loops are the element's. */
static bool is_single(const struct part *p)
{
    for (int i = 0; i < p->nloops; i++)
        if (!p->solved[i])
            return false;
    return true;
}

static void emit_held(struct emitter *e, const struct carried *k)
{
    symp cell = plate_cell(k), node = node_cell(k);
    emit_line(e, "sums[3] += s->%s_stride == 0 || s->%s_stride == 0;",
              k->plate->var->cname, k->node->var->cname);
    emit_line(e, "sums[3] += %s;",
              emit_expr(e, sym_seen(e->c, node->var, node->nargs, node->args)));
    if (k->power != 0)
        emit_line(e, "sums[3] += %s == 0;", emit_expr(e, node));
    if (k->node->var->barren) /* all are drawn forward */
        emit_line(e, "sums[3] += !%s;", emit_expr(e, sym_live(e->c, node)));
    const int depth = e->nloops;
    const int braces = open_rows(e, k->cells);
    emit_line(e, "sums[2] += 1;");
    emit_line(e, "sums[3] += %s;",
              emit_expr(e, sym_seen(e->c, cell->var, cell->nargs, cell->args)));
    emit_close(e, braces);
    e->nloops = depth;
}

static void emit_quadratic(struct emitter *e, const struct reader *r)
{
    const int depth = e->nloops;
    const bool single = is_single(r->part);
    bind(e, r->part);
    const int braces = emit_open_part(e, r->part, !single);
    if (single)
        emit_line(e, "if (team->lane == 0) {");
    emit_line(e, "sums[1] += %s;", emit_expr(e, r->linear));
    emit_line(e, "sums[0] -= 2 * %s;", emit_in_brackets(e, r->quadratic));
    emit_close(e, braces);
    if (single)
        emit_line(e, "}");
    e->nloops = depth;
}

/* line_: the quadratic of by_, how many cells move, and what is data. */
static void emit_line_of(struct compiler *c, struct text *out,
                         const struct step *s)
{
    const struct carried *k = carried_of(s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "GBM_FN struct gbm_scaling line_%s(const struct state *s, "
                "const struct gbm_team *team%s)\n{\n",
                s->name, argument(k));
    open_node(&e, k);
    emit_line(&e, "gbm_total sums[4] = {0, 0, 0, 0};");
    for (const struct reader *r = k->readers; r; r = r->next)
        if (r->linear)
            emit_quadratic(&e, r);
    emit_held(&e, k);
    emit_line(&e, "gbm_team_sums(team, 4, sums);");
    emit_line(&e, "const struct gbm_scaling k = {sums[0], sums[1], sums[2], "
                  "sums[3]};");
    emit_line(&e, "return k;");
    text_append(out, "}\n");
}

static void emit_rows_of(struct emitter *e, const struct part *p)
{
    const int depth = e->nloops;
    bind(e, p);
    e->team = true;
    emit_in_place(e, p);
    e->team = false;
    e->nloops = depth;
}

/* carried_: the log density of t. */
static void emit_density_at(struct compiler *c, struct text *out,
                            const struct step *s)
{
    const struct carried *k = carried_of(s);
    struct emitter e = emitter_new(c, out);
    text_printf(out,
                "struct line_of_%s {\n    struct gbm_scaling k;\n    const "
                "struct state *s;\n    const struct gbm_team *team;\n    real "
                "now;\n%s};\n"
                "GBM_INLINE real carried_%s(const void *context, real t_)\n"
                "{\n    const struct line_of_%s *o_ = (const struct line_of_%s "
                "*)context;\n    const struct state *s = o_->s;\n    const "
                "struct gbm_team *team = o_->team;\n",
                s->name, k->node->nloops ? "    long long element;\n" : "",
                s->name, s->name, s->name);
    if (k->node->nloops)
        emit_line(&e, "const long long element = o_->element;");
    open_node(&e, k);
    emit_param(&e, "by_", "by_");
    if (k->power != 0) {
        emit_line(&e, "const real grown_ = real_exp(t_);");
        sampler_emit_value(&e, "o_->now", ratio_of(k));
    } else {
        emit_param(&e, "value_", "value_");
        emit_line(&e, "const real value_ = o_->now + t_;");
    }
    sampler_emit_ends(&e, k->node->factor, node_cell(k), value_of(c));
    emit_line(&e, "const real by_ = %s;", k->power != 0 ? "grown_ - 1" : "t_");
    emit_line(&e, "gbm_total total = by_ * (o_->k.linear - o_->k.square * by_ "
                  "/ 2);");
    if (k->power != 0)
        emit_line(&e, "total += %.17g * t_; /* the scale's Jacobian */",
                  ratio_of(k));
    for (const struct reader *r = k->readers; r; r = r->next)
        if (!r->linear)
            emit_rows_of(&e, r->part);
    emit_line(&e, "return (real)total;");
    text_append(out, "}\n\n");
}

/* move_: all by t. */
static void emit_move(struct compiler *c, struct text *out,
                      const struct step *s)
{
    const struct carried *k = carried_of(s);
    struct emitter e = emitter_new(c, out);
    /* then all digits stay, however near to 0 the scale moves */
    const bool about_zero = k->power != 0 && sym_same(k->along, plate_cell(k));
    text_printf(out,
                "GBM_FN void move_%s(const struct state *s, const struct "
                "gbm_team *team%s, real t)\n{\n    const real by = %s;\n    "
                "gbm_team_sync(team);\n",
                s->name, argument(k),
                about_zero      ? "real_exp(t)"
                : k->power != 0 ? "real_exp(t) - 1"
                                : "t");
    open_node(&e, k);
    const int depth = e.nloops, braces = open_rows(&e, k->cells);
    if (about_zero)
        emit_line(&e, "%s *= by;", emit_expr(&e, plate_cell(k)));
    else
        emit_line(&e, "%s += by * %s;", emit_expr(&e, plate_cell(k)),
                  emit_in_brackets(&e, k->along));
    emit_close(&e, braces);
    e.nloops = depth;
    emit_line(&e, "gbm_team_sync(team);");
    emit_line(&e, "if (team->lane == 0)");
    if (k->power != 0)
        emit_line(&e, "    %s *= real_exp(%.17g * t);",
                  emit_expr(&e, node_cell(k)), ratio_of(k));
    else
        emit_line(&e, "    %s += t;", emit_expr(&e, node_cell(k)));
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n\n");
}

/* o: the line. */
static void open_line(struct emitter *e, const struct step *s, const char *team)
{
    const struct carried *k = carried_of(s);
    open_node(e, k);
    emit_line(e, "const struct line_of_%s o = {line_%s(s, %s%s), s, %s, %s%s};",
              s->name, s->name, team, element(k), team,
              emit_expr(e, node_cell(k)), element(k));
}

/* Whether the line is a quadratic and no more. */
static bool is_closed(const struct carried *k)
{
    bool closed =
        k->power == 0 && !k->node->factor->lower && !k->node->factor->upper;
    for (const struct reader *r = k->readers; r; r = r->next)
        closed = closed && r->linear;
    return closed;
}

static void emit_update(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const struct carried *k = carried_of(s);
    struct emitter e = emitter_new(c, out);
    emit_open_update(out, s);
    emit_line(&e, "real *const tuning = s->%s%s;", s->slots->member,
              k->node->nloops ? " + GBM_CARRIED_CELLS * element" : "");
    emit_line(&e, "if (!gbm_carried_pays(tuning, adapting, %s))",
              is_closed(k) ? "false" : "true");
    emit_line(&e, "    return;");
    open_line(&e, s, "team");
    emit_line(&e, "if (o.k.held > 0 || !(o.k.count > 0))");
    emit_line(&e, "    return;");
    if (is_closed(k)) {
        emit_line(&e, "const real t = gbm_carried_draw(rng, &o.k);");
    } else {
        emit_line(&e,
                  "const real t = gbm_slice_along(rng, %s, -GBM_INF, GBM_INF, "
                  "carried_%s, &o);",
                  k->power != 0 ? "1" : "gbm_carried_width(tuning)", s->name);
    }
    emit_line(&e, "const bool moves = t != 0 && gbm_is_finite(%s);",
              k->power != 0 ? "real_exp(t)" : "t");
    emit_line(&e, "if (moves)");
    emit_line(&e, "    move_%s(s, team%s, t);", s->name, element(k));
    emit_line(&e, "if (team->lane == 0)");
    if (k->power != 0)
        emit_line(&e,
                  "    gbm_carried_learn(tuning, adapting, "
                  "real_log(real_fabs(o.now)), moves ? %.17g * t : 0);",
                  ratio_of(k));
    else
        emit_line(&e, "    gbm_carried_learn(tuning, adapting, o.now, moves ? "
                      "t : 0);");
    text_append(out, "}\n\n");
}

/* ---- for the self-check ----------------------------------------------------
 */

/* tuning_: how many numbers; so many for each element. */
static void emit_tuning(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const struct family *f = carried_of(s)->node;
    struct emitter e = emitter_new(c, out);
    symp count = sym_num(c, 1);
    for (int i = 0; i < f->nloops; i++)
        count = sym_mul2(c, count,
                         sym_length(c, f->loops[i]->lower, f->loops[i]->upper));
    text_printf(out, "static int64_t tuning_%s(const void *state)\n{\n",
                s->name);
    if (f->nloops) {
        emit_line(&e, "const struct state *s = (const struct state *)state;");
        emit_line(&e, "return (int64_t)GBM_CARRIED_CELLS * (%s);",
                  emit_int(&e, count));
    } else {
        emit_line(&e, "return GBM_CARRIED_CELLS;");
    }
    text_append(out, "}\n");
}

/* The coordinate is the node; the density that of what moves, not of t: with
 * the plate's normalisation, without a Jacobian. */
static void emit_access(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const struct carried *k = carried_of(s);
    const char *const t =
        k->power != 0 ? intern_format(c,
                                      "const double t = %.17g * log(fabs(*x / "
                                      "(double)o.now));",
                                      -k->power / 2)
                      : "const double t = *x - (double)o.now;";
    const char *const jacobian =
        k->power != 0 ? intern_format(c, " - ((double)o.k.count - %.17g) * t",
                                      2 / k->power)
                      : "";
    text_append(out, "#ifndef __CUDACC__\n");
    for (int i = 0; i < 4; i++) {
        struct emitter e = emitter_new(c, out);
        text_printf(out, sampler_access_heads[i], s->name);
        emit_line(&e, "const struct state *s = (const struct state *)state;");
        open_line(&e, s, "&gbm_alone");
        if (i == 0)
            emit_line(&e, "return !(o.k.held > 0) && o.k.count > 0;");
        if (i == 1)
            emit_line(&e, "*x = (double)o.now;");
        if (i > 1)
            emit_line(&e, "%s", t);
        if (i == 2) {
            emit_line(&e, "if (isfinite(t))");
            emit_line(&e, "    move_%s(s, &gbm_alone%s, (real)t);", s->name,
                      element(k));
            emit_line(&e,
                      "%s = (real)*x; /* beyond its support, too, and back */",
                      emit_expr(&e, node_cell(k)));
        }
        if (i == 3)
            emit_line(&e, "return (double)carried_%s(&o, (real)t)%s;", s->name,
                      jacobian);
        text_append(out, "}\n");
    }
    emit_tuning(c, out, s);
    text_append(out, "#endif\n\n");
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    sampler_emit_group_comment(c, out, s, "Moved together");
    emit_line_of(c, out, s);
    emit_density_at(c, out, s);
    emit_move(c, out, s);
    emit_update(c, out, s);
    emit_access(c, out, s);
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
    return is_closed(k) ? "mean with its plate, normal"
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
    (void)s;
    text_append(out, ", .barriers = 40");
}

const struct sampler sampler_carried = {
    .beside = true,
    .name = "plate with a node of its prior",
    .closed = true,
    .headers = {"carried.h"},
    .explain = explain,
    .why = why,
    .phases = phases,
    .emit = emit,
    .emit_row = emit_row,
    .block_access = true,
    .own_layout = true,
    .slots = slots,
};
