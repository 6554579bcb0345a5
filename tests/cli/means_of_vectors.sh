#!/usr/bin/env bash
# Vectors with a normal prior are drawn in one block with its mean, where that is
# drawn, too (sampler/joint.c): in turn both move in small steps where the data
# say little of each vector. Normal data, where the posterior is known, with a
# mean of several statements and with a vector; counts, whose block is curved.
source "$GBM_ROOT/tests/cli/lib"

cat >exact.py <<'E'
import json, sys
import numpy as np
p = json.load(open("fit.json"))["parameters"]
y = np.array([[1, -2], [0, 1], [0.5, 0], [2.5, 0.5]])
V = np.eye(2) + np.linalg.inv([[10000, 2000], [2000, 5000]])
S = np.linalg.inv(np.eye(2) + 4 * np.linalg.inv(V))
mean = S @ np.linalg.inv(V) @ y.sum(0)
bad = 0
for k in range(2):
    q = p[f"mu[{k + 1}]"]
    z = (q["mean"] - mean[k]) / q["mcse"]
    print(k, z, q["sd"] / S[k, k] ** 0.5, q["ess_bulk"])
    bad += not (abs(z) < 4 and abs(q["sd"] / S[k, k] ** 0.5 - 1) < 0.05 and
                q["ess_bulk"] > 4000)
sys.exit(bad)
E
cat >cells.json <<'E'
{"n": 4, "y": [[1, -2], [0, 1], [0.5, 0], [2.5, 0.5]],
 "Omega": [[10000, 2000], [2000, 5000]]}
E
cat >vector.json <<'E'
{"n": 4, "y": [[1, -2], [0, 1], [0.5, 0], [2.5, 0.5]],
 "Omega": [[10000, 2000], [2000, 5000]], "zero": [0, 0],
 "I": [[1, 0], [0, 1]]}
E
normal() { # NAME PRIOR
    cat >$1.gbm <<E
model {
  $2
  for (i in 1:n) {
    theta[i,1:2] ~ dmnorm(mu[], Omega[,])
    for (k in 1:2) { y[i,k] ~ dnorm(theta[i,k], 1) }
  }
}
E
    status 0 "$GBMC" -O 1 $1.gbm -o $1
    status 0 ./$1 info
    prints 'theta, mu +n x 2 [+] 2 +joint Gaussian block'
    status 0 ./$1 check --data $1.json --quiet
    status 0 ./$1 --data $1.json --quiet --draws 2000 --summary fit.json
    python3 exact.py || fail "$1: vectors and their mean do not mix, or are wrong"
}
normal cells 'for (k in 1:2) { mu[k] ~ dnorm(0, 1) }'
normal vector 'mu[1:2] ~ dmnorm(zero[], I[,])'

cat >counts.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dpois(exp(inprod(theta[g[i],], X[i,]))) }
  for (j in 1:J) { theta[j,1:2] ~ dmnorm(mu[], Omega[,]) }
  for (k in 1:2) { mu[k] ~ dnorm(0, 0.01) }
  Omega[1:2,1:2] ~ dwish(R[,], 3)
}
E
python3 - <<'E'
import json
N, J = 45, 15
x = [((7 * i) % 11 - 5) / 4 for i in range(N)]
y = [int(2.718 ** (0.3 + 0.5 * v)) + (i % 3 == 0) for i, v in enumerate(x)]
json.dump({"N": N, "J": J, "X": [[1, v] for v in x], "y": y,
           "g": [i % J + 1 for i in range(N)], "R": [[0.01, 0], [0, 0.01]]},
          open("counts.json", "w"))
E
status 0 "$GBMC" -O 1 counts.gbm -o counts
status 0 ./counts info
prints 'theta, mu +J x 2 [+] 2 +elliptical slice of a joint'
status 0 ./counts check --data counts.json --quiet
status 0 ./counts --data counts.json --quiet --draws 2000 --summary fit.json
python3 - <<'E' || fail "the mean of coefficients does not mix"
import json, sys
p = json.load(open("fit.json"))["parameters"]
ess = [p[f"mu[{k}]"]["ess_bulk"] for k in (1, 2)]
print(ess)
sys.exit(min(ess) < 1000)
E
