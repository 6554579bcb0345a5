#!/usr/bin/python3
"""Writes data.json: 400 returns of six series that move with two factors, and
truth.json: their loadings and log variances."""
import json

import numpy as np

T, J, K = 400, 6, 2
LOADINGS = [[1, 0], [0.3, 1], [0.8, 0.2], [0.5, -0.6], [-0.4, 0.7], [0.9, 0.4]]


def main():
    rng = np.random.default_rng(11)
    h = np.zeros((K, T))
    mu, phi, sigma = np.array([0.5, 0.0]), np.array([0.97, 0.95]), 0.2
    h[:, 0] = mu
    for t in range(1, T):
        h[:, t] = mu + phi * (h[:, t - 1] - mu) + sigma * rng.standard_normal(K)
    f = np.exp(h / 2) * rng.standard_normal((K, T))
    sd = np.array([0.6, 0.5, 0.7, 0.5, 0.6, 0.7])
    y = (np.array(LOADINGS) @ f).T + sd * rng.standard_normal((T, J))
    with open("data.json", "w") as out:
        json.dump({"T": T, "J": J, "K": K, "y": np.round(y, 3).tolist()}, out)
        out.write("\n")
    with open("truth.json", "w") as out:
        json.dump({"L": LOADINGS, "sd": sd.tolist(), "mu": mu.tolist(),
                   "phi": phi.tolist(), "h": np.round(h, 3).tolist()}, out)
        out.write("\n")


main()
