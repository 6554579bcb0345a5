#!/usr/bin/env bash
# One number with a long sum is drawn by several blocks of threads together: in
# closed form, by slices, between bounds that rows give; as the host draws it. On
# stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

cat >rows.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(mu, tau)
    z[i] ~ dgamma(shape, rate)
    w[i] ~ dunif(0, top)
  }
  mu ~ dnorm(0, 0.01)
  tau ~ dgamma(1, 1)
  shape ~ dgamma(1, 1)
  rate ~ dexp(1)
  top ~ dpar(1, 0.1)
}
E
python3 - >data.json <<'E'
import json, random, sys
r = random.Random(5)
N = 3300
json.dump({"N": N, "y": [round(r.gauss(2, 3), 6) for _ in range(N)],
           "z": [round(r.gammavariate(2.5, 0.5), 6) for _ in range(N)],
           "w": [round(r.uniform(0, 4), 6) for _ in range(N)]}, sys.stdout)
E
status 0 "$GBMC" -O1 rows.gbm -o rows
draw() { # FILE OPTION...
    local out=$1
    shift
    status 0 ./rows --data data.json --chains 2 --warmup 8 --draws 4 --seed 4 --lp \
        --format csv --digits 10 --out "$out.csv" "$@"
    grep -v '^#' "${out}_2.csv" >"$out"
}
same() { # FILE FILE
    python3 - "$@" <<'E' || fail "$1 and $2 differ"
import csv, math, sys
a, b = (list(csv.reader(open(f))) for f in sys.argv[1:])
assert len(a) == len(b) == 5 and a[0] == b[0]
for n, x, y in zip(a[0] * 4, sum(a[1:], []), sum(b[1:], [])):
    assert math.isclose(float(x), float(y), rel_tol=1e-6), (n, x, y)
E
}
draw cpu --device cpu
GBM_CUDA_CHAINS=0 GBM_CUDA_WIDE=0 draw narrow --device cuda
same cpu narrow
for blocks in 8 16; do
    GBM_CUDA_CHAINS=0 GBM_CUDA_WIDE=1 GBM_FAKE_MULTIPROCESSORS=$blocks \
        draw wide --device cuda
    for name in mu tau shape top; do
        says "$name by $((blocks / 2)) blocks together"
    done
    same cpu wide
done
