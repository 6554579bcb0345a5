/* split.c: components of a mixture split and join. Rows go from one component
 * to another a row at a time, so a chain with two populations in one component,
 * or one in two, stays there: what lies between is unlikely. Here all rows of a
 * component are dealt out to it and to an empty one at once, or the rows of two
 * go to one, by the algorithm of Jain and Neal (2007), Splitting and merging
 * components of a nonconjugate Dirichlet process mixture model, Bayesian
 * Analysis 2, with the labels of a finite mixture.
 *
 * A component is chosen at random, and a row of it; then either another row of
 * it, which begins an empty component, any as likely, or another component and
 * a row of that, which joins the first one and becomes empty: so small
 * components come up as often as large ones. What a component has is
 * drawn from its full conditionals, one behind another, given rows that stand
 * as a few such scans left them ("launch state"), and then the rows are dealt
 * by their densities. The launch states know nothing of what the components
 * have but which rows are theirs together, so that they cancel; what is left is
 * the densities of these draws, of the rows' labels, of the priors, and, with
 * the pieces of the stick integrated out (relabel.c), of the labels. A row's
 * density and the probability of its label together are what it has under both
 * components, whatever its label: hardly a row says no by accident.
 *
 * An empty component has its prior, and as this is drawn anew it is as if
 * integrated out.
 *
 * Requires full conditionals of families whose draws tell their log density
 * (proposal.c). */
#include "sampler/proposal.h"
#include "sampler/relabel.h"

enum { MOST_DRAWN = 8 };

struct split {
    struct step *drawn[MOST_DRAWN]; /* in the order of the sweep */
    int n;
    struct part *rows; /* what a row tells of its label */
};

/* ---- which -----------------------------------------------------------------
 */

/* Whether all that s draws is of components, a component's by the loop that
 * runs through these. */
static bool draws_components(const struct relabel *k, const struct step *s)
{
    bool all = sampler_component_cells(&k->has, s->family->var) != NULL;
    for (int i = 0; i < s->block.n; i++)
        all = all &&
              sampler_component_cells(&k->has, s->block.members[i].family->var);
    return all && family_rectangular(s->family);
}

static bool is_known(const struct split *split, const struct step *s)
{
    for (int i = 0; i < split->n; i++)
        if (split->drawn[i]->family == s->family)
            return true;
    return false;
}

/* The steps that draw what components have, as proposals. */
static bool find_drawn(const struct relabel *k, struct split *split)
{
    struct compiler *c = k->c;
    for (struct step *s = k->m->steps; s; s = s->next) {
        bool draws = false;
        for (int i = 0; i < k->has.n; i++)
            draws = draws || sampler_step_draws(s, k->has.cells[i].family);
        if (!draws || is_known(split, s))
            continue;
        if (split->n == MOST_DRAWN || !sampler_has_proposal(s) ||
            !draws_components(k, s))
            return false;
        struct step *to = sampler_proposal_of(
            c, s, intern_format(c, "split_%s", family_id(c, s->family)));
        if (!to)
            return false;
        split->drawn[split->n++] = to;
    }
    return split->n > 0;
}

struct split *sampler_find_split(const struct relabel *k)
{
    struct split *split = NEW(k->c, struct split);
    if (!find_drawn(k, split))
        return NULL;
    split->rows = sampler_proposal_rows(k->c, k->labels);
    return split->rows ? split : NULL;
}

/* ---- what components have --------------------------------------------------
 */

/* Opens loops over the elements of f that component k_ has; `element` is an
 * element's number. */
static int open_elements(struct emitter *e, const struct relabel *k,
                         const struct family *f)
{
    struct compiler *c = e->c;
    const struct of_component *v = sampler_component_cells(&k->has, f->var);
    const char *number = NULL;
    int braces = 0;
    for (int i = 0; i < f->nloops; i++) {
        const struct loop *l = f->loops[i];
        const char *lower = emit_int(e, l->lower);
        const char *length = emit_int(e, sym_length(c, l->lower, l->upper));
        const char *at = intern_format(c, "(k_ - (%s))", lower);
        if (l != f->lower[v->dim]->loop) {
            at = emit_name(e, "at");
            emit_line(e, "for (int %s = 0; %s < %s; %s++) {", at, at, length,
                      at);
            e->indent++;
            braces++;
        }
        number = number
                     ? intern_format(c, "(%s) * (%s) + %s", number, length, at)
                     : at;
    }
    emit_line(e, "const long long element = %s;", number);
    return braces;
}

