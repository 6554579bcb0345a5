#!/usr/bin/env bash
# Simulation-based calibration on a device: all replicates are its chains, each
# with data of its own, and ranks are those of the host. On stand-ins for CUDA's
# libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device
patience=500 # a stand-in is slow beside other tests

# Rows with a dense block, sums by group, counts of a latent class with a missing
# row, a node drawn forward and one computed when kept.
cat >classes.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(a + b * x[i] + mu[g[i]], tau)
    z[i] ~ dcat(p[1:2])
    w[i] ~ dpois(exp(s[z[i]]))
  }
  for (j in 1:3) { mu[j] ~ dnorm(0, 4) }
  for (k in 1:2) { s[k] ~ dnorm(k, 4) }
  p[1:2] ~ ddirch(alpha[])
  a ~ dnorm(0, 1)
  b ~ dnorm(0, 1)
  tau ~ dgamma(3, 3)
  new ~ dnorm(a, tau)
  d <- s[2] - s[1]
}
E
cat >classes.json <<'E'
{"N": 7, "x": [-1, 0, 1, 2, 3, -2, 1], "g": [1, 2, 3, 1, 2, 3, 1],
 "alpha": [1, 1], "y": [0, 0, null, 0, 0, 0, 0], "w": [1, 1, 1, 1, null, 1, 1]}
E
status 0 "$GBMC" -O 0 classes.gbm -o classes
sbc() { # DEVICE OPTION...
    local device=$1
    shift
    status '0|2' ./classes sbc --data classes.json --threads 1 --replicates 20 \
        --draws 4 --warmup 8 --device "$device" --out "$device.json" "$@"
}
sbc cpu
for lanes in 0 4; do # step by step, and all sweeps in one kernel
    export GBM_CUDA_CHAINS=$lanes
    sbc cuda
    says '^classes: 20 of 20 replicates at a time on a CPU that plays a GPU'
    python3 - <<'E' || fail "ranks of the device are not the host's"
import json
cpu, cuda = (json.load(open(f"{d}.json")) for d in ("cpu", "cuda"))
a, b = cpu["quantities"], cuda["quantities"]
assert list(a) == list(b) and cpu["sweeps_apart"] == cuda["sweeps_apart"]
assert {"y[3]", "w[5]", "z[7]", "new", "d", "deviance"} <= set(a), a.keys()
for name in a:
    # rounding may end a slice elsewhere, and then all that follows
    other = sum(x != y for x, y in zip(a[name]["ranks"], b[name]["ranks"]))
    assert len(a[name]["ranks"]) == 20 and other <= 1, (name, other)
E
done

# More than the CPU has at a time are chains of one device, in any precision.
echo 'model { y ~ dnorm(m, 1)  m ~ dnorm(0, 1) }' >one.gbm
echo '{"y": 1}' >one.json
status 0 "$GBMC" -O 0 one.gbm -o one
one() {
    status '0|2' ./one sbc --data one.json --threads 1 --replicates 130 \
        --draws 4 --warmup 1 "$@"
}
one --device cuda --precision single
says '^one: 130 of 130 replicates at a time on a CPU that plays a GPU'
one --device cpu
says '^one: 65 of 130 replicates at a time on CPU'
one # a GPU is only asked for
says '^one: 65 of 130 replicates at a time on CPU'
status 1 ./one sbc --data one.json --device cuda --plain
says 'plain runs on the CPU'
exit 0
