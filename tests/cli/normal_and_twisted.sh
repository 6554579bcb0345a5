#!/usr/bin/env bash
# Metropolis steps of a group on targets whose moments are known, in 20
# dimensions: means and variances are right, and where the target is normal diam
# forgets sooner than am in all directions, alike.
source "$GBM_ROOT/tests/cli/lib"

folder=$examples/normal_and_twisted
status 0 "$folder/generate.py" 20
for model in normal twisted; do
    status 0 "$GBMC" -O 1 "$folder/$model.gbm" -o $model
done
status 0 ./normal check --data 4.json
status 0 ./twisted check --data 6.json
mkdir kept
status 0 "$GBM_ROOT/bench/metropolis" --keep kept --dimension 20 --chains 2 \
    --targets 1,2,3,4,5 --samplers 'diam;am' --warmup 10000 --draws 40000 \
    --thin 5
cp .out table
python3 - <<'E' || fail "the table"
rows = [[c.strip() for c in r.split("|")[1:-1]] for r in open("table")][2:]
assert len(rows) == 10
found = {}
for target, sampler, *times, z, rms, of in rows:
    assert of == "40 of 40" and float(z) < 4.2 and float(rms) < 1.25, (target, z)
    found[target, sampler] = [float(t.split()[0]) for t in times]
for target in "1234":
    diam, am = found[target, "diam"], found[target, "am"]
    assert all(4 * a < b for a, b in zip(diam, am)), (target, diam, am)
    assert max(diam) < 2 * min(diam) and max(diam) < 20
E
