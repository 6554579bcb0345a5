#!/usr/bin/env bash
# Sweeps on a device begin with programs that were compiled quickly; better ones
# take their place whenever they come, and draws are the same bits. Nothing waits
# for them at the end. On stand-ins for CUDA's libraries (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device
sampler pump
# rows of a pass, a step that multiplies, a dense block with memory of its own
cat >probit.gbm <<'E'
model {
  for (i in 1:150) { y[i] ~ dbern(phi(inprod(X[i,], b[]))) }
  for (j in 1:d) { b[j] ~ dnorm(0, s) }
  s ~ dgamma(2, 2)
}
E
python3 - <<'E'
import json, random
random.seed(1)
X = [[random.gauss(0, 1) for _ in range(40)] for _ in range(150)]
json.dump({"X": X, "d": 40,
           "y": [int(sum(r[:3]) + random.gauss(0, 1) > 0) for r in X]},
          open("probit.json", "w"))
E
status 0 "$GBMC" -O 0 probit.gbm -o probit
cp "$examples/pump/data.json" pump.json

run() { # NAME FILE OPTION...
    local name=$1 out=$2
    shift 2
    rm -f log
    status 0 "$scratch/$name" --data "$name.json" --device cuda --quiet \
        --no-check --warmup 20 --chains 2 --threads 2 --format csv --lp \
        --out "$out.csv" "$@"
    grep -hv '^#' "${out}"_[12].csv >"$out"
}
# whether kernels of that level have run
ran() { awk -v l="$1" '$1 == l && $2 > 0 { n++ } END { exit !n }' log; }
export GBM_FAKE_LOG=log

# The better ones come before block K and the full ones before 2 K.
draw() { # NAME BLOCKS OPTION...
    local name=$1 blocks=$2 K
    shift 2
    GBM_CUDA_QUICK=0 run "$name" full "$@"
    ! ran max && ! ran min && ran full || fail "$name: quick after all"
    for K in $blocks; do
        GBM_CACHE=off GBM_CUDA_QUICK=$K run "$name" "quick$K" "$@"
        [ "$K" = 1 ] || ran max || fail "$name $K: no sweep by the quick one"
        ran min && ran full || fail "$name $K: nothing has been replaced"
        same full "quick$K"
    done
}
for lanes in 0 4; do
    GBM_CUDA_CHAINS=$lanes draw pump '1 2' --draws 100
done
GBM_CUDA_PASS=1 draw probit '2' --draws 20

# All cores are the quick one's until sweeps begin.
GBM_FAKE_COMPILED=compiled GBM_FAKE_SLOW_MAX=5 GBM_CACHE=off \
    GBM_CUDA_QUICK=2 run pump order --draws 100
awk '$2 != "max" { other = 1 } $2 == "max" && other { early = 1 }
    END { exit early || !other }' compiled || fail "more was compiled before the sweeps"
# Programs are compiled by as many processes as there are threads, none of them
# the run's, which begin before the device is open.
sampler rats
cp "$examples/rats/data.json" rats.json
for name in pump rats; do
    rm -f compiled
    GBM_FAKE_COMPILED=compiled GBM_FAKE_OPEN=compiled GBM_CUDA_CHAINS=0 \
        GBM_CACHE=off GBM_CUDA_QUICK=2 run "$name" many --draws 10
    awk '$1 == "begin" && $2 == "max" { n++; p[$3] }
        END { exit !(n > 1 && length(p) == 2) }' compiled ||
        fail "$name: the programs are not compiled side by side"
done
[ "$(grep -c 'begin max' compiled)" = 9 ] ||
    fail "what was ordered ahead is not what is wanted"
# So it is where chains have other values than none: of what is not to be had,
# which is asked for once more, processes ask for as many as the run.
status 0 "$GBMC" -O 0 "$examples/heterosis/heterosis.gbm" -o heterosis
rm -f compiled
GBM_FAKE_NVRTC=--std GBM_FAKE_COMPILED=compiled GBM_CACHE=off \
    GBM_CUDA_QUICK=2 \
    status 2 ./heterosis --data "$examples/heterosis/data.json" \
    --device cuda --quiet --no-check --chains 2 --threads 2 --draws 1
awk '$2 == "max" { n[$3]++; all++ }
    END { for (p in n) if (2 * n[p] == all) half = 1; exit !half }' compiled ||
    fail "what was ordered ahead for heterosis is not what is wanted"
# One that breaks down leaves its program to the run.
GBM_FAKE_DIES=max GBM_CACHE=off GBM_CUDA_CHAINS=0 GBM_CUDA_QUICK=2 \
    run rats broken --draws 10
ran max || fail "nothing compiles for a process that broke down"
same many broken

# A run that goes on from a checkpoint may be at another level.
export GBM_CUDA_CHAINS=0
GBM_CUDA_QUICK=0 run pump full --draws 100
GBM_CACHE=off GBM_CUDA_QUICK=2 run pump part --draws 40 --checkpoint saved
GBM_CACHE=off GBM_CUDA_QUICK=3 run pump on --draws 100 --resume saved
same full on

# What is compiled stays: the next run begins with the full ones.
export GBM_CACHE=$scratch/other
GBM_CUDA_QUICK=2 run pump first --draws 40
GBM_CUDA_QUICK=2 run pump second --draws 40
same first second
! ran max && ! ran min && ran full || fail "the full ones were not kept"
export GBM_CACHE=off

# What cannot be compiled with more care is left as it is, and told of.
GBM_FAKE_NVRTC=full GBM_CUDA_QUICK=2 run pump middle --draws 100
same full middle
ran min && ! ran full || fail "not the middle level"
GBM_FAKE_NVRTC=full GBM_CUDA_QUICK=2 status 0 ./pump --data pump.json \
    --device cuda --quiet --no-check --draws 100 --out told.nc
grep -aq 'compiled quickly, as more failed' told.nc || fail "it is not told"
GBM_FAKE_NVRTC=--Ofast-compile=min GBM_CUDA_QUICK=2 run pump high --draws 100
same full high
ran max && ran full && ! ran min || fail "not straight to the full level"
GBM_FAKE_NVRTC=max GBM_CUDA_QUICK=2 run pump slow --draws 100
same full slow
ran full && ! ran min || fail "not as it should be otherwise"

# Nothing is waited for, and nothing is left: at the end, after Ctrl-C, after a
# kill.
left() { pgrep -f "$scratch/pump" >/dev/null; }
gone() { # WHEN
    for _ in $(seq 50); do
        left || return 0
        sleep 0.1
    done
    # shellcheck disable=SC2046 # numbers
    kill -KILL $(pgrep -f "$scratch/pump")
    fail "the compiler goes on $1"
}
export GBM_FAKE_SLOW=600
unset GBM_CUDA_QUICK
began=$SECONDS
run pump short --draws 100
[ $((SECONDS - began)) -lt 60 ] || fail "a short run waits for the compiler"
same full short
ran max && ! ran full || fail "the compiler was not slow"
gone 'after the end'
for signal in INT KILL; do
    # a background job of a shell ignores SIGINT: the sampler catches it later
    "$scratch/pump" --data pump.json --device cuda --no-check --draws 2000000 \
        --monitor alpha --out long.csv >.out 2>.err </dev/null &
    id=$!
    for _ in $(seq 300); do
        grep -q 'chains on' .err && break
        sleep 0.1
    done
    left || fail "$signal: it does not run"
    kill -$signal $id
    wait $id
    gone "after $signal"
done
