#!/usr/bin/env bash
# Full conditionals that bounds alone make proper: their statistics are those of
# a family, their parameters are not. The posterior is what integration over a
# grid says; without the bounds there is none.
source "$GBM_ROOT/tests/cli/lib"
/usr/bin/env python3 -c 'import numpy' 2>.err || exit 77

cat >own.txt <<'END'
# log density c x
distribution dslope(c) {
  support real(-inf, inf)
  logdensity c * x
  draw 0
}
# by cdf and quantile between bounds
distribution dtwo(a) {
  require a > 0
  support real(0, inf)
  logdensity log(a) - a * log(1 + x) - log(1 + x)
  statistics log(1 + x): -a - 1
  solve a = -s1 - 1
  draw draw_exponential()
  cdf 1 - (1 + max(0, x))^(-a)
  quantile (1 - p)^(-1 / a) - 1
}
END
cat own.txt - >m.gbm <<'END'
model {
  beta ~ dbeta(2, 3)
  for (i in 1:5) { y[i] ~ dunif(0, beta) }
  beta2 ~ dbeta(1, 2)T(0.01, 0.9)
  t[1] ~ dslope(log(beta2))
  t[2] ~ dslope(log(1 - beta2))
  for (i in 1:9) {
    normal[i] ~ dnorm(0.2, 1)T(-1, 2)
    s[i] ~ dslope(normal[i]^2)
  }
  linear ~ dnorm(0, 1)T(-1, 2)
  t[3] ~ dslope(linear^2)
  t[4] ~ dslope(linear)
  flat ~ dnorm(0, 1)T(-1, 2)
  t[5] ~ dslope(flat^2)
  t[6] ~ dslope(flat)
  gamma ~ dgamma(0.3, 1)T(0.1, 2)
  t[7] ~ dslope(gamma)
  inverse ~ dunif(0.3, 1)
  t[8] ~ dslope(inverse^-2)
  lognormal ~ dlnorm(0, 1)T(0.2, 3)
  t[9] ~ dslope(log(lognormal)^2)
  tail ~ dnorm(0, 1)T(0, )
  t[10] ~ dslope(tail^2)
  t[11] ~ dslope(tail)
  own ~ dtwo(1)T(0.5, 4)
  t[12] ~ dslope(log(1 + own))
}
END
cat >m.json <<'END'
{"y": [0.1, 0.2, 0.05, 0.3, 0.11], "s": [2, 2, 2, 2, 2, 2, 2, 2, 2],
 "t": [-4, -3, 0.499999999999999, 5, 0.5, 1, 3, 1, 2, 0.5, -3, 4]}
END
cat >compare.py <<'END'
"""compare.py SUMMARY: means and standard deviations against sums over a grid."""
import json, sys
import numpy as np
log = np.log
CASES = {  # bounds, log density
    "beta": (0.3, 1, lambda x: -4 * log(x) + 2 * log(1 - x)),
    "beta2": (0.01, 0.9, lambda x: -4 * log(x) - 2 * log(1 - x)),
    "normal[1]": (-1, 2, lambda x: 2 * x**2 - 0.5 * (x - 0.2) ** 2),
    "normal[9]": (-1, 2, lambda x: 2 * x**2 - 0.5 * (x - 0.2) ** 2),
    "linear": (-1, 2, lambda x: 5 * x),
    "flat": (-1, 2, lambda x: x),
    "gamma": (0.1, 2, lambda x: 2 * x - 0.7 * log(x)),
    "inverse": (0.3, 1, lambda x: x**-2.0),
    "lognormal": (0.2, 3, lambda x: 1.5 * log(x) ** 2 - log(x)),
    "tail": (0, 20, lambda x: -3 * x),
    "own": (0.5, 4, lambda x: 2 * log(1 + x)),
}
rows = json.load(open(sys.argv[1]))["parameters"]
bad = 0
for name, (low, high, density) in CASES.items():
    x = low + (high - low) * (np.arange(1000000) + 0.5) / 1000000
    p = density(x)
    p = np.exp(p - p.max())
    mean = (p * x).sum() / p.sum()
    sd = np.sqrt((p * (x - mean) ** 2).sum() / p.sum())
    row = rows[name]
    z = (row["mean"] - mean) / row["mcse"]
    wrong = not abs(z) < 4.5 or not 0.9 < row["sd"] / sd < 1.1
    print(name, row["mean"], "not" if wrong else "is", mean, "sd", row["sd"],
          sd, "z", z)
    bad += wrong
sys.exit(bad)
END
status 0 "$GBMC" --explain m.gbm
for v in beta beta2 normal linear flat gamma lognormal tail; do
    grep -qE "^[0-9]+ +$v(\[i\])? .* truncated" .out || fail "$v is no draw"
done
status 0 "$GBMC" -O 1 m.gbm -o sampler
status 0 ./sampler check --data m.json
status 0 ./sampler --data m.json --draws 4000 --quiet --summary m.sum
status 0 python3 compare.py m.sum

# Uniforms that end where the one before is: none of the counts is above 0.
cat >nested.gbm <<'END'
model {
  for (h in 1:3) { a[h] ~ dbin(p[h], size[h]) }
  p[1] ~ dunif(0, 1)
  for (r in 2:3) { p[r] ~ dunif(0, p[r-1]) }
}
END
echo '{"a": [0, 0, 0], "size": [9, 3, 13]}' >nested.json
agrees nested.gbm nested.json

# An element that nothing else reads, of an array whose others are read: its
# conditional is flat, and no family has parameters for it.
cat >apart.gbm <<'END'
model {
  u[1] ~ dunif(0.45, 2.4)
  for (i in 2:7) { u[i] ~ dweib(2, 1.3) }
  b ~ dnorm(0, 1 / (u[6] * u[6]))
}
END
echo '{"b": 0.7}' >apart.json
agrees apart.gbm apart.json

# Without an end there is no posterior, and no draw.
cat own.txt - >improper.gbm <<'END'
model {
  x ~ dgamma(2, 1)T(0.5, )
  t ~ dslope(x)
}
END
echo '{"t": 3}' >improper.json
status 0 "$GBMC" -O 1 improper.gbm -o sampler
status 2 ./sampler --data improper.json --quiet
says "x of chain 1 is not a number"
