#!/usr/bin/env bash
# Running moments beside draws: of every sweep, also with thinning; of derived
# nodes and predictions; what --monitor and --moments take and tell; the same on
# a device.
source "$GBM_ROOT/tests/cli/lib"

cat >m.gbm <<'M'
model {
  for (i in 1:N) { x[i] ~ dnorm(mu, tau) y[i] ~ dpois(exp(x[i])) }
  mu ~ dnorm(0, 1)
  tau ~ dgamma(2, 2)
  above <- step(mu - 0.3)
  for (i in 2:N) { gap[i] <- x[i] - x[1] }
  new ~ dnorm(mu, tau)
}
M
echo '{"N": 6, "y": [0, 3, 1, null, 2, 7]}' >d.json
status 0 "$GBMC" -O 1 m.gbm -o m
run=(./m --data d.json --warmup 50 --draws 300 --chains 3 --seed 4)
cpu=("${run[@]}" --device cpu)

# told FILE NAME...: beside mu's draws the summary has the moments of these, and
# they are those of the draws in all_1.csv, ... (or DRAWS); R-hat as docs/language.md has it.
cat >told.py <<'P'
import csv, json, math, os, sys
draws = os.environ.get("DRAWS", "all")
chains = []
for c in 1, 2, 3:
    rows = csv.DictReader(l for l in open(f"{draws}_{c}.csv") if l[0] != "#")
    chains.append([{k: float(v) for k, v in r.items()} for r in rows])
# what was not asked for stands apart
summary = json.load(open(sys.argv[1]))
told = {**summary["parameters"], **summary.get("moments", {})}
if set(told) != {"mu", *sys.argv[2:]}:
    sys.exit(f"told are {list(told)}")
if "moments" in summary and set(summary["parameters"]) != {"mu"}:
    sys.exit(f"parameters are {list(summary['parameters'])}")
for name in sys.argv[2:]:
    cell, _, value = name.partition("==")
    column = cell.replace("[", ".").replace("]", "")
    x = [[row[column] for row in chain] for chain in chains]
    if value:
        x = [[float(a == int(value)) for a in c] for c in x]
    n = len(x[0])
    means = [sum(c) / n for c in x]
    every = [a for c in x for a in c]
    mean = sum(every) / len(every)
    sd = math.sqrt(sum((a - mean) ** 2 for a in every) / (len(every) - 1))
    within = sum((a - m) ** 2 for c, m in zip(x, means) for a in c) / 3 / (n - 1)
    between = sum((m - mean) ** 2 for m in means) / 2
    rhat = math.sqrt((n - 1) / n + between / within) if within else None
    for key, value in ("mean", mean), ("sd", sd), ("rhat", rhat):
        if told[name][key] != value and not math.isclose(
                told[name][key], value, rel_tol=1e-7, abs_tol=1e-12):
            sys.exit(f"{key} of {name}: {told[name][key]}, not {value}")
    if told[name].get("q50") is not None or told[name].get("ess_bulk"):
        sys.exit(f"{name} has draws")
P
told() { python3 told.py "$@" || fail "moments in $1 are not those of draws"; }
x=('x[1]' 'x[2]' 'x[3]' 'x[4]' 'x[5]' 'x[6]')
gap=('gap[2]' 'gap[3]' 'gap[4]' 'gap[5]' 'gap[6]')

status 0 "${cpu[@]}" --monitor all --digits 17 --out all.csv
for thin in 1 3; do
    moments() { # WHAT NAME...
        status 0 "${cpu[@]}" --thin $thin --monitor mu --moments "$1" \
            --summary some.json
        told some.json "${@:2}"
    }
    moments all "${x[@]}" tau 'y[4]' above "${gap[@]}" new
    prints '^gap\[6\] +[0-9.]+ +[0-9.]+ +- '
    moments none
    moments tau tau
    moments 'x[2:3],above' 'x[2]' 'x[3]' above
done
# unasked: what is random and at hand; not in the table
status 0 "${cpu[@]}" --monitor mu --summary some.json
told some.json "${x[@]}" tau 'y[4]' new
grep -q '^tau' .out && fail "more in the table than is monitored"
prints '9 more'
status 0 "${cpu[@]}" --monitor mu --thin 3 --summary some.json
told some.json 'x[1]' 'x[2]' 'x[3]' 'x[5]' 'x[6]' tau
# categorical nodes: how often each value came
cat >mix.gbm <<'M'
model {
  for (i in 1:N) { z[i] ~ dcat(p[i,]) y[i] ~ dnorm(mu * z[i], 1) }
  mu ~ dnorm(1, 4)
  s ~ dbern(0.3)
  t ~ categorical(p[1,])
}
M
echo '{"N": 4, "y": [1.2, 2.5, 3, null], "p": [[0.2, 0.3, 0.5], [0.4, 0.2, 0.4],
    [0.1, 0.8, 0.1], [1, 1, 0]]}' >mix.json
status 0 "$GBMC" -O 1 mix.gbm -o mix
mix=(./mix --data mix.json --warmup 50 --draws 300 --chains 3 --seed 4)
events=()
for cell in 'z[1]' 'z[2]' 'z[3]' 'z[4]' t; do
    events+=("$cell==1" "$cell==2" "$cell==3")
