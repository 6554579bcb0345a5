#!/usr/bin/env bash
# A model that the device has no room for: an error before anything is written.
# On stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device
sampler pump
run=(./pump --data "$examples/pump/data.json" --device cuda --quiet
    --warmup 5 --draws 5 --out)
status 0 "${run[@]}" fit.csv
exists fit_1.csv
status 2 env GBM_FAKE_MEMORY=2000 "${run[@]}" none.csv
says 'too little memory on the device: the model needs .* has .* free'
absent none_1.csv
absent none.csv

# A block that is too large for a thread's own memory: the heap that threads take
# it from has room for all that are at work at once, or fewer are; or an error
# before anything is drawn.
cat >model.gbm <<'E'
model {
  for (i in 1:40) {
    x[i, 1:50] ~ dmnorm(m[], P[,])
    for (j in 1:50) { y[i, j] ~ dnorm(x[i, j], 1) }
  }
}
E
python3 - <<'E'
import json
P = [[2 if i == j else -0.5 if abs(i - j) == 1 else 0 for j in range(50)]
     for i in range(50)]
y = [[(i * j) % 7 / 3 for j in range(50)] for i in range(40)]
json.dump({"m": [0] * 50, "P": P, "y": y}, open("data.json", "w"))
E
status 0 "$GBMC" -O 1 model.gbm -o model
draw=(./model --data data.json --quiet --no-check --chains 2 --warmup 1
    --draws 2 --monitor 'x[40,]' --format csv --out)
status 0 "${draw[@]}" host.csv --device cpu
export GBM_CUDA_CHAINS=0 GBM_CUDA_HEAP=0
status 0 "${draw[@]}" all.csv --device cuda
GBM_FAKE_MEMORY=16000000 status 0 "${draw[@]}" some.csv --device cuda
same <(grep -hv '^#' all_?.csv) <(grep -hv '^#' some_?.csv)
python3 - <<'E' || fail "host and device draw otherwise"
def rows(name):
    return [[float(x) for x in r.split(",")] for c in (1, 2)
            for r in open(f"{name}_{c}.csv") if r[0] in "-.0123456789"]
host, device = rows("host"), rows("all")
assert len(host) == 4
for a, b in zip(host, device, strict=True):
    for x, y in zip(a, b, strict=True):
        assert abs(x - y) < 1e-6 * max(1, abs(x)), (x, y)
E
GBM_FAKE_MEMORY=6000000 status 2 "${draw[@]}" none.csv --device cuda
says 'too little memory on the device: threads that update x need .* at once'
absent none_1.csv
