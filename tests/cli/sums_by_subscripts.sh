#!/usr/bin/env bash
# Observed sums whose summands stand at subscripts that are arithmetic or data:
# whether one is in two sums is seen when data are read. Counts against all
# states summed up, normals against their exact means.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'M'
model {
  for (i in 1:3) { T[i] ~ dsum(x[2 * i - 1], x[2 * i]) }
  for (j in 1:6) { x[j] ~ dpois(l[j]);  y[j] ~ dbin(0.5, x[j]) }
  for (k in 1:2) { S[k] ~ dsum(u[at[k]], v[at[k]], u[5 - at[k]]) }
  for (j in 1:4) { u[j] ~ dnorm(j, 1);  v[j] ~ dnorm(0, 0.5) }
}
M
echo '{"T": [7, 3, 9], "l": [2, 3, 1, 4, 5, 2], "y": [1, null, 0, 1, 3, 2],
       "S": [4, 9], "at": [4, 2]}' >data.json
cat >compare.py <<'E2'
import json
import math

d = json.load(open("data.json"))
fit = json.load(open("fit.json"))["parameters"]
want = {}
for i in range(3):
    total, mean = 0, 0
    for a in range(d["T"][i] + 1):
        w = 1
        for j, x in ((2 * i, a), (2 * i + 1, d["T"][i] - a)):
            w *= d["l"][j] ** x / math.factorial(x)
            if d["y"][j] is not None:
                w *= math.comb(x, d["y"][j]) * 0.5 ** x
        total, mean = total + w, mean + w * a
    want[f"x[{2 * i + 1}]"] = mean / total
    want[f"x[{2 * i + 2}]"] = d["T"][i] - mean / total
for at, s in zip(d["at"], d["S"]):  # variances 1, 2, 1 share what is left
    left = (s - 5) / 4
    want.update({f"u[{at}]": at + left, f"v[{at}]": 2 * left,
                 f"u[{5 - at}]": 5 - at + left})
for name, m in want.items():
    f = fit[name]
    if abs(f["mean"] - m) > 0.06 or f["rhat"] > 1.02:
        print(f"{name}: {f['mean']}, R-hat {f['rhat']}, and not {m}")
E2
status 0 "$GBMC" model.gbm -o model
status 0 ./model check --data data.json
status 0 ./model --data data.json --monitor x,u,v --quiet --draws 5000 \
    --summary fit.json
python3 compare.py >log || fail compare
[ ! -s log ] || fail "$(cat log)"

# One that two sums have, as the data lead to it twice.
sed 's/\[4, 2\]/[4, 1]/' data.json >twice.json
status 1 ./model --data twice.json --quiet
says 'model.gbm:4:20: .*u\[[14]\] is in several observed sums'

# One that all sums have, whatever the data.
cat >all.gbm <<'M'
model {
  for (k in 1:2) { S[k] ~ dsum(u[at[1]], u[at[k]]) }
  for (j in 1:4) { u[j] ~ dnorm(j, 1) }
}
M
status 1 "$GBMC" all.gbm -o all
says 'all.gbm:2:20: .*u\[at\[1\]\] is in several observed sums'

device_draws_as_host model data.json
