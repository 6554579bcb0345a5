#!/usr/bin/env bash
# simulate --from FIT: parameters have the values of each draw of FIT, new rows
# and new groups are drawn given them, and nothing is drawn from its prior in
# silence.
source "$GBM_ROOT/tests/cli/lib"

cat >m.gbm <<'E'
model {
  for (i in 1:N) {
    y[i] ~ dnorm(line[i], pow(sigma, -2))
    line[i] <- theta[g[i], 1] + b[g[i]] * x[i]
    n[i] ~ dpois(exp(eps[i]))
    eps[i] ~ dnorm(mu, 16)
  }
  b[1] <- 0                              # an array that is random in part
  for (j in 2:J) { b[j] ~ dnorm(0, 0.1) }
  for (j in 1:J) { for (k in 1:2) { theta[j, k] ~ dnorm(mu, pow(tau, -2)) } }
  mu ~ dnorm(0, 1)
  sigma ~ dunif(0, 3)
  tau ~ dunif(0, 3)
}
E
python3 - <<'E'
import json, random
r = random.Random(5)
J, N = 4, 40
g = [i % J for i in range(N)]
x = [r.gauss(0, 1) for _ in g]
theta, b = [r.gauss(1, 1) for _ in range(J)], [0, 1, -1, 2]
json.dump({"N": N, "J": J, "g": [k + 1 for k in g], "x": x,
           "y": [theta[k] + b[k] * u + r.gauss(0, .5) for k, u in zip(g, x)],
           "n": [2 if i % 3 else 5 for i in g]}, open("old.json", "w"))
json.dump({"N": 3, "J": 6, "g": [4, 1, 6], "x": [2.0, 5.0, 1.0]},
          open("new.json", "w"))
E
status 0 "$GBMC" -O 1 m.gbm -o s
fit() { status 0 ./s --data old.json --device cpu --quiet --draws 2000 "$@"; }
fit --monitor theta,b,mu,sigma,tau,eps --out fit.nc
fit --monitor theta,b,mu,sigma,tau,eps --out fit.csv --digits 17
status 0 ./s simulate --data new.json --from fit.nc --anew eps --out new.csv \
    --monitor y,n,line,theta,b,eps --digits 17
says 'from fit.nc: .*theta.*; drawn given them: .*y'

python3 - <<'E' || fail "what was predicted is not what the draws of the fit say"
import csv, math
def table(name):
    rows = []
    for c in range(1, 5):
        with open(f"{name}_{c}.csv") as f:
            rows += csv.DictReader(l for l in f if l[0] != "#")
    return [{k: float(v) for k, v in r.items()} for r in rows]
old, new = table("fit"), table("new")
assert len(old) == len(new) == 8000
def standard(z, what):
    n = len(z)
    mean, var = sum(z) / n, sum(v * v for v in z) / n
    assert abs(mean) < 4.5 / n ** .5 and abs(var - 1) < 4.5 * (2 / n) ** .5, \
        (what, mean, var)
residuals = []
for o, p in zip(old, new):
    want = [o["theta.4.1"] + o["b.4"] * 2, o["theta.1.1"],
            p["theta.6.1"] + p["b.6"]]
    for i in range(3):
        assert abs(p[f"line.{i + 1}"] - want[i]) < 1e-9, (o, p)
        residuals.append((p[f"y.{i + 1}"] - want[i]) / o["sigma"])
    assert "theta.2.1" not in p     # what is taken is not predicted
standard(residuals, "y")
standard([(p["theta.6.1"] - o["mu"]) / o["tau"] for o, p in zip(old, new)],
         "a new group")
standard([(p["eps.1"] - o["mu"]) * 4 for o, p in zip(old, new)], "--anew")
standard([p["b.5"] * .1 ** .5 for p in new], "a new coefficient")
counts = [(p["n.2"] - math.exp(p["eps.2"])) / math.exp(p["eps.2"] / 2)
          for p in new]
assert abs(sum(counts) / 8000) < 4.5 / 8000 ** .5
E

# of the fit's own rows, unless it is said that they are others; the same seed,
# the same draws
for name in rows again; do
    status 0 ./s simulate --data new.json --from fit.nc --out $name.csv --monitor n
    says 'from fit.nc: .*eps.*; drawn given them: '
    grep -v '^#' ${name}_1.csv >$name
done
same rows again
# a file of another program, in netCDF's classic format, without groups
python3 - <<'E' || fail "no file"
import numpy, scipy.io
with scipy.io.netcdf_file("plain.nc", "w") as f:
    for name, n in (("chain", 2), ("draw", 50), ("k", 3)):
        f.createDimension(name, n)
    f.createVariable("a", "d", ("chain", "draw"))[:] = \
        numpy.arange(100.).reshape(2, 50)
    f.createVariable("b", "d", ("chain", "draw", "k"))[:] = 7
E
echo 'model { for (i in 1:3) { y[i] ~ dnorm(a + b[i], 1E8); b[i] ~ dnorm(0, 1) }
a ~ dnorm(0, 1) }' >plain.gbm
status 0 "$GBMC" -O 1 plain.gbm -o plain
status 0 ./plain simulate --from plain.nc --out plain.csv --monitor y
says 'from plain.nc: .*b.*; drawn given them: y$'
grep -v '^[#l]' plain_2.csv |
    awk -F, '{ s += $NF } END { exit !(s / NR > 81.49 && s / NR < 81.51) }' ||
    fail 'the file of another program'
# without a parameter's draws
fit --monitor theta,b,mu,tau,eps --out less.nc
status 1 ./s simulate --data new.json --from less.nc --anew eps
says 'm.gbm:12:3: sigma has no draws in less.nc: keep them there \(run --monitor\), or .*--anew sigma'
status 0 ./s simulate --data new.json --from less.nc --anew eps,sigma
status 1 ./s simulate --data old.json --from fit.nc
says 'there is nothing to predict'
status 1 ./s simulate --data new.json --from fit.nc --anew epz
says '--anew epz: no random variable'
sed 's/"N"/"y": [1, 2, 3], "N"/' new.json >given.json
status 1 ./s simulate --data given.json --from fit.nc --anew eps
says 'has no draws in fit.nc, and what the data give may depend on it'
status 1 ./s simulate --data new.json --from none.nc
says 'none.nc'
status 1 ./s simulate --data new.json --from fit.nc --posterior
says 'without --posterior'
status 1 ./s --data old.json --from fit.nc
says '--from is an option of simulate'
status 1 ./s simulate --data new.json --anew eps
says '--anew LIST goes with --from'
# an array that was data in part: its draws are of the rows of the fit
cat >part.gbm <<'E'
model {
  for (i in 1:N) {
    x[i] ~ dnorm(mu, 1)
    y[i] ~ dnorm(2 * x[i], 1)
  }
  mu ~ dnorm(0, 1)
}
E
echo '{"N": 3, "x": [1, null, 2], "y": [2, 3, 4]}' >part.json
echo '{"N": 3, "x": [1, null, 2]}' >rows.json
status 0 "$GBMC" -O 1 part.gbm -o part
status 0 ./part --data part.json --device cpu --quiet --draws 100 --out part.nc
status 1 ./part simulate --data rows.json --from part.nc
says 'x\[2\] has no draws in part.nc but for its own rows.*: give it, or .*--anew x'
status 0 ./part simulate --data rows.json --from part.nc --anew x
echo 'model { a ~ dnorm(0, 1) }' >other.gbm
status 0 "$GBMC" -O 1 other.gbm -o other
status 1 ./other simulate --from fit.nc
says 'none of its draws is of a parameter of the model other'
