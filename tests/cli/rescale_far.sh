#!/usr/bin/env bash
# Effects and their scale move together (stdlib/kernels/rescale.h) where the data
# say next to nothing of effects so small: what rounding leaves of the
# likelihood there must not move them, nor be taken for nothing said. The scale's
# density by quadrature, the effects and b summed out.
source "$GBM_ROOT/tests/cli/lib"

cat >far.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(b + u[i], 1)
    u[i] ~ dnorm(0, tau)
  }
  b ~ dnorm(0, 1)
  tau ~ dpar(0.02, 0.1) T(, top)
  logtau <- log(tau)
}
E
status 0 "$GBMC" -O 1 far.gbm -o far
cat >compare.py <<'E'
import json, sys
import numpy as np
data = json.load(open("data.json"))
y = np.array(data["y"])
n, s = len(y), y.sum()
q = (y ** 2).sum() - s * s / n
t = np.linspace(np.log(0.1), np.log(data["top"]), 2000001)
v = 1 + np.exp(-t)
w = -0.02 * t - ((n - 1) * np.log(v) + q / v + np.log(v + n)
                 + s * s / n / (v + n)) / 2
w = np.exp(w - w.max())
w /= w.sum()
x = []
for c in range(1, 5):
    rows = [r for r in open(f"{sys.argv[1]}_{c}.csv") if r[0] != "#"]
    x += [np.loadtxt(rows[1:], delimiter=",").reshape(len(rows) - 1, -1)[:, -1]]
x = np.array(x)
for below in map(float, sys.argv[2:]):
    p = w[t < below].sum()
    parts = (x < below).reshape(80, -1).mean(axis=1) # batches
    error = parts.std(ddof=1) / 80 ** 0.5
    z = (parts.mean() - p) / error
    print(sys.argv[1], below, p, parts.mean(), error, z)
    assert abs(z) < 4 and error < 0.2 * p
E
draw() { # NAME N TOP DRAWS OPTION...: log tau
    python3 -c "import json; print(json.dumps({'N': $2, 'top': $3, 'y': [
        (-1) ** i * (i % 7) * 0.02 for i in range($2)]}))" >data.json
    status 0 ./far --data data.json --monitor logtau --quiet --seed 1 \
        --chains 4 --warmup 300 --draws "$4" --out "$1.csv" "${@:5}"
}
draw double 100 1e300 20000 --device cpu
status 0 /usr/bin/python3 compare.py double 5 15 32 60
fake_device
draw single 30 1e30 10000 --device cuda --precision single
status 0 /usr/bin/python3 compare.py single 5 15 32

# The check follows moves as far as their rounding is below what it compares; and
# what it compares them with stands such numbers itself.
cat >wide.gbm <<'M'
model {
  tau ~ dpar(0.02, 0.1) T(, 1.0E300)
  s ~ dunif(0, 10)
  for (j in 1:3) { u[j] ~ dnorm(0, tau) }
  for (j in 1:2) { v[j] ~ dnorm(0, 1 / (s * s)) }
  for (i in 1:7) { y[i] ~ dnorm(u[g[i]] + v[h[i]], 0.43) }
}
M
echo '{"g": [1, 2, 3, 1, 1, 3, 1], "h": [1, 1, 1, 1, 1, 1, 1],
 "y": [0.62, 0.69, null, 0.56, 0.56, null, null]}' >wide.json
status 0 "$GBMC" -O 1 wide.gbm -o wide
for seed in 5 8 7066 $(seq 10 30); do
    status 0 ./wide check --data wide.json --seed "$seed"
done