static void open(struct text *out, const char *type, const char *what,
                 const struct step *s, const char *parameters)
{
    text_printf(out,
                "GBM_FN_BIG %s %s_%s(const struct state *s, const struct "
                "gbm_team *team%s)\n{\n",
                type, what, s->name, parameters);
}

/* What is kept of component k_, in the order of the families, where what they
 * are of is known. */
static void emit_derived(struct compiler *c, struct text *out,
                         const struct step *s, const struct relabel *k)
{
    struct emitter e = emitter_new(c, out);
    open(out, "void", "derived", s, ", int k_");
    emit_line(&e, "gbm_team_sync(team);");
    for (struct family *f = k->m->families; f; f = f->next) {
        if (f->stochastic || !sampler_component_cells(&k->has, f->var))
            continue;
        emit_line(&e, "{");
        e.indent++;
        const int braces = open_elements(&e, k, f);
        emit_line(&e, "derive_%s(s, team, element);", family_id(c, f));
        emit_close(&e, braces + 1);
    }
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n\n");
}

/* A draw of component k_ from its prior; the log density of this. */
static void emit_prior(struct compiler *c, struct text *out,
                       const struct step *s, const struct relabel *k, bool draw)
{
    struct emitter e = emitter_new(c, out);
    open(out, draw ? "void" : "real", draw ? "anew" : "prior", s,
         draw ? ", struct gbm_rng *rng, int k_" : ", int k_");
    if (!draw)
        emit_line(&e, "gbm_total total = 0;");
    for (struct family *f = k->m->families; f; f = f->next) {
        if (!f->stochastic || !sampler_component_cells(&k->has, f->var))
            continue;
        emit_line(&e, "{");
        e.indent++;
        const int braces = open_elements(&e, k, f);
        emit_line(&e,
                  draw ? "simulate_%s(s, rng, element);"
                       : "total += logdensity_%s(s, element);",
                  family_id(c, f));
        emit_close(&e, braces);
        if (draw)
            emit_line(&e, "derived_%s(s, team, k_);", s->name);
        emit_close(&e, 1);
    }
    text_append(out, draw ? "}\n\n" : "    return (real)total;\n}\n\n");
}

/* What component k_ has is drawn, each from its full conditional, or is what
 * stands in `from`; the log density of that. */
static void emit_theta(struct compiler *c, struct text *out,
                       const struct step *s, const struct relabel *k)
{
    const struct split *split = k->split;
    struct emitter e = emitter_new(c, out);
    open(out, "real", "theta", s,
         ", struct gbm_rng *rng, int k_, const real *from");
    emit_line(&e, "gbm_total total = 0;");
    for (int i = 0; i < split->n; i++) {
        const struct step *d = split->drawn[i];
        emit_line(&e, "{");
        e.indent++;
        const int braces = open_elements(&e, k, d->family);
        emit_line(&e, "total += propose_%s(s, rng, team, element, from);",
                  d->name);
        emit_line(&e, "if (from)");
        emit_line(&e, "    from += keep_%s(s, element, NULL);", d->name);
        emit_line(&e, "derived_%s(s, team, k_);", s->name);
        emit_close(&e, braces + 1);
    }
    text_append(out, "    return (real)total;\n}\n\n");
}

/* What component k_ has is written to `to`; the end of it. Or is as it stands
 * in `from`. */
static void emit_keep(struct compiler *c, struct text *out,
                      const struct step *s, const struct relabel *k)
{
    const struct split *split = k->split;
    struct emitter e = emitter_new(c, out);
    open(out, "real *", "keep", s, ", int k_, real *to");
    for (int i = 0; i < split->n; i++) {
        const struct step *d = split->drawn[i];
        emit_line(&e, "{");
        e.indent++;
        const int braces = open_elements(&e, k, d->family);
        emit_line(&e, "to += keep_%s(s, element, to);", d->name);
        emit_close(&e, braces + 1);
    }
    text_append(out, "    return to;\n}\n\n");
}

