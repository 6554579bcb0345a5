#!/usr/bin/env bash
# Counts in an array whose other elements are real, as where the first year of
# a population has a uniform prior: they are drawn as counts are. Those that
# may have died out before (a mean of 0), those of an observed sum, and
# indicators, which no line moves to 0.3; a category may be a subscript.
source "$GBM_ROOT/tests/cli/lib"

cat >extinct.bug <<'E'
model {
  a[1] ~ dunif(0, 5)
  b[1] ~ dunif(0, 5)
  for (t in 2:5) {
    m[t] <- f * (a[t-1] + b[t-1])
    a[t] ~ dpois(m[t])
    n[t] <- round(a[t-1] + b[t-1])
    b[t] ~ dbin(0.4, n[t])
    y[t] ~ dnorm(a[t] + b[t], 0.2)
  }
  f ~ dunif(0, 3)
}
E
echo '{"y": [null, 2, 1, 0, 0]}' >extinct.json
agrees extinct.bug extinct.json
status 0 ./sampler check --data extinct.json
prints 'a .* integer slice .* pass'

cat >indicators.bug <<'E'
model {
  for (i in 1:8) {
    q[i,1] ~ dbern(psi)
    q[i,2] ~ dbeta(a, b)
    y[i] ~ dbin(q[i,1] * q[i,2] * 0.999, 5)
  }
  psi ~ dunif(0, 1)
  a ~ dgamma(2, 1)
  b ~ dgamma(2, 1)
  x[1] ~ dcat(pc[])
  x[2] ~ dunif(0, 3)
  v ~ dnorm(level[x[1]] + x[2], 1)
}
E
cat >indicators.json <<'E'
{"y": [0, 0, 1, 0, 2, 3, 0, 0], "pc": [0.2, 0.3, 0.5], "v": 3.2,
 "level": [1, 2, 4]}
E
agrees indicators.bug indicators.json
status 0 ./sampler check --data indicators.json

cat >sum.bug <<'E'
model {
  x[1] ~ dnorm(3, 1)
  x[2] ~ dpois(3)
  x[3] ~ dpois(4)
  y ~ dsum(x[2], x[3])
  z ~ dnorm(x[1] + x[2], 1)
}
E
status 0 "$GBMC" -O 1 sum.bug -o sum
echo '{"y": 6, "z": 4.5}' >sum.json
status 0 ./sum --data sum.json --quiet --draws 4000 --summary sum.out.json
python3 - <<'E' || fail 'counts of an observed sum beside a real number'
import json, math
w = [3**k / math.factorial(k) * 4**(6 - k) / math.factorial(6 - k) *
     math.exp(-(1.5 - k)**2 / 4) for k in range(7)]
mean = sum(k * x for k, x in enumerate(w)) / sum(w)
r = json.load(open("sum.out.json"))["parameters"]["x[2]"]
print(mean, r)
assert abs(r["mean"] - mean) < 4.5 * r["mcse"]
assert all(r[q] == int(r[q]) for q in ("q5", "q50", "q95"))
E

# What is computed beside counts need not be whole, and data need not be either.
cat >computed.bug <<'E'
model {
  x[1] ~ dbern(0.4)
  x[2] ~ dpois(3)
  x[3] <- a
  x[4] <- a * x[1] / 2
  for (i in 1:4) { y[i] ~ dnorm(x[i] + b, 1) }
  b ~ dnorm(0, 0.1)
}
E
echo '{"y": [1.2, 2, 5, 0.7], "a": 2.5}' >computed.json
status 0 "$GBMC" -O 1 computed.bug -o computed
status 0 ./computed --data computed.json --quiet --draws 4000 --seed 1 \
    --summary computed.out.json
python3 - <<'E' || fail 'numbers that are computed beside counts'
import json, math
def weight(x): # of y less x: normal about b, which is normal
    r = [y - k for y, k in zip([1.2, 2, 5, 0.7], x)]
    return math.exp(-0.5 * (sum(k * k for k in r) - sum(r)**2 / 4.1))
all = [([i, k, 2.5, 1.25 * i], (0.4 if i else 0.6) * 3**k / math.factorial(k))
       for i in (0, 1) for k in range(30)]
total = sum(p * weight(x) for x, p in all)
r = json.load(open("computed.out.json"))["parameters"]
for n in (1, 2, 4):
    mean = sum(x[n - 1] * p * weight(x) for x, p in all) / total
    print(n, mean, r["x[%d]" % n])
    assert abs(r["x[%d]" % n]["mean"] - mean) < 4.5 * r["x[%d]" % n]["mcse"]
E

# Where the array is one of subscripts, what stands beside counts must be whole.
cat >beside.bug <<'M'
model {
  g[1] ~ dbern(0.4)
  g[2] <- v
  g[3] ~ dcat(p[])
  for (k in 1:4) { mu[k] ~ dnorm(0, 1) }
  for (i in 1:3) { y[i] ~ dnorm(mu[g[i] + 1], 1) }
}
M
echo '{"v": 1.5, "p": [0.3, 0.3, 0.4], "y": [1, 2, 3]}' >beside.json
status 0 "$GBMC" -O 0 beside.bug -o beside
status 1 ./beside check --data beside.json
says 'density of y\[2\] is not a number'
says 'subscript 1 of mu is 2.5, but must be a whole number'
echo '{"v": 1, "p": [0.3, 0.3, 0.4], "y": [1, 2, 3]}' >beside.json
status 0 ./beside check --data beside.json

# A count that is tried through a copy beside others, or a number through one
# condition: what is computed once for all trials does not hide a place beyond the
# array or between two.
cat >tried.bug <<'M'
model {
  for (k in 1:3) { mu[k] ~ dnorm(k, 1) }
  z ~ dbin(0.5, 4)
  g[1] ~ dbern(0.5)
  g[2] <- z
  h ~ dbern(0.5)
  q[1] ~ dbern(0.5)
  q[2] <- 1.5 * h
  for (i in 1:2) { y[i] ~ dnorm(mu[g[i] + 1], 1); x[i] ~ dnorm(mu[q[i] + 1], 1) }
  k ~ dunif(1, 9)
  for (i in 1:2) { l[i] ~ dnorm(0, 1) }
  for (t in 1:6) { c[t] ~ dpois(exp(l[1 + step(t - k) * 0.5])) }
}
M
echo '{"y": [1, 2], "x": [1, 2], "c": [1, 2, 0, 3, 4, 5]}' >tried.json
status 0 "$GBMC" -O 0 tried.bug -o tried
status 0 ./tried check --data tried.json --points 20
status 0 ./tried --data tried.json --draws 500 --chains 1 --quiet --monitor z,h,k \
    --out tried.csv
status 0 python3 -c '
import csv
n = 0
for r in csv.DictReader(l for l in open("tried_1.csv") if l[0] != "#"):
    assert float(r["z"]) <= 2 and float(r["h"]) == 0 and float(r["k"]) > 6, r
    n += 1
assert n == 500'
