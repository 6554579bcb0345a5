/* accompanied.c: a label moves with the nodes whose priors it settles, as z[i]
 * with the missing x[i,j] ~ dnorm(mu[z[i],j], tau[z[i],j]) of its row, or where
 * a species is at all with where it is, a[i,j] ~ dbern(z[i] * theta). Given
 * these, which were drawn under the label that is, another label is improbable,
 * though it would be probable with others. So another label is proposed, and
 * the nodes of its row that are not data with it, from their priors: their
 * densities and those of the proposal cancel, and what decides is the ratio of
 * all else that reads the label or the nodes, their children and the priors of
 * those that are data.
 *
 * Requires a list of steps without merged ones, before the sweep is planned. */
#include "sampler/component.h"
#include "sampler/moves.h"

enum { MOST_FAMILIES = 4, MOST_KEPT = 16 };

struct accompanied {
    struct compiler *c;
    const struct model *m;
    struct step *labels;
    struct family *nodes[MOST_FAMILIES];
    int dim[MOST_FAMILIES]; /* of the row's subscript */
    int n;
};

static const struct accompanied *accompanied_of(const struct step *s)
{
    return s->own;
}

/* ---- which -----------------------------------------------------------------
 */

static const struct var *label_of(const struct accompanied *k)
{
    return k->labels->family->var;
}

static struct loop *row(const struct accompanied *k)
{
    return k->labels->family->loops[0];
}

static int row_of(const void *own, const struct var *v)
{
    const struct accompanied *k = own;
    if (v == label_of(k))
        return 0;
    for (int i = 0; i < k->n; i++)
        if (v == k->nodes[i]->var)
            return k->dim[i];
    return -1;
}

static bool reads_rows(const struct accompanied *k, const struct factor *g)
{
    bool found = sampler_factor_reads(g, label_of(k));
    for (int i = 0; i < k->n; i++)
        found = found || sampler_factor_reads(g, k->nodes[i]->var);
    return found;
}

/* Whether e has v as a place among nodes, or as an end. */
static bool leads_by(symp e, const void *v)
{
    const bool data = e->kind == SYM_REF && (e->var->role == ROLE_GIVEN ||
                                             e->var->role == ROLE_CONSTANT);
    const int n = e->kind == SYM_REF ? e->nargs : e->kind == SYM_SUM ? 2 : 0;
    bool found = false;
    for (int i = 0; !data && i < n; i++)
        found = found || sym_has_var(e->args[i], v);
    return found;
}

/* Whether v says which of other nodes something reads; of data it may. */
static bool chooses_nodes(const struct accompanied *k, const struct var *v)
{
    bool found = false;
    for (struct factor *g = v->indexes ? k->m->factors : NULL; g; g = g->next) {
        symp all[FACTOR_EXPRESSIONS];
        const int n = model_factor_expressions(g, all);
        for (int i = 0; i < n; i++)
            found = found || sym_any(all[i], leads_by, v);
        for (int i = 0; i < g->nloops; i++)
            found = found || sym_has_var(g->loops[i]->lower, v) ||
                    sym_has_var(g->loops[i]->upper, v);
    }
    return found;
}

/* Single numbers, counts that are held, and none that says which of others
 * something reads. */
static bool are_values(const struct accompanied *k, const struct family *f)
{
    const struct var *v = f->var;
    return sampler_are_numbers(v) ||
           (v->role == ROLE_STOCHASTIC && v->integer && !v->whole &&
            !v->rest_of && !v->slope_of && !chooses_nodes(k, v) && f->factor &&
            sampler_holds(k->c, f->factor, k->labels));
}

/* Values that do not read each other, drawn as the compiler chose, with a
 * label of their row in their prior: adds them. */
static void add_nodes(struct accompanied *k, struct family *f)
{
    struct compiler *c = k->c;
    const struct factor *g = f->factor;
    if (k->n == MOST_FAMILIES || f->var == label_of(k) || !f->stochastic ||
        f->nslices || f->affine || f->var->families != f || f->next_of_var ||
        !are_values(k, f) || !sampler_is_free(k->m, f) || !family_plain(c, f) ||
        !sampler_factor_reads(g, label_of(k)))
        return;
    const struct loop *l = sampler_row_loop(g, row_of, k, row(k));
    symp own = sym_ref(c, f->var, f->var->ndim, f->lower);
    if (!l || sym_has_var(sym_replace(c, g->logp, own, sym_num(c, 1)), f->var))
        return;
    for (int d = 0; d < f->var->ndim; d++)
        if (f->lower[d]->kind == SYM_LOOP && f->lower[d]->loop == l) {
            k->dim[k->n] = d;
            k->nodes[k->n++] = f;
            return;
        }
}

