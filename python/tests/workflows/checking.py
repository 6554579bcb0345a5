"""Means of draws against what is known."""
import numpy as np


def mean_and_error(x):
    """Mean and Monte Carlo error of draws [chain, draw], by batches."""
    x = np.asarray(x, dtype=float)
    n = x.shape[1] // 20 * 20
    batches = x[:, :n].reshape(x.shape[0] * 20, -1).mean(axis=1)
    return x.mean(), batches.std(ddof=1) / np.sqrt(batches.size)


def assert_mean(x, wanted, error=0.0):
    """The mean of draws is `wanted`, known up to `error`."""
    mean, own = mean_and_error(x)
    assert own > 0
    z = (mean - wanted) / np.hypot(own, error)
    assert abs(z) < 4.5, f"mean {mean}, not {wanted}: z = {z:.1f}"
