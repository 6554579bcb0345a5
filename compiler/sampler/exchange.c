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
#include "sampler/exchange.h"
#include "sampler/common_cells.h"

#include <string.h>

static const struct exchange *exchange_of(const struct step *s)
{
    return s->own;
}

/* ---- labels ----------------------------------------------------------------
 */

static const struct var *label_of(const struct exchange *k)
{
    return k->labels->family->var;
}

/* Whether s draws labels whole numbers from a constant on, a plate of them or
 * a path. */
static bool draws_labels(const struct model *m, const struct step *s)
{
    return (s->sampler == &sampler_enumeration ||
            s->sampler == &sampler_forward_backward) &&
           s->support.lower && s->support.upper && !s->integrated &&
           s->support.lower->kind == SYM_NUM && sym_fixed(s->support.upper) &&
           !s->family->nslices && sampler_is_free(m, s->family);
}

/* All labels of v begin with the same number, and k->labels becomes the
 * last step that draws some; how many there are may be known at load alone. */
static bool are_labels(struct exchange *k, const struct var *v)
{
    if (v->ndim == 0 || v->role != ROLE_STOCHASTIC || v->whole || v->rest_of)
        return false;
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        const struct step *s = f->stochastic ? sampler_step_of(k->m, f) : NULL;
        if (!s || !draws_labels(k->m, s) || k->nends == MAX_MEMBERS)
            return false;
        k->first = k->nends ? k->first : s->support.lower;
        if (!sym_same(k->first, s->support.lower))
            return false;
        k->end[k->nends++] = s->support.upper;
    }
    for (struct step *s = k->m->steps; s; s = s->next)
        for (const struct family *f = v->families; f; f = f->next_of_var)
            if (sampler_step_draws(s, f))
                k->labels = s;
    return k->labels != NULL;
}

/* As many as v has elements along d by its statements, where that is plain; 0:
 * it is not. Data may have more, which is asked where a chain moves. */
static double stated_extent(const struct var *v, int d)
{
    double most = 0;
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        symp end = f->upper[d] ? f->upper[d] : f->lower[d];
        if (end->kind != SYM_NUM)
            return 0;
        most = end->number > most ? end->number : most;
    }
    return most;
}

/* Whether some label is one of two, and so all that may trade places are. */
static bool are_two(const struct exchange *k)
{
    bool two = false;
    for (int i = 0; i < k->nends; i++) {
        symp end = k->end[i];
        const double last = end->kind == SYM_NUM ? end->number
                            : end->kind == SYM_EXTENT
                                ? stated_extent(end->var, end->dim)
                                : 0;
        two = two || last == k->first->number + 1;
    }
    return two;
}

/* Whether e is a label as a subscript: the first one, be it 0, has cell 1. */
static bool at_label(const struct exchange *k, symp e)
{
    symp label = sampler_find_reference(e, label_of(k));
    return label &&
           sym_same(e, sym_add2(k->c, label,
                                sym_sub(k->c, sym_num(k->c, 1), k->first)));
}

/* ---- what a component has --------------------------------------------------
 */

static bool is_drawn(const struct exchange *k, const struct family *f)
{
    return sampler_is_free(k->m, f) && !f->affine && !f->data_block &&
           !f->sequence && !sampler_step_of(k->m, f)->scaled.by;
}

/* Whether f says of a matrix that it is symmetric. */
static bool is_mirrored(const struct family *f)
{
    symp e = f->body;
    return e && !f->nslices && e->kind == SYM_REF && e->nargs == 2 &&
           f->var->ndim == 2 && (e->var == f->var || e->var->whole == f->var) &&
           sym_same(e->args[0], f->lower[1]) &&
           sym_same(e->args[1], f->lower[0]);
}

struct var *sampler_exchange_drawn(const struct exchange *k,
                                   const struct var *v)
{
    struct var *drawn = NULL;
    for (struct var *u = k->m->vars; u; u = u->next)
        drawn = u->whole == v ? u : drawn;
    if (!drawn || v->role != ROLE_DERIVED || !v->stored)
        return NULL;
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        const bool copies = f->body && f->body->kind == SYM_REF &&
                            f->body->var == drawn && f->body->nargs == 2 &&
                            sym_same(f->body->args[0], f->lower[0]) &&
                            sym_same(f->body->args[1], f->lower[1]);
        if (f->stochastic || (!copies && !is_mirrored(f)))
            return NULL;
    }
    return drawn;
}