/* Whether a node's prior reads another node. */
static bool read_each_other(const struct accompanied *k)
{
    for (int i = 0; i < k->n; i++)
        for (int j = 0; j < k->n; j++)
            if (i != j &&
                sampler_factor_reads(k->nodes[i]->factor, k->nodes[j]->var))
                return true;
    return false;
}

/* The instances of g of a row, without the nodes' priors where they are drawn.
 */
static struct part *part_of(const struct accompanied *k, struct factor *g,
                            const struct loop *l)
{
    struct compiler *c = k->c;
    struct part *p = sampler_row_part(c, g, l, row(k));
    for (int i = 0; i < k->n; i++) {
        struct family *f = k->nodes[i];
        if (f->factor == g)
            p->logp = sym_select(c, sym_seen(c, f->var, f->var->ndim, f->lower),
                                 p->logp, sym_num(c, 0));
    }
    return p;
}

static bool follows_rows(const struct accompanied *k, const struct var *v)
{
    bool found = model_derived_depends(k->m, v, label_of(k));
    for (int i = 0; i < k->n; i++)
        found = found || model_derived_depends(k->m, v, k->nodes[i]->var);
    return found;
}

/* The densities of all that reads a row; false: some may not be had row by row.
 */
static bool find_parts(const struct accompanied *k, struct step *s)
{
    for (struct factor *g = k->m->factors; g; g = g->next) {
        if (g->replaced || !reads_rows(k, g))
            continue;
        const struct loop *l = sampler_row_loop(g, row_of, k, row(k));
        if (!l)
            return false;
        sampler_push_part(&s->parts, part_of(k, g, l));
    }
    for (const struct family *f = k->m->families; f; f = f->next)
        if (sampler_is_kept(f) && follows_rows(k, f->var))
            return false;
    return true;
}

static void add_member(struct accompanied *k, struct step *s, struct family *f)
{
    s->block.members[s->block.n].family = f;
    s->block.members[s->block.n++].count = sym_num(k->c, 1);
}

void sampler_find_accompanied(struct compiler *c, struct model *m)
{
    for (struct step *z = m->steps; z; z = z->next) {
        if (!z->sampler || !z->family || !sampler_draws_rows(c, m, z) ||
            z->integrated || !z->support.upper ||
            z->family->lower[0]->kind != SYM_LOOP)
            continue;
        struct accompanied *k = NEW(c, struct accompanied);
        struct step *s = NEW(c, struct step);
        *k = (struct accompanied){.c = c, .m = m, .labels = z};
        for (struct family *f = m->families; f; f = f->next)
            add_nodes(k, f);
        if (!k->n || read_each_other(k) || !find_parts(k, s))
            continue;
        s->own = k;
        s->model = m;
        s->sampler = &sampler_accompanied;
        s->family = z->family;
        s->name = intern_format(c, "accompany_%s", family_id(c, s->family));
        add_member(k, s, z->family);
        for (int i = 0; i < k->n; i++)
            add_member(k, s, k->nodes[i]);
        sampler_insert_move(m, s, NULL);
    }
}

/* ---- its functions ---------------------------------------------------------
 */

/* Opens the loops over the nodes of f of a row that are not data; *cell: one.
 */
static int open_nodes(struct emitter *e, const struct accompanied *k,
                      const struct family *f, int dim, symp *cell)
{
    struct compiler *c = e->c;
    int braces = 0;
    for (int i = 0; i < f->nloops; i++)
        if (f->lower[dim]->loop == f->loops[i]) {
            if (row(k) != f->loops[i])
                emit_loop_as(e, f->loops[i], emit_int(e, sym_loop(c, row(k))));
        } else {
            emit_open_loop(e, f->loops[i], f->loops[i]->lower,
                           f->loops[i]->upper);
            braces++;
        }
    *cell = sym_ref(c, f->var, f->var->ndim, f->lower);
    emit_line(e, "if (!%s) {",
              emit_expr(e, sym_seen(c, f->var, f->var->ndim, f->lower)));
    e->indent++;
    return braces + 1;
}

