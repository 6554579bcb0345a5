/* dense_solve.h: L y = b and L' x = y + z for factors that the library has made,
 * by a launch each. Part of kernels.h, after dense_large.h.
 *
 * A block of threads has 64 coordinates. It multiplies what the others, in their
 * order, tell of theirs while the next are on their way, and has the inverse of
 * its own square on the diagonal by then: so from block to block goes one
 * product. A word that is told has half a number or a whole one and the turn
 * that it is of, so nobody waits for a flag. Blocks take their places as they
 * begin: who waits, waits for blocks that have begun. */

#define SOLVE_SIDE 64
#define SOLVE_HALF (SOLVE_SIDE / 2)
#define SOLVE_THREADS 256
#define SOLVE_PARTS (SOLVE_THREADS / SOLVE_SIDE) /* that share a coordinate */
#define SOLVE_EACH (SOLVE_SIDE / SOLVE_PARTS)    /* terms of a thread */
#define SOLVE_COLUMNS (SOLVE_SIDE / (SOLVE_THREADS / 32)) /* of a warp */
#define SOLVE_WORDS ((int)sizeof(gbm_total) / 4)          /* of a number */

/* What blocks of a launch share, before the words that they tell: [d]
 * [SOLVE_WORDS]. As in dense_library.c; zeroed at first. */
struct solve_room {
    unsigned taken, done, turn, unused;
};
typedef unsigned long long solve_word;

/* A block of threads at work. */
struct solve_place {
    int number; /* of its coordinates */
    unsigned turn;
    solve_word *told;
};

__device__ static inline struct solve_place solve_begin(struct solve_room *room)
{
    __shared__ unsigned number, turn;
    if (threadIdx.x == 0) {
        number = atomicAdd(&room->taken, 1u);
        turn = room->turn + 1;
    }
    __syncthreads();
    return {(int)number, turn, (solve_word *)(room + 1)};
}

/* The last one to end makes room for the next launch. */
__device__ static inline void solve_end(struct solve_room *room, unsigned turn)
{
    if (threadIdx.x == 0 && atomicAdd(&room->done, 1u) + 1 == gridDim.x) {
        room->taken = room->done = 0;
        room->turn = turn;
    }
}

__device__ static inline void solve_tell(const struct solve_place &at,
                                         long long k, gbm_total value)
{
    volatile solve_word *to = at.told + k * SOLVE_WORDS;
    const solve_word turn = (solve_word)at.turn << 32;
    if (SOLVE_WORDS == 1) {
        to[0] = turn | __float_as_uint((float)value);
    } else {
        const solve_word bits = (solve_word)__double_as_longlong((double)value);
        to[0] = turn | (unsigned)bits;
        to[SOLVE_WORDS - 1] = turn | (unsigned)(bits >> 32);
    }
}

/* Waits for it. */
__device__ static inline gbm_total solve_hear(const struct solve_place &at,
                                              long long k)
{
    const volatile solve_word *from = at.told + k * SOLVE_WORDS;
    solve_word low, high;
    do {
        low = from[0];
        high = SOLVE_WORDS == 1 ? low : from[SOLVE_WORDS - 1];
    } while ((unsigned)(low >> 32) != at.turn ||
             (unsigned)(high >> 32) != at.turn);
    if (SOLVE_WORDS == 1)
        return (gbm_total)__uint_as_float((unsigned)low);
    return (gbm_total)__longlong_as_double(
        (long long)(high << 32 | (unsigned)low));
}

typedef gbm_total solve_square[SOLVE_SIDE][SOLVE_SIDE + 1];

/* Twice as large squares on the diagonal have their inverse, where those of
 * 2^bits have it: -C^-1 B A^-1 below that of A and beside that of C. */
