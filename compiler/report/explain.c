/* explain.c: the plan for a person: a table of the steps, then why each is what
 * it is; and for --emit=plan what lies behind it. Reads the planned model. */
#include "report/report.h"
#include "sampler/group.h"
#include <string.h>

/* ---- Words ---------------------------------------------------------------
 */

enum { COLUMNS = 6, PAGE = 100 };

/* Where the method comes from: the description from the line with a year in
 * brackets on, in one line; "" if it names no source. */
static const char *citation(struct compiler *c, const struct entry *e)
{
    const char *line = e->doc ? e->doc : "";
    while (*line) {
        size_t n = strcspn(line, "\n");
        for (size_t i = 0; i + 5 < n; i++)
            if (line[i] == '(' && (line[i + 1] == '1' || line[i + 1] == '2') &&
                strspn(line + i + 1, "0123456789") == 4 && line[i + 5] == ')') {
                struct text t = {0};
                for (; *line; line++)
                    text_append_n(&t, *line == '\n' ? " " : line, 1);
                while (t.length && strchr(" .", t.data[t.length - 1]))
                    t.data[--t.length] = 0;
                return text_take(c, &t);
            }
        line += n + (line[n] == '\n');
    }
    return "";
}

/* ---- The columns ---------------------------------------------------------
 */

/* "N", "p", "I x J", "1" */
static const char *elements_of(struct compiler *c, const struct family *f)
{
    struct text t = {0};
    if (f->nloops == 1 && !f->nslices)
        return sampler_expression_text(
            c, sym_length(c, f->loops[0]->lower, f->loops[0]->upper));
    for (int i = 0; i < f->nloops; i++)
        text_printf(&t, "%s%s", t.length ? " x " : "",
                    sampler_count_text(c, sym_length(c, f->loops[i]->lower,
                                                     f->loops[i]->upper)));
    for (int i = 0; i < f->nslices; i++)
        text_printf(&t, "%s%s", t.length ? " x " : "",
                    sampler_count_text(c, family_extent(c, f, i)));
    if (!t.length)
        text_append(&t, "1");
    return text_take(c, &t);
}

const char *report_step_elements(struct compiler *c, const struct step *s)
{
    if (s->turn.inverse)
        return "-";
    if (s->block.n < 2)
        return elements_of(c, s->family);
    const char *first = elements_of(c, s->block.members[0].family);
    struct text t = {0};
    bool same = true;
    for (int i = 0; i < s->block.n; i++) {
        const char *e = elements_of(c, s->block.members[i].family);
        same = same && e == first;
        text_printf(&t, "%s%s", i ? " + " : "", e);
    }
    const char *sum = text_take(c, &t);
    if (!same)
        return s->sampler->dense
                   ? sampler_expression_text(c, block_dimension(c, s))
                   : sum;
    return strcmp(first, "1") ? intern_format(c, "%d x %s", s->block.n, first)
                              : intern_format(c, "%d", s->block.n);
}

const char *report_step_variables(struct compiler *c, const struct step *s)
{
    if (s->turn.inverse)
        return sym_text(c, s->turn.inverse->reference);
    if (s->block.n < 2)
        return sampler_family_name(c, s->family);
    struct text t = {0};
    for (int i = 0; i < s->block.n; i++)
        text_printf(&t, "%s%s", i ? ", " : "",
                    sampler_family_name(c, s->block.members[i].family));
    return text_take(c, &t);
}

const char *report_step_sampler(struct compiler *c, const struct step *s)
{
    const struct sampler *k = s->sampler;
    if (!k)
        return s->turn.inverse ? "index rebuilt" : "recomputed";
    return k->explain ? k->explain(c, s) : k->name;
}

const char *report_sampler_word(struct compiler *c, const struct step *s)
{
    if (s->sampler->brief)
        return s->sampler->brief(c, s);
    const char *text = report_step_sampler(c, s),
               *end = strstr(text, " (augmented)");
    return end ? intern_n(c, text, (size_t)(end - text)) : text;
}

static const char *step_parallel(struct compiler *c, const struct step *s)
{
    const struct family *f = s->family;
    if (!f || f->nloops == 0 || s->whole)
        return "-";
    if (s->sampler && s->sampler->parallel)
        return s->sampler->parallel(c, s);
    const char *loops = sampler_loop_names(c, f->loops, f->nloops);
    if (s->order.sequential || (!s->sampler && f->recursive))
        return "one at a time";
    if (s->order.conflicts)
        return intern_format(c, "%s, coloured at load", loops);
    return loops;
}

