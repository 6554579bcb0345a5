#!/usr/bin/env bash
# --method smc where the data are possible at none of the draws from the prior, as
# animals that were seen must be there: particles begin where chains do. The
# posterior is that by quadrature; the evidence is said not to be known; Ctrl-C
# and threads change nothing.
source "$GBM_ROOT/tests/cli/lib"

cat >seen.gbm <<'M'
model {
  for (i in 1:M) {
    z[i] ~ dbern(0.3)
    y[i] ~ dbin(z[i] * p, J)
  }
  p ~ dbeta(1, 1)
  N <- sum(z[])
}
M
cat >exact.py <<'E'
import json, sys
import numpy as np
J, y = 5, [1] * 14 + [2] * 9 + [3] * 2 + [0] * 25
if sys.argv[1] == "make":
    sys.exit(json.dump({"M": len(y), "J": J, "y": y}, open("data.json", "w")))
p = (np.arange(4000) + 0.5) / 4000
zeros = y.count(0)
unseen = 0.3 * (1 - p) ** J
log = sum(y) * np.log(p) + (J * (len(y) - zeros) - sum(y)) * np.log(1 - p) \
    + zeros * np.log(0.7 + unseen)
w = np.exp(log - log.max())
w /= w.sum()
exact = {"p": (w @ p, (w @ p**2 - (w @ p) ** 2) ** 0.5),
         "N": (len(y) - zeros + zeros * (w @ (unseen / (0.7 + unseen))), None)}
found = json.load(open("smc.json"))
assert found["log_evidence"]["value"] is None, found["log_evidence"]
print(found["parameters"], file=open(sys.argv[1] + ".txt", "w"))
for k, (mean, sd) in exact.items():
    f = found["parameters"][k]
    assert abs(f["mean"] - mean) < 4 * f["mcse"], (k, f, mean)
    assert not sd or abs(f["sd"] / sd - 1) < 0.1, (k, f, sd)
E
python3 exact.py make
status 0 "$GBMC" -O 1 --with=powers seen.gbm -o seen
for threads in 1 2; do
    status 0 ./seen --data data.json --method smc --device cpu --threads $threads \
        --particles 400 --monitor p,N --summary smc.json
    prints 'log evidence: not known'
    python3 exact.py $threads >.out 2>&1 || fail "posterior"
done
same 1.txt 2.txt
status 1 "$(dirname "$GBMC")/gbm" compare smc.json smc.json
says 'log evidence is not known'
