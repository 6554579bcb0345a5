#!/usr/bin/env bash
# run --relabel: what is kept of a mixture is what summary --relabel makes of
# the same draws, to the last bit, moments too; chains that call the components
# otherwise agree; blocks, threads and devices make no difference; tempering and
# particles do the same; what is refused.
source "$GBM_ROOT/tests/cli/lib"

cat >mix.gbm <<'M'
model {
  for (i in 1:N) {
    z[i] ~ dcat(p[])
    y[i] ~ dnorm(m[z[i]], tau[z[i]])
    own[i] <- m[z[i]] # of no component
  }
  p[1:3] ~ ddirch(one[])
  for (k in 1:3) {
    m[k] ~ dnorm(0, 0.01)
    tau[k] ~ dgamma(20, 20)
    sd[k] <- 1 / sqrt(tau[k])
    far[k,1:3] <- m[k] - m[1:3]
    large[k] <- 1000 * tau[k] # says little of the component
    for (j in 1:6) { small[k,j] <- m[k] / 1000 }
  }
  total <- sum(m[])
}
M
python3 - <<'P'
import json, random
random.seed(3)
y = [round(c + random.gauss(0, 1), 3) for c in (-1.6, 0.3, 2.4)
     for _ in range(8)]
json.dump({"N": len(y), "y": y, "one": [1, 1, 1]}, open("close.json", "w"))
json.dump({"N": len(y), "y": [4 * a for a in y], "one": [1, 1, 1]},
          open("apart.json", "w"))
for c, m in enumerate(([-6, 1, 9], [9, -6, 1], [1, 9, -6])):
    z = [m.index(a) + 1 for a in (-6, 1, 9) for _ in range(8)]
    json.dump({"m": m, "z": z}, open(f"init{c}.json", "w"))
json.dump({"z": [3] * 8 + [1] * 8 + [2] * 8, "m": [0.3, 2.4, -1.6],
           "p": [0.3, 0.3, 0.3]}, open("reference.json", "w"))
P
status 0 "$GBMC" -O 1 mix.gbm -o mix
list='z,m,p,tau[k],sd,far[k,k]'
run=(./mix --data close.json --chains 3 --warmup 150 --draws 400 --device cpu)

# same FILE FILE: the draws of both
same() {
    local c
    for c in 1 2 3; do
        cmp <(grep -v '^#' "$1_$c.csv") <(grep -v '^#' "$2_$c.csv") ||
            fail "$1 is not $2"
    done
}

# relabelled FILE.nc LIST: its attribute
relabelled() {
    PYTHONPATH=$GBM_ROOT/tests/cli python3 - "$@" <<'P' ||
import sys, netcdf
path, wanted = sys.argv[1:]
said = netcdf.attribute(path, "posterior", "relabelled")
assert said == wanted, said
P
        fail "$1: the attribute relabelled"
}

# ---- by one reference: to the last bit what summary makes of the draws

status 0 "${run[@]}" --out plain.nc --quiet
status 0 ./mix summary plain.nc --relabel "$list" --reference reference.json \
    --out later.nc --quiet
relabelled later.nc "$list"
relabelled plain.nc ''
status 0 ./mix summary plain.nc --relabel "$list" --reference reference.json \
    --out later.csv --digits 17 --summary later.json
says 'components of [1-9][0-9]* of 1200 draws were permuted \(3 of them'
said=$(grep -o 'components of .*' .err)
status 0 "${run[@]}" --relabel "$list" --reference reference.json \
    --out now.csv --digits 17 --summary now.json
says "${said//[()]/.}"
same now later
status 0 "${run[@]}" --out as_drawn.csv --digits 17 --quiet
cmp -s <(grep -v '^#' now_1.csv) <(grep -v '^#' as_drawn_1.csv) &&
    fail "nothing was permuted"

# draws that the host completes, one thread or more, and thinned
status 0 "${run[@]}" --relabel "$list" --reference reference.json \
    --threads 1 --out one.csv --digits 17 --quiet
same one now
status 0 "${run[@]}" --relabel "$list" --reference reference.json --thin 3 \
    --draws 399 --out thin.csv --digits 17 --quiet
cmp <(grep -v '^#' now_2.csv | sed 1d | awk 'NR % 3 == 0' | cut -d, -f8-) \
    <(grep -v '^#' thin_2.csv | sed 1d | cut -d, -f8-) || fail "thinned"
# a device that stops at each draw, as a GPU does
status 0 "${run[@]}" --plain --out plain.nc --quiet
status 0 ./mix summary plain.nc --relabel "$list" --reference reference.json \
    --out later.csv --digits 17 --quiet
status 0 "${run[@]}" --plain --relabel "$list" --reference reference.json \
    --out now.csv --digits 17 --quiet
same now later

# ---- moments: of what is named over the kept draws, of the rest as ever

status 0 "${run[@]}" --relabel "$list" --monitor m,tau,sd,far,z \
    --out kept.nc --summary kept.json --quiet
status 0 "${run[@]}" --relabel "$list" --monitor m[2],total --moments all \
    --summary moments.json --quiet
status 0 "${run[@]}" --moments own --monitor total --summary own.json --quiet
python3 - <<'P' || fail "moments"
import json, math
kept, moments, own = (json.load(open(n + ".json"))["parameters"]
                      for n in ("kept", "moments", "own"))
names = [n for n in kept if n[0] != "z" and n != "m[2]"]
assert len(names) == 2 + 3 + 3 + 9, names
for n in names:
    for what in "mean", "sd":
        a, b = kept[n][what], moments[n][what]
        assert math.isclose(a, b, rel_tol=2e-5, abs_tol=1e-9), (n, what, a, b)
