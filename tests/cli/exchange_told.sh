#!/usr/bin/env bash
# Labels that priors tell apart in other ways than by the parameters of
# components: unequal weights alone, of a mixture, of blocks of a graph, of a path,
# of groups of which is read who is in the same; the ends of a prior; of two labels
# their probability, and numbers that are read beside a label. Each block of the
# model has a mode for each order of the names, whose masses are sums over all
# labellings.
source "$GBM_ROOT/tests/cli/lib"
export PYTHONPATH=$GBM_ROOT/tests/cli

cat >told.gbm <<'M'
model {
  # weights alone
  for (i in 1:N) { z[i] ~ dcat(w[])  x[i] ~ dnorm(mu[z[i]], 1) }
  for (k in 1:2) { mu[k] ~ dnorm(0, 0.01) }
  w[1:2] ~ ddirch(a[])
  # a graph whose edges have a direction, and one whose edges have none
  for (i in 1:N) { b[i] ~ dcat(v[])  u[i] ~ dcat(q[]) }
  for (i in 2:N) {
    for (j in 1:(i-1)) {
      y[i,j] ~ dbern(P[b[i],b[j]])
      e[i,j] ~ dbern(Q[u[i],u[j]])
    }
  }
  v[1:2] ~ ddirch(a[])
  q[1:K] ~ ddirch(a[])
  for (k in 1:K) {
    for (l in 1:K) { P[k,l] ~ dbeta(1, 1) }
    for (l in k:K) { Q[k,l] ~ dbeta(1, 1) }
  }
  for (k in 2:K) { for (l in 1:(k-1)) { Q[k,l] <- Q[l,k] } }
  # one of three groups, of which an edge asks whether both ends are in the same
  for (i in 1:N) { o[i] ~ dcat(s[]) }
  for (i in 2:N) {
    for (j in 1:(i-1)) { l[i,j] ~ dbern(ifelse(o[i] == o[j], inside, across)) }
  }
  s[1:3] ~ ddirch(a3[])
  inside ~ dbeta(1, 1)
  across ~ dbeta(1, 1)
  # a path
  h[1] ~ dcat(c0[])
  for (i in 2:N) { h[i] ~ dcat(T[h[i-1],]) }
  for (i in 1:N) { xh[i] ~ dnorm(m[h[i]], 1) }
  for (k in 1:2) { m[k] ~ dnorm(0, 0.01)  T[k,1:2] ~ ddirch(A[k,]) }
  # of two: sick or not by tests with errors; a prior with ends; weights that are data
  for (i in 1:N) {
    d[i] ~ dbern(p)
    for (j in 1:3) { t[i,j] ~ dbern(d[i] * se[j] + (1 - d[i]) * (1 - sp[j])) }
    g[i] ~ dbern(r)
    xg[i] ~ dnorm(n[g[i] + 1], 1)
    f[i] ~ dbern(0.4)
    xf[i] ~ dnorm(level + step.up * f[i], 1)
  }
  p ~ dbeta(3, 2)
  r ~ dunif(0.1, 0.8)
  for (k in 1:2) { n[k] ~ dnorm(0, 0.01) }
  for (j in 1:3) { se[j] ~ dbeta(2, 1)  sp[j] ~ dbeta(2, 1) }
  level ~ dnorm(0, 0.01)
  step.up ~ dnorm(0, 0.01)
}
M
cat >exact.py <<'E'
# exact.py DATA: writes them. exact.py DATA SUMMARY: sums over all labellings.
import json
import sys
from math import lgamma, log

import labellings

x = [-4, -5, 3, 3.5, 4.2, 3.9]
two = [0, 0, 1, 1, 1, 1]
edges = [[None if j >= i else int(two[i] == two[j] or i + j == 4)
          for j in range(6)] for i in range(6)]
tests = [[0, 0, 0], [0, 0, 1], [1, 0, 1], [1, 1, 0], [1, 1, 1], [1, 1, 1]]
a, a3, A = [3, 1.4], [4, 2, 1], [[1, 2.5], [1.5, 1]]
if len(sys.argv) == 2:
    json.dump(dict(N=6, K=2, a=a, a3=a3, A=A, c0=[0.4, 0.6], x=x, xh=x, xg=x, xf=x, y=edges,
                   e=edges, l=edges, t=tests), open(sys.argv[1], "w"))
    sys.exit()


def beta(a, b):
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def shares(alpha, n):
    return sum(lgamma(k + m) - lgamma(k) for k, m in zip(alpha, n)) \
        - lgamma(sum(alpha) + sum(n)) + lgamma(sum(alpha))


def normals(members):
    out = 0
    for which in members:
        p = 0.01 + len(which)
        out += 0.5 * log(0.01 / p) - 0.5 * (
            sum(x[i]**2 for i in which) - sum(x[i] for i in which)**2 / p)
    return out