__device__ static inline void solve_double(solve_square inverse, int bits)
{
    __shared__ gbm_total half[SOLVE_HALF * SOLVE_HALF];
    const int side = 1 << bits;

    for (int pass = 0; pass < 2; pass++) {
        for (int t = (int)threadIdx.x; t < SOLVE_HALF << bits;
             t += SOLVE_THREADS) {
            const int c = t & (side - 1), r = t >> bits & (side - 1);
            const int square = t >> 2 * bits << 2 * bits;
            const int at = 2 * (square >> bits);
            const gbm_total *row = inverse[at + side + r] + at + pass * side;
            gbm_total sum = 0;
#pragma unroll 4
            for (int k = 0; k < side; k++)
                sum = gbm_multiply_add(row[k],
                                       pass ? -half[square + (k << bits) + c]
                                            : inverse[at + k][at + c],
                                       sum);
            if (pass)
                inverse[at + side + r][at + c] = sum;
            else
                half[t] = sum;
        }
        __syncthreads();
    }
}

/* The inverse of the square on the diagonal from coordinate `at` on, with ones
 * where there are no more coordinates. */
__device__ static inline void solve_invert(const gbm_total *l, int d, int at,
                                           solve_square inverse)
{
    const int self = (int)threadIdx.x, r = self % SOLVE_SIDE;

#pragma unroll
    for (int k = 0; k < SOLVE_EACH; k++) {
        const int c = self / SOLVE_SIDE + k * SOLVE_PARTS;
        inverse[r][c] = at + r < d && r >= c
                            ? l[at + r + (long long)(at + c) * d]
                            : (gbm_total)(r == c);
    }
    __syncthreads();
    if (self < SOLVE_SIDE)
        inverse[self][self] = 1 / inverse[self][self];
    __syncthreads();
#pragma unroll 1
    for (int bits = 0; 1 << bits < SOLVE_SIDE; bits++)
        solve_double(inverse, bits);
}

/* What every part has of a coordinate, added up in the threads of the first. */
__device__ static inline gbm_total solve_add_parts(gbm_total mine)
{
    __shared__ gbm_total parts[SOLVE_PARTS][SOLVE_SIDE];
    const int self = (int)threadIdx.x;
    gbm_total sum = 0;

    parts[self / SOLVE_SIDE][self % SOLVE_SIDE] = mine;
    __syncthreads();
    for (int part = 0; self < SOLVE_SIDE && part < SOLVE_PARTS; part++)
        sum += parts[part][self];
    __syncthreads();
    return sum;
}

/* `by` times what the threads of the first part have on the right side, in
 * these. by: a thread's terms of the inverse, or of its transpose. */
__device__ static inline gbm_total
solve_multiply(const gbm_total (&by)[SOLVE_EACH], gbm_total right)
{
    __shared__ gbm_total all[SOLVE_SIDE];
    const int self = (int)threadIdx.x, part = self / SOLVE_SIDE;
    gbm_total sum = 0;

    if (part == 0)
        all[self] = right;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < SOLVE_EACH; k++)
        sum = gbm_multiply_add(by[k], all[part * SOLVE_EACH + k], sum);
    return solve_add_parts(sum);
}

/* b = L^-1 b, or of potential + score, if there is one. As many blocks as there
 * are squares on the diagonal. */
CUDA_KERNEL __launch_bounds__(SOLVE_THREADS)
    solve_down(const gbm_total *l, const real *potential, const real *score,
               int d, struct solve_room *room, gbm_total *b)
{
    gbm_follow();
    __shared__ solve_square inverse;
    const struct solve_place at = solve_begin(room);
    const int self = (int)threadIdx.x, lane = self % 32;
    const int part = self / SOLVE_SIDE, r = self % SOLVE_SIDE;
    const int row = at.number * SOLVE_SIDE + r;
    gbm_total by[SOLVE_EACH], sum = 0, own = 0;

    if (part == 0 && row < d)
        own = potential ? (gbm_total)potential[row] + (gbm_total)score[row]
                        : b[row];
    solve_invert(l, d, at.number * SOLVE_SIDE, inverse);
#pragma unroll
    for (int k = 0; k < SOLVE_EACH; k++)
        by[k] = inverse[r][part * SOLVE_EACH + k];
    for (int j = 0; j < at.number; j++) {
        const int first = j * SOLVE_SIDE + part * SOLVE_EACH;
        const gbm_total *from = l + (row < d ? row : 0) + (long long)first * d;
        gbm_total cell[SOLVE_EACH], told = 0;
#pragma unroll
        for (int k = 0; k < SOLVE_EACH; k++)
            cell[k] = from[(long long)k * d];
        if (lane < SOLVE_EACH)
            told = solve_hear(at, first + lane);
#pragma unroll
        for (int k = 0; k < SOLVE_EACH; k++)
            sum = gbm_multiply_add(cell[k], __shfl_sync(0xffffffffu, told, k),
                                   sum);
    }
    const gbm_total y = solve_multiply(by, own - solve_add_parts(sum));
    if (part == 0 && row < d) {
        solve_tell(at, row, y);
        b[row] = y;
    }
    solve_end(room, at.turn);
}

