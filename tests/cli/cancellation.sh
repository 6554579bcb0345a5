#!/usr/bin/env bash
# A level to which a series returns at a rate 1 - p, with p at 1 or near it: the
# series says nothing of the level, whose precision, in proportion to (1 - p)^2,
# must be no rounding error of 1 - 2 p + p^2, which may be negative.
source "$GBM_ROOT/tests/cli/lib"

cat >level.gbm <<'END'
model {
  p <- 1 - near
  for (t in 2:6) {
    x[t] ~ dnorm(v + p * (x[t - 1] - v), 1.7)
  }
  v ~ dunif(-2.9, 1.1)
}
END
status 0 "$GBMC" level.gbm -o level
for near in 0 1e-16 3e-16 1e-12 3e-9 7e-9; do
    echo "{\"near\": $near, \"x\": [0.09, -0.39, 0.58, -0.4, 0.91, -0.26]}" \
        >level.json
    status 0 ./level --data level.json --quiet --draws 2000 --summary level.out
    python3 - <<'PY' || fail "$near: not flat"
import json
v = json.load(open("level.out"))["parameters"]["v"]
assert abs(v["mean"] + 0.9) < 5 * v["mcse"] and abs(v["sd"] - 1.1547) < 0.05
PY
done
