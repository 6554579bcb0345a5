#!/usr/bin/env bash
# docs/coming-from.md: each of its models that gbm reads runs as it stands there,
# and has the posterior that the page states.
source "$GBM_ROOT/tests/cli/lib"
gbm=$GBM_ROOT/$GBM_BUILD/gbm
python3 - "$GBM_ROOT/docs/coming-from.md" <<'E2' || fail 'the page'
import json, re, sys
text = open(sys.argv[1]).read()
section, n = -1, 0
for kind, body, rows in re.findall(
        r"^```(\w+)\n(.*?)^```|^\| unknown \| mean \| sd \|\n\|[^\n]*\n((?:\|[^\n]*\n)+)",
        text, re.M | re.S):
    if kind == "json":
        section += 1
        open(f"{section}.json", "w").write(body)
    elif kind in ("gbm", "jags", "nimble"):
        name = f"{section}-{kind}"
        open(f"{name}.gbm" if kind == "gbm" else f"{name}.bug", "w").write(body)
        n += 1
    elif rows:
        wanted = {c[0]: [float(c[1]), float(c[2])] for c in (
            [w.strip() for w in r.strip("|\n ").split("|")]
            for r in rows.splitlines())}
        json.dump(wanted, open(f"{section}.wanted", "w"))
assert section == 1 and n == 4, (section, n)
E2
for model in *-*.gbm *-*.bug; do
    data=${model%%-*}
    status 0 "$gbm" run -O1 "$model" "$data.json" --device cpu --quiet \
        --draws 4000 --summary summary.json
    python3 - "$data.wanted" <<'E2' || fail "$model: another posterior"
import json, sys
found = json.load(open("summary.json"))["parameters"]
for name, (mean, sd) in json.load(open(sys.argv[1])).items():
    f = found[name]
    print(name, f["mean"], f["sd"], f["mcse"])
    assert abs(f["mean"] - mean) < 0.02 * abs(mean) + 5 * f["mcse"], name
    assert abs(f["sd"] - sd) < 0.06 * sd + 0.005, name
E2
done
