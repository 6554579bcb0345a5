"""Eight schools, with the schools' names as labels; the marginal posterior of
tau, and so the means, by quadrature (Gelman et al., BDA3, section 5.4)."""
import numpy as np
from checking import assert_mean

import gbm

schools = ["Choate", "Deerfield", "Phillips Andover", "Phillips Exeter",
           "Hotchkiss", "Lawrenceville", "St. Paul's", "Mt. Hermon"]
y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
sigma = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])

model = gbm.Model(
    """
    model {
      for (j in 1:J) {
        y[j] ~ normal(theta[j], sigma[j])
        theta[j] ~ normal(mu, tau)
      }
      mu ~ normal(0, 5)
      tau ~ half_cauchy(5)
    }"""
)
fit = model.sample(
    {"J": 8, "y": y, "sigma": sigma},
    draws=5000,
    dims={"theta": "school"},
    coords={"school": schools},
)

u = (np.arange(20000) + 0.5) / 20000  # tau = 5 tan(pi u / 2), uniform in u
tau = 5 * np.tan(np.pi * u / 2)[:, None]
v = sigma**2 + tau**2
precision = 1 / 25 + (1 / v).sum(axis=1)
mean = (y / v).sum(axis=1) / precision
log = -0.5 * np.log(v).sum(axis=1) - 0.5 * np.log(precision)
log += 0.5 * precision * mean**2 - 0.5 * (y**2 / v).sum(axis=1)
weight = np.exp(log - log.max())
weight /= weight.sum()
share = tau[:, 0] ** 2 / (tau[:, 0] ** 2 + sigma[0] ** 2)
theta = share * y[0] + (1 - share) * mean

assert_mean(fit.posterior["mu"], weight @ mean)
choate = fit.posterior["theta"][:, :, 0]
if hasattr(choate, "sel"):
    choate = fit.posterior["theta"].sel(school="Choate")
assert_mean(choate, weight @ theta)
assert_mean(fit.posterior["tau"] < 5, weight @ (tau[:, 0] < 5))