def sizes(members):
    return [len(which) for which in members]


def weights(z, members):
    return shares(a, sizes(members)) + normals(members)


def graph(directed):
    def density(z, members):
        n = {}
        for i in range(6):
            for j in range(i):
                of = z[i], z[j]
                n.setdefault(of if directed else tuple(sorted(of)),
                             [1, 1])[edges[i][j]] += 1
        return shares(a, sizes(members)) + sum(beta(*k) for k in n.values())
    return density


def planted(z, members):
    n = {True: [1, 1], False: [1, 1]}
    for i in range(6):
        for j in range(i):
            n[z[i] == z[j]][edges[i][j]] += 1
    return shares(a3, sizes(members)) + sum(beta(*k) for k in n.values())


def path(z, members):
    n = [[0, 0], [0, 0]]
    for i in range(1, 6):
        n[z[i - 1]][z[i]] += 1
    return log([0.4, 0.6][z[0]]) + sum(map(shares, A, n)) + normals(members)


def sick(z, members):
    n = sizes(members)
    out = beta(3 + n[1], 2 + n[0])
    for j in range(3):
        right = [sum(tests[i][j] == k for i in members[k]) for k in (0, 1)]
        out += sum(beta(2 + right[k], 1 + n[k] - right[k]) for k in (0, 1))
    return out


def ends(z, members):
    k, n, points = sum(z), 6, 700
    total = sum(r**k * (1 - r)**(n - k) for r in
                (0.1 + 0.7 * (i + 0.5) / points for i in range(points)))
    return log(total) + normals(members)


def step(z, members):
    """level and level + step.up, by one row at a time"""
    mean, var = [0, 0], [[100, 0], [0, 100]]
    out = sum(log(0.4 if k else 0.6) for k in z)
    for k, y in zip(z, x):
        h = [1, k]
        c = [sum(var[i][j] * h[j] for j in (0, 1)) for i in (0, 1)]
        s = 1 + sum(map(lambda i, j: i * j, h, c))
        off = y - mean[0] - k * mean[1]
        out -= 0.5 * log(s) + 0.5 * off**2 / s
        mean = [mean[i] + c[i] * off / s for i in (0, 1)]
        var = [[var[i][j] - c[i] * c[j] / s for j in (0, 1)] for i in (0, 1)]
    return out


exact = {}
for name, density, first in (
        ("z", weights, 1), ("b", graph(True), 1), ("u", graph(False), 1),
        ("o", planted, 1), ("h", path, 1), ("d", sick, 0), ("g", ends, 0),
        ("f", step, 0)):
    exact.update(labellings.means(6, 3 if name == "o" else 2, lambda z, members: (
        density(z, members), {f"{name}[1]": z[0] + first,
                              f"{name}[6]": z[5] + first})))
sys.exit(labellings.differ(json.load(open(sys.argv[2])), exact,
                           dict.fromkeys(exact, 1500)))
E
python3 exact.py all.json || fail data
status 0 "$GBMC" --explain told.gbm
[ "$(grep -cE '^[0-9]+ .*components trade' .out)" = 8 ] || fail "not all eight"
status 0 "$GBMC" -O1 told.gbm -o told
status 0 env GBM_HELD=1 ./told --data all.json --device cpu --draws 5000 --seed 2 \
    --monitor z,b,u,o,h,d,g,f --summary told.s --quiet
python3 exact.py all.json told.s >.out || fail "not the sum"
cat .out

# Where nothing but names differs they stay: there is no such step.
sed 's/ddirch(a\[\])/ddirch(c(2, 2))/; s/ddirch(A\[k,\])/ddirch(one[])/; s/ddirch(a3\[\])/ddirch(c(2, 2, 2))/
     s/# weights alone/for (k in 1:2) { one[k] <- 1 }/; s/dcat(c0\[\])/dcat(one[])/
     s/dunif(0.1, 0.8)/dunif(0, 1)/; s/dbeta(3, 2)/dbeta(2, 2)/; s/dbeta(2, 1)/dbeta(1, 1)/g' told.gbm >alike.gbm
status 0 "$GBMC" --explain alike.gbm
[ "$(grep -cE '^[0-9]+ .*components trade' .out)" = 1 ] || fail "not f alone"

# One of two by the statement of their weights (posteriors of such: random/exact)
cat >sides.gbm <<'M'
model {
  w[1:2] ~ ddirch(a[])
  p ~ dunif(0, 1)
  for (i in 1:6) {
    z[i] ~ dcat(w[])
    y[i] ~ dbin(p * equals(z[i], 1) + (1 - p) * equals(z[i], 2), 9)
  }
}
M
status 0 "$GBMC" --explain sides.gbm
prints '^[0-9]+ +z, w, p .*components trade'
