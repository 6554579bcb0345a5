#!/usr/bin/env bash
# Where two cells of a vector of counts trade, a trial value costs what these
# two have, however many cells there are, and none is tried that leaves less than
# children need; what is not of each cell alone is seen whole.
source "$GBM_ROOT/tests/cli/lib"

cat >thinned.gbm <<'E'
model {
  x[1:5] ~ dmulti(p[], n)
  for (k in 1:5) { y[k] ~ dbin(q[k], x[k]) }
}
E
cat >thinned.json <<'E'
{"n": 12, "p": [0.1, 0.15, 0.2, 0.25, 0.3], "q": [0.5, 0.2, 0.7, 0.4, 0.1],
 "y": [1, 0, 2, 1, 0]}
E
status 0 "$GBMC" --emit=c thinned.gbm
grep -q 'density_update_x_v_cell(k_->s, k_->team, k_->element, k_->other, k_->held\[1\]);' .out ||
    fail "a trial value is not of two cells"
grep -q 'ends_update_x_v(s, element, k_.other, &least, &most);' .out ||
    fail "less than was counted is tried"
status 0 "$GBMC" thinned.gbm -o thinned
status 0 ./thinned check --data thinned.json
status 0 ./thinned run --data thinned.json --draws 10000 --summary thinned.out --quiet
# those that were not counted are multinomial, with p (1 - q)
cat >thinned.py <<'E'
import json, sys
d, s = (json.load(open(f)) for f in sys.argv[1:])
w = [p * (1 - q) for p, q in zip(d["p"], d["q"])]
for k, y in enumerate(d["y"]):
    r = s["parameters"][f"x[{k + 1}]"]
    share, left = w[k] / sum(w), d["n"] - sum(d["y"])
    mean, sd = y + left * share, (left * share * (1 - share)) ** 0.5
    print(k, r["mean"], mean, r["mcse"], r["sd"], sd)
    if sd == 0:
        assert r["mean"] == y and r["sd"] == 0
        continue
    assert abs(r["mean"] - mean) < 4.5 * r["mcse"]
    assert abs(r["sd"] / sd - 1) < 0.05
E
status 0 python3 thinned.py thinned.json thinned.out
# none may be of the second kind, and all of the third are counted
cat >none.json <<'E'
{"n": 12, "p": [0.1, 0, 0.2, 0.3, 0.4], "q": [0.5, 0.2, 1, 0.4, 0.1],
 "y": [1, 0, 2, 1, 0]}
E
status 0 ./thinned run --data none.json --draws 10000 --summary none.out --quiet
status 0 python3 thinned.py none.json none.out

# the same of a total that is not known: what was not counted is Poisson
cat >total.gbm <<'E'
model {
  n ~ dpois(12)
  x[1:3] ~ dmulti(p[], n)
  for (k in 1:3) { y[k] ~ dbin(q[k], x[k]) }
}
E
echo '{"p": [0.2, 0.3, 0.5], "q": [0.5, 0.2, 0.7], "y": [4, 1, 3]}' >total.json
status 0 "$GBMC" --emit=c total.gbm
grep -q 'lower\[0\] = real_fmax(lower\[0\], y_v(j_v));' .out ||
    fail "a cell is tried with less than was counted of it"
status 0 "$GBMC" total.gbm -o total
status 0 ./total check --data total.json
status 0 ./total run --data total.json --draws 10000 --summary total.out --quiet
cat >total.py <<'E'
import json
d, s = json.load(open("total.json")), json.load(open("total.out"))
for k in range(3):
    r = s["parameters"][f"x[{k + 1}]"]
    left = 12 * d["p"][k] * (1 - d["q"][k])
    print(k, r["mean"], d["y"][k] + left, r["mcse"], r["sd"], left ** 0.5)
    assert abs(r["mean"] - d["y"][k] - left) < 4.5 * r["mcse"]
    assert abs(r["sd"] / left ** 0.5 - 1) < 0.05
E
status 0 python3 total.py

cat >across.gbm <<'E'
model {
  x[1:3] ~ dmulti(c(1, 2, 3), 8)
  y ~ dpois(x[1] * x[2] + 1)
}
E
echo '{"y": 9}' >across.json
status 0 "$GBMC" --emit=c across.gbm
grep -q 'density_update_x_v_rest(k_->s, k_->team, k_->element);' .out ||
    fail "what two cells enter together is not seen"
status 0 "$GBMC" across.gbm -o across
status 0 ./across run --data across.json --draws 10000 --summary across.out --quiet
cat >across.py <<'E'
import json, math
s = json.load(open("across.out"))["parameters"]
total, mean = 0, [0, 0, 0]
for a in range(9):
    for b in range(9 - a):
        x = (a, b, 8 - a - b)
        w = math.exp(-a * b) * (a * b + 1) ** 9
        for n, p in zip(x, (1, 2, 3)):
            w *= p ** n / math.factorial(n)
        total += w
        mean = [m + w * n for m, n in zip(mean, x)]
for k in range(3):
    r = s[f"x[{k + 1}]"]
    print(k, r["mean"], mean[k] / total, r["mcse"])
    assert abs(r["mean"] - mean[k] / total) < 4.5 * r["mcse"]
E
status 0 python3 across.py
