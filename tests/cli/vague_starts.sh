#!/usr/bin/env bash
# Chains arrive where rates have near-improper priors: half of the draws of a
# dgamma(0.001, 0.001) are below 1e-300, where no data pull them back.
source "$GBM_ROOT/tests/cli/lib"

# arrive SEEDS SAMPLER DATA NAME=MEAN,SD...: with seeds 1, 2, ... all chains
# together have these means, by a quarter of the posterior's deviation
arrive() {
    local seeds=$1 sampler=$2 data=$3 seed
    shift 3
    for seed in $(seq "$seeds"); do
        status 0 "$sampler" --data "$data" --seed "$seed" --quiet \
            --summary fit.json
        python3 - "$@" <<'E' || fail "$sampler, seed $seed"
import json, sys
fit = json.load(open("fit.json"))["parameters"]
for arg in sys.argv[1:]:
    name, values = arg.split("=")
    mean, sd = map(float, values.split(","))
    if abs(fit[name]["mean"] - mean) > 0.25 * sd or not fit[name]["rhat"] < 1.1:
        sys.exit(f"{name}: {fit[name]}, not {mean} ({sd})")
E
    done
}

# ---- a bound that falls with a rate: the typical rate is too large, and is
# mended

cat >frontier.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dunif(0, a * exp(-k * x[i])) }
  a ~ dgamma(0.001, 0.001)
  k ~ dgamma(0.001, 0.001)
}
E
python3 - >frontier.json <<'E'
import json, math, sys
n = 40
x = [0.25 * i for i in range(n)]
y = [30 * math.exp(-0.2 * x[i]) * ((37 * i + 11) % 41 + 0.5) / 41 for i in range(n)]
json.dump({"N": n, "x": x, "y": y}, sys.stdout)
E
# by quadrature in log(k) and, from its least value on, log(a)
exact=$(
    python3 - <<'E'
import json, math
d = json.load(open("frontier.json"))
x, y, n = d["x"], d["y"], d["N"]
rows = []
for i in range(200):
    k = 0.02 * 25 ** ((i + 0.5) / 200)
    low = max(v * math.exp(k * t) for v, t in zip(y, x))
    for j in range(500):
        u = (j + 0.5) * 0.001
        a = low * math.exp(u)
        log_weight = ((0.001 - n) * math.log(a) - 0.001 * a + k * sum(x)
                      + 0.001 * math.log(k) - 0.001 * k)
        rows.append((log_weight, a, k))
top = max(r[0] for r in rows)
total = sum(math.exp(r[0] - top) for r in rows)
for at, name in (1, "a"), (2, "k"):
    first, second = (sum(math.exp(r[0] - top) * r[at] ** power for r in rows)
                     / total for power in (1, 2))
    print(f"{name}={first},{math.sqrt(second - first ** 2)}", end=" ")
E
)
status 0 "$GBMC" frontier.gbm -o frontier
arrive 3 ./frontier frontier.json $exact

# ---- a slope that says nothing until its midpoint is near: JAGS, 120,000 draws

python3 - <<'E'
import json, math
def write(name, data):
    with open(name, "w") as f:
        json.dump(data, f)
u = [3.4 * (((37 * i + 11) % 41 + 0.5) / 41 - 0.5) for i in range(40)]
x = [200 + 0.25 * i for i in range(40)]
y = [10 / (1 + math.exp(-1.5 * (x[i] - 205))) + u[i] for i in range(40)]
write("slope.json", {"N": 40, "x": x, "y": y})
y = [3 + 6 * (i % 5 < 2) + u[i % 40] for i in range(60)]
write("shifted.json", {"N": 60, "y": y})
y = [10 + v for v in u]
write("groups.json", {"N": 40, "J": 8, "g": [i // 5 + 1 for i in range(40)],
                      "y": y})
E
cat >slope.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dnorm(10 / (1 + exp(-b * (x[i] - m))), tau) }
  b ~ dgamma(0.001, 0.001)
  m ~ dnorm(0, 1.0E-6)
  tau ~ dgamma(0.001, 0.001)
}
E
status 0 "$GBMC" slope.gbm -o slope
arrive 10 ./slope slope.json b=1.515,0.202 m=205.05,0.106 tau=0.973,0.223

