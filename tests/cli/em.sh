#!/usr/bin/env bash
# --method em: each iteration on a normal mixture is that of the closed form, to
# the same maximum; it never falls; with derived nodes in between, and with
# priors; what is not independent is refused.
source "$GBM_ROOT/tests/cli/lib"

# em MODEL STATUS OPTION...: with data.json
em() {
    local model=$1 wanted=$2
    shift 2
    [ -e "${model%.gbm}" ] ||
        status 0 "$GBMC" -O 1 --with=gradients "$model" -o "${model%.gbm}"
    status "$wanted" "./${model%.gbm}" --method em --data data.json "$@"
}

cat >mixture.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(mu[z[i]], tau[z[i]])
    z[i] ~ dcat(p[])
  }
  for (k in 1:2) {
    mu[k] ~ dunif(-100, 100)
    tau[k] ~ dunif(0, 1000)
  }
  p[1:2] ~ ddirch(one[])
}
E
cat >data.json <<'E'
{"N": 14, "one": [1, 1], "y": [-2.1, -1.3, -1.9, -0.2, -2.6, -1.1, 0.4, 1.8,
  2.9, 3.3, 2.2, 1.4, 2.7, 4.1]}
E
echo '{"mu": [-0.5, 1], "tau": [0.5, 0.8], "p": [0.4, 0.6]}' >init.json
em mixture.gbm 0 --init init.json --chains 1 --summary em.json --out mode.json
prints 'summed out: '
python3 - <<'E' || fail "EM of a normal mixture"
import json, math
d = json.load(open("data.json"))
y, n = d["y"], d["N"]
mu, tau, p = [-0.5, 1], [0.5, 0.8], [0.4, 0.6]
prior = 2 * math.log(1 / 200) + 2 * math.log(1 / 1000)
found = json.load(open("em.json"))
trace = found["trace"]
assert len(trace) == found["iterations"] + 1 > 10
for it, value in enumerate(trace):
    w, total = [], prior
    for v in y:
        f = [p[k] * math.sqrt(tau[k] / (2 * math.pi)) *
             math.exp(-tau[k] * (v - mu[k]) ** 2 / 2) for k in (0, 1)]
        total += math.log(sum(f))
        w.append([g / sum(f) for g in f])
    assert abs(total - value) < 1e-6, (it, total, value)
    assert it == 0 or value > trace[it - 1] - 1e-10, (it, trace)
    for k in (0, 1):
        s = sum(r[k] for r in w)
        p[k] = s / n
        mu[k] = sum(r[k] * v for r, v in zip(w, y)) / s
        tau[k] = s / sum(r[k] * (v - mu[k]) ** 2 for r, v in zip(w, y))
modes = found["parameters"]
for k in (0, 1):
    for name, x in (("mu", mu), ("tau", tau), ("p", p)):
        m = modes["%s[%d]" % (name, k + 1)]["mode"]
        assert abs(m - x[k]) < 1e-3, (name, k, m, x)
for i, r in enumerate(w):  # the groups: the most probable
    assert modes["z[%d]" % (i + 1)]["mode"] == 1 + (r[1] > r[0])
E
em mixture.gbm 0 --init mode.json --chains 1 --summary again.json --quiet
python3 - <<'E' || fail "--init of a mode"
import json
a, b = (json.load(open(f)) for f in ("em.json", "again.json"))
assert b["iterations"] <= 3 and b["log_density"] >= a["log_density"] - 1e-9
E

