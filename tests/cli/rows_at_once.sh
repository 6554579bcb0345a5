#!/usr/bin/env bash
# Updates that try all values of an element take many elements at once
# (stdlib/kernels/rows.h). The draws are those of one element after the other:
# of vectors, some of whose rows nothing observes, in part or at all; of values
# that are impossible for all elements, or for some; of several children, of
# regressions, of counts; of more elements than a block, and fewer.
source "$GBM_ROOT/tests/cli/lib"

cat >vectors.gbm <<'END'
model {
    pi ~ ddirch(a[])
    for (k in 1:K) {
        mu[k,1:P] ~ dmnorm(m0[], T0[,])
        Q[k,1:P,1:P] ~ dwish(R[,], df)
    }
    for (i in 1:N) {
        z[i] ~ dcat(pi[])
        x[i,1:P] ~ dmnorm(mu[z[i],], Q[z[i],,])
    }
}
END
cat >sums.gbm <<'END'
model {
    for (k in 1:K) {
        for (p in 1:P) {
            mu[k,p] ~ dnorm(0, 0.1)
            tau[k,p] ~ dgamma(2, 2)
        }
        beta[k,1:P] ~ dmnorm(m0[], T0[,])
        rate[k] ~ dgamma(1, 0.1)
        q[k] <- a[k] * (k != 2)
    }
    for (i in 1:N) {
        z[i] ~ dcat(q[])
        w[i] ~ dpois(rate[z[i]] * size[i] * (z[i] != 3))
        y[i] ~ dnorm(inprod(beta[z[i],], t[i,]), 1 / (1 + v[i]))
        for (p in 1:P) { x[i,p] ~ dnorm(mu[z[i],p], tau[z[i],p]) }
    }
}
END
python3 - <<'END'
import json, random
random.seed(4)
def data(N, K, P):
    x = [[random.gauss(3 * (i % K), 1) for p in range(P)] for i in range(N)]
    x[1][1] = None
    x[2] = [None] * P
    unit = [[float(a == b) for a in range(P)] for b in range(P)]
    t = [[random.gauss(0, 1) for p in range(P)] for i in range(N)]
    return dict(N=N, K=K, P=P, x=x, t=t, m0=[0.0] * P, T0=unit, R=unit, df=P + 2,
                a=[1.0] * K, w=[random.randrange(9) for i in range(N)],
                size=[random.random() + 1 for i in range(N)],
                v=[random.random() for i in range(N)],
                y=[random.gauss(0, 2) for i in range(N)])
json.dump(data(75, 5, 3), open("many.json", "w"))
json.dump(data(7, 3, 2), open("few.json", "w"))
END

for model in vectors sums; do
    status 0 "$GBMC" --emit=c $model.gbm
    mv .out $model.c
    grep -q "^GBM_HOST_RUN_ROWS" $model.c || fail "$model: one by one"
    for way in AT_ONCE ONE_BY_ONE; do
        # shellcheck disable=SC2046
        cc -O2 -DGBM_$way -march=native -fopenmp -I "$GBM_ROOT/runtime" \
            -I "$GBM_ROOT/stdlib/kernels" $model.c "$GBM_ROOT/build/libgbm.a" \
            $(cat "$GBM_ROOT/build/link_flags") -o $model.$way 2>.err || fail "cc"
        for data in many few; do
            for threads in 1 3; do
                status 0 ./$model.$way --data $data.json --quiet --device cpu \
                    --threads $threads --chains 1 --warmup 10 --draws 30 \
                    --monitor z,mu,x --digits 9 --out $way.csv
                grep -v '^#' ${way}_1.csv >$model.$data.$threads.$way
            done
        done
    done
    for data in many few; do
        for threads in 1 3; do
            cmp $model.$data.1.ONE_BY_ONE $model.$data.$threads.AT_ONCE ||
                fail "$model, $data: other draws"
        done
    done
done
