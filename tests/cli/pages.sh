#!/usr/bin/env bash
# The examples tvp_var, factor_sv and heterosis: the linear parts are
# blocks, the conditionals are those of the models, chains meet around what the
# data were drawn with, and probabilities are shares of the draws.
source "$GBM_ROOT/tests/cli/lib"
fit() { # NAME DRAWS MONITOR
    local folder=$examples/$1
    status 0 "$GBMC" -O 1 "$folder/$1.gbm" "$folder/data.json" -o "$1"
    status 0 ./"$1" check --data "$folder/data.json" --points 1
    status 0 ./"$1" --data "$folder/data.json" --draws "$2" --warmup 500 \
        --device cpu --monitor "$3" --out "$1.nc" --summary "$1.json" --quiet
}
fit tvp_var 3000 B,Sigma
fit factor_sv 1000 L,h
status 0 "$GBMC" --explain "$examples/tvp_var/tvp_var.gbm"
prints '^  B\[2,1:6\], B\[t,1:6\]: one sparse block'
python3 - "$examples" <<'P' || fail "not what the data were drawn with"
import json, sys
def read(name):
    with open(name) as f:
        return json.load(f)
def inside(name, true):
    fit = read(name + ".json")["parameters"]
    rows = [(fit[node], value) for node, value in true]
    far = max(abs(p["mean"] - v) / p["sd"] for p, v in rows)
    share = sum(p["q5"] <= v <= p["q95"] for p, v in rows) / len(rows)
    rhat = max(p["rhat"] for p, _ in rows)
    print(name, len(rows), far, share, rhat)
    assert rhat < 1.1 and far < 5 and 0.75 < share
truth = read(sys.argv[1] + "/tvp_var/truth.json")["B"]
inside("tvp_var", [(f"B[{t + 1},{j + 1}]", truth[t][j])
                   for t in range(1, 120) for j in range(6)])
truth = read(sys.argv[1] + "/factor_sv/truth.json")
inside("factor_sv", [(f"h[{k + 1},{t + 1}]", truth["h"][k][t])
                     for k in range(2) for t in range(400)])
inside("factor_sv", [(f"L[{j + 1},{k + 1}]", truth["L"][j][k])
                     for k in range(2) for j in range(k + 1, 6)])
P

folder=$examples/heterosis

/usr/bin/python3 - "$folder/data.json" <<'P'
import json, sys
import numpy as np
np.save("counts.npy", np.array(json.load(open(sys.argv[1]))["y"]))
P
status 0 "$folder/counts.py" counts.npy
status 0 "$GBMC" -O 1 "$folder/heterosis.gbm" -o heterosis
status 0 ./heterosis --data y=y.npy --data rest.json --draws 1000 --chains 1 \
    --device cpu --monitor beta --moments high,low --out h.csv \
    --summary h.json --quiet
python3 - <<'P' || fail "probabilities are no shares"
import csv, json
fit = json.load(open("h.json"))["parameters"]
rows = list(csv.DictReader(l for l in open("h_1.csv") if l[0] != "#"))
for g in 1, 7, 25:
    b = [[float(r[f"beta.{g}.{l}"]) for l in (2, 3, 4)] for r in rows]
    for j, sign in enumerate((0, 1, -1)):
        for name, up in ("high", 1), ("low", -1):
            share = sum(up * (2 * x + sign * d) > 0 and up * (2 * y + sign * d) > 0
                        for x, y, d in b) / len(b)
            mean = fit[f"{name}[{g},{j + 1}]"]["mean"]
            assert abs(share - mean) < 1e-9, (name, g, j, share, mean)
P
