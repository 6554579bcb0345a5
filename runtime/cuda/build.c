/* build.c: the program of a run: which kernels of the generated text it needs,
 * shared out among parts that are compiled side by side, with what the compiler
 * is told of their sizes. */
#include "programs.h"
#include "joint.h"

#include <stdlib.h>
#include <string.h>

/* The kernels of the generated program that a run needs, each once: one that is
 * named twice has the lanes that it was given first. */
struct kernels {
    struct cuda_kernel **list;
    int n;
};

static struct cuda_kernel *named_alike(const struct kernels *kernels,
                                       const struct cuda_kernel *k)
{
    for (int i = 0; i < kernels->n; i++)
        if (strcmp(kernels->list[i]->name, k->name) == 0)
            return kernels->list[i];
    return NULL;
}

/* Calls f with every kernel of the generated program that a run needs. */
static enum gbm_status
each_kernel(struct cuda *c, void *context,
            enum gbm_status (*f)(struct cuda *, struct cuda_kernel *, void *))
{
    const struct rt_instance *in = c->in;
    const bool by_steps = !c->chains.lanes;

    if (c->filter.on)
        return f(c, &c->filter.advance, context);
    if (!by_steps)
        TRY(f(c, &c->chains.kernel, context));
    for (int k = 0; by_steps && k < in->model->nsteps; k++) {
        struct cuda_step *s = &c->steps[k];
        if (!in->steps[k].active)
            continue;
        if (s->dense) {
            TRY(f(c, &s->dense->prior, context));
            if (!s->dense->in_place)
                TRY(f(c, &s->dense->set, context));
            if (cuda_dense_gets(s->dense))
                TRY(f(c, &s->dense->get, context));
            for (int i = 0; i < s->dense->nterms; i++) {
                TRY(f(c, &s->dense->terms[i].row, context));
                if (s->dense->terms[i].has_pass) {
                    TRY(f(c, &s->dense->terms[i].pass.kernel, context));
                    TRY(f(c, &s->dense->terms[i].pass.weight, context));
                }
                if (s->dense->terms[i].design.name[0])
                    TRY(f(c, &s->dense->terms[i].design, context));
            }
        } else if (s->index) {
            TRY(f(c, &s->index->cell, context));
        } else if (!s->drawn_for) {
            TRY(f(c, &s->kernel, context));
            if (s->by_rows)
                TRY(f(c, &s->values, context));
        }
    }
    for (int k = 0; by_steps && k < in->nkept_families; k++)
        TRY(f(c, &c->kept[k], context));
    for (int k = 0; k < in->model->nfamilies; k++)
        if (c->densities[k].name[0])
            TRY(f(c, &c->densities[k], context));
    for (int k = 0; k < in->model->nfamilies; k++)
        if (c->known[k].name[0])
            TRY(f(c, &c->known[k], context));
    return GBM_OK;
}

static enum gbm_status count_kernel(struct cuda *c, struct cuda_kernel *k,
                                    void *context)
{
    (void)c;
    (void)k;
    ++*(int *)context;
    return GBM_OK;
}

static enum gbm_status add_kernel(struct cuda *c, struct cuda_kernel *k,
                                  void *context)
{
    struct kernels *kernels = context;
    const struct cuda_kernel *first = named_alike(kernels, k);

    (void)c;
    if (first) {
        k->lanes = first->lanes;
        k->block = first->block;
    } else {
        kernels->list[kernels->n++] = k;
    }
    return GBM_OK;
}

static enum gbm_status place_kernel(struct cuda *c, struct cuda_kernel *k,
                                    void *context)
{
    (void)c;
    k->part = named_alike(context, k)->part;
    return GBM_OK;
}

static enum gbm_status find_kernel(struct cuda *c, struct cuda_kernel *k,
                                   void *context)
{
    (void)context;
    return cuda_find(c, c->parts[k->part], k);
}

enum gbm_status cuda_find_all(struct cuda *c)
{
    TRY(cuda_find_fixed(c));
    return each_kernel(c, NULL, find_kernel);
}

/* The one that takes longest of those that have no part yet. */
static struct cuda_kernel *longest_left(const struct kernels *kernels)
{
    struct cuda_kernel *longest = NULL;

