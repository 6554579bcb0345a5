#!/usr/bin/python3
"""generate.py [N [K]]: N cells of 14 markers, like those of flow cytometry: eight
populations from half of the cells to one in sixty, with covariances of their
own, that differ in some markers. Without arguments writes data.json, with 500
cells and 16 components; otherwise x.npy and rest.json, with K components (256).
truth.json says which cell is of which population."""
import json
import sys

import numpy as np

P, POPULATIONS = 14, 8
SHARES = np.array([0.45, 0.2, 0.12, 0.08, 0.06, 0.04, 0.03, 0.02])


def cells(n):
    rng = np.random.default_rng(7)
    means = rng.choice([-2.0, 0.0, 2.0], (POPULATIONS, P), p=[0.3, 0.4, 0.3])
    factors = []
    for _ in range(POPULATIONS):
        a = rng.standard_normal((P, 3)) * 0.4
        factors.append(np.linalg.cholesky(a @ a.T + np.diag(
            rng.uniform(0.1, 0.5, P))))
    z = rng.choice(POPULATIONS, n, p=SHARES)
    x = rng.standard_normal((n, P))
    for k in range(POPULATIONS):
        x[z == k] = means[k] + x[z == k] @ factors[k].T
    return z, x


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    k = int(sys.argv[2]) if len(sys.argv) > 2 else 256
    z, x = cells(n)
    rest = {"N": n, "P": P, "K": 16 if len(sys.argv) == 1 else k,
            "m": [0] * P, "gamma": 10, "nu": 30,
            "Phi": (0.6 * np.eye(P)).tolist()}
    if len(sys.argv) == 1:
        rest["x"] = np.round(x, 2).tolist()
    else:
        np.save("x.npy", x)
    name = "data.json" if len(sys.argv) == 1 else "rest.json"
    with open(name, "w") as f:
        json.dump(rest, f)
        f.write("\n")
    with open("truth.json", "w") as f:
        json.dump({"population": (z + 1).tolist()}, f)
        f.write("\n")


main()
