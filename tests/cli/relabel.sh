#!/usr/bin/env bash
# Components of a mixture whose weights break a stick trade places: posteriors
# against sums over all labellings; the joint distribution test; that chains get
# around; and where something tells one component from another, none do.
source "$GBM_ROOT/tests/cli/lib"
export PYTHONPATH=$GBM_ROOT/tests/cli

sticks='for (k in 1:(K - 1)) { v[k] ~ dbeta(a, alpha) }
  left[1] <- 1
  for (k in 1:(K - 1)) { pi[k] <- v[k] * left[k]  left[k+1] <- left[k] * (1 - v[k]) }
  pi[K] <- left[K]'
cat >mixture.gbm <<M
model {
  for (i in 1:N) { z[i] ~ dcat(pi[])  y[i] ~ dnorm(mu[z[i]], tau[z[i]]) }
  for (k in 1:K) { mu[k] ~ dnorm(0, 0.04 * tau[k])  tau[k] ~ dgamma(2, 1) }
  $sticks
  alpha ~ dgamma(2, 1)
  first <- equals(z[1], 1)
  second <- equals(z[1], 2)
  third <- equals(z[1], 3)
  big <- mu[1]
  alike <- equals(z[1], z[4])
}
M
echo '{"N": 5, "K": 4, "a": 1.5, "y": [-9, -8.5, -8.7, 9, 9.2]}' >free.json
echo '{"N": 5, "K": 4, "a": 1.5, "y": [-9, -8.5, -8.7, 9, 9.2],
      "z": [null, null, null, null, 2]}' >known.json
cat >exact.py <<'E'
# exact.py DATA SUMMARY: sums over all labellings, alpha on a grid.
import itertools
import json
import sys
from math import lgamma, log

import numpy as np

import labellings

d, found = (json.load(open(f)) for f in sys.argv[1:3])
y, K, a, n = d["y"], d["K"], d["a"], d["N"]
known = d.get("z", [None] * n)
alpha = (np.arange(4000) + 0.5) * 20 / 4000
prior = np.log(alpha) - alpha


def rows(which):
    """their log density, mu and tau integrated out, and the mean of mu"""
    x = [y[i] for i in which]
    n, p = len(x), 0.04 + len(x)
    centre = sum(x) / p
    rate = 1 + (sum(v * v for v in x) - p * centre**2) / 2
    return (0.5 * log(0.04 / p) + lgamma(2 + n / 2) - (2 + n / 2) * log(rate),
            centre)


parts = {w: rows(w) for r in range(n + 1)
         for w in itertools.combinations(range(n), r)}
labels = labellings.sticks(a, alpha, n)


def tell(z, members):
    return prior + labels(members) + sum(parts[w][0] for w in members), {
        "first": z[0] == 0, "second": z[0] == 1, "third": z[0] == 2,
        "big": parts[members[0]][1], "alike": z[0] == z[3], "alpha": alpha}


least = {} if any(known) else dict.fromkeys(["first", "second", "big"], 10000)
sys.exit(labellings.differ(found, labellings.means(n, K, tell, known), least))
E
status 0 "$GBMC" -O1 mixture.gbm -o mixture
status 0 "$GBMC" --explain mixture.gbm
prints '^[0-9]+ +z, tau, mu +.* labels trade places, split and'
prints 'z, tau, mu: components trade places with all that they have'
for data in free known; do
    status 0 ./mixture --data $data.json --device cpu --draws 20000 --seed 2 \
        --monitor first,second,third,big,alike,alpha --summary $data.s --quiet
    python3 exact.py $data.json $data.s >.out || fail "$data is not the sum"
done
sed 's/, -8.7,/, null,/' free.json >missing.json
status 0 ./mixture check --data missing.json --device cpu
prints 'labels trade places .* not checked: '
status 0 ./mixture geweke --data missing.json --device cpu --draws 2000

# Matrices, what is kept of them, and parameters above them; powers.
cat >matrices.gbm <<M
model {
  for (i in 1:N) { z[i] ~ dcat(pi[])  x[i,1:2] ~ dmnorm.vcov(mu[z[i],], Sigma[z[i],,]) }
  for (k in 1:K) {
    mu[k,1:2] ~ dmnorm.vcov(m[], 4 * Sigma[k,,])
    Sigma[k,1:2,1:2] ~ dinvwish(S[,], 5)
  }
  $sticks
  alpha <- 0.7
}
M
echo '{"N": 6, "K": 3, "a": 1, "m": [0, 0], "S": [[2, 0.5], [0.5, 1]],
      "x": [[1, 2], [0, 1], [-1, 3], [5, 5], [6, 5], [null, null]]}' >matrices.json
status 0 "$GBMC" -O1 matrices.gbm -o matrices
status 0 "$GBMC" --explain matrices.gbm
prints 'z, mu, Sigma .* labels trade places'
status 0 ./matrices geweke --data matrices.json --device cpu --draws 2000
status 0 "$GBMC" -O1 --with=powers matrices.gbm -o powers
status 0 ./powers geweke --data matrices.json --device cpu --draws 2000

# What tells components apart, or is as likely in any order.
none() { # SED...
    sed "$@" mixture.gbm >other.gbm
    cmp -s mixture.gbm other.gbm && fail "nothing is other"
    status 0 "$GBMC" --explain other.gbm
    if grep -q 'labels trade places' .out; then fail "$*"; fi
}
none 's/mu\[k\] ~ dnorm(0,/mu[k] ~ dnorm(centre[k],/'
none 's/mu\[k\] ~ dnorm(0,/mu[k] ~ dnorm(k,/'
none 's/^  big <- mu\[1\]/  extra ~ dnorm(mu[2], 1)/'
none 's/y\[i\] ~ dnorm(mu\[z\[i\]\]/y[i] ~ dnorm(z[i] + mu[z[i]]/'
none 's/y\[i\] ~ dnorm(mu\[z\[i\]\]/y[i] ~ dnorm(mu[z[i]] + mu[1]/'
none 's/^  first <-/  for (i in 1:N) { w[i] ~ dbern(u[z[i]]) }\n  first <-/'
none 's/z\[i\] ~ dcat(pi\[\])/z[i] ~ dcat(q[])/; s/^  first <-/  q[1:K] ~ ddirch(one[])\n  first <-/'
