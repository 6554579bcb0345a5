#!/usr/bin/env bash
# Particle marginal Metropolis-Hastings, --method pmmh, against the draws of the
# sweep: parameters, what they are drawn from, states, what depends on no time;
# the same draws for any number of threads; what it refuses.
source "$GBM_ROOT/tests/cli/lib"

cat >series.gbm <<'END'
model {
  x[1] ~ dnorm(m, 0.5)
  for (t in 2:T) { x[t] ~ dnorm(m + phi * (x[t-1] - m), tau) }
  for (t in 1:T) { y[t] ~ dnorm(x[t], 4) }
  side ~ dnorm(m, 1)
  m ~ dnorm(centre, 1)
  centre ~ dnorm(0, 1)
  phi ~ dunif(-1, 1)
  tau ~ dgamma(4, 2)
  sd <- 1 / sqrt(tau)
  new ~ dnorm(centre + m, 1)
}
END
echo '{"T": 8, "y": [0.4, 1.9, null, 2.2, 0.3, -0.9, -1.2, 0.1], "side": 1.5}' \
    >series.json
status 0 "$GBMC" -O 1 series.gbm -o series
pmmh() {
    status 0 ./series --data series.json --method pmmh --quiet \
        --particles 50 --warmup 1500 "$@"
}
pmmh --draws 7000 --summary particles.json
status 0 ./series --data series.json --device cpu --quiet --draws 10000 \
    --summary sweep.json
python3 - <<'E' || fail "the moments are not those of the sweep"
import json, sys
a, b = (json.load(open(f))["parameters"]
        for f in ("particles.json", "sweep.json"))
bad, squares = set(a) != set(b), 0
for name, p in a.items():
    q = b[name]
    z = (p["mean"] - q["mean"]) / (p["mcse"] ** 2 + q["mcse"] ** 2) ** 0.5
    squares += z * z / len(a)
    if not (abs(z) < 4.5 and p["ess_bulk"] > 250 and p["rhat"] < 1.03 and
            abs(p["sd"] / q["sd"] - 1) < 0.12):
        print(name, p, q, z)
        bad = True
print(squares)
sys.exit(bool(bad or squares > 3))
E
pmmh --draws 20 --warmup 20 --chains 2 --threads 1 --out one.csv
pmmh --draws 20 --warmup 20 --chains 2 --threads 2 --out two.csv
for chain in 1 2; do
    grep -v '^#' one_$chain.csv >one
    grep -v '^#' two_$chain.csv >two
    same one two
done

status 1 ./series --data series.json --method pmmh --until 'ess>9'
says 'pmmh has no --until'
cat >hidden.gbm <<'END'
model {
  z[1] ~ dcat(p0[])
  for (t in 2:3) { z[t] ~ dcat(P[z[t-1],]) }
  for (t in 1:3) { y[t] ~ dnorm(z[t], 4) }
  for (k in 1:2) { P[k,1:2] ~ ddirch(p0[]) }
}
END
echo '{"p0": [0.5, 0.5], "y": [1, 2, 2]}' >hidden.json
status 0 "$GBMC" -O 0 hidden.gbm -o hidden
status 1 ./hidden --data hidden.json --method pmmh
says 'hidden.gbm:5:20: P\[1,1:2\]: not supported yet: .* single real numbers'
echo '{"p0": [0.5, 0.5], "y": [1, 2, 2], "P": [[0.5, 0.5], [0.2, 0.8]]}' >given.json
status 1 ./hidden --data given.json --method pmmh
says 'no parameters that several times read'

# from far away, where the likelihood of few particles varies by tens: a lucky
# estimate does not keep a chain there
cat >counts.gbm <<'END'
model {
  m ~ dnorm(0, 1)
  phi ~ dbeta(3, 2)
  x[1] ~ dnorm(m, 1)
  for (t in 2:5) { x[t] ~ dnorm(m + phi * (x[t-1] - m), 2) }
  for (t in 1:5) { y[t] ~ dpois(exp(x[t])) }
}
END
echo '{"y": [36, 7, 2, 4, 3]}' >counts.json
echo '{"m": -1.6, "phi": 0.6}' >far.json
status 0 "$GBMC" -O 1 counts.gbm -o counts
status 0 ./counts --data counts.json --init far.json --method pmmh --quiet \
    --particles 200 --chains 6 --warmup 500 --draws 2000 --summary far.out
status 0 ./counts --data counts.json --device cpu --quiet --draws 10000 \
    --summary sweep.json
python3 - <<'E' || fail "chains from far away"
import json
a, b = (json.load(open(f))["parameters"]["m"] for f in ("far.out", "sweep.json"))
print(a, b)
assert a["rhat"] < 1.1 and a["ess_bulk"] > 100, a
assert abs(a["mean"] - b["mean"]) < 4.5 * (a["mcse"]**2 + b["mcse"]**2)**0.5
E
