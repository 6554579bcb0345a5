/* control.h: what changes from sweep to sweep, in device memory. Read by the
 * plugin's files, by kernels.h and by generated programs; so no libc. Starts as
 * struct gbm_sweep of runtime/model.h. */
#ifndef GBM_CONTROL_H
#define GBM_CONTROL_H

struct gbm_control {
    unsigned long long seed; /* struct gbm_sweep */
    unsigned sweep, chain0, adapting;
    unsigned store;             /* 1: the monitored cells go into the ring */
    unsigned slot;              /* place of the next draw in the ring */
    unsigned ring;              /* draws that the ring holds */
    unsigned long long moments; /* sweeps in the running moments */
    unsigned long long jitters; /* factorisations that needed jitter */
    /* The first factorisation that failed even so: 1 + the step's number. */
    unsigned failed, failed_sweep, failed_chain;
    unsigned arrived; /* blocks of a launch that are done with a sweep */
};

#endif
