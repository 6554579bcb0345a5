#!/usr/bin/env bash
# A large joint block is drawn by several blocks of threads that wait for each
# other: as the host draws it, whatever lanes share a list. On stand-ins for
# CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

# m meets every a[j], b every row: long lists of products and of rows.
cat >wide.gbm <<'E2'
model {
  for (i in 1:N) { y[i] ~ dnorm(a[g[i]] + b * x[i], t[h[i]]) }
  for (j in 1:G) { a[j] ~ dnorm(m, s) }
  for (k in 1:3) { t[k] ~ dgamma(2, 2) }
  m ~ dnorm(0, 0.01)
  b ~ dnorm(0, 0.1)
  s ~ dgamma(2, 2)
}
E2
python3 - >data.json <<'P'
import json, random
random.seed(4)
G, N = 3000, 6000
g = [i % G + 1 for i in range(N)]
h = [i % 3 + 1 for i in range(N)]
x = [random.gauss(0, 1) for _ in range(N)]
y = [1 + 0.5 * x[i] + random.gauss(0, h[i]) for i in range(N)]
json.dump({"G": G, "N": N, "g": g, "h": h, "x": x, "y": y}, __import__("sys").stdout)
P
draw() { # FILE CHAINS OPTION...
    local out=$1 chains=$2
    shift 2
    status 0 ./wide --data data.json --chains "$chains" --warmup 0 --draws 3 \
        --format csv --digits 10 --monitor m,b,s,t,a --out "$out.csv" "$@"
}
status 0 "$GBMC" -O1 wide.gbm -o wide
draw cpu 2 --device cpu
GBM_CUDA_CHAINS=0 GBM_CUDA_WIDE=0 draw narrow 2 --device cuda
! grep -q 'blocks together' .err || fail 'a wide team that was not asked for'
GBM_CUDA_CHAINS=0 GBM_CUDA_WIDE=1 GBM_FAKE_MULTIPROCESSORS=8 \
    draw two 2 --device cuda
says 'a, b, m by 4 blocks together'
GBM_CUDA_CHAINS=0 GBM_CUDA_WIDE=1 GBM_FAKE_MULTIPROCESSORS=32 \
    draw one 1 --device cuda
says 'a, b, m by 32 blocks together'
GBM_CUDA_CHAINS=0 GBM_CUDA_WIDE=1 GBM_FAKE_MULTIPROCESSORS=32 \
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
    assert ours[0] == host[0] and len(ours) == len(host) == 4
    for a, b in zip(host[1:], ours[1:]):
        for x, y in zip(a, b):
            assert abs(float(x) - float(y)) < 1e-8 * (1 + abs(float(x))), \
                (name, chain, x, y)
P
