/* sbc.h: what the files of simulation-based calibration share: sbc.c runs the
 * replicates, sbc_report.c tells of their ranks. */
#ifndef GBM_SBC_H
#define GBM_SBC_H

#include "simulate/simulate.h"
#include "record/pointwise.h"
#include "summary/uniformity.h"

struct rt_sbc {
    struct rt *rt;
    struct gbm_data data;
    struct rt_instance in; /* a chain for each replicate of a batch */
    struct gbm_draws draws;
    struct rt_pointwise pointwise;
    void **fresh; /* the slots as they were loaded */
    char *states;
    double *truth;                 /* [batch][width] */
    int batch, replicates, ranked; /* ranked: draws that a rank is among */
    int done;                      /* replicates */
    int *ranks;                    /* [width][replicates] */
    int *slow; /* [width] replicates with fewer effective draws */
    int64_t dropped, forward; /* of so many forward draws, without a density */
    int64_t extreme; /* replicates with values beside which data are rounded */
    int apart;       /* sweeps between draws that are kept */
    int lag;         /* sweeps between draws that are ranked, at most */
    uint64_t seed;
};

/* The name of the k-th quantity. */
void rt_sbc_name(const struct rt_sbc *s, int64_t k, char *name,
                 size_t capacity);
/* Tests the ranks, prints the table, and writes --out. Fails if they are not
 * uniform. */
enum gbm_status rt_sbc_report(struct rt_sbc *s);

#endif
