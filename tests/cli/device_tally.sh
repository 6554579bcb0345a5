#!/usr/bin/env bash
# Tables of sums over the rows of a random group (sweep/tally.c) as the device
# computes them: it draws what the host draws, step by step and with a chain's
# sweeps in one kernel; and in single precision of data far from 0, as the rows
# are summed about their group's mean. On stand-ins for CUDA's libraries
# (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

cat >groups.gbm <<'E'
model {
  pi ~ ddirch(one[])
  for (i in 1:N) {
    z[i] ~ dcat(pi[])
    x[i,1:2] ~ dmnorm(mu[z[i],], Q[z[i],,])
    for (p in 1:3) { y[i,p] ~ dnorm(m[z[i],p], tau[z[i],p]) }
  }
  for (k in 1:K) {
    mu[k,1:2] ~ dmnorm(m0[], T0[,])
    Q[k,1:2,1:2] ~ dwish(R[,], 4)
    for (p in 1:3) {
      m[k,p] ~ dnorm(m0[1], 0.01)
      tau[k,p] ~ dgamma(2, 2)
    }
  }
}
E
data() { # SHIFT
    python3 - "$1" <<'P'
import json, random, sys
shift = float(sys.argv[1])
random.seed(3)
n, k = 90, 3
z = [1 + i % k for i in range(n)]
# what single precision holds as well
g = lambda: round(64 * random.gauss(0, 1)) / 64
d = {"N": n, "K": k, "one": [1] * k, "m0": [shift] * 2,
     "T0": [[0.01, 0], [0, 0.01]], "R": [[2, 0.5], [0.5, 2]],
     "x": [[shift + 8 * c + g(), shift - 8 * c + g()] for c in z],
     "y": [[shift + 8 * c + g() for _ in range(3)] for c in z]}
start = {"mu": [[shift + 8 * c, shift - 8 * c] for c in (1, 2, 3)],
         "Q": [[[1, 0], [0, 1]]] * 3, "z": z, "tau": [[1] * 3] * 3,
         "m": [[shift + 8 * c] * 3 for c in (1, 2, 3)], "pi": [1 / 3] * 3}
json.dump(d, open("whole.json", "w"))
json.dump(start, open("init_whole.json", "w"))
# a row more of which nothing is observed: all sums go through the rows
d["N"] += 1
d["x"].append([None] * 2)
d["y"].append([None] * 3)
start["z"] = z + [1]
json.dump(d, open("partly.json", "w"))
json.dump(start, open("init_partly.json", "w"))
P
}
draw() { # DATA OUT OPTION...
    local data=$1 out=$2
    shift 2
    status 0 ./groups --data "$data.json" --init "init_$data.json" --chains 2 \
        --warmup 0 --draws 4 --format csv --digits 15 --monitor \
        mu,Q,m,tau,pi --out "$out.csv" "$@"
}
# compare FILE FILE MEANS OTHERS: the same draws; means by MEANS, as single
# precision holds no more of them far from 0.
compare() {
    python3 - "$@" <<'P' || fail "$1, $2: other draws"
import csv, sys
def read(name, chain):
    with open(f"{name}_{chain}.csv") as f:
        return list(csv.DictReader(r for r in f if not r.startswith("#")))
means, others = map(float, sys.argv[3:5])
worst = {True: 0, False: 0}
for chain in (1, 2):
    a, b = (read(name, chain) for name in sys.argv[1:3])
    assert len(a) == len(b) == 4
    for s, t in zip(a, b):
        for n, u in s.items():
            if n.endswith("__"):
                continue # the density is of another number of rows
            u, v = float(u), float(t[n])
            mean = n[0] == "m"
            far = abs(u - v) / (1 if mean else 1 + abs(u))
            worst[mean] = max(worst[mean], far)
            assert far < (means if mean else others), (chain, n, u, v)
print(*sys.argv[1:], worst)
P
}
# The index of the rows is by the bounds that most tables have, whether or not
# the weights have them.
sed 's/pi ~/pi[1:K] ~/' groups.gbm >bounds.gbm
for model in groups bounds; do
    status 0 "$GBMC" --emit=cuda $model.gbm
    [ "$(grep -c '^GBM_KERNEL_TALLY' .out)" = 6 ] || fail "$model: by all rows"
    [ "$(grep -c 'last - first' .out)" -ge 1 ] || fail "$model: not counted"
