/* smc.h: what the sequential sampler has of its islands, and what it says of
 * them at the end. */
#ifndef GBM_SMC_H
#define GBM_SMC_H

#include "filter/filter.h"
#include "powers/tempering.h"

#define RT_SMC_CORRELATION                                                     \
    0.1 /* of log likelihoods before and after the moves                       \
         */
enum { RT_SMC_MOST_SWEEPS = 100 };

struct island {
    int turn;     /* the next one, or the last that has entered in part; */
    double share; /* so far */
    double log_evidence, variance;
    double least; /* that the variance can be */
    int steps;
};

struct smc {
    int islands, particles;
    struct island *island;
    struct rt_turns turns;
    double *score; /* [islands][turns] what each turn adds to the evidence */
    double *loglik, *before; /* [chains] of data that have entered */
    double *part, *grown; /* [particles] of a turn; weights' logs in a step */
    int *eve;             /* [chains] the first particle it comes from */
    double *weight;       /* [particles], and what one resampling needs */
    int *ancestor;
    double *row, *lp; /* [chains] */
    char *states;
    struct rt_sums sums; /* over an island's particles */
    bool away;           /* states move and are copied on the device alone */
    int *from;   /* [chains] then: of all chains, which each goes on from */
    bool tunes;  /* the sweep has something to tune */
    double left; /* the largest correlation that moves ended with */
    bool begun, moving;
    bool confined; /* began where the data are possible */
    int moved;     /* sweeps of the moves at hand */
    int given;     /* draws of an island */
    bool drawn;
    uint32_t sweep;
};

/* Evidence, its error, and with --sequence what each turn adds. */
void rt_smc_report(struct rt_chains *r, FILE *out, FILE *json);

#endif
