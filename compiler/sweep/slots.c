/* slots.c: the arrays that the program keeps in memory. Its struct state, the
 * functions that fill it and move it from chain to chain, and the table by
 * which the runtime allocates, loads, copies to devices and saves are printed
 * from this list. */
#include "sweep/sweep.h"
#include <string.h>

/* ---- the list --------------------------------------------------------------
 */

struct slot *sweep_add_slot(struct compiler *c, struct model *m,
                            struct slot slot)
{
    struct slot **link = &m->slots;
    while (*link)
        link = &(*link)->next;
    slot.number = m->nslots++;
    *link = NEW(c, struct slot);
    **link = slot;
    return *link;
}

static enum life life_of(const struct var *v)
{
    switch (v->role) {
    case ROLE_GIVEN:
        return LIFE_DATA;
    case ROLE_CONSTANT:
        return LIFE_CONSTANT;
    case ROLE_STOCHASTIC:
    case ROLE_AUXILIARY:
        return LIFE_STATE;
    case ROLE_DERIVED:
        return LIFE_STATISTIC;
    case ROLE_POWER:
        return LIFE_TUNING;
    }
    UNREACHABLE();
}

/* x[x_n1, x_n2] */
static const char *with_extents(struct compiler *c, const struct var *v)
{
    const char *text = v->name;
    for (int d = 0; d < v->ndim; d++)
        text = intern_format(c, "%s%s%s_n%d", text, d ? ", " : "[", v->cname,
                             d + 1);
    return v->ndim ? intern_format(c, "%s]", text) : text;
}

static void add_variable(struct compiler *c, struct model *m, struct var *v)
{
    const enum life life = life_of(v);
    v->slot =
        sweep_add_slot(c, m,
                       (struct slot){.kind = SLOT_VARIABLE,
                                     .name = v->name,
                                     .member = v->cname,
                                     .about = with_extents(c, v),
                                     .life = life,
                                     .integer = v->integer,
                                     .ndim = v->ndim,
                                     .extents = v->ndim,
                                     .seen = v->role == ROLE_STOCHASTIC,
                                     .per_chain = life == LIFE_STATE ||
                                                  life == LIFE_STATISTIC ||
                                                  life == LIFE_TUNING,
                                     .var = v});
}

/* The loop indices of elements that are not told by their number. */
static void add_table(struct compiler *c, struct model *m, struct family *f)
{
    if (family_rectangular(f))
        return;
    f->table = sweep_add_slot(
        c, m,
        (struct slot){.kind = SLOT_TABLE,
                      .name = intern_format(c, "%s loops", f->var->name),
                      .member = intern_format(c, "%s_loops", family_id(c, f)),
                      .about = "loop indices by element",
                      .life = LIFE_INDEX,
                      .integer = true,
                      .ndim = 2,
                      .family = f});
}

struct slot *sweep_add_slot_of(struct compiler *c, struct model *m,
                               struct step *s, struct slot slot)
{
    slot.ndim = 1;
    slot.per_chain = true;
    slot.family = s->family;
    slot.step = s;
    return sweep_add_slot(c, m, slot);
}

static void add_tuning(struct compiler *c, struct model *m, struct step *s)
{
    s->slots = sweep_add_slot_of(
        c, m, s,
        (struct slot){.kind = SLOT_TUNING,
                      .name =
                          intern_format(c, "%s width", s->family->var->name),
                      .member = intern_format(c, "%s_width", step_id(c, s)),
                      .about = "tuned in warm-up",
                      .life = LIFE_TUNING,
                      .counted = s->sampler->tuning_cells ? "tuning_" : NULL});
}

struct slot *sweep_add_pays_slot(struct compiler *c, struct model *m,
                                 struct step *s)
{
    return sweep_add_slot_of(
        c, m, s,
        (struct slot){.kind = SLOT_TUNING,
                      .name = intern_format(c, "%s tuning", s->name),
                      .member = intern_format(c, "%s_tuning", s->name),
                      .about = "whether the move pays, from warm-up",
                      .life = LIFE_TUNING,
                      .counted = "tuning_"});
}

