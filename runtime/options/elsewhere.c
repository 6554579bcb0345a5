/* elsewhere.c: options and commands as other programs call them, for who comes
 * from there. */
#include "options/option.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *word, *here; /* without dashes, dots, underscores, capitals */
} words[] = {
    {"iter", "--draws"},
    {"niter", "--draws"},
    {"samples", "--draws"},
    {"nsamples", "--draws"},
    {"numsamples", "--draws"},
    {"nsample", "--draws"},
    {"ndraws", "--draws"},
    {"burnin", "--warmup"},
    {"nburnin", "--warmup"},
    {"burn", "--warmup"},
    {"tune", "--warmup"},
    {"adapt", "--warmup"},
    {"nadapt", "--warmup"},
    {"numwarmup", "--warmup"},
    {"iterwarmup", "--warmup"},
    {"itersampling", "--draws"},
    {"numchains", "--chains"},
    {"nchain", "--chains"},
    {"nthin", "--thin"},
    {"cores", "--threads"},
    {"parallelchains", "--threads"},
    {"numthreads", "--threads"},
    {"ncores", "--threads"},
    {"parameterstosave", "--monitor"},
    {"pars", "--monitor"},
    {"params", "--monitor"},
    {"variablenames", "--monitor"},
    {"monitors", "--monitor"},
    {"sigfigs", "--digits"},
    {"setseed", "--seed"},
    {"randomseed", "--seed"},
    {"sample", "run"},
    {"draw", "run"},
    {"update", "run"},
    {"generatequantities", "simulate --from"},
    {"priorpredictive", "simulate"},
    {"help", "--help"},
    {"helpall", "--help"},
};

const char *rt_elsewhere(const char *word)
{
    char plain[64];
    size_t n = 0;
    for (; *word && n + 1 < sizeof plain; word++)
        if (isalnum((unsigned char)*word))
            plain[n++] = (char)tolower((unsigned char)*word);
    plain[n] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].word, plain) == 0)
            return words[i].here;
    return NULL;
}
