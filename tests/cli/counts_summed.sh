#!/usr/bin/env bash
# Counts are summed out of the moves along lines that warm-up learns
# (runtime/host/along_counts.c): abundances and what is seen of them, with sites
# that were not visited, visits that were missed and an abundance that is known,
# against the posterior by sums over all counts.
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm # waits for no disk
source "$GBM_ROOT/tests/cli/lib"

cat >abundance.gbm <<'E'
model {
  for (i in 1:R) {
    N[i] ~ dpois(lambda * area[i])
    for (j in 1:T) { y[i,j] ~ dbin(p, N[i]) }
  }
  lambda ~ dgamma(2, 0.2)
  p ~ dbeta(2, 3)
  total <- sum(N[1:R])
}
E
cat >data.py <<'E'
import json
import numpy as np

r = np.random.default_rng(3)
R, T = 40, 3
area = np.round(r.uniform(0.5, 2, R), 2)
N = r.poisson(6 * area)
y = r.binomial(N[:, None], 0.3, (R, T)).tolist()
y[4] = [None] * T
y[9][1] = y[20][0] = y[20][2] = None
known = [None] * R
known[7] = int(N[7])
json.dump(dict(R=R, T=T, area=area.tolist(), y=y, N=known),
          open("data.json", "w"))
E
cat >compare.py <<'E'
import json
import math
import sys
import numpy as np

d = json.load(open("data.json"))
lg = np.vectorize(math.lgamma)
n = np.arange(150.0)
lam, p = np.linspace(2, 32, 200)[:, None], np.linspace(0.02, 0.75, 160)
logp = np.log(lam) - 0.2 * lam + np.log(p) + 2 * np.log(1 - p)
mean, var = np.zeros_like(logp), np.zeros_like(logp)
for area, y, known in zip(d["area"], d["y"], d["N"]):
    y = np.array([v for v in y if v is not None])
    mu = lam * area
    if known is not None:
        y_sum, k = y.sum(), len(y)
        logp += known * np.log(mu) - mu + y_sum * np.log(p) + \
            (k * known - y_sum) * np.log(1 - p)
        mean += known
        continue
    least = max(y, default=0)
    m = n[int(least):]
    fixed = -lg(m + 1) + sum(lg(m + 1) - lg(m - v + 1) for v in y)
    s = np.log(mu) + len(y) * np.log(1 - p)
    term = fixed + m * s[..., None]
    top = term.max(-1)
    w = np.exp(term - top[..., None])
    Z = w.sum(-1)
    logp += top + np.log(Z) - mu + y.sum() * np.log(p / (1 - p))
    first = (w * m).sum(-1) / Z
    mean += first
    var += (w * m * m).sum(-1) / Z - first ** 2
w = np.exp(logp - logp.max())
w /= w.sum()
assert max(w[0].sum(), w[-1].sum(), w[:, -1].sum()) < 1e-7


def moments(x, within=0):
    m = (w * x).sum()
    return m, math.sqrt((w * (x * x + within)).sum() - m * m)


truth = {"lambda": moments(lam), "p": moments(p), "total": moments(mean, var)}
runs = [json.load(open(f + ".json"))["parameters"] for f in sys.argv[1:]]
off, bad = runs.pop(), 0
for run in runs:
    for name, (m, sd) in truth.items():
        r = run[name]
        z = (r["mean"] - m) / r["mcse"]
        spread = math.log(r["sd"] / sd) * math.sqrt(r["ess_bulk"] / 5)
        print(name, m, r["mean"], z, sd, r["sd"], spread, r["ess_bulk"],
              off[name]["ess_bulk"])
        bad += not (abs(z) < 4 and abs(spread) < 4)
        bad += not r["ess_bulk"] > 10 * off[name]["ess_bulk"]
sys.exit(bad)
E
python3 -c "import numpy" 2>/dev/null || {
    echo "skipped: numpy is not installed"
    exit 77
}
python3 data.py
status 0 "$GBMC" abundance.gbm -o abundance
run() { # NAME OPTION...
    local name=$1
    shift
    status 0 ./abundance --data data.json --device cpu --quiet --draws 4000 \
        --summary "$name.json" "$@"
}
run on
run other --seed 2
GBM_LINES=always run always
GBM_LINES=off run off
python3 compare.py on other always off || fail "not the posterior, or no faster"

# What the state settles of a count is wrong: lines say another density than the
# joint has.
"$GBMC" --emit=c abundance.gbm |
    sed '/^static double tilt_N/,/^}/s/tilt += k_.c1;/tilt += k_.c1 + REAL_C(0.1);/' >wrong.c
"$GBMC" --emit=c abundance.gbm | cmp -s wrong.c - && fail "no tilt is wrong"
compile_c wrong.c wrong
GBM_LINES=always status 2 ./wrong --data data.json --device cpu --out wrong.nc
says 'along lines that warm-up learnt'
absent wrong.nc
