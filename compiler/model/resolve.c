/* resolve.c: from the tree to a model: variables with roles, families with
 * their loops, factors with their log densities.
 *
 * Requires a parsed program. Leaves every name bound, every statement scalar
 * (vectorised statements have got loops) or a slice whose distribution or
 * function is one of arrays, distributions replaced by their canonical
 * parametrisation. */
#include "model/resolve.h"
#include <math.h>
#include <string.h>

/* ---- roles -------------------------------------------------------------- */

/* Marks what a subscript or the end of a range reads: such data are integers,
 * but for those that it rounds, or compares (`compared`). */
static void mark_index(symp e, bool compared)
{
    if (e->kind == SYM_REF) {
        e->var->indexes = true;
        e->var->counts = e->var->counts || !compared;
    }
    if (e->kind == SYM_CALL && e->entry && entry_clause(e->entry, "flat"))
        return;
    compared = compared || (e->kind == SYM_CALL && model_is_integer(e));
    for (int i = 0; i < e->nargs; i++)
        mark_index(e->args[i], compared);
}

static bool mark_indices(symp e, const void *unused)
{
    (void)unused;
    int n = e->kind == SYM_REF ? e->nargs : e->kind == SYM_SUM ? 2 : 0;
    for (int i = 0; i < n; i++)
        mark_index(e->args[i], false);
    return false;
}

static bool is_integer_distribution(const struct entry *d)
{
    const struct expr *support = entry_value(d, "support");
    return support && (!strcmp(support->name, "integer") ||
                       !strcmp(support->name, "counts"));
}

bool model_draws_integers(const struct family *f)
{
    /* an added node has the distribution of what it was added to */
    return f->var->integer || (f->stochastic && !f->auxiliary &&
                               is_integer_distribution(f->distribution));
}

static bool positive_support(const struct family *f)
{
    const struct expr *support = entry_value(f->distribution, "support");
    if (!support || strcmp(support->name, "real") != 0 || support->nargs != 2)
        return support && !strcmp(support->name, "simplex");
    const struct expr *low = support->args[0];
    if (low->kind == EXPR_NUM && low->number >= 0)
        return true;
    if (f->trunc_lower && f->trunc_lower->kind == SYM_NUM &&
        f->trunc_lower->number >= 0)
        return true;
    if (low->kind == EXPR_NAME) /* dunif(0, b) */
        for (int i = 0; i < f->nargs; i++)
            if (f->distribution->parameters[i].name == low->name &&
                f->args[i].body->kind == SYM_NUM &&
                f->args[i].body->number >= 0)
                return true;
    return false;
}

/* Whether no value is above 1. */
static bool at_most_one(const struct family *f)
{
    const struct expr *support = entry_value(f->distribution, "support");
    if (!support || strcmp(support->name, "real") != 0 || support->nargs != 2)
        return support && !strcmp(support->name, "simplex");
    const struct expr *high = support->args[1];
    if (high->kind == EXPR_NUM && high->number <= 1)
        return true;
    for (int i = 0; high->kind == EXPR_NAME && i < f->nargs; i++)
        if (f->distribution->parameters[i].name == high->name &&
            f->args[i].body->kind == SYM_NUM && f->args[i].body->number <= 1)
            return true; /* dunif(a, 1) */
    return f->trunc_upper && f->trunc_upper->kind == SYM_NUM &&
           f->trunc_upper->number <= 1;
}

static bool number_in(const struct family *f, double above, double most)
{
    return !f->stochastic && f->body && f->body->kind == SYM_NUM &&
           f->body->number > above && f->body->number <= most;
}

/* What is derived from given variables alone: a fixed point. */
static void find_constants(struct model *m)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (struct var *v = m->vars; v; v = v->next) {
            if (v->role != ROLE_DERIVED)
                continue;
            bool constant = true;
            for (struct family *f = v->families; f; f = f->next_of_var) {
                enum role own = v->role;
                v->role = ROLE_CONSTANT; /* reading itself does not count */
                constant =
                    constant && (f->data_block ||
                                 !family_any(f, sym_is_latent, NULL, true));
                v->role = own;
            }
            if (constant) {
                v->role = ROLE_CONSTANT;
                changed = true;
            }
        }
    }
}

