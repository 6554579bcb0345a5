#!/usr/bin/env bash
# Coefficients of many groups under their means on the device: each group's are
# drawn by one lane from the group's rows, with what they leave to the means
# summed (stdlib/kernels/border.h). The draws are the host's in that order.
# Groups with as many rows, of one design, and with more or fewer, of their own,
# some of which data settle. On stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device
patience=500

cat >same.gbm <<'E'
model {
  for (g in 1:G) {
    for (n in 1:N) { y[g,n] ~ dnorm(inprod(X[n,], b[g,]), prec[g]) }
    prec[g] ~ dgamma(2, 1)
    for (l in 1:L) { b[g,l] ~ dnorm(m[l], 1 / sigma[l]^2) }
  }
  for (l in 1:L) {
    m[l] ~ dnorm(0, 0.01)
    sigma[l] ~ dunif(0, 100)
  }
}
E
cat >own.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(a[group[i]] + b[group[i]] * x[i] + c * x[i]^2, tau[group[i]])
  }
  for (g in 1:G) {
    a[g] ~ dnorm(ma, ta)
    b[g] ~ dnorm(mb, tb)
    tau[g] ~ dgamma(1, 1)
    z[g] ~ dnorm(a[g] - b[g], 4)
  }
  c ~ dnorm(0, 1)
  ma ~ dnorm(0, 0.01)
  mb ~ dnorm(0, 0.01)
  ta ~ dgamma(1, 1)
  tb ~ dgamma(1, 1)
}
E
python3 - <<'E'
import json, random
r = random.Random(5)
g = 20
y = [[round(r.gauss(1, 1), 3) for _ in range(6)] for _ in range(g)]
json.dump({"G": g, "N": 6, "L": 4, "y": y,
           "X": [[1, n % 2, n / 6, n % 3] for n in range(6)]}, open("same.json", "w"))
group = [1 + i % g for i in range(50)] + [1, 2]
x = [round(r.gauss(0, 1), 3) for _ in group]
json.dump({"G": g, "N": len(group), "group": group, "x": x,
           "z": [round(r.gauss(0, 1), 3) for _ in range(g)],
           "y": [round(r.gauss(a, 1), 3) for a in x]}, open("own.json", "w"))
E
draw() { # MODEL FILE OPTION...
    local model=$1 out=$2
    shift 2
    status 0 "./$model" --data "$model.json" --chains 2 --seed 1 --warmup 0 \
        --draws 3 --format csv --digits 12 --out "$out.csv" "$@"
    grep -v '^#' "${out}_2.csv" >"$out"
}
for model in same own; do
    status 0 "$GBMC" -O1 $model.gbm -o $model
    draw $model plain --device cpu
    GBM_ORDER=border draw $model border --device cpu
    near plain border 3 && fail "$model: the host's orders give the same draws"
    export GBM_ORDER=border
    for wide in 0 4; do
        GBM_CUDA_CHAINS=0 GBM_CUDA_WIDE=$wide \
            draw $model device --device cuda
        near border device 3 ||
            fail "$model: the device's draws, GBM_CUDA_WIDE=$wide"
    done
    GBM_CUDA_CHAINS=8 draw $model device --device cuda
    near border device 3 || fail "$model: the device's draws, one kernel"
    unset GBM_ORDER
done

# One chain by many blocks, of half as many threads where columns are many.
export GBM_ORDER=border
one=(--data same.json --chains 1 --seed 1 --warmup 0 --draws 3 --format csv
    --digits 12)
status 0 ./same "${one[@]}" --out host.csv --device cpu
GBM_CUDA_CHAINS=0 GBM_CUDA_WIDE=1 GBM_FAKE_MULTIPROCESSORS=8 \
    status 0 ./same "${one[@]}" --out wide.csv --device cuda
says 'by 8 blocks together'
for name in host wide; do
    grep -v '^#' ${name}_1.csv >$name
done
near host wide 3 || fail "one chain by 8 blocks draws otherwise"
