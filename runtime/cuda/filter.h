/* filter.h: the device kernels of a particle filter between two times: weights,
 * resampling and what is told of values (estimates.h). Included by kernels.h
 * for programs of filters.
 *
 * Particles are in tiles, one a block. Sums of weights are added up in a fixed
 * order. What is compared with them, for quantiles and for resampling within a
 * tile, are weights as whole multiples of 2^-62, whose sums are exact, so that
 * they ascend wherever they are added up; the shares of tiles ascend, too. */
#define FILTER_THREADS 256
#define FILTER_EACH 4 /* particles of a thread */
#define FILTER_TILE (FILTER_THREADS * FILTER_EACH)

/* Of the filter at hand. */
struct filter_control {
    double loglik;
    int events;     /* resamplings so far */
    int resampling; /* after the time at hand */
    int failed;     /* 0, or the time at which no particle is possible */
};

/* Of a time. */
struct filter_instant {
    double loglik, ess;
    int resampled;
};

/* A cell of each particle. */
struct filter_place {
    void *values;
    long long stride, cell;
    int integer;
};

typedef unsigned long long filter_mass;
#define FILTER_WHOLE 4611686018427387904.0 /* 2^62 */

/* weight: at most 1 */
__device__ static inline filter_mass mass_of(double weight)
{
    return (filter_mass)(weight * FILTER_WHOLE);
}

/* What all threads of the block have, added up; all get the sum. */
template <class T> __device__ static inline T filter_sum(T x)
{
    __shared__ T warps[FILTER_THREADS / 32];
    T sum = 0;
    for (int step = 16; step > 0; step /= 2)
        x += __shfl_xor_sync(0xffffffffu, x, step);
    __syncthreads(); /* an earlier sum has been read */
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = x;
    __syncthreads();
    for (int w = 0; w < FILTER_THREADS / 32; w++)
        sum += warps[w];
    return sum;
}

