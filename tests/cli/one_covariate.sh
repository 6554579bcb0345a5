#!/usr/bin/env bash
# A regression on a list of one covariate: its column is centred where there are
# rows, so that the loop over the list ends at a condition, 1 or 0.
source "$GBM_ROOT/tests/cli/lib"

cat >one.gbm <<'END'
model {
  for (j in 1:1) {
    b[j] ~ dnorm(0, 2.4)
  }
  for (h in 1:N) {
    y[h] ~ dnorm(g + inprod(b[1:1], X[h,1:1]), tau)
  }
  g ~ dnorm(0, 0.9)
  tau ~ dgamma(2.4, 2.4)
}
END
cat >one.json <<'END'
{"N": 4, "g": 0.14, "X": [[0.3], [-0.4], [-0.1], [1.2]],
 "y": [-0.2, 1.2, 0.4, -0.7]}
END
status 0 "$GBMC" one.gbm -o one
status 0 timeout 60 ./one check --data one.json
prints '^b, g .*pass'
prints '^tau .*pass'
