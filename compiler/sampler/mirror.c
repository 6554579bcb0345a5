/* mirror.c: numbers whose signs the data do not tell, as a in y ~ dnorm(a^2,
 * 1), or loadings and scores in y[i,j] ~ dnorm(lambda[j] * f[i], 1), which may
 * change theirs together. The posterior has a mode for each sign, as probable
 * as the priors say, and chains that draw number by number do not go from one
 * to the other: there is nothing between them. So behind their draws all of
 * them are tried with the other sign, which leaves what reads them as it is,
 * and the ratio of what does not stay so, their priors, decides.
 *
 * Which numbers these are is found by algebra. Each cell is multiplied by a
 * sign, a symbol whose square is 1; where a density keeps the symbol, another
 * number that it reads is asked to go along, until none does but priors. The
 * sign may be one for each row, of a[i] or of a column of loadings: the same
 * with a symbol that has the row's subscript.
 *
 * Where some cells have a fixed sign, as a loading that is positive, the others
 * may still be caught with the wrong one: they are tried without these, by the
 * densities of all that reads them.
 *
 * 0s and 1s are turned likewise, x into 1 - x, where a density reads of several
 * labels whether these are alike: two groups of people and of questions, which
 * are named by one of these that is known.
 *
 * Where no prior tells one sign from the other, those of several variables stay
 * as they are, as names of components do (exchange.c); that of one variable is
 * drawn. Requires a list of steps without merged ones, before the sweep is
 * planned. */
#include "sampler/mirror.h"

#include <math.h>
#include <string.h>

enum { MOST_TRIES = 100, MOST_READ = 8 };

/* What must stay as it is: a density, or a definition that is kept. */
struct reader {
    const struct factor *g;
    symp body;
};

/* ---- what reads them -------------------------------------------------------
 */

enum { MOST_EXPRESSIONS = FACTOR_EXPRESSIONS + 8 };

/* What a reader reads; of a density of an array its arguments, too. */
static int expressions(const struct mirror *k, const struct reader *r,
                       symp all[MOST_EXPRESSIONS])
{
    const struct family *f = r->g ? r->g->family : NULL;
    if (!r->g) {
        all[0] = r->body;
        return 1;
    }
    int n = model_factor_expressions(r->g, all);
    for (int i = 0; r->g->opaque && i < f->nargs && n < MOST_EXPRESSIONS; i++)
        all[n++] = model_substitute_derived(k->c, f->args[i].body);
    return n;
}

static bool is_read(const struct mirror *k, const struct reader *r)
{
    symp all[MOST_EXPRESSIONS];
    const int n = expressions(k, r, all);
    for (int i = 0; i < n; i++)
        if (sampler_mirror_reads(k, all[i]))
            return true;
    return false;
}

static bool is_prior(const struct mirror *k, const struct reader *r)
{
    return r->g && sampler_mirror_place(k, r->g->family->var) >= 0;
}

/* A node's own value changes; its density may not, where it is relative to
 * others that change. */
static bool reader_stays(const struct mirror *k, const struct reader *r)
{
    const bool prior = is_prior(k, r);
    symp all[MOST_EXPRESSIONS];
    const int n = expressions(k, r, all);
    if (prior && r->g->opaque)
        return false;
    for (int i = 0; i < n; i++)
        if (!(prior && all[i] == r->g->value) &&
            !sampler_mirror_stays(k, all[i]))
            return false;
    return true;
}

static bool is_evaluated(const struct mirror *k, const struct factor *g)
{
    for (int i = 0; i < k->nevaluated; i++)
        if (k->evaluated[i] == g)
            return true;
    return false;
}

static bool is_open(const struct mirror *k, const struct reader *r)
{
    return is_read(k, r) && !(r->g && is_evaluated(k, r->g)) &&
           !reader_stays(k, r);
}

