#!/usr/bin/env bash
# run --profile prints what each step takes, and draws what a run without it
# does; on the host with several threads, and on a device.
source "$GBM_ROOT/tests/cli/lib"
sampler rats
data=$examples/rats/data.json

# table STEPS: all of them, and shares and times that add up.
table() {
    python3 - "$1" .out <<'E2' || fail "the table"
import re, sys
wanted = set(sys.argv[1].split(","))
lines = open(sys.argv[2]).read().split("Where the time goes")[1].splitlines()
times, shares, end = {}, 0, None
for line in lines:
    found = re.match(r" *(\d*) +(\S.*?) +(\d* +)?([\d.e+-]+) +(\d+) %", line)
    if not found:
        continue
    step, name, us = found[1], found[2], float(found[4])
    if name == "all":
        end = us
    else:
        times[step or name] = us
        shares += int(found[5])
print(times, shares, end)
assert wanted == set(times), (wanted, set(times))
assert all(us > 0 for us in times.values())
assert abs(sum(times.values()) / end - 1) < 1e-3 and 90 <= shares <= 110
E2
}

run="./rats --data $data --warmup 100 --draws 200 --seed 3"
status 0 $run --quiet --device cpu --out plain.csv
for threads in 1 3; do
    status 0 $run --device cpu --threads $threads --profile --out timed.csv
    table "1,2,3,4,5,6,kept draws,random numbers ahead"
    diff <(grep -v '^#' plain_1.csv) <(grep -v '^#' timed_1.csv) ||
        fail "other draws with --profile"
done
status 0 $run --device cpu --profile --quiet
[ ! -s .out ] || fail "a table though --quiet"
status 1 $run --profile --plain
says 'profile times the sampler'
status 1 ./rats simulate --data "$data" --profile
says 'profile is an option of run'

fake_device
status 0 $run --device cuda --profile
table "1,2,3,4,5,6,kept draws"
