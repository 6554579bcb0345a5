/* path.c: an integer-valued node with a finite support whose elements depend
 * on their predecessor along one loop, as z[i,t] on z[i,t-1], and otherwise
 * meet in no factor, is drawn a whole path at a time (stdlib/kernels/
 * forward_backward.h). What is left in the step's parts are its
 * emissions: all but the own prior. Paths of different elements of the other
 * loops are independent of each other.
 *
 * What a path comes from may have a statement of its own, as z[i,first[i]]: its
 * head. Where states hardly change, the one holds the other; so the path is
 * drawn with its head summed out, and the head behind it, by the functions of
 * its own step. */
#include "sampler/path.h"
#include "condition/find.h"
#include "sampler/moves.h"

int sampler_references(struct compiler *c, struct factor *g, struct var *v,
                       symp *out, int capacity)
{
    struct finder f;
    condition_find_in_factor(c, &f, v, g);
    for (int i = 0; i < f.n; i++) {
        if (f.found[i].nbound)
            return -1;
        if (i < capacity)
            out[i] = f.found[i].reference;
    }
    return f.n;
}

/* The loop along which `before` is the predecessor of f's element, or -1. */
static int step_back(struct compiler *c, const struct family *f, symp before)
{
    int along = -1;
    for (int d = 0; d < f->var->ndim; d++) {
        double difference;
        if (!sym_difference(c, before->args[d], f->lower[d], &difference))
            return -1;
        if (difference == 0)
            continue;
        symp offset;
        const struct loop *l = sym_plain_loop(c, f->lower[d], &offset);
        if (difference != -1 || along >= 0 || !l)
            return -1;
        for (int i = 0; i < f->nloops; i++)
            if (f->loops[i] == l)
                along = i;
        for (int i = 0; i < f->nloops; i++)
            if (f->loops[i] != l && sym_has_loop(offset, f->loops[i]))
                return -1;
    }
    return along;
}

/* The other subscripts say which path it is: each loop once. */
static bool paths_are_apart(struct compiler *c, const struct family *f)
{
    for (int i = 0; i < f->nloops; i++) {
        int n = 0;
        for (int d = 0; d < f->var->ndim; d++) {
            symp offset;
            if (sym_plain_loop(c, f->lower[d], &offset) == f->loops[i] &&
                offset->kind == SYM_NUM)
                n++;
        }
        if (n != 1)
            return false;
    }
    return true;
}

/* Elements of a path are numbered at a constant distance. */
static bool even_numbers(const struct family *f, int along)
{
    return along == f->nloops - 1 || family_rectangular(f);
}

/* A rule is of the instances of the part that it belongs to. */
static int parts_of(const struct step *s, const struct factor *g)
{
    int n = 0;
    for (const struct part *p = s->parts; p; p = p->next)
        n += p->factor == g && !p->own && !p->rule;
    return n;
}

bool sampler_meets_once(struct compiler *c, const struct step *s,
                        const struct part *p)
{
    if (p->factor->opaque || parts_of(s, p->factor) != 1)
        return false;
    symp reference;
    return sampler_references(c, p->factor, s->family->var, &reference, 1) == 1;
}

bool sampler_find_path(struct compiler *c, const struct step *s,
                       struct path *out)
{
    const struct family *f = s->family;
    struct factor *own = f->factor;
    symp found[2];
    if (s->through || s->order.ties || own->replaced || own->opaque ||
        f->nloops == 0 || f->nslices ||
        sampler_references(c, own, f->var, found, 2) != 2 ||
        parts_of(s, own) != 1)
        return false;
    symp lhs = sym_ref(c, f->var, f->var->ndim, f->lower);
    bool first = sym_same(found[0], lhs);
    if (!first && !sym_same(found[1], lhs))
        return false;
    *out = (struct path){.before = found[first ? 1 : 0]};
    out->along = step_back(c, f, out->before);
    return out->along >= 0 && even_numbers(f, out->along) &&
           paths_are_apart(c, f);
}

void sampler_drop_parts(struct step *s, const struct factor *g)
{
    struct part **p = &s->parts;
    while (*p)
        if ((*p)->factor == g)
            *p = (*p)->next;
        else
            p = &(*p)->next;
}