/* The first reader that signs change; false: there is none. */
static bool find_open(const struct mirror *k, struct reader *r)
{
    for (const struct factor *g = k->m->factors; g; g = g->next) {
        *r = (struct reader){.g = g};
        if (!g->replaced && is_open(k, r))
            return true;
    }
    for (const struct family *f = k->m->families; f; f = f->next) {
        if (!sampler_is_kept(f))
            continue;
        *r = (struct reader){.body = model_substitute_derived(k->c, f->body)};
        if (is_open(k, r))
            return true;
    }
    return false;
}

/* Whether something but priors reads them. */
static bool have_readers(const struct mirror *k)
{
    for (const struct factor *g = k->m->factors; g; g = g->next) {
        const struct reader r = {.g = g};
        if (!g->replaced && is_read(k, &r) && !is_prior(k, &r))
            return true;
    }
    for (const struct family *f = k->m->families; f; f = f->next)
        if (sampler_is_kept(f) &&
            sampler_mirror_reads(k, model_substitute_derived(k->c, f->body)))
            return true;
    return false;
}

/* ---- which -----------------------------------------------------------------
 */

/* Whether f's elements are 0s and 1s whose draws try both. */
static bool are_bits(const struct mirror *k, const struct family *f)
{
    const struct step *s =
        sampler_is_free(k->m, f) ? sampler_step_of(k->m, f) : NULL;
    return s && s->sampler == &sampler_enumeration && s->support.lower &&
           s->support.upper && sym_is(s->support.lower, 0) &&
           sym_is(s->support.upper, 1) && !s->integrated && !f->affine &&
           !f->data_block && !f->sequence && !f->nslices;
}

bool sampler_may_mirror(const struct mirror *k, const struct family *f)
{
    const struct step *s = f->stochastic ? sampler_step_of(k->m, f) : NULL;
    const struct expr *support =
        s && f->nslices ? entry_value(f->distribution, "support") : NULL;
    if (k->bits)
        return are_bits(k, f);
    return s && !s->asked.word && !sampler_named(k->m, f) && f->factor &&
           !f->factor->lower && !f->factor->upper && !f->auxiliary &&
           !f->affine && !f->data_block && !f->sequence && !s->scaled.by &&
           !s->order.ties &&
           (!f->nslices ||
            (f->nslices == 1 && support && !strcmp(support->name, "vector")));
}

struct loop *sampler_mirror_row(const struct mirror *k, const struct family *f,
                                int i)
{
    symp at = f->lower[k->dim[i]];
    for (int j = 0; j < f->nloops; j++)
        if (at->kind == SYM_LOOP && f->loops[j] == at->loop)
            return f->loops[j];
    return NULL;
}

/* Whether some cells of v are free to change sign, and of rows all. */
static bool may_change(const struct mirror *k, const struct var *v)
{
    bool some = false, all = true;
    if (k->bits ? v->role != ROLE_STOCHASTIC || !v->integer || v->whole ||
                      v->rest_of || v->slope_of
                : !sampler_are_numbers(v))
        return false;
    if (v->declared_observed)
        return false;
    for (const struct family *f = v->families; f; f = f->next_of_var) {
        const bool may = sampler_may_mirror(k, f);
        some = some || may;
        all = all && may && !f->nslices;
    }
    return some && (all || (k->dim[0] < 0 && !k->bits));
}

static bool grow(struct mirror *k);

/* Variables that the reader reads and that may go along. */
static int find_partners(const struct mirror *k, const struct reader *r,
                         struct var *partners[MOST_READ])
{
    symp all[MOST_EXPRESSIONS];
    const int n = expressions(k, r, all);
    int found = 0;
    for (struct var *v = k->m->vars; v && found < MOST_READ; v = v->next) {
        bool read = false;
        for (int i = 0; i < n; i++)
            read = read || sym_has_var(all[i], v);
        if (read && sampler_mirror_place(k, v) < 0 && may_change(k, v))
            partners[found++] = v;
    }
    return found;
}

/* With `more` of the partners from the first on the reader stays, and so does
 * all else. */
