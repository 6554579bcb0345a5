#!/usr/bin/env bash
# A large joint block is drawn by several blocks of threads that wait for each
# other: as the host draws it, whatever lanes share a list. On stand-ins for
# CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

# m meets every a[j,], b every row: long lists of products and of rows. The
# scales s are moved with the a of their own, more of them than go at once.
cat >wide.gbm <<'E2'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(a[g[i],1] + a[g[i],2] * x[i] + b * w[i], t[h[i]])
  }
  for (l in 1:2) {
    for (j in 1:G) { a[j,l] ~ dnorm(m[l], s[f[j],l]) }
    for (k in 1:5) { s[k,l] ~ dgamma(2, 2) }
    m[l] ~ dnorm(0, 0.01)
  }
  for (k in 1:3) { t[k] ~ dgamma(2, 2) }
  b ~ dnorm(0, 0.1)
}
E2
python3 - >data.json <<'P'
import json, random
random.seed(4)
G, N = 2100, 5000
g = [i % G + 1 for i in range(N)]
h = [i % 3 + 1 for i in range(N)]
x = [random.gauss(1, 1) for _ in range(N)]
w = [random.gauss(0, 1) for _ in range(N)]
y = [1 + 0.5 * x[i] + random.gauss(0, h[i]) for i in range(N)]
f = [j % 5 + 1 for j in range(G)]
json.dump({"G": G, "N": N, "f": f, "g": g, "h": h, "w": w, "x": x, "y": y},
          __import__("sys").stdout)
P
draw() { # FILE CHAINS OPTION...
    local out=$1 chains=$2
    shift 2
    status 0 ./wide --data data.json --chains "$chains" --warmup 0 --draws 2 \
        --format csv --digits 10 --monitor m,b,s,t,a --out "$out.csv" "$@"
}
status 0 "$GBMC" -O1 wide.gbm -o wide
draw cpu 2 --device cpu
GBM_CUDA_CHAINS=0 GBM_CUDA_WIDE=0 draw narrow 2 --device cuda
! grep -q 'blocks together' .err || fail 'a wide team that was not asked for'
GBM_CUDA_CHAINS=0 GBM_CUDA_WIDE=1 GBM_FAKE_MULTIPROCESSORS=8 \
    draw two 2 --device cuda
says 'a, b, m by 4 blocks together'
GBM_CUDA_CHAINS=0 GBM_CUDA_WIDE=1 GBM_FAKE_MULTIPROCESSORS=16 \
    draw one 1 --device cuda
says 'a, b, m by 16 blocks together'
GBM_CUDA_CHAINS=0 GBM_CUDA_WIDE=1 GBM_FAKE_MULTIPROCESSORS=16 \
    GBM_FAKE_ORDER=1 draw last 1 --device cuda
[ -e one_1.csv ] || mv one.csv one_1.csv
[ -e last_1.csv ] || mv last.csv last_1.csv
python3 - <<'P' || fail "not the host's draws"
def rows(name):
    with open(name) as f:
        return [r.split(",") for r in f if not r.startswith("#")]
assert rows("one_1.csv") == rows("last_1.csv"), "the order of threads matters"
for name, chain in (("narrow", 1), ("narrow", 2), ("two", 1), ("two", 2),
                    ("one", 1)):
    ours, host = rows(f"{name}_{chain}.csv"), rows(f"cpu_{chain}.csv")
    assert ours[0] == host[0] and len(ours) == len(host) == 3
    for a, b in zip(host[1:], ours[1:]):
        for x, y in zip(a, b):
            assert abs(float(x) - float(y)) < 1e-8 * (1 + abs(float(x))), \
                (name, chain, x, y)
P