static void make_path(struct compiler *c, struct step *s, struct path path)
{
    s->sampler = &sampler_forward_backward;
    s->own = NEW(c, struct path);
    *(struct path *)s->own = path;
    s->order.sequential = false;
    s->order.conflicts = NULL;
    sampler_drop_parts(s, s->family->factor);
    s->law.n = 0;
    s->opaque = false;
    condition_gather_statistics(s);
}

/* ---- its head --------------------------------------------------------------
 */

/* The values of head's loops at which it draws `before`, what the path of f
 * comes from. False: there are none, or not for each path. */
static bool loops_of_head(struct compiler *c, const struct family *head,
                          const struct family *f, symp before, symp *by)
{
    for (int i = 0; i < head->nloops; i++) {
        const struct loop *l = head->loops[i];
        by[i] = NULL;
        for (int d = 0; d < f->var->ndim && !by[i]; d++) {
            symp offset;
            if (sym_plain_loop(c, head->lower[d], &offset) != l ||
                offset->kind != SYM_NUM)
                continue;
            by[i] = sym_sub(c, before->args[d], offset);
            if (by[i]->kind != SYM_LOOP ||
                !sym_same(by[i]->loop->lower, l->lower) ||
                !sym_same(by[i]->loop->upper, l->upper))
                return false;
        }
        if (!by[i])
            return false;
    }
    for (int d = 0; d < f->var->ndim; d++) {
        double difference;
        symp at =
            sym_replace_loops(c, head->lower[d], head->loops, head->nloops, by);
        if (!sym_difference(c, at, before->args[d], &difference) || difference)
            return false;
    }
    return true;
}

/* Whether h draws the head of the paths of s, which then knows it. */
static bool take_head(struct compiler *c, const struct step *s, struct step *h,
                      struct path *path)
{
    const struct family *f = s->family, *head = h->family;
    const struct loop *along = f->loops[path->along];
    if (h == s || h->merged || h->through || h->order.ties || h->asked.alone ||
        h->sampler != &sampler_enumeration || !h->sampler->tries_all(h) ||
        head->var != f->var || head->nslices || !family_rectangular(head))
        return false;
    symp subscripts[8], by[MAX_LOOPS];
    for (int d = 0; d < f->var->ndim; d++)
        subscripts[d] =
            sym_replace_loop(c, path->before->args[d], along, along->lower);
    symp before = sym_ref(c, f->var, f->var->ndim, subscripts);
    if (!loops_of_head(c, head, f, before, by))
        return false;
    path->head = h;
    path->head_cell = before;
    path->head_element = sym_num(c, 0);
    for (int i = 0; i < head->nloops; i++)
        path->head_element =
            sym_add2(c, path->head_element,
                     sym_mul2(c, sym_sub(c, by[i], head->loops[i]->lower),
                              sampler_path_stride(c, head, i)));
    return true;
}

static bool comes_before(const struct step *a, const struct step *b)
{
    while (a && a != b)
        a = a->next;
    return a != NULL;
}

/* The head, if it may be drawn by its functions, which stand in the
 * text by then. */
struct step *sampler_head_of(const struct step *s)
{
    struct step *h = path_of(s)->head;
    return h && h->sampler == &sampler_enumeration && !h->merged &&
                   !h->integrated && !emit_step_has_columns(h) &&
                   comes_before(h, s)
               ? h
               : NULL;
}

static const struct step *calls(const struct step *s)
{
    return path_of(s)->head;
}

/* What the head says of the path's first element is compared between values of
 * that, too, and what a label says of both between labels: in place, with what
 * does not depend on the head. */
void sampler_tell_in_full(struct compiler *c, struct step *h,
                          const struct factor *own, const struct var *v)
{
    for (struct part *p = h->parts; p; p = p->next) {
        if (p->factor != own && !(v && sampler_factor_reads(p->factor, v)))
            continue;
        p->opaque = p->in_full = true;
        p->terms = (struct collected){.rest = sym_num(c, 0)};
    }
    h->law.n = 0;
    condition_gather_statistics(h);
}

/* Brings h before s. */
static void move_before(struct model *m, struct step *h, struct step *s)
{
    struct step **place = &m->steps;
    while (*place != h)
        place = &(*place)->next;
    *place = h->next;
    place = &m->steps;
    while (*place != s)
        place = &(*place)->next;
    h->next = s;
    *place = h;
}