/* Whether a statement computes what may lie between whole numbers, beside
 * counts of the same array. */
static bool computes_between(const struct var *v)
{
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (!f->stochastic && !(f->body && model_is_whole(f->body)))
            return true;
    return false;
}

/* What all statements of v say together of its values. */
static void settle_variable(struct compiler *c, struct var *v)
{
    if (v->ndim == -1)
        v->ndim = 0;
    bool data_only = v->families != NULL, positive = v->families != NULL;
    bool most_one = v->families != NULL, drawn = false;
    bool continuous = false;
    for (struct family *f = v->families; f; f = f->next_of_var) {
        data_only = data_only && f->data_block;
        positive = positive && (f->stochastic ? positive_support(f)
                                              : number_in(f, 0, INFINITY));
        drawn = drawn || f->stochastic;
        most_one = most_one && (f->stochastic ? at_most_one(f)
                                              : number_in(f, -INFINITY, 1));
        if (f->stochastic && is_integer_distribution(f->distribution))
            v->integer = true;
        continuous = continuous || (f->stochastic &&
                                    !is_integer_distribution(f->distribution));
    }
    /* columns of both kinds are real numbers */
    v->integer = v->integer && !continuous && !computes_between(v);
    v->positive = positive && drawn;
    v->most_one = most_one && drawn;
    if (data_only)
        v->role = ROLE_CONSTANT;
    if (v->declared_given && v->families)
        error_at(c, v->families->span,
                 "%s is declared given, so it cannot be defined here", v->name);
}

/* Subscripts are whole numbers whatever the state. */
static bool reads_between_cells(symp e, const void *unused)
{
    (void)unused;
    for (int i = 0; e->kind == SYM_REF && i < e->nargs; i++)
        if (model_is_continuous(e->args[i]))
            return true;
    return false;
}

static void check_subscripts(struct compiler *c, const struct family *f)
{
    if (family_any(f, reads_between_cells, NULL, true))
        error_at(c, f->span,
                 "a subscript is a random variable that is continuous: "
                 "trunc(x) or round(x) makes a whole number of it");
}

/* The variables that a family's subscripts, loops and ranges read. */
static void mark_indices_of(struct family *f)
{
    family_any(f, mark_indices, NULL, true);
    for (int i = 0; i < f->nloops; i++) {
        mark_index(f->loops[i]->lower, false);
        mark_index(f->loops[i]->upper, false);
    }
    for (int d = 0; d < f->var->ndim; d++) {
        mark_index(f->lower[d], false);
        if (f->upper[d])
            mark_index(f->upper[d], false);
    }
}

void model_settle_roles(struct compiler *c, struct model *m)
{
    for (struct family *f = m->families; f; f = f->next)
        f->recursive =
            !f->stochastic && family_any(f, sym_reads_var, f->var, false);
    find_constants(m);
    for (struct family *f = m->families; f; f = f->next)
        mark_indices_of(f);
    for (struct var *v = m->vars; v; v = v->next)
        if (v->counts && v->role == ROLE_GIVEN)
            v->integer = true;
    for (struct var *v = m->vars; v; v = v->next)
        settle_variable(c, v);
    for (struct family *f = m->families; f; f = f->next)
        check_subscripts(c, f);
    for (struct var *v = m->vars; v; v = v->next) {
        for (struct family *f = m->families; f; f = f->next)
            v->used =
                v->used || family_any(f, sym_reads_var_or_extent, v, true);
    }
    for (struct family *f = m->families; f; f = f->next)
        f->constant =
            !f->stochastic && !family_any(f, sym_is_latent, NULL, true);
}

