#!/usr/bin/env bash
# Vectors move with the scales of their components (sampler/carried_vector.c):
# posteriors of few vectors, where a wrong power or component shows, by
# quadrature; a plate of which the data say little mixes; and covariances that a
# scale does not multiply have no such move.
source "$GBM_ROOT/tests/cli/lib"
lacks() { if grep -qE -- "$1" .out; then fail "output like: $1"; fi; }

model() { # NAME: its covariance from stdin
    cat >"$1.gbm" <<E
model {
  for (j in 1:J) {
    v[j, 1:2] ~ dmnorm.vcov(m[j, ], S[, ])
    for (k in 1:2) {
      m[j, k] <- b + 0.1 * j
      y[j, k] ~ dnorm(v[j, k], 1)
    }
  }
  b ~ dnorm(0, 1)
  rho ~ dunif(-1, 1)
$(cat)
}
E
}
# a deviation, a precision, a variance, and the inverse of a deviation, in
# plates and apart
model deviations <<'E'
  for (k in 1:2) {
    s[k] ~ dgamma(2, 2)
    a[k] <- log(s[k])
    for (l in 1:2) { S[k, l] <- s[k] * s[l] * ifelse(k == l, 1, rho) }
  }
E
model precisions <<'E'
  for (k in 1:2) {
    s[k] ~ dgamma(2, 2)
    a[k] <- -log(s[k]) / 2
    for (l in 1:2) { S[k, l] <- ifelse(k == l, 1, rho) / sqrt(s[k] * s[l]) }
  }
E
model variances <<'E'
  for (k in 1:2) {
    S[k, k] <- s[k]
    s[k] ~ dgamma(2, 2)
    a[k] <- log(s[k]) / 2
  }
  S[1, 2] <- rho * sqrt(s[1] * s[2])
  S[2, 1] <- S[1, 2]
E
model apart <<'E'
  sa ~ dgamma(2, 2)
  sb ~ dgamma(2, 2)
  S[1, 1] <- sa^2
  S[1, 2] <- rho * sa / sb
  S[2, 1] <- S[1, 2]
  S[2, 2] <- 1 / pow(sb, 2)
  a[1] <- log(sa)
  a[2] <- -log(sb)
E
echo '{"J": 3, "y": [[0.3, -3.1], [1.5, 0.6], [-0.4, 2.2]]}' >data.json
cat >exact.py <<'E'
import sys
import numpy as np
powers = {"deviations": (1, 1), "precisions": (-0.5, -0.5),
          "variances": (0.5, 0.5), "apart": (1, -1)}[sys.argv[1]]
y = np.array([[0.3, -3.1], [1.5, 0.6], [-0.4, 2.2]]) - 0.1 * np.arange(1, 4)[:, None]
t = np.linspace(-7, 3, 161)  # logs of the nodes, and the correlation
r = np.linspace(-1, 1, 82)
u, w, r = np.meshgrid(t, t, (r[1:] + r[:-1]) / 2, indexing="ij")
a = [powers[0] * u, powers[1] * w]
logp = 2 * (u + w) - 2 * (np.exp(u) + np.exp(w))
# vectors and mean integrated out
c11, c22 = np.exp(2 * a[0]) + 1, np.exp(2 * a[1]) + 1
c12 = r * np.exp(a[0] + a[1])
det = c11 * c22 - c12 ** 2
p11, p22, p12 = c22 / det, c11 / det, -c12 / det
quad = sum(p11 * d[0] ** 2 + p22 * d[1] ** 2 + 2 * p12 * d[0] * d[1] for d in y)
sums = y.sum(0)
score = (p11 + p12) * sums[0] + (p12 + p22) * sums[1]
weight = 1 + 3 * (p11 + p22 + 2 * p12)
logp += -1.5 * np.log(det) - quad / 2 + score ** 2 / weight / 2 - np.log(weight) / 2
p = np.exp(logp - logp.max())
p /= p.sum()
rows = []
for c in range(1, 5):
    lines = [l for l in open(f"draws_{c}.csv") if l[0] != "#"]
    head = lines[0].strip().split(",")
    rows.append(np.loadtxt(lines[1:], delimiter=",")[:, [head.index("a.1"), head.index("a.2")]])
