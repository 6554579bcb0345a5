/* unordered.c: elements that are read without their order, as those of
 * cut[1:4] <- sort(raw[]), change places. Data tell of the sorted ones alone,
 * so each order of the elements is as probable as another; drawn one by one,
 * they keep the one in which a chain began, and chains are apart. So behind
 * their draws they are put into an order drawn at random (Durstenfeld 1964,
 * Algorithm 235: random permutation, Commun. ACM 7), which changes neither
 * their prior, which must be the same for all, nor what reads them: the library
 * says of a function that its argument is `unordered`.
 *
 * Elements x[i,k] that are read so in groups, as sort(raw[i,]), change places
 * in each group.
 *
 * Requires a list of steps without merged ones, before the sweep is planned. */
#include "sampler/moves.h"

struct unordered {
    struct compiler *c;
    const struct model *m;
    struct family *family;
    int dim;                  /* along which elements change places */
    const struct loop *along; /* the loop of that subscript */
};

static const struct unordered *unordered_of(const struct step *s)
{
    return s->own;
}

/* ---- which -----------------------------------------------------------------
 */

/* Whether `extent` elements from the subscript `first` are all that there are
 * of a group. */
static bool is_group(const struct unordered *k, symp first, symp extent)
{
    struct compiler *c = k->c;
    const struct family *f = k->family;
    const struct loop *l = k->along;
    symp least = sym_replace_loop(c, f->lower[k->dim], l, l->lower);
    return sym_same(first, least) &&
           (sym_same(extent, sym_length(c, l->lower, l->upper)) ||
            (sym_is(least, 1) &&
             sym_same(extent, sym_extent(c, f->var, k->dim))));
}

/* Whether e is the array of the elements of one group. */
static bool is_array_of_group(const struct unordered *k, symp e)
{
    if (e->kind != SYM_ARRAY || e->nloops != 1 || e->args[0]->kind != SYM_REF ||
        e->args[0]->var != k->family->var)
        return false;
    const struct loop *l = e->loops[0];
    symp offset;
    for (int d = 0; d < k->family->var->ndim; d++)
        if (d == k->dim
                ? sym_plain_loop(k->c, e->args[0]->args[d], &offset) != l
                : sym_has_loop(e->args[0]->args[d], l) ||
                      sym_has_var(e->args[0]->args[d], k->family->var))
            return false;
    return is_group(
        k,
        sym_replace_loop(k->c, e->args[0]->args[k->dim], l, sym_num(k->c, 1)),
        e->args[1]);
}

/* Whether e reads an element elsewhere than among all of its group, in a
 * function that tells nothing of their order. */
static bool tells_order(const struct unordered *k, symp e)
{
    const struct var *v = k->family->var;
    if (!sym_may_have(e, v) || !sym_has_var(e, v))
        return false;
    if ((e->kind == SYM_REF || e->kind == SYM_SEEN || e->kind == SYM_LIVE) &&
        e->var == v)
        return true;
    const bool alike =
        e->kind == SYM_CALL && e->entry && entry_clause(e->entry, "unordered");
    for (int i = 0; i < e->nargs; i++)
        if (!(alike && is_array_of_group(k, e->args[i])) &&
            tells_order(k, e->args[i]))
            return true;
    return false;
}

/* Whether a density or a definition reads elements, and none their order. */
static bool are_read_so(const struct unordered *k)
{
    bool read = false;
    for (const struct factor *g = k->m->factors; g; g = g->next)
        if (!g->replaced && g != k->family->factor) {
            symp all[FACTOR_EXPRESSIONS];
            const int n = model_factor_expressions(g, all);
            read = read || sampler_factor_reads(g, k->family->var);
            for (int i = 0; i < n; i++)
                if (tells_order(k, all[i]))
                    return false;
        }
    for (const struct family *f = k->m->families; f; f = f->next)
        if (sampler_is_kept(f)) {
            symp body = model_substitute_derived(k->c, f->body);
            read = read || sym_has_var(body, k->family->var);
            if (tells_order(k, body))
                return false;
        }
    return read;
}

/* Whether all elements of a group have the same prior, apart from each other.
 */
static bool are_alike(const struct unordered *k)
{
    struct compiler *c = k->c;
    const struct family *f = k->family;
    symp all[FACTOR_EXPRESSIONS];
    const int n = model_factor_expressions(f->factor, all);
    symp own = sym_ref(c, f->var, f->var->ndim, f->lower);
    for (int i = 0; i < n; i++) {
        symp rest = sym_replace(c, all[i], own, sym_target(c));
        if (sym_has_var(rest, f->var) || sym_has_loop(rest, k->along))
            return false;
    }
    return true;
}