static void find_head(struct compiler *c, struct model *m, struct step *s)
{
    struct path *path = s->own;
    for (struct step *h = m->steps; h; h = h->next) {
        if (!h->family || !take_head(c, s, h, path))
            continue;
        if (comes_before(s, h))
            move_before(m, h, s);
        sampler_tell_in_full(c, h, s->family->factor, NULL);
        return;
    }
}

/* ---- which -----------------------------------------------------------------
 */

static void try_path(struct compiler *c, struct step *s)
{
    struct factor *own = s->family->factor;
    struct path path;
    if (s->asked.alone || !sym_fixed(s->support.lower) ||
        !sym_fixed(s->support.upper) || !sampler_find_path(c, s, &path))
        return;
    for (const struct part *p = s->parts; p; p = p->next)
        if (p->factor != own && !sampler_meets_once(c, s, p))
            return;
    for (const struct bound *b = s->support.bounds; b; b = b->next)
        if (b->part->factor == own)
            return;
    make_path(c, s, path);
}

void sampler_form_paths(struct compiler *c, struct model *m)
{
    for (struct step *s = m->steps; s; s = s->next)
        if (s->sampler && s->sampler->enumerates)
            try_path(c, s);
    for (struct step *s = m->steps; s; s = s->next)
        if (s->sampler == &sampler_forward_backward) {
            find_head(c, m, s);
            sampler_find_label(c, m, s);
        }
}

/* ---- the sampler -----------------------------------------------------------
 */

static void phases(struct compiler *c, struct step *s)
{
    symp values = sym_length(c, s->support.lower, s->support.upper);
    struct phase *p = sweep_add_usual_phases(c, s);
    p->what = "emissions of each value";
    p->random = false;
    p->tried = values;
    p = sweep_add_phase(c, s, PHASE_SCAN, "filters forward, samples backward");
    p->random = true;
    p->tried = sym_mul2(c, values, values); /* of two neighbours */
    phase_computes(c, p, s->family->factor->logp);
    if (path_of(s)->label)
        sampler_add_label_phase(c, s);
}

static void emit_row(struct compiler *c, struct text *out, const struct step *s)
{
    (void)c;
    text_printf(out, ", .first = first_%s", s->name);
}

/* ---- in words -------------------------------------------------------------
 */

const char *sampler_over_paths(struct compiler *c, const struct step *s)
{
    const struct path *path = s->own;
    struct loop *others[16];
    int n = 0;
    for (int i = 0; i < s->family->nloops && n < 16; i++)
        if (i != path->along)
            others[n++] = s->family->loops[i];
    return n ? sampler_loop_names(c, others, n) : "-";
}

static const char *explain_path(struct compiler *c, const struct step *s)
{
    return intern_format(c, "path along %s, %s to %s",
                         s->family->loops[path_of(s)->along]->name,
                         sampler_expression_text(c, s->support.lower),
                         sampler_expression_text(c, s->support.upper));
}

static const char *why(struct compiler *c, const struct step *s)
{
    const struct step *h = path_of(s)->head, *z = path_of(s)->label;
    return intern_format(
        c,
        "a path at once, by forward filtering and backward sampling: %s "
        "depends on its predecessor along %s alone%s%s%s%s%s",
        sampler_family_name(c, s->family),
        s->family->loops[path_of(s)->along]->name,
        h ? "; with what it comes from, " : "",
        h ? sampler_family_name(c, h->family) : "", z ? "; before it, " : "",
        z ? sampler_family_name(c, z->family) : "",
        z ? " with all paths summed out" : "");
}

static bool tries_all(const struct step *s)
{
    (void)s;
    return true;
}

const struct sampler sampler_forward_backward = {
    .name = "forward-backward",
    .closed = true,
    .tries_all = tries_all,
    .unit = sampler_left_out_together,
    .explain = explain_path,
    .why = why,
    .parallel = sampler_over_paths,
    .calls = calls,
    .moves = sampler_path_moves,
    .headers = {"forward_backward.h"},
    .phases = phases,
    .emit = sampler_emit_path,
    .emit_row = emit_row,
    .block_access = true,
    .repairs = true,
    .tunes = sampler_tunes_width,
    .tuning_cells = true,
};
