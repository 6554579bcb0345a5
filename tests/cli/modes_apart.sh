#!/usr/bin/env bash
# Posteriors with modes between which a sweep does not go, and whose masses are
# known: components that change names, a factor's sign, a point of change, and
# two modes in fifty dimensions. Plain chains stay where they began, but for signs and
# components, which change places; tempering goes to and fro, and tempering and
# smc give each mode its mass.
source "$GBM_ROOT/tests/cli/lib"

# masses NAME PARTICLES REPLICAS DRAWS [METHOD]: of node `first` in NAME.gbm; the
# exact one is in NAME.exact. METHOD: plain, if plain chains go to and fro, too.
masses() {
    local name=$1
    status 0 "$GBMC" -O 1 --with=powers "$name.gbm" -o "$name"
    run() {
        status 0 "./$name" --data "$name.json" --device cpu --threads 1 \
            --monitor first --quiet --summary "$@"
    }
    run plain.json --chains 8 --draws 500
    run tempering.json --method tempering --replicas "$3" --chains 2 \
        --warmup 1000 --draws "$4"
    run smc.json --method smc --particles "$2" --chains 2
    python3 - "$name" ${5:-} <<'P' || fail "$name: the masses of modes"
import json, sys
name = sys.argv[1]
exact = float(open(name + ".exact").read())
def first(method):
    s = json.load(open(method + ".json"))
    return s, s["parameters"]["first"]
_, r = first("plain")
stays = r["rhat"] is None or r["rhat"] > 1.5
assert stays == (sys.argv[2:] == []), ("plain", r)
for method in (*sys.argv[2:], "tempering", "smc"):
    s, r = first(method)
    print(name, method, r["mean"], "+-", r["mcse"], "exact", exact,
          s.get("tempering", {}).get("round_trips", ""),
          s.get("tempering", {}).get("barrier", ""))
    assert 0 < r["mcse"] < 0.04, (method, r)
    assert abs(r["mean"] - exact) < 4.5 * r["mcse"], (method, r, exact)
    assert method != "tempering" or s["tempering"]["round_trips"] > 100, s
P
}

# Two components of unlike weights: in one mode the smaller one is the lower.
cat >labels.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(mu[z[i]], 4)
    z[i] ~ dcat(w[])
  }
  for (k in 1:2) { mu[k] ~ dnorm(0, 0.1) }
  first <- step(mu[2] - mu[1])
}
E
python3 - <<'P'
import json, numpy as np
y = [-2.3, -1.9, -2.6, -1.6, -2.1, -1.4, 1.6, 2.2, 2.4, 1.9, 2.7]
w = [0.45, 0.55]
json.dump({"N": len(y), "y": y, "w": w}, open("labels.json", "w"))
at = np.linspace(-6, 6, 1201)
a, b = np.meshgrid(at, at, indexing="ij")
log = -0.05 * (a * a + b * b)
for v in y:
    log += np.log(w[0] * np.exp(-2 * (v - a) ** 2) +
                  w[1] * np.exp(-2 * (v - b) ** 2))
p = np.exp(log - log.max())
print(p[b > a].sum() / (p.sum() - p[a == b].sum()),
      file=open("labels.exact", "w"))
P
masses labels 1500 8 20000 plain

# One factor of three measurements: loadings and factor may change sign, and the
# prior of loadings prefers one.
cat >sign.gbm <<'E'
model {
  for (i in 1:N) {
    for (j in 1:3) { y[i,j] ~ dnorm(l[j] * f[i], 4) }
    f[i] ~ dnorm(0, 1)
  }
  for (j in 1:3) { l[j] ~ dnorm(0.1, 1) }
  first <- step(l[1])
}
E
python3 - <<'P'
import json, numpy as np
f = np.array([1.2, -0.7, 0.4, 2.0, -1.6, -0.2, 0.9, -1.1])
noise = np.array([[.3, -.2, .5], [-.4, .1, .2], [.2, .6, -.3], [-.1, -.5, .1],
                  [.4, .3, -.2], [.1, -.3, -.4], [-.6, .2, .3], [.2, .1, -.1]])
y = np.outer(f, [1, 0.8, 1.3]) + noise
json.dump({"N": 8, "y": y.tolist()}, open("sign.json", "w"))
at = np.arange(-4.025, 4.03, 0.05)
l = np.meshgrid(at, at, at, indexing="ij")
square = 0.25 + l[0] ** 2 + l[1] ** 2 + l[2] ** 2 # of y: 0.25 I + l l'
log = -0.5 * sum((x - 0.1) ** 2 for x in l) - 4 * np.log(square)
for row in y:
    log += 2 * sum(x * v for x, v in zip(l, row)) ** 2 / square
p = np.exp(log - log.max())
print(p[l[0] > 0].sum() / p.sum(), file=open("sign.exact", "w"))
P
masses sign 1500 10 20000 plain

# A level that changes once: at one of two places far from each other.
cat >change.gbm <<'E'
model {
  k ~ dcat(w[])
  for (t in 1:T) { y[t] ~ dnorm(level[1 + step(t - k - 0.5)], 4) }
  for (i in 1:2) { level[i] ~ dnorm(0, 0.25) }
  for (t in 1:T) { w[t] <- 1 / T }
  first <- step(T / 2 - k)
}
E
python3 - <<'P'
import json, numpy as np
y = np.array([2.1, 1.6, 2.4, 2.2, 1.7] + [.2, -.3, .4, .1, -.2, .3, .0, .2, -.1,
             .3, -.4, .1, .2, .0, -.2] + [-1.9, -1.6, -2.3, -1.8, -2.2])
T = len(y)
json.dump({"T": T, "y": y.tolist()}, open("change.json", "w"))
def normal(v):
    s = np.eye(len(v)) / 4 + 4
    return -0.5 * (np.linalg.slogdet(s)[1] + v @ np.linalg.solve(s, v)) \
        if len(v) else 0
log = np.array([normal(y[:k]) + normal(y[k:]) for k in range(1, T + 1)])
p = np.exp(log - log.max())
print(p[:T // 2].sum() / p.sum(), file=open("change.exact", "w"))
P
masses change 1500 10 20000

# Two normals in fifty dimensions: a likelihood that is their sum.
cat >wide.gbm <<'E'
model {
  for (i in 1:D) {
    x[i] ~ dnorm(0, 0.5)
    a[i] <- pow(x[i] - 1, 2)
    b[i] <- pow(x[i] + 1.02, 2)
  }
  la <- log(0.4) - 2 * sum(a[])
  lb <- log(0.6) - 2 * sum(b[])
  zero ~ dpois(2000 - max(la, lb) - log(1 + exp(-abs(la - lb))))
  first <- step(la - lb)
}
E
python3 - <<'P'
import json, math
D = 50
json.dump({"D": D, "zero": 0}, open("wide.json", "w"))
# sum over modes of weight times, in each dimension, the normal of variance
# 0.25 + 2 at its place
a, b = (math.log(w) - D * m * m / (2 * 2.25) for w, m in ((0.4, 1), (0.6, 1.02)))
print(1 / (1 + math.exp(b - a)), file=open("wide.exact", "w"))
P
masses wide 3000 20 4000
