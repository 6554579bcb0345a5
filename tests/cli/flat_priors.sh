#!/usr/bin/env bash
# Coefficients with flat priors are drawn as those with normal ones: at once, so
# that a line in years mixes and has the moments of least squares. Which of them
# data tell apart only data say: where two meet in one sum alone they go on one
# by one, as far as there are digits, and their sum is as good as ever.
source "$GBM_ROOT/tests/cli/lib"

cat >line.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ normal(alpha + beta * year[i], 2) }
  alpha ~ dflat()
  beta ~ dflat()
}
E
cat >twice.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ normal(a + b + beta * (year[i] - 2010), 2) }
  a ~ dflat()
  b ~ flat()
  beta ~ dflat()
  alpha <- a + b - 2010 * beta
}
E
cat >smooth.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ normal(alpha + beta * year[i] + inprod(Z[i,], u[]), 2)
  }
  for (k in 1:K) { u[k] ~ normal(0, 0.000001) }
  alpha ~ dflat()
  beta ~ dflat()
}
E
cat >plate.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ normal(inprod(X[i,], b[]), 2) }
  for (k in 1:2) { b[k] ~ dflat() }
  alpha <- b[1]
  beta <- b[2]
}
E
/usr/bin/env python3 >d.json <<'E'
import json
year = range(2000, 2020)
print(json.dumps({"N": 20, "year": list(year), "K": 2,
                  "X": [[1, t] for t in year],
                  "Z": [[t % 3, t % 5] for t in year],
                  "y": [3 + .4 * (t - 2010) + (t * 7 % 5 - 2) for t in year]}))
E
moments() { # PROGRAM: of alpha and beta, those of least squares
    status 0 ./"$1" check --data d.json
    status 0 ./"$1" --data d.json --draws 4000 --quiet --summary out.json
    /usr/bin/env python3 - <<'E' || fail "$1: not least squares"
import json
d = json.load(open("d.json"))
found = json.load(open("out.json"))["parameters"]
x, y, n = d["year"], d["y"], d["N"]
mx, my = sum(x) / n, sum(y) / n
sxx = sum((a - mx) ** 2 for a in x)
slope = sum((a - mx) * (b - my) for a, b in zip(x, y)) / sxx
exact = {"beta": (slope, 2 / sxx ** .5),
         "alpha": (my - slope * mx, 2 * (1 / n + mx * mx / sxx) ** .5)}
for name, (mean, sd) in exact.items():
    of = found[name]
    assert of["rhat"] < 1.01, (name, of)
    assert abs(of["mean"] - mean) < 5 * sd / of["ess_bulk"] ** .5, (name, of)
    assert abs(of["sd"] / sd - 1) < .05, (name, of, sd)
E
}
for model in line twice smooth plate; do
    status 0 "$GBMC" -O 1 $model.gbm --data d.json -o $model --explain
    prints 'Gaussian block'
    moments $model
done
