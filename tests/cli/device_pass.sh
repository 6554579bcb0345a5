#!/usr/bin/env bash
# A latent response is drawn in one pass over the design with the sums of its
# Gaussian block: as the host draws it, and as step by step; not where a step
# between the two reads it. On stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

# Data of 150 rows; their width decides how a thread reads them.
rows() { # COLUMNS FILE
    python3 - "$1" "$2" <<'P'
import json, random, sys
d = int(sys.argv[1])
random.seed(d)
X = [[random.gauss(0, 1) for _ in range(d)] for _ in range(150)]
y = [int(sum(r[:3]) + random.gauss(0, 1) > 0) for r in X]
json.dump({"X": X, "d": d, "y": y, "v": [u - 0.5 for u in y]},
          open(sys.argv[2], "w"))
P
}
# The response is seen through noise: its variance scales the block's precision.
cat >noisy.gbm <<'E2'
model {
  for (i in 1:150) {
    z[i] ~ dnorm(inprod(X[i,], b[]), tau)
    v[i] ~ dnorm(z[i], 4)
  }
  for (j in 1:d) { b[j] ~ dnorm(0, 1) }
  tau ~ dgamma(3, 2)
}
E2
# The precision, a parent of b, is drawn between z and b.
cat >between.gbm <<'E2'
model {
  for (i in 1:150) {
    z[i] ~ dnorm(inprod(X[i,], b[]), tau)
    v[i] ~ dnorm(z[i], 4)
  }
  for (j in 1:d) { b[j] ~ dnorm(0, tau) }
  tau ~ dgamma(3, 2)
}
E2
cat >probit.gbm <<'E2'
model {
  for (i in 1:150) { y[i] ~ dbern(phi(inprod(X[i,], b[]))) }
  for (j in 1:d) { b[j] ~ dnorm(0, s) }
  s ~ dgamma(2, 2)
}
E2
draw() { # MODEL DATA FILE OPTION...
    local model=$1 data=$2 out=$3
    shift 3
    status 0 "./$model" --data "$data" --chains 6 --warmup 1 --draws 4 \
        --format csv --out "$out.csv" "$@"
}
compare() { # WHAT
    python3 - <<'P' || fail "$1: not the host's draws"
for chain in range(1, 7):
    of = {}
    for name in ("cpu", "steps", "pass"):
        with open(f"{name}_{chain}.csv") as f:
            of[name] = [r for r in f if not r.startswith("#")]
    assert len(of["cpu"]) == 5
    for name in ("steps", "pass"):
        assert len(of[name]) == 5
        for a, b in zip(of["cpu"][1:], of[name][1:]):
            for x, y in zip(a.split(","), b.split(",")):
                assert abs(float(x) - float(y)) < 1e-5 * (1 + abs(float(x))), \
                    (chain, name, x, y)
P
}
for model in noisy between probit; do
    status 0 "$GBMC" -O1 $model.gbm -o $model
done
for columns in 5 66 67; do
    rows $columns data.json
    [ $columns = 66 ] && model=noisy || model=probit
    draw $model data.json cpu --device cpu
    GBM_CUDA_PASS=0 draw $model data.json steps --device cuda
    ! grep -q 'in one pass' .err || fail 'a pass that was not asked for'
    GBM_CUDA_PASS=1 draw $model data.json pass --device cuda
    says 'drawn in one pass with sums for b'
    compare "$model, $columns columns"
done
# Many chains of a wide design go by products of matrices (pass_matrix_cuda.h):
# the last tile, the last columns and the group of chains are not full.
sed 's/150/n/' probit.gbm >many.gbm
status 0 "$GBMC" -O1 many.gbm -o many
for size in '519 516 9'; do
    set -- $size
    python3 - $1 $2 <<'P'
import json, random, sys
n, d = int(sys.argv[1]), int(sys.argv[2])
random.seed(d)
X = [[random.gauss(0, 1) for _ in range(d)] for _ in range(n)]
y = [int(sum(r[:3]) + random.gauss(0, 1) > 0) for r in X]
json.dump({"X": X, "d": d, "n": n, "y": y}, open("many.json", "w"))
P
    for pass in 0 1; do
        GBM_CUDA_PASS=$pass status 0 ./many --data many.json --device cuda \
            --precision single --chains $3 --warmup 0 --draws 1 --no-check \
            --format csv --out pass$pass.csv
    done
    says 'drawn in one pass with sums for b'
    python3 - $3 <<'P' || fail "$size: not the draws of step by step"
import sys
for chain in range(1, 1 + int(sys.argv[1])):
    steps, all = ([[float(x) for x in r.split(",")]
                   for r in open(f"pass{way}_{chain}.csv")
                   if r[0] in "-.0123456789"] for way in (0, 1))
    assert len(steps) == len(all) == 1
    for a, b in zip(steps, all):
        assert max(abs(x - y) / (1 + abs(x)) for x, y in zip(a, b)) < 1e-3
P
done
# What is drawn is then multiplied by a number, and so is the sum: by several
# blocks of threads, too. With an offset the sum is no multiple: no pass.
cat >means.gbm <<'E2'
model {
  for (i in 1:150) { y[i] ~ dbern(phi(inprod(X[i,], b[]))) }
  for (j in 1:d) { b[j] ~ dnorm(0.3, 2) }
}
E2
sed 's/b\[\])/b[]) + 0.3 * v[i]/' means.gbm >offset.gbm
for model in means offset; do
    status 0 "$GBMC" -O1 $model.gbm -o $model
    status 0 "$GBMC" --explain $model.gbm
    grep -q 'common scale, slice' .out || fail "$model: no move of the scale"
    draw $model data.json cpu --device cpu
    GBM_CUDA_PASS=1 GBM_CUDA_WIDE=1 GBM_FAKE_MULTIPROCESSORS=32 \
        draw $model data.json pass --device cuda
    says 'b, y.z by . blocks together'
    cp .err said
    GBM_CUDA_PASS=0 draw $model data.json steps --device cuda
    compare $model
    [ $model = offset ] || grep -q 'one pass with sums for b' said ||
        fail 'no pass'
    [ $model = means ] || ! grep -q 'in one pass' said ||
        fail 'the scores with an offset are no multiple'
done
GBM_CUDA_PASS=1 draw between data.json pass --device cuda
! grep -q 'in one pass' .err || fail 'a step between reads what is drawn'
