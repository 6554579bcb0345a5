#!/usr/bin/env bash
# Coefficients that are drawn given their sums with effects, the effects' scale
# before: a device has the matrix of an element in registers if it has few rows
# (stdlib/kernels/few.h), and draws what the host draws, with more of them, too.
# On stand-ins for CUDA's libraries.
source "$GBM_ROOT/tests/cli/lib"
fake_device
patience=500
cp "$GBM_ROOT/tests/models/rnaseq_published/model.bug" genes.bug
python3 - <<'P'
import json, random
rng = random.Random(5)
for l in (5, 9):
    n = 12
    x = [[1] + [rng.gauss(0, 1) for _ in range(l - 1)] for _ in range(n)]
    json.dump({"G": 6, "N": n, "L": l, "h": [rng.gauss(0, 0.2) for _ in x],
               "X": x, "y": [[rng.randrange(9) for _ in x] for _ in range(6)]},
              open(f"{l}.json", "w"))
P
status 0 "$GBMC" --explain genes.bug
prints 'slice of prec,'
status 0 "$GBMC" -O 1 genes.bug -o genes
for l in 5 9; do
    device_draws_as_host genes "$l.json"
done
exit 0