# kept nodes between the index and its readers, two kinds of index, priors: the
# maximum is that of the model with the indices summed out by hand
cat >between.gbm <<'E'
model {
  for (i in 1:N) {
    u[i, 1] <- a[z[i] + 1] * g[i]
    u[i, 2] <- c
    s[i, 1:2] <- sort(u[i, 1:2])
    for (t in 1:2) { y[t, i] ~ dnorm(s[i, t], 2) }
    z[i] ~ dbern(q)
    k[i] ~ dbin(0.3, 2)
    x[i] ~ dnorm(b * k[i], 1)
  }
  q ~ dbeta(2, 3)
  c ~ dnorm(0, 1)
  b ~ dnorm(0, 0.5)
  for (j in 1:2) { a[j] ~ dnorm(3 * j - 4, 1) }
}
E
cat >summed.gbm <<'E'
distribution pair(v, d, e, c, q) {
  support real(-inf, inf)
  logdensity log(2) - log(2 * 3.141592653589793)
    + log(q * exp(-(x - min(e, c))^2 - (v - max(e, c))^2)
    + (1 - q) * exp(-(x - min(d, c))^2 - (v - max(d, c))^2))
}
distribution three(b) {
  support real(-inf, inf)
  logdensity log(0.49 * exp(-0.5 * x^2) + 0.42 * exp(-0.5 * (x - b)^2)
    + 0.09 * exp(-0.5 * (x - 2 * b)^2)) - 0.5 * log(2 * 3.141592653589793)
}
model {
  for (i in 1:N) {
    first[i] ~ pair(y[2, i], a[1] * g[i], a[2] * g[i], c, q)
    x[i] ~ three(b)
  }
  q ~ dbeta(2, 3)
  c ~ dnorm(0, 1)
  b ~ dnorm(0, 0.5)
  for (j in 1:2) { a[j] ~ dnorm(3 * j - 4, 1) }
}
E
cat >data.json <<'E'
{"N": 5, "g": [1, 0.7, 1.2, 1, 0.8], "first": [0.1, -0.9, 0.3, -1.2, 0.2],
 "y": [[0.1, -0.9, 0.3, -1.2, 0.2], [1.8, 0.4, 2.4, 0.3, 1.1]],
 "x": [0.3, 2.1, 1.2, 2.5, -0.3]}
E
em between.gbm 0 --summary em.json --quiet
status 0 "$GBMC" -O 1 --with=gradients summed.gbm -o summed
status 0 ./summed --method optimize --data data.json --summary exact.json --quiet
python3 - <<'E' || fail "EM against the density with indices summed out"
import json
em, exact = (json.load(open(f)) for f in ("em.json", "exact.json"))
assert abs(em["log_density"] - exact["log_density"]) < 1e-6, (em, exact)
for name, row in exact["parameters"].items():
    assert abs(em["parameters"][name]["mode"] - row["mode"]) < 1e-3, name
E

# shares of a stick with alpha below 1: no mode, and what to do is said; in free
# numbers there is one, inside
cat >stick.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(mu[z[i]], 1)
    z[i] ~ dcat(p[])
  }
  for (k in 1:2) { mu[k] ~ dnorm(0, 0.1) }
  v ~ dbeta(1, 0.5)
  p[1] <- v
  p[2] <- 1 - v
}
E
echo '{"N": 6, "y": [0.1, -0.4, 0.3, 0.2, -0.1, -0.2]}' >data.json
em stick.gbm "0|1|2" --iterations 30
cat .err >>.out
prints '[Ww]ith --jacobian (it|the mode) is sought in free'
em stick.gbm 0 --jacobian --summary stick.json
! grep -q 'is sought in free' .out .err || fail "said with --jacobian, too"
python3 - <<'E' || fail "EM of shares of a stick"
import json
v = json.load(open("stick.json"))["parameters"]["v"]["mode"]
assert 0.05 < v < 0.95, v
E

# what is refused, and why
cat >chain.gbm <<'E'
model { z[1] ~ dcat(w[]); for (t in 2:3) { z[t] ~ dcat(P[z[t - 1], ]) }
        for (t in 1:3) { y[t] ~ dnorm(m[z[t]], 1) }
        for (k in 1:2) { m[k] ~ dnorm(0, 1) } }
E
cat >counts.gbm <<'E'
model { n ~ dpois(a); y ~ dbin(0.5, n); a ~ dgamma(2, 1) }
E
cat >plain.gbm <<'E'
model { m ~ dnorm(0, 1); y ~ dnorm(m, 1) }
E
echo '{"w": [0.5, 0.5], "P": [[0.9, 0.1], [0.2, 0.8]], "y": [1, 2, 3]}' >data.json
em chain.gbm 1
says 'z\[[123]\] \(chain.gbm:1:[0-9]+\) cannot be taken in expectation: another'
echo '{"y": 3}' >data.json
em counts.gbm 1
says 'n .*cannot be taken in expectation: its values have no end'
em plain.gbm 1
says 'nothing to take the expectation of: --method optimize'
em plain.gbm 1 --laplace 10
says 'not supported yet'