/* Whether all cells are drawn, as the compiler chose, but those that are the
 * same of all components. */
static bool may_trade(const struct exchange *k, const struct var *v,
                      unsigned dims)
{
    const struct var *drawn = dims == 3 ? sampler_exchange_drawn(k, v) : NULL;
    v = drawn ? drawn : v;
    if (v->role != ROLE_STOCHASTIC || v->rest_of || v->slope_of || v->indexes ||
        (v->whole && !drawn))
        return false;
    bool some = false;
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        if (f->stochastic ? !is_drawn(k, f) : !sampler_is_common(f, dims))
            return false;
        some = some || f->stochastic;
    }
    return some;
}

static unsigned dims_of(const struct of_component *v)
{
    return 1U << v->dim | v->also;
}

/* v is read at labels in these dimensions: as often as anywhere, or else it
 * tells of components by more than what they have. */
static void add_cells(struct exchange *k, struct var *v, unsigned dims)
{
    const struct of_component *known = sampler_component_cells(&k->has, v);
    int first = 0;
    while (!(dims >> first & 1))
        first++;
    if (known ? dims_of(known) != dims
              : k->has.n == MOST_CELLS || !may_trade(k, v, dims))
        k->failed = true;
    if (known || k->failed)
        return;
    k->has.cells[k->has.n++] =
        (struct of_component){v->families, first, dims & ~(1U << first)};
    k->more = true;
}

/* Whether v is computed and kept, from labels or from what components have. */
static bool follows(const struct exchange *k, const struct var *v)
{
    return v->role == ROLE_DERIVED && v->stored &&
           !sampler_component_cells(&k->has, v) &&
           sampler_follows_components(k->m, &k->has, label_of(k), v);
}

/* Whether all elements of v are one number: w[k] <- 1 / K. */
static bool is_one_number(const struct var *v)
{
    const struct family *f = v->families;
    return v->role == ROLE_CONSTANT && f && !f->next_of_var && !f->stochastic &&
           f->body && !f->nslices && !sym_has_any_loop(f->body) &&
           !sym_has_cells(f->body);
}

static bool is_label(const struct exchange *k, symp e)
{
    return e->kind == SYM_REF && e->var == label_of(k);
}

/* Whether e says of two labels whether they are the same, whatever that is
 * called. */
static bool compares_labels(const struct exchange *k, symp e)
{
    return e->kind == SYM_CALL && e->nargs == 2 &&
           (!strcmp(e->name, "==") || !strcmp(e->name, "!=")) &&
           is_label(k, e->args[0]) && is_label(k, e->args[1]);
}

/* In what reads labels, a label may stand as the subscript alone of what its
 * component has, and that at a label alone. *beside: a label stands elsewhere,
 * too. */
static void look(struct exchange *k, symp e, bool *beside)
{
    const bool cell = e->kind == SYM_REF || e->kind == SYM_SEEN;
    unsigned dims = 0;
    if (is_label(k, e)) {
        *beside = true;
        return;
    }
    if (compares_labels(k, e) || (cell && is_one_number(e->var)))
        return;
    for (int i = 0; i < e->nargs && !k->failed; i++) {
        if (cell && at_label(k, e->args[i]))
            dims |= 1U << i;
        else
            look(k, e->args[i], beside);
    }
    if (dims)
        add_cells(k, e->var, dims);
    else if (cell &&
             (sampler_component_cells(&k->has, e->var) || follows(k, e->var)))
        k->failed = true;
}

/* What components have says the same whatever they are called. */
static symp hide_cells(struct compiler *c, symp e, void *exchange)
{
    const struct exchange *k = exchange;
    if (e->kind != SYM_REF || !sampler_component_cells(&k->has, e->var))
        return NULL;
    return sym_param(c, intern_format(c, "its %s", sym_text(c, e)));
}

/* An expression where one of two labels stands beside what components have:
 * whether it tells of either the same, where numbers turn. */