static bool extend(struct mirror *k, const struct reader *r,
                   struct var *const *partners, int n, int more)
{
    if (!more)
        return !is_open(k, r) && grow(k);
    for (int i = 0; i < n && k->n < MOST_MIRRORED; i++) {
        const int dims = k->dim[0] < 0 ? 1 : partners[i]->ndim;
        for (int d = 0; d < dims; d++) {
            k->vars[k->n] = partners[i];
            k->dim[k->n++] = k->dim[0] < 0 ? -1 : d;
            if (extend(k, r, partners + i + 1, n - i - 1, more - 1))
                return true;
            k->n--;
        }
    }
    return false;
}

/* Adds variables until nothing changes but priors. */
static bool grow(struct mirror *k)
{
    struct reader r;
    struct var *partners[MOST_READ];
    if (!find_open(k, &r))
        return true;
    if (k->tries++ == MOST_TRIES)
        return false;
    const int n = find_partners(k, &r, partners);
    if (extend(k, &r, partners, n, 1) || extend(k, &r, partners, n, 2))
        return true;
    if (!is_prior(k, &r) || k->nevaluated == MOST_EVALUATED)
        return false;
    k->evaluated[k->nevaluated++] = r.g;
    if (grow(k))
        return true;
    k->nevaluated--;
    return false;
}

/* ---- the step --------------------------------------------------------------
 */

bool sampler_mirror_asks(const struct mirror *k) { return k->n > 1 || k->told; }

static int row_of(const void *own, const struct var *v)
{
    const struct mirror *k = own;
    const int i = sampler_mirror_place(k, v);
    return i < 0 ? -1 : k->dim[i];
}

static bool add_members(struct mirror *k, struct step *s)
{
    k->told = k->bits; /* some may be data */
    for (int i = 0; i < k->n; i++)
        for (struct family *f = k->vars[i]->families; f; f = f->next_of_var) {
            const struct loop *l = k->row ? sampler_mirror_row(k, f, i) : NULL;
            if (!sampler_may_mirror(k, f)) {
                k->told = true;
                continue;
            }
            if (s->block.n == MAX_MEMBERS ||
                (k->row && (!l || !sampler_same_ends(l, k->row) ||
                            !family_plain(k->c, f))))
                return false;
            s->block.members[s->block.n].family = f;
            s->block.members[s->block.n++].count = sym_num(k->c, 1);
        }
    return true;
}

/* The densities that tell; false: one is not to be had row by row. */
static bool find_parts(const struct mirror *k, struct step *s)
{
    for (struct factor *g = k->m->factors; g; g = g->next) {
        if (g->replaced ||
            !(k->told ? group_mentions(k->c, s, g) : is_evaluated(k, g)))
            continue;
        if (!k->row) {
            sampler_push_part(&s->parts, sampler_all_instances(k->c, g));
            continue;
        }
        const struct loop *l = sampler_row_loop(g, row_of, k, k->row);
        if (!l || g->opaque)
            return false;
        sampler_push_part(&s->parts, sampler_row_part(k->c, g, l, k->row));
    }
    if (!k->row)
        sampler_keep_moving(k->c, s);
    return true;
}

/* Whether what is computed of members and kept does not stay as it is, as some
 * cells do not go along. */
static bool moves_what_is_kept(const struct mirror *k)
{
    bool found = false;
    for (const struct family *f = k->m->families; f; f = f->next)
        found =
            found ||
            (k->told && sampler_is_kept(f) &&
             sampler_mirror_reads(k, model_substitute_derived(k->c, f->body)));
    return found;
}

/* Whether a member is drawn with others integrated out, which are not drawn
 * again where it changes sign. */
static bool lacks_nodes(const struct mirror *k, const struct step *s)
{
    bool found = false;
    for (int i = 0; i < s->block.n; i++)
        found = found ||
                sampler_step_of(k->m, s->block.members[i].family)->integrated;
    return found;
}

