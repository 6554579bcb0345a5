#!/usr/bin/env bash
# The sequential sampler: the evidence is that which can be computed exactly, the
# errors that are stated of it and of the masses of modes are honest, the draws
# are the posterior's, and nothing depends on the number of threads.
source "$GBM_ROOT/tests/cli/lib"
source "$GBM_ROOT/tests/cli/evidence"
evidence_model
for seed in $(seq 40); do
    status 0 ./exact --data exact.R --quiet --method smc --device cpu \
        --particles 400 --chains 2 --seed "$seed" --summary "s$seed.json" \
        --threads 1
done
evidence_is_exact s[1-9]*.json
python3 - s[1-9]*.json <<'P' || fail 'the draws'
import json, math, sys
# theta: beta(15, 10). a, b: of precision [17, 8], [8, 25] and with
# 4 sum(y), 4 sum(x y) on the right
right, det = (4 * 4.9, 4 * 5.7), 16.25 * 24.25 - 64
exact = {"theta": (0.6, (15 * 10 / 26) ** 0.5 / 25),
         "a": ((24.25 * right[0] - 8 * right[1]) / det, (24.25 / det) ** 0.5),
         "b": ((16.25 * right[1] - 8 * right[0]) / det, (16.25 / det) ** 0.5)}
fits = [json.load(open(f)) for f in sys.argv[1:]]
for s in fits:
    assert s["draws"] == 400 and s["chains"] == 2 and s["smc"]["steps"] > 2, s
n = 800 * len(fits)
for name, (mean, sd) in exact.items():
    rows = [s["parameters"][name] for s in fits]
    found = sum(r["mean"] for r in rows) / len(rows)
    second = sum(r["sd"] ** 2 + r["mean"] ** 2 for r in rows) / len(rows)
    spread = (second - found ** 2) ** 0.5
    print(name, (found - mean) / sd * n ** 0.5, (spread / sd - 1) * n ** 0.5)
    assert abs(found - mean) < 4 * sd * (2 / n) ** 0.5, (name, found, mean)
    assert abs(spread / sd - 1) < 4 * (1 / n) ** 0.5, (name, spread, sd)
P

# many particles are no reason to keep less: draws are of islands
status 0 ./exact --data exact.R --quiet --method smc --device cpu \
    --particles 4000 --summary kept.json --threads 1
grep -q '"m\[2\]": ' kept.json || fail 'm is not kept'

# two modes, far apart, whose masses the prior settles
cat >modes.gbm <<'E'
model {
  mu ~ dnorm(1, 0.05)
  for (i in 1:4) { y[i] ~ dnorm((mu - 0.1)^2, 4) }
  right <- step(mu)
}
E
echo 'y <- c(25, 24, 26, 25.5)' >modes.R
status 0 "$GBMC" -O 0 --with=powers modes.gbm -o modes
status 0 ./modes --data modes.R --method smc --device cpu --chains 4 \
    --particles 800 --summary s.json --out fit.csv --threads 2
prints '^smc: 4 islands of 800 particles, [0-9]+ steps, [0-9]+ sweeps$'
prints 'About --particles [0-9]+ would do'
! grep -qE -- '--draws|--method tempering' .out || fail 'advice for chains'
for seed in $(seq 30); do
    status 0 ./modes --data modes.R --quiet --method smc --device cpu \
        --chains 2 --particles 400 --seed "$seed" --summary "m$seed.json" \
        --threads 1
done
python3 - m*.json <<'P' || fail 'the masses of modes'
import json, math, sys
def density(mu):
    return math.exp(-0.025 * (mu - 1) ** 2 -
                    sum(2 * (y - (mu - 0.1) ** 2) ** 2 for y in (25, 24, 26, 25.5)))
grid = [i / 1000 for i in range(-8000, 8001)]
mass = [sum(density(m) for m in grid if m * side > 0) for side in (1, -1)]
exact, square = mass[0] / sum(mass), 0
for f in sys.argv[1:]:
    r = json.load(open(f))["parameters"]["right"]
    square += ((r["mean"] - exact) / r["mcse"]) ** 2 / len(sys.argv[1:])
print(square)
assert 0.3 < square < 2.2, square # 0.0001 on either side
P
status 0 ./modes --data modes.R --quiet --method smc --device cpu --chains 4 \
    --particles 800 --out one.csv --threads 1
for island in 1 2 3 4; do
    cmp <(grep -v '^#' fit_$island.csv) <(grep -v '^#' one_$island.csv) ||
        fail 'threads'
done

# steps and moves as they are asked for
status 0 ./modes --data modes.R --method smc --device cpu --chains 2 \
    --particles 1000 --steps 20 --moves 3 --summary planned.json --threads 1
prints '^smc: 2 islands of 1000 particles, 20 steps, 61 sweeps$'
python3 - s.json planned.json <<'P' || fail 'evidence by --steps'
import json, sys
a, b = (json.load(open(f))["log_evidence"] for f in sys.argv[1:])
assert abs(a["value"] - b["value"]) < 4 * (a["se"]**2 + b["se"]**2) ** 0.5, (a, b)
P
status 1 ./modes --data modes.R --method tempering --steps 20
says '--steps is an option of --method smc'
# the error of the evidence is at least what the weights of many steps leave, and
# there is no end of steps that are asked for
for seed in 1 2 3 4; do
    status 0 ./modes --data modes.R --method smc --device cpu --chains 1 --quiet \
        --particles 300 --steps 100 --moves 1 --seed $seed --summary "of$seed.json"
done
python3 - <<'P' || fail 'error of the evidence by --steps'
import json
se = [json.load(open(f"of{k}.json"))["log_evidence"]["se"] for k in (1, 2, 3, 4)]
assert min(se) > 0.01, se
P
status 0 ./modes --data modes.R --method smc --device cpu --chains 1 \
    --particles 2 --steps 10100 --moves 1 --threads 1
prints ' 10100 steps, 10101 sweeps$'

for option in '--until ess>4' '--draws 10' '--warmup 10'; do
    # shellcheck disable=SC2086 # two words
    status 1 ./modes --data modes.R --quiet --method smc $option
    says "has no ${option%% *}: it has a draw for each of --particles"
done
status 1 ./modes --data modes.R --quiet --method smc --log-lik
says 'not supported yet'
