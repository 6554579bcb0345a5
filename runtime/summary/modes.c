/* modes.c: which chains are in different modes. Two chains are apart in a
 * quantity if each stays where it is, its halves agreeing, and the two places
 * do not overlap; chains that are apart nowhere, or joined by others that are
 * not, share a mode. A chain that is only slow has halves that differ. */
#include "summary/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUSPECT 1.5 /* least R-hat of a quantity that is looked at */
#define OVERLAP 2.  /* places end at so many standard deviations */
#define DRIFT 1.    /* most that halves differ, in standard deviations */

struct place {
    double mean, sd;
    bool stays;
};

static double mean_of(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] / n;
    return sum;
}

static struct place place_of(const double *x, int n)
{
    struct place p = {mean_of(x, n), 0, true};
    for (int i = 0; i < n; i++)
        p.sd += (x[i] - p.mean) * (x[i] - p.mean) / n;
    p.sd = sqrt(p.sd);
    double half = mean_of(x, n / 2), other = mean_of(x + n / 2, n - n / 2);
    p.stays = fabs(half - other) <= DRIFT * p.sd;
    return p;
}

/* Marks pairs of chains that the quantity tells apart; the largest distance
 * between two of them, in their standard deviations. */
static double mark_apart(const double *x, int chains, int kept,
                         unsigned char *apart)
{
    struct place places[GBM_MODES_CHAINS];
    double farthest = 0;
    for (int c = 0; c < chains; c++)
        places[c] = place_of(x + (int64_t)c * kept, kept);
    for (int a = 0; a < chains; a++)
        for (int b = 0; b < a; b++) {
            double between = fabs(places[a].mean - places[b].mean);
            double within = places[a].sd + places[b].sd;
            if (!places[a].stays || !places[b].stays ||
                !(between > OVERLAP * within))
                continue;
            apart[a * chains + b] = apart[b * chains + a] = 1;
            farthest = fmax(farthest, between / (within + 1e-9 * between));
        }
    return farthest;
}

/* Groups that are joined by pairs which are not apart, numbered by their first
 * chains. */
static int join(int chains, const unsigned char *apart, int *group)
{
    int count = 0;
    for (int c = 0; c < chains; c++)
        group[c] = -1;
    for (int first = 0; first < chains; first++) {
        if (group[first] >= 0)
            continue;
        group[first] = count;
        for (int grown = 1; grown;) {
            grown = 0;
            for (int a = 0; a < chains; a++)
                for (int b = 0; b < chains && group[a] == count; b++)
                    if (group[b] < 0 && !apart[a * chains + b])
                        grown = 1, group[b] = count;
        }
        count++;
    }
    return count;
}

static double group_mean(const struct gbm_modes *m, const double *x, int kept,
                         int g)
{
    double sum = 0;
    int n = 0;
    for (int c = 0; c < m->chains; c++)
        if (m->group[c] == g) {
            sum += mean_of(x + (int64_t)c * kept, kept);
            n++;
        }
    return sum / n;
}

static void describe(struct gbm_modes *m, const struct gbm_draws *draws,
                     double *x)
{
    const double *lp = draws->end_lp;
    int kept = 1;
    for (int k = 0; k < draws->nstats; k++)
        if (strcmp(draws->stats[k].name, "lp") == 0) {
            kept = draws->kept;
            for (int c = 0; c < m->chains; c++)
                memcpy(x + (int64_t)c * kept,
                       draws->stats[k].values + (int64_t)c * draws->capacity,
                       (size_t)kept * sizeof *x);
            lp = x;
        }
    for (int g = 0; g < m->count; g++)
        m->lp[g] = lp ? group_mean(m, lp, kept, g) : NAN;
    gbm_draws_columns(draws, m->cell, 1, x);
    for (int g = 0; g < m->count; g++)
        m->value[g] = group_mean(m, x, draws->kept, g);
    for (int c = 0; c < m->chains; c++)
        m->size[m->group[c]]++;
    for (int g = 1; g < m->count; g++)
        if (m->size[g] > m->size[m->main] ||
            (m->size[g] == m->size[m->main] && m->lp[g] > m->lp[m->main]))
            m->main = g;
}

enum gbm_status gbm_find_modes(struct gbm_modes *m,
                               const struct gbm_summary *summary)
{
    const struct gbm_draws *draws = summary->draws;
    int chains = draws->chains;
    double farthest = 0;
    *m = (struct gbm_modes){.chains = chains, .count = 1, .cell = -1};
    if (chains < 2 || chains > GBM_MODES_CHAINS || draws->kept < 4)
        return GBM_OK;
    size_t n = (size_t)chains;
    double *x = malloc(n * (size_t)draws->kept * sizeof *x);
    unsigned char *apart = calloc(n * n, 1);
    m->group = calloc(2 * n, sizeof *m->group);
    m->lp = calloc(2 * n, sizeof *m->lp);
    if (x && apart && m->group && m->lp) {
        m->size = m->group + n;
        m->value = m->lp + n;
        for (int64_t i = 0; i < summary->count; i++) {
            if (!(summary->diagnoses[i].rhat > SUSPECT))
                continue;
            gbm_draws_columns(draws, i, 1, x);
            double distance = mark_apart(x, chains, draws->kept, apart);
            if (distance > farthest) {
                farthest = distance;
                m->cell = i;
            }
        }
        m->count = join(chains, apart, m->group);
        if (m->count > 1)
            describe(m, draws, x);
    }
    enum gbm_status s = x && apart && m->group && m->lp ? GBM_OK : GBM_FAILURE;
    free(x);
    free(apart);
    return s;
}

void gbm_modes_free(struct gbm_modes *m)
{
    free(m->group);
    free(m->lp);
    *m = (struct gbm_modes){0};
}
