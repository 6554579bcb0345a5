#!/usr/bin/env bash
# Parallel tempering: the evidence is that which can be computed exactly, the
# error that is stated is honest, separate modes have their masses, and nothing
# depends on the number of threads.
source "$GBM_ROOT/tests/cli/lib"
source "$GBM_ROOT/tests/cli/evidence"
evidence_model
for seed in $(seq 20); do
    status 0 ./exact --data exact.R --quiet --method tempering --device cpu \
        --replicas 6 --chains 2 --draws 600 --warmup 400 --seed "$seed" \
        --summary "s$seed.json" --threads 1
done
evidence_is_exact s[1-9]*.json
python3 - <<'P' || fail 'what the summary says of the ladder'
import json
t = json.load(open("s1.json"))["tempering"]
assert t["powers"][0] == 0 and t["powers"][-1] == 1 and t["sweeps"] == 600
assert t["round_trips"] > 50, t
r = t["rejection"]
assert abs(t["barrier"] - sum(r)) < 1e-4 and max(r) - min(r) < 0.2, t
P

# however few sweeps are kept, all of them tell of the evidence and its error
status 0 ./exact --data exact.R --quiet --method tempering --device cpu \
    --replicas 6 --chains 2 --draws 600 --warmup 400 --seed 1 --thin 100 \
    --summary thin.json --threads 1
python3 - <<'P' || fail 'the evidence of thinned draws'
import json
whole, thin = (json.load(open(f))["log_evidence"]
               for f in ("s1.json", "thin.json"))
assert thin == whole, (thin, whole)
P

# two modes, far apart, of which the prior prefers one and the data the other: a
# swap that weighs the data wrongly moves mass between them
cat >modes.gbm <<'E'
model {
  mu ~ dnorm(4, 0.05)
  for (i in 1:4) { y[i] ~ dnorm(mu^2 + d[i] * step(mu), 4) }
  right <- step(mu)
}
E
echo 'y <- c(25, 24, 26, 25.5)
d <- c(0.6, -0.6, -0.6, 0.6)' >modes.R
status 0 "$GBMC" -O 0 --with=powers modes.gbm -o modes
status 0 ./modes --data modes.R --quiet --draws 200 --summary plain.json \
    --chains 8
status 0 ./modes --data modes.R --method tempering --device cpu --chains 4 \
    --replicas 8 --draws 20000 --summary s.json --threads 1
prints '^tempering: 4 ladders of 8 replicas, communication barrier'
prints '^rejected by rung:( 0\.[0-9][0-9]){7}$'
prints '^round trips: [1-9]'
python3 - <<'P' || fail 'the masses of modes'
import json, math
ys, ds = [25, 24, 26, 25.5], [0.6, -0.6, -0.6, 0.6]
def density(mu):
    return math.exp(-0.025 * (mu - 4) ** 2 - sum(
        2 * (y - mu * mu - d * (mu >= 0)) ** 2 for y, d in zip(ys, ds)))
grid = [i / 1000 for i in range(-8000, 8001)]
right = sum(density(m) for m in grid if m > 0)
exact = right / (right + sum(density(m) for m in grid if m < 0))
plain = json.load(open("plain.json"))["parameters"]
r = plain["right"]["rhat"] # chains stay where they began
assert r is None or r > 2, plain
r = json.load(open("s.json"))["parameters"]["right"]
assert r["mcse"] < 0.03 and abs(r["mean"] - exact) < 4 * r["mcse"], (r, exact)
P

# the same by two threads and one
for threads in 1 2; do
    status 0 ./modes --data modes.R --quiet --method tempering --device cpu \
        --chains 2 --replicas 8 --warmup 200 --draws 100 --threads $threads \
        --out threads$threads.csv
done
for chain in 1 2; do
    cmp <(grep -v '^#' threads1_$chain.csv) \
        <(grep -v '^#' threads2_$chain.csv) ||
        fail 'threads'
done

# thousands of rungs, of which the table tells few, and of which a round trip
# takes longer than this run
status 0 ./exact --data exact.R --method tempering --device cpu --chains 1 \
    --replicas 2000 --warmup 30 --draws 100 --summary many.json
