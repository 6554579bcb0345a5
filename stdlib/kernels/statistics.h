/* statistics.h: functions of a vector: BUGS's mean, sd, sort, rank, ... */
#ifndef GBM_STATISTICS_H
#define GBM_STATISTICS_H

#include "linear.h"
#include "normal_mixture.h"

GBM_FN real gbm_sum(int K, const real *x)
{
    real sum = 0;
    for (int i = 0; i < K; i++)
        sum += x[i];
    return sum;
}

GBM_FN real gbm_prod(int K, const real *x)
{
    real product = 1;
    for (int i = 0; i < K; i++)
        product *= x[i];
    return product;
}

GBM_FN real gbm_max(int K, const real *x)
{
    real largest = -GBM_INF;
    for (int i = 0; i < K; i++)
        largest = gbm_larger(x[i], largest);
    return largest;
}

GBM_FN real gbm_min(int K, const real *x)
{
    real smallest = GBM_INF;
    for (int i = 0; i < K; i++)
        smallest = gbm_smaller(x[i], smallest);
    return smallest;
}

GBM_FN real gbm_mean(int K, const real *x) { return gbm_sum(K, x) / (real)K; }

/* The sample variance, with divisor K - 1, in two passes; 0 for K = 1. */
GBM_FN real gbm_var(int K, const real *x)
{
    real mean = gbm_mean(K, x), sum = 0;
    for (int i = 0; i < K; i++)
        sum += gbm_square(x[i] - mean);
    return K > 1 ? sum / (real)(K - 1) : 0;
}

GBM_FN real gbm_sd(int K, const real *x) { return real_sqrt(gbm_var(K, x)); }

GBM_FN real gbm_inprod(int K, const real *x, const real *y)
{
    return gbm_dot(K, x, y);
}

/* log of the sum of exp(x). */
GBM_FN real gbm_log_sum_exp(int K, const real *x)
{
    real largest = gbm_max(K, x), sum = 0;
    if (!gbm_is_finite(largest))
        return largest;
    for (int i = 0; i < K; i++)
        sum += real_exp(x[i] - largest);
    return largest + real_log(sum);
}

/* The same over those that are finite, as an enumeration has it. */
GBM_FN real gbm_log_total(int K, const real *x)
{
    real largest = -GBM_INF, sum = 0;
    for (int i = 0; i < K; i++)
        if (gbm_is_finite(x[i]) && x[i] > largest)
            largest = x[i];
    for (int i = 0; i < K; i++)
        sum += gbm_is_finite(x[i]) ? real_exp(x[i] - largest) : 0;
    return sum > 0 ? largest + real_log(sum) : -GBM_INF;
}

/* Heap sort of the places 0 .. K - 1 in `place` by x, ties by place: no
 * recursion and no storage, as a device wants it. */
GBM_FN bool gbm_sorts_before(const real *x, real a, real b)
{
    real p = x[(int64_t)a], q = x[(int64_t)b];
    return p < q || (p == q && a < b);
}

GBM_FN void gbm_sift_down(const real *x, real *place, int start, int end)
{
    real moved = place[start];
    for (;;) {
        int child = 2 * start + 1;
        if (child >= end)
            break;
        if (child + 1 < end &&
            gbm_sorts_before(x, place[child], place[child + 1]))
            child++;
        if (!gbm_sorts_before(x, moved, place[child]))
            break;
        place[start] = place[child];
        start = child;
    }
    place[start] = moved;
}

GBM_FN_BIG void gbm_sort_places(int K, const real *x, real *place)
{
    for (int i = 0; i < K; i++)
        place[i] = (real)i;
    for (int i = K / 2 - 1; i >= 0; i--)
        gbm_sift_down(x, place, i, K);
    for (int end = K - 1; end > 0; end--) {
        real last = place[end];
        place[end] = place[0];
        place[0] = last;
        gbm_sift_down(x, place, 0, end);
    }
}

/* out [K]: the 1-based place of the smallest element of x, of the next, ...
 * Ties in the order of places. */
GBM_FN void gbm_order(int K, const real *x, real *out)
{
    gbm_sort_places(K, x, out);
    for (int i = 0; i < K; i++)
        out[i] += 1;
}

/* out [K]: x in ascending order. out must not overlap x. */
GBM_FN_BIG void gbm_sort(int K, const real *x, real *out)
{
    gbm_sort_places(K, x, out);
    for (int i = 0; i < K; i++)
        out[i] = x[(int64_t)out[i]];
}

/* out [K]: 1-based ranks; ties in the order of places, as in JAGS. The inverse
 * of the permutation that sorts, found in place: entries already inverted are
 * kept negative. */
GBM_FN_BIG void gbm_rank(int K, const real *x, real *out)
{
    gbm_order(K, x, out);
    for (int start = 0; start < K; start++) {
        if (out[start] < 0)
            continue;
        int from = start, to = (int)out[start] - 1;
        while (out[to] > 0) {
            int next = (int)out[to] - 1;
            out[to] = -(real)(from + 1);
            from = to;
            to = next;
        }
    }
    for (int i = 0; i < K; i++)
        out[i] = -out[i];
}