    for (int i = 0; i < kernels->n; i++) {
        struct cuda_kernel *k = kernels->list[i];
        if (k->part < 0 && (!longest || k->effort > longest->effort))
            longest = k;
    }
    return longest;
}

/* What a part takes to compile that has no kernel, as it reads the whole text.
 */
enum { PART_EFFORT = 4 };

/* Shares the kernels out among parts, so that none takes much longer than it
 * must: that is as long as the longest kernel, or an even share. Parts are not
 * begun while there is room, nor for less than they take themselves. Returns
 * how many there are, the longest first. */
static int share_out(const struct kernels *kernels)
{
    int left = 0, nparts = 0;
    int load[CUDA_PARTS] = {0};

    for (int i = 0; i < kernels->n; i++) {
        kernels->list[i]->part = -1;
        left += kernels->list[i]->effort;
    }
    int room = (left + CUDA_PARTS - 1) / CUDA_PARTS;
    for (struct cuda_kernel *k; (k = longest_left(kernels));) {
        int part = 0, least = 0;
        const int most =
            nparts > 0 && left <= PART_EFFORT ? nparts : CUDA_PARTS;
        if (k->effort > room)
            room = k->effort;
        while (part < most && load[part] + k->effort > room)
            part++;
        for (int i = 1; i < most; i++)
            if (load[i] < load[least])
                least = i;
        k->part = part < most ? part : least;
        load[k->part] += k->effort;
        left -= k->effort;
        if (k->part >= nparts)
            nparts = k->part + 1;
    }
    return nparts;
}

/* Coordinates of the largest block that an element of a step has, as far as a
 * thread should hold its matrix: stdlib/kernels/linear.h takes it from the
 * device's heap otherwise, which is slow. */
int cuda_largest_block(const struct cuda *c)
{
    int most = 16;

    for (int k = 0; k < c->in->model->nsteps; k++) {
        const struct gbm_step *step = &c->in->model->steps[k];
        const struct rt_step *plan = &c->in->steps[k];
        if (!plan->active || step->kind != GBM_STEP_MAP || !step->block_size)
            continue;
        const int n = step->block_size(c->host_state,
                                       plan->elements ? plan->elements[0] : 0);
        if (n > most && n <= 40)
            most = n;
    }
    return most;
}

/* Rows of the matrices that threads have in registers (stdlib/kernels/few.h),
 * of the first step that has them; 0: there are none, or too many. */
static int few_rows(const struct cuda *c)
{
    enum { MOST = 8 };

    for (int k = 0; k < c->in->model->nsteps; k++) {
        const struct gbm_step *step = &c->in->model->steps[k];
        const struct rt_step *plan = &c->in->steps[k];
        if (!plan->active || !step->rows)
            continue;
        const int n =
            step->rows(c->host_state, plan->elements ? plan->elements[0] : 0);
        return n <= MOST ? n : 0;
    }
    return 0;
}

/* Options of the compiler. */
struct options {
    char architecture[64], small[40], few[40], tiles[40], chains[40], pass[40],
        rows[40];
    char known[2048];
    char (*sizes)[512];                /* of each step */
    char (*recalls)[192];              /* the same */
    char (*lanes)[192];                /* of each kernel */
    char (*acts)[48];                  /* of each family, in a filter */
    const char **lists[CUDA_PROGRAMS]; /* parts, and then the fixed kernels */
    int n[CUDA_PROGRAMS];
};

static void add_option(struct options *o, int program, const char *option)
{
    o->lists[program][o->n[program]++] = option;
}

/* To each part that has kernels of the model. */
static void add_to_parts(struct options *o, const char *option)
{
    for (int i = 0; i < CUDA_PARTS; i++)
        add_option(o, i, option);
}

enum { ROWS_THREADS = 256 }; /* that keep a multiprocessor busy */

/* How many rows a thread has: two share what it reads, if that leaves threads
 * enough. Four take twice the registers, and longer. */