static bool turns(struct exchange *k, symp e)
{
    symp rest = sym_map(k->c, e, hide_cells, k);
    symp label = sampler_find_reference(rest, label_of(k));
    if (!label || !are_two(k))
        return false;
    symp low = sym_replace(k->c, rest, label, k->first);
    symp second = sym_add2(k->c, k->first, sym_num(k->c, 1));
    symp high = sym_replace(k->c, rest, label, second);
    return !sym_has_var(low, label_of(k)) &&
           (sym_same(low, high) ||
            sampler_find_turns(k->c, k->m, &k->turned, low, high));
}

static bool reads_labels(const struct exchange *k, const struct factor *g)
{
    return sampler_factor_reads(g, label_of(k)) ||
           g->family->var == label_of(k);
}

static void look_at_factor(struct exchange *k, const struct factor *g)
{
    const bool own = g->family->var == label_of(k);
    const struct exchange before = *k;
    struct factor rest = *g;
    symp all[FACTOR_EXPRESSIONS];
    if (own) /* the labels are its own */
        rest.value = rest.lower = rest.upper = NULL;
    const int n = model_factor_expressions(&rest, all);
    for (int i = 0; i < n && !k->failed; i++) {
        bool beside = false;
        look(k, all[i], &beside);
        if (beside && !k->failed && !turns(k, all[i]))
            k->failed = true;
    }
    if (!own || !k->failed)
        return;
    *k = before; /* it tells labels apart */
    k->told = true;
}

static bool turned_are_apart(const struct exchange *k)
{
    for (int i = 0; i < k->turned.n; i++)
        if (sampler_component_cells(&k->has, k->turned.turns[i].u) ||
            (k->turned.turns[i].v &&
             sampler_component_cells(&k->has, k->turned.turns[i].v)))
            return false;
    return true;
}

/* All that components have, and whether that is all that labels choose. Once
 * more where something was found: it must be so with all of it. */
static bool find_components(struct exchange *k)
{
    int before;
    do {
        k->more = false;
        before = k->turned.n;
        for (const struct factor *g = k->m->factors; g && !k->failed;
             g = g->next)
            if (!g->replaced && reads_labels(k, g))
                look_at_factor(k, g);
    } while ((k->more || k->turned.n > before) && !k->failed);
    return !k->failed && k->has.n + k->turned.n > 0 && turned_are_apart(k);
}

/* ---- cells of matrices that the labels' own densities read ----------------
 */

/* In which dimensions e reads v at labels. */
static unsigned dims_at_labels(const struct exchange *k, symp e,
                               const struct var *v)
{
    unsigned dims = 0;
    for (int i = 0; i < e->nargs; i++) {
        if (e->kind == SYM_REF && e->var == v && at_label(k, e->args[i]))
            dims |= 1U << i;
        dims |= dims_at_labels(k, e->args[i], v);
    }
    return dims;
}

/* The same of a density of labels: as it is, and as it is written, where what
 * is computed has not come in the place of its readings, P[1,1] <- stay. */
static unsigned dims_in_density(const struct exchange *k,
                                const struct factor *g, const struct var *v)
{
    const struct family *f = g->family;
    symp all[FACTOR_EXPRESSIONS];
    const int n = model_factor_expressions(g, all);
    symp written =
        family_expression(k->c, f, entry_value(f->distribution, "logdensity"));
    unsigned dims = written ? dims_at_labels(k, written, v) : 0;
    for (int i = 0; i < n; i++)
        dims |= dims_at_labels(k, all[i], v);
    return dims;
}

static bool reads_pieces(const struct exchange *k, const struct factor *g)
{
    symp all[FACTOR_EXPRESSIONS];
    const int n = model_factor_expressions(g, all);
    if (k->pieces.n && g->opaque)
        return true;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < k->pieces.n; j++)
            if (model_reads(k->m, all[i], k->pieces.of[j].cell->var))
                return true;
    return false;
}

/* Whether what other densities have of labels tells nothing of the cells. */
static bool are_read_by_labels_alone(const struct exchange *k)
{
    for (const struct factor *g = k->m->factors; g; g = g->next)
        if (!g->replaced && reads_labels(k, g) &&
            g->family->var != label_of(k) && reads_pieces(k, g))
            return false;
    return true;
}

