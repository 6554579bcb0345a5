#!/usr/bin/env bash
# The particle filter, --method filter: likelihood and moments against those of
# a linear and normal model, and against forward-backward; times of noise that
# a recursion reads, of several states; what it refuses, and how it says so.
source "$GBM_ROOT/tests/cli/lib"

# filters MODEL DATA INIT...: as JSON, one for each of eight seeds
filters() {
    status 0 "$GBMC" -O 1 "$1" -o model
    for seed in 1 2 3 4 5 6 7 8; do
        status 0 ./model --data "$2" --init "$3" --method filter --quiet \
            --seed $seed --summary s$seed.json "${@:4}"
    done
}

cat >exact.py <<'E'
import json, sys

def judge(likelihood, filtered, smoothed, sds):
    """z-scores over the seeds' runs: of the likelihood each, of the means
    together; and deviations."""
    squares, bad = [], []
    runs = [json.load(open(f"s{k}.json")) for k in range(1, 9)]
    for r in runs:
        l = r["log_likelihood"]
        z = (l["value"] - likelihood) / l["se"]
        if not abs(z) < 5 or not 0.001 < l["se"] < 0.2:
            bad.append(("likelihood", l, likelihood))
        for name, exact in list(filtered.items()) + list(smoothed.items()):
            p = r["parameters"][name[1:]]
            p = p["filtered"] if name[0] == "f" else p
            z = (p["mean"] - exact) / p["mcse"]
            squares.append(z * z)
            if not abs(z) < 9:
                bad.append((name, p, exact))
            if name in sds and not abs(p["sd"] / sds[name] - 1) < 0.2:
                bad.append((name, p, "sd", sds[name]))
    mean = sum(squares) / len(squares)
    mean_l = sum(r["log_likelihood"]["value"] for r in runs) / 8
    error = (sum(r["log_likelihood"]["se"] ** 2 for r in runs)) ** 0.5 / 8
    z = (mean_l - likelihood) / error
    print("likelihoods", z, "means' z^2", mean, bad)
    sys.exit(bool(bad) or not abs(z) < 4 or not 0.6 < mean < 2)
E

# ---- linear and normal, with a lag of two times; a missing observation, and
# none of the last time ----
lagged_model
echo '{"T": 12, "y": [0.4, 1.9, null, 2.2, 0.3, -0.9, -1.2, 0.1, 0.8, 2.9, 3.1,
  null]}' >linear.json
filters linear.gbm linear.json linear.init.json --particles 400
python3 - <<'E' || fail "the answers are not those of the normal model"
import json
import numpy as np
from exact import judge
y = json.load(open("linear.json"))["y"]
T = len(y)
step, own = np.zeros((T + 1, T + 1)), np.full(T + 1, 0.8)
own[0] = 4
for t in range(1, T + 1):
    step[t, t-1] = 0.9
    if t > 2:
        step[t, t-2] = -0.4
back = np.linalg.inv(np.eye(T + 1) - step)
prior = back @ np.diag(own) @ back.T
def given(last):
    """Mean and covariance of x0, x[1], ...; log density of y up to there."""
    seen = [t for t in range(1, last + 1) if y[t-1] is not None]
    values = np.array([y[t-1] - 0.5 for t in seen])
    s = prior[np.ix_(seen, seen)] + 0.5 * np.eye(len(seen))
    gain = prior[:, seen] @ np.linalg.inv(s)
    log = -0.5 * (np.linalg.slogdet(2 * np.pi * s)[1] +
                  values @ np.linalg.solve(s, values))
    return gain @ values, prior - gain @ prior[seen], log
mean, cov, log = given(T)
filtered, smoothed, sds = {}, {"sx0": mean[0]}, {}
for t in range(1, T + 1):
    m, c, _ = given(t)
    filtered[f"fx[{t}]"], sds[f"fx[{t}]"] = m[t], c[t, t] ** 0.5
    smoothed[f"sx[{t}]"], smoothed[f"sm[{t}]"] = mean[t], mean[t] + 0.5
judge(log, filtered, smoothed, sds)
E

# The paths that are written have the moments that the summary tells, whatever
# the threads; what is given stays.
status 0 ./model --data linear.json --init linear.init.json --method filter \
    --quiet --particles 400 --summary s1.json --out a.csv --draws 2000 \
    --threads 1
status 0 ./model --data linear.json --init linear.init.json --method filter \
    --quiet --particles 400 --summary b.json --out b.csv --draws 2000 --threads 2
grep -v "^#" a_1.csv >a; grep -v "^#" b_1.csv >b; same a b
python3 - <<'E' || fail "the paths are not those of the summary"
import json, sys
rows = [l.strip().split(",") for l in open("a_1.csv") if l[0] != "#"]
names, rows = rows[0], [list(map(float, r)) for r in rows[1:]]
p = json.load(open("s1.json"))["parameters"]
bad = len(rows) != 2000
for name, s in p.items():
    column = [r[names.index(name.replace("[", ".").strip("]"))] for r in rows]
    mean = sum(column) / len(column)
    bad |= not abs(mean - s["mean"]) < 0.1 * s["sd"]
phi = {r[names.index("phi")] for r in rows}
ties = [sum((r[names.index(f"x.{t+1}")] - 0.9 * r[names.index(f"x.{t}")] +
             0.4 * r[names.index(f"x.{t-1}")]) ** 2
            for r in rows) / len(rows) for t in range(2, 12)]
# neighbours of a path belong together: their innovations are small
sys.exit(bad or phi != {0.9} or not max(ties) < 3)
E