static int rows_of_thread(const struct cuda *c)
{
    const char *wanted = getenv("GBM_CUDA_ROWS");
    int64_t most = 0;

    if (wanted && atoi(wanted) > 0)
        return atoi(wanted);
    for (int k = 0; k < c->in->model->nsteps; k++) {
        if (c->steps[k].by_rows && c->steps[k].at_once > most)
            most = c->steps[k].at_once;
        if (c->steps[k].forms)
            return 1;
    }
    const int64_t threads = (int64_t)c->multiprocessors * ROWS_THREADS;
    return most >= 2 * threads ? 2 : 1;
}

/* What is known of a step, for its kernel, as an option. */
static void add_sizes(struct cuda *c, struct options *o, int step,
                      const int64_t *sizes, int n)
{
    char *out = o->sizes[step];
    const size_t room = sizeof o->sizes[step];
    const int part =
        c->chains.lanes ? c->chains.kernel.part : c->steps[step].kernel.part;

    int used =
        snprintf(out, room, "-DGBM_SIZES_%s=", c->in->model->steps[step].name);
    for (int i = 0; i < n && (size_t)used < room; i++)
        used += snprintf(out + used, room - (size_t)used, "%s%lld",
                         i ? "_" : "", (long long)sizes[i]);
    if ((size_t)used < room && c->in->model->steps[step].weighted)
        add_to_parts(o, out); /* one table may be filled with another */
    else if ((size_t)used < room)
        add_option(o, part, out);
    if ((size_t)used < room && c->steps[step].by_rows &&
        c->steps[step].values.part != part)
        add_option(o, c->steps[step].values.part, out);
}

static void add_sizes_of_rows(struct cuda *c, struct options *o, int step)
{
    int64_t sizes[GBM_MAX_SIZES];
    const int n = c->in->model->steps[step].sizes(c->host_state, sizes);
    cuda_forms(c, sizes);
    add_sizes(c, o, step, sizes, n);
}

/* Which parts a joint block has. */
static void add_sizes_of_joint(struct cuda *c, struct options *o, int step)
{
    const struct gbm_joint_block *block = c->in->model->steps[step].joint;
    const int *table = c->in->slots[block->table].values;
    const int *term = table + table[GBM_J_TERMS];
    const bool few = c->in->nchains < RT_LANE_EACH;
    int64_t has[GBM_HAS_COUNT] = {0};

    has[GBM_HAS_TREES] = table[GBM_J_TREES_SIZE] > 0;
    has[GBM_HAS_LISTS] = table[GBM_J_SPARSE] > table[GBM_J_LEAVES];
    has[GBM_HAS_DENSE] = table[GBM_J_D] > table[GBM_J_SPARSE];
    has[GBM_HAS_HELD] = table[GBM_J_HELD] > 0;
    if (c->chains.lanes == 1)
        has[GBM_HAS_ROOM] = cuda_joint_room(c, step);
    if (table[GBM_J_BORDER] && (few || cuda_joint_bordered(c, step))) {
        has[GBM_HAS_BORDER] = table[GBM_J_COLUMNS];
        has[GBM_HAS_EDGE] = table[GBM_J_D] - table[GBM_J_SPARSE];
    }
    for (int i = 0; i < block->nterms; i++, term += GBM_T_SIZE)
        has[GBM_HAS_VARYING] |= !term[GBM_T_FIXED_DESIGN];
    add_sizes(c, o, step, has, GBM_HAS_COUNT);
}

static void add_recalls(struct cuda *c, struct options *o)
{
    for (int k = 0; k < c->in->model->nsteps; k++) {
        if (!c->steps[k].recalls)
            continue;
        snprintf(o->recalls[k], sizeof o->recalls[k], "-DGBM_RECALL_%s",
                 c->in->model->steps[k].name);
        add_to_parts(o, o->recalls[k]);
    }
}

/* What the fixed kernels have. */
static void add_fixed(struct cuda *c, struct options *o)
{
    if (cuda_dense_has(c, false))
        add_option(o, CUDA_PARTS, "-DGBM_HAS_LARGE");
    if (cuda_dense_tiles(c)) {
        snprintf(o->tiles, sizeof o->tiles, "-DGBM_DENSE_TILES=%d",
                 cuda_dense_tiles(c));
        add_option(o, CUDA_PARTS, o->tiles);
    }
    if (cuda_dense_has(c, true))
        add_option(o, CUDA_PARTS, "-DGBM_HAS_SMALL");
    if (cuda_ladder_has(c))
        add_option(o, CUDA_PARTS, "-DGBM_HAS_POWERS");
}

