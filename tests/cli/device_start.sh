#!/usr/bin/env bash
# What a start on a device goes to is told with GBM_TIMES=1; where a sweep takes
# long the self-check makes one, not a dozen. On stand-ins for CUDA's libraries
# (tests/gpu/fake).
source "$GBM_ROOT/tests/cli/lib"
fake_device
sampler pump
cp "$examples/pump/data.json" pump.json
export GBM_CUDA_CHAINS=0 GBM_CUDA_QUICK=0 GBM_CACHE=$scratch/kept
export GBM_FAKE_LOG=log
kernels() { # OPTION...: that a run has taken
    rm -f log
    status 0 ./pump --data pump.json --device cuda --quiet --chains 2 \
        --warmup 0 --draws 1 "$@"
    ran=$(awk '{ n += $2 } END { print n }' log)
}

GBM_TIMES=1 kernels
cp .err times
kernels --no-check
one=$ran # a sweep, and what a kept draw takes
GBM_FAKE_WAIT=200000 kernels # a sweep takes most of a second
slow=$ran
[ "$slow" -gt "$one" ] || fail "no self-check: $slow kernels of $one"
# some sweeps more, and densities; a dozen sweeps would be three times as many
[ "$slow" -lt $((4 * one)) ] || fail "a slow device makes $slow kernels of $one"
for _ in 1 2 3; do # other work may hold up the stand-in
    kernels
    [ ! -s .err ] || fail "told without being asked"
    [ "$ran" -le $((3 * slow / 2)) ] || break
done
[ "$ran" -gt $((3 * slow / 2)) ] || fail "a fast device makes $ran of $one"
echo "kernels: $one of a sweep, $slow with a slow self-check, $ran with a fast one"

# A line for each thing done, by the clock, from the start of the process on.
python3 - times <<'P' || fail "times"
import re, sys
lines = open(sys.argv[1]).read().splitlines()
found = [re.fullmatch(r" *(\d+\.\d{3}) s  (.+)", line) for line in lines]
assert all(found), lines
seconds = [float(m[1]) for m in found]
assert seconds == sorted(seconds) and seconds[0] < seconds[-1] < 600, seconds
said = [m[2].strip() for m in found]
order = ["data are read", "programs are ordered", "the device is open",
         "sweeps of the host", "programs are compiled, level 3",
         "programs are loaded", "the device is loaded", "the sampler is checked"]
assert [s for s in said if s in order] == order, said
assert sum("kernels.cu" in s for s in said) == 1, said
P
