/* forms.h: log densities that are polynomials of degree two in a row's columns,
 * as of a normal vector, or of degree one: features of the row (1, its columns
 * y, their squares and products) times coefficients of the value. What values
 * tell of them, for rows_forms.h.
 *
 * Columns are taken from their mean, in units of their standard deviation, over
 * some of the rows: that keeps bounds small, and nothing else depends on it.
 * The coefficients are differences of the density itself at such points, so
 * there is no second text of it.
 *
 * The bound, by Cauchy and Schwarz: |error| <= GBM_FORM_ERROR |f| |c|, where f
 * are a row's features and c a value's coefficients. Each factor is a sum of
 * two numbers of 11 bits to 2^-22 of it, the product of the two small ones, at
 * most 2^-22, is left out; most is for the sum, in single precision and of
 * numbers that are cut off rather than rounded. Coefficients of a value have a
 * common factor, a power of two, so that the largest is a large number of 16
 * bits. */
#ifndef GBM_FORMS_H
#define GBM_FORMS_H

#include "rows_cuda.h"

/* for (int i = 0; i < n; i++), written out. */
#define GBM_EACH_FORM(i, n) GBM_UNROLL for (int i = 0; i < (n); i++)

#define GBM_FORM_ERROR 3.814697265625e-6f /* 2^-18 */
/* Of a coefficient as a difference of densities, relative to these. */
#define GBM_FORM_DIFFERENCE (8 * (float)GBM_EPSILON)
/* How far apart the points of differences lie: what rounding leaves of them is
 * divided by that, or its square. */
#define GBM_FORM_APART 8
/* Values with larger coefficients are not bounded; the largest coefficient is
 * made at most this. */
#define GBM_FORM_LARGE 1e25f
#define GBM_FORM_MOST 16384

/* What a value is. */
enum { GBM_FORM_BOUNDED, GBM_FORM_ABSENT, GBM_FORM_ODD };

/* Two numbers of 16 bits, 11 of them significant: `first` in the lower half of
 * a word. */
GBM_FN uint32_t gbm_form_pack(float first, float second)
{
#ifndef __CUDA_ARCH__
    return emu_pack_halves(first, second);
#else
    uint32_t both;
    asm("{.reg .b16 a, b;\n cvt.rn.f16.f32 a, %1;\n cvt.rn.f16.f32 b, %2;\n"
        "mov.b32 %0, {a, b};}"
        : "=r"(both)
        : "f"(first), "f"(second));
    return both;
#endif
}

GBM_FN void gbm_form_unpack(uint32_t both, float *first, float *second)
{
#ifndef __CUDA_ARCH__
    *first = emu_half(both, 0);
    *second = emu_half(both, 1);
#else
    float one, other;
    asm("{.reg .b16 a, b;\n mov.b32 {a, b}, %2;\n cvt.f32.f16 %0, a;\n"
        "cvt.f32.f16 %1, b;}"
        : "=f"(one), "=f"(other)
        : "r"(both));
    *first = one;
    *second = other;
#endif
}

/* What rounding has left of both. */
GBM_FN uint32_t gbm_form_rest(float first, float second, uint32_t packed)
{
    float a, b;
    gbm_form_unpack(packed, &a, &b);
    return gbm_form_pack(first - a, second - b);
}

/* Sizes of a step's forms. */
template <class TRIALS> struct gbm_forms {
    using layout = typename TRIALS::layout;
    static constexpr int columns = layout::columns;
    static constexpr int features = layout::features;
    static constexpr int steps = GBM_FORM_STEPS(features);
    static constexpr int most = TRIALS::tried;
    static constexpr int pieces = GBM_FORM_PIECES(most);
    static constexpr int piece = GBM_FORM_PIECE(features);
    static constexpr int buffers = GBM_FORM_BUFFERS(features);
    static constexpr int variables = columns - layout::flags;
    /* 1: linear; 2: with squares; 3: with all products */
    static constexpr int kind = features == 1 + variables       ? 1
                                : features == 1 + 2 * variables ? 2
                                                                : 3;
    static constexpr bool
        some = GBM_ROWS == 1 && features > 1 &&
               features ==
                   1 + variables *(kind == 3 ? variables + 3 : 2 * kind) / 2;
    /* words of a chain, and where among them things begin */
    static constexpr int words = GBM_FORM_WORDS(columns, most, features);
    static constexpr int scale = columns;
    static constexpr int weight = (columns + 1) / 2 * 4;
    static constexpr int unit = weight + pieces * GBM_FORM_VALUES;
    static constexpr int sort = unit + pieces * GBM_FORM_VALUES;
    static constexpr int coefficients = GBM_FORM_HEAD(columns, most);
};

/* The words of a chain, behind the table of all chains' values. */
template <class TRIALS>
GBM_FN float *gbm_form_words(const gbm_total *table, int chains, int chain)
{
    using forms = gbm_forms<TRIALS>;
    constexpr int stride = gbm_row_stride(TRIALS::layout::values);
    const long long cells = (long long)chains * forms::most * stride;
    return (float *)(table + cells) + (long long)chain * forms::words;
}

