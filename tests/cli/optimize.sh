#!/usr/bin/env bash
# --method optimize: modes that are known exactly, or by Newton's method; the
# Laplace approximation of what is normal is that; what has no mode is said.
source "$GBM_ROOT/tests/cli/lib"

# optimize MODEL STATUS OPTION...: with data.json
optimize() {
    local model=$1 wanted=$2
    shift 2
    [ -e "${model%.gbm}" ] ||
        status 0 "$GBMC" -O 1 --with=gradients "$model" -o "${model%.gbm}"
    status "$wanted" "./${model%.gbm}" --method optimize --data data.json "$@"
}

cat >modes.gbm <<'E'
model {
  # linear regression, logistic regression, a rate, weights
  for (i in 1:N) {
    y[i] ~ dnorm(a + b * x[i], 4)
    u[i] ~ dbern(ilogit(c[1] + c[2] * x[i]))
    k[i] ~ dpois(rate)
  }
  a ~ dnorm(1, 0.5)
  b ~ dnorm(0, 0.1)
  for (j in 1:2) { c[j] ~ dnorm(0, 0.25) }
  rate ~ dgamma(3, 2)
  twice <- 2 * rate
  n[1:3] ~ dmulti(p[], 20)
  p[1:3] ~ ddirch(alpha[])
  later ~ dpois(rate)           # has no mode, nor what is computed from it
  more <- later + 1
}
E
cat >data.json <<'E'
{"N": 8, "x": [-2, -1.5, -1, 0, 0.5, 1, 1.5, 3],
 "y": [-3.1, -2.4, -0.2, 1.3, 1.1, 3.4, 3.9, 7.2],
 "u": [0, 0, 1, 0, 1, 0, 1, 1], "k": [2, 0, 3, 1, 4, 2, 2, 5],
 "n": [4, 9, 7], "alpha": [1.5, 2, 3]}
E
optimize modes.gbm 0 --summary plain.json --out mode.json
prints '4 of 4 starts came to this mode'
optimize modes.gbm 0 --jacobian --summary free.json --quiet
python3 - <<'E' || fail "the modes"
import json, math
d = json.load(open("data.json"))
x, y, u, n = d["x"], d["y"], d["u"], d["N"]

def solve(A, v):
    det = A[0][0] * A[1][1] - A[0][1] * A[1][0]
    return [(A[1][1] * v[0] - A[0][1] * v[1]) / det,
            (A[0][0] * v[1] - A[1][0] * v[0]) / det]

a, b = solve([[0.5 + 4 * n, 4 * sum(x)],
              [4 * sum(x), 0.1 + 4 * sum(t * t for t in x)]],
             [0.5 + 4 * sum(y), 4 * sum(s * t for s, t in zip(x, y))])
c = [0, 0]
for _ in range(50):
    p = [1 / (1 + math.exp(-c[0] - c[1] * t)) for t in x]
    w = [q * (1 - q) for q in p]
    g = [sum(r - q for r, q in zip(u, p)) - 0.25 * c[0],
         sum((r - q) * t for r, q, t in zip(u, p, x)) - 0.25 * c[1]]
    H = [[sum(w) + 0.25, sum(v * t for v, t in zip(w, x))],
         [sum(v * t for v, t in zip(w, x)),
          sum(v * t * t for v, t in zip(w, x)) + 0.25]]
    c = [s + t for s, t in zip(c, solve(H, g))]
for file, less in (("plain.json", 1), ("free.json", 0)):
    found = json.load(open(file))
    rate = (3 + sum(d["k"]) - less) / (2 + n)
    wanted = {"a": a, "b": b, "c[1]": c[0], "c[2]": c[1], "rate": rate,
              "twice": 2 * rate}
    shares = [s + t - less for s, t in zip(d["n"], d["alpha"])]
    for j, s in enumerate(shares):
        wanted["p[%d]" % (j + 1)] = s / sum(shares)
    modes = found["parameters"]
    assert set(modes) == set(wanted), set(modes) ^ set(wanted)
    for name, value in wanted.items():
        assert abs(modes[name]["mode"] - value) < 1e-6, (name, modes[name], value)
    assert found["converged"] and len(found["starts"]) == 4
    assert found["jacobian"] == (less == 0)
E