done
status 0 "$GBMC" -O1 groups.gbm -o groups
for shift in 0 10000; do
    data $shift
    draw whole cpu --device cpu
    GBM_CUDA_CHAINS=0 draw whole steps --device cuda
    compare cpu steps 1e-6 1e-6
    # a warp has neighbouring cells
    GBM_CUDA_CHAINS=0 GBM_CUDA_BESIDE=1 draw whole beside --device cuda
    compare cpu beside 1e-6 1e-6
    GBM_CUDA_CHAINS=8 draw whole chains --device cuda
    says 'sweeps in one kernel'
    compare cpu chains 1e-6 1e-6
    export GBM_CUDA_CHAINS=0
    draw whole tables --device cuda --precision single
    draw partly rows --device cuda --precision single
    [ $shift = 0 ] && means=1e-4 || means=1e-2
    compare rows tables $means 5e-3
done

# Many cells of a Dirichlet are drawn by the lanes of a team, each its share.
cat >many.gbm <<'M'
model {
  pi[1:K] ~ ddirch(one[])
  for (i in 1:N) {
    z[i] ~ dcat(pi[])
    y[i] ~ dnorm(mu[z[i]], 1)
  }
  for (k in 1:K) { mu[k] ~ dnorm(k, 1) }
}
M
python3 - <<'P'
import json
K, N = 70, 300
json.dump({"K": K, "N": N, "one": [1 if k % 5 else 0.1 for k in range(K)],
           "y": [(7 * i) % K + 1 for i in range(N)]}, open("many.json", "w"))
json.dump({"z": [(7 * i) % K + 1 for i in range(N)], "pi": [1 / K] * K,
           "mu": [k + 1 for k in range(K)]}, open("init_many.json", "w"))
P
status 0 "$GBMC" -O1 many.gbm -o groups
for device in cpu cuda; do
    status 0 ./groups --data many.json --init init_many.json --chains 2 \
        --warmup 0 --draws 4 --format csv --digits 15 --monitor mu,pi \
        --device $device --out $device.csv
done
compare cpu cuda 1e-6 1e-6
GBM_CUDA_CHAINS=8 status 0 ./groups --data many.json --init init_many.json \
    --chains 2 --warmup 0 --draws 4 --format csv --digits 15 --monitor mu,pi \
    --device cuda --out chains.csv
compare cpu chains 1e-6 1e-6

# so many groups that blocks share out the counts of their rows' index
cat >groups.gbm <<'E'
model {
  for (i in 1:N) {
    z[i] ~ dcat(pi[])
    y[i] ~ dnorm(m[z[i]], 4)
  }
  for (k in 1:K) { m[k] ~ dnorm(0, 0.01) }
  pi[1:K] ~ ddirch(one[])
}
E
python3 - <<'P'
import json, random
random.seed(3)
K, N = 200, 6000
json.dump({"N": N, "K": K, "one": [1] * K,
           "y": [random.gauss(3 * (i % K), 0.5) for i in range(N)]},
          open("blocks.json", "w"))
json.dump({"m": [3 * k for k in range(K)]}, open("init_blocks.json", "w"))
P
status 0 "$GBMC" -O 0 groups.gbm -o groups
for device in cpu cuda; do
    GBM_CUDA_CHAINS=0 status 0 ./groups --data blocks.json --chains 2 \
        --init init_blocks.json --warmup 0 --draws 4 --format csv --digits 15 \
        --monitor m,pi --no-check --device $device \
        --out blocks_$device.csv
done
compare blocks_cpu blocks_cuda 1e-6 1e-6
