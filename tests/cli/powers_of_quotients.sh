#!/usr/bin/env bash
# (phi / (phi + m))^phi is a probability, of no count in a negative binomial,
# also where phi^phi overflows: counts without their zeros, by the zeros trick,
# against sums over a grid. So is (t / sc)^k of a Weibull distribution moderate
# where t^k and sc^k are not, behind a log link, too.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'M'
model {
  for (i in 1:n) {
    log(m[i]) <- log(mu) + h[i]
    none[i] <- pow(phi / (phi + m[i]), phi)
    l[i] <- loggam(y[i] + phi) - loggam(phi) + y[i] * log(m[i] / (m[i] + phi)) +
            phi * log(phi / (m[i] + phi)) - log(1 - none[i])
    z[i] ~ dpois(100 - l[i])
  }
  mu ~ dgamma(2, 1)
  phi ~ dunif(0, 400)
}
M
echo '{"n": 12, "y": [1, 2, 3, 1, 2, 1, 4, 2, 1, 3, 2, 2],
       "h": [0, 0, 0.7, -0.7, 0, -0.7, 0.7, 0, 0, 0.7, 0, 0],
       "z": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]}' >data.json
cat >compare.py <<'E2'
import json
import math

d = json.load(open("data.json"))
fit = json.load(open("fit.json"))["parameters"]
total = mean_mu = mean_phi = 0
for a in range(100):
    phi = 4 * (a + 0.5)
    ways = [math.lgamma(y + phi) - math.lgamma(phi) for y in d["y"]]
    for b in range(80):
        mu = 0.06 * (b + 0.5)
        lp = math.log(mu) - mu + sum(ways)
        for y, h in zip(d["y"], d["h"]):
            m = mu * math.exp(h)
            zero = phi * math.log(phi / (phi + m))
            lp += y * math.log(m / (m + phi)) + zero
            lp -= math.log(-math.expm1(zero))
        w = math.exp(lp)
        total += w
        mean_mu += w * mu
        mean_phi += w * phi
for name, m, near in (("mu", mean_mu / total, 0.03),
                      ("phi", mean_phi / total, 8)):
    if abs(fit[name]["mean"] - m) > near:
        print(f"{name}: {fit[name]['mean']} and not {m}")
E2
status 0 "$GBMC" model.gbm -o model
status 0 ./model check --data data.json
status 0 ./model --data data.json --quiet --draws 4000 --summary fit.json
python3 compare.py >log || fail compare
[ ! -s log ] || fail "$(cat log)"

device_draws_as_host model data.json

cat >lives.gbm <<'M'
model {
  for (i in 1:n) { t[i] ~ weibull(k, sc) }
  sc ~ uniform(1.0E4, 1.0E6)
  k ~ uniform(0, 500)
}
M
echo '{"n": 8, "t": [99100, 98200, 100300, 99600, 100900, 99900, 100500, 97800]}' \
    >lives.json
cat >compare.py <<'E2'
import json
import math

t = json.load(open("lives.json"))["t"]
fit = json.load(open("fit.json"))["parameters"]
total = mean_k = mean_sc = 0
for a in range(125):
    k = 4 * (a + 0.5)
    for b in range(200):
        sc = 96000 + 40 * (b + 0.5)
        lp = -80 + len(t) * math.log(k)
        for x in t:
            away = k * math.log(x / sc)
            lp += away - math.exp(min(away, 700))
        w = math.exp(lp)
        total += w
        mean_k += w * k
        mean_sc += w * sc
for name, m, near in (("k", mean_k / total, 3), ("sc", mean_sc / total, 30)):
    if abs(fit[name]["mean"] - m) > near:
        print(f"{name}: {fit[name]['mean']} and not {m}")
E2
cat >logs.gbm <<'M'
model {
  for (i in 1:n) {
    log(scale[i]) <- a
    t[i] ~ weibull(k, scale[i])
  }
  sc <- exp(a)
  a ~ loguniform()
  k ~ uniform(0, 500)
}
distribution loguniform() {
  support real(log(1.0E4), log(1.0E6))
  logdensity x
}
M
for way in lives logs; do
    status 0 "$GBMC" $way.gbm -o $way
    status 0 ./$way check --data lives.json
    status 0 ./$way --data lives.json --quiet --draws 4000 --summary fit.json
    python3 compare.py >log || fail compare
    [ ! -s log ] || fail "$way: $(cat log)"
    device_draws_as_host $way lives.json
done

# The same where the scale is defined for some rows alone, as far as the text
# knows; and draws, whose scale's powers are as little numbers.
cat >some.gbm <<'M'
model {
  for (i in 1:8) { log(scale[i]) <- a }
  for (i in 1:n) { t[i] ~ weibull(k, scale[i]) }
  sc <- exp(a)
  a ~ loguniform()
  k ~ uniform(0, 500)
  whole ~ weibull(k + 200, 1.0E5)
  part ~ weibull(k + 200, 1.0E5) T(99000,)
}
distribution loguniform() {
  support real(log(1.0E4), log(1.0E6))
  logdensity x
}
M
status 0 "$GBMC" some.gbm -o some
status 0 ./some check --data lives.json
status 0 ./some --data lives.json --quiet --draws 4000 --summary fit.json
python3 compare.py >log || fail compare
[ ! -s log ] || fail "some: $(cat log)"
python3 - <<'E2' >log || fail draws
import json

fit = json.load(open("fit.json"))["parameters"]
for name, low, high in (("whole", 99700, 99880), ("part", 99800, 99980)):
    if not low < fit[name]["mean"] < high or not 200 < fit[name]["sd"] < 700:
        print(name, fit[name])
E2
[ ! -s log ] || fail "$(cat log)"
