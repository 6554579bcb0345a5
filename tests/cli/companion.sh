#!/usr/bin/env bash
# A recursion of two steps in companion form: the second row of s is the first,
# a step later, so the row product is a sum of states and not of what s[k,t-1]
# may be (compiler/model/factor.c). The states are one block, and what they
# should be is known.
source "$GBM_ROOT/tests/cli/lib"

cat >companion.gbm <<'M'
model {
  F[1,1] <- 1.9
  F[1,2] <- -0.95
  s[1,1] ~ dnorm(0, 0.1)
  s[1,2] ~ dnorm(0, 0.1)
  s[2,2] <- s[1,1]
  for (t in 3:T) {
    s[1,t] ~ dnorm(inprod(F[1,], s[,t-1]), 5000)
    s[2,t] <- s[1,t-1]
  }
  # the same by slices, whose first state has both rows
  u[1,1] ~ dnorm(0, 0.1)
  u[2,1] ~ dnorm(0, 0.1)
  for (t in 2:T) {
    u[1,t] ~ dnorm(inprod(phi[1:2], u[1:2,t-1]), 5000)
    u[2,t] <- u[1,t-1]
  }
  for (t in 1:T) {
    y[t] ~ dnorm(s[1,t], 4)
    v[t] ~ dnorm(u[1,t], 4)
  }
}
M
cat >exact.py <<'E'
# exact.py DATA: writes them. exact.py DATA SUMMARY: what the states are.
import json
import sys

import numpy as np

T, phi = 12, [1.9, -0.95]
y = [0.4, 1.1, 2.3, 2.2, 2.9, 2.1, 1.8, 0.2, -0.9, -1.2, -2.6, -2.1]
if len(sys.argv) == 2:
    json.dump(dict(T=T, phi=phi, y=y, v=y), open(sys.argv[1], "w"))
    sys.exit()


def states(before):
    """x[1 - before], .. x[T]: means and deviations"""
    n = T + before
    Q, r = np.zeros((n, n)), np.zeros(n)
    Q[0, 0] = Q[1, 1] = 0.1
    for i in range(2, n):
        a = np.zeros(n)
        a[i - 2:i + 1] = -phi[1], -phi[0], 1
        Q += 5000 * np.outer(a, a)
    for t in range(T):
        Q[t + before, t + before] += 4
        r[t + before] = 4 * y[t]
    V = np.linalg.inv(Q)
    return zip((V @ r)[before:], np.sqrt(V.diagonal())[before:])


got, bad = json.load(open(sys.argv[2]))["parameters"], 0
for name, before in (("s", 0), ("u", 1)):
    for t, (mean, sd) in enumerate(states(before)):
        r = got[f"{name}[1,{t + 1}]"]
        z = (r["mean"] - mean) / r["mcse"]
        print(name, t + 1, mean, r["mean"], z, sd, r["sd"], r["ess_bulk"])
        bad += abs(z) > 4 or abs(r["sd"] / sd - 1) > 0.05
        bad += r["ess_bulk"] < 3000  # all at once
sys.exit(bool(bad))
E
python3 exact.py data.json || fail data
status 0 "$GBMC" --explain companion.gbm
prints 's\[1,t\], s\[1,1\], s\[1,2\] .*joint Gaussian block'
prints 'u\[1,t\], u\[1,1\], u\[2,1\] .*joint Gaussian block'
status 0 "$GBMC" -O1 companion.gbm -o companion
status 0 ./companion check --data data.json
status 0 ./companion --data data.json --device cpu --draws 1000 --monitor s,u --summary s.json --quiet
python3 exact.py data.json s.json >.out || fail "not the states"
cat .out
