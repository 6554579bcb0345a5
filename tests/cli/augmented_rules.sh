#!/usr/bin/env bash
# What a distribution requires of a parameter holds where an augmentation stands in
# its place, too: a scale with a prior on both sides of 0 is drawn above 0.
source "$GBM_ROOT/tests/cli/lib"

cat >scale.gbm <<'E'
model {
  for (i in 1:3) { x[i] ~ student_t(3, 1, s)  y[i] ~ dnorm(x[i], 10) }
  s ~ dnorm(0, 1)
}
E
echo '{"y": [1.1, 0.7, 1.3]}' >scale.json
status 0 "$GBMC" -O1 scale.gbm -o scale
status 0 ./scale info
prints 'augmented'
status 0 ./scale check --data scale.json --quiet
status 0 ./scale --data scale.json --device cpu --quiet --draws 10000 --seed 1 --summary scale.s
cat >exact.py <<'E'
import json
import numpy as np
s = np.linspace(0.0025, 6, 1200)[:, None]
x = np.linspace(-4, 6, 2001)
w = np.exp(-0.5 * s[:, 0]**2)
for y in json.load(open("scale.json"))["y"]:
    w *= ((1 + ((x - 1) / s)**2 / 3)**-2 / s * np.exp(-5 * (y - x)**2)).sum(1)
w /= w.sum()
f = json.load(open("scale.s"))["parameters"]["s"]
mean = (w * s[:, 0]).sum()
print(mean, f)
assert f["q5"] > 0 and abs(f["mean"] - mean) < 4 * f["mcse"] + 0.003
E
status 0 python3 exact.py
