/* plan.c: how each step is done on the device, before the program is compiled:
 * its kernels, and lanes for an element of each. */
#include "cuda.h"
#include "joint.h"

#include <stdlib.h>
#include <string.h>

/* 0, or the lanes of a wide team, for `items` elements at once, a joint block
 * among others: its levels have a few barriers each, and so do the rest; one by
 * ellipses is factored and summed some times over. */
static int wide_lanes(const struct cuda *c, const struct gbm_step *s,
                      int64_t cost, int64_t items)
{
    if (!s->joint)
        return s->barriers ? cuda_wide_lanes(c, cost, s->barriers, items) : 0;
    const int *table = c->in->slots[s->joint->table].values;
    const int64_t barriers = 4 * (int64_t)table[GBM_J_LEVELS] + 40;
    return cuda_wide_lanes(c, cost, (table[GBM_J_CURVED] ? 8 : 1) * barriers,
                           items);
}

/* A lane that has the matrix of a tree and its border in registers, if they are
 * many. With several chains a block is short of lanes first. */
static bool wants_registers(const struct cuda *c, const struct gbm_step *s,
                            int64_t items)
{
    enum { MANY = 16 };
    const int *table = s->joint ? c->in->slots[s->joint->table].values : NULL;

    if (!table || !table[GBM_J_BORDER] || items > 1)
        return false;
    const int columns = table[GBM_J_COLUMNS];
    const int edge = table[GBM_J_D] - table[GBM_J_SPARSE];
    return columns * (columns + 1) / 2 + columns * edge > MANY;
}

/* Most numbers of a row and of a trial's room, which a thread holds; of a
 * value, of which shared memory holds some. */
enum { ROWS_CELLS = 128, ROWS_VALUES = 1024 };

/* Whether a step's elements are updated as rows, each by a thread. */
static bool by_rows(const struct cuda *c, int step, int64_t at_once)
{
    const struct gbm_step *s = &c->in->model->steps[step];
    int64_t sizes[GBM_MAX_SIZES];

    /* for tests: 0 never, or wherever it can be, so many a thread */
    const char *wanted = getenv("GBM_CUDA_ROWS");
    if (!s->sizes || c->in->steps[step].sequential ||
        (wanted ? atoi(wanted) == 0
                : at_once < (int64_t)c->multiprocessors * 32))
        return false;
    (void)s->sizes(c->host_state, sizes);
    return sizes[0] <= ROWS_CELLS && sizes[1] <= ROWS_CELLS && sizes[2] > 0 &&
           sizes[2] <= ROWS_VALUES;
}

/* Values, and features of a row, from which on bounds of all densities pay;
 * steps of a product, and blocks that share a multiprocessor's memory. */
enum { FORM_VALUES = 48, FORM_FEATURES = 16, FORM_STEPS = 16, FORM_BLOCKS = 2 };

/* Whether rows are bounded first (rows_forms.h), which is told by the number of
 * features: 0 if they are not. */
void cuda_forms(const struct cuda *c, int64_t *sizes)
{
    /* for tests: 0 never, or wherever it can be */
    const char *wanted = getenv("GBM_CUDA_FORMS");
    const char *rows = getenv("GBM_CUDA_ROWS");

    if (c->major < 8 || (rows && atoi(rows) > 1) || sizes[4] < 2 ||
        sizes[0] > 254 ||
        GBM_FORM_SHARED(sizes[0], sizes[3], sizes[4]) >
            (int64_t)c->shared_most / FORM_BLOCKS ||
        GBM_FORM_STEPS(sizes[4]) > FORM_STEPS ||
        (wanted ? atoi(wanted) == 0
                : sizes[3] < FORM_VALUES || sizes[4] < FORM_FEATURES))
        sizes[4] = 0;
}

static void plan_table(struct cuda *c, int step)
{
    char name[sizeof c->steps[step].values.name];
    int64_t sizes[GBM_MAX_SIZES];

    (void)c->in->model->steps[step].sizes(c->host_state, sizes);
    cuda_forms(c, sizes);
    c->steps[step].forms = sizes[4] > 0;
    c->steps[step].tried = (sizes[3] > 0 ? sizes[3] : 0) * c->in->nchains;
    snprintf(name, sizeof name, "%s_values", c->in->model->steps[step].name);
    cuda_name_kernel(&c->steps[step].values, name, 32);
}

/* The table of a step whose elements are updated as rows: a value's numbers,
 * filled up so that some can be read together. */
