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

# A row of 10^12 beside others of 1000 in columns that are nearly the same: the
# precision of the block, rounded, says little of what the others tell, and the
# check asks no more of it.
cat >columns.gbm <<'EOF'
model {
  for (i in 1:n) {
    y[i] ~ dnorm(b[1] * size[i] + b[2] * size[i] * x[i] + b[3], tau)
    size[i] ~ dnorm(m[i], 1)
  }
  for (k in 1:3) { b[k] ~ dnorm(0, 0.1) }
  tau ~ dgamma(2, 2)
}
EOF
echo '{"n": 12, "x": [1, 1.1, 1.2, 1, 1.1, 1.2, 1, 1.1, 1.2, 1, 1.1, 1.2],
       "y": [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1],
       "m": [-2000, -1000, 0, 1000, 2000, -2000, -1000, 1e12, 1000, 2000,
             -2000, -1000]}' >columns.json
status 0 "$GBMC" -O1 columns.gbm -o columns
for seed in 1 2 3 4; do
    status 0 ./columns check --data columns.json --seed $seed
    prints '^b +dense Gaussian block +[1-9][0-9]* .* pass'
done