assert kept["m[2]"] == moments["m[2]"]
for i in range(1, 25):
    share = [moments[f"z[{i}]=={k}"]["mean"] for k in (1, 2, 3)]
    assert abs(sum(share) - 1) < 1e-5, share
    mean = sum(k * q for k, q in zip((1, 2, 3), share))
    assert math.isclose(mean, kept[f"z[{i}]"]["mean"], rel_tol=2e-5)
    assert own[f"own[{i}]"]["mean"] == moments[f"own[{i}]"]["mean"]
P

# ---- by warm-up alone, of which each sweep of the second half counts: chains
# that start in other corners agree

status 0 "${run[@]}" --relabel "$list" --checkpoint run.ck --quiet
python3 - "$GBM_ROOT/tests" <<'P' || fail "not all sweeps are learnt from"
import struct, sys
sys.path.insert(0, sys.argv[1])
import checkpoint
n, = struct.unpack("<d", dict(checkpoint.pieces("run.ck"))["draws in components"])
assert n == 3 * 75, n
P

corners=(./mix --data apart.json --chains 3 --warmup 50 --draws 200 --start
    typical --init init0.json --init init1.json --init init2.json --device cpu)
status 0 "${corners[@]}" --quiet --summary as_drawn.json
for names in "$list" m,small,large; do
    status 0 "${corners[@]}" --relabel "$names" --moments all --monitor m,tau \
        --summary agree.json --quiet
    python3 - <<'P' || fail "$names: chains do not agree"
import json
as_drawn, agree = (json.load(open(n + ".json"))["parameters"]
                   for n in ("as_drawn", "agree"))
for k in 1, 2, 3:
    n = f"m[{k}]"
    assert as_drawn[n]["rhat"] > 2, as_drawn[n]
    assert agree[n]["rhat"] < 1.05 and agree[n]["sd"] < 1.5, agree[n]
P
done
python3 - <<'P' || fail "R-hats of moments"
import json
for names, row in json.load(open("agree.json"))["parameters"].items():
    if names[:2] == "m[":
        assert row["rhat"] < 1.05, row
P

# ---- with other methods: of the posterior's chains, of particles

status 0 "$GBMC" -O 1 --with=powers mix.gbm -o powers
for method in tempering smc; do
    other=(./powers --chains 3 --device cpu --method $method --digits 17)
    case $method in
    tempering) other+=(--replicas 5 --warmup 150 --draws 400) ;;
    smc) other+=(--particles 400) ;;
    esac
    status 0 "${other[@]}" --data close.json --out plain.nc --quiet
    status 0 ./powers summary plain.nc --relabel "$list" --out later.csv \
        --reference reference.json --digits 17
    said=$(grep -o 'components of .*' .err)
    status 0 "${other[@]}" --data close.json --relabel "$list" --reference reference.json \
        --out now.csv --threads 1
    says "${said//[()]/.}"
    same now later
    # not all of what is named is monitored; two threads
    status 0 "${other[@]}" --data close.json --relabel z,m --reference reference.json \
        --monitor m --out two.csv --threads 2 --quiet
    status 0 ./powers summary plain.nc --relabel z,m --show m --quiet \
        --reference reference.json --summary later.json
    python3 - <<'P' || fail "$method: what is monitored"
import csv, json
later = json.load(open("later.json"))["parameters"]
rows = [r for c in (1, 2, 3) for r in csv.DictReader(
    l for l in open(f"two_{c}.csv") if l[0] != "#")]
for k in 1, 2, 3:
    mean = sum(float(r[f"m.{k}"]) for r in rows) / len(rows)
    assert abs(mean - later[f"m[{k}]"]["mean"]) < 1e-4, (k, mean, later)
P
    # by the posterior's chains late in warm-up, or the particles that arrive
    status 0 "${other[@]}" --relabel "$list" --out fit.nc --quiet \
        --data apart.json --checkpoint run.ck
    status 0 ./powers summary fit.nc --out again.nc --summary agree.json
    python3 - "$GBM_ROOT/tests" $method <<'P' || fail "$method: what is learnt"
import json, struct, sys
sys.path.insert(0, sys.argv[1])
import checkpoint
n, = struct.unpack("<d", dict(checkpoint.pieces("run.ck"))["draws in components"])
assert n == 3 * (75 if sys.argv[2] == "tempering" else 400), n
p = json.load(open("agree.json"))["parameters"]
for k in 1, 2, 3:
    r = p[f"m[{k}]"]
    assert r["rhat"] < 1.1 and r["sd"] < 1.5, r
P
    relabelled fit.nc "$list"
    relabelled again.nc "$list"
done

# ---- what is refused

refuse() {
    local said=$1
    shift
    status 1 "${run[@]}" "$@"
    says "$said"
}
refuse '--relabel q: the model has no such variable' --relabel z,q
refuse '--relabel y: it has no draws' --relabel z,y
refuse 'no dimension of it has 3 cells' --relabel z,m,own
refuse 'what belongs to the components is wanted beside labels' --relabel z
refuse '--relabel z: it is named twice' --relabel z,m,z
refuse '--relabel sd: it is computed' --relabel z,m,sd --monitor m
refuse 'is settled by draws of warm-up' --relabel z,m --warmup 0
refuse '--reference has no z' --relabel z,m --reference apart.json
refuse '--reference goes with --relabel' --reference reference.json
refuse '--relabel is an option of summary, and of run with draws' \
    --relabel z,m --method em
status 1 ./mix check --data close.json --relabel z,m
says '--relabel is an option of summary'
