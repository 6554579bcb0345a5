#!/usr/bin/env bash
# A count with many possible values is not tried value by value: x, given y, is
# y plus a binomial of n - y with probability 0.15 / 0.85.
source "$GBM_ROOT/tests/cli/lib"
cat >count.bug <<'END'
model {
  x ~ dbin(0.3, n)
  y ~ dbin(0.5, x)
}
END
echo '{"n": 20000000, "y": 3000000}' >data.json # mean 6e6, sd 1572
status 0 "$GBMC" count.bug -o count
status 0 ./count --data data.json --warmup 500 --draws 4000 --threads 1 \
    --seed 3 --summary out.json
python3 - <<'END' || fail "not the posterior"
import json
x = json.load(open("out.json"))["parameters"]["x"]
assert abs(x["mean"] - 6e6) < 4 * x["mcse"] + 1, x
assert abs(x["sd"] / 1571.8 - 1) < 0.15, x
END
