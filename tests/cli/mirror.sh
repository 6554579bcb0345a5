#!/usr/bin/env bash
# Numbers change sign where nothing but priors tells which they have
# (sampler/mirror.c): one, those of a plate, loadings with their scores, also where
# one of these has a fixed sign; by quadrature, and the joint distribution test.
source "$GBM_ROOT/tests/cli/lib"
lacks() { if grep -qE -- "$1" .out; then fail "output like: $1"; fi; }

# runs NAME DRAWS: the summary in NAME.s
runs() {
    status 0 "$GBMC" -O1 "$1.gbm" -o "$1"
    status 0 "./$1" check --data "$1.json" --quiet
    status 0 "./$1" --data "$1.json" --device cpu --quiet --draws "$2" --seed 1 \
        --summary "$1.s"
    status 0 "./$1" info
    prints 'change of sign|0s and 1s the other way round'
}

cat >square.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dnorm(a^2, 1) }
  a ~ dnorm(0.3, 1)
}
E
echo '{"N": 4, "y": [4.1, 3.2, 5.0, 3.7]}' >square.json
runs square 5000
cat >plate.gbm <<'E'
model {
  for (i in 1:N) {
    for (j in 1:2) { y[i,j] ~ dpois(exp(1 + abs(b[i]) * x[j])) }
    b[i] ~ dnorm(m[i], 1)
  }
}
E
echo '{"N": 3, "m": [0.2, -0.4, 0], "x": [1, 2], "y": [[9, 40], [30, 150], [4, 3]]}' >plate.json
runs plate 5000
prints ': each is tried with the other sign'
# chains begin at either sign
cat >loadings.gbm <<'E'
model {
  for (i in 1:N) {
    for (j in 1:2) { y[i,j] ~ dnorm(load[j] * f[i], 1) }
    f[i] ~ dnorm(0, 1)
  }
  for (j in 1:2) { load[j] ~ dnorm(m[j], 0.5) }
}
E
sed 's/for (j in 1:2) { load.*/load[1] ~ dnorm(m[1], 0.5)T(0,)  load[2] ~ dnorm(m[2], 0.5)/' \
    loadings.gbm >fixed.gbm
for name in loadings fixed; do
    echo '{"N": 6, "m": [0.3, -0.2], "y": [[3.1, -5.2], [-0.4, 1.1], [-2.2, 3.9],
      [0.1, -2.8], [0.9, -1.5], [-1.5, 4.6]]}' >$name.json
    runs $name 10000
done
prints 'some signs are fixed'
# two groups of rows and of columns, named by a row that is known
cat >groups.gbm <<'E'
model {
  for (i in 1:3) { for (j in 1:3) { y[i,j] ~ dbern(p[1 + x[i], 1 + z[j]]) } }
  for (i in 1:3) { x[i] ~ dbern(0.4)  z[i] ~ dbern(0.5) }
  p[1,1] <- a  p[1,2] <- b  p[2,1] <- b  p[2,2] <- a
  a ~ dbeta(40, 2)  b ~ dbeta(2, 40)
}
E
echo '{"x": [0, null, null], "y": [[1, 0, 1], [0, 1, 0], [0, 1, 0]]}' >groups.json
runs groups 5000
# a field whose two states are as probable
cat >field.gbm <<'E'
model {
  for (i in 1:3) {
    for (j in 1:3) { x[i,j] ~ dbern(0.5) }
    for (j in 1:2) { right[i,j] ~ dpois(3 * (x[i,j] != x[i,j + 1])) }
  }
  for (i in 1:2) { for (j in 1:3) { down[i,j] ~ dpois(3 * (x[i,j] != x[i + 1,j])) } }
  m <- mean(x[,])
}
E
echo '{"right": [[0, 0], [0, 0], [0, 0]], "down": [[0, 0, 0], [0, 0, 0]]}' >field.json
runs field 5000
cat >exact.py <<'E'
import json
import math
import numpy as np


def agrees(model, name, x, weights):
    f = json.load(open(model + ".s"))["parameters"][name]
    w = weights / weights.sum()
    mean = (w * x).sum()
    sd = ((w * x**2).sum() - mean**2) ** 0.5
    error = sd / f["ess_bulk"]**0.5
    print(model, name, mean, sd, f)
    assert f["rhat"] < 1.03 and abs(f["mean"] - mean) < 4 * error
    assert abs(f["sd"] - sd) < 0.05 * sd + 4 * error


