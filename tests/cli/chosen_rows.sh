#!/usr/bin/env bash
# Rows that a joint block reads, or leaves out, as a number says that is drawn: the
# posterior by sums over a grid, and with powers.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'M'
model {
  b ~ dnorm(0.3, 1.4)
  for (j in 1:2) { z[j] ~ dnorm(-0.3, 1.3) }
  z[3] <- b
  for (c in 1:4) { n[c] ~ dpois(exp(z[1] + z[2] + z[3])) }
  for (i in 1:3) { y[i] ~ dnorm(ifelse(m == 1, z[i] + b, 0), 1.5) }
  m ~ dcat(p[])
  one <- equals(m, 1)
}
M
echo '{"p": [0.5, 0.5], "y": [-0.5, 0.3, 1.6], "n": [3, 1, 2, 2]}' >data.json
status 0 "$GBMC" --explain model.gbm
prints 'z\[j\], b .* elliptical slice of a joint block'
status 0 "$GBMC" -O1 model.gbm -o model
status 0 ./model check --data data.json --device cpu
status 0 ./model --data data.json --device cpu --draws 10000 --monitor one,b,z \
    --summary fit.json --quiet
python3 - >.out <<'E2' || fail "another posterior"
import json
import sys
import numpy as np

d = json.load(open("data.json"))
at = np.linspace(-5, 5, 161)
a, b, c = np.meshgrid(at, at, at, indexing="ij")
eta = a + b + c
prior = -0.65 * (a + 0.3)**2 - 0.65 * (b + 0.3)**2 - 0.7 * (c - 0.3)**2
prior += sum(d["n"]) * eta - len(d["n"]) * np.exp(eta)
read = sum(-0.75 * (y - z - c)**2 for y, z in zip(d["y"], (a, b, c)))
both = [np.exp(prior + read), np.exp(prior - 0.75 * sum(y * y for y in d["y"]))]
total = both[0].sum() + both[1].sum()
exact = {"one": both[0].sum() / total}
for name, x in (("z[1]", a), ("z[2]", b), ("b", c)):
    exact[name] = sum((w * x).sum() for w in both) / total
found = json.load(open("fit.json"))["parameters"]
bad = not 0.1 < exact["one"] < 0.9
for name, mean in exact.items():
    f = found[name]
    z = (f["mean"] - mean) / f["mcse"]
    print(name, mean, f["mean"], "z", z, "ess", f["ess_bulk"])
    bad = bad or not abs(z) < 4 or not f["ess_bulk"] > 500
sys.exit(bad)
E2
status 0 "$GBMC" -O1 --with=powers model.gbm -o powers
status 0 ./powers check --data data.json --device cpu
