#!/usr/bin/env bash
# Sweeps of --method em on a device with memory of its own are the host's, step
# by step and in one kernel, with a node's elements one by one and as rows. On stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device
cat >m.gbm <<'E'
model {
  for (i in 1:N) {
    z[i] ~ dcat(w[])
    y[i, 1:6] ~ dmnorm(mu[z[i], 1:6], Q[z[i], 1:6, 1:6])
    n[i] ~ dpois(l[z[i]] * s)
    u[i] ~ dbern(q[z[i]])
    v[i] ~ dbern(known[z[i]])
  }
  for (k in 1:2) {
    mu[k, 1:6] ~ dmnorm(zero[], Q0[,])
    Q[k, 1:6, 1:6] ~ dwish(R[,], 8)
    l[k] ~ dgamma(2, 0.5)
    q[k] ~ dbeta(2, 3)
  }
  s ~ dgamma(3, 3)
  w[1:2] ~ ddirch(two[])
}
E
python3 - <<'E'
import json, random
random.seed(4)
for N, known, name in ((41, [0.3, 0.4], "m.json"), (41, [0, 0.4], "nil.json"),
                       (150, [0, 0.4], "rows.json")):
    y, n, u, v = [], [], [], []
    for i in range(N):
        k = i % 3 == 0
        y.append([random.gauss(k * (2 - j), 0.7 + 0.2 * j) for j in range(6)])
        n.append(int(random.expovariate(0.3 if k else 0.6)))
        u.append(int(random.random() < (0.7 if k else 0.3)))
        v.append(int(k and i % 2))
    json.dump({"N": N, "y": y, "n": n, "u": u, "v": v, "zero": 6 * [0],
               "two": [2, 2],
               "Q0": [[0.1 * (i == j) for j in range(6)] for i in range(6)],
               "R": [[0.2 + (i == j) for j in range(6)] for i in range(6)],
               "known": known}, open(name, "w"))
E
status 0 "$GBMC" -O 0 --with=gradients,expectation m.gbm -o m
data=m.json
find_mode() { # NAME OPTION...
    local name=$1
    shift
    status 0 ./m --data $data --quiet --method em --chains 2 --seed 5 \
        --summary "$name.json" "$@"
}
find_mode host --device cpu
agrees_with_host() { # NAME [ERROR]: of single precision, which may end elsewhere
    python3 - "$1.json" ${2:+"$2"} <<'E' || fail "$1: host and device climb otherwise"
import json, sys
a, b = (json.load(open(f)) for f in ("host.json", sys.argv[1]))
single = len(sys.argv) > 2
assert a["sweeps"] == a["iterations"] > 5, (a["sweeps"], a["iterations"])
assert single or abs(b["sweeps"] - a["sweeps"]) <= 1, (a["sweeps"], b["sweeps"])
for i, (x, y) in enumerate(zip(a["trace"], b["trace"])):
    assert abs(x - y) < (float(sys.argv[2]) if single else 1e-9) * abs(x), (
        i, x, y)
E
}
for lanes in 0 4; do
    GBM_CUDA_CHAINS=$lanes find_mode "lanes$lanes" --device cuda
    agrees_with_host "lanes$lanes"
done
# weights of many rows at once, of so many a thread, and weighted sums of
# neighbouring cells at once or not
for rows in 1 2; do
    GBM_CUDA_CHAINS=0 GBM_CUDA_ROWS=$rows GBM_CUDA_BESIDE=$((rows - 1)) \
        find_mode "rows$rows" --device cuda
    agrees_with_host "rows$rows"
done
# in single precision, where lanes read two listed rows at once
GBM_FAKE_MULTIPROCESSORS=1 GBM_CUDA_CHAINS=0 GBM_CUDA_ROWS=1 GBM_CUDA_BESIDE=1 \
    find_mode single --device cuda --precision single
agrees_with_host single 1e-5
# densities bounded first, as products of matrices
export GBM_CUDA_CHAINS=0
GBM_CUDA_ROWS=1 GBM_CUDA_FORMS=1 find_mode forms --device cuda
agrees_with_host forms
# rows of which a density is no number, as 0 times the logarithm of 0: the last
# one, too, behind which threads have no row
data=nil.json
find_mode host --device cpu
for forms in 0 1; do
    GBM_CUDA_ROWS=1 GBM_CUDA_FORMS=$forms find_mode never --device cuda
    agrees_with_host never