/* ---- rows ------------------------------------------------------------------
 */

/* The log density of all that tells the label of row number `element`, which it
 * has, but for the labels' own. */
static void emit_fit(struct compiler *c, struct text *out, const struct step *s,
                     const struct relabel *k)
{
    struct emitter e = emitter_new(c, out);
    text_printf(
        out,
        "GBM_FN_BIG real fit_%s(const struct state *s, long long element)\n"
        "{\n    const struct gbm_team alone = {0, 1}, *const team = "
        "&alone;\n",
        s->name);
    emit_decode(&e, s->family, "element");
    emit_cell_if_needed(&e, k->labels);
    emit_line(&e, "gbm_total total = 0;");
    for (const struct part *p = k->split->rows; p; p = p->next)
        emit_in_place(&e, p);
    text_append(out, "    return (real)total;\n}\n\n");
}

/* Opens a loop over rows, shared out among lanes: `row` is a row's number, *z
 * its label. */
static int open_rows(struct emitter *e, const struct step *s, const char **z)
{
    struct compiler *c = e->c;
    const struct family *f = s->family;
    const int braces = emit_open_part(e, s->parts, true);
    *z = emit_expr(e, sym_ref(c, f->var, 1, f->lower));
    emit_line(
        e, "const int row = %s;",
        emit_int(e, sym_sub(c, sym_loop(c, f->loops[0]), f->loops[0]->lower)));
    return braces;
}

/* Rows of a_ and b_, and those that have no label, get one; `before` is kept of
 * them where `to` is not NULL. */
static void emit_put(struct compiler *c, struct text *out, const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    const char *z;
    text_printf(out, "/* Rows of both go to a_, or but rows i_ and j_, which "
                     "begin a_ and b_, to none. */\n");
    open(out, "void", "gather", s, ", int a_, int b_, int i_, int j_");
    emit_line(&e, "gbm_team_sync(team);");
    int braces = open_rows(&e, s, &z);
    emit_line(&e, "if (%s == a_ || %s == b_ || %s == 0)", z, z, z);
    emit_line(&e, "    %s = i_ < 0 || row == i_ ? a_ : row == j_ ? b_ : 0;", z);
    emit_close(&e, braces);
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n\n");

    e = emitter_new(c, out);
    text_printf(out, "/* The labels of their rows are written to `kept`, or "
                     "put back. */\n");
    open(out, "void", "labels", s, ", int a_, int b_, real *kept, bool back");
    emit_line(&e, "gbm_team_sync(team);");
    braces = open_rows(&e, s, &z);
    emit_line(&e, "if (%s == a_ || %s == b_) {", z, z);
    emit_line(&e, "    if (back)");
    emit_line(&e, "        %s = (int)kept[row];", z);
    emit_line(&e, "    else");
    emit_line(&e, "        kept[row] = (real)%s;", z);
    emit_line(&e, "}");
    emit_close(&e, braces);
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "}\n\n");
}

/* One of the rows of component k_ but row `not_`, each as likely. */
static void emit_any(struct compiler *c, struct text *out, const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    const char *z;
    open(out, "int", "any", s, ", struct gbm_rng *rng, int k_, int not_");
    emit_line(&e, "const uint64_t key = gbm_split_key(rng);");
    emit_line(&e, "struct gbm_split_row best = {0, -1};");
    const int braces = open_rows(&e, s, &z);
    emit_line(&e, "if (%s == k_ && row != not_)", z);
    emit_line(&e, "    gbm_split_offer(&best, key, row);");
    emit_close(&e, braces);
    text_append(out, "    return gbm_split_best(team, &best);\n}\n\n");
}

/* The log density of the rows of component k_. */
static void emit_sum(struct compiler *c, struct text *out, const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    const char *z;
    open(out, "real", "sum", s, ", int k_");
    emit_line(&e, "gbm_total total = 0;");
    const int braces = open_rows(&e, s, &z);
    emit_line(&e, "if (%s == k_)", z);
    emit_line(&e, "    total += fit_%s(s, row);", s->name);
    emit_close(&e, braces);
    text_append(out, "    return (real)gbm_team_sum(team, total);\n}\n\n");
}

