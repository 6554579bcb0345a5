#!/usr/bin/env bash
# 0s and 1s of a row that exclude each other trade values (sampler/trade.c): when
# animals arrive, in closed form; the joint distribution test; and no such move
# where rows read each other, or cells do not exclude each other.
source "$GBM_ROOT/tests/cli/lib"
lacks() { if grep -qE -- "$1" .out; then fail "output like: $1"; fi; }

cat >arrival.gbm <<'E'
model {
  for (i in 1:n) {
    z[i, 1] ~ dbern(nu[1])
    y[i, 1] ~ dbern(p * z[i, 1])
    for (t in 2:T) {
      away[i, t - 1] <- 1 - z[i, t - 1]
      z[i, t] ~ dbern(nu[t] * prod(away[i, 1:(t - 1)]))
      y[i, t] ~ dbern(p * sum(z[i, 1:t]))
    }
  }
}
E
echo '{"n": 4, "T": 4, "p": 0.4, "nu": [0.2, 0.3, 0.5, 1],
  "y": [[0, 0, 0, 1], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1]]}' >arrival.json
status 0 "$GBMC" -O1 arrival.gbm -o arrival
status 0 ./arrival info
prints ': two of a row trade values'
status 0 ./arrival check --data arrival.json --quiet
status 0 ./arrival --data arrival.json --device cpu --quiet --draws 20000 --seed 1 \
    --monitor z --summary arrival.s
cat >exact.py <<'E'
import json
d = json.load(open("arrival.json"))
p, nu = d["p"], d["nu"]
found = json.load(open("arrival.s"))["parameters"]
for i, y in enumerate(d["y"]):
    weights, left = [], 1
    for t in range(4):
        w = left * nu[t]
        left *= 1 - nu[t]
        for s in range(4):
            here = p if s >= t else 0
            w *= here if y[s] else 1 - here
        weights.append(w)
    for t, w in enumerate(weights):
        exact = w / sum(weights)
        f = found[f"z[{i + 1},{t + 1}]"]
        error = (exact * (1 - exact) / f["ess_bulk"])**0.5 if f["ess_bulk"] else 0
        print(i + 1, t + 1, exact, f["mean"], error)
        assert abs(f["mean"] - exact) <= 4 * error + 1e-9
        assert not 0 < exact < 1 or f["ess_bulk"] > 3000
E
status 0 python3 exact.py
device_draws_as_host arrival arrival.json

# the other way round, with parameters that are random
cat >random.gbm <<'E'
model {
  for (i in 1:n) {
    z[1, i] ~ dbern(w[1])
    for (t in 2:T) { z[t, i] ~ dbern(w[t] * (1 - sum(z[1:(t - 1), i]))) }
    for (t in 1:T) { y[t, i] ~ dbern(p * z[t, i] + 0.1) }
  }
  for (t in 1:T) { w[t] ~ dbeta(2, 2) }
  p ~ dunif(0, 0.9)
}
E
echo '{"n": 3, "T": 3, "y": [[0, 1, 0], [1, 0, 0], [0, 1, 1]]}' >random.json
status 0 "$GBMC" -O1 random.gbm -o random
status 0 ./random info
prints ': two of a row trade values'
status 0 ./random check --data random.json --quiet
status 0 ./random geweke --data random.json --device cpu --draws 4000

# cells that are data stay
sed 's/"y"/"z": [[null, null, null, null], [0, 1, null, null], [null, null, null, null], [null, null, null, null]], "y"/' \
    arrival.json >held.json
status 0 ./arrival --data held.json --device cpu --quiet --draws 1000 --summary held.s
python3 -c "
import json
p = json.load(open('held.s'))['parameters']
assert all(p[f'z[2,{t}]']['mean'] == 0 for t in (3, 4)), p" || fail "data do not hold"

none() { # SED...
    sed "$@" random.gbm >other.gbm
    cmp -s random.gbm other.gbm && fail "nothing is other"
    status 0 "$GBMC" --explain other.gbm
    lacks 'trade values'
}
none 's/(1 - sum(z\[1:(t - 1), i\]))/(1 - z[t - 1, i])/'
none 's/p \* z\[t, i\] + 0.1/p * z[t, i] * z[t, 1] + 0.1/'
none 's/sum(z\[1:(t - 1), i\])/sum(z[1:(t - 1), 1])/'
