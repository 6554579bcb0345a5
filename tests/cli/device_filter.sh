#!/usr/bin/env bash
# --method filter on a device with memory of its own: in double precision what
# the host's filters tell, from the same random numbers, particle by particle;
# in single precision means as near as rounding has them. On stand-ins for
# CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

# draw NAME DEVICE OPTION...
draw() {
    local name=$1 device=$2
    shift 2
    status 0 ./model --method filter --quiet --device "$device" \
        --summary "$name.json" "$@"
}

# What two summaries have alike: all numbers within TOLERANCE of a cell's sd.
cat >alike.py <<'E'
import json, sys
a, b = (json.load(open(n + ".json")) for n in sys.argv[1:3])
tolerance = float(sys.argv[3])
def near(x, y, scale=1):
    return x == y or abs(x - y) <= tolerance * (scale + abs(x))
assert a["particles"] == b["particles"] and a["filters"] == b["filters"]
assert len(a["times"]) == len(b["times"]) > 2
for s, t in zip(a["times"], b["times"]):
    assert s["resampled"] == t["resampled"], (s, t)
    for key in ("ess", "ancestors", "log_likelihood"):
        assert near(s[key], t[key]), (s, t)
assert any(0 < s["resampled"] for s in a["times"])
assert near(a["log_likelihood"]["value"], b["log_likelihood"]["value"])
assert a["parameters"].keys() == b["parameters"].keys() != set()
for name, p in a["parameters"].items():
    q = b["parameters"][name]
    for x, y in ((p, q), (p["filtered"], q["filtered"])):
        for key in ("mean", "sd", "mcse", "q5", "q50", "q95"):
            assert near(x[key], y[key], x["sd"]), (name, key, x, y)
E
alike() { # NAME OTHER TOLERANCE
    python3 alike.py "$@" || fail "$1 and $2 differ: $(cat .err)"
}

# ---- a lag of two times, a missing observation, an outlier: more particles
# than a block of threads has, and fewer ----
lagged_model
echo '{"T": 12, "y": [0.4, 1.9, null, 2.2, 0.3, -0.9, -1.2, 0.1, 3.8, 2.9, 3.1,
  null]}' >linear.json
status 0 "$GBMC" -O 0 linear.gbm -o model
given="--data linear.json --init linear.init.json --chains 2"
# shellcheck disable=SC2086 # words
for n in 7 93 1101; do
    draw cpu$n cpu $given --particles $n
    draw cuda$n cuda $given --particles $n
    alike cpu$n cuda$n 1e-9
done
# shellcheck disable=SC2086
draw single cuda $given --particles 1101 --precision single
python3 - <<'E' || fail "means in single precision are others"
import json
a, b = (json.load(open(n + ".json")) for n in ("cpu1101", "single"))
assert abs(a["log_likelihood"]["value"] - b["log_likelihood"]["value"]) < 0.2
for name, p in a["parameters"].items():
    p, q = (r["parameters"][name]["filtered"] for r in (a, b))
    for key in ("mean", "sd", "q5", "q50", "q95"):
        few = 0.7 if key[0] == "q" else 0.3
        assert abs(p[key] - q[key]) < few * p["sd"], (name, key, p, q)
E

# The paths that are kept; a run that goes on; draws of parameters.
for device in cpu cuda; do
    # shellcheck disable=SC2086
    draw p_$device $device $given --particles 60 --draws 40 --format csv \
        --digits 12 --out p_$device.csv
    grep -v '^#' p_${device}_1.csv >p_$device
done
python3 - <<'E' || fail "the paths are not the host's"
a, b = ([l.strip().split(",") for l in open("p_" + d)] for d in ("cpu", "cuda"))
assert a[0] == b[0] and len(a) == len(b) == 41
for r, s in zip(a[1:], b[1:]):
    assert all(x == y or abs(float(x) - float(y)) < 1e-8
               for x, y in zip(r, s)), (r, s)
assert len({tuple(r) for r in a[1:]}) > 10
E
status 0 ./model --data linear.json --quiet --no-check --warmup 20 --draws 12 \
    --chains 1 --out fit.nc
for device in cpu cuda; do
    draw f_$device $device --data linear.json --from fit.nc --chains 3 \
        --particles 81
done
alike f_cpu f_cuda 1e-9

# Nothing of what is done between two times is the host's.
GBM_FAKE_KERNELS=ran draw counted cuda --data linear.json --init \
    linear.init.json --chains 1 --particles 93
for kernel in filter_advance_kernel filter_take; do
    grep -qx "$kernel 12" ran || fail "$kernel: $(cat ran)"
done

# ---- integers, matrices' rows, a vector state ----
cat >hidden.gbm <<'END'
model {
  z[1] ~ dcat(p0[])
  for (t in 2:T) { z[t] ~ dcat(P[z[t-1],]) }
  v[1,1:2] ~ dmnorm(zero[], Q[,])
  for (t in 2:T) { v[t,1:2] ~ dmnorm(v[t-1,], Q[,]) }
  for (t in 1:T) {
    y[t] ~ dnorm(mu[z[t]] + v[t,1], 4)
    w[t] ~ dbern(0.25)
    c[t] ~ dpois(exp(w[t]) * z[t])
    u[t] ~ dunif(z[t] - 1, z[t])
  }
  for (k in 1:2) { mu[k] ~ dnorm(0, 0.1) }
}
END
echo '{"T": 8, "p0": [0.5, 0.5], "P": [[0.8, 0.2], [0.3, 0.7]],
  "zero": [0, 0], "Q": [[2, 0.5], [0.5, 1]],
  "y": [1, 1, 0.2, 0.5, 0.1, 0.9, 0.3, null], "c": [1, 2, 3, 0, 1, 5, 2, 2]}' \
    >hidden.json
echo '{"mu": [0, 1]}' >hidden.init.json
status 0 "$GBMC" -O 0 hidden.gbm -o model
for device in cpu cuda; do
    draw h_$device $device --data hidden.json --init hidden.init.json \
        --particles 1203 --chains 2
done
alike h_cpu h_cuda 1e-9

# ---- what goes wrong ----
sed 's/^{/{"u": [null, null, 7, null, null, null, null, null], /' hidden.json \
    >never.json
for device in cpu cuda; do
    status 2 ./model --data never.json --init hidden.init.json --method filter \
        --quiet --device $device --particles 50
    cp .err never.$device
done
cmp never.cpu never.cuda || fail "$(cat never.cuda)"
status 1 ./model --data hidden.json --init hidden.init.json --method filter \
    --proposal guided --device cuda
says "runs on the CPU"
status 1 ./model --data hidden.json --method pmmh --device cuda
says "runs on the CPU"
