/* component.c: what components of a mixture have, for the moves of these
 * (relabel.c, split.c). */
#include "sampler/relabel.h"

const struct of_component *sampler_component_cells(const struct relabel *k,
                                                   const struct var *v)
{
    for (int i = 0; i < k->n; i++)
        if (k->cells[i].family->var == v)
            return &k->cells[i];
    return NULL;
}

symp sampler_at_label(struct compiler *c, const struct label_sum *sum, symp e,
                      const char *name)
{
    return sym_replace_loop(c, e, sum->value, sym_param(c, intern(c, name)));
}

const char *sampler_count_at(struct emitter *e, const struct relabel *k,
                             const char *name)
{
    const struct label_sum *sum = &k->sums.of[0];
    return emit_expr(e, sampler_at_label(e->c, sum, sum->count, name));
}
