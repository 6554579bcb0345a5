"""Missing values of a data frame are drawn: what is known is the rest."""
import numpy as np
import pandas as pd
from checking import assert_mean

import gbm

frame = pd.DataFrame(
    {
        "x": [1, 2, 3, 4, 5, 6],
        "y": [2.1, 3.9, None, 8.2, 9.8, None],
    }
)
model = gbm.Model(
    """
    model {
      for (i in 1:N) { y[i] ~ normal(beta * x[i], 0.5) }
      beta ~ normal(0, 10)
    }"""
)
fit = model.sample({"N": len(frame), **frame}, draws=4000)

seen = frame.dropna()
precision = 1 / 100 + (seen.x**2).sum() / 0.25
beta = (seen.x * seen.y).sum() / 0.25 / precision
y = fit.posterior["y"]
assert_mean(fit.posterior["beta"], beta)
assert_mean(y[:, :, 2], 3 * beta)
assert_mean((y[:, :, 5] - 6 * beta) ** 2, 0.25 + 36 / precision)
assert np.all(np.asarray(y[:, :, 0]) == 2.1)