done
status 0 "${mix[@]}" --device cpu --monitor all --digits 17 --out mixed.csv
for thin in 1 3; do
    status 0 "${mix[@]}" --device cpu --thin $thin --monitor mu --moments all \
        --summary some.json --out fit.nc --checkpoint mix.ck
    DRAWS=mixed told some.json "${events[@]}" s 'y[4]'
    prints '^z\[2\]==3 +0\.'
done
status 0 ./mix --data mix.json --resume mix.ck --quiet --summary again.json
DRAWS=mixed told again.json "${events[@]}" s 'y[4]'
PYTHONPATH=$GBM_ROOT/tests/cli python3 - <<'P' || fail "probabilities in netCDF"
import json, netcdf
m = netcdf.read("fit.nc")["moments"]
told = json.load(open("some.json"))["parameters"]
shape, values = m["z_probability"]
assert list(shape.values()) == [4, 3] and "z_mean" not in m, m
assert m[list(shape)[1]][1] == [1, 2, 3]
for i in range(4):
    assert abs(sum(values[3 * i:3 * i + 3]) - 1) < 1e-12
    for k in range(3):
        name = f"z[{i + 1}]=={k + 1}"
        assert abs(values[3 * i + k] - told[name]["mean"]) < 1e-8
P

# draws and moments of the same: one row, that of the draws
status 0 "${cpu[@]}" --monitor mu,x --moments x,tau --summary both.json
grep -q '"x\[1\]": .*"q50": [-0-9]' both.json || fail "no draws of x"
[ "$(grep -c '"x\[1\]": {' both.json)" = 1 ] || fail "x[1] is there twice"
# what has no value
status 1 "${cpu[@]}" --moments nobody
says '--moments nobody: the model has no such variable'
status 1 "${cpu[@]}" --moments 'x[7]'
says "--moments 'x\[7\]': subscripts of x\[6\] are wanted"

# netCDF: of arrays that are not kept whole the cells that are, and where they
# are, as of one that is data but for a tenth; moments in a group of their own
echo '{"N": 12, "y": [0, 3, 1, null, 2, 7, 1, 1, 0, 2, 2, 1]}' >longer.json
status 0 "${cpu[@]/d.json/longer.json}" --monitor 'x[2:3],x[5],y' \
    --moments tau,x --out fit.nc --summary first.json
status 0 ./m summary fit.nc --out again.nc --summary second.json
cat >cells.py <<'P'
import json, sys
sys.path.insert(0, sys.argv[1])
import netcdf
first, second = (json.load(open(f))["parameters"]
                 for f in ("first.json", "second.json"))
drawn = ["x[2]", "x[3]", "x[5]", "y[4]"]
if list(second) != drawn or any(first[n] != second[n] for n in drawn):
    sys.exit(f"read back are {list(second)}")
for path in "fit.nc", "again.nc":
    f = netcdf.read(path)
    p = f["posterior"]
    for name, n, cells in ("x", 3, [1, 2, 4]), ("y", 1, [3]):
        shape, values = p[name]
        if shape != {"chain": 3, "draw": 300, name + "_dim_0": n} or \
                p[name + "_dim_0"][1] != cells:
            sys.exit(f"{path}: {name} is {shape}, cells {p[name + '_dim_0']}")
    data = f["observed_data"]
    if "x" in data or data["y"][1][:3] != [0, 3, 1] or \
            data["y"][1][4:] != [2, 7, 1, 1, 0, 2, 2, 1]:
        sys.exit(f"{path}: data are {data}")
m = netcdf.read("fit.nc")["moments"]
for key in "mean", "sd", "rhat":
    if abs(m["tau_" + key][1][0] - first["tau"][key]) > 1e-8 or \
            len(m["x_" + key][1]) != 12:
        sys.exit(f"moments: {m}")
P
python3 cells.py "$GBM_ROOT/tests/cli" || fail "netCDF"

# what has no sweeps has no moments
status 1 ./m simulate --data d.json --moments x
says '--moments is for run by Markov chains'
status 0 ./m simulate --posterior --data d.json --draws 20 --monitor mu --thin 2

# a run that goes on
status 0 "${cpu[@]}" --thin 3 --monitor mu --moments all --quiet --draws 150 \
    --checkpoint half.ck
status 0 ./m --data d.json --resume half.ck --draws 300 --quiet \
    --summary whole.json
told whole.json "${x[@]}" tau 'y[4]' above "${gap[@]}" new
status 1 ./m --data d.json --resume half.ck --moments none
says 'it is of a run with .*--moments all'
status 0 ./m --data d.json --resume half.ck --moments all --quiet

# the device's kernels, step by step and in one
fake_device
for lanes in 0 4; do
    GBM_CUDA_CHAINS=$lanes status 0 "${mix[@]}" --device cuda --no-check \
        --thin 3 --monitor mu --moments all --summary device.json
    DRAWS=mixed told device.json "${events[@]}" s 'y[4]'
done
for lanes in 0 4; do
    for thin in 1 3; do
        GBM_CUDA_CHAINS=$lanes status 0 "${run[@]}" --device cuda --no-check \
            --thin $thin --monitor mu --moments all --summary device.json
        told device.json "${x[@]}" tau 'y[4]' above "${gap[@]}" new
    done
done
GBM_CUDA_CHAINS=0 status 0 "${run[@]}" --device cuda --no-check --thin 3 \
    --monitor mu --summary device.json
told device.json 'x[1]' 'x[2]' 'x[3]' 'x[5]' 'x[6]' tau
