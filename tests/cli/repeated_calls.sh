#!/usr/bin/env bash
# Calls that stand in choices, or more than once in a row, are computed once and
# before the choices: a loop over rows is in vectors then, and draws are right.
source "$GBM_ROOT/tests/cli/lib"
cat >mixed.gbm <<'M'
model {
  for (i in 1:N) {
    one[i] ~ dbern(pr[i])
    pr[i] <- (w * dpois(y[i], a) + (1 - w) * dpois(y[i], a + b)) / 2
  }
  w ~ dbeta(2, 2)
  a ~ dgamma(2, 1)
  b ~ dgamma(8, 2)
}
M
cat >mixed.json <<'D'
{"N": 12, "one": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1],
 "y": [0, 3, 1, 2, 7, 6, 9, 2, 0, 5, 14, 1]}
D
status 0 "$GBMC" --emit=c mixed.gbm
python3 - .out <<'E' || fail "the text"
import re, sys
text = open(sys.argv[1]).read()
for x in "w", "a", "b":
    density = re.search(rf"\nGBM_INLINE real density_{x}_v\(.*?\n}}\n", text, re.S)[0]
    host = density.split("#ifdef __CUDACC__")[0]
    term = re.search(r"term = .*", host)[0]
    fill = re.search(rf"\nGBM_FN void prepare_{x}_v\(.*?\n}}\n", text, re.S)[0]
    print(x, host.count("real_exp("), fill.count("real_exp("), term)
    # two densities; none inside a choice, none twice
    assert host.count("real_exp(") + fill.count("real_exp(") == 2
    assert "real_exp(" not in term
E
agrees mixed.gbm mixed.json

# A choice by row, with a call in one case of it alone.
cat >chosen.gbm <<'M'
model {
  for (i in 1:N) {
    y[i] ~ dpois(ifelse(g[i] > 0, exp(a * x[i]), b))
  }
  a ~ dnorm(0, 1)
  b ~ dgamma(1, 1)
  c ~ dnorm(0, 1)
}
M
cat >chosen.json <<'D'
{"N": 10, "g": [0, 1, 1, 0, 1, 1, 0, 1, 1, 0],
 "x": [1, 2, 0.3, 0.1, -1, 0.5, 3, 1.5, -2, 0.2],
 "y": [2, 7, 1, 0, 1, 1, 3, 4, 0, 1]}
D
status 0 "$GBMC" --emit=c chosen.gbm
python3 - .out <<'E' || fail "the text"
import re, sys
text = open(sys.argv[1]).read()
density = re.search(r"\nGBM_INLINE real density_a_v\(.*?\n}\n", text, re.S)[0]
host = density.split("#ifdef __CUDACC__")[0]
print(host)
assert host.count("real_exp(") == 1
assert "real_exp(" not in re.search(r"term = .*", host)[0]
E
agrees chosen.gbm chosen.json
