#!/usr/bin/env bash
# A device keeps sums over rows that are worth it, as the host does
# (stdlib/kernels/recall.h): draws are what they are without, bit by bit, step by
# step and in one kernel, by a random walk of elements and of all at once. Methods
# with powers take log likelihoods from there, which may be added up in another
# order: to rounding. On stand-ins for CUDA's libraries.
source "$GBM_ROOT/tests/cli/lib"
fake_device
python3 - <<'P'
import json, random
rng = random.Random(3)
y = [round(rng.gauss(rng.choice([-2, 1, 4]), 0.8), 3) for _ in range(40)]
json.dump({"N": 40, "y": y, "w": [0.3, 0.3, 0.4]}, open("data.json", "w"))
P
text='model {
  for (i in 1:N) { y[i] ~ dnormmix(mu[], tau[], w[]) }
  for (k in 1:3) { mu[k] ~ dnorm(0, 0.05) tau[k] <- 1 / s^2 }
  s ~ dunif(0.1, 4)
}'
echo "samplers { mu : rw; s : rw; } $text" >walk.gbm
echo "samplers { mu, s : rw_block; } $text" >group.gbm

# build NAME OPTION...: NAME, and NAME.off, on whose device a sum that is known is
# taken to be another.
build() {
    local name=$1
    shift
    "$GBMC" "$@" --emit=c "$name.gbm" >"$name.c" 2>.err || fail "$name.gbm"
    sed 's/^\("  *\)if (!gbm_recall(\(.*\), &sum))\\n"/\1if (!gbm_recall(\2, \&sum) || ((sum -= 1e9), 0))\\n"/' \
        "$name.c" >"$name.off.c"
    cmp -s "$name.c" "$name.off.c" && fail "$name: a device keeps no sum"
    for way in "" .off; do
        compile_c "$name$way.c" "$name$way"
    done
}
# draw OUT PROGRAM RECALL OPTION...
draw() {
    local out=$1 program=$2
    export GBM_CUDA_RECALL=$3
    shift 3
    status 0 "./$program" --data data.json --device cuda --quiet --no-check \
        --format csv --digits 15 --chains 2 --out "$out.csv" "$@"
    grep -v '^#' "${out}_1.csv" | cut -d, -f8- >"$out" # without lp and the like
}
# alike NAME OPTION...: the same draws, whatever the compiler knows of lengths.
alike() {
    local name=$1
    shift
    draw anew "$name" 0 "$@"
    GBM_CUDA_KNOWN=1 draw kept "$name" 1 "$@"
    $compare anew kept
}
near() {
    python3 - "$1" "$2" <<'P' || fail "$1 and $2 are not the same to rounding"
import sys
a, b = ([[float(x) for x in line.split(",")] for line in open(name)
         if line[0] in "-.0123456789"] for name in sys.argv[1:])
assert len(a) == len(b) > 10
assert all(abs(x - y) <= 1e-9 * (1 + abs(x)) for r, s in zip(a, b)
           for x, y in zip(r, s))
P
}
# used NAME OPTION...: some sums were known.
used() {
    local name=$1
    shift
    draw kept "$name" 1 "$@"
    draw off "$name.off" 1 "$@"
    cmp -s kept off && fail "$name $*: nothing was known"
}
compare=same
short=(--warmup 6 --draws 12)
build walk --with=powers
export GBM_CUDA_CHAINS=4
alike walk "${short[@]}"
used walk "${short[@]}"
alike walk "${short[@]}" --precision single
unset GBM_CUDA_CHAINS
compare=near alike walk --method tempering --replicas 4 "${short[@]}"
compare=near alike walk --method smc --particles 20
build group
export GBM_CUDA_CHAINS=0
alike group "${short[@]}"
used group "${short[@]}"

# A sweep of tempering in one kernel leaves log likelihoods where swaps find them,
# which end the sweep; of its draws the ring has those of the posterior alone. As
# step by step, where all is done by kernels of its own.
climb() { # OUT CHAINS RECALL
    rm -f ran
    export GBM_CUDA_CHAINS=$2 GBM_FAKE_KERNELS=ran
    draw "$1" walk "$3" --method tempering --replicas 4 --lp "${short[@]}"
    grep -v '^#' "$1_1.csv" | cut -d, -f1 >"$1.lp"
    unset GBM_CUDA_CHAINS GBM_FAKE_KERNELS
}
climb apart 0 0
grep -q '^logdensity_y_v_kernel ' ran || fail "no densities: $(cat ran)"
climb swept 4 1
near apart swept
near apart.lp swept.lp
grep -qx 'chains_kernel 18' ran && grep -qx 'ladder_swap 18' ran &&
    ! grep -qE '^((known|logdensity).* [0-9]{2,}$|sweeps_done)' ran ||
    fail "more kernels than two a sweep: $(cat ran)"

# Long rows of much arithmetic are worth it by themselves; short ones are not, nor
# is anything in mixed precision.
unset GBM_CUDA_RECALL
keeps() { # OPTION...
    for name in walk walk.off; do
        status 0 "./$name" --data data.json --device cuda --quiet --no-check \
            --format csv --method tempering --replicas 4 --warmup 5 --draws 5 \
            --chains 1 --out "$name.csv" "$@"
    done
    ! cmp -s <(grep -v '^#' walk_1.csv) <(grep -v '^#' walk.off_1.csv)
}
export GBM_CUDA_CHAINS=1
keeps || fail "sums of much arithmetic are not kept"
keeps --precision mixed && fail "sums are kept in mixed precision"
GBM_CUDA_CHAINS=32 keeps && fail "sums of little arithmetic for a lane are kept"
exit 0
