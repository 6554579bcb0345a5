#!/usr/bin/env bash
# Cut points that are parameters, between which latent values lie: these are
# integrated out of the cut points' steps. Posteriors by quadrature, where one
# category is empty, a value is known and a category missing; the checks; that
# they mix.
source "$GBM_ROOT/tests/cli/lib"

cat >iid.gbm <<'M'
model {
  for (i in 1:n) {
    y[i] ~ dinterval(z[i], cut[1:3])
    z[i] ~ dnorm(beta, 1)
  }
  for (k in 1:3) { cut[k] ~ dnorm(0, 1) }
  beta ~ dnorm(0, 0.1)
}
M
status 0 "$GBMC" --explain iid.gbm
prints 'cut .* slice, z integrated out'
status 0 "$GBMC" iid.gbm -o iid

# agree SAMPLER DATA NAME=MEAN=SD ...: within 5 standard errors, and 0.03 of the
# spread
agree() {
    local sampler=$1 data=$2
    shift 2
    status 0 "./$sampler" check --data "$data"
    prints 'cut +slice .*pass'
    status 0 "./$sampler" --data "$data" --device cpu --chains 4 --draws 40000 \
        --monitor cut,beta --quiet --summary iid.json
    python3 - "$@" >.out <<'E' || fail "the posterior of $data"
import json
import sys
found = json.load(open("iid.json"))["parameters"]
bad = False
for name, mean, sd in (a.split("=") for a in sys.argv[1:]):
    p = found[name]
    z = (p["mean"] - float(mean)) / p["mcse"]
    print(name, p["mean"], mean, "z", z, p["sd"], sd)
    bad = bad or abs(z) > 5 or p["mcse"] > 0.03 * p["sd"] \
        or abs(p["sd"] / float(sd) - 1) > 0.025
sys.exit(bad)
E
}
echo '{"n": 6, "y": [0, 0, 1, 1, 3, 3]}' >iid_data.json
agree iid iid_data.json 'cut[1]=-0.6638=0.6337' 'cut[2]=0.1909=0.5946' \
    'cut[3]=0.4872=0.6077' 'beta=-0.1424=0.7201'
echo '{"n": 6, "y": [0, null, 1, 1, 3, 3],
  "z": [-0.3, null, null, null, null, null]}' >known.json
agree iid known.json 'cut[1]=-0.0211=0.2410' 'cut[2]=0.7584=0.3991' \
    'cut[3]=1.0509=0.4446' 'beta=0.7981=0.5409'

# ---- latent values whose prior is a normal given what an augmentation added

sed 's/dnorm(beta, 1)/dlogis(beta, 1)/' iid.gbm >logistic.gbm
status 0 "$GBMC" logistic.gbm -o logistic
agree logistic iid_data.json 'cut[1]=-0.9170=0.6851' 'cut[2]=0.2563=0.6170' \
    'cut[3]=0.6822=0.6446' 'beta=-0.2153=0.9426'

# ---- a row of cut points for each group, reached by a loop or by an index

cat >rows.gbm <<'M'
model {
  for (g in 1:G) {
    for (i in 1:n) {
      y[g, i] ~ dinterval(z[g, i], cut[g, 1:K])
      z[g, i] ~ dnorm(beta[g], 1)
    }
    for (k in 1:max(2, K)) { cut[g, k] ~ dnorm(0, 1) }
    beta[g] ~ dnorm(0, 0.1)
  }
}
M
status 0 "$GBMC" rows.gbm -o rows
echo '{"G": 2, "n": 6, "K": 3, "y": [[0, 0, 1, 1, 3, 3], [0, null, 1, 1, 3, 3]],
  "z": [[null, null, null, null, null, null],
        [-0.3, null, null, null, null, null]]}' >rows.json
