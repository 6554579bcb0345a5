/* host.h: the CPU device's own types. */
#ifndef GBM_HOST_H
#define GBM_HOST_H

#include "io/draws.h"
#include "load/load.h"
#include "ahead.h"

/* ---- ahead.c: random numbers of many elements at once ---- */

#define HOST_BATCH 64 /* groups of GBM_AHEAD_GROUP places */

struct host_batch {
    int count;  /* of places */
    int stride; /* 1: a group has places of one sweep; GBM_AHEAD_GROUP: it is
                   one place of as many sweeps */
    struct gbm_places places[HOST_BATCH];
};

/* How many elements of the step a batch of one sweep holds; 0: none is computed
 * ahead. */
int64_t host_batch_room(const struct rt_instance *in,
                        const struct gbm_step *step);

/* Adds the places of elements[first..last), or of first..last if elements is
 * NULL. Returns the first one's number, or -1 if there is no room for all. */
int host_batch_add(struct host_batch *batch, const struct gbm_step *step,
                   const int *elements, int64_t first, int64_t last);

/* Fills out [HOST_BATCH]; sweep->ahead is `out` then, from place 0 on. */
void host_batch_draw(const struct rt_instance *in,
                     const struct host_batch *batch, uint32_t chain,
                     struct gbm_sweep *sweep, struct gbm_ahead *out);

/* ---- dense.c: Gaussian blocks with a design matrix ---- */

/* What is computed once: designs and, for constant weights, A'A. Shared by all
 * chains, read only while sweeping. */
struct host_dense;
struct host_dense *host_dense_create(struct rt *rt,
                                     const struct rt_instance *in,
                                     const struct gbm_step *step,
                                     const void *state);
void host_dense_free(struct host_dense *dense);

/* Whether a term's rows wait for step number `step`, which draws all of them,
 * in order, before the block is drawn: host_dense_draw_rows may do so in its
 * place, and make the sum of the scores in the same pass over the design. Makes
 * room for the chains' sums; false also where there is none. */
bool host_dense_plan_pass(struct host_dense *dense, int step);

/* Scratch space of one thread of chains; grows as blocks ask. */
struct host_work {
    double *cells;
    size_t capacity;
};

/* Draws the block of one chain, with `threads` threads. False if the precision
 * is not positive definite, whatever the jitter; counts jitters. */
bool host_dense_draw(const struct host_dense *dense, const void *state,
                     const struct gbm_sweep *sweep, uint32_t chain, int threads,
                     struct host_work *work, int64_t *jitters);

/* The step of a pass, of one chain. */
void host_dense_draw_rows(const struct host_dense *dense, int step,
                          const void *state, const struct gbm_sweep *sweep,
                          uint32_t chain, int threads, struct host_work *work);

/* For the self-check: the assembled precision [d][d] (lower triangle) and
 * potential [d] at a state. */
int host_dense_dimension(const struct host_dense *dense);
void host_dense_assemble(const struct host_dense *dense, const void *state,
                         int threads, struct host_work *work, double *precision,
                         double *potential);

/* ceilings.c: what `threads` threads do at most, for each of `chains` chains at
 * once; of copies, with so many bytes each. */
void host_measure(int threads, int chains, double bytes,
                  struct rt_ceilings *out);

/* ---- along.c: moves along lines that warm-up learns ---- */

struct host_along;
/* NULL: there is nothing to move so, or it is not wanted; `state`, chain 0's,
 * has its values. */
struct host_along *host_along_create(const struct rt *rt,
                                     const struct rt_instance *in,
                                     const void *state);
void host_along_free(struct host_along *a);
/* What of it a checkpoint saves. */
void host_along_own(struct host_along *a, struct rt_pieces *pieces);
/* Chains that are `from` sweeps into a block go on to which sweep of it before
 * they learn together; there they learn, where the number of sweeps is one that
 * lines are learnt after (false: no memory). */
int host_along_until(const struct host_along *a, const struct rt_block *b,
                     int from);
bool host_along_learn(struct host_along *a, const struct rt_block *b, int to);
/* Behind sweep `sweep` of a chain. To *told, if it is not NULL, what these
 * moves say of how the joint log density changes is added. */
void host_along_move(struct host_along *a, void *state, int chain,
                     const struct rt_block *b, uint32_t sweep, double *told);
/* For the self-check: the moves of the device that is loaded, or NULL; whether
 * there are any, and an element that they move. */
struct host_along *host_along_of(const struct rt *rt);
bool host_along_any(const struct host_along *a);
void host_along_first(const struct host_along *a, int *family,
                      int64_t *element);

/* moments.c */
struct rt_moments *rt_moments_create(const struct rt_instance *in);
void rt_moments_free(const struct rt_instance *in, struct rt_moments *moments);
/* For a checkpoint. */
void rt_moments_list(const struct rt_instance *in, struct rt_moments *moments,
                     struct rt_pieces *pieces);
enum gbm_status rt_moments_store(struct rt *rt, const struct rt_instance *in,
                                 const struct rt_moments *moments,
                                 int64_t count, struct gbm_draws *draws);

/* keep.c. What follows a sweep on a device whose chains are in host memory. The
 * kept families are derived; the state enters the moments as the `count`-th; a
 * kept sweep stores the k-th draws and lp of struct rt_block. */
void rt_derive_kept(const struct rt_instance *in, const void *state);
void rt_moments_add(const struct rt_instance *in,
                    const struct rt_moments *moments, int chain, int64_t count);
void rt_keep(const struct rt_instance *in, const struct rt_block *block,
             const void *state, int chain, int64_t k, int threads);
void rt_moments_copy(const struct rt_instance *in,
                     const struct rt_moments *from, struct rt_moments *to);

#endif