/* Whether row a of the columns x, y, z comes before row b; ties by place. */
GBM_FN bool gbm_row_before(const real *x, const real *y, const real *z, int a,
                           int b)
{
    if (x[a] != x[b])
        return x[a] < x[b];
    if (y[a] != y[b])
        return y[a] < y[b];
    return z[a] != z[b] ? z[a] < z[b] : a < b;
}

/* out [K]: how often the row occurs, where it is the first of its kind, or 0.
 * By heap sort, as above; place [K] is working space. */
GBM_FN_BIG void gbm_copies(int K, const real *x, const real *y, const real *z,
                           real *place, real *out)
{
    for (int i = 0; i < K; i++)
        place[i] = (real)i;
    for (int begin = K / 2 - 1, end = K; end > 1;) {
        if (begin < 0) {
            real last = place[--end];
            place[end] = place[0];
            place[0] = last;
        }
        int at = begin > 0 ? begin : 0;
        begin -= begin >= 0;
        const real moved = place[at];
        for (int child; (child = 2 * at + 1) < end; at = child) {
            if (child + 1 < end && gbm_row_before(x, y, z, (int)place[child],
                                                  (int)place[child + 1]))
                child++;
            if (!gbm_row_before(x, y, z, (int)moved, (int)place[child]))
                break;
            place[at] = place[child];
        }
        place[at] = moved;
    }
    int first = 0;
    for (int i = 0; i < K; i++) {
        const int a = first, b = (int)place[i];
        out[b] = 0;
        if (i == 0 || x[a] != x[b] || y[a] != y[b] || z[a] != z[b])
            first = b;
        out[first] += 1;
    }
}

/* How many elements of x are at most element k, from 1. */
GBM_FN real gbm_rank_of(int K, const real *x, real k)
{
    int at = (int)k, n = 0;
    if (at < 1 || at > K)
        return GBM_NAN;
    for (int i = 0; i < K; i++)
        n += x[i] <= x[at - 1];
    return (real)n;
}

/* The k-th smallest element of x, k from 1. */
GBM_FN real gbm_ranked(int K, const real *x, real k)
{
    for (int i = 0; i < K; i++) {
        int below = 0, same = 0;
        for (int j = 0; j < K; j++) {
            below += x[j] < x[i];
            same += x[j] == x[i];
        }
        if (below < (int)k && (int)k <= below + same)
            return x[i];
    }
    return GBM_NAN;
}

/* The value of the sorted vector x at the fraction p of its way: type 7 of
 * Hyndman and Fan (1996). */
GBM_FN real gbm_sorted_quantile(int K, const real *sorted, real p)
{
    real h = (real)(K - 1) * p, low = real_floor(h);
    int i = (int)low;
    return i + 1 < K ? sorted[i] + (h - low) * (sorted[i + 1] - sorted[i])
                     : sorted[K - 1];
}

GBM_FN_BIG real gbm_quantile(int K, const real *x, real p)
{
    real small[GBM_SMALL_CELLS];
    real *sorted = gbm_scratch(small, K);
    if (!sorted)
        return GBM_NAN;
    gbm_sort(K, x, sorted);
    real value = gbm_sorted_quantile(K, sorted, p);
    gbm_scratch_free(small, sorted);
    return value;
}

GBM_FN real gbm_median(int K, const real *x)
{
    return gbm_quantile(K, x, REAL_C(0.5));
}

/* The polygon through the points (x[i], y[i]), x ascending, at e; constant
 * beyond the ends. */
GBM_FN real gbm_interp_lin(int K, real e, const real *x, const real *y)
{
    if (!(e > x[0]))
        return y[0];
    if (e >= x[K - 1])
        return y[K - 1];
    int low = 0, high = K - 1; /* x[low] <= e < x[high] */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (e < x[middle])
            high = middle;
        else
            low = middle;
    }
    return y[low] + (y[high] - y[low]) * ((e - x[low]) / (x[high] - x[low]));
}

/* log of the elementary symmetric polynomial of order k of the weights w [K]:
 * the sum over subsets of k of their products. By recursion on K,
 * in logarithms. */
GBM_FN_BIG real gbm_log_subset_sum(int K, const real *w, real k)
{
    real small[GBM_SMALL_CELLS];
    int order = (int)k;
    if (order < 0 || order > K)
        return -GBM_INF;
    real *e = gbm_scratch(small, order + 1);
    if (!e)
        return GBM_NAN;
    gbm_fill(order + 1, e, -GBM_INF);
    e[0] = 0;
    for (int i = 0; i < K; i++) {
        real l = real_log(w[i]);
        for (int j = order < i + 1 ? order : i + 1; j > 0; j--) {
            real a = e[j], b = e[j - 1] + l;
            real high = a > b ? a : b, low = a > b ? b : a;
            if (high > -GBM_INF)
                e[j] = high + real_log1p(real_exp(low - high));
        }
    }
    real value = e[order];
    gbm_scratch_free(small, e);
    return value;
}

#endif
