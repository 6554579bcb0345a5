/* common.c: members of struct sampler that several samplers have. */
#include "sampler/sampler.h"

bool sampler_tunes_width(const struct step *s)
{
    (void)s;
    return true;
}

enum barren_unit sampler_left_out_as_it_moves(const struct step *s)
{
    return s->whole ? BARREN_TOGETHER : BARREN_EACH;
}

enum barren_unit sampler_never_left_out(const struct step *s)
{
    (void)s;
    return BARREN_NEVER;
}

enum barren_unit sampler_left_out_together(const struct step *s)
{
    (void)s;
    return BARREN_TOGETHER;
}

enum barren_unit sampler_each_unless_tied(const struct step *s)
{
    return s->order.ties ? BARREN_NEVER : BARREN_EACH;
}

bool sampler_seeks_modes(const struct compiler *c)
{
    return (c->options.with & WITH_EXPECTATION) != 0;
}
