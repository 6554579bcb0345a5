/* rows_forms.h: rows of rows.h whose log densities are such as forms.h says.
 * All rows and values are a product of matrices, which tensor cores compute
 * from numbers of 16 bits, two for each factor. What comes out differs from the
 * density by less than a bound, and so do sums of weights: of each group of
 * values (struct gbm_trials) they tell whether it replaces those before, and
 * within the last that does which value is drawn, unless a random number is as
 * close to where that changes as the bound. Then the densities are computed as
 * otherwise, of that group, or of all values that may matter. So the draw is
 * the same, to the last bit. */
#ifndef GBM_ROWS_FORMS_H
#define GBM_ROWS_FORMS_H

#include "forms.h"

/* Of weights, by rounding. */
#define GBM_FORM_ROUNDING 2e-5f
/* Rows further out are not bounded. */
#define GBM_FORM_FAR 200
/* No bounded density is less. */
#define GBM_FORM_NEVER 3e38f

/* c += a b by a warp: a 16 x 16, b 16 x 8, laid out as mma.m16n8k16 has it. */
GBM_FN void gbm_form_multiply(float (&c)[4], const uint32_t (&a)[4],
                              uint32_t b0, uint32_t b1)
{
#ifndef __CUDA_ARCH__
    emu_multiply_16_8_16(c, a, b0, b1);
#elif __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
    __trap(); /* the runtime does not ask for that */
#endif
}

/* What a block shares. */
template <class TRIALS> struct gbm_form_shared {
    using forms = gbm_forms<TRIALS>;
    static constexpr int warps = GBM_FORM_THREADS / 32;
    /* coefficients of a piece, and of the next, which is on its way */
    uint4 piece[forms::buffers][forms::piece / 4];
    /* of values: of their bounds; 0 and no number for those without one */
    alignas(16) float weight[forms::pieces * GBM_FORM_VALUES];
    alignas(16) float unit[forms::pieces * GBM_FORM_VALUES];
    float most[forms::pieces]; /* weight */
    /* densities of a row's last group that was taken */
    float kept[warps][GBM_FORM_VALUES][GBM_FORM_ROWS];
    float y[warps][forms::columns + 2][GBM_FORM_PLACES];
    float density[warps][GBM_FORM_VALUES][GBM_FORM_ROWS];
    uint32_t may[forms::pieces][GBM_FORM_THREADS]; /* values that matter */
    uint32_t absent[forms::pieces], odd[forms::pieces];
    uint8_t factor[2][forms::steps * GBM_FORM_DEPTH];
};

static_assert(GBM_FORM_VALUES == GBM_TRIALS_TOGETHER, "a piece is a group");

/* What a row's draw has come to, as far as bounds tell. */
struct gbm_form_draw {
    struct gbm_row_draw draw; /* the kept group's, and random numbers */
    float low;                /* the largest density is at least this */
    float reference;          /* of the groups so far */
    real total, error;
    int piece;   /* the last group that was taken */
    int before;  /* absent values before it */
    bool doubts; /* whether it is hangs on digits */
};

/* What a block's rows need of all values, beside their coefficients; lists
 * those that are no numbers or -Inf for all rows. */
template <class TRIALS>
GBM_FN void gbm_form_sorts(struct gbm_form_shared<TRIALS> *own,
                           const float *words, int values)
{
    using forms = gbm_forms<TRIALS>;
    for (int p = threadIdx.x / 32; p < forms::pieces; p += blockDim.x / 32) {
        const int lane = threadIdx.x % 32, k = p * GBM_FORM_VALUES + lane;
        const int sort = k < values ? ((const int *)words)[forms::sort + k]
                                    : GBM_FORM_ABSENT;
        const bool bounded = sort == GBM_FORM_BOUNDED;
        const float weight = bounded ? words[forms::weight + k] : 0;
        const uint32_t absent =
            __ballot_sync(0xffffffffu, sort == GBM_FORM_ABSENT);
        const uint32_t odd = __ballot_sync(0xffffffffu, sort == GBM_FORM_ODD);
        float most = weight;
        GBM_EACH_FORM(i, 5)
        most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, 1 << i));
        own->weight[k] = weight;
        own->unit[k] = bounded ? words[forms::unit + k] : (float)GBM_NAN;
        own->most[p] = most;
        own->absent[p] = absent;
        own->odd[p] = odd;
    }
}

