#!/usr/bin/env bash
# A number is drawn with the nodes integrated out that stand beside it in the same
# likelihood: posteriors by sums and quadrature, where some of these are data and
# rows are missing or grouped; the self-check; the joint distribution test; that
# they mix; what stays as it was.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'M'
model {
  # how many trials, and their probability
  for (i in 1:m) { k[i] ~ dbin(theta, n) }
  theta ~ dbeta(1.5, 2)
  n ~ dcat(even[])
  for (j in 1:200) { even[j] <- 1 / 200 }

  # how many there are, caught on J occasions; p[2] is data
  for (j in 1:J) {
    caught[j] ~ dbin(p[j], N)
    p[j] ~ dbeta(1, 3)
  }
  N ~ dpois(lambda)
  lambda ~ dgamma(8, 0.1)

  # a shape, and the rates of groups
  for (i in 1:R) { y[i] ~ dgamma(s, b[g[i]]) }
  for (j in 1:G) { b[j] ~ dgamma(2, 1.5) }
  s ~ dunif(0, 30)

  # size and probability
  for (i in 1:R) { z[i] ~ dnegbin(q, size) }
  q ~ dbeta(2, 2)
  size ~ dgamma(2, 0.2)
}
M
cat >data.py <<'E'
import json
import numpy as np

r = np.random.default_rng(5)
m, J, R, G = 6, 4, 40, 5
k = [int(v) for v in r.binomial(60, 0.3, m)]
k[3] = None
g = r.integers(1, G + 1, R)
b = r.gamma(2, 1 / 1.5, G)
y = list(r.gamma(6, 1 / b[g - 1]))
y[5] = y[17] = None
z = [int(v) for v in r.negative_binomial(8, 0.4, R)]
z[0] = None
caught = [int(v) for v in r.binomial(75, [0.3, 0.2, 0.4, 0.25])]
json.dump(dict(m=m, k=k, J=J, caught=caught, p=[None, 0.2, None, None], R=R,
               G=G, g=g.tolist(), y=y, z=z), open("data.json", "w"))
E
cat >compare.py <<'E'
# Posteriors with the nodes integrated out by hand.
import json
import sys
from math import lgamma
import numpy as np

d = json.load(open("data.json"))
lg = np.vectorize(lgamma)
exact = {}


def seen(values):
    return np.array([v for v in values if v is not None])


def moments(name, grid, logp):
    w = np.exp(logp - logp.max())
    w /= w.sum()
    mean = (w * grid).sum()
    exact[name] = mean, ((w * (grid - mean) ** 2).sum()) ** 0.5


k = seen(d["k"])
n = np.arange(k.max(), 201.0)
moments("n", n, sum(lg(n + 1) - lg(n - v + 1) for v in k)
        + lg(2 + len(k) * n - k.sum()) - lg(3.5 + len(k) * n))

N = np.arange(max(d["caught"]), 800.0)
logp = lg(8 + N) - lg(N + 1) - N * np.log(1.1)
for c, p in zip(d["caught"], d["p"]):
    logp += lg(N + 1) - lg(N - c + 1)
    logp += N * np.log(1 - p) if p else lg(3 + N - c) - lg(4 + N)
moments("N", N, logp)

s = (np.arange(20000) + 0.5) * 30 / 20000
logp = 0 * s
for j in range(1, d["G"] + 1):
    y = seen([v for v, h in zip(d["y"], d["g"]) if h == j])
    logp += (s * np.log(y).sum() - len(y) * lg(s) + lg(2 + len(y) * s)
             - (2 + len(y) * s) * np.log(1.5 + y.sum()))
moments("s", s, logp)

z = seen(d["z"])
r = (np.arange(20000) + 0.5) * 150 / 20000
moments("size", r, np.log(r) - 0.2 * r + sum(lg(r + v) - lg(r) for v in z)
        + lg(2 + len(z) * r) - lg(4 + len(z) * r + z.sum()))

found = json.load(open("summary.json"))["parameters"]
bad = 0
for name, (mean, sd) in exact.items():
    f = found[name]
    z = (f["mean"] - mean) / f["mcse"]
    print(f"{name:5} {mean:9.4f} {f['mean']:9.4f} z {z:5.2f} sd {sd:.4f} "
          f"{f['sd']:.4f} ess {f['ess_bulk']:.0f}")
    bad += not abs(z) < 4 or not abs(f["sd"] / sd - 1) < 0.08
    bad += not f["ess_bulk"] > 6000