# ---- a hidden Markov chain, beside a state of which it is the noise ---------
cat >hidden.gbm <<'END'
model {
  z[1] ~ dcat(p0[])
  for (t in 2:T) { z[t] ~ dcat(P[z[t-1],]) }
  for (t in 1:T) {
    y[t] ~ dnorm(mu[z[t]], 4)
    w[t] ~ dbern(0.25)
    c[t] ~ dpois(exp(w[t]) * z[t])
  }
  for (k in 1:2) { mu[k] ~ dnorm(0, 0.1) }
}
END
echo '{"T": 8, "p0": [0.5, 0.5], "P": [[0.8, 0.2], [0.3, 0.7]],
  "y": [1, 1, 0.2, 0.5, 0.1, 0.9, 0.3, null], "c": [1, 2, 3, 0, 1, 5, 2, 2]}' \
    >hidden.json
echo '{"mu": [0, 1]}' >hidden.init.json
filters hidden.gbm hidden.json hidden.init.json --particles 300
python3 - <<'E' || fail "the filter's answers are not those of forward-backward"
import json, math
from exact import judge
d = json.load(open("hidden.json"))
P, T = d["P"], d["T"]
def poisson(k, l):
    return math.exp(k * math.log(l) - l - math.lgamma(k + 1))
def weights(t, z):
    y, c = d["y"][t], d["c"][t]
    a = 1 if y is None else math.exp(-2 * (y - z) ** 2) * (2 / math.pi) ** 0.5
    return [a * (0.25 if w else 0.75) * poisson(c, math.exp(w) * (z + 1))
            for w in range(2)]
e = [[sum(weights(t, z)) for z in range(2)] for t in range(T)]
forward, ahead, filtered, smoothed = [], d["p0"], {}, {}
for t in range(T):
    forward.append([ahead[z] * e[t][z] for z in range(2)])
    ahead = [sum(forward[t][j] * P[j][k] for j in range(2)) for k in range(2)]
    filtered[f"fz[{t+1}]"] = 1 + forward[t][1] / sum(forward[t])
back = [1, 1]
for t in range(T - 1, -1, -1):
    joint = [forward[t][z] * back[z] for z in range(2)]
    smoothed[f"sz[{t+1}]"] = 1 + joint[1] / sum(joint)
    smoothed[f"sw[{t+1}]"] = sum(
        joint[z] * weights(t, z)[1] / e[t][z] for z in range(2)) / sum(joint)
    back = [sum(P[j][k] * e[t][k] * back[k] for k in range(2))
            for j in range(2)]
judge(math.log(sum(forward[-1])), filtered, smoothed, {})
E

# ---- states that are computed from noise; integers that feed each other -----
cat >epidemic.gbm <<'END'
model {
  S[1] <- 99
  I[1] <- 1
  for (t in 1:T) {
    infected[t] ~ dbin(1 - exp(-beta * I[t] / 100), S[t])
    recovered[t] ~ dbin(g, I[t])
    S[t+1] <- S[t] - infected[t]
    I[t+1] <- I[t] + infected[t] - recovered[t]
    y[t] ~ dbin(0.6, infected[t])
  }
  beta ~ dgamma(1, 1)
  g ~ dbeta(1, 1)
}
END
echo '{"T": 8, "y": [1, 1, 2, 5, 6, 4, 9, 3]}' >epidemic.json
echo '{"beta": 1.2, "g": 0.5}' >epidemic.init.json
status 0 "$GBMC" -O 1 epidemic.gbm -o epidemic
status 0 ./epidemic --data epidemic.json --init epidemic.init.json \
    --method filter --particles 200 --chains 3 --out paths.csv
prints '^S\[9\] +8 '
prints 'Log likelihood -[0-9.]+, standard error [0-9.]+ \(3 filters of 200'
python3 - <<'E' || fail "a path is not one of the model"
rows = [l.strip().split(",") for l in open("paths_1.csv") if l[0] != "#"]
for r in rows[1:]:
    v = dict(zip(rows[0], map(float, r)))
    for t in range(1, 9):
        assert v[f"S.{t+1}"] == (99 if t == 1 else v[f"S.{t}"]) - v[
            f"infected.{t}"]
        assert v[f"I.{t+1}"] == (1 if t == 1 else v[f"I.{t}"]) + v[
            f"infected.{t}"] - v[f"recovered.{t}"]
E

# ---- what it refuses --------------------------------------------------------
status 1 ./model --data hidden.json --method filter
says 'error: .*give it by --init FILE: mu$'
status 1 ./epidemic --data epidemic.json --method filter --quiet
says 'give it by --init FILE: (beta, g|g, beta)$'
echo '{"beta": 1.2, "g": 0.5, "infected": [1, 1, 2, 5, 6, 4, 9, 3],
  "recovered": [0, 0, 0, 0, 0, 0, 0, 0]}' >all.json
status 1 ./epidemic --data epidemic.json --method filter --init all.json
says 'nothing is left to be drawn'
status 1 ./epidemic --data epidemic.json --method filter --particles 1
says 'particles .1.: an integer from 2'
echo '{"T": 8, "y": [1, 1, 2, 50, 6, 4, 9, 3]}' >epidemic.json
status 2 ./epidemic --data epidemic.json --init epidemic.init.json \
    --method filter --particles 50 --out none.csv --summary none.json
says 'epidemic.gbm:9:5: time 4 of 8: none of 50 particles .*that of y\[4\]'
absent none_1.csv
absent none.json
status 1 ./model --data hidden.json --init hidden.init.json --method filter \
    --until 'ess>9'
says 'filter has no --until'
cat >flat.gbm <<'END'
model {
  for (i in 1:3) { y[i] ~ dnorm(u[i], 1)   u[i] ~ dnorm(0, 1) }
}
END
echo '{"y": [1, 2, 3]}' >flat.json
status 0 "$GBMC" -O 0 flat.gbm -o flat
status 1 ./flat --data flat.json --method filter
says 'there is no time to run along'
