#!/usr/bin/python3
"""Writes 1.json ... 6.json, the six targets of Chen (2015), section 4.1, in as
many dimensions as are asked for (100). The first four are for normal.gbm, the
last two for twisted.gbm. Beside what the models read, a file has `directions`,
the eigenvectors of the covariance (of what is twisted, without its twist), one
a row, from the smallest eigenvalue to the largest, and the exact `mean` and
`variance` along each."""
import json
import sys

import numpy as np


def eigen(precision):
    """Eigenvalues of the covariance, ascending, and eigenvectors, one a row."""
    values, vectors = np.linalg.eigh(precision)
    return 1 / values[::-1], vectors.T[::-1]


def write(number, data):
    def plain(x):
        return np.round(x, 12).tolist() if isinstance(x, np.ndarray) else x
    with open(f"{number}.json", "w") as f:
        json.dump({k: plain(x) for k, x in data.items()}, f)
        f.write("\n")


def normal(number, A):
    """x ~ N(0, I), seen as 0 through A'x with unit variances."""
    d, r = A.shape
    variance, directions = eigen(A @ A.T + np.eye(d))
    write(number, {"d": d, "r": r, "A": A, "y": np.zeros(r),
                   "directions": directions, "mean": np.zeros(d),
                   "variance": variance})


def twisted(number, A, bend):
    """The normal target of A, bent: the one along direction i by the square of
    that along i - 1, for even i up to d/10."""
    d = len(A)
    variance, directions = eigen(A @ A.T + np.eye(d))
    b, mean, spread = np.zeros(d), np.zeros(d), variance.copy()
    for i in range(1, d // 10, 2):
        b[i] = bend / (variance[i - 1] * np.sqrt(d))
        mean[i] = -b[i] * variance[i - 1]
        spread[i] += 2 * b[i] ** 2 * variance[i - 1] ** 2
    write(number, {"d": d, "directions": directions, "precision": 1 / variance,
                   "b": b, "none": 0, "mean": mean, "variance": spread})


def main():
    d = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    rng = np.random.default_rng(1)
    A = rng.standard_normal((d, d))
    normal(1, A)
    normal(2, A / np.sqrt(d))
    normal(3, rng.standard_normal((d, d // 10)))
    V = np.linalg.qr(rng.standard_normal((d, d)))[0]
    # variances 1 / (n^-4 / beta^2 + 1), with a largest precision of about d
    normal(4, V * (np.sqrt(d) * np.arange(1., d + 1) ** -2))
    twisted(5, A, 0.3)
    twisted(6, A, 2)


main()
