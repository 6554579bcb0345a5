#!/usr/bin/env bash
# Rows that are all observed are summed without a test, by the vector unit, and
# rows of a slice in whole blocks. With some missing the sums are those of the
# others, and with any number of rows those of all: the joint density says.
source "$GBM_ROOT/tests/cli/lib"

cat >curves.bug <<'END'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(a - b * pow(g, x[i]), tau)
    z[i] ~ dnorm(exp(h * x[i]), tau)
  }
  a ~ dnorm(0, 0.01)
  b ~ dnorm(0, 0.01)
  g ~ dunif(0.5, 1)
  h ~ dnorm(0, 1)
  tau ~ dgamma(1, 1)
}
END
"$GBMC" --emit=c curves.bug >curves.c || fail "it does not compile"
grep -q 'if (!s->y_v_seen && s->y_v_stride == 0) {' curves.c ||
    fail "rows that are all observed are tested one by one"
grep -q 'from += GBM_BLOCK_ROWS' curves.c || fail "no blocks of rows"
status 0 "$GBMC" curves.bug -o curves
for n in 1 2 7 8 9 19; do
    for missing in 0 1; do
        python3 - $n $missing >data.json <<'END'
import json, sys
n, missing = int(sys.argv[1]), int(sys.argv[2])
def seen(i, v):
    return None if missing and i % 3 == 2 else v
print(json.dumps({"N": n, "x": [0.3 + i / 7 for i in range(n)],
                  "y": [seen(i, 1 + 0.1 * i) for i in range(n)],
                  "z": [seen(i + 1, 2 - 0.1 * i) for i in range(n)]}))
END
        status 0 ./curves check --data data.json
    done
done
