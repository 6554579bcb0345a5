#!/usr/bin/env bash
# Steps of parameters with their joint Gaussian block integrated out
# (stdlib/kernels/marginal.h): none so far that rounding is all that is left of
# the difference of two log densities, as of a log scale without ends, and of more
# parameters than move together the slow ones move; those without data do not.
source "$GBM_ROOT/tests/cli/lib"

cat >digits.gbm <<'M'
model {
  for (t in 1:T) {
    y[t] ~ dnorm(b + u[t], 1)
    u[t] ~ dnorm(0, exp(-2 * l))
  }
  b ~ dnorm(0, 1)
  l ~ dnorm(0, 0.01)
}
M
cat >some.gbm <<'M'
model {
  for (k in 1:K) {
    b[k, 1] ~ dnorm(0, 1)
    for (t in 2:T) { b[k, t] ~ dnorm(b[k, t-1], pow(s[k], -2)) }
    for (t in 1:T) { z[k, t] ~ dnorm(b[k, t], 1.5) }
    s[k] ~ dt(0, 1, 1)T(0,)
  }
}
M
cat >exact.py <<'P'
import json
import sys
import numpy as np

y = np.array([0.31, -0.62, 0.18, 0.55, -0.21, -0.44, 0.62, 0.27])
t = len(y)
if len(sys.argv) == 1:  # the third row and those behind are large, and some have no data
    z = [[(1 if k < 2 else 10) * v for v in np.roll(y, k)] for k in range(15)]
    z += [[None] * t for k in range(5)]
    json.dump({"T": t, "y": list(y), "K": 20, "z": z}, open("data.json", "w"))
    sys.exit()


def log_normal(cov):
    return -np.linalg.slogdet(cov)[1] / 2 - y @ np.linalg.solve(cov, y) / 2


def digits(l):
    return log_normal(np.eye(t) * (1 + np.exp(2 * l)) + 1) - l * l / 200


def some(s):
    cov = 1 + s * s * np.minimum.outer(range(t), range(t)) + np.eye(t) / 1.5
    return log_normal(cov) - np.log(1 + s * s) + np.log(s)  # of log s


which, name, least = sys.argv[1:]
x = np.linspace(-60, 5, 5001) if which == "digits" else np.exp(np.linspace(-12, 4, 5001))
p = np.array([globals()[which](v) for v in x])
p = np.exp(p - p.max())
p /= p.sum()
mean = p @ x
sd = (p @ x**2 - mean**2) ** 0.5
f = json.load(open(which + ".json"))["parameters"][name]
print(name, mean, f["mean"], f["mcse"], sd, f["sd"], f["ess_bulk"])
assert abs(f["mean"] - mean) < 4 * f["mcse"]
assert abs(f["sd"] / sd - 1) < 0.15
assert f["ess_bulk"] > float(least)
P
/usr/bin/python3 exact.py
run() { # MODEL MONITOR NAME LEAST_EFFECTIVE
    status 0 "$GBMC" -O1 "$1.gbm" -o "$1"
    status 0 "./$1" info
    prints "$2: moved with .*integrated out"
    GBM_LINES=off status 0 "./$1" --data data.json --monitor "$2" --quiet --device cpu \
        --chains 4 --warmup 1000 --draws 5000 --seed 2 --summary "$1.json"
    status 0 /usr/bin/python3 exact.py "$1" "$3" "$4"
}
run digits l l 300
run some s 's[1]' 1000
exit 0
