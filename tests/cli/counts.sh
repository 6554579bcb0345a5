#!/usr/bin/env bash
# What a program says that a step costs and computes is right to the last digit
# where counts are larger than integers and floats hold, in either precision.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'E2'
model {
    mu ~ dnorm(0, 1)
    for (i in 1:N) {
        for (j in 1:T) {
            y[i,j] ~ dnorm(mu, 1)
        }
    }
    lambda ~ dgamma(1, 1)
    for (k in 1:3) {
        for (j in 1:m[k]) {
            x[k,j] ~ dpois(lambda)
        }
    }
}
E2
status 0 "$GBMC" --emit=c model.gbm
mv .out model.c

cat >ask.c <<'E2'
#include "model.c"
#include <stdio.h>
int main(void)
{
    int N = 70001, T = 70003, m[] = {20000001, 20000001, 20000001};
    struct state s = {.N_v = &N, .T_v = &T, .m_v = m, .m_v_n1 = 3,
                      .x_v_stride = 1, .y_v_stride = 1}; /* not all seen */
    double mu[64], lambda[64];
    for (int k = 0; k < (int)(sizeof steps / sizeof *steps); k++) {
        if (strcmp(steps[k].name, "update_mu_v") == 0)
            steps[k].work(&s, mu);
        if (strcmp(steps[k].name, "update_lambda_v") == 0)
            steps[k].work(&s, lambda);
    }
    printf("%lld %.0f %.0f\n", (long long)cost_update_mu_v(&s), mu[0],
           lambda[0]);
    return 0;
}
E2
for precision in "" -DGBM_SINGLE; do
    # of the runtime's functions none is called
    status 0 cc -w -fopenmp $precision -I"$GBM_ROOT/runtime" \
        -I"$GBM_ROOT/stdlib/kernels" -o ask ask.c -lm \
        -Wl,--unresolved-symbols=ignore-all
    status 0 ./ask
    [ "$(cat .out)" = "4900280003 4900280003 60000003" ] ||
        fail "counts with '$precision': $(cat .out)"
done
