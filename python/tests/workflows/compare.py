"""Two models of the same data by leave-one-out cross-validation; with a known
variance each density of a point given the others is normal."""
import arviz as az
import numpy as np

import gbm

y = np.array([1.2, 0.4, 2.1, 1.7, 0.9, 1.1, 2.6, 1.4, 0.2, 1.9])
data = {"N": y.size, "y": y}
run = dict(draws=5000, log_lik=True, progress=False)
free = gbm.Model(
    """
    model {
      for (i in 1:N) { y[i] ~ normal(mu, 1) }
      mu ~ normal(0, 10)
    }"""
).sample(data, **run)
zero = gbm.Model(
    """
    model {
      for (i in 1:N) { y[i] ~ normal(0 * mu, 1) }
      mu ~ normal(0, 10)
    }"""
).sample(data, **run)


def log_normal(x, mean, variance):
    return -0.5 * np.log(2 * np.pi * variance) - (x - mean) ** 2 / variance / 2


exact = 0.0
for i in range(y.size):
    rest = np.delete(y, i)
    precision = rest.size + 1 / 100
    exact += log_normal(y[i], rest.sum() / precision, 1 + 1 / precision)
loo = {"free": az.loo(free), "zero": az.loo(zero)}
found = {k: getattr(v, "elpd_loo", getattr(v, "elpd", None)) for k, v in loo.items()}
assert abs(found["free"] - exact) < 0.1
assert abs(found["zero"] - log_normal(y, 0, 1).sum()) < 1e-8
table = az.compare({"free": free, "zero": zero})
assert list(table.index) == ["free", "zero"]
