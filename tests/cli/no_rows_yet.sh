#!/usr/bin/env bash
# A number is drawn with a node integrated out that stands beside it in the same
# likelihood, and which rows have the node is random: where none has it, its
# full conditional is its prior, and some of the terms of the family that it is
# of otherwise are 0. Each row of the table is the node's prior and what the data
# are of; the conditional of the number is the joint density's.
source "$GBM_ROOT/tests/cli/lib"

table='dinvgamma(4.5, 0.5)|dnorm(0, AT)|real
dgamma(3, 2)|dnorm(0, 1 / AT)|real
half_normal(2)|normal(0, AT)|real
rayleigh(2)|normal(0, AT)|real
gig(0.5, 1, 2)|dnorm(0, AT)|real
dgamma(3, 2)|dnorm(0, AT)|real
dinvgamma(3, 2)|dpois(AT)|count
dgamma(3, 2)|dpois(AT)|count
dexp(2)|dexp(AT)|positive
dlnorm(0, 1)|dlnorm(log(AT), 2)|positive
dgamma(3, 2)|dweib(1.5, AT)|positive
dgamma(3, 2)|dpar(AT, 0.05)|positive'

cat >model.py <<'E2'
import json
import sys

values = {"real": [-1.4, -2.5, 2.4, 0.7, 0.4, -1.3],
          "count": [3, 0, 2, 0, 1, 4],
          "positive": [1.2, 0.4, 3.1, 0.8, 2.2, 0.1]}
data, lines = {}, ["model {", "sigma ~ half_t(4, 0.89)"]
for i, row in enumerate(sys.argv[1].splitlines()):
    prior, likelihood, of = row.split("|")
    at = f"ifelse(z{i}[g] > 0, v{i}, m{i} + 1)"
    data[f"y{i}"] = values[of]
    lines += [f"v{i} ~ {prior}", f"m{i} ~ dgamma(4, 2)", "for (g in 1:6) {",
              f"y{i}[g] ~ {likelihood.replace('AT', at)}",
              f"z{i}[g] ~ dpois(sigma)", "}"]
open("model.gbm", "w").write("\n".join(lines + ["}", ""]))
json.dump(data, open("data.json", "w"))
E2
python3 model.py "$table" || fail "no model"
status 0 "$GBMC" model.gbm -o sampler --explain
rows=$(grep -c '' <<<"$table")
[ "$(grep -c 'v[0-9]* integrated out  ' .out)" = "$rows" ] ||
    fail "not all nodes are integrated out"
status 0 "$GBMC" model.gbm -o sampler
for seed in 1 9; do
    status 0 ./sampler check --data data.json --seed $seed
done