agree rows rows.json 'cut[1,1]=-0.6638=0.6337' 'cut[1,2]=0.1909=0.5946' \
    'cut[1,3]=0.4872=0.6077' 'beta[1]=-0.1424=0.7201' \
    'cut[2,1]=-0.0211=0.2410' 'cut[2,2]=0.7584=0.3991' \
    'cut[2,3]=1.0509=0.4446' 'beta[2]=0.7981=0.5409'

cat >groups.gbm <<'M'
model {
  for (i in 1:n) {
    y[i] ~ dinterval(z[i], cut[group[i], 1:3])
    z[i] ~ dnorm(beta[group[i]], 1)
  }
  for (g in 1:2) {
    for (k in 1:3) { cut[g, k] ~ dnorm(0, 1) }
    beta[g] ~ dnorm(0, 0.1)
  }
}
M
status 0 "$GBMC" groups.gbm -o groups
echo '{"n": 12, "y": [0, 0, 0, null, 1, 1, 1, 1, 3, 3, 3, 3],
  "group": [1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2],
  "z": [null, -0.3, null, null, null, null, null, null, null, null, null, null]
  }' >groups.json
agree groups groups.json 'cut[1,1]=-0.6638=0.6337' 'cut[1,2]=0.1909=0.5946' \
    'cut[1,3]=0.4872=0.6077' 'beta[1]=-0.1424=0.7201' \
    'cut[2,1]=-0.0211=0.2410' 'cut[2,2]=0.7584=0.3991' \
    'cut[2,3]=1.0509=0.4446' 'beta[2]=0.7981=0.5409'

# ---- cut points by sums: a hundred and fifty values mix

cat >sums.gbm <<'M'
model {
  for (i in 1:n) {
    y[i] ~ dinterval(z[i], c[1:3])
    z[i] ~ dnorm(beta * x[i], 1)
  }
  c[1] <- first
  for (k in 2:3) { c[k] <- c[k-1] + step[k] }
  for (k in 2:3) { step[k] ~ dexp(1) }
  first ~ dnorm(0, 0.1)
  beta ~ dnorm(0, 0.1)
}
M
python3 -c 'import json, random
g = random.Random(4)
x = [round(g.gauss(0, 1), 2) for _ in range(150)]
z = [0.8 * v + g.gauss(0, 1) for v in x]
json.dump({"n": 150, "x": x, "y": [(v > -0.8) + (v > 0.1) + (v > 0.9) for v in z]},
          open("sums.json", "w"))'
sed 's/dnorm(beta \* x\[i\], 1)/dlogis(beta * x[i], 1)/' sums.gbm >logits.gbm
for model in sums logits; do
    status 0 "$GBMC" $model.gbm -o $model
    status 0 ./$model --data sums.json --device cpu --chains 4 --draws 2000 --quiet \
        --monitor first,step,beta --summary sums_summary.json
    python3 - >.out <<'E' || fail "cut points by sums mix badly: $model"
import json
import sys
found = json.load(open("sums_summary.json"))["parameters"]
print({k: p["ess_bulk"] for k, p in found.items()})
sys.exit(any(p["ess_bulk"] < 1000 for p in found.values()))
E
done

# the self-check has something to compare, though cut points often leave values
# where they cannot be until these are drawn
for seed in 1 2 3; do
    status 0 ./iid --data iid_data.json --device cpu --draws 10 --seed $seed
    grep -q 'self-check' .err && fail "no self-check (seed $seed)"
done
device_draws_as_host iid iid_data.json
device_draws_as_host sums sums.json

# ---- cut points that do not ascend are no data

cat >given.gbm <<'M'
model {
  for (i in 1:n) {
    y[i] ~ dinterval(z[i], cut[i, 1:2])
    z[i] ~ dnorm(0, 1)
  }
}
M
echo '{"n": 2, "y": [1, 1], "cut": [[0, 2], [2, 1]]}' >given.json
status 0 "$GBMC" given.gbm -o given
status 1 ./given --data given.json
says 'the parameters of dinterval at y\[2\] break the rule'
