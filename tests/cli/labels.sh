#!/usr/bin/env bash
# summary --relabel: chains that call the components otherwise agree afterwards,
# in the table and in what is written; --reference, --clusters; what is refused.
source "$GBM_ROOT/tests/cli/lib"

cat >mix.gbm <<'M'
model {
  for (i in 1:N) { z[i] ~ dcat(p[]) y[i] ~ dnorm(m[z[i]], 1) }
  p[1:3] ~ ddirch(one[])
  for (k in 1:3) { m[k] ~ dnorm(0, 0.01) }
}
M
python3 - <<'P'
import json
y = [c + d for c in (-6, 0, 7) for d in (-1, -0.5, 0, 0.3, 0.5, 1.2)]
json.dump({"N": len(y), "y": y, "one": [1, 1, 1]}, open("y.json", "w"))
# chains that start in other corners
for c, m in enumerate(([-6, 0, 7], [7, -6, 0], [0, 7, -6])):
    z = [m.index(a) + 1 for a in (-6, 0, 7) for _ in range(6)]
    json.dump({"m": m, "z": z}, open(f"init{c}.json", "w"))
json.dump({"z": [3] * 6 + [1] * 6 + [2] * 6}, open("reference.json", "w"))
P
status 0 "$GBMC" -O 1 mix.gbm -o mix
status 0 ./mix --data y.json --init init0.json --init init1.json \
    --init init2.json --chains 3 --warmup 50 --draws 200 --start typical \
    --device cpu --out fit.nc
prints 'R-hat is above'

status 0 ./mix summary fit.nc --relabel z,m,p --out same.nc --summary same.json \
    --clusters z=clusters.json
grep -q 'R-hat is above' .out && fail "chains do not agree"
says 'components of [1-9][0-9]* of 600 draws were permuted \(3 of them'
prints '^z: 3.00 clusters on average; .* of 6, 6, 6$'
status 0 ./mix summary same.nc --summary again.json
status 0 ./mix summary fit.nc --relabel z,m,p --reference reference.json \
    --summary given.json --quiet
python3 - <<'P' || fail "not relabelled"
import json, sys
same, again, given = (json.load(open(f"{n}.json"))["parameters"]
                      for n in ("same", "again", "given"))
if same != again:
    sys.exit("what is written is not what is summarised")
for named, order in (same, None), (given, (0.3, 7, -6)):
    means = [named[f"m[{k}]"]["mean"] for k in (1, 2, 3)]
    near = sorted(means) if order is None else means
    for a, b in zip(near, order or (-6, 0, 7)):
        if abs(a - b) > 1.5:
            sys.exit(f"means {means}")
    for k in 1, 2, 3:
        if named[f"m[{k}]"]["sd"] > 1 or named[f"p[{k}]"]["sd"] > 0.2:
            sys.exit(f"component {k} is a mixture")
    for i in range(18): # the label of its row is that of its mean
        k = round(named[f"z[{i + 1}]"]["mean"])
        if abs(means[k - 1] - (-6, 0, 7)[i // 6]) > 1.5:
            sys.exit(f"row {i + 1} has label {k}")
c = json.load(open("clusters.json"))
part = c["least_squares"]["partition"]
if part != [1] * 6 + [2] * 6 + [3] * 6 or c["labels"] != "z":
    sys.exit(f"partition {part}")
t = c["together"]
if len(t) != 18 or t[0][0] != 1 or t[0][5] < 0.99 or t[0][17] > 0.01 or \
        abs(sum(c["sizes"]["mean"]) - 18) > 1e-3:
    sys.exit("together")
P
absent clusters.json.tmp
status 1 ./mix summary fit.nc --relabel z,q
says '--relabel q: it has no draws'
status 1 ./mix summary fit.nc --relabel z,m --reference y.json
says '--reference has no z'
status 1 ./mix summary fit.nc --clusters z
says 'NAME=FILE.json is wanted'
status 1 ./mix summary fit.nc --clusters m=c.json
says 'labels 1, 2, ... are wanted'
status 1 ./mix summary fit.nc --clusters z=none/c.json
says 'none/c.json: cannot write'
status 1 ./mix summary fit.nc --reference reference.json
says '--reference goes with --relabel'