static void add_sizes_of_beside(struct cuda *c, struct options *o, int step)
{
    int64_t sizes[4] = {1};
    const struct gbm_step *s = &c->in->model->steps[step];
    if (s->weighted)
        s->weighted(c->host_state, sizes + 1);
    sizes[3] = s->marks && cuda_keeps_slot(c, s->marks - 1);
    for (int i = 1; i < 3; i++)
        if (sizes[i] < 1) /* a table without cells */
            sizes[i] = 1;
    add_sizes(c, o, step, sizes, s->weighted ? 4 : 1);
}

/* What is known of each step. */
static void add_steps(struct cuda *c, struct options *o)
{
    for (int k = 0; k < c->in->model->nsteps; k++)
        if (c->in->model->steps[k].joint && c->in->steps[k].active)
            add_sizes_of_joint(c, o, k);
        else if (c->steps[k].beside && !c->chains.lanes)
            add_sizes_of_beside(c, o, k);
        else if (c->steps[k].by_rows && !c->chains.lanes)
            add_sizes_of_rows(c, o, k);
}

/* Chains of a multiprocessor that hide each other's waiting: real.h. */
enum { CHAINS_THAT_FILL = 256 };

static bool is_compact(const struct cuda *c)
{
    /* for tests: 0 never, or wherever it can be */
    const char *wanted = getenv("GBM_CUDA_COMPACT");
    if (wanted && wanted[0])
        return atoi(wanted) != 0;
    return c->chains.lanes ||
           c->in->nchains >= c->multiprocessors * CHAINS_THAT_FILL;
}

/* Threads of a multiprocessor from which on the kernel of whole chains may have
 * no more registers than let it hold as many as there can be, in blocks of 128:
 * else some of 131,072 chains wait until others have ended. On an H200 that
 * took eight schools, non-centred, from 0.170 to 0.139 ms, pump from 0.202 to
 * 0.179; but seeds, whose lanes have the trees of a joint block in registers,
 * from 1.52 to 1.61. Rows with much arithmetic have what they share there:
 * Lee's mixture takes 0.193 for 0.217 in single precision, but in double it
 * would have twice as many registers, and takes longer. One row shares nothing:
 * with the bound non-centred eight schools took 0.119, without it 0.158. */
enum { CHAINS_THAT_WAIT = 640 };

static bool rows_share_much(const struct cuda *c, int step)
{
    double rows;

    cuda_search_operations(c, step, &rows);
    return rows > 1 && cuda_heavy_operations(c, step) > 0;
}

static bool is_crowded(const struct cuda *c)
{
    const int64_t threads = (int64_t)c->in->nchains * c->chains.lanes;
    const bool doubles = c->real_size == sizeof(double);

    for (int k = 0; k < c->in->model->nsteps; k++)
        if (c->in->steps[k].active &&
            (cuda_joint_bordered(c, k) || (doubles && rows_share_much(c, k))))
            return false;
    return threads > (int64_t)c->multiprocessors * CHAINS_THAT_WAIT;
}

/* What is known of whole chains. */
static void add_chains(struct cuda *c, struct options *o)
{
    if (is_compact(c))
        add_to_parts(o, "-DGBM_COMPACT");
    if (c->in->nchains >= RT_MANY_CHAINS)
        add_to_parts(o, "-DGBM_MANY_CHAINS");
    if (c->chains.lanes && is_crowded(c))
        add_option(o, c->chains.kernel.part, "-DGBM_CHAINS_BLOCKS=8");
    if (c->pass_chains) {
        snprintf(o->pass, sizeof o->pass, "-DGBM_PASS_CHAINS=%d",
                 c->pass_chains);
        add_to_parts(o, o->pass);
    }
    if (c->chains.lanes) {
        snprintf(o->chains, sizeof o->chains, "-DGBM_CHAINS=%d",
                 c->chains.lanes);
        add_option(o, c->chains.kernel.part, o->chains);
    }
}

