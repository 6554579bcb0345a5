#!/usr/bin/env bash
# Rows of a joint block around a fitted normal are evaluated by the vector unit,
# in whole blocks: the joint density says whether any number of them, with some
# missing too, adds up; where data are many a draw of the block is all but
# independent of the last one, if slopes and curvatures are those of the rows.
source "$GBM_ROOT/tests/cli/lib"

cat >model.bug <<'M'
model {
  for (i in 1:N) {
    y[i] ~ dpois(exp(a[g[i]] + 0.3 * x[i]))
    z[i] ~ dbin(phi(a[g[i]] - b * x[i]), n)
    cloglog(p[i]) <- b + x[i] * a[g[i]]
    w[i] ~ dbin(p[i], n)
    logit(q[i]) <- ifelse(x[i] > 0.5, b, 0.2) + a[g[i]]
    v[i] ~ dbern(q[i])
  }
  for (k in 1:2) { a[k] ~ dnorm(0, 0.1) }
  b ~ dnorm(0, 0.1)
}
M
"$GBMC" --explain model.bug | grep -q 'elliptical slice of a joint block' ||
    fail "the model tests another sampler"
"$GBMC" --emit=c model.bug | sed '/gbm_cuda/,$d' >model.c
[ "$(grep -c 'GBM_TEAM_BLOCKS(from_' model.c)" -ge 8 ] ||
    fail "rows are evaluated one by one"
status 0 "$GBMC" model.bug -o model
for n in 1 2 7 8 9 19; do
    python3 - $n >data.json <<'END'
import json, sys
n = int(sys.argv[1])
x = [0.1 + 0.9 * (i * 7 % n) / n for i in range(n)]
print(json.dumps({"N": n, "n": 400, "x": x, "g": [1 + i % 2 for i in range(n)],
                  "y": [3 + i % 3 for i in range(n)],
                  "z": [None if i % 5 == 3 else 330 - i for i in range(n)],
                  "w": [390 - i for i in range(n)],
                  "v": [i % 2 for i in range(n)]}))
END
    status 0 ./model check --data data.json
    status 0 ./model --data data.json --chains 1 --draws 4000 --seed 1 --quiet \
        --monitor b --summary s.json
    python3 -c '
import json, sys
ess = json.load(open("s.json"))["parameters"]["b"]["ess_bulk"]
sys.exit(0 if ess > 3400 else f"{ess} effective draws of 4000")' ||
        fail "the fit is poor with $n rows"
done
