#!/usr/bin/env bash
# Labels that settle the prior of nodes of which only bounds are known are drawn
# with these integrated out (sampler/interval.c): probabilities of labels and
# means of nodes that are known in closed form; the joint distribution test; and a
# cure model, where time and label would hold each other.
source "$GBM_ROOT/tests/cli/lib"
lacks() { if grep -qE -- "$1" .out; then fail "output like: $1"; fi; }

model() { # NAME LABEL PRIOR
    cat >"$1.gbm" <<E
model {
  for (i in 1:N) {
    z[i] ~ $2
    t[i] ~ $3
    k[i] ~ dinterval(t[i], cut[i, ])
    first[i] <- equals(z[i], 1)
  }
}
E
}
model weibull 'dbern(0.3)' 'dweib(1.5, ifelse(z[i] == 1, 0.02, 0.4))'
model rates 'dcat(w[])' 'dexp(rate[z[i]])'
model normals 'dcat(w[])' 'dnorm(4 * rate[z[i]], 1)'
echo '{"N": 5, "k": [1, 0, 2, 1, 2], "w": [0.3, 0.5, 0.2], "rate": [0.05, 1.2, 0.4],
  "cut": [[1, 3], [1, 2], [0.5, 4], [0.2, 9], [0.4, 2]],
  "t": [null, null, null, null, 2.5]}' >all.json
echo '{"N": 5, "k": [1, 0, 2, 1, 2],
  "cut": [[1, 3], [1, 2], [0.5, 4], [0.2, 9], [0.4, 2]],
  "t": [null, null, null, null, 2.5]}' >weibull.json
cat >exact.py <<'E'
import json
import sys
from math import erfc, exp, inf, pi, sqrt

d = json.load(open("all.json"))
rate, w = d["rate"], d["w"]


def weibull(v, r):
    return (lambda x: exp(-r * max(x, 0)**v) if x < inf else 0,
            lambda x: v * r * x**(v - 1) * exp(-r * x**v))


def normal(m):
    return (lambda x: 0.5 * erfc((x - m) / sqrt(2)),
            lambda x: exp(-(x - m)**2 / 2) / sqrt(2 * pi))


laws = {"weibull": [(0.3, weibull(1.5, 0.02)), (0.7, weibull(1.5, 0.4))],
        "rates": [(p, weibull(1, r)) for p, r in zip(w, rate)],
        "normals": [(p, normal(4 * r)) for p, r in zip(w, rate)]}[sys.argv[1]]
found = json.load(open(sys.argv[2]))["parameters"]
for i in range(d["N"]):
    ends = [-inf] + d["cut"][i] + [inf]
    low, high = ends[d["k"][i]], ends[d["k"][i] + 1]
    if d["t"][i] is not None:
        mass = [p * density(d["t"][i]) for p, (_, density) in laws]
    else:
        mass = [p * (beyond(low) - beyond(high)) for p, (beyond, _) in laws]
    exact = mass[0] / sum(mass)
    p = found[f"first[{i + 1}]"]
    error = sqrt(exact * (1 - exact) / 40000)
    print(sys.argv[1], i + 1, exact, p["mean"], error)
    assert abs(p["mean"] - exact) < 4.5 * error, i + 1
    assert p["ess_bulk"] > 30000, p # each draw by itself
E
for m in weibull rates normals; do
    data=$([ $m = weibull ] && echo weibull || echo all)
    model=$m.gbm
    status 0 "$GBMC" -O1 $model -o $m
    status 0 ./$m info
    prints 'integrated out'
    status 0 ./$m check --data $data.json --quiet
    status 0 ./$m --data $data.json --device cpu --quiet --draws 10000 --seed 1 \
        --summary $m.s
    python3 exact.py $m $m.s >.out 2>&1 || fail "$m: not the exact probabilities"
done
device_draws_as_host rates all.json

# with parameters of both that are random
cat >cure.gbm <<'E'
model {
  for (i in 1:n) {
    cured[i] ~ dbern(p)
    t[i] ~ dweib(alpha, b * (1 - cured[i]) + 0.001 * cured[i])
    late[i] ~ dinterval(t[i], last[i])
  }
  p ~ dbeta(2, 2)
  b ~ dgamma(2, 2)
  alpha ~ dgamma(6, 4)
}
E
echo '{"n": 6, "late": [1, 0, 1, 1, 0, 0], "last": [2, 2, 3, 1, 2, 4]}' >cure.json
status 0 "$GBMC" -O1 cure.gbm -o cure
status 0 ./cure geweke --data cure.json --device cpu --draws 4000
# 108 effective draws of 16,000 where labels see the times
python3 - >many.json <<'E'
import json
import random
random.seed(2)
n, last, t = 60, [], []
for i in range(n):
    x = random.weibullvariate(2, 1.3) if random.random() < 0.7 else 99
    last.append(random.uniform(3, 6))
    t.append(x if x < last[-1] else None)
print(json.dumps({"n": n, "t": t, "late": [int(x is None) for x in t],
                  "last": last}))
E
status 0 ./cure --data many.json --device cpu --quiet --draws 4000 --seed 1 \
    --monitor p --summary many.s
python3 - <<'E' >.out 2>&1 || fail "the share of the cured does not mix"
import json
p = json.load(open("many.s"))["parameters"]["p"]
assert p["ess_bulk"] > 400 and p["rhat"] < 1.01, p
E

none() { # SED...
    sed "$@" cure.gbm >other.gbm
    cmp -s cure.gbm other.gbm && fail "nothing is other"
    status 0 "$GBMC" --explain other.gbm
    lacks 't integrated out'
}
none 's/last\[i\])/last[i] + cured[i])/'
none 's/^    late/    y[i] ~ dnorm(t[i], 1)\n    late/'
none 's/^    late/    y[i] ~ dnorm(t[i] * cured[i], 1)\n    late/'