/* Two features of a row, and what they leave, as words of matrix a. */
template <class SHARED>
GBM_FN void gbm_form_features(const SHARED *own, int j, int row,
                              uint32_t *large, uint32_t *small)
{
    const float(*y)[GBM_FORM_PLACES] = own->y[threadIdx.x / 32];
    const float first = y[own->factor[0][j]][row] * y[own->factor[1][j]][row];
    const float second =
        y[own->factor[0][j + 1]][row] * y[own->factor[1][j + 1]][row];
    *large = gbm_form_pack(first, second);
    *small = gbm_form_rest(first, second, *large);
}

/* exp(x) or a little more, x >= 0. */
GBM_FN real gbm_form_factor(real x)
{
    return x < REAL_C(0.5) ? 1 + REAL_C(1.3) * x : real_exp(x);
}

/* exp(x), x <= 0, to some 2^-20 of it. */
GBM_FN float gbm_form_share(float x)
{
#ifndef __CUDA_ARCH__
    return (float)real_exp((real)x);
#else
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
    return y;
#endif
}

/* Adds value k with the density, that may be off by `bound`, to the draw within
 * its group; its uniform number is `number`. wide: the largest bound so far;
 * doubts: whether the kept value is it hangs on digits. */
GBM_FN void gbm_form_add(struct gbm_row_draw *d, float *wide, bool *doubts,
                         const struct gbm_rng *rng, int k, float density,
                         float bound, uint32_t number)
{
    const real below = density - d->reference;
    const real share = real_exp(-real_fabs(below));
    const bool first = d->total == 0, larger = below > 0;
    const real mine = larger ? 1 : share;
    const real others = larger ? d->total * share : d->total;
    *wide = fmaxf(*wide, bound);
    d->reference = larger ? (real)density : d->reference;
    d->total = first ? 1 : others + mine;
    if (first) {
        d->kept = k;
        return;
    }
    const real off = gbm_form_factor(2 * *wide + GBM_FORM_ROUNDING);
    if (mine * off < GBM_ROW_LEAST * others) /* whatever the number */
        return;
    const bool alone = others * off < GBM_ROW_LEAST / 2;
    const real u = alone ? 0 : gbm_row_uniform(d, rng, number);
    const real against = u * others, by = (1 - u) * mine;
    const bool takes = alone || against * off < by;
    d->kept = takes ? k : d->kept;
    *doubts = takes ? false : *doubts || !(by * off < against);
}

/* Adds a group: the sum of its weights is `sum` times exp(reference), to
 * `error`. Returns whether it replaces those before. */
GBM_FN bool gbm_form_group(struct gbm_form_draw *f, const struct gbm_rng *rng,
                           float reference, float sum, float error,
                           uint32_t number)
{
    const bool first = f->total == 0;
    const float below = reference - f->reference;
    const real share = real_exp(-real_fabs((real)below));
    const bool larger = below > 0;
    const real mine = larger ? (real)sum : sum * share;
    const real others = larger ? f->total * share : f->total;
    const real off = larger ? (real)error : error * share;
    const real wide = larger ? f->error * share : f->error;
    const real less = mine * (1 - GBM_FORM_ROUNDING) - off;
    const real more = mine * (1 + GBM_FORM_ROUNDING) + off;
    const real low = others * (1 - GBM_FORM_ROUNDING) - wide;
    const real high = others * (1 + GBM_FORM_ROUNDING) + wide;
    f->total = first ? mine : others + mine;
    f->error = first ? off : wide + off;
    f->reference = larger ? reference : f->reference;
    if (first)
        return true;
    if (more < GBM_ROW_LEAST / 2 * low) /* whatever the number */
        return false;
    const bool alone = high < GBM_ROW_LEAST / 4 * less;
    const real u = alone ? 0 : gbm_row_uniform(&f->draw, rng, number);
    const bool takes = alone || u * high < (1 - u) * less;
    f->doubts = takes ? false : f->doubts || !(u * low > (1 - u) * more);
    return takes;
}