static void emit_deal(struct compiler *c, struct text *out,
                      const struct step *s)
{
    struct emitter e = emitter_new(c, out);
    const char *z;
    text_printf(out,
                "/* Rows of both are dealt to them by their densities and the "
                "log odds of b_, or as\n * `from` has it, but for rows i_ and "
                "j_. Returns their log density less that of\n * their labels; "
                "*second: how many b_ gets. */\n");
    open(out, "real", "deal", s,
         ", const struct gbm_rng *rng,\n    int a_, int b_, int i_, int j_, "
         "real odds, int turn, const real *from, real *second");
    emit_line(&e, "const real log_b = -gbm_log_add(0, -odds), log_a = "
                  "log_b - odds;");
    emit_line(&e, "gbm_total total = 0, n = 0;");
    emit_line(&e, "gbm_team_sync(team);");
    const int braces = open_rows(&e, s, &z);
    emit_line(&e, "if (%s == a_ || %s == b_ || %s == 0) {", z, z, z);
    e.indent++;
    emit_line(&e, "%s = a_;", z);
    emit_line(&e, "const real at_a = fit_%s(s, row);", s->name);
    emit_line(&e, "%s = b_;", z);
    emit_line(&e, "const real at_b = fit_%s(s, row);", s->name);
    emit_line(&e, "const bool begins = row == i_ || row == j_;");
    emit_line(&e, "const bool is_b = begins ? row == j_");
    emit_line(&e, "    : from ? (int)from[row] == b_");
    emit_line(&e, "    : gbm_split_second(rng, row, turn, at_b - at_a + "
                  "odds);");
    emit_line(&e, "%s = is_b ? b_ : a_;", z);
    emit_line(&e, "n += is_b;");
    emit_line(&e, "total += begins ? (is_b ? at_b : at_a)");
    emit_line(&e, "    : gbm_log_add(at_a + log_a, at_b + log_b) - (is_b "
                  "? log_b : log_a);");
    emit_close(&e, 1 + braces);
    emit_line(&e, "*second = (real)gbm_team_sum(team, n);");
    emit_line(&e, "gbm_team_sync(team);");
    text_append(out, "    return (real)gbm_team_sum(team, total);\n}\n\n");
}

/* ---- the move --------------------------------------------------------------
 */

/* What states before the proposals are: all rows in one component; two
 * components, of which the log odds of the second one are returned. */
static void emit_launch(struct text *out, const struct step *s)
{
    const char *n = s->name;
    open(out, "void", "one", s, ", struct gbm_rng *rng, int a_, int b_");
    text_printf(out,
                "    gather_%s(s, team, a_, b_, -1, -1);\n"
                "    anew_%s(s, team, rng, a_);\n"
                "    for (int i = 0; i < GBM_SPLIT_SCANS; i++)\n"
                "        theta_%s(s, team, rng, a_, NULL);\n"
                "}\n\n",
                n, n, n);
    open(out, "real", "two", s,
         ", struct gbm_rng *rng, int rows,\n    int a_, int b_, int i_, int "
         "j_, int turn");
    text_printf(out,
                "    real odds = 0, second;\n"
                "    gather_%s(s, team, a_, b_, i_, j_);\n"
                "    anew_%s(s, team, rng, a_);\n"
                "    anew_%s(s, team, rng, b_);\n"
                "    for (int i = 0; i < GBM_SPLIT_SCANS; i++) {\n"
                "        theta_%s(s, team, rng, a_, NULL);\n"
                "        theta_%s(s, team, rng, b_, NULL);\n"
                "        deal_%s(s, team, rng, a_, b_, i_, j_, odds, turn + i, "
                "NULL, &second);\n"
                "        odds = real_log((second + 1) / ((real)rows - second + "
                "1));\n"
                "    }\n"
                "    return odds;\n"
                "}\n\n",
                n, n, n, n, n, n);
}