prints '^rejected by rung: 0.00[0-9]+ on average'
prints 'or with fewer --replicas'
evidence_is_exact many.json

# too few replicas for the barrier: said so
status 0 ./modes --data modes.R --method tempering --device cpu --chains 1 \
    --replicas 2 --draws 20 --warmup 20
prints '^Warning: no replica went from the prior to the posterior'
prints '^Warning: neighbours hardly swap; about --replicas '

# a prior so wide that a rung's draws do not reach those of the next one: the
# error has what they miss, whatever the batches say
cat >wide.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dnorm(inprod(x[i,], b[]), 1) }
  for (j in 1:4) { b[j] ~ dnorm(0, 1.0E-6) }
}
E
python3 - <<'P'
import json, random
random.seed(1)
x = [[1] + [random.gauss(0, 1) for _ in range(3)] for _ in range(20)]
y = [sum(r) + random.gauss(0, 1) for r in x]
json.dump({"N": 20, "x": x, "y": y}, open("wide.json", "w"))
P
status 0 "$GBMC" -O 0 --with=powers wide.gbm -o wide
for seed in $(seq 8); do
    status 0 ./wide --data wide.json --method tempering --device cpu \
        --draws 300 --warmup 40 --replicas 8 --seed "$seed" \
        --summary "wide$seed.json"
    prints 'Warning: from both sides of each step the log evidence is -[0-9.]+: '
done
status 0 ./wide --data wide.json --method tempering --device cpu --quiet \
    --draws 2000 --warmup 2000 --replicas 40 --summary wide0.json
python3 - <<'P' || fail 'the error of an evidence that draws do not reach'
import json, math
d = json.load(open("wide.json"))
x, y = d["x"], d["y"]
log = -10 * math.log(2 * math.pi) - sum(v * v for v in y) / 2 - 12 * math.log(10)
A = [[sum(r[i] * r[j] for r in x) + (i == j) * 1e-6 for j in range(4)]
     + [sum(r[i] * v for r, v in zip(x, y))] for i in range(4)]
for i in range(4): # elimination: the determinant, and what the fit explains
    log += (A[i][4] ** 2 / A[i][i] - math.log(A[i][i])) / 2
    for k in range(i + 1, 4):
        f = A[k][i] / A[i][i]
        A[k] = [a - f * b for a, b in zip(A[k], A[i])]
squares = 0
for seed in range(9):
    s = json.load(open(f"wide{seed}.json"))
    e = s["log_evidence"]
    z = (e["value"] - log) / e["se"]
    print(seed, e, s["tempering"].get("bridge"), "exact", log, "z", z)
    assert abs(z) < 4
    assert e["se"] < 0.5 if seed == 0 else e["value"] < log - 4
    squares += z * z / 8 if seed else 0
assert squares < 2, squares
P

# an end before the end
./modes --data modes.R --method tempering --device cpu --draws 10000000 \
    --thin 1000 --warmup 10 --monitor mu --out cut.nc >.out 2>.err &
id=$!
for _ in $(seq 200); do
    grep -q 'what is drawn is in cut.nc.part' .err && break
    sleep 0.1
done
kill -INT $id
(sleep 20 && kill -KILL $id) 2>/dev/null &
killer=$!
wait $id
[ $? = 2 ] || fail 'not ended by SIGINT'
kill $killer 2>/dev/null
says 'stopped: [0-9]+ of 10000 draws a chain were kept; the run is marked'
exists cut.nc

# what it does not do
for option in '--log-lik' '--moments all' '--plain' '--power 0.5'; do
    # shellcheck disable=SC2086 # two words
    status 1 ./modes --data modes.R --quiet --method tempering $option
    says 'with --method tempering: not supported yet'
done
status 1 ./modes --data modes.R --quiet --method tempering --replicas 1
says 'from 2 to'
echo 'model { mu ~ dflat()
  y ~ dnorm(mu, 1) }' >flat.gbm
echo 'y <- 2' >flat.R
status 0 "$GBMC" -O 0 flat.gbm -o flat
status 1 ./flat --data flat.R --quiet --method tempering
says 'flat.gbm:1:9: --method tempering begins at the prior, .* improper'
