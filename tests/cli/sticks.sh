#!/usr/bin/env bash
# Shares of a stick above observed categories, in ways to write the weights: their
# full conditionals agree with the joint density, and their means are those of
# betas with a + n[j] and b + all behind.
source "$GBM_ROOT/tests/cli/lib"

sed 's/^  alpha ~.*//' \
    "$GBM_ROOT/tests/golden/conditionals/stick_spellings.gbm" >model.gbm
python3 - <<'P'
import json
import numpy as np
r = np.random.default_rng(3)
K, N = 6, 40
d = dict(K=K, N=N, G=2, alpha=2.5, g=[1 + i % 2 for i in range(N)])
for name in "zxywuthde":
    d[name] = [int(v) for v in 1 + r.choice(K, N, p=[.3, .25, .2, .1, .05, .1])]
json.dump(d, open("data.json", "w"))
P
status 0 "$GBMC" model.gbm -o model
status 0 ./model check --data data.json --points 10
status 0 ./model --data data.json --draws 4000 --quiet --summary fit.json
python3 - <<'P' || fail "not the betas"
import json, sys
import numpy as np
d = json.load(open("data.json"))
fit = json.load(open("fit.json"))["parameters"]
worst = 0
for name, of in zip("abcfko", "zxywut"):
    n = np.bincount(d[of], minlength=d["K"] + 1)[1:]
    for j in range(d["K"] - 1):
        mean = (1 + n[j]) / (1 + n[j] + d["alpha"] + n[j + 1:].sum())
        r = fit[f"{name}[{j + 1}]"]
        worst = max(worst, abs(r["mean"] - mean) / r["mcse"])
        if r["ess_bulk"] < 10000:
            sys.exit(f"{name}[{j + 1}] is not drawn at once")
print(worst)
sys.exit(int(worst > 4.5))
P
exit 0
