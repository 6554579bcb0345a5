#!/usr/bin/env bash
# Parameters of a joint Gaussian block move with the block integrated out
# (sampler/joint_marginal.c): scales near 0, a coefficient of the recursion,
# half-t scales without their added nodes, against the posterior by quadrature,
# where given the block they move in small steps; and that the self-check refuses
# a determinant that is a little wrong.
source "$GBM_ROOT/tests/cli/lib"

cat >walk.gbm <<'M'
model {
  b[1] ~ dnorm(0, 1)
  for (t in 2:T) { b[t] ~ dnorm(b[t-1], pow(s, -2)) }
  for (t in 1:T) { y[t] ~ dnorm(b[t], pow(o, -2)) }
  s ~ dt(0, 1, 1)T(0,)
  o ~ dt(0, 1, 3)T(0,)
}
M
cat >recursion.gbm <<'M'
model {
  b[1] ~ dnorm(0, 1)
  for (t in 2:T) { b[t] ~ dnorm(p * b[t-1], pow(s, -2)) }
  for (t in 1:T) { y[t] ~ dnorm(b[t], 1.5) }
  s ~ dunif(0, 2)
  p ~ dunif(-1, 1)
}
M
echo '{"T": 14, "y": [0.31, -0.62, 0.18, 0.55, -0.21, -0.44, 0.62, 0.27, -0.12,
       0.71, 0.05, 0.48, -0.09, 0.37]}' >data.json
cat >exact.py <<'P'
import json
import sys
import numpy as np

y = np.array(json.load(open("data.json"))["y"])
t = len(y)
which = sys.argv[1]
lags = np.abs(np.subtract.outer(range(t), range(t)))


def log_normal(cov):
    return -np.linalg.slogdet(cov)[1] / 2 - y @ np.linalg.solve(cov, y) / 2


def walk(s, o):
    cov = 1 + s * s * np.minimum.outer(range(t), range(t)) + o * o * np.eye(t)
    prior = -np.log(1 + s * s) - 2 * np.log(1 + o * o / 3)
    return log_normal(cov) + prior + np.log(s)  # of log s


def recursion(s, p):
    of = np.tril(float(p) ** np.maximum(np.subtract.outer(range(t), range(t)), 0))
    own = np.diag([1] + [s * s] * (t - 1))
    return log_normal(of @ own @ of.T + np.eye(t) / 1.5) + np.log(s)


s = np.exp(np.linspace(-9, np.log(2) if which == "recursion" else 3, 301))
other = np.linspace(-0.999, 0.999, 151) if which == "recursion" else np.linspace(0.1, 3, 151)
p = np.array([[globals()[which](a, b) for b in other] for a in s])
p = np.exp(p - p.max())
p[[0, -1]] /= 2
p /= p.sum()
found = json.load(open(which + ".json"))["parameters"]
for name, x in ("s", s[:, None]), ("p" if which == "recursion" else "o", other):
    f = found[name]
    mean = (p * x).sum()
    sd = ((p * x * x).sum() - mean * mean) ** 0.5
    print(name, mean, f["mean"], f["mcse"], sd, f["sd"], f["ess_bulk"])
    assert abs(f["mean"] - mean) < 4 * f["mcse"]
    assert abs(f["sd"] / sd - 1) < 0.1
    assert f["ess_bulk"] > float(sys.argv[2])
P
run() { # MODEL MONITOR LEAST_EFFECTIVE
    status 0 "$GBMC" -O1 "$1.gbm" -o "$1"
    status 0 "./$1" info
    prints '[ps], [os]: moved with b.*integrated out'
    status 0 "./$1" geweke --data data.json --draws 200 --warmup 20
    GBM_LINES=off status 0 "./$1" --data data.json --monitor "$2" --quiet --device cpu \
        --chains 4 --warmup 1000 --draws 5000 --seed 2 --summary "$1.json"
    status 0 python3 exact.py "$1" "$3"
}
run walk s,o 2000
run recursion s,p 3000

"$GBMC" --emit=c walk.gbm | sed 's/return gbm_marginal_fit(/return 1.01 * gbm_marginal_fit(/' >wrong.c
compile_c wrong.c wrong
status 2 ./wrong --data data.json --device cpu --out wrong.nc
says 'The update of b, b .* does not belong to the model'
absent wrong.nc

# many chains do without: a sweep's time is worth more then
first() { # CHAINS: the draws of the first of them
    rm -f many*.csv
    GBM_LINES=off status 0 ./recursion --data data.json --monitor s,p --quiet --device cpu --seed 4 \
        --chains "$1" --warmup 200 --draws 5 --out many.csv
    grep -v '^#' many_1.csv
}
first 127 >some
first 128 >many
first 129 >more
cmp -s many more || fail "the number of many chains bears on the draws of one"
if cmp -s some many; then
    fail "128 chains move with the block integrated out, too"
fi

# a column 1e12 times as large as another: the self-check tells both
cat >large.gbm <<'M'
model {
  for (i in 1:12) { y[i] ~ dnorm(a + b * x[i] + e[g[i]], pow(s, -2)) }
  for (k in 1:4) { e[k] ~ dnorm(0, pow(t, -2)) }
  a ~ dnorm(0, 0.01)
  b ~ dnorm(0, 1.0E24)
  s ~ dunif(0, 10)
  t ~ dunif(0, 10)
}
M
echo 'x <- c(4E12, -3E12, 5E11, 2E12, 7E12, -6E12, -1E12, 3E12, 8E12, 1E12, -2E12, 0)
y <- c(5, -2, 1, 2, 8, -4, 0, 2, 9, 3, -1, 1)
g <- c(1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4)' >large.R
status 0 "$GBMC" -O1 large.gbm -o large
status 0 ./large check --data large.R
