#!/usr/bin/env bash
# Particle filters whose states are drawn with their observations: likelihoods
# and moments against a Kalman filter, forward-backward and quadrature; how far
# likelihoods vary, beside the bootstrap filter's; where no distribution is
# found, the model's own; what is refused.
source "$GBM_ROOT/tests/cli/lib"

# guided MODEL PARTICLES: compiled, and run for four seeds
guided() {
    local model=$1
    status 0 "$GBMC" -O 0 "$model.gbm" -o "$model"
    for seed in 1 2 3 4; do
        status 0 "./$model" --data "$model.json" --init "$model.init.json" \
            --method filter --proposal guided --quiet --chains 20 \
            --particles "$2" --seed $seed --summary s$seed.json
    done
}

cat >judge.py <<'E'
import json, sys

def judge(likelihood, filtered, laws):
    """Four runs' likelihoods and filtered means against the exact ones, by
    their own errors; the laws of the statements that were proposed from."""
    runs = [json.load(open(f"s{k}.json")) for k in range(1, 5)]
    zs = [(r["log_likelihood"]["value"] - likelihood) /
          r["log_likelihood"]["se"] for r in runs]
    squares = [((r["parameters"][name]["filtered"]["mean"] - exact) /
                r["parameters"][name]["filtered"]["mcse"]) ** 2
               for r in runs for name, exact in filtered.items()]
    mean = sum(squares) / len(squares)
    found = {p["law"] for p in runs[0]["proposals"]}
    print("z of likelihoods", zs, "mean z^2 of means", mean, found)
    print(runs[0]["log_likelihood"])
    return (max(map(abs, zs)) < 5 and abs(sum(zs)) / 4 ** 0.5 < 4 and
            0.5 < mean < 2.5 and found == laws)
E

# ---- normal: an observation that tells 400 times what the past does, through a
# node that is computed; one is missing ----
cat >normal.gbm <<'END'
model {
  x[1] ~ dnorm(0, q)
  for (t in 2:T) { x[t] ~ dnorm(phi * x[t-1], q) }
  for (t in 1:T) {
    m[t] <- 2 * x[t] + b
    y[t] ~ dnorm(m[t], r)
  }
  phi ~ dunif(-1, 1)   q ~ dgamma(1, 1)   r ~ dgamma(1, 1)   b ~ dnorm(0, 1)
}
END
python3 - <<'E'
import json, random
random.seed(3)
x, y = 0, []
for t in range(20):
    x = 0.9 * x + random.gauss(0, 1)
    y.append(None if t == 7 else 2 * x + 1 + random.gauss(0, 0.1))
json.dump({"T": 20, "y": y}, open("normal.json", "w"))
json.dump({"phi": 0.9, "q": 1, "r": 100, "b": 1}, open("normal.init.json", "w"))
E
cat >kalman.py <<'E'
import json, math

def kalman(y):
    mean, variance, log, means = 0, 0, 0, []
    for v in y:
        mean, variance = 0.9 * mean, 0.81 * variance + 1
        if v is not None:
            s = 4 * variance + 0.01
            e = v - 2 * mean - 1
            log -= 0.5 * (math.log(2 * math.pi * s) + e * e / s)
            mean += 2 * variance / s * e
            variance -= 4 * variance ** 2 / s
        means.append(mean)
    return log, {f"x[{t+1}]": m for t, m in enumerate(means)}
E
guided normal 100
python3 - <<'E' || fail "not what the Kalman filter says"
import json, sys
from judge import judge
from kalman import kalman
log, means = kalman(json.load(open("normal.json"))["y"])
sys.exit(not judge(log, means, {"normal"}))
E
status 0 ./normal --data normal.json --init normal.init.json --method filter \
    --quiet --chains 20 --particles 100 --summary prior.json
python3 - <<'E' || fail "likelihoods vary as those of the bootstrap filter"
import json, sys
sd = [json.load(open(f))["log_likelihood"]["sd_of_a_filter"]
      for f in ("prior.json", "s1.json")]
print(sd)
sys.exit(not 0 < 10 * sd[1] < sd[0])
E
status 0 ./normal --data normal.json --init normal.init.json --method filter \
    --proposal guided --chains 2 --particles 50 --out a.csv --threads 1
prints 'Proposed given observations \(normal\): x\[t\] ~ dnorm'
status 0 ./normal --data normal.json --init normal.init.json --method filter \
    --proposal guided --chains 2 --particles 50 --out b.csv --threads 2
grep -v "^#" a_1.csv >a; grep -v "^#" b_1.csv >b; same a b