__device__ static inline double filter_largest(double x)
{
    __shared__ double warps[FILTER_THREADS / 32];
    for (int step = 16; step > 0; step /= 2) {
        const double other = __shfl_xor_sync(0xffffffffu, x, step);
        x = other > x ? other : x;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = x;
    __syncthreads();
    for (int w = 0; w < FILTER_THREADS / 32; w++)
        x = warps[w] > x ? warps[w] : x;
    return x;
}

/* The sum of what the threads before this one have. */
template <class T> __device__ static inline T filter_before(T x)
{
    __shared__ T warps[FILTER_THREADS / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T sum = x;
    for (int step = 1; step < 32; step *= 2) {
        const T other = __shfl_up_sync(0xffffffffu, sum, (unsigned)step);
        if (lane >= step)
            sum += other;
    }
    __syncthreads();
    if (lane == 31)
        warps[warp] = sum;
    __syncthreads();
    sum -= x;
    for (int w = 0; w < warp; w++)
        sum += warps[w];
    return sum;
}

/* Of the parts of tiles up to number `end`. */
template <class T>
__device__ static inline T filter_sum_parts(const T *part, int end)
{
    T sum = 0;
    for (int k = (int)threadIdx.x; k < end; k += FILTER_THREADS)
        sum += part[k];
    return filter_sum(sum);
}

/* ---- weights ---- */

/* Of a tile, with weights over exp(most), the largest increment of what is
 * possible: their sum and that of their squares. */
struct filter_part {
    double most, sum, square;
};

CUDA_KERNEL filter_begin(struct filter_control *control, double base, int n,
                         double *weight)
{
    gbm_follow();
    for (long long i = thread_number(); i < n; i += thread_count())
        weight[i] = 1.0 / n;
    if (thread_number() == 0) {
        control->loglik = base;
        control->events = control->resampling = control->failed = 0;
    }
}

/* Weights after the increments, over exp(most) of their tile. */
CUDA_KERNEL filter_weigh(const double *increment, int n, double *weight,
                         struct filter_part *parts)
{
    gbm_follow();
    const int first = (int)blockIdx.x * FILTER_TILE + (int)threadIdx.x;
    double own[FILTER_EACH], most = -(double)GBM_INF, sum = 0, square = 0;
    for (int k = 0; k < FILTER_EACH; k++) {
        const int i = first + k * FILTER_THREADS;
        own[k] = i < n && weight[i] > 0 ? increment[i] : -(double)GBM_INF;
        most = own[k] > most ? own[k] : most;
    }
    most = filter_largest(most);
    for (int k = 0; k < FILTER_EACH; k++) {
        const int i = first + k * FILTER_THREADS;
        if (i >= n)
            continue;
        const double x =
            own[k] > -(double)GBM_INF ? weight[i] * exp(own[k] - most) : 0;
        weight[i] = x;
        sum += x;
        square += x * x;
    }
    sum = filter_sum(sum);
    square = filter_sum(square);
    if (threadIdx.x == 0)
        parts[blockIdx.x] = filter_part{most, sum, square};
}

/* All weights, from their tiles: over exp(most). */
__device__ static inline struct filter_part
filter_total(const struct filter_part *parts, int tiles)
{
    struct filter_part all = {-(double)GBM_INF, 0, 0};
    for (int k = (int)threadIdx.x; k < tiles; k += FILTER_THREADS)
        all.most = parts[k].most > all.most ? parts[k].most : all.most;
    all.most = filter_largest(all.most);
    for (int k = (int)threadIdx.x; k < tiles; k += FILTER_THREADS) {
        const double scale = exp(parts[k].most - all.most);
        all.sum += parts[k].sum * scale;
        all.square += parts[k].square * scale * scale;
    }
    all.sum = filter_sum(all.sum);
    all.square = filter_sum(all.square);
    return all;
}

/* A tile with a smaller share of the weights than this is not resampled: so one
 * that is has a particle whose mass is not 0. */
#define FILTER_LEAST 0x1p-50

/* The share of the tiles before number `end`: ascends with it, and is the same
 * in all blocks. */
__device__ static inline double filter_share(const struct filter_part *parts,
                                             const struct filter_part *all,
                                             int end)
{
    double sum = 0;
    for (int k = (int)threadIdx.x; k < end; k += FILTER_THREADS) {
        const double share =
            parts[k].sum * exp(parts[k].most - all->most) / all->sum;
        sum += share < FILTER_LEAST ? 0 : share;
    }
    return filter_sum(sum);
}

/* ---- resampling, as runtime/filter/resample.c does it ---- */

/* How many of the points (k + u) / n are below a share. */
__device__ static inline int points_below(double share, double u, int n)
{
    const double points = ceil(n * share - u);
    return points > n ? n : points > 0 ? (int)points : 0;
}

/* Points of a tile. */
struct filter_points {
    double share; /* of the weights before it */
    int from, until;
};

__device__ static inline struct filter_points
filter_points_of(const struct filter_part *parts, const struct filter_part *all,
                 int tiles, int tile, double u, int n)
{
    const double total = filter_share(parts, all, tiles);
    const double before = filter_share(parts, all, tile);
    const double behind = filter_share(parts, all, tile + 1);
    /* what rounding leaves is the last possible one's */
    return filter_points{before,
                         before == total ? n : points_below(before, u, n),
                         behind == total ? n : points_below(behind, u, n)};
}

/* Shares the tile's points out. weight: of sum 1; taken: [n] offspring of the
 * particles up to each. Returns how many of the tile have none. */
__device__ static inline int filter_share_out(const struct filter_points *tile,
                                              const double *weight, int n,
                                              double u, int *taken)
{
    const int first =
        (int)blockIdx.x * FILTER_TILE + (int)threadIdx.x * FILTER_EACH;
    filter_mass own = 0;
    for (int i = first; i < first + FILTER_EACH && i < n; i++)
        own += mass_of(weight[i]);
    const filter_mass all = filter_sum(own);
    filter_mass sum = filter_before(own);
    int none = 0, before = 0;
    /* at first those of the particles before the thread's */
    for (int i = first - 1; i < first + FILTER_EACH && i < n; i++) {
        sum += i < first ? 0 : mass_of(weight[i]);
        const double share = tile->share + (double)sum / FILTER_WHOLE;
        int until = points_below(share, u, n);
        until = until < tile->from ? tile->from : until;
        until = until > tile->until || sum == all ? tile->until : until;
        if (i >= first) {
            taken[i] = until;
            none += until == before;
        }
        before = until;
    }
    return filter_sum(none);
}

/* Weights of sum 1; decides whether particles are resampled. empty: [tiles]
 * those that have no offspring. */
CUDA_KERNEL filter_take(struct filter_control *control,
                        const struct filter_part *parts, int tiles, int time,
                        int n, double below, double u, int last, double *weight,
                        int *taken, int *empty, struct filter_instant *instant)
{
    gbm_follow();
    const int first = (int)blockIdx.x * FILTER_TILE + (int)threadIdx.x;
    if (control->failed)
        return;
    const struct filter_part all = filter_total(parts, tiles);
    if (!(all.most - all.most == 0)) {
        if (thread_number() == 0)
            control->failed = time;
        return;
    }
    const double scale = exp(parts[blockIdx.x].most - all.most) / all.sum;
    for (int k = 0; k < FILTER_EACH; k++) {
        const int i = first + k * FILTER_THREADS;
        if (i < n)
            weight[i] *= scale;
    }
    const double ess = all.sum * all.sum / all.square;
    const int resampling = !last && !(ess >= below);
    if (thread_number() == 0) {
        control->loglik += all.most + log(all.sum);
        instant->loglik = control->loglik;
        instant->ess = ess;
        instant->resampled = resampling;
        control->resampling = resampling;
        control->events += resampling;
    }
    if (!resampling)
        return;
    const struct filter_points tile =
        filter_points_of(parts, &all, tiles, (int)blockIdx.x, u, n);
    const int none = filter_share_out(&tile, weight, n, u, taken);
    if (threadIdx.x == 0)
        empty[blockIdx.x] = none;
}

/* What survives keeps its place; the others are numbered: -1, -2, ... in
 * ancestor, [n]. surplus: [n] copies that the particles up to each have for
 * these. */
CUDA_KERNEL filter_number(const struct filter_control *control,
                          const int *taken, const int *empty, int n,
                          int *ancestors, int *surplus)
{
    gbm_follow();
    if (control->failed || !control->resampling)
        return;
    int *ancestor = ancestors + (long long)(control->events - 1) * n;
    int none = filter_sum_parts(empty, (int)blockIdx.x), own = 0;
    const int first =
        (int)blockIdx.x * FILTER_TILE + (int)threadIdx.x * FILTER_EACH;
    int before = first > 0 && first <= n ? taken[first - 1] : 0;
    int until = before;
    for (int i = first; i < first + FILTER_EACH && i < n; i++) {
        own += taken[i] == until;
        until = taken[i];
    }
    none += filter_before(own);
    for (int i = first; i < first + FILTER_EACH && i < n; i++) {
        const bool gone = taken[i] == before;
        before = taken[i];
        ancestor[i] = gone ? -1 - none : i;
        none += gone;
        surplus[i] = before - (i + 1 - none);
    }
}

/* Particle i has the cells of `from`, which is not copied itself. */
__device__ static inline void copy_cells(const struct filter_place *live,
                                         int nlive, long long i, long long from)
{
    for (int l = 0; l < nlive; l++) {
        const struct filter_place at = live[l];
        if (at.integer) {
            int *values = (int *)at.values + at.cell;
            values[i * at.stride] = values[from * at.stride];
        } else {
            real *values = (real *)at.values + at.cell;
            values[i * at.stride] = values[from * at.stride];
        }
    }
}

/* Each that is numbered becomes the copy of its number. */
CUDA_KERNEL filter_descend(const struct filter_control *control,
                           const int *surplus, int n,
                           const struct filter_place *live, int nlive,
                           int *ancestors, double *weight)
{
    gbm_follow();
    if (control->failed || !control->resampling)
        return;
    int *ancestor = ancestors + (long long)(control->events - 1) * n;
    for (long long i = thread_number(); i < n; i += thread_count()) {
        weight[i] = 1.0 / n;
        if (ancestor[i] >= 0)
            continue;
        const int number = -1 - ancestor[i];
        int low = 0, high = n - 1; /* the first that has more than so many */
        while (low < high) {
            const int middle = low + (high - low) / 2;
            if (surplus[middle] > number)
                high = middle;
            else
                low = middle + 1;
        }
        ancestor[i] = low;
        copy_cells(live, nlive, i, low);
    }
}

/* Every particle has the cells of the first. */
CUDA_KERNEL filter_spread(void *values, int integer, long long cells, int n)
{
    gbm_follow();
    for (long long t = thread_number() + cells; t < n * cells;
         t += thread_count())
        if (integer)
            ((int *)values)[t] = ((int *)values)[t % cells];
        else
            ((real *)values)[t] = ((real *)values)[t % cells];
}

/* ---- what particles' values are like: of `count` cells at once, a row of
 * blocks each. Quantiles are found digit by digit of keys that ascend with the
 * values ---- */

#ifdef GBM_SINGLE
typedef unsigned filter_key;
#define FILTER_SIGN 0x80000000u
__device__ static inline filter_key bits_of(real x)
{
    return (filter_key)__float_as_int(x);
}
__device__ static inline real of_bits(filter_key k)
{
    return __int_as_float((int)k);
}
#else
typedef unsigned long long filter_key;
#define FILTER_SIGN 0x8000000000000000ull
__device__ static inline filter_key bits_of(real x)
{
    return (filter_key)__double_as_longlong(x);
}
__device__ static inline real of_bits(filter_key k)
{
    return __longlong_as_double((long long)k);
}
#endif
#define FILTER_DIGITS ((int)sizeof(filter_key))
#define FILTER_LEVELS 3
/* masses: [cells][FILTER_DIGITS][FILTER_LEVELS][256] */
#define FILTER_COUNTS (FILTER_LEVELS * 256)

__device__ static inline filter_key key_of(real x)
{
    const filter_key bits = bits_of(x == 0 ? 0 : x);
    return bits & FILTER_SIGN ? ~bits : bits | FILTER_SIGN;
}

__device__ static inline real value_of(filter_key key)
{
    return of_bits(key & FILTER_SIGN ? key & ~FILTER_SIGN : ~key);
}

/* Integers have keys of their own: not all of them are floats. */
__device__ static inline filter_key place_key(const struct filter_place *at,
                                              long long particle)
{
    const long long i = particle * at->stride + at->cell;
    return at->integer ? (filter_key)((unsigned)((const int *)at->values)[i] ^
                                      0x80000000u)
                       : key_of(((const real *)at->values)[i]);
}

__device__ static inline double place_value(const struct filter_place *at,
                                            filter_key key)
{
    return at->integer ? (double)(int)((unsigned)key ^ 0x80000000u)
                       : (double)value_of(key);
}

/* What is known of a cell's quantiles after some digits: [levels] the digits,
 * and the mass of what lies below these; the mass of all. */
struct filter_found {
    filter_key key[FILTER_LEVELS];
    filter_mass low[FILTER_LEVELS], total;
};

/* The digit number `digit` of each level's quantile, from its masses and what
 * is found before; *now: shared, what is found with it. By a warp for each
 * level. */
__device__ static inline void find_digit(const filter_mass *masses, int digit,
                                         const double *levels,
                                         const struct filter_found *before,
                                         struct filter_found *now)
{
    const int level = (int)threadIdx.x / 32, lane = threadIdx.x % 32;
    if (level < FILTER_LEVELS) {
        /* the first digit's masses are the same for all levels */
        const filter_mass *m = masses + (long long)digit * FILTER_COUNTS +
                               (digit ? level : 0) * 256 + lane * 8;
        filter_mass each[8], own = 0;
#pragma unroll
        for (int b = 0; b < 8; b++) {
            each[b] = m[b];
            own += each[b];
        }
        filter_mass sum = own;
        for (int step = 1; step < 32; step *= 2) {
            const filter_mass other =
                __shfl_up_sync(0xffffffffu, sum, (unsigned)step);
            if (lane >= step)
                sum += other;
        }
        const filter_mass all = __shfl_sync(0xffffffffu, sum, 31);
        const filter_mass total = digit ? before->total : all;
        const double wanted = levels[level] * (double)total;
        filter_mass below = (digit ? before->low[level] : 0) + sum - own;
        int bin = 256;
#pragma unroll
        for (int b = 0; b < 8; b++) {
            if (bin == 256 && each[b] > 0 &&
                (double)(below + each[b]) >= wanted)
                bin = lane * 8 + b;
            else if (bin == 256)
                below += each[b];
        }
        const unsigned has = __ballot_sync(0xffffffffu, bin < 256);
        const int winner = has ? __ffs((int)has) - 1 : 31;
        below = __shfl_sync(0xffffffffu, below, winner);
        bin = __shfl_sync(0xffffffffu, bin, winner);
        if (lane == 0) {
            now->key[level] = (digit ? before->key[level] : 0) |
                              (filter_key)(bin & 255)
                                  << (8 * (FILTER_DIGITS - 1 - digit));
            now->low[level] = below;
            if (level == 0)
                now->total = total;
        }
    }
    __syncthreads();
}

/* Sums of masses of a tile in words of 32 bits, which shared memory adds to at
 * once: a mass has three parts of 21 bits. */
#define FILTER_PART 21
#define FILTER_PARTS 3

/* The masses of digit number `digit` of the tile's keys, level by level of
 * those that have its digits so far. */
__device__ static inline void count_digits(int digit, const filter_key *key,
                                           const filter_key *own,
                                           const filter_mass *mass,
                                           filter_mass *masses)
{
    __shared__ unsigned bins[FILTER_PARTS][FILTER_COUNTS];
    const int shift = 8 * (FILTER_DIGITS - 1 - digit);
    const int levels = digit ? FILTER_LEVELS : 1;
    for (int b = (int)threadIdx.x; b < FILTER_PARTS * FILTER_COUNTS;
         b += FILTER_THREADS)
        bins[b / FILTER_COUNTS][b % FILTER_COUNTS] = 0;
    __syncthreads();
    for (int k = 0; k < FILTER_EACH; k++)
        for (int l = 0; l < levels; l++) {
            const int bin = l * 256 + (int)(own[k] >> shift & 255);
            if (mass[k] == 0 || (digit && (own[k] ^ key[l]) >> shift >> 8 != 0))
                continue;
            for (int p = 0; p < FILTER_PARTS; p++) {
                const unsigned part = (unsigned)(mass[k] >> FILTER_PART * p) &
                                      ((1u << FILTER_PART) - 1);
                if (part)
                    atomicAdd(&bins[p][bin], part);
            }
        }
    __syncthreads();
    for (int b = (int)threadIdx.x; b < levels * 256; b += FILTER_THREADS) {
        filter_mass sum = 0;
        for (int p = 0; p < FILTER_PARTS; p++)
            sum += (filter_mass)bins[p][b] << FILTER_PART * p;
        if (sum > 0)
            atomicAdd(&masses[(long long)digit * FILTER_COUNTS + b], sum);
    }
}

/* Fetches the cells of particles at[i], or i. keys: [count][n]; sums: [count]
 * [tiles] */
CUDA_KERNEL __launch_bounds__(FILTER_THREADS)
    filter_fetch(const struct filter_control *control,
                 const struct filter_place *tracked, const long long *list,
                 const int *at, const double *weight, int n, filter_key *keys,
                 double *sums, filter_mass *masses)
{
    gbm_follow();
    if (control->failed)
        return;
    const int c = (int)blockIdx.y;
    const struct filter_place place = tracked[list ? list[c] : c];
    const int first = (int)blockIdx.x * FILTER_TILE + (int)threadIdx.x;
    filter_key own[FILTER_EACH];
    filter_mass mass[FILTER_EACH];
    double sum = 0;
    for (int k = 0; k < FILTER_EACH; k++) {
        const int i = first + k * FILTER_THREADS;
        own[k] = 0;
        mass[k] = 0;
        if (i >= n)
            continue;
        own[k] = place_key(&place, at ? at[i] : i);
        keys[(long long)c * n + i] = own[k];
        mass[k] = mass_of(weight[i]);
        if (weight[i] > 0)
            sum += weight[i] * place_value(&place, own[k]);
    }
    sum = filter_sum(sum);
    if (threadIdx.x == 0)
        sums[(long long)c * gridDim.x + blockIdx.x] = sum;
    count_digits(0, nullptr, own, mass,
                 masses + (long long)c * FILTER_DIGITS * FILTER_COUNTS);
}

/* The next digit; with the first of these the squares about the mean, too:
 * [count][tiles]. */
CUDA_KERNEL __launch_bounds__(FILTER_THREADS)
    filter_digit(const struct filter_control *control,
                 const struct filter_place *tracked, const long long *list,
                 const double *weight, int n, const filter_key *keys, int digit,
                 double level0, double level1, double level2,
                 const double *sums, double *squares, filter_mass *masses,
                 struct filter_found *found)
{
    gbm_follow();
    __shared__ struct filter_found now;
    __shared__ double levels[FILTER_LEVELS];
    if (control->failed)
        return;
    const int c = (int)blockIdx.y, tiles = (int)gridDim.x;
    const struct filter_place place = tracked[list ? list[c] : c];
    const int first = (int)blockIdx.x * FILTER_TILE + (int)threadIdx.x;
    filter_mass *mine = masses + (long long)c * FILTER_DIGITS * FILTER_COUNTS;
    filter_key own[FILTER_EACH];
    filter_mass mass[FILTER_EACH];
    if (threadIdx.x == 0) {
        levels[0] = level0;
        levels[1] = level1;
        levels[2] = level2;
    }
    __syncthreads();
    struct filter_found *const kept = found + (long long)c * FILTER_DIGITS;
    find_digit(mine, digit - 1, levels, kept + digit - 2, &now);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        kept[digit - 1] = now;
    const double mean =
        digit == 1 ? filter_sum_parts(sums + (long long)c * tiles, tiles) : 0;
    double square = 0;
    for (int k = 0; k < FILTER_EACH; k++) {
        const int i = first + k * FILTER_THREADS;
        own[k] = i < n ? keys[(long long)c * n + i] : 0;
        const double w = i < n ? weight[i] : 0;
        mass[k] = mass_of(w);
        if (digit == 1 && w > 0) {
            const double apart = place_value(&place, own[k]) - mean;
            square += w * apart * apart;
        }
    }
    if (digit == 1) {
        square = filter_sum(square);
        if (threadIdx.x == 0)
            squares[(long long)c * tiles + blockIdx.x] = square;
    }
    count_digits(digit, now.key, own, mass, mine);
}

/* As struct rt_estimate. */
struct filter_estimate {
    double mean, sd, mcse, quantile[FILTER_LEVELS];
};

/* A block for each cell. */
CUDA_KERNEL __launch_bounds__(FILTER_THREADS)
    filter_tell(const struct filter_control *control,
                const struct filter_place *tracked, const long long *list,
                int tiles, double level0, double level1, double level2,
                const double *sums, const double *squares,
                const filter_mass *masses, const struct filter_found *found,
                struct filter_estimate *out)
{
    gbm_follow();
    __shared__ struct filter_found now;
    __shared__ double levels[FILTER_LEVELS];
    if (control->failed)
        return;
    const int c = (int)blockIdx.x;
    const long long cell = list ? list[c] : c;
    const struct filter_place place = tracked[cell];
    if (threadIdx.x == 0) {
        levels[0] = level0;
        levels[1] = level1;
        levels[2] = level2;
    }
    __syncthreads();
    find_digit(masses + (long long)c * FILTER_DIGITS * FILTER_COUNTS,
               FILTER_DIGITS - 1, levels,
               found + (long long)c * FILTER_DIGITS + FILTER_DIGITS - 2, &now);
    const double mean = filter_sum_parts(sums + (long long)c * tiles, tiles);
    const double square =
        filter_sum_parts(squares + (long long)c * tiles, tiles);
    if (threadIdx.x == 0) {
        out[cell].mean = mean;
        out[cell].sd = sqrt(square);
        out[cell].mcse = 0;
        for (int l = 0; l < FILTER_LEVELS; l++)
            out[cell].quantile[l] = place_value(&place, now.key[l]);
    }
}

/* ---- back along the ancestors ---- */

/* trace: [n], where the last particles' ancestors are; then where these came
 * from at the resampling before. NULL: they are themselves. */
CUDA_KERNEL filter_trace(const int *ancestor, int n, int *trace)
{
    gbm_follow();
    for (long long i = thread_number(); i < n; i += thread_count())
        trace[i] = ancestor ? ancestor[trace[i]] : (int)i;
}

/* room: [n] zeroed, the masses that go through each particle. Far back these
 * are few: a warp adds up what goes through the same one. */
CUDA_KERNEL filter_gather(const int *trace, const double *weight, int n,
                          filter_mass *room)
{
    gbm_follow();
    const int lane = threadIdx.x % 32;
    for (long long from = thread_number() - lane; from < n;
         from += thread_count()) {
        const long long i = from + lane;
        const int to = i < n ? trace[i] : -1;
        const filter_mass mass = i < n ? mass_of(weight[i]) : 0;
        unsigned left = __ballot_sync(0xffffffffu, mass > 0);
        for (int round = 0; round < 4 && left; round++) {
            const int first = __ffs((int)left) - 1;
            const int its = __shfl_sync(0xffffffffu, to, first);
            const bool alike = (left >> lane & 1) && to == its;
            filter_mass sum = alike ? mass : 0;
            for (int step = 16; step > 0; step /= 2)
                sum += __shfl_xor_sync(0xffffffffu, sum, step);
            if (lane == first)
                atomicAdd(&room[to], sum);
            left &= ~__ballot_sync(0xffffffffu, alike);
        }
        if (left >> lane & 1)
            atomicAdd(&room[to], mass);
    }
}

/* part: [tiles] */
CUDA_KERNEL filter_squares(const filter_mass *room, int n, double *part)
{
    gbm_follow();
    const int first = (int)blockIdx.x * FILTER_TILE + (int)threadIdx.x;
    double square = 0;
    for (int k = 0; k < FILTER_EACH; k++) {
        const int i = first + k * FILTER_THREADS;
        const double share = i < n ? (double)room[i] / FILTER_WHOLE : 0;
        square += share * share;
    }
    square = filter_sum(square);
    if (threadIdx.x == 0)
        part[blockIdx.x] = square;
}

/* *out: how many different particles that is. One block. */
CUDA_KERNEL filter_paths(const double *part, int tiles, double *out)
{
    gbm_follow();
    const double square = filter_sum_parts(part, tiles);
    if (threadIdx.x == 0)
        *out = 1 / square;
}

/* Of the particles that are chosen: out[d][all] at the cells of the list. */
CUDA_KERNEL filter_keep(const struct filter_place *tracked,
                        const long long *list, long long count,
                        const int *trace, const int *chosen, int nchosen,
                        long long all, double *out)
{
    gbm_follow();
    for (long long t = thread_number(); t < count * nchosen;
         t += thread_count()) {
        const long long cell = list[t / nchosen], d = t % nchosen;
        const struct filter_place place = tracked[cell];
        out[d * all + cell] =
            place_value(&place, place_key(&place, trace[chosen[d]]));
    }
}
