/* labels.c: `summary FILE` of a mixture: --relabel, --clusters; what is said of
 * permuted components. */
#include "record/record.h"
#include "io/data.h"
#include "summary/relabel.h"

#include <stdlib.h>
#include <string.h>

void rt_note_permuted(FILE *notes, int64_t moved, int64_t draws, int components)
{
    fprintf(notes,
            "note: components of %lld of %lld draws were permuted (%d of "
            "them)\n",
            (long long)moved, (long long)draws, components);
}

static enum gbm_status relabel(struct rt *rt, struct gbm_draws *draws)
{
    const struct rt_options *o = &rt->options;
    struct gbm_relabelling done = {0};
    struct gbm_data reference = {0};
    char error[GBM_ERROR];
    enum gbm_status s = GBM_OK;
    if (o->reference)
        s = gbm_data_read(&reference, o->reference, error);
    if (s == GBM_OK)
        s = gbm_relabel(draws, o->relabel, o->reference ? &reference : NULL,
                        &done, error);
    gbm_data_free(&reference);
    if (s != GBM_OK)
        return rt_fail(rt, s, "%s", error);
    draws->relabelled = o->relabel;
    if (!o->quiet)
        rt_note_permuted(stderr, done.moved,
                         (int64_t)draws->chains * draws->kept, done.components);
    return GBM_OK;
}

static void print_clusters(const struct gbm_clusters *c, const char *name)
{
    printf("%s: %.2f clusters on average; least-squares partition (draw %d of "
           "chain %d) of",
           name, c->occupied, c->draw + 1, c->chain + 1);
    for (int k = 1; k <= c->nclusters; k++) {
        int size = 0;
        for (int i = 0; i < c->rows; i++)
            size += c->partition[i] == k;
        printf("%s %d", k > 1 ? "," : "", size);
    }
    printf("\n");
}

/* --clusters z=FILE */
static enum gbm_status find_clusters(struct rt *rt,
                                     const struct gbm_draws *draws)
{
    const char *equals = strchr(rt->options.clusters, '=');
    struct gbm_clusters clusters;
    char error[GBM_ERROR], name[256];
    if (!equals || equals == rt->options.clusters || !equals[1] ||
        equals - rt->options.clusters >= (int)sizeof name)
        return rt_fail(rt, GBM_USER_ERROR,
                       "--clusters '%s': NAME=FILE.json is wanted",
                       rt->options.clusters);
    snprintf(name, sizeof name, "%.*s", (int)(equals - rt->options.clusters),
             rt->options.clusters);
    enum gbm_status s = gbm_find_clusters(&clusters, draws, name, error);
    if (s == GBM_OK)
        s = gbm_clusters_write(&clusters, name, equals + 1, error);
    if (s == GBM_OK && !rt->options.quiet)
        print_clusters(&clusters, name);
    gbm_clusters_free(&clusters);
    return s == GBM_OK ? s : rt_fail(rt, s, "%s", error);
}

enum gbm_status rt_settle_labels(struct rt *rt, struct gbm_draws *draws)
{
    const struct rt_options *o = &rt->options;
    enum gbm_status s = GBM_OK;
    if (o->relabel)
        s = relabel(rt, draws);
    if (s == GBM_OK && o->clusters)
        s = find_clusters(rt, draws);
    return s;
}
