#!/usr/bin/python3
"""Synthetic data of Terenin, Dong and Draper (2018), equation (13):
x[i,j] ~ N(0, 1), beta = (1.3, 4, -1, 1.6, 5, -2, 0, ..., 0),
y[i] ~ Bernoulli(Phi(x[i,] beta)).

    generate.py N p seed [STEM]

writes STEM.json.  With N * p above a million, X goes to STEM_X.npy instead: pass
--data STEM.json --data X=STEM_X.npy.  STEM is by default synthetic_N_p."""

import json
import sys

import numpy as np


def main():
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    n, p, seed = (int(a) for a in sys.argv[1:4])
    if n < 1 or p < 6:
        sys.exit("generate.py: N must be at least 1 and p at least 6")
    stem = sys.argv[4] if len(sys.argv) == 5 else f"synthetic_{n}_{p}"
    rng = np.random.default_rng(seed)
    beta = np.zeros(p)
    beta[:6] = 1.3, 4, -1, 1.6, 5, -2
    x = rng.standard_normal((n, p))
    # y = 1 where a standard normal falls below the linear predictor.
    y = (rng.standard_normal(n) < x @ beta).astype(np.int32)
    data = {"N": n, "p": p, "y": y.tolist()}
    if n * p > 1_000_000:
        np.save(stem + "_X.npy", x)
    else:
        data["X"] = x.tolist()
    with open(stem + ".json", "w") as f:
        json.dump(data, f)


main()