static bool pieces_are_apart(const struct exchange *k)
{
    for (int i = 0; i < k->pieces.n; i++) {
        const struct var *v = k->pieces.of[i].cell->var;
        if (v == label_of(k) || sampler_component_cells(&k->has, v))
            return false;
        for (int j = 0; j < k->turned.n; j++)
            if (k->turned.turns[j].u == v || k->turned.turns[j].v == v)
                return false;
    }
    return true;
}

/* Where labels' densities tell them apart, what they read changes, too, if each
 * cell can be what the other labels' is. */
static void find_pieces(struct exchange *k)
{
    if (!k->told || !are_two(k))
        return;
    for (struct var *v = k->m->vars; v; v = v->next) {
        const struct pieces before = k->pieces;
        unsigned dims = 0;
        for (const struct factor *g = k->m->factors; g; g = g->next)
            if (!g->replaced && g->family->var == label_of(k))
                dims |= dims_in_density(k, g, v);
        if (dims && sampler_add_pieces(k->c, k->m, &k->pieces, v, dims) &&
            !(pieces_are_apart(k) && are_read_by_labels_alone(k)))
            k->pieces = before;
    }
}

/* ---- what tells one from another -------------------------------------------
 */

enum { MOST_COMPONENT_LOOPS = 4 };

/* The loops of a density that go through components. */
struct telling {
    const struct exchange *k;
    const struct loop *loops[MOST_COMPONENT_LOOPS];
    int n;
    bool failed;
};

static bool is_component(const struct telling *t, symp e)
{
    bool found = false;
    for (int i = 0; i < t->n && e->kind == SYM_LOOP; i++)
        found = found || e->loop == t->loops[i];
    return found;
}

/* What v is of components, or the matrix that it is the drawn part of. */
static const struct of_component *own_of(const struct exchange *k,
                                         const struct var *v)
{
    const struct of_component *own = sampler_component_cells(&k->has, v);
    return own || !v->whole ? own : sampler_component_cells(&k->has, v->whole);
}

/* The loops in the places of components. */
static void find_loops(struct telling *t, symp e)
{
    const struct of_component *own =
        e->kind == SYM_REF ? own_of(t->k, e->var) : NULL;
    for (int i = 0; i < e->nargs; i++) {
        find_loops(t, e->args[i]);
        if (!own || !(dims_of(own) >> i & 1) || is_component(t, e->args[i]))
            continue;
        t->failed = t->failed || e->args[i]->kind != SYM_LOOP ||
                    t->n == MOST_COMPONENT_LOOPS;
        if (!t->failed)
            t->loops[t->n++] = e->args[i]->loop;
    }
}

/* Where a component is more than the subscript of what it has. */
static bool tells(symp e, const void *telling)
{
    const struct telling *t = telling;
    const bool cell = e->kind == SYM_REF || e->kind == SYM_SEEN;
    const struct of_component *own = cell ? own_of(t->k, e->var) : NULL;
    if (cell && is_one_number(e->var))
        return false;
    for (int i = 0; i < e->nargs; i++) {
        const bool component = is_component(t, e->args[i]);
        const bool its_own = own && dims_of(own) >> i & 1;
        if (component != its_own)
            return true;
    }
    return false;
}

/* Whether each loop of the plate goes through all components by itself, or
 * both through half a matrix that is the mirror image of the other. */
static bool goes_through_all(const struct telling *t, const struct factor *g)
{
    if (g->family->var->whole)
        return true;
    for (int i = 0; i < g->nloops; i++)
        for (int j = 0; j < t->n; j++)
            if (sym_has_loop(g->loops[i]->lower, t->loops[j]) ||
                sym_has_loop(g->loops[i]->upper, t->loops[j]))
                return false;
    return true;
}

/* An expression of the factor of what g's own number turns with, in g's loops;
 * of what turns alone, or not at all, g's own. */
static symp of_other(const struct exchange *k, const struct factor *g,
                     symp (*of)(struct compiler *, const struct factor *))
{
    const struct var *v = sampler_turns_with(&k->turned, g->family->var);
    const struct factor *other = v ? v->families->factor : g;
    symp e = of(k->c, other), by[MAX_LOOPS];
    for (int i = 0; i < other->nloops; i++)
        by[i] = sym_loop(k->c, g->loops[i]);
    return e ? sym_replace_loops(k->c, e, other->loops, other->nloops, by) : e;
}