/* The number of an element of a rectangular family. */
static symp element_of(struct compiler *c, const struct family *f)
{
    symp at = sym_num(c, 0);
    for (int i = 0; i < f->nloops; i++)
        at = sym_add2(
            c,
            sym_mul2(c, at,
                     sym_length(c, f->loops[i]->lower, f->loops[i]->upper)),
            sym_sub(c, sym_loop(c, f->loops[i]), f->loops[i]->lower));
    return at;
}

enum pass { COUNT, PROPOSE, RESTORE };

static void emit_pass(struct emitter *e, const struct accompanied *k,
                      enum pass pass)
{
    emit_line(e, "missing = 0;");
    for (int i = 0; i < k->n; i++) {
        const struct family *f = k->nodes[i];
        const int depth = e->nloops;
        symp cell;
        const int braces = open_nodes(e, k, f, k->dim[i], &cell);
        if (pass == PROPOSE) {
            emit_line(e, "kept[missing] = %s;", emit_expr(e, cell));
            emit_line(e, "simulate_%s(s, rng, %s);", family_id(e->c, f),
                      emit_int(e, element_of(e->c, f)));
        } else if (pass == RESTORE) {
            emit_line(e, "%s = %skept[missing];", emit_expr(e, cell),
                      f->var->integer ? "(int)" : "");
        }
        emit_line(e, "missing++;");
        emit_close(e, braces);
        e->nloops = depth;
    }
}

static void emit_move(struct emitter *e, const struct accompanied *k,
                      enum pass pass, const char *label)
{
    const struct family *f = k->labels->family;
    emit_line(e, "gbm_team_sync(team);");
    emit_line(e, "if (team->lane == 0) {");
    e->indent++;
    emit_line(e, "%s = %s;", emit_expr(e, sym_ref(e->c, f->var, 1, f->lower)),
              label);
    emit_pass(e, k, pass);
    emit_close(e, 1);
    emit_line(e, "gbm_team_sync(team);");
}

static void emit_update(struct compiler *c, struct text *out,
                        const struct step *s)
{
    const struct accompanied *k = accompanied_of(s);
    const struct family *f = s->family;
    struct emitter e = emitter_new(c, out);
    emit_open_update(out, s);
    emit_decode(&e, f, "element");
    emit_line(&e, "const int was = %s, lower = %s;",
              emit_expr(&e, sym_ref(c, f->var, 1, f->lower)),
              emit_int(&e, k->labels->support.lower));
    emit_line(&e, "const int others = %s - lower;",
              emit_int(&e, k->labels->support.upper));
    emit_line(&e, "int missing;");
    emit_pass(&e, k, COUNT);
    emit_line(&e, "if (others < 1 || missing < 1 || missing > %d || %s)",
              MOST_KEPT, emit_expr(&e, sym_seen(c, f->var, 1, f->lower)));
    emit_line(&e, "    return;");
    emit_line(&e, "const int any = lower + gbm_relabel_any(rng, others);");
    emit_line(&e, "const int other = any + (any >= was);");
    emit_line(&e, "const real u = gbm_uniform(rng);");
    emit_line(&e, "const real here = density_%s(s, team, element);", s->name);
    emit_line(&e, "real kept[%d];", MOST_KEPT);
    emit_move(&e, k, PROPOSE, "other");
    emit_line(&e, "const real gain = density_%s(s, team, element) - here;",
              s->name);
    emit_line(&e, "if (real_log(u) < gain)");
    emit_line(&e, "    return;");
    emit_move(&e, k, RESTORE, "was");
    text_append(out, "}\n\n");
}

static void emit(struct compiler *c, struct text *out, struct step *s)
{
    sampler_emit_group_comment(c, out, s, "A label moves with its nodes");
    sampler_emit_row_density(c, out, s);
    emit_update(c, out, s);
}

/* ---- the sampler -----------------------------------------------------------
 */

static void phases(struct compiler *c, struct step *s)
{
    struct phase *p = sampler_move_phase(c, s, "a label moves with its nodes");
    for (int i = 0; i < s->block.n; i++)
        phase_computes(c, p, s->block.members[i].family->factor->logp);
}

static const char *why(struct compiler *c, const struct step *s)
{
    return intern_format(
        c,
        "another label is proposed with the nodes of its row that are not "
        "data, from their priors: given these, which were drawn under it, %s "
        "would seldom change",
        s->family->var->name);
}

const struct sampler sampler_accompanied = {
    .beside = true,
    .name = "label with its nodes",
    .headers = {"relabel.h"},
    .why = why,
    .phases = phases,
    .emit = emit,
    .own_layout = true,
};
