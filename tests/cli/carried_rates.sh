#!/usr/bin/env bash
# A plate moves with the scale of a prior about 0 that is no normal one, a rate or
# its inverse (sampler/carried.c): posteriors of few effects, where a wrong power
# or a bound that is forgotten shows, by quadrature; and effects of which the data
# say little mix.
source "$GBM_ROOT/tests/cli/lib"

model() { # NAME PRIOR
    cat >"$1.gbm" <<E
model {
  for (j in 1:J) {
    y[j] ~ dnorm(theta[j], 1)
    theta[j] ~ $2
  }
  s ~ dgamma(1.5, 1)
  a <- log(s)
}
E
}
model rate 'dexp(s)'
model mean 'dgamma(2.5, 2.5 / s)'
model weibull 'dweib(2, s)'
model inverse 'dinvgamma(3, s)'
model bounds 'dexp(s) T(0.2, 3)'
echo '{"J": 3, "y": [0.3, 1.5, 2.8]}' >data.json

cat >exact.py <<'E'
import sys
import numpy as np
t = np.linspace(-12, 8, 801)
s = np.exp(t)[:, None]
x = np.exp(np.linspace(-18, 12, 4001))[None, :]
if sys.argv[1] == "bounds":
    x = np.linspace(0.2, 3, 1401)[None, :]
log_x = np.log(x)
prior = {"rate": lambda: np.log(s) - s * x,
         "mean": lambda: 1.5 * log_x - 2.5 * np.log(s) - 2.5 * x / s,
         "weibull": lambda: np.log(s) + log_x - s * x ** 2,
         "inverse": lambda: 3 * np.log(s) - 4 * log_x - s / x,
         "bounds": lambda: -s * x}[sys.argv[1]]()
if sys.argv[1] != "bounds":
    prior += log_x # a grid in log(x)
prior = np.exp(prior - prior.max(1, keepdims=True))
logp = 1.5 * t - np.exp(t)
for y in 0.3, 1.5, 2.8:
    like = np.exp(-(y - x[0]) ** 2 / 2)
    logp += np.log(prior @ like / prior.sum(1))
w = np.exp(logp - logp.max())
w /= w.sum()
draws = []
for c in range(1, 5):
    rows = [r for r in open(f"draws_{c}.csv") if r[0] != "#"]
    at = rows[0].strip().split(",").index("a")
    draws.append(np.loadtxt(rows[1:], delimiter=",")[:, at])
draws = np.array(draws)
for name, f in (("mean", lambda u: u), ("square", lambda u: u * u),
                ("below 0",
                 lambda u: (u < 0) + 0.5 * (np.abs(u) < 1e-9))):
    parts = f(draws).reshape(80, -1).mean(axis=1)
    exact, error = (w * f(t)).sum(), parts.std(ddof=1) / 80 ** 0.5
    z = (parts.mean() - exact) / error
    print(sys.argv[1], name, exact, parts.mean(), error, z)
    assert abs(z) < 4 and error < 0.02 * (1 + abs(exact))
E
for m in rate mean weibull inverse bounds; do
    status 0 "$GBMC" -O 1 $m.gbm -o $m
    status 0 ./$m info
    prints 's, theta .* scale with its plate, slice'
    status 0 ./$m check --data data.json --quiet
    status 0 ./$m --data data.json --monitor a --quiet --device cpu \
        --draws 20000 --seed 1 --out draws.csv
    status 0 python3 exact.py $m
done

# a bound that a multiplication does not keep, a prior that is not about 0, and a
# shape that is drawn have no such move
model shape 'dgamma(s, s)'
model beyond 'dunif(0, s)'
model log 'dlnorm(0, s)'
for m in shape beyond log; do
    status 0 "$GBMC" --explain $m.gbm
    grep 's, theta' .out && fail "$m: $(cat .out)"
done

# ---- counts that say little

cat >counts.gbm <<'E'
model {
  for (j in 1:J) {
    n[j] ~ dpois(theta[j] * 0.05)
    theta[j] ~ dgamma(4, b)
  }
  b ~ dgamma(0.5, 0.5)
}
E
status 0 "$GBMC" -O 1 counts.gbm -o counts
echo '{"J": 20, "n": [0,1,0,0,0,0,0,0,1,0,0,0,0,0,0,0,2,0,0,0]}' >counts.json
status 0 ./counts --data counts.json --monitor b --quiet --draws 2500 \
    --device cpu --summary fit.json
python3 - <<'E' || fail "b does not mix"
import json
b = json.load(open("fit.json"))["parameters"]["b"]
print(b)
assert b["ess_bulk"] > 5000
E