/* The subscripts through which an inverse index groups: "by g[i]". */
static const char *grouping(struct compiler *c, const struct inverse *i)
{
    struct text t = {0};
    for (int d = 0; d < i->reference->nargs; d++) {
        symp offset, e = i->reference->args[d];
        if (e->kind != SYM_NUM && !sym_plain_loop(c, e, &offset))
            text_printf(&t, "%s%s", t.length ? ", " : "",
                        sampler_expression_text(c, e));
    }
    return text_take(c, &t);
}

/* The sum that a part is, "" if it is a single term. */
const char *report_part_sum(struct compiler *c, const struct part *p)
{
    if (p->own)
        return "";
    if (p->inverse && p->inverse->reach)
        return intern_format(
            c, "%s reached",
            sampler_loop_names(c, p->factor->loops, p->factor->nloops));
    if (p->inverse)
        return intern_format(
            c, "%s by %s",
            sampler_loop_names(c, p->factor->loops, p->factor->nloops),
            grouping(c, p->inverse));
    struct text t = {0};
    for (int i = 0; i < p->nloops; i++)
        if (!p->solved[i])
            text_printf(&t, "%s%s", t.length ? ", " : "", p->loops[i]->name);
    return text_take(c, &t);
}

/* Of sums that need the rows only where some are not observed. */
static const char *at_load(struct compiler *c, const char *over, bool summed)
{
    return summed && *over ? intern_format(c, "%s at load", over) : over;
}

/* ... or are read from tables. */
static const char *where_summed(struct compiler *c, const char *over,
                                const struct part *summed)
{
    return summed && summed->tallied && *over
               ? intern_format(c, "%s in tables", over)
               : at_load(c, over, summed);
}

static const char *row_sum(struct compiler *c, const struct step *s,
                           const struct quadratic *q)
{
    const struct factor *g = q->part->factor;
    const char *over = report_part_sum(c, q->part);
    const char *z = g->auxiliary     ? g->auxiliary->name
                    : g->family->var ? g->family->var->name
                                     : "z";
    const char *what = intern_format(c, "X'%s", z);
    if (!sampler_constant_product(s))
        what = intern_format(c, "%s, %s", q->constant_weight ? "X'X" : "X'WX",
                             what);
    bool once = q->constant_design && q->constant_weight && q->constant_score;
    return *over ? intern_format(c, "%s over %s%s", what, over,
                                 once ? " at load" : "")
                 : what;
}

/* What is computed anew each sweep. */
static const char *joint_sum(struct compiler *c, const struct joint_term *t)
{
    if (t->constant_design && t->constant_weight && t->constant_score)
        return "";
    if (t->vector)
        return "pairs of cells";
    return at_load(c,
                   sampler_loop_names(c, t->factor->loops, t->factor->nloops),
                   sampler_sums_at_load(t));
}

static const char *step_sums(struct compiler *c, const struct step *s)
{
    const char *found[32];
    int n = 0;
    if (!s->sampler)
        return "-";
    for (const struct quadratic *q = s->block.quadratics; q && n < 32;
         q = q->next)
        found[n++] = q->row ? row_sum(c, s, q)
                            : where_summed(c, report_part_sum(c, q->part),
                                           q->summed ? q->summed->part : NULL);
    const struct joint *joint = joint_of(s);
    for (const struct joint_term *t = joint ? joint->terms : NULL; t && n < 32;
         t = t->next)
        found[n++] = joint_sum(c, t);
    for (const struct part *p = s->block.quadratics || joint ? NULL : s->parts;
         p && n < 32; p = p->next)
        found[n++] = where_summed(c, report_part_sum(c, p), p->summed);
    struct text t = {0};
    for (int i = 0; i < n; i++) {
        bool known = !*found[i];
        for (int j = 0; j < i; j++)
            known = known || found[j] == found[i];
        if (!known)
            text_printf(&t, "%s%s%s", t.length ? "; " : "",
                        s->sampler->dense ? "" : "over ", found[i]);
    }
    if (!t.length)
        text_append(&t, "-");
    return text_take(c, &t);
}

/* ---- The table -----------------------------------------------------------
 */

struct row {
    const char *cells[COLUMNS];
};

