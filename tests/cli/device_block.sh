#!/usr/bin/env bash
# A small Gaussian block that has fewer rows than coordinates: host and device
# draw it alike. On stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device
cat >model.gbm <<'E'
model {
  for (i in 1:1) { y[i] ~ dnorm(inprod(X[i,], b[]), 2) }
  for (j in 1:3) { b[j] ~ dnorm(0, 1) }
}
E
echo '{"X": [[0.5, 0.03, 0.7]], "y": [0.3]}' >data.json
status 0 "$GBMC" -O1 model.gbm -o model
for device in cpu cuda; do
    status 0 ./model --data data.json --device "$device" --quiet --chains 1 \
        --warmup 0 --draws 20 --format csv --out "$device.csv"
done
grep -v '^#' cpu_1.csv >cpu.txt
grep -v '^#' cuda_1.csv >cuda.txt
python3 - <<'E' || fail "host and device draw otherwise"
host, device = (list(open(f)) for f in ("cpu.txt", "cuda.txt"))
assert len(host) == len(device) == 21
for a, b in zip(host[1:], device[1:]):
    for x, y in zip(a.split(","), b.split(",")):
        assert abs(float(x) - float(y)) < 1e-6 * max(1, abs(float(x))), (x, y)
E