/* The log of what a split, or a join, is accepted with. */
static void emit_proposals(struct text *out, const struct step *s)
{
    const char *n = s->name;
    open(out, "real", "divide", s,
         ", struct gbm_rng *rng, int rows,\n    int a_, int b_, int i_, int "
         "j_, int turn, const real *kept_a, real *second");
    text_printf(
        out,
        "    one_%s(s, team, rng, a_, b_);\n"
        "    real total = theta_%s(s, team, rng, a_, kept_a);\n"
        "    total -= prior_%s(s, team, a_) + sum_%s(s, team, a_);\n"
        "    const real odds = two_%s(s, team, rng, rows, a_, b_, i_, j_, "
        "turn);\n"
        "    total -= theta_%s(s, team, rng, a_, NULL);\n"
        "    total -= theta_%s(s, team, rng, b_, NULL);\n"
        "    total += prior_%s(s, team, a_) + prior_%s(s, team, b_);\n"
        "    total += deal_%s(s, team, rng, a_, b_, i_, j_, odds, turn + "
        "GBM_SPLIT_SCANS, NULL, second);\n"
        "    return total + gain_%s(s, team, b_, a_, *second);\n"
        "}\n\n",
        n, n, n, n, n, n, n, n, n, n, n);
    open(out, "real", "join", s,
         ", struct gbm_rng *rng, int rows,\n    int a_, int b_, int i_, int "
         "j_, int turn, const real *kept, const real *kept_a, const real "
         "*kept_b");
    text_printf(
        out,
        "    real second;\n"
        "    const real odds = two_%s(s, team, rng, rows, a_, b_, i_, j_, "
        "turn);\n"
        "    real total = theta_%s(s, team, rng, a_, kept_a);\n"
        "    total += theta_%s(s, team, rng, b_, kept_b);\n"
        "    total -= prior_%s(s, team, a_) + prior_%s(s, team, b_);\n"
        "    total -= deal_%s(s, team, rng, a_, b_, i_, j_, odds, turn, kept, "
        "&second);\n"
        "    one_%s(s, team, rng, a_, b_);\n"
        "    total -= theta_%s(s, team, rng, a_, NULL);\n"
        "    total += prior_%s(s, team, a_) + sum_%s(s, team, a_);\n"
        "    anew_%s(s, team, rng, b_);\n"
        "    return total + gain_%s(s, team, a_, b_, second);\n"
        "}\n\n",
        n, n, n, n, n, n, n, n, n, n, n, n);
}

/* Which label, number `number` of those that have rows, or have none. */
static void emit_nth(struct compiler *c, struct text *out, const struct step *s,
                     const struct relabel *k)
{
    struct emitter e = emitter_new(c, out);
    emit_param(&e, "r_", "r_");
    const char *count = sampler_count_at(&e, k, "r_");
    open(out, "int", "count", s, "");
    emit_line(&e, "int n = 0;");
    emit_line(&e, "for (int r_ = 1; r_ <= %s; r_++)",
              emit_int(&e, k->labels->support.upper));
    emit_line(&e, "    n += %s > 0;", count);
    text_append(out, "    return n;\n}\n\n");
    e = emitter_new(c, out);
    emit_param(&e, "r_", "r_");
    open(out, "int", "nth", s, ", int number, bool occupied, int not_");
    emit_line(&e, "int found = 0;");
    emit_line(&e, "for (int r_ = 1; r_ <= %s; r_++)",
              emit_int(&e, k->labels->support.upper));
    emit_line(&e,
              "    if ((%s > 0) == occupied && r_ != not_ && number-- == 0)",
              count);
    emit_line(&e, "        found = r_;");
    text_append(out, "    return found;\n}\n\n");
}

