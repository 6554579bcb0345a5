/* path_label.c: a label that settles a whole path, as the class of a subject
 * whose states z[i,t] ~ dcat(P[class[i], z[i,t-1], ]), or whether a site is
 * ever occupied. Given its path, a label hardly changes, and the path holds to
 * what it was drawn under; so the label is drawn with all paths summed out, and
 * the path behind it (stdlib/kernels/forward_backward.h). That sum has the
 * factors of states that are drawn, with what in them depends on the label
 * alone; those of states that are observed stand beside the label's others. */
#include "sampler/component.h"
#include "sampler/path.h"

/* Rows of labels, and of the paths of one step. */
struct rows {
    struct compiler *c;
    const struct model *m;
    const struct step *paths, *head, *labels;
    int dim; /* of the states' subscript that is the row */
};

static const struct var *states_of(const struct rows *k)
{
    return k->paths->family->var;
}

static const struct var *label_of(const struct rows *k)
{
    return k->labels->family->var;
}

static int row_of(const void *own, const struct var *v)
{
    const struct rows *k = own;
    return v == label_of(k) ? 0 : v == states_of(k) ? k->dim : -1;
}

/* ---- which -----------------------------------------------------------------
 */

static bool has_factor(const struct step *s, const struct factor *g)
{
    for (const struct part *p = s ? s->parts : NULL; p; p = p->next)
        if (p->factor == g)
            return true;
    return false;
}

/* Whether the states are those of the paths and of their heads, and of nothing
 * else. */
static bool states_are_known(const struct rows *k)
{
    const struct var *v = states_of(k);
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (f != k->paths->family && !(k->head && f == k->head->family))
            return false;
    return !v->whole && !v->rest_of;
}

/* Whether each path has a row, and each row one path. */
static bool has_rows(struct rows *k)
{
    const struct family *f = k->paths->family;
    const int along = path_of(k->paths)->along;
    if (f->nloops != 2)
        return false;
    const struct loop *row = f->loops[1 - along];
    if (!sampler_same_ends(row, k->labels->family->loops[0]))
        return false;
    for (int d = 0; d < f->var->ndim; d++)
        if (f->lower[d]->kind == SYM_LOOP && f->lower[d]->loop == row) {
            k->dim = d;
            return true;
        }
    return false;
}

/* Of a factor that the sums over paths have: where its state is observed. NULL:
 * it has several. */
static struct part *where_observed(const struct rows *k, struct factor *g,
                                   struct part *p)
{
    symp state;
    if (g->opaque ||
        sampler_references(k->c, g, k->paths->family->var, &state, 1) != 1)
        return NULL;
    symp seen = sym_seen(k->c, state->var, state->nargs, state->args);
    p->logp = sym_select(k->c, seen, p->logp, sym_num(k->c, 0));
    if (p->lower)
        p->lower = sym_select(k->c, seen, p->lower, p->value);
    if (p->upper)
        p->upper = sym_select(k->c, seen, p->upper, p->value);
    return p;
}

/* The densities of all that reads the label but for what the sum over paths
 * has; false: they may not be had row by row. *settles: that sum has some. */
static bool find_parts(const struct rows *k, struct part **parts, bool *settles)
{
    for (struct factor *g = k->m->factors; g; g = g->next) {
        if (g->replaced || !sampler_factor_reads(g, label_of(k)))
            continue;
        struct loop *row = k->labels->family->loops[0];
        const struct loop *l = sampler_row_loop(g, row_of, k, row);
        if (!l || g->auxiliary)
            return false;
        struct part *p = sampler_row_part(k->c, g, l, row);
        if (sampler_factor_reads(g, states_of(k))) {
            *settles = true;
            if (g == k->paths->family->factor)
                continue;
            if ((!has_factor(k->paths, g) && !has_factor(k->head, g)) ||
                !(p = where_observed(k, g, p)))
                return false;
        }
        sampler_push_part(parts, p);
    }
    for (const struct family *f = k->m->families; f; f = f->next)
        if (sampler_is_kept(f) &&
            model_derived_depends(k->m, f->var, label_of(k)))
            return false;
    return true;
}

static bool may_be_label(struct compiler *c, const struct model *m,
                         const struct step *z)
{
    return z->sampler && z->family && !z->merged && !z->through &&
           !z->order.ties && !z->support.bounds && z->support.upper &&
           sampler_draws_rows(c, m, z) && z->sampler->tries_all(z) &&
           !z->family->var->whole && !z->family->var->rest_of &&
           z->family->lower[0]->kind == SYM_LOOP;
}

void sampler_find_label(struct compiler *c, struct model *m, struct step *s)
{
    struct path *path = s->own;
    for (struct step *z = m->steps; z; z = z->next) {
        struct rows k = {c, m, s, path->head, z, 0};
        struct part *parts = NULL;
        bool settles = false;
        if (!may_be_label(c, m, z) || z->family->var == s->family->var ||
            !has_rows(&k) || !states_are_known(&k) ||
            !find_parts(&k, &parts, &settles) || !settles)
            continue;
        struct step *beside = NEW(c, struct step);
        beside->family = z->family;
        beside->model = m;
        beside->parts = parts;
        beside->name = intern_format(c, "label_of_%s", s->name);
        path->label = z;
        path->beside_label = beside;
        sampler_tell_in_full(c, s, NULL, z->family->var);
        if (path->head)
            sampler_tell_in_full(c, path->head, NULL, z->family->var);
        return;
    }
}