static struct row step_row(struct compiler *c, const struct step *s)
{
    return (struct row){{intern_format(c, "%d", s->number + 1),
                         report_step_variables(c, s),
                         report_step_elements(c, s), report_step_sampler(c, s),
                         step_parallel(c, s), step_sums(c, s)}};
}

static size_t longest_word(const char *s)
{
    size_t longest = 0;
    for (; *s; s += strspn(s, " ")) {
        size_t n = strcspn(s, " ");
        longest = n > longest ? n : longest;
        s += n;
    }
    return longest;
}

/* Widths of the columns, the widest narrowed until all fit on the page, none
 * below its longest word. */
static void choose_widths(const struct row *rows, int n, size_t *width)
{
    size_t least[COLUMNS] = {0}, total = 2 * (COLUMNS - 1);
    for (int k = 0; k < COLUMNS; k++) {
        width[k] = 0;
        for (int i = 0; i < n; i++) {
            size_t length = strlen(rows[i].cells[k]);
            size_t word = longest_word(rows[i].cells[k]);
            width[k] = length > width[k] ? length : width[k];
            least[k] = word > least[k] ? word : least[k];
        }
        total += width[k];
    }
    for (; total > PAGE; total--) {
        int widest = -1;
        for (int k = 0; k < COLUMNS; k++)
            if (width[k] > least[k] && (widest < 0 || width[k] > width[widest]))
                widest = k;
        if (widest < 0)
            return;
        width[widest]--;
    }
}

/* As many whole words of s as fit into `width`, at least one. */
static size_t fitting(const char *s, size_t width)
{
    size_t n = strcspn(s, " ");
    while (s[n] && n + 1 + strcspn(s + n + 1, " ") <= width)
        n += 1 + strcspn(s + n + 1, " ");
    return n;
}

static void print_row(struct text *out, const struct row *r,
                      const size_t *width)
{
    const char *left[COLUMNS];
    bool more = true;
    memcpy(left, r->cells, sizeof left);
    while (more) {
        size_t gap = 0;
        more = false;
        for (int k = 0; k < COLUMNS; k++) {
            size_t n = fitting(left[k], width[k]);
            if (n)
                text_printf(out, "%*s%.*s", (int)gap, "", (int)n, left[k]);
            gap = n ? width[k] - n + 2 : gap + width[k] + 2;
            left[k] += n;
            left[k] += strspn(left[k], " ");
            more = more || *left[k];
        }
        text_append(out, "\n");
    }
}

void report_print_wrapped(struct text *out, const char *s, size_t at,
                          size_t indent)
{
    while (*s) {
        size_t n = fitting(s, PAGE - at);
        text_printf(out, "%.*s\n", (int)n, s);
        s += n;
        s += strspn(s, " ");
        if (*s)
            text_printf(out, "%*s", (int)indent, "");
        at = indent;
    }
}

/* Which of a variable's steps draws its elements, its own or the one that draws
 * forward, only the data tell; shown is the one to expect. */
static bool is_shown(const struct step *s)
{
    const struct var *v = s->family ? s->family->var : NULL;
    if (!s->sampler)
        return !s->turn.late && !(s->family && s->family->for_updates) &&
               !(s->turn.inverse && s->turn.inverse->device);
    if (!v || !v->barren || s->block.n > 1)
        return true;
    return s->sampler->forward != v->expects_data;
}

static void print_table(struct text *out, struct compiler *c,
                        const struct model *m)
{
    int n = 1;
    for (const struct step *s = m->steps; s; s = s->next)
        n++;
    struct row *rows = NEW_ARRAY(c, struct row, n);
    rows[0] = (struct row){
        {"step", "variable", "elements", "sampler", "parallel over", "sums"}};
    n = 1;
    for (const struct step *s = m->steps; s; s = s->next)
        if (is_shown(s))
            rows[n++] = step_row(c, s);
    size_t width[COLUMNS];
    choose_widths(rows, n, width);
    for (int i = 0; i < n; i++)
        print_row(out, &rows[i], width);
    text_append(out, "\nEvery step updates all chains at once.\n");
}

/* ---- Why -----------------------------------------------------------------
 */

static void note(struct text *out, struct compiler *c, const char *who,
                 const char *what)
{
    report_print_wrapped(out, intern_format(c, "  %s: %s", who, what), 0, 4);
}