/* A sum of exp(value - largest), and how much it may be off by bounds. */
template <class TRIALS>
GBM_FN void gbm_form_sum(const struct gbm_form_shared<TRIALS> *own, int p,
                         const float (&value)[GBM_FORM_VALUES], float largest,
                         float norm, float *sum, float *error)
{
    const float *weight = own->weight + p * GBM_FORM_VALUES;
    float total[2] = {0, 0}, off[2] = {0, 0};
    if (norm * own->most[p] < 0.5f) {
        GBM_EACH_FORM(i, GBM_FORM_VALUES)
        {
            const float share = gbm_form_share(value[i] - largest);
            total[i % 2] += share;
            off[i % 2] += share * weight[i];
        }
        *error = 1.3f * norm * (off[0] + off[1]);
    } else {
        GBM_EACH_FORM(i, GBM_FORM_VALUES)
        {
            const float below = value[i] - largest;
            const float share = gbm_form_share(below);
            const float up = fminf(below + norm * weight[i], 80);
            total[i % 2] += share;
            off[i % 2] += expf(up) - share;
        }
        *error = off[0] + off[1];
    }
    *sum = total[0] + total[1];
}

/* Goes through a group's values, whose densities are of the calling thread's
 * row, in units; norm: of its features; before: absent values before. */
template <class TRIALS>
GBM_FN void gbm_form_try(struct gbm_form_shared<TRIALS> *own,
                         struct gbm_form_draw *f, const struct gbm_rng *rng,
                         int p, int *before, float norm, float beyond)
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const float(*density)[GBM_FORM_ROWS] = own->density[warp];
    const float *weight = own->weight + p * GBM_FORM_VALUES;
    const float *unit = own->unit + p * GBM_FORM_VALUES;
    float value[GBM_FORM_VALUES], largest = -GBM_INF, sum, error;
    GBM_EACH_FORM(i, GBM_FORM_VALUES)
    {
        value[i] = fmaxf(density[i][lane] * unit[i], (float)-GBM_INF);
        largest = fmaxf(largest, value[i]);
    }
    f->low = fmaxf(f->low, largest - norm * own->most[p]);
    uint32_t may = 0;
    const float least = fmaxf(f->low - beyond, -GBM_FORM_NEVER);
    GBM_EACH_FORM(i, GBM_FORM_VALUES)
    may |= value[i] + norm * weight[i] >= least ? 1u << i : 0;
    own->may[p][threadIdx.x] = may;
    const int absent = *before;
    *before += __popc(own->absent[p]);
    if (!may)
        return;
    gbm_form_sum(own, p, value, largest, norm, &sum, &error);
    const uint32_t number = (uint32_t)(p * GBM_FORM_VALUES - absent - 1);
    if (gbm_form_group(f, rng, largest, sum, error, number)) {
        f->piece = p;
        f->before = absent;
        GBM_EACH_FORM(i, GBM_FORM_VALUES) own->kept[warp][i][lane] = value[i];
    }
}

/* The draw within the group that was taken. Returns whether it is sure. */
template <class TRIALS>
GBM_FN bool gbm_form_within(const struct gbm_form_shared<TRIALS> *own,
                            struct gbm_form_draw *f, const struct gbm_rng *rng,
                            int first, float norm)
{
    const float(*kept)[GBM_FORM_ROWS] = own->kept[threadIdx.x / 32];
    const int lane = threadIdx.x % 32, from = f->piece * GBM_FORM_VALUES;
    const uint32_t absent = own->absent[f->piece];
    uint32_t may = own->may[f->piece][threadIdx.x];
    float wide = 0;
    bool doubts = false;
    while (may) {
        const int i = __ffs((int)may) - 1;
        may &= may - 1;
        const int passed = f->before + __popc(absent & ((1u << i) - 1));
        gbm_form_add(&f->draw, &wide, &doubts, rng, first + from + i,
                     kept[i][lane], norm * own->weight[from + i],
                     (uint32_t)(from + i - passed - 1));
    }
    return !doubts;
}

