/* joint_phases.c: what a joint block does, as phases: each term's rows add to
 * the sparse precision, which is factored along the elimination tree; a curved
 * block fits that to its terms and then searches along an ellipse. */
#include "sampler/joint.h"

static void add_row_of(struct compiler *c, struct phase *p,
                       const struct joint_term *t)
{
    phase_computes(c, p, t->weight);
    phase_computes(c, p, t->score);
    phase_computes(c, p, t->scale);
    for (int i = 0; i < t->nslots; i++)
        phase_computes(c, p, t->slots[i].coefficient);
}

static void add_term(struct compiler *c, struct step *s,
                     const struct joint_term *t)
{
    struct phase *p = sweep_add_phase(c, s, PHASE_SUM,
                                      t->curved ? "fits a normal to the density"
                                                : "sparse precision, score");
    p->rows = t->factor->family;
    p->at_load =
        (t->constant_design && t->constant_weight && t->constant_score) ||
        sampler_sums_at_load(t);
    add_row_of(c, p, t);
    phase_computes(c, p, t->slope);
    phase_computes(c, p, t->curvature);
}

static void add_trial(struct compiler *c, struct step *s,
                      const struct joint_term *t)
{
    struct phase *p = sweep_add_phase(c, s, PHASE_SUM, "log density");
    p->rows = t->factor->family;
    p->trial = true;
    phase_computes(c, p, t->value);
}

static void add_rescaling(struct compiler *c, struct step *s,
                          const struct rescaling *r)
{
    struct phase *p = sweep_add_phase(c, s, PHASE_SEARCH,
                                      intern_format(c, "moves %s with %s",
                                                    r->hyper->var->name,
                                                    r->plate->var->name));
    p->random = true;
    p->drawn = sym_num(c, 1);
    for (const struct part *k = r->parts; k; k = k->next)
        sweep_add_part(c, s, k, p);
}

void joint_phases(struct compiler *c, struct step *s)
{
    const struct joint *k = joint_of(s);
    for (const struct joint_term *t = k->terms; t; t = t->next)
        add_term(c, s, t);
    sweep_add_phase(c, s, PHASE_SOLVE,
                    "factors along the elimination tree, draws")
        ->random = true;
    if (k->curved)
        sweep_add_phase(c, s, PHASE_SEARCH, "slice along the ellipse")->random =
            true;
    for (const struct joint_term *t = k->terms; t; t = t->next)
        if (t->curved)
            add_trial(c, s, t);
    for (const struct rescaling *r = k->rescalings; r; r = r->next)
        add_rescaling(c, s, r);
}