# what it wrote is where it starts
optimize modes.gbm 0 --init mode.json --chains 1 --summary again.json --quiet
python3 - <<'E' || fail "--init of a mode"
import json
a, b = (json.load(open(f)) for f in ("plain.json", "again.json"))
assert abs(a["log_density"] - b["log_density"]) < 1e-9
assert b["iterations"] <= 3 < a["iterations"], (b["iterations"], a["iterations"])
E

# a normal density is its own approximation: log p - log q is one number
cat >normal.gbm <<'E'
model {
  for (i in 1:N) { y[i] ~ dnorm(a + b * x[i], 4) }
  a ~ dnorm(1, 0.5)
  b ~ dnorm(a, 0.1)
  z ~ dnorm(b, 1)
}
E
optimize normal.gbm 0 --laplace 2000 --out fit.csv --digits 17 --quiet
python3 - <<'E' || fail "the Laplace approximation of a normal density"
import csv, json, math
d = json.load(open("data.json"))
rows = list(csv.DictReader(l for l in open("fit_1.csv") if l[0] != "#"))
assert len(rows) == 2000
off = [float(r["lp__"]) - float(r["log_q__"]) for r in rows]
assert max(off) - min(off) < 1e-7, max(off) - min(off)
x, n = d["x"], d["N"]
A = [[0.5 + 0.1 + 4 * n, 4 * sum(x) - 0.1],
     [4 * sum(x) - 0.1, 0.1 + 4 * sum(t * t for t in x)]]
det = A[0][0] * A[1][1] - A[0][1] ** 2
def moments(name):
    v = [float(r[name]) for r in rows]
    m = sum(v) / len(v)
    return m, sum((t - m) ** 2 for t in v) / (len(v) - 1)
for name, variance in (("a", A[1][1] / det), ("b", A[0][0] / det),
                       ("z", 1 + A[0][0] / det)):
    ratio = moments(name)[1] / variance
    assert abs(ratio - 1) < 5 * math.sqrt(2 / 2000), (name, ratio)
E

# with a Jacobian: a gamma's logarithm
cat >gamma.gbm <<'E'
model { rate ~ dgamma(3, 2); for (i in 1:N) { k[i] ~ dpois(rate) } }
E
optimize gamma.gbm 0 --laplace 2000 --summary laplace.json --quiet
python3 - <<'E' || fail "the Laplace approximation of a rate"
import json, math
d = json.load(open("data.json"))
s = json.load(open("laplace.json"))["parameters"]["rate"]
shape, rate = 3 + sum(d["k"]), 2 + d["N"]
sd = 1 / math.sqrt(shape)  # of log(rate), around log(shape / rate)
assert abs(math.log(s["q50"] * rate / shape)) < 5 * 1.25 * sd / math.sqrt(2000)
assert abs(math.log(s["q95"] / s["q5"]) / (2 * 1.645 * sd) - 1) < 0.1
E

# two modes: the best is told, and that there is another
cat >two.gbm <<'E'
model { m ~ dnorm(0, 0.01); y ~ dnormmix(at[], tau[], w[])
        for (j in 1:2) { at[j] <- m * (3 - 2 * j) - 3 + j; tau[j] <- 4 }
        w[1] <- 0.6; w[2] <- 0.4 }
E
echo '{"y": 3}' >two.json
status 0 "$GBMC" -O 1 --with=gradients two.gbm -o two
status 0 ./two --method optimize --data two.json --chains 8
prints '[1-7] of 8 starts came to this mode, [1-7] to others'

# no mode: nothing is written
status 0 "$GBMC" -O 1 --with=gradients \
    "$examples/eight_schools/eight_schools.gbm" -o schools
status 2 ./schools --method optimize --data "$examples/eight_schools/data.json" \
    --out none.json --summary no.json --iterations 300
says 'no mode was found: .* tau has come to .*near an end of its range'
absent none.json
absent no.json

# what is refused
cat >index.gbm <<'E'
model { k ~ dcat(w[]); m ~ dnorm(0, 1); y ~ dnorm(m + k, 1) }
E
echo '{"w": [0.4, 0.6], "y": 2}' >data.json
optimize index.gbm 1
says '^error: k is a whole number that is not observed \(index.gbm:1:9\)'
optimize normal.gbm 1 --out fit.nc
says 'FILE.json is wanted'
optimize normal.gbm 1 --checkpoint state
says 'checkpoint is for chains, not --method optimize'
optimize normal.gbm 1 --device cuda
says 'not supported yet'
