"""A dose-response curve (BDA3, section 3.7); the posterior on a grid."""
import numpy as np
from checking import assert_mean

import gbm

dose = np.array([-0.86, -0.30, -0.05, 0.73])
deaths = np.array([0, 1, 3, 5])
animals = np.full(4, 5)

model = gbm.Model(
    """
    model {
      for (i in 1:N) {
        deaths[i] ~ dbin(p[i], animals[i])
        logit(p[i]) <- alpha + beta * dose[i]
      }
      alpha ~ normal(0, 2)
      beta ~ normal(10, 5)
      ld50 <- -alpha / beta
    }"""
)
data = {"N": 4, "dose": dose, "deaths": deaths, "animals": animals}
fit = model.sample(data, draws=5000)

a, b = np.meshgrid(np.linspace(-10, 12, 1000), np.linspace(-15, 40, 1000))
log = -0.5 * (a / 2) ** 2 - 0.5 * ((b - 10) / 5) ** 2
for x, k, n in zip(dose, deaths, animals):
    eta = a + b * x
    log += k * eta - n * np.logaddexp(0, eta)
weight = np.exp(log - log.max())
weight /= weight.sum()
assert_mean(fit.posterior["alpha"], (weight * a).sum())
assert_mean(fit.posterior["beta"], (weight * b).sum())
assert_mean(fit.posterior["ld50"] > 0, weight[-a / b > 0].sum())