/* The features of TILES times 16 rows of the calling warp, from row 16 pass
 * on, as matrix a. */
template <class TRIALS, int TILES> struct gbm_form_rows {
    uint32_t large[TILES][gbm_forms<TRIALS>::steps][4];
    uint32_t small[TILES][gbm_forms<TRIALS>::steps][4];
};

template <class TRIALS, int TILES>
GBM_FN void gbm_form_fill(const struct gbm_form_shared<TRIALS> *own, int pass,
                          struct gbm_form_rows<TRIALS, TILES> *a)
{
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    GBM_EACH_FORM(m, TILES)
    {
        GBM_EACH_FORM(i, gbm_forms<TRIALS>::steps)
        GBM_EACH_FORM(w, 4)
        gbm_form_features(own, i * GBM_FORM_DEPTH + w / 2 * 8 + 2 * t,
                          16 * (pass + m) + w % 2 * 8 + g, &a->large[m][i][w],
                          &a->small[m][i][w]);
    }
}

/* own->density: of these rows and a piece's values, by their coefficients. */
template <class TRIALS, int TILES>
GBM_FN void gbm_form_densities(struct gbm_form_shared<TRIALS> *own,
                               const uint4 *piece, int pass,
                               const struct gbm_form_rows<TRIALS, TILES> *a)
{
    constexpr int steps = gbm_forms<TRIALS>::steps;
    const int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
    constexpr int count = GBM_FORM_VALUES / 8;
    float sum[count][TILES][4];
    GBM_EACH_FORM(n, count)
    GBM_EACH_FORM(m, TILES)
    GBM_EACH_FORM(w, 4) sum[n][m][w] = 0;
    GBM_EACH_FORM(i, steps)
    {
        uint4 b[count];
        GBM_EACH_FORM(n, count) b[n] = piece[(n * steps + i) * 32 + lane];
        /* small ones first; sums that wait for each other lie apart */
        GBM_EACH_FORM(n, count)
        GBM_EACH_FORM(m, TILES)
        gbm_form_multiply(sum[n][m], a->small[m][i], b[n].x, b[n].y);
        GBM_EACH_FORM(n, count)
        GBM_EACH_FORM(m, TILES)
        gbm_form_multiply(sum[n][m], a->large[m][i], b[n].z, b[n].w);
        GBM_EACH_FORM(n, count)
        GBM_EACH_FORM(m, TILES)
        gbm_form_multiply(sum[n][m], a->large[m][i], b[n].x, b[n].y);
    }
    float(*to)[GBM_FORM_ROWS] = own->density[threadIdx.x / 32];
    GBM_EACH_FORM(n, count)
    GBM_EACH_FORM(m, TILES)
    GBM_EACH_FORM(w, 4)
    to[8 * n + 2 * t + w % 2][16 * (pass + m) + w / 2 * 8 + g] = sum[n][m][w];
}

/* Begins to copy a piece of what values tell, by a block. */
template <class TRIALS>
GBM_FN void gbm_form_begin_copy(struct gbm_form_shared<TRIALS> *own,
                                const float *words, int p)
{
    using forms = gbm_forms<TRIALS>;
    const uint4 *from =
        (const uint4 *)(words + forms::coefficients + p * forms::piece);
    uint4 *to = own->piece[p % forms::buffers];
    for (int i = threadIdx.x; i < forms::piece / 4; i += blockDim.x) {
#if !defined(__CUDA_ARCH__)
        to[i] = from[i];
#elif __CUDA_ARCH__ >= 800
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;"
                     :
                     : "r"((uint32_t)__cvta_generic_to_shared(to + i)),
                       "l"(from + i)
                     : "memory");
#endif
    }
}

