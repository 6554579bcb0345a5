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

# So do sums of two of more than a thousand million, and what compares them.
cat >sums.gbm <<'E'
model {
  for (i in 1:3) { x[i] ~ dpois(L) }
  m <- x[1] + x[2]
  d <- x[1] - 3 - (0 - x[2]) + x[3]
  above <- step(x[1] + x[2] - 2000000000)
  equal <- equals(x[1] + x[2], x[3])
  other <- equals(x[1] + x[2], x[1] + x[2] + x[3])
  y ~ dnorm(x[1] + x[2], 1.0E-20)
}
E
echo '{"L": 1.2E9, "y": 2.4E9}' >sums.json
status 0 "$GBMC" -O 1 sums.gbm -o sums
status 0 ./sums check --data sums.json
status 0 ./sums --data sums.json --quiet --draws 200 --seed 1 --summary sums.out.json
python3 - <<'E' || fail 'sums of counts'
import json
r = json.load(open("sums.out.json"))["parameters"]
mean = {name: r[name]["mean"] for name in r}
print(mean)
for name, count in (("m", 2), ("d", 3)):
    assert abs(mean[name] - count * 1.2e9) < 1e6
assert (mean["above"], mean["equal"], mean["other"]) == (1, 0, 0)
E
