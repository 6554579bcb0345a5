#!/usr/bin/env bash
# Tempering and the sequential sampler on a device with memory of its own draw
# what the host draws: powers, states from the prior and what was swapped or
# copied go there. On stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device
cat >m.gbm <<'E'
model {
  for (i in 1:6) {
    y[i] ~ dnorm(mu[z[i]], tau)
    z[i] ~ dcat(w[])
    k[i] ~ dbin(p, 4)
  }
  for (c in 1:2) { mu[c] ~ dnorm(0, 0.1) }
  tau ~ dgamma(2, 2)
  u ~ dnorm(a, 0.1)
  logit(p) <- a
  a ~ dnorm(0, 0.5)
}
E
echo 'y <- c(-2, -1.5, -2.2, 1, 2, 1.7)
k <- c(1, 2, 4, 3, 3, 2)
u <- 1
w <- c(0.4, 0.6)' >m.R
# what is missing has its prior's density, which is none of the likelihood
sed 's/-1.5,/NA,/' m.R >part.R
status 0 "$GBMC" -O 0 --with=powers m.gbm -o m
draw() { # DATA METHOD DEVICE OPTION...
    local out=$1_$2_$3 data=$1 method=$2 device=$3
    shift 3
    status 0 ./m --data "$data.R" --quiet --method "$method" --chains 2 \
        --format csv --digits 15 --out "$out.csv" --summary "$out.json" \
        --device "$device" "$@"
}
for device in cpu cuda; do
    draw m tempering $device --replicas 4 --warmup 24 --draws 12
    draw m smc $device --particles 16
    draw part tempering $device --replicas 4 --warmup 24 --draws 12
done
python3 - <<'P' || fail 'device and host differ'
import json
near = lambda x, y: abs(x - y) < 1e-6 * (1 + abs(x))
for data, method, draws in (("m", "tempering", 12), ("m", "smc", 16),
                            ("part", "tempering", 12)):
    names = [f"{data}_{method}_{d}" for d in ("cpu", "cuda")]
    a, b = (json.load(open(n + ".json")) for n in names)
    assert near(a["log_evidence"]["value"], b["log_evidence"]["value"]), (a, b)
    assert all(map(near, a[method].get("powers", []),
                   b[method].get("powers", [])))
    for c in (1, 2):
        rows = [[list(map(float, l.split(","))) for l in open(f"{n}_{c}.csv")
                 if l[0] not in "#ldtmawz"] for n in names]
        assert len(rows[0]) == draws and len(rows[1]) == draws, rows
        for x, y in zip(*rows):
            assert all(map(near, x, y)), (method, x, y)
P

# The device swaps by itself, as the host would: the same draws, the same path of
# every replica, whatever the precision; blocks end where draws are not kept, and
# a run that is cut goes on.
same() { # NAME OTHER METHOD
    for chain in 1 2; do
        cmp <(grep -v '^#' "$1_$chain.csv") <(grep -v '^#' "$2_$chain.csv") ||
            fail "$1 and $2 draw otherwise"
    done
    python3 - "$1.json" "$2.json" "$3" <<'P' || fail "$1 and $2: reports"
import json, sys
a, b = (json.load(open(n)) for n in sys.argv[1:3])
own = sys.argv[3]
assert a[own] == b[own], (a[own], b[own])
assert own == "smc" or a[own]["round_trips"] > 0
assert abs(a["log_evidence"]["value"] - b["log_evidence"]["value"]) < 1e-9
P
}
climb() { # NAME OPTION...
    local out=$1
    shift
    status 0 ./m --data m.R --quiet --method tempering --chains 2 --device cuda \
        --replicas 5 --warmup 50 --draws 60 --thin 3 --lp --seed 2 --format csv \
        --digits 15 --out "$out.csv" --summary "$out.json" "$@"
}
for precision in double single; do
    GBM_TEMPERING=host climb host_$precision --precision $precision
    climb alone_$precision --precision $precision
    same host_$precision alone_$precision tempering
done
GBM_CUDA_CHAINS=2 climb lanes
GBM_TEMPERING=host GBM_CUDA_CHAINS=2 climb host_lanes
same lanes host_lanes tempering
climb cut --draws 25 --checkpoint m.ck
climb cut --resume m.ck
same cut alone_double tempering

# So it does where nobody asks for the density of draws.
GBM_FAKE_KERNELS=ran status 0 ./m --data m.R --quiet --method tempering \
    --device cuda --no-check --replicas 5 --warmup 50 --draws 60 --chains 2
grep -qx 'ladder_swap 110' ran || fail "the host swaps: $(cat ran)"

# Particles are copied on the device, and share there what they tune.
sed '1i samplers { a : rw; }' m.gbm >walk.gbm
status 0 "$GBMC" -O 0 --with=powers walk.gbm -o m
for precision in double single; do
    for where in host device; do
        GBM_SMC=$where draw m smc cuda --particles 40 --precision $precision
        for file in m_smc_cuda{_1.csv,_2.csv,.json}; do
            mv $file ${file/cuda/$where}
        done
    done
    same m_smc_host m_smc_device smc
done
rm ran
GBM_FAKE_COPIES=copies GBM_FAKE_KERNELS=ran status 0 ./m --data m.R --quiet \
    --method smc --device cuda --no-check --particles 40 --chains 2
grep -q '^particles_copy ' ran || fail "the host has the particles: $(cat ran)"

# Log likelihoods of the first draws are the device's, too: one time more than
# sweeps from which all learn, each array that is tuned by itself.
times() { sed -n "s/^$1 //p" ran; }
status 0 "$GBMC" --emit=slots walk.gbm
tuned=$(grep -c ' tuning ' .out)
[ "$tuned" -gt 0 ] || fail "nothing is tuned: $(cat .out)"
[ "$(times logdensity_y_v_kernel)" = \
    $(($(times particles_average) / tuned + 1)) ] ||
    fail "the host evaluates densities: $(cat ran)"

# The six z of 80 particles, and the lists of them, go there as the device begins
# and as the prior is drawn, and never again.
[ "$(grep -cx $((80 * 6 * 4)) copies)" = 4 ] ||
    fail "states go to the device $(grep -cx $((80 * 6 * 4)) copies) times"