GBM_FN void gbm_form_end_copy(void)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" : : : "memory");
#endif
    __syncthreads();
}

/* The draw of the calling thread's row from the densities of values that may
 * matter: of group `only`, which has `passed` absent values before it, or of
 * all if that is -1. */
template <class TRIALS>
GBM_FN void
gbm_form_exact(const struct gbm_form_shared<TRIALS> *own, const struct state *s,
               const typename TRIALS::layout *at, const gbm_total *x,
               const gbm_total *table, struct gbm_rng *rng, long long element,
               bool bounded, int only, int passed, int adapting)
{
    using forms = gbm_forms<TRIALS>;
    constexpr int stride = gbm_row_stride(TRIALS::layout::values);
    constexpr int room = TRIALS::layout::room;
    constexpr int quads = stride * (int)sizeof(gbm_total) / (int)sizeof(uint4);
    const int values = at->last - at->first + 1;
    struct gbm_row_draw draw;
    struct gbm_row_list list;
    gbm_row_begin(&draw, at->first);
    for (int p = only < 0 ? 0 : only;
         p * GBM_FORM_VALUES < values && (only < 0 || p == only); p++) {
        gbm_row_close(&draw, &list, rng);
        draw.groups.number = (uint32_t)(p * GBM_FORM_VALUES - passed - 1);
        draw.groups.counted = true;
        uint32_t left = bounded ? own->may[p][threadIdx.x] : 0xffffffffu;
        left = (left | own->odd[p]) & ~own->absent[p];
        while (left) {
            const int bit = __ffs((int)left) - 1;
            const int k = p * GBM_FORM_VALUES + bit;
            left &= left - 1;
            alignas(16) gbm_total u[stride];
            gbm_total mine[room > 0 ? room : 1], density[1];
            const uint4 *from = (const uint4 *)(table + (long long)k * stride);
            GBM_EACH_FORM(i, quads)((uint4 *)u)[i] = from[i];
            TRIALS::trial(at, u, x, mine, density);
            const real value = (real)density[0];
            const uint32_t before = own->absent[p] & ((1u << bit) - 1);
            draw.used = (uint32_t)(k - passed - __popc(before));
            passed += !gbm_is_finite(value);
            if (gbm_row_try(&draw, &list, at->first + k, value))
                gbm_row_settle(&draw, &list, rng);
        }
        passed += __popc(own->absent[p]);
    }
    gbm_row_end<TRIALS>(&draw, &list, s, rng, element, at->first, at->last,
                        adapting);
}

/* y: the calling thread's row, from the mean. Returns the norm of its features,
 * or 0 if it is not bounded. */
template <class TRIALS>
GBM_FN float gbm_form_row(const gbm_total *x, const float *words,
                          float (*y)[GBM_FORM_PLACES])
{
    using forms = gbm_forms<TRIALS>;
    constexpr int columns = forms::columns;
    const int lane = threadIdx.x % 32;
    float two = 0, four = 0;
    bool bounded = true;
    GBM_EACH_FORM(c, columns)
    {
        const bool flag = TRIALS::layout::flag(c);
        const float far =
            (float)(x[c] - (gbm_total)words[c]) * words[forms::scale + c];
        bounded = bounded && (flag ? x[c] == 1 : fabsf(far) < GBM_FORM_FAR);
        y[c][lane] = far;
        two += flag ? 0 : far * far;
        four += flag ? 0 : far * far * far * far;
    }
    y[columns][lane] = 1;
    y[columns + 1][lane] = 0;
    for (int c = 0; c < columns && !bounded; c++)
        y[c][lane] = 0;
    /* sums of the squares of all features */
    const float squares = 1 + two +
                          (forms::kind == 3   ? (two * two + four) / 2
                           : forms::kind == 2 ? four
                                              : 0);
    return bounded ? sqrtf(squares) : 0;
}