enum { GBM_FORM_SAMPLED = 4 }; /* rows a lane */

/* Mean and inverse of the standard deviation of the columns, by a warp: of rows
 * that lie apart. */
template <class TRIALS>
GBM_FN void
gbm_form_scale(const struct state *s, const typename TRIALS::layout *at,
               const struct gbm_team *team, float *mean, float *inverse)
{
    constexpr int columns = gbm_forms<TRIALS>::columns;
    gbm_total x[GBM_FORM_SAMPLED][columns];
    const long long rows = (long long)team->lanes * GBM_FORM_SAMPLED;
    GBM_UNROLL
    for (int i = 0; i < GBM_FORM_SAMPLED; i++) {
        const long long row = team->lane + (long long)team->lanes * i;
        TRIALS::columns(s, at, row * at->elements / rows, x[i]);
    }
    GBM_EACH_FORM(c, columns)
    {
        gbm_total sum = 0, squares = 0;
        GBM_UNROLL
        for (int i = 0; i < GBM_FORM_SAMPLED; i++)
            sum += x[i][c];
        sum = gbm_team_sum(team, sum) / (gbm_total)rows;
        const float middle = gbm_is_finite((real)sum) ? (float)sum : 0;
        GBM_UNROLL
        for (int i = 0; i < GBM_FORM_SAMPLED; i++)
            squares += (x[i][c] - middle) * (x[i][c] - middle);
        squares = gbm_team_sum(team, squares) / (gbm_total)rows;
        const float narrow = 1 / (float)real_sqrt(squares);
        const bool is = narrow > 1e-15f && narrow < 1e15f;
        mean[c] = TRIALS::layout::flag(c) ? 0 : middle;
        inverse[c] = TRIALS::layout::flag(c) || !is ? 1 : narrow;
    }
}

/* The density at u of a row whose columns first and second are `by` and
 * GBM_FORM_APART of their units from the mean. */
template <class TRIALS>
GBM_FN gbm_total gbm_form_probe(const typename TRIALS::layout *at,
                                const gbm_total *u, const float *mean,
                                const float *inverse, int first, float by,
                                int second)
{
    constexpr int columns = gbm_forms<TRIALS>::columns;
    constexpr int room = TRIALS::layout::room;
    gbm_total x[columns], own[room > 0 ? room : 1], density[1];
    GBM_EACH_FORM(c, columns)
    {
        const gbm_total far =
            c == first ? by : (c == second ? (gbm_total)GBM_FORM_APART : 0);
        x[c] = TRIALS::layout::flag(c)
                   ? 1
                   : (gbm_total)mean[c] + far / (gbm_total)inverse[c];
    }
    TRIALS::trial(at, u, x, own, density);
    return density[0];
}

/* Columns whose product is feature j: `columns` is 1, and columns + 1 is 0. */
template <class TRIALS>
GBM_FN void gbm_form_factors(int j, int *first, int *second)
{
    using forms = gbm_forms<TRIALS>;
    int variable[2] = {forms::columns + 1, forms::columns + 1};
    if (j == 0) {
        variable[0] = variable[1] = forms::columns;
    } else if (j < forms::features) {
        int a = (j - 1) % forms::variables, b = -1;
        if (forms::kind > 1 && j > forms::variables)
            b = a;
        if (forms::kind == 3 && j > 2 * forms::variables) {
            int left = j - 1 - 2 * forms::variables;
            for (a = 1; left >= a; a++)
                left -= a;
            b = left;
        }
        for (int c = 0, v = 0; c < forms::columns; c++) {
            if (TRIALS::layout::flag(c))
                continue;
            if (v == a)
                variable[0] = c;
            if (v == b || b < 0)
                variable[1] = b < 0 ? forms::columns : c;
            v++;
        }
    }
    *first = variable[0];
    *second = variable[1];
}

/* The coefficient of feature j; *size: of the densities that it is a difference
 * of, *rounds: of what rounding leaves of it, in its own unit. */
template <class TRIALS>
GBM_FN gbm_total gbm_form_coefficient(const typename TRIALS::layout *at,
                                      const gbm_total *u, const float *mean,
                                      const float *inverse, int j,
                                      gbm_total none, float *size,
                                      float *rounds)
{
    constexpr float apart = GBM_FORM_APART;
    constexpr int columns = gbm_forms<TRIALS>::columns;
    int a, b;
    gbm_form_factors<TRIALS>(j, &a, &b);
    const bool linear = b == columns, square = a == b;
    const gbm_total up =
        gbm_form_probe<TRIALS>(at, u, mean, inverse, a, apart, columns);
    const gbm_total other =
        linear || square
            ? gbm_form_probe<TRIALS>(at, u, mean, inverse, a, -apart, columns)
            : gbm_form_probe<TRIALS>(at, u, mean, inverse, b, apart, columns);
    const gbm_total both =
        linear || square
            ? none
            : gbm_form_probe<TRIALS>(at, u, mean, inverse, a, apart, b);
    const float most = fmaxf(fabsf((float)up), fabsf((float)other));
    *size = fmaxf(fmaxf(most, fabsf((float)both)), fabsf((float)none));
    const float unit = j == 0 ? 1 : linear ? apart : apart * apart;
    *rounds = *size / unit;
    if (j == 0)
        return none;
    return (linear   ? (up - other) / 2
            : square ? (up + other) / 2 - none
                     : both - up - other + none) /
           unit;
}