done

# more rows than a lane lists at once, some of weight 0
data=rows.json
find_mode host --device cpu
GBM_FAKE_MULTIPROCESSORS=1 GBM_CUDA_BESIDE=1 GBM_CUDA_ROWS=1 \
    find_mode more --device cuda
agrees_with_host more

# more components than a word of marks has bits, with no weight in most
cat >m.gbm <<'E'
model {
  for (i in 1:N) {
    z[i] ~ dcat(w[])
    y[i, 1:2] ~ dmnorm(mu[z[i], 1:2], Q[z[i], 1:2, 1:2])
  }
  for (k in 1:K) {
    mu[k, 1:2] ~ dmnorm(zero[], Q0[,])
    Q[k, 1:2, 1:2] ~ dwish(R[,], 5)
  }
  w[1:K] ~ ddirch(two[])
}
E
python3 - <<'E'
import json, random
random.seed(4)
K, N = 40, 140
mu = [[4 * (k % 8), 4 * (k // 8)] for k in range(K)]
unit = [[1, 0], [0, 1]]
json.dump({"N": N, "K": K, "zero": [0, 0], "Q0": [[.01, 0], [0, .01]],
           "R": unit, "two": [2] * K,
           "y": [[random.gauss(m, 0.8) for m in mu[i % K]] for i in range(N)]},
          open("many.json", "w"))
json.dump({"mu": mu, "w": [1 / K] * K, "Q": [unit] * K}, open("init.json", "w"))
E
status 0 "$GBMC" -O 0 --with=gradients,expectation m.gbm -o m
data=many.json
find_mode host --device cpu --init init.json
for forms in 0 1; do
    GBM_CUDA_BESIDE=1 GBM_CUDA_ROWS=1 GBM_CUDA_FORMS=$forms \
        find_mode marked --device cuda --init init.json
    agrees_with_host marked
done
# sums that read weights without their marks
GBM_CUDA_BESIDE=0 GBM_CUDA_ROWS=1 GBM_CUDA_FORMS=1 \
    find_mode unmarked --device cuda --init init.json
agrees_with_host unmarked

# in single precision: weights from products of matrices, of rows that lie far
# out from densities; sums of a group's rows from products, too, with those of
# smaller tables, of more rows than are listed at once
cat >m.gbm <<'E'
model {
  for (i in 1:N) {
    z[i] ~ dcat(w[])
    y[i, 1:P] ~ dmnorm(mu[z[i], 1:P], Q[z[i], 1:P, 1:P])
  }
  for (k in 1:K) {
    mu[k, 1:P] ~ dmnorm(zero[], Q0[,])
    Q[k, 1:P, 1:P] ~ dwish(R[,], P + 3)
  }
  w[1:K] ~ ddirch(two[])
}
E
python3 - <<'E'
import json, random
random.seed(4)
K, N, P = 33, 1060, 8
def diagonal(x):
    return [[x * (i == j) for j in range(P)] for i in range(P)]
mu = [[random.gauss(0, 3) for j in range(P)] for k in range(K)]
y = [[random.gauss(m, 0.5) for m in mu[i % K]] for i in range(N)]
for i in 100, 500:
    y[i] = [6 * x for x in y[i]]
json.dump({"N": N, "K": K, "P": P, "zero": [0] * P, "Q0": diagonal(.01),
           "R": diagonal(1), "two": [2] * K, "y": y}, open("wide.json", "w"))
json.dump({"mu": [[m + random.gauss(0, 1.2) for m in row] for row in mu],
           "w": [1 / K] * K, "Q": [diagonal(3)] * K}, open("init.json", "w"))
E
status 0 "$GBMC" -O 0 --with=gradients,expectation m.gbm -o m
data=wide.json
find_mode host --device cpu --init init.json
GBM_CUDA_BESIDE=1 GBM_CUDA_ROWS=1 GBM_CUDA_FORMS=1 \
    find_mode products --device cuda --precision single --init init.json
agrees_with_host products 3e-7