/* A warp's features of 32 rows lie in its registers, or of 16. */
template <class TRIALS> __device__ constexpr int gbm_form_tiles(void)
{
    return gbm_forms<TRIALS>::steps <= 8 ? 2 : 1;
}

/* Calls each(p, first) by all threads of a block once own->density has piece p
 * of rows `first` to first + 16 gbm_form_tiles() - 1 of each warp. */
template <class TRIALS, class EACH>
GBM_FN void gbm_form_pieces(struct gbm_form_shared<TRIALS> *own,
                            const float *words, int values, EACH each)
{
    using forms = gbm_forms<TRIALS>;
    constexpr int tiles = gbm_form_tiles<TRIALS>();
    static_assert(forms::buffers == 1 || tiles == 2, "a pass begins anew");
    if (forms::buffers == 2)
        gbm_form_begin_copy<TRIALS>(own, words, 0);
    for (int pass = 0; pass < 2; pass += tiles) {
        struct gbm_form_rows<TRIALS, tiles> rows;
        gbm_form_fill<TRIALS, tiles>(own, pass, &rows);
        for (int p = 0; p < forms::pieces && p * GBM_FORM_VALUES < values;
             p++) {
            if (forms::buffers == 1) {
                __syncthreads();
                gbm_form_begin_copy<TRIALS>(own, words, p);
            }
            gbm_form_end_copy();
            if (forms::buffers == 2 && p + 1 < forms::pieces)
                gbm_form_begin_copy<TRIALS>(own, words, p + 1);
            gbm_form_densities<TRIALS, tiles>(
                own, own->piece[p % forms::buffers], pass, &rows);
            __syncwarp();
            each(p, 16 * pass);
            __syncwarp();
        }
    }
}

/* Whether the calling thread's row is one of those from `first` on. */
template <class TRIALS> GBM_FN bool gbm_form_is_among(int first)
{
    const int row = (int)threadIdx.x % 32 - first;
    return row >= 0 && row < 16 * gbm_form_tiles<TRIALS>();
}

/* Sets *draw to what bounds tell of the draw of the calling thread's row, of
 * its block's rows, whose y are in own; norm: of its features. */
template <class TRIALS>
GBM_FN void gbm_form_rows_try(struct gbm_form_shared<TRIALS> *own,
                              struct gbm_form_draw *draw,
                              const struct gbm_rng *rng, const float *words,
                              int first, int values, float norm)
{
    const float beyond = (float)(GBM_ROW_BEYOND + real_log(values));
    int before = 0; /* absent values */
    gbm_row_begin(&draw->draw, first);
    draw->low = draw->reference = -GBM_INF;
    draw->total = draw->error = 0;
    draw->piece = draw->before = 0;
    draw->doubts = false;
    gbm_form_pieces<TRIALS>(own, words, values, [&](int p, int from) {
        if (norm > 0 && gbm_form_is_among<TRIALS>(from))
            gbm_form_try<TRIALS>(own, draw, rng, p, &before, norm, beyond);
    });
}

/* What of a row's draw is to be computed from densities: GBM_FORM_NONE,
 * GBM_FORM_ALL, or the group. */
enum { GBM_FORM_NONE = -2, GBM_FORM_ALL };
template <class TRIALS>
GBM_FN int gbm_form_unsure(const struct gbm_form_shared<TRIALS> *own,
                           struct gbm_form_draw *draw,
                           const struct gbm_rng *rng, int first, float norm)
{
    bool settled = norm > 0 && !draw->doubts && draw->total > 0;
    for (int p = 0; p < gbm_forms<TRIALS>::pieces; p++)
        settled = settled && !own->odd[p];
    if (!settled)
        return GBM_FORM_ALL;
    return gbm_form_within(own, draw, rng, first, norm) ? GBM_FORM_NONE
                                                        : draw->piece;
}

