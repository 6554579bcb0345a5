"""When did coal mines become safer? A discrete year, whose exact posterior is
a sum: rates are gamma before and after it."""
import math

import numpy as np
from checking import assert_mean

import gbm

disasters = np.array(
    [4, 5, 4, 0, 1, 4, 3, 4, 0, 6, 3, 3, 4, 0, 2, 6, 3, 3, 5, 4, 5, 3, 1, 4, 4,
     1, 5, 5, 3, 4, 2, 5, 2, 2, 3, 4, 2, 1, 3, 2, 2, 1, 1, 1, 1, 3, 0, 0, 1, 0,
     1, 1, 0, 0, 3, 1, 0, 3, 2, 2, 0, 1, 1, 1, 0, 1, 0, 1, 0, 0, 0, 2, 1, 0, 0,
     0, 1, 1, 0, 2, 3, 3, 1, 1, 2, 1, 1, 1, 1, 2, 4, 2, 0, 0, 1, 4, 0, 0, 0, 1,
     0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1]
)  # fmt: skip
T = disasters.size

model = gbm.Model(
    """
    model {
      for (t in 1:T) { D[t] ~ dpois(rate[1 + step(t - year)]) }
      for (k in 1:2) { rate[k] ~ dgamma(1, 1) }
      year ~ dcat(p[])
      for (t in 1:T) { p[t] <- 1 / T }
    }"""
)
fit = model.sample(
    {"T": T, "D": disasters}, draws=20000, monitor=["rate", "year"]
)


def marginal(d):
    """Of counts with a rate that is gamma(1, 1), but for factorials."""
    return math.lgamma(1 + d.sum()) - (1 + d.sum()) * math.log(1 + d.size)


years = np.arange(1, T + 1)
log = np.array(
    [marginal(disasters[: t - 1]) + marginal(disasters[t - 1 :]) for t in years]
)
weight = np.exp(log - log.max())
weight /= weight.sum()
early = np.array(
    [(1 + disasters[: t - 1].sum()) / (1 + t - 1) for t in years]
)
assert_mean(fit.posterior["year"], weight @ years)
assert_mean(fit.posterior["rate"][:, :, 0], weight @ early)
