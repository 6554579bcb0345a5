#!/usr/bin/env bash
# The summary that a person chooses: quantiles and intervals of highest density
# recomputed from the draws, in the table and in JSON; order, digits, which rows.
source "$GBM_ROOT/tests/cli/lib"

cat >model.gbm <<'E'
model {
  for (i in 1:40) { theta[i] ~ dnorm(mu, 1)  y[i] ~ dnorm(theta[i], 1) }
  mu ~ dnorm(0, 0.1)
  k ~ dpois(3)
}
E
python3 -c 'print({"y": [i % 7 for i in range(40)]})' | tr \' \" >data.json
status 0 "$GBMC" -O 0 model.gbm -o model
status 0 ./model --data data.json --device cpu --draws 300 --out fit.csv \
    --digits 17 --quantiles 2.5,50,97.5 --hdi 0.9 --summary fit.json --seed 3 \
    --monitor all
cp .out table
status 0 ./model --data data.json --device cpu --draws 300 --out fit.nc --seed 3 \
    --monitor all --quiet
python3 - <<'E' || fail "quantiles and intervals"
import json
from math import floor
columns = {}
for c in range(1, 5):
    rows = [l.strip().split(",") for l in open(f"fit_{c}.csv") if l[0] != "#"]
    for i, name in enumerate(rows[0]):
        columns.setdefault(name, []).extend(float(r[i]) for r in rows[1:])
s = json.load(open("fit.json"))
near = lambda a, b: abs(a - b) <= 1e-8 * (1 + abs(b))
for name, column in (("mu", "mu"), ("k", "k"), ("theta[7]", "theta.7")):
    p, x = s["parameters"][name], sorted(columns[column])
    n = len(x)
    for key, q in (("q2.5", 0.025), ("q97.5", 0.975), ("q5", 0.05),
                   ("q50", 0.5), ("q95", 0.95)):
        h = (n - 1) * q
        i = int(h)
        assert near(p[key], x[i] + (h - i) * (x[min(i + 1, n - 1)] - x[i]))
    step = floor(0.9 * n)
    width, low, high = min((x[i + step] - x[i], x[i], x[i + step])
                           for i in range(n - step))
    assert near(p["hdi_95%"] - p["hdi_5%"], width)
    assert near(x[x.index(min(x, key=lambda v: abs(v - p["hdi_5%"])))],
                p["hdi_5%"])
    assert list(p)[:9] == ["mean", "sd", "mcse", "q5", "q50", "q95", "ess_bulk",
                           "ess_tail", "rhat"] and len(p) == 13
worst = min((min(p["ess_bulk"], p["ess_tail"]), v)
            for v, p in s["parameters"].items())
assert (s["worst"]["ess"], s["worst"]["ess_of"]) == worst
assert near(s["worst"]["ess_per_s"], worst[0] / s["timing"]["sampling_s"])
largest = max((p["rhat"], v) for v, p in s["parameters"].items())
assert (s["worst"]["rhat"], s["worst"]["rhat_of"]) == largest
verdict = next(l for l in open("table") if l.startswith("4 chains "))
assert verdict.endswith(f"; sampling took {s['timing']['sampling_s']:.3g} s\n"), \
    verdict
assert ("do not" in verdict) == (largest[0] > 1.01)
assert f"smallest ESS {worst[0]:,.0f} ({worst[1]}), " in verdict, verdict
assert f"largest R-hat {largest[0]:.3f}, {largest[1]})" in verdict, verdict
head = open("table").readline().split()
assert head == ["name", "mean", "sd", "mcse", "2.5%", "50%", "97.5%", "hdi_5%",
                "hdi_95%", "ess_bulk", "ess_tail", "rhat"], head
lines = {l.split()[0]: l.split() for l in open("table") if l[:3] in ("mu ",
                                                                     "k  ")}
p = s["parameters"]["mu"]
for i, key in enumerate(("mean", "sd", "mcse", "q2.5", "q50", "q97.5",
                         "hdi_5%", "hdi_95%")):
    assert abs(float(lines["mu"][i + 1]) - p[key]) < 0.006, key
E
# Large arrays have a line, rows where they are asked for.
grep -q '^theta\[' table && fail "theta is not folded"
grep -q '^theta: 40 values, means [0-9.]* to [0-9.]*, sds ' table ||
    fail "no line for theta"
go() { status 0 ./model summary fit.nc "$@"; }
go --show 'theta[3],mu'
[ "$(grep -c '^[a-z]' .out)" = 3 ] || fail "not two rows"
prints '^theta\[3\] '
go --show all
[ "$(grep -c '^theta\[' .out)" = 40 ] || fail "not all rows"
go --show nu
prints '^Note: --show nu: there is nothing of this name'
go --sort name
[ "$(sed -n '2s/ .*//p' .out)" = k ] || fail "not by name"
go --sort rhat --digits 6 --show all
python3 - <<'E' || fail "not by R-hat"
rows = [l.split() for l in open(".out")][1:43]
rhat = [float(r[-1]) for r in rows]
assert rhat == sorted(rhat, reverse=True) and rhat[0] > rhat[-1], rhat
assert {r[0] for r in rows} == {"mu", "k"} | {f"theta[{i}]"
                                              for i in range(1, 41)}
assert len(next(r for r in rows if r[0] == "mu")[2]) == len("0.123456")
E
go --sort ess
python3 - <<'E' || fail "not by ESS"
rows = [l.split() for l in open(".out")][1:43]
ess = [min(float(r[-2]), float(r[-3])) for r in rows]
assert ess == sorted(ess) and ess[0] < ess[-1], ess
E
for bad in '--quantiles 2.5,x' '--quantiles 101' '--hdi 94' '--sort size'; do
    # shellcheck disable=SC2086
    status 1 ./model summary fit.nc $bad
    says "^error: ${bad%% *} '.*wanted"
done

# Where R-hat is beyond 1.01 by less than one sees in three decimals, it has more.
echo 'model { m ~ dnorm(0, 1)  y ~ dnorm(m, 1) }' >one.gbm
echo '{"y": 1}' >one.json
status 0 "$GBMC" -O 0 one.gbm -o one
for seed in $(seq 1 200); do
    status 0 ./one --data one.json --draws 60 --warmup 10 --seed "$seed" \
        --no-check --summary one.out --device cpu --progress none
    value=$(python3 -c 'import json
r = json.load(open("one.out"))["parameters"]["m"]["rhat"]
print(f"{r:.5f}" if 1.01 < r < 1.0105 else "")')
    [ -z "$value" ] || break
done
[ -n "$value" ] || fail 'no such R-hat'
prints "do not agree \\(largest R-hat $value, m\\)"
prints "above 1.01 for 1 quantity \\(m; largest $value\\)"