static void add_known(struct cuda *c, struct options *o)
{
    if (!cuda_known(c, o->known, sizeof o->known))
        return;
    if (c->chains.lanes)
        add_option(o, c->chains.kernel.part, o->known);
    else
        add_to_parts(o, o->known);
}

static void add_acts(struct cuda *c, struct options *o)
{
    for (int i = 0; i < CUDA_PROGRAMS; i++)
        add_option(o, i, "-DGBM_FILTER");
    for (int f = 0; f < c->in->model->nfamilies; f++) {
        snprintf(o->acts[f], sizeof o->acts[f], "-DGBM_ACTS_%d=%d", f,
                 c->filter.asked[f]);
        add_option(o, c->filter.advance.part, o->acts[f]);
    }
}

static enum gbm_status set_options(struct cuda *c, struct options *o,
                                   const struct kernels *kernels)
{
    TRY(cuda_architecture(c, o->architecture, sizeof o->architecture));
    for (int i = 0; i < CUDA_PROGRAMS; i++) {
        add_option(o, i, o->architecture);
        add_option(o, i, "--std=c++17");
        add_option(o, i, "--fmad=false"); /* see enum cuda_level */
        if (c->single)
            add_option(o, i, "-DGBM_SINGLE");
        if (c->mixed)
            add_option(o, i, "-DGBM_MIXED");
    }
    add_fixed(c, o);
    snprintf(o->small, sizeof o->small, "-DGBM_MAX_SMALL=%d",
             cuda_largest_block(c));
    add_to_parts(o, o->small);
    if (few_rows(c) > 0) {
        snprintf(o->few, sizeof o->few, "-DGBM_FEW_ROWS=%d", few_rows(c));
        add_to_parts(o, o->few);
    }
    add_to_parts(o, "-DGBM_CHOSEN");
    add_chains(c, o);
    add_known(c, o);
    snprintf(o->rows, sizeof o->rows, "-DGBM_ROWS=%d", rows_of_thread(c));
    add_to_parts(o, o->rows);
    add_recalls(c, o);
    if (c->filter.on)
        add_acts(c, o);
    add_steps(c, o);
    for (int i = 0; i < kernels->n; i++) {
        const struct cuda_kernel *k = kernels->list[i];
        snprintf(o->lanes[i], sizeof o->lanes[i], "-DGBM_LANES_%.*s=%d,1%s",
                 (int)(strlen(k->name) - strlen("_kernel")), k->name, k->lanes,
                 k->block == GBM_WIDE_HALF && k->lanes >= GBM_WIDE_LEAST
                     ? ",256"
                     : "");
        add_option(o, k->part, o->lanes[i]);
    }
    return GBM_OK;
}

/* A profile is one of the full program. GBM_CUDA_QUICK=0, for tests: no. */
bool cuda_is_quick(const struct cuda *c)
{
    const char *wanted = getenv("GBM_CUDA_QUICK");
    return !c->rt->options.profile && !(wanted && strcmp(wanted, "0") == 0);
}

/* What is compiled for a run. */
struct build {
    struct options o;
    struct kernels kernels;
    char name[160];
    struct cuda_program programs[CUDA_PROGRAMS];
    int n;
};

static enum gbm_status list_programs(struct cuda *c, struct build *b)
{
    const struct gbm_model *model = c->in->model;
    const int nparts = share_out(&b->kernels);
    struct options *o = &b->o;

    memset(o->n, 0, sizeof o->n);
    TRY(set_options(c, o, &b->kernels));
    snprintf(b->name, sizeof b->name, "%s.cu", model->name);
    b->programs[0] = (struct cuda_program){.name = "kernels.cu",
                                           .text = "#include \"kernels.h\"\n",
                                           .options = o->lists[CUDA_PARTS],
                                           .noptions = o->n[CUDA_PARTS],
                                           .module = &c->kernels};
    for (int i = 0; i < nparts; i++)
        b->programs[i + 1] =
            (struct cuda_program){.name = b->name,
                                  .text = model->program,
                                  .options = o->lists[i],
                                  .noptions = o->n[i],
                                  .module = &c->parts[i],
                                  .settles = cuda_settles(c, i)};
    b->n = nparts + 1;
    return GBM_OK;
}