static symp logp_of(struct compiler *c, const struct factor *g)
{
    return model_under_rule(c, g, g->logp);
}

static symp above_start(struct compiler *c, const struct factor *g)
{
    return g->lower ? sym_sub(c, g->value, g->lower) : sym_num(c, 1);
}

static symp below_end(struct compiler *c, const struct factor *g)
{
    return g->upper ? sym_sub(c, g->upper, g->value) : sym_num(c, 1);
}

static bool becomes(const struct exchange *k, symp e, symp wanted)
{
    return sym_same(sampler_turn(k->c, &k->turned, e), wanted);
}

static bool same_end(const struct step *s, symp a, symp b)
{
    return (!a && !b) || (a && b && sym_same(a, b) && !sym_has_any_loop(a) &&
                          !group_depends(s, a));
}

/* Whether no end depends on components: of what they have, all statements have
 * the same ones. */
static bool same_ends(const struct exchange *k, const struct step *s,
                      const struct factor *g)
{
    if (!own_of(k, g->family->var))
        return !group_depends(s, g->lower) && !group_depends(s, g->upper);
    for (const struct family *f = g->family->var->families; f;
         f = f->next_of_var)
        if (f->stochastic && (!same_end(s, f->factor->lower, g->lower) ||
                              !same_end(s, f->factor->upper, g->upper)))
            return false;
    return true;
}

/* Whether where the density is 0 is the same however components trade places
 * and numbers turn: the ends keep their distances, or trade them. */
static bool ends_alike(const struct exchange *k, const struct step *s,
                       const struct factor *g)
{
    struct compiler *c = k->c;
    if (!g->value || (!g->lower && !g->upper))
        return true;
    if (!same_ends(k, s, g))
        return false;
    symp above = above_start(c, g), below = below_end(c, g);
    symp others_above = of_other(k, g, above_start);
    symp others_below = of_other(k, g, below_end);
    return (becomes(k, above, others_above) &&
            becomes(k, below, others_below)) ||
           (becomes(k, above, others_below) && becomes(k, below, others_above));
}

/* Whether no other statement draws elements of g's variable. */
static bool is_all_drawn(const struct exchange *k, const struct factor *g)
{
    const struct var *v = g->family->var;
    if (!own_of(k, v))
        return v->families == g->family && !g->family->next_of_var;
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (f->stochastic && f != g->family)
            return false;
    return true;
}

/* Whether the density of a plate over components, which names them in turn, is
 * the same however they trade places, and numbers turn. */
static bool is_alike(const struct exchange *k, const struct step *s,
                     const struct factor *g)
{
    symp all[FACTOR_EXPRESSIONS];
    struct factor read = *g;
    if (!g->lower && !g->upper)
        read.value = NULL;
    const int n = model_factor_expressions(&read, all);
    struct telling t = {.k = k};
    if (g->family->factor != g || !is_all_drawn(k, g))
        return false;
    for (int i = 0; i < n; i++)
        find_loops(&t, all[i]);
    if (t.failed || !goes_through_all(&t, g))
        return false;
    for (int i = 0; i < n; i++)
        if (sym_any(all[i], tells, &t))
            return false;
    return ends_alike(k, s, g) &&
           becomes(k, logp_of(k->c, g), of_other(k, g, logp_of));
}

static bool follows_group(const struct step *s, const struct factor *g)
{
    return sym_any(g->logp, sampler_follows_group, s) ||
           (g->lower && sym_any(g->lower, sampler_follows_group, s)) ||
           (g->upper && sym_any(g->upper, sampler_follows_group, s));
}

/* Whether what is computed and kept of members follows cells alone, with which
 * it is computed again. */
static bool follow_cells_alone(const struct exchange *k, const struct step *s)
{
    for (int i = 0; i < s->block.n; i++) {
        const struct var *v = s->block.members[i].family->var;
        bool is_cell = false;
        for (int j = 0; j < k->pieces.n; j++)
            is_cell = is_cell || k->pieces.of[j].cell->var == v;
        for (const struct var *u = k->m->vars; u && !is_cell; u = u->next)
            if (u->role == ROLE_DERIVED && u->stored &&
                model_derived_depends(k->m, u, v))
                return false;
    }
    return true;
}