/* The words of value number k of a chain, by a warp; u: what the value tells.
 */
template <class TRIALS>
GBM_FN void gbm_form_value(const struct state *s,
                           const typename TRIALS::layout *at,
                           const struct gbm_team *team, const gbm_total *u,
                           int k, float *words)
{
    using forms = gbm_forms<TRIALS>;
    float mean[forms::columns], inverse[forms::columns];
    gbm_form_scale<TRIALS>(s, at, team, mean, inverse);
    if (k == 0 && team->lane == 0)
        GBM_EACH_FORM(c, forms::columns)
        {
            words[c] = mean[c];
            words[forms::scale + c] = inverse[c];
        }
    bool rest = true;
    for (int i = 1; i < TRIALS::layout::values; i++)
        rest = rest && gbm_is_finite((real)u[i]);
    const gbm_total none = gbm_form_probe<TRIALS>(
        at, u, mean, inverse, forms::columns, 0, forms::columns);
    uint32_t *out = (uint32_t *)words + forms::coefficients +
                    (long long)(k / 8) * forms::steps * 128;
    constexpr int pairs = forms::steps * GBM_FORM_DEPTH / 2;
    constexpr int turns = (pairs + 31) / 32;
    gbm_total squares = 0, round = 0; /* of coefficients, of their rounding */
    float largest = 0, top = 0, c[turns][2];
    GBM_EACH_FORM(i, turns)
    {
        GBM_EACH_FORM(h, 2)
        {
            const int j = 2 * (32 * i + team->lane) + h;
            c[i][h] = 0;
            if (j >= forms::features)
                continue;
            float size, rounds;
            const gbm_total exact = gbm_form_coefficient<TRIALS>(
                at, u, mean, inverse, j, none, &size, &rounds);
            squares += exact * exact;
            round += (gbm_total)rounds * rounds;
            c[i][h] = (float)exact;
            largest = fmaxf(largest, size);
            top = fmaxf(top, fabsf(c[i][h]));
        }
    }
    const float norm = (float)real_sqrt(gbm_team_sum(team, squares));
    const float rounding = (float)real_sqrt(gbm_team_sum(team, round));
    largest = (float)gbm_team_max(team, (gbm_total)largest);
    top = (float)gbm_team_max(team, (gbm_total)top);
    const bool bounded = norm < GBM_FORM_LARGE && largest < GBM_FORM_LARGE &&
                         rounding < GBM_FORM_LARGE;
    float unit = 1; /* the power of two below GBM_FORM_MOST / top */
    if (bounded && top > 1 / GBM_FORM_LARGE)
        unit = __int_as_float(__float_as_int(GBM_FORM_MOST / top) & 0x7f800000);
    GBM_EACH_FORM(i, turns)
    {
        const int j = 2 * (32 * i + team->lane);
        if (j >= 2 * pairs)
            continue;
        const int within = j % GBM_FORM_DEPTH;
        uint32_t *word =
            out + (j / GBM_FORM_DEPTH * 32 + k % 8 * 4 + within % 8 / 2) * 4;
        const float first = c[i][0] * unit, second = c[i][1] * unit;
        const uint32_t packed = gbm_form_pack(first, second);
        word[within / 8] = packed;
        word[2 + within / 8] = gbm_form_rest(first, second, packed);
    }
    const float weight = GBM_FORM_ERROR * norm + GBM_FORM_DIFFERENCE * rounding;
    const int sort = rest && u[0] == -GBM_INF ? GBM_FORM_ABSENT
                     : rest && bounded        ? GBM_FORM_BOUNDED
                                              : GBM_FORM_ODD;
    words[forms::weight + k] =
        sort == GBM_FORM_BOUNDED ? weight : (float)GBM_NAN;
    words[forms::unit + k] = 1 / unit;
    ((int *)words)[forms::sort + k] = sort;
}

/* table [chains][values][stride]: what values tell, each by a team; behind it
 * what their bounds need. */
template <class TRIALS>
__device__ void gbm_row_table(const struct state &base,
                              const struct gbm_worker &w, int chains,
                              gbm_total *table)
{
    constexpr int stride = gbm_row_stride(TRIALS::layout::values);
    typename TRIALS::layout at;
    TRIALS::lay_out(&base, &at);
    const long long tried = at.last - at.first + 1ll;
    GBM_FOR_ITEMS(tried, chains)
    {
        GBM_ITEM(tried, chains)
        gbm_total *u = table + item * stride;
        TRIALS::values(&s, &at, &w.team, at.first + (int)k, u);
        if constexpr (gbm_forms<TRIALS>::some) {
            gbm_team_sync(&w.team);
            gbm_form_value<TRIALS>(
                &s, &at, &w.team, u, (int)k,
                gbm_form_words<TRIALS>(table, chains, chain));
        }
    }
}

#endif
