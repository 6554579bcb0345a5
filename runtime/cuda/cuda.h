/* cuda.h: private types of the CUDA device. Files:
 *   device.c   the table rt_cuda: open, load, put, get, moments, close
 *   plan.c     how each step is done
 *   build.c    the program's kernels, shared out among parts; their options
 *   error.c    messages of failed calls; what is said of the device
 *   memory.c   allocation, copies with change of precision
 *   heap.c     room for what threads take as they go
 *   launch.c   kernels, their teams and launches
 *   sweep.c    the sweep, captured as graphs; blocks of sweeps; draws
 *   chains.c   the sweeps of a small model as one kernel
 *   known.c    what its compiler is told of arrays
 *   recall.c   sums that steps know from the update before
 *   dense.c    dense Gaussian blocks: dense_small.c, dense_tiles.c,
 *              dense_library.c, blas.c
 *   side.c     streams beside the main one
 *   ceilings.c what memory and arithmetic can do, for a profile
 *   pass.c     a step's draws and a block's sum in one pass over the design
 *   ladder.c   tempering: sweeps with swaps between them
 *   particles.c   sequential samplers: particles are copied
 *   sum.c      sums of cells that the host asks for
 *   filter.c   particle filters: times one after the other
 *   index.c    inverse indices */
#ifndef CUDA_CUDA_H
#define CUDA_CUDA_H

#include "../rt.h"
#include "base/base.h"
#include "base/cache.h"
#include "control.h"
#include "team.h"

#include <cuda.h>
#include <nvrtc.h>
#include <cublas_v2.h>
#include <cusolverDn.h>

/* ---- error.c: every failure names the call, its place and its reason ---- */

struct cuda;
enum gbm_status cuda_failed(struct cuda *c, CUresult result, const char *call,
                            const char *file, int line);
enum gbm_status nvrtc_failed(struct cuda *c, nvrtcResult result,
                             const char *call, const char *file, int line);
enum gbm_status cublas_failed(struct cuda *c, cublasStatus_t result,
                              const char *call, const char *file, int line);
enum gbm_status cusolver_failed(struct cuda *c, cusolverStatus_t result,
                                const char *call, const char *file, int line);
