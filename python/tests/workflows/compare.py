"""Two priors of one model by leave-one-out cross-validation; with a known
variance each density of a point given the others is normal."""
import arviz as az
import numpy as np

import gbm

y = np.array([1.2, 0.4, 2.1, 1.7, 0.9, 1.1, 2.6, 1.4, 0.2, 1.9])
model = gbm.Model(
    """
    model {
      for (i in 1:N) { y[i] ~ normal(mu, 1) }
      mu ~ normal(0, s)
    }"""
)


def exact(s):
    total = 0.0
    for i in range(y.size):
        rest = np.delete(y, i)
        precision = rest.size + 1 / s**2
        variance = 1 + 1 / precision
        total -= 0.5 * np.log(2 * np.pi * variance)
        total -= (y[i] - rest.sum() / precision) ** 2 / variance / 2
    return total


fits, found = {}, {}
for name, s in {"wide": 10.0, "narrow": 0.1}.items():
    data = {"N": y.size, "y": y, "s": s}
    fits[name] = model.sample(data, draws=5000, log_lik=True, progress=False)
    loo = az.loo(fits[name])
    found[name] = getattr(loo, "elpd_loo", getattr(loo, "elpd", None))
    assert abs(found[name] - exact(s)) < 0.1, (name, found[name], exact(s))
assert exact(10.0) - exact(0.1) > 2
table = az.compare(fits)
assert list(table.index) == ["wide", "narrow"]
