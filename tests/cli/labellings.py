"""Posteriors of mixtures as sums over all labellings of their rows, and what a
sampler found beside them."""

import itertools
from math import lgamma

import numpy as np

log_gamma = np.vectorize(lgamma)


def sticks(a, alpha, n):
    """A function of who is in which component, of n rows: the log density of
    labels by the pieces of a stick, v[k] ~ dbeta(a, alpha), integrated out."""
    def piece(rows, rest):
        """so many rows take it, and so many go on"""
        return (lgamma(a + rows) - lgamma(a) + log_gamma(alpha + rest)
                - log_gamma(alpha) + log_gamma(a + alpha)
                - log_gamma(a + alpha + rows + rest))

    pieces = {(k, m): piece(k, m) for k in range(n + 1)
              for m in range(n + 1 - k)}
    return lambda members: sum(
        pieces[len(members[k]), sum(map(len, members[k + 1:]))]
        for k in range(len(members) - 1))


def means(n, K, tell, known=()):
    """Posterior means: tell(z, members) gives a labelling's log density, or those
    of points of a grid, and its values by name. known: labels from 1, or None."""
    total, sums = 0, {}
    for z in itertools.product(range(K), repeat=n):
        if any(w and w - 1 != u for w, u in zip(known, z)):
            continue
        members = [tuple(i for i in range(n) if z[i] == k) for k in range(K)]
        density, values = tell(z, members)
        weight = np.exp(density)
        total += weight.sum()
        for name, x in values.items():
            sums[name] = sums.get(name, 0) + (weight * x).sum()
    return {name: s / total for name, s in sums.items()}


def differ(found, exact, least):
    """Whether a mean is more than four standard errors from the exact one, or has
    fewer effective draws than `least` says; prints them."""
    bad = 0
    for name, mean in exact.items():
        f = found["parameters"][name]
        z = f["mean"] - mean
        if f["mcse"]:
            z /= f["mcse"]
        print(f"{name:7} {mean:8.5f} {f['mean']:8.5f} z {z:5.2f} ess",
              f["ess_bulk"])
        bad += not abs(z) < (4 if f["mcse"] else 1e-3)
        bad += name in least and not f["ess_bulk"] > least[name]
    return bad > 0
