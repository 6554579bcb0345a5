/* proposal_open.c: how the functions of draws with their log densities begin,
 * whichever sampler they are of. */
#include "sampler/proposal.h"

static void open_element(struct emitter *e, const struct step *s)
{
    if (s->sampler == &sampler_direct) {
        if (s->family->nloops)
            emit_decode(e, s->family, "element");
        return;
    }
    sampler_open_element(e, s);
    sampler_emit_layout(e, s);
}

void sampler_open_proposal(struct emitter *e, const struct step *s)
{
    *e = emitter_new(e->c, e->out);
    text_printf(
        e->out,
        "GBM_FN_BIG real propose_%s(const struct state *s, struct gbm_rng "
        "*rng,\n    const struct gbm_team *team, long long element, "
        "const real *from)\n{\n",
        s->name);
    open_element(e, s);
}

void sampler_open_keep(struct emitter *e, const struct step *s)
{
    *e = emitter_new(e->c, e->out);
    text_printf(
        e->out,
        "GBM_FN_BIG int keep_%s(const struct state *s, long long element, "
        "real *to)\n{\n",
        s->name);
    open_element(e, s);
}