draws = np.array(rows)
for k in range(2):
    for name, f in ("mean", lambda x: x), ("square", lambda x: x * x):
        parts = f(draws[:, :, k]).reshape(80, -1).mean(axis=1)
        exact, error = (p * f(a[k])).sum(), parts.std(ddof=1) / 80 ** 0.5
        z = (parts.mean() - exact) / error
        print(sys.argv[1], k + 1, name, exact, parts.mean(), error, z)
        assert abs(z) < 4 and error < 0.03 * (1 + abs(exact))
E
for m in deviations precisions variances apart; do
    status 0 "$GBMC" -O 1 $m.gbm -o $m
    status 0 ./$m info
    prints '(s|sa|sb), v: moved with v, whose'
    status 0 ./$m check --data data.json --quiet
    status 0 ./$m --data data.json --monitor a --quiet --device cpu \
        --draws 20000 --seed 1 --out draws.csv
    status 0 python3 exact.py $m
done
device_draws_as_host deviations data.json

# rows that read all components, through an index, in another likelihood; the
# factor of the covariance
cat >slopes.gbm <<'E'
model {
  for (i in 1:N) { n[i] ~ dpois(exp(inprod(v[g[i], ], x[i, ]))) }
  for (j in 1:J) { v[j, 1:K] ~ multi_normal_cholesky(m[], F[, ]) }
  F[1:K, 1:K] <- diag_pre_multiply(s[], L[, ])
  L[1:K, 1:K] ~ lkj_corr_cholesky(2)
  for (k in 1:K) {
    m[k] ~ dnorm(0, 4)
    s[k] ~ dgamma(2, 4)
  }
}
E
echo '{"N": 6, "J": 2, "K": 3, "g": [1, 1, 2, 2, 1, 2], "n": [1, 0, 2, 1, 3, 0],
  "x": [[1, 0.5, 0], [1, -0.5, 1], [1, 1, 0.3], [1, -1, 0.2], [1, 0, -1], [1, 0.2, 0.4]]}' >slopes.json
status 0 "$GBMC" -O 1 slopes.gbm -o slopes
status 0 ./slopes info
prints 's, v: moved with v, whose'
status 0 ./slopes check --data slopes.json --quiet
status 0 ./slopes geweke --data slopes.json --device cpu --draws 4000

# slopes that hardly differ: 243 effective draws of 20,000 without
model=$GBM_ROOT/tests/models/correlated_slopes
status 0 "$GBMC" -O 1 "$model/model.bug" -o correlated
status 0 ./correlated --data "$model/data.json" --device cpu --quiet --draws 5000 \
    --seed 1 --summary s.json
python3 - <<'E' >.out 2>&1 || fail "the scale of the slopes does not mix"
import json
p = json.load(open("s.json"))["parameters"]["s[2]"]
assert p["ess_bulk"] > 2000, p
E

# what reads a scale elsewhere decides, too
sed 's/^  rho/  z ~ dnorm(S[1, 2], 1)\n  rho/' deviations.gbm >beside.gbm
status 0 "$GBMC" -O 1 beside.gbm -o beside
status 0 ./beside info
prints 's, v: moved with v'
echo '{"J": 1, "y": [[0.3, -3.1]], "z": 1.5}' >beside.json
status 0 ./beside check --data beside.json --quiet

none() { # MODEL SED...
    sed "${@:2}" "$1.gbm" >other.gbm
    cmp -s "$1.gbm" other.gbm && fail "nothing is other"
    status 0 "$GBMC" --explain other.gbm
    lacks 'moved with v, whose'
}
none deviations 's/S\[k, l\] <- /S[k, l] <- 0.1 * (k == l) + /'
none deviations 's/s\[k\] \* s\[l\]/s[k]/'
none deviations 's/b + 0.1 \* j/b + s[k]/'
none deviations 's/^  rho/  z[1:2] ~ dmnorm.vcov(m[1, ], S[, ])\n  rho/'
none deviations 's/s\[k\] \* s\[l\]/s[1] * s[2]/'
none apart 's/pow(sb, 2)/(1 + sb)/; s/rho \* sa/rho * (1 + sa)/'