static bool is_plate(struct compiler *c, const struct model *m,
                     const struct family *f)
{
    const struct var *v = f->var;
    return f->stochastic && v->families == f && !f->next_of_var &&
           f->nloops > 0 && !f->affine && !f->data_block && !f->sequence &&
           sampler_are_numbers(v) && sampler_is_free(m, f) &&
           family_plain(c, f);
}

static void add_step(struct unordered *k)
{
    struct compiler *c = k->c;
    struct step *s = NEW(c, struct step);
    s->own = k;
    s->model = k->m;
    s->sampler = &sampler_unordered;
    s->family = k->family;
    s->through = true; /* what is kept of them stays as it is */
    s->name = intern_format(c, "shuffle_%s", family_id(c, k->family));
    s->block.members[s->block.n].family = k->family;
    s->block.members[s->block.n++].count = sym_num(c, 1);
    struct step *last = sampler_step_of(k->m, k->family);
    s->next = last->next;
    last->next = s;
}

void sampler_find_unordered(struct compiler *c, struct model *m)
{
    for (struct family *f = m->families; f; f = f->next)
        for (int d = 0; is_plate(c, m, f) && d < f->var->ndim; d++) {
            symp offset;
            struct unordered try = {c, m, f, d, NULL};
            try.along = sym_plain_loop(c, f->lower[d], &offset);
            if (!try.along || !are_alike(&try) || !are_read_so(&try))
                continue;
            struct unordered *k = NEW(c, struct unordered);
            *k = try;
            add_step(k);
            break;
        }
}

/* ---- the sampler -----------------------------------------------------------
 */

static void phases(struct compiler *c, struct step *s)
{
    struct phase *p =
        sweep_add_phase(c, s, PHASE_MAP, "elements change places");
    p->random = true;
    p->drawn = sym_num(c, 1);
    p->rows = s->family;
    phase_writes(c, p, s->family);
}

static const char *why(struct compiler *c, const struct step *s)
{
    const struct unordered *k = unordered_of(s);
    return intern_format(
        c,
        "its elements along %s are put into an order drawn at random: they "
        "have the same prior, and nothing that reads them tells one order from "
        "another, so that each would keep its place for long",
        k->along->name);
}

/* The element of the group at subscript `at` of the loop. */
static symp element_at(const struct unordered *k, symp at)
{
    const struct family *f = k->family;
    symp args[MAX_DIMS];
    for (int d = 0; d < f->var->ndim; d++)
        args[d] = sym_replace_loop(k->c, f->lower[d], k->along, at);
    return sym_ref(k->c, f->var, f->var->ndim, args);
}

/* The first element of a group moves all; none where one is data. */
static void emit(struct compiler *c, struct text *out, struct step *s)
{
    const struct unordered *k = unordered_of(s);
    const struct loop *l = k->along;
    struct emitter e = emitter_new(c, out);
    symp at = sym_param(c, intern(c, "at_")),
         other = sym_param(c, intern(c, "other_"));
    symp cell = element_at(k, at);
    sampler_emit_group_comment(c, out, s, "Elements change places");
    emit_open_update(out, s);
    emit_decode(&e, s->family, "element");
    emit_param(&e, "at_", "at_");
    emit_param(&e, "other_", "other_");
    emit_line(&e, "const int least = %s, most = %s;", emit_int(&e, l->lower),
              emit_int(&e, l->upper));
    emit_line(&e, "bool held = %s != least;", emit_loop_of(&e, l));
    emit_line(&e, "for (int at_ = least; !held && at_ <= most; at_++)");
    emit_line(&e, "    held = %s;",
              emit_expr(&e, sym_seen(c, cell->var, cell->nargs, cell->args)));
    emit_line(&e, "if (held || team->lane != 0)");
    emit_line(&e, "    return;");
    emit_line(&e, "for (int at_ = most; at_ > least; at_--) {");
    e.indent++;
    emit_line(&e, "const int other_ = least + gbm_relabel_any(rng, at_ - least "
                  "+ 1);");
    emit_line(&e, "const real value = %s;", emit_expr(&e, cell));
    const char *to = emit_expr(&e, element_at(k, other));
    emit_line(&e, "%s = %s;", emit_expr(&e, cell), to);
    emit_line(&e, "%s = value;", to);
    emit_close(&e, 1);
    text_append(out, "}\n\n");
}

const struct sampler sampler_unordered = {
    .beside = true,
    .name = "elements change places",
    .closed = true,
    .headers = {"relabel.h"},
    .why = why,
    .phases = phases,
    .emit = emit,
};