enum gbm_status cuda_rows_request(struct cuda *c, int step)
{
    struct cuda_step *s = &c->steps[step];
    int64_t sizes[GBM_MAX_SIZES];
    const size_t together = GBM_ROW_TOGETHER;

    (void)c->in->model->steps[step].sizes(c->host_state, sizes);
    cuda_forms(c, sizes);
    const size_t stride =
        ((size_t)sizes[2] + together - 1) / together * together;
    const int64_t words =
        s->forms ? GBM_FORM_WORDS(sizes[0], sizes[3], sizes[4]) : 0;
    return cuda_request(c, &s->table,
                        (size_t)s->tried * stride * sizeof(double) +
                            (size_t)(words * c->in->nchains) * sizeof(float),
                        "what values of an element tell");
}

/* An element that has so many coordinates is worth a warp of its own, which
 * shares its matrix, as long as the device is not full. */
enum { COORDINATES_OF_A_WARP = 8, BUSY = 1024 };

/* What all lanes of a joint block do alike, as its border and the search for a
 * scale, is done by each: where chains alone fill the device a small block has
 * no more of them than read neighbouring cells at once. On an H100 with 131,072
 * chains 4 lanes took 0.33 to 0.57 of the time of 32 (blocks of 9 and 26). */
enum { JOINT_SMALL = 4096, JOINT_LANES = 4 };

int cuda_joint_lanes(const struct cuda *c, int step)
{
    const struct gbm_step *s = &c->in->model->steps[step];
    return s->joint && s->cost && s->cost(c->host_state) <= JOINT_SMALL
               ? JOINT_LANES
               : 0;
}

/* Cells of work space, at most: of a block with a border, whose trees are in
 * registers, and of others. With 131,072 chains on an H200, against kernels of
 * steps: 263 with a border took 0.84 of the time, 0.76 where lengths are known;
 * 89 without 0.58, 303 without 1.05. */
enum { ROOM_BORDERED = 512, ROOM_MOST = 256 };

static const int *joint_table(const struct cuda *c, int step)
{
    const struct gbm_step *s = &c->in->model->steps[step];
    return s->joint ? c->in->slots[s->joint->table].values : NULL;
}

/* One by ellipses is read by rows, not by cells. */
int64_t cuda_joint_room(const struct cuda *c, int step)
{
    const int *table = joint_table(c, step);

    if (!table || table[GBM_J_CURVED] ||
        table[GBM_J_WORK] > (table[GBM_J_BORDER] ? ROOM_BORDERED : ROOM_MOST))
        return 0;
    return table[GBM_J_WORK];
}

bool cuda_joint_bordered(const struct cuda *c, int step)
{
    return c->chains.lanes == 1 && cuda_joint_room(c, step) > 0 &&
           joint_table(c, step)[GBM_J_BORDER] > 0;
}

static int lanes_of(const struct cuda *c, int step, int64_t cost, int64_t items)
{
    const struct gbm_step *s = &c->in->model->steps[step];
    const struct rt_step *plan = &c->in->steps[step];
    const int least = cuda_joint_lanes(c, step);
    int lanes = cuda_lanes(c, cost, items);

    while (least && lanes > least &&
           items * lanes > (int64_t)c->multiprocessors * BUSY)
        lanes /= 2;
    if (!s->block_size || s->joint || plan->count < 1 || lanes >= 32 ||
        items * 32 > (int64_t)c->multiprocessors * BUSY)
        return lanes;
    return s->block_size(c->host_state,
                         plan->elements ? plan->elements[0] : 0) >=
                   COORDINATES_OF_A_WARP
               ? 32
               : lanes;
}

/* From so many elements on each has one lane alone, where neighbours read the
 * same. */
enum { ELEMENTS_THAT_FILL = 32768 };

/* A step whose neighbouring elements have sums over the same `cost` terms: by
 * warps of neighbours, which read a term at once, 32 of them sharing out the
 * terms; short sums by a lane each or as others. Returns the lanes. */
static int lanes_beside(struct cuda *c, int step, int64_t cost, int64_t items)
{
    /* for tests: 0 never, or wherever it can be */
    const char *wanted = getenv("GBM_CUDA_BESIDE");

    c->steps[step].beside =
        wanted ? atoi(wanted) != 0 : cost >= 4 * GBM_BESIDE_LANES;
    if (c->steps[step].beside)
        return GBM_BESIDE_LANES;
    return items >= ELEMENTS_THAT_FILL ? 1 : cuda_lanes(c, cost, items);
}

