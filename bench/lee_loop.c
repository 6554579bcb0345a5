/* lee_loop.c: what a plain C program takes for Lee's mixture by parallel
 * tempering: replicas whose means walk one by one, log likelihoods kept, powers
 * swapped by turns, no more. What examples/lee_mixture with a random walk is
 * compared with (bench/lee). Prints seconds of user time and the acceptance.
 *
 *   cc -O3 -march=native -fno-math-errno bench/lee_loop.c -lm -o lee_loop
 *   ./lee_loop SWEEPS REPLICAS SCALE Y... */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { K = 4, MOST = 1000 };
static const double sigma = 0.55, lower = -10, upper = 10;

static uint64_t state[2] = {1, 2};

static double uniform(void) /* xorshift128+ */
{
    uint64_t a = state[0], b = state[1];
    state[0] = b;
    a ^= a << 23;
    state[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
    return ((double)((state[1] + b) >> 11) + 0.5) * 0x1p-53;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

static double loglik(int n, const double *y, const double *mu)
{
    const double half = 0.5 / (sigma * sigma);
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double density = 0;
        for (int k = 0; k < K; k++)
            density += exp(-half * (y[i] - mu[k]) * (y[i] - mu[k]));
        sum += log(density);
    }
    return sum - n * log(K * sigma * sqrt(2 * M_PI));
}

/* The step is on the scale of the logit, as the sampler's is. */
static double jacobian(double x) { return log(x - lower) + log(upper - x); }

static int walk(int n, const double *y, double power, double scale, double *mu,
                double *known)
{
    int moved = 0;
    for (int k = 0; k < K; k++) {
        const double old = mu[k];
        const double logit =
            log((old - lower) / (upper - old)) + scale * normal();
        mu[k] = lower + (upper - lower) / (1 + exp(-logit));
        const double there = loglik(n, y, mu);
        const double ratio =
            power * (there - *known) + jacobian(mu[k]) - jacobian(old);
        if (log(uniform()) < ratio) {
            *known = there;
            moved++;
        } else {
            mu[k] = old;
        }
    }
    return moved;
}

int main(int argc, char **argv)
{
    static double mu[MOST][K], known[MOST], power[MOST];
    static int at[MOST];
    const int sweeps = atoi(argv[1]), replicas = atoi(argv[2]), n = argc - 4;
    const double scale = atof(argv[3]);
    double *y = malloc((size_t)n * sizeof *y);
    long moved = 0;
    for (int i = 0; i < n; i++)
        y[i] = atof(argv[4 + i]);
    for (int r = 0; r < replicas; r++) {
        for (int k = 0; k < K; k++)
            mu[r][k] = lower + (upper - lower) * uniform();
        known[r] = loglik(n, y, mu[r]);
        power[r] = pow((double)r / (replicas - 1), 3);
        at[r] = r;
    }
    for (int s = 0; s < sweeps; s++) {
        for (int r = 0; r < replicas; r++)
            moved += walk(n, y, power[r], scale, mu[at[r]], &known[at[r]]);
        for (int r = s & 1; r + 1 < replicas; r += 2) {
            const int a = at[r], b = at[r + 1];
            if (log(uniform()) <
                (power[r + 1] - power[r]) * (known[a] - known[b])) {
                at[r] = b;
                at[r + 1] = a;
            }
        }
    }
    printf("%.3f %.3f\n", (double)clock() / CLOCKS_PER_SEC,
           (double)moved / ((double)sweeps * replicas * K));
    return 0;
}