static const char *why_order(struct compiler *c, const struct step *s)
{
    if (s->family->nloops == 0 || s->whole || s->sampler->parallel)
        return NULL;
    if (sampler_go_together(s))
        return "one at a time, and some together: a condition that all must "
               "meet holds each";
    if (s->order.sequential)
        return "one at a time: its elements depend on each other in a way "
               "that cannot be coloured";
    if (s->order.conflicts)
        return intern_format(c,
                             "coloured: elements that meet in %s get different "
                             "colours; those of one colour move at once",
                             s->order.conflicts->factor->text);
    return NULL;
}

static const char *tables_of(struct compiler *c, const struct step *s)
{
    struct text t = {0};
    text_append(&t, "once for each value, not for each element: ");
    for (int i = 0; i < s->lifted->n; i++)
        text_printf(&t, "%s%s", i ? ", " : "", sym_text(c, s->lifted->of[i]));
    return text_take(c, &t);
}

/* Where an augmentation's node is from. */
static void note_added(struct text *out, struct compiler *c,
                       const struct step *s, const char *who)
{
    const struct entry *a = s->family->var->augmentation;
    if (!s->family->auxiliary || !a)
        return;
    const char *source = citation(c, a), *of = strstr(s->family->text, " of ");
    note(out, c, who,
         intern_format(c, "added to %s: %s%s%s", of ? of + 4 : s->family->text,
                       sampler_first_sentence(c, a), *source ? ". " : "",
                       source));
}

/* Why this sampler draws it; NULL: nothing to say. */
static const char *why_sampler(struct compiler *c, const struct step *s)
{
    if (s->asked.word)
        return intern_format(c, "%s, as samplers { } asks", s->asked.word);
    if (s->beside.block && !s->beside.always)
        return "by itself instead, if rows turn out to have too many of "
               "them for the joint block";
    if (s->beside.block && s->sampler->trials)
        return "slice beside its block: it reaches the tails, where a "
               "normal fit is poor";
    return s->sampler->why ? s->sampler->why(c, s) : NULL;
}

/* What moves, or is drawn, with it. */
static void note_companions(struct text *out, struct compiler *c,
                            const struct step *s, const char *who)
{
    const struct joint *joint = joint_of(s);
    for (const struct rescaling *r = joint ? joint->rescalings : NULL; r;
         r = r->next)
        note(out, c, r->hyper->var->name,
             intern_format(c,
                           "moved with %s too, by one factor: both keep "
                           "the standardised values of %s",
                           who, r->plate->text));
    if (joint && joint->walk)
        note(out, c, report_step_variables(c, joint->walk),
             intern_format(c,
                           "moved with %s integrated out, too, by a random "
                           "walk, where warm-up tells that it pays",
                           who));
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next)
        if (q->drawn)
            note(out, c, report_step_variables(c, q->drawn),
                 intern_format(c,
                               "on a GPU drawn in one pass over the rows "
                               "of %s with the sums for %s, if the matrix "
                               "is large",
                               q->matrix->name, who));
}

/* Why s draws forward, and how its elements are drawn where it does not. */
static const char *why_forward(struct compiler *c, const struct model *m,
                               const struct step *s)
{
    const struct step *own = m->steps;
    while (own && (!own->sampler || own->sampler->forward ||
                   !sampler_has_member(own, s->family)))
        own = own->next;
    if (!own)
        return "drawn forward: no observed descendant, unless the data supply "
               "one";
    return intern_format(c,
                         "drawn forward: no observed descendant; where the "
                         "data supply one: %s",
                         report_step_sampler(c, own));
}

static void print_reasons(struct text *out, struct compiler *c,
                          const struct model *m)
{
    for (const struct step *s = m->steps; s; s = s->next) {
        if (!s->sampler)
            continue;
        if (s->sampler->forward && s->family->var->barren &&
            !s->family->var->expects_data)
            note(out, c, report_step_variables(c, s), why_forward(c, m, s));
        if (s->sampler->forward || !is_shown(s))
            continue;
        const char *who = report_step_variables(c, s);
        note_added(out, c, s, who);
        if (s->family->affine)
            note(out, c, who,
                 "kept arrays are affine in it: its slope in them, and the "
                 "rest, are kept too, and recomputed when either changes");
        const char *why = why_sampler(c, s);
        if (why)
            note(out, c, who, why);
        note_companions(out, c, s, who);
        if (s->lifted)
            note(out, c, who, tables_of(c, s));
        why = why_order(c, s);
        if (why)
            note(out, c, who, why);
    }
}

