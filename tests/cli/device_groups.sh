#!/usr/bin/env bash
# Groups that are moved at once: on a device the lanes of a chain's team share
# the move, in memory that a load asks for. They draw what the host draws: while
# they learn and after, with ends and without, few lanes or many, and whichever
# thread goes first. On stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device

# group SAMPLER, ends SAMPLER: ./group moves 39 coordinates so
build() { # SAMPLER; the model comes in
    { cat; echo "samplers { x, z : $1; }"; } >group.gbm
    status 0 "$GBMC" -O 1 group.gbm -o group
}
group() {
    build "$1" <<'E'
model {
  for (i in 1:20) {
    x[i] ~ dnorm(0, 1 + i / 10)
    y[i] ~ dnorm(x[i] + x[21 - i] / 2, 3)
    log(rate[i]) <- z[i]
    z[i] ~ dnorm(x[i], 2)
    n[i] ~ dpois(rate[i])
  }
}
E
}
ends() {
    build "$1" <<'E'
model {
  for (i in 1:20) {
    x[i] ~ dgamma(2, 1)
    z[i] ~ dbeta(2, 3)
    y[i] ~ dnorm(x[i] * z[i], 3)
    n[i] ~ dpois(x[i])
  }
}
E
}
python3 - <<'E'
import json
json.dump({"y": [(i * 7 % 5 - 2) / 2 for i in range(20)],
           "x": [1.5 if i == 3 else None for i in range(20)],
           "n": [i * 3 % 4 for i in range(20)]}, open("data.json", "w"))
E
draw() { # FILE OPTION...
    local out=$1
    shift
    status 0 ./group --data data.json --quiet --warmup "$warmup" --draws 10 \
        --chains 2 --format csv --out "$out.csv" "$@"
}
# as_host WARMUP: of four lanes, and of a block of them
as_host() {
    warmup=$1
    draw host --device cpu
    GBM_CUDA_CHAINS=4 draw four --device cuda
    GBM_CUDA_CHAINS=0 draw block --device cuda
    GBM_CUDA_CHAINS=0 GBM_FAKE_ORDER=1 draw last --device cuda
    same <(grep -hv '^#' block_?.csv) <(grep -hv '^#' last_?.csv)
    python3 - <<'E' || fail "$kind: host and device draw otherwise"
def rows(name):
    return [[float(x) for x in r.split(",")] for c in (1, 2)
            for r in open(f"{name}_{c}.csv") if r[0] in "-.0123456789"]
host = rows("host")
assert len(host) == 20 and len(set(map(tuple, host))) > 2
for name in ("four", "block"):
    for a, b in zip(host, rows(name), strict=True):
        for x, y in zip(a, b, strict=True):
            assert abs(x - y) < 1e-6 * max(1, abs(x)), (name, x, y)
E
}
for kind in 'rw_block(scale = 0.05)' 'pcn(scale = 0.2)' ess; do
    group "$kind"
    as_host 30
done
for kind in 'diam(share = chains, lag = 20)'; do
    group "$kind"
    as_host 75 # there is a reference
done
for kind in 'am(scale = 0.3)' diam; do
    ends "$kind"
    as_host 75
done

# No thread asks for memory while it moves a group.
status 0 "$GBMC" --emit=cuda group.gbm
sed -n '/^GBM_FN void update_x/,/^}/p' .out >move
exists move
grep -q GBM_SCRATCH move && fail "the move takes memory as it goes"
exit 0