# ---- values: a hidden Markov chain, of which a value is impossible, and a
# binary state beside it, which the same observation weighs ----
cat >values.gbm <<'END'
model {
  z[1] ~ dcat(p0[])
  for (t in 2:T) { z[t] ~ dcat(P[z[t-1],]) }
  for (t in 1:T) {
    w[t] ~ dbern(0.25)
    c[t] ~ dpois(exp(w[t]) * mu[z[t]])
  }
  for (k in 1:3) { mu[k] ~ dgamma(1, 0.1) }
}
END
echo '{"T": 8, "p0": [0.5, 0, 0.5], "P": [[0.8, 0, 0.2], [1, 0, 0],
  [0.3, 0.1, 0.6]], "c": [1, 6, 3, 1, 9, null, 2, 12]}' >values.json
echo '{"mu": [1, 3, 6]}' >values.init.json
guided values 200
python3 - <<'E' || fail "not what forward recursion says"
import json, math, sys
from judge import judge
d = json.load(open("values.json"))
P, mu = d["P"], [1, 3, 6]
def seen(c, z):
    if c is None:
        return 1
    return sum(p * math.exp(c * math.log(l * mu[z]) - l * mu[z] -
                            math.lgamma(c + 1))
               for p, l in ((0.75, 1), (0.25, math.e)))
ahead, log, means = d["p0"], 0, {}
for t, c in enumerate(d["c"]):
    now = [ahead[z] * seen(c, z) for z in range(3)]
    log += math.log(sum(now))
    now = [p / sum(now) for p in now]
    means[f"z[{t+1}]"] = sum((z + 1) * p for z, p in enumerate(now))
    ahead = [sum(now[j] * P[j][k] for j in range(3)) for k in range(3)]
# times of which a filter is sure have no error to compare with
runs = [json.load(open(f"s{k}.json"))["parameters"] for k in range(1, 5)]
means = {n: m for n, m in means.items()
         if all(r[n]["filtered"]["mcse"] > 1e-4 for r in runs)}
print(means)
sys.exit(not (len(means) > 3 and judge(log, means, {"all its values"})))
E

# ---- gamma, beta and lognormal states, by quadrature ----
cat >others.gbm <<'END'
model {
  x[1] ~ dgamma(3, 1)
  p[1] ~ dbeta(2, 2)
  n[1] ~ dlnorm(1, 1)
  for (t in 2:T) {
    x[t] ~ dgamma(3, 3 / x[t-1])
    p[t] ~ dbeta(1 + 4 * p[t-1], 5 - 4 * p[t-1])
    n[t] ~ dlnorm(log(n[t-1]), 1)
  }
  for (t in 1:T) {
    y[t] ~ dpois(5 * x[t])
    k[t] ~ dbin(p[t], 40)
    s[t] ~ dnorm(log(n[t]), v)
  }
  v ~ dgamma(1, 1)
}
END
echo '{"T": 5, "y": [10, 80, 30, 33, 0], "k": [3, 38, 20, null, 30],
  "s": [1, 3, 0.2, 0.5, 0.4]}' >others.json
echo '{"v": 25}' >others.init.json
guided others 400
/usr/bin/python3 - <<'E' || fail "not what quadrature says"
import json, sys
import numpy as np
from scipy import stats
from judge import judge
d = json.load(open("others.json"))
def run(u, into, first, follows, seen, name):
    """u: midpoints of equal cells; into: their values."""
    x, width = into(u), u[1] - u[0]
    slope = np.gradient(x, u)
    ahead, log, means = first(x) * slope * width, 0, {}
    step = np.array([follows(x, b) for b in x]) * slope * width
    for t in range(5):
        now = ahead * seen(x, t)
        log += np.log(now.sum())
        now /= now.sum()
        means[f"{name}[{t+1}]"] = now @ x
        ahead = now @ step
    return log, means
r = np.linspace(-7, 7, 2001)
a, of_x = run(r, np.exp, lambda x: stats.gamma.pdf(x, 3),
    lambda x, b: stats.gamma.pdf(x, 3, scale=b / 3),
    lambda x, t: stats.poisson.pmf(d["y"][t], 5 * x), "x")
b, of_p = run((np.arange(1000) + 0.5) / 1000, lambda u: u,
    lambda x: stats.beta.pdf(x, 2, 2),
    lambda x, b: stats.beta.pdf(x, 1 + 4 * b, 5 - 4 * b),
    lambda x, t: 1 if d["k"][t] is None else stats.binom.pmf(
        d["k"][t], 40, x), "p")
c, of_n = run(r, np.exp, lambda x: stats.norm.pdf(np.log(x), 1) / x,
    lambda x, b: stats.norm.pdf(np.log(x), np.log(b)) / x,
    lambda x, t: stats.norm.pdf(d["s"][t], np.log(x), 0.2), "n")
sys.exit(not judge(a + b + c, {**of_x, **of_p, **of_n},
                   {"gamma", "beta", "lognormal"}))
E

