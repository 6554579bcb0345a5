#!/usr/bin/env bash
# Counts with ends that lie between whole numbers, as what a uniform node or a
# truncated one says of them: the whole numbers inside are drawn, no other.
source "$GBM_ROOT/tests/cli/lib"

cat >ends.bug <<'E'
model {
  n ~ dpois(2)                       # a slice
  x ~ dunif(0, n + 0.25)
  z ~ dbern(0.4)                     # enumerations
  u ~ dunif(0, z + 0.25)
  k ~ dcat(p[])
  v ~ dunif(-0.1, 3.3 - k)
  h ~ dpois(12)                      # an end that rounding alone moves
  w ~ dunif(0, 0.1 * h)
  l ~ dcat(p[])                      # one that the density has otherwise: 3 not
  o ~ dunif(-0.1, 3.3 - l)
  g ~ dcat(p[])
  d ~ dunif(0.1 * g, 1)
  c ~ dbin(0.4, 6)                   # an end that is drawn
  b ~ dnorm(0.5, 1)T(, c + 0.3)
  y ~ dnorm(b, 1)
  e[1] ~ dpois(0.5)                  # in one array with a real number
  e[2] ~ dnorm(0, 1)T(e[1], )
  r ~ dnorm(e[2], 1)
  for (i in 1:5) { t[i] ~ dpois(m)T(1.4, ) }       # how likely is the rest?
  m ~ dgamma(2, 1)
  f ~ dpois(0.3)T(1.4, 3.6)                        # drawn forward
}
E
echo '{"x": 1.1, "u": 1.1, "v": 0.9, "w": 1.1, "o": 0.3, "d": 0.3, "y": 1.1, "r": 1,
  "t": [2, 2, 3, 2, 4],
  "p": [0.3, 0.3, 0.2, 0.2]}' >data.json
status 0 "$GBMC" -O 0 ends.bug -o ends
status 0 ./ends check --data data.json
status 0 ./ends --data data.json --quiet --draws 20000 --summary s.json

python3 - <<'E' || fail 'the means are not those of the sums'
import json
from math import comb, erf, exp, lgamma, log, sqrt

def phi(x):
    return 0.5 * (1 + erf(x / sqrt(2)))

def poisson(k, mean):
    return exp(k * log(mean) - mean - lgamma(k + 1))

def mean(values, weight):
    w = [weight(k) for k in values]
    return sum(k * a for k, a in zip(values, w)) / sum(w)

s = sqrt(0.5)
exact = {
    "n": mean(range(1, 40), lambda k: poisson(k, 2) / (k + 0.25)),
    "z": 1,
    "k": mean([1, 2], lambda k: 0.3 / (3.4 - k)),
    "l": mean([1, 2], lambda k: 0.3 / (3.4 - k)),
    "g": mean([1, 2], lambda k: 0.3 / (1 - 0.1 * k)),
    "h": mean(range(11, 80), lambda k: poisson(k, 12) / k),
    "c": mean(range(7), lambda k: comb(6, k) * 0.4**k * 0.6**(6 - k) *
              phi((k + 0.3 - 0.8) / s) / phi(k + 0.3 - 0.5)),
    "e[1]": mean(range(6), lambda k: poisson(k, 0.5) *
                 phi((0.5 - k) / s) / phi(-k)),
}
grid = [0.002 * i + 0.001 for i in range(6000)]
exact["m"] = mean(grid, lambda m: m**14 * exp(-6 * m) /
                  (1 - exp(-m) * (1 + m)) ** 5)
exact["f"] = mean([2, 3], lambda k: poisson(k, 0.3))
a = json.load(open("s.json"))["parameters"]
bad = [(n, a[n]["mean"], m) for n, m in exact.items()
       if not abs(a[n]["mean"] - m) <= 4.5 * (a[n]["mcse"] or 0)]
print(*bad, sep="\n")
raise SystemExit(bool(bad))
E

# A limit is rounded alike wherever it is compared, though a C compiler may fuse
# 7.7 - 1.1 * k in what draws and not in what checks: 2.2 is inside of that of 5.
cat >fused.bug <<'E'
model {
  k ~ dbin(0.5, 6)
  a ~ dunif(-5, 7.7 - 1.1 * k)
  j ~ dbin(0.5, 6)
  b ~ dunif(0.7 * j - 1.1, 9)
  i ~ dbin(0.5, 6)                   # nor do comparisons
  c ~ dbern(ifelse(7.7 - 1.1 * i >= 2.2, 0.1, 0.9))
}
E
echo '{"a": 2.2, "b": 2.4, "c": 0}' >fused.json
status 0 "$GBMC" -O 1 fused.bug -o fused
status 0 ./fused --data fused.json --quiet --draws 5000 --summary s.json
python3 - <<'E' || fail 'the ends are not those of the density'
import json
from math import comb
def mean(inside, weight):
    w = [comb(6, k) * weight(k) if inside(k) else 0 for k in range(7)]
    return sum(k * x for k, x in enumerate(w)) / sum(w)
exact = {
    "k": mean(lambda k: 2.2 <= 7.7 - 1.1 * k, lambda k: 1 / (12.7 - 1.1 * k)),
    "j": mean(lambda k: 2.4 >= 0.7 * k - 1.1, lambda k: 1 / (10.1 - 0.7 * k)),
    "i": mean(lambda k: True, lambda k: 0.9 if 7.7 - 1.1 * k >= 2.2 else 0.1),
}
rows = json.load(open("s.json"))["parameters"]
for n, m in exact.items():
    print(n, rows[n]["mean"], m)
    assert abs(rows[n]["mean"] - m) < 4.5 * rows[n]["mcse"], n
E
