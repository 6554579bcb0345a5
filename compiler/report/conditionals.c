/* conditionals.c: --emit=conditionals: what each full conditional is made of.
 */
#include "report/report.h"

static void print_part(struct text *out, struct compiler *c,
                       const struct part *p)
{
    text_printf(out, "  %s %s", p->own ? "prior" : "child", p->factor->text);
    for (int i = 0; i < p->nloops; i++) {
        if (p->inverse)
            continue;
        if (p->solved[i])
            text_printf(out, ", %s = %s", p->loops[i]->name,
                        sym_text(c, p->solved[i]));
        else
            text_printf(out, ", for %s", p->loops[i]->name);
    }
    if (p->inverse && p->inverse->reach)
        text_printf(out, ", what it reaches");
    else if (p->inverse)
        text_printf(out, ", by the index of %s%s",
                    sym_text(c, p->inverse->reference),
                    p->inverse->latent ? " (latent)" : "");
    if (p->guard)
        text_printf(out, ", if %s", sym_text(c, p->guard));
    text_append(out, "\n");
    for (int i = 0; !p->opaque && i < p->terms.n; i++)
        text_printf(out, "    %s : %s\n", sym_text(c, p->terms.statistic[i]),
                    sym_text(c, p->terms.coefficient[i]));
    if (p->opaque)
        text_append(out, "    in place\n");
}

static void print_row_term(struct text *out, struct compiler *c,
                           const struct step *s, const struct quadratic *q)
{
    text_printf(out, "    weight : %s\n    score : %s\n",
                sym_text(c, q->weight), sym_text(c, q->score));
    for (int i = 0; i < s->block.n; i++) {
        const struct indices *x = &s->block.members[i].index;
        text_printf(out, "    design of %s",
                    s->block.members[i].family->var->name);
        for (int k = 0; k < x->n; k++)
            text_printf(out, "%s%s", k ? ", " : " at ", x->loops[k]->name);
        text_printf(out, " : %s\n", sym_text(c, q->design[i]));
    }
}

static void print_potentials(struct text *out, struct compiler *c,
                             const struct step *s, const struct quadratic *q)
{
    for (int i = 0; i < s->block.n; i++) {
        const char *v = s->block.members[i].family->var->name;
        if (q->potential[i] && !sym_is(q->potential[i], 0))
            text_printf(out, "    %s : %s\n", v, sym_text(c, q->potential[i]));
        for (int j = 0; j <= i; j++)
            if (q->precision[i][j] && !sym_is(q->precision[i][j], 0))
                text_printf(out, "    %s %s : %s\n", v,
                            s->block.members[j].family->var->name,
                            sym_text(c, q->precision[i][j]));
    }
}

static void print_joint(struct text *out, struct compiler *c,
                        const struct joint_term *t)
{
    text_printf(out, "  term %s\n", t->factor->text);
    if (t->curved)
        text_printf(out,
                    "    eta_ : %s + what follows\n    L : %s\n%s%s%s"
                    "    slope : %s\n    curvature : %s\n",
                    sym_text(c, t->offset), sym_text(c, t->value),
                    t->unbounded ? "    without bounds : " : "",
                    t->unbounded ? sym_text(c, t->unbounded) : "",
                    t->unbounded ? "\n" : "", sym_text(c, t->slope),
                    sym_text(c, t->curvature));
    else
        text_printf(
            out, "    scale : %s\n    weight%s : %s\n    score%s : %s\n",
            sym_text(c, t->scale), t->constant_weight ? " (constant)" : "",
            sym_text(c, t->weight), t->constant_score ? " (constant)" : "",
            sym_text(c, t->score));
    if (t->vector)
        text_printf(out, "    cells %s, %s of %s\n", t->pair[0]->name,
                    t->pair[1]->name, t->vector->var->name);
    for (int i = 0; i < t->nslots; i++)
        text_printf(out, "    %s : %s\n", sym_text(c, t->slots[i].reference),
                    sym_text(c, t->slots[i].coefficient));
}

static void block_print(struct text *out, struct compiler *c,
                        const struct step *s)
{
    const struct joint *joint = joint_of(s);
    for (const struct joint_term *t = joint ? joint->terms : NULL; t;
         t = t->next)
        print_joint(out, c, t);
    const bool of_family = s->law.family && s->family->nslices;
    for (const struct quadratic *q = s->block.quadratics; q; q = q->next) {
        const char *over = report_part_sum(c, q->part);
        text_printf(out, "  %s %s%s%s\n", q->part->own ? "prior" : "child",
                    q->part->factor->text, *over ? ", over " : "", over);
        if (q->row)
            print_row_term(out, c, s, q);
        else if (of_family && q->potential[1])
            text_printf(out, "    log determinant : %s\n    %s[a,b] : %s\n",
                        sym_text(c, q->potential[0]),
                        s->view.as ? "inverse(x)" : "x",
                        sym_text(c, q->potential[1]));
        else if (of_family)
            text_printf(out, "    log(x[a]) : %s\n",
                        sym_text(c, q->potential[0]));
        else
            print_potentials(out, c, s, q);
    }
}

/* Parts that stand beside what block_print has of s. */
static const struct part *rest_of(const struct step *s)
{
    const bool all = s->block.quadratics || joint_of(s);
    return all && !(s->sampler && s->sampler->around) ? NULL : s->parts;
}

void report_conditionals(struct text *out, struct compiler *c,
                         const struct model *m)
{
    for (const struct step *s = m->steps; s; s = s->next) {
        text_printf(out, "%s: %s%s%s\n", s->family->text,
                    emit_sampler_name(c, s),
                    s->order.sequential ? ", sequential" : "",
                    s->order.conflicts ? ", coloured" : "");
        block_print(out, c, s);
        for (const struct part *p = rest_of(s); p; p = p->next)
            print_part(out, c, p);
        for (const struct bound *b = s->support.bounds; b; b = b->next)
            text_printf(out, "  x %s %s\n",
                        b->is_lower ? ">=" : "<=", sym_text(c, b->value));
    }
}
