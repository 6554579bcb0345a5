#!/usr/bin/env bash
# Two labels of paths that trade places where the matrix of the transitions is
# written cell by cell, of one path with ends and with an observation of a cell,
# and of a path for each row, with classes: posteriors are sums over all
# labellings. Where labels' statements alone do not read the cells, they stay.
source "$GBM_ROOT/tests/cli/lib"
export PYTHONPATH=$GBM_ROOT/tests/cli

cat >cells.gbm <<'M'
model {
  # written cell by cell
  z[1] ~ dcat(h[])
  for (t in 2:T) { z[t] ~ dcat(P[z[t-1],]) }
  for (t in 1:T) { y[t] ~ dnorm(mu[z[t]], 1) }
  P[1,1] ~ dbeta(4, 1) T(0.2, )
  P[1,2] <- 1 - P[1,1]
  P[2,1] ~ dbeta(1, 3)
  P[2,2] <- 1 - P[2,1]
  seen ~ dbin(P[2,2], 3)
  # a path a row, of two classes
  for (i in 1:N) {
    c[i] ~ dcat(h[])
    x[i,1] ~ dcat(h[])
    for (t in 2:3) { x[i,t] ~ dcat(R[c[i],x[i,t-1],]) }
    for (t in 1:3) { yx[i,t] ~ dnorm(xi[x[i,t]], 1) }
  }
  for (k in 1:2) {
    R[1,k,k] ~ dbeta(3, 1)
    R[2,k,k] ~ dbeta(1, 2)
    R[k,1,2] <- 1 - R[k,1,1]
    R[k,2,1] <- 1 - R[k,2,2]
  }
  h[1] <- 0.4
  h[2] <- 0.6
  for (k in 1:2) { mu[k] ~ dnorm(0, 0.01)  xi[k] ~ dnorm(0, 0.01) }
}
M
cat >exact.py <<'E'
# exact.py DATA: writes them. exact.py DATA SUMMARY: sums over all labellings.
import json
import sys
from itertools import product
from math import lgamma, log

import labellings

x = [-3.9, -4.4, 3.8, 4.1, 4.6, 3.9]
rows = [[-4.0, -3.6, 3.9], [-3.7, 4.2, 3.8]]
if len(sys.argv) == 2:
    json.dump(dict(T=6, N=2, seen=1, y=x, yx=rows), open(sys.argv[1], "w"))
    sys.exit()
points = [(i + 0.5) / 4000 for i in range(4000)]


def beta(a, b):
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def normals(members, x):
    out = 0
    for which in members:
        p = 0.01 + len(which)
        out += 0.5 * log(0.01 / p) - 0.5 * (
            sum(x[i]**2 for i in which) - sum(x[i] for i in which)**2 / p)
    return out


def moves(z):
    n = [[0, 0], [0, 0]]
    for a, b in zip(z, z[1:]):
        n[a][b] += 1
    return n


above = {}


def stays(n):
    """P[1,1] of a beta distribution above 0.2"""
    if n not in above:
        above[n] = log(sum(p**(3 + n[0]) * (1 - p)**n[1] for p in points
                           if p > 0.2))
    return above[n]


def path(z, members):
    n = moves(z)
    out = log([0.4, 0.6][z[0]]) + normals(members, x) + stays(tuple(n[0]))
    out += beta(1 + n[1][0] + 2, 3 + n[1][1] + 1)
    return out, {"z[1]": z[0] + 1, "z[6]": z[5] + 1}


def classes(z, members):
    """two rows' classes and paths"""
    h = [0.4, 0.6]
    out = log(h[z[0]] * h[z[1]])
    n = [[[0, 0], [0, 0]], [[0, 0], [0, 0]]]
    for c, u in zip(z, (z[2:5], z[5:])):
        out += log(h[u[0]])
        m = moves(u)
        for a, b in product((0, 1), (0, 1)):
            n[c][a][b] += m[a][b]
    for a in (0, 1):
        out += beta(3 + n[0][a][a], 1 + n[0][a][1 - a]) - beta(3, 1)
        out += beta(1 + n[1][a][a], 2 + n[1][a][1 - a]) - beta(1, 2)
    flat = rows[0] + rows[1]
    out += normals([[i for i in range(6) if z[2 + i] == k] for k in (0, 1)], flat)
    return out, {"x[1,1]": z[2] + 1, "x[2,3]": z[7] + 1, "c[1]": z[0] + 1}


exact = labellings.means(6, 2, path)
exact.update(labellings.means(8, 2, classes))
sys.exit(labellings.differ(json.load(open(sys.argv[2])), exact,
                           dict.fromkeys(exact, 1500)))
E
python3 exact.py data.json || fail data
status 0 "$GBMC" --explain cells.gbm
[ "$(grep -cE '^[0-9]+ .*components trade' .out)" = 2 ] || fail "not both"
prints 'z\[1\], z\[t\], mu, P\[1,1\], P\[2,1\]: two components trade'
prints 'x\[i,1\], x\[i,t\], xi, R\[1,k,k\], R\[2,k,k\]: two components trade'
status 0 "$GBMC" -O1 cells.gbm -o cells
status 0 ./cells --data data.json --device cpu --draws 5000 --seed 2 --monitor z,x,c --summary cells.s --quiet
python3 exact.py data.json cells.s >.out || fail "not the sum"
cat .out
status 0 ./cells geweke --data data.json --device cpu --draws 4000

# what else labels choose reads a cell
sed 's/dnorm(mu\[z\[t\]\], 1)/dnorm(mu[z[t]] * P[1,1], 1)/' cells.gbm >read.gbm
status 0 "$GBMC" --explain read.gbm
if grep -qE 'P\[1,1\], P\[2,1\]: two components trade' .out; then fail "P trades"; fi

# cells that are copies of scalars and of an array, or 1 - these
sed 's/P\[1,1\] ~/stay ~/; s/P\[1,2\] <- .*/P[1,1] <- stay  P[1,2] <- 1 - stay/
    s/P\[2,1\] ~/leave ~/; s/P\[2,2\] <- .*/P[2,1] <- leave  P[2,2] <- 1 - leave/
    s/R\[\([12]\),k,k\] ~ \(.*\)/r[\1,k] ~ \2  R[\1,k,k] <- r[\1,k]/
    s/1 - R\[k,\([12]\),[12]\]/1 - r[k,\1]/' cells.gbm >copies.gbm
status 0 "$GBMC" --explain copies.gbm
prints 'z\[1\], z\[t\], mu, stay, leave: two components trade'
prints 'x\[i,1\], x\[i,t\], xi, r\[1,k\], r\[2,k\]: two components trade'
status 0 "$GBMC" -O1 copies.gbm -o copies
status 0 ./copies --data data.json --device cpu --draws 5000 --seed 3 --monitor z,x,c --summary copies.s --quiet
python3 exact.py data.json copies.s >.out || fail "copies: not the sum"
cat .out
status 0 ./copies geweke --data data.json --device cpu --draws 4000