/* Adds up over a warp what its lanes have of each of its columns; column k of
 * block number `number` in thread k. */
__device__ static inline gbm_total
solve_add_lanes(gbm_total (&sum)[SOLVE_COLUMNS])
{
    __shared__ gbm_total all[SOLVE_SIDE];
    const int self = (int)threadIdx.x, warp = self / 32;

#pragma unroll
    for (int k = 0; k < SOLVE_COLUMNS; k++) {
#pragma unroll
        for (int step = 16; step > 0; step /= 2)
            sum[k] += __shfl_xor_sync(0xffffffffu, sum[k], step);
        if (self % 32 == 0)
            all[warp * SOLVE_COLUMNS + k] = sum[k];
    }
    __syncthreads();
    return self < SOLVE_SIDE ? all[self] : (gbm_total)0;
}

/* x = L'^-1 (y + z), z the block's normals, 0 where fixed. */
CUDA_KERNEL __launch_bounds__(SOLVE_THREADS)
    solve_up(const struct gbm_control *control, const gbm_total *l,
             const gbm_total *y, const unsigned char *fixed, int d, int step,
             int chain, struct solve_room *room, real *x)
{
    gbm_follow();
    __shared__ solve_square inverse;
    struct solve_place at = solve_begin(room);
    const int self = (int)threadIdx.x, lane = self % 32, warp = self / 32;
    const int part = self / SOLVE_SIDE, r = self % SOLVE_SIDE;
    const int last = (int)gridDim.x - 1;
    at.number = last - at.number;
    const int row = at.number * SOLVE_SIDE + r;
    const int column = at.number * SOLVE_SIDE + warp * SOLVE_COLUMNS;
    gbm_total by[SOLVE_EACH], sum[SOLVE_COLUMNS] = {}, own = 0;

    if (part == 0 && row < d)
        own = y[row] + (fixed && fixed[row]
                            ? (gbm_total)0
                            : block_normal(control, chain, step, row));
    solve_invert(l, d, at.number * SOLVE_SIDE, inverse);
#pragma unroll
    for (int k = 0; k < SOLVE_EACH; k++)
        by[k] = inverse[part * SOLVE_EACH + k][r];
    for (int j = last; j > at.number; j--) {
#pragma unroll
        for (int half = 0; half < 2; half++) {
            const int k = j * SOLVE_SIDE + half * SOLVE_HALF + lane;
            gbm_total cell[SOLVE_COLUMNS];
            if (k >= d)
                continue;
#pragma unroll
            for (int c = 0; c < SOLVE_COLUMNS; c++)
                cell[c] = l[k + (long long)(column + c) * d];
            const gbm_total told = solve_hear(at, k);
#pragma unroll
            for (int c = 0; c < SOLVE_COLUMNS; c++)
                sum[c] = gbm_multiply_add(cell[c], told, sum[c]);
        }
    }
    const gbm_total value = solve_multiply(by, own - solve_add_lanes(sum));
    if (part == 0 && row < d) {
        solve_tell(at, row, value);
        x[row] = (real)value;
    }
    solve_end(room, at.turn);
}
