#!/usr/bin/env bash
# What a sampler writes: all formats, the same draws whatever the threads and
# the chains beside.
source "$GBM_ROOT/tests/cli/lib"
sampler pump
go() {
    status 0 ./pump --data "$examples/pump/data.json" --device cpu --quiet \
        --warmup 100 --draws 200 --seed 3 "$@"
}

go --chains 4 --out fit.csv --summary fit.json
exists fit_1.csv
exists fit_4.csv
absent fit_5.csv
grep -q '^lp__' fit_1.csv || fail "no header in fit_1.csv"
[ "$(grep -cv '^#' fit_1.csv)" = 201 ] || fail "not 200 draws in fit_1.csv"
python3 - <<'PY' || fail "summary"
import json
s = json.load(open("fit.json"))
for key in ("load_s", "jit_s", "warmup_s", "sampling_s", "warmup_cpu_s",
            "sampling_cpu_s"):
    assert s["timing"][key] >= 0, key
p = s["parameters"]["theta[3]"]
for key in ("mean", "sd", "mcse", "q5", "q50", "q95", "ess_bulk", "ess_tail",
            "rhat"):
    assert p[key] == p[key], key
assert p["q5"] < p["q50"] < p["q95"]
assert 0.02 < p["mean"] < 0.2 and 0.01 < p["sd"] < 0.1
PY

go --chains 4 --out fit.nc
exists fit.nc
go --chains 2 --out fit --format coda
exists fitindex.txt
exists fitchain1.txt
exists fitchain2.txt

# A link stays one, to a file that is there or is not yet.
mkdir -p far
ln -s far/away.nc link.nc
ln -s link.nc again.nc
go --chains 1 --out again.nc
exists far/away.nc
rm far/away.nc
go --chains 1 --out link.nc
exists far/away.nc
go --chains 1 --out link.nc
[ -L link.nc ] && [ -L again.nc ] || fail "a link was replaced"
ln -s round.nc round.nc
status 1 ./pump --data "$examples/pump/data.json" --quiet --out round.nc
says 'round.nc: cannot write: Too many levels of symbolic links'

# As many digits as asked for.
go --chains 1 --out all.csv --digits 17
go --chains 1 --out all --format coda --digits 17
go --chains 1 --out eight.csv
status 1 ./pump --data "$examples/pump/data.json" --digits 18
says "more than 17 say nothing more"
python3 - <<'PY' || fail "digits"
def column(path):
    rows = [l.split(",") for l in open(path) if not l.startswith("#")]
    return [r[rows[0].index("theta.1")] for r in rows[1:]]

every, eight = column("all_1.csv"), column("eight_1.csv")
place = next(l.split() for l in open("allindex.txt")
             if l.startswith("theta[1] "))
coda = [l.split()[1] for l in open("allchain1.txt")]
assert coda[int(place[1]) - 1:int(place[2])] == every
assert any(len(x) > 17 for x in every)
assert all(x == f"{float(x):.17g}" for x in every)
assert all(f"{float(x):.8g}" == y for x, y in zip(every, eight))
PY

# Bit for bit: again, with other threads, and a chain alone of several.
rows() { grep -v '^#' "$1"; }
go --chains 4 --threads 1 --out one.csv
go --chains 4 --threads 2 --out two.csv
go --chains 2 --threads 2 --out few.csv
for chain in 1 2 3 4; do
    cmp <(rows fit_$chain.csv) <(rows one_$chain.csv) || fail "not repeatable"
    cmp <(rows one_$chain.csv) <(rows two_$chain.csv) || fail "threads matter"
done
cmp <(rows one_2.csv) <(rows few_2.csv) || fail "other chains matter"
cmp -s <(rows one_1.csv) <(rows one_2.csv) && fail "chains are equal"
go --chains 1 --seed 4 --out other.csv
cmp -s <(rows one_1.csv) <(rows other_1.csv) && fail "the seed does not matter"
exit 0
