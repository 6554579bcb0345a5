#!/usr/bin/env bash
# Components of a mixture split and join: a posterior against the sum over all
# labellings, where rows hardly go from one component to another one by one;
# the joint distribution test; chains that start in one component find all.
source "$GBM_ROOT/tests/cli/lib"
export PYTHONPATH=$GBM_ROOT/tests/cli

cat >rows.gbm <<'M'
model {
  for (i in 1:N) {
    z[i] ~ dcat(pi[])
    for (j in 1:J) { y[i,j] ~ dnorm(mu[z[i],j], 1) }
  }
  for (k in 1:K) { for (j in 1:J) { mu[k,j] ~ dnorm(0, 0.1) } }
  for (k in 1:(K - 1)) { v[k] ~ dbeta(a, alpha) }
  left[1] <- 1
  for (k in 1:(K - 1)) { pi[k] <- v[k] * left[k]  left[k+1] <- left[k] * (1 - v[k]) }
  pi[K] <- left[K]
  alpha ~ dgamma(2, 1)
  first <- equals(z[1], 1)
  alike <- equals(z[1], z[N])
  big <- mu[1,1]
}
M
# The same rows, and what is drawn as a vector or a matrix, all integrated out in
# the sum.
sed 's/for (j in 1:J) { y\[i,j\] ~ .* }/y[i,1:J] ~ dmnorm(mu[z[i],], one[,])\
    w[i,1:2] ~ dmnorm(none[1:2], T[z[i],,])\
    x[i,1:2] ~ dmnorm.vcov(none[1:2], Sigma[z[i],,])\
    c[i] ~ dcat(p[z[i],])/
s/for (j in 1:J) { mu\[k,j\] ~ .* } }/mu[k,1:J] ~ dmnorm(none[], tenth[,])\
    T[k,1:2,1:2] ~ dwish(S[,], 4)\
    Sigma[k,1:2,1:2] ~ dinvwish(S[,], 5)\
    p[k,1:3] ~ ddirch(two[]) }/' rows.gbm >vectors.gbm
cat >exact.py <<'E'
# exact.py: writes rows.json and vectors.json, two groups of rows; with a summary
# compares it with the sum over all labellings, alpha on a grid; "vectors": of
# that model.
import itertools
import json
import sys
from math import lgamma, log

import numpy as np

import labellings

