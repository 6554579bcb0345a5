/* block_row.c: a factor's row of a dense block: its log density through one
 * linear predictor of the members. */
#include "sampler/block.h"
#include <string.h>

/* E such that the log density depends on the block through E alone, E linear
 * in it. Descends as long as one child has all there is. */
static symp find_predictor(struct compiler *c, const struct step *s, symp logp,
                           const struct plate_values *v)
{
    symp e = logp, best = NULL;
    for (int depth = 0; depth < 64; depth++) {
        /* does everything go through e? */
        symp rest = sym_replace(c, logp, e, sym_target(c));
        bool linear = !block_has_members(c, s, rest) && e != logp;
        for (int i = 0; linear && i < s->block.n; i++) {
            symp x = block_member_cell(c, &s->block.members[i],
                                       &s->block.members[i].index, v);
            symp d = sym_derivative(c, e, x);
            linear = d && !block_has_members(c, s, d);
        }
        if (linear)
            best = e;
        if (e->kind == SYM_REF || e->kind == SYM_SUM)
            break;
        symp next = NULL;
        for (int i = 0; i < e->nargs && !next; i++)
            if (block_has_members(c, s, e->args[i]))
                next = e->args[i];
        if (!next)
            break;
        e = next;
    }
    return best;
}

/* The condition says no more than that the matrix has such a column. */
static bool all_columns(struct compiler *c, symp condition, symp cell)
{
    symp columns = sym_extent(c, cell->var, 1);
    return sym_same(condition,
                    sym_call(c, "<=", 2, (symp[]){cell->args[1], columns}));
}

static struct var *direct_matrix(struct compiler *c, const struct step *s,
                                 const struct part *p, symp design)
{
    symp within = NULL;
    if (design->kind == SYM_SELECT && sym_is(design->args[2], 0)) {
        within = design->args[0];
        design = design->args[1];
    }
    if (s->block.n != 1 || design->kind != SYM_REF || design->nargs != 2 ||
        design->var->role != ROLE_GIVEN || design->var->integer ||
        p->nloops != 1 || !sym_is(p->loops[0]->lower, 1))
        return NULL;
    const struct member *m = &s->block.members[0];
    bool ok = m->index.n == 1 && design->args[0]->kind == SYM_LOOP &&
              design->args[0]->loop == p->loops[0] &&
              design->args[1]->kind == SYM_LOOP &&
              design->args[1]->loop == m->index.loops[0] &&
              sym_is(m->index.loops[0]->lower, 1) &&
              (!within || all_columns(c, within, design));
    return ok ? design->var : NULL;
}

static bool moves_beside(symp e, const void *leaf)
{
    return sym_is_latent(e, NULL) && e->var != leaf;
}

bool sampler_data_with(symp e, const struct var *leaf)
{
    return !sym_any(e, moves_beside, leaf);
}

/* The score at a block of 0, where log density is c1 e - weight/2 e^2. */
static void derive_score(struct compiler *c, const struct step *s,
                         const struct plate_values *v, symp e, symp c1,
                         struct quadratic *q)
{
    const struct elements own = block_elements(s);
    struct var *seen = q->part->factor->seen_var;
    bool told;
    symp offset = model_without_elements(c, e, &own, &told);
    if (told && seen) {
        /* what is left of an array of its own statement is data */
        symp at_load = model_without_arrays(c, e, &own);
        q->constant_score = sampler_data_with(
            sym_sub(c, sym_div(c, c1, q->weight), at_load), seen);
    }
    if (!told) {
        offset = e;
        for (int i = 0; i < s->block.n; i++)
            offset = sym_sub(c, offset,
                             block_times_member(c, &s->block.members[i],
                                                &s->block.members[i].index, v,
                                                q->design[i]));
    }
    q->score = sym_sub(c, c1, sym_mul2(c, q->weight, offset));
}

bool block_derive_row(struct compiler *c, const struct step *s,
                      const struct plate_values *v, struct quadratic *q)
{
    symp logp = q->part->logp;
    symp e = find_predictor(c, s, logp, v);
    if (!e)
        return false;
    struct collected k;
    sym_collect(c, sym_replace(c, logp, e, sym_target(c)), false, &k);
    symp t = sym_target(c), square = sym_pow(c, t, sym_num(c, 2));
    symp c1 = sym_num(c, 0), c2 = sym_num(c, 0);
    if (k.overflow)
        return false;
    for (int i = 0; i < k.n; i++) {
        if (sym_same(k.statistic[i], t))
            c1 = k.coefficient[i];
        else if (sym_same(k.statistic[i], square))
            c2 = k.coefficient[i];
        else
            return false;
    }
    q->weight = sym_mul2(c, sym_num(c, -2), c2);
    q->row = true;
    q->constant_design = true;
    /* A factor that may be 0 where the sums are made says nothing of them. */
    q->constant_weight = sym_never_zero(q->weight);
    for (int i = 0; i < q->part->nloops; i++)
        if (sym_has_loop(q->weight, q->part->loops[i]))
            q->constant_weight = false;
    for (int i = 0; i < s->block.n; i++) {
        symp x = block_member_cell(c, &s->block.members[i],
                                   &s->block.members[i].index, v);
        q->design[i] = sym_derivative(c, e, x);
        q->constant_design =
            q->constant_design && !sym_reads_latent(q->design[i]);
        if (s->block.members[i].index.n && s->block.n == 1)
            q->matrix = direct_matrix(c, s, q->part, q->design[i]);
    }
    derive_score(c, s, v, e, c1, q);
    return true;
}
