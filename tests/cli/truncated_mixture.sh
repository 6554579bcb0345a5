#!/usr/bin/env bash
# Draws of a mixture between bounds, however little mass there is: a component
# by its mass there, and moments as by quadrature.
source "$GBM_ROOT/tests/cli/lib"
/usr/bin/env python3 -c 'import numpy' 2>.err || exit 77

cat >mixture.gbm <<'E'
model {
  for (i in 1:4) {
    above[i] ~ dnormmix(mu[], tau[], w[]) T(3.36, )
    far[i] ~ dnormmix(mu[], tau[], w[]) T(40, 41)
    below[i] ~ dnormmix(mu[], tau[], w[]) T(, -2)
    within[i] ~ dnormmix(mu[], tau[], w[]) T(b[1], b[2])
  }
}
E
cat >data.json <<'E'
{"mu": [-1, -1.4, 3], "tau": [1.1, 0.8, 4], "w": [0.8, 1.3, 0],
 "b": [-1.2, 0.5]}
E
status 0 "$GBMC" mixture.gbm -o mixture
status 0 ./mixture --data data.json --chains 4 --warmup 10 --draws 4000 \
    --seed 7 --quiet --summary fit.json
/usr/bin/env python3 - <<'E' || fail "not the moments between the bounds"
import json
import numpy as np
data, fit = json.load(open("data.json")), json.load(open("fit.json"))
mu, tau, w = (np.array(data[k]) for k in ("mu", "tau", "w"))
seen, n = w > 0, 16000
for name, low, high in (("above", 3.36, 12), ("far", 40, 41),
                        ("below", -12, -2), ("within", *data["b"])):
    x = np.linspace(low, high, 100001)
    terms = (np.log(w[seen]) + 0.5 * np.log(tau[seen])
             - 0.5 * tau[seen] * (x[:, None] - mu[seen]) ** 2)
    p = np.exp(terms - terms.max()).sum(1)
    p /= p.sum()
    mean = (p * x).sum()
    sd = (p * (x - mean) ** 2).sum() ** 0.5
    for i in range(1, 5):
        r = fit["parameters"][f"{name}[{i}]"]
        assert abs(r["mean"] - mean) < 4.5 * sd / n ** 0.5, (name, r, mean)
        assert abs(r["sd"] / sd - 1) < 0.06, (name, r, sd)
E
exit 0
# Rows of one mixture are added in blocks, by what all have in common.
cat >rows.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dnormmix(mu[], tau[], w[]) }
  for (k in 1:2) { mu[k] ~ dnorm(0, 1); w[k] <- abs(q - k + 1) }
  q ~ dunif(0, 1)
}
E
status 0 "$GBMC" --emit=c rows.gbm
prints 'GBM_ADD_OF_ROW'
