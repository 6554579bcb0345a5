#!/usr/bin/env bash
# Truncated likelihoods whose parameters may go where the mass between the
# bounds underflows: no chain is caught there, and the posterior is what
# integration over a grid says.
source "$GBM_ROOT/tests/cli/lib"

cat >data.R <<'END'
y <- c(4.1,6.2,5.5,3.9,7.3,6.6,5.0,4.7,5.9,6.1)
END
/usr/bin/env python3 -c 'import numpy' 2>.err || exit 77

cat >compare.py <<'END'
"""compare.py NAME SUMMARY: means and standard deviations of the posterior of
(mu, sigma), by sums over a grid, against the sampler's."""
import json, math, sys
import numpy as np
y = np.array([4.1, 6.2, 5.5, 3.9, 7.3, 6.6, 5.0, 4.7, 5.9, 6.1])
lgamma = np.vectorize(math.lgamma)
X = np.geomspace(1, 100, 401)   # for the mass between the bounds
W = np.full(401, 2.0); W[1::2] = 4; W[0] = W[-1] = 1   # Simpson, in log x
LOG_W = np.log(W * math.log(100) / 400 / 3) + np.log(X)
name, summary = sys.argv[1:]
DENSITY = {  # up to factors that the mass has too
    "lnorm": lambda x, m, s: -0.5 * ((np.log(x) - m) / s) ** 2 - np.log(x),
    "ddexp": lambda x, m, s: -abs(x - m) / s,
    "logis": lambda x, m, s: -abs(x - m) / s**2
        - 2 * np.log1p(np.exp(-abs(x - m) / s**2)),
    "gamma": lambda x, m, s: (m - 1) * np.log(x) - s * x}[name]
precision = 1e-4 if name == "lnorm" else 0.04
if name == "gamma":
    mus = np.arange(0.05, 150, 0.1)
    prior = -0.001 * mus
else:
    mus = np.unique(np.concatenate([np.arange(-60, 0, 0.15),
                                    np.arange(0, 12, 0.04),
                                    np.arange(12, 30, 0.3)]))
    prior = -0.5 * precision * mus**2
sigmas = np.arange(0.02, 26, 0.06)
width = np.gradient(mus)
log_p = np.empty((len(mus), len(sigmas)))
for j, s in enumerate(sigmas):
    f = DENSITY(X[None, :], mus[:, None], s) + LOG_W
    top = f.max(1)
    mass = top + np.log(np.exp(f - top[:, None]).sum(1))
    log_p[:, j] = prior - s + DENSITY(y[None, :], mus[:, None], s).sum(1) \
        - len(y) * mass
p = np.exp(log_p - log_p.max()) * width[:, None]
p /= p.sum()
rows = json.load(open(summary))["parameters"]
bad = 0
for name, grid, axis in (("mu", mus, 1), ("sigma", sigmas, 0)):
    q = p.sum(axis)
    mean = (q * grid).sum()
    sd = math.sqrt((q * (grid - mean) ** 2).sum())
    row = rows[name]
    z = (row["mean"] - mean) / row["mcse"]
    print(name, "mean", row["mean"], "not" if abs(z) > 4.5 else "is", mean,
          "z", z, "sd", row["sd"], sd)
    bad += abs(z) > 4.5 or not 0.85 < row["sd"] / sd < 1.15
sys.exit(bad)
END

while IFS=: read -r name likelihood prior; do
    cat >"$name.gbm" <<END
model {
  for (i in 1:10) { y[i] ~ ${likelihood}T(1, 100) }
  mu ~ $prior
  sigma ~ dexp(1)
}
END
    status 0 "$GBMC" "$name.gbm" -o "$name"
    status 0 "./$name" --data data.R --device cpu --seed 1 --chains 8 \
        --warmup 500 --draws 5000 --quiet --summary "$name.json"
    /usr/bin/env python3 compare.py "$name" "$name.json" >.out 2>.err ||
        fail "$name: not the posterior"
    cat .out
done <<'END'
lnorm:dlnorm(mu, pow(sigma, -2)):dnorm(0, 0.0001)
ddexp:ddexp(mu, 1 / sigma):dnorm(0, 0.04)
logis:dlogis(mu, pow(sigma, -2)):dnorm(0, 0.04)
gamma:dgamma(mu, sigma):dgamma(1, 0.001)
END

# Scales that the data push against an end of their support: they are drawn as
# roots of gamma variables between powers of the ends, and rounding must not put
# them beyond, where the density is 0.
cat >ends.gbm <<'EOF'
model {
  for (i in 1:6) {
    y[i] ~ dnorm(0, 1 / s[i]^2)
    s[i] ~ dunif(0.1, upper[i])
  }
}
EOF
cat >ends.R <<'EOF'
upper <- c(1.9, 0.7, 1.1, 2.3, 3.3, 4.7)
y <- c(1e12, 1.1e12, 1.2e12, 1.3e12, 1.4e12, 1.5e12)
EOF
status 0 "$GBMC" ends.gbm -o ends
status 0 ./ends --data ends.R --device cpu --quiet --warmup 10 --draws 10 \
    --lp --out ends.csv
grep -q -e '^-inf,' ends_?.csv && fail "beyond the ends"

# Times beyond a cut whose logs are vague: what overflows is no number that
# others can be drawn given.
cat >late.gbm <<'EOF'
model {
  for (i in 1:4) {
    late[i] ~ dinterval(t[i], 2)
    t[i] ~ dlnorm(mu, 1e-12)
  }
  mu ~ dnorm(0, 1)
}
EOF
echo '{"late": [1, 1, 1, 1]}' >late.json
status 0 "$GBMC" late.gbm -o late
status 0 ./late --data late.json --quiet --warmup 10 --draws 10 --lp \
    --out late.csv
grep -hv '^#' late_?.csv | grep -qE 'inf|nan' && fail "not finite"

# Bounds that are earlier elements of the same array: what is seen behind an
# element bounds it, so it is not drawn forward; what nothing seen follows is.
# The means are those of a quadrature.
cat >rising.gbm <<'EOF'
model {
  x[1] ~ dnorm(0, 1)
  for (t in 2:4) { x[t] ~ dnorm(0, 1)T(x[t - 1], ) }
}
EOF
echo '{"x": [null, null, -1, null]}' >rising.json
status 0 "$GBMC" rising.gbm -o rising
status 0 ./rising --data rising.json --device cpu --seed 1 --draws 20000 \
    --quiet --summary rising_out.json
/usr/bin/env python3 - <<'EOF' || fail "not bounded by what is seen"
import json
means = {"x[1]": -1.7359, "x[2]": -1.2706, "x[4]": 0.2876}
found = json.load(open("rising_out.json"))["parameters"]
for name, mean in means.items():
    k = found[name]
    print(name, k["mean"], mean)
    assert abs(k["mean"] - mean) < 5 * k["mcse"], name
EOF
exit 0
