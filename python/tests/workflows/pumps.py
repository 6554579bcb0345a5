"""Rates of failures, gamma given the counts; data from a JSON file's dict."""
import json
from pathlib import Path

from checking import assert_mean

import gbm

root = Path(__file__).resolve().parents[3]
data = json.loads((root / "examples/pump/data.json").read_text())

model = gbm.Model(
    """
    model {
      for (i in 1:N) {
        theta[i] ~ gamma(0.8, 1.2)
        x[i] ~ dpois(theta[i] * t[i])
      }
    }"""
)
fit = model.sample(data, draws=2000)
for i in range(data["N"]):
    exact = (0.8 + data["x"][i]) / (1.2 + data["t"][i])
    assert_mean(fit.posterior["theta"][:, :, i], exact)
