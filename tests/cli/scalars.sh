#!/usr/bin/env bash
# Scalars with names of their own that are defined and used alike are one array
# inside, and what they are called outside: in data, starting values, draws and
# messages. Their posterior is that of the array.
source "$GBM_ROOT/tests/cli/lib"
if ! command -v python3 >/dev/null; then
    echo "needs python3"
    exit 77
fi
python3 - <<'END'
import json

n = 12
named = ["mu ~ dnorm(0, 0.01)", "sigma ~ dunif(0, 9)"]
for i in range(1, n + 1):
    named += [f"b{i} ~ dnorm(mu, 1 / sigma^2)", f"m{i} <- b{i} * {i} + 1",
              f"y{i} ~ dnorm(m{i}, t{i})"]
named.append("extra <- b1 + b2")
open("named.gbm", "w").write("model {\n" + "\n".join(named) + "\n}\n")
data = {f"y{i}": 3 + i * i % 7 for i in range(1, n + 1)}
data.update({f"t{i}": 1 + i / 10 for i in range(1, n + 1)})
write = lambda name, d: json.dump(d, open(name, "w"))
write("all.json", data)
write("missing.json", {k: v for k, v in data.items() if k not in ("y4",)}
      | {"y7": None})
write("no_t5.json", {k: v for k, v in data.items() if k != "t5"})
write("long_t5.json", data | {"t5": [1, 2]})
write("init.json", {"b5": 1e5, "nobody": 1})
# one of them is used once more, in a density of another form
apart = named + ["z ~ dpois(exp(b9))"]
open("apart.gbm", "w").write("model {\n" + "\n".join(apart) + "\n}\n")
# the rest are left alone: named for a sampler, a loop's end, in a data block
alone = [f"k{i} ~ dpois({i})" for i in range(1, n + 1)]
alone.append(f"for (i in 1:n{n}) {{ w[i] ~ dnorm(n1, 1) }}")
open("alone.gbm", "w").write(
    "data {\n" + "\n".join(f"n{i} <- {i}" for i in range(1, n + 1))
    + "\n}\nmodel {\n" + "\n".join(alone) + "\n}\nsamplers { "
    + ", ".join(f"k{i}" for i in range(1, n + 1)) + " : slice; }\n")
# of two vectors that are used whole, none is a scalar
open("vectors.gbm", "w").write("model {\n" + "\n".join(
    f"s{i} <- sum(v{i})\nu{i} ~ dnorm(s{i}, 1)" for i in range(1, n + 1))
    + "\n}\n")
write("vectors.json", {f"v{i}": [i, 2 * i] for i in range(1, n + 1)})
# a name that the array would have
open("taken.gbm", "w").write("model {\n" + "\n".join(
    f"c{i} ~ dnorm(c1..c12, 1)" for i in range(1, n + 1))
    + "\nc1..c12 ~ dnorm(0, 1)\n}\n")
END
run() { status 0 "./$1" run --seed 4 "${@:2}"; }

status 0 "$GBMC" --emit=plan named.gbm
prints 'b3\.\.b12'
prints 't1\.\.t12'
status 0 "$GBMC" named.gbm -o named
run named --data all.json --draws 20000 --out draws.csv
for name in b1 b2 b7 m12 extra; do prints "^$name  "; done
python3 - <<'END' || fail "the posterior is not that of an array"
import csv, glob, json, math
import numpy as np

rows = []
for name in glob.glob("draws_*.csv"):
    lines = [l for l in open(name) if not l.startswith("#")]
    rows += list(csv.DictReader(lines))
draws = {k: np.array([float(r[k]) for r in rows]) for k in rows[0]}
data = json.load(open("all.json"))
n = 12
i = np.arange(1, n + 1)
y = np.array([data[f"y{k}"] for k in i])
t = np.array([data[f"t{k}"] for k in i])
# given sigma, b and mu are normal: integrate over sigma on a grid
total, mean = 0, np.zeros(n + 1)
for sigma in np.arange(0.005, 9, 0.01):
    cov = np.diag(1 / t) + np.diag(i**2 * sigma**2) + 100.0 * np.outer(i, i)
    r = y - 1.0
    solved = np.linalg.solve(cov, r)
    w = math.exp(-0.5 * (r @ solved + np.linalg.slogdet(cov)[1]) + 30)
    cross = np.diag(i * sigma**2) + 100.0 * np.outer(np.ones(n), i)
    total += w
    mean += w * np.append(cross @ solved, 100.0 * i @ solved)
mean /= total
for k in range(n):
    x = draws[f"b{k + 1}"]
    # draws of b are almost independent given sigma; 6 standard errors of 2000
    z = (x.mean() - mean[k]) / (x.std() / math.sqrt(2000))
    assert abs(z) < 6, (k + 1, x.mean(), mean[k])
    assert np.allclose(draws[f"m{k + 1}"], x * (k + 1) + 1, 1e-5, 1e-5)
assert np.allclose(draws["extra"], draws["b1"] + draws["b2"], 1e-5, 1e-5)
END
run named --data missing.json --draws 100 --monitor b3,y4,y7,extra
[ "$(grep -cE '^(b3|y4|y7|extra) ' .out)" = 4 ] || fail "not what was monitored"
[ "$(grep -cE '^(b|m|y)[0-9]+ ' .out)" = 3 ] || fail "more than what was monitored"
run named --data all.json --init init.json --draws 1 --warmup 0 --chains 1
says 'nobody in init.json is not a random variable'
! grep -q 'b5 in init' .err || fail "b5 is no variable"
status 1 ./named run --data no_t5.json
says 't5 must be supplied'
status 1 ./named run --data long_t5.json
says 't5 is a single number in the model, but long_t5.json has 2'
status 1 ./named run --data all.json --monitor b99
says 'no such variable'
status 0 ./named check --data missing.json

status 0 "$GBMC" --emit=plan apart.gbm
prints 'b9  '
status 0 "$GBMC" apart.gbm -o apart
status 0 ./apart check --data all.json
status 0 "$GBMC" --emit=dag alone.gbm
! grep -q '\.\.' .out || fail "gathered what is needed by its name"
status 0 "$GBMC" vectors.gbm -o vectors
status 0 ./vectors run --data vectors.json --draws 10
status 0 "$GBMC" --emit=dag taken.gbm
prints 'stochastic c1\.\.c12\.$|stochastic c1\.\.c12\.,'