/* What a factor reads, itself or through derived nodes kept in memory. */
struct reading {
    const struct var *but; /* its own node, where that does not count */
    int walk;              /* its number: a definition is looked into once */
    bool inside;           /* a definition */
};
static bool read_node(symp e, const void *reading);

static void read_definitions(struct var *v, const struct reading *r)
{
    if (v->walk == r->walk)
        return;
    v->walk = r->walk;
    const struct reading inner = {r->but, r->walk, true};
    for (const struct family *f = v->families; f; f = f->next_of_var)
        if (!f->stochastic && f->body)
            (void)sym_any(f->body, read_node, &inner);
}

/* A test for sym_any that fails: what is read is no leaf. */
static bool read_node(symp e, const void *reading)
{
    const struct reading *r = reading;
    if (e->kind != SYM_REF)
        return false;
    if (e->var != r->but)
        e->var->leaf = false;
    if (e->var->role == ROLE_DERIVED || r->inside)
        read_definitions(e->var, r);
    return false;
}

static void read_factor(struct compiler *c, const struct factor *g, int *walk)
{
    const struct family *f = g->family;
    struct reading own = {f->var, ++*walk, false},
                   other = {NULL, ++*walk, false};
    (void)sym_any(g->logp, read_node, &own);
    if (g->lower)
        (void)sym_any(g->lower, read_node, &own);
    if (g->upper)
        (void)sym_any(g->upper, read_node, &own);
    for (int i = 0; i < f->nargs; i++)
        (void)sym_any(model_substitute_derived(c, f->args[i].body), read_node,
                      &other);
    const symp ends[2] = {f->trunc_lower, f->trunc_upper};
    for (int i = 0; i < 2; i++)
        if (ends[i])
            (void)sym_any(model_substitute_derived(c, ends[i]), read_node,
                          &other);
}

symp model_any_seen(struct compiler *c, const struct family *f)
{
    static const char *const names[2] = {"a", "b"};
    symp at[2] = {sym_num(c, 1), sym_num(c, 1)};
    struct loop *loops[2] = {NULL, NULL};
    for (int i = 0; i < f->nslices; i++) {
        loops[i] = NEW(c, struct loop);
        loops[i]->name = names[i];
        loops[i]->lower = sym_num(c, 1);
        loops[i]->upper = family_extent(c, f, i);
        at[i] = sym_loop(c, loops[i]);
    }
    symp ref = family_lhs(c, f, 2, at);
    symp seen = sym_seen(c, ref->var, ref->nargs, ref->args);
    if (!f->nslices)
        return seen;
    for (int i = f->nslices - 1; i >= 0; i--)
        seen = sym_sum(c, loops[i], loops[i]->lower, loops[i]->upper, seen);
    return sym_call(c, ">", 2, (symp[]){seen, sym_num(c, 0)});
}

/* A leaf: no other node's density reads it, so it is data, or is drawn forward,
 * which its distribution must tell how; unless samplers { } says how. */
void model_settle_leaves(struct compiler *c, struct model *m)
{
    int walk = 0;
    for (struct var *v = m->vars; v; v = v->next) {
        v->leaf = v->role == ROLE_STOCHASTIC && !model_sampler_asked(m, v);
        /* what is censored tells of its parameters without being seen */
        for (const struct family *f = v->families; f; f = f->next_of_var)
            v->leaf = v->leaf && !f->censored;
    }
    for (const struct factor *g = m->factors; g; g = g->next)
        read_factor(c, g, &walk);
    for (struct var *v = m->vars; v; v = v->next) {
        v->unread = v->leaf;
        for (const struct family *f = v->families; f; f = f->next_of_var)
            v->leaf = v->leaf && (!f->stochastic || model_can_be_drawn(f));
    }
    for (struct factor *g = m->factors; g; g = g->next)
        if (g->family->var->leaf) {
            g->seen_var = g->family->var;
            g->seen_ref = model_any_seen(c, g->family);
        }
}