bool sampler_path_moves(const struct step *s, const struct var *v)
{
    return path_of(s)->label && path_of(s)->label->family->var == v;
}

bool sampler_has_label(const struct step *s)
{
    const struct step *z = path_of(s)->label;
    return z && z->sampler == &sampler_enumeration && !z->merged &&
           !emit_step_has_columns(s) && path_of(s)->head == sampler_head_of(s);
}

void sampler_add_label_phase(struct compiler *c, struct step *s)
{
    const struct step *z = path_of(s)->label;
    struct phase *p =
        sweep_add_phase(c, s, PHASE_SEARCH, "a label, paths summed out");
    p->random = true;
    p->rows = z->family;
    p->tried = sym_length(c, z->support.lower, z->support.upper);
    for (const struct part *q = path_of(s)->beside_label->parts; q; q = q->next)
        phase_computes(c, p, q->logp);
    phase_writes(c, p, z->family);
}

/* ---- its functions ---------------------------------------------------------
 */

static symp row_of_path(struct compiler *c, const struct step *s)
{
    return sym_loop(c, s->family->loops[1 - path_of(s)->along]);
}

/* The label in the loops of its path. */
static symp label_cell(struct compiler *c, const struct step *s)
{
    symp row = row_of_path(c, s);
    return sym_ref(c, path_of(s)->label->family->var, 1, &row);
}

/* labels_: whether the label is not data, and has few values. */
static void emit_which_labels(struct compiler *c, struct text *out,
                              const struct step *s)
{
    const struct step *z = path_of(s)->label;
    const struct family *f = z->family;
    struct emitter e = emitter_new(c, out);
    sampler_open_path_callback(out, s, "bool", "labels",
                               ", int *first, int *last, int *now");
    emit_decode(&e, s->family, "p->first");
    symp row = row_of_path(c, s);
    emit_loop_as(&e, f->loops[0], emit_int(&e, row));
    emit_line(&e, "*first = %s;", emit_int(&e, z->support.lower));
    emit_line(&e, "*last = %s;", emit_int(&e, z->support.upper));
    emit_line(&e, "*now = %s;", emit_expr(&e, label_cell(c, s)));
    emit_line(&e, "if (*now < *first || *now > *last || %s)",
              emit_expr(&e, sym_seen(c, f->var, 1, &row)));
    emit_line(&e, "    return false;");
    emit_line(&e, "return p->values <= GBM_CHAIN_VALUES && *last - *first < "
                  "GBM_CHAIN_LABELS;");
    text_append(out, "}\n");
}

/* set_label_: makes it k; label_: and says what all else has of it. */
static void emit_label(struct compiler *c, struct text *out,
                       const struct step *s)
{
    const struct path *path = path_of(s);
    struct emitter e = emitter_new(c, out);
    sampler_open_path_callback(out, s, "void", "set_label", ", int k");
    emit_decode(&e, s->family, "p->first");
    emit_line(&e, "gbm_team_sync(p->team);");
    emit_line(&e, "%s = k;", emit_expr(&e, label_cell(c, s)));
    emit_line(&e, "gbm_team_sync(p->team);");
    text_append(out, "}\n");
    e = emitter_new(c, out);
    sampler_open_path_callback(out, s, "real", "label", ", int k");
    emit_decode(&e, s->family, "p->first");
    emit_line(&e, "set_label_%s_at(p, k);", s->name);
    emit_line(&e, "return density_%s(s, p->team, %s - (%s));",
              path->beside_label->name, emit_expr(&e, row_of_path(c, s)),
              emit_int(&e, path->label->family->loops[0]->lower));
    text_append(out, "}\n\n");
}

void sampler_emit_label(struct compiler *c, struct text *out,
                        const struct step *s)
{
    sampler_emit_row_density(c, out, path_of(s)->beside_label);
    emit_which_labels(c, out, s);
    emit_label(c, out, s);
}

/* The path's functions for the host, with the label behind all else. */
void sampler_emit_label_density(struct text *out, const struct step *s)
{
    const char *n = s->name;
    text_printf(out,
                "    int first, last, now;\n"
                "    if (!labels_%s_at(&p, &first, &last, &now))\n"
                "        return path_%s(state, element, x);\n"
                "    const int k = (int)x[dimension_%s(state, element) - 1];\n"
                "    if (k < first || k > last)\n"
                "        return -GBM_INF;\n"
                "    double total = (double)label_%s_at(&p, k);\n"
                "    total += path_%s(state, element, x);\n"
                "    set_label_%s_at(&p, now);\n"
                "    return total;\n}\n",
                n, n, n, n, n, n);
}
