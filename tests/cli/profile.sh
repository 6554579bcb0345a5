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
text = open(sys.argv[2]).read().split("Where the time goes")[1]
lines = text.split("What a sweep")[0].splitlines()
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

# work STEP BYTES OPERATIONS: what the second table says that it does, that its
# phases are all of it, and that it says what limits it.
work() {
    python3 - "$@" .out <<'E2' || fail "the work of step $1"
import re, sys
step, wanted, file = sys.argv[1], [float(n) for n in sys.argv[2:4]], sys.argv[4]
units = {"": 1, " k": 1e3, " M": 1e6}
number = r" +([\d.e+-]+)( [kM])?"
found, phases = None, [0, 0]
for line in open(file).read().split("What a sweep")[1].splitlines():
    head = re.match(r" *(\d+)  \w(?:[\w.]|, )*" + 2 * number + r" +[\d.e+-]+  "
                    r"(?:>=|  ) *\d+ %  (?:memory|arithmetic|latency)$", line)
    phase = re.match(r" {8}\w+: .*?" + 3 * number + r" +[\d.e+-]+$", line)
    if head and found:
        break
    if not head and not phase:
        continue
    last = (head or phase).groups()[-4:]
    values = [float(last[k]) * units[last[k + 1] or ""] for k in (0, 2)]
    if head and head[1] == step:
        found = values
    elif phase and found:
        phases = [a + b for a, b in zip(phases, values)]
print(wanted, found, phases)
near = lambda a, b: abs(a - b) <= 6e-3 * b
assert all(map(near, found, wanted)) and all(map(near, phases, wanted))
E2
}

# By hand: 30 rats of 5 weeks; a function counts as 10, a draw as 40, an addition
# to a sum as 1; what is summed at load is nothing. alpha.c: 30 cells, twice
# summed; the blocks of two: a factor, 8/3, and products; tau.c: 150 rows, the
# cells of Y, alpha, beta and x.
work_of_rats() { # BYTES OF A CELL, CHAINS THAT SHARE DATA
    work 1 "$((31 * $1))" $((30 * 4 + 1 + 40))
    work 3 "$((2 * 30 * $1))" $((30 * (2 + 3 + 16 + 2 * 40)))
    work 10 "$((155 * $1 / $2 + 61 * $1))" $((150 * 11 + 10 + 40))
}

run="./rats --data $data --warmup 100 --draws 200 --seed 3"
status 0 $run --quiet --device cpu --out plain.csv
for threads in 1 3; do
    status 0 $run --device cpu --threads $threads --profile --out timed.csv
    table "1,2,3,4,5,6,7,8,9,10,kept draws,random numbers ahead"
    diff <(grep -v '^#' plain_1.csv) <(grep -v '^#' timed_1.csv) ||
        fail "other draws with --profile"
    work_of_rats 8 1
done
status 0 $run --device cpu --profile --quiet
[ ! -s .out ] || fail "a table though --quiet"
status 1 $run --profile --plain
says 'profile times the sampler'
status 1 ./rats simulate --data "$data" --profile
says 'profile is an option of run'

# Ragged rows and a search, a block with a given design, rows by a group of data,
# two values of each element.
cat >ragged.gbm <<'E'
model {
  for (j in 1:J) {
    for (k in 1:n[j]) { y[j,k] ~ dpois(exp(a[j])) }
    a[j] ~ dnorm(0, 1)
  }
  for (i in 1:N) {
    z[i] ~ dnorm(inprod(X[i,], b[]), tau)
    w[i] ~ dnorm(m[g[i]] + h[i], 1)
    h[i] ~ dbern(0.5)
  }
  for (k in 1:P) { b[k] ~ dnorm(0, 1) }
  for (k in 1:G) { m[k] ~ ddexp(0, 1) }
  tau ~ dgamma(1, 1)
}
E
python3 - >ragged.json <<'E'
import json, random
random.seed(1)
J, N, P, G, n = 3, 40, 12, 4, [2, 5, 1]
number = lambda: round(random.gauss(0, 1), 3)
print(json.dumps(dict(
    J=J, N=N, P=P, G=G, n=n,
    y=[[random.randrange(4) if k < n[j] else None for k in range(5)]
       for j in range(J)],
    X=[[number() for _ in range(P)] for _ in range(N)],
    z=[number() for _ in range(N)], w=[number() for _ in range(N)],
    g=[1 + i % G for i in range(N)])))
E
status 0 "$GBMC" -O 1 ragged.gbm -o ragged
status 0 ./ragged --data ragged.json --device cpu --profile
work 2 $((8 * 4 + 3 * 8)) $((8 * 2 + 3 * (2 * 11 + 40)))
work 3 $((12 * 12 * 8 + 12 * 8)) $((2 * 12 + 12 * 12 * 12 / 3 + 4 * 12 * 12 + 40 * 12))
work 5 $((40 * 8 + 40 * 4 + 4 * 16)) $((40 * 4 + 4 * (3 + 40)))
work 6 $((40 * 8 + 40 * 4 + 4 * 8 + 40 * 4)) $((40 * (2 * 3 + 40)))

# What is missing is no row of a sum, and what nothing observed depends on neither.
cat >missing.gbm <<'M'
model {
  for (i in 1:N) { y[i] ~ dnorm(m, 1) }
  for (i in 1:K) { z[i] ~ dnorm(m, 1) }
  m ~ dnorm(0, 1)
}
M
echo '{"N": 7, "K": 5, "y": [1, 2, null, 3, null, null, 1]}' >missing.json
status 0 "$GBMC" -O 1 missing.gbm -o missing
status 0 ./missing --data missing.json --device cpu --profile
work 1 $((4 * 8 + 8)) $((4 * 2 + 1 + 40))

check=$GBM_ROOT/$GBM_BUILD/tests/gpu/nvrtc_check
for precision in "" -DGBM_SINGLE "-DGBM_SINGLE -DGBM_MIXED"; do
    [ -x "$check" ] || break
    # shellcheck disable=SC2086 # words
    status 0 "$check" "$GBM_ROOT/runtime/cuda/ceilings.h" sm_90 --std=c++17 \
        -I"$GBM_ROOT/stdlib/kernels" $precision
done

fake_device
status 0 $run --device cuda --profile
table "1,2,3,4,5,6,7,8,9,10,kept draws"
work_of_rats 8 4
status 0 $run --device cuda --precision single --profile
work_of_rats 4 4