void model_warn_of_intervals(struct compiler *c, struct model *m)
{
    for (const struct family *f = m->families; f; f = f->next) {
        bool random = false;
        for (int i = 0; f->interval && i < f->nargs; i++)
            random = random || sym_any(f->args[i].body, sym_is_latent, NULL);
        if (random)
            warning_at(c, f->span,
                       "I(,) is read as censoring, as in WinBUGS: the density "
                       "is not divided by the probability of the interval; "
                       "write T(,) for a truncated distribution");
    }
}

void model_simplify_again(struct compiler *c, struct model *m)
{
    for (struct family *f = m->families; f; f = f->next) {
        f->body = f->body ? sym_again(c, f->body) : NULL;
        for (int i = 0; i < f->nargs; i++)
            f->args[i].body = sym_again(c, f->args[i].body);
        f->stated = f->stated ? sym_again(c, f->stated) : NULL;
    }
}

void model_join_rising(struct compiler *c, struct model *m)
{
    for (struct family *f = m->families; f; f = f->next) {
        f->body = sym_join_rising(c, f->body, NULL);
        for (int i = 0; i < f->nargs; i++)
            f->args[i].body = sym_join_rising(c, f->args[i].body, NULL);
        f->stated = sym_join_rising(c, f->stated, NULL);
    }
}

struct model *model_resolve(struct compiler *c, struct program *p)
{
    struct model *m = NEW(c, struct model);
    m->program = p;
    m->last_var = &m->vars;
    m->last_family = &m->families;
    m->last_factor = &m->factors;
    m->last_step = &m->steps;
    m->last_inverse = &m->inverses;
    struct resolver r = {.c = c, .m = m};
    model_settle_dimensions(&r, p);
    model_resolve_declarations(&r, p);
    if (c->nerrors)
        return NULL;
    r.data_block = true;
    model_resolve_stmts(&r, p->data);
    r.data_block = false;
    model_resolve_stmts(&r, p->model);
    return c->nerrors ? NULL : m;
}

void model_make_factors(struct compiler *c, struct model *m)
{
    for (struct family *f = m->families; f; f = f->next)
        if (f->stochastic && !f->data_block)
            family_factor(c, m, f);
}

/* ---- --emit=dag ------------------------------------------------------------
 */

const char *model_role_name(enum role r)
{
    switch (r) {
    case ROLE_GIVEN:
        return "given";
    case ROLE_CONSTANT:
        return "constant";
    case ROLE_STOCHASTIC:
        return "stochastic";
    case ROLE_DERIVED:
        return "derived";
    case ROLE_AUXILIARY:
        return "auxiliary";
    case ROLE_POWER:
        return "power";
    }
    UNREACHABLE();
}

void model_print(struct text *out, struct compiler *c, const struct model *m)
{
    for (const struct var *v = m->vars; v; v = v->next) {
        text_printf(out, "%s %s", model_role_name(v->role), v->name);
        if (v->ndim)
            text_printf(out, ", %d-dimensional", v->ndim);
        if (v->integer)
            text_append(out, ", integer");
        if (v->positive)
            text_append(out, ", positive");
        if (v->leaf)
            text_append(out, ", leaf");
        if (v->stored)
            text_append(out, ", stored");
        text_append(out, "\n");
    }
    for (const struct family *f = m->families; f; f = f->next) {
        text_printf(out, "\nfamily %s", f->text);
        for (int i = 0; i < f->nloops; i++)
            text_printf(out, "\n  for %s in %s : %s", f->loops[i]->name,
                        sym_text(c, f->loops[i]->lower),
                        sym_text(c, f->loops[i]->upper));
        if (f->factor)
            text_printf(out, "\n  log density %s",
                        sym_text(c, f->factor->logp));
        else if (f->body)
            text_printf(out, "\n  value %s", sym_text(c, f->body));
        if (f->factor && f->factor->rule)
            text_printf(out, "\n  if %s", sym_text(c, f->factor->rule));
        text_append(out, "\n");
    }
}
