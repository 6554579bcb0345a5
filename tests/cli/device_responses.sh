#!/usr/bin/env bash
# Vector densities as terms of a joint Gaussian block: host and device draw them
# alike, with sums had at load and, where a component is missing, with rows. On
# stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device
cat >model.gbm <<'E'
model {
  for (t in 2:T) {
    for (k in 1:2) {
      mu[t,k] <- a[k] + inprod(A[k,1:2], y[t-1,1:2])
      nu[t,k] <- b[k] * y[t-1,k]
    }
    y[t,1:2] ~ dmnorm(mu[t,1:2], Omega[1:2,1:2])
    z[t,1:2] ~ dmnorm(nu[t,1:2], Omega[1:2,1:2])
  }
  for (k in 1:2) {
    a[k] ~ dnorm(0, 0.1)
    b[k] ~ dnorm(0, 0.1)
    for (j in 1:2) { A[k,j] ~ dnorm(0, 1) }
  }
  Omega[1:2,1:2] ~ dwish(R[,], 3)
}
E
cat >data.json <<'E'
{"T": 5, "R": [[1, 0.2], [0.2, 1]],
 "y": [[1, 2], [0.5, 1.2], [1.5, -0.3], [0.7, 0.9], [0.1, 1.1]],
 "z": [[0, 0], [0.3, null], [1.1, 0.3], [0.2, -0.9], [0.6, 0.1]]}
E
status 0 "$GBMC" -O1 --explain model.gbm data.json -o model
[ "$(grep -c 'joint Gaussian' .out)" = 2 ] || fail "not two joint blocks"
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
