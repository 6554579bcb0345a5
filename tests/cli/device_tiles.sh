#!/usr/bin/env bash
# A Gaussian block of 65 to 192 coordinates is factorised, and drawn, by a
# launch for all chains: as the host draws it, with responses of two kinds;
# where a matrix is singular to single precision, too. Of more coordinates, or
# with one that is observed, what the library factorises is drawn by blocks of
# threads that tell each other theirs.
# On stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

cat >two.gbm <<'E2'
model {
  for (i in 1:N) { y[i] ~ dbern(phi(inprod(X[i,], b[]))) }
  for (i in 1:M) { v[i] ~ dnorm(inprod(Z[i,], b[]), tau) }
  for (j in 1:d) { b[j] ~ dnorm(m[j], 2) }
  tau ~ dgamma(3, 2)
}
E2
cat >alike.gbm <<'E2'
model {
  for (i in 1:N) { y[i] ~ dnorm(inprod(X[i,], b[]), 1) }
  for (j in 1:d) { b[j] ~ dnorm(0, 1.0E-8) }
}
E2
rows() { # COLUMNS HOW FILE: equal, of them the first two; seen, the third b
    python3 - "$@" <<'P'
import json, random, sys
d, equal = int(sys.argv[1]), sys.argv[2] == "equal"
random.seed(d)
def matrix(n):
    return [[random.gauss(0, 1) for _ in range(d)] for _ in range(n)]
X, Z = matrix(2 * d), matrix(40)
if equal:
    for r in X:
        r[1] = r[0]
y = [sum(r[:3]) + random.gauss(0, 1) for r in X]
if not equal:
    y = [int(u > 0) for u in y]
data = {"N": 2 * d, "d": d, "X": X, "y": y}
if sys.argv[2] == "seen":
    data["b"] = [None if j != 2 else 0.3 for j in range(d)]
if not equal:
    data.update(M=40, Z=Z, v=[r[0] + random.gauss(0, 1) for r in Z],
                m=[0.02 * j for j in range(d)])
json.dump(data, open(sys.argv[3], "w"))
P
}
draw() { # MODEL FILE OPTION...
    local model=$1 out=$2
    shift 2
    status 0 "./$model" --data data.json --chains 3 --warmup 1 --draws 4 \
        --format csv --out "$out.csv" "$@"
}
for model in two alike; do status 0 "$GBMC" -O1 $model.gbm -o $model; done
for columns in 65 131 201 'seen 65'; do
    case $columns in
    seen*) rows 65 seen data.json ;;
    *) rows $columns apart data.json ;;
    esac
    draw two cpu --device cpu
    draw two gpu --device cuda
    python3 - <<'P' || fail "$columns columns: not the host's draws"
for chain in 1, 2, 3:
    a, b = ([r for r in open(f"{of}_{chain}.csv") if r[0] != "#"]
            for of in ("cpu", "gpu"))
    assert len(a) == len(b) == 5
    for r, s in zip(a[1:], b[1:]):
        for x, y in zip(r.split(","), s.split(",")):
            assert abs(float(x) - float(y)) < 1e-6 * (1 + abs(float(x))), (x, y)
P
done
# Of two equal columns the prior alone tells their difference, at which the
# library's factorisation fails in single precision; what they add up to, and
# the others, are known well all the same.
rows 70 equal data.json
draw alike gpu --device cuda --precision single --no-check
status 0 python3 - <<'P'
import json
import numpy as np
data = json.load(open("data.json"))
X = np.delete(np.array(data["X"]), 1, 1)
Q = X.T @ X
mean, sd = np.linalg.solve(Q, X.T @ data["y"]), np.diag(np.linalg.inv(Q)) ** 0.5
apart = 0
for chain in 1, 2, 3:
    rows = [r for r in open(f"gpu_{chain}.csv") if r[0] != "#"]
    at = [i for i, n in enumerate(rows[0].strip().split(","))
          if n.startswith("b")]
    for r in rows[1:]:
        b = np.array([float(r.split(",")[i]) for i in at])
        apart = max(apart, abs(b[0] - b[1]))
        b = np.concatenate([[b[0] + b[1]], b[2:]])
        assert (abs(b - mean) < 6 * sd + 0.05).all(), (b, mean, sd)
assert apart > 1, apart
P
