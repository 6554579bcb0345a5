"""Means of groups from a data frame with categories, which become labels."""
import arviz as az
import numpy as np
import pandas as pd
from checking import assert_mean

import gbm

rng = np.random.default_rng(3)
county = rng.choice(["Aitkin", "Anoka", "Becker"], 90, p=[0.6, 0.3, 0.1])
level = pd.Series({"Aitkin": 0.5, "Anoka": 1.5, "Becker": -1.0})
frame = pd.DataFrame(
    {
        "county": pd.Categorical(county),
        "y": level[county].to_numpy() + rng.normal(0, 0.8, 90),
    }
)
model = gbm.Model(
    """
    model {
      for (i in 1:N) { y[i] ~ normal(mu[county[i]], 0.8) }
      for (k in 1:K) { mu[k] ~ normal(0, 2) }
    }"""
)
fit = model.sample(
    {"N": 90, "K": 3, **frame}, dims={"mu": "county"}, progress=False, draws=2000
)
for name, group in frame.groupby("county", observed=True):
    precision = len(group) / 0.64 + 1 / 4
    mean = group.y.sum() / 0.64 / precision
    assert_mean(fit.posterior["mu"].sel(county=name), mean)
table = az.summary(fit)
assert list(table.index) == ["mu[Aitkin]", "mu[Anoka]", "mu[Becker]"]
assert (table["r_hat"].astype(float) < 1.02).all()