sys.exit(bad > 0)
E
/usr/bin/env python3 data.py || fail "data.py"
status 0 "$GBMC" -O1 model.gbm -o model
status 0 "$GBMC" --explain model.gbm
prints 'n +1 +enumeration, 1 to length\(even\), theta'
prints 'N +1 +slice, p, lambda integrated out'
prints 's +1 +slice, b integrated out'
prints 'size +1 +slice, q integrated out'
status 0 ./model check --data data.json --device cpu
status 0 ./model --data data.json --device cpu --draws 4000 --seed 4 \
    --summary summary.json --quiet
python3 compare.py >.out || fail "posteriors differ from quadrature"
status 0 ./model geweke --data data.json --device cpu --draws 4000 --seed 5

# all that might go is data: nothing does
python3 - <<'E'
import json
d = json.load(open("data.json"))
d.update(theta=0.3, p=[0.3, 0.2, 0.4, 0.25], q=0.4, b=[1, 2, 0.5, 1, 3])
d["lambda"] = 80
json.dump(d, open("known.json", "w"))
E
cat >known.py <<'E'
import json
import sys
from math import lgamma, log
import numpy as np

d = json.load(open("known.json"))
lg = np.vectorize(lgamma)
N = np.arange(max(d["caught"]), 800.0)
logp = N * log(80) - lg(N + 1)
for c, p in zip(d["caught"], d["p"]):
    logp += lg(N + 1) - lg(N - c + 1) + N * log(1 - p)
w = np.exp(logp - logp.max())
found = json.load(open("known_summary.json"))["parameters"]["N"]
z = (found["mean"] - (w * N).sum() / w.sum()) / found["mcse"]
print("N", z)
sys.exit(not abs(z) < 4)
E
status 0 ./model check --data known.json --device cpu
status 0 ./model --data known.json --device cpu --seed 6 --monitor N \
    --summary known_summary.json --quiet
python3 known.py >.out || fail "given the nodes, the posterior is another"

# powers are in the tables' place
cat >few.gbm <<'M'
model {
  for (i in 1:5) { x[i] ~ dbin(theta, n) }
  theta ~ dbeta(1, 1)
  n ~ dcat(even[])
  for (j in 1:100) { even[j] <- 0.01 }
}
M
echo '{"x": [16, 18, 22, 25, 27]}' >few.json
cat >tempered.py <<'E'
import json
import sys
from math import lgamma
import numpy as np

x = np.array([16, 18, 22, 25, 27])
lg = np.vectorize(lgamma)
n = np.arange(27, 101.0)
logp = sum(lg(n + 1) - lg(n - v + 1) for v in x) + lg(1 + 5 * n - x.sum())
logp -= lg(2 + 5 * n)
w = np.exp(logp - logp.max())
found = json.load(open("tempered.json"))["parameters"]["n"]
z = (found["mean"] - (w * n).sum() / w.sum()) / found["mcse"]
print("n", z, found["ess_bulk"])
sys.exit(not abs(z) < 4 or not found["ess_bulk"] > 1000)
E
status 0 "$GBMC" -O1 few.gbm -o few
status 0 ./few --data few.json --device cpu --method tempering --chains 8 \
    --warmup 500 --draws 1500 --monitor n --summary tempered.json --quiet
python3 tempered.py >.out || fail "the tempered posterior is another"

# What a table adds up is the same for all values of n, and so is missing from
# what is left and from what was taken out alike: theta's moves tell.
"$GBMC" --emit=c few.gbm | sed '/^GBM_FN void derive_table_1_v/,/^}/s/= (/= 0.9 * (/' >wrong.c
"$GBMC" --emit=c few.gbm | cmp -s wrong.c - && fail "no table is wrong"
# shellcheck disable=SC2046 # flags are words
"${CC:-cc}" -std=c11 -O0 -fopenmp -D_GNU_SOURCE -I"$GBM_ROOT/stdlib/kernels" \
    -I"$GBM_ROOT/runtime" wrong.c -o wrong "$GBM_ROOT/$GBM_BUILD/libgbm.a" \
    $(cat "$GBM_ROOT/$GBM_BUILD/link_flags") || fail "wrong.c"
status 2 ./wrong --data few.json --device cpu --out wrong.nc
says 'The update of n \(.*its full conditional changes'
absent wrong.nc
status 1 ./wrong check --data few.json --device cpu

# How far rows are from a mean hardly holds it to their precision, and rows that
# each trial value would go through are no gain.
cat >stays.gbm <<'M'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(a * exp(-c * t[i]), tau)
    w[i] ~ dweib(r, lambda)
  }
  a ~ dunif(0, 10)
  c ~ dunif(0, 3)
  tau ~ dgamma(1, 1)
  r ~ dgamma(1, 1)
  lambda ~ dgamma(1, 1)
}
M
status 0 "$GBMC" --explain stays.gbm
grep -q 'integrated out' .out && fail "c or r is drawn without tau or lambda"
exit 0
