#!/usr/bin/python3
"""starts.py [CHAINS]: writes start_1.json and so on, a start for each chain (4): the
components as k-means finds them from cells at random, so that there are more
than the data need. Chains empty what is too much."""
import json
import sys

import numpy as np


def main():
    with open("data.json") as f:
        data = json.load(f)
    x, k, nu = np.array(data["x"]), data["K"], data["nu"]
    phi, p = np.array(data["Phi"]), x.shape[1]
    for chain in range(int(sys.argv[1]) if len(sys.argv) > 1 else 4):
        rng = np.random.default_rng(chain)
        mu = x[rng.choice(len(x), 1)]
        while len(mu) < k:  # k-means++: what is far is likelier
            far = ((x[:, None] - mu) ** 2).sum(2).min(1)
            mu = np.vstack([mu, x[rng.choice(len(x), p=far / far.sum())]])
        for _ in range(20):
            z = np.argmin(((x[:, None] - mu) ** 2).sum(2), axis=1)
            mu = np.array([x[z == j].mean(0) if (z == j).any() else mu[j]
                           for j in range(k)])
        sigma = []
        for j in range(k):
            d = x[z == j] - mu[j]
            sigma.append(((nu * phi + d.T @ d) / (nu + len(d))).tolist())
        order = np.argsort(-np.bincount(z, minlength=k))  # large ones first
        with open(f"start_{chain + 1}.json", "w") as f:
            json.dump({"mu": mu[order].tolist(),
                       "Sigma": [sigma[j] for j in order]}, f)


main()
