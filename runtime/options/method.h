/* method.h: what `run` does with a model. A method is a file with
 * one struct rt_method; runtime/method.c lists them. */
#ifndef GBM_METHOD_H
#define GBM_METHOD_H

#include "options/options.h"

struct rt_chains;

struct rt_method {
    const char *name, *also; /* another name for it, or NULL */
    const char *help;        /* a line of --help */
    unsigned with;           /* GBM_WITH_... that the program must have */
    /* The command, from reading the data to writing what comes out; returns
     * the exit status. NULL: not supported yet. */
    int (*run)(struct rt *rt);
    bool particles;  /* of which --particles says how many; */
    bool filters;    /* whose states --proposal says how to draw; */
    bool own_sweeps; /* which say how many sweeps there are; */
    bool sequence;   /* data may enter in turns: --sequence; */
    bool from;       /* parameters may be those of draws: --from. */
    bool chains;     /* `run` is rt_run_chains (chains.h). Of such methods: */
    /* NULL: as plain MCMC.
     * Chains that run for each one of --chains; it may settle options; */
    int (*replicas)(struct rt_options *options);
    int starts; /* of them, where all draw from the prior first; 0: all; */
    const char *more; /* the option that brings more draws; NULL: --draws; */
    /* before the device takes the starting values; */
    enum gbm_status (*prepare)(struct rt_chains *r);
    /* a block of sweeps of all chains, as rt->device->run does it; */
    enum gbm_status (*advance)(struct rt_chains *r, const struct rt_block *b);
    /* which chain has the posterior's k-th state, of as many as draws are kept
     * of: behind a sweep, or where `advance` calls rt_relabelling_keep. NULL:
     * all have; */
    int (*posterior)(const struct rt_chains *r, int k);
    /* what else of the method a checkpoint must save; */
    void (*save)(struct rt_chains *r, struct rt_pieces *pieces);
    /* what it has to say at the end, and as members of the summary's JSON; */
    void (*report)(struct rt_chains *r, FILE *out, FILE *json);
    /* at the very end, even if not prepared. */
    void (*release)(struct rt_chains *r);
};

extern const struct rt_method rt_mcmc, rt_tempering, rt_smc, rt_optimize, rt_em,
    rt_particle_filter, rt_particle_metropolis;

/* method.c. What struct rt's `methods` is: all, the one that is taken by itself
 * first; NULL after the last. */
extern const struct rt_method *const rt_methods[];

/* variant.c. Returns where the program has what the options need; else it
 * becomes, by way of gbmc, a program that has, with the same arguments, or
 * fails. */
enum gbm_status rt_variant(struct rt *rt);
/* The same of powers, once it is known which data there are. */
enum gbm_status rt_variant_of_data(struct rt *rt, const struct rt_instance *in);

#endif
