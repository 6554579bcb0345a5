#!/usr/bin/env bash
# Joint distribution tests of methods: parameters from the prior, data from these,
# and what a method says of the posterior of such data is, on average over the
# prior, what the parameters are: of tempering, smc and pmmh by a run for each of
# many data sets; of pgas, which is of a sweep, by Geweke's test.
source "$GBM_ROOT/tests/cli/lib"

cat >joint.py <<'E'
"""joint.py DATA SETS METHOD OPTION...: of ./sampler, whose fixed data are
given.json; the node `all` of the model has the quantities that are compared."""
import concurrent.futures, csv, json, re, subprocess, sys
sets, method, options = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
given = json.load(open("given.json"))
observed = given.pop("observed")
json.dump(given, open("fixed.json", "w"))
subprocess.run(["./sampler", "simulate", "--data", "fixed.json", "--quiet",
                "--chains", "1", "--draws", str(sets), "--seed", "5",
                "--digits", "17", "--out", "truth.csv"], check=True)
rows = list(csv.DictReader(l for l in open("truth_1.csv") if l[0] != "#"))

def array(row, name):
    """A vector, or a single number."""
    cells = [v for n, v in row.items() if re.fullmatch(name + r"(\.\d+)?", n)]
    value = [float(v) for v in cells]
    return value if name + ".1" in row else value[0]

def off(i):
    data = dict(given, **{n: array(rows[i], n) for n in observed})
    json.dump(data, open(f"set{i}.json", "w"))
    subprocess.run(["./sampler", "--data", f"set{i}.json", "--quiet",
                    "--no-check", "--device", "cpu", "--threads", "1",
                    "--method", method, "--seed", str(i + 1), "--monitor",
                    "all", "--summary", f"fit{i}.json", *options], check=True)
    found = json.load(open(f"fit{i}.json"))["parameters"]
    truth = array(rows[i], "all")
    return [found[f"all[{k+1}]"]["mean"] - x for k, x in enumerate(truth)]

with concurrent.futures.ThreadPoolExecutor(2) as pool:
    differences = list(pool.map(off, range(sets)))
bad = 0
for k, d in enumerate(zip(*differences)):
    mean = sum(d) / sets
    sd = (sum((x - mean) ** 2 for x in d) / (sets - 1)) ** 0.5
    z = mean / sd * sets ** 0.5
    print(f"all[{k+1}]: off by {mean:.4f}, sd {sd:.4f}, z {z:.2f}")
    bad += not (abs(z) < 3.3 and sd > 0)
sys.exit(bad > 0)
E

# joint MODEL SETS METHOD OPTION...
joint() {
    local model=$1
    shift
    status 0 "$GBMC" -O 1 --with=powers "$model" -o sampler
    timeout 300 python3 joint.py "$@" >.out 2>.err ||
        fail "$model: the joint distribution of $2"
    cat .out
}

# two modes of mu that are not alike; an indicator whose density the data have
cat >modes.gbm <<'E'
model {
  mu ~ dnorm(0.5, 0.7)
  d ~ dnorm(0, 4)
  z ~ dcat(w[])
  for (i in 1:3) { y[i] ~ dnorm(mu^2 + d * mu, 9) }
  n ~ dpois(r[z] * exp(d))
  all[1] <- mu
  all[2] <- mu^2
  all[3] <- step(mu)
  all[4] <- step(mu) * y[1]
  all[5] <- d
  all[6] <- d * mu
  all[7] <- z
  all[8] <- z * n
}
E
echo '{"w": [0.3, 0.2, 0.5], "r": [1, 4, 12], "observed": ["y", "n"]}' >given.json
joint modes.gbm 250 tempering --replicas 5 --chains 2 --warmup 150 --draws 200
joint modes.gbm 250 smc --particles 150 --chains 2

# counts that a few particles can follow, so that chains do not stick
cat >series.gbm <<'E'
model {
  m ~ dnorm(0.5, 4)
  phi ~ dbeta(3, 2)
  x[1] ~ dnorm(m, 4)
  for (t in 2:5) { x[t] ~ dnorm(m + phi * (x[t-1] - m), 4) }
  for (t in 1:5) { y[t] ~ dpois(exp(x[t])) }
  all[1] <- m
  all[2] <- phi
  all[3] <- m * y[3]
  all[4] <- x[1]
  all[5] <- x[5]
  all[6] <- x[5] * x[4]
  all[7] <- (x[3] - m) * (x[2] - m)
}
E
echo '{"observed": ["y"]}' >given.json
joint series.gbm 250 pmmh --particles 40 --chains 2 --warmup 500 --draws 500

cat >particles.gbm <<'E'
model {
  m ~ dnorm(0, 1)
  phi ~ dbeta(3, 2)
  tau ~ dgamma(4, 4)
  x[1] ~ dnorm(m, 1)
  for (t in 2:5) { x[t] ~ dnorm(m + phi * (x[t-1] - m), tau) }
  for (t in 1:5) { y[t] ~ dpois(exp(x[t])) }
  for (k in 1:3) { P[k,1:3] ~ ddirch(one[]) }
  w ~ ddirch(one[])
  z[1] ~ dcat(w[])
  for (t in 2:5) { z[t] ~ dcat(P[z[t-1],]) }
  for (t in 1:5) { u[t] ~ dnorm(z[t], 1) }
}
samplers { x : pgas(particles = 4); z : pgas(particles = 3); }
E
echo '{"one": [1, 1, 1], "y": [1, 2, 0, 1, 3], "u": [1, 2, 2, 3, 1]}' \
    >particles.json
status 0 "$GBMC" -O 1 particles.gbm -o particles
status 0 ./particles geweke --data particles.json --draws 8000
prints '8000 replicates of 20 sweeps, 3[0-9] quantities'
cat .out

# it is of the sweep alone
for what in geweke check simulate info; do
    status 1 ./sampler $what --method pmmh
    says '--method pmmh is for run: other commands are of the sweep'
done