# ---- a distance of two components, 0 as long as their members are anybody

cat >shifted.gbm <<'E'
model {
  for (i in 1:N) {
    z[i] ~ dbern(p)
    y[i] ~ dnorm(mu + delta * z[i], tau)
  }
  p ~ dbeta(1, 1)
  mu ~ dnorm(0, 1.0E-6)
  delta ~ dgamma(0.001, 0.001)
  tau ~ dgamma(0.001, 0.001)
}
E
status 0 "$GBMC" shifted.gbm -o shifted
arrive 10 ./shifted shifted.json mu=2.986,0.171 delta=6.063,0.27 p=0.403,0.062

# ---- a deviation of groups that may be nearly 0 gets there

cat >groups.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dnorm(mu + u[g[i]], tau) }
  for (j in 1:J) { u[j] ~ dnorm(0, tu) }
  mu ~ dnorm(0, 1.0E-6)
  tau ~ dgamma(0.001, 0.001)
  tu ~ dgamma(0.001, 0.001)
  su <- 1 / sqrt(tu)
}
E
status 0 "$GBMC" groups.gbm -o groups
arrive 3 ./groups groups.json tau=1.04,0.247 su=0.2341,0.201

# ---- presences that a covariate in hundreds decides before the data do: with
# all of them 1 its coefficient is anything above 0

cat >presence.gbm <<'E'
model {
  b0 ~ dnorm(0, 0.01)
  b1 ~ dnorm(0, 1.0E-6)
  p ~ dunif(0, 1)
  for (i in 1:N) {
    logit(psi[i]) <- b0 + b1 * elev[i]
    z[i] ~ dbern(psi[i])
    for (j in 1:J) { y[i,j] ~ dbern(z[i] * p) }
  }
}
E
python3 - >presence.json <<'E'
import json, math, random, sys
r = random.Random(5)
elev = [round(r.uniform(200, 2600)) for i in range(60)]
y = []
for e in elev:
    z = r.random() < 1 / (1 + math.exp(3 - 0.0025 * e))
    y.append([int(z and r.random() < 0.5) for j in range(3)])
json.dump({"N": 60, "J": 3, "elev": elev, "y": y}, sys.stdout)
E
# by quadrature, presences summed out, about the mean of the covariate
exact=$(
    python3 - <<'E'
import json
import numpy as np
d = json.load(open("presence.json"))
elev, seen = np.array(d["elev"]), np.array(d["y"]).sum(1)
middle = elev.mean()
c = np.linspace(-8, 30, 191)[:, None, None]
b = np.linspace(-4, 40, 221)[None, :, None] / elev.std()
p = (np.arange(40)[None, None, :] + 0.5) / 40
b0 = c - b * middle
log_w = -0.005 * b0**2 - 0.5e-6 * b**2 + 0 * p
for e, n in zip(elev, seen):
    psi = 1 / (1 + np.exp(-b0 - b * e))
    log_w += np.log(psi * p**n * (1 - p) ** (3 - n) + (1 - psi) * (n == 0)
                    + 1e-300)
w = np.exp(log_w - log_w.max())
w /= w.sum()
for name, v in ("b0", b0), ("b1", b), ("p", p):
    mean = (w * v).sum()
    print(f"{name}={mean},{np.sqrt((w * (v - mean) ** 2).sum())}")
E
)
status 0 "$GBMC" presence.gbm -o presence
arrive 4 ./presence presence.json $exact

# ---- curves that are flat for long: chains that find the data only after a
# third of warm-up draw the others with them

growth=$GBM_ROOT/tests/models/orange_trees
status 0 "$GBMC" -O 1 "$growth/model.bug" -o growth
for seed in 3 9; do
    status 0 ./growth --data "$growth/data.R" --seed $seed --warmup 500 \
        --draws 500 --chains 4 --device cpu --quiet --summary fit.json
    python3 -c 'if True:
    import json
    fit = json.load(open("fit.json"))["parameters"]
    assert max(p["rhat"] or 1 for p in fit.values()) < 1.2' ||
        fail "growth, seed $seed: chains are apart"
done
