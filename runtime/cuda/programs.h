/* programs.h: programs of the device are compiled, kept and replaced. Files:
 *   text.c     the fixed kernels' text
 *   nvrtc.c    compiles CUDA text; a cache on disk
 *   apart.c    processes that compile programs, side by side and beside the
 *              run
 *   better.c   better programs take the place of quick ones
 *   settled.c  behind warm-up, programs without moves that none makes */
#ifndef CUDA_PROGRAMS_H
#define CUDA_PROGRAMS_H

#include "cuda.h"

/* ---- text.c ---- */
/* What programs may include beside the model's headers; last {NULL}. */
extern const struct gbm_header cuda_texts[];

/* ---- nvrtc.c ---- */
/* How much the compiler does for a program: enough for the first sweeps to
 * begin soon, more, all that it can. Draws are the same bits at all of them:
 * nothing is contracted (-fmad=false), and no level may reorder sums. */
/* Settled: all, and without the moves that sweeps behind warm-up may do without
 * (gbm_step.idle). */
enum cuda_level {
    CUDA_NONE,
    CUDA_QUICK,
    CUDA_MIDDLE,
    CUDA_FULL,
    CUDA_SETTLED,
    CUDA_LEVELS
};
/* A text to compile, and where it is loaded. `name` is for messages:
 * "horseshoe.cu". */
struct cuda_program {
    const char *name, *text;
    const char *const *options;
    int noptions;
    CUmodule *module;
    bool settles; /* has such moves */
    /* of nvrtc.c */
    enum cuda_level level; /* that is loaded */
    struct rt_key keys[CUDA_LEVELS];
    nvrtcProgram nvrtc;
    nvrtcResult result;
    char *code; /* what a process beside has compiled, until it is loaded */
    size_t bytes;
};
/* What programs may include: the model's headers, and those of the fixed
 * kernels. False: there is no memory; closed in either case. */
struct cuda_headers {
    const char **names, **texts;
    int n;
};
bool cuda_headers_open(struct cuda_headers *h, const struct gbm_model *model);
void cuda_headers_close(struct cuda_headers *h);
/* The option that says what to compile for. Sets c->portable. */
enum gbm_status cuda_architecture(struct cuda *c, char *out, size_t size);
/* Compiles the programs side by side and loads them; what is in the cache is
 * taken from there. At most CUDA_PROGRAMS, those that take longest first. With
 * `quick` what is loaded may be of a lower level, and better.c has begun on the
 * rest. */
enum gbm_status cuda_compile(struct cuda *c, struct cuda_program *programs,
                             int n, bool quick);
/* Compiles one at a level, with so many threads where the compiler can use
 * them. The caller destroys *out, if it is not NULL. */
nvrtcResult cuda_translate(const struct cuda_program *p,
                           const struct cuda_headers *headers,
                           enum cuda_level level, int threads,
                           nvrtcProgram *out);
/* Its machine code, which the caller frees; or NULL. portable: as PTX. */
char *cuda_code_of(bool portable, nvrtcProgram nvrtc, size_t *bytes);
/* The settled level of those that settle, here and now. */
enum gbm_status cuda_compile_settled(struct cuda *c,
                                     struct cuda_program *programs, int n);
/* Orders what is not kept of the programs (apart.c): cuda_compile will want it.
 */
void cuda_compile_ahead(struct cuda *c, struct cuda_program *programs, int n,
                        bool quick);

/* ---- build.c ---- */
/* Whether sweeps may begin with a quick program. */
bool cuda_is_quick(const struct cuda *c);

/* ---- apart.c ---- */
/* A program that is compiled by a process beside the run. */
struct cuda_order;
enum cuda_state { CUDA_TO_COME, CUDA_DONE, CUDA_NEVER };
/* Forks the process that compiles, if there is none; c->apart is NULL where it
 * cannot be. cuda_apart_end: ends it, whatever it is at. */
void cuda_apart_begin(struct cuda *c, const struct gbm_model *model);
void cuda_apart_end(struct cuda *c);
/* Orders those of the programs, which have their keys, that are not ordered
 * yet; each is compiled with so many threads. Nothing where c->apart is NULL.
 */
void cuda_apart_order(struct cuda *c, struct cuda_program *const *programs,
                      int n, enum cuda_level level, int threads);
/* What was ordered with the same key, to be compiled now or later; or NULL. */
struct cuda_order *cuda_apart_find(const struct cuda *c,
                                   const struct cuda_program *p,
                                   enum cuda_level level);
struct cuda_order *cuda_apart_find_later(const struct cuda *c,
                                         const struct rt_key *key);
/* Waits until it is compiled; false if it cannot be. */
bool cuda_apart_wait(struct cuda *c, const struct cuda_order *o);
/* An order that is begun with the first sweeps, and kept in the cache; or NULL:
 * there is no room. cuda_apart_sweeps: they have begun. */
struct cuda_order *cuda_apart_later(struct cuda *c,
                                    const struct cuda_program *p,
                                    enum cuda_level level);
void cuda_apart_sweeps(struct cuda *c);
enum cuda_state cuda_order_state(const struct cuda_order *o);
/* The code of one that is done, while c->apart is there; what it took. */
const char *cuda_order_code(const struct cuda_order *o, size_t *bytes);
double cuda_order_seconds(const struct cuda_order *o);
/* Its code is of no use. */
void cuda_order_refuse(struct cuda_order *o);

/* ---- better.c ---- */
/* Orders what of the programs is below the full level, for later. False if it
 * cannot: nothing better will come. */
bool cuda_better_begin(struct cuda *c, const struct cuda_program *programs,
                       int n);
/* After the programs are loaded, as their levels say. */
void cuda_better_than(struct cuda *c, const struct cuda_program *programs);
/* Between blocks of sweeps: what is ready takes the place of what is loaded. */
enum gbm_status cuda_better_take(struct cuda *c);
/* Nothing better is to come: ends what compiles it. */
void cuda_better_end(struct cuda *c);

/* ---- settled.c ---- */
/* Whether that part has moves that sweeps behind warm-up may do without. */
bool cuda_settles(const struct cuda *c, int part);
/* The programs are loaded: what may settle of them. */
void cuda_settled_of(struct cuda *c, const struct cuda_program *parts, int n);
/* Whether an order of the settled level is of use yet; whether a program is
 * loaded that has the place of this one. */
bool cuda_settled_wants(const struct cuda *c, const struct cuda_order *o);
bool cuda_settled_is(const struct cuda *c, const CUmodule *module);
/* Before a block of sweeps: programs are those for warm-up, or for what chains
 * have learnt there, once these are compiled. */
enum gbm_status cuda_settle(struct cuda *c, bool adapting);
void cuda_settled_end(struct cuda *c);

#endif
