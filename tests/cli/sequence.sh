#!/usr/bin/env bash
# Data that enter one after the other: what each adds to the evidence is its
# density given those before, the evidence is that which can be computed exactly,
# with an honest error, and that of all data at once; full conditionals are those
# of data that are in, some of them in part.
source "$GBM_ROOT/tests/cli/lib"
cat >line.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dnorm(a + b * x[i], 4) }
  for (j in 1:M) { k[j] ~ dbin(theta, n[j]) }
  a ~ dnorm(0, 0.25)
  b ~ dnorm(0, 0.25)
  theta ~ dbeta(2, 3)
}
E
echo 'N <- 6
M <- 4
x <- c(-1, 0, 1, 2, 3, 10)
y <- c(0.3, 1, NA, 1.2, 2.4, 9)
k <- c(13, 1, 0, 5)
n <- c(20, 2, 3, 5)' >line.R
status 0 "$GBMC" -O 0 line.gbm -o line
for power in 3.4 0 5; do
    status 0 ./line check --data line.R --quiet --sequence i --power $power
    ! grep -q FAIL .out || fail "full conditionals at $power"
done

# Rows by i, and a probability's counts at once before them; then the other way.
for by in i k; do
    status 0 "$GBMC" -O 0 --with=powers --sequence $by line.gbm -o line$by
    for seed in $(seq 40); do
        status 0 ./line$by --data line.R --quiet --method smc --sequence $by \
            --device cpu --particles 500 --chains 2 --seed "$seed" \
            --summary "$by$seed.json" --threads 1
    done
    status 0 ./line$by --data line.R --method smc --sequence $by --device cpu
    prints "^predictive log scores by $by, of which the log evidence is the sum"
    prints '^  lowest -[0-9.]+ at [0-6]$'
done
python3 - <<'P' || fail 'evidence and scores'
import json, math

def lbeta(a, b):
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)

rows, counts = [], []
mean, cov = [0.0, 0.0], [[4.0, 0.0], [0.0, 4.0]]
for x, y in zip([-1, 0, 2, 3, 10], [0.3, 1, 1.2, 2.4, 9]):
    r = (1, x)
    cx = [cov[i][0] + cov[i][1] * x for i in (0, 1)]
    s = 0.25 + cx[0] + x * cx[1]
    e = y - mean[0] - mean[1] * x
    rows.append(-0.5 * (math.log(2 * math.pi * s) + e * e / s))
    mean = [mean[i] + cx[i] * e / s for i in (0, 1)]
    cov = [[cov[i][j] - cx[i] * cx[j] / s for j in (0, 1)] for i in (0, 1)]
a, b = 2, 3
for k, n in zip([13, 1, 0, 5], [20, 2, 3, 5]):
    counts.append(math.log(math.comb(n, k)) + lbeta(a + k, b + n - k) -
                  lbeta(a, b))
    a, b = a + k, b + n - k
exact = {"i": ([0, 1, 2, 4, 5, 6], [sum(counts)] + rows),
         "k": ([0, 1, 2, 3, 4], [sum(rows)] + counts)}
low, high = (max(1 - 2 / 9 / 40 + z * (2 / 9 / 40) ** 0.5, 0) ** 3
             for z in (-3.72, 3.72)) # Wilson and Hilferty
for by, (turns, scores) in exact.items():
    fits = [json.load(open(f"{by}{s}.json")) for s in range(1, 41)]
    z = [(f["log_evidence"]["value"] - sum(scores)) / f["log_evidence"]["se"]
         for f in fits]
    square = sum(x * x for x in z) / 40
    print(by, "largest z", max(map(abs, z)), "mean square", square)
    assert max(map(abs, z)) < 4 and low < square < high, z
    for f in fits:
        s = f["smc"]
        assert s["turns"] == turns, s
        assert abs(sum(s["log_scores"]) - f["log_evidence"]["value"]) < 1e-6
    for k, score in enumerate(scores):
        found = [f["smc"]["log_scores"][k] for f in fits]
        mean = sum(found) / 40
        sd = (sum((x - mean) ** 2 for x in found) / 39) ** 0.5
        # logarithms are too small by half the variance
        z = (mean + sd * sd / 2 - score) / sd * 40 ** 0.5
        print(by, turns[k], score, "found", mean, sd, "z", z)
        assert sd < 0.3 and abs(z) < 4, (by, k, found)
P

# all at once: the same, and the same draws by one thread and two
status 0 ./line --data line.R --quiet --method smc --device cpu \
    --particles 4000 --summary all.json
for threads in 1 2; do
    status 0 ./linei --data line.R --quiet --method smc --sequence i \
        --device cpu --particles 4000 --summary turns.json --out t$threads.csv \
        --threads $threads
done
for island in 1 2 3 4; do
    cmp <(grep -v '^#' t1_$island.csv) <(grep -v '^#' t2_$island.csv) ||
        fail 'threads'
done
python3 - <<'P' || fail 'all at once, and in turns'
import json
a, b = (json.load(open(f)) for f in ("all.json", "turns.json"))
d = a["log_evidence"]["value"] - b["log_evidence"]["value"]
assert abs(d) < 4 * (a["log_evidence"]["se"] ** 2 +
                     b["log_evidence"]["se"] ** 2) ** 0.5, d
for n in "a", "b", "theta":
    p, q = a["parameters"][n], b["parameters"][n]
    se = (p["mcse"] ** 2 + q["mcse"] ** 2) ** 0.5
    assert abs(p["mean"] - q["mean"]) < 4.5 * se, (n, p, q)
    assert abs(p["sd"] / q["sd"] - 1) < 0.1, (n, p, q)
P

# a sampler with turns, run without: all data are in
status 0 ./linei --data line.R --quiet --summary plain.json --draws 4000
python3 - <<'P' || fail 'without turns'
import json
a, b = (json.load(open(f))["parameters"] for f in ("plain.json", "turns.json"))
for n in "a", "b", "theta":
    se = (a[n]["mcse"] ** 2 + b[n]["mcse"] ** 2) ** 0.5
    assert abs(a[n]["mean"] - b[n]["mean"]) < 5 * se, (n, a[n], b[n])
P

# what there is not
status 1 ./line --data line.R --quiet --method smc --sequence q
says 'sequence: no data are in a loop of q, and none are elements q\[...\]'
status 1 ./line --data line.R --quiet --method tempering --sequence i
says '--sequence is an option of --method smc, and of check'
cat >bounds.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dunif(0, top) }
  top ~ dpar(2, 1)
}
E
echo 'N <- 2
y <- c(0.3, 0.9)' >bounds.R
status 0 "$GBMC" -O 0 bounds.gbm -o bounds
status 1 ./bounds --data bounds.R --quiet --method smc --sequence i
says 'bounds.gbm:2:.*--sequence i: not supported yet: data whose bounds depend'
cat >never.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dbern(p[z]) }
  z ~ dcat(w[])
}
E
echo 'N <- 2
y <- c(0, 1)
p <- c(0.5, 0)
w <- c(0.5, 0.5)' >never.R
status 0 "$GBMC" -O 0 never.gbm -o never
status 1 ./never --data never.R --quiet --method smc --sequence i
says 'the data of 2 are impossible at a draw from the prior'