static void print_names(struct text *out, struct compiler *c,
                        const struct model *m, const char *head,
                        bool (*wanted)(const struct var *))
{
    struct text t = {0};
    for (const struct var *v = m->vars; v; v = v->next)
        if (wanted(v))
            text_printf(&t, "%s%s", t.length ? ", " : "", v->name);
    if (t.length)
        note(out, c, head, text_take(c, &t));
}

static bool wanted_given(const struct var *v)
{
    return v->role == ROLE_GIVEN && v->used;
}
static bool wanted_data(const struct var *v)
{
    return v->role == ROLE_STOCHASTIC && (v->unread || v->declared_observed);
}
static bool wanted_raised(const struct var *v)
{
    const struct family *f = v->families;
    return f && f->factor && f->factor->power && !f->auxiliary;
}

static bool wanted_stored(const struct var *v)
{
    return v->role == ROLE_DERIVED && v->stored;
}

void report_explain(struct text *out, struct compiler *c, const struct model *m)
{
    print_table(out, c, m);
    struct text reasons = {0};
    print_reasons(&reasons, c, m);
    if (reasons.length)
        text_printf(out, "\nWhy:\n%s", reasons.data);
    text_free(&reasons);
    text_append(out, "\nData:\n");
    print_names(out, c, m, "given", wanted_given);
    print_names(out, c, m, "observed", wanted_data);
    print_names(out, c, m, "stored", wanted_stored);
    print_names(out, c, m, "to a power", wanted_raised);
    report_print_wrapped(
        out,
        "What the data supply of a stochastic variable, all or some of "
        "its elements, is kept; the rest is drawn: forward, for kept sweeps "
        "alone, where nothing observed depends on it.",
        0, 0);
}

/* ---- --emit=plan ---------------------------------------------------------
 */

static void print_buffers(struct text *out, const struct model *m)
{
    text_append(out, "\nbuffers:\n");
    for (const struct var *v = m->vars; v; v = v->next)
        text_printf(out, "  %s: %s, %s, %d-dimensional%s%s%s%s\n", v->name,
                    model_role_name(v->role), v->integer ? "integer" : "real",
                    v->ndim < 0 ? 0 : v->ndim, v->stored ? ", stored" : "",
                    v->leaf ? ", leaf" : "", v->indexes ? ", indexes" : "",
                    v->seen_asked ? ", asked whether seen" : "");
}

static void print_order(struct text *out, struct compiler *c,
                        const struct model *m)
{
    text_append(out, "\norder:\n");
    for (const struct step *s = m->steps; s; s = s->next) {
        text_printf(out, "  %d %s: %s", s->number + 1, s->name,
                    report_step_sampler(c, s));
        if (s->family && s->family->nloops)
            text_printf(out, ", %s", step_parallel(c, s));
        if (sampler_prior_couples(s))
            text_append(out, ", prior couples coordinates");
        if (s->law.exponent)
            text_printf(out, ", exponent %s", sym_text(c, s->law.exponent));
        text_append(out, "\n");
        for (int i = 0; i < s->law.n && s->law.family; i++)
            text_printf(out, "      %s: statistic %d of %s\n",
                        sym_text(c, s->law.statistics[i]), s->law.place[i] + 1,
                        s->law.family->name);
        for (const struct conflict *k = s->order.conflicts; k; k = k->next) {
            text_printf(out, "      meets itself in %s at", k->factor->text);
            for (int i = 0; i < k->nreferences; i++)
                text_printf(out, "%s %s", i ? "," : "",
                            sym_text(c, k->references[i]));
            text_append(out, "\n");
        }
        sweep_print_hoisted(out, c, s);
    }
}

void report_plan(struct text *out, struct compiler *c, const struct model *m)
{
    report_explain(out, c, m);
    print_buffers(out, m);
    if (m->inverses)
        text_append(out, "\ninverse indices:\n");
    for (const struct inverse *i = m->inverses; i; i = i->next)
        text_printf(out, "  %d: %s%s %s, %s\n", i->number,
                    i->reach ? "what is reached by " : "",
                    i->reach
                        ? i->var->name
                        : intern_format(c, "%s in", sym_text(c, i->reference)),
                    i->reach ? intern_format(c, "in %s", i->factor->text)
                             : i->factor->text,
                    i->latent ? "rebuilt when it moves" : "built at load");
    print_order(out, c, m);
}
