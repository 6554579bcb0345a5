/* relabel.c: components of draws that were read. They start from the first draw
 * and go through the draws once with what is known so far, and then again with
 * all of them until nothing moves; every step lowers the same sum. Against a
 * reference that the user gives there is one pass, and it stays. */
#include "summary/relabel.h"
#include "summary/components.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PASSES = 100 };

struct relabel {
    struct gbm_components c;
    struct gbm_draws *draws;
    int64_t ndraws;
    int *labels; /* [ndraws][k] */
    int *found;  /* [k] */
};

static double *record(const struct relabel *r, int64_t draw)
{
    return gbm_draws_record(r->draws, (int)(draw / r->draws->kept),
                            (int)(draw % r->draws->kept));
}

static enum gbm_status explain(const struct relabel *r, enum gbm_status s,
                               int64_t draw, char error[GBM_ERROR])
{
    if (s == GBM_USER_ERROR)
        snprintf(error, GBM_ERROR,
                 "--relabel: draw %lld of chain %lld is not a number",
                 (long long)(draw % r->draws->kept + 1),
                 (long long)(draw / r->draws->kept + 1));
    else
        snprintf(error, GBM_ERROR, "out of memory");
    return s;
}

/* With what is known so far, which grows. */
static enum gbm_status pass_learning(struct relabel *r, char error[GBM_ERROR])
{
    for (int64_t m = 0; m < r->ndraws; m++) {
        enum gbm_status s =
            gbm_components_learn(&r->c, record(r, m), r->labels + m * r->c.k);
        if (s != GBM_OK)
            return explain(r, s, m, error);
    }
    return GBM_OK;
}

/* With what is known, which stays. */
static enum gbm_status pass(struct relabel *r, bool *moved,
                            char error[GBM_ERROR])
{
    const size_t bytes = (size_t)r->c.k * sizeof *r->found;

    gbm_components_fix(&r->c);
    for (int64_t m = 0; m < r->ndraws; m++) {
        int *label = r->labels + m * r->c.k;
        enum gbm_status s =
            gbm_components_assign(&r->c, record(r, m), r->found);

        if (s != GBM_OK)
            return explain(r, s, m, error);
        *moved = *moved || memcmp(r->found, label, bytes) != 0;
        memcpy(label, r->found, bytes);
    }
    return GBM_OK;
}

static enum gbm_status pass_until_still(struct relabel *r, int *passes,
                                        char error[GBM_ERROR])
{
    enum gbm_status s = pass_learning(r, error);
    bool moved = true;

    for (*passes = 1; s == GBM_OK && moved && *passes < MOST_PASSES;
         ++*passes) {
        moved = false;
        s = pass(r, &moved, error);
        gbm_components_begin(&r->c);
        for (int64_t m = 0; m < r->ndraws && s == GBM_OK; m++)
            gbm_components_add(&r->c, record(r, m), r->labels + m * r->c.k);
    }
    return s;
}

static enum gbm_status go_through(struct relabel *r,
                                  const struct gbm_data *reference,
                                  struct gbm_relabelling *out,
                                  char error[GBM_ERROR])
{
    const size_t k = (size_t)r->c.k;
    enum gbm_status s = GBM_OK;

    out->components = r->c.k;
    r->labels = calloc((size_t)r->ndraws * k + 1, sizeof *r->labels);
    r->found = malloc(k * sizeof *r->found);
    if (!r->labels || !r->found)
        return explain(r, GBM_FAILURE, 0, error);
    for (int64_t m = 0; m < r->ndraws; m++)
        gbm_components_see(&r->c, record(r, m));
    if (reference) {
        out->passes = 1;
        s = gbm_components_refer(&r->c, reference, error);
        if (s == GBM_OK)
            s = pass(r, &(bool){false}, error);
    } else {
        s = pass_until_still(r, &out->passes, error);
    }
    for (int64_t m = 0; m < r->ndraws && s == GBM_OK; m++)
        out->moved +=
            gbm_components_permute(&r->c, record(r, m), r->labels + m * r->c.k);
    return s;
}

enum gbm_status gbm_relabel(struct gbm_draws *draws, const char *list,
                            const struct gbm_data *reference,
                            struct gbm_relabelling *out, char error[GBM_ERROR])
{
    struct relabel r = {.draws = draws,
                        .ndraws = (int64_t)draws->chains * draws->kept};
    enum gbm_status s = gbm_components_create(&r.c, draws, list, error);

    *out = (struct gbm_relabelling){0};
    if (s != GBM_OK)
        return s;
    s = go_through(&r, reference, out, error);
    free(r.labels);
    free(r.found);
    gbm_components_free(&r.c);
    return s;
}