static struct step *make_step(struct mirror *k)
{
    struct step *s = NEW(k->c, struct step);
    s->own = k;
    s->model = k->m;
    s->sampler = k->row ? &sampler_mirror_rows : &sampler_mirror;
    s->whole = !k->row;
    if (!add_members(k, s) || !s->block.n ||
        (k->told && (k->row || lacks_nodes(k, s))))
        return NULL;
    s->family = s->block.members[0].family;
    s->name = intern_format(k->c, "mirror_%s", family_id(k->c, s->family));
    s->through = moves_what_is_kept(k);
    return find_parts(k, s) ? s : NULL;
}

/* v's rows by subscript `dim`, or all of it. */
static bool try_all(struct compiler *c, struct model *m, struct var *v, int dim,
                    bool bits)
{
    struct mirror *k = NEW(c, struct mirror);
    *k = (struct mirror){.c = c, .m = m, .n = 1, .bits = bits};
    k->vars[0] = v;
    k->dim[0] = dim;
    k->sign = NEW(c, struct var);
    k->sign->name = "sign";
    k->sign->ndim = dim >= 0;
    if (!may_change(k, v) || !grow(k) || !have_readers(k))
        return false;
    k->row = dim >= 0 ? sampler_mirror_row(k, v->families, 0) : NULL;
    struct step *move = dim < 0 || k->row ? make_step(k) : NULL;
    if (move)
        sampler_insert_move(m, move, NULL);
    return move != NULL;
}

static bool is_mirrored(const struct model *m, const struct var *v)
{
    for (const struct step *s = m->steps; s; s = s->next)
        if (s->sampler == &sampler_mirror || s->sampler == &sampler_mirror_rows)
            if (sampler_mirror_place(s->own, v) >= 0)
                return true;
    return false;
}

void sampler_find_mirrors(struct compiler *c, struct model *m)
{
    for (struct var *v = m->vars; v; v = v->next) {
        bool found =
            v->role != ROLE_STOCHASTIC || !v->families || is_mirrored(m, v);
        for (int d = 0; d < v->ndim && !found && !v->integer; d++)
            found = try_all(c, m, v, d, false);
        if (!found)
            try_all(c, m, v, -1, v->integer);
    }
}

/* ---- the sampler -----------------------------------------------------------
 */

static void slots(struct compiler *c, struct model *m, struct step *s)
{
    if (sampler_mirror_asks(s->own))
        s->slots = sweep_add_pays_slot(c, m, s);
}

static void phases(struct compiler *c, struct step *s)
{
    sampler_move_phase(c, s, "signs change");
}

static const char *explain(struct compiler *c, const struct step *s)
{
    const struct mirror *k = s->own;
    (void)c;
    return k->bits ? "0s and 1s the other way round" : "change of sign";
}

static const char *why(struct compiler *c, const struct step *s)
{
    const struct mirror *k = s->own;
    const char *tried = k->bits    ? "all are tried the other way round"
                        : k->n > 1 ? k->row ? "those of a row are tried with "
                                              "the other signs at once"
                                            : "all are tried with the other "
                                              "signs at once"
                        : k->row   ? "each is tried with the other sign"
                                   : "it is tried with the other sign";
    const char *by = k->bits   ? "all that reads them, as some may be known"
                     : k->told ? "all that reads them, as some signs are fixed"
                               : "the priors, as nothing else tells";
    return intern_format(c,
                         "%s, by the ratio of %s: each of both ways has a "
                         "mode, and no draw goes from one to the other",
                         tried, by);
}

const struct sampler sampler_mirror = {
    .beside = true,
    .name = "change of sign",
    .explain = explain,
    .closed = true,
    .headers = {"relabel.h"},
    .why = why,
    .slots = slots,
    .phases = phases,
    .emit = sampler_emit_mirror,
};

const struct sampler sampler_mirror_rows = {
    .beside = true,
    .name = "change of sign",
    .explain = explain,
    .headers = {"relabel.h"},
    .why = why,
    .own_layout = true,
    .slots = slots,
    .phases = phases,
    .emit = sampler_emit_mirror,
};
