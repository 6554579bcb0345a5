#!/usr/bin/env bash
# LKJ priors as they are sampled, in three spellings: each correlation is
# 2 b - 1 with b beta, both shapes eta + K/2 - 1; what a number p != K says.
source "$GBM_ROOT/tests/cli/lib"

# correlations K ETA: quantiles of all correlations against the beta's.
correlations() {
    local K=$1 eta=$2
    cat >"k$K.gbm" <<M
model {
  U[1:$K,1:$K] ~ dlkj_corr_cholesky($eta, $K)
  L[1:$K,1:$K] ~ lkj_corr_cholesky($eta)
  R[1:$K,1:$K] ~ lkj_corr($eta)
  A <- crossprod(U[,])
  B <- tcrossprod(L[,])
  for (i in 1:$K) {
    for (j in 1:$K) {
      for (q in 1:4) {
        below[1,i,j,q] <- step(at[q] - A[i,j])
        below[2,i,j,q] <- step(at[q] - B[i,j])
        below[3,i,j,q] <- step(at[q] - R[i,j])
      }
    }
  }
  # so that something observed depends on them, and says nothing
  one ~ dnorm(U[1,1] + L[1,1] + R[1,1], 1)
}
M
    echo 'at <- c(-0.6, -0.2, 0.3, 0.7)
one <- 3' >k.R
    status 0 "$GBMC" -O 1 "k$K.gbm" -o "k$K"
    for how in "" --plain; do
        status 0 "./k$K" --data k.R --quiet --draws 5000 --warmup 500 \
            --monitor below --summary k.json $how
        K=$K eta=$eta python3 - <<'P' || fail "K = $K, eta = $eta $how"
import json, os, sys
from scipy.stats import beta
K, eta = int(os.environ["K"]), float(os.environ["eta"])
found = json.load(open("k.json"))["parameters"]
shape, bad, n = eta + K / 2 - 1, 0, 0
for which in (1, 2, 3):
    for i in range(1, K + 1):
        for j in range(1, i):
            for q, at in enumerate((-0.6, -0.2, 0.3, 0.7), 1):
                r = found[f"below[{which},{i},{j},{q}]"]
                p = beta.cdf((at + 1) / 2, shape, shape)
                z = (r["mean"] - p) / r["mcse"]
                n += 1
                if not abs(z) < 4.5:
                    bad += 1
                    print(which, i, j, at, r["mean"], p, z)
sys.exit(bad > 0 or n != 6 * K * (K - 1))
P
    done
}
correlations 2 1
correlations 4 0.7
correlations 3 2.5

# a second extent that is none
cat >wrong.gbm <<'E2'
model {
  U[1:3,1:3] ~ dlkj_corr_cholesky(1, 2)
  y ~ dnorm(U[1,2], 1)
}
E2
status 0 "$GBMC" -O 0 wrong.gbm -o wrong
echo 'y <- 1' >wrong.R
status 1 ./wrong --data wrong.R --quiet
says 'U.*dlkj_corr_cholesky'