# ---- vectors: of two observations, one is seen now and then ----
cat >vectors.gbm <<'END'
model {
  x[1,1:2] ~ dmnorm(m0[], Q[,])
  for (t in 2:T) {
    for (i in 1:2) { m[t,i] <- inprod(A[i,], x[t-1,]) }
    x[t,1:2] ~ dmnorm(m[t,], Q[,])
  }
  for (t in 1:T) {
    y[t] ~ dnorm(x[t,1] + 0.5 * x[t,2], r)
    w[t] ~ dnorm(x[t,2], 1)
  }
  r ~ dgamma(1, 1)
}
END
echo '{"T": 6, "m0": [0, 1], "Q": [[2, 0.8], [0.8, 1]],
  "A": [[0.9, 0.3], [-0.2, 0.7]], "y": [1.5, 2, 0.4, -1, -2, 0.3],
  "w": [1, null, null, 0.2, -1.1, null]}' >vectors.json
echo '{"r": 400}' >vectors.init.json
guided vectors 200
/usr/bin/python3 - <<'E' || fail "not what the Kalman filter says of vectors"
import json, sys
import numpy as np
from judge import judge
d = json.load(open("vectors.json"))
A, V = np.array(d["A"]), np.linalg.inv(d["Q"])
mean, cov, log, means = np.array(d["m0"]), V, 0, {}
for t in range(6):
    seen = [(d["y"][t], [1, 0.5], 1 / 400), (d["w"][t], [0, 1], 1)]
    for v, row, noise in seen:
        if v is None:
            continue
        h = np.array(row)
        s = h @ cov @ h + noise
        log -= 0.5 * (np.log(2 * np.pi * s) + (v - h @ mean) ** 2 / s)
        mean = mean + cov @ h * ((v - h @ mean) / s)
        cov = cov - np.outer(cov @ h, h @ cov) / s
    means.update({f"x[{t+1},{i+1}]": m for i, m in enumerate(mean)})
    mean, cov = A @ mean, A @ cov @ A.T + V
sys.exit(not judge(log, means, {"normal"}))
E

# ---- no distribution that can be drawn from ----
cat >none.gbm <<'END'
model {
  x[1] ~ dnorm(0, 1)
  for (t in 2:T) { x[t] ~ dnorm(x[t-1], 1) T(0, ) }
  for (t in 1:T) { y[t] ~ dt(x[t], 1, k) }
  k ~ dgamma(1, 1)
}
END
echo '{"T": 4, "y": [0.4, 1.5, 0.2, 0.1]}' >none.json
echo '{"k": 3}' >none.init.json
guided none 200
/usr/bin/python3 - <<'E' || fail "not what quadrature says of a t distribution"
import json, sys
import numpy as np
from scipy import stats
from judge import judge
y = json.load(open("none.json"))["y"]
x = (np.arange(4000) + 0.5) / 200 - 10
step = stats.norm.pdf(x[None, :], x[:, None]) * (x[None, :] > 0)
step /= stats.norm.sf(0, x)[:, None] * 200
ahead, log, means = stats.norm.pdf(x) / 200, 0, {}
for t, v in enumerate(y):
    now = ahead * stats.t.pdf(v, 3, x)
    log += np.log(now.sum())
    now /= now.sum()
    means[f"x[{t+1}]"] = now @ x
    ahead = now @ step
sys.exit(not judge(log, means, {"the model alone"}))
E

# ---- truncated normals: normal far from the bound; pmmh takes its filter so ----
sed 's/dt(x\[t\], 1, k)/dnorm(x[t], k)/' none.gbm >cut.gbm
echo '{"T": 4, "y": [3, 4, 4, 2.2]}' >cut.json
cp none.init.json cut.init.json
guided cut 200
/usr/bin/python3 - <<'E' || fail "not what quadrature says of a truncated normal"
import json, sys
import numpy as np
from scipy import stats
from judge import judge
y = json.load(open("cut.json"))["y"]
x = (np.arange(4000) + 0.5) / 200 - 10
step = stats.norm.pdf(x[None, :], x[:, None]) * (x[None, :] > 0)
step /= stats.norm.sf(0, x)[:, None] * 200
ahead, log, means = stats.norm.pdf(x) / 200, 0, {}
for t, v in enumerate(y):
    now = ahead * stats.norm.pdf(v, x, 3 ** -0.5)
    log += np.log(now.sum())
    now /= now.sum()
    means[f"x[{t+1}]"] = now @ x
    ahead = now @ step
sys.exit(not judge(log, means, {"normal"}))
E
status 0 ./cut --data cut.json --method pmmh --proposal guided --particles 20 \
    --chains 1 --warmup 50 --draws 50 --quiet

# ---- what it refuses ----
status 1 ./cut --data cut.json --method filter --proposal best
says "proposal 'best': prior or guided is wanted"
status 1 ./cut --data cut.json --proposal guided
says 'proposal is an option of --method filter, and of pmmh'