void cuda_drop_programs(struct cuda *c)
{
    cuda_better_end(c);
    cuda_settled_end(c);
    for (int i = 0; i < CUDA_PARTS; i++)
        if (c->parts[i])
            (void)cuModuleUnload(c->parts[i]);
    if (c->kernels)
        (void)cuModuleUnload(c->kernels);
    memset(c->parts, 0, sizeof c->parts);
    c->kernels = NULL;
}

static enum gbm_status make(struct cuda *c, struct build *b, bool quick)
{
    TRY(list_programs(c, b));
    TRY(cuda_compile(c, b->programs, b->n, quick));
    cuda_settled_of(c, b->programs + 1, b->n - 1);
    TRY(each_kernel(c, &b->kernels, place_kernel));
    return cuda_find_all(c);
}

/* What cannot be had quickly, or is too large for the device then, may be as it
 * should be otherwise. */
static enum gbm_status make_in_time(struct cuda *c, struct build *b)
{
    struct rt *rt = c->rt;

    if (cuda_is_quick(c)) {
        if (make(c, b, true) == GBM_OK)
            return GBM_OK;
        cuda_drop_programs(c);
        rt->status = GBM_OK;
        rt->message[0] = '\0';
    }
    return make(c, b, false);
}

static enum gbm_status open_build(struct cuda *c, struct build *b)
{
    struct options *o = &b->o;
    const size_t steps = (size_t)c->in->model->nsteps + 1;
    int n = 0;
    bool enough = true;

    TRY(each_kernel(c, &n, count_kernel));
    b->kernels.list = calloc((size_t)n + 1, sizeof *b->kernels.list);
    o->lanes = calloc((size_t)n + 1, sizeof *o->lanes);
    o->sizes = calloc(steps, sizeof *o->sizes);
    o->recalls = calloc(steps, sizeof *o->recalls);
    const size_t families = (size_t)c->in->model->nfamilies + 1;
    o->acts = calloc(families, sizeof *o->acts);
    for (int i = 0; i < CUDA_PROGRAMS; i++) {
        o->lists[i] =
            calloc(2 * (size_t)n + steps + families + 14, sizeof *o->lists[i]);
        enough = enough && o->lists[i];
    }
    if (!b->kernels.list || !o->lanes || !o->sizes || !o->recalls || !o->acts ||
        !enough)
        return rt_fail(c->rt, GBM_FAILURE, "out of memory");
    return each_kernel(c, &b->kernels, add_kernel);
}

static void close_build(struct build *b)
{
    for (int i = 0; i < CUDA_PROGRAMS; i++)
        free(b->o.lists[i]);
    free(b->o.lanes);
    free(b->o.sizes);
    free(b->o.recalls);
    free(b->o.acts);
    free(b->kernels.list);
}

enum gbm_status cuda_build_ahead(struct cuda *c)
{
    struct build b = {.n = 0};
    enum gbm_status status = open_build(c, &b);

    if (status == GBM_OK)
        status = list_programs(c, &b);
    if (status == GBM_OK)
        cuda_compile_ahead(c, b.programs, b.n, cuda_is_quick(c));
    close_build(&b);
    return status;
}

enum gbm_status cuda_build_settled(struct cuda *c, CUmodule *modules)
{
    struct build b = {.n = 0};
    enum gbm_status status = open_build(c, &b);

    if (status == GBM_OK)
        status = list_programs(c, &b);
    for (int i = 1; i < b.n; i++)
        b.programs[i].module = &modules[i - 1];
    if (status == GBM_OK)
        status = cuda_compile_settled(c, b.programs, b.n);
    close_build(&b);
    return status;
}

enum gbm_status cuda_build(struct cuda *c)
{
    struct build b = {.n = 0};
    const double start = rt_clock();
    enum gbm_status status = open_build(c, &b);

    if (status == GBM_OK)
        status = make_in_time(c, &b);
    close_build(&b);
    c->rt->jit_s = rt_clock() - start;
    return status;
}