/* The draws of a block's rows; the calling thread's is that of `element`, if
 * `is`. */
template <class TRIALS>
GBM_FN void gbm_form_block(struct gbm_form_shared<TRIALS> *own,
                           const struct state *s, const struct gbm_sweep *now,
                           int chain, long long element, bool is,
                           const float *words, const gbm_total *table)
{
    constexpr int stride = gbm_row_stride(TRIALS::layout::values);
    typename TRIALS::layout at;
    TRIALS::lay_out(s, &at);
    const int values = at.last - at.first + 1;
    gbm_total x[gbm_forms<TRIALS>::columns];
    TRIALS::columns(s, &at, element, x);
    __syncthreads(); /* the block before is done with what is shared */
    const float norm = gbm_form_row<TRIALS>(x, words, own->y[threadIdx.x / 32]);
    gbm_form_sorts(own, words, values);
    __syncthreads();
    struct gbm_rng rng;
    gbm_rng_start(&rng, now->seed, now->chain0 + (unsigned)chain, now->sweep,
                  TRIALS::number, (unsigned)element);
    struct gbm_form_draw draw;
    gbm_form_rows_try(own, &draw, &rng, words, at.first, values, norm);
    if (!is)
        return;
    const int unsure = gbm_form_unsure(own, &draw, &rng, at.first, norm);
    if (unsure == GBM_FORM_NONE)
        TRIALS::put(s, element, draw.draw.kept);
    else
        gbm_form_exact<TRIALS>(own, s, &at, x,
                               table + (long long)chain * values * stride, &rng,
                               element, norm > 0, unsure,
                               unsure < 0 ? 0 : draw.before, GBM_ADAPTING(now));
}

/* Calls each(own, s, words, chain, element, is) by the threads of blocks that
 * have the rows of all chains; the calling one's is `element`, if `is`. */
template <class TRIALS, class EACH>
__device__ void gbm_form_blocks(const struct state &base, const int *elements,
                                long long first, long long count, int chains,
                                const gbm_total *table, EACH each)
{
    using forms = gbm_forms<TRIALS>;
    extern __shared__ uint4 gbm_form_memory[];
    struct gbm_form_shared<TRIALS> *own =
        (struct gbm_form_shared<TRIALS> *)gbm_form_memory;
    static_assert(sizeof *own <= GBM_FORM_SHARED(forms::columns, forms::most,
                                                 forms::features),
                  "GBM_FORM_SHARED");
    for (int j = threadIdx.x; j < forms::steps * GBM_FORM_DEPTH;
         j += blockDim.x) {
        int a, b;
        gbm_form_factors<TRIALS>(j, &a, &b);
        own->factor[0][j] = (uint8_t)a;
        own->factor[1][j] = (uint8_t)b;
    }
    const long long blocks = (count + blockDim.x - 1) / blockDim.x;
    for (long long b = blockIdx.x; b < blocks * chains; b += gridDim.x) {
        int chain;
        long long block;
        gbm_item(b, blocks, chains, &chain, &block);
        struct state s = base;
        shift_state(&s, chain);
        const float *words = gbm_form_words<TRIALS>(table, chains, chain);
        const long long k = block * blockDim.x + threadIdx.x;
        const long long place = first + (k < count ? k : count - 1);
        each(own, &s, words, chain, elements ? elements[place] : place,
             k < count);
    }
}

/* As gbm_rows_by_thread, a row a thread. */
template <class TRIALS>
__device__ void
gbm_rows_by_forms(const struct state &base, const struct gbm_sweep &now,
                  const int *elements, long long first, long long count,
                  int chains, const gbm_total *table)
{
    gbm_form_blocks<TRIALS>(
        base, elements, first, count, chains, table,
        [&](struct gbm_form_shared<TRIALS> *own, const struct state *s,
            const float *words, int chain, long long element, bool is) {
            gbm_form_block<TRIALS>(own, s, &now, chain, element, is, words,
                                   table);
        });
}

#endif
