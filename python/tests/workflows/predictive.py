"""Prior and posterior predictive draws of counts: negative binomial both."""
from checking import assert_mean

import gbm

model = gbm.Model(
    """
    model {
      for (i in 1:N) { y[i] ~ dpois(lambda) }
      lambda ~ dgamma(3, 2)
    }"""
)
y = [4, 2, 3, 5, 1, 3]
prior = model.simulate({"N": 6}, draws=2000, format="plain")
assert_mean(prior["y"][:, :, 0], 1.5)
assert_mean((prior["y"][:, :, 0] - 1.5) ** 2, 1.5 + 3 / 4)

new = model.simulate({"N": 6, "y": y}, posterior=True, draws=2000, format="plain")
shape, rate = 3 + sum(y), 2 + len(y)
mean = shape / rate
assert_mean(new["y"][:, :, 0], mean)
assert_mean((new["y"][:, :, 0] - mean) ** 2, mean + shape / rate**2)
