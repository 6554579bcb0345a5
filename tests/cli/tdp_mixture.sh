#!/usr/bin/env bash
# A truncated Dirichlet process with more components than populations: from the
# starts of its page, chains empty what is too much, and the partition is that
# which the data were drawn with.
source "$GBM_ROOT/tests/cli/lib"
folder=$examples/tdp_mixture
cp "$folder/data.json" .
status 0 "$folder/starts.py" 2
status 0 "$GBMC" -O 1 "$folder/tdp_mixture.gbm" -o tdp
status 0 ./tdp --data data.json --init start_1.json --init start_2.json \
    --chains 2 --draws 300 --warmup 300 --device cpu --monitor z,mu,pi,alpha \
    --out fit.nc --quiet
status 0 ./tdp summary fit.nc --relabel z,mu,pi --clusters z=clusters.json
python3 - "$folder/truth.json" <<'P' || fail "not the populations"
import json, sys
truth = json.load(open(sys.argv[1]))["population"]
found = json.load(open("clusters.json"))["least_squares"]
assert found["clusters"] == 8 and len(truth) == 500
assert len(set(zip(truth, found["partition"]))) == 8
P
