#!/usr/bin/env bash
# Products of counts go beyond C's integers where these are of ten thousands, as
# where two parts of a population meet: in what is computed and in a density.
source "$GBM_ROOT/tests/cli/lib"

cat >meet.gbm <<'E'
model {
  s ~ dpois(60000)
  i ~ dpois(70000)
  si <- s * i
  m <- 100000 * s
  y ~ dnorm(si, 1.0E-14)
  z ~ dnorm(s * (i - 1), 1.0E-14)
}
E
echo '{"i": 70000, "y": 4.3E9, "z": 4.29E9}' >meet.json
status 0 "$GBMC" -O 1 meet.gbm -o meet
status 0 ./meet check --data meet.json
status 0 ./meet --data meet.json --quiet --draws 4000 --seed 1 --summary meet.out.json
python3 - <<'E' || fail 'products of counts'
import json, math
def logp(s):
    return (s * math.log(60000) - math.lgamma(s + 1) -
            5e-15 * ((s * 70000 - 4.3e9)**2 + (s * 69999 - 4.29e9)**2))
all = range(59000, 63000)
most = max(map(logp, all))
weight = [math.exp(logp(s) - most) for s in all]
mean = sum(s * w for s, w in zip(all, weight)) / sum(weight)
r = json.load(open("meet.out.json"))["parameters"]
for name, exact in (("s", mean), ("si", 7e4 * mean), ("m", 1e5 * mean)):
    print(name, exact, r[name])
    assert abs(r[name]["mean"] - exact) < 4.5 * r[name]["mcse"]
E