/* Adds to what is said of the device. */
void cuda_say(struct cuda *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Return from the calling function if the call fails; `c` is in scope. What it
 * puts on a stream no kernel follows before it is done (launch.c). */
#define CU(call)                                                               \
    do {                                                                       \
        CUresult cu_result = (call);                                           \
        c->followed = NULL;                                                    \
        if (cu_result != CUDA_SUCCESS)                                         \
            return cuda_failed(c, cu_result, #call, __FILE__, __LINE__);       \
    } while (0)
#define NVRTC(call)                                                            \
    do {                                                                       \
        nvrtcResult nvrtc_result = (call);                                     \
        if (nvrtc_result != NVRTC_SUCCESS)                                     \
            return nvrtc_failed(c, nvrtc_result, #call, __FILE__, __LINE__);   \
    } while (0)
#define CUBLAS(call)                                                           \
    do {                                                                       \
        cublasStatus_t cublas_result = (call);                                 \
        c->followed = NULL;                                                    \
        if (cublas_result != CUBLAS_STATUS_SUCCESS)                            \
            return cublas_failed(c, cublas_result, #call, __FILE__, __LINE__); \
    } while (0)
#define CUSOLVER(call)                                                         \
    do {                                                                       \
        cusolverStatus_t cusolver_result = (call);                             \
        c->followed = NULL;                                                    \
        if (cusolver_result != CUSOLVER_STATUS_SUCCESS)                        \
            return cusolver_failed(c, cusolver_result, #call, __FILE__,        \
                                   __LINE__);                                  \
    } while (0)
#define TRY(call)                                                              \
    do {                                                                       \
        enum gbm_status try_status = (call);                                   \
        if (try_status != GBM_OK)                                              \
            return try_status;                                                 \
    } while (0)

/* ---- launch.c ---- */

/* A kernel of the generated program, or of kernels.h (lanes 1). */
struct cuda_kernel {
    char name[128]; /* "update_theta_kernel" */
    CUfunction function;
    int effort;   /* about how long it takes to compile: 1 is a density */
    int part;     /* of the generated program, that it is compiled in */
    int lanes;    /* of a team */
    int block;    /* threads */
    int64_t fill; /* blocks that the device holds at once */
    int64_t most; /* that its heap has room for; 0: they take none */
    int shared;   /* bytes of shared memory, if a launch asks for many */
};

/* ---- pass.c ---- */

struct cuda_dense_term;
struct cuda_pass {
    struct cuda_kernel kernel, weight;
    int matrix;   /* groups of 32 columns of a warp that has its products from
                     tensor cores; 0: none has */
    size_t room;  /* bytes of a crew's shared memory */
    size_t bytes; /* of a block's */
    int tile;     /* rows that are at hand */
    int words;    /* of a thread */
    int groups;   /* of threads, that share out the rows */
    int parts;    /* of the sums of a group of chains */
    int64_t blocks;
    CUdeviceptr partial;
};

/* ---- dense.c ---- */

#define DENSE_TERMS 8

struct cuda_dense_term {
    const struct gbm_dense_term *model;
    int64_t rows;
    struct cuda_kernel row, design;
    CUdeviceptr matrix;     /* [rows][d], or [chains][rows][d] if it varies */
    int64_t matrix_stride;  /* from chain to chain, cells; 0: shared */
    int slot;               /* that `matrix` is, or -1 */
    CUdeviceptr own_matrix; /* then */
    CUdeviceptr weight, score; /* [chains][rows] */
    bool constant;             /* the Gram matrix is known but for a scale */
    CUdeviceptr gram;          /* then: [d][d], or the packed triangle */
    int64_t scale_row;         /* its weight is the scale; -1: no row counts */
    int splits;                /* ROUTE_SMALL: blocks that share the rows */
    bool has_pass;             /* a step's draws and the scores' sum at once */
    struct cuda_pass pass;
};

/* As in kernels.h; pointers of the device. */
struct dense_terms {
    CUdeviceptr gram[DENSE_TERMS], scale[DENSE_TERMS];
    CUdeviceptr varying;
    int n;
};
struct scaled_terms {
    CUdeviceptr gram[DENSE_TERMS], scale[DENSE_TERMS];
    long long scale_stride[DENSE_TERMS];
    int n;
};

enum dense_route { ROUTE_SMALL, ROUTE_TILES, ROUTE_LIBRARY, ROUTE_WIDE };

/* Where the block of a chain is factorised; element types as in kernels.h. */
struct cuda_factor {
    CUdeviceptr q, diagonal, b, info, rescue, device_work;
    CUdeviceptr down, up; /* what blocks of a solve share (dense_solve.h) */
    void *host_work;
};

/* Memory of a dense step; element types as in kernels.h. */
struct cuda_dense {
    const struct gbm_dense *model;
    enum dense_route route;
    int step; /* number of the step: its place in the random number key */
    int d;
    int64_t rows; /* of all terms */
    int nterms;
    struct cuda_dense_term *terms;
    struct cuda_kernel prior, get, set;
    bool prior_matrix;
    unsigned char *held;                 /* [d] of the host, or NULL: none */
    CUdeviceptr fixed;                   /* the same, or 0 */
    bool in_place;                       /* x is the variable as it lies */
    CUdeviceptr precision, potential, x; /* [chains]..., real */
    /* ROUTE_SMALL */
    int threads, tile, splits;
    CUdeviceptr partial, folded;
    /* ROUTE_TILES: for `at_once` chains; the factor packed, [d][d], [d],
     * doubles [d][d] each */
    int at_once;
    CUdeviceptr packed, factor, diagonal, work;
    struct cuda_slot *number; /* what score_sum is multiplied by; or NULL */
    /* ROUTE_LIBRARY, ROUTE_WIDE */
    struct cuda_factor *factors; /* for so many chains at a time */
    int nfactors;
    CUdeviceptr score_sum; /* [chains][d], real */
    CUdeviceptr varying;   /* [d][d] */
    CUdeviceptr scaled;    /* rows in scaled form, `chunk` at a time */
    int64_t chunk;
    size_t device_bytes, host_bytes; /* workspaces of a factorisation */
    CUdeviceptr residual;            /* ROUTE_WIDE: [rows] */
};

/* ---- index.c ---- */

struct cuda_index {
    struct cuda_kernel cell;
    int64_t count;
    int cells, chunks, blocks;
    int64_t chunk;
    CUdeviceptr key, counts, sums;
};

/* ---- chains.c ---- */

/* What a kept sweep does: struct gbm_kept of stdlib/kernels/kept_cuda.h, with
 * pointers of the device; pieces of sweeps that enter the moments alone, of
 * those that are kept, too, and with their log density. */
struct cuda_kept {
    CUdeviceptr moments, monitors, pieces, draws;
    long long row;
    int nmoments, nmonitors, chains;
};
struct cuda_keep {
    struct cuda_kept all;
    int counted, kept, with_lp;
};

/* Sweeps by one kernel, a chain by one team of lanes. lanes 0: not so. The
 * tables are those of stdlib/kernels/chains_cuda.h. */
struct cuda_chains {
    int lanes;
    struct cuda_kernel kernel;
    int64_t ncolours;
    CUdeviceptr plan, steps, families, densities, colours;
};

/* ---- ladder.c ---- */

/* As in ladder.h; pointers of the device. */
struct ladder_slot {
    CUdeviceptr values;
    long long cells, offset;
    int integer;
};

enum { LADDER_LANES = 8 };
struct ladder_batch {
    unsigned block, from;
    int thin, kinds;
};
struct ladder_plan {
    CUdeviceptr batch, power, given, chain, rung, own, logliks, lp, rejected,
        stones, heading, trips, tuned, drawn, records, told, draws, picked;
    long long length, row;
    int ntuned, ndrawn, ladders, replicas;
};

/* What tempering has on the device, from its first sweeps on. */
struct cuda_ladder {
    bool open;
    struct ladder_plan plan;
    struct ladder_slot *drawn; /* of the host; what a draw of the prior sets */
    int *variables;            /* [ndrawn] whose they are */
    int64_t room;              /* sweeps that records are at hand for */
    uint32_t next;             /* number of the next sweep */
    /* Of sweeps from number `first` on, of which `ready` are drawn:
     * [room][ladders][length], [room][ladders]. */
    double *records, *told;
    uint32_t first;
    int ready;
    double *kept; /* [room][ladders][row] */
};

/* ---- filter.c ---- */

/* Particle filters; struct names as in filter.h. on: it is all that the device
 * does, and the program has nothing else. */
struct cuda_filter {
    bool on;
    const struct rt_course *course;
    int *asked; /* [nfamilies] what is done with its elements */
    struct cuda_kernel advance;
    int tiles, batch; /* of particles; cells that are told of at once */
    CUdeviceptr acts, live, tracked, by_last; /* as struct rt_course has them */
    CUdeviceptr control, instants;
    CUdeviceptr increment, weight, taken, surplus, trace,
        room;                          /* [particles] */
    CUdeviceptr parts, squares, empty; /* [tiles] */
    CUdeviceptr ancestors;             /* [times][particles] by resampling */
    CUdeviceptr keys, cell_sums, cell_squares, cell_masses, found; /* [batch] */
    CUdeviceptr filtered, smoothed, paths, chosen, chosen_paths;
};

/* ---- build.c ---- */

/* The generated program is compiled in so many parts at most, each with its
 * share of the kernels; with kernels.h that makes CUDA_PROGRAMS texts. It does
 * not depend on the number of cores, so neither does the machine code. */
#define CUDA_PARTS 8
#define CUDA_PROGRAMS (CUDA_PARTS + 1)

/* ---- device.c ---- */

struct cuda_slot {
    CUdeviceptr values, seen;
    int64_t cells;        /* of all chains */
    int64_t stride;       /* cells from chain to chain; 0: shared */
    CUdeviceptr mean, m2; /* running moments; 0: none */
    CUdeviceptr counts;   /* of values 1, ..., categories, in their place */
};

struct cuda_step {
    struct cuda_kernel kernel;
    CUdeviceptr elements;
    struct cuda_dense *dense;      /* GBM_STEP_DENSE */
    struct cuda_index *index;      /* GBM_STEP_INDEX */
    struct cuda_dense *drawn_for;  /* done by a pass of this block; or NULL */
    int since;                     /* then: the step before which it begins */
    struct cuda_dense *scales_for; /* multiplies what such a pass has summed for
                                      it; or NULL */
    int64_t at_once; /* elements of all chains that move at once */
    bool by_rows;    /* as rows of stdlib/kernels/rows.h */
    bool forms;      /* which are bounded first (rows_forms.h) */
    struct cuda_kernel
        values; /* of rows: fills the table of what values tell */
    CUdeviceptr table;
    int64_t tried; /* values, of all chains */
    bool recalls;  /* sums that it knows from before (recall.c) */
    bool beside;   /* a warp has neighbouring elements (GBM_KERNEL_TALLY) */
    /* aside.c: whether it is done beside others; then the last step of the main
     * stream before it, or -1, and the first behind it */
    bool aside;
    int behind, ahead_of;
    CUevent done; /* if another stream waits for it */
};

struct cuda_monitor {
    CUdeviceptr cells;
};

/* ---- side.c ---- */

#define CUDA_SIDES 8
struct cuda_side {
    CUstream stream;
    CUevent done;
    cublasHandle_t blas;
    CUdeviceptr work; /* of cuBLAS */
    cusolverDnHandle_t solver;
};

/* An allocation asked for: all are summed before any is made. */
struct cuda_request {
    CUdeviceptr *where;
    size_t bytes;
    const char *what;
};

/* What a sweep ends with: nothing, its entry into the running moments, or what
 * is kept besides. */
enum cuda_end {
    CUDA_SWEEP,
    CUDA_COUNTED,
    CUDA_KEPT,
    CUDA_SWAPPED, /* rungs of ladders are swapped behind it; kept, too */
    CUDA_SWAPPED_KEPT,
    CUDA_ENDS
};
/* What a captured graph does: `sweeps` sweeps of a kind. */
#define CUDA_GRAPHS (2 * CUDA_ENDS)
struct cuda_graph {
    CUgraphExec exec;
    enum cuda_end end;
    int sweeps;
};

/* ---- settled.c ---- */

/* Programs without moves that chains do not make behind warm-up. */
struct cuda_settled {
    bool can[CUDA_PARTS];           /* the part has such */
    struct rt_key keys[CUDA_PARTS]; /* of the program without */
    bool known, idle;               /* whether no chain makes them */
    bool refused;                   /* it cannot be had */
    CUmodule before[CUDA_PARTS];    /* whose place it has; NULL: none */
};

struct cuda {
    struct rt *rt;
    struct rt_instance *in; /* NULL before load */
    CUdevice device;
    bool has_context;
    CUcontext context; /* the device's primary one */
    CUstream copies;
    struct cuda_side main, sides[CUDA_SIDES], below, aside;
    bool has_aside;    /* steps that are done there */
    CUstream followed; /* where the last call was a kernel's launch; or NULL */
    bool follows;      /* a kernel may begin before what it follows is done */
    CUstream stream;   /* and the handles: of the one that work goes to now */
    cublasHandle_t blas;
    cusolverDnHandle_t solver;
    cusolverDnParams_t solver_params;
    int nsides;   /* that are open */
    int priority; /* of all streams but the one below */
    CUevent fork;
    char device_name[128];
    size_t text_length; /* of rt->device_text without what a load adds */
    int multiprocessors, major, minor;
    size_t shared_most; /* bytes that a block may ask for */
    bool portable;      /* NVRTC does not know the device: PTX */
    bool sync_each;     /* GBM_CUDA_SYNC=1: wait after every launch */
    bool no_graphs;     /* a capture failed */
    bool ahead;         /* chains have no values yet */

    bool single, mixed;           /* the state is float; sums are double */
    size_t real_size, total_size; /* bytes of `real` and of `gbm_total` */
    CUmodule parts[CUDA_PARTS];   /* of the generated program */
    CUmodule kernels;
    struct cuda_fixed { /* of kernels.h; some only with dense blocks */
        struct cuda_kernel sweeps_done, keep, add_densities, add_cells,
            index_count, index_sums, index_scan, index_place, dense_scale_rows,
            dense_fold, dense_add, dense_multiply, dense_mirror, dense_form,
            dense_potential, dense_hold_potential, dense_hold_precision,
            dense_rescue, solve_down, solve_up, tiles_factor, tiles_draw,
            small_gram, small_fold, small_draw, wide_scale, wide_prior,
            wide_residual, wide_identity, wide_finish, ladder_powers,
            ladder_logliks, ladder_swap, particles_copy, particles_average,
            filter_begin, filter_weigh, filter_take, filter_number,
            filter_descend, filter_spread, filter_fetch, filter_digit,
            filter_tell, filter_trace, filter_gather, filter_squares,
            filter_paths, filter_keep;
    } fixed;

    struct cuda_apart *apart;   /* NULL: no process compiles */
    struct cuda_better *better; /* NULL: nothing better will come */
    struct cuda_settled settled;

    struct cuda_request *requests;
    int nrequests, request_capacity;
    CUdeviceptr *allocations;
    int nallocations;

    void *state;      /* struct state of chain 0, with device pointers */
    void *host_state; /* the same with the host's */
    struct cuda_slot *slots;
    struct cuda_step *steps;
    struct cuda_kernel *kept; /* [nkept_families] */
    struct cuda_keep keep;
    struct cuda_chains chains;
    struct cuda_ladder ladder;
    struct {
        CUdeviceptr from, copy; /* 0 until they are resampled first */
    } particles;
    struct {
        CUdeviceptr parts, all; /* 0 until sums are asked for first */
    } sums;
    struct cuda_filter filter;
    int pass_chains; /* that a pass takes together; 0: there is none */
    struct cuda_monitor *monitors;
    CUdeviceptr control;

    /* The log density of the model: families that count and have elements. */
    struct cuda_kernel *densities; /* [nfamilies], without a name: left out */
    struct cuda_kernel *known;     /* the same, of sums that sweeps know */
    CUdeviceptr density;           /* [chains][most elements of a family] */
    CUdeviceptr lp;                /* [chains] */
    bool has_lp, with_lp;          /* can be computed; is, in this block */

    /* The ring of draws: two halves of [half][chains][row] doubles; a row is
     * that of the instance, and the log density if it can be computed. */
    int64_t half, row;
    CUdeviceptr draws;
    double *staging; /* page-locked, one half */
    CUevent done[2], copied;

    bool ran[CUDA_ENDS];  /* a sweep of a kind has run outside of a graph */
    int64_t launches;     /* of kernels, so far */
    int64_t jitters;      /* of `control` that rt has counted */
    int batch[CUDA_ENDS]; /* sweeps of a long graph of a kind */
    struct cuda_graph graphs[CUDA_GRAPHS];
    int ngraphs;
};

/* ---- side.c ---- */
/* All but the sides; the first n sides, at most CUDA_SIDES, if they are not
 * open. */
enum gbm_status cuda_streams_open(struct cuda *c);
enum gbm_status cuda_sides_open(struct cuda *c, int n);
/* Opens cuBLAS and cuSOLVER, which takes a while, if they are not open. */
enum gbm_status cuda_open_libraries(struct cuda *c);
void cuda_streams_close(struct cuda *c);
enum gbm_status cuda_sides_synchronize(struct cuda *c);
/* n sides go on when the main stream is where it is now; the main stream when
 * they are. */
enum gbm_status cuda_stream_open(struct cuda *c, struct cuda_side *s);
enum gbm_status cuda_fork(struct cuda *c, struct cuda_side *sides, int n);
enum gbm_status cuda_join(struct cuda *c, struct cuda_side *sides, int n);
/* What follows goes there: to a side, and back to c->main. */
void cuda_turn(struct cuda *c, const struct cuda_side *to);

/* ---- memory.c ---- */
/* Asks for memory: *where is set by cuda_allocate. Zeroed. */
enum gbm_status cuda_request(struct cuda *c, CUdeviceptr *where, size_t bytes,
                             const char *what);
enum gbm_status cuda_allocate(struct cuda *c);
void cuda_release(struct cuda *c);
/* "1.5 GiB" */
const char *cuda_human(double bytes, char *out, size_t size);
enum gbm_status cuda_upload(struct cuda *c, CUdeviceptr to, const void *from,
                            size_t bytes);
/* Cells of a variable: double on the host, `real` on the device; or int. */
enum gbm_status cuda_put_cells(struct cuda *c, CUdeviceptr to, const void *from,
                               int64_t cells, bool integer);
enum gbm_status cuda_get_cells(struct cuda *c, void *to, CUdeviceptr from,
                               int64_t cells, bool integer);

/* ---- heap.c ---- */
/* Makes the device's heap as large as the threads need that take from it, or
 * lets fewer of them go at once. Before the program is loaded. */
enum gbm_status cuda_reserve_heap(struct cuda *c);

/* ---- launch.c ---- */
/* Lanes that an element is worth: `cost` terms in its sums, `items` elements
 * and chains at once. */
int cuda_lanes(const struct cuda *c, int64_t cost, int64_t items);
int cuda_wide_lanes(const struct cuda *c, int64_t cost, int64_t barriers,
                    int64_t items);
/* Sets the name ("f_kernel" from "f" or "f_kernel") and the lanes. */
void cuda_name_kernel(struct cuda_kernel *k, const char *name, int lanes);
/* The blocks of a wide team have half as many threads, if lanes are left. */
void cuda_halve_blocks(struct cuda_kernel *k);
enum gbm_status cuda_find(struct cuda *c, CUmodule module,
                          struct cuda_kernel *k);
enum gbm_status cuda_find_fixed(struct cuda *c);
/* A launch of it will ask for so much shared memory; after it is found. */
enum gbm_status cuda_allow_shared(struct cuda *c, struct cuda_kernel *k,
                                  size_t bytes);
/* One team per item. */
enum gbm_status cuda_launch(struct cuda *c, const struct cuda_kernel *k,
                            int64_t items, void **args);
enum gbm_status cuda_launch_grid(struct cuda *c, const struct cuda_kernel *k,
                                 int64_t grid_x, int grid_y, int block,
                                 size_t shared, void **args);
/* One thread per item, no more blocks than keep the device busy. */
enum gbm_status cuda_launch_flat(struct cuda *c, const struct cuda_kernel *k,
                                 int64_t items, void **args);

/* ---- device.c ---- */

/* ---- plan.c ---- */
/* Fewest lanes of a step that is a small joint block; 0: it is none. */
int cuda_joint_lanes(const struct cuda *c, int step);
/* Cells of a joint block's work space that a lane has as an array, where it
 * sweeps a chain of its own; 0: it has none. */
int64_t cuda_joint_room(const struct cuda *c, int step);
/* Whether such a lane has the block's border, too. */
bool cuda_joint_bordered(const struct cuda *c, int step);
/* After the host's state is bound: lanes hang on extents. */
enum gbm_status cuda_plan(struct cuda *c);

/* ---- build.c ---- */
/* Compiles what was planned, and finds its kernels. Sets rt->jit_s. */
enum gbm_status cuda_build(struct cuda *c);
/* The compiling may begin; cuda_build waits for it. */
enum gbm_status cuda_build_ahead(struct cuda *c);
/* Coordinates of a block whose matrix a thread has in memory of its own. */
int cuda_largest_block(const struct cuda *c);
/* Finds them again, where modules are others. */
enum gbm_status cuda_find_all(struct cuda *c);
/* Compiles the settled level of the parts that settle, into modules[part]. */
enum gbm_status cuda_build_settled(struct cuda *c, CUmodule *modules);
/* Modules, and what would come in their place. */
void cuda_drop_programs(struct cuda *c);

/* ---- dense.c ---- */
/* Chooses the route, names kernels. Before the program is compiled. */
enum gbm_status cuda_dense_plan(struct cuda *c, int step);
/* Whether some block goes the small route, or another. */
bool cuda_dense_has(const struct cuda *c, bool small);
/* The edge of the largest block of ROUTE_TILES, in tiles; 0: there is none. */
int cuda_dense_tiles(const struct cuda *c);
/* Asks for memory. After the kernels are known. */
enum gbm_status cuda_dense_request(struct cuda *c, struct cuda_dense *dense);
/* Designs and Gram matrices of data alone. After everything is uploaded. */
enum gbm_status cuda_dense_prepare(struct cuda *c, struct cuda_dense *dense);
enum gbm_status cuda_dense_run(struct cuda *c, struct cuda_dense *dense);
/* In the place of a step that it draws: begins the pass below the main stream.
 * The block waits for it. */
enum gbm_status cuda_dense_draw_rows(struct cuda *c, int step);
/* What a pass has summed for the block of a step that multiplies its draws is
 * multiplied, too. */
enum gbm_status cuda_dense_multiply(struct cuda *c, int step);
/* Whether a run reads the block's value before it draws: its kernel `get`. */
bool cuda_dense_gets(const struct cuda_dense *dense);
void cuda_dense_free(struct cuda_dense *dense);

/* ---- pass.c ---- */
/* Whether a term's rows and the draws that they wait for go in one pass; names
 * its kernels. */
bool cuda_pass_plan(struct cuda *c, struct cuda_pass *pass,
                    const struct gbm_dense_term *term, int64_t rows, int d);
enum gbm_status cuda_pass_request(struct cuda *c, struct cuda_pass *pass,
                                  int64_t rows, int d);
/* The weight of one row in each chain, before the pass. weight: [chains][rows]
 */
enum gbm_status cuda_pass_weight(struct cuda *c, const struct cuda_pass *pass,
                                 int64_t rows, int64_t row, CUdeviceptr weight);
/* Draws, and sum (add: +) = A' score. x, the block's value, and sum:
 * [chains][d], real */
enum gbm_status cuda_pass_run(struct cuda *c, const struct cuda_pass *pass,
                              const struct cuda_dense_term *term, int d,
                              CUdeviceptr x, bool add, CUdeviceptr sum);

/* ---- known.c ---- */
/* An option that tells what is known of arrays; false: it does not pay, or is
 * too long. After cuda_chains_plan. */
bool cuda_known(const struct cuda *c, char *out, size_t room);

/* ---- recall.c ---- */
/* Which steps keep sums; after cuda_chains_plan. */
void cuda_recall_plan(struct cuda *c);
/* Whether a slot has memory on the device. */
bool cuda_keeps_slot(const struct cuda *c, int variable);

/* ---- aside.c ---- */
/* Which steps are done beside others. Requires the plan of all steps. */
enum gbm_status cuda_aside_plan(struct cuda *c);
enum gbm_status cuda_aside_open(struct cuda *c);
void cuda_aside_close(struct cuda *c);
/* Around the steps of a sweep, and around each: what it is launched on is
 * c->stream between the two. */
enum gbm_status cuda_aside_begin(struct cuda *c);
enum gbm_status cuda_aside_turn(struct cuda *c, int k);
enum gbm_status cuda_aside_return(struct cuda *c, int k);
enum gbm_status cuda_aside_end(struct cuda *c);

/* ---- keep.c ---- */
enum gbm_status cuda_keep_request(struct cuda *c);
/* After everything has its place. */
enum gbm_status cuda_keep_upload(struct cuda *c);
/* Puts on the stream what a sweep does that enters the moments, and is kept. */
enum gbm_status cuda_keep_run(struct cuda *c, bool kept);

/* ---- chains.c ---- */
/* Operations of an element in what a search for its value repeats, as the
 * program counts them (emit/work.c), and the rows that have them. */
double cuda_search_operations(const struct cuda *c, int step, double *rows);
/* The same, if rows have many operations; 0: they have not. */
double cuda_heavy_operations(const struct cuda *c, int step);
/* Decides whether, and with how many lanes a chain; after the steps are
 * planned, before the program is compiled. */
void cuda_chains_plan(struct cuda *c);
enum gbm_status cuda_chains_request(struct cuda *c);
/* After everything has its place. */
enum gbm_status cuda_chains_upload(struct cuda *c);
/* Puts `sweeps` sweeps on the stream; each thin-th is kept (0: none). */
enum gbm_status cuda_chains_run(struct cuda *c, int thin, int64_t sweeps);
/* The same of one sweep of tempering, which cuda_ladder_swap ends. */
enum gbm_status cuda_chains_sweep(struct cuda *c, bool kept);

/* ---- ladder.c ---- */
/* Whether the model has powers, so that there are kernels for it. */
bool cuda_ladder_has(const struct cuda *c);
/* As struct rt_device says of temper and ladder. */
enum gbm_status cuda_temper(struct rt *rt, const struct rt_block *block,
                            struct rt_ladder *ladder, int from, int to);
enum gbm_status cuda_get_ladder(struct rt *rt, struct rt_ladder *ladder);
/* Puts on the stream what is done behind a sweep. */
enum gbm_status cuda_ladder_swap(struct cuda *c, bool kept);
/* The family whose log likelihood is all that has powers and that whole sweeps
 * know themselves; -1: there is none. */
int cuda_ladder_known(const struct cuda *c);
/* What of it is in host memory. */
void cuda_ladder_free(struct cuda *c);

/* ---- particles.c ---- */
/* As struct rt_device says of descend and average. */
enum gbm_status cuda_descend(struct rt *rt, const int *from,
                             const double *powers);
enum gbm_status cuda_average(struct rt *rt, int n);

/* ---- sum.c ---- */
/* As struct rt_device says. */
enum gbm_status cuda_sum(struct rt *rt, const struct rt_run *runs, int64_t n,
                         double *sums);

/* ---- filter.c, where c->filter.on ---- */
extern const struct rt_filter_device cuda_filter_device;
/* In the place of cuda_plan; memory; what is in it. */
enum gbm_status cuda_filter_plan(struct cuda *c);
enum gbm_status cuda_filter_request(struct cuda *c);
enum gbm_status cuda_filter_upload(struct cuda *c);
/* All particles have the cells of the first. */
enum gbm_status cuda_filter_spread(struct cuda *c);
/* Cells of a particle's largest node. */
int64_t cuda_filter_cells(const struct cuda *c);
void cuda_filter_free(struct cuda *c);
/* device.c: as struct rt_filter_device says of them. */
enum gbm_status cuda_filter_load(struct rt *rt, struct rt_instance *particles,
                                 const struct rt_course *course);
enum gbm_status cuda_filter_put(struct rt *rt);
enum gbm_status cuda_filter_get(struct rt *rt);

/* ---- index.c ---- */
enum gbm_status cuda_index_plan(struct cuda *c, int step);
enum gbm_status cuda_index_request(struct cuda *c, struct cuda_index *index);
enum gbm_status cuda_rows_request(struct cuda *c, int step);
/* Of the sizes of a step whose elements are updated as rows: the features are 0
 * where densities are not bounded first. */
void cuda_forms(const struct cuda *c, int64_t *sizes);
enum gbm_status cuda_index_run(struct cuda *c, const struct gbm_step *step,
                               struct cuda_index *index);

/* ---- ceilings.c ---- */
/* As struct rt_device says. */
enum gbm_status cuda_ceilings(struct rt *rt, double shared, double own,
                              struct rt_ceilings *out);

/* ---- sweep.c ---- */
/* lp = (first) or += the log density of a family that has a kernel for it. */
enum gbm_status cuda_sum_density(struct cuda *c, int family, int first);
enum gbm_status cuda_run(struct rt *rt, const struct rt_block *block);
/* The same piece by piece, of sweeps behind each of which rungs are swapped:
 * tells the device what a block has, of whose sweeps `first` is the next one;
 * puts n on the stream; waits for all and asks whether one failed. */
enum gbm_status cuda_block_begin(struct cuda *c, const struct rt_block *block,
                                 uint32_t first);
enum gbm_status cuda_swapped_sweeps(struct cuda *c, bool kept, int64_t n);
enum gbm_status cuda_block_end(struct cuda *c);
/* Forgets graphs (after a reload). */
void cuda_forget_graphs(struct cuda *c);

#endif