n, J, K, a = 8, 8, 3, 1.5
noise = [.5, -.6, .3, 0, -.4, .6, .1]
y = [[(.7 if i >= n // 2 else -.7) + noise[(i + 3 * j) % 7] for j in range(J)]
     for i in range(n)]
w = [[.8, -.3], [-1.1, .4], [.3, .9], [-.2, -.7], [1.9, 1.2], [-2.2, -.8],
     [1.4, 2.1], [-.6, -1.7]]
u = [row[::-1] for row in w[3:] + w[:3]]
c = [1, 1, 2, 1, 3, 2, 3, 3]
S, two = [[2, .5], [.5, 1]], [2, 2, 2]
if len(sys.argv) == 1:
    own = {"N": n, "K": K, "J": J, "a": a, "y": y}
    with open("rows.json", "w") as f:
        json.dump(own, f)
    with open("vectors.json", "w") as f:
        json.dump({**own, "w": w, "x": u, "c": c, "S": S, "two": two,
                   "none": [0] * J, "one": np.eye(J).tolist(),
                   "tenth": (0.1 * np.eye(J)).tolist()}, f)
    sys.exit()
vectors = sys.argv[2:] == ["vectors"]
alpha = (np.arange(4000) + 0.5) * 20 / 4000
prior = np.log(alpha) - alpha


def rows(which):
    """their log density, mu integrated out, and the mean of mu[,1]"""
    p, total = 0.1 + len(which), 0
    for j in range(J):
        x = [y[i][j] for i in which]
        total += (0.5 * log(0.1 / p) + sum(x)**2 / p / 2
                  - sum(v * v for v in x) / 2)
    if vectors:
        total += scattered(w, which, 4) + scattered(u, which, 5)
        total += lgamma(sum(two)) - lgamma(sum(two) + len(which))
        for k, b in enumerate(two):
            total += lgamma(b + sum(c[i] == k + 1 for i in which)) - lgamma(b)
    return total, sum(y[i][0] for i in which) / p


def scattered(rows, which, k):
    """about 0, the precision Wishart, or the covariance its inverse, with k
    degrees of freedom and matrix S integrated out"""
    have = np.array([rows[i] for i in which]).reshape(-1, 2)
    m = k + len(which)
    return (k / 2 * log(np.linalg.det(S))
            - m / 2 * log(np.linalg.det(S + have.T @ have))
            + sum(lgamma((m - d) / 2) - lgamma((k - d) / 2) for d in range(2)))


parts = {w: rows(w) for r in range(n + 1)
         for w in itertools.combinations(range(n), r)}
labels = labellings.sticks(a, alpha, n)


def tell(z, members):
    return prior + labels(members) + sum(parts[w][0] for w in members), {
        "first": z[0] == 0, "alike": z[0] == z[-1],
        "big": parts[members[0]][1], "alpha": alpha}


exact = labellings.means(n, K, tell)
found = json.load(open(sys.argv[1]))
sys.exit(labellings.differ(found, exact, dict.fromkeys(exact, 1000)))
E
python3 exact.py
status 0 "$GBMC" -O1 rows.gbm -o rows
status 0 "$GBMC" --explain rows.gbm
prints '^[0-9]+ +z, mu +.* labels trade places, split and join,'
prints 'Jain and Neal \(2007\)'
status 0 ./rows --data rows.json --device cpu --draws 200000 --seed 2 \
    --monitor first,alike,big,alpha --summary rows.s --quiet
python3 exact.py rows.s >.out || fail "not the sum"

status 0 "$GBMC" -O1 vectors.gbm -o vectors
status 0 "$GBMC" --emit=c vectors.gbm
for of in mu T Sigma p; do
    prints "^GBM_FN_BIG real propose_split_${of}_v\\("
done
status 0 ./vectors --data vectors.json --device cpu --draws 250000 --seed 2 \
    --monitor first,alike,big,alpha --summary vectors.s --quiet
python3 exact.py vectors.s vectors >.out || fail "not the sum with vectors"

# All kinds of draws that a component may have, missing rows and powers. So many
# labels have tries often.
cat >kinds.gbm <<'M'
model {
  for (i in 1:N) {
    z[i] ~ dcat(pi[])
    x[i,1:2] ~ dmnorm.vcov(mu[z[i],], Sigma[z[i],,])
    w[i,1:2] ~ dmnorm(nu[z[i],], T[z[i],,])
    n[i] ~ dpois(rate[z[i]])
    c[i] ~ dcat(p[z[i],])
  }
  for (k in 1:K) {
    mu[k,1:2] ~ dmnorm.vcov(m[], 4 * Sigma[k,,])
    Sigma[k,1:2,1:2] ~ dinvwish(S[,], 5)
    nu[k,1:2] ~ dmnorm(m[], S[,])
    T[k,1:2,1:2] ~ dwish(S[,], 4)
    rate[k] ~ dgamma(2, 1)
    p[k,1:3] ~ ddirch(one[])
  }
  for (k in 1:(K - 1)) { v[k] ~ dbeta(1, alpha) }
  left[1] <- 1
  for (k in 1:(K - 1)) { pi[k] <- v[k] * left[k]  left[k+1] <- left[k] * (1 - v[k]) }
  pi[K] <- left[K]
  alpha ~ dgamma(2, 1)
}
M
python3 - <<'P'
import json
rows = [[1, 2], [0, 1], [-1, 3], [5, 5], [6, 5], [None, None]]
json.dump({"N": 6, "K": 40, "m": [0, 0], "S": [[2, 0.5], [0.5, 1]],
           "one": [1, 1, 1], "x": rows, "w": rows, "n": [0, 1, None, 4, 5, 2],
           "c": [1, 1, 2, 3, 3, None]}, open("kinds.json", "w"))
P
status 0 "$GBMC" -O1 kinds.gbm -o kinds
status 0 "$GBMC" --emit=c kinds.gbm
for of in mu Sigma nu T rate p; do
    prints "^GBM_FN_BIG real propose_split_${of}_v\\("
done
status 0 ./kinds geweke --data kinds.json --device cpu --draws 2000 \
    --monitor mu[1:2,],Sigma[1:2,,],nu[1:2,],rate[1:3],p[1:2,],alpha,z
