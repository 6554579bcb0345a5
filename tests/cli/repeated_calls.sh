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
text = open(sys.argv[1]).read().replace("row_", "real_")
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
text = open(sys.argv[1]).read().replace("row_", "real_")
density = re.search(r"\nGBM_INLINE real density_a_v\(.*?\n}\n", text, re.S)[0]
host = density.split("#ifdef __CUDACC__")[0]
print(host)
assert host.count("real_exp(") == 1
assert "real_exp(" not in re.search(r"term = .*", host)[0]
E
agrees chosen.gbm chosen.json

# What all terms of a sum have in common is computed before it: the largest
# element of a log of a sum of exponentials, and a sum within a sum. A group
cat >largest.gbm <<'M'
model {
  for (i in 1:N) {
    for (k in 1:K) { lp[i,k] <- log(w[k]) - (y[i] - m[k])^2 / 2 }
    ll[i] <- max(lp[i,]) + log(sum(exp(lp[i,] - max(lp[i,]))))
    one[i] ~ dloglik(ll[i])
  }
  for (g in 1:G) {
    spread[g] <- sum((y[from[g]:to[g]] - m[1] * y[from[g]] / sum(w[]))^2)
    of[g] ~ dnorm(spread[g], 1)
  }
  for (k in 1:K) { m[k] ~ dnorm(0, 0.1) }
  w[1:K] ~ ddirch(a[])
}
M
cat >largest.json <<'D'
{"N": 8, "K": 2, "G": 3, "y": [0.3, 1.2, -0.4, 0.8, 4.1, 5.2, 4.6, 3.9],
 "a": [2, 2], "one": [1, 1, 1, 1, 1, 1, 1, 1], "from": [1, 4, 6],
 "to": [3, 5, 8], "of": [2, 0.1, 9]}
D
status 0 "$GBMC" --emit=c largest.gbm
sed -n '/^GBM_INLINE real density_m_v/,/^}/p' .out >text
grep -q 'real_exp(.*gbm_max(' text && fail "the largest stands in every term"
grep -q 'gbm_max(' text || fail "no largest element"
agrees largest.gbm largest.json