static enum gbm_status plan_step(struct cuda *c, int step)
{
    const struct gbm_step *s = &c->in->model->steps[step];
    const struct rt_step *plan = &c->in->steps[step];

    if (s->kind == GBM_STEP_DENSE)
        return cuda_dense_plan(c, step);
    if (s->kind == GBM_STEP_INDEX)
        return cuda_index_plan(c, step);
    int64_t at_once = 1;
    for (int i = 0; !plan->sequential && i < plan->ncolours; i++)
        if (plan->colour[i + 1] - plan->colour[i] > at_once)
            at_once = plan->colour[i + 1] - plan->colour[i];
    const int64_t cost = s->cost ? s->cost(c->host_state) : 1;
    const int wide = wide_lanes(c, s, cost, at_once * c->in->nchains);
    if (wide) {
        char how[64];
        snprintf(how, sizeof how, "by %d blocks together",
                 wide / GBM_WIDE_BLOCK);
        cuda_say(c, ", %s %s", s->variable, how);
    }
    c->steps[step].at_once = at_once * c->in->nchains;
    c->steps[step].by_rows = !wide && by_rows(c, step, c->steps[step].at_once);
    cuda_name_kernel(&c->steps[step].kernel, s->name,
                     wide                     ? wide
                     : c->steps[step].by_rows ? 1
                     : s->beside
                         ? lanes_beside(c, step, cost, c->steps[step].at_once)
                         : lanes_of(c, step, cost, c->steps[step].at_once));
    if (wide && wants_registers(c, s, c->steps[step].at_once))
        cuda_halve_blocks(&c->steps[step].kernel);
    if (c->steps[step].beside)
        c->steps[step].kernel.block =
            s->weighted ? GBM_WEIGHTED_THREADS : 32 * GBM_BESIDE_LANES;
    c->steps[step].kernel.effort = s->joint ? 20 : s->trials ? 5 : 4;
    if (c->steps[step].by_rows)
        plan_table(c, step);
    if (c->steps[step].forms) {
        int64_t sizes[GBM_MAX_SIZES];
        (void)s->sizes(c->host_state, sizes);
        c->steps[step].kernel.shared =
            (int)GBM_FORM_SHARED(sizes[0], sizes[3], sizes[4]);
        cuda_say(c, ", %s bounded first", s->variable);
    }
    return GBM_OK;
}

/* The families whose log densities make up the model's. None if nobody asks for
 * it, as methods between prior and posterior do, or one of them has no kernel.
 */
static void plan_density(struct cuda *c)
{
    const struct rt_instance *in = c->in;
    const struct rt_options *options = &c->rt->options;

    c->has_lp =
        options->lp || options->out || !options->no_check || cuda_ladder_has(c);
    for (int f = 0; f < in->model->nfamilies; f++) {
        const struct gbm_family *family = &in->model->families[f];
        if (family->stochastic && !family->data_block && !family->auxiliary &&
            in->elements[f] > 0 && !family->density_kernel)
            c->has_lp = false;
    }
    for (int f = 0; c->has_lp && f < in->model->nfamilies; f++) {
        const struct gbm_family *family = &in->model->families[f];
        if (family->stochastic && !family->data_block && !family->auxiliary &&
            in->elements[f] > 0)
            cuda_name_kernel(&c->densities[f], family->density_kernel, 1);
    }
}

enum gbm_status cuda_plan(struct cuda *c)
{
    const struct rt_instance *in = c->in;

    c->rt->device_text[c->text_length] = '\0'; /* what a load added */
    for (int k = 0; k < in->model->nsteps; k++)
        if (in->steps[k].active)
            TRY(plan_step(c, k));
    for (int k = 0; k < in->nkept_families; k++) {
        const struct gbm_family *f = &in->model->families[in->kept_families[k]];
        if (!f->derive_kernel)
            return rt_fail(c->rt, GBM_FAILURE,
                           "the generated program has no kernel for %s",
                           f->text);
        cuda_name_kernel(&c->kept[k], f->derive_kernel, 1);
    }
    plan_density(c);
    cuda_chains_plan(c);
    cuda_recall_plan(c);
    for (int k = 0; k < in->model->nsteps; k++)
        c->chains.kernel.effort += c->steps[k].kernel.effort;
    return cuda_aside_plan(c);
}
