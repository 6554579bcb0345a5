#!/usr/bin/env bash
# 24 modes that are alike: plain chains stay in one each, tempering and the
# sequential sampler are in all of them equally often, and know the evidence.
source "$GBM_ROOT/tests/cli/lib"
folder=$examples/lee_mixture
spelling() { # NAME PARTICLES DRAWS: of smc, of tempering
    local name=$1 particles=$2 draws=$3
    status 0 "$GBMC" -O 1 --with=powers "$folder/$name.gbm" -o "$name"
    run() {
        status 0 "./$name" --data "$folder/data.json" --device cpu \
            --monitor mu --quiet "$@"
    }
    run --draws 500 --out plain.csv
    for chain in 1 2 3 4; do
        status 1 "$folder/modes.py" plain_$chain.csv
        prints '^1 modes'
    done
    run --method smc --particles "$particles" --chains 1 --out smc.csv \
        --summary smc.json
    status 0 "$folder/modes.py" smc_1.csv
    prints '^24 modes'
    run --method tempering --replicas 32 --warmup 300 --draws "$draws" \
        --chains 2 --out tempering.csv --summary tempering.json
    status 0 "$folder/modes.py" tempering_1.csv tempering_2.csv
    prints '^24 modes'
    python3 - <<'P' || fail "$name: the evidence"
import json
for method in "smc", "tempering":
    e = json.load(open(method + ".json"))["log_evidence"]
    print(method, e)
    assert abs(e["value"] + 237.33962) < 4 * e["se"] and e["se"] < 0.25
P
}
spelling lee_mixture 8192 800
spelling lee_mixture_latent 8192 8000
