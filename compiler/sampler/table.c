/* table.c: the list of samplers. */
#include "sampler/sampler.h"
#include <string.h>

/* In the order in which they are asked whether they take a full conditional. A
 * new sampler is a file with a struct sampler, and its name here. */
static const struct sampler *const samplers[] = {
    &sampler_expectation,
    &sampler_pair_slice,
    &sampler_forward_draw,
    &sampler_stated_draw,
    &sampler_vector_draw,
    &sampler_direct,
    &sampler_confined,
    &sampler_slice,
    &sampler_enumeration,
    &sampler_integer_slice,
    &sampler_random_walk,
    &sampler_rw_block,
    &sampler_adaptive_metropolis,
    &sampler_diam,
    &sampler_elliptical_slice,
    &sampler_pcn,
    &sampler_particle_gibbs,
};
enum { NSAMPLERS = sizeof samplers / sizeof *samplers };

const struct sampler *sampler_for(const struct step *s)
{
    for (int i = 0; i < NSAMPLERS; i++)
        if (samplers[i]->takes && samplers[i]->takes(s))
            return samplers[i];
    UNREACHABLE();
}

const struct sampler *sampler_called(const char *word)
{
    for (int i = 0; i < NSAMPLERS; i++)
        if (samplers[i]->word && !strcmp(samplers[i]->word, word))
            return samplers[i];
    return NULL;
}

int sampler_words(const char **out)
{
    int n = 0;
    for (int i = 0; i < NSAMPLERS; i++)
        if (samplers[i]->word)
            out[n++] = samplers[i]->word;
    return n;
}
