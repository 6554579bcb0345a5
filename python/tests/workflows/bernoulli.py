"""CmdStan's first example. The posterior is beta(1 + successes, 1 + failures)."""
from checking import assert_mean

import gbm

model = gbm.Model(
    """
    model {
      theta ~ dbeta(1, 1)
      for (i in 1:N) { y[i] ~ dbern(theta) }
    }"""
)
data = {"N": 10, "y": [0, 1, 0, 0, 0, 0, 0, 0, 0, 1]}
fit = model.sample(data, chains=4, draws=2000, seed=123)

theta = fit.posterior["theta"]
assert_mean(theta, 3 / 12)
assert_mean((theta - 0.25) ** 2, 3 * 9 / (12**2 * 13))
