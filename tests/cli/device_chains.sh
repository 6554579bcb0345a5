#!/usr/bin/env bash
# The sweeps of a chain in one kernel draw what they draw step by step, and what
# the host draws. On stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

# A hidden path; what is kept is computed from a node that is drawn forward for
# it; a block that has nothing to draw.
cat >path.gbm <<'E'
model {
  z[1] ~ dcat(p[1:2])
  for (t in 2:6) { z[t] ~ dcat(P[z[t - 1],1:2]) }
  for (t in 1:6) { y[t] ~ dnorm(z[t] + m, 1 / s^2) }
  m ~ dnorm(0, 0.1)
  s ~ dlnorm(0, 4)
  rho ~ dunif(-0.8, 0.8)
  S[1,1] <- s * s
  S[1,2] <- rho * s * s
  S[2,1] <- S[1,2]
  S[2,2] <- s * s
  T[1:2,1:2] <- inverse(S[,])
  x[1] ~ dnorm(0, 1)
  for (t in 2:4) { x[t] ~ dnorm(x[t - 1], 1 / s^2) }
}
E
echo '{"p": [0.5, 0.5], "P": [[0.8, 0.2], [0.3, 0.7]], "x": [0.1, 0.4, 0, 1],
  "y": [0.5, 1.2, 0.3, 2.4, 1.9, 2.2]}' >path.json
status 0 "$GBMC" -O1 path.gbm -o path
GBM_CUDA_CHAINS=8 status 0 ./path --data path.json --device cuda --warmup 0 \
    --draws 2
says 'sweeps in one kernel, 8 threads a chain'
draw() { # FILE OPTION...
    local out=$1
    shift
    status 0 ./path --data path.json --quiet --chains 3 --warmup 2 --draws 70 \
        --thin 2 --format csv --lp --out "$out.csv" "$@"
}
draw cpu --device cpu
for lanes in 0 1 4 32; do
    export GBM_CUDA_CHAINS=$lanes
    draw "lanes$lanes" --device cuda
done
python3 - <<'E' || fail "host and device draw otherwise"
def rows(name, chain):
    with open(f"{name}_{chain}.csv") as f:
        return [r for r in f if not r.startswith("#")]
for lanes in (0, 1, 4, 32):
    for chain in (1, 2, 3):
        host, device = rows("cpu", chain), rows(f"lanes{lanes}", chain)
        assert len(host) == len(device) == 36, (lanes, len(device))
        for a, b in zip(host[1:], device[1:]):
            for x, y in zip(a.split(","), b.split(",")):
                assert abs(float(x) - float(y)) < 1e-6 * max(1, abs(float(x))), \
                    (lanes, chain, x, y)
E

# Rows of much arithmetic are shared by the lanes of a chain where rows of little
# are not: the device is busy with more threads.
unset GBM_CUDA_CHAINS
lanes_of() { # NAME DENSITY LANES
    echo "samplers { mu : rw; }
model {
  for (i in 1:50) { y[i] ~ $2 }
  for (k in 1:3) { mu[k] ~ dunif(-10, 10) t[k] <- 1 w[k] <- k }
}" >"$1.gbm"
    status 0 "$GBMC" -O 0 "$1.gbm" -o "$1"
    GBM_FAKE_MULTIPROCESSORS=1 status 0 "./$1" --data fifty.json --device cuda \
        --no-check --chains 240 --warmup 1 --draws 1
    says "sweeps in one kernel, $3 a chain"
}
python3 -c 'import json; json.dump({"y": [i % 7 for i in range(50)]},
                                   open("fifty.json", "w"))'
lanes_of much 'dnormmix(mu[], t[], w[])' '4 threads'
lanes_of little 'dnorm(mu[1] * mu[2] * mu[3], 1)' '1 thread'
