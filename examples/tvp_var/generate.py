#!/usr/bin/python3
"""Writes data.json: 120 observations of two series, the first of which feels its own
past less and the second's more as time goes on; truth.json has the
coefficients."""
import json

import numpy as np

T = 120


def main():
    rng = np.random.default_rng(3)
    s = np.arange(T) / (T - 1)
    b = np.zeros((T, 6))
    b[:, 0] = 0.3  # its intercept, its own past, the other's
    b[:, 1] = 0.7 - 0.9 * s
    b[:, 2] = 0.8 * (s > 0.5)
    b[:, 3] = 0.2 * np.sin(6 * s)
    b[:, 4] = 0.1
    b[:, 5] = 0.5
    y = np.zeros((T, 2))
    for t in range(1, T):
        past = np.array([1, *y[t - 1]])
        y[t] = [b[t, :3] @ past, b[t, 3:] @ past]
        y[t] += 0.4 * rng.standard_normal(2)
    with open("data.json", "w") as f:
        json.dump({"T": T, "y": np.round(y, 3).tolist(), "zero": [0] * 6,
                   "start": np.eye(6).tolist(), "R": (0.3 * np.eye(2)).tolist(),
                   "S": (0.02 * np.eye(6)).tolist()}, f)
        f.write("\n")
    with open("truth.json", "w") as f:
        json.dump({"B": np.round(b, 3).tolist()}, f)
        f.write("\n")


main()