/* Sums that the step's parts keep, with what they are functions of. */
static void add_recalled(struct compiler *c, struct model *m, struct step *s)
{
    sweep_add_slot_of(
        c, m, s,
        (struct slot){.kind = SLOT_RECALLED,
                      .name =
                          intern_format(c, "%s recalled", s->family->var->name),
                      .member = intern_format(c, "%s_recalled", step_id(c, s)),
                      .about = "sums, and what they are functions of",
                      .life = LIFE_SCRATCH,
                      .counted = "recalled_"});
}

static void add_order(struct compiler *c, struct model *m, struct sequence *q)
{
    if (q->kind != SEQUENCE_REFRESH)
        return;
    q->order = sweep_add_slot(
        c, m,
        (struct slot){.kind = SLOT_ORDER,
                      .name = intern_format(c, "sequence %d", q->number),
                      .member = intern_format(c, "sequence%d", q->number),
                      .about = "family, element",
                      .life = LIFE_INDEX,
                      .integer = true,
                      .ndim = 2,
                      .extents = 1});
}

static void add_inverse(struct compiler *c, struct model *m, struct inverse *i)
{
    const char *in = i->factor->family->var->name;
    struct slot slot = {
        .kind = SLOT_INVERSE,
        .name = intern_format(c, "index %d start", i->number),
        .member = intern_format(c, "index%d_start", i->number),
        .about = i->reach ? intern_format(c, "what %s reaches in %s",
                                          i->var->name, in)
                          : intern_format(c, "where %s hits in %s",
                                          sym_text(c, i->reference), in),
        .life = LIFE_INDEX,
        .integer = true,
        .ndim = 1,
        .per_chain = i->latent,
        .family = i->factor->family};
    i->start = sweep_add_slot(c, m, slot);
    slot.name = intern_format(c, "index %d items", i->number);
    slot.member = intern_format(c, "index%d_item", i->number);
    i->item = sweep_add_slot(c, m, slot);
}

const char *step_id(struct compiler *c, const struct step *s)
{
    return s->sampler && s->sampler->named ? s->name + sizeof "update_" - 1
                                           : family_id(c, s->family);
}

void sweep_settle_slots(struct compiler *c, struct model *m)
{
    for (struct var *v = m->vars; v; v = v->next)
        add_variable(c, m, v);
    for (struct family *f = m->families; f; f = f->next)
        add_table(c, m, f);
    for (struct step *s = m->steps; s; s = s->next) {
        if (s->sampler && s->sampler->tunes && s->sampler->tunes(s))
            add_tuning(c, m, s);
        if (s->sampler && s->sampler->slots)
            s->sampler->slots(c, m, s);
        if (sweep_recalled(s))
            add_recalled(c, m, s);
    }
    for (struct sequence *q = m->sequences; q; q = q->next)
        add_order(c, m, q);
    for (struct inverse *i = m->inverses; i; i = i->next)
        add_inverse(c, m, i);
}

/* ---- --emit=slots ----------------------------------------------------------
 */

static const char *life_name(enum life life)
{
    switch (life) {
    case LIFE_DATA:
        return "data";
    case LIFE_CONSTANT:
        return "constant";
    case LIFE_STATE:
        return "state";
    case LIFE_STATISTIC:
        return "statistic";
    case LIFE_TUNING:
        return "tuning";
    case LIFE_INDEX:
        return "index";
    case LIFE_SCRATCH:
        return "scratch";
    }
    UNREACHABLE();
}

/* Data that are expected, where they are whole, have one copy. */
static const char *copies(const struct slot *k)
{
    bool expected = k->var && (k->var->unread || k->var->declared_observed ||
                               k->var->supplied);
    return !k->per_chain         ? "one"
           : k->seen && expected ? "by data"
                                 : "per chain";
}

void slots_print(struct text *out, struct compiler *c, const struct model *m)
{
    int wide = 4;
    (void)c;
    for (const struct slot *k = m->slots; k; k = k->next)
        if ((int)strlen(k->member) > wide)
            wide = (int)strlen(k->member);
    text_printf(out, "%-*s  type  dims  copies     life       what\n", wide,
                "slot");
    for (const struct slot *k = m->slots; k; k = k->next)
        text_printf(out, "%-*s  %-4s  %4d  %-9s  %-9s  %s\n", wide, k->member,
                    k->integer ? "int" : "real", k->ndim, copies(k),
                    life_name(k->life), k->var ? k->name : k->about);
}