d = json.load(open("square.json"))
x = np.linspace(-6, 6, 20001)
w = -0.5 * (x - 0.3)**2 - 0.5 * sum((y - x**2)**2 for y in d["y"])
agrees("square", "a", x, np.exp(w - w.max()))
d = json.load(open("plate.json"))
for i, m in enumerate(d["m"]):
    w = -0.5 * (x - m)**2
    for y, t in zip(d["y"][i], d["x"]):
        w = w + y * (1 + abs(x) * t) - np.exp(1 + abs(x) * t)
    agrees("plate", f"b[{i + 1}]", x, np.exp(w - w.max()))
d = json.load(open("loadings.json"))
u, v = np.meshgrid(np.linspace(-9, 9, 601), np.linspace(-9, 9, 601))
w = -0.25 * (u - 0.3)**2 - 0.25 * (v + 0.2)**2
for a, b in d["y"]:  # scores integrated out
    s = 1 + u**2 + v**2
    w = w - 0.5 * np.log(s) + 0.5 * (u * a + v * b)**2 / s
w = np.exp(w - w.max())
for model in "loadings", "fixed":
    if model == "fixed":
        w = w * (u > 0)
    agrees(model, "load[1]", u, w)
    agrees(model, "load[2]", v, w)
x = (np.arange(512)[:, None] >> np.arange(9) & 1).reshape(-1, 3, 3)
apart = ((x[:, :, 1:] != x[:, :, :-1]).sum((1, 2)) +
         (x[:, 1:] != x[:, :-1]).sum((1, 2)))
agrees("field", "m", x.mean((1, 2)), np.exp(-3.0 * apart))
d = json.load(open("groups.json"))
found = json.load(open("groups.s"))["parameters"]
states = [[n >> i & 1 for i in range(5)] for n in range(32)]
w = []
for s in states:
    x, z = [0] + s[:2], s[2:]
    n = {(alike, y): 0 for alike in (0, 1) for y in (0, 1)}
    for i in range(3):
        for j in range(3):
            n[x[i] == z[j], d["y"][i][j]] += 1
    p = 0.4**sum(x) * 0.6**(3 - sum(x))
    for alike, (yes, no) in enumerate(((2, 40), (40, 2))):
        yes, no = yes + n[alike, 1], no + n[alike, 0]
        p *= math.gamma(yes) * math.gamma(no) / math.gamma(yes + no)
    w.append(p)
for k, name in enumerate(("x[2]", "x[3]", "z[1]", "z[2]", "z[3]")):
    mean = sum(p * s[k] for p, s in zip(w, states)) / sum(w)
    f = found[name]
    print(name, mean, f)
    assert f["rhat"] < 1.02 and abs(f["mean"] - mean) < 4 * f["mcse"] + 1e-3
E
status 0 python3 exact.py
for name in plate fixed groups field; do device_draws_as_host $name $name.json; done

# columns of loadings change apart, and all data are random
cat >columns.gbm <<'E'
model {
  for (i in 1:N) {
    for (j in 1:2) { y[i,j] ~ dnorm(c + inprod(load[j,], f[i,]), 1) }
    for (k in 1:2) { f[i,k] ~ dnorm(0, 1) }
  }
  for (j in 1:2) { for (k in 1:2) { load[j,k] ~ dnorm(m[k], 1) } }
  for (k in 1:2) { m[k] ~ dnorm(0.3 * k, 2) }
  c ~ dnorm(0, 1)
}
E
echo '{"N": 4, "y": [[1, 0], [0, 2], [-1, 1], [2, -1]]}' >columns.json
status 0 "$GBMC" -O1 columns.gbm -o columns
status 0 ./columns geweke --data columns.json --device cpu --draws 3000
device_draws_as_host columns columns.json
status 0 ./columns info
prints ': those of a row are tried with the other signs at once'
status 0 ./groups geweke --data groups.json --device cpu --draws 3000
status 0 ./fixed geweke --data fixed.json --device cpu --draws 3000

# names stay where no prior tells; nothing moves where some are known, or where
# the sign is told
sed 's/m\[j\]/0/' loadings.gbm >alike.gbm
status 0 "$GBMC" -O1 alike.gbm -o alike
sed 's/"m": [^"]*//' loadings.json >alike.json
status 0 ./alike --data alike.json --device cpu --quiet --chains 1 --draws 2000 --seed 1 \
    --summary alike.s
python3 -c 'if True:
    import json
    f = json.load(open("alike.s"))["parameters"]["load[2]"]
    assert abs(f["mean"]) > 2 * f["sd"], f' || fail "names changed"
sed 's/"y"/"f": [1, null, null, null, null, null], "y"/' loadings.json >known.json
status 0 ./loadings --data known.json --device cpu --quiet --draws 100 --seed 1
sed 's/a^2/a^3/' square.gbm >told.gbm
status 0 "$GBMC" --explain told.gbm
lacks 'change of sign'