/* A component that is divided, or two that join, and a row of either. */
static void emit_choice(struct emitter *e, const struct step *s,
                        const struct relabel *k)
{
    const char *n = s->name;
    emit_param(e, "a_", "a_");
    emit_param(e, "b_", "b_");
    emit_line(e, "const real u = gbm_uniform(rng);");
    emit_line(e, "const bool divides = gbm_uniform(rng) < REAL_C(0.5);");
    emit_line(e,
              "const int occupied = count_%s(s, team), empty = %s - "
              "occupied;",
              n, emit_int(e, k->labels->support.upper));
    emit_line(e, "if (occupied < (divides ? 1 : 2) || (divides && empty == "
                 "0))");
    emit_line(e, "    return;");
    emit_line(e,
              "const int a_ = nth_%s(s, team, gbm_relabel_any(rng, occupied), "
              "true, 0);",
              n);
    emit_line(e, "if (divides && %s < 2)", sampler_count_at(e, k, "a_"));
    emit_line(e, "    return;");
    emit_line(e,
              "const int b_ = nth_%s(s, team, gbm_relabel_any(rng, divides ? "
              "empty : occupied - 1), !divides, a_);",
              n);
    emit_line(e, "const int i_ = any_%s(s, team, rng, a_, -1);", n);
    emit_line(e, "const int j_ = any_%s(s, team, rng, divides ? a_ : b_, i_);",
              n);
    emit_line(e, "const real before_b = %s;", sampler_count_at(e, k, "b_"));
    emit_line(e, "const int rows = (int)(%s + before_b);",
              sampler_count_at(e, k, "a_"));
}

static void emit_move(struct compiler *c, struct text *out,
                      const struct step *s, const struct relabel *k)
{
    struct emitter e = emitter_new(c, out);
    const char *n = s->name;
    const struct loop *l = s->family->loops[0];
    open(out, "void", "split", s, ", struct gbm_rng *rng, int t");
    emit_choice(&e, s, k);
    emit_line(&e, "real *const kept = s->%s, *const kept_a = kept + %s;",
              s->slots->member,
              emit_int(&e, sym_length(c, l->lower, l->upper)));
    emit_line(&e, "real *const kept_b = keep_%s(s, team, a_, kept_a);", n);
    emit_line(&e, "keep_%s(s, team, b_, kept_b);", n);
    emit_line(&e, "labels_%s(s, team, a_, b_, kept, false);", n);
    emit_line(&e, "const int turn = t * (GBM_SPLIT_SCANS + 1);");
    emit_line(&e, "real second = before_b, ratio;");
    emit_line(&e, "if (divides)");
    emit_line(&e,
              "    ratio = divide_%s(s, team, rng, rows, a_, b_, i_, j_, turn, "
              "kept_a, &second) + gbm_split_choice(rows, second, occupied + 1, "
              "empty);",
              n);
    emit_line(&e, "else");
    emit_line(&e,
              "    ratio = join_%s(s, team, rng, rows, a_, b_, i_, j_, turn, "
              "kept, kept_a, kept_b) - gbm_split_choice(rows, second, "
              "occupied, empty + 1);",
              n);
    emit_line(&e, "if (real_log(u) < ratio) {");
    emit_line(&e,
              "    recount_%s(s, team, b_, a_, divides ? second : -before_b);",
              n);
    emit_line(&e, "    return;");
    emit_line(&e, "}");
    emit_line(&e, "labels_%s(s, team, a_, b_, kept, true);", n);
    emit_line(&e, "theta_%s(s, team, rng, a_, kept_a);", n);
    emit_line(&e, "theta_%s(s, team, rng, b_, kept_b);", n);
    text_append(out, "}\n\n");
}

void sampler_emit_split(struct compiler *c, struct text *out,
                        const struct step *s, const struct relabel *k)
{
    text_printf(out, "/* ---- components split and join ---- */\n\n");
    for (int i = 0; i < k->split->n; i++)
        sampler_emit_proposal(c, out, k->split->drawn[i]);
    emit_derived(c, out, s, k);
    emit_prior(c, out, s, k, true);
    emit_prior(c, out, s, k, false);
    emit_theta(c, out, s, k);
    emit_keep(c, out, s, k);
    emit_fit(c, out, s, k);
    emit_put(c, out, s);
    emit_any(c, out, s);
    emit_nth(c, out, s, k);
    emit_sum(c, out, s);
    emit_deal(c, out, s);
    emit_launch(out, s);
    emit_proposals(out, s);
    emit_move(c, out, s, k);
}