/* The densities that change; false: one that may not be had at once, or none
 * by which components differ. */
static bool find_changed(struct exchange *k, struct step *s)
{
    bool told = k->told;
    for (struct factor *g = k->m->factors; g; g = g->next) {
        if (g->replaced || !group_mentions(k->c, s, g) ||
            (reads_labels(k, g) && !(k->told && g->family->var == label_of(k))))
            continue;
        if (follows_group(s, g) && !follow_cells_alone(k, s))
            return false;
        s->through = s->through || follows_group(s, g);
        if (!reads_labels(k, g) && !reads_pieces(k, g) && is_alike(k, s, g))
            continue;
        told = true;
        k->ends = k->ends || !ends_alike(k, s, g);
        sampler_push_part(&s->parts, sampler_all_instances(k->c, g));
    }
    sampler_keep_moving(k->c, s);
    return told;
}

/* ---- the step --------------------------------------------------------------
 */

static bool add_members(struct step *s, const struct var *v)
{
    for (struct family *f = v ? v->families : NULL; f; f = f->next_of_var) {
        if (!f->stochastic)
            continue;
        if (s->block.n == MAX_MEMBERS)
            return false;
        s->block.members[s->block.n].family = f;
        s->block.members[s->block.n++].count = sym_num(exchange_of(s)->c, 1);
    }
    return true;
}

static bool add_pieces(struct exchange *k, struct step *s)
{
    for (int i = 0; i < k->pieces.n; i++) {
        const struct var *v = k->pieces.of[i].cell->var;
        for (struct family *f = v->families; f; f = f->next_of_var) {
            if (!f->stochastic || sampler_has_member(s, f))
                continue;
            if (s->block.n == MAX_MEMBERS)
                return false;
            s->block.members[s->block.n].family = f;
            s->block.members[s->block.n++].count = sym_num(k->c, 1);
            k->ends = k->ends || f->factor->lower || f->factor->upper;
        }
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
    bool fits = add_members(s, label_of(k));
    for (int i = 0; i < k->has.n; i++) {
        const struct var *v = k->has.cells[i].family->var;
        const struct var *drawn = sampler_exchange_drawn(k, v);
        s->through = s->through || drawn;
        fits = fits && add_members(s, drawn ? drawn : v);
    }
    for (int i = 0; i < k->turned.n; i++)
        if (k->turned.turns[i].kind != TURN_STAYS)
            fits = fits && add_members(s, k->turned.turns[i].u) &&
                   add_members(s, k->turned.turns[i].v);
    fits = fits && add_pieces(k, s);
    return fits && find_changed(k, s) ? s : NULL;
}

static void insert(struct model *m, struct step *z, struct step *move)
{
    const struct var *v = z->family->var;
    move->next = z->next;
    z->next = move;
    if (v->families == z->family && !z->family->next_of_var) {
        z->turn.again = move;
        z->turn.index_waits = true;
    }
    if (m->last_step == &z->next)
        m->last_step = &move->next;
}

void sampler_find_exchanges(struct compiler *c, struct model *m)
{
    for (struct var *v = m->vars; v; v = v->next) {
        struct exchange *k = NEW(c, struct exchange);
        *k = (struct exchange){.c = c, .m = m};
        if (!are_labels(k, v) || k->labels->turn.again)
            continue;
        if (!find_components(k))
            continue;
        const struct exchange without = *k;
        find_pieces(k);
        struct step *move = make_step(k);
        if (!move && k->pieces.n) {
            *k = without;
            move = make_step(k);
        }
        if (move)
            insert(m, k->labels, move);
    }
}

/* ---- the sampler -----------------------------------------------------------
 */

static void slots(struct compiler *c, struct model *m, struct step *s)
{
    s->slots = sweep_add_pays_slot(c, m, s);
}

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
    .own_cost = true,
    .name = "components trade places",
    .closed = true,
    .headers = {"relabel.h"},
    .why = why,
    .slots = slots,
    .phases = phases,
    .emit = sampler_emit_exchange,
};
